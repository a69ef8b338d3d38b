//! Imports debug instructions in functions: scopes, lines, declarations and values, with their positions. The words
//! repeat scope and line in each block; the binding gets a statement only where one of them changes.

use hashbrown::HashMap;

use super::importer::Importer;
use super::{inlined, providers};
use crate::error::Result;
use crate::model::{FunctionId, ScopeId, SourceLine, UnitId, VariableId};
use crate::omission::Unimported;
use crate::spirv::binding::{Position, Statement};
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::{Id, Instruction};

/// A `DebugScope`'s operands: a scope and its `DebugInlinedAt`.
type InForce = (Id, Option<Id>);

/// A position in a function, with the current scope and line.
struct Body {
    function: Id,
    described: Option<FunctionId>,
    unit: UnitId,
    block: Option<Id>,
    /// Number of instructions in the block so far.
    index: u32,
    /// Whether the block has only `OpPhi` and `OpVariable` instructions so far.
    is_start: bool,
    /// The current scope, according to the words.
    in_force: Option<InForce>,
    line: Option<SourceLine>,
    /// Scope (and below it the line) according to the statements so far.
    scope: Option<ScopeId>,
    stated_line: Option<SourceLine>,
    /// The variable in a directly preceding `DebugValue`.
    last: Option<VariableId>,
    scopes: HashMap<InForce, Option<ScopeId>>,
}

pub(super) fn bodies(importer: &mut Importer<'_, '_>) -> Result<()> {
    for function in importer.facts.layout().functions().to_vec() {
        let described = importer.entities.code.get(&function.id).copied();
        let scope = described.map(|described| importer.m.described().function(described).scope);
        let unit = scope.map(|own| importer.m.described().scope(own).unit);
        let mut body = Body {
            function: function.id,
            described,
            // Code without a `DebugFunction` belongs to the first unit, so that its lines find their files.
            unit: unit.unwrap_or_else(|| importer.units.first()),
            block: None,
            index: 0,
            is_start: true,
            in_force: None,
            line: None,
            scope,
            stated_line: None,
            last: None,
            scopes: HashMap::new(),
        };
        // Instructions from another set are neither code nor statements.
        for instruction in importer.facts.layout().words().between(function.at) {
            match importer.facts.all.fact(instruction) {
                Some(fact) if fact.set != importer.facts.set => {}
                Some(fact) => debug_instruction(importer, &mut body, &fact)?,
                None => code_instruction(importer, &mut body, instruction)?,
            }
        }
    }
    Ok(())
}

fn code_instruction(
    importer: &mut Importer<'_, '_>,
    body: &mut Body,
    instruction: Instruction<'_>,
) -> Result<()> {
    let opcode = instruction.opcode();
    match (opcode, instruction.operands()) {
        (op::LABEL, _) => {
            if body.block.is_some() {
                body.end_block();
            }
            body.block = instruction.result();
            (body.index, body.is_start, body.last) = (0, true, None);
        }
        (op::LINE, &[file, line, column]) => {
            let path = importer.facts.layout().string(Id(file));
            let file = path.and_then(|path| importer.m.file(body.unit, &path, None).ok());
            body.line = file.filter(|_| line != 0).map(|file| SourceLine::new(file, line).column(column));
        }
        (op::LINE | op::NO_LINE, _) => body.line = None,
        _ if body.block.is_some() => {
            body.last = None;
            body.is_start &= op::begins_block(opcode);
            // Statements cannot be placed between a block's first instructions; they wait for the end of these.
            if !body.is_start {
                state(importer, body)?;
            }
            body.index += 1;
            if op::is_terminator(opcode) {
                body.end_block();
            }
        }
        _ => {}
    }
    Ok(())
}

/// Adds statements for the next instruction's scope and line, where they change.
fn state(importer: &mut Importer<'_, '_>, body: &mut Body) -> Result<()> {
    let Some(position) = body.position() else { return Ok(()) };
    let scope = match body.in_force {
        Some(in_force) => scope_in_force(importer, body, in_force)?,
        None => None,
    };
    if scope != body.scope {
        body.scope = scope;
        importer.binding.push(position, Statement::Scope(scope));
    }
    if body.line != body.stated_line {
        body.stated_line = body.line;
        importer.binding.push(position, Statement::Line(body.line));
    }
    Ok(())
}

fn scope_in_force(
    importer: &mut Importer<'_, '_>,
    body: &mut Body,
    in_force: InForce,
) -> Result<Option<ScopeId>> {
    if let Some(&known) = body.scopes.get(&in_force) {
        return Ok(known);
    }
    let scope = importer.entities.scopes.get(&importer.facts.not_template(in_force.0)).copied();
    let scope = match (scope, in_force.1) {
        (Some(scope), Some(inlined)) => {
            let instance = inlined::instance(importer, scope, inlined)?;
            if let Some(instance) = instance {
                inlined::instance_discriminator(importer, in_force.0, instance);
            }
            instance
        }
        (scope, _) => scope,
    };
    // A scope in another function does not apply to these instructions.
    let module = importer.m.described();
    // Otherwise a debugger would show another function's scope here.
    let scope =
        scope.filter(|&scope| body.described.is_some() && module.function_of(scope) == body.described);
    body.scopes.insert(in_force, scope);
    Ok(scope)
}

