//! Files of split units beside an object.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Failure, input};

/// Choice of the files of split units.
#[derive(Debug, Args)]
pub struct SplitArguments {
    /// File of split units (`.dwo`) with their skeleton units in the object file. Can be repeated. Without it, files of
    /// split units are read from the folder of the object, by their names in it.
    #[arg(long, value_name = "DWO")]
    split: Vec<PathBuf>,
}

impl SplitArguments {
    /// Reads the files that are named.
    pub fn read(&self) -> Result<SplitFolder, Failure> {
        let read = |file: &PathBuf| Ok((file.display().to_string(), input(file)?));
        self.split.iter().map(read).collect::<Result<_, _>>().map(SplitFolder)
    }
}

/// Files of split units that the command names, with their contents; without one, those beside each object.
pub struct SplitFolder(Vec<(String, Vec<u8>)>);

impl SplitFolder {
    /// Returns names and contents of the files for an object, given their names in its skeleton units. Only the last part
    /// of a name counts: the file is in the folder of the object.
    pub fn find(&self, object: &Path, names: &[&str]) -> eitri::Result<Vec<(String, Vec<u8>)>> {
        if !self.0.is_empty() || object.as_os_str() == "-" {
            return Ok(self.0.clone());
        }
        let mut files: Vec<_> = names.iter().filter_map(|name| Path::new(name).file_name()).collect();
        files.sort_unstable();
        files.dedup();
        let files = files.into_iter().map(|name| object.with_file_name(name)).filter(|file| file.is_file());
        files.map(|file| Ok((file.display().to_string(), std::fs::read(file)?))).collect()
    }
}
