//! The evaluator: expressions and location lists to locations and values.

use super::context::{Context, ResultKind};
use super::fast::{self, Bytes, Fast, Found, Progress, Single, Slots, Whole};
use super::fault::Fault;
use super::limits::Limits;
use super::lists::{self, LocationListEntry};
use super::location::Location;
use super::machine::Machine;
use super::run::{Run, Step};
use super::stack::{Element, Outcome};
use super::value::Value;
use crate::target::SpaceId;

/// Evaluates one expression after another with the same stack. Finding a location without composites does not allocate.
///
/// | task | methods |
/// |---|---|
/// | where a variable is | [`variable_location`](Self::variable_location) |
/// | an expression's result | [`location`](Self::location), [`locate`](Self::locate), [`value`](Self::value), [`evaluate`](Self::evaluate) |
/// | a location list | [`list`](Self::list) |
/// | other attributes | [the table of attributes](super::attributes) |
/// | rules in call frame information | [`CallStack`](super::CallStack); each alone: [`cfa_expression`](Self::cfa_expression), [`expression_rule`](Self::expression_rule), [`val_expression_rule`](Self::val_expression_rule) |
/// | all lanes of a wave | [`wave`](Self::wave), [`wave_body`](Self::wave_body), [`lane_pcs`](Self::lane_pcs), [`active_lanes`](Self::active_lanes) |
/// | step by step | [`traced`](Self::traced), [`list_traced`](Self::list_traced) |
/// | limits and strictness | [`with_limits`](Self::with_limits), [`step_limit`](Self::step_limit), [`all_places`](Self::all_places) |
#[derive(Debug)]
pub struct Evaluator {
    pub(super) stack: Vec<Element>,
    pub(super) slots: Slots,
    /// Result of the last [`locate`](Self::locate).
    pub(super) kept: Location,
    pub(super) limits: Limits,
    pub(super) all_places: bool,
}

impl Default for Evaluator {
    fn default() -> Self {
        Self::new()
    }
}

impl Evaluator {
    /// Returns an evaluator with the default [`Limits`].
    pub fn new() -> Self {
        let stack = Vec::with_capacity(16);
        let slots = Slots::new();
        let kept = Location::undefined();
        let limits = Limits::default();
        Self { stack, slots, kept, limits, all_places: false }
    }

    /// Sets the limits.
    ///
    /// ```
    /// # use eitri_dwarf::eval::{Context, Evaluator, Limits, Snapshot};
    /// # use eitri_dwarf::op::{Dialect, Encoding};
    /// # use eitri_dwarf::target::Target;
    /// // DW_OP_skip -3 jumps to itself. A debugger that evaluates untrusted files bounds the time.
    /// let mut limits = Limits::new();
    /// limits.steps = 1000;
    /// let (machine, target) = (Snapshot::default(), Target::x86_64());
    /// let context = Context::new(Encoding::new(8, Dialect::Dwarf5), &target);
    /// let mut evaluator = Evaluator::new().with_limits(limits);
    /// let fault = evaluator.value(&[0x2f, 0xfd, 0xff], &machine, &context).unwrap_err();
    /// assert!(fault.is_limit);
    /// ```
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes the evaluator read an object with several locations at each location: it is an evaluation error if a
    /// location cannot be read, or contains different bits. The producer must ensure equal bits (A.2.5.3), so that
    /// debuggers read the first location, while a check of a producer reads all.
    #[must_use]
    pub fn all_places(mut self) -> Self {
        self.all_places = true;
        self
    }

    /// Sets the step limit.
    #[must_use]
    pub fn step_limit(mut self, steps: u64) -> Self {
        self.limits.steps = steps;
        self
    }

