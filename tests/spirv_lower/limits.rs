//! Limits of sizes, and unlimited depth.

use eitri::build::DataMember;
use eitri::error::ErrorKind;
use eitri::spirv::{Id, InstructionName, Mode, Set};

use crate::spirv_lower::case::{Case, TABLE};

const DEEP: usize = 100_000;

/// Pointers to pointers, and structures in structures, deeper than any stack.
#[test]
fn deep_types() {
    let mut case = Case::new();
    let unit = case.unit;
    let mut pointer = case.int();
    for _ in 0..DEEP {
        pointer = case.m.pointer(unit, Some(pointer)).unwrap();
    }
    let mut inner = case.int();
    for _ in 0..DEEP {
        let outer = case.m.structure(unit, None, 4).unwrap();
        case.m.member(outer, "x", inner, 0).unwrap();
        inner = outer;
    }
    let described = case.finish();
    for mode in [
        Mode::exact(Set::OpenCl),
        Mode::exact(Set::Shader),
        Mode::validating(Set::OpenCl),
        Mode::exact(Set::Shader).forward_references(true),
        Mode::translator(),
    ] {
        let words = described.attached(&mode).expect("is attached").words;
        let facts = eitri::spirv::read(&words).expect("reads");
        let count = |name| facts.iter().filter(|fact| fact.name() == Some(name)).count();
        assert_eq!((count(InstructionName::TypeComposite), count(InstructionName::TypeMember)), (DEEP, DEEP));
        let pointers = count(InstructionName::TypePointer) + count(InstructionName::TypeBasic);
        assert_eq!(pointers, DEEP + 1);
    }
}

/// A list of structures, each with a pointer to the next, and the last with one to the first.
#[test]
fn a_long_cycle() {
    let mut case = Case::new();
    let unit = case.unit;
    let all: Vec<_> = (0..DEEP).map(|_| case.m.structure(unit, None, 8).unwrap()).collect();
    for (index, &s) in all.iter().enumerate() {
        let pointer = case.m.pointer(unit, Some(all[(index + 1) % DEEP])).unwrap();
        case.m.member(s, "next", pointer, 0).unwrap();
    }
    let described = case.finish();
    for (mode, left) in [(Mode::exact(Set::OpenCl), 0), (Mode::exact(Set::Shader), 1)] {
        let attached = described.attached(&mode).expect("is attached");
        assert_eq!(attached.omissions.len(), left);
    }
}

/// Deep scopes; the innermost one references the outermost one.
#[test]
fn deep_scopes() {
    let mut case = Case::new();
    let f = case.function("f");
    let mut scope = case.m.block(f, &[]).unwrap();
    for _ in 0..DEEP {
        scope = case.m.block(scope, &[]).unwrap();
        case.m.label(scope, "again").unwrap();
    }
    let s = case.m.structure(case.unit, Some("S"), 4).unwrap();
    case.m.describe_type(s).unwrap().within(scope).unwrap();
    case.m.describe_function(f).unwrap().returns(s).unwrap();
    let attached = case.finish().attached(&Mode::exact(Set::OpenCl)).expect("is attached");
    let left: Vec<_> = attached.omissions.iter().map(ToString::to_string).collect();
    let ty =
        "unit `a.cl`, function `f`: type `S`: scope: the scope references the entity; the unit is encoded";
    // And the position of each label.
    let (first, labels) = left.split_first().expect("something is listed");
    assert_eq!(first, ty);
    assert_eq!(labels.len(), DEEP);
    assert!(
        labels.iter().all(|it| it == "unit `a.cl`, function `f`: the label `again`: no operand encodes this")
    );
}

