//! naga's tree as code of the wave: structured control flow becomes writes of EXEC.
//!
//! A mask register has the lanes that wait, and nobody else: those of the other side of an `if`, those that have left a
//! loop. A lane that leaves a construct is added to the construct's mask, and EXEC becomes empty.

use std::collections::HashMap;
use std::rc::Rc;

use naga::{Block, Expression, Handle, LocalVariable, ScalarKind, Span, Statement, SwitchValue, TypeInner};
use regalloc2::{RegClass, VReg};

use crate::diverge::{Divergence, Instance, Typed, key};
use crate::front::{Source, Unsupported};
use crate::interp::{Name, Which};
use crate::isa::{Op, Reg};
use crate::layout;
use crate::ssa::{At, BlockId, Code, Exec, Given, Inst, Kind, Slot, Src, Term};

pub type Result<T> = std::result::Result<T, Unsupported>;

/// Scalar and vector registers, for the allocator.
pub const SCALAR: RegClass = RegClass::Int;
pub const VECTOR: RegClass = RegClass::Float;

/// Largest depth of masks.
const MASKS: u32 = 20;

/// Place of a component of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum In {
    Const(u32),
    /// A scalar register: the same in all lanes. Booleans are 0 or 1.
    Scalar(VReg),
    /// A row.
    Vector(VReg),
    /// A boolean for each lane, in a scalar register.
    Mask(VReg),
}

/// A component of a value.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub at: In,
    /// The component of a variable that it was read from, and the time.
    pub from: Option<(Slot, u64)>,
}

impl From<In> for Part {
    fn from(at: In) -> Self {
        Self { at, from: None }
    }
}

pub type Parts = Rc<[Part]>;

/// A variable of the source, as the debug information will have it.
#[derive(Debug, Clone)]
pub struct Named<'m> {
    pub name: String,
    pub ty: &'m TypeInner,
    pub scope: u32,
    pub offset: u32,
    pub is_parameter: bool,
    /// The path of calls, and what it is there.
    pub of: Name,
    pub home: Home,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Home {
    /// Registers: offset in bytes and slot of each component.
    Slots(Vec<(u32, Slot)>),
    /// Offset in bytes in scratch memory of each lane; offset in bytes and slot of each dword, padding included.
    Scratch(u32, Vec<(u32, Slot)>),
    /// Offset in bytes in local memory.
    Local(u32),
}

impl Home {
    /// Offset in bytes and slot of each component whose location the debug information derives.
    pub fn slots(&self) -> &[(u32, Slot)] {
        match self {
            Self::Slots(slots) | Self::Scratch(_, slots) => slots,
            Self::Local(_) => &[],
        }
    }
}

/// A lexical scope.
#[derive(Debug, Clone)]
pub struct Scope {
    pub parent: Option<u32>,
    /// The function, and the offset of the call, of an inlined call.
    pub inlined: Option<(Handle<naga::Function>, u32)>,
}

/// A function before register allocation: the kernel, or one that is called.
#[derive(Default)]
pub struct Lowered<'m> {
    pub function: Option<Handle<naga::Function>>,
    pub name: String,
    /// The first mask: of a function that is called, the lanes that have called.
    pub first_mask: u32,
    pub code: Code,
    pub named: Vec<Named<'m>>,
    pub scopes: Vec<Scope>,
    /// Bytes of scratch memory that variables take.
    pub scratch: u32,
    /// Bytes of local memory.
    pub local: u32,
    /// Buffers, in the order of the kernel's arguments.
    pub buffers: Vec<Handle<naga::GlobalVariable>>,
}

/// A construct that is open.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    /// Target of lanes that leave.
    exit: BlockId,
    /// Target of a wave without active lanes.
    join: BlockId,
    /// The mask of lanes that have left.
    mask: Option<usize>,
    is_divergent: bool,
}

pub(crate) struct OfInstance<'m> {
    pub typed: Typed<'m>,
    pub caller: Option<(Instance, &'m [Handle<Expression>])>,
    pub values: HashMap<Handle<Expression>, Parts>,
    pub locals: HashMap<Handle<LocalVariable>, Home>,
    /// Slots of the result.
    pub result: Vec<Slot>,
    /// Number of constructs open around it.
    around: usize,
    /// Variables with an initial value, which are not declared yet.
    inits: Vec<(u32, Vec<(Slot, Given)>)>,
    /// The path of calls, for the keys of statements.
    pub path: u64,
}

impl<'m> OfInstance<'m> {
    fn new(
        typed: Typed<'m>,
        caller: Option<(Instance, &'m [Handle<Expression>])>,
        around: usize,
        path: u64,
    ) -> Self {
        let (values, locals, result, inits) = Default::default();
        Self { typed, caller, values, locals, result, around, inits, path }
    }
}

pub struct Lower<'m> {
    pub(crate) source: &'m Source,
    pub(crate) known: Divergence,
    pub(crate) out: Lowered<'m>,
    /// The current block; `None` behind a jump.
    pub(crate) block: Option<BlockId>,
    /// Whether no lane is active.
    is_empty: bool,
    pub(crate) instances: Vec<OfInstance<'m>>,
    open: Vec<Open>,
    depth: u32,
    /// Number of masks that callers of each function need.
    around: HashMap<Handle<naga::Function>, u32>,
    pub(crate) at: At,
    /// The outermost construct that lanes have left, masked, since the current one was opened.
    outermost: usize,
    /// Time, and when each slot was assigned; values from before the last loop edge are not compared.
    pub(crate) now: u64,
    pub(crate) assigned: HashMap<Slot, u64>,
    pub(crate) floor: u64,
    /// Slots of `let`.
    pub(crate) lets: std::collections::HashSet<Slot>,
    /// Registers that are copies, and what of.
    pub(crate) origin: HashMap<VReg, Given>,
    pub(crate) globals: HashMap<Handle<naga::GlobalVariable>, u32>,
    pub(crate) kernel: Kernel,
    /// Arguments of a function that is called.
    pub(crate) passed: Vec<Parts>,
}

