//! Split units: the object with the skeletons, and the files with the other entries. DWARF 5 sections 3.1.2, 3.1.3
//! and 7.3.2.

use gimli::constants as dw;

use super::compare::{Compare, Split, UnitsByName};
use super::describe::{Describe, Hex};
use super::index::Index;
use super::omitted::Omitted;
use super::report::{Kind, Report};
use super::tree::{Described, Entity};
use super::{dialect, read_unlinked, unreadable};
use crate::consumer::Consumer;
use crate::error::{At, Result};
use crate::model::{Module, UnitId};
use crate::omission::Omission;
use crate::read::{Dwarf, Entry, Object, Placing, Unit};

/// Compares an object, `main`, and the files of its split units with the module that they were written from, for a
/// consumer that [splits units](Consumer::is_split). Beyond the comparison of [`check`](super::check), each split
/// unit must match its skeleton.
///
/// `omissions` is as for [`check`](super::check). The split files may come in any order; units of one name come in
/// the order of the module.
///
/// # Errors
/// Returns an error only if the bytes cannot be read. Everything else is a finding of the report.
pub fn check_split(
    module: &Module,
    consumer: &Consumer,
    omissions: &[Omission],
    main: &[u8],
    split: &[&[u8]],
) -> Result<Report> {
    let (dialect, sizes) = (dialect(consumer), read_unlinked(module, consumer, main)?);
    let object = Object::read_placed(main, Placing::Linked(&sizes), Some(module.target()))?;
    let skeletons = match Dwarf::read_as(&object, dialect, consumer.expressions.draft) {
        Ok(dwarf) => dwarf,
        Err(error) => return Ok(unreadable(&object, &error, omissions)),
    };
    // No linker reads the split files.
    let objects =
        split.iter().map(|bytes| Object::read_for(bytes, module.target())).collect::<Result<Vec<_>>>()?;
    let mut files = Vec::new();
    for file in &objects {
        let alone = Dwarf::read_as(file, dialect, consumer.expressions.draft)?;
        match Dwarf::read_split(&skeletons, file) {
            Ok(dwarf) => files.push(dwarf),
            Err(error) => {
                let mut report = unreadable(file, &error, omissions);
                report.findings[0].at.unit =
                    alone.units().first().and_then(|unit| unit.name.as_deref()).map(Into::into);
                return Ok(report);
            }
        }
    }
    let (index, names) = (Index::new(module, &object), module.split_names());
    let omitted = Omitted::new(module, omissions);
    let described = Described { module, consumer, object: &object, index: &index, omitted: &omitted };
    let mut compare = Compare::new(described, &skeletons);
    compare.split.names = &names;
    Ok(compare.run_split(&skeletons, &objects, &files))
}

impl<'a, 'o> Compare<'a, 'o> {
    /// Runs the whole comparison.
    fn run_split(
        mut self,
        skeletons: &'a Dwarf<'o>,
        objects: &[Object<'_>],
        files: &'a [Dwarf<'o>],
    ) -> Report {
        let object = self.described.object;
        self.header(object);
        self.unencodable();
        self.tables().headers(object, skeletons);
        let all = skeletons.units().iter().map(|unit| (unit, false)).collect();
        self.split = Split { main: Some(skeletons), skeletons: all, ..self.split };

        for (object, file) in objects.iter().zip(files) {
            self.header(object);
            self.tables().headers(object, file);
            self.relocations(object);
        }
        // Files match units by the unit's name, not by the file's.
        let mut known = UnitsByName::new(files);
        let mut of_file = vec![Vec::new(); files.len()];
        for (id, unit) in self.described.module.units() {
            match known.take(self.described.module.string(unit.name)) {
                Some((file, found)) => of_file[file].push((id, found)),
                None => self.missing_unit(unit),
            }
        }
        self.no_more(known, &files.iter().collect::<Vec<_>>());
        for (file, units) in files.iter().zip(of_file) {
            self.begin_file(file);
            for (id, found) in units {
                self.unit_with_root(id, found);
            }
            self.tables().lookups();
            self.split.is_first = false;
            self.rest();
        }
        self.tables().addresses();
        self.meanings().call_frames(skeletons);
        let skeletons = core::mem::take(&mut self.split.skeletons);
        for (unit, _) in skeletons.into_iter().filter(|&(_, is_taken)| !is_taken) {
            let what =
                format!("a unit of kind {}, of file {}", unit.kind.describe(), unit.dwo_name.describe());
            self.report.find(Kind::Extra, At::default(), "a skeleton for each split unit", what);
        }
        self.report
    }

    /// Reports relocations in a split file, which no linker reads.
    fn relocations(&mut self, object: &Object<'_>) {
        const SHT_RELA: u32 = 4;
        const SHT_REL: u32 = 9;
        for section in object.sections() {
            if matches!(section.kind, SHT_RELA | SHT_REL) && section.name.ends_with(".dwo") {
                let at = At { section: Some(section.name.to_string()), ..At::default() };
                self.report.find(Kind::Unreadable, at, "no relocations in a split unit's file", "some");
            }
        }
    }

    /// Compares the skeleton of a split unit, except for its code. Returns its entry.
    pub(super) fn skeleton(&mut self, id: UnitId, split: &Unit<'o>, at: &At) -> Option<Entry<'a, 'o>> {
        let is_of = |one: &Unit<'_>| one.kind == dw::DW_UT_skeleton && one.dwo_id == split.dwo_id;
        let found = self.split.skeletons.iter_mut().find(|(one, is_taken)| is_of(one) && !is_taken);
        let Some((unit, is_taken)) = found else {
            let what = format!("a skeleton with number {}", split.dwo_id.map(Hex).describe());
            self.report.find(Kind::MissingEntry, at.clone(), what, "none");
            return None;
        };
        *is_taken = true;
        let unit: &'a Unit<'o> = unit;
        self.split.of_file.insert(split.offset, unit);
        let main = self.split.main?;
        let Some(root) = main.root(unit) else {
            self.report.find(Kind::MissingEntry, at.clone(), "an entry of the skeleton", "none");
            return None;
        };
        self.report.expect_equal(at, "entries of a skeleton", &1, &main.entries_of(unit).count());
        self.unit_header(unit, dw::DW_UT_skeleton, at);
        let node = self.described.skeleton(id, &self.split.names[id.as_u32() as usize]);
        self.node(&node, root, Entity::TypeUnit(id));
        Some(root)
    }
}
