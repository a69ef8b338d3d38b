//! Offload bundles: Clang documentation, "Clang Offload Bundler".

use super::member::NewMember;
use crate::error::{Error, ErrorKind, Result};

pub(super) const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
pub(super) const COMPRESSED: &[u8] = b"CCOB";
/// Largest alignment of members: `-bundle-align` of the bundler in compilers for HIP.
const MOST_ALIGN: usize = 4096;

/// A row of the table.
struct Row {
    /// Position of the row: offset, size, length of the name, and the name.
    at: usize,
    start: usize,
    size: usize,
    name: String,
    new: Option<Vec<u8>>,
}

/// Rewrites the members of a bundle at the start of some bytes. Returns the bundle up to the end of its last member, and the
/// size of the original, after which other bytes can follow.
pub(super) fn rewrite(bytes: &[u8], rewrite: NewMember<'_>) -> Result<Option<(Vec<u8>, usize)>> {
    let (mut rows, table) = rows(bytes)?;
    for row in rows.iter_mut().filter(|row| row.size > 0) {
        row.new = rewrite(&row.name, &bytes[row.start..row.start + row.size])?;
    }
    if rows.iter().all(|row| row.new.is_none()) {
        return Ok(None);
    }
    let end = rows.iter().map(|row| row.start + row.size).fold(table, usize::max);
    // Members keep the alignment that they all have.
    let starts = rows.iter().filter(|row| row.size > 0).map(|row| row.start);
    let align =
        1 << starts.fold(MOST_ALIGN.trailing_zeros(), |align, start| align.min(start.trailing_zeros()));
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&index| rows[index].start);
    let mut out = bytes[..table].to_vec();
    let mut last = 0;
    for &index in &order {
        let row = &rows[index];
        if row.start < last {
            let text = "members of the offload bundle overlap; expected separate members";
            return Err(Error::from(ErrorKind::Unsupported(text.into())).at_offset(row.at as u64));
        }
        last = row.start + row.size;
        if row.size == 0 && row.start < table {
            continue;
        }
        out.resize(out.len().next_multiple_of(align), 0);
        let contents = row.new.as_deref().unwrap_or(&bytes[row.start..row.start + row.size]);
        let fields = [out.len(), contents.len()].map(|number| (number as u64).to_le_bytes()).concat();
        out[row.at..row.at + 16].copy_from_slice(&fields);
        out.extend_from_slice(contents);
    }
    Ok(Some((out, end)))
}

/// Reads the table, and returns its end.
fn rows(bytes: &[u8]) -> Result<(Vec<Row>, usize)> {
    let truncated = || Error::from(ErrorKind::Truncated("the table of the offload bundle".into()));
    let number = |at: usize| {
        let field: Option<[u8; 8]> = at.checked_add(8).and_then(|end| bytes.get(at..end)?.try_into().ok());
        let number = u64::from_le_bytes(field.ok_or_else(truncated)?);
        usize::try_from(number).map_err(|_| truncated())
    };
    let count = number(MAGIC.len())?;
    let mut at = MAGIC.len() + 8;
    let mut rows = Vec::new();
    for _ in 0..count {
        let [start, size, length] = [number(at)?, number(at + 8)?, number(at + 16)?];
        let name =
            (at + 24).checked_add(length).and_then(|end| bytes.get(at + 24..end)).ok_or_else(truncated)?;
        let name = String::from_utf8_lossy(name).into_owned();
        if start.checked_add(size).is_none_or(|end| end > bytes.len()) {
            return Err(Error::malformed("member exceeds the bundle").at_offset(at as u64));
        }
        rows.push(Row { at, start, size, name, new: None });
        at += 24 + length;
    }
    Ok((rows, at))
}

/// Refuses to change a compressed bundle.
pub(super) fn refuse_compressed(bytes: &[u8], rewrite: NewMember<'_>) -> Result<Option<Vec<u8>>> {
    for member in crate::read::containers::members(bytes)?.unwrap_or_default() {
        let Some(contents) = member.bytes.as_deref() else { continue };
        if rewrite(&member.name, contents)?.is_some() {
            let text = "the offload bundle is compressed; expected a bundle without compression";
            return Err(ErrorKind::Unsupported(text.into()).into());
        }
    }
    Ok(None)
}
