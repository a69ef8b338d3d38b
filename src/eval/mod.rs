//! The reference evaluator: what an expression means, step by step.
//!
//! It follows the text of "Allow Location Descriptions on the DWARF Expression Stack" (sections A.2.5) and of the
//! AMDGPU extension built on it. It shares the table of operations with the rest of the crate, and nothing of
//! what writes expressions.
//!
//! ```text
//!  bytes ──► Decoder ──► ops ──► Element (Value | Location)
//!                         │ ▲
//!                         ▼ │
//!                  Machine, Architecture          read_bits, spans ◄── Location
//! ```
//!
//! * A [`Machine`] is a stopped program; [`Snapshot`] is one as plain data. An [`Architecture`] says which
//!   registers and spaces there are; every [`Target`](crate::target::Target) is one, and so is [`Layout`].
//! * An [`Evaluator`] runs an expression or a location list in a [`Context`]; an expression also in all lanes of
//!   a [`wave`] at once.
//! * [Attributes](attributes) are evaluated by methods of their own, each as the text says of it.
//! * A [`CallStack`] unwinds: it knows the callers of a machine's frame, and where their registers are.
//! * [`read_bits`] reads at the location that came out, [`write_bits`] writes there, [`spans()`] says which bits
//!   of which storage it names.
//!
//! # What stops an evaluation
//!
//! A [`Fault`] is of one of four [classes](Class), with the operation and the rule. No input makes it panic or
//! run forever: beyond the [`Limits`] is an evaluation error.
//!
//! ```
//! use eitri::eval::{Context, Evaluator, Snapshot, spans};
//! use eitri::op::{Dialect, Encoding, text};
//! use eitri::target::Target;
//!
//! // The element of lane 3 of v0, in a wave of 32 lanes.
//! let target = Target::named("amdgpu-gfx1030-wave32")?;
//! let encoding = Encoding::new(8, Dialect::Llvm);
//! let expr = text::parse("regx v0; push_lane; lit4; mul; offset", encoding, Some(&target))?;
//! let machine = Snapshot { lane: Some(3), lanes: Some(32), ..Snapshot::default() };
//! let location = Evaluator::new().location(expr.bytes(), &machine, &Context::new(encoding, &target)).unwrap();
//! assert_eq!(location.to_string(), "reg:1536+96");
//! assert_eq!(spans(&location, 32).unwrap().len(), 1);
//! # Ok::<(), eitri::Error>(())
//! ```
#![doc = include_str!("decisions.md")]

mod arith;
pub mod attributes;
mod branch;
pub mod composite;
mod context;
mod debug_info;
pub mod fault;
mod float;
pub(crate) mod forward;
mod generic;
mod integer;
pub mod lists;
pub mod location;
pub mod machine;
mod ops;
mod order;
mod quick;
pub mod read;
mod run;
mod scope;
pub mod snapshot;
pub mod spans;
pub mod stack;
pub mod unwind;
pub mod value;
pub mod wave;
mod wide;
pub mod write;

pub use attributes::{MemberLocation, Property};
pub use composite::{Composite, Part};
pub use context::{Context, CurrentObject, Kind, Where};
pub use debug_info::{DebugInfo, WithDebugInfo};
pub use fault::{Class, Fault};
pub use lists::EncodedList;
pub use location::{ImplicitBits, ImplicitPointer, Location, SingleLocation, Storage};
pub use machine::{Architecture, Body, Entry, Layout, ListEntry, Machine, SpaceLayout, Unavailable};
pub use read::{Bits, read_bits, read_pointer};
pub use snapshot::{Caller, OwnedBody, Snapshot};
pub(crate) use spans::hash;
pub use spans::{Span, same, spans};
pub use stack::Element;
pub use unwind::{CallStack, Column, Frame, UnwindFault};
pub use value::{BaseType, TypeEncoding, Value};
pub use wave::{InLane, WaveOutcome};
pub use write::{MachineMut, write_bits};

use crate::op::Op;
use quick::{Progress, Quick, Slots};
use run::Run;

/// What an evaluation results in.
pub type Outcome = Element;

