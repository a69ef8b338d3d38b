//! Writes debug instructions in functions: scopes, lines, declarations and values. Sections 4.7 and 4.8.
//!
//! The binding states changes; the instruction set wants scope and line in every block. Two states are tracked
//! therefore: what the binding says at the current position, and what the words of the current block say. An
//! instruction is written where they differ.

use super::blocks::Blocks;
use super::entities::{Entities, Scoped};
use super::out::Out;
use super::positions::{Placed, Places};
use super::values::{Fitting, VariableWriter};
use super::writer::{Word, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{FunctionId, Module, ScopeId, SourceLine, VariableId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::binding::{Binding, Statement};
use crate::spirv::layout::FunctionLayout;
use crate::spirv::mode::{Feature, Mode};
use crate::spirv::opcodes as op;
use crate::spirv::provider::Provider;
use crate::spirv::provider_rules::Spot;
use crate::spirv::table::InstructionName;
use crate::spirv::words::{Id, Instruction};

/// Writes debug instructions in all functions.
///
/// # Errors
/// The error names the variable and the id, if the id cannot provide the variable at that position.
pub(super) fn body<'a>(
    writer: &mut Writer<'a>,
    module: &Module,
    binding: &Binding,
    places: &Places<'_>,
    entities: &Entities,
) -> Result<Out<'a>> {
    let layout = writer.layout;
    // Most variables use the empty expression, so that space is reserved for it before the functions; inserting it
    // later would move all words.
    let has_room = !binding.providers.is_empty() && writer.expressions.is_empty();
    let words = most_words(writer, binding);
    let out = Out::new(layout, &mut writer.out, has_room, words);
    let current = BlockState::at_start(writer.mode);
    let mut body = Body { writer, module, binding, places, entities, out, current, fitting: None };
    let mut blocks = Blocks::default();
    let mut placed = Vec::new();
    for (index, function) in layout.functions().iter().enumerate() {
        blocks.find(layout, function);
        places.place(index, &blocks, entities, &mut placed)?;
        body.function(index, function, &blocks, &placed)?;
    }
    Ok(body.out)
}

/// Estimates the new words in functions, which is rarely too low: 8 for a declaration or value, 6 or 7 for a scope, 4
/// or 10 for a line. The scope is repeated in every block.
pub(super) fn most_words(writer: &Writer<'_>, binding: &Binding) -> usize {
    let other_statements = binding.statements.len().saturating_sub(binding.providers.len());
    let each = if writer.mode.has(Feature::DebugLines) { 10 } else { 5 };
    8 * binding.providers.len() + each * other_statements + 24 * writer.layout.functions().len()
}

/// A function's state according to the binding, up to the current position.
#[derive(Debug, Clone, Copy)]
struct BindingState {
    scope: Option<ScopeId>,
    /// `None` before the first line statement.
    line: Option<Option<SourceLine>>,
}

/// A block's state according to its words, up to the current position.
#[derive(Debug, Clone, Copy)]
struct BlockState {
    scope: Option<Scoped>,
    /// The described scope that `scope` encodes.
    described: Option<ScopeId>,
    /// `None` if a line that the module already had is current.
    line: Option<Option<SourceLine>>,
}

impl BlockState {
    /// State at a block's start: no scope and no line, except for readers that let the previous line continue.
    fn at_start(mode: &Mode) -> Self {
        Self { scope: None, described: None, line: mode.has(Feature::NoLine).then_some(None) }
    }
}

struct Body<'b, 'w> {
    writer: &'b mut Writer<'w>,
    module: &'b Module,
    binding: &'b Binding,
    places: &'b Places<'b>,
    entities: &'b Entities,
    out: Out<'w>,
    current: BlockState,
    fitting: Option<Fitting>,
}

