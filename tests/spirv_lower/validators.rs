//! Other tools on a unit with everything: `spirv-val` accepts the output for its mode, and LLVM's translator reads
//! that for its mode.

use eitri::build::{DataMember, Extent, Template};
use eitri::model::{
    Accessibility, BaseEncoding, CompositeKind, Imported, Language, MemorySpace, Passed, PointerKind,
    Qualifier, SourceLine,
};
use eitri::spirv::{Mode, Position, Set};
use eitri::target::SpaceId;

use crate::spirv_lower::case::{Case, Described, ENTRY, MAIN, TABLE};
use crate::spirv_lower::tools::{Folder, Tool};

const SPIRV_VAL: Tool = Tool::new("spirv-val", "spirv-tools");
const LLVM_SPIRV: Tool = Tool::new("llvm-spirv-15", "llvm-spirv-15");
const LLVM_DIS: Tool = Tool::new("llvm-dis-15", "llvm-15");

/// A C++ unit with everything.
fn everything() -> Described {
    let mut case = Case::new();
    let int = case.int();
    let uint = case.uint();
    let unit = case.unit;
    let file = case.file;
    let at = |line| SourceLine::new(file, line).column(3);
    let m = &mut case.m;
    m.describe_unit(unit).unwrap().language(Language::CPP_FOR_OPENCL).producer("compiler").optimized();
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32).unwrap();
    m.base_type(unit, "complex", BaseEncoding::ComplexFloat, 64).unwrap();
    let space = m.namespace(unit, "space").unwrap();
    m.begins(space, at(1)).unwrap();
    let hidden = m.anonymous_namespace(space).unwrap();

    // struct base { int b; }; class node : public base { node *next; static int count; int f(int) {} int g(); };
    let base = m.structure(unit, Some("base"), 4).unwrap();
    m.member(base, "b", int, 0).unwrap();
    m.describe_type(base).unwrap().within(space).unwrap().declared(at(2)).passed(Passed::ByValue).unwrap();
    let node = m.class(unit, Some("node"), 32).unwrap();
    m.describe_type(node).unwrap().within(space).unwrap().declared(at(3));
    m.base(node, base, 0, Some(Accessibility::Public)).unwrap();
    let to_node =
        m.pointer_of(unit, PointerKind::Pointer, Some(node), SpaceId(0), Some(MemorySpace::Global)).unwrap();
    m.data_member(
        node,
        DataMember::new("next", to_node, 8).accessibility(Accessibility::Private).declared(at(4)),
    )
    .unwrap();
    m.bit_field(node, "bits", uint, 128, 5).unwrap();
    let count = m.static_member(node, "count", int).unwrap().declared(at(5)).id();
    m.static_member(node, "limit", int).unwrap().const_value(&[7, 0, 0, 0]).unwrap();
    let definition = m.definition(unit, count).unwrap().linkage_name("_count").declared(at(30)).id();
    case.binding.global(definition, TABLE);
    let f = m.function(node, "f").unwrap().declared(at(6)).external().returns(int).unwrap().id();
    let this = m.parameter(f, "this", to_node).unwrap().artificial().id();
    m.parameter(f, "x", int).unwrap().declared(at(6));
    m.describe_function(f).unwrap().object_pointer(this).unwrap();
    m.function_declaration(node, "elsewhere").unwrap().external().declared(at(7));
    let g = m.function_declaration(node, "g").unwrap().external().declared(at(8)).linkage_name("_g").id();
    m.parameter(g, "this", to_node).unwrap().artificial();
    let g = m.function_definition(unit, g).unwrap().declared(at(40)).id();
    m.parameter(g, "this", to_node).unwrap().artificial();
    let inner = m.structure(unit, Some("inner"), 4).unwrap();
    m.describe_type(inner).unwrap().within(node).unwrap();

    m.incomplete(unit, CompositeKind::Struct, "later").unwrap();
    let image = m.unspecified_type(unit, "image2d_t").unwrap();
    let either = m.union(unit, Some("either"), 4).unwrap();
    m.member(either, "i", int, 0).unwrap();
    m.member(either, "f", float, 0).unwrap();
    let color = m.enumeration(unit, Some("color"), int, &[("RED", 0), ("BLUE", -1)]).unwrap();
    m.enum_class(unit, Some("kind"), uint, &[("A", 1)]).unwrap();
    let short = m.vector(unit, float, 4).unwrap();
    let long = m.vector(unit, float, 16).unwrap();
    let matrix = m.array(unit, float, &[Some(4), Some(1), Some(32)]).unwrap();
    let open = m.array(unit, float, &[None]).unwrap();
    m.array(unit, float, &[Some(0)]).unwrap();
    let constant = m.qualified(unit, Qualifier::Const, Some(int)).unwrap();
    let to_constant = m.pointer_into(unit, Some(constant), SpaceId(1)).unwrap();
    let void = m.pointer_into(unit, None, SpaceId(5)).unwrap();
    let reference = m.pointer_of(unit, PointerKind::Reference, Some(node), SpaceId(5), None).unwrap();
    let name = m.typedef(unit, "node_t", Some(node)).unwrap();
    let number = m.typedef(unit, "number", Some(int)).unwrap();
    let to_call = m.subroutine(unit, Some(int), &[int, to_node]).unwrap();
    let call = m.pointer(unit, Some(to_call)).unwrap();
    let member = m.member_pointer(unit, node, int).unwrap();
    let vector = m.structure(unit, Some("vector<int, 4>"), 16).unwrap();
    m.template(vector, Template::ty("T", Some(int))).unwrap();
    m.template(vector, Template::value("N", int, &[4, 0, 0, 0])).unwrap();
    m.template(vector, Template::named("A", "allocator")).unwrap();
    m.template(vector, Template::pack("P", [Template::ty("", Some(uint))])).unwrap();

    m.constant(hidden, "five", int, &[5, 0, 0, 0]).unwrap();
    m.variable(space, "gone", number).unwrap().declared(at(9));
    m.import(unit, Imported::AllOf(space)).unwrap();
    m.import(unit, Imported::Type(node)).unwrap().name("other").unwrap();
    m.macros(unit).unwrap().define(0, "FAST 1").unwrap().undefine(0, "FAST").unwrap();

    let leaf = m.function(unit, "leaf").unwrap().code("leaf", 0x40).declared(at(50)).body_line(51).id();
    let a = m.parameter(leaf, "a", int).unwrap().id();
    let main = m.function(unit, "main").unwrap().code("main", 0x100).declared(at(60)).body_line(60).id();
    m.describe_function(main).unwrap().template(Template::ty("T", Some(float))).unwrap();
    let types = [
        ("v", short),
        ("w", long),
        ("m", matrix),
        ("o", open),
        ("c", to_constant),
        ("p", void),
        ("r", reference),
        ("t", name),
        ("k", call),
        ("q", member),
        ("e", either),
        ("col", color),
        ("img", image),
        ("vec", vector),
    ];
    for (name, ty) in types {
        m.variable(main, name, ty).unwrap().declared(at(61));
    }
    let n = m.parameter(main, "n", uint).unwrap().declared(at(60)).id();
    let counted = m.array_of(unit, int, &[Extent::variable(n)], None).unwrap();
    let block = m.block(main, &[0..0x80]).unwrap();
    m.begins(block, at(62)).unwrap();
    m.discriminator(block, 2).unwrap();
    m.variable(block, "vla", counted).unwrap().declared(at(63));
    let local = m.structure(unit, Some("local"), 4).unwrap();
    m.describe_type(local).unwrap().within(block).unwrap();
    let inlined = m.inlined(block, leaf, &[0x10..0x20], at(64)).unwrap();
    m.inlined_variable(inlined, a).unwrap();
    case.binding.function(main, MAIN);
    let mut described = case.finish();
    described.binding.scope(Position::start(MAIN, ENTRY), inlined);
    described
}

