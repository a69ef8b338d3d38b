//! Attached words can be detached, which restores the module, for random statements.

use core::ops::Range;

use eitri::build::Builder;
use eitri::spirv::{
    Attached, Binding, Id, InstructionName, Mode, Position, Provider, Set, attach, read, validate,
};
use eitri::target::Target;
use proptest::prelude::*;

use crate::spirv_attach::support::Case;

/// A random statement at a random position, possibly invalid.
#[derive(Debug, Clone, Copy)]
struct Random {
    position: (u8, u8, u8),
    word: (u8, u8, u8),
}

fn random() -> impl Strategy<Value = Random> {
    any::<((u8, u8, u8), (u8, u8, u8))>().prop_map(|(position, word)| Random { position, word })
}

impl Random {
    fn say(self, case: &Case, binding: &mut Binding) {
        let (how, which, index) = self.position;
        let (function, block) =
            *[("scale", "entry"), ("scale", "then"), ("scale", "last"), ("other", "single")]
                .get(usize::from(which % 4))
                .expect("there are four");
        let function = case.id(function);
        let block = case.id(block);
        let any_id = |number: u8| Id(u32::from(number) % case.words[3].max(1));
        let position = match how % 4 {
            0 => Position::start(function, block),
            1 | 2 => Position::before(function, block, u32::from(index % 7)),
            _ => Position::after(any_id(which)),
        };
        let (what, id, more) = self.word;
        let variables = [case.n, case.sum, case.inner, case.pair, case.v];
        let variable = variables[usize::from(more) % variables.len()];
        let provider = Provider::value(any_id(id));
        match what % 12 {
            0 => binding.no_scope(position),
            1 => binding.scope(position, case.block),
            2 => binding.scope(position, case.inlined),
            3 => binding.scope(position, case.deep),
            4 => binding.line(position, case.line(u32::from(more % 3))),
            5 => binding.no_line(position),
            6 => binding.declare(position, variable, provider),
            7 => binding.declare(position, variable, provider.plus(4)),
            8 => binding.value(position, variable, &[provider]),
            9 => binding.value(position, variable, &[provider.part(u32::from(more % 3))]),
            10 => binding.value(position, variable, &[provider.bits(0..32)]),
            _ => binding.value(position, variable, &[]),
        };
    }
}

/// Attaches and checks all invariants. Returns the result.
fn checked(case: &Case, binding: &Binding, mode: &Mode) -> Option<Attached> {
    let attached = attach(&case.words, &case.module, binding, mode).ok()?;
    assert_eq!(attached.detach().expect("is whole"), case.words);
    let mut end = 0;
    for range in &attached.added {
        assert!(end < range.start && range.start < range.end, "{:?}", attached.added);
        end = range.end;
    }
    let facts = read(&attached.words).expect("reads");
    let report = validate(&facts);
    assert!(report.is_clean(), "{report}");
    let checked = attached.check(&case.module, binding, mode).expect("reads");
    assert!(checked.is_clean(), "{checked}\n{:#?}\n{binding:?}", case.show(&facts, "scale"));
    assert_eq!(attach(&case.words, &case.module, binding, mode).as_ref(), Ok(&attached));
    Some(attached)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Statements that are accepted separately are accepted together.
    #[test]
    fn whatever_is_said(all in prop::collection::vec(random(), 0..60), is_shader in any::<bool>()) {
        let case = Case::new();
        let mode = Mode::exact(if is_shader { Set::Shader } else { Set::OpenCl });
        let alone = |random: &Random| {
            let mut binding = case.bound();
            random.say(&case, &mut binding);
            checked(&case, &binding, &mode).is_some()
        };
        let mut binding = case.bound();
        for random in all.iter().filter(|random| alone(random)) {
            random.say(&case, &mut binding);
        }
        prop_assert!(checked(&case, &binding, &mode).is_some());
    }

    /// Arbitrary fields do not cause a panic.
    #[test]
    fn whatever_the_fields(words in prop::collection::vec(any::<u32>(), 0..20), added in prop::collection::vec(any::<(u8, u8)>(), 0..5)) {
        let added: Vec<_> = added.iter().map(|&(start, end)| usize::from(start % 24)..usize::from(end % 24)).collect();
        let attached = Attached { words, added, bound: 1, omissions: Vec::new() };
        if let Ok(words) = attached.detach() {
            let new: usize = attached.added.iter().map(Range::len).sum();
            prop_assert_eq!(words.len() + new, attached.words.len());
        }
    }

    /// Arbitrary words, or a corrupted module, do not cause a panic; an accepted one is restored exactly.
    #[test]
    fn whatever_the_words(at in any::<prop::sample::Index>(), word in any::<u32>(), all in prop::collection::vec(random(), 0..8)) {
        let mut case = Case::new();
        let at = at.index(case.words.len());
        case.words[at] = [word, word % 64, case.words[at] ^ (1 << (word % 32))][word as usize % 3];
        for set in Set::ALL {
            let mut binding = case.bound();
            for random in &all {
                random.say(&case, &mut binding);
            }
            if let Ok(attached) = attach(&case.words, &case.module, &binding, &Mode::exact(set)) {
                prop_assert_eq!(&attached.detach().expect("is whole"), &case.words);
            }
        }
    }
}

