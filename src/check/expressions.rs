//! Expressions other than variable locations: frame bases, static links, calls and procedures.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::asked::Asked;
use super::combining::combined_offsets;
use super::describe::Describe;
use super::dwarf5;
use super::index::PlacedPart;
use super::list::List;
use super::meanings::Meanings;
use super::places::{
    encoded_span, fault_text, is_nowhere, list_bounds, machine_at, model_contents, show_spans,
};
use super::report::{FindingKind, Listed, Obstacle, Unproven};
use super::witness::{Pcs, Tried, lanes};
use super::witnesses::{Witness, witnesses};
use crate::error::{At, Count};
use crate::eval::{self, Context, Element, LocationListEntry};
use crate::model::{DescribedStorage, FrameBase, FunctionId, LocId, NoMeaning};
use crate::omission::{Property, Subject};
use crate::op::Dialect;
use crate::read::{Entry, ResolvedValue};
use crate::target::ByteOrder;

/// An attribute's described location, at a pc within a function. A procedure has no function.
#[derive(Debug, Clone, Copy)]
pub(super) struct DescribedLocation {
    pub(super) function: Option<FunctionId>,
    pub(super) pc: u64,
    pub(super) loc: LocId,
    /// Whether the attribute gives a number, not a location.
    pub(super) is_number: bool,
}

/// Sizes in bits at which a location without a size is compared: the first size at which the location has a meaning
/// counts.
pub(super) const SIZES: [u64; 3] = [64, 8, 1];

/// Difference: kind, expected, found.
pub(super) type Difference = (FindingKind, String, String);

/// Compares a function's frame base and static link.
pub(super) fn compare_function<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    id: FunctionId,
    entry: Entry<'a, 'o>,
) {
    let data = meanings.module.function(id);
    let site = meanings.module.at_scope(data.scope);
    compare_frame_bases(meanings, id, entry);
    for (property, name, loc) in [
        (Property::Frame, gimli::DW_AT_frame_base, data.frame_base),
        (Property::StaticLink, gimli::DW_AT_static_link, data.static_link),
    ] {
        let Some(loc) = loc else { continue };
        if entry.has(name) || meanings.described.omitted.count(Subject::Function(id), property) == 0 {
            let further = data.code_parts().skip(1).map(|part| part.pcs.start);
            for pc in core::iter::once(0).chain(further) {
                let described = DescribedLocation { function: Some(id), pc, loc, is_number: false };
                compare_in_function(meanings, described, entry, name, &site);
            }
        }
    }
}

/// Compares a function's frame bases by pc: the list has an entry for each, and no further entry.
fn compare_frame_bases<'a, 'o>(meanings: &mut Meanings<'_, 'a, 'o>, id: FunctionId, entry: Entry<'a, 'o>) {
    let data = meanings.module.function(id);
    let omitted = &meanings.described.omitted.of_frame_bases;
    let described: Vec<FrameBase> = data
        .frame_bases()
        .iter()
        .filter(|base| !omitted.contains(&(id, base.pcs().start)))
        .copied()
        .collect();
    if described.is_empty() {
        return;
    }
    let name = gimli::DW_AT_frame_base;
    let at = meanings.module.at_scope(data.scope);
    let list = match entry.attr(name) {
        Some(ResolvedValue::LocList(offset)) => List::read(entry, offset),
        _ => None,
    };
    let Some(list) = list else {
        let found = entry.attr(name).describe();
        let expected = format!("{} with a location list", name.describe());
        return meanings.report.find(FindingKind::Attribute, at, expected, found);
    };
    let bounded = |entry: &LocationListEntry<'o>| match entry.expr {
        Cow::Borrowed(expr) => entry.bounds.map(|bounds| (bounds, expr)),
        Cow::Owned(_) => None,
    };
    let encoded: HashMap<(u64, u64), &'o [u8]> = list.entries.iter().filter_map(bounded).collect();
    let mut unproven = None;
    for base in &described {
        let pcs = base.pcs();
        let at = at.clone().with(|context| context.pcs = Some(pcs.clone()));
        let start = meanings.described.address_at(id, pcs.start);
        let bounds = start.map(|start| (start, start.wrapping_add(pcs.end - pcs.start)));
        let Some(expr) = bounds.and_then(|bounds| encoded.get(&bounds)) else {
            let expected = format!("{} at these pcs", name.describe());
            return meanings.report.find(FindingKind::Attribute, at, expected, "none");
        };
        let described =
            DescribedLocation { function: Some(id), pc: pcs.start, loc: base.loc, is_number: false };
        match same_bytes(meanings, described, entry, expr, &Asked::default()) {
            Ok(obstacle) => unproven = unproven.or(obstacle),
            Err((kind, expected, found)) => {
                return meanings.report.find(kind, at, format!("{} {expected}", name.describe()), found);
            }
        }
    }
    if list.entries.len() != described.len() {
        let expected = format!("{} in the list of {}", Count(described.len(), "entry"), name.describe());
        return meanings.report.find(FindingKind::Attribute, at, expected, list.entries.len().to_string());
    }
    report_unproven(meanings, unproven, name.describe(), &at);
}

