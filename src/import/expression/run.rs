//! The run of the operations: the symbolic stack, branches, and the expressions that an operation refers to.

use std::collections::BTreeMap;

use super::context::{Context, EntryOffset, InitialStack, References, Result};
use super::numbers::Number;
use super::terms::{TermId, Terms, fault};
use super::untyped::{Unresolved, Untyped, UntypedReason};
use crate::eval::BaseType;
use crate::model::Node;
use crate::op::{Decoded, Decoder, Dialect, Op, Reg};

/// A symbolic stack element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Element {
    Number(Number),
    /// A location.
    Place(TermId),
    /// A composite to which pieces can be added: locations with their sizes in bits.
    Composite(Vec<(TermId, u64)>),
    /// A register's location on entry to the function, which has no node: only its contents have.
    Entry(Reg),
}

/// Conditions under which operations are executed: each a number, and whether it is 0.
type Path = Vec<(TermId, bool)>;

/// What an earlier branch left for its target.
struct Arrival {
    path: Path,
    stack: Vec<Element>,
}

/// Maximum number of operations, including those of called expressions.
const MAX_STEPS: u32 = 1 << 16;

/// Maximum depth of called expressions.
const MAX_CALLS: u32 = 16;

/// Maximum number of stack elements.
const MAX_STACK: usize = 1024;

/// Maximum number of conditional branches, each of which copies the stack.
const MAX_BRANCHES: usize = 64;

/// A symbolic run.
pub(super) struct Run<'a, 'r> {
    pub(super) context: Context<'a>,
    pub(super) references: &'r mut dyn References<'a>,
    pub(super) terms: Terms<'a>,
    pub(super) stack: Vec<Element>,
    /// Locations that called procedures computed, by the terms of the calls.
    pub(super) called: BTreeMap<TermId, TermId>,
    /// Number of elements below the current expression.
    floor: usize,
    /// Lowest stack height since the last call began.
    lowest: usize,
    depth: u32,
    steps: u32,
    branches: usize,
    pub(super) is_frame_base: bool,
}

impl<'a, 'r> Run<'a, 'r> {
    pub(super) fn new(context: Context<'a>, references: &'r mut dyn References<'a>) -> Self {
        Self {
            context,
            references,
            terms: Terms::new(context.target),
            stack: Vec::new(),
            called: BTreeMap::new(),
            floor: 0,
            lowest: 0,
            depth: 0,
            steps: 0,
            branches: 0,
            is_frame_base: false,
        }
    }

    pub(super) fn into_terms(self) -> (Terms<'a>, BTreeMap<TermId, TermId>) {
        (self.terms, self.called)
    }

    /// Runs a whole expression to a location.
    pub(super) fn location(&mut self, expr: &'a [u8]) -> Result<TermId> {
        self.whole(expr)?;
        let place = match self.stack.pop() {
            None => self.terms.node(Node::Undefined, &[])?,
            Some(top) => self.finished_place(top)?,
        };
        self.all_used(place)?;
        Ok(place)
    }

    /// Runs a whole expression to a number plus a constant, without the bits that the number's type lacks.
    pub(super) fn sum(&mut self, expr: &'a [u8], by: i64) -> Result<TermId> {
        self.whole(expr)?;
        let number = self.pop_number()?;
        super::numbers::small(number.ty)?;
        let sum = self.terms.plus(number.term, by)?;
        let term = self.terms.reduced(sum, number.ty.bits)?;
        self.all_used(term)?;
        Ok(term)
    }

    fn whole(&mut self, expr: &'a [u8]) -> Result<()> {
        if self.context.encoding.dialect == Dialect::Dwarf6 {
            // Composites, undefined storage and the canonical frame address have other rules there.
            return Err(UntypedReason::Operation.into());
        }
        if self.context.encoding.address_bytes != self.context.target.address_bytes() {
            return Err(UntypedReason::Type("addresses of another size than the target's").into());
        }
        if self.context.initial == InitialStack::Cfa {
            self.push_cfa()?;
        }
        self.expression(expr)
    }

