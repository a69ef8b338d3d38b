//! Random descriptions for every consumer and version: what is written for a description, and what is written for the import
//! of that object, say the same.

use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::new_object;
use eitri::import::{ImportOptions, ImportedExpressions, import};
use eitri::lower::lower;
use eitri::model::Module;
use eitri::read::{Dwarf, Object};

use super::{compare, listed};
use crate::agreement::choices::Choices;
use crate::agreement::{modules, targets};
use crate::common::cases::cases;
use crate::common::consumers::{consumers, named, varied};
use crate::common::random::fixed_choices;
use crate::common::with;

fn written(
    module: &Module,
    code: &eitri::emit::elf::ObjectCode,
    consumer: &Consumer,
) -> eitri::Result<Vec<u8>> {
    let written = lower(module, consumer, Policy::Partial)?;
    new_object(module.target(), code, &written.sections)
}

#[test]
fn random_descriptions_say_the_same_after_an_import() {
    let mut all = Vec::new();
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
            let after = written(&imported.module, &made.code, &consumer).expect("the import is written");
            let [before, after] = [&before, &after].map(|bytes| Object::read(bytes).expect("it is read"));
            let dialect = consumer.expressions.dialect;
            let [before, after] = [&before, &after].map(|object| {
                Dwarf::read_as(object, dialect, consumer.expressions.draft).expect("it is read")
            });
            let differences = compare::differences(&before, &after, &imported.unimported);
            let case = format!("{seed}, {}: ", named(&consumer));
            all.extend(differences.into_iter().map(|difference| case.clone() + &difference));
        }
    }
    assert!(all.is_empty(), "{} differences:\n{}", all.len(), listed(&all));
}
