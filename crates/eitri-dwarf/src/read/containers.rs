//! Files that contain objects: archives, clang's offload bundles, NVIDIA's fat binaries, and host objects that contain a
//! bundle or a fat binary in a section.
//!
//! | container | begins with | members |
//! |---|---|---|
//! | archive of GNU or BSD | `!<arch>` | all but the symbol table |
//! | thin archive | `!<thin>` | names of files beside it |
//! | offload bundle | `__CLANG_OFFLOAD_BUNDLE__` | all that are not empty |
//! | compressed offload bundle, versions 1 to 3 | `CCOB` | those of the bundle in it |
//! | fat binary of NVIDIA | `50 ed 55 ba` | cubins; compressed ones by name alone |
//! | host object | ELF | sections `.hip_fatbin`, `.llvm.offloading`, `.nv_fatbin`: objects; compressed cubins by name alone |
//!
//! ```
//! use eitri_dwarf::read::containers::members;
//!
//! // An archive with one member: a name, date, owner, group and mode, size, and the contents.
//! let mut archive = b"!<arch>\n".to_vec();
//! let header = format!("{:16}{:12}{:6}{:6}{:8}{:10}`\n", "kernel.o/", 0, 0, 0, 644, 4);
//! archive.extend(header.bytes());
//! archive.extend(b"\x7fELF");
//! let members = members(&archive)?.expect("a container");
//! assert_eq!(members[0].name, "kernel.o");
//! assert_eq!(members[0].bytes.as_deref(), Some(&b"\x7fELF"[..]));
//! # Ok::<(), eitri_dwarf::Error>(())
//! ```

use std::borrow::Cow;

use super::compress::{self, Budget};
use super::cursor::Cursor;
use super::elf::Object;
use crate::error::{Count, Error, ErrorKind, Result};

/// A member of a container.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerMember<'d> {
    /// Name in the container. U+FFFD replaces invalid UTF-8.
    pub name: String,
    /// Contents; `None` if they are compressed, and in a thin archive, where the name is a file name relative to the
    /// archive's folder.
    pub bytes: Option<Cow<'d, [u8]>>,
    /// Whether the contents are compressed by the undocumented method in NVIDIA's fat binaries.
    pub is_compressed: bool,
}

impl<'d> ContainerMember<'d> {
    fn new(name: String, bytes: Cow<'d, [u8]>) -> Self {
        Self { name, bytes: Some(bytes), is_compressed: false }
    }
}

const ARCHIVE: &[u8] = b"!<arch>\n";
const THIN: &[u8] = b"!<thin>\n";
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const COMPRESSED: &[u8] = b"CCOB";
const PACKAGE: &[u8] = &[0x10, 0xff, 0x10, 0xad];
const FAT_BINARY: &[u8] = &[0x50, 0xed, 0x55, 0xba];
const ELF: &[u8] = b"\x7fELF";
/// Maximum number of members in a container.
const MOST: usize = 1 << 20;

/// Returns a container's members; `None` if the bytes are not a container. A host object is a container if it has
/// members; it is not itself among them.
///
/// # Errors
/// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed), with the offset, where a header or a size
/// cannot be right; [`Unsupported`](ErrorKind::Unsupported) for an unknown version or method of compression;
/// [`TooLarge`](ErrorKind::TooLarge) if compressed bundles expand to more than 128 times the file's size, and more than
/// 64 MiB.
pub fn members(bytes: &[u8]) -> Result<Option<Vec<ContainerMember<'_>>>> {
    let Some((all, errors)) = readable_members(bytes) else { return Ok(None) };
    errors.into_iter().next().map_or(Ok(Some(all)), Err)
}

/// Returns the container members that can be read, and the [errors](members) of the rest: after an error, the rest of
/// the archive or bundle is left out, or the rest of the section in a host object.
pub fn readable_members(bytes: &[u8]) -> Option<(Vec<ContainerMember<'_>>, Vec<Error>)> {
    let mut members = Vec::new();
    let read = match bytes {
        _ if bytes.starts_with(ARCHIVE) => archive(bytes, false, &mut members),
        _ if bytes.starts_with(THIN) => archive(bytes, true, &mut members),
        _ if bytes.starts_with(BUNDLE) => bundle(bytes, &mut members).map(drop),
        _ if bytes.starts_with(COMPRESSED) => {
            compressed(bytes, &mut Budget::new(bytes.len()), &mut members).map(drop)
        }
        _ if bytes.starts_with(FAT_BINARY) => fat_binaries(bytes, &mut members),
        _ if bytes.starts_with(ELF) => {
            // Reading the object has the error about its sections.
            let errors = host(bytes, &mut members).ok()?;
            return (!members.is_empty() || !errors.is_empty()).then_some((members, errors));
        }
        _ => return None,
    };
    Some((members, read.err().into_iter().collect()))
}

