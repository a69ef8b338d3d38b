//! Comparison of the text with `spirv-dis`, for every instruction of both sets; and compiled modules.

use eitri::spirv::{Set, TextOptions, ValidationFinding, ValidationRule, from_bytes, print, read, validate};
use pretty_assertions::assert_eq;

use crate::spirv::assemble::assemble;
use crate::spirv::kernels::{Kernel, LEVELS, compiled};
use crate::spirv::tools::{Folder, Tool};
use crate::spirv::{OPENCL, SHADER, SPIRV_AS, SPIRV_DIS, bytes};

/// Assembles a text with `spirv-as`.
fn outside(text: &str) -> Option<Vec<u32>> {
    let folder = Folder::new();
    let source = folder.file("a.spvasm", text);
    let out = folder.path().join("a.spv");
    let version = ["--target-env".as_ref(), "spv1.1".as_ref()];
    SPIRV_AS.run(&[&version[..], &["-o".as_ref(), out.as_os_str(), source.as_os_str()]].concat())?.clean();
    Some(from_bytes(&std::fs::read(out).expect("it is written")).expect("is a module"))
}

/// Converts an operand of `spirv-dis` to this crate's notation.
fn spelled(operand: &str) -> String {
    // Each bit of the access has a name of its own.
    operand.replace("FlagIsProtected|FlagIsPrivate", "FlagIsPublic")
}

/// Results, names and operands of the debug instructions, printed by `spirv-dis` with raw ids.
fn disassembled(words: &[u32]) -> Option<Vec<Vec<String>>> {
    let folder = Folder::new();
    let file = folder.file("a.spv", bytes(words));
    let text = SPIRV_DIS.run(&["--raw-id".as_ref(), "--no-color".as_ref(), file.as_os_str()])?.clean();
    let lines = text.lines().filter_map(|line| {
        let (result, rest) = line.trim().split_once(" = OpExtInst ")?;
        let mut words = rest.split(' ').skip(2);
        let name = words.next().filter(|name| name.starts_with("Debug"))?;
        Some([result, name].into_iter().map(String::from).chain(words.map(spelled)).collect())
    });
    Some(lines.collect())
}

/// Results, names and operands of the debug instructions, printed by this crate.
fn printed(words: &[u32]) -> Vec<Vec<String>> {
    let text = print(&read(words).expect("reads"), TextOptions::default());
    let lines = text.lines().filter_map(|line| {
        let (result, rest) = line.trim().split_once(" = Debug")?;
        let (name, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let mut all = vec![result.to_owned(), format!("Debug{name}")];
        for operand in without_strings(operands).split(", ") {
            let words = operand.split_once(": ").map_or("", |(_, words)| words);
            all.extend(
                words.split(' ').filter(|word| !word.is_empty() && !word.starts_with('(')).map(String::from),
            );
        }
        Some(all)
    });
    lines.collect()
}

/// The text without quoted strings.
fn without_strings(text: &str) -> String {
    let mut out = String::new();
    let mut is_in = false;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => is_in = !is_in,
            '\\' if is_in => drop(chars.next()),
            _ if !is_in => out.push(char),
            _ => {}
        }
    }
    out.replace('…', "")
}

#[test]
fn the_assembler_here_is_right() {
    for text in [OPENCL, SHADER] {
        let Some(words) = outside(text) else { return };
        // The third word is the generator.
        assert_eq!(words[3..], assemble(text).words[3..]);
    }
}

#[test]
fn operands_are_those_of_spirv_dis() {
    for (text, set) in [(OPENCL, Set::OpenCl), (SHADER, Set::Shader)] {
        let words = assemble(text).words;
        let (Some(theirs), ours) = (disassembled(&words), printed(&words)) else { return };
        assert_eq!(ours, theirs, "{}", set.name());
        assert!(ours.len() > 60);
    }
}

#[test]
fn compiled_modules_are_read_without_loss() {
    for name in ["reduce", "calls", "inline", "spill"] {
        for level in LEVELS {
            let Some(words) = Kernel::named(name).compiled(&["-g", level]) else { return };
            let facts = read(&words).expect("reads");
            assert_eq!(facts.encode(), words, "{name} {level}");
            let Some(theirs) = disassembled(&words) else { return };
            assert_eq!(printed(&words), theirs, "{name} {level}");
            // For plain C, the only findings are forward references to values.
            let report = validate(&facts);
            let is_value = |finding: &ValidationFinding| {
                finding.rule == ValidationRule::ForwardReference
                    && finding.at.operand.as_deref() == Some("Value")
            };
            assert!(report.findings.iter().all(is_value), "{name} {level}: {report}");
            assert!(report.is_clean() || level == "-O2", "{name} {level}: {report}");
            let has = |rule| report.notes.iter().any(|note| note.rule.name() == rule);
            assert!(has("checksum-text") && has("removed"), "{name} {level}: {report}");
        }
    }
}

