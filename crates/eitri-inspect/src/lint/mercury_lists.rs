//! Lists of locations and of pcs in Mercury copies, and the table of address ranges.

use std::collections::HashSet;

use eitri_dwarf::error::Result;
use eitri_dwarf::op::Encoding;
use eitri_dwarf::read::{
    AddressRange, AddressRanges, Dwarf, ListFormat, ListKind, Object, RawEntry, RawList, ResolvedValue,
    Sections,
};

use super::mercury_values::{Both, Difference, pc_text};

/// Compares the lists of one section to which entries refer, each with the encoding of the unit that refers to it.
pub(super) fn lists(
    both: Both<'_, '_>,
    own: &Dwarf<'_>,
    copy: &Dwarf<'_>,
    format: ListFormat,
) -> Result<Option<Difference>> {
    let mut compared = HashSet::new();
    for (one, other) in own.entries().zip(copy.entries()) {
        let encodings = [one.unit().encoding, other.unit().encoding];
        // Units of DWARF 5 have other sections.
        if encodings.iter().any(|encoding| encoding.version > 4) {
            continue;
        }
        for (one, other) in one.attributes().zip(other.attributes()) {
            let offset = |value: ResolvedValue<'_>| match (value, format) {
                (ResolvedValue::LocList(offset), ListFormat::Loc) => Some(offset),
                (ResolvedValue::RngList(offset), ListFormat::Ranges) => Some(offset),
                _ => None,
            };
            let [Some(original), Some(offset)] = [one.value, other.value].map(offset) else { continue };
            // Other offsets are a difference of the entries.
            if original != offset {
                continue;
            }
            let lists = Lists { both, own: own.sections(), copy: copy.sections(), encodings, format };
            if let Some(difference) = lists.compare(offset, &mut compared)? {
                return Ok(Some(difference));
            }
        }
    }
    Ok(None)
}

/// A section of lists in the file and in the copies.
struct Lists<'l, 'r, 'o> {
    both: Both<'r, 'o>,
    own: &'l Sections<'l>,
    copy: &'l Sections<'l>,
    /// Encodings of the unit in the file, and of its copy.
    encodings: [Encoding; 2],
    format: ListFormat,
}

impl Lists<'_, '_, '_> {
    /// Compares a list from its start to entries that are compared already.
    fn compare(&self, offset: u64, compared: &mut HashSet<(u64, u8)>) -> Result<Option<Difference>> {
        let [encoding, copied] = self.encodings;
        let copies = RawList::new(self.copy, self.format, copied, offset)?;
        let Ok(mut originals) = RawList::new(self.own, self.format, encoding, offset) else {
            return Ok(Some(Difference::new(offset, "a list", "no list")));
        };
        for entry in copies {
            let entry = entry?;
            if !compared.insert((entry.offset, copied.address_bytes)) {
                break;
            }
            let original = match originals.next() {
                Some(Ok(original)) => original,
                // The original's error is reported where it is read.
                Some(Err(_)) => break,
                None => return Ok(Some(Difference::new(entry.offset, "an entry", "the list's end"))),
            };
            let [written, meant] = [text(self.both.copies, &entry), text(self.both.object, &original)];
            if written != meant {
                return Ok(Some(Difference::new(entry.offset, written, meant)));
            }
        }
        Ok(None)
    }
}

/// Describes an entry as far as it does not depend on the encoding of the code.
fn text(object: &Object<'_>, entry: &RawEntry<'_>) -> String {
    let expr: String = entry.expr.iter().map(|byte| format!(" {byte:02x}")).collect();
    match entry.kind {
        ListKind::Pair { start, end } => {
            let [start, end] = [start, end].map(|pc| pc_text(object, pc));
            let with = if expr.is_empty() { "" } else { ":" };
            format!("{start} to {end}{with}{expr}")
        }
        ListKind::Base { address } => format!("the base {}", pc_text(object, address)),
        _ => "the list's end".into(),
    }
}

/// Compares the tables of address ranges in order: their units, and the code of each range.
pub(super) fn address_ranges(
    both: Both<'_, '_>,
    own: &Sections<'_>,
    copy: &Sections<'_>,
) -> Result<Option<Difference>> {
    let copies = AddressRanges::read_all(copy)?;
    // The original's error is reported where it is read.
    let Ok(originals) = AddressRanges::read_all(own) else { return Ok(None) };
    let facts = |object: &Object<'_>, sets: &[AddressRanges<'_>]| -> Result<Vec<(u64, String)>> {
        let mut facts = Vec::new();
        for set in sets {
            let unit = format!("a table of the unit at {:#x}, addresses of {}", set.unit, set.address_bytes);
            facts.push((set.offset, unit));
            for range in set.ranges() {
                let AddressRange { offset, start, length, .. } = range?;
                let [start, end] = [start, start.wrapping_add(length)].map(|pc| pc_text(object, pc));
                facts.push((offset, format!("{start} to {end}")));
            }
        }
        Ok(facts)
    };
    let copied = facts(both.copies, &copies)?;
    let Ok(own) = facts(both.object, &originals) else { return Ok(None) };
    let same = own.iter().zip(&copied).take_while(|((_, one), (_, other))| one == other).count();
    let text = |facts: &[(u64, String)]| facts.get(same).map_or("no further range".into(), |it| it.1.clone());
    let offset = copied.get(same).map_or(0, |it| it.0);
    let is_same = same == own.len() && same == copied.len();
    Ok((!is_same).then(|| Difference::new(offset, text(&copied), text(&own))))
}
