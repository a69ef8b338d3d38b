//! Counts scopes and variables: stats' part in the walk over each unit.

use std::rc::Rc;

use gimli::{DwTag, constants as dw};
use hashbrown::HashMap;

use super::attributes::{OwnAttributes, Shape, entry_name, has_source, read};
use super::coverage::{Coverage, FunctionCoverage, VariableCoverage};
use super::expressions::{Expressions, Needs};
use super::forms::Forms;
use super::lines;
use super::lists::list_bytes;
use super::origins::{self, Missing, Origins};
use super::part::{UnitCounts, count_missing};
use super::source::{FUNCTION, GLOBAL, Path};
use crate::lint::{Asked, Diagnoser, Framed};
use crate::ranges::{CodeRanges, LONG_LIST, RangeLists};
use crate::walk::{Inside, ListKey, Scopes, Visit, end, has_children, read_locations, walk};
use eitri_dwarf::error::Error;
use eitri_dwarf::read::{ByAbbreviation, Dwarf, Entry, ListEntry, ResolvedValue, SUPPLEMENTARY, Str, Unit};

/// What inner scopes inherit.
#[derive(Debug, Clone, Copy)]
struct Inherited {
    named: u32,
    path: Path,
    /// Bytes in the innermost scope with code.
    bytes: u64,
    /// Index of the list with the abstract variables that have no location so far.
    tracked: Option<usize>,
    /// Function in the result.
    function: Option<usize>,
}

/// What stats keeps for an entry's children.
#[derive(Debug)]
pub(super) struct Own {
    inherited: Inherited,
    /// The entry's own ranges.
    ranges: CodeRanges,
    blocks: u32,
    params: u32,
    owns_tracked: bool,
}

/// Facts about abbreviations and expressions.
#[derive(Debug, Default)]
pub(super) struct Known<'r> {
    shapes: ByAbbreviation<Shape>,
    pub(super) forms: Forms<'r>,
    ranges: RangeLists,
    /// The unit's expressions.
    expressions: Expressions<'r>,
    /// Other units' files, by unit offset, for declarations outside their variable's unit.
    files: HashMap<u64, Vec<Option<String>>>,
}

/// Scope, with the function that decides which locations are sound.
pub(super) type Scope<'r> = crate::walk::Scope<Rc<Framed<'r>>, Own>;

/// A location list in a scope, and the facts that decide whether its locations are sound.
type SharedKey = (ListKey, Option<Asked>);

/// Counts for a long location list. Many variables can reference a list, which is then counted once.
#[derive(Debug)]
struct Shared {
    coverage: (Coverage, u64, bool),
    locations: u64,
    bytes: u64,
    /// Number of variables after the first.
    more: u64,
}

pub(super) struct Visitor<'a, 'r, 'o> {
    part: &'a mut UnitCounts<'r>,
    diagnoser: Option<Diagnoser<'a, 'r, 'o>>,
    lists_variables: bool,
    files: &'a [Option<String>],
    /// Start of the unit's input section.
    pub(super) start: u64,
    /// Variables in this unit's abstract instances.
    pub(super) local: Origins,
    tracked: Vec<Missing>,
    /// Concrete instances whose abstract instance has not been visited, by index.
    pub(super) waiting: Vec<(usize, u64)>,
    scopes: Scopes<Rc<Framed<'r>>, Own>,
    /// Index of the first entry after the descendants that are not counted.
    skipped: usize,
    known: &'a mut Known<'r>,
    /// Whether the entry that was read last has a location.
    has_location: bool,
    /// This entry's location entries.
    list: Vec<ListEntry<'r>>,
    /// Whether each entry in `list` has an error.
    wrong: Vec<bool>,
    /// Scope bytes at which the PTX registers of each entry in `list` have no home.
    without_homes: Vec<u64>,
    /// Errors in lists that cannot be read.
    unreadable: &'a mut Vec<Error>,
    /// Counts for the unit's long lists.
    shared: HashMap<SharedKey, Shared>,
}

