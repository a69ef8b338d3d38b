//! Visits to a file's entries: lint's part in the walk over each unit.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use gimli::{DwAt, constants as dw};
use hashbrown::{HashMap, HashSet};

use super::codes::LintCode;
use super::collect::{Collected, FunctionId, Wanted};
use super::details::Details;
use super::diagnoser::{Diagnoser, Framed, Variable};
use super::entries::{self, EntryFindings, OwnAttributes, type_name};
use super::file::{Architecture, File, Function};
use super::finding::{Expression, LintFinding, LintReport};
use super::functions::FrameVerdicts;
use super::inlined::InlinedCalls;
use super::options::{LintOptions, NameMatch};
use super::places::Diagnosed;
use super::rows::RowInstructions;
use super::verdict::{Asked, Codes, Expr};
use super::{functions, lists, recoverable, unwritten};
use crate::ranges::{LONG_LIST, RangeLists};
use crate::walk::{
    Inside, ListKey, Scopes, Visit, has_children, list_section, position, read_locations, walk,
};
use eitri_dwarf::error::{self, Error, Result};
use eitri_dwarf::op::{Decoder, text};
use eitri_dwarf::read::threads::{self, Units};
#[doc(hidden)]
pub use eitri_dwarf::read::{
    ByAbbreviation, Dwarf, Entry, ListEntry, ListKind, OtherUnits, ResolvedValue, Str, StringId,
};

/// Limit on variables with the same name that a variable is compared with.
const MOST_SAME: usize = 64;
/// A function around entries, with its frame base.
struct Around<'r> {
    framed: Framed<'r>,
    name: Option<&'r [u8]>,
    /// The name as text, once a finding needs it.
    text: OnceCell<Arc<str>>,
    id: FunctionId,
    is_wanted: bool,
    /// Whether texts are written later.
    is_deferred: bool,
}

/// What lint keeps for an entry's children.
struct Own<'r> {
    inlined: Option<Entry<'r, 'r>>,
    /// Inlined calls between the function and the children, once a finding needs them.
    calls: OnceCell<InlinedCalls>,
    /// This scope's named variables with locations.
    variables: Vec<(StringId, Entry<'r, 'r>)>,
    /// Number of parameters so far.
    parameters: usize,
}

/// Scope in a function with code.
type Scope<'r> = crate::walk::Scope<Rc<Around<'r>>, Own<'r>>;

/// Names of the unit and its file, as findings give them, and the folder in which the unit was compiled.
struct UnitNames {
    unit: Option<Arc<str>>,
    split: Option<Arc<str>>,
    folder: Option<Arc<str>>,
}

struct Visitor<'a, 'r, 'o> {
    only: &'a [String],
    /// Whether a name in `only` means a function's name.
    matches: NameMatch<'a>,
    collected: &'a mut Collected<'r>,
    diagnoser: Diagnoser<'a, 'r, 'o>,
    id: FunctionId,
    index: usize,
    /// The first unit with this unit's name, if another thread diagnoses that unit.
    first: Option<&'a First<'r>>,
    names: UnitNames,
    files: OnceCell<Vec<Arc<str>>>,
    context: entries::Context,
    others: &'a OtherUnits<'r>,
    scopes: Scopes<Rc<Around<'r>>, Own<'r>>,
    ranges: &'a mut RangeLists,
    frames: &'a mut FrameVerdicts,
    abbreviations: &'a mut ByAbbreviation<entries::Diagnosed>,
    /// The last location list that was read.
    list: Vec<ListEntry<'r>>,
    /// Findings about the attributes in the last entry that was read.
    entry_findings: Vec<EntryFindings>,
    /// Whether a list in the unit has offsets from a base address that nothing specifies.
    lacks_base: bool,
    /// Long lists without findings, by list, scope and the facts that decided, with the entry count.
    /// Many variables can reference a list, which is then diagnosed once.
    clean: HashMap<(ListKey, Asked), usize>,
}

/// First unit with a name, by index, with its function names.
type First<'r> = (usize, OnceLock<HashSet<&'r [u8]>>);
/// First units, by name.
type Firsts<'r> = HashMap<Option<&'r str>, First<'r>>;

