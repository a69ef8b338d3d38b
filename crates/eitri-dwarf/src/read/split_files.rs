//! Files of split units, whose skeleton units are in an object.

use core::fmt;
use std::borrow::Cow;

use hashbrown::HashSet;

use super::errors::MOST;
use super::package::Package;
use super::{Dwarf, Object, ReadOptions};
use crate::error::{At, Error, ErrorKind, Result};

/// Skeleton unit whose split unit is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skeleton<'s> {
    /// Id shared with the split unit.
    pub dwo_id: u64,
    /// File name, `DW_AT_dwo_name`: absolute, or relative to `comp_dir`.
    pub dwo_name: &'s str,
    /// Folder of the compilation, `DW_AT_comp_dir`.
    pub comp_dir: Option<&'s str>,
}

/// Finder of split-unit files, which a function can be.
pub trait FindSplit: Sync {
    /// Returns names and contents of the files that can contain the split units for skeleton units.
    ///
    /// # Errors
    /// An error stops the reading of the object.
    fn find(&self, skeletons: &[Skeleton<'_>]) -> Result<Vec<(String, Cow<'_, [u8]>)>>;

    /// Takes the error of a file that cannot be read, or whose units have other ids. The rest is read without it. An error
    /// that is returned is listed in [`Dwarf::errors`] of the first file that [`SplitFiles::with`] passes on; by default
    /// this is each.
    ///
    /// # Errors
    /// The error, if nothing is to be read then.
    fn take_failure(&self, error: Error) -> Result<Option<Error>> {
        Ok(Some(error))
    }

    /// Takes the name of a file whose units are used.
    fn take_used(&self, _name: &str) {}
}

impl<F: Fn(&[Skeleton<'_>]) -> Result<Vec<(String, Vec<u8>)>> + Sync> FindSplit for F {
    fn find(&self, skeletons: &[Skeleton<'_>]) -> Result<Vec<(String, Cow<'_, [u8]>)>> {
        Ok(self(skeletons)?.into_iter().map(|(name, bytes)| (name, bytes.into())).collect())
    }
}

/// Split-unit files (`.dwo`), or packages (`.dwp`), that are read with an object. By default there are none.
///
/// Units match by [`dwo_id`](super::Unit::dwo_id). A file without a unit for the object's skeletons is not used: it is listed
/// among the errors, as is a file that cannot be read.
/// Offsets in a package's unit count from the unit's part of the section. Type units in packages are not read.
///
/// ```no_run
/// use eitri_dwarf::read::{Dwarf, Object, Skeleton, SplitFiles};
///
/// # fn files() -> Result<(), Box<dyn std::error::Error>> {
/// let find = |skeletons: &[Skeleton<'_>]| {
///     let paths = skeletons.iter().map(|skeleton| {
///         std::path::Path::new(skeleton.comp_dir.unwrap_or_default()).join(skeleton.dwo_name)
///     });
///     // A missing file is left out: its units are then without code.
///     let files = paths.map(|path| (path.display().to_string(), std::fs::read(path)));
///     Ok(files.filter_map(|(name, bytes)| Some((name, bytes.ok()?))).collect())
/// };
/// let bytes = std::fs::read("a.out")?;
/// let object = Object::read(&bytes)?;
/// let dwarf = Dwarf::read(&object)?;
/// SplitFiles::new(&find).with(&object, &dwarf, |split| {
///     for unit in split.iter().flat_map(|file| file.units()) {
///         println!("{:?}", unit.name);
///     }
///     Ok(())
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Default)]
pub struct SplitFiles<'a>(Option<&'a dyn FindSplit>);

impl<'a> SplitFiles<'a> {
    /// Returns the files that a finder returns, which is called if an object lacks the split units of its skeleton
    /// units.
    pub fn new(find: &'a dyn FindSplit) -> Self {
        Self(Some(find))
    }

