//! What each operation does. The match has no default arm, so that a new row in the operation table does not compile
//! until it has semantics here.

mod composite;
mod control;
mod gnu;
mod memory;
mod registers;

use super::arith::{binary, compare, convert, is_zero, plus_constant, reinterpret, unary};
use super::context::{CurrentObject, ExpressionSite};
use super::fault::{Fault, error, ill_formed, unsupported};
use super::location::{ImplicitBits, Location, SingleLocation, Storage};
use super::run::{Next, Run};
use super::stack::Element;
use super::value::{BaseType, Value};
use super::word::{Binary, Compare, Unary};
use crate::error::Count;
use crate::op::{Op, OperationName};

impl Run<'_, '_> {
    /// Executes one operation.
    #[inline]
    pub(super) fn operation(&mut self, op: &Op<'_>) -> Result<Next, Fault> {
        if self.place == ExpressionSite::Cfi && !op.row().is_for_cfi {
            return Err(ill_formed("the operation is not allowed in call frame information (A.6.4.2)"));
        }
        // No arm has a `?` or a local location: each would take room on the machine stack, at every level of calls.
        let done = match *op {
            // Literals, A.2.5.4.3.1.
            Op::ConstU { value } => self.push_generic(value),
            Op::ConstS { value } => self.push_generic(value as u64),
            Op::Constx { index } => self.constx(index),
            Op::ConstType { ty, bytes } => self.const_type(ty, bytes),

            // The stack, A.2.5.4.1.
            Op::Drop {} => self.drop_top(),
            Op::Pick { index } => self.pick(index.into()),
            Op::Swap {} => self.rotate(2),
            Op::Rot {} => self.rotate(3),

            // Arithmetic and comparison, A.2.5.4.3.2.
            Op::And {} => self.binary(Binary::And),
            Op::Div {} => self.binary(Binary::Div),
            Op::Minus {} => self.binary(Binary::Minus),
            Op::Mod {} => self.binary(Binary::Mod),
            Op::ModFloor {} => self.binary(Binary::ModFloor),
            Op::Mul {} => self.binary(Binary::Mul),
            Op::Or {} => self.binary(Binary::Or),
            Op::Plus {} => self.binary(Binary::Plus),
            Op::Shl {} => self.binary(Binary::Shl),
            Op::Shr {} => self.binary(Binary::Shr),
            Op::Shra {} => self.binary(Binary::Shra),
            Op::Xor {} => self.binary(Binary::Xor),
            Op::Abs {} => self.unary(Unary::Abs),
            Op::Neg {} => self.unary(Unary::Neg),
            Op::Not {} => self.unary(Unary::Not),
            Op::PlusUconst { value } => self.plus_uconst(|ty| Value::new(ty, value)),
            Op::Eq {} => self.compare(Compare::Eq),
            Op::Ge {} => self.compare(Compare::Ge),
            Op::Gt {} => self.compare(Compare::Gt),
            Op::Le {} => self.compare(Compare::Le),
            Op::Lt {} => self.compare(Compare::Lt),
            Op::Ne {} => self.compare(Compare::Ne),

            // Types, A.2.5.4.3.3.
            Op::Convert { ty } => self.change_type(ty, convert),
            Op::Reinterpret { ty } => self.change_type(ty, reinterpret),

            // Control flow, A.2.5.4.2.
            Op::Nop {} => Ok(()),
            Op::Skip { distance } => return Ok(Next::Branch(distance)),
            Op::Bra { distance } => return self.bra(distance),
            Op::Call2 { entry } | Op::Call4 { entry } => self.call_entry(self.scope.unit.checked_add(entry)),
            Op::CallRef { entry } => self.call_entry(Some(self.scope.entry_in_file(entry))),
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
            Op::RegvalType { reg, ty } => self.regval_type(reg, ty),
            Op::PushLane {} => self.push_lane(),
            Op::PushIteration {} => {
                self.push_index("iteration", self.machine.iteration(), self.machine.iterations())
            }

            // Locations in general, A.2.5.4.4.1.
            Op::PushObjectAddress {} => self.push_object(),
            Op::Offset {} => self.offset(8),
            Op::OffsetUconst { bytes } => self.move_top(Some(i128::from(bytes) * 8)),
            Op::BitOffset {} => self.offset(1),
            Op::CallFrameEntryReg { reg } => self.call_frame_entry_reg(reg),
            Op::Undefined {} => self.push_location(Ok(Location::undefined())),

            // Memory, A.2.5.4.4.3.
            Op::Addr { address } => self.push_loaded(address),
            Op::Addrx { index } => self.addrx(index),
            Op::GnuEncodedAddr { address } => self.encoded_addr(address),
            Op::FormTlsAddress {} => self.form_tls_address(),
            Op::CallFrameCfa {} => self.push_cfa(),
            Op::FbReg { offset } => self.fbreg(offset),
            Op::BregX { reg, offset } => self.breg(0, reg, offset),
            Op::AspaceBregX { reg, offset } => self.aspace_breg(reg, offset),
            Op::FormAspaceAddress {} => self.form_aspace_address(),
            // `xderef`'s operands: the address on top of its space.
            Op::Mem {} => self.draft_mem(),

            // Registers, A.2.5.4.4.4.
            Op::RegX { reg } => self.push_location(self.register(reg)),

            // Implicit locations, A.2.5.4.4.5.
            Op::ImplicitValue { bytes } => self.implicit_value(bytes),
            Op::StackValue {} => self.stack_value(),
            Op::ImplicitPointer { entry, offset } => self.implicit_pointer(0, entry, offset),
            Op::AspaceImplicitPointer { entry, offset } => self.aspace_implicit_pointer(entry, offset),

            // Composites, A.2.5.4.4.6.
            Op::Piece { bytes } => self.piece(u128::from(bytes) * 8, None),
            Op::BitPiece { bits, offset } => self.piece(bits.into(), Some(offset)),
            Op::PieceEnd {} => self.piece_end(),
            Op::Extend { bits, count } => self.extend(bits, count),
            Op::SelectBitPiece { bits, count } => self.select_bit_piece(bits, count),
            Op::Overlay {} => self.overlay(8),
            Op::BitOverlay {} => self.overlay(1),
            Op::Composite {} => self.composite(),

            // "Uninitialised" describes the variable, and does not change the stack.
            Op::GnuUninit {} => Ok(()),
            Op::GnuParameterRef { entry } => self.parameter_ref(entry),
            Op::GnuVariableValue { entry } => self.variable_value(entry),
            Op::NvidiaMux { .. } => not_supported(op.name()),
            Op::Extended { .. } | Op::UserExtended { .. } => not_known(),
        };
        done.map(|()| Next::On)
    }

