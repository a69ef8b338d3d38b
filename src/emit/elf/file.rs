//! Atomic file replacement.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use tempfile::Builder;

use crate::error::{Error, ErrorKind, Result};

/// Writes a file atomically: readers never see partial contents, and a failure leaves the old file.
///
/// The bytes go to a temporary file in the same folder, which is then renamed to `path`. The temporary file is new, is
/// hidden, has a random name, and is removed on failure. Permissions of an existing file stay. An existing path that is not
/// a regular file, such as `/dev/null`, is written directly.
///
/// # Errors
/// [`ErrorKind::Io`], with the path.
pub fn write_file(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    write(path, bytes).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Error::new(ErrorKind::Io { kind: error.kind(), message })
    })
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Links are followed, because the rename replaces the file, not the link to the file.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(path).ok();
    // A device or a pipe cannot be replaced, so its contents are written to it.
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return File::options().write(true).open(path)?.write_all(bytes);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // The user's umask determines the permissions, unlike in the crate's own function.
    let create = |path: &Path| File::options().write(true).create_new(true).open(path);
    let mut file = Builder::new().prefix(".eitri").make_in(folder.unwrap_or(Path::new(".")), create)?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    // The rename is atomic: a reader sees either the old contents or the new contents.
    file.persist(path)?;
    Ok(())
}
