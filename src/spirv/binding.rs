//! What a SPIR-V module has of what a model describes: ids of functions and variables, and the positions from which on
//! scopes, lines and values hold.

use cranelift_entity::SecondaryMap;

use super::held::Held;
use super::words::Id;
use crate::model::{FunctionId, ScopeId, SourceLine, VariableId};

/// A place among the instructions of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Position {
    /// At the start of a block: behind its label, and behind its `OpPhi` and `OpVariable` instructions.
    Start {
        /// The result of the `OpFunction`.
        function: Id,
        /// The result of the `OpLabel`.
        block: Id,
    },
    /// Before an instruction of a block; behind all of them, if it is one of the `OpPhi` and `OpVariable` instructions
    /// that the block begins with.
    Before {
        /// The result of the `OpFunction`.
        function: Id,
        /// The result of the `OpLabel`.
        block: Id,
        /// Which instruction, the one right behind the label being 0. Each counts that the module has, `OpLine` too.
        instruction: u32,
    },
    /// Behind the instruction that defines the id; behind all of them, if it is one of the `OpPhi` and `OpVariable`
    /// instructions that a block begins with; at the start of the function, if it is one of its parameters.
    After(Id),
}

impl Position {
    /// At the start of a block.
    pub fn start(function: Id, block: Id) -> Self {
        Self::Start { function, block }
    }

    /// Before an instruction of a block, the one right behind the label being 0.
    pub fn before(function: Id, block: Id, instruction: u32) -> Self {
        Self::Before { function, block, instruction }
    }

    /// Behind the instruction that defines the id.
    pub fn after(id: Id) -> Self {
        Self::After(id)
    }
}

/// Something that is said of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    /// From here on, instructions are of this scope; of none.
    Scope(Option<ScopeId>),
    /// From here on, instructions are of this line; of none.
    Line(Option<SourceLine>),
    /// The variable is where an `OpVariable` is, as long as the function runs.
    Declare {
        /// The variable.
        variable: VariableId,
        /// The place of what holds it in [`Binding::held`].
        held: u32,
    },
    /// From here on, this holds the variable.
    Value {
        /// The variable.
        variable: VariableId,
        /// The place of the first of what holds it in [`Binding::held`].
        held: u32,
        /// The number of entries: of several, each holds a part of the variable.
        count: u32,
    },
}

/// Statements one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// The `OpFunction` that they are of. `None` if they are behind ids, each of which is in some function.
    pub function: Option<Id>,
    /// The place of the first among the statements.
    pub start: usize,
}

impl Statement {
    /// The variable that it is about.
    pub(crate) fn variable(self) -> Option<VariableId> {
        match self {
            Self::Scope(_) | Self::Line(_) => None,
            Self::Declare { variable, .. } | Self::Value { variable, .. } => Some(variable),
        }
    }
}

/// What a SPIR-V module has of a [model](crate::model::Module).
///
/// Nothing is checked here: [`attach`](super::attach()) has the module, and refuses what is not there.
///
/// A scope and a line hold from their position to that of the next of the function, in the order of its blocks: in
/// every block in between they are said again, as the instruction set asks for. From its start on a function is of its
/// own scope. At one position scope and line come first, then declarations and values in the order in which they were
/// said.
///
/// Of several inlined calls of one function the scope says which one's variable it is: where another scope is in force,
/// a variable is said in its own. An `OpLine` that the module has holds from where it is, and is not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding {
    pub(crate) functions: SecondaryMap<FunctionId, Option<Id>>,
    pub(crate) globals: SecondaryMap<VariableId, Option<Id>>,
    pub(crate) statements: Vec<(Position, Statement)>,
    /// Statements one after the other that are of one function, or behind ids.
    pub(crate) runs: Vec<Run>,
    pub(crate) held: Vec<Held>,
    pub(crate) build_identifier: Option<(String, bool)>,
    pub(crate) storage_path: Option<String>,
}

