//! `readelf`, `eu-readelf` and `dwarfdump`: do they read everything without complaint?
//!
//! They print plain DWARF 5; what they know of vendor operations is less than LLVM does.

use std::path::{Path, PathBuf};

use eitri::lower::Consumer;

use super::common::{Folder, Tool};
use super::described::{Known, MACHINES, Machine, Options, Place, described, object};
use super::link::link;
use super::{EU_READELF, LIBDWARF, READELF};

/// Objects to read, each linked and as it is: `(machine, is linked, path)`.
fn objects(folder: &Folder, places: fn(&Place) -> bool) -> Vec<(Machine, bool, PathBuf)> {
    let mut all = Vec::new();
    for machine in MACHINES {
        let options = Options { places, ..Options::new(machine) };
        let path = folder.file(&format!("{machine:?}.o"), object(options, &Consumer::dwarf5()).0);
        let linked = link(folder, machine, &[&path]).and_then(|linked| {
            let named = folder.path().join(format!("{machine:?}.so"));
            std::fs::rename(linked, &named).ok().map(|()| named)
        });
        all.push((machine, false, path));
        all.extend(linked.map(|linked| (machine, true, linked)));
    }
    all
}

/// What a program prints of each kind of debug information, if it has no complaints.
fn read(tool: Tool, kinds: &[&str], path: &Path) -> Option<String> {
    let mut all = String::new();
    for kind in kinds {
        let kind = format!("--debug-dump={kind}");
        let said = tool.run(&[kind.as_ref(), path.as_os_str()])?.clean();
        for complaint in
            ["warning", "error", "corrupt", "unknown", "user defined", "invalid", "truncated", "???"]
        {
            assert!(!said.to_lowercase().contains(complaint), "{} {}: {said}", tool.name, path.display());
        }
        all += &said;
    }
    Some(all)
}

/// The names that are described are in what was printed.
fn has_names(machine: Machine, said: &str) {
    let variables = described(machine);
    for name in
        variables.iter().map(|variable| variable.name).chain(["work", "both", "square", "other", "seven"])
    {
        assert!(said.contains(name), "{name}: {said}");
    }
}

#[test]
fn readelf_reads_everything() {
    let folder = Folder::new();
    // binutils 2.40 takes the offset in `DW_OP_implicit_pointer` for 8 bytes where it is in a list.
    for (machine, is_linked, path) in objects(&folder, |place| place.known != Known::None) {
        // It does not know the relocations of AMDGPU.
        if machine == Machine::Gpu && !is_linked {
            continue;
        }
        let kinds = ["info", "abbrev", "loc", "Ranges", "rawline", "decodedline", "addr", "str"];
        let Some(said) = read(READELF, &kinds, &path) else { return };
        has_names(machine, &said);
        if machine == Machine::Cpu {
            assert!(said.contains("DW_OP_breg7 (rsp): 24; DW_OP_deref; DW_OP_plus_uconst: 400"), "{said}");
        }
    }
}

#[test]
fn eu_readelf_reads_everything() {
    let folder = Folder::new();
    for (machine, is_linked, path) in objects(&folder, |_| true) {
        // elfutils 0.188 applies relocations to most sections of AMDGPU objects, but not to all.
        if machine == Machine::Gpu && !is_linked {
            continue;
        }
        let kinds = ["info", "abbrev", "loc", "ranges", "line", "decodedline", "addr", "str"];
        let Some(said) = read(EU_READELF, &kinds, &path) else { return };
        has_names(machine, &said);
    }
}

#[test]
fn libdwarf_reads_everything() {
    let folder = Folder::new();
    for (machine, is_linked, path) in objects(&folder, |_| true) {
        // It does not know the relocations of AMDGPU either.
        if machine == Machine::Gpu && !is_linked {
            continue;
        }
        // Print all; check all.
        for what in ["-a", "-ka"] {
            let Some(ran) = LIBDWARF.run(&[what.as_ref(), path.as_os_str()]) else { return };
            let said = ran.clean();
            assert!(!said.contains("dwarfdump ERROR") && !said.contains("DW_DLE"), "{said}");
            if what == "-a" {
                has_names(machine, &said);
                continue;
            }
            // An attribute of GNU's, which gcc writes in the same form.
            let known = "DW_AT_GNU_vector -> DW_FORM_CLASS_FLAG";
            let complaints: Vec<&str> = said.lines().filter(|line| line.contains("DWARF CHECK:")).collect();
            assert!(complaints.iter().all(|line| line.contains(known)), "{said}");
            let total = said.lines().find_map(|line| line.strip_prefix("** Summarize **"));
            let total: Vec<&str> = total.expect("how many errors there were").split_whitespace().collect();
            assert_eq!(total[1], complaints.len().to_string(), "{said}");
        }
    }
}
