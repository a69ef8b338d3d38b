//! Indexes and lines, which are also rules of the specification: [`validate`](crate::spirv::validate()) finds them. Lines
//! of `OpLine` are compared here.

use hashbrown::HashMap;

use super::context::{Context, Subject};
use crate::error::Count;
use crate::lint::LintCode;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::validate::{Lines, ValidationRule, validate};
use crate::spirv::words::{HEADER, Id};

/// Reports indexes outside the variable's type, and lines outside the source.
pub(super) fn rules(context: &mut Context<'_, '_>) {
    let facts = context.facts;
    for finding in validate(facts).findings {
        let code = match finding.rule {
            ValidationRule::Index => LintCode::IndexOutsideType,
            ValidationRule::Line | ValidationRule::Column => LintCode::LineOutsideSource,
            _ => continue,
        };
        let Some(word) = finding.at.word else { continue };
        let Some(fact) = facts.fact(facts.layout().words().at(word)) else { continue };
        let subject = subject(context, fact.result, word);
        let name = fact.name().map_or("", |name| name.text_in(fact.set));
        context.find(
            code,
            word,
            &subject,
            finding.what,
            vec![format!("{name} {} at word {word}", fact.result)],
        );
    }
}

/// What a debug instruction is about.
fn subject(context: &Context<'_, '_>, id: Id, word: usize) -> Subject {
    let facts = context.facts;
    let mut subject = Subject::default();
    let Some(fact) = facts.get(id) else { return subject };
    match fact.name() {
        Some(InstructionName::Declare | InstructionName::Value) => {
            subject.variable = fact.id(Field::LocalVariable);
            let variable = subject.variable.and_then(|variable| facts.get(variable));
            subject.function = variable.and_then(|variable| context.function_of(&variable));
        }
        Some(InstructionName::LocalVariable) => {
            subject.variable = Some(id);
            subject.function = context.function_of(&fact);
        }
        Some(InstructionName::GlobalVariable) => subject.variable = Some(id),
        Some(InstructionName::Function) => subject.function = Some(id),
        Some(InstructionName::LexicalBlock | InstructionName::InlinedAt) => {
            subject.function = context.function_of(&fact);
            subject.declared = Some(id);
        }
        Some(InstructionName::Line) => {
            let function = facts.layout().function_at(word).map(|function| function.id);
            subject.function = function.and_then(|function| context.definitions.description(function));
            subject.declared = Some(id);
        }
        _ => subject.declared = Some(id),
    }
    subject
}

/// Reports `OpLine` instructions whose line or column is outside the text of the `DebugSource` with the same file: the first
/// in each function. Column 0 is no column, and the column after the last byte is the line's end.
pub(super) fn core_lines(context: &mut Context<'_, '_>) {
    let facts = context.facts;
    let lines = Lines::new(facts);
    let mut sources: HashMap<Vec<u8>, Id> = HashMap::new();
    for fact in facts.iter().filter(|fact| fact.name() == Some(InstructionName::Source)) {
        let file = fact.id(Field::File).and_then(|file| facts.layout().string_start(file, usize::MAX));
        if let Some(file) = file {
            sources.entry(file).or_insert(fact.result);
        }
    }
    if sources.is_empty() {
        return;
    }
    let mut files: HashMap<Id, Option<Id>> = HashMap::new();
    let words = facts.layout().words();
    let end = words.all().len();
    let mut last = None;
    for instruction in words.between(HEADER..end).filter(|it| it.opcode() == op::LINE) {
        let &[file, line, column, ..] = instruction.operands() else { continue };
        let source = *files.entry(Id(file)).or_insert_with(|| {
            let name = facts.layout().string_start(Id(file), usize::MAX)?;
            sources.get(&name).copied()
        });
        let Some((source, count)) = source.and_then(|source| Some((source, lines.count(source)?))) else {
            continue;
        };
        let function = facts.layout().function_at(instruction.at).map(|function| function.id);
        let what = match lines.bytes(source, line.into()) {
            _ if u64::from(line) > count => {
                format!("line {line}, which is not in the text, which has {count}")
            }
            Some(bytes) if u64::from(column) > bytes + 1 => {
                format!("column {column}, which is not in line {line}, which has {}", Count(bytes, "byte"))
            }
            _ => continue,
        };
        if last == Some((function, file, line)) {
            continue;
        }
        last = Some((function, file, line));
        let function = function.and_then(|function| context.definitions.description(function));
        let subject = Subject { function, ..Subject::default() };
        let evidence = format!("{} has the text", context.describe(source));
        context.find(
            LintCode::LineOutsideSource,
            instruction.at,
            &subject,
            format!("OpLine has {what}"),
            vec![evidence],
        );
    }
}
