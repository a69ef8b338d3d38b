//! Location lists as live ranges: DWARF 5 section 2.6.2.
//!
//! Entries of a list can overlap: the variable is in several locations at once. The default entry applies where no other
//! entry does. Live ranges are disjoint, and a range can have several locations, so that a list is cut at the starts and
//! ends of its entries. Pcs outside the function belong to no range.

use core::ops::Range;

use gimli::constants as dw;
use smallvec::SmallVec;

use super::importer::{Importer, Place};
use super::recurring::Setting;
use super::unimported::UnimportedReason;
use crate::model::{Loc, Node, VariableId};
use crate::read::{Entry, ListEntry, ListKind, RawEntry};

/// Average number of locations for each list entry, after the list is cut.
const MOST_LOCATIONS: usize = 16;

/// A variable whose live ranges are set.
struct Variable<'d, 'o> {
    id: VariableId,
    entry: Entry<'d, 'o>,
    around: Place<'o>,
    setting: Setting<'o>,
    /// Pcs of the parts of the function's code.
    whole: SmallVec<[Range<u64>; 1]>,
}

/// Locations for one range: one, as a rule.
type Locs = SmallVec<[Loc; 1]>;

/// Sets the live ranges of a variable with a location list at an offset.
pub(super) fn list<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    id: VariableId,
    offset: u64,
) {
    let name = dw::DW_AT_location;
    let mut list = Vec::new();
    if let Err(error) = entry.dwarf().read_locations(entry.unit(), offset, &mut list) {
        let error = error.or_at(entry.place());
        return importer.leave(entry, name, UnimportedReason::Unreadable(error));
    }
    let Some(around @ Place { base: Some(_), bytes, .. }) = importer.place(entry) else {
        return importer.leave(entry, name, UnimportedReason::NoCode);
    };
    if has_views(entry, offset) {
        importer.list(entry, Some(name), UnimportedReason::LocationViews);
    }
    let setting = importer.setting(entry);
    let variable = Variable { id, entry, around, setting, whole: importer.whole(&around) };
    let mut bounded: Vec<(Range<u64>, &ListEntry<'o>)> = Vec::with_capacity(list.len());
    for item in list.iter().filter(|item| !item.is_default()) {
        let range = importer.pcs_of(&around, &(item.start..item.end));
        let reason = match (item.start.cmp(&item.end), range) {
            (core::cmp::Ordering::Equal, _) => UnimportedReason::EmptyPcs,
            (core::cmp::Ordering::Greater, _) => UnimportedReason::ReversedPcs,
            (core::cmp::Ordering::Less, None) => UnimportedReason::OtherCode,
            (core::cmp::Ordering::Less, Some(range)) => {
                bounded.push((range, item));
                continue;
            }
        };
        importer.leave(entry, name, reason);
    }
    let default = list.iter().find(|item| item.is_default());
    let is_disjoint = bounded.is_sorted_by(|item, next| item.0.end <= next.0.start);
    if default.is_none() && is_disjoint && variable.whole.len() == 1 {
        for (range, item) in bounded {
            piece(importer, &variable, range, &[item.expr]);
        }
        return;
    }
    let Some(pieces) = cut(&bounded, default.map(|_| 0..bytes)) else {
        return importer.leave(entry, name, UnimportedReason::TooManyLocations);
    };
    for (range, indices) in in_parts(pieces, &variable.whole) {
        let exprs: Vec<&'o [u8]> = match &indices[..] {
            [] => default.into_iter().map(|item| item.expr).collect(),
            indices => indices.iter().map(|&index| bounded[index].1.expr).collect(),
        };
        piece(importer, &variable, range, &exprs);
    }
}

/// Sets a variable's locations in a range.
fn piece<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    variable: &Variable<'d, 'o>,
    range: Range<u64>,
    exprs: &[&'o [u8]],
) {
    let &Variable { id, entry, ref around, .. } = variable;
    let locs = locations(importer, variable, exprs);
    if locs.is_empty() || in_homes(importer, entry, id, around, &range, &locs) {
        return;
    }
    let set = live(importer, id, range.clone(), &variable.whole, &locs);
    // A location that does not fit the variable is kept as the file has it.
    let set = set.or_else(|error| {
        let raw = exprs.iter().filter(|expr| !expr.is_empty()).map(|expr| importer.raw(entry, expr));
        match raw.map(|expr| expr.map(Loc::expr)).collect::<Result<Vec<_>, _>>() {
            Ok(raw) if !raw.is_empty() => live(importer, id, range, &variable.whole, &raw),
            _ => Err(error),
        }
    });
    importer.accept(entry, dw::DW_AT_location, set);
}

/// Sets the locations of a variable in PTX registers. Returns whether it is in such registers.
pub(super) fn in_homes<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    entry: Entry<'d, 'o>,
    variable: VariableId,
    around: &Place<'o>,
    range: &Range<u64>,
    locs: &[Loc],
) -> bool {
    let module = importer.m.described();
    let bits = module.ty(module.variable(variable).ty).bits();
    let Some(placed) = importer.homes_of(around, range, locs, bits) else { return false };
    for (pcs, locs) in placed {
        match locs {
            Ok(locs) => {
                let set = live(importer, variable, pcs, &[], &locs);
                importer.accept(entry, dw::DW_AT_location, set);
            }
            Err(reason) => importer.list(entry, Some(dw::DW_AT_location), reason),
        }
    }
    true
}

