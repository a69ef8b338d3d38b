//! Walk over scopes and variables.

use std::ops::Range;

use gimli::{DwTag, constants as dw};
use hashbrown::HashMap;

use super::Statistics;
use super::attributes::{OwnAttributes, Shape, has_source, name_of, read};
use super::coverage::{Coverage, FunctionCoverage, VariableCoverage};
use super::expressions::Expressions;
use super::forms::Forms;
use super::lines;
use super::origins::{self, Abstract, Origins};
use super::part::Part;
use super::source::{FUNCTION, GLOBAL, Path};
use crate::lint::{Asked, Framed, Judge};
use eitri_dwarf::error::Error;
use eitri_dwarf::read::{ByAbbreviation, Dwarf, Entry, ListEntry, ListKind, SUPPLEMENTARY, Str, Unit, Value};

/// Part of a scope that scopes in it have, too.
#[derive(Debug, Clone, Copy)]
struct Inherited {
    named: u32,
    path: Path,
    /// Bytes of the innermost scope with code.
    bytes: u64,
    inlined: u32,
    /// List of variables of the abstract instance that have no place yet.
    tracked: Option<usize>,
    /// Function in the result.
    function: Option<usize>,
    /// Function for the judgement of places, among those of the unit.
    framed: Option<usize>,
}

/// Entry with children.
#[derive(Debug)]
struct Scope {
    /// Index of the entry after the last descendant.
    end: usize,
    inherited: Inherited,
    /// Ranges of the entry itself.
    ranges: Vec<Range<u64>>,
    blocks: u32,
    params: u32,
    owns_tracked: bool,
}

/// Facts of abbreviations and expressions.
#[derive(Debug, Default)]
pub(super) struct Known<'r> {
    shapes: ByAbbreviation<Shape>,
    pub(super) forms: Forms<'r>,
    /// Expressions of the unit.
    expressions: Expressions<'r>,
    /// Files of the units to which others refer, by offset.
    files: HashMap<u64, Vec<Option<String>>>,
}

/// Number of entries from which on the counts of a list are kept for other variables.
const LONG_LIST: usize = 16;

/// What decides the counts of a location list in a unit: its offset, and the innermost scope, by its end and depth.
type ListKey = (u64, usize, usize);

/// Counts of a long location list. Many variables can reference a list, which is then counted once.
#[derive(Debug)]
struct Shared {
    asked: Option<Asked>,
    coverage: (Coverage, u64, bool),
    locations: u64,
    bytes: u64,
    /// Number of variables after the first one.
    more: u64,
}

pub(super) struct Walk<'a, 'r, 'o> {
    part: &'a mut Part<'r>,
    judge: Option<Judge<'a, 'r, 'o>>,
    lists_variables: bool,
    files: &'a [Option<String>],
    /// Start of the unit's input section.
    pub(super) start: u64,
    /// Variables of abstract instances of this unit.
    pub(super) local: Origins,
    tracked: Vec<Vec<Abstract>>,
    /// Concrete instances whose abstract instance was not found yet, by index.
    pub(super) waiting: Vec<(usize, u64)>,
    scopes: Vec<Scope>,
    /// Functions with code.
    framed: Vec<Framed<'r>>,
    known: &'a mut Known<'r>,
    /// Whether the entry that was read last has a location.
    has_location: bool,
    /// Entries of its location.
    list: Vec<ListEntry<'r>>,
    /// Whether each of them has an error.
    wrong: Vec<bool>,
    /// Errors of lists that cannot be read.
    unreadable: &'a mut Vec<Error>,
    /// Counts of long lists of the unit.
    shared: HashMap<ListKey, Shared>,
}

/// Counts variables without a place.
pub(super) fn count_missing(all: &[Abstract], found: &mut Statistics) {
    for (_, tag) in all {
        found.variables.process_missing();
        match *tag {
            dw::DW_TAG_formal_parameter => found.params.process_missing(),
            _ => found.locals.process_missing(),
        }
    }
}

fn size(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(0, |sum: u64, range| sum.saturating_add(range.end.saturating_sub(range.start)))
}

