//! An expression on a stopped machine: its steps, their pictures, the result, and the result in each lane.

use eitri::conform::{Found, KnownCallers, MachineChanges, Stop, VectorMachine, VectorTarget, expression};
use eitri::dump::figure;
use eitri::error::ErrorKind;
use eitri::eval::{Element, ResultKind};
use eitri::op::{Dialect, DraftCodes, Encoding, text};
use eitri::target::Target;
use eitri::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum size of a printed result in bytes, approximately.
const LONGEST_TEXT: usize = 1 << 20;

/// The expression and its machine, as the page's script writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The expression as text, or as bytes in hexadecimal digits.
    expression: String,
    dialect: String,
    /// Name of a target. A machine with a `target` does not need it.
    target: String,
    /// A `machine` in JSON, or a file with `target` and `machine`.
    machine: String,
    /// Number of bits to read at a resulting location; 0 reads nothing.
    read: u64,
    kind: String,
}

/// Evaluates an expression.
pub fn evaluate(question: &str) -> Result<String> {
    let question: Question = serde_json::from_str(question)
        .map_err(|error| bad_argument(format!("the question is not in the form of the page: {error}")))?;
    let (mut machine, target) = stopped(&question)?;
    MachineChanges::default().apply(&mut machine, &target, KnownCallers::OfMachine)?;
    let encoding = target.encoding(Dialect::named(&question.dialect)?);
    let (expr, numbered) = expression(&question.expression, encoding, &target)?;
    let is_numbered = numbered != encoding;
    let encoding = numbered;
    let mut stop = Stop::new(&expr, &machine, encoding, &target).with_bits(Some(question.read));
    stop.context = stop.context.with_kind(ResultKind::named(&question.kind)?);
    let (steps, found) = stop.steps();
    let picture = figure(&steps, stop.machine, stop.target, stop.bits);
    let lanes = match stop.lanes() {
        Ok(lanes) => lanes.iter().map(|found| result(&stop, found)).collect(),
        // A machine without lanes has no other answers.
        Err(_) => Vec::new(),
    };
    let operations: Vec<Value> =
        steps.steps.iter().map(|step| json!({"text": step.operation, "depth": step.depth})).collect();
    Ok(json!({
        "text": text::print(&expr, encoding, target.built_in()),
        "bytes": spelled(&expr),
        "has_provisional_numbers": is_numbered && uses_draft(&expr, encoding, &target),
        "operations": operations,
        "more": steps.more,
        "steps": steps.to_string(),
        "picture": picture,
        "lane": machine.snapshot.lane,
        "result": result(&stop, &found),
        "meaning": steps.result_text(),
        "lanes": lanes,
    })
    .to_string())
}

/// Reads the machine and its target: that of the machine's file, or else the named target.
fn stopped(question: &Question) -> Result<(VectorMachine, VectorTarget)> {
    let text = if question.machine.trim().is_empty() { "{}" } else { &question.machine };
    let has_target = serde_json::from_str::<Value>(text).is_ok_and(|file| file.get("target").is_some());
    if has_target {
        return VectorMachine::with_target(text, None, None);
    }
    let target = VectorTarget::from(Target::named(question.target.trim())?);
    Ok((VectorMachine::from_json(text, &target)?, target))
}

/// Whether the bytes have a number that the draft does not assign: without the provisional numbers they are other
/// operations, or none.
fn uses_draft(expr: &[u8], numbered: Encoding, target: &VectorTarget) -> bool {
    let assigned = numbered.with_draft(DraftCodes::NONE);
    text::print(expr, assigned, target.built_in()) != text::print(expr, numbered, target.built_in())
}

/// Returns a result's text and the bytes that were read.
fn result(stop: &Stop<'_>, found: &Found) -> Value {
    let location = match &found.result {
        Ok(Element::Location(_)) => {
            let alone = Found { read: None, ..found.clone() };
            Some(stop.text(&alone, LONGEST_TEXT))
        }
        _ => None,
    };
    json!({
        "text": stop.text(found, LONGEST_TEXT),
        "location": location,
        "read": found.read_text_in_names(LONGEST_TEXT, stop.target),
        "is_error": found.fault().is_some(),
    })
}

fn spelled(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn bad_argument(problem: String) -> Error {
    ErrorKind::BadArgument(problem).into()
}
