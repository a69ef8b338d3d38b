//! Atomic replacement of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// Writes a file atomically: readers never see partial contents, and a failure leaves the old file.
///
/// The bytes go to a temporary file in the same folder, which is then renamed to `path`. The temporary file is hidden,
/// named after the path and the process, and removed on failure. Permissions of an existing file stay. An existing
/// path that is not a regular file, such as `/dev/null`, is written directly.
///
/// # Errors
/// [`ErrorKind::Io`], with the path.
pub fn write_file(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    write(path, bytes).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Error::new(ErrorKind::Io { kind: error.kind(), message }).caused_by(error)
    })
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // Follow links: the rename replaces the file, not the link to the file.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return fs::write(path, bytes);
    }
    let beside = beside(path)?;
    let written = fs::write(&beside, bytes)
        .and_then(|()| old.map_or(Ok(()), |old| fs::set_permissions(&beside, old.permissions())))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A name in the same folder that no other process or thread uses.
fn beside(path: &Path) -> std::io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = path.file_name() else {
        return Err(std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            "the path does not end with a file name",
        ));
    };
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{count}.tmp", std::process::id()));
    Ok(path.with_file_name(hidden))
}
