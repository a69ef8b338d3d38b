//! Location lists and range lists: DWARF 5 sections 2.6.2, 2.17.3, 7.7.3 and 7.25; DWARF 4 sections 2.6.2 and
//! 2.17.3.

use core::ops::Range;

use super::dies::{Dies, symbol_name};
use super::loc::{Lowering, Sink};
use super::scopes::Code;
use super::{Policy, cannot_be_told};
use crate::emit::addr::AddressKey;
use crate::emit::info::Pending;
use crate::emit::lists::Lists;
use crate::error::{Count, Error, Result};
use crate::model::{Live, LocId, Module, Stack, VariableId};
use crate::omission::{Omission, Property, Subject};
use crate::op::{uleb_len, write_byte_uleb, write_uleb};

/// The base address that offsets in a function's lists count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// The unit's: it begins where the function does.
    Unit,
    /// The function's address.
    Address(Code),
}

impl<'u> Dies<'u> {
    /// Writes the list of where a variable is by pc. `None` if nothing of it could be said.
    pub(super) fn location_list(
        &mut self,
        variable: VariableId,
        bits: Option<u64>,
        stack: Stack,
        base: Base,
    ) -> Result<Option<u64>> {
        let say = |lowering: &mut Lowering<'u>, live: &Live, sink: &mut Sink<'_>| {
            lowering.lower(live.loc, bits, false, sink)
        };
        let untold = |dies: &mut Self, live: &Live, error| dies.leave_out(variable, Some(live.pcs()), error);
        let pcs = |live: &Live| live.start..live.end;
        self.list_of(self.module.live(variable), pcs, stack, base, say, untold)
    }

    /// Writes a location list of entries, of which `pcs` gives the range, `say` writes the expression, and `untold`
    /// is told where that cannot be said. `None` if nothing of it could be.
    pub(super) fn list_of<T>(
        &mut self,
        all: &[T],
        pcs: impl Fn(&T) -> Range<u32>,
        stack: Stack,
        base: Base,
        say: impl Fn(&mut Lowering<'u>, &T, &mut Sink<'_>) -> Result<()>,
        mut untold: impl FnMut(&mut Self, &T, Error) -> Result<()>,
    ) -> Result<Option<u64>> {
        let (module, format) = (self.module, self.info.format);
        let is_five = format.version >= 5;
        self.lowering.has_address = false;
        let start = self.loclists.bytes.len();
        let lists = &mut self.loclists;
        // One place that begins where the function does takes fewer bytes without a base.
        let is_one_from_0 = matches!(all, [one] if pcs(one).start == 0);
        // Where entries have addresses of their own, there is none.
        let own = match base {
            Base::Address(code) if self.info.is_split && !self.consumer.has_split_offsets => Some(code.key),
            Base::Address(code) if is_five && is_one_from_0 => Some(code.key),
            _ => None,
        };
        let is_comparable = own.is_some() || begin(lists, base, gimli::DW_LLE_base_addressx.0, module);
        let first = lists.bytes.len();
        let first_pending = lists.pending.len();
        for one in all {
            let pcs = pcs(one);
            // What is left out has no address either.
            let has_address = self.lowering.has_address;
            let out = &mut self.loclists.bytes;
            let entry = out.len();
            if let Some(AddressKey { symbol, addend }) = own {
                let key = AddressKey { symbol, addend: addend.wrapping_add(pcs.start.into()) };
                write_byte_uleb(out, gimli::DW_LLE_startx_length.0, self.addresses.index(key));
                write_uleb(out, (pcs.end - pcs.start).into());
            } else if is_five {
                write_byte_uleb(out, gimli::DW_LLE_offset_pair.0, pcs.start.into());
                write_uleb(out, pcs.end.into());
            } else {
                format.fixed(out, pcs.start.into(), format.address_bytes);
                format.fixed(out, pcs.end.into(), format.address_bytes);
            }
            let length = out.len();
            if is_five {
                out.push(0);
            } else {
                format.half(out, 0);
            }
            let mut sink = Sink { out, addresses: &mut self.addresses, entries: &self.entries, stack };
            if let Err(error) = say(&mut self.lowering, one, &mut sink) {
                self.loclists.bytes.truncate(entry);
                self.lowering.has_address = has_address;
                self.lowering.pending.clear();
                untold(self, one, error)?;
                continue;
            }
            let lists = &mut self.loclists;
            let moved = if is_five {
                patch_length(&mut lists.bytes, length)
            } else {
                let bytes = lists.bytes.len() - length - 2;
                if u16::try_from(bytes).is_err() {
                    let what = format!(
                        "a location of {bytes}, where DWARF 4 has up to 65535",
                        bytes = Count(bytes, "byte")
                    );
                    let error = self.consumer.cannot_say(what);
                    self.loclists.bytes.truncate(entry);
                    self.lowering.has_address = has_address;
                    self.lowering.pending.clear();
                    untold(self, one, error)?;
                    continue;
                }
                format.patch(&mut lists.bytes, length, bytes as u64, 2);
                0
            };
            if !self.lowering.pending.is_empty() {
                let pending = self.lowering.pending.drain(..);
                lists.pending.extend(pending.map(|one| Pending { at: one.at + moved, ..one }));
            }
        }
        let lists = &mut self.loclists;
        if lists.bytes.len() == first {
            lists.bytes.truncate(start);
            lists.relocations.retain(|relocation| relocation.offset < start as u64);
            return Ok(None);
        }
        end(lists, gimli::DW_LLE_end_of_list.0);
        let is_settled = lists.pending.len() == first_pending;
        Ok(Some(lists.end(start, is_settled && is_comparable)))
    }

