//! Imports: section 4.10.

use eitri::model::Imported;
use eitri::spirv::{InstructionName, Mode, Set};

use crate::spirv_lower::case::Case;

#[test]
fn imports() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let space = case.m.namespace(unit, "space").unwrap();
    let s = case.m.structure(unit, Some("S"), 4).unwrap();
    case.m.describe_type(s).unwrap().within(space).unwrap();
    let g = case.m.variable(space, "g", int).unwrap().id();
    let far = case.m.function_declaration(space, "far").unwrap().id();
    let f = case.function("f");
    let block = case.m.block(f, &[0..0x20]).unwrap();
    let line = case.line(7, 9);
    case.m.import(unit, Imported::AllOf(space)).unwrap().declared(line).unwrap();
    case.m.import(unit, Imported::Namespace(space)).unwrap().name("alias").unwrap();
    case.m.import(block, Imported::Type(s)).unwrap();
    case.m.import(f, Imported::Variable(g)).unwrap();
    case.m.import(unit, Imported::Function(far)).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        described
            .emitted(&Mode::exact(set))
            .has(r#"ImportedEntity "" ImportedModule </src/a.cl> namespace:space 7 9 unit"#)
            .has(r#"ImportedEntity "alias" ImportedDeclaration </src/a.cl> namespace:space 0 0 unit"#)
            .has(r#"ImportedEntity "" ImportedDeclaration </src/a.cl> S 0 0 block:0"#)
            .has(r#"ImportedEntity "" ImportedDeclaration </src/a.cl> g 0 0 f"#)
            .has(r#"ImportedEntity "" ImportedDeclaration </src/a.cl> declared:far 0 0 unit"#)
            .lacks(&[]);
    }
    let emitted = described.emitted(&Mode::translator());
    emitted.has_no(InstructionName::ImportedEntity);
    assert_eq!(
        emitted.left()[2],
        "unit `a.cl`, function `f`: the import of type `S`: the translator mode cannot encode this"
    );
}