/// Changed fields: only new words are removed, or detaching fails.
#[test]
fn changed_fields() {
    let case = Case::new();
    let attached =
        attach(&case.words, &case.module, &case.bound(), &Mode::exact(Set::OpenCl)).expect("is attached");
    let refused = |change: fn(&mut Attached)| {
        let mut attached = attached.clone();
        change(&mut attached);
        attached.detach().expect_err("is refused").to_string()
    };
    let last = attached.added.last().expect("something is new").clone();
    let len = attached.words.len();
    let what = format!(
        "added words {}..{} are out of order or outside the module, which has {len} words",
        last.start, last.end
    );
    // In another order, reversed, and beyond the end.
    assert!(refused(|it| it.added.rotate_right(1)).contains("are out of order or outside the module"));
    assert!(
        refused(|it| it.added[0] = Range { start: 7, end: 6 }).contains("added words 7..6 are out of order")
    );
    assert!(
        refused(|it| it.added.push(0..usize::MAX)).contains("added words 0..18446744073709551615 are out")
    );
    assert!(refused(|it| it.added.push(it.added[it.added.len() - 1].clone())).contains(&what));
    assert!(refused(|it| it.words.truncate(9)).contains("outside the module, which has 9 words"));
    assert!(refused(|it| it.added = vec![0..it.words.len()]).contains("the module has no header"));
    let nothing = Attached { words: Vec::new(), added: Vec::new(), ..attached.clone() };
    assert!(nothing.detach().is_err());
    let all = Attached { added: Vec::new(), ..attached.clone() };
    assert_eq!(all.detach().map(|words| words.len()), Ok(len));
}

/// Most statements are accepted, so that the test above is meaningful.
#[test]
fn most_that_is_said_is_said() {
    let case = Case::new();
    let mut count = 0;
    for number in 0..=255_u8 {
        let random =
            Random { position: (number, number / 4, number / 16), word: (number / 3, number, number / 5) };
        let mut binding = case.bound();
        random.say(&case, &mut binding);
        count += u32::from(checked(&case, &binding, &Mode::exact(Set::OpenCl)).is_some());
    }
    assert!(count > 60, "{count}");
}

/// A module without ids.
#[test]
fn a_module_without_ids_is_added_to() {
    let words = [eitri::spirv::MAGIC, 0x0001_0000, 0, 0, 0];
    let mut m = Builder::new(Target::x86_64());
    m.unit("a.cl");
    let module = m.finish().expect("is whole");
    for set in Set::ALL {
        let attached = attach(&words, &module, &Binding::new(), &Mode::exact(set)).expect("is attached");
        assert_eq!(attached.bound, 0);
        let facts = read(&attached.words).expect("is a module");
        let names: Vec<_> = facts.iter().filter_map(|fact| fact.name()).collect();
        assert_eq!(names, [InstructionName::Source, InstructionName::CompilationUnit]);
        assert_eq!(attached.detach().expect("is whole"), words);
    }
}
