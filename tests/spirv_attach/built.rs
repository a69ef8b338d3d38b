//! Modules built from nothing.

use eitri::spirv::{Id, Mode, ModuleBuilder, ModulePart, Position, Provider, Set, read, validate};
use pretty_assertions::assert_eq;

use crate::spirv_attach::assemble::assemble;
use crate::spirv_attach::spirv_val::SPIRV_VAL;
use crate::spirv_attach::support::{Case, bytes};
use crate::spirv_attach::tools::Folder;

/// The words equal those of the text, for any order of calls for different sections.
#[test]
fn the_words_of_a_text() {
    let text = r#"
               OpCapability Addresses
               OpCapability Kernel
               OpExtension "SPV_KHR_non_semantic_info"
          %1 = OpExtInstImport "OpenCL.std"
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %9 "run"
               OpExecutionMode %9 LocalSize 1 1 1
          %2 = OpString "text"
               OpName %9 "run"
               OpDecorate %3 19
          %3 = OpTypeVoid
          %4 = OpTypeInt 32 0
          %5 = OpTypeFunction %3 %4
          %6 = OpConstant %4 7
          %7 = OpTypePointer CrossWorkgroup %4
          %8 = OpVariable %7 CrossWorkgroup %6
          %9 = OpFunction %3 None %5
         %10 = OpFunctionParameter %4
         %11 = OpLabel
         %12 = OpIAdd %4 %10 %6
               OpStore %8 %12
               OpBranch %13
         %13 = OpLabel
               OpReturn
               OpFunctionEnd
    "#;
    // The assembler allocates ids in the order of first use.
    let names = (1..=13).map(|number| format!("%{number}"));
    let expected = assemble(text);
    let id = |name: &str| Id(expected.ids[name]);
    let ids: Vec<Id> = names.map(|name| id(&name)).collect();

    let mut given: Vec<Id> = Vec::new();
    let mut s = ModuleBuilder::new(1, 1);
    for _ in &ids {
        given.push(s.id().expect("an id"));
    }
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!(given, sorted);
    let build = |s: &mut ModuleBuilder| -> eitri::Result<()> {
        let [import, string, void, uint, kind, seven, pointer, variable, run, x, first, sum, last] =
            ids[..].try_into().expect("there are so many");
        s.global_as(void, 19, None, &[])?.global_as(uint, 21, None, &[32, 0])?;
        s.global_as(kind, 33, None, &[void.0, uint.0])?;
        s.global_as(seven, 43, Some(uint), &[7])?;
        s.global_as(pointer, 32, None, &[5, uint.0])?.global_as(
            variable,
            59,
            Some(pointer),
            &[5, seven.0],
        )?;
        s.function_as(run, void, 0, kind)?;
        s.parameter_as(x, uint)?;
        s.block_as(first)?.result_as(sum, 128, uint, &[x.0, seven.0])?.effect(62, &[variable.0, sum.0])?;
        s.effect(249, &[last.0])?.block_as(last)?.effect(253, &[])?.end_function()?;
        s.annotate(ModulePart::Decorations, 71, &[void.0, 19])?.name(run, "run")?;
        s.annotate(ModulePart::Strings, 7, &[string.0, u32::from_le_bytes(*b"text"), 0])?;
        s.annotate(ModulePart::ExecutionModes, 16, &[run.0, 17, 1, 1, 1])?.entry_point(6, run, "run", &[])?;
        let set = [b"Open", b"CL.s", b"td\0\0"].map(|text| u32::from_le_bytes(*text));
        s.annotate(ModulePart::Imports, 11, &[import.0, set[0], set[1], set[2]])?;
        s.extension("SPV_KHR_non_semantic_info")?;
        s.memory_model(2, 2).capability(4).capability(6);
        Ok(())
    };
    build(&mut s).expect("is built");
    assert_eq!(s.finish().expect("is whole"), expected.words);
}