    /// Refuses a result without an operation that can fail.
    fn all_used(&mut self, root: TermId) -> Result<()> {
        // Parts of a composite below the result can be larger than their storage.
        while let Some(element) = self.stack.pop() {
            self.discard(element)?;
        }
        let mut roots = vec![root];
        // A frame without a canonical frame address has no rules: an expression needs the address that it begins with,
        // whether it uses it or not.
        if self.context.initial == InitialStack::Cfa {
            self.push_cfa()?;
            if let Some(cfa) = self.stack.pop() {
                roots.push(self.finished_place(cfa)?);
            }
        }
        let called = |id: TermId| self.called.get(&id).copied();
        match self.terms.unused(&roots, called) {
            None => Ok(()),
            Some(_) => Err(UntypedReason::Unused.into()),
        }
    }

    /// Makes the terms of an element that is not used.
    fn discard(&mut self, element: Element) -> Result<()> {
        match element {
            Element::Composite(_) => self.finished_place(element).map(drop),
            _ => Ok(()),
        }
    }

    /// Runs an expression's operations on the current stack.
    pub(super) fn expression(&mut self, expr: &'a [u8]) -> Result<()> {
        let mut arrivals: BTreeMap<usize, Vec<Arrival>> = BTreeMap::new();
        // `None` while the operations are unreachable.
        let mut path: Option<Path> = Some(Path::new());
        let mut decoder = Decoder::new(expr, self.context.encoding);
        loop {
            let offset = decoder.offset();
            if let Some(entry) = arrivals.first_entry()
                && *entry.key() <= offset
            {
                let (target, arrived) = entry.remove_entry();
                if target < offset {
                    return Err(UntypedReason::Branch("branch target is inside an operation").into());
                }
                path = Some(self.merge(path, arrived)?);
            }
            let Some(decoded) = decoder.next() else { break };
            let decoded =
                decoded.map_err(|_| Untyped { offset: Some(offset), ..UntypedReason::Undecodable.into() })?;
            let Some(conditions) = path.take() else { continue };
            let site = Site { expr, offset, end: decoder.offset() };
            let is_certain = conditions.is_empty();
            let after = self.executed(&decoded, site, conditions, &mut arrivals);
            // An operation that is not always executed does not always fail.
            let after = after.map_err(|untyped| {
                if untyped.reason.is_meaningless() && !is_certain {
                    UntypedReason::Branch("an operation after a condition fails").into()
                } else {
                    untyped
                }
            });
            path = after.map_err(|untyped| Untyped {
                offset: untyped.offset.or(Some(offset)),
                operation: untyped.operation.or(Some(decoded.op.row().text)),
                ..untyped
            })?;
        }
        match path {
            Some(path) if path.is_empty() && arrivals.is_empty() => Ok(()),
            _ => Err(UntypedReason::Branch("the branches do not end at the same operation").into()),
        }
    }

    /// Executes an operation. Returns the conditions of the next operation; `None` if it is unreachable from here.
    fn executed(
        &mut self,
        decoded: &Decoded<'a>,
        site: Site<'_>,
        mut conditions: Path,
        arrivals: &mut BTreeMap<usize, Vec<Arrival>>,
    ) -> Result<Option<Path>> {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.stack.len() > MAX_STACK {
            return Err(UntypedReason::TooLarge.into());
        }
        match decoded.op {
            Op::Skip { distance } => self.branch(site, distance, conditions, arrivals).map(|()| None),
            Op::Bra { distance } => match self.condition()? {
                Condition::Known(false) => Ok(Some(conditions)),
                Condition::Known(true) => self.branch(site, distance, conditions, arrivals).map(|()| None),
                Condition::Number(number) => {
                    let mut taken = conditions.clone();
                    taken.push((number, true));
                    conditions.push((number, false));
                    self.branch(site, distance, taken, arrivals)?;
                    Ok(Some(conditions))
                }
            },
            ref op => {
                let known = self.terms.len();
                self.operation(op, site.offset, decoded.spelling)?;
                let mut new = known..self.terms.len();
                if !conditions.is_empty() && new.any(|id| self.terms.can_fail(id)) {
                    // The operation is not executed in the other case, and a choice computes both numbers.
                    return Err(UntypedReason::Branch("an operation after a condition can fail").into());
                }
                Ok(Some(conditions))
            }
        }
    }

    // Branches.

