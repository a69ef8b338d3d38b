//! The findings about Mercury copies that contradict their originals.
//!
//! nvlink and the driver make the debug sections of finalized code from the copies alone, so that a contradiction shows
//! when the file is linked. Pcs in the two cannot be compared, because they count bytes of different encodings; but a pc
//! is at a function's start or end in both, or between them in both. Everything else is equal. A finding names the first
//! difference in a section.

use std::collections::HashMap;

use eitri_dwarf::error::{Count, Error, Result};
use eitri_dwarf::read::nvidia::{Home, MercuryCode, RegisterMap, RegisterTypes};
use eitri_dwarf::read::{Dwarf, Entry, FrameSection, ListFormat, Object, ReadOptions};

use super::codes::LintCode;
use super::details::Details;
use super::finding::LintFinding;
use super::mercury_frames::frames;
use super::mercury_lists::{address_ranges, lists};
use super::mercury_rows::rows;
use super::mercury_values::{Both, Difference, is_same};

/// Prefix of a copy's name.
const PREFIX: &str = ".nv.merc";
/// Sections whose contents are equal in both, with relocations applied.
const EQUAL: [&str; 5] =
    [".debug_abbrev", ".debug_str", ".debug_macinfo", ".debug_pubnames", ".debug_pubtypes"];

/// Findings, and the errors of copies that cannot be read.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) findings: Vec<LintFinding>,
    pub(super) errors: Vec<Error>,
}

const ADDRESS_RANGES: &str = ".debug_aranges";

/// Compares a cubin's sections with their copies.
pub(super) fn compare(object: &Object<'_>, dwarf: &Dwarf<'_>, copies: &Object<'_>) -> Compared {
    let both = Both { object, copies };
    let mut compared = Compared::default();
    compared.errors.extend(copies.errors().iter().cloned());
    code(both, &mut compared);
    compared.missing(both);
    for name in EQUAL {
        compared.add(name, contents(both, name));
    }
    let texts = copies.sections().iter().filter(|section| section.name.starts_with(".nv_debug_ptx_txt"));
    for section in texts {
        compared.add(&section.name, contents(both, &section.name));
    }
    match Dwarf::read_with(copies, &ReadOptions::new().readable()) {
        Err(error) => compared.errors.push(error),
        Ok(copy) => {
            compared.errors.extend(copy.errors().iter().cloned());
            if is_filled(both, ".debug_info") && dwarf.errors().is_empty() && copy.errors().is_empty() {
                compared.add(".debug_info", entries(both, dwarf, &copy));
            }
            for (name, format) in [(".debug_loc", ListFormat::Loc), (".debug_ranges", ListFormat::Ranges)] {
                if is_filled(both, name) {
                    compared.result(name, lists(both, dwarf, &copy, format));
                }
            }
            if is_filled(both, ADDRESS_RANGES) {
                compared.result(ADDRESS_RANGES, address_ranges(both, dwarf.sections(), copy.sections()));
            }
            if is_filled(both, ".debug_frame") {
                let [own, copied] = [dwarf, &copy].map(|it| it.readable_frames(FrameSection::Debug));
                compared.errors.extend(copied.errors.iter().map(in_copy));
                compared.result(".debug_frame", frames(both, &own, &copied));
            }
        }
    }
    for name in [".debug_line", ".nv_debug_line_sass"] {
        if is_filled(both, name) {
            compared.result(name, rows(both, name));
        }
    }
    if is_filled(both, ".nv_debug_info_reg_sass") {
        compared.result(".nv_debug_info_reg_sass", registers(both));
    }
    compared
}

impl Compared {
    fn add(&mut self, section: &str, difference: Option<Difference>) {
        let Some(Difference { offset, written, meant }) = difference else { return };
        let details = Details::new(written).meant(meant);
        let section = format!("{PREFIX}{section}");
        self.findings.push(LintFinding::new(LintCode::MercuryDiffers, section, offset, details));
    }

    /// Adds a difference, or the error of a copy. An error of the original is reported where it is read.
    fn result(&mut self, section: &str, result: Result<Option<Difference>>) {
        match result {
            Ok(difference) => self.add(section, difference),
            Err(error) => self.errors.push(in_copy(&error)),
        }
    }

    /// Adds findings about sections that only the file or only the copies have.
    fn missing(&mut self, both: Both<'_, '_>) {
        let is_debug = |name: &str| name.starts_with(".debug_") || name.starts_with(".nv_debug_");
        let debug = |object: &Object<'_>| {
            let sections = object.sections().iter().filter(|it| is_debug(&it.name) && !it.data.is_empty());
            sections.map(|it| (it.name.clone().into_owned(), it.data.len())).collect::<HashMap<_, _>>()
        };
        let (own, copied) = (debug(both.object), debug(both.copies));
        let mut only: Vec<_> = copied.iter().filter(|(name, _)| !own.contains_key(*name)).collect();
        only.sort_unstable();
        for (name, bytes) in only {
            let written = format!("{} in the copy", Count(*bytes, "byte"));
            self.add(
                name,
                Some(Difference::new(0, written, format!("nothing, as {name} is missing or empty"))),
            );
        }
        // A linked file without copies is complete: its own sections are what a debugger reads.
        if both.object.is_relocatable() {
            let mut only: Vec<_> = own.iter().filter(|(name, _)| !copied.contains_key(*name)).collect();
            only.sort_unstable();
            for (name, bytes) in only {
                let meant =
                    format!("the {} of {name}, which nvlink drops without a copy", Count(*bytes, "byte"));
                self.add(name, Some(Difference::new(0, "no copy", meant)));
            }
        }
    }
}