fn malformed(from: &Cursor<'_>, offset: u64, text: &str) -> Error {
    from.error(ErrorKind::Malformed(text.into()), offset)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads an archive's members. System V ABI, chapter 7; the GNU and BSD variants differ in long names.
fn archive<'d>(bytes: &'d [u8], is_thin: bool, all: &mut Vec<ContainerMember<'d>>) -> Result<()> {
    const WHAT: &str = "a member of the archive";
    let mut from = Cursor::new("", bytes, false).at(8, WHAT)?;
    let mut long: &[u8] = &[];
    while !from.is_at_end() {
        let position = from.offset();
        let header = from.take(60, WHAT)?;
        if header[58..] != *b"`\n" {
            return Err(malformed(
                &from,
                position,
                "member header does not end in a grave accent and a line feed",
            ));
        }
        let size = header[48..58].trim_ascii();
        let size = std::str::from_utf8(size).ok().and_then(|size| size.parse::<u64>().ok());
        let Some(size) = size else { return Err(malformed(&from, position, "member size is not a number")) };
        let name = header[..16].trim_ascii_end();
        let is_table = matches!(name, b"/" | b"/SYM64/" | b"//");
        let mut data = if is_thin && !is_table { &[][..] } else { from.take(size, WHAT)? };
        if (!is_thin || is_table) && !size.is_multiple_of(2) && !from.is_at_end() {
            from.take(1, WHAT)?;
        }
        let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse::<usize>().ok();
        let name = match name {
            b"//" => {
                long = data;
                continue;
            }
            b"/" | b"/SYM64/" => continue,
            [b'/', digits @ ..] => {
                let rest = number(digits).and_then(|start| long.get(start..));
                let rest =
                    rest.ok_or_else(|| malformed(&from, position, "long name is not in the name table"))?;
                let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let name = &rest[..end];
                name.strip_suffix(b"/").unwrap_or(name)
            }
            [b'#', b'1', b'/', digits @ ..] => {
                let split = number(digits).and_then(|length| data.split_at_checked(length));
                let (name, rest) = split
                    .ok_or_else(|| malformed(&from, position, "member is shorter than its long name"))?;
                data = rest;
                let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
                &name[..end]
            }
            name => name.strip_suffix(b"/").unwrap_or(name),
        };
        if name.starts_with(b"__.SYMDEF") {
            continue;
        }
        let bytes = (!is_thin).then_some(Cow::Borrowed(data));
        all.push(ContainerMember { name: text(name), bytes, is_compressed: false });
        if all.len() > MOST {
            return Err(malformed(&from, position, &format!("archive has more than {MOST} members")));
        }
    }
    Ok(())
}

/// Reads the members of an offload bundle. Returns its size in bytes. Clang documentation, "Clang Offload Bundler".
fn bundle<'d>(bytes: &'d [u8], all: &mut Vec<ContainerMember<'d>>) -> Result<usize> {
    const WHAT: &str = "the table of the offload bundle";
    let mut from = Cursor::new("", bytes, false).at(BUNDLE.len() as u64, WHAT)?;
    let count = from.uint(8, WHAT)?;
    let mut end = 0;
    let mut sum = 0;
    for _ in 0..count {
        let position = from.offset();
        let offset = from.uint(8, WHAT)?;
        let size = from.uint(8, WHAT)?;
        let length = from.uint(8, WHAT)?;
        let name = from.take(length, WHAT)?;
        let start = usize::try_from(offset).ok();
        let data = start
            .zip(usize::try_from(size).ok())
            .and_then(|(start, size)| bytes.get(start..start.checked_add(size)?));
        let data = data.ok_or_else(|| malformed(&from, position, "member exceeds the bundle"))?;
        end = end.max(offset as usize + data.len());
        sum += data.len();
        if sum > bytes.len() {
            return Err(malformed(&from, position, "members overlap: together they exceed the bundle"));
        }
        if !data.is_empty() {
            all.push(ContainerMember::new(text(name), Cow::Borrowed(data)));
        }
    }
    Ok(end.max(from.offset() as usize))
}

