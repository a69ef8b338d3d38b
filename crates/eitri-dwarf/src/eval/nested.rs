//! Nested expressions and location lists, each of which [`Run`] evaluates in its own [`Scope`].

use super::fault::{Fault, error, limit};
use super::lists::{Bounded, EncodedList, bounded, in_entry};
use super::location::Location;
use super::machine::{Body, ReferencedEntry};
use super::run::Run;
use super::scope::Scope;

impl Run<'_, '_> {
    /// Runs `then` in another scope, one level deeper.
    fn deeper<T>(
        &mut self,
        scope: Scope,
        then: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = self.scope;
        // Each level takes machine stack, which no input may exhaust.
        if outer.depth >= self.limits.depth {
            return Err(limit(format!("expressions are nested deeper than {}", self.limits.depth)));
        }
        self.scope = Scope { depth: outer.depth + 1, ..scope };
        let result = then(self);
        self.scope = outer;
        result
    }

    /// Runs another entry's expression on the same stack, as part of this expression.
    pub fn call(&mut self, expr: &[u8], offset: u64, entry: &ReferencedEntry<'_>) -> Result<(), Fault> {
        let scope = self.scope.of_entry(offset, entry);
        self.deeper(scope, |run| run.expression(expr))
    }

    /// Runs `then` on a separate stack, without an object.
    pub fn apart<T>(
        &mut self,
        scope: Scope,
        then: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        // The floor hides the outer elements without a second allocation.
        let floor = self.stack.len();
        let result = self.deeper(Scope { floor, has_object: false, ..scope }, then);
        self.stack.truncate(floor);
        result
    }

    /// Evaluates an entry's location or constant to a location. Returns `None` if the entry has neither.
    pub fn body(&mut self, scope: Scope, body: Body<'_>) -> Result<Option<Location>, Fault> {
        match body {
            Body::Expression(expr) => self
                .apart(scope, |run| {
                    run.expression(expr)?;
                    run.finish_location()
                })
                .map(Some),
            Body::List(entries) => self.apart(scope, |run| run.list(bounded(entries.iter()))).map(Some),
            Body::EncodedList(list) => self.apart(scope, |run| run.encoded_list(list)).map(Some),
            Body::Constant(bytes) => Ok(Some(Location::implicit(bytes))),
            Body::Nothing => Ok(None),
            Body::Unreadable => Err(error("the attribute cannot be read")),
        }
    }
}

/// Location lists, A.2.5.5.
impl Run<'_, '_> {
    /// Evaluates a location list.
    pub fn list<'e>(
        &mut self,
        entries: impl Iterator<Item = Result<Bounded<'e>, Fault>> + Clone,
    ) -> Result<Location, Fault> {
        let pc = self.machine.pc(self.scope.frame);
        if pc.is_none() && !self.is_draft() {
            return Err(error("a location list needs a program location (A.2.5.5)"));
        }
        let mut location = None;
        let mut count = 0;
        for entry in entries.clone() {
            crate::work::step();
            let (bounds, expr) = entry?;
            if bounds.zip(pc).is_some_and(|((start, end), pc)| (start..end).contains(&pc)) {
                location = Some(self.list_entry(count, expr, location)?);
            }
            count += 1;
        }
        // A list costs steps even where no entry applies, so that long lists cannot evade the limit.
        self.charge(count / 8)?;
        if location.is_none() {
            for (index, entry) in (0..).zip(entries) {
                if let (None, expr) = entry? {
                    location = Some(self.list_entry(index, expr, location)?);
                }
            }
        }
        Ok(location.unwrap_or_else(Location::undefined))
    }

    /// Evaluates an encoded location list.
    pub fn encoded_list(&mut self, list: EncodedList<'_>) -> Result<Location, Fault> {
        let machine = self.machine;
        let unit = self.scope.unit;
        self.list(list.bounded(self.scope.encoding, move |index| machine.debug_addr(unit, index)))
    }

    fn list_entry(&mut self, index: u64, expr: &[u8], others: Option<Location>) -> Result<Location, Fault> {
        let places = others.as_ref().map_or(0, |others| others.places().count());
        self.charge(1 + places as u64 / 4)?;
        let location = self.apart(self.scope, |run| {
            run.expression(expr)?;
            run.finish_location()
        });
        let location = location.map_err(|fault| match self.scope.entry {
            // The fault names the list's entry already.
            Some(_) => fault,
            None => in_entry(fault, index),
        })?;
        Ok(match others {
            // Entries that apply together locate the object together.
            Some(others) => others.and(location),
            None => location,
        })
    }
}
