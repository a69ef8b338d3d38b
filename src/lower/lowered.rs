//! Lowering results: a module's sections, a unit's parts, and the files for split units.

use super::frame::UnitFrames;
use super::section::Part;
use super::shared_macros::UnitMacros;
use crate::emit::Section;
use crate::emit::abbrev::Abbreviations;
use crate::emit::elf::{ObjectCode, new_object};
use crate::emit::lists::FinishedLists;
use crate::emit::named::NamedEntries;
use crate::emit::ptx::Lines;
use crate::error::Result;
use crate::model::{FunctionId, UnitId};
use crate::omission::Omission;
use crate::target::Target;

/// A module's debug sections and omissions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lowered {
    /// The debug sections, with relocations.
    pub sections: Vec<Section>,
    /// Omissions: properties that the consumer cannot express, by entity and pc.
    pub omissions: Vec<Omission>,
    /// Line table, for a consumer with [directives](crate::consumer::Consumer::has_line_directives) instead of a
    /// section.
    pub lines: Option<Lines>,
    /// Split units, one for each unit in the module's order, for a consumer that
    /// [splits them](crate::consumer::Consumer::is_split).
    pub split: Vec<SplitUnit>,
}

impl Lowered {
    /// Returns each [split unit's](SplitUnit) file as its name and bytes, for the module's target. Names are relative
    /// to each unit's compilation directory.
    ///
    /// # Errors
    /// The errors of [`new_object`].
    pub fn split_files(&self, target: &Target) -> Result<Vec<(&str, Vec<u8>)>> {
        self.split.iter().map(|unit| Ok((unit.name.as_str(), unit.object(target)?))).collect()
    }
}

/// Lowered unit, with its part in every section.
#[derive(Debug)]
pub struct LoweredUnit {
    pub(super) unit: UnitId,
    pub(super) info: Part,
    pub(super) abbreviations: Abbreviations,
    /// Entry offsets, for references from other units.
    pub(super) offsets: Vec<u32>,
    /// Strings that the unit refers to by index.
    pub(super) strings: Vec<u32>,
    pub(super) addresses: Part,
    pub(super) loclists: FinishedLists,
    pub(super) rnglists: FinishedLists,
    pub(super) line: Part,
    pub(super) macros: UnitMacros,
    pub(super) nvidia: NvidiaParts,
    /// Functions that have code.
    pub(super) code: Vec<FunctionId>,
    pub(super) frames: UnitFrames,
    /// Entries for the name index.
    pub(super) named: NamedEntries,
    /// Type units that the unit writes, which share its abbreviations.
    pub(super) type_units: Vec<TypeUnit>,
    pub(super) omissions: Vec<Omission>,
    /// Whether recurring subexpressions became procedures.
    pub(super) has_shared: bool,
    /// Skeleton of a split unit, until the rest moves into a separate file.
    pub(super) skeleton: Option<Skeleton>,
    pub(super) split: Option<SplitUnit>,
}

impl LoweredUnit {
    /// Size in bytes of the unit's entries and location lists.
    pub(super) fn bytes(&self) -> usize {
        self.info.bytes.len() + self.loclists.bytes.len()
    }
}

/// Parts in sections that only NVIDIA's readers have.
#[derive(Debug)]
pub(super) struct NvidiaParts {
    /// Names of inlined functions, for the line table.
    pub(super) inlined_names: Part,
    /// Map of PTX registers, and their types.
    pub(super) register_map: Part,
    pub(super) register_types: Part,
}

/// Encoded type unit.
#[derive(Debug)]
pub(super) struct TypeUnit {
    pub(super) signature: u64,
    pub(super) info: Part,
}

/// The part that a split unit leaves in the object.
#[derive(Debug)]
pub(super) struct Skeleton {
    pub(super) info: Part,
    pub(super) abbreviations: Abbreviations,
    pub(super) strings: Vec<u32>,
    pub(super) rnglists: FinishedLists,
    /// The split file's line table, which provides the file names for its macros.
    pub(super) files: Part,
}

/// Unit contents in a separate file, which a debugger finds through the unit's skeleton in the object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SplitUnit {
    /// The unit.
    pub unit: UnitId,
    /// File name, relative to the compilation's directory: `DW_AT_dwo_name`. See
    /// [`Module::split_names`](crate::model::Module::split_names).
    pub name: String,
    /// Id that the split unit and its skeleton share: the first eight bytes, least significant first, of an MD5 digest
    /// over the name and the sections. DWARF 5 section 7.5.1.2.
    pub id: u64,
    /// File sections, without relocations.
    pub sections: Vec<Section>,
}

impl SplitUnit {
    /// Returns the file's bytes: an object for the module's target.
    ///
    /// # Errors
    /// The errors of [`new_object`].
    pub fn object(&self, target: &Target) -> Result<Vec<u8>> {
        new_object(target, &ObjectCode::default(), &self.sections)
    }
}
