//! Round trip of random modules and bindings over random code, in both sets and every mode.

use eitri::spirv::{Mode, Set, attach, import, read};
use eitri::target::Target;
use proptest::prelude::*;

use crate::spirv_check::described::{Described, described};
use crate::spirv_check::random::{choices, fixed_choices, targets};

fn modes() -> [Mode; 5] {
    [
        Mode::exact(Set::OpenCl),
        Mode::exact(Set::Shader),
        Mode::validating(Set::OpenCl),
        Mode::validating(Set::Shader),
        Mode::translator(),
    ]
}

fn comes_back(choices: &[u16], target: &Target) {
    let Described { words, module, binding } = described(choices, target);
    for mode in modes() {
        let attached = attach(&words, &module, &binding, &mode).expect("every call was right");
        let checked = attached.check(&module, &binding, &mode).expect("is a module");
        assert!(checked.is_clean(), "{} {:?} {}: {checked}", mode.name(), mode.set(), target.name());
        // The imported module is emitted the same way again, except for unavailable bits of a variable: their OpUndef
        // is in the words only.
        let imported = import(&read(&attached.words).expect("is a module"), target).expect("is a model");
        let bound = words[3];
        if imported.binding.providers().iter().any(|provider| provider.id().0 >= bound) {
            assert_ne!(mode.name(), "exact");
            continue;
        }
        let again = attach(&words, &imported.module, &imported.binding, &mode).expect("every call was right");
        let checked = again.check(&imported.module, &imported.binding, &mode).expect("is a module");
        assert!(checked.is_clean(), "again, {} {:?}: {checked}", mode.name(), mode.set());
    }
}

#[test]
fn fixed_modules_come_back() {
    for (seed, target) in (0..24).zip(targets().iter().cycle()) {
        comes_back(&fixed_choices(seed, 400), target);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn random_modules_come_back(choices in choices(600), target in 0..6usize) {
        comes_back(&choices, &targets()[target]);
    }
}
