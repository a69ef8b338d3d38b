//! The files of split units: DWARF 5 section 3.1.2.

use std::collections::HashSet;

use super::Module;

impl Module {
    /// The file of each unit's split unit, in the order of the units: `DW_AT_dwo_name`, relative to the
    /// directory of the compilation. All are different.
    ///
    /// It is what [`split_name`](crate::build::UnitBuilder::split_name) says, or else the unit's name without
    /// directories and `.dwo`. Where that is another unit's, the unit's number stands between: `a.c.dwo`, then `a.c.1.dwo`.
    pub fn split_names(&self) -> Vec<String> {
        let chosen = self.units.values().filter_map(|unit| unit.split_name);
        let mut taken: HashSet<String> = chosen.map(|name| self.string(name).to_owned()).collect();
        let name = |(id, unit): (super::UnitId, &super::Unit)| {
            if let Some(name) = unit.split_name {
                return self.string(name).to_owned();
            }
            // The file is beside the object: of a path, the last part counts.
            let stem = self.string(unit.name).rsplit(['/', '\\']).next().unwrap_or_default();
            let stem = if matches!(stem, "" | "." | "..") { "unit" } else { stem };
            let number = id.as_u32();
            let mut name = format!("{stem}.dwo");
            // A unit can be called what another one's file would be, with number and all.
            for again in 0.. {
                if taken.insert(name.clone()) {
                    break;
                }
                name = format!("{stem}.{number}{}.dwo", "_".repeat(again));
            }
            name
        };
        self.units.iter().map(name).collect()
    }
}
