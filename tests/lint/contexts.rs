//! Expressions of attributes other than locations, and of frames: each result of a wrong kind, and each expression that
//! fails, beside one that is right.

use eitri::lint::{LintCode, LintOptions, lint};
use eitri::op::{Dialect, Encoding, text};
use eitri::target::Target;
use gimli::constants as dw;
use gimli::write::{AttributeValue, Expression};
use gimli::{DwAt, DwTag};

use super::kinds::{Unit, entry, framed};
use super::made::{AMD, replaced_everywhere};

/// Codes of an object with an attribute, but not that of its missing frames.
fn codes(target: &str, tag: DwTag, name: DwAt, expr: &str) -> Vec<LintCode> {
    let target = Target::named(target).expect("a target");
    let expr = text::parse(expr, Encoding::new(8, Dialect::Llvm), Some(&target)).expect("an expression");
    let value = AttributeValue::Exprloc(Expression::raw(expr.bytes().to_vec()));
    let mut unit = Unit::new();
    let f = unit.f;
    match tag {
        dw::DW_TAG_subprogram => unit.dwarf.unit.get_mut(f).set(name, value),
        _ => drop(entry(&mut unit.dwarf, f, tag, vec![(name, value)])),
    }
    let report = lint(&unit.object_for(&target), &LintOptions::default()).expect("it is read");
    report.findings.iter().map(|one| one.code).filter(|code| *code != LintCode::NoCfa).collect()
}

/// The registry's number.
const LANE_PC: DwAt = DwAt(0x3e12);
const CPU: &str = "x86_64";
const FUNCTION: DwTag = dw::DW_TAG_subprogram;
const BOUNDS: DwTag = dw::DW_TAG_subrange_type;

