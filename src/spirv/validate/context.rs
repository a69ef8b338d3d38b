//! A validation in progress: the module, and the findings so far.

use hashbrown::HashMap;

use super::report::{ValidationFinding, ValidationReport};
use super::rule::ValidationRule;
use crate::error::{At, Count};
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::words::{Id, Instruction};

/// A validation in progress.
pub(super) struct Check<'f, 'a> {
    pub(super) facts: &'f Facts<'a>,
    pub(super) report: ValidationReport,
    /// Whether `SPV_INTEL_debug_module` is declared, which adds an instruction.
    pub(super) has_debug_module: bool,
    /// Whether a string's text satisfies a rule. This is a cache, because many instructions can refer to the same
    /// string.
    pub(super) checked: HashMap<(ValidationRule, Id), bool>,
    /// For each type that an index selects from: the number of its members, and whether all are data members, or the
    /// number of its dimensions. This is a cache, because many values can be parts of the same type.
    pub(super) parts: HashMap<Id, (u64, bool)>,
}

impl<'f, 'a> Check<'f, 'a> {
    pub(super) fn new(facts: &'f Facts<'a>) -> Self {
        Self {
            facts,
            report: ValidationReport::default(),
            has_debug_module: false,
            checked: HashMap::new(),
            parts: HashMap::new(),
        }
    }

    /// Whether the instruction belongs to a later version than the known versions.
    pub(super) fn is_later(&self, fact: &Fact<'_>) -> bool {
        self.facts.layout().later_sets().any(|(import, _)| import == fact.import)
    }

    /// Reports a finding or a note about an instruction.
    pub(super) fn find(&mut self, rule: ValidationRule, fact: &Fact<'_>, what: impl Into<String>) {
        self.find_in(rule, fact, None, what.into());
    }

    /// Reports a finding or note about an operand.
    pub(super) fn find_of(
        &mut self,
        rule: ValidationRule,
        fact: &Fact<'_>,
        field: Field,
        what: impl Into<String>,
    ) {
        self.find_in(rule, fact, Some((field, field.text().into())), what.into());
    }

    pub(super) fn find_in(
        &mut self,
        rule: ValidationRule,
        fact: &Fact<'_>,
        operand: Option<(Field, String)>,
        what: String,
    ) {
        let (operand, text) = operand.unzip();
        let place = fact.place().with(|context| context.operand = text);
        let section = fact.name().map(|name| name.section().text());
        self.push(rule, section, place, operand, what);
    }

    /// Reports a finding or note about the module rather than a debug instruction.
    pub(super) fn find_at(&mut self, rule: ValidationRule, place: At, what: String) {
        self.push(rule, None, place, None, what);
    }

    fn push(
        &mut self,
        rule: ValidationRule,
        section: Option<&'static str>,
        at: At,
        operand: Option<Field>,
        what: String,
    ) {
        // Most rules belong to the instruction's section.
        let section = rule.section().or(section).unwrap_or("2 Binary Form");
        let list = if rule.is_note() { &mut self.report.notes } else { &mut self.report.findings };
        list.push(ValidationFinding { rule, section, at, operand, what });
    }

    /// Describes an id, for messages.
    pub(super) fn describe(&self, id: Id) -> String {
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

pub(super) fn located(instruction: Instruction<'_>) -> At {
    At::new(|context| context.word = Some(instruction.at))
}
