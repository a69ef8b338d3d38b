//! The promise: a rewritten object says what the original says, or lists what it leaves out. Its code and all loaded bytes
//! are identical.

mod arrays;
mod breakpoints;
mod command;
mod containers;
mod corpus;
mod cubin_tables;
mod cubins;
mod damaged;
mod debugged;
mod deduped;
mod dumped;
mod evaluated;
mod fixed;
mod frames;
mod instances;
mod judged;
mod kept;
mod languages;
mod link_time;
mod linked;
mod linked_after;
mod loaded;
mod malformed;
pub mod nvlink;
mod order;
mod programs;
mod ptx_texts;
mod readers;
mod relocatable;
mod repeated;
mod replaced;
mod said;
mod shared;
mod thread_local;
mod type_units;
mod types;
mod units;
mod unwound;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use eitri::read::{Dwarf, Object};
use eitri::rewrite::{RewriteOptions, Rewritten, rewrite};

use crate::common::with;
use crate::import::{compare, sections};

/// Rewrites an object with options that `set` changes.
fn rewritten(bytes: &[u8], set: impl FnOnce(&mut RewriteOptions<'_>)) -> eitri::Result<Rewritten> {
    rewrite(bytes, &with::<RewriteOptions<'_>>(set))
}

/// Returns the differences between the facts of an object and of the rewritten object, except those that are listed.
fn differences(before: &[u8], rewritten: &Rewritten) -> Vec<String> {
    let [old, new] = [before, &rewritten.object].map(|bytes| Object::read(bytes).expect("it is read"));
    let [old, new] = [&old, &new].map(|object| Dwarf::read(object).expect("it is read"));
    let mut differences = compare::differences(&old, &new, &rewritten.unimported);
    differences.extend(sections::differences(&old, &new, &rewritten.unimported));
    differences.extend(rewritten.omissions.iter().map(|omission| format!("omitted: {omission}")));
    differences
}

/// Requires that an object keeps its facts and its loaded bytes, and that a second rewrite changes nothing.
fn keeps_facts(name: &str, before: &[u8]) -> Rewritten {
    let first = rewritten(before, |_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
    let found = differences(before, &first);
    assert!(found.is_empty(), "{name}:\n{}", listed(&found));
    loaded::are_equal(name, before, &first.object);
    let second = rewritten(&first.object, |_| {}).unwrap_or_else(|error| panic!("{name}, again: {error}"));
    assert!(second.object == first.object, "{name}: a second rewrite changes bytes: {:#?}", second.sizes);
    first
}

/// Lists differences, for messages.
fn listed(differences: &[String]) -> String {
    let mut text = String::new();
    for difference in differences.iter().take(40) {
        writeln!(text, "{difference}").expect("a string");
    }
    text
}

/// Returns the committed objects with debug information.
fn objects() -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in crate::import::foreign::FOLDERS {
        let folder = Path::new(crate::common::ROOT).join(folder);
        for file in folder.read_dir().expect("a folder") {
            let file = file.expect("a file").path();
            let is_object = file.extension().is_some_and(|name| name == "o" || name == "hsaco");
            if is_object && has_debug_information(&std::fs::read(&file).expect("a file")) {
                all.push(file);
            }
        }
    }
    all.sort();
    all
}

fn has_debug_information(bytes: &[u8]) -> bool {
    use eitri::object::Object;
    let file = eitri::object::File::parse(bytes).expect("an object");
    file.section_by_name(".debug_info").is_some()
}
