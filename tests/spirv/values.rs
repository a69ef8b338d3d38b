//! Values of variables in the kernels, listed by hand: `kernels/README.md` describes the format.

mod clang;

use std::ops::Range;

use eitri::spirv::{Facts, Id, Instruction, Words, read};
use pretty_assertions::assert_eq;
use rspirv::spirv::Op;

use crate::spirv::kernels::{Kernel, functions};

/// A list, and its module.
pub struct Listed {
    pub kernel: &'static Kernel,
    pub level: &'static str,
    pub scopes: Vec<Scope>,
    /// Global variables.
    pub globals: Vec<(String, Id)>,
    pub functions: Vec<Function>,
}

/// A scope that is not a function of the module.
pub struct Scope {
    pub name: String,
    /// The inlined function; `None` for a block.
    pub inlined: Option<String>,
    /// Line where the block begins, or of the call.
    pub line: u32,
    pub column: u32,
    /// The enclosing scope, or that of the call: name of a function or scope.
    pub parent: String,
}

pub struct Function {
    pub id: Id,
    pub name: String,
    pub blocks: Vec<Block>,
}

pub struct Block {
    pub id: Id,
    pub entries: Vec<Entry>,
}

pub enum Entry {
    /// The next instruction of the block.
    Instruction { is: Named, at: Option<At> },
    /// A variable of a scope has this value from here on.
    Provider { variable: String, scope: String, is_declared: bool, pieces: Vec<Piece> },
}

/// An instruction by its result, or by its name without one.
#[derive(Debug, Clone, PartialEq)]
pub enum Named {
    Result(Id),
    Operation(String),
}

/// Scope of an instruction, with its line and column, if any.
#[derive(Debug, Clone, PartialEq)]
pub struct At {
    pub scope: String,
    pub line: Option<(u32, u32)>,
}

/// An id that provides a variable, or some of its bits.
#[derive(Debug, Clone)]
pub struct Piece {
    pub id: Id,
    /// Whether the id is a pointer to the value.
    pub is_memory: bool,
    pub indexes: Vec<u32>,
    /// Bits of the variable.
    pub bits: Option<Range<u64>>,
}

impl Listed {
    pub fn all() -> Vec<Self> {
        let lists = [
            ("calls", "-O0", include_str!("kernels/calls.O0.txt")),
            ("structs", "-O0", include_str!("kernels/structs.O0.txt")),
            ("structs", "-O2", include_str!("kernels/structs.O2.txt")),
            ("inline", "-O2", include_str!("kernels/inline.O2.txt")),
        ];
        lists.map(|(kernel, level, text)| Self::read(Kernel::named(kernel), level, text)).into()
    }

