//! Evaluators, each used as its authors intend.

use eitri::eval::{Element, Location as Place, Machine, SingleLocation, Storage, Value as Typed};
use eitri::op::Reg;
use eitri::target::SpaceId;
use gimli::read::{
    EndianSlice, Evaluation, EvaluationResult, EvaluationStorage, Location, Piece, StoreOnHeap, Value,
};

use super::machine::{FRAME_BASE, Stopped};

/// A result in a form common to both sides.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Value(u64),
    /// Locations with the number of bits of each; `None` for all bits.
    Places(Vec<(Option<u64>, Plain)>),
}

/// A location.
#[derive(Debug, PartialEq, Eq)]
pub enum Plain {
    Register(u64),
    Address(u64),
    Number(u64),
}

/// Converts a result of eitri.
pub fn answer(element: &Element) -> Answer {
    let location = match element {
        Element::Value(value) => return Answer::Value(number(value)),
        Element::Location(location) => location,
    };
    let place = location.single().expect("one place");
    match &place.storage {
        Storage::Composite(composite) => {
            let parts = composite.parts().iter();
            Answer::Places(parts.map(|part| (Some(part.bits as u64), plain(&part.location))).collect())
        }
        _ => Answer::Places(vec![(None, plain(location))]),
    }
}

fn number(value: &Typed) -> u64 {
    value.as_u64().expect("a number")
}

fn plain(location: &Place) -> Plain {
    let SingleLocation { storage, offset } = location.single().expect("one place");
    match storage {
        Storage::Register { reg, .. } if *offset == 0 => Plain::Register(reg.0),
        Storage::Memory { space: SpaceId::DEFAULT, .. } => Plain::Address((offset / 8) as u64),
        Storage::Implicit(bits) => {
            Plain::Number(u64::from_le_bytes(bits.bytes().try_into().expect("a number of the generic type")))
        }
        other => panic!("no expression here is about {other:?}"),
    }
}

pub type Bytes<'a> = EndianSlice<'a, gimli::LittleEndian>;

/// Storage with fixed-size stacks in the evaluation, without allocation: gimli's fastest.
pub struct InPlace;

impl<'a> EvaluationStorage<Bytes<'a>> for InPlace {
    type Stack = [Value; 16];
    type ExpressionStack = [(Bytes<'a>, Bytes<'a>); 1];
    type Result = [Piece<Bytes<'a>>; 4];
}

pub const ENCODING: gimli::Encoding =
    gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 5 };

/// Evaluates with gimli, and passes the completed evaluation to `then`.
#[inline(always)]
pub fn gimli<'a, S: EvaluationStorage<Bytes<'a>>, T>(
    expr: &'a [u8],
    machine: &Stopped,
    then: impl FnOnce(&Evaluation<Bytes<'a>, S>) -> T,
) -> T {
    let bytes = EndianSlice::new(expr, gimli::LittleEndian);
    let mut evaluation = Evaluation::<_, S>::new_in(bytes, ENCODING);
    evaluation.set_max_iterations(1_000_000);
    let mut result = evaluation.evaluate();
    loop {
        result = match result.expect("an expression without mistakes") {
            EvaluationResult::Complete => return then(&evaluation),
            EvaluationResult::RequiresRegister { register, .. } => {
                evaluation.resume_with_register(Value::Generic(contents(register, machine)))
            }
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let mut bytes = [0; 8];
                machine
                    .memory(SpaceId::DEFAULT, None, address, &mut bytes[..usize::from(size)])
                    .expect("mapped memory");
                evaluation.resume_with_memory(Value::Generic(u64::from_le_bytes(bytes)))
            }
            EvaluationResult::RequiresFrameBase => {
                evaluation.resume_with_frame_base(frame_base::<S>(machine))
            }
            other => panic!("no expression here needs {other:?}"),
        };
    }
}

fn contents(register: gimli::Register, machine: &Stopped) -> u64 {
    let mut bytes = [0; 8];
    machine.register(Reg(register.0.into()), 0, 0, &mut bytes).expect("a register");
    u64::from_le_bytes(bytes)
}

/// The frame base, which every caller of gimli has to provide for `DW_OP_fbreg`.
fn frame_base<'a, S: EvaluationStorage<Bytes<'a>>>(machine: &Stopped) -> u64 {
    let bytes = EndianSlice::new(FRAME_BASE, gimli::LittleEndian);
    let mut evaluation = Evaluation::<_, S>::new_in(bytes, ENCODING);
    match evaluation.evaluate() {
        Ok(EvaluationResult::Complete) => {}
        other => panic!("the frame base needs nothing, but {other:?}"),
    }
    match evaluation.as_result() {
        [Piece { location: Location::Register { register }, .. }] => contents(*register, machine),
        other => panic!("the frame base is a register, not {other:?}"),
    }
}

/// Converts a result of gimli.
pub fn answer_of_gimli<'a, S: EvaluationStorage<Bytes<'a>>>(
    evaluation: &Evaluation<Bytes<'a>, S>,
    wants_value: bool,
) -> Answer {
    let generic = |value: Value| value.to_u64(u64::MAX).expect("a number");
    if wants_value {
        return Answer::Value(generic(evaluation.value_result().expect("a value")));
    }
    let pieces = evaluation.as_result().iter();
    Answer::Places(
        pieces
            .map(|piece| {
                let place = match piece.location {
                    Location::Register { register } => Plain::Register(register.0.into()),
                    Location::Address { address } => Plain::Address(address),
                    Location::Value { value } => Plain::Number(generic(value)),
                    ref other => panic!("no expression here is about {other:?}"),
                };
                (piece.size_in_bits, place)
            })
            .collect(),
    )
}

/// gimli's default storage.
pub type OnHeap = StoreOnHeap;
