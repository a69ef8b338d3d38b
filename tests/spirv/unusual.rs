//! Valid modules of forms that few producers write: described, attached, imported and stripped.

use eitri::build::Builder;
use eitri::model::SourceLine;
use eitri::model::TypeKind;
use eitri::omission::{Property, Reason, Subject, Unimported};
use eitri::spirv::{
    Attached, Binding, DescribedModule, Field, Id, Instruction, InstructionName, Mode, ModuleSource, Set,
    ValidationRule, Words, attach, describe, from_bytes, import, read, strip, strip_unused, validate,
};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use crate::spirv::attached::{all, complaints, modes};
use crate::spirv::naga;

macro_rules! module {
    ($name:literal) => {
        from_bytes(include_bytes!(concat!("modules/", $name, ".spv"))).expect("is a module")
    };
}

/// Describes a module and attaches the description in every mode, which `check` finds right. Returns the description,
/// and the output for Vulkan.
fn attached(words: &[u32]) -> (DescribedModule, Attached) {
    let described = describe(words, &ModuleSource::default()).expect("is a module");
    for mode in modes() {
        let attached = attach(&described.words, &described.module, &described.binding, &mode);
        let attached = attached.unwrap_or_else(|error| panic!("{}: {error}", mode.name()));
        let checked = attached.check(&described.module, &described.binding, &mode).expect("reads");
        assert!(checked.is_clean(), "{}: {checked}", mode.name());
    }
    let vulkan = attach(&described.words, &described.module, &described.binding, &Mode::vulkan());
    (described, vulkan.expect("is attached"))
}

fn opcodes(words: &[u32]) -> Vec<u16> {
    Words::new(words).expect("is a module").instructions().map(|it| it.opcode()).collect()
}

/// Numbers of the lines in functions; `None` for an instruction that ends a line.
fn lines(words: &[u32]) -> Vec<Option<(u64, u64)>> {
    let facts = read(words).expect("reads");
    let number = |fact: &_, field| facts.number(fact, field).expect("a constant");
    let all = facts.iter().filter_map(|fact| match fact.name() {
        Some(InstructionName::Line) => {
            Some(Some((number(&fact, Field::LineStart), number(&fact, Field::ColumnStart))))
        }
        Some(InstructionName::NoLine) => Some(None),
        _ => None,
    });
    all.collect()
}

/// Names of the instructions for variables, in the order of the words.
fn names(words: &[u32], instruction: InstructionName) -> Vec<String> {
    let facts = read(words).expect("reads");
    let all = facts.iter().filter(|fact| fact.name() == Some(instruction));
    all.map(|fact| facts.layout().string(fact.id(Field::Name).expect("a name")).expect("a string")).collect()
}

/// `OpLine 99` in a text of 4 lines, and column 50 in a line of 11 bytes: the module is attached without them.
#[test]
fn line_outside_the_text_is_omitted() {
    let (described, vulkan) = attached(&module!("line_beyond_text"));
    let [line, column] = &described.omissions[..] else { panic!("{:?}", described.omissions) };
    assert_eq!((line.property, column.property), (Property::Line, Property::Line));
    assert!(matches!(line.subject, Subject::Function(_)));
    assert!(matches!(line.reason, Reason::LineBeyondText(_, 99, 4)), "{line}");
    assert!(matches!(column.reason, Reason::ColumnBeyondText(_, 2, 50, 11)), "{column}");
    assert_eq!(lines(&vulkan.words), [Some((2, 0))]);
    let (described, vulkan) = attached(&module!("column_beyond_text"));
    let [column] = &described.omissions[..] else { panic!("{:?}", described.omissions) };
    assert!(matches!(column.reason, Reason::ColumnBeyondText(_, 2, 50, 11)), "{column}");
    assert_eq!(lines(&vulkan.words), [Some((3, 0)), Some((2, 0))]);
}

