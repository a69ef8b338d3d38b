//! Host objects, which contain bundles and offload binaries in sections.

use super::member::NewMember;
use super::{bundle, package};
use crate::emit::elf::replace_contents;
use crate::error::{Count, Error, ErrorKind, Result};
use crate::read::Object;
use crate::read::containers::members;

/// Rewrites the members in a host object's sections.
pub(super) fn rewrite(bytes: &[u8], rewrite: NewMember<'_>) -> Result<Option<Vec<u8>>> {
    // Reading the object itself has the error about its sections.
    let Ok(sections) = Object::raw_sections(bytes) else { return Ok(None) };
    let mut new: Option<Vec<u8>> = None;
    for (name, data) in sections {
        let changed = match &*name {
            ".hip_fatbin" => bundles(data, rewrite),
            ".llvm.offloading" => packages(bytes, data, rewrite),
            _ => continue,
        };
        let Some(contents) = changed.map_err(|error| error.in_section(&name))? else { continue };
        let object = new.as_deref().unwrap_or(bytes);
        new = Some(replace_contents(object, &name, contents)?);
    }
    Ok(new)
}

/// Rewrites consecutive bundles, each of which keeps its start: a program has its address.
fn bundles(data: &[u8], rewrite: NewMember<'_>) -> Result<Option<Vec<u8>>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut compressed = Vec::new();
    let mut at = 0;
    while let Some(start) = next(data, at) {
        let rest = &data[start..];
        if rest.starts_with(bundle::MAGIC) {
            starts.push(start);
            at = start + size(rest)?;
        } else if rest.starts_with(bundle::COMPRESSED) {
            compressed.push(start);
            at = start + bundle::COMPRESSED.len();
        } else {
            at = start + 1;
        }
    }
    for start in compressed {
        bundle::refuse_compressed(&data[start..], rewrite)?;
    }
    let mut out = data.to_vec();
    let mut is_new = false;
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(data.len());
        let Some((mut new, _)) = bundle::rewrite(&data[start..end], rewrite)? else { continue };
        is_new = true;
        let room = end - start;
        let used = new.len();
        if used <= room {
            new.resize(room, 0);
        } else if end < data.len() {
            let used = Count(used, "byte");
            let text = format!("the rewritten bundle has {used}; expected at most {room}");
            return Err(Error::from(ErrorKind::Unsupported(text)).at_offset(start as u64));
        }
        out.truncate(start);
        out.extend_from_slice(&new);
        out.extend_from_slice(&data[end..]);
    }
    Ok(is_new.then_some(out))
}

/// Position of the next bundle.
fn next(data: &[u8], from: usize) -> Option<usize> {
    let is_first = |four: &[u8]| four == &bundle::MAGIC[..4] || four == bundle::COMPRESSED;
    data.get(from..)?.windows(4).position(is_first).map(|distance| from + distance)
}

/// Size of a bundle in bytes.
fn size(bytes: &[u8]) -> Result<usize> {
    let members = members(bytes)?.unwrap_or_default();
    let start = bytes.as_ptr().addr();
    let ends = members.iter().filter_map(|member| {
        let bytes = member.bytes.as_deref()?;
        (bytes.as_ptr().addr() + bytes.len()).checked_sub(start)
    });
    Ok(ends.max().unwrap_or(bundle::MAGIC.len()))
}

/// Rewrites offload binaries, whose names the reader has.
fn packages(object: &[u8], data: &[u8], rewrite: NewMember<'_>) -> Result<Option<Vec<u8>>> {
    let range = data.as_ptr_range();
    let names: Vec<String> = members(object)?
        .unwrap_or_default()
        .into_iter()
        .filter(|member| member.bytes.as_ref().is_some_and(|bytes| range.contains(&bytes.as_ptr())))
        .map(|member| member.name)
        .collect();
    package::rewrite(data, &names, rewrite)
}
