//! The comparison as a whole: units first, and what is found on the way.

use core::cell::RefCell;
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use cranelift_entity::SecondaryMap;
use gimli::constants as dw;
use hashbrown::HashMap;

use super::attributes::{self, only};
use super::index::Index;
use super::machine::{List, Lists};
use super::procedures::{Referred, referred};
use super::ranges::Ranges;
use super::report::{Finding, Kind, Report};
use super::types::{Later, TypeUnits, is_type_unit};
use super::witness;
use super::words::Words;
use crate::consumer::Consumer;
use crate::error::{At, Error};
use crate::eval;
use crate::lower::{LeftOut, Whose};
use crate::model::{Address, CallId, FunctionId, Module, ScopeId, TypeId, Unit, UnitId, VariableId};
use crate::read::{Dwarf, Entry, LineProgram, Object, Value};

pub(super) struct Compare<'a, 'o> {
    pub(super) module: &'a Module,
    pub(super) consumer: &'a Consumer,
    pub(super) object: &'a Object<'a>,
    pub(super) dwarf: &'a Dwarf<'o>,
    /// By how many bytes the object is loaded above its addresses.
    pub(super) load_bias: u64,
    /// What that file says of what expressions refer to.
    pub(super) info: eval::DebugInfo<'a, 'o>,
    pub(super) index: Rc<Index>,
    pub(super) left_out: BTreeMap<VariableId, Ranges>,
    /// What the consumer could not be told all of.
    pub(super) untold: BTreeSet<Whose>,
    /// The code of the functions that are described.
    pub(super) described_code: Ranges,
    /// What was left out that is no variable's.
    pub(super) others_left_out: Vec<Whose>,
    /// What was left out of where lanes stand.
    pub(super) lanes_left_out: Vec<&'a LeftOut>,
    /// Omissions of frames, each with the pc at which its rule begins.
    pub(super) frames_left_out: BTreeSet<(Whose, u64)>,
    pub(super) lists: Lists<'o>,
    /// The entries to which expressions refer.
    pub(super) referred: Referred,
    pub(super) report: Report,
    /// The entries that say where variables are, for pointers to them.
    pub(super) variables: SecondaryMap<VariableId, Option<u64>>,
    /// The entries that instances of functions and variables refer to.
    pub(super) function_origins: SecondaryMap<FunctionId, Option<u64>>,
    pub(super) variable_origins: SecondaryMap<VariableId, Option<u64>>,
    /// The entries of namespaces, and of blocks in abstract instances.
    pub(super) scope_origins: SecondaryMap<ScopeId, Option<u64>>,
    /// Instances, to compare when all origins are known.
    pub(super) instances: Vec<Instance>,
    /// Locations to compare, when all entries are known.
    pub(super) places: Vec<(VariableId, Entry<'a, 'o>, Option<FunctionId>)>,
    /// Functions and calls with expressions to compare, when all entries are known.
    pub(super) frames: Vec<(FunctionId, Entry<'a, 'o>)>,
    pub(super) calls: Vec<(CallId, Entry<'a, 'o>)>,
    /// So for functions and inlined calls, of which it is said where their lanes stand.
    pub(super) lanes: Vec<(ScopeId, Entry<'a, 'o>)>,
    /// Types and entries that were found to be the same.
    pub(super) types: BTreeSet<(TypeId, u64)>,
    /// The entries of these.
    pub(super) type_entries: BTreeSet<u64>,
    /// What of types is compared when all entries are known.
    pub(super) later: Later<'a, 'o>,
    /// Scopes and the entries that they were compared with.
    pub(super) scope_entries: BTreeSet<(ScopeId, u64)>,
    /// The scopes in the one that is being compared.
    pub(super) inner: Option<Vec<(ScopeId, Entry<'a, 'o>, Option<FunctionId>)>>,
    /// Numbers of lanes of the subprograms around entries, by offset of the entry.
    pub(super) lanes_of: RefCell<HashMap<u64, Option<u64>>>,
    /// The line program of the unit that is being compared.
    pub(super) program: Option<LineProgram<'o>>,
    pub(super) type_units: TypeUnits<'a, 'o>,
    /// The units of the module by the offsets of what they were compared with.
    pub(super) unit_ids: BTreeMap<u64, UnitId>,
    pub(super) evaluator: eval::Evaluator,
    /// Of split units, what has their skeletons; these, and whether each was taken; and the files of all units.
    pub(super) main: Option<&'a Dwarf<'o>>,
    pub(super) skeletons: Vec<(&'a crate::read::Unit<'o>, bool)>,
    /// Units that were compared, each with its entry, for their procedures.
    pub(super) units: Vec<(UnitId, Entry<'a, 'o>)>,
    /// Of the file that is being compared, by the offsets of the split units.
    pub(super) of_split: BTreeMap<u64, &'a crate::read::Unit<'o>>,
    /// Whether this is the first file, with which all of the tables is compared that is not a unit's.
    pub(super) is_first: bool,
    pub(super) split_names: Vec<String>,
}

