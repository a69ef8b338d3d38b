//! Expressions: scalar instructions where all operands are the wave's, vector instructions elsewhere.

use std::rc::Rc;

use naga::{
    BinaryOperator, Binding, BuiltIn, Expression, Handle, Literal, MathFunction, Range, ScalarKind,
    TypeInner, UnaryOperator,
};
use regalloc2::{RegClass, VReg};

use crate::diverge::Instance;
use crate::interp::Which;
use crate::isa::{FLOATS, Format, Op, Reg};
use crate::layout;
use crate::lower::{In, Lower, Part, Parts, Result, SCALAR, VECTOR};
use crate::memory::Root;
use crate::ssa::{Given, Kind, Slot, Src};

fn is_literal(value: u32) -> bool {
    !(matches!(value as i32, -16..=64) || FLOATS.contains(&value))
}

impl<'m> Lower<'m> {
    /// A register with a constant, in all lanes that are active.
    pub(crate) fn constant(&mut self, class: RegClass, value: u32) -> VReg {
        let dst = self.out.code.vreg(class);
        let kind = if class == SCALAR { Kind::Plain(Op::SMov) } else { Kind::Move };
        self.push(kind, Some(dst), vec![Src::Fixed(Reg::Const(value))]);
        self.origin.insert(dst, Given::Const(value));
        dst
    }

    /// Value in terms of the source: another variable, or a definition.
    pub(crate) fn given(&self, part: Part) -> Given {
        if let Some((slot, time)) = part.from
            && (self.lets.contains(&slot)
                || time >= self.floor && self.assigned.get(&slot).is_none_or(|&at| at <= time))
        {
            return Given::Of(slot);
        }
        match part.at {
            In::Const(value) => Given::Const(value),
            In::Scalar(vreg) | In::Vector(vreg) => match self.origin.get(&vreg) {
                Some(&given) => given,
                None if self.out.code.is_param(vreg) => Given::Nothing,
                None => Given::Defined(vreg),
            },
            In::Mask(_) => Given::Nothing,
        }
    }

    /// Contents of a register.
    pub(crate) fn held(&self, vreg: VReg) -> Part {
        if vreg.class() == SCALAR { In::Scalar(vreg).into() } else { In::Vector(vreg).into() }
    }

    /// An operand of a vector instruction.
    pub(crate) fn operand(&mut self, part: Part) -> Src {
        match part.at {
            In::Const(value) => Src::Fixed(Reg::Const(value)),
            In::Scalar(vreg) | In::Vector(vreg) => Src::V(vreg),
            In::Mask(_) => Src::V(self.vector(part)),
        }
    }

    pub(crate) fn vector(&mut self, part: Part) -> VReg {
        match part.at {
            In::Vector(vreg) => vreg,
            In::Const(value) => self.constant(VECTOR, value),
            In::Scalar(vreg) => {
                let dst = self.out.code.vreg(VECTOR);
                self.push(Kind::Move, Some(dst), vec![Src::V(vreg)]);
                let given = self.given(In::Scalar(vreg).into());
                self.origin.insert(dst, given);
                dst
            }
            In::Mask(mask) => {
                let numbers = [0, 1].map(|n| Src::Fixed(Reg::Const(n)));
                let dst = self.out.code.vreg(VECTOR);
                self.push(Kind::Plain(Op::VSelect), Some(dst), vec![numbers[0], numbers[1], Src::V(mask)]);
                dst
            }
        }
    }

    /// A scalar register. A value of a vector register that is the same in all lanes is read from the first lane.
    pub(crate) fn scalar(&mut self, part: Part) -> VReg {
        match part.at {
            In::Scalar(vreg) => vreg,
            In::Const(value) => self.constant(SCALAR, value),
            In::Vector(_) | In::Mask(_) => {
                let src = Src::V(self.vector(part));
                self.plain(Op::ReadFirstLane, SCALAR, vec![src])
            }
        }
    }

    pub(crate) fn scalar_operand(&mut self, part: Part) -> Src {
        match part.at {
            In::Const(value) => Src::Fixed(Reg::Const(value)),
            _ => Src::V(self.scalar(part)),
        }
    }

    /// A boolean as a mask of the active lanes.
    pub(crate) fn mask_of(&mut self, part: Part) -> VReg {
        match part.at {
            In::Mask(vreg) => vreg,
            _ => {
                let src = self.operand(part);
                self.plain(Op::VNe, SCALAR, vec![Src::Fixed(Reg::Const(0)), src])
            }
        }
    }

