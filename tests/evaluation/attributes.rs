//! Attributes, each with the object, the initial stack and the kind of result that the specification defines.

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::eval::{
    BaseType, Body, CallValue, Caller, Class, Context, EncodedList, Evaluator, Location, LocationListEntry,
    Machine, MemberLocation, OwnedBody, ReferencedEntry, ResultKind, Snapshot, TypeEncoding, TypeProperty,
    Unavailable, Value,
};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::op::{Dialect, Encoding, Expr, Reg};
use eitri::read::{Dwarf, ListFormat, Object, ResolvedValue};
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;

use super::{LLVM, bytes, machine, outcome, shown};

/// Calls an attribute's method with machine and context, and prints the result.
macro_rules! found {
    ($machine:expr, $method:ident($($argument:expr),*)) => {{
        let target = Target::x86_64();
        let context = Context::new(LLVM, &target);
        shown(Evaluator::new().$method($($argument,)* $machine, &context))
    }};
}

fn memory(address: u64) -> Location {
    Location::memory(SpaceId::DEFAULT, 64, address)
}

fn rax() -> Location {
    Location::register(Reg(0), 64)
}

#[test]
fn members() {
    let machine = machine();
    let member = |member, container| found!(&machine, data_member_location(member, &container));
    assert_eq!(member(MemberLocation::Bytes(4), rax()), "reg:0+32");
    assert_eq!(member(MemberLocation::Bytes(8), rax()), "evaluation error");
    assert_eq!(member(MemberLocation::Bytes(-1), rax()), "evaluation error");
    assert_eq!(member(MemberLocation::Bytes(-4), memory(0x1000)), "mem:0:0xffc");
    assert_eq!(member(MemberLocation::Bits(13), memory(0x1000)), "mem:0:0x1001+5");
    // Every place is moved (A.2.5.3).
    assert_eq!(member(MemberLocation::Bytes(4), rax().and(memory(0x1000))), "reg:0+32 | mem:0:0x1004");
    let expr = bytes("dup; deref_size 1; offset", LLVM);
    // The byte at 0x1003 is 3.
    assert_eq!(member(MemberLocation::Expression(Body::Expression(&expr)), memory(0x1003)), "mem:0:0x1006");
    // An entry of a list has an empty stack (A.2.5.5).
    let entries = [LocationListEntry { bounds: None, expr: bytes("lit4; offset", LLVM).into() }];
    assert_eq!(member(MemberLocation::Expression(Body::List(&entries)), memory(0x1000)), "ill-formed");
    let expr = bytes("push_object_address", LLVM);
    let with_object = {
        let mut changed = machine.clone();
        changed.object = Some(rax());
        changed
    };
    let expr = MemberLocation::Expression(Body::Expression(&expr));
    assert_eq!(found!(&with_object, data_member_location(expr, &rax())), "evaluation error", "no object");
}

#[test]
fn pointers_to_members_and_virtual_functions() {
    let machine = machine();
    // A.3.2.6: the pointer's value is below the object.
    let expr = bytes("swap; offset", LLVM);
    let pointer = Value::generic(4, 8);
    assert_eq!(found!(&machine, use_location(Body::Expression(&expr), &pointer, &rax())), "reg:0+32");
    let expr = bytes("deref_size 1; lit8; mul; addr 0x1000; plus", LLVM);
    assert_eq!(
        found!(&machine, vtable_elem_location(Body::Expression(&expr), &memory(0x1002))),
        "mem:0:0x1010"
    );
}

/// Bytes of `DW_AT_use_location` in an object for a consumer, from the description in section 3.2.6: `int s::* p`.
fn use_location_of(consumer: &Consumer, expr: &[u8]) -> eitri::Result<Vec<u8>> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("s.cc");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let s = m.structure(unit, Some("s"), 8)?;
    m.member(s, "m", int, 0)?.member(s, "n", int, 4)?;
    let pointer = m.member_pointer(unit, s, int)?;
    let expr = m.expr(Expr::raw(expr), &[])?;
    m.describe_type(pointer)?.use_location(&Loc::expr(expr))?;
    let module = m.finish()?;
    let written = lower(&module, consumer, Policy::Strict)?;
    let object = new_object(module.target(), &ObjectCode::default(), &written.sections)?;
    let object = Object::read(&object)?;
    let dwarf = Dwarf::read(&object)?;
    let entry = dwarf.entries().find(|entry| entry.tag() == gimli::DW_TAG_ptr_to_member_type);
    match entry.expect("a pointer to a member").attr(gimli::DW_AT_use_location) {
        Some(ResolvedValue::Expr(expr)) => Ok(expr.to_vec()),
        other => panic!("{other:?}"),
    }
}

