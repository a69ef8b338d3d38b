//! Addresses, and values at locations.

use super::super::decoding::operations;
use super::super::fault::{Fault, brief, error, ill_formed};
use super::super::location::{Location, SingleLocation, Storage};
use super::super::machine::{Body, ReferencedEntry};
use super::super::read::{read_exact, read_pointer};
use super::super::run::Run;
use super::super::stack::{Element, integral};
use super::super::value::{BaseType, ImplicitPointer, TypeEncoding, Value};
use super::super::value_bits::value_of_stream;
use crate::error::Count;
use crate::op::{Dialect, Encoding, OperationName, Reg};
use crate::target::{Per, SpaceId};

/// A value's maximum size in bits. A whole vector register has 2048 bits in a 64-lane wave.
pub(in super::super) const MAX_VALUE_BITS: u64 = 1 << 16;

impl Run<'_, '_> {
    /// Returns a space's address size in bits.
    pub(in super::super) fn address_bits(&self, space: SpaceId) -> Result<u32, Fault> {
        let layout = self.target.space(space);
        let layout =
            layout.ok_or_else(|| ill_formed(format!("the target has no address space {}", space.0)))?;
        Ok(layout.address_bits.min(64))
    }

    /// Returns the location of a byte at an address in a space: the current lane's, where each lane has its own
    /// memory. Only the address's low bits count, as many as the space's addresses have.
    pub(in super::super) fn memory(&self, space: u128, address: u128) -> Result<Location, Fault> {
        let layout = u32::try_from(space).ok().and_then(|space| self.target.space(SpaceId(space)));
        let layout =
            layout.ok_or_else(|| ill_formed(format!("the target has no address space {space:#x}")))?;
        let address_bits = layout.address_bits.min(64);
        let lane = match layout.per {
            Per::Process | Per::Thread => None,
            Per::Lane => Some(self.current_lane(&format!("address space {space}"))?),
        };
        // The generic type can be wider than the space's addresses.
        let address = address & (u128::MAX >> (128 - address_bits.max(1)));
        let storage = Storage::Memory { space: SpaceId(space as u32), address_bits, lane };
        Ok(SingleLocation { storage, offset: address * 8 }.into())
    }

    pub(super) fn current_lane(&self, what: &str) -> Result<u32, Fault> {
        let lane = self.machine.lane();
        let lane = lane.ok_or_else(|| error(format!("the context has no current lane for {what}")))?;
        let lanes = self.machine.lanes();
        let in_wave = u32::try_from(lane).ok().filter(|_| lane < lanes);
        in_wave.ok_or_else(|| ill_formed(format!("current lane {lane} is out of range 0..{lanes}")))
    }

    pub(super) fn push_memory(&mut self, space: u128, address: u128) -> Result<(), Fault> {
        let location = self.memory(space, address)?;
        self.push(location);
        Ok(())
    }

    /// Pushes the location at an address in a space. The address can be an implicit pointer into the space.
    fn form_address(&mut self, space: u128, address: Element) -> Result<(), Fault> {
        let address = address.into_value(self.scope.encoding.address_bytes)?;
        match address.as_pointer() {
            Some(pointer) if u128::from(pointer.space.0) == space => {
                let location = self.pointee(pointer)?;
                self.push(location);
                Ok(())
            }
            Some(pointer) => Err(error(format!(
                "implicit pointer into space {} is used as an address in space {space:#x}",
                pointer.space.0
            ))),
            None => {
                integral(&address)?;
                // Only low address bits count.
                self.push_memory(space, address.low_u128())
            }
        }
    }

    /// Pushes the location at an address, from a space above the address on the stack.
    pub(super) fn form_aspace_address(&mut self) -> Result<(), Fault> {
        let (_, space) = self.pop_integral()?;
        let address = self.pop()?;
        self.form_address(space, address)
    }

    /// Pushes the location at an address, from an address above its space on the stack.
    pub(super) fn form_xderef_address(&mut self) -> Result<(), Fault> {
        let address = self.pop()?;
        let (_, space) = self.pop_integral()?;
        self.form_address(space, address)
    }

    pub(super) fn form_tls_address(&mut self) -> Result<(), Fault> {
        let (offset, _) = self.pop_integral()?;
        let base = self.machine.tls();
        let base = base.ok_or_else(|| error("the start of thread-local storage is unknown"))?;
        self.push_memory(0, u128::from(base).wrapping_add(offset.low_u128()))
    }

