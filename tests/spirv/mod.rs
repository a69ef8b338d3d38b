//! SPIR-V debug instructions: comparison of the table with the specifications; reading, text and validation; kernels
//! with attached instructions, read by other tools.

use crate::common::assemble;
mod attached;
mod cases;
use crate::common;
mod consumers;
mod counts;
mod described;
mod evaluate;
mod foreign;
mod golden;
mod grammar;
mod import;
mod judged;
mod kernels;
mod later;
mod lavapipe;
mod lint;
mod lint_seeded;
mod listing;
mod matrices;
mod metadata;
mod mutants;
mod naga;
mod printed;
mod producers;
mod random;
mod readme;
mod rules;
mod taken;
use crate::common::tools;
mod unknown;
mod unusual;
mod values;
mod words;

use tools::Tool;

/// A module with every instruction of `OpenCL.DebugInfo.100`.
const OPENCL: &str = include_str!("modules/opencl.spvasm");

/// A module with every instruction of `NonSemantic.Shader.DebugInfo.100`.
const SHADER: &str = include_str!("modules/shader.spvasm");

/// The module of version 101, with its additions.
fn shader101() -> String {
    let edits = [
        ("NonSemantic.Shader.DebugInfo.100", "NonSemantic.Shader.DebugInfo.101"),
        ("%fntype = ", "%uformat = OpConstant %uint 4214\n%spec = OpSpecConstant %uint 16\n%fntype = "),
        (
            "%typedef = ",
            "%float = OpExtInst %void %dbg DebugTypeBasic %n_name %u8 %u3 %u0 %uformat\n\
             %long = OpExtInst %void %dbg DebugTypeVectorIdEXT %float %spec\n\
             %tile = OpExtInst %void %dbg DebugTypeCooperativeMatrixKHR %float %u3 %spec %u8 %u2\n\
             %typedef = ",
        ),
    ];
    edits.iter().fold(SHADER.to_owned(), |text, (find, replace)| text.replacen(find, replace, 1))
}

/// The module of version 200, with its additions.
fn shader200() -> String {
    let edits = [
        ("NonSemantic.Shader.DebugInfo.100", "NonSemantic.Shader.DebugInfo.200"),
        ("%n_build = ", "%n_sum = OpString \"313db1b2d20fbb203ed251545745787c\"\n%n_build = "),
        ("%fntype = ", "%l100 = OpConstant %ulong 100\n%ubits = OpConstant %uint 262146\n%fntype = "),
        ("DebugSource %more", "DebugSource %more %u0 %n_sum"),
        ("DebugSource %file %text", "DebugSource %file %none %none %text"),
        ("DebugCompilationUnit %u1 %u4 %source %u5", "DebugCompilationUnit %u1 %u4 %source %u5 %n_name"),
        (
            "DebugTypeArray %int %u4 %length",
            "DebugTypeArray %int %rows %columns\n\
             %expression = OpExtInst %void %dbg DebugExpression\n\
             %dynamic = OpExtInst %void %dbg DebugTypeArrayDynamic %int %expression %none %length %u1 %columns\n\
             %string = OpExtInst %void %dbg DebugTypeString %n_name %none %length %u96 %expression %u32\n\
             %complex = OpExtInst %void %dbg DebugTypeBasic %n_name %u32 %u8 %u0",
        ),
        (
            "%array = ",
            "%rows = OpExtInst %void %dbg DebugTypeSubrange %u1 %u5 %none\n\
             %columns = OpExtInst %void %dbg DebugTypeSubrange %none %none %length %u4\n\
             %array = ",
        ),
        (
            "DebugTypeMember %n_name %int %source %u4 %u2 %u32 %u32 %u2",
            "DebugTypeMember %n_name %int %source %u4 %u2 %u32 %u3 %ubits",
        ),
        (
            "DebugFunction %n_other %function %source %u5 %u1 %unit %n_other %u8 %u6",
            "DebugFunction %n_other %function %source %u5 %u1 %unit %n_other %u8 %u6 %none %n_name",
        ),
        (
            "DebugLexicalBlock %source %u6 %u1 %unit %n_name",
            "DebugLexicalBlock %source %u6 %u1 %unit %n_name %true\n\
             %module = OpExtInst %void %dbg DebugModule %n_name %source %u6 %unit %empty %n_path %empty %u0",
        ),
        ("DebugInlinedAt %u7 %caller", "DebugInlinedAt %u7 %u5 %caller"),
        ("DebugInlinedAt %u7 %block %outer", "DebugInlinedAt %u7 %u0 %block %outer"),
        (
            "%plain = ",
            "%constant = OpExtInst %void %dbg DebugOperation %u10 %u32 %u4\n\
             %shifted = OpExtInst %void %dbg DebugOperation %u96\n\
             %other_value = OpExtInst %void %dbg DebugExpression %constant %stack\n%plain = ",
        ),
    ];
    edits.iter().fold(SHADER.to_owned(), |text, (find, replace)| {
        assert!(text.contains(find), "{find}");
        text.replacen(find, replace, 1)
    })
}

const SPIRV_AS: Tool = Tool::new("spirv-as", "spirv-tools");
const SPIRV_DIS: Tool = Tool::new("spirv-dis", "spirv-tools");
const SPIRV_VAL: Tool = Tool::new("spirv-val", "spirv-tools");

/// Words as bytes.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
