//! Is a module what the specification of the set says? Every rule of the text, each finding with the name of its rule.
//!
//! Forms that the LLVM translator is known for are recognised, and said.

mod entities;
mod expressions;
pub(super) mod lines;
mod operands;
mod place;
mod rule;
mod templates;

use core::fmt;

use hashbrown::HashMap;
pub use rule::Rule;

use super::Set;
use super::layout::unknown_set;
use super::opcodes as op;
use super::operand::Field;
use super::read::{Fact, Facts};
use super::words::{Id, Instruction, string_bytes};
use crate::error::{At, Count};

/// What was found, in the order of the words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What the specification does not allow.
    pub findings: Vec<Finding>,
    /// What it allows, or leaves open, and is worth knowing.
    pub notes: Vec<Finding>,
    /// How many debug instructions there are.
    pub instructions: usize,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that it is against.
    pub rule: Rule,
    /// The section of the specification that has the rule.
    pub section: &'static str,
    /// Where.
    pub at: At,
    /// What it is.
    pub what: String,
}

impl Report {
    /// Whether nothing is against the specification.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, section, at, what } = self;
        write!(f, "{} ({section}): {at}: {what}", rule.name())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        let Self { findings, notes, instructions } = self;
        let [findings, notes] = [Count(findings.len(), "finding"), Count(notes.len(), "note")];
        write!(f, "{findings}, {notes}; {}", Count(*instructions, "debug instruction"))
    }
}

/// Checks every debug instruction of a module.
pub fn validate(facts: &Facts<'_>) -> Report {
    let mut check =
        Check { facts, report: Report::default(), has_debug_module: false, judged: HashMap::new() };
    check.module();
    check.places();
    let lines = lines::Lines::new(facts);
    let related = entities::Related::new(facts);
    for fact in facts.iter() {
        check.report.instructions += 1;
        check.results(&fact);
        // What is said together with others has a meaning only if each operand by itself has one.
        if let Some(row) = check.row(&fact)
            && check.operands(&fact, row)
        {
            check.entity(&fact, &related);
            check.expression(&fact);
            check.lines(&fact, &lines);
        }
    }
    check.text_of_sources(&lines);
    check.report.findings.sort_by_key(|finding| finding.at.word);
    check.report.notes.sort_by_key(|note| note.at.word);
    check.report
}

/// A check that is going on.
struct Check<'f, 'a> {
    facts: &'f Facts<'a>,
    report: Report,
    /// Whether `SPV_INTEL_debug_module` is declared, which has an instruction of its own.
    has_debug_module: bool,
    /// Whether the text of a string is what it has to be. One string can be named often.
    judged: HashMap<(Rule, Id), bool>,
}

impl<'a> Check<'_, 'a> {
    /// Something that is about the module, or about instructions of all kinds.
    fn module(&mut self) {
        let layout = self.facts.layout();
        let mut has_extension = layout.words().version() >= (1, 6);
        for instruction in layout.words().instructions() {
            match instruction.opcode() {
                op::EXTENSION => match string_bytes(instruction.operands(), usize::MAX).as_deref() {
                    Some(b"SPV_KHR_non_semantic_info") => has_extension = true,
                    Some(b"SPV_INTEL_debug_module") => self.has_debug_module = true,
                    _ => {}
                },
                op::EXT_INST | op::EXT_INST_FORWARD => self.set(instruction),
                _ => {}
            }
        }
        for instruction in layout.again() {
            let Some(id) = instruction.result() else { continue };
            let first = layout.definition(id).map_or(0, |first| first.at);
            // It is a finding of ours if one of them is a debug instruction.
            if self.facts.fact(instruction).is_some() || self.facts.get(id).is_some() {
                self.find_at(Rule::DefinedOnce, at(instruction), format!("word {first} has defined {id}"));
            }
        }
        for (import, name, count) in layout.unknown_sets() {
            let place = layout.definition(import).map_or(At::default(), at);
            self.find_at(Rule::UnknownSet, place, unknown_set(name, count));
        }
        for (import, set) in layout.sets() {
            if set.is_shader() && !has_extension {
                let place = layout.definition(import).map_or(At::default(), at);
                self.find_at(Rule::Extension, place, "the extension is not declared".into());
            }
        }
    }

    /// An extended instruction of a set that is none.
    fn set(&mut self, instruction: Instruction<'_>) {
        let layout = self.facts.layout();
        let Some(&set) = instruction.operands().first() else { return };
        let defined = layout.definition(Id(set));
        let is_import =
            defined.is_some_and(|it| it.opcode() == op::EXT_INST_IMPORT && it.at < instruction.at);
        if !is_import && !layout.may_be_defined(Id(set)) {
            self.find_at(Rule::Set, at(instruction), format!("{} is no OpExtInstImport", Id(set)));
        }
    }

    /// A finding, or a note, about an instruction.
    fn find(&mut self, rule: Rule, fact: &Fact<'_>, what: impl Into<String>) {
        self.find_in(rule, fact, None, what.into());
    }

    /// About one of its operands.
    fn find_of(&mut self, rule: Rule, fact: &Fact<'_>, field: Field, what: impl Into<String>) {
        self.find_in(rule, fact, Some(field.text().into()), what.into());
    }

    fn find_in(&mut self, rule: Rule, fact: &Fact<'_>, operand: Option<String>, what: String) {
        let place = At { operand, ..fact.place() };
        let section = fact.name().map(|name| name.row().section.text());
        self.push(rule, section, place, what);
    }

    /// About no debug instruction.
    fn find_at(&mut self, rule: Rule, place: At, what: String) {
        self.push(rule, None, place, what);
    }

    fn push(&mut self, rule: Rule, section: Option<&'static str>, at: At, what: String) {
        let section = rule.section().or(section).unwrap_or("2 Binary Form");
        let list = if rule.is_note() { &mut self.report.notes } else { &mut self.report.findings };
        list.push(Finding { rule, section, at, what });
    }

    /// What an id is, for messages.
    fn describe(&self, id: Id) -> String {
        let Some(instruction) = self.facts.layout().definition(id) else { return format!("{id}") };
        match self.facts.fact(instruction) {
            Some(fact) => match fact.name() {
                Some(name) => format!("{id}, a {}", name.row().text),
                None => format!("{id}, instruction {} of {}", fact.number, fact.set.name()),
            },
            None => match op::name(instruction.opcode()) {
                Some(name) => {
                    let bits = self.facts.layout().constant(id).and_then(|constant| constant.integer_bits);
                    let bits = bits.map(|bits| format!(" of {}", Count(bits, "bit"))).unwrap_or_default();
                    format!("{id}, an {name}{bits}")
                }
                None => format!("{id}, an instruction of opcode {}", instruction.opcode()),
            },
        }
    }
}

fn at(instruction: Instruction<'_>) -> At {
    At { word: Some(instruction.at), ..At::default() }
}
