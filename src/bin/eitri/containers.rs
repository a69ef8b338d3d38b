//! Objects in archives, bundles and host objects: each is named `outer(member)`.

use std::path::{Path, PathBuf};

use eitri::read::containers::members;

use super::color::escaped;
use super::contents::Contents;
use super::progress::Progress;
use super::{Failure, of};

/// An object of a file.
pub struct Inside {
    /// Name of the file, or `outer(member)`.
    pub name: String,
    /// Contents.
    pub bytes: Contents,
}

/// Maximum depth of containers in containers.
const DEEPEST: u32 = 4;

/// Uses each object of several files, and returns the failures. The next object is used after a failure. `begin` shows the
/// progress of a file; `read` gets the path of the file, and the name and contents of an object in it.
pub fn each<T>(
    begin: impl Fn(&Path) -> Progress,
    files: &[PathBuf],
    member: Option<&str>,
    mut read: impl FnMut(&Path, &str, &[u8]) -> eitri::Result<T>,
    mut take: impl FnMut(String, T),
) -> Vec<Failure> {
    let mut failures = Vec::new();
    for file in files {
        let _progress = begin(file);
        match objects(file, member) {
            Ok(objects) => {
                for Inside { name, bytes } in objects {
                    match read(file, &name, &bytes) {
                        Ok(found) => take(name, found),
                        Err(error) => failures.push(of(Path::new(&name))(error)),
                    }
                }
            }
            Err(failure) => failures.push(failure),
        }
    }
    failures
}

/// Returns the name and contents of the only object of a file.
pub fn one(command: &str, file: &Path, member: Option<&str>) -> Result<(String, Contents), Failure> {
    let _progress = Progress::begin(command, file);
    let mut all = objects(file, member)?;
    match (all.pop(), all.as_slice()) {
        (Some(Inside { name, bytes }), []) => Ok((name, bytes)),
        (None, _) => Err(Failure(format!("{}: the file contains no object", file.display()))),
        (Some(last), _) => {
            let names: Vec<_> = all.iter().chain([&last]).map(|one| one.name.as_str()).collect();
            let count = names.len();
            let what = format!("{}: one object is expected: the file contains {count}", file.display());
            Err(Failure(what).and(&listed(&names)))
        }
    }
}

/// Maximum number of members that a message lists.
const MOST_LISTED: usize = 20;

/// Lists the names of objects, for a choice.
fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(MOST_LISTED).map(|name| format!("  {}\n", escaped(name)));
    let more = match names.len().checked_sub(MOST_LISTED) {
        None | Some(0) => String::new(),
        Some(more) => format!("  and {more} more\n"),
    };
    format!("{}{more}--member chooses one of them", shown.collect::<String>())
}

/// Returns the objects of a file whose names contain a text: the file itself if it is not a container. A host object is
/// an object too.
fn objects(file: &Path, member: Option<&str>) -> Result<Vec<Inside>, Failure> {
    inside(file, Contents::read(file)?, member)
}

/// Returns the objects of a file with these contents.
pub fn inside(file: &Path, bytes: Contents, member: Option<&str>) -> Result<Vec<Inside>, Failure> {
    let name = if file.as_os_str() == "-" { "standard input".into() } else { file.display().to_string() };
    let (mut all, mut compressed) = (Vec::new(), Vec::new());
    expand(file, name, bytes, DEEPEST, &mut all, &mut compressed)?;
    if let Some(member) = member {
        // The name of a host object is a part of its members' names: the whole name chooses it.
        let is_whole = all.iter().map(|one| &one.name).chain(&compressed).any(|name| name == member);
        let is_chosen = |name: &str| if is_whole { name == member } else { name.contains(member) };
        let names: Vec<_> = all.iter().map(|one| &one.name).chain(&compressed).collect();
        if !names.iter().any(|name| is_chosen(name)) {
            let names: Vec<_> = names.into_iter().map(String::as_str).collect();
            let what = format!("{}: no member has `{member}` in its name", file.display());
            return Err(Failure(what).and(&listed(&names)));
        }
        all.retain(|one| is_chosen(&one.name));
        compressed.retain(|name| is_chosen(name));
        if let ([], [first, ..]) = (&all[..], &compressed[..]) {
            return Err(Failure(format!("{first}: the member is compressed")));
        }
    }
    for name in compressed {
        eprintln!("skipped: {name}: the member is compressed");
    }
    Ok(all)
}

fn expand(
    file: &Path,
    name: String,
    bytes: Contents,
    depth: u32,
    all: &mut Vec<Inside>,
    compressed: &mut Vec<String>,
) -> Result<(), Failure> {
    let found = if depth == 0 { None } else { members(&bytes).map_err(of(Path::new(&name)))? };
    let Some(found) = found else {
        all.push(Inside { name, bytes });
        return Ok(());
    };
    let found: Vec<_> = found
        .into_iter()
        .map(|one| (one.name, one.bytes.map(|bytes| bytes.into_owned()), one.is_compressed))
        .collect();
    let is_host = bytes.starts_with(b"\x7fELF");
    let outer = name.clone();
    if is_host {
        all.push(Inside { name, bytes });
    }
    for (member, bytes, is_compressed) in found {
        let name = format!("{outer}({member})");
        let bytes = match bytes {
            None if is_compressed => {
                compressed.push(name);
                continue;
            }
            Some(bytes) => Contents::Bytes(bytes),
            // A thin archive has names of files, relative to its own folder.
            None => Contents::read(&file.with_file_name(&member))?,
        };
        expand(file, name, bytes, depth - 1, all, compressed)?;
    }
    Ok(())
}