/// Reads the members of a compressed bundle. Returns its size in bytes.
fn compressed(bytes: &[u8], budget: &mut Budget, all: &mut Vec<ContainerMember<'_>>) -> Result<usize> {
    const WHAT: &str = "the header of the compressed offload bundle";
    let mut from = Cursor::new("", bytes, false).at(COMPRESSED.len() as u64, WHAT)?;
    let version = from.u16(WHAT)?;
    let method = from.u16(WHAT)?;
    let (total, size) = match version {
        1 => (None, from.uint(4, WHAT)?),
        2 => (Some(from.uint(4, WHAT)?), from.uint(4, WHAT)?),
        3 => (Some(from.uint(8, WHAT)?), from.uint(8, WHAT)?),
        _ => {
            let text = format!("unsupported version {version} of a compressed offload bundle");
            return Err(from.error(ErrorKind::Unsupported(text), 4));
        }
    };
    // A hash of an unstated algorithm.
    from.uint(8, WHAT)?;
    let total = total.map_or(Some(bytes.len()), |total| usize::try_from(total).ok());
    let data = total.and_then(|total| bytes.get(from.offset() as usize..total));
    let data = data.ok_or_else(|| malformed(&from, 8, "compressed offload bundle exceeds the file"))?;
    let expanded = compress::bundle(method, data, size, budget)?;
    let mut members = Vec::new();
    let read = bundle(&expanded, &mut members);
    all.extend(members.into_iter().map(|member| ContainerMember {
        name: member.name,
        bytes: member.bytes.map(|bytes| Cow::Owned(bytes.into_owned())),
        is_compressed: false,
    }));
    read.map(|_| total.unwrap_or(bytes.len()))
}

/// Reads a host object's members. Returns the errors in its sections.
fn host<'d>(bytes: &'d [u8], all: &mut Vec<ContainerMember<'d>>) -> Result<Vec<Error>> {
    let mut errors = Vec::new();
    let budget = &mut Budget::new(bytes.len());
    // Only sections matter here, because the object's debug sections can be unreadable.
    for (name, data) in Object::raw_sections(bytes)? {
        let read = match &*name {
            ".hip_fatbin" => bundles(data, true, budget, all),
            // Addresses of bundles, in a linked program.
            ".hipFatBinSegment" => bundles(data, false, budget, all),
            ".llvm.offloading" => packages(data, all),
            ".nv_fatbin" | "__nv_relfatbin" => fat_binaries(data, all),
            _ => continue,
        };
        errors.extend(read.err().map(|error| error.in_section(&name)));
    }
    Ok(errors)
}

/// Reads consecutive bundles, each aligned to a page. `is_only` is set if the section contains nothing else but
/// padding.
fn bundles<'d>(
    data: &'d [u8],
    is_only: bool,
    budget: &mut Budget,
    all: &mut Vec<ContainerMember<'d>>,
) -> Result<()> {
    let mut position = 0;
    // The next bundle starts at the next occurrence of its first bytes.
    let is_first = |four: &[u8]| four == &BUNDLE[..4] || four == COMPRESSED;
    let next = |position: usize| {
        data.get(position..)?.windows(4).position(is_first).map(|distance| position + distance)
    };
    while let Some(start) = next(position) {
        let rest = &data[start..];
        position = start
            + match rest {
                _ if rest.starts_with(BUNDLE) => bundle(rest, all)?,
                _ if rest.starts_with(COMPRESSED) => compressed(rest, budget, all)?,
                _ => 1,
            };
    }
    if is_only
        && position == 0
        && let Some(first) = data.iter().position(|byte| *byte != 0)
    {
        let four = &data[first..data.len().min(first + 4)];
        let text = format!(
            "offload bundle begins with {four:02x?}; expected {:02x?} or {COMPRESSED:02x?}",
            &BUNDLE[..4]
        );
        return Err(malformed(&Cursor::new("", data, false), first as u64, &text));
    }
    Ok(())
}

