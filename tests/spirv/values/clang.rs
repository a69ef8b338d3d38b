//! Comparison of the lists with the debug information that clang and LLVM's translator write for the same code.

use std::collections::HashMap;
use std::ops::Range;

use eitri::spirv::{Fact, Facts, Field, Id, InstructionName, read};
use rspirv::spirv::Op;

use super::{Entry, Listed, in_functions, is_listed, operation};

/// A statement that an id provides a variable of a scope, from an instruction of a function on.
#[derive(Debug, PartialEq)]
struct Provision {
    function: usize,
    /// Number of preceding instructions of the function.
    instruction: usize,
    variable: String,
    scope: String,
    by: String,
    bits: Option<Range<u64>>,
}

/// Scope, line and column of each instruction, by function and index.
type Places = HashMap<(usize, usize), (String, Option<(u32, u32)>)>;

/// Statements of a list.
fn provisions(list: &Listed, words: &[u32]) -> (Places, Vec<Provision>) {
    let facts = read(words).expect("reads");
    let mut places = Places::new();
    let mut all = Vec::new();
    for (function, it) in list.functions.iter().enumerate() {
        let mut instruction = 0;
        for block in &it.blocks {
            instruction += 1;
            for entry in &block.entries {
                match entry {
                    Entry::Instruction { at, .. } => {
                        let at = at.as_ref().map(|at| (list.described(&at.scope), at.line));
                        places.extend(at.map(|at| ((function, instruction), at)));
                        instruction += 1;
                    }
                    Entry::Provider { variable, scope, pieces, .. } => {
                        let variable = variable.clone();
                        let scope = list.described(scope);
                        for piece in pieces.iter().filter(|piece| piece.indexes.is_empty()) {
                            let variable = variable.clone();
                            let scope = scope.clone();
                            let by = shown(&facts, piece.id);
                            let bits = piece.bits.clone();
                            // clang describes variables in memory from the start of the function.
                            let instruction = if bits.is_some() { usize::MAX } else { instruction };
                            all.push(Provision { function, instruction, variable, scope, by, bits });
                        }
                    }
                }
            }
        }
    }
    (places, all)
}

/// Text of an id: a constant without the ids in it, any other id unchanged.
fn shown(facts: &Facts<'_>, id: Id) -> String {
    let definition = facts.layout().definition(id).unwrap_or_else(|| panic!("{id} is not there"));
    match operation(definition) {
        operation @ (Op::Constant | Op::ConstantNull) => {
            format!("{operation:?} {:?}", definition.operands())
        }
        Op::Undef => "undefined".into(),
        _ => id.to_string(),
    }
}

/// Statements of clang and the translator for a module with the same code, with the ids of the list's module.
fn provisions_of_clang(words: &[u32], plain: &[u32]) -> (Places, Vec<Provision>) {
    let facts = read(words).expect("reads");
    let mut places = Places::new();
    let mut all = Vec::new();
    let mut ids = HashMap::new();
    let without = read(plain).expect("reads");
    let parameters = |words| in_functions(words).filter(|(_, it)| operation(*it) == Op::FunctionParameter);
    for ((_, here), (_, there)) in parameters(words).zip(parameters(plain)) {
        ids.insert(here.result().expect("an id"), there.result().expect("an id"));
    }
    let mut code = in_functions(plain).filter(|&(_, it)| is_listed(&without, it));
    let mut current = 0;
    let mut instruction = 0;
    let mut scope = None;
    let mut line = None;
    for (function, here) in in_functions(words) {
        if function != current {
            (current, instruction) = (function, 0);
        }
        if let Some(fact) = facts.fact(here) {
            match fact.name() {
                Some(InstructionName::Scope) => {
                    let of = facts.named(&fact, Field::Scope).expect("a scope");
                    scope = Some(described(&facts, of, facts.named(&fact, Field::Inlined)));
                }
                Some(InstructionName::NoScope) => (scope, line) = (None, None),
                Some(InstructionName::Declare | InstructionName::Value) => {
                    let variable = facts.named(&fact, Field::LocalVariable).expect("a variable");
                    let id = fact.id(Field::Variable).or_else(|| fact.id(Field::Value)).expect("an id");
                    // The call is that of the scope in force.
                    let of = described(&facts, facts.named(&variable, Field::Scope).expect("a scope"), None);
                    let call = scope.as_deref().and_then(|it: &str| it.split_once(" at ")).map(|it| it.1);
                    let bits =
                        fragment(&facts, facts.named(&fact, Field::Expression).expect("an expression"));
                    all.push(Provision {
                        function,
                        instruction: if bits.is_some() { usize::MAX } else { instruction },
                        variable: facts.text(&variable, Field::Name).expect("a name"),
                        scope: call.map_or(of.clone(), |call| format!("{of} at {call}")),
                        by: ids.get(&id).map_or_else(|| shown(&facts, id), |id: &Id| id.to_string()),
                        bits,
                    });
                }
                _ => {}
            }
            continue;
        }
        match operation(here) {
            Op::Line => line = Some((here.operands()[1], here.operands()[2])).filter(|&(line, _)| line != 0),
            Op::NoLine => line = None,
            _ if is_listed(&facts, here) => {
                let (there_function, there) = code.next().expect("the code is the same");
                assert_eq!((there_function, there.opcode()), (function, here.opcode()));
                ids.extend(here.result().zip(there.result()));
                if operation(here) == Op::Label {
                    // Scope and line end with the block.
                    (scope, line) = (None, None);
                }
                places.extend(scope.clone().map(|scope| ((function, instruction), (scope, line))));
                instruction += 1;
            }
            _ => {}
        }
    }
    assert!(code.next().is_none(), "the code is the same");
    (places, all)
}

