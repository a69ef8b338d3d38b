//! Rules of registers and of the canonical frame address, sentence by sentence (A.6.4.1, A.6.4.2). Expectations are
//! derived by hand.

use eitri::eval::unwind::UnwindResult;
use eitri::eval::{CallStack, Class, Location, Snapshot, read_bits};
use eitri::op::Reg;
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;

use crate::common::with;
use crate::unwind::cfi::{Program, Section, ops};

const RAX: u64 = 0;
const RBX: u64 = 3;
const RBP: u64 = 6;
const RSP: u64 = 7;
const R12: u64 = 12;
const XMM0: u64 = 17;

/// x86-64: rsp is 0x7000, so that the CFA is 0x7010; register n contains 0x1000 + n. From 0x6f00 on, each byte of
/// memory is the low byte of its address.
pub fn machine() -> Snapshot {
    let mut machine = with::<Snapshot>(|machine| machine.pc = Some(0x1000));
    for reg in 0..17 {
        machine.registers.insert(Reg(reg), (0x1000 + reg).to_le_bytes().to_vec());
    }
    machine.registers.insert(Reg(RSP), 0x7000u64.to_le_bytes().to_vec());
    let bytes: Vec<u8> = (0..=255).collect();
    machine.store(SpaceId::DEFAULT, None, 0x6f00, &bytes.repeat(2));
    // The return address.
    machine.store(SpaceId::DEFAULT, None, 0x7008, &0x2001u64.to_le_bytes());
    machine
}

/// A function at 0x1000 whose CFA is rsp + 16, with the return address at CFA - 8, called by one at 0x2000.
pub fn section(program: Program) -> Section {
    let mut section = Section::default();
    let cie = section.cie("", -8, 16, &Program::new().def_cfa(RSP, 16).offset(16, 1));
    section.fde(cie, 0x1000, 0x100, &program);
    section.fde(cie, 0x2000, 0x100, &Program::new().undefined(16));
    section
}

/// Location of a caller's register under the given rules.
fn register_of(reg: u64, program: Program) -> UnwindResult<Location> {
    let section = section(program);
    let machine = machine();
    let target = Target::x86_64();
    let frames = [section.read()];
    let stack = CallStack::new(&machine, &frames, &target);
    let location = stack.innermost()?.saved(Reg(reg));
    assert_eq!(location, stack.frame(1)?.expect("a caller").register(Reg(reg)));
    location
}

#[track_caller]
fn is_at(reg: u64, program: Program, expected: &str) {
    assert_eq!(register_of(reg, program).map(|found| found.to_string()), Ok(expected.to_owned()));
}

#[track_caller]
fn is_refused(reg: u64, program: Program, class: Class, words: &str) {
    let fault = register_of(reg, program).expect_err("a fault");
    assert_eq!(fault.class(), Some(class), "{fault}");
    assert!(fault.to_string().contains(words), "{fault}");
}

fn x86(expr: &str) -> Vec<u8> {
    ops(&Target::x86_64(), expr)
}

/// 1: "The previous value of this register is the undefined location description."
#[test]
fn undefined() {
    is_at(RBX, Program::new().undefined(RBX), "undefined");
}

/// 2: "If the current frame is the top frame … the register location storage that corresponds to the register with a
/// bit offset of 0."
#[test]
fn same_value_in_the_innermost_frame() {
    is_at(RBX, Program::new().same_value(RBX), "reg:3");
    // Also without a rule.
    is_at(RBX, Program::new(), "reg:3");
}

/// "The default rule … is the undefined rule. However, an ABI authoring body … may specify an alternate default."
#[test]
fn register_without_rule_is_undefined_unless_calls_preserve_it() {
    is_at(RAX, Program::new(), "undefined");
    is_at(XMM0, Program::new(), "undefined");
    is_at(RAX, Program::new().same_value(RAX), "reg:0");
    is_at(R12, Program::new(), "reg:12");
    // AArch64 preserves the low halves of v8 to v15, and the link register has the return address.
    let mut section = Section::default();
    let cie = section.cie("", -8, 30, &Program::new().def_cfa(31, 16));
    section.fde(cie, 0x1000, 0x100, &Program::new());
    let frames = [section.read()];
    let target = Target::aarch64();
    let mut machine = with::<Snapshot>(|machine| machine.pc = Some(0x1000));
    machine.registers.insert(Reg(30), 0x2000u64.to_le_bytes().to_vec());
    let stack = CallStack::new(&machine, &frames, &target);
    let saved = |reg| stack.innermost().unwrap().saved(Reg(reg)).unwrap().to_string();
    assert_eq!([18, 19, 30, 71].map(saved), ["undefined", "reg:19", "reg:30", "undefined"]);
    assert_eq!(saved(72), "[reg:72/64, undefined/64]");
}

