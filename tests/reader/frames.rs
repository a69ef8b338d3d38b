//! Rows of call frame information, compared with the output of `llvm-dwarfdump`.

use std::path::Path;

use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::op::Reg;
use eitri::read::{CfaRule, Dwarf, FrameSection, Object, RegisterRule};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use crate::reader::compiled::{CLANG, GCC, compile, dumped, hex, sources};
use crate::reader::tools::Folder;

/// FDEs in the output of the tool: pcs, and a line for each row.
fn frames_of_tool(path: &Path, section: FrameSection) -> Option<Vec<(u64, u64, Vec<String>)>> {
    // The tool also prints the other section.
    let output = dumped("--debug-frame", path)?;
    let (debug, eh) = output.split_once(".eh_frame contents:").unwrap();
    let mut all: Vec<(u64, u64, Vec<String>)> = Vec::new();
    let text = if section == FrameSection::Debug { debug } else { eh };
    for line in text.lines() {
        if let Some((_, pcs)) = line.split_once(" pc=") {
            let (start, end) = pcs.split_once("...").unwrap();
            all.push((hex(start), hex(end), Vec::new()));
        } else if let Some((_, row)) = line.split_once(": CFA=")
            && let Some((_, _, rows)) = all.last_mut()
        {
            // The procedure linkage table, which a linker writes, has such rules.
            let row = match row.split_once("DW_OP_") {
                Some((_, rest)) => format!("expression: {}", rest.rsplit_once(": ").unwrap().1),
                None => row.into(),
            };
            let start = hex(line.trim().split(':').next().unwrap());
            rows.push(format!("{start:#x}: CFA={row}"));
        }
    }
    Some(all)
}

/// LLVM's name of a register.
fn register(target: &Target, register: Reg) -> String {
    let name = target.register(register).unwrap().name().to_string().to_uppercase();
    if target.is_big_endian() { format!("{name}D") } else { name }
}

fn frames_of(
    dwarf: &Dwarf<'_>,
    target: &Target,
    section: FrameSection,
    base: u64,
) -> Vec<(u64, u64, Vec<String>)> {
    let frames = dwarf.frames(section).unwrap();
    let rows = |fde| {
        let mut rows = frames.rows(fde);
        let mut all = Vec::new();
        while let Some(row) = rows.next_row().unwrap() {
            assert_eq!(frames.row_at(row.start).unwrap().as_ref(), Some(row));
            let cfa = match row.cfa {
                CfaRule::Register { register: cfa, offset, space: None } => {
                    format!("{}{offset:+}", register(target, cfa))
                }
                CfaRule::Expression(_) => "expression".into(),
                other => panic!("{other:?}"),
            };
            let rules: Vec<_> = row
                .rules
                .iter()
                .map(|&(reg, rule)| {
                    let RegisterRule::Offset(offset) = rule else { panic!("{rule:?}") };
                    format!("{}=[CFA{offset:+}]", register(target, reg))
                })
                .collect();
            let colon = if rules.is_empty() { "" } else { ": " };
            let start = row.start - base;
            all.push(format!("{start:#x}: CFA={cfa}{colon}{}", rules.join(", ")));
        }
        all
    };
    frames
        .fdes
        .iter()
        .map(|fde| {
            assert_eq!(frames.fde_at(fde.start).map(|found| found.offset), Some(fde.offset));
            (fde.start - base, fde.start + fde.length - base, rows(fde))
        })
        .collect()
}

