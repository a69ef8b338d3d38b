//! Checks that `readelf`, `eu-readelf` and `dwarfdump` read everything without complaints.
//!
//! The programs print plain DWARF 5, and know fewer vendor operations than LLVM.

use std::path::{Path, PathBuf};

use eitri::lower::Consumer;

use super::common::{Folder, Tool};
use super::described::{Known, MACHINES, Machine, Options, Place, described, object};
use super::link::link;
use super::{EU_READELF, LIBDWARF, READELF};

/// Objects to read, linked and unlinked: `(machine, is linked, path)`.
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

/// Output for each kind of debug information, without complaints.
fn read(tool: Tool, kinds: &[&str], path: &Path) -> Option<String> {
    let mut all = String::new();
    for kind in kinds {
        let kind = format!("--debug-dump={kind}");
        let output = tool.run(&[kind.as_ref(), path.as_os_str()])?.clean();
        for complaint in
            ["warning", "error", "corrupt", "unknown", "user defined", "invalid", "truncated", "???"]
        {
            assert!(!output.to_lowercase().contains(complaint), "{} {}: {output}", tool.name, path.display());
        }
        all += &output;
    }
    Some(all)
}

/// Checks that the output has the described names.
fn has_names(machine: Machine, output: &str) {
    let variables = described(machine);
    for name in
        variables.iter().map(|variable| variable.name).chain(["work", "both", "square", "other", "seven"])
    {
        assert!(output.contains(name), "{name}: {output}");
    }
}

#[test]
fn readelf_reads_everything() {
    let folder = Folder::new();
    // binutils 2.40 decodes the offset of `DW_OP_implicit_pointer` in lists as 8 bytes.
    for (machine, is_linked, path) in objects(&folder, |place| place.known != Known::None) {
        // readelf does not know the relocations of AMDGPU.
        if machine == Machine::Gpu && !is_linked {
            continue;
        }
        let kinds = ["info", "abbrev", "loc", "Ranges", "rawline", "decodedline", "addr", "str"];
        let Some(output) = read(READELF, &kinds, &path) else { return };
        has_names(machine, &output);
        if machine == Machine::Cpu {
            assert!(
                output.contains("DW_OP_breg7 (rsp): 24; DW_OP_deref; DW_OP_plus_uconst: 400"),
                "{output}"
            );
        }
    }
}

#[test]
fn eu_readelf_reads_everything() {
    let folder = Folder::new();
    for (machine, is_linked, path) in objects(&folder, |_| true) {
        // elfutils 0.188 applies relocations to some sections of AMDGPU objects only.
        if machine == Machine::Gpu && !is_linked {
            continue;
        }
        let kinds = ["info", "abbrev", "loc", "ranges", "line", "decodedline", "addr", "str"];
        let Some(output) = read(EU_READELF, &kinds, &path) else { return };
        has_names(machine, &output);
    }
}

#[test]
fn libdwarf_reads_everything() {
    let folder = Folder::new();
    for (machine, is_linked, path) in objects(&folder, |_| true) {
        // dwarfdump does not know the relocations of AMDGPU either.
        if machine == Machine::Gpu && !is_linked {
            continue;
        }
        // Print everything; check everything.
        for what in ["-a", "-ka"] {
            let Some(ran) = LIBDWARF.run(&[what.as_ref(), path.as_os_str()]) else { return };
            let output = ran.clean();
            assert!(!output.contains("dwarfdump ERROR") && !output.contains("DW_DLE"), "{output}");
            if what == "-a" {
                has_names(machine, &output);
                continue;
            }
            // An attribute of GNU's, which gcc writes in the same form.
            let known = "DW_AT_GNU_vector -> DW_FORM_CLASS_FLAG";
            let complaints: Vec<&str> = output.lines().filter(|line| line.contains("DWARF CHECK:")).collect();
            assert!(complaints.iter().all(|line| line.contains(known)), "{output}");
            let total = output.lines().find_map(|line| line.strip_prefix("** Summarize **"));
            let total: Vec<&str> = total.expect("how many errors there were").split_whitespace().collect();
            assert_eq!(total[1], complaints.len().to_string(), "{output}");
        }
    }
}
