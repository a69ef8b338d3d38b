//! Describes functions: parameters, lines, blocks and local variables.

use hashbrown::HashMap;

use super::context::Describer;
use super::scopes::Constructs;
use crate::error::Result;
use crate::model::{FunctionId, ScopeId, SourceLine, TypeId};
use crate::omission::{Reason, Subject};
use crate::spirv::binding::Position;
use crate::spirv::layout::FunctionLayout;
use crate::spirv::opcodes as op;
use crate::spirv::provider::Provider;
use crate::spirv::provider_rules::SAMPLED_IMAGE;
use crate::spirv::strip::is_debug;
use crate::spirv::uses::operand_ids;
use crate::spirv::words::{HEADER, Id, Instruction};

/// A local variable in memory, or a named value.
struct Local {
    id: Id,
    name: String,
    ty: TypeId,
    /// The innermost construct that contains all uses.
    construct: usize,
    is_memory: bool,
    line: Option<SourceLine>,
}

/// An instruction that stays when the debug instructions are removed.
struct Placed<'a> {
    instruction: Instruction<'a>,
    block: Option<Id>,
    /// The instruction's index in its block.
    index: u32,
    line: Option<SourceLine>,
}

/// Describes a function. A function without code is skipped.
pub(super) fn function(out: &mut Describer<'_, '_>, function: &FunctionLayout) -> Result<()> {
    let placed = placed(out, function)?;
    let Some(first) = placed.iter().find_map(|it| it.block) else { return Ok(()) };
    let entry = out.names.entry_points.get(&function.id).cloned();
    let name = entry.clone().or_else(|| out.names.get(function.id).map(str::to_owned));
    let name = name.unwrap_or_else(|| format!("function{}", function.id.0));
    let returns = placed.first().and_then(|it| it.instruction.result_type());
    let returns = returns.map(|ty| out.ty(ty)).transpose()?.flatten();
    let line = line_before(out, function)?.or_else(|| placed.iter().find_map(|it| it.line));
    // glslang appends the parameter types to the name.
    let (short, linkage_name) = match name.split_once('(') {
        Some((short, _)) if !short.is_empty() => (short, Some(&*name)),
        _ => (&*name, None),
    };
    let mut described = out.m.function(out.unit, short)?;
    linkage_name.map(|name| described.linkage_name(name).id());
    if entry.is_some() {
        described.external().kernel();
    }
    if let Some(line) = line {
        described.declared(line).body_line(line.line);
    }
    if let Some(returns) = returns {
        described.returns(returns)?;
    }
    let id = described.id();
    out.functions.insert(function.id, id);
    out.binding.function(id, function.id);
    out.omit_lines(Subject::Function(id));
    lines(out, function.id, &placed);
    parameters(out, id, Position::start(function.id, first), &placed)?;
    locals(out, function, id, first, &placed)
}

/// The line in an `OpLine` before the function.
fn line_before(out: &mut Describer<'_, '_>, function: &FunctionLayout) -> Result<Option<SourceLine>> {
    let functions = out.layout.functions();
    let index = functions.partition_point(|other| other.at.start < function.at.start);
    let start = index.checked_sub(1).map_or(HEADER, |before| functions[before].at.end);
    let last = out.layout.words().between(start..function.at.start).last();
    match last.map(|it| (it.opcode(), it.operands().as_array())) {
        Some((op::LINE, Some(at))) => out.line(at),
        _ => Ok(None),
    }
}

/// A function's instructions, with their positions after debug instructions are removed.
fn placed<'a>(out: &mut Describer<'_, 'a>, function: &FunctionLayout) -> Result<Vec<Placed<'a>>> {
    let layout = out.layout;
    let mut placed = Vec::new();
    let mut block = None;
    let mut index = 0;
    let mut line = None;
    for instruction in layout.words().between(function.at.clone()) {
        match (instruction.opcode(), instruction.operands().as_array()) {
            (op::LINE, Some(at)) => line = out.line(at)?,
            (op::NO_LINE, _) => line = None,
            _ if is_debug(layout, &instruction) => {}
            (op::LABEL, _) => {
                (block, index) = (instruction.result(), 0);
                placed.push(Placed { instruction, block, index: 0, line });
            }
            (opcode, _) => {
                placed.push(Placed { instruction, block, index, line });
                index += 1;
                // A line ends with its block.
                if op::is_terminator(opcode) {
                    line = None;
                }
            }
        }
    }
    Ok(placed)
}

