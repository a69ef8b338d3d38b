//! Members of archives, offload bundles and host objects, rewritten in their container.
//!
//! The other members keep their bytes. What depends on the sizes of members follows: offsets in symbol tables of
//! archives, the table of a bundle, with the alignment that its members have, and the section of a host object.

mod archive;
mod bundle;
mod host;
mod member;
mod package;

pub use member::NewMember;

use std::borrow::Cow;

use crate::error::Result;

/// Maximum nesting depth of containers.
const DEEPEST: u32 = 4;

/// Rewrites the objects in a file: the file itself, if it is not a container. A host object is an object, too.
///
/// * `name` – the file's name. A member is named `outer(member)`, as by
///   [`readable_members`](crate::read::containers::readable_members).
/// * `rewrite` – takes the name and the contents of an object.
///
/// # Errors
/// The errors of `rewrite`, and of [`members`](crate::read::containers::members);
/// [`Unsupported`](crate::error::ErrorKind::Unsupported) where a member that changes is in a thin archive, in a compressed
/// bundle, or does not fit a loaded section of a linked host object.
///
/// # Example
///
/// ```
/// use eitri::rewrite::rewrite_members;
///
/// // An archive with one member: a name, date, owner, group and mode, size, and the contents.
/// let mut archive = b"!<arch>\n".to_vec();
/// let header = format!("{:16}{:12}{:6}{:6}{:8}{:10}`\n", "kernel.o/", 0, 0, 0, 644, 4);
/// archive.extend(header.bytes());
/// archive.extend(b"four");
/// let mut names = Vec::new();
/// let new = rewrite_members("lib.a", &archive, &mut |name, _| {
///     names.push(name.to_owned());
///     Ok(Some(b"a longer member".to_vec()))
/// })?;
/// assert_eq!(names, ["lib.a(kernel.o)"]);
/// // Members begin at even offsets.
/// assert!(new.expect("the member is new").ends_with(b"15        `\na longer member\n"));
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn rewrite_members(name: &str, bytes: &[u8], rewrite: NewMember<'_>) -> Result<Option<Vec<u8>>> {
    inside(name, bytes, DEEPEST, rewrite)
}

/// Rewrites the objects in a part of a file. Returns `None` if nothing changes.
fn inside(name: &str, bytes: &[u8], depth: u32, rewrite: NewMember<'_>) -> Result<Option<Vec<u8>>> {
    let Some(depth) = depth.checked_sub(1) else { return rewrite(name, bytes) };
    let mut member = |part: &str, bytes: &[u8]| inside(&format!("{name}({part})"), bytes, depth, rewrite);
    if bytes.starts_with(archive::MAGIC) {
        archive::rewrite(bytes, &mut member)
    } else if bytes.starts_with(archive::THIN) {
        archive::refuse_thin(bytes)
    } else if bytes.starts_with(bundle::MAGIC) {
        let new = bundle::rewrite(bytes, &mut member)?;
        Ok(new.map(|(new, end)| [&new, &bytes[end..]].concat()))
    } else if bytes.starts_with(bundle::COMPRESSED) {
        bundle::refuse_compressed(bytes, &mut member)
    } else if bytes.starts_with(b"\x7fELF") {
        let new = host::rewrite(bytes, &mut member)?;
        let whole: Cow<'_, [u8]> = new.map_or(Cow::Borrowed(bytes), Cow::Owned);
        let new = rewrite(name, &whole)?;
        Ok(new.or(match whole {
            Cow::Owned(whole) => Some(whole),
            Cow::Borrowed(_) => None,
        }))
    } else {
        rewrite(name, bytes)
    }
}
