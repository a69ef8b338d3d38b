//! Objects in archives, bundles and host objects: each is named `outer(member)`.

use std::path::{Path, PathBuf};

use eitri::read::containers::readable_members;
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

/// Maximum nesting depth of containers.
const DEEPEST: u32 = 4;

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
pub fn single(command: &str, file: &Path, member: Option<&str>) -> Result<(String, Contents), Failure> {
    let _progress = Progress::begin(command, file);
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
pub fn single_described(command: &str, file: &Path, member: Option<&str>) -> Result<Described, Failure> {
    let (name, bytes) = single(command, file, member)?;
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
    found(file, Contents::read(file)?, member, reads)
}

/// Returns a file's name for messages.
pub fn file_name(file: &Path) -> String {
    if file.as_os_str() == "-" { "standard input".into() } else { file.display().to_string() }
}

/// Returns the objects in a file with these contents.
pub fn inside(file: &Path, bytes: Contents, member: Option<&str>) -> Result<Objects, Failure> {
    found(file, bytes, member, Reads::Objects)
}

fn found(file: &Path, bytes: Contents, member: Option<&str>, reads: Reads) -> Result<Objects, Failure> {
    let name = file_name(file);
    let mut parts = Found { reads, all: Vec::new(), compressed: Vec::new(), unread: Vec::new() };
    parts.expand(file, name, bytes, DEEPEST);
    let Found { mut all, mut compressed, mut unread, .. } = parts;
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

/// Parts of a file.
struct Found {
    reads: Reads,
    all: Vec<Inside>,
    /// Names of compressed members.
    compressed: Vec<String>,
    /// Names and failures of parts that cannot be read.
    unread: Vec<(String, Failure)>,
}

impl Found {
    /// Adds a part, and the parts in it.
    fn expand(&mut self, file: &Path, name: String, bytes: Contents, depth: u32) {
        let Some((members, errors)) = (depth > 0).then(|| readable_members(&bytes)).flatten() else {
            let is_read = self.reads == Reads::Modules && is_module(&bytes);
            if let Some(failure) = kinds::refused(file, &name, &bytes).filter(|_| !is_read) {
                return self.unread.push((name, failure));
            }
            return self.all.push(Inside { name, bytes });
        };
        for error in errors {
            let part = error.at().section.as_deref().map_or(name.clone(), |part| format!("{name}({part})"));
            self.unread.push((part, in_file(Path::new(&name))(error)));
        }
        let members: Vec<_> = members
            .into_iter()
            .map(|member| (member.name, member.bytes.map(|bytes| bytes.into_owned()), member.is_compressed))
            .collect();
        let outer = name.clone();
        if bytes.starts_with(b"\x7fELF") {
            self.all.push(Inside { name, bytes });
        }
        for (member, bytes, is_compressed) in members {
            let name = format!("{outer}({member})");
            match bytes {
                Some(bytes) => self.expand(file, name, Contents::Bytes(bytes), depth - 1),
                None if is_compressed => self.compressed.push(name),
                // A thin archive has file names, relative to the archive's folder.
                None => match Contents::of_regular(&file.with_file_name(&member)) {
                    Ok(bytes) => self.expand(file, name, bytes, depth - 1),
                    Err(error) => self.unread.push((name.clone(), in_file(Path::new(&name))(error))),
                },
            }
        }
    }
}