/// 3: "Where L is the location description of the current CFA updated with the bit offset N scaled by 8."
#[test]
fn offset() {
    is_at(RBX, Program::new().offset(RBX, 2), "mem:0:0x7000");
    // DW_CFA_offset and DW_CFA_offset_extended are unsigned, _extended_sf is signed; all are factored.
    is_at(RBX, Program::new().op(0x80 | 3, [4]), "mem:0:0x6ff0");
    is_at(XMM0, Program::new().op(0x05, [XMM0, 4]), "mem:0:0x6ff0");
    is_at(RBX, Program::new().offset(RBX, -1), "mem:0:0x7018");
    // Moving the CFA out of memory is an error: A.2.5.3.
    let down = Program::new().def_cfa(RAX, 0).register(16, R12);
    is_refused(RBX, down.offset(RBX, 0x400), Class::Evaluation, "is outside space 0");
}

/// 4: "The previous value of this register is the memory byte address of the location description L."
#[test]
fn val_offset() {
    is_at(RBX, Program::new().val_offset(RBX, 2), "implicit:0070000000000000");
    is_at(RBX, Program::new().op(0x14, [RBX, 1]), "implicit:0870000000000000");
    // "Ill-formed … if the register size does not match the size of an address."
    is_refused(XMM0, Program::new().val_offset(XMM0, 0), Class::IllFormed, "contains an address");
}

/// 5: "This register has been stored in another register numbered R."
#[test]
fn register() {
    is_at(RBX, Program::new().register(RBX, R12), "reg:12");
    // The register of this frame, independent of its rule for the caller.
    is_at(RBX, Program::new().register(RBX, R12).undefined(R12), "reg:12");
    is_at(RBX, Program::new().register(RBX, R12).offset(R12, 2), "reg:12");
    // "Ill-formed if the size of this register does not match the size of register R."
    is_refused(RBX, Program::new().register(RBX, XMM0), Class::IllFormed, "has another size");
    // "… or if there is a cyclic dependency in the call frame information."
    let circle = Program::new().register(RBX, R12).register(R12, RBP).register(RBP, RBX);
    is_refused(RBX, circle.clone(), Class::IllFormed, "cyclic");
    is_refused(13, circle.register(13, RBX), Class::IllFormed, "cyclic");
    is_refused(RBX, Program::new().register(RBX, RBX), Class::IllFormed, "cyclic");
    let chain = Program::new().register(RBX, R12).register(R12, RBP);
    is_at(RBX, chain.clone(), "reg:12");
    is_at(R12, chain, "reg:6");
    // Exchanged registers are a cycle of rules, but not of registers; expressions can describe them.
    is_refused(RBX, Program::new().register(RBX, R12).register(R12, RBX), Class::IllFormed, "cyclic");
    let swapped = Program::new().expression(0x10, Some(RBX), &x86("regx r12")).expression(
        0x10,
        Some(R12),
        &x86("regx rbx"),
    );
    is_at(RBX, swapped.clone(), "reg:12");
    is_at(R12, swapped, "reg:3");
}

/// 6: "… the location description produced by evaluating the DWARF operation expression E … an initial stack comprising
/// the location description of the current CFA."
#[test]
fn expression() {
    is_at(RBX, Program::new().at(RBX, &x86("lit4; minus")), "mem:0:0x700c");
    // The initial element is a location, and can be moved.
    is_at(RBX, Program::new().at(RBX, &x86("plus_uconst 4; lit4; offset")), "mem:0:0x7018");
    is_at(RBX, Program::new().at(RBX, &x86("drop; reg0; piece 4; reg12; piece 4")), "[reg:0/32, reg:12/32]");
    is_at(RBX, Program::new().at(RBX, &x86("drop; undefined")), "undefined");
    is_at(
        RBX,
        Program::new().at(RBX, &x86("breg0 0x6000; deref; stack_value; swap; drop")),
        "implicit:0001020304050607",
    );
    is_refused(RBX, Program::new().at(RBX, &x86("drop; drop")), Class::IllFormed, "too few elements");
}

