//! Evaluates a `DebugExpression` (section 3.6) by translating it to DWARF operations for the
//! [reference evaluator](crate::eval), so that both have the same semantics.

use core::ops::Range;

use super::operations::OPERATIONS;
use super::provider::DebugOperation;
use crate::error::{At, Count, Error, Result};
use crate::eval::{Architecture, Context, Element, Evaluator, Location, Machine, ResultKind};
use crate::op::{Dialect, Encoder, Encoding, Op, Reg};
use crate::target::SpaceId;

/// The initial stack, which has one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Initial {
    /// Address of a `DebugDeclare`'s `OpVariable`: a number in the default address space, or a location. The
    /// expression's result is the variable's address.
    Address(Element),
    /// Value of a `DebugValue`'s id: a number or its bits. The expression's result is the variable's value.
    Value(Element),
}

/// An expression's result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evaluated {
    /// Location of the variable or the described bits; a value outside memory is a location with known bits.
    pub location: Location,
    /// The variable's described bits; `None` for the whole variable.
    pub bits: Option<Range<u32>>,
}

/// Evaluates an expression's operations.
///
/// * In a `DebugValue`, a final `Deref` or `Xderef` (only a piece may follow) does not read memory, because the
///   variable is at that address, with its full size. All earlier ones read an address.
/// * A `BitPiece` is DWARF's `DW_OP_bit_piece`. Several pieces form one variable, in order.
/// * A `Fragment` is the last operation. It selects the variable's bits that the preceding operations describe, or,
///   after a `BitPiece`, the bits that the piece describes.
///
/// Indexes in a `DebugValue` or `DebugDeclare` select a part: "the variable" then means that part.
///
/// An operation that version 200 adds is the DWARF operation with the same name. Some cannot be evaluated, because the
/// specification does not say what their operands count or reference: branches, calls, types, references to entries,
/// `Fbreg` and `Arg`.
///
/// ```
/// use eitri::eval::{Element, Snapshot, Value};
/// use eitri::spirv::{DebugOperation, Initial, evaluate};
/// use eitri::target::Target;
///
/// // The id's value is 40, and the variable's value is 4 less.
/// let initial = Initial::Value(Element::Value(Value::generic(40, 8)));
/// let operations = [DebugOperation::Constu(4), DebugOperation::Minus, DebugOperation::StackValue];
/// let evaluated = evaluate(&operations, &initial, &Snapshot::default(), &Target::x86_64())?;
/// assert_eq!(evaluated.location.to_string(), "implicit:2400000000000000");
/// # Ok::<(), eitri::Error>(())
/// ```
///
/// # Errors
/// The error names the operation: an evaluator error, such as a stack underflow; a `Fragment` that is not the last
/// operation, or differs in size from the preceding piece; an operation that cannot be evaluated.
pub fn evaluate(
    operations: &[DebugOperation],
    initial: &Initial,
    machine: &dyn Machine,
    target: &dyn Architecture,
) -> Result<Evaluated> {
    let address_bits = target.space(SpaceId::DEFAULT).map_or(64, |space| space.address_bits);
    let encoding = Encoding::new((address_bits / 8).clamp(1, 8) as u8, Dialect::Llvm)
        .with_big_endian(machine.is_big_endian());
    let (operations, bits) = fragment(operations)?;
    let mut encoded = Encoded { bytes: Vec::new(), starts: Vec::new() };
    let mut last = None;
    for (index, &operation) in operations.iter().enumerate() {
        let next = operations.get(index + 1);
        // Each piece ends a location of its own, so that the preceding operation is final as well.
        let is_end = next.is_none_or(|next| next.is_piece());
        encoded.starts.push(encoded.bytes.len());
        if operation.is_piece() {
            if index == 0 {
                // A piece without operations describes bits of the initial value.
                encoded.finish(None, initial, encoding)?;
            }
        } else {
            last = Some(operation);
        }
        // A `DebugValue`'s final dereference describes memory instead of reading it.
        match (operation, initial, is_end) {
            // The result is the variable's address, so that nothing is read.
            (DebugOperation::Deref, Initial::Value(_), true) => {}
            (DebugOperation::Xderef, Initial::Value(_), true) => {
                encoded.write(&[Op::Swap {}, Op::FormAspaceAddress {}], encoding)?;
            }
            _ => encoded.write(&[op(operation).map_err(|what| wrong(index, operation, what))?], encoding)?,
        }
        if is_end && !operation.is_piece() {
            encoded.finish(last, initial, encoding)?;
        }
    }
    if operations.is_empty() {
        encoded.finish(None, initial, encoding)?;
    }
    let element = match initial {
        Initial::Address(element) | Initial::Value(element) => core::slice::from_ref(element),
    };
    let context = Context::new(encoding, target).with_initial(element).with_kind(ResultKind::Location);
    let location = Evaluator::new().location(&encoded.bytes, machine, &context).map_err(|fault| {
        // The evaluator reports a byte offset; callers know operations by index.
        let index = fault.offset.and_then(|offset| encoded.starts.iter().rposition(|&start| start <= offset));
        let what = format!("{}: {}", fault.class, fault.rule);
        match index.and_then(|index| Some((index, operations.get(index)?))) {
            Some((index, operation)) => located(index, format!("{}: {what}", name(*operation))),
            None => Error::malformed(what),
        }
    })?;
    Ok(Evaluated { location, bits })
}

