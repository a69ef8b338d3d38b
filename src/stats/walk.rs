//! Walk over scopes and variables.

use std::ops::Range;

use gimli::{DwAt, DwTag, constants as dw};
use hashbrown::{HashMap, HashSet};

use super::coverage::{Coverage, FunctionCoverage, VariableCoverage};
use super::origins::{self, Abstract, Origins};
use super::{Statistics, lines};
use crate::lint::Places;
use crate::op::{Decoder, Op};
use crate::read::{ByAbbreviation, Dwarf, Entry, ListEntry, ListKind, Unit, Value};

/// Counts of the functions of one name.
#[derive(Debug, Default)]
struct Named {
    /// Whether a function has the name: the first stands for everything outside of functions.
    is_function: bool,
    has_source: bool,
    inlined: u64,
    out_of_line: u64,
    with_origin: u64,
    unique: u64,
    others: u64,
}

/// Numbers of the blocks and parameters around a variable.
type Path = u32;
/// Path outside of functions.
const GLOBAL: Path = 0;
/// Path of a function itself.
const FUNCTION: Path = 1;

/// Attributes of an abbreviation, as far as they are counted.
#[derive(Debug)]
struct Shape {
    tag: DwTag,
    is_declaration: bool,
    is_artificial: bool,
    is_inline: bool,
    has_call: bool,
    has_location: bool,
    has_value: bool,
    has_origin: bool,
    /// Whether other attributes can be those of an abstract instance or a declaration.
    inherits: bool,
    has_source: bool,
    has_type: bool,
    /// Positions of the names and the location.
    positions: Box<[u32]>,
}

impl Shape {
    fn of(entry: Entry<'_, '_>) -> Self {
        let has = |name| entry.has(name);
        let specs = entry.specs().iter().map(|spec| spec.name()).zip(0..);
        let is_read = |name: DwAt| NAMES.contains(&name) || name == dw::DW_AT_location;
        Self {
            tag: entry.tag(),
            is_declaration: has(dw::DW_AT_declaration),
            is_artificial: has(dw::DW_AT_artificial),
            is_inline: has(dw::DW_AT_inline),
            has_call: has(dw::DW_AT_call_file) && has(dw::DW_AT_call_line),
            has_location: has(dw::DW_AT_location),
            has_value: has(dw::DW_AT_const_value),
            has_origin: has(dw::DW_AT_abstract_origin),
            inherits: has(dw::DW_AT_abstract_origin) || has(dw::DW_AT_specification),
            has_source: has(dw::DW_AT_decl_file) && has(dw::DW_AT_decl_line),
            has_type: has(dw::DW_AT_type),
            positions: specs.filter(|(name, _)| is_read(*name)).map(|(_, position)| position).collect(),
        }
    }
}

/// Entry with children.
#[derive(Debug)]
struct Scope {
    /// Index of the entry after the last descendant.
    end: usize,
    named: usize,
    path: Path,
    /// Bytes of the innermost scope with code.
    bytes: u64,
    /// Ranges of the entry itself.
    ranges: Vec<Range<u64>>,
    inlined: u32,
    blocks: u32,
    params: u32,
    /// List of variables of the abstract instance that have no place yet.
    tracked: Option<usize>,
    owns_tracked: bool,
    /// Function in the result.
    function: Option<usize>,
}

/// Key of a variable, equal for all instances: function, path, name; file and line outside of functions.
type Key<'r> = (usize, Path, &'r [u8], Option<(String, u64)>);

struct Walk<'a, 'f, 'r> {
    found: &'a mut Statistics,
    errors: &'a Places,
    lists_variables: bool,
    files: &'f [Option<String>],
    named: &'a mut Vec<Named>,
    names: &'a mut HashMap<String, usize>,
    paths: &'a mut HashMap<(Path, bool, u32), Path>,
    known: &'a mut HashSet<Key<'r>>,
    local: Origins,
    global: &'a mut Origins,
    tracked: Vec<Vec<Abstract>>,
    /// Concrete instances whose abstract instance was not found yet, by index.
    waiting: Vec<(usize, u64)>,
    scopes: Vec<Scope>,
    shapes: &'a mut ByAbbreviation<Shape>,
    /// Entries of the location list that was read last.
    list: Vec<ListEntry<'r>>,
}

