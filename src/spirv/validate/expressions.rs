//! Debug operations and their stack: section 3.6.

use super::{Check, Rule};
use crate::error::Count;
use crate::spirv::operand::Field;
use crate::spirv::operations::{Operation, operations};
use crate::spirv::read::Fact;
use crate::spirv::table::Name;

impl<'a> Check<'_, 'a> {
    pub(super) fn expression(&mut self, fact: &Fact<'a>) {
        match fact.name() {
            Some(Name::Operation) => {
                let Some(Operation { name, operands, .. }) = self.operation(fact) else { return };
                let count = fact.operands.len().saturating_sub(1);
                if count != *operands {
                    let what = format!("{name} has {}: {count} given", Count(*operands, "operand"));
                    self.find_of(Rule::OperationOperands, fact, Field::Operand, what);
                }
            }
            Some(Name::Expression) => self.stack(fact),
            _ => {}
        }
    }

    fn operation(&self, fact: &Fact<'a>) -> Option<&'static Operation> {
        let number = self.facts.number(fact, Field::Operation)?;
        operations(fact.set).get(usize::try_from(number).ok()?)
    }

    /// Checks the stack, which has one entry at first: the address or the value of the variable.
    fn stack(&mut self, fact: &Fact<'a>) {
        let mut depth = 1;
        for (index, id) in fact.ids(Field::Operation).enumerate() {
            let operation = self.facts.get(id).filter(|it| it.name() == Some(Name::Operation));
            // Unknown operations end the check. The text does not define the stack after a part.
            let Some(&Operation { name, operands, takes, leaves }) =
                operation.and_then(|it| self.operation(&it))
            else {
                return;
            };
            if takes == 0 && operands == 2 {
                return;
            }
            if depth < takes {
                let takes = Count(takes, "entry");
                let what = format!("operation {index}, {name}, takes {takes}: the stack has {depth}");
                self.find(Rule::Stack, fact, what);
                return;
            }
            depth = depth - takes + leaves;
        }
    }
}
