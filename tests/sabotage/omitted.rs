//! An omission excuses its own entity, and no other entity of that name.

use std::collections::BTreeSet;

use eitri::build::Builder;
use eitri::check::{CheckReport, FindingKind};
use eitri::error::Construct;
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, VariableId};
use eitri::omission::{Names, Omission, Property, Reason, Subject};
use eitri::target::Target;

use crate::sabotage::object;

/// Kernel with two variables `i`: one in a lane of a register, which DWARF 5 cannot express, and one in a register,
/// optionally without its location.
fn module(has_second: bool) -> (Module, [VariableId; 2]) {
    let target = Target::named("amdgpu-gfx1030-wave32").unwrap();
    let vector = target.vgpr(40).unwrap();
    let scalar = target.sgpr(4).unwrap();
    let mut m = Builder::new(target);
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let kernel = m.function(unit, "k").unwrap().code("k", 64).id();
    let per_lane = Loc::per_lane(vector);
    let first = m.variable(kernel, "i", int).unwrap().live(0..64, per_lane).unwrap().id();
    let mut second = m.variable(kernel, "i", int).unwrap();
    if has_second {
        second.live(0..64, Loc::register(scalar)).unwrap();
    }
    let second = second.id();
    (m.finish().unwrap(), [first, second])
}

fn written(module: &Module) -> Lowered {
    lower(module, &Consumer::dwarf5(), Policy::Partial).unwrap()
}

fn check(module: &Module, omissions: &[Omission], written: &Lowered) -> CheckReport {
    let object = object(module, &written.sections);
    eitri::check(module, &Consumer::dwarf5(), omissions, &object).unwrap()
}

#[test]
fn two_variables_of_one_name_do_not_excuse_each_other() {
    let (truth, [first, second]) = module(true);
    let right = written(&truth);
    let omitted: Vec<_> = right.omissions.iter().map(Omission::variable).collect();
    assert_eq!(omitted, [Some(first)]);
    let report = check(&truth, &right.omissions, &right);
    assert!(report.is_clean(), "{report}");

    // Omission of the other variable of this name.
    let others = right.omissions.iter().cloned();
    let others: Vec<_> = others
        .map(|one| {
            let mut omission = one;
            omission.subject = Subject::Variable(second);
            omission
        })
        .collect();
    assert_is_location(&check(&truth, &others, &right));

    // Other variable without its location.
    let wrong = written(&module(false).0);
    assert_is_location(&check(&truth, &right.omissions, &wrong));
}

/// A description that gives omissions of variables, calls, frames, types and templates for a consumer without these
/// expressions.
const ALL: &str = r#"{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{"unit": {"name": "a.cl", "language": "OpenCL"}},
{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}}},
{"variable": {"in": "k", "name": "i", "type": "int", "live": [[0, 64, {"per_lane": "v1"}]]}},
{"variable": {"in": "k", "name": "i", "type": "int", "live": [[0, 64, {"register": "s4"}]]}},
{"call": {"in": "k", "returns_to": 20, "id": "C"}},
{"argument": {"call": "C", "location": {"per_lane": "v2"}}},
{"region": {"in": "k", "kind": "then", "pcs": [8, 16], "waits_at": 16, "masks": [[0, 64, {"register": "s6"}]]}},
{"function": {"in": "a.cl", "name": "f", "code": {"symbol": "other", "bytes": 64}, "frame_base": {"per_lane": "v3"}}}]}"#;

/// Verdicts do not depend on text: neither on names in messages, nor on the words of a reason.
#[test]
fn texts_of_omissions_change_no_verdict() {
    let truth = Module::from_json(ALL).unwrap();
    let right = written(&truth);
    let blank = |one: &Omission| {
        let mut omission = one.clone();
        omission.reason = Reason::Inexpressible(Construct::Operation("x"));
        omission.names = Names::default();
        omission
    };
    let blank: Vec<_> = right.omissions.iter().map(blank).collect();
    let properties: BTreeSet<_> = blank.iter().map(|one| one.property).collect();
    assert!(properties.len() > 2, "{properties:?}");
    let report = check(&truth, &right.omissions, &right);
    assert!(report.is_clean(), "{report}");
    assert_eq!(check(&truth, &blank, &right), report);
    // Nothing is excused without omissions.
    assert!(!check(&truth, &[], &right).is_clean());
    // One changed bit of each byte of the object.
    let object = object(&truth, &right.sections);
    let [mut found, mut clean] = [0, 0];
    for at in 0..object.len() {
        let mut changed = object.clone();
        changed[at] ^= 1 << (at % 8);
        let judged = |omissions: &[Omission]| eitri::check(&truth, &Consumer::dwarf5(), omissions, &changed);
        let verdict = judged(&right.omissions);
        assert_eq!(judged(&blank), verdict, "byte {at}");
        *if verdict.is_ok_and(|report| report.is_clean()) { &mut clean } else { &mut found } += 1;
    }
    assert!(found > 100 && clean > 100, "{found} found, {clean} clean");
}

