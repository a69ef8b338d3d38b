//! Functions with two descriptions, and parameters with the same number.

use hashbrown::HashMap;

use super::context::{Context, Subject};
use crate::lint::LintCode;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// Reports functions with two descriptions.
pub(super) fn descriptions(context: &mut Context<'_, '_>) {
    for (fact, description, code) in std::mem::take(&mut context.definitions.again) {
        let Some(first) = context.definitions.description(code) else { continue };
        let subject = Subject { function: Some(description), ..Subject::default() };
        let [first, this] = [context.describe(first), context.describe(description)];
        context.find(
            LintCode::CodeDescribedTwice,
            fact.at,
            &subject,
            format!("{this} describes OpFunction {code}, which another function describes"),
            vec![format!("{first} describes OpFunction {code} as well")],
        );
    }
}

/// Reports parameters of a function that have the same number.
pub(super) fn arguments(context: &mut Context<'_, '_>) {
    let facts = context.facts;
    let mut known: HashMap<(Id, u64), Id> = HashMap::new();
    for fact in facts.iter().filter(|fact| fact.name() == Some(InstructionName::LocalVariable)) {
        let function = context.function_of(&fact);
        let (Some(function), Some(operand)) = (function, fact.operand(Field::ArgNumber)) else { continue };
        // Intel's translator writes literals in sets that have constants here.
        let number = facts.number(&fact, Field::ArgNumber).unwrap_or(u64::from(operand.word));
        let first = *known.entry((function, number)).or_insert(fact.result);
        if first != fact.result {
            let subject =
                Subject { function: Some(function), variable: Some(fact.result), ..Subject::default() };
            let other = context.describe(first);
            context.find(
                LintCode::EqualArguments,
                fact.at,
                &subject,
                format!("argument number {number}, which another parameter has"),
                vec![format!("{other} has the argument number {number} as well")],
            );
        }
    }
}