pub(super) fn walk<'r>(dwarf: &'r Dwarf<'r>, errors: &Places, lists_variables: bool, found: &mut Statistics) {
    let mut named = vec![Named::default()];
    let (mut names, mut paths, mut known) = (HashMap::new(), HashMap::new(), HashSet::new());
    let mut global = Origins::new();
    let mut across = Vec::new();
    let mut shapes = ByAbbreviation::default();
    let units = dwarf.units().iter().filter(|unit| unit.signature.is_none());
    for unit in units {
        let program = dwarf.lines(unit).ok().flatten();
        let files = program.map(|program| lines::paths(&program, unit)).unwrap_or_default();
        let mut walk = Walk {
            found,
            errors,
            lists_variables,
            files: &files,
            named: &mut named,
            names: &mut names,
            paths: &mut paths,
            known: &mut known,
            local: Origins::new(),
            global: &mut global,
            tracked: Vec::new(),
            waiting: Vec::new(),
            scopes: Vec::new(),
            shapes: &mut shapes,
            list: Vec::new(),
        };
        walk.unit(dwarf, unit);
        let waiting = std::mem::take(&mut walk.waiting);
        for (index, origin) in waiting {
            let Some(all) = walk.local.get(&origin).cloned() else {
                across.push((index, origin));
                continue;
            };
            missing(dwarf, index, all, walk.found);
        }
    }
    for (index, origin) in across {
        match global.get(&origin) {
            Some(all) => missing(dwarf, index, all.clone(), found),
            None => found.unresolved += 1,
        }
    }
    totals(&named, found);
}

/// Counts the variables of an abstract instance that have no place in a concrete one.
fn missing(dwarf: &Dwarf<'_>, index: usize, mut all: Vec<Abstract>, found: &mut Statistics) {
    let Some(entry) = dwarf.entry_with_index(index) else { return };
    origins::remove_located(entry, &mut all);
    count_missing(&all, found);
}

fn count_missing(all: &[Abstract], found: &mut Statistics) {
    for (_, tag) in all {
        found.variables.process_missing();
        match *tag {
            dw::DW_TAG_formal_parameter => found.params.process_missing(),
            _ => found.locals.process_missing(),
        }
    }
}

fn totals(named: &[Named], found: &mut Statistics) {
    let counts = &mut found.counts;
    for one in named {
        counts.unique_variables += one.unique;
        if one.is_function {
            counts.functions += 1;
            counts.functions_with_source += u64::from(one.has_source);
            counts.inlined += one.inlined;
            counts.inlined_with_origin += one.with_origin;
            counts.variables += one.unique * (one.inlined + one.out_of_line);
        } else {
            counts.variables += one.others;
        }
    }
}

fn size(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(0, |sum: u64, range| sum.saturating_add(range.end.saturating_sub(range.start)))
}

impl<'r> Walk<'_, '_, 'r> {
    fn unit(&mut self, dwarf: &'r Dwarf<'r>, unit: &Unit<'r>) {
        let mut skipped = 0;
        for entry in dwarf.entries_of(unit) {
            crate::work::step();
            let index = entry.index();
            while self.scopes.last().is_some_and(|scope| scope.end <= index) {
                self.leave();
            }
            let end = index + 1 + entry.descendants().size_hint().0;
            if index < skipped {
                continue;
            }
            match self.enter(entry, end) {
                Some(scope) if end > index + 1 || scope.owns_tracked => self.scopes.push(scope),
                Some(_) => {}
                None => skipped = end,
            }
        }
        while !self.scopes.is_empty() {
            self.leave();
        }
    }

    fn leave(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        if let Some(index) = scope.tracked.filter(|_| scope.owns_tracked) {
            let all = std::mem::take(&mut self.tracked[index]);
            count_missing(&all, self.found);
        }
    }

