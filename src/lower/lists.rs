//! Location lists and range lists: DWARF 5 sections 2.6.2, 2.17.3, 7.7.3 and 7.25; DWARF 4 sections 2.6.2 and
//! 2.17.3.

use core::ops::Range;

use super::section::symbol_name;
use crate::emit::addr::AddressKey;
use crate::emit::lists::{Contents, Lists};
use crate::model::{Address, FunctionId, Module};
use crate::op::{uleb_len, write_uleb, write_ulebs};

/// Start address of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) key: AddressKey,
    /// Index in the unit's address table, `.debug_addr`.
    pub(super) index: u64,
}

/// Address 0.
pub(super) const ABSOLUTE: Code = Code { key: AddressKey { symbol: None, addend: 0 }, index: 0 };

/// Base address to which offsets in a function's lists are relative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// Base address of the unit, which is the function's address.
    Unit,
    /// Function address.
    Address(Code),
    /// None: the function's code has several parts, so that each entry has an address.
    Parts(FunctionId),
}

/// Returns the key of an address in an address table; address 0 without an address.
pub(super) fn address_key(address: Option<Address>) -> AddressKey {
    match address {
        Some(Address::Symbol(symbol, addend)) => AddressKey { symbol: Some(symbol.0.as_u32()), addend },
        Some(Address::Constant(addend)) => AddressKey { symbol: None, addend },
        None => ABSOLUTE.key,
    }
}

/// Writes a range list for a function's pcs, relative to the unit's base or to the function's address.
///
/// Before DWARF 5, ranges that are not relative to the unit's base are address pairs, because lldb 19 ignores base
/// address selection entries in `.debug_ranges`.
pub(super) fn ranges(
    lists: &mut Lists,
    ranges: &[Range<u64>],
    function: Option<Code>,
    module: &Module,
) -> u64 {
    let format = lists.format;
    let start = lists.bytes.len();
    let is_five = format.version >= 5;
    // A list with relocations is not final: equal bytes can stand for different addresses.
    let contents = match function {
        _ if is_five => {
            let base = function.map_or(Base::Unit, Base::Address);
            begin(lists, base, gimli::DW_RLE_base_addressx.0, module)
        }
        None => Contents::Final,
        Some(_) => Contents::Pending,
    };
    for range in ranges {
        let out = &mut lists.bytes;
        match function {
            _ if is_five => {
                write_ulebs(out, [gimli::DW_RLE_offset_pair.0], [range.start, range.end]);
            }
            None => {
                format.fixed(out, range.start, format.address_bytes);
                format.fixed(out, range.end, format.address_bytes);
            }
            Some(code) => addresses(lists, code, range.clone(), module),
        }
    }
    end(lists, gimli::DW_RLE_end_of_list.0);
    lists.end(start, contents)
}

/// Returns the code of functions, as addresses and sizes in bytes. In a linked file, where all addresses are known, ranges
/// that touch are one range.
pub(super) fn joined_code(module: &Module, functions: &[FunctionId]) -> Vec<(Address, u64)> {
    let parts = functions.iter().flat_map(|&id| module.functions[id].code_parts());
    let parts: Vec<(Address, u64)> = parts.map(|part| (part.address, part.bytes())).collect();
    let constant = |&(address, bytes): &(Address, u64)| match address {
        Address::Constant(start) => Some(start..start.checked_add(bytes)?),
        Address::Symbol(..) => None,
    };
    let Some(mut ranges) = parts.iter().map(constant).collect::<Option<Vec<_>>>() else { return parts };
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, range| {
        let touches = next.start <= range.end;
        if touches {
            range.end = range.end.max(next.end);
        }
        touches
    });
    ranges.into_iter().map(|range| (Address::Constant(range.start), range.end - range.start)).collect()
}

/// Writes a range list for whole functions, given their addresses and sizes in bytes.
pub(super) fn functions(
    lists: &mut Lists,
    functions: impl Iterator<Item = (Code, u64)>,
    module: &Module,
) -> u64 {
    let start = lists.bytes.len();
    let is_five = lists.format.version >= 5;
    for (code, bytes) in functions {
        // An empty range covers nothing, and before DWARF 5 its two zeros would end the list.
        if bytes == 0 {
            continue;
        }
        if is_five {
            let out = &mut lists.bytes;
            out.push(gimli::DW_RLE_startx_length.0);
            write_uleb(out, code.index);
            write_uleb(out, bytes);
        } else {
            addresses(lists, code, 0..bytes, module);
        }
    }
    end(lists, gimli::DW_RLE_end_of_list.0);
    lists.end(start, if is_five { Contents::Final } else { Contents::Pending })
}

/// Appends a function's pc range as a start and an end address.
pub(super) fn addresses(lists: &mut Lists, Code { key, .. }: Code, pcs: Range<u64>, module: &Module) {
    for pc in [pcs.start, pcs.end] {
        let key = AddressKey { addend: key.addend.wrapping_add(pc), ..key };
        let format = lists.format;
        key.write(format, |symbol| symbol_name(module, symbol), &mut lists.bytes, &mut lists.relocations);
    }
}

/// Writes a list's base address. Returns whether the bytes so far are final.
pub(super) fn begin(lists: &mut Lists, base: Base, base_addressx: u8, module: &Module) -> Contents {
    let Base::Address(Code { key, index }) = base else { return Contents::Final };
    let format = lists.format;
    let out = &mut lists.bytes;
    if format.version >= 5 {
        out.push(base_addressx);
        write_uleb(out, index);
        return Contents::Final;
    }
    // Base address selection entry: the largest address, and the base.
    format.fixed(out, u64::MAX, format.address_bytes);
    key.write(format, |symbol| symbol_name(module, symbol), out, &mut lists.relocations);
    Contents::Pending
}

/// Ends a list.
pub(super) fn end(lists: &mut Lists, end_of_list: u8) {
    let format = lists.format;
    if format.version >= 5 {
        lists.bytes.push(end_of_list);
    } else {
        // Before DWARF 5, two zero addresses end a list.
        let length = lists.bytes.len() + 2 * usize::from(format.address_bytes);
        lists.bytes.resize(length, 0);
    }
}

/// Writes the length after `at` into the byte at `at`, as ULEB128, and makes room if that takes more than one byte.
/// Returns how many bytes were inserted.
#[inline]
pub(super) fn patch_length(out: &mut Vec<u8>, at: usize) -> usize {
    let length = out.len() - at - 1;
    if length >= 0x80 {
        return patch_long(out, at, length);
    }
    out[at] = length as u8;
    0
}

fn patch_long(out: &mut Vec<u8>, at: usize, length: usize) -> usize {
    let mut bytes = Vec::new();
    write_uleb(&mut bytes, length as u64);
    // Few expressions are this long, so the move costs little.
    out.splice(at..=at, bytes);
    uleb_len(length as u64) - 1
}
