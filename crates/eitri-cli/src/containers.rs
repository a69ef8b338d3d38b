//! Objects in archives, bundles and host objects: each is named `outer(member)`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use eitri::read::{InnerContents, InnerFile, inner_files};
use eitri::spirv::is_module;

use super::color::escaped;
use super::companions::{Described, described};
use super::contents::Contents;
use super::output::say_line;
use super::progress::Progress;
use super::{Failure, in_file, kinds};

/// An object in a file.
pub struct Inside {
    /// File name, or `outer(member)`.
    pub name: String,
    /// Contents.
    pub bytes: Contents,
}

/// Input of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Objects only.
    Objects,
    /// Objects and SPIR-V modules.
    Modules,
}

/// Uses each object in several files, and returns the failures. After a failure the next object is used. `progress` shows
/// the file; `read` gets the file's path, and an object in the file.
pub fn each<T>(
    progress: &Progress,
    (files, reads): (&[PathBuf], Reads),
    member: Option<&str>,
    mut read: impl FnMut(&Path, &Described) -> eitri::Result<T>,
    mut take: impl FnMut(String, T),
) -> Vec<Failure> {
    let mut failures = Vec::new();
    for file in files {
        progress.file(file);
        match objects(file, member, reads) {
            Ok((objects, unread)) => {
                for object in objects {
                    let object = described(file, object);
                    match read(file, &object) {
                        Ok(found) => take(object.name, found),
                        Err(error) => failures.push(in_file(Path::new(&object.name))(error)),
                    }
                }
                failures.extend(unread);
            }
            Err(failure) => failures.push(failure),
        }
    }
    failures
}

/// Returns the name and contents of the only object in a file.
pub fn single(file: &Path, member: Option<&str>) -> Result<(String, Contents), Failure> {
    let (mut all, unread) = objects(file, member, Reads::Objects)?;
    let names =
        |objects: &[Inside]| listed(&objects.iter().map(|object| object.name.as_str()).collect::<Vec<_>>());
    if let Some(first) = unread.into_iter().next() {
        return Err(first.and(&if all.is_empty() { String::new() } else { names(&all) }));
    }
    match (all.pop(), all.as_slice()) {
        (Some(Inside { name, bytes }), []) => Ok((name, bytes)),
        (None, _) => Err(Failure::line(format_args!("{}: the file contains no object", file.display()))),
        (Some(last), _) => {
            all.push(last);
            let count = all.len();
            let problem = format!("{}: the file contains {count} objects; expected one", file.display());
            Err(Failure(problem).and(&names(&all)))
        }
    }
}

/// Returns the only object in a file with its debug information.
pub fn single_described(file: &Path, member: Option<&str>) -> Result<Described, Failure> {
    let (name, bytes) = single(file, member)?;
    Ok(described(file, Inside { name, bytes }))
}

/// Maximum number of members that a message lists.
const MOST_LISTED: usize = 20;

/// Lists object names, for a choice.
fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(MOST_LISTED).map(|name| format!("  {}\n", escaped(name)));
    let more = match names.len().checked_sub(MOST_LISTED) {
        None | Some(0) => String::new(),
        Some(more) => format!("  and {more} more\n"),
    };
    format!("{}{more}--member chooses one of them", shown.collect::<String>())
}

/// Objects, and the failures for parts that cannot be read.
type Objects = (Vec<Inside>, Vec<Failure>);

/// Returns the objects in a file whose names contain a text: the file itself if it is not a container. A host object is
/// an object too.
fn objects(file: &Path, member: Option<&str>, reads: Reads) -> Result<Objects, Failure> {
    inside(file, Contents::read(file)?, member, reads)
}

/// Returns a file's name for messages.
pub fn file_name(file: &Path) -> String {
    if file.as_os_str() == "-" { "standard input".into() } else { file.display().to_string() }
}

/// Returns the objects in a file with these contents.
pub fn inside(file: &Path, bytes: Contents, member: Option<&str>, reads: Reads) -> Result<Objects, Failure> {
    let (mut all, mut compressed, mut unread) = parts(file, bytes, reads);
    if let Some(member) = member {
        // A host object's name is a part of its members' names, so the whole name chooses it.
        let unread_names = unread.iter().map(|part| &part.0);
        let names: Vec<&String> =
            all.iter().map(|object| &object.name).chain(&compressed).chain(unread_names).collect();
        let is_whole = names.iter().any(|name| *name == member);
        let is_chosen = |name: &str| if is_whole { name == member } else { name.contains(member) };
        if !names.iter().any(|name| is_chosen(name)) {
            let names: Vec<_> = names.into_iter().map(String::as_str).collect();
            let problem = format!("{}: no member has `{member}` in its name", file.display());
            return Err(Failure(problem).and(&listed(&names)));
        }
        all.retain(|object| is_chosen(&object.name));
        compressed.retain(|name| is_chosen(name));
        unread.retain(|part| is_chosen(&part.0));
        if let ([], [first, ..]) = (&all[..], &compressed[..]) {
            return Err(Failure::line(format_args!("{first}: the member is compressed")));
        }
    }
    for name in compressed {
        say_line(format_args!("skipped: {name}: the member is compressed"));
    }
    Ok((all, unread.into_iter().map(|part| part.1).collect()))
}

/// Objects; names of compressed members; and names and failures of parts that cannot be read.
type Parts = (Vec<Inside>, Vec<String>, Vec<(String, Failure)>);

/// Takes a file apart.
fn parts(file: &Path, bytes: Contents, reads: Reads) -> Parts {
    let (mut all, mut compressed, mut unread) = Parts::default();
    // A thin archive has file names, relative to the archive's folder.
    let mut elsewhere =
        |member: &str| Contents::of_regular(&file.with_file_name(member)).map(|bytes| bytes.to_vec());
    let mut whole = None;
    for InnerFile { name, contents } in inner_files(&file_name(file), &bytes, &mut elsewhere) {
        match contents {
            InnerContents::Compressed => compressed.push(name),
            InnerContents::Unreadable(part, error) => unread.push((name, in_file(Path::new(&part))(error))),
            InnerContents::Bytes(part) => {
                let is_read = reads == Reads::Modules && is_module(&part);
                if let Some(failure) = kinds::refused(file, &name, &part).filter(|_| !is_read) {
                    unread.push((name, failure));
                    continue;
                }
                // The file is not copied.
                let part = match part {
                    Cow::Borrowed(part) if part.len() == bytes.len() => {
                        whole = Some(all.len());
                        Vec::new()
                    }
                    part => part.into_owned(),
                };
                all.push(Inside { name, bytes: Contents::Bytes(part) });
            }
        }
    }
    if let Some(index) = whole {
        all[index].bytes = bytes;
    }
    (all, compressed, unread)
}
