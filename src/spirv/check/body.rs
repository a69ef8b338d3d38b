//! Compares the code of a function: scope, line and variable locations, instruction by instruction. Both sides number
//! the same instructions, because debug instructions do not count.

use core::ops::Range;

use hashbrown::HashMap;

use super::compare::{Compare, Difference};
use super::described::Projection;
use super::shapes::{Shape, shape};
use super::{lines, locations, scopes};
use crate::error::Count;
use crate::model::{FunctionId, ScopeId, ScopeKind, SourceLine, VariableId};
use crate::omission::{Property, Subject};
use crate::spirv::binding::{Position, Statement};
use crate::spirv::layout::FunctionLayout;
use crate::spirv::opcodes as op;
use crate::spirv::words::Id;

/// The debug information for a function's code.
#[derive(Debug)]
pub(super) struct Body {
    owner: FunctionId,
    /// Word offset of each instruction.
    words: Vec<usize>,
    /// Word offset, scope and line for each instruction that can have them.
    instructions: Vec<(usize, Shape, Shape)>,
    /// Declarations and values: index of the first instruction that they apply to, variable, its id for messages,
    /// location.
    values: Vec<(usize, Shape, VariableId, Shape)>,
}

/// An instruction that is not debug information.
struct ModuleInstruction {
    word: usize,
    block: Id,
    /// Whether it is an `OpPhi` or a variable at the block's start.
    is_start: bool,
    /// Number of counted instructions before it in the same block.
    counted: u32,
    is_first: bool,
    /// A counted `OpLine` or `OpNoLine` directly before it that the module already had.
    line: Option<OwnLine>,
}

/// An `OpLine` or `OpNoLine` that the module already had.
#[derive(Clone, Copy)]
struct OwnLine {
    /// Number of counted instructions before it in the same block; `None` between two blocks.
    counted: Option<u32>,
    /// File, line and column; `None` for an `OpNoLine`.
    line: Option<(Id, u32, u32)>,
}

/// Owners and statements for the functions with code.
#[derive(Debug)]
pub(super) struct Bodies {
    owners: HashMap<Id, FunctionId>,
    /// Each function's word offset, with the index range of consecutive statements in the function.
    statements: Vec<(usize, Range<usize>)>,
}

impl Bodies {
    pub fn new(projection: &Projection<'_>) -> Self {
        let binding = projection.binding;
        let layout = projection.layout;
        // The first function that claims the code is its owner.
        let mut owners: HashMap<Id, FunctionId> = HashMap::new();
        for (id, _) in projection.module.functions() {
            if let Some(code) = binding.function_id(id) {
                owners.entry(code).or_insert(id);
            }
        }
        let mut statements: Vec<(usize, Range<usize>)> = Vec::new();
        for (index, (position, _)) in binding.statements().iter().enumerate() {
            let function = match *position {
                Position::Start { function, .. } | Position::Before { function, .. } => Some(function),
                Position::After(id) => {
                    layout.definition(id).and_then(|it| layout.function_at(it.at)).map(|it| it.id)
                }
            };
            let Some(defined) = function.and_then(|function| layout.definition(function)) else { continue };
            match statements.last_mut() {
                Some((at, all)) if *at == defined.at && all.end == index => all.end += 1,
                _ => statements.push((defined.at, index..index + 1)),
            }
        }
        statements.sort_by_key(|&(at, _)| at);
        Self { owners, statements }
    }

    /// Indices of the statements in a function.
    fn statements_in(&self, function: &FunctionLayout) -> impl Iterator<Item = usize> {
        let start = self.statements.partition_point(|&(at, _)| at < function.at.start);
        let runs = self.statements[start..].iter().take_while(|&&(at, _)| at == function.at.start);
        runs.flat_map(|(_, runs)| runs.clone())
    }
}

/// Returns whether an instruction was added. If the added words are unknown, every instruction that can be debug
/// information counts as added.
fn is_added(added: &[Range<usize>], at: usize, is_debug: bool) -> bool {
    if added.is_empty() {
        return is_debug;
    }
    let next = added.partition_point(|range| range.end <= at);
    added.get(next).is_some_and(|range| range.contains(&at))
}

/// Collects the files in a function's `OpLine`s that the module already had.
pub(super) fn own_files(projection: &mut Projection<'_>, function: &FunctionLayout, added: &[Range<usize>]) {
    for instruction in projection.layout.words().between(function.at.clone()) {
        if instruction.opcode() == op::LINE && !is_added(added, instruction.at, true) {
            let path = instruction.operands().first().and_then(|&file| projection.layout.string(Id(file)));
            let key = shape!(projection.shapes; "file", path.unwrap_or_default());
            projection.described.own_files.insert(key);
        }
    }
}

