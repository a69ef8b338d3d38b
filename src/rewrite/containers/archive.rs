//! Archives: System V ABI, chapter 7, and the variants of GNU and BSD, which differ in long names and symbol tables.

use super::member::NewMember;
use crate::error::{Error, ErrorKind, Result};

pub(super) const MAGIC: &[u8] = b"!<arch>\n";
pub(super) const THIN: &[u8] = b"!<thin>\n";
/// Size of a member's header in bytes.
const HEADER: usize = 60;
/// The decimal size of the contents in a header.
const SIZE: core::ops::Range<usize> = 48..58;

/// A member: a header, with the long name of a BSD archive, and contents.
struct Member<'d> {
    offset: usize,
    header: &'d [u8],
    long_name: &'d [u8],
    contents: &'d [u8],
    kind: Kind,
    new: Option<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    /// The table of long names.
    Names,
    /// A symbol table with offsets of members of this size: a count, offsets and names, most significant byte first.
    Gnu {
        bytes: usize,
    },
    /// A symbol table with pairs of a name and a member's offset, after the size of the pairs, least significant byte
    /// first.
    Bsd {
        bytes: usize,
    },
}

impl Member<'_> {
    fn contents(&self) -> &[u8] {
        self.new.as_deref().unwrap_or(self.contents)
    }

    /// Size without the padding.
    fn bytes(&self) -> usize {
        HEADER + self.long_name.len() + self.contents().len()
    }
}

/// Rewrites the members of an archive.
pub(super) fn rewrite(bytes: &[u8], rewrite: NewMember<'_>) -> Result<Option<Vec<u8>>> {
    // The reader has the errors of malformed archives.
    let Some(known) = crate::read::containers::members(bytes)? else { return Ok(None) };
    let mut known = known.into_iter();
    let mut members = split(bytes)?;
    for member in &mut members {
        if member.kind == Kind::Object
            && let Some(named) = known.next()
        {
            member.new = rewrite(&named.name, member.contents)?;
        }
    }
    if members.iter().all(|member| member.new.is_none()) {
        return Ok(None);
    }
    let mut moved = Vec::with_capacity(members.len());
    let mut end = MAGIC.len();
    for member in &members {
        moved.push((member.offset as u64, end as u64));
        end = (end + member.bytes()).next_multiple_of(2);
    }
    for member in &mut members {
        if let Kind::Gnu { .. } | Kind::Bsd { .. } = member.kind {
            member.new = Some(table(member, &moved)?);
        }
    }
    let mut out = MAGIC.to_vec();
    for member in &members {
        let start = out.len();
        out.extend_from_slice(member.header);
        if member.new.is_some() {
            let size = format!("{:<10}", member.long_name.len() + member.contents().len());
            if size.len() > SIZE.len() {
                return Err(ErrorKind::TooLarge("archive member exceeds 10 digits".into()).into());
            }
            out[start + SIZE.start..start + SIZE.end].copy_from_slice(size.as_bytes());
        }
        out.extend_from_slice(member.long_name);
        out.extend_from_slice(member.contents());
        if !out.len().is_multiple_of(2) {
            out.push(b'\n');
        }
    }
    Ok(Some(out))
}

/// Members of a thin archive are in other files.
pub(super) fn refuse_thin(_: &[u8]) -> Result<Option<Vec<u8>>> {
    let text = "the archive is thin; expected an archive that contains its members";
    Err(ErrorKind::Unsupported(text.into()).into())
}

/// Splits an archive, which the reader accepts, into members.
fn split(bytes: &[u8]) -> Result<Vec<Member<'_>>> {
    let mut members = Vec::new();
    let mut offset = MAGIC.len();
    while offset < bytes.len() {
        let truncated = || Error::from(ErrorKind::Truncated("a member of the archive".into()));
        let header = bytes.get(offset..offset + HEADER).ok_or_else(truncated)?;
        let size = number(&header[SIZE]).ok_or_else(|| Error::malformed("member size is not a number"))?;
        let start = offset + HEADER;
        let contents = start.checked_add(size).and_then(|end| bytes.get(start..end)).ok_or_else(truncated)?;
        let name = header[..16].trim_ascii_end();
        let long = name.strip_prefix(b"#1/").map(|digits| number(digits).unwrap_or(0).min(size));
        let (long_name, contents) = contents.split_at(long.unwrap_or(0));
        let kind = match name {
            b"/" => Kind::Gnu { bytes: 4 },
            b"/SYM64/" => Kind::Gnu { bytes: 8 },
            b"//" => Kind::Names,
            name => {
                let name = if long.is_some() { long_name } else { name };
                match name {
                    name if name.starts_with(b"__.SYMDEF_64") => Kind::Bsd { bytes: 8 },
                    name if name.starts_with(b"__.SYMDEF") => Kind::Bsd { bytes: 4 },
                    _ => Kind::Object,
                }
            }
        };
        members.push(Member { offset, header, long_name, contents, kind, new: None });
        offset = (start + size).next_multiple_of(2);
    }
    Ok(members)
}

fn number(digits: &[u8]) -> Option<usize> {
    core::str::from_utf8(digits.trim_ascii()).ok()?.parse().ok()
}

/// Returns a symbol table with the new offsets of members.
fn table(member: &Member<'_>, moved: &[(u64, u64)]) -> Result<Vec<u8>> {
    let mut table = member.contents.to_vec();
    let malformed =
        || Error::malformed("symbol table of the archive names no member").at_offset(member.offset as u64);
    let truncated = || Error::from(ErrorKind::Truncated("the symbol table of the archive".into()));
    let (bytes, fields, is_big) = match member.kind {
        Kind::Gnu { bytes } => {
            let count = table.get(..bytes).ok_or_else(truncated).map(|field| read(field, true))?;
            let count = usize::try_from(count).ok().filter(|&count| count <= table.len() / bytes);
            let count = count.ok_or_else(truncated)?;
            (bytes, (0..count).map(|index| (index + 1) * bytes).collect::<Vec<_>>(), true)
        }
        Kind::Bsd { bytes } => {
            let size = table.get(..bytes).ok_or_else(truncated).map(|field| read(field, false))?;
            let size =
                usize::try_from(size).ok().filter(|&size| size <= table.len()).ok_or_else(truncated)?;
            let pairs = size / (2 * bytes);
            (bytes, (0..pairs).map(|index| (2 * index + 2) * bytes).collect(), false)
        }
        Kind::Object | Kind::Names => return Ok(table),
    };
    for start in fields {
        let field = table.get_mut(start..start + bytes).ok_or_else(truncated)?;
        let old = read(field, is_big);
        let index = moved.binary_search_by_key(&old, |&(old, _)| old).map_err(|_| malformed())?;
        let new = moved[index].1.to_le_bytes();
        if new[bytes..].iter().any(|&byte| byte != 0) {
            let text = "archive needs offsets of more than 32 bits";
            return Err(ErrorKind::TooLarge(text.into()).into());
        }
        field.copy_from_slice(&new[..bytes]);
        if is_big {
            field.reverse();
        }
    }
    Ok(table)
}

fn read(field: &[u8], is_big: bool) -> u64 {
    let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    if is_big { field.iter().fold(0, add) } else { field.iter().rev().fold(0, add) }
}
