//! Reads an object file's facts from its bytes, regardless of the producer.
//!
//! ```text
//! bytes ─► Object ─► Sections ─► Dwarf ─► Unit, Entry, Value
//!            │           │         ├────► List            where a variable is, by pc
//!            │           │         ├────► LineProgram     rows of the line table
//!            │           │         ├────► Macros
//!            │           │         └────► Frames          where the caller's registers are, by pc
//!            │           └► NameIndex, AddressRanges, PublicNames, IndexTable
//!         symbols
//! ```
//!
//! Versions 2 to 5, both formats and byte orders, and GNU's predecessors of DWARF 5 are supported. Type units are read
//! like other units ([`Dwarf::type_of_signature`]); split units are read alone, with addresses by index, or together
//! with their skeletons ([`Dwarf::read_split`], [`SplitFiles`], also in packages).
//!
//! Facts are plain data with their offsets. Wrong but readable data is kept for the caller to check: a reversed range,
//! a gap, an overlap. Unreadable data is an [`Error`](crate::Error) with section and offset; no input causes a panic.
//! [`Dwarf::read`] keeps 16 bytes for each entry and checks all attributes; their values are decoded on request.
//!
//! This module shares no code with the DWARF writer, so that the same mistake in both cannot cancel out. `gimli`
//! decodes abbreviations and the entry tree; everything else is decoded here.
//!
//! ```
//! # fn main() -> eitri_dwarf::Result<()> {
//! # let bytes = include_bytes!("../../data/uspill.o");
//! use eitri_dwarf::read::{Dwarf, Object};
//!
//! let object = Object::read(bytes)?;
//! let target = object.target(None);
//! assert_eq!(target.as_ref().map(|target| target.name()), Some("amdgpu-gfx1030-wave32"));
//! let dwarf = Dwarf::read(&object)?;
//! for unit in dwarf.units() {
//!     println!("{:?}: {} entries", unit.name, dwarf.entries_of(unit).count());
//! }
//! # Ok(())
//! # }
//! ```

mod abbrev;
mod abbreviations;
mod aranges;
mod cfi;
mod companions;
mod compress;
pub mod containers;
mod cursor;
mod declared;
mod definitions;
mod dialect;
mod dwarf;
mod elf;
mod elf_header;
mod entry;
mod errors;
mod frame;
mod frame_columns;
mod frame_index;
mod frame_rows;
mod inside;
mod known_rows;
mod line;
mod line_rows;
mod lists;
mod macros;
mod mercury;
mod names;
pub mod nvidia;
mod options;
mod package;
mod pc_notation;
mod pcs;
mod ptx;
mod pubs;
mod recurring;
mod reloc;
mod scope;
mod sections;
mod shape;
mod size;
mod split_files;
mod string_ids;
mod symbols;
mod tables;
#[doc(hidden)]
pub mod threads;
mod type_names;
mod unit;
mod units;
mod unreadable;
mod value;

pub use abbrev::Abbreviation;
pub use aranges::{AddressRange, AddressRanges};
pub use cfi::{CallFrameInstruction, CallFrameInstructions, FrameInstruction};
pub use companions::Companions;
pub use dwarf::Dwarf;
pub use elf::{
    ElfSection, ElfSymbol, ElfSymbolKind, MercuryCopy, Object, SectionCompression, StaleFields, SymbolField,
};
pub use entry::{Attributes, Entry};
pub use frame::{Cie, Fde, FrameProgram, FrameSection, Frames, Pointer};
pub use frame_columns::{FrameColumns, FrameRun};
pub use frame_rows::{CfaRule, FrameRow, FrameRows, RegisterRule};
pub use inside::{InnerContents, InnerFile, inner_files};
pub use line::{LineFile, LineFormat, LineProgram};
pub use line_rows::{InlinedRow, LineRow, LineRows};
pub(crate) use lists::Addressed;
pub use lists::{List, ListEntry, ListFormat, ListKind, RawEntry, RawList};
pub use macros::{MacroAction, MacroEntries, MacroEntry, Macros};
pub use names::{
    IndexedName, NameAbbreviation, NameEntries, NameEntry, NameIndex, NameParent, NameUnit, name_hash,
};
pub use options::ReadOptions;
pub use pc_notation::PcNotation;
pub use pcs::{
    CodeLine, CodeScope, CodeScopes, CurrentLocation, EntryPosition, ScopeVariable, ScopeVariables,
};
pub(crate) use pcs::{function_at, functions_with_code};
pub use pubs::{PublicName, PublicNames, PublicSection};
pub use scope::{address_in, functions_at, scopes_at, variable_named, variables_at, variables_named};
pub use sections::Sections;
pub use split_files::{FindSplit, Skeleton, SplitFiles, split_ids};
pub use tables::IndexTable;
pub use unit::{Bases, Unit};
pub use unreadable::UnreadableField;
pub use value::{Attribute, ResolvedValue, Str};

// Internals that eitri's other crates share.
#[doc(hidden)]
pub use {
    abbreviations::ByAbbreviation,
    declared::OtherUnits,
    dialect::{any_expression, can_have_expression, is_expression_form},
    dwarf::{SUPPLEMENTARY, code_section},
    elf::{INFO_BEHIND, Placing, Sizes},
    frame_rows::renumber,
    known_rows::KnownRows,
    recurring::Recurring,
    scope::unknown_function,
    shape::Shape,
    string_ids::{StringId, StringIds},
};
