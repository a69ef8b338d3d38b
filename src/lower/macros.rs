//! Macro lowering.

use super::section::Part;
use super::units::Units;
use crate::emit::macros::{MacroProgram, MacroSection};
use crate::model::{Macro, UnitId};

/// Encodes a unit's macros. `lines` is the line program's offset, if the unit has a line program.
pub(super) fn program(units: &Units<'_>, unit: UnitId, lines: Option<u64>) -> Part {
    let module = units.module;
    let format = units.format;
    let mut part = Part::default();
    // Addends are string numbers until the units are joined.
    let mut string = |text: &str| module.strings.number(text).map_or(0, u64::from);
    let mut program = MacroProgram::begin(
        &mut part.bytes,
        &mut part.relocations,
        format,
        if format.version >= 5 { MacroSection::Macro } else { MacroSection::Macinfo },
        module.units.len() > 1 && !units.consumer.is_split,
        lines,
    );
    for what in module.macros(unit) {
        match *what {
            Macro::Define { line, text } => program.define(line, module.string(text), &mut string),
            Macro::Undefine { line, name } => program.undefine(line, module.string(name), &mut string),
            Macro::File { line, file } => program.start_file(line, units.file_number(unit, file)),
            Macro::EndFile => program.end_file(),
        }
    }
    program.finish();
    part
}
