//! A module described with everything that has an instruction, in each mode.

mod types;

use eitri::build::{Builder, DataMember, Template};
use eitri::model::{
    Accessibility, Imported, Language, Loc, MemorySpace, Module, Passed, PointerKind, SourceLine,
};
use eitri::spirv::{
    Attached, Binding, DebugOperation, Id, InstructionName, Mode, Position, Provider, Set, TextOptions,
    attach, print, read,
};
use eitri::target::{Gfx, Target, Wave};
use pretty_assertions::assert_eq;

use super::spirv_tools::{complaints, optimized, round};
use super::{modes, validated};
use crate::spirv::assemble::{Assembled, assemble};
use crate::spirv::common::check_golden;
use crate::spirv::metadata::read_back;
use types::{Types, base_types, other_types};

/// A kernel with an inlined function, which contains another inlined call of itself; and a member function.
const CODE: &str = r#"
               OpCapability Addresses
               OpCapability Linkage
               OpCapability Kernel
               OpCapability Int64
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %run "run"
               OpName %area "area"
               OpDecorate %area !41 "area" !0
       %void = OpTypeVoid
       %bool = OpTypeBool
       %uint = OpTypeInt 32 0
      %float = OpTypeFloat 32
        %vec = OpTypeVector %uint 2
       %pair = OpTypeStruct %uint %vec
      %local = OpTypePointer Function %uint
     %global = OpTypePointer CrossWorkgroup %uint
         %u1 = OpConstant %uint 1
         %u7 = OpConstant %uint 7
         %f2 = OpConstant %float 1073741824
        %run_type = OpTypeFunction %void %uint %global
       %area_type = OpTypeFunction %float %float
      %table = OpVariable %global CrossWorkgroup %u1
    %to_vec = OpTypePointer CrossWorkgroup %vec
   %to_pair = OpTypePointer CrossWorkgroup %pair
       %vec0 = OpConstantNull %vec
      %pair0 = OpConstantNull %pair
       %vecs = OpVariable %to_vec CrossWorkgroup %vec0
      %pairs = OpVariable %to_pair CrossWorkgroup %pair0
        %run = OpFunction %void None %run_type
          %n = OpFunctionParameter %uint
        %out = OpFunctionParameter %global
      %entry = OpLabel
        %var = OpVariable %local Function
               OpStore %var %n
         %is = OpIEqual %bool %n %u1
               OpSelectionMerge %last None
               OpBranchConditional %is %then %last
       %then = OpLabel
       %more = OpIAdd %uint %n %u1
        %two = OpLoad %vec %vecs
      %three = OpLoad %pair %pairs
      %twice = OpIAdd %uint %more %more
      %again = OpIAdd %uint %twice %u7
               OpBranch %last
       %last = OpLabel
        %sum = OpPhi %uint %more %then %n %entry
               OpStore %out %sum
               OpReturn
               OpFunctionEnd
       %area = OpFunction %float None %area_type
          %h = OpFunctionParameter %float
     %single = OpLabel
               OpReturnValue %h
               OpFunctionEnd
"#;

/// A text with as many lines, and as long ones, as are referred to.
fn source() -> String {
    (1..=60)
        .map(|line| format!("// line {line:2} of what is described: all of it, or nearly all {line:10}\n"))
        .collect()
}

struct Everything {
    words: Vec<u32>,
    module: Module,
    binding: Binding,
}

impl Everything {
    fn attached(&self, mode: &Mode) -> Attached {
        attach(&self.words, &self.module, &self.binding, mode).expect("is attached")
    }
}