    /// Calls a function with the split units that belong to an object with skeletons: those in the object, and, for
    /// skeleton units without split unit in the object, those in files. [`Dwarf::errors`] has the errors in the
    /// object's split units, and, in the first file, the errors of files that the finder does not
    /// [take](FindSplit::take_failure). The first file has no units, if the object has no split units and there are errors.
    ///
    /// # Errors
    /// [`Unsupported`](ErrorKind::Unsupported) for an object that has split units alone; the errors that the finder and
    /// the function return.
    pub fn with<T>(
        self,
        object: &Object<'_>,
        dwarf: &Dwarf<'_>,
        then: impl FnOnce(&[Dwarf<'_>]) -> Result<T>,
    ) -> Result<T> {
        if dwarf.sections().is_split && !dwarf.units().is_empty() {
            let text = "split units alone have no addresses: the object with their skeleton units is to be read, \
                        with this file beside it";
            return Err(Error::new(ErrorKind::Unsupported(text.into())).in_section(".debug_info.dwo"));
        }
        let mut own = Dwarf::read_split_with(dwarf, object, &ReadOptions::new().readable())?;
        let mut known: HashSet<u64> = ids(&own).collect();
        let contents = self.contents(dwarf, &known)?;
        let mut failures = Vec::new();
        let mut objects = Vec::with_capacity(contents.len());
        for (name, bytes) in &contents {
            let object = Object::read(bytes);
            objects.extend(self.or_failure(name, object, &mut failures)?.map(|object| (name, object)));
        }
        let mut files = Vec::new();
        for (name, object) in &objects {
            let units = read(dwarf, object, &known);
            let Some(units) = self.or_failure(name, units, &mut failures)? else { continue };
            let before = known.len();
            let mut others = Vec::new();
            for split in units {
                let Some(split) = self.or_failure(name, split, &mut failures)? else { continue };
                let split = Dwarf { file: Some(name), ..split };
                for error in split.errors() {
                    self.or_failure(name, Err::<(), _>(error.clone()), &mut failures)?;
                }
                let count = known.len();
                others.extend(split.units().iter().filter_map(|unit| unit.dwo_id));
                known.extend(ids(&split));
                if known.len() > count {
                    files.push(Dwarf { errors: Vec::new(), ..split });
                }
            }
            if known.len() > before {
                self.0.inspect(|find| find.take_used(name));
            } else if !others.iter().all(|id| known.contains(id)) {
                let others: Vec<_> = others.iter().map(|id| format!("{id:#x}")).collect();
                let problem = format!(
                    "file is not used: the ids of its split units are {}; no skeleton unit has such an id",
                    others.join(", ")
                );
                self.or_failure(name, Err::<(), _>(Error::malformed(problem)), &mut failures)?;
            }
        }
        failures.truncate(MOST);
        own.errors.extend(failures);
        if !own.units().is_empty() || !own.errors.is_empty() {
            files.insert(0, own);
        }
        then(&files)
    }

    /// Returns the result for a split-unit file, or `None` after passing an error on.
    fn or_failure<T>(self, name: &str, read: Result<T>, failures: &mut Vec<Error>) -> Result<Option<T>> {
        match (read, self.0) {
            (Err(error), Some(find)) => {
                let place = At { split_file: Some(name.into()), ..At::default() };
                failures.extend(find.take_failure(error.or_at(place))?);
                Ok(None)
            }
            (read, _) => read.map(Some),
        }
    }

    /// Returns names and contents of the files for the skeleton units whose ids are not known.
    fn contents(self, dwarf: &Dwarf<'_>, known: &HashSet<u64>) -> Result<Vec<(String, Cow<'a, [u8]>)>> {
        let Some(find) = self.0 else { return Ok(Vec::new()) };
        let skeletons = dwarf.units().iter().filter(|unit| unit.is_skeleton());
        let skeletons = skeletons.filter_map(|unit| {
            let dwo_id = unit.dwo_id?;
            let dwo_name = unit.dwo_name.as_deref()?;
            Some(Skeleton { dwo_id, dwo_name, comp_dir: unit.comp_dir.as_deref() })
        });
        let missing: Vec<_> = skeletons.filter(|skeleton| !known.contains(&skeleton.dwo_id)).collect();
        if missing.is_empty() { Ok(Vec::new()) } else { find.find(&missing) }
    }

    /// Passes on the errors in the parts of a split-unit file that cannot be read. Returns the errors in the object
    /// itself.
    #[doc(hidden)]
    pub fn take_unreadable(self, dwarf: &Dwarf<'_>, errors: Vec<Error>) -> Result<Vec<Error>> {
        let Some(file) = dwarf.split_file() else { return Ok(errors) };
        for error in errors {
            self.readable(Some(file), Err::<(), _>(error))?;
        }
        Ok(Vec::new())
    }

    /// Returns the result for a split-unit file, or `None` after passing an error on. Without a name, the file is the
    /// object's, and its error is returned.
    #[doc(hidden)]
    pub fn readable<T>(self, file: Option<&str>, read: Result<T>) -> Result<Option<T>> {
        match (read, file, self.0) {
            (Err(error), Some(file), Some(find)) => {
                let place = At { split_file: Some(file.into()), ..At::default() };
                match find.take_failure(error.or_at(place))? {
                    Some(error) => Err(error),
                    None => Ok(None),
                }
            }
            (read, ..) => read.map(Some),
        }
    }
}

/// Reads the split units in a file; in a package, each unit whose id is not known yet.
fn read<'o>(main: &Dwarf<'o>, file: &'o Object<'_>, known: &HashSet<u64>) -> Result<Vec<Result<Dwarf<'o>>>> {
    let Some(package) = Package::read(file)? else {
        return Ok(vec![Dwarf::read_split_with(main, file, &ReadOptions::new().readable())]);
    };
    let skeletons = main.units().iter().filter(|unit| unit.is_skeleton());
    let ids = skeletons.filter_map(|unit| unit.dwo_id).filter(|id| !known.contains(id));
    let units = ids.filter_map(|id| package.unit(id).transpose());
    Ok(units.map(|sections| Dwarf::read_readable_sections(main, sections?)).collect())
}

/// Returns the ids of the split units in a file. `None` for a package, which has an index.
///
/// # Errors
/// The errors that [`Object::read`] returns and [`Dwarf::read`].
pub fn split_ids(bytes: &[u8]) -> Result<Option<Vec<u64>>> {
    let object = Object::read(bytes)?;
    if Package::read(&object)?.is_some() {
        return Ok(None);
    }
    let split = Dwarf::read_split_alone(&object)?;
    Ok(Some(split.units().iter().filter_map(|unit| unit.dwo_id).collect()))
}

/// Returns the ids of the split units with a skeleton.
fn ids(split: &Dwarf<'_>) -> impl Iterator<Item = u64> {
    split.units().iter().filter(|unit| unit.has_skeleton).filter_map(|unit| unit.dwo_id)
}

impl fmt::Debug for SplitFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SplitFiles").field(&self.0.is_some()).finish()
    }
}
