//! Tables that lead to entries: `.debug_pubnames`, `.debug_pubtypes` and `.debug_aranges`. They lose what is no longer in
//! the file.

use super::entries::Entries;
use super::names::INFO;
use super::section::{Copied, Offsets, Original};
use crate::error::{Count, Result};
use crate::read::{AddressRanges, PublicNames};

/// Bytes of the headers before names and before address ranges, which are aligned: DWARF 3 sections 6.1.1 and 6.1.2.
const NAMES_HEADER: usize = 14;
const RANGES_HEADER: usize = 16;

/// Copies the names of the kept entries.
///
/// # Errors
/// A name of an entry, or a table of a unit, that does not exist.
pub(super) fn names(
    from: &Original<'_>,
    sets: &[PublicNames<'_>],
    entries: &Entries,
    offsets: &Offsets<'_>,
    to: &mut Copied,
) -> Result<()> {
    for set in sets {
        let start = to.bytes.len();
        let header = set.offset as usize;
        refuse_64(from, header, set.offset_bytes)?;
        let (unit, bytes) = unit(from, header, set.unit, entries)?;
        to.part(from, header..header + NAMES_HEADER)?;
        to.set_offset(start + 6, unit, 4, offsets.to(INFO, 4))?;
        to.set(start + 10, bytes, 4)?;
        for name in set.names() {
            let name = name?;
            let Some(moved) = entries.offsets.get(&set.unit.saturating_add(name.entry)) else { continue };
            to.number(moved - unit, 4)?;
            to.bytes.extend_from_slice(name.name);
            to.bytes.push(0);
        }
        to.number(0, 4)?;
        let length = to.bytes.len() - start - 4;
        to.set(start, length as u64, 4)?;
    }
    Ok(())
}

/// Copies the ranges whose address has a relocation.
///
/// # Errors
/// A table of a unit that does not exist, or with other sizes than those of a cubin.
pub(super) fn address_ranges(
    from: &Original<'_>,
    sets: &[AddressRanges<'_>],
    entries: &Entries,
    offsets: &Offsets<'_>,
    to: &mut Copied,
) -> Result<()> {
    for set in sets {
        let start = to.bytes.len();
        let header = set.offset as usize;
        refuse_64(from, header, set.offset_bytes)?;
        if (set.address_bytes, set.segment_bytes) != (8, 0) {
            let text = format!(
                "table has addresses of {} and segment selectors of {}; expected 8 bytes, and no segments",
                Count(set.address_bytes, "byte"),
                Count(set.segment_bytes, "byte")
            );
            return Err(from.malformed(&text, header + 10));
        }
        let (unit, _) = unit(from, header, set.unit, entries)?;
        to.part(from, header..header + RANGES_HEADER)?;
        to.set_offset(start + 6, unit, 4, offsets.to(INFO, 4))?;
        let size = 2 * usize::from(set.address_bytes);
        for range in set.ranges() {
            let at = range?.offset as usize;
            if from.relocation(at).is_some() {
                to.part(from, at..at + size)?;
            }
        }
        to.bytes.resize(to.bytes.len() + size, 0);
        let length = to.bytes.len() - start - 4;
        to.set(start, length as u64, 4)?;
    }
    Ok(())
}

fn refuse_64(from: &Original<'_>, header: usize, offset_bytes: u8) -> Result<()> {
    if offset_bytes == 4 { Ok(()) } else { Err(from.malformed("table has the 64-bit format", header)) }
}

/// Returns the new offset and size of a table's unit.
fn unit(from: &Original<'_>, header: usize, unit: u64, entries: &Entries) -> Result<(u64, u64)> {
    let moved = entries.units.get(&unit).copied();
    moved.ok_or_else(|| from.malformed("table belongs to no unit", header + 6))
}