impl<'a, 'r, 'o> Visitor<'a, 'r, 'o> {
    pub(super) fn new(
        part: &'a mut UnitCounts<'r>,
        diagnoser: Option<Diagnoser<'a, 'r, 'o>>,
        files: &'a [Option<String>],
        known: &'a mut Known<'r>,
        lists_variables: bool,
        unreadable: &'a mut Vec<Error>,
    ) -> Self {
        Self {
            part,
            diagnoser,
            lists_variables,
            files,
            start: 0,
            local: Origins::new(),
            tracked: Vec::new(),
            waiting: Vec::new(),
            scopes: Scopes::default(),
            skipped: 0,
            known,
            has_location: false,
            list: Vec::new(),
            wrong: Vec::new(),
            without_homes: Vec::new(),
            unreadable,
            shared: HashMap::new(),
        }
    }

    pub(super) fn unit(&mut self, dwarf: &'r Dwarf<'r>, unit: &'r Unit<'r>) {
        // Entries in type units have no code.
        self.skipped = if unit.signature.is_some() { usize::MAX } else { 0 };
        walk(dwarf, unit, self);
        for (((offset, _), _), shared) in std::mem::take(&mut self.shared) {
            self.list.clear();
            if shared.more == 0 || dwarf.read_locations(unit, offset, &mut self.list).is_err() {
                continue;
            }
            if self.known.expressions.is_full() {
                self.finish_expressions(unit);
            }
            self.known.expressions.add(&self.list, unit.encoding, shared.more);
        }
        self.finish_expressions(unit);
    }

    /// Returns the facts that decide whether a variable's location list is sound.
    fn asked(&mut self, entry: Entry<'r, 'r>, own: &OwnAttributes<'r>) -> Option<Asked> {
        let framed = self.scopes.function().map(Rc::as_ref);
        Some(self.diagnoser.as_mut()?.asked(entry, own.ty, framed))
    }

    /// Returns the key of a variable's location list, if the list is counted already.
    fn shared(&mut self, entry: Entry<'r, 'r>, own: &OwnAttributes<'r>) -> Option<SharedKey> {
        if self.shared.is_empty() {
            return None;
        }
        let key = (self.scopes.list_key(own.location.as_ref())?, self.asked(entry, own));
        self.shared.get_mut(&key)?.more += 1;
        Some(key)
    }

    fn finish_expressions(&mut self, unit: &Unit<'r>) {
        self.part.contents.operations(&self.known.expressions, unit);
        self.known.expressions.clear();
    }

    /// Reads a location's entries into the list, which is empty if they cannot be read. Returns whether there is a
    /// location that can be read.
    fn read_locations(&mut self, entry: Entry<'r, 'r>, location: Option<&ResolvedValue<'r>>) -> bool {
        read_locations(entry, location, &mut self.list).unwrap_or_else(|error| {
            self.list.clear();
            self.unreadable.push(error);
            false
        })
    }

    /// Returns a child's path: a parent's blocks and parameters are numbered.
    fn path(&mut self, tag: DwTag) -> Path {
        let Some(parent) = self.scopes.innermost_mut().map(|scope| &mut scope.own) else { return GLOBAL };
        let path = parent.inherited.path;
        let (is_block, number) = match tag {
            dw::DW_TAG_lexical_block => (true, &mut parent.blocks),
            dw::DW_TAG_formal_parameter => (false, &mut parent.params),
            _ => return path,
        };
        *number += 1;
        self.part.source.path(path, is_block, *number - 1)
    }

