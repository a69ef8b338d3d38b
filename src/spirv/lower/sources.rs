//! Writes sources, units and entry points: section 4.2.

use hashbrown::HashSet;

use super::entities::{Globals, Operands};
use super::lines::is_encoded;
use super::slots::Item;
use super::writer::Writer;
use crate::error::Result;
use crate::model::{FileId, Module, SecondaryMap, StringId, UnitId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::languages;
use crate::spirv::mode::Feature;
use crate::spirv::names::MD5;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;

/// Writes each file's `DebugSource`.
pub(super) fn sources(out: &mut Globals<'_, '_, '_>) -> Result<()> {
    let module = out.module;
    for (id, file) in &module.files {
        let (path, omitted) = path(module, id);
        let path = out.text(&path)?;
        let super::writer::Word::Id(string) = path else { continue };
        out.files.paths[id] = Some(string);
        let subject = Subject::File(id);
        let unit = &module.units[file.unit];
        // A missing compilation directory is recorded only once, for the unit's primary file.
        for directory in omitted.filter(|&one| id == unit.file || Some(one) != unit.directory) {
            out.omit(subject, Property::Directory, Reason::NoFullPath(directory));
        }
        let has_checksums = out.writer.mode.set.has_operand(InstructionName::Source, Field::Checksum);
        if file.md5.is_some() && !has_checksums {
            out.omit(subject, Property::Checksum, Reason::NoOperand);
        }
        let mut text = file.source.map(|text| module.string(text));
        if text.is_some_and(|text| !text.is_empty() && !is_encoded(text, out.writer.mode)) {
            out.omit(subject, Property::SourceText, Reason::TooLong);
            text = None;
        }
        if text.is_none() && out.writer.mode.has(Feature::EmptyTexts) {
            text = Some("");
        }
        let mut operands = vec![(Field::File, path)];
        let mut rest = "";
        match file.md5.filter(|_| has_checksums) {
            Some(md5) => {
                let digits = format!("{:032x}", u128::from_be_bytes(md5));
                operands.push((Field::ChecksumKind, MD5.into()));
                operands.push((Field::Checksum, out.text(&digits)?));
            }
            // These operands precede the text, so that they cannot be left out.
            None if has_checksums && text.is_some() => {
                let none = out.none()?;
                operands.extend([(Field::ChecksumKind, none), (Field::Checksum, none)]);
            }
            None => {}
        }
        if let Some(text) = text {
            // A text that is too long continues in further instructions, cut between characters.
            let (first, more) = text.split_at(text.floor_char_boundary(Writer::most_text()));
            operands.push((Field::Text, out.text(first)?));
            rest = more;
        }
        out.files.sources[id] = Some(out.writer.instruction(InstructionName::Source, &operands)?);
        while !rest.is_empty() {
            let (next, more) = rest.split_at(rest.floor_char_boundary(Writer::most_text()));
            let text = out.text(next)?;
            out.writer.instruction(InstructionName::SourceContinued, &[(Field::Text, text)])?;
            rest = more;
        }
    }
    Ok(())
}

/// Writes the units.
pub(super) fn units(out: &mut Globals<'_, '_, '_>) -> Result<()> {
    // Only functions have the flag for optimized code.
    let mut has_code = SecondaryMap::<UnitId, bool>::new();
    for function in out.module.functions.values().filter(|function| !function.is_declaration) {
        has_code[out.module.scopes[function.scope].unit] = true;
    }
    let has_producer = out.writer.mode.set.has_operand(InstructionName::CompilationUnit, Field::Producer);
    for (id, unit) in &out.module.units {
        let source = out.files.source(unit.file);
        let language = language(out, id);
        let mode = out.writer.mode;
        let mut operands = Operands::from_iter([
            (Field::Version, mode.version.into()),
            (Field::DwarfVersion, mode.dwarf_version.into()),
            source,
            (Field::Language, language.into()),
        ]);
        if has_producer {
            operands.push((Field::Producer, out.name(unit.producer)?));
        }
        out.files.units[id] = Some(out.writer.instruction(InstructionName::CompilationUnit, &operands)?);
        let subject = Subject::Unit(id);
        if !out.writer.is_shader() {
            omit_compiler(out, id, true, Reason::NoOperand);
        }
        if unit.language_version.is_some() {
            out.omit(subject, Property::LanguageVersion, Reason::NoOperand);
        }
        if unit.split_name.is_some() {
            out.omit(subject, Property::SplitName, Reason::NoOperand);
        }
        if unit.is_optimized && !has_code[id] {
            out.omit(subject, Property::Optimized, Reason::NoFunctions);
        }
    }
    Ok(())
}

fn omit_compiler(out: &mut Globals<'_, '_, '_>, id: UnitId, is_producer: bool, reason: Reason) {
    let unit = &out.module.units[id];
    let properties = [
        (unit.producer.is_some() && is_producer, Property::Producer, &reason),
        (unit.command_line.is_some(), Property::CommandLine, &reason),
    ];
    out.omit_all(Subject::Unit(id), &properties);
}

fn language(out: &mut Globals<'_, '_, '_>, id: UnitId) -> u32 {
    let mode = out.writer.mode;
    let bound = out.described.binding.language_number(id);
    let described = out.module.units[id].language;
    // The binding's language takes precedence, because DWARF does not number all languages.
    match bound.or(described.and_then(|language| languages::number(language, mode.set))) {
        Some(number) if number <= mode.last_language => number,
        Some(number) => {
            out.omit(Subject::Unit(id), Property::Language, Reason::LanguageMode(number, mode.name));
            0
        }
        None => {
            if let Some(language) = described {
                out.omit(Subject::Unit(id), Property::Language, Reason::NoLanguageNumber(language.0));
            }
            0
        }
    }
}

/// Writes a `DebugEntryPoint` for each kernel that is an entry point; `OpenCL.DebugInfo.100` lacks the instruction.
pub(super) fn entry_points(out: &mut Globals<'_, '_, '_>) -> Result<()> {
    if !out.writer.is_shader() {
        return Ok(());
    }
    let module = out.module;
    let mut encoded = HashSet::new();
    for (id, function) in &module.functions {
        let unit = module.scopes[function.scope].unit;
        let (Some(of), true) = (
            out.files.units[unit],
            out.described.entry_points.contains(&id) && out.described.relations.has_body(id),
        ) else {
            continue;
        };
        let data = &module.units[unit];
        let operands = [
            (Field::EntryPoint, out.id(Item::Function(id))?.into()),
            (Field::CompilationUnit, of.into()),
            (Field::CompilerSignature, out.name(data.producer)?),
            (Field::CommandLine, out.name(data.command_line)?),
        ];
        out.writer.instruction(InstructionName::EntryPoint, &operands)?;
        encoded.insert(unit);
    }
    // The producer and command line are only in entry points, so that a unit without one loses them.
    let has_producer = out.writer.mode.set.has_operand(InstructionName::CompilationUnit, Field::Producer);
    for id in module.units.keys().filter(|id| !encoded.contains(id)) {
        omit_compiler(out, id, !has_producer, Reason::NoEntryPoint);
    }
    Ok(())
}

/// A file's full path, where the parts are known; and the directories that the path lacks because a later part is
/// absolute.
fn path(module: &Module, id: FileId) -> (String, impl Iterator<Item = StringId>) {
    let file = &module.files[id];
    let parts = [module.units[file.unit].directory, file.directory, Some(file.name)];
    let is_full = |part: &Option<StringId>| part.is_some_and(|part| is_absolute(module.string(part)));
    let first = parts.iter().rposition(is_full).unwrap_or(0);
    let mut path = String::new();
    for part in parts[first..].iter().flatten() {
        if !path.is_empty() && !path.ends_with(['/', '\\']) {
            path.push('/');
        }
        path.push_str(module.string(*part));
    }
    (path, parts.into_iter().take(first).flatten())
}

/// Whether a path is absolute, on POSIX or Windows, because the compiling machine may differ from this one.
fn is_absolute(path: &str) -> bool {
    let has_drive =
        matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    path.starts_with(['/', '\\']) || has_drive
}
