//! Procedures, which expressions call: DWARF 5 section 2.5.1.5.
//!
//! Besides described procedures, an object has procedures of shared subexpressions and of lanes. The meaning of a
//! procedure with callers is compared at the callers. An entry without callers must be a described procedure, which
//! is found by its meaning.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::EntitySet;
use gimli::constants as dw;
use hashbrown::HashMap;

use super::describe::Describe;
use super::expressions::{DescribedLocation, SIZES};
use super::locations::Witness;
use super::machine::Asked;
use super::meanings::Meanings;
use super::report::{Kind, Obstacle};
use super::tree::Compared;
use super::witness::{Fill, lanes};
use crate::eval::{self, Element};
use crate::model::{ProcedureId, UnitId};
use crate::omission::{Property, Subject};
use crate::op::{Decoder, Op};
use crate::read::{Dwarf, Entry, Unit, Value};

/// Described procedures of a unit without a matching entry so far.
#[derive(Default)]
struct Described {
    /// Procedures by the indices of a witness and of one of the [`SIZES`], and by the hash of these bits: the first
    /// of each at which the procedure has a meaning. Larger sizes come first, as fewer bits of an entry match more
    /// procedures. In all lists, those without callers come last.
    by_bits: BTreeMap<(usize, usize), HashMap<u64, Vec<ProcedureId>>>,
    /// Procedures that cannot be read at any witness.
    unreadable: Vec<ProcedureId>,
    /// Procedures that every entry matches: raw expressions, and locations outside of their storages.
    any: Vec<ProcedureId>,
    /// Number of these procedures.
    count: usize,
    /// Number of procedures whose location is omitted.
    omitted: usize,
    /// Number of the others that have callers, with those that an entry matches.
    called: usize,
}

impl Described {
    fn into_any(self) -> Vec<ProcedureId> {
        let by_bits = self.by_bits.into_values().flat_map(HashMap::into_values).flatten();
        let mut all: Vec<_> = by_bits.chain(self.unreadable).chain(self.any).collect();
        all.sort_unstable();
        all
    }
}

/// Meaning of a described procedure, for the search of its entry.
enum Meaning {
    /// Indices of a witness and of one of the [`SIZES`], and the hash of these bits.
    Bits((usize, usize), u64),
    /// The procedure is unreadable at all witnesses.
    Unreadable,
    /// The procedure has no meaning at any witness.
    Any,
}

/// Unit, and its procedures that match no described one so far.
struct UnitProcedures<'a, 'o> {
    unit: UnitId,
    entries: Vec<Entry<'a, 'o>>,
    described: Described,
    /// Number of omitted expressions of the unit, whose procedures the object may have.
    omitted: usize,
}

