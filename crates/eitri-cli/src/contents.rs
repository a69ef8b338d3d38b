//! File contents.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use eitri::error::ErrorKind;
use memmap2::MmapMut;

use super::output::open;
use super::{Failure, in_file, input};

/// Contents of a file or member.
pub enum Contents {
    Bytes(Vec<u8>),
    /// Memory beside the heap, for which the system can use large pages, and the number of bytes.
    Pages(MmapMut, usize),
}

/// Number of bytes from which large pages take less time.
const LARGE: u64 = 4 << 20;
/// Size of a large page in bytes.
const PAGE: usize = 2 << 20;

impl Contents {
    /// Reads a file; `-` is standard input.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        match pages(file) {
            Ok(Some((pages, size))) => Ok(Self::Pages(pages, size)),
            Ok(None) => input(file).map(Self::Bytes),
            Err(error) => Err(in_file(file)(error.into())),
        }
    }

    /// Reads a file that an object or archive names. It must be a regular file, because opening any other file can have
    /// an effect, and its end may never come.
    pub fn of_regular(file: &Path) -> eitri::Result<Self> {
        if !std::fs::metadata(file)?.is_file() {
            return Err(ErrorKind::BadArgument("not a regular file".into()).into());
        }
        Ok(match pages(file)? {
            Some((pages, size)) => Self::Pages(pages, size),
            None => {
                let mut bytes = Vec::new();
                open(file)?.read_to_end(&mut bytes)?;
                Self::Bytes(bytes)
            }
        })
    }
}

/// Reads a large file. `None` for any other.
fn pages(path: &Path) -> io::Result<Option<(MmapMut, usize)>> {
    if path.as_os_str() == "-" {
        return Ok(None);
    }
    // A pipe is opened once.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() < LARGE {
        return Ok(None);
    }
    let Ok(size) = usize::try_from(metadata.len()) else { return Ok(None) };
    // Linux aligns a mapping that consists of large pages.
    let mapped = size.checked_next_multiple_of(PAGE).unwrap_or(size);
    let file = open(path)?;
    let mut pages = MmapMut::map_anon(mapped)?;
    // Small pages have the same contents.
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    match fill(&file, &mut pages[..size]) {
        Ok(()) => Ok(Some((pages, size))),
        // The file became shorter.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a file's first bytes, each large page on the thread that is free.
#[cfg(unix)]
fn fill(file: &File, bytes: &mut [u8]) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    use std::sync::{Mutex, PoisonError};

    if super::threads::threads() == 1 {
        return file.read_exact_at(bytes, 0);
    }
    let pages = Mutex::new(bytes.chunks_mut(PAGE).enumerate());
    let read = || loop {
        let next = pages.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some((index, page)) = next else { return Ok(()) };
        file.read_exact_at(page, (index * PAGE) as u64)?;
    };
    let mut other = Ok(());
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| other = read());
        read()
    })?;
    other
}

#[cfg(not(unix))]
fn fill(mut file: &File, bytes: &mut [u8]) -> io::Result<()> {
    io::Read::read_exact(&mut file, bytes)
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Pages(pages, size) => &pages[..*size],
        }
    }
}
