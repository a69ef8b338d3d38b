//! Objects in archives, bundles and host objects: each is named `outer(member)`.

use std::path::{Path, PathBuf};

use eitri::read::containers::readable_members;

use super::color::escaped;
use super::companions::{Described, described};
use super::contents::Contents;
use super::output::say_line;
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
/// progress of a file; `read` gets the path of the file, and an object in it.
pub fn each<T>(
    begin: impl Fn(&Path) -> Progress,
    files: &[PathBuf],
    member: Option<&str>,
    mut read: impl FnMut(&Path, &Described) -> eitri::Result<T>,
    mut take: impl FnMut(String, T),
) -> Vec<Failure> {
    let mut failures = Vec::new();
    for file in files {
        let _progress = begin(file);
        match objects(file, member) {
            Ok((objects, unread)) => {
                for object in objects {
                    let object = described(file, object);
                    match read(file, &object) {
                        Ok(found) => take(object.name, found),
                        Err(error) => failures.push(of(Path::new(&object.name))(error)),
                    }
                }
                failures.extend(unread);
            }
            Err(failure) => failures.push(failure),
        }
    }
    failures
}

/// Returns the name and contents of the only object of a file.
pub fn one(command: &str, file: &Path, member: Option<&str>) -> Result<(String, Contents), Failure> {
    let _progress = Progress::begin(command, file);
    let (mut all, unread) = objects(file, member)?;
    let names = |all: &[Inside]| listed(&all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>());
    if let Some(first) = unread.into_iter().next() {
        return Err(first.and(&if all.is_empty() { String::new() } else { names(&all) }));
    }
    match (all.pop(), all.as_slice()) {
        (Some(Inside { name, bytes }), []) => Ok((name, bytes)),
        (None, _) => Err(Failure::line(format_args!("{}: the file contains no object", file.display()))),
        (Some(last), _) => {
            all.push(last);
            let count = all.len();
            let what = format!("{}: one object is expected: the file contains {count}", file.display());
            Err(Failure(what).and(&names(&all)))
        }
    }
}

/// Returns the only object of a file with its debug information.
pub fn one_described(command: &str, file: &Path, member: Option<&str>) -> Result<Described, Failure> {
    let (name, bytes) = one(command, file, member)?;
    Ok(described(file, Inside { name, bytes }))
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

/// Objects, and the failures of parts that cannot be read.
type Objects = (Vec<Inside>, Vec<Failure>);

/// Returns the objects of a file whose names contain a text: the file itself if it is not a container. A host object is
/// an object too.
fn objects(file: &Path, member: Option<&str>) -> Result<Objects, Failure> {
    inside(file, Contents::read(file)?, member)
}

/// Returns the objects of a file with these contents.
pub fn inside(file: &Path, bytes: Contents, member: Option<&str>) -> Result<Objects, Failure> {
    let name = if file.as_os_str() == "-" { "standard input".into() } else { file.display().to_string() };
    let mut found = Found::default();
    found.expand(file, name, bytes, DEEPEST);
    let Found { mut all, mut compressed, mut unread } = found;
    if let Some(member) = member {
        // The name of a host object is a part of its members' names: the whole name chooses it.
        let unread_names = unread.iter().map(|one| &one.0);
        let names: Vec<&String> =
            all.iter().map(|one| &one.name).chain(&compressed).chain(unread_names).collect();
        let is_whole = names.iter().any(|name| *name == member);
        let is_chosen = |name: &str| if is_whole { name == member } else { name.contains(member) };
        if !names.iter().any(|name| is_chosen(name)) {
            let names: Vec<_> = names.into_iter().map(String::as_str).collect();
            let what = format!("{}: no member has `{member}` in its name", file.display());
            return Err(Failure(what).and(&listed(&names)));
        }
        all.retain(|one| is_chosen(&one.name));
        compressed.retain(|name| is_chosen(name));
        unread.retain(|one| is_chosen(&one.0));
        if let ([], [first, ..]) = (&all[..], &compressed[..]) {
            return Err(Failure::line(format_args!("{first}: the member is compressed")));
        }
    }
    for name in compressed {
        say_line(format_args!("skipped: {name}: the member is compressed"));
    }
    Ok((all, unread.into_iter().map(|one| one.1).collect()))
}

/// Parts of a file.
#[derive(Default)]
struct Found {
    all: Vec<Inside>,
    /// Names of compressed members.
    compressed: Vec<String>,
    /// Names and failures of parts that cannot be read.
    unread: Vec<(String, Failure)>,
}

impl Found {
    /// Adds a part, and those in it.
    fn expand(&mut self, file: &Path, name: String, bytes: Contents, depth: u32) {
        let Some((found, errors)) = (depth > 0).then(|| readable_members(&bytes)).flatten() else {
            return self.all.push(Inside { name, bytes });
        };
        for error in errors {
            let part = error.at().section.as_deref().map_or(name.clone(), |part| format!("{name}({part})"));
            self.unread.push((part, of(Path::new(&name))(error)));
        }
        let found: Vec<_> = found
            .into_iter()
            .map(|one| (one.name, one.bytes.map(|bytes| bytes.into_owned()), one.is_compressed))
            .collect();
        let outer = name.clone();
        if bytes.starts_with(b"\x7fELF") {
            self.all.push(Inside { name, bytes });
        }
        for (member, bytes, is_compressed) in found {
            let name = format!("{outer}({member})");
            match bytes {
                Some(bytes) => self.expand(file, name, Contents::Bytes(bytes), depth - 1),
                None if is_compressed => self.compressed.push(name),
                // A thin archive has names of files, relative to its own folder.
                None => match Contents::of_regular(&file.with_file_name(&member)) {
                    Ok(bytes) => self.expand(file, name, bytes, depth - 1),
                    Err(error) => self.unread.push((name.clone(), of(Path::new(&name))(error))),
                },
            }
        }
    }
}
