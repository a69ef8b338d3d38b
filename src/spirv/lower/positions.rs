//! Maps a binding's positions to word offsets, and checks that the module has the binding's ids.

use core::ops::Range;

use super::blocks::{Block, Blocks};
use super::entities::Entities;
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{FunctionId, Module, ScopeId, ScopeKind, SecondaryMap};
use crate::spirv::binding::{Binding, Position, Statement};
use crate::spirv::layout::{FunctionLayout, ModuleLayout};
use crate::spirv::lines::Texts;
use crate::spirv::opcodes as op;
use crate::spirv::provider_rules::{unknown, wrong};
use crate::spirv::words::{Id, Instruction};

/// Message for a scope that contains no instructions.
const NOT_CODE: &str = "the scope is not a function, block or inlined call";

/// Consecutive statements, and the word before which their instructions are inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    pub at: u32,
    /// Half-open index range in the binding's statements.
    start: u32,
    end: u32,
}

impl Placed {
    /// The statements.
    pub fn statements<'b>(&self, binding: &'b Binding) -> &'b [(Position, Statement)] {
        &binding.statements[self.start as usize..self.end as usize]
    }
}

/// What a scope's code belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Owner {
    /// The function, if the scope is in one.
    pub function: Option<FunctionId>,
    /// The innermost inlined call.
    pub inlined: Option<ScopeId>,
}

/// Maps a binding's statements to words, one function at a time.
#[derive(Debug)]
pub(super) struct Places<'a> {
    layout: &'a ModuleLayout<'a>,
    module: &'a Module,
    binding: &'a Binding,
    texts: &'a Texts,
    /// The described function for each function in the layout.
    pub functions: Vec<Option<FunctionId>>,
    /// Each scope's owner.
    pub owners: SecondaryMap<ScopeId, Owner>,
    /// Number of statements up to the end of each function in the layout.
    ends: Vec<u32>,
    /// Statements sorted by function; `None` if the binding already has them in that order.
    sorted: Option<Vec<u32>>,
}

impl<'a> Places<'a> {
    /// Checks that the module has the binding's functions and global variables, and sorts the statements by function.
    ///
    /// The error names the variable or function and the id: if the model or the module lacks the entity, if the id is
    /// something else, or if a position is outside all functions. It is also an error if there are 2^32 words or
    /// statements.
    pub fn new(
        layout: &'a ModuleLayout<'a>,
        module: &'a Module,
        binding: &'a Binding,
        texts: &'a Texts,
    ) -> Result<Self> {
        // Positions and statement numbers are kept in 32 bits, because a large binding has millions of them.
        if u32::try_from(layout.words().all().len()).is_err() {
            return Err(Error::malformed("more than 2^32 words"));
        }
        if u32::try_from(binding.statements.len()).is_err() {
            return Err(Error::new(ErrorKind::TooLarge("more than 2^32 statements".into())));
        }
        let functions = vec![None; layout.functions().len()];
        let ends = vec![0; functions.len()];
        let mut places =
            Self { layout, module, binding, texts, functions, owners: owners(module), ends, sorted: None };
        places.entities()?;
        places.sort()?;
        Ok(places)
    }

    /// Counts each function's statements, and sorts the statements by function.
    fn sort(&mut self) -> Result<()> {
        let mut last = 0;
        let mut is_sorted = true;
        self.runs(|places, function, statements| {
            is_sorted &= last <= function;
            last = function;
            places.ends[function] += statements.len() as u32;
        })?;
        // Counts become end indices.
        let mut before = 0;
        for end in &mut self.ends {
            before += *end;
            *end = before;
        }
        // A counting sort. It is rarely needed, because a compiler's statements are usually grouped by function.
        if !is_sorted {
            let mut starts: Vec<_> = [0].into_iter().chain(self.ends.iter().copied()).collect();
            let mut sorted = vec![0; self.binding.statements.len()];
            self.runs(|_, function, statements| {
                for number in statements {
                    sorted[starts[function] as usize] = number as u32;
                    starts[function] += 1;
                }
            })?;
            self.sorted = Some(sorted);
        }
        Ok(())
    }

