//! Contents of files.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use memmap2::MmapMut;

use super::{Failure, input, of};

/// Contents of a file or of a member.
pub enum Contents {
    Bytes(Vec<u8>),
    /// Memory that is not part of the heap: the system can use large pages for it. The contents are the first bytes, of
    /// this number.
    Pages(MmapMut, usize),
}

/// Number of bytes from which on pages pay off.
const LARGE: u64 = 4 << 20;

impl Contents {
    /// Reads a file; `-` is standard input.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        match pages(file) {
            Ok(Some(pages)) => Ok(pages),
            Ok(None) => input(file).map(Self::Bytes),
            Err(error) => Err(of(file)(error.into())),
        }
    }
}

/// Reads a large file. `None` for any other, and for one that grows.
fn pages(path: &Path) -> io::Result<Option<Contents>> {
    if path.as_os_str() == "-" {
        return Ok(None);
    }
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let Some(size) = usize::try_from(metadata.len()).ok().and_then(|size| size.checked_add(1)) else {
        return Ok(None);
    };
    if !metadata.is_file() || metadata.len() < LARGE {
        return Ok(None);
    }
    let mut pages = MmapMut::map_anon(size)?;
    // Without large pages, it takes more time.
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    let mut end = 0;
    while end < size {
        match file.read(&mut pages[end..]) {
            Ok(0) => return Ok(Some(Contents::Pages(pages, end))),
            Ok(count) => end += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Pages(pages, end) => &pages[..*end],
        }
    }
}
