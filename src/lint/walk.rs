//! Walk over the entries of a file.

use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::rc::Rc;

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::codes::Code;
use super::collect::{Collected, FunctionId, Places, Wanted};
use super::details::Details;
use super::entries::{self, Own};
use super::file::{File, Function};
use super::finding::{Expression, Finding, Report};
use super::places::{Findings, Judged, Located, Type};
use super::shape::{self, Place, Selected, Shape};
use super::verdict::Expr;
use super::witness::{Known, Witnessed};
use super::{Options, functions, lists, recoverable};
use crate::error::Result;
use crate::op::{Decoder, text, write_uleb};
use crate::read::{ByAbbreviation, Dwarf, Entry, ListEntry, ListKind, Object, Unit, Value};

/// Maximum number of variables of one name that a variable is compared with.
const MOST_SAME: usize = 64;
/// Maximum number of constants in a list that an entry is compared with.
const MOST_CONSTANTS: usize = 1 << 10;
/// Maximum number of shapes that are kept.
const MOST_SHAPES: usize = 1 << 12;

/// A function around entries, with its frame base.
struct Around<'r> {
    function: Function<'r, 'r>,
    frame_base: Option<Rc<Expr>>,
    /// Expression of the frame base, with the contents of a bare register in place of the register.
    base: Option<Vec<u8>>,
    name: Option<&'r [u8]>,
    id: FunctionId,
    is_wanted: bool,
}

/// An entry around others.
struct Scope<'r> {
    index: usize,
    around: Option<Rc<Around<'r>>>,
    inlined: Option<Entry<'r, 'r>>,
    /// Variables of this scope with names and places.
    variables: Vec<(&'r [u8], Entry<'r, 'r>)>,
    /// Number of parameters so far.
    parameters: usize,
}

struct Walk<'a, 'r, 'o> {
    file: &'a File<'r, 'o>,
    only: &'a [String],
    collected: &'a mut Collected<'r>,
    unit: &'r Unit<'r>,
    id: FunctionId,
    files: OnceCell<Vec<String>>,
    scopes: Vec<Scope<'r>>,
    abbreviations: &'a mut ByAbbreviation<entries::Judged>,
    expressions: HashMap<&'r [u8], Rc<Expr>>,
    /// Number of expressions so far.
    numbers: u32,
    /// Places at witnesses.
    places: &'a Known<'r>,
    /// Types by the offset in an attribute.
    types: HashMap<u64, Option<Type<'r>>>,
    /// Entries of the location list that was read last.
    list: Vec<ListEntry<'r>>,
    /// Names in the scope that was left last.
    names: HashSet<&'r [u8]>,
}

/// A place of a finding: section and offset.
type At = (&'static str, u64);

/// Number of bytes of the units whose findings are collected at a time, by each thread.
const PIECE: u64 = 1 << 17;

/// Returns the findings about a file, the first of each topic.
pub(super) fn folded(object: &Object<'_>, dwarf: &Dwarf<'_>, options: &Options) -> Result<Report> {
    let mut report = Report::default();
    for one in walk(object, dwarf, options, Wanted::Topics)? {
        report.append(one.report);
    }
    report.fold();
    Ok(report)
}

/// Passes all findings about a file to a function, piece by piece. Returns the rest of the report.
pub(super) fn each(
    object: &Object<'_>,
    dwarf: &Dwarf<'_>,
    options: &Options,
    take: &mut dyn FnMut(Finding),
) -> Result<Report> {
    let file = File::new(object, dwarf)?;
    let mut report = Report::default();
    let pieces: Vec<_> = chunks(dwarf.units(), PIECE).collect();
    for pieces in pieces.chunks(options.threads.max(1)) {
        for one in on_threads(pieces, |units| judge(&file, units, &options.only, Wanted::All)) {
            let mut one = one?.report;
            one.findings.drain(..).for_each(&mut *take);
            report.append(one);
        }
    }
    Ok(report)
}

/// Returns the places of the location entries with errors.
pub(super) fn wrong_entries(object: &Object<'_>, dwarf: &Dwarf<'_>, threads: usize) -> Result<Places> {
    let options = Options { threads, ..Options::default() };
    let all = walk(object, dwarf, &options, Wanted::WrongEntries)?;
    Ok(Places::joined(all.into_iter().map(|one| one.wrong)))
}

/// Collects the findings about chunks of units, in the order of the file.
fn walk<'r>(
    object: &'r Object<'_>,
    dwarf: &'r Dwarf<'r>,
    options: &Options,
    wanted: Wanted,
) -> Result<Vec<Collected<'r>>> {
    let file = File::new(object, dwarf)?;
    let bytes = dwarf.units().iter().map(|unit| unit.end - unit.offset).sum::<u64>();
    let each = bytes / options.threads.max(1) as u64 + 1;
    let chunks: Vec<_> = chunks(dwarf.units(), each).collect();
    on_threads(&chunks, |units| judge(&file, units, &options.only, wanted)).into_iter().collect()
}

