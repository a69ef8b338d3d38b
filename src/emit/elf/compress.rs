//! Compressed debug sections: `SHF_COMPRESSED`.

use object::{Endianness, elf};

use super::bytes::{set_u32, set_u64};
use super::image::Image;
use crate::error::{Error, Result};

/// Size in bytes of a compressed section's header, `Elf64_Chdr`: type, reserved, size, alignment.
const HEADER: usize = size_of::<elf::CompressionHeader64<Endianness>>();

/// Compression for debug sections.
///
/// The variants other than `None` require the feature `compress`. A section that would not get smaller stays
/// uncompressed. The same version of this crate and of its compressors gives the same bytes.
///
/// Specification: System V ABI, chapter 4, "Section Compression".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// zlib, `ELFCOMPRESS_ZLIB`: every reader of ELF files supports it.
    #[cfg(feature = "compress")]
    Zlib,
    /// Zstandard, `ELFCOMPRESS_ZSTD`: faster and smaller, but supported by recent readers only.
    #[cfg(feature = "compress")]
    Zstd,
}

impl Compression {
    /// Returns the method with a name: `none`, or with the feature `compress` `zlib` or `zstd`.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) for another name.
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "none" => Self::None,
            #[cfg(feature = "compress")]
            "zlib" => Self::Zlib,
            #[cfg(feature = "compress")]
            "zstd" => Self::Zstd,
            _ => {
                return Err(Error::bad_argument(format!(
                    "the compression is `{name}`; expected none, zlib or zstd"
                )));
            }
        })
    }

    /// The type for the header, and the compressed bytes; `None` without compression.
    #[cfg_attr(not(feature = "compress"), expect(unused_variables, reason = "nothing is compressed"))]
    fn packed(self, bytes: &[u8]) -> std::io::Result<Option<(elf::CompressionType, Vec<u8>)>> {
        match self {
            Self::None => Ok(None),
            #[cfg(feature = "compress")]
            Self::Zlib => {
                use std::io::Write;
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(bytes)?;
                Ok(Some((elf::ELFCOMPRESS_ZLIB, encoder.finish()?)))
            }
            #[cfg(feature = "compress")]
            Self::Zstd => {
                let packed = zstd::bulk::compress(bytes, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                Ok(Some((elf::ELFCOMPRESS_ZSTD, packed)))
            }
        }
    }
}

/// Compresses the image's new debug sections. Relocations stay unchanged, because their offsets count in the
/// uncompressed contents.
pub(super) fn compress(image: &mut Image<'_>, compression: Compression) -> Result<()> {
    let order = image.order;
    for section in image.sections.iter_mut().filter(|section| section.is_new && !section.is_loaded()) {
        if section.header.sh_type != elf::SHT_PROGBITS || !section.name.starts_with(b".debug_") {
            continue;
        }
        let packed = compression.packed(&section.contents);
        let packed = packed.map_err(|error| Error::from(error).in_section(&section.display_name()))?;
        let Some((kind, packed)) = packed else { continue };
        // Readers would spend time on a section that did not get smaller.
        if HEADER + packed.len() >= section.contents.len() {
            continue;
        }
        let mut bytes = vec![0; HEADER];
        set_u32(order, &mut bytes, 0, kind.0);
        set_u64(order, &mut bytes, 8, section.contents.len() as u64);
        set_u64(order, &mut bytes, 16, section.header.sh_addralign);
        bytes.extend(packed);
        section.replace(bytes);
        section.header.sh_flags |= elf::SHF_COMPRESSED;
        // The alignment is now the compression header's.
        section.header.sh_addralign = 8;
    }
    Ok(())
}
