//! Linked cubins: nvlink concatenates the debug information of its inputs, and this makes it that of the linked code.
//!
//! A cubin has facts that no description has, such as the map of all PTX registers with their types, PTX lines, and rows
//! without entries. Its sections are therefore copied, part by part, and not imported:
//!
//! | part | what goes | what is stored once |
//! |---|---|---|
//! | entries | functions whose code is not in the file, and those of another copy | abbreviations; types on request |
//! | lists | those of functions that go | equal lists |
//! | both line tables | rows without relocation | function names |
//! | frames | those without relocation | |
//! | maps of registers, types | those of functions that go | |
//! | PTX texts | | equal texts |
//!
//! What stays keeps its bytes, apart from offsets; [`compare`] reads the result, and compares it with the original.

mod compare;
mod copies;
mod entries;
mod forms;
mod frames;
mod kept;
mod lines;
mod lists;
mod maps;
mod same;
mod section;
mod strings;
mod tables;
mod texts;

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use super::sizes;
use super::{RewriteChange, RewriteOptions, Rewritten, unsupported};
use crate::consumer::Consumer;
use crate::emit::elf::{CubinSection, cubin_sections, with_cubin_sections};
use crate::error::Result;
use crate::import::{EqualTypes, UnimportedFact, UnimportedReason};
use crate::read::{AddressRanges, Dwarf, FrameSection, Object, PublicNames, PublicSection, nvidia};
use copies::{Facts, Gone};
use entries::{Entries, Moved, Writer};
use kept::{OnlyReferred, Part};
use lines::Program;
use lists::{ListKind, Lists};
use maps::Map;
use section::{Copied, Original};
use strings::Strings;

const INFO: &str = ".debug_info";
const ABBREVIATIONS: &str = ".debug_abbrev";
const LINES: &str = ".debug_line";
const PTX_LINES: &str = ".nv_debug_line_sass";
const FRAMES: &str = ".debug_frame";
const LOCATIONS: &str = ".debug_loc";
const RANGES: &str = ".debug_ranges";
const STRINGS: &str = ".debug_str";
const NAMES: &str = ".debug_pubnames";
const TYPE_NAMES: &str = ".debug_pubtypes";
const ADDRESS_RANGES: &str = ".debug_aranges";
/// ptxas writes a single zero.
const MACROS: &str = ".debug_macinfo";

/// Rewrites a linked cubin.
///
/// # Errors
/// The errors of the readers; [`Unsupported`](crate::error::ErrorKind::Unsupported) for options and sections that cubins
/// do not have, and where the file does not say which copy of a function it has.
pub(super) fn rewrite(
    bytes: &[u8],
    object: &Object<'_>,
    dwarf: &Dwarf<'_>,
    options: &RewriteOptions<'_>,
) -> Result<Rewritten> {
    refuse(object, dwarf, options)?;
    let sections = cubin_sections(bytes)?;
    let read = Read::new(object, dwarf, &sections)?;
    let gone = copies::gone(&Facts {
        object,
        dwarf,
        programs: &read.programs[0],
        maps: &read.maps,
    })?;
    let equal = if options.dedupe { EqualTypes::new(dwarf) } else { EqualTypes::default() };
    let only_referred = if options.gc { OnlyReferred::Removed } else { OnlyReferred::Kept };
    let parts = kept::parts(dwarf, &gone, &equal, only_referred);
    let mut changes = Vec::new();
    removed_entries(dwarf, &gone, &mut changes);
    let mut new = read.written(&parts, &equal, &gone, options, &mut changes)?;
    let new: Vec<CubinSection<'_>> = sections
        .iter()
        .map(|section| new.remove(&*section.name).unwrap_or_else(|| section.clone()))
        .collect();
    let result = if new == sections { bytes.to_vec() } else { with_cubin_sections(bytes, &new)? };
    let after = Object::read(&result)?;
    compare::compare(&read, &parts, &equal, &gone, &after)?;
    let sizes = sizes::sizes(object, &after);
    Ok(Rewritten {
        object: result,
        consumer: Consumer::cuda_gdb_sass(),
        omissions: Vec::new(),
        unimported: Vec::new(),
        changes,
        merged_types: equal.count(),
        different_types: equal.different,
        sizes,
    })
}

