//! GNU's operations that are not part of a standard.

use eitri::eval::{BaseType, Caller, Location, OwnedBody, ResultKind, TypeEncoding};
use eitri::op::Reg;
use eitri::target::SpaceId;

use super::{LLVM, machine, outcome, shown, values};

#[test]
fn a_parameter_is_what_the_caller_passed() {
    let mut machine = machine();
    let saved = [(Reg(0), Location::memory(SpaceId::DEFAULT, 64, 0x1008))];
    machine.callers = vec![Caller { pc: Some(0x5000), cfa: None, registers: saved.into() }];
    // The call value of the parameter at 0x30 is breg0 1. In the caller, rax is 0x1008.
    machine.call_values.insert(0x30, (vec![0x70, 1], 0));
    machine.call_values.insert(0x38, (vec![0x50], 0));
    values(
        &machine,
        &[
            ("GNU_parameter_ref @0x30", "0xf0e0d0c0b0a0909"),
            // In the caller the parameter is in memory; its address is then the value.
            ("GNU_parameter_ref @0x38", "0x1008"),
            ("GNU_parameter_ref @0x40", "evaluation error"),
        ],
    );
}

#[test]
fn the_value_of_a_variable() {
    let mut machine = machine();
    let signed = BaseType::new(TypeEncoding::Signed, 8);
    machine.entries.insert(0x40, (OwnedBody::Expression(vec![0x50]), 0));
    machine.entries.insert(0x50, (OwnedBody::Constant(vec![0xfe]), 0));
    machine.entries.insert(0x60, (OwnedBody::Nothing, 0));
    machine.entries.insert(0x70, (OwnedBody::Expression(vec![0x50]), 0));
    machine.variable_types = [(0x40, signed), (0x50, signed), (0x60, signed)].into();
    values(
        &machine,
        &[
            ("GNU_variable_value @0x40", "0xffffffffffffffa0"),
            ("GNU_variable_value @0x50; lit1; plus", "0xffffffffffffffff"),
            ("GNU_variable_value @0x60", "evaluation error"),
            ("GNU_variable_value @0x70", "evaluation error"),
            ("GNU_variable_value @0x80", "ill-formed"),
        ],
    );
}

#[test]
fn encoded_addresses() {
    let machine = machine();
    let run = |bytes: &[u8]| {
        let target = eitri::target::Target::x86_64();
        let context = eitri::eval::Context::new(LLVM, &target);
        shown(eitri::eval::Evaluator::new().location(bytes, &machine, &context))
    };
    // DW_EH_PE_udata4, sdata2, and indirect: the pointer is at 0x1000.
    assert_eq!(run(&[0xf1, 0x03, 0x10, 0x32, 0, 0]), "mem:0:0x3210");
    assert_eq!(run(&[0xf1, 0x0a, 0xfe, 0xff]), "mem:0:0xfffffffffffffffe");
    assert_eq!(run(&[0xf1, 0x82, 0x00, 0x10]), "mem:0:0x706050403020100");
    // Relative to an unknown place.
    assert_eq!(run(&[0xf1, 0x1b, 0, 0, 0, 0]), "unsupported");
}

#[test]
fn uninitialised_is_no_matter_of_the_stack() {
    assert_eq!(shown(outcome("reg0; GNU_uninit", ResultKind::Location, &machine(), LLVM)), "reg:0");
}
