//! Links a model to a SPIR-V module: ids of functions and variables, and positions of scopes, lines and values.

use cranelift_entity::SecondaryMap;

use super::provider::Provider;
use super::words::Id;
use crate::model::{FunctionId, ScopeId, SourceLine, UnitId, VariableId};

/// A position among a function's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Position {
    /// A block's start: after its label and its `OpPhi` and `OpVariable` instructions.
    Start {
        /// Result of the `OpFunction`.
        function: Id,
        /// Result of the `OpLabel`.
        block: Id,
    },
    /// Position before an instruction of a block. If that is one of the `OpPhi` and `OpVariable` instructions at the
    /// the block's start: after all of these.
    Before {
        /// Result of the `OpFunction`.
        function: Id,
        /// Result of the `OpLabel`.
        block: Id,
        /// The instruction's index, counted from 0 after the label. Every instruction of the module counts, `OpLine`
        /// included.
        instruction: u32,
    },
    /// Position after the instruction that defines the id. If that is one of the `OpPhi` and `OpVariable` instructions
    /// at a block's start: after all of these. If it is a parameter of the function: at the function's start.
    After(Id),
}

impl Position {
    /// The position at a block's start.
    pub fn start(function: Id, block: Id) -> Self {
        Self::Start { function, block }
    }

    /// The position before an instruction of a block, counted from 0 after the label.
    pub fn before(function: Id, block: Id, instruction: u32) -> Self {
        Self::Before { function, block, instruction }
    }

    /// The position after the instruction that defines the id.
    pub fn after(id: Id) -> Self {
        Self::After(id)
    }
}

/// A statement about a position.
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
        /// Number of value operands; each of several provides a part of the variable.
        count: u32,
    },
}

/// Consecutive statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// The `OpFunction` of the statements; `None` for statements at [`Position::After`], whose functions follow from
    /// the ids.
    pub function: Option<Id>,
    /// Index of the first statement.
    pub start: usize,
}

impl Statement {
    /// The variable of the statement.
    pub(crate) fn variable(self) -> Option<VariableId> {
        match self {
            Self::Scope(_) | Self::Line(_) => None,
            Self::Declare { variable, .. } | Self::Value { variable, .. } => Some(variable),
        }
    }
}

/// Links a [model](crate::model::Module) to a SPIR-V module.
///
/// Calls are not checked here: [`attach`](super::attach()) has the module and refuses unknown ids.
///
/// A scope or a line applies from its position to the next one of the function, in the order of the blocks; it is
/// repeated in every block in between, as the instruction set requires. A function starts in its own scope. At one
/// position scope and line come first, then declarations and values in the order of the calls.
///
/// A variable of an inlined call is identified by the scope in force: if another scope is in force, the instruction
/// for the variable is emitted in the variable's own scope. An existing `OpLine` of the module applies from its
/// position and is not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding {
    pub(crate) functions: SecondaryMap<FunctionId, Option<Id>>,
    pub(crate) globals: SecondaryMap<VariableId, Option<Id>>,
    pub(crate) statements: Vec<(Position, Statement)>,
    /// Runs of statements of one function, or of statements after ids.
    pub(crate) runs: Vec<Run>,
    pub(crate) providers: Vec<Provider>,
    pub(crate) build_identifier: Option<(String, bool)>,
    pub(crate) storage_path: Option<String>,
    pub(crate) languages: SecondaryMap<UnitId, Option<u32>>,
}

impl Binding {
    /// An empty binding.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds a function to the `OpFunction` with its code.
    pub fn function(&mut self, function: FunctionId, id: Id) -> &mut Self {
        self.functions[function] = Some(id);
        self
    }