#[test]
fn spirv_val_takes_all_of_it() {
    let described = everything();
    let folder = Folder::new();
    for set in Set::ALL {
        let emitted = described.emitted(&Mode::validating(set));
        let file = folder.file("module.spv", bytes(&emitted.words));
        let Some(ran) = SPIRV_VAL.run(&[&file]) else { return };
        ran.clean();
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn the_translator_reads_it() {
    // In this mode discriminators are scopes, contrary to the specification.
    let words = everything().attached(&Mode::translator()).expect("is attached").words;
    let folder = Folder::new();
    let module = folder.file("a.spv", bytes(&words));
    let bitcode = folder.path().join("a.bc");
    let Some(ran) = LLVM_SPIRV.run(&["-r".as_ref(), module.as_os_str(), "-o".as_ref(), bitcode.as_os_str()])
    else {
        return;
    };
    ran.clean();
    let Some(ran) = LLVM_DIS.run(&[bitcode.as_os_str(), "-o".as_ref(), "-".as_ref()]) else { return };
    // Without node numbers.
    let text = ran.clean();
    let parts = text.split('!').map(|part| part.trim_start_matches(|it: char| it.is_ascii_digit()));
    let text = parts.collect::<Vec<_>>().join("!");
    for node in [
        r#"DIFile(filename: "a.cl", directory: "/src")"#,
        "DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !, ",
        r#"DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)"#,
        r#"DINamespace(name: "space", scope: null)"#,
        r#"DICompositeType(tag: DW_TAG_structure_type, name: "base", scope: !, file: !, line: 2, size: 32, flags: DIFlagTypePassByValue, elements: !)"#,
        r#"DICompositeType(tag: DW_TAG_class_type, name: "node", scope: !, file: !, line: 3, size: 256, elements: !)"#,
        "DIDerivedType(tag: DW_TAG_inheritance, scope: !, baseType: !, flags: DIFlagPublic, extraData: i32 0)",
        r#"DIDerivedType(tag: DW_TAG_member, name: "next", scope: !, file: !, line: 4, baseType: !, size: 64, offset: 64, flags: DIFlagPrivate)"#,
        r#"DIDerivedType(tag: DW_TAG_member, name: "bits", scope: !, file: !, baseType: !, size: 5, offset: 128)"#,
        r#"DIDerivedType(tag: DW_TAG_member, name: "count", scope: !, file: !, line: 5, baseType: !, size: 32, flags: DIFlagStaticMember)"#,
        r#"DIDerivedType(tag: DW_TAG_member, name: "limit", scope: !, file: !, baseType: !, flags: DIFlagStaticMember, extraData: i32 7)"#,
        r#"DIGlobalVariable(name: "count", linkageName: "_count", scope: !, file: !, line: 30, type: !, isLocal: false, isDefinition: true, declaration: !)"#,
        r#"DISubprogram(name: "elsewhere", scope: !, file: !, line: 7, type: !, scopeLine: 7, spFlags: 0, templateParams: !)"#,
        r#"DILocalVariable(name: "this", arg: 1, scope: !, file: !, type: !, flags: DIFlagArtificial | DIFlagObjectPointer)"#,
        r#"DICompositeType(tag: DW_TAG_union_type, name: "either", file: !, size: 32, elements: !)"#,
        r#"DIEnumerator(name: "RED", value: 0)"#,
        "DICompositeType(tag: DW_TAG_array_type, baseType: !, size: 512, flags: DIFlagVector, elements: !)",
        // [4][1][32] of 32 bits.
        "DICompositeType(tag: DW_TAG_array_type, baseType: !, size: 4096, elements: !)",
        "DISubrange(count: -1)",
        "DIDerivedType(tag: DW_TAG_const_type, baseType: !)",
        "DIDerivedType(tag: DW_TAG_reference_type, baseType: !, dwarfAddressSpace: 0)",
        "DIDerivedType(tag: DW_TAG_ptr_to_member_type, baseType: !, extraData: !)",
        r#"DIDerivedType(tag: DW_TAG_typedef, name: "node_t", file: !, baseType: !)"#,
        r#"DITemplateTypeParameter(name: "T", type: !)"#,
        r#"DITemplateValueParameter(name: "N", type: !, value: i32 4)"#,
        r#"DISubprogram(name: "main", scope: null, file: !, line: 60, type: !, scopeLine: 60, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized"#,
        r#"DISubprogram(name: "leaf", scope: null, file: !, line: 50, type: !, scopeLine: 51, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !, templateParams: !, retainedNodes: !)"#,
        r#"DILocalVariable(name: "n", arg: 1, scope: !, file: !, line: 60, type: !)"#,
        "DILexicalBlock(scope: !, file: !, line: 62, column: 3)",
        "DILexicalBlockFile(scope: !, file: !, discriminator: 2)",
        "DILocation(line: 64, scope: !)",
    ] {
        assert!(text.contains(node), "{node}\n{text}");
    }
}
