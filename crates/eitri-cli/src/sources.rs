//! Source files that the names in an object lead to.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use clap::Args;
use hashbrown::HashMap;

use super::output::open;

/// Maximum size of a source file in bytes.
const LARGEST: u64 = 16 << 20;

/// Source file choice.
#[derive(Debug, Args)]
pub struct SourceArguments {
    /// Folder with the sources, which are found by their path's end. Can be repeated.
    #[arg(long, value_name = "DIR", value_parser = folder)]
    source: Vec<PathBuf>,
}

impl SourceArguments {
    /// Returns a file's text from the folders, by the longest end of a path that exists there. The path comes from the
    /// object, so it must not lead out of the folders.
    pub fn text(&self, path: &str) -> Option<String> {
        let parts: Vec<_> = Path::new(path).components().collect();
        let first =
            parts.iter().rposition(|part| !matches!(part, Component::Normal(_))).map_or(0, |last| last + 1);
        let end = |from: usize| parts[from..].iter().collect::<PathBuf>();
        let in_folder = |folder: &PathBuf| {
            (first..parts.len()).find_map(|from| regular(&folder.join(end(from)), LARGEST))
        };
        let bytes = self.source.iter().find_map(in_folder)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns a file's text from the folders, or else, by its whole path, from the current folder or the object's
    /// folder.
    fn text_beside(&self, object: &Path, path: &str) -> Option<String> {
        self.text(path).or_else(|| {
            let beside = object.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folders = [Some(Path::new(".")), beside].into_iter().flatten();
            let whole: Vec<_> = folders.filter_map(|folder| folder.canonicalize().ok()).collect();
            // An absolute path replaces the folder.
            let mut files = whole.iter().filter_map(|folder| folder.join(path).canonicalize().ok());
            let file = files.find(|file| whole.iter().any(|folder| file.starts_with(folder)))?;
            Some(String::from_utf8_lossy(&regular(&file, LARGEST)?).into_owned())
        })
    }
}

/// Lines in an object's source files. A file is read once.
pub struct SourceLines<'s> {
    source: &'s SourceArguments,
    object: &'s Path,
    files: HashMap<String, Option<Vec<String>>>,
}

impl<'s> SourceLines<'s> {
    pub fn new(source: &'s SourceArguments, object: &'s Path) -> Self {
        Self { source, object, files: HashMap::new() }
    }

    /// Returns a source file's line, if the file is there under the name that is shown, or else under the name in the
    /// object. Lines count from 1.
    pub fn line(&mut self, shown: &str, named: &str, line: u64) -> Option<&str> {
        let lines = self.files.entry_ref(shown).or_insert_with(|| {
            let text =
                [shown, named].into_iter().find_map(|name| self.source.text_beside(self.object, name))?;
            Some(text.lines().map(String::from).collect())
        });
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        lines.as_ref()?.get(index).map(String::as_str)
    }
}

fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("not a folder".into()) }
}

/// Returns the contents of a regular file with at most a number of bytes. Opening any other file can have an effect,
/// and its end may never come.
fn regular(path: &Path, most: u64) -> Option<Vec<u8>> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > most {
        return None;
    }
    let mut bytes = Vec::new();
    // System files can have more than their size.
    open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
