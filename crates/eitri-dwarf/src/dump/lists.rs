//! Location lists and range lists.

use std::fmt::{self, Write};

use super::text::{Dump, describe_into};
use crate::error::Result;
use crate::read::{List, ListKind, RawEntry, RawList, Unit};

/// Maximum size in bytes up to which a list is printed at each entry that references it: the size of 256 list entries
/// without expressions. A block and an inlined call in the block often share a shorter list.
const SHORT_BYTES: usize = 4096;
const MOST_ENTRIES: usize = 256;

/// Key of a list's text: its offset, and the unit whose types and addresses its expressions refer to, or the
/// addresses that its ranges are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ListKey {
    Locations { unit: u64, offset: u64 },
    Ranges { version: u16, low_pc: Option<u64>, addresses: Option<u64>, offset: u64 },
}

impl<'d> Dump<'_, 'd, '_> {
    /// Prints a location list that an attribute of the entry `owner` references.
    pub(super) fn locations(
        &mut self,
        unit: &Unit<'d>,
        depth: usize,
        offset: u64,
        owner: u64,
    ) -> fmt::Result {
        let raw = self.dwarf.raw_locations(unit, offset);
        let list = self.dwarf.locations(unit, offset);
        let key = ListKey::Locations { unit: unit.offset, offset };
        if self.is_printed(key, offset, owner, &raw)? {
            return Ok(());
        }
        self.list(unit, raw, list, depth, offset, true)
    }

    /// Prints a range list that an attribute of the entry `owner` references.
    pub(super) fn ranges(&mut self, unit: &Unit<'d>, depth: usize, offset: u64, owner: u64) -> fmt::Result {
        let raw = self.dwarf.raw_ranges(unit, offset);
        let list = self.dwarf.ranges(unit, offset);
        let version = unit.encoding.version;
        let low_pc = unit.low_pc;
        let addresses = unit.bases.addr;
        let key = ListKey::Ranges { version, low_pc, addresses, offset };
        if self.is_printed(key, offset, owner, &raw)? {
            return Ok(());
        }
        self.list(unit, raw, list, depth, offset, false)
    }

    /// Names the entry at which this long list was printed before, if it was. Otherwise a list that many entries share
    /// would make the text grow with the square of the file.
    fn is_printed(
        &mut self,
        key: ListKey,
        offset: u64,
        owner: u64,
        raw: &Result<RawList<'d>>,
    ) -> Result<bool, fmt::Error> {
        let Ok(raw) = raw else { return Ok(false) };
        if let Some(&owner) = self.lists.get(&key) {
            self.out.push_str("list");
            self.at(offset)?;
            self.out.push_str(", the same as in ");
            describe_into(self.out, self.dwarf, owner)?;
            self.at_entry(owner)?;
            return Ok(true);
        }
        let entries = raw.clone().map_while(Result::ok).take(MOST_ENTRIES + 1);
        let sizes = entries.map(|entry| SHORT_BYTES / MOST_ENTRIES + entry.expr.len());
        if sizes.sum::<usize>() > SHORT_BYTES {
            self.lists.insert(key, owner);
        }
        Ok(false)
    }

    /// Prints a list: entries with addresses; in verbose dumps all entries. If the addresses are in another file, their
    /// indices are printed.
    fn list(
        &mut self,
        unit: &Unit<'d>,
        raw: Result<RawList<'d>>,
        list: Result<List<'d>>,
        depth: usize,
        offset: u64,
        has_locations: bool,
    ) -> fmt::Result {
        self.out.push_str("list");
        self.at(offset)?;
        let (raw, mut list) = match (raw, list) {
            (Ok(raw), Ok(list)) => (raw, list),
            (Err(error), _) | (_, Err(error)) => return write!(self.out, " <{error}>"),
        };
        let is_known = self.dwarf.knows_addresses(unit);
        for raw in raw {
            let has_bounds = raw.as_ref().map_or(true, |raw| !is_base(raw.kind));
            let is_shown = has_bounds
                || self.verbose
                || (!is_known && !matches!(raw, Ok(RawEntry { kind: ListKind::End, .. })));
            if !is_shown {
                continue;
            }
            self.out.push('\n');
            self.indent(depth + 2);
            let raw = match raw {
                Ok(raw) => raw,
                Err(error) => return write!(self.out, "<{error}>"),
            };
            if !is_known {
                self.bounds(raw.kind)?;
            } else if has_bounds {
                // The list has as many of these as entries with bounds.
                match list.next() {
                    Some(Ok(entry)) if entry.is_default() => self.out.push_str("default"),
                    Some(Ok(entry)) => {
                        let pcs = entry.start..entry.end;
                        write!(self.out, "{}", self.object.pc_notation().pcs(&pcs))?;
                    }
                    Some(Err(error)) => return write!(self.out, "<{error}>"),
                    None => {}
                }
            }
            if self.verbose {
                self.at(raw.offset)?;
                if is_known {
                    self.out.push(' ');
                    self.bounds(raw.kind)?;
                }
            }
            if has_bounds && has_locations {
                self.out.push_str(": ");
                self.expression(unit, raw.expr)?;
            }
        }
        Ok(())
    }

    /// Prints bounds as the entry has them. Where addresses are in another file, they are indices.
    fn bounds(&mut self, kind: ListKind) -> fmt::Result {
        match kind {
            ListKind::End => self.out.write_str("end"),
            ListKind::BaseIndex { index } => write!(self.out, "base address {index}"),
            ListKind::Base { address } => write!(self.out, "base {address:#x}"),
            ListKind::IndexEnd { start, end } => write!(self.out, "[address {start}, address {end})"),
            ListKind::IndexLength { start, length } => {
                write!(self.out, "[address {start}, address {start}+{length:#x})")
            }
            ListKind::Pair { start, end } => write!(self.out, "[base+{start:#x}, base+{end:#x})"),
            ListKind::Default => self.out.write_str("default"),
            ListKind::StartEnd { start, end } => write!(self.out, "[{start:#x}, {end:#x})"),
            ListKind::StartLength { start, length } => {
                write!(self.out, "[{start:#x}, {:#x})", start.wrapping_add(length))
            }
            ListKind::Views { start, end } => write!(self.out, "views {start}, {end}"),
        }
    }
}

/// Returns whether an entry has no bounds: a base address, or the end of the list.
fn is_base(kind: ListKind) -> bool {
    matches!(
        kind,
        ListKind::End | ListKind::BaseIndex { .. } | ListKind::Base { .. } | ListKind::Views { .. }
    )
}