/// Refuses what cubins do not have.
fn refuse(object: &Object<'_>, dwarf: &Dwarf<'_>, options: &RewriteOptions<'_>) -> Result<()> {
    if object.is_relocatable() {
        return Err(unsupported("the cubin is relocatable; expected a linked cubin, as nvlink writes it"));
    }
    let consumer = options.consumer.as_ref().filter(|it| **it != Consumer::cuda_gdb_sass());
    if let Some(consumer) = consumer {
        let text = format!("consumer {} does not read cubins; expected `cuda-gdb-sass`", consumer.name);
        return Err(unsupported(text));
    }
    if options.names {
        return Err(unsupported("NVIDIA's tools read no `.debug_names`; expected no name index"));
    }
    if options.fix {
        return Err(unsupported("fixes are known for AMD's processors only; the object is a cubin"));
    }
    if let Some(unit) = dwarf.units().iter().find(|unit| {
        unit.kind != dw::DW_UT_compile || unit.encoding.version > 4 || unit.encoding.offset_bytes != 4
    }) {
        let text = "unit of a kind, version or format that NVIDIA's tools do not read; expected a unit of DWARF 2 to 4";
        return Err(unsupported(text).in_section(INFO).at_offset(unit.offset));
    }
    Ok(())
}

/// What the original has.
struct Read<'r, 'o> {
    object: &'r Object<'o>,
    dwarf: &'r Dwarf<'o>,
    sections: &'r [CubinSection<'r>],
    /// The programs of `.debug_line` and of `.nv_debug_line_sass`.
    programs: [Vec<Program<'r>>; 2],
    maps: Vec<Map<'r>>,
}

