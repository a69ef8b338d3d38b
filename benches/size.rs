//! Size of debug sections, compared with LLVM's for the same content.
//!
//! clang compiles the programs; the facts in their debug sections are read, described with a builder, and lowered. The
//! sections of both sides are read back and compared before counting. The last lines are `ratio NAME VALUE`: LLVM's
//! number divided by ours, so that larger is better for us. No time is measured. See `README.md` here.

#[path = "size/count.rs"]
mod count;
#[path = "size/describe/mod.rs"]
mod describe;
#[path = "size/facts.rs"]
mod facts;
#[path = "size/programs.rs"]
mod programs;

use std::collections::BTreeMap;

use count::{SECTIONS, Size, Sizes};
use eitri::emit::{RelocationTarget, Section};
use eitri::lower::{Consumer, Policy, lower};
use eitri::read::{Dwarf, Object, ReadOptions, Sections};
use facts::Facts;
use programs::Program;

/// Sizes for a program.
struct Measured {
    name: String,
    variables: usize,
    /// Number of compared entries, attributes and rows.
    compared: [usize; 3],
    llvm: Sizes,
    /// Sizes for [`Consumer::dwarf5`] and for [`Consumer::llvm`].
    ours: [Sizes; 2],
}

fn main() {
    let mut excepted = [BTreeMap::new(), BTreeMap::new()];
    let mut all = Vec::new();
    for program in programs::all() {
        let Some(object) = program.compile() else {
            println!("clang-19 is not installed (Debian package clang-19)");
            return;
        };
        all.push(measure(&program, &object, &mut excepted));
    }
    print(&all);
    let [entries, attributes, rows] =
        [0, 1, 2].map(|of| all.iter().map(|one| one.compared[of]).sum::<usize>());
    println!("\n{entries} entries with {attributes} attributes, and {rows} rows, are equal.");
    println!("\n| not compared | LLVM has it | eitri has it |");
    println!("|---|---|---|");
    let [llvm, ours] = excepted;
    let why: std::collections::BTreeSet<&str> = llvm.keys().chain(ours.keys()).copied().collect();
    for why in why {
        let count = |of: &BTreeMap<&str, usize>| of.get(why).copied().unwrap_or(0);
        println!("| {why} | {} | {} |", count(&llvm), count(&ours));
    }
}

