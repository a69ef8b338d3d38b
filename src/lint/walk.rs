//! Walk over the entries of a file.

use std::ops::Range;
use std::rc::Rc;

use gimli::constants as dw;

use super::codes::Code;
use super::file::{File, Function};
use super::finding::{Expression, Finding, Report};
use super::places::{Judged, Located};
use super::shape::{self, Place, Shape};
use super::{Options, entries, functions, lists, recoverable};
use crate::error::Result;
use crate::op::{Decoder, text};
use crate::read::{Dwarf, Entry, ListEntry, Object, Unit, Value};

/// Maximum number of variables of one name that a variable is compared with.
const MOST_SAME: usize = 64;

/// A function around entries, with its frame base.
struct Around<'r> {
    function: Function<'r, 'r>,
    frame_base: Option<Shape>,
    name: Option<String>,
    is_wanted: bool,
}

/// An entry around others.
struct Scope<'r> {
    index: usize,
    around: Option<Rc<Around<'r>>>,
    inlined: Option<String>,
    /// Variables of this scope with places.
    variables: Vec<Variable<'r>>,
    /// Number of parameters so far.
    parameters: usize,
}

struct Variable<'r> {
    entry: Entry<'r, 'r>,
    pcs: Vec<Range<u64>>,
}

struct Walk<'a, 'r, 'o> {
    file: &'a File<'r, 'o>,
    options: &'a Options,
    report: &'a mut Report,
    unit: &'r Unit<'r>,
    unit_name: Option<String>,
    files: Vec<String>,
    scopes: Vec<Scope<'r>>,
}

pub(super) fn walk<'r, 'o>(
    object: &'r Object<'o>,
    dwarf: &'r Dwarf<'r>,
    options: &Options,
    report: &mut Report,
) -> Result<()> {
    let file = File::new(object, dwarf)?;
    let units = |units: &'r [Unit<'r>]| -> Result<Report> {
        let mut report = Report::default();
        for unit in units {
            let mut walk = Walk {
                file: &file,
                options,
                report: &mut report,
                unit,
                unit_name: unit.name.as_deref().map(String::from),
                files: files(dwarf, unit),
                scopes: Vec::new(),
            };
            walk.run(dwarf)?;
        }
        Ok(report)
    };
    let all = match options.threads {
        0 | 1 => vec![units(dwarf.units())],
        threads => std::thread::scope(|scope| {
            let units = &units;
            let start = |chunk| scope.spawn(move || units(chunk));
            let started: Vec<_> = chunks(dwarf.units(), threads).map(start).collect();
            let finish = |one: std::thread::ScopedJoinHandle<'_, _>| {
                one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            started.into_iter().map(finish).collect()
        }),
    };
    // The units are in the order of the file, whatever the number of threads.
    for one in all {
        report.append(one?);
    }
    Ok(())
}