    fn read(kernel: &'static Kernel, level: &'static str, text: &str) -> Self {
        let mut list = Self { kernel, level, scopes: Vec::new(), globals: Vec::new(), functions: Vec::new() };
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#')) {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["scope", name, "=", what, at, "in", parent] => list.scope(name, None, what, at, parent),
                ["scope", name, "=", of, "at", at, "in", parent] => {
                    list.scope(name, Some(of), "block", at, parent)
                }
                ["global", name, "=", at] => list.globals.push((name.into(), id(at))),
                ["function", function, name] => {
                    let function = Function { id: id(function), name: name.into(), blocks: Vec::new() };
                    list.functions.push(function);
                }
                [label] if !line.starts_with(' ') => {
                    let function = list.functions.last_mut().expect("a function");
                    function.blocks.push(Block { id: id(label), entries: Vec::new() });
                }
                [how @ ("declare" | "value"), variable, scope, "=", ..] => {
                    assert!(list.is_scope(scope), "{line}");
                    let is_declared = how == "declare";
                    let pieces = words[4..].join(" ");
                    let pieces = pieces.split(", ").map(|piece| piece_of(piece, is_declared)).collect();
                    let variable = variable.into();
                    let scope = scope.into();
                    list.push(Entry::Provider { variable, scope, is_declared, pieces });
                }
                ["-", ..] => list.instructions(None, &words[1..]),
                [scope, at, ..] => {
                    assert!(list.is_scope(scope), "{line}");
                    let line = (at != "-").then(|| position(at));
                    list.instructions(Some(At { scope: scope.into(), line }), &words[2..]);
                }
                _ => panic!("{line}"),
            }
        }
        list
    }

    fn scope(&mut self, name: &str, inlined: Option<&str>, what: &str, at: &str, parent: &str) {
        assert_eq!(what, "block");
        let ((line, column), inlined) = (position(at), inlined.map(String::from));
        self.scopes.push(Scope { name: name.into(), inlined, line, column, parent: parent.into() });
    }

    fn is_scope(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.name == name) || self.functions.iter().any(|it| it.name == name)
    }

    fn push(&mut self, entry: Entry) {
        let block = self.functions.last_mut().and_then(|function| function.blocks.last_mut());
        block.expect("a block").entries.push(entry);
    }

    fn instructions(&mut self, at: Option<At>, names: &[&str]) {
        for name in names {
            let is = if name.starts_with('%') {
                Named::Result(id(name))
            } else {
                Named::Operation((*name).into())
            };
            self.push(Entry::Instruction { is, at: at.clone() });
        }
    }

    /// Variables with values, and their scopes.
    fn provided(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.functions.iter().flat_map(|it| &it.blocks).flat_map(|it| &it.entries);
        entries.filter_map(|entry| match entry {
            Entry::Provider { variable, scope, .. } => Some((&variable[..], &scope[..])),
            Entry::Instruction { .. } => None,
        })
    }

    /// Name of a scope with its enclosing scopes. Calls are described by line only, as in the instructions.
    pub fn described(&self, name: &str) -> String {
        let Some(scope) = self.scopes.iter().find(|scope| scope.name == name) else { return name.into() };
        let line = scope.line;
        let column = scope.column;
        let parent = self.described(&scope.parent);
        match &scope.inlined {
            Some(function) => format!("{function} at {line} in {parent}"),
            None => format!("block {line}:{column} in {parent}"),
        }
    }
}

fn id(text: &str) -> Id {
    Id(text.trim_start_matches('%').parse().unwrap_or_else(|_| panic!("{text} is no id")))
}

pub fn position(text: &str) -> (u32, u32) {
    let (line, column) = text.split_once(':').unwrap_or_else(|| panic!("{text} is no line and column"));
    (line.parse().expect("a line"), column.parse().expect("a column"))
}

/// Parses `memory %50 bits 256..384`, `%98[0] bits 0..32`, `%12`.
fn piece_of(text: &str, is_declared: bool) -> Piece {
    let (what, bits) = text.split_once(" bits ").map_or((text, None), |(what, bits)| (what, Some(bits)));
    let (what, is_memory) = match what.strip_prefix("memory ") {
        Some(what) => (what, true),
        None => (what, is_declared),
    };
    let mut parts = what.split(['[', ']']).filter(|part| !part.is_empty());
    let id = id(parts.next().expect("an id"));
    let indexes = parts.map(|index| index.parse().expect("an index")).collect();
    let bits = bits.map(|bits| {
        let (start, end) = bits.split_once("..").expect("a range");
        start.parse().expect("a bit")..end.parse().expect("a bit")
    });
    Piece { id, is_memory, indexes, bits }
}

/// Whether an instruction of a block is listed: not a parameter, a line or debug information.
pub fn is_listed(facts: &Facts<'_>, instruction: Instruction<'_>) -> bool {
    let left_out = [Op::FunctionParameter, Op::Line, Op::NoLine];
    !left_out.contains(&operation(instruction)) && facts.fact(instruction).is_none()
}

pub fn operation(instruction: Instruction<'_>) -> Op {
    Op::from_u32(instruction.opcode().into()).expect("is known")
}

