//! Type units and split units have the same facts as the program compiled without them.

use std::collections::BTreeMap;

use eitri::dump::{DumpOptions, dump};
use eitri::error::ErrorKind;
use eitri::read::{Dwarf, Entry, Object, ResolvedValue};
use gimli::constants as dw;
use pretty_assertions::assert_eq;

use crate::reader::compiled::{CLANG, CLANGXX, GXX, compile, sources};
use crate::reader::tools::Tool;

const DWP: Tool = Tool::new("llvm-dwp-19", "llvm-19");

/// Facts of variables and functions: tags and names including parents, name of the type, pcs, and bounds of locations.
fn facts(dwarf: &Dwarf<'_>, has_ends: bool) -> Vec<String> {
    let mut all = Vec::new();
    for entry in dwarf.entries() {
        let is_code = matches!(
            entry.tag(),
            dw::DW_TAG_variable
                | dw::DW_TAG_formal_parameter
                | dw::DW_TAG_subprogram
                | dw::DW_TAG_inlined_subroutine
        );
        // A declaration may be in the type unit of its class.
        if !is_code || entry.attr(dw::DW_AT_declaration).is_some() || !is_defined(entry) {
            continue;
        }
        let bounds: Vec<_> = entry
            .locations(dw::DW_AT_location)
            .unwrap()
            .unwrap_or_default()
            .iter()
            .map(|place| (place.start, if has_ends { place.end } else { 0 }))
            .collect();
        let path: Vec<_> = std::iter::successors(Some(entry), |entry| entry.parent())
            .filter(|entry| entry.tag() != dw::DW_TAG_compile_unit)
            .map(|entry| (entry.tag().to_string(), entry.name().map(String::from)))
            .collect();
        let file = entry.number(dw::DW_AT_decl_file).map(|file| {
            let program = dwarf.lines(entry.unit()).unwrap().expect("a line program");
            program.path(file).map(String::from)
        });
        let ranges = entry.ranges().unwrap();
        all.push(format!("{path:?}: {:?} {ranges:x?} {bounds:x?} {file:?}", entry.ty().map(type_name)));
    }
    all.sort();
    all
}

fn is_defined(entry: Entry<'_, '_>) -> bool {
    std::iter::successors(Some(entry), |entry| entry.parent()).all(|entry| {
        !matches!(
            entry.tag(),
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_enumeration_type
        )
    })
}

/// Name of a type, through pointers and type units.
fn type_name(mut entry: Entry<'_, '_>) -> String {
    let mut text = String::new();
    for _ in 0..10 {
        entry = entry.reference(dw::DW_AT_signature).unwrap_or(entry);
        text += &format!("{} {:?} ", entry.tag(), entry.name());
        match entry.ty() {
            Some(next) if entry.name().is_none() => entry = next,
            _ => break,
        }
    }
    text
}

#[test]
fn types_in_units_of_their_own_are_those_of_the_program() {
    let folder = sources();
    for tool in [CLANGXX, GXX] {
        for version in [4, 5] {
            let object = |flags: &str| {
                let flags = format!("-c -gdwarf-{version} {flags}");
                compile(tool, folder.path(), "types.cpp", &flags, "a.o")
                    .map(|path| std::fs::read(path).unwrap())
            };
            let (Some(plain), Some(units)) = (object(""), object("-fdebug-types-section")) else { return };
            let plain = Object::read(&plain).unwrap();
            let units = Object::read(&units).unwrap();
            let plain = Dwarf::read(&plain).unwrap();
            let dwarf = Dwarf::read(&units).unwrap();
            assert_eq!(facts(&dwarf, true), facts(&plain, true));
            let signatures: BTreeMap<_, _> =
                dwarf.units().iter().filter_map(|unit| Some((unit.signature?, unit))).collect();
            assert!(!signatures.is_empty());
            let mut used = 0;
            for entry in dwarf.entries() {
                for attribute in entry.attributes() {
                    let ResolvedValue::Signature(signature) = attribute.value else { continue };
                    let found = dwarf.type_of_signature(signature).unwrap();
                    let unit = signatures[&signature];
                    assert_eq!((found.unit().offset, Some(found.offset())), (unit.offset, unit.type_offset));
                    assert_eq!(unit.kind, dw::DW_UT_type);
                    assert_eq!(dwarf.unit_at(found.offset()).map(|unit| unit.offset), Some(unit.offset));
                    let section = if version == 4 { ".debug_types" } else { ".debug_info" };
                    assert_eq!(dwarf.place(found.offset()).0, section);
                    let is_named = found.name().is_some_and(|name| name == "S" || name == "E");
                    assert!(is_named, "{found:?}");
                    used += 1;
                }
            }
            assert!(used > 0);
            assert!(dwarf.type_of_signature(1).is_none());
            let text = dump(&units, &dwarf, None, DumpOptions::default());
            assert!(text.contains(", DW_UT_type, signature 0x"), "{text}");
        }
    }
}

