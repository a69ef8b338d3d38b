//! Addresses as the model states them: a symbol plus bytes where a linker assigns the addresses of a relocatable object, or
//! the driver those of a cubin, and otherwise a number.

use core::ops::Range;

use hashbrown::HashMap;

use super::unimported::UnimportedReason;
use crate::build::Builder;
use crate::model::Address;
use crate::read::{Dwarf, ElfSection, ElfSymbol, ElfSymbolKind, Object};

/// An object's symbols by address.
#[derive(Debug)]
pub(super) struct Symbols<'o> {
    /// Whether a linker wrote the object.
    is_linked: bool,
    /// Whether addresses are fixed. The driver assigns those of a cubin.
    are_fixed: bool,
    /// Whether the object is a cubin, whose memories for constants, parameters and shared data begin at 0.
    is_cubin: bool,
    /// Sorted by address; at one address, the best name is the last.
    symbols: Vec<(u64, &'o str)>,
    /// The symbols that no other file's definition can replace, in the same order.
    kept: Vec<(u64, &'o str)>,
    /// Thread-local symbols, sorted by their offset in thread-local storage.
    thread_local: Vec<(u64, &'o str)>,
    /// Addresses of loaded sections, sorted.
    sections: Vec<Range<u64>>,
    /// Symbols of sections, sorted by address.
    of_sections: Vec<(u64, &'o str)>,
    /// Symbols that their addresses do not tell, with the address, by the position in memory of the field that holds it.
    fields: HashMap<usize, (&'o str, u64)>,
}

impl<'o> Symbols<'o> {
    pub(super) fn new(object: &'o Object<'_>) -> Self {
        let mut sections: Vec<_> = object
            .sections()
            .iter()
            .filter(|section| is_placed(object, section) && section.size > 0)
            .map(|section| section.address..section.address.saturating_add(section.size))
            .collect();
        sections.sort_by_key(|range| range.start);
        let is_linked = !object.is_relocatable();
        let is_cubin = object.is_cubin();
        let are_fixed = is_linked && !is_cubin;
        let mut symbols = Vec::new();
        let mut kept = Vec::new();
        let mut thread_local = Vec::new();
        let mut of_sections = Vec::new();
        if !are_fixed {
            of_sections = section_symbols(object);
            // The signature of a group is a symbol, too, which is in no memory.
            let is_loaded =
                |index: usize| object.sections().get(index).is_some_and(|section| is_placed(object, section));
            let named = object.symbols().iter().filter(|symbol| {
                !symbol.name.is_empty()
                    && !matches!(symbol.kind, ElfSymbolKind::Section | ElfSymbolKind::File)
                    && symbol.is_defined
                    && symbol.section.is_some_and(is_loaded)
                    && !symbol.is_mark()
            });
            // A local name that several symbols have names no address.
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for symbol in named.clone() {
                *counts.entry(&symbol.name).or_default() += 1;
            }
            let named = named.filter(|symbol| symbol.is_global || counts.get(&*symbol.name) == Some(&1));
            let (threads, others): (Vec<_>, Vec<_>) =
                named.partition(|symbol| symbol.kind == ElfSymbolKind::ThreadLocal);
            kept = sorted(others.iter().copied().filter(|symbol| !symbol.is_replaceable));
            symbols = sorted(others);
            thread_local = sorted(threads);
        }
        let fields = object.symbol_fields().iter().filter_map(|field| {
            let section = object.sections().get(field.section)?;
            let symbol = object.symbols().get(field.symbol).filter(|symbol| !symbol.name.is_empty())?;
            let offset = usize::try_from(field.offset).ok()?;
            let address = if symbol.is_defined { symbol.address } else { 0 };
            Some((section.data.as_ptr().addr().checked_add(offset)?, (&*symbol.name, address)))
        });
        let fields = fields.collect();
        Self { is_linked, are_fixed, is_cubin, symbols, kept, thread_local, sections, of_sections, fields }
    }

    /// Whether an address in an expression needs no symbol.
    pub(super) fn is_fixed(&self, address: u64) -> bool {
        self.are_fixed || self.is_cubin && !self.are_loaded(address)
    }

    /// Returns the symbol that an address in a field refers to, and the distance from the symbol, if the address does not
    /// tell the symbol. The field begins with these bytes of a section.
    pub(super) fn in_field(&self, field: &[u8], address: u64) -> Option<(&'o str, u64)> {
        let &(name, start) = self.fields.get(&field.as_ptr().addr())?;
        Some((name, address.wrapping_sub(start)))
    }

    /// Whether a field can have the address of a symbol that the address does not tell.
    pub(super) fn has_fields(&self) -> bool {
        !self.fields.is_empty()
    }

    /// Whether addresses in expressions are final, so that they need no symbol.
    pub(super) fn are_fixed(&self) -> bool {
        self.are_fixed
    }

    /// Whether an address is in a loaded section, or at the end of the section.
    pub(super) fn are_loaded(&self, address: u64) -> bool {
        let before = self.sections.partition_point(|range| range.start <= address);
        before.checked_sub(1).is_some_and(|last| address <= self.sections[last].end)
    }

    /// Returns the symbol at or before an address in its section, and the address's distance from it; the section's symbol,
    /// if there is no other symbol, as for a compiler's constants.
    pub(super) fn symbol_at(&self, address: u64) -> Result<(&'o str, u64), UnimportedReason> {
        let found = self.before(&self.symbols, address).or_else(|| self.before(&self.of_sections, address));
        found.ok_or(UnimportedReason::UnknownSymbol(address))
    }

    /// Returns the last of these symbols at or before an address in its section, and the address's distance from it: a symbol
    /// in another section moves independently.
    fn before(&self, symbols: &[(u64, &'o str)], address: u64) -> Option<(&'o str, u64)> {
        let section = |address: u64| {
            let before = self.sections.partition_point(|range| range.start <= address);
            before.checked_sub(1).filter(|&last| address <= self.sections[last].end)
        };
        let count = symbols.partition_point(|&(start, _)| start <= address);
        let (start, name) = count.checked_sub(1).map(|last| symbols[last])?;
        (section(start) == section(address)).then_some((name, address - start))
    }

    /// Returns an offset in thread-local storage as the model states it.
    pub(super) fn thread_local(&self, m: &mut Builder, offset: u64) -> Option<Address> {
        if self.is_linked {
            return Some(Address::Constant(offset));
        }
        let count = self.thread_local.partition_point(|&(start, _)| start <= offset);
        let (start, name) = count.checked_sub(1).map(|last| self.thread_local[last])?;
        Some(Address::Symbol(m.symbol(name), offset - start))
    }

    /// Returns the address that an expression refers to, as the model states it.
    pub(super) fn address(&self, m: &mut Builder, address: u64) -> Result<Address, UnimportedReason> {
        if self.are_fixed {
            return Ok(Address::Constant(address));
        }
        let (name, by) = self.symbol_at(address)?;
        Ok(Address::Symbol(m.symbol(name), by))
    }

    /// Whether a function's range is code of the object. A linker moves the functions that it drops to address 0. In a program
    /// that is linked at 0, other code is there, and the range of a dropped function can end outside that code's section.
    pub(super) fn have_code(&self, dwarf: &Dwarf<'_>, range: &Range<u64>) -> bool {
        let is_dropped = self.are_fixed && range.start == 0 && range.end > 0 && !dwarf.is_code(range.end - 1);
        dwarf.is_code(range.start) && !is_dropped
    }

    /// Returns the address of code that an entry or a row describes, as the model states it. A linker can take the symbol of
    /// an inline or weak function from another file: the address is then that of the section, so that the entry stays with its
    /// code.
    pub(super) fn code_address(&self, m: &mut Builder, address: u64) -> Result<Address, UnimportedReason> {
        if self.are_fixed || self.is_cubin {
            return self.address(m, address);
        }
        let at = self.symbol_at(address)?;
        let kept = self.before(&self.kept, address);
        let (name, by) = match kept {
            Some(kept) if kept.1 == at.1 => kept,
            _ => self
                .before(&self.of_sections, address)
                .or(kept)
                .ok_or(UnimportedReason::UnknownSymbol(address))?,
        };
        Ok(Address::Symbol(m.symbol(name), by))
    }
}

/// Whether an address tells that it is in a section. A cubin's memories for data are separate, and several of them begin at 0.
fn is_placed(object: &Object<'_>, section: &ElfSection<'_>) -> bool {
    section.is_loaded() && !(object.is_cubin() && section.address == 0)
}

/// Returns symbols by address; at one address, the best name is the last.
fn sorted<'o>(symbols: impl IntoIterator<Item = &'o ElfSymbol<'o>>) -> Vec<(u64, &'o str)> {
    let ranked = symbols.into_iter().map(|symbol| {
        let is_typed = matches!(symbol.kind, ElfSymbolKind::Func | ElfSymbolKind::Object);
        (symbol.address, is_typed, symbol.is_global, &*symbol.name)
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort();
    ranked.into_iter().map(|(address, _, _, name)| (address, name)).collect()
}

/// Returns the symbols of sections with an address of their own, whose names no other symbol has, sorted by address.
fn section_symbols<'o>(object: &'o Object<'_>) -> Vec<(u64, &'o str)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for symbol in object.symbols() {
        *counts.entry(&symbol.name).or_default() += 1;
    }
    let is_in_memory = |index: usize| {
        object.sections().get(index).is_some_and(|section| is_placed(object, section) && section.size > 0)
    };
    let symbols = object.symbols().iter().filter(|symbol| {
        symbol.kind == ElfSymbolKind::Section
            && symbol.section.is_some_and(is_in_memory)
            && counts.get(&*symbol.name) == Some(&1)
    });
    let mut symbols: Vec<(u64, &str)> = symbols.map(|symbol| (symbol.address, &*symbol.name)).collect();
    symbols.sort_unstable();
    symbols
}
