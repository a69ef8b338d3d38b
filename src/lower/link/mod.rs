//! Concatenation of units into sections. Only this module knows the offset of each unit's part of a section.

use std::collections::VecDeque;

use hashbrown::{DefaultHashBuilder, HashSet};
use indexmap::IndexSet;

use super::frame_table::FrameTables;
use super::lowered::{Lowered, LoweredUnit, SplitUnit, TypeUnit};
use super::section::{LIMIT, Part, Progress, SectionContents, reserve};
use super::strings::{ANONYMOUS, text};
use super::units::Units;
use crate::consumer::Tables;
use crate::emit::abbrev::Abbreviations;
use crate::emit::aranges::{self, AddressRange};
use crate::emit::format::Format;
use crate::emit::info::UnitEntry;
use crate::emit::lists::FinishedLists;
use crate::emit::named::{NamedEntries, NamedEntry, NamedKind};
use crate::emit::names::{IndexEntry, IndexName, IndexUnit, NameIndex, Parent};
use crate::emit::pubs::{self, PublicUnit};
use crate::emit::strings::{StringIndices, Strings};
use crate::emit::{Relocation, RelocationTarget, Section};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Address, FunctionId, Module, Numbering};
use crate::omission::Omission;

/// Sections, to which units are appended in order.
pub(super) struct Linker {
    format: Format,
    tables: Tables,
    /// Limit of a section in bytes.
    limit: u64,
    info: SectionContents,
    loclists: SectionContents,
    rnglists: SectionContents,
    addr: SectionContents,
    line: SectionContents,
    macros: SectionContents,
    aranges: SectionContents,
    pubnames: SectionContents,
    pubtypes: SectionContents,
    frames: FrameTables,
    str_offsets: SectionContents,
    strings: Strings,
    line_strings: Strings,
    abbrev: Vec<u8>,
    /// Offset in `.debug_abbrev` of each table that is written.
    places: Vec<u64>,
    /// Last tables, which later units can share or extend.
    last_tables: VecDeque<Abbreviations>,
    /// Units: offset in `.debug_info`, and the offset of the relocation of its abbreviation table, with the
    /// table's index.
    starts: Vec<u64>,
    table_of: Vec<(u64, usize)>,
    /// Offset in `.debug_str` of each name of the name index, and its entries.
    names: IndexSet<u64, DefaultHashBuilder>,
    entries: Vec<IndexEntry>,
    of_module: LastModule,
    /// Type units with the indices of their abbreviation tables.
    type_units: Vec<(TypeUnit, usize)>,
    signatures: HashSet<u64>,
    omissions: Vec<Omission>,
    split: Vec<SplitUnit>,
    /// Numbers of the last module's strings, and how many strings it has.
    numbering: (Numbering, usize),
}

/// Facts of the units of the last module, which refer to each other.
#[derive(Default)]
struct LastModule {
    /// Number of units of earlier modules.
    first: usize,
    /// Offsets of the entries of each unit.
    offsets: Vec<Vec<u32>>,
    /// Entries of each unit for the name index.
    named: Vec<Vec<NamedEntry>>,
    /// Number of earlier relocations of `.debug_info` and of the location lists.
    relocations: [usize; 2],
}

/// Offsets of a unit's parts in their sections, added to the addends of its relocations.
#[derive(Default, Clone, Copy)]
struct Bases {
    info: u64,
    loclists: u64,
    rnglists: u64,
    addr: u64,
    line: u64,
    macros: u64,
    str_offsets: u64,
}

/// Number of recent abbreviation tables that are searched for one that a unit can share.
const TABLES: usize = 8;

impl Linker {
    /// Returns a linker for units of a target and a consumer.
    pub(super) fn new(units: &Units<'_>) -> Self {
        Self {
            format: units.format,
            tables: units.consumer.tables,
            limit: if units.format.offset_bytes == 4 { LIMIT } else { u64::MAX },
            info: SectionContents::default(),
            loclists: SectionContents::default(),
            rnglists: SectionContents::default(),
            addr: SectionContents::default(),
            line: SectionContents::default(),
            macros: SectionContents::default(),
            aranges: SectionContents::default(),
            pubnames: SectionContents::default(),
            pubtypes: SectionContents::default(),
            frames: FrameTables::new(units),
            str_offsets: SectionContents::default(),
            strings: Strings::default(),
            line_strings: Strings::default(),
            abbrev: Vec::new(),
            places: Vec::new(),
            last_tables: VecDeque::new(),
            starts: Vec::new(),
            table_of: Vec::new(),
            names: IndexSet::default(),
            entries: Vec::new(),
            of_module: LastModule::default(),
            type_units: Vec::new(),
            signatures: HashSet::default(),
            omissions: Vec::new(),
            split: Vec::new(),
            numbering: (units.module.strings.numbering().clone(), units.module.strings.len()),
        }
    }