/// Whether a list says in which views of an address its ranges begin and end. GNU's `DW_LLE_GNU_view_pair` distinguishes the
/// rows at one address; the model's ranges begin and end at addresses.
fn has_views(entry: Entry<'_, '_>, offset: u64) -> bool {
    // Views are entries of DWARF 5. An older list is followed by them, and `DW_AT_GNU_locviews` refers to them.
    entry.unit().encoding.version >= 5
        && entry.dwarf().raw_locations(entry.unit(), offset).is_ok_and(|list| {
            let is_view = |raw: crate::Result<RawEntry<'_>>| {
                raw.is_ok_and(|raw| matches!(raw.kind, ListKind::Views { .. }))
            };
            list.into_iter().any(is_view)
        })
}

/// Sets the locations in a range. A single location in the whole code, which is in `whole`, is the location at all pcs, as
/// an attribute without a list has it.
fn live(
    importer: &mut Importer<'_, '_>,
    variable: VariableId,
    range: Range<u64>,
    whole: &[Range<u64>],
    locs: &[Loc],
) -> crate::Result<()> {
    importer.m.describe_variable(variable).and_then(|mut entity| match locs {
        [loc] if *whole == [range.clone()] => entity.always(loc.clone()).map(drop),
        _ => entity.live_in(range, locs).map(drop),
    })
}

/// Returns the locations of list entries for one range, without those that are not imported.
fn locations<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    &Variable { entry, setting, .. }: &Variable<'d, 'o>,
    exprs: &[&'o [u8]],
) -> Locs {
    let mut locs = Locs::new();
    for expr in exprs {
        match importer.location_in(entry, setting, expr) {
            Ok(loc) => locs.push(loc),
            Err(reason) => importer.leave(entry, dw::DW_AT_location, reason),
        }
    }
    defined(importer, entry, locs)
}

/// Removes undefined locations beside other locations, which they contradict.
fn defined<'d, 'o>(importer: &mut Importer<'d, 'o>, entry: Entry<'d, 'o>, mut locs: Locs) -> Locs {
    let is_undefined = |loc: &Loc| loc.nodes().all(|node| node == Node::Undefined);
    if locs.len() > 1 && locs.iter().any(is_undefined) {
        let first = locs.swap_remove(0);
        let is_all = is_undefined(&first) && locs.iter().all(is_undefined);
        locs.insert(0, first);
        if is_all {
            locs.truncate(1);
        } else {
            importer.list(entry, Some(dw::DW_AT_location), UnimportedReason::UndefinedBeside);
            locs.retain(|loc| !is_undefined(loc));
        }
    }
    locs
}

/// Cuts pieces at the ends of the parts of a function's code: a default location has all pcs, and nothing is between the
/// parts.
fn in_parts(
    pieces: Vec<(Range<u64>, Vec<usize>)>,
    parts: &[Range<u64>],
) -> impl Iterator<Item = (Range<u64>, Vec<usize>)> {
    pieces.into_iter().flat_map(move |(pcs, indices)| {
        let first = parts.partition_point(|part| part.end <= pcs.start);
        let met = parts[first..].iter().take_while(|part| part.start < pcs.end).collect::<Vec<_>>();
        met.into_iter().map(move |part| (pcs.start.max(part.start)..pcs.end.min(part.end), indices.clone()))
    })
}

/// Cuts ranges at their starts and ends. Returns the pieces in order, each with the indices of the ranges that contain it;
/// with `whole`, also the pieces of it that no range contains. `None` if there are too many.
fn cut(
    ranges: &[(Range<u64>, &ListEntry<'_>)],
    whole: Option<Range<u64>>,
) -> Option<Vec<(Range<u64>, Vec<usize>)>> {
    let mut pieces = Vec::with_capacity(ranges.len());
    let is_disjoint = ranges.is_sorted_by(|item, next| item.0.end <= next.0.start);
    if whole.is_none() && is_disjoint {
        pieces.extend(ranges.iter().enumerate().map(|(index, item)| (item.0.clone(), vec![index])));
        return Some(pieces);
    }
    let mut changes: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * ranges.len());
    for (index, (range, _)) in ranges.iter().enumerate() {
        changes.extend([(range.start, true, index), (range.end, false, index)]);
    }
    changes.sort_unstable();
    let mut open: Vec<usize> = Vec::new();
    let mut last = whole.as_ref().map_or(0, |whole| whole.start);
    let mut locations = 0;
    let ends = whole.as_ref().map(|whole| (whole.end, false, usize::MAX));
    for (pc, is_start, index) in changes.into_iter().chain(ends) {
        if pc > last && (whole.is_some() || !open.is_empty()) {
            locations += open.len();
            if locations > MOST_LOCATIONS * ranges.len().max(4) {
                return None;
            }
            pieces.push((last..pc, open.clone()));
        }
        last = pc;
        match open.binary_search(&index) {
            Ok(at) if !is_start => drop(open.remove(at)),
            Err(at) if is_start => open.insert(at, index),
            _ => {}
        }
    }
    Some(pieces)
}
