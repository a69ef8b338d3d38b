//! Variable locations, at every witness: the model's denotation compared with the evaluator's result. Each pair of a
//! described and an encoded location is compared by itself and remembered, because most pairs recur; where that
//! decides nothing, all locations at the pc are compared together.

use core::ops::Range;
use std::borrow::Cow;
use std::rc::Rc;

use smallvec::{SmallVec, smallvec};

use super::asked::Asked;
use super::combining::combined_offsets;
use super::dwarf5::{check_decodable, check_form};
use super::expressions::{Difference, SIZES};
use super::index::PlacedPart;
use super::list::List;
use super::machine;
use super::meanings::Meanings;
use super::pairs::{Agreement, Pair, Reads, Setting};
use super::places::{
    Place, Spans, described_locations, encoded_spans, fault_text, is_at_location, is_nowhere, lane_count,
    list_bounds, merged, model_contents, show_spans, variable_spans, whole_machine,
};
use super::report::{CheckFinding, FindingKind, Listed, Obstacle, Unproven};
use super::witness::{self, Fill, Pcs, Tried};
use super::witnesses::{Witness, witnesses};
use crate::eval::{self, Context};
use crate::model::{FunctionId, LocId, Module, NoMeaning, Node, VariableId};
use crate::read::{Entry, ResolvedValue};
use crate::target::ByteOrder;

/// An entry's location attribute.
enum Encoded<'o> {
    Expr(&'o [u8]),
    List(Rc<List<'o>>),
}

impl<'o> Encoded<'o> {
    /// Returns the expressions that apply at a pc within a function. `None` for a list outside functions.
    fn exprs_at(&self, pc: u64, start: Option<u64>) -> Option<SmallVec<[&'o [u8]; 1]>> {
        let list = match self {
            Self::Expr(expr) => return Some(smallvec![*expr]),
            Self::List(list) => list,
        };
        let expr = |entry: &eval::LocationListEntry<'o>| match entry.expr {
            Cow::Borrowed(expr) => Some(expr),
            Cow::Owned(_) => None,
        };
        list.applicable(start?.wrapping_add(pc)).map(expr).collect()
    }
}

/// Result at a witness.
enum Verdict {
    Equal,
    /// Neither has a meaning: the location leaves its storage.
    Nothing,
    /// The object has a location where the described one leaves its storage.
    Undescribed,
    /// The model has a raw expression.
    Raw,
    /// The location is omitted.
    Omitted,
    Different(Box<CheckFinding>),
}

/// Variable whose location is compared.
struct Located<'s, 'a, 'o> {
    place: Place<'a, 'o>,
    /// Sizes in bits at which it is compared: the first size at which it has a meaning counts.
    sizes: &'s [u64],
    /// Its function's address.
    start: Option<u64>,
    encoded: Option<Encoded<'o>>,
    /// The [`Setting`]'s number.
    setting: u32,
    /// Lane count in the function's entry.
    lanes: u64,
    /// Lanes to try.
    tried: Vec<u32>,
    asked: Asked,
}

impl Located<'_, '_, '_> {
    /// Returns how many witnesses there are at a pc for comparisons that read these facts.
    fn comparisons(&self, reads: Reads) -> u32 {
        let lanes = if reads.lane { self.tried.len() } else { 1 };
        (lanes * if reads.contents { Fill::ALL.len() } else { 1 }) as u32
    }
}

/// What comparing all locations at a pc resulted in.
#[derive(Default)]
struct AtPc {
    comparisons: u32,
    is_omitted: bool,
    /// Obstacles at some witnesses.
    is_raw: bool,
    is_undescribed: bool,
    is_outside: bool,
    /// First difference.
    finding: Option<Box<CheckFinding>>,
}

impl AtPc {
    /// Whether these comparisons took place, without a difference. There are more if one location reads contents and
    /// another location combines numbers.
    fn is(&self, same: Agreement) -> bool {
        self.comparisons >= same.comparisons
            && self.finding.is_none()
            && !(self.is_raw || self.is_undescribed || self.is_omitted)
    }
}

