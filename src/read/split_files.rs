//! Files of split units, whose skeleton units are in an object.

use core::fmt;

use hashbrown::HashSet;

use super::elf::Placing;
use super::{Dwarf, Object, Unit};
use crate::error::{At, Error, ErrorKind, Result};

/// Finder of files of split units, which a function can be.
pub trait FindSplit: Sync {
    /// Returns names and contents of files of split units, given their names in the skeleton units.
    ///
    /// # Errors
    /// Those of reading the files.
    fn find(&self, names: &[&str]) -> Result<Vec<(String, Vec<u8>)>>;

    /// Takes the name of a file whose units are used.
    fn take_used(&self, _name: &str) {}
}

impl<F: Fn(&[&str]) -> Result<Vec<(String, Vec<u8>)>> + Sync> FindSplit for F {
    fn find(&self, names: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
        self(names)
    }
}

/// Files of split units (`.dwo`) that are read with an object. By default there are none.
///
/// A file without a unit of the object's skeletons is not used: units match by [`dwo_id`](super::Unit::dwo_id).
#[derive(Clone, Copy, Default)]
pub struct SplitFiles<'a>(Option<&'a dyn FindSplit>);

impl<'a> SplitFiles<'a> {
    /// Returns the files that a finder returns, which is called if an object lacks the split units of its skeleton
    /// units.
    pub fn new(find: &'a dyn FindSplit) -> Self {
        Self(Some(find))
    }

    /// Calls a function with the split units of an object that has units of its own: those in the object, and those in
    /// files, for the skeleton units without one in the object.
    ///
    /// # Errors
    /// [`Unsupported`](ErrorKind::Unsupported) for an object that has split units alone.
    pub(crate) fn with<T>(
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
        let own = Dwarf::read_split(dwarf, object)?;
        let mut known: HashSet<u64> = ids(&own).collect();
        let contents = self.contents(dwarf, &known)?;
        let files = contents.iter().map(object_of).collect::<Result<Vec<_>>>()?;
        let mut all = Vec::new();
        if !own.units().is_empty() {
            all.push(own);
        }
        for (file, (name, _)) in files.iter().zip(&contents) {
            let split = Dwarf::read_split(dwarf, file).map_err(|error| in_file(error, name))?;
            let before = known.len();
            known.extend(ids(&split));
            if known.len() > before {
                all.push(split);
                self.0.inspect(|find| find.take_used(name));
            }
        }
        then(&all)
    }

    /// Returns the names and contents of the files for the skeleton units whose ids are not known.
    fn contents(self, dwarf: &Dwarf<'_>, known: &HashSet<u64>) -> Result<Vec<(String, Vec<u8>)>> {
        let Some(find) = self.0 else { return Ok(Vec::new()) };
        let is_known = |unit: &Unit<'_>| unit.dwo_id.is_some_and(|id| known.contains(&id));
        let skeletons = dwarf.units().iter().filter(|unit| unit.is_skeleton() && !is_known(unit));
        let mut names: Vec<&str> = skeletons.filter_map(|unit| unit.dwo_name.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() { Ok(Vec::new()) } else { find.find(&names) }
    }
}

/// Reads the object in a file.
fn object_of((name, bytes): &(String, Vec<u8>)) -> Result<Object<'_>> {
    Object::read_placed(bytes, Placing::Stored, None).map_err(|error| in_file(error, name))
}

fn in_file(error: Error, name: &str) -> Error {
    error.or_at(At { split_file: Some(name.into()), ..At::default() })
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
