//! Instances of templates: section 4.4.

use eitri::build::Template;
use eitri::model::{BaseEncoding, Loc};
use eitri::spirv::{InstructionName, Mode, Set};

use crate::spirv_lower::case::Case;

#[test]
fn parameters() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let vector = case.m.structure(unit, Some("vector<int, 4>"), 16).unwrap();
    let line = case.line(8, 3);
    case.m.describe_type(vector).unwrap().declared(line);
    case.m.template(vector, Template::ty("T", Some(int))).unwrap();
    case.m.template(vector, Template::value("N", int, &[4, 0, 0, 0])).unwrap();
    case.m.template(vector, Template::named("A", "std::allocator")).unwrap();
    let f = case.function("f<int>");
    case.m.describe_function(f).unwrap().template(Template::ty("T", Some(int)).default()).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        let emitted = described.emitted(&Mode::exact(set));
        emitted.has("TypeTemplate vector<int, 4> T N A")
            .has(r#"TypeTemplateParameter "N" int 4 </src/a.cl> 0 0"#)
            .has(r#"TypeTemplateTemplateParameter "A" "std::allocator" </src/a.cl> 0 0"#)
            .has("TypeTemplate f<int> T")
            .is_before(r#"TypeComposite "vector<int, 4>""#, "TypeTemplate")
            .lacks(&["unit `a.cl`, function `f<int>`: template parameter `T`: default flag: no operand encodes this"]);
        assert_eq!(emitted.all(InstructionName::TypeTemplateParameter).len(), 3);
    }
    let emitted = described.emitted(&Mode::translator());
    emitted.has("TypeTemplate vector<int, 4> T N").has_no(InstructionName::TypeTemplateTemplateParameter);
    assert_eq!(
        emitted.left()[0],
        "unit `a.cl`: type `vector<int, 4>`: template parameter `A`: the translator mode cannot encode this"
    );
}

#[test]
fn packs() {
    let mut case = Case::new();
    let int = case.int();
    let uint = case.uint();
    let unit = case.unit;
    let tuple = case.m.class(unit, Some("tuple"), 8).unwrap();
    let inner = [Template::ty("", Some(int)), Template::ty("", Some(uint)), Template::named("", "list")];
    case.m.template(tuple, Template::pack("T", inner)).unwrap();
    case.m.template(tuple, Template::pack("U", [])).unwrap();
    let described = case.finish();
    let emitted = described.emitted(&Mode::exact(Set::OpenCl));
    emitted.has("TypeTemplate tuple T...").has(r#"TypeTemplateParameterPack "T" </src/a.cl> 0 0  "#).lacks(
        &[
            "unit `a.cl`: type `tuple`: template parameter ``: a template in a pack",
            "unit `a.cl`: type `tuple`: template parameter `U`: the pack is empty",
        ],
    );
    assert_eq!(
        emitted.all(InstructionName::TypeTemplateParameter),
        [
            r#"TypeTemplateParameter "" int none </src/a.cl> 0 0"#,
            r#"TypeTemplateParameter "" uint none </src/a.cl> 0 0"#
        ]
    );
    // The validator does not support packs: each parameter is emitted separately.
    described
        .emitted(&Mode::validating(Set::OpenCl))
        .has_no(InstructionName::TypeTemplateParameterPack)
        .has(r#"TypeTemplateParameter "" uint none </src/a.cl> 0 0"#)
        .has(r#"TypeTemplateTemplateParameter "" "list" </src/a.cl> 0 0"#)
        .lacks(&[
            "unit `a.cl`: type `tuple`: template parameter `T`: parameter pack: 3 parameters are encoded in its place",
            "unit `a.cl`: type `tuple`: template parameter `U`: parameter pack: 0 parameters are encoded in its place",
        ]);
}

#[test]
fn non_templates_are_refused_or_listed() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let either = case.m.union(unit, Some("either"), 4).unwrap();
    case.m.template(either, Template::ty("T", Some(int))).unwrap();
    let s = case.m.structure(unit, Some("S"), 4).unwrap();
    let symbol = case.m.symbol("table");
    case.m.template(s, Template::value_at("P", int, Loc::global_symbol(symbol))).unwrap();
    case.exact().has_no(InstructionName::TypeTemplate).has_no(InstructionName::TypeTemplateParameter).lacks(
        &[
            "unit `a.cl`: type `either`: template parameters: it is a union or a declaration",
            "unit `a.cl`: type `S`: template parameter `P`: its value is not a known integer",
        ],
    );
}

/// `spirv-val` of 2023.1 does not accept `DebugInfoNone` as a type: a basic type replaces `void`.
#[test]
fn void_arguments() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let s = case.m.structure(unit, Some("S"), 4).unwrap();
    let nothing = case.m.typedef(unit, "nothing", None).unwrap();
    case.m.template(s, Template::ty("T", None)).unwrap();
    case.m.template(s, Template::ty("U", Some(int))).unwrap();
    case.m.template(s, Template::ty("V", Some(nothing))).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has("TypeTemplate S T U V")
        .has(r#"TypeTemplateParameter "T" none none </src/a.cl> 0 0"#);
    for set in Set::ALL {
        let mode = Mode::validating(set);
        described
            .emitted(&mode)
            .has("TypeTemplate S T U V")
            .has(r#"TypeTemplateParameter "T" void none </src/a.cl> 0 0"#)
            .lacks(&[
                "unit `a.cl`: type `nothing`: kind: the validating mode has typedefs of basic types only",
            ]);
        let attached = described.attached(&mode).expect("is attached");
        let checked = attached.check(&described.module, &described.binding, &mode).expect("reads");
        assert!(checked.is_clean(), "{checked}");
    }
}

/// A negative 64-bit number differs from the unsigned 32-bit number with the same low bits.
#[test]
fn numbers_of_64_bits() {
    let mut case = Case::new();
    let unit = case.unit;
    let long = case.m.base_type(unit, "long", BaseEncoding::Signed, 64).unwrap();
    let s = case.m.structure(unit, Some("S"), 4).unwrap();
    case.m.template(s, Template::value("A", long, &(-1i64).to_le_bytes())).unwrap();
    case.m.template(s, Template::value("B", long, &0xffff_ffffi64.to_le_bytes())).unwrap();
    let described = case.finish();
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"TypeTemplateParameter "A" long 18446744073709551615 </src/a.cl> 0 0"#)
        .has(r#"TypeTemplateParameter "B" long 4294967295 </src/a.cl> 0 0"#);
    described
        .emitted_narrow(&Mode::exact(Set::OpenCl))
        .has("TypeTemplate S B")
        .lacks(&["unit `a.cl`: type `S`: template parameter `A`: its value is not a known integer"]);
}
