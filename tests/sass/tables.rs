//! Tables of two attached descriptions, which nvlink appends: after a rewrite, the units share a table of abbreviations, and
//! names refer to their entries.

use eitri::read::{Dwarf, Object, PublicNames, PublicSection};
use eitri::rewrite::{RewriteOptions, rewrite};
use pretty_assertions::assert_eq;

use super::*;

/// Links the objects of the kernels `k` and `l`, each with a description.
fn linked(processor: &str) -> Option<Vec<u8>> {
    let folder = Folder::new();
    let arch = format!("-arch={processor}");
    let mut words = vec![arch, "-g".into(), "-o".into(), "linked.cubin".into()];
    for name in ["k", "l"] {
        let object = compiled(processor, name, Output::Relocatable)?;
        let object_name = format!("{name}.o");
        folder.file(&object_name, attached(&object, processor, name).bytes);
        words.push(object_name);
    }
    NVLINK.run_in(folder.path(), &words)?.clean();
    Some(std::fs::read(folder.path().join("linked.cubin")).expect("a cubin"))
}

/// Offsets of the units' abbreviations, and the public names of each unit with the names of their entries.
fn tables(bytes: &[u8]) -> (Vec<u64>, Vec<[String; 2]>) {
    let object = Object::read(bytes).expect("a cubin");
    let dwarf = Dwarf::read(&object).expect("entries");
    let abbreviations = dwarf.units().iter().map(|unit| dwarf.abbreviations_offset(unit)).collect();
    let mut names = Vec::new();
    for section in [PublicSection::Names, PublicSection::Types] {
        for set in PublicNames::read_all(dwarf.sections(), section).expect("tables") {
            for name in set.names() {
                let name = name.expect("a name");
                let entry = dwarf.entry_at(set.unit + name.entry).expect("an entry");
                let own = entry.name().expect("a name").into_owned();
                names.push([String::from_utf8_lossy(name.name).into_owned(), own]);
            }
        }
    }
    (abbreviations, names)
}

#[test]
fn tables_of_linked_descriptions_are_merged() {
    for processor in ["sm_75", "sm_80", "sm_90"] {
        let Some(before) = linked(processor) else { return };
        let after = rewrite(&before, &RewriteOptions::default()).expect("a cubin").object;
        let [(separate, names), (common, kept)] = [&before, &after].map(|bytes| tables(bytes));
        // Both descriptions have the same abbreviations.
        assert_eq!((separate.len(), separate[0] < separate[1]), (2, true), "{processor}");
        assert_eq!(common, [0, 0], "{processor}");
        let functions = ["k", "l"].map(|name| [name.to_owned(), name.to_owned()]);
        assert!(functions.iter().all(|function| names.contains(function)), "{processor}: {names:?}");
        assert!(names.iter().any(|[name, own]| name == "int" && own == "int"), "{processor}: {names:?}");
        assert_eq!(kept, names, "{processor}");
        assert!(printed(&after).is_some());
    }
}