    /// Copies the elements of the current expression.
    fn copied(&self) -> Vec<Element> {
        self.stack.get(self.floor..).unwrap_or_default().to_vec()
    }

    /// Stores what arrives at a branch's target.
    fn branch(
        &mut self,
        Site { expr, end, .. }: Site<'_>,
        distance: i16,
        path: Path,
        arrivals: &mut BTreeMap<usize, Vec<Arrival>>,
    ) -> Result<()> {
        self.branches += 1;
        let target = end.checked_add_signed(distance.into()).filter(|&target| target <= expr.len());
        let Some(target) = target else {
            let outside = "branch target is outside the expression";
            // Only a branch that is always taken always fails.
            return Err(if path.is_empty() { fault(outside) } else { UntypedReason::Branch(outside).into() });
        };
        if target < end {
            return Err(UntypedReason::Branch("a loop").into());
        }
        if self.branches > MAX_BRANCHES {
            return Err(UntypedReason::TooLarge.into());
        }
        arrivals.entry(target).or_default().push(Arrival { path, stack: self.copied() });
        Ok(())
    }

    /// Pops the condition of a branch.
    fn condition(&mut self) -> Result<Condition> {
        let number = self.pop_number()?;
        let (_, bits) = super::numbers::integer(number.ty)?;
        let term = self.terms.reduced(number.term, bits)?;
        Ok(match self.terms.constant(term) {
            Some(value) => Condition::Known(value != 0),
            None => Condition::Number(term),
        })
    }

    /// Joins the stacks that arrive at an operation, and makes the joint stack the current one. Returns its path.
    fn merge(&mut self, path: Option<Path>, arrived: Vec<Arrival>) -> Result<Path> {
        let current = path.map(|path| Arrival { path, stack: self.copied() });
        let mut all: Vec<Arrival> = arrived.into_iter().chain(current).collect();
        // The deepest path first: its condition is the last that was decided.
        all.sort_by_key(|arrival| core::cmp::Reverse(arrival.path.len()));
        let mut all = all.into_iter();
        let Some(mut joint) = all.next() else { return Ok(Path::new()) };
        for other in all {
            joint = self.join(joint, other)?;
        }
        self.stack.truncate(self.floor);
        self.stack.append(&mut joint.stack);
        Ok(joint.path)
    }

    /// Joins two stacks whose paths differ in the last condition.
    fn join(&mut self, a: Arrival, b: Arrival) -> Result<Arrival> {
        let differ = UntypedReason::Branch("branches cross");
        let (Some((&(condition, is_nonzero), before)), Some((&last, same))) =
            (a.path.split_last(), b.path.split_last())
        else {
            return Err(differ.into());
        };
        if before != same || last != (condition, !is_nonzero) {
            return Err(differ.into());
        }
        if a.stack.len() != b.stack.len() {
            return Err(UntypedReason::Branch("the stacks of two branches have different heights").into());
        }
        let (nonzero, zero) = if is_nonzero { (a.stack, b.stack) } else { (b.stack, a.stack) };
        let pairs = nonzero.into_iter().zip(zero);
        let stack =
            pairs.map(|(nonzero, zero)| self.joined(condition, nonzero, zero)).collect::<Result<_>>()?;
        Ok(Arrival { path: before.to_vec(), stack })
    }

    fn joined(&mut self, condition: TermId, nonzero: Element, zero: Element) -> Result<Element> {
        if nonzero == zero {
            return Ok(zero);
        }
        let is_place = matches!((&nonzero, &zero), (Element::Place(_), Element::Place(_)));
        let no_numbers = || UntypedReason::Branch("two branches compute different locations").into();
        let (Ok(nonzero), Ok(zero)) = (self.number_of(nonzero), self.number_of(zero)) else {
            return Err(no_numbers());
        };
        if nonzero.ty != zero.ty {
            return Err(UntypedReason::Branch("two branches compute numbers of different types").into());
        }
        let number = Number { term: self.terms.choice(condition, nonzero.term, zero.term)?, ty: zero.ty };
        if is_place {
            return Ok(Element::Place(self.place_of(Element::Number(number))?));
        }
        Ok(Element::Number(number))
    }

    // Expressions that an operation refers to.

