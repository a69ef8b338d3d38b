//! Names that the page offers.

use eitri::Result;
use eitri::target::{Per, Target};
use serde_json::{Value, json};

/// Returns the names of all targets.
pub fn names() -> Value {
    let targets: Vec<String> = Target::all().map(|target| target.name().to_owned()).collect();
    json!({"version": env!("CARGO_PKG_VERSION"), "targets": targets})
}

/// Returns a target's lanes, registers and address spaces.
pub fn target(name: &str) -> Result<String> {
    let target = Target::named(name)?;
    let registers: Vec<Value> = target
        .registers()
        .map(|register| json!([register.name().to_string(), register.bits]))
        .collect();
    let spaces: Vec<Value> = target
        .spaces()
        .iter()
        .map(|space| json!({"name": space.name, "is_of_lane": space.per == Per::Lane}))
        .collect();
    Ok(json!({"lanes": target.lanes(), "registers": registers, "spaces": spaces}).to_string())
}
