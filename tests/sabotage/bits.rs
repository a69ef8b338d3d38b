//! Every bit of the sections matters, except those that the standard declares meaningless.

use std::collections::{BTreeMap, BTreeSet};

use eitri::lower::Consumer;
use eitri::model::Module;
use gimli::constants as dw;

use crate::sabotage::operations::operations;
use crate::sabotage::patched::{fixed, is_found, truth};
use crate::sabotage::patches::Patches;
use crate::sabotage::sections;

/// Changed byte.
#[derive(Clone, Copy)]
struct Change<'s> {
    section: &'s str,
    bytes: &'s [u8],
    at: usize,
    to: u8,
}

/// Reason why another byte has the same meaning: a sentence of the standard, paraphrased.
type Why = &'static str;

/// Rules for changes without effect.
const SAME: &[fn(Change<'_>) -> Option<Why>] = &[
    abbreviated_form,
    is_stmt,
    index_form,
    names_padding,
    names_form,
    aranges_padding,
    frame,
    extended,
    unasked,
];

fn uleb(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    let mut shift = 0;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
}

/// Positions of the forms in abbreviation tables: all tables of entries, whose abbreviations have a children flag, or
/// one table of names.
fn forms(bytes: &[u8], mut at: usize, of_names: bool) -> Vec<usize> {
    let mut all = Vec::new();
    let mut read = || -> Option<()> {
        while at < bytes.len() {
            if uleb(bytes, &mut at)? == 0 {
                if of_names {
                    break;
                }
                continue;
            }
            uleb(bytes, &mut at)?;
            at += usize::from(!of_names);
            loop {
                let name = uleb(bytes, &mut at)?;
                all.push(at);
                let form = uleb(bytes, &mut at)?;
                if (name, form) == (0, 0) {
                    break;
                }
                if form == u64::from(dw::DW_FORM_implicit_const.0) {
                    uleb(bytes, &mut at)?;
                }
            }
        }
        Some(())
    };
    read();
    all
}

fn is_constant(form: u8) -> bool {
    [dw::DW_FORM_data1, dw::DW_FORM_udata, dw::DW_FORM_sdata].contains(&gimli::DwForm(form.into()))
}

fn abbreviated_form(Change { section, bytes, at, to }: Change<'_>) -> Option<Why> {
    if section != ".debug_abbrev" || !forms(bytes, 0, false).contains(&at) {
        return None;
    }
    match (bytes[at], to) {
        (own, to) if is_constant(own) && is_constant(to) => {
            Some("7.5.5: a constant below 64 is one and the same byte as data1, udata and sdata")
        }
        // Only if the attribute is the last one of the last entry of a unit.
        (0x13, 0x11 | 0x12) => Some(
            "2.3 and 7.5.2: a shorter last attribute leaves zeros of the longer one, and these are null entries",
        ),
        _ => None,
    }
}

/// Range of a mask of `waves::lanes`, in a list of two entries, extended to pcs outside of the region.
fn unasked(Change { section, bytes, at, to }: Change<'_>) -> Option<Why> {
    let entry = |at: usize| bytes[at] == dw::DW_LLE_offset_pair.0;
    let first = [dw::DW_LLE_offset_pair.0, 4, 0x10, 2];
    let list = bytes
        .windows(first.len())
        .position(|window| window == first)
        .filter(|_| section == ".debug_loclists")?;
    let second = list + 6;
    let is_more = match at {
        // A default entry, or an entry that starts before the region.
        at if at == list => to == dw::DW_LLE_default_location.0,
        at if at == list + 1 => to < 4,
        at if at == second + 2 => entry(second) && (0x1c..=0x40).contains(&to),
        _ => false,
    };
    is_more.then_some("2.6.2: a list is asked for the pc at which something refers to it")
}

fn is_stmt(Change { section, bytes, at, .. }: Change<'_>) -> Option<Why> {
    // The offset follows the length, version, sizes of addresses and selectors, header length, and two numbers.
    let is = section == ".debug_line" && at == 14 && bytes[4] == 5;
    is.then_some("6.2.4 and 6.2.2: default_is_stmt is a boolean, and any number but 0 is true")
}

/// Form of the second component of files, after the only directory; the first is the path.
fn index_form(Change { section, bytes, at, to }: Change<'_>) -> Option<Why> {
    let is = section == ".debug_line"
        && (bytes[at - 1.min(at)], bytes[at], to)
            == (0x02, dw::DW_FORM_udata.0 as u8, dw::DW_FORM_data1.0 as u8);
    is.then_some(
        "6.2.4.1: an index of a directory is data1, data2 or udata, and below 128 one byte in two of them",
    )
}

fn names_padding(Change { section, at, .. }: Change<'_>) -> Option<Why> {
    (section == ".debug_names" && [6, 7].contains(&at))
        .then_some("6.1.1.4.1: two bytes of padding behind the version")
}

fn names_form(Change { section, bytes, at, to }: Change<'_>) -> Option<Why> {
    if section != ".debug_names" {
        return None;
    }
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let start = 36 + word(32) + 4 * (word(8) + word(12) + word(20)) + 12 * word(24);
    if !forms(bytes, start, true).contains(&at) {
        return None;
    }
    match (bytes[at], to) {
        (0x0b, 0x0f) => Some("7.5.5: a constant below 128 is one and the same byte as data1 and udata"),
        (0x13, 0x11 | 0x12) => Some(
            "6.1.1.4.8: a shorter last attribute leaves a zero of the longer one, which ends the entries of the name",
        ),
        _ => None,
    }
}

/// Padding between the header of a set and its first range.
fn aranges_padding(Change { section, bytes, at, .. }: Change<'_>) -> Option<Why> {
    if section != ".debug_aranges" {
        return None;
    }
    let mut set = 0;
    while let Some(length) = bytes.get(set..set + 4) {
        if (set + 12..set + 16).contains(&at) {
            return Some("6.1.2: the header is padded to a multiple of the size of a range");
        }
        set += 4 + u32::from_le_bytes(length.try_into().unwrap()) as usize;
    }
    None
}

/// Bytes of `.debug_frame` that no row depends on.
fn frame(Change { section, bytes, at, to }: Change<'_>) -> Option<Why> {
    if section != ".debug_frame" {
        return None;
    }
    let own = bytes[at];
    let next = bytes.get(at + 1).copied();
    // The first entry, of version 4, belongs to an entry function, whose rules do not change and have no offsets.
    let factors = 12..14;
    // An entry with a list of registers is longer than a byte can say.
    let length = |at: usize| {
        let length = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(length) as usize)
    };
    let mut entries = std::iter::successors(Some(0), |&start| Some(start + 4 + length(start)?));
    let end = length(at).map_or(at, |length| at + 4 + length - usize::from(own) + usize::from(to));
    match (own, to) {
        _ if factors.contains(&at) => Some("6.4.1: factors multiply what instructions advance, and offsets"),
        (0, 0x40) => Some("6.4.2.1: an advance of 0 makes no row"),
        (0, 0x02) if next == Some(0) => Some("6.4.2.1: an advance of 0 makes no row"),
        _ if own | 0x80 == to && next == Some(0) => {
            Some("7.6: a number in LEB128 can end with zeros, here of a nop")
        }
        (0x30, 0x31) => Some("an offset of 0 is the same, factored or not"),
        (0x16, 0x14) => Some("2.5.1: the result of an expression is the top of its stack, whatever is below"),
        _ if to.checked_add(4) == Some(own)
            && entries.any(|start| start == at)
            && bytes.get(end..).is_some_and(|rest| rest.starts_with(&[0; 4])) =>
        {
            Some("6.4.2.5 and 7.24: a nop does nothing, and zeros behind an entry are one without contents")
        }
        _ => None,
    }
}

