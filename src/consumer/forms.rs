//! Fields in a [`Consumer`](super::Consumer): in what form it reads expressions, attributes, entries, lists, frames and
//! lookup tables. Each form has a constant `STANDARD`, from which presets and users change a field.
//!
//! ```
//! use eitri::Consumer;
//!
//! // lldb without procedures, which it does not call, and with the table in which it looks up
//! // names.
//! let mut consumer = Consumer::dwarf5();
//! consumer.expressions.shared_from_bytes = None;
//! consumer.tables.names = true;
//! ```

use gimli::{DwAt, DwLang, DwTag, Format};

#[doc(inline)]
pub use crate::attributes::{
    DW_AT_LLVM_ACTIVE_LANE_AMD, DW_AT_LLVM_ADDRESS_SPACE, DW_AT_LLVM_LANE_PC, DW_AT_LLVM_LANE_PC_AMD,
    DW_AT_LLVM_LANES, DW_AT_LLVM_LANES_AMD, DW_AT_LLVM_MEMORY_SPACE, DW_CC_LLVM_DEVICE_KERNEL,
};
use crate::op::{Dialect, DraftCodes};

/// Expression form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpressionForm {
    /// Operation encoding.
    pub dialect: Dialect,
    /// Codes for the operations without an assigned code, for [`Dialect::Dwarf6`].
    pub draft: DraftCodes,
    /// Operations that the consumer reads.
    pub operations: Operations,
    /// Whether expressions without pcs read registers, such as a location for a variable's whole life, or an array's
    /// bound. If this is not set, only locations at pcs read registers, because the reader can fail where a register
    /// has no value.
    pub has_registers_at_all_pcs: bool,
    /// Whether the object has NVIDIA's map of PTX registers to the processor's. A location that the number of one general
    /// register cannot say, such as a pair of registers, a uniform register or a spill slot, is then a PTX register with a
    /// generated name, `%e0`, whose words have the location in the map.
    pub has_register_map: bool,
    /// Minimum size in bytes of an expression that is emitted once per unit as a procedure, which its uses call; `None`
    /// for a consumer without calls, such as lldb 19. Ignored for DWARF 2, which has no calls.
    pub shared_from_bytes: Option<u32>,
}

impl ExpressionForm {
    /// Standard operations, without procedures.
    pub const STANDARD: Self = Self {
        dialect: Dialect::Dwarf5,
        draft: DraftCodes::NONE,
        operations: Operations::All,
        has_registers_at_all_pcs: true,
        has_register_map: false,
        shared_from_bytes: None,
    };
}

/// Operations that a consumer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operations {
    /// All operations in the version and the dialect, each in its shortest encoding.
    All,
    /// Operations with these opcodes only, in ascending order; they replace an operation's other encodings.
    Only(&'static [u8]),
}

impl Operations {
    /// Whether the consumer reads an opcode.
    pub(crate) fn has(self, opcode: u8) -> bool {
        match self {
            Self::All => true,
            Self::Only(codes) => codes.binary_search(&opcode).is_ok(),
        }
    }
}

/// Attributes whose numbers depend on the reader; `None` for a reader without the attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttributeNumbers {
    /// Address space that a pointer type's objects are in.
    pub address_space: Option<DwAt>,
    /// Memory space that the source declares for a pointer or a variable.
    pub memory_space: Option<DwAt>,
    /// Address space of all of a variable's locations in memory, for a consumer whose expressions compute an address without
    /// a space. Locations in a second space are refused or omitted; if a variable is in several places at once, the first
    /// expressible location is encoded. `None` for a consumer whose expressions name the space.
    pub variable_space: Option<DwAt>,
    /// Number of lanes in a function.
    pub lanes: Option<DwAt>,
    /// Each lane's pc.
    pub lane_pc: Option<DwAt>,
    /// Active lanes, where they differ from EXEC.
    pub active_lane: Option<DwAt>,
}

impl AttributeNumbers {
    /// The pointers' address class, the only attribute among these in the standard.
    pub const STANDARD: Self = Self {
        address_space: Some(gimli::DW_AT_address_class),
        memory_space: None,
        variable_space: None,
        lanes: None,
        lane_pc: None,
        active_lane: None,
    };

    /// Whether one of them is an attribute.
    pub(crate) fn has(&self, attribute: DwAt) -> bool {
        let Self { address_space, memory_space, variable_space, lanes, lane_pc, active_lane } = *self;
        [address_space, memory_space, variable_space, lanes, lane_pc, active_lane].contains(&Some(attribute))
    }
}

