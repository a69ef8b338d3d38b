//! `.debug_names`, `.debug_aranges` and public names, compared with the output of `llvm-dwarfdump`.

use std::path::Path;

use eitri::read::{
    AddressRanges, Dwarf, IndexTable, NameIndex, NameParent, NameUnit, Object, PublicNames, PublicSection,
    Sections, name_hash,
};
use pretty_assertions::assert_eq;

use crate::reader::compiled::{CLANG, CLANGXX, LLC, LLD, compile, dumped, hex, sources};

/// A name: hash, text, and for each entry its offset, abbreviation code and tag, the offset of the named entry, and
/// the parent entry.
type Name = (Option<u64>, String, Vec<(u64, u64, String, Option<u64>, Option<u64>)>);

/// Names of all indices, by index and number.
fn names_of_tool(path: &Path) -> Option<Vec<Name>> {
    let output = dumped("--debug-names", path)?;
    let mut names: Vec<Name> = Vec::new();
    for line in output.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Name", _, "{"] => names.push((None, String::new(), Vec::new())),
            ["Hash:", hash] => names.last_mut().unwrap().0 = Some(hex(hash)),
            ["String:", _, ..] => {
                names.last_mut().unwrap().1 = line.split_once('"').unwrap().1.trim_end_matches('"').into();
            }
            ["Entry", "@", offset, "{"] => {
                names.last_mut().unwrap().2.push((hex(offset), 0, String::new(), None, None));
            }
            _ if names.last().is_none_or(|name| name.2.is_empty()) => {}
            ["Abbrev:", code] => names.last_mut().unwrap().2.last_mut().unwrap().1 = hex(code),
            ["Tag:", tag] => names.last_mut().unwrap().2.last_mut().unwrap().2 = tag.into(),
            ["DW_IDX_die_offset:", offset] => {
                names.last_mut().unwrap().2.last_mut().unwrap().3 = Some(hex(offset));
            }
            ["DW_IDX_parent:", "Entry", "@", offset] => {
                names.last_mut().unwrap().2.last_mut().unwrap().4 = Some(hex(offset));
            }
            _ => {}
        }
    }
    Some(names)
}

fn names_of(index: &NameIndex<'_>) -> Vec<Name> {
    let names = index.names().map(|name| {
        let name = name.unwrap();
        let entries = index.entries(&name).unwrap().map(|entry| {
            let entry = entry.unwrap();
            let parent = match entry.parent {
                NameParent::Entry(offset) => Some(offset),
                _ => None,
            };
            (entry.offset, entry.abbreviation, entry.tag.to_string(), entry.entry, parent)
        });
        let text = String::from_utf8(name.name.into()).unwrap();
        (name.hash.map(u64::from), text, entries.collect())
    });
    names.collect()
}

/// Compares the names, and looks up each.
fn check_names(path: &Path, bytes: &[u8]) -> Option<usize> {
    let object = Object::read(bytes).unwrap();
    let dwarf = Dwarf::read(&object).unwrap();
    let indices = dwarf.names().unwrap();
    let ours: Vec<Name> = indices.iter().flat_map(names_of).collect();
    assert_eq!(ours, names_of_tool(path)?);
    for index in &indices {
        for name in index.names() {
            let name = name.unwrap();
            assert_eq!(name.hash, Some(name_hash(name.name)));
            assert_eq!(index.find(name.name).unwrap(), [name]);
            assert_eq!(index.find(&[name.name, b"?"].concat()).unwrap(), []);
            for entry in index.entries(&name).unwrap() {
                let entry = entry.unwrap();
                let Some(found) = dwarf.named(&entry) else {
                    assert!(matches!(entry.unit, Some(NameUnit::Foreign { .. } | NameUnit::Compile(_))));
                    assert!(dwarf.units().iter().any(|unit| unit.dwo_id.is_some()));
                    continue;
                };
                assert_eq!(found.tag(), entry.tag);
                let names = [gimli::DW_AT_name, gimli::DW_AT_linkage_name].map(|name| found.inherited(name));
                let mut names = names.into_iter().flatten().filter_map(|value| value.text());
                let is_named = names.any(|found| found.as_bytes() == name.name);
                assert!(is_named, "{found:?} is no {:?}", String::from_utf8_lossy(name.name));
            }
        }
    }
    let text = eitri::dump::dump(&object, &dwarf, None, {
        let mut options = eitri::dump::DumpOptions::default();
        options.verbose = true;
        options
    });
    assert!(text.contains("\nnames: version 5") && !text.contains("but no entry"), "{text}");
    Some(indices.iter().map(|index| index.units.len() + index.foreign_type_units.len()).sum())
}

