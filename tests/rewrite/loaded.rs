//! Code, symbols and all loaded bytes, as the crate `object` reads them.

use std::collections::BTreeMap;

use eitri::object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use eitri::object::{Endianness, Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};

/// A section's address, contents, alignment, and relocations as offset, type, symbol and addend.
type Contents = (u64, Vec<u8>, u64, Vec<String>);

/// Requires that two objects have equal segments, sections, relocations and symbols, debug sections aside.
pub fn are_equal(name: &str, before: &[u8], after: &[u8]) {
    assert_eq!(segments(before), segments(after), "{name}: segments");
    let [old, new] = [before, after].map(sections);
    assert!(!old.is_empty(), "{name}: no section is compared");
    assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>(), "{name}: sections");
    for (key, section) in &old {
        assert!(*section == new[key], "{name}: {key:?}");
    }
    assert_eq!(symbols(before), symbols(after), "{name}: symbols");
}

fn file(bytes: &[u8]) -> ElfFile64<'_, Endianness> {
    ElfFile64::parse(bytes).expect("an ELF file")
}

/// Kind, address, and the file's bytes of each segment.
fn segments(bytes: &[u8]) -> Vec<(u32, u64, u64, Vec<u8>)> {
    let file = file(bytes);
    let endian = file.endian();
    let headers = file.elf_header().program_headers(endian, bytes).expect("program headers");
    headers
        .iter()
        .map(|header| {
            let data = header.data(endian, bytes).expect("contents").to_vec();
            // The headers of the file are in the first segment: they say where the sections are.
            let start = if header.p_offset(endian) == 0 { 64.min(data.len()) } else { 0 };
            (header.p_type(endian).0, header.p_vaddr(endian), header.p_memsz(endian), data[start..].to_vec())
        })
        .collect()
}

fn is_debug(name: &str) -> bool {
    // Copies for NVIDIA's finalizer are not loaded either.
    let name = name.strip_prefix(".nv.merc").unwrap_or(name);
    let name = name.strip_prefix(".rela").or(name.strip_prefix(".rel")).unwrap_or(name);
    let prefixes = [".debug_", ".zdebug_", ".nv_debug_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == ".gdb_index"
}

/// Sections by name and number among the sections with the name, without debug sections and tables of the file.
fn sections(bytes: &[u8]) -> BTreeMap<(String, usize), Contents> {
    let file = file(bytes);
    let mut all = BTreeMap::new();
    for section in file.sections() {
        let name = String::from_utf8_lossy(section.name_bytes().expect("a name")).into_owned();
        let is_table = section.kind() == SectionKind::Metadata && name != ".rela.dyn";
        // It has indices of symbols, which move with the symbols of debug sections.
        if is_debug(&name) || is_table || name == ".llvm_addrsig" {
            continue;
        }
        let mut relocations: Vec<_> = section
            .relocations()
            .map(|(offset, relocation)| {
                let target = match relocation.target() {
                    RelocationTarget::Symbol(index) => {
                        let symbol = file.symbol_by_index(index).expect("a symbol");
                        let section = symbol.section_index();
                        let section = section.map(|index| file.section_by_index(index).expect("a section"));
                        let section = section.map(|section| section.name().unwrap_or("").to_owned());
                        format!("{:?} {section:?}", symbol.name())
                    }
                    other => format!("{other:?}"),
                };
                format!("{offset:#x} {:?} {} {target}", relocation.flags(), relocation.addend())
            })
            .collect();
        relocations.sort();
        let contents = section.data().expect("contents").to_vec();
        let number = all.keys().filter(|(known, _): &&(String, usize)| *known == name).count();
        all.insert((name, number), (section.address(), contents, section.align(), relocations));
    }
    all
}

/// Symbols that are not symbols of debug sections.
fn symbols(bytes: &[u8]) -> Vec<String> {
    let file = file(bytes);
    let mut all = Vec::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let section = symbol.section_index().map(|index| file.section_by_index(index).expect("a section"));
        let section = section.map(|section| section.name().unwrap_or("").to_owned());
        if section.as_deref().is_some_and(|name| is_debug(name) || name == ".group") {
            continue;
        }
        let (address, size, kind) = (symbol.address(), symbol.size(), symbol.kind());
        let [local, weak] = [symbol.is_local(), symbol.is_weak()];
        all.push(format!("{:?} {section:?} {address:#x} {size} {kind:?} {local} {weak}", symbol.name()));
    }
    all
}