    /// Appends a unit of a module. Units come in the order of the module; [`end_module`](Self::end_module) follows the
    /// last.
    ///
    /// # Errors
    /// [`ErrorKind::Inexpressible`] where code at a constant address has a frame in `.eh_frame`.
    pub(super) fn push(&mut self, units: &Units<'_>, unit: LoweredUnit) -> Result<()> {
        let lists = |lists: FinishedLists| Part {
            bytes: lists.bytes,
            relocations: lists.relocations,
            elsewhere: lists.elsewhere,
        };
        let done = self.starts.len();
        let left = (self.of_module.first + units.module.units.len()).saturating_sub(done + 1);
        let progress = Progress { done, left };
        let bases = Bases { str_offsets: self.str_offsets.bytes.len() as u64, ..Bases::default() };
        // The strings of a skeleton are in the split file, except those that it refers to by index.
        if self.format.version >= 5 && !(unit.split.is_some() && unit.strings.is_empty()) {
            let strings = &mut self.strings;
            let offset = |number| strings.offset(number, || text(units, number));
            let out = &mut self.str_offsets;
            reserve(&mut out.relocations, unit.strings.len(), progress);
            reserve(&mut out.bytes, unit.strings.len() * usize::from(self.format.offset_bytes), progress);
            StringIndices::write(&unit.strings, self.format, offset, &mut out.bytes, &mut out.relocations);
        }
        let bytes = unit.info.bytes.len() as u64;
        let (info, first_info) = self.info.append(unit.info, progress);
        let (loclists, first_loclists) = self.loclists.append(lists(unit.loclists), progress);
        let (rnglists, _) = self.rnglists.append(lists(unit.rnglists), progress);
        let (addr, _) = self.addr.append(unit.addresses, progress);
        let (line, first_line) = self.line.append(unit.line, progress);
        let (macros, first_macro) = self.macros.append(unit.macros, progress);
        let bases = Bases { info, loclists, rnglists, addr, line, macros, ..bases };
        for (section, first) in [
            (&mut self.info, first_info),
            (&mut self.loclists, first_loclists),
            (&mut self.line, first_line),
            (&mut self.macros, first_macro),
        ] {
            let texts = (&mut self.strings, &mut self.line_strings);
            relocate(&mut section.relocations[first..], units, texts, bases);
        }
        self.starts.push(info);
        self.of_module.offsets.push(unit.offsets);
        // The relocation of the unit header is the first.
        let table = self.table(unit.abbreviations);
        self.table_of.extend(self.info.relocations.get(first_info).map(|first| (first.offset, table)));
        for TypeUnit { signature, mut info } in unit.type_units {
            // Modules can have equal type units: the first is kept.
            if !self.signatures.insert(signature) {
                continue;
            }
            relocate(&mut info.relocations, units, (&mut self.strings, &mut self.line_strings), bases);
            self.type_units.push((TypeUnit { signature, info }, table));
        }
        self.frames.push(units, unit.frames)?;
        self.omissions.extend(unit.omissions);
        self.split.extend(unit.split);
        let tables = self.tables;
        if tables.aranges && !unit.code.is_empty() {
            let ranges = unit.code.iter().map(|&id| address_range(units.module, id));
            let out = &mut self.aranges;
            aranges::write(self.format, info, ranges, &mut out.bytes, &mut out.relocations);
        }
        if tables.pubs {
            let unit_place = PublicUnit { offset: info, bytes };
            for (out, kinds) in [
                (&mut self.pubnames, [NamedKind::Code, NamedKind::Data]),
                (&mut self.pubtypes, [NamedKind::Type; 2]),
            ] {
                let entries = public(units, &unit.named, kinds);
                if !entries.is_empty() {
                    let entries = entries.iter().map(|(offset, name)| (*offset, name.as_str()));
                    pubs::write(self.format, unit_place, entries, &mut out.bytes, &mut out.relocations);
                }
            }
        }
        if tables.names {
            self.of_module.named.push(unit.named.all);
        }
        Ok(())
    }

