//! What neither set has a place for, and is listed.

use eitri::model::Accessibility;

use crate::said::{Case, TABLE};

#[test]
fn what_is_said_nowhere() {
    let mut case = Case::new();
    let (int, unit, f) = (case.int(), case.unit, case.function("f"));
    case.m.extern_variable(f, "far", int).unwrap();
    case.m.constant(f, "four", int, &[4, 0, 0, 0]).unwrap();
    case.m.variable(f, "own", int).unwrap().accessibility(Accessibility::Private);
    let five = case.m.constant(unit, "five", int, &[5, 0, 0, 0]).unwrap();
    let pointer = case.m.pointer(unit, Some(int)).unwrap();
    let line = case.line(3, 1);
    case.m.describe_type(pointer).unwrap().declared_at(line).within(f).unwrap();
    case.binding.global(five, TABLE);
    case.exact().lacks(&[
        "unit `a.cl`, function `f`: type1: where it is declared",
        "unit `a.cl`, function `f`: type1: what it is declared in",
        "unit `a.cl`, function `f`, variable `far`: that it is external, that it is defined elsewhere",
        "unit `a.cl`, function `f`, variable `four`: its value, that it is a named constant",
        "unit `a.cl`, function `f`, variable `own`: who may name it",
        "unit `a.cl`, variable `five`: that it is a named constant, its value: what is bound to it is said",
    ]);
}
