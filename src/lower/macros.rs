//! Macros of a unit.

use crate::emit::Relocation;
use crate::emit::format::Format;
use crate::emit::macros::{MacroProgram, MacroSection};
use crate::model::{FileId, Macro, Module, UnitId};

/// Where what a unit's macros refer to is.
pub(super) struct MacroPlaces<'p> {
    /// The offset of the unit's line program in `.debug_line`, if it has one.
    pub(super) line: Option<u64>,
    /// The number of a file in it.
    pub(super) file: &'p dyn Fn(FileId) -> u64,
    /// The offset of a string in `.debug_str`.
    pub(super) string: &'p mut dyn FnMut(&str) -> u64,
}

/// Appends the macros of a unit to their section.
pub(super) fn macros(
    module: &Module,
    unit: UnitId,
    format: Format,
    section: MacroSection,
    places: MacroPlaces<'_>,
    out: &mut Vec<u8>,
    relocations: &mut Vec<Relocation>,
) {
    let MacroPlaces { line, file, string } = places;
    let are_shared = module.units.len() > 1;
    let mut program = MacroProgram::begin(out, relocations, format, section, are_shared, line);
    for what in module.macros(unit) {
        match *what {
            Macro::Define { line, text } => program.define(line, module.string(text), string),
            Macro::Undefine { line, name } => program.undefine(line, module.string(name), string),
            Macro::File { line, file: id } => program.start_file(line, file(id)),
            Macro::EndFile => program.end_file(),
        }
    }
    program.finish();
}
