//! An interpreter of naga's tree: all items of a group side by side, without a compiler between.
//!
//! The interpreter notes for each item the statements that it runs, and what its variables have before each.

use std::cmp::Ordering;
use std::collections::HashMap;

use naga::{
    AtomicFunction, BinaryOperator as B, Binding, Block, BuiltIn, CollectiveOperation, Expression,
    GatherMode, Handle, Literal, LocalVariable, MathFunction as M, ScalarKind as K, Statement,
    SubgroupOperation, SwitchValue, TypeInner, UnaryOperator,
};

use crate::diverge::Typed;
use crate::front::Source;
use crate::layout;
use crate::lower::{root_path, statement_key};
use crate::memory::pointee;

/// A variable: the path of calls, and what it is there.
pub type Name = (u64, Which);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Which {
    Local(Handle<LocalVariable>),
    Let(Handle<Expression>),
    Argument(u32),
    Global(Handle<naga::GlobalVariable>),
}

/// A statement that an item runs, and the variables before it.
#[derive(Debug, Clone)]
pub struct Event {
    pub key: u64,
    /// Offset in the source, in bytes.
    pub at: u32,
    /// The dwords of variables, and the components of other values.
    pub values: Vec<(Name, Vec<u32>)>,
}

/// Components, each with one number for each item.
type Value = Vec<Vec<u32>>;
type Mask = Vec<bool>;

struct Frame<'m> {
    typed: Typed<'m>,
    arguments: Vec<Argument>,
    values: HashMap<Handle<Expression>, Value>,
    /// Dwords of each variable, each with one number for each item.
    locals: HashMap<Handle<LocalVariable>, Value>,
    result: Value,
    path: u64,
}

#[derive(Clone)]
enum Argument {
    Value(Value),
    Pointer(Pointer),
}

#[derive(Clone)]
struct Pointer {
    root: Root,
    /// Size in bytes.
    offset: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Root {
    Local(usize, Handle<LocalVariable>),
    Global(Handle<naga::GlobalVariable>),
}

#[derive(Clone)]
struct Flow {
    broke: Mask,
    continued: Mask,
    returned: Mask,
}

/// A group that runs.
pub struct Group<'m> {
    source: &'m Source,
    items: usize,
    group: [u32; 3],
    groups: [u32; 3],
    pub buffers: HashMap<Handle<naga::GlobalVariable>, Vec<u32>>,
    local: HashMap<Handle<naga::GlobalVariable>, Vec<u32>>,
    frames: Vec<Frame<'m>>,
    pub events: Vec<Vec<Event>>,
    /// The dwords of each variable in local memory when all items start, and at each barrier.
    pub barriers: Vec<HashMap<Handle<naga::GlobalVariable>, Vec<u32>>>,
    /// Statements that may still run.
    fuel: usize,
}

impl<'m> Group<'m> {
    pub fn new(
        source: &'m Source,
        buffers: HashMap<Handle<naga::GlobalVariable>, Vec<u32>>,
        group: [u32; 3],
        groups: [u32; 3],
    ) -> Self {
        let size = source.module.entry_points[0].workgroup_size;
        let items = size.iter().product::<u32>() as usize;
        let mut local = HashMap::new();
        for (handle, variable) in source.module.global_variables.iter() {
            if variable.space == naga::AddressSpace::WorkGroup {
                let dwords = layout::size(&source.module, variable.ty).div_ceil(4);
                local.insert(handle, vec![0; dwords as usize]);
            }
        }
        let events = vec![Vec::new(); items];
        let fuel = 200_000;
        let frames = Vec::new();
        let barriers = Vec::new();
        Self { source, items, group, groups, buffers, local, frames, events, barriers, fuel }
    }

    /// Runs the entry point. Returns whether it ended.
    pub fn run(&mut self) -> bool {
        let mask = vec![true; self.items];
        self.barriers.push(self.local.clone());
        self.call(Typed::entry(self.source), Vec::new(), 0, &mask);
        self.fuel > 0
    }

    fn each(&self, of: impl FnMut(usize) -> u32) -> Vec<u32> {
        (0..self.items).map(of).collect()
    }

