//! The findings about Mercury copies that contradict their originals.
//!
//! nvlink and the driver make the debug sections of finalized code from the copies alone, so that a contradiction shows
//! when the file is linked. Pcs in the two cannot be compared, because they count bytes of different encodings; but a pc
//! is at a function's start or end in both, or between them in both. Everything else is equal. A finding names the first
//! difference in a section.

use std::collections::HashMap;

use eitri_dwarf::error::{Count, Error, Result};
use eitri_dwarf::read::nvidia::{Home, MercuryCode, RegisterMap, RegisterTypes};
use eitri_dwarf::read::{
    CallFrameInstruction, Dwarf, Entry, Fde, FrameSection, Frames, ListFormat, ListKind, Object, RawList,
    ReadOptions,
};

use super::codes::LintCode;
use super::details::Details;
use super::finding::LintFinding;
use super::mercury_rows::rows;
use super::mercury_values::{Both, Difference, is_same, pc_text};

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
            if is_filled(both, ".debug_loc") {
                compared.result(".debug_loc", lists(both, dwarf, &copy));
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
                let text = |it: eitri_dwarf::read::Attribute<'_>| format!("{} {:?}", it.name, it.value);
                return difference(text(other), text(one));
            }
        }
    }
    let [own, copied] = [own, copy].map(|it| Count(it.entries().len(), "entry").to_string());
    (own != copied).then(|| Difference::new(0, copied, own))
}

/// Compares location lists in the section's order.
fn lists(both: Both<'_, '_>, own: &Dwarf<'_>, copy: &Dwarf<'_>) -> Result<Option<Difference>> {
    let Some(encoding) = own.units().first().map(|unit| unit.encoding) else { return Ok(None) };
    let size = copy.sections().debug_loc.len() as u64;
    let mut offset = 0;
    while offset < size {
        let start = offset;
        let Ok(mut one) = RawList::new(own.sections(), ListFormat::Loc, encoding, start) else {
            return Ok(Some(Difference::new(start, "a list", "no list")));
        };
        for entry in RawList::new(copy.sections(), ListFormat::Loc, encoding, start)? {
            let entry = entry?;
            let Some(Ok(original)) = one.next() else {
                return Ok(Some(Difference::new(entry.offset, "an entry", "the section's end")));
            };
            offset = entry.offset + 2 * u64::from(encoding.address_bytes);
            let places = |kind: ListKind, object: &Object<'_>| match kind {
                ListKind::Pair { start, end } => Some([start, end].map(|pc| pc_text(object, pc))),
                _ => None,
            };
            let pair = places(entry.kind, both.copies);
            let (pcs, expected) = (pair.clone(), places(original.kind, both.object));
            if entry.offset != original.offset || pcs != expected || entry.expr != original.expr {
                let text = |pcs: Option<[String; 2]>, expr: &[u8]| match pcs {
                    Some([start, end]) => format!("{start} to {end}: {expr:02x?}"),
                    None => "the list's end".into(),
                };
                let texts = [text(pcs, entry.expr), text(expected, original.expr)];
                let [written, meant] = texts;
                return Ok(Some(Difference::new(entry.offset, written, meant)));
            }
            if pair.is_some() {
                offset = entry.offset + 2 * u64::from(encoding.address_bytes) + 2 + entry.expr.len() as u64;
            }
        }
    }
    Ok(None)
}

/// Compares frames in order: the functions, the common entries, and the instructions but for pcs.
fn frames(both: Both<'_, '_>, own: &Frames<'_>, copied: &Frames<'_>) -> Result<Option<Difference>> {
    for (one, other) in own.fdes.iter().zip(&copied.fdes) {
        let text = |object: &Object<'_>, fde: &Fde<'_>| {
            let end = fde.start.wrapping_add(fde.length);
            format!("{} to {}", pc_text(object, fde.start), pc_text(object, end))
        };
        let [expected, actual] = [text(both.object, one), text(both.copies, other)];
        if expected != actual {
            return Ok(Some(Difference::new(other.offset, actual, expected)));
        }
        let common = |frames: &Frames<'_>, fde: &Fde<'_>| {
            let cie = frames.cie(fde);
            let (version, data, register) = (cie.version, cie.data_alignment, cie.return_register.0);
            format!("version {version}, data alignment {data}, return address in register {register:#x}")
        };
        let [expected, actual] = [common(own, one), common(copied, other)];
        if expected != actual {
            return Ok(Some(Difference::new(copied.cie(other).offset, actual, expected)));
        }
        let programs = [
            (own.initial_instructions(own.cie(one)), copied.initial_instructions(copied.cie(other))),
            (own.instructions(one), copied.instructions(other)),
        ];
        for (expected, actual) in programs {
            let mut expected = expected.filter(|it| it.as_ref().map_or(true, |it| has_rule(&it.instruction)));
            let actual = actual.filter(|it| it.as_ref().map_or(true, |it| has_rule(&it.instruction)));
            for instruction in actual {
                let instruction = instruction?;
                let original = match expected.next() {
                    Some(Ok(original)) => Some(original.instruction),
                    Some(Err(_)) => return Ok(None),
                    None => None,
                };
                if original != Some(instruction.instruction) {
                    let meant = original.map_or_else(|| "no instruction".into(), |it| format!("{it:?}"));
                    let written = format!("{:?}", instruction.instruction);
                    return Ok(Some(Difference::new(instruction.offset, written, meant)));
                }
            }
            if let Some(Ok(original)) = expected.next() {
                let meant = format!("{:?}", original.instruction);
                return Ok(Some(Difference::new(other.offset, "no further instruction", meant)));
            }
        }
    }
    let [own, copied] = [own, copied].map(|it| Count(it.fdes.len(), "frame description entry").to_string());
    Ok((own != copied).then(|| Difference::new(0, copied, own)))
}

/// Whether a call frame instruction depends on no pc.
fn has_rule(instruction: &CallFrameInstruction<'_>) -> bool {
    use CallFrameInstruction::{AdvanceLoc, Nop, SetLoc};
    !matches!(instruction, AdvanceLoc { .. } | SetLoc { .. } | Nop)
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