/// Where a finding is: section and offset.
type FindingPosition = (&'static str, u64);

/// Bytes in the units whose findings a thread collects at a time.
const PIECE: u64 = 1 << 17;

/// Returns the findings about a file: the first in each topic.
pub(super) fn folded(file: &File<'_, '_>, options: &LintOptions<'_>) -> LintReport {
    let dwarf = file.dwarf;
    let mut firsts = Firsts::new();
    if options.threads > 1 {
        for (index, unit) in dwarf.units().iter().enumerate() {
            firsts.entry(unit.name.as_deref()).or_insert_with(|| (index, OnceLock::new()));
        }
    }
    let pcs = file.object.pc_notation();
    let diagnosed = |(): &mut (), units: Units<'_>| {
        let mut part = Collected::new(Wanted::Topics, pcs);
        diagnose(file, units.range.start, units, options, &firsts, &mut part);
        part
    };
    let (_, parts) = threads::share(dwarf.units(), options.threads, |_| (), diagnosed);
    let mut parts = parts.into_iter();
    let mut collected = parts.next().unwrap_or_else(|| Collected::new(Wanted::Topics, pcs));
    parts.for_each(|part| collected.append(part));
    let units = collected.deferred();
    let counts = std::mem::take(&mut collected.report);
    for unit in units {
        diagnose(file, unit, [unit], options, &Firsts::new(), &mut collected);
    }
    collected.report = counts;
    collected.finish()
}

/// Passes all findings about a file to a function, piece by piece. Returns the rest of the report.
pub(super) fn each(
    file: &File<'_, '_>,
    options: &LintOptions<'_>,
    take: &mut dyn FnMut(LintFinding),
) -> LintReport {
    let mut report = LintReport::default();
    let pcs = file.object.pc_notation();
    for pieces in threads::chunks(file.dwarf.units(), PIECE).chunks(options.threads.max(1)) {
        let diagnosed = |units: Range<usize>| {
            let mut collected = Collected::new(Wanted::All, pcs);
            diagnose(file, units.start, units, options, &Firsts::new(), &mut collected);
            collected.finish()
        };
        for mut part in threads::each(pieces, diagnosed) {
            part.findings.drain(..).for_each(&mut *take);
            report.append(part);
        }
    }
    report
}

/// Collects the findings about some units; `start` is the first unit's index.
fn diagnose<'r>(
    file: &File<'r, '_>,
    start: usize,
    units: impl IntoIterator<Item = usize>,
    options: &LintOptions<'_>,
    firsts: &Firsts<'r>,
    collected: &mut Collected<'r>,
) {
    let mut abbreviations = ByAbbreviation::default();
    let others = OtherUnits::default();
    let mut ranges = RangeLists::default();
    let mut frames = FrameVerdicts::default();
    for index in units {
        let unit = &file.dwarf.units()[index];
        let id = collected.function((unit.name.as_deref(), None));
        let mut visitor = Visitor {
            only: &options.only,
            matches: options.matches,
            collected,
            diagnoser: Diagnoser::new(file, unit),
            id,
            index,
            first: firsts.get(&unit.name.as_deref()).filter(|first| first.0 < start),
            names: UnitNames {
                unit: unit.name.as_deref().map(Arc::from),
                split: file.dwarf.split_file().map(Arc::from),
                folder: unit.comp_dir.as_deref().map(Arc::from),
            },
            files: OnceCell::new(),
            context: entries::Context::new(file, unit),
            others: &others,
            scopes: Scopes::default(),
            ranges: &mut ranges,
            frames: &mut frames,
            abbreviations: &mut abbreviations,
            list: Vec::new(),
            entry_findings: Vec::new(),
            lacks_base: false,
            clean: HashMap::new(),
        };
        visitor.line_table();
        walk(file.dwarf, unit, &mut visitor);
    }
}

impl<'r> Visit<'r, 'r> for Visitor<'_, 'r, '_> {
    type Function = Rc<Around<'r>>;
    type Scope = Own<'r>;

    fn scopes(&mut self) -> &mut Scopes<Self::Function, Self::Scope> {
        &mut self.scopes
    }

