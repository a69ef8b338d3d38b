//! ELF objects: relocations, symbols, targets.

use eitri::error::ErrorKind;
use eitri::read::{Dwarf, Object, Sections};
use eitri::target::{Target, Wave};
use gimli::write::RelocationTarget;
use gimli::{Format, SectionId};
use object::write::{Object as Elf, Relocation, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind, SectionKind,
    SymbolFlags, SymbolKind, SymbolScope,
};

use crate::reader::attributes::{Contents, Form, sections_of, write};
use crate::reader::compare::compare;
use crate::reader::compiled::{CLANG, compile};
use crate::reader::tools::Folder;

pub const FORM: fn() -> Form = || Form::new(5, Format::Dwarf32, 8, false);

/// A relocatable x86-64 object of the module, whose code is in the second of two text sections.
pub fn object(form: Form) -> Vec<u8> {
    let written = write(form, &Contents::of(form.encoding.version), 0, true);
    let mut elf = Elf::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let other = elf.add_section(Vec::new(), b".text.other".into(), SectionKind::Text);
    elf.append_section_data(other, &[0x90; 0x1000], 16);
    let text = elf.add_section(Vec::new(), b".text.kernel".into(), SectionKind::Text);
    elf.append_section_data(text, &[0x90; 0x400], 16);
    let symbol = |name: &str, value, section| Symbol {
        name: name.into(),
        value,
        size: 0x100,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section,
        flags: SymbolFlags::None,
    };
    let kernel = elf.add_symbol(symbol("kernel", 0x40, SymbolSection::Section(text)));
    elf.add_symbol(symbol("elsewhere", 0, SymbolSection::Undefined));
    let mut debug = Vec::new();
    written
        .for_each(|id, out| {
            if !out.bytes.slice().is_empty() {
                let section = elf.add_section(Vec::new(), id.name().into(), SectionKind::Debug);
                elf.append_section_data(section, out.bytes.slice(), 1);
                debug.push((id, section));
            }
            Ok::<_, ()>(())
        })
        .unwrap();
    for &(id, section) in &debug {
        for one in &written.get(id).unwrap().relocations {
            let symbol = match one.target {
                RelocationTarget::Symbol(_) => kernel,
                RelocationTarget::Section(id) => {
                    let target = debug.iter().find(|(other, _)| *other == id).unwrap().1;
                    elf.section_symbol(target)
                }
            };
            let flags = RelocationFlags::Generic {
                kind: RelocationKind::Absolute,
                encoding: RelocationEncoding::Generic,
                size: one.size * 8,
            };
            let relocation = Relocation { offset: one.offset as u64, symbol, addend: one.addend, flags };
            elf.add_relocation(section, relocation).unwrap();
        }
    }
    elf.write().unwrap()
}

/// Offset in the file of every relocation record.
pub fn records(bytes: &[u8]) -> Vec<usize> {
    let object = Object::read(bytes).unwrap();
    let mut all = Vec::new();
    for section in object.sections().iter().filter(|section| section.kind == 4) {
        let start = section.data.as_ptr() as usize - bytes.as_ptr() as usize;
        all.extend((start..start + section.data.len()).step_by(24));
    }
    all
}

/// The object with machine and relocation types of an AMD GPU.
pub fn for_amdgpu(mut bytes: Vec<u8>, flags: u32) -> Vec<u8> {
    for record in records(&bytes) {
        let kind = match bytes[record + 8] {
            1 => 3,
            10 => 6,
            other => panic!("relocation type {other}"),
        };
        bytes[record + 8] = kind;
    }
    bytes[18..20].copy_from_slice(&224u16.to_le_bytes());
    bytes[48..52].copy_from_slice(&flags.to_le_bytes());
    bytes
}

#[test]
fn relocated_sections_are_those_written_for_the_same_addresses() {
    for version in 2..=5 {
        let form = Form::new(version, Format::Dwarf32, 8, false);
        for bytes in [object(form), for_amdgpu(object(form), 0x36)] {
            let object = Object::read(&bytes).unwrap();
            assert_eq!(object.section_address(".text.other"), Some(0x10000));
            assert_eq!(object.section_address(".text.kernel"), Some(0x12000));
            assert_eq!(object.section_address(".debug_info"), Some(0));
            let kernel = object.symbol_address("kernel").unwrap();
            assert_eq!(kernel, 0x12040);
            let expected = write(form, &Contents::of(version), kernel, false);
            for id in [
                SectionId::DebugAbbrev,
                SectionId::DebugInfo,
                SectionId::DebugLine,
                SectionId::DebugLineStr,
                SectionId::DebugLoc,
                SectionId::DebugLocLists,
                SectionId::DebugRanges,
                SectionId::DebugRngLists,
                SectionId::DebugStr,
            ] {
                let found = object.section(id.name()).map_or(&[][..], |section| &section.data);
                assert_eq!(found, expected.get(id).unwrap().bytes.slice(), "{}", id.name());
            }
            assert_eq!(compare(Sections::of(&object)), compare(sections_of(form, &expected)));
        }
    }
}

#[test]
fn symbols_are_found_by_name() {
    let bytes = object(FORM());
    let object = Object::read(&bytes).unwrap();
    let kernel = object.symbol("kernel").unwrap();
    assert_eq!((kernel.size, kernel.is_global, kernel.is_defined), (0x100, true, true));
    assert_eq!(object.sections()[kernel.section.unwrap()].name, ".text.kernel");
    assert!(!object.symbol("elsewhere").unwrap().is_defined);
    assert_eq!(object.symbol_address("elsewhere"), None);
    assert!(object.symbol("kerne").is_none() && object.symbol("kernel2").is_none());
    assert!(object.symbol_fields().is_empty());
}

