//! Tables of lists and of addresses: their headers, which readers check before they use an index.
//! DWARF 5 sections 7.27 to 7.29.

use core::ops::Range;
use std::collections::BTreeSet;

use super::compare::Compare;
use super::report::Kind;
use crate::error::At;

/// A table that units refer to: its section, bytes of its header, and whether that counts offsets of lists.
struct Table {
    section: &'static str,
    header: usize,
    has_offsets: bool,
}

const TABLES: [Table; 3] = [
    Table { section: ".debug_loclists", header: 12, has_offsets: true },
    Table { section: ".debug_rnglists", header: 12, has_offsets: true },
    Table { section: ".debug_addr", header: 8, has_offsets: false },
];

impl Compare<'_, '_> {
    /// The tables fill their sections, and units refer to the first element of one.
    pub(super) fn tables(&mut self) {
        for table in TABLES {
            let Some(section) = self.object.section(table.section) else { continue };
            let found =
                tables(&table, section.moved as usize, &section.data, self.module.target.address_bytes());
            let place = |text: String| (At { section: Some(table.section.into()), ..At::default() }, text);
            let tables = match found {
                Ok(tables) => tables,
                Err(text) => {
                    let (at, text) = place(text);
                    self.find(Kind::Unreadable, at, "a table", text);
                    continue;
                }
            };
            let bases: BTreeSet<u64> = tables.iter().map(|range| range.start as u64).collect();
            for unit in self.dwarf.units() {
                let base = match table.section {
                    ".debug_loclists" => unit.loclists_base,
                    ".debug_rnglists" => unit.rnglists_base,
                    _ => unit.addr_base,
                };
                if base.is_some_and(|base| !bases.contains(&base)) {
                    let base = base.unwrap_or(0).wrapping_sub(section.moved);
                    let (at, text) = place(format!("offset {base:#x}"));
                    self.find(Kind::Unreadable, at, "the first element of a table", text);
                }
            }
        }
    }
}

/// What follows the header of each table of a section, from `at` on.
fn tables(
    table: &Table,
    mut at: usize,
    bytes: &[u8],
    address_bytes: u8,
) -> Result<Vec<Range<usize>>, String> {
    let mut all = Vec::new();
    while at < bytes.len() {
        let number = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map(u32::from_le_bytes).ok_or_else(|| "a header that is cut off".to_owned())
        };
        let end = at + 4 + number(at)? as usize;
        let start = at + table.header;
        if end > bytes.len() || start > end {
            return Err("a table that ends behind its section".into());
        }
        let expected = [5, 0, address_bytes, 0];
        if bytes[at + 4..at + 8] != expected {
            return Err(format!("a header with {:02x?} for {expected:02x?}", &bytes[at + 4..at + 8]));
        }
        if table.has_offsets {
            let count = number(at + 8)? as usize;
            let lists = count.checked_mul(4).and_then(|bytes| start.checked_add(bytes));
            let Some(lists) = lists.filter(|&lists| lists <= end) else {
                return Err(format!("{count} lists, which do not fit their table"));
            };
            // The first list follows the offsets: a count that is too small would leave some out.
            let first =
                (0..count).map(|index| number(start + 4 * index)).try_fold(None, |first, offset| {
                    let offset = offset? as usize;
                    Ok::<_, String>(Some(first.map_or(offset, |first: usize| first.min(offset))))
                })?;
            // Nothing follows where there is no list.
            if first.map_or(end, |first| start + first) != lists {
                return Err(format!("{count} lists, the first at {:#x}", first.unwrap_or(0)));
            }
        } else if !(end - start).is_multiple_of(address_bytes.into()) {
            return Err("a part of an address".into());
        }
        all.push(start..end);
        at = end;
    }
    Ok(all)
}
