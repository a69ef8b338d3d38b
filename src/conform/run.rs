//! Runs vectors with the built-in evaluator.

use super::found::{Found, Read};
use super::report::VectorOutcome;
use super::vector::{Vector, VectorBody};
use crate::eval::{Class, Element, Evaluator, Fault, Location, LocationListEntry, Snapshot, write_bits};

impl Vector {
    /// Runs the vector with the built-in evaluator.
    pub fn run(&self) -> VectorOutcome {
        self.run_with(&mut Evaluator::new())
    }

    /// Runs the vector with an evaluator whose limits the caller has chosen.
    pub fn run_with(&self, evaluator: &mut Evaluator) -> VectorOutcome {
        let machine = &self.machine.snapshot;
        if let VectorBody::Frames(frames) = &self.body {
            let asked = self.expect.unwound.iter().flat_map(|expected| expected.registers());
            return self.compare_unwound(&frames.unwind(&self.machine, &self.target, self.encoding, asked));
        }
        let result = self.evaluate(evaluator);
        let mut read = None;
        let mut written = None;
        if let Ok(Element::Location(location)) = &result {
            read = Some(Read::at(location, u64::try_from(self.read).unwrap_or(u64::MAX), machine));
            written = self.write.as_ref().map(|bytes| self.store(location, bytes));
        }
        self.compare(&Found { result, read, written })
    }

    fn evaluate(&self, evaluator: &mut Evaluator) -> Result<Element, Fault> {
        let machine = &self.machine.snapshot;
        let context = self.context();
        match &self.body {
            VectorBody::Expression(expr) => evaluator.evaluate(expr, machine, &context),
            VectorBody::List(entries) => self.evaluate_list(entries, evaluator),
            VectorBody::Section(section) => {
                let base = self.machine.base_address;
                let entries = section.entries(self.encoding, base, &machine.debug_addr)?;
                self.evaluate_list(&entries, evaluator)
            }
            VectorBody::Frames(_) => {
                Err(Fault::new(Class::Unsupported, "call frame information is not an expression"))
            }
        }
    }

    fn evaluate_list(
        &self,
        entries: &[LocationListEntry<'_>],
        evaluator: &mut Evaluator,
    ) -> Result<Element, Fault> {
        let machine = &self.machine.snapshot;
        let context = self.context();
        let location = [Element::Location(evaluator.list(entries, machine, &context)?)];
        // A list gives a location. Other kinds of results are converted as at the end of an expression.
        evaluator.evaluate(&[], machine, &context.with_initial(&location))
    }

    fn store(&self, location: &Location, bytes: &[u8]) -> Result<Snapshot, Fault> {
        // The store works on a copy, because the comparison needs the machine before it.
        let mut machine = self.machine.snapshot.clone();
        write_bits(location, self.write_bits(), bytes, &mut machine)?;
        Ok(machine)
    }
}
