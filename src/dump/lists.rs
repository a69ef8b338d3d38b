//! Location lists and range lists.

use std::fmt::{self, Write};

use super::text::Dump;
use crate::error::Result;
use crate::read::{List, ListKind, RawEntry, RawList, Unit};

impl<'d> Dump<'_, 'd, '_> {
    pub(super) fn locations(&mut self, unit: &Unit<'d>, depth: usize, offset: u64) -> fmt::Result {
        let raw = self.dwarf.raw_locations(unit, offset);
        let list = self.dwarf.locations(unit, offset);
        self.list(unit, raw, list, depth, offset, true)
    }

    pub(super) fn ranges(&mut self, unit: &Unit<'d>, depth: usize, offset: u64) -> fmt::Result {
        let raw = self.dwarf.raw_ranges(unit, offset);
        let list = self.dwarf.ranges(unit, offset);
        self.list(unit, raw, list, depth, offset, false)
    }

    /// Prints a list: entries with addresses; in verbose dumps all entries. Addresses of another file are printed as
    /// indices.
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
                self.unknown(raw.kind)?;
            } else if has_bounds {
                // The list has as many of these as entries with bounds.
                match list.next() {
                    Some(Ok(entry)) if entry.is_default() => self.out.push_str("default"),
                    Some(Ok(entry)) => {
                        self.out.push('[');
                        self.out.hex(entry.start, 0);
                        self.out.push_str(", ");
                        self.out.hex(entry.end, 0);
                        self.out.push(')');
                    }
                    Some(Err(error)) => return write!(self.out, "<{error}>"),
                    None => {}
                }
            }
            if self.verbose {
                self.at(raw.offset)?;
                write!(self.out, " {:x?}", raw.kind)?;
            }
            if has_bounds && has_locations {
                self.out.push_str(": ");
                self.expression(unit, raw.expr)?;
            }
        }
        Ok(())
    }

    /// Prints bounds as indices of addresses that are in another file.
    fn unknown(&mut self, kind: ListKind) -> fmt::Result {
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

/// Whether an entry has no bounds: a base address, or the end of the list.
fn is_base(kind: ListKind) -> bool {
    matches!(
        kind,
        ListKind::End | ListKind::BaseIndex { .. } | ListKind::Base { .. } | ListKind::Views { .. }
    )
}
