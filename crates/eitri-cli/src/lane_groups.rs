//! Answers in all lanes of a wave, where neighbours with equal answers form a group.
//!
//! A variable's location in a vector register differs from lane to lane, while its contents often do not. Groups are
//! therefore formed by the contents, if there are any; a group states its location only if all its lanes share it.

use eitri::conform::{Found, VectorTarget};
use eitri::eval::Snapshot;
use serde_json::{Map, Value};

/// Neighbouring lanes with equal answers.
#[derive(Debug, PartialEq)]
pub struct LaneGroup {
    first: u32,
    last: u32,
    /// Answer as text.
    text: String,
    /// Answer as JSON, with the keys of `expect` in conformance vectors.
    answer: Map<String, Value>,
    /// Whether there is a result that could be read.
    pub is_result: bool,
}

/// Groups the answers in lanes 0, 1, 2 and so on. `before` is the stopped machine.
pub fn groups(
    answers: impl IntoIterator<Item = Found>,
    before: &Snapshot,
    target: &VectorTarget,
    longest_text: usize,
) -> Vec<LaneGroup> {
    // First and last lane, the first lane's answer, and whether all lanes share its location.
    let mut groups: Vec<(u32, u32, Found, bool)> = Vec::new();
    for (lane, found) in (0..).zip(answers) {
        match groups.last_mut().filter(|(_, _, other, _)| is_equal(other, &found)) {
            Some((_, last, other, is_common)) => {
                *last = lane;
                *is_common &= other.result == found.result;
            }
            None => groups.push((lane, lane, found, true)),
        }
    }
    let longest_text = longest_text / groups.len().max(1);
    let group = |(first, last, found, is_common): (u32, u32, Found, bool)| {
        let mut answer = answer(&found, before);
        let text = if is_common {
            found.to_text_in_names(before, longest_text, target)
        } else {
            answer.remove("location");
            found.read_text_in_names(longest_text, target)
        };
        LaneGroup { first, last, text, answer, is_result: found.fault().is_none() }
    };
    groups.into_iter().map(group).collect()
}

/// Returns whether answers are equal, except that equal contents can have different locations.
fn is_equal(left: &Found, right: &Found) -> bool {
    left.read == right.read && (left.read.is_some() || left.result == right.result)
}

impl LaneGroup {
    /// Returns the group as a text line.
    pub fn to_text(&self) -> String {
        let Self { first, last, text, .. } = self;
        if first == last {
            format!("lane {first}: {text}\n")
        } else {
            format!("lanes {first}-{last}: {text}\n")
        }
    }

    /// Returns the group as a JSON object.
    pub fn to_json(&self) -> Value {
        let lanes = [("first".into(), self.first.into()), ("last".into(), self.last.into())];
        lanes.into_iter().chain(self.answer.clone()).collect::<Map<_, _>>().into()
    }
}

/// Returns an answer as JSON, with the keys of `expect` in conformance vectors.
pub fn answer(found: &Found, before: &Snapshot) -> Map<String, Value> {
    let mut answer: Map<_, _> =
        serde_json::from_str(&found.to_json(before)).expect("answers are JSON objects");
    if let Some(fault) = found.fault() {
        answer.insert("why".into(), fault.to_string().into());
    }
    answer
}
