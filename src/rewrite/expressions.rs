//! Form in which expressions are imported, so that they mean the same for the consumer.

use super::options::RewrittenExpressions;
use crate::consumer::{Consumer, Operations};
use crate::import::ImportedExpressions;
use crate::op::Dialect;
use crate::target::Target;

/// Returns the form for a consumer.
///
/// A file's operations mean the same for a consumer with the same kind of stack: on CPUs always; on GPUs, where a
/// location is a stack element in LLVM's and AMD's dialects, and an address in the standard, only in these dialects.
pub(super) fn form(
    target: &Target,
    dialect: Dialect,
    consumer: &Consumer,
    wanted: RewrittenExpressions,
) -> ImportedExpressions {
    let reader = consumer.expressions.dialect;
    let is_on_stack = |dialect| matches!(dialect, Dialect::Llvm | Dialect::Legacy);
    let is_same = target.lanes() == 1 || is_on_stack(dialect) && is_on_stack(reader);
    let reads_all = consumer.expressions.operations == Operations::All;
    if wanted == RewrittenExpressions::Unchanged && is_same && reads_all {
        ImportedExpressions::RawIn(consumer.encoding_on(target))
    } else {
        ImportedExpressions::Typed
    }
}
