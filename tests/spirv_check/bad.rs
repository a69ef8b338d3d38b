//! Invalid modules: reading, importing and checking end without a panic; instructions that cannot be imported are
//! listed or an error.

use eitri::spirv::{Facts, Mode, Set, attach, check, import, read};
use eitri::target::Target;
use proptest::prelude::*;

use crate::spirv_check::described::{Described, described};
use crate::spirv_check::random::{fixed_choices, targets};

/// Changes words: each change gives the position, the kind of change and a number.
fn changed(mut words: Vec<u32>, changes: &[(u16, u8, u32)]) -> Vec<u32> {
    let len = words.len();
    for &(at, kind, value) in changes {
        let at = 5 + usize::from(at) % (len - 5);
        words[at] = match kind % 4 {
            // Another small number, mostly an id.
            0 => value % 400,
            1 => words[at].wrapping_add(1),
            2 => words[5 + value as usize % (len - 5)],
            _ => value,
        };
    }
    words
}

fn survives(words: &[u32], target: &Target) {
    if let Ok(facts) = read(words) {
        let _ = import(&facts, target);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn words_that_were_changed(
        seed in 0..40_u64,
        is_shader: bool,
        changes in prop::collection::vec(any::<(u16, u8, u32)>(), 1..40),
    ) {
        let set = if is_shader { Set::Shader } else { Set::OpenCl };
        let target = &targets()[seed as usize % 6];
        let Described { words, module, binding } = described(&fixed_choices(seed, 300), target);
        let mode = Mode::exact(set);
        let attached = attach(&words, &module, &binding, &mode).expect("every call was right");
        let words = changed(attached.words, &changes);
        survives(&words, target);
        let _ = check(&module, &binding, &mode, &attached.omissions, &words);
    }
}

/// A module of debug instructions: the import, the core instructions that they reference, and the given ones.
fn module(instructions: &[&[u32]]) -> Vec<u32> {
    let mut words = vec![eitri::spirv::MAGIC, 0x0001_0100, 0, 1 << 20, 0];
    let mut import: Vec<u32> = Vec::new();
    let mut bytes = Set::OpenCl.name().as_bytes().to_vec();
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    import.extend(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)));
    words.extend([(import.len() as u32 + 2) << 16 | 11, 1]);
    words.extend(import);
    // %2 = OpTypeVoid, %3 = OpString "a", %4 = OpTypeInt 32 0, %5 = OpConstant 32.
    words.extend([2 << 16 | 19, 2, 3 << 16 | 7, 3, u32::from(b'a'), 4 << 16 | 21, 4, 32, 0]);
    words.extend([4 << 16 | 43, 4, 5, 32]);
    for instruction in instructions {
        let (id, rest) = instruction.split_first().expect("an id");
        words.extend([(rest.len() as u32 + 4) << 16 | 12, 2, *id, 1]);
        words.extend(rest);
    }
    words
}

const START: [&[u32]; 2] = [&[10, 35, 3], &[11, 1, 1, 5, 10, 3]];

fn of(words: &[u32]) -> eitri::spirv::ImportedModule {
    let facts: Facts<'_> = read(words).expect("is a module");
    import(&facts, &Target::x86_64()).expect("is a model")
}

#[test]
fn types_may_be_nested_deeply() {
    let count = 100_000;
    let mut all: Vec<Vec<u32>> = vec![vec![20, 2, 3, 5, 4]];
    all.extend((0..count).map(|n| vec![21 + n, 3, 20 + n, 5, 0]));
    let all: Vec<&[u32]> = START.into_iter().chain(all.iter().map(|it| &it[..])).collect();
    let imported = of(&module(&all));
    assert_eq!(imported.module.types().count(), count as usize + 1);
    assert!(imported.omissions.is_empty(), "{:?}", imported.omissions);
}

#[test]
fn cycles_are_listed() {
    // A pointer to itself; two typedefs of each other; a block in itself; a call inlined into itself.
    let cases: [&[&[u32]]; 4] = [
        &[&[20, 3, 20, 5, 0]],
        &[&[20, 7, 3, 21, 10, 1, 1, 11], &[21, 7, 3, 20, 10, 1, 1, 11]],
        &[&[20, 21, 10, 1, 1, 20]],
        &[&[20, 25, 7, 11, 20]],
    ];
    for case in cases {
        let all: Vec<&[u32]> = START.into_iter().chain(case.iter().copied()).collect();
        let imported = of(&module(&all));
        assert!(!imported.omissions.is_empty(), "{case:?}");
        assert!(imported.module.types().count() == 0, "{case:?}");
    }
}

#[test]
fn a_type_that_contains_itself_is_an_error() {
    // A structure of 32 bits with a member of its own type.
    let structure = [20, 10, 3, 1, 10, 1, 1, 11, 3, 5, 0, 21];
    let member = [21, 11, 3, 20, 10, 1, 1, 20, 6, 5, 0];
    let mut words = module(&[START[0], START[1], &structure, &member]);
    // %6 = OpConstant 0, before the debug instructions.
    let at = words.iter().position(|word| *word == 6 << 16 | 12).expect("a debug instruction");
    words.splice(at..at, [4 << 16 | 43, 4, 6, 0]);
    let error = import(&read(&words).expect("is a module"), &Target::x86_64()).expect_err("contains itself");
    assert!(error.to_string().contains("contains itself"), "{error}");
}

#[test]
fn entities_shared_by_many_units_are_limited() {
    // Each unit has a variable of a type with many parts. The model would need a copy of every part per unit.
    let depth = 2000;
    let units = 2000;
    let mut all: Vec<Vec<u32>> = vec![vec![10, 35, 3]];
    all.extend((0..units).map(|n| vec![100_000 + n, 1, 1, 5, 10, 3]));
    all.push(vec![20, 2, 3, 5, 4]);
    all.extend((0..depth).map(|n| vec![21 + n, 3, 20 + n, 5, 0]));
    all.extend((0..units).map(|n| vec![200_000 + n, 18, 3, 20 + depth, 10, 1, 1, 100_000 + n, 3, 5, 8]));
    let all: Vec<&[u32]> = all.iter().map(|it| &it[..]).collect();
    let words = module(&all);
    let error = import(&read(&words).expect("is a module"), &Target::x86_64()).expect_err("too much");
    assert!(error.to_string().contains("more than 64 for each instruction"), "{error}");
}

#[test]
fn modules_without_units_describe_nothing() {
    let imported = of(&module(&[&[10, 35, 3], &[20, 2, 3, 5, 4]]));
    assert_eq!((imported.module.units().count(), imported.omissions.len()), (0, 1));
}