    pub(crate) fn plain(&mut self, op: Op, class: RegClass, src: Vec<Src>) -> VReg {
        let dst = self.out.code.vreg(class);
        self.push(Kind::Plain(op), Some(dst), src);
        dst
    }

    /// The result of an instruction.
    pub(crate) fn made(&mut self, kind: Kind, class: RegClass, src: Vec<Src>, offset: i32) -> Part {
        let dst = self.out.code.vreg(class);
        self.push_at(kind, Some(dst), src, offset);
        self.held(dst)
    }

    /// A vector instruction: it reads at most two scalar registers or literals, and one literal.
    fn vop(&mut self, op: Op, parts: &[Part]) -> VReg {
        let mut src: Vec<Src> = parts.iter().map(|&part| self.operand(part)).collect();
        let mut scalars = Vec::new();
        let mut literals = Vec::new();
        for src in &mut src {
            let fits = match *src {
                Src::V(vreg) if vreg.class() == SCALAR => {
                    scalars.push(*src);
                    true
                }
                Src::Fixed(Reg::Const(value)) if is_literal(value) => {
                    literals.push(value);
                    literals.iter().all(|&other| other == value)
                }
                _ => true,
            };
            scalars.dedup();
            if !fits || scalars.len() + literals.len().min(1) > 2 {
                let part = match *src {
                    Src::V(vreg) => In::Scalar(vreg).into(),
                    Src::Fixed(Reg::Const(value)) => In::Const(value).into(),
                    Src::Fixed(_) => continue,
                };
                match *src {
                    Src::V(_) => scalars.pop().map(|_| ()),
                    Src::Fixed(_) => literals.pop().map(|_| ()),
                };
                *src = Src::V(self.vector(part));
            }
        }
        let class = if op.row().1 == Format::Vop3s { SCALAR } else { VECTOR };
        self.plain(op, class, src)
    }

    pub(crate) fn vector_op(&mut self, op: Op, parts: &[Part]) -> Part {
        In::Vector(self.vop(op, parts)).into()
    }

    fn is_scalar(part: Part) -> bool {
        matches!(part.at, In::Const(_) | In::Scalar(_))
    }

    /// Operands of a scalar instruction: at most one literal.
    fn scalar_operands(&mut self, a: Part, b: Part) -> Vec<Src> {
        let a = match (a.at, b.at) {
            (In::Const(value), In::Const(_)) if is_literal(value) => Src::V(self.scalar(a)),
            _ => self.scalar_operand(a),
        };
        vec![a, self.scalar_operand(b)]
    }

    /// An operation on integers that both units have.
    pub(crate) fn alu(&mut self, scalar: Op, vector: Op, a: Part, b: Part) -> Part {
        if Self::is_scalar(a) && Self::is_scalar(b) {
            let src = self.scalar_operands(a, b);
            return In::Scalar(self.plain(scalar, SCALAR, src)).into();
        }
        self.vector_op(vector, &[a, b])
    }

    /// A shift. The vector unit takes the distance first.
    pub(crate) fn shift(&mut self, scalar: Op, vector: Op, a: Part, by: Part) -> Part {
        if Self::is_scalar(a) && Self::is_scalar(by) {
            self.alu(scalar, vector, a, by)
        } else {
            self.vector_op(vector, &[by, a])
        }
    }

    pub(crate) fn logic(&mut self, a: Part, b: Part, is_and: bool) -> Part {
        let (scalar, vector) = if is_and { (Op::SAnd, Op::VAnd) } else { (Op::SOr, Op::VOr) };
        if !Self::is_scalar(a) || !Self::is_scalar(b) {
            let src = [a, b].map(|part| Src::V(self.mask_of(part)));
            return In::Mask(self.plain(scalar, SCALAR, src.to_vec())).into();
        }
        self.alu(scalar, vector, a, b)
    }

