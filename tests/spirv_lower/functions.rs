//! Functions and declarations, section 4.6; variables, sections 4.5 and 4.8.

use eitri::build::Template;
use eitri::model::{Accessibility, CompositeKind, FunctionId, Language, MemorySpace, SourceLine};
use eitri::spirv::{InstructionName, Mode, Set, check};

use crate::spirv_lower::case::{Case, Described, MAIN, TABLE};

#[test]
fn functions() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    case.m.describe_unit(unit).unwrap().optimized().language(Language::OPENCL_C);
    let line = case.line(5, 6);
    let main = case.m.function(unit, "main").unwrap().kernel().declared(line).body_line(7).id();
    case.m.describe_function(main).unwrap().linkage_name("_main").returns(int).unwrap();
    case.m.parameter(main, "x", int).unwrap();
    case.m.parameter(main, "y", int).unwrap().artificial();
    case.m.function(unit, "gone").unwrap();
    case.binding.function(main, MAIN);
    let described = case.finish();
    let flags = "FlagIsDefinition|FlagPrototyped|FlagIsOptimized";
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has("TypeFunction None int int int")
        .has(&format!(r#"Function "main" int(int,int) </src/a.cl> 5 6 unit "_main" {flags} 7 %main"#))
        .has(&format!(r#"Function "gone" void() </src/a.cl> 0 0 unit "" FlagIsLocal|{flags} 0 none"#))
        .has(r#"LocalVariable "x" int </src/a.cl> 0 0 main None 1"#)
        .has(r#"LocalVariable "y" int </src/a.cl> 0 0 main FlagArtificial 2"#)
        .lacks(&[]);
    described
        .emitted(&Mode::exact(Set::Shader))
        .has(&format!(r#"Function "main" int(int,int) </src/a.cl> 5 6 unit "_main" {flags} 7"#))
        .has(&format!(r#"Function "gone" void() </src/a.cl> 0 0 unit "" FlagIsLocal|{flags} 0"#))
        .lacks(&[]);
}

#[test]
fn declarations() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let line = case.line(3, 5);
    let declared = case.m.function_declaration(unit, "far").unwrap().external().declared(line).id();
    case.m.parameter(declared, "x", int).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        described
            .emitted(&Mode::exact(set))
            .has(r#"FunctionDeclaration "far" void(int) </src/a.cl> 3 5 unit "" None"#)
            .has_no(InstructionName::Function)
            .lacks(&[
                "unit `a.cl`, function `far`, variable `x`: a parameter of a declaration; only its type is encoded",
            ]);
    }
}

/// A member function is a member of its class; one that is defined outside is declared in the class.
#[test]
fn member_functions() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let class = case.m.class(unit, Some("C"), 4).unwrap();
    case.m.member(class, "x", int, 0).unwrap();
    let pointer = case.m.pointer(unit, Some(class)).unwrap();
    let inside = case.m.function(class, "inside").unwrap().accessibility(Accessibility::Public).id();
    let this = case.m.parameter(inside, "this", pointer).unwrap().artificial().id();
    case.m.describe_function(inside).unwrap().object_pointer(this).unwrap().explicit();
    case.m.function_declaration(class, "elsewhere").unwrap().external();
    let outside = case
        .m
        .function_declaration(class, "outside")
        .unwrap()
        .external()
        .accessibility(Accessibility::Protected)
        .linkage_name("_ZN1C7outsideEv")
        .id();
    let definition = case.m.function_definition(unit, outside).unwrap().kernel().id();
    case.binding.function(definition, MAIN);
    let described = case.finish();
    let outside =
        r#""outside" void() </src/a.cl> 0 0 unit "_ZN1C7outsideEv" FlagIsProtected|FlagIsDefinition"#;
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"TypeComposite "C" Class </src/a.cl> 0 0 unit "" 32 None x inside elsewhere"#)
        .has(
            r#"Function "inside" void(C*) </src/a.cl> 0 0 C "" FlagIsPublic|FlagIsLocal|FlagIsDefinition|FlagExplicit 0 none"#,
        )
        .has(r#"LocalVariable "this" C* </src/a.cl> 0 0 inside FlagArtificial|FlagObjectPointer 1"#)
        .has(r#"Function "elsewhere" void() </src/a.cl> 0 0 C "" None 0 none"#)
        .has(r#"FunctionDeclaration "outside" void() </src/a.cl> 0 0 C "_ZN1C7outsideEv" FlagIsProtected"#)
        .has(&format!("Function {outside} 0 %main declared:outside"))
        .is_before("FunctionDeclaration", r#"Function "outside""#)
        .lacks(&[]);
    // The other set has no forward references: a function refers to its class, but not the reverse.
    described
        .emitted(&Mode::exact(Set::Shader))
        .has(r#"TypeComposite "C" Class </src/a.cl> 0 0 unit "" 32 None x"#)
        .has(
            r#"Function "inside" void(C*) </src/a.cl> 0 0 C "" FlagIsPublic|FlagIsLocal|FlagIsDefinition|FlagExplicit 0"#,
        )
        .has(r#"FunctionDeclaration "elsewhere" void() </src/a.cl> 0 0 C "" None"#)
        .has(r#"FunctionDeclaration "outside" void() </src/a.cl> 0 0 C "_ZN1C7outsideEv" FlagIsProtected"#)
        .has(&format!("Function {outside} 0 declared:outside"))
        .lacks(&[]);
}

#[test]
fn global_variables() {
    let mut case = Case::new();
    let int = case.int();
    let unit = case.unit;
    let line = case.line(2, 11);
    let table =
        case.m.variable(unit, "table", int).unwrap().external().linkage_name("_table").declared(line).id();
    case.binding.global(table, TABLE);
    case.m.variable(unit, "gone", int).unwrap();
    case.m.constant(unit, "five", int, &[5, 0, 0, 0]).unwrap();
    let short = case.m.base_type(unit, "short", eitri::model::BaseEncoding::Signed, 16).unwrap();
    case.m.constant(unit, "minus", short, &[0xfe, 0xff]).unwrap();
    let float = case.m.base_type(unit, "float", eitri::model::BaseEncoding::Float, 32).unwrap();
    case.m.constant(unit, "pi", float, &3.0f32.to_le_bytes()).unwrap();
    let far = case.m.extern_variable(unit, "far", int).unwrap().id();
    case.m.definition(unit, far).unwrap();
    let described = case.finish();
    for set in Set::ALL {
        described
            .emitted(&Mode::exact(set))
            .has(r#"GlobalVariable "table" int </src/a.cl> 2 11 unit "_table" %table FlagIsDefinition"#)
            .has(r#"GlobalVariable "gone" int </src/a.cl> 0 0 unit "" none FlagIsLocal|FlagIsDefinition"#)
            .has(r#"GlobalVariable "five" int </src/a.cl> 0 0 unit "" 5 FlagIsLocal|FlagIsDefinition"#)
            // -2, sign-extended to 32 bits.
            .has(r#"GlobalVariable "minus" short </src/a.cl> 0 0 unit "" 4294967294 FlagIsLocal|FlagIsDefinition"#)
            .has(r#"GlobalVariable "pi" float </src/a.cl> 0 0 unit "" none FlagIsLocal|FlagIsDefinition"#)
            .has(r#"GlobalVariable "far" int </src/a.cl> 0 0 unit "" none None"#)
            .has(r#"GlobalVariable "far" int </src/a.cl> 0 0 unit "" none FlagIsDefinition"#)
            .lacks(&[
                "unit `a.cl`, variable `pi`: value: it is not an integer that the module can have",
                "unit `a.cl`, variable `far`: declaration that it completes: no operand encodes this",
                "unit `a.cl`, variable `five`: constant flag: no operand encodes this",
                "unit `a.cl`, variable `minus`: constant flag: no operand encodes this",
                "unit `a.cl`, variable `pi`: constant flag: no operand encodes this",
            ]);
    }
}

/// A variable in a function that is an `OpVariable` of the module: one in local memory.
#[test]
fn variables_of_functions_outside_of_them() {
    let mut case = Case::new();
    let int = case.int();
    let f = case.function("f");
    let line = case.line(4, 13);
    let tile = case.m.variable(f, "tile", int).unwrap().declared(line).memory_space(MemorySpace::Group).id();
    case.m.variable(f, "x", int).unwrap().declared(SourceLine { line: 5, ..line });
    case.binding.global(tile, TABLE);
    case.exact()
        .has(r#"GlobalVariable "tile" int </src/a.cl> 4 13 f "" %table FlagIsLocal|FlagIsDefinition"#)
        .has(r#"LocalVariable "x" int </src/a.cl> 5 13 f None"#)
        .lacks(&["unit `a.cl`, function `f`, variable `tile`: memory space: no operand encodes this"]);
}

type Say = fn(&mut Case, FunctionId);

/// Properties of declarations.
const OF_DECLARATIONS: &[(&str, Say)] = &[
    ("nothing", |_, _| {}),
    ("code", |case, f| {
        case.binding.function(f, MAIN);
    }),
    ("a parameter of a template", |case, f| {
        let int = case.int();
        let mut f = case.m.describe_function(f).unwrap();
        f.template(Template::ty("T", Some(int))).unwrap();
    }),
];

/// Contents of a declaration that is emitted as a function.
const IN_FUNCTIONS: &[(&str, Say)] = &[
    ("a block", |case, f| {
        case.m.block(f, &[]).unwrap();
    }),
    ("a namespace", |case, f| {
        case.m.namespace(f, "inner").unwrap();
    }),
    ("an inlined call", |case, f| {
        let callee = case.function("callee");
        let line = case.line(4, 0);
        case.m.inlined(f, callee, &[], line).unwrap();
    }),
];

/// Declarations are compared as what they are emitted as: declarations, or functions in a set that has functions as
/// members. Every difference is listed.
#[test]
fn declarations_have_flags_and_types() {
    let makers: [fn(&mut Case) -> FunctionId; 4] = [
        |case| {
            let class = case.m.class(case.unit, Some("C"), 4).unwrap();
            case.m.function_declaration(class, "f").unwrap().id()
        },
        |case| case.m.function_declaration(case.unit, "f").unwrap().id(),
        |case| {
            let class = case.m.incomplete(case.unit, CompositeKind::Class, "C").unwrap();
            case.m.function_declaration(class, "f").unwrap().id()
        },
        |case| {
            let class = case.m.class(case.unit, Some("C"), 4).unwrap();
            let f = case.m.function_declaration(class, "f").unwrap().id();
            case.m.function_definition(case.unit, f).unwrap();
            f
        },
    ];
    for set in Set::ALL {
        let mode = Mode::exact(set);
        for (kind, make) in makers.into_iter().enumerate() {
            let describe = |say: Say| {
                let mut case = Case::new();
                let f = make(&mut case);
                let at = case.line(3, 1);
                case.m.describe_function(f).unwrap().declared(at).body_line(4);
                case.int();
                say(&mut case, f);
                case.finish()
            };
            let is_clean = |Described { module, binding }: &Described, words: &[u32]| {
                check(module, binding, &mode, &[], words).unwrap().is_clean()
            };
            let bare = describe(|_, _| {});
            let words = bare.emitted(&mode).words;
            let is_function = kind == 0 && set == Set::OpenCl;
            let in_functions = if is_function { IN_FUNCTIONS } else { &[] };
            for &(name, say) in OF_DECLARATIONS.iter().chain(in_functions) {
                let described = describe(say);
                let with = described.emitted(&mode).words;
                assert_eq!(is_function && name != "nothing", with != words, "{name}, {kind}, {set:?}");
                if with != words {
                    assert!(!is_clean(&bare, &with), "{name} is not found");
                    assert!(!is_clean(&described, &words), "{name} is not missed");
                }
            }
        }
    }
}