/// Compares an attribute whose location holds at all pcs within a part of a function.
pub(super) fn compare_in_function<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    described: DescribedLocation,
    entry: Entry<'a, 'o>,
    attribute: gimli::DwAt,
    at: &At,
) {
    let parts = described.function.map(|function| meanings.described.parts(function));
    let is_here = |part: &PlacedPart| part.pcs.contains(&described.pc);
    let part = parts.into_iter().flatten().find(is_here);
    let size = described.function.map_or(1, |function| meanings.module.function(function).bytes);
    let PlacedPart { start, pcs } = part.unwrap_or(PlacedPart { start: 0, pcs: 0..size });
    let asked = Asked::default();
    let mut pcs = Pcs::only(described.pc, pcs);
    let mut unproven = None;
    while let Some(Tried { pc, .. }) = pcs.next() {
        match same_expression(meanings, DescribedLocation { pc, ..described }, entry, attribute, &asked) {
            Ok(obstacle) => unproven = unproven.or(obstacle),
            Err((kind, expected, found)) => {
                // A difference at the first pc is reported for the whole function.
                let pcs = (pc != described.pc).then(|| pc..pc + 1);
                let site = at.clone().with(|context| context.pcs = pcs);
                return meanings.report.find(
                    kind,
                    site,
                    format!("{} {expected}", attribute.describe()),
                    found,
                );
            }
        }
        // An entry that the expression read can change at other pcs, which become witnesses.
        pcs.follow(&asked, |entry| list_bounds(meanings, entry, start));
    }
    report_unproven(meanings, unproven, attribute.describe(), at);
}

/// Reports an obstacle to a comparison, if there is one.
pub(super) fn report_unproven(
    meanings: &mut Meanings<'_, '_, '_>,
    obstacle: Option<Obstacle>,
    what: String,
    at: &At,
) {
    let obstacle = obstacle.filter(|_| meanings.described.listed == Listed::All);
    let unproven = |why| Unproven { variable: None, at: at.clone(), what: Some(what), why };
    meanings.report.unproven.extend(obstacle.map(unproven));
}

/// Compares an attribute with its described location.
pub(super) fn compare_attribute<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    described: DescribedLocation,
    entry: Entry<'a, 'o>,
    attribute: gimli::DwAt,
    at: &At,
) {
    match same_expression(meanings, described, entry, attribute, &Asked::default()) {
        Ok(obstacle) => report_unproven(meanings, obstacle, attribute.describe(), at),
        Err((kind, expected, found)) => {
            meanings.report.find(kind, at.clone(), format!("{} {expected}", attribute.describe()), found);
        }
    }
}

/// Returns what prevents an attribute from being compared, or its difference at the first witness with a difference.
/// A raw expression at any witness is an obstacle; bits outside their storage are an obstacle only if all witnesses
/// have them.
pub(super) fn same_expression<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    described: DescribedLocation,
    entry: Entry<'a, 'o>,
    attribute: gimli::DwAt,
    asked: &Asked,
) -> Result<Option<Obstacle>, Difference> {
    let expr = match entry.attr(attribute) {
        Some(ResolvedValue::Expr(expr)) => expr,
        // Before DWARF 4, an expression has the form of a block; only the attribute tells.
        Some(ResolvedValue::Block(expr)) if entry.unit().encoding.version < 4 => expr,
        found => return Err((FindingKind::Attribute, "an expression".into(), found.describe())),
    };
    same_bytes(meanings, described, entry, expr, asked)
}

