//! Frame bases and rules of frames that no debugger can use, each beside one that is right.

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode as Text, new_object};
use eitri::lint::{LintCode, LintOptions, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::Loc;
use eitri::op::{Dialect, Encoding, Expr, text};
use eitri::target::Target;

use super::made::{AMD, replaced, replaced_everywhere};
use super::mutations::clean;

/// Bytes of an expression, with `nop` before it.
fn padded(target: &Target, expr: &str) -> Vec<u8> {
    let expr = text::parse(expr, Encoding::new(8, Dialect::Llvm), Some(target)).expect("an expression");
    let nops = 12usize.checked_sub(expr.bytes().len()).expect("a short expression");
    [&vec![0x96; nops][..], expr.bytes()].concat()
}

/// An object whose function has a frame base, and no frames.
pub fn object_of_base(target: &str, right: &str, wrong: &str) -> Vec<u8> {
    let target = Target::named(target).expect("a target");
    let consumer = if target.gfx().is_some() { Consumer::llvm() } else { Consumer::dwarf5() };
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let base = m.expr(Expr::raw(padded(&target, right)), &[]).expect("an expression");
    let mut function = m.function(unit, "f").expect("a function");
    function.code("f", 0x20).frame_base(&Loc::expr(base)).expect("a place");
    let module = m.finish().expect("a module");
    let written = lower(&module, &consumer, Policy::Partial).expect("it is lowered");
    let code = Text::text([0, 0, 0x80, 0xbf].repeat(8)).with_function("f", 0, 0x20);
    let object = new_object(module.target(), &code, &written.sections).expect("an object");
    replaced(&object, &padded(&target, right), &padded(&target, wrong))
}

/// Codes of an object whose function has a frame base, but not that of its missing frames.
pub fn codes_of_base(target: &str, right: &str, wrong: &str) -> Vec<&'static str> {
    let report = lint(&object_of_base(target, right, wrong), &LintOptions::default()).expect("it is read");
    report
        .findings
        .iter()
        .map(|one| one.code)
        .filter(|code| *code != LintCode::NoCfa)
        .map(LintCode::name)
        .collect()
}

#[test]
fn a_frame_base_that_is_no_place_is_found() {
    let slot = "bregx s33 0; lit6; form_aspace_address";
    let cfa = "call_frame_cfa";
    for (target, right, wrong, code) in [
        (AMD, slot, "lit1; stack_value", Some(LintCode::WrongKind)),
        (AMD, slot, "regx s33; piece 4; regx s34; piece 4", Some(LintCode::WrongKind)),
        (AMD, slot, "swap; swap", Some(LintCode::IllFormed)),
        (AMD, slot, "lit1; lit0; div", Some(LintCode::IllFormed)),
        (AMD, slot, "regx 127", Some(LintCode::UnknownRegister)),
        (AMD, slot, "bregx 127 0; lit6; form_aspace_address", Some(LintCode::UnknownRegister)),
        // By convention, the contents of the register.
        (AMD, slot, "regx s33", None),
        ("x86_64", cfa, "regx rbp", None),
        ("x86_64", cfa, "breg7 8", None),
        ("x86_64", cfa, "lit3", Some(LintCode::ConstantAsAddress)),
        ("x86_64", cfa, "breg6 0; stack_value", Some(LintCode::WrongKind)),
        ("x86_64", cfa, "implicit_value {01 02 03 04}", Some(LintCode::WrongKind)),
    ] {
        assert!(codes_of_base(target, right, right).is_empty(), "{right}");
        let found = codes_of_base(target, right, wrong);
        assert_eq!(found, code.map(LintCode::name).as_slice(), "{wrong}");
    }
}

/// Codes of the clean object with some bytes of its frames replaced.
pub fn codes_of_frames(old: &[u8], new: &[u8]) -> Vec<&'static str> {
    let report = lint(&replaced_everywhere(&clean(), old, new), &LintOptions::default()).expect("it is read");
    let mut codes: Vec<_> = report.findings.iter().map(|one| one.code.name()).collect();
    codes.dedup();
    codes
}

#[test]
fn a_rule_that_no_debugger_can_use_is_found() {
    // regx 62; piece 4; regx 63; piece 4
    let rule = [0x90, 0x3e, 0x93, 4, 0x90, 0x3f, 0x93, 4];
    assert!(codes_of_frames(&rule, &rule).is_empty());
    let unknown = [0x90, 0xff, 0x7f, 0x93, 4, 0x96, 0x96, 0x96];
    assert_eq!(codes_of_frames(&rule, &unknown), ["unknown-register"]);
    // The stack begins with one element: `swap` needs two.
    assert_eq!(codes_of_frames(&rule, &[0x16; 8]), ["ill-formed"]);
    // lit0; plus: the initial element is an operand.
    assert!(codes_of_frames(&rule, &[0x30, 0x22, 0x96, 0x96, 0x96, 0x96, 0x96, 0x96]).is_empty());
    // DW_CFA_LLVM_def_aspace_cfa, register 64, offset 0, space 6
    let cfa = [0x30, 0x40, 0, 6];
    assert_eq!(codes_of_frames(&cfa, &[0x30, 0x7f, 0, 6]), ["unknown-register"]);
    // Any scalar register can have the address.
    assert!(codes_of_frames(&cfa, &[0x30, 0x41, 0, 6]).is_empty());
}