fn everything() -> Everything {
    let Assembled { words, ids } = assemble(CODE);
    let id = |name: &str| Id(ids[&format!("%{name}")]);
    let mut m = Builder::new(Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known"));
    let unit = m.unit("all.clcpp");
    let mut described = m.describe_unit(unit).expect("is there");
    described.directory("/src").language(Language::CPP_FOR_OPENCL).producer("a compiler 1.0");
    described.command_line("-O2 -cl-std=clc++").optimized();
    let file = m.primary_file(unit).expect("a file");
    m.file_source(file, &source()).expect("is a file");
    let header = m.file(unit, "all.h", Some("/include")).expect("a file");
    // A text that does not fit one string.
    m.file_source(header, &"int a_declaration_of_this_header;\n".repeat(8_000)).expect("is a file");
    let line = |line, column| SourceLine::new(file, line).column(column);

    let types = base_types(&mut m, unit);
    let Types { float, int, uint, pair, float2, .. } = types;
    let geo = m.namespace(unit, "geo").expect("a namespace");
    m.begins(geo, line(2, 1)).expect("is a namespace");
    let inner = m.inline_namespace(geo, "v1").expect("a namespace");
    let hidden = m.anonymous_namespace(unit).expect("a namespace");

    // A class with a base class, a static member and member functions.
    let base = m.structure(unit, Some("Base"), 4).expect("a type");
    m.describe_type(base).expect("is there").declared(line(3, 8)).within(geo).expect("a scope");
    m.data_member(base, DataMember::new("tag", int, 0).declared(line(3, 19))).expect("a member");
    let shape = m.class(unit, Some("Box"), 12).expect("a type");
    let mut describe = m.describe_type(shape).expect("is there");
    describe.declared(line(4, 7)).within(geo).expect("a scope");
    describe.passed(Passed::ByReference).expect("is a class");
    m.base(shape, base, 0, Some(Accessibility::Public)).expect("a base class");
    let w = DataMember::new("w", float, 4).declared(line(5, 9)).accessibility(Accessibility::Private);
    m.data_member(shape, w).expect("a member");
    m.data_member(shape, DataMember::bit_field("bits", uint, 64, 3)).expect("a member");
    let mut limit = m.static_member(shape, "limit", int).expect("a member");
    limit.declared(line(6, 20)).accessibility(Accessibility::Protected);
    let limit = limit.always(Loc::implicit(&7i32.to_le_bytes())).expect("is a constant").id();
    let mut declared = m.function_declaration(shape, "area").expect("a function");
    declared.declared(line(7, 9)).linkage_name("_ZN3geo3Box4areaEf").external();
    let declared = declared.returns(float).expect("a type").accessibility(Accessibility::Public).id();
    m.parameter(declared, "h", float).expect("a parameter");
    let area = m.function_definition(unit, declared).expect("a function").declared(line(8, 13)).id();
    let h = m.parameter(area, "h", float).expect("a parameter").declared(line(8, 24)).id();
    m.definition(unit, limit).expect("a variable").declared(line(9, 16));

    // Instances of templates.
    let vec = m.structure(unit, Some("Vec<float, 4, Base, char, int>"), 16).expect("a type");
    let items = m.array(unit, float, &[Some(4)]).expect("a type");
    m.member(vec, "items", items, 0).expect("a member");
    let rest = vec![Template::ty("", Some(uint)), Template::ty("", Some(int))];
    let parameters = [
        Template::ty("T", Some(float)),
        Template::value("N", int, &4i32.to_le_bytes()),
        Template::named("C", "Base"),
        Template::pack("Rest", rest),
    ];
    for parameter in parameters {
        m.template(vec, parameter).expect("a parameter");
    }

    // Types of all kinds.
    other_types(&mut m, &types, base, shape, header);
    m.function_declaration(unit, "outside").expect("a function");

    // A function inlined into the kernel, and once more within itself there.
    let helper = m.function(unit, "helper<3>").expect("a function").declared(line(20, 5)).body_line(21).id();
    let mut describe = m.describe_function(helper).expect("is there");
    describe
        .returns(uint)
        .expect("a type")
        .template(Template::value("N", int, &3i32.to_le_bytes()))
        .expect("one");
    let x = m.parameter(helper, "x", uint).expect("a parameter").declared(line(20, 17)).id();
    let round = m.block(helper, &[]).expect("a block");
    m.begins(round, line(22, 3)).expect("is a block");
    m.discriminator(round, 2).expect("is a block");
    let y = m.variable(round, "y", uint).expect("a variable").declared(line(23, 10)).id();

    // The kernel.
    let run = m
        .function(unit, "run")
        .expect("a function")
        .external()
        .kernel()
        .declared(line(30, 13))
        .body_line(31)
        .id();
    let n = m.parameter(run, "n", uint).expect("a parameter").declared(line(30, 22)).id();
    let space = m.target().space_named("global").expect("is known").id;
    let global = m.pointer_of(unit, PointerKind::Pointer, Some(uint), space, Some(MemorySpace::Global));
    let global = global.expect("a type");
    let out = m.parameter(run, "out", global).expect("a parameter").declared(line(30, 40)).id();
    let block = m.block(run, &[]).expect("a block");
    m.begins(block, line(33, 5)).expect("is a block");
    m.discriminator(block, 1).expect("is a block");
    let v = m.variable(block, "v", float2).expect("a variable").declared(line(34, 12)).id();
    let part = m.variable(block, "part", uint).expect("a variable").declared(line(35, 12)).id();
    let both = m.variable(block, "both", pair).expect("a variable").declared(line(36, 12)).id();
    let call = m.inlined(block, helper, &[], line(37, 9)).expect("a call");
    let in_call = m.inlined_block(call, round, &[]).expect("a block");
    m.discriminator(in_call, 2).expect("is a block");
    let call_x = m.inlined_variable(call, x).expect("a variable").id();
    let call_y = m.inlined_variable(in_call, y).expect("a variable").id();
    let deep = m.inlined(in_call, helper, &[], line(24, 7)).expect("a call");
    let deep_x = m.inlined_variable(deep, x).expect("a variable").id();

    // Variables of the program.
    let table = m.variable(geo, "table", uint).expect("a variable").declared(line(40, 5)).external().id();
    m.describe_variable(table).expect("is there").linkage_name("_ZN3geo5tableE");
    let seven = m.variable(hidden, "seven", uint).expect("a variable").declared(line(41, 12)).id();
    m.variable(inner, "gone", float).expect("a variable").declared(line(42, 7));
    m.extern_variable(unit, "elsewhere", float).expect("a variable").declared(line(43, 14));

    // Names and macros.
    m.import(unit, Imported::AllOf(geo)).expect("an import").declared(line(50, 1)).expect("is there");
    let import = m.import(unit, Imported::Namespace(geo)).expect("an import").name("g").map(|it| it.id());
    import.expect("has a name");
    m.import(run, Imported::Type(shape)).expect("an import").declared(line(51, 5)).expect("is there");
    m.import(run, Imported::Variable(table)).expect("an import");
    let mut macros = m.macros(unit).expect("is a unit");
    macros.define(0, "DEBUG 1").expect("a macro");
    macros.file(0, file).expect("a file").define(1, "EMPTY").expect("a macro");
    macros.file(2, header).expect("a file").define(3, "MAX(a,b) ((a) > (b) ? (a) : (b))").expect("a macro");
    macros
        .end_file()
        .expect("a file")
        .undefine(4, "MAX")
        .expect("a macro")
        .undefine(5, "NEVER")
        .expect("a macro");
    macros.end_file().expect("a file");

    let mut binding = Binding::new();
    binding.function(run, id("run")).function(area, id("area"));
    binding.global(table, id("table")).global(seven, id("u7"));
    binding.build_identifier("0123456789abcdef0123456789abcdef", true).storage_path("/debug/all.spv");
    let start = |block| Position::start(id("run"), id(block));
    let after = |name| Position::after(id(name));
    let value = |name| Provider::value(id(name));
    let module = m.finish().expect("is whole");
    binding
        .line(start("entry"), line(31, 3))
        .declare(after("var"), n, value("var"))
        .value(start("entry"), out, &[value("out")])
        .no_line(after("is"))
        .scope(start("then"), block)
        .line(start("then"), line(34, 16))
        .value(after("more"), part, &[value("more").plus(4)])
        .value(after("more"), part, &[value("more").plus(-4)])
        .value(after("two"), v, &[value("two")])
        .value(after("two"), v, &[Provider::pointer(id("out")).part(1)])
        .value(after("two"), v, &[value("f2").part_by(id("n"))])
        .value(after("three"), both, &[value("more").part(1), value("n").part(0).bits(0..32)])
        .value(after("three"), both, &[value("n").taken(0..16).part(1).bits(8..24)])
        .value(after("three"), both, &[value("more").bits(0..32), value("n").bits(32..64)])
        .value(after("three"), both, &[value("n").taken(0..16).bits(0..16)])
        .value(after("three"), part, &[Provider::pointer(id("out"))])
        .value(after("three"), part, &[Provider::pointer(id("out")).plus(16).in_space(1)])
        .value(
            after("three"),
            part,
            &[Provider::expression(
                id("n"),
                &[DebugOperation::Constu(3), DebugOperation::Plus, DebugOperation::StackValue],
            )],
        )
        .scope(after("three"), call)
        .line(after("three"), line(22, 9))
        .value(after("three"), call_x, &[value("more")])
        .scope(after("twice"), in_call)
        .value(after("twice"), call_y, &[value("twice")])
        .scope(after("again"), deep)
        .value(after("again"), deep_x, &[value("again")])
        .value(after("again"), call_y, &[])
        .scope(start("last"), module.function(run).scope)
        .line(start("last"), line(39, 3))
        .no_scope(Position::before(id("run"), id("last"), 2))
        .no_line(Position::before(id("run"), id("last"), 2))
        .line(Position::start(id("area"), id("single")), line(8, 30))
        .value(Position::start(id("area"), id("single")), h, &[value("h")]);
    Everything { words, module, binding }
}

/// The instructions and the omissions, as text.
fn shown(attached: &Attached) -> String {
    let facts = read(&attached.words).expect("reads");
    let mut text = print(&facts, TextOptions::default());
    text += "\nomitted:\n";
    for left in &attached.omissions {
        text += &format!("  {left}\n");
    }
    text
}

#[test]
fn each_mode_is_printed() {
    let everything = everything();
    let all = modes();
    let [exact, validating, translator, shader, _, opencl, _, shader200, _, translator200] = &all;
    let names = [
        ("exact", exact),
        ("validating", validating),
        ("translator", translator),
        ("shader", shader),
        ("opencl", opencl),
        ("shader200", shader200),
        ("translator200", translator200),
    ];
    for (name, mode) in names {
        check_golden(&format!("spirv/modes/{name}.txt"), &shown(&everything.attached(mode)));
    }
}

#[test]
fn everything_is_checked() {
    let everything = everything();
    for mode in modes() {
        let attached = everything.attached(&mode);
        let report = attached.check(&everything.module, &everything.binding, &mode).expect("reads");
        assert!(report.is_clean(), "{} {:?}: {report}", mode.name(), mode.set());
        assert_eq!(attached.detach().expect("is whole"), everything.words);
    }
}

/// All instructions of `OpenCL.DebugInfo.100` are emitted; of the other sets, the described ones.
#[test]
fn every_instruction_is_written() {
    let everything = everything();
    for set in Set::ALL {
        let words = everything.attached(&Mode::exact(set)).words;
        let facts = read(&words).expect("reads");
        let is_written = |name: InstructionName| facts.iter().any(|fact| fact.name() == Some(name));
        // The model has neither matrices nor these vectors.
        let is_described = |name| {
            !matches!(
                name,
                InstructionName::TypeMatrix
                    | InstructionName::TypeVectorId
                    | InstructionName::TypeCooperativeMatrix
            ) && !matches!(
                name,
                InstructionName::TypeArrayDynamic | InstructionName::TypeString | InstructionName::Module
            )
        };
        let missing: Vec<_> = InstructionName::ALL
            .iter()
            .copied()
            .filter(|name| name.number(set).is_some() && !is_written(*name) && is_described(*name))
            .collect();
        assert_eq!(missing, [], "{set:?}");
    }
}

#[test]
fn tools_take_what_is_for_them() {
    let everything = everything();
    for mode in validated() {
        let words = everything.attached(&mode).words;
        let Some(output) = complaints(&words) else { return };
        assert_eq!(output, "", "{:?}", mode.set());
        let Some(words) = optimized(&words) else { return };
        assert_eq!(complaints(&words.expect("is optimized")), Some(String::new()));
    }
    for mode in modes() {
        let words = everything.attached(&mode).words;
        assert_eq!(round(&words), Some(words.clone()), "{} {:?}", mode.name(), mode.set());
    }
}

/// Known deviations of LLVM's translator: it drops the size of a reference, reads an enumeration with a type as an
/// `enum class` with unsigned numbers, and keeps the sign of opaque types.
#[test]
fn the_translator_reads_everything_back() {
    let words = everything().attached(&Mode::translator()).words;
    let Some(program) = read_back(&words) else { return };
    check_golden("spirv/modes/read_back.txt", &program.to_string());
    // The preset for drivers keeps what both tools take.
    let taken = read_back(&everything().attached(&Mode::opencl()).words).expect("llvm-spirv is there");
    assert_eq!(taken.functions.len(), program.functions.len());
}