/// Operands of `extend`, after its one or two opcode bytes: 64 bits, 32 times.
fn extended(Change { section, bytes, at, to }: Change<'_>) -> Option<Why> {
    let codes: [[&[u8]; 2]; 2] = [[&[0xe9, 0x0b], &[0xe9, 0x08]], [&[0xeb], &[0xe7]]];
    let whys = codes.into_iter().filter_map(|[extend, undefined]| {
        let operands_at = |before: usize| {
            let start = at.checked_sub(before)?;
            let code = bytes[..start].strip_suffix(extend)?;
            let operands = &bytes[start..];
            operands.starts_with(&[0x40, 0x20]).then_some(code)
        };
        if operands_at(1).is_some() && (33..128).contains(&to) {
            return Some(
                "A.2.5.4.4.6: of an element that comes more often, as many are read as the wave has lanes",
            );
        }
        let is_undefined = operands_at(0)?.ends_with(undefined) && (65..128).contains(&to);
        is_undefined
            .then_some("A.2.5.4.4.6: larger elements of undefined bits are undefined in as many places")
    });
    whys.take(usize::from(section == ".debug_info")).next()
}

#[test]
fn changed_bits_are_found() {
    all_bits_matter(&truth(), &fixed(), |_, _| true);
}

#[test]
fn changed_scope_bits_are_found() {
    let mut consumer = Consumer::dwarf5();
    consumer.entries.language_names = true;
    consumer.forms = fixed().forms;
    // A small number has the same encoding in references of all sizes.
    let references = [
        dw::DW_AT_specification,
        dw::DW_AT_object_pointer,
        dw::DW_AT_import,
        dw::DW_AT_call_origin,
        dw::DW_AT_call_parameter,
    ];
    consumer.forms.extend(references.map(|name| (name, dw::DW_FORM_ref4)));
    all_bits_matter(&crate::sabotage::scopes::truth(), &consumer, |_, _| true);
}

