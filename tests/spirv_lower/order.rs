//! References between instructions: each follows those that it refers to, and cycles are cut where the set cannot
//! encode them. Section 2.2.

use eitri::build::Extent;
use eitri::spirv::{InstructionName, Mode, Position, Set};

use crate::spirv_lower::case::{Case, ENTRY, MAIN};

/// struct node { node *next; };
#[test]
fn a_structure_that_points_to_itself() {
    let mut case = Case::new();
    let unit = case.unit;
    let node = case.m.structure(unit, Some("node"), 8).unwrap();
    let pointer = case.m.pointer(unit, Some(node)).unwrap();
    case.m.member(node, "next", pointer, 0).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"TypeComposite "node" Structure </src/a.cl> 0 0 unit "" 64 None next"#)
        .has("TypePointer node CrossWorkgroup None")
        .has(r#"TypeMember "next" node* </src/a.cl> 0 0 node 0 64 None"#)
        .lacks(&[]);
    // Members come first in the other set: the pointer has no target type.
    let emitted = described.emitted(&Mode::exact(Set::Shader));
    emitted
        .has(r#"TypeComposite "node" Structure </src/a.cl> 0 0 unit "" 64 None next"#)
        .has("TypePointer none CrossWorkgroup None");
    assert_eq!(
        emitted.left(),
        [format!("unit `a.cl`: {pointer}: type: a reference to type `node` would be a cycle")]
    );
    // With forward references, it has.
    let mode = Mode::exact(Set::Shader).forward_references(true);
    described.emitted(&mode).has("TypePointer forward node CrossWorkgroup None").lacks(&[]);
}

/// Two structures that point to each other, reached from a typedef of a pointer.
#[test]
fn structures_that_point_to_each_other() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let a = case.m.structure(unit, Some("A"), 16).unwrap();
    let to_a = case.m.pointer(unit, Some(a)).unwrap();
    let name = case.m.typedef(unit, "a_ptr", Some(to_a)).unwrap();
    let b = case.m.structure(unit, Some("B"), 16).unwrap();
    let to_b = case.m.pointer(unit, Some(b)).unwrap();
    case.m.member(a, "b", to_b, 0).unwrap();
    case.m.member(b, "a", name, 0).unwrap();
    case.m.member(b, "n", int, 8).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"TypeMember "b" B* </src/a.cl> 0 0 A 0 64 None"#)
        .has(r#"TypeMember "a" a_ptr </src/a.cl> 0 0 B 0 64 None"#)
        .lacks(&[]);
    let emitted = described.emitted(&Mode::exact(Set::Shader));
    // The types are the same, except that one pointer has no target type.
    emitted
        .has(r#"TypeMember "b" B* </src/a.cl> 0 0 0 64 None"#)
        .has(r#"TypeMember "a" a_ptr </src/a.cl> 0 0 0 64 None"#)
        .has("TypePointer none CrossWorkgroup None");
    assert_eq!(emitted.left().len(), 1);
}

/// S f() { struct S {}; }: as with `auto` and lambdas.
#[test]
fn a_local_class_that_its_function_returns() {
    for is_first in [false, true] {
        let mut case = Case::new();
        let int = case.int();
        let unit = case.unit;
        let space = case.m.namespace(unit, "space").unwrap();
        let before = is_first.then(|| case.m.structure(unit, Some("S"), 4).unwrap());
        let f = case.m.function(space, "f").unwrap().code("f", 0x100).id();
        let s = before.unwrap_or_else(|| case.m.structure(unit, Some("S"), 4).unwrap());
        case.m.describe_type(s).unwrap().within(f).unwrap();
        case.m.member(s, "x", int, 0).unwrap();
        case.m.describe_function(f).unwrap().returns(s).unwrap();
        // Its own functions are in its scope.
        case.m.function(s, "operator()").unwrap();
        let described = case.finish();
        for set in Set::ALL {
            let members = if set == Set::OpenCl { "x operator()" } else { "x" };
            described
                .emitted(&Mode::exact(set))
                .has(&format!(
                    r#"TypeComposite "S" Structure </src/a.cl> 0 0 namespace:space "" 32 None {members}"#
                ))
                .has("TypeFunction None S")
                .lacks(&[
                    "unit `a.cl`, function `f`: type `S`: scope: the scope references the entity; namespace `space` is encoded",
                ]);
        }
        let mode = Mode::exact(Set::Shader).forward_references(true);
        described
            .emitted(&mode)
            .has(r#"TypeComposite forward "S" Structure </src/a.cl> 0 0 f "" 32 None x"#)
            .lacks(&[]);
    }
}

/// A local class that no type of a function refers to stays in its scope.
#[test]
fn a_local_class() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let s = case.m.structure(unit, Some("S"), 4).unwrap();
    let f = case.function("f");
    let block = case.m.block(f, &[0..8]).unwrap();
    case.m.describe_type(s).unwrap().within(block).unwrap();
    case.m.member(s, "x", int, 0).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        described
            .emitted(&Mode::exact(set))
            .has(r#"TypeComposite "S" Structure </src/a.cl> 0 0 block:0 "" 32 None x"#)
            .lacks(&[]);
    }
}

/// void f(uint n, int (*a)[n])
#[test]
fn an_array_that_a_parameter_counts() {
    let mut case = Case::new();
    let int = case.int();
    let uint = case.uint();
    let unit = case.unit;
    let f = case.function("f");
    let n = case.m.parameter(f, "n", uint).unwrap().id();
    let array = case.m.array_of(unit, int, &[Extent::variable(n)], None).unwrap();
    let pointer = case.m.pointer(unit, Some(array)).unwrap();
    case.m.parameter(f, "a", pointer).unwrap();
    // An array that the type of the function does not refer to.
    let inner = case.m.array_of(unit, uint, &[Extent::variable(n)], None).unwrap();
    case.m.variable(f, "b", inner).unwrap();
    let described = case.finish();
    let left = format!(
        "unit `a.cl`: {array}: count of elements: it is the variable `n`, and the type of that variable's function contains the array"
    );
    for (set, unknown) in [(Set::OpenCl, "18446744073709551615"), (Set::Shader, "0")] {
        described
            .emitted(&Mode::exact(set))
            .has(&format!("TypeArray int {unknown}"))
            .has("TypeArray uint n")
            .has(&format!(r#"Function "f" void(uint,int[{unknown}]*) </src/a.cl> 0 0 unit "" FlagIsLocal|FlagIsDefinition 0{}"#,
                if set == Set::OpenCl { " none" } else { "" }))
            .lacks(&[&left]);
    }
    let mode = Mode::exact(Set::Shader).forward_references(true);
    described.emitted(&mode).has("TypeArray forward int n").lacks(&[]);
}

/// Functions whose types refer to structures with pointers to the types of these functions.
#[test]
fn types_of_functions_in_structures() {
    let mut case = Case::new();
    let unit = case.unit;
    let table = case.m.structure(unit, Some("table"), 16).unwrap();
    let to_table = case.m.pointer(unit, Some(table)).unwrap();
    let call = case.m.subroutine(unit, Some(to_table), &[to_table, table]).unwrap();
    let to_call = case.m.pointer(unit, Some(call)).unwrap();
    case.m.member(table, "call", to_call, 0).unwrap();
    let f = case.function("f");
    case.m.parameter(f, "t", to_table).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has("TypeFunction None table* table* table")
        .has(r#"TypeMember "call" table*(table*,table)* </src/a.cl> 0 0 table 0 64 None"#)
        .lacks(&[]);
    let emitted = described.emitted(&Mode::exact(Set::Shader));
    assert!(!emitted.left().is_empty());
    let mode = Mode::exact(Set::Shader).forward_references(true);
    described.emitted(&mode).lacks(&[]);
}

/// Functions that call each other, inlined into each other.
#[test]
fn functions_that_are_inlined_into_each_other() {
    let mut case = Case::new();
    let f = case.function("f");
    let g = case.function("g");
    case.m.describe_function(f).unwrap().kernel();
    case.binding.function(f, MAIN);
    let one = case.line(1, 0);
    let two = case.line(2, 0);
    let inlined = case.m.inlined(f, g, &[0..0x40], one).unwrap();
    let inner = case.m.inlined(inlined, f, &[0x10..0x20], two).unwrap();
    case.m.inlined(g, f, &[0..0x40], two).unwrap();
    case.binding.scope(Position::start(MAIN, ENTRY), inner);
    let described = case.finish();
    for set in Set::ALL {
        described
            .emitted(&Mode::exact(set))
            .has(if set == Set::Shader200 { "InlinedAt 1 0 f" } else { "InlinedAt 1 f" })
            .has(if set == Set::Shader200 { "InlinedAt 2 0 g call:1" } else { "InlinedAt 2 g call:1" })
            .has(if set == Set::Shader200 { "InlinedAt 2 0 g" } else { "InlinedAt 2 g" })
            // The module does not have the code of `g`.
            .lacks(&[
                "unit `a.cl`, function `g`: the inlined call of `f` in line 2: no instruction belongs to it",
            ]);
    }
}

/// A class derived from a template instance with the class as argument, with a static member of its own type.
#[test]
fn a_class_in_its_own_base() {
    let mut case = Case::new();
    let unit = case.unit;
    let class = case.m.class(unit, Some("C"), 16).unwrap();
    let pointer = case.m.pointer(unit, Some(class)).unwrap();
    let base = case.m.class(unit, Some("B<C>"), 8).unwrap();
    case.m.member(base, "self", pointer, 0).unwrap();
    case.m.template(base, eitri::build::Template::ty("T", Some(class))).unwrap();
    case.m.base(class, base, 0, None).unwrap();
    case.m.static_member(class, "only", class).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has("TypeInheritance C B<C> 0 64 None")
        .has(r#"TypeMember "self" C* </src/a.cl> 0 0 B<C> 0 64 None"#)
        .has(r#"TypeMember "only" C </src/a.cl> 0 0 C 0 128 FlagStaticMember"#)
        .has("TypeTemplate B<C> T")
        .lacks(&[]);
    let emitted = described.emitted(&Mode::exact(Set::Shader));
    emitted
        .has("TypeInheritance B<C> 0 64 None")
        .has(r#"TypeMember "only" none </src/a.cl> 0 0 0 128 FlagStaticMember"#)
        .has("TypePointer none CrossWorkgroup None");
    assert_eq!(emitted.left().len(), 2, "{:?}", emitted.left());
    let mode = Mode::exact(Set::Shader).forward_references(true);
    described.emitted(&mode).lacks(&[]);
}

/// The type of a function is emitted once.
#[test]
fn types_that_are_the_same() {
    let mut case = Case::new();
    let int = case.int();
    for name in ["f", "g"] {
        let function = case.function(name);
        case.m.parameter(function, "x", int).unwrap();
    }
    case.m.subroutine(case.unit, None, &[int]).unwrap();
    let emitted = case.exact();
    assert_eq!(emitted.all(InstructionName::TypeFunction), ["TypeFunction None void int"]);
}

/// The output depends on the description only.
#[test]
fn the_same_twice() {
    let words = |_| {
        let mut case = Case::new();
        let int = case.int();
        let unit = case.unit;
        for number in 0..50 {
            let s = case.m.structure(unit, Some(&format!("S{number}")), 8).unwrap();
            let pointer = case.m.pointer(unit, Some(s)).unwrap();
            case.m.member(s, "x", pointer, 0).unwrap();
            let f = case.m.function(s, &format!("f{number}")).unwrap().id();
            case.m.parameter(f, "p", int).unwrap();
            case.m.static_member(s, "n", int).unwrap();
        }
        case.exact().words
    };
    assert_eq!(words(0), words(1));
}

/// A class with a pointer to its own member function, in the set with members before their class: the class operand is
/// omitted, and no other type takes its place.
#[test]
fn a_pointer_to_a_member_of_what_is_made_of_it() {
    let mut case = Case::new();
    let unit = case.unit;
    let s = case.m.structure(unit, Some("S"), 64).unwrap();
    let function = case.m.subroutine(unit, None, &[]).unwrap();
    let pointer = case.m.member_pointer(unit, s, function).unwrap();
    case.m.member(s, "call", pointer, 0).unwrap();
    let described = case.finish();
    for mode in [Mode::exact(Set::Shader), Mode::validating(Set::Shader)] {
        assert_eq!(
            described.emitted(&mode).all(InstructionName::TypePtrToMember),
            ["TypePtrToMember void() none"]
        );
    }
}