/// `saxpy.cl` of clang 15 at `-O0` with `-fno-discard-value-names`: variables of the source are the parameters, which clang
/// stores to `x.addr`, `y.addr`, `a.addr` and `n.addr`, and the four local variables. The names `call`, `conv`, `cmp`,
/// `idxprom`, `arrayidx`, `idxprom2`, `arrayidx3`, `idxprom4` and `arrayidx5` are of temporaries.
#[test]
fn names_of_temporaries_of_llvm_are_not_variables() {
    let (described, vulkan) = attached(&module!("llvm_names"));
    let mut variables = names(&vulkan.words, InstructionName::LocalVariable);
    // The entry point calls the function with parameters of the same names.
    variables.sort_unstable();
    assert_eq!(variables, ["a", "a", "i", "n", "n", "r", "x", "x", "xi", "y", "y", "yi"]);
    let [omission] = &described.omissions[..] else { panic!("{:?}", described.omissions) };
    assert!(matches!(omission.subject, Subject::Function(_)));
    assert_eq!(omission.reason, Reason::Temporaries(9));
    assert_eq!(
        omission.to_string(),
        "unit `source`, function `saxpy`: 9 names that LLVM generated for temporaries: not described"
    );
    let facts = read(&vulkan.words).expect("reads");
    let declared = facts.iter().filter(|fact| fact.name() == Some(InstructionName::Declare)).count();
    let values = facts.iter().filter(|fact| fact.name() == Some(InstructionName::Value)).count();
    assert_eq!((declared, values), (8, 4));
}

/// A shader with buffer references: it is one for Vulkan, and the reference is a variable with an address.
#[test]
fn module_with_physical_storage_buffers_is_a_shader() {
    let (described, vulkan) = attached(&module!("physical_storage_buffer"));
    assert!(described.module.target().is_shader());
    assert_eq!(described.omissions, []);
    assert_eq!(names(&vulkan.words, InstructionName::LocalVariable), ["cur"]);
    assert_eq!(names(&vulkan.words, InstructionName::GlobalVariable), ["pc"]);
    if let Some(complaints) = complaints(&vulkan.words) {
        assert_eq!(complaints, "");
    }
}

/// `OpSampledImage` has a name, and no debug instruction may reference its result.
#[test]
fn result_of_sampled_image_is_not_described() {
    let words = module!("sampled_image");
    let (described, vulkan) = attached(&words);
    let [omission] = &described.omissions[..] else { panic!("{:?}", described.omissions) };
    assert!(matches!(omission.reason, Reason::SampledImage(_)), "{omission}");
    assert_eq!(omission.names.object, "combined");
    assert_eq!(names(&vulkan.words, InstructionName::LocalVariable), ["px"]);
    assert_eq!(complaints(&vulkan.words), complaints(&strip(&words).expect("is a module")));
}

/// The extensions with a condition belong to the section of the others, before imported sets and strings.
#[test]
fn sections_follow_conditional_extensions() {
    let (_, vulkan) = attached(&module!("conditional_extension"));
    let capability = 6250;
    let extension = 10;
    let conditional = 6248;
    let expected = [17, 17, 17, 17, 17, capability, extension, conditional, extension, 11, 14, 7];
    assert_eq!(opcodes(&vulkan.words)[..expected.len()], expected);
}

/// A call whose scope is the unit.
#[test]
fn call_inlined_into_a_unit_has_the_scope_of_the_unit() {
    let words = module!("inlined_into_unit");
    let facts = read(&words).expect("reads");
    let imported = import(&facts, &Target::kernel()).expect("can be described");
    let plain = strip(&words).expect("is a module");
    let mut calls = 0;
    for mode in modes() {
        let attached = attach(&plain, &imported.module, &imported.binding, &mode);
        let attached = attached.unwrap_or_else(|error| panic!("{}: {error}", mode.name()));
        let facts = read(&attached.words).expect("reads");
        for at in facts.iter().filter(|fact| fact.name() == Some(InstructionName::InlinedAt)) {
            let scope = facts.get(at.id(Field::Scope).expect("a scope")).expect("a debug instruction");
            assert_eq!(scope.name(), Some(InstructionName::CompilationUnit), "{}", mode.name());
            calls += 1;
        }
        let checked = attached.check(&imported.module, &imported.binding, &mode).expect("reads");
        assert!(checked.is_clean(), "{}: {checked}", mode.name());
    }
    assert_eq!(calls, modes().len());
}