#[test]
fn changed_type_unit_bits_are_found() {
    for mut consumer in crate::sabotage::type_units::consumers() {
        consumer.forms = fixed().forms;
        all_bits_matter(&crate::sabotage::type_units::module(|_| ()), &consumer, |name, _| {
            matches!(name, ".debug_info" | ".debug_types")
        });
    }
}

#[test]
fn changed_frame_bits_are_found() {
    let truth = crate::sabotage::waves::frames();
    for consumer in crate::sabotage::waves::consumers() {
        bits_of_lanes_matter(&truth, &consumer, &[".debug_frame", ".debug_loclists"]);
    }
}

#[test]
fn changed_lane_bits_are_found() {
    for consumer in crate::sabotage::waves::consumers() {
        bits_of_lanes_matter(&crate::sabotage::waves::lanes(&consumer), &consumer, &[".debug_loclists"]);
    }
}

/// Changes each bit of the expressions in entries, and of whole sections. Other tests cover the other bytes, as comparing
/// lanes takes long.
fn bits_of_lanes_matter(truth: &Module, consumer: &Consumer, whole: &[&str]) {
    let sections = sections(truth, consumer);
    let operations = operations(truth, consumer, &sections);
    let bytes =
        operations.iter().flat_map(|one| (one.at..one.at + one.bytes.len()).map(|at| (one.section, at)));
    let wanted: BTreeSet<(&str, usize)> = bytes.map(|(section, at)| (sections[section].name, at)).collect();
    all_bits_matter(truth, consumer, |name, at| whole.contains(&name) || wanted.contains(&(name, at)));
}

/// Changes each bit of the selected sections.
pub fn all_bits_matter(truth: &Module, consumer: &Consumer, is_wanted: impl Fn(&str, usize) -> bool) {
    let clean = Patches { sections: sections(truth, consumer) };
    assert!(!is_found(truth, consumer, &clean), "{}: without a fault", consumer.name);
    let mut missed = Vec::new();
    let mut same = BTreeMap::<Why, usize>::new();
    let mut count = 0;
    let mut patches = clean.clone();
    for (index, section) in clean.sections.iter().enumerate() {
        for at in (0..section.bytes.len()).filter(|&at| is_wanted(section.name, at)) {
            for bit in 0..8 {
                let to = section.bytes[at] ^ 1 << bit;
                patches.sections[index].bytes[at] = to;
                count += 1;
                if is_found(truth, consumer, &patches) {
                    continue;
                }
                let change = Change { section: section.name, bytes: &section.bytes, at, to };
                match SAME.iter().find_map(|rule| rule(change)) {
                    Some(why) => *same.entry(why).or_default() += 1,
                    None => {
                        let around = &section.bytes[at.saturating_sub(8)..(at + 8).min(section.bytes.len())];
                        let of = format!("{} {} byte {at:#x}", consumer.name, section.name);
                        missed.push(format!("{of}, {to:#04x}: {around:02x?}"));
                    }
                }
            }
            patches.sections[index].bytes[at] = section.bytes[at];
        }
    }
    assert!(missed.is_empty(), "{} of {count} missed:\n{}", missed.len(), missed.join("\n"));
    println!("{}: {count} bits flipped, and all found but these: {same:#?}", consumer.name);
}