    /// Ends the units of a module: resolves the references between them, and adds their names to the name index.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] for a reference to an entry that no unit has.
    pub(super) fn end_module(&mut self, units: &Units<'_>) -> Result<()> {
        let LastModule { first, offsets, named, relocations } = core::mem::take(&mut self.of_module);
        let starts = &self.starts[first..];
        for (section, settled) in [&mut self.info, &mut self.loclists].into_iter().zip(relocations) {
            if section.elsewhere.is_empty() {
                continue;
            }
            for (at, bytes, UnitEntry { unit, entry }) in section.elsewhere.drain(..) {
                let offset = offsets[unit as usize].get(entry.0 as usize).copied().unwrap_or(0);
                if offset == 0 {
                    return Err(crate::emit::info::nowhere());
                }
                section.relocations.push(Relocation {
                    offset: at,
                    bytes,
                    target: RelocationTarget::Section(".debug_info"),
                    addend: starts[unit as usize] + u64::from(offset),
                });
            }
            section.relocations[settled..].sort_by_key(|relocation| relocation.offset);
        }
        // A string that is not longer than an offset may not be in `.debug_str` yet.
        let anonymous = units.module.strings.len() as u32 + ANONYMOUS;
        for (unit, named) in named.into_iter().enumerate() {
            // An entry with two names has two index entries; its children refer to the first.
            let mut places = Vec::with_capacity(named.len());
            for one in named {
                places.push(self.entries.len() as u32);
                let parent =
                    one.parent.map_or(Parent::NotIndexed, |parent| Parent::Entry(places[parent as usize]));
                let names = [Some(one.name), one.linkage_name.map(Some)];
                for name in names.into_iter().flatten() {
                    let number = name.unwrap_or(anonymous);
                    let offset = self.strings.offset(number, || text(units, number));
                    let name = self.names.insert_full(offset).0 as u32;
                    let unit = IndexUnit::Compile((first + unit) as u32);
                    self.entries.push(IndexEntry { name, tag: one.tag, unit, offset: one.offset, parent });
                }
            }
        }
        self.of_module = LastModule {
            first: self.starts.len(),
            relocations: [self.info.relocations.len(), self.loclists.relocations.len()],
            ..LastModule::default()
        };
        Ok(())
    }

    /// Appends all units of a module, in any order.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where a unit is missing or occurs twice.
    pub(super) fn append_all(&mut self, units: &Units<'_>, mut lowered: Vec<LoweredUnit>) -> Result<()> {
        lowered.sort_by_key(|unit| unit.unit);
        if !lowered.iter().map(|unit| unit.unit).eq(units.module.units.keys()) {
            return Err(ErrorKind::UnknownId("each unit once".into()).into());
        }
        lowered.into_iter().try_for_each(|unit| self.push(units, unit))?;
        self.end_module(units)
    }

    /// Returns the omissions of the units since the last call.
    pub(super) fn take_omissions(&mut self) -> Vec<Omission> {
        core::mem::take(&mut self.omissions)
    }

    /// Begins another module. Its strings have other numbers, unless they are those of the last module and more.
    pub(super) fn begin_module(&mut self, module: &Module) {
        let (numbering, count) = &mut self.numbering;
        let strings = &module.strings;
        let kept = if *numbering == *strings.numbering() { strings.len().min(*count) } else { 0 };
        (*numbering, *count) = (strings.numbering().clone(), strings.len());
        self.strings.renumber(kept);
        // Number 0 is the empty string.
        self.line_strings.renumber(kept + usize::from(kept > 0));
        self.frames.renumber();
    }

    /// Encodes the name index, `.debug_names`.
    fn index(&self) -> Result<SectionContents> {
        let mut whole = SectionContents::default();
        // A name index of no units is useless.
        if !self.tables.names || self.starts.is_empty() {
            return Ok(whole);
        }
        let name = |&offset: &u64| IndexName { text: self.strings.text(offset), offset };
        let names: Vec<IndexName<'_>> = self.names.iter().map(name).collect();
        let index = NameIndex {
            format: self.format,
            compile_units: &self.starts,
            local_type_units: &[],
            foreign_type_units: &[],
            names: &names,
            entries: &self.entries,
        };
        index.write(&mut whole.bytes, &mut whole.relocations)?;
        Ok(whole)
    }

