//! Sections added to a relocatable object, with relocations for the linker.
//!
//! ```text
//! .symtab before   null  locals            globals
//! .symtab after    null  locals  sections  globals      indices of globals move up
//! ```
//!
//! A relocation to a location in a debug section is against the section symbol, which has to be local. Local symbols come
//! first, so that inserting them moves the global symbols and every reference to a symbol by index.
//!
//! Sections of a type unit form a group, whose signature is such a symbol as well. Specification: System V ABI,
//! chapter 4, "Section Groups".

use std::collections::HashMap;

use object::write::elf::{Encoder, Rel, SectionHeader, Sym};
use object::{Endian, Endianness, elf};

use super::bytes::{strings, u64_at};
use super::image::{Image, ImageSection, too_many_sections, unsupported};
use super::renumber::{self, Moved};
use super::symbols::{Lookup, SYMBOL_SIZE, defined, symbol_counts};
use crate::emit::added::Added;
use crate::emit::section::{Relocation, RelocationTarget, Section};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::target::Target;

/// Bytes of an `Elf64_Rela`.
const RELA_SIZE: usize = 24;

/// How relocations against undefined symbols of a relocatable object are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UndefinedSymbols {
    /// An error: what is described is in the object.
    #[default]
    Refuse,
    /// Allowed: the linker finds the symbol in another object.
    Allow,
}

/// Refuses code that the linker shortens, because the pcs in the sections are those before the link.
fn refuse_relaxed_code(image: &Image<'_>) -> Result<()> {
    if image.machine() != elf::EM_RISCV {
        return Ok(());
    }
    let is_relaxed = |entry: &[u8]| {
        let kind = u64_at(image.order, entry, 8) as u32;
        [elf::R_RISCV_RELAX.0, elf::R_RISCV_ALIGN.0].contains(&kind)
    };
    for section in image.sections.iter().filter(|section| section.header.sh_type == elf::SHT_RELA) {
        let code = image.sections.get(section.header.sh_info as usize);
        let Some(code) = code.filter(|code| code.header.sh_flags.0 & elf::SHF_EXECINSTR.0 != 0) else {
            continue;
        };
        let (entries, _) = section.contents.as_chunks::<RELA_SIZE>();
        if let Some(at) = entries.iter().position(|entry| is_relaxed(entry)) {
            let offset = u64_at(image.order, &entries[at], 0);
            let text = "the linker shortens the code at this relocation (R_RISCV_RELAX or R_RISCV_ALIGN), so that pcs are not \
                 known before the link; expected code for a linker without relaxation (`-mno-relax`), or a linked object";
            return Err(unsupported(text).in_section(&code.display_name()).at_offset(offset));
        }
    }
    Ok(())
}

/// Adds debug sections, their relocations and their groups.
pub(super) fn add<'a>(
    image: &mut Image<'a>,
    target: &Target,
    sections: &'a [Section],
    undefined: UndefinedSymbols,
) -> Result<()> {
    let added = Added::check(image.has_section(), sections)?;
    if sections.iter().any(|section| !section.relocations.is_empty()) {
        refuse_relaxed_code(image)?;
    }
    // The sections' indices are planned before they exist, because their symbols contain them.
    let mut plan = Plan::new(image.sections.len(), sections)?;

    let mut symtab = 0;
    let mut tables = vec![Vec::new(); sections.len()];
    if !plan.groups.is_empty() || sections.iter().any(|section| !section.relocations.is_empty()) {
        symtab = image
            .find(elf::SHT_SYMTAB)
            .ok_or_else(|| unsupported("object has no symbol table; expected one for the relocations"))?;
        // Only sections that are referred to get a symbol.
        let mut symbols: Vec<Option<u32>> = vec![None; sections.len()];
        for section in sections {
            for relocation in &section.relocations {
                if let RelocationTarget::Section(name) = relocation.target {
                    // `check` has found the target.
                    symbols[added.target(section, name).unwrap_or(0)] = Some(0);
                }
            }
        }
        // The signature symbols come first, and then the section symbols.
        let mut locals = plan.signatures(image, symtab)?;
        let wanted = symbols.iter().zip(&plan.indices).filter(|(symbol, _)| symbol.is_some());
        locals.extend(wanted.map(|(_, &section)| Local { name: 0, kind: elf::STT_SECTION, section }));
        let first = insert_locals(image, symtab, &locals)?;
        let groups = plan.groups.iter_mut().map(|group| &mut group.symbol);
        for (symbol, index) in groups.chain(symbols.iter_mut().flatten()).zip(first..) {
            *symbol = index;
        }

        let encoder = image.encoder();
        let lookup = [Lookup::new(image, symtab)?];
        for (section, table) in sections.iter().zip(&mut tables) {
            for relocation in &section.relocations {
                let symbol = match &relocation.target {
                    // The loop above has assigned the symbol.
                    RelocationTarget::Section(name) => {
                        let symbol = added.target(section, name).and_then(|target| symbols[target]);
                        Ok((symbol.unwrap_or(0), elf::STT_SECTION))
                    }
                    RelocationTarget::Symbol(name) => named(&lookup, name, undefined),
                    RelocationTarget::Distance(name) => named(&lookup, name, undefined),
                };
                let rela = symbol.and_then(|(symbol, kind)| rela(target, relocation, symbol, kind));
                let rela =
                    rela.map_err(|error| error.in_section(section.name).at_offset(relocation.offset))?;
                encoder.relocation(table, true, &rela);
            }
        }
    }

    let encoder = image.encoder();
    let mut groups = plan.groups.iter().peekable();
    for ((section, table), &index) in sections.iter().zip(tables).zip(&plan.indices) {
        if let Some(group) = groups.next_if(|group| group.index as usize == image.sections.len()) {
            let header = SectionHeader {
                sh_link: symtab as u32,
                sh_info: group.symbol,
                ..encoder.comdat_section_header()
            };
            // A group's contents are a flag word and its members' indices.
            let words = [elf::GRP_COMDAT.0].into_iter().chain(group.members.iter().copied());
            let contents: Vec<u8> = words.flat_map(|word| image.order.write_u32(word)).collect();
            image.add(ImageSection::new(b".group", header, contents))?;
        }
        let flag = if section.group.is_some() { elf::SHF_GROUP } else { elf::SectionFlags(0) };
        let name = section.name.as_bytes();
        let mut header = match section.name {
            ".eh_frame" => unwind_header(target),
            _ => debug_header(section),
        };
        header.sh_flags |= flag;
        image.add(ImageSection::new(name, header, &section.bytes[..]))?;
        if !table.is_empty() {
            let mut header = relocation_header(encoder, symtab, index);
            header.sh_flags |= flag;
            image.add(ImageSection::new([b".rela", name].concat(), header, table))?;
        }
    }
    Ok(())
}

