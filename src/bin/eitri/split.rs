//! Files of split units beside an object.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use eitri::read::FindSplit;

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
    /// Returns the names of the files.
    pub fn files(&self) -> &[PathBuf] {
        &self.split
    }

    /// Reads the files that are named.
    pub fn read(&self) -> Result<SplitFolder, Failure> {
        let read = |file: &PathBuf| Ok((file.display().to_string(), input(file)?));
        let files = self.split.iter().map(read).collect::<Result<_, Failure>>()?;
        Ok(SplitFolder { files, used: Mutex::default() })
    }
}

/// Files of split units that the command names, with their contents; without one, those beside each object.
pub struct SplitFolder {
    files: Vec<(String, Vec<u8>)>,
    /// Names of the files whose units were used.
    used: Mutex<HashSet<String>>,
}

/// Files of split units of an object.
pub struct SplitOf<'a> {
    folder: &'a SplitFolder,
    object: &'a Path,
}

impl SplitFolder {
    /// Returns the files for an object.
    pub fn of<'a>(&'a self, object: &'a Path) -> SplitOf<'a> {
        SplitOf { folder: self, object }
    }

    /// Returns the failures for the files that the command names and no object used.
    pub fn unused(&self) -> Vec<Failure> {
        let used = self.used.lock().expect("no other thread has panicked");
        let unused = self.files.iter().filter(|(name, _)| !used.contains(name));
        let what = "no skeleton unit without its split unit has the id of a unit in this file";
        unused.map(|(name, _)| Failure(format!("{name}: {what}"))).collect()
    }
}

impl FindSplit for SplitOf<'_> {
    /// Only the last part of a name counts: the file is in the folder of the object.
    fn find(&self, names: &[&str]) -> eitri::Result<Vec<(String, Vec<u8>)>> {
        if !self.folder.files.is_empty() || self.object.as_os_str() == "-" {
            return Ok(self.folder.files.clone());
        }
        let mut files: Vec<_> = names.iter().filter_map(|name| Path::new(name).file_name()).collect();
        files.sort_unstable();
        files.dedup();
        let files = files.into_iter().map(|name| self.object.with_file_name(name));
        let files = files.filter(|file| file.is_file());
        files.map(|file| Ok((file.display().to_string(), std::fs::read(file)?))).collect()
    }

    fn take_used(&self, name: &str) {
        self.folder.used.lock().expect("no other thread has panicked").insert(name.into());
    }
}
