//! The sections of the result.

use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use super::copies::Gone;
use super::entries::{Entries, Moved, Writer};
use super::frames;
use super::kept::Part;
use super::lines::Sequence;
use super::lists::{ListKind, Lists};
use super::maps;
use super::names::{
    ABBREVIATIONS, ADDRESS_RANGES, FRAMES, INFO, LINES, LOCATIONS, NAMES, PTX_LINES, RANGES, STRINGS,
    TYPE_NAMES,
};
use super::read::Read;
use super::section::Copied;
use super::strings::Strings;
use super::tables;
use super::texts;
use crate::emit::elf::CubinSection;
use crate::error::Result;
use crate::import::{EqualTypes, UnimportedFact, UnimportedReason};
use crate::read::{AddressRanges, PublicNames, PublicSection};
use crate::rewrite::change::RewriteChange;
use crate::rewrite::options::RewriteOptions;

impl<'r, 'o> Read<'r, 'o> {
    /// Returns the new contents of sections, by name.
    pub(super) fn written(
        &self,
        parts: &[Part],
        equal: &EqualTypes,
        gone: &Gone,
        options: &RewriteOptions<'_>,
        changes: &mut Vec<RewriteChange>,
    ) -> Result<HashMap<&'r str, CubinSection<'r>>> {
        let mut new: HashMap<&str, CubinSection<'_>> = HashMap::new();
        let offsets_to = &self.offsets;
        let mut put = |name: &'r str, copied: Copied| -> Result<()> {
            new.insert(name, copied.finish(name, offsets_to)?);
            Ok(())
        };
        let mut strings = Strings::new(self.section(STRINGS));
        let repeated = texts::repeated(self.sections);
        let mut offsets = HashMap::new();
        let mut files: HashSet<&[u8]> = HashSet::new();
        for (programs, name) in self.programs.iter().zip([LINES, PTX_LINES]) {
            let Some(from) = self.section(name) else { continue };
            let mut to = Copied::with_room(&from);
            let units: HashSet<u64> = self.dwarf.units().iter().filter_map(|unit| unit.stmt_list).collect();
            for program in programs {
                let offset = program.range.start as u64;
                for sequence in program.sequences.iter().filter(|it| it.start.is_none()) {
                    changes.push(removed(name, sequence.range.start as u64, reason(sequence.is_replaced)));
                }
                let has_rows = program.sequences.iter().any(|it| it.start.is_some());
                // A unit has a program even without rows.
                let is_of_unit = name == LINES && units.contains(&offset);
                if !(has_rows || is_of_unit || program.sequences.is_empty()) {
                    continue;
                }
                if name == PTX_LINES {
                    files.extend(program.files.iter().map(|(_, name)| repeated.get(name).unwrap_or(name)));
                }
                let other_name = |name: &[u8]| repeated.get(name).map(|name| name.to_vec());
                let is_kept = |sequence: &Sequence| sequence.start.is_some();
                let moved = program.copy(&from, is_kept, other_name, &mut strings, offsets_to, &mut to)?;
                if name == LINES {
                    offsets.insert(offset, moved);
                }
            }
            put(name, to)?;
        }
        let mut locations = Lists::new(self.section(LOCATIONS), ListKind::Locations);
        let mut ranges = Lists::new(self.section(RANGES), ListKind::Ranges);
        if let Some(from) = self.section(INFO) {
            let moved = Moved {
                lines: &offsets,
                strings: &mut strings,
                locations: &mut locations,
                ranges: &mut ranges,
            };
            let writer = Writer {
                from,
                dwarf: self.dwarf,
                parts,
                equal,
                moved,
                offsets: &self.offsets,
                to: Entries { info: Copied::with_room(&from), ..Entries::default() },
                shapes: IndexMap::default(),
            };
            let mut entries = writer.write()?;
            self.tables(&entries, &mut put)?;
            put(INFO, core::mem::take(&mut entries.info))?;
            put(ABBREVIATIONS, Copied::from_bytes(entries.abbreviations))?;
        }
        put(LOCATIONS, locations.to)?;
        put(RANGES, ranges.to)?;
        put(STRINGS, Copied::from_bytes(strings.bytes))?;
        if let Some(from) = self.section(FRAMES) {
            let mut to = Copied::with_room(&from);
            let replaced = &self.replaced_frames;
            for offset in frames::copy(&from, &self.frames()?, replaced, offsets_to, &mut to)? {
                changes.push(removed(FRAMES, offset, reason(replaced.contains(&offset))));
            }
            put(FRAMES, to)?;
        }
        self.write_maps(gone, changes, &mut put)?;
        for section in self.sections.iter().filter(|it| texts::is_text(&it.name)) {
            let name = &*section.name;
            let is_unused = options.gc && !texts::is_named(name, &files);
            if is_unused || repeated.contains_key(name.as_bytes()) {
                put(name, Copied::default())?;
                continue;
            }
            let text = texts::single(&section.bytes);
            if text.len() < section.bytes.len() {
                put(name, Copied::from_bytes(text.to_vec()))?;
            }
        }
        Ok(new)
    }

    fn tables(&self, entries: &Entries, put: &mut impl FnMut(&'r str, Copied) -> Result<()>) -> Result<()> {
        let sections = self.dwarf.sections();
        for (name, kind) in [(NAMES, PublicSection::Names), (TYPE_NAMES, PublicSection::Types)] {
            if let Some(from) = self.section(name) {
                let mut to = Copied::default();
                tables::names(
                    &from,
                    &PublicNames::read_all(sections, kind)?,
                    entries,
                    &self.offsets,
                    &mut to,
                )?;
                put(name, to)?;
            }
        }
        if let Some(from) = self.section(ADDRESS_RANGES) {
            let mut to = Copied::default();
            tables::address_ranges(
                &from,
                &AddressRanges::read_all(sections)?,
                entries,
                &self.offsets,
                &mut to,
            )?;
            put(ADDRESS_RANGES, to)?;
        }
        Ok(())
    }

    fn write_maps(
        &self,
        gone: &Gone,
        changes: &mut Vec<RewriteChange>,
        put: &mut impl FnMut(&'r str, Copied) -> Result<()>,
    ) -> Result<()> {
        let is_gone = |index: usize| gone.maps.binary_search(&index).is_ok();
        for name in [maps::HOMES, maps::TYPES] {
            let Some(from) = self.section(name) else { continue };
            let mut to = Copied::with_room(&from);
            for (index, map) in self.maps.iter().enumerate() {
                let types = map.types.as_ref().map(|types| types.0.clone());
                let part = if name == maps::HOMES { Some(map.homes.clone()) } else { types };
                match part {
                    Some(part) if is_gone(index) && name == maps::HOMES => {
                        let reason = UnimportedReason::DiscardedCode;
                        changes.push(removed(name, part.start as u64, reason));
                    }
                    Some(part) if !is_gone(index) => to.part(&from, part)?,
                    _ => {}
                }
            }
            put(name, to)?;
        }
        Ok(())
    }
}

/// Why rows or a frame go.
fn reason(is_replaced: bool) -> UnimportedReason {
    if is_replaced { UnimportedReason::OtherCopy } else { UnimportedReason::DiscardedCode }
}

/// A fact that goes, besides entries.
fn removed(section: &'static str, offset: u64, reason: UnimportedReason) -> RewriteChange {
    RewriteChange::Removed(UnimportedFact::new(section, offset, reason))
}
