//! Conversions to gimli's types: locations are the pieces that gimli's own evaluation returns.

use crate::common::with;

use eitri::error::ErrorKind;
use eitri::eval::{
    BaseType, Body, Context, Evaluator, Location, LocationListEntry, Snapshot, TypeEncoding, Value,
};
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::read::{AddressRange, ListEntry, ListKind};
use eitri::target::{SpaceId, Target};
use gimli::{EndianSlice, Evaluation, EvaluationResult, Expression, LittleEndian, Piece};
use pretty_assertions::assert_eq;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Evaluates an expression with gimli, in a machine whose register 7 is 0x7000.
fn pieces(expr: &[u8], encoding: gimli::Encoding) -> Vec<Piece<Slice<'_>>> {
    let mut evaluation = Evaluation::new(EndianSlice::new(expr, LittleEndian), encoding);
    let mut result = evaluation.evaluate().expect("an expression");
    loop {
        result = match result {
            EvaluationResult::Complete => return evaluation.result(),
            EvaluationResult::RequiresRegister { register, .. } => {
                assert_eq!(Reg::from(register), Reg(7));
                evaluation.resume_with_register(gimli::Value::Generic(0x7000)).expect("a register")
            }
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(address).expect("an address")
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn locations_are_the_pieces_of_gimli() {
    let target = Target::x86_64();
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    let machine = with::<Snapshot>(|machine| {
        machine.registers.insert(Reg(7), 0x7000u64.to_le_bytes().into());
    });
    let context = Context::new(encoding, &target);
    for expr in [
        "reg5",
        "regx 17",
        "breg7 8",
        "addr 0x1234",
        "implicit_value {01 02 03}",
        "implicit_pointer @0x40 -4",
        "reg0; piece 4; reg1; piece 4",
        "breg7 0; piece 2; piece 6",
        "reg3; bit_piece 3 5; addr 0x99; bit_piece 5 3",
        "implicit_value {01 02}; piece 2; reg2; piece 1",
    ] {
        let Ok(code) = text::parse(expr, encoding, Some(&target)) else { panic!("{expr}") };
        let location = Evaluator::new().location(code.bytes(), &machine, &context).expect(expr);
        let ours = Vec::<Piece<Slice<'_>>>::try_from(&location).expect(expr);
        assert_eq!(ours, pieces(code.bytes(), encoding.into()), "{expr}");
    }
}

#[test]
fn locations_that_gimli_lacks_are_refused() {
    let part = Location::composite([(Location::register(Reg(0), 64), 32)]).expect("a composite");
    for location in [
        Location::memory(SpaceId::PRIVATE_WAVE, 32, 0x10),
        Location::register(Reg(0x1_0000), 64),
        Location::implicit(&[1, 2]).moved(8).expect("inside"),
        part.clone().moved(8).expect("inside"),
        Location::composite([(part, 32)]).expect("a composite"),
    ] {
        let error = Vec::<Piece<Slice<'_>>>::try_from(&location).expect_err("not in gimli");
        assert!(matches!(error.kind(), ErrorKind::BadArgument(_)), "{error}");
    }
}

#[test]
fn values_are_the_same_in_gimli() {
    for value in [
        gimli::Value::Generic(0xffff_ffff_ffff_fff0),
        gimli::Value::I8(-1),
        gimli::Value::U8(0xff),
        gimli::Value::I16(-2),
        gimli::Value::U16(0xfffe),
        gimli::Value::I32(-3),
        gimli::Value::U32(0xffff_fffd),
        gimli::Value::I64(-4),
        gimli::Value::U64(u64::MAX - 3),
        gimli::Value::F32(-0.5),
        gimli::Value::F64(1e300),
    ] {
        let ours = Value::from(value);
        assert_eq!(gimli::Value::try_from(&ours).expect("a value of gimli"), value);
        // gimli's number is the sign-extended bits.
        assert_eq!(ours.ty().size(), u64::from(value.value_type().bit_size(u64::MAX)));
    }
    let signed = Value::from(gimli::Value::I16(-2));
    assert_eq!((signed.as_i128(), signed.as_u64()), (Some(-2), Some(0xfffe)));
    let wide = Value::new(BaseType::new(TypeEncoding::Unsigned, 128), 1);
    let error = gimli::Value::try_from(&wide).expect_err("gimli has 64 bits");
    assert!(matches!(error.kind(), ErrorKind::BadArgument(_)), "{error}");
}

#[test]
fn registers_ranges_and_expressions_are_the_same_in_gimli() {
    assert_eq!(gimli::Register::try_from(Reg(0xffff)), Ok(gimli::Register(0xffff)));
    let error = gimli::Register::try_from(Reg(0x1_0000)).expect_err("16 bits");
    assert_eq!(error.to_string(), "register 65536 is out of range; gimli has registers 0 to 65535");

    let kind = ListKind::StartLength { start: 0x10, length: 4 };
    let entry = ListEntry { offset: 0, kind, start: 0x10, end: 0x14, expr: &[0x50] };
    let range = gimli::Range { begin: 0x10, end: 0x14 };
    assert_eq!(gimli::Range::try_from(entry), Ok(range));
    assert_eq!(entry.pcs(0x1000), Some(0x1010..0x1014));
    let default = ListEntry { kind: ListKind::Default, start: 0, end: 0, ..entry };
    assert!(gimli::Range::try_from(default).is_err() && default.pcs(0x1000).is_none());
    let addresses = AddressRange { offset: 0, segment: 0, start: 0x10, length: 4 };
    assert_eq!(gimli::Range::from(addresses), range);

    let data = Expression(EndianSlice::new(&[0x50][..], LittleEndian));
    assert_eq!(Body::from(data), Body::Expression(&[0x50]));
    let bounded = LocationListEntry::from(gimli::LocationListEntry { range, data });
    assert_eq!(bounded, LocationListEntry::from(entry));

    let mut encoding = Encoding::new(4, Dialect::Llvm);
    (encoding.offset_bytes, encoding.version) = (8, 4);
    let converted = gimli::Encoding::from(encoding);
    assert_eq!((converted.address_size, converted.format, converted.version), (4, gimli::Format::Dwarf64, 4));
}
