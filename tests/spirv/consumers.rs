//! Support for each instruction in `spirv-val` and `spirv-opt -O` of SPIRV-Tools, and in `llvm-spirv -r`.
//!
//! The inputs are small modules that this crate's validator accepts.

mod cases;

use std::collections::BTreeSet;

use eitri::spirv::{InstructionName, Set, from_bytes, read, validate};

use crate::spirv::assemble::assemble;
use crate::spirv::common::check_golden;
use crate::spirv::metadata::facts::Program;
use crate::spirv::metadata::translated;
use crate::spirv::tools::{Folder, Ran, Tool};
use crate::spirv::{SPIRV_VAL, bytes};
use cases::{CASES, Case};

const SPIRV_OPT: Tool = Tool::new("spirv-opt", "spirv-tools");

/// Target environment of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Machine {
    Kernel,
    Shader,
}

impl Case {
    /// Text of the module in a set.
    fn text(&self, set: Set, machine: Machine) -> String {
        let opencl = set == Set::OpenCl;
        let shader = set.is_shader();
        let function = if opencl { " %main" } else { "" };
        let definition = if shader { "%definition = DebugFunctionDefinition %function %main" } else { "" };
        let language = if machine == Machine::Kernel { 3 } else { 5 };
        let mut debug = format!(
            "%source = DebugSource %file %text\n\
             %unit = DebugCompilationUnit #65536 #5 %source #{language}\n\
             %int = DebugTypeBasic %n_int %u32 #4\n\
             %type = DebugTypeFunction #0 %void\n\
             {}\n\
             %function = DebugFunction %n_main %type %source #1 #1 %unit %empty #8 #1{function}\n\
             %v = DebugLocalVariable %n_v {} %source #2 #1 %function #0\n\
             %plain = DebugExpression\n\
             {}\n\
             %main = OpFunction %void None %fntype\n\
             %entry = OpLabel\n\
             %var = OpVariable %private Function\n\
             {definition}\n\
             %scope = DebugScope %function\n\
             OpLine %file 2 1\n\
             OpStore %var %u4\n\
             {}\n\
             %last = OpLoad %uint %var\n\
             OpStore %global %last\n\
             OpReturn\n\
             OpFunctionEnd\n",
            self.before, self.variable, self.behind, self.body,
        );
        for (from, to) in self.edits {
            debug = debug.replace(from, to);
        }
        if set == Set::Shader200 {
            debug =
                debug.replace(&format!("#5 %source #{language}"), &format!("#5 %source #{language} %empty"));
        }
        if shader {
            debug = for_shader(&debug);
        }
        let (head, storage) = match machine {
            Machine::Kernel => (KERNEL, "CrossWorkgroup"),
            Machine::Shader => (SHADER, "Output"),
        };
        let extension = match (shader, self.of) {
            (true, _) => "OpExtension \"SPV_KHR_non_semantic_info\"\n",
            (false, InstructionName::Module) => {
                "OpCapability DebugInfoModuleINTEL\nOpExtension \"SPV_INTEL_debug_module\"\n"
            }
            (false, _) => "",
        };
        let (head, memory) = head.split_once("OpMemoryModel").expect("a memory model");
        let constants = constants(&debug);
        let debug = instructions(&debug.replace('#', ""));
        format!(
            "{head}{extension}%dbg = OpExtInstImport \"{}\"\nOpMemoryModel{memory}{STRINGS}{constants}\
             %pair = OpConstantComposite %two %u4 %u4\n\
             %private = OpTypePointer Function %uint\n%device = OpTypePointer {storage} %uint\n\
             %global = OpVariable %device {storage}\n{debug}",
            set.name()
        )
    }

    fn words(&self, set: Set, machine: Machine) -> Vec<u32> {
        assemble(&self.text(set, machine)).words
    }
}

const KERNEL: &str = "OpCapability Addresses
OpCapability Linkage
OpCapability Kernel
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\"
";

const SHADER: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main \"main\" %global
";

const STRINGS: &str = "%file = OpString \"/src/a.cl\"
%text = OpString \"line 1  !\nline 2  !\nline 3  !\nline 4  !\nline 5  !\nline 6  !\nline 7  !\nline 8  !\"
%empty = OpString \"\"
%n_int = OpString \"int\"
%n_u = OpString \"uint\"
%n_float = OpString \"float\"
%n_build = OpString \"0123456789abcdef0123456789abcdef\"
%n_main = OpString \"main\"
%n_space = OpString \"space\"
%n_opaque = OpString \"@s\"
%n_a = OpString \"A\"
%n_b = OpString \"B\"
%n_e = OpString \"E\"
%n_f = OpString \"f\"
%n_g = OpString \"g\"
%n_s = OpString \"s\"
%n_t = OpString \"T\"
%n_v = OpString \"v\"
%n_x = OpString \"x\"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%bool = OpTypeBool
%yes = OpConstantTrue %bool
%fntype = OpTypeFunction %void
%two = OpTypeVector %uint 2
";

