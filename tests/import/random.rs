//! Random descriptions for every consumer and version: what is written for a description, and what is written for the import
//! of that object, say the same.

use std::collections::BTreeSet;

use eitri::check::{CheckFinding, FindingKind};
use eitri::consumer::{Consumer, Policy, Tables};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::import::{ImportOptions, ImportedDwarf, ImportedExpressions, import};
use eitri::lower::{Lowered, lower};
use eitri::model::Module;
use eitri::read::{Dwarf, Object, ReadOptions};

use super::{compare, listed};
use crate::agreement::choices::Choices;
use crate::agreement::{Made, modules, targets};
use crate::common::cases::cases;
use crate::common::consumers::{consumers, named, varied};
use crate::common::random::fixed_choices;
use crate::common::with;

pub fn written(module: &Module, code: &ObjectCode, consumer: &Consumer) -> eitri::Result<Vec<u8>> {
    let written = lower(module, consumer, Policy::Partial)?;
    new_object(module.target(), code, &written.sections)
}

/// Returns the object of an import, or `None` if the consumer cannot express a property.
fn complete(module: &Module, code: &ObjectCode, consumer: &Consumer) -> Option<Vec<u8>> {
    let written = lower(module, consumer, Policy::Partial).expect("the import is written");
    let is_complete = written.omissions.is_empty();
    is_complete.then(|| new_object(module.target(), code, &written.sections).expect("the object is written"))
}

#[test]
fn random_descriptions_say_the_same_after_an_import() {
    let mut all = Vec::new();
    let (mut total, mut compared) = (0, 0);
    for seed in 0..cases(60) as u64 {
        let numbers = fixed_choices(seed, 600);
        let mut choices = Choices::new(&numbers);
        let target = targets()[choices.below(7)].clone();
        let consumers = consumers().map(|consumer| varied(&consumer, |count| choices.below(count)));
        let made = modules::module(&mut choices, target);
        for consumer in consumers {
            let before = written(&made.module, &made.code, &consumer).expect("the description is written");
            let options = with::<ImportOptions<'_>>(|options| {
                options.target = Some(made.module.target().clone());
                options.expressions = ImportedExpressions::Raw;
                options.dialect = Some(consumer.expressions.dialect);
            });
            let imported = import(&before, &options)
                .unwrap_or_else(|error| panic!("{seed}, {}: {error}", named(&consumer)));
            total += 1;
            // What the consumer cannot express of the import: addresses in raw expressions for another table of addresses,
            // and properties of functions whose code is not imported.
            let Some(after) = complete(&imported.module, &made.code, &consumer) else { continue };
            compared += 1;
            let [before, after] = [&before, &after].map(|bytes| Object::read(bytes).expect("it is read"));
            let dialect = consumer.expressions.dialect;
            let [before, after] = [&before, &after].map(|object| {
                Dwarf::read_with(
                    object,
                    &ReadOptions::new().dialect(dialect).draft(consumer.expressions.draft),
                )
                .expect("it is read")
            });
            let differences = compare::differences(&before, &after, &imported.unimported);
            let case = format!("{seed}, {}: ", named(&consumer));
            all.extend(differences.into_iter().map(|difference| case.clone() + &difference));
        }
    }
    assert!(compared * 2 > total, "{compared} of {total} objects are compared");
    assert!(all.is_empty(), "{} differences:\n{}", all.len(), listed(&all));
}

/// Consumers with all versions, and an import of their objects.
fn each_import(
    seeds: core::ops::Range<u64>,
    size: usize,
    mut each: impl FnMut(&str, &Made, &Consumer, &ImportedDwarf, &Lowered, &[u8]),
) {
    for seed in seeds {
        let numbers = fixed_choices(seed, size);
        let mut choices = Choices::new(&numbers);
        let target = targets()[choices.below(7)].clone();
        let made = modules::module(&mut choices, target);
        for consumer in consumers() {
            for version in 2..=5 {
                let mut consumer = varied(&consumer, |count| choices.below(count));
                consumer.version = version;
                consumer.tables = Tables::default();
                let written = lower(&made.module, &consumer, Policy::Partial).expect("it is written");
                let bytes =
                    new_object(made.module.target(), &made.code, &written.sections).expect("an object");
                let options = with::<ImportOptions<'_>>(|options| {
                    options.target = Some(made.module.target().clone());
                    options.dialect = Some(consumer.expressions.dialect);
                });
                let case = format!("{seed}, {}", named(&consumer));
                let imported = import(&bytes, &options).unwrap_or_else(|error| panic!("{case}: {error}"));
                each(&case, &made, &consumer, &imported, &written, &bytes);
            }
        }
    }
}

