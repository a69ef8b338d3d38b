//! Comparison of the facts of an object with those of the object that is written from its import.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use eitri::gimli::constants as dw;
use eitri::import::{UnimportedFact, UnimportedReason};
use eitri::read::Dwarf;

use super::facts::{Fact, facts, is_type, name};

/// Differences between two objects' facts, except those that the import lists.
pub fn differences(before: &Dwarf<'_>, after: &Dwarf<'_>, unimported: &[UnimportedFact]) -> Vec<String> {
    let mut left: HashMap<u64, BTreeSet<String>> = HashMap::new();
    let mut dropped = BTreeSet::new();
    for fact in unimported.iter().filter(|fact| fact.section == ".debug_info") {
        match fact.attribute {
            // The other ranges are imported.
            Some(_) if fact.reason == UnimportedReason::EmptyPcs => {}
            Some(dw::DW_AT_location) if fact.reason == UnimportedReason::LocationViews => {}
            Some(attribute) => {
                left.entry(fact.offset).or_default().extend(also(attribute));
            }
            None => drop(dropped.insert(fact.offset)),
        }
    }
    // An entity after a part that is left has another position.
    let moved: BTreeSet<u16> = unimported
        .iter()
        .filter(|fact| fact.attribute.is_none())
        .filter_map(|fact| Some(fact.tag?.0))
        .collect();
    let all = facts(before);
    let mut found: BTreeMap<String, Vec<Fact>> = BTreeMap::new();
    for fact in facts(after) {
        found.entry(fact.path.clone()).or_default().push(fact);
    }
    let mut differences = Vec::new();
    let mut seen_types = BTreeSet::new();
    // Entries of type units are in the units that refer to them.
    let below = |path: &str| {
        path.get(1..).and_then(|path| path.split_once('/')).map_or(String::new(), |(_, rest)| rest.to_owned())
    };
    let copied: BTreeSet<String> = all
        .iter()
        .filter(|fact| fact.is_copied)
        .map(|fact| format!("{}{:?}", below(&fact.path), fact.attributes))
        .collect();
    for fact in all.iter().filter(|fact| !fact.is_copied) {
        let ignored: BTreeSet<&String> =
            fact.from.iter().filter_map(|from| left.get(from)).flatten().collect();
        // A further instance is a function with the properties of the abstract instance.
        let is_further =
            fact.tag == dw::DW_TAG_subprogram && ignored.iter().any(|name| *name == "abstract_origin");
        let is_type = is_shared(fact);
        let key = format!("{}{:?}", fact.path, fact.attributes);
        // Equal types are one type.
        if is_type && !seen_types.insert(key) {
            continue;
        }
        let candidates = found.entry(fact.path.clone()).or_default();
        let kept = |one: &Fact| {
            let mut attributes = one.attributes.clone();
            attributes.retain(|name, _| {
                let is_of_origin = is_further && (name == "inline" || name == "specification");
                !ignored.contains(name) && !is_of_origin
            });
            without_derived(one.tag, &mut attributes);
            if moved.contains(&one.tag.0) {
                attributes.remove("position");
            }
            attributes
        };
        let expected = kept(fact);
        match candidates.iter().position(|one| one.tag == fact.tag && kept(one) == expected) {
            Some(index) => drop(candidates.remove(index)),
            None if dropped.contains(&fact.offset) || is_trivial(fact) => {}
            None => differences.push(describe(fact, candidates, &expected)),
        }
    }
    let shared: BTreeSet<String> = all
        .iter()
        .filter(|fact| is_shared(fact))
        .map(|fact| format!("{}{:?}", fact.path, fact.attributes))
        .collect();
    for fact in found.into_values().flatten() {
        let is_known = || copied.contains(&format!("{}{:?}", below(&fact.path), fact.attributes));
        // Types that the import makes: for values without a type, and for types that the model lacks.
        let is_made = fact.tag == dw::DW_TAG_base_type && fact.path.contains("signed_")
            || fact.tag == dw::DW_TAG_unspecified_type
            // Blocks of a copy that do not name the block of the abstract instance.
            || fact.tag == dw::DW_TAG_lexical_block && !fact.attributes.contains_key("pcs");
        let is_equal = || is_shared(&fact) && shared.contains(&format!("{}{:?}", fact.path, fact.attributes));
        if !is_trivial(&fact) && !is_made && !is_known() && !is_equal() {
            differences.push(format!("additional {:#x} {} {:?}", fact.offset, fact.path, fact.attributes));
        }
    }
    differences
}

/// Removes what the writer derives: a pointer's size from its address space, and the offset of a base at the object's
/// start, which a file omits if its version has no expression for a virtual base.
fn without_derived(tag: eitri::gimli::DwTag, attributes: &mut BTreeMap<String, String>) {
    // `DW_AT_LLVM_address_space`.
    if tag == dw::DW_TAG_pointer_type && attributes.contains_key("0x3e10") {
        attributes.remove("byte_size");
    }
    if tag == dw::DW_TAG_inheritance && attributes.get("data_member_location").is_some_and(|at| at == "0") {
        attributes.remove("data_member_location");
    }
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

/// Whether an entry is a type that equal types share, or a part of such a type.
fn is_shared(fact: &Fact) -> bool {
    let is_shared = |tag| {
        let is_distinct = matches!(
            tag,
            dw::DW_TAG_structure_type
                | dw::DW_TAG_class_type
                | dw::DW_TAG_union_type
                | dw::DW_TAG_enumeration_type
        );
        is_type(tag) && !is_distinct || tag == dw::DW_TAG_subrange_type
    };
    is_shared(fact.tag) || is_shared(fact.parent)
}

/// Whether an entry says nothing: an instance without location.
fn is_trivial(fact: &Fact) -> bool {
    let is_instance = fact.attributes.contains_key("abstract_origin");
    let is_call = fact.tag == dw::DW_TAG_GNU_call_site || fact.tag == dw::DW_TAG_GNU_call_site_parameter;
    is_instance
        && !is_call
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
