//! Memory: pointers, loads and stores, atomic operations; and what lanes of a wave exchange.

use naga::{
    AddressSpace, AtomicFunction, CollectiveOperation, Expression, GatherMode, Handle, ScalarKind,
    SubgroupOperation, TypeInner,
};

use crate::diverge::{Instance, is_read_only};
use crate::isa::{Op, Reg};
use crate::layout;
use crate::lower::{BUFFERS, Home, In, Lower, Part, Parts, Result, SCALAR, VECTOR};
use crate::ssa::{Given, Kind, Slot, Src, Term};

/// Stores of zeros to local memory that one item makes without a loop. The offset of the last one, for 1,024 items, is
/// less than 64 KiB.
const MOST_TURNS: u32 = 16;

/// Storage that a pointer points into.
#[derive(Debug, Clone)]
pub(crate) enum Root {
    /// Components in registers, each with its offset in bytes.
    Slots(Vec<(u32, Slot)>),
    /// Offset in bytes of scratch memory, of local memory.
    Scratch(u32),
    Local(u32),
    /// Number of a buffer that is written, of one that is not.
    Buffer(u32),
    ReadOnly(u32),
}

/// A pointer: storage, constant offset in bytes, and the rest of the offset.
#[derive(Debug, Clone)]
pub(crate) struct Pointer {
    pub root: Root,
    offset: u32,
    dynamic: Option<Part>,
}

impl<'m> Lower<'m> {
    pub(crate) fn pointer(&mut self, id: Instance, handle: Handle<Expression>) -> Result<Pointer> {
        let typed = self.instances[id].typed;
        let whole = |root| Ok(Pointer { root, offset: 0, dynamic: None });
        match typed.function.expressions[handle] {
            Expression::LocalVariable(variable) => whole(match &self.instances[id].locals[&variable] {
                Home::Slots(slots) => Root::Slots(slots.clone()),
                Home::Scratch(at, _) | Home::Local(at) => Root::Scratch(*at),
            }),
            Expression::GlobalVariable(variable) => {
                let at = self.globals[&variable];
                whole(match typed.module.global_variables[variable].space {
                    AddressSpace::WorkGroup => Root::Local(at),
                    _ if is_read_only(typed.module, variable) => Root::ReadOnly(at),
                    _ => Root::Buffer(at),
                })
            }
            Expression::FunctionArgument(n) => match self.instances[id].caller {
                Some((caller, arguments)) => self.pointer(caller, arguments[n as usize]),
                None => self.refuse("this pointer"),
            },
            Expression::AccessIndex { base, index } => {
                let mut pointer = self.pointer(id, base)?;
                let ty = pointee(typed.module, typed.inner(base));
                pointer.offset += match &ty {
                    TypeInner::Struct { members, .. } => members[index as usize].offset,
                    ty => match layout::element(ty) {
                        Some((_, bytes)) => index * bytes,
                        None => return self.refuse("this pointer"),
                    },
                };
                Ok(pointer)
            }
            Expression::Access { base, index } => {
                let mut pointer = self.pointer(id, base)?;
                let ty = pointee(typed.module, typed.inner(base));
                let Some((_, bytes)) = layout::element(&ty) else { return self.refuse("this pointer") };
                let mut index = self.value(id, index)?[0];
                if let Some(count) = layout::count(&ty) {
                    // An index outside becomes the last.
                    index = self.math(
                        naga::MathFunction::Min,
                        &[[index].into(), [In::Const(count - 1).into()].into()],
                        ScalarKind::Uint,
                    )?[0];
                }
                let by = self.times(index, bytes);
                pointer.dynamic = Some(match pointer.dynamic {
                    Some(before) => self.plus(before, by),
                    None => by,
                });
                Ok(pointer)
            }
            _ => self.refuse("this pointer"),
        }
    }

    /// Stores zeros to local memory, as WGSL has workgroup variables, and waits for all items of the group: each stores
    /// to the dwords whose number has its own as remainder, divided by the number of items.
    pub(crate) fn zero_local(&mut self) {
        let items: u32 = self.source.module.entry_points[0].workgroup_size.iter().product();
        let dwords = self.out.local.div_ceil(4);
        if dwords == 0 {
            return;
        }
        let zero = Part::from(In::Const(0));
        let index = self.local_index();
        let mut at = self.times(index, 4);
        let turns = dwords / items;
        let step = 4 * items;
        if turns <= MOST_TURNS {
            for turn in 0..turns {
                self.store_local(at, zero, (step * turn) as i32);
            }
        } else {
            at = self.zero_turns(at, turns, step);
        }
        if !dwords.is_multiple_of(items) {
            // Items beyond the last dword store to it, too.
            let first = if turns <= MOST_TURNS { step * turns } else { 0 };
            let next = self.plus(at, Part::from(In::Const(first)));
            let last = Part::from(In::Const(4 * (dwords - 1)));
            let next = self.vector_op(Op::VMinU, &[last, next]);
            self.store_local(next, zero, 0);
        }
        self.push(Kind::Barrier, None, Vec::new());
        self.push(Kind::LocalZeroed, None, Vec::new());
    }

