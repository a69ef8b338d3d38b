//! Sources, units and entry points: section 4.2.

use cranelift_entity::SecondaryMap;
use hashbrown::HashSet;

use super::entities::{Globals, Operands};
use super::lines::is_encoded;
use super::order::Item;
use super::writer::Writer;
use crate::error::Result;
use crate::model::{FileId, FunctionId, Module, StringId, UnitId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::binding::Binding;
use crate::spirv::languages;
use crate::spirv::layout::Layout;
use crate::spirv::mode::Feature;
use crate::spirv::names::MD5;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::HEADER;

impl Globals<'_, '_, '_> {
    /// Writes a `DebugSource` of every file.
    pub(super) fn sources(&mut self) -> Result<()> {
        let module = self.module;
        for (id, file) in &module.files {
            let (path, omitted) = path(module, id);
            let path = self.text(&path)?;
            let super::writer::Word::Id(string) = path else { continue };
            self.files.paths[id] = Some(string);
            let subject = Subject::File(id);
            let unit = &module.units[file.unit];
            // A missing compilation directory is recorded once, for the file that the unit is named after.
            for directory in omitted.filter(|&one| id == unit.file || Some(one) != unit.directory) {
                self.omit(subject, Property::Directory, Reason::NoFullPath(directory));
            }
            let has_checksums = self.writer.mode.set.has_operand(Name::Source, Field::Checksum);
            if file.md5.is_some() && !has_checksums {
                self.omit(subject, Property::Checksum, Reason::NoOperand);
            }
            let mut text = file.source.map(|text| module.string(text));
            if text.is_some_and(|text| !text.is_empty() && !is_encoded(text, self.writer.mode)) {
                self.omit(subject, Property::SourceText, Reason::TooLong);
                text = None;
            }
            if text.is_none() && self.writer.mode.has(Feature::EmptyTexts) {
                text = Some("");
            }
            let mut operands = vec![(Field::File, path)];
            let mut rest = "";
            match file.md5.filter(|_| has_checksums) {
                Some(md5) => {
                    let digits = format!("{:032x}", u128::from_be_bytes(md5));
                    operands.push((Field::ChecksumKind, MD5.into()));
                    operands.push((Field::Checksum, self.text(&digits)?));
                }
                // The operands precede the text.
                None if has_checksums && text.is_some() => {
                    let none = self.none()?;
                    operands.extend([(Field::ChecksumKind, none), (Field::Checksum, none)]);
                }
                None => {}
            }
            if let Some(text) = text {
                let (first, more) = text.split_at(text.floor_char_boundary(Writer::most_text()));
                operands.push((Field::Text, self.text(first)?));
                rest = more;
            }
            self.files.sources[id] = Some(self.writer.instruction(Name::Source, &operands)?);
            while !rest.is_empty() {
                let (next, more) = rest.split_at(rest.floor_char_boundary(Writer::most_text()));
                let text = self.text(next)?;
                self.writer.instruction(Name::SourceContinued, &[(Field::Text, text)])?;
                rest = more;
            }
        }
        Ok(())
    }

    /// Writes the units.
    pub(super) fn units(&mut self) -> Result<()> {
        let mut has_code = SecondaryMap::<UnitId, bool>::new();
        for function in self.module.functions.values().filter(|function| !function.is_declaration) {
            has_code[self.module.scopes[function.scope].unit] = true;
        }
        let has_producer = self.writer.mode.set.has_operand(Name::CompilationUnit, Field::Producer);
        for (id, unit) in &self.module.units {
            let source = self.files.source(unit.file);
            let language = self.language(id);
            let mode = self.writer.mode;
            let mut operands = Operands::from_iter([
                (Field::Version, mode.version.into()),
                (Field::DwarfVersion, mode.dwarf_version.into()),
                source,
                (Field::Language, language.into()),
            ]);
            if has_producer {
                operands.push((Field::Producer, self.name(unit.producer)?));
            }
            self.files.units[id] = Some(self.writer.instruction(Name::CompilationUnit, &operands)?);
            let subject = Subject::Unit(id);
            if !self.writer.is_shader() {
                self.omit_compiler(id, true, Reason::NoOperand);
            }
            if unit.language_version.is_some() {
                self.omit(subject, Property::LanguageVersion, Reason::NoOperand);
            }
            if unit.split_name.is_some() {
                self.omit(subject, Property::SplitName, Reason::NoOperand);
            }
            if unit.is_optimized && !has_code[id] {
                self.omit(subject, Property::Optimized, Reason::NoFunctions);
            }
        }
        Ok(())
    }

    fn omit_compiler(&mut self, id: UnitId, is_producer: bool, reason: Reason) {
        let unit = &self.module.units[id];
        let all = [
            (unit.producer.is_some() && is_producer, Property::Producer, &reason),
            (unit.command_line.is_some(), Property::CommandLine, &reason),
        ];
        self.omit_all(Subject::Unit(id), &all);
    }

    fn language(&mut self, id: UnitId) -> u32 {
        let (mode, bound) = (self.writer.mode, self.described.binding.language_number(id));
        let described = self.module.units[id].language;
        match bound.or(described.and_then(|language| languages::number(language, mode.set))) {
            Some(number) if number <= mode.last_language => number,
            Some(number) => {
                self.omit(Subject::Unit(id), Property::Language, Reason::LanguageMode(number, mode.name));
                0
            }
            None => {
                if let Some(language) = described {
                    self.omit(Subject::Unit(id), Property::Language, Reason::NoLanguageNumber(language.0));
                }
                0
            }
        }
    }

    /// Writes a `DebugEntryPoint` for every kernel that is an entry point of the module; `OpenCL.DebugInfo.100` lacks
    /// the instruction.
    pub(super) fn entry_points(&mut self) -> Result<()> {
        if !self.writer.is_shader() {
            return Ok(());
        }
        let module = self.module;
        let mut encoded = HashSet::new();
        for (id, function) in &module.functions {
            let unit = module.scopes[function.scope].unit;
            let (Some(of), true) = (
                self.files.units[unit],
                self.described.entry_points.contains(&id) && self.described.relations.has_body(id),
            ) else {
                continue;
            };
            let data = &module.units[unit];
            let operands = [
                (Field::EntryPoint, self.id(Item::Function(id))?.into()),
                (Field::CompilationUnit, of.into()),
                (Field::CompilerSignature, self.name(data.producer)?),
                (Field::CommandLine, self.name(data.command_line)?),
            ];
            self.writer.instruction(Name::EntryPoint, &operands)?;
            encoded.insert(unit);
        }
        let has_producer = self.writer.mode.set.has_operand(Name::CompilationUnit, Field::Producer);
        for id in module.units.keys().filter(|id| !encoded.contains(id)) {
            self.omit_compiler(id, !has_producer, Reason::NoEntryPoint);
        }
        Ok(())
    }
}

/// Functions whose code is an entry point of the module, and their declarations.
pub(super) fn entry_points(layout: &Layout<'_>, module: &Module, binding: &Binding) -> HashSet<FunctionId> {
    let points = layout.words().between(HEADER..layout.globals_end());
    let points = points.filter(|it| it.opcode() == op::ENTRY_POINT);
    let points: HashSet<u32> = points.filter_map(|it| it.operands().get(1).copied()).collect();
    let is_entered = |id: &FunctionId| binding.function_id(*id).is_some_and(|code| points.contains(&code.0));
    let all = module.functions.keys().filter(is_entered);
    all.flat_map(|id| [Some(id), module.functions[id].specification]).flatten().collect()
}

/// Name of a file with its full path, as far as known; and the directories that the path lacks, as a later part is an
/// absolute path.
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

/// Whether a path is absolute, on POSIX or Windows: the compiling machine may differ from this one.
fn is_absolute(path: &str) -> bool {
    let has_drive =
        matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    path.starts_with(['/', '\\']) || has_drive
}