impl<'r, 'o> Read<'r, 'o> {
    /// Reads all sections, so that what is malformed is an error.
    fn new(object: &'r Object<'o>, dwarf: &'r Dwarf<'o>, sections: &'r [CubinSection<'r>]) -> Result<Self> {
        let known = [
            INFO, ABBREVIATIONS, LINES, PTX_LINES, FRAMES, LOCATIONS, RANGES, STRINGS, NAMES, TYPE_NAMES,
            ADDRESS_RANGES, MACROS, maps::HOMES, maps::TYPES,
        ];
        let is_known = |name: &str| known.contains(&name) || texts::is_text(name);
        if let Some(other) = sections.iter().find(|it| !it.bytes.is_empty() && !is_known(&it.name)) {
            return Err(unsupported("section is not known in a cubin").in_section(&other.name));
        }
        for program in nvidia::lines(object).chain(nvidia::ptx_lines(object)) {
            for row in program?.rows() {
                row?;
            }
        }
        let mut read =
            Self { object, dwarf, sections, programs: [Vec::new(), Vec::new()], maps: maps::maps(object)? };
        for (programs, name) in [LINES, PTX_LINES].into_iter().enumerate() {
            if let Some(from) = read.section(name) {
                read.programs[programs] = lines::programs(&from)?;
            }
        }
        Ok(read)
    }

    /// Returns a section that is not empty.
    fn section(&self, name: &str) -> Option<Original<'r>> {
        let section = self.sections.iter().find(|it| it.name == name && !it.bytes.is_empty());
        section.map(Original::new)
    }

    /// Returns the new contents of sections, by name.
    fn written(
        &self,
        parts: &[Part],
        equal: &EqualTypes,
        gone: &Gone,
        options: &RewriteOptions<'_>,
        changes: &mut Vec<RewriteChange>,
    ) -> Result<HashMap<&'r str, CubinSection<'r>>> {
        let mut new: HashMap<&str, CubinSection<'_>> = HashMap::new();
        let mut put = |name: &'r str, copied: Copied| {
            let Copied { bytes, relocations } = copied;
            let section = CubinSection { name: name.into(), bytes: bytes.into(), relocations };
            new.insert(name, section);
        };
        let mut strings = Strings::new(self.section(STRINGS));
        let repeated = texts::repeated(self.sections);
        let mut offsets = HashMap::new();
        let mut files: HashSet<&[u8]> = HashSet::new();
        for (programs, name) in self.programs.iter().zip([LINES, PTX_LINES]) {
            let Some(from) = self.section(name) else { continue };
            let mut to = Copied::default();
            let units: HashSet<u64> = self.dwarf.units().iter().filter_map(|unit| unit.stmt_list).collect();
            for program in programs {
                let offset = program.range.start as u64;
                for sequence in program.sequences.iter().filter(|it| it.start.is_none()) {
                    changes.push(removed(name, sequence.range.start as u64, UnimportedReason::DiscardedCode));
                }
                let has_rows = program.sequences.iter().any(|it| it.start.is_some());
                // A unit has a program even without rows.
                if !has_rows && !program.sequences.is_empty() && !(name == LINES && units.contains(&offset)) {
                    continue;
                }
                if name == PTX_LINES {
                    files.extend(program.files.iter().map(|(_, name)| repeated.get(name).unwrap_or(name)));
                }
                let other_name = |name: &[u8]| repeated.get(name).map(|name| name.to_vec());
                let is_kept = |sequence: &lines::Sequence| sequence.start.is_some();
                let moved = program.copy(&from, is_kept, other_name, &mut strings, &mut to)?;
                if name == LINES {
                    offsets.insert(offset, moved);
                }
            }
            put(name, to);
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
                to: Entries::default(),
                shapes: IndexMap::default(),
            };
            let mut entries = writer.write()?;
            self.tables(&entries, &mut put)?;
            put(INFO, core::mem::take(&mut entries.info));
            put(ABBREVIATIONS, Copied { bytes: entries.abbreviations, relocations: Vec::new() });
        }
        put(LOCATIONS, locations.to);
        put(RANGES, ranges.to);
        put(STRINGS, Copied { bytes: strings.bytes, relocations: Vec::new() });
        if let Some(from) = self.section(FRAMES) {
            let mut to = Copied::default();
            for offset in frames::copy(&from, &self.frames()?, &mut to)? {
                changes.push(removed(FRAMES, offset, UnimportedReason::DiscardedCode));
            }
            put(FRAMES, to);
        }
        self.write_maps(gone, changes, &mut put)?;
        for section in self.sections.iter().filter(|it| texts::is_text(&it.name)) {
            let name = &*section.name;
            let is_unused = options.gc && !texts::is_named(name, &files);
            if is_unused || repeated.contains_key(name.as_bytes()) {
                put(name, Copied::default());
            }
        }
        Ok(new)
    }

    fn frames(&self) -> Result<crate::read::Frames<'r>>
    where
        'o: 'r,
    {
        let frames = self.dwarf.readable_frames(FrameSection::Debug);
        match frames.errors.first() {
            Some(error) => Err(error.clone()),
            None => Ok(frames),
        }
    }

    fn tables(&self, entries: &Entries, put: &mut impl FnMut(&'r str, Copied)) -> Result<()> {
        let sections = self.dwarf.sections();
        for (name, kind) in [(NAMES, PublicSection::Names), (TYPE_NAMES, PublicSection::Types)] {
            if let Some(from) = self.section(name) {
                let mut to = Copied::default();
                tables::names(&from, &PublicNames::read_all(sections, kind)?, entries, &mut to)?;
                put(name, to);
            }
        }
        if let Some(from) = self.section(ADDRESS_RANGES) {
            let mut to = Copied::default();
            tables::address_ranges(&from, &AddressRanges::read_all(sections)?, entries, &mut to)?;
            put(ADDRESS_RANGES, to);
        }
        Ok(())
    }

    fn write_maps(
        &self,
        gone: &Gone,
        changes: &mut Vec<RewriteChange>,
        put: &mut impl FnMut(&'r str, Copied),
    ) -> Result<()> {
        let is_gone = |index: usize| gone.maps.binary_search(&index).is_ok();
        for name in [maps::HOMES, maps::TYPES] {
            let Some(from) = self.section(name) else { continue };
            let mut to = Copied::default();
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
            put(name, to);
        }
        Ok(())
    }
}

/// Lists the functions that go.
fn removed_entries(dwarf: &Dwarf<'_>, gone: &Gone, changes: &mut Vec<RewriteChange>) {
    let mut all: Vec<(usize, UnimportedReason)> = Vec::new();
    all.extend(gone.discarded.iter().map(|&index| (index, UnimportedReason::DiscardedCode)));
    all.extend(gone.copies.iter().map(|&index| (index, UnimportedReason::OtherCopy)));
    all.sort_by_key(|(index, _)| *index);
    for (index, reason) in all {
        let Some(entry) = dwarf.entry_with_index(index) else { continue };
        let fact = UnimportedFact {
            file: None,
            unit: entry.unit().name.as_deref().map(String::from),
            section: INFO,
            offset: entry.offset(),
            tag: Some(entry.tag()),
            attribute: None,
            reason,
        };
        changes.push(RewriteChange::Removed(fact));
    }
}

fn removed(section: &'static str, offset: u64, reason: UnimportedReason) -> RewriteChange {
    let fact =
        UnimportedFact { file: None, unit: None, section, offset, tag: None, attribute: None, reason };
    RewriteChange::Removed(fact)
}