/// A function whose line is beyond the text of 4 lines, with a body line in the text, beyond it, or without one.
#[test]
fn function_beyond_the_text_is_without_lines() {
    let words = strip(&module!("line_beyond_text")).expect("is a module");
    let code = Words::new(&words).expect("is a module").instructions().find(|it| it.opcode() == 54);
    let code = code.and_then(|it| it.result()).expect("a function");
    for (line, column, body_line) in [(99, 0, 2), (99, 3, 100), (99, 0, 0), (2, 50, 2), (2, 0, 99)] {
        let mut m = Builder::new(Target::shader());
        let unit = m.unit("a.comp");
        let file = m.primary_file(unit).expect("a file");
        m.file_source(file, "void main() {\n int v = 1;\n}\n").expect("a text");
        let mut function = m.function(unit, "main").expect("a function");
        let line = SourceLine::new(file, line).column(column);
        let function = function.external().kernel().declared(line).body_line(body_line).id();
        let module = m.finish().expect("is whole");
        let mut binding = Binding::new();
        binding.function(function, code);
        for mode in modes() {
            let attached = attach(&words, &module, &binding, &mode).expect("is attached");
            let checked = attached.check(&module, &binding, &mode).expect("reads");
            assert!(checked.is_clean(), "{line:?}, {body_line}, {}: {checked}", mode.name());
            let is_beyond =
                |reason: &Reason| matches!(reason, Reason::LineBeyondText(..) | Reason::ColumnBeyondText(..));
            assert!(attached.omissions.iter().any(|omission| is_beyond(&omission.reason)));
        }
    }
}

/// `buf` is an `OpUntypedVariableKHR` with the data type `Block`, which spirv-val refuses as that of a
/// DebugGlobalVariable.
#[test]
fn untyped_variable_is_listed() {
    let (described, _) = attached(&module!("untyped_variable"));
    let [omission] = &described.omissions[..] else { panic!("{:?}", described.omissions) };
    assert_eq!(omission.names.object, "buf");
}

/// A bfloat16, two 8-bit floats, a vector of 16 elements, a cooperative matrix; a block without an instance name, which has
/// the name of the block. Version 100 has no operand for the formats.
#[test]
fn types_without_an_encoding_have_a_name() {
    let (described, vulkan) = attached(&module!("encoded_floats"));
    assert_eq!(described.omissions, []);
    let mode = Mode::validating(Set::Shader101);
    let newer = attach(&described.words, &described.module, &described.binding, &mode).expect("is attached");
    assert_eq!(newer.omissions, []);
    let facts = read(&newer.words).expect("reads");
    let matrix = facts
        .iter()
        .find(|fact| fact.name() == Some(InstructionName::TypeCooperativeMatrix))
        .expect("a matrix");
    let numbers = [Field::MatrixScope, Field::Rows, Field::Columns, Field::Use];
    assert_eq!(numbers.map(|field| facts.number(&matrix, field)), [Some(3), Some(16), Some(16), Some(0)]);
    let globals = names(&vulkan.words, InstructionName::GlobalVariable);
    assert_eq!(globals, ["bf", "e4", "e5", "tile", "long", "Params"]);
    let types = names(&vulkan.words, InstructionName::TypeBasic);
    assert!(types.iter().all(|name| name != "float16" && name != "half"), "{types:?}");
    let named = read(&vulkan.words).expect("reads");
    let module = &described.module;
    let has_16 = |kind: &TypeKind| matches!(kind, TypeKind::Vector { count: 16, .. });
    assert!(module.types().any(|(_, ty)| has_16(ty.kind())));
    let omitted: Vec<String> = vulkan.omissions.iter().map(ToString::to_string).collect();
    for (name, encoding) in
        [("bfloat16_t", "BFloat16"), ("floate4m3_t", "Float8E4M3"), ("floate5m2_t", "Float8E5M2")]
    {
        let expected = format!("type `{name}`: encoding: {encoding} is encoded as Unspecified");
        assert!(omitted.iter().any(|omission| omission.contains(&expected)), "{omitted:?}");
    }
    for name in ["bfloat16_t", "floate4m3_t", "floate5m2_t", "cooperative matrix"] {
        let has = |id| named.layout().string(id).is_some_and(|text| text.contains(name));
        assert!(named.iter().any(|fact| fact.id(Field::Name).is_some_and(has)), "{name}");
    }
}

