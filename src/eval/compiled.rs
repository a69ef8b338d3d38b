//! Evaluation of compiled expressions.

use super::quick::Single;
use super::{Compiled, Context, Element, Evaluator, Fault, Kind, Location, Machine, Outcome, Value};

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
            Kind::Location => self.location_compiled(expr, machine, context).map(Element::Location),
            Kind::Value => self.value_compiled(expr, machine, context).map(Element::Value),
            Kind::Any => {
                let context = &Context { encoding: expr.encoding(), ..*context };
                self.evaluate(expr.bytes(), machine, context)
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
        match self.single(expr, machine, context) {
            Some(location) => Ok(location),
            None => self.longer(expr.source(), machine, context),
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
        match self.single(expr, machine, context) {
            Some(location) => Ok(self.keep(location)),
            None => self.locate_longer(expr.source(), machine, context),
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
        self.valued(expr.source(), machine, context)
    }

    /// Returns the location of an expression of a single operation, where that needs no stack.
    #[inline(always)]
    fn single(
        &mut self,
        expr: &Compiled<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Option<Location> {
        match expr.single()? {
            Single::Register(reg) => self.register(reg, context),
            Single::FrameBase(by) if context.initial.is_empty() => {
                self.quick(machine, context, expr.source().encoding).based_on_frame(&mut self.slots, by)
            }
            Single::FrameBase(_) => None,
        }
    }
}
