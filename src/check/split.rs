//! Split units: the object with the skeletons, and the objects with the rest. DWARF 5 sections 3.1.2, 3.1.3 and
//! 7.3.2.

use gimli::constants as dw;

use super::attributes::{self, only};
use super::compare::{Compare, UnitsByName};
use super::elsewhere;
use super::report::{Kind, Report};
use super::words::{Hex, Words};
use super::{dialect, unreadable};
use crate::consumer::Consumer;
use crate::error::{At, Result};
use crate::lower::LeftOut;
use crate::model::{Module, UnitId};
use crate::read::{Dwarf, Entry, NameEntry, NameUnit, Object, Placing, Unit};

/// Compares an object, `main`, and the objects of its split units with the module that they were written from,
/// for a consumer that [has units split](Consumer::is_split). The same is compared as by
/// [`check`](super::check), and that each split unit and its skeleton belong together.
///
/// `left_out` is as for [`check`](super::check). The split objects may come in any order; of units with one name,
/// they come in the order of the module.
///
/// # Errors
/// Only if the bytes cannot be read. Everything else is a finding of the report.
pub fn check_split(
    module: &Module,
    consumer: &Consumer,
    left_out: &[LeftOut],
    main: &[u8],
    split: &[&[u8]],
) -> Result<Report> {
    let dialect = dialect(consumer);
    let object = Object::read(main)?;
    Dwarf::read_as(&object, dialect, consumer.draft)?;
    let sizes = elsewhere::sizes(module, &object);
    let object = Object::read_placed(main, Placing::Linked(&sizes))?;
    let skeletons = match Dwarf::read_as(&object, dialect, consumer.draft) {
        Ok(dwarf) => dwarf,
        Err(error) => return Ok(unreadable(&object, &error, left_out)),
    };
    // No linker reads these.
    let objects = split.iter().map(|bytes| Object::read(bytes)).collect::<Result<Vec<_>>>()?;
    let mut files = Vec::new();
    for file in &objects {
        let alone = Dwarf::read_as(file, dialect, consumer.draft)?;
        match Dwarf::read_split(&skeletons, file) {
            Ok(dwarf) => files.push(dwarf),
            Err(error) => {
                let mut report = unreadable(file, &error, left_out);
                report.findings[0].at.unit =
                    alone.units().first().and_then(|unit| unit.name.as_deref()).map(Into::into);
                return Ok(report);
            }
        }
    }
    let compare = Compare::new(module, consumer, left_out, &object, &skeletons);
    Ok(compare.run_split(&skeletons, &objects, &files))
}

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares everything.
    fn run_split(
        mut self,
        skeletons: &'a Dwarf<'o>,
        objects: &[Object<'_>],
        files: &'a [Dwarf<'o>],
    ) -> Report {
        self.header(self.object);
        self.tables(self.object, skeletons);
        self.main = Some(skeletons);
        self.skeletons = skeletons.units().iter().map(|unit| (unit, false)).collect();
        self.split_names = self.module.split_names();

        for (object, file) in objects.iter().zip(files) {
            self.header(object);
            self.tables(object, file);
            self.relocations(object);
        }
        // Which file has which unit is known by the unit's name, whatever the file is called.
        let mut known = UnitsByName::new(files);
        let mut of_file = vec![Vec::new(); files.len()];
        for (id, unit) in self.module.units() {
            match known.take(self.module.string(unit.name)) {
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
            self.lookups();
            self.is_first = false;
            self.rest();
        }
        self.addresses();
        self.call_frames();
        let skeletons = core::mem::take(&mut self.skeletons);
        for (unit, _) in skeletons.into_iter().filter(|&(_, is_taken)| !is_taken) {
            let what = format!("a unit of kind {}, of file {}", unit.kind.words(), unit.dwo_name.words());
            self.find(Kind::Extra, At::default(), "a skeleton for each split unit", what);
        }
        self.report
    }

    /// What is in a file that no linker reads needs none.
    fn relocations(&mut self, object: &Object<'_>) {
        const SHT_RELA: u32 = 4;
        const SHT_REL: u32 = 9;
        for section in object.sections() {
            if matches!(section.kind, SHT_RELA | SHT_REL) && section.name.ends_with(".dwo") {
                let at = At { section: Some(section.name.to_string()), ..At::default() };
                self.find(Kind::Unreadable, at, "no relocations in a split unit's file", "some");
            }
        }
    }

    /// The skeleton of a split unit, compared but for its code.
    pub(super) fn skeleton(&mut self, id: UnitId, split: &Unit<'o>, at: &At) -> Option<Entry<'a, 'o>> {
        let is_of = |one: &Unit<'_>| one.kind == dw::DW_UT_skeleton && one.dwo_id == split.dwo_id;
        let found = self.skeletons.iter_mut().find(|(one, is_taken)| is_of(one) && !is_taken);
        let Some((unit, is_taken)) = found else {
            let what = format!("a skeleton with number {}", split.dwo_id.map(Hex).words());
            self.find(Kind::MissingEntry, at.clone(), what, "none");
            return None;
        };
        *is_taken = true;
        let unit: &'a Unit<'o> = unit;
        self.of_split.insert(split.offset, unit);
        let main = self.main?;
        let Some(root) = main.root(unit) else {
            self.find(Kind::MissingEntry, at.clone(), "an entry of the skeleton", "none");
            return None;
        };
        self.same(at, "a skeleton's tag", &dw::DW_TAG_skeleton_unit, &root.tag());
        self.same(at, "entries of a skeleton", &1, &main.entries_of(unit).count());
        let name = self.split_names[id.as_u32() as usize].clone();
        self.same(at, "DW_AT_dwo_name", &Some(name), &unit.dwo_name.as_deref().map(String::from));
        let (expected, found) = (&split.encoding, &unit.encoding);
        self.same(at, "a skeleton's encoding", expected, found);
        if let Err((expected, found)) = only(root, |name| attributes::SKELETON.contains(&name)) {
            self.find(Kind::Attribute, at.clone(), expected, found);
        }
        Some(root)
    }

    /// What has the tables for looking things up.
    pub(super) fn with_tables(&self) -> &'a Dwarf<'o> {
        self.main.unwrap_or(self.dwarf)
    }

    /// A unit as these tables know it: of a split unit, its skeleton.
    pub(super) fn in_tables(&self, unit: &'a Unit<'o>) -> Option<&'a Unit<'o>> {
        if self.main.is_some() { self.of_split.get(&unit.offset).copied() } else { Some(unit) }
    }

    /// What an entry of an index names, if it is in this file. DWARF 5 section 6.1.1.2.
    pub(super) fn named(&self, entry: &NameEntry) -> Option<Entry<'a, 'o>> {
        if self.main.is_none() {
            return self.dwarf.named(entry);
        }
        let Some(NameUnit::Compile(offset)) = entry.unit else { return None };
        let (&unit, _) = self.of_split.iter().find(|(_, skeleton)| skeleton.offset == offset)?;
        self.dwarf.entry_at(unit.checked_add(entry.entry?)?)
    }

    /// Whether an entry of an index names something in the file of another skeleton.
    pub(super) fn is_in_another_file(&self, entry: &NameEntry) -> bool {
        let Some((main, NameUnit::Compile(offset))) = self.main.zip(entry.unit) else { return false };
        let is_here = self.of_split.values().any(|skeleton| skeleton.offset == offset);
        !is_here && main.units().iter().any(|unit| unit.offset == offset)
    }
}
