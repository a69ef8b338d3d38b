//! Results in all lanes.

use super::super::fault::Fault;
use super::super::stack::Outcome;
use super::run::Answer;

/// An expression's results in each of a wave's lanes.
#[derive(Debug)]
pub struct WaveOutcome {
    pub(super) lanes: u64,
    pub(super) answers: Vec<Answer>,
    /// What the last call to [`locate`](Self::locate) returned.
    pub(super) kept: Option<Kept>,
}

/// A lane's result.
#[derive(Debug)]
pub(super) struct Kept {
    /// Index of the answer that it comes from, and the answer's lanes.
    index: usize,
    lanes: u64,
    outcome: Outcome,
}

impl WaveOutcome {
    /// Returns the requested lanes: bit *k* for lane *k*.
    pub fn lanes(&self) -> u64 {
        self.lanes
    }

    /// Returns a lane's result. `None` if the lane was not requested.
    ///
    /// The result is constructed on request: a location in parts takes one or two allocations, which
    /// [`locate`](Self::locate) avoids.
    pub fn lane(&self, lane: u32) -> Option<Result<Outcome, Fault>> {
        let (_, answer) = &self.answers[self.index(lane)?];
        Some(match answer {
            Ok(element) => Ok(element.in_lane(lane)),
            Err(fault) => Err(fault.clone()),
        })
    }

    /// Returns a lane's result as [`lane`](Self::lane) does, and keeps it until the next call to reuse its memory, as
    /// [`Evaluator::locate`](super::super::Evaluator::locate) does in one lane.
    pub fn locate(&mut self, lane: u32) -> Option<Result<&Outcome, &Fault>> {
        let mask = 1u64.checked_shl(lane)?;
        let kept = self.kept.as_mut().filter(|kept| kept.lanes & mask != 0);
        // Lanes of one answer differ in offsets only, which can be changed in place.
        let is_moved = kept.is_some_and(|kept| match &self.answers[kept.index].1 {
            Ok(element) => kept.outcome.move_to(element, lane),
            Err(_) => false,
        });
        if !is_moved {
            let index = self.index(lane)?;
            let (lanes, answer) = &self.answers[index];
            match answer {
                Ok(element) if element.varies() => {
                    self.kept = Some(Kept { index, lanes: *lanes, outcome: element.in_lane(lane) });
                }
                answer => return Some(answer.as_ref()),
            }
        }
        self.kept.as_ref().map(|kept| Ok(&kept.outcome))
    }

    /// Returns the index of a lane's answer.
    fn index(&self, lane: u32) -> Option<usize> {
        let mask = 1u64.checked_shl(lane)?;
        self.answers.iter().position(|(lanes, _)| lanes & mask != 0)
    }

    /// Returns all lanes' common result, if the expression proved independent of the lane. `None` also if no lane was
    /// requested.
    pub fn uniform(&self) -> Option<Result<&Outcome, &Fault>> {
        let [(_, answer)] = &self.answers[..] else { return None };
        let is_same = answer.as_ref().is_ok_and(|element| !element.varies()) || answer.is_err();
        is_same.then_some(answer.as_ref())
    }
}
