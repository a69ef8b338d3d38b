//! The parts of the composite that the fast evaluator constructs.

use super::super::location::{Composite, Location, Part};

/// Parts, each constructed where it stays. Each composite reuses the previous composite's memory.
#[derive(Debug, Default)]
pub(in super::super) struct Parts {
    /// The composite's parts, followed by parts from earlier composites. None of them owns memory.
    all: Vec<Part>,
    /// Number of parts in the composite.
    len: usize,
    /// Total size in bits.
    bits: u64,
}

impl Parts {
    pub fn clear(&mut self) {
        (self.len, self.bits) = (0, 0);
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a part with `bits` bits. A part's location owns no memory, and is constructed where it stays, because a
    /// copy would wait for the location's fields to be written.
    #[inline(always)]
    pub fn add(&mut self, bits: u64, location: impl FnOnce() -> Location) {
        if self.len == self.all.len() {
            self.grow();
        }
        let Some(part) = self.all.get_mut(self.len) else { return };
        (part.start, part.bits) = (self.bits.into(), bits.into());
        // The old location owns no memory, so that nothing needs to be dropped.
        core::mem::forget(core::mem::replace(&mut part.location, location()));
        self.len += 1;
        self.bits += bits;
    }

    #[cold]
    fn grow(&mut self) {
        self.all.push(Part { start: 0, bits: 0, location: Location::undefined() });
    }

    /// Returns the composite built so far.
    pub fn composite(&self) -> Option<Composite> {
        (self.len > 0).then(|| Composite::of_plain_parts(self.all[..self.len].to_vec(), self.bits.into()))
    }

    /// Makes `location` the complete composite. Nothing is allocated if its old composite was constructed here and is
    /// not shared.
    #[inline(always)]
    pub fn finish(&mut self, location: &mut Location, was_made_here: bool) {
        if self.len < self.all.len() {
            self.shrink();
        }
        match location.own_composite().filter(|_| was_made_here) {
            // The old parts come back as memory for the next composite.
            Some(composite) => composite.exchange_plain_parts(&mut self.all, self.bits.into()),
            None => self.hand_over(location),
        }
    }

    #[inline(never)]
    fn shrink(&mut self) {
        // Leftover parts must not become part of the composite.
        self.all.truncate(self.len);
    }

    #[inline(never)]
    fn hand_over(&mut self, location: &mut Location) {
        let mut composite = Composite::of_plain_parts(core::mem::take(&mut self.all), self.bits.into());
        composite.complete();
        *location = composite.into();
    }
}
