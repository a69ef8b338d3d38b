//! Concatenation into sections. Only this module knows where each unit's part in a section begins.

mod abbreviations;
mod lookup;
mod strings;

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexMap;
use indexmap::map::Entry;

use super::frame_table::FrameTables;
use super::lowered::{Lowered, LoweredUnit, SplitUnit, TypeUnit};
use super::section::{LIMIT, Part, PerSection, Progress, SectionContents, section, too_large};
use super::units::Units;
use crate::emit::format::Format;
use crate::emit::info::{UnitEntry, unwritten};
use crate::emit::lists::FinishedLists;
use crate::emit::pubs::PublicUnit;
use crate::emit::strings::Strings;
use crate::emit::{Relocation, RelocationTarget, Section};
use crate::error::{ErrorKind, Result};
use crate::model::Module;
use crate::omission::Omission;
use abbreviations::AbbreviationTables;
use lookup::LookupTables;
use strings::StringSections;

/// Sections, to which units are appended in order.
pub(super) struct Linker {
    format: Format,
    /// Section limit in bytes.
    limit: u64,
    parts: PerSection<SectionContents>,
    strings: StringSections,
    abbreviations: AbbreviationTables,
    lookup: LookupTables,
    frames: FrameTables,
    register_map: SectionContents,
    register_types: SectionContents,
    /// Each unit's offset in `.debug_info`.
    starts: Vec<u64>,
    of_module: LastModule,
    /// Type units by signature, each with its abbreviation table's index.
    type_units: IndexMap<u64, (Part, usize), DefaultHashBuilder>,
    omissions: Vec<Omission>,
    split: Vec<SplitUnit>,
    /// Offsets of the macros that several of the module's units import, by their numbers.
    macro_lists: HashMap<u64, u64>,
}

/// Facts about the last module's units, which refer to each other.
#[derive(Default)]
struct LastModule {
    /// Number of units in earlier modules.
    first: usize,
    /// Each unit's entry offsets.
    offsets: Vec<Vec<u32>>,
    /// Number of earlier relocations in `.debug_info` and in the location lists.
    relocations: [usize; 2],
}

impl Linker {
    /// Returns a linker for units with one target and one consumer.
    pub(super) fn new(units: &Units<'_>) -> Self {
        Self {
            format: units.format,
            limit: if units.format.offset_bytes == 4 { LIMIT } else { u64::MAX },
            parts: PerSection::default(),
            strings: StringSections::new(units.module),
            abbreviations: AbbreviationTables::default(),
            lookup: LookupTables::new(units.consumer.tables),
            frames: FrameTables::new(units),
            register_map: SectionContents::default(),
            register_types: SectionContents::default(),
            starts: Vec::new(),
            of_module: LastModule::default(),
            type_units: IndexMap::default(),
            omissions: Vec::new(),
            split: Vec::new(),
            macro_lists: HashMap::new(),
        }
    }