    /// A comparison: a number if both are the wave's, else a mask.
    pub(crate) fn compare(&mut self, a: Part, b: Part, op: BinaryOperator, kind: ScalarKind) -> Part {
        use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual};
        let row = |all: [Op; 6]| match op {
            Equal => all[0],
            Less => all[2],
            LessEqual => all[3],
            Greater => all[4],
            GreaterEqual => all[5],
            _ => all[1],
        };
        let vector = match kind {
            ScalarKind::Float => row([Op::VEqF, Op::VNeF, Op::VLtF, Op::VLeF, Op::VGtF, Op::VGeF]),
            ScalarKind::Sint => row([Op::VEq, Op::VNe, Op::VLtI, Op::VLeI, Op::VGtI, Op::VGeI]),
            _ => row([Op::VEq, Op::VNe, Op::VLtU, Op::VLeU, Op::VGtU, Op::VGeU]),
        };
        if kind != ScalarKind::Float && Self::is_scalar(a) && Self::is_scalar(b) {
            let scalar = match kind {
                ScalarKind::Sint => row([Op::SEq, Op::SNe, Op::SLtI, Op::SLeI, Op::SGtI, Op::SGeI]),
                _ => row([Op::SEq, Op::SNe, Op::SLtU, Op::SLeU, Op::SGtU, Op::SGeU]),
            };
            let src = self.scalar_operands(a, b);
            return self.made(Kind::Compare(scalar), SCALAR, src, 0);
        }
        In::Mask(self.vop(vector, &[a, b])).into()
    }

    fn select(&mut self, condition: Part, accept: Part, reject: Part) -> Part {
        if [condition, accept, reject].into_iter().all(Self::is_scalar) {
            let mut src = self.scalar_operands(accept, reject);
            src.push(self.scalar_operand(condition));
            return self.made(Kind::Choose, SCALAR, src, 0);
        }
        let mask = self.mask_of(condition);
        self.vector_op(Op::VSelect, &[reject, accept, In::Scalar(mask).into()])
    }

    pub(crate) fn emit(&mut self, id: Instance, range: Range<Expression>) -> Result<()> {
        let typed = self.instances[id].typed;
        for handle in range {
            if matches!(typed.inner(handle), TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }) {
                continue;
            }
            // Values that name the same expression are made once for each execution.
            self.instances[id].values.remove(&handle);
            let around = self.at.offset;
            if let Some(range) = typed.function.expressions.get_span(handle).to_range() {
                self.at.offset = range.start as u32;
            }
            let parts = self.value(id, handle)?;
            self.name_let(id, handle, &parts);
            self.at.offset = around;
        }
        Ok(())
    }

    /// Names the value of a `let`. From here on it is read from this variable.
    pub(crate) fn name_let(&mut self, id: Instance, handle: Handle<Expression>, parts: &Parts) {
        let typed = self.instances[id].typed;
        let Some(name) = typed.function.named_expressions.get(&handle) else { return };
        let ty = typed.inner(handle);
        let Some(leaves) = layout::leaves_of(typed.module, ty) else { return };
        let of = (self.instances[id].path, Which::Let(handle));
        let slots = self.name(Some(name), ty, &leaves, parts, of);
        let from = |(&part, slot): (&Part, Slot)| Part { from: Some((slot, self.now)), ..part };
        let named = parts.iter().zip(slots).map(from).collect();
        self.instances[id].values.insert(handle, named);
    }

    pub(crate) fn argument(&mut self, id: Instance, n: u32) -> Result<Parts> {
        let of = &self.instances[id];
        if let Some((caller, arguments)) = of.caller {
            return self.value(caller, arguments[n as usize]);
        }
        if let Some(passed) = self.passed.get(n as usize) {
            return Ok(passed.clone());
        }
        let Some(Binding::BuiltIn(builtin)) = of.typed.function.arguments[n as usize].binding else {
            return self.refuse("an argument of the entry point without `@builtin`");
        };
        let size = self.source.module.entry_points[0].workgroup_size;
        let small = |n: u32| Part::from(In::Const(n));
        let counts = 12 * self.out.buffers.len() as i32;
        Ok(match builtin {
            BuiltIn::LocalInvocationId => self.local_ids().into(),
            BuiltIn::GlobalInvocationId => {
                let local = self.local_ids();
                let mut all = Vec::new();
                for (n, local) in local.into_iter().enumerate() {
                    let group = In::Scalar(self.kernel.group[n]).into();
                    let first = match size[n] {
                        1 => group,
                        of => self.alu(Op::SMul, Op::VMul, group, small(of)),
                    };
                    all.push(self.alu(Op::SAdd, Op::VAdd, first, local));
                }
                all.into()
            }
            BuiltIn::LocalInvocationIndex => [self.local_index()].into(),
            BuiltIn::WorkGroupId => self.kernel.group.map(|vreg| In::Scalar(vreg).into()).into(),
            BuiltIn::NumWorkGroups => {
                (0..3).map(|n| self.kernel_argument(counts + 4 * n)).collect::<Vec<_>>().into()
            }
            BuiltIn::SubgroupSize => [small(32)].into(),
            BuiltIn::SubgroupInvocationId => {
                [self.vector_op(Op::LaneCount, &[small(u32::MAX), small(0)])].into()
            }
            _ => return self.refuse("this builtin"),
        })
    }

    fn local_ids(&mut self) -> [Part; 3] {
        let size = self.source.module.entry_points[0].workgroup_size;
        let ids = Part::from(In::Vector(self.kernel.ids));
        let small = |n: u32| Part::from(In::Const(n));
        let x = self.vector_op(Op::VAnd, &[small(0x3ff), ids]);
        let [mut y, mut z] = [small(0); 2];
        if size[1] > 1 {
            y = self.vector_op(Op::VBfe, &[ids, small(10), small(10)]);
        }
        if size[2] > 1 {
            z = self.vector_op(Op::VBfe, &[ids, small(20), small(10)]);
        }
        [x, y, z]
    }

    /// The number of an item in its group.
    pub(crate) fn local_index(&mut self) -> Part {
        let size = self.source.module.entry_points[0].workgroup_size;
        let small = |n: u32| Part::from(In::Const(n));
        let [x, y, z] = self.local_ids();
        let row = self.alu(Op::SMul, Op::VMul, small(size[0]), y);
        let layer = self.alu(Op::SMul, Op::VMul, small(size[0] * size[1]), z);
        let mut sum = x;
        for (more, of) in [(row, size[1]), (layer, size[2])] {
            if of > 1 {
                sum = self.alu(Op::SAdd, Op::VAdd, sum, more);
            }
        }
        sum
    }

    /// A number that the kernel is called with.
    fn kernel_argument(&mut self, offset: i32) -> Part {
        self.made(Kind::Load(Op::SLoad), SCALAR, vec![Src::Fixed(Reg::S(0))], offset)
    }

    /// The components of a value.
    pub(crate) fn value(&mut self, id: Instance, handle: Handle<Expression>) -> Result<Parts> {
        if let Some(known) = self.instances[id].values.get(&handle) {
            return Ok(known.clone());
        }
        let parts = self.compute(id, handle)?;
        self.instances[id].values.insert(handle, parts.clone());
        Ok(parts)
    }

    fn compute(&mut self, id: Instance, handle: Handle<Expression>) -> Result<Parts> {
        let typed = self.instances[id].typed;
        let kind = |at| typed.kind(at).unwrap_or(ScalarKind::Uint);
        let each = |parts: &Parts, make: &mut dyn FnMut(Part) -> Result<Part>| -> Result<Parts> {
            parts.iter().map(|&part| make(part)).collect()
        };
        Ok(match &typed.function.expressions[handle] {
            Expression::Literal(literal) => [self.literal(literal)?].into(),
            Expression::Constant(constant) => self.global(typed.module.constants[*constant].init)?,
            Expression::ZeroValue(ty) => self.zero(*ty)?,
            Expression::Compose { components, .. } => {
                let mut all = Vec::new();
                for &component in components {
                    all.extend_from_slice(&self.value(id, component)?);
                }
                all.into()
            }
            Expression::Access { base, index } => {
                let base_parts = self.value(id, *base)?;
                let index = self.value(id, *index)?[0];
                let Some((element, _)) = layout::element(typed.inner(*base)) else {
                    return self.refuse("an index into this value");
                };
                let element = element.inner(typed.module);
                let width = layout::leaves_of(typed.module, &element).map_or(1, |leaves| leaves.len());
                let mut chosen: Vec<Part> = base_parts[..width].to_vec();
                for (n, parts) in base_parts.chunks(width).enumerate().skip(1) {
                    let number = In::Const(n as u32).into();
                    let is = self.compare(index, number, BinaryOperator::Equal, ScalarKind::Uint);
                    for (chosen, &part) in chosen.iter_mut().zip(parts) {
                        *chosen = self.select(is, part, *chosen);
                    }
                }
                chosen.into()
            }
            Expression::AccessIndex { base, index } => {
                let parts = self.value(id, *base)?;
                let ty = typed.inner(*base);
                let width = |ty: &TypeInner| layout::leaves_of(typed.module, ty).map_or(0, |all| all.len());
                let start: usize = match ty {
                    TypeInner::Struct { members, .. } => {
                        let before = &members[..*index as usize];
                        before.iter().map(|member| width(&typed.module.types[member.ty].inner)).sum()
                    }
                    _ => *index as usize * width(typed.inner(handle)),
                };
                parts[start..start + width(typed.inner(handle))].into()
            }
            Expression::Splat { size, value } => vec![self.value(id, *value)?[0]; *size as usize].into(),
            Expression::Swizzle { size, vector, pattern } => {
                let parts = self.value(id, *vector)?;
                pattern[..*size as usize].iter().map(|&of| parts[of as usize]).collect()
            }
            Expression::FunctionArgument(n) => self.argument(id, *n)?,
            Expression::Load { pointer } => self.load(id, *pointer)?,
            Expression::Unary { op, expr } => {
                let parts = self.value(id, *expr)?;
                let kind = kind(*expr);
                each(&parts, &mut |part| Ok(self.unary(*op, part, kind)))?
            }
            Expression::Binary { op, left, right } => {
                let a = self.value(id, *left)?;
                let b = self.value(id, *right)?;
                if matches!(typed.inner(*left), TypeInner::Matrix { .. })
                    || matches!(typed.inner(*right), TypeInner::Matrix { .. })
                {
                    return self.refuse("arithmetic of matrices");
                }
                let kind = kind(*left);
                let count = a.len().max(b.len());
                let mut all = Vec::new();
                for n in 0..count {
                    let a = a[n % a.len()];
                    let b = b[n % b.len()];
                    all.push(self.binary(*op, a, b, kind)?);
                }
                all.into()
            }
            Expression::Select { condition, accept, reject } => {
                let condition = self.value(id, *condition)?;
                let accept = self.value(id, *accept)?;
                let reject = self.value(id, *reject)?;
                let is_bool = typed.kind(handle) == Some(ScalarKind::Bool);
                let all = accept.iter().zip(&reject[..]).enumerate().map(|(n, (&accept, &reject))| {
                    let number = |this: &mut Self, part: Part| match part.at {
                        In::Mask(_) => In::Vector(this.vector(part)).into(),
                        _ => part,
                    };
                    let (accept, reject) =
                        if is_bool { (number(self, accept), number(self, reject)) } else { (accept, reject) };
                    self.select(condition[n % condition.len()], accept, reject)
                });
                all.collect()
            }
            Expression::Relational { fun, argument } => {
                let parts = self.value(id, *argument)?;
                let is_and = match fun {
                    naga::RelationalFunction::All => true,
                    naga::RelationalFunction::Any => false,
                    _ => return self.refuse("this function"),
                };
                let mut all = parts[0];
                for &part in &parts[1..] {
                    all = self.logic(all, part, is_and);
                }
                [all].into()
            }
            Expression::Math { fun, arg, arg1, arg2, .. } => {
                let mut args = vec![self.value(id, *arg)?];
                for more in [arg1, arg2].into_iter().flatten() {
                    args.push(self.value(id, *more)?);
                }
                self.math(*fun, &args, kind(*arg))?
            }
            Expression::As { expr, kind: to, convert } => {
                let parts = self.value(id, *expr)?;
                let from = kind(*expr);
                if convert.is_none() {
                    return Ok(parts);
                }
                each(&parts, &mut |part| self.convert(part, from, *to))?
            }
            Expression::ArrayLength(pointer) => {
                let (Root::Buffer(n) | Root::ReadOnly(n)) = self.pointer(id, *pointer)?.root else {
                    return self.refuse("the length of this array");
                };
                [self.kernel_argument(8 * self.out.buffers.len() as i32 + 4 * n as i32)].into()
            }
            Expression::CallResult(_) | Expression::AtomicResult { .. } => {
                // Behind a call that does not return.
                return self.refuse("this result");
            }
            _ => return self.refuse("this expression"),
        })
    }

    fn literal(&self, literal: &Literal) -> Result<Part> {
        Ok(Part::from(In::Const(match *literal {
            Literal::F32(value) => value.to_bits(),
            Literal::U32(value) => value,
            Literal::I32(value) => value as u32,
            Literal::Bool(value) => value.into(),
            _ => return self.refuse("this type of number"),
        })))
    }

    fn zero(&self, ty: Handle<naga::Type>) -> Result<Parts> {
        match layout::leaves(&self.source.module, ty) {
            Some(leaves) => Ok(vec![Part::from(In::Const(0)); leaves.len()].into()),
            None => self.refuse("a value of this type"),
        }
    }

    /// A constant expression of the module.
    fn global(&mut self, handle: Handle<Expression>) -> Result<Parts> {
        let module = &self.source.module;
        Ok(match &module.global_expressions[handle] {
            Expression::Literal(literal) => [self.literal(literal)?].into(),
            Expression::Constant(constant) => self.global(module.constants[*constant].init)?,
            Expression::ZeroValue(ty) => self.zero(*ty)?,
            Expression::Splat { size, value } => vec![self.global(*value)?[0]; *size as usize].into(),
            Expression::Compose { components, .. } => {
                let mut all = Vec::new();
                for &component in components {
                    all.extend_from_slice(&self.global(component)?);
                }
                all.into()
            }
            _ => return self.refuse("this constant"),
        })
    }

    fn unary(&mut self, op: UnaryOperator, part: Part, kind: ScalarKind) -> Part {
        let sign = In::Const(0x8000_0000).into();
        match (op, kind) {
            (UnaryOperator::Negate, ScalarKind::Float) => self.vector_op(Op::VXor, &[sign, part]),
            (UnaryOperator::Negate, _) => self.alu(Op::SSub, Op::VSub, In::Const(0).into(), part),
            (UnaryOperator::LogicalNot, _) => match part.at {
                In::Mask(mask) => In::Mask(self.plain(Op::SNot, SCALAR, vec![Src::V(mask)])).into(),
                _ => self.alu(Op::SXor, Op::VXor, In::Const(1).into(), part),
            },
            (UnaryOperator::BitwiseNot, _) => self.alu(Op::SXor, Op::VXor, In::Const(u32::MAX).into(), part),
        }
    }

    fn binary(&mut self, op: BinaryOperator, a: Part, b: Part, kind: ScalarKind) -> Result<Part> {
        use BinaryOperator as B;
        let is_mask = matches!(a.at, In::Mask(_)) || matches!(b.at, In::Mask(_));
        if is_mask && matches!(op, B::Equal | B::NotEqual) {
            let src = [a, b].map(|part| Src::V(self.mask_of(part)));
            let differ = In::Mask(self.plain(Op::SXor, SCALAR, src.to_vec())).into();
            return Ok(match op {
                B::Equal => self.unary(UnaryOperator::LogicalNot, differ, ScalarKind::Bool),
                _ => differ,
            });
        }
        Ok(match (op, kind) {
            (B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual, _) => {
                self.compare(a, b, op, kind)
            }
            (B::LogicalAnd | B::LogicalOr, _) | (B::And | B::InclusiveOr, ScalarKind::Bool) => {
                self.logic(a, b, matches!(op, B::LogicalAnd | B::And))
            }
            (B::Add, ScalarKind::Float) => self.vector_op(Op::VAddF, &[a, b]),
            (B::Subtract, ScalarKind::Float) => self.vector_op(Op::VSubF, &[a, b]),
            (B::Multiply, ScalarKind::Float) => self.vector_op(Op::VMulF, &[a, b]),
            (B::Divide, ScalarKind::Float) => {
                // Within the 2.5 units of the last place that WGSL allows.
                let inverse = self.vector_op(Op::VRcp, &[b]);
                self.vector_op(Op::VMulF, &[a, inverse])
            }
            (B::Modulo, ScalarKind::Float) => {
                let inverse = self.vector_op(Op::VRcp, &[b]);
                let quotient = self.vector_op(Op::VMulF, &[a, inverse]);
                let whole = self.vector_op(Op::VTrunc, &[quotient]);
                let product = self.vector_op(Op::VMulF, &[whole, b]);
                self.vector_op(Op::VSubF, &[a, product])
            }
            (B::Add, _) => self.alu(Op::SAdd, Op::VAdd, a, b),
            (B::Subtract, _) => self.alu(Op::SSub, Op::VSub, a, b),
            (B::Multiply, _) => self.alu(Op::SMul, Op::VMul, a, b),
            (B::Divide | B::Modulo, _) => self.divide(a, b, kind, matches!(op, B::Modulo)),
            (B::And, _) => self.alu(Op::SAnd, Op::VAnd, a, b),
            (B::InclusiveOr, _) => self.alu(Op::SOr, Op::VOr, a, b),
            (B::ExclusiveOr, _) => self.alu(Op::SXor, Op::VXor, a, b),
            (B::ShiftLeft, _) => self.shift(Op::SShl, Op::VShl, a, b),
            (B::ShiftRight, ScalarKind::Sint) => self.shift(Op::SAshr, Op::VAshr, a, b),
            (B::ShiftRight, _) => self.shift(Op::SShr, Op::VShr, a, b),
        })
    }

    /// Integer division: an estimate of 1/b, one step of Newton's, and two corrections. A divisor of 0, and the
    /// smallest number divided by -1, give the dividend, and the remainder 0 (WGSL, 8.7).
    fn divide(&mut self, a: Part, b: Part, kind: ScalarKind, is_remainder: bool) -> Part {
        let c = |value: u32| Part::from(In::Const(value));
        let signed = kind == ScalarKind::Sint;
        let b = match b.at {
            In::Const(power) if !signed && power.is_power_of_two() => {
                return if is_remainder {
                    self.alu(Op::SAnd, Op::VAnd, c(power - 1), a)
                } else {
                    self.shift(Op::SShr, Op::VShr, a, c(power.trailing_zeros()))
                };
            }
            In::Const(number) if number != 0 => b,
            _ => {
                let b = Part::from(In::Vector(self.vector(b)));
                let is_zero = self.compare(b, c(0), BinaryOperator::Equal, ScalarKind::Uint);
                self.select(is_zero, c(1), b)
            }
        };
        let magnitude = |this: &mut Self, part: Part| {
            let sign = this.vector_op(Op::VAshr, &[c(31), part]);
            let flipped = this.vector_op(Op::VXor, &[part, sign]);
            (sign, this.vector_op(Op::VSub, &[flipped, sign]))
        };
        let ((a_sign, n), (b_sign, d)) =
            if signed { (magnitude(self, a), magnitude(self, b)) } else { ((c(0), a), (c(0), b)) };
        let float = self.vector_op(Op::VFromU, &[d]);
        let inverse = self.vector_op(Op::VRcp, &[float]);
        let scaled = self.vector_op(Op::VMulF, &[c(0x4f7f_fffe), inverse]);
        let z = self.vector_op(Op::VToU, &[scaled]);
        let minus = self.vector_op(Op::VSub, &[c(0), d]);
        let error = self.vector_op(Op::VMul, &[minus, z]);
        let more = self.vector_op(Op::VMulHi, &[z, error]);
        let z = self.vector_op(Op::VAdd, &[z, more]);
        let mut q = self.vector_op(Op::VMulHi, &[n, z]);
        let product = self.vector_op(Op::VMul, &[q, d]);
        let mut r = self.vector_op(Op::VSub, &[n, product]);
        for _ in 0..2 {
            let over = self.compare(r, d, BinaryOperator::GreaterEqual, ScalarKind::Uint);
            let next = self.vector_op(Op::VAdd, &[c(1), q]);
            let less = self.vector_op(Op::VSub, &[r, d]);
            (q, r) = (self.select(over, next, q), self.select(over, less, r));
        }
        let found = if is_remainder { r } else { q };
        if !signed {
            return found;
        }
        let sign = if is_remainder { a_sign } else { self.vector_op(Op::VXor, &[a_sign, b_sign]) };
        let flipped = self.vector_op(Op::VXor, &[found, sign]);
        self.vector_op(Op::VSub, &[flipped, sign])
    }

    fn convert(&mut self, part: Part, from: ScalarKind, to: ScalarKind) -> Result<Part> {
        use ScalarKind::{Bool, Float, Sint, Uint};
        Ok(match (from, to) {
            (Float, Sint) => self.vector_op(Op::VToI, &[part]),
            (Float, Uint) => self.vector_op(Op::VToU, &[part]),
            (Sint, Float) => self.vector_op(Op::VFromI, &[part]),
            (Uint, Float) => self.vector_op(Op::VFromU, &[part]),
            (Bool, Float) => {
                let one = In::Const(1f32.to_bits()).into();
                self.select(part, one, In::Const(0).into())
            }
            (Float, Bool) => self.compare(part, In::Const(0).into(), BinaryOperator::NotEqual, Float),
            (Sint | Uint, Bool) => self.compare(part, In::Const(0).into(), BinaryOperator::NotEqual, Uint),
            (Bool, Sint | Uint) => match part.at {
                In::Mask(_) => In::Vector(self.vector(part)).into(),
                _ => part,
            },
            _ if from == to => part,
            (Sint | Uint, Sint | Uint) => part,
            _ => return self.refuse("this conversion"),
        })
    }

    pub(crate) fn math(&mut self, fun: MathFunction, args: &[Parts], kind: ScalarKind) -> Result<Parts> {
        use MathFunction as M;
        let float = kind == ScalarKind::Float;
        let (smaller, larger) = match kind {
            ScalarKind::Sint => ((Op::SMinI, Op::VMinI), (Op::SMaxI, Op::VMaxI)),
            _ => ((Op::SMinU, Op::VMinU), (Op::SMaxU, Op::VMaxU)),
        };
        if let (M::Dot, [a, b]) = (fun, args) {
            let mut sum: Option<Part> = None;
            for (&a, &b) in a.iter().zip(&b[..]) {
                let product = self.binary(BinaryOperator::Multiply, a, b, kind)?;
                sum = Some(match sum {
                    Some(sum) => self.binary(BinaryOperator::Add, sum, product, kind)?,
                    None => product,
                });
            }
            return Ok(sum.into_iter().collect());
        }
        let mut all = Vec::new();
        for n in 0..args[0].len() {
            let at = |k: usize| args[k][n % args[k].len()];
            let a = at(0);
            let least = |this: &mut Self, a, b| {
                if float { this.vector_op(Op::VMinF, &[a, b]) } else { this.alu(smaller.0, smaller.1, a, b) }
            };
            let most = |this: &mut Self, a, b| {
                if float { this.vector_op(Op::VMaxF, &[a, b]) } else { this.alu(larger.0, larger.1, a, b) }
            };
            all.push(match fun {
                M::Min => least(self, a, at(1)),
                M::Max => most(self, a, at(1)),
                M::Clamp => {
                    let up = most(self, a, at(1));
                    least(self, up, at(2))
                }
                M::Saturate => {
                    let up = most(self, a, In::Const(0).into());
                    least(self, up, In::Const(1f32.to_bits()).into())
                }
                M::Abs if float => self.vector_op(Op::VAnd, &[In::Const(0x7fff_ffff).into(), a]),
                M::Abs if kind == ScalarKind::Uint => a,
                M::Abs => {
                    let minus = self.vector_op(Op::VSub, &[In::Const(0).into(), a]);
                    self.vector_op(Op::VMaxI, &[a, minus])
                }
                M::Fma => self.vector_op(Op::VFmaF, &[a, at(1), at(2)]),
                M::Floor => self.vector_op(Op::VFloor, &[a]),
                M::Ceil => self.vector_op(Op::VCeil, &[a]),
                M::Trunc => self.vector_op(Op::VTrunc, &[a]),
                M::Round => self.vector_op(Op::VRound, &[a]),
                M::Fract => {
                    let whole = self.vector_op(Op::VFloor, &[a]);
                    self.vector_op(Op::VSubF, &[a, whole])
                }
                M::Sqrt => self.vector_op(Op::VSqrt, &[a]),
                M::CountOneBits => self.vector_op(Op::VBitCount, &[a, In::Const(0).into()]),
                M::Mix => {
                    let rest = self.vector_op(Op::VSubF, &[In::Const(1f32.to_bits()).into(), at(2)]);
                    let first = self.vector_op(Op::VMulF, &[a, rest]);
                    let second = self.vector_op(Op::VMulF, &[at(1), at(2)]);
                    self.vector_op(Op::VAddF, &[first, second])
                }
                _ => return self.refuse("this function"),
            });
        }
        Ok(all.into())
    }

    /// The components of a variable that is in registers.
    pub(crate) fn read_slots(&mut self, slots: &[Slot]) -> Parts {
        let parts = slots.iter().map(|&slot| {
            let vreg = self.read(slot);
            Part { from: Some((slot, self.now)), ..self.held(vreg) }
        });
        parts.collect::<Rc<[Part]>>()
    }
}