    /// Returns the index of a table in which all of a unit's abbreviations have the unit's codes.
    fn table(&mut self, abbreviations: Abbreviations) -> usize {
        for (index, table) in self.last_tables.iter_mut().enumerate().rev() {
            if table.is_prefix_of(&abbreviations) {
                *table = abbreviations;
            } else if !abbreviations.is_prefix_of(table) {
                continue;
            }
            return self.places.len() + index;
        }
        if self.last_tables.len() == TABLES {
            self.write_table();
        }
        self.last_tables.push_back(abbreviations);
        self.places.len() + self.last_tables.len() - 1
    }

    /// Writes the first table that is not written.
    fn write_table(&mut self) {
        if let Some(table) = self.last_tables.pop_front() {
            self.places.push(self.abbrev.len() as u64);
            table.write(&mut self.abbrev);
        }
    }

    /// Ends the sections.
    pub(super) fn finish(mut self) -> Result<Lowered> {
        while !self.last_tables.is_empty() {
            self.write_table();
        }
        let places = core::mem::take(&mut self.places);
        let mut relocations = self.info.relocations.iter_mut();
        for &(offset, table) in &self.table_of {
            // Relocations are in ascending order.
            if let Some(relocation) = relocations.find(|relocation| relocation.offset == offset) {
                relocation.addend = places[table];
            }
        }
        let names = self.index()?;
        let is_five = self.format.version >= 5;
        let name = |five, older| if is_five { five } else { older };
        let plain = |name, whole: SectionContents| Section {
            name,
            bytes: whole.bytes,
            relocations: whole.relocations,
            is_strings: false,
            group: None,
        };
        let strings = |name, strings: Strings| Section {
            name,
            bytes: strings.bytes,
            relocations: Vec::new(),
            is_strings: true,
            group: None,
        };
        let mut sections = vec![
            plain(".debug_abbrev", SectionContents { bytes: self.abbrev, ..SectionContents::default() }),
            plain(".debug_info", self.info),
        ];
        sections.extend(self.type_units.into_iter().map(|(TypeUnit { signature, mut info }, table)| {
            if let Some(relocation) = info.relocations.first_mut() {
                relocation.addend = places[table];
            }
            let name = name(".debug_info", ".debug_types");
            let is_strings = false;
            Section {
                name,
                bytes: info.bytes,
                relocations: info.relocations,
                is_strings,
                group: Some(signature),
            }
        }));
        sections.extend([
            plain(name(".debug_loclists", ".debug_loc"), self.loclists),
            plain(name(".debug_rnglists", ".debug_ranges"), self.rnglists),
            plain(".debug_addr", self.addr),
            plain(".debug_str_offsets", self.str_offsets),
            strings(".debug_str", self.strings),
            plain(".debug_line", self.line),
            strings(".debug_line_str", self.line_strings),
            plain(name(".debug_macro", ".debug_macinfo"), self.macros),
            plain(".debug_names", names),
            plain(".debug_aranges", self.aranges),
            plain(".debug_pubnames", self.pubnames),
            plain(".debug_pubtypes", self.pubtypes),
        ]);
        sections.extend(self.frames.sections());
        sections.retain(|section| !section.bytes.is_empty());
        for section in &sections {
            if section.bytes.len() as u64 > self.limit {
                let what = "the 32-bit DWARF format has sections of up to 4 GiB: use DWARF64";
                return Err(Error::new(ErrorKind::TooLarge(what.into())).in_section(section.name));
            }
        }
        Ok(Lowered { sections, omissions: self.omissions, lines: None, split: self.split })
    }
}

/// Address range of a function's code.
fn address_range(module: &Module, id: FunctionId) -> AddressRange {
    let function = &module.functions[id];
    let (symbol, addend) = match function.address {
        Some(Address::Symbol(symbol, addend)) => {
            let name = module.symbol_name(symbol).to_owned().into();
            (Some(RelocationTarget::Symbol(name)), addend)
        }
        Some(Address::Constant(address)) => (None, address),
        None => (None, 0),
    };
    AddressRange { symbol, addend, bytes: function.bytes }
}