fn debug_instruction(importer: &mut Importer<'_, '_>, body: &mut Body, fact: &Fact<'_>) -> Result<()> {
    match fact.name() {
        Some(InstructionName::Scope) => {
            body.in_force = fact.id(Field::Scope).map(|scope| (scope, fact.id(Field::Inlined)));
            if let Some(in_force) = body.in_force
                && scope_in_force(importer, body, in_force)?.is_none()
            {
                importer.omissions.omit(fact, Unimported::OtherScopeInstructions);
            }
        }
        Some(InstructionName::NoScope) => body.in_force = None,
        Some(InstructionName::Line) => {
            let unit = body.unit;
            let line = importer.facts.word(fact, Field::LineStart);
            let column = importer.facts.word(fact, Field::ColumnStart);
            let file = fact.id(Field::Source).and_then(|source| importer.file(source, unit));
            body.line = file.filter(|_| line != 0).map(|file| SourceLine::new(file, line).column(column));
            // The model has no line ranges.
            if importer.facts.word(fact, Field::LineEnd) != line {
                importer.omissions.omit(fact, Unimported::LineRange);
            }
        }
        Some(InstructionName::NoLine) => body.line = None,
        Some(InstructionName::Declare | InstructionName::Value) => value(importer, body, fact)?,
        // These are imported with the functions.
        Some(InstructionName::FunctionDefinition) => {}
        _ => importer.omissions.omit(fact, Unimported::InFunction),
    }
    Ok(())
}

fn value(importer: &mut Importer<'_, '_>, body: &mut Body, fact: &Fact<'_>) -> Result<()> {
    let before = body.last.take();
    let variable = match fact.id(Field::LocalVariable) {
        Some(variable) => variable_in_force(importer, body, variable)?,
        None => None,
    };
    let Some(variable) = variable else {
        importer.omissions.omit(fact, Unimported::OtherVariable);
        return Ok(());
    };
    let Some(position) = body.position() else {
        importer.omissions.omit(fact, Unimported::NoBlock);
        return Ok(());
    };
    let made = providers::providers(importer, fact, variable);
    let Some(provider) = importer.omissions.made(fact, made) else { return Ok(()) };
    let defined = importer.facts.layout().definition(provider.id());
    // An `OpUndef` for the whole variable means that it is unavailable.
    let is_all = provider.indexes().is_empty() && provider.few_operations(false).is_empty();
    if is_all && defined.is_some_and(|it| it.opcode() == op::UNDEF) {
        importer.binding.value(position, variable, &[]);
        return Ok(());
    }
    if fact.name() == Some(InstructionName::Declare) {
        importer.binding.declare(position, variable, provider);
        return Ok(());
    }
    body.last = Some(variable);
    let binding = &mut importer.binding;
    // Consecutive values for the same variable can each give some of its bits, so that they become one statement.
    if before == Some(variable)
        && provider.indexes().is_empty()
        && let Some((_, Statement::Value { provider: first, count, .. })) = binding.statements.last_mut()
        && let Some(bits) = provider.selected_bits()
    {
        let siblings = &binding.providers[*first as usize..(*first + *count) as usize];
        let is_apart = |other: &crate::spirv::Provider| {
            let bits_of = other.selected_bits().filter(|_| other.indexes().is_empty());
            bits_of.is_some_and(|other| bits.end <= other.start || other.end <= bits.start)
        };
        if siblings.iter().all(is_apart) {
            *count += 1;
            binding.providers.push(provider);
            return Ok(());
        }
    }
    binding.value(position, variable, &[provider]);
    Ok(())
}

/// The function's variable, or an inlined variable's instance.
fn variable_in_force(importer: &mut Importer<'_, '_>, body: &Body, id: Id) -> Result<Option<VariableId>> {
    if let Some(inlined) =
        importer.facts.get(id).filter(|fact| fact.name() == Some(InstructionName::InlinedVariable))
    {
        let both = inlined.id(Field::Variable).zip(inlined.id(Field::Inlined));
        return match both {
            Some((variable, inlined)) => instance_in(importer, body, variable, inlined),
            None => Ok(None),
        };
    }
    let Some(&variable) = importer.entities.variables.get(&id) else { return Ok(None) };
    let module = importer.m.described();
    let owner = module.function_of(module.variable(variable).scope);
    // Searches the enclosing calls, from the innermost outward, for the variable's function.
    let mut in_force = body.in_force;
    let mut steps = 0;
    while let Some((scope, Some(inlined))) = in_force {
        let scope = importer.entities.scopes.get(&importer.facts.not_template(scope));
        if owner.is_some() && scope.and_then(|&scope| importer.m.described().function_of(scope)) == owner {
            return instance_in(importer, body, id, inlined);
        }
        let call = importer.facts.get(inlined).filter(|call| call.name() == Some(InstructionName::InlinedAt));
        in_force = call.and_then(|call| Some((call.id(Field::Scope)?, call.id(Field::Inlined))));
        steps += 1;
        if steps > MOST_CALLS {
            return Ok(None);
        }
    }
    Ok((owner.is_some() && owner == body.described).then_some(variable))
}

fn instance_in(
    importer: &mut Importer<'_, '_>,
    body: &Body,
    variable: Id,
    inlined: Id,
) -> Result<Option<VariableId>> {
    let instance = inlined::inlined_variable(importer, variable, inlined)?;
    let module = importer.m.described();
    let is_here = |id: &VariableId| module.function_of(module.variable(*id).scope) == body.described;
    Ok(instance.filter(is_here))
}

/// Limit for enclosing calls that are searched for a variable's function.
const MOST_CALLS: usize = 1 << 12;

impl Body {
    /// Ends a block. Scope and line stay in effect up to its end; statements between two blocks apply to the second.
    fn end_block(&mut self) {
        (self.block, self.in_force, self.line) = (None, None, None);
    }

    fn position(&self) -> Option<Position> {
        Some(Position::before(self.function, self.block?, self.index))
    }
}