#[test]
fn an_undefined_symbol_is_0_and_remembered() {
    let mut bytes = object(FORM());
    let found = Object::read(&bytes).unwrap();
    let index = |name| found.symbols().iter().position(|symbol| symbol.name == name).unwrap() as u32;
    let kernel = index("kernel");
    let elsewhere = index("elsewhere");
    let info = found.sections().iter().position(|section| section.name == ".debug_info").unwrap();
    let mut patched = 0;
    for record in records(&bytes) {
        let symbol = u32::from_le_bytes(bytes[record + 12..record + 16].try_into().unwrap());
        if symbol == kernel {
            bytes[record + 12..record + 16].copy_from_slice(&elsewhere.to_le_bytes());
            patched += 1;
        }
    }
    let object = Object::read(&bytes).unwrap();
    assert_eq!(object.symbol_fields().len(), patched);
    let in_info: Vec<_> = object.symbol_fields().iter().filter(|one| one.section == info).collect();
    assert_eq!(in_info.len(), 1);
    assert_eq!(object.symbols()[in_info[0].symbol].name, "elsewhere");
    let dwarf = Dwarf::read(&object).unwrap();
    assert_eq!(dwarf.units()[0].low_pc, Some(0));
}

#[test]
fn the_target_is_the_one_of_the_header() {
    let bytes = object(FORM());
    let found = Object::read(&bytes).unwrap();
    assert_eq!(found.target(None), Some(Target::x86_64()));
    let name = |flags, wave| {
        let bytes = for_amdgpu(bytes.clone(), flags);
        let found = Object::read(&bytes).unwrap();
        found.target(wave).map(|target| target.name().to_string())
    };
    assert_eq!(name(0x36, Some(Wave::W32)).as_deref(), Some("amdgpu-gfx1030-wave32"));
    assert_eq!(name(0x36, Some(Wave::W64)).as_deref(), Some("amdgpu-gfx1030-wave64"));
    // The wave size is unknown here, and this processor supports both.
    assert_eq!(name(0x36, None), None);
    assert_eq!(name(0x12c, None).as_deref(), Some("amdgpu-gfx900-wave64"));
    assert_eq!(name(0x12c, Some(Wave::W32)), None);
    assert_eq!(name(0xff, Some(Wave::W32)), None);
    let kernel = include_bytes!("../../examples/data/uspill.o");
    let kernel = Object::read(kernel).unwrap();
    assert_eq!(kernel.wave(), Some(Wave::W32));
    assert_eq!(kernel.target(None).unwrap().name(), "amdgpu-gfx1030-wave32");
}

#[test]
fn unsupported_objects_are_refused_by_name() {
    let good = object(FORM());
    let refused = |bytes: &[u8]| Object::read(bytes).unwrap_err();
    let unsupported = |error: &eitri::Error| matches!(error.kind(), ErrorKind::Unsupported(_));

    let error = refused(b"#!/bin/sh");
    assert_eq!(error.to_string(), "not an ELF file");
    assert!(matches!(refused(&good[..0x20]).kind(), ErrorKind::Truncated(_)));

    // ARM, which has other relocation types.
    let mut bytes = good.clone();
    bytes[18] = 40;
    let error = Dwarf::read(&Object::read(&bytes).unwrap()).unwrap_err();
    assert!(unsupported(&error) && error.to_string().contains("of machine 40"), "{error}");

    // R_X86_64_GOT32.
    let mut bytes = good.clone();
    let record = records(&bytes)[0];
    bytes[record + 8] = 3;
    let error = Dwarf::read(&Object::read(&bytes).unwrap()).unwrap_err();
    assert!(unsupported(&error), "{error}");
    assert!(error.at().section.as_deref().is_some_and(|name| name.starts_with(".debug_")), "{error}");
    assert!(error.at().offset.is_some() && error.to_string().contains("relocation type 3"), "{error}");

    // SHF_COMPRESSED on `.debug_info`, whose first bytes are then an unknown method.
    let mut bytes = good.clone();
    let found = Object::read(&good).unwrap();
    let index = found.sections().iter().position(|section| section.name == ".debug_info").unwrap();
    let table = u64::from_le_bytes(good[0x28..0x30].try_into().unwrap()) as usize;
    bytes[table + index * 64 + 9] |= 8;
    let error = refused(&bytes);
    assert!(unsupported(&error) && error.at().section.as_deref() == Some(".debug_info"), "{error}");
}

#[test]
fn facts_of_a_compiler_are_those_that_gimli_reads() {
    let folder = Folder::new();
    let text = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * (s ^ n); return s; }\n\
                kernel void k(global int *p, int n) { local int q[4]; q[n & 3] = f(n); p[f(n)] += q[0]; }\n";
    folder.file("a.cl", text);
    for target in ["amdgcn-amd-amdhsa -mcpu=gfx1030", "x86_64-linux-gnu"] {
        for version in 2..=5 {
            let flags =
                format!("-x cl -cl-std=CL2.0 -O2 -c -nogpulib -w --target={target} -gdwarf-{version}");
            let Some(file) = compile(CLANG, folder.path(), "a.cl", &flags, "a.o") else { return };
            let bytes = std::fs::read(&file).unwrap();
            let object = Object::read(&bytes).unwrap();
            let count = compare(Sections::of(&object));
            assert!(count.entries > 10 && count.list_entries > 3 && count.rows > 10, "{count:?}");
        }
    }
}