    fn enter(&mut self, entry: Entry<'r, 'r>) -> Option<(Inside<Self::Function>, Self::Scope)> {
        let abbreviation = self.abbreviations.of(entry, || entries::Diagnosed::new(entry));
        let is_known_type = |ty| self.diagnoser.knows_type(ty);
        let own = entries::read(self.context, entry, &abbreviation, is_known_type, &mut self.entry_findings);
        let tag = abbreviation.tag;
        let is_variable = matches!(tag, dw::DW_TAG_variable | dw::DW_TAG_formal_parameter);
        let mut around = self.scopes.function().cloned();
        if tag == dw::DW_TAG_subprogram {
            around = self.function(entry, &own, around.as_deref());
            if let Some(around) = &around {
                self.diagnose_function(around);
            }
        } else if is_variable {
            let is_parameter = tag == dw::DW_TAG_formal_parameter;
            self.variable(entry, is_parameter, &own, around.as_deref());
        }
        for name in &abbreviation.expressions {
            self.attribute(entry, *name, around.as_deref());
        }
        if abbreviation.has_ranges
            && let Err(error) = self.ranges.ranges(entry)
        {
            self.unreadable(error.or_at(entry.place()), entry, around.as_deref())
        }
        for finding in std::mem::take(&mut self.entry_findings) {
            let details = Details::new(finding.written).evidence(finding.evidence);
            let diagnosed = Diagnosed::new(finding.code, details);
            let place = entry.dwarf().place(entry.offset());
            self.add(diagnosed, is_variable.then_some(entry), around.as_deref(), place, |_, _| {});
        }
        if !has_children(entry) {
            return None;
        }
        let inlined = (tag == dw::DW_TAG_inlined_subroutine).then_some(entry);
        let inside = match tag {
            dw::DW_TAG_subprogram => Inside::Function(around),
            dw::DW_TAG_inlined_subroutine => Inside::Call,
            _ => Inside::Same,
        };
        Some((inside, Own { inlined, calls: OnceCell::new(), variables: Vec::new(), parameters: 0 }))
    }

    /// Compares a scope's variables.
    fn leave(&mut self, mut scope: Scope<'r>) {
        let variables = &mut scope.own.variables;
        if self.collected.differ(variables.iter().map(|variable| variable.0)) {
            return;
        }
        let names = self.collected.names.bytes();
        variables.sort_unstable_by_key(|(name, entry)| (names[*name as usize], entry.index()));
        for (index, (name, first)) in variables.iter().enumerate() {
            let same = variables[index + 1..].iter().take(MOST_SAME).take_while(|second| second.0 == *name);
            for (_, second) in same {
                if let Some(diagnosed) = two_types(*first, *second) {
                    let place = second.dwarf().place(second.offset());
                    self.add(diagnosed, Some(*second), scope.function.as_deref(), place, |_, _| {});
                }
            }
        }
    }
}

