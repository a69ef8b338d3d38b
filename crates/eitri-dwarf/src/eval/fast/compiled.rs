//! Evaluation of compiled expressions.

use super::super::location::Location;
use super::super::value::Value;
use super::super::{Context, Element, Evaluator, ExpressionSite, Fault, Kind as Wanted, Machine, Outcome};
use super::program::Execution;
use super::{Compiled, Fast, Found, Slots};

impl Evaluator {
    /// Evaluates a compiled expression, as [`evaluate`](Self::evaluate) does its bytes.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn evaluate_compiled(
        &mut self,
        expr: &Compiled<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Outcome, Fault> {
        match context.kind {
            Wanted::Location => self.location_compiled(expr, machine, context).map(Element::Location),
            Wanted::Value => self.value_compiled(expr, machine, context).map(Element::Value),
            Wanted::Any => {
                match self.execute(expr, machine, context, |fast, found, slots, _| fast.any(found, slots)) {
                    Some(found) => Ok(found),
                    None => self.evaluate(expr.bytes(), machine, &context_of(expr, context)),
                }
            }
        }
    }

    /// Evaluates a compiled expression to a location, as [`location`](Self::location) does its bytes.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn location_compiled(
        &mut self,
        expr: &Compiled<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let single = expr.single();
        let whole = single.and_then(|single| self.single(single, expr.encoding_ref(), machine, context));
        let found = match whole {
            Some(whole) => Some(whole.location()),
            None => self.execute(expr, machine, context, |fast, found, slots, _| fast.location(found, slots)),
        };
        match found {
            Some(location) => Ok(location),
            None => self.location(expr.bytes(), machine, &context_of(expr, context)),
        }
    }

    /// Evaluates a compiled expression, and keeps the result until the next call, as [`locate`](Self::locate) does with
    /// its bytes.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn locate_compiled(
        &mut self,
        expr: &Compiled<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<&Location, Fault> {
        let single = expr.single();
        if let Some(whole) =
            single.and_then(|single| self.single(single, expr.encoding_ref(), machine, context))
        {
            return Ok(self.keep_whole(whole));
        }
        let keep =
            |fast: &Fast<'_>, found, slots: &mut Slots, kept: &mut Location| fast.locate(found, slots, kept);
        match self.execute(expr, machine, context, keep) {
            Some(()) => Ok(&self.kept),
            None => self.locate(expr.bytes(), machine, &context_of(expr, context)),
        }
    }

    /// Evaluates a compiled expression to a value, as [`value`](Self::value) does its bytes.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn value_compiled(
        &mut self,
        expr: &Compiled<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        match self.execute(expr, machine, context, |fast, found, _, _| fast.value(found)) {
            Some(value) => Ok(value),
            None => self.value(expr.bytes(), machine, &context_of(expr, context)),
        }
    }

    /// Executes the instructions, if there are any and the context allows it, and passes the result to `then`, with the
    /// slots and the location to keep.
    #[inline(always)]
    fn execute<T>(
        &mut self,
        expr: &Compiled<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
        then: impl FnOnce(&Fast<'_>, Found, &mut Slots, &mut Location) -> Option<T>,
    ) -> Option<T> {
        let program = expr.program()?;
        let fast = self.fast(machine, context).with(expr.encoding_ref(), program.mask);
        let is_allowed = context.initial.is_empty()
            && context.frame == 0
            && (context.place == ExpressionSite::Location || program.is_for_cfi)
            && program.height <= fast.room
            && program.parts as usize <= fast.pieces
            && (!program.needs_flat || fast.is_flat());
        if !is_allowed {
            return None;
        }
        self.slots.clear();
        let found = Execution { fast: &fast, program }.run(&mut self.slots)?;
        then(&fast, found, &mut self.slots, &mut self.kept)
    }
}

/// Returns the context with the encoding of the expression.
fn context_of<'c>(expr: &Compiled<'_>, context: &Context<'c>) -> Context<'c> {
    Context { encoding: expr.encoding(), ..*context }
}