/// Converts the text to the other set: ids of constants instead of numbers, and other differences.
fn for_shader(text: &str) -> String {
    let line = |line: &str| {
        let mut line = line.replace('#', "%u");
        if line.contains("= DebugFunction ") {
            line = line.replace(" %none", "");
        }
        if line.contains("= DebugTypeBasic ") {
            line += " %u0";
        }
        line + "\n"
    };
    text.lines().map(line).collect()
}

/// Constants that the text refers to, and 0 and 4.
fn constants(text: &str) -> String {
    let mut numbers: BTreeSet<u32> = [0, 4].into();
    for word in text.split_whitespace() {
        numbers.extend(word.strip_prefix("%u").and_then(|number| number.parse::<u32>().ok()));
    }
    numbers.iter().map(|number| format!("%u{number} = OpConstant %uint {number}\n")).collect()
}

/// Expands the abbreviated debug instructions.
fn instructions(text: &str) -> String {
    let line = |line: &str| line.trim().replace(" = Debug", " = OpExtInst %void %dbg Debug") + "\n";
    text.lines().map(line).collect()
}

/// Number of the instruction in the set, if the case applies to the set.
fn number(case: &Case, set: Set) -> Option<u32> {
    // For a later version, only its additions.
    let is_of = case.only.map_or(matches!(set, Set::OpenCl | Set::Shader), |only| only == set);
    case.of.number(set).filter(|_| is_of)
}

/// Result of a program for a module, and its message.
struct Outcome {
    is: String,
    output: Option<String>,
}

impl Outcome {
    fn new(is: impl Into<String>) -> Self {
        Self { is: is.into(), output: None }
    }

    /// A complaint, without set, instruction and ids.
    fn complaint(is: &str, ran: &Ran) -> Self {
        let line = ran.errors.lines().find(|line| !line.is_empty()).unwrap_or("nothing");
        let output = line.rsplit(": ").next().unwrap_or(line);
        Self { is: is.into(), output: Some(output.trim().into()) }
    }
}

fn validated(words: &[u32]) -> Option<Outcome> {
    let folder = Folder::new();
    let file = folder.file("a.spv", bytes(words));
    let ran = SPIRV_VAL.run(&["--target-env".as_ref(), "spv1.1".as_ref(), file.as_os_str()])?;
    Some(if ran.succeeded { Outcome::new("ok") } else { Outcome::complaint("rejects", &ran) })
}

/// The instruction after optimising the module.
fn optimized(case: &Case, words: &[u32]) -> Option<Outcome> {
    let folder = Folder::new();
    let file = folder.file("a.spv", bytes(words));
    let out = folder.path().join("out.spv");
    let ran = SPIRV_OPT.run(&["-O".as_ref(), file.as_os_str(), "-o".as_ref(), out.as_os_str()])?;
    if !ran.succeeded {
        return Some(Outcome::complaint("rejects", &ran));
    }
    let optimized = from_bytes(&std::fs::read(out).expect("it is written")).expect("is a module");
    let count = |words: &[u32], name: InstructionName| {
        let facts = read(words).expect("reads");
        facts.iter().filter(|fact| fact.name() == Some(name)).count()
    };
    let before = count(words, case.of);
    let after = count(&optimized, case.of);
    let outcome = match after {
        0 if case.of == InstructionName::Declare && count(&optimized, InstructionName::Value) > 0 => {
            "becomes 29"
        }
        0 => "removed",
        _ if after < before => "some removed",
        _ => "kept",
    };
    let now = validated(&optimized)?;
    Some(if now.output.is_none() {
        Outcome::new(outcome)
    } else {
        Outcome { is: format!("{outcome}, wrong"), ..now }
    })
}

/// The instruction after translation.
fn translated_to(case: &Case, words: &[u32]) -> Option<Outcome> {
    let text = match translated(words)? {
        Ok(text) => text,
        Err(ran) if ran.succeeded => return Some(Outcome::complaint("wrong", &ran)),
        Err(ran) if ran.errors.contains("Stack dump") => return Some(Outcome::new("crashes")),
        Err(ran) => return Some(Outcome::complaint("rejects", &ran)),
    };
    let facts = Program::read(&text).to_string();
    let is_read = match case.read.strip_prefix('!') {
        Some(absent) => !facts.contains(absent),
        None => facts.contains(case.read),
    };
    if is_read || case.instead.is_empty() {
        return Some(Outcome::new(if is_read { "read" } else { "lost" }));
    }
    assert!(facts.contains(case.instead), "{:?} {}: {facts}", case.of, case.form);
    Some(Outcome { is: "otherwise".into(), output: Some(format!("{}, and not {}", case.instead, case.read)) })
}

