//! Tables of two attached descriptions, which nvlink appends: after a rewrite, the units share a table of abbreviations, and
//! names refer to their entries.

use eitri::read::{Dwarf, Object, PublicNames, PublicSection};
use eitri::rewrite::{RewriteOptions, rewrite};
use pretty_assertions::assert_eq;

use super::lines::with_lines;
use super::mercury::attach_to;
use super::*;

/// Links the objects of the kernels `k` and `l`, each with a description.
fn linked(processor: &str) -> Option<Vec<u8>> {
    let folder = Folder::new();
    let arch = format!("-arch={processor}");
    let mut words = vec![arch, "-g".into(), "-o".into(), "linked.cubin".into()];
    for name in ["k", "l"] {
        let object_name = format!("{name}.o");
        // From sm_100 on, pcs are those of rows.
        let described = if matches!(processor, "sm_100" | "sm_120") {
            let object = with_lines(processor, name, Output::Relocatable)?;
            attach_to(&object, processor, name, Existing::Replace).expect("a cubin")
        } else {
            let object = compiled(processor, name, Output::Relocatable)?;
            attached(&object, processor, name).bytes
        };
        folder.file(&object_name, described);
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
    for processor in ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"] {
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

/// `.debug_pubnames` and `.debug_pubtypes` as LLVM's reader prints them: names with the offsets of their entries.
#[test]
fn public_tables_are_those_that_llvm_prints() {
    let attached = attached(OPTIMIZED, "sm_80", "norms");
    let folder = Folder::new();
    let path = folder.file("a.cubin", &attached.bytes);
    let (_, names) = tables(&attached.bytes);
    for (option, section, expected) in [
        ("--debug-pubnames", PublicSection::Names, &["norms"][..]),
        ("--debug-pubtypes", PublicSection::Types, &["int", "long", "short", "bool"]),
    ] {
        let Some(ran) = DWARFDUMP.run(&[option.as_ref(), path.as_os_str()]) else { return };
        assert!(ran.succeeded, "{ran}");
        let printed: Vec<(u64, &str)> = ran
            .out
            .lines()
            .filter_map(|line| {
                let (offset, name) = line.trim().strip_prefix("0x")?.split_once(' ')?;
                let name = name.trim().strip_prefix('"')?.strip_suffix('"')?;
                Some((u64::from_str_radix(offset, 16).ok()?, name))
            })
            .collect();
        let found: Vec<&str> = printed.iter().map(|(_, name)| *name).collect();
        assert_eq!(found, expected, "{ran}");
        let object = Object::read(&attached.bytes).expect("a cubin");
        let dwarf = Dwarf::read(&object).expect("entries");
        let sets = PublicNames::read_all(dwarf.sections(), section).expect("tables");
        assert_eq!(sets.len(), 1);
        for (offset, name) in printed {
            let entry = dwarf.entry_at(sets[0].unit + offset).expect("an entry");
            assert_eq!(entry.name().as_deref(), Some(name));
            assert!(names.contains(&[name.to_owned(), name.to_owned()]), "{names:?}");
        }
    }
}

/// The header of a unit as cuobjdump prints it: DWARF 3, the offset of its abbreviations, and addresses of 8 bytes. The second
/// unit of a linked file has other abbreviations.
#[test]
fn unit_headers_are_those_that_cuobjdump_prints() {
    let Some(both) = linked("sm_80") else { return };
    for (bytes, count) in [(attached(OPTIMIZED, "sm_80", "norms").bytes, 1), (both, 2)] {
        let folder = Folder::new();
        let path = folder.file("a.cubin", &bytes);
        let Some(ran) = CUOBJDUMP.run(&["-elf".as_ref(), path.as_os_str()]) else { return };
        let field = |name: &str| -> Vec<u64> {
            let headers = ran.out.split("Compilation Unit @ offset").skip(1);
            let lines = headers.flat_map(|header| header.lines().skip(1).take(4));
            let lines = lines.filter_map(|line| line.trim().strip_prefix(name));
            lines.map(|number| number.trim().parse().expect("a number")).collect()
        };
        let object = Object::read(&bytes).expect("a cubin");
        let size = object.section(".debug_info").expect("entries").size;
        // A length does not count its own four bytes.
        assert_eq!(field("Length:").iter().map(|length| length + 4).sum::<u64>(), size, "{ran}");
        assert_eq!(field("Version:"), vec![3; count], "{ran}");
        assert_eq!(field("Pointer Size:"), vec![8; count], "{ran}");
        assert_eq!(field("Abbrev Offset:"), tables(&bytes).0, "{ran}");
    }
}
