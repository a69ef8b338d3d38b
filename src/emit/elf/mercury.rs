//! Mercury copies of added debug sections, in relocatable cubins for sm_100 and later: sections `.nv.merc.*`, from which
//! nvlink makes the debug sections of the linked file. It ignores their originals.
//!
//! ```text
//! .nv.merc.X        SHT_PROGBITS, SHF 0x10000000
//! .nv.merc.rela.X   0x70000082, SHF 0x10000040, link .nv.merc.symtab, info .nv.merc.X
//! ```

use object::elf;
use object::write::elf::{Rel, SectionHeader};

use super::cubin::{SectionSymbols, debug_header, is_kept, section_name};
use super::existing::Existing;
use super::image::{Image, unsupported};
use super::mercury_pcs::{MercuryPcs, SYMBOLS};
use super::mercury_sections::{FRAMES, LINES, MAP, Moved, copy};
use super::symbols::{Lookup, defined};
use crate::emit::added::fits;
use crate::emit::section::{Relocation, RelocationTarget, Section};
use crate::error::{Error, Result};

/// Processors from this number on have Mercury code.
const FIRST_PROCESSOR: u32 = 100;
/// Prefix of a copy's name.
pub(super) const PREFIX: &str = ".nv.merc";
/// Types of the registers in the map.
const TYPES: &str = ".nv_debug_info_reg_type";
/// Type and flags of relocations, and the flag of copies.
pub(super) const RELOCATIONS: elf::SectionType = elf::SectionType(0x7000_0082);
pub(super) const RELOCATION_FLAGS: elf::SectionFlags = elf::SectionFlags(0x1000_0040);
const FLAGS: elf::SectionFlags = elf::SectionFlags(0x1000_0000);

/// Relocation types. nvlink translates the addend of `CODE` to the new code, and applies `MADE_AGAIN` with the size of the
/// line table that it makes.
const ADDRESS: u32 = 0x10002;
const OFFSET: u32 = 0x10003;
const MADE_AGAIN: u32 = 0x10008;
const FUNCTION_SIZE: u32 = 0x1000e;
const CODE: u32 = 0x1003d;

/// Returns the type of the relocation of an offset in a section.
pub(super) fn kind_of_offset(section: &str) -> u32 {
    match section {
        LINES => MADE_AGAIN,
        FRAMES => ADDRESS,
        _ => OFFSET,
    }
}

/// Whether nvlink reads copies of the file's debug sections.
fn has_copies(image: &Image<'_>) -> bool {
    image.is_cubin() && !image.is_linked() && image.sm() >= FIRST_PROCESSOR
}

/// Returns a map of registers without homes, and its types, if nothing is in a register that a map names: nvlink translates
/// entries and lists only if an object has both.
pub(super) fn empty_map(image: &Image<'_>, sections: &[Section], pcs: &MercuryPcs) -> Option<[Section; 2]> {
    if !has_copies(image) || sections.iter().any(|section| section.name == MAP) {
        return None;
    }
    let entries = sections.iter().find(|section| section.name == ".debug_info")?;
    let function = entries.relocations.iter().find_map(|relocation| match &relocation.target {
        RelocationTarget::Symbol(name) if pcs.has(name) => Some(name),
        _ => None,
    })?;
    // The name, and the number of homes.
    let bytes = [function.as_bytes(), &[0; 5]].concat();
    Some([MAP, TYPES].map(|name| {
        let bytes = bytes.clone();
        Section { name, bytes, relocations: Vec::new(), is_strings: false, group: None }
    }))
}

/// Refuses sections whose pcs nvlink does not translate.
fn refuse(section: &Section) -> Result<()> {
    let what = match section.name {
        ".debug_ranges" => {
            "range list in a relocatable cubin: nvlink leaves its pcs those of Mercury code; expected scopes and \
            functions with one range each"
        }
        ".debug_aranges" => {
            "address table in a relocatable cubin: nvlink leaves its lengths those of the SASS code; expected \
            a consumer without `.debug_aranges`"
        }
        _ => return Ok(()),
    };
    match section.relocations.iter().find(|it| matches!(it.target, RelocationTarget::Symbol(_))) {
        Some(relocation) => Err(unsupported(what).in_section(section.name).at_offset(relocation.offset)),
        None => Ok(()),
    }
}

