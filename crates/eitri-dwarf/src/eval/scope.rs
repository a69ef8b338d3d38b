//! Nested expressions, and the part of the context that each of them sees (A.2.5.1).

use super::fault::{Fault, limit};
use super::lists::bounded;
use super::location::Location;
use super::machine::{Body, Entry};
use super::run::Run;
use super::{Context, CurrentObject};
use crate::op::Encoding;
use crate::read::SUPPLEMENTARY;

/// Part of the context that can differ in a nested expression.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub encoding: Encoding,
    pub unit: u64,
    pub frame: u32,
    /// Whether the expression has a current object.
    pub has_object: bool,
    /// Whether the expression is a frame base, which cannot refer to itself.
    pub is_frame_base: bool,
    /// Index of the first stack element that the expression can access.
    pub(super) floor: usize,
    pub(super) depth: u32,
    /// The entry that contains the expression, if it was reached by a call or an implicit pointer.
    pub entry: Option<u64>,
}

impl Scope {
    /// Returns the scope of an outermost expression.
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

    /// Returns the scope of a frame base: the unit of its subprogram, and the entry of the expression that needs it.
    pub fn of_frame_base(self, subprogram: &Entry<'_>) -> Self {
        Self { is_frame_base: true, ..self.in_unit_of(subprogram) }
    }

    /// Returns the offset of an entry that the expression refers to by its offset in the file. The file is the one with the
    /// expression's unit, which can be supplementary.
    pub fn entry_in_file(&self, offset: u64) -> u64 {
        self.unit & SUPPLEMENTARY | offset.min(SUPPLEMENTARY - 1)
    }

    /// Returns the scope in another frame.
    pub fn in_frame(self, frame: u32) -> Self {
        Self { frame, ..self }
    }

    /// Returns the scope of an entry in its unit.
    pub fn of_entry(self, offset: u64, entry: &Entry<'_>) -> Self {
        Self { entry: Some(offset), ..self.in_unit_of(entry) }
    }

    /// Returns the scope in the unit of an entry.
    pub fn in_unit_of(self, entry: &Entry<'_>) -> Self {
        let encoding = entry.encoding.unwrap_or(self.encoding);
        Self { encoding, unit: entry.unit, ..self }
    }
}

impl Run<'_, '_> {
    /// Runs `then` in another scope, one level deeper.
    fn deeper<T>(
        &mut self,
        scope: Scope,
        then: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = self.scope;
        if outer.depth >= self.limits.depth {
            return Err(limit(format!("expressions are nested deeper than {}", self.limits.depth)));
        }
        self.scope = Scope { depth: outer.depth + 1, ..scope };
        let result = then(self);
        self.scope = outer;
        result
    }

    /// Runs an expression of another entry on the same stack, as part of this one.
    pub fn call(&mut self, expr: &[u8], offset: u64, entry: &Entry<'_>) -> Result<(), Fault> {
        let scope = self.scope.of_entry(offset, entry);
        self.deeper(scope, |run| run.expression(expr))
    }

    /// Runs `then` on a stack of its own, without an object.
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

    /// Evaluates the location or constant of an entry to a location. Returns `None` if the entry has neither.
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
