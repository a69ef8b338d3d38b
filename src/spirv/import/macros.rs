//! Imports macros.

use super::importer::Importer;
use super::omissions::{Made, refused};
use crate::error::Result;
use crate::model::UnitId;
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// Imports the macros in order, by unit and file. Inclusions are not encoded.
pub(super) fn macros(importer: &mut Importer<'_, '_>) {
    let mut entries: Vec<(UnitId, u32, Id, Fact<'_>)> = Vec::new();
    for fact in importer.facts.iter() {
        if !matches!(fact.name(), Some(InstructionName::MacroDef | InstructionName::MacroUndef)) {
            continue;
        }
        let Some(source) = fact.id(Field::Source) else { continue };
        let path = importer.facts.layout().string(source).unwrap_or_default();
        let unit = macro_unit(importer, &path, entries.last().map(|last| last.0));
        entries.push((unit, importer.facts.word(&fact, Field::Line), source, fact));
    }
    // The command line's macros come before the first file. The sort is stable, so that each file's macros stay in
    // order.
    entries.sort_by_key(|&(unit, line, ..)| (unit, line != 0));
    let mut open: Option<(UnitId, Id)> = None;
    for (unit, line, source, fact) in entries {
        let line_owner = (line != 0).then_some((unit, source));
        if open != line_owner {
            end_file(importer, open.take());
            if line_owner.is_some() {
                let path = importer.facts.layout().string(source).unwrap_or_default();
                let file = importer.m.file(unit, &path, None);
                let begun = file.and_then(|file| importer.m.macros(unit)?.file(0, file).map(drop));
                if let Err(error) = begun {
                    importer.omissions.omit(&fact, refused(error));
                    continue;
                }
                open = line_owner;
            }
        }
        let made = import_macro(importer, &fact, unit, line);
        importer.omissions.made(&fact, made);
    }
    end_file(importer, open);
}

/// The unit of a macro in a file. The unit is not encoded: it is the unit with the file's name, otherwise the preceding
/// macro's unit, otherwise a unit that has the file.
fn macro_unit(importer: &Importer<'_, '_>, path: &str, before: Option<UnitId>) -> UnitId {
    let module = importer.m.described();
    let name_of = |file| module.string(module.file(file).name);
    let named = module.units().find(|(_, unit)| name_of(unit.file) == path).map(|(id, _)| id);
    let mut files = module.files();
    let has = || files.find(|(id, _)| name_of(*id) == path).map(|(_, file)| file.unit);
    named.or(before).or_else(has).unwrap_or_else(|| importer.units.first())
}

fn end_file(importer: &mut Importer<'_, '_>, open: Option<(UnitId, Id)>) {
    if let Some((unit, _)) = open {
        let _ = importer.m.macros(unit).and_then(|mut macros| macros.end_file().map(drop));
    }
}

fn import_macro(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId, line: u32) -> Made<()> {
    let mut macros_of = |text: Result<&str, &str>| {
        let mut macros = importer.m.macros(unit).map_err(refused)?;
        match text {
            Ok(text) => macros.define(line, text).map(drop),
            Err(name) => macros.undefine(line, name).map(drop),
        }
        .map_err(refused)
    };
    if fact.name() == Some(InstructionName::MacroDef) {
        let facts = importer.facts.all;
        let name = facts.text(fact, Field::Name);
        let value = facts.text(fact, Field::Value);
        return macros_of(Ok(&format!("{} {}", name.unwrap_or_default(), value.unwrap_or_default())));
    }
    let defined = importer
        .facts
        .all
        .named(fact, Field::Macro)
        .filter(|it| it.name() == Some(InstructionName::MacroDef));
    let defined = defined.ok_or(Unimported::NotMacro)?;
    let name = importer.facts.all.text(&defined, Field::Name).unwrap_or_default();
    // An undefinition does not contain the parameters.
    macros_of(Err(name.split('(').next().unwrap_or_default().trim_end()))
}
