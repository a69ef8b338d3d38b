//! Tables of NVIDIA's readers, against the readers themselves: attributes, tags, and the operands over which
//! they step.

use std::collections::BTreeSet;

use eitri::build::Builder;
use eitri::consumer::Operations;
use eitri::emit::ptx::{self, PtxAttachOptions};
use eitri::emit::{Relocation, RelocationTarget, Section};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::target::{Sm, Target};
use pretty_assertions::assert_eq;

use super::common::{Folder, Ran, Tool};
use super::cubin::TEXT;
use super::nvidia::PTXAS;

const CUOBJDUMP: Tool = Tool::new("cuobjdump", "nvidia-cuda-cuobjdump of PyPI");

fn target() -> Target {
    Target::nvptx(Sm::named("sm_80").expect("a processor"))
}

fn section(name: &'static str, bytes: Vec<u8>, relocations: Vec<Relocation>) -> Section {
    Section { name, bytes, relocations, is_strings: false, group: None }
}

/// Assembles the kernel with sections, and prints the cubin; `None` without the tools.
fn printed(sections: &[Section]) -> Option<Ran> {
    let text = ptx::attach(TEXT, &target(), sections, &PtxAttachOptions::default()).expect("a text");
    let folder = Folder::new();
    let [source, cubin] = ["k.ptx", "k.cubin"].map(|name| folder.path().join(name));
    std::fs::write(&source, text).expect("a file");
    let [source, cubin] = [&source, &cubin].map(|path| path.to_str().expect("a path"));
    PTXAS.run(&["-arch=sm_80", "-g", source, "-o", cubin])?.clean();
    CUOBJDUMP.run(&["-elf", cubin])
}

/// A unit of DWARF 2 with the abbreviations of its entry, named `a`, and others, and the bytes of other entries.
fn unit(others: &[u8], entries: &[u8]) -> [Section; 2] {
    let abbreviations = [&[1, 0x11, 1, 3, 8, 0, 0], others, &[0]].concat();
    // The readers do not read an entry that begins in the last four bytes of a unit.
    let body = [&[1, b'a', 0], entries, &[0; 5]].concat();
    let header = [&(body.len() as u32 + 7).to_le_bytes()[..], &[2, 0, 0, 0, 0, 0, 8]].concat();
    let offset =
        Relocation { offset: 6, bytes: 4, target: RelocationTarget::Section(".debug_abbrev"), addend: 0 };
    [
        section(".debug_abbrev", abbreviations, Vec::new()),
        section(".debug_info", [header, body].concat(), vec![offset]),
    ]
}

