//! Version 200 of `NonSemantic.Shader.DebugInfo`: what its operands encode and the other versions omit. The expected
//! operands are those of the proposal, and where LLVM's translator differs, of the translator.

use eitri::build::{DataMember, Extent, Major};
use eitri::model::{BaseEncoding, Language};
use eitri::spirv::{DebugOperation, InstructionName, Mode, Position, Provider, Set, evaluate};

use crate::spirv_lower::case::{Case, MAIN, SUM};

fn exact() -> Mode {
    Mode::exact(Set::Shader200)
}

#[test]
fn units_and_sources() {
    let mut case = Case::new();
    let unit = case.unit;
    let file = case.file;
    case.m.describe_unit(unit).unwrap().producer("a compiler").language(Language::CPP14);
    case.m.file_md5(file, [0x31; 16]).unwrap();
    case.m.file_source(file, "a text").unwrap();
    let described = case.finish();
    let emitted = described.emitted(&exact());
    emitted
        .has(r#"Source "/src/a.cl" MD5 "31313131313131313131313131313131" "a text""#)
        // 217 is C++14 in the translator's list; the proposal has 114.
        .has(r#"CompilationUnit 1 5 </src/a.cl> CPP14 "a compiler""#)
        .lacks(&[]);
    let others = described.emitted(&Mode::exact(Set::Shader));
    assert_eq!(others.left().len(), 3, "{:?}", others.left());
}

#[test]
fn a_text_without_a_checksum_is_the_fourth_operand() {
    let mut case = Case::new();
    let file = case.file;
    case.m.file_source(file, "a text").unwrap();
    case.emitted(&exact()).has(r#"Source "/src/a.cl" none none "a text""#).lacks(&[]);
}

#[test]
fn arrays_have_bounds_and_strides() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let plain = case.m.array_of(unit, int, &[Extent::fixed(3)], None).unwrap();
    let from = case.m.array_of(unit, int, &[Extent::fixed(4).from(1)], Some(64)).unwrap();
    let rows = [Extent::fixed(5), Extent::fixed(2).from(-1)];
    let rows = case.m.array_of(unit, int, &rows, Some(48)).unwrap();
    let unknown = case.m.array_of(unit, int, &[Extent::fixed(5), Extent::unknown()], Some(64)).unwrap();
    for (name, ty) in [("plain", plain), ("from", from), ("rows", rows), ("unknown", unknown)] {
        case.m.variable(unit, name, ty).unwrap();
    }
    let described = case.finish();
    let emitted = described.emitted(&exact());
    emitted
        .has("TypeSubrange none none 3")
        // Strides are bytes.
        .has("TypeSubrange 1 none 4 8")
        // A row has 2 elements of 6 bytes.
        .has("TypeSubrange none none 5 12")
        // A negative bound is 64 bits, which the module lacks.
        .has("TypeSubrange none none 2 6");
    let left: Vec<_> =
        emitted.left().iter().map(|left| left.rsplit(": ").nth(1).expect("a property")).collect();
    // The size of a row of `unknown` is unknown, and so is its stride.
    assert_eq!(left, ["lower bound", "stride"]);
}

/// Version 200 has no matrix with a stride, but an array has one; a stride of some bits is in no set.
#[test]
fn matrices_have_strides() {
    for (stride, is_kept) in [(192, true), (132, false)] {
        let mut case = Case::new();
        let int = case.int();
        let unit = case.unit;
        let short = case.m.vector(unit, int, 4).unwrap();
        let long = case.m.vector(unit, int, 16).unwrap();
        case.m.matrix_of(unit, short, 3, Major::Column, Some(stride)).unwrap();
        case.m.matrix_of(unit, long, 2, Major::Row, Some(stride + 384)).unwrap();
        let described = case.finish();
        let of = |mode: &Mode| {
            let emitted = described.emitted(mode);
            let strides = emitted.left().iter().filter(|left| left.contains(": stride: "));
            let subranges: Vec<_> =
                emitted.all(InstructionName::TypeSubrange).into_iter().map(str::to_owned).collect();
            (emitted.all(InstructionName::TypeMatrix).len(), subranges, strides.count())
        };
        // A vector of 16 elements is an array in the modes that validate, and so is its matrix.
        for set in [Set::OpenCl, Set::Shader] {
            let matrices = if set == Set::Shader { 2 } else { 0 };
            assert_eq!(of(&Mode::exact(set)), (matrices, vec![], 2));
        }
        assert_eq!(of(&exact()), (2, vec![], 2));
        let (matrices, subranges, left) = of(&Mode::validating(Set::Shader200));
        // 576 bits are 72 bytes.
        let has_stride = subranges.iter().any(|one| one == "TypeSubrange none none 2 72");
        assert_eq!((matrices, has_stride, left), (1, is_kept, if is_kept { 1 } else { 2 }), "{subranges:?}");
    }
}

#[test]
fn bit_fields_and_complex_numbers() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let complex = case.m.base_type(unit, "float complex", BaseEncoding::ComplexFloat, 64).unwrap();
    let s = case.m.structure(unit, Some("s"), 16).unwrap();
    case.m.data_member(s, DataMember::bit_field("low", int, 0, 3)).unwrap();
    case.m.data_member(s, DataMember::bit_field("whole", int, 32, 32)).unwrap();
    case.m.data_member(s, DataMember::new("plain", complex, 8)).unwrap();
    case.emitted(&exact())
        .has(r#"TypeBasic "float complex" 64 Complex None"#)
        .has(r#"TypeMember "low" int </src/a.cl> 0 0 0 3 FlagBitField"#)
        .has(r#"TypeMember "whole" int </src/a.cl> 0 0 32 32 FlagBitField"#)
        .has(r#"TypeMember "plain" float complex </src/a.cl> 0 0 64 64 None"#)
        .lacks(&[]);
}

/// Operations that only version 200 has: encoded there, and omitted in the other sets.
#[test]
fn operations() {
    let mul = DebugOperation::new(30, &[]).expect("is Mul");
    let lit = DebugOperation::new(46 + 12, &[]).expect("is Lit12");
    let all = [lit, mul, DebugOperation::StackValue];
    let mut case = Case::new();
    let int = case.int();
    let f = case.function("f");
    case.m.describe_function(f).unwrap().kernel();
    let v = case.m.variable(f, "v", int).unwrap().id();
    case.binding.function(f, MAIN).value(Position::after(SUM), v, &[Provider::expression(SUM, &all)]);
    let described = case.finish();
    let emitted = described.emitted(&exact());
    emitted.has("Operation Lit12").has("Operation Mul").lacks(&[]);
    for set in [Set::OpenCl, Set::Shader, Set::Shader101] {
        let emitted = described.emitted(&Mode::exact(set));
        let left = emitted.left();
        assert_eq!(left.len(), 1, "{left:?}");
        let why = format!("it is computed from %9 by Lit12: {} has no such operation", set.name());
        assert!(left[0].ends_with(&why), "{left:?}");
    }
    // 12 times 5.
    let initial =
        eitri::spirv::Initial::Value(eitri::eval::Element::Value(eitri::eval::Value::generic(5, 8)));
    let machine = eitri::eval::Snapshot::default();
    let target = eitri::target::Target::x86_64();
    let found = evaluate(&all, &initial, &machine, &target).expect("can be evaluated");
    assert_eq!(found.location.to_string(), "implicit:3c00000000000000");
    // A branch counts bytes of an encoding that does not exist.
    let skip = DebugOperation::new(45, &[2]).expect("is Skip");
    let error = evaluate(&[skip], &initial, &machine, &target).expect_err("cannot be evaluated");
    assert_eq!(error.kind().to_string(), "Skip cannot be evaluated");
}
