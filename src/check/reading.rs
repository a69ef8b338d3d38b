//! Reading an object for a comparison.

use super::report::{CheckFinding, CheckReport, FindingKind, placed};
use super::undefined_symbols;
use crate::consumer::Consumer;
use crate::error::{Error, Result};
use crate::model::Module;
use crate::omission::Omission;
use crate::op::Dialect;
use crate::read::{Dwarf, Object, ReadOptions, Sizes};

/// Reads an object without placing its sections, and returns the symbol sizes for [`Placing::Linked`].
pub(super) fn read_unlinked<'m>(module: &'m Module, consumer: &Consumer, bytes: &[u8]) -> Result<Sizes<'m>> {
    let object = Object::read_for(bytes, module.target())?;
    Dwarf::read_with(
        &object,
        &ReadOptions::new().dialect(dialect(consumer)).draft(consumer.expressions.draft),
    )?;
    Ok(undefined_symbols::sizes(module, &object))
}

/// Returns the dialect for reading. Vendor operations are always decoded; `dwarf5` checks whether the consumer allows
/// them.
pub(super) fn dialect(consumer: &Consumer) -> Dialect {
    match consumer.expressions.dialect {
        Dialect::Dwarf5 => Dialect::Llvm,
        other => other,
    }
}

/// Report for an object that is readable before linking, but not after.
pub(super) fn unreadable(object: &Object<'_>, error: &Error, omissions: &[Omission]) -> CheckReport {
    let finding = CheckFinding {
        kind: FindingKind::Unreadable,
        at: error.at().clone(),
        lane: None,
        expected: "something that can be read when it is linked".into(),
        found: placed(object, error).to_string(),
        trace: Vec::new(),
    };
    CheckReport { findings: vec![finding], omitted: omissions.len(), ..CheckReport::default() }
}