/// The number of rows is a specialization constant, opcode 50. A description has numbers only.
#[test]
fn cooperative_matrix_with_a_specialization_constant_is_listed() {
    let mut words = module!("encoded_floats");
    let is_rows = |it: &Instruction<'_>| it.opcode() == 43 && it.operands() == [16];
    let rows = Words::new(&words).expect("is a module").instructions().find(is_rows).expect("a constant").at;
    words[rows] = words[rows] & 0xffff_0000 | 50;
    let (described, _) = attached(&words);
    // The vector has this constant as well.
    let [matrix, vector] = &described.omissions[..] else { panic!("{:?}", described.omissions) };
    for omission in [matrix, vector] {
        assert!(matches!(omission.reason, Reason::Specialized(_)), "{omission}");
        assert_eq!(omission.property, Property::Kind);
    }
    assert!(matrix.to_string().contains("type `cooperative matrix`: kind: %"), "{matrix}");
}

/// The text of `line_beyond_text`, with declarations: the lines of a block, a member and a variable are known from it.
#[test]
fn lines_of_globals_and_members_come_from_the_text() {
    let text = "#version 450\n// float scale;\nlayout(binding = 0) buffer Params {\n    float scale;\n    \
                /* bf */ uint bf;\n};\n\nbfloat16_t bf;\nfloat8 f(float e4) { return e4; }\n";
    let source = {
        let mut source = ModuleSource::default();
        source.path = Some("a.comp".into());
        source.text = Some(text.into());
        source.language = None;
        source
    };
    let described = describe(&module!("encoded_floats"), &source).expect("is a module");
    let module = &described.module;
    let line = |name: &str| {
        let found = module
            .variables()
            .find(|(id, _)| module.string(module.variable(*id).name.expect("a name")) == name);
        found.expect("a variable").1.line.map(|line| line.line)
    };
    assert_eq!((line("Params"), line("bf"), line("e4")), (Some(3), Some(8), None));
    let attached =
        attach(&described.words, module, &described.binding, &Mode::vulkan()).expect("is attached");
    let facts = read(&attached.words).expect("reads");
    let members = facts.iter().filter(|fact| fact.name() == Some(InstructionName::TypeMember));
    let lines: Vec<_> = members.map(|fact| facts.number(&fact, Field::Line)).collect();
    assert_eq!(lines, [Some(4), Some(5)]);
}

/// One file has a checksum, as its text in the form of LLVM's translator; the file of an `OpLine` has none.
#[test]
fn checksum_of_one_file_is_omitted() {
    let words = module!("checksum_of_one_file");
    let facts = read(&words).expect("reads");
    let imported = import(&facts, &Target::kernel()).expect("can be described");
    let is_checksum = |reason: &Reason| *reason == Reason::Unimported(Unimported::PartialChecksums);
    assert!(
        imported.omissions.iter().any(|omission| is_checksum(&omission.reason)),
        "{:?}",
        imported.omissions
    );
    assert_eq!(imported.module.files().count(), 2);
}

fn instruction(opcode: u16, operands: &[u32]) -> Vec<u32> {
    let first = (operands.len() as u32 + 1) << 16 | u32::from(opcode);
    [&[first], operands].concat()
}

/// An instruction that ends in a text.
fn with_text(opcode: u16, operands: &[u32], text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(text.len() / 4 * 4 + 4, 0);
    let words = bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
    instruction(opcode, &operands.iter().copied().chain(words).collect::<Vec<_>>())
}

fn module_of(instructions: &[Vec<u32>]) -> Vec<u32> {
    [vec![0x0723_0203, 0x0001_0600, 0, 100, 0], instructions.concat()].concat()
}

