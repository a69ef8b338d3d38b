//! `DebugOperation` and `DebugExpression`, each written once: section 4.8.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::writer::{Word, Writer};
use crate::error::Result;
use crate::spirv::operand::Field;
use crate::spirv::provider::DebugOperation;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

/// Ids of the written operations and expressions.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    operations: HashMap<DebugOperation, Id>,
    expressions: HashMap<SmallVec<[DebugOperation; 4]>, Id>,
    /// The expression without operations, which most variables use.
    empty: Option<Id>,
}

impl Expressions {
    /// Whether no expression is written yet.
    pub fn is_empty(&self) -> bool {
        self.empty.is_none() && self.expressions.is_empty()
    }
}

impl Writer<'_> {
    /// The id of the `DebugExpression` with these operations.
    #[inline]
    pub fn expression(&mut self, operations: &[DebugOperation]) -> Result<Id> {
        match self.expressions.empty.filter(|_| operations.is_empty()) {
            Some(empty) => Ok(empty),
            None => self.any_expression(operations),
        }
    }

    fn any_expression(&mut self, operations: &[DebugOperation]) -> Result<Id> {
        if let Some(&id) = self.expressions.expressions.get(operations) {
            return Ok(id);
        }
        let mut operands = Vec::with_capacity(operations.len());
        for &operation in operations {
            operands.push((Field::Operation, self.operation(operation)?.into()));
        }
        let id = self.instruction(Name::Expression, &operands)?;
        if operations.is_empty() {
            self.expressions.empty = Some(id);
        } else {
            self.expressions.expressions.insert(operations.into(), id);
        }
        Ok(id)
    }

    fn operation(&mut self, operation: DebugOperation) -> Result<Id> {
        if let Some(&id) = self.expressions.operations.get(&operation) {
            return Ok(id);
        }
        let mut operands: SmallVec<[(Field, Word); 3]> = SmallVec::new();
        operands.push((Field::Operation, operation.number().into()));
        operands.extend(operation.operands().into_iter().map(|operand| (Field::Operand, operand.into())));
        let id = self.instruction(Name::Operation, &operands)?;
        self.expressions.operations.insert(operation, id);
        Ok(id)
    }
}
