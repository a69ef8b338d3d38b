//! Numbers of the AMDGPU extension of DWARF, as its readers number them.

use gimli::DwAt;

/// `DW_AT_LLVM_memory_space`.
pub const DW_AT_LLVM_MEMORY_SPACE: DwAt = DwAt(0x3e0f);
/// `DW_AT_LLVM_address_space`.
pub const DW_AT_LLVM_ADDRESS_SPACE: DwAt = DwAt(0x3e10);
/// `DW_AT_LLVM_lanes`, as LLVM numbers it.
pub const DW_AT_LLVM_LANES: DwAt = DwAt(0x3e11);
/// `DW_AT_LLVM_lanes`, as the AMDGPU extension's text numbers it.
pub const DW_AT_LLVM_LANES_AMD: DwAt = DwAt(0x3e0a);
/// `DW_AT_LLVM_lane_pc`, as LLVM numbers it.
pub const DW_AT_LLVM_LANE_PC: DwAt = DwAt(0x3e12);
/// `DW_AT_LLVM_lane_pc`, as the AMDGPU extension's text and AMD's debugger number it.
pub const DW_AT_LLVM_LANE_PC_AMD: DwAt = DwAt(0x3e0b);
/// `DW_AT_LLVM_active_lane`, as the AMDGPU extension's text numbers it. LLVM has no number for it.
pub const DW_AT_LLVM_ACTIVE_LANE_AMD: DwAt = DwAt(0x3e08);
/// `DW_CC_LLVM_DeviceKernel`.
pub const DW_CC_LLVM_DEVICE_KERNEL: u8 = 0xc7;