/// Form of debugging information entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryForm {
    /// Whether strings are in the entries, without a string section.
    pub has_inline_strings: bool,
    /// Form of references to entries in the same unit.
    pub references: ReferenceForm,
    /// Whether blocks have a one-byte or two-byte length, without a form of variable length.
    pub has_fixed_forms: bool,
    /// Whether a linkage name precedes the name.
    pub has_linkage_name_first: bool,
    /// Attributes that the consumer knows, in ascending order; `None` for a consumer that skips unknown ones.
    pub attributes: Option<&'static [DwAt]>,
    /// Largest tag that the consumer knows, if it rejects larger tags.
    pub last_tag: Option<DwTag>,
    /// Largest language number that the consumer knows. A later standard becomes the language's latest known standard;
    /// a language without one keeps its number.
    pub last_language: Option<DwLang>,
    /// Whether units also have DWARF 6's language name and version.
    pub language_names: bool,
    /// A kernel's calling convention, `DW_CC_*`.
    pub kernel_convention: Option<u8>,
}

/// Form of references to entries in the same unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReferenceForm {
    /// `DW_FORM_ref4`, which every tool reads and rewrites.
    Ref4,
    /// `DW_FORM_ref_udata` for entries before the reference, in as many bytes as the offset needs. Tools that copy
    /// entries may not know the form: LLVM's dwarfutil drops such an attribute, as of LLVM 19.
    Udata,
}

impl EntryForm {
    /// Shortest forms, except for references, for a consumer that skips what it does not know.
    pub const STANDARD: Self = Self {
        has_inline_strings: false,
        references: ReferenceForm::Ref4,
        has_fixed_forms: false,
        has_linkage_name_first: false,
        attributes: None,
        last_tag: None,
        last_language: None,
        language_names: false,
        kernel_convention: None,
    };

    /// Whether the consumer knows an attribute.
    pub(crate) fn knows(&self, attribute: DwAt) -> bool {
        self.attributes.is_none_or(|known| known.binary_search_by_key(&attribute.0, |known| known.0).is_ok())
    }

    /// Whether the consumer knows a tag.
    pub(crate) fn knows_tag(&self, tag: DwTag) -> bool {
        self.last_tag.is_none_or(|last| tag.0 <= last.0)
    }
}

/// Location list form and range list form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListForm {
    /// Whether bounds in location lists are addresses, each with its relocation, and units begin at address 0 without
    /// ranges. For DWARF 2 to 4.
    pub has_absolute_bounds: bool,
    /// Whether the consumer reads offsets from a base in split units' location lists. gdb 13 takes such offsets for
    /// addresses; if this is not set, each entry has a separate address in the object, as GCC emits it.
    pub has_split_offsets: bool,
}

impl ListForm {
    /// Offsets from a base, except in split units.
    pub const STANDARD: Self = Self { has_absolute_bounds: false, has_split_offsets: false };
}

/// Call frame information form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameForm {
    /// Whether `.debug_frame` is emitted. Without it and without `.eh_frame`, described frames are omissions.
    pub debug_frame: bool,
    /// Whether `.eh_frame`, which is loaded with the program and also used by exceptions, is emitted on targets whose
    /// ABI has it.
    pub eh_frame: bool,
    /// Instructions that name a frame's address space. Without them an expression names it.
    pub aspace_cfa: AspaceCfa,
    /// Whether `DW_CFA_def_cfa` resets the address space to the default, as specified (A.6.4.2.2), instead of keeping
    /// the space named last.
    pub def_cfa_resets_space: bool,
    /// Augmentation string in `.debug_frame`.
    pub augmentation: &'static str,
    /// DWARF format of `.debug_frame`; `None` for the format of the entries.
    pub format: Option<Format>,
    /// Whether each function has a common entry of its own, as ptxas writes them.
    pub are_separate: bool,
}

/// Instructions that name a frame's address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AspaceCfa {
    /// No such instruction.
    None,
    /// `DW_CFA_LLVM_def_aspace_cfa`, whose offset is unsigned.
    Unsigned,
    /// `DW_CFA_LLVM_def_aspace_cfa` and `DW_CFA_LLVM_def_aspace_cfa_sf`.
    Signed,
}

impl FrameForm {
    /// `.debug_frame` with the standard's instructions, without an augmentation.
    pub const STANDARD: Self = Self {
        debug_frame: true,
        eh_frame: false,
        aspace_cfa: AspaceCfa::None,
        def_cfa_resets_space: true,
        augmentation: "",
        format: None,
        are_separate: false,
    };
}

/// Tables for lookups by name or by address.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tables {
    /// `.debug_names`, for DWARF 5.
    pub names: bool,
    /// `.debug_pubnames` and `.debug_pubtypes`, for any version. DWARF 5 replaced them by `.debug_names`.
    pub pubs: bool,
    /// Whether a function with a linkage name is in `.debug_pubnames` under that name alone, as nvlink lists names, instead
    /// of the name that namespaces qualify.
    pub has_public_linkage_names: bool,
    /// `.debug_aranges`.
    pub aranges: bool,
}