#[test]
fn rows_are_those_that_llvm_computes() {
    let folder = sources();
    for (tool, flags, section) in [
        (CLANG, "-O1 -c -fno-asynchronous-unwind-tables -gdwarf-5", FrameSection::Debug),
        (CLANG, "-O1 -c -fno-asynchronous-unwind-tables -gdwarf-3", FrameSection::Debug),
        (CLANG, "-O1 -c -fno-asynchronous-unwind-tables -gdwarf-2", FrameSection::Debug),
        (CLANG, "-O1 -c -fno-asynchronous-unwind-tables -gdwarf-4 -gdwarf64", FrameSection::Debug),
        (GCC, "-O2 -c -fno-asynchronous-unwind-tables -g", FrameSection::Debug),
        (CLANG, "-O1 -c -g", FrameSection::Eh),
        (GCC, "-O2 -c -g", FrameSection::Eh),
        (GCC, "-O0 -c", FrameSection::Eh),
        (GCC, "-O2 -shared -nostdlib -fPIC", FrameSection::Eh),
        (
            CLANG,
            "-O1 -shared -nostdlib -fuse-ld=lld -fPIC -g -fasynchronous-unwind-tables --target=s390x-linux-gnu",
            FrameSection::Eh,
        ),
        (CLANG, "-O1 -c -g -fno-asynchronous-unwind-tables --target=s390x-linux-gnu", FrameSection::Debug),
    ] {
        let Some(path) = compile(tool, folder.path(), "frames.c", flags, "a.o") else { return };
        let Some(expected) = frames_of_tool(&path, section) else { return };
        let bytes = std::fs::read(&path).unwrap();
        let object = Object::read(&bytes).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        let target = object.target(None).unwrap();
        // A relocatable object has its code at an assumed address.
        let base = if object.is_relocatable() { object.section_address(".text").unwrap() } else { 0 };
        let found = frames_of(&dwarf, &target, section, base);
        assert!(found.len() >= 3 && found.iter().any(|(_, _, rows)| rows.len() > 3), "{flags}: {found:?}");
        assert_eq!(found, expected, "{flags}");
        let text = eitri::dump::print(&bytes, None).unwrap();
        assert!(text.contains(&format!("\nframes: {}\n", section.name())), "{text}");
    }
}

/// The address size of a frame is that of the file's class, or of a version 4 entry; not that of a unit, which can differ.
/// DWARF 5 section 6.4.1, `address_size`.
#[test]
fn address_size_of_frames_is_not_that_of_the_first_unit() {
    const START: u64 = 0x1122_3344_5566_7788;
    let section = |name: &'static str, bytes: Vec<u8>| Section {
        name,
        bytes,
        relocations: Vec::new(),
        is_strings: false,
        group: None,
    };
    // A compile unit with a name, without children.
    let abbreviations = [1, 0x11, 0, 3, 8, 0, 0, 0].to_vec();
    // Version 4, abbreviations at 0, addresses of 4 and of 8 bytes.
    let unit = |size: u8| [&[10, 0, 0, 0, 4, 0, 0, 0, 0, 0, size, 1][..], b"a\0"].concat();
    let units = [unit(4), unit(8)].concat();
    let entry = |id: u32, rest: &[u8]| {
        let contents = [&id.to_le_bytes()[..], rest].concat();
        [&(contents.len() as u32).to_le_bytes()[..], &contents].concat()
    };
    // The CFA is register 7 plus 8; the return address, in column 16, is 8 bytes below it.
    let rules = [1, 0x78, 16, 0x0c, 7, 8, 0x90, 1];
    let first = entry(u32::MAX, &[&[3, 0][..], &rules].concat());
    let fde = entry(0, &[START.to_le_bytes(), 0x20u64.to_le_bytes()].concat());
    // A version 4 entry has its own address size, and no segments.
    let second = entry(u32::MAX, &[&[4, 0, 4, 0][..], &rules].concat());
    let at = (first.len() + fde.len()) as u32;
    let small = entry(at, &[0x1000u32.to_le_bytes(), 0x10u32.to_le_bytes()].concat());
    let frames = [first, fde, second, small].concat();
    let sections = [
        section(".debug_abbrev", abbreviations),
        section(".debug_info", units),
        section(".debug_frame", frames),
    ];
    let code = ObjectCode::text(vec![0xc3]).with_function("f", 0, 1);
    let bytes = new_object(&Target::x86_64(), &code, &sections).expect("an object");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("units");
    let sizes: Vec<u8> = dwarf.units().iter().map(|unit| unit.encoding.address_bytes).collect();
    assert_eq!(sizes, [4, 8]);
    let frames = dwarf.frames(FrameSection::Debug).expect("frames");
    let found: Vec<_> = frames.fdes.iter().map(|fde| (fde.start, fde.length)).collect();
    assert_eq!(found, [(START, 0x20), (0x1000, 0x10)]);
    // LLVM takes the class, too.
    let folder = Folder::new();
    let Some(printed) = dumped("--debug-frame", &folder.file("a.o", &bytes)) else { return };
    let pcs: Vec<&str> =
        printed.lines().filter_map(|line| line.split_once(" pc=")).map(|(_, pcs)| pcs).collect();
    assert_eq!(pcs, ["1122334455667788...11223344556677a8", "00001000...00001010"]);
}
