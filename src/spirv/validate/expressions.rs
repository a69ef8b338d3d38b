//! Debug operations and their stack: section 3.6.

use super::context::Check;
use super::rule::ValidationRule;
use crate::error::Count;
use crate::spirv::operand::Field;
use crate::spirv::operations::{Operation, operations};
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;

pub(super) fn expression<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    match fact.name() {
        Some(InstructionName::Operation) => {
            let Some(Operation { name, operands, .. }) = operation(check, fact) else { return };
            let count = fact.operands.len().saturating_sub(1);
            if count != *operands {
                let what = format!("{name} has {}; expected {operands}", Count(count, "operand"));
                check.find_of(ValidationRule::OperationOperands, fact, Field::Operand, what);
            }
        }
        Some(InstructionName::Expression) => stack(check, fact),
        _ => {}
    }
}

fn operation<'a>(check: &Check<'_, 'a>, fact: &Fact<'a>) -> Option<&'static Operation> {
    let number = check.facts.number(fact, Field::Operation)?;
    operations(fact.set).get(usize::try_from(number).ok()?)
}

/// Checks the stack, which has one entry at first: the variable's address or value.
fn stack<'a>(check: &mut Check<'_, 'a>, fact: &Fact<'a>) {
    let mut depth = 1;
    for (index, id) in fact.ids(Field::Operation).enumerate() {
        let instruction = check.facts.get(id).filter(|it| it.name() == Some(InstructionName::Operation));
        // Unknown operations end the check. So do parts, because the specification does not define the stack after a
        // part.
        let Some(&Operation { name, operands, takes, leaves }) =
            instruction.and_then(|it| operation(check, &it))
        else {
            return;
        };
        // Operations such as `BitPiece` and `Fragment` have two operands and take nothing.
        if takes == 0 && operands == 2 {
            return;
        }
        if depth < takes {
            let takes = Count(takes, "entry");
            let what = format!("operation {index}, {name}, takes {takes}, but the stack has {depth}");
            check.find(ValidationRule::Stack, fact, what);
            return;
        }
        depth = depth - takes + leaves;
    }
}
