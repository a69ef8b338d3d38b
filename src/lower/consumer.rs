//! Who reads the output, and what they can be told.

use gimli::{DwAt, DwCc, DwForm, Format};

use super::frame::{AspaceCfa, FrameForm};
use crate::emit;
use crate::error::{Error, Result};
use crate::model::Passed;
use crate::op::{Dialect, DraftCodes, Encoding};
use crate::target::Target;

/// Who reads the output. A user knows which debugger they use, not which dialect; one choice sets all.
///
/// | consumer | for | operations | address space of a pointer | memory space | lanes | pcs of lanes | active lanes |
/// |---|---|---|---|---|---|---|---|
/// | [`llvm`](Self::llvm) | LLVM's tools, and readers of the AMD compiler's output | `e9` and a sub-operation | 0x3e10 | 0x3e0f | 0x3e11 | 0x3e12 | – |
/// | [`rocgdb`](Self::rocgdb) | AMD's debugger | the same | 0x3e10 | 0x3e0f | 0x3e11 | 0x3e0b | 0x3e08 |
/// | [`rocgdb_legacy`](Self::rocgdb_legacy) | older ones | one byte, `e1` to `ec` | `DW_AT_address_class` | – | 0x3e0a | 0x3e0b | 0x3e08 |
/// | [`dwarf5`](Self::dwarf5) | gdb, lldb, anything standard | of DWARF 5 | `DW_AT_address_class` | – | – | – | – |
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
    /// The attribute for the memory that the source says a pointer points into, or a variable is in.
    pub memory_space: Option<DwAt>,
    /// The attribute for the number of lanes that a function's code runs in.
    pub lanes: Option<DwAt>,
    /// The attribute for the pc at which each lane stands.
    pub lane_pc: Option<DwAt>,
    /// The attribute for which lanes are active, where EXEC does not say so.
    pub active_lane: Option<DwAt>,
    /// The calling convention of a kernel, `DW_CC_*`.
    pub kernel_convention: Option<u8>,
    /// The DWARF version: 2 to 5. What a version before 5 has no name for is written as GNU's tools write it
    /// there, or as a later version does, which readers of older ones skip.
    pub version: u16,
    /// The 32-bit or the 64-bit DWARF format.
    pub format: Format,
    /// Whether a unit's language is said as DWARF 6 does, too: by a name and a version.
    pub language_names: bool,
    /// How call frame information is written.
    pub frames: FrameForm,
    /// Tables for looking things up.
    pub tables: Tables,
    /// Whether structures, classes, unions and enumerations with a name go to type units, of which a linker keeps
    /// one for each type: in `.debug_types` for DWARF 4, in `.debug_info` for DWARF 5 (section 3.1.4). Versions 2
    /// and 3 have none.
    ///
    /// These stay in the compile unit: incomplete types; what is declared in code, in a class, or in a namespace
    /// without a name; a class with static members, member functions or types in it; what has an expression in
    /// it; and whatever refers to one of these. So does a type of which two units of the module say different
    /// things under one signature.
    ///
    /// Not together with [`Tables::names`], which cannot refer to what a linker may drop, nor with
    /// [`is_split`](Self::is_split). Types that have units of their own are not in `.debug_pubtypes`.
    pub has_type_units: bool,
    /// Whether units are split, of DWARF 5: a skeleton in the object, the rest in [an object of its
    /// own](super::SplitUnit) (`.dwo`) that no linker has to read. What a location refers to is then in the
    /// unit itself: one that points to another unit's variable is refused or left out.
    pub is_split: bool,
    /// Whether offsets from a base are understood in location lists of split units. gdb 13 takes them for
    /// addresses; where it is not set, each entry has an address of its own in the object, as GCC writes it.
    pub has_split_offsets: bool,
    /// Expressions of at least so many bytes that come again in a unit are written once, as a procedure that
    /// is called; `None` for a consumer that cannot call, as lldb 19 cannot. In DWARF 2, which has no calls, it
    /// does not count.
    pub shared_from_bytes: Option<u32>,
    /// Forms of attributes, where another than the shortest is wanted. One that the version does not have, or
    /// that cannot hold the attribute's value, or that a linker would have to fill in where none comes, does not
    /// count.
    pub forms: Vec<(DwAt, DwForm)>,
}

/// Tables for looking things up: by name or by address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tables {
    /// `.debug_names`, of DWARF 5.
    pub names: bool,
    /// `.debug_pubnames` and `.debug_pubtypes`, which DWARF 5 replaced by `.debug_names`; in any version.
    pub pubs: bool,
    /// `.debug_aranges`.
    pub aranges: bool,
}

/// AMD's debuggers know one instruction that names a space, and take the space over to what follows.
const ROCGDB_FRAMES: FrameForm =
    FrameForm { aspace_cfa: AspaceCfa::Unsigned, def_cfa_resets_space: false, ..FrameForm::STANDARD };

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