    /// Runs a called entry's expression on the current stack.
    pub(super) fn call(&mut self, entry: EntryOffset) -> Result<()> {
        let (EntryOffset::Unit(offset) | EntryOffset::Section(offset)) = entry;
        let unknown = || UntypedReason::Unresolved(Unresolved::Procedure(offset));
        let procedure = self.references.procedure(entry).ok_or_else(unknown)?;
        let height = self.stack.len();
        let lowest = core::mem::replace(&mut self.lowest, height);
        self.nested(|run| run.expression(procedure.expr))?;
        let is_pure = self.lowest >= height && self.stack.len() == height + 1;
        self.lowest = self.lowest.min(lowest);
        if let (true, Some(id), Some(&Element::Place(place))) = (is_pure, procedure.id, self.stack.last()) {
            let call = self.terms.node(Node::Call(id), &[])?;
            self.called.insert(call, place);
            self.stack.pop();
            self.push(Element::Place(call));
        }
        Ok(())
    }

    /// Runs the frame base's expression on a separate stack. Returns its result.
    pub(super) fn frame_base(&mut self) -> Result<Element> {
        let unknown = UntypedReason::Unresolved(Unresolved::FrameBase);
        if self.is_frame_base {
            return Err(fault("a frame base cannot refer to the frame base"));
        }
        let expr = self.context.frame_base.ok_or(unknown.clone())?;
        let floor = core::mem::replace(&mut self.floor, self.stack.len());
        self.is_frame_base = true;
        self.nested(|run| run.expression(expr))?;
        self.is_frame_base = false;
        let base = if self.stack.len() > self.floor { self.stack.pop() } else { None };
        for element in self.stack.split_off(self.floor) {
            self.discard(element)?;
        }
        self.floor = floor;
        base.ok_or(unknown.into())
    }

    fn nested(&mut self, run: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.depth == MAX_CALLS {
            return Err(UntypedReason::TooLarge.into());
        }
        self.depth += 1;
        // The operation that the caller knows is the one that refers to the expression.
        let done = run(self).map_err(|untyped| untyped.reason.into());
        self.depth -= 1;
        done
    }

    // The stack.

    pub(super) fn push(&mut self, element: Element) {
        self.stack.push(element);
    }

    pub(super) fn push_number(&mut self, term: TermId, ty: BaseType) {
        self.push(Element::Number(Number { term, ty }));
    }

    pub(super) fn pop(&mut self) -> Result<Element> {
        if self.stack.len() <= self.floor {
            return Err(UntypedReason::Underflow.into());
        }
        self.lowest = self.lowest.min(self.stack.len() - 1);
        self.stack.pop().ok_or_else(|| UntypedReason::Underflow.into())
    }

    /// Returns the element `index` below the top.
    pub(super) fn peek(&self, index: usize) -> Option<&Element> {
        let elements = self.stack.get(self.floor..).unwrap_or_default();
        elements.len().checked_sub(index + 1).and_then(|position| elements.get(position))
    }

    /// Pushes a copy of the element `index` below the top.
    pub(super) fn pick(&mut self, index: usize) -> Result<()> {
        let picked = self.peek(index).cloned();
        let picked = picked.ok_or(UntypedReason::Underflow)?;
        complete(&picked)?;
        self.lowest = self.lowest.min(self.stack.len() - index - 1);
        self.push(picked);
        Ok(())
    }

    /// Moves the top element below the next `count - 1`.
    pub(super) fn rotate(&mut self, count: usize) -> Result<()> {
        if self.peek(count - 1).is_none() {
            return Err(UntypedReason::Underflow.into());
        }
        let start = self.stack.len() - count;
        self.lowest = self.lowest.min(start);
        self.stack[start..].iter().try_for_each(complete)?;
        self.stack[start..].rotate_right(1);
        Ok(())
    }
}

/// An operation's expression, and its first byte and the next operation's there.
#[derive(Clone, Copy)]
struct Site<'e> {
    expr: &'e [u8],
    offset: usize,
    end: usize,
}

/// A branch's condition.
enum Condition {
    Known(bool),
    Number(TermId),
}

/// Refuses a composite under construction.
pub(super) fn complete(element: &Element) -> Result<()> {
    match element {
        Element::Composite(_) => Err(fault("an incomplete composite is used as a location")),
        _ => Ok(()),
    }
}