fn lines(out: &mut Describer<'_, '_>, function: Id, placed: &[Placed<'_>]) {
    let mut stated = None;
    for it in placed {
        let Some(block) = it.block.filter(|_| it.instruction.opcode() != op::LABEL) else { continue };
        // The function's end is no position.
        if it.line != stated && it.instruction.opcode() != op::FUNCTION_END {
            let position = Position::before(function, block, it.index);
            match it.line {
                Some(line) => out.binding.line(position, line),
                None => out.binding.no_line(position),
            };
            stated = it.line;
        }
    }
}

/// Describes the parameters. A pointer without an address stands for the variable that it points to. In an LLVM module,
/// the variable `x.addr` is the parameter `x`'s memory.
fn parameters(
    out: &mut Describer<'_, '_>,
    function: FunctionId,
    start: Position,
    placed: &[Placed<'_>],
) -> Result<()> {
    let mut copies = HashMap::new();
    for it in placed.iter().filter(|it| out.names.are_generated && it.instruction.opcode() == op::VARIABLE) {
        if let (Some(id), Some(to)) = (it.instruction.result(), out.contents(&it.instruction))
            && let Some(name) = out.names.get(id).and_then(|name| name.strip_suffix(".addr"))
        {
            copies.insert((name.to_owned(), to), id);
        }
    }
    let is_parameter = |it: &&Placed<'_>| it.instruction.opcode() == op::FUNCTION_PARAMETER;
    for it in placed.iter().filter(is_parameter) {
        let (Some(id), Some(ty)) = (it.instruction.result(), it.instruction.result_type()) else {
            continue;
        };
        let name = out.names.get(id).unwrap_or_default().to_owned();
        let copy = copies.get(&(name.clone(), ty)).copied();
        let is_reference = is_reference(out, ty);
        let described = if is_reference { out.target_of(ty)? } else { out.ty(ty)? };
        let Some(ty) = described else {
            out.omit_variable(Subject::Function(function), &name, Reason::NoDescription(id.0));
            continue;
        };
        let mut variable = out.m.parameter(function, &name, ty)?;
        it.line.map(|line| variable.declared(line).id());
        let variable = variable.id();
        out.variables.insert(id, variable);
        // A parameter without a name still counts in the signature, but nobody can ask for its value.
        if name.is_empty() {
            continue;
        }
        match copy {
            Some(copy) => {
                out.variables.insert(copy, variable);
                out.binding.declare(start, variable, Provider::value(copy))
            }
            None if is_reference => out.binding.declare(Position::after(id), variable, Provider::value(id)),
            None => out.binding.value(Position::after(id), variable, &[Provider::value(id)]),
        };
    }
    Ok(())
}

/// Whether a value with this type only names a variable: a shader pointer without an address.
fn is_reference(out: &Describer<'_, '_>, ty: Id) -> bool {
    out.m.target().is_shader() && out.types.pointee(ty).is_some() && !out.types.has_addresses(ty)
}

/// Describes local variables and named values, and the blocks that contain them.
fn locals(
    out: &mut Describer<'_, '_>,
    function: &FunctionLayout,
    id: FunctionId,
    first: Id,
    placed: &[Placed<'_>],
) -> Result<()> {
    let constructs = Constructs::new(out.layout.words(), function);
    let locals = find_locals(out, id, &constructs, placed)?;
    let mut scopes: HashMap<usize, ScopeId> = HashMap::new();
    scopes.insert(0, out.m.described().function(id).scope);
    let mut needed: Vec<usize> = locals.iter().map(|local| local.construct).collect();
    needed.sort_unstable();
    needed.dedup();
    // The first line in each construct, without the constructs in it.
    let mut lines: HashMap<usize, SourceLine> = HashMap::new();
    for it in placed {
        if let (Some(block), Some(line)) = (it.block, it.line) {
            lines.entry(constructs.innermost(block)).or_insert(line);
        }
    }
    // Constructs are numbered outside in, so that enclosing blocks exist already.
    for &construct in needed.iter().filter(|&&construct| construct != 0) {
        let around = scope_of(&constructs, &scopes, constructs.parent(construct));
        let scope = out.m.block(around, &[])?;
        if let Some(&line) = lines.get(&construct) {
            out.m.begins(scope, line)?;
        }
        scopes.insert(construct, scope);
    }
    let mut stated = scopes[&0];
    for it in placed.iter().filter(|it| it.instruction.opcode() == op::LABEL) {
        let Some(block) = it.block else { continue };
        // Each block's scope is stated where it differs from the previous block's.
        let scope = scope_of(&constructs, &scopes, constructs.innermost(block));
        if scope != stated {
            out.binding.scope(Position::start(function.id, block), scope);
            stated = scope;
        }
    }
    // Several values in the same block with the same name and type belong to the same variable.
    let mut known = HashMap::new();
    for local in locals {
        let Local { id, name, ty, construct, is_memory, line } = local;
        let scope = scopes[&construct];
        let key = (scope, name.clone(), ty);
        let variable = match known.get(&key) {
            Some(&variable) if !is_memory => variable,
            _ => {
                let mut variable = out.m.variable(scope, &name, ty)?;
                line.map(|line| variable.declared(line).id());
                variable.id()
            }
        };
        out.variables.insert(id, variable);
        if is_memory {
            out.binding.declare(Position::start(function.id, first), variable, Provider::value(id));
        } else {
            known.insert(key, variable);
            out.binding.value(Position::after(id), variable, &[Provider::value(id)]);
        }
    }
    Ok(())
}

/// Named variables and results, with the innermost construct that contains all their uses. Names that LLVM generated
/// for temporaries are only counted.
fn find_locals(
    out: &mut Describer<'_, '_>,
    function: FunctionId,
    constructs: &Constructs,
    placed: &[Placed<'_>],
) -> Result<Vec<Local>> {
    let mut locals = Vec::new();
    let mut places = HashMap::<u32, usize>::new();
    let mut temporaries = 0;
    let subject = Subject::Function(function);
    let returns = placed.first().and_then(|it| it.instruction.result_type());
    for it in placed {
        let (instruction, Some(block)) = (it.instruction, it.block) else { continue };
        let here = constructs.innermost(block);
        for Id(used) in operand_ids(instruction) {
            if let Some(&place) = places.get(&used) {
                let local: &mut Local = &mut locals[place];
                local.line = local.line.or(it.line);
                local.construct = match local.construct {
                    usize::MAX => here,
                    known => constructs.common(known, here),
                };
            }
        }
        let (Some(id), Some(ty)) = (instruction.result(), instruction.result_type()) else { continue };
        let Some(name) = out.names.get(id).map(str::to_owned) else { continue };
        let is_memory = matches!(instruction.opcode(), op::VARIABLE | op::UNTYPED_VARIABLE);
        let contents = if is_memory { out.contents(&instruction) } else { Some(ty) };
        if out.variables.contains_key(&id) || !is_memory && is_reference(out, ty) {
            continue;
        }
        if out.names.are_generated && (!is_memory || is_slot(&name, contents == returns)) {
            temporaries += 1;
            continue;
        }
        if instruction.opcode() == SAMPLED_IMAGE {
            out.omit_variable(subject, &name, Reason::SampledImage(id.0));
            continue;
        }
        let Some(ty) = contents.map(|ty| out.ty(ty)).transpose()?.flatten() else {
            out.omit_variable(subject, &name, Reason::NoDescription(id.0));
            continue;
        };
        if is_memory {
            // The variable's scope follows from its uses, because all `OpVariable`s are in the first block.
            places.insert(id.0, locals.len());
        }
        let construct = if is_memory { usize::MAX } else { here };
        locals.push(Local { id, name, ty, construct, is_memory, line: it.line });
    }
    // A variable without uses belongs to the whole function.
    for local in locals.iter_mut().filter(|local| local.construct == usize::MAX) {
        local.construct = 0;
    }
    if temporaries != 0 {
        out.omit_variable(subject, "", Reason::Temporaries(temporaries));
    }
    Ok(locals)
}

/// Whether an LLVM variable is a slot that the compiler added: for the result, or with a name that is no C identifier.
fn is_slot(name: &str, is_of_result: bool) -> bool {
    name.contains('.') || name == "retval" && is_of_result
}

/// A construct's scope, or the scope of the innermost enclosing construct that has one.
fn scope_of(constructs: &Constructs, scopes: &HashMap<usize, ScopeId>, mut construct: usize) -> ScopeId {
    loop {
        match scopes.get(&construct) {
            Some(&scope) => return scope,
            None => construct = constructs.parent(construct),
        }
    }
}
