//! Bindings of the kernels, from the lists.

use eitri::model::SourceLine;
use eitri::spirv::{Binding, Id, Position, Provider};
use rspirv::spirv::Op;

use super::describe::{Described, describe};
use crate::spirv::kernels::{KERNELS, Kernel, LEVELS, functions};
use crate::spirv::values::{At, Entry, Listed, Piece, in_functions, operation};

/// A module with its description and binding.
pub struct Bound {
    /// Kernel and level.
    pub name: String,
    pub kernel: &'static Kernel,
    pub level: &'static str,
    pub words: Vec<u32>,
    pub described: Described,
    pub binding: Binding,
    /// List of the example, if any.
    pub list: Option<Listed>,
}

/// Every kernel at both levels.
pub fn all() -> Vec<Bound> {
    let mut lists = Listed::all();
    let mut all = Vec::new();
    for kernel in KERNELS {
        for level in LEVELS {
            let list = lists.iter().position(|it| it.kernel.name == kernel.name && it.level == level);
            let list = list.map(|at| lists.remove(at));
            let words = kernel.words(level);
            let described = describe(kernel, level, list.as_ref());
            let binding = match &list {
                Some(list) => listed(list, &described),
                None => unlisted(&words, &described),
            };
            let name = format!("{}.{}", kernel.name, &level[1..]);
            all.push(Bound { name, kernel, level, words, described, binding, list });
        }
    }
    all
}

/// The binding of a list.
fn listed(list: &Listed, described: &Described) -> Binding {
    let mut binding = Binding::new();
    let variable = |name: &str, scope: &str| described.variables[&(name.into(), scope.into())];
    for (name, id) in &list.globals {
        binding.global(variable(name, ""), *id);
    }
    for function in &list.functions {
        binding.function(described.functions[&function.name], function.id);
        // A function starts in its own scope.
        let mut last = None;
        for block in &function.blocks {
            let mut instruction = 0;
            for entry in &block.entries {
                let here = Position::before(function.id, block.id, instruction);
                match entry {
                    Entry::Instruction { at, .. } => {
                        if last != Some(at.as_ref()) {
                            say(&mut binding, here, at.as_ref(), described);
                            last = Some(at.as_ref());
                        }
                        instruction += 1;
                    }
                    Entry::Provider { variable: name, scope, is_declared, pieces } => {
                        let variable = variable(name, scope);
                        if *is_declared {
                            binding.declare(here, variable, Provider::value(pieces[0].id));
                        } else {
                            let providers: Vec<_> = pieces.iter().map(provider).collect();
                            binding.value(here, variable, &providers);
                        }
                    }
                }
            }
        }
    }
    binding
}

/// Sets scope and line of the instructions from a position on.
fn say(binding: &mut Binding, here: Position, at: Option<&At>, described: &Described) {
    match at {
        Some(at) => binding.scope(here, described.scopes[&at.scope]),
        None => binding.no_scope(here),
    };
    match at.and_then(|at| at.line) {
        Some((line, column)) => binding.line(here, SourceLine::new(described.file, line).column(column)),
        None => binding.no_line(here),
    };
}

fn provider(piece: &Piece) -> Provider {
    let of = if piece.is_memory { Provider::pointer(piece.id) } else { Provider::value(piece.id) };
    // An element of the vector with the id; all elements have 32 bits.
    let provider = match piece.indexes[..] {
        [] => of,
        [index] => of.taken(32 * index..32 * (index + 1)),
        _ => panic!("{piece:?}"),
    };
    match &piece.bits {
        Some(bits) => provider.bits(bits.start as u32..bits.end as u32),
        None => provider,
    }
}

/// A binding for functions and parameters; each function has the line where it begins.
fn unlisted(words: &[u32], described: &Described) -> Binding {
    let mut binding = Binding::new();
    let all: Vec<_> = in_functions(words).collect();
    for (number, (id, name)) in functions(words).into_iter().enumerate() {
        let function = described.functions[&name];
        binding.function(function, id);
        let of = |wanted: Op| {
            let all = all.iter().filter(move |(of, it)| *of == number && operation(*it) == wanted);
            all.map(|(_, it)| it.result().expect("an id"))
        };
        let start = Position::start(id, of(Op::Label).next().expect("a block"));
        binding.line(start, described.module.function(function).line.expect("a line"));
        let ids: Vec<Id> = of(Op::FunctionParameter).collect();
        let parameters = &described.parameters[&name];
        assert_eq!(ids.len(), parameters.len(), "{name}");
        for (&parameter, &id) in parameters.iter().zip(&ids) {
            binding.value(start, parameter, &[Provider::value(id)]);
        }
    }
    binding
}