/// Instructions of functions with a source, each with the index of its function.
pub fn in_functions<'a>(words: &'a [u32]) -> impl Iterator<Item = (usize, Instruction<'a>)> {
    let named = functions(words);
    let mut function = None;
    let instructions = Words::new(words).expect("is a module").instructions();
    instructions.filter_map(move |instruction| match operation(instruction) {
        Op::Function => {
            let id = instruction.result().expect("an id");
            function = named.iter().position(|it| it.0 == id);
            None
        }
        Op::FunctionEnd => {
            function = None;
            None
        }
        _ => function.map(|function| (function, instruction)),
    })
}

/// Every instruction is listed once, in order.
#[test]
fn every_instruction_is_listed() {
    for list in Listed::all() {
        let words = list.kernel.words(list.level);
        let facts = read(&words).expect("reads");
        let names: Vec<_> = list.functions.iter().map(|it| (it.id, it.name.clone())).collect();
        assert_eq!(names, functions(&words));
        let mut listed = Vec::new();
        for (index, function) in list.functions.iter().enumerate() {
            for block in &function.blocks {
                listed.push((index, Named::Result(block.id)));
                for entry in &block.entries {
                    if let Entry::Instruction { is, .. } = entry {
                        listed.push((index, is.clone()));
                    }
                }
            }
        }
        let named = in_functions(&words).filter(|&(_, instruction)| is_listed(&facts, instruction));
        let named = named.map(|(function, instruction)| match instruction.result() {
            Some(id) => (function, Named::Result(id)),
            None => (function, Named::Operation(format!("Op{:?}", operation(instruction)))),
        });
        assert_eq!(listed, named.collect::<Vec<_>>(), "{} {}", list.kernel.name, list.level);
    }
}

/// Memory is referred to by a pointer, a part has a type of its size; parts are in order and disjoint.
#[test]
fn listed_providers_match_their_types() {
    for list in Listed::all() {
        let words = list.kernel.words(list.level);
        let facts = read(&words).expect("reads");
        let definition = |id| facts.layout().definition(id).expect("is there");
        let entries = list.functions.iter().flat_map(|it| &it.blocks).flat_map(|it| &it.entries);
        for entry in entries {
            let Entry::Provider { variable, is_declared, pieces, .. } = entry else { continue };
            let at = format!("{} {} {variable}", list.kernel.name, list.level);
            assert!(!is_declared || pieces.len() == 1 && pieces[0].is_memory, "{at}");
            let mut end = 0;
            for piece in pieces {
                let mut ty = definition(piece.id).result_type().expect("a type");
                if piece.is_memory {
                    assert_eq!(operation(definition(ty)), Op::TypePointer, "{at}");
                    ty = Id(definition(ty).operands()[1]);
                }
                for _ in &piece.indexes {
                    ty = Id(definition(ty).operands()[0]);
                }
                if let Some(bits) = &piece.bits {
                    assert!(bits.start >= end, "{at}");
                    assert_eq!(bits.end - bits.start, size_bits(&facts, ty), "{at}");
                    end = bits.end;
                } else {
                    assert_eq!(pieces.len(), 1, "{at}");
                }
            }
        }
        for (name, id) in &list.globals {
            assert_eq!(operation(definition(*id)), Op::Variable, "{name}");
        }
    }
}

fn size_bits(facts: &Facts<'_>, id: Id) -> u64 {
    let definition = facts.layout().definition(id).expect("is there");
    let of = |id| size_bits(facts, Id(id));
    let operands = definition.operands();
    match operation(definition) {
        Op::TypeInt | Op::TypeFloat => operands[0].into(),
        Op::TypeVector => of(operands[0]) * u64::from(operands[1]),
        Op::TypeArray => {
            let count = facts.layout().definition(Id(operands[1])).expect("a constant");
            of(operands[0]) * u64::from(count.operands()[0])
        }
        Op::TypeStruct => operands.iter().map(|&member| of(member)).sum(),
        other => panic!("{other:?}"),
    }
}
