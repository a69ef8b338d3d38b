//! The reference evaluator: the meaning of an expression, step by step.
//!
//! The evaluator follows the text of "Allow Location Descriptions on the DWARF Expression Stack" (sections A.2.5) and
//! of the AMDGPU extension built on it. The evaluator shares the operation table with the rest of the crate, and no
//! code with the writer of expressions.
//!
//! ```text
//!  bytes ──► Decoder ──► ops ──► Element (Value | Location)
//!                         │ ▲
//!                         ▼ │
//!                  Machine, Architecture          read_bits, spans ◄── Location
//! ```
//!
//! * A [`Machine`] is a stopped program; a [`Snapshot`] is one as plain data. An [`Architecture`] lists the registers
//!   and address spaces; every [`Target`](crate::target::Target) is one, and so is [`Layout`].
//! * An [`Evaluator`] runs an expression or a location list in a [`Context`], and an expression also in all lanes of a
//!   [`wave`] at once.
//! * [Attributes](attributes) have methods of their own, one for each rule of the text.
//! * A [`CallStack`] unwinds: it finds the callers of a machine's frame, and the locations of their registers.
//! * [`read_bits`] and [`write_bits`] access the bits at a resulting location; [`spans()`] lists them by storage.
//!
//! # Faults
//!
//! A [`Fault`] has one of four [classes](Class), the operation and the broken rule. No input causes a panic or an
//! endless evaluation: exceeding the [`Limits`] is an evaluation error.
//!
//! ```
//! use eitri_dwarf::eval::{Context, Evaluator, Snapshot, spans};
//! use eitri_dwarf::op::{Dialect, Encoding, text};
//! use eitri_dwarf::target::Target;
//!
//! // The element of lane 3 of v0, in a wave of 32 lanes.
//! let target = Target::named("amdgpu-gfx1030-wave32")?;
//! let encoding = Encoding::new(8, Dialect::Llvm);
//! let expr = text::parse("regx v0; push_lane; lit4; mul; offset", encoding, Some(&target))?;
//! let machine = Snapshot { lane: Some(3), lanes: Some(32), ..Snapshot::default() };
//! let location = Evaluator::new().location(expr.bytes(), &machine, &Context::new(encoding, &target))?;
//! assert_eq!(location.to_string(), "reg:1536+96");
//! assert_eq!(spans(&location, 32)?.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![doc = include_str!("decisions.md")]

mod arith;
pub mod attributes;
mod branch;
mod call_sites;
pub mod composite;
mod context;
mod debug_info;
mod fast;
pub mod fault;
mod float;
pub(crate) mod forward;
mod integer;
mod lane_numbers;
pub mod lists;
pub mod location;
pub mod machine;
mod ops;
mod order;
mod per_lane;
mod ptx_registers;
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
mod word;
pub mod write;

pub use attributes::{MemberLocation, Property};
pub use composite::{Composite, Part};
pub use context::{Context, CurrentObject, ExpressionSite, Kind};
pub use debug_info::{DebugInfo, WithDebugInfo};
pub use fault::{Class, Fault};
pub use lists::EncodedList;
pub use location::{ImplicitBits, ImplicitPointer, Location, SingleLocation, Storage};
pub use machine::{
    Architecture, Body, CallValue, Entry, Layout, ListEntry, Machine, SpaceLayout, Unavailable,
};
pub use ptx_registers::PtxRegisters;
pub use read::{Bits, read_bits, read_pointer};
pub use snapshot::{Caller, OwnedBody, Snapshot};
pub use spans::{Span, are_equal, spans};
#[doc(hidden)]
pub use spans::{all_parts, hash};
pub use stack::Element;
pub use unwind::{CallStack, Column, Frame, UnwindFault};
pub use value::{BaseType, TypeEncoding, Value};
pub use wave::{InLane, LaneBits, WaveBits, WaveOutcome};
pub use write::{MachineMut, write_bits};

use crate::op::Op;
use crate::target::SpaceId;
use fast::{Bytes, Fast, Found, Progress, Single, Slots, Whole};
use run::Run;

/// Result of an evaluation.
pub type Outcome = Element;

/// An executed operation, for [`Evaluator::traced`].
#[derive(Debug)]
pub struct Step<'a> {
    /// Call depth, 0 in the outermost expression. Expressions that an operation refers to (a frame base, or an entry
    /// that is called or pointed to) count as calls.
    pub depth: u32,
    /// Offset of the operation in bytes from the start of its expression.
    pub offset: usize,
    /// The operation.
    pub op: Op<'a>,
    /// The stack after the operation, bottom first.
    pub stack: &'a [Element],
}

/// Evaluates one expression after another with the same stack. Finding a location without composites does not allocate.
#[derive(Debug)]
pub struct Evaluator {
    stack: Vec<Element>,
    slots: Slots,
    /// Result of the last [`locate`](Self::locate).
    kept: Location,
    limits: Limits,
    all_places: bool,
}

