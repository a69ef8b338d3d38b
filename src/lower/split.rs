//! Split units: DWARF 5 sections 3.1.2, 3.1.3 and 7.3.2.
//!
//! A unit is written as without splitting, except that a skeleton has the attributes that a linker must relocate. The
//! rest goes into a separate file, in which every offset is final. Addresses, lines and the unit's pc ranges stay in
//! the object.

use md5::Context;

use super::entry::EntryWriter;
use super::lines;
use super::lowered::{LoweredUnit, Skeleton, SplitUnit};
use super::section::{LIMIT, Part, too_large};
use super::strings::{split_name, text};
use super::unit_entry::{Contents, code, sources};
use super::units::Units;
use crate::emit::abbrev::Abbreviations;
use crate::emit::addr::addr_base;
use crate::emit::info::{Info, out_of_reach};
use crate::emit::lists::FinishedLists;
use crate::emit::strings::{StringIndices, Strings, str_offsets_base};
use crate::emit::{Relocation, RelocationTarget, Section};
use crate::error::{Error, Result};

/// Writes the unit's skeleton. The unit's own entries and lists are finished.
pub(super) fn write_skeleton(out: &mut EntryWriter<'_>, has: &Contents) -> Result<Skeleton> {
    let id = out.unit();
    let format = out.info.format;
    // A list referred to by offset needs no base, which a reader could apply to the split unit too.
    let mut forms = vec![(gimli::DW_AT_ranges, gimli::DW_FORM_sec_offset)];
    forms.extend(&out.consumer.forms);
    // The name is unique, so an inline string is the shortest; units share the directory.
    forms.push((gimli::DW_AT_dwo_name, gimli::DW_FORM_string));
    forms.push((gimli::DW_AT_comp_dir, gimli::DW_FORM_strp));
    let skeleton = Info::new(format, id.as_u32(), 0, forms, Abbreviations::default());
    let split = core::mem::replace(&mut out.info, skeleton);
    out.info.begin_unit(gimli::DW_UT_skeleton, Some(0));
    out.info.begin_entry(gimli::DW_TAG_skeleton_unit, gimli::DW_CHILDREN_no, None);
    let name = &out.units.split_names[id.as_u32() as usize];
    out.info.string(gimli::DW_AT_dwo_name, split_name(out.units, id), || name.len(), || name);
    sources(out, has);
    if has.addresses {
        out.info.offset(gimli::DW_AT_addr_base, ".debug_addr", addr_base(format));
    }
    code(out, has);
    if !out.info.strings.numbers.is_empty() {
        let base = str_offsets_base(format);
        out.info.offset(gimli::DW_AT_str_offsets_base, ".debug_str_offsets", base);
    }
    out.info.end_entry();
    let rnglists = if has.is_scattered { out.finish_rnglists()? } else { FinishedLists::default() };
    out.info.end_unit()?;
    let Info { bytes, relocations, elsewhere, abbreviations, strings, .. } =
        core::mem::replace(&mut out.info, split);
    let info = Part { bytes, relocations, elsewhere };
    let files = if has.macros && has.lines { lines::files(out.units, id)? } else { Part::default() };
    Ok(Skeleton { info, abbreviations, strings: strings.numbers, rnglists, files })
}

