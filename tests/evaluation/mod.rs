//! The evaluator beyond single expressions of common types: values of any size, both byte orders, attributes, GNU's
//! operations, and properties of all inputs. Every expectation is derived by hand.

mod attributes;
mod big_endian;
mod bounds;
mod combinations;
mod draft;
mod gnu;
mod interface;
mod properties;
mod ptx_registers;
mod values;

use crate::common::with;
use eitri::eval::{
    BaseType, Context, Element, Evaluator, Fault, Location, Machine, ResultKind, Snapshot, TypeEncoding,
};
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::target::{SpaceId, Target};

/// Default encoding of the expressions.
pub const LLVM: Encoding = Encoding::new(8, Dialect::Llvm);

/// Types of unit 0, by offset.
const TYPES: [(u64, TypeEncoding, u32, u32); 15] = [
    (0x10, TypeEncoding::Signed, 7, 1),
    (0x11, TypeEncoding::Unsigned, 12, 1),
    (0x12, TypeEncoding::Signed, 256, 1),
    (0x13, TypeEncoding::Unsigned, 256, 1),
    (0x14, TypeEncoding::Float, 16, 1),
    (0x15, TypeEncoding::Float, 32, 1),
    (0x16, TypeEncoding::Float, 64, 1),
    (0x17, TypeEncoding::Unsigned, 16, 4),
    (0x18, TypeEncoding::Signed, 8, 4),
    (0x19, TypeEncoding::Float, 32, 4),
    (0x1a, TypeEncoding::Unsigned, 8, 1),
    (0x1b, TypeEncoding::Boolean, 8, 1),
    (0x1c, TypeEncoding::Utf, 8, 1),
    (0x1d, TypeEncoding::Other(0x0a), 16, 1),
    (0x1e, TypeEncoding::Unsigned, 65, 1),
];

/// rax is a0…a7, rdx d0…d7, rdi 0x1000; memory at 0x1000 is 00…ff.
pub fn machine() -> Snapshot {
    let mut machine = with::<Snapshot>(|machine| machine.pc = Some(0x4010));
    machine.registers.insert(Reg(0), (0xa0..=0xa7).collect());
    machine.registers.insert(Reg(1), (0xd0..=0xd7).collect());
    machine.registers.insert(Reg(5), 0x1000u64.to_le_bytes().to_vec());
    machine.store(SpaceId::DEFAULT, None, 0x1000, &(0..=0xff).collect::<Vec<u8>>());
    machine.cfa = Some(Location::memory(SpaceId::DEFAULT, 64, 0x1040));
    let types = TYPES.iter();
    machine.types = types
        .map(|&(at, encoding, bits, elements)| ((0, at), BaseType { encoding, bits, elements }))
        .collect();
    machine
}

/// The bytes of an expression as text.
pub fn bytes(expr: &str, encoding: Encoding) -> Vec<u8> {
    let expr = text::parse(expr, encoding, Some(&Target::x86_64()));
    expr.unwrap_or_else(|error| panic!("{error}")).bytes().to_vec()
}

/// Result of an expression.
pub fn outcome(
    expr: &str,
    kind: ResultKind,
    machine: &dyn Machine,
    encoding: Encoding,
) -> Result<Element, Fault> {
    let target = Target::x86_64();
    let context = Context::new(encoding, &target).with_kind(kind);
    Evaluator::new().evaluate(&bytes(expr, encoding), machine, &context)
}

/// The result as text, or the class of the fault.
pub fn shown<T: ToString>(result: Result<T, Fault>) -> String {
    result.map_or_else(|fault| fault.class.to_string(), |found| found.to_string())
}

/// Compares the values of expressions with the expected ones.
pub fn values(machine: &dyn Machine, table: &[(&str, &str)]) {
    for (expr, expected) in table {
        let found = outcome(expr, ResultKind::Value, machine, LLVM);
        let detail = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
        pretty_assertions::assert_eq!(shown(found), *expected, "{expr}: {detail}");
    }
}