    /// Writes the expression of a location that does not move, for
    /// [`expression_attribute`](Self::expression_attribute). Whether it could be said.
    pub(super) fn expression(
        &mut self,
        variable: VariableId,
        loc: LocId,
        pcs: Option<Range<u64>>,
        bits: Option<u64>,
        stack: Stack,
    ) -> Result<bool> {
        self.lowering.has_address = false;
        let out = &mut self.expression;
        out.clear();
        let mut sink = Sink { out, addresses: &mut self.addresses, entries: &self.entries, stack };
        match self.lowering.lower(loc, bits, false, &mut sink) {
            Ok(()) => Ok(true),
            Err(error) => {
                self.lowering.pending.clear();
                self.leave_out(variable, pcs, error).map(|()| false)
            }
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
        let subject = Subject::Variable(variable);
        self.omissions.push(Omission::inexpressible(subject, Property::Location, pcs, &why));
        Ok(())
    }

    /// Writes a list of ranges of a function's pcs.
    ///
    /// Before DWARF 5 with addresses of their own, where they do not count from the unit's: lldb 19 does not see
    /// a base that is chosen in `.debug_ranges`.
    pub(super) fn range_list(&mut self, ranges: &[Range<u64>], base: Base) -> u64 {
        let (format, module) = (self.info.format, self.module);
        let lists = &mut self.rnglists;
        let start = lists.bytes.len();
        let is_five = format.version >= 5;
        let is_comparable = match is_five {
            true => begin(lists, base, gimli::DW_RLE_base_addressx.0, module),
            false => base == Base::Unit,
        };
        for range in ranges {
            let out = &mut lists.bytes;
            match base {
                _ if is_five => {
                    out.push(gimli::DW_RLE_offset_pair.0);
                    write_uleb(out, range.start);
                    write_uleb(out, range.end);
                }
                Base::Unit => {
                    format.fixed(out, range.start, format.address_bytes);
                    format.fixed(out, range.end, format.address_bytes);
                }
                Base::Address(code) => addresses(lists, code, range.clone(), module),
            }
        }
        end(lists, gimli::DW_RLE_end_of_list.0);
        lists.end(start, is_comparable)
    }

    /// Writes a list of whole functions, by their addresses and their sizes in bytes.
    pub(super) fn function_list(&mut self, functions: &[(Code, u64)]) -> u64 {
        let (format, module) = (self.info.format, self.module);
        let lists = &mut self.rnglists;
        let start = lists.bytes.len();
        // Two equal addresses are no range; and the end of an older list, where they are 0.
        for &(code, bytes) in functions.iter().filter(|&&(_, bytes)| bytes > 0) {
            if format.version >= 5 {
                let out = &mut lists.bytes;
                out.push(gimli::DW_RLE_startx_length.0);
                write_uleb(out, code.index);
                write_uleb(out, bytes);
            } else {
                addresses(lists, code, 0..bytes, module);
            }
        }
        end(lists, gimli::DW_RLE_end_of_list.0);
        lists.end(start, format.version >= 5)
    }
}

/// Appends the addresses where pcs of a function begin and end.
fn addresses(lists: &mut Lists, Code { key, .. }: Code, pcs: Range<u64>, module: &Module) {
    for pc in [pcs.start, pcs.end] {
        let key = AddressKey { addend: key.addend.wrapping_add(pc), ..key };
        let format = lists.format;
        key.write(format, |symbol| symbol_name(module, symbol), &mut lists.bytes, &mut lists.relocations);
    }
}

/// Says what the offsets of a list count from. Whether the list can then be compared with others by its
/// bytes.
fn begin(lists: &mut Lists, base: Base, base_addressx: u8, module: &Module) -> bool {
    let Base::Address(Code { key, index }) = base else { return true };
    let format = lists.format;
    let out = &mut lists.bytes;
    if format.version >= 5 {
        out.push(base_addressx);
        write_uleb(out, index);
        return true;
    }
    // A base address selection entry: the largest address, and the base.
    format.fixed(out, u64::MAX, format.address_bytes);
    key.write(format, |symbol| symbol_name(module, symbol), out, &mut lists.relocations);
    false
}

/// Ends a list.
fn end(lists: &mut Lists, end_of_list: u8) {
    let format = lists.format;
    if format.version >= 5 {
        lists.bytes.push(end_of_list);
    } else {
        let length = lists.bytes.len() + 2 * usize::from(format.address_bytes);
        lists.bytes.resize(length, 0);
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