/// Returns an error with the name that the copy has in the file.
fn in_copy(error: &Error) -> Error {
    let at = error.at().clone();
    match at.section.as_deref().filter(|name| !name.starts_with(PREFIX)) {
        // The first name that an error gets is kept.
        Some(name) => {
            Error::new(error.kind().clone()).in_section(&format!("{PREFIX}{name}")).or_at(at.clone())
        }
        None => error.clone(),
    }
}

/// Whether both have a section.
fn is_filled(both: Both<'_, '_>, name: &str) -> bool {
    let is_filled = |object: &Object<'_>| object.section(name).is_some_and(|it| !it.data.is_empty());
    is_filled(both.object) && is_filled(both.copies)
}

/// Compares the sections that Mercury code is for.
fn code(both: Both<'_, '_>, compared: &mut Compared) {
    for code in MercuryCode::all(both.copies) {
        let code = match code {
            Ok(code) => code,
            Err(error) => {
                compared.errors.push(error);
                continue;
            }
        };
        let name = |section: u32| both.object.sections().get(section as usize).map(|it| it.name.clone());
        let expected = format!(".text.{}", code.function);
        let actual = name(code.text).unwrap_or_default();
        if actual != expected {
            let written = format!("section {}, `{actual}`", code.text);
            let details = Details::new(written).meant(format!("the section `{expected}`"));
            let section = code.section_name();
            compared.findings.push(LintFinding::new(LintCode::MercuryDiffers, section, 0, details));
        }
    }
}

/// Compares contents byte by byte.
fn contents(both: Both<'_, '_>, name: &str) -> Option<Difference> {
    if !is_filled(both, name) {
        return None;
    }
    let [own, copied] = [both.object, both.copies].map(|object| object.section(name).map(|it| &*it.data));
    let (own, copied) = (own?, copied?);
    let same = own.iter().zip(copied).take_while(|(one, other)| one == other).count();
    let byte = |bytes: &[u8]| {
        bytes.get(same).map_or_else(|| "the section's end".into(), |byte| format!("the byte {byte:#04x}"))
    };
    (own != copied).then(|| Difference::new(same as u64, byte(copied), byte(own)))
}

/// Compares entries in order: tags, attributes, and values.
fn entries(both: Both<'_, '_>, own: &Dwarf<'_>, copy: &Dwarf<'_>) -> Option<Difference> {
    for (one, other) in own.entries().zip(copy.entries()) {
        let difference = |written: String, meant: String| {
            Some(Difference::new(copy.place(other.offset()).1, written, meant))
        };
        let at = |entry: Entry<'_, '_>| format!("{} at depth {}", entry.tag(), entry.depth());
        if (one.tag(), one.depth()) != (other.tag(), other.depth()) {
            return difference(at(other), at(one));
        }
        if one.attributes().len() != other.attributes().len() {
            let count = |entry: Entry<'_, '_>| {
                format!("{} with {}", entry.tag(), Count(entry.attributes().len(), "attribute"))
            };
            return difference(count(other), count(one));
        }
        for (one, other) in one.attributes().zip(other.attributes()) {
            if one.name != other.name || !is_same(both, one.value, other.value) {
                let text = |it: eitri_dwarf::read::Attribute<'_>| format!("{} {}", it.name, it.value);
                return difference(text(other), text(one));
            }
        }
    }
    let [own, copied] = [own, copy].map(|it| Count(it.entries().len(), "entry").to_string());
    (own != copied).then(|| Difference::new(0, copied, own))
}

/// Compares the maps of registers, whose order depends on pcs: the words of each function with their homes and types.
fn registers(both: Both<'_, '_>) -> Result<Option<Difference>> {
    let (Ok(own), Ok(own_types)) = (RegisterMap::read(both.object), RegisterTypes::read(both.object)) else {
        return Ok(None);
    };
    let (copied, types) = (RegisterMap::read(both.copies)?, RegisterTypes::read(both.copies)?);
    let words = |map: &RegisterMap<'_>, types: &RegisterTypes<'_>| {
        let mut words = Vec::new();
        // By index, because a search by name for each function would take quadratic time.
        for (index, function) in map.functions.iter().enumerate() {
            let types =
                types.functions.get(index).filter(|it| it.0 == function.name).map_or(&[][..], |it| it.1);
            for (home, number) in function.homes().iter().zip(0..) {
                let name = |bytes| String::from_utf8_lossy(bytes).into_owned();
                words.push((
                    name(function.name),
                    name(home.register),
                    home.word,
                    home.home.0,
                    types.get(number).copied(),
                ));
            }
        }
        words.sort_unstable();
        words
    };
    let [own, copied] = [words(&own, &own_types), words(&copied, &types)];
    let same = own.iter().zip(&copied).take_while(|(one, other)| one == other).count();
    let text = |words: &[(String, String, u32, u32, Option<u8>)]| {
        words.get(same).map_or_else(
            || "no further word".into(),
            |(function, register, word, home, ty)| {
                let home = Home(*home);
                let ty = ty.map_or_else(|| "without a type".into(), |ty| format!("of type {ty}"));
                format!("{register} word {word} in {home}, {ty}, in `{function}`")
            },
        )
    };
    Ok((own != copied).then(|| Difference::new(0, text(&copied), text(&own))))
}