    /// Counts an entry. Returns its children's scope; `None` if the descendants are not counted.
    fn entry(
        &mut self,
        entry: Entry<'r, 'r>,
        shape: &Shape,
        own: &OwnAttributes<'r>,
        shared: Option<SharedKey>,
    ) -> Option<(Inside<Rc<Framed<'r>>>, Own)> {
        let tag = shape.tag;
        if tag == dw::DW_TAG_subroutine_type {
            return None;
        }
        let path = self.path(tag);
        let around = self.scopes.innermost().map_or(Inherited::default(), |scope| scope.own.inherited);
        let inherited = Inherited { path, ..around };
        let scope =
            Own { inherited, ranges: CodeRanges::default(), blocks: 0, params: 0, owns_tracked: false };
        match tag {
            dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine | dw::DW_TAG_lexical_block => {
                self.code(entry, shape, own, scope)
            }
            _ => {
                self.variable(entry, shape, own, shared, &inherited);
                Some((Inside::Same, scope))
            }
        }
    }

    /// Counts a function, an inlined call or a block. `None` if its descendants are not counted.
    fn code(
        &mut self,
        entry: Entry<'r, 'r>,
        shape: &Shape,
        own: &OwnAttributes<'r>,
        mut scope: Own,
    ) -> Option<(Inside<Rc<Framed<'r>>>, Own)> {
        let is_function = shape.tag == dw::DW_TAG_subprogram;
        let is_inlined = shape.tag == dw::DW_TAG_inlined_subroutine;
        let inherited = &mut scope.inherited;
        if (is_inlined || is_function)
            && shape.has_origin
            && let Some(origin) = origins::origin(entry, self.start)
        {
            inherited.tracked = self.local.get(&origin).map(|instance| {
                self.tracked.push(Missing::new(instance));
                self.tracked.len() - 1
            });
            scope.owns_tracked = inherited.tracked.is_some();
            if !scope.owns_tracked {
                self.waiting.push((entry.index(), origin));
            }
        }
        if is_function || is_inlined {
            inherited.path = FUNCTION;
        }
        if shape.is_declaration {
            return None;
        }
        if shape.has_call {
            self.part.statistics.counts.call_site_entries += 1;
        }
        scope.ranges = match self.known.ranges.ranges(entry) {
            Ok(ranges) => ranges,
            Err(error) => {
                self.unreadable.push(error.or_at(entry.place()));
                return None;
            }
        };
        let inside = match shape.tag {
            dw::DW_TAG_subprogram => {
                let diagnoser = self.diagnoser.as_mut();
                Inside::Function(
                    diagnoser.and_then(|diagnoser| diagnoser.function(entry, &scope.ranges)).map(Rc::new),
                )
            }
            dw::DW_TAG_inlined_subroutine => Inside::Call,
            _ => Inside::Same,
        };
        let bytes = scope.ranges.bytes();
        if is_function && bytes > 0 && !scope.ranges.is_live() {
            // A linker discarded the function.
            return None;
        }
        if is_function || is_inlined {
            if shape.is_inline {
                let variables = origins::abstract_variables(entry, self.start);
                let offset = entry.offset() - self.start;
                self.part.abstracts.insert(offset, variables.clone());
                self.local.insert(offset, variables);
                return None;
            }
            inherited.named = self.function(entry, shape, own, is_inlined);
        }
        if bytes > 0 {
            inherited.bytes = bytes;
            let statistics = &mut self.part.statistics;
            if is_function {
                statistics.counts.function_bytes = statistics.counts.function_bytes.saturating_add(bytes);
                inherited.function = Some(statistics.functions.len());
                let name = entry.name().unwrap_or_default();
                let linkage_name = entry_name(shape, own).map(|linkage| linkage.text());
                statistics.functions.push(FunctionCoverage {
                    unit: entry.unit().name.as_deref().map(String::from),
                    linkage_name: linkage_name.filter(|linkage| *linkage != name).map(String::from),
                    name: name.into_owned(),
                    coverage: Coverage::default(),
                    variables: Vec::new(),
                });
            } else if is_inlined && self.scopes.calls() == 0 {
                statistics.counts.inlined_bytes = statistics.counts.inlined_bytes.saturating_add(bytes);
            }
        }
        Some((inside, scope))
    }