/// Section 3.2.6. GCC's expression is `DW_OP_plus`, which computes `i == 0xff00 + 4` for `p = &s::n` and an object at 0xff00,
/// and fails for the object in register `rdi`; "GCC would only need to change the expression from `DW_OP_plus` to
/// `DW_OP_swap, DW_OP_LLVM_offset`".
#[test]
fn pointer_to_member_of_the_specification_is_described_and_evaluated() {
    let machine = machine();
    let rdi = || Location::register(Reg(5), 64);
    let [to_m, to_n] = [0, 4].map(|offset| Value::generic(offset, 8));
    let member = |expr: &[u8], pointer, object| {
        found!(&machine, use_location(Body::Expression(expr), pointer, &object))
    };

    let plus = use_location_of(&Consumer::dwarf5(), &[0x22]).expect("DWARF 5 has the operation");
    assert_eq!(plus, [0x22]);
    assert_eq!(member(&plus, &to_m, memory(0xff00)), "mem:0:0xff00");
    assert_eq!(member(&plus, &to_n, memory(0xff00)), "mem:0:0xff04");
    assert_eq!(member(&plus, &to_n, rdi()), "ill-formed", "a register has no address");

    // The operation is the fourth after DW_OP_LLVM_user.
    let swap_offset = [0x16, 0xe9, 0x04];
    let moved = use_location_of(&Consumer::llvm(), &swap_offset).expect("the consumer has the operation");
    assert_eq!(moved, swap_offset);
    assert_eq!(member(&moved, &to_n, memory(0xff00)), "mem:0:0xff04");
    assert_eq!(member(&moved, &to_m, rdi()), "reg:5");
    assert_eq!(member(&moved, &to_n, rdi()), "reg:5+32", "`n` is in the upper half");

    let error = use_location_of(&Consumer::dwarf5(), &swap_offset).expect_err("no operation of DWARF 5");
    assert!(error.to_string().contains("raw expression"), "{error}");
}

#[test]
fn data_of_a_descriptor() {
    let machine = {
        let mut changed = machine();
        changed.object = Some(memory(0x1080));
        changed
    };
    let expr = bytes("push_object_address; lit2; offset", LLVM);
    // The object is the descriptor rather than that of the machine.
    assert_eq!(found!(&machine, data_location(Some(&expr), &rax())), "reg:0+16");
    assert_eq!(found!(&machine, data_location(None, &rax())), "reg:0");
    let on_stack = bytes("lit2; offset", LLVM);
    assert_eq!(found!(&machine, data_location(Some(&on_stack), &rax())), "ill-formed", "the stack is empty");
}

#[test]
fn properties_of_types() {
    let machine = machine();
    let object = memory(0x1010);
    let property = |property, object: Option<&Location>| found!(&machine, property(property, object));
    let expr = bytes("push_object_address; plus_uconst 4; deref_size 1", LLVM);
    assert_eq!(property(TypeProperty::Expression(&expr), Some(&object)), "0x14");
    assert_eq!(property(TypeProperty::Expression(&expr), None), "evaluation error");
    assert_eq!(property(TypeProperty::Constant(-1), None), "0xffffffffffffffff Signed/64");
    let expr = bytes("addr 0x1003", LLVM);
    let ty = BaseType::new(TypeEncoding::Unsigned, 16);
    let variable = TypeProperty::Variable { location: Body::Expression(&expr), ty };
    assert_eq!(property(variable, None), "0x403 Unsigned/16");
    let length = bytes("push_object_address; lit2; offset", LLVM);
    let length = Body::Expression(&length);
    assert_eq!(found!(&machine, string_length(length, Some(16), Some(&object))), "0x1312 Unsigned/16");
    let all = found!(&machine, string_length(length, None, Some(&object)));
    assert_eq!(all, "0x1918171615141312 Unsigned/64", "the size of an address");
}

