//! Units, source files and lines.

use hashbrown::HashSet;

use super::Importer;
use crate::model::{SourceLine, UnitId};
use crate::omission::Unimported;
use crate::spirv::languages;
use crate::spirv::names::{self, Enumeration};
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

/// A source of the module.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub path: String,
    /// Text, if any.
    pub text: Option<String>,
    pub md5: Option<[u8; 16]>,
}

/// Prefix of a text that is a checksum instead, as the LLVM translator writes it.
const MD5: &str = "//__CSK_MD5:";

impl<'a> Importer<'_, 'a> {
    /// Imports sources and units.
    pub(super) fn units(&mut self) {
        let mut last = None;
        for fact in self.facts.iter() {
            match fact.name() {
                Some(Name::Source) => {
                    let (path, text) =
                        (self.facts.text(&fact, Field::File), self.facts.all.text(&fact, Field::Text));
                    let md5 = self.checksum(&fact);
                    self.sources.insert(fact.result, Source { path, text, md5 });
                    last = Some(fact.result);
                }
                Some(Name::SourceContinued) => {
                    let text = self.facts.text(&fact, Field::Text);
                    let source = last.and_then(|last| self.sources.get_mut(&last));
                    if let Some(Source { text: Some(all), .. }) = source {
                        all.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        for source in self.sources.values_mut() {
            let as_text = source.text.as_deref().and_then(|text| text.strip_prefix(MD5)).and_then(md5);
            if as_text.is_some() || source.text.as_deref() == Some("") {
                source.text = None;
            }
            source.md5 = source.md5.or(as_text);
        }
        for fact in self.facts.iter().filter(|fact| fact.name() == Some(Name::CompilationUnit)) {
            let source = self.facts.named(&fact, Field::Source, Name::Source);
            let path = source.map(|source| self.facts.text(&source, Field::File)).unwrap_or_default();
            let unit = self.m.unit(&path);
            self.units.by_id.insert(fact.result, unit);
            let scope = self.m.described().unit(unit).scope;
            self.entities.scopes.insert(fact.result, scope);
            let language = self.facts.word(&fact, Field::Language);
            let producer = self.facts.text(&fact, Field::Producer);
            if !producer.is_empty()
                && let Ok(mut of) = self.m.describe_unit(unit)
            {
                of.producer(&producer);
            }
            match languages::language(language, fact.set) {
                Some(language) => {
                    if let Ok(mut of) = self.m.describe_unit(unit) {
                        of.language(language);
                    }
                }
                _ if language == 0 => {}
                _ if Enumeration::Language.name(language, fact.set).is_none() => {
                    self.omissions.omit(&fact, Unimported::Language(language));
                }
                // The binding has the languages that DWARF does not number.
                _ => drop(self.binding.language(unit, language)),
            }
        }
    }

    /// The checksum of a source, which version 200 has.
    fn checksum(&mut self, fact: &Fact<'a>) -> Option<[u8; 16]> {
        let digits = self.facts.all.text(fact, Field::Checksum)?;
        let kind = self.facts.number(fact, Field::ChecksumKind);
        let md5 = md5(&digits).filter(|_| kind == Some(names::MD5.into()) && digits.len() == 32);
        if md5.is_none() {
            self.omissions.omit(fact, Unimported::Checksum);
        }
        md5
    }

    /// The file of a source in a unit.
    pub(super) fn file(&mut self, source: Id, unit: UnitId) -> Option<crate::model::FileId> {
        if let Some(&file) = self.entities.files.get(&(source, unit)) {
            return Some(file);
        }
        let Source { path, text, .. } = self.sources.get(&source)?.clone();
        let file = self.m.file(unit, &path, None).ok()?;
        self.entities.files.insert((source, unit), file);
        if let Some(text) = text {
            let had = self.m.described().file(file).source;
            match had.map(|had| self.m.described().string(had).to_owned()) {
                Some(had) if had != text => {
                    if let Some(fact) = self.facts.get(source) {
                        self.omissions.omit(&fact, Unimported::OtherText);
                    }
                }
                _ => drop(self.m.file_source(file, &text)),
            }
        }
        Some(file)
    }

    /// Imports the files of all sources, with checksums where all files of a unit have one.
    pub(super) fn files(&mut self) {
        let first = self.units.first();
        let sources: Vec<Id> = self.sources.keys().copied().collect();
        let units: Vec<(Id, UnitId)> = self.units.by_id.iter().map(|(&id, &unit)| (id, unit)).collect();
        for (id, unit) in units {
            let source = self.facts.get(id).and_then(|fact| fact.id(Field::Source));
            source.and_then(|source| self.file(source, unit));
        }
        let known: HashSet<Id> = self.entities.files.keys().map(|&(id, _)| id).collect();
        for &source in &sources {
            if !known.contains(&source) {
                self.file(source, first);
            }
        }
        let mut sums: Vec<_> = Vec::new();
        for (&(source, unit), &file) in &self.entities.files {
            sums.push((unit, file, source, self.sources[&source].md5));
        }
        sums.sort_unstable_by_key(|&(unit, file, ..)| (unit, file));
        for of_unit in sums.chunk_by(|one, other| one.0 == other.0) {
            let files = self.m.described().files().filter(|(_, file)| file.unit == of_unit[0].0).count();
            let mut known: Vec<_> = of_unit.iter().filter_map(|of| of.3.map(|sum| (of.1, sum))).collect();
            known.dedup_by_key(|(file, _)| *file);
            if known.len() == files {
                known.into_iter().for_each(|(file, sum)| drop(self.m.file_md5(file, sum)));
                continue;
            }
            for of in of_unit.iter().filter(|of| of.3.is_some()) {
                if let Some(fact) = self.facts.get(of.2) {
                    self.omissions.omit(&fact, Unimported::PartialChecksums);
                }
            }
        }
    }

    /// The source line of an instruction, in a file of the unit. Line 0 is not a line.
    pub(super) fn line(&mut self, fact: &Fact<'a>, unit: UnitId) -> Option<SourceLine> {
        let (line, column) = (self.facts.word(fact, Field::Line), self.facts.word(fact, Field::Column));
        if line == 0 {
            if column != 0 {
                self.omissions.omit(fact, Unimported::ColumnWithoutLine(column));
            }
            return None;
        }
        let file = fact.id(Field::Source).and_then(|source| self.file(source, unit));
        if file.is_none() {
            self.omissions.omit(fact, Unimported::LineWithoutSource(line));
        }
        Some(SourceLine { file: file?, line, column })
    }
}

fn md5(text: &str) -> Option<[u8; 16]> {
    let digits = text.get(..32)?;
    let number = u128::from_str_radix(digits, 16).ok()?;
    Some(number.to_be_bytes())
}
