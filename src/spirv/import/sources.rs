//! Imports units and source files.

use hashbrown::HashSet;

use super::importer::{Importer, Source};
use crate::model::UnitId;
use crate::omission::Unimported;
use crate::spirv::names::Enumeration;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;
use crate::spirv::{languages, names};

/// Prefix for a checksum that the LLVM translator writes instead of a text.
const MD5: &str = "//__CSK_MD5:";

/// Imports sources and units.
pub(super) fn units(importer: &mut Importer<'_, '_>) {
    let mut last = None;
    for fact in importer.facts.iter() {
        match fact.name() {
            Some(InstructionName::Source) => {
                let path = importer.facts.text(&fact, Field::File);
                let text = importer.facts.all.text(&fact, Field::Text);
                let md5 = checksum(importer, &fact);
                importer.sources.insert(fact.result, Source { path, text, md5 });
                last = Some(fact.result);
            }
            Some(InstructionName::SourceContinued) => {
                let text = importer.facts.text(&fact, Field::Text);
                // A continuation belongs to the source before it.
                let source = last.and_then(|last| importer.sources.get_mut(&last));
                if let Some(Source { text: Some(all), .. }) = source {
                    all.push_str(&text);
                }
            }
            _ => {}
        }
    }
    // An empty text, or a checksum, means that there is no text.
    for source in importer.sources.values_mut() {
        let as_text = source.text.as_deref().and_then(|text| text.strip_prefix(MD5)).and_then(md5);
        if as_text.is_some() || source.text.as_deref() == Some("") {
            source.text = None;
        }
        source.md5 = source.md5.or(as_text);
    }
    for fact in importer.facts.iter().filter(|fact| fact.name() == Some(InstructionName::CompilationUnit)) {
        let source = importer.facts.named(&fact, Field::Source, InstructionName::Source);
        let path = source.map(|source| importer.facts.text(&source, Field::File)).unwrap_or_default();
        let unit = importer.m.unit(&path);
        importer.units.by_id.insert(fact.result, unit);
        let scope = importer.m.described().unit(unit).scope;
        importer.entities.scopes.insert(fact.result, scope);
        let language = importer.facts.word(&fact, Field::Language);
        let producer = importer.facts.text(&fact, Field::Producer);
        if !producer.is_empty()
            && let Ok(mut of) = importer.m.describe_unit(unit)
        {
            of.producer(&producer);
        }
        match languages::language(language, fact.set) {
            Some(language) => {
                if let Ok(mut of) = importer.m.describe_unit(unit) {
                    of.language(language);
                }
            }
            _ if language == 0 => {}
            _ if Enumeration::Language.name(language, fact.set).is_none() => {
                importer.omissions.omit(&fact, Unimported::Language(language));
            }
            // The binding holds the languages that DWARF does not number.
            _ => drop(importer.binding.language(unit, language)),
        }
    }
}

/// A source's checksum, in version 200.
fn checksum(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) -> Option<[u8; 16]> {
    let digits = importer.facts.all.text(fact, Field::Checksum)?;
    let kind = importer.facts.number(fact, Field::ChecksumKind);
    let md5 = md5(&digits).filter(|_| kind == Some(names::MD5.into()) && digits.len() == 32);
    if md5.is_none() {
        importer.omissions.omit(fact, Unimported::Checksum);
    }
    md5
}

/// Imports all sources' files.
pub(super) fn files(importer: &mut Importer<'_, '_>) {
    let first = importer.units.first();
    let sources: Vec<Id> = importer.sources.keys().copied().collect();
    let units: Vec<(Id, UnitId)> = importer.units.by_id.iter().map(|(&id, &unit)| (id, unit)).collect();
    for (id, unit) in units {
        let source = importer.facts.get(id).and_then(|fact| fact.id(Field::Source));
        source.and_then(|source| importer.file(source, unit));
    }
    // A source that no entity references belongs to the first unit, so that its text is kept.
    let known: HashSet<Id> = importer.entities.files.keys().map(|&(id, _)| id).collect();
    for &source in &sources {
        if !known.contains(&source) {
            importer.file(source, first);
        }
    }
}

/// Imports checksums for units in which every file has one, as DWARF requires. Files in `OpLine`s count, so that
/// functions must be imported before.
pub(super) fn checksums(importer: &mut Importer<'_, '_>) {
    let mut sums: Vec<_> = Vec::new();
    for (&(source, unit), &file) in &importer.entities.files {
        sums.push((unit, file, source, importer.sources[&source].md5));
    }
    sums.sort_unstable_by_key(|&(unit, file, ..)| (unit, file));
    for unit in sums.chunk_by(|first, second| first.0 == second.0) {
        let files = importer.m.described().files().filter(|(_, file)| file.unit == unit[0].0).count();
        let mut known: Vec<_> = unit.iter().filter_map(|&(_, file, _, sum)| Some((file, sum?))).collect();
        known.dedup_by_key(|(file, _)| *file);
        if known.len() == files {
            known.into_iter().for_each(|(file, sum)| drop(importer.m.file_md5(file, sum)));
            continue;
        }
        for &(_, _, source, _) in unit.iter().filter(|entry| entry.3.is_some()) {
            if let Some(fact) = importer.facts.get(source) {
                importer.omissions.omit(&fact, Unimported::PartialChecksums);
            }
        }
    }
}

fn md5(text: &str) -> Option<[u8; 16]> {
    let digits = text.get(..32)?;
    let number = u128::from_str_radix(digits, 16).ok()?;
    Some(number.to_be_bytes())
}