    /// Executes the DWARF 6 proposal's `DW_OP_mem` like [`form_xderef_address`](Self::form_xderef_address), but
    /// refuses an address beyond the space.
    pub(super) fn draft_mem(&mut self) -> Result<(), Fault> {
        let address = self.pop()?.into_value(self.scope.encoding.address_bytes)?;
        let (_, space) = self.pop_integral()?;
        if address.as_pointer().is_none() {
            let number = integral(&address)?;
            let layout = u32::try_from(space).ok().and_then(|space| self.target.space(SpaceId(space)));
            if layout.is_some_and(|layout| layout.address_bits < 64 && number >> layout.address_bits != 0) {
                return Err(error(format!("{number:#x} is not an address of space {space}")));
            }
        }
        self.form_address(space, Element::Value(address))
    }

    pub(super) fn fbreg(&mut self, by: i64) -> Result<(), Fault> {
        if self.scope.is_frame_base {
            return Err(ill_formed("a frame base cannot refer to the frame base"));
        }
        let base = self.frame_base().map_err(|fault| fault.within("the frame base", self.scope.entry))?;
        match base.default_address() {
            // The standard adds to an address, modulo the address size (DWARF 5, 2.5.1.2 and 2.5.1.4). The extensions
            // and DWARF 6 move a location, which does not leave its storage.
            Some(address) if self.scope.encoding.dialect == Dialect::Dwarf5 => {
                self.push_memory(0, u128::from(address).wrapping_add(by as u128))
            }
            _ => {
                self.push(base);
                self.move_top(Some(i128::from(by) * 8))
            }
        }
    }

    /// Returns the current frame's frame base (A.3.3.5).
    fn frame_base(&mut self) -> Result<Location, Fault> {
        let base = self.machine.frame_base(self.scope.frame);
        let base = base.ok_or_else(|| match self.machine.frame_base_problem(self.scope.frame) {
            Some(why) => error(format!("the frame base is unknown: {why}")),
            None => no_frame_base(),
        })?;
        self.frame_base_of(&base)
    }

    /// Returns a subprogram's frame base.
    pub(in super::super) fn frame_base_of(&mut self, base: &ReferencedEntry<'_>) -> Result<Location, Fault> {
        let scope = self.scope.of_frame_base(base);
        if let Body::Expression(expr) = base.body {
            // The scan for `DW_OP_fbreg` is linear in the expression.
            self.charge(expr.len() as u64 / 64)?;
            if has_fbreg(expr, scope.encoding) {
                return Err(ill_formed("a frame base cannot refer to the frame base (A.3.3.5)"));
            }
        }
        self.last_register = None;
        let base = self.body(scope, base.body)?.ok_or_else(no_frame_base)?;
        // An outer frame's register can be saved in memory; that memory contains the frame base, and is not the frame
        // base itself.
        if let (Some(reg), Some(_)) = (self.last_register, base.single()) {
            return self.register_address(0, reg, 0);
        }
        let is_within = base.single().is_some_and(|place| place.offset > 0);
        match base.single().map(|place| &place.storage) {
            Some(Storage::Memory { .. }) => Ok(base),
            // A whole register contains the address; a register's middle is a location like any other.
            Some(register @ Storage::Register { .. }) if !(self.is_draft() && is_within) => {
                let whole = Location::from(register.clone());
                let address = self.read_unsigned(&whole, self.address_bits(SpaceId::DEFAULT)?)?;
                self.memory(0, address)
            }
            _ if self.is_draft() => Ok(base),
            _ => {
                let base = brief(&base);
                Err(ill_formed(format!("frame base is not a single location in memory (A.3.3.5): {base}")))
            }
        }
    }

    pub(super) fn breg(&mut self, space: u128, reg: Reg, by: i64) -> Result<(), Fault> {
        let location = self.register_address(space, reg, by)?;
        self.push(location);
        Ok(())
    }

    pub(super) fn aspace_breg(&mut self, reg: Reg, by: i64) -> Result<(), Fault> {
        let (_, space) = self.pop_integral()?;
        self.breg(space, reg, by)
    }