/// Units by name; of several with one name, in their order. Each has the index of its file.
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

    /// The next one of this name.
    pub(super) fn take(&mut self, name: &str) -> Option<(usize, &'a crate::read::Unit<'o>)> {
        self.0.get_mut(name)?.pop_front()
    }
}

/// An entry that refers to another one.
pub(super) struct Instance {
    pub(super) at: At,
    /// By this.
    pub(super) attribute: gimli::DwAt,
    pub(super) of: Origin,
    /// The entry that it refers to.
    pub(super) found: Option<u64>,
}

/// What an entry refers to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    Nothing,
    /// The entry that says what a function is.
    Function(FunctionId),
    /// The entry in an abstract instance that says what a variable is.
    Variable(VariableId),
    /// The entry that says where a variable is, or that declares it.
    Place(VariableId),
    /// A namespace, or a block in an abstract instance.
    Scope(ScopeId),
}

impl<'a, 'o> Compare<'a, 'o> {
    pub(super) fn new(
        module: &'a Module,
        consumer: &'a Consumer,
        left_out: &'a [LeftOut],
        object: &'a Object<'a>,
        dwarf: &'a Dwarf<'o>,
    ) -> Self {
        let mut by_variable = BTreeMap::<_, Vec<Range<u64>>>::new();
        let mut others_left_out = Vec::new();
        for one in left_out {
            match one.variable() {
                Some(variable) => {
                    let pcs = one.pcs.clone().unwrap_or(0..u64::MAX);
                    by_variable.entry(variable).or_default().push(pcs);
                }
                None => others_left_out.push(one.whose),
            }
        }
        let mut compare = Self {
            module,
            consumer,
            object,
            dwarf,
            load_bias: witness::load_bias(object, &module.target),
            info: eval::DebugInfo::new(dwarf),
            index: Rc::new(Index::new(module)),
            left_out: by_variable
                .into_iter()
                .map(|(variable, pcs)| (variable, Ranges::new(pcs.into_iter().zip(0..))))
                .collect(),
            described_code: Ranges::default(),
            untold: left_out.iter().map(|one| one.whose).collect(),
            others_left_out,
            lanes_left_out: left_out.iter().filter(|one| matches!(one.whose, Whose::Lanes(_))).collect(),
            frames_left_out: left_out
                .iter()
                .filter(|one| matches!(one.whose, Whose::Frame(..)))
                .filter_map(|one| Some((one.whose, one.pcs.as_ref()?.start)))
                .collect(),
            lists: Lists::new(),
            referred: Referred::new(),
            report: Report { left_out: left_out.len(), ..Report::default() },
            variables: SecondaryMap::new(),
            function_origins: SecondaryMap::new(),
            variable_origins: SecondaryMap::new(),
            scope_origins: SecondaryMap::new(),
            instances: Vec::new(),
            places: Vec::new(),
            frames: Vec::new(),
            calls: Vec::new(),
            lanes: Vec::new(),
            types: BTreeSet::new(),
            type_entries: BTreeSet::new(),
            later: Later::default(),
            scope_entries: BTreeSet::new(),
            inner: None,
            lanes_of: RefCell::default(),
            program: None,
            type_units: TypeUnits::default(),
            unit_ids: BTreeMap::new(),
            units: Vec::new(),
            evaluator: eval::Evaluator::new().all_places(),
            main: None,
            skeletons: Vec::new(),
            of_split: BTreeMap::new(),
            is_first: true,
            split_names: Vec::new(),
        };
        compare.described_code = compare.code_of_functions();
        compare.read_lists();
        compare
    }

