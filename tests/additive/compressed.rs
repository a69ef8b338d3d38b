//! Compressed debug sections, decompressed by other tools.

use eitri::emit::elf::*;
use eitri::emit::{RelocationTarget, Section};
use eitri::target::Target;
use object::{Endian, Endianness};
use pretty_assertions::assert_eq;

use super::support::*;
use crate::common::with;

const SHF_COMPRESSED: u64 = 0x800;
const ALL: [(Compression, u32); 2] = [(Compression::Zlib, 1), (Compression::Zstd, 2)];

/// Sections of a unit, with a large string section and with relocations at the end of a section.
fn sections(order: Endianness, function: &str, size: u32) -> Vec<Section> {
    let mut sections = debug_sections_in(order, function, size, function);
    let more = (0..500).flat_map(|number| format!("_Z9a_long_name{number}\0").into_bytes());
    sections[2].bytes.extend(more);
    let mut relocations = vec![to_symbol(4000, 8, function, 4)];
    relocations.extend((4010..4090).step_by(4).map(|at| to_section(at, ".debug_str", at)));
    sections.push(Section {
        name: ".debug_table",
        bytes: vec![0; 4096],
        relocations,
        is_strings: false,
        group: None,
    });
    sections
}

/// The object after decompression by a tool.
fn decompressed(tool: Tool, bytes: &[u8]) -> Option<ReadObject> {
    let folder = Folder::new();
    let input = folder.file("input", bytes);
    let output = folder.path().join("output");
    clean(tool, &["--decompress-debug-sections"], &[&input, &output])?;
    Some(read(&std::fs::read(output).unwrap()))
}

/// Whether the tool supports the machine.
fn knows(tool: Tool, target: &Target) -> bool {
    tool.name.starts_with("llvm") || target.name() == "x86_64"
}

/// Compares an object with compressed sections with the same object without compression.
#[track_caller]
fn check(target: &Target, packed: &[u8], plain: &[u8], sections: &[Section], kind: u32) {
    let new = read(packed);
    let old = read(plain);
    assert_eq!(new.symbols, old.symbols);
    assert_eq!(new.relocations, old.relocations);
    assert!(packed.len() + 8000 < plain.len());
    for (new, old) in new.sections.iter().zip(&old.sections) {
        if ![".debug_str", ".debug_table"].contains(&old.name.as_str()) {
            // Sections too small to benefit stay uncompressed as well.
            assert_eq!(ReadSection { offset: 0, ..new.clone() }, ReadSection { offset: 0, ..old.clone() });
            continue;
        }
        let at =
            |offset: usize| read(packed).order.read_u64(new.bytes[offset..offset + 8].try_into().unwrap());
        let type_and_reserved = [target_order(target).write_u32(kind), [0; 4]].concat();
        assert_eq!((&new.bytes[..8], at(8), at(16)), (&type_and_reserved[..], old.bytes.len() as u64, 1));
        assert_eq!((new.flags, new.entry), (old.flags | SHF_COMPRESSED, old.entry));
        assert_eq!((new.align, new.offset % 8), (8, 0));
    }
    for tool in [LLVM_OBJCOPY, OBJCOPY].into_iter().filter(|tool| knows(*tool, target)) {
        let Some(theirs) = decompressed(tool, packed) else { continue };
        for section in sections {
            let theirs = theirs.section(section.name);
            let ours = old.section(section.name);
            assert_eq!((&theirs.bytes, theirs.flags), (&ours.bytes, ours.flags), "{tool:?} {}", section.name);
        }
    }
    let folder = Folder::new();
    let path = folder.file("packed", packed);
    clean(READELF, &["-StrW"], &[&path]);
    if let Some(text) = clean(DWARFDUMP, &["--verify"], &[&path]) {
        assert!(text.contains("No errors"), "{text}");
    }
    if let Some(text) = clean(DWARFDUMP, &["--debug-info"], &[&path]) {
        assert!(text.contains("test.cl"), "{text}");
    }
}

fn target_order(target: &Target) -> Endianness {
    if target.is_big_endian() { Endianness::Big } else { Endianness::Little }
}

