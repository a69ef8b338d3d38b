//! Split-unit files beside an object.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use eitri::Error;
use eitri::error::{At, ErrorKind};
use eitri::read::{FindSplit, Skeleton, split_ids};

use super::output::open;
use super::{Failure, hints, in_file, input};

/// Split-unit file choice.
#[derive(Debug, Args)]
pub struct SplitArguments {
    /// Split-unit file (`.dwo`, or a package `.dwp`) whose skeleton units are in the object file. Can be repeated.
    /// Without this option, split-unit files are found by their names in the object: in the object's folder, or from
    /// the compilation's folder; and so is the package named as the object with `.dwp` after it.
    #[arg(long, value_name = "DWO")]
    split: Vec<PathBuf>,
}

impl SplitArguments {
    /// Reads the files that are named.
    pub fn read(&self) -> Result<SplitFolder, Failure> {
        let read = |file: &PathBuf| Ok((file.display().to_string(), input(file)?));
        let files = self.split.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let mut by_id = HashMap::new();
        let mut packages = Vec::new();
        let mut failures = BTreeSet::new();
        for (index, (file, (_, bytes))) in self.split.iter().zip(&files).enumerate() {
            match split_ids(bytes) {
                Ok(None) => packages.push(index),
                Ok(Some(ids)) => ids.into_iter().for_each(|id| {
                    by_id.entry(id).or_insert(index);
                }),
                Err(error) => drop(failures.insert(in_file(file)(error).0)),
            }
        }
        Ok(SplitFolder { files, by_id, packages, failures: Mutex::new(failures), used: Mutex::default() })
    }
}

/// Split-unit files that the command names, with their contents; if it names none, those that objects name.
pub struct SplitFolder {
    files: Vec<(String, Vec<u8>)>,
    /// First file with a unit for each id.
    by_id: HashMap<u64, usize>,
    /// Packages, which have their own indices.
    packages: Vec<usize>,
    /// Messages about files that cannot be read, each once, because several objects in an archive can name the same
    /// file.
    failures: Mutex<BTreeSet<String>>,
    /// Names of the files whose units were used.
    used: Mutex<HashSet<String>>,
}

/// Split-unit files for an object.
pub struct SplitOf<'a> {
    folder: &'a SplitFolder,
    object: &'a Path,
}

impl SplitFolder {
    /// Returns the files for an object.
    pub fn beside<'a>(&'a self, object: &'a Path) -> SplitOf<'a> {
        SplitOf { folder: self, object }
    }

    /// Returns the failures for the files that the command names and no object used.
    pub fn unused(&self) -> Vec<Failure> {
        let used = self.used.lock().expect("no other thread has panicked");
        let unused = self.files.iter().filter(|(name, _)| !used.contains(name));
        let problem = "no skeleton unit without its split unit has the id of a unit in this file";
        unused.map(|(name, _)| Failure::line(format_args!("{name}: {problem}"))).collect()
    }

    /// Returns the failures to read files.
    pub fn failures(&self) -> Vec<Failure> {
        let mut failures = self.failures.lock().expect("no other thread has panicked");
        std::mem::take(&mut *failures).into_iter().map(Failure).collect()
    }
}

impl SplitOf<'_> {
    /// Returns the paths at which a skeleton unit's file can be: in the object's folder, where a build can put all of
    /// its files; from that folder; and from the compilation's folder, as in debuggers.
    fn places(&self, skeleton: &Skeleton<'_>) -> impl Iterator<Item = PathBuf> {
        let name = Path::new(skeleton.dwo_name);
        // Standard input has no folder.
        let folder = self.object.parent().filter(|_| self.object.as_os_str() != "-");
        let beside = folder.zip(name.file_name()).map(|(folder, name)| folder.join(name));
        let below = folder.filter(|_| name.is_relative()).map(|folder| folder.join(name));
        let folder = folder.unwrap_or(Path::new(""));
        let compiled = folder.join(skeleton.comp_dir.unwrap_or_default()).join(name);
        [beside, below, Some(compiled).filter(|file| file.is_absolute())].into_iter().flatten()
    }
}

impl FindSplit for SplitOf<'_> {
    fn find(&self, skeletons: &[Skeleton<'_>]) -> eitri::Result<Vec<(String, Cow<'_, [u8]>)>> {
        let SplitFolder { files, by_id, packages, .. } = self.folder;
        if !files.is_empty() {
            let units = skeletons.iter().filter_map(|skeleton| by_id.get(&skeleton.dwo_id));
            let indices: BTreeSet<_> = units.chain(packages).collect();
            let files = indices.into_iter().map(|index| &files[*index]);
            return Ok(files.map(|(name, bytes)| (name.clone(), bytes.into())).collect());
        }
        let mut files = Vec::new();
        let mut known = HashSet::new();
        let mut folders = BTreeMap::new();
        let mut package = self.object.as_os_str().to_owned();
        package.push(".dwp");
        let package = (self.object.as_os_str() != "-").then(|| package.into());
        for file in skeletons.iter().flat_map(|skeleton| self.places(skeleton)).chain(package) {
            let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { continue };
            let folder = folders.entry(folder.to_owned()).or_insert_with_key(|folder| {
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                folder.canonicalize().ok()
            });
            let Some(whole) = folder.as_ref().map(|folder| folder.join(name)) else { continue };
            // Opening a file that is not regular can have an effect, and its end may never come.
            if known.contains(&whole) || !file.is_file() {
                continue;
            }
            known.insert(whole);
            let name = file.display().to_string();
            match contents(&file) {
                Ok(bytes) => files.push((name, bytes.into())),
                Err(error) => {
                    let place = At::new(|context| context.split_file = Some(name));
                    self.take_failure(error.or_at(place))?;
                }
            }
        }
        Ok(files)
    }

    fn take_used(&self, name: &str) {
        self.folder.used.lock().expect("no other thread has panicked").insert(name.into());
    }

    fn take_failure(&self, error: Error) -> eitri::Result<Option<Error>> {
        let failure = in_file(self.object)(error);
        self.folder.failures.lock().expect("no other thread has panicked").insert(failure.0);
        Ok(None)
    }
}

/// Maximum file size in bytes.
const LARGEST: u64 = 4 << 30;

/// Returns a file's contents, or the first bytes of a file that is no object, because an object can name any file.
fn contents(file: &Path) -> eitri::Result<Vec<u8>> {
    let file = open(file)?;
    let mut bytes = Vec::new();
    let size = file.metadata()?.len();
    if size > LARGEST {
        let problem = format!("split-unit file's size is {size:#x}; expected at most {LARGEST:#x}");
        return Err(ErrorKind::TooLarge(problem).into());
    }
    let mut file = file.take(LARGEST);
    file.by_ref().take(4).read_to_end(&mut bytes)?;
    if hints::is_elf(&bytes) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Name of an object whose split units are in files beside it.
pub fn file_name(object: &Path) -> Result<String, Failure> {
    let name = object.file_name().filter(|_| object.as_os_str() != "-").and_then(|name| name.to_str());
    name.map(String::from).ok_or_else(|| {
        Failure(
            "split-unit files have no name: the object is standard input, or its name is not UTF-8".into(),
        )
    })
}