    /// Calls `each` with runs of statements in the same function, and that function's index in the layout.
    fn runs(&mut self, mut each: impl FnMut(&mut Self, usize, Range<usize>)) -> Result<()> {
        let binding = self.binding;
        let locate = |places: &Self, statement: usize, error: Error| {
            let (position, statement_data) = binding.statements[statement];
            error.or_at(places.at(position, statement_data))
        };
        let ends = binding.runs.iter().skip(1).map(|run| run.start).chain([binding.statements.len()]);
        for (run, end) in binding.runs.iter().zip(ends) {
            if let Some(id) = run.function {
                let function = self.function(id).map_err(|error| locate(self, run.start, error))?;
                each(self, function, run.start..end);
                continue;
            }
            // The ids in `After` can belong to different functions, so that each is looked up.
            for (number, &(position, _)) in (run.start..end).zip(&binding.statements[run.start..end]) {
                let Position::After(id) = position else { continue };
                let defined = self.defined(id).map_err(|error| locate(self, number, error))?;
                let function =
                    self.around(defined.at).ok_or_else(|| locate(self, number, not_in_block(id)))?;
                each(self, function, number..number + 1);
            }
        }
        Ok(())
    }

    /// Maps a function's statements to words, in ascending order; statements at the same word keep their order.
    ///
    /// # Errors
    /// The error names the variable or function and the id: if no debug instruction can be at a position, or if the
    /// position and the statement's entity are in different functions.
    pub fn place(
        &self,
        function: usize,
        blocks: &Blocks,
        entities: &Entities,
        placed: &mut Vec<Placed>,
    ) -> Result<()> {
        placed.clear();
        let start = function.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut find = Find {
            places: self,
            entities,
            function: &self.layout.functions()[function],
            blocks,
            placed,
            owned: None,
            last: None,
            block: None,
        };
        // `sorted` is `None` if the call order is the function order.
        for place in start..self.ends[function] {
            let number = self.sorted.as_ref().map_or(place, |sorted| sorted[place as usize]);
            let (position, statement) = &self.binding.statements[number as usize];
            find.statement(number, position, statement)
                .map_err(|error| error.or_at(self.at(*position, *statement)))?;
        }
        sort(placed);
        Ok(())
    }

    /// Checks the bound functions and global variables.
    fn entities(&mut self) -> Result<()> {
        self.binding.check_builder(self.module)?;
        for (function, id) in self.binding.functions.iter().filter_map(|(key, id)| Some((key, (*id)?))) {
            self.module.check_id(&self.module.functions, function)?;
            let scope = self.module.function(function).scope;
            let index = self.function(id).map_err(|error| error.or_at(self.module.at_scope(scope)))?;
            // Two functions for the same code would get two definitions.
            if let Some(other) = self.functions[index].replace(function) {
                let other = self.module.string(self.module.function(other).name);
                let what = format!("{id} already is the code of function `{other}`");
                return Err(Error::bad_argument(what).or_at(self.module.at_scope(scope)));
            }
        }
        self.binding.check_once(self.module)?;
        for (variable, id) in self.binding.globals.iter().filter_map(|(key, id)| Some((key, (*id)?))) {
            self.module.check_id(&self.module.variables, variable)?;
            self.global(id).map_err(|error| error.or_at(self.module.at_variable(variable, None)))?;
        }
        Ok(())
    }

    fn global(&self, id: Id) -> Result<()> {
        let defined = self.defined(id)?;
        let opcode = defined.opcode();
        if !op::is_constant(opcode) && !matches!(opcode, op::VARIABLE | op::UNTYPED_VARIABLE) {
            return Err(wrong(defined, "an OpVariable or a constant"));
        }
        // The id must be visible in the whole module.
        if defined.at >= self.layout.globals_end() {
            return Err(Error::bad_argument(format!("{id} is defined in a function")));
        }
        Ok(())
    }