impl<'a, 'r> Visitor<'a, 'r, '_> {
    /// Adds the findings about the unit's line table.
    fn line_table(&mut self) {
        let dwarf = self.diagnoser.file.dwarf;
        if let Err(error) = self.lines(dwarf) {
            let place = (dwarf.sections().name(".debug_line"), error.at().offset.unwrap_or(0));
            let diagnosed = Diagnosed::new(LintCode::Unreadable, Details::new(error.kind().to_string()));
            self.add(diagnosed, None, None, place, |_, _| {});
            let unit = self.diagnoser.unit.name.as_deref().map(String::from);
            self.report_unreadable(dwarf, error.or_at(error::At::new(|context| context.unit = unit)));
        }
    }

    /// Adds the findings about the first row in the unit's line table that goes back, and about the first row inside an
    /// instruction. If several units share a table, the first unit has the findings; a split unit uses its skeleton's table.
    fn lines(&mut self, dwarf: &'r Dwarf<'r>) -> Result<()> {
        let Diagnoser { file, unit, .. } = self.diagnoser;
        if unit.is_split() || !file.has_own_lines(unit) {
            return Ok(());
        }
        let Some(program) = dwarf.lines(unit)? else { return Ok(()) };
        let mut rows = program.rows();
        let pcs = file.object.pc_notation();
        // The sequence's last address, and whether its code is in the file.
        let mut last = None;
        let mut instructions = RowInstructions::default();
        let mut is_inside = false;
        while let Some(row) = rows.next_row()? {
            eitri_dwarf::work::step();
            let address = row.address;
            let ends = row.end_sequence;
            let (before, is_live) = last.unwrap_or_else(|| (address, dwarf.is_code(address)));
            if is_live
                && !is_inside
                && let Some(instruction) = instructions.around(file, address)
            {
                is_inside = true;
                let details = Details::new(format!("a row at {}", pcs.pc(address))).evidence([instruction]);
                let place = (dwarf.sections().name(".debug_line"), rows.offset());
                let diagnosed = Diagnosed::new(LintCode::RowInsideInstruction, details);
                self.add(diagnosed, None, None, place, |_, _| {});
            }
            if address < before && is_live {
                let [row, last] = [address, before].map(|pc| pcs.pc(pc));
                let details = Details::new(format!("a row at {row} after one at {last}"));
                let place = (dwarf.sections().name(".debug_line"), rows.offset());
                self.add(Diagnosed::new(LintCode::ReversedRow, details), None, None, place, |_, _| {});
                return Ok(());
            }
            last = (!ends).then_some((address, is_live));
        }
        Ok(())
    }

    /// Returns a function with code; `outer` is the function around it.
    fn function(
        &mut self,
        entry: Entry<'r, 'r>,
        own: &OwnAttributes<'r>,
        outer: Option<&Around<'r>>,
    ) -> Option<Rc<Around<'r>>> {
        let ranges = match self.ranges.ranges(entry) {
            Ok(ranges) => ranges,
            Err(error) => return self.unreadable(error, entry, outer),
        };
        let framed = self.diagnoser.function(entry, &ranges)?;
        self.collected.report.functions += 1;
        let name = name(entry, own).map(Str::bytes);
        let is_wanted = self.only.is_empty() || self.is_named(entry, name);
        let id = self.collected.function((self.diagnoser.unit.name.as_deref(), name));
        // A function with the same name already has most topics.
        let is_deferred = self.first.is_some_and(|(unit, names)| {
            let names = names.get_or_init(|| function_names(self.diagnoser.file.dwarf, *unit));
            name.is_some_and(|name| names.contains(name))
        });
        Some(Rc::new(Around { framed, name, text: OnceCell::new(), id, is_wanted, is_deferred }))
    }

    /// Whether the caller asks for a function with this name.
    fn is_named(&mut self, entry: Entry<'r, 'r>, name: Option<&[u8]>) -> bool {
        let linkage = entry.inherited(dw::DW_AT_linkage_name).and_then(|name| name.text());
        let name = name.map(String::from_utf8_lossy);
        let is_named = |wanted: &&String| {
            let mut names = [name.as_deref(), linkage.as_deref()].into_iter().flatten();
            names.any(|name| self.matches.is_match(wanted, name))
        };
        let Some(named) = self.only.iter().find(is_named) else { return false };
        let known = &mut self.collected.report.named;
        if !known.contains(named) {
            known.push(named.clone());
        }
        true
    }

    fn diagnose_function(&mut self, around: &Around<'r>) {
        let function = &around.framed.function;
        let place = function.entry.dwarf().place(function.entry.offset());
        let file = self.diagnoser.file;
        // The findings are added to the visitor.
        let mut frames = std::mem::take(self.frames);
        functions::findings(
            file,
            function,
            around.framed.frame_base(),
            &mut frames,
            &mut |code, own, details| {
                if self.wants(code, None, Some(around)) {
                    if around.is_deferred {
                        return self.collected.defer(self.index);
                    }
                    let diagnosed = Diagnosed::new(code, details());
                    let mut finding = self.finding(diagnosed, None, Some(around), own.unwrap_or(place));
                    finding.pcs = function.ranges.first().cloned();
                    finding.declared = functions::declared(function.entry, self.files(), self.others);
                    self.collected.add(finding);
                }
            },
        );
        *self.frames = frames;
    }

    /// Diagnoses an attribute's expressions, except locations.
    fn attribute(&mut self, entry: Entry<'r, 'r>, name: DwAt, around: Option<&Around<'r>>) {
        let owner = Some(entry).filter(|entry| entry.tag() != dw::DW_TAG_subprogram);
        let locations = entry.locations(name);
        for located in
            locations.unwrap_or_else(|error| self.unreadable(error, entry, around)).unwrap_or_default()
        {
            let Some((code, written)) = self.diagnoser.attribute(name, located.expr) else { continue };
            let diagnosed = Diagnosed::new(code, Details::new(written));
            let place = entry.dwarf().place(entry.offset());
            self.add(diagnosed, owner, around, place, |visitor, finding| {
                finding.pcs = (!located.is_default()).then_some(located.start..located.end);
                finding.expression = Some(visitor.expression(located.expr, &(0..located.expr.len())));
            });
        }
    }

    /// Adds a finding about a location that cannot be read. Returns a default value instead.
    fn unreadable<T: Default>(
        &mut self,
        error: Error,
        entry: Entry<'r, 'r>,
        around: Option<&Around<'r>>,
    ) -> T {
        let section = error.at().section.as_deref().unwrap_or_default();
        let offset = error.at().offset;
        let lists = [".debug_loclists", ".debug_loc", ".debug_rnglists", ".debug_ranges"];
        let lists = lists.map(|name| entry.dwarf().sections().name(name));
        let place = match lists.into_iter().find(|name| *name == section).zip(offset) {
            Some(place) => place,
            None => entry.dwarf().place(entry.offset()),
        };
        let is_variable = matches!(entry.tag(), dw::DW_TAG_variable | dw::DW_TAG_formal_parameter);
        let diagnosed = Diagnosed::new(LintCode::Unreadable, Details::new(error.kind().to_string()));
        self.add(diagnosed, is_variable.then_some(entry), around, place, |_, _| {});
        self.report_unreadable(entry.dwarf(), error);
        T::default()
    }

    /// Adds an error from a part that cannot be read. Relocation errors are reported for the object instead.
    fn report_unreadable(&mut self, dwarf: &Dwarf<'_>, error: Error) {
        if !dwarf.sections().has_error(&error) {
            self.collected.report.unreadable.push(error);
        }
    }

    /// Reads a variable's location entries into the list.
    fn read_locations(&mut self, entry: Entry<'r, 'r>, own: &OwnAttributes<'r>) -> Result<()> {
        read_locations(entry, own.location.as_ref(), &mut self.list)?;
        if let Some(ResolvedValue::LocList(offset)) = own.location {
            self.diagnose_base(offset);
        }
        Ok(())
    }

    /// Adds the finding about the first list in the unit with offsets from a base address that nothing specifies.
    fn diagnose_base(&mut self, list: u64) {
        let Diagnoser { file, unit, .. } = self.diagnoser;
        let is_offset = |entry: &ListEntry<'_>| matches!(entry.kind, ListKind::Pair { .. });
        if self.lacks_base || unit.low_pc.is_some() || !self.list.iter().any(is_offset) {
            return;
        }
        let raw = file.dwarf.raw_locations(unit, list).into_iter().flatten().map_while(Result::ok);
        let first = raw.map(|raw_entry| (raw_entry.offset, raw_entry.kind)).find(|raw_entry| {
            matches!(raw_entry.1, ListKind::Pair { .. } | ListKind::Base { .. } | ListKind::BaseIndex { .. })
        });
        let Some((offset, ListKind::Pair { start, end })) = first else { return };
        self.lacks_base = true;
        let [from, to] = [start, end].map(|pc| file.object.pc_notation().pc(pc));
        let details = Details::new(format!("offsets from {from} to {to} from an unknown base address"))
            .meant("offsets from 0")
            .evidence(["the unit has no DW_AT_low_pc, and the list does not select a base address".into()]);
        let place = (list_section(file.dwarf, unit), offset);
        self.add(Diagnosed::new(LintCode::ListWithoutBase, details), None, None, place, |_, _| {});
    }

    fn variable(
        &mut self,
        entry: Entry<'r, 'r>,
        is_parameter: bool,
        own: &OwnAttributes<'r>,
        around: Option<&Around<'r>>,
    ) {
        if own.is_declaration {
            return;
        }
        let number = self.scopes.innermost_mut().filter(|_| is_parameter).map(|scope| {
            scope.own.parameters += 1;
            scope.own.parameters - 1
        });
        let function = around.map(|around| &around.framed.function);
        let key = self.scopes.list_key(own.location.as_ref());
        if let Some(key) = key.filter(|_| function.is_some() && !self.clean.is_empty()) {
            let ty = self.diagnoser.ty(entry, own.ty);
            let variable = Variable { entry, ty, framed: around.map(|around| &around.framed) };
            if let Some(entries) = self.clean.get(&(key, variable.asked())) {
                self.collected.report.entries += entries;
                let name = name(entry, own).map(|name| self.collected.names.of(name));
                self.name_variable(entry, name);
                return;
            }
        }
        if let Err(error) = self.read_locations(entry, own) {
            self.unreadable::<()>(error, entry, around);
        }
        let list = std::mem::take(&mut self.list);
        let is_somewhere = list.iter().any(|entry| !entry.expr.is_empty());
        if !is_somewhere
            && !own.has_value
            && let (Some(number), Some(function)) = (number, function)
            && function.is_live
            && entry.parent() == Some(function.entry)
            && let Some((diagnosed, pcs)) = recoverable::parameter(self.diagnoser.file, function, number)
        {
            let place = entry.dwarf().place(entry.offset());
            self.add(diagnosed, Some(entry), around, place, |_, finding| finding.pcs = Some(pcs));
        }
        // A discarded section's functions and lists are not in the file.
        let is_discarded = function.is_some_and(|function| !function.is_live);
        let name = if list.is_empty() { None } else { name(entry, own) };
        let name = name.map(|name| self.collected.names.of(name));
        if !list.is_empty() {
            let ty = self.diagnoser.ty(entry, own.ty);
            let variable = Variable { entry, ty, framed: around.map(|around| &around.framed) };
            let is_clean = self.locations(&variable, name, around, is_discarded, &list);
            if let Some(key) =
                key.filter(|_| is_clean && is_somewhere && !is_discarded && list.len() >= LONG_LIST)
            {
                self.clean.insert((key, variable.asked()), list.len());
            }
        }
        self.list = list;
        if is_somewhere && !is_discarded && around.is_some() {
            self.name_variable(entry, name);
        }
    }

    /// Adds a variable that has a location to its scope, whose variables are compared by name.
    fn name_variable(&mut self, entry: Entry<'r, 'r>, name: Option<StringId>) {
        if let Some((name, scope)) = name.zip(self.scopes.innermost_mut()) {
            scope.own.variables.push((name, entry));
        }
    }

    /// Diagnoses a variable's location entries. Returns whether there is nothing to say.
    fn locations(
        &mut self,
        variable: &Variable<'_, 'r>,
        name: Option<StringId>,
        around: Option<&Around<'r>>,
        is_discarded: bool,
        list: &[ListEntry<'r>],
    ) -> bool {
        let mut is_clean = true;
        let file = self.diagnoser.file;
        let entry = variable.entry;
        let function = variable.function();
        let asked = variable.asked();
        let mut constants = lists::Constants::default();
        let mut last: Option<(&ListEntry<'r>, Rc<Expr>)> = None;
        for list_entry in list {
            eitri_dwarf::work::step();
            self.collected.report.entries += 1;
            let pcs = (!list_entry.is_default()).then_some(list_entry.start..list_entry.end);
            // An entry without a pc is no claim about the variable.
            if pcs.as_ref().is_some_and(|pcs| pcs.start == pcs.end) {
                continue;
            }
            let known = self.diagnoser.expression(list_entry.expr);
            let shape = &known.shape;
            let codes = if is_discarded || list_entry.expr.is_empty() {
                Codes::new()
            } else {
                self.diagnoser.verdict(variable, (&known, list_entry), asked, |verdict| {
                    Codes::from_slice(&verdict.codes)
                })
            };
            let others = lists::findings(file, function, list_entry, shape, &mut constants);
            if let (Some(pcs), Some((constant, before))) = (&pcs, &last) {
                let own = constant.start..constant.end;
                let diagnosed = recoverable::constant(file, function, (&own, &before.shape), (pcs, shape));
                if let Some(diagnosed) = diagnosed {
                    is_clean = false;
                    let expr = constant.expr;
                    let operations = diagnosed.operations.clone();
                    let place = position(entry, list, constant);
                    self.add(diagnosed, Some(entry), around, place, |visitor, finding| {
                        finding.pcs = Some(own);
                        finding.expression = Some(visitor.expression(expr, &operations));
                    });
                }
            }
            let is_triton = self.diagnoser.unit.producer.as_deref() == Some("triton");
            if let Some(function) = function.filter(|_| is_triton)
                && let Some(diagnosed) = recoverable::operand(file, function, shape)
            {
                is_clean = false;
                if self.wants(diagnosed.code, name, around) {
                    self.add_located(diagnosed, around, (variable, list, list_entry));
                }
            }
            is_clean &= codes.is_empty() && others.iter().all(Option::is_none);
            // The verdict on the expression has the codes. Texts also depend on the entry, and are written only if the caller
            // wants them.
            let mut explained = None;
            for code in codes {
                if !self.wants(code, name, around) {
                    continue;
                }
                if around.is_some_and(|around| around.is_deferred) {
                    self.collected.defer(self.index);
                    continue;
                }
                let explain = || self.diagnoser.explained(variable, (&known, list_entry)).into_iter();
                let diagnosed =
                    explained.get_or_insert_with(explain).find(|diagnosed| diagnosed.code == code);
                if let Some(diagnosed) = diagnosed {
                    self.add_located(diagnosed, around, (variable, list, list_entry));
                }
            }
            for diagnosed in others.into_iter().flatten() {
                if self.wants(diagnosed.code, name, around) {
                    self.add_located(diagnosed, around, (variable, list, list_entry));
                }
            }
            if pcs.is_some() && list.len() > 1 {
                last = Some((list_entry, known));
            }
        }
        let is_amd = file.architecture == Architecture::Amd;
        if let Some(function) = function.filter(|function| is_amd && function.is_live) {
            is_clean &= self.lanes(function, (variable, list), name, around);
        }
        is_clean
    }

    /// Adds the findings about lanes in which a location's register was not written. Returns whether there are none.
    fn lanes(
        &mut self,
        function: &Function<'r, '_>,
        (variable, list): (&Variable<'_, 'r>, &[ListEntry<'r>]),
        name: Option<StringId>,
        around: Option<&Around<'r>>,
    ) -> bool {
        let with_pcs: Vec<_> = list.iter().filter(|entry| !entry.is_default()).collect();
        if with_pcs.is_empty() {
            return true;
        }
        let known: Vec<_> = with_pcs.iter().map(|entry| self.diagnoser.expression(entry.expr)).collect();
        let located =
            with_pcs.iter().zip(&known).map(|(entry, known)| (entry.start..entry.end, &known.shape));
        let located: Vec<_> = located.collect();
        let findings = unwritten::findings(self.diagnoser.file, function, &located);
        let is_clean = findings.is_empty();
        for (index, pcs, diagnosed) in findings {
            if !self.wants(diagnosed.code, name, around) {
                continue;
            }
            if around.is_some_and(|around| around.is_deferred) {
                self.collected.defer(self.index);
                continue;
            }
            let entry = with_pcs[index];
            let place = position(variable.entry, list, entry);
            let expression = Some(self.expression(entry.expr, &(0..entry.expr.len())));
            let finding = self.finding(diagnosed, Some(variable.entry), around, place);
            self.collected.add(LintFinding { pcs: Some(pcs), expression, ..finding });
        }
        is_clean
    }

    /// Adds a finding about a variable's location entry.
    fn add_located(
        &mut self,
        diagnosed: Diagnosed,
        around: Option<&Around<'r>>,
        (variable, list, list_entry): (&Variable<'_, 'r>, &[ListEntry<'r>], &ListEntry<'r>),
    ) {
        let place = position(variable.entry, list, list_entry);
        let expression = Some(self.expression(list_entry.expr, &diagnosed.operations));
        let pcs = (!list_entry.is_default()).then_some(list_entry.start..list_entry.end);
        let finding = self.finding(diagnosed, Some(variable.entry), around, place);
        self.collected.add(LintFinding { pcs, expression, ..finding });
    }

    /// Returns an expression's text, with the part at fault.
    fn expression(&self, expr: &[u8], fault: &Range<usize>) -> Expression {
        let Diagnoser { file, unit, .. } = self.diagnoser;
        let target = file.target.as_ref();
        let print = |bytes: &[u8]| text::print(bytes, unit.encoding, target);
        let whole = print(expr);
        let has_branch = Decoder::new(expr, unit.encoding).flatten().any(|operation| {
            matches!(operation.op, eitri_dwarf::op::Op::Bra { .. } | eitri_dwarf::op::Op::Skip { .. })
        });
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

    /// Returns the unit's file names, by number.
    fn files(&self) -> &[Arc<str>] {
        self.files.get_or_init(|| {
            let Diagnoser { file, unit, .. } = self.diagnoser;
            let Ok(Some(program)) = file.dwarf.lines(unit) else { return Vec::new() };
            let count = program.files.len() as u64 + 1;
            let path = |number| program.path(number).unwrap_or_default().into();
            (0..count).map(path).collect()
        })
    }

    /// Counts a finding. Returns whether it is added with its texts.
    #[inline]
    fn wants(&mut self, code: LintCode, variable: Option<StringId>, around: Option<&Around<'r>>) -> bool {
        let is_wanted = around.map_or(self.only.is_empty(), |around| around.is_wanted);
        let function = around.map_or(self.id, |around| around.id);
        is_wanted && self.collected.wants(code, (self.id, function), variable)
    }

    fn finding(
        &self,
        diagnosed: Diagnosed,
        variable: Option<Entry<'r, 'r>>,
        around: Option<&Around<'r>>,
        (section, offset): FindingPosition,
    ) -> LintFinding {
        let details = diagnosed.details.map_or_else(Details::default, |details| *details);
        let text = |around: &Around<'r>| {
            let name = around.name?;
            Some(around.text.get_or_init(|| String::from_utf8_lossy(name).into()).clone())
        };
        let names = |entry: Entry<'r, 'r>| entry.name().map(String::from);
        LintFinding {
            unit: self.names.unit.clone(),
            split: self.names.split.clone(),
            folder: self.names.folder.clone(),
            function: around.and_then(text),
            inlined: self.inlined(around),
            variable: variable.and_then(names),
            declared: variable.and_then(|entry| functions::declared(entry, self.files(), self.others)),
            entry: variable.or_else(|| around.map(|around| around.framed.function.entry)).map(Entry::offset),
            ..LintFinding::new(diagnosed.code, section, offset, details)
        }
    }

    /// Returns the inlined calls around the current entry, inside the function. Scopes outside the function are not
    /// visited, because functions can be nested deeply, nor scopes outside a scope whose calls are known.
    fn inlined(&self, around: Option<&Around<'r>>) -> InlinedCalls {
        let function = around.map(std::ptr::from_ref);
        let inner = self.scopes.iter();
        let inner = inner.take_while(|scope| scope.function.as_deref().map(std::ptr::from_ref) == function);
        let mut calls = InlinedCalls::default();
        let mut unknown = Vec::new();
        for scope in inner {
            eitri_dwarf::work::step();
            if let Some(known) = scope.own.calls.get() {
                calls = known.clone();
                break;
            }
            unknown.push(scope);
        }
        for scope in unknown.into_iter().rev() {
            if let Some(name) = scope.own.inlined.and_then(Entry::name) {
                calls = calls.with(&name);
            }
            calls = scope.own.calls.get_or_init(|| calls).clone();
        }
        calls
    }

    /// Adds a finding, if it is wanted, after a change.
    fn add(
        &mut self,
        diagnosed: Diagnosed,
        variable: Option<Entry<'r, 'r>>,
        around: Option<&Around<'r>>,
        place: FindingPosition,
        change: impl FnOnce(&Self, &mut LintFinding),
    ) {
        let name = variable.and_then(|entry| entry.inherited(dw::DW_AT_name)?.string());
        let name = name.map(|name| self.collected.names.of(name));
        if self.wants(diagnosed.code, name, around) {
            let mut finding = self.finding(diagnosed, variable, around, place);
            change(self, &mut finding);
            self.collected.add(finding);
        }
    }
}

/// Returns the function names in a unit, by index.
fn function_names<'r>(dwarf: &'r Dwarf<'r>, unit: usize) -> HashSet<&'r [u8]> {
    let entries = dwarf.units().get(unit).into_iter().flat_map(|unit| dwarf.entries_of(unit));
    let functions = entries.filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
    functions.filter_map(|entry| Some(entry.inherited(dw::DW_AT_name)?.string()?.bytes())).collect()
}

/// Returns the name that an entry contains or inherits.
fn name<'r>(entry: Entry<'r, 'r>, own: &OwnAttributes<'r>) -> Option<Str<'r>> {
    let inherited = || if own.has_origin { entry.inherited(dw::DW_AT_name)?.string() } else { None };
    own.name.or_else(inherited)
}

/// Returns the finding about two variables with the same name in a scope.
fn two_types(first: Entry<'_, '_>, second: Entry<'_, '_>) -> Option<Diagnosed> {
    let first_type = first.ty()?;
    let second_type = second.ty()?;
    let is_parameter = |variable: Entry<'_, '_>| variable.tag() == dw::DW_TAG_formal_parameter;
    // The parameters in a pack share a name.
    let is_same = first_type.offset() == second_type.offset()
        || first_type.tag() == second_type.tag()
            && first_type.name().is_some()
            && first_type.name() == second_type.name();
    if is_same || is_parameter(first) && is_parameter(second) {
        return None;
    }
    let pcs = |variable: Entry<'_, '_>| -> Vec<Range<u64>> {
        let list = variable.locations(dw::DW_AT_location).ok().flatten().unwrap_or_default();
        let located = list.into_iter().filter(|entry| !entry.expr.is_empty());
        located.map(|entry| if entry.is_default() { 0..u64::MAX } else { entry.start..entry.end }).collect()
    };
    let first_pcs = pcs(first);
    let second_pcs = pcs(second);
    let common = first_pcs.iter().find_map(|pcs| {
        let overlaps = |other: &&Range<u64>| other.start < pcs.end && pcs.start < other.end;
        second_pcs.iter().find(overlaps).map(|other| other.start.max(pcs.start))
    })?;
    let own = first.name().map_or_else(String::new, |name| format!("`{name}`"));
    let details =
        Details::new(format!("{own} as {} and as {}", type_name(first_type), type_name(second_type)))
            .evidence([
                format!("the entries {:#x} and {:#x}", first.offset(), second.offset()),
                match common {
                    0 => "both have a location at all pcs".into(),
                    pc => format!("both have a location at {}", first.dwarf().pc_notation().pc(pc)),
                },
            ]);
    Some(Diagnosed::new(LintCode::OneNameTwoTypes, details))
}
