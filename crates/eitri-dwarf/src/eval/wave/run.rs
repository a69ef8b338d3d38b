//! A wave's evaluation: lane groups, each with a stack and a position in the expression.
//!
//! The wave's run adds no faults. [`Run`] executes operations that do not handle several lanes: on elements that are
//! equal in all lanes, or on each lane's elements, one lane after the other. Where the lanes' results cannot be
//! combined, each lane continues alone, so that the results never differ from single lanes' evaluations.

use smallvec::SmallVec;

use super::super::context::{Context, ResultKind};
use super::super::fast::Progress;
use super::super::fault::Fault;
use super::super::lane_numbers::lanes_of;
use super::super::per_lane::together;
use super::super::run::Run;
use super::super::stack::Element;
use super::machine::InLane;
use crate::op::{Decoder, Op};

/// Some lanes' result: an element that may differ between them, or a common fault.
pub(super) type Answer = (u64, Result<Element, Fault>);

/// A wave's evaluation.
pub(super) struct WaveRun<'r, 't> {
    pub run: Run<'r, 't>,
    pub machine: &'r InLane<'r>,
    pub expr: &'r [u8],
    pub context: &'r Context<'r>,
    waiting: Vec<Group>,
    answers: Vec<Answer>,
}

/// Lanes at the same position in the expression.
struct Group {
    lanes: u64,
    stack: Vec<Element>,
    progress: Progress,
}

/// An operation's result in one lane.
struct Left {
    lane: u32,
    above: SmallVec<[Element; 1]>,
    progress: Progress,
}

impl<'r, 't> WaveRun<'r, 't> {
    pub fn new(run: Run<'r, 't>, machine: &'r InLane<'r>, expr: &'r [u8], context: &'r Context<'r>) -> Self {
        Self { run, machine, expr, context, waiting: Vec::new(), answers: Vec::new() }
    }

    /// Evaluates the expression in all these lanes.
    pub fn whole(mut self, lanes: u64) -> Vec<Answer> {
        if lanes != 0 {
            self.run.stack.extend_from_slice(self.context.initial);
            self.group(lanes, Progress::after(0, None));
        }
        while let Some(Group { lanes, stack, progress }) = self.waiting.pop() {
            *self.run.stack = stack;
            self.group(lanes, progress);
        }
        self.answers
    }

    /// Evaluates the expression's rest for lanes whose elements are on the stack.
    fn group(&mut self, mut lanes: u64, mut progress: Progress) {
        self.resume(&progress);
        let mut decoder = Decoder::new(self.expr, self.run.scope.encoding);
        loop {
            // A single lane gains nothing here.
            if lanes.is_power_of_two() {
                return self.part(lanes, self.progress(progress));
            }
            // Most operations after an element that varies take the element.
            let varies = self.run.stack.last().is_some_and(Element::varies);
            if !varies && self.run.fast_part(self.expr, &mut progress, false) {
                return self.finish(lanes);
            }
            let offset = progress.at;
            let op = match self.run.decode(self.expr, &mut decoder, &mut progress) {
                Ok(Some(op)) => op,
                Ok(None) => return self.finish(lanes),
                Err(fault) => return self.answers.push((lanes, Err(fault))),
            };
            if self.operation(&mut lanes, offset, &op, &mut progress).is_none() {
                return;
            }
        }
    }

    /// Sets the run's steps and register from a progress.
    fn resume(&mut self, progress: &Progress) {
        (self.run.steps, self.run.last_register) = (progress.steps, progress.register);
    }

    /// Returns a progress with the run's steps and register.
    fn progress(&self, progress: Progress) -> Progress {
        Progress { steps: self.run.steps, register: self.run.last_register, ..progress }
    }