    fn push_generic(&mut self, bits: u64) -> Result<(), Fault> {
        self.push(self.generic(bits));
        Ok(())
    }

    fn push_location(&mut self, location: Result<Location, Fault>) -> Result<(), Fault> {
        self.push(location?);
        Ok(())
    }

    fn constx(&mut self, index: u64) -> Result<(), Fault> {
        let bits = self.debug_addr(index)?;
        self.push_generic(bits)
    }

    fn addrx(&mut self, index: u64) -> Result<(), Fault> {
        let address = self.debug_addr(index)?;
        self.push_loaded(address)
    }

    /// Pushes the default-space location where an address in the file is loaded.
    fn push_loaded(&mut self, address: u64) -> Result<(), Fault> {
        self.push_memory(0, address.wrapping_add(self.machine.load_bias()).into())
    }

    fn drop_top(&mut self) -> Result<(), Fault> {
        self.accessed(1)?;
        self.pop().map(drop)
    }

    fn change_type(
        &mut self,
        ty: u64,
        change: fn(&Value, BaseType) -> Result<Value, Fault>,
    ) -> Result<(), Fault> {
        let ty = self.type_or_generic(ty)?;
        let value = self.pop_value()?;
        self.charge_value(ty)?;
        self.push(change(&value, ty)?);
        Ok(())
    }

    fn push_object(&mut self) -> Result<(), Fault> {
        let object = match self.object {
            // Expressions that are evaluated separately have no object (A.2.5.5).
            _ if !self.scope.has_object => None,
            CurrentObject::Is(object) => Some(object.clone()),
            CurrentObject::OfMachine => self.machine.object(),
            CurrentObject::Unspecified => None,
        };
        self.push(object.ok_or_else(|| error("the context has no current object (A.2.5.1)"))?);
        Ok(())
    }

    fn push_cfa(&mut self) -> Result<(), Fault> {
        let cfa = self.machine.cfa(self.scope.frame);
        let cfa = cfa.ok_or_else(|| match self.machine.cfa_problem(self.scope.frame) {
            Some(why) => error(format!("the canonical frame address is unknown (A.2.5.1): {why}")),
            None => error("the canonical frame address is unknown (A.2.5.1)"),
        })?;
        match cfa.default_address() {
            // In DWARF 6 it is an address, not a location.
            Some(address) if self.is_draft() => self.push_generic(address)?,
            _ => self.push(cfa),
        }
        Ok(())
    }

    fn push_lane(&mut self) -> Result<(), Fault> {
        // In DWARF 6 code without lanes runs in lane 0.
        let lane = self.machine.lane().or(self.is_draft().then_some(0));
        self.push_index("lane", lane, self.machine.lanes())
    }

    pub(super) fn implicit_value(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.charge(bytes.len() as u64 / 64)?;
        self.push(Location::implicit(bytes));
        Ok(())
    }

    fn bra(&mut self, by: i16) -> Result<Next, Fault> {
        let value = self.pop_value()?;
        Ok(if is_zero(&value)? { Next::On } else { Next::Branch(by) })
    }

    /// Moves a location by a number that counts units of `unit` bits.
    fn offset(&mut self, unit: i128) -> Result<(), Fault> {
        let (_, by) = self.pop_number()?;
        self.move_top(by.and_then(|units| units.checked_mul(unit)))
    }

    fn debug_addr(&self, index: u64) -> Result<u64, Fault> {
        let address = self.machine.debug_addr(self.scope.unit, index);
        address.ok_or_else(|| error(format!(".debug_addr has no address {index}")))
    }

