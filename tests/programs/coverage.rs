//! Coverage of cubins that ptxas made of texts with debug information: entries are found by their scopes, and a
//! location that differs is a finding.

use core::ops::Range;

use pretty_assertions::assert_eq;

use eitri::build::Builder;
use eitri::check::{PtxCoverage, coverage};
use eitri::emit::ptx::{self, PtxAttachOptions};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module};
use eitri::read::Object;
use eitri::read::nvidia::PtxText;
use eitri::target::{Sm, Target};

use super::common::{Folder, Tool};
use super::cubin::{PTXAS, REGISTERS, TEXT, assembled, cubin, described};

/// Coverage of `module` in the cubin of the text with the description of `REGISTERS`; `None` without ptxas.
fn covered(processor: &str, module: &Module) -> Option<PtxCoverage> {
    let bytes = cubin(processor)?;
    Some(coverage(module, &Consumer::cuda_gdb(), &bytes).expect("coverage"))
}

#[test]
fn entries_of_one_name_are_told_apart_by_their_scopes() {
    let module = described(REGISTERS).expect("a module");
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let Some(coverage) = covered(processor, &module) else { return };
        assert!(coverage.is_clean(), "{processor}: {coverage}");
        assert_eq!(coverage.variables.len(), 4, "{processor}: {coverage}");
        for one in &coverage.variables {
            assert_eq!(one.located, one.described, "{processor}: {coverage}");
        }
    }
}

/// A register that differs: the finding is that of the variable, at the first pc of its live range.
#[test]
fn a_location_that_differs_is_found_in_its_scope() {
    for (index, (name, pc)) in [("by", 5), ("by", 4), ("i", 3), ("i", 6)].into_iter().enumerate() {
        let mut registers = REGISTERS;
        registers[index] = "%r5";
        let module = described(registers).expect("a module");
        let Some(coverage) = covered("sm_80", &module) else { return };
        let [of_text, finding] = &coverage.findings[..] else { panic!("{name} at {pc}: {coverage}") };
        assert_eq!(of_text.found, "%r5, which no instruction of `k` sets", "{coverage}");
        assert_eq!(finding.at.variable.as_deref(), Some(name), "{coverage}");
        assert_eq!(finding.at.pcs, Some(pc..pc + 1), "{coverage}");
    }
}

/// A kernel of a name, with a variable and without rows.
fn kernel(name: &str) -> Module {
    kernel_with(name, 5..8)
}

/// The kernel with a variable that lives at some positions.
fn kernel_with(name: &str, live: Range<u64>) -> Module {
    kernel_of(name, live, "%r3")
}

/// The kernel with a variable in a register of PTX.
fn kernel_of(name: &str, live: Range<u64>, register: &str) -> Module {
    let mut m = Builder::new(Target::nvptx(Sm::named("sm_80").expect("a processor")));
    let unit = m.unit("k.cu");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let kernel = m.function(unit, name).expect("a function").code(name, 10).kernel().id();
    let register = m.target().register_named(register).expect("a register");
    let mut by = m.variable(kernel, "by", int).expect("a variable");
    by.live(live, Loc::per_lane(register)).expect("a location");
    m.finish().expect("a module")
}

/// Asserts that the variable has a location, in a register that has a home, at all pcs.
fn is_whole(module: &Module, bytes: &[u8], what: &str) {
    let coverage = coverage(module, &Consumer::cuda_gdb(), bytes).expect("coverage");
    let (described, located, readable) = coverage.totals();
    assert!(coverage.is_clean() && described > 5, "{what}: {coverage}");
    assert_eq!((located, readable), (described, described), "{what}: {coverage}");
}

/// A label at a first instruction without a row is behind the prologue: the function begins at its name.
#[test]
fn functions_without_a_first_row_begin_at_their_symbol() {
    let module = kernel("k");
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let Some(bytes) = assembled(&module, processor) else { return };
        let dump = eitri::dump::print(&bytes, None).expect("a dump");
        assert!(dump.contains("    DW_AT_low_pc: k+0x0\n"), "{processor}: {dump}");
        is_whole(&module, &bytes, processor);
        // A function that the cubin lacks.
        let error = coverage(&kernel("other"), &Consumer::cuda_gdb(), &bytes).expect_err("another function");
        assert!(error.to_string().ends_with("the cubin has no function `other` with its PTX"), "{error}");
    }
}