#[test]
fn consumers_are_as_the_table_says() {
    let mut table = String::from(HEADER);
    for set in Set::ALL {
        let (last, line) = if set == Set::OpenCl { (" `llvm-spirv -r` |", "---|") } else { ("", "") };
        table += &format!("\n## {}\n\n| | instruction | `spirv-val` | `spirv-opt -O` |{last}\n", set.name());
        table += &format!("|---|---|---|---|{line}\n");
        let mut output = String::new();
        let mut cases: Vec<_> = CASES.iter().filter_map(|case| Some((number(case, set)?, case))).collect();
        cases.sort_by_key(|(number, _)| *number);
        for (number, case) in cases {
            let form = if case.form.is_empty() { String::new() } else { format!(", {}", case.form) };
            let what = format!("{}{form}", case.of.text_in(set));
            let kernel = case.words(set, Machine::Kernel);
            let shader = case.words(set, Machine::Shader);
            for words in [&kernel, &shader] {
                let facts = read(words).expect("reads");
                assert!(facts.iter().any(|fact| fact.name() == Some(case.of)), "{what}");
                let report = validate(&facts);
                assert!(report.is_clean(), "{what}: {report}");
            }
            let Some(kernel_is) = validated(&kernel) else { return };
            let Some(shader_is) = validated(&shader) else { return };
            assert_eq!(kernel_is.output, shader_is.output, "{what}");
            let own = if set == Set::OpenCl { &kernel } else { &shader };
            let Some(optimized) = optimized(case, own) else { return };
            let mut outcomes = vec![("spirv-val", kernel_is), ("spirv-opt", optimized)];
            if set == Set::OpenCl {
                let Some(translated) = translated_to(case, &kernel) else { return };
                outcomes.push(("llvm-spirv", translated));
            }
            table += &format!("| {number} | {what} |");
            let by_validator = outcomes[0].1.output.clone();
            for (program, outcome) in outcomes {
                table += &format!(" {} |", outcome.is);
                // spirv-opt validates first, with the same message.
                let is_again = program == "spirv-opt" && outcome.output == by_validator;
                if let Some(text) = outcome.output.filter(|_| !is_again) {
                    output += &format!("* {what}: `{program}`: {text}\n");
                }
            }
            table.push('\n');
        }
        table += &format!("\n{output}");
    }
    check_golden("spirv/consumers.md", &table);
}

/// Every instruction of each set has a module, which contains it.
#[test]
fn every_instruction_has_a_module() {
    for set in Set::ALL {
        for row in InstructionName::ALL.iter().map(|name| name.row()).filter(|row| row.number(set).is_some())
        {
            if matches!(set, Set::Shader101 | Set::Shader200) && row.numbers.since != set {
                continue;
            }
            let is_there = CASES.iter().any(|case| case.of == row.name && number(case, set).is_some());
            assert!(is_there, "{} of {}", row.text, set.name());
        }
    }
}

#[test]
fn the_translator_takes_no_set_for_shaders() {
    let case = CASES.iter().find(|case| case.of == InstructionName::Declare).expect("a case");
    let Some(output) = translated(&case.words(Set::Shader, Machine::Kernel)) else { return };
    let ran = output.expect_err("the extension is not known");
    assert!(!ran.succeeded && ran.errors.contains("SPV_KHR_non_semantic_info"), "{ran}");
}

const HEADER: &str = "\
Behaviour of other tools for each instruction: Debian's `spirv-val` and `spirv-opt -O` of SPIRV-Tools 2023.1, and
`llvm-spirv-15 -r`.

The inputs are small valid modules: kernels with `OpenCL.DebugInfo.100`, shaders with `NonSemantic.Shader.DebugInfo`. `spirv-val`
gives the same answer for each set in kernels and shaders. `llvm-spirv-15` refuses modules with the set for shaders. No tool
knows version 101 or 200 of that set, and none inspects their instructions.

* `kept`: `spirv-opt` keeps the instruction in its place. `removed`: `spirv-opt` removes an unreferenced instruction of a shader
  that it knows. `becomes 29`: the instruction of a variable that is no longer in memory is replaced by instruction 29.
* `read`: the content of the instruction is in LLVM's metadata. `otherwise`: other content is there. `lost`: the content is
  missing, without a message.
";
