//! Paths of source files, which need not be of this machine.

use std::borrow::Cow;

/// Whether a path is absolute, on Unix or on Windows.
#[doc(hidden)]
pub fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':')
}

/// Returns a path without `.`, without `..` after a name, and without empty names. Links are not followed: the folders are
/// those of another machine.
#[doc(hidden)]
pub fn plain(path: &str) -> Cow<'_, str> {
    // Most paths are plain.
    if !path.contains("/.") && !path.contains("//") && !path.starts_with("./") {
        return path.into();
    }
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            // Nothing is above the root.
            ".." if path.starts_with('/') => {}
            name => names.push(name),
        }
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    format!("{start}{}", names.join("/")).into()
}

/// Returns a file's path: joined with a folder if it is relative, and plain. `None` for a file without a name.
pub(super) fn joined<'p>(folder: Option<&str>, file: &'p str) -> Option<Cow<'p, str>> {
    let folder = folder.filter(|folder| !folder.is_empty() && !is_absolute(file));
    let path = match folder {
        _ if file.is_empty() => return None,
        Some(folder) => plain(&format!("{folder}/{file}")).into_owned().into(),
        None => plain(file),
    };
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::{is_absolute, plain};

    #[test]
    fn plain_paths_have_no_dots() {
        let rows = [
            ("/build/obj/../src/./k.cl", "/build/src/k.cl"),
            ("./k.cl", "k.cl"),
            ("../k.cl", "../k.cl"),
            ("a/../../k.cl", "../k.cl"),
            ("/../../k.cl", "/k.cl"),
            ("x//a.cl", "x/a.cl"),
            ("a/.hidden/k.cl", "a/.hidden/k.cl"),
            ("", ""),
        ];
        for (path, expected) in rows {
            assert_eq!(plain(path), expected, "{path}");
        }
    }

    #[test]
    fn absolute_paths_are_those_of_any_system() {
        let paths = ["/a", "C:\\a", "C:/a", "\\\\server\\a", "a/b", "a", ""];
        assert_eq!(paths.map(is_absolute), [true, true, true, true, false, false, false]);
    }
}