    /// Returns the index for the functions that share an entry's name.
    fn function(
        &mut self,
        entry: Entry<'r, 'r>,
        shape: &Shape,
        own: &OwnAttributes<'r>,
        is_inlined: bool,
    ) -> u32 {
        let (file, line) = self.declared(&own.completions, entry.unit());
        let text = entry_name(shape, own).map_or("".into(), Str::text);
        let name = format!("{text}:{file}:{line}");
        let index = self.part.source.function(name);
        let named = self.part.source.named(index);
        named.is_function = true;
        if is_inlined {
            named.inlined += 1;
            named.with_origin += u64::from(shape.has_origin);
        } else {
            named.out_of_line += 1;
        }
        named.has_source |= has_source(shape, own);
        index
    }

    /// Returns where an entry is declared: the file without its folder, and the line. `entries` are the entry and those
    /// from which it inherits; `unit` is the unit that is walked.
    fn declared(&mut self, entries: &[Entry<'r, 'r>], unit: &Unit<'r>) -> (&str, u64) {
        let number = |name| entries.iter().find_map(|&entry| Some((entry, entry.attr(name)?)));
        let line = number(dw::DW_AT_decl_line).and_then(|(_, line)| line.unsigned()).unwrap_or(0);
        let path = number(dw::DW_AT_decl_file).and_then(|(declared, file)| {
            let file = file.unsigned()?;
            // llvm-dwarfdump looks the number up in the entry's unit, even if another unit contains the declaration. It
            // does not read supplementary files.
            let owner = if declared.unit().offset >= SUPPLEMENTARY { declared } else { *entries.first()? };
            let files = self.unit_files(owner, unit);
            files.get(usize::try_from(file).ok()?)?.as_deref()
        });
        (path.map_or("/", |path| path.rsplit('/').next().unwrap_or(path)), line)
    }

    /// Returns the files in the unit that declares an entry.
    fn unit_files(&mut self, declared: Entry<'r, 'r>, unit: &Unit<'r>) -> &[Option<String>] {
        let own = declared.unit();
        if own.offset == unit.offset {
            return self.files;
        }
        self.known.files.entry(own.offset).or_insert_with(|| {
            let program = declared.dwarf().lines(own).ok().flatten();
            program.map(|program| lines::paths(&program, own)).unwrap_or_default()
        })
    }