    fn call(&mut self, typed: Typed<'m>, arguments: Vec<Argument>, path: u64, mask: &Mask) -> Value {
        let values = HashMap::new();
        let locals = HashMap::new();
        self.frames.push(Frame { typed, arguments, values, locals, result: Vec::new(), path });
        let frame = self.frames.len() - 1;
        for (handle, variable) in typed.function.local_variables.iter() {
            let dwords = layout::size(typed.module, variable.ty).div_ceil(4) as usize;
            let mut all = vec![vec![0; self.items]; dwords];
            if let Some(init) = variable.init {
                let value = self.value(frame, init);
                let leaves = layout::leaves(typed.module, variable.ty).unwrap_or_default();
                for ((at, _), value) in leaves.into_iter().zip(value) {
                    all[at as usize / 4] = value;
                }
            }
            self.frames[frame].locals.insert(handle, all);
        }
        if let Some(result) = &typed.function.result {
            let count = layout::leaves(typed.module, result.ty).map_or(0, |leaves| leaves.len());
            self.frames[frame].result = vec![vec![0; self.items]; count];
        }
        let none = vec![false; self.items];
        let mut flow = Flow { broke: none.clone(), continued: none.clone(), returned: none };
        self.block(frame, &typed.function.body, &mut mask.clone(), &mut flow);
        self.frames.pop().expect("it was pushed").result
    }

    fn block(&mut self, frame: usize, block: &'m Block, mask: &mut Mask, flow: &mut Flow) {
        for (statement, span) in block.span_iter() {
            if !mask.contains(&true) || self.fuel == 0 {
                return;
            }
            self.fuel -= 1;
            if !matches!(statement, Statement::Emit(_) | Statement::Block(_)) {
                self.note(frame, *span, mask);
            }
            self.statement(frame, statement, *span, mask, flow);
        }
    }

    fn note(&mut self, frame: usize, span: naga::Span, mask: &Mask) {
        let key = statement_key(self.frames[frame].path, span);
        let at = span.to_range().map_or(0, |range| range.start as u32);
        let of = &self.frames[frame];
        let mut all: Vec<(Name, Value)> = Vec::new();
        for (&handle, dwords) in &of.locals {
            all.push(((of.path, Which::Local(handle)), dwords.clone()));
        }
        for &handle in of.typed.function.named_expressions.keys() {
            if let Some(value) = of.values.get(&handle) {
                all.push(((of.path, Which::Let(handle)), value.clone()));
            }
        }
        for (lane, _) in mask.iter().enumerate().filter(|(_, runs)| **runs) {
            let values =
                all.iter().map(|(name, value)| (*name, value.iter().map(|part| part[lane]).collect()));
            let values = values.collect();
            self.events[lane].push(Event { key, at, values });
        }
    }

