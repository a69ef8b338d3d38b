//! Attributes whose numbers depend on the reader, and the numbers of the AMDGPU extension of DWARF.

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

/// Attributes whose numbers depend on the reader; `None` for a reader without the attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeNumbers {
    /// Address space of a pointer type's objects.
    pub address_space: Option<DwAt>,
    /// Memory space that the source declares for a pointer or a variable.
    pub memory_space: Option<DwAt>,
    /// Address space of a variable's memory places, whose expressions have addresses alone. A variable has one space;
    /// its other memory places are refused or omitted. The first expressible place of several is encoded. `None` for a
    /// consumer whose expressions name the space.
    pub variable_space: Option<DwAt>,
    /// Number of lanes of a function.
    pub lanes: Option<DwAt>,
    /// Pc of each lane.
    pub lane_pc: Option<DwAt>,
    /// Active lanes, where they differ from EXEC.
    pub active_lane: Option<DwAt>,
}

impl AttributeNumbers {
    /// The address class of pointers, the only one of these attributes in the standard.
    pub const STANDARD: Self = Self {
        address_space: Some(gimli::DW_AT_address_class),
        memory_space: None,
        variable_space: None,
        lanes: None,
        lane_pc: None,
        active_lane: None,
    };
}