#[test]
fn indices_of_names_are_those_that_llvm_reads() {
    let folder = sources();
    let mut objects = Vec::new();
    for (name, flags, later, unit_count) in [
        ("a", "", "", 1),
        ("long", "-gdwarf64", "", 1),
        ("big", "--target=s390x-linux-gnu", "", 1),
        ("types", "", "-generate-type-units", 1),
        ("split", "", "-generate-type-units -split-dwarf-file=x.dwo", 2),
    ] {
        let flags = format!("-S -emit-llvm -fPIC -gdwarf-5 -gpubnames {flags}");
        let Some(_) = compile(CLANGXX, folder.path(), "types.cpp", &flags, "a.ll") else { return };
        let later = if later.contains("split") {
            format!("{later} -split-dwarf-output={}", folder.path().join("x.dwo").display())
        } else {
            later.into()
        };
        let flags = format!("-relocation-model=pic -accel-tables=Dwarf -filetype=obj {later}");
        let out = format!("{name}.o");
        let Some(path) = compile(LLC, folder.path(), "a.ll", &flags, &out) else { return };
        let bytes = std::fs::read(&path).unwrap();
        let Some(found) = check_names(&path, &bytes) else { return };
        assert_eq!(found, unit_count, "{name}");
        objects.push(path);
    }
    // Two units in one index, merged by a linker.
    let flags = "-S -emit-llvm -fPIC -gdwarf-5 -gpubnames";
    compile(CLANG, folder.path(), "frames.c", flags, "b.ll").unwrap();
    let flags = "-relocation-model=pic -accel-tables=Dwarf -filetype=obj";
    let other = compile(LLC, folder.path(), "b.ll", flags, "b.o").unwrap();
    let flags = format!("-shared --debug-names {}", other.display());
    let Some(path) = compile(LLD, folder.path(), "a.o", &flags, "both.so") else { return };
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(check_names(&path, &bytes), Some(2));
}

/// DWARF 5 section 7.33 by hand: start with 5381; for each byte, multiply by 33 and add.
#[test]
fn names_are_hashed_as_the_specification_says() {
    assert_eq!(name_hash(b""), 5381);
    assert_eq!(name_hash(b"a"), 5381 * 33 + 97);
    assert_eq!(name_hash(b"main"), 0x7c9a_7f6a);
    assert_eq!(name_hash(b"MAIN"), name_hash(b"main"));
    let bytes =
        |text: &str| text.bytes().fold(5381u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(byte.into()));
    // Simple folding maps to one character, even where full folding gives several (U+1E9E); U+03C2 to U+03C3; both
    // Turkish letters to i.
    for (name, folded) in
        [("ÄÖ", "äö"), ("\u{1e9e}", "\u{df}"), ("ς", "σ"), ("\u{130}I\u{131}", "iii"), ("ſ", "s")]
    {
        assert_eq!(name_hash(name.as_bytes()), bytes(folded), "{name}");
    }
}