    /// Stores zeros in a loop of the wave. Returns the address behind.
    fn zero_turns(&mut self, at: Part, turns: u32, step: u32) -> Part {
        let Some(before) = self.block else { return at };
        let address = self.out.code.slot(VECTOR);
        let left = self.out.code.slot(SCALAR);
        let at = self.vector(at);
        let turns = self.constant(SCALAR, turns);
        self.out.code.write(address, before, at);
        self.out.code.write(left, before, turns);
        let header = self.out.code.block();
        self.jump(header);
        self.start(header);
        let [at, turns] = [address, left].map(|slot| self.read(slot));
        let [at, turns] = [In::Vector(at), In::Scalar(turns)].map(Part::from);
        self.store_local(at, Part::from(In::Const(0)), 0);
        let at = self.plus(at, Part::from(In::Const(step)));
        let turns = self.alu(Op::SSub, Op::VSub, turns, Part::from(In::Const(1)));
        let next = self.vector(at);
        let turns = self.scalar(turns);
        self.out.code.write(address, header, next);
        self.out.code.write(left, header, turns);
        let again = self.side();
        let exit = self.side();
        self.end(Term::If(Src::V(turns)), &[again, exit]);
        self.start(again);
        self.jump(header);
        self.out.code.seal(header);
        self.start(exit);
        at
    }

    fn store_local(&mut self, at: Part, value: Part, offset: i32) {
        let src = [at, value].map(|part| Src::V(self.vector(part)));
        self.push_at(Kind::Plain(Op::DsStore), None, src.to_vec(), offset);
    }

    fn times(&mut self, part: Part, bytes: u32) -> Part {
        let by = |n: u32| Part::from(In::Const(n));
        if bytes.is_power_of_two() {
            self.shift(Op::SShl, Op::VShl, part, by(bytes.trailing_zeros()))
        } else {
            self.alu(Op::SMul, Op::VMul, part, by(bytes))
        }
    }

    fn plus(&mut self, a: Part, b: Part) -> Part {
        self.alu(Op::SAdd, Op::VAdd, a, b)
    }

    /// The slots of a value that a pointer into registers points to.
    fn slots(&self, slots: &[(u32, Slot)], offset: u32, count: usize) -> Vec<Slot> {
        let first = slots.iter().position(|slot| slot.0 == offset).unwrap_or(0);
        slots[first..].iter().take(count).map(|slot| slot.1).collect()
    }

    pub(crate) fn load(&mut self, id: Instance, handle: Handle<Expression>) -> Result<Parts> {
        let typed = self.instances[id].typed;
        let ty = pointee(typed.module, typed.inner(handle));
        let Some(leaves) = layout::leaves_of(typed.module, &ty) else {
            return self.refuse("a load of this type");
        };
        let pointer = self.pointer(id, handle)?;
        if let Root::Slots(slots) = &pointer.root {
            let slots = self.slots(slots, pointer.offset, leaves.len());
            return Ok(self.read_slots(&slots));
        }
        let mut all = Vec::new();
        for &(at, _) in &leaves {
            let scalar = pointer.dynamic.is_none_or(|part| matches!(part.at, In::Scalar(_) | In::Const(_)));
            if let (Root::ReadOnly(n), true) = (&pointer.root, scalar) {
                let mut src = vec![Src::Fixed(Reg::S(BUFFERS + 2 * n))];
                if let Some(dynamic) = pointer.dynamic {
                    src.push(Src::V(self.scalar(dynamic)));
                }
                all.push(self.made(Kind::Load(Op::SLoad), SCALAR, src, (pointer.offset + at) as i32));
                continue;
            }
            let (op, src, offset) = self.address(&pointer, at, [Op::GlobalLoad, Op::DsLoad, Op::ScratchLoad]);
            all.push(self.made(Kind::Load(op), VECTOR, src, offset));
        }
        Ok(all.into())
    }

