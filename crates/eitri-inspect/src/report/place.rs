//! A page's locations, each once: kind, expression, meaning, steps, and the result for each lane.

use std::collections::HashMap;

use super::block::Strings;
use super::kind::{LocationKind, LocationText, Wording};
use crate::lint::homes;
use crate::lint::shape::Shape;
use crate::lint::witness::Witness;
use eitri_dwarf::dump::{Asked, steps};
use eitri_dwarf::eval::{Body, Context, CurrentObject};
use eitri_dwarf::op::text;
use eitri_dwarf::read::Unit;
use eitri_dwarf::target::Target;

/// Location number in the page's table.
pub(super) type PlaceId = u32;

/// A location entry: pcs in bytes from the function's start, and the location.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) place: PlaceId,
}

/// An evaluation as text: the result; and each step's operation, stack and queries.
type Evaluated = (String, Vec<[String; 3]>);

/// An evaluation in one lane.
struct Run {
    result: String,
    /// Each step's operation, stack and queries.
    steps: Vec<[String; 3]>,
    /// Whether a step asked for the lane, or for a lane's memory.
    asks_for_lane: bool,
}

/// Facts that decide a location's record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    expr: Vec<u8>,
    unit: u64,
    /// Frame base, if the expression uses it.
    frame_base: Option<Vec<u8>>,
    space: Option<u32>,
    /// PTX register homes.
    homes: Vec<homes::HomesByWord>,
}

/// Places and their steps as tables.
#[derive(Debug, Default)]
pub(super) struct Places {
    known: HashMap<Key, PlaceId>,
    texts: HashMap<(u32, u32), PlaceId>,
    /// Copies with other words, by the copied location and the label.
    copies: HashMap<(PlaceId, u32), PlaceId>,
    /// Kind, label, expression, meaning, result, first step.
    pub(super) places: Vec<u32>,
    /// Operation, stack (top first, in lines), queries (in lines).
    pub(super) steps: Vec<u32>,
}

/// Words in a location record.
pub(super) const PLACE: usize = 6;
const STEP: usize = 3;
/// Limit on evaluation steps in a record.
const MOST_STEPS: usize = 48;
/// Mark before and after a number that depends on the lane: base and step, as `\u{1}base,step,radix\u{2}`.
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';
/// Mark before the texts for lanes 0 and 1, and for the remaining lanes, where the texts differ.
const FIRST: char = '\u{3}';

/// Expression context.
pub(super) struct In<'a, 'o> {
    pub(super) unit: &'a Unit<'o>,
    pub(super) names: Wording<'a>,
    pub(super) witness: Option<Witness<'a, 'o>>,
    pub(super) frame_base: Option<&'a [u8]>,
}

impl Places {
    /// Begins a file. Units in two files can have the same offset, so the last file's records are not looked up any
    /// more.
    pub(super) fn begin_file(&mut self) {
        self.known = HashMap::new();
    }

    fn push(&mut self, words: &LocationText, expr: &str, result: &str, strings: &mut Strings) -> PlaceId {
        let id = (self.places.len() / PLACE) as PlaceId;
        let first = (self.steps.len() / STEP) as u32;
        let text = [&words.label, expr, &words.meaning, result].map(|text| strings.add(text));
        self.places.extend([words.kind as u32, text[0], text[1], text[2], text[3], first]);
        id
    }

    /// Returns the number of a location without an expression.
    pub(super) fn plain(&mut self, words: &LocationText, expr: &str, strings: &mut Strings) -> PlaceId {
        let key = (strings.add(expr), strings.add(&words.meaning));
        if let Some(id) = self.texts.get(&key) {
            return *id;
        }
        let id = self.push(words, expr, "", strings);
        self.texts.insert(key, id);
        id
    }

