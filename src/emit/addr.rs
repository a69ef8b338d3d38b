//! `.debug_addr`: addresses by index, DWARF 5 section 7.27.

use std::borrow::Cow;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use super::section::{Relocation, RelocationTarget};

/// An address: of a symbol, by the number that the caller knows it by, or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AddressKey {
    pub(crate) symbol: Option<u32>,
    pub(crate) addend: u64,
}

/// The addresses of a unit. Units could share a table, but there are readers that want one for each.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    known: IndexSet<AddressKey, DefaultHashBuilder>,
}

/// Bytes of the header, after which index 0 stands.
pub(crate) const ADDR_BASE: u64 = 8;

impl Addresses {
    /// The index of an address.
    #[inline]
    pub(crate) fn index(&mut self, key: AddressKey) -> u64 {
        self.known.insert_full(key).0 as u64
    }

    /// Appends the table to the section.
    pub(crate) fn finish(
        self,
        address_bytes: u8,
        mut name: impl FnMut(u32) -> Cow<'static, str>,
        out: &mut Vec<u8>,
        relocations: &mut Vec<Relocation>,
    ) {
        let length = 4 + self.known.len() * usize::from(address_bytes);
        out.extend_from_slice(&(length as u32).to_le_bytes());
        out.extend_from_slice(&5u16.to_le_bytes());
        out.extend_from_slice(&[address_bytes, 0]);
        for key in self.known {
            let field = match key.symbol {
                None => key.addend,
                Some(symbol) => {
                    let target = RelocationTarget::Symbol(name(symbol));
                    let offset = out.len() as u64;
                    relocations.push(Relocation { offset, bytes: address_bytes, target, addend: key.addend });
                    0
                }
            };
            out.extend_from_slice(&field.to_le_bytes()[..address_bytes.into()]);
        }
    }
}
