//! `llvm-spirv -r` on the kernels: for listed kernels, the result equals clang's debug information of the sources.

use std::collections::HashMap;
use std::path::Path;

use eitri::spirv::{Facts, Id, Mode, read};
use pretty_assertions::assert_eq;
use rspirv::spirv::Op;

use super::bind::{Bound, all};
use crate::spirv::kernels::{bitcode, functions};
use crate::spirv::metadata::facts::{self, Program, Step};
use crate::spirv::metadata::{disassembled, read_back};
use crate::spirv::tools::Folder;
use crate::spirv::values::{Entry, Function, Listed, Named, Piece, in_functions, operation};

/// clang's debug information of the source.
fn of_clang(bound: &Bound) -> Option<Program> {
    let folder = Folder::new();
    let source = Path::new(crate::common::ROOT).join(bound.kernel.source);
    let bitcode = bitcode(&folder, &source, &["-g", bound.level])?;
    Some(Program::read(&disassembled(&bitcode)?.clean()))
}

/// A function with its variables, as text. From clang's version without the file's path and known changes of the
/// translator: a member without access becomes public; an enumeration with a type becomes an `enum class`.
fn described(function: &facts::Function, only_parameters: bool) -> String {
    let facts::Function { name, linkage, line, scope_line, ty, declaration, flags, .. } = function;
    let mut text = format!("{name} ({linkage}) {line}, {scope_line}: {ty} {declaration} {flags}\n");
    for it in function.variables.iter().filter(|it| !only_parameters || it.argument > 0) {
        text += &format!("{} {} line {} of {}: {}\n", it.argument, it.name, it.line, it.scope, it.ty);
    }
    text.replace("public ", "").replace("enum class", "enum")
}

/// Functions, parameters, variables and types equal clang's; for kernels without a list, no variables are compared.
#[test]
fn functions_and_variables_are_read_back() {
    for bound in all() {
        let Some(expected) = of_clang(&bound) else { return };
        let words = bound.attached(&Mode::translator()).words;
        let Some(back) = read_back(&words) else { return };
        let file = format!("/src/{}.cl", bound.kernel.name);
        assert_eq!(back.units, [format!("DW_LANG_OpenCL {file}")], "{}", bound.name);
        let is_listed = bound.list.is_some();
        let names: Vec<String> = if is_listed {
            expected.functions.iter().map(|it| it.name.clone()).collect()
        } else {
            functions(&words).into_iter().map(|it| it.1).collect()
        };
        assert_eq!(back.functions.len(), names.len(), "{}: {back}", bound.name);
        for name in names {
            let expected = expected.function(&name);
            let back = back.function(&name);
            assert_eq!(described(back, !is_listed), described(expected, !is_listed), "{} {name}", bound.name);
            assert_eq!(back.file, file);
        }
        if is_listed {
            let globals = |program: &Program| -> Vec<String> {
                let all = program.globals.iter();
                all.map(|it| {
                    let facts::Global { name, linkage, line, ty, is_local, held_by, .. } = it;
                    format!("{name} ({linkage}) {line} {is_local} {}: {ty} = {held_by}", it.is_definition)
                })
                .collect()
            };
            assert_eq!(globals(&back), globals(&expected), "{}", bound.name);
        }
    }
}

/// The functions of a list are read back: scope and line of each instruction, and values of variables.
#[test]
fn code_is_read_back() {
    for bound in all() {
        let Some(list) = &bound.list else { continue };
        for mode in [Mode::translator(), Mode::opencl()] {
            let words = named(&bound.attached(&mode).words);
            let Some(back) = read_back(&words) else { return };
            for function in &list.functions {
                let code = Code::new(&back.function(&function.name).code);
                let expected = code.expected(&read(&words).expect("reads"), list, function);
                assert_eq!(code.lines, expected, "{} {}", bound.called(&mode), function.name);
            }
        }
    }
}

/// The module with a name for each result in functions with a source, which LLVM uses as well: `v12_` for `%12`.
fn named(words: &[u32]) -> Vec<u32> {
    let facts = read(words).expect("reads");
    let instructions: Vec<_> = facts.layout().words().instructions().collect();
    let last = instructions.iter().rfind(|it| operation(**it) == Op::Name).expect("a name");
    let at = last.at + last.words.len();
    let mut names = Vec::new();
    for (_, instruction) in in_functions(words).filter(|(_, it)| facts.fact(*it).is_none()) {
        let Some(id) = instruction.result() else { continue };
        let mut name = format!("v{}_", id.0).into_bytes();
        name.resize(name.len() / 4 * 4 + 4, 0);
        let name: Vec<_> = name.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        names.extend([(name.len() as u32 + 2) << 16 | Op::Name as u32, id.0]);
        names.extend(name);
    }
    [&words[..at], &names, &words[at..]].concat()
}

/// Code of a function that was read back, as text.
struct Code {
    lines: Vec<String>,
    /// Named results; for calls inserted by the translator, whether they have lost their location.
    results: HashMap<Id, bool>,
}

/// LLVM's names of instructions without a result.
const OPERATIONS: &[(&str, &str)] = &[
    ("store ", "OpStore"),
    ("br label ", "OpBranch"),
    ("br i1 ", "OpBranchConditional"),
    ("ret void", "OpReturn"),
    ("ret ", "OpReturnValue"),
    ("call void @llvm.memcpy.", "OpCopyMemorySized"),
    ("call void @llvm.lifetime.start.", "OpLifetimeStart"),
    ("call void @llvm.lifetime.end.", "OpLifetimeStop"),
];

