//! `.debug_addr`: addresses by index, DWARF 5 section 7.27.

use std::borrow::Cow;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use super::format::Format;
use super::section::{Relocation, RelocationTarget};

/// An address: a symbol plus an addend, or a constant. The caller numbers the symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AddressKey {
    pub(crate) symbol: Option<u32>,
    pub(crate) addend: u64,
}

/// A unit's addresses. Units could share a table, but some readers expect a table for each unit.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    known: IndexSet<AddressKey, DefaultHashBuilder>,
}

/// Header size in bytes. `DW_AT_addr_base` points to index 0, which follows the header.
pub(crate) fn addr_base(format: Format) -> u64 {
    format.length_bytes() as u64 + 4
}

impl AddressKey {
    /// The relocation of the address field at offset `at`; `None` for a constant.
    pub(crate) fn relocation(
        self,
        at: usize,
        format: Format,
        name: impl FnOnce(u32) -> Cow<'static, str>,
    ) -> Option<Relocation> {
        Some(Relocation {
            offset: at as u64,
            bytes: format.address_bytes,
            target: RelocationTarget::Symbol(name(self.symbol?)),
            addend: self.addend,
        })
    }

    /// Appends the address, with a relocation if the address depends on a symbol.
    pub(crate) fn write(
        self,
        format: Format,
        name: impl FnOnce(u32) -> Cow<'static, str>,
        out: &mut Vec<u8>,
        relocations: &mut Vec<Relocation>,
    ) {
        let relocation = self.relocation(out.len(), format, name);
        let field = if relocation.is_some() { 0 } else { self.addend };
        relocations.extend(relocation);
        format.fixed(out, field, format.address_bytes);
    }
}

impl Addresses {
    /// Index of an address in the table.
    #[inline]
    pub(crate) fn index(&mut self, key: AddressKey) -> u64 {
        self.known.insert_full(key).0 as u64
    }

    /// Encodes the table.
    pub(crate) fn finish(
        self,
        format: Format,
        mut name: impl FnMut(u32) -> Cow<'static, str>,
    ) -> (Vec<u8>, Vec<Relocation>) {
        let bytes = addr_base(format) as usize + usize::from(format.address_bytes) * self.known.len();
        // Each field is written in eight bytes and then truncated, so the last one needs more room.
        let mut out = Vec::with_capacity(bytes + 8);
        let mut relocations = Vec::new();
        let start = format.begin_length(&mut out);
        format.half(&mut out, 5);
        out.extend_from_slice(&[format.address_bytes, 0]);
        for key in self.known {
            key.write(format, &mut name, &mut out, &mut relocations);
        }
        format.end_length(&mut out, start);
        (out, relocations)
    }
}
