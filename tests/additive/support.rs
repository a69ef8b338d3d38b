//! Shared helpers: a compiled object, debug sections encoded by hand, a reader, tools.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use eitri::emit::{Relocation, RelocationTarget, Section};
use eitri::target::{Gfx, Target, Wave};
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, Rela, SectionHeader, Sym};
use object::{Endian, Endianness};

pub use super::tools::{Folder, Tool};

pub const CLANG: Tool = Tool::new("clang-19", "clang-19");
pub const GXX: Tool = Tool::new("g++", "g++");
pub const LD: Tool = Tool::new("ld", "binutils");
pub const LLD: Tool = Tool::new("ld.lld-19", "lld-19");
pub const READELF: Tool = Tool::new("readelf", "binutils");
pub const OBJCOPY: Tool = Tool::new("objcopy", "binutils");
pub const LLVM_READELF: Tool = Tool::new("llvm-readelf-19", "llvm-19");
pub const LLVM_OBJCOPY: Tool = Tool::new("llvm-objcopy-19", "llvm-19");
pub const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
pub const OBJDUMP: Tool = Tool::new("llvm-objdump-19", "llvm-19");
pub const READOBJ: Tool = Tool::new("llvm-readobj-19", "llvm-19");

/// A gfx1030 object that clang made, without debug information.
pub fn uspill() -> Vec<u8> {
    let path = Path::new(crate::common::ROOT).join("examples/data/uspill.o");
    std::fs::read(path).expect("the example object")
}

pub fn gfx1030() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("gfx1030 runs waves of 32")
}

pub fn to_section(offset: u64, name: &'static str, addend: u64) -> Relocation {
    Relocation { offset, bytes: 4, target: RelocationTarget::Section(name), addend }
}

pub fn to_symbol(offset: u64, bytes: u8, name: &str, addend: u64) -> Relocation {
    let name = Cow::Owned(name.to_owned());
    Relocation { offset, bytes, target: RelocationTarget::Symbol(name), addend }
}

/// Sections of a unit `test.cl` with one function, and a section of plain addresses.
pub fn debug_sections(function: &str, size: u32, other: &str) -> Vec<Section> {
    debug_sections_in(Endianness::Little, function, size, other)
}

/// The sections of [`debug_sections`] in a given byte order.
pub fn debug_sections_in(order: Endianness, function: &str, size: u32, other: &str) -> Vec<Section> {
    let two = |value: u16| order.write_u16(value);
    let four = |value: u32| order.write_u32(value);
    #[rustfmt::skip]
    let abbrev = vec![
        // compile_unit with children: name strp, language data2, addr_base sec_offset, low_pc addrx, high_pc data4
        1, 0x11, 1, 0x03, 0x0e, 0x13, 0x05, 0x73, 0x17, 0x11, 0x1b, 0x12, 0x06, 0, 0,
        // subprogram without children: name strp, low_pc addr, high_pc data4
        2, 0x2e, 0, 0x03, 0x0e, 0x11, 0x01, 0x12, 0x06, 0, 0,
        0,
    ];
    let mut info = [&[0; 4][..], &two(5), &[1, 8]].concat(); // length, version 5, DW_UT_compile, 8-byte addresses
    info.extend([0; 4]); // 8: abbreviations
    info.push(1);
    info.extend([0; 4]); // 13: name
    info.extend(two(0x0c)); // C99
    info.extend([0; 4]); // 19: addr_base
    info.push(0); // address 0
    info.extend(four(size));
    info.push(2);
    info.extend([0; 4]); // 29: name
    info.extend([0; 8]); // 33: low_pc
    info.extend(four(size));
    info.push(0);
    let length = info.len() as u32 - 4;
    info[..4].copy_from_slice(&four(length));

    let strings = format!("\0test.cl\0{function}\0").into_bytes();
    let addr = [&four(12)[..], &two(5), &[8, 0], &[0; 8]].concat();
    let section =
        |name, bytes, relocations| Section { name, bytes, relocations, is_strings: false, group: None };
    vec![
        section(".debug_abbrev", abbrev, vec![]),
        section(
            ".debug_info",
            info,
            vec![
                to_section(8, ".debug_abbrev", 0),
                to_section(13, ".debug_str", 1),
                to_section(19, ".debug_addr", 8),
                to_section(29, ".debug_str", 9),
                to_symbol(33, 8, function, 0),
            ],
        ),
        Section { is_strings: true, ..section(".debug_str", strings, vec![]) },
        section(".debug_addr", addr, vec![to_symbol(8, 8, function, 0)]),
        // Not DWARF: nonzero addends, a field of 4 bytes, and an unaligned field.
        section(
            ".debug_marks",
            vec![0; 21],
            vec![
                to_symbol(0, 8, function, 0x24),
                to_symbol(9, 8, other, u64::MAX - 3),
                to_symbol(17, 4, other, 0x10),
            ],
        ),
    ]
}

