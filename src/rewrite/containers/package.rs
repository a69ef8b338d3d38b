//! LLVM's offload binaries: Clang documentation, "Offload Binary". A header, an entry, strings, and the image.

use super::member::NewMember;
use crate::error::{Error, ErrorKind, Result};

const MAGIC: &[u8] = &[0x10, 0xff, 0x10, 0xad];
/// Alignment of binaries in bytes.
const ALIGN: usize = 8;

/// Rewrites the images in a section.
pub(super) fn rewrite(data: &[u8], names: &[String], rewrite: NewMember<'_>) -> Result<Option<Vec<u8>>> {
    let mut names = names.iter();
    let mut out = Vec::new();
    let mut is_new = false;
    let mut at = 0;
    while at < data.len() {
        if !data[at..].starts_with(MAGIC) {
            // Padding between binaries; the reader has refused anything else.
            out.push(data[at]);
            at += 1;
            continue;
        }
        let start = at;
        let truncated =
            || Error::from(ErrorKind::Truncated("an offload binary".into())).at_offset(start as u64);
        let number = |position: usize| {
            let field: Option<[u8; 8]> =
                data.get(start + position..start + position + 8).and_then(|f| f.try_into().ok());
            let number = u64::from_le_bytes(field.ok_or_else(truncated)?);
            usize::try_from(number).ok().filter(|&number| number <= data.len()).ok_or_else(truncated)
        };
        let size = number(8)?;
        let entry = number(16)?;
        let image = number(entry + 24)?;
        let bytes = number(entry + 32)?;
        let binary =
            data.get(start..start + size).filter(|binary| !binary.is_empty()).ok_or_else(truncated)?;
        at += size;
        let contents = binary.get(image..image + bytes).ok_or_else(truncated)?;
        // An empty image is not a member.
        let name = if contents.is_empty() { None } else { names.next() };
        let new = name.map(|name| rewrite(name, contents)).transpose()?.flatten();
        let Some(new) = new else {
            out.extend_from_slice(binary);
            continue;
        };
        if binary[image + bytes..].iter().any(|&byte| byte != 0) {
            let text = "offload binary continues after its image; expected the image last";
            return Err(ErrorKind::Unsupported(text.into()).into());
        }
        is_new = true;
        let start = out.len();
        out.extend_from_slice(&binary[..image]);
        out.extend_from_slice(&new);
        out.resize(start + (out.len() - start).next_multiple_of(ALIGN), 0);
        let size = (out.len() - start) as u64;
        out[start + 8..start + 16].copy_from_slice(&size.to_le_bytes());
        let field = start + entry + 32;
        out[field..field + 8].copy_from_slice(&(new.len() as u64).to_le_bytes());
    }
    Ok(is_new.then_some(out))
}