impl Consumer {
    /// Current LLVM tools, and readers of the AMD compiler's output.
    pub fn llvm() -> Self {
        Self {
            name: "LLVM",
            dialect: Dialect::Llvm,
            draft: DraftCodes::NONE,
            address_space: Some(DW_AT_LLVM_ADDRESS_SPACE),
            memory_space: Some(DW_AT_LLVM_MEMORY_SPACE),
            lanes: Some(DW_AT_LLVM_LANES),
            lane_pc: Some(DW_AT_LLVM_LANE_PC),
            kernel_convention: Some(DW_CC_LLVM_DEVICE_KERNEL),
            has_split_offsets: true,
            shared_from_bytes: Some(16),
            frames: FrameForm { aspace_cfa: AspaceCfa::Signed, ..FrameForm::STANDARD },
            ..Self::dwarf5()
        }
    }

    /// AMD's debugger of today.
    pub fn rocgdb() -> Self {
        Self {
            name: "ROCgdb",
            lane_pc: Some(DW_AT_LLVM_LANE_PC_AMD),
            active_lane: Some(DW_AT_LLVM_ACTIVE_LANE_AMD),
            frames: ROCGDB_FRAMES,
            has_split_offsets: false,
            ..Self::llvm()
        }
    }

    /// AMD's debuggers from before `DW_OP_LLVM_user`.
    pub fn rocgdb_legacy() -> Self {
        Self {
            name: "ROCgdb (legacy)",
            dialect: Dialect::Legacy,
            draft: DraftCodes::NONE,
            shared_from_bytes: Some(16),
            address_space: Some(gimli::DW_AT_address_class),
            lanes: Some(DW_AT_LLVM_LANES_AMD),
            lane_pc: Some(DW_AT_LLVM_LANE_PC_AMD),
            active_lane: Some(DW_AT_LLVM_ACTIVE_LANE_AMD),
            kernel_convention: None,
            frames: ROCGDB_FRAMES,
            ..Self::dwarf5()
        }
    }

    /// Whatever reads standard DWARF 5, in the 32-bit format. For another version, change the field.
    pub fn dwarf5() -> Self {
        Self {
            name: "DWARF 5",
            dialect: Dialect::Dwarf5,
            draft: DraftCodes::NONE,
            address_space: Some(gimli::DW_AT_address_class),
            memory_space: None,
            lanes: None,
            lane_pc: None,
            active_lane: None,
            kernel_convention: None,
            version: 5,
            format: Format::Dwarf32,
            language_names: false,
            frames: FrameForm::STANDARD,
            tables: Tables::default(),
            has_type_units: false,
            is_split: false,
            has_split_offsets: false,
            shared_from_bytes: None,
            forms: Vec::new(),
        }
    }

    /// The names that [`named`](Self::named) takes.
    pub const NAMES: [&str; 7] = ["llvm", "rocgdb", "rocgdb-legacy", "dwarf2", "dwarf3", "dwarf4", "dwarf5"];

    /// The consumer of this name, of [`NAMES`](Self::NAMES): `dwarf2` to `dwarf5` are whatever reads that version of
    /// the standard.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument).
    pub fn named(name: &str) -> Result<Self> {
        let dwarf = |name, version| Self { name, version, ..Self::dwarf5() };
        Ok(match name {
            "llvm" => Self::llvm(),
            "rocgdb" => Self::rocgdb(),
            "rocgdb-legacy" => Self::rocgdb_legacy(),
            "dwarf2" => dwarf("DWARF 2", 2),
            "dwarf3" => dwarf("DWARF 3", 3),
            "dwarf4" => dwarf("DWARF 4", 4),
            "dwarf5" => Self::dwarf5(),
            _ => return Err(Error::bad_argument(format!("no consumer has the name `{name}`"))),
        })
    }

    /// How operations are encoded for this consumer, little-endian.
    pub fn encoding(&self, address_bytes: u8) -> Encoding {
        Encoding {
            offset_bytes: self.format.word_size(),
            version: self.version,
            draft: self.draft,
            ..Encoding::new(address_bytes, self.dialect)
        }
    }

    /// The same on a target.
    pub(super) fn encoding_on(&self, target: &Target) -> Encoding {
        Encoding { big_endian: target.is_big_endian(), ..self.encoding(target.address_bytes()) }
    }

    /// What the bytes of sections depend on.
    pub(super) fn section_format(&self, target: &Target) -> emit::format::Format {
        emit::format::Format {
            version: self.version,
            offset_bytes: self.format.word_size(),
            address_bytes: target.address_bytes(),
            big_endian: target.is_big_endian(),
        }
    }

    /// The attribute for a linkage name: before DWARF 4, which brought one, that of the MIPS compilers, which
    /// everyone took over.
    pub(super) fn linkage_name(&self) -> DwAt {
        if self.version < 4 { gimli::DW_AT_MIPS_linkage_name } else { gimli::DW_AT_linkage_name }
    }

    /// How objects are passed, by its number. It came with DWARF 5.
    pub(super) fn passed(&self, passed: Option<Passed>) -> Option<DwCc> {
        passed.filter(|_| self.version >= 5).map(super::types::base::passed)
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