impl Body<'_, '_> {
    fn function(
        &mut self,
        index: usize,
        function: &FunctionLayout,
        blocks: &Blocks,
        mut placed: &[Placed],
    ) -> Result<()> {
        let bound = self.places.functions[index];
        let mut state = BindingState { scope: bound.map(|id| self.module.function(id).scope), line: None };
        // A function without blocks cannot contain the definition.
        if let Some(id) = bound.filter(|_| blocks.all.is_empty() && self.writer.is_shader()) {
            self.writer.omit(self.module, Subject::Function(id), Property::Code, Reason::NoBlocks);
        }
        for (number, block) in blocks.all.iter().enumerate() {
            self.current = BlockState::at_start(self.writer.mode);
            // An existing line between two blocks applies in the second block.
            let before = number.checked_sub(1).map(|before| blocks.all[before].end as usize);
            let mut word = block.start as usize;
            let mut read = before.unwrap_or(function.at.start);
            loop {
                let has_own_line = blocks.has_lines && self.lines(read..word);
                read = word;
                let start = self.out.copy(word);
                if number == 0 && word == block.start as usize {
                    self.definition(bound, function.id)?;
                }
                let (here, rest) =
                    placed.split_at(placed.iter().take_while(|it| it.at as usize <= word).count());
                placed = rest;
                self.group(
                    here,
                    &mut state,
                    // The module's existing line at a block's start takes precedence.
                    word == block.start as usize && !has_own_line,
                    Spot { function: function.at.clone(), at: word },
                )?;
                self.out.add(start);
                match placed.first() {
                    Some(next) if next.at <= block.end => word = next.at as usize,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Whether these words in a block contain the module's own lines, which then apply.
    fn lines(&mut self, at: core::ops::Range<usize>) -> bool {
        let is_line = |it: Instruction<'_>| matches!(it.opcode(), op::LINE | op::NO_LINE);
        let has_lines =
            !self.writer.mode.has(Feature::DebugLines) && self.writer.layout.words().between(at).any(is_line);
        if has_lines {
            self.current.line = None;
        }
        has_lines
    }

    /// Writes the link from an `OpFunction` to its `DebugFunction`, if the set has an instruction for it.
    fn definition(&mut self, function: Option<FunctionId>, id: Id) -> Result<()> {
        let Some(debug) = function.and_then(|function| self.entities.function(function)) else {
            return Ok(());
        };
        if self.writer.is_shader() {
            self.write(InstructionName::FunctionDefinition, [debug.into(), id.into()])?;
        }
        Ok(())
    }

    /// Writes the statements at one position: scope, line, then variables in order. `has_line`: the line is repeated.
    fn group(
        &mut self,
        placed: &[Placed],
        state: &mut BindingState,
        mut has_line: bool,
        spot: Spot,
    ) -> Result<()> {
        // Only the last scope and line at a position have an effect, so that they are collected before anything is
        // written.
        let binding = self.binding;
        for placed in placed {
            for (_, statement) in placed.statements(binding) {
                match *statement {
                    Statement::Scope(scope) => state.scope = scope,
                    Statement::Line(line) => (state.line, has_line) = (Some(line), true),
                    Statement::Declare { .. } | Statement::Value { .. } => {}
                }
            }
        }
        self.scope(state.scope)?;
        if let Some(line) = state.line.filter(|_| has_line) {
            self.line(line)?;
        }
        for (_, statement) in placed.iter().flat_map(|placed| placed.statements(binding)) {
            match *statement {
                Statement::Scope(_) | Statement::Line(_) => {}
                Statement::Declare { variable, provider } => {
                    self.variable(variable, state.scope, &spot, |variable_writer, all| {
                        variable_writer.declare(provider, &all[provider as usize])
                    })?;
                }
                Statement::Value { variable, provider, count } => {
                    let range = provider as usize..provider as usize + count as usize;
                    self.variable(variable, state.scope, &spot, |variable_writer, all| {
                        variable_writer.value(provider, &all[range])
                    })?;
                }
            }
        }
        // A variable may have changed the scope for its inlined call.
        self.scope(state.scope)
    }

    /// Writes a variable's instruction. The scope identifies the inlined call: if the current scope belongs to another
    /// call, the variable's scope is written first.
    fn variable(
        &mut self,
        variable: VariableId,
        scope: Option<ScopeId>,
        spot: &Spot,
        write: impl FnOnce(&mut VariableWriter<'_, '_>, &[Provider]) -> Result<()>,
    ) -> Result<()> {
        let instance_of = self.entities.instance_of(self.module, variable);
        // The instance has no instruction of its own, so that the origin's is used.
        if instance_of != variable
            && let Some(id) = self.binding.global_id(instance_of)
        {
            let what = format!("the variable has positions, but its origin has the global id {id}");
            return Err(Error::bad_argument(what).or_at(self.module.at_variable(variable, None)));
        }
        let Some(debug) = self.entities.variable(instance_of) else { return Ok(()) };
        let (own, ty) = self.entities.of_variable(self.module, variable);
        let owners = &self.places.owners;
        // Scopes with the same owner belong to the same call.
        let is_own = |scope: &ScopeId| *scope == own || owners[*scope] == owners[own];
        self.scope(Some(scope.filter(is_own).unwrap_or(own)))?;
        let Self { writer, module, out, binding, fitting, .. } = self;
        let words = &mut out.words;
        let mut variable_writer =
            VariableWriter { writer, module, variable, ty, debug, spot, words, fitting };
        write(&mut variable_writer, &binding.providers)
            .map_err(|error| error.or_at(module.at_variable(variable, None)))
    }

    /// Sets the scope for the following instructions: the given scope, or its innermost enclosing scope that has an
    /// instruction.
    #[inline]
    fn scope(&mut self, scope: Option<ScopeId>) -> Result<()> {
        if self.current.described == scope { Ok(()) } else { self.other_scope(scope) }
    }

    fn other_scope(&mut self, mut scope: Option<ScopeId>) -> Result<()> {
        self.current.described = scope;
        let wanted = loop {
            match scope {
                None => break None,
                Some(id) => match self.entities.scopes[id] {
                    Some(scoped) => break Some(scoped),
                    None => scope = self.module.scope(id).parent,
                },
            }
        };
        if self.current.scope == wanted {
            return Ok(());
        }
        self.current.scope = wanted;
        let Some(Scoped { scope, inlined }) = wanted else { return self.write(InstructionName::NoScope, []) };
        match inlined {
            Some(inlined) => self.write(InstructionName::Scope, [scope.into(), inlined.into()]),
            None => self.write(InstructionName::Scope, [scope.into()]),
        }
    }

    /// Sets the line for the following instructions.
    fn line(&mut self, line: Option<SourceLine>) -> Result<()> {
        if self.current.line == Some(line) {
            return Ok(());
        }
        self.current.line = Some(line);
        let has_debug_lines = self.writer.mode.has(Feature::DebugLines);
        // For readers without `OpNoLine`, line 0 in any file ends a line.
        let nowhere = || Some(SourceLine::new(self.entities.paths.iter().find(|it| it.1.is_some())?.0, 0));
        let line = if self.writer.mode.has(Feature::NoLine) { line } else { line.or_else(nowhere) };
        let Some(SourceLine { file, line, column }) = line else {
            if has_debug_lines {
                return self.write(InstructionName::NoLine, []);
            }
            self.out.words.push(1 << 16 | u32::from(op::NO_LINE));
            return Ok(());
        };
        let ids = if has_debug_lines { &self.entities.sources } else { &self.entities.paths };
        let missing = || Error::new(ErrorKind::UnknownId(file.to_string()));
        let source = ids[file].ok_or_else(missing)?;
        if !has_debug_lines {
            self.out.words.extend_from_slice(&[4 << 16 | u32::from(op::LINE), source.0, line, column]);
            return Ok(());
        }
        let [line, column] = [line, column].map(Word::Number);
        // Start and end are the same line and column, because the model has no ranges.
        self.write(InstructionName::Line, [source.into(), line, line, column, column])
    }

    fn write<const N: usize>(&mut self, name: InstructionName, operands: [Word; N]) -> Result<()> {
        self.writer.all_in_body(&mut self.out.words, name, operands)
    }
}