    /// The index in the layout for a function with this `OpFunction`.
    fn function(&self, id: Id) -> Result<usize> {
        let defined = self.defined(id)?;
        if defined.opcode() != op::FUNCTION {
            return Err(wrong(defined, "an OpFunction"));
        }
        self.around(defined.at).ok_or_else(|| wrong(defined, "an OpFunction"))
    }

    /// The index in the layout for the function that contains the word.
    fn around(&self, at: usize) -> Option<usize> {
        let functions = self.layout.functions();
        let index = functions.partition_point(|function| function.at.start <= at).checked_sub(1)?;
        (at < functions[index].at.end).then_some(index)
    }

    fn defined(&self, id: Id) -> Result<Instruction<'a>> {
        self.layout.definition(id).ok_or_else(|| unknown(id))
    }

    /// A statement's entity, for an error.
    fn at(&self, position: Position, statement: Statement) -> At {
        let module = self.module;
        match statement {
            Statement::Declare { variable, .. } | Statement::Value { variable, .. }
                if module.variables.is_valid(variable) =>
            {
                module.at_variable(variable, None)
            }
            Statement::Scope(Some(scope)) if module.scopes.is_valid(scope) => module.at_scope(scope),
            _ => {
                let id = match position {
                    Position::Start { function, .. } | Position::Before { function, .. } => function,
                    Position::After(id) => id,
                };
                let function = self.layout.definition(id).and_then(|defined| self.around(defined.at));
                let function = function.and_then(|function| self.functions[function]);
                let context = function.map(|function| module.at_scope(module.function(function).scope));
                context.unwrap_or_default()
            }
        }
    }
}

/// Maps the statements in one function.
struct Find<'f, 'a> {
    places: &'f Places<'a>,
    entities: &'f Entities,
    function: &'f FunctionLayout,
    blocks: &'f Blocks,
    placed: &'f mut Vec<Placed>,
    /// The last checked scope, which is in the function.
    owned: Option<ScopeId>,
    /// The last mapped position, because consecutive statements often share a position.
    last: Option<&'f Position>,
    /// The last `OpLabel` that was looked up, and its block.
    block: Option<(Id, &'f Block)>,
}

impl<'f> Find<'f, '_> {
    fn statement(&mut self, number: u32, position: &'f Position, statement: &Statement) -> Result<()> {
        match *statement {
            Statement::Scope(None) | Statement::Line(None) => {}
            Statement::Line(Some(line)) => {
                self.places.module.check_id(&self.places.module.files, line.file)?;
                if self.places.texts.has(line.file) {
                    self.places.texts.check(self.places.module, line)?;
                }
            }
            Statement::Scope(Some(scope)) => {
                self.places.module.check_id(&self.places.module.scopes, scope)?;
                let kind = &self.places.module.scope(scope).kind;
                if !matches!(kind, ScopeKind::Function(_) | ScopeKind::Block | ScopeKind::Inlined { .. }) {
                    return Err(Error::bad_argument(NOT_CODE));
                }
                self.is_own(scope, NOT_CODE)?;
            }
            Statement::Declare { variable, .. } | Statement::Value { variable, .. } => {
                self.places.module.check_id(&self.places.module.variables, variable)?;
                if let Some(id) = self.places.binding.globals[variable] {
                    let what = format!("the variable has positions, but it has the global id {id}");
                    return Err(Error::bad_argument(what));
                }
                let (scope, _) = self.entities.of_variable(self.places.module, variable);
                self.is_own(scope, "the variable is not one of a function")?;
            }
        }
        // Consecutive statements at the same position become one entry.
        match (self.placed.last_mut(), self.last) {
            (Some(last), Some(previous)) if previous == position && last.end == number => last.end += 1,
            _ => self.find(number, position)?,
        }
        Ok(())
    }

