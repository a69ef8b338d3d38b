//! Sections added to a relocatable object, with relocations for the linker.
//!
//! ```text
//! .symtab before   null  locals            globals
//! .symtab after    null  locals  sections  globals      indices of globals move up
//! ```
//!
//! A relocation to a place in a debug section is against the symbol of that section, which has to be
//! local, and local symbols come first. So the global symbols move, and with them whatever names a symbol
//! by its index: relocations, the signatures of section groups, the list of address-significant symbols.

use object::elf;
use object::write::elf::{Rel, SectionHeader, Sym};

use super::bytes::u64_at;
use super::check::check;
use super::image::{Image, ImageSection, encoder, unsupported};
use super::symbols::{Lookup, SYMBOL_SIZE, defined, symbol_count};
use crate::emit::{Relocation, RelocationTarget, Section};
use crate::error::{Error, ErrorKind, Result};
use crate::op::{read_uleb, write_uleb};
use crate::target::Target;

/// A list of indices of symbols, as LEB128 numbers.
const SHT_LLVM_ADDRSIG: elf::SectionType = elf::SectionType(0x6fff_4c03);
/// Weights. Its symbols are in a relocation section, but it is linked to the symbol table too.
const SHT_LLVM_CALL_GRAPH_PROFILE: elf::SectionType = elf::SectionType(0x6fff_4c09);

/// What a relocation against an undefined symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undefined {
    /// Welcome: the caller said that the symbol is elsewhere.
    Allow,
    /// An error: code that is described is in this object.
    Refuse,
}

/// Adds debug sections and their relocations.
pub(super) fn add<'a>(
    image: &mut Image<'a>,
    target: &Target,
    sections: &'a [Section],
    undefined: Undefined,
) -> Result<()> {
    let positions = check(image, sections)?;
    // Each section is followed by its relocations. Too many sections are refused when they are added.
    let mut indices = Vec::with_capacity(sections.len());
    let mut next = image.sections.len() as u32;
    for section in sections {
        indices.push(next);
        next = next.saturating_add(if section.relocations.is_empty() { 1 } else { 2 });
    }

    let mut symtab = 0;
    let mut tables = vec![Vec::new(); sections.len()];
    if sections.iter().any(|section| !section.relocations.is_empty()) {
        symtab =
            image.find(elf::SHT_SYMTAB).ok_or_else(|| unsupported("an object without a symbol table"))?;
        // Only sections that are referred to get a symbol.
        let mut symbols: Vec<Option<u32>> = vec![None; sections.len()];
        for relocation in sections.iter().flat_map(|section| &section.relocations) {
            if let RelocationTarget::Section(name) = relocation.target {
                symbols[positions[name]] = Some(0);
            }
        }
        let wanted = symbols.iter().zip(&indices).filter(|(symbol, _)| symbol.is_some());
        let wanted: Vec<u32> = wanted.map(|(_, &index)| index).collect();
        let first = insert_section_symbols(image, symtab, &wanted)?;
        for (symbol, index) in symbols.iter_mut().flatten().zip(first..) {
            *symbol = index;
        }

        let lookup = [Lookup::new(image, symtab)?];
        for (section, table) in sections.iter().zip(&mut tables) {
            for relocation in &section.relocations {
                let symbol = match &relocation.target {
                    // `check` has found the section, and it was given a symbol above.
                    RelocationTarget::Section(name) => Ok(symbols[positions[name]].unwrap_or(0)),
                    RelocationTarget::Symbol(name) => named(&lookup, name, undefined),
                };
                let rela = symbol.and_then(|symbol| rela(target, relocation, symbol));
                let rela =
                    rela.map_err(|error| error.in_section(section.name).at_offset(relocation.offset))?;
                encoder().relocation(table, true, &rela);
            }
        }
    }

    for ((section, table), &index) in sections.iter().zip(tables).zip(&indices) {
        let name = section.name.as_bytes();
        image.add(ImageSection::new(name, debug_header(section), &section.bytes[..]))?;
        if !table.is_empty() {
            let name = [b".rela", name].concat();
            image.add(ImageSection::new(name, relocation_header(symtab, index), table))?;
        }
    }
    Ok(())
}

/// The header of a debug section.
pub(super) fn debug_header(section: &Section) -> SectionHeader {
    SectionHeader {
        sh_type: elf::SHT_PROGBITS,
        sh_flags: if section.is_strings { elf::SHF_MERGE | elf::SHF_STRINGS } else { elf::SectionFlags(0) },
        sh_addralign: 1,
        sh_entsize: section.is_strings.into(),
        ..SectionHeader::default()
    }
}

/// The header of the relocations of the section `index`.
pub(super) fn relocation_header(symtab: usize, index: u32) -> SectionHeader {
    SectionHeader { sh_link: symtab as u32, sh_info: index, ..encoder().relocation_section_header(true) }
}