/// A function's instructions that are not debug information.
fn module_instructions(
    projection: &Projection<'_>,
    function: &FunctionLayout,
    added: &[Range<usize>],
) -> Vec<ModuleInstruction> {
    let layout = projection.layout;
    let mut real = Vec::new();
    let mut block = None;
    let mut counted = 0;
    let mut is_start = true;
    let mut line = None;
    let mut is_first = false;
    let mut is_open = false;
    for instruction in layout.words().between(function.at.clone()) {
        let opcode = instruction.opcode();
        if opcode == op::LABEL {
            block = instruction.result();
            (counted, is_start, is_first, is_open) = (0, true, true, true);
            continue;
        }
        let is_line = matches!(opcode, op::LINE | op::NO_LINE);
        let is_debug = projection.is_debug(instruction);
        let is_added = is_added(added, instruction.at, is_debug || is_line);
        if let Some(block) = block.filter(|_| !is_debug && !is_line) {
            is_start &= op::begins_block(opcode);
            let line = line.take();
            real.push(ModuleInstruction { word: instruction.at, block, is_start, counted, is_first, line });
            is_first = false;
            is_open &= !op::is_terminator(opcode);
        } else if is_line && !is_added {
            let operands = match *instruction.operands() {
                [file, number, column] => Some((Id(file), number, column)),
                _ => None,
            };
            line = Some(OwnLine { counted: is_open.then_some(counted), line: operands });
        }
        // Positions in a binding count the module's own lines, but nothing that was added.
        counted += u32::from(!is_added);
    }
    real
}

/// A described function's body. Positions do not count the words in `added`; if `added` is empty, they count no
/// instruction that can be debug information.
pub(super) fn body(
    projection: &mut Projection<'_>,
    bodies: &Bodies,
    function: &FunctionLayout,
    added: &[Range<usize>],
) -> Option<Body> {
    let module = projection.module;
    let owner = *bodies.owners.get(&function.id)?;
    let module_instructions = module_instructions(projection, function, added);
    let mut starts: HashMap<Id, usize> = HashMap::new();
    for (index, real) in module_instructions.iter().enumerate() {
        if real.is_first {
            starts.insert(real.block, index);
        }
    }
    // Returns the first instruction, from an index on, that can have a statement before it.
    let behind = |mut index: usize| {
        while module_instructions.get(index).is_some_and(|real| real.is_start) {
            index += 1;
        }
        index
    };
    let mut placed = Vec::new();
    for statement in bodies.statements_in(function) {
        let (position, _) = projection.binding.statements()[statement];
        let index = match position {
            Position::Start { block, .. } => starts.get(&block).copied().map(behind),
            Position::Before { block, instruction, .. } => starts.get(&block).and_then(|&start| {
                let is_before = |real: &ModuleInstruction| real.block == block && real.counted < instruction;
                let index = start + module_instructions[start..].partition_point(is_before);
                module_instructions.get(index).filter(|real| real.block == block).map(|_| behind(index))
            }),
            Position::After(id) => {
                let defined = projection.layout.definition(id);
                let real_index =
                    |word| module_instructions.binary_search_by_key(&word, |real| real.word).ok();
                match defined.and_then(|it| real_index(it.at)) {
                    Some(index) => Some(behind(index + 1)),
                    // The id belongs to a block or a parameter.
                    None => defined.map(|_| behind(starts.get(&id).copied().unwrap_or(0))),
                }
            }
        };
        let Some(index) = index else { continue };
        // Number of counted instructions before the statement, which orders it among the lines before the instruction.
        let start = match index.checked_sub(1).map(|before| &module_instructions[before]) {
            Some(before) if module_instructions.get(index).is_some_and(|real| real.block == before.block) => {
                before.counted + 1
            }
            _ => 0,
        };
        let counted = match position {
            Position::Before { instruction, .. } => instruction.max(start),
            _ => start,
        };
        placed.push((index, counted, statement));
    }
    // By position, then in call order: the tuple ends with the statement's index.
    placed.sort_unstable();
    let own = module.function(owner).scope;
    let mut now = CurrentState { scope: Some(own), line: None };
    let mut next = placed.iter().peekable();
    let mut instructions = Vec::new();
    let mut values = Vec::new();
    let mut own_line: Option<OwnLine> = None;
    for (index, real) in module_instructions.iter().enumerate() {
        // A line ends with its block.
        if real.is_first {
            own_line = None;
        }
        own_line = real.line.or(own_line);
        while let Some(&(_, counted, statement)) = next.next_if(|&&(at, ..)| at == index) {
            match projection.binding.statements()[statement].1 {
                Statement::Scope(scope) => now.scope = scope,
                Statement::Line(line) => {
                    now.line = line;
                    // A later line that the module already had stays in effect.
                    let own = real.line.and_then(|own| own.counted);
                    own_line = own_line.filter(|_| own.is_some_and(|own| counted <= own));
                }
                Statement::Declare { variable, provider } => {
                    value(projection, &mut values, index, variable, provider..provider + 1, true);
                }
                Statement::Value { variable, provider, count } => {
                    value(projection, &mut values, index, variable, provider..provider + count, false);
                }
            }
        }
        if real.is_start {
            continue;
        }
        let scope = match now.scope {
            Some(scope) => {
                let shape = scopes::scope(projection, scope);
                let is_block = module.scope(scope).kind == ScopeKind::Block;
                match projection.discriminator(scope).filter(|_| is_block) {
                    Some(number) => shape!(projection.shapes; shape, "discriminator", number),
                    None => shape,
                }
            }
            None => shape!(projection.shapes; "no scope"),
        };
        let line = match own_line {
            Some(OwnLine { line: Some((file, line, column)), .. }) => {
                lines::line_at(projection, file, line, column)
            }
            Some(OwnLine { line: None, .. }) => lines::line_shape(projection, None),
            None => lines::line_shape(projection, now.line),
        };
        instructions.push((real.word, scope, line));
    }
    let words = module_instructions.iter().map(|real| real.word).collect();
    Some(Body { owner, words, instructions, values })
}