    /// Executes an operation. `None` if the group is finished.
    fn operation(
        &mut self,
        lanes: &mut u64,
        offset: usize,
        op: &Op<'_>,
        progress: &mut Progress,
    ) -> Option<()> {
        let len = self.run.stack.len();
        let base = len - accessed(op).unwrap_or(len).min(len);
        let varies = self.run.stack[base..].iter().any(Element::varies);
        if self.at_once(*lanes, op, varies) {
            return Some(());
        }
        if varies && let Op::Piece { .. } | Op::BitPiece { .. } = op {
            self.locate(*lanes);
        }
        let before = self.progress(progress.clone());
        if varies && !self.moves_only(op, base) {
            if let Op::Bra { .. } = op
                && self.split(*lanes, Progress { at: offset, ..before.clone() })
            {
                return None;
            }
            // Splitting large composites at each operation would take quadratic time.
            if self.run.stack[base..].iter().any(Element::is_heavy) {
                self.part(*lanes, Progress { at: offset, ..before });
                return None;
            }
            let taken = self.run.stack.split_off(base);
            *progress = before;
            return self.each(lanes, offset, op, progress, &taken);
        }
        // Kept in case the operation has to be repeated lane by lane.
        let taken = (!varies && !only_moves(op)).then(|| self.run.stack[base..].to_vec());
        self.machine.focus(lanes.trailing_zeros());
        let done = self.run.carry_out(self.expr, offset, op, progress);
        match (done, self.machine.was_asked()) {
            (Ok(()), false) => Some(()),
            (Err(fault), false) if !varies => {
                self.answers.push((*lanes, Err(fault)));
                None
            }
            _ => match taken {
                Some(taken) => {
                    self.run.stack.truncate(base);
                    *progress = before;
                    self.each(lanes, offset, op, progress, &taken)
                }
                None => {
                    self.restart(*lanes);
                    None
                }
            },
        }
    }

    /// Whether an operation does not inspect the varying elements from `base` on.
    fn moves_only(&self, op: &Op<'_>, base: usize) -> bool {
        let taken = &self.run.stack[base..];
        // A value is used as an address, a number or a mask; a storage that represents each lane's location has no
        // size of its own.
        let is_location = |element: &Element| matches!(element, Element::Location(_)) || !element.varies();
        match (op, taken) {
            (Op::Drop {} | Op::Pick { .. } | Op::Swap {} | Op::Rot {} | Op::GnuUninit {}, _) => true,
            (Op::Piece { .. } | Op::BitPiece { .. }, [.., top]) => is_location(top) && !self.run.is_draft(),
            (Op::PieceEnd {} | Op::Extend { .. }, [.., top]) => is_location(top),
            (Op::SelectBitPiece { .. }, [zeros, ones, mask]) => {
                [zeros, ones].into_iter().all(|it| is_location(it) && it.is_flat()) && !mask.varies()
            }
            (Op::Overlay {} | Op::BitOverlay {}, [base, over, offset, size]) => {
                is_location(over) && ![base, offset, size].into_iter().any(Element::varies)
            }
            _ => false,
        }
    }

    /// Splits lanes that branch differently into two groups, each with a common number.
    fn split(&mut self, lanes: u64, progress: Progress) -> bool {
        let Some(Element::Value(top)) = self.run.stack.last() else { return false };
        let Some(numbers) = top.lanes().filter(|_| top.ty().is_generic()) else { return false };
        let ones = lanes_of(lanes).fold(0, |ones, lane| ones | u64::from(numbers.get(lane) != 0) << lane);
        for (number, lanes) in [(0, lanes & !ones), (1, lanes & ones)] {
            if lanes != 0 {
                // Both groups continue with the same elements; only the condition becomes common.
                let mut stack = self.run.stack.clone();
                stack.pop();
                stack.push(self.run.generic(number).into());
                self.waiting.push(Group { lanes, stack, progress: progress.clone() });
            }
        }
        true
    }

    /// Executes an operation in each lane. `taken` are the accessed elements, removed from the stack.
    fn each(
        &mut self,
        lanes: &mut u64,
        offset: usize,
        op: &Op<'_>,
        progress: &mut Progress,
        taken: &[Element],
    ) -> Option<()> {
        let base = self.run.stack.len();
        let mut left = Vec::with_capacity(lanes.count_ones() as usize);
        for lane in lanes_of(*lanes) {
            self.machine.focus(lane);
            self.run.stack.truncate(base);
            self.run.stack.extend(taken.iter().map(|element| element.in_lane(lane)));
            let mut progress = progress.clone();
            self.resume(&progress);
            match self.run.carry_out(self.expr, offset, op, &mut progress) {
                Ok(()) => {
                    let above = self.run.stack.drain(base..).collect();
                    left.push(Left { lane, above, progress: self.progress(progress) });
                }
                Err(fault) => {
                    // A lane with a fault is done; the other lanes continue.
                    *lanes &= !(1 << lane);
                    self.answers.push((1 << lane, Err(fault)));
                }
            }
        }
        self.run.stack.truncate(base);
        self.combine(left, progress)
    }