/// [`same_expression`], for an expression of an attribute.
fn same_bytes<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    described: DescribedLocation,
    entry: Entry<'a, 'o>,
    expr: &'o [u8],
    asked: &Asked,
) -> Result<Option<Obstacle>, Difference> {
    // The evaluator accepts more than DWARF 5, so that a result alone proves nothing here.
    if meanings.described.consumer.expressions.dialect == Dialect::Dwarf5 {
        let encoding = entry.unit().encoding.with_dialect(Dialect::Dwarf5);
        if let Some(problem) = dwarf5::problem(expr, encoding) {
            return Err((FindingKind::Evaluation, "an expression of DWARF 5".into(), problem));
        }
    }
    let address = |function| meanings.described.address_at(function, described.pc);
    let start = described.function.and_then(address).map(|address| address.wrapping_sub(described.pc));
    // Each attribute starts without facts: what an earlier expression read does not matter.
    asked.clear();
    let mut unproven = None;
    let mut undescribed = None;
    let mut compared = 0;
    let combines = || combined_offsets(meanings, &[described.loc], &[expr], entry.unit().encoding);
    let lanes = lanes(&meanings.module.target);
    let mut tried = witnesses(&lanes, described.pc, start, asked, combines);
    let difference = tried.try_for_each(|witness| {
        let obstacle = if described.is_number {
            same_number(meanings, described, entry, expr, witness, asked)?
        } else {
            same_location(meanings, described, entry, expr, witness, asked)?
        };
        match obstacle {
            None => compared += 1,
            Some(Obstacle::OutOfBounds) => {}
            Some(Obstacle::Undescribed) => undescribed = obstacle,
            Some(_) => unproven = obstacle,
        }
        Ok(())
    });
    meanings.report.locations += compared;
    difference?;
    Ok(unproven.or(undescribed).or((compared == 0).then_some(Obstacle::OutOfBounds)))
}

fn same_number<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    described: DescribedLocation,
    entry: Entry<'a, 'o>,
    expr: &[u8],
    witness: Witness,
    asked: &Asked,
) -> Result<Option<Obstacle>, Difference> {
    // A number in plain expressions is as wide as an address.
    let bits = u64::from(meanings.module.target.address_bytes()) * 8;
    let expected = match described_spans(meanings, described, bits, witness, asked) {
        Ok(Ok(expected)) => expected,
        Ok(Err(Obstacle::Undescribed)) => {
            let actual = evaluated_at(meanings, entry, expr, witness, asked, eval::ResultKind::Value);
            return Ok(Some(if actual.is_ok() { Obstacle::Undescribed } else { Obstacle::OutOfBounds }));
        }
        Ok(Err(obstacle)) => return Ok(Some(obstacle)),
        Err(why) => {
            return unreadable_too(meanings, entry, expr, witness, asked, eval::ResultKind::Value, &why);
        }
    };
    let order = meanings.module.target.byte_order();
    let expected = match &expected[..] {
        [span] if let DescribedStorage::Implicit(bytes) = &span.storage => {
            let push = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
            match order {
                ByteOrder::Little => bytes.iter().rev().fold(0, push),
                ByteOrder::Big => bytes.iter().fold(0, push),
            }
        }
        _ => return Err((FindingKind::Location, "a number".into(), "a place".into())),
    };
    match evaluated_at(meanings, entry, expr, witness, asked, eval::ResultKind::Value)? {
        Element::Value(value) if value.as_u64() == Some(expected) => Ok(None),
        found => Err((FindingKind::Location, format!("the number {expected:#x}"), found.to_string())),
    }
}

