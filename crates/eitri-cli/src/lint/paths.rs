//! Names of source files: joined with the folder of the compilation, mapped, and relative to the current folder.

use std::path::Path;

use eitri::lint::LintFinding;
use eitri::lint::path::{is_absolute, plain};

/// Names of source files in findings.
#[derive(Debug)]
pub struct Paths {
    /// Starts of paths with their replacements; the last start that matches counts.
    map: Vec<(String, String)>,
    /// The current folder, without a separator at its end; empty for the root.
    here: Option<String>,
    /// The current folder as the shell names it, through links, written so.
    shell: Option<String>,
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
        let here = std::env::current_dir().ok();
        let shell = std::env::var("PWD").ok().filter(|shell| Path::new(shell).canonicalize().ok() == here);
        let trimmed = |folder: &str| folder.trim_end_matches('/').to_owned();
        let here = here.and_then(|here| here.to_str().map(trimmed));
        Self { map, here, shell: shell.as_deref().map(trimmed) }
    }

    /// The current folder.
    pub fn here(&self) -> Option<&str> {
        self.here.as_deref()
    }

    /// Returns the name of the file that a finding declares, mapped, and relative to the current folder if it is below;
    /// empty if the file has no name.
    pub fn name(&self, finding: &LintFinding) -> String {
        finding.declared_path().map_or_else(String::new, |path| self.shown(&path))
    }

    /// Returns a path mapped, and relative to the current folder if it is below.
    fn shown(&self, whole: &str) -> String {
        let mapped = self.map.iter().rev().find_map(|(from, to)| {
            let rest = below(whole, from.trim_end_matches('/'))?;
            let to = to.trim_end_matches('/');
            Some(match (to, rest) {
                ("" | ".", rest) => rest.to_owned(),
                (to, "") => to.to_owned(),
                (to, rest) => format!("{to}/{rest}"),
            })
        });
        let whole = mapped.as_deref().map_or(whole.into(), plain);
        let folders = [&self.here, &self.shell].into_iter().flatten();
        let rest = folders.filter_map(|folder| below(&whole, folder)).find(|rest| !rest.is_empty());
        rest.map_or_else(|| whole.to_string(), String::from)
    }

    /// Gives the file that a finding declares its name.
    pub fn rename(&self, finding: &mut LintFinding) {
        let name = self.name(finding);
        if let Some((file, _)) = &mut finding.declared {
            *file = name.into();
        }
    }
}

/// Returns the rest of a path below a folder: whole names are compared.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns the URI reference of a path, without `.` and `..` after a name, and whether it is relative to the current folder.
pub fn uri(path: &str) -> (String, bool) {
    let path = &*plain(path);
    let is_relative = !is_absolute(path);
    // A drive is a part of the path: RFC 8089, appendix E.
    let start = if is_relative {
        ""
    } else if path.starts_with(['/', '\\']) {
        "file://"
    } else {
        "file:///"
    };
    let path = if is_relative || cfg!(windows) || Path::new(path).is_absolute() {
        path.to_owned()
    } else {
        path.replace('\\', "/")
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded = path
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    (format!("{start}{}", encoded.collect::<String>()), is_relative)
}

#[cfg(test)]
mod tests {
    use super::{Paths, uri};

    #[test]
    fn names_are_mapped_and_relative() {
        let map = [("/build/src", "."), ("/build", "b"), ("/usr/include", "/sysroot/include"), ("/a=b", "c")];
        let map: Vec<_> = map.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec();
        let paths = Paths { map: Vec::new(), here: Some("/home/me/project".into()), shell: None };
        let mapped = Paths {
            map: map.into_iter().rev().collect(),
            here: Some("/home/me/project".into()),
            shell: None,
        };
        let rows = [
            ("/home/me/project/kernels/k.cl", "kernels/k.cl", "kernels/k.cl"),
            ("/build/src/k.cl", "/build/src/k.cl", "k.cl"),
            ("/build/x.h", "/build/x.h", "b/x.h"),
            // Whole names are compared.
            ("/builder/x.h", "/builder/x.h", "/builder/x.h"),
            ("/home/me/projects/k.cl", "/home/me/projects/k.cl", "/home/me/projects/k.cl"),
            ("/usr/include/stdio.h", "/usr/include/stdio.h", "/sysroot/include/stdio.h"),
            ("k.cl", "k.cl", "k.cl"),
            ("C:\\src\\k.hlsl", "C:\\src\\k.hlsl", "C:\\src\\k.hlsl"),
            ("/a=b/k.cl", "/a=b/k.cl", "c/k.cl"),
        ];
        for (file, plain, other) in rows {
            assert_eq!(paths.shown(file), plain, "{file}");
            assert_eq!(mapped.shown(file), other, "{file}");
        }
    }

    #[test]
    fn names_below_the_root_are_relative_to_it() {
        let paths = Paths { map: Vec::new(), here: Some(String::new()), shell: None };
        assert_eq!(paths.shown("/usr/k.cl"), "usr/k.cl");
    }

    /// RFC 8089, with the drive of appendix E.
    #[test]
    fn uris_are_encoded() {
        assert_eq!(uri("a b/k.cl"), ("a%20b/k.cl".into(), true));
        assert_eq!(uri("./a/./k.cl"), ("a/k.cl".into(), true));
        assert_eq!(uri("/a/b/../k.cl"), ("file:///a/k.cl".into(), false));
        assert_eq!(uri("/a/k.cl"), ("file:///a/k.cl".into(), false));
        assert_eq!(uri("C:\\a\\k.hlsl"), ("file:///C%3A/a/k.hlsl".into(), false));
    }
}
