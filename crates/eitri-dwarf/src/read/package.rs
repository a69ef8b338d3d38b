//! Packages of split units (`.dwp`): an index divides each section among the units. DWARF 5 section 7.3.5, and GNU's
//! predecessor in DWARF 4.

use gimli::{EndianSlice, IndexSectionId, RunTimeEndian, UnitIndex};

use super::Object;
use super::sections::Sections;
use crate::error::{Count, Error, ErrorKind, Result};

const INDEX: &str = ".debug_cu_index";

/// Index of a package's compilation units.
pub(super) struct Package<'o> {
    sections: Sections<'o>,
    index: UnitIndex<EndianSlice<'o, RunTimeEndian>>,
}

impl<'o> Package<'o> {
    /// Reads a package's index; `None` if the object is not a package.
    pub(super) fn read(object: &'o Object<'_>) -> Result<Option<Self>> {
        let Some(section) = object.section(INDEX) else { return Ok(None) };
        let sections = Sections::of_split(object);
        let endian = if sections.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
        let index = gimli::DebugCuIndex::new(&section.data, endian).index();
        let index = index.map_err(|error| malformed(&error.to_string()))?;
        // Otherwise a unit with many rows would be read for each row.
        let parts = (1..=index.unit_count()).filter_map(|row| index.sections(row).ok()).flatten();
        let parts = parts.filter(|part| part.section == IndexSectionId::DebugInfo);
        let info = parts.map(|part| u64::from(part.size)).fold(0, u64::saturating_add);
        let bytes = sections.debug_info.len();
        if info > bytes as u64 {
            return Err(malformed(&format!(
                "the parts of .debug_info.dwo overlap: together they have {:#x}, and the section has {bytes:#x}",
                Count(info, "byte")
            )));
        }
        Ok(Some(Self { sections, index }))
    }

    /// Returns the parts of the sections that a unit has, by its id.
    pub(super) fn unit(&self, id: u64) -> Result<Option<Sections<'o>>> {
        let Some(row) = self.index.find(id) else { return Ok(None) };
        let parts = self.index.sections(row).map_err(|error| malformed(&error.to_string()))?;
        // Offsets count from the unit's parts. A package has no relocations.
        let mut sections = Sections { unreadable: &[], ..self.sections };
        // A unit has no part of the sections without a column.
        for whole in [
            &mut sections.debug_abbrev,
            &mut sections.debug_info,
            &mut sections.debug_line,
            &mut sections.debug_loc,
            &mut sections.debug_loclists,
            &mut sections.debug_macinfo,
            &mut sections.debug_macro,
            &mut sections.debug_rnglists,
            &mut sections.debug_str_offsets,
            &mut sections.debug_types,
        ] {
            *whole = &[];
        }
        for part in parts {
            let everything = &self.sections;
            let (to, whole) = match part.section {
                IndexSectionId::DebugAbbrev => (&mut sections.debug_abbrev, everything.debug_abbrev),
                IndexSectionId::DebugInfo => (&mut sections.debug_info, everything.debug_info),
                IndexSectionId::DebugLine => (&mut sections.debug_line, everything.debug_line),
                IndexSectionId::DebugLoc => (&mut sections.debug_loc, everything.debug_loc),
                IndexSectionId::DebugLocLists => (&mut sections.debug_loclists, everything.debug_loclists),
                IndexSectionId::DebugMacinfo => (&mut sections.debug_macinfo, everything.debug_macinfo),
                IndexSectionId::DebugMacro => (&mut sections.debug_macro, everything.debug_macro),
                IndexSectionId::DebugRngLists => (&mut sections.debug_rnglists, everything.debug_rnglists),
                IndexSectionId::DebugStrOffsets => {
                    (&mut sections.debug_str_offsets, everything.debug_str_offsets)
                }
                IndexSectionId::DebugTypes => (&mut sections.debug_types, everything.debug_types),
            };
            let start = part.offset as usize;
            let size = part.size as usize;
            let bytes = start.checked_add(size).and_then(|end| whole.get(start..end));
            *to = bytes.ok_or_else(|| {
                malformed(&format!(
                    "the part of unit {id:#x} exceeds its section: {:#x} at {start:#x}, and the section has {:#x}",
                    Count(size, "byte"),
                    whole.len()
                ))
            })?;
        }
        Ok(Some(sections))
    }
}

fn malformed(text: &str) -> Error {
    Error::new(ErrorKind::Malformed(text.into())).in_section(INDEX)
}