    /// Reads the location lists of all entries, and to what expressions refer.
    fn read_lists(&mut self) {
        self.referred = referred(self.dwarf);
        for entry in self.dwarf.entries() {
            if !matches!(entry.attr(dw::DW_AT_location), Some(Value::LocList(_))) {
                continue;
            }
            match entry.locations(dw::DW_AT_location) {
                Ok(found) => {
                    let found = found.unwrap_or_default().into_iter().map(Into::into).collect();
                    self.lists.insert(entry.offset(), List::new(found));
                }
                Err(error) => self.unreadable(&error, entry.place()),
            }
        }
    }

    /// Compares everything.
    pub(super) fn run(mut self) -> Report {
        self.header(self.object);
        self.read_type_units();
        self.units();
        self.rest_of_type_units();
        self.types_that_stayed();
        self.tables(self.object, self.dwarf);
        self.lookups();
        self.addresses();
        self.rest();
        self.call_frames();
        self.report
    }

    /// Goes on with another file, that of split units.
    pub(super) fn begin_file(&mut self, file: &'a Dwarf<'o>) {
        self.dwarf = file;
        self.info = eval::DebugInfo::new(file);
        self.lists.clear();
        self.variables.clear();
        self.function_origins.clear();
        self.variable_origins.clear();
        self.scope_origins.clear();
        self.type_entries.clear();
        self.lanes_of.borrow_mut().clear();
        self.of_split.clear();
        self.read_lists();
    }

    /// Compares what can be when all entries of a file are known.
    pub(super) fn rest(&mut self) {
        self.origins();
        self.rest_of_parts();
        for (variable, entry, function) in core::mem::take(&mut self.places) {
            self.location(variable, entry, function);
        }
        for (function, entry) in core::mem::take(&mut self.frames) {
            self.frame(function, entry);
        }
        for (call, entry) in core::mem::take(&mut self.calls) {
            self.call_expressions(call, entry);
        }
        for (scope, entry) in core::mem::take(&mut self.lanes) {
            self.lanes_of(scope, entry);
        }
        self.procedures();
    }

    /// The object is for the module's target.
    pub(super) fn header(&mut self, object: &Object<'_>) {
        let target = &self.module.target;
        self.same(&At::default(), "ELF machine", &target.elf().machine, &object.machine());
        let name = |gfx: Option<crate::target::Gfx>| gfx.map(crate::target::Gfx::name);
        self.same(&At::default(), "processor", &name(target.gfx()), &name(object.gfx()));
    }

    /// Every unit of the module; a unit is known by its name, and of several with one name by its place.
    fn units(&mut self) {
        let mut known = UnitsByName::new([self.dwarf]);
        for (id, unit) in self.module.units() {
            match known.take(self.module.string(unit.name)) {
                Some((_, found)) => self.unit_with_root(id, found),
                None => self.missing_unit(unit),
            }
        }
        self.no_more(known, &[self.dwarf]);
    }