/// A variable of the first unit is omitted; the second unit has a procedure that is not described.
#[test]
fn an_omission_excuses_no_procedure_of_another_unit() {
    let text = |procedures: &str| {
        let units = r#"{"unit": {"name": "a.cl"}}, {"unit": {"name": "b.cl"}},
{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}}},
{"function": {"in": "b.cl", "name": "f", "code": {"symbol": "other", "bytes": 64}}},
{"variable": {"in": "k", "name": "i", "type": "int", "live": [[0, 64, {"overlay":
    [{"register": "s8"}, {"register": "s9"}, {"read": [{"register": "s10"}, 32]}, 8]}]]}}"#;
        format!(r#"{{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [{units}{procedures}]}}"#)
    };
    let procedure = |unit: &str| {
        format!(r#", {{"procedure": {{"unit": "{unit}", "id": "P", "loc": {{"register": "s7"}}}}}}"#)
    };
    let consumer = Consumer::llvm();
    let lowered = |text: String| {
        let module = Module::from_json(&text).unwrap();
        let written = lower(&module, &consumer, Policy::Partial).unwrap();
        (module, written)
    };
    let (truth, right) = lowered(text(""));
    assert_eq!(right.omissions.len(), 1);
    let judged = |omissions: &[Omission], written: &Lowered| {
        eitri::check(&truth, &consumer, omissions, &object(&truth, &written.sections)).unwrap()
    };
    assert!(judged(&right.omissions, &right).is_clean());
    let report = judged(&right.omissions, &lowered(text(&procedure("b.cl"))).1);
    let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Extra], "{report}");
    // The omitted variable could have had one procedure, but not two.
    let report = judged(&right.omissions, &lowered(text(&procedure("a.cl"))).1);
    assert!(report.is_clean(), "{report}");
    let two =
        format!("{}{}", procedure("a.cl"), procedure("a.cl").replace("\"P\"", "\"Q\"").replace("s7", "s6"));
    let report = judged(&right.omissions, &lowered(text(&two)).1);
    let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Extra], "{report}");
}

/// Two procedures without a meaning in DWARF 5: one is replaced in its omitted caller, the other has an entry.
#[test]
fn an_entry_is_that_of_the_procedure_without_callers() {
    let text = r#"{"eitri": 1, "target": "amdgpu-gfx900-wave64", "describe": [
{"unit": {"name": "a.cl"}},
{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}}},
{"procedure": {"unit": "a.cl", "id": "P", "loc": {"overlay": ["undefined", "undefined", 65, 28]}}},
{"procedure": {"unit": "a.cl", "id": "Q", "loc": "undefined"}},
{"call": {"in": "k", "returns_to": 20, "id": "C"}},
{"argument": {"call": "C", "location": {"offset": [{"call": "P"}, 3]}}}]}"#;
    let truth = Module::from_json(text).unwrap();
    let right = written(&truth);
    assert_eq!(right.omissions.len(), 1);
    let report = check(&truth, &right.omissions, &right);
    assert!(report.is_clean(), "{report}");
}

/// A procedure without callers whose location DWARF 5 cannot express is omitted. One with callers is replaced in these,
/// which have the omission.
#[test]
fn a_procedure_without_callers_is_omitted() {
    let target = Target::named("amdgpu-gfx1030-wave32").unwrap();
    let per_lane = Loc::per_lane(target.vgpr(1).unwrap());
    for has_caller in [false, true] {
        let mut m = Builder::new(target.clone());
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let procedure = m.procedure(unit, &per_lane).unwrap();
        let kernel = m.function(unit, "k").unwrap().code("k", 64).id();
        let i = m.variable(kernel, "i", int).unwrap().id();
        if has_caller {
            m.describe_variable(i).unwrap().live(0..64, Loc::call(procedure)).unwrap();
        }
        let truth = m.finish().unwrap();
        let subject = if has_caller { Subject::Variable(i) } else { Subject::Procedure(procedure) };
        let error = lower(&truth, &Consumer::dwarf5(), Policy::Strict).unwrap_err();
        assert_eq!(error.at().procedure.is_some(), !has_caller, "{error}");
        let right = written(&truth);
        let omitted: Vec<_> = right.omissions.iter().map(|one| (one.subject, one.property)).collect();
        assert_eq!(omitted, [(subject, Property::Location)]);
        let report = check(&truth, &right.omissions, &right);
        assert!(report.is_clean(), "{report}");
        assert!(!check(&truth, &[], &right).is_clean());
    }
}

/// Asserts that there are findings, and that all are about the location of `i`.
fn assert_is_location(report: &CheckReport) {
    let is_location = |kind| matches!(kind, FindingKind::Location | FindingKind::Evaluation);
    let is_right = !report.is_clean()
        && report.findings.iter().all(|one| is_location(one.kind) && one.at.variable.as_deref() == Some("i"));
    assert!(is_right, "{report}");
}