/// Moves a unit's contents into a separate file, if the unit is split, and leaves its skeleton.
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::error::ErrorKind::TooLarge).
pub(super) fn split(units: &Units<'_>, unit: &mut LoweredUnit) -> Result<()> {
    let Some(Skeleton { info, abbreviations, strings, rnglists, files }) = unit.skeleton.take() else {
        return Ok(());
    };
    let Part { bytes: split, relocations, elsewhere } = core::mem::replace(&mut unit.info, info);
    let loclists = core::mem::take(&mut unit.loclists);
    let rnglists = core::mem::replace(&mut unit.rnglists, rnglists);
    let macros = core::mem::take(&mut unit.macros).part;
    let numbers = core::mem::replace(&mut unit.strings, strings);
    let mut file = File { units, strings: Strings::default(), sections: Vec::new() };

    let mut abbrev = Vec::new();
    core::mem::replace(&mut unit.abbreviations, abbreviations).write(&mut abbrev);
    file.push(".debug_abbrev.dwo", abbrev, &[])?;
    file.push(".debug_info.dwo", split, &relocations)?;
    file.push(".debug_loclists.dwo", loclists.bytes, &loclists.relocations)?;
    file.push(".debug_rnglists.dwo", rnglists.bytes, &rnglists.relocations)?;
    file.push(".debug_macro.dwo", macros.bytes, &macros.relocations)?;
    file.push(".debug_line.dwo", files.bytes, &files.relocations)?;
    // Nothing joins split files to each other, so an offset in another unit would have no value.
    if !elsewhere.is_empty() || !loclists.elsewhere.is_empty() {
        return Err(out_of_reach());
    }
    if !numbers.is_empty() {
        let mut bytes = Vec::new();
        let mut relocations = Vec::new();
        // Offsets are string numbers until `push` knows the strings.
        StringIndices::write(&numbers, units.format, u64::from, &mut bytes, &mut relocations);
        file.push(".debug_str_offsets.dwo", bytes, &relocations)?;
        let strings = core::mem::take(&mut file.strings.bytes);
        file.push(".debug_str.dwo", strings, &[])?;
    }

    let name = units.split_names[unit.unit.as_u32() as usize].clone();
    let mut sections = file.sections;
    // The id covers all sections, so it is filled in last, in the split unit and in its skeleton.
    let id = id(&name, &sections);
    let position = Info::id_offset(units.format);
    let own = sections.iter_mut().filter(|section| section.name == ".debug_info.dwo");
    for bytes in own.map(|section| &mut section.bytes).chain([&mut unit.info.bytes]) {
        units.format.patch(bytes, position, id, 8);
    }
    unit.split = Some(SplitUnit { unit: unit.unit, name, id, sections });
    Ok(())
}

/// A unit's split file, during construction.
struct File<'u, 'm> {
    units: &'u Units<'m>,
    strings: Strings,
    sections: Vec<Section>,
}

impl File<'_, '_> {
    /// Appends a section, if it has contents, and resolves references to other sections. Offsets are final, because
    /// each section has only this unit's part.
    fn push(&mut self, name: &'static str, mut bytes: Vec<u8>, relocations: &[Relocation]) -> Result<()> {
        for relocation in relocations {
            // The addresses are in the object, where a linker finds them. A split file refers to them by index.
            if let Some(symbol) = relocation.target.symbol() {
                let what = format!(
                    "section contains the address of `{symbol}`; expected none in a file that is not linked"
                );
                return Err(Error::bad_argument(what).in_section(name));
            }
            let offset = match relocation.target {
                RelocationTarget::Section(".debug_str") => {
                    let number = relocation.addend as u32;
                    self.strings.offset(number, || text(self.units, number))
                }
                _ => relocation.addend,
            };
            self.units.format.patch(&mut bytes, relocation.offset as usize, offset, relocation.bytes);
        }
        if self.units.format.offset_bytes == 4 && bytes.len() as u64 > LIMIT {
            return Err(too_large(bytes.len(), LIMIT).in_section(name));
        }
        if !bytes.is_empty() {
            let is_strings = name == ".debug_str.dwo";
            self.sections.push(Section { name, bytes, relocations: Vec::new(), is_strings, group: None });
        }
        Ok(())
    }
}

/// Split unit id: a digest over the name and the sections, each with its length, so different contents differ.
fn id(name: &str, sections: &[Section]) -> u64 {
    let mut sum = Context::new();
    let contents = sections.iter().flat_map(|section| [section.name.as_bytes(), &section.bytes]);
    for bytes in [name.as_bytes()].into_iter().chain(contents) {
        sum.consume((bytes.len() as u64).to_le_bytes());
        sum.consume(bytes);
    }
    let [a, b, c, d, e, f, g, h, ..] = sum.finalize().0;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}
