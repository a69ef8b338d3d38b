//! Files that an object names: that with its debug information, and that with a part which several objects share.

use super::cursor::Cursor;
use super::elf::Object;
use crate::error::Result;

/// Files that an object names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Companions {
    /// Whether the object has debug information.
    pub has_debug_information: bool,
    /// Name of the file with the debug information, and the CRC-32 of its contents: `.gnu_debuglink`.
    pub debug_link: Option<(String, u32)>,
    /// Id that the file with the debug information has, too: `.note.gnu.build-id`.
    pub build_id: Option<Vec<u8>>,
    /// Name of the supplementary file, to which forms such as `DW_FORM_strp_sup` and `DW_FORM_GNU_strp_alt` refer:
    /// `.debug_sup` (DWARF 5 section 7.3.6), or `.gnu_debugaltlink` of dwz. The file is not read.
    pub supplementary: Option<String>,
}

/// `NT_GNU_BUILD_ID`.
const BUILD_ID: u64 = 3;

impl Companions {
    /// Reads the names in an ELF file. A section that is malformed names no file.
    ///
    /// # Errors
    /// The errors of [`Object::read`] for the header and the section table.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let big_endian = bytes.get(5) == Some(&2);
        let mut found = Self::default();
        for (name, data) in Object::raw_sections(bytes)? {
            let cursor = |name| Cursor::new(name, data, big_endian);
            match &*name {
                ".debug_info" | ".zdebug_info" | ".debug_info.dwo" | ".debug_types" | ".debug_line" => {
                    found.has_debug_information |= !data.is_empty();
                }
                ".gnu_debuglink" => found.debug_link = debug_link(cursor(".gnu_debuglink")).ok(),
                ".note.gnu.build-id" => found.build_id = build_id(cursor(".note.gnu.build-id")).ok(),
                ".gnu_debugaltlink" => {
                    found.supplementary = text(&mut cursor(".gnu_debugaltlink")).ok();
                }
                ".debug_sup" => found.supplementary = supplementary(cursor(".debug_sup")).ok().flatten(),
                _ => {}
            }
        }
        Ok(found)
    }
}

fn text(from: &mut Cursor<'_>) -> Result<String> {
    Ok(String::from_utf8_lossy(from.string("a file name")?).into_owned())
}

/// Reads a name, padded to a multiple of 4 bytes, and the sum.
fn debug_link(mut from: Cursor<'_>) -> Result<(String, u32)> {
    let name = text(&mut from)?;
    while !from.offset().is_multiple_of(4) {
        from.u8("padding")?;
    }
    Ok((name, from.u32("a sum")?))
}

/// Reads the contents of the first note of GNU's type.
fn build_id(mut from: Cursor<'_>) -> Result<Vec<u8>> {
    loop {
        let [name, size, kind] =
            [from.u32("a note")?, from.u32("a note")?, from.u32("a note")?].map(u64::from);
        let name = from.take(name.next_multiple_of(4), "a note")?;
        let contents = from.take(size.next_multiple_of(4), "a note")?;
        if kind == BUILD_ID && name.starts_with(b"GNU\0") {
            return Ok(contents[..size as usize].to_vec());
        }
    }
}

/// Reads the name of the supplementary file; `None` in that file.
fn supplementary(mut from: Cursor<'_>) -> Result<Option<String>> {
    from.u16("a version")?;
    let is_supplementary = from.u8("a flag")? != 0;
    let name = text(&mut from)?;
    Ok((!is_supplementary).then_some(name))
}
