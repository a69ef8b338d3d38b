//! The order of entries: a scope's types, variables and scopes have the order of the original.

use std::collections::BTreeMap;

use eitri::gimli::{DwTag, constants as dw};
use eitri::read::{Dwarf, Entry, Object};

use super::deduped::{CLANG, CLANGXX, GCC, GXX, linked};
use super::rewritten;
use super::units::{CPP, c_files};
use crate::common::tools::Folder;

/// Kinds of entities, each of which has an order in its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Type,
    Variable,
    Scope,
}

fn kind(tag: DwTag) -> Option<Kind> {
    match tag {
        dw::DW_TAG_structure_type
        | dw::DW_TAG_class_type
        | dw::DW_TAG_union_type
        | dw::DW_TAG_enumeration_type
        | dw::DW_TAG_typedef => Some(Kind::Type),
        dw::DW_TAG_variable | dw::DW_TAG_formal_parameter => Some(Kind::Variable),
        dw::DW_TAG_subprogram | dw::DW_TAG_namespace => Some(Kind::Scope),
        _ => None,
    }
}

/// Unit and names of the scopes around entities, with the kind of the entities.
type Around = (usize, Vec<String>, Kind);

/// Returns the names of entities in the order of their entries. An entry without a name of its own is another part of an
/// entity, and so is a second entry with a name.
fn orders(bytes: &[u8]) -> BTreeMap<Around, Vec<String>> {
    let object = Object::read(bytes).expect("it is read");
    let dwarf = Dwarf::read(&object).expect("it is read");
    let mut orders: BTreeMap<Around, Vec<String>> = BTreeMap::new();
    for (unit, info) in dwarf.units().iter().enumerate() {
        for entry in dwarf.entries_of(info) {
            let Some(kind) = kind(entry.tag()).filter(|_| entry.has(dw::DW_AT_name)) else { continue };
            let name = |entry: Entry<'_, '_>| entry.name().unwrap_or_default().into_owned();
            let around = std::iter::successors(entry.parent(), |entry| entry.parent()).map(name);
            let names = orders.entry((unit, around.collect(), kind)).or_default();
            let name = name(entry);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    orders
}

/// clang describes a type after the entities that have it, and a typedef before the type that it names.
#[test]
fn entries_keep_the_order_of_the_original() {
    let c = c_files();
    for (compiler, arguments, files) in [
        (GCC, ["-g", "-O0"], &c[..]),
        (GCC, ["-g", "-O2"], &c[..]),
        (CLANG, ["-g", "-O0"], &c[..]),
        (CLANG, ["-gdwarf-4", "-O2"], &c[..]),
        (GXX, ["-g", "-O0"], &CPP[..]),
        (CLANGXX, ["-g", "-O1"], &CPP[..]),
    ] {
        let name = format!("{} {arguments:?}", compiler.name);
        let Some(before) = linked(&Folder::new(), compiler, &arguments, files) else { continue };
        let after = rewritten(&before, |_| {}).expect("it is rewritten");
        let (before, after) = (orders(&before), orders(&after.object));
        let mut count = 0;
        for (around, expected) in &before {
            let found = after.get(around).map_or(&[][..], Vec::as_slice);
            let expected: Vec<_> = expected.iter().filter(|name| found.contains(name)).collect();
            let found: Vec<_> = found.iter().filter(|name| expected.contains(name)).collect();
            assert_eq!(expected, found, "{name}: {around:?}");
            count += found.len();
        }
        assert!(count > 20, "{name}: {count}");
    }
}
