//! Facts that an import cannot hold, each a JSON object.

use serde_json::{Value, json};

use super::finding::FunctionPcs;
use crate::import::UnimportedFact;

/// Writes facts that a description lacks as a JSON list of objects: `section`, `offset` in bytes, `reason`, `unit`, `function`,
/// `pcs`, `function_pcs` and `message`.
pub fn write_unimported(facts: &[UnimportedFact]) -> String {
    facts.iter().map(fact).collect::<Value>().to_string()
}

pub(super) fn fact(fact: &UnimportedFact) -> Value {
    json!({
        "section": fact.section,
        "offset": fact.offset,
        "reason": fact.reason.name(),
        "unit": fact.unit,
        "function": fact.function,
        "pcs": fact.pcs.as_ref().map(|pcs| [format!("{:#x}", pcs.start), format!("{:#x}", pcs.end)]),
        "function_pcs": fact.function_pcs.as_ref().and_then(FunctionPcs::new),
        "message": fact.to_string(),
    })
}
