//! The files of split units: DWARF 5 section 3.1.2.

use std::collections::HashSet;

use super::{Module, StringId, Unit, UnitId};
use crate::error::{Error, Result};

impl Module {
    /// The file of each unit's split unit, in the order of the units: `DW_AT_dwo_name`, relative to the
    /// directory of the compilation. All are different.
    ///
    /// It is what [`split_name`](crate::build::UnitBuilder::split_name) says, or else the unit's name without
    /// directories and `.dwo`. Where that is another unit's, the unit's number stands between: `a.c.dwo`, then `a.c.1.dwo`.
    pub fn split_names(&self) -> Vec<String> {
        self.split_names_by(|unit| self.file_name_of(unit).to_owned())
    }

    /// Names the files of split units after that of the object, as gcc and clang do, where they have no name by
    /// [`split_name`](crate::build::UnitBuilder::split_name). Then objects that are beside each other have
    /// files of their own, whatever their units are called.
    ///
    /// * `object` – the name of the object's file without directories: of `out.o`, a single unit has `out.dwo`, and
    ///   of several, `src/a.c` has `out-a.dwo`.
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

    /// Gives the files of split units these names, in the order of the units, where they have none: those that
    /// are in an object, for one that is to be compared.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where a name is empty or contains a zero byte.
    pub fn set_split_names(&mut self, names: impl IntoIterator<Item = String>) -> Result<()> {
        for (unit, name) in self.units.values_mut().zip(names) {
            if name.is_empty() || name.contains('\0') {
                let what = format!("`{}` is no file of a split unit", name.escape_debug());
                return Err(Error::bad_argument(what));
            }
            unit.split_name.get_or_insert_with(|| StringId::from_u32(self.strings.add(&name)));
        }
        Ok(())
    }

    /// The files, each of what a unit is called and a number if that comes again.
    fn split_names_by(&self, called: impl Fn(&Unit) -> String) -> Vec<String> {
        let chosen = self.units.values().filter_map(|unit| unit.split_name);
        let mut taken: HashSet<String> = chosen.map(|name| self.string(name).to_owned()).collect();
        let name = |(id, unit): (UnitId, &Unit)| {
            if let Some(name) = unit.split_name {
                return self.string(name).to_owned();
            }
            let (called, number) = (called(unit), id.as_u32());
            let mut name = format!("{called}.dwo");
            // A unit can be called what another one's file would be, with number and all.
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

    /// A unit's name without directories: its split unit is beside the object.
    fn file_name_of(&self, unit: &Unit) -> &str {
        let name = self.string(unit.name).rsplit(['/', '\\']).next().unwrap_or_default();
        if matches!(name, "" | "." | "..") { "unit" } else { name }
    }
}

/// The name of a file without what is behind the last dot, if something is before it.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}
