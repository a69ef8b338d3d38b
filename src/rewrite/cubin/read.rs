//! What a linked cubin has, read as a whole, so that what is malformed is an error.

use hashbrown::HashSet;

use super::copies::{self, Facts, Gone};
use super::lines::{self, Program};
use super::maps::{self, Map};
use super::names::{
    ABBREVIATIONS, ADDRESS_RANGES, FRAMES, INFO, LINES, LOCATIONS, MACROS, NAMES, PTX_LINES, RANGES, STRINGS,
    TYPE_NAMES,
};
use super::section::{Offsets, Original};
use super::texts;
use crate::emit::elf::{CubinLayer, CubinSection};
use crate::error::{Error, ErrorKind, Result};
use crate::read::{Dwarf, FrameSection, Frames, Object, ReadOptions, nvidia};

/// Reads all entries of an object.
///
/// # Errors
/// The first error of the object or of an entry.
pub(super) fn entries<'r>(object: &'r Object<'_>) -> Result<Dwarf<'r>> {
    if let Some(error) = object.errors().first() {
        return Err(error.clone());
    }
    let dwarf = Dwarf::read_with(object, &ReadOptions::new().readable())?;
    match dwarf.errors().first() {
        Some(error) => Err(error.clone()),
        None => Ok(dwarf),
    }
}

/// The facts of a layer of the original. Fields contain the addends of their relocations.
pub(super) struct Read<'r, 'o> {
    pub(super) object: &'r Object<'o>,
    pub(super) dwarf: &'r Dwarf<'o>,
    pub(super) sections: &'r [CubinSection<'r>],
    /// The programs of `.debug_line` and of `.nv_debug_line_sass`.
    pub(super) programs: [Vec<Program<'r>>; 2],
    pub(super) maps: Vec<Map<'r>>,
    /// Offsets of the frames of copies that another copy replaced.
    pub(super) replaced_frames: HashSet<u64>,
    pub(super) offsets: Offsets<'r>,
}

impl<'r, 'o> Read<'r, 'o> {
    /// Reads all sections, so that what is malformed is an error.
    pub(super) fn new(
        object: &'r Object<'o>,
        dwarf: &'r Dwarf<'o>,
        sections: &'r [CubinSection<'r>],
        layer: CubinLayer,
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
        let offsets = Offsets::new(sections, object.is_relocatable().then_some(layer));
        let maps = maps::maps(object)?;
        let mut read = Self {
            object,
            dwarf,
            sections,
            programs: [Vec::new(), Vec::new()],
            maps,
            replaced_frames: HashSet::new(),
            offsets,
        };
        for (programs, name) in [LINES, PTX_LINES].into_iter().enumerate() {
            if let Some(from) = read.section(name) {
                let read_programs = lines::programs(&from).map_err(|error| error.in_section(name));
                read.programs[programs] = read_programs?;
            }
        }
        Ok(read)
    }

    /// Returns what goes.
    ///
    /// # Errors
    /// The file does not say which copy of a function it has.
    pub(super) fn gone(&self) -> Result<Gone>
    where
        'o: 'r,
    {
        let facts =
            Facts { object: self.object, dwarf: self.dwarf, programs: &self.programs[0], maps: &self.maps };
        copies::gone(&facts)
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
