//! Rooms of the crate, and the rooms that each of them may import. Code that reads and evaluates imports nothing of
//! code that writes, so that one mistake cannot hide another.

mod imports;
mod order;
mod rooms;
mod structs;

use std::path::Path as File;
use std::sync::LazyLock;

use imports::{Imports, Path, path};
use order::{FILES_OF_A_TYPE, ORDER, SPREAD};
use rooms::ROOMS;

/// Imports of the libraries, and of the command as `bin`.
static IMPORTS: LazyLock<Imports> = LazyLock::new(|| {
    let root = File::new(crate::common::ROOT);
    let mut imports = Imports::default();
    for library in ["crates/eitri-dwarf/src/lib.rs", "crates/eitri-inspect/src/lib.rs", "src/lib.rs"] {
        imports.read(&root.join(library), &[]);
    }
    imports.read(&root.join("crates/eitri-cli/src/main.rs"), &["bin"]);
    imports
});

/// The row of the innermost room that a path leads into, and the path of the room.
fn room(inside: &[String]) -> Option<(usize, Path)> {
    let rooms = ROOMS
        .iter()
        .enumerate()
        .flat_map(|(row, (rooms, _))| rooms.split(' ').map(move |room| (row, path(room))));
    rooms.filter(|(_, room)| inside.starts_with(room)).max_by_key(|(_, room)| room.len())
}

/// Whether there are rooms in a module.
fn has_rooms(module: &Path) -> bool {
    let mut rooms = ROOMS.iter().flat_map(|(rooms, _)| rooms.split(' ').map(path));
    rooms.any(|room| room.starts_with(module) && room != *module)
}

/// The step of a path that leads into a room that the importer may not import.
fn forbidden(importer: &Path, named: &Path) -> Option<Path> {
    let own = room(importer);
    for step in IMPORTS.steps(named) {
        // Items without a room belong to other crates, or are re-exported by a facade.
        let Some((row, room)) = room(&step) else { continue };
        match &own {
            Some((own, _)) if *own == row => continue,
            // A facade re-exports items of its rooms.
            _ if has_rooms(importer) && room.starts_with(importer) => continue,
            None => return Some(step),
            Some((own, inside)) => {
                if !ROOMS[*own].1.split(' ').any(|may| step.starts_with(&path(may))) {
                    return Some(step);
                }
                if !inside.starts_with(&room) {
                    return None;
                }
            }
        }
    }
    None
}

