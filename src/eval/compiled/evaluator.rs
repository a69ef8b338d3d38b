//! Evaluation of compiled expressions.

use super::super::fast::{Fast, Slots};
use super::super::location::Location;
use super::super::value::Value;
use super::super::{Context, Element, Evaluator, Fault, Kind as Wanted, Machine, Outcome as Found, Where};
use super::Compiled;
use super::expression::Single;
use super::kinds::{Kind, Outcome};
use super::machine::register;
use super::run::Execution;
use crate::op::Reg;
use crate::target::SpaceId;

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
    ) -> Result<Found, Fault> {
        match context.kind {
            Wanted::Location => self.location_compiled(expr, machine, context).map(Element::Location),
            Wanted::Value => self.value_compiled(expr, machine, context).map(Element::Value),
            Wanted::Any => match self.any(expr, machine, context) {
                Some(found) => Ok(found),
                None => self.evaluate(expr.bytes(), machine, &context_of(expr, context)),
            },
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
        let found = match self.single(expr, machine, context) {
            Some(location) => Some(location),
            None => self.executed(expr, machine, context),
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
        if let Some(location) = self.single(expr, machine, context) {
            return Ok(self.keep(location));
        }
        match self.executed_to_keep(expr, machine, context) {
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
        match self.execute(expr, machine, context, |execution, top, _, _| execution.value(top)) {
            Some(value) => Ok(value),
            None => self.value(expr.bytes(), machine, &context_of(expr, context)),
        }
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
                let fast = Fast { encoding: expr.encoding_ref(), ..self.fast(machine, context) };
                fast.based_on_frame(&mut self.slots, by)
            }
            Single::FrameBase(_) => None,
        }
    }

    /// Executes the instructions, if there are any and the context allows it, and passes the top element to `then`, with
    /// the composite in the slots and the location to keep.
    #[inline(always)]
    fn execute<T>(
        &mut self,
        expr: &Compiled<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
        then: impl FnOnce(&Execution<'_>, u64, &mut Slots, &mut Location) -> Option<T>,
    ) -> Option<T> {
        let program = expr.program()?;
        let fast = Fast { encoding: expr.encoding_ref(), ..self.fast(machine, context) };
        let is_allowed = context.initial.is_empty()
            && context.frame == 0
            && (context.place == Where::Location || program.is_for_cfi)
            && program.height <= fast.room
            && program.parts as usize <= fast.pieces
            && (!program.needs_flat || fast.is_flat());
        if !is_allowed {
            return None;
        }
        let execution = Execution { fast, program, mask: program.mask };
        self.slots.clear();
        let top = execution.run(&mut self.numbers, &mut self.slots)?;
        then(&execution, top, &mut self.slots, &mut self.kept)
    }

    fn any(&mut self, expr: &Compiled<'_>, machine: &dyn Machine, context: &Context<'_>) -> Option<Element> {
        self.execute(expr, machine, context, |execution, top, slots, _| match execution.program.outcome {
            Outcome::Top(Kind::Value) => execution.value(top).map(Element::Value),
            Outcome::Top(kind) => execution.location(kind, top).map(Element::Location),
            Outcome::Parts => Some(Element::Location(slots.composite_location())),
        })
    }

    fn executed(
        &mut self,
        expr: &Compiled<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Option<Location> {
        self.execute(expr, machine, context, |execution, top, slots, _| match execution.program.outcome {
            Outcome::Top(kind) => execution.location(kind, top),
            Outcome::Parts => Some(slots.composite_location()),
        })
    }

    /// Keeps the resulting location.
    #[inline(always)]
    fn executed_to_keep(
        &mut self,
        expr: &Compiled<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Option<()> {
        self.execute(expr, machine, context, |execution, top, slots, kept| {
            match execution.program.outcome {
                Outcome::Top(kind) => {
                    *kept = execution.location(kind, top)?;
                    slots.forget_kept();
                }
                Outcome::Parts => slots.keep_parts(kept),
            }
            Some(())
        })
    }
}

/// Returns the context with the encoding of the expression.
fn context_of<'c>(expr: &Compiled<'_>, context: &Context<'c>) -> Context<'c> {
    Context { encoding: expr.encoding(), ..*context }
}

impl Execution<'_> {
    /// Returns the top element as a value.
    #[inline(always)]
    fn value(&self, top: u64) -> Option<Value> {
        match self.program.outcome {
            Outcome::Top(kind) if kind.is_number() => {
                Some(Value::generic(top, self.fast.encoding.address_bytes))
            }
            _ => None,
        }
    }

    /// Returns an element as a location.
    #[inline(always)]
    fn location(&self, kind: Kind, top: u64) -> Option<Location> {
        match kind {
            Kind::Value if !self.program.needs_flat && !self.fast.is_flat() => None,
            Kind::Value | Kind::Memory(SpaceId::DEFAULT) => {
                Some(Location::memory(SpaceId::DEFAULT, self.fast.address_bits(), top))
            }
            Kind::Memory(space) => Some(self.space(space.0)?.location(top)),
            Kind::Register(reg) => Some(register(reg, self.fast.register_bits(Reg(reg.into()))?, top)),
            Kind::Known => Some(self.fast.implicit(top)),
        }
    }
}
