//! Module to JSON to module is the identity.

use eitri::model::Module;
use proptest::prelude::*;

use crate::random::{choices, fixed_choices, module, targets};

fn assert_comes_back(module: &Module) {
    let text = module.to_json();
    let again = Module::from_json(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(again == *module, "{text}\n{again:#?}\n{module:#?}");
    assert_eq!(again.to_json(), text);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn modules_come_back(choices in choices(600), target in 0..5usize) {
        assert_comes_back(&module(&choices, &targets()[target]));
    }
}

/// Numbers of the order in which strings were stored do not matter; those of entities do.
#[test]
fn modules_are_the_same_if_they_say_the_same() {
    for seed in 0..40 {
        let target = &targets()[seed as usize % 5];
        let one = module(&fixed_choices(seed, 400), target);
        let two = module(&fixed_choices(seed + 1000, 400), target);
        assert!(one == one.clone());
        assert!(one != two, "{}", one.to_json());
    }
}