    /// Returns the location in a space at an address in a register, plus `by` bytes.
    pub(in super::super) fn register_address(
        &mut self,
        space: u128,
        reg: Reg,
        by: i64,
    ) -> Result<Location, Fault> {
        let location = self.register(reg)?;
        let known = u32::try_from(space)
            .map_err(|_| ill_formed(format!("the target has no address space {space:#x}")))?;
        let bits = self.address_bits(SpaceId(known))?;
        // A lane's part can be shorter than an address, because it does not continue in the next lane.
        let bits = self.target.lane_bits(reg).map_or(bits, |lane| lane.min(bits));
        let address = self.read_unsigned(&location, bits)?;
        self.memory(space, address.wrapping_add(by as u128))
    }

    // Values at locations.

    /// Reads an unsigned number with at most 64 bits.
    pub(in super::super) fn read_unsigned(&mut self, location: &Location, bits: u32) -> Result<u128, Fault> {
        let value = self.read_value(location, BaseType::new(TypeEncoding::Unsigned, bits))?;
        // An implicit pointer's address is unknown.
        value.as_u128().ok_or_else(super::super::stack::pointer_misused)
    }

    /// Reads a value with a type.
    pub(in super::super) fn read_value(&mut self, location: &Location, ty: BaseType) -> Result<Value, Fault> {
        let bits = ty.size();
        let is_nowhere = || location.places().all(|place| place.storage == Storage::Undefined);
        // Only DWARF 6 refuses this; elsewhere zero bits retrieve nothing.
        if bits == 0 && self.is_draft() && is_nowhere() {
            return Err(error("an undefined location cannot be dereferenced (DWARF 6, 3.13)"));
        }
        // An implicit pointer stays a pointer when read: it has no bits.
        if let Some(pointer) = read_pointer(location, bits)? {
            let ty = match pointer.space {
                SpaceId::DEFAULT => self.generic_type(),
                _ => BaseType::new(TypeEncoding::Unsigned, pointer.bits),
            };
            return Ok(Value::pointer(ty, pointer));
        }
        let mut small = [0u8; 8];
        let mut large = Vec::new();
        let bytes = match bits {
            0..=64 => &mut small[..bits.div_ceil(8) as usize],
            65..=MAX_VALUE_BITS => {
                large.resize(bits.div_ceil(8) as usize, 0);
                &mut large[..]
            }
            _ => {
                return Err(error(format!(
                    "the size of a value is too large: {bits}",
                    bits = Count(bits, "bit")
                )));
            }
        };
        let places = read_exact(location, bits as usize, bytes, self.all_places, self.machine)?;
        self.charge(places / 4)?;
        Ok(value_of_stream(ty, bytes, self.machine.is_big_endian()))
    }

    /// Dereferences to the generic type: to its full size, or the first `bytes` bytes, extended with 0.
    pub(super) fn deref(&mut self, bytes: Option<u8>) -> Result<(), Fault> {
        let location = self.pop_location()?;
        let generic = self.generic_type();
        let full = generic.bits;
        let bits = bytes.map_or(full, |bytes| u32::from(bytes) * 8);
        if self.is_draft() && bits > full {
            return Err(ill_formed(format!(
                "dereference of {bits} reads more than an address, which has {full}",
                full = Count(full, "bit"),
                bits = Count(bits, "bit"),
            )));
        }
        let value = if bits < full {
            let value = self.read_value(&location, BaseType::new(TypeEncoding::Unsigned, bits))?;
            match value.as_pointer() {
                // A pointer read in part would have failed, so that this is a whole pointer.
                Some(pointer) => Value::pointer(generic, pointer),
                None => Value::new(generic, value.as_u64().unwrap_or(0)),
            }
        } else {
            self.read_value(&location, generic)?
        };
        self.push(value);
        Ok(())
    }

    pub(super) fn deref_type(&mut self, bytes: u8, ty: u64) -> Result<(), Fault> {
        let ty = self.base_type(ty)?;
        self.charge_value(ty)?;
        same_size(ty, bytes.into())?;
        let location = self.pop_location()?;
        let value = self.read_value(&location, ty)?;
        self.push(value);
        Ok(())
    }

    pub(super) fn regval_type(&mut self, reg: Reg, ty: u64) -> Result<(), Fault> {
        let ty = self.base_type(ty)?;
        self.charge_value(ty)?;
        let location = self.register(reg)?;
        let value = self.read_value(&location, ty)?;
        self.push(value);
        Ok(())
    }

