//! Attaching random statements to random words. The fuzz target `attach` and the bounded run in `tests/fuzz` share
//! this code.

use eitri::build::Builder;
use eitri::model::{BaseEncoding, Imported, Module, SourceLine};
use eitri::spirv::{
    Binding, DebugOperation, Id, Mode, ModuleBuilder, Position, Provider, Set, attach, import, read, validate,
};
use eitri::target::Target;

/// Bytes as choices, followed by zeros.
struct Choices<'d>(std::slice::Iter<'d, u8>);

impl Choices<'_> {
    fn byte(&mut self) -> u32 {
        self.0.next().copied().unwrap_or(0).into()
    }

    fn below(&mut self, end: usize) -> usize {
        self.byte() as usize % end.max(1)
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes([0; 4].map(|_: u8| self.byte() as u8))
    }
}

/// Attaches debug instructions to a valid module, to one with changed words, and to the remaining bytes as words.
/// Returns whether the first attempt succeeded.
pub fn attach_any(data: &[u8]) -> bool {
    let mut choices = Choices(data.iter());
    let mode = mode(&mut choices);
    let module = described(&mut choices);
    let right = core();
    let binding = binding(&mut choices, &module, &Places::new(&right));
    let written = attached(&right, &module, &binding, &mode);
    if let Some(words) = &written {
        // Invalid input was refused: the result violates no rule.
        let facts = read(words).expect("it is a module");
        let report = validate(&facts);
        assert!(report.is_clean(), "{report}");
    }
    let mut changed = right.clone();
    for _ in 0..choices.below(4) {
        let at = 1 + choices.below(changed.len() - 1);
        changed[at] = match choices.below(3) {
            0 => choices.byte(),
            1 => changed[at] ^ 1 << choices.below(32),
            _ => choices.number(),
        };
    }
    attached(&changed, &module, &binding, &mode);
    let mut any = right[..5].to_vec();
    any.extend(choices.0.as_slice().as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)));
    attached(&any, &module, &binding, &mode);
    written.is_some()
}

/// Checks that the result can be read, detached, and printed.
fn attached(words: &[u32], module: &Module, binding: &Binding, mode: &Mode) -> Option<Vec<u32>> {
    let attached = attach(words, module, binding, mode).ok()?;
    assert_eq!(attached.detach().expect("is whole"), words, "what was added is all that is new");
    let facts = read(&attached.words).expect("it is a module");
    assert_eq!(facts.encode(), attached.words);
    drop(validate(&facts));
    drop(import(&facts, module.target()));
    Some(attached.words)
}

fn mode(choices: &mut Choices<'_>) -> Mode {
    let set = Set::ALL[choices.below(4)];
    match choices.below(3) {
        0 => Mode::exact(set),
        1 => Mode::validating(set),
        _ if set == Set::Shader200 => Mode::translator200(),
        _ => Mode::translator(),
    }
}

/// A function with a block and an inlined call, variables, a structure, a namespace.
fn described(choices: &mut Choices<'_>) -> Module {
    let mut m = Builder::new(Target::x86_64());
    let mut build = || -> eitri::Result<()> {
        let unit = m.unit("a.cl");
        let file = m.primary_file(unit)?;
        let line = |line| SourceLine::new(file, line).column(1);
        let bits = 8 << choices.below(4);
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let any = m.base_type(unit, "any", BaseEncoding::Unsigned, bits)?;
        let node = m.structure(unit, Some("node"), 16)?;
        let to = m.pointer(unit, Some(node))?;
        m.member(node, "next", to, 0)?.member(node, "n", int, 8)?;
        let other = m.array(unit, int, &[Some(4), Some(2)])?;
        let space = m.namespace(unit, "space")?;
        let inner = m.function(space, "inner")?.declared(SourceLine::new(file, 1)).id();
        let x = m.parameter(inner, "x", int)?.id();
        let f = m.function(unit, "f")?.returns(int)?.declared(SourceLine::new(file, 4)).id();
        m.parameter(f, "n", int)?;
        let block = m.block(f, &[])?;
        m.begins(block, line(5))?;
        m.variable(block, "v", any)?;
        m.variable(f, "node", node)?;
        m.variable(f, "array", other)?;
        let inlined = m.inlined(block, inner, &[], line(6))?;
        m.inlined_variable(inlined, x)?;
        m.variable(unit, "global", to)?.external();
        m.import(unit, Imported::AllOf(space))?;
        Ok(())
    };
    build().expect("it is right");
    m.finish().expect("it is right")
}

/// A module with two functions of three blocks.
fn core() -> Vec<u32> {
    let mut s = ModuleBuilder::new(1, 0);
    let mut build = || -> eitri::Result<()> {
        s.capability(6).capability(5).capability(4).memory_model(2, 2);
        let uint = s.global(21, None, &[32, 0])?;
        let bool = s.global(20, None, &[])?;
        let pointer = s.global(32, None, &[7, uint.0])?;
        let pair = s.global(30, None, &[uint.0, uint.0])?;
        let kind = s.global(33, None, &[uint.0, uint.0])?;
        let four = s.global(43, Some(uint), &[4])?;
        for _ in 0..2 {
            s.function(uint, 0, kind)?;
            let parameter = s.parameter(uint)?;
            let [then, end] = [s.id()?, s.id()?];
            let entry = s.block()?;
            let variable = s.result(59, pointer, &[7])?;
            s.effect(62, &[variable.0, parameter.0])?;
            let is = s.result(170, bool, &[parameter.0, four.0])?;
            s.effect(247, &[end.0, 0])?;
            s.effect(250, &[is.0, then.0, end.0])?;
            s.block_as(then)?;
            let two = s.result(80, pair, &[parameter.0, four.0])?;
            let one = s.result(81, uint, &[two.0, 1])?;
            s.effect(249, &[end.0])?;
            s.block_as(end)?;
            let which = s.result(245, uint, &[parameter.0, entry.0, one.0, then.0])?;
            s.effect(254, &[which.0])?;
            s.end_function()?;
        }
        Ok(())
    };
    build().expect("it is right");
    s.finish().expect("it is right")
}