impl Binding {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The code of the function is that of this `OpFunction`.
    pub fn function(&mut self, function: FunctionId, id: Id) -> &mut Self {
        self.functions[function] = Some(id);
        self
    }

    /// The variable, which is no function's, is this `OpVariable` of the module, or this constant.
    pub fn global(&mut self, variable: VariableId, id: Id) -> &mut Self {
        self.globals[variable] = Some(id);
        self
    }

    /// Instructions from here on are of this scope: a function, block or inlined call.
    pub fn scope(&mut self, position: Position, scope: ScopeId) -> &mut Self {
        self.say(position, Statement::Scope(Some(scope)))
    }

    /// Instructions from here on are of no scope.
    pub fn no_scope(&mut self, position: Position) -> &mut Self {
        self.say(position, Statement::Scope(None))
    }

    /// Instructions from here on are of this line, which is in the text of its file, if this has one.
    pub fn line(&mut self, position: Position, line: SourceLine) -> &mut Self {
        self.say(position, Statement::Line(Some(line)))
    }

    /// Instructions from here on are of no line.
    pub fn no_line(&mut self, position: Position) -> &mut Self {
        self.say(position, Statement::Line(None))
    }

    /// The variable is where an `OpVariable` or a parameter that is a pointer says, as long as the function runs. The
    /// position is that of the declaration. Of a pointer that is no `OpVariable`, which a `DebugDeclare` cannot name, a
    /// `DebugValue` says that the variable is what it points to.
    pub fn declare(&mut self, position: Position, variable: VariableId, held: Held) -> &mut Self {
        let place = self.held.len() as u32;
        self.held.push(held);
        self.say(position, Statement::Declare { variable, held: place })
    }

    /// From here on, these hold the variable: one, or several that each hold a [part](Held::part) or some
    /// [bits](Held::bits) of it. Other parts and bits stay where they were. If there are none, nothing holds the variable
    /// from here on.
    pub fn value(&mut self, position: Position, variable: VariableId, held: &[Held]) -> &mut Self {
        let place = self.held.len() as u32;
        self.held.extend_from_slice(held);
        self.say(position, Statement::Value { variable, held: place, count: held.len() as u32 })
    }

    /// Ties the module to its debug information, which may be elsewhere: 32 lowercase hexadecimal digits, or more.
    /// It may be shared if different sources that become the same module have the same.
    ///
    /// Only `NonSemantic.Shader.DebugInfo` has it: section "Debug Info Metadata".
    pub fn build_identifier(&mut self, digits: &str, may_be_shared: bool) -> &mut Self {
        self.build_identifier = Some((digits.to_owned(), may_be_shared));
        self
    }

    /// Where the debug information of the module is stored, if it is elsewhere: commonly a path that is relative to
    /// where a tool looks for such files. Only `NonSemantic.Shader.DebugInfo` has it.
    pub fn storage_path(&mut self, path: &str) -> &mut Self {
        self.storage_path = Some(path.to_owned());
        self
    }

    /// The build identifier, and whether it may be shared.
    pub fn build_id(&self) -> Option<(&str, bool)> {
        self.build_identifier.as_ref().map(|(digits, may_be_shared)| (&**digits, *may_be_shared))
    }

    /// Where the debug information is stored.
    pub fn stored_at(&self) -> Option<&str> {
        self.storage_path.as_deref()
    }

    /// The function's `OpFunction`.
    pub fn function_id(&self, function: FunctionId) -> Option<Id> {
        self.functions[function]
    }

    /// The variable's `OpVariable` or constant, if it is no function's.
    pub fn global_id(&self, variable: VariableId) -> Option<Id> {
        self.globals[variable]
    }

    /// What is said of positions, in the order in which it was said.
    pub fn statements(&self) -> &[(Position, Statement)] {
        &self.statements
    }

    /// What holds variables.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    pub(crate) fn say(&mut self, position: Position, statement: Statement) -> &mut Self {
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
