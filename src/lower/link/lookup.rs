//! Lookup tables by name and by address, for all units.

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use super::strings::StringSections;
use crate::consumer::Tables;
use crate::emit::RelocationTarget;
use crate::emit::aranges::{self, AddressRange};
use crate::emit::format::Format;
use crate::emit::named::{NamedEntries, NamedEntry, NamedKind};
use crate::emit::names::{IndexEntry, IndexName, IndexUnit, NameIndex, Parent};
use crate::emit::pubs::{self, PublicUnit};
use crate::error::Result;
use crate::lower::lists::joined_code;
use crate::lower::section::SectionContents;
use crate::lower::strings::{anonymous, text};
use crate::lower::units::Units;
use crate::model::{Address, FunctionId, Module};

/// Tables that the consumer has.
pub(super) struct LookupTables {
    wanted: Tables,
    pub(super) aranges: SectionContents,
    pub(super) pubnames: SectionContents,
    pub(super) pubtypes: SectionContents,
    /// The name index's names, as offsets in `.debug_str`.
    names: IndexSet<u64, DefaultHashBuilder>,
    /// Name index entries.
    entries: Vec<IndexEntry>,
    /// Name index entries for each unit in the last module.
    of_module: Vec<Vec<NamedEntry>>,
}

impl LookupTables {
    pub(super) fn new(wanted: Tables) -> Self {
        Self {
            wanted,
            aranges: SectionContents::default(),
            pubnames: SectionContents::default(),
            pubtypes: SectionContents::default(),
            names: IndexSet::default(),
            entries: Vec::new(),
            of_module: Vec::new(),
        }
    }

    /// Appends a unit's functions with code and its named entries.
    pub(super) fn push(
        &mut self,
        units: &Units<'_>,
        unit: PublicUnit,
        code: &[FunctionId],
        named: NamedEntries,
    ) {
        if self.wanted.aranges && !code.is_empty() {
            let ranges = joined_code(units.module, code).into_iter();
            let ranges = ranges.map(|(address, bytes)| address_range(units.module, address, bytes));
            let out = &mut self.aranges;
            aranges::write(units.format, unit.offset, ranges, &mut out.bytes, &mut out.relocations);
        }
        if self.wanted.pubs {
            for (out, kinds) in [
                (&mut self.pubnames, [NamedKind::Code, NamedKind::Data]),
                (&mut self.pubtypes, [NamedKind::Type; 2]),
            ] {
                let entries = public(units, &named, kinds, self.wanted);
                if !entries.is_empty() {
                    let entries = entries.iter().map(|(offset, name)| (*offset, name.as_str()));
                    pubs::write(units.format, unit, entries, &mut out.bytes, &mut out.relocations);
                }
            }
        }
        // The index refers to strings by offset, so the entries wait until the module's strings have offsets.
        if self.wanted.names {
            self.of_module.push(named.all);
        }
    }

    /// Adds a module's names to the name index. `first` is the index of the module's first unit.
    pub(super) fn end_module(&mut self, units: &Units<'_>, strings: &mut StringSections, first: usize) {
        for (unit, named) in core::mem::take(&mut self.of_module).into_iter().enumerate() {
            // An entry with two names has two index entries; its children refer to the first.
            let mut places = Vec::with_capacity(named.len());
            for one in named {
                places.push(self.entries.len() as u32);
                let parent =
                    one.parent.map_or(Parent::NotIndexed, |parent| Parent::Entry(places[parent as usize]));
                let names = [Some(one.name), one.linkage_name.map(Some)];
                for name in names.into_iter().flatten() {
                    // A string that is not longer than an offset may not be in `.debug_str` yet.
                    let name = self.names.insert_full(strings.offset(units, name)).0 as u32;
                    let unit = IndexUnit::Compile((first + unit) as u32);
                    self.entries.push(IndexEntry { name, tag: one.tag, unit, offset: one.offset, parent });
                }
            }
        }
    }

    /// Encodes the name index, `.debug_names`, for the units that start at these offsets.
    pub(super) fn name_index(
        &self,
        format: Format,
        strings: &StringSections,
        starts: &[u64],
    ) -> Result<SectionContents> {
        let mut whole = SectionContents::default();
        // A name index without units is useless.
        if !self.wanted.names || starts.is_empty() {
            return Ok(whole);
        }
        let name = |&offset: &u64| IndexName { text: strings.strings.text(offset), offset };
        let names: Vec<IndexName<'_>> = self.names.iter().map(name).collect();
        let index = NameIndex {
            format,
            compile_units: starts,
            local_type_units: &[],
            foreign_type_units: &[],
            names: &names,
            entries: &self.entries,
        };
        index.write(&mut whole.bytes, &mut whole.relocations)?;
        Ok(whole)
    }
}

/// Returns an address range of the table.
fn address_range(module: &Module, address: Address, bytes: u64) -> AddressRange {
    let (symbol, addend) = match address {
        Address::Symbol(symbol, addend) => {
            let name = module.symbol_name(symbol).to_owned().into();
            (Some(RelocationTarget::Symbol(name)), addend)
        }
        Address::Constant(address) => (None, address),
    };
    AddressRange { symbol, addend, bytes }
}

/// Public entries with these kinds, by offset, each with its linkage name, if that is wanted, or its qualified name.
fn public(
    units: &Units<'_>,
    named: &NamedEntries,
    kinds: [NamedKind; 2],
    wanted: Tables,
) -> Vec<(u64, String)> {
    let is_public = |entry: &NamedEntry| {
        entry.is_global && (entry.is_external || entry.kind == NamedKind::Type) && kinds.contains(&entry.kind)
    };
    let anonymous = anonymous(units);
    let mut entries = Vec::new();
    for entry in named.all.iter().filter(|entry| is_public(entry)) {
        if let Some(name) = entry.linkage_name.filter(|_| wanted.has_public_linkage_names) {
            entries.push((entry.offset.into(), text(units, name).into_owned()));
            continue;
        }
        let around = |around: Option<u32>| around.map(|around| &named.scopes[around as usize]);
        let scopes = core::iter::successors(around(entry.around), |scope| around(scope.around));
        let names = core::iter::once(entry.name).chain(scopes.map(|scope| scope.name));
        // Scopes come from the inside out, but a qualified name begins with the outermost scope.
        let mut names: Vec<_> = names.map(|name| text(units, name.unwrap_or(anonymous))).collect();
        names.reverse();
        entries.push((entry.offset.into(), names.join("::")));
    }
    entries
}
