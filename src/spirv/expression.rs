//! Operations of a `DebugExpression`.

use smallvec::SmallVec;

use super::operand::Field;
use super::provider::DebugOperation;
use super::read::Facts;
use super::table::Name;
use super::words::Id;
use crate::error::{Error, Result};

impl Facts<'_> {
    /// The operations of a `DebugExpression`.
    ///
    /// # Errors
    /// With the instruction, if the id is not a `DebugExpression`, or an operation is not one of the ten with its
    /// operands.
    pub fn operations(&self, expression: Id) -> Result<SmallVec<[DebugOperation; 4]>> {
        let fact = self.get(expression).filter(|fact| fact.name() == Some(Name::Expression));
        let fact = fact.ok_or_else(|| Error::malformed(format!("{expression} is not a DebugExpression")))?;
        let word = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
        let operation = |id: Id| {
            let fact = self.get(id).filter(|fact| fact.name() == Some(Name::Operation));
            let operation = fact.and_then(|fact| {
                let number = word(self.number(&fact, Field::Operation))?;
                let operands =
                    fact.operands().skip(1).map(|operand| match operand.row?.kind.is_literal(fact.set) {
                        true => Some(operand.word),
                        false => word(self.layout().constant(Id(operand.word))?.value),
                    });
                let operands: SmallVec<[u32; 2]> = operands.collect::<Option<_>>()?;
                DebugOperation::new(number, &operands)
            });
            operation.ok_or_else(|| Error::malformed(format!("{id} is none of the ten operations")))
        };
        let all: Result<_> = fact.ids(Field::Operation).map(operation).collect();
        all.map_err(|error| error.or_at(fact.place()))
    }
}
