//! A module that is diagnosed, and the findings so far.

use std::sync::Arc;

use hashbrown::HashMap;

use super::definitions::Definitions;
use super::scopes::Scopes;
use crate::lint::{InlinedCalls, LintCode, LintFinding, LintReport};
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::words::{HEADER, Id, Instruction, string_bytes};

/// Limit on a name's bytes in findings, of which many can be about one name.
const MOST_NAME: usize = 1024;

/// Number of bytes in a word.
const WORD: usize = 4;

/// A module that is diagnosed.
pub(super) struct Context<'f, 'a> {
    pub facts: &'f Facts<'a>,
    pub scopes: Scopes,
    pub definitions: Definitions<'a>,
    pub report: LintReport,
    /// Source of the first compilation unit.
    first_source: Option<Fact<'a>>,
    /// Texts of strings and names of functions, which the `OpName` of an `OpFunction` supplies first. Many findings share them.
    texts: HashMap<Id, Arc<str>>,
}

/// What a finding is about. Ids are those of debug instructions.
#[derive(Clone, Default)]
pub(super) struct Subject {
    pub function: Option<Id>,
    pub inlined: InlinedCalls,
    pub variable: Option<Id>,
    /// An instruction with a source and a line, if neither the variable nor the function is the subject.
    pub declared: Option<Id>,
}

impl<'f, 'a> Context<'f, 'a> {
    pub fn new(facts: &'f Facts<'a>) -> Self {
        let scopes = Scopes::new(facts, |function| name(facts, function));
        let definitions = Definitions::new(facts);
        let mut texts: HashMap<Id, Arc<str>> = HashMap::new();
        let starts = facts.layout().functions();
        let before = facts.layout().words().between(HEADER..facts.layout().globals_end());
        for name in before.filter(|it| it.opcode() == op::NAME) {
            let Some((&id, text)) = name.operands().split_first() else { continue };
            let start = facts.layout().definition(Id(id)).map(|function| function.at);
            let is_function = starts.binary_search_by_key(&start, |function| Some(function.at.start)).is_ok();
            if let Some(text) = string_bytes(text, usize::MAX).filter(|text| is_function && !text.is_empty())
            {
                texts.insert(Id(id), String::from_utf8_lossy(&text).into());
            }
        }
        let first_unit = facts.iter().find(|fact| fact.name() == Some(InstructionName::CompilationUnit));
        let first_source = first_unit.and_then(|unit| facts.named(&unit, Field::Source));
        Self { facts, scopes, definitions, report: LintReport::default(), first_source, texts }
    }

    /// Adds a finding at an instruction.
    pub fn find(
        &mut self,
        code: LintCode,
        at: usize,
        subject: &Subject,
        written: String,
        evidence: Vec<String>,
    ) {
        let mut finding = LintFinding::of_module(code, (at * WORD) as u64, written, evidence);
        let facts = self.facts;
        let variable = subject.variable.and_then(|id| facts.get(id));
        let function = subject.function.and_then(|id| facts.get(id));
        let declared = subject.declared.and_then(|id| facts.get(id));
        finding.variable = variable.and_then(|variable| short(facts, &variable, Field::Name));
        let subject_fact = variable.or(declared).or(function);
        finding.entry = subject_fact.map(|fact| (fact.at * WORD) as u64);
        finding.declared = subject_fact.and_then(|fact| self.declared(&fact));
        finding.function = subject.function.map(|function| self.function_name(function));
        finding.inlined = subject.inlined.clone();
        finding.unit = self.unit(function.or(subject_fact));
        self.report.findings.push(finding);
    }

    /// File and line of a declaration.
    fn declared(&mut self, fact: &Fact<'a>) -> Option<(Arc<str>, u64)> {
        let source = self.facts.named(fact, Field::Source)?;
        let file = self.text(source.id(Field::File)?);
        Some((file, self.facts.number(fact, Field::Line).unwrap_or(0)))
    }

    /// Name of the unit: the file of the instruction's source, or else of the first unit's source.
    fn unit(&mut self, fact: Option<Fact<'a>>) -> Option<Arc<str>> {
        let source = fact.and_then(|fact| self.facts.named(&fact, Field::Source)).or(self.first_source)?;
        Some(self.text(source.id(Field::File)?))
    }

    /// Text of an `OpString`.
    fn text(&mut self, id: Id) -> Arc<str> {
        let facts = self.facts;
        let text = self.texts.entry(id);
        text.or_insert_with(|| facts.layout().string(id).unwrap_or_default().into()).clone()
    }

    /// Name of a `DebugFunction`, or of an `OpFunction` that no `DebugFunction` describes.
    fn function_name(&mut self, id: Id) -> Arc<str> {
        if let Some(name) = self.texts.get(&id) {
            return name.clone();
        }
        let name: Arc<str> = name(self.facts, id).into();
        self.texts.insert(id, name.clone());
        name
    }

    /// Describes an id, for messages: `%5, a DebugFunction "f"`.
    pub fn describe(&self, id: Id) -> String {
        let Some(instruction) = self.facts.layout().definition(id) else { return format!("{id}") };
        match self.facts.fact(instruction) {
            Some(fact) => {
                let text = fact.name().map_or("debug instruction", |name| name.text_in(fact.set));
                match short(self.facts, &fact, Field::Name).filter(|name| !name.is_empty()) {
                    Some(name) => format!("{text} {id} `{name}`"),
                    None => format!("{text} {id}"),
                }
            }
            None => format!("{} {id}", op::name(instruction.opcode()).unwrap_or("instruction")),
        }
    }

    /// The scopes' function of a variable or a call.
    pub fn function_of(&self, fact: &Fact<'a>) -> Option<Id> {
        self.scopes.function(fact.id(Field::Scope)?)
    }
}

/// An instruction and its position, for evidence.
pub(super) fn place_of_code(instruction: Instruction<'_>) -> String {
    let name = op::name(instruction.opcode()).unwrap_or("an instruction");
    match instruction.result() {
        Some(result) => format!("{name} {result} at word {}", instruction.at),
        None => format!("{name} at word {}", instruction.at),
    }
}

/// A debug instruction and its position, for evidence.
pub(super) fn place(fact: &Fact<'_>) -> String {
    let name = fact.name().map_or("an instruction", |name| name.text_in(fact.set));
    format!("{name} {} at word {}", fact.result, fact.at)
}

/// Name of a `DebugFunction`; the id for an `OpFunction`.
pub(super) fn name(facts: &Facts<'_>, id: Id) -> String {
    let name = facts.get(id).and_then(|fact| short(facts, &fact, Field::Name));
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("{id}"))
}

/// Returns the text that an operand refers to; a long text is cut, and ends with `…`.
fn short(facts: &Facts<'_>, fact: &Fact<'_>, field: Field) -> Option<String> {
    let bytes = facts.layout().string_start(fact.id(field)?, MOST_NAME + 1)?;
    let start = &bytes[..bytes.len().min(MOST_NAME)];
    let mut text = String::from_utf8_lossy(start).into_owned();
    if start.len() < bytes.len() {
        text.truncate(text.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
        text.push('…');
    }
    Some(text)
}
