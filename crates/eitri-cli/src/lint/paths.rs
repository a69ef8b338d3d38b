//! Names of source files: joined with the folder of the compilation, mapped, and relative to the current folder.

use std::path::Path;

use eitri::lint::LintFinding;

/// How source files are named.
#[derive(Debug)]
pub struct Paths {
    /// Starts of paths with their replacements; the last start that matches counts.
    map: Vec<(String, String)>,
    /// The current folder, without a separator at its end.
    here: Option<String>,
}

/// Reads `A=B`. `A` can contain `=`.
pub fn mapping(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.rsplit_once('=').ok_or("expected A=B")?;
    if from.is_empty() { Err("A is empty".into()) } else { Ok((from.into(), to.into())) }
}

impl Paths {
    /// Returns the names that a configuration and the command line, which counts more, map to others.
    pub fn new(config: &[(String, String)], own: &[(String, String)]) -> Self {
        let map = config.iter().chain(own).cloned().collect();
        let here = std::env::current_dir().ok().and_then(|here| here.to_str().map(String::from));
        Self { map, here }
    }

    /// The current folder.
    pub fn here(&self) -> Option<&str> {
        self.here.as_deref()
    }

    /// Returns the name of a file that a unit in a folder declares: joined with the folder if it is relative, without
    /// `.` and `..`, mapped, and relative to the current folder if it is below.
    pub fn name(&self, file: &str, folder: Option<&str>) -> String {
        let whole = match folder.filter(|folder| !folder.is_empty() && !is_absolute(file)) {
            Some(folder) => plain(&format!("{folder}/{file}")),
            None => plain(file),
        };
        let mapped = self.map.iter().rev().find_map(|(from, to)| {
            let rest = below(&whole, from.trim_end_matches('/'))?;
            let to = to.trim_end_matches('/');
            Some(match (to, rest) {
                ("" | ".", rest) => rest.to_owned(),
                (to, "") => to.to_owned(),
                (to, rest) => format!("{to}/{rest}"),
            })
        });
        let whole = mapped.map_or(whole, |mapped| plain(&mapped));
        match self.here.as_deref().and_then(|here| below(&whole, here)) {
            Some(rest) if !rest.is_empty() => rest.to_owned(),
            _ => whole,
        }
    }

    /// Gives the file that a finding declares its name.
    pub fn rename(&self, finding: &mut LintFinding) {
        if let Some((file, _)) = finding.declared.as_mut().filter(|declared| !declared.0.is_empty()) {
            *file = self.name(file, finding.folder.as_deref()).into();
        }
    }
}

/// Whether a path is absolute, on Unix or on Windows.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':')
}

/// Returns the rest of a path below a folder: whole names are compared.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns a path without `.` and, after a name, `..`.
fn plain(path: &str) -> String {
    // Most paths are plain.
    if !path.contains("/.") && !path.contains("//") && !path.starts_with("./") {
        return path.to_owned();
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
    format!("{start}{}", names.join("/"))
}

/// Returns the URI reference of a path, and whether it is relative to the current folder.
pub fn uri(path: &str) -> (String, bool) {
    let is_relative = !is_absolute(path);
    // A drive is a part of the path: RFC 8089, appendix E.
    let start = match path.starts_with(['/', '\\']) {
        _ if is_relative => "",
        true => "file://",
        false => "file:///",
    };
    let path = if is_relative || cfg!(windows) || Path::new(path).is_absolute() {
        path.to_owned()
    } else {
        path.replace('\\', "/")
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded = path.bytes().map(|byte| {
        if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    });
    (format!("{start}{}", encoded.collect::<String>()), is_relative)
}

#[cfg(test)]
mod tests {
    use super::{Paths, uri};

    #[test]
    fn names_are_joined_mapped_and_relative() {
        let map = [("/build/src", "."), ("/build", "b"), ("/usr/include", "/sysroot/include"), ("/a=b", "c")];
        let map: Vec<_> = map.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec();
        let paths = Paths { map: Vec::new(), here: Some("/home/me/project".into()) };
        let mapped = Paths { map: map.into_iter().rev().collect(), here: Some("/home/me/project".into()) };
        let rows = [
            ("k.cl", Some("/home/me/project/kernels"), "kernels/k.cl", "kernels/k.cl"),
            ("../src/./k.cl", Some("/build/obj"), "/build/src/k.cl", "k.cl"),
            ("/build/x.h", Some("/else"), "/build/x.h", "b/x.h"),
            // Whole names are compared.
            ("/builder/x.h", None, "/builder/x.h", "/builder/x.h"),
            ("/usr/include/stdio.h", None, "/usr/include/stdio.h", "/sysroot/include/stdio.h"),
            ("k.cl", None, "k.cl", "k.cl"),
            ("k.cl", Some(""), "k.cl", "k.cl"),
            ("../k.cl", None, "../k.cl", "../k.cl"),
            ("/../../k.cl", None, "/k.cl", "/k.cl"),
            ("C:\\src\\k.hlsl", Some("D:\\obj"), "C:\\src\\k.hlsl", "C:\\src\\k.hlsl"),
            ("/a=b/k.cl", None, "/a=b/k.cl", "c/k.cl"),
        ];
        for (file, folder, plain, other) in rows {
            assert_eq!(paths.name(file, folder), plain, "{file} in {folder:?}");
            assert_eq!(mapped.name(file, folder), other, "{file} in {folder:?}");
        }
    }

    /// RFC 8089, with the drive of appendix E.
    #[test]
    fn uris_are_encoded() {
        assert_eq!(uri("a b/k.cl"), ("a%20b/k.cl".into(), true));
        assert_eq!(uri("/a/k.cl"), ("file:///a/k.cl".into(), false));
        assert_eq!(uri("C:\\a\\k.hlsl"), ("file:///C%3A/a/k.hlsl".into(), false));
    }
}
