//! Files are written completely or not at all.

use std::fs;
use std::io::ErrorKind::NotFound;

use eitri::emit::elf::write_file;
use eitri::error::ErrorKind;

use super::support::Folder;

#[test]
fn a_file_is_written_and_replaced() {
    let folder = Folder::new();
    let path = folder.path().join("a.o");
    write_file(&path, b"one").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    write_file(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["a.o"]);
}

#[test]
fn a_failure_names_the_path_and_leaves_nothing() {
    let folder = Folder::new();
    let path = folder.path().join("missing/a.o");
    let error = write_file(&path, b"one").unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Io { kind: NotFound, message } if message.contains("missing/a.o")),
        "{error}"
    );
    // A folder cannot be replaced.
    fs::create_dir(folder.path().join("taken")).unwrap();
    write_file(folder.path().join("taken"), b"one").unwrap_err();
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["taken"]);
}

/// A folder for all users: links with the names that temporary files could have.
#[cfg(unix)]
#[test]
fn temporary_file_follows_no_link() {
    let folder = Folder::new();
    let victim = folder.file("victim", b"secret");
    for count in 0..1000 {
        let name = format!(".a.o.{}-{count}.tmp", std::process::id());
        std::os::unix::fs::symlink("victim", folder.path().join(name)).unwrap();
    }
    let path = folder.path().join("a.o");
    write_file(&path, b"one").unwrap();
    assert_eq!((fs::read(&path).unwrap(), fs::read(victim).unwrap()), (b"one".to_vec(), b"secret".to_vec()));
    assert!(!fs::symlink_metadata(path).unwrap().is_symlink());
}

/// The name of a temporary file is not longer than that of the output, which can have 255 bytes.
#[test]
fn output_with_the_longest_name_is_written() {
    let folder = Folder::new();
    let path = folder.path().join("a".repeat(255));
    write_file(&path, b"one").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
}

#[cfg(unix)]
#[test]
fn links_permissions_and_devices_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    let path = folder.file("program", b"one");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("program", folder.path().join("link")).unwrap();
    write_file(folder.path().join("link"), b"two").unwrap();
    assert!(fs::symlink_metadata(folder.path().join("link")).unwrap().is_symlink());
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);

    use std::os::unix::fs::FileTypeExt;
    write_file("/dev/null", b"gone").unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}