    /// Appends a unit. Units come in the module's order; [`end_module`](Self::end_module) follows the last.
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
        let PerSection { info, loclists, rnglists, addr, line, macros, str_offsets, inlined } =
            &mut self.parts;
        let indices = str_offsets.bytes.len() as u64;
        // A skeleton's strings are in the split file, except those that it refers to by index.
        if self.format.version >= 5 && !(unit.split.is_some() && unit.strings.is_empty()) {
            self.strings.write_indices(units, &unit.strings, str_offsets, progress);
        }
        let bytes = unit.info.bytes.len() as u64;
        let (start, first_info) = info.append(unit.info, progress);
        let (loclists_start, first_loclists) = loclists.append(lists(unit.loclists), progress);
        let (rnglists_start, _) = rnglists.append(lists(unit.rnglists), progress);
        let (addr_start, _) = addr.append(unit.addresses, progress);
        let (line_start, first_line) = line.append(unit.line, progress);
        let (inlined_start, _) = inlined.append(unit.nvidia.inlined_names, progress);
        let (macros_start, first_macro) = macros.append(unit.macros.part, progress);
        self.macro_lists.extend(unit.macros.lists.iter().map(|&(number, at)| (number, macros_start + at)));
        let bases = PerSection {
            info: start,
            loclists: loclists_start,
            rnglists: rnglists_start,
            addr: addr_start,
            line: line_start,
            macros: macros_start,
            str_offsets: indices,
            inlined: inlined_start,
        };
        self.register_map.append(unit.nvidia.register_map, progress);
        self.register_types.append(unit.nvidia.register_types, progress);
        // The unit header's relocation is the first.
        let table = self.abbreviations.share(unit.abbreviations);
        self.abbreviations.refer(info.relocations.get(first_info), table);
        for (section, first) in
            [(info, first_info), (loclists, first_loclists), (line, first_line), (macros, first_macro)]
        {
            self.strings.relocate(units, &mut section.relocations[first..], bases);
        }
        // The list of another unit has the offset that it was written at.
        for relocation in &mut macros.relocations[first_macro..] {
            if relocation.target == RelocationTarget::Section(".debug_macro") {
                let number = relocation.addend - macros_start;
                relocation.addend = self.macro_lists.get(&number).copied().unwrap_or(0);
            }
        }
        self.starts.push(start);
        self.of_module.offsets.push(unit.offsets);
        for TypeUnit { signature, mut info } in unit.type_units {
            // Modules can have equal type units, and a linker would drop all but one: the first is kept.
            if let Entry::Vacant(vacant) = self.type_units.entry(signature) {
                self.strings.relocate(units, &mut info.relocations, bases);
                vacant.insert((info, table));
            }
        }
        self.frames.push(units, unit.frames)?;
        self.omissions.extend(unit.omissions);
        self.split.extend(unit.split);
        self.lookup.push(units, PublicUnit { offset: start, bytes }, &unit.code, unit.named);
        Ok(())
    }

    /// Ends a module's units: resolves the references between them, and adds their names to the name index.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] for a reference to an entry that no unit has.
    pub(super) fn end_module(&mut self, units: &Units<'_>) -> Result<()> {
        let LastModule { first, offsets, relocations } = core::mem::take(&mut self.of_module);
        let starts = &self.starts[first..];
        let PerSection { info, loclists, .. } = &mut self.parts;
        for (section, settled) in [&mut *info, &mut *loclists].into_iter().zip(relocations) {
            if section.elsewhere.is_empty() {
                continue;
            }
            for (at, bytes, UnitEntry { unit, entry }) in section.elsewhere.drain(..) {
                let offset = offsets[unit as usize].get(entry.0 as usize).copied().unwrap_or(0);
                // The unit header is at offset 0, so an entry with this offset was not written.
                if offset == 0 {
                    return Err(unwritten());
                }
                section.relocations.push(Relocation {
                    offset: at,
                    bytes,
                    target: RelocationTarget::Section(".debug_info"),
                    addend: starts[unit as usize] + u64::from(offset),
                });
            }
            // The references between units were appended after the other relocations, which ascend.
            section.relocations[settled..].sort_by_key(|relocation| relocation.offset);
        }
        let relocations = [info.relocations.len(), loclists.relocations.len()];
        self.lookup.end_module(units, &mut self.strings, first);
        self.of_module = LastModule { first: self.starts.len(), relocations, ..LastModule::default() };
        Ok(())
    }

    /// Appends all units in a module, in any order.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where a unit is missing or occurs twice.
    pub(super) fn append_all(&mut self, units: &Units<'_>, mut lowered: Vec<LoweredUnit>) -> Result<()> {
        // Threads finish in any order, on which the bytes must not depend.
        lowered.sort_by_key(|unit| unit.unit);
        if !lowered.iter().map(|unit| unit.unit).eq(units.module.units.keys()) {
            return Err(ErrorKind::UnknownId(
                "unit list like this: a unit is missing or occurs twice".into(),
            )
            .into());
        }
        lowered.into_iter().try_for_each(|unit| self.push(units, unit))?;
        self.end_module(units)
    }

    /// Returns the omissions since the last call.
    pub(super) fn take_omissions(&mut self) -> Vec<Omission> {
        core::mem::take(&mut self.omissions)
    }

    /// Begins another module.
    pub(super) fn begin_module(&mut self, module: &Module) {
        self.strings.begin_module(module);
        self.frames.renumber();
        self.macro_lists.clear();
    }

    /// Ends the sections.
    pub(super) fn finish(mut self) -> Result<Lowered> {
        let names = self.lookup.name_index(self.format, &self.strings, &self.starts)?;
        let (abbrev, tables) = self.abbreviations.finish(&mut self.parts.info.relocations);
        let is_five = self.format.version >= 5;
        let name = |five, older| if is_five { five } else { older };
        let whole = |name, contents: SectionContents| section(name, contents.bytes, contents.relocations);
        let strings =
            |name, strings: Strings| Section { is_strings: true, ..section(name, strings.bytes, Vec::new()) };
        let mut sections =
            vec![section(".debug_abbrev", abbrev, Vec::new()), whole(".debug_info", self.parts.info)];
        sections.extend(self.type_units.into_iter().map(|(signature, (mut info, table))| {
            // As in every unit header, the first relocation refers to the abbreviation table.
            if let Some(relocation) = info.relocations.first_mut() {
                relocation.addend = tables[table];
            }
            let name = name(".debug_info", ".debug_types");
            Section { group: Some(signature), ..section(name, info.bytes, info.relocations) }
        }));
        sections.extend([
            whole(name(".debug_loclists", ".debug_loc"), self.parts.loclists),
            whole(name(".debug_rnglists", ".debug_ranges"), self.parts.rnglists),
            whole(".debug_addr", self.parts.addr),
            whole(".debug_str_offsets", self.parts.str_offsets),
            strings(".debug_str", self.strings.strings),
            // A consumer with these names has no other strings outside entries.
            whole(".debug_str", self.parts.inlined),
            whole(".debug_line", self.parts.line),
            strings(".debug_line_str", self.strings.line_strings),
            whole(name(".debug_macro", ".debug_macinfo"), self.parts.macros),
            whole(".debug_names", names),
            whole(".debug_aranges", self.lookup.aranges),
            whole(".debug_pubnames", self.lookup.pubnames),
            whole(".debug_pubtypes", self.lookup.pubtypes),
            whole(".nv_debug_info_reg_sass", self.register_map),
            whole(".nv_debug_info_reg_type", self.register_types),
        ]);
        sections.extend(self.frames.sections());
        // Tables that the consumer does not want, or that have no contents, leave empty sections.
        sections.retain(|section| !section.bytes.is_empty());
        for section in &sections {
            if section.bytes.len() as u64 > self.limit {
                return Err(too_large(section.bytes.len(), self.limit).in_section(section.name));
            }
        }
        Ok(Lowered { sections, omissions: self.omissions, lines: None, split: self.split })
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

    /// Lowers the module with a different section limit.
    fn joined(format: gimli::Format, limit: Option<u64>) -> Result<Lowered> {
        let module = module();
        let mut consumer = Consumer::dwarf5();
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
        let module = module();
        let mut consumer = Consumer::dwarf5();
        consumer.format = gimli::Format::Dwarf64;
        let units = Units::new(&module, &consumer, Policy::Strict)?;
        assert_eq!(Linker::new(&units).limit, u64::MAX);
        joined(gimli::Format::Dwarf64, Some(0)).map(drop)
    }
}