/// Compares a variable's location at every witness.
pub(super) fn compare_location<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    id: VariableId,
    entry: Entry<'a, 'o>,
    function: Option<FunctionId>,
) {
    let module = meanings.module;
    let parts = function.map(|function| {
        let mut parts = meanings.described.parts(function);
        // Without an address in the object, pcs count from 0.
        if parts.is_empty() {
            parts.push(PlacedPart { start: 0, pcs: 0..module.function(function).bytes });
        }
        parts
    });
    // A variable without a size is compared at the first size at which it has a meaning.
    let bits = module.ty(module.variable(id).ty).bits();
    let sizes = bits.as_ref().map_or(&SIZES[..], core::slice::from_ref);
    let place = Place { id, entry, function, bits: sizes[0] };
    check_form(meanings, place);
    let encoded = encoded_location(meanings, entry);
    let list = match &encoded {
        Some(Encoded::List(list)) => Some(&**list),
        _ => None,
    };
    if let (Some(parts), Some(list)) = (&parts, list) {
        report_bad_ranges(meanings, place, list, parts);
    }
    if bits == Some(0) {
        // An object without bits matches every location that can be read.
        return check_decodable(meanings, place);
    }
    let lanes = lane_count(meanings, entry, function.is_some());
    let setting = pair_setting(meanings, place, lanes);
    let tried = witness::lanes(&module.target);
    let asked = Asked::default();
    let start = None;
    let mut located = Located { place, sizes, start, encoded, setting, lanes, tried, asked };
    let mut unproven = None;
    match parts {
        None => compare_part(meanings, &located, 0..1, &mut unproven),
        Some(parts) => {
            for PlacedPart { start, pcs } in parts {
                located.start = Some(start);
                compare_part(meanings, &located, pcs, &mut unproven);
            }
        }
    }
    if let Some((why, pc)) = unproven.filter(|_| meanings.described.listed == Listed::All) {
        let site = module.at_variable(id, function.map(|_| pc..pc + 1));
        meanings.report.unproven.push(Unproven { variable: Some(id), at: site, what: None, why });
    }
}

/// Compares a variable's location at every witness in a part of its function's code.
fn compare_part<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    located: &Located<'_, 'a, 'o>,
    code: Range<u64>,
    unproven: &mut Option<(Obstacle, u64)>,
) {
    let id = located.place.id;
    let start = located.start;
    let list = match &located.encoded {
        Some(Encoded::List(list)) => Some(&**list),
        _ => None,
    };
    let mut pcs = Pcs::new(all_bounds(meanings, id, start.zip(list)), code);
    let has_omissions = meanings.described.omitted.of_variables.contains_key(&id);
    // The result that holds until the next bound.
    let mut same = None;
    while let Some(Tried { pc, is_bound }) = pcs.next() {
        if are_raw(meanings.module, described_locations(meanings, id, pc)) {
            same = None;
            *unproven = Some((Obstacle::Raw, pc));
            continue;
        }
        // Between two bounds the same ranges apply, so that a result that read no position still holds.
        if is_bound || has_omissions || same.is_some_and(|same: Agreement| same.reads.position) {
            same =
                if omitted_count(meanings, id, pc) == 0 { one_by_one(meanings, located, pc) } else { None };
        }
        match same {
            Some(same) => meanings.report.locations += u64::from(same.comparisons),
            None => {
                located.asked.clear();
                let result = as_a_whole(meanings, located, pc, &located.asked);
                meanings.report.locations += u64::from(result.comparisons);
                if result.is_raw {
                    *unproven = Some((Obstacle::Raw, pc));
                } else if result.is_undescribed {
                    *unproven = unproven.or(Some((Obstacle::Undescribed, pc)));
                }
                let is_proven = result.comparisons > 0 || result.is_omitted || result.finding.is_some();
                if result.is_outside && !is_proven {
                    *unproven = unproven.or(Some((Obstacle::OutOfBounds, pc)));
                }
                // One finding per variable and pc is enough.
                meanings.report.findings.extend(result.finding.map(|finding| *finding));
            }
        }
        pcs.follow(&located.asked, |entry| list_bounds(meanings, entry, start.unwrap_or(0)));
    }
}

/// Whether all locations at a pc are raw expressions, which have no meaning to compare.
fn are_raw(module: &Module, locs: impl Iterator<Item = LocId>) -> bool {
    let mut locs = locs.peekable();
    locs.peek().is_some() && locs.all(|loc| matches!(module.nodes(loc).last(), Some(Node::Expr(_))))
}

/// Bounds of a variable's ranges, and of the list at an address.
fn all_bounds<'o>(
    meanings: &Meanings<'_, '_, 'o>,
    id: VariableId,
    list: Option<(u64, &List<'o>)>,
) -> Vec<u64> {
    let live = meanings.module.live(id).iter();
    let mut bounds: Vec<u64> = live.flat_map(|live| [live.pcs().start, live.pcs().end]).collect();
    let listed = list.into_iter().flat_map(|(start, list)| list.bounds_from(start));
    // Usually, both have the same bounds.
    if !listed.clone().eq(bounds.iter().copied()) {
        bounds.extend(listed);
    }
    bounds
}

