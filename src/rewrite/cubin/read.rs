//! What a linked cubin has, read as a whole, so that what is malformed is an error.

use super::lines::{self, Program};
use super::maps::{self, Map};
use super::section::Original;
use super::texts;
use crate::emit::elf::CubinSection;
use crate::error::{Error, ErrorKind, Result};
use crate::read::{Dwarf, FrameSection, Frames, Object, nvidia};

pub(super) const INFO: &str = ".debug_info";
pub(super) const ABBREVIATIONS: &str = ".debug_abbrev";
pub(super) const LINES: &str = ".debug_line";
pub(super) const PTX_LINES: &str = ".nv_debug_line_sass";
pub(super) const FRAMES: &str = ".debug_frame";
pub(super) const LOCATIONS: &str = ".debug_loc";
pub(super) const RANGES: &str = ".debug_ranges";
pub(super) const STRINGS: &str = ".debug_str";
pub(super) const NAMES: &str = ".debug_pubnames";
pub(super) const TYPE_NAMES: &str = ".debug_pubtypes";
pub(super) const ADDRESS_RANGES: &str = ".debug_aranges";
/// ptxas writes a single zero.
pub(super) const MACROS: &str = ".debug_macinfo";

/// What the original has.
pub(super) struct Read<'r, 'o> {
    pub(super) object: &'r Object<'o>,
    pub(super) dwarf: &'r Dwarf<'o>,
    pub(super) sections: &'r [CubinSection<'r>],
    /// The programs of `.debug_line` and of `.nv_debug_line_sass`.
    pub(super) programs: [Vec<Program<'r>>; 2],
    pub(super) maps: Vec<Map<'r>>,
}

impl<'r, 'o> Read<'r, 'o> {
    /// Reads all sections, so that what is malformed is an error.
    pub(super) fn new(
        object: &'r Object<'o>,
        dwarf: &'r Dwarf<'o>,
        sections: &'r [CubinSection<'r>],
    ) -> Result<Self> {
        let known = [
            INFO,
            ABBREVIATIONS,
            LINES,
            PTX_LINES,
            FRAMES,
            LOCATIONS,
            RANGES,
            STRINGS,
            NAMES,
            TYPE_NAMES,
            ADDRESS_RANGES,
            MACROS,
            maps::HOMES,
            maps::TYPES,
        ];
        let is_known = |name: &str| known.contains(&name) || texts::is_text(name);
        if let Some(other) = sections.iter().find(|it| !it.bytes.is_empty() && !is_known(&it.name)) {
            let error = Error::from(ErrorKind::Unsupported("section is not known in a cubin".into()));
            return Err(error.in_section(&other.name));
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
                let read_programs = lines::programs(&from).map_err(|error| error.in_section(name));
                read.programs[programs] = read_programs?;
            }
        }
        Ok(read)
    }

    /// Returns a section that is not empty.
    pub(super) fn section(&self, name: &str) -> Option<Original<'r>> {
        let section = self.sections.iter().find(|it| it.name == name && !it.bytes.is_empty());
        section.map(Original::new)
    }

    /// Returns all frames.
    pub(super) fn frames(&self) -> Result<Frames<'r>>
    where
        'o: 'r,
    {
        let frames = self.dwarf.readable_frames(FrameSection::Debug);
        match frames.errors.first() {
            Some(error) => Err(error.clone()),
            None => Ok(frames),
        }
    }
}