impl<'a, 'o> Meanings<'_, 'a, 'o> {
    /// Compares the procedures of the units of a file.
    pub(super) fn procedures(&mut self, units: Vec<(UnitId, Entry<'a, 'o>)>) {
        // Shared expressions and lanes, also those of a function without regions, have procedures that are not described.
        let has_others = self.described.consumer.expressions.shared_from_bytes.is_some()
            || self.module.functions().any(|(_, function)| function.lanes.is_described);
        let has_callers = self.module.called_procedures();
        let units = units.into_iter();
        let mut units: Vec<_> = units.map(|(unit, root)| self.of_unit(unit, root, &has_callers)).collect();
        let (file, none) = (self.file, Referred::new());
        let has_entries = units.iter().any(|of_unit| !of_unit.entries.is_empty());
        // All expressions of a file are decoded for it.
        let referred = if has_entries { file.referred() } else { &none };
        let mut called = Called::new(file.dwarf, referred);
        // Unreferenced procedures come first, so that the procedures that they call are not findings of their own.
        for is_referred in [false, true] {
            for of_unit in &mut units {
                let is_referred_to =
                    |entry: &Entry<'_, '_>| referred.contains_key(&entry.offset()) == is_referred;
                let (now, later) =
                    core::mem::take(&mut of_unit.entries).into_iter().partition(is_referred_to);
                of_unit.entries = later;
                for entry in now {
                    if called.contains(entry) || !entry.has(dw::DW_AT_location) {
                        of_unit.entries.push(entry);
                        continue;
                    }
                    called.by(entry);
                    match self.take_described(&mut of_unit.described, entry) {
                        true => {}
                        // A procedure whose only callers are omitted.
                        false if has_others && of_unit.omitted > 0 => of_unit.omitted -= 1,
                        false => self.extra_procedure(of_unit.unit, entry),
                    }
                }
            }
        }
        for UnitProcedures { unit, entries, mut described, .. } in units {
            // An omitted procedure has an entry without a location, and one that is inlined in its callers.
            let (with, without): (Vec<_>, Vec<_>) =
                entries.into_iter().partition(|entry| entry.has(dw::DW_AT_location));
            // An undescribed entry can match a procedure that is inlined.
            let inlined = if has_others { described.called.max(described.count) } else { described.count };
            for &entry in without.iter().skip(described.omitted + inlined) {
                self.extra_procedure(unit, entry);
            }
            for entry in with {
                let is_described = described.count > 0 && self.take_described(&mut described, entry);
                if !is_described && !has_others {
                    self.extra_procedure(unit, entry);
                }
            }
            let inlined = match self.described.consumer.has_locations_on_the_stack() {
                true => 0,
                false => without.len().saturating_sub(described.omitted),
            };
            // A procedure without callers is not replaced anywhere.
            let (replaced, others): (Vec<_>, Vec<_>) =
                described.into_any().into_iter().partition(|&procedure| has_callers.contains(procedure));
            for procedure in others.into_iter().chain(replaced.into_iter().skip(inlined)) {
                let at = self.module.at_scope(self.module.unit(unit).scope);
                self.report.find(Kind::MissingEntry, at, format!("an entry of {procedure}"), "none like it");
            }
        }
    }

    fn of_unit(
        &mut self,
        unit: UnitId,
        root: Entry<'a, 'o>,
        has_callers: &EntitySet<ProcedureId>,
    ) -> UnitProcedures<'a, 'o> {
        let entries: Vec<_> = root.children().filter(|&child| is_procedure(child)).collect();
        for &entry in &entries {
            let at = self.module.at_unit(unit);
            let mut compared = Compared::default();
            compared.compare(self.file.reader(self.described, unit), &self.described.procedure(), entry);
            for (kind, (expected, found)) in compared.differences {
                self.report.find(kind, at.clone(), expected, found);
            }
            for child in compared.unexpected {
                self.report.unexpected(self.described, child, at.clone());
            }
        }
        let mut described = Described::default();
        let procedures = self.described.index.procedures[unit].iter().copied();
        let (called, others): (Vec<_>, Vec<_>) =
            procedures.partition(|&procedure| has_callers.contains(procedure));
        for procedure in called.into_iter().chain(others) {
            self.report.entries += 1;
            if self.described.omitted.count(Subject::Procedure(procedure), Property::Location) > 0 {
                described.omitted += 1;
                continue;
            }
            described.count += 1;
            described.called += usize::from(has_callers.contains(procedure));
            match self.meaning(procedure) {
                Meaning::Bits(at, hash) => {
                    let by_hash = described.by_bits.entry(at).or_default();
                    by_hash.entry(hash).or_default().push(procedure);
                }
                Meaning::Unreadable => described.unreadable.push(procedure),
                Meaning::Any => described.any.push(procedure),
            }
        }
        let omitted = self.described.omitted.expressions_of(unit);
        UnitProcedures { unit, entries, described, omitted }
    }

    fn extra_procedure(&mut self, unit: UnitId, entry: Entry<'a, 'o>) {
        let at = self.module.at_scope(self.module.unit(unit).scope);
        let (section, offset) = self.file.dwarf.place(entry.offset());
        let moved = self.described.object.section(section).map_or(0, |section| section.moved);
        let found = format!("{} at {:#x} of {section}", entry.tag().describe(), offset.saturating_sub(moved));
        self.report.find(Kind::Extra, at, "only procedures that are described or called", found);
    }

    fn described_procedure(&self, procedure: ProcedureId) -> DescribedLocation {
        let loc = self.module.procedures[procedure].loc;
        DescribedLocation { function: None, pc: 0, loc, is_number: false }
    }

    /// Returns the meaning of a described procedure at the first witness and size with one. A witness at which the
    /// whole location is unreadable does not count: the object may be unreadable for fewer bits, too.
    fn meaning(&self, procedure: ProcedureId) -> Meaning {
        let (described, asked) = (self.described_procedure(procedure), Asked::default());
        let mut without = Meaning::Any;
        for (number, witness) in self.witnesses().into_iter().enumerate() {
            for (size, bits) in SIZES.into_iter().enumerate() {
                match self.described_spans(described, bits, witness, &asked) {
                    Ok(Ok(spans)) => {
                        let spans: Vec<_> = spans.iter().map(|span| self.span(span)).collect();
                        return Meaning::Bits((number, size), eval::hash(&spans));
                    }
                    Ok(Err(Obstacle::OutOfBounds | Obstacle::Undescribed)) => {}
                    Ok(Err(_)) => break,
                    Err(_) => {
                        without = Meaning::Unreadable;
                        break;
                    }
                }
            }
        }
        without
    }

    /// Lanes and contents for the search of procedures, those that distinguish most procedures first.
    fn witnesses(&self) -> Vec<Witness> {
        let at = |lane| Fill::ALL.map(|fill| Witness { pc: 0, start: None, lane, fill });
        lanes(&self.module.target).into_iter().rev().flat_map(at).collect()
    }

    /// Removes a described procedure that an entry matches, if there is one. Returns whether there is.
    fn take_described(&mut self, described: &mut Described, entry: Entry<'a, 'o>) -> bool {
        let Some(Value::Expr(expr)) = entry.attr(dw::DW_AT_location) else { return false };
        let (witnesses, asked) = (self.witnesses(), Asked::default());
        for (&(number, size), by_hash) in &mut described.by_bits {
            let witness = witnesses[number];
            let found = self.evaluated_at(entry, expr, witness, &asked, eval::Kind::Location);
            let Ok(Element::Location(found)) = found else { continue };
            let Ok(spans) = eval::spans(&found, SIZES[size].into()) else { continue };
            let hash = eval::hash(&spans);
            let Some(like) = by_hash.get_mut(&hash) else { continue };
            if self.take_same(like, entry) {
                described.count -= 1;
                if like.is_empty() {
                    by_hash.remove(&hash);
                }
                if by_hash.is_empty() {
                    described.by_bits.remove(&(number, size));
                }
                return true;
            }
        }
        let is_same =
            self.take_same(&mut described.unreadable, entry) || self.take_same(&mut described.any, entry);
        described.count -= usize::from(is_same);
        is_same
    }

    /// Removes the last procedure of a list that an entry matches. Procedures without callers are matched first, as one
    /// with callers can be replaced in all of them.
    fn take_same(&mut self, of: &mut Vec<ProcedureId>, entry: Entry<'a, 'o>) -> bool {
        // The report does not count attempts: their number depends on the order of the entries.
        let locations = self.report.locations;
        let same = of.iter().enumerate().rev().find_map(|(index, &procedure)| {
            crate::work::step();
            let described = self.described_procedure(procedure);
            let same = self.same_expression(described, entry, dw::DW_AT_location, &Asked::default());
            Some((index, same.ok()?))
        });
        self.report.locations = locations;
        let Some((index, obstacle)) = same else { return false };
        let procedure = of.remove(index);
        let at =
            self.described.module.at_scope(self.module.unit(self.module.procedures[procedure].unit).scope);
        self.unproven(obstacle, procedure.to_string(), &at);
        true
    }
}