/// Reads the images of LLVM's offload binaries.
fn packages<'d>(data: &'d [u8], all: &mut Vec<ContainerMember<'d>>) -> Result<()> {
    const WHAT: &str = "an offload binary";
    let mut binaries = Cursor::new("", data, false);
    while skip_zeros(&mut binaries, PACKAGE, WHAT)? {
        let start = binaries.offset();
        let whole = binaries.rest();
        let mut from = Cursor::new("", whole, false).at(4, WHAT)?;
        let version = from.u32(WHAT)?;
        if version != 1 {
            let text = format!("unsupported version {version} of an offload binary");
            return Err(from.error(ErrorKind::Unsupported(text), start + 4));
        }
        let size = from.uint(8, WHAT)?;
        if size > whole.len() as u64 {
            return Err(from.truncated(WHAT));
        }
        let entry = from.uint(8, WHAT)?;
        let mut from = Cursor::new("", &whole[..size as usize], false);
        from = from.at(entry, WHAT)?;
        from.take(8, WHAT)?;
        let strings = from.uint(8, WHAT)?;
        let count = from.uint(8, WHAT)?;
        let image = from.uint(8, WHAT)?;
        let bytes = from.uint(8, WHAT)?;
        let mut table = from.at(strings, WHAT)?;
        let mut name = Vec::new();
        for _ in 0..count.min(MOST as u64) {
            let key = table.uint(8, WHAT)?;
            let value = table.uint(8, WHAT)?;
            let key = from.at(key, WHAT)?.string(WHAT)?;
            if matches!(key, b"triple" | b"arch") {
                name.push(text(from.at(value, WHAT)?.string(WHAT)?));
            }
        }
        name.sort_by_key(|part| !part.contains('-'));
        let mut inside = from.at(image, WHAT)?;
        let contents = inside.take(bytes, WHAT)?;
        if !contents.is_empty() {
            all.push(ContainerMember::new(name.join("-"), Cow::Borrowed(contents)));
        }
        // The image is the last part; if there is none, all bytes after the first belong to other parts.
        let end = (inside.offset() as usize).max(PACKAGE.len());
        if let Some(next) = memchr::memmem::find(&whole[end..size as usize], PACKAGE) {
            let text = format!("offload binary of size {size:#x} contains another offload binary");
            return Err(malformed(&from, start + (end + next) as u64, &text));
        }
        // At least the entry, which is in it: the loop ends.
        binaries.take(size, WHAT)?;
    }
    Ok(())
}

/// Reads the cubins of NVIDIA's fat binaries.
fn fat_binaries<'d>(data: &'d [u8], all: &mut Vec<ContainerMember<'d>>) -> Result<()> {
    const WHAT: &str = "a fat binary";
    let mut from = Cursor::new("", data, false);
    // Aligned to eight bytes.
    while skip_zeros(&mut from, FAT_BINARY, WHAT)? {
        let start = from.offset();
        from.take(6, WHAT)?;
        let header = u64::from(from.u16(WHAT)?);
        let size = from.uint(8, WHAT)?;
        let read = from.offset();
        let mut inside = from.at(start + header, WHAT)?;
        if inside.offset() < read {
            let text = format!("fat binary header has {}; expected at least 16", Count(header, "byte"));
            return Err(malformed(&inside, start, &text));
        }
        let end = inside.offset().saturating_add(size);
        while inside.offset() < end {
            let start = inside.offset();
            let kind = inside.u16(WHAT)?;
            inside.take(2, WHAT)?;
            let header = inside.u32(WHAT)?;
            let size = inside.uint(8, WHAT)?;
            inside.take(12, WHAT)?;
            let sm = inside.u32(WHAT)?;
            inside = inside.at(start + u64::from(header), WHAT)?;
            let data = inside.take(size, WHAT)?;
            // Kind 2 is a cubin, kind 1 is PTX. A cubin that is compressed does not begin with the mark of ELF.
            if kind == 2 {
                let is_compressed = !data.starts_with(ELF);
                let bytes = (!is_compressed).then_some(Cow::Borrowed(data));
                all.push(ContainerMember { name: format!("sm_{sm}"), bytes, is_compressed });
            }
            if inside.offset() <= start {
                return Err(malformed(&inside, start, "fat binary has no header"));
            }
        }
        from = inside.at(end, WHAT)?;
    }
    Ok(())
}

/// Skips zeros up to the next container, which begins with these bytes; `false` at the end.
fn skip_zeros(from: &mut Cursor<'_>, begins: &[u8], item: &'static str) -> Result<bool> {
    let padding = from.rest().iter().take_while(|byte| **byte == 0).count();
    from.take(padding as u64, item)?;
    let rest = from.rest();
    if !rest.is_empty() && !rest.starts_with(begins) {
        let first = &rest[..rest.len().min(4)];
        let text = format!("{item} begins with {first:02x?}; expected {begins:02x?}");
        return Err(malformed(from, from.offset(), &text));
    }
    Ok(!rest.is_empty())
}
