//! Headers of Mercury code: sections `.nv.capmerc.text.*` of a cubin for sm_100 and later.

use std::borrow::Cow;

use crate::error::{Count, ErrorKind, Result};
use crate::read::Object;
use crate::read::cursor::Cursor;

const WHAT: &str = "the header of Mercury code";
/// Prefix of a code section's name in [`Object::read_mercury`].
const CODE: &str = ".text.";
/// Section number and two words.
const HEADER: u64 = 12;

/// Mercury code of a function, from which nvlink and the driver make the function's code again. NVIDIA documents only
/// that it exists; the fields are known from ptxas's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MercuryCode<'o> {
    /// Section index in the file.
    pub section: usize,
    /// Name of the function: what follows `.nv.capmerc.text.` in the section's name.
    pub function: &'o str,
    /// Index of the section with the function's code. nvlink refuses another index.
    pub text: u32,
    /// Word after the index: 0xc0000001 in the output of ptxas 13.
    pub kind: u32,
    /// Number of bits in the map after the header: one or two more than the function has Mercury instructions.
    pub bits: u32,
}

impl<'o> MercuryCode<'o> {
    /// Reads the headers in [Mercury copies](Object::read_mercury), in the file's order.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) for a header that is cut, and [`Malformed`](ErrorKind::Malformed) for a map that
    /// is longer than the section, with section and offset.
    pub fn all(copies: &'o Object<'_>) -> impl Iterator<Item = Result<Self>> {
        let is_code = |name: &str| name.starts_with(CODE);
        let sections = copies.sections().iter().enumerate().filter(move |(_, it)| is_code(&it.name));
        sections.filter(|_| copies.is_mercury()).map(|(index, section)| {
            let function = section.name.strip_prefix(CODE).unwrap_or_default();
            read(index, function, &section.data)
                .map_err(|error| error.in_section(&format!(".nv.capmerc{}", section.name)).at_offset(0))
        })
    }

    /// Returns the name of the section in the file.
    pub fn section_name(&self) -> Cow<'static, str> {
        format!(".nv.capmerc{CODE}{}", self.function).into()
    }
}

fn read<'o>(section: usize, function: &'o str, data: &'o [u8]) -> Result<MercuryCode<'o>> {
    // Cubins are little-endian.
    let mut from = Cursor::new("", data, false);
    let code = MercuryCode {
        section,
        function,
        text: from.u32(WHAT)?,
        kind: from.u32(WHAT)?,
        bits: from.u32(WHAT)?,
    };
    let bytes = u64::from(code.bits).div_ceil(8);
    if bytes > from.rest().len() as u64 {
        let text = format!("{WHAT}: the section has no room for {}", Count(code.bits, "bit"));
        return Err(from.error(ErrorKind::Malformed(text), HEADER - 4));
    }
    Ok(code)
}
