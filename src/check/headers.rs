//! Headers of list, address and string tables, which readers check before they use an index. DWARF 5 sections 7.26 to
//! 7.29.

use std::collections::BTreeMap;

use super::describe::Describe;
use super::report::FindingKind;
use super::tables::{Tables, is_of_others};
use crate::error::At;
use crate::read::{Dwarf, Object};

/// Table that units refer to.
#[derive(Clone, Copy)]
struct Table {
    section: &'static str,
    elements: Elements,
}

/// A table's elements.
#[derive(Clone, Copy, PartialEq)]
enum Elements {
    /// List offsets, followed by the lists.
    Lists,
    Addresses,
    /// String offsets.
    Strings,
}

const TABLES: [Table; 4] = [
    Table { section: ".debug_loclists", elements: Elements::Lists },
    Table { section: ".debug_rnglists", elements: Elements::Lists },
    Table { section: ".debug_addr", elements: Elements::Addresses },
    Table { section: ".debug_str_offsets", elements: Elements::Strings },
];

/// Checks that tables fill their sections, and that units refer to a table's first element.
pub(super) fn compare_headers(tables: &mut Tables<'_, '_, '_>, object: &Object<'_>, dwarf: &Dwarf<'_>) {
    let is_split = tables.split.main.is_some();
    for table in TABLES {
        // Split units' sections have another name.
        let name = dwarf.sections().name(table.section);
        let Some(section) = object.section(name) else { continue };
        let bytes = Bytes { all: &section.data, big_endian: object.is_big_endian() };
        let outcome =
            read_tables(table, section.moved as usize, bytes, tables.described.module.target.address_bytes());
        let place = |text: String| (At::new(|context| context.section = Some(name.into())), text);
        let starts = match outcome {
            Ok(starts) => starts,
            Err(text) => {
                let (site, text) = place(text);
                tables.report.find(FindingKind::Unreadable, site, "a table", text);
                continue;
            }
        };
        let bases: BTreeMap<u64, _> =
            starts.into_iter().map(|(start, problem)| (start as u64, problem)).collect();
        for unit in dwarf.units() {
            let base = match table.section {
                ".debug_loclists" => unit.bases.loclists,
                ".debug_rnglists" => unit.bases.rnglists,
                ".debug_addr" => unit.bases.addr,
                _ => unit.bases.str_offsets,
            };
            // A unit without indices needs no table.
            let Some(base) = base else { continue };
            match bases.get(&base) {
                Some(None) => {}
                // Other producers may write lists without offsets, and count 0.
                Some(Some(_)) if !is_split && is_of_others(tables, unit.offset) => {}
                Some(Some(problem)) => {
                    let (site, text) = place(problem.clone());
                    tables.report.find(FindingKind::Unreadable, site, "a table", text);
                }
                None => {
                    let (site, text) = place(format!("offset {:#x}", base.wrapping_sub(section.moved)));
                    tables.report.find(FindingKind::Unreadable, site, "the first element of a table", text);
                }
            }
        }
    }
}

/// A section's bytes.
#[derive(Clone, Copy)]
struct Bytes<'b> {
    all: &'b [u8],
    big_endian: bool,
}

impl Bytes<'_> {
    /// Reads the number in `bytes` bytes at `at`.
    fn number(self, offset: usize, bytes: usize) -> Result<usize, String> {
        let field = offset.checked_add(bytes).and_then(|end| self.all.get(offset..end));
        let field = field.ok_or_else(|| "a header that is cut off".to_owned())?;
        let join = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        let number =
            if self.big_endian { field.iter().fold(0, join) } else { field.iter().rev().fold(0, join) };
        usize::try_from(number).map_err(|_| "a table that ends after its section".to_owned())
    }
}

/// For each table in a section from `at` on, the first element's offset, and a problem with the list offsets.
fn read_tables(
    Table { elements, .. }: Table,
    mut at: usize,
    bytes: Bytes<'_>,
    address_bytes: u8,
) -> Result<Vec<(usize, Option<String>)>, String> {
    let mut tables = Vec::new();
    while at < bytes.all.len() {
        let (length, offset_bytes) = match bytes.number(at, 4)? {
            0xffff_ffff => (bytes.number(at + 4, 8)?, 8),
            length => (length, 4),
        };
        let header = if offset_bytes == 8 { at + 12 } else { at + 4 };
        let end = header.checked_add(length).filter(|&end| end <= bytes.all.len());
        let Some(end) = end else { return Err("a table that ends after its section".into()) };
        let start = header + if elements == Elements::Lists { 8 } else { 4 };
        // The header is inside the table, after the length.
        if start > end {
            return Err("a header that is cut off".into());
        }
        // Address size and segment selector size; a string table has padding instead.
        let sizes = if elements == Elements::Strings { [0, 0] } else { [address_bytes.into(), 0] };
        let expected = [5, sizes[0], sizes[1]];
        let actual = [bytes.number(header, 2)?, bytes.number(header + 2, 1)?, bytes.number(header + 3, 1)?];
        if actual != expected {
            return Err(format!("a header with {} for {}", actual.describe(), expected.describe()));
        }
        let mut problem = None;
        let element = match elements {
            Elements::Addresses => usize::from(address_bytes),
            Elements::Lists | Elements::Strings => offset_bytes,
        };
        if elements == Elements::Lists {
            let count = bytes.number(header + 4, 4)?;
            let lists = count.checked_mul(element).and_then(|bytes| start.checked_add(bytes));
            let Some(lists) = lists.filter(|&lists| lists <= end) else {
                return Err(format!("{count} lists, which do not fit their table"));
            };
            // The first list follows the offsets: a count that is too small leaves a gap.
            let offsets = (0..count).map(|index| bytes.number(start + element * index, element));
            let first = offsets.collect::<Result<Vec<_>, _>>()?.into_iter().min();
            // Without lists, the table ends after the header.
            if first.map_or(Some(end), |first| start.checked_add(first)) != Some(lists) {
                problem = Some(format!("{count} lists, the first at {:#x}", first.unwrap_or(0)));
            }
        } else if !(end - start).is_multiple_of(element) {
            return Err("a part of an element".into());
        }
        tables.push((start, problem));
        at = end;
    }
    Ok(tables)
}