    /// Counts a variable, a parameter, a constant member or a call site.
    fn variable(
        &mut self,
        entry: Entry<'r, 'r>,
        shape: &Shape,
        own: &OwnAttributes<'r>,
        shared: Option<SharedKey>,
        scope: &Inherited,
    ) {
        let counts = &mut self.part.statistics.counts;
        let (is_param, is_local) = match shape.tag {
            dw::DW_TAG_call_site | dw::DW_TAG_GNU_call_site => {
                counts.call_sites += 1;
                return;
            }
            dw::DW_TAG_call_site_parameter | dw::DW_TAG_GNU_call_site_parameter => {
                counts.call_site_params += 1;
                return;
            }
            dw::DW_TAG_formal_parameter => (true, false),
            dw::DW_TAG_variable if shape.is_declaration => return,
            dw::DW_TAG_variable => (false, true),
            dw::DW_TAG_member if shape.has_value => (false, false),
            _ => return,
        };
        let mut is_deferred = false;
        if shape.has_origin {
            if shape.has_location || shape.has_value {
                if let (Some(index), Some(origin)) = (scope.tracked, origins::origin(entry, self.start)) {
                    self.tracked[index].locate(origin);
                }
            } else {
                is_deferred = true;
            }
        }
        let is_list = matches!(own.location, Some(ResolvedValue::LocList(_)));
        let list = if is_list { &self.list[..] } else { &[] };
        let mut locations = list.len() as u64;
        let mut bytes = list_bytes(list) as u64;
        let known = shared.and_then(|key| self.shared.get(&key));
        let (coverage, any, has_location) = match known {
            Some(known) => {
                (locations, bytes) = (known.locations, known.bytes);
                known.coverage
            }
            None => {
                let coverage = self.coverage(entry, shape, own, scope);
                if is_list
                    && self.list.len() >= LONG_LIST
                    && let Some(key) = self.scopes.list_key(own.location.as_ref())
                {
                    let asked = self.asked(entry, own);
                    self.shared.insert((key, asked), Shared { coverage, locations, bytes, more: 0 });
                }
                coverage
            }
        };
        let origin = own.completions.get(1).copied().filter(|_| shape.has_origin);
        let is_artificial = origin.map_or(shape.is_artificial, |origin| origin.has(dw::DW_AT_artificial));
        let has_type = shape.has_type || own.has_inherited(dw::DW_AT_type);
        let is_declared = has_source(shape, own);
        let statistics = &mut self.part.statistics;
        let own_group = match (is_param, is_local) {
            (true, _) => Some(&mut statistics.params),
            (_, true) => Some(&mut statistics.locals),
            _ => None,
        };
        let classes = coverage.classes();
        for group in std::iter::once(&mut statistics.variables).chain(own_group) {
            if scope.bytes > 0 {
                group.coverage += coverage;
                if !is_deferred {
                    group.process(classes);
                }
            }
            if !is_artificial && (is_param || is_local) {
                group.count += 1;
                group.with_source += u64::from(is_declared);
                group.with_type += u64::from(has_type);
                group.with_location += u64::from(has_location);
            }
        }
        let is_constant = !is_param && !is_local;
        let counts = &mut statistics.counts;
        counts.any_scope = counts.any_scope.saturating_add(any);
        counts.variables_with_location += u64::from(has_location || is_constant);
        // Link-time optimization refers to the variable in another unit.
        let declared = (scope.path == GLOBAL).then(|| {
            let entries = &own.completions[usize::from(origin.is_some())..];
            let (file, line) = self.declared(entries, entry.unit());
            (file.to_owned(), line)
        });
        let name = match origin {
            Some(origin) => {
                let shape = self.known.shapes.of(origin, || Shape::new(origin));
                entry_name(&shape, &read(origin, &shape))
            }
            None => entry_name(shape, own),
        };
        let source = &mut self.part.source;
        let name = match name {
            Some(name) => source.strings.of(name),
            None => source.strings.of_bytes(&[]),
        };
        source.variable((scope.named, scope.path, name), declared);
        let counts_lines = is_constant || is_artificial || is_local;
        self.part.source.named(scope.named).other_lines += u64::from(counts_lines);
        if let Some(function) = scope.function.filter(|_| scope.bytes > 0) {
            let function = &mut self.part.statistics.functions[function];
            function.coverage += coverage;
            if self.lists_variables {
                function.variables.push(VariableCoverage {
                    name: entry.name().map(String::from).unwrap_or_default(),
                    is_parameter: is_param,
                    coverage,
                    entry_bytes: entry.bytes(),
                    locations,
                    list_bytes: bytes,
                });
            }
        }
    }