impl Code {
    /// Unnamed instructions, which the translator makes from others, are skipped.
    fn new(code: &[Step]) -> Self {
        let mut lines = Vec::new();
        let mut results = HashMap::new();
        for step in code {
            match step {
                Step::Block(label) => lines.push(format!("%{label}:")),
                Step::Provider(provider) => {
                    let facts::Provider { variable, scope, is_declared, value, expression } = provider;
                    let value = value.rsplit(' ').next().expect("a value");
                    // A value made by the translator.
                    let is_number = value.starts_with('%') && value[1..].parse::<u32>().is_ok();
                    let value = if is_number { "%" } else { value };
                    lines.push(line_of(variable, scope, *is_declared, value, expression));
                }
                Step::Instruction(text, place) => {
                    let is = match result(text) {
                        Some(id) => {
                            let is_call = text.contains(" = call spir_func ");
                            results.insert(id, is_call && place.is_none());
                            id.to_string()
                        }
                        None => match OPERATIONS.iter().find(|(start, _)| text.starts_with(start)) {
                            Some((_, name)) => (*name).into(),
                            None => continue,
                        },
                    };
                    let place =
                        place.as_ref().map(|it| (it.scope.clone(), (it.line as u32, it.column as u32)));
                    lines.push(located(&is, place));
                }
            }
        }
        Self { lines, results }
    }

    /// The expected text.
    fn expected(&self, facts: &Facts<'_>, list: &Listed, function: &Function) -> Vec<String> {
        let mut lines = Vec::new();
        for block in &function.blocks {
            lines.push(format!("%v{}_:", block.id.0));
            for entry in &block.entries {
                match entry {
                    Entry::Instruction { is, at } => {
                        let (is, has_lost) = match is {
                            Named::Operation(name) => (name.clone(), false),
                            Named::Result(id) => match self.results.get(id) {
                                // A scope begins after these.
                                Some(_) if is_a(facts, *id, Op::Phi) => (id.to_string(), true),
                                Some(&has_lost) => (id.to_string(), has_lost),
                                // For loads of these variables the translator inserts calls.
                                None => {
                                    assert!(is_built_in(facts, *id), "{id} is not there");
                                    continue;
                                }
                            },
                        };
                        let at = at.as_ref().filter(|_| !has_lost);
                        let place = at.map(|at| (list.described(&at.scope), at.line.unwrap_or((0, 0))));
                        lines.push(located(&is, place));
                    }
                    Entry::Provider { variable, scope, is_declared, pieces } => {
                        let scope = list.described(scope);
                        for piece in pieces {
                            // The parameter is a pointer to the variable rather than an `OpVariable`.
                            let is_value = !is_declared || is_a(facts, piece.id, Op::FunctionParameter);
                            let (value, expression) = self.provider(facts, piece, !is_value);
                            lines.push(line_of(variable, &scope, !is_value, &value, &expression));
                        }
                    }
                }
            }
        }
        lines
    }

    fn provider(&self, facts: &Facts<'_>, piece: &Piece, is_declared: bool) -> (String, String) {
        let mut operations = Vec::new();
        if piece.is_memory && !is_declared {
            operations.push("deref".into());
        }
        if let Some(bits) = &piece.bits {
            operations.push(format!("LLVM_fragment {} {}", bits.start, bits.end - bits.start));
        }
        let definition = facts.layout().definition(piece.id).expect("is there");
        let value = match operation(definition) {
            // The reader does not support `BitPiece`: an element of a value is omitted.
            _ if !piece.indexes.is_empty() => "undef".into(),
            Op::ConstantNull => "zeroinitializer".into(),
            Op::Constant => {
                let constant = facts.layout().constant(piece.id);
                match constant.and_then(|it| it.value) {
                    Some(number) => (number as i32).to_string(),
                    None => float(f32::from_bits(definition.operands()[0])),
                }
            }
            Op::FunctionParameter => format!("%v{}_", piece.id.0),
            _ if self.results.contains_key(&piece.id) => format!("%v{}_", piece.id.0),
            _ => "%".into(),
        };
        (value, operations.join(", "))
    }
}

fn is_a(facts: &Facts<'_>, id: Id, wanted: Op) -> bool {
    facts.layout().definition(id).is_some_and(|it| operation(it) == wanted)
}

/// Whether the value is loaded from a global variable.
fn is_built_in(facts: &Facts<'_>, id: Id) -> bool {
    let definition = facts.layout().definition(id).expect("is there");
    let is_global = |id| facts.layout().definition(id).is_some_and(|it| it.at < facts.layout().globals_end());
    operation(definition) == Op::Load && is_global(Id(definition.operands()[0]))
}

/// Formats a number as LLVM does, where that is exact: `2.000000e+00`.
fn float(value: f32) -> String {
    let text = format!("{value:.6e}");
    let (digits, exponent) = text.split_once('e').expect("an exponent");
    assert_eq!(text.parse(), Ok(value));
    format!("{digits}e{:+03}", exponent.parse::<i32>().expect("a number"))
}

/// The id in `%v12_ = ...`; further digits may follow the name.
fn result(text: &str) -> Option<Id> {
    let (name, _) = text.strip_prefix("%v")?.split_once(" = ")?;
    Some(Id(name.split('_').next()?.parse().ok()?))
}

fn located(is: &str, place: Option<(String, (u32, u32))>) -> String {
    match place {
        Some((scope, (line, column))) => format!("{is} {line}:{column} of {scope}"),
        None => is.into(),
    }
}

fn line_of(variable: &str, scope: &str, is_declared: bool, value: &str, expression: &str) -> String {
    let how = if is_declared { "declare" } else { "value" };
    format!("{how} {variable} of {scope} = {value}, {expression}")
}