    /// Returns the path of a child: blocks and parameters of one parent are numbered.
    fn path(&mut self, tag: DwTag) -> Path {
        let Some(parent) = self.scopes.last_mut() else { return GLOBAL };
        let (is_block, number) = match tag {
            dw::DW_TAG_lexical_block => (true, &mut parent.blocks),
            dw::DW_TAG_formal_parameter => (false, &mut parent.params),
            _ => return parent.path,
        };
        let key = (parent.path, is_block, *number);
        *number += 1;
        let next = self.paths.len() as Path + FUNCTION + 1;
        *self.paths.entry(key).or_insert(next)
    }

    /// Counts an entry. `None` if its descendants are not counted.
    fn enter(&mut self, entry: Entry<'r, 'r>, end: usize) -> Option<Scope> {
        let shape = self.shapes.of(entry, || Shape::of(entry));
        let tag = shape.tag;
        let path = self.path(tag);
        let mut scope = match self.scopes.last() {
            Some(parent) => Scope { path, ..parent.inner(end) },
            None => Scope::root(end),
        };
        let (is_function, is_inlined) = (tag == dw::DW_TAG_subprogram, tag == dw::DW_TAG_inlined_subroutine);
        if tag == dw::DW_TAG_subroutine_type {
            return None;
        }
        if (is_inlined || is_function)
            && shape.has_origin
            && let Some(origin) = origins::origin(entry)
        {
            scope.tracked = self.local.get(&origin).cloned().map(|all| {
                self.tracked.push(all);
                self.tracked.len() - 1
            });
            scope.owns_tracked = scope.tracked.is_some();
            if scope.tracked.is_none() {
                self.waiting.push((entry.index(), origin));
            }
        }
        if !is_function && !is_inlined && tag != dw::DW_TAG_lexical_block {
            self.variable(entry, &shape, &scope);
            return Some(scope);
        }
        if is_function || is_inlined {
            scope.path = FUNCTION;
        }
        if shape.is_declaration {
            return None;
        }
        if shape.has_call {
            self.found.counts.call_site_entries += 1;
        }
        scope.ranges = entry.ranges().ok()?;
        let bytes = size(&scope.ranges);
        if is_function || is_inlined {
            if shape.is_inline {
                let all = origins::abstract_variables(entry);
                self.global.insert(entry.offset(), all.clone());
                self.local.insert(entry.offset(), all);
                return None;
            }
            scope.named = self.function(entry, &shape, is_inlined);
        }
        if bytes > 0 {
            scope.bytes = bytes;
            let counts = &mut self.found.counts;
            if is_function {
                counts.function_bytes = counts.function_bytes.saturating_add(bytes);
                scope.function = Some(self.found.functions.len());
                self.found.functions.push(FunctionCoverage {
                    unit: entry.unit().name.as_deref().map(String::from),
                    name: entry.name().map(String::from).unwrap_or_default(),
                    coverage: Coverage::default(),
                    variables: Vec::new(),
                });
            } else if is_inlined && scope.inlined == 0 {
                counts.inlined_bytes = counts.inlined_bytes.saturating_add(bytes);
            }
        }
        if is_function {
            scope.inlined = 0;
        } else if is_inlined {
            scope.inlined += 1;
        }
        Some(scope)
    }

