//! Random descriptions for every consumer and version: what is written for a description, and what is written for the import
//! of that object, say the same.

use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::import::{ImportOptions, ImportedExpressions, import};
use eitri::lower::lower;
use eitri::model::Module;
use eitri::read::{Dwarf, Object, ReadOptions};

use super::{compare, listed};
use crate::agreement::choices::Choices;
use crate::agreement::{modules, targets};
use crate::common::cases::cases;
use crate::common::consumers::{consumers, named, varied};
use crate::common::random::fixed_choices;
use crate::common::with;

fn written(module: &Module, code: &ObjectCode, consumer: &Consumer) -> eitri::Result<Vec<u8>> {
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
                options.dialect = consumer.expressions.dialect;
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
