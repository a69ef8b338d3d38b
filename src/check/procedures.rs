//! Procedures, which expressions call: DWARF 5 section 2.5.1.5.
//!
//! Besides described procedures, an object has procedures for shared subexpressions and for lanes. The meaning of a
//! procedure with callers is compared at the callers. An entry without callers must be a described procedure, which
//! is found by its meaning because procedures have no names.

use std::collections::{BTreeMap, BTreeSet};

use gimli::constants as dw;
use hashbrown::HashMap;

use super::asked::Asked;
use super::describe::Describe;
use super::expressions::{
    DescribedLocation, SIZES, described_spans, evaluated_at, report_unproven, same_expression,
};
use super::extra::report_unexpected;
use super::meanings::Meanings;
use super::places::encoded_span;
use super::referred::{Referred, is_procedure, refers_to};
use super::report::{FindingKind, Obstacle};
use super::tree::Compared;
use super::witness::{Fill, lanes};
use super::witnesses::Witness;
use crate::eval::{self, Element};
use crate::model::{EntitySet, ProcedureId, UnitId};
use crate::omission::{Property, Subject};
use crate::read::{Dwarf, Entry, ResolvedValue};

/// A unit's described procedures without a matching entry so far.
#[derive(Default)]
struct Described {
    /// Procedures by a witness index, an index into [`SIZES`], and the hash of these bits: the first witness and size
    /// at which the procedure has a meaning. Larger sizes come first, as fewer bits match more procedures. In all
    /// lists, procedures without callers come last.
    by_bits: BTreeMap<(usize, usize), HashMap<u64, Vec<ProcedureId>>>,
    /// Procedures that cannot be read at any witness.
    unreadable: Vec<ProcedureId>,
    /// Procedures that every entry matches: raw expressions, and locations outside their storages.
    any: Vec<ProcedureId>,
    /// How many procedures these are.
    count: usize,
    /// How many procedures' locations are omitted.
    omitted: usize,
    /// How many procedures with a location have callers, whether an entry matches them or not.
    called: usize,
}

impl Described {
    fn into_any(self) -> Vec<ProcedureId> {
        let by_bits = self.by_bits.into_values().flat_map(HashMap::into_values).flatten();
        let mut procedures: Vec<_> = by_bits.chain(self.unreadable).chain(self.any).collect();
        procedures.sort_unstable();
        procedures
    }
}

/// A described procedure's meaning, by which its entry is found.
enum Meaning {
    /// A witness index, an index into [`SIZES`], and the hash of these bits.
    Bits((usize, usize), u64),
    /// The procedure is unreadable at all witnesses.
    Unreadable,
    /// The procedure has no meaning at any witness.
    Any,
}

/// A unit, and its procedures that match no described procedure so far.
struct UnitProcedures<'a, 'o> {
    unit: UnitId,
    entries: Vec<Entry<'a, 'o>>,
    described: Described,
    /// How many of the unit's expressions are omitted: the object may have their procedures.
    omitted: usize,
}