pub fn uspill_sections() -> Vec<Section> {
    debug_sections("uspill", 1388, "vspillk.kd")
}

/// A section, read with the crate `object`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadSection {
    pub name: String,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub align: u64,
    pub entry: u64,
    pub link: u32,
    pub info: u32,
    pub bytes: Vec<u8>,
}

/// A symbol: name, info, other, section index, value, size.
pub type ReadSymbol = (String, u8, u8, u16, u64, u64);

/// A relocation: offset, type, name of the symbol or of its section, addend.
pub type ReadRela = (u64, u32, String, i64);

/// An object, read with the crate `object`.
#[derive(Debug)]
pub struct ReadObject {
    pub order: Endianness,
    pub sections: Vec<ReadSection>,
    pub symbols: Vec<ReadSymbol>,
    pub locals: u32,
    /// Relocations by the name of their section; those of several sections with one name are concatenated.
    pub relocations: BTreeMap<String, Vec<ReadRela>>,
    /// Segments: type, file offset, address, bytes in the file.
    pub segments: Vec<(u32, u64, u64, u64)>,
}

impl ReadObject {
    pub fn section(&self, name: &str) -> &ReadSection {
        self.sections.iter().find(|section| section.name == name).unwrap_or_else(|| panic!("no {name}"))
    }

    pub fn symbol(&self, name: &str) -> &ReadSymbol {
        self.symbols.iter().find(|symbol| symbol.0 == name).unwrap_or_else(|| panic!("no {name}"))
    }

    /// The number of `size` bytes, 4 or 8, at an offset of a section.
    pub fn number(&self, section: &str, offset: usize, size: usize) -> u64 {
        let bytes = &self.section(section).bytes[offset..offset + size];
        match size {
            4 => self.order.read_u32(bytes.try_into().unwrap()).into(),
            _ => self.order.read_u64(bytes.try_into().unwrap()),
        }
    }

    /// The string that a 4-byte offset into `.debug_str` refers to.
    pub fn string(&self, section: &str, offset: usize) -> String {
        let strings = &self.section(".debug_str").bytes;
        let rest = &strings[self.number(section, offset, 4) as usize..];
        String::from_utf8(rest.split(|&byte| byte == 0).next().unwrap().to_vec()).unwrap()
    }
}

