//! Split units encode the same facts as whole units.

use eitri::check::{CheckReport, check_split};
use eitri::emit::elf::new_object;
use eitri::error::Construct;
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::omission::{Omission, Reason};
use proptest::prelude::*;

use super::choices::Choices;
use super::{Made, config, consumers, modules, named, targets, varied};

/// Emits a module with split units and checks it.
fn split(made: &Made, consumer: &Consumer) -> eitri::Result<(Lowered, CheckReport)> {
    let module = &made.module;
    let mut consumer = consumer.clone();
    consumer.is_split = true;
    let written = lower(module, &consumer, Policy::Partial)?;
    let main = new_object(module.target(), &made.code, &written.sections)?;
    let files = written.split_files(module.target())?;
    let files: Vec<&[u8]> = files.iter().map(|(_, bytes)| &bytes[..]).collect();
    let report = check_split(module, &consumer, &written.omissions, &main, &files)?;
    Ok((written, report))
}

/// Emits and checks a module made from the numbers; an error is a text.
fn agrees(numbers: &[u16]) -> Result<(), String> {
    let mut choices = Choices::new(numbers);
    let target = targets()[choices.below(6)].clone();
    let made = modules::module(&mut choices, target);
    let module = &made.module;
    let text = |error: eitri::Error| error.to_string();
    for consumer in consumers() {
        let mut consumer = varied(&consumer, |count| choices.below(count));
        (consumer.version, consumer.tables.pubs) = (5, choices.below(3) == 2);
        consumer.tables.names = choices.below(3) == 2;
        consumer.has_type_units = false;
        consumer.lists.has_split_offsets = choices.below(2) == 1;
        let plain = lower(module, &consumer, Policy::Partial).map_err(text)?;
        let object = new_object(module.target(), &made.code, &plain.sections).map_err(text)?;
        let report = eitri::check(module, &consumer, &plain.omissions, &object).map_err(text)?;
        let (written, split) = split(&made, &consumer).map_err(text)?;
        let about = format!("{} for {}", module.target().name(), named(&consumer));
        if !split.is_clean() {
            return Err(format!("{about}:\n{split}"));
        }
        if written.split.len() != module.units().count() {
            return Err(format!("{about}: {} split units", written.split.len()));
        }
        // Further omissions are references to other units, and calls of procedures with such references.
        let more = written.omissions.iter().filter(|one| !plain.omissions.contains(one));
        let is_known = |one: &&Omission| {
            matches!(one.reason, Reason::Inexpressible(Construct::OtherUnit | Construct::Procedure))
        };
        if let Some(other) = more.clone().find(|one| !is_known(one)) {
            return Err(format!("{about}: {other}"));
        }
        let counts = |report: &CheckReport| {
            let CheckReport { locations, entries, rows, names, macros, .. } = *report;
            (locations, entries, rows, names, macros, report.unproven.len())
        };
        if more.count() == 0 && counts(&split) != counts(&report) {
            return Err(format!("{about}: {:?}, and plain {:?}", counts(&split), counts(&report)));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases / 3, max_shrink_iters: 3, ..config() })]

    #[test]
    fn split_units_mean_what_was_described(
        numbers in proptest::collection::vec(any::<u16>(), 100..3000),
    ) {
        if let Err(text) = agrees(&numbers) {
            return Err(TestCaseError::fail(text));
        }
    }
}