    /// Continues with all lanes' combined results, if possible, otherwise with each lane alone.
    fn combine(&mut self, left: Vec<Left>, progress: &mut Progress) -> Option<()> {
        let first = left.first()?;
        let are_abreast = left.iter().all(|result| {
            let a = &result.progress;
            let b = &first.progress;
            (a.at, a.steps, a.register, result.above.len()) == (b.at, b.steps, b.register, first.above.len())
        });
        let above = (0..first.above.len())
            .map(|index| together(left.iter().map(|result| (result.lane, &result.above[index]))));
        match are_abreast.then(|| above.collect::<Option<Vec<_>>>()).flatten() {
            Some(above) => {
                self.run.stack.extend(above);
                *progress = first.progress.clone();
                self.resume(progress);
                Some(())
            }
            None => {
                // Each lane gets its own copy of the elements that the operation did not take.
                let below = core::mem::take(self.run.stack);
                for result in left {
                    let below = below.iter().map(|element| element.in_lane(result.lane));
                    self.alone(result.lane, below.chain(result.above).collect(), result.progress);
                }
                None
            }
        }
    }

    /// Continues with each lane alone.
    fn part(&mut self, lanes: u64, progress: Progress) {
        let stack = core::mem::take(self.run.stack);
        for lane in lanes_of(lanes) {
            let stack = stack.iter().map(|element| element.in_lane(lane)).collect();
            self.alone(lane, stack, progress.clone());
        }
    }

    /// Evaluates the rest in one lane.
    fn alone(&mut self, lane: u32, stack: Vec<Element>, mut progress: Progress) {
        *self.run.stack = stack;
        self.machine.focus(lane);
        let done = self.run.rest(self.expr, &mut progress);
        let answer = done.and_then(|()| self.run.finish(self.context.kind));
        self.answers.push((1 << lane, answer));
    }

    /// Evaluates the whole expression in each lane.
    fn restart(&mut self, lanes: u64) {
        for lane in lanes_of(lanes) {
            self.alone(lane, self.context.initial.to_vec(), Progress::after(0, None));
        }
    }

    /// Stores lanes' results at the expression's end.
    fn finish(&mut self, lanes: u64) {
        let kind = self.context.kind;
        if kind == ResultKind::Location {
            self.locate(lanes);
        }
        let below = self.run.stack.len().saturating_sub(1);
        let is_converted = match self.run.stack.last() {
            Some(top @ Element::Value(_)) => kind == ResultKind::Location && top.varies(),
            Some(top) => kind == ResultKind::Value && top.varies(),
            None => false,
        };
        // A location does not query the lane to become the result.
        let top = self.run.stack.last().filter(|top| is_converted || matches!(top, Element::Value(_)));
        let top = top.cloned();
        // An attempt for all lanes; the result counts only if no lane was asked for.
        if !is_converted {
            self.machine.focus(lanes.trailing_zeros());
            let answer = self.run.finish(kind);
            if !self.machine.was_asked() {
                return self.answers.push((lanes, answer));
            }
        }
        for lane in lanes_of(lanes) {
            self.run.stack.truncate(below);
            self.run.stack.extend(top.as_ref().map(|top| top.in_lane(lane)));
            self.machine.focus(lane);
            let answer = self.run.finish(kind);
            self.answers.push((1 << lane, answer));
        }
    }
}

/// Returns how many topmost elements an operation can access. `None` means all.
fn accessed(op: &Op<'_>) -> Option<usize> {
    match op {
        Op::Pick { index } => Some(usize::from(*index) + 1),
        Op::Piece { .. } | Op::BitPiece { .. } => Some(2),
        _ => op.name().row().stack.0.map(usize::from),
    }
}

/// Whether an operation queries the lane only to take a number as an address. Keeping a copy for a repetition would
/// also copy the composite that the operation extends.
fn only_moves(op: &Op<'_>) -> bool {
    use Op::{BitPiece, Drop, Pick, Piece, PieceEnd, Rot, Swap};
    matches!(op, Drop {} | Pick { .. } | Swap {} | Rot {} | Piece { .. } | BitPiece { .. } | PieceEnd {})
}