fn same_location<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    described: DescribedLocation,
    entry: Entry<'a, 'o>,
    expr: &[u8],
    witness: Witness,
    asked: &Asked,
) -> Result<Option<Obstacle>, Difference> {
    // A location without a size is compared at the first size at which it has a meaning.
    let mut is_undescribed = true;
    let order = meanings.module.target.byte_order();
    for bits in SIZES {
        let expected = match described_spans(meanings, described, bits, witness, asked) {
            Ok(Ok(expected)) => expected,
            Ok(Err(Obstacle::OutOfBounds)) => {
                // A smaller size can still be inside the storage.
                is_undescribed = false;
                continue;
            }
            Ok(Err(Obstacle::Undescribed)) => continue,
            Ok(Err(obstacle)) => return Ok(Some(obstacle)),
            Err(why) => {
                return unreadable_too(
                    meanings,
                    entry,
                    expr,
                    witness,
                    asked,
                    eval::ResultKind::Location,
                    &why,
                );
            }
        };
        let expected: Vec<_> = expected.iter().map(|span| encoded_span(meanings, span)).collect();
        let actual = evaluated_at(meanings, entry, expr, witness, asked, eval::ResultKind::Location)?;
        let Element::Location(actual) = actual else {
            return Err((FindingKind::Evaluation, show_spans(meanings, &expected), actual.to_string()));
        };
        let actual = eval::spans(&actual, bits.into(), order).map_err(|fault| {
            (FindingKind::Evaluation, show_spans(meanings, &expected), fault_text(meanings, &fault))
        })?;
        return if eval::are_equal(&expected, &actual, order) {
            Ok(None)
        } else {
            Err((FindingKind::Location, show_spans(meanings, &expected), show_spans(meanings, &actual)))
        };
    }
    let element = evaluated_at(meanings, entry, expr, witness, asked, eval::ResultKind::Location);
    let has_place = |element: &Element| match element {
        Element::Location(element) => {
            eval::spans(element, SIZES[2].into(), order).is_ok_and(|spans| !is_nowhere(&spans))
        }
        Element::Value(_) => false,
    };
    is_undescribed &= element.is_ok_and(|element| has_place(&element));
    Ok(Some(if is_undescribed { Obstacle::Undescribed } else { Obstacle::OutOfBounds }))
}

/// Returns a described location's meaning, or the obstacle to comparing it.
pub(super) fn described_spans(
    meanings: &Meanings<'_, '_, '_>,
    described: DescribedLocation,
    bits: u64,
    witness: Witness,
    asked: &Asked,
) -> Result<Result<Vec<crate::model::StorageSpan>, Obstacle>, NoMeaning> {
    let symbol = |name: &str| Some(meanings.described.object.symbol(name)?.address);
    let contents = model_contents(meanings, witness, &symbol, asked);
    match meanings.module.denote(described.function, described.loc, bits, &contents) {
        Ok(spans) => {
            asked.add_result(spans.iter());
            Ok(Ok(spans))
        }
        Err(NoMeaning::Raw) => Ok(Err(Obstacle::Raw)),
        // The model stops at a storage's end; an expression can still have a location there.
        Err(NoMeaning::OutOfBounds(_)) => Ok(Err(Obstacle::Undescribed)),
        Err(why) if why.is_outside() => Ok(Err(Obstacle::OutOfBounds)),
        Err(why) => Err(why),
    }
}

/// Compares an attribute that is unreadable in the model: it must be unreadable in the object.
fn unreadable_too<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    entry: Entry<'a, 'o>,
    expr: &[u8],
    witness: Witness,
    asked: &Asked,
    kind: eval::ResultKind,
    why: &NoMeaning,
) -> Result<Option<Obstacle>, Difference> {
    match evaluated_at(meanings, entry, expr, witness, asked, kind) {
        Err(_) => Ok(None),
        Ok(found) => Err((FindingKind::Location, why.to_string(), found.to_string())),
    }
}

pub(super) fn evaluated_at<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    entry: Entry<'a, 'o>,
    expr: &[u8],
    witness: Witness,
    asked: &Asked,
    kind: eval::ResultKind,
) -> Result<Element, Difference> {
    let unit = entry.unit();
    let target = &meanings.module.target;
    let context = Context::in_unit(unit, target).with_kind(kind);
    let machine = machine_at(meanings, entry, witness, asked);
    let result = meanings.evaluator.borrow_mut().evaluate(expr, &machine, &context);
    result.map_err(|fault| (FindingKind::Evaluation, "an expression".into(), fault_text(meanings, &fault)))
}
