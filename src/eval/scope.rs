//! Expressions within expressions: what each of them sees (A.2.5.1).

use super::fault::{Fault, error};
use super::lists::bounded;
use super::location::Location;
use super::machine::{Body, Entry};
use super::run::Run;
use super::{Context, CurrentObject};
use crate::op::Encoding;

/// What another expression can see differently.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub encoding: Encoding,
    pub unit: u64,
    pub frame: u32,
    /// Whether there is a current object.
    pub has_object: bool,
    /// Whether it is a frame base, which cannot refer to itself.
    pub is_frame_base: bool,
    /// Where its part of the stack starts.
    pub(super) floor: usize,
    pub(super) depth: u32,
    /// The entry that the expression is of, if it was called or pointed to.
    pub entry: Option<u64>,
}

impl Scope {
    /// That of an expression which is evaluated by itself.
    pub fn of(context: &Context<'_>) -> Self {
        Self {
            encoding: context.encoding,
            unit: context.unit,
            frame: context.frame,
            has_object: context.object != CurrentObject::Unspecified,
            is_frame_base: false,
            floor: 0,
            depth: 0,
            entry: None,
        }
    }

    /// The same, in a frame base and the unit of the subprogram that says it. The entry stays the one that asks.
    pub fn of_frame_base(self, subprogram: &Entry<'_>) -> Self {
        Self { is_frame_base: true, ..self.in_unit_of(subprogram) }
    }

    /// The same, in another frame.
    pub fn in_frame(self, frame: u32) -> Self {
        Self { frame, ..self }
    }

    /// The same, in an entry and its unit.
    pub fn of_entry(self, offset: u64, entry: &Entry<'_>) -> Self {
        Self { entry: Some(offset), ..self.in_unit_of(entry) }
    }

    fn in_unit_of(self, entry: &Entry<'_>) -> Self {
        let encoding = entry.encoding.unwrap_or(self.encoding);
        Self { encoding, unit: entry.unit, ..self }
    }
}

impl Run<'_, '_> {
    /// Does something in another scope, one level deeper.
    fn deeper<T>(
        &mut self,
        scope: Scope,
        then: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = self.scope;
        if outer.depth >= self.limits.depth {
            return Err(error(format!("expressions within expressions, {} deep", self.limits.depth)));
        }
        self.scope = Scope { depth: outer.depth + 1, ..scope };
        let result = then(self);
        self.scope = outer;
        result
    }

    /// Carries out an expression of another entry on the same stack, as part of this one.
    pub fn call(&mut self, expr: &[u8], offset: u64, entry: &Entry<'_>) -> Result<(), Fault> {
        let scope = self.scope.of_entry(offset, entry);
        self.deeper(scope, |run| run.expression(expr))
    }

    /// Evaluates something on a stack of its own, without an object.
    pub fn apart<T>(
        &mut self,
        scope: Scope,
        then: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let floor = self.stack.len();
        let result = self.deeper(Scope { floor, has_object: false, ..scope }, then);
        self.stack.truncate(floor);
        result
    }

    /// Evaluates what an entry says to a location. `None` if it says nothing.
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
        }
    }
}
