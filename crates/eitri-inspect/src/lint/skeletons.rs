//! Findings about what is missing from the file or unknown: split units, all units, and instructions.

use std::collections::HashSet;
use std::sync::Arc;

use super::codes::LintCode;
use super::details::Details;
use super::file::{Architecture, Facts};
use super::finding::LintFinding;
use eitri_dwarf::read::nvidia::lines;
use eitri_dwarf::read::{Dwarf, Unit};
use eitri_dwarf::target::Gfx;

/// Returns the findings about skeleton units without their split units.
pub(super) fn missing<'d>(
    dwarf: &'d Dwarf<'_>,
    split: &[Dwarf<'_>],
) -> impl Iterator<Item = LintFinding> + 'd {
    let known: HashSet<u64> = split.iter().flat_map(Dwarf::units).filter_map(|unit| unit.dwo_id).collect();
    let is_missing = move |unit: &&Unit<'_>| unit.dwo_id.is_none_or(|id| !known.contains(&id));
    let skeletons = dwarf.units().iter().filter(|unit| unit.is_skeleton());
    skeletons.filter(is_missing).map(|unit| {
        let (section, offset) = dwarf.place(unit.offset);
        let file = unit.dwo_name.as_deref();
        let details = Details::new(match file {
            Some(file) => format!("the unit's functions and variables are in the file `{file}`"),
            None => "the unit's functions and variables are in another file".into(),
        });
        let details = details.evidence(["no split unit that was read has the skeleton unit's id".into()]);
        let finding = LintFinding::new(LintCode::SplitUnitElsewhere, section, offset, details);
        LintFinding { unit: unit.name.as_deref().or(file).map(Arc::from), ..finding }
    })
}

/// Returns the finding about a file with code and without a unit. If units cannot be read, findings have the errors. NVIDIA's
/// tools read line tables without units, which `nvcc -lineinfo` writes.
pub(super) fn no_units(facts: &Facts<'_, '_>, dwarf: &Dwarf<'_>) -> Option<LintFinding> {
    let has_lines = facts.architecture == Architecture::Nvidia && lines(facts.object).next().is_some();
    let has_code = (facts.has_code || facts.object.is_ptx()) && !has_lines;
    let details = || Details::new("no function, variable or line is described");
    // The section that could have units need not exist.
    (has_code && dwarf.units().is_empty() && dwarf.errors().is_empty())
        .then(|| LintFinding::new(LintCode::NoDebugInfo, "file", 0, details()))
}

/// Returns the finding about code with units and without known instructions.
pub(super) fn unknown_instructions(facts: &Facts<'_, '_>, dwarf: &Dwarf<'_>) -> Option<LintFinding> {
    let is_unknown = facts.architecture == Architecture::Amd && facts.set.is_none() && facts.has_code;
    let details = || {
        let processor = facts.object.gfx().map_or("the processor in the ELF header", Gfx::name);
        Details::new(format!("instructions of {processor} are not decoded"))
    };
    (is_unknown && !dwarf.units().is_empty())
        .then(|| LintFinding::new(LintCode::CodeNotDecoded, ".debug_info", 0, details()))
}
