//! Locations of variables, at every witness: the model's denotation against the evaluator's result.

use std::borrow::Cow;
use std::rc::Rc;

use smallvec::{SmallVec, smallvec};

use super::expressions::SIZES;
use super::machine::{Asked, List};
use super::meanings::Meanings;
use super::pairs::{Pair, Setting};
use super::places::{Spans, is_nowhere, merged};
use super::report::{Finding, Kind, Obstacle, Unproven};
use super::witness::{self, Fill, Pcs};
use crate::error::At;
use crate::eval;
use crate::model::{FunctionId, NoMeaning, VariableId};
use crate::read::{Entry, Value};

/// Pc, lane and contents of a comparison.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witness {
    /// Pc in bytes from the start of the function.
    pub(super) pc: u64,
    /// Address of the function; `None` outside of one.
    pub(super) start: Option<u64>,
    pub(super) lane: u32,
    pub(super) fill: Fill,
}

/// Returns the witnesses at a pc. A comparison that does not depend on the lane has one lane; one that does not
/// depend on contents has one content.
pub(super) fn witnesses<'w>(
    lanes: &'w [u32],
    pc: u64,
    start: Option<u64>,
    asked: &'w Asked,
) -> impl Iterator<Item = Witness> + 'w {
    let lanes = lanes.iter().enumerate().take_while(|&(index, _)| index == 0 || asked.lane.get());
    lanes.flat_map(move |(_, &lane)| {
        let fills = Fill::ALL.into_iter().enumerate();
        let fills = fills.take_while(|&(index, _)| index == 0 || asked.contents.get());
        fills.map(move |(_, fill)| Witness { pc, start, lane, fill })
    })
}

/// Variable with its entry.
#[derive(Clone, Copy)]
pub(super) struct Place<'a, 'o> {
    pub(super) id: VariableId,
    pub(super) entry: Entry<'a, 'o>,
    pub(super) function: Option<FunctionId>,
    /// Number of bits to compare.
    pub(super) bits: u64,
}

/// Location attribute of an entry.
enum Encoded<'o> {
    Expr(&'o [u8]),
    List(Rc<List<'o>>),
}

impl<'o> Encoded<'o> {
    /// Returns the expressions that apply at a pc of a function. `None` for a list outside of a function.
    fn at(&self, pc: u64, start: Option<u64>) -> Option<SmallVec<[&'o [u8]; 1]>> {
        let list = match self {
            Self::Expr(expr) => return Some(smallvec![*expr]),
            Self::List(list) => list,
        };
        let expr = |entry: &eval::ListEntry<'o>| match entry.expr {
            Cow::Borrowed(expr) => Some(expr),
            Cow::Owned(_) => None,
        };
        list.at(start?.wrapping_add(pc)).into_iter().map(expr).collect()
    }
}

/// Result at a witness.
enum Verdict {
    Same,
    /// The model has no meaning: the location leaves its storage, and any result is allowed.
    Nothing,
    /// The model has a raw expression.
    Raw,
    /// The location is omitted.
    LeftOut,
    Different(Box<Finding>),
}