/// Collects the findings about units.
fn judge<'r>(
    file: &File<'r, '_>,
    units: &'r [Unit<'r>],
    only: &[String],
    wanted: Wanted,
) -> Result<Collected<'r>> {
    let (mut collected, mut abbreviations) = (Collected::new(wanted), ByAbbreviation::default());
    for unit in units {
        let places = Known::default();
        let id = collected.function((unit.name.as_deref(), None));
        let mut walk = Walk {
            file,
            only,
            collected: &mut collected,
            unit,
            id,
            files: OnceCell::new(),
            scopes: Vec::new(),
            abbreviations: &mut abbreviations,
            expressions: HashMap::new(),
            numbers: 0,
            places: &places,
            types: HashMap::new(),
            list: Vec::new(),
            names: HashSet::new(),
        };
        walk.run(file.dwarf)?;
    }
    Ok(collected)
}

/// Calls a function for each of several inputs: for one on this thread, for more on a thread each.
fn on_threads<I: Copy + Send, O: Send>(inputs: &[I], call: impl Fn(I) -> O + Sync) -> Vec<O> {
    if let [input] = inputs {
        return vec![call(*input)];
    }
    std::thread::scope(|scope| {
        let call = &call;
        let started: Vec<_> = inputs.iter().map(|&input| scope.spawn(move || call(input))).collect();
        let finish = |one: std::thread::ScopedJoinHandle<'_, O>| {
            one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(finish).collect()
    })
}