    /// Returns the number of a location's copy with other words: variables can have the same expression.
    pub(super) fn renamed(&mut self, id: PlaceId, words: &LocationText, strings: &mut Strings) -> PlaceId {
        let label = strings.add(&words.label);
        if let Some(&copy) = self.copies.get(&(id, label)) {
            return copy;
        }
        let start = id as usize * PLACE;
        let expr = self.places[start + 2];
        let result = self.places[start + 4];
        let first = self.places[start + 5];
        let count = self.steps.len() / STEP;
        let end = self.places.get(start + PLACE + 5).map_or(count, |next| *next as usize);
        let copy = (self.places.len() / PLACE) as PlaceId;
        let meaning = strings.add(&words.meaning);
        self.places.extend([words.kind as u32, label, expr, meaning, result, count as u32]);
        self.steps.extend_from_within(first as usize * STEP..end * STEP);
        self.copies.insert((id, label), copy);
        copy
    }

    /// Returns the number of the location that an expression computes.
    pub(super) fn computed(
        &mut self,
        expr: &[u8],
        shape: &Shape,
        within: &In<'_, '_>,
        strings: &mut Strings,
    ) -> PlaceId {
        let key = Key {
            expr: expr.to_vec(),
            unit: within.unit.offset,
            frame_base: within.frame_base.filter(|_| shape.uses_frame_base).map(<[u8]>::to_vec),
            space: within.names.space.map(|space| space.0),
            homes: within.names.homes.map_or_else(Vec::new, |homes| homes.1.to_vec()),
        };
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let words = within.names.describe(shape);
        let (result, steps) = self.evaluated(expr, within);
        let id = self.push(
            &words,
            &text::print(expr, within.unit.encoding, within.names.target),
            &result,
            strings,
        );
        for step in steps {
            self.steps.extend(step.map(|text| strings.add(&text)));
        }
        self.known.insert(key, id);
        id
    }

    /// Returns an expression's result and steps, with marks where a number depends on the lane.
    fn evaluated(&self, expr: &[u8], within: &In<'_, '_>) -> Evaluated {
        let (Some(witness), Some(target)) = (&within.witness, within.names.target) else {
            return Evaluated::default();
        };
        let first = run(expr, within.unit, witness, target, 0);
        if !first.asks_for_lane || witness.lanes < 2 {
            return (first.result, first.steps);
        }
        let last = witness.lanes - 1;
        let others = [1, 2.min(last), last / 2, last]
            .map(|lane| (lane, run(expr, within.unit, witness, target, lane)));
        let marked = |text: &str, text_of_run: &dyn Fn(&Run) -> Option<String>| {
            let others: Option<Vec<_>> =
                others.iter().map(|(lane, run)| Some((*lane, text_of_run(run)?))).collect();
            others.and_then(|others| by_lane(text, &others))
        };
        let result =
            marked(&first.result, &|run| Some(run.result.clone())).unwrap_or_else(|| first.result.clone());
        let steps = first.steps.iter().enumerate().map(|(index, step)| {
            core::array::from_fn(|column| {
                let text = |run: &Run| Some(run.steps.get(index)?[column].clone());
                marked(&step[column], &text).unwrap_or_else(|| step[column].clone())
            })
        });
        (result, steps.collect())
    }

    /// Returns the tables. After a table's last record, a further record contains the ends.
    pub(super) fn finish(mut self) -> (Vec<u32>, Vec<u32>) {
        let end = (self.steps.len() / STEP) as u32;
        self.places.extend([LocationKind::Nowhere as u32, 0, 0, 0, 0, end]);
        (self.places, self.steps)
    }
}

/// Evaluates an expression in a lane.
fn run(expr: &[u8], unit: &Unit<'_>, witness: &Witness<'_, '_>, target: &Target, lane: u64) -> Run {
    let machine = Witness { lane: Some(lane), ..*witness };
    let context = Context::in_unit(unit, target).with_object(CurrentObject::Unspecified);
    let trace = steps(Body::Expression(expr), &machine, &context, Some(target));
    let steps = trace.texts().take(MOST_STEPS);
    let steps = steps.map(|(operation, stack, asked)| [operation.into(), stack.join("\n"), asked.join("\n")]);
    let steps = steps.collect();
    let asks_for_lane = trace.steps.iter().flat_map(|step| &step.asked).any(Asked::depends_on_lane);
    Run { result: trace.result_text(), steps, asks_for_lane }
}

