//! Structures, classes and unions, with members, base classes and static members: section 4.3.

use eitri::build::DataMember;
use eitri::lower::Consumer;
use eitri::model::{Accessibility, CompositeKind, Passed};
use eitri::op::Expr;
use eitri::spirv::{InstructionName, Mode, Set};

use crate::spirv_lower::case::{Case, TABLE};

#[test]
fn members() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let pair = case.m.structure(unit, Some("pair"), 8).unwrap();
    let at_pair = case.line(3, 8);
    let at_x = case.line(4, 7);
    let x = DataMember::new("x", int, 0).accessibility(Accessibility::Private).declared(at_x);
    case.m.data_member(pair, x).unwrap();
    case.m.bit_field(pair, "y", int, 37, 3).unwrap();
    case.m.data_member(pair, DataMember::new("", int, 4).artificial()).unwrap();
    case.m.describe_type(pair).unwrap().declared(at_pair).passed(Passed::ByValue).unwrap();
    let either = case.m.union(unit, Some("either"), 4).unwrap();
    case.m.describe_type(either).unwrap().passed(Passed::ByReference).unwrap();
    case.m.member(either, "z", int, 0).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"TypeComposite "pair" Structure </src/a.cl> 3 8 unit "" 64 FlagTypePassByValue x y "#)
        .has(r#"TypeMember "x" int </src/a.cl> 4 7 pair 0 32 FlagIsPrivate"#)
        .has(r#"TypeMember "y" int </src/a.cl> 0 0 pair 37 3 None"#)
        .has(r#"TypeMember "" int </src/a.cl> 0 0 pair 32 32 FlagArtificial"#)
        .has(r#"TypeComposite "either" Union </src/a.cl> 0 0 unit "" 32 FlagTypePassByReference z"#)
        .has(r#"TypeMember "z" int </src/a.cl> 0 0 either 0 32 None"#)
        .is_before(r#"TypeComposite "pair""#, r#"TypeMember "x""#)
        .is_before(r#"TypeMember "x""#, r#"TypeMember "y""#)
        .lacks(&[]);
    // Members come first, and do not refer to their type.
    described
        .emitted(&Mode::exact(Set::Shader))
        .has(r#"TypeComposite "pair" Structure </src/a.cl> 3 8 unit "" 64 FlagTypePassByValue x y "#)
        .has(r#"TypeMember "x" int </src/a.cl> 4 7 0 32 FlagIsPrivate"#)
        .has(r#"TypeMember "y" int </src/a.cl> 0 0 37 3 None"#)
        .is_before(r#"TypeMember """#, r#"TypeComposite "pair""#)
        .lacks(&[]);
}

#[test]
fn unencodable_member_properties_are_listed() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let s = case.m.structure(unit, Some("S"), 8).unwrap();
    case.m.data_member(s, DataMember::new("x", int, 0).mutable()).unwrap();
    case.m.untagged_variant_part(s, int).unwrap();
    let emitted = case.exact();
    emitted.has(r#"TypeComposite "S" Structure </src/a.cl> 0 0 unit "" 64 None x"#).lacks(&[
        "unit `a.cl`: type `S`: variant parts: no operand encodes this",
        "unit `a.cl`: member `x` of type `S`: mutable flag: no operand encodes this",
    ]);
}

#[test]
fn base_classes() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let base = case.m.class(unit, Some("B"), 4).unwrap();
    let named = case.m.typedef(unit, "C", Some(base)).unwrap();
    let derived = case.m.structure(unit, Some("D"), 16).unwrap();
    case.m.base(derived, base, 0, Some(Accessibility::Public)).unwrap();
    case.m.base(derived, named, 4, Some(Accessibility::Protected)).unwrap();
    let mut expr = Expr::build(Consumer::llvm().encoding(8));
    expr.ops().deref();
    let expr = case.m.expr(expr.finish().unwrap(), &[]).unwrap();
    case.m.virtual_base(derived, base, expr, None).unwrap();
    case.m.member(derived, "x", int, 12).unwrap();
    let described = case.finish();
    let left = [
        "unit `a.cl`: a base class of type `D`: it is virtual, at no fixed offset, or not a class",
        "unit `a.cl`: a base class of type `D`: type: type `C` is encoded as its class",
    ];
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"TypeComposite "D" Structure </src/a.cl> 0 0 unit "" 128 None base:B base:B x"#)
        .has("TypeInheritance D B 0 32 FlagIsPublic")
        .has("TypeInheritance D B 32 32 FlagIsProtected")
        .lacks(&left);
    described
        .emitted(&Mode::exact(Set::Shader))
        .has(r#"TypeComposite "D" Structure </src/a.cl> 0 0 unit "" 128 None base:B base:B x"#)
        .has("TypeInheritance B 0 32 FlagIsPublic")
        .has("TypeInheritance B 32 32 FlagIsProtected")
        .is_before("TypeInheritance B 32", r#"TypeComposite "D""#)
        // Its bases precede it.
        .lacks(&[left[1], left[0]]);
}

#[test]
fn static_members() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let class = case.m.class(unit, Some("C"), 4).unwrap();
    let count = case.m.static_member(class, "count", int).unwrap().accessibility(Accessibility::Public).id();
    let line = case.line(9, 3);
    case.m
        .static_member(class, "limit", int)
        .unwrap()
        .const_value(&[0xff, 0xff, 0xff, 0xff])
        .unwrap()
        .declared(line);
    let definition = case.m.definition(unit, count).unwrap().linkage_name("_ZN1C5countE").id();
    case.binding.global(definition, TABLE);
    let described = case.finish();
    let global =
        r#"GlobalVariable "count" int </src/a.cl> 0 0 unit "_ZN1C5countE" %table FlagIsDefinition count"#;
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"TypeComposite "C" Class </src/a.cl> 0 0 unit "" 32 None count limit"#)
        .has(r#"TypeMember "count" int </src/a.cl> 0 0 C 0 32 FlagIsPublic|FlagStaticMember"#)
        .has(r#"TypeMember "limit" int </src/a.cl> 9 3 C 0 32 FlagStaticMember 4294967295"#)
        .has(global)
        .is_before(r#"TypeMember "count""#, "GlobalVariable")
        .lacks(&[]);
    described
        .emitted(&Mode::exact(Set::Shader))
        .has(r#"TypeMember "count" int </src/a.cl> 0 0 0 32 FlagIsPublic|FlagStaticMember"#)
        .has(global)
        .is_before(r#"TypeMember "limit""#, "TypeComposite")
        .lacks(&[]);
}

#[test]
fn incomplete_types() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let class = case.m.incomplete(unit, CompositeKind::Class, "C").unwrap();
    case.m.static_member(class, "n", int).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        let emitted = described.emitted(&Mode::exact(set));
        emitted
            .has(r#"TypeComposite "@C" Class </src/a.cl> 0 0 unit "" none FlagFwdDecl"#)
            .has_no(InstructionName::TypeMember)
            .lacks(&["unit `a.cl`, variable `n`: the type has no members, or no room for the static member"]);
    }
}

/// A nested type is in the scope of the outer one.
#[test]
fn nested_types() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let outer = case.m.structure(unit, Some("Outer"), 4).unwrap();
    let inner = case.m.structure(unit, Some("Inner"), 4).unwrap();
    case.m.describe_type(inner).unwrap().within(outer).unwrap();
    case.m.member(inner, "i", int, 0).unwrap();
    case.m.member(outer, "inner", inner, 0).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"TypeComposite "Inner" Structure </src/a.cl> 0 0 Outer "" 32 None i"#)
        .has(r#"TypeMember "inner" Inner </src/a.cl> 0 0 Outer 0 32 None"#)
        .lacks(&[]);
    // The member precedes the type that is the scope of its own type: a cycle that cannot be encoded.
    described
        .emitted(&Mode::exact(Set::Shader))
        .has(r#"TypeComposite "Inner" Structure </src/a.cl> 0 0 unit "" 32 None i"#)
        .has(r#"TypeMember "inner" Inner </src/a.cl> 0 0 0 32 None"#)
        .lacks(&["unit `a.cl`: type `Inner`: scope: the scope references the entity; the unit is encoded"]);
    // With forward references, it can.
    let mode = Mode::exact(Set::Shader).forward_references(true);
    described
        .emitted(&mode)
        .has(r#"TypeComposite forward "Inner" Structure </src/a.cl> 0 0 Outer "" 32 None i"#)
        .lacks(&[]);
}