/// Limits of an evaluation. Exceeding one is an evaluation error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Number of operations, including those of called expressions and the parts that an operation makes or reads.
    pub steps: u64,
    /// Nesting depth of expressions. Each level takes some kilobytes of the thread's stack.
    pub depth: u32,
    /// Number of elements on the stack.
    pub stack: u32,
    /// Number of parts of a composite, on all levels.
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
    /// Returns an evaluator with the default [`Limits`].
    pub fn new() -> Self {
        let (stack, slots) = (Vec::with_capacity(16), Slots::new());
        let (kept, limits) = (Location::undefined(), Limits::default());
        Self { stack, slots, kept, limits, all_places: false }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes the evaluator read an object in several places at all of them: it is an evaluation error if one cannot be
    /// read, or contains other bits than another one. The producer must ensure equal bits (A.2.5.3), so debuggers read
    /// the first place; a judge of a producer checks all.
    #[must_use]
    pub fn all_places(mut self) -> Self {
        self.all_places = true;
        self
    }

    /// Sets the limit of steps.
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

    /// Evaluates an expression as [`evaluate`](Self::evaluate) does, and calls `trace` after each operation.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate), after a call of `trace` for each operation before the failed one.
    pub fn traced(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
        trace: &mut dyn FnMut(Step<'_>),
    ) -> Result<Outcome, Fault> {
        self.run(machine, context, Some(trace), |run| run.whole(expr, context))
    }

    /// Evaluates an expression to a location, regardless of the context's kind.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn location(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let single = Single::of(expr, &context.encoding);
        if let Some(whole) = single.and_then(|single| self.single(single, machine, context)) {
            return Ok(whole.location());
        }
        let fast = self.fast(machine, context);
        let (found, mut progress) = self.fast_part(expr, &fast, context);
        if let Some(location) = found.and_then(|found| fast.location(found, &mut self.slots)) {
            return Ok(location);
        }
        self.go_on(machine, context, expr, &mut progress, |run| run.finish_location())
    }

    /// Returns the location of an expression of a single operation, where that needs no stack.
    #[inline(always)]
    fn single(&mut self, single: Single, machine: &dyn Machine, context: &Context<'_>) -> Option<Whole> {
        if !context.initial.is_empty() {
            return None;
        }
        match single {
            Single::Register(reg) => {
                let bits = context.target.whole_register_bits(reg)?;
                let has_room = self.limits.steps.min(self.limits.stack.into()) > 0;
                (context.frame == 0 && has_room).then_some(Whole::Register { reg, bits })
            }
            Single::FrameBase(by) => self.fast(machine, context).based_on_frame(&mut self.slots, by),
        }
    }

    /// Evaluates as [`location`](Self::location) does, and keeps the result until the next call to reuse its memory: a
    /// composite of a few pieces does not allocate either.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn locate(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<&Location, Fault> {
        let single = Single::of(expr, &context.encoding);
        if let Some(whole) = single.and_then(|single| self.single(single, machine, context)) {
            return Ok(self.keep_whole(whole));
        }
        let fast = self.fast(machine, context);
        let (found, mut progress) = self.fast_part(expr, &fast, context);
        if found.and_then(|found| fast.locate(found, &mut self.slots, &mut self.kept)).is_some() {
            return Ok(&self.kept);
        }
        let location = self.go_on(machine, context, expr, &mut progress, |run| run.finish_location())?;
        Ok(self.keep(location))
    }

    #[inline(always)]
    fn keep(&mut self, location: Location) -> &Location {
        self.slots.forget_kept();
        self.kept = location;
        &self.kept
    }

    /// Keeps a location, which is constructed in its place: copying one is slower.
    #[inline(always)]
    fn keep_whole(&mut self, whole: Whole) -> &Location {
        self.slots.forget_kept();
        match whole {
            Whole::Register { reg, bits } => self.kept.replace(|| Location::register(reg, bits)),
            Whole::Memory { address_bits, address } => {
                self.kept.replace(|| Location::memory(SpaceId::DEFAULT, address_bits, address));
            }
        }
        &self.kept
    }

    /// Evaluates an expression to a value, regardless of the context's kind.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn value(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        let fast = self.fast(machine, context);
        let (found, mut progress) = self.fast_part(expr, &fast, context);
        if let Some(value) = found.and_then(|found| fast.value(found)) {
            return Ok(value);
        }
        self.go_on(machine, context, expr, &mut progress, |run| run.finish_value())
    }

    /// Evaluates a location list at the machine's program location (A.2.5.5): the places of all bounded entries that
    /// contain it; without such entries, of the default entries; without either, the undefined location. Each entry is
    /// evaluated with an empty stack and without an object.
    ///
    /// # Errors
    /// An evaluation error if there is no program location; any fault of an expression of a selected entry.
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

    /// Evaluates as [`list`](Self::list) does, and calls `trace` after each operation.
    ///
    /// # Errors
    /// The errors of [`list`](Self::list).
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

    /// Returns the fast evaluator of common operations.
    #[inline(always)]
    fn fast<'f>(&self, machine: &'f dyn Machine, context: &'f Context<'_>) -> Fast<'f> {
        Fast {
            machine,
            target: context.target,
            encoding: &context.encoding,
            mask: fast::mask(&context.encoding),
            frame: context.frame,
            place: context.place,
            is_frame_base: false,
            asks_lane: true,
            depth: self.limits.depth,
            max_steps: self.limits.steps,
            room: self.limits.stack as usize,
            pieces: self.limits.parts as usize,
        }
    }

    /// Executes the operations that the fast evaluator supports. Returns the result, if the expression is done.
    #[inline(always)]
    fn fast_part(
        &mut self,
        expr: &[u8],
        fast: &Fast<'_>,
        context: &Context<'_>,
    ) -> (Option<Found>, Progress) {
        self.slots.clear();
        let mut progress = Progress::after(0, None);
        if !context.initial.is_empty() {
            return (None, progress);
        }
        let (_, found) = fast.run(Bytes::new(expr, fast.encoding, 0), &mut self.slots, &mut progress);
        (found, progress)
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

    /// Continues an expression where the fast evaluator stopped.
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
