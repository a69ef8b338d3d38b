//! Files that an object names: that with its debug information, and that with a part which several objects share.

use super::cursor::Cursor;
use super::elf::Object;
use crate::error::{Error, Result};

/// Files that an object names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Companions {
    /// Whether the object has debug information.
    pub has_debug_information: bool,
    /// Name of the file that contains the debug information, and the CRC-32 of the contents: `.gnu_debuglink`.
    pub debug_link: Option<(String, u32)>,
    /// Id that the file with the debug information has, too: `.note.gnu.build-id`.
    pub build_id: Option<Vec<u8>>,
    /// Name of the supplementary file, to which forms such as `DW_FORM_strp_sup` and `DW_FORM_GNU_strp_alt` refer, and
    /// its checksum: `.debug_sup` (DWARF 5 section 7.3.6), or the build id in dwz's `.gnu_debugaltlink`.
    pub supplementary: Option<(String, Vec<u8>)>,
    /// Checksum of the file itself, if it is a supplementary file: `.debug_sup`.
    pub checksum: Option<Vec<u8>>,
}

/// `NT_GNU_BUILD_ID`.
const BUILD_ID: u64 = 3;

impl Companions {
    /// Reads the names in an ELF file. A section that is malformed names no file.
    ///
    /// # Errors
    /// The errors that [`Object::read`] returns for the header and the section table.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let sections = Object::raw_sections(bytes)?;
        let sections = sections.iter().map(|(name, data)| (&**name, *data));
        Ok(Self::of_sections(sections, bytes.get(5) == Some(&2)))
    }

    /// Reads the names in the sections of an ELF file.
    pub(super) fn of_sections<'s>(
        sections: impl Iterator<Item = (&'s str, &'s [u8])>,
        big_endian: bool,
    ) -> Self {
        let mut companions = Self::default();
        for (name, data) in sections {
            let cursor = |name| Cursor::new(name, data, big_endian);
            match name {
                ".debug_info" | ".zdebug_info" | ".debug_info.dwo" | ".debug_types" | ".debug_line" => {
                    companions.has_debug_information |= !data.is_empty();
                }
                ".gnu_debuglink" => companions.debug_link = debug_link(cursor(".gnu_debuglink")).ok(),
                ".note.gnu.build-id" => companions.build_id = build_id(cursor(".note.gnu.build-id")).ok(),
                ".gnu_debugaltlink" => {
                    let mut from = cursor(".gnu_debugaltlink");
                    let name = text(&mut from).ok();
                    companions.supplementary = name.map(|name| (name, from.take_rest().to_vec()));
                }
                ".debug_sup" => match supplementary(cursor(".debug_sup")) {
                    Ok((true, _, checksum)) => companions.checksum = Some(checksum),
                    Ok((false, name, checksum)) => companions.supplementary = Some((name, checksum)),
                    Err(_) => {}
                },
                _ => {}
            }
        }
        companions
    }

    /// Checks that a file is the supplementary file of this object.
    ///
    /// # Errors
    /// [`Malformed`](crate::error::ErrorKind::Malformed) if the object names no such file, or names it with a different
    /// checksum or build id.
    pub fn check_supplementary(&self, file: &Self) -> Result<()> {
        let Some((_, expected)) = &self.supplementary else {
            return Err(Error::malformed("the object names no supplementary file"));
        };
        let ids = [&file.checksum, &file.build_id].into_iter().flatten();
        if ids.clone().any(|id| id == expected) {
            return Ok(());
        }
        let id = ids.map(|id| hexadecimal(id)).next().unwrap_or_else(|| "none".into());
        let expected = hexadecimal(expected);
        let text = format!("supplementary file has id {id}; expected {expected}");
        Err(Error::malformed(text))
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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

/// Reads the contents of the first note with GNU's type.
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

/// Reads whether the file is the supplementary file, or else the name of that file, and the checksum.
fn supplementary(mut from: Cursor<'_>) -> Result<(bool, String, Vec<u8>)> {
    from.u16("a version")?;
    let is_supplementary = from.u8("a flag")? != 0;
    let name = text(&mut from)?;
    let size = from.uleb("a checksum")?;
    Ok((is_supplementary, name, from.take(size, "a checksum")?.to_vec()))
}