/// Deviations of LLVM's translator from the specification, for C++ with templates.
#[test]
fn the_translators_habits_are_found() {
    let folder = Folder::new();
    let source = folder.file("a.clcpp", HABITS);
    let Some(words) = compiled(&source, &["-g", "-O0"]) else { return };
    let facts = read(&words).expect("reads");
    assert_eq!(facts.encode(), words);
    let report = validate(&facts);
    // Each known deviation occurs at least once, and every finding is one of them or a forward reference.
    let habits = [
        "DebugTypeTemplate is not a DebugTypeComposite; the LLVM translator names the template instead of its target",
        "DebugTypeTemplate is not a lexical scope; the LLVM translator names the template instead of its target",
        "DebugFunctionDeclaration is not a DebugTypeMember, DebugFunction or DebugTypeInheritance; the LLVM translator \
         has declarations as members",
        "it cannot have 8 operands; the LLVM translator writes a 0 after the tag",
        "0xffffffff is not a storage class; the LLVM translator writes it where there is no address space",
        "its operands are those of DebugTypeTemplateParameterPack, number 17; the LLVM translator has the two the other \
         way round",
    ];
    let is_early = |finding: &ValidationFinding| {
        finding.rule == ValidationRule::ForwardReference
            && finding.what.ends_with("; the LLVM translator has members before their type")
    };
    assert!(report.findings.iter().any(is_early), "{report}");
    for habit in habits {
        assert!(report.findings.iter().any(|finding| finding.what.ends_with(habit)), "{habit}: {report}");
    }
    let is_habit = |finding: &ValidationFinding| {
        finding.rule == ValidationRule::ForwardReference
            || habits.iter().any(|habit| finding.what.ends_with(habit))
    };
    assert!(report.findings.iter().all(is_habit), "{report}");
    assert!(report.notes.iter().any(|note| note.rule == ValidationRule::LowerBounds), "{report}");
    let no_string =
        "DebugInfoNone stands for an OpString; the LLVM translator writes this where there is no string";
    assert!(report.notes.iter().any(|note| note.what.ends_with(no_string)), "{report}");
}

const HABITS: &str = "
template <typename T, int N, typename... Rest> struct Box { T items[N]; T first() const { return items[0]; } };
namespace inner { struct Plain { int x; }; }
using namespace inner;
kernel void run(global int *out) {
    Box<int, 4, float, char> box;
    box.items[0] = 1;
    Plain plain;
    plain.x = box.first();
    out[0] = plain.x;
}
";

const GLSLANG: Tool = Tool::new("glslangValidator", "glslang-tools");

/// Output of glslang for Vulkan.
#[test]
fn a_compiled_shader_is_read_without_loss() {
    let folder = Folder::new();
    let source = folder.file("a.comp", COMPUTE);
    let module = folder.path().join("a.spv");
    let arguments = ["-V".as_ref(), "-gVS".as_ref(), source.as_os_str(), "-o".as_ref(), module.as_os_str()];
    let Some(ran) = GLSLANG.run(&arguments) else { return };
    assert!(ran.succeeded, "{ran}");
    let words = from_bytes(&std::fs::read(module).expect("it is written")).expect("is a module");
    let facts = read(&words).expect("reads");
    assert_eq!(facts.encode(), words);
    let Some(theirs) = disassembled(&words) else { return };
    assert_eq!(printed(&words), theirs);
    let report = validate(&facts);
    assert!(report.is_clean(), "{report}");
    let notes: Vec<_> = report.notes.iter().map(|note| note.rule).collect();
    // glslang declares a parameter itself; the text requires an OpVariable.
    let expected =
        [ValidationRule::Interleaved, ValidationRule::DeclaredParameter, ValidationRule::DeclaredParameter];
    assert_eq!(notes, expected, "{report}");
}

const COMPUTE: &str = "#version 450
layout(local_size_x = 64) in;
struct Particle { vec3 position; float mass; };
layout(set = 0, binding = 0) buffer Particles { Particle particles[]; };
layout(push_constant) uniform Push { uint count; mat4 transform; } push;
shared float totals[64];

float energy(in Particle one, float scale) {
    float total = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        total += one.position[axis] * scale;
    }
    return total;
}

void main() {
    uint id = gl_GlobalInvocationID.x;
    if (id >= push.count) { return; }
    Particle mine = particles[id];
    totals[gl_LocalInvocationIndex] = energy(mine, 2.0);
    barrier();
    particles[id].mass = totals[0];
}
";