impl<'a, 'o> Meanings<'_, 'a, 'o> {
    /// Compares a variable's location at every witness.
    pub(super) fn location(&mut self, id: VariableId, entry: Entry<'a, 'o>, function: Option<FunctionId>) {
        let module = self.module;
        let start = function.map(|function| self.described.address(function).unwrap_or(0));
        let size = function.map_or(1, |function| module.function(function).bytes);
        // A variable without a size is compared at the first of these sizes at which it has a meaning.
        let value_bits = module.ty(module.variable(id).ty).value_bits();
        let sizes = value_bits.as_ref().map_or(&SIZES[..], core::slice::from_ref);
        let place = Place { id, entry, function, bits: sizes[0] };
        self.plain_form(place);
        let mut bounds: Vec<u64> =
            module.live(id).iter().flat_map(|live| [live.pcs().start, live.pcs().end]).collect();
        if let Some(start) = start {
            bounds.extend(self.bounds(entry.offset(), start));
            self.bad_ranges(place, start, size);
        }
        if value_bits == Some(0) {
            // An object of no bits matches every location.
            return;
        }
        let lanes = witness::lanes(&module.target);
        let asked = Asked::default();
        let mut unproven = None;
        let mut pcs = Pcs::new(bounds, size);
        let (setting, encoded) = (self.setting(place), self.encoded(entry));
        while let Some(pc) = pcs.next() {
            let pair = encoded.as_ref().and_then(|encoded| {
                let (described, found) = (self.locations_at(id, pc).collect(), encoded.at(pc, start)?);
                let pair = Pair { setting, bits: value_bits, described, found };
                (self.left_out_at(id, pc) == 0).then_some(pair)
            });
            if let Some(count) = pair.as_ref().and_then(|pair| self.pairs.comparisons(module, pair)) {
                self.report.locations += count;
                continue;
            }
            asked.clear();
            let before = self.report.locations;
            // One finding per variable and pc is enough.
            let (mut is_different, mut is_proven, mut is_outside) = (false, false, None);
            for witness in witnesses(&lanes, pc, start, &asked) {
                let mut verdicts = sizes
                    .iter()
                    .map(|&bits| self.at_witness(Place { bits, ..place }, witness, &asked, pair.as_ref()));
                let verdict = verdicts.find(|verdict| !matches!(verdict, Verdict::Nothing));
                match verdict.unwrap_or(Verdict::Nothing) {
                    Verdict::Same => {
                        self.report.locations += 1;
                        is_proven = true;
                    }
                    Verdict::Raw => unproven = Some((Obstacle::Raw, pc)),
                    Verdict::LeftOut => is_proven = true,
                    Verdict::Nothing => is_outside = Some((Obstacle::Outside, pc)),
                    Verdict::Different(finding) if !is_different => {
                        is_different = true;
                        self.report.findings.push(*finding);
                    }
                    Verdict::Different(_) => {}
                }
            }
            if !is_proven && !is_different {
                unproven = unproven.or(is_outside);
            }
            if let Some(pair) = pair.filter(|_| is_proven && !is_different && asked.is_everywhere()) {
                self.pairs.add(module, pair, self.report.locations - before);
            }
            pcs.follow(&asked, |entry| self.bounds(entry, start.unwrap_or(0)));
        }
        if let Some((why, pc)) = unproven {
            let at = module.at_variable(id, start.map(|_| pc..pc + 1));
            self.report.unproven.push(Unproven { variable: Some(id), at, what: None, why });
        }
    }

    /// Number of the setting of a variable, for [`Pair`].
    fn setting(&mut self, place: Place<'a, 'o>) -> u32 {
        let stack = self.module.stack_of(place.function);
        let lanes = self.lanes(place.entry, place.function.is_some());
        let class = self.described.consumer.variable_space.and_then(|name| place.entry.number(name));
        self.pairs.setting(Setting { encoding: place.entry.unit().encoding, stack, lanes, class })
    }

    /// Returns the encoded location of an entry, if it has one that can be read.
    fn encoded(&self, entry: Entry<'a, 'o>) -> Option<Encoded<'o>> {
        match entry.attr(gimli::DW_AT_location)? {
            Value::Expr(expr) => Some(Encoded::Expr(expr)),
            Value::LocList(_) => self.file.list(entry).map(Encoded::List),
            _ => None,
        }
    }

    /// Bounds of the location list of an entry, in bytes from the start of the function.
    pub(super) fn bounds(&self, entry: u64, start: u64) -> Vec<u64> {
        let list = self.file.dwarf.entry_at(entry).and_then(|entry| self.file.list(entry));
        let entries = list.iter().flat_map(|list| &list.entries).filter_map(|entry| entry.bounds);
        entries.flat_map(|(first, end)| [first.wrapping_sub(start), end.wrapping_sub(start)]).collect()
    }

    /// Reports ranges that are empty, reversed, or outside of the function, which contain no witness.
    fn bad_ranges(&mut self, place: Place<'a, 'o>, start: u64, size: u64) {
        let list = self.file.list(place.entry);
        let all = list.iter().flat_map(|list| &list.entries);
        let is_bad = |&(first, end): &(u64, u64)| {
            first >= end || first < start || end.wrapping_sub(start) > size || end < start
        };
        let bad: Vec<_> = all.filter_map(|entry| entry.bounds).filter(is_bad).collect();
        for (first, end) in bad {
            let text = format!("{:#x}..{:#x}", first.wrapping_sub(start), end.wrapping_sub(start));
            let at = self.module.at_variable(place.id, None);
            self.report.find(Kind::Range, at, format!("a range in 0x0..{size:#x}"), text);
        }
    }

    /// Compares a variable at a witness. With a pair, no location is omitted.
    fn at_witness(
        &mut self,
        place: Place<'a, 'o>,
        witness: Witness,
        asked: &Asked,
        pair: Option<&Pair<'o>>,
    ) -> Verdict {
        let found = pair.and_then(|pair| self.found_of(pair, place, witness, asked));
        let found = found.map_or_else(|| self.found(place, witness, asked, None), Ok);
        let all_left_out = pair.map_or_else(|| self.left_out_at(place.id, witness.pc), |_| 0);
        let mut left_out = all_left_out;
        let mut expected = Vec::new();
        for one in self.expected(place, witness, asked) {
            match one {
                Ok(spans) => expected.push(spans),
                Err(NoMeaning::Raw) => return Verdict::Raw,
                Err(NoMeaning::Outside(_) | NoMeaning::Part(_)) => return Verdict::Nothing,
                // A location that is unreadable in the model must be unreadable in the object, or omitted.
                Err(why) => match &found {
                    Err(_) => return Verdict::Same,
                    Ok(_) if left_out > 0 => left_out -= 1,
                    Ok(found) => {
                        let found = self.show(found);
                        return self.different(Kind::Location, place, witness, why.to_string(), found);
                    }
                },
            }
        }
        if let (Ok(found), [one]) = (&found, &expected[..])
            && eval::are_equal(one, found)
        {
            return Verdict::Same;
        }
        let has_one = self.described.consumer.variable_space.is_some();
        if has_one
            && expected.len() > 1
            && let Ok(found) = &found
            && expected
                .iter()
                .any(|one| eval::are_equal(&merged(core::slice::from_ref(one), place.bits), found))
        {
            // The first place that the consumer can express.
            return Verdict::Same;
        }
        let is_left_out = left_out >= expected.len() && all_left_out > 0;
        let whole = merged(&expected, place.bits);
        match found {
            Err(None) if is_left_out => Verdict::LeftOut,
            Err(fault) => {
                let found = fault.map_or_else(|| "no location".into(), |fault| self.fault_text(&fault));
                self.different(Kind::Evaluation, place, witness, self.show(&whole), found)
            }
            Ok(found) if eval::are_equal(&whole, &found) => Verdict::Same,
            Ok(found) if is_left_out && is_nowhere(&found) => Verdict::LeftOut,
            Ok(found) if left_out > 0 && is_rest(&expected, left_out, &found, place.bits) => Verdict::Same,
            Ok(found) => self.different(Kind::Location, place, witness, self.show(&whole), self.show(&found)),
        }
    }

    #[cold]
    fn different(
        &mut self,
        kind: Kind,
        place: Place<'a, 'o>,
        witness: Witness,
        expected: String,
        found: String,
    ) -> Verdict {
        // Evaluates again, for the trace.
        let mut trace = Vec::new();
        let _ = self.found(place, witness, &Asked::default(), Some(&mut trace));
        let pcs = witness.start.map(|_| witness.pc..witness.pc + 1);
        let at = At { pcs, ..self.module.at_variable(place.id, None) };
        let lane = (self.module.target.lanes() > 1).then_some(witness.lane);
        Verdict::Different(Box::new(Finding { kind, at, lane, expected, found, trace }))
    }

    /// Returns the number of omitted locations of a variable at a pc.
    fn left_out_at(&self, id: VariableId, pc: u64) -> usize {
        self.omitted.of_variables.get(&id).map_or(0, |all| all.at(pc).len())
    }
}

/// Returns whether the spans found are those of all locations but `left_out`.
fn is_rest(expected: &[Spans], left_out: usize, found: &[eval::Span], bits: u64) -> bool {
    // Limit of locations at once, above that of any variable from a compiler.
    const MAX_PLACES: usize = 12;
    let count = expected.len();
    if count > MAX_PLACES || left_out > count {
        return false;
    }
    (0u32..1 << count).filter(|chosen| chosen.count_ones() as usize == count - left_out).any(|chosen| {
        let rest: Vec<Spans> = expected
            .iter()
            .enumerate()
            .filter(|(at, _)| chosen >> at & 1 == 1)
            .map(|(_, it)| it.clone())
            .collect();
        eval::are_equal(&merged(&rest, bits), found)
    })
}
