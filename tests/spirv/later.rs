//! Version 200 of `NonSemantic.Shader.DebugInfo`, read by the producer and reader that it comes from: Intel's translator.

use std::ffi::OsStr;

use eitri::build::{Builder, DataMember, Extent};
use eitri::model::{BaseEncoding, Language, SourceLine};
use eitri::spirv::{
    Binding, Id, InstructionName, Mode, Position, Provider, attach, from_bytes, import, read, validate,
};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use crate::spirv::bytes;
use crate::spirv::tools::{Folder, Tool, skip};

const LLVM_DIS: Tool = Tool::new("llvm-dis-19", "llvm-19");

/// LLVM's text of a module, as the translator at `EITRI_LLVM_SPIRV` reads it.
fn translated(words: &[u32]) -> Option<String> {
    let Ok(program) = std::env::var("EITRI_LLVM_SPIRV") else {
        skip("EITRI_LLVM_SPIRV names no translator of version 200 (package dpcpp-llvm-spirv of PyPI)");
        return None;
    };
    let folder = Folder::new();
    let module = folder.file("a.spv", bytes(words));
    let bitcode = folder.path().join("a.bc");
    let tool = Tool::new(program.leak(), "dpcpp-llvm-spirv of PyPI");
    let arguments: [&OsStr; 4] = ["-r".as_ref(), module.as_os_str(), "-o".as_ref(), bitcode.as_os_str()];
    tool.run(&arguments)?.clean();
    Some(LLVM_DIS.run(&[bitcode.as_os_str(), "-o".as_ref(), "-".as_ref()])?.clean())
}

/// Properties that version 200 alone encodes, in the metadata of LLVM, which was typed by hand.
#[test]
fn intels_translator_reads_what_version_200_adds() -> eitri::Result<()> {
    let words = from_bytes(include_bytes!("kernels/saxpy.O2.spv"))?;
    let mut m = Builder::new(Target::kernel());
    let unit = m.unit("saxpy.cpp");
    m.describe_unit(unit)?.directory("/src").producer("a compiler 1.0").language(Language::CPP14);
    let file = m.primary_file(unit)?;
    m.file_md5(file, [0x31; 16])?;
    let line = |line, column| SourceLine::new(file, line).column(column);
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    let complex = m.base_type(unit, "float complex", BaseEncoding::ComplexFloat, 64)?;
    let rows = m.array_of(unit, int, &[Extent::fixed(4).from(1)], Some(64))?;
    let s = m.structure(unit, Some("s"), 64)?;
    m.data_member(s, DataMember::bit_field("low", int, 0, 3))?;
    m.data_member(s, DataMember::new("rows", rows, 8))?;
    m.data_member(s, DataMember::new("z", complex, 40))?;
    let space = m.inline_namespace(unit, "v1")?;
    let helper = m.function(space, "helper")?.declared(line(3, 5)).body_line(3).id();
    let r = m.variable(helper, "r", float)?.declared(line(4, 9)).id();
    let f = m.function(unit, "saxpy")?.declared(line(10, 1)).body_line(10).id();
    let xi = m.variable(f, "xi", float)?.declared(line(11, 9)).id();
    m.variable(f, "all", s)?.declared(line(12, 5));
    let call = m.inlined(f, helper, &[], line(13, 21))?;
    let inlined = m.inlined_variable(call, r)?.id();
    let module = m.finish()?;
    let mut binding = Binding::new();
    let body = Position::start(Id(11), Id(17));
    binding
        .function(f, Id(11))
        .line(body, line(11, 14))
        .value(Position::after(Id(26)), xi, &[Provider::value(Id(26))])
        .scope(Position::after(Id(28)), call)
        .line(Position::after(Id(28)), line(5, 13))
        .value(Position::after(Id(29)), inlined, &[Provider::value(Id(29))]);
    let mode = Mode::translator200();
    let attached = attach(&words, &module, &binding, &mode)?;
    assert_eq!(attached.omissions, []);
    let facts = read(&attached.words)?;
    assert!(validate(&facts).is_clean(), "{}", validate(&facts));
    let Some(text) = translated(&attached.words) else { return Ok(()) };
    for expected in [
        r#"!DICompileUnit(language: DW_LANG_C_plus_plus_14,"#,
        r#"producer: "a compiler 1.0""#,
        r#"!DIFile(filename: "saxpy.cpp", directory: "/src", checksumkind: CSK_MD5, checksum: "31313131313131313131313131313131")"#,
        r#"!DISubrange(count: 4, lowerBound: 1, stride: 8)"#,
        r#"size: 64, encoding: DW_ATE_complex_float)"#,
        r#"size: 3, flags: DIFlagBitField)"#,
        r#"!DINamespace(name: "v1", scope: null, exportSymbols: true)"#,
        r#"!DILocation(line: 13, column: 21, scope: "#,
        r#"!DILocation(line: 5, column: 13, scope: "#,
        r#"!DILocalVariable(name: "xi", scope: "#,
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    Ok(())
}

/// Operations of ROCm's translator, numbered from 10000 on, are findings, and a value with one is listed.
#[test]
fn operations_of_rocm_are_not_read() {
    let mut words = from_bytes(include_bytes!("foreign/intel.200.O0.spv")).expect("is a module");
    let facts = read(&words).expect("reads");
    let operation =
        facts.iter().find(|fact| fact.name() == Some(InstructionName::Operation)).expect("is there");
    let at = operation.at;
    let number = Id(operation.operands[0]);
    // Another constant of 32 bits gets the number 10003.
    let constants =
        facts.layout().words().instructions().filter(|it| it.opcode() == 43 && it.words.len() == 4);
    let other = constants.filter(|it| it.result() != Some(number)).last().expect("is there");
    let (other, id) = (other.at, other.result().expect("is a constant"));
    (words[other + 3], words[at + 5]) = (10_003, id.0);
    let facts = read(&words).expect("reads");
    let report = validate(&facts).to_string();
    let found = "the set lists no operation 10003; ROCm's translator has further operations from 10000 on";
    assert!(report.contains(found), "{report}");
    let left = import(&facts, &Target::kernel()).expect("can be described").omissions;
    let left: Vec<String> = left.iter().map(ToString::to_string).collect();
    assert!(left.iter().any(|it| it.contains("is not an operation of")), "{left:#?}");
}