#[test]
fn address_ranges_and_public_names_are_those_that_llvm_reads() {
    let folder = sources();
    for (flags, version) in [
        ("-gdwarf-4", 4),
        ("-gdwarf-2 ", 2),
        ("-gdwarf-4 -gdwarf64", 4),
        ("-gdwarf-4 --target=s390x-linux-gnu", 4),
        ("-gdwarf-5 -ggnu-pubnames", 5),
    ] {
        let flags = format!("-O1 -fPIC -c -gpubnames -gdwarf-aranges -ffunction-sections {flags}");
        let Some(_) = compile(CLANGXX, folder.path(), "types.cpp", &flags, "a.o") else { return };
        let Some(path) =
            compile(LLD, folder.path(), "a.o", "-shared --unresolved-symbols=ignore-all", "a.so")
        else {
            return;
        };
        let bytes = std::fs::read(&path).unwrap();
        let object = Object::read(&bytes).unwrap();
        let sections = Sections::of(&object);
        let dwarf = Dwarf::read(&object).unwrap();
        let unit = &dwarf.units()[0];

        let Some(output) = dumped("--debug-aranges", &path) else { return };
        let expected: Vec<_> = output
            .lines()
            .filter_map(|line| line.strip_prefix('[')?.split_once(", "))
            .map(|(start, end)| (hex(start), hex(end)))
            .collect();
        let sets = AddressRanges::read_all(&sections).unwrap();
        assert_eq!((sets.len(), sets[0].unit), (1, unit.offset));
        let ranges: Vec<_> = sets[0]
            .ranges()
            .map(|range| range.map(|range| (range.start, range.start + range.length)).unwrap())
            .collect();
        assert!(ranges.len() > 3 && ranges == expected, "{ranges:x?}");

        let mut count = 0;
        for section in PublicSection::ALL {
            let option = format!("--{}", section.name().trim_start_matches('.').replace('_', "-"));
            let output = dumped(&option, &path).unwrap();
            let expected: Vec<_> = output
                .lines()
                .filter(|line| line.starts_with("0x"))
                .map(|line| {
                    let (start, name) = line.split_once('"').unwrap();
                    let words: Vec<_> = start.split_whitespace().skip(1).map(String::from).collect();
                    (hex(&start[..start.find(' ').unwrap()]), words, name.trim_end_matches('"').to_owned())
                })
                .collect();
            let mut ours = Vec::new();
            for set in PublicNames::read_all(&sections, section).unwrap() {
                assert_eq!((set.unit, set.unit_bytes), (unit.offset, unit.end - unit.offset));
                for name in set.names() {
                    let name = name.unwrap();
                    let kinds = ["NONE", "TYPE", "VARIABLE", "FUNCTION", "OTHER"];
                    let words = name.flags.map_or(Vec::new(), |flags| {
                        let linkage = if flags & 0x80 == 0 { "EXTERNAL" } else { "STATIC" };
                        vec![linkage.into(), kinds[usize::from(flags >> 4 & 7)].into()]
                    });
                    let text = String::from_utf8(name.name.into()).unwrap();
                    // In GNU's table, enumerators refer to their unit.
                    let entry = dwarf.entry_at(set.unit + name.entry).unwrap();
                    let last = text.rsplit("::").next();
                    assert!(entry.depth() == 0 || entry.name().as_deref() == last, "{text} {entry:?}");
                    ours.push((name.entry, words, text));
                }
            }
            count += ours.len();
            assert_eq!(ours, expected, "{section:?}");
        }
        assert!(count > 10);

        if version == 5 {
            let tables = IndexTable::str_offsets(&sections).unwrap();
            assert_eq!((tables.len(), Some(tables[0].base)), (1, unit.bases.str_offsets));
            assert!(tables[0].elements().all(|offset| sections.string(offset.unwrap()).is_ok()));
            let tables = IndexTable::addresses(&sections).unwrap();
            assert_eq!((tables.len(), Some(tables[0].base)), (1, unit.bases.addr));
            let addresses: Vec<_> = tables[0].elements().map(Result::unwrap).collect();
            let of_unit = (0..addresses.len() as u64).map(|index| dwarf.address(unit, index).unwrap());
            assert!(addresses.len() > 3 && of_unit.eq(addresses));
        }
    }
}