    /// Compares a unit, if it has an entry.
    pub(super) fn unit_with_root(&mut self, id: UnitId, found: &'a crate::read::Unit<'o>) {
        let (module, dwarf) = (self.module, self.dwarf);
        let unit = module.unit(id);
        match dwarf.root(found) {
            Some(root) => self.unit(id, unit, found, root, &module.at_scope(unit.scope)),
            None => self.missing_unit(unit),
        }
    }

    #[cold]
    pub(super) fn missing_unit(&mut self, unit: &Unit) {
        let what = format!("a unit `{}`", self.module.string(unit.name));
        self.find(Kind::MissingEntry, self.module.at_scope(unit.scope), what, "none");
    }

    /// There are no units but those of the module. A unit is given with the index of its file.
    pub(super) fn no_more(&mut self, rest: UnitsByName<'a, 'o>, files: &[&'a Dwarf<'o>]) {
        let mut rest: Vec<_> = rest.0.into_values().flatten().collect();
        rest.sort_by_key(|&(file, unit)| (file, unit.offset));
        for (file, unit) in rest {
            let name = unit.name.as_deref().map(String::from);
            let what = format!("a unit `{}`", name.as_deref().unwrap_or_default());
            let at = At { unit: name, ..At::default() };
            let dwarf = files[file];
            let kind = if self.is_over_described(dwarf, unit) { Kind::Code } else { Kind::Extra };
            self.find(kind, at.clone(), "no more", what);
            self.lines_of_others(dwarf, unit, &at);
        }
    }

    fn unit(
        &mut self,
        id: UnitId,
        unit: &Unit,
        found: &'a crate::read::Unit<'o>,
        root: Entry<'a, 'o>,
        at: &At,
    ) {
        let module = self.module;
        self.report.entries += 1;
        let text = |id: Option<crate::model::StringId>| id.map(|id| module.string(id).to_owned());
        let own = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(String::from);
        self.same(at, "a unit's tag", &dw::DW_TAG_compile_unit, &root.tag());
        let is_split = self.main.is_some();
        let kind = if is_split { dw::DW_UT_split_compile } else { dw::DW_UT_compile };
        self.same(at, "a unit's kind", &kind, &found.kind);
        self.same(at, "entries that do not end", &0, &found.unclosed);
        self.same(at, "DW_AT_comp_dir", &text(unit.directory), &own(&found.comp_dir));
        let producer = match (text(unit.producer), text(unit.command_line)) {
            (producer, None) => producer,
            (producer, Some(command_line)) => {
                Some(format!("{} {command_line}", producer.unwrap_or_default()))
            }
        };
        self.same(at, "DW_AT_producer", &producer, &own(&found.producer));
        self.language(unit, root, at);
        let address_bytes = module.target.address_bytes();
        self.same(at, "bytes of an address", &address_bytes, &found.encoding.address_bytes);
        self.same(at, "the DWARF version", &self.consumer.version, &found.encoding.version);
        let offset_bytes = self.consumer.format.word_size();
        self.same(at, "bytes of an offset", &offset_bytes, &found.encoding.offset_bytes);
        let macros = if self.consumer.version < 5 { dw::DW_AT_macro_info } else { dw::DW_AT_macros };
        let is_allowed = |name| {
            let is_elsewhere = attributes::SKELETON.contains(&name) || name == dw::DW_AT_loclists_base;
            name == macros || attributes::UNIT.contains(&name) && !(is_split && is_elsewhere)
        };
        if let Err((expected, found)) = only(root, is_allowed) {
            self.find(Kind::Attribute, at.clone(), expected, found);
        }
        let bases = attributes::BASES.into_iter().filter_map(|name| Some((name, root.attr(name)?)));
        for (name, value) in bases.filter(|(_, value)| !matches!(value, Value::Offset(_))) {
            self.find(
                Kind::Attribute,
                at.clone(),
                format!("{} of class offset", name.words()),
                value.words(),
            );
        }
        self.program = match self.dwarf.lines(found) {
            Ok(program) => program,
            Err(error) => {
                self.unreadable(&error, at.clone());
                None
            }
        };
        let has_code = if is_split { self.skeleton(id, found, at) } else { Some(root) };
        if let Some(has_code) = has_code {
            self.unit_ids.insert(has_code.unit().offset, id);
            self.code_of_unit(id, has_code, at);
        }
        self.scope(unit.scope, root, None);
        self.rest_of_types(id, root);
        self.units.push((id, root));
        self.inside_leaves(root, at);
        self.macros(id, found, at);
        self.lines(id, at);
    }