#[test]
fn frames() {
    let machine = machine();
    let expr = |text| bytes(text, LLVM);
    let (cfa, reg, composite, two) =
        (expr("call_frame_cfa"), expr("reg5; lit1; offset"), expr("reg5; piece 8"), expr("skip 2; fbreg 0"));
    let base = |expr: &[u8]| found!(&machine, frame_base(Body::Expression(expr)));
    assert_eq!(base(&cfa), "mem:0:0x1040");
    // Register 5 means `bregx 5 0`, at any offset of the location in the register.
    assert_eq!(base(&reg), "mem:0:0x1000");
    assert_eq!(base(&composite), "ill-formed");
    assert_eq!(base(&two), "ill-formed", "it contains `fbreg`, executed or not");
    let link = |expr: &[u8]| found!(&machine, static_link(Body::Expression(expr)));
    assert_eq!((link(&cfa), link(&reg)), ("mem:0:0x1040".into(), "ill-formed".into()));
    let addr = |expr: &[u8]| found!(&machine, return_addr(Body::Expression(expr)));
    assert_eq!((addr(&cfa), addr(&reg)), ("mem:0:0x1040".into(), "ill-formed".into()));
    assert_eq!(found!(&machine, variable_location(Body::Constant(&[1, 2]))), "implicit:0102");
    assert_eq!(found!(&machine, variable_location(Body::Nothing)), "undefined");
}

/// A machine whose subprogram is in another unit than most expressions that refer to it.
struct OfUnit<'m> {
    machine: &'m Snapshot,
    frame_base: ReferencedEntry<'m>,
}

impl Machine for OfUnit<'_> {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        self.machine.register(reg, frame, at, into)
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        self.machine.memory(space, lane, address, into)
    }

    fn frame_base(&self, _frame: u32) -> Option<ReferencedEntry<'_>> {
        Some(self.frame_base)
    }

    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        self.machine.saved(reg, frame)
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        self.machine.base_type(unit, offset)
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        self.machine.entry(offset)
    }

    fn call_value(&self, parameter: u64, frame: u32) -> Option<CallValue<'_>> {
        self.machine.call_value(parameter, frame)
    }
}

/// A frame base is evaluated with "the compilation unit that contains E" (A.3.3.5), in every evaluation.
#[test]
fn a_frame_base_has_the_unit_and_the_encoding_of_its_subprogram() {
    let mut known = machine();
    let saved = [(Reg(5), Location::register(Reg(5), 64))];
    known.callers = vec![Caller { pc: Some(0x5000), cfa: None, registers: saved.into() }];
    let breg = |by| OwnedBody::Expression(vec![0x75, by]);
    known.entries = [(0x20, (breg(1), 0)), (0x120, (breg(2), 0x100)), (0x220, (breg(3), 0x200))].into();
    // The call value of the parameter at 0x30 belongs to unit 0x100: fbreg 4.
    known.call_values.insert(0x30, (vec![0x91, 4], 0x100));
    // A type of unit 0x200 only: regval_type rdi.
    known.types.insert((0x200, 0x40), BaseType::generic(8));
    let call = bytes("call2 @0x20", LLVM);
    let typed = bytes("regval_type rdi @0x40", LLVM);
    let narrow = LLVM.with_address_bytes(4);
    let short = bytes("addr 0x1000", narrow);
    let base = |body: &'static str, unit, encoding| {
        let expr = match body {
            "call" => &call,
            "typed" => &typed,
            _ => &short,
        };
        OfUnit { machine: &known, frame_base: ReferencedEntry::new(Body::Expression(expr), unit, encoding) }
    };
    let place = |expr, machine: &OfUnit<'_>| shown(outcome(expr, ResultKind::Location, machine, LLVM));
    // rdi is 0x1000 in both frames. The unit of these expressions is 0.
    for (unit, expected) in [(0, "mem:0:0x1005"), (0x100, "mem:0:0x1006"), (0x200, "mem:0:0x1007")] {
        let machine = base("call", unit, None);
        assert_eq!(place("fbreg 4", &machine), expected, "unit {unit:#x}");
        assert_eq!(place("GNU_parameter_ref @0x30", &machine), expected, "passed, unit {unit:#x}");
    }
    assert_eq!(place("fbreg 4", &base("typed", 0x200, None)), "mem:0:0x1004");
    assert_eq!(place("fbreg 4", &base("typed", 0, None)), "ill-formed", "no such type in unit 0");
    // Addresses of four bytes rather than eight.
    assert_eq!(place("fbreg 4", &base("short", 0, Some(narrow))), "mem:0:0x1004");
    assert_eq!(place("fbreg 4", &base("short", 0, Some(LLVM))), "ill-formed");
    assert_eq!(place("fbreg 4", &base("short", 0, None)), "ill-formed");
}