    /// Returns the index of the functions with the name of this one.
    fn function(&mut self, entry: Entry<'r, 'r>, shape: &Shape, is_inlined: bool) -> usize {
        let own = name_of(entry, shape, read(entry, shape).0);
        let (file, line) = self.declared(entry);
        let name = format!("{}:{file}:{line}", String::from_utf8_lossy(own));
        let next = self.named.len();
        let index = *self.names.entry(name).or_insert(next);
        if index == next {
            self.named.push(Named::default());
        }
        let one = &mut self.named[index];
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

    /// Returns the file without its folder, and the line, of a declaration.
    fn declared(&self, entry: Entry<'_, '_>) -> (&str, u64) {
        let number = |name| entry.inherited(name).and_then(|value| value.unsigned());
        let file = number(dw::DW_AT_decl_file).and_then(|file| usize::try_from(file).ok());
        let path = file.and_then(|file| self.files.get(file)?.as_deref());
        let name = path.map_or("/", |path| path.rsplit('/').next().unwrap_or(path));
        (name, number(dw::DW_AT_decl_line).unwrap_or(0))
    }

    /// Counts a variable, a parameter, a constant member or a call site.
    fn variable(&mut self, entry: Entry<'r, 'r>, shape: &Shape, scope: &Scope) {
        let counts = &mut self.found.counts;
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
                if let (Some(index), Some(origin)) = (scope.tracked, origins::origin(entry)) {
                    self.tracked[index].retain(|known| known.0 != origin);
                }
            } else {
                is_deferred = true;
            }
        }
        let (names, location) = read(entry, shape);
        let list = self.list(entry, location);
        let (coverage, any, has_location) = self.coverage(entry, shape, list.as_deref(), scope.bytes);
        let origin = if shape.has_origin { entry.reference(dw::DW_AT_abstract_origin) } else { None };
        let is_artificial = origin.map_or(shape.is_artificial, |origin| origin.has(dw::DW_AT_artificial));
        let has_type = shape.has_type || shape.inherits && entry.has_inherited(dw::DW_AT_type);
        let is_declared = has_source(entry, shape);
        let own = match (is_param, is_local) {
            (true, _) => Some(&mut self.found.params),
            (_, true) => Some(&mut self.found.locals),
            _ => None,
        };
        for group in std::iter::once(&mut self.found.variables).chain(own) {
            if scope.bytes > 0 {
                group.coverage += coverage;
                if !is_deferred {
                    group.process(coverage);
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
        let counts = &mut self.found.counts;
        counts.any_scope = counts.any_scope.saturating_add(any);
        counts.variables_with_location += u64::from(has_location || is_constant);
        let declared = (scope.path == GLOBAL).then(|| self.declared(origin.unwrap_or(entry)));
        let declared = declared.map(|(file, line)| (file.to_owned(), line));
        let name = match origin {
            Some(origin) => {
                let shape = self.shapes.of(origin, || Shape::of(origin));
                name_of(origin, &shape, read(origin, &shape).0)
            }
            None => name_of(entry, shape, names),
        };
        let is_new = self.known.insert((scope.named, scope.path, name, declared));
        let named = &mut self.named[scope.named];
        named.unique += u64::from(is_new);
        named.others += u64::from(is_constant || is_artificial || is_local);
        if let Some(function) = scope.function.filter(|_| scope.bytes > 0) {
            let function = &mut self.found.functions[function];
            function.coverage += coverage;
            if self.lists_variables {
                let list = list.as_deref().filter(|_| matches!(location, Some(Value::LocList(_))));
                let list = list.unwrap_or_default();
                function.variables.push(VariableCoverage {
                    name: entry.name().map(String::from).unwrap_or_default(),
                    is_parameter: is_param,
                    coverage,
                    entry_bytes: entry.bytes(),
                    locations: list.len() as u64,
                    list_bytes: list_bytes(list) as u64,
                });
            }
        }
        // Its memory is for the next list.
        self.list = list.unwrap_or_default();
    }

    /// Reads the entries of a location; `None` without one. The list takes the memory of the last one.
    fn list(&mut self, entry: Entry<'r, 'r>, location: Option<Value<'r>>) -> Option<Vec<ListEntry<'r>>> {
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        match location? {
            Value::LocList(offset) => entry.dwarf().read_locations(entry.unit(), offset, &mut list).ok()?,
            Value::Expr(expr) => {
                let kind = ListKind::Default;
                list.push(ListEntry { offset: entry.offset(), kind, start: 0, end: 0, expr });
            }
            _ => return None,
        }
        Some(list)
    }

    /// Returns the coverage of a variable, the bytes of its entries also outside of the scope, and whether it has a
    /// location.
    fn coverage(
        &self,
        entry: Entry<'_, '_>,
        shape: &Shape,
        list: Option<&[ListEntry<'_>]>,
        scope: u64,
    ) -> (Coverage, u64, bool) {
        let all = Coverage { scope, located: scope, entry_values: 0, sound: scope };
        if shape.has_value {
            return (all, scope, true);
        }
        let mut coverage = Coverage { scope, ..Coverage::default() };
        let Some(list) = list else { return (coverage, 0, false) };
        if let Some(whole) = list.iter().find(|one| one.is_default()) {
            let sound = if self.is_wrong(entry, whole, list.len()) { 0 } else { scope };
            return (Coverage { sound, ..all }, scope, true);
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
        for one in list {
            any = any.saturating_add(one.end.saturating_sub(one.start));
            let bytes = ranges.iter().fold(0u64, |sum, range| {
                sum.saturating_add(range.end.min(one.end).saturating_sub(range.start.max(one.start)))
            });
            coverage.located = coverage.located.saturating_add(bytes);
            if needs_entry_value(one.expr, entry.unit()) {
                coverage.entry_values = coverage.entry_values.saturating_add(bytes);
            }
            if !self.is_wrong(entry, one, list.len()) {
                coverage.sound = coverage.sound.saturating_add(bytes);
            }
        }
        (coverage, any, true)
    }

    /// Whether `lint` finds an error in an entry.
    fn is_wrong(&self, entry: Entry<'_, '_>, one: &ListEntry<'_>, count: usize) -> bool {
        let place = match one.is_default() && count == 1 {
            true => entry.dwarf().place(one.offset),
            false if entry.unit().encoding.version >= 5 => (".debug_loclists", one.offset),
            false => (".debug_loc", one.offset),
        };
        self.errors.contains(place)
    }
}

impl Scope {
    fn root(end: usize) -> Self {
        Self {
            end,
            named: 0,
            path: GLOBAL,
            bytes: 0,
            ranges: Vec::new(),
            inlined: 0,
            blocks: 0,
            params: 0,
            tracked: None,
            owns_tracked: false,
            function: None,
        }
    }

    /// Returns a scope in this one.
    fn inner(&self, end: usize) -> Self {
        let Self { named, path, bytes, inlined, tracked, function, .. } = *self;
        Self { named, path, bytes, inlined, tracked, function, ..Self::root(end) }
    }
}

/// Bytes of the pcs and expressions of a location list.
pub(super) fn list_bytes(list: &[ListEntry<'_>]) -> usize {
    list.iter().map(|one| 16 + one.expr.len()).sum()
}

/// Attributes with the name of an entry, the first that it has is used.
const NAMES: [DwAt; 3] = [dw::DW_AT_MIPS_linkage_name, dw::DW_AT_linkage_name, dw::DW_AT_name];

/// Returns the own names of an entry, in the order of [`NAMES`], and its location.
fn read<'r>(entry: Entry<'r, 'r>, shape: &Shape) -> ([Option<&'r [u8]>; 3], Option<Value<'r>>) {
    let (mut names, mut location) = ([None; 3], None);
    for attribute in entry.attributes_at(&shape.positions) {
        match NAMES.iter().position(|name| *name == attribute.name) {
            Some(place) => names[place] = names[place].or_else(|| attribute.string(entry)),
            None => location = location.or_else(|| attribute.value(entry)),
        }
    }
    (names, location)
}

/// Returns the linkage name, or else the name, of an entry with these own names.
fn name_of<'r>(entry: Entry<'r, 'r>, shape: &Shape, own: [Option<&'r [u8]>; 3]) -> &'r [u8] {
    let text = |value| if let Value::String(name) = value { Some(name.bytes()) } else { None };
    let all = if shape.inherits { NAMES.map(|name| entry.inherited(name).and_then(text)) } else { own };
    all.into_iter().flatten().next().unwrap_or_default()
}

fn has_source(entry: Entry<'_, '_>, shape: &Shape) -> bool {
    let is_inherited = |name| entry.has_inherited(name);
    shape.has_source
        || shape.inherits && is_inherited(dw::DW_AT_decl_file) && is_inherited(dw::DW_AT_decl_line)
}

/// Whether an expression uses a value at the entry of the function.
fn needs_entry_value(expr: &[u8], unit: &Unit<'_>) -> bool {
    // The operation has one of two opcodes.
    let opcodes = [dw::DW_OP_entry_value.0, dw::DW_OP_GNU_entry_value.0];
    if !expr.iter().any(|byte| opcodes.contains(byte)) {
        return false;
    }
    let operations = Decoder::new(expr, unit.encoding).map_while(Result::ok);
    operations.into_iter().any(|one| matches!(one.op, Op::EntryValue { .. }))
}