/// An instruction has at most 65535 words; a composite type needs 14 besides its members.
#[test]
fn many_members() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let s = case.m.structure(unit, Some("S"), 4).unwrap();
    for _ in 0..65520 {
        case.m.data_member(s, DataMember::new("", int, 0)).unwrap();
    }
    let kept = case.m.static_member(s, "kept", int).unwrap().id();
    let lost = case.m.static_member(s, "lost", int).unwrap().id();
    case.m.definition(unit, lost).unwrap();
    case.m.definition(unit, kept).unwrap();
    case.m.function(s, "f").unwrap();
    let described = case.finish();
    let left_out = [
        "unit `a.cl`: type `S`: members: 65521 of 65523 fit into an instruction",
        "unit `a.cl`, variable `lost`: declaration that it completes: no operand encodes this",
        "unit `a.cl`, variable `lost`: the type has no members, or no room for the static member",
    ];
    let emitted = described.emitted(&Mode::exact(Set::OpenCl));
    emitted.lacks(&left_out);
    assert_eq!(emitted.all(InstructionName::TypeMember).len(), 65521);
    // The function still refers to its class.
    emitted.has(r#"Function "f" void() </src/a.cl> 0 0 S "" FlagIsLocal|FlagIsDefinition 0 none"#);
}

#[test]
fn many_enumerators() {
    let mut case = Case::new();
    let int = case.int();
    let names: Vec<_> = (0..32762).map(|number| format!("E{number}")).collect();
    let all: Vec<_> = names.iter().map(|name| (name.as_str(), 0)).collect();
    case.m.enumeration(case.unit, Some("E"), int, &all).unwrap();
    case.exact().lacks(&["unit `a.cl`: type `E`: enumerators: 32761 of 32762 fit into an instruction"]);
}

#[test]
fn large_numbers() {
    let mut case = Case::new();
    let int = case.int();
    let s = case.m.structure(case.unit, Some("S"), 1 << 40).unwrap();
    case.m.member(s, "x", int, 1 << 39).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"TypeComposite "S" Structure </src/a.cl> 0 0 unit "" 8796093022208 None x"#)
        .has(r#"TypeMember "x" int </src/a.cl> 0 0 S 4398046511104 32 None"#)
        .lacks(&[]);
    // Without 64-bit integers in the module, such constants are not available.
    described
        .emitted_narrow(&Mode::exact(Set::OpenCl))
        .has(r#"TypeComposite "S" Structure </src/a.cl> 0 0 unit "" 4294967295 None x"#)
        .lacks(&[
            "unit `a.cl`: type `S`: size: 8796093022208 needs Int64, which the module lacks; 4294967295 is encoded",
            "unit `a.cl`: member `x` of type `S`: offset: 4398046511104 needs Int64, which the module lacks; 4294967295 is encoded",
        ]);
}

/// A name that does not fit a string.
#[test]
fn long_names() {
    let mut case = Case::new();
    case.m.structure(case.unit, Some(&"x".repeat(300_000)), 4).unwrap();
    let error = case.finish().attached(&Mode::exact(Set::OpenCl)).map(drop).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooLarge(_)), "{error}");
    assert_eq!(error.at().unit.as_deref(), Some("a.cl"), "{error}");
    let mut case = Case::new();
    let int = case.int();
    let f = case.function("f");
    case.m.variable(f, "v", int).unwrap().linkage_name("v");
    case.m.describe_function(f).unwrap().linkage_name(&"x".repeat(300_000));
    let error = case.finish().attached(&Mode::exact(Set::OpenCl)).map(drop).unwrap_err();
    assert_eq!(error.at().function.as_deref(), Some("f"), "{error}");
    let mut case = Case::new();
    case.m.macros(case.unit).unwrap().define(0, &format!("M {}", "x".repeat(300_000))).unwrap();
    let error = case.finish().attached(&Mode::exact(Set::OpenCl)).map(drop).unwrap_err();
    assert_eq!(error.at().unit.as_deref(), Some("a.cl"), "{error}");
}

/// Ids of other kinds.
#[test]
fn bindings_that_name_something_else() {
    let mut case = Case::new();
    let int = case.int();
    let g = case.m.variable(case.unit, "g", int).unwrap().id();
    let f = case.function("f");
    let mut described = case.finish();
    described.binding.global(g, Id(999));
    let error = described.attached(&Mode::exact(Set::OpenCl)).map(drop).unwrap_err();
    assert_eq!(error.at().variable.as_deref(), Some("g"), "{error}");
    assert!(error.to_string().contains("%999"), "{error}");
    described.binding.global(g, TABLE).function(f, TABLE);
    let error = described.attached(&Mode::exact(Set::OpenCl)).map(drop).unwrap_err();
    assert_eq!(error.at().function.as_deref(), Some("f"), "{error}");
    assert!(error.to_string().contains("%2"), "{error}");
}
