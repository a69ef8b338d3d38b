//! Coverage of cubins that ptxas made of texts with debug information: entries are found by their scopes, and a
//! location that differs is a finding.

use pretty_assertions::assert_eq;

use eitri::build::Builder;
use eitri::check::{Coverage, coverage};
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, Loc, Module};
use eitri::target::{Sm, Target};

use super::cubin::{REGISTERS, assembled, cubin, described};

/// Coverage of `module` in the cubin of the text with the description of `REGISTERS`; `None` without ptxas.
fn covered(processor: &str, module: &Module) -> Option<Coverage> {
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
        let [finding] = &coverage.findings[..] else { panic!("{name} at {pc}: {coverage}") };
        assert_eq!(finding.at.variable.as_deref(), Some(name), "{coverage}");
        assert_eq!(finding.at.pcs, Some(pc..pc + 1), "{coverage}");
    }
}

/// Without a row at its first instruction, a label there is behind the prologue: the function begins at its name.
#[test]
fn functions_without_a_first_row_begin_at_their_symbol() {
    let mut m = Builder::new(Target::nvptx(Sm::named("sm_80").expect("a processor")));
    let unit = m.unit("k.cu");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let kernel = m.function(unit, "k").expect("a function").code("k", 10).kernel().id();
    let register = m.target().register_named("%r3").expect("a register");
    let mut by = m.variable(kernel, "by", int).expect("a variable");
    by.live(5..8, Loc::per_lane(register)).expect("a location");
    let module = m.finish().expect("a module");
    for processor in ["sm_80", "sm_90", "sm_120"] {
        let Some(bytes) = assembled(&module, processor) else { return };
        let dump = eitri::dump::print(&bytes, None).expect("a dump");
        assert!(dump.contains("    DW_AT_low_pc: 0x10000\n"), "{processor}: {dump}");
        let coverage = coverage(&module, &Consumer::cuda_gdb(), &bytes).expect("coverage");
        let (described, located, readable) = coverage.totals();
        assert!(coverage.is_clean() && described > 5, "{processor}: {coverage}");
        assert_eq!((located, readable), (described, described), "{processor}: {coverage}");
    }
}
