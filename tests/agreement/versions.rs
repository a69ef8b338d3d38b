//! Every version in both formats, with all lookup tables: the emitted bytes agree with the description, and each name
//! and address is found.

use eitri::check::CheckReport;
use eitri::consumer::{Consumer, Policy, Tables};
use eitri::emit::elf::new_object;
use eitri::lower::lower;
use eitri::read::{Dwarf, ListKind, Object, ResolvedValue};
use eitri::target::Target;
use gimli::Format;
use proptest::prelude::*;

use crate::agreement::choices::Choices;
use crate::agreement::{config, modules, targets};

/// Standard DWARF of a version, with all tables of that version.
fn consumer(version: u16, format: Format) -> Consumer {
    let mut consumer = Consumer::dwarf5();
    (consumer.version, consumer.format) = (version, format);
    consumer.tables = Tables { names: version >= 5, pubs: version < 5, aranges: true, ..Tables::default() };
    consumer
}

/// Returns the offset of a location list or range list of an object that selects a base address.
fn base_selection(object: &[u8]) -> eitri::Result<Option<u64>> {
    let object = Object::read(object)?;
    let dwarf = Dwarf::read(&object)?;
    for entry in dwarf.entries() {
        for attribute in entry.attributes() {
            let (list, offset) = match attribute.value {
                ResolvedValue::LocList(offset) => (dwarf.raw_locations(entry.unit(), offset)?, offset),
                ResolvedValue::RngList(offset) => (dwarf.raw_ranges(entry.unit(), offset)?, offset),
                _ => continue,
            };
            for entry in list {
                if matches!(entry?.kind, ListKind::Base { .. }) {
                    return Ok(Some(offset));
                }
            }
        }
    }
    Ok(None)
}

/// Reports for a module made from the numbers; an error is a text.
fn agrees(numbers: &[u16]) -> Result<Vec<CheckReport>, String> {
    let mut choices = Choices::new(numbers);
    let targets = targets();
    // A CPU target can express the most in plain DWARF.
    let target = if choices.is(2) { targets[choices.below(targets.len())].clone() } else { Target::x86_64() };
    let made = modules::module(&mut choices, target);
    let module = &made.module;
    let versions =
        (2..=5).flat_map(|version| [Format::Dwarf32, Format::Dwarf64].map(|format| (version, format)));
    let consumers = versions.map(|(version, format)| consumer(version, format));
    let mut llvm = Consumer::llvm();
    llvm.tables = consumer(5, Format::Dwarf32).tables;
    let mut reports = Vec::new();
    for consumer in consumers.chain([llvm]) {
        let name = format!("{}, DWARF {} {:?}", module.target().name(), consumer.version, consumer.format);
        let written =
            lower(module, &consumer, Policy::Partial).map_err(|error| format!("{name}: {error}"))?;
        let object = new_object(module.target(), &made.code, &written.sections).map_err(|e| e.to_string())?;
        if consumer.version == 2
            && let Some(list) = base_selection(&object).map_err(|e| e.to_string())?
        {
            return Err(format!("{name}: the list at {list:#x} selects a base address, as DWARF 3 does"));
        }
        let report = eitri::check(module, &consumer, &written.omissions, &object);
        let report = report.map_err(|error| format!("{name}: {error}"))?;
        if !report.is_clean() {
            return Err(format!("{name}:\n{report}"));
        }
        reports.push(report);
    }
    Ok(reports)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases / 3, ..config() })]

    #[test]
    fn every_version_with_all_tables(numbers in proptest::collection::vec(any::<u16>(), 100..2000)) {
        if let Err(text) = agrees(&numbers) {
            return Err(TestCaseError::fail(text));
        }
    }
}

/// The modules contain the names and macros to look up.
#[test]
fn names_and_macros_are_compared() {
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) as u16
    };
    let mut sums = [(0, 0); 9];
    for _ in 0..20 {
        let numbers: Vec<u16> = (0..1500).map(|_| next()).collect();
        let reports = agrees(&numbers).unwrap_or_else(|text| panic!("{text}"));
        for (sum, report) in sums.iter_mut().zip(reports) {
            *sum = (sum.0 + report.names, sum.1 + report.macros);
        }
    }
    assert!(sums.iter().all(|&(names, macros)| names > 50 && macros > 50), "{sums:?}");
}
