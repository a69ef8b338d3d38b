//! Diagnoses the debug instructions of valid modules: what a debugger shows wrong. [`validate`](super::validate()) reports
//! what is invalid.
//!
//! `scopes` has the tree of scopes, `definitions` connects code with descriptions, and `sizes` has the sizes and parts of types.
//! The other files find codes: `functions` looks at descriptions and parameters, `body` walks over the code with the scope and line in force, `ended` has the values after the code of a block, `values` and `compare`
//! compare variables with storage and values, `leaves` has the numbers of types with different parts, `composites` looks at members, and `validated` takes over indexes and lines from
//! the validation. `context` collects the findings.

mod body;
mod compare;
mod composites;
mod context;
mod definitions;
mod ended;
mod functions;
mod leaves;
mod scopes;
mod sizes;
mod validated;
mod values;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::operand::Field;
use super::read::{Facts, read};
use super::table::InstructionName;
use crate::error::{Error, ErrorKind, Named, Result};
use crate::lint::{LintCode, LintFinding, LintOptions, LintReport};
use crate::near::nearest;
use context::Context;
use hashbrown::HashSet;

/// Diagnoses a module's debug instructions, from any set and producer. Rules of the specification are not checked: see
/// [`validate`](super::validate()).
///
/// The options `only` and `fold` apply. A finding's offset is the instruction's first byte in the module, in the section
/// `module`.
///
/// # Errors
/// The errors of [`read`](super::read()).
///
/// # Example
///
/// ```
/// use eitri::lint::{LintCode, LintOptions};
/// use eitri::spirv;
///
/// let words = spirv::from_bytes(include_bytes!("../../../examples/data/saxpy.spv"))?;
/// let report = spirv::lint(&words, &LintOptions::default())?;
/// // The module has code without debug instructions.
/// assert_eq!(report.findings[0].code, LintCode::NoDebugInfo);
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn lint(words: &[u32], options: &LintOptions<'_>) -> Result<LintReport> {
    let facts = read(words)?;
    let mut context = Context::new(&facts);
    context.report.functions = facts.layout().functions().len();
    functions::descriptions(&mut context);
    functions::arguments(&mut context);
    composites::members(&mut context);
    validated::rules(&mut context);
    validated::core_lines(&mut context);
    let mut values = values::Values::default();
    values.globals(&mut context);
    // A module without debug instructions has a finding of its own.
    let has_facts = facts.iter().next().is_some();
    for function in facts.layout().functions().iter().filter(|_| has_facts) {
        body::body(&mut context, &mut values, function);
    }
    let mut report = context.report;
    report.findings.extend(missing(&facts));
    let sources = facts.iter().filter(|fact| fact.name() == Some(InstructionName::Source));
    let files: BTreeSet<String> = sources.filter_map(|source| facts.text(&source, Field::File)).collect();
    report.units.extend(files.into_iter().map(Arc::from));
    report.findings.sort_by_key(|finding| finding.offset);
    if !options.only.is_empty() {
        only(&facts, options, &mut report);
    }
    if options.fold {
        report.fold();
    }
    Ok(report)
}

/// A finding about a module with code and without debug instructions.
fn missing(facts: &Facts<'_>) -> Option<LintFinding> {
    let first = facts.layout().functions().first()?;
    if facts.iter().next().is_some() {
        return None;
    }
    let unknown = facts.layout().unknown_sets().map(|(_, name, _)| format!("{name:?} is not a known set"));
    Some(LintFinding::of_module(
        LintCode::NoDebugInfo,
        (first.at.start * 4) as u64,
        "the module has functions, and no debug instructions of a known set".into(),
        unknown.collect(),
    ))
}

/// Restricts a report to the findings in functions with these names.
fn only(facts: &Facts<'_>, options: &LintOptions<'_>, report: &mut LintReport) {
    let mut names: Vec<[String; 2]> = Vec::new();
    let mut shown = Vec::new();
    for fact in facts.iter().filter(|fact| fact.name() == Some(InstructionName::Function)) {
        let text = |field| facts.text(&fact, field).unwrap_or_default();
        names.push([text(Field::Name), text(Field::LinkageName)]);
        shown.push(context::name(facts, fact.result));
    }
    let mut chosen: HashSet<&str> = HashSet::new();
    for wanted in &options.only {
        let is_match = |name: &String| options.matches.is_match(wanted, name);
        // A linkage name stands for the function's name.
        let known = names.iter().zip(&shown).filter(|(names, _)| names.iter().any(is_match));
        let count = chosen.len();
        chosen.extend(known.map(|(_, shown)| shown.as_str()));
        if chosen.len() > count || names.iter().flatten().any(is_match) {
            report.named.push(wanted.clone());
        } else {
            let nearest = nearest(wanted, names.iter().map(|names| names[0].as_str()));
            let kind = ErrorKind::UnknownName { kind: Named::Function, name: wanted.clone(), nearest };
            report.unknown.push(Error::from(kind));
        }
    }
    report.findings.retain(|finding| finding.function.as_deref().is_some_and(|name| chosen.contains(name)));
}