/// Splits a trailing fragment from the operations, and returns its bits.
fn fragment(operations: &[DebugOperation]) -> Result<(&[DebugOperation], Option<Range<u32>>)> {
    let is_fragment = |operation: &DebugOperation| matches!(operation, DebugOperation::Fragment { .. });
    let Some(index) = operations.iter().position(is_fragment) else { return Ok((operations, None)) };
    let (before, rest) = operations.split_at(index);
    let &[fragment @ DebugOperation::Fragment { offset, size }] = rest else {
        return Err(wrong(index, rest[0], "is not the last operation"));
    };
    if let Some(&DebugOperation::BitPiece { size: piece, .. }) = before.last()
        && piece != size
    {
        let size = Count(size, "bit");
        let piece = Count(piece, "bit");
        return Err(wrong(index, fragment, &format!("has {size}; expected {piece}, the size of the piece")));
    }
    // The end must fit 32 bits.
    let Some(end) = offset.checked_add(size) else {
        return Err(wrong(index, fragment, "ends after bit 2^32"));
    };
    Ok((before, Some(offset..end)))
}

fn wrong(index: usize, operation: DebugOperation, what: &str) -> Error {
    located(index, format!("{} {what}", name(operation)))
}

fn located(index: usize, what: String) -> Error {
    Error::malformed(what).or_at(At::new(|context| context.operation = Some(index)))
}

fn name(operation: DebugOperation) -> &'static str {
    OPERATIONS[operation.number() as usize].name
}

struct Encoded {
    bytes: Vec<u8>,
    /// Each operation's offset in the expression, in bytes.
    starts: Vec<usize>,
}