#[test]
fn new_objects_are_compressed() {
    // ret; br %r14
    for (target, text) in [(Target::x86_64(), vec![0xc3, 0xcc]), (Target::s390x(), vec![0x07, 0xfe])] {
        let code = ObjectCode::text(text).with_function("f", 0, 2);
        let sections = sections(target_order(&target), "f", 2);
        let plain = new_object(&target, &code, &sections).unwrap();
        assert_eq!(new_object_with(&target, &code, &sections, Compression::None).unwrap(), plain);
        for (compression, kind) in ALL {
            let packed = new_object_with(&target, &code, &sections, compression).unwrap();
            assert!(packed == new_object_with(&target, &code, &sections, compression).unwrap());
            check(&target, &packed, &plain, &sections, kind);
        }
    }
}

#[test]
fn attached_sections_are_compressed() {
    let sections = sections(Endianness::Little, "uspill", 1388);
    let how = |compression| with::<AttachOptions>(|options| options.compression = compression);
    let linked = link(&uspill(), &[]);
    for object in [Some(uspill()), linked].into_iter().flatten() {
        let plain = attach(&object, &gfx1030(), &sections).unwrap();
        for (compression, kind) in ALL {
            let packed = attach_with(&object, &gfx1030(), &sections, &how(compression)).unwrap();
            check(&gfx1030(), &packed, &plain, &sections, kind);
            // From one compression to the other.
            let how = {
                let mut options = how(compression);
                options.existing = Existing::Replace;
                options
            };
            assert!(packed == attach_with(&packed, &gfx1030(), &sections, &how).unwrap());
            let how = {
                let mut options = how;
                options.compression = Compression::None;
                options
            };
            assert!(attach_with(&packed, &gfx1030(), &sections, &how).unwrap() == plain);
        }
    }
}

/// A linker decompresses, relocates and merges the sections to the same result.
#[test]
fn a_linker_reads_them() {
    let mut sections = sections(Endianness::Little, "uspill", 1388);
    let group = Some(7);
    sections.push(Section { name: ".debug_types", bytes: vec![0; 500], group, ..sections[0].clone() });
    sections.last_mut().unwrap().relocations.push(to_section(400, ".debug_abbrev", 1));
    let plain = attach(&uspill(), &gfx1030(), &sections).unwrap();
    let Some(expected) = link(&plain, &[]) else { return };
    for (compression, _) in ALL {
        let how = with::<AttachOptions>(|options| options.compression = compression);
        let packed = attach_with(&uspill(), &gfx1030(), &sections, &how).unwrap();
        let types = read(&packed).section(".debug_types").clone();
        assert_eq!(types.flags, SHF_COMPRESSED | 0x200);
        assert!(link(&packed, &[]).unwrap() == expected);
    }
}

/// Sections that do not get smaller stay uncompressed: the header takes 24 bytes.
#[test]
fn small_and_random_sections_stay() {
    // xorshift64
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let section = |name, bytes| Section { name, bytes, relocations: vec![], is_strings: false, group: None };
    let sections = [
        section(".debug_empty", vec![]),
        section(".debug_small", vec![0; 24]),
        section(".debug_random", (0..4096).map(|_| random()).collect()),
        // By its name not debug information.
        section(".other", vec![0; 4096]),
    ];
    let plain = new_object(&Target::x86_64(), &ObjectCode::default(), &sections).unwrap();
    for (compression, _) in ALL {
        let how = new_object_with(&Target::x86_64(), &ObjectCode::default(), &sections, compression);
        assert!(how.unwrap() == plain);
    }
}

#[test]
fn offsets_are_those_without_compression() {
    let sections = sections(Endianness::Little, "f", 1);
    let code = ObjectCode::text(vec![0xc3]).with_function("f", 0, 1);
    let packed = new_object_with(&Target::x86_64(), &code, &sections, Compression::Zstd).unwrap();
    let table = sections.last().unwrap();
    let found = &read(&packed).relocations[".debug_table"];
    assert!(read(&packed).section(".debug_table").bytes.len() < 100);
    assert_eq!(found.len(), table.relocations.len());
    for (found, given) in found.iter().zip(&table.relocations) {
        assert_eq!((found.0, found.3), (given.offset, given.addend as i64));
        assert_eq!(found.2 == ".debug_str", matches!(given.target, RelocationTarget::Section(_)));
    }
}
