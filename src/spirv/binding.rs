//! Links a model to a SPIR-V module: function and variable ids, and positions for scopes, lines and values.

use super::provider::Provider;
use super::words::Id;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{
    EntityId, FunctionId, Module, Owner, ScopeId, SecondaryMap, SourceLine, UnitId, VariableId,
};

/// A position among a function's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Position {
    /// A block's start: after its label and its `OpPhi` and `OpVariable` instructions.
    Start {
        /// Result id of the `OpFunction`.
        function: Id,
        /// Result id of the `OpLabel`.
        block: Id,
    },
    /// Position before an instruction. If the instruction is an `OpPhi` or `OpVariable` at the block's start, the
    /// position is after all such instructions.
    Before {
        /// Result id of the `OpFunction`.
        function: Id,
        /// Result id of the `OpLabel`.
        block: Id,
        /// The instruction's index, counted from 0 after the label. Every instruction counts, including `OpLine`.
        instruction: u32,
    },
    /// Position after the instruction that defines the id. If the instruction is an `OpPhi` or `OpVariable` at a
    /// block's start, the position is after all such instructions. If it is a function parameter, the position is the
    /// function's start.
    After(Id),
}

impl Position {
    /// The position at a block's start.
    pub fn start(function: Id, block: Id) -> Self {
        Self::Start { function, block }
    }

    /// The position before an instruction, counted from 0 after the block's label.
    pub fn before(function: Id, block: Id, instruction: u32) -> Self {
        Self::Before { function, block, instruction }
    }

    /// The position after the instruction that defines the id.
    pub fn after(id: Id) -> Self {
        Self::After(id)
    }
}

/// A statement about a position.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    /// The following instructions belong to this scope, or to no scope.
    Scope(Option<ScopeId>),
    /// The following instructions belong to this line, or to no line.
    Line(Option<SourceLine>),
    /// The variable is in memory, at an `OpVariable`, while the function runs.
    Declare {
        /// The variable.
        variable: VariableId,
        /// Index of the memory operand in [`Binding::providers`].
        provider: u32,
    },
    /// The variable has this value from here on.
    Value {
        /// The variable.
        variable: VariableId,
        /// Index of the first value operand in [`Binding::providers`].
        provider: u32,
        /// Number of value operands. If there are several, each provides a part of the variable.
        count: u32,
    },
}

/// Consecutive statements in the same function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// The function's `OpFunction`; `None` for statements at [`Position::After`], whose functions follow from the ids.
    pub function: Option<Id>,
    /// Index of the first statement.
    pub start: usize,
}

impl Statement {
    /// The variable that the statement describes.
    pub(crate) fn variable(self) -> Option<VariableId> {
        match self {
            Self::Scope(_) | Self::Line(_) => None,
            Self::Declare { variable, .. } | Self::Value { variable, .. } => Some(variable),
        }
    }
}

/// Links a [model](crate::model::Module) to a SPIR-V module.
///
/// Calls are not checked here, because only [`attach`](super::attach()) has the module; it refuses unknown ids.
///
/// A scope or line applies from its position to the function's next scope or line, in block order. It is repeated in
/// every block in between, because the instruction set ends scopes and lines with each block. A function starts in its
/// own scope. At one position, the scope and line come first, then declarations and values in call order.
///
/// A variable in an inlined call is identified by the current scope: if the scope differs, the variable's instruction
/// is emitted in the variable's own scope. An existing `OpLine` applies from its position and is not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding {
    pub(crate) functions: SecondaryMap<FunctionId, Option<Id>>,
    pub(crate) globals: SecondaryMap<VariableId, Option<Id>>,
    pub(crate) statements: Vec<(Position, Statement)>,
    /// Runs of statements in the same function, or after ids.
    pub(crate) runs: Vec<Run>,
    pub(crate) providers: Vec<Provider>,
    pub(crate) build_identifier: Option<(String, bool)>,
    pub(crate) storage_path: Option<String>,
    pub(crate) languages: SecondaryMap<UnitId, Option<u32>>,
    /// The first function that was bound to a second id.
    twice: Option<(FunctionId, [Id; 2])>,
    /// The builder of the ids in the maps.
    owner: Owner,
}

impl Binding {
    /// An empty binding.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds a function to the `OpFunction` with its code. [`attach`](super::attach()) refuses a function that is bound to
    /// two ids.
    pub fn function(&mut self, function: FunctionId, id: Id) -> &mut Self {
        self.owner = self.owner.join(function.owner());
        let before = self.functions[function].replace(id).filter(|&before| before != id);
        self.twice = self.twice.or(before.map(|before| (function, [before, id])));
        self
    }

    /// Binds a variable outside all functions to an `OpVariable` or a constant of the module.
    pub fn global(&mut self, variable: VariableId, id: Id) -> &mut Self {
        self.owner = self.owner.join(variable.owner());
        self.globals[variable] = Some(id);
        self
    }

    /// Starts a scope: a function, block or inlined call.
    pub fn scope(&mut self, position: Position, scope: ScopeId) -> &mut Self {
        self.push(position, Statement::Scope(Some(scope)))
    }

    /// Ends the scope: the following instructions belong to no scope.
    pub fn no_scope(&mut self, position: Position) -> &mut Self {
        self.push(position, Statement::Scope(None))
    }

    /// Starts a line. If the file's text is known, it must contain the line.
    pub fn line(&mut self, position: Position, line: SourceLine) -> &mut Self {
        self.push(position, Statement::Line(Some(line)))
    }

    /// Ends the line: the following instructions belong to no line.
    pub fn no_line(&mut self, position: Position) -> &mut Self {
        self.push(position, Statement::Line(None))
    }