    fn language(&mut self, unit: &Unit, root: Entry<'a, 'o>, at: &At) {
        let expected = self.expected_language(unit);
        for (name, expected) in attributes::LANGUAGE.into_iter().zip(expected) {
            self.same(at, &name.words(), &expected, &root.number(name));
        }
    }

    /// The language of a unit, and its name and version for those who are told of them.
    pub(super) fn expected_language(&self, unit: &Unit) -> [Option<u64>; 3] {
        let name =
            unit.language.and_then(|language| language.name()).filter(|_| self.consumer.language_names);
        let version = name.and_then(|(_, version)| unit.language_version.or(version));
        let language = unit.language.map(|language| language.0.into());
        [language, name.map(|(name, _)| name.into()), version.map(u64::from)]
    }

    /// Instances are of what they should be.
    fn origins(&mut self) {
        for Instance { at, attribute, of, found } in core::mem::take(&mut self.instances) {
            let expected = match of {
                Origin::Nothing => None,
                Origin::Function(id) => self.function_origins[id],
                Origin::Variable(id) => self.variable_origins[id],
                Origin::Place(id) => self.variables[id],
                Origin::Scope(id) => self.scope_origins[id],
            };
            if expected != found {
                let text = |offset: Option<u64>| self.dwarf.entry_at(offset?).map(|entry| entry.words());
                let text = |offset| text(offset).unwrap_or_else(|| "nothing".into());
                let expected = format!("{} {}", attribute.words(), text(expected));
                self.find(Kind::Attribute, at, expected, text(found));
            }
        }
    }

    /// The address of a function's code in the object.
    pub(super) fn address(&self, function: FunctionId) -> Option<u64> {
        match self.module.function(function).address? {
            Address::Constant(address) => Some(address),
            Address::Symbol(symbol, by) => {
                Some(self.object.symbol(self.module.symbol_name(symbol))?.address.wrapping_add(by))
            }
        }
    }

    /// How much of a function or call was left out.
    pub(super) fn left_out_of(&self, of: Whose) -> usize {
        self.others_left_out.iter().filter(|&&one| one == of).count()
    }

    /// Notes a difference.
    #[cold]
    pub(super) fn find(&mut self, kind: Kind, at: At, expected: impl Into<String>, found: impl Into<String>) {
        let (expected, found) = (expected.into(), found.into());
        self.report.findings.push(Finding { kind, at, lane: None, expected, found, trace: Vec::new() });
    }

    /// Notes something that could not be read.
    #[cold]
    pub(super) fn unreadable(&mut self, error: &Error, at: At) {
        self.find(
            Kind::Unreadable,
            at,
            "something that can be read",
            super::placed(self.object, error).to_string(),
        );
    }

    /// Compares what an attribute says.
    pub(super) fn same<T: PartialEq + Words>(&mut self, at: &At, what: &str, expected: &T, found: &T) {
        if expected != found {
            let (expected, found) = (format!("{what} {}", expected.words()), found.words());
            self.find(Kind::Attribute, at.clone(), expected, found);
        }
    }
}

/// Ranges as text.
pub(super) fn hex(ranges: &[core::ops::Range<u64>]) -> String {
    let ranges: Vec<_> = ranges.iter().map(|range| format!("{:#x}..{:#x}", range.start, range.end)).collect();
    if ranges.is_empty() { "no code".into() } else { ranges.join(", ") }
}