    /// Returns a variable's coverage, the bytes its entries cover inside and outside the scope, and whether it has a
    /// location.
    fn coverage(
        &mut self,
        entry: Entry<'r, 'r>,
        shape: &Shape,
        own: &OwnAttributes<'r>,
        scope: &Inherited,
    ) -> (Coverage, u64, bool) {
        let bytes = scope.bytes;
        let whole = Coverage { scope: bytes, located: bytes, sound: bytes, ..Coverage::default() };
        if shape.has_value {
            return (whole, bytes, true);
        }
        let mut coverage = Coverage { scope: bytes, ..Coverage::default() };
        if !self.has_location {
            return (coverage, 0, false);
        }
        let computed;
        let ranges = match self.scopes.innermost().map(|scope| &scope.own) {
            Some(parent) if !parent.ranges.is_empty() => &parent.ranges,
            _ => {
                let parent = entry.parent();
                computed =
                    parent.and_then(|parent| self.known.ranges.ranges(parent).ok()).unwrap_or_default();
                &computed
            }
        };
        self.wrong.clear();
        self.without_homes.clear();
        match self.diagnoser.as_mut().filter(|_| bytes > 0) {
            Some(diagnoser) => {
                let framed = self.scopes.function().map(Rc::as_ref);
                let known = self.known.expressions.diagnosed(diagnoser);
                diagnoser.errors(entry, own.ty, framed, (&self.list, known), &mut self.wrong);
                let located = self.list.iter().zip(self.known.expressions.diagnosed(diagnoser));
                let without = located.map(|located| diagnoser.bytes_without_homes(framed, located, ranges));
                self.without_homes.extend(without);
            }
            None => {
                self.wrong.resize(self.list.len(), false);
                self.without_homes.resize(self.list.len(), 0);
            }
        }
        let entries = || {
            let facts = self.wrong.iter().zip(&self.without_homes).zip(self.known.expressions.needs());
            self.list.iter().zip(facts)
        };
        let unavailable = |needs, without_homes, bytes| match needs {
            Needs::Unavailable => bytes,
            _ => u64::min(without_homes, bytes),
        };
        if let Some((_, ((is_wrong, without_homes), needs))) = entries().find(|(entry, _)| entry.is_default())
        {
            let unavailable = unavailable(needs, *without_homes, bytes);
            let sound = if *is_wrong { 0 } else { bytes - unavailable };
            return (Coverage { unavailable, sound, ..whole }, bytes, true);
        }
        let mut any: u64 = 0;
        for (entry, ((is_wrong, without_homes), needs)) in entries() {
            any = any.saturating_add(entry.end.saturating_sub(entry.start));
            let bytes = ranges.overlap(&(entry.start..entry.end));
            let unavailable = unavailable(needs, *without_homes, bytes);
            coverage.located = coverage.located.saturating_add(bytes);
            coverage.unavailable = coverage.unavailable.saturating_add(unavailable);
            if needs == Needs::EntryValue {
                coverage.entry_values = coverage.entry_values.saturating_add(bytes);
            }
            if !is_wrong {
                coverage.sound = coverage.sound.saturating_add(bytes - unavailable);
            }
        }
        (coverage, any, true)
    }
}

impl<'r> Visit<'r, 'r> for Visitor<'_, 'r, '_> {
    type Function = Rc<Framed<'r>>;
    type Scope = Own;

    fn scopes(&mut self) -> &mut Scopes<Self::Function, Self::Scope> {
        &mut self.scopes
    }

    fn enter(&mut self, entry: Entry<'r, 'r>) -> Option<(Inside<Self::Function>, Self::Scope)> {
        let unit = entry.unit();
        let shape = self.known.shapes.of(entry, || Shape::new(entry));
        self.known.forms.count(entry, &shape);
        let own = read(entry, &shape);
        let shared = self.shared(entry, &own);
        if shared.is_some() {
            self.list.clear();
            self.has_location = true;
        } else {
            self.has_location = self.read_locations(entry, own.location.as_ref());
        }
        if self.known.expressions.is_full() {
            self.finish_expressions(unit);
        }
        self.known.expressions.add(&self.list, unit.encoding, 1);
        if let Some(ResolvedValue::LocList(offset)) = own.location.filter(|_| shared.is_none()) {
            self.part.contents.list(entry, offset, &self.list);
        }
        if entry.index() < self.skipped {
            return None;
        }
        let Some((inside, scope)) = self.entry(entry, &shape, &own, shared) else {
            self.skipped = end(entry);
            return None;
        };
        // Without children, an instance is left at once, and its variables are missing.
        (has_children(entry) || scope.owns_tracked).then_some((inside, scope))
    }

    fn leave(&mut self, scope: Scope<'r>) {
        if let Some(index) = scope.own.inherited.tracked.filter(|_| scope.own.owns_tracked) {
            let missing = std::mem::take(&mut self.tracked[index]);
            count_missing(&missing, &mut self.part.statistics);
        }
    }
}

impl Default for Inherited {
    fn default() -> Self {
        Self { named: 0, path: GLOBAL, bytes: 0, tracked: None, function: None }
    }
}