/// Positions in a module: functions, their blocks, and the ids defined in these.
struct Places(Vec<(Id, Vec<Block>)>);

/// A label, and the ids defined after it.
type Block = (Id, Vec<Id>);

impl Places {
    fn new(words: &[u32]) -> Self {
        let facts = read(words).expect("a module");
        let layout = facts.layout();
        let mut functions = Vec::<(Id, Vec<Block>)>::new();
        for instruction in layout.words().instructions() {
            let Some(function) = layout.function_at(instruction.at) else { continue };
            let Some(id) = instruction.result() else { continue };
            if id == function.id {
                functions.push((id, Vec::new()));
            } else if let Some((_, blocks)) = functions.last_mut() {
                match (instruction.opcode(), blocks.last_mut()) {
                    (248, _) => blocks.push((id, Vec::new())),
                    (_, Some((_, results))) => results.push(id),
                    (_, None) => {}
                }
            }
        }
        Self(functions)
    }

    /// A position, and an id that is mostly defined in the same block.
    fn choose(&self, choices: &mut Choices<'_>) -> (Id, Position, Id) {
        let (function, blocks) = &self.0[choices.below(self.0.len())];
        let (block, results) = &blocks[choices.below(blocks.len())];
        let result = match choices.below(32) {
            31 => Id(choices.number()),
            30 => Id(choices.byte() % 40),
            _ => results.get(choices.below(results.len())).copied().unwrap_or(*block),
        };
        let position = match choices.below(16) {
            0..=4 => Position::start(*function, *block),
            5..=9 => Position::before(*function, *block, choices.byte() % 4),
            10..=14 => Position::after(result),
            _ => Position::before(result, *block, choices.byte()),
        };
        (*function, position, result)
    }
}

/// Random statements at random positions. The first function of the module is mostly bound to `f`.
fn binding(choices: &mut Choices<'_>, module: &Module, places: &Places) -> Binding {
    let mut binding = Binding::new();
    let functions: Vec<_> = module.functions().map(|(id, _)| id).collect();
    let variables: Vec<_> = module.variables().map(|(id, _)| id).collect();
    let scopes: Vec<_> = module.scopes().map(|(id, _)| id).collect();
    let file = module.files().next().map(|(id, _)| id).expect("a file");
    for (function, (id, _)) in functions.iter().rev().zip(&places.0) {
        binding.function(*function, *id);
    }
    for _ in 0..choices.below(12) {
        let (function, position, id) = places.choose(choices);
        match choices.below(12) {
            0 => binding.function(functions[choices.below(functions.len())], function),
            1 => binding.global(variables[choices.below(variables.len())], id),
            2 | 3 => binding.scope(position, scopes[choices.below(scopes.len())]),
            4 => binding.no_scope(position),
            5 => {
                let line = SourceLine::new(file, choices.byte()).column(choices.byte());
                binding.line(position, line)
            }
            6 => binding.no_line(position),
            7 | 8 => {
                let variable = variables[choices.below(variables.len())];
                let held = held(choices, id);
                binding.declare(position, variable, held)
            }
            _ => {
                let variable = variables[choices.below(variables.len())];
                let count = if choices.below(4) == 0 { choices.below(4) } else { 1 };
                let held: Vec<_> = (0..count).map(|_| held(choices, id)).collect();
                binding.value(position, variable, &held)
            }
        };
    }
    if choices.below(8) == 1 {
        let digits = if choices.below(4) == 0 { "0123" } else { "0123456789abcdef0123456789abcdef" };
        binding.build_identifier(digits, choices.below(2) == 0).storage_path("a.spv");
    }
    binding
}

fn held(choices: &mut Choices<'_>, id: Id) -> Provider {
    let mut held = match choices.below(3) {
        0 => Provider::value(id),
        1 => Provider::pointer(id),
        _ => {
            let operation = |choices: &mut Choices<'_>| {
                let number = choices.below(10) as u32;
                let operands = [choices.byte(), choices.byte()];
                (0..3).find_map(|count| DebugOperation::new(number, &operands[..count])).expect("is one")
            };
            let all: Vec<_> = (0..choices.below(5)).map(|_| operation(choices)).collect();
            Provider::expression(id, &all)
        }
    };
    for _ in 0..choices.below(3) {
        held = match choices.below(6) {
            0 => held.part(choices.byte() % 3),
            1 => held.part_by(Id(choices.byte() % 40)),
            2 => held.plus(choices.number() as i32),
            3 => held.in_space(choices.byte()),
            4 => held.taken(choices.byte()..choices.byte()),
            _ => held.bits(choices.byte()..choices.byte()),
        };
    }
    held
}