/// Scope and line from an instruction on.
struct CurrentState {
    scope: Option<ScopeId>,
    line: Option<SourceLine>,
}

fn value(
    projection: &mut Projection<'_>,
    values: &mut Vec<(usize, Shape, VariableId, Shape)>,
    index: usize,
    variable: VariableId,
    places: Range<u32>,
    is_declaration: bool,
) {
    let key = scopes::value_key(projection, variable);
    let ty = projection.module.variable(variable).ty;
    if places.is_empty() {
        let nothing = shape!(projection.shapes; "nothing");
        values.push((index, key, variable, nothing));
    }
    let providers = projection.binding.providers();
    for place in places {
        let provider = &providers[place as usize];
        let is_omitted = projection.omissions.has(Subject::Provider(variable, place), Property::Entity);
        // An earlier declaration stays in effect, because a declaration holds for the whole function.
        if is_omitted && is_declaration {
            continue;
        }
        let shape = if is_omitted {
            locations::nothing_around(projection, provider, ty)
        } else {
            locations::holding(projection, provider, ty, is_declaration)
        };
        values.push((index, key, variable, shape));
    }
}

impl Compare<'_> {
    /// Compares a function's bodies. If code is missing on one side, the function's record shows that.
    pub(super) fn body(&mut self, ours: &Body, theirs: &Body) {
        self.compared += ours.instructions.len() + ours.values.len();
        if ours.instructions != theirs.instructions {
            self.instructions(ours, theirs);
        }
        let [our, their] = [ours, theirs].map(|body| body.values.iter().map(|it| (it.0, it.1, it.3)));
        if !our.eq(their) {
            self.values(ours, theirs);
        }
    }

    fn instructions(&mut self, ours: &Body, theirs: &Body) {
        let text = |shape| self.shapes.text(shape);
        // Only the first difference is reported: a wrong scope usually affects all instructions that follow.
        for (what, property) in [("scope", Property::Scope), ("line", Property::Line)] {
            let pick =
                |pair: &(usize, Shape, Shape)| if property == Property::Scope { pair.1 } else { pair.2 };
            let pairs = || ours.instructions.iter().zip(&theirs.instructions);
            let mut different = pairs().filter(|(pair, other)| pick(pair) != pick(other));
            if let Some((pair, other)) = different.next() {
                let more = different.count();
                let what = format!(
                    "{what} of the instruction: expected {}, found {}; equally for {}",
                    text(pick(pair)),
                    text(pick(other)),
                    Count(more, "more instruction")
                );
                let own = self.modules[0].function(ours.owner).scope;
                let context = self.modules[0].at_scope(own).with(|context| context.word = Some(pair.0));
                let subject = Some(Subject::Function(ours.owner));
                self.found.push(Difference { at: context, subject, property, what });
            }
        }
    }

    fn values(&mut self, ours: &Body, theirs: &Body) {
        let text = |shape| self.shapes.text(shape);
        let mut by_place: indexmap::IndexMap<(usize, Shape), [Vec<Shape>; 2]> = indexmap::IndexMap::new();
        let mut variables: HashMap<Shape, (usize, VariableId)> = HashMap::new();
        for (side, body) in [ours, theirs].into_iter().enumerate() {
            for &(index, key, variable, shape) in &body.values {
                by_place.entry((index, key)).or_default()[side].push(shape);
                variables.entry(key).or_insert((side, variable));
            }
        }
        // Several values may apply at the same instruction; only their order within a variable matters.
        for ((index, key), [ours_here, theirs_here]) in by_place {
            if ours_here == theirs_here {
                continue;
            }
            let word = ours.words.get(index).copied();
            let list = |all: &[Shape]| match all {
                [] => "no value".into(),
                all => all.iter().map(|&shape| text(shape)).collect::<Vec<_>>().join(", "),
            };
            let what = format!(
                "before instruction {index} of the function: expected {}, found {}",
                list(&ours_here),
                list(&theirs_here)
            );
            let variable = variables.get(&key).copied();
            let context =
                variable.map(|(side, id)| self.modules[side].at_variable(id, None)).unwrap_or_default();
            let subject = variable.filter(|&(side, _)| side == 0).map(|(_, id)| Subject::Variable(id));
            let property = Property::Location;
            self.found.push(Difference {
                at: context.with(|context| context.word = word),
                subject,
                property,
                what,
            });
        }
    }
}