#[test]
fn each_room_imports_only_what_it_may() {
    let mut wrong = Vec::new();
    for (importer, named) in &IMPORTS.modules {
        let has_row = room(importer).is_some() || has_rooms(importer);
        assert!(has_row, "`{}` is in no room", importer.join("::"));
        for named in named {
            if let Some(step) = forbidden(importer, named) {
                wrong.push(format!("`{}` may not import `{}`", importer.join("::"), step.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each row permits only rows above it, so that no two rooms import each other, by whatever way.
#[test]
fn rooms_form_no_circle() {
    for (row, (rooms, may)) in ROOMS.iter().enumerate() {
        for may in may.split_whitespace() {
            let (above, _) = room(&path(may)).expect("what is permitted is in a room");
            assert!(above < row, "`{rooms}` may import `{may}`, whose row is not above");
        }
    }
}

/// Imports that lead from a module of a room to itself or to a later one, and modules without a place in the order.
fn out_of_order(imports: &Imports, room: &str, order: &[&str]) -> Vec<String> {
    let room = path(room);
    let order: Vec<Path> = order
        .iter()
        .map(|module| if module.is_empty() { room.clone() } else { [&room[..], &path(module)].concat() })
        .collect();
    let place = |module: &[String]| order.iter().position(|one| one == module);
    let mut wrong = Vec::new();
    for (importer, named) in imports.modules.iter().filter(|(module, _)| module.starts_with(&room)) {
        let Some(own) = place(importer) else {
            wrong.push(format!("`{}` has no place in the order", importer.join("::")));
            continue;
        };
        for named in named.iter().filter(|named| named.starts_with(&room)) {
            // The module of an item is the longest part of its path that is a module.
            let lengths = (room.len()..=named.len()).rev();
            let module =
                lengths.map(|length| &named[..length]).find(|part| imports.modules.contains_key(*part));
            if module.is_none_or(|module| module != importer && place(module).is_none_or(|place| place > own))
            {
                wrong.push(format!("`{}` imports `{}`", importer.join("::"), named.join("::")));
            }
        }
    }
    wrong
}

#[test]
fn modules_of_a_room_import_only_earlier_ones() {
    for (room, order) in ORDER {
        let wrong = out_of_order(&IMPORTS, room, order);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let is_module = |module: &&str| IMPORTS.modules.contains_key(&path(&format!("{room}::{module}")));
        let (last, others) = order.split_last().expect("has modules");
        assert!(last.is_empty() && others.iter().all(is_module), "the order of `{room}` names no module");
    }
}

#[test]
fn methods_of_a_type_stand_together() {
    let files = IMPORTS.inherent().into_iter().map(|(ty, modules)| (ty.join("::"), modules.len()));
    let most = |ty: &str| {
        let listed = SPREAD.iter().find(|(listed, _)| *listed == ty);
        listed.map_or(FILES_OF_A_TYPE, |&(_, most)| most)
    };
    let spread: Vec<_> = files.filter(|(ty, files)| *files > most(ty)).collect();
    assert!(spread.is_empty(), "types with inherent methods in too many files: {spread:?}");
}

#[test]
fn wrong_orders_are_found() {
    let mut imports = Imports::default();
    let source = "
        pub use top::Top;
        mod low { pub struct Low; }
        mod middle { use super::low::Low; impl Low {} }
        mod top { use crate::a::{low, middle::{self, Low}}; impl super::low::Low {} fn f(_: super::Top) {} }";
    imports.source(source, path("a"), &Path::new());
    assert_eq!(out_of_order(&imports, "a", &["low", "middle", "top", ""]), ["`a::top` imports `a::Top`"]);
    let wrong = out_of_order(&imports, "a", &["middle", "top", ""]);
    assert_eq!(wrong[0], "`a::low` has no place in the order");
    assert_eq!(wrong[1], "`a::middle` imports `a::low::Low`");
    let wrong = out_of_order(&imports, "a", &["low", "top", "middle", ""]);
    assert!(wrong.contains(&"`a::top` imports `a::middle::Low`".into()), "{wrong:?}");
    let low = &imports.inherent()[&path("a::low::Low")];
    assert_eq!(low.iter().map(|module| module.join("::")).collect::<Vec<_>>(), ["a::middle", "a::top"]);
}

#[test]
fn imports_are_found() {
    let mut imports = Imports::default();
    let source = "
        mod b { pub use crate::x::Y; }
        use crate::{a::B, c::{self, D, e as f}};
        use std::fmt; // crate::comment
        pub mod d {
            use super::super::g::*;
            fn f(value: crate::h::Type<crate::i::Inner>) -> super::j::Type {
                assert!(matches!(value, crate::k::Kind::L), \"crate::text {}\", super::m());
                other_crate::n::o()
            }
            #[cfg(test)]
            mod tests { use crate::test; }
        }";
    imports.source(source, path("z"), &Path::new());
    let found =
        |module: &str| imports.modules[&path(module)].iter().map(|path| path.join("::")).collect::<Vec<_>>();
    assert_eq!(found("z"), ["a::B", "c", "c::D", "c::e"]);
    assert_eq!(found("z::d"), ["g", "h::Type", "i::Inner", "k::Kind::L", "z::j::Type", "z::m"]);
    assert_eq!(imports.steps(&path("z::b::Y::new")), [path("z::b::Y::new"), path("x::Y::new")]);
}