    /// The operands of a vector memory operation, and the offset that it has itself.
    fn address(&mut self, pointer: &Pointer, at: u32, ops: [Op; 3]) -> (Op, Vec<Src>, i32) {
        let (base, op) = match pointer.root {
            Root::Buffer(_) | Root::ReadOnly(_) => (0, ops[0]),
            Root::Local(base) => (base, ops[1]),
            Root::Scratch(base) => (base, ops[2]),
            Root::Slots(_) => (0, ops[2]),
        };
        let offset = base + pointer.offset + at;
        let mut dynamic = pointer.dynamic;
        let mut small = offset;
        if offset > 4095 {
            let rest = Part::from(In::Const(offset & !4095));
            dynamic = Some(match dynamic {
                Some(before) => self.plus(before, rest),
                None => rest,
            });
            small &= 4095;
        }
        let by = match (dynamic, &pointer.root) {
            (None, Root::Scratch(_)) => Src::Fixed(Reg::Null),
            (dynamic, _) => Src::V(self.vector(dynamic.unwrap_or(In::Const(0).into()))),
        };
        let src = match pointer.root {
            Root::Buffer(n) | Root::ReadOnly(n) => vec![Src::Fixed(Reg::S(BUFFERS + 2 * n)), by],
            Root::Scratch(_) => vec![Src::Fixed(self.frame()), by],
            _ => vec![by],
        };
        (op, src, small as i32)
    }

    pub(crate) fn store_to(
        &mut self,
        id: Instance,
        handle: Handle<Expression>,
        values: &Parts,
        is_first: bool,
    ) -> Result<()> {
        let typed = self.instances[id].typed;
        let ty = pointee(typed.module, typed.inner(handle));
        let Some(leaves) = layout::leaves_of(typed.module, &ty) else {
            return self.refuse("a store of this type");
        };
        let pointer = self.pointer(id, handle)?;
        if let Root::Slots(slots) = &pointer.root {
            let slots = self.slots(slots, pointer.offset, leaves.len());
            // All are read before any is written.
            let mut values = values.to_vec();
            for (n, value) in values.iter_mut().enumerate() {
                if let Given::Of(slot) = self.given(*value)
                    && slots[..n].contains(&slot)
                {
                    value.from = Some(self.keep(slot));
                }
            }
            for (slot, value) in slots.into_iter().zip(values) {
                self.store(id, slot, value, is_first);
            }
            return Ok(());
        }
        for (&(at, _), &value) in leaves.iter().zip(&values[..]) {
            let (op, mut src, offset) =
                self.address(&pointer, at, [Op::GlobalStore, Op::DsStore, Op::ScratchStore]);
            src.push(Src::V(self.vector(value)));
            self.push_at(Kind::Plain(op), None, src, offset);
        }
        Ok(())
    }

    pub(crate) fn atomic(
        &mut self,
        id: Instance,
        handle: Handle<Expression>,
        fun: &AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let typed = self.instances[id].typed;
        let is_signed = typed.kind(value) == Some(ScalarKind::Sint);
        let (local, global) = match (fun, is_signed) {
            (AtomicFunction::Add, _) => (Op::DsAdd, Op::GlobalAdd),
            (AtomicFunction::Subtract, _) => (Op::DsSub, Op::GlobalSub),
            (AtomicFunction::And, _) => (Op::DsAnd, Op::GlobalAnd),
            (AtomicFunction::InclusiveOr, _) => (Op::DsOr, Op::GlobalOr),
            (AtomicFunction::ExclusiveOr, _) => (Op::DsXor, Op::GlobalXor),
            (AtomicFunction::Min, true) => (Op::DsMinI, Op::GlobalMinI),
            (AtomicFunction::Min, false) => (Op::DsMinU, Op::GlobalMinU),
            (AtomicFunction::Max, true) => (Op::DsMaxI, Op::GlobalMaxI),
            (AtomicFunction::Max, false) => (Op::DsMaxU, Op::GlobalMaxU),
            (AtomicFunction::Exchange { compare: None }, _) => (Op::DsSwap, Op::GlobalSwap),
            _ => return self.refuse("an exchange with a comparison"),
        };
        let value = self.value(id, value)?[0];
        let pointer = self.pointer(id, handle)?;
        let (op, mut src, offset) = self.address(&pointer, 0, [global, local, Op::Nop]);
        src.push(Src::V(self.vector(value)));
        let old = self.made(Kind::Load(op), VECTOR, src, offset);
        self.result(id, result, [old].into());
        Ok(())
    }

    /// Sets the value of an expression that a statement makes.
    pub(crate) fn result(&mut self, id: Instance, handle: Option<Handle<Expression>>, parts: Parts) {
        if let Some(handle) = handle {
            self.instances[id].values.insert(handle, parts.clone());
            self.name_let(id, handle, &parts);
        }
    }

