//! Units, sources, entry points: section 4.2. Macros: section 4.9.

use eitri::model::{Language, VariableKind};
use eitri::spirv::{InstructionName, Mode, Set};

use crate::spirv_lower::case::{Case, MAIN};

#[test]
fn units_and_sources() {
    let mut case = Case::new();
    case.m.describe_unit(case.unit).unwrap().language(Language::OPENCL_C);
    let header = case.m.file(case.unit, "b.h", Some("include")).unwrap();
    case.m.file(case.unit, "/usr/c.h", Some("include")).unwrap();
    case.m.file(case.unit, "d.h", Some("/opt")).unwrap();
    case.m.file_source(header, "int b;\n").unwrap();
    let described = case.finish();
    for (set, language) in [(Set::OpenCl, "OpenCL_C"), (Set::Shader, "OpenCL_C")] {
        described
            .emitted(&Mode::exact(set))
            .has(r#"Source "/src/a.cl""#)
            .has(r#"Source "/src/include/b.h" "int b;\n""#)
            .has(r#"Source "/usr/c.h""#)
            .has(r#"Source "/opt/d.h""#)
            .has(&format!("CompilationUnit 1 5 </src/a.cl> {language}"))
            .is_before("Source", "CompilationUnit")
            .lacks(&["unit `a.cl`: file `/usr/c.h`: directory: `include` is not part of the full path"]);
    }
    // For the translator, an unknown text is empty.
    described
        .emitted(&Mode::translator())
        .has(r#"Source "/src/a.cl" """#)
        .has("CompilationUnit 65536 5 </src/a.cl> OpenCL_C");
}

#[test]
fn languages() {
    for (language, name, left) in [
        (Language::OPENCL_CPP, "OpenCL_CPP", None),
        (Language::CPP_FOR_OPENCL, "CPP_for_OpenCL", None),
        (Language::SYCL, "SYCL", None),
        (Language::HLSL, "HLSL", None),
        (Language::GLSL, "GLSL", None),
        (Language::GLSL_ES, "ESSL", None),
        (Language::RUST, "Rust", None),
        (Language::ZIG, "Zig", None),
        (Language::CPP17, "Unknown", Some("unit `a.cl`: language: SPIR-V has no number for DW_LANG 0x2a")),
    ] {
        let mut case = Case::new();
        case.m.describe_unit(case.unit).unwrap().language(language);
        let left: Vec<_> = left.into_iter().collect();
        case.exact().has(&format!("CompilationUnit 1 5 </src/a.cl> {name}")).lacks(&left);
    }
    // SPIRV-Tools 2023.1 knows languages up to 7, and rejects modules with others.
    let mut case = Case::new();
    case.m.describe_unit(case.unit).unwrap().language(Language::RUST);
    case.emitted(&Mode::validating(Set::OpenCl))
        .has("CompilationUnit 1 5 </src/a.cl> Unknown")
        .lacks(&["unit `a.cl`: language: the validating mode has no number 13"]);
}

#[test]
fn producers() {
    let mut case = Case::new();
    case.m.describe_unit(case.unit).unwrap().producer("compiler 1").command_line("-O2 a.cl");
    let main = case.m.function(case.unit, "main").unwrap().kernel().id();
    case.binding.function(main, MAIN);
    let described = case.finish();
    described.emitted(&Mode::exact(Set::OpenCl)).has_no(InstructionName::EntryPoint).lacks(&[
        "unit `a.cl`: producer: no operand encodes this",
        "unit `a.cl`: command line: no operand encodes this",
    ]);
    // In the other set, a function definition links the entry point.
    described
        .emitted(&Mode::exact(Set::Shader))
        .has(r#"EntryPoint main unit "compiler 1" "-O2 a.cl""#)
        .lacks(&[]);

    let mut case = Case::new();
    case.m.describe_unit(case.unit).unwrap().producer("compiler 1");
    case.shader().lacks(&["unit `a.cl`: producer: the unit has no entry point"]);
}

/// A string has at most 65533 words, its last byte is 0.
#[test]
fn long_texts() {
    const MOST: usize = 65533 * 4 - 1;
    let text = "é".repeat(MOST / 2 + 1);
    let mut case = Case::new();
    let file = case.file;
    case.m.file_source(file, &text).unwrap();
    let described = case.finish();
    let emitted = described.emitted(&Mode::exact(Set::Shader));
    // The odd character is not split: the first string ends a byte early.
    let [source] = emitted.all(InstructionName::Source)[..] else { panic!() };
    let [continued] = emitted.all(InstructionName::SourceContinued)[..] else { panic!() };
    assert_eq!(source.len(), r#"Source "/src/a.cl" """#.len() + MOST - 1);
    assert_eq!(continued, r#"SourceContinued "é""#);
    described
        .emitted(&Mode::exact(Set::OpenCl))
        .has(r#"Source "/src/a.cl""#)
        .lacks(&["unit `a.cl`: file `a.cl`: source text: an instruction has no room for it"]);
    described.emitted(&Mode::translator()).has(r#"Source "/src/a.cl" """#);
}

#[test]
fn macros() {
    let mut case = Case::new();
    let header = case.m.file(case.unit, "b.h", None).unwrap();
    let file = case.file;
    case.m
        .macros(case.unit)
        .unwrap()
        .define(0, "FAST 1")
        .unwrap()
        .file(0, file)
        .unwrap()
        .define(2, "MAX(a,b) ((a) > (b) ? (a) : (b))")
        .unwrap()
        .file(3, header)
        .unwrap()
        .define(1, "EMPTY")
        .unwrap()
        .end_file()
        .unwrap()
        .undefine(5, "MAX")
        .unwrap()
        .undefine(6, "MAX")
        .unwrap()
        .end_file()
        .unwrap();
    let described = case.finish();
    for set in Set::ALL {
        described
            .emitted(&Mode::exact(set))
            .has(r#"MacroDef "/src/a.cl" 0 "FAST" "1""#)
            .has(r#"MacroDef "/src/a.cl" 2 "MAX(a,b)" "((a) > (b) ? (a) : (b))""#)
            .has(r#"MacroDef "/src/b.h" 1 "EMPTY""#)
            .has(r#"MacroUndef "/src/a.cl" 5 MAX(a,b)"#)
            .lacks(&[
                "unit `a.cl`: inclusion of a file: line 3 includes `b.h`; only the macros are encoded",
                "unit `a.cl`: end of a macro: `MAX` was not defined",
            ]);
    }
    described
        .emitted(&Mode::translator())
        .has_no(InstructionName::MacroDef)
        .lacks(&["unit `a.cl`: macros: the translator mode cannot encode this"]);
}

/// Properties that neither set can encode.
#[test]
fn omitted() {
    let mut case = Case::new();
    let int = case.int();
    let f = case.function("f");
    case.m.describe_function(f).unwrap().noreturn().variadic();
    case.m.label(f, "again").unwrap();
    case.m.describe_type(int).unwrap().alignment(16).unwrap();
    case.m.file_md5(case.file, [7; 16]).unwrap();
    case.m.describe_unit(case.unit).unwrap().language_version(3);
    case.m.constant(f, "k", int, &[1, 0, 0, 0]).unwrap();
    let x = case.m.variable(f, "x", int).unwrap().id();
    assert_eq!(case.m.describe_variable(x).unwrap().id(), x);
    let _ = VariableKind::Variable;
    case.exact().lacks(&[
        "unit `a.cl`: file `a.cl`: MD5 checksum: no operand encodes this",
        "unit `a.cl`: language version: no operand encodes this",
        "unit `a.cl`: type `int`: alignment: no operand encodes 16 bytes",
        "unit `a.cl`, function `f`: variadic flag: no operand encodes this",
        "unit `a.cl`, function `f`: noreturn flag: no operand encodes this",
        "unit `a.cl`, function `f`, variable `k`: value: no operand encodes this",
        "unit `a.cl`, function `f`, variable `k`: constant flag: no operand encodes this",
        "unit `a.cl`, function `f`: the label `again`: no operand encodes this",
    ]);
}