    pub(super) fn const_type(&mut self, ty: u64, bytes: &[u8]) -> Result<(), Fault> {
        let ty = self.base_type(ty)?;
        self.charge_value(ty)?;
        same_size(ty, bytes.len() as u64)?;
        let mut copy = [0; 256];
        // The length is a single byte in the encoding.
        let copy = &mut copy[..bytes.len().min(256)];
        copy.copy_from_slice(&bytes[..copy.len()]);
        let big_endian = self.machine.is_big_endian();
        let value = if big_endian && ty.elements == 1 {
            // The value is in the block's low bits, but in a stream it would be in the high bits.
            copy.reverse();
            Value::from_bytes(ty, copy)
        } else {
            value_of_stream(ty, copy, big_endian)
        };
        self.push(value);
        Ok(())
    }

    /// Returns the base type at an offset in the current unit.
    pub(super) fn base_type(&self, offset: u64) -> Result<BaseType, Fault> {
        let known = self.machine.base_type(self.scope.unit, offset);
        let ty =
            known.ok_or_else(|| ill_formed(format!("the unit does not have a base type at {offset:#x}")))?;
        match (ty.elements, ty.size()) {
            (0, _) => Err(ill_formed(format!("base type at {offset:#x} is a vector without elements"))),
            (_, ..=MAX_VALUE_BITS) => Ok(ty),
            (_, size) => Err(error(format!(
                "the base type at {offset:#x} is too large: {size}",
                size = Count(size, "bit")
            ))),
        }
    }

    /// Returns the base type at an offset in the current unit, or the generic type for offset 0.
    pub(super) fn type_or_generic(&self, offset: u64) -> Result<BaseType, Fault> {
        if offset == 0 { Ok(self.generic_type()) } else { self.base_type(offset) }
    }

    // Implicit pointers, A.2.5.4.4.5.

    pub(super) fn implicit_pointer(&mut self, space: u128, entry: u64, by: i64) -> Result<(), Fault> {
        let known = u32::try_from(space).ok().map(SpaceId);
        let space = known.ok_or_else(|| ill_formed(format!("the target has no address space {space:#x}")))?;
        let bits = self.address_bits(space)?;
        let entry = self.scope.entry_in_file(entry);
        let pointer = ImplicitPointer { entry, by, space, bits };
        self.push(Location::from(Storage::ImplicitPointer(pointer)));
        Ok(())
    }

    pub(super) fn aspace_implicit_pointer(&mut self, entry: u64, by: i64) -> Result<(), Fault> {
        let (_, space) = self.pop_integral()?;
        self.implicit_pointer(space, entry, by)
    }

    /// Returns an implicit pointer's pointee: its entry's location, in the current context.
    pub(in super::super) fn pointee(&mut self, pointer: ImplicitPointer) -> Result<Location, Fault> {
        let offset = pointer.entry;
        let entry = self.machine.entry(offset);
        let entry =
            entry.ok_or_else(|| error(format!("implicit pointer to {offset:#x}, which is not an entry")))?;
        let scope = self.scope.of_entry(offset, &entry);
        let location = self.body(scope, entry.body)?;
        let location = location.ok_or_else(|| {
            error(format!("implicit pointer to entry {offset:#x}, which has no location and no value"))
        })?;
        location.moved(i128::from(pointer.by) * 8)
    }
}

/// Whether an expression contains `DW_OP_fbreg`, executed or not.
fn has_fbreg(expr: &[u8], encoding: Encoding) -> bool {
    expr.contains(&0x91) && operations(expr, encoding, 0).any(|(_, op)| op.name() == OperationName::FbReg)
}

fn no_frame_base() -> Fault {
    error("the function does not have a frame base")
}

/// Refuses a size operand that differs from the type's size.
fn same_size(ty: BaseType, bytes: u64) -> Result<(), Fault> {
    if ty.size().div_ceil(8) == bytes {
        Ok(())
    } else {
        Err(ill_formed(format!(
            "size operand differs from the size of the type: {bytes} given for a type of {}",
            Count(ty.size(), "bit"),
            bytes = Count(bytes, "byte").are()
        )))
    }
}