/// A shader whose function has the given instructions, with the variables `x` and `y`, the ids 4 and 61. The ids 5, 6, 7
/// and 9 are `u32`, 32, a pointer to `u32`, and true.
fn shader(body: &[Vec<u32>]) -> Vec<u32> {
    let start = [
        instruction(17, &[1]),
        instruction(17, &[4473]),
        with_text(10, &[], "SPV_KHR_untyped_pointers"),
        instruction(14, &[0, 1]),
        with_text(15, &[5, 50], "main"),
        instruction(16, &[50, 17, 1, 1, 1]),
        with_text(7, &[10], "a.comp"),
        instruction(3, &[2, 450, 10]),
        with_text(5, &[50], "main"),
        with_text(5, &[4], "x"),
        with_text(5, &[61], "y"),
        instruction(19, &[2]),
        instruction(33, &[20, 2]),
        instruction(21, &[5, 32, 0]),
        instruction(32, &[7, 7, 5]),
        instruction(4417, &[8, 7]),
        instruction(43, &[5, 6, 32]),
        instruction(20, &[11]),
        instruction(41, &[11, 9]),
        instruction(54, &[2, 50, 0, 20]),
        instruction(248, &[51]),
    ];
    let end = [instruction(253, &[]), instruction(56, &[])];
    module_of(&[&start, body, &end].concat())
}

/// An `OpUntypedVariableKHR` is among the first instructions of a block, as an `OpVariable` is.
#[test]
fn untyped_variable_of_a_function_is_described() {
    let variable = instruction(4418, &[8, 4, 7, 5]);
    let (described, _) = attached(&shader(&[variable, instruction(62, &[4, 6])]));
    assert!(described.omissions.is_empty(), "{:?}", described.omissions);
    assert_eq!(described.module.variables().count(), 1);
}

/// The alignment of a load is a literal, which can equal the id of a variable, here 4.
#[test]
fn literals_are_no_uses_of_variables() {
    let described = |alignment: u32| {
        let body = [
            instruction(59, &[7, 4, 7]),
            instruction(59, &[7, 61, 7]),
            instruction(61, &[5, 70, 61, 2, alignment]),
            instruction(247, &[53, 0]),
            instruction(250, &[9, 52, 53]),
            instruction(248, &[52]),
            instruction(62, &[4, 6]),
            instruction(249, &[53]),
            instruction(248, &[53]),
        ];
        describe(&shader(&body), &ModuleSource::default()).expect("is a module").module.to_json()
    };
    assert_eq!(described(4), described(8));
}

/// `OpAliasDomainDeclINTEL` has a string as its name (SPV_INTEL_memory_access_aliasing).
#[test]
fn strings_of_other_instructions_stay() {
    let words = module_of(&[
        instruction(17, &[6]),
        instruction(17, &[4]),
        instruction(17, &[5910]),
        with_text(10, &[], "SPV_INTEL_memory_access_aliasing"),
        with_text(11, &[1], "OpenCL.DebugInfo.100"),
        instruction(14, &[2, 2]),
        with_text(7, &[10], "a.cl"),
        with_text(7, &[11], "domain"),
        instruction(19, &[2]),
        instruction(5911, &[12, 11]),
        instruction(12, &[2, 3, 1, 35, 10]),
    ]);
    for stripped in [strip(&words), strip_unused(&words)] {
        let stripped = stripped.expect("is a module");
        let strings = read(&stripped).expect("reads");
        let strings = strings.layout().words().instructions().filter(|it| it.opcode() == 7);
        assert_eq!(strings.filter_map(|it| it.result()).collect::<Vec<_>>(), [Id(11)]);
    }
}

/// A number of an enumeration is a constant, which can have a signed type.
#[test]
fn negative_numbers_of_enumerations_are_refused() {
    let findings = |encoding: u32| {
        let words = module_of(&[
            instruction(17, &[1]),
            with_text(10, &[], "SPV_KHR_non_semantic_info"),
            with_text(11, &[1], "NonSemantic.Shader.DebugInfo.100"),
            instruction(14, &[0, 1]),
            with_text(7, &[10], "int"),
            instruction(19, &[2]),
            instruction(21, &[4, 32, 1]),
            instruction(21, &[5, 32, 0]),
            instruction(43, &[5, 6, 32]),
            instruction(43, &[4, 7, encoding]),
            instruction(43, &[5, 8, 0]),
            instruction(12, &[2, 30, 1, 2, 10, 6, 7, 8]),
        ]);
        validate(&read(&words).expect("reads")).findings.iter().map(|it| it.rule).collect::<Vec<_>>()
    };
    assert_eq!(findings(u32::MAX), [ValidationRule::Enumerant]);
    assert_eq!(findings(4), []);
}

