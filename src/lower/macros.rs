//! Macro lowering.

use super::section::Part;
use super::shared_macros::{UnitMacros, runs};
use super::units::Units;
use crate::emit::macros::{MacroProgram, MacroSection};
use crate::model::{Macro, UnitId};

/// Encodes a unit's macros. `lines` is the line program's offset, if the unit has a line program.
pub(super) fn program(units: &Units<'_>, unit: UnitId, lines: Option<u64>) -> UnitMacros {
    let module = units.module;
    let format = units.format;
    let mut part = Part::default();
    let section = if format.version >= 5 { MacroSection::Macro } else { MacroSection::Macinfo };
    let are_shared = module.units.len() > 1 && !units.consumer.is_split;
    let mut program =
        MacroProgram::begin(&mut part.bytes, &mut part.relocations, format, section, are_shared, lines);
    let macros = module.macros(unit);
    let mut own = Vec::new();
    let mut next = 0;
    for run in runs(macros) {
        write(&mut program, units, unit, &macros[next..run.start]);
        next = run.end;
        let entries = &macros[run];
        match units.shared.macros.list(entries) {
            Some((owner, number)) => {
                program.import(number);
                if owner == unit && !own.iter().any(|&(known, _)| known == number) {
                    own.push((number, entries));
                }
            }
            None => write(&mut program, units, unit, entries),
        }
    }
    write(&mut program, units, unit, &macros[next..]);
    program.finish();
    let mut lists = Vec::with_capacity(own.len());
    for (number, entries) in own {
        lists.push((number, part.bytes.len() as u64));
        let mut list =
            MacroProgram::begin(&mut part.bytes, &mut part.relocations, format, section, false, None);
        write(&mut list, units, unit, entries);
        list.finish();
    }
    UnitMacros { part, lists }
}

fn write(program: &mut MacroProgram<'_>, units: &Units<'_>, unit: UnitId, macros: &[Macro]) {
    let module = units.module;
    // Addends are string numbers until the units are joined.
    let mut string = |text: &str| module.strings.number(text).map_or(0, u64::from);
    for what in macros {
        match *what {
            Macro::Define { line, text } => program.define(line, module.string(text), &mut string),
            Macro::Undefine { line, name } => program.undefine(line, module.string(name), &mut string),
            Macro::File { line, file } => program.start_file(line, units.file_number(unit, file)),
            Macro::EndFile => program.end_file(),
        }
    }
}
