//! Comparison of a module with an object: units first, then whatever depends on all entries.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gimli::{DwAt, DwUt, constants as dw};
use hashbrown::HashMap;

use super::describe::Describe;
use super::file::File;
use super::lines::{Lines, lines_of_others};
use super::meanings::Meanings;
use super::report::{Kind, Report};
use super::tables::Tables;
use super::tree::{Described, Different, Entity, Number, Reference};
use super::type_units::{TypeUnits, is_type_unit};
use crate::error::At;
use crate::model::{CallId, FunctionId, ScopeId, TypeId, Unit, UnitId, VariableId};
use crate::read::{Dwarf, Entry, Object};

pub(super) struct Compare<'a, 'o> {
    pub(super) described: Described<'a>,
    pub(super) file: File<'a, 'o>,
    pub(super) type_units: TypeUnits<'a, 'o>,
    pub(super) known: Known,
    pub(super) pending: Pending<'a, 'o>,
    pub(super) split: Split<'a, 'o>,
    pub(super) report: Report,
}

/// Entities and their entries.
#[derive(Default)]
pub(super) struct Known {
    /// Entities, each with the index of its entry.
    entries: HashMap<Entity, u32>,
    /// Scopes and the indices of their entries: a scope in an inlined function has one in the abstract instance and one
    /// in the code.
    scopes: BTreeSet<(ScopeId, u32)>,
    /// Pairs of a type and an entry that are equal.
    pub(super) types: BTreeSet<(TypeId, u64)>,
    pub(super) type_entries: BTreeSet<u64>,
    /// Units by their offsets in lookup tables: for a split unit, that of its skeleton.
    pub(super) units: BTreeMap<u64, UnitId>,
}

/// Comparisons that depend on all entries of a file.
#[derive(Default)]
pub(super) struct Pending<'a, 'o> {
    references: Vec<Referring>,
    /// Numbers, each of an entity that locates findings.
    pub(super) numbers: Vec<(Entity, Number, Entry<'a, 'o>)>,
    /// Composite types, whose scopes are compared.
    pub(super) types: Vec<(ScopeId, Entry<'a, 'o>)>,
    /// Variables, each with the index of its entry, and the function around it.
    places: Vec<(VariableId, u32, Option<FunctionId>)>,
    pub(super) frames: Vec<(FunctionId, Entry<'a, 'o>)>,
    pub(super) calls: Vec<(CallId, Entry<'a, 'o>)>,
    /// Functions and inlined calls, for their lanes.
    pub(super) lanes: Vec<(ScopeId, Entry<'a, 'o>)>,
    /// Units, for their procedures.
    pub(super) units: Vec<(UnitId, Entry<'a, 'o>)>,
}

/// Reference of an entity that locates findings. There are many: the entry that it leads to is an index.
struct Referring {
    of: Entity,
    attribute: Option<DwAt>,
    entity: Entity,
    found: Option<u32>,
}

impl<'a, 'o> Pending<'a, 'o> {
    pub(super) fn refer(&mut self, of: Entity, Reference { attribute, entity, found }: Reference<'a, 'o>) {
        let found = found.map(|entry| entry.index() as u32);
        self.references.push(Referring { of, attribute, entity, found });
    }

    pub(super) fn place(&mut self, id: VariableId, entry: Entry<'a, 'o>, function: Option<FunctionId>) {
        self.places.push((id, entry.index() as u32, function));
    }
}

/// Split units, and the object with their skeletons.
pub(super) struct Split<'a, 'o> {
    pub(super) main: Option<&'a Dwarf<'o>>,
    /// Skeletons, and whether each is matched with a split unit.
    pub(super) skeletons: Vec<(&'a crate::read::Unit<'o>, bool)>,
    /// Skeletons of the current file, by the offsets of their split units.
    pub(super) of_file: BTreeMap<u64, &'a crate::read::Unit<'o>>,
    /// Whether this is the first file, with which the parts of tables that belong to no unit are compared.
    pub(super) is_first: bool,
    pub(super) names: &'a [String],
}

impl Known {
    pub(super) fn add(&mut self, entity: Entity, entry: Entry<'_, '_>) {
        self.entries.insert(entity, entry.index() as u32);
    }

    pub(super) fn add_scope(&mut self, scope: ScopeId, entry: Entry<'_, '_>) {
        self.scopes.insert((scope, entry.index() as u32));
    }

    /// Whether an entry is that of a scope.
    pub(super) fn is_scope(&self, scope: ScopeId, entry: Entry<'_, '_>) -> bool {
        self.scopes.contains(&(scope, entry.index() as u32))
    }

    /// Indices of the entries of an entity.
    fn of(&self, entity: Entity) -> Vec<u32> {
        let one = |entity| self.entries.get(&entity).copied();
        match entity {
            Entity::Either(id) => {
                [Entity::Variable(id), Entity::Abstract(id)].into_iter().filter_map(one).collect()
            }
            Entity::Inside(id) => {
                self.scopes.range((id, 0)..=(id, u32::MAX)).map(|&(_, index)| index).collect()
            }
            entity => one(entity).into_iter().collect(),
        }
    }

