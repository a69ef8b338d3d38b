//! Decodes the operations in a `DebugExpression`.

use smallvec::SmallVec;

use super::operand::Field;
use super::operations::operations;
use super::provider::DebugOperation;
use super::read::Facts;
use super::table::InstructionName;
use super::words::Id;
use crate::error::{Error, Result};

impl Facts<'_> {
    /// Returns the operations in a `DebugExpression`.
    ///
    /// # Errors
    /// The error names the instruction, if the id is not a `DebugExpression`, or if an operation does not belong to the
    /// set or has operands wider than 32 bits.
    pub fn operations(&self, expression: Id) -> Result<Vec<DebugOperation>> {
        self.few_operations(expression).map(SmallVec::into_vec)
    }

    /// The [operations](Self::operations), in memory of their own only if they are many.
    pub(crate) fn few_operations(&self, expression: Id) -> Result<SmallVec<[DebugOperation; 4]>> {
        let fact = self.get(expression).filter(|fact| fact.name() == Some(InstructionName::Expression));
        let fact = fact.ok_or_else(|| Error::malformed(format!("{expression} is not a DebugExpression")))?;
        let set = fact.set.name();
        // Constants are sign-extended to 64 bits, so that a negative 32-bit number needs the second conversion.
        let word = |number: Option<u64>| {
            let number = number?;
            u32::try_from(number).ok().or_else(|| Some(i32::try_from(number as i64).ok()? as u32))
        };
        let operation = |id: Id| {
            let fact = self.get(id).filter(|fact| fact.name() == Some(InstructionName::Operation));
            let operation = fact.and_then(|fact| {
                let number = word(self.number(&fact, Field::Operation))?;
                operations(fact.set).get(number as usize)?;
                let operands = fact.operands().skip(1).map(|operand| {
                    if operand.is_literal(fact.set) {
                        Some(operand.word)
                    } else {
                        word(self.layout().constant(Id(operand.word))?.value)
                    }
                });
                let operands: SmallVec<[u32; 2]> = operands.collect::<Option<_>>()?;
                DebugOperation::new(number, &operands)
            });
            operation.ok_or_else(|| Error::malformed(format!("{id} is not an operation of {set}")))
        };
        let decoded: Result<_> = fact.ids(Field::Operation).map(operation).collect();
        decoded.map_err(|error| error.or_at(fact.place()))
    }
}