    /// Binds a variable outside all functions to an `OpVariable` or a constant of the module.
    pub fn global(&mut self, variable: VariableId, id: Id) -> &mut Self {
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

    /// Starts a line. If the text of its file is known, the line must be in the text.
    pub fn line(&mut self, position: Position, line: SourceLine) -> &mut Self {
        self.push(position, Statement::Line(Some(line)))
    }

    /// Ends the line: the following instructions belong to no line.
    pub fn no_line(&mut self, position: Position) -> &mut Self {
        self.push(position, Statement::Line(None))
    }

    /// Declares that a variable is in memory while the function runs: at an `OpVariable`, or at the target of a
    /// parameter that is a pointer. `position` is that of the declaration. `DebugDeclare` cannot refer to a pointer
    /// other than an `OpVariable`; for such a pointer, a `DebugValue` with a dereference is emitted.
    pub fn declare(&mut self, position: Position, variable: VariableId, provider: Provider) -> &mut Self {
        let place = self.providers.len() as u32;
        self.providers.push(provider);
        self.push(position, Statement::Declare { variable, provider: place })
    }

    /// Starts values of a variable: one operand, or several that each provide a [part](Provider::part) or some
    /// [bits](Provider::bits). Other parts and bits keep their values. With an empty list the variable is unavailable
    /// from here on.
    pub fn value(&mut self, position: Position, variable: VariableId, providers: &[Provider]) -> &mut Self {
        let place = self.providers.len() as u32;
        self.providers.extend_from_slice(providers);
        self.push(position, Statement::Value { variable, provider: place, count: providers.len() as u32 })
    }

    /// Identifies the module's debug information, which may be in another file: 32 lowercase hexadecimal digits, or
    /// more. `may_be_shared`: different sources that compile to the same module have the same identifier.
    ///
    /// Only `NonSemantic.Shader.DebugInfo` has it: section "Debug Info Metadata".
    pub fn build_identifier(&mut self, digits: &str, may_be_shared: bool) -> &mut Self {
        self.build_identifier = Some((digits.to_owned(), may_be_shared));
        self
    }

    /// Sets the location of separate debug information: commonly a path relative to a search directory of the tools.
    /// Only `NonSemantic.Shader.DebugInfo` can encode it.
    pub fn storage_path(&mut self, path: &str) -> &mut Self {
        self.storage_path = Some(path.to_owned());
        self
    }

    /// Sets the source language of a unit by its
    /// [number](https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Source_Language) in SPIR-V, instead of
    /// the unit's language: 10 is WGSL and 11 Slang, which DWARF does not number.
    pub fn language(&mut self, unit: UnitId, number: u32) -> &mut Self {
        self.languages[unit] = Some(number);
        self
    }

    /// The source language of a unit, by its number in SPIR-V.
    pub fn language_number(&self, unit: UnitId) -> Option<u32> {
        self.languages[unit]
    }

    /// The build identifier, and whether different sources may share it.
    pub fn build_id(&self) -> Option<(&str, bool)> {
        self.build_identifier.as_ref().map(|(digits, may_be_shared)| (&**digits, *may_be_shared))
    }

    /// The path of separate debug information.
    pub fn stored_at(&self) -> Option<&str> {
        self.storage_path.as_deref()
    }

    /// The `OpFunction` of a function.
    pub fn function_id(&self, function: FunctionId) -> Option<Id> {
        self.functions[function]
    }

    /// The `OpVariable` or constant of a variable outside all functions.
    pub fn global_id(&self, variable: VariableId) -> Option<Id> {
        self.globals[variable]
    }

    /// The statements with their positions, in the order of the calls.
    pub fn statements(&self) -> &[(Position, Statement)] {
        &self.statements
    }

    /// The operands of declarations and values.
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// Frees the memory that more statements would need.
    pub(crate) fn shrink(&mut self) {
        self.statements.shrink_to_fit();
        self.providers.shrink_to_fit();
    }

    pub(crate) fn push(&mut self, position: Position, statement: Statement) -> &mut Self {
        let function = match position {
            Position::Start { function, .. } | Position::Before { function, .. } => Some(function),
            Position::After(_) => None,
        };
        if self.runs.last().is_none_or(|last| last.function != function) {
            self.runs.push(Run { function, start: self.statements.len() });
        }
        self.statements.push((position, statement));
        self
    }
}