/// The index of a symbol of the object's code or data.
fn named(lookup: &[Lookup<'_>], name: &str, undefined: Undefined) -> Result<u32> {
    match (lookup.iter().find_map(|lookup| lookup.undefined(name)), undefined) {
        (Some(index), Undefined::Allow) => Ok(index),
        _ => Ok(defined(lookup, name)?.0),
    }
}

fn rela(target: &Target, relocation: &Relocation, symbol: u32) -> Result<Rel> {
    let numbers = target.elf().relocations;
    // An addend to a symbol may be negative; that of 4 bytes has to be one of 32 bits.
    let addend = relocation.addend as i64;
    if relocation.bytes == 4 && i32::try_from(addend).is_err() && u32::try_from(addend).is_err() {
        let text = format!("an addend of {:#x} for a field of 4 bytes", relocation.addend);
        return Err(ErrorKind::TooLarge(text).into());
    }
    Ok(Rel {
        r_offset: relocation.offset,
        r_sym: symbol,
        r_type: elf::RelocationType(if relocation.bytes == 4 { numbers.abs32 } else { numbers.abs64 }),
        r_addend: addend,
    })
}

/// Adds symbols of sections behind the last local symbol and returns the index of the first.
fn insert_section_symbols(image: &mut Image<'_>, symtab: usize, sections: &[u32]) -> Result<u32> {
    let count = symbol_count(image, symtab)?;
    let table = &mut image.sections[symtab];
    // `sh_info` is one more than the index of the last local symbol.
    let first = table.header.sh_info;
    if first == 0 || first > count {
        let text = format!("{first} local symbols of {count}");
        return Err(Error::malformed(text).in_section(&table.display_name()));
    }
    if sections.is_empty() {
        return Ok(first);
    }
    let mut inserted = Vec::new();
    for &section in sections {
        encoder().symbol(
            &mut inserted,
            &Sym {
                section: Some(section),
                st_name: 0,
                st_info: elf::STB_LOCAL | elf::STT_SECTION,
                st_other: elf::SymbolOther(0),
                st_shndx: elf::SHN_UNDEF,
                st_value: 0,
                st_size: 0,
            },
        );
    }
    let at = first as usize * SYMBOL_SIZE;
    let symbols = [&table.contents[..at], &inserted, &table.contents[at..]].concat();
    table.replace(symbols);
    table.header.sh_info = first + sections.len() as u32;

    let moved = Moved { first, count, by: sections.len() as u32 };
    let linked =
        image.sections.iter_mut().skip(1).filter(|section| section.header.sh_link as usize == symtab);
    for section in linked {
        renumber(section, moved).map_err(|error| error.in_section(&section.display_name()))?;
    }
    Ok(first)
}

/// Symbols that have moved: those from `first`, of `count`, up `by` so many.
#[derive(Debug, Clone, Copy)]
struct Moved {
    first: u32,
    count: u32,
    by: u32,
}

impl Moved {
    fn index(self, old: u64) -> Result<u32> {
        match u32::try_from(old) {
            Ok(old) if old < self.first => Ok(old),
            Ok(old) if old < self.count => Ok(old + self.by),
            _ => Err(Error::malformed(format!("symbol {old} of {}", self.count))),
        }
    }
}

/// Rewrites a section that has the symbol table as its link and names symbols by index.
fn renumber(section: &mut ImageSection<'_>, moved: Moved) -> Result<()> {
    match section.header.sh_type {
        elf::SHT_RELA | elf::SHT_REL => {
            let size = if section.header.sh_type == elf::SHT_RELA { 24 } else { 16 };
            if !section.contents.len().is_multiple_of(size) {
                return Err(Error::malformed(format!("relocations that do not have {size} bytes each")));
            }
            let mut bytes = section.contents.to_vec();
            for entry in bytes.chunks_exact_mut(size) {
                // `r_info`: the symbol above the type.
                let symbol = moved.index(u64_at(entry, 8) >> 32)?;
                entry[12..16].copy_from_slice(&symbol.to_le_bytes());
            }
            section.replace(bytes);
        }
        elf::SHT_GROUP => section.header.sh_info = moved.index(section.header.sh_info.into())?,
        elf::SHT_SYMTAB_SHNDX => {
            let at = moved.first as usize * 4;
            if section.contents.len() != moved.count as usize * 4 {
                return Err(Error::malformed("not one section index for each symbol"));
            }
            let zeros = vec![0; moved.by as usize * 4];
            let bytes = [&section.contents[..at], &zeros, &section.contents[at..]].concat();
            section.replace(bytes);
        }
        SHT_LLVM_ADDRSIG => {
            let mut bytes = Vec::with_capacity(section.contents.len());
            let mut at = 0;
            while at < section.contents.len() {
                let (old, next) = read_uleb(&section.contents, at)
                    .ok_or_else(|| Error::malformed("not a LEB128 number").at_offset(at as u64))?;
                write_uleb(&mut bytes, moved.index(old)?.into());
                at = next;
            }
            section.replace(bytes);
        }
        elf::SHT_NULL | SHT_LLVM_CALL_GRAPH_PROFILE => {}
        other => return Err(unsupported(format!("a section of type {:#x} with symbols", other.0))),
    }
    Ok(())
}