pub fn read(bytes: &[u8]) -> ReadObject {
    let header = elf::FileHeader64::<Endianness>::parse(bytes).expect("header");
    let e = header.endian().expect("byte order");
    let sections = header.sections(e, bytes).expect("sections");
    let table = sections.symbols(e, bytes, elf::SHT_SYMTAB).expect("symbols");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let name_of = |index: u32| {
        let symbol = table.symbol(object::SymbolIndex(index as usize)).expect("symbol of a relocation");
        if symbol.st_type() == elf::STT_SECTION {
            let section = sections.section(object::SectionIndex(symbol.st_shndx(e).0.into())).unwrap();
            return text(sections.section_name(e, section).unwrap());
        }
        text(symbol.name(e, table.strings()).unwrap())
    };
    let mut object = ReadObject {
        order: e,
        sections: Vec::new(),
        symbols: Vec::new(),
        locals: 0,
        relocations: BTreeMap::new(),
        segments: Vec::new(),
    };
    for section in sections.iter() {
        let name = text(sections.section_name(e, section).unwrap());
        if section.sh_type(e) == elf::SHT_SYMTAB {
            object.locals = section.sh_info(e);
        }
        let is_of_symbols = section.sh_link(e) as usize == table.section().0;
        if let Some((relas, _)) = section.rela(e, bytes).expect("relocations").filter(|_| is_of_symbols) {
            let of = sections.section(object::SectionIndex(section.sh_info(e) as usize)).unwrap();
            let of = text(sections.section_name(e, of).unwrap());
            let read = |rela: &elf::Rela64<Endianness>| {
                let symbol = rela.symbol(e, false).map_or(0, |index| index.0 as u32);
                (rela.r_offset(e), rela.r_type(e, false).0, name_of(symbol), rela.r_addend(e))
            };
            object.relocations.entry(of).or_default().extend(relas.iter().map(read));
        }
        object.sections.push(ReadSection {
            name,
            kind: section.sh_type(e).0,
            flags: section.sh_flags(e).0,
            address: section.sh_addr(e),
            offset: section.sh_offset(e),
            align: section.sh_addralign(e),
            entry: section.sh_entsize(e),
            link: section.sh_link(e),
            info: section.sh_info(e),
            bytes: section.data(e, bytes).expect("contents").to_vec(),
        });
    }
    for symbol in table.iter() {
        object.symbols.push((
            text(symbol.name(e, table.strings()).unwrap()),
            symbol.st_info().0,
            symbol.st_other().0,
            symbol.st_shndx(e).0,
            symbol.st_value(e),
            symbol.st_size(e),
        ));
    }
    for segment in header.program_headers(e, bytes).expect("segments") {
        object.segments.push((
            segment.p_type(e).0,
            segment.p_offset(e),
            segment.p_vaddr(e),
            segment.p_filesz(e),
        ));
    }
    object
}

/// Runs a tool that must succeed without a warning, and returns its output; `None` without the tool.
pub fn clean(tool: Tool, arguments: &[&str], files: &[&Path]) -> Option<String> {
    let arguments: Vec<&OsStr> =
        arguments.iter().map(OsStr::new).chain(files.iter().map(|file| file.as_os_str())).collect();
    let text = tool.run(&arguments)?.clean();
    assert!(!text.to_lowercase().contains("warning"), "{tool:?} {arguments:?}: {text}");
    Some(text)
}

/// Compiles a source for a target, with debug information of a unit in the folder [`COMPILED_IN`].
pub fn compile(compiler: Tool, source: &str, text: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    let folder = Folder::new();
    let input = folder.file(source, text.as_bytes());
    let output = folder.path().join("output.o");
    let map = format!("-fdebug-prefix-map={}={COMPILED_IN}", std::env::current_dir().unwrap().display());
    let arguments = [arguments, &["-g", "-c", &map, "-o", output.to_str().unwrap()]].concat();
    clean(compiler, &arguments, &[&input])?;
    Some(std::fs::read(output).expect("what was compiled"))
}

/// A name that occurs only in the debug information of other compilers.
pub const COMPILED_IN: &str = "/where-it-was-compiled";

/// Whether the bytes contain a text.
pub fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Links a relocatable object into a shared one, as AMD's loader requires.
pub fn link(object: &[u8], arguments: &[&str]) -> Option<Vec<u8>> {
    let folder = Folder::new();
    let input = folder.file("input.o", object);
    let output = folder.path().join("output.hsaco");
    let arguments = [arguments, &["-shared", "-o", output.to_str().unwrap()]].concat();
    clean(LLD, &arguments, &[&input])?;
    Some(std::fs::read(output).expect("what was linked"))
}

/// The ELF header without the fields that locate the section headers, the only ones that may change in a linked
/// object.
pub fn without_section_fields(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[40..48].fill(0);
    bytes[60..64].fill(0);
    bytes
}