#[test]
fn split_units_with_their_skeletons_say_what_the_whole_program_says() {
    let folder = sources();
    for tool in [CLANGXX, GXX] {
        for version in [4, 5] {
            for more in ["", "-fdebug-types-section", "-gdwarf64"] {
                // GNU's version 4 does not support the 64-bit format here.
                if (version, more) == (4, "-gdwarf64") {
                    continue;
                }
                let object = |flags: &str, source: &str, out: &str| {
                    let flags = format!("-O1 -ffunction-sections -c -gdwarf-{version} {flags}");
                    compile(tool, folder.path(), source, &flags, out).map(|path| std::fs::read(path).unwrap())
                };
                let Some(plain) = object("", "types.cpp", "a.o") else { return };
                let main = object(&format!("-gsplit-dwarf {more}"), "types.cpp", "b.o").unwrap();
                let dwo = std::fs::read(folder.path().join("b.dwo")).unwrap();
                let [plain, main, dwo] = [&plain, &main, &dwo].map(|bytes| Object::read(bytes).unwrap());
                let plain = Dwarf::read(&plain).unwrap();
                let skeletons = Dwarf::read(&main).unwrap();
                let split = Dwarf::read_split(&skeletons, &dwo).unwrap();
                // GCC 12 computes the lengths of GNU's entries without counting a call before the start; `readelf` and
                // `llvm-dwarfdump` decode the same lengths.
                let has_ends = (tool.name, version) != ("g++", 4);
                assert_eq!(facts(&split, has_ends), facts(&plain, has_ends), "{tool:?} {version} {more}");

                let skeleton = &skeletons.units()[0];
                assert_eq!(skeleton.kind, dw::DW_UT_skeleton);
                assert_eq!(skeleton.dwo_name.as_deref().map(|name| name.ends_with("b.dwo")), Some(true));
                let of_code = |unit: &&eitri::read::Unit<'_>| unit.kind == dw::DW_UT_split_compile;
                let unit = split.units().iter().find(of_code).unwrap();
                assert!(unit.dwo_id.is_some() && unit.dwo_id == skeleton.dwo_id && unit.has_skeleton);
                let types = split.units().iter().filter(|unit| unit.kind == dw::DW_UT_split_type).count();
                assert_eq!(types > 0, more == "-fdebug-types-section");

                // Alone, a split file has no addresses, and none are invented.
                let alone = Dwarf::read(&dwo).unwrap();
                assert_eq!(alone.entries().count(), split.entries().count());
                let indices = alone.entries().flat_map(|entry| entry.attributes());
                let indices =
                    indices.filter(|one| matches!(one.value, ResolvedValue::AddressIndex(_))).count();
                assert!(indices > 0);
                let unit = alone.units().iter().find(of_code).unwrap();
                assert!(!alone.knows_addresses(unit) && alone.address(unit, 0).is_err());
                let text = dump(&dwo, &alone, None, {
                    let mut options = DumpOptions::default();
                    options.verbose = true;
                    options
                });
                assert!(text.contains("DW_AT_low_pc [DW_FORM_") && text.contains(": address "), "{text}");
            }
        }
    }
}

