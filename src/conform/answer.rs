//! Answers as JSON, with the keys of `expect`, so that another program can check them.

use serde_json::{Map, Value, json};

use super::bytes::{Hex, Pattern};
use super::expect::{AfterStore, Word};
use super::found::{Found, Read, changes, natural, refusal};
use super::types;
use super::unwound::Unwound;
use crate::eval::{Element, Fault, ImplicitPointer, Snapshot};

impl Found {
    /// Returns the results as a JSON object with the keys of `expect`, in which numbers identify registers. `before` is
    /// the machine before the store.
    pub fn to_json(&self, before: &Snapshot) -> String {
        let mut answer = Map::new();
        let mut set = |key: &str, value: Value| drop(answer.insert(key.into(), value));
        match &self.result {
            Err(fault) => set("error", class(fault)),
            Ok(Element::Location(location)) => set("location", location.to_string().into()),
            Ok(Element::Value(value)) => match (value.as_pointer(), natural(value)) {
                (None, Some(number)) => {
                    set("value", number.to_string().into());
                    if !value.ty().is_generic() {
                        set("type", types::print(value.ty()).into());
                    }
                }
                (to, _) => to.into_iter().for_each(|to| set("pointer", pointer(to))),
            },
        }
        match &self.read {
            Some(Ok(Read::Bits(bits))) => set("bytes", Pattern(bits.clone()).to_string().into()),
            Some(Ok(Read::Pointer(to))) => set("pointer", pointer(*to)),
            Some(Err(fault)) => set("error", class(fault)),
            None => {}
        }
        match &self.written {
            Some(Ok(after)) => set("written", after_store(&changes(before, after))),
            Some(Err(fault)) => set("written", json!({"error": Word(refusal(fault)).to_string()})),
            None => {}
        }
        Value::from(answer).to_string()
    }
}

impl Unwound {
    /// Returns the answer as a JSON object with the keys of `expect`.
    pub(super) fn to_json(&self) -> String {
        let mut answer = Map::new();
        if let Some(fault) = self.worst() {
            answer.insert("error".into(), class(fault));
        }
        if let Ok(rows) = &self.rows {
            let row = |row: &super::VectorRow| {
                let rules =
                    row.rules.iter().map(|(number, rule)| (number.to_string(), rule.to_string().into()));
                let pcs = [row.pcs.0, row.pcs.1].map(|pc| format!("{pc:#x}"));
                json!({"pcs": pcs, "cfa": row.cfa.to_string(), "rules": rules.collect::<Map<_, Value>>()})
            };
            answer.insert("rows".into(), rows.iter().map(row).collect());
        }
        if let Ok(cfa) = &self.cfa {
            answer.insert("cfa".into(), cfa.to_string().into());
        }
        match self.return_address {
            Ok(None) => drop(answer.insert("outermost".into(), true.into())),
            Ok(Some(pc)) => {
                let mut registers = Map::new();
                let mut contents = Map::new();
                for (number, found) in &self.registers {
                    if let Ok(location) = &found.location {
                        registers.insert(number.to_string(), location.to_string().into());
                    }
                    if let Ok(bits) = &found.contents {
                        contents.insert(number.to_string(), Pattern(bits.clone()).to_string().into());
                    }
                }
                let caller = json!({"pc": format!("{pc:#x}"), "registers": registers, "contents": contents});
                answer.insert("caller".into(), caller);
            }
            Err(_) => {}
        }
        Value::from(answer).to_string()
    }
}

fn class(fault: &Fault) -> Value {
    Word(fault.class).to_string().into()
}

fn pointer(to: ImplicitPointer) -> Value {
    json!({"entry": format!("{:#x}", to.entry), "offset": to.by})
}

fn after_store(changed: &AfterStore) -> Value {
    match changed {
        AfterStore::Error(word) => json!({"error": word.to_string()}),
        AfterStore::Bytes(places) => {
            let place = |(place, bytes): &(super::location::Stored, Vec<u8>)| {
                (place.to_string(), Hex(bytes).to_string().into())
            };
            places.iter().map(place).collect::<Map<_, Value>>().into()
        }
    }
}
