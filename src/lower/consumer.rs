//! Who reads the output, and what they can be told.

use gimli::DwAt;

use crate::op::{Dialect, DraftCodes, Encoding};

/// Who reads the output. A user knows which debugger they use, not which dialect; one choice sets all.
///
/// | consumer | for | operations | address space of a pointer | lanes |
/// |---|---|---|---|---|
/// | [`llvm`](Self::llvm) | LLVM's tools, and readers of the AMD compiler's output | `e9` and a sub-operation | 0x3e10 | 0x3e11 |
/// | [`rocgdb`](Self::rocgdb) | AMD's debugger | the same | 0x3e10 | 0x3e11 |
/// | [`rocgdb_legacy`](Self::rocgdb_legacy) | older ones | one byte, `e1` to `ec` | `DW_AT_address_class` | 0x3e0a |
/// | [`dwarf5`](Self::dwarf5) | gdb, lldb, anything standard | of DWARF 5 | `DW_AT_address_class` | – |
///
/// Each is a value: start from one and change a field.
///
/// ```
/// use eitri::lower::Consumer;
///
/// let mut mine = Consumer::llvm();
/// mine.address_space = Some(gimli::DW_AT_address_class);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Consumer {
    /// The name, for messages.
    pub name: &'static str,
    /// The encoding of operations.
    pub dialect: Dialect,
    /// Numbers for operations that have none, for [`Dialect::Dwarf6`].
    pub draft: DraftCodes,
    /// The attribute for the address space that a pointer type points into.
    pub address_space: Option<DwAt>,
    /// The attribute for the number of lanes that a function's code runs in.
    pub lanes: Option<DwAt>,
    /// The calling convention of a kernel, `DW_CC_*`.
    pub kernel_convention: Option<u8>,
}

/// `DW_AT_LLVM_address_space`.
pub const DW_AT_LLVM_ADDRESS_SPACE: DwAt = DwAt(0x3e10);
/// `DW_AT_LLVM_lanes`, as LLVM numbers it.
pub const DW_AT_LLVM_LANES: DwAt = DwAt(0x3e11);
/// `DW_AT_LLVM_lanes`, as the AMDGPU extension's text numbers it.
pub const DW_AT_LLVM_LANES_AMD: DwAt = DwAt(0x3e0a);
/// `DW_CC_LLVM_DeviceKernel`.
pub const DW_CC_LLVM_DEVICE_KERNEL: u8 = 0xc7;

impl Consumer {
    /// Current LLVM tools, and readers of the AMD compiler's output.
    pub fn llvm() -> Self {
        Self {
            name: "LLVM",
            dialect: Dialect::Llvm,
            draft: DraftCodes::NONE,
            address_space: Some(DW_AT_LLVM_ADDRESS_SPACE),
            lanes: Some(DW_AT_LLVM_LANES),
            kernel_convention: Some(DW_CC_LLVM_DEVICE_KERNEL),
        }
    }

    /// AMD's debugger of today.
    pub fn rocgdb() -> Self {
        Self { name: "ROCgdb", ..Self::llvm() }
    }

    /// AMD's debuggers from before `DW_OP_LLVM_user`.
    pub fn rocgdb_legacy() -> Self {
        Self {
            name: "ROCgdb (legacy)",
            dialect: Dialect::Legacy,
            draft: DraftCodes::NONE,
            address_space: Some(gimli::DW_AT_address_class),
            lanes: Some(DW_AT_LLVM_LANES_AMD),
            kernel_convention: None,
        }
    }

    /// Whatever reads standard DWARF 5.
    pub fn dwarf5() -> Self {
        Self {
            name: "DWARF 5",
            dialect: Dialect::Dwarf5,
            draft: DraftCodes::NONE,
            address_space: Some(gimli::DW_AT_address_class),
            lanes: None,
            kernel_convention: None,
        }
    }

    /// How operations are encoded for this consumer.
    pub fn encoding(&self, address_bytes: u8) -> Encoding {
        Encoding { draft: self.draft, ..Encoding::new(address_bytes, self.dialect) }
    }

    /// Whether locations are stack elements, as the AMD extension has it.
    pub(crate) fn has_locations_on_the_stack(&self) -> bool {
        self.dialect != Dialect::Dwarf5
    }
}

/// What is done with what the consumer cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// It is an error.
    Strict,
    /// That range is left out, and listed in the result.
    Partial,
}
