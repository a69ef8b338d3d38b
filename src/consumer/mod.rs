//! Output readers: the encoding for each debugger, and the policy for facts that it cannot express.
//!
//! ```
//! use eitri::consumer::Consumer;
//!
//! // A debugger's preset, with DWARF 4 instead of 5.
//! let mut consumer = Consumer::rocgdb();
//! consumer.version = 4;
//! consumer.tables.aranges = true;
//! // The command takes presets by name.
//! assert_eq!(Consumer::named("rocgdb")?, Consumer::rocgdb());
//! # Ok::<(), eitri::Error>(())
//! ```

mod forms;
mod presets;

pub use forms::*;

use gimli::{DwAt, DwForm, Format};

use crate::error::{Construct, Error, ErrorKind};
use crate::op::{Dialect, Encoding};
use crate::target::{SpaceId, Target};

/// Output reader. The encoding depends on the target debugger.
///
/// | consumer | for | operations | a pointer's address space | memory space | lanes | lane pcs | active lanes |
/// |---|---|---|---|---|---|---|---|
/// | [`llvm`](Self::llvm) | LLVM's tools, and readers of the AMD compiler's output | `e9` and a sub-operation | 0x3e10 | 0x3e0f | 0x3e11 | 0x3e12 | – |
/// | [`rocgdb`](Self::rocgdb) | AMD's debugger | the same | 0x3e10 | 0x3e0f | 0x3e11 | 0x3e0b | 0x3e08 |
/// | [`rocgdb_legacy`](Self::rocgdb_legacy) | its older versions | one byte, `e1` to `ec` | `DW_AT_address_class` | – | 0x3e0a | 0x3e0b | 0x3e08 |
/// | [`dwarf5`](Self::dwarf5) | gdb, lldb, anything standard | DWARF 5's | `DW_AT_address_class` | – | – | – | – |
/// | [`cuda_gdb`](Self::cuda_gdb) | NVIDIA's debugger, through PTX | some in DWARF 2 | `DW_AT_address_class` | – | – | – | – |
/// | [`cuda_gdb_sass`](Self::cuda_gdb_sass) | NVIDIA's debugger, through a cubin | the same | `DW_AT_address_class` | – | – | – | – |
///
/// Each is a value: start from one and change a field.
///
/// ```
/// use eitri::Consumer;
///
/// let mut mine = Consumer::llvm();
/// mine.attributes.address_space = Some(gimli::DW_AT_address_class);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Consumer {
    /// Name, for messages.
    pub name: &'static str,
    /// DWARF version: 2 to 5. A fact without an encoding in the version is encoded as in GNU's extensions for that
    /// version, or as in a later version, because readers of older versions skip it.
    pub version: u16,
    /// 32-bit or 64-bit DWARF format.
    pub format: Format,
    /// Expression form: dialect, operations, procedures.
    pub expressions: ExpressionForm,
    /// Attributes whose numbers depend on the reader.
    pub attributes: AttributeNumbers,
    /// Entry form.
    pub entries: EntryForm,
    /// Location list form and range list form.
    pub lists: ListForm,
    /// Whether the line table consists of assembler directives, [`Lowered::lines`](crate::lower::Lowered::lines), with
    /// file numbers for the module as a whole.
    pub has_line_directives: bool,
    /// Whether line rows state the call of which their code is an inlined part, with NVIDIA's operations and with the
    /// functions' names in `.debug_str`. For versions 2 and 3.
    pub has_inlined_rows: bool,
    /// Call frame information form.
    pub frames: FrameForm,
    /// Lookup tables.
    pub tables: Tables,
    /// Whether named structures, classes, unions and enumerations are emitted in type units, so that a linker keeps one
    /// unit per type. Type units are in `.debug_types` for DWARF 4, in `.debug_info` for DWARF 5 (section 3.1.4).
    /// Versions 2 and 3 do not have type units.
    ///
    /// These types stay in the compile unit: incomplete types; types declared in code, in a class, or in an unnamed
    /// namespace; classes with static members, member functions or nested types; types with expressions; types that
    /// reference one of these; and a type that two units of the module describe differently under one signature.
    ///
    /// Cannot be combined with [`Tables::names`], which cannot reference entries that a linker may drop, nor with
    /// [`is_split`](Self::is_split). Types in type units are not listed in `.debug_pubtypes`.
    pub has_type_units: bool,
    /// Whether units are split, as in DWARF 5: a skeleton in the object, the rest in a [`.dwo`
    /// object](crate::lower::SplitUnit) that no linker has to read. A location then references its own unit only: a
    /// pointer to another unit's variable is refused or omitted.
    pub is_split: bool,
    /// Attribute forms, instead of the shortest forms. A form is ignored where the version lacks it, where it cannot
    /// encode the attribute's value, and where a linker would have to fill it in.
    pub forms: Vec<(DwAt, DwForm)>,
}

/// What a user asks for beside a consumer's name, as options of a command do. All are off by default, and leave the
/// consumer as it is.
///
/// Exhaustive: a literal names the fields that it sets, and the default for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Additions {
    /// The 64-bit DWARF format.
    pub dwarf64: bool,
    /// DWARF 5's name index, `.debug_names`.
    pub names: bool,
    /// The name tables from before DWARF 5, `.debug_pubnames` and `.debug_pubtypes`.
    pub pubnames: bool,
    /// The address range table, `.debug_aranges`.
    pub aranges: bool,
    /// [Type units](Consumer::has_type_units), in DWARF 4 and 5.
    pub type_units: bool,
    /// [Split units](Consumer::is_split), in DWARF 5.
    pub split: bool,
}

/// Policy for facts that the consumer cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// Fails with an error.
    Strict,
    /// Omits the pc range, and lists the omission in the result.
    Partial,
}

impl Policy {
    /// Returns [`Partial`](Self::Partial) for a user who asks for it, and otherwise [`Strict`](Self::Strict).
    pub fn partial(is_partial: bool) -> Self {
        if is_partial { Self::Partial } else { Self::Strict }
    }
}

impl Consumer {
    /// Returns the operation encoding for this consumer, little-endian. [`encoding_on`](Self::encoding_on) has a target's
    /// byte order.
    pub fn encoding(&self, address_bytes: u8) -> Encoding {
        Encoding::new(address_bytes, self.expressions.dialect)
            .with_offset_bytes(self.format.word_size())
            .with_version(self.version)
            .with_draft(self.expressions.draft)
    }

    /// Returns the operation encoding for this consumer on a target.
    pub fn encoding_on(&self, target: &Target) -> Encoding {
        self.encoding(target.address_bytes()).with_big_endian(target.is_big_endian())
    }

    /// Whether locations are stack elements, as in the AMDGPU extension.
    pub(crate) fn has_locations_on_the_stack(&self) -> bool {
        self.expressions.dialect != Dialect::Dwarf5
    }

    /// Returns a pointer space's number in its attribute; `None` without the attribute. A reader of
    /// [`variable_space`](AttributeNumbers::variable_space) expects every pointer's class.
    pub(crate) fn pointer_space(&self, target: &Target, space: SpaceId) -> Option<u32> {
        match self.attributes.variable_space {
            Some(_) => Some(target.address_class(space)),
            None => Some(space.0).filter(|_| space != SpaceId::DEFAULT),
        }
    }

    /// Error for a fact that this consumer cannot express.
    pub(crate) fn inexpressible(&self, what: Construct) -> Error {
        ErrorKind::Inexpressible { what, consumer: self.name.into() }.into()
    }
}
