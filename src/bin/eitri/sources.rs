//! Source files that the names in an object lead to.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use clap::Args;

/// Maximum number of bytes of a source file.
const LARGEST: u64 = 16 << 20;

/// Choice of source files.
#[derive(Debug, Args)]
pub struct SourceArguments {
    /// Folder with the sources, which are found by the end of their path. Can be repeated.
    #[arg(long, value_name = "DIR", value_parser = folder)]
    source: Vec<PathBuf>,
}

impl SourceArguments {
    /// Returns the text of a file in the folders, by the longest end of a path that exists there. The path is the
    /// object's: it does not lead out of the folders.
    pub fn text(&self, path: &str) -> Option<String> {
        let parts: Vec<_> = Path::new(path).components().collect();
        let first =
            parts.iter().rposition(|part| !matches!(part, Component::Normal(_))).map_or(0, |at| at + 1);
        let end = |from: usize| parts[from..].iter().collect::<PathBuf>();
        let in_folder = |folder: &PathBuf| {
            (first..parts.len()).find_map(|from| regular(&folder.join(end(from)), LARGEST))
        };
        let bytes = self.source.iter().find_map(in_folder)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the text of a file in the folders, or else in the current folder, by its whole path.
    pub fn text_here(&self, path: &str) -> Option<String> {
        self.text(path).or_else(|| {
            let file = Path::new(path).canonicalize().ok()?;
            let here = Path::new(".").canonicalize().ok()?;
            let bytes = file.starts_with(here).then(|| regular(&file, LARGEST))??;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        })
    }
}

fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("a folder is expected".into()) }
}

/// Returns the contents of a regular file that has at most a number of bytes. Opening another file can have an effect, and
/// its end may never come.
fn regular(path: &Path, most: u64) -> Option<Vec<u8>> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > most {
        return None;
    }
    let mut bytes = Vec::new();
    // Files of the system can have more than their size.
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
