//! Files of split units beside an object.

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
use super::{Failure, hints, input, of};

/// Choice of the files of split units.
#[derive(Debug, Args)]
pub struct SplitArguments {
    /// File of split units (`.dwo`, or a package `.dwp`) with their skeleton units in the object file. Can be repeated.
    /// Without it, files of split units are found by their names in the object: in its folder, or from the folder of the
    /// compilation on; and the package whose name is that of the object with `.dwp` after it.
    #[arg(long, value_name = "DWO")]
    split: Vec<PathBuf>,
}

impl SplitArguments {
    /// Reads the files that are named.
    pub fn read(&self) -> Result<SplitFolder, Failure> {
        let read = |file: &PathBuf| Ok((file.display().to_string(), input(file)?));
        let files = self.split.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let (mut by_id, mut packages, mut failures) = (HashMap::new(), Vec::new(), BTreeSet::new());
        for (index, (file, (_, bytes))) in self.split.iter().zip(&files).enumerate() {
            match split_ids(bytes) {
                Ok(None) => packages.push(index),
                Ok(Some(ids)) => ids.into_iter().for_each(|id| {
                    by_id.entry(id).or_insert(index);
                }),
                Err(error) => drop(failures.insert(of(file)(error).0)),
            }
        }
        Ok(SplitFolder { files, by_id, packages, failures: Mutex::new(failures), used: Mutex::default() })
    }
}

/// Files of split units that the command names, with their contents; without one, those that objects name.
pub struct SplitFolder {
    files: Vec<(String, Vec<u8>)>,
    /// First file with a unit of each id.
    by_id: HashMap<u64, usize>,
    /// Packages, which have indices of their own.
    packages: Vec<usize>,
    /// Messages about files that cannot be read, each once: an archive can have several objects of one file.
    failures: Mutex<BTreeSet<String>>,
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
        unused.map(|(name, _)| Failure::line(format_args!("{name}: {what}"))).collect()
    }

    /// Returns the failures to read files.
    pub fn failures(&self) -> Vec<Failure> {
        let mut failures = self.failures.lock().expect("no other thread has panicked");
        std::mem::take(&mut *failures).into_iter().map(Failure).collect()
    }
}

impl SplitOf<'_> {
    /// Returns the places of the file that a skeleton unit names: in the folder of the object, where a build can put all of
    /// its files; from that folder on; and from the folder of the compilation on, as debuggers have it.
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
            let units = skeletons.iter().filter_map(|one| by_id.get(&one.dwo_id));
            let indices: BTreeSet<_> = units.chain(packages).collect();
            let files = indices.into_iter().map(|index| &files[*index]);
            return Ok(files.map(|(name, bytes)| (name.clone(), bytes.into())).collect());
        }
        let (mut found, mut known, mut folders) = (Vec::new(), HashSet::new(), BTreeMap::new());
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
            // Opening another file than a regular one can have an effect, and its end may never come.
            if known.contains(&whole) || !file.is_file() {
                continue;
            }
            known.insert(whole);
            let name = file.display().to_string();
            match contents(&file) {
                Ok(bytes) => found.push((name, bytes.into())),
                Err(error) => {
                    let at = At { split_file: Some(name), ..At::default() };
                    self.take_failure(error.or_at(at))?;
                }
            }
        }
        Ok(found)
    }

    fn take_used(&self, name: &str) {
        self.folder.used.lock().expect("no other thread has panicked").insert(name.into());
    }

    fn take_failure(&self, error: Error) -> eitri::Result<()> {
        let failure = of(self.object)(error);
        self.folder.failures.lock().expect("no other thread has panicked").insert(failure.0);
        Ok(())
    }
}

/// Maximum number of bytes of a file.
const LARGEST: u64 = 4 << 30;

/// Returns the contents of a file, or the first bytes of one that is no object: an object can name any file.
fn contents(file: &Path) -> eitri::Result<Vec<u8>> {
    let (file, mut bytes) = (open(file)?, Vec::new());
    let size = file.metadata()?.len();
    if size > LARGEST {
        let what = format!("a file of split units has at most {LARGEST:#x} bytes: {size:#x}");
        return Err(ErrorKind::TooLarge(what).into());
    }
    let mut file = file.take(LARGEST);
    file.by_ref().take(4).read_to_end(&mut bytes)?;
    if hints::is_elf(&bytes) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Name of an object with split units in files beside it.
pub fn file_name(object: &Path) -> Result<String, Failure> {
    let name = object.file_name().filter(|_| object.as_os_str() != "-").and_then(|name| name.to_str());
    name.map(String::from).ok_or_else(|| {
        Failure("split units have files beside the object, which has to be one with a name in UTF-8".into())
    })
}
