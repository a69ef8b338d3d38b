//! The promise: what any producer's debug information says, the module says that is imported from it, or the import lists
//! what it leaves out.
//!
//! An object is imported, and the module is written into the object for the same version. The facts of both objects are
//! compared entry by entry, and so are rows, frames and macros, except the facts that the import lists.

mod append;
pub mod compare;
mod cubin;
mod damaged;
pub mod facts;
pub mod foreign;
mod frames;
mod lanes;
mod memories;
mod parts;
pub mod random;
mod repeated;
mod repeating;
mod sabotage;
pub mod sections;

use std::fmt::Write;

use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{AttachOptions, Existing, UndefinedSymbols, attach_with};
use eitri::import::{ImportOptions, ImportedDwarf, ImportedExpressions, import};
use eitri::lower::lower;
use eitri::op::Dialect;
use eitri::read::{Dwarf, Object};

use crate::common::with;

/// A consumer that reads what the producer of an object wrote.
fn consumer(dwarf: &Dwarf<'_>, has_lanes: bool) -> Consumer {
    let mut consumer = if has_lanes { Consumer::llvm() } else { Consumer::dwarf5() };
    if let Some(unit) = dwarf.units().first() {
        consumer.version = unit.encoding.version;
    }
    // Expressions are copied, whatever the version has.
    consumer.expressions.dialect = Dialect::Llvm;
    consumer
}

/// Imports an object, writes the module into the object, and returns the differences between the facts.
fn differences(bytes: &[u8]) -> (ImportedDwarf, Vec<String>) {
    // Typed locations are written in another way, so that only raw expressions are compared as they are.
    let options = with::<ImportOptions<'_>>(|options| options.expressions = ImportedExpressions::Raw);
    let imported = import(bytes, &options).expect("the object is imported");
    let object = Object::read(bytes).expect("it is read");
    let dwarf = Dwarf::read(&object).expect("it is read");
    let target = imported.module.target();
    let consumer = consumer(&dwarf, target.lanes() > 1);
    let written = lower(&imported.module, &consumer, Policy::Partial).expect("the module is written");
    let how = with::<AttachOptions>(|options| {
        options.existing = Existing::Replace;
        options.undefined = UndefinedSymbols::Allow;
    });
    let new = attach_with(bytes, target, &written.sections, &how).expect("the object takes the sections");
    let new = Object::read(&new).expect("it is read");
    let after = Dwarf::read(&new).expect("it is read");
    let mut differences = compare::differences(&dwarf, &after, &imported.unimported);
    differences.extend(sections::differences(&dwarf, &after, &imported.unimported));
    differences.extend(written.omissions.iter().map(|omission| format!("omitted: {omission}")));
    (imported, differences)
}

/// Lists differences, for messages.
fn listed(differences: &[String]) -> String {
    let mut text = String::new();
    for difference in differences.iter().take(40) {
        writeln!(text, "{difference}").expect("a string");
    }
    text
}