fn uleb(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

#[test]
fn attributes_are_those_that_cuobjdump_names() {
    // DWARF's up to version 5, and of vendors: MIPS, GNU, NVIDIA, PGI, the last one.
    let vendors = [0x2001..0x2020, 0x2101..0x2140, 0x2700..0x2708, 0x3a00..0x3a08, 0x3ff8..0x4000];
    let all: Vec<u16> = (1..0x8d).chain(vendors.into_iter().flatten()).collect();
    // An abbreviation has up to 256 attributes. No entry uses these.
    let mut others = Vec::new();
    for (code, attributes) in (2..).zip(all.chunks(200)) {
        others.extend([code, 0x34, 0]);
        others.extend(attributes.iter().flat_map(|&attribute| [uleb(attribute.into()), vec![0x0b]].concat()));
        others.extend([0, 0]);
    }
    let Some(ran) = printed(&unit(&others, &[])) else { return };
    assert!(ran.succeeded, "{ran}");
    let unknown = ran.errors.lines().map(|line| {
        let number = line.strip_prefix("Unknown Attribute value ").unwrap_or_else(|| panic!("{ran}"));
        number.parse().expect("a number")
    });
    let unknown: BTreeSet<u16> = unknown.collect();
    let known = Consumer::cuda_gdb().entries.attributes.expect("a list");
    let known: BTreeSet<u16> = known.iter().map(|attribute| attribute.0).collect();
    let expected: BTreeSet<u16> = all.into_iter().filter(|attribute| !unknown.contains(attribute)).collect();
    assert_eq!(known, expected);
}

#[test]
fn the_last_tag_is_that_of_cuobjdump() {
    let last = Consumer::cuda_gdb().entries.last_tag.expect("a tag").0 as u8;
    let with_tag = |tag| unit(&[2, tag, 0, 3, 8, 0, 0], &[2, b'b', 0]);
    let Some(ran) = printed(&with_tag(last)) else { return };
    assert!(ran.succeeded && ran.errors.is_empty(), "{ran}");
    let Some(ran) = printed(&with_tag(last + 1)) else { return };
    assert!(ran.errors.contains("Unknown DW_TAG of value 67"), "{ran}");
}

#[test]
fn processors_are_those_of_ptxas() {
    let Some(ran) = PTXAS.run(&["--help"]) else { return };
    let (_, help) = ran.out.split_once("--gpu-name").expect("the option");
    let (_, values) = help.split_once("Allowed values for this option:").expect("its values");
    let (values, _) = values.split_once('.').expect("the end");
    let names = values.split(',').filter_map(|value| value.trim().trim_matches('\'').strip_prefix("sm_"));
    let expected: BTreeSet<String> = names.map(|name| format!("sm_{name}")).collect();
    assert_eq!(Sm::all().map(Sm::name).collect::<BTreeSet<_>>(), expected);
}

/// Each operation that entries may have, in front of `lit1` to `lit12`: the reader takes as many of these as operands
/// as DWARF says.
#[test]
fn operands_are_those_that_cuobjdump_steps_over() {
    let Operations::Only(known) = Consumer::cuda_gdb().expressions.operations else { panic!("a list") };
    let mut entries = Vec::new();
    for &operation in known {
        entries.extend([2, 13, operation]);
        entries.extend(0x31..0x3d);
    }
    let Some(ran) = printed(&unit(&[2, 0x34, 0, 2, 0x0a, 0, 0], &entries)) else { return };
    assert!(ran.succeeded && ran.errors.is_empty(), "{ran}");
    let expressions: Vec<&str> = ran
        .out
        .lines()
        .filter(|line| line.contains("13 byte block:"))
        .map(|line| line.split_once('(').expect("operations").1)
        .collect();
    assert_eq!(expressions.len(), known.len(), "{ran}");
    for (operation, text) in known.iter().zip(expressions) {
        let operands = match operation {
            0x03 => 8,
            0x10 | 0x23 | 0x70..0x90 | 0x91 | 0x93 => 1,
            // The reader steps over one byte too many.
            0x90 => 1 + 1,
            0x92 => 2,
            _ => 0,
        };
        let is_literal = matches!(operation, 0x30..0x50);
        let literals = text.matches("DW_OP_lit").count() - usize::from(is_literal);
        assert_eq!(12 - literals, operands, "{operation:#x}: {text}");
    }
}

/// A part of three bytes behind a register: its size is the number of `addr`, whose operand would end after the
/// expression.
#[test]
fn parts_of_every_size_are_assembled() {
    let gpu = target();
    let reg = |name: &str| gpu.register_named(name).expect("a register");
    for bytes in 1..8 {
        let mut m = Builder::new(gpu.clone());
        let unit = m.unit("k.cu");
        let long = m.base_type(unit, "long", BaseEncoding::Unsigned, 64).expect("a type");
        let kernel = m.function(unit, "k").expect("a function").code("k", 10).kernel().id();
        let halves = ["%rd1", "%rd2"].map(|name| Loc::per_lane(reg(name)));
        let [first, second] = halves;
        let parts = Loc::parts([(first, 8 * bytes), (second, 64 - 8 * bytes)]);
        m.variable(kernel, "in_list", long).expect("a variable").live(2..9, parts.clone()).expect("a place");
        m.variable(kernel, "in_entry", long).expect("a variable").always(parts).expect("a place");
        let module = m.finish().expect("a module");
        let written = lower(&module, &Consumer::cuda_gdb(), Policy::Strict).expect("sections");
        let Some(ran) = printed(&written.sections) else { return };
        assert!(ran.succeeded && ran.errors.is_empty(), "{ran}");
        // Both registers are found again in each expression.
        assert_eq!(ran.out.matches("DW_OP_regx: %rd1").count(), 2, "{ran}");
        assert_eq!(ran.out.matches("DW_OP_regx: %rd2").count(), 2, "{ran}");
    }
}

/// Cubins before ABI version 8 have OSABI 0x33, and the processor in the low byte of the flags.
#[test]
fn processors_of_the_older_abi_are_those_of_llvm() {
    const READOBJ: Tool = Tool::new("llvm-readobj-19", "llvm-19");
    let mut bytes = include_bytes!("../objects/typed.cubin").to_vec();
    let folder = Folder::new();
    (bytes[7], bytes[8]) = (0x33, 7);
    for (number, processor) in [(75_u8, "75"), (80, "80"), (90, "90")] {
        bytes[48..52].copy_from_slice(&[number, 5, number, 0]);
        let path = folder.path().join("old.cubin");
        std::fs::write(&path, &bytes).expect("it is written");
        let Some(ran) = READOBJ.run(&["-h", path.to_str().expect("a path")]) else { return };
        assert!(ran.clean().contains(&format!("EF_CUDA_SM{processor} ")), "{processor}");
        let object = eitri::read::Object::read(&bytes).expect("an object");
        let target = object.target(None).expect("a target");
        assert_eq!(target.name(), format!("nvptx-sm_{processor}"));
    }
}