    /// Refuses incomplete composites among the top elements that an operation on the stack accesses.
    fn accessed(&self, count: usize) -> Result<(), Fault> {
        for index in 0..count {
            if let Some(Element::Location(location)) = self.peek(index) {
                super::stack::complete(location)?;
            }
        }
        Ok(())
    }

    fn pick(&mut self, index: usize) -> Result<(), Fault> {
        let picked = self.peek(index).cloned();
        let picked = picked.ok_or_else(|| ill_formed(format!("the stack has no element {index}")))?;
        if let Element::Location(location) = &picked {
            super::stack::complete(location)?;
            self.charge(location.places().count() as u64 / 4)?;
        } else if let Element::Value(value) = &picked {
            self.charge_value(value.ty())?;
        }
        self.push(picked);
        Ok(())
    }

    /// Moves the top element below the next `count - 1`.
    fn rotate(&mut self, count: usize) -> Result<(), Fault> {
        if self.peek(count - 1).is_none() {
            return Err(ill_formed(format!(
                "the stack has fewer than {count}",
                count = Count(count, "element")
            )));
        }
        self.accessed(count)?;
        let start = self.stack.len() - count;
        // In place: elements can own memory.
        self.stack[start..].rotate_right(1);
        Ok(())
    }

    fn binary(&mut self, op: Binary) -> Result<(), Fault> {
        let right = self.pop_value()?;
        let left = self.pop_value()?;
        self.charge_value(left.ty())?;
        self.push(binary(op, &left, &right)?);
        Ok(())
    }

    fn unary(&mut self, op: Unary) -> Result<(), Fault> {
        let value = self.pop_value()?;
        self.charge_value(value.ty())?;
        self.push(unary(op, &value)?);
        Ok(())
    }

    fn compare(&mut self, op: Compare) -> Result<(), Fault> {
        let right = self.pop_value()?;
        let left = self.pop_value()?;
        self.charge_value(left.ty())?;
        let holds = compare(op, &left, &right)?;
        self.push(self.generic(holds.into()));
        Ok(())
    }

    /// Adds a constant with the top value's type.
    pub(super) fn plus_uconst(&mut self, constant: impl FnOnce(BaseType) -> Value) -> Result<(), Fault> {
        let left = self.pop_value()?;
        self.charge_value(left.ty())?;
        self.push(plus_constant(&left, &constant(left.ty()))?);
        Ok(())
    }

    /// Counts a wide value's cost as steps.
    pub(super) fn charge_value(&mut self, ty: BaseType) -> Result<(), Fault> {
        match ty.size() {
            ..=128 => Ok(()),
            size => self.charge(size / 64 + u64::from(ty.elements)),
        }
    }

    fn push_index(&mut self, what: &str, index: Option<u64>, count: u64) -> Result<(), Fault> {
        let index = index.ok_or_else(|| error(format!("the context has no current {what}")))?;
        // An index beyond the count would select storage that no lane has.
        if index >= count {
            return Err(ill_formed(format!("current {what} {index} is out of range 0..{count}")));
        }
        self.push(self.generic(index));
        Ok(())
    }

    pub(super) fn move_top(&mut self, bits: Option<i128>) -> Result<(), Fault> {
        let location = self.pop_location()?;
        let Some(bits) = bits else {
            // Undefined storage has no end, except in DWARF 6.
            let is_endless = !self.is_draft() && location.places().all(|it| it.storage == Storage::Undefined);
            return if is_endless {
                self.push_location(Ok(location))
            } else {
                Err(error("the offset exceeds every storage (A.2.5.3)"))
            };
        };
        self.charge(location.places().count() as u64 / 4)?;
        let moved = match location.single() {
            Some(place) if self.is_draft() && place.storage == Storage::Undefined => {
                self.draft_undefined(place.offset, bits)?
            }
            _ => location.moved(bits)?,
        };
        self.push(moved);
        Ok(())
    }

    /// In DWARF 6 undefined storage is as large as the largest address space.
    fn draft_undefined(&self, offset: u128, by: i128) -> Result<Location, Fault> {
        let offset = offset.checked_add_signed(by).filter(|&offset| offset < self.largest_storage());
        let offset = offset.ok_or_else(|| error("the offset exceeds undefined storage"))?;
        Ok(SingleLocation { storage: Storage::Undefined, offset }.into())
    }

    fn stack_value(&mut self) -> Result<(), Fault> {
        let value = self.pop_value()?;
        self.charge_value(value.ty())?;
        let storage = match value.as_pointer() {
            Some(pointer) => Storage::ImplicitPointer(pointer),
            None => Storage::Implicit(ImplicitBits::value(&value, self.machine.is_big_endian())),
        };
        self.push(Location::from(storage));
        Ok(())
    }
}

fn not_supported(name: OperationName) -> Result<(), Fault> {
    Err(unsupported(format!("the operation `{}`", name.row().text)))
}

fn not_known() -> Result<(), Fault> {
    Err(ill_formed("unknown extended operation"))
}
