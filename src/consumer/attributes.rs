//! Attribute numbers of the AMDGPU extension of DWARF, per reader.

use gimli::DwAt;

/// `DW_AT_LLVM_memory_space`.
pub const DW_AT_LLVM_MEMORY_SPACE: DwAt = DwAt(0x3e0f);
/// `DW_AT_LLVM_address_space`.
pub const DW_AT_LLVM_ADDRESS_SPACE: DwAt = DwAt(0x3e10);
/// `DW_AT_LLVM_lanes`, LLVM's number.
pub const DW_AT_LLVM_LANES: DwAt = DwAt(0x3e11);
/// `DW_AT_LLVM_lanes`, the number in the AMDGPU extension's text.
pub const DW_AT_LLVM_LANES_AMD: DwAt = DwAt(0x3e0a);
/// `DW_AT_LLVM_lane_pc`, LLVM's number.
pub const DW_AT_LLVM_LANE_PC: DwAt = DwAt(0x3e12);
/// `DW_AT_LLVM_lane_pc`, the number in the AMDGPU extension's text and in AMD's debugger.
pub const DW_AT_LLVM_LANE_PC_AMD: DwAt = DwAt(0x3e0b);
/// `DW_AT_LLVM_active_lane`, the number in the AMDGPU extension's text. LLVM does not assign a number.
pub const DW_AT_LLVM_ACTIVE_LANE_AMD: DwAt = DwAt(0x3e08);
/// `DW_CC_LLVM_DeviceKernel`.
pub const DW_CC_LLVM_DEVICE_KERNEL: u8 = 0xc7;