/// Units beside the skeletons of another program are read as if alone.
#[test]
fn a_skeleton_of_another_unit_is_not_taken() {
    let folder = sources();
    for version in [4, 5] {
        let flags = format!("-O1 -c -gsplit-dwarf -fdebug-types-section -gdwarf-{version}");
        let Some(path) = compile(CLANGXX, folder.path(), "types.cpp", &flags, "a.o") else { return };
        let other = std::fs::read(compile(CLANG, folder.path(), "frames.c", &flags, "b.o").unwrap()).unwrap();
        let dwo = std::fs::read(path.with_extension("dwo")).unwrap();
        let other = Object::read(&other).unwrap();
        let dwo = Object::read(&dwo).unwrap();
        let split = Dwarf::read_split(&Dwarf::read(&other).unwrap(), &dwo).unwrap();
        assert!(split.units().iter().any(|unit| unit.kind == dw::DW_UT_split_type));
        assert!(split.units().iter().all(|unit| unit.is_split() && !unit.has_skeleton));
    }
}

#[test]
fn packages_are_refused() {
    let folder = sources();
    let flags = "-O1 -c -gsplit-dwarf -gdwarf-5";
    let Some(path) = compile(CLANGXX, folder.path(), "types.cpp", flags, "a.o") else { return };
    let dwo = path.with_extension("dwo");
    let package = path.with_extension("dwp");
    let arguments = [dwo.as_os_str(), "-o".as_ref(), package.as_os_str()];
    let Some(ran) = DWP.run(&arguments) else { return };
    ran.clean();
    let main = std::fs::read(path).unwrap();
    let package = std::fs::read(package).unwrap();
    let main = Object::read(&main).unwrap();
    let package = Object::read(&package).unwrap();
    let main = Dwarf::read(&main).unwrap();
    for refused in [Dwarf::read(&package), Dwarf::read_split(&main, &package)] {
        let error = refused.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
        assert_eq!(error.at().section.as_deref(), Some(".debug_cu_index"));
    }
}

/// The command prints split units with the addresses and lines of the other file.
#[test]
fn the_command_takes_both_files() {
    let folder = sources();
    let flags = "-O1 -c -gsplit-dwarf -gdwarf-5";
    let Some(path) = compile(CLANGXX, folder.path(), "types.cpp", flags, "a.o") else { return };
    let dwo = path.with_extension("dwo");
    let run = |arguments: &[&std::ffi::OsStr]| {
        let ran =
            std::process::Command::new(env!("CARGO_BIN_EXE_eitri")).arg("dump").args(arguments).output();
        let ran = ran.unwrap();
        assert!(ran.status.success() && ran.stderr.is_empty());
        String::from_utf8(ran.stdout).unwrap()
    };
    let both = run(&["--split".as_ref(), dwo.as_os_str(), path.as_os_str()]);
    assert!(both.contains("DW_AT_low_pc: 0x10") && both.contains("types.cpp\")"), "{both}");
    let alone = run(&[dwo.as_os_str()]);
    assert!(alone.contains("DW_AT_low_pc: address ") && !alone.contains("types.cpp\")"), "{alone}");
}

#[test]
fn object_may_contain_skeleton_and_split_units() {
    let folder = sources();
    let flags = "-O1 -c -gdwarf-5 -gsplit-dwarf=single";
    let Some(path) = compile(CLANGXX, folder.path(), "types.cpp", flags, "a.o") else { return };
    let bytes = std::fs::read(path).unwrap();
    let object = Object::read(&bytes).unwrap();
    let main = Dwarf::read(&object).unwrap();
    let split = Dwarf::read_split(&main, &object).unwrap();
    assert!(split.units()[0].has_skeleton && split.entries().count() > 30);
    let text = eitri::dump::print(&bytes, None).unwrap();
    assert!(text.contains("DW_UT_skeleton") && text.contains("DW_UT_split_compile"), "{text}");
}