/// Compares each location at a pc with an expression in the object, in order. Where no pair differs, all together do
/// not differ either, which debug builds also check. `None` with a difference, and if there are more locations than
/// expressions or fewer.
fn one_by_one<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    located: &Located<'_, 'a, 'o>,
    pc: u64,
) -> Option<Agreement> {
    let exprs = located.encoded.as_ref()?.exprs_at(pc, located.start)?;
    let mut described: SmallVec<[LocId; 2]> = described_locations(meanings, located.place.id, pc).collect();
    if described.len() != exprs.len() {
        return None;
    }
    // The object's lists are in ascending order.
    described.reverse();
    let bits = located.sizes.first().copied().filter(|_| located.sizes.len() == 1);
    let mut reads = Reads::default();
    let mut is_new = false;
    let mut comparisons = 1;
    for (&loc, &expr) in described.iter().zip(&exprs) {
        let pair = Pair { setting: located.setting, bits, described: loc, found: expr };
        let known = meanings.pairs.get(meanings.module, &pair);
        let same = match known {
            Some(known) => known,
            None => compare_pair(meanings, located, pc, loc, expr)?,
        };
        // A result that depends on the pc or another entry holds nowhere else.
        if known.is_none() && !same.reads.position {
            meanings.pairs.add(meanings.module, pair, same);
        }
        is_new |= known.is_none();
        let are_all = same.comparisons == located.comparisons(same.reads) && !same.reads.combines;
        reads = reads.or(same.reads);
        comparisons = match described.len() {
            1 => same.comparisons,
            // At how many witnesses both have a meaning is unknown.
            _ if !are_all => return None,
            _ => located.comparisons(reads),
        };
    }
    let same = Agreement { comparisons, reads };
    debug_assert!(
        !is_new || as_a_whole(meanings, located, pc, &Asked::default()).is(same),
        "pairs are the whole"
    );
    Some(same)
}

/// Compares a described location with an expression at every witness. `None` if they differ, or cannot be compared
/// without the variable's other locations.
fn compare_pair<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    located: &Located<'_, 'a, 'o>,
    pc: u64,
    described: LocId,
    expr: &[u8],
) -> Option<Agreement> {
    // The meaning is prepared once and evaluated at each witness.
    let meaning = meanings.module.meaning(located.place.function, described).ok()?;
    let unit = located.place.entry.unit();
    let context = Context::in_unit(unit, &meanings.module.target);
    let symbol = |name: &str| Some(meanings.described.object.symbol(name)?.address);
    let mut evaluator = meanings.evaluator.borrow_mut();
    located.asked.clear();
    let mut comparisons = 0;
    let combines = || combined_offsets(meanings, &[described], &[expr], unit.encoding);
    for witness in witnesses(&located.tried, pc, located.start, &located.asked, combines) {
        let contents = model_contents(meanings, witness, &symbol, &located.asked);
        let by_size = located.sizes.iter().map(|&bits| (bits, meaning.spans(bits, &contents)));
        let mut is_undescribed = true;
        let described = { by_size }.find(|(_, meaning)| match meaning {
            // The next size can still be inside the storage.
            Err(why) if why.is_outside() => {
                is_undescribed &= matches!(why, NoMeaning::OutOfBounds(_));
                false
            }
            _ => true,
        });
        if let Some((_, Ok(spans))) = &described {
            located.asked.add_result(spans.iter());
        }
        let machine =
            machine::Stopped { lanes: located.lanes, ..whole_machine(meanings, witness, &located.asked) };
        match (described, evaluator.locate(expr, &machine, &context)) {
            // Neither has a meaning here, which is agreement without evidence.
            (None, Err(_)) => continue,
            (None, Ok(_)) if !is_undescribed => continue,
            (Some((_, Err(NoMeaning::Raw) | Ok(_))), Err(_)) | (None | Some((_, Err(_))), Ok(_)) => {
                return None;
            }
            // A location that is unreadable in the model must be unreadable in the object.
            (Some((_, Err(_))), Err(_)) => {}
            (Some((bits, Ok(spans))), Ok(found)) => {
                let place = Place { bits, ..located.place };
                is_at_location(meanings, found, &spans, place, witness, &located.asked).then_some(())?;
            }
        }
        comparisons += 1;
    }
    let reads = located.asked.reads();
    (comparisons > 0).then_some(Agreement { comparisons, reads })
}

