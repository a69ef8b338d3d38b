//! An omission excuses the entity that it is of, and nothing else of that name.

use eitri::build::Builder;
use eitri::check::{Kind, Report};
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module, VariableId};
use eitri::omission::{Omission, Subject};
use eitri::target::Target;

use crate::object;

/// A kernel with two variables `i`: one in a lane of a register, which DWARF 5 cannot express, and one in a register.
/// The second one can be without a location.
fn module(has_second: bool) -> (Module, [VariableId; 2]) {
    let target = Target::named("amdgpu-gfx1030-wave32").unwrap();
    let (vector, scalar) = (target.vgpr(40).unwrap(), target.sgpr(4).unwrap());
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

fn check(module: &Module, omissions: &[Omission], written: &Lowered) -> Report {
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

    // The omission of the other variable of this name.
    let others = right.omissions.iter().cloned();
    let others: Vec<_> = others.map(|one| Omission { subject: Subject::Variable(second), ..one }).collect();
    assert_is_location(&check(&truth, &others, &right));

    // The other variable without its location.
    let wrong = written(&module(false).0);
    assert_is_location(&check(&truth, &right.omissions, &wrong));
}

/// Whether all findings are of locations of `i`, and there are some.
fn assert_is_location(report: &Report) {
    let is_location = |kind| matches!(kind, Kind::Location | Kind::Evaluation);
    let is_right = !report.is_clean()
        && report.findings.iter().all(|one| is_location(one.kind) && one.at.variable.as_deref() == Some("i"));
    assert!(is_right, "{report}");
}
