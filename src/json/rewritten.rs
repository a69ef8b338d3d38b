//! What a rewrite changed and lost, as a JSON object.

use core::ops::Range;

use serde_json::{Value, json};

use super::unimported::fact;
use crate::consumer::Consumer;
use crate::rewrite::{FixChange, RewriteChange, Rewritten, Unfixed};

/// Version of the format, which changes whenever a key changes its meaning or goes.
const VERSION: u8 = 1;

/// Writes what a rewrite changed and lost as a JSON object on one line, without the line's end. `object` is the object's
/// name.
pub fn write_rewritten(rewritten: &Rewritten, object: &str) -> String {
    let texts = |texts: &mut dyn Iterator<Item = String>| texts.map(Value::from).collect::<Vec<_>>();
    let sizes = rewritten.sizes.iter();
    let sizes = sizes.map(|size| json!({"name": size.name, "before": size.before, "after": size.after}));
    let fixed = rewritten.changes.iter().filter_map(|change| match change {
        RewriteChange::Fixed(change) => Some(fix(change)),
        _ => None,
    });
    let removed = rewritten.changes.iter().filter_map(|change| match change {
        RewriteChange::Removed(removed) => Some(fact(removed)),
        _ => None,
    });
    let copies = rewritten.changes.iter().filter_map(|change| match change {
        RewriteChange::Emptied(copies) => Some(&copies.sections),
        _ => None,
    });
    let emptied = copies.flatten().map(|(name, bytes)| json!({"name": name, "bytes": bytes}));
    let different = rewritten.different_types.iter().map(|different| {
        let entries = different.entries.iter().map(|(unit, offset)| json!({"unit": unit, "offset": offset}));
        let entries = entries.collect::<Vec<_>>();
        json!({"name": different.name, "entries": entries, "message": different.to_string()})
    });
    let is_this =
        |name: &&&str| Consumer::named(name).is_ok_and(|consumer| consumer.name == rewritten.consumer.name);
    json!({
        "version": VERSION,
        "object": object,
        "consumer": rewritten.consumer.name,
        // A fitted consumer is a preset with another version or with other tables.
        "preset": Consumer::NAMES.iter().find(is_this),
        "dwarf": rewritten.consumer.version,
        "is_complete": rewritten.is_complete(),
        "sections": sizes.collect::<Vec<_>>(),
        "merged_types": rewritten.merged_types,
        "different_types": different.collect::<Vec<_>>(),
        "fixed": fixed.collect::<Vec<_>>(),
        "unfixed": rewritten.unfixed.iter().map(unfixed).collect::<Vec<_>>(),
        "removed": removed.collect::<Vec<_>>(),
        "emptied": emptied.collect::<Vec<_>>(),
        "changes": texts(&mut rewritten.changes.iter().map(ToString::to_string)),
        "unimported": rewritten.unimported.iter().map(fact).collect::<Vec<_>>(),
        "omitted": texts(&mut rewritten.omissions.iter().map(ToString::to_string)),
    })
    .to_string()
}

fn fix(change: &FixChange) -> Value {
    let after = change.after.iter().map(|(pcs, location)| json!({"pcs": range(pcs), "location": location}));
    json!({
        "code": change.code.name(),
        "unit": change.unit,
        "function": change.function,
        "variable": change.variable,
        "pcs": range(&change.pcs),
        "before": change.before,
        "after": after.collect::<Vec<_>>(),
        "evidence": change.evidence,
        "message": change.to_string(),
    })
}

fn unfixed(unfixed: &Unfixed) -> Value {
    let finding = &unfixed.finding;
    json!({
        "code": finding.code.name(),
        "unit": finding.unit.as_deref(),
        "function": finding.function.as_deref(),
        "variable": finding.variable,
        "pcs": range(&finding.pcs),
        "written": finding.written,
        "evidence": finding.evidence,
        "message": unfixed.to_string(),
    })
}

fn range(pcs: &Option<Range<u64>>) -> Option<[String; 2]> {
    pcs.as_ref().map(|pcs| [format!("{:#x}", pcs.start), format!("{:#x}", pcs.end)])
}