impl<'a, 'r, 'o> Walk<'a, 'r, 'o> {
    pub(super) fn new(
        part: &'a mut Part<'r>,
        judge: Option<Judge<'a, 'r, 'o>>,
        files: &'a [Option<String>],
        known: &'a mut Known<'r>,
        lists_variables: bool,
        unreadable: &'a mut Vec<Error>,
    ) -> Self {
        Self {
            part,
            judge,
            lists_variables,
            files,
            start: 0,
            local: Origins::new(),
            tracked: Vec::new(),
            waiting: Vec::new(),
            scopes: Vec::new(),
            framed: Vec::new(),
            known,
            has_location: false,
            list: Vec::new(),
            wrong: Vec::new(),
            unreadable,
            shared: HashMap::new(),
        }
    }

    pub(super) fn unit(&mut self, dwarf: &'r Dwarf<'r>, unit: &'r Unit<'r>) {
        // Entries of type units have no code.
        let mut skipped = if unit.signature.is_some() { usize::MAX } else { 0 };
        for entry in dwarf.entries_of(unit) {
            eitri_dwarf::work::step();
            let index = entry.index();
            while self.scopes.last().is_some_and(|scope| scope.end <= index) {
                self.leave();
            }
            let shape = self.known.shapes.of(entry, || Shape::of(entry));
            self.known.forms.count(entry, &shape);
            let own = read(entry, &shape);
            let shared = self.shared(entry, &own);
            if shared.is_some() {
                self.list.clear();
                self.has_location = true;
            } else {
                self.has_location = self.read_locations(entry, unit, own.location.as_ref());
            }
            if self.known.expressions.is_full() {
                self.finish_expressions(unit);
            }
            self.known.expressions.add(&self.list, unit.encoding, 1);
            if let Some(Value::LocList(offset)) = own.location.filter(|_| shared.is_none()) {
                self.part.contents.list(entry, offset, &self.list);
            }
            if index < skipped {
                continue;
            }
            let end = index + 1 + entry.descendants().size_hint().0;
            if !self.enter(entry, &shape, &own, shared, end) {
                skipped = end;
            }
        }
        while !self.scopes.is_empty() {
            self.leave();
        }
        for ((offset, ..), shared) in std::mem::take(&mut self.shared) {
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

    /// Returns what decides the counts of a variable's location list, besides the facts of the judgement.
    fn list_key(&self, own: &OwnAttributes<'r>) -> Option<ListKey> {
        let Some(Value::LocList(offset)) = own.location else { return None };
        Some((offset, self.scopes.last()?.end, self.scopes.len()))
    }

    /// Returns the facts of the judgement of a variable's location list.
    fn asked(&mut self, entry: Entry<'r, 'r>, own: &OwnAttributes<'r>) -> Option<Asked> {
        let framed = self.scopes.last()?.inherited.framed.and_then(|framed| self.framed.get(framed));
        Some(self.judge.as_mut()?.asked(entry, own.ty, framed))
    }

    /// Returns the key of the location list of a variable, if the list is counted already.
    fn shared(&mut self, entry: Entry<'r, 'r>, own: &OwnAttributes<'r>) -> Option<ListKey> {
        if self.shared.is_empty() {
            return None;
        }
        let key = self.list_key(own).filter(|key| self.shared.contains_key(key))?;
        let asked = self.asked(entry, own);
        let shared = self.shared.get_mut(&key).filter(|shared| shared.asked == asked)?;
        shared.more += 1;
        Some(key)
    }

    fn finish_expressions(&mut self, unit: &Unit<'r>) {
        self.part.contents.operations(&self.known.expressions, unit);
        self.known.expressions.clear();
    }

    fn leave(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        if let Some(index) = scope.inherited.tracked.filter(|_| scope.owns_tracked) {
            let all = std::mem::take(&mut self.tracked[index]);
            count_missing(&all, &mut self.part.found);
        }
    }

    /// Reads the entries of a location into the list, which is empty if they cannot be read. Returns whether there is a
    /// location that can be read.
    fn read_locations(
        &mut self,
        entry: Entry<'r, 'r>,
        unit: &Unit<'r>,
        location: Option<&Value<'r>>,
    ) -> bool {
        self.list.clear();
        match location {
            Some(&Value::LocList(offset)) => {
                let read = entry.dwarf().read_locations(unit, offset, &mut self.list);
                if let Err(error) = read {
                    self.list.clear();
                    self.unreadable.push(error.or_at(entry.place()));
                    return false;
                }
                true
            }
            Some(&Value::Expr(expr)) => {
                let kind = ListKind::Default;
                self.list.push(ListEntry { offset: entry.offset(), kind, start: 0, end: 0, expr });
                true
            }
            _ => false,
        }
    }

    /// Returns the path of a child: blocks and parameters of one parent are numbered.
    fn path(&mut self, tag: DwTag) -> Path {
        let Some(parent) = self.scopes.last_mut() else { return GLOBAL };
        let path = parent.inherited.path;
        let (is_block, number) = match tag {
            dw::DW_TAG_lexical_block => (true, &mut parent.blocks),
            dw::DW_TAG_formal_parameter => (false, &mut parent.params),
            _ => return path,
        };
        *number += 1;
        self.part.source.path(path, is_block, *number - 1)
    }

    /// Counts an entry. Returns whether its descendants are counted.
    fn enter(
        &mut self,
        entry: Entry<'r, 'r>,
        shape: &Shape,
        own: &OwnAttributes<'r>,
        shared: Option<ListKey>,
        end: usize,
    ) -> bool {
        let tag = shape.tag;
        if tag == dw::DW_TAG_subroutine_type {
            return false;
        }
        let path = self.path(tag);
        let around = self.scopes.last().map_or(Inherited::default(), |scope| scope.inherited);
        let inherited = Inherited { path, ..around };
        let has_children = end > entry.index() + 1;
        let scope =
            || Scope { end, inherited, ranges: Vec::new(), blocks: 0, params: 0, owns_tracked: false };
        match tag {
            dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine | dw::DW_TAG_lexical_block => {
                let Some(scope) = self.code(entry, shape, own, scope()) else { return false };
                if has_children || scope.owns_tracked {
                    self.scopes.push(scope);
                }
            }
            _ => {
                self.variable(entry, shape, own, shared, &inherited);
                if has_children {
                    self.scopes.push(scope());
                }
            }
        }
        true
    }

    /// Counts a function, an inlined call or a block. `None` if its descendants are not counted.
    fn code(
        &mut self,
        entry: Entry<'r, 'r>,
        shape: &Shape,
        own: &OwnAttributes<'r>,
        mut scope: Scope,
    ) -> Option<Scope> {
        let is_function = shape.tag == dw::DW_TAG_subprogram;
        let is_inlined = shape.tag == dw::DW_TAG_inlined_subroutine;
        let inherited = &mut scope.inherited;
        if (is_inlined || is_function)
            && shape.has_origin
            && let Some(origin) = origins::origin(entry, self.start)
        {
            inherited.tracked = self.local.get(&origin).cloned().map(|all| {
                self.tracked.push(all);
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
            self.part.found.counts.call_site_entries += 1;
        }
        scope.ranges = match entry.ranges() {
            Ok(ranges) => ranges,
            Err(error) => {
                self.unreadable.push(error.or_at(entry.place()));
                return None;
            }
        };
        if let Some(judge) = self.judge.as_mut().filter(|_| is_function) {
            // The ranges can be read.
            inherited.framed = judge.function(entry).ok().flatten().map(|framed| {
                self.framed.push(framed);
                self.framed.len() - 1
            });
        }
        let bytes = size(&scope.ranges);
        if is_function && bytes > 0 && !scope.ranges.iter().any(|range| entry.dwarf().is_code(range.start)) {
            // A linker discarded the function.
            return None;
        }
        if is_function || is_inlined {
            if shape.is_inline {
                let all = origins::abstract_variables(entry, self.start);
                let offset = entry.offset() - self.start;
                self.part.abstracts.insert(offset, all.clone());
                self.local.insert(offset, all);
                return None;
            }
            inherited.named = self.function(entry, shape, own, is_inlined);
        }
        if bytes > 0 {
            inherited.bytes = bytes;
            let found = &mut self.part.found;
            if is_function {
                found.counts.function_bytes = found.counts.function_bytes.saturating_add(bytes);
                inherited.function = Some(found.functions.len());
                let name = entry.name().unwrap_or_default();
                let linkage_name = name_of(entry, shape, own).map(|linkage| linkage.text());
                found.functions.push(FunctionCoverage {
                    unit: entry.unit().name.as_deref().map(String::from),
                    linkage_name: linkage_name.filter(|linkage| *linkage != name).map(String::from),
                    name: name.into_owned(),
                    coverage: Coverage::default(),
                    variables: Vec::new(),
                });
            } else if is_inlined && inherited.inlined == 0 {
                found.counts.inlined_bytes = found.counts.inlined_bytes.saturating_add(bytes);
            }
        }
        if is_function {
            inherited.inlined = 0;
        } else if is_inlined {
            inherited.inlined += 1;
        }
        Some(scope)
    }

    /// Returns the index of the functions with the name of this one.
    fn function(
        &mut self,
        entry: Entry<'r, 'r>,
        shape: &Shape,
        own: &OwnAttributes<'r>,
        is_inlined: bool,
    ) -> u32 {
        let (file, line) = self.declared(entry, entry.unit());
        let own = name_of(entry, shape, own).map_or("".into(), Str::text);
        let name = format!("{own}:{file}:{line}");
        let index = self.part.source.function(name);
        let one = self.part.source.named(index);
        one.is_function = true;
        if is_inlined {
            one.inlined += 1;
            one.with_origin += u64::from(shape.has_origin);
        } else {
            one.out_of_line += 1;
        }
        one.has_source |= has_source(entry, shape);
        index
    }

    /// Returns the file without its folder, and the line, of a declaration. `unit` is the unit of the walk.
    fn declared(&mut self, entry: Entry<'r, 'r>, unit: &Unit<'r>) -> (&str, u64) {
        let line = entry.inherited(dw::DW_AT_decl_line).and_then(Value::unsigned).unwrap_or(0);
        let path = entry.declared_file().and_then(|(declared, file)| {
            // llvm-dwarfdump looks the number up in the unit of the entry, whichever unit has the declaration. It does not read
            // supplementary files.
            let owner = if declared.unit().offset >= SUPPLEMENTARY { declared } else { entry };
            let files = self.files_of(owner, unit);
            files.get(usize::try_from(file).ok()?)?.as_deref()
        });
        (path.map_or("/", |path| path.rsplit('/').next().unwrap_or(path)), line)
    }

    /// Returns the files of the unit that declares an entry.
    fn files_of(&mut self, declared: Entry<'r, 'r>, unit: &Unit<'r>) -> &[Option<String>] {
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
        shared: Option<ListKey>,
        scope: &Inherited,
    ) {
        let counts = &mut self.part.found.counts;
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
                    self.tracked[index].retain(|known| known.0 != origin);
                }
            } else {
                is_deferred = true;
            }
        }
        let is_list = matches!(own.location, Some(Value::LocList(_)));
        let list = if is_list { &self.list[..] } else { &[] };
        let (mut locations, mut bytes) = (list.len() as u64, list_bytes(list) as u64);
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
                    && let Some(key) = self.list_key(own)
                {
                    let asked = self.asked(entry, own);
                    self.shared.insert(key, Shared { asked, coverage, locations, bytes, more: 0 });
                }
                coverage
            }
        };
        let origin = if shape.has_origin { entry.reference(dw::DW_AT_abstract_origin) } else { None };
        let is_artificial = origin.map_or(shape.is_artificial, |origin| origin.has(dw::DW_AT_artificial));
        let has_type = shape.has_type || shape.inherits && entry.has_inherited(dw::DW_AT_type);
        let is_declared = has_source(entry, shape);
        let found = &mut self.part.found;
        let own_group = match (is_param, is_local) {
            (true, _) => Some(&mut found.params),
            (_, true) => Some(&mut found.locals),
            _ => None,
        };
        let classes = coverage.classes();
        for group in std::iter::once(&mut found.variables).chain(own_group) {
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
        let counts = &mut found.counts;
        counts.any_scope = counts.any_scope.saturating_add(any);
        counts.variables_with_location += u64::from(has_location || is_constant);
        // Link-time optimization refers to the variable in another unit.
        let declared = (scope.path == GLOBAL).then(|| {
            let (file, line) = self.declared(origin.unwrap_or(entry), entry.unit());
            (file.to_owned(), line)
        });
        let name = match origin {
            Some(origin) => {
                let shape = self.known.shapes.of(origin, || Shape::of(origin));
                name_of(origin, &shape, &read(origin, &shape))
            }
            None => name_of(entry, shape, own),
        };
        let source = &mut self.part.source;
        let name = match name {
            Some(name) => source.strings.of(name),
            None => source.strings.of_bytes(&[]),
        };
        source.variable((scope.named, scope.path, name), declared);
        let others = is_constant || is_artificial || is_local;
        self.part.source.named(scope.named).other_lines += u64::from(others);
        if let Some(function) = scope.function.filter(|_| scope.bytes > 0) {
            let function = &mut self.part.found.functions[function];
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

    /// Returns the coverage of a variable, the bytes of its entries in and outside of the scope, and whether it has a
    /// location.
    fn coverage(
        &mut self,
        entry: Entry<'r, 'r>,
        shape: &Shape,
        own: &OwnAttributes<'r>,
        scope: &Inherited,
    ) -> (Coverage, u64, bool) {
        let bytes = scope.bytes;
        let all = Coverage { scope: bytes, located: bytes, entry_values: 0, sound: bytes };
        if shape.has_value {
            return (all, bytes, true);
        }
        let mut coverage = Coverage { scope: bytes, ..Coverage::default() };
        if !self.has_location {
            return (coverage, 0, false);
        }
        self.wrong.clear();
        match self.judge.as_mut().filter(|_| bytes > 0) {
            Some(judge) => {
                let framed = scope.framed.and_then(|framed| self.framed.get(framed));
                let known = self.known.expressions.judged(judge);
                judge.errors(entry, own.ty, framed, (&self.list, known), &mut self.wrong);
            }
            None => self.wrong.resize(self.list.len(), false),
        }
        let entries = || self.list.iter().zip(&self.wrong);
        if let Some((_, is_wrong)) = entries().find(|one| one.0.is_default()) {
            let sound = if *is_wrong { 0 } else { bytes };
            return (Coverage { sound, ..all }, bytes, true);
        }
        let computed;
        let ranges = match self.scopes.last() {
            Some(parent) if !parent.ranges.is_empty() => &parent.ranges,
            _ => {
                computed = entry.parent().and_then(|parent| parent.ranges().ok()).unwrap_or_default();
                &computed
            }
        };
        let mut any: u64 = 0;
        for ((one, is_wrong), needs_entry_value) in entries().zip(self.known.expressions.need_entry_values())
        {
            any = any.saturating_add(one.end.saturating_sub(one.start));
            let bytes = ranges.iter().fold(0u64, |sum, range| {
                sum.saturating_add(range.end.min(one.end).saturating_sub(range.start.max(one.start)))
            });
            coverage.located = coverage.located.saturating_add(bytes);
            if needs_entry_value {
                coverage.entry_values = coverage.entry_values.saturating_add(bytes);
            }
            if !is_wrong {
                coverage.sound = coverage.sound.saturating_add(bytes);
            }
        }
        (coverage, any, true)
    }
}

impl Default for Inherited {
    fn default() -> Self {
        Self { named: 0, path: GLOBAL, bytes: 0, inlined: 0, tracked: None, function: None, framed: None }
    }
}

/// Bytes of the pcs and expressions of a location list.
pub(super) fn list_bytes(list: &[ListEntry<'_>]) -> usize {
    list.iter().map(|one| 16 + one.expr.len()).sum()
}