/// Compares the procedures in a file's units.
pub(super) fn compare_procedures<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    units: Vec<(UnitId, Entry<'a, 'o>)>,
) {
    // Shared expressions and lanes, even in a function without regions, have procedures that are not described.
    let has_others = meanings.described.consumer.expressions.shared_from_bytes.is_some()
        || meanings.module.functions().any(|(_, function)| function.lanes.is_described);
    let has_callers = meanings.module.called_procedures();
    let units = units.into_iter();
    let mut units: Vec<_> =
        units.map(|(unit, root)| unit_procedures(meanings, unit, root, &has_callers)).collect();
    let file = meanings.file;
    let none = BTreeMap::new();
    let has_entries = units.iter().any(|of_unit| !of_unit.entries.is_empty());
    // It decodes all expressions in a file.
    let referred = if has_entries { file.references.entries() } else { &none };
    let mut called = Called::new(file.dwarf, referred);
    // Unreferenced procedures come first, so that the procedures that they call are not separate findings.
    for is_referred in [false, true] {
        for of_unit in &mut units {
            let is_referred_to =
                |entry: &Entry<'_, '_>| referred.contains_key(&entry.offset()) == is_referred;
            let (now, later) = core::mem::take(&mut of_unit.entries).into_iter().partition(is_referred_to);
            of_unit.entries = later;
            for entry in now {
                if called.contains(entry) || !entry.has(dw::DW_AT_location) {
                    of_unit.entries.push(entry);
                    continue;
                }
                called.add_references(entry);
                if take_described(meanings, &mut of_unit.described, entry) {
                    continue;
                }
                if has_others && of_unit.omitted > 0 {
                    // A procedure whose only callers are omitted.
                    of_unit.omitted -= 1;
                } else {
                    extra_procedure(meanings, of_unit.unit, entry);
                }
            }
        }
    }
    for UnitProcedures { unit, entries, mut described, .. } in units {
        // An omitted procedure has an entry without a location, and so has a procedure that is inlined in its
        // callers.
        let (with, without): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.has(dw::DW_AT_location));
        // An undescribed entry can match a procedure that is inlined.
        let inlined = if has_others { described.called.max(described.count) } else { described.count };
        for &entry in without.iter().skip(described.omitted + inlined) {
            extra_procedure(meanings, unit, entry);
        }
        for entry in with {
            let is_described = described.count > 0 && take_described(meanings, &mut described, entry);
            if !is_described && !has_others {
                extra_procedure(meanings, unit, entry);
            }
        }
        let inlined = if meanings.described.consumer.has_locations_on_the_stack() {
            0
        } else {
            without.len().saturating_sub(described.omitted)
        };
        // A procedure without callers is replaced nowhere, so that its entry must exist.
        let (replaced, others): (Vec<_>, Vec<_>) =
            described.into_any().into_iter().partition(|&procedure| has_callers.contains(procedure));
        for procedure in others.into_iter().chain(replaced.into_iter().skip(inlined)) {
            let site = meanings.module.at_scope(meanings.module.unit(unit).scope);
            meanings.report.find(
                FindingKind::MissingEntry,
                site,
                format!("an entry of {procedure}"),
                "none like it",
            );
        }
    }
}

fn unit_procedures<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    unit: UnitId,
    root: Entry<'a, 'o>,
    has_callers: &EntitySet<ProcedureId>,
) -> UnitProcedures<'a, 'o> {
    let entries: Vec<_> = root.children().filter(|&child| is_procedure(child)).collect();
    for &entry in &entries {
        let site = meanings.module.at_unit(unit);
        let mut compared = Compared::default();
        compared.compare(
            meanings.file.reader(meanings.described, unit),
            &meanings.described.procedure(),
            entry,
        );
        for (kind, (expected, found)) in compared.differences {
            meanings.report.find(kind, site.clone(), expected, found);
        }
        for child in compared.unexpected {
            report_unexpected(meanings.report, meanings.described, child, site.clone());
        }
    }
    let mut described = Described::default();
    let procedures = meanings.described.index.procedures[unit].iter().copied();
    let (called, others): (Vec<_>, Vec<_>) =
        procedures.partition(|&procedure| has_callers.contains(procedure));
    for procedure in called.into_iter().chain(others) {
        meanings.report.entries += 1;
        if meanings.described.omitted.count(Subject::Procedure(procedure), Property::Location) > 0 {
            described.omitted += 1;
            continue;
        }
        described.count += 1;
        described.called += usize::from(has_callers.contains(procedure));
        match procedure_meaning(meanings, procedure) {
            Meaning::Bits(at, hash) => {
                let by_hash = described.by_bits.entry(at).or_default();
                by_hash.entry(hash).or_default().push(procedure);
            }
            Meaning::Unreadable => described.unreadable.push(procedure),
            Meaning::Any => described.any.push(procedure),
        }
    }
    let omitted = meanings.described.omitted.expressions_of(unit);
    UnitProcedures { unit, entries, described, omitted }
}

fn extra_procedure<'a, 'o>(meanings: &mut Meanings<'_, 'a, 'o>, unit: UnitId, entry: Entry<'a, 'o>) {
    let site = meanings.module.at_scope(meanings.module.unit(unit).scope);
    let (section, offset) = meanings.file.dwarf.place(entry.offset());
    let moved = meanings.described.object.section(section).map_or(0, |section| section.moved);
    let actual = format!("{} at {:#x} of {section}", entry.tag().describe(), offset.saturating_sub(moved));
    meanings.report.find(FindingKind::Extra, site, "only procedures that are described or called", actual);
}

fn described_procedure(meanings: &Meanings<'_, '_, '_>, procedure: ProcedureId) -> DescribedLocation {
    let loc = meanings.module.procedures[procedure].loc;
    DescribedLocation { function: None, pc: 0, loc, is_number: false }
}