/// Bits of the variable that an expression describes.
fn fragment(facts: &Facts<'_>, expression: Fact<'_>) -> Option<Range<u64>> {
    let operations = expression.ids(Field::Operation).filter_map(|id| facts.get(id));
    operations.filter(|it| it.operands[0] == 9).map(|it| bits(it.operands[1], it.operands[2])).next()
}

fn bits(offset: u32, size: u32) -> Range<u64> {
    u64::from(offset)..u64::from(offset + size)
}

/// A scope with its enclosing scopes.
fn described(facts: &Facts<'_>, scope: Fact<'_>, inlined: Option<Fact<'_>>) -> String {
    match (scope.name(), inlined) {
        (Some(InstructionName::Function), None) => facts.text(&scope, Field::Name).expect("a name"),
        (Some(InstructionName::Function), Some(at)) => {
            let name = facts.text(&scope, Field::Name).expect("a name");
            let line = facts.number(&at, Field::Line).expect("a line");
            let caller = facts.named(&at, Field::Scope).expect("a scope");
            format!("{name} at {line} in {}", described(facts, caller, facts.named(&at, Field::Inlined)))
        }
        _ => {
            let number = |field| facts.number(&scope, field).expect("a number");
            let parent = described(facts, facts.named(&scope, Field::Scope).expect("a scope"), inlined);
            format!("block {}:{} in {parent}", number(Field::Line), number(Field::Column))
        }
    }
}

/// Every statement of clang is in the lists, which have more where clang has lost variables.
#[test]
fn the_lists_agree_with_clang() {
    for list in Listed::all() {
        let at = format!("{} {}", list.kernel.name, list.level);
        let Some(words) = list.kernel.compiled(&["-g", list.level]) else { return };
        let plain = list.kernel.words(list.level);
        let ((places, ours), (clang_places, clang_provisions)) =
            (provisions(&list, &plain), provisions_of_clang(&words, &plain));
        for (place, expected) in &clang_places {
            let found = places.get(place);
            let is_same = found.is_some_and(|found| {
                found.0 == expected.0 && (expected.1.is_none() || found.1 == expected.1)
            });
            assert!(is_same, "{at} {place:?}: {found:?}, not {expected:?}");
        }
        assert!(clang_places.len() > 50 && clang_provisions.len() > 10, "{at}");
        for (variable, scope) in variables(&words) {
            let is_listed = list.provided().any(|(name, of)| {
                name == variable && list.described(of).split(" at ").next() == Some(&scope)
            });
            assert!(is_listed, "{at}: {variable} of {scope}");
        }
        for expected in clang_provisions.iter().filter(|ours| ours.by != "undefined") {
            assert!(ours.contains(expected), "{at}: {expected:?}");
        }
    }
}

/// Every variable of functions with its scope, without inlining.
fn variables(words: &[u32]) -> Vec<(String, String)> {
    let facts = read(words).expect("reads");
    let variables = facts.iter().filter(|fact| fact.name() == Some(InstructionName::LocalVariable));
    let named = variables.map(|fact| {
        let scope = facts.named(&fact, Field::Scope).expect("a scope");
        (facts.text(&fact, Field::Name).expect("a name"), described(&facts, scope, None))
    });
    named.collect()
}