/// An annotation without operands names nothing, and stays.
#[test]
fn annotations_without_operands_stay() {
    let string = [4 << 16 | 7, 1, 0x6c2e_6161, 0];
    let line = [4 << 16 | 8, 1, 1, 1];
    for annotation in [5, 6, 71, 72, 332, 5632, 5633].map(|opcode| 1 << 16 | opcode) {
        let words = [&[0x0723_0203, 0x0001_0600, 0, 10, 0][..], &string, &[annotation], &line].concat();
        let expected = [0x0723_0203, 0x0001_0600, 0, 10, 0, annotation];
        assert_eq!(strip(&words).expect("is a module"), expected);
        assert_eq!(strip_unused(&words).expect("is a module")[5..], expected[5..]);
    }
}

/// The version of `OpSource`, 450, is the id of a string that only debug instructions reference.
#[test]
fn string_whose_id_equals_a_literal_is_stripped() {
    let stripped = strip(&module!("literal_equal_to_id")).expect("is a module");
    assert!(!opcodes(&stripped).contains(&7));
}

/// Modules without debug instructions are the same after debug instructions were added and removed.
#[test]
fn stripped_module_is_that_from_before_attaching() {
    let naga = naga::MODULES.iter().map(|(name, bytes)| (name.to_string(), naga::words(bytes)));
    let kernels = all().into_iter().map(|bound| (bound.name, bound.words));
    let unusual = [
        module!("line_beyond_text"),
        module!("physical_storage_buffer"),
        module!("sampled_image"),
        module!("conditional_extension"),
        module!("untyped_variable"),
    ];
    let unusual = (1..).zip(unusual).map(|(number, words)| (format!("module {number}"), words));
    for (name, words) in naga.chain(kernels).chain(unusual) {
        let expected = strip_unused(&words).expect("is a module");
        let described = describe(&words, &ModuleSource::default()).expect("is a module");
        for mode in modes() {
            let attached = attach(&described.words, &described.module, &described.binding, &mode);
            let stripped = strip_unused(&attached.expect("is attached").words).expect("is a module");
            assert!(stripped == expected, "{name}, {} {}", mode.name(), mode.set().name());
        }
        if let (Some(before), Some(after)) = (complaints(&words), complaints(&expected)) {
            assert!(after.is_empty() || !before.is_empty(), "{name}: {after}");
        }
    }
}

/// What is used stays: constants of types, operands and execution modes.
#[test]
fn used_constants_stay() {
    for (name, bytes) in naga::MODULES {
        let words = naga::words(bytes);
        let stripped = strip_unused(&naga::words(bytes)).expect("is a module");
        let defined = |words: &[u32]| -> Vec<Id> {
            Words::new(words).expect("is a module").instructions().filter_map(|it| it.result()).collect()
        };
        let code = |words: &[u32]| -> Vec<u16> {
            let kept = |opcode: &u16| !matches!(opcode, 5..=8 | 10 | 11 | 19..=38 | 41..=46 | 71 | 72 | 317);
            opcodes(words).into_iter().filter(kept).collect()
        };
        assert_eq!(code(&stripped), code(&words), "{name}");
        assert!(defined(&stripped).len() <= defined(&words).len(), "{name}");
    }
}

/// The constant of `workgroup_size` has no use but its decoration, and without it the size has a dimension of 0.
#[test]
fn constant_with_the_size_of_a_workgroup_stays() {
    let words = module!("workgroup_size");
    assert_eq!(strip_unused(&words).expect("is a module"), words);
    if let Some(complaint) = complaints(&words) {
        assert_eq!(complaint, "");
    }
}