/// ptxas takes a register that the text does not declare, and has no home for it.
#[test]
fn variable_without_a_readable_pc_is_a_finding() {
    let module = kernel_of("k", 5..8, "%r99");
    let Some(bytes) = assembled(&module, "sm_80") else { return };
    let coverage = coverage(&module, &Consumer::cuda_gdb(), &bytes).expect("coverage");
    let [of_text, finding] = &coverage.findings[..] else { panic!("{coverage}") };
    assert_eq!(of_text.found, "%r99, which is not declared", "{coverage}");
    assert_eq!(finding.at.variable.as_deref(), Some("by"), "{coverage}");
    assert_eq!((finding.found.as_str(), coverage.totals().2), ("none", 0), "{coverage}");
}

/// The pcs at which only the cubin has a location are counted.
#[test]
fn locations_beyond_the_description_are_counted() {
    let Some(bytes) = assembled(&kernel_with("k", 5..8), "sm_80") else { return };
    let whole = coverage(&kernel_with("k", 5..8), &Consumer::cuda_gdb(), &bytes).expect("coverage");
    let part = coverage(&kernel_with("k", 5..6), &Consumer::cuda_gdb(), &bytes).expect("coverage");
    let ([whole], [part]) = (&whole.variables[..], &part.variables[..]) else { panic!("{whole} {part}") };
    assert_eq!(whole.beyond, 0);
    assert!(0 < part.described && part.described < whole.described, "{part:?}");
    assert_eq!((part.located, part.beyond), (part.described, whole.described - part.described));
}

/// A merged cubin has the text of each of its parts.
#[test]
fn functions_of_merged_cubins_have_their_own_texts() {
    const NVLINK: Tool = Tool::new("nvlink", "nvidia-cuda-nvcc of PyPI");
    let folder = Folder::new();
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let arch = format!("-arch={processor}");
        let mut paths = Vec::new();
        for name in ["k", "second"] {
            let module = kernel(name);
            let written = lower(&module, &Consumer::cuda_gdb(), Policy::Strict).expect("sections");
            // Another number of lines in front of the function.
            let plain = TEXT
                .replace("entry k(", &format!("entry {name}("))
                .replace(".visible", &format!("{}.visible", "\n".repeat(name.len())));
            let text = ptx::attach(&plain, module.target(), &written.sections, &PtxAttachOptions::default());
            let source = folder.file(&format!("{name}.ptx"), text.expect("a text"));
            let out = folder.path().join(format!("{name}.o"));
            let [source, out] = [source, out].map(|path| path.to_str().expect("a path").to_owned());
            let Some(ran) = PTXAS.run(&[&*arch, "-g", "-c", &source, "-o", &out]) else { return };
            ran.clean();
            paths.push(out);
        }
        let merged = folder.path().join("merged.cubin");
        let out = merged.to_str().expect("a path");
        let Some(ran) = NVLINK.run(&[&*arch, "-g", &paths[0], &paths[1], "-o", out]) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(&merged).expect("the cubin");
        for name in ["k", "second"] {
            is_whole(&kernel(name), &bytes, &format!("{processor} {name}"));
        }
    }
}

/// The address of a label is that of the instruction behind it, by the lines of the PTX.
#[test]
fn labels_are_at_the_instructions_of_their_positions() {
    let modules = [kernel("k"), described(REGISTERS).expect("a module")];
    for (module, processor) in
        modules.iter().flat_map(|one| ["sm_80", "sm_90", "sm_120"].map(|name| (one, name)))
    {
        let Some(bytes) = assembled(module, processor) else { return };
        let dump = eitri::dump::print(&bytes, None).expect("a dump");
        let object = Object::read(&bytes).expect("a cubin");
        let text = PtxText::read(&object);
        let (_, table) = dump.split_once("\nlines of the PTX: ").expect("a table");
        let address = |instruction: &str| {
            let is_here = |number: &u64| text.line(*number).is_some_and(|line| line.starts_with(instruction));
            let line = (1..=text.count() as u64).find(is_here).expect("a line").to_string();
            let mut rows = table.lines().filter_map(|row| row.trim().split_once(' '));
            let row = rows.find(|(_, place)| place.trim().split(':').nth(1) == Some(&*line));
            row.expect("a row").0.to_owned()
        };
        // Positions 5 and 8.
        let [start, end] = ["xor.b32", "st.global.u32 [%rd2+8]"].map(address);
        let (start, end) = (start.as_str(), end.strip_prefix("k+").expect("a pc"));
        let bounds = start.replacen('+', "+[", 1);
        assert!(dump.contains(&format!("{bounds}, {end}): regx %r3\n")), "{processor} {start} {end}: {dump}");
    }
}