    /// Checks that a scope's code belongs to the function.
    fn is_own(&mut self, scope: ScopeId, wrong: &str) -> Result<()> {
        if self.owned == Some(scope) {
            return Ok(());
        }
        let owner = self.places.owners[scope].function.ok_or_else(|| Error::bad_argument(wrong))?;
        let Some(own) = self.places.binding.functions[owner] else {
            return Err(Error::bad_argument("the function is not bound to an OpFunction"));
        };
        let here = self.function.id;
        if own != here {
            return Err(Error::bad_argument(format!(
                "the position is in {here}, but its scope belongs to {own}"
            )));
        }
        self.owned = Some(scope);
        Ok(())
    }

    /// Maps a position to a word.
    fn find(&mut self, number: u32, position: &'f Position) -> Result<()> {
        let word = match *position {
            Position::Start { block, .. } => self.block(block)?.start,
            Position::Before { block: label, instruction, .. } => {
                let block = self.block(label)?;
                let refused = |what| Error::bad_argument(format!("block {label}: {what}"));
                self.blocks.before(block, instruction).map_err(refused)?
            }
            Position::After(id) => self.after(id)?,
        };
        self.placed.push(Placed { at: word, start: number, end: number + 1 });
        self.last = Some(position);
        Ok(())
    }

    /// The function's block with this label.
    #[inline]
    fn block(&mut self, id: Id) -> Result<&'f Block> {
        match self.block {
            Some((last, block)) if last == id => Ok(block),
            _ => {
                let block = self.find_block(id)?;
                self.block = Some((id, block));
                Ok(block)
            }
        }
    }

    fn find_block(&self, id: Id) -> Result<&'f Block> {
        let defined = self.places.defined(id)?;
        if defined.opcode() != op::LABEL {
            return Err(wrong(defined, "an OpLabel"));
        }
        self.blocks.around(defined.at).ok_or_else(|| {
            Error::bad_argument(format!("{id} is not a block of function {}", self.function.id))
        })
    }

    /// The word after an id's definition.
    fn after(&self, id: Id) -> Result<u32> {
        let defined = self.places.defined(id)?;
        // A parameter precedes all blocks, so that the first block's start counts.
        let block = match defined.opcode() {
            op::FUNCTION_PARAMETER => self.blocks.all.first(),
            _ => self.blocks.around(defined.at),
        };
        let start = block.ok_or_else(|| not_in_block(id))?.start;
        Ok(if defined.opcode() == op::FUNCTION_PARAMETER { start } else { start.max(defined.end() as u32) })
    }
}

/// Sorts a nearly sorted list: statements for a block's start may come before statements for earlier blocks. An
/// insertion sort is fastest for such lists; a bound on its steps keeps other lists from taking quadratic time.
fn sort(placed: &mut [Placed]) {
    let key = |it: &Placed| u64::from(it.at) << 32 | u64::from(it.start);
    let mut steps = 16 * placed.len();
    for next in 1..placed.len() {
        let mut to = next;
        while to > 0 && key(&placed[to - 1]) > key(&placed[next]) {
            to -= 1;
        }
        placed[to..=next].rotate_right(1);
        match steps.checked_sub(next - to) {
            Some(left) => steps = left,
            None => return placed.sort_unstable_by_key(key),
        }
    }
}

/// Each scope's owner.
fn owners(module: &Module) -> SecondaryMap<ScopeId, Owner> {
    let mut owners = SecondaryMap::<ScopeId, Owner>::with_capacity(module.scopes.len());
    // Scopes follow their parents.
    for (id, scope) in module.scopes() {
        let parent = scope.parent.map(|parent| owners[parent]).unwrap_or_default();
        owners[id] = match scope.kind {
            ScopeKind::Function(function) => Owner { function: Some(function), inlined: None },
            ScopeKind::Block => parent,
            ScopeKind::Inlined { .. } => Owner { inlined: Some(id), ..parent },
            ScopeKind::Unit | ScopeKind::Namespace { .. } | ScopeKind::Type(_) => Owner::default(),
        };
    }
    owners
}

fn not_in_block(id: Id) -> Error {
    Error::bad_argument(format!("{id} is defined outside the blocks of a function"))
}