/// An operation that was carried out, for [`Evaluator::traced`].
#[derive(Debug)]
pub struct Step<'a> {
    /// How many calls deep, 0 in the expression itself. Expressions that an operation refers to (a frame
    /// base, an entry that is called or pointed to) count as calls.
    pub depth: u32,
    /// Bytes from the start of its expression to the operation.
    pub offset: usize,
    /// The operation.
    pub op: Op<'a>,
    /// The stack after it, the bottom first.
    pub stack: &'a [Element],
}

/// Evaluates expressions, one after the other, with the same stack: a location that is no composite is found
/// without allocation.
#[derive(Debug)]
pub struct Evaluator {
    stack: Vec<Element>,
    slots: Slots,
    /// What [`locate`](Self::locate) found last.
    kept: Location,
    limits: Limits,
    all_places: bool,
}

/// How far an evaluation goes. Beyond is an evaluation error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Operations, those of called expressions included; the parts that an operation makes or reads count too.
    pub steps: u64,
    /// Expressions within expressions. Each takes some kilobytes of the thread's stack.
    pub depth: u32,
    /// Elements on the stack.
    pub stack: u32,
    /// Parts of a composite, on all levels.
    pub parts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1_000_000, depth: 32, stack: 4096, parts: 1 << 16 }
    }
}

impl Default for Evaluator {
    fn default() -> Self {
        Self::new()
    }
}

impl Evaluator {
    /// An evaluator with the default [`Limits`].
    pub fn new() -> Self {
        let (stack, slots) = (Vec::with_capacity(16), Slots::new());
        Self { stack, slots, kept: Location::undefined(), limits: Limits::default(), all_places: false }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// An evaluator that reads what is in several places in all of these: it is an evaluation error if one cannot be
    /// read, or holds other bits than another one. That they hold the same is the producer's duty (A.2.5.3), so that
    /// debuggers take the first; who judges a producer wants to know.
    #[must_use]
    pub fn all_places(mut self) -> Self {
        self.all_places = true;
        self
    }

    /// The same with another limit of steps.
    #[must_use]
    pub fn step_limit(mut self, steps: u64) -> Self {
        self.limits.steps = steps;
        self
    }

    /// Evaluates an expression.
    ///
    /// # Errors
    /// A [`Fault`] with the operation that caused it.
    pub fn evaluate(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Outcome, Fault> {
        match context.kind {
            Kind::Location => self.location(expr, machine, context).map(Element::Location),
            Kind::Value => self.value(expr, machine, context).map(Element::Value),
            Kind::Any => self.run(machine, context, None, |run| run.whole(expr, context)),
        }
    }

    /// As [`evaluate`](Self::evaluate), and `trace` is told of every operation after it.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate). Operations before the one that failed were told.
    pub fn traced(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
        trace: &mut dyn FnMut(Step<'_>),
    ) -> Result<Outcome, Fault> {
        self.run(machine, context, Some(trace), |run| run.whole(expr, context))
    }

    /// Evaluates an expression to a location, whatever kind the context asks for.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn location(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        match self.alone(expr, context) {
            Some(location) => Ok(location),
            None => self.longer(expr, machine, context),
        }
    }

    /// The register, if that is all that the expression says.
    #[inline(always)]
    fn alone(&self, expr: &[u8], context: &Context<'_>) -> Option<Location> {
        let reg = quick::alone(expr)?;
        let bits = context.target.register_bits(reg)?;
        let is_innermost = (context.frame, context.initial.len()) == (0, 0);
        let has_room = self.limits.steps.min(self.limits.stack.into()) > 0;
        (is_innermost && has_room).then(|| Location::register(reg, bits))
    }

    /// As [`location`](Self::location), of an expression that is no register.
    #[inline(always)]
    fn longer(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.slots.clear();
        let (quick, mut progress) = (self.quick(machine, context), Progress::after(0, None));
        if context.initial.is_empty()
            && quick.run(expr, &mut self.slots, &mut progress)
            && let Some(location) = quick.location(&mut self.slots)
        {
            return Ok(location);
        }
        self.go_on(machine, context, expr, &mut progress, |run| run.finish_location())
    }

    /// As [`location`](Self::location), but the evaluator keeps what was found until the next call of this, and uses
    /// its room again then: a composite of a few pieces allocates nothing either.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn locate(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<&Location, Fault> {
        if let Some(location) = self.alone(expr, context) {
            self.slots.forget_kept();
            self.kept = location;
            return Ok(&self.kept);
        }
        self.slots.clear();
        let (quick, mut progress) = (self.quick(machine, context), Progress::after(0, None));
        if context.initial.is_empty()
            && quick.run(expr, &mut self.slots, &mut progress)
            && quick.locate(&mut self.slots, &mut self.kept).is_some()
        {
            return Ok(&self.kept);
        }
        self.slots.forget_kept();
        self.kept = self.go_on(machine, context, expr, &mut progress, |run| run.finish_location())?;
        Ok(&self.kept)
    }