/// Equal items are written once.
#[test]
fn the_same_is_written_once() {
    let mut s = ModuleBuilder::new(1, 0);
    let make = |s: &mut ModuleBuilder| {
        let uint = s.global(21, None, &[32, 0]).expect("a type");
        let int = s.global(21, None, &[32, 1]).expect("a type");
        let seven = s.global(43, Some(uint), &[7]).expect("a constant");
        let also = s.global(43, Some(int), &[7]).expect("a constant");
        [uint, int, seven, also, s.string("a").expect("a string"), s.import("a").expect("a set")]
    };
    let first = make(&mut s);
    assert_eq!(make(&mut s), first);
    assert_eq!(first.map(|id| id.0), [1, 2, 3, 4, 5, 6]);
    let words = s.finish().expect("is whole");
    assert_eq!(words[3], 7);
    assert_eq!(words.len(), 5 + 4 + 4 + 4 + 4 + 3 + 3);
}

/// Positions from the builder are valid for attaching.
#[test]
fn positions() {
    let case = Case::new();
    let mut s = ModuleBuilder::new(1, 1);
    s.capability(4).capability(5).capability(6).memory_model(2, 2);
    let build = |s: &mut ModuleBuilder| -> eitri::Result<_> {
        let uint = s.global(21, None, &[32, 0])?;
        let kind = s.global(33, None, &[uint.0, uint.0])?;
        let function = s.function(uint, 0, kind)?;
        let n = s.parameter(uint)?;
        let block = s.block()?;
        let start = s.position()?;
        assert_eq!(start, Position::before(function, block, 0));
        let sum = s.result(128, uint, &[n.0, n.0])?;
        let after = s.position()?;
        assert_eq!(after, Position::before(function, block, 1));
        s.effect(254, &[sum.0])?.end_function()?;
        Ok((function, n, start, sum, after))
    };
    let (function, n, start, sum, after) = build(&mut s).expect("is built");
    let mut binding = eitri::spirv::Binding::new();
    binding
        .function(case.scale, function)
        .line(start, case.line(3))
        .value(start, case.n, &[Provider::value(n)])
        .value(after, case.sum, &[Provider::value(sum)]);
    let folder = Folder::new();
    for set in Set::ALL {
        let attached = s.clone().attach(&case.module, &binding, &Mode::validating(set)).expect("is attached");
        assert_eq!(attached.detach().expect("is whole"), s.clone().finish().expect("is whole"));
        let report = validate(&read(&attached.words).expect("reads"));
        assert!(report.is_clean(), "{report}");
        if let Some(ran) = SPIRV_VAL.run(&[&folder.file("module.spv", bytes(&attached.words))]) {
            ran.clean();
        }
    }
}

#[test]
fn invalid_modules_are_refused() {
    let mut s = ModuleBuilder::new(1, 0);
    let error = |result: eitri::Result<()>| result.expect_err("is refused").to_string();
    let id = Id(1);
    let outside = "instruction with opcode 253 is outside a block";
    let before_blocks = "parameter %9 is outside a function, or after its first block";
    assert_eq!(error(s.effect(253, &[]).map(drop)), outside);
    assert_eq!(error(s.position().map(drop)), "no block is open; a position is in an open block");
    assert_eq!(error(s.block_as(Id(8)).map(drop)), "block %8 is outside a function");
    assert_eq!(error(s.parameter_as(Id(9), id).map(drop)), before_blocks);
    assert_eq!(
        error(s.end_function().map(drop)),
        "no function is open; `end_function` ends an open function"
    );
    assert_eq!(error(s.string("a\0b").map(drop)), "the text \"a\\0b\" contains a zero byte");
    assert_eq!(
        error(s.string(&"a".repeat(300_000)).map(drop)),
        "an instruction has 75003 words; at most 65535 are possible"
    );
    let function = s.function(id, 0, id).expect("a function");
    assert_eq!(
        error(s.function(id, 0, id).map(drop)),
        format!("function {function} is still open; `end_function` ends it")
    );
    let block = s.block().expect("a block");
    assert_eq!(error(s.block().map(drop)), format!("block {block} is still open; a terminator ends it"));
    assert_eq!(
        error(s.end_function().map(drop)),
        format!("block {block} is still open; a terminator ends it")
    );
    assert_eq!(error(s.parameter_as(Id(9), id).map(drop)), before_blocks);
    s.effect(253, &[]).expect("ends the block");
    assert_eq!(error(s.effect(253, &[]).map(drop)), outside);
    assert_eq!(
        error(s.clone().finish().map(drop)),
        format!("function {function} is still open; `end_function` ends it")
    );
    s.end_function().expect("ends");
    assert!(s.finish().is_ok());
}