/// Public entries of these kinds, by offset, each with its qualified name.
fn public(units: &Units<'_>, named: &NamedEntries, kinds: [NamedKind; 2]) -> Vec<(u64, String)> {
    let is_public = |one: &NamedEntry| {
        one.is_global && (one.is_external || one.kind == NamedKind::Type) && kinds.contains(&one.kind)
    };
    let anonymous = units.module.strings.len() as u32 + ANONYMOUS;
    let mut all = Vec::new();
    for one in named.all.iter().filter(|one| is_public(one)) {
        let around = |around: Option<u32>| around.map(|around| &named.scopes[around as usize]);
        let scopes = core::iter::successors(around(one.around), |scope| around(scope.around));
        let names = core::iter::once(one.name).chain(scopes.map(|scope| scope.name));
        let mut names: Vec<_> = names.map(|name| text(units, name.unwrap_or(anonymous))).collect();
        names.reverse();
        all.push((one.offset.into(), names.join("::")));
    }
    all
}

/// Rebases the addends of a unit's relocations to the start of the whole sections, and appends the strings that they
/// refer to.
fn relocate(
    relocations: &mut [Relocation],
    units: &Units<'_>,
    (strings, line_strings): (&mut Strings, &mut Strings),
    bases: Bases,
) {
    for relocation in relocations {
        let RelocationTarget::Section(name) = relocation.target else { continue };
        let number = relocation.addend as u32;
        relocation.addend = match name {
            ".debug_str" => strings.offset(number, || text(units, number)),
            // Number 0 is the empty string.
            ".debug_line_str" => {
                let text = || number.checked_sub(1).map(|number| text(units, number)).unwrap_or_default();
                line_strings.offset(number, text)
            }
            ".debug_info" => relocation.addend + bases.info,
            ".debug_loclists" | ".debug_loc" => relocation.addend + bases.loclists,
            ".debug_rnglists" | ".debug_ranges" => relocation.addend + bases.rnglists,
            ".debug_addr" => relocation.addend + bases.addr,
            ".debug_line" => relocation.addend + bases.line,
            ".debug_macro" | ".debug_macinfo" => relocation.addend + bases.macros,
            ".debug_str_offsets" => relocation.addend + bases.str_offsets,
            _ => relocation.addend,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::lower::{Consumer, Policy};
    use crate::model::{BaseEncoding, Module};
    use crate::target::Target;

    fn module() -> Module {
        let mut m = Builder::new(Target::x86_64());
        let unit = m.unit("a.c");
        m.base_type(unit, "a name that is longer than an offset", BaseEncoding::Signed, 32).expect("a type");
        m.finish().expect("a module")
    }

    /// Lowers the module with another section limit.
    fn joined(format: gimli::Format, limit: Option<u64>) -> Result<Lowered> {
        let (module, mut consumer) = (module(), Consumer::dwarf5());
        consumer.format = format;
        let units = Units::new(&module, &consumer, Policy::Strict)?;
        let mut linker = Linker::new(&units);
        if let (Some(limit), gimli::Format::Dwarf32) = (limit, format) {
            assert_eq!(linker.limit, 0xffff_fff0);
            linker.limit = limit;
        }
        units.push_all(&mut linker)?;
        linker.finish()
    }

    #[test]
    fn a_section_that_is_too_large_says_what_to_do() -> Result<()> {
        let sections = joined(gimli::Format::Dwarf32, None)?.sections;
        let largest = sections.iter().max_by_key(|section| section.bytes.len()).expect("a section");
        let limit = largest.bytes.len() as u64;
        assert_eq!(joined(gimli::Format::Dwarf32, Some(limit))?.sections, sections);
        let error = joined(gimli::Format::Dwarf32, Some(limit - 1)).expect_err("one byte too many");
        assert!(matches!(error.kind(), ErrorKind::TooLarge(what) if what.contains("use DWARF64")), "{error}");
        assert_eq!(error.at().section.as_deref(), Some(largest.name));
        Ok(())
    }

    #[test]
    fn the_64_bit_format_has_no_limit() -> Result<()> {
        let (module, mut consumer) = (module(), Consumer::dwarf5());
        consumer.format = gimli::Format::Dwarf64;
        let units = Units::new(&module, &consumer, Policy::Strict)?;
        assert_eq!(Linker::new(&units).limit, u64::MAX);
        joined(gimli::Format::Dwarf64, Some(0)).map(drop)
    }
}
