//! Mistakes in words that say what was described: an operand that is another one, an instruction that is missing or
//! elsewhere. The validator or the check finds each.

use std::collections::BTreeMap;

use eitri::model::Module;
use eitri::spirv::{Binding, Facts, Field, Id, Kind, LeftOut, Mode, Name, Set, attach, check, read};
use eitri::target::Target;

use crate::described::{Described, described};
use crate::random::{fixed_choices, targets};

/// What has no meaning that could get lost: which version of the instructions it is, where parameters of templates are,
/// which are of no line; of which file something without a line is; in which column a range of lines ends.
fn says_nothing(name: Name, field: Field) -> bool {
    matches!(field, Field::Version | Field::DwarfVersion | Field::ColumnEnd)
        || name == Name::LexicalBlockDiscriminator && field == Field::Source
}

struct Written {
    words: Vec<u32>,
    module: Module,
    binding: Binding,
    left_out: Vec<LeftOut>,
    mode: Mode,
}

impl Written {
    fn new(seed: u64, target: &Target, mode: Mode) -> Self {
        let Described { words, module, binding } = described(&fixed_choices(seed, 400), target);
        let attached = attach(&words, &module, &binding, &mode).expect("every call was right");
        Self { words: attached.words, module, binding, left_out: attached.left_out, mode }
    }

    /// Whether nothing is found.
    fn is_clean(&self, words: &[u32]) -> bool {
        match check(&self.module, &self.binding, &self.mode, &self.left_out, words) {
            Ok(checked) => checked.is_clean(),
            Err(_) => false,
        }
    }
}

/// Other values for an operand: the next number, and every kind of id that there is.
fn others(facts: &Facts<'_>, set: Set, kind: Kind, word: u32) -> Vec<u32> {
    if kind.is_literal(set) {
        return vec![word.wrapping_add(1)];
    }
    let layout = facts.layout();
    match layout.constant(Id(word)) {
        // Another number of the same type.
        Some(constant) => {
            let all = layout
                .words()
                .instructions()
                .filter_map(|it| Some((it.result()?, layout.constant(it.result()?)?)));
            let other =
                all.filter(|(_, of)| of.integer_bits == constant.integer_bits && of.value != constant.value);
            other.map(|(id, _)| id.0).take(1).collect()
        }
        None => {
            // The next of the same kind that says something else.
            let opcode = layout.definition(Id(word)).map(|it| it.opcode());
            let fact = facts.get(Id(word));
            let same = layout.words().instructions().filter(|it| Some(it.opcode()) == opcode);
            let mut same = same.filter(|it| facts.fact(*it).map(|it| it.number) == fact.map(|it| it.number));
            let is_other = |id: &Id| {
                let operands = |id: Id| layout.definition(id).map(|it| it.operands().to_vec());
                id.0 != word && operands(*id) != operands(Id(word))
            };
            let next = same.find_map(|it| it.result().filter(|id| id.0 > word).filter(is_other));
            next.map(|id| id.0).into_iter().collect()
        }
    }
}

#[test]
fn every_operand_counts() {
    let (mut missed, mut tried) = (BTreeMap::<String, Vec<String>>::new(), 0);
    for (seed, target) in (0..12).zip(targets().iter().cycle()) {
        for set in Set::ALL {
            let written = Written::new(seed, target, Mode::exact(set));
            assert!(written.is_clean(&written.words));
            let facts = read(&written.words).expect("is a module");
            for fact in facts.iter() {
                let Some(name) = fact.name() else { continue };
                for operand in fact.operands() {
                    let Some(row) = operand.row.filter(|row| !says_nothing(name, row.field)) else {
                        continue;
                    };
                    // Of which file what has no line is, or a macro of the command line.
                    if row.field == Field::Source && facts.number(&fact, Field::Line) == Some(0) {
                        continue;
                    }
                    for other in others(&facts, set, row.kind, operand.word) {
                        let mut words = written.words.clone();
                        words[fact.at + 5 + operand.index] = other;
                        tried += 1;
                        if written.is_clean(&words) {
                            let what = format!("{} {}", name.row().text, row.field.text());
                            let which =
                                format!("{set:?} seed {seed} {} {} -> {other}", fact.result, operand.word);
                            missed.entry(what).or_default().push(which);
                        }
                    }
                }
            }
        }
    }
    let text: Vec<String> = missed
        .iter()
        .map(|(what, which)| format!("{what}: {} times, as {}", which.len(), which[0]))
        .collect();
    assert!(text.is_empty(), "of {tried} mistakes not found:\n{}", text.join("\n"));
    assert!(tried > 1000);
}
