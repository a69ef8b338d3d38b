//! One evaluation: the stack, and the loop over operations.

use super::architecture::Architecture;
use super::context::{Context, CurrentObject, ExpressionSite, ResultKind};
use super::decoding::truncated;
use super::fast::{self, Bytes, Fast, Progress, Slots};
use super::fault::{Fault, error, ill_formed, limit};
use super::integer::signed_like_generic;
use super::limits::Limits;
use super::location::{Location, memory_bits};
use super::machine::Machine;
use super::scope::Scope;
use super::stack::{Element, Outcome, complete, integral};
use super::value::{BaseType, Value};
use super::wide::constant;
use crate::error::Count;
use crate::op::{Decoder, Dialect, Encoding, Op, Reg};
use crate::target::SpaceId;

/// How to continue after an operation.
pub(super) enum Next {
    /// The next operation.
    On,
    /// A branch by a number of bytes from the next operation.
    Branch(i16),
}

/// An executed operation, for [`Evaluator::traced`](super::Evaluator::traced).
#[derive(Debug)]
#[non_exhaustive]
pub struct Step<'a> {
    /// Call depth, 0 in the outermost expression. Expressions that an operation refers to (a frame base, or an entry
    /// that is called or pointed to) count as calls.
    pub depth: u32,
    /// The operation's offset in bytes from its expression's start.
    pub offset: usize,
    /// The operation.
    pub op: Op<'a>,
    /// The stack after the operation, bottom first.
    pub stack: &'a [Element],
}

/// One evaluation's state.
///
/// `scope` contains the context's part that differs in nested expressions.
pub(super) struct Run<'r, 't> {
    pub stack: &'r mut Vec<Element>,
    pub slots: &'r mut Slots,
    pub machine: &'r dyn Machine,
    pub target: &'r dyn Architecture,
    pub limits: Limits,
    /// Requires all single locations that an object has to contain the same bits when it is read.
    pub all_places: bool,
    pub place: ExpressionSite,
    pub scope: Scope,
    pub object: CurrentObject<'r>,
    /// The last operation's register, if it was `DW_OP_reg*`.
    pub last_register: Option<Reg>,
    pub steps: u64,
    trace: Option<&'t mut dyn FnMut(Step<'_>)>,
}