fn measure(program: &Program, bytes: &[u8], excepted: &mut [BTreeMap<&'static str, usize>; 2]) -> Measured {
    let name = program.name();
    let object = Object::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let dwarf = Dwarf::read(&object).unwrap_or_else(|error| panic!("{name}: {error}"));
    let module =
        describe::module(&object, &dwarf, program.target()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let theirs = Facts::read(&dwarf).unwrap_or_else(|error| panic!("{name}: {error}"));
    let ours = [Consumer::dwarf5(), Consumer::llvm()].map(|mut consumer| {
        // LLVM omits it.
        consumer.attributes.lanes = None;
        let written =
            lower(&module, &consumer, Policy::Strict).unwrap_or_else(|error| panic!("{name}: {error}"));
        let sizes = Sizes::of_sections(&written.sections);
        let facts = read_back(&object, written.sections).unwrap_or_else(|error| panic!("{name}: {error}"));
        facts::assert_same(&name, &theirs, &facts);
        (sizes, facts)
    });
    let [(dwarf5, facts), (llvm, _)] = ours;
    for (all, one) in excepted.iter_mut().zip([&theirs, &facts]) {
        one.excepted.iter().for_each(|(why, count)| *all.entry(why).or_default() += count);
    }
    let compared = [theirs.entries.len(), theirs.attributes, theirs.rows.len()];
    let variables = theirs.variables;
    Measured { name, variables, compared, llvm: Sizes::of_object(bytes), ours: [dwarf5, llvm] }
}

/// Facts of the sections, after relocation to the addresses of the object.
fn read_back(object: &Object<'_>, mut sections: Vec<Section>) -> eitri::Result<Facts> {
    for section in &mut sections {
        for relocation in &section.relocations {
            let start = match &relocation.target {
                RelocationTarget::Section(_) => 0,
                RelocationTarget::Symbol(name) => object
                    .symbol_address(name)
                    .or_else(|| object.section_address(name))
                    .unwrap_or_else(|| panic!("no symbol {name}")),
                RelocationTarget::Distance(name) => panic!("{name}: nothing is loaded here"),
            };
            let value = start.wrapping_add(relocation.addend).to_le_bytes();
            let (at, bytes) = (relocation.offset as usize, usize::from(relocation.bytes));
            section.bytes[at..at + bytes].copy_from_slice(&value[..bytes]);
        }
    }
    let of = |name: &str| {
        sections.iter().find(|section| section.name == name).map_or(&[][..], |section| &section.bytes)
    };
    let mut sections = Sections::default();
    sections.address_bytes = 8;
    sections.debug_info = of(".debug_info");
    sections.debug_abbrev = of(".debug_abbrev");
    sections.debug_str = of(".debug_str");
    sections.debug_str_offsets = of(".debug_str_offsets");
    sections.debug_addr = of(".debug_addr");
    sections.debug_loclists = of(".debug_loclists");
    sections.debug_rnglists = of(".debug_rnglists");
    sections.debug_line = of(".debug_line");
    sections.debug_line_str = of(".debug_line_str");
    Facts::read(&Dwarf::from_sections(sections, &ReadOptions::new())?)
}

fn print(all: &[Measured]) {
    let over = |llvm: u64, ours: u64| llvm as f64 / ours.max(1) as f64;
    println!(
        "| program | variables | bytes LLVM | eitri | ratio | relocations LLVM | eitri | bytes a variable LLVM | eitri |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for one in all {
        let (llvm, ours) = (one.llvm.total(), one.ours[0].total());
        let each = |size: Size| size.in_object() as f64 / one.variables as f64;
        println!(
            "| `{}` | {} | {} | {} | {:.2} | {} | {} | {:.0} | {:.0} |",
            one.name,
            one.variables,
            llvm.bytes,
            ours.bytes,
            over(llvm.bytes, ours.bytes),
            llvm.relocations,
            ours.relocations,
            each(llvm),
            each(ours),
        );
    }
    let mut sums = [Sizes::default(), Sizes::default(), Sizes::default()];
    for one in all {
        for (sum, sizes) in sums.iter_mut().zip([&one.llvm, &one.ours[0], &one.ours[1]]) {
            sum.add(sizes);
        }
    }
    let [llvm, ours, ours_llvm] = sums;
    println!("\n| section | bytes LLVM | eitri | ratio | relocations LLVM | eitri |");
    println!("|---|---|---|---|---|---|");
    let row = |name: &str, llvm: Size, ours: Size| {
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            llvm.bytes,
            ours.bytes,
            if ours.bytes == 0 { "–".into() } else { format!("{:.2}", over(llvm.bytes, ours.bytes)) },
            llvm.relocations,
            ours.relocations,
        );
    };
    for name in SECTIONS {
        row(&format!("`{name}`"), llvm.of(name), ours.of(name));
    }
    row("all", llvm.total(), ours.total());
    println!();
    for one in all {
        println!("ratio size_{} {:.2}", one.name, over(one.llvm.total().bytes, one.ours[0].total().bytes));
    }
    let (llvm, ours, ours_llvm) = (llvm.total(), ours.total(), ours_llvm.total());
    println!("ratio size_bytes {:.2}", over(llvm.bytes, ours.bytes));
    println!("ratio size_bytes_llvm {:.2}", over(llvm.bytes, ours_llvm.bytes));
    println!("ratio size_relocations {:.2}", over(llvm.relocations, ours.relocations));
    println!("ratio size_in_object {:.2}", over(llvm.in_object(), ours.in_object()));
}
