//! Witnesses for one comparison: lanes and contents at a pc, as many as the comparison turns out to depend on.

use std::rc::Rc;

use super::asked::Asked;
use super::numbers::Numbers;
use super::witness::Fill;

/// A comparison's pc, lane and contents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witness {
    /// Pc in bytes from the function's start.
    pub(super) pc: u64,
    /// The function's address; `None` outside functions.
    pub(super) start: Option<u64>,
    pub(super) lane: u32,
    pub(super) fill: Fill,
}

/// Witnesses at a pc. A comparison that does not depend on the lane has one lane; a comparison that does not depend
/// on contents has one fill; a comparison that does not combine numbers has no [chosen contents](Numbers); and only a
/// result of few bits has random contents.
pub(super) struct Witnesses<'w, F> {
    lanes: &'w [u32],
    pc: u64,
    start: Option<u64>,
    asked: &'w Asked,
    /// Returns the constants that the comparison adds to numbers, if it combines numbers.
    combines: F,
    offsets: Option<Rc<[u64]>>,
    /// How many lanes were tried, and how many contents in the current lane.
    tried: (usize, usize),
    /// How many contents are random; known after all fills.
    random: u32,
    /// How many contents are chosen; known after the first comparison with chosen contents.
    choices: u32,
}

/// Returns the witnesses at a pc. `combines` returns the constants that the comparison adds to numbers, if it combines
/// numbers.
pub(super) fn witnesses<'w, F: Fn() -> Option<Rc<[u64]>>>(
    lanes: &'w [u32],
    pc: u64,
    start: Option<u64>,
    asked: &'w Asked,
    combines: F,
) -> Witnesses<'w, F> {
    asked.numbers.take();
    Witnesses { lanes, pc, start, asked, combines, offsets: None, tried: (0, 0), random: 0, choices: 0 }
}

impl<F: Fn() -> Option<Rc<[u64]>>> Iterator for Witnesses<'_, F> {
    type Item = Witness;

    fn next(&mut self) -> Option<Witness> {
        let Self { pc, start, asked, .. } = *self;
        if let Some(numbers) = asked.numbers.take() {
            self.choices = self.choices.max(numbers.choices());
        }
        loop {
            let (index, content) = self.tried;
            if index > 0 && !asked.lane.get() {
                return None;
            }
            let lane = *self.lanes.get(index)?;
            self.tried.1 += 1;
            // The first comparison shows what later comparisons depend on.
            if content == 0 {
                asked.variety.take();
                return Some(Witness { pc, start, lane, fill: Fill::Spelled });
            }
            if asked.contents.get() {
                if let Some(&fill) = Fill::ALL.get(content) {
                    return Some(Witness { pc, start, lane, fill });
                }
                let number = (content - Fill::ALL.len()) as u32;
                if number == 0 {
                    self.random = asked.variety.take().map_or(0, |variety| variety.more_contents());
                }
                if number < self.random {
                    asked.combines.set(true);
                    asked.numbers.replace(Some(Numbers::random(number)));
                    return Some(Witness { pc, start, lane, fill: Fill::Spelled });
                }
                let choice = number - self.random;
                // Looked up late, because it decodes expressions and few comparisons get here.
                if self.choices == 0 && choice == 0 {
                    self.offsets = (self.combines)();
                }
                if let Some(offsets) = self.offsets.as_ref().filter(|_| choice < self.choices.max(1)) {
                    asked.combines.set(true);
                    asked.numbers.replace(Some(Numbers::new(choice, Rc::clone(offsets))));
                    return Some(Witness { pc, start, lane, fill: Fill::Spelled });
                }
            }
            // All contents in one lane, then the next lane.
            self.tried = (index + 1, 0);
        }
    }
}
