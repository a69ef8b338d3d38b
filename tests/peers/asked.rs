//! Drives `gimli::Evaluation` with the interface of this crate's evaluator: a [`Machine`] and a [`Context`].
//!
//! Requests of gimli are answered from the machine, as a debugger would. Results are converted to types of
//! `eitri::eval` for comparison.

use eitri::eval::{
    BaseType, Body, Class, Context, CurrentObject, Element, Fault, Location, Machine, TypeEncoding, Value,
    read_bits,
};
use eitri::op::{Encoding, Reg};
use eitri::target::{Per, SpaceId};
use gimli::{DieReference, EndianSlice, Evaluation, EvaluationResult, RunTimeEndian, ValueType};

type Bytes<'a> = EndianSlice<'a, RunTimeEndian>;

/// Reason for a missing result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// gimli refuses the expression.
    Refused(gimli::Error),
    /// The machine lacks requested data, or gimli's result is not on the machine.
    Missing(&'static str),
    /// gimli's interface cannot express a request.
    Inexpressible(&'static str),
}

impl From<gimli::Error> for Stop {
    fn from(error: gimli::Error) -> Self {
        Self::Refused(error)
    }
}

impl From<Fault> for Stop {
    fn from(_: Fault) -> Self {
        Self::Missing("room in a storage")
    }
}

/// Result of gimli: a location, and also a value if the top of the stack is a value.
#[derive(Debug, Clone)]
pub struct Answer {
    pub location: Result<Location, Stop>,
    pub value: Option<Value>,
}

/// Maximum number of operations: only endless expressions exceed it.
const MAX_OPERATIONS: u32 = 100_000;

/// Maximum nesting depth of expressions.
const MAX_DEPTH: u32 = 16;

/// Evaluates an expression with gimli, which ignores the kind of the context.
pub fn evaluate(expr: &[u8], machine: &dyn Machine, context: &Context<'_>) -> Result<Answer, Stop> {
    let asked = Asked { machine, context, frame: context.frame, depth: 0, is_frame_base: false };
    let evaluation = match asked.run(expr, context.initial) {
        // To gimli, the result is an address unless an operation marks it as a value.
        Err(stop @ Stop::Refused(gimli::Error::IntegralTypeRequired)) => {
            let expr = [expr, &[gimli::DW_OP_stack_value.0]].concat();
            return match asked.run(&expr, context.initial).map(Evaluation::result).as_deref() {
                Ok(
                    [
                        gimli::Piece {
                            location: gimli::Location::Value { value }, size_in_bits: None, ..
                        },
                    ],
                ) => Ok(Answer { location: Err(stop), value: Some(asked.value(*value)) }),
                _ => Err(stop),
            };
        }
        Err(Stop::Refused(gimli::Error::InvalidPushObjectAddress)) if asked.object().is_some() => {
            return Err(Stop::Inexpressible("an object that is no address"));
        }
        result => result?,
    };
    let value = evaluation.value_result().map(|value| asked.value(value));
    Ok(Answer { location: asked.location(&evaluation.result()), value })
}

/// State of an evaluation.
#[derive(Clone, Copy)]
struct Asked<'a> {
    machine: &'a dyn Machine,
    context: &'a Context<'a>,
    frame: u32,
    depth: u32,
    is_frame_base: bool,
}

impl<'a> Asked<'a> {
    fn encoding(&self) -> Encoding {
        self.context.encoding
    }