    /// Declares that a variable is in memory while the function runs: at an `OpVariable`, or where a pointer parameter
    /// points. `position` is the declaration's position. `DebugDeclare` cannot refer to a pointer other than an
    /// `OpVariable`; for such a pointer, a `DebugValue` with a dereference is emitted.
    pub fn declare(&mut self, position: Position, variable: VariableId, provider: Provider) -> &mut Self {
        let place = self.providers.len() as u32;
        self.providers.push(provider);
        self.push(position, Statement::Declare { variable, provider: place })
    }

    /// Starts values for a variable: one operand, or several that each provide a [part](Provider::part) or some
    /// [bits](Provider::bits). Other parts and bits keep their values. An empty list makes the variable unavailable
    /// from here on.
    pub fn value(&mut self, position: Position, variable: VariableId, providers: &[Provider]) -> &mut Self {
        let place = self.providers.len() as u32;
        self.providers.extend_from_slice(providers);
        self.push(position, Statement::Value { variable, provider: place, count: providers.len() as u32 })
    }

    /// Identifies the module's debug information, which may be in another file, by 32 or more lowercase hexadecimal
    /// digits. `may_be_shared`: different sources that compile to the same module have the same identifier.
    ///
    /// Only `NonSemantic.Shader.DebugInfo` can encode it: section "Debug Info Metadata".
    pub fn build_identifier(&mut self, digits: &str, may_be_shared: bool) -> &mut Self {
        self.build_identifier = Some((digits.to_owned(), may_be_shared));
        self
    }

    /// Sets the location of separate debug information: usually a path relative to one of the tools' search
    /// directories. Only `NonSemantic.Shader.DebugInfo` can encode it.
    pub fn storage_path(&mut self, path: &str) -> &mut Self {
        self.storage_path = Some(path.to_owned());
        self
    }

    /// Sets a unit's source language by its SPIR-V
    /// [number](https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Source_Language), instead of the unit's
    /// DWARF language: 10 is WGSL and 11 Slang, which DWARF does not number.
    pub fn language(&mut self, unit: UnitId, number: u32) -> &mut Self {
        self.owner = self.owner.join(unit.owner());
        self.languages[unit] = Some(number);
        self
    }

    /// The unit's source language, as a SPIR-V number.
    pub fn language_number(&self, unit: UnitId) -> Option<u32> {
        self.languages[unit]
    }

    /// The build identifier, and whether different sources may share it.
    pub fn build_id(&self) -> Option<(&str, bool)> {
        self.build_identifier.as_ref().map(|(digits, may_be_shared)| (&**digits, *may_be_shared))
    }

    /// The path to separate debug information.
    pub fn stored_at(&self) -> Option<&str> {
        self.storage_path.as_deref()
    }

    /// The function's `OpFunction`.
    pub fn function_id(&self, function: FunctionId) -> Option<Id> {
        self.functions[function]
    }

    /// The `OpVariable` or constant for a variable outside all functions.
    pub fn global_id(&self, variable: VariableId) -> Option<Id> {
        self.globals[variable]
    }

    /// The statements with their positions, in call order.
    pub fn statements(&self) -> &[(Position, Statement)] {
        &self.statements
    }

    /// The operands in declarations and values.
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// Refuses ids in the maps that belong to another builder: the maps' keys are only numbers.
    pub(crate) fn check_builder(&self, module: &Module) -> Result<()> {
        if module.owner().admits(self.owner) {
            Ok(())
        } else {
            Err(ErrorKind::OtherBuilder("an id in the binding".into()).into())
        }
    }

    /// Refuses a function that was bound to two ids.
    pub(crate) fn check_once(&self, module: &Module) -> Result<()> {
        let Some((function, [first, second])) = self.twice else { return Ok(()) };
        module.check_id(&module.functions, function)?;
        let what = format!("function is bound to {first} and to {second}; expected one OpFunction");
        Err(Error::bad_argument(what).or_at(module.at_scope(module.functions[function].scope)))
    }

    /// Refuses ids that the module does not have.
    pub(crate) fn check_ids(&self, module: &Module) -> Result<()> {
        self.check_builder(module)?;
        for (function, _) in self.functions.iter().filter(|bound| bound.1.is_some()) {
            module.check_id(&module.functions, function)?;
        }
        for (variable, _) in self.globals.iter().filter(|bound| bound.1.is_some()) {
            module.check_id(&module.variables, variable)?;
        }
        self.statements.iter().try_for_each(|&(_, statement)| match statement {
            Statement::Scope(Some(scope)) => module.check_id(&module.scopes, scope),
            Statement::Line(Some(line)) => module.check_id(&module.files, line.file),
            Statement::Declare { variable, .. } | Statement::Value { variable, .. } => {
                module.check_id(&module.variables, variable)
            }
            Statement::Scope(None) | Statement::Line(None) => Ok(()),
        })
    }

    /// Frees the memory reserved for more statements.
    pub(crate) fn shrink(&mut self) {
        self.statements.shrink_to_fit();
        self.providers.shrink_to_fit();
    }

    pub(crate) fn push(&mut self, position: Position, statement: Statement) -> &mut Self {
        let function = match position {
            Position::Start { function, .. } | Position::Before { function, .. } => Some(function),
            Position::After(_) => None,
        };
        // Lowering looks up a function once for each run, so that long runs are cheap.
        if self.runs.last().is_none_or(|last| last.function != function) {
            self.runs.push(Run { function, start: self.statements.len() });
        }
        self.statements.push((position, statement));
        self
    }
}
