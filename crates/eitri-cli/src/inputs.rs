//! Files that arguments name: files, folders, and patterns in a configuration.

use std::collections::{BTreeMap, HashSet};
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
                    start if is_object(&start, reads) => files.push(entry.into_path()),
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
    // Paths can overlap.
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    (files, failures)
}

/// Whether a file with these first bytes contains objects, or is a module if the command reads modules.
fn is_object(start: &[u8], reads: Reads) -> bool {
    OBJECTS.iter().any(|object| start.starts_with(object)) || reads == Reads::Modules && is_module(start)
}

/// Returns the files and folders whose paths, relative to a folder, match a pattern: `*` matches in a name, `**` across
/// folders. A pattern that ends in `*` or `**` matches objects and modules alone.
pub fn matching(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    // Without repeated separators.
    let pattern: PathBuf = Path::new(pattern).components().collect();
    let glob = GlobBuilder::new(&pattern.to_string_lossy()).literal_separator(true).build();
    let matcher = glob.map_err(|error| error.to_string())?.compile_matcher();
    // Only folders that the start of the pattern names are read.
    let fixed: PathBuf = pattern
        .components()
        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']))
        .collect();
    let root = folder.join(&fixed);
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { &root };
    let is_any = pattern.file_name().is_some_and(|last| last == "*" || last == "**");
    let is_wanted = |entry: &DirEntry| {
        if entry.file_type().is_dir() {
            return !is_any;
        }
        is_file(entry) && (!is_any || is_object(&start(entry.path()), Reads::Modules))
    };
    let entries = walk(root).filter_map(Result::ok);
    let relative = |path: &Path| Some(fixed.join(path.strip_prefix(root).ok()?));
    let entries = entries.filter(|entry| relative(entry.path()).is_some_and(|path| matcher.is_match(path)));
    Ok(entries
        .filter(is_wanted)
        .map(|entry| folder.join(relative(entry.path()).unwrap_or_default()))
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
