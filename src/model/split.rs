//! Split units' file names: DWARF 5 section 3.1.2.

use std::collections::HashSet;

use super::{CompileUnit, Module, StringId, UnitId};
use crate::error::{Error, Result};

impl Module {
    /// Returns the split units' file names, in unit order: `DW_AT_dwo_name`, relative to the compilation directory. All
    /// are different.
    ///
    /// A name set with [`split_name`](crate::build::UnitBuilder::split_name) is used; the default is the unit's name
    /// without directories, with `.dwo`. A default that another unit already has gets the unit's number: `a.c.dwo`,
    /// then `a.c.1.dwo`.
    pub fn split_names(&self) -> Vec<String> {
        self.split_names_by(|unit| self.file_name_of(unit).to_owned())
    }

    /// Names the split units' files after the object, as gcc and clang do, where no name was set with
    /// [`split_name`](crate::build::UnitBuilder::split_name). Objects in one directory then have different split files,
    /// whatever their units' names are.
    ///
    /// * `object` – the object's file name without directories: for `out.o`, the split file of a single unit is
    ///   `out.dwo`, and among several units that of `src/a.c` is `out-a.dwo`.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where the name contains a zero byte.
    pub fn name_split_units(&mut self, object: &str) -> Result<()> {
        let object = stem(object);
        let names = self.split_names_by(|unit| match self.units.len() {
            1 => object.to_owned(),
            _ => format!("{object}-{}", stem(self.file_name_of(unit))),
        });
        self.set_split_names(names)
    }

    /// Sets the file names of split units without a name, in unit order: for comparison with an object that already has
    /// names.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where a name is empty or contains a zero byte.
    pub fn set_split_names(&mut self, names: impl IntoIterator<Item = String>) -> Result<()> {
        for (unit, name) in self.units.values_mut().zip(names) {
            if name.is_empty() || name.contains('\0') {
                let what = format!("`{}` is not a file of a split unit", name.escape_debug());
                return Err(Error::bad_argument(what));
            }
            unit.split_name.get_or_insert_with(|| StringId::from_u32(self.strings.add(&name)));
        }
        Ok(())
    }

    /// Returns file names derived from the units' names, with a number where a name repeats.
    fn split_names_by(&self, called: impl Fn(&CompileUnit) -> String) -> Vec<String> {
        // Names that were set come first, so that no default takes them.
        let chosen = self.units.values().filter_map(|unit| unit.split_name);
        let mut taken: HashSet<String> = chosen.map(|name| self.string(name).to_owned()).collect();
        let name = |(id, unit): (UnitId, &CompileUnit)| {
            if let Some(name) = unit.split_name {
                return self.string(name).to_owned();
            }
            let called = called(unit);
            let number = id.as_u32();
            let mut name = format!("{called}.dwo");
            // A unit's name can equal another unit's numbered file name.
            for again in 0.. {
                if taken.insert(name.clone()) {
                    break;
                }
                name = format!("{called}.{number}{}.dwo", "_".repeat(again));
            }
            name
        };
        self.units.iter().map(name).collect()
    }

    /// A unit's name without directories, because its split unit is in the object's directory.
    fn file_name_of(&self, unit: &CompileUnit) -> &str {
        let name = self.string(unit.name).rsplit(['/', '\\']).next().unwrap_or_default();
        if matches!(name, "" | "." | "..") { "unit" } else { name }
    }
}

/// The file name without its extension; unchanged if the only dot is the first character.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}