#[test]
fn call_sites() {
    let target = Target::x86_64();
    let saved = [(Reg(0), memory(0x1008))];
    let callers = vec![Caller { pc: Some(0x5000), cfa: None, registers: saved.into() }];
    let machine = {
        let mut changed = machine();
        changed.callers = callers;
        changed
    };
    let context = Context::new(LLVM, &target).with_frame(1);
    let value = bytes("breg0 1", LLVM);
    let location = bytes("reg0; lit1; offset", LLVM);
    let mut evaluator = Evaluator::new();
    assert_eq!(shown(evaluator.call_site_value(&value, &machine, &context)), "0xf0e0d0c0b0a0909");
    assert_eq!(shown(evaluator.call_data_location(&location, &machine, &context)), "mem:0:0x1009");
    assert_eq!(shown(evaluator.call_site_value(&location, &machine, &context)), "0x1009");
}

#[test]
fn rules_of_call_frame_information() {
    let machine = machine();
    let cfa = memory(0x1040);
    let expr = |text| bytes(text, LLVM);
    assert_eq!(found!(&machine, cfa_expression(&expr("breg5 8"))), "mem:0:0x1008");
    assert_eq!(found!(&machine, cfa_expression(&expr("reg5"))), "ill-formed");
    assert_eq!(found!(&machine, cfa_expression(&expr("breg5 8; lit1; bit_offset"))), "ill-formed");
    assert_eq!(found!(&machine, cfa_expression(&expr("call_frame_cfa"))), "ill-formed");
    // The stack starts with the canonical frame address.
    assert_eq!(found!(&machine, expression_rule(&expr("lit8; minus"), &cfa)), "mem:0:0x1038");
    assert_eq!(found!(&machine, expression_rule(&expr("drop; reg1"), &cfa)), "reg:1");
    let value = |expr: &[u8], reg| found!(&machine, val_expression_rule(expr, reg, &cfa));
    assert_eq!(value(&expr("lit8; minus"), Reg(0)), "implicit:3810000000000000");
    assert_eq!(value(&expr("lit8; minus"), Reg(17)), "ill-formed", "128 bits");
}

#[test]
fn lanes() {
    let mut machine = {
        let mut changed = machine();
        changed.lanes = Some(16);
        changed
    };
    machine.registers.insert(Reg(2), vec![0x05, 0x80, 0, 0, 0, 0, 0, 0]);
    let reg = bytes("reg2", LLVM);
    let empty = bytes("", LLVM);
    assert_eq!(found!(&machine, active_lanes(Body::Expression(&reg))), "0x8005 Unsigned/16");
    assert_eq!(found!(&machine, active_lanes(Body::Expression(&empty))), "evaluation error");
    let entry = |expr: &[u8]| LocationListEntry { bounds: Some((0, 0x8000)), expr: expr.to_vec().into() };
    assert_eq!(found!(&machine, lane_pcs(Body::Expression(&reg))), "reg:2");
    assert_eq!(found!(&machine, lane_pcs(Body::List(&[entry(&reg), entry(&[0x50])]))), "ill-formed");
}