/// Offsets of entries that are called, by an entry other than a procedure, or by a procedure that is called.
struct Called<'a, 'o> {
    dwarf: &'a Dwarf<'o>,
    all: BTreeSet<u64>,
}

impl<'a, 'o> Called<'a, 'o> {
    fn new(dwarf: &'a Dwarf<'o>, referred: &Referred) -> Self {
        let mut called = Self { dwarf, all: BTreeSet::new() };
        called.add(referred.iter().filter(|(_, is_root)| **is_root).map(|(&offset, _)| offset).collect());
        called
    }

    fn contains(&self, entry: Entry<'_, '_>) -> bool {
        self.all.contains(&entry.offset())
    }

    /// Adds the references of an entry.
    fn by(&mut self, entry: Entry<'a, 'o>) {
        self.add(refers_to(entry));
    }

    fn add(&mut self, mut left: Vec<u64>) {
        while let Some(offset) = left.pop() {
            if self.all.insert(offset) {
                let entry = self.dwarf.entry_at(offset).filter(|&entry| is_procedure(entry));
                left.extend(entry.into_iter().flat_map(refers_to));
            }
        }
    }
}

pub(super) fn is_procedure(entry: Entry<'_, '_>) -> bool {
    entry.tag() == dw::DW_TAG_dwarf_procedure
}

/// Offsets of the entries that expressions refer to, each with whether an entry other than a procedure does so.
pub(super) type Referred = BTreeMap<u64, bool>;

pub(super) fn referred(dwarf: &Dwarf<'_>) -> Referred {
    let mut all = Referred::new();
    for entry in dwarf.entries() {
        for offset in refers_to(entry) {
            *all.entry(offset).or_default() |= !is_procedure(entry);
        }
    }
    all
}

/// Returns the offsets of the entries that the expressions of an entry refer to.
fn refers_to(entry: Entry<'_, '_>) -> Vec<u64> {
    let mut all = Vec::new();
    for attribute in entry.attributes() {
        match attribute.value {
            Value::Expr(expr) => refers(expr, entry.unit(), &mut all),
            Value::LocList(_) => {
                // The comparison of the attribute reports a list that cannot be read.
                let list = entry.locations(attribute.name).ok().flatten().unwrap_or_default();
                list.iter().for_each(|one| refers(one.expr, entry.unit(), &mut all));
            }
            _ => {}
        }
    }
    all
}

fn refers<'o>(expr: &'o [u8], unit: &Unit<'o>, all: &mut Vec<u64>) {
    // A work list, as expressions can be nested.
    let mut exprs = vec![expr];
    while let Some(expr) = exprs.pop() {
        for one in Decoder::new(expr, unit.encoding).map_while(Result::ok) {
            let in_unit = |offset: u64| Some(unit.offset.wrapping_add(offset));
            let entry = match one.op {
                Op::Call2 { entry } | Op::Call4 { entry } | Op::GnuParameterRef { entry } => in_unit(entry),
                Op::CallRef { entry }
                | Op::ImplicitPointer { entry, .. }
                | Op::AspaceImplicitPointer { entry, .. }
                | Op::GnuVariableValue { entry } => Some(entry),
                Op::ConstType { ty, .. }
                | Op::RegvalType { ty, .. }
                | Op::DerefType { ty, .. }
                | Op::XderefType { ty, .. }
                | Op::Convert { ty }
                | Op::Reinterpret { ty } => in_unit(ty),
                Op::EntryValue { expr } => {
                    exprs.push(expr);
                    None
                }
                _ => None,
            };
            all.extend(entry);
        }
    }
}
