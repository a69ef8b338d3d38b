//! What each operation does with symbols. The match has no default arm, so that a new row in the operation table does not
//! compile until it has a meaning here, or a reason why it has none.

use super::context::{EntryOffset, Result};
use super::numbers::{Number, Signs, integer, small};
use super::run::{Element, Run, complete};
use super::terms::{TermId, fault};
use super::untyped::{Unresolved, UntypedReason};
use crate::eval::{BaseType, TypeEncoding};
use crate::model::{Address, Node};
use crate::op::{Decoder, Op, Spelling};
use crate::target::SpaceId;

/// Opcodes of constants whose size is that of a relocation: `const4u` to `const8s`.
const FIXED: core::ops::RangeInclusive<u8> = 0x0c..=0x0f;

impl<'a> Run<'a, '_> {
    /// Executes one operation, which is not a branch.
    pub(super) fn operation(&mut self, op: &Op<'a>, offset: usize, spelling: Spelling) -> Result<()> {
        match *op {
            // Literals, A.2.5.4.3.1.
            Op::ConstU { value } => self.constant(value, offset, spelling),
            Op::ConstS { value } => self.constant(value as u64, offset, spelling),
            Op::Constx { index } => {
                let value = self.indexed(index)?;
                match self.references.constant(offset + 1, value) {
                    Some((symbol, by)) => self.push_node(Node::Address(symbol, by)),
                    None => self.push_node(Node::Const(value)),
                }
            }
            Op::ConstType { ty, bytes } => self.const_type(ty, bytes),

            // The stack, A.2.5.4.1.
            Op::Drop {} => {
                let dropped = self.pop()?;
                complete(&dropped)
            }
            Op::Pick { index } => self.pick(index.into()),
            Op::Swap {} => self.rotate(2),
            Op::Rot {} => self.rotate(3),

            // Arithmetic and comparison, A.2.5.4.3.2.
            Op::And {} => self.bitwise(Node::And),
            Op::Or {} => self.bitwise(Node::Or),
            Op::Xor {} => self.bitwise(Node::Xor),
            Op::Plus {} => self.two(|run, a, b, _| run.terms.binary(Node::Add, a, b)),
            Op::Minus {} => self.two(|run, a, b, _| run.terms.binary(Node::Sub, a, b)),
            Op::Mul {} => self.two(|run, a, b, _| run.terms.binary(Node::Mul, a, b)),
            Op::Div {} => self.two(Self::quotient),
            Op::Mod {} => self.integral(Self::remainder),
            Op::Shl {} => self.integral(|run, a, b, (_, bits)| {
                let by = run.terms.reduced(b, bits)?;
                run.terms.binary(Node::Shl, a, by)
            }),
            Op::Shr {} => self.integral(Self::shr),
            Op::Shra {} => self.integral(|run, a, b, (signs, bits)| match signs {
                Signs::Unsigned => run.shr(a, b, (signs, bits)),
                _ => {
                    let number = run.terms.extended(a, bits)?;
                    let by = run.terms.reduced(b, bits)?;
                    run.terms.binary(Node::Shra, number, by)
                }
            }),
            Op::Abs {} => self.one(|run, a, bits| {
                let number = run.terms.extended(a, bits)?;
                run.terms.magnitude(number)
            }),
            Op::Neg {} => self.one(|run, a, _| run.terms.unary(Node::Neg, a)),
            Op::Not {} => {
                self.is_integral_top()?;
                self.one(|run, a, _| run.terms.unary(Node::Not, a))
            }
            Op::PlusUconst { value } => {
                self.is_integral_top()?;
                self.one(|run, a, _| run.terms.plus(a, value as i64))
            }
            Op::Eq {} => self.compare(Node::Eq, false),
            Op::Ne {} => self.compare(Node::Ne, false),
            Op::Lt {} => self.compare(Node::Lt, false),
            Op::Le {} => self.compare(Node::Le, false),
            // The operands change places, which changes nothing else.
            Op::Gt {} => self.compare(Node::Lt, true),
            Op::Ge {} => self.compare(Node::Le, true),

            // Types, A.2.5.4.3.3.
            Op::Convert { ty } => self.convert(ty),
            Op::Reinterpret { ty } => self.reinterpret(ty),

            // Control flow, A.2.5.4.2. Branches are the run's.
            Op::Nop {} | Op::GnuUninit {} => Ok(()),
            Op::Skip { .. } | Op::Bra { .. } => Ok(()),
            Op::Call2 { entry } | Op::Call4 { entry } => self.call(EntryOffset::Unit(entry)),
            Op::CallRef { entry } => self.call(EntryOffset::Section(entry)),
            Op::EntryValue { expr } => self.entry_value(expr),

            // Values at locations, A.2.5.4.3.4.
            Op::Deref {} => self.deref(None),
            Op::DerefSize { bytes } => self.deref(Some(bytes)),
            Op::DerefType { bytes, ty } => self.deref_type(bytes, ty),
            Op::Xderef {} => self.form_xderef_address().and_then(|()| self.deref(None)),
            Op::XderefSize { bytes } => self.form_xderef_address().and_then(|()| self.deref(Some(bytes))),
            Op::XderefType { bytes, ty } => {
                self.form_xderef_address().and_then(|()| self.deref_type(bytes, ty))
            }
            Op::RegvalType { reg, ty } => {
                let place = self.register(reg)?;
                let ty = self.base_type(ty)?;
                self.read(place, ty)
            }
            Op::PushLane {} => match self.context.target.lanes() {
                1 => Err(UntypedReason::Operation.into()),
                _ => self.push_node(Node::LaneIndex),
            },

            // Locations in general, A.2.5.4.4.1.
            Op::PushObjectAddress {} => Err(UntypedReason::Object.into()),
            Op::Offset {} => self.offset(8),
            Op::BitOffset {} => self.offset(1),
            Op::OffsetUconst { bytes } => {
                let place = self.pop_place()?;
                let moved = self.moved(place, i128::from(bytes) * 8)?;
                self.push(Element::Place(moved));
                Ok(())
            }
            Op::CallFrameEntryReg { reg } => {
                let register = self.known_register(reg)?;
                self.push(Element::Entry(register.reg));
                Ok(())
            }
            Op::Undefined {} => self.push_place(Node::Undefined, &[]),

            // Memory, A.2.5.4.4.3.
            Op::Addr { address } => self.push_address(address, offset + 1),
            Op::Addrx { index } => {
                let address = self.indexed(index)?;
                self.push_address(address, offset + 1)
            }
            Op::FormTlsAddress {} => {
                let bytes = self.pop_unsigned()?;
                let bytes = self.thread_local(bytes)?;
                self.push_place(Node::ThreadLocal, &[bytes])
            }
            Op::CallFrameCfa {} => self.push_cfa(),
            Op::FbReg { offset } => self.fbreg(offset),
            Op::BregX { reg, offset } => self.breg(SpaceId::DEFAULT, reg, offset),
            Op::AspaceBregX { reg, offset } => {
                let space = self.pop_space()?;
                self.breg(space, reg, offset)
            }
            Op::FormAspaceAddress {} => {
                let space = self.pop_space()?;
                let address = self.pop()?;
                self.form_address(space, address)
            }

            // Registers, A.2.5.4.4.4.
            Op::RegX { reg } => {
                let place = self.register(reg)?;
                self.push(Element::Place(place));
                Ok(())
            }

            // Implicit locations, A.2.5.4.4.5.
            Op::ImplicitValue { bytes } => self.push_place(Node::Implicit(bytes), &[]),
            Op::StackValue {} => self.stack_value(),
            Op::ImplicitPointer { entry, offset } => {
                let variable = self.references.variable(EntryOffset::Section(entry));
                let variable = variable.ok_or(UntypedReason::Unresolved(Unresolved::Variable(entry)))?;
                self.push_place(Node::PointerTo(variable, offset), &[])
            }

            // Composites, A.2.5.4.4.6.
            Op::Piece { bytes } => self.piece(bytes.checked_mul(8), None),
            Op::BitPiece { bits, offset } => self.piece(Some(bits), Some(offset)),
            Op::PieceEnd {} => self.piece_end(),
            Op::Extend { bits, count } => self.extend(bits, count),
            Op::SelectBitPiece { bits, count } => self.select(bits, count),
            Op::Overlay {} => self.overlay(8),
            Op::BitOverlay {} => self.overlay(1),

            Op::AspaceImplicitPointer { .. } | Op::PushIteration {} | Op::GnuEncodedAddr { .. } => {
                Err(UntypedReason::Operation.into())
            }
            Op::GnuParameterRef { entry } => {
                let parameter = self.references.variable(EntryOffset::Unit(entry));
                let unknown = UntypedReason::Unresolved(Unresolved::Variable(entry));
                self.push_node(Node::PassedValue(parameter.ok_or(unknown)?))
            }
            Op::GnuVariableValue { .. } | Op::NvidiaMux { .. } => Err(UntypedReason::Operation.into()),
            Op::ModFloor {}
            | Op::Composite {}
            | Op::Mem {}
            | Op::Extended { .. }
            | Op::UserExtended { .. } => Err(UntypedReason::Operation.into()),
        }
    }

    pub(super) fn generic(&self) -> BaseType {
        BaseType::generic(self.context.encoding.address_bytes)
    }

    /// Pushes a generic number without operands.
    fn push_node(&mut self, node: Node<'a>) -> Result<()> {
        let term = self.terms.node(node, &[])?;
        self.push_number(term, self.generic());
        Ok(())
    }

    fn constant(&mut self, value: u64, offset: usize, spelling: Spelling) -> Result<()> {
        if FIXED.contains(&spelling.code())
            && let Some((symbol, by)) = self.references.constant(offset + 1, value)
        {
            return self.push_node(Node::Address(symbol, by));
        }
        // As many bits as the type has, so that a negative number of 32 bits is one constant.
        let bits = self.generic().bits.clamp(1, 64);
        self.push_node(Node::Const(value & u64::MAX >> (64 - bits)))
    }

    fn indexed(&mut self, index: u64) -> Result<u64> {
        let address = self.references.indexed(index);
        address.ok_or_else(|| UntypedReason::Unresolved(Unresolved::Index(index)).into())
    }

    fn push_address(&mut self, address: u64, operand: usize) -> Result<()> {
        let address = self.terms.file_address(address, operand)?;
        self.push_place(Node::Memory(SpaceId::DEFAULT), &[address])
    }

    /// Returns an offset in thread-local storage as the model states it.
    fn thread_local(&mut self, offset: TermId) -> Result<TermId> {
        let Some(bytes) = self.terms.constant(offset) else { return Ok(offset) };
        match self.references.thread_local(bytes) {
            Some(Address::Symbol(symbol, by)) => self.terms.node(Node::Address(symbol, by as i64), &[]),
            Some(Address::Constant(_)) => Ok(offset),
            None => Err(UntypedReason::Unresolved(Unresolved::ThreadLocal(bytes)).into()),
        }
    }

    pub(super) fn push_place(&mut self, node: Node<'a>, operands: &[TermId]) -> Result<()> {
        let place = self.terms.node(node, operands)?;
        self.push(Element::Place(place));
        Ok(())
    }

    fn const_type(&mut self, ty: u64, bytes: &[u8]) -> Result<()> {
        let ty = self.base_type(ty)?;
        small(ty)?;
        same_size(ty, bytes.len() as u64)?;
        let push = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        let value = if self.context.encoding.big_endian {
            bytes.iter().fold(0, push)
        } else {
            bytes.iter().rev().fold(0, push)
        };
        let number = self.terms.number(value)?;
        let term = self.terms.reduced(number, ty.bits)?;
        self.push_number(term, ty);
        Ok(())
    }

    // Arithmetic.

    /// Replaces the top number by a result of the same type.
    fn one(&mut self, result: impl FnOnce(&mut Self, TermId, u32) -> Result<TermId>) -> Result<()> {
        let Number { term, ty } = self.pop_number()?;
        let (_, bits) = integer(ty)?;
        let term = result(self, term, bits)?;
        self.push_number(term, ty);
        Ok(())
    }

    /// Replaces two numbers of the same type by a result of this type.
    fn two(
        &mut self,
        result: impl FnOnce(&mut Self, TermId, TermId, (Signs, u32)) -> Result<TermId>,
    ) -> Result<()> {
        let second = self.pop_number()?;
        let first = self.pop_number()?;
        same_type(first, second)?;
        let term = result(self, first.term, second.term, integer(first.ty)?)?;
        self.push_number(term, first.ty);
        Ok(())
    }

    /// Does the same for an operation that is defined for integral types only.
    fn integral(
        &mut self,
        result: impl FnOnce(&mut Self, TermId, TermId, (Signs, u32)) -> Result<TermId>,
    ) -> Result<()> {
        self.is_integral_top()?;
        self.two(result)
    }

    fn bitwise(&mut self, node: Node<'a>) -> Result<()> {
        self.integral(|run, a, b, _| run.terms.binary(node, a, b))
    }

    /// Refuses a top number whose type is not integral.
    fn is_integral_top(&self) -> Result<()> {
        match self.peek(0) {
            Some(Element::Number(number)) if !number.ty.is_integral() => {
                Err(fault("an operand does not have an integral type"))
            }
            _ => Ok(()),
        }
    }

    fn shr(&mut self, a: TermId, b: TermId, (_, bits): (Signs, u32)) -> Result<TermId> {
        let number = self.terms.reduced(a, bits)?;
        let by = self.terms.reduced(b, bits)?;
        self.terms.binary(Node::Shr, number, by)
    }

    fn quotient(&mut self, a: TermId, b: TermId, (signs, bits): (Signs, u32)) -> Result<TermId> {
        let (a, b) = match signs {
            Signs::Unsigned if bits == 64 => return Err(UntypedReason::Operation.into()),
            Signs::Unsigned => (self.terms.reduced(a, bits)?, self.terms.reduced(b, bits)?),
            _ => (self.terms.extended(a, bits)?, self.terms.extended(b, bits)?),
        };
        self.terms.binary(Node::Div, a, b)
    }

    fn remainder(&mut self, a: TermId, b: TermId, (signs, bits): (Signs, u32)) -> Result<TermId> {
        if signs != Signs::Signed {
            let a = self.terms.reduced(a, bits)?;
            let b = self.terms.reduced(b, bits)?;
            return self.terms.binary(Node::Mod, a, b);
        }
        // The remainder has the sign of the dividend, as the quotient is rounded towards 0.
        let a = self.terms.extended(a, bits)?;
        let b = self.terms.extended(b, bits)?;
        let quotient = self.terms.binary(Node::Div, a, b)?;
        let product = self.terms.binary(Node::Mul, quotient, b)?;
        self.terms.binary(Node::Sub, a, product)
    }

    fn compare(&mut self, node: Node<'a>, is_swapped: bool) -> Result<()> {
        let second = self.pop_number()?;
        let first = self.pop_number()?;
        same_type(first, second)?;
        let (signs, bits) = integer(first.ty)?;
        let mut comparable = |number: Number| match signs {
            Signs::Unsigned if bits == 64 => {
                // Signed order of numbers with the highest bit inverted is their unsigned order.
                let high = self.terms.number(1 << 63)?;
                self.terms.binary(Node::Xor, number.term, high)
            }
            Signs::Unsigned => self.terms.reduced(number.term, bits),
            _ => self.terms.extended(number.term, bits),
        };
        let a = comparable(first)?;
        let b = comparable(second)?;
        let term = self.terms.binary(node, if is_swapped { b } else { a }, if is_swapped { a } else { b })?;
        self.push_number(term, self.generic());
        Ok(())
    }

    // Types.

    pub(super) fn base_type(&mut self, entry: u64) -> Result<BaseType> {
        let ty = self.references.base_type(entry);
        ty.ok_or_else(|| UntypedReason::Unresolved(Unresolved::Type(entry)).into())
    }

    fn type_or_generic(&mut self, entry: u64) -> Result<BaseType> {
        if entry == 0 { Ok(self.generic()) } else { self.base_type(entry) }
    }

    fn convert(&mut self, entry: u64) -> Result<()> {
        let ty = self.type_or_generic(entry)?;
        let number = self.pop_number()?;
        let (signs, bits) = integer(number.ty)?;
        integer(ty)?;
        if number.ty == ty {
            self.push(Element::Number(number));
            return Ok(());
        }
        let mut term = match signs {
            // Bits that the new type lacks do not matter.
            _ if ty.bits <= bits && ty.encoding != TypeEncoding::Boolean => number.term,
            Signs::Signed => self.terms.extended(number.term, bits)?,
            _ => self.terms.reduced(number.term, bits)?,
        };
        if ty.encoding == TypeEncoding::Boolean {
            let zero = self.terms.number(0)?;
            term = self.terms.binary(Node::Ne, term, zero)?;
        }
        self.push_number(term, ty);
        Ok(())
    }

    fn reinterpret(&mut self, entry: u64) -> Result<()> {
        let ty = self.type_or_generic(entry)?;
        let number = self.pop_number()?;
        small(number.ty)?;
        if ty.size() != number.ty.size() {
            return Err(fault("a value is reinterpreted as a type of another size"));
        }
        small(ty)?;
        self.push_number(number.term, ty);
        Ok(())
    }

    /// Pushes a register's value on entry to the function.
    fn entry_value(&mut self, expr: &[u8]) -> Result<()> {
        let mut operations = Decoder::new(expr, self.context.encoding);
        let first = operations.next().and_then(|decoded| decoded.ok()).map(|decoded| decoded.op);
        let (Some(Op::RegX { reg }), None) = (first, operations.next()) else {
            return Err(UntypedReason::EntryValue.into());
        };
        let register = self.known_register(reg)?;
        if register.is_vector() || register.bits > 64 || self.context.target.has_lane_expressions() {
            return Err(UntypedReason::EntryValue.into());
        }
        let generic = self.generic();
        let unsigned = BaseType::new(TypeEncoding::Unsigned, register.bits);
        let ty = if register.bits == generic.bits { generic } else { unsigned };
        let term = self.terms.node(Node::EntryRegister(register.reg), &[])?;
        self.push_number(term, ty);
        Ok(())
    }
}

/// Refuses numbers of different types.
fn same_type(first: Number, second: Number) -> Result<()> {
    if first.ty == second.ty { Ok(()) } else { Err(fault("the operands have different types")) }
}

/// Refuses a size operand that differs from the type's size.
pub(super) fn same_size(ty: BaseType, bytes: u64) -> Result<()> {
    if ty.size().div_ceil(8) == bytes {
        Ok(())
    } else {
        Err(fault("the size operand differs from the size of the type"))
    }
}
