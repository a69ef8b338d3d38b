//! Validates a module against the specification of the instruction set: every rule of the text has a name, which its
//! findings carry.
//!
//! Known deviations of LLVM's translator are recognised and named.

mod entities;
mod expressions;
mod indexes;
pub(super) mod lines;
mod operands;
mod place;
mod rule;
mod templates;

use core::fmt;

use hashbrown::HashMap;
pub use rule::Rule;

use super::Set;
use super::layout::{is_of_graphs, unknown_set};
use super::opcodes as op;
use super::operand::Field;
use super::read::{Fact, Facts};
use super::uses::operand_ids;
use super::words::{Id, Instruction, string_bytes};
use crate::error::{At, Count};

/// Findings and notes, in the order of the words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Violations of the specification.
    pub findings: Vec<Finding>,
    /// Noteworthy forms that the specification permits or leaves open.
    pub notes: Vec<Finding>,
    /// Number of debug instructions.
    pub instructions: usize,
}

/// A finding or a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The violated rule.
    pub rule: Rule,
    /// Section of the specification with the rule.
    pub section: &'static str,
    /// Location of the instruction.
    pub at: At,
    /// The operand.
    pub operand: Option<Field>,
    /// Description.
    pub what: String,
}

impl Report {
    /// Whether the report is without violations.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, section, at, what, .. } = self;
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

/// Validates every debug instruction of a module.
pub fn validate(facts: &Facts<'_>) -> Report {
    let mut check = Check {
        facts,
        report: Report::default(),
        has_debug_module: false,
        judged: HashMap::new(),
        parts: HashMap::new(),
    };
    check.module();
    check.uses();
    check.places();
    let lines = lines::Lines::new(facts);
    let index = entities::Index::new(facts);
    for fact in facts.iter() {
        check.report.instructions += 1;
        check.results(&fact);
        // Rules about several instructions require valid operands.
        if let Some(row) = check.row(&fact)
            && check.operands(&fact, row)
        {
            check.entity(&fact, &index);
            check.expression(&fact);
            check.indexes(&fact);
            check.lines(&fact, &lines);
        }
    }
    check.text_of_sources(&lines);
    check.report.findings.sort_by_key(|finding| finding.at.word);
    check.report.notes.sort_by_key(|note| note.at.word);
    check.report
}

/// State of a validation.
struct Check<'f, 'a> {
    facts: &'f Facts<'a>,
    report: Report,
    /// Whether `SPV_INTEL_debug_module` is declared, which adds an instruction.
    has_debug_module: bool,
    /// Whether the text of a string satisfies a rule: a cache, as many instructions can refer to one string.
    judged: HashMap<(Rule, Id), bool>,
    /// For each type that an index selects from: the number of its members, and whether all are data members, or the
    /// number of its dimensions. A cache, as many values can be parts of one type.
    parts: HashMap<Id, (u64, bool)>,
}

impl<'a> Check<'_, 'a> {
    /// Rules about the module, or about instructions of all kinds.
    fn module(&mut self) {
        let layout = self.facts.layout();
        let mut has_extension = layout.words().version() >= (1, 6);
        let (mut has_relaxed_extension, mut relaxed) = (false, None);
        for instruction in layout.words().instructions() {
            match (instruction.opcode(), instruction.operands()) {
                (op::EXTENSION, name) | (op::CONDITIONAL_EXTENSION, [_, name @ ..]) => {
                    match string_bytes(name, usize::MAX).as_deref() {
                        Some(b"SPV_KHR_non_semantic_info") => has_extension = true,
                        Some(b"SPV_KHR_relaxed_extended_instruction") => has_relaxed_extension = true,
                        Some(b"SPV_INTEL_debug_module") => self.has_debug_module = true,
                        _ => {}
                    }
                }
                (op::EXT_INST_IMPORT, name)
                    if string_bytes(name, usize::MAX).is_some_and(|it| is_of_graphs(&it)) =>
                {
                    let what = "the set describes graphs: its instructions are not checked";
                    self.find_at(Rule::GraphSet, at(instruction), what.into());
                }
                (op::EXT_INST, _) => self.set(instruction),
                (op::EXT_INST_FORWARD, _) => {
                    self.set(instruction);
                    relaxed = relaxed.or(self.facts.fact(instruction));
                }
                _ => {}
            }
        }
        if let Some(fact) = relaxed.filter(|fact| fact.set.is_shader() && !has_relaxed_extension) {
            let what = "SPV_KHR_relaxed_extended_instruction is not declared";
            self.find(Rule::RelaxedExtension, &fact, what);
        }
        for (import, name) in layout.later_sets() {
            let place = layout.definition(import).map_or(At::default(), at);
            let set = layout.set(import).map_or("", Set::name);
            self.find_at(Rule::LaterVersion, place, format!("{name} is read as {set}"));
        }
        for instruction in layout.again() {
            let Some(id) = instruction.result() else { continue };
            let first = layout.definition(id).map_or(0, |first| first.at);
            // Only duplicates that involve a debug instruction are reported.
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

    /// Whether the instruction belongs to a later version than the known ones.
    fn is_later(&self, fact: &Fact<'_>) -> bool {
        self.facts.layout().later_sets().any(|(import, _)| import == fact.import)
    }

    /// `SemanticUse`: searches the instructions that are not debug instructions for results of debug instructions.
    fn uses(&mut self) {
        let facts = self.facts;
        let layout = facts.layout();
        let mut results = vec![false; layout.highest().0.min(layout.words().all().len() as u32) as usize + 1];
        let mut is_needed = false;
        for fact in facts.iter().filter(|fact| fact.set.is_shader()) {
            if let Some(result) = results.get_mut(fact.result.0 as usize) {
                (*result, is_needed) = (true, true);
            }
        }
        if !is_needed {
            return;
        }
        let is_result = |word: u32| results.get(word as usize) == Some(&true);
        for instruction in layout.words().instructions() {
            // Most instructions have no word that could be such a result, and nearly all others a literal.
            let opcode = instruction.opcode();
            if opcode == op::NAME || !instruction.words[1..].iter().any(|&word| is_result(word)) {
                continue;
            }
            let ids = match opcode {
                op::EXT_INST | op::EXT_INST_FORWARD if !self.has_ids(instruction) => continue,
                _ => operand_ids(instruction),
            };
            let mut ids = instruction.result_type().into_iter().chain(ids);
            if let Some(id) = ids.find(|id| is_result(id.0) && facts.get(*id).is_some()) {
                let name = op::name(opcode).map_or_else(|| format!("opcode {opcode}"), Into::into);
                let what = format!("{} is an operand of an {name}", self.describe(id));
                self.find_at(Rule::SemanticUse, at(instruction), what);
            }
        }
    }

    /// Whether all operands of an extended instruction are ids, and the instruction has a meaning: those of
    /// `GLSL.std.450`. Other sets have literals, or are unknown.
    fn has_ids(&self, instruction: Instruction<'_>) -> bool {
        let set = instruction.operands().first().and_then(|&set| self.facts.layout().definition(Id(set)));
        let set = set.filter(|set| set.opcode() == op::EXT_INST_IMPORT);
        set.and_then(|set| string_bytes(set.operands(), usize::MAX)).as_deref() == Some(b"GLSL.std.450")
    }

    /// An extended instruction whose set is not imported.
    fn set(&mut self, instruction: Instruction<'_>) {
        let layout = self.facts.layout();
        let Some(&set) = instruction.operands().first() else { return };
        let defined = layout.definition(Id(set));
        let is_import =
            defined.is_some_and(|it| it.opcode() == op::EXT_INST_IMPORT && it.at < instruction.at);
        if !is_import && !layout.may_be_defined(Id(set)) {
            self.find_at(Rule::Set, at(instruction), format!("{} is not an OpExtInstImport", Id(set)));
        }
    }

    /// Reports a finding or a note about an instruction.
    fn find(&mut self, rule: Rule, fact: &Fact<'_>, what: impl Into<String>) {
        self.find_in(rule, fact, None, what.into());
    }

    /// Reports about an operand.
    fn find_of(&mut self, rule: Rule, fact: &Fact<'_>, field: Field, what: impl Into<String>) {
        self.find_in(rule, fact, Some((field, field.text().into())), what.into());
    }

    fn find_in(&mut self, rule: Rule, fact: &Fact<'_>, operand: Option<(Field, String)>, what: String) {
        let (operand, text) = operand.unzip();
        let place = At { operand: text, ..fact.place() };
        let section = fact.name().map(|name| name.section().text());
        self.push(rule, section, place, operand, what);
    }

    /// Reports about the module rather than a debug instruction.
    fn find_at(&mut self, rule: Rule, place: At, what: String) {
        self.push(rule, None, place, None, what);
    }

    fn push(
        &mut self,
        rule: Rule,
        section: Option<&'static str>,
        at: At,
        operand: Option<Field>,
        what: String,
    ) {
        let section = rule.section().or(section).unwrap_or("2 Binary Form");
        let list = if rule.is_note() { &mut self.report.notes } else { &mut self.report.findings };
        list.push(Finding { rule, section, at, operand, what });
    }

    /// Describes an id, for messages.
    fn describe(&self, id: Id) -> String {
        let Some(instruction) = self.facts.layout().definition(id) else { return format!("{id}") };
        match self.facts.fact(instruction) {
            Some(fact) => match fact.name() {
                Some(name) => format!("{id}, a {}", name.text_in(fact.set)),
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