/// 7: "… located at the implicit location description created from the value."
#[test]
fn val_expression() {
    is_at(RBX, Program::new().value(RBX, &x86("lit4; plus")), "implicit:1470000000000000");
    // "Ill-formed if the resulting value type size does not match the register size."
    is_refused(XMM0, Program::new().value(XMM0, &x86("lit4")), Class::IllFormed, "expected 128");
}

/// System V ABI, AMD64 supplement, 3.7: the CFA is the stack pointer before the call.
#[test]
fn architectural() {
    is_at(RSP, Program::new(), "implicit:1070000000000000");
    is_at(RSP, Program::new().offset(RSP, 2), "mem:0:0x7000");
    is_at(RSP, Program::new().same_value(RSP), "reg:7");
}

const NOT_ALLOWED: &str =
    "operation 0, offset 0x0: ill-formed: the operation is not allowed in call frame information";

/// A.6.4.2: "The DWARF operations that can be used in E have the following restrictions."
#[test]
fn operations_that_are_not_allowed() {
    for expr in [
        "addrx 0",
        "call2 @0x40",
        "call4 @0x40",
        "call_ref @0x40",
        "const_type @0x10 {00}",
        "constx 0",
        "convert @0x10",
        "deref_type 8 @0x10",
        "fbreg 0",
        "implicit_pointer @0x40 0",
        "regval_type rax @0x10",
        "reinterpret @0x10",
        "xderef_type 8 @0x10",
        "push_object_address",
        "call_frame_cfa",
        "entry_value (reg0)",
    ] {
        for program in [Program::new().at(RBX, &x86(expr)), Program::new().value(RBX, &x86(expr))] {
            is_refused(RBX, program, Class::IllFormed, NOT_ALLOWED);
        }
        let fault = cfa_of(Program::new().expression(0x0f, None, &x86(expr))).expect_err("a fault");
        assert!(fault.to_string().contains(NOT_ALLOWED), "{fault}");
    }
}

/// "… their use would be circular."
#[test]
fn expressions_that_ask_for_themselves() {
    let of = |reg: &str| x86(&format!("call_frame_entry_reg {reg}"));
    is_at(RBX, Program::new().at(RBX, &of("r12")).offset(R12, 2), "mem:0:0x7000");
    is_refused(RBX, Program::new().at(RBX, &of("rbx")), Class::IllFormed, "depends on itself");
    let two = Program::new().at(RBX, &of("r12")).at(R12, &of("rbx"));
    is_refused(RBX, two, Class::IllFormed, "register 3, rule expression(3 bytes)");
    // The CFA in a register that is saved at the CFA.
    let cfa = Program::new().expression(0x0f, None, &x86("call_frame_entry_reg rbx; deref")).offset(RBX, 0);
    is_refused(RBX, cfa, Class::IllFormed, "canonical frame address");
}

fn cfa_of(program: Program) -> UnwindResult<String> {
    let section = section(program);
    let machine = machine();
    let target = Target::x86_64();
    let frames = [section.read()];
    CallStack::new(&machine, &frames, &target).innermost()?.cfa().map(|cfa| cfa.to_string())
}

/// A.6.4.2.2.
#[test]
fn canonical_frame_address() {
    let is = |program, expected: &str| assert_eq!(cfa_of(program).as_deref(), Ok(expected));
    is(Program::new(), "mem:0:0x7010");
    is(Program::new().signed(0x12, [RSP], -3), "mem:0:0x7018"); // def_cfa_sf
    is(Program::new().op(0x0d, [RBX]), "mem:0:0x1013"); // def_cfa_register
    is(Program::new().op(0x0e, [0x20]), "mem:0:0x7020"); // def_cfa_offset
    is(Program::new().signed(0x13, [], 2), "mem:0:0x6ff0"); // def_cfa_offset_sf
    is(Program::new().expression(0x0f, None, &x86("breg7 8; deref")), "mem:0:0x2001");
    // Restores the remembered state.
    let expr = Program::new().op(0x0a, []).expression(0x0f, None, &x86("breg7 0"));
    is(expr.op(0x0b, []), "mem:0:0x7010");
    // "Ill-formed if the result of evaluating E is not a memory byte address location description."
    for expr in ["reg3", "lit4; stack_value", "undefined", "breg7 0; lit1; bit_offset"] {
        let fault = cfa_of(Program::new().expression(0x0f, None, &x86(expr))).expect_err("a fault");
        assert_eq!(fault.class(), Some(Class::IllFormed), "{expr}: {fault}");
    }
}