/// Evaluates an encoded list of a section.
fn in_list(format: ListFormat, bytes: &[u8], encoding: Encoding, machine: &Snapshot) -> String {
    let target = Target::x86_64();
    let list = Body::EncodedList(EncodedList { format, bytes, base: 0x4000 });
    shown(Evaluator::new().variable_location(list, machine, &Context::new(encoding, &target)))
}

#[test]
fn lists_of_dwarf_5() {
    let machine = {
        let mut changed = machine();
        changed.debug_addr = vec![0x4010, 0x4100];
        changed
    };
    let run = |bytes: &[u8]| in_list(ListFormat::Loclists, bytes, LLVM, &machine);
    // offset_pair 10..20 {reg0}; the pc is 0x4010, the unit starts at 0x4000.
    assert_eq!(run(&[4, 0x10, 0x20, 1, 0x50, 0]), "reg:0");
    // base_addressx 1; offset_pair 10..20 {reg0}; default {reg1}
    assert_eq!(run(&[1, 1, 4, 0x10, 0x20, 1, 0x50, 5, 1, 0x51, 0]), "reg:1");
    // view pair; startx_length 0, 4 {reg0}; startx_endx 0..1 {reg1}: both.
    assert_eq!(run(&[9, 1, 2, 3, 0, 4, 1, 0x50, 2, 0, 1, 1, 0x51, 0]), "reg:0 | reg:1");
    // base_address 0x3000; start_end 0x4010..0x4011 {reg1}; offset_pair 0x10.. {reg0}
    let base = [&[6][..], &0x3000u64.to_le_bytes(), &[7], &0x4010u64.to_le_bytes(), &0x4011u64.to_le_bytes()];
    assert_eq!(run(&[&base.concat()[..], &[1, 0x51, 4, 0x10, 0x20, 1, 0x50, 0]].concat()), "reg:1");
    assert_eq!(run(&[0]), "undefined");
    assert_eq!(run(&[3, 7, 4, 1, 0x50, 0]), "ill-formed", "no address 7");
    assert_eq!(run(&[4, 0x10]), "ill-formed", "cut off");
    assert_eq!(run(&[0x0b]), "ill-formed", "no such kind");
}

#[test]
fn lists_of_earlier_versions() {
    let machine = machine();
    let encoding = Encoding::new(4, Dialect::Dwarf5).with_version(4);
    let pair = |start: u32, end: u32| [start.to_le_bytes(), end.to_le_bytes()].concat();
    let run = |parts: &[Vec<u8>]| in_list(ListFormat::Loc, &parts.concat(), encoding, &machine);
    assert_eq!(run(&[pair(0x10, 0x20), vec![1, 0, 0x50], pair(0, 0)]), "reg:0");
    // The largest address selects the base address.
    let list = [pair(u32::MAX, 0x3000), pair(0x10, 0x20), vec![1, 0, 0x50], pair(0, 0)];
    assert_eq!(run(&list), "undefined");
    let list = [pair(u32::MAX, 0), pair(0x4010, 0x4020), vec![1, 0, 0x50], pair(0, 0)];
    assert_eq!(run(&list), "reg:0");
}

/// The default entry of DWARF 6 applies without a program location, too.
#[test]
fn lists_without_a_program_location() {
    let machine = {
        let mut changed = machine();
        changed.pc = None;
        changed
    };
    let list = [4, 0x10, 0x20, 1, 0x50, 5, 1, 0x51, 0];
    assert_eq!(in_list(ListFormat::Loclists, &list, LLVM, &machine), "evaluation error");
    let draft = Encoding::new(8, Dialect::Dwarf6);
    assert_eq!(in_list(ListFormat::Loclists, &list, draft, &machine), "reg:1");
}

/// Entries of repeatedly evaluated lists count as steps.
#[test]
fn long_lists_have_an_end() {
    let target = Target::x86_64();
    let entry = LocationListEntry { bounds: Some((0, 1)), expr: (&[0x50u8][..]).into() };
    let list = vec![entry; 100_000];
    let context = Context::new(LLVM, &target);
    let fault = Evaluator::new().step_limit(1000).list(&list, &machine(), &context).unwrap_err();
    assert_eq!(fault.class, Class::Evaluation);
}