/// Divides units into consecutive chunks of about the same number of entries.
fn chunks<'r>(mut units: &'r [Unit<'r>], threads: usize) -> impl Iterator<Item = &'r [Unit<'r>]> {
    let bytes = |units: &[Unit<'_>]| units.iter().map(|unit| unit.end - unit.offset).sum::<u64>();
    let each = bytes(units) / threads as u64 + 1;
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

/// Returns the names of a unit's files, by number.
fn files(dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> Vec<String> {
    let Ok(Some(program)) = dwarf.lines(unit) else { return Vec::new() };
    let count = program.files.len() as u64 + 1;
    (0..count).map(|number| program.path(number).map_or_else(String::new, |path| path.into_owned())).collect()
}

impl<'r> Walk<'_, 'r, '_> {
    fn run(&mut self, dwarf: &'r Dwarf<'r>) -> Result<()> {
        let mut of_entry = Vec::new();
        for entry in dwarf.entries_of(self.unit) {
            crate::work::step();
            let parent = entry.parent().map(Entry::index);
            while self.scopes.last().is_some_and(|scope| Some(scope.index) != parent) {
                self.leave();
            }
            entries::findings(entry, &mut of_entry);
            let mut around = self.scopes.last().and_then(|scope| scope.around.clone());
            let mut inlined = None;
            match entry.tag() {
                dw::DW_TAG_subprogram => {
                    around = self.function(entry)?;
                    if let Some(around) = &around {
                        self.judge_function(around);
                    }
                }
                dw::DW_TAG_inlined_subroutine => inlined = entry.name().map(String::from),
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter => {
                    self.variable(entry, around.as_deref())?
                }
                _ => {}
            }
            for one in of_entry.drain(..) {
                let judged = Judged {
                    code: one.code,
                    operations: 0..0,
                    written: one.written,
                    meant: None,
                    evidence: one.evidence,
                };
                let is_variable = matches!(entry.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter);
                let place = dwarf.place(entry.offset());
                let finding = self.finding(judged, is_variable.then_some(entry), around.as_deref(), place);
                self.add(finding, around.as_deref());
            }
            self.scopes.push(Scope {
                index: entry.index(),
                around,
                inlined,
                variables: Vec::new(),
                parameters: 0,
            });
        }
        while !self.scopes.is_empty() {
            self.leave();
        }
        Ok(())
    }

    fn function(&mut self, entry: Entry<'r, 'r>) -> Result<Option<Rc<Around<'r>>>> {
        let Some(function) = Function::new(self.file, entry)? else { return Ok(None) };
        self.report.functions += 1;
        let frame_base = match entry.attr(dw::DW_AT_frame_base) {
            Some(Value::Expr(expr)) => Some(self.shape(expr)),
            // A list: its entries differ, and none of them is followed.
            Some(_) => {
                let part = shape::Part { place: Place::Other, bits: None, operations: 0..0 };
                Some(Shape { parts: vec![part], ..Shape::default() })
            }
            None => None,
        };
        let name = entry.name().map(String::from);
        let linkage = entry.inherited(dw::DW_AT_linkage_name).and_then(|name| name.text());
        let only = &self.options.only;
        let is_named = |one: &&String| [name.as_deref(), linkage.as_deref()].contains(&Some(one.as_str()));
        let named = only.iter().find(is_named);
        let is_wanted = only.is_empty() || named.is_some();
        self.report.named.extend(named.filter(|one| !self.report.named.contains(one)).cloned());
        Ok(Some(Rc::new(Around { function, frame_base, name, is_wanted })))
    }

    fn judge_function(&mut self, around: &Around<'r>) {
        let function = &around.function;
        let place = function.entry.dwarf().place(function.entry.offset());
        for found in functions::findings(self.file, function) {
            let judged = Judged {
                code: found.code,
                operations: 0..0,
                written: found.written,
                meant: None,
                evidence: found.evidence,
            };
            let mut finding = self.finding(judged, None, Some(around), found.place.unwrap_or(place));
            finding.pcs = function.ranges.first().cloned();
            finding.declared = functions::declared(function.entry, &self.files);
            self.add(finding, Some(around));
        }
    }

    fn shape(&self, expr: &[u8]) -> Shape {
        let dwarf = self.file.dwarf;
        shape::of(expr, self.unit.encoding, &|index| dwarf.address(self.unit, index).ok())
    }

    fn variable(&mut self, entry: Entry<'r, 'r>, around: Option<&Around<'r>>) -> Result<()> {
        if entry.attr(dw::DW_AT_declaration).is_some() {
            return Ok(());
        }
        let number =
            self.scopes.last_mut().filter(|_| entry.tag() == dw::DW_TAG_formal_parameter).map(|scope| {
                scope.parameters += 1;
                scope.parameters - 1
            });
        let list = entry.locations(dw::DW_AT_location)?.unwrap_or_default();
        let function = around.map(|around| &around.function);
        let is_located = list.iter().any(|one| !one.expr.is_empty()) || entry.has(dw::DW_AT_const_value);
        if !is_located
            && let (Some(number), Some(function)) = (number, function)
            && function.is_live
            && entry.parent() == Some(function.entry)
            && let Some((judged, pcs)) = recoverable::parameter(self.file, function, number)
        {
            let place = entry.dwarf().place(entry.offset());
            let mut finding = self.finding(judged, Some(entry), around, place);
            finding.pcs = Some(pcs);
            self.add(finding, around);
        }
        // The functions and lists of a discarded section are not in the file.
        let is_discarded = function.is_some_and(|function| !function.is_live);
        let mut seen: Vec<(Range<u64>, Shape)> = Vec::new();
        let mut last: Option<&ListEntry<'_>> = None;
        let mut variable = Variable { entry, pcs: Vec::new() };
        for one in &list {
            self.report.entries += 1;
            let pcs = (!one.is_default()).then_some(one.start..one.end);
            let shape = self.shape(one.expr);
            let located = Located {
                file: self.file,
                function,
                frame_base: around.and_then(|around| around.frame_base.as_ref()),
                variable: entry,
                encoding: self.unit.encoding,
                shape: &shape,
                pcs: pcs.clone(),
            };
            let mut all = if is_discarded || one.expr.is_empty() { Vec::new() } else { located.findings() };
            if let Some(pcs) = &pcs {
                all.extend(lists::range(self.file, function, (pcs.start, pcs.end)));
                all.extend(
                    seen.iter().find_map(|(other, known)| lists::overlap((other, known), (pcs, &shape))),
                );
            }
            all.extend(lists::register(self.file, function, &shape, pcs.as_ref()));
            let lists = if self.unit.encoding.version >= 5 { ".debug_loclists" } else { ".debug_loc" };
            let section = match one.is_default() && list.len() == 1 {
                true => entry.dwarf().place(one.offset),
                false => (lists, one.offset),
            };
            if let (Some(pcs), Some((before, known)), Some(constant)) = (&pcs, seen.last(), last)
                && let Some(judged) =
                    recoverable::constant(self.file, function, (before, known), (pcs, &shape))
            {
                let operations = judged.operations.clone();
                let mut finding = self.finding(judged, Some(entry), around, (lists, constant.offset));
                finding.pcs = Some(before.clone());
                finding.expression = Some(self.expression(constant.expr, &operations));
                self.add(finding, around);
            }
            last = Some(one);
            for judged in all {
                let operations = judged.operations.clone();
                let mut finding = self.finding(judged, Some(entry), around, section);
                finding.pcs = pcs.clone();
                finding.expression = Some(self.expression(one.expr, &operations));
                self.add(finding, around);
            }
            let is_somewhere = !one.expr.is_empty();
            match pcs {
                Some(pcs) => {
                    if is_somewhere {
                        variable.pcs.push(pcs.clone());
                    }
                    if seen.len() < 1024 {
                        seen.push((pcs, shape));
                    }
                }
                None if is_somewhere => variable.pcs.push(0..u64::MAX),
                None => {}
            }
        }
        let has_name = entry.name().is_some();
        if let Some(scope) = self.scopes.last_mut().filter(|_| has_name && !is_discarded && around.is_some())
        {
            scope.variables.push(variable);
        }
        Ok(())
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

    fn finding(
        &self,
        judged: Judged,
        variable: Option<Entry<'r, 'r>>,
        around: Option<&Around<'r>>,
        (section, offset): (&'static str, u64),
    ) -> Finding {
        Finding {
            code: judged.code,
            level: judged.code.level(),
            unit: self.unit_name.clone(),
            function: around.and_then(|around| around.name.clone()),
            inlined: self.scopes.iter().filter_map(|scope| scope.inlined.clone()).collect(),
            variable: variable.and_then(Entry::name).map(String::from),
            declared: variable.and_then(|entry| functions::declared(entry, &self.files)),
            pcs: None,
            section,
            offset,
            entry: variable.or_else(|| around.map(|around| around.function.entry)).map(Entry::offset),
            expression: None,
            written: judged.written,
            meant: judged.meant,
            evidence: judged.evidence,
        }
    }

    fn add(&mut self, finding: Finding, around: Option<&Around<'r>>) {
        if around.map_or(self.options.only.is_empty(), |around| around.is_wanted) {
            self.report.findings.push(finding);
        }
    }

    /// Leaves a scope, after comparing its variables.
    fn leave(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        let mut variables = scope.variables;
        if variables.len() < 2 {
            return;
        }
        variables.sort_by_key(|variable| (variable.entry.name(), variable.entry.index()));
        for (index, first) in variables.iter().enumerate() {
            let name = first.entry.name();
            let same = variables[index + 1..]
                .iter()
                .take(MOST_SAME)
                .take_while(|second| second.entry.name() == name);
            for second in same {
                if let Some(judged) = two_types(first, second) {
                    let place = second.entry.dwarf().place(second.entry.offset());
                    let finding = self.finding(judged, Some(second.entry), scope.around.as_deref(), place);
                    self.add(finding, scope.around.as_deref());
                }
            }
        }
    }
}

/// Returns the finding about two variables of one name in one scope.
fn two_types(first: &Variable<'_>, second: &Variable<'_>) -> Option<Judged> {
    let (one, other) = (first.entry.ty()?, second.entry.ty()?);
    let is_parameter = |variable: &Variable<'_>| variable.entry.tag() == dw::DW_TAG_formal_parameter;
    // The parameters of a pack have one name.
    let is_same = one.offset() == other.offset()
        || one.tag() == other.tag() && one.name().is_some() && one.name() == other.name();
    if is_same || is_parameter(first) && is_parameter(second) {
        return None;
    }
    let common = first.pcs.iter().find_map(|pcs| {
        let overlaps = |other: &&Range<u64>| other.start < pcs.end && pcs.start < other.end;
        second.pcs.iter().find(overlaps).map(|other| other.start.max(pcs.start))
    })?;
    let name = |ty: Entry<'_, '_>| {
        ty.name().map_or_else(|| "a type without a name".into(), |name| format!("`{name}`"))
    };
    Some(Judged {
        code: Code::OneNameTwoTypes,
        operations: 0..0,
        written: format!("{} as {} and as {}", name_of(first), name(one), name(other)),
        meant: None,
        evidence: vec![
            format!("the entries {:#x} and {:#x}", first.entry.offset(), second.entry.offset()),
            match common {
                0 => "both have a place at all pcs".into(),
                pc => format!("both have a place at {pc:#x}"),
            },
        ],
    })
}

fn name_of(variable: &Variable<'_>) -> String {
    variable.entry.name().map_or_else(String::new, |name| format!("`{name}`"))
}