impl<'r, 't> Run<'r, 't> {
    pub fn new(
        stack: &'r mut Vec<Element>,
        slots: &'r mut Slots,
        limits: Limits,
        machine: &'r dyn Machine,
        context: &Context<'r>,
        trace: Option<&'t mut dyn FnMut(Step<'_>)>,
    ) -> Self {
        let scope = Scope::outermost(context);
        let target = context.target;
        let place = context.place;
        let object = context.object;
        let last_register = None;
        let steps = 0;
        let all_places = false;
        Self {
            stack,
            slots,
            machine,
            target,
            limits,
            all_places,
            place,
            scope,
            object,
            last_register,
            steps,
            trace,
        }
    }

    /// Evaluates an expression from the initial stack to a result with the context's kind.
    pub fn whole(&mut self, expr: &[u8], context: &Context<'_>) -> Result<Outcome, Fault> {
        self.start(context.initial);
        self.expression(expr)?;
        self.finish(context.kind)
    }

    pub fn start(&mut self, initial: &[Element]) {
        self.stack.extend_from_slice(initial);
    }

    /// Executes an expression's operations on the current stack.
    pub fn expression(&mut self, expr: &[u8]) -> Result<(), Fault> {
        let mut progress = Progress::after(self.steps, self.last_register);
        self.rest(expr, &mut progress)
    }

    /// Executes an expression's remaining operations, after the fast evaluator's.
    pub fn rest(&mut self, expr: &[u8], progress: &mut Progress) -> Result<(), Fault> {
        (self.steps, self.last_register) = (progress.steps, progress.register);
        // Elements that the fast evaluator left must be on the stack before anything else runs.
        self.fetch();
        let encoding = self.scope.encoding;
        let mut decoder = Decoder::new(expr, encoding);
        loop {
            // A trace needs each operation's stack.
            if self.trace.is_none() && self.fast_part(expr, progress, true) {
                return Ok(());
            }
            let offset = progress.at;
            let Some(op) = self.decode(expr, &mut decoder, progress)? else { return Ok(()) };
            self.carry_out(expr, offset, &op, progress)?;
            if let Some(trace) = &mut self.trace {
                let stack = &self.stack[self.scope.floor..];
                trace(Step { depth: self.scope.depth, offset, op, stack });
            }
        }
    }

    /// Decodes the next operation, if any, and advances the progress to its end.
    #[inline]
    pub fn decode<'e>(
        &self,
        expr: &[u8],
        decoder: &mut Decoder<'e>,
        progress: &mut Progress,
    ) -> Result<Option<Op<'e>>, Fault> {
        decoder.seek(progress.at);
        let Some(decoded) = decoder.next() else { return Ok(None) };
        let op = match decoded {
            Ok(decoded) => decoded.op,
            Err(error) => {
                let (op, end) = self.truncated(expr, progress.at).ok_or_else(|| {
                    let fault = ill_formed(error.kind().to_string());
                    fault.or_at(expr, progress.at, self.scope.encoding, self.scope.entry)
                })?;
                decoder.seek(end);
                op
            }
        };
        progress.at = decoder.offset();
        Ok(Some(op))
    }

    /// Executes an operation at an offset in an expression.
    #[inline]
    pub fn carry_out(
        &mut self,
        expr: &[u8],
        offset: usize,
        op: &Op<'_>,
        progress: &mut Progress,
    ) -> Result<(), Fault> {
        let Scope { encoding, entry, .. } = self.scope;
        let place = |fault: Fault| fault.or_at(expr, offset, encoding, entry);
        self.charge(1).map_err(place)?;
        let next = match op {
            Op::PlusUconst { .. } if self.is_top_wide() => {
                self.plus_uconst(|ty| constant(&expr[offset..], ty)).map(|()| Next::On)
            }
            _ => self.operation(op),
        };
        if let Next::Branch(by) = next.map_err(place)? {
            let target = progress.branches.target(expr, &encoding, progress.at, by);
            let (to, steps) = target.map_err(place)?;
            // The search for the target is work, too.
            self.charge(steps).map_err(place)?;
            progress.at = to;
        }
        // Checked after the operation: at most one operation's elements exceed the limit.
        if self.stack.len() > self.limits.stack as usize {
            return Err(place(limit(format!(
                "the stack has more than {}",
                Count(self.limits.stack, "element")
            ))));
        }
        self.last_register = match *op {
            Op::RegX { reg } => Some(reg),
            // The called expression may have ended with a register.
            Op::Call2 { .. } | Op::Call4 { .. } | Op::CallRef { .. } => self.last_register,
            _ => None,
        };
        Ok(())
    }

    /// Executes the operations that the fast evaluator supports. Returns whether the expression is done. `asks_lane` is
    /// whether it may ask the machine for the lane.
    pub fn fast_part(&mut self, expr: &[u8], progress: &mut Progress, asks_lane: bool) -> bool {
        (progress.steps, progress.register) = (self.steps, self.last_register);
        let encoding = self.scope.encoding;
        let fast = Fast { asks_lane, ..self.fast(&encoding) };
        let (is_done, _) = fast.run(Bytes::new(expr, &encoding, progress.at), self.slots, progress);
        (self.steps, self.last_register) = (progress.steps, progress.register);
        self.fetch();
        is_done
    }

    fn fast<'f>(&self, encoding: &'f Encoding) -> Fast<'f>
    where
        'r: 'f,
    {
        Fast {
            machine: self.machine,
            target: self.target,
            encoding,
            mask: fast::mask(encoding),
            frame: self.scope.frame,
            place: self.place,
            is_frame_base: self.scope.is_frame_base,
            asks_lane: true,
            depth: self.limits.depth.saturating_sub(self.scope.depth),
            max_steps: self.limits.steps,
            room: (self.limits.stack as usize).saturating_sub(self.stack.len()),
            pieces: if self.peek(0).is_none() { self.limits.parts as usize } else { 0 },
        }
    }

    /// Moves the fast evaluator's elements to the stack.
    fn fetch(&mut self) {
        if self.slots.is_empty() {
            return;
        }
        let encoding = self.scope.encoding;
        let fast = self.fast(&encoding);
        self.stack.extend(fast.elements(self.slots));
        self.slots.clear();
    }

    /// Decodes an operation whose constant exceeds the 64 bits that an [`Op`] has. A generic-type value does not need
    /// the upper bits; for other types see [`carry_out`](Self::carry_out).
    fn truncated(&self, expr: &[u8], offset: usize) -> Option<(Op<'static>, usize)> {
        truncated(expr, offset).filter(|(op, _)| match op {
            Op::PlusUconst { .. } => true,
            _ => self.scope.encoding.address_bytes <= 8,
        })
    }

    /// Whether the top element is a value with more than 64 bits.
    fn is_top_wide(&self) -> bool {
        matches!(self.peek(0), Some(Element::Value(value)) if value.ty().size() > 64)
    }

    /// Counts steps against the limit.
    pub fn charge(&mut self, steps: u64) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps <= self.limits.steps {
            Ok(())
        } else {
            Err(limit(format!("the evaluation exceeds {}", Count(self.limits.steps, "step"))))
        }
    }

    // The stack.

    pub fn push(&mut self, element: impl Into<Element>) {
        self.stack.push(element.into());
    }

    pub fn pop(&mut self) -> Result<Element, Fault> {
        if self.stack.len() > self.scope.floor {
            self.stack.pop().ok_or_else(underflow)
        } else {
            Err(underflow())
        }
    }

    /// Returns the element `index` below the top.
    pub fn peek(&self, index: usize) -> Option<&Element> {
        let above_floor = &self.stack[self.scope.floor..];
        above_floor.len().checked_sub(index + 1).map(|position| &above_floor[position])
    }

    pub fn pop_value(&mut self) -> Result<Value, Fault> {
        self.pop()?.into_value(self.scope.encoding.address_bytes)
    }

    pub fn pop_integral(&mut self) -> Result<(Value, u128), Fault> {
        let value = self.pop_value()?;
        let number = integral(&value)?;
        Ok((value, number))
    }

    /// Pops an integral number that may be negative. The generic type, without signedness, is taken as signed.
    pub fn pop_signed(&mut self) -> Result<i128, Fault> {
        let (value, number) = self.pop_number()?;
        number.ok_or_else(|| error(format!("the number is too large: {value}")))
    }

    /// Pops an integral value, with its number if that has at most 128 bits with its sign.
    pub fn pop_number(&mut self) -> Result<(Value, Option<i128>), Fault> {
        let value = self.pop_value()?;
        integral(&value)?;
        let number = if signed_like_generic(value.ty()) {
            value.as_i128()
        } else {
            value.as_u128().and_then(|number| number.try_into().ok())
        };
        Ok((value, number))
    }

    pub fn pop_location(&mut self) -> Result<Location, Fault> {
        let element = self.pop()?;
        self.location_of(element)
    }

    /// Converts an element to a location: a generic-type value is an address in the default space, and an implicit
    /// pointer value into that space becomes its pointee (A.2.5.4.4.3).
    pub fn location_of(&mut self, element: Element) -> Result<Location, Fault> {
        let value = match element {
            Element::Location(location) => {
                complete(&location)?;
                return Ok(location);
            }
            Element::Value(value) => value,
        };
        if let Some(pointer) = value.as_pointer() {
            if pointer.space != SpaceId::DEFAULT {
                return Err(super::stack::pointer_misused());
            }
            return self.pointee(pointer);
        }
        if !value.ty().is_generic() {
            return Err(ill_formed(format!(
                "only a value of the generic type converts to a location (A.2.5.4.4.3): {value}"
            )));
        }
        self.memory(0, value.as_u128().unwrap_or(0))
    }

    pub fn generic(&self, bits: u64) -> Value {
        Value::generic(bits, self.scope.encoding.address_bytes)
    }

    pub fn generic_type(&self) -> BaseType {
        BaseType::generic(self.scope.encoding.address_bytes)
    }

    pub fn is_draft(&self) -> bool {
        self.scope.encoding.dialect == Dialect::Dwarf6
    }

    /// Returns a composite's maximum size in bits.
    pub fn largest_storage(&self) -> u128 {
        memory_bits(self.target.largest_address_bits())
    }

    // Results.

    pub fn finish(&mut self, kind: ResultKind) -> Result<Outcome, Fault> {
        match kind {
            ResultKind::Location => Ok(Element::Location(self.finish_location()?)),
            ResultKind::Value => Ok(Element::Value(self.finish_value()?)),
            ResultKind::Any => self.finish_any(),
        }
    }

    fn finish_any(&mut self) -> Result<Outcome, Fault> {
        if self.peek(0).is_none() {
            return Ok(Element::Location(Location::undefined()));
        }
        let mut top = self.pop()?;
        if let Element::Location(location) = &mut top
            && let Some(composite) = location.incomplete()
        {
            composite.complete();
        }
        Ok(top)
    }

    pub fn finish_location(&mut self) -> Result<Location, Fault> {
        let top = self.finish_any()?;
        self.location_of(top)
    }

    pub fn finish_value(&mut self) -> Result<Value, Fault> {
        if self.peek(0).is_none() {
            return Err(ill_formed("the stack is empty; expected a value (A.2.5.4)"));
        }
        self.finish_any()?.into_value(self.scope.encoding.address_bytes)
    }
}

impl From<Value> for Element {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<Location> for Element {
    fn from(location: Location) -> Self {
        Self::Location(location)
    }
}

fn underflow() -> Fault {
    ill_formed("the stack has too few elements (A.2.5.4)")
}
