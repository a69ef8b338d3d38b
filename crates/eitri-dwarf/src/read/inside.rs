//! The objects in a file, through all containers around them.

use std::borrow::Cow;

use super::containers::{ContainerMember, readable_members};
use crate::error::{Error, Result};

/// Maximum nesting depth of containers.
const DEEPEST: u32 = 4;

/// A part of a file: the file itself, or a part of a [container](super::containers).
///
/// Exhaustive: a literal names all fields.
#[derive(Debug)]
pub struct InnerFile<'d> {
    /// Name: that of the file, or `outer(member)`.
    pub name: String,
    /// The part's bytes, or why there are none.
    pub contents: InnerContents<'d>,
}

/// Contents of a part of a file.
///
/// Exhaustive: a caller has to say what it does with each.
#[derive(Debug)]
pub enum InnerContents<'d> {
    /// Bytes that are no container, or a host object.
    Bytes(Cow<'d, [u8]>),
    /// Bytes compressed by the undocumented method in NVIDIA's fat binaries.
    Compressed,
    /// Bytes that cannot be read, with the name of the file or the member that the error is about.
    Unreadable(String, Error),
}

/// Returns the parts of a file that are no containers: the file itself, or the members of a container, of the containers
/// in it, and so on. A host object is a part, before its members.
///
/// * `name` – the file's name.
/// * `elsewhere` – reads a member of a thin archive by its name, which is relative to the archive's folder.
///
/// ```
/// use eitri_dwarf::read::{InnerContents, inner_files};
///
/// let header = format!("{:16}{:12}{:6}{:6}{:8}{:10}`\n", "kernel.o/", 0, 0, 0, 644, 4);
/// let archive = [b"!<arch>\n", header.as_bytes(), b"\x7fELF"].concat();
/// let files = inner_files("lib.a", &archive, &mut |_| unreachable!("the archive is not thin"));
/// assert_eq!(files.len(), 1);
/// assert_eq!(files[0].name, "lib.a(kernel.o)");
/// assert!(matches!(&files[0].contents, InnerContents::Bytes(bytes) if **bytes == *b"\x7fELF"));
/// ```
pub fn inner_files<'d>(
    name: &str,
    bytes: &'d [u8],
    elsewhere: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
) -> Vec<InnerFile<'d>> {
    let mut parts = Parts { all: Vec::new(), elsewhere };
    parts.add(name.to_owned(), bytes.into(), DEEPEST);
    parts.all
}

struct Parts<'d, 'e> {
    all: Vec<InnerFile<'d>>,
    elsewhere: &'e mut dyn FnMut(&str) -> Result<Vec<u8>>,
}

impl<'d> Parts<'d, '_> {
    /// Adds a part, or the parts in it.
    fn add(&mut self, name: String, bytes: Cow<'d, [u8]>, depth: u32) {
        let (members, errors) = match &bytes {
            _ if depth == 0 => return self.put(name, InnerContents::Bytes(bytes)),
            Cow::Borrowed(bytes) => match readable_members(bytes) {
                Some(found) => found,
                None => return self.put(name, InnerContents::Bytes(Cow::Borrowed(bytes))),
            },
            Cow::Owned(owned) => match readable_members(owned) {
                Some((members, errors)) => (members.into_iter().map(owned_member).collect(), errors),
                None => return self.put(name, InnerContents::Bytes(bytes)),
            },
        };
        for error in errors {
            let part = error.at().section.as_deref().map_or(name.clone(), |part| format!("{name}({part})"));
            self.put(part, InnerContents::Unreadable(name.clone(), error));
        }
        if bytes.starts_with(b"\x7fELF") {
            self.put(name.clone(), InnerContents::Bytes(bytes));
        }
        for ContainerMember { name: member, bytes, is_compressed } in members {
            let name = format!("{name}({member})");
            match bytes {
                Some(bytes) => self.add(name, bytes, depth - 1),
                None if is_compressed => self.put(name, InnerContents::Compressed),
                None => match (self.elsewhere)(&member) {
                    Ok(bytes) => self.add(name, bytes.into(), depth - 1),
                    Err(error) => self.put(name.clone(), InnerContents::Unreadable(name, error)),
                },
            }
        }
    }

    fn put(&mut self, name: String, contents: InnerContents<'d>) {
        self.all.push(InnerFile { name, contents });
    }
}

fn owned_member(member: ContainerMember<'_>) -> ContainerMember<'static> {
    let bytes = member.bytes.map(|bytes| Cow::Owned(bytes.into_owned()));
    ContainerMember { name: member.name, bytes, is_compressed: member.is_compressed }
}