impl Encoded {
    fn write(&mut self, all: &[Op<'_>], encoding: Encoding) -> Result<()> {
        let mut encoder = Encoder::new(&mut self.bytes, encoding);
        for &op in all {
            encoder.op(op);
        }
        encoder.finish()
    }

    /// Turns a final value into a location; otherwise the evaluator would take the value as an address.
    fn finish(&mut self, last: Option<DebugOperation>, initial: &Initial, encoding: Encoding) -> Result<()> {
        use DebugOperation::{Deref, StackValue, Xderef};
        match (last, initial) {
            (_, Initial::Address(_)) | (None, Initial::Value(Element::Location(_))) => Ok(()),
            (Some(Deref | Xderef | StackValue), _) => Ok(()),
            (Some(last), _) if is_register(last) => Ok(()),
            (_, Initial::Value(_)) => self.write(&[Op::StackValue {}], encoding),
        }
    }
}

/// Whether the operation yields a register location.
fn is_register(operation: DebugOperation) -> bool {
    matches!(operation.number(), REG0..BREG0 | REGX)
}

/// Numbers of each family's first operation, and of `Regx`.
const LIT0: u32 = 46;
const REG0: u32 = 78;
const BREG0: u32 = 110;
const REGX: u32 = 142;

/// The equivalent DWARF operation, or the reason why there is none.
fn op(operation: DebugOperation) -> core::result::Result<Op<'static>, &'static str> {
    let mut operands = operation.operands();
    let first = operands.next().unwrap_or_default();
    let second = operands.next().unwrap_or_default();
    // Operands are 32-bit constants; DWARF's signed operands are wider.
    let signed = |word: u32| i64::from(word as i32);
    Ok(match operation {
        DebugOperation::Extended(extended) => match (extended.name(), operation.number()) {
            ("Addr", _) => Op::Addr { address: first.into() },
            ("Const1u" | "Const2u" | "Const4u" | "Const8u", _) => Op::ConstU { value: first.into() },
            ("Const1s" | "Const2s" | "Const4s" | "Const8s" | "Consts", _) => {
                Op::ConstS { value: signed(first) }
            }
            ("Dup", _) => Op::Pick { index: 0 },
            ("Over", _) => Op::Pick { index: 1 },
            ("Pick", _) => {
                Op::Pick { index: u8::try_from(first).map_err(|_| "has an index of more than 255")? }
            }
            ("Drop", _) => Op::Drop {},
            ("Rot", _) => Op::Rot {},
            ("Abs", _) => Op::Abs {},
            ("And", _) => Op::And {},
            ("Div", _) => Op::Div {},
            ("Mod", _) => Op::Mod {},
            ("Mul", _) => Op::Mul {},
            ("Neg", _) => Op::Neg {},
            ("Not", _) => Op::Not {},
            ("Or", _) => Op::Or {},
            ("Shl", _) => Op::Shl {},
            ("Shr", _) => Op::Shr {},
            ("Shra", _) => Op::Shra {},
            ("Xor", _) => Op::Xor {},
            ("Eq", _) => Op::Eq {},
            ("Ge", _) => Op::Ge {},
            ("Gt", _) => Op::Gt {},
            ("Le", _) => Op::Le {},
            ("Lt", _) => Op::Lt {},
            ("Ne", _) => Op::Ne {},
            (_, number @ LIT0..REG0) => Op::ConstU { value: (number - LIT0).into() },
            (_, number @ REG0..BREG0) => Op::RegX { reg: Reg((number - REG0).into()) },
            (_, number @ BREG0..REGX) => {
                Op::BregX { reg: Reg((number - BREG0).into()), offset: signed(first) }
            }
            ("Regx", _) => Op::RegX { reg: Reg(first.into()) },
            ("Bregx", _) => Op::BregX { reg: Reg(first.into()), offset: signed(second) },
            ("Piece", _) => Op::Piece { bytes: first.into() },
            ("DerefSize", _) => Op::DerefSize { bytes: byte(first)? },
            ("XderefSize", _) => Op::XderefSize { bytes: byte(first)? },
            // A memory tag does not change the location.
            ("Nop" | "TagOffset", _) => Op::Nop {},
            ("PushObjectAddress", _) => Op::PushObjectAddress {},
            ("FormTlsAddress", _) => Op::FormTlsAddress {},
            ("CallFrameCfa", _) => Op::CallFrameCfa {},
            _ => return Err("cannot be evaluated"),
        },
        DebugOperation::Deref => Op::Deref {},
        DebugOperation::Plus => Op::Plus {},
        DebugOperation::Minus => Op::Minus {},
        DebugOperation::PlusUconst(value) => Op::PlusUconst { value: value.into() },
        // In DWARF, the size is the first operand.
        DebugOperation::BitPiece { offset, size } => {
            Op::BitPiece { bits: size.into(), offset: offset.into() }
        }
        DebugOperation::Swap => Op::Swap {},
        DebugOperation::Xderef => Op::Xderef {},
        DebugOperation::StackValue => Op::StackValue {},
        DebugOperation::Constu(value) => Op::ConstU { value: value.into() },
        DebugOperation::Fragment { .. } => Op::Nop {},
    })
}

fn byte(word: u32) -> core::result::Result<u8, &'static str> {
    u8::try_from(word).map_err(|_| "has a size of more than 255")
}
