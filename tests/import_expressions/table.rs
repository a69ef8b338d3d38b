//! Expressions and the locations that they are, worked out by hand: the specification's examples, and what compilers
//! write.
//!
//! A base type's entry is `@0xES`: encoding E (0 signed, 1 unsigned, 3 floating point) and size S (0 to 3: 8, 16, 32, 64
//! bits). An odd address is one of a linked object, an even address is a symbol's.

use eitri::eval::ResultKind;
use eitri::model::Stack;
use eitri::op::{Dialect, Encoding, text};
use eitri::target::{Gfx, Scaling, Target, Wave};

use super::compare::{Case, Failure, compare, imported};

/// Bits of the object, context, expression, and the location; the reason after `!`.
type Row = (Option<u64>, &'static str, &'static str, &'static str);

/// gfx1030, 32 lanes.
const GPU: &[Row] = &[
    // Specification, 3.2 and 4.3.
    (Some(32), "", "regx v0; offset_uconst 20", "lane(v0, 5)"),
    (Some(32), "", "regx v0; push_lane; constu 4; mul; offset", "per_lane(v0)"),
    (
        Some(64),
        "",
        "regx v0; push_lane; constu 4; mul; offset; piece 4; regx v1; push_lane; constu 4; mul; offset; piece 4",
        "parts(part(per_lane(v0), 32), part(per_lane(v1), 32))",
    ),
    (
        Some(64),
        "",
        "regx v0; push_lane; constu 4; mul; offset; piece 4; addr 0xbeef; piece 2; constu 0xf00d; stack_value; \
         piece 2; piece_end",
        "parts(part(per_lane(v0), 32), part(memory(link_address(0xbeef), @0), 16), part(value(61453), 16))",
    ),
    (
        Some(32),
        "",
        "regx s0; deref_size 4; constu 1; form_aspace_address; constu 16; offset",
        "offset(memory(contents(s0), @1), 16)",
    ),
    (Some(5), "", "regx s3; constu 20; bit_offset", "bit_offset(register(s3), 20)"),
    (
        Some(64),
        "",
        "regx s3; piece 4; piece 2; bregx exec_64 16; piece 2",
        "parts(part(register(s3), 32), part(undefined, 16), part(memory(plus(contents(exec_64), 16), @0), 16))",
    ),
    (
        Some(1024),
        "",
        "regx v4; regx v5; regx exec; deref_size 4; select_bit_piece 32 32",
        "select(register(v4), register(v5), contents(exec), 32, 32)",
    ),
    (Some(1024), "", "regx s4; extend 32 32", "extend(register(s4), 32, 32)"),
    (Some(32), "", "undefined", "undefined"),
    (Some(32), "", "", "undefined"),
    // AMD's compiler.
    (
        Some(64),
        "",
        "regx s4; piece 4; regx s5; piece 4",
        "parts(part(register(s4), 32), part(register(s5), 32))",
    ),
    (
        Some(32),
        "s33 wave",
        "regx s33; deref_size 4; lit5; shr; constu 64; plus; lit5; form_aspace_address",
        "memory(stack_address(64), @5)",
    ),
    (
        Some(32),
        "",
        "regx s33; deref_size 4; lit5; shr; constu 64; plus; lit5; form_aspace_address",
        "memory(plus(shr(contents(s33), 5), 64), @5)",
    ),
    (
        Some(32),
        "s33 lane",
        "regx s33; deref_size 4; constu 64; plus; lit5; form_aspace_address",
        "memory(stack_address(64), @5)",
    ),
    (Some(32), "", "lit16; lit8; plus; lit5; form_aspace_address", "memory(stack_address(24), @5)"),
    (Some(32), "s33 lane", "lit5; aspace_bregx s33 16", "memory(stack_address(16), @5)"),
    (Some(32), "", "lit6; aspace_bregx s32 0", "memory(contents(s32), @6)"),
    (Some(32), "", "addr 0x40; lit3; form_aspace_address", "memory(64, @3)"),
    (
        Some(32),
        "",
        "regx v3; push_lane; lit4; mul; offset; deref_size 4; lit16; shr; stack_value",
        "value(shr(read(per_lane(v3), 32), 16))",
    ),
    (
        Some(64),
        "",
        "regx s4; deref_size 4; regx s5; deref_size 4; plus; stack_value",
        "value(add(contents(s4), contents(s5)))",
    ),
    (
        Some(96),
        "",
        "piece 4; regx v1; push_lane; lit4; mul; offset; piece 4",
        "parts(part(undefined, 32), part(per_lane(v1), 32), part(undefined, 32))",
    ),
    // A vector register without a lane: the specification reads its first bits.
    (Some(32), "", "regx v4", "lane(v4, 0)"),
    (Some(1024), "", "regx v4", "register(v4)"),
    (None, "", "regx v4", "register(v4)"),
    (Some(64), "", "regx v4", "parts(part(lane(v4, 0), 32), part(lane(v4, 1), 32))"),
    (
        Some(32),
        "",
        "regx v4; bit_piece 16 16; regx v4; push_lane; lit4; mul; offset; offset_uconst 2; piece 2",
        "parts(part(offset(lane(v4, 0), 2), 16), part(offset(per_lane(v4), 2), 16))",
    ),
    (Some(32), "", "push_lane; stack_value", "value(lane_index)"),
    (Some(32), "", "regx v4; push_lane; lit2; shl; offset", "per_lane(v4)"),
    (Some(16), "", "regx v4; lit4; push_lane; mul; plus_uconst 2; offset", "offset(per_lane(v4), 2)"),
    // 64 bits at a lane's distance are those of two lanes.
    (Some(64), "", "regx v4; push_lane; lit4; mul; offset", "offset_by(register(v4), mul(lane_index, 4))"),
    (
        Some(32),
        "",
        "regx s4; deref_size 4; lit5; swap; xderef",
        "memory(read(memory(contents(s4), @5), 64), @0)",
    ),
    (
        Some(32),
        "",
        "regx s33; deref_size 4; lit6; form_aspace_address; offset_uconst 8",
        "offset(memory(contents(s33), @6), 8)",
    ),
    (Some(32), "", "call_frame_cfa; offset_uconst 8", "offset(cfa, 8)"),
    (
        Some(32),
        "",
        "call_frame_cfa; plus_uconst 8",
        "!the evaluation always fails: only a byte of the default address space converts to a number",
    ),
    (Some(64), "", "call_frame_entry_reg exec_64; deref_size 8; stack_value", "value(entry_value(exec_64))"),
    (Some(32), "", "entry_value (regx s4); convert @0x0; stack_value", "value(entry_value(s4))"),
    // LLVM upstream: an address in a register of 32 bits.
    (Some(32), "", "bregx s4 0", "!the evaluation always fails: a register has fewer bits than are read"),
    (
        Some(32),
        "base regx s33",
        "fbreg 8",
        "!the evaluation always fails: a register has fewer bits than are read",
    ),
    (
        Some(32),
        "",
        "regx s4; piece 8",
        "!the evaluation always fails: the storage has fewer bits than are used",
    ),
];

/// x86-64.
const CPU: &[Row] = &[
    (Some(64), "", "reg3", "register(rbx)"),
    (Some(64), "", "reg17", "register(xmm0)"),
    (Some(64), "", "reg0; GNU_uninit", "register(rax)"),
    (Some(32), "base call_frame_cfa", "fbreg -20", "offset(cfa, -20)"),
    (Some(32), "base reg6", "fbreg -20", "memory(plus(contents(rbp), -20), @0)"),
    (Some(32), "base breg7 8", "fbreg -20", "memory(plus(contents(rsp), -12), @0)"),
    (Some(64), "base call_frame_cfa", "fbreg -32; stack_value", "value(address_of(offset(cfa, -32)))"),
    (Some(64), "base call_frame_cfa", "fbreg -40; deref", "memory(read(offset(cfa, -40), 64), @0)"),
    (Some(64), "base reg6", "fbreg -40; lit8; plus; stack_value", "value(plus(contents(rbp), -32))"),
    (
        Some(64),
        "",
        "breg5 0; deref; plus_uconst 16; stack_value",
        "value(plus(read(memory(contents(rdi), @0), 64), 16))",
    ),
    (Some(32), "", "breg0 0; stack_value", "value(contents(rax))"),
    (Some(64), "", "breg7 24", "memory(plus(contents(rsp), 24), @0)"),
    (Some(64), "", "lit5; stack_value", "value(5)"),
    (Some(64), "", "const1s -1; stack_value", "value(18446744073709551615)"),
    (Some(64), "", "lit8; lit2; shra; stack_value", "value(2)"),
    (Some(64), "", "entry_value (reg5); stack_value", "value(entry_value(rdi))"),
    (Some(64), "", "entry_value (reg5)", "memory(entry_value(rdi), @0)"),
    (Some(64), "", "breg0 0; breg1 0; plus; stack_value", "value(add(contents(rax), contents(rdx)))"),
    (Some(64), "", "breg0 0; lit3; shra; stack_value", "value(shra(contents(rax), 3))"),
    (
        Some(64),
        "",
        "breg0 0; breg3 0; minus; const1u 24; div; stack_value",
        "value(div(sub(contents(rax), contents(rbx)), 24))",
    ),
    (
        Some(64),
        "",
        "breg5 0; const4u 0xffffffff; and; lit4; mul; stack_value",
        "value(mul(and(contents(rdi), 4294967295), 4))",
    ),
    (Some(64), "", "breg0 0; dup; mul; stack_value", "value(mul(contents(rax), contents(rax)))"),
    (Some(64), "", "breg0 0; lit7; mod; stack_value", "value(mod(contents(rax), 7))"),
    (
        Some(64),
        "",
        "breg0 0; breg1 0; breg0 0; breg1 0; le; bra L0; swap; L0: drop; stack_value",
        "value(if(contents(rax), contents(rdx), le(contents(rax), contents(rdx))))",
    ),
    (
        Some(64),
        "",
        "breg0 0; bra L0; lit5; skip L1; L0: lit8; L1: stack_value",
        "value(if(8, 5, contents(rax)))",
    ),
    (Some(64), "", "breg0 0; lit0; ne; stack_value", "value(ne(contents(rax), 0))"),
    (Some(64), "", "breg0 0; lit8; gt; stack_value", "value(lt(8, contents(rax)))"),
    (
        Some(128),
        "",
        "reg0; piece 8; reg1; piece 8",
        "parts(part(register(rax), 64), part(register(rdx), 64))",
    ),
    (Some(64), "", "reg0; piece 4; piece 4", "parts(part(register(rax), 32), part(undefined, 32))"),
    (Some(128), "", "piece 8; lit0; stack_value; piece 8", "parts(part(undefined, 64), part(value(0), 64))"),
    (
        Some(128),
        "",
        "breg7 16; piece 8; reg3; piece 8",
        "parts(part(memory(plus(contents(rsp), 16), @0), 64), part(register(rbx), 64))",
    ),
    // The rest of a larger object is unavailable.
    (Some(64), "", "reg0; piece 4", "parts(part(register(rax), 32), part(undefined, 32))"),
    (Some(64), "", "reg0; piece 8", "register(rax)"),
    (Some(3), "", "reg0; bit_piece 3 5", "bit_offset(register(rax), 5)"),
    (Some(32), "", "implicit_value {01 02 03 04}", "implicit(01020304)"),
    (Some(64), "", "implicit_pointer @0x40 8", "pointer_to(8)"),
    (Some(32), "", "addr 0x404028", "memory(address(0), @0)"),
    (Some(8), "", "addr 0x404029", "memory(link_address(0x404029), @0)"),
    (Some(64), "", "addr 0x404029; plus_uconst 8; stack_value", "value(link_address(0x404031))"),
    (Some(32), "", "const8u 16; form_tls_address", "thread_local(16)"),
    (Some(32), "", "const8u 16; GNU_push_tls_address", "thread_local(16)"),
    (Some(64), "", "regval_type rax @0x12; convert @0x13; stack_value", "value(read(register(rax), 32))"),
    (
        Some(64),
        "",
        "regval_type rax @0x2; convert @0x3; stack_value",
        "value(shra(shl(read(register(rax), 32), 32), 32))",
    ),
    (
        Some(64),
        "",
        "breg0 0; convert @0x12; convert @0x0; stack_value",
        "value(and(contents(rax), 4294967295))",
    ),
    (Some(32), "", "breg0 0; convert @0x2; stack_value", "value(contents(rax))"),
    (Some(32), "", "GNU_parameter_ref @0x10; stack_value", "value(passed_value)"),
    (None, "value", "breg5 0; deref_size 4", "value(read(memory(contents(rdi), @0), 32))"),
    (None, "value", "breg0 3", "value(plus(contents(rax), 3))"),
    (None, "value base call_frame_cfa", "fbreg -8", "value(address_of(offset(cfa, -8)))"),
    // What has no location.
    (Some(64), "", "breg0 0; drop; lit1; stack_value", "!the result does not use an operation that can fail"),
    (
        Some(64),
        "",
        "regval_type xmm0 @0x33; regval_type xmm1 @0x33; plus; stack_value",
        "!floating-point numbers; expected integers of up to 64 bits",
    ),
    (Some(64), "", "push_object_address; deref", "!no location node is the described object's location"),
    (Some(64), "", "L0: lit1; drop; skip L0", "!a loop"),
    (Some(64), "", "plus", "!the stack has too few elements"),
    (Some(64), "", "fbreg 8", "!the frame base is unknown"),
    (Some(64), "", "entry_value (breg7 8)", "!the value on entry is not that of a register of up to 64 bits"),
    (Some(64), "", "lit1; bra L0; breg0 0; deref; L0: stack_value", "!the stack has too few elements"),
];

/// s390x, a big-endian machine.
const BIG: &[Row] = &[
    (Some(64), "", "reg6; deref_size 4; stack_value", "value(read(register(r6), 32))"),
    (Some(16), "", "implicit_value {01 02 03 04}", "implicit(0102)"),
    (Some(64), "", "breg15 160", "memory(plus(contents(r15), 160), @0)"),
    (Some(64), "", "implicit_value {01 02 03 04}; deref_size 2; stack_value", "value(258)"),
];

fn check(target: &Target, dialect: Dialect, rows: &[Row], wrong: &mut Vec<String>) {
    for &(bits, about, expr, expected) in rows {
        let encoding = Encoding::new(target.address_bytes(), dialect).with_big_endian(target.is_big_endian());
        let parsed =
            |text: &str| text::parse(text, encoding, Some(target)).unwrap_or_else(|e| panic!("{text}: {e}"));
        let parsed_expr = parsed(expr);
        let base = about.split_once("base ").map(|(_, base)| parsed(base));
        let mut case = Case::new(parsed_expr.bytes(), encoding, target);
        case.bits = bits;
        case.frame_base = base.as_ref().map(|base| base.bytes());
        if about.starts_with("value") {
            case.kind = ResultKind::Value;
        }
        if let Some(unit) = about.strip_prefix("s33 ") {
            let scaling = if unit == "wave" { Scaling::Wave } else { Scaling::Lane };
            case.stack = Stack { base: target.sgpr(33).ok(), scaling };
        }
        let found = match imported(&case) {
            Ok(imported) => {
                if let Err(difference) = compare(&case, &imported) {
                    wrong.push(format!("{expr}: {difference}"));
                }
                super::text::text(&imported.nodes(), target)
            }
            Err(Failure::Untyped(untyped)) => format!("!{}", untyped.reason),
            Err(Failure::Refused(why)) => format!("refused: {why}"),
        };
        if found != expected {
            wrong.push(format!("{expr}:\n  expected {expected}\n  found    {found}"));
        }
    }
}

#[test]
fn expressions_become_the_expected_locations() {
    let wrong = wrong();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the rows with another location.
pub fn wrong() -> Vec<String> {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).unwrap();
    let mut wrong = Vec::new();
    check(&gpu, Dialect::Llvm, GPU, &mut wrong);
    check(&Target::x86_64(), Dialect::Dwarf5, CPU, &mut wrong);
    check(&Target::s390x(), Dialect::Dwarf5, BIG, &mut wrong);
    let count = GPU.len() + CPU.len() + BIG.len();
    assert!(count >= 100 - 5, "{count} rows");
    wrong
}
