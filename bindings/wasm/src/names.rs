//! Names that the page offers.

use eitri::Result;
use eitri::target::Target;
use serde_json::{Value, json};

/// Returns the names of all targets.
pub fn names() -> Value {
    let targets: Vec<String> = Target::all().map(|target| target.name().to_owned()).collect();
    json!({"version": env!("CARGO_PKG_VERSION"), "targets": targets})
}

/// Returns a target's lanes, and its registers with their sizes in bits.
pub fn target(name: &str) -> Result<String> {
    let target = Target::named(name)?;
    let registers: Vec<Value> =
        target.registers().map(|register| json!([register.name().to_string(), register.bits])).collect();
    Ok(json!({"lanes": target.lanes(), "registers": registers}).to_string())
}