    fn statement(
        &mut self,
        frame: usize,
        statement: &'m Statement,
        span: naga::Span,
        mask: &mut Mask,
        flow: &mut Flow,
    ) {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    self.frames[frame].values.remove(&handle);
                    let inner = self.frames[frame].typed.inner(handle);
                    if !matches!(inner, TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }) {
                        let value = self.value(frame, handle);
                        self.frames[frame].values.insert(handle, value);
                    }
                }
            }
            Statement::Block(block) => self.block(frame, block, mask, flow),
            Statement::If { condition, accept, reject } => {
                let condition = self.value(frame, *condition).remove(0);
                let side = |wanted: bool| -> Mask {
                    mask.iter().zip(&condition).map(|(&runs, &is)| runs && (is != 0) == wanted).collect()
                };
                let mut first = side(true);
                let mut second = side(false);
                self.block(frame, accept, &mut first, flow);
                self.block(frame, reject, &mut second, flow);
                *mask = first.iter().zip(&second).map(|(a, b)| a | b).collect();
            }
            Statement::Switch { selector, cases } => {
                let selector = self.value(frame, *selector).remove(0);
                let mut inner = flow.clone();
                inner.broke.fill(false);
                let mut left = mask.clone();
                mask.fill(false);
                let mut numbers: Vec<u32> = Vec::new();
                let mut default = (None, false);
                for case in cases {
                    match case.value {
                        SwitchValue::I32(value) => numbers.push(value as u32),
                        SwitchValue::U32(value) => numbers.push(value),
                        SwitchValue::Default => default.1 = true,
                    }
                    if case.fall_through {
                        continue;
                    }
                    if default.0.is_none() && default.1 {
                        default.0 = Some(&case.body);
                        numbers.clear();
                        continue;
                    }
                    let mut here: Mask =
                        (0..self.items).map(|at| left[at] && numbers.contains(&selector[at])).collect();
                    left.iter_mut().zip(&here).for_each(|(left, &is)| *left &= !is);
                    numbers.clear();
                    self.block(frame, &case.body, &mut here, &mut inner);
                    mask.iter_mut().zip(&here).for_each(|(all, &is)| *all |= is);
                }
                if let Some(body) = default.0 {
                    self.block(frame, body, &mut left, &mut inner);
                }
                for at in 0..self.items {
                    mask[at] |= left[at] | inner.broke[at];
                }
                (flow.continued, flow.returned) = (inner.continued, inner.returned);
            }
            Statement::Loop { body, continuing, break_if } => {
                let mut active = mask.clone();
                let mut inner = flow.clone();
                inner.broke.fill(false);
                while active.contains(&true) && self.fuel > 0 {
                    self.fuel -= 1;
                    inner.continued.fill(false);
                    self.block(frame, body, &mut active, &mut inner);
                    active.iter_mut().zip(&inner.continued).for_each(|(all, &is)| *all |= is);
                    self.block(frame, continuing, &mut active, &mut inner);
                    if let (Some(condition), true) = (break_if, active.contains(&true)) {
                        let condition = self.value(frame, *condition).remove(0);
                        for at in 0..self.items {
                            inner.broke[at] |= active[at] && condition[at] != 0;
                            active[at] &= condition[at] == 0;
                        }
                    }
                }
                *mask = inner.broke;
                flow.returned = inner.returned;
            }
            Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => {
                self.barriers.push(self.local.clone())
            }
            Statement::Break => leave(mask, &mut flow.broke),
            Statement::Continue => leave(mask, &mut flow.continued),
            Statement::Return { value } => {
                if let Some(value) = *value {
                    let value = self.value(frame, value);
                    let result = &mut self.frames[frame].result;
                    for (into, from) in result.iter_mut().zip(value) {
                        for at in (0..mask.len()).filter(|&at| mask[at]) {
                            into[at] = from[at];
                        }
                    }
                }
                leave(mask, &mut flow.returned);
            }
            Statement::Store { pointer, value } => {
                let value = self.value(frame, *value);
                self.store(frame, *pointer, value, mask);
            }
            Statement::Call { function, arguments, result } => {
                let typed = Typed::called(self.source, *function);
                let arguments = arguments.iter().map(|&at| match self.frames[frame].typed.inner(at) {
                    TypeInner::Pointer { .. } => Argument::Pointer(self.pointer(frame, at)),
                    _ => Argument::Value(self.value(frame, at)),
                });
                let arguments = arguments.collect();
                // The statements of a function that is called have one number for all calls.
                let path = if self.source.called.contains(function) {
                    root_path(*function)
                } else {
                    statement_key(self.frames[frame].path, span)
                };
                let value = self.call(typed, arguments, path, mask);
                self.set(frame, *result, value);
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let kind = self.frames[frame].typed.kind(*value).unwrap_or(K::Uint);
                let value = self.value(frame, *value).remove(0);
                let at = self.pointer(frame, *pointer);
                let mut before = vec![0; self.items];
                for lane in (0..self.items).filter(|&lane| mask[lane]) {
                    let Some(cell) = self.cell(at.root, at.offset[lane], lane) else { continue };
                    let old = *cell;
                    let new = value[lane];
                    before[lane] = old;
                    *cell = match fun {
                        AtomicFunction::Add => old.wrapping_add(new),
                        AtomicFunction::Subtract => old.wrapping_sub(new),
                        AtomicFunction::And => old & new,
                        AtomicFunction::InclusiveOr => old | new,
                        AtomicFunction::ExclusiveOr => old ^ new,
                        AtomicFunction::Min => least(kind, old, new),
                        AtomicFunction::Max => most(kind, old, new),
                        AtomicFunction::Exchange { .. } => new,
                    };
                }
                self.set(frame, *result, vec![before]);
            }
            Statement::SubgroupBallot { result, predicate } => {
                let is = match predicate {
                    Some(predicate) => self.value(frame, *predicate).remove(0),
                    None => vec![1; self.items],
                };
                let ballot = self.each(|lane| {
                    let first = lane / 32 * 32;
                    (first..(first + 32).min(self.items))
                        .map(|of| u32::from(mask[of] && is[of] != 0) << (of - first))
                        .sum()
                });
                let zero = vec![0; self.items];
                self.set(frame, Some(*result), vec![ballot, zero.clone(), zero.clone(), zero]);
            }
            Statement::SubgroupGather { mode, argument, result } => {
                let values = self.value(frame, *argument);
                let from = self.sources(frame, mode, mask);
                let fetch = |part: &Vec<u32>| {
                    self.each(|lane| {
                        let at = lane / 32 * 32 + from[lane] as usize % 32;
                        if mask.get(at) == Some(&true) { part[at] } else { 0 }
                    })
                };
                let found = values.iter().map(fetch).collect();
                self.set(frame, Some(*result), found);
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                let kind = self.frames[frame].typed.kind(*argument).unwrap_or(K::Uint);
                let values = self.value(frame, *argument);
                let found = values.iter().map(|part| self.collective(*op, *collective_op, kind, part, mask));
                let found = found.collect();
                self.set(frame, Some(*result), found);
            }
            _ => {}
        }
    }

    fn set(&mut self, frame: usize, at: Option<Handle<Expression>>, value: Value) {
        if let Some(at) = at {
            self.frames[frame].values.insert(at, value);
        }
    }

    fn sources(&mut self, frame: usize, mode: &GatherMode, mask: &Mask) -> Vec<u32> {
        let mut by = |at: Handle<Expression>| self.value(frame, at).remove(0);
        match *mode {
            GatherMode::Broadcast(at) | GatherMode::Shuffle(at) => by(at),
            GatherMode::ShuffleXor(at) => {
                let by = by(at);
                self.each(|lane| (lane as u32 % 32) ^ by[lane])
            }
            GatherMode::ShuffleUp(at) => {
                let by = by(at);
                self.each(|lane| (lane as u32 % 32).wrapping_sub(by[lane]))
            }
            GatherMode::ShuffleDown(at) => {
                let by = by(at);
                self.each(|lane| (lane as u32 % 32).wrapping_add(by[lane]))
            }
            _ => self.each(|lane| {
                let first = lane / 32 * 32;
                let all = first..(first + 32).min(self.items);
                all.clone().find(|&of| mask[of]).unwrap_or(first) as u32 % 32
            }),
        }
    }

    /// Adds in the order of the hardware, on which floating point depends.
    fn collective(
        &self,
        op: SubgroupOperation,
        how: CollectiveOperation,
        kind: K,
        part: &[u32],
        mask: &Mask,
    ) -> Vec<u32> {
        let neutral = match (op, kind) {
            (SubgroupOperation::Add, K::Float) => (-0f32).to_bits(),
            (SubgroupOperation::Mul, K::Float) => 1f32.to_bits(),
            (SubgroupOperation::Min, K::Float) => f32::INFINITY.to_bits(),
            (SubgroupOperation::Max, K::Float) => f32::NEG_INFINITY.to_bits(),
            (SubgroupOperation::Mul, _) => 1,
            (SubgroupOperation::Min, K::Sint) => i32::MAX as u32,
            (SubgroupOperation::Max, K::Sint) => i32::MIN as u32,
            (SubgroupOperation::Min | SubgroupOperation::And | SubgroupOperation::All, _) => u32::MAX,
            _ => 0,
        };
        let join = |a: u32, b: u32| match op {
            SubgroupOperation::Add => binary(B::Add, kind, a, b),
            SubgroupOperation::Mul => binary(B::Multiply, kind, a, b),
            SubgroupOperation::Min => least(kind, a, b),
            SubgroupOperation::Max => most(kind, a, b),
            SubgroupOperation::And | SubgroupOperation::All => a & b,
            SubgroupOperation::Or | SubgroupOperation::Any => a | b,
            SubgroupOperation::Xor => a ^ b,
        };
        let mut found = Vec::new();
        for wave in (0..self.items).step_by(32) {
            let get =
                |lane: usize| if mask.get(wave + lane) == Some(&true) { part[wave + lane] } else { neutral };
            let mut all: Vec<u32> = (0..32).map(get).collect();
            for by in [1, 2, 4, 8, 16] {
                let before = all.clone();
                for lane in 0..32usize {
                    let other = match how {
                        CollectiveOperation::Reduce => before[lane ^ by],
                        _ => lane.checked_sub(by).map_or(neutral, |at| before[at]),
                    };
                    all[lane] = join(before[lane], other);
                }
            }
            if how == CollectiveOperation::ExclusiveScan {
                all.rotate_right(1);
                all[0] = neutral;
            }
            found.extend(all);
        }
        found.truncate(self.items);
        found
    }

    fn pointer(&mut self, frame: usize, at: Handle<Expression>) -> Pointer {
        let typed = self.frames[frame].typed;
        let zero = vec![0; self.items];
        match typed.function.expressions[at] {
            Expression::LocalVariable(of) => Pointer { root: Root::Local(frame, of), offset: zero },
            Expression::GlobalVariable(of) => Pointer { root: Root::Global(of), offset: zero },
            Expression::FunctionArgument(n) => match &self.frames[frame].arguments[n as usize] {
                Argument::Pointer(pointer) => pointer.clone(),
                Argument::Value(_) => unreachable!("the argument is a pointer"),
            },
            Expression::AccessIndex { base, index } => {
                let mut pointer = self.pointer(frame, base);
                let by = match pointee(typed.module, typed.inner(base)) {
                    TypeInner::Struct { members, .. } => members[index as usize].offset,
                    ty => index * layout::element(&ty).map_or(4, |element| element.1),
                };
                pointer.offset.iter_mut().for_each(|at| *at = at.wrapping_add(by));
                pointer
            }
            Expression::Access { base, index } => {
                let mut pointer = self.pointer(frame, base);
                let ty = pointee(typed.module, typed.inner(base));
                let stride = layout::element(&ty).map_or(4, |element| element.1);
                let last = layout::count(&ty).map_or(u32::MAX, |count| count - 1);
                let index = self.value(frame, index).remove(0);
                for (at, index) in pointer.offset.iter_mut().zip(index) {
                    *at = at.wrapping_add(index.min(last).wrapping_mul(stride));
                }
                pointer
            }
            _ => unreachable!("the validator knows all pointers"),
        }
    }

    /// The dword at an offset in bytes. Outside of a buffer there is none.
    fn cell(&mut self, root: Root, offset: u32, lane: usize) -> Option<&mut u32> {
        let dword = offset as usize / 4;
        match root {
            Root::Local(frame, of) => {
                self.frames[frame].locals.get_mut(&of)?.get_mut(dword).map(|all| &mut all[lane])
            }
            Root::Global(of) => match self.buffers.get_mut(&of) {
                Some(buffer) => buffer.get_mut(dword),
                None => self.local.get_mut(&of)?.get_mut(dword),
            },
        }
    }

    fn store(&mut self, frame: usize, at: Handle<Expression>, value: Value, mask: &Mask) {
        let typed = self.frames[frame].typed;
        let ty = pointee(typed.module, typed.inner(at));
        let pointer = self.pointer(frame, at);
        for ((by, _), part) in layout::leaves_of(typed.module, &ty).unwrap_or_default().into_iter().zip(value)
        {
            for lane in (0..self.items).filter(|&lane| mask[lane]) {
                if let Some(cell) = self.cell(pointer.root, pointer.offset[lane].wrapping_add(by), lane) {
                    *cell = part[lane];
                }
            }
        }
    }

    fn value(&mut self, frame: usize, at: Handle<Expression>) -> Value {
        if let Some(known) = self.frames[frame].values.get(&at) {
            return known.clone();
        }
        let typed = self.frames[frame].typed;
        let kind = |at| typed.kind(at).unwrap_or(K::Uint);
        let items = self.items;
        let width = |ty: &TypeInner| layout::leaves_of(typed.module, ty).map_or(1, |leaves| leaves.len());
        match &typed.function.expressions[at] {
            Expression::Literal(literal) => vec![vec![number(literal); items]],
            Expression::Constant(constant) => self.global(typed.module.constants[*constant].init),
            Expression::ZeroValue(ty) => vec![vec![0; items]; width(&typed.module.types[*ty].inner)],
            Expression::Compose { components, .. } => {
                components.iter().flat_map(|&component| self.value(frame, component)).collect()
            }
            Expression::Access { base, index } => {
                let all = self.value(frame, *base);
                let index = self.value(frame, *index).remove(0);
                let wide = width(typed.inner(at));
                let count = all.len() / wide;
                let choose = |part: usize| {
                    self.each(|lane| {
                        // An index outside gives the first.
                        let n = if (index[lane] as usize) < count { index[lane] as usize } else { 0 };
                        all[n * wide + part][lane]
                    })
                };
                (0..wide).map(choose).collect()
            }
            Expression::AccessIndex { base, index } => {
                let all = self.value(frame, *base);
                let wide = width(typed.inner(at));
                let start: usize = match typed.inner(*base) {
                    TypeInner::Struct { members, .. } => members[..*index as usize]
                        .iter()
                        .map(|member| width(&typed.module.types[member.ty].inner))
                        .sum(),
                    _ => *index as usize * wide,
                };
                all[start..start + wide].to_vec()
            }
            Expression::Splat { size, value } => {
                vec![self.value(frame, *value).remove(0); *size as usize]
            }
            Expression::Swizzle { size, vector, pattern } => {
                let all = self.value(frame, *vector);
                pattern[..*size as usize].iter().map(|&of| all[of as usize].clone()).collect()
            }
            Expression::FunctionArgument(n) => {
                if let Some(argument) = self.frames[frame].arguments.get(*n as usize) {
                    return match argument {
                        Argument::Value(value) => value.clone(),
                        Argument::Pointer(_) => Vec::new(),
                    };
                }
                let Some(Binding::BuiltIn(builtin)) = typed.function.arguments[*n as usize].binding else {
                    return Vec::new();
                };
                self.builtin(builtin)
            }
            Expression::Load { pointer } => {
                let from = self.pointer(frame, *pointer);
                let ty = pointee(typed.module, typed.inner(*pointer));
                let mut all = Vec::new();
                for (by, _) in layout::leaves_of(typed.module, &ty).unwrap_or_default() {
                    let mut part = vec![0; items];
                    for (lane, into) in part.iter_mut().enumerate() {
                        let at = from.offset[lane].wrapping_add(by);
                        *into = self.cell(from.root, at, lane).map_or(0, |cell| *cell);
                    }
                    all.push(part);
                }
                all
            }
            Expression::Unary { op, expr } => {
                let kind = kind(*expr);
                map(&self.value(frame, *expr), |a| match (op, kind) {
                    (UnaryOperator::Negate, K::Float) => (-f32::from_bits(a)).to_bits(),
                    (UnaryOperator::Negate, _) => (a as i32).wrapping_neg() as u32,
                    (UnaryOperator::LogicalNot, _) => u32::from(a == 0),
                    (UnaryOperator::BitwiseNot, _) => !a,
                })
            }
            Expression::Binary { op, left, right } => {
                let a = self.value(frame, *left);
                let b = self.value(frame, *right);
                zip(&a, &b, |a, b| binary(*op, kind(*left), a, b))
            }
            Expression::Select { condition, accept, reject } => {
                let is = self.value(frame, *condition);
                let a = self.value(frame, *accept);
                let b = self.value(frame, *reject);
                let choose = |n: usize| {
                    let is = &is[n % is.len()];
                    self.each(|lane| if is[lane] != 0 { a[n][lane] } else { b[n][lane] })
                };
                (0..a.len()).map(choose).collect()
            }
            Expression::Relational { fun, argument } => {
                let all = self.value(frame, *argument);
                let is_all = *fun == naga::RelationalFunction::All;
                vec![self.each(|lane| {
                    let mut each = all.iter().map(|part| part[lane] != 0);
                    u32::from(if is_all { each.all(|is| is) } else { each.any(|is| is) })
                })]
            }
            Expression::Math { fun, arg, arg1, arg2, .. } => {
                let mut all = vec![self.value(frame, *arg)];
                for &more in [arg1, arg2].into_iter().flatten() {
                    all.push(self.value(frame, more));
                }
                let kind = kind(*arg);
                if *fun == M::Dot {
                    let products = zip(&all[0], &all[1], |a, b| binary(B::Multiply, kind, a, b));
                    let sum = products
                        .into_iter()
                        .reduce(|a, b| a.iter().zip(b).map(|(&a, b)| binary(B::Add, kind, a, b)).collect());
                    return sum.into_iter().collect();
                }
                let get = |k: usize, n: usize, lane: usize| match all.get(k) {
                    Some(value) => value[n % value.len()][lane],
                    None => 0,
                };
                (0..all[0].len())
                    .map(|n| self.each(|lane| math(*fun, kind, [0, 1, 2].map(|k| get(k, n, lane)))))
                    .collect()
            }
            Expression::As { expr, kind: to, convert } => {
                let value = self.value(frame, *expr);
                let from = kind(*expr);
                match convert {
                    Some(_) => map(&value, |a| convert_to(from, *to, a)),
                    None => value,
                }
            }
            Expression::ArrayLength(pointer) => {
                let root = self.pointer(frame, *pointer);
                let mut stride = 4;
                let Root::Global(of) = root.root else { return vec![vec![0; items]] };
                if let TypeInner::Array { stride: bytes, .. } = pointee(typed.module, typed.inner(*pointer)) {
                    stride = bytes;
                }
                let bytes = 4 * self.buffers[&of].len() as u32;
                vec![self.each(|lane| (bytes - root.offset[lane]) / stride)]
            }
            _ => vec![vec![0; items]; width(typed.inner(at))],
        }
    }

    fn global(&mut self, at: Handle<Expression>) -> Value {
        let module = &self.source.module;
        match &module.global_expressions[at] {
            Expression::Literal(literal) => vec![vec![number(literal); self.items]],
            Expression::Constant(constant) => self.global(module.constants[*constant].init),
            Expression::ZeroValue(ty) => {
                let count = layout::leaves(module, *ty).map_or(0, |leaves| leaves.len());
                vec![vec![0; self.items]; count]
            }
            Expression::Splat { size, value } => vec![self.global(*value).remove(0); *size as usize],
            Expression::Compose { components, .. } => {
                components.iter().flat_map(|&component| self.global(component)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn builtin(&self, builtin: BuiltIn) -> Value {
        let [x, y, _] = self.source.module.entry_points[0].workgroup_size.map(|n| n as usize);
        let size = self.source.module.entry_points[0].workgroup_size;
        let local = |lane: usize| [lane % x, lane / x % y, lane / (x * y)].map(|n| n as u32);
        let three = |of: &dyn Fn(usize, usize) -> u32| {
            (0..3).map(|n| self.each(|lane| of(lane, n))).collect::<Value>()
        };
        match builtin {
            BuiltIn::LocalInvocationId => three(&|lane, n| local(lane)[n]),
            BuiltIn::GlobalInvocationId => three(&|lane, n| self.group[n] * size[n] + local(lane)[n]),
            BuiltIn::WorkGroupId => three(&|_, n| self.group[n]),
            BuiltIn::NumWorkGroups => three(&|_, n| self.groups[n]),
            BuiltIn::LocalInvocationIndex => vec![self.each(|lane| lane as u32)],
            BuiltIn::SubgroupInvocationId => vec![self.each(|lane| lane as u32 % 32)],
            _ => vec![vec![32; self.items]],
        }
    }
}

fn leave(mask: &mut Mask, into: &mut Mask) {
    for (runs, left) in mask.iter_mut().zip(into) {
        *left |= std::mem::take(runs);
    }
}

fn map(value: &Value, of: impl Fn(u32) -> u32) -> Value {
    value.iter().map(|part| part.iter().map(|&a| of(a)).collect()).collect()
}

fn zip(a: &Value, b: &Value, of: impl Fn(u32, u32) -> u32) -> Value {
    let one = |n: usize| {
        let a = &a[n % a.len()];
        let b = &b[n % b.len()];
        a.iter().zip(b).map(|(&a, &b)| of(a, b)).collect()
    };
    (0..a.len().max(b.len())).map(one).collect()
}

fn number(literal: &Literal) -> u32 {
    match *literal {
        Literal::F32(value) => value.to_bits(),
        Literal::U32(value) => value,
        Literal::I32(value) => value as u32,
        Literal::Bool(value) => value.into(),
        _ => 0,
    }
}

/// An operator on two numbers, with the results that the compiler chooses where WGSL leaves a choice.
fn binary(op: B, kind: K, a: u32, b: u32) -> u32 {
    let x = f32::from_bits(a);
    let y = f32::from_bits(b);
    let i = a as i32;
    let j = b as i32;
    let order = match kind {
        K::Float => x.partial_cmp(&y),
        K::Sint => Some(i.cmp(&j)),
        _ => Some(a.cmp(&b)),
    };
    let is = |wanted: bool| u32::from(wanted);
    match (op, kind) {
        (B::Equal, _) => is(order.is_some_and(|order| order.is_eq())),
        (B::NotEqual, _) => is(order.is_none_or(|order| order.is_ne())),
        (B::Less, _) => is(order.is_some_and(|order| order.is_lt())),
        (B::LessEqual, _) => is(order.is_some_and(|order| order.is_le())),
        (B::Greater, _) => is(order.is_some_and(|order| order.is_gt())),
        (B::GreaterEqual, _) => is(order.is_some_and(|order| order.is_ge())),
        (B::Add, K::Float) => (x + y).to_bits(),
        (B::Subtract, K::Float) => (x - y).to_bits(),
        (B::Multiply, K::Float) => (x * y).to_bits(),
        (B::Divide, K::Float) => (x * (1.0 / y)).to_bits(),
        (B::Modulo, K::Float) => (x - (x * (1.0 / y)).trunc() * y).to_bits(),
        (B::Add, _) => a.wrapping_add(b),
        (B::Subtract, _) => a.wrapping_sub(b),
        (B::Multiply, _) => a.wrapping_mul(b),
        (B::Divide, K::Sint) => i.checked_div(j).map_or(a, |quotient| quotient as u32),
        (B::Divide, _) => a.checked_div(b).unwrap_or(a),
        (B::Modulo, K::Sint) => i.checked_rem(j).unwrap_or(0) as u32,
        (B::Modulo, _) => a.checked_rem(b).unwrap_or(0),
        (B::And | B::LogicalAnd, _) => a & b,
        (B::InclusiveOr | B::LogicalOr, _) => a | b,
        (B::ExclusiveOr, _) => a ^ b,
        (B::ShiftLeft, _) => a << (b & 31),
        (B::ShiftRight, K::Sint) => (i >> (b & 31)) as u32,
        (B::ShiftRight, _) => a >> (b & 31),
    }
}

fn least(kind: K, a: u32, b: u32) -> u32 {
    first(kind, a, b, Ordering::Less)
}

fn most(kind: K, a: u32, b: u32) -> u32 {
    first(kind, a, b, Ordering::Greater)
}

/// The number that is in front of the other one; -0 is smaller than 0, and a number is in front of none.
fn first(kind: K, a: u32, b: u32, wanted: Ordering) -> u32 {
    let x = f32::from_bits(a);
    let y = f32::from_bits(b);
    let order = match kind {
        K::Float if x.is_nan() => return b,
        K::Float if y.is_nan() => return a,
        K::Float => x.total_cmp(&y),
        K::Sint => (a as i32).cmp(&(b as i32)),
        _ => a.cmp(&b),
    };
    if order == wanted { a } else { b }
}

fn math(fun: M, kind: K, [a, b, c]: [u32; 3]) -> u32 {
    let [x, y, z] = [a, b, c].map(f32::from_bits);
    match fun {
        M::Min => least(kind, a, b),
        M::Max => most(kind, a, b),
        M::Clamp => least(kind, most(kind, a, b), c),
        M::Saturate => least(kind, most(kind, a, 0), 1f32.to_bits()),
        M::Abs if kind == K::Float => x.abs().to_bits(),
        M::Abs if kind == K::Sint => (a as i32).wrapping_abs() as u32,
        M::Fma => x.mul_add(y, z).to_bits(),
        M::Floor => x.floor().to_bits(),
        M::Ceil => x.ceil().to_bits(),
        M::Trunc => x.trunc().to_bits(),
        M::Round => x.round_ties_even().to_bits(),
        M::Fract => (x - x.floor()).to_bits(),
        M::Sqrt => x.sqrt().to_bits(),
        M::CountOneBits => a.count_ones(),
        M::Mix => (x * (1.0 - z) + y * z).to_bits(),
        _ => a,
    }
}

fn convert_to(from: K, to: K, a: u32) -> u32 {
    let x = f32::from_bits(a);
    match (from, to) {
        (K::Float, K::Sint) => x as i32 as u32,
        (K::Float, K::Uint) => x as u32,
        (K::Sint, K::Float) => (a as i32 as f32).to_bits(),
        (K::Uint | K::Bool, K::Float) => (a as f32).to_bits(),
        (K::Float, K::Bool) => u32::from(x != 0.0),
        (K::Sint | K::Uint, K::Bool) => u32::from(a != 0),
        _ => a,
    }
}