/// Whether a file has two names: the compilation directory is the directory of a file without one.
fn names_directory(finding: &CheckFinding) -> bool {
    finding.expected.contains("`/src/")
}

/// Tags of types that a unit has twice with equal attributes: the import has such a type once.
fn repeated_types(object: &[u8]) -> BTreeSet<String> {
    let object = Object::read(object).expect("it is read");
    let dwarf = Dwarf::read(&object).expect("it is read");
    let mut known = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    for entry in dwarf.entries().filter(|entry| entry.children().next().is_none()) {
        let attributes = entry.attributes().map(|attribute| format!("{attribute:?}")).collect::<Vec<_>>();
        let tag = entry.tag().to_string();
        if !known.insert((entry.unit().offset, tag.clone(), attributes)) {
            repeated.insert(tag);
        }
    }
    repeated
}

/// An import is the description itself, in the parts that the consumer reads: what is written for the import is right for the
/// description, entity by entity and location by location.
#[test]
fn import_of_a_random_description_is_its_projection() {
    let mut wrong = Vec::new();
    let (mut compared, mut total, mut complete) = (0, 0, 0);
    let count = cases(12) as u64;
    for (seeds, size) in [(0..count, 600), (1000..1000 + count / 3, 3000)] {
        each_import(seeds, size, |case, made, consumer, imported, written, before| {
            total += 1;
            let again = lower(&imported.module, consumer, Policy::Partial).expect("it is written");
            let after = new_object(made.module.target(), &made.code, &again.sections).expect("an object");
            // What the object of the description lacks, and what the import lists.
            let report = eitri::check(&made.module, consumer, &written.omissions, &after).expect("a report");
            let own = eitri::check(&made.module, consumer, &written.omissions, before).expect("a report");
            assert!(own.is_clean(), "{case}: {own}");
            compared += report.locations;
            let is_renamed = report.findings.iter().any(names_directory);
            let is_complete = imported.unimported.is_empty() && again.omissions.is_empty() && !is_renamed;
            complete += usize::from(is_complete);
            let repeated = repeated_types(before);
            for finding in &report.findings {
                // A location is right, or is left out and listed. Where nothing is listed, nothing is missing.
                // An argument that is left out moves the arguments after it.
                let is_wrong_place = finding.kind == FindingKind::Location
                    && finding.found != "undefined"
                    && finding.at.variable.is_some();
                let is_repeated = |tag: &String| finding.expected.starts_with(tag.as_str());
                if finding.found == "none like it" && repeated.iter().any(is_repeated) {
                    continue;
                }
                if is_wrong_place || is_complete {
                    wrong.push(format!("{case}: {finding}"));
                }
            }
        });
    }
    println!("{total} objects, {complete} complete, {compared} locations, {} differences", wrong.len());
    let mut kinds: std::collections::BTreeMap<String, (usize, String)> = Default::default();
    for text in &wrong {
        let kind = text.rsplit_once("): ").map_or(text.as_str(), |(_, text)| text);
        let kind: String = kind.chars().filter(|char| !char.is_ascii_digit()).take(160).collect();
        let kind = kind.rsplit_once("expected").map_or(&*kind, |(_, text)| text).to_owned();
        let known = kinds.entry(kind).or_insert_with(|| (0, text.clone()));
        known.0 += 1;
    }
    for (kind, (count, example)) in &kinds {
        println!("{count} {kind} :: {example}");
    }
    assert!(complete * 4 > total, "{complete} of {total} imports are complete");
    assert!(wrong.is_empty(), "{} differences", wrong.len());
}
