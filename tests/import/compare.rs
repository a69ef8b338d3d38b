//! Comparison of the facts of an object with those of the object that is written from its import.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use eitri::gimli::constants as dw;
use eitri::import::UnimportedFact;
use eitri::read::Dwarf;

use super::facts::{Fact, facts, name};

/// Differences between two objects' facts, except those that the import lists.
pub fn differences(before: &Dwarf<'_>, after: &Dwarf<'_>, unimported: &[UnimportedFact]) -> Vec<String> {
    let mut left: HashMap<u64, BTreeSet<String>> = HashMap::new();
    let mut dropped = BTreeSet::new();
    for fact in unimported.iter().filter(|fact| fact.section == ".debug_info") {
        match fact.attribute {
            Some(attribute) => {
                left.entry(fact.offset).or_default().extend(also(attribute));
            }
            None => drop(dropped.insert(fact.offset)),
        }
    }
    let all = facts(before);
    let mut found: BTreeMap<String, Vec<Fact>> = BTreeMap::new();
    for fact in facts(after) {
        found.entry(fact.path.clone()).or_default().push(fact);
    }
    let mut differences = Vec::new();
    let mut seen_types = BTreeSet::new();
    for fact in &all {
        let ignored: BTreeSet<&String> = fact.from.iter().filter_map(|from| left.get(from)).flatten().collect();
        let is_type = is_shared(fact);
        let key = format!("{}{:?}", fact.path, fact.attributes);
        // Equal types are one type.
        if is_type && !seen_types.insert(key) {
            continue;
        }
        let candidates = found.entry(fact.path.clone()).or_default();
        let kept = |one: &Fact| {
            let mut attributes = one.attributes.clone();
            attributes.retain(|name, _| !ignored.contains(name));
            attributes
        };
        let expected = kept(fact);
        match candidates.iter().position(|one| one.tag == fact.tag && kept(one) == expected) {
            Some(index) => drop(candidates.remove(index)),
            None if dropped.contains(&fact.offset) || is_trivial(fact) => {}
            None => differences.push(describe(fact, candidates, &expected)),
        }
    }
    for fact in found.into_values().flatten() {
        if !is_trivial(&fact) {
            differences.push(format!("additional {:#x} {} {:?}", fact.offset, fact.path, fact.attributes));
        }
    }
    differences
}

/// Attributes that the facts call by another name.
fn also(attribute: eitri::gimli::DwAt) -> Vec<String> {
    let other: &[&str] = match attribute {
        dw::DW_AT_ranges | dw::DW_AT_low_pc | dw::DW_AT_high_pc => &["pcs"],
        dw::DW_AT_decl_file | dw::DW_AT_decl_line | dw::DW_AT_decl_column => &["declared"],
        _ => &[],
    };
    std::iter::once(name(attribute)).chain(other.iter().map(|name| (*name).to_owned())).collect()
}

/// Whether an entry is a type, which equal types share.
fn is_shared(fact: &Fact) -> bool {
    let name = fact.tag.static_string().unwrap_or_default();
    name.ends_with("_type") || name == "DW_TAG_typedef" || name == "DW_TAG_formal_parameter"
}

/// Whether an entry says nothing: an instance without location.
fn is_trivial(fact: &Fact) -> bool {
    let is_instance = fact.attributes.contains_key("abstract_origin");
    is_instance
        && !fact.attributes.contains_key("location")
        && !fact.attributes.contains_key("const_value")
        && !fact.attributes.contains_key("pcs")
}

fn describe(fact: &Fact, candidates: &[Fact], expected: &BTreeMap<String, String>) -> String {
    let Some(other) = candidates.iter().find(|one| one.tag == fact.tag) else {
        return format!("missing {:#x} {} {expected:?}", fact.offset, fact.path);
    };
    let mut text = format!("changed {:#x} {}:", fact.offset, fact.path);
    for name in expected.keys().chain(other.attributes.keys()).collect::<BTreeSet<_>>() {
        let [before, after] = [expected.get(name), other.attributes.get(name)];
        if before != after {
            text += &format!(" {name}: {before:?} became {after:?};");
        }
    }
    text
}