/// Target, attribute of an entry, expressions that are right, and those that are wrong.
type Row = (&'static str, DwTag, DwAt, &'static [&'static str], &'static [(&'static str, LintCode)]);

#[test]
fn the_result_of_an_attribute_is_of_the_kind_that_it_needs() {
    let rows: &[Row] = &[
        (
            CPU,
            dw::DW_TAG_member,
            dw::DW_AT_data_member_location,
            // The second is that of a virtual base.
            &["plus_uconst 4", "dup; deref; constu 24; minus; deref; plus", "nop"],
            &[
                ("lit4; plus; stack_value", LintCode::WrongKind),
                ("implicit_value {01 02 03 04}", LintCode::WrongKind),
                ("regx rax; piece 4; regx rdx; piece 4", LintCode::WrongKind),
                ("regx rax", LintCode::WrongKind),
                ("lit4", LintCode::ConstantAsAddress),
                ("regx 600", LintCode::UnknownRegister),
                ("swap", LintCode::IllFormed),
                ("lit0; div", LintCode::IllFormed),
            ],
        ),
        (
            CPU,
            FUNCTION,
            dw::DW_AT_vtable_elem_location,
            // By convention, the number of the entry.
            &["constu 2", "deref; plus_uconst 16"],
            &[("constu 2; stack_value", LintCode::WrongKind), ("plus", LintCode::IllFormed)],
        ),
        (
            CPU,
            dw::DW_TAG_ptr_to_member_type,
            dw::DW_AT_use_location,
            &["plus"],
            &[("plus; stack_value", LintCode::WrongKind), ("plus; plus", LintCode::IllFormed)],
        ),
        (
            CPU,
            dw::DW_TAG_array_type,
            dw::DW_AT_data_location,
            &["push_object_address; deref"],
            &[
                ("push_object_address; deref; stack_value", LintCode::WrongKind),
                ("deref", LintCode::IllFormed),
            ],
        ),
        (
            CPU,
            FUNCTION,
            dw::DW_AT_static_link,
            &["breg6 -8; deref", "regx rbp"],
            &[("breg6 0; stack_value", LintCode::WrongKind), ("lit3", LintCode::ConstantAsAddress)],
        ),
        (
            CPU,
            FUNCTION,
            dw::DW_AT_return_addr,
            &["breg6 8", "regx rax", "regx rax; piece 4; regx rdx; piece 4"],
            &[("breg6 8; deref; stack_value", LintCode::WrongKind), ("regx 600", LintCode::UnknownRegister)],
        ),
        (
            CPU,
            BOUNDS,
            dw::DW_AT_upper_bound,
            &["breg5 0; deref", "breg5 0; deref; stack_value", "lit7"],
            &[("breg5 0; lit0; mod", LintCode::IllFormed), ("breg5 0; minus", LintCode::IllFormed)],
        ),
        // The dimension is on the initial stack.
        (CPU, dw::DW_TAG_generic_subrange, dw::DW_AT_upper_bound, &["lit8; mul"], &[]),
        (
            CPU,
            dw::DW_TAG_call_site_parameter,
            dw::DW_AT_call_value,
            &["breg5 0", "entry_value {55}"],
            &[("plus", LintCode::IllFormed)],
        ),
        (
            AMD,
            FUNCTION,
            // The code of the function is at 0x10000.
            LANE_PC,
            &["call_frame_cfa", "regx v3; piece 128; regx v4; piece 128", "undefined"],
            &[
                ("addr 0x10000; stack_value", LintCode::WrongKind),
                ("addr 0x10000", LintCode::WrongKind),
                ("implicit_value {01 02 03 04 05 06 07 08}", LintCode::WrongKind),
                ("swap", LintCode::IllFormed),
            ],
        ),
    ];
    for (target, tag, name, right, wrong) in rows {
        for expr in *right {
            assert!(codes(target, *tag, *name, expr).is_empty(), "{name}: {expr}");
        }
        for (expr, code) in *wrong {
            assert_eq!(codes(target, *tag, *name, expr), [*code], "{name}: {expr}");
        }
    }
}

/// A finding about a member has the member's name, and the expression.
#[test]
fn a_finding_about_an_attribute_has_the_expression() {
    let mut unit = Unit::new();
    let member = entry(
        &mut unit.dwarf,
        unit.f,
        dw::DW_TAG_member,
        vec![(dw::DW_AT_name, AttributeValue::String("tail".into()))],
    );
    // plus_uconst 4; stack_value
    let value = AttributeValue::Exprloc(Expression::raw(vec![0x23, 4, 0x9f]));
    unit.dwarf.unit.get_mut(member).set(dw::DW_AT_data_member_location, value);
    let report = lint(&unit.object_for(&Target::x86_64()), &LintOptions::default()).expect("it is read");
    let found = report.findings.iter().find(|one| one.code == LintCode::WrongKind).expect("a finding");
    assert_eq!(found.variable.as_deref(), Some("tail"));
    assert_eq!(found.written, "DW_AT_data_member_location is a value without a location, computed");
    let expression = found.expression.as_ref().expect("an expression");
    assert_eq!(expression.text, "plus_uconst 4; stack_value");
}

/// DW_CFA_def_cfa, rsp, 8; DW_CFA_offset, rip, 1, replaced by DW_CFA_def_cfa_expression with three bytes.
#[test]
fn the_frame_address_is_an_address() {
    let codes = |expr: [u8; 3]| {
        let new = [&[0x0f, 3][..], &expr].concat();
        let object = replaced_everywhere(&framed(true), &[0x0c, 7, 8, 0x90, 1], &new);
        let report = lint(&object, &LintOptions::default()).expect("it is read");
        let codes = report.findings.iter().map(|one| one.code);
        codes.filter(|code| *code != LintCode::NoReturnAddress).collect::<Vec<_>>()
    };
    // breg7 8; nop
    assert!(codes([0x77, 8, 0x96]).is_empty());
    // breg7 8; stack_value
    assert_eq!(codes([0x77, 8, 0x9f]), [LintCode::WrongKind]);
    // regx rax; piece 8
    assert_eq!(codes([0x50, 0x93, 8]), [LintCode::WrongKind]);
    // lit1; lit0; div
    assert_eq!(codes([0x31, 0x30, 0x1b]), [LintCode::IllFormed]);
    // lit1; nop; nop
    assert_eq!(codes([0x31, 0x96, 0x96]), [LintCode::ConstantAsAddress]);
}
