//! Numbers and values that belong to entities other than variables: the model's denotation compared with the
//! evaluator's result, wherever the program stops.

use gimli::{DwAt, constants as dw};

use super::asked::Asked;
use super::combining::combined_offsets;
use super::describe::Describe;
use super::expressions::{DescribedLocation, compare_attribute, described_spans, report_unproven};
use super::meanings::Meanings;
use super::places::{Spans, const_value, encoded_span, fault_text, is_nowhere, machine_at, show_spans};
use super::report::{FindingKind, Obstacle};
use super::tree::{Encoded, Entity, Number};
use super::witness::lanes;
use super::witnesses::{Witness, witnesses};
use crate::eval::{self, Context, Evaluator, Fault, Location};
use crate::model::Node as LocNode;
use crate::read::{Entry, ResolvedValue};
use crate::target::ByteOrder;

/// Compares an entity's value with an entry's, wherever the program stops.
pub(super) fn compare_value<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    value: Number,
    entry: Entry<'a, 'o>,
    of: Entity,
) {
    let attribute = match value.encoded {
        Encoded::Value => None,
        Encoded::Count(name) => Some(name),
        Encoded::Number(name) | Encoded::Location(name) => {
            return compare_extra(meanings, value, name, entry, of);
        }
    };
    let places = [dw::DW_AT_const_value, dw::DW_AT_location];
    // A value is a constant or a location, a number has one attribute.
    let names = attribute.as_ref().map_or(&places[..], core::slice::from_ref);
    let values = names.iter().filter(|&&name| entry.has(name)).count();
    if values == 0 && meanings.described.omitted.count(value.subject, value.property) > 0 {
        return;
    }
    // A value that is not known has no attribute.
    if values == 0 && meanings.module.nodes(value.loc).all(|node| node == LocNode::Undefined) {
        return;
    }
    // Two values could contradict each other.
    if values != 1 {
        return meanings.report.find(
            FindingKind::Type,
            meanings.described.site(of),
            "one value",
            format!("{values} in {}", entry.describe()),
        );
    }
    // All values without bits are equal.
    let bits = value.bits.unwrap_or(8);
    if bits == 0 {
        return;
    }
    let module = meanings.module;
    let location = described(meanings, value, attribute.is_some());
    let asked = Asked::default();
    let mut unproven = None;
    let mut is_proven = false;
    let combines = || {
        let exprs = names.iter().filter_map(|&name| match entry.attr(name) {
            Some(ResolvedValue::Expr(expr)) => Some(expr),
            _ => None,
        });
        combined_offsets(meanings, &[value.loc], &exprs.collect::<Vec<_>>(), entry.unit().encoding)
    };
    let lanes = lanes(&module.target);
    let difference = witnesses(&lanes, 0, None, &asked, combines).find_map(|witness| {
        let expected = described_spans(meanings, location, bits, witness, &asked);
        let actual = encoded_value(meanings, attribute, entry, bits, witness, &asked);
        let expected = match (expected, &actual) {
            (Ok(Err(Obstacle::Raw)), _) => {
                unproven = Some(Obstacle::Raw);
                return None;
            }
            (Ok(Err(Obstacle::Undescribed)), Ok(actual)) if !is_nowhere(actual) => {
                unproven = unproven.or(Some(Obstacle::Undescribed));
                return None;
            }
            (Ok(Err(_)), _) => return None,
            // A value that is unreadable in the model must be unreadable in the object.
            (Err(_), Err(_)) => {
                is_proven = true;
                return None;
            }
            (Err(why), Ok(_)) => why.to_string(),
            (Ok(Ok(spans)), actual) => {
                let expected: Spans = spans.iter().map(|span| encoded_span(meanings, span)).collect();
                let order = meanings.module.target.byte_order();
                if actual.as_ref().is_ok_and(|actual| eval::are_equal(&expected, actual, order)) {
                    is_proven = true;
                    return None;
                }
                show_spans(meanings, &expected)
            }
        };
        let actual = match actual {
            Ok(actual) => show_spans(meanings, &actual),
            Err(fault) => fault.map_or_else(|| "no value".into(), |fault| fault_text(meanings, &fault)),
        };
        Some((expected, actual))
    });
    if let Some((expected, found)) = difference {
        return meanings.report.find(FindingKind::Type, meanings.described.site(of), expected, found);
    }
    match unproven.or((!is_proven).then_some(Obstacle::OutOfBounds)) {
        None => meanings.report.locations += 1,
        why => {
            let subject = format!("{} `{}`", entry.tag().describe(), entry.name().unwrap_or_default());
            report_unproven(meanings, why, subject, &meanings.described.site(of));
        }
    }
}

/// Returns a described number or value, wherever the program stops.
fn described(meanings: &Meanings<'_, '_, '_>, value: Number, is_number: bool) -> DescribedLocation {
    let module = meanings.module;
    let function = value.subject.scope(module).and_then(|scope| module.function_of(scope));
    DescribedLocation { function, pc: 0, loc: value.loc, is_number }
}

/// Compares an attribute that is an expression, unless it is omitted.
fn compare_extra<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    value: Number,
    name: DwAt,
    entry: Entry<'a, 'o>,
    of: Entity,
) {
    let omitted = meanings.described.omitted;
    let is_omitted = omitted.count(value.subject, value.property) > 0
        || omitted.attributes_of(meanings.described.unit_of(of)).contains(&name);
    if is_omitted && !entry.has(name) {
        return;
    }
    let location = described(meanings, value, matches!(value.encoded, Encoded::Number(_)));
    let site = meanings.described.site(of);
    compare_attribute(meanings, location, entry, name, &site);
}

/// Returns the value in the object; `Err(None)` without a value.
fn encoded_value<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    attribute: Option<DwAt>,
    entry: Entry<'a, 'o>,
    bits: u64,
    witness: Witness,
    asked: &Asked,
) -> Result<Spans, Option<Fault>> {
    let machine = machine_at(meanings, entry, witness, asked);
    let context = Context::in_unit(entry.unit(), &meanings.module.target);
    let mut evaluator = Evaluator::new().all_places();
    let order = meanings.module.target.byte_order();
    let location = match attribute {
        Some(name) => {
            let Some(ResolvedValue::Expr(expr)) = entry.attr(name) else { return Err(None) };
            let number = evaluator.value(expr, &machine, &context).map_err(Some)?;
            let number = number.as_u64().ok_or(None)?;
            let size = usize::from(meanings.module.target.address_bytes());
            match order {
                ByteOrder::Little => Location::implicit(&number.to_le_bytes()),
                ByteOrder::Big => Location::implicit(&number.to_be_bytes()[8 - size..]),
            }
        }
        None => match entry.attr(dw::DW_AT_location) {
            Some(ResolvedValue::Expr(expr)) => evaluator.location(expr, &machine, &context).map_err(Some)?,
            Some(_) => return Err(None),
            None => Location::implicit(&const_value(meanings, entry).ok_or(None)?),
        },
    };
    eval::spans(&location, bits.into(), order).map_err(Some)
}