/// The CFA in another space: `DW_CFA_LLVM_def_aspace_cfa` applies until `DW_CFA_def_cfa` (R A.6.4.2.2).
#[test]
fn canonical_frame_address_in_a_space() {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let s32 = 64;
    let s33 = 65;
    let cfa_of = |program: Program| {
        let mut section = Section::default();
        let cie = section.cie("", 4, 16, &Program::new().def_aspace_cfa(s32, 0, 6));
        section.fde(cie, 0x1000, 0x100, &program);
        let mut machine = with::<Snapshot>(|machine| {
            machine.pc = Some(0x1000);
            machine.lane = Some(3);
            machine.lanes = Some(32);
        });
        machine.registers.insert(Reg(s32), 0x100u32.to_le_bytes().to_vec());
        machine.registers.insert(Reg(s33), 0x80u32.to_le_bytes().to_vec());
        // A 32-bit register cannot contain an address of the default space.
        machine.registers.insert(Reg(768), 0x1_0000_0000u64.to_le_bytes().to_vec());
        let frames = [section.read()];
        let stack = CallStack::new(&machine, &frames, &target);
        stack.innermost()?.cfa().map(|cfa| cfa.to_string())
    };
    let is = |program, expected: &str| assert_eq!(cfa_of(program).as_deref(), Ok(expected));
    is(Program::new(), "mem:6:0x100");
    is(Program::new().op(0x0d, [s33]), "mem:6:0x80");
    is(Program::new().op(0x0e, [0x40]), "mem:6:0x140");
    is(Program::new().signed(0x13, [], -4), "mem:6:0xf0");
    is(Program::new().def_aspace_cfa_sf(s33, -4, 6), "mem:6:0x70");
    is(Program::new().def_aspace_cfa(s33, 8, 5), "mem:5:0x88@3");
    is(Program::new().def_cfa(768, 8), "mem:0:0x100000008");
    // The remembered state includes the space.
    is(Program::new().op(0x0a, []).def_cfa(768, 8).op(0x0b, []).op(0x0e, [4]), "mem:6:0x104");
    // An unknown space; a register too small for an address of the default space.
    let fault = cfa_of(Program::new().def_aspace_cfa(s33, 8, 9)).expect_err("a fault");
    assert_eq!(fault.class(), Some(Class::IllFormed), "{fault}");
    let fault = cfa_of(Program::new().def_cfa(s32, 0)).expect_err("a fault");
    assert_eq!(fault.class(), Some(Class::Evaluation), "{fault}");
}

/// 2: "If the current frame is not the top frame … using the call frame information for the callee frame."
#[test]
fn same_value_in_outer_frames_goes_through_the_callees() {
    let target = Target::x86_64();
    let mut section = Section::default();
    let first = Program::new().def_cfa(RSP, 16).offset(16, 1);
    let cie = section.cie("", -8, 16, &first);
    section.fde(cie, 0x1000, 0x100, &Program::new().offset(RBX, 2));
    section.fde(cie, 0x2000, 0x100, &Program::new().same_value(RBX).register(R12, RBX).undefined(RBP));
    section.fde(cie, 0x3000, 0x100, &Program::new().undefined(16));
    let mut machine = machine();
    machine.store(SpaceId::DEFAULT, None, 0x7018, &0x3005u64.to_le_bytes());
    let frames = [section.read()];
    let stack = CallStack::new(&machine, &frames, &target);
    let all: Vec<_> = stack.frames().map(|frame| frame.expect("a frame")).collect();
    let pcs: Vec<_> = all.iter().map(|frame| (frame.number(), frame.pc(), frame.resumes_at())).collect();
    assert_eq!(pcs, [(0, 0x1000, 0x1000), (1, 0x2000, 0x2001), (2, 0x3004, 0x3005)]);
    let cfas: Vec<_> = all.iter().map(|frame| frame.cfa().expect("a CFA").to_string()).collect();
    assert_eq!(cfas, ["mem:0:0x7010", "mem:0:0x7020", "mem:0:0x7030"]);
    let at = |reg| all[2].register(Reg(reg)).expect("a location").to_string();
    // rbx, and r12, which is in the rbx of frame 1: both are at the address at which frame 0 saved it.
    assert_eq!([at(RBX), at(R12), at(RBP), at(13)], ["mem:0:0x7000", "mem:0:0x7000", "undefined", "reg:13"]);
    let bytes =
        read_bits(&all[2].register(Reg(RBX)).expect("a location"), 64, &machine).expect("bytes").bytes;
    assert_eq!(bytes, [0, 1, 2, 3, 4, 5, 6, 7]);
}
