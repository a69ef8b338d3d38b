//! Rows of call frame information, compared with the output of `llvm-dwarfdump`.

use std::path::Path;

use eitri::op::Reg;
use eitri::read::{CfaRule, Dwarf, FrameSection, Object, RegisterRule};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use crate::reader::compiled::{CLANG, GCC, compile, dumped, hex, sources};

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
