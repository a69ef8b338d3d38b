//! Compressed debug sections: `SHF_COMPRESSED` with zlib or zstd, by the ELF specification ("Section Compression"), and
//! GNU's older `.zdebug_*` sections.
//!
//! The decompressed size is limited: by the section's header, and by [`Budget`] for the whole file.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::elf::{ElfSection, SectionCompression as Method};
use super::elf_header::File;
use crate::error::{Count, Error, ErrorKind, Result};

const SHF_COMPRESSED: u64 = 0x800;
const ELFCOMPRESS_ZLIB: u32 = 1;
const ELFCOMPRESS_ZSTD: u32 = 2;

/// Number of bytes to which the remaining sections may decompress.
pub(super) struct Budget(u64);

impl Budget {
    /// Returns the budget for a file of some size in bytes: 128 times the size, at least 64 MiB, at most 4 GiB. Debug sections from compilers rarely compress to less than
    /// a tenth, and a small file must not expand to gigabytes.
    pub(super) fn new(file_bytes: usize) -> Self {
        const MOST: u64 = 4 << 30;
        const SMALL_FILE: u64 = 64 << 20;
        Self((file_bytes as u64).saturating_mul(128).clamp(SMALL_FILE, MOST))
    }

    /// Takes the decompressed size of a section or bundle.
    fn take(&mut self, what: &str, bytes: u64) -> Result<()> {
        let Some(left) = self.0.checked_sub(bytes) else {
            let bytes = Count(bytes, "byte");
            let limit = Count(self.0, "byte");
            let text =
                format!("the {what} expands to {bytes:#x}; the limit for the rest of the file is {limit:#x}");
            return Err(Error::new(ErrorKind::TooLarge(text)));
        };
        self.0 = left;
        Ok(())
    }
}

/// Decompresses a debug section, and replaces its name `.zdebug_*` by the plain name. Does not change other sections.
pub(super) fn expand(section: &mut ElfSection<'_>, file: File, budget: &mut Budget) -> Result<()> {
    let is_flagged = section.flags & SHF_COMPRESSED != 0 && section.is_debug();
    if !is_flagged && !section.name.starts_with(".zdebug_") {
        return Ok(());
    }
    let name = section.name.clone();
    contents(section, is_flagged, file, budget).map_err(|error| error.in_section(&name))
}

fn contents(section: &mut ElfSection<'_>, is_flagged: bool, file: File, budget: &mut Budget) -> Result<()> {
    const WHAT: &str = "the header of a compressed section";
    let (method, size, from);
    if is_flagged {
        let word = if file.is_64 { 8 } else { 4 };
        let mut header = Cursor::new("", &section.data, file.big_endian);
        method = match header.u32(WHAT)? {
            ELFCOMPRESS_ZLIB => Method::Zlib,
            ELFCOMPRESS_ZSTD => Method::Zstd,
            other => {
                let text = format!("unsupported compression method {other}; expected zlib (1) or zstd (2)");
                return Err(Error::new(ErrorKind::Unsupported(text)));
            }
        };
        header.take(if file.is_64 { 4 } else { 0 }, WHAT)?;
        size = header.uint(word, WHAT)?;
        header.uint(word, WHAT)?;
        from = header.offset() as usize;
        section.flags &= !SHF_COMPRESSED;
    } else {
        // "ZLIB", and the size with its most significant byte first.
        let mut header = Cursor::new("", &section.data, true);
        section.name = section.name.replacen(".zdebug_", ".debug_", 1).into();
        if header.take(4, WHAT).ok() != Some(b"ZLIB") {
            return Ok(());
        }
        (method, size, from) = (Method::Zlib, header.uint(8, WHAT)?, 12);
    }
    budget.take("section", size)?;
    let expanded = run(method, &section.data[from..], size)?;
    if expanded.len() as u64 != size {
        let text = format!(
            "the section expands to {:#x} or more; expected {size:#x}, the size in its header",
            Count(expanded.len() as u64, "byte"),
            size = Count(size, "byte")
        );
        return Err(Error::malformed(text));
    }
    section.compression = Some(method);
    section.size = size;
    section.data = Cow::Owned(expanded);
    Ok(())
}

/// Decompresses to `size` bytes, or to one byte more if there are more.
#[cfg(feature = "zlib")]
fn run(method: Method, data: &[u8], size: u64) -> Result<Vec<u8>> {
    use std::io::Read;
    let mut out = Vec::new();
    let failed =
        |error: std::io::Error| Error::malformed(format!("the section cannot be decompressed: {error}"));
    let result = match method {
        Method::Zlib => flate2::read::ZlibDecoder::new(data).take(size + 1).read_to_end(&mut out),
        #[cfg(not(feature = "compress"))]
        Method::Zstd => return Err(unread(method)),
        #[cfg(feature = "compress")]
        Method::Zstd => {
            let decoder = zstd::stream::read::Decoder::with_buffer(data);
            decoder.map_err(failed)?.take(size + 1).read_to_end(&mut out)
        }
    };
    result.map_err(failed)?;
    Ok(out)
}

#[cfg(not(feature = "zlib"))]
fn run(method: Method, _: &[u8], _: u64) -> Result<Vec<u8>> {
    Err(unread(method))
}

#[cfg(not(feature = "compress"))]
fn unread(method: Method) -> Error {
    let text =
        format!("the section is compressed ({method:?}): cargo feature `compress` reads such sections");
    Error::new(ErrorKind::Unsupported(text))
}

/// Decompresses an offload bundle to the size in its header. The methods are LLVM's: 0 is zlib, 1 zstd.
pub(super) fn bundle(method: u16, data: &[u8], size: u64, budget: &mut Budget) -> Result<Vec<u8>> {
    let method = match method {
        0 => Method::Zlib,
        1 => Method::Zstd,
        other => {
            let text = format!("unsupported compression method {other}; expected zlib (0) or zstd (1)");
            return Err(Error::new(ErrorKind::Unsupported(text)));
        }
    };
    budget.take("offload bundle", size)?;
    let expanded = run(method, data, size)?;
    if expanded.len() as u64 != size {
        let text = "the bundle does not expand to the size in its header";
        return Err(Error::malformed(text));
    }
    Ok(expanded)
}
