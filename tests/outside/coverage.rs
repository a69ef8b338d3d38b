//! Coverage of cubins that ptxas made of texts with debug information: entries are found by their scopes, and a
//! location that differs is a finding.

use pretty_assertions::assert_eq;

use eitri::check::{Coverage, coverage};
use eitri::lower::Consumer;
use eitri::model::Module;

use super::cubin::{REGISTERS, cubin, described};

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
