//! Linkers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::LLD;
use super::common::Folder;
use super::described::Machine;

/// Links objects into a shared one; `None` if the linker is not there.
pub fn link(folder: &Folder, machine: Machine, objects: &[&Path]) -> Option<PathBuf> {
    let output = folder.path().join(format!("linked-{}.so", objects.len()));
    let emulation = match machine {
        Machine::Gpu => "elf64_amdgpu",
        Machine::Cpu => "elf_x86_64",
    };
    let arguments = ["-m", emulation, "-shared", "-o"].map(OsStr::new);
    let arguments: Vec<&OsStr> = arguments
        .into_iter()
        .chain([output.as_os_str()])
        .chain(objects.iter().map(|path| path.as_os_str()))
        .collect();
    let said = LLD.run(&arguments)?.clean();
    assert!(said.is_empty(), "{said}");
    Some(output)
}