    fn slice<'b>(&self, bytes: &'b [u8]) -> Bytes<'b> {
        let big = self.machine.is_big_endian();
        EndianSlice::new(bytes, if big { RunTimeEndian::Big } else { RunTimeEndian::Little })
    }

    /// Runs an expression to its end.
    fn run<'b>(&self, expr: &'b [u8], initial: &[Element]) -> Result<Evaluation<Bytes<'b>>, Stop>
    where
        'a: 'b,
    {
        if self.depth > MAX_DEPTH {
            return Err(Stop::Missing("an end of expressions within expressions"));
        }
        let mut evaluation = Evaluation::new(self.slice(expr), self.encoding().into());
        evaluation.set_max_iterations(MAX_OPERATIONS);
        match initial {
            [] => {}
            [Element::Value(value)] if value.ty().is_generic() && value.as_pointer().is_none() => {
                evaluation.set_initial_value(value.as_u64().ok_or(Stop::Inexpressible("the initial value"))?);
            }
            [Element::Location(location)] if location.default_address().is_some() => {
                evaluation.set_initial_value(location.default_address().unwrap_or(0));
            }
            _ => return Err(Stop::Inexpressible("the initial stack")),
        }
        if let Some(address) = self.object().and_then(|object| object.default_address()) {
            evaluation.set_object_address(address);
        }
        let mut result = evaluation.evaluate()?;
        loop {
            result = match result {
                EvaluationResult::Complete => return Ok(evaluation),
                EvaluationResult::RequiresMemory { address, size, space, base_type } => {
                    let ty = self.type_of(base_type.0)?;
                    evaluation.resume_with_memory(self.memory(address, size, space.unwrap_or(0), ty)?)?
                }
                EvaluationResult::RequiresRegister { register, base_type } => {
                    let ty = self.type_of(base_type.0)?;
                    evaluation.resume_with_register(self.register(Reg(register.0.into()), ty)?)?
                }
                EvaluationResult::RequiresFrameBase => {
                    evaluation.resume_with_frame_base(self.frame_base()?)?
                }
                EvaluationResult::RequiresTls(offset) => {
                    let base = self.machine.tls().ok_or(Stop::Missing("thread-local storage"))?;
                    evaluation.resume_with_tls(base.wrapping_add(offset))?
                }
                EvaluationResult::RequiresCallFrameCfa => {
                    let cfa = self.machine.cfa(self.frame).ok_or(Stop::Missing("the frame's address"))?;
                    let cfa =
                        cfa.default_address().ok_or(Stop::Inexpressible("a frame that is no address"))?;
                    evaluation.resume_with_call_frame_cfa(cfa)?
                }
                EvaluationResult::RequiresAtLocation(entry) => {
                    evaluation.resume_with_at_location(self.slice(self.called(entry)?))?
                }
                EvaluationResult::RequiresEntryValue(expr) => {
                    evaluation.resume_with_entry_value(self.entry_value(expr.0.slice())?)?
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    let loaded = address.wrapping_add(self.machine.load_bias());
                    evaluation.resume_with_relocated_address(loaded)?
                }
                EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                    let found = self.machine.debug_addr(self.context.unit, index.0 as u64);
                    let found = found.ok_or(Stop::Missing("an address"))?;
                    let bias = if relocate { self.machine.load_bias() } else { 0 };
                    evaluation.resume_with_indexed_address(found.wrapping_add(bias))?
                }
                EvaluationResult::RequiresBaseType(offset) => {
                    let ty = self.type_of(offset.0)?;
                    evaluation.resume_with_base_type(ty)?
                }
                EvaluationResult::RequiresParameterRef(_) => {
                    return Err(Stop::Inexpressible("a parameter of the caller"));
                }
                EvaluationResult::RequiresWasmLocal { .. }
                | EvaluationResult::RequiresWasmGlobal { .. }
                | EvaluationResult::RequiresWasmStack { .. } => {
                    return Err(Stop::Inexpressible("WebAssembly"));
                }
            };
        }
    }

    /// The current object. Nested expressions have none, unless they are called.
    fn object(&self) -> Option<Location> {
        match self.context.object {
            CurrentObject::Is(object) => Some(object.clone()),
            CurrentObject::OfMachine => self.machine.object(),
            CurrentObject::Unspecified => None,
        }
        .filter(|_| self.depth == 0)
    }

    fn type_of(&self, offset: usize) -> Result<ValueType, Stop> {
        if offset == 0 {
            return Ok(ValueType::Generic);
        }
        let ty = self.machine.base_type(self.context.unit, offset as u64);
        let BaseType { encoding, bits, elements } = ty.ok_or(Stop::Missing("a base type"))?;
        let encoding = match encoding {
            TypeEncoding::Signed => gimli::DW_ATE_signed,
            TypeEncoding::Unsigned => gimli::DW_ATE_unsigned,
            TypeEncoding::Float => gimli::DW_ATE_float,
            _ => return Err(Stop::Inexpressible("a type of this encoding")),
        };
        let ty = ValueType::from_encoding(encoding, u64::from(bits) / 8);
        ty.filter(|_| elements == 1 && bits % 8 == 0).ok_or(Stop::Inexpressible("a type of this size"))
    }

    /// Bytes in memory order as a value; for the generic type, fewer bytes are permitted.
    fn parsed(&self, ty: ValueType, bytes: &[u8]) -> Result<gimli::Value, Stop> {
        if ty != ValueType::Generic {
            let size = ty.bit_size(u64::MAX) as usize;
            return if size == bytes.len() * 8 {
                Ok(gimli::Value::parse(ty, self.slice(bytes))?)
            } else {
                Err(Stop::Missing("a type of the size that is read"))
            };
        }
        let number = |all: u64, &byte: &u8| all << 8 | u64::from(byte);
        let number = if self.machine.is_big_endian() {
            bytes.iter().fold(0, number)
        } else {
            bytes.iter().rev().fold(0, number)
        };
        Ok(gimli::Value::Generic(number))
    }

    fn memory(&self, address: u64, size: u8, space: u64, ty: ValueType) -> Result<gimli::Value, Stop> {
        let space = u32::try_from(space).ok().map(SpaceId);
        let known = space.and_then(|space| Some((space, self.context.target.space(space)?)));
        let (space, layout) = known.ok_or(Stop::Missing("an address space"))?;
        let lane = match layout.per {
            Per::Lane => Some(self.machine.lane().ok_or(Stop::Missing("a lane"))? as u32),
            _ => None,
        };
        let mut bytes = vec![0; size.into()];
        let address = address & (u64::MAX >> (64 - layout.address_bits));
        self.machine.memory(space, lane, address, &mut bytes).map_err(|_| Stop::Missing("memory"))?;
        self.parsed(ty, &bytes)
    }

    /// Contents of a register of the frame, or its low bits.
    fn register(&self, reg: Reg, ty: ValueType) -> Result<gimli::Value, Stop> {
        let bits = self.context.target.register_bits(reg).ok_or(Stop::Missing("a register"))?;
        let wanted = match ty {
            ValueType::Generic => u32::from(self.encoding().address_bytes) * 8,
            ty => ty.bit_size(u64::MAX),
        };
        let location = match self.frame {
            0 => Location::register(reg, bits),
            frame => self.machine.saved(reg, frame).ok_or(Stop::Missing("a frame"))?,
        };
        if bits < wanted {
            return Err(Stop::Missing("a register of that size"));
        }
        let read = read_bits(&location, wanted.into(), self.machine)?;
        if read.defined.iter().all(|&byte| byte == 0xff) {
            self.parsed(ty, &read.bytes)
        } else {
            Err(Stop::Missing("what a register holds"))
        }
    }

    fn generic_register(&self, reg: Reg) -> Result<u64, Stop> {
        match self.register(reg, ValueType::Generic)? {
            gimli::Value::Generic(value) => Ok(value),
            _ => Err(Stop::Missing("a register")),
        }
    }

    fn frame_base(&self) -> Result<u64, Stop> {
        if self.is_frame_base {
            return Err(Stop::Missing("a frame base that does not refer to itself"));
        }
        let expr = match self.machine.frame_base(self.frame).map(|base| base.body) {
            Some(Body::Expression(expr)) => expr,
            None | Some(Body::Nothing) => return Err(Stop::Missing("a frame base")),
            _ => return Err(Stop::Inexpressible("a frame base that is a list")),
        };
        let inner = Self { depth: self.depth + 1, is_frame_base: true, ..*self };
        match inner.run(expr, &[])?.result()[..] {
            [gimli::Piece { location: gimli::Location::Address { address }, size_in_bits: None, .. }] => {
                Ok(address)
            }
            [gimli::Piece { location: gimli::Location::Register { register }, size_in_bits: None, .. }] => {
                self.generic_register(Reg(register.0.into()))
            }
            _ => Err(Stop::Missing("a frame base in one place")),
        }
    }

    fn called(&self, entry: DieReference) -> Result<&'a [u8], Stop> {
        let offset = match entry {
            DieReference::UnitRef(offset) => self.context.unit.wrapping_add(offset.0 as u64),
            DieReference::DebugInfoRef(offset) => offset.0 as u64,
        };
        let entry = self.machine.entry(offset).ok_or(Stop::Missing("an entry"))?;
        match entry.body {
            Body::Nothing => Ok(&[]),
            Body::Expression(expr) if entry.unit == self.context.unit => Ok(expr),
            Body::Expression(_) => Err(Stop::Inexpressible("an expression of another unit")),
            _ => Err(Stop::Inexpressible("a call of what is no expression")),
        }
    }

    fn entry_value(&self, expr: &[u8]) -> Result<gimli::Value, Stop> {
        let inner = Self { frame: self.frame + 1, depth: self.depth + 1, ..*self };
        let evaluation = inner.run(expr, &[])?;
        if let Some(value) = evaluation.value_result() {
            return Ok(value);
        }
        match evaluation.result()[..] {
            [gimli::Piece { location: gimli::Location::Register { register }, size_in_bits: None, .. }] => {
                let reg = Reg(register.0.into());
                let bits = self.context.target.register_bits(reg).ok_or(Stop::Missing("a register"))?;
                let is_generic = bits == u32::from(self.encoding().address_bytes) * 8;
                let ty = if is_generic {
                    Some(ValueType::Generic)
                } else {
                    ValueType::from_encoding(gimli::DW_ATE_unsigned, u64::from(bits) / 8)
                };
                inner.register(reg, ty.ok_or(Stop::Inexpressible("a type of this size"))?)
            }
            _ => Err(Stop::Missing("an entry value")),
        }
    }

    // Results.

    fn value(&self, value: gimli::Value) -> Value {
        let of = |encoding, bits, value| Value::new(BaseType::new(encoding, bits), value);
        match value {
            gimli::Value::Generic(value) => Value::generic(value, self.encoding().address_bytes),
            gimli::Value::I8(value) => of(TypeEncoding::Signed, 8, value as u64),
            gimli::Value::I16(value) => of(TypeEncoding::Signed, 16, value as u64),
            gimli::Value::I32(value) => of(TypeEncoding::Signed, 32, value as u64),
            gimli::Value::I64(value) => of(TypeEncoding::Signed, 64, value as u64),
            gimli::Value::U8(value) => of(TypeEncoding::Unsigned, 8, value.into()),
            gimli::Value::U16(value) => of(TypeEncoding::Unsigned, 16, value.into()),
            gimli::Value::U32(value) => of(TypeEncoding::Unsigned, 32, value.into()),
            gimli::Value::U64(value) => of(TypeEncoding::Unsigned, 64, value),
            gimli::Value::F32(value) => of(TypeEncoding::Float, 32, value.to_bits().into()),
            gimli::Value::F64(value) => of(TypeEncoding::Float, 64, value.to_bits()),
        }
    }

    fn location(&self, pieces: &[gimli::Piece<Bytes<'_>>]) -> Result<Location, Stop> {
        if let [piece @ gimli::Piece { size_in_bits: None, .. }] = pieces {
            return self.place(piece);
        }
        let parts =
            pieces.iter().map(|piece| Ok((self.place(piece)?, piece.size_in_bits.unwrap_or(0).into())));
        Ok(Location::composite(parts.collect::<Result<Vec<_>, Stop>>()?)?)
    }

    fn place(&self, piece: &gimli::Piece<Bytes<'_>>) -> Result<Location, Stop> {
        let generic_bits = u32::from(self.encoding().address_bytes) * 8;
        let whole = match piece.location {
            gimli::Location::Empty => Location::undefined(),
            gimli::Location::Register { register } => {
                let reg = Reg(register.0.into());
                let bits = self.context.target.register_bits(reg).ok_or(Stop::Missing("a register"))?;
                match self.frame {
                    0 => Location::register(reg, bits),
                    frame => self.machine.saved(reg, frame).ok_or(Stop::Missing("a frame"))?,
                }
            }
            gimli::Location::Address { address } => {
                let bits = self.context.target.space(SpaceId::DEFAULT).map_or(64, |space| space.address_bits);
                Location::memory(SpaceId::DEFAULT, bits, address & (u64::MAX >> (64 - generic_bits)))
            }
            gimli::Location::Value { value } => Location::implicit(&self.value(value).with_bytes(|bytes| {
                let mut bytes = bytes.to_vec();
                if self.machine.is_big_endian() {
                    bytes.reverse();
                }
                bytes
            })),
            gimli::Location::Bytes { value } => Location::implicit(value.slice()),
            gimli::Location::ImplicitPointer { value, byte_offset } => {
                let space = SpaceId::DEFAULT;
                let entry = value.0 as u64;
                let by = byte_offset;
                let bits = self.context.target.space(space).map_or(64, |space| space.address_bits);
                let pointer = eitri::eval::ImplicitPointer { entry, by, space, bits };
                Location::from(eitri::eval::Storage::ImplicitPointer(pointer))
            }
        };
        let by = match (piece.bit_offset, piece.location) {
            // gimli counts from the least significant bit, which is last on a big-endian machine.
            (by, gimli::Location::Value { value })
                if self.machine.is_big_endian() && piece.size_in_bits.is_some() =>
            {
                let after = by.unwrap_or(0).saturating_add(piece.size_in_bits.unwrap_or(0));
                self.value(value).ty().size().saturating_sub(after)
            }
            (by, _) => by.unwrap_or(0),
        };
        Ok(if by == 0 { whole } else { whole.moved(by.into())? })
    }
}

/// Converts a refusal of gimli, which has no classes of errors.
pub fn fault(stop: &Stop) -> Fault {
    Fault::new(Class::Evaluation, format!("{stop:?}"))
}
