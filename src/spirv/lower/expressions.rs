//! Writes `DebugOperation` and `DebugExpression`, each once: section 4.8.

use smallvec::SmallVec;

use super::writer::{Word, Writer};
use crate::error::Result;
use crate::spirv::operand::Field;
use crate::spirv::provider::DebugOperation;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// The id for the `DebugExpression` with these operations.
#[inline]
pub(super) fn expression(writer: &mut Writer<'_>, operations: &[DebugOperation]) -> Result<Id> {
    // The empty expression is looked up without a hash, because most variables use it.
    match writer.expressions.empty.filter(|_| operations.is_empty()) {
        Some(empty) => Ok(empty),
        None => any_expression(writer, operations),
    }
}

fn any_expression(writer: &mut Writer<'_>, operations: &[DebugOperation]) -> Result<Id> {
    // Kernels repeat few expressions, so that each is written once.
    if let Some(&id) = writer.expressions.expressions.get(operations) {
        return Ok(id);
    }
    let mut operands = Vec::with_capacity(operations.len());
    for &operation in operations {
        operands.push((Field::Operation, operation_id(writer, operation)?.into()));
    }
    let id = writer.instruction(InstructionName::Expression, &operands)?;
    if operations.is_empty() {
        writer.expressions.empty = Some(id);
    } else {
        writer.expressions.expressions.insert(operations.into(), id);
    }
    Ok(id)
}

fn operation_id(writer: &mut Writer<'_>, operation: DebugOperation) -> Result<Id> {
    if let Some(&id) = writer.expressions.operations.get(&operation) {
        return Ok(id);
    }
    let mut operands: SmallVec<[(Field, Word); 3]> = SmallVec::new();
    operands.push((Field::Operation, operation.number().into()));
    operands.extend(operation.operands().map(|operand| (Field::Operand, operand.into())));
    let id = writer.instruction(InstructionName::Operation, &operands)?;
    writer.expressions.operations.insert(operation, id);
    Ok(id)
}