/// Compares all locations at a pc at every witness.
fn as_a_whole<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    located: &Located<'_, 'a, 'o>,
    pc: u64,
    asked: &Asked,
) -> AtPc {
    let mut result = AtPc::default();
    let combines = || {
        let exprs = located
            .encoded
            .as_ref()
            .and_then(|encoded| encoded.exprs_at(pc, located.start))
            .unwrap_or_default();
        let described: Vec<LocId> = described_locations(meanings, located.place.id, pc).collect();
        combined_offsets(meanings, &described, &exprs, located.place.entry.unit().encoding)
    };
    for witness in witnesses(&located.tried, pc, located.start, asked, combines) {
        match compare_at_witness(meanings, located, witness, asked) {
            Verdict::Equal => result.comparisons += 1,
            Verdict::Raw => result.is_raw = true,
            Verdict::Omitted => result.is_omitted = true,
            Verdict::Different(finding) => result.finding = result.finding.or(Some(finding)),
            Verdict::Undescribed => result.is_undescribed = true,
            Verdict::Nothing => result.is_outside = true,
        }
    }
    result
}

/// The number of a variable's setting, for [`Pair`].
fn pair_setting<'a, 'o>(meanings: &mut Meanings<'_, 'a, 'o>, place: Place<'a, 'o>, lanes: u64) -> u32 {
    let stack = meanings.module.stack_of(place.function);
    let class =
        meanings.described.consumer.attributes.variable_space.and_then(|name| place.entry.number(name));
    meanings.pairs.setting(Setting { encoding: place.entry.unit().encoding, stack, lanes, class })
}

/// Returns an entry's encoded location, if it has a location that can be read.
fn encoded_location<'a, 'o>(meanings: &Meanings<'_, 'a, 'o>, entry: Entry<'a, 'o>) -> Option<Encoded<'o>> {
    match entry.attr(gimli::DW_AT_location)? {
        ResolvedValue::Expr(expr) => Some(Encoded::Expr(expr)),
        ResolvedValue::LocList(offset) => meanings.file.list_at(entry, offset).map(Encoded::List),
        _ => None,
    }
}

/// Reports ranges that are empty, reversed, or outside the function, which contain no witness.
fn report_bad_ranges<'a, 'o>(
    meanings: &mut Meanings<'_, 'a, 'o>,
    place: Place<'a, 'o>,
    list: &List<'o>,
    parts: &[PlacedPart],
) {
    let is_good = |&(first, end): &(u64, u64)| {
        parts.iter().any(|part| {
            // An end of a range before its start wraps around, and so does code at the last address.
            let [from, to] = [first, end].map(|bound| bound.wrapping_sub(part.start));
            part.pcs.start <= from && from < to && to <= part.pcs.end && first < end
        })
    };
    // A range is shown in the part in which it begins, or else in the first part.
    let begins_in = |first: u64| parts.iter().find(|part| part.pcs.contains(&first.wrapping_sub(part.start)));
    let is_bad = |bounds: &(u64, u64)| !is_good(bounds);
    for (first, end) in list.entries.iter().filter_map(|entry| entry.bounds).filter(is_bad) {
        let Some(PlacedPart { start, pcs }) = begins_in(first).or(parts.first()) else { continue };
        let text = format!("{:#x}..{:#x}", first.wrapping_sub(*start), end.wrapping_sub(*start));
        let site = meanings.module.at_variable(place.id, None);
        let expected = format!("a range in {:#x}..{:#x}", pcs.start, pcs.end);
        meanings.report.find(FindingKind::Range, site, expected, text);
    }
}

/// Compares a variable at a witness, at the first size at which all locations have a meaning.
fn compare_at_witness<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    located: &Located<'_, 'a, 'o>,
    witness: Witness,
    asked: &Asked,
) -> Verdict {
    let mut place = located.place;
    let mut is_undescribed = true;
    for &bits in located.sizes {
        place = Place { bits, ..place };
        let expected = variable_spans(meanings, place, witness, asked);
        let obstacle = |why: &&NoMeaning| **why == NoMeaning::Raw || why.is_outside();
        match expected.iter().filter_map(|spans| spans.as_ref().err()).find(obstacle) {
            Some(NoMeaning::Raw) => return Verdict::Raw,
            Some(why) => is_undescribed &= matches!(why, NoMeaning::OutOfBounds(_)),
            None => return compare_spans(meanings, place, expected, witness, asked),
        }
    }
    match encoded_spans(meanings, place, witness, asked, None) {
        Ok(found) if is_undescribed && !is_nowhere(&found) => {}
        _ => return Verdict::Nothing,
    }
    // The locations outside their storage may be omitted; then the object has the rest.
    let expected = variable_spans(meanings, place, witness, asked);
    match compare_spans(meanings, place, expected, witness, asked) {
        Verdict::Equal => Verdict::Equal,
        _ => Verdict::Undescribed,
    }
}