/// Returns a described procedure's meaning at the first witness and size with a meaning. A witness at which the whole
/// location is unreadable does not count, because the object may be unreadable for fewer bits, too.
fn procedure_meaning(meanings: &Meanings<'_, '_, '_>, procedure: ProcedureId) -> Meaning {
    let described = described_procedure(meanings, procedure);
    let asked = Asked::default();
    let mut without = Meaning::Any;
    for (number, witness) in procedure_witnesses(meanings).into_iter().enumerate() {
        for (size, bits) in SIZES.into_iter().enumerate() {
            match described_spans(meanings, described, bits, witness, &asked) {
                Ok(Ok(spans)) => {
                    let spans: Vec<_> = spans.iter().map(|span| encoded_span(meanings, span)).collect();
                    return Meaning::Bits(
                        (number, size),
                        eval::hash(&spans, meanings.module.target.byte_order()),
                    );
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

/// Lanes and contents for finding procedures. Those that distinguish most procedures come first.
fn procedure_witnesses(meanings: &Meanings<'_, '_, '_>) -> Vec<Witness> {
    let in_lane = |lane| Fill::ALL.map(|fill| Witness { pc: 0, start: None, lane, fill });
    lanes(&meanings.module.target).into_iter().rev().flat_map(in_lane).collect()
}

/// Removes a described procedure that an entry matches, if there is one. Returns whether there is.
fn take_described<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    described: &mut Described,
    entry: Entry<'a, 'o>,
) -> bool {
    let Some(ResolvedValue::Expr(expr)) = entry.attr(dw::DW_AT_location) else { return false };
    let witnesses = procedure_witnesses(meanings);
    let asked = Asked::default();
    let order = meanings.module.target.byte_order();
    for (&(number, size), by_hash) in &mut described.by_bits {
        let witness = witnesses[number];
        let location = evaluated_at(meanings, entry, expr, witness, &asked, eval::ResultKind::Location);
        let Ok(Element::Location(location)) = location else { continue };
        let Ok(spans) = eval::spans(&location, SIZES[size].into(), order) else { continue };
        let hash = eval::hash(&spans, order);
        // The hash selects candidates; all witnesses decide.
        let Some(like) = by_hash.get_mut(&hash) else { continue };
        if take_same(meanings, like, entry) {
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
    let is_same = take_same(meanings, &mut described.unreadable, entry)
        || take_same(meanings, &mut described.any, entry);
    described.count -= usize::from(is_same);
    is_same
}

/// Removes the last procedure in a list that an entry matches. Procedures without callers are matched first, because
/// a procedure with callers can be replaced in each of them.
fn take_same<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    candidates: &mut Vec<ProcedureId>,
    entry: Entry<'a, 'o>,
) -> bool {
    // The report does not count attempts, because their number depends on the entries' order.
    let locations = meanings.report.locations;
    let same = candidates.iter().enumerate().rev().find_map(|(index, &procedure)| {
        crate::work::step();
        let described = described_procedure(meanings, procedure);
        let same = same_expression(meanings, described, entry, dw::DW_AT_location, &Asked::default());
        Some((index, same.ok()?))
    });
    meanings.report.locations = locations;
    let Some((index, obstacle)) = same else { return false };
    let procedure = candidates.remove(index);
    let site = meanings
        .described
        .module
        .at_scope(meanings.module.unit(meanings.module.procedures[procedure].unit).scope);
    report_unproven(meanings, obstacle, procedure.to_string(), &site);
    true
}

/// Offsets of called entries: the caller is an entry other than a procedure, or a procedure that is called.
struct Called<'a, 'o> {
    dwarf: &'a Dwarf<'o>,
    all: BTreeSet<u64>,
}

impl<'a, 'o> Called<'a, 'o> {
    fn new(dwarf: &'a Dwarf<'o>, referred: &BTreeMap<u64, Referred<'o>>) -> Self {
        let mut called = Self { dwarf, all: BTreeSet::new() };
        let roots = referred.iter().filter(|(_, referred)| referred.is_root);
        called.add(roots.map(|(&offset, _)| offset).collect());
        called
    }

    fn contains(&self, entry: Entry<'_, '_>) -> bool {
        self.all.contains(&entry.offset())
    }

    /// Adds an entry's references.
    fn add_references(&mut self, entry: Entry<'a, 'o>) {
        self.add(refers_to(entry));
    }

    fn add(&mut self, mut left: Vec<u64>) {
        while let Some(offset) = left.pop() {
            // Procedures can call each other: each is followed once.
            if self.all.insert(offset) {
                let entry = self.dwarf.entry_at(offset).filter(|&entry| is_procedure(entry));
                left.extend(entry.into_iter().flat_map(refers_to));
            }
        }
    }
}