/// Indices for the new sections.
#[derive(Debug)]
struct Plan {
    /// Each debug section's index.
    indices: Vec<u32>,
    /// The groups, with ascending indices.
    groups: Vec<Group>,
}

/// A section group: a linker keeps one object's group.
#[derive(Debug)]
struct Group {
    signature: u64,
    /// Index of the group section, which precedes its members.
    index: u32,
    /// Index of the symbol whose name is the signature.
    symbol: u32,
    /// Indices of the member sections, including relocation sections.
    members: Vec<u32>,
}

impl Plan {
    /// Plans the sections after `count` existing ones. Each new section is followed by its relocations; the first of a
    /// group is preceded by the group section.
    fn new(count: usize, sections: &[Section]) -> Result<Self> {
        let mut plan = Self { indices: Vec::with_capacity(sections.len()), groups: Vec::new() };
        let mut positions = HashMap::new();
        let mut next = count as u32;
        for section in sections {
            let group = section.group.map(|signature| {
                *positions.entry(signature).or_insert_with(|| {
                    plan.groups.push(Group { signature, index: next, symbol: 0, members: Vec::new() });
                    next += 1;
                    plan.groups.len() - 1
                })
            });
            // A section with relocations takes two indices.
            let end = next + if section.relocations.is_empty() { 1 } else { 2 };
            plan.indices.push(next);
            if let Some(group) = group {
                plan.groups[group].members.extend(next..end);
            }
            next = end;
            if next >= elf::SHN_LORESERVE.into() {
                return Err(too_many_sections());
            }
        }
        Ok(plan)
    }

    /// The groups' symbols. Their names are added to the symbol table's string table, unless it has them: those of groups
    /// that are replaced.
    fn signatures(&self, image: &mut Image<'_>, symtab: usize) -> Result<Vec<Local>> {
        if self.groups.is_empty() {
            return Ok(Vec::new());
        }
        let names = image.sections[symtab].header.sh_link as usize;
        let names = match image.sections.get_mut(names) {
            Some(names) if names.header.sh_type == elf::SHT_STRTAB => names,
            _ => {
                let error = Error::malformed("symbol name table is missing");
                return Err(error.in_section(&image.sections[symtab].display_name()));
            }
        };
        let known: HashMap<&[u8], usize> =
            strings(&names.contents).map(|(start, name)| (name, start)).collect();
        let mut bytes = names.contents.to_vec();
        // The table's last string must end before new ones begin. Offset 0 names nothing.
        if bytes.last() != Some(&0) {
            bytes.push(0);
        }
        let mut locals = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            // Decimal, as in LLVM, because a linker then merges groups from both producers.
            let signature = group.signature.to_string();
            let start = known.get(signature.as_bytes()).copied();
            let name = u32::try_from(start.unwrap_or(bytes.len())).map_err(|_| {
                Error::from(ErrorKind::TooLarge(
                    "symbol name table needs offsets of more than 32 bits".into(),
                ))
            })?;
            locals.push(Local { name, kind: elf::STT_NOTYPE, section: group.index });
            if start.is_none() {
                bytes.extend_from_slice(signature.as_bytes());
                bytes.push(0);
            }
        }
        names.replace(bytes);
        Ok(locals)
    }
}

/// A local symbol to be added for a section's start.
#[derive(Debug, Clone, Copy)]
struct Local {
    /// The name's offset in the string table.
    name: u32,
    kind: elf::SymbolType,
    section: u32,
}