/// Compares a variable with its described locations at a witness.
fn compare_spans<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    place: Place<'a, 'o>,
    described: Vec<Result<Spans, NoMeaning>>,
    witness: Witness,
    asked: &Asked,
) -> Verdict {
    let actual = encoded_spans(meanings, place, witness, asked, None);
    let all_omitted = omitted_count(meanings, place.id, witness.pc);
    let mut omitted = all_omitted;
    let mut expected = Vec::new();
    for meaning in described {
        match meaning {
            Ok(spans) => expected.push(spans),
            // A location that is unreadable in the model must be unreadable in the object, or omitted.
            Err(why) => match &actual {
                Err(_) => return Verdict::Equal,
                Ok(_) if omitted > 0 => omitted -= 1,
                Ok(actual) => {
                    let actual = show_spans(meanings, actual);
                    return different(
                        meanings,
                        (FindingKind::Location, why.to_string(), actual),
                        place,
                        witness,
                        asked,
                    );
                }
            },
        }
    }
    let order = meanings.module.target.byte_order();
    if let (Ok(actual), [one]) = (&actual, &expected[..])
        && eval::are_equal(one, actual, order)
    {
        return Verdict::Equal;
    }
    let has_one = meanings.described.consumer.attributes.variable_space.is_some();
    if has_one
        && expected.len() > 1
        && let Ok(actual) = &actual
        && expected.iter().any(|spans| {
            eval::are_equal(&merged(core::slice::from_ref(spans), place.bits, order), actual, order)
        })
    {
        // The consumer has one location per variable: any location that it can express will do.
        return Verdict::Equal;
    }
    let is_omitted = omitted >= expected.len() && all_omitted > 0;
    // Simultaneous locations: the object must have all, in any order.
    let whole = merged(&expected, place.bits, order);
    match actual {
        Err(None) if is_omitted => Verdict::Omitted,
        Err(fault) => {
            let actual = fault.map_or_else(|| "no location".into(), |fault| fault_text(meanings, &fault));
            different(
                meanings,
                (FindingKind::Evaluation, show_spans(meanings, &whole), actual),
                place,
                witness,
                asked,
            )
        }
        Ok(actual) if eval::are_equal(&whole, &actual, order) => Verdict::Equal,
        Ok(actual) if is_omitted && is_nowhere(&actual) => Verdict::Omitted,
        Ok(actual) if omitted > 0 && is_rest(&expected, omitted, &actual, (place.bits, order)) => {
            Verdict::Equal
        }
        Ok(actual) => {
            let texts = (FindingKind::Location, show_spans(meanings, &whole), show_spans(meanings, &actual));
            different(meanings, texts, place, witness, asked)
        }
    }
}

fn different<'a, 'o>(
    meanings: &Meanings<'_, 'a, 'o>,
    (kind, expected, found): Difference,
    place: Place<'a, 'o>,
    witness: Witness,
    asked: &Asked,
) -> Verdict {
    // Evaluates again, for the trace.
    let mut trace = Vec::new();
    let _ = encoded_spans(meanings, place, witness, asked, Some(&mut trace));
    let pcs = witness.start.map(|_| witness.pc..witness.pc + 1);
    let site = meanings.module.at_variable(place.id, None).with(|context| context.pcs = pcs);
    let lane = (meanings.module.target.lanes() > 1).then_some(witness.lane);
    Verdict::Different(Box::new(CheckFinding { kind, at: site, lane, expected, found, trace }))
}

/// Returns how many of a variable's locations at a pc are omitted.
fn omitted_count(meanings: &Meanings<'_, '_, '_>, id: VariableId, pc: u64) -> usize {
    meanings.described.omitted.of_variables.get(&id).map_or(0, |ranges| ranges.containing(pc).len())
}

/// Returns whether the spans found belong to all locations but `omitted`.
fn is_rest(
    expected: &[Spans],
    omitted: usize,
    found: &[eval::Span],
    (bits, order): (u64, ByteOrder),
) -> bool {
    // Limit for locations at once, more than a compiler gives any variable: the search tries each subset.
    const MAX_PLACES: usize = 12;
    let count = expected.len();
    if count > MAX_PLACES || omitted > count {
        return false;
    }
    (0u32..1 << count).filter(|chosen| chosen.count_ones() as usize == count - omitted).any(|chosen| {
        let rest: Vec<Spans> = expected
            .iter()
            .enumerate()
            .filter(|(index, _)| chosen >> index & 1 == 1)
            .map(|(_, spans)| spans.clone())
            .collect();
        eval::are_equal(&merged(&rest, bits, order), found, order)
    })
}
