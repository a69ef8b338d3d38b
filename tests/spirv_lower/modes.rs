//! Fields of a mode and their effects. Fields with a file of their own here are tested there.

use eitri::model::{PointerKind, Qualifier};
use eitri::spirv::{InstructionName, Mode, Set};
use eitri::target::SpaceId;

use crate::spirv_lower::case::Case;

/// Pointers to basic types, and typedefs of basic types; otherwise addresses, and the types themselves.
#[test]
fn pointers_to_basic_types() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let named = case.m.typedef(unit, "number", Some(int)).unwrap();
    let constant = case.m.qualified(unit, Qualifier::Const, Some(named)).unwrap();
    let to_constant = case.m.pointer(unit, Some(constant)).unwrap();
    let again = case.m.pointer(unit, Some(to_constant)).unwrap();
    let third = case.m.pointer(unit, Some(again)).unwrap();
    let s = case.m.structure(unit, Some("S"), 4).unwrap();
    let to_s = case.m.pointer(unit, Some(s)).unwrap();
    let fixed = case.m.qualified(unit, Qualifier::Const, Some(to_s)).unwrap();
    let of_s = case.m.typedef(unit, "s_t", Some(s)).unwrap();
    let void = case.m.pointer_into(unit, None, SpaceId(3)).unwrap();
    case.m.pointer_of(unit, PointerKind::Reference, Some(of_s), SpaceId(0), None).unwrap();
    let volatile = case.m.qualified(unit, Qualifier::Volatile, Some(of_s)).unwrap();
    let f = case.function("f");
    for (name, ty) in
        [("a", to_constant), ("b", again), ("c", third), ("d", fixed), ("e", void), ("g", volatile)]
    {
        case.m.variable(f, name, ty).unwrap();
    }
    let described = case.finish();
    for set in Set::ALL {
        let mode = Mode::exact(set).targets_of_any_type(false);
        let flags = if set == Set::OpenCl { "" } else { " None" };
        let emitted = described.emitted(&mode);
        // `const number` is a qualified typedef of int; a pointer to it becomes a pointer to int.
        emitted
            .has("TypePointer int CrossWorkgroup None")
            .has(r#"Typedef "number" int </src/a.cl> 0 0 unit"#)
            .has(r#"LocalVariable "a" int* </src/a.cl> 0 0 f None"#)
            // A pointer to a pointer is an address, and a pointer to that points to a basic type.
            .has(&format!(r#"TypeBasic "const number **" 64 Address{flags}"#))
            .has("TypePointer const number ** CrossWorkgroup None")
            .has(&format!(r#"TypeBasic "S *" 64 Address{flags}"#))
            .has(&format!(r#"TypeBasic "s_t &" 64 Address{flags}"#))
            .has(&format!(r#"TypeBasic "void *" 32 Address{flags}"#))
            // A qualifier of an address is a qualifier of a basic type.
            .has("TypeQualifier S * ConstType")
            // Typedefs and qualifiers of other types are replaced by the types.
            .has(r#"LocalVariable "g" S </src/a.cl> 0 0 f None"#);
        assert_eq!(emitted.all(InstructionName::Typedef).len(), 1);
        assert_eq!(emitted.left().len(), 8, "{:#?}", emitted.left());
    }
}

/// The basic type of an address is unnamed if its name would be long.
#[test]
fn names_of_addresses() {
    let mut case = Case::new();
    let mut ty = case.m.structure(case.unit, Some("S"), 4).unwrap();
    for _ in 0..40 {
        ty = case.m.pointer(case.unit, Some(ty)).unwrap();
    }
    let emitted = case.emitted(&Mode::validating(Set::OpenCl));
    emitted.has(r#"TypeBasic "S ***************" 64 Address"#);
    assert_eq!(emitted.all(InstructionName::TypeBasic).len(), 20);
    assert!(emitted.all(InstructionName::TypeBasic).contains(&r#"TypeBasic "" 64 Address"#));
}

/// A literal storage class requires its capability in every mode.
#[test]
fn storage_classes_without_capability() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let pointer = case.m.pointer_into(unit, Some(int), SpaceId(1)).unwrap();
    let described = case.finish();
    for mode in [Mode::exact(Set::OpenCl), Mode::validating(Set::OpenCl)] {
        described.emitted(&mode).has("TypePointer int CrossWorkgroup None").lacks(&[&format!(
            "unit `a.cl`: {pointer}: storage class: the module lacks a capability of the storage class; CrossWorkgroup is encoded"
        )]);
        described.emitted_with("GenericPointer", &mode).has("TypePointer int Generic None").lacks(&[]);
    }
    // In this set it is a constant, without that requirement.
    for mode in [Mode::exact(Set::Shader), Mode::validating(Set::Shader)] {
        described.emitted(&mode).has("TypePointer int Generic None").lacks(&[]);
    }
}

#[test]
fn arrays_without_elements() {
    let mut case = Case::new();
    let int = case.int();
    let array = case.m.array(case.unit, int, &[Some(0), Some(2)]).unwrap();
    case.emitted(&Mode::validating(Set::OpenCl)).has("TypeArray int 18446744073709551615 2").lacks(&[
        &format!("unit `a.cl`: {array}: count of elements: 0 elements; an unknown count is encoded"),
    ]);
}

/// Types that cannot be encoded, and missing types.
#[test]
fn types_that_are_none() {
    let mut case = Case::new();
    let unit = case.unit;
    let class = case.m.class(unit, Some("C"), 16).unwrap();
    case.m.static_member(class, "only", class).unwrap();
    case.m.template(class, eitri::build::Template::ty("T", None)).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::Shader))
        .has(r#"TypeMember "only" none </src/a.cl> 0 0 0 128 FlagStaticMember"#)
        .has(r#"TypeTemplateParameter "T" none none </src/a.cl> 0 0"#);
    let mode = Mode::exact(Set::Shader).none_types(false);
    described
        .emitted(&mode)
        .has(r#"TypeBasic "C" 0 Unspecified None"#)
        .has(r#"TypeMember "only" C </src/a.cl> 0 0 0 128 FlagStaticMember"#)
        .has(r#"TypeBasic "void" 0 Unspecified None"#)
        .has(r#"TypeTemplateParameter "T" void none </src/a.cl> 0 0"#)
        .lacks(&["unit `a.cl`, variable `only`: type: a reference to type `C` would be a cycle"]);
}

/// The validator requires the derived class, which the other set lacks.
#[test]
fn base_classes_that_are_left_out() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let base = case.m.structure(unit, Some("B"), 4).unwrap();
    let derived = case.m.structure(unit, Some("D"), 8).unwrap();
    case.m.base(derived, base, 0, None).unwrap();
    case.m.member(derived, "x", int, 4).unwrap();
    let described = case.finish();
    described.emitted(&Mode::validating(Set::OpenCl)).has("TypeInheritance D B 0 32 None").lacks(&[]);
    described
        .emitted(&Mode::validating(Set::Shader))
        .has(r#"TypeComposite "D" Structure </src/a.cl> 0 0 unit "" 64 None x"#)
        .has_no(InstructionName::TypeInheritance)
        .lacks(&["unit `a.cl`: a base class of type `D`: the validating mode cannot encode this"]);
}
