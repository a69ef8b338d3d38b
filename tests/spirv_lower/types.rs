//! Types, section 4.3, without structures, classes and unions.

use eitri::build::{Extent, Major};
use eitri::model::{BaseEncoding, MemorySpace, PointerKind, Qualifier, Val};
use eitri::spirv::{InstructionName, Mode, Set};
use eitri::target::SpaceId;

use crate::spirv_lower::case::Case;

#[test]
fn basic_types() {
    let encodings = [
        (BaseEncoding::Address, "Address"),
        (BaseEncoding::Boolean, "Boolean"),
        (BaseEncoding::Float, "Float"),
        (BaseEncoding::Signed, "Signed"),
        (BaseEncoding::SignedChar, "SignedChar"),
        (BaseEncoding::Unsigned, "Unsigned"),
        (BaseEncoding::UnsignedChar, "UnsignedChar"),
    ];
    for (encoding, name) in encodings {
        let mut case = Case::new();
        case.m.base_type(case.unit, "t", encoding, 24).unwrap();
        let described = case.finish();
        described.emitted(&Mode::exact(Set::OpenCl)).has(&format!(r#"TypeBasic "t" 24 {name}"#)).lacks(&[]);
        described
            .emitted(&Mode::exact(Set::Shader))
            .has(&format!(r#"TypeBasic "t" 24 {name} None"#))
            .lacks(&[]);
    }
    let mut case = Case::new();
    case.m.base_type(case.unit, "complex", BaseEncoding::ComplexFloat, 64).unwrap();
    case.exact()
        .has(r#"TypeBasic "complex" 64 Unspecified"#)
        .lacks(&["unit `a.cl`: type `complex`: encoding: ComplexFloat is encoded as Unspecified"]);
}

/// The numbers are those of `FP Encoding` in the grammar of SPIR-V 1.6. Version 101 has the operand, the other sets have
/// not; DWARF 5 table 7.11 has one floating-point encoding.
#[test]
fn floating_point_formats_are_encoded_where_the_set_has_them() {
    for (encoding, bits, name) in [
        (BaseEncoding::BFloat16, 16, "BFloat16KHR"),
        (BaseEncoding::Float8E4M3, 8, "Float8E4M3EXT"),
        (BaseEncoding::Float8E5M2, 8, "Float8E5M2EXT"),
    ] {
        let mut case = Case::new();
        assert!(case.m.base_type(case.unit, "t", encoding, bits + 8).is_err());
        case.m.base_type(case.unit, "t", encoding, bits).unwrap();
        let described = case.finish();
        described
            .emitted(&Mode::exact(Set::Shader101))
            .has(&format!(r#"TypeBasic "t" {bits} Float None {name}"#))
            .lacks(&[]);
        let omission = format!("unit `a.cl`: type `t`: encoding: {encoding:?} is encoded as Unspecified");
        for (set, flags) in [(Set::OpenCl, ""), (Set::Shader, " None"), (Set::Shader200, " None")] {
            let emitted = described.emitted(&Mode::exact(set));
            emitted.has(&format!(r#"TypeBasic "t" {bits} Unspecified{flags}"#)).lacks(&[&omission]);
        }
    }
}

#[test]
fn pointers() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let m = &mut case.m;
    m.pointer_of(unit, PointerKind::Reference, Some(int), SpaceId(5), None).unwrap();
    m.pointer_of(unit, PointerKind::RvalueReference, Some(int), SpaceId(1), None).unwrap();
    m.pointer_of(unit, PointerKind::Pointer, None, SpaceId(3), None).unwrap();
    for memory in [MemorySpace::Global, MemorySpace::Constant, MemorySpace::Group, MemorySpace::Private] {
        m.pointer_of(unit, PointerKind::Pointer, Some(int), SpaceId(1), Some(memory)).unwrap();
    }
    case.m.pointer_into(unit, Some(int), SpaceId(2)).unwrap();
    let emitted = case.finish().emitted_with("GenericPointer", &Mode::exact(Set::OpenCl));
    emitted
        .has("TypePointer int Function FlagLValueReference")
        .has("TypePointer int Generic FlagRValueReference")
        .has("TypePointer none Workgroup None");
    assert_eq!(
        emitted.all(InstructionName::TypePointer)[3..],
        [
            "TypePointer int CrossWorkgroup None",
            "TypePointer int UniformConstant None",
            "TypePointer int Workgroup None",
            "TypePointer int Function None",
            "TypePointer int CrossWorkgroup None",
        ]
    );
    // A storage class has one memory space: other address spaces of the pointer are omitted.
    let space = |id: u32, name: &str, class: &str| {
        format!("unit `a.cl`: type{id}: address space: `{name}` is encoded as {class}")
    };
    let left = [
        space(4, "generic", "CrossWorkgroup"),
        space(5, "generic", "UniformConstant"),
        space(6, "generic", "Workgroup"),
        space(7, "generic", "Function"),
        space(8, "region", "CrossWorkgroup"),
    ];
    assert_eq!(emitted.left(), left);
}

#[test]
fn qualified_types_and_names() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    for qualifier in [Qualifier::Const, Qualifier::Volatile, Qualifier::Restrict, Qualifier::Atomic] {
        case.m.qualified(unit, qualifier, Some(int)).unwrap();
    }
    case.m.qualified(unit, Qualifier::Const, None).unwrap();
    let name = case.m.typedef(unit, "number", Some(int)).unwrap();
    let line = case.line(4, 9);
    case.m.describe_type(name).unwrap().declared(line);
    case.m.typedef(unit, "nothing", None).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        let emitted = described.emitted(&Mode::exact(set));
        assert_eq!(
            emitted.all(InstructionName::TypeQualifier),
            [
                "TypeQualifier int ConstType",
                "TypeQualifier int VolatileType",
                "TypeQualifier int RestrictType",
                "TypeQualifier int AtomicType",
                "TypeQualifier none ConstType",
            ]
        );
        emitted
            .has(r#"Typedef "number" int </src/a.cl> 4 9 unit"#)
            .has(r#"Typedef "nothing" none </src/a.cl> 0 0 unit"#)
            .lacks(&[]);
    }
}

#[test]
fn arrays() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    case.m.array(unit, int, &[Some(4), Some(1), Some(32)]).unwrap();
    case.m.array(unit, int, &[None]).unwrap();
    case.m.array(unit, int, &[Some(0)]).unwrap();
    let described = case.finish();
    let left = "unit `a.cl`: type5: count of elements: 0 elements; an unknown count is encoded";
    let _ = left;
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has("TypeArray int 4 1 32")
        .has("TypeArray int 18446744073709551615")
        .has("TypeArray int 0")
        .lacks(&[]);
    // Producers of this set write 0 for an unknown number.
    let emitted = described.emitted(&Mode::exact(Set::Shader));
    emitted.has("TypeArray int 4 1 32");
    assert_eq!(emitted.all(InstructionName::TypeArray)[1..], ["TypeArray int 0", "TypeArray int 0"]);
    assert!(emitted.left()[0].ends_with("count of elements: 0 elements; an unknown count is encoded"));
    // An array for each dimension, the last one innermost.
    let emitted = described.emitted(&Mode::translator());
    emitted.has("TypeArray int 32").has("TypeArray int[32] 1").has("TypeArray int[32][1] 4");
    assert!(emitted.left()[0].ends_with("count of elements: 0 elements; an unknown count is encoded"));
    // Without 64-bit integers, all ones are 32 bits.
    described.emitted_narrow(&Mode::exact(Set::OpenCl)).has("TypeArray int 4294967295");
}

#[test]
fn unencodable_array_properties_are_listed() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let extent = Extent::fixed(8).from(1).index(int);
    case.m.array_of(unit, int, &[extent, Extent::value(Val::constant(3))], Some(64)).unwrap();
    let emitted = case.exact();
    emitted.has("TypeArray int 8 18446744073709551615");
    let left: Vec<_> = emitted.left().iter().map(|left| left.splitn(3, ": ").nth(2).unwrap()).collect();
    assert_eq!(
        left,
        [
            "stride: no operand encodes this",
            "lower bound: no operand encodes this",
            "index type: no operand encodes this",
            "count of elements: it is computed",
        ]
    );
}

#[test]
fn numbers_of_elements_by_variables() {
    let mut case = Case::new();
    let int = case.int();
    let uint = case.uint();
    let unit = case.unit;
    let f = case.function("f");
    let n = case.m.variable(f, "n", uint).unwrap().id();
    let signed = case.m.variable(f, "signed", int).unwrap().id();
    let count = case.m.variable(unit, "count", uint).unwrap().id();
    let of = |m: &mut eitri::build::Builder, variable| {
        m.array_of(unit, int, &[Extent::variable(variable)], None).unwrap()
    };
    let of_n = of(&mut case.m, n);
    let of_signed = of(&mut case.m, signed);
    let of_count = of(&mut case.m, count);
    for (name, ty) in [("a", of_n), ("b", of_signed), ("c", of_count)] {
        case.m.variable(f, name, ty).unwrap();
    }
    let described = case.finish();
    let emitted = described.emitted(&Mode::exact(Set::Shader200));
    emitted
        .has("TypeSubrange none none n")
        .has("TypeSubrange none none count")
        .has("TypeSubrange none none 0");
    assert_eq!(emitted.left().len(), 1);
    for set in [Set::OpenCl, Set::Shader, Set::Shader101] {
        let unknown = if set == Set::OpenCl { "18446744073709551615" } else { "0" };
        let emitted = described.emitted(&Mode::exact(set));
        emitted
            .has("TypeArray int n")
            .has("TypeArray int count")
            .has(&format!("TypeArray int {unknown}"))
            .is_before(r#"LocalVariable "n""#, "TypeArray int n");
        assert_eq!(emitted.left().len(), 1);
        assert!(
            emitted.left()[0].ends_with(
                "count of elements: `signed` is not a variable of an unsigned type of 32 or 64 bits"
            )
        );
    }
    let emitted = described.emitted(&Mode::translator());
    assert_eq!(emitted.all(InstructionName::TypeArray), ["TypeArray int 18446744073709551615"; 3]);
    assert!(emitted.left()[0].ends_with(
        "count of elements: it is the variable `n`; the translator mode has constant counts only"
    ));
}

#[test]
fn matrices() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let short = case.m.vector(unit, int, 4).unwrap();
    let long = case.m.vector(unit, int, 16).unwrap();
    case.m.matrix(unit, short, 3, Major::Column).unwrap();
    case.m.matrix(unit, long, 2, Major::Row).unwrap();
    case.m.matrix(unit, short, 1 << 32, Major::Column).unwrap();
    let described = case.finish();
    for mode in [Mode::exact(Set::OpenCl), Mode::validating(Set::OpenCl), Mode::translator()] {
        let emitted = described.emitted(&mode);
        assert!(emitted.all(InstructionName::TypeMatrix).is_empty());
        let left = emitted.left().iter().filter(|left| left.contains("a matrix of"));
        let left: Vec<_> = left.map(|left| left.split(": ").last().expect("a text")).collect();
        assert_eq!(
            left,
            [
                "a matrix of 3 columns is encoded as an array of them",
                "a matrix of 2 rows is encoded as an array of them",
                "a matrix of 4294967296 columns is encoded as an array of them",
            ]
        );
    }
    let all = ["TypeMatrix intx4 3 1", "TypeMatrix intx16 2 0"];
    let exact = described.emitted(&Mode::exact(Set::Shader));
    assert_eq!(exact.all(InstructionName::TypeMatrix), all);
    // A vector of 16 is an array there.
    let validating = described.emitted(&Mode::validating(Set::Shader));
    assert_eq!(validating.all(InstructionName::TypeMatrix), all[..1]);
    assert_eq!(validating.left().iter().filter(|left| left.contains("a matrix of 2 rows")).count(), 1);
}

/// Operands in the order of `DebugTypeCooperativeMatrixKHR`, `NonSemantic.Shader.DebugInfo` revision 101: component type,
/// scope, rows, columns, use. No DWARF attribute and no other set has them.
#[test]
fn cooperative_matrix_is_encoded_in_version_101_only() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let matrix = case.m.cooperative_matrix(unit, int, 3, 16, 8, 2).unwrap();
    case.m.variable(unit, "tile", matrix).unwrap();
    let described = case.finish();
    for mode in [Mode::exact(Set::Shader101), Mode::validating(Set::Shader101)] {
        let emitted = described.emitted(&mode);
        assert_eq!(
            emitted.all(InstructionName::TypeCooperativeMatrix),
            ["TypeCooperativeMatrixKHR int 3 16 8 2"]
        );
        assert_eq!(emitted.left(), [] as [&str; 0]);
    }
    let expected = "kind: a cooperative matrix is encoded as a type that has only a name";
    for mode in [Mode::exact(Set::Shader), Mode::vulkan(), Mode::exact(Set::Shader200), Mode::opencl()] {
        let emitted = described.emitted(&mode);
        let left = emitted.left();
        assert!(left.iter().any(|left| left.ends_with(expected)), "{}: {left:?}", mode.name());
    }
}

/// A vector of 16 is one of `OpTypeVectorIdEXT` in a shader, which version 101 describes by `DebugTypeVectorIdEXT`.
#[test]
fn long_vector_is_encoded_with_the_id_of_its_length_in_version_101() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    case.m.vector(unit, int, 16).unwrap();
    let described = case.finish();
    let emitted = described.emitted(&Mode::validating(Set::Shader101));
    assert_eq!(emitted.all(InstructionName::TypeVectorId), ["TypeVectorIdEXT int 16"]);
    assert_eq!(emitted.left(), [] as [&str; 0]);
}

#[test]
fn vectors() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    case.m.vector(unit, int, 3).unwrap();
    case.m.vector(unit, int, 16).unwrap();
    let named = case.m.typedef(unit, "number", Some(int)).unwrap();
    case.m.vector(unit, named, 4).unwrap();
    let pointer = case.m.pointer(unit, Some(int)).unwrap();
    case.m.vector(unit, pointer, 2).unwrap();
    let described = case.finish();
    let emitted = described.emitted(&Mode::exact(Set::OpenCl));
    assert_eq!(
        emitted.all(InstructionName::TypeVector),
        ["TypeVector int 3", "TypeVector int 16", "TypeVector number 4", "TypeVector int* 2"]
    );
    emitted.lacks(&[]);
    // Vectors of one to four elements of a basic type; typedefs of a basic type are skipped.
    let emitted = described.emitted(&Mode::validating(Set::OpenCl));
    assert_eq!(emitted.all(InstructionName::TypeVector), ["TypeVector int 3", "TypeVector int 4"]);
    emitted.has("TypeArray int 16").has("TypeArray int* 2");
    let left: Vec<_> = emitted.left().iter().map(|left| left.rsplit(": ").next().unwrap()).collect();
    assert_eq!(
        left,
        [
            "it is encoded as an array of 16 elements",
            "type `number` is encoded as its basic type",
            "it is encoded as an array of 2 elements",
        ]
    );
}

#[test]
fn enumerations() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let long = case.m.base_type(unit, "long", BaseEncoding::Signed, 64).unwrap();
    let values = [("A", 0), ("B", -1), ("C", i128::from(i32::MAX))];
    let color = case.m.enumeration(unit, Some("color"), int, &values).unwrap();
    let line = case.line(2, 6);
    case.m.describe_type(color).unwrap().declared(line);
    let values = [("FAR", 1 << 40), ("NEAR", 1), ("BACK", -1), ("NEXT", i128::from(u32::MAX))];
    case.m.enum_class(unit, Some("big"), long, &values).unwrap();
    case.m.enumeration(unit, None, int, &[]).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        described
            .emitted(&Mode::exact(set))
            .has(r#"TypeEnum "color" int </src/a.cl> 2 6 unit 32 None 0 "A" 4294967295 "B" 2147483647 "C""#)
            .has(r#"TypeEnum "big" long </src/a.cl> 0 0 unit 64 FlagIsEnumClass 1 "NEAR" 4294967295 "NEXT""#)
            .has(r#"TypeEnum "" int </src/a.cl> 0 0 unit 32 None"#)
            // An unsigned 32-bit number is not -1 in 64 bits.
            .lacks(&[
                "unit `a.cl`: type `big`: its enumerator `FAR`: 1099511627776 does not fit 32 bits",
                "unit `a.cl`: type `big`: its enumerator `BACK`: -1 does not fit 32 bits",
            ]);
    }
}

#[test]
fn types_of_functions_and_of_members() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    case.m.subroutine(unit, None, &[]).unwrap();
    let function = case.m.subroutine(unit, Some(int), &[int, int]).unwrap();
    case.m.pointer(unit, Some(function)).unwrap();
    let class = case.m.class(unit, Some("C"), 4).unwrap();
    case.m.member_pointer(unit, class, int).unwrap();
    let named = case.m.typedef(unit, "D", Some(class)).unwrap();
    let _ = named;
    let either = case.m.union(unit, Some("U"), 4).unwrap();
    case.m.member_pointer(unit, either, int).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        let emitted = described.emitted(&Mode::exact(set));
        emitted
            .has("TypeFunction None void")
            .has("TypeFunction None int int int")
            .has("TypePointer int(int,int) CrossWorkgroup None")
            .has("TypePtrToMember int C")
            .has("TypePtrToMember int none");
        assert_eq!(emitted.left().len(), 1);
        assert!(emitted.left()[0].ends_with("type `U` is not a class or structure"));
    }
}

#[test]
fn types_of_which_nothing_is_known() {
    let mut case = Case::new();
    case.m.unspecified_type(case.unit, "image2d_t").unwrap();
    let described = case.finish();
    for set in Set::ALL {
        described
            .emitted(&Mode::exact(set))
            .has(r#"TypeComposite "@image2d_t" Structure </src/a.cl> 0 0 unit "" none None"#)
            .lacks(&[]);
    }
}