/// Registers that are set when the kernel begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel {
    pub ids: VReg,
    pub group: [VReg; 3],
}

/// First registers of the buffer addresses (pairs) and of the masks.
pub const BUFFERS: u32 = 84;
pub const FIRST_MASK: u32 = 64;
/// The registers of calls: the return address in a pair, the end of the caller's frame, and the address of the frame.
pub const RETURN: u32 = 30;
pub const STACK: u32 = 32;
pub const FRAME: u32 = 33;
/// Largest number of buffers.
pub const MOST_BUFFERS: usize = 8;

impl<'m> Lower<'m> {
    /// The kernel, and behind each function those that it calls.
    pub fn all(source: &'m Source) -> Result<Vec<Lowered<'m>>> {
        let mut this = Self::new(source, None, 0, Code::default());
        this.kernel()?;
        let mut all = Vec::new();
        let mut around = this.finish(&mut all);
        // naga has each function before those that call it.
        let called = source.module.functions.iter().map(|(handle, _)| handle).collect::<Vec<_>>();
        for handle in called.into_iter().rev() {
            let Some(&first) = around.get(&handle) else { continue };
            let mut code = Code::default();
            // Components of variables have one number in the module.
            code.slots.clone_from(&all.last().expect("the kernel").code.slots);
            let mut this = Self::new(source, Some(handle), first, code);
            this.around = around;
            this.called(handle)?;
            around = this.finish(&mut all);
        }
        Ok(all)
    }

    fn finish(mut self, all: &mut Vec<Lowered<'m>>) -> HashMap<Handle<naga::Function>, u32> {
        self.out.code.finish();
        all.push(self.out);
        self.around
    }

    fn new(
        source: &'m Source,
        function: Option<Handle<naga::Function>>,
        first_mask: u32,
        mut code: Code,
    ) -> Self {
        let known = Divergence::new(source, function);
        let name = match function {
            Some(function) => source.module.functions[function].name.clone().unwrap_or_default(),
            None => source.module.entry_points[0].name.clone(),
        };
        // Code before the first statement has the function's line.
        let offset = source.text.find(&format!("fn {name}(")).unwrap_or(0) as u32;
        let at = At { offset, ..At::default() };
        let kernel = Kernel { ids: code.vreg(VECTOR), group: [(); 3].map(|()| code.vreg(SCALAR)) };
        Self {
            source,
            known,
            out: Lowered {
                function,
                name,
                first_mask,
                code,
                scopes: vec![Scope { parent: None, inlined: None }],
                ..Lowered::default()
            },
            block: None,
            is_empty: false,
            instances: Vec::new(),
            open: Vec::new(),
            depth: first_mask + u32::from(function.is_some()),
            around: HashMap::new(),
            at,
            outermost: usize::MAX,
            now: 0,
            assigned: HashMap::new(),
            floor: 0,
            lets: Default::default(),
            origin: HashMap::new(),
            globals: HashMap::new(),
            kernel,
            passed: Vec::new(),
        }
    }

    fn first_block(&mut self) {
        let start = self.out.code.block();
        self.out.code.seal(start);
        self.start(start);
    }

    fn kernel(&mut self) -> Result<()> {
        self.first_block();
        let Kernel { ids, group } = self.kernel;
        let registers = [2, 3, 4].map(Reg::S);
        let entry = [(ids, Reg::V(0))].into_iter().chain(group.into_iter().zip(registers)).collect();
        self.push(Kind::Entry(entry), None, Vec::new());
        self.globals()?;
        self.zero_local();
        self.instance(Typed::entry(self.source), None, 0)?;
        self.finish_at(Typed::entry(self.source));
        self.end(Term::End, &[]);
        Ok(())
    }

    /// Lowers a function that is called: its arguments come in the first vector registers, and its results go there.
    fn called(&mut self, function: Handle<naga::Function>) -> Result<()> {
        self.first_block();
        let typed = Typed::called(self.source, function);
        let mut entry = Vec::new();
        for argument in &typed.function.arguments {
            let leaves = layout::leaves(typed.module, argument.ty).unwrap_or_default();
            let parts = leaves.iter().map(|_| {
                let vreg = self.out.code.vreg(VECTOR);
                entry.push((vreg, Reg::V(entry.len() as u32)));
                Part::from(In::Vector(vreg))
            });
            let parts = parts.collect();
            self.passed.push(parts);
        }
        self.push(Kind::Entry(entry), None, Vec::new());
        self.globals()?;
        self.instance(typed, None, root_path(function))?;
        self.finish_at(typed);
        let results = self.instances[0].result.clone();
        let src = results.into_iter().map(|slot| Src::V(self.read(slot))).collect();
        self.push(Kind::Return, None, src);
        self.end(Term::End, &[]);
        Ok(())
    }

    /// Code from here on has the line of the brace that closes a function.
    fn finish_at(&mut self, typed: Typed<'m>) {
        let ends = typed.function.body.span_iter().filter_map(|(_, span)| Some(span.to_range()?.end));
        let end = ends.max().unwrap_or(self.at.offset as usize);
        self.at.offset = (end + self.source.text[end..].find('}').unwrap_or(0)) as u32;
    }

    /// Calls a function; each caller has more registers for masks than the callee's begin with.
    fn call(
        &mut self,
        id: Instance,
        function: Handle<naga::Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let mut src = Vec::new();
        for &argument in arguments {
            for &part in &self.value(id, argument)?[..] {
                src.push(Src::V(self.vector(part)));
            }
        }
        let around = self.around.entry(function).or_default();
        *around = self.depth.max(*around);
        if self.depth >= MASKS {
            return self.refuse("more than 20 divergent constructs in each other");
        }
        let module = &self.source.module;
        let ty = module.functions[function].result.as_ref().map(|result| result.ty);
        let leaves = ty.and_then(|ty| layout::leaves(module, ty)).unwrap_or_default();
        let results: Vec<VReg> = leaves.iter().map(|_| self.out.code.vreg(VECTOR)).collect();
        let parts: Parts = results.iter().map(|&vreg| In::Vector(vreg).into()).collect();
        self.push(Kind::Call(function, results), None, src);
        self.result(id, result, parts);
        Ok(())
    }

    pub(crate) fn is_called(&self) -> bool {
        self.out.function.is_some()
    }

    /// The register with the address of the function's frame.
    pub(crate) fn frame(&self) -> Reg {
        if self.is_called() { Reg::S(FRAME) } else { Reg::Null }
    }

    /// Loads the addresses of buffers, and lays out local memory.
    fn globals(&mut self) -> Result<()> {
        let module = &self.source.module;
        for (handle, variable) in module.global_variables.iter() {
            let span = module.global_variables.get_span(handle);
            match variable.space {
                naga::AddressSpace::Storage { .. } | naga::AddressSpace::Uniform => {
                    self.out.buffers.push(handle);
                }
                naga::AddressSpace::WorkGroup => {
                    let ty = &module.types[variable.ty].inner;
                    let offset = self.out.local.next_multiple_of(16);
                    self.globals.insert(handle, offset);
                    self.out.local = offset + layout::size(module, variable.ty);
                    if let Some(name) = variable.name.as_ref().filter(|_| self.out.function.is_none()) {
                        let home = Home::Local(offset);
                        let scope = 0;
                        let offset = span.to_range().map_or(0, |range| range.start) as u32;
                        let name = name.clone();
                        let of = (0, Which::Global(handle));
                        self.out.named.push(Named { name, ty, scope, offset, is_parameter: false, of, home });
                    }
                }
                _ => return self.refuse_at("this address space", span),
            }
        }
        if self.out.buffers.len() > MOST_BUFFERS || self.out.local > 65536 {
            return self.refuse_at("more than 8 buffers or 64 KiB of local memory", Span::default());
        }
        for n in 0..self.out.buffers.len() as u32 {
            self.globals.insert(self.out.buffers[n as usize], n);
            if self.is_called() {
                continue;
            }
            let [arguments, into] = [0, BUFFERS + 2 * n].map(|n| Src::Fixed(Reg::S(n)));
            self.push_at(Kind::Load(Op::SLoad2), None, vec![arguments, into], 8 * n as i32);
        }
        Ok(())
    }

    pub(crate) fn refuse_at<T>(&self, what: &str, span: Span) -> Result<T> {
        Err(Unsupported { what: what.into(), span })
    }

    pub(crate) fn refuse<T>(&self, what: &str) -> Result<T> {
        self.refuse_at(what, Span::new(self.at.offset, self.at.offset))
    }

    /// Makes a block the current one: its code comes next.
    pub(crate) fn start(&mut self, block: BlockId) {
        self.out.code.order.push(block);
        self.block = Some(block);
        self.is_empty = false;
    }

    fn add(&mut self, inst: Inst) {
        if let Some(block) = self.block {
            self.out.code.blocks[block].insts.push(inst);
        }
    }

    /// Whether lanes that are not active need their values. Lanes that have not called the function do not.
    fn is_partial(&self) -> bool {
        self.open.iter().any(|open| open.is_divergent)
    }

    pub(crate) fn push(&mut self, kind: Kind, dst: Option<VReg>, src: Vec<Src>) {
        self.push_at(kind, dst, src, 0);
    }

    pub(crate) fn push_at(&mut self, kind: Kind, dst: Option<VReg>, src: Vec<Src>, offset: i32) {
        let partial = self.is_partial();
        let at = self.at;
        self.add(Inst { kind, dst, src, tied: None, offset, partial, at });
    }

    /// Ends the current block with a jump.
    pub(crate) fn jump(&mut self, to: BlockId) {
        let term = if self.is_empty { Term::Empty } else { Term::Jump };
        self.end(term, &[to]);
    }

    pub(crate) fn end(&mut self, term: Term, to: &[BlockId]) {
        let partial = self.is_partial();
        let at = self.at;
        let Some(block) = self.block.take() else { return };
        for &to in to {
            self.out.code.edge(block, to);
        }
        let block = &mut self.out.code.blocks[block];
        (block.term, block.partial, block.at) = (Some(term), partial, at);
    }

    /// Adds a block whose only predecessor is the current block, which has its branch already.
    pub(crate) fn side(&mut self) -> BlockId {
        let block = self.out.code.block();
        self.out.code.seal(block);
        block
    }

    /// A block for an edge that no lane takes.
    fn skip(&mut self, side: BlockId, to: BlockId) {
        self.start(side);
        self.is_empty = true;
        self.jump(to);
        self.out.code.blocks[side].partial = true;
    }

    fn mask(&mut self) -> Result<usize> {
        if self.depth == MASKS {
            return self.refuse("more than 20 divergent constructs in each other");
        }
        self.out.code.masks.push(FIRST_MASK + self.depth);
        self.depth += 1;
        Ok(self.out.code.masks.len() - 1)
    }

    pub(crate) fn exec(&mut self, exec: Exec) {
        self.push(Kind::Exec(exec), None, Vec::new());
    }

    fn begin(&mut self, part: crate::diverge::Part) -> Result<Option<usize>> {
        if !part.is_masked {
            return Ok(None);
        }
        let mask = self.mask()?;
        self.exec(Exec::Begin(mask));
        Ok(Some(mask))
    }

    /// Opens a construct; returns what [`close`](Self::close) takes.
    fn enter(&mut self) -> usize {
        std::mem::replace(&mut self.outermost, usize::MAX)
    }

    /// Goes on behind a construct that lanes leave.
    fn close(&mut self, exit: BlockId, mask: Option<usize>, before: usize) {
        self.out.code.seal(exit);
        if self.out.code.blocks[exit].preds.is_empty() {
            self.block = None;
        } else {
            self.start(exit);
            if let Some(mask) = mask {
                // Before the instruction, lanes wait.
                self.exec(Exec::End(mask));
                if let Some(inst) = self.out.code.blocks[exit].insts.last_mut() {
                    inst.partial = true;
                }
            }
        }
        if mask.is_some() {
            self.depth -= 1;
        }
        let has_left = self.outermost < self.open.len();
        let outermost = if has_left { self.outermost } else { usize::MAX };
        self.outermost = before.min(outermost);
        // Lanes have left something around: perhaps nobody is here.
        let Some(join) = self.open.last().map(|open| open.join) else { return };
        if !has_left || self.block.is_none() {
            return;
        }
        let next = self.side();
        let side = self.side();
        self.end(Term::SkipIfEmpty, &[next, side]);
        self.skip(side, join);
        self.start(next);
    }

    fn instance(
        &mut self,
        typed: Typed<'m>,
        caller: Option<(Instance, &'m [Handle<Expression>])>,
        path: u64,
    ) -> Result<Instance> {
        let id = self.instances.len();
        self.instances.push(OfInstance::new(typed, caller, self.open.len(), path));
        let part = self.known.part(id, key(&typed.function.body, 0));
        let before = self.enter();
        let mask = self.begin(part)?;
        self.arguments(id)?;
        self.locals(id)?;
        if let Some(result) = &typed.function.result {
            let Some(leaves) = layout::leaves(typed.module, result.ty) else {
                return self.refuse("a result of this type");
            };
            let class = if self.known.is_divergent((id, None)) { VECTOR } else { SCALAR };
            for _ in leaves {
                let slot = self.fresh(class, 0);
                self.instances[id].result.push(slot);
            }
        }
        let exit = self.out.code.block();
        self.open.push(Open { exit, join: exit, mask, is_divergent: part.is_divergent });
        self.statements(
            id,
            &typed.function.body,
            Targets { ret: self.open.len() - 1, ..Targets::default() },
        )?;
        self.jump(exit);
        self.open.pop();
        self.close(exit, mask, before);
        Ok(id)
    }

    /// A slot with a first value that nobody waits for.
    fn fresh(&mut self, class: RegClass, value: u32) -> Slot {
        let slot = self.out.code.slot(class);
        let vreg = self.constant(class, value);
        if let Some(block) = self.block {
            self.out.code.write(slot, block, vreg);
        }
        slot
    }

    fn locals(&mut self, id: Instance) -> Result<()> {
        let typed = self.instances[id].typed;
        for (handle, variable) in typed.function.local_variables.iter() {
            let span = typed.function.local_variables.get_span(handle);
            let offset = span.to_range().map_or(0, |range| range.start) as u32;
            let init = match variable.init {
                Some(init) => Some(self.value(id, init)?),
                None => None,
            };
            let home = match layout::leaves(typed.module, variable.ty) {
                Some(leaves) if !self.known.is_in_memory((id, Some(handle))) => {
                    let class = if self.known.is_divergent((id, Some(handle))) { VECTOR } else { SCALAR };
                    let mut slots = Vec::new();
                    let mut given = Vec::new();
                    for (n, &(at, _)) in leaves.iter().enumerate() {
                        let first = init.as_ref().map_or(In::Const(0), |init| init[n].at);
                        let In::Const(first) = first else {
                            return self.refuse_at("this first value", span);
                        };
                        let slot = self.fresh(class, first);
                        slots.push((at, slot));
                        given.push((slot, Given::Const(first)));
                    }
                    if init.is_some() {
                        self.instances[id].inits.push((offset, given));
                    }
                    Home::Slots(slots)
                }
                _ => {
                    let at = self.out.scratch.next_multiple_of(16);
                    let bytes = layout::size(typed.module, variable.ty);
                    self.out.scratch = at + bytes;
                    if self.out.scratch > 4096 {
                        return self.refuse_at("more than 4 KiB of private memory", span);
                    }
                    let slots = self.clear(at, bytes, init.as_deref(), variable.ty, span)?;
                    Home::Scratch(at, slots)
                }
            };
            self.instances[id].locals.insert(handle, home.clone());
            if let Some(name) = &variable.name {
                let ty = &typed.module.types[variable.ty].inner;
                let scope = self.at.scope;
                let name = name.clone();
                let of = (self.instances[id].path, Which::Local(handle));
                self.out.named.push(Named { name, ty, scope, offset, is_parameter: false, of, home });
            }
        }
        self.instances[id].inits.sort_by_key(|init| std::cmp::Reverse(init.0));
        Ok(())
    }

    /// Stores the first value of a variable in scratch memory: from each store on, a dword of the memory is the
    /// variable's. Returns offset and slot of each dword.
    fn clear(
        &mut self,
        at: u32,
        bytes: u32,
        init: Option<&[Part]>,
        ty: Handle<naga::Type>,
        span: Span,
    ) -> Result<Vec<(u32, Slot)>> {
        if init.is_none() && bytes > 256 {
            // naga's variables without a first value are zero.
            return self
                .refuse_at("more than 256 bytes of private memory without a loop that sets them", span);
        }
        let leaves = layout::leaves(&self.source.module, ty);
        let mut slots = Vec::new();
        for offset in (0..bytes).step_by(4) {
            let found = leaves.as_ref().and_then(|leaves| leaves.iter().position(|leaf| leaf.0 == offset));
            let value = match (found, init) {
                (Some(n), Some(init)) => init[n].at,
                _ => In::Const(0),
            };
            let value = self.vector(value.into());
            let [base, none] = [self.frame(), Reg::Null].map(Src::Fixed);
            let slot = self.out.code.slot(VECTOR);
            let src = vec![base, none, Src::V(value)];
            self.push_at(Kind::FirstStore(slot), None, src, (at + offset) as i32);
            slots.push((offset, slot));
        }
        Ok(slots)
    }

    /// Parameters are variables.
    fn arguments(&mut self, id: Instance) -> Result<()> {
        let typed = self.instances[id].typed;
        for (n, argument) in typed.function.arguments.iter().enumerate() {
            if matches!(typed.module.types[argument.ty].inner, TypeInner::Pointer { .. }) {
                continue;
            }
            let values = self.argument(id, n as u32)?;
            let Some(leaves) = layout::leaves(typed.module, argument.ty) else {
                return self.refuse("an argument of this type");
            };
            let ty = &typed.module.types[argument.ty].inner;
            let of = (self.instances[id].path, Which::Argument(n as u32));
            let slots = self.name(argument.name.as_deref(), ty, &leaves, &values, of);
            // From here on, the argument is read from this variable: its code is before all that reads it.
            let named = values.iter().enumerate().map(|(at, &part)| match slots.get(at) {
                Some(&slot) => Part { from: Some((slot, self.now)), ..part },
                None => part,
            });
            let named: Parts = named.collect();
            for (handle, expression) in typed.function.expressions.iter() {
                if matches!(expression, Expression::FunctionArgument(of) if *of == n as u32) {
                    self.instances[id].values.insert(handle, named.clone());
                }
            }
        }
        Ok(())
    }

    /// Names a value: an argument or a `let`.
    pub(crate) fn name(
        &mut self,
        name: Option<&str>,
        ty: &'m TypeInner,
        leaves: &[(u32, ScalarKind)],
        values: &Parts,
        of: Name,
    ) -> Vec<Slot> {
        let Some(name) = name else { return Vec::new() };
        let mut slots = Vec::new();
        for (&(at, _), &value) in leaves.iter().zip(&values[..]) {
            let slot = self.out.code.slot(SCALAR);
            let given = self.given(value);
            self.assign(slot, given);
            self.lets.insert(slot);
            slots.push((at, slot));
        }
        let scope = self.at.scope;
        let offset = self.at.offset;
        let name = name.to_string();
        let all = slots.iter().map(|slot| slot.1).collect();
        let is_parameter = matches!(of.1, Which::Argument(_));
        let home = Home::Slots(slots);
        self.out.named.push(Named { name, ty, scope, offset, is_parameter, of, home });
        all
    }

    pub(crate) fn assign(&mut self, slot: Slot, given: Given) {
        self.now += 1;
        self.assigned.insert(slot, self.now);
        self.push(Kind::Assign(slot, given), None, Vec::new());
    }

    /// Stores to a component of a variable that is in registers.
    pub(crate) fn store(&mut self, id: Instance, slot: Slot, value: Part, is_first: bool) {
        let Some(block) = self.block else { return };
        let is_scalar = self.out.code.slots[slot as usize].class == SCALAR;
        let value = match value.at {
            In::Mask(_) if is_scalar => In::Scalar(self.scalar(value)).into(),
            In::Mask(_) => In::Vector(self.vector(value)).into(),
            _ => value,
        };
        let given = self.given(value);
        let vreg = if is_scalar {
            self.scalar(value)
        } else if !is_first && self.open[self.instances[id].around..].iter().any(|open| open.is_divergent) {
            // Other lanes keep what they have.
            let old = self.out.code.read(slot, block);
            let src = self.operand(value);
            let dst = self.out.code.vreg(VECTOR);
            self.push(Kind::Move, Some(dst), vec![src]);
            let blocks = &mut self.out.code.blocks;
            blocks[block].insts.last_mut().expect("the move").tied = Some(old);
            dst
        } else {
            self.vector(value)
        };
        self.out.code.write(slot, block, vreg);
        self.assign(slot, given);
    }

    /// Keeps a component's value under the name of a slot that no variable of the source has.
    pub(crate) fn keep(&mut self, of: Slot) -> (Slot, u64) {
        let slot = self.out.code.slot(SCALAR);
        self.assign(slot, Given::Of(of));
        self.lets.insert(slot);
        (slot, self.now)
    }

    pub(crate) fn read(&mut self, slot: Slot) -> VReg {
        match self.block {
            Some(block) => self.out.code.read(slot, block),
            None => self.out.code.vreg(self.out.code.slots[slot as usize].class),
        }
    }

    fn statements(&mut self, id: Instance, block: &'m Block, targets: Targets) -> Result<()> {
        for (statement, span) in block.span_iter() {
            if self.block.is_none() {
                return Ok(());
            }
            self.statement(id, statement, *span, targets)?;
        }
        Ok(())
    }

    /// A block of the source is a scope.
    fn nested(&mut self, id: Instance, block: &'m Block, targets: Targets) -> Result<()> {
        let spans = block.span_iter().map(|(_, span)| *span);
        self.scoped(id, Span::total_span(spans), |this| this.statements(id, block, targets))
    }

    /// Lowers a part of the source that is a scope, with the variables that it declares: naga lists all variables of a function
    /// together, each with the place of its declaration.
    fn scoped(
        &mut self,
        id: Instance,
        span: Span,
        lower: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let around = self.at.scope;
        self.scope(None);
        let path = self.instances[id].path;
        let within = span.to_range().unwrap_or_default();
        for named in &mut self.out.named {
            let is_local = named.of.0 == path && matches!(named.of.1, Which::Local(_));
            if is_local && named.scope == around && within.contains(&(named.offset as usize)) {
                named.scope = self.at.scope;
            }
        }
        lower(self)?;
        self.at.scope = around;
        Ok(())
    }

    /// Begins a scope in the current one.
    fn scope(&mut self, inlined: Option<(Handle<naga::Function>, u32)>) {
        self.out.scopes.push(Scope { parent: Some(self.at.scope), inlined });
        self.at.scope = self.out.scopes.len() as u32 - 1;
    }

    /// Whether a statement has the declaration of a variable: no lane has a value of it before.
    fn declares(&self, id: Instance, span: Span, variable: Handle<LocalVariable>) -> bool {
        let declared = self.instances[id].typed.function.local_variables.get_span(variable).to_range();
        span.to_range().zip(declared).is_some_and(|(of, at)| of.contains(&at.start))
    }

    /// Copies what a construct stores to, in front of it, where all lanes run: in the construct, the allocator would
    /// have to copy whole rows.
    fn hoist(&mut self, id: Instance, statement: &Statement, span: Span) {
        let Some(block) = self.block.filter(|_| !self.is_partial()) else { return };
        let mut stored = Vec::new();
        stored_in(self.instances[id].typed, statement, &mut stored);
        stored.sort_unstable();
        stored.dedup();
        stored.retain(|&variable| !self.declares(id, span, variable));
        for handle in stored {
            let Some(Home::Slots(slots)) = self.instances[id].locals.get(&handle).cloned() else { continue };
            for (_, slot) in slots {
                let old = self.out.code.read(slot, block);
                if old.class() == VECTOR {
                    let given = self.given(In::Vector(old).into());
                    let copy = self.out.code.vreg(VECTOR);
                    self.push(Kind::Move, Some(copy), vec![Src::V(old)]);
                    self.origin.insert(copy, given);
                    self.out.code.write(slot, block, copy);
                }
            }
        }
    }

    fn statement(
        &mut self,
        id: Instance,
        statement: &'m Statement,
        span: Span,
        targets: Targets,
    ) -> Result<()> {
        if let Some(range) = span.to_range() {
            self.at.offset = range.start as u32;
        }
        // A `for` declares its variable in front of the loop.
        let is_loop = matches!(statement, Statement::Loop { .. });
        let end = span.to_range().filter(|_| is_loop).map_or(self.at.offset, |range| range.end as u32);
        self.declare(id, end);
        if !matches!(statement, Statement::Emit(_) | Statement::Block(_)) {
            let number = statement_key(self.instances[id].path, span);
            self.push(Kind::Statement(number), None, Vec::new());
        }
        let is_divergent = match statement {
            Statement::If { accept, .. } => self.known.part(id, key(accept, 0)).is_divergent,
            Statement::Switch { .. } | Statement::Loop { .. } => {
                self.known.part(id, key(statement, 0)).is_divergent
            }
            _ => false,
        };
        if is_divergent {
            self.hoist(id, statement, span);
        }
        match statement {
            Statement::Emit(range) => self.emit(id, range.clone())?,
            Statement::Block(block) => {
                self.scoped(id, span, |this| this.statements(id, block, targets))?;
            }
            Statement::If { condition, accept, reject } => {
                let condition = self.value(id, *condition)?[0];
                let part = self.known.part(id, key(accept, 0));
                let sides = (Some(accept), (!reject.is_empty()).then_some(reject));
                self.branch(condition, part.is_divergent, sides.1.is_some(), |this, first| {
                    let block = if first { sides.0 } else { sides.1 };
                    block.map_or(Ok(()), |block| this.nested(id, block, targets))
                })?;
            }
            Statement::Switch { selector, cases } => self.switch(id, statement, *selector, cases, targets)?,
            Statement::Loop { body, continuing, break_if } => {
                // The variable of a `for` is declared in it.
                self.scoped(id, span, |this| {
                    this.repeat(id, statement, (body, continuing, *break_if), targets)
                })?;
            }
            Statement::Break => self.leave(targets.on_break),
            Statement::Continue => self.leave(targets.on_continue),
            Statement::Return { value } => {
                if let Some(value) = *value {
                    let values = self.value(id, value)?;
                    for (slot, &value) in self.instances[id].result.clone().into_iter().zip(&values[..]) {
                        self.store(id, slot, value, false);
                    }
                }
                self.leave(targets.ret);
            }
            Statement::Store { pointer, value } => {
                let values = self.value(id, *value)?;
                let typed = self.instances[id].typed;
                let is_first = match typed.function.expressions[*pointer] {
                    Expression::LocalVariable(variable) => self.declares(id, span, variable),
                    _ => false,
                };
                self.store_to(id, *pointer, &values, is_first)?;
            }
            Statement::Call { function, arguments, result } if self.source.called.contains(function) => {
                self.call(id, *function, arguments, *result)?;
            }
            Statement::Call { function, arguments, result } => {
                let typed = Typed::called(self.source, *function);
                let around = self.at;
                self.scope(Some((*function, around.offset)));
                let path = statement_key(self.instances[id].path, span);
                let expected = self.known.called(id, statement);
                // Instances of code that is not reached have no number here.
                while self.instances.len() < expected {
                    self.instances.push(OfInstance::new(typed, None, 0, 0));
                }
                let called = self.instance(typed, Some((id, arguments)), path)?;
                self.at = around;
                if result.is_some() {
                    let slots = self.instances[called].result.clone();
                    let parts = self.read_slots(&slots);
                    self.result(id, *result, parts);
                }
            }
            Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => {
                self.push(Kind::Barrier, None, Vec::new());
            }
            Statement::Atomic { pointer, fun, value, result } => {
                self.atomic(id, *pointer, fun, *value, *result)?;
            }
            Statement::WorkGroupUniformLoad { .. } => return self.refuse_at("workgroupUniformLoad", span),
            Statement::SubgroupBallot { result, predicate } => self.ballot(id, *result, *predicate)?,
            Statement::SubgroupGather { mode, argument, result } => {
                self.gather(id, mode, *argument, *result)?;
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                self.collective(id, *op, *collective_op, *argument, *result)?;
            }
            _ => return self.refuse_at("this statement", span),
        }
        Ok(())
    }

    /// Assigns first values of variables that are declared before an offset of the source.
    fn declare(&mut self, id: Instance, end: u32) {
        while let Some((offset, _)) = self.instances[id].inits.last()
            && *offset < end
        {
            let (_, given) = self.instances[id].inits.pop().expect("it is there");
            // Made here, the first value is not kept in a register from the function's start on.
            for (slot, given) in given {
                if let (Given::Const(value), Some(block)) = (given, self.block) {
                    let vreg = self.constant(self.out.code.slots[slot as usize].class, value);
                    self.out.code.write(slot, block, vreg);
                }
                self.assign(slot, given);
            }
        }
    }

    /// An `if`, whose sides `side` lowers.
    fn branch(
        &mut self,
        condition: Part,
        is_divergent: bool,
        has_other: bool,
        mut side: impl FnMut(&mut Self, bool) -> Result<()>,
    ) -> Result<()> {
        let then = self.side();
        let other = self.side();
        let join = self.out.code.block();
        let before = self.enter();
        if !is_divergent {
            let condition = self.scalar_operand(condition);
            self.end(Term::If(condition), &[then, other]);
            for (block, first) in [(then, true), (other, false)] {
                self.start(block);
                self.open.push(Open { exit: join, join, mask: None, is_divergent: false });
                if first || has_other {
                    side(self, first)?;
                }
                self.jump(join);
                self.open.pop();
            }
            self.close(join, None, before);
            return Ok(());
        }
        let condition = self.mask_of(condition);
        let mask = self.mask()?;
        self.end(Term::Split(Src::V(condition), mask), &[then, other]);
        let open = Open { exit: join, join, mask: None, is_divergent: true };
        self.start(then);
        if has_other {
            let flip = self.out.code.block();
            self.open.push(Open { join: flip, ..open.clone() });
            side(self, true)?;
            self.jump(flip);
            self.skip(other, flip);
            self.out.code.seal(flip);
            self.start(flip);
            self.exec(Exec::Else(mask));
            let next = self.side();
            let none = self.side();
            self.end(Term::SkipIfEmpty, &[next, none]);
            self.open.pop();
            self.open.push(open);
            self.start(next);
            side(self, false)?;
            self.jump(join);
            self.skip(none, join);
        } else {
            self.open.push(open);
            side(self, true)?;
            self.jump(join);
            self.skip(other, join);
        }
        self.open.pop();
        self.close(join, Some(mask), before);
        Ok(())
    }

    fn switch(
        &mut self,
        id: Instance,
        statement: &'m Statement,
        selector: Handle<Expression>,
        cases: &'m [naga::SwitchCase],
        targets: Targets,
    ) -> Result<()> {
        let selector = self.value(id, selector)?[0];
        let part = self.known.part(id, key(statement, 0));
        let before = self.enter();
        let mask = self.begin(part)?;
        let exit = self.out.code.block();
        self.open.push(Open { exit, join: exit, mask, is_divergent: part.is_divergent });
        let targets = Targets { on_break: self.open.len() - 1, ..targets };
        let mut numbers = Vec::new();
        let mut is_default = false;
        let mut default = None;
        for case in cases {
            match case.value {
                SwitchValue::I32(value) => numbers.push(value as u32),
                SwitchValue::U32(value) => numbers.push(value),
                SwitchValue::Default => is_default = true,
            }
            if case.fall_through {
                continue;
            }
            if std::mem::take(&mut is_default) {
                // All other cases are asked before.
                default = Some(&case.body);
                numbers.clear();
                continue;
            }
            let is_divergent = self.known.part(id, key(case, 0)).is_divergent;
            let mut condition: Option<Part> = None;
            for number in numbers.drain(..) {
                let equal = self.compare(
                    selector,
                    In::Const(number).into(),
                    naga::BinaryOperator::Equal,
                    ScalarKind::Uint,
                );
                condition = Some(match condition {
                    Some(before) => self.logic(before, equal, false),
                    None => equal,
                });
            }
            let Some(condition) = condition else { continue };
            self.branch(condition, is_divergent, false, |this, _| {
                this.nested(id, &case.body, targets)?;
                this.leave(targets.on_break);
                Ok(())
            })?;
            if self.block.is_none() {
                break;
            }
        }
        if let Some(body) = default.filter(|_| self.block.is_some()) {
            self.nested(id, body, targets)?;
        }
        self.jump(exit);
        self.open.pop();
        self.close(exit, mask, before);
        Ok(())
    }

    fn repeat(
        &mut self,
        id: Instance,
        statement: &'m Statement,
        (body, continuing, break_if): (&'m Block, &'m Block, Option<Handle<Expression>>),
        targets: Targets,
    ) -> Result<()> {
        let whole = self.known.part(id, key(statement, 0));
        let inner = self.known.part(id, key(statement, 1));
        let before = self.enter();
        let mask = self.begin(whole)?;
        let [header, next, latch, exit] = [(); 4].map(|()| self.out.code.block());
        self.jump(header);
        self.start(header);
        self.around_loop();
        self.open.push(Open { exit, join: next, mask, is_divergent: whole.is_divergent });
        let on_break = self.open.len() - 1;
        let outer = self.enter();
        let waiting = self.begin(inner)?;
        self.open.push(Open { exit: next, join: next, mask: waiting, is_divergent: inner.is_divergent });
        let targets = Targets { on_break, on_continue: self.open.len() - 1, ..targets };
        self.nested(id, body, targets)?;
        self.jump(next);
        self.open.pop();
        self.open[on_break].join = latch;
        self.close(next, waiting, outer);
        if self.block.is_some() {
            self.nested(id, continuing, targets)?;
            if let Some(condition) = break_if {
                let condition = self.value(id, condition)?[0];
                let is_divergent = whole.is_masked && !matches!(condition.at, In::Const(_) | In::Scalar(_));
                self.branch(condition, is_divergent, false, |this, _| {
                    this.leave(on_break);
                    Ok(())
                })?;
            }
        }
        self.jump(latch);
        self.out.code.seal(latch);
        if !self.out.code.blocks[latch].preds.is_empty() {
            self.start(latch);
        }
        if whole.is_masked {
            let back = self.side();
            let out = self.side();
            let again = self.block.is_some();
            self.end(Term::Again, &[back, out]);
            if again {
                self.start(back);
                self.jump(header);
                self.out.code.blocks[back].partial = true;
                self.skip(out, exit);
            }
        } else {
            self.jump(header);
        }
        self.out.code.seal(header);
        self.open.pop();
        self.close(exit, mask, before);
        self.around_loop();
        Ok(())
    }

    /// Marks earlier reads as old: another iteration may overwrite them.
    fn around_loop(&mut self) {
        self.now += 1;
        self.floor = self.now;
    }

    /// Active lanes leave a construct.
    fn leave(&mut self, target: usize) {
        if self.block.is_none() {
            return;
        }
        let Open { exit, mask, .. } = self.open[target].clone();
        let some_wait = |open: &Open| open.is_divergent || open.mask.is_some();
        match mask {
            Some(mask) if self.open[target + 1..].iter().any(some_wait) => {
                if !self.is_empty {
                    self.exec(Exec::Leave(mask));
                }
                self.outermost = self.outermost.min(target);
                self.is_empty = true;
            }
            _ => self.jump(exit),
        }
    }
}

/// The variables of the function that a statement stores to.
fn stored_in(typed: Typed<'_>, statement: &Statement, into: &mut Vec<Handle<LocalVariable>>) {
    let mut blocks: Vec<&Block> = Vec::new();
    match statement {
        Statement::Store { pointer, .. } => {
            let mut at = *pointer;
            while let Expression::AccessIndex { base, .. } = typed.function.expressions[at] {
                at = base;
            }
            if let Expression::LocalVariable(variable) = typed.function.expressions[at] {
                into.push(variable);
            }
        }
        Statement::Block(block) => blocks.push(block),
        Statement::If { accept, reject, .. } => blocks.extend([accept, reject]),
        Statement::Switch { cases, .. } => blocks.extend(cases.iter().map(|case| &case.body)),
        Statement::Loop { body, continuing, .. } => blocks.extend([body, continuing]),
        _ => {}
    }
    for block in blocks {
        block.iter().for_each(|statement| stored_in(typed, statement, into));
    }
}

/// Constructs that statements leave, by their place in the list of open ones.
#[derive(Clone, Copy, Default)]
struct Targets {
    on_break: usize,
    on_continue: usize,
    ret: usize,
}

/// The path of calls in a function that is called: it begins anew.
pub fn root_path(function: Handle<naga::Function>) -> u64 {
    function.index() as u64 + 1
}

/// Returns the number of a statement: of its place in the source, and of the calls that lead there.
pub fn statement_key(path: u64, span: Span) -> u64 {
    let (start, end) = span.to_range().map_or((0, 0), |range| (range.start as u64, range.end as u64));
    let mut hash = path ^ 0xcbf2_9ce4_8422_2325;
    for part in [start, end] {
        hash = (hash ^ part).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 29;
    }
    hash
}