    /// Evaluates an expression to a value, whatever kind the context asks for.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn value(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        self.slots.clear();
        let (quick, mut progress) = (self.quick(machine, context), Progress::after(0, None));
        if context.initial.is_empty()
            && quick.run(expr, &mut self.slots, &mut progress)
            && let Some(value) = quick.value(&self.slots)
        {
            return Ok(value);
        }
        self.go_on(machine, context, expr, &mut progress, |run| run.finish_value())
    }

    /// Evaluates a location list at the machine's program location (A.2.5.5): the places of all bounded
    /// entries that hold there; of default entries if there are none; the undefined location if there is none
    /// of these either. Each entry is evaluated with an empty stack and no object.
    ///
    /// # Errors
    /// An evaluation error if there is no program location; any fault of an expression of an entry that holds.
    pub fn list<'e, I>(
        &mut self,
        entries: I,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault>
    where
        I: IntoIterator<Item = &'e ListEntry<'e>>,
        I::IntoIter: Clone,
    {
        self.run(machine, context, None, |run| run.list(lists::bounded(entries.into_iter())))
    }

    /// As [`list`](Self::list), and `trace` is told of every operation after it.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn list_traced<'e, I>(
        &mut self,
        entries: I,
        machine: &dyn Machine,
        context: &Context<'_>,
        trace: &mut dyn FnMut(Step<'_>),
    ) -> Result<Location, Fault>
    where
        I: IntoIterator<Item = &'e ListEntry<'e>>,
        I::IntoIter: Clone,
    {
        self.run(machine, context, Some(trace), |run| run.list(lists::bounded(entries.into_iter())))
    }

    /// The quick way into an expression.
    #[inline(always)]
    fn quick<'q>(&self, machine: &'q dyn Machine, context: &'q Context<'_>) -> Quick<'q> {
        Quick {
            machine,
            target: context.target,
            encoding: &context.encoding,
            frame: context.frame,
            place: context.place,
            is_frame_base: false,
            depth: self.limits.depth,
            max_steps: self.limits.steps,
            room: self.limits.stack as usize,
            pieces: self.limits.parts as usize,
        }
    }

    fn run<T>(
        &mut self,
        machine: &dyn Machine,
        context: &Context<'_>,
        trace: Option<&mut dyn FnMut(Step<'_>)>,
        then: impl FnOnce(&mut Run<'_, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.slots.clear();
        self.stack.clear();
        let (stack, slots) = (&mut self.stack, &mut self.slots);
        let mut run = Run::new(stack, slots, self.limits, machine, context, trace);
        run.all_places = self.all_places;
        let result = then(&mut run);
        self.stack.clear();
        result
    }

    /// Does the rest of an expression that was begun on the quick way.
    #[inline(never)]
    fn go_on<T>(
        &mut self,
        machine: &dyn Machine,
        context: &Context<'_>,
        expr: &[u8],
        progress: &mut Progress,
        finish: impl FnOnce(&mut Run<'_, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.stack.clear();
        let (stack, slots) = (&mut self.stack, &mut self.slots);
        let mut run = Run::new(stack, slots, self.limits, machine, context, None);
        run.all_places = self.all_places;
        run.start(context.initial);
        let result = run.rest(expr, progress).and_then(|()| finish(&mut run));
        self.stack.clear();
        result
    }
}