/// Returns lane 0's text with marks at the numbers that change with the lane, if they change by a constant step. The
/// texts for lanes 0 and 1 can have other words, as `v3` beside `v3 + 8 bytes`: they then precede the marked text.
fn by_lane(first: &str, others: &[(u64, String)]) -> Option<String> {
    let (second, rest) = others.split_first()?;
    let lanes: Vec<_> = [(0, first), (1, &*second.1)]
        .into_iter()
        .chain(rest.iter().map(|other| (other.0, &*other.1)))
        .collect();
    if let Some(marked) = linear(&lanes) {
        return Some(marked);
    }
    let marked = linear(&lanes[2..])?;
    Some(format!("{FIRST}{first}{FIRST}{}{FIRST}{marked}", second.1))
}

/// Returns the text for some lanes with marks at the numbers that change with the lane.
fn linear(lanes: &[(u64, &str)]) -> Option<String> {
    let lanes: Vec<_> = lanes.iter().map(|(lane, text)| (*lane as i64, pieces(text))).collect();
    let ((lane, first), last) = (lanes.first()?, lanes.last()?);
    if lanes.iter().any(|(_, other)| other.len() != first.len()) {
        return None;
    }
    let mut out = String::new();
    for (index, piece) in first.iter().enumerate() {
        if lanes.iter().all(|(_, other)| other[index] == *piece) {
            out.push_str(piece);
            continue;
        }
        let (value, radix) = number(piece)?;
        let digits = |piece: &str| number(piece).filter(|number| number.1 == radix).map(|number| number.0);
        let step = digits(last.1[index])?.checked_sub(value)?.checked_div(last.0 - lane)?;
        let base = value.checked_sub(step.checked_mul(*lane)?)?;
        let is_linear = lanes.iter().all(|(lane, other)| {
            digits(other[index]) == step.checked_mul(*lane).and_then(|change| base.checked_add(change))
        });
        if !is_linear {
            return None;
        }
        out.push_str(&format!("{OPEN}{base},{step},{radix}{CLOSE}"));
    }
    Some(out)
}

/// Splits a text into numbers and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let mut texts = Vec::new();
    let mut start = 0;
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    for (offset, char) in text.char_indices() {
        let before = text[..offset].chars().next_back();
        if before.is_some_and(|before| is_word(before) != is_word(char)) {
            texts.push(&text[start..offset]);
            start = offset;
        }
    }
    texts.push(&text[start..]);
    texts
}

fn number(piece: &str) -> Option<(i64, u32)> {
    match piece.strip_prefix("0x") {
        Some(digits) => Some((i64::from_str_radix(digits, 16).ok()?, 16)),
        None => Some((piece.parse().ok()?, 10)),
    }
}

#[cfg(test)]
mod tests {
    use super::by_lane;

    #[test]
    fn numbers_that_change_with_the_lane_are_marked() {
        let others = |text: fn(u64) -> String| [1, 2, 15, 31].map(|lane| (lane, text(lane)));
        let marked = by_lane("v3 + 0 bytes", &others(|lane| format!("v3 + {} bytes", 4 * lane)));
        assert_eq!(marked.as_deref(), Some("v3 + \u{1}0,4,10\u{2} bytes"));
        let marked = by_lane("v3", &others(|lane| format!("v3 + {} bytes", 4 * lane)));
        let expected = "\u{3}v3\u{3}v3 + 4 bytes\u{3}v3 + \u{1}0,4,10\u{2} bytes";
        assert_eq!(marked.as_deref(), Some(expected));
        let marked = by_lane("0x10", &others(|lane| format!("{:#x}", 16 + lane)));
        assert_eq!(marked.as_deref(), Some("\u{1}16,1,16\u{2}"));
        assert_eq!(by_lane("0", &others(|lane| (lane * lane).to_string())), None);
        assert_eq!(by_lane("same", &others(|_| "same".into())).as_deref(), Some("same"));
    }
}
