//! SPIR-V debug instructions: comparison of the table with the specifications; reading, text and validation; kernels
//! with attached instructions, read by other tools.
#![cfg(feature = "spirv")]

mod assemble;
mod attached;
mod cases;
#[path = "../common/mod.rs"]
mod common;
mod consumers;
mod counts;
mod described;
mod evaluate;
mod foreign;
mod golden;
mod import;
mod kernels;
mod listed;
mod listing;
mod metadata;
mod printed;
mod producers;
mod random;
mod readme;
mod rules;
mod taken;
#[path = "../common/tools.rs"]
mod tools;
mod unknown;
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

const SPIRV_AS: Tool = Tool::new("spirv-as", "spirv-tools");
const SPIRV_DIS: Tool = Tool::new("spirv-dis", "spirv-tools");
const SPIRV_VAL: Tool = Tool::new("spirv-val", "spirv-tools");

/// Words as bytes.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