    pub(crate) fn ballot(
        &mut self,
        id: Instance,
        result: Handle<Expression>,
        predicate: Option<Handle<Expression>>,
    ) -> Result<()> {
        let condition = match predicate {
            Some(predicate) => self.value(id, predicate)?[0],
            None => In::Const(1).into(),
        };
        let mask = Src::V(self.mask_of(condition));
        let ballot = self.made(Kind::Plain(Op::SAnd), SCALAR, vec![Src::Fixed(Reg::Exec), mask], 0);
        let zero = Part::from(In::Const(0));
        self.result(id, Some(result), [ballot, zero, zero, zero].into());
        Ok(())
    }

    pub(crate) fn gather(
        &mut self,
        id: Instance,
        mode: &GatherMode,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let values = self.value(id, argument)?;
        let mut all = Vec::new();
        let lane = |this: &mut Self| {
            let [ones, zero] = [u32::MAX, 0].map(|n| In::Const(n).into());
            this.vector_op(Op::LaneCount, &[ones, zero])
        };
        let from = match *mode {
            GatherMode::BroadcastFirst => None,
            GatherMode::Broadcast(index) | GatherMode::Shuffle(index) => Some(self.value(id, index)?[0]),
            GatherMode::ShuffleXor(by) => {
                let by = self.value(id, by)?[0];
                let lane = lane(self);
                Some(self.vector_op(Op::VXor, &[by, lane]))
            }
            GatherMode::ShuffleUp(by) => {
                let by = self.value(id, by)?[0];
                let lane = lane(self);
                Some(self.vector_op(Op::VSub, &[lane, by]))
            }
            GatherMode::ShuffleDown(by) => {
                let by = self.value(id, by)?[0];
                let lane = lane(self);
                Some(self.vector_op(Op::VAdd, &[by, lane]))
            }
            _ => return self.refuse("this exchange between lanes"),
        };
        let by = match from {
            Some(from) => {
                let bytes = self.times(from, 4);
                Some(self.vector(bytes))
            }
            None => None,
        };
        for &value in &values[..] {
            let data = Src::V(self.vector(value));
            all.push(match by {
                Some(by) => self.made(Kind::Load(Op::DsPermute), VECTOR, vec![Src::V(by), data], 0),
                None => self.made(Kind::Plain(Op::ReadFirstLane), SCALAR, vec![data], 0),
            });
        }
        self.result(id, Some(result), all.into());
        Ok(())
    }

    pub(crate) fn collective(
        &mut self,
        id: Instance,
        op: SubgroupOperation,
        how: CollectiveOperation,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let kind = self.instances[id].typed.kind(argument).unwrap_or(ScalarKind::Uint);
        let (op, identity) = match (op, kind) {
            (SubgroupOperation::Add, ScalarKind::Float) => (Op::VAddF, 0x8000_0000),
            (SubgroupOperation::Mul, ScalarKind::Float) => (Op::VMulF, 1f32.to_bits()),
            (SubgroupOperation::Min, ScalarKind::Float) => (Op::VMinF, f32::INFINITY.to_bits()),
            (SubgroupOperation::Max, ScalarKind::Float) => (Op::VMaxF, f32::NEG_INFINITY.to_bits()),
            (SubgroupOperation::Add, _) => (Op::VAdd, 0),
            (SubgroupOperation::Mul, _) => (Op::VMul, 1),
            (SubgroupOperation::Min, ScalarKind::Sint) => (Op::VMinI, i32::MAX as u32),
            (SubgroupOperation::Max, ScalarKind::Sint) => (Op::VMaxI, i32::MIN as u32),
            (SubgroupOperation::Min, _) => (Op::VMinU, u32::MAX),
            (SubgroupOperation::Max, _) => (Op::VMaxU, 0),
            (SubgroupOperation::And | SubgroupOperation::All, _) => (Op::VAnd, u32::MAX),
            (SubgroupOperation::Or | SubgroupOperation::Any, _) => (Op::VOr, 0),
            (SubgroupOperation::Xor, _) => (Op::VXor, 0),
        };
        let values = self.value(id, argument)?;
        let mut all = Vec::new();
        for &value in &values[..] {
            let src = Src::V(self.vector(value));
            all.push(self.made(Kind::Collective(op, identity, how.into()), VECTOR, vec![src], 0));
        }
        self.result(id, Some(result), all.into());
        Ok(())
    }
}

/// The type that a pointer points to.
pub(crate) fn pointee(module: &naga::Module, ty: &TypeInner) -> TypeInner {
    match *ty {
        TypeInner::Pointer { base, .. } => module.types[base].inner.clone(),
        TypeInner::ValuePointer { size: Some(size), scalar, .. } => TypeInner::Vector { size, scalar },
        TypeInner::ValuePointer { size: None, scalar, .. } => TypeInner::Scalar(scalar),
        ref other => other.clone(),
    }
}
