//! Files that arguments name: files, folders, and patterns in a configuration.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use eitri::error::Count;
use eitri::spirv::is_module;
use globset::GlobBuilder;
use walkdir::{DirEntry, WalkDir};

use super::Failure;
use super::containers::Reads;
use super::kinds::Kind;
use super::output::say_line;

/// Number of bytes that tell what a file is.
const START: u64 = 64;

/// Starts of files that contain objects: ELF, archives, clang's offload bundles, NVIDIA's fat binaries.
const OBJECTS: [&[u8]; 6] =
    [b"\x7fELF", b"!<arch>\n", b"!<thin>\n", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", &[0x50, 0xed, 0x55, 0xba]];

/// Returns the files that arguments name, and failures. A folder stands for the objects, archives and bundles in it and in
/// its folders, and for the SPIR-V modules if the command reads them, in the order of their names; hidden files and split-unit files, which are read with their objects, are left
/// out. Lines on standard error count the files of other known kinds.
pub fn files(arguments: &[PathBuf], reads: Reads) -> (Vec<PathBuf>, Vec<Failure>) {
    let mut files = Vec::new();
    let mut failures = Vec::new();
    for argument in arguments {
        if !argument.is_dir() {
            files.push(argument.clone());
            continue;
        }
        let count = files.len();
        let mut others: BTreeMap<&str, (usize, Kind)> = BTreeMap::new();
        for entry in walk(argument) {
            match entry {
                Ok(entry) if is_file(&entry) => match start(entry.path()) {
                    start
                        if OBJECTS.iter().any(|object| start.starts_with(object))
                            || reads == Reads::Modules && is_module(&start) =>
                    {
                        files.push(entry.into_path());
                    }
                    start => {
                        if let Some(kind) = Kind::of(&start) {
                            others.entry(kind.name).or_insert((0, kind)).0 += 1;
                        }
                    }
                },
                Ok(_) => {}
                Err(error) => failures.push(Failure::line(error)),
            }
        }
        let folder = argument.display();
        for (name, (count, kind)) in others {
            say_line(format_args!(
                "note: {folder}: {}, {name}, left out: {}",
                Count(count, "file"),
                kind.advice
            ));
        }
        if files.len() == count {
            failures.push(Failure::line(format_args!("{folder}: the folder contains no object file")));
        }
    }
    (files, failures)
}

/// Returns the files whose paths, relative to a folder, match a pattern: `*` matches in a name, `**` across folders.
pub fn matching(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let glob =
        GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| error.to_string())?;
    let matcher = glob.compile_matcher();
    // Only folders that the start of the pattern names are read.
    let fixed: PathBuf = Path::new(pattern)
        .components()
        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']))
        .collect();
    let root = folder.join(&fixed);
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { &root };
    let found = walk(root).filter_map(Result::ok).filter(is_file).map(DirEntry::into_path);
    let relative = |path: &PathBuf| -> Option<PathBuf> {
        let below = path.strip_prefix(root).ok()?;
        Some(fixed.join(below))
    };
    Ok(found
        .filter_map(|path| relative(&path))
        .filter(|path| matcher.is_match(path))
        .map(|path| folder.join(path))
        .collect())
}

/// Walks over a folder in the order of names. Links to folders are not followed, because they can form a circle.
fn walk(folder: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    let is_hidden =
        |entry: &DirEntry| entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".");
    WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(move |entry| !is_hidden(entry))
}

/// Whether an entry is a regular file, or a link to such a file, outside split-unit files.
fn is_file(entry: &DirEntry) -> bool {
    let is_split = entry.path().extension().is_some_and(|end| end == "dwo" || end == "dwp");
    !is_split && entry.path().metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Returns a file's first bytes; none if it cannot be read.
fn start(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // An unreadable file is no object.
        let _ = file.take(START).read_to_end(&mut bytes);
    }
    bytes
}
