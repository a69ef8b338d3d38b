//! Symbols by address.

use super::elf::{ElfSection, ElfSymbol, ElfSymbolKind};
use super::pcs::PcIndex;

/// Indices of the symbols of code and data, by address.
#[derive(Debug, Clone)]
pub(super) struct SymbolsByAddress(PcIndex<Found>);

/// A symbol at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    start: u64,
    is_function: bool,
    has_size: bool,
    is_global: bool,
    /// Counted down, so that the first of equal symbols is the largest.
    index: core::cmp::Reverse<usize>,
}

impl SymbolsByAddress {
    pub(super) fn new(symbols: &[ElfSymbol<'_>], sections: &[ElfSection<'_>]) -> Self {
        let named = symbols.iter().enumerate().filter(|(_, symbol)| is_named(symbol));
        let mut starts: Vec<u64> = named.clone().map(|(_, symbol)| symbol.address).collect();
        starts.sort_unstable();
        let ranges = named.filter_map(|(index, symbol)| {
            let section = sections.get(symbol.section?)?;
            let start = symbol.address;
            let end = if symbol.size > 0 {
                start.checked_add(symbol.size)?
            } else {
                let section_end = section.address.checked_add(section.size)?;
                let next = starts.partition_point(|next| *next <= start);
                starts.get(next).map_or(section_end, |next| section_end.min(*next))
            };
            let found = Found {
                start,
                is_function: symbol.kind == ElfSymbolKind::Func,
                has_size: symbol.size > 0,
                is_global: symbol.is_global,
                index: core::cmp::Reverse(index),
            };
            Some((start..end, found))
        });
        Self(PcIndex::new(ranges))
    }

    /// Returns the index of the symbol at an address.
    pub(super) fn find(&self, address: u64) -> Option<usize> {
        self.0.at(address).max().map(|found| found.index.0)
    }
}

/// Whether a symbol names code or data.
fn is_named(symbol: &ElfSymbol<'_>) -> bool {
    let is_kind =
        !matches!(symbol.kind, ElfSymbolKind::Section | ElfSymbolKind::File | ElfSymbolKind::ThreadLocal);
    symbol.is_defined && is_kind && !symbol.is_mark() && !symbol.name.is_empty()
}