/// Section header for a debug section.
pub(super) fn debug_header(section: &Section) -> SectionHeader {
    let mut flags = if section.is_strings { elf::SHF_MERGE | elf::SHF_STRINGS } else { elf::SectionFlags(0) };
    // Linkers leave out the sections of split units: DWARF 5 section 7.3.2.
    if section.name.ends_with(".dwo") {
        flags |= elf::SHF_EXCLUDE;
    }
    SectionHeader {
        sh_type: elf::SHT_PROGBITS,
        sh_flags: flags,
        sh_addralign: 1,
        sh_entsize: section.is_strings.into(),
        ..SectionHeader::default()
    }
}

/// Section header for loaded call frame information.
fn unwind_header(target: &Target) -> SectionHeader {
    let kind = match elf::Machine(target.elf().machine) {
        elf::EM_X86_64 => elf::SHT_X86_64_UNWIND,
        _ => elf::SHT_PROGBITS,
    };
    let bytes = target.address_bytes();
    SectionHeader {
        sh_type: kind,
        sh_flags: elf::SHF_ALLOC,
        sh_addralign: bytes.into(),
        ..SectionHeader::default()
    }
}

/// Section header for the relocations in section `index`.
pub(super) fn relocation_header(encoder: Encoder<Endianness>, symtab: usize, index: u32) -> SectionHeader {
    SectionHeader { sh_link: symtab as u32, sh_info: index, ..encoder.relocation_section_header(true) }
}

/// Index and type of a symbol for the object's code or data.
fn named(lookup: &[Lookup<'_>], name: &str, undefined: UndefinedSymbols) -> Result<(u32, elf::SymbolType)> {
    match (lookup.iter().find_map(|lookup| lookup.undefined(name)), undefined) {
        (Some((index, symbol)), UndefinedSymbols::Allow) => Ok((index, symbol.info.st_type())),
        _ => defined(lookup, name).map(|(index, symbol)| (index, symbol.info.st_type())),
    }
}

fn rela(target: &Target, relocation: &Relocation, symbol: u32, symbol_kind: elf::SymbolType) -> Result<Rel> {
    let numbers = target.elf().relocations;
    // An addend to a symbol may be negative; for a 4-byte field the addend is a 32-bit number.
    let addend = relocation.addend as i64;
    if relocation.bytes == 4 && i32::try_from(addend).is_err() && u32::try_from(addend).is_err() {
        let text = format!("addend {:#x} does not fit a 4-byte field", relocation.addend);
        return Err(ErrorKind::TooLarge(text).into());
    }
    let kind = match (&relocation.target, relocation.bytes) {
        (RelocationTarget::Distance(_), 4) => numbers.relative32,
        (RelocationTarget::Distance(_), bytes) => {
            return Err(unsupported(format!(
                "relative relocation has {bytes}; expected 4",
                bytes = Count(bytes, "byte")
            )));
        }
        // The address of a thread-local variable is an offset.
        (_, bytes) if symbol_kind == elf::STT_TLS => {
            let machine = target.elf().machine;
            target.elf().thread_local_offset().filter(|_| bytes == 8).ok_or_else(|| {
                let bytes = Count(bytes, "byte");
                unsupported(format!(
                    "no relocation of ELF machine {machine} is a thread-local offset of {bytes}"
                ))
            })?
        }
        (_, 4) => numbers.abs32,
        _ => numbers.abs64,
    };
    Ok(Rel {
        r_offset: relocation.offset,
        r_sym: symbol,
        r_type: elf::RelocationType(kind),
        r_addend: addend,
    })
}

/// Inserts symbols after the last local symbol and returns the first symbol's index.
fn insert_locals(image: &mut Image<'_>, symtab: usize, locals: &[Local]) -> Result<u32> {
    let (first, count) = symbol_counts(image, symtab)?;
    if locals.is_empty() {
        return Ok(first);
    }
    // There are at most as many local symbols as sections, so the cast loses nothing.
    let local_count = locals.len() as u32;
    if count.checked_add(local_count).is_none() {
        return Err(ErrorKind::TooLarge("symbol table has 2^32 symbols or more".into()).into());
    }
    let encoder = image.encoder();
    let mut inserted = Vec::new();
    for local in locals {
        encoder.symbol(
            &mut inserted,
            &Sym {
                section: Some(local.section),
                st_name: local.name,
                st_info: elf::STB_LOCAL | local.kind,
                st_other: elf::SymbolOther(0),
                st_shndx: elf::SHN_UNDEF,
                st_value: 0,
                st_size: 0,
            },
        );
    }
    let table = &mut image.sections[symtab];
    let position = first as usize * SYMBOL_SIZE;
    // Local symbols precede global symbols, and `sh_info` says where the latter begin.
    let symbols = [&table.contents[..position], &inserted, &table.contents[position..]].concat();
    table.replace(symbols);
    table.header.sh_info = first + local_count;
    renumber::symbols(image, symtab, &Moved::with_symbols(count, first, local_count), |_| true)?;
    Ok(first)
}