/// Adds copies of added sections, except for sections that stay, where nvlink reads copies.
///
/// # Errors
/// A pc whose Mercury pc is not known, or contents that cannot be read, with section and offset; an object without the copy
/// of its symbol table.
pub(super) fn add(
    image: &mut Image<'_>,
    sections: &[Section],
    how: Existing,
    pcs: &MercuryPcs,
) -> Result<()> {
    if !has_copies(image) {
        return Ok(());
    }
    let symtab = image.find(SYMBOLS).ok_or_else(|| {
        unsupported(
            "relocatable cubin has no `.nv.merc.symtab`; expected one, from which nvlink reads symbols",
        )
    })?;
    // Entries refer to the only program of the existing line table.
    let keeps_lines = how == Existing::KeepLines && image.sections.iter().any(|it| it.is_filled(LINES));
    sections.iter().try_for_each(refuse)?;
    let added = sections.iter().filter(|section| !(keeps_lines && is_kept(how, section.name)));
    let copies = added.map(|section| copy(section, pcs).map_err(|error| error.in_section(section.name)));
    let copies = copies.collect::<Result<Vec<(Section, Option<Moved>)>>>()?;
    let lookup = [Lookup::new(image, symtab)?];
    // Symbols of functions and data, before the table grows.
    let mut known = Vec::with_capacity(copies.len());
    for (section, _) in &copies {
        let symbol = |relocation: &Relocation| match &relocation.target {
            RelocationTarget::Symbol(name) => {
                let target = defined(&lookup, name);
                let (index, symbol) =
                    target.map_err(|error| error.in_section(section.name).at_offset(relocation.offset))?;
                Ok(Some((index, symbol.value, pcs.has(name))))
            }
            _ => Ok(None),
        };
        known.push(section.relocations.iter().map(symbol).collect::<Result<Vec<_>>>()?);
    }
    let mut indices = Vec::with_capacity(copies.len());
    for (section, _) in &copies {
        let header = SectionHeader { sh_flags: FLAGS, ..debug_header() };
        let section = section_name(sections, section);
        indices.push(image.put(&name("", &section), header, Vec::new())?);
    }
    let mut symbols = SectionSymbols::new(image, symtab)?;
    for (((section, _), &index), known) in copies.iter().zip(&indices).zip(known) {
        let mut bytes = section.bytes.clone();
        let mut table = Vec::new();
        let encoder = image.encoder();
        let mut is_after_common = false;
        for (relocation, known) in section.relocations.iter().zip(known) {
            let (mut addend, mut value) = (relocation.addend, 0);
            let (symbol, kind) = match (&relocation.target, known) {
                (_, Some((index, start, is_code))) => {
                    value = start;
                    let is_row = section.name == LINES || section.name.starts_with(".nv_debug_line");
                    (index, if is_code && !is_row { CODE } else { ADDRESS })
                }
                (RelocationTarget::Section(to), None) => {
                    let target = copies.iter().position(|(section, _)| section.name == *to);
                    if *to == LINES && keeps_lines {
                        addend = 0;
                    } else if let Some(moved) = target.and_then(|target| copies[target].1.as_ref()) {
                        let new = moved.get(&addend).copied();
                        addend = new.ok_or_else(|| no_start(section, relocation, to))?;
                    }
                    let section_index = match target {
                        Some(target) => indices[target],
                        None => existing(image, &name("", to))?,
                    };
                    (symbols.get(image, section_index as u32)?, kind_of_offset(to))
                }
                _ => continue,
            };
            let value = value.wrapping_add(addend);
            fits(value, relocation.bytes)?;
            let at = relocation.offset as usize;
            let size = usize::from(relocation.bytes);
            bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            let mut put = |offset: u64, kind: u32, addend: u64| {
                let rel = Rel {
                    r_offset: offset,
                    r_sym: symbol,
                    r_type: elf::RelocationType(kind),
                    r_addend: addend as i64,
                };
                encoder.relocation(&mut table, true, &rel);
            };
            put(relocation.offset, kind, addend);
            // An FDE's first address follows the offset of its CIE, and its size follows the address.
            if section.name == FRAMES && kind == CODE && is_after_common {
                put(relocation.offset + 8, FUNCTION_SIZE, 0);
            }
            is_after_common = matches!(relocation.target, RelocationTarget::Section(FRAMES));
        }
        image.sections[index].replace(bytes);
        if !table.is_empty() {
            let header = SectionHeader {
                sh_type: RELOCATIONS,
                sh_link: symtab as u32,
                sh_info: index as u32,
                sh_flags: RELOCATION_FLAGS,
                ..encoder.relocation_section_header(true)
            };
            image.put(&name(".rela", section.name), header, table)?;
        }
    }
    symbols.write(image, symtab);
    Ok(())
}

/// Error for an offset at which no line program and no frame entry begins.
fn no_start(section: &Section, relocation: &Relocation, to: &str) -> Error {
    let text = format!(
        "reference to offset {:#x} of `{to}`, at which nothing begins; expected the start of a line program or a common \
         entry",
        relocation.addend
    );
    Error::bad_argument(text).in_section(section.name).at_offset(relocation.offset)
}

/// Returns the index of the copy of a section that stays.
fn existing(image: &Image<'_>, name: &[u8]) -> Result<usize> {
    image.sections.iter().position(|section| *section.name == *name).ok_or_else(|| {
        let name = String::from_utf8_lossy(name);
        unsupported(format!(
            "relocatable cubin has no `{name}`; expected the copy of the line table that is kept"
        ))
    })
}

/// Returns the name of a section's copy, or of the copy's relocations.
fn name(prefix: &str, section: &str) -> Vec<u8> {
    [PREFIX.as_bytes(), prefix.as_bytes(), section.as_bytes()].concat()
}
