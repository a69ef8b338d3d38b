//! Location lists and range lists: DWARF 5 sections 2.6.2, 2.17.3, 7.7.3 and 7.25.

use core::ops::Range;

use super::dies::Dies;
use super::loc::Sink;
use super::{LeftOut, Policy, Subject, cannot_be_told};
use crate::emit::info::Pending;
use crate::error::{Error, Result};
use crate::model::{LocId, Stack, VariableId};
use crate::op::{uleb_len, write_byte_uleb, write_uleb};

/// The base address that offsets in a function's lists count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// The unit's: it begins where the function does.
    Unit,
    /// An address of the table.
    Index(u64),
}

impl Dies<'_> {
    /// Writes the list of where a variable is by pc. `None` if nothing of it could be said.
    pub(super) fn location_list(
        &mut self,
        variable: VariableId,
        bits: Option<u64>,
        stack: Stack,
        base: Base,
    ) -> Result<Option<u64>> {
        let module = self.module;
        let start = self.loclists.bytes.len();
        if let Base::Index(index) = base {
            self.loclists.bytes.push(gimli::DW_LLE_base_addressx.0);
            write_uleb(&mut self.loclists.bytes, index);
        }
        let first = self.loclists.bytes.len();
        let first_pending = self.list_pending.len();
        for live in module.live(variable) {
            let entry = self.loclists.bytes.len();
            let out = &mut self.loclists.bytes;
            write_byte_uleb(out, gimli::DW_LLE_offset_pair.0, live.start.into());
            write_uleb(out, live.end.into());
            let length = out.len();
            out.push(0);
            let mut sink = Sink { out, addresses: &mut self.addresses, entries: &self.entries, stack };
            if let Err(error) = self.lowering.lower(live.loc, bits, false, &mut sink) {
                self.loclists.bytes.truncate(entry);
                self.lowering.pending.clear();
                self.leave_out(variable, Some(live.pcs()), error)?;
                continue;
            }
            let moved = patch_length(&mut self.loclists.bytes, length);
            if !self.lowering.pending.is_empty() {
                let pending = self.lowering.pending.drain(..);
                self.list_pending.extend(pending.map(|one| Pending { at: one.at + moved, ..one }));
            }
        }
        if self.loclists.bytes.len() == first {
            self.loclists.bytes.truncate(start);
            return Ok(None);
        }
        self.loclists.bytes.push(gimli::DW_LLE_end_of_list.0);
        let is_settled = self.list_pending.len() == first_pending;
        Ok(Some(self.loclists.end(start, is_settled)))
    }

    /// The expression of a location that does not move, with references counted from its start. `None` if
    /// it could not be said.
    pub(super) fn expression(
        &mut self,
        variable: VariableId,
        loc: LocId,
        pcs: Option<Range<u64>>,
        bits: Option<u64>,
        stack: Stack,
    ) -> Result<Option<(Vec<u8>, Vec<Pending>)>> {
        let mut out = Vec::new();
        let mut sink = Sink { out: &mut out, addresses: &mut self.addresses, entries: &self.entries, stack };
        let result = self.lowering.lower(loc, bits, false, &mut sink);
        let pending = core::mem::take(&mut self.lowering.pending);
        match result {
            Ok(()) => Ok(Some((out, pending))),
            Err(error) => self.leave_out(variable, pcs, error).map(|()| None),
        }
    }

    /// Notes what the consumer cannot be told; with [`Policy::Strict`], or where it is something else that
    /// is wrong, gives the error.
    #[cold]
    fn leave_out(&mut self, variable: VariableId, pcs: Option<Range<u64>>, error: Error) -> Result<()> {
        let is_untold = cannot_be_told(&error);
        let why = error.or_at(self.module.at_variable(variable, pcs.clone()));
        if self.policy == Policy::Strict || !is_untold {
            return Err(why);
        }
        self.left_out.push(LeftOut { of: Subject::Variable(variable), pcs, why });
        Ok(())
    }

    /// Writes a list of ranges of a function's pcs.
    pub(super) fn range_list(&mut self, ranges: &[Range<u64>], base: Base) -> u64 {
        let out = &mut self.rnglists.bytes;
        let start = out.len();
        if let Base::Index(index) = base {
            out.push(gimli::DW_RLE_base_addressx.0);
            write_uleb(out, index);
        }
        for range in ranges {
            out.push(gimli::DW_RLE_offset_pair.0);
            write_uleb(out, range.start);
            write_uleb(out, range.end);
        }
        out.push(gimli::DW_RLE_end_of_list.0);
        self.rnglists.end(start, true)
    }

    /// Writes a list of whole functions, by the index of their address and their size in bytes.
    pub(super) fn function_list(&mut self, functions: &[(u64, u64)]) -> u64 {
        let out = &mut self.rnglists.bytes;
        let start = out.len();
        for &(index, bytes) in functions {
            out.push(gimli::DW_RLE_startx_length.0);
            write_uleb(out, index);
            write_uleb(out, bytes);
        }
        out.push(gimli::DW_RLE_end_of_list.0);
        self.rnglists.end(start, true)
    }
}

/// Puts the length of what follows into the byte at `at`; makes room where it needs more than one. Gives
/// by how much what follows moved.
#[inline]
fn patch_length(out: &mut Vec<u8>, at: usize) -> usize {
    let length = out.len() - at - 1;
    if length < 0x80 {
        out[at] = length as u8;
        return 0;
    }
    let mut bytes = Vec::new();
    write_uleb(&mut bytes, length as u64);
    out.splice(at..=at, bytes);
    uleb_len(length as u64) - 1
}