    /// Evaluates an expression.
    ///
    /// # Errors
    /// A [`Fault`] with the operation that caused it.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::eval::{Context, Element, Evaluator, ResultKind, Snapshot};
    /// # use eitri_dwarf::op::{Dialect, Encoding, text};
    /// # use eitri_dwarf::target::Target;
    /// # let target = Target::x86_64();
    /// # let encoding = Encoding::new(8, Dialect::Dwarf5);
    /// # let mut machine = Snapshot::default();
    /// # machine.registers.insert(target.register_named("rsp")?, 0x7000_u64.to_le_bytes().into());
    /// // rsp contains 0x7000. The kind decides what the bytes mean: memory at 0x7008, or a number.
    /// let expr = text::parse("breg rsp 8", encoding, Some(&target))?;
    /// let context = Context::new(encoding, &target);
    /// let mut evaluator = Evaluator::new();
    /// match evaluator.evaluate(expr.bytes(), &machine, &context)? {
    ///     Element::Location(location) => assert_eq!(location.to_string(), "mem:0:0x7008"),
    ///     Element::Value(_) => unreachable!("the context asks for a location"),
    /// }
    ///
    /// let context = context.with_kind(ResultKind::Value);
    /// let number = evaluator.evaluate(expr.bytes(), &machine, &context)?;
    /// assert!(matches!(number, Element::Value(_)));
    /// // Where the kind is known, other methods return the value or the location itself.
    /// assert_eq!(evaluator.value(expr.bytes(), &machine, &context)?.as_u64(), Some(0x7008));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn evaluate(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Outcome, Fault> {
        match context.kind {
            ResultKind::Location => self.location(expr, machine, context).map(Element::Location),
            ResultKind::Value => self.value(expr, machine, context).map(Element::Value),
            ResultKind::Any => self.run(machine, context, None, |run| run.whole(expr, context)),
        }
    }

    /// Evaluates an expression as [`evaluate`](Self::evaluate) does, and calls `trace` after each operation.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate), after a call of `trace` for each operation before the failed
    /// operation.
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
        let single = Single::parse(expr, &context.encoding);
        if let Some(whole) = single.and_then(|single| self.single(single, machine, context)) {
            return Ok(whole.location());
        }
        let fast = self.fast(machine, context);
        let (result, mut progress) = self.fast_part(expr, &fast, context);
        if let Some(location) = result.and_then(|result| fast.location(result, &mut self.slots)) {
            return Ok(location);
        }
        self.go_on(machine, context, expr, &mut progress, |run| run.finish_location())
    }

    /// Returns the location of an expression with a single operation, where that needs no stack.
    #[inline]
    fn single(&mut self, single: Single, machine: &dyn Machine, context: &Context<'_>) -> Option<Whole> {
        if !context.initial.is_empty() {
            return None;
        }
        match single {
            Single::Register(reg) => {
                let bits = context.target.whole_register_bits(reg)?;
                // Limits of zero must fail here as they do in `Run`.
                let has_room = self.limits.steps.min(self.limits.stack.into()) > 0;
                (context.frame == 0 && has_room).then_some(Whole::Register { reg, bits })
            }
            Single::FrameBase(by) => self.fast(machine, context).based_on_frame(&mut self.slots, by),
        }
    }

    /// Evaluates as [`location`](Self::location) does, and keeps the result until the next call to reuse its memory:
    /// a composite with a few pieces does not allocate either.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate).
    pub fn locate(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<&Location, Fault> {
        let single = Single::parse(expr, &context.encoding);
        if let Some(whole) = single.and_then(|single| self.single(single, machine, context)) {
            return Ok(self.keep_whole(whole));
        }
        let fast = self.fast(machine, context);
        let (result, mut progress) = self.fast_part(expr, &fast, context);
        if result.and_then(|result| fast.locate(result, &mut self.slots, &mut self.kept)).is_some() {
            return Ok(&self.kept);
        }
        let location = self.go_on(machine, context, expr, &mut progress, |run| run.finish_location())?;
        Ok(self.keep(location))
    }

    #[inline]
    fn keep(&mut self, location: Location) -> &Location {
        // The next composite must not reuse memory that this location owns.
        self.slots.forget_kept();
        self.kept = location;
        &self.kept
    }

    /// Keeps a location, which is constructed where it is kept because copying a location is slower.
    #[inline]
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
        let (result, mut progress) = self.fast_part(expr, &fast, context);
        if let Some(value) = result.and_then(|result| fast.value(result)) {
            return Ok(value);
        }
        self.go_on(machine, context, expr, &mut progress, |run| run.finish_value())
    }

    /// Evaluates a location list at the machine's program location (A.2.5.5): the union of all bounded entries that
    /// contain it; without such entries, of the default entries; without either, the undefined location. Each entry
    /// is evaluated with an empty stack and without an object.
    ///
    /// # Errors
    /// An evaluation error if there is no program location; any fault in a selected entry's expression.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::eval::{Context, Evaluator, LocationListEntry, Snapshot};
    /// # use eitri_dwarf::op::{Dialect, Encoding};
    /// # use eitri_dwarf::target::Target;
    /// # let target = Target::x86_64();
    /// // DW_OP_reg0 from 0x1000 up to 0x1010, DW_OP_reg3 from 0x1008 up to 0x1020. At 0x1008 the
    /// // variable is in both.
    /// let list = [
    ///     LocationListEntry { bounds: Some((0x1000, 0x1010)), expr: [0x50][..].into() },
    ///     LocationListEntry { bounds: Some((0x1008, 0x1020)), expr: [0x53][..].into() },
    /// ];
    /// let mut machine = Snapshot::default();
    /// machine.pc = Some(0x1008);
    /// let context = Context::new(Encoding::new(8, Dialect::Dwarf5), &target);
    /// let location = Evaluator::new().list(&list, &machine, &context)?;
    /// assert_eq!(location.in_names(&target).to_string(), "reg:rax | reg:rbx");
    /// # Ok::<(), eitri_dwarf::eval::Fault>(())
    /// ```
    pub fn list<'e, I>(
        &mut self,
        entries: I,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault>
    where
        I: IntoIterator<Item = &'e LocationListEntry<'e>>,
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
        I: IntoIterator<Item = &'e LocationListEntry<'e>>,
        I::IntoIter: Clone,
    {
        self.run(machine, context, Some(trace), |run| run.list(lists::bounded(entries.into_iter())))
    }

    /// Returns the fast evaluator, which executes common operations.
    #[inline]
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
    #[inline]
    fn fast_part(
        &mut self,
        expr: &[u8],
        fast: &Fast<'_>,
        context: &Context<'_>,
    ) -> (Option<Found>, Progress) {
        self.slots.clear();
        let mut progress = Progress::after(0, None);
        // The fast stack cannot represent arbitrary initial elements.
        if !context.initial.is_empty() {
            return (None, progress);
        }
        let (_, found) = fast.run(Bytes::new(expr, fast.encoding, 0), &mut self.slots, &mut progress);
        (found, progress)
    }

    pub(super) fn run<T>(
        &mut self,
        machine: &dyn Machine,
        context: &Context<'_>,
        trace: Option<&mut dyn FnMut(Step<'_>)>,
        then: impl FnOnce(&mut Run<'_, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.slots.clear();
        self.stack.clear();
        let stack = &mut self.stack;
        let slots = &mut self.slots;
        let mut run = Run::new(stack, slots, self.limits, machine, context, trace);
        run.all_places = self.all_places;
        let result = then(&mut run);
        self.stack.clear();
        result
    }

    /// Continues an expression where the fast evaluator stopped.
    fn go_on<T>(
        &mut self,
        machine: &dyn Machine,
        context: &Context<'_>,
        expr: &[u8],
        progress: &mut Progress,
        finish: impl FnOnce(&mut Run<'_, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.stack.clear();
        let stack = &mut self.stack;
        let slots = &mut self.slots;
        let mut run = Run::new(stack, slots, self.limits, machine, context, None);
        run.all_places = self.all_places;
        // The fast evaluator stops before an unsupported operation: its elements are fetched, then `Run` goes on.
        run.start(context.initial);
        let result = run.rest(expr, progress).and_then(|()| finish(&mut run));
        self.stack.clear();
        result
    }
}