    /// Returns the difference if a reference leads to another entry.
    pub(super) fn differs(
        &self,
        dwarf: &Dwarf<'_>,
        Reference { attribute, entity, found }: Reference<'_, '_>,
    ) -> Option<(Kind, Different)> {
        let known = self.of(entity);
        if found.is_some_and(|found| known.contains(&(found.index() as u32))) {
            return None;
        }
        let is_of_type = matches!(entity, Entity::Either(_) | Entity::Inside(_));
        let kind = if is_of_type { Kind::Type } else { Kind::Attribute };
        let what = attribute.map_or_else(|| "a type in".into(), |name| name.describe());
        let expected = known.first().and_then(|&index| dwarf.entry_with_index(index as usize));
        Some((kind, (format!("{what} {}", expected.describe()), found.describe())))
    }

    /// Offset of the entry with the location of a variable.
    pub(super) fn variable(&self, dwarf: &Dwarf<'_>, id: VariableId) -> Option<u64> {
        let &index = self.entries.get(&Entity::Variable(id))?;
        Some(dwarf.entry_with_index(index as usize)?.offset())
    }
}

/// Units by name, each with the index of its file. Units of one name are in order.
pub(super) struct UnitsByName<'a, 'o>(BTreeMap<&'a str, VecDeque<(usize, &'a crate::read::Unit<'o>)>>);

impl<'a, 'o> UnitsByName<'a, 'o> {
    pub(super) fn new(files: impl IntoIterator<Item = &'a Dwarf<'o>>) -> Self
    where
        'o: 'a,
    {
        let mut by_name = BTreeMap::<_, VecDeque<_>>::new();
        for (file, dwarf) in files.into_iter().enumerate() {
            for unit in dwarf.units().iter().filter(|unit| !is_type_unit(unit)) {
                by_name.entry(unit.name.as_deref().unwrap_or("")).or_default().push_back((file, unit));
            }
        }
        Self(by_name)
    }

    /// Takes the next unit of this name.
    pub(super) fn take(&mut self, name: &str) -> Option<(usize, &'a crate::read::Unit<'o>)> {
        self.0.get_mut(name)?.pop_front()
    }
}

impl<'a, 'o> Compare<'a, 'o> {
    pub(super) fn new(described: Described<'a>, dwarf: &'a Dwarf<'o>) -> Self {
        let mut report = Report { omitted: described.omitted.all, ..Report::default() };
        let split =
            Split { main: None, skeletons: Vec::new(), of_file: BTreeMap::new(), is_first: true, names: &[] };
        Self {
            described,
            file: File::new(described, dwarf, &mut report),
            type_units: TypeUnits::default(),
            known: Known::default(),
            pending: Pending::default(),
            split,
            report,
        }
    }

    /// Returns the comparison of lookup tables.
    pub(super) fn tables(&mut self) -> Tables<'_, 'a, 'o> {
        let Self { described, file, known, split, report, .. } = self;
        Tables { described: *described, file, known, split, report }
    }

    /// Returns the comparison of the meaning of locations.
    pub(super) fn meanings(&mut self) -> Meanings<'_, 'a, 'o> {
        let Self { described, file, known, report, .. } = self;
        Meanings::new(*described, file, known, report)
    }

    /// Runs the whole comparison.
    pub(super) fn run(mut self) -> Report {
        let object = self.described.object;
        self.header(object);
        self.unencodable();
        self.read_type_units();
        self.units();
        self.rest_of_type_units();
        self.types_that_stayed();
        let dwarf = self.file.dwarf;
        let mut tables = self.tables();
        tables.headers(object, dwarf);
        tables.lookups();
        tables.addresses();
        self.rest();
        self.meanings().call_frames(dwarf);
        self.report
    }

    /// Continues with another file of split units.
    pub(super) fn begin_file(&mut self, file: &'a Dwarf<'o>) {
        self.file = File::new(self.described, file, &mut self.report);
        let units = core::mem::take(&mut self.known.units);
        self.known = Known { units, ..Known::default() };
        self.split.of_file.clear();
    }

    /// Runs the comparisons that depend on all entries of a file.
    pub(super) fn rest(&mut self) {
        self.references();
        let Pending { numbers, places, frames, calls, lanes, units, .. } = core::mem::take(&mut self.pending);
        let mut meanings = self.meanings();
        for (of, number, entry) in numbers {
            meanings.value(number, entry, of);
        }
        for (variable, entry, function) in places {
            if let Some(entry) = meanings.file.dwarf.entry_with_index(entry as usize) {
                meanings.location(variable, entry, function);
            }
        }
        for (function, entry) in frames {
            meanings.frame(function, entry);
        }
        for (call, entry) in calls {
            meanings.call(call, entry);
        }
        for (scope, entry) in lanes {
            meanings.lanes_of(scope, entry);
        }
        meanings.procedures(units);
    }

    /// Compares references to entities, after all entries are known.
    fn references(&mut self) {
        let dwarf = self.file.dwarf;
        for Referring { of, attribute, entity, found } in core::mem::take(&mut self.pending.references) {
            let found = found.and_then(|index| dwarf.entry_with_index(index as usize));
            let reference = Reference { attribute, entity, found };
            if let Some((kind, (expected, found))) = self.known.differs(dwarf, reference) {
                self.report.find(kind, self.described.at(of), expected, found);
            }
        }
    }

    /// Compares the machine and the processor of the object with the module's target.
    pub(super) fn header(&mut self, object: &Object<'_>) {
        let target = &self.described.module.target;
        self.report.expect_equal(&At::default(), "ELF machine", &target.elf().machine, &object.machine());
        let name = |gfx: Option<crate::target::Gfx>| gfx.map(crate::target::Gfx::name);
        self.report.expect_equal(&At::default(), "processor", &name(target.gfx()), &name(object.gfx()));
    }

    /// Compares every unit of the module. Units match by name, and those of one name in order.
    fn units(&mut self) {
        let mut known = UnitsByName::new([self.file.dwarf]);
        for (id, unit) in self.described.module.units() {
            match known.take(self.described.module.string(unit.name)) {
                Some((_, found)) => self.unit_with_root(id, found),
                None => self.missing_unit(unit),
            }
        }
        self.no_more(known, &[self.file.dwarf]);
    }

    /// Compares a unit, if it has a root entry.
    pub(super) fn unit_with_root(&mut self, id: UnitId, found: &'a crate::read::Unit<'o>) {
        let (module, dwarf) = (self.described.module, self.file.dwarf);
        let unit = module.unit(id);
        match dwarf.root(found) {
            Some(root) => self.unit(id, found, root),
            None => self.missing_unit(unit),
        }
    }

    #[cold]
    pub(super) fn missing_unit(&mut self, unit: &Unit) {
        let what = format!("a unit `{}`", self.described.module.string(unit.name));
        self.report.find(Kind::MissingEntry, self.described.module.at_scope(unit.scope), what, "none");
    }

    /// Reports units that the module does not describe. Each unit has the index of its file.
    pub(super) fn no_more(&mut self, rest: UnitsByName<'a, 'o>, files: &[&'a Dwarf<'o>]) {
        let mut rest: Vec<_> = rest.0.into_values().flatten().collect();
        rest.sort_by_key(|&(file, unit)| (file, unit.offset));
        let mut programs = BTreeSet::new();
        for (file, unit) in rest {
            let name = unit.name.as_deref().map(String::from);
            let what = format!("a unit `{}`", name.as_deref().unwrap_or_default());
            let at = At { unit: name, ..At::default() };
            let dwarf = files[file];
            let kind = if self.described.is_over(dwarf, unit) { Kind::Code } else { Kind::Extra };
            self.report.find(kind, at.clone(), "no more", what);
            // Units can share a program, whose rows are compared once.
            if programs.insert((file, unit.stmt_list)) {
                lines_of_others(self.described, &mut self.report, dwarf, unit, &at);
            }
        }
    }

    fn unit(&mut self, id: UnitId, found: &'a crate::read::Unit<'o>, root: Entry<'a, 'o>) {
        let at = &self.described.module.at_unit(id);
        self.report.entries += 1;
        let is_split = self.split.main.is_some();
        let kind = if is_split { dw::DW_UT_split_compile } else { dw::DW_UT_compile };
        self.unit_header(found, kind, at);
        if self.file.program(found).is_none()
            && let Err(error) = self.file.dwarf.lines(found)
        {
            self.report.unreadable(self.described.object, &error, at.clone());
        }
        self.node(&self.described.unit(id, is_split), root, Entity::TypeUnit(id));
        let has_code = if is_split { self.skeleton(id, found, at) } else { Some(root) };
        if let Some(has_code) = has_code {
            self.known.units.insert(has_code.unit().offset, id);
            self.code_of_unit(id, has_code, at);
        }
        self.scope(self.described.module.unit(id).scope, root);
        self.rest_of_types(id, root);
        self.pending.units.push((id, root));
        self.macros(id, found, at);
        let program = self.file.program(found);
        let (program, rows) = (program.as_deref(), &self.file.rows);
        Lines { described: self.described, program, rows, report: &mut self.report }.compare(id, at);
    }

    /// Compares the header of a unit.
    pub(super) fn unit_header(&mut self, unit: &crate::read::Unit<'_>, kind: DwUt, at: &At) {
        self.report.expect_equal(at, "a unit's kind", &kind, &unit.kind);
        self.report.expect_equal(at, "entries that do not end", &0, &unit.contents.unclosed);
        let (expected, found) = (self.described.consumer, &unit.encoding);
        let address_bytes = self.described.module.target.address_bytes();
        self.report.expect_equal(at, "bytes of an address", &address_bytes, &found.address_bytes);
        self.report.expect_equal(at, "the DWARF version", &expected.version, &found.version);
        self.report.expect_equal(at, "bytes of an offset", &expected.format.word_size(), &found.offset_bytes);
    }
}