/// Divides units into consecutive chunks of at least a number of bytes, but the last.
fn chunks<'r>(mut units: &'r [Unit<'r>], each: u64) -> impl Iterator<Item = &'r [Unit<'r>]> {
    std::iter::from_fn(move || {
        let mut sum = 0;
        let count = units.iter().take_while(|unit| {
            let is_first = sum < each;
            sum += unit.end - unit.offset;
            is_first
        });
        let (chunk, rest) = units.split_at(count.count());
        units = rest;
        (!chunk.is_empty()).then_some(chunk)
    })
}

impl<'a, 'r> Walk<'a, 'r, '_> {
    fn run(&mut self, dwarf: &'r Dwarf<'r>) -> Result<()> {
        let mut of_entry = Vec::new();
        for entry in dwarf.entries_of(self.unit) {
            crate::work::step();
            let parent = entry.parent().map(Entry::index);
            while self.scopes.last().is_some_and(|scope| Some(scope.index) != parent) {
                self.leave();
            }
            let abbreviation = self.abbreviations.of(entry, || entries::Judged::of(entry));
            let own = entries::read(entry, &abbreviation, |ty| self.types.contains_key(&ty), &mut of_entry);
            let tag = abbreviation.tag;
            let is_variable = matches!(tag, dw::DW_TAG_variable | dw::DW_TAG_formal_parameter);
            let mut around = self.scopes.last().and_then(|scope| scope.around.clone());
            if tag == dw::DW_TAG_subprogram {
                around = self.function(entry, &own)?;
                // The places of these findings are not those of location entries.
                if let Some(around) = around.as_ref().filter(|_| !self.marks()) {
                    self.judge_function(around);
                }
            } else if is_variable {
                self.variable(entry, &own, around.as_deref())?;
            }
            for one in of_entry.drain(..) {
                let details = Details::new(one.written).evidence(one.evidence);
                let judged = Judged::new(one.code, details);
                let place = dwarf.place(entry.offset());
                self.add(judged, is_variable.then_some(entry), around.as_deref(), place, |_, _| {});
            }
            if entry.descendants().size_hint().0 > 0 {
                self.scopes.push(Scope {
                    index: entry.index(),
                    around,
                    inlined: (tag == dw::DW_TAG_inlined_subroutine).then_some(entry),
                    variables: Vec::new(),
                    parameters: 0,
                });
            }
        }
        while !self.scopes.is_empty() {
            self.leave();
        }
        Ok(())
    }

    /// Whether only the places of location entries with errors are wanted.
    fn marks(&self) -> bool {
        self.collected.wanted() == Wanted::WrongEntries
    }

    fn function(&mut self, entry: Entry<'r, 'r>, own: &Own<'r>) -> Result<Option<Rc<Around<'r>>>> {
        let Some(function) = Function::new(self.file, entry)? else { return Ok(None) };
        self.collected.report.functions += 1;
        let frame_base = match entry.attr(dw::DW_AT_frame_base) {
            Some(Value::Expr(expr)) => Some(self.judged(expr)),
            // A list: its entries differ, and none of them is followed.
            Some(_) => {
                let part = shape::Part { place: Place::Other, bits: None, operations: 0..0 };
                Some(self.numbered(Shape { parts: vec![part], ..Shape::default() }))
            }
            None => None,
        };
        let base = match (&frame_base, entry.attr(dw::DW_AT_frame_base)) {
            (Some(known), Some(Value::Expr(expr))) => Some(base(&known.shape, expr)),
            _ => None,
        };
        let name = name(entry, own);
        let is_wanted = self.only.is_empty() || self.is_named(entry, name);
        let id = self.collected.function((self.unit.name.as_deref(), name));
        Ok(Some(Rc::new(Around { function, frame_base, base, name, id, is_wanted })))
    }

    /// Whether the caller asks for a function of this name.
    fn is_named(&mut self, entry: Entry<'r, 'r>, name: Option<&[u8]>) -> bool {
        let linkage = entry.inherited(dw::DW_AT_linkage_name).and_then(|name| name.text());
        let name = name.map(String::from_utf8_lossy);
        let is_named = |one: &&String| [name.as_deref(), linkage.as_deref()].contains(&Some(one.as_str()));
        let Some(named) = self.only.iter().find(is_named) else { return false };
        let known = &mut self.collected.report.named;
        if !known.contains(named) {
            known.push(named.clone());
        }
        true
    }

    fn judge_function(&mut self, around: &Around<'r>) {
        let function = &around.function;
        let place = function.entry.dwarf().place(function.entry.offset());
        for found in functions::findings(self.file, function) {
            let details = Details::new(found.written).evidence(found.evidence);
            let judged = Judged::new(found.code, details);
            self.add(judged, None, Some(around), found.place.unwrap_or(place), |walk, finding| {
                finding.pcs = function.ranges.first().cloned();
                finding.declared = functions::declared(function.entry, walk.files());
            });
        }
    }

    fn numbered(&mut self, shape: Shape) -> Rc<Expr> {
        self.numbers += 1;
        Rc::new(Expr::new(self.numbers, shape))
    }

    /// Returns an expression with its shape.
    fn judged(&mut self, expr: &'r [u8]) -> Rc<Expr> {
        if let Some(known) = self.expressions.get(expr) {
            return known.clone();
        }
        let (dwarf, unit) = (self.file.dwarf, self.unit);
        let mut shape = shape::of(expr, unit.encoding, &|index| dwarf.address(unit, index).ok());
        if shape.error.is_none() && !expr.is_empty() {
            let failure = self.witnessed(expr).and_then(|witnessed| witnessed.failure());
            shape.failure = failure.map(|(offset, rule)| (offset, rule.into_owned()));
        }
        let new = self.numbered(shape);
        if self.expressions.len() == MOST_SHAPES {
            self.expressions.clear();
        }
        self.expressions.insert(expr, new.clone());
        new
    }

    fn witnessed<'w>(&self, expr: &'r [u8]) -> Option<Witnessed<'w, 'r>>
    where
        'a: 'w,
        'r: 'w,
    {
        let (target, info) = (self.file.target.as_ref()?, &self.file.info);
        let (unit, encoding) = (self.unit.offset, self.unit.encoding);
        Some(Witnessed { known: self.places, info, target, unit, encoding, expr })
    }

    /// Returns the type of a variable.
    fn ty(&mut self, entry: Entry<'r, 'r>, own: &Own<'r>) -> Option<Type<'r>> {
        let Some(offset) = own.ty else { return entry.ty().and_then(Type::of) };
        *self.types.entry(offset).or_insert_with(|| entry.dwarf().entry_at(offset).and_then(Type::of))
    }

    /// Reads the location entries of a variable into the list.
    fn read_locations(&mut self, entry: Entry<'r, 'r>, own: &Own<'r>) -> Result<()> {
        self.list.clear();
        match own.location.and_then(|location| location.value(entry)) {
            Some(Value::LocList(offset)) => {
                let read = self.file.dwarf.read_locations(self.unit, offset, &mut self.list);
                read.map_err(|error| error.or_at(entry.place()))
            }
            Some(Value::Expr(expr)) => {
                let kind = ListKind::Default;
                self.list.push(ListEntry { offset: entry.offset(), kind, start: 0, end: 0, expr });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn variable(&mut self, entry: Entry<'r, 'r>, own: &Own<'r>, around: Option<&Around<'r>>) -> Result<()> {
        if own.is_declaration {
            return Ok(());
        }
        let is_parameter = entry.tag() == dw::DW_TAG_formal_parameter;
        let number = self.scopes.last_mut().filter(|_| is_parameter).map(|scope| {
            scope.parameters += 1;
            scope.parameters - 1
        });
        self.read_locations(entry, own)?;
        let list = std::mem::take(&mut self.list);
        let function = around.map(|around| &around.function);
        let is_somewhere = list.iter().any(|one| !one.expr.is_empty());
        if !is_somewhere
            && !own.has_value
            && let (Some(number), Some(function)) = (number, function)
            && function.is_live
            && entry.parent() == Some(function.entry)
            && let Some((judged, pcs)) = recoverable::parameter(self.file, function, number)
        {
            let place = entry.dwarf().place(entry.offset());
            self.add(judged, Some(entry), around, place, |_, finding| finding.pcs = Some(pcs));
        }
        // The functions and lists of a discarded section are not in the file.
        let is_discarded = function.is_some_and(|function| !function.is_live);
        // Findings about names, and their topics, are not wanted.
        let name = if list.is_empty() || self.marks() { None } else { name(entry, own) };
        if !list.is_empty() {
            let ty = self.ty(entry, own);
            self.locations(entry, name, around, ty, is_discarded, &list);
        }
        self.list = list;
        if let Some(name) = name.filter(|_| is_somewhere && !is_discarded && around.is_some())
            && let Some(scope) = self.scopes.last_mut()
        {
            scope.variables.push((name, entry));
        }
        Ok(())
    }

    /// Judges the location entries of a variable.
    fn locations(
        &mut self,
        entry: Entry<'r, 'r>,
        name: Option<&'r [u8]>,
        around: Option<&Around<'r>>,
        ty: Option<Type<'r>>,
        is_discarded: bool,
        list: &[ListEntry<'r>],
    ) {
        let file = self.file;
        let function = around.map(|around| &around.function);
        // Entries with constants, and the last one.
        let mut constants: SmallVec<[(Range<u64>, Rc<Expr>); 2]> = SmallVec::new();
        let mut last: Option<(&ListEntry<'r>, Rc<Expr>)> = None;
        let lists = if self.unit.encoding.version >= 5 { ".debug_loclists" } else { ".debug_loc" };
        for one in list {
            self.collected.report.entries += 1;
            let pcs = (!one.is_default()).then_some(one.start..one.end);
            let known = self.judged(one.expr);
            let shape = &known.shape;
            let mut located = Located {
                file,
                function,
                frame_base: around.and_then(|around| Some(&around.frame_base.as_ref()?.shape)),
                variable: entry,
                ty,
                encoding: self.unit.encoding,
                shape,
                witnessed: self.witnessed(one.expr),
                base: around.and_then(|around| around.base.as_deref()),
                pcs: pcs.clone(),
                explains: self.collected.wanted() == Wanted::All,
                depends: Cell::default(),
            };
            let mut all = match is_discarded || one.expr.is_empty() {
                true => Findings::new(),
                false => known.findings(&located, around.and_then(|around| around.frame_base.as_deref())),
            };
            let count = all.len();
            if let Some(pcs) = &pcs {
                if let Some(judged) = lists::range(file, function, (pcs.start, pcs.end)) {
                    all.push(judged);
                }
                let contradicts = |(other, known): &(Range<u64>, Rc<Expr>)| {
                    lists::overlap((other, &known.shape), (pcs, shape))
                };
                if let Some(judged) = constants.iter().find_map(contradicts) {
                    all.push(judged);
                }
            }
            if let Some(judged) = lists::register(file, function, shape, pcs.as_ref()) {
                all.push(judged);
            }
            let place = match one.is_default() && list.len() == 1 {
                true => entry.dwarf().place(one.offset),
                false => (lists, one.offset),
            };
            if let (Some(pcs), Some((constant, before))) = (&pcs, &last) {
                let own = constant.start..constant.end;
                let judged = recoverable::constant(file, function, (&own, &before.shape), (pcs, shape));
                if let Some(judged) = judged {
                    let (expr, operations) = (constant.expr, judged.operations.clone());
                    self.add(judged, Some(entry), around, (lists, constant.offset), |walk, finding| {
                        finding.pcs = Some(own);
                        finding.expression = Some(walk.expression(expr, &operations));
                    });
                }
            }
            for (index, mut judged) in all.into_iter().enumerate() {
                if !self.wants(judged.code, name, around, place) {
                    continue;
                }
                if index < count && !located.explains {
                    located.explains = true;
                    judged.details = located.findings().swap_remove(index).details;
                    located.explains = false;
                }
                let expression = self.expression(one.expr, &judged.operations);
                let finding = self.finding(judged, Some(entry), around, place);
                self.collected.add(Finding { pcs: pcs.clone(), expression: Some(expression), ..finding });
            }
            if let Some(pcs) = pcs.filter(|_| list.len() > 1) {
                if shape.constant().is_some() && constants.len() < MOST_CONSTANTS {
                    constants.push((pcs, known.clone()));
                }
                last = Some((one, known));
            }
        }
    }

    /// Returns the text of an expression, with the part at fault.
    fn expression(&self, expr: &[u8], fault: &Range<usize>) -> Expression {
        let target = self.file.target.as_ref();
        let print = |bytes: &[u8]| text::print(bytes, self.unit.encoding, target);
        let whole = print(expr);
        let has_branch = Decoder::new(expr, self.unit.encoding)
            .flatten()
            .any(|one| matches!(one.op, crate::op::Op::Bra { .. } | crate::op::Op::Skip { .. }));
        let end = fault.end.min(expr.len());
        let start = fault.start.min(end);
        if has_branch || (start, end) == (0, expr.len()) {
            let fault = 0..whole.len();
            return Expression { text: whole, fault };
        }
        let before = print(&expr[..start]).len();
        let before = if start == 0 { 0 } else { before + 2 };
        let length =
            if end > start { print(&expr[start..end]).len() } else { whole.len().saturating_sub(before) };
        let fault = before.min(whole.len())..(before + length).min(whole.len());
        Expression { text: whole, fault }
    }

    /// Returns the names of the unit's files, by number.
    fn files(&self) -> &[String] {
        self.files.get_or_init(|| {
            let Ok(Some(program)) = self.file.dwarf.lines(self.unit) else { return Vec::new() };
            let count = program.files.len() as u64 + 1;
            let path = |number| program.path(number).map_or_else(String::new, |path| path.into_owned());
            (0..count).map(path).collect()
        })
    }

    /// Counts a finding. Returns whether it is added with its texts.
    fn wants(
        &mut self,
        code: Code,
        variable: Option<&'r [u8]>,
        around: Option<&Around<'r>>,
        place: At,
    ) -> bool {
        self.collected.mark(code, place);
        let is_wanted = around.map_or(self.only.is_empty(), |around| around.is_wanted);
        let function = around.map_or(self.id, |around| around.id);
        is_wanted && self.collected.wants(code, (self.id, function), variable)
    }

    fn finding(
        &self,
        judged: Judged,
        variable: Option<Entry<'r, 'r>>,
        around: Option<&Around<'r>>,
        (section, offset): At,
    ) -> Finding {
        let Details { written, meant, evidence } =
            judged.details.map_or_else(Details::default, |details| *details);
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let names = |entry: Entry<'r, 'r>| entry.name().map(String::from);
        Finding {
            code: judged.code,
            level: judged.code.level(),
            unit: self.unit.name.as_deref().map(String::from),
            function: around.and_then(|around| around.name).map(text),
            inlined: self.scopes.iter().filter_map(|scope| scope.inlined).filter_map(names).collect(),
            variable: variable.and_then(names),
            declared: variable.and_then(|entry| functions::declared(entry, self.files())),
            pcs: None,
            section,
            offset,
            entry: variable.or_else(|| around.map(|around| around.function.entry)).map(Entry::offset),
            expression: None,
            written,
            meant,
            evidence,
            count: 1,
        }
    }

    /// Adds a finding, if it is wanted, after a change.
    fn add(
        &mut self,
        judged: Judged,
        variable: Option<Entry<'r, 'r>>,
        around: Option<&Around<'r>>,
        place: At,
        change: impl FnOnce(&Self, &mut Finding),
    ) {
        let name = variable.and_then(|entry| entry.inherited(dw::DW_AT_name)).and_then(bytes);
        if self.wants(judged.code, name, around, place) {
            let mut finding = self.finding(judged, variable, around, place);
            change(self, &mut finding);
            self.collected.add(finding);
        }
    }

    /// Leaves a scope, after comparing its variables.
    fn leave(&mut self) {
        let Some(mut scope) = self.scopes.pop() else { return };
        let variables = &mut scope.variables;
        self.names.clear();
        if variables.iter().all(|(name, _)| self.names.insert(name)) {
            return;
        }
        variables.sort_unstable_by_key(|(name, entry)| (*name, entry.index()));
        for (index, (name, first)) in variables.iter().enumerate() {
            let same = variables[index + 1..].iter().take(MOST_SAME).take_while(|second| second.0 == *name);
            for (_, second) in same {
                if let Some(judged) = two_types(*first, *second) {
                    let place = second.dwarf().place(second.offset());
                    self.add(judged, Some(*second), scope.around.as_deref(), place, |_, _| {});
                }
            }
        }
    }
}

/// Returns the expression of a frame base. A bare register is, by convention, its contents.
fn base(shape: &Shape, expr: &[u8]) -> Vec<u8> {
    let register = match &shape.parts[..] {
        [part] => match part.place {
            Place::Register(reg, Selected::Nothing) => Some(reg),
            _ => None,
        },
        _ => None,
    };
    let Some(reg) = register else { return expr.to_vec() };
    let mut contents = vec![dw::DW_OP_bregx.0];
    write_uleb(&mut contents, reg.0);
    contents.push(0);
    contents
}

/// Returns the name of an entry, its own or inherited.
fn name<'r>(entry: Entry<'r, 'r>, own: &Own<'r>) -> Option<&'r [u8]> {
    let inherited = || if own.has_origin { entry.inherited(dw::DW_AT_name).and_then(bytes) } else { None };
    own.name.and_then(|name| name.string(entry)).or_else(inherited)
}

fn bytes(value: Value<'_>) -> Option<&[u8]> {
    match value {
        Value::String(string) => Some(string.bytes()),
        _ => None,
    }
}

/// Returns the finding about two variables of one name in one scope.
fn two_types(first: Entry<'_, '_>, second: Entry<'_, '_>) -> Option<Judged> {
    let (one, other) = (first.ty()?, second.ty()?);
    let is_parameter = |variable: Entry<'_, '_>| variable.tag() == dw::DW_TAG_formal_parameter;
    // The parameters of a pack have one name.
    let is_same = one.offset() == other.offset()
        || one.tag() == other.tag() && one.name().is_some() && one.name() == other.name();
    if is_same || is_parameter(first) && is_parameter(second) {
        return None;
    }
    let pcs = |variable: Entry<'_, '_>| -> Vec<Range<u64>> {
        let list = variable.locations(dw::DW_AT_location).ok().flatten().unwrap_or_default();
        let located = list.into_iter().filter(|one| !one.expr.is_empty());
        located.map(|one| if one.is_default() { 0..u64::MAX } else { one.start..one.end }).collect()
    };
    let (of_first, of_second) = (pcs(first), pcs(second));
    let common = of_first.iter().find_map(|pcs| {
        let overlaps = |other: &&Range<u64>| other.start < pcs.end && pcs.start < other.end;
        of_second.iter().find(overlaps).map(|other| other.start.max(pcs.start))
    })?;
    let name = |ty: Entry<'_, '_>| {
        ty.name().map_or_else(|| "a type without a name".into(), |name| format!("`{name}`"))
    };
    let own = first.name().map_or_else(String::new, |name| format!("`{name}`"));
    let details = Details::new(format!("{own} as {} and as {}", name(one), name(other))).evidence([
        format!("the entries {:#x} and {:#x}", first.offset(), second.offset()),
        match common {
            0 => "both have a place at all pcs".into(),
            pc => format!("both have a place at {pc:#x}"),
        },
    ]);
    Some(Judged::new(Code::OneNameTwoTypes, details))
}
