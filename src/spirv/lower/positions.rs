//! Where in the words that belongs which a binding says, and whether the module has what it names.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

use super::blocks::{Block, Blocks};
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{FunctionId, Module, ScopeId, ScopeKind};
use crate::spirv::binding::{Binding, Position, Statement};
use crate::spirv::layout::Layout;
use crate::spirv::opcodes as op;
#[cfg(test)]
use crate::spirv::words::STEPS;
use crate::spirv::words::{Id, Instruction};

/// A statement, and the word before which it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placed {
    pub at: u32,
    /// Its place among the statements of the binding.
    pub statement: u32,
}

/// Whose code that of a scope is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Owner {
    /// The function, if it is in one.
    pub function: Option<FunctionId>,
    /// The innermost inlined call.
    pub inlined: Option<ScopeId>,
}

/// An instruction that is counted from the label of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Counted {
    block: u32,
    instruction: u32,
    statement: u32,
}

/// Where what a binding says belongs, one function after the other.
#[derive(Debug)]
pub(super) struct Places<'a> {
    layout: &'a Layout<'a>,
    module: &'a Module,
    binding: &'a Binding,
    /// What each function of the layout is in the model.
    pub functions: Vec<Option<FunctionId>>,
    /// Whose code that of a scope is.
    pub owners: SecondaryMap<ScopeId, Owner>,
    /// How many statements there are up to the end of each function of the layout.
    ends: Vec<u32>,
    /// The statements, function by function, if they are not said so.
    sorted: Option<Vec<u32>>,
}

impl<'a> Places<'a> {
    /// Looks whether the module has what the binding names.
    ///
    /// # Errors
    /// Naming variable or function, and the id: if the model or the module has not what is named, or it is something
    /// else.
    pub fn new(layout: &'a Layout<'a>, module: &'a Module, binding: &'a Binding) -> Result<Self> {
        if u32::try_from(layout.words().all().len()).is_err() {
            return Err(Error::malformed("more than 2^32 words"));
        }
        if u32::try_from(binding.statements.len()).is_err() {
            return Err(Error::new(ErrorKind::TooLarge("more than 2^32 statements".into())));
        }
        let functions = vec![None; layout.functions().len()];
        let ends = vec![0; functions.len()];
        let mut places =
            Self { layout, module, binding, functions, owners: owners(module), ends, sorted: None };
        places.entities()?;
        places.sort()?;
        Ok(places)
    }

    /// Finds the function of each statement.
    fn sort(&mut self) -> Result<()> {
        let (mut found, mut last, mut is_sorted) = (Found::default(), 0, true);
        for &(position, statement) in &self.binding.statements {
            let at = |error: Error| error.or_at(self.at(position, statement));
            self.has(statement).map_err(at)?;
            let function = self.function_of(position, &mut found).map_err(at)?;
            is_sorted &= last <= function;
            last = function;
            self.ends[function] += 1;
        }
        let mut before = 0;
        for end in &mut self.ends {
            before += *end;
            *end = before;
        }
        if !is_sorted {
            let starts = [0].into_iter().chain(self.ends.iter().copied());
            let mut starts: Vec<u32> = starts.collect();
            let mut sorted = vec![0; self.binding.statements.len()];
            for (number, &(position, _)) in (0..).zip(&self.binding.statements) {
                let start = &mut starts[self.function_of(position, &mut found)?];
                sorted[*start as usize] = number;
                *start += 1;
            }
            self.sorted = Some(sorted);
        }
        Ok(())
    }

    /// Finds the places of what is said of a function of the layout, in the order of the words; at one word as it was
    /// said.
    ///
    /// # Errors
    /// Naming variable or function, and the id: if a position is none where a debug instruction can be, or of another
    /// function than that of which something is said.
    pub fn place(&self, function: usize, blocks: &Blocks, placed: &mut Vec<Placed>) -> Result<()> {
        placed.clear();
        let start = function.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut find =
            Find { places: self, function, blocks, placed, same: None, cursor: None, left: Vec::new() };
        for place in start..self.ends[function] {
            let number = self.sorted.as_ref().map_or(place, |sorted| sorted[place as usize]);
            let (position, statement) = self.binding.statements[number as usize];
            find.statement(number, position, statement)
                .map_err(|error| error.or_at(self.at(position, statement)))?;
        }
        find.rest()?;
        sort(placed);
        Ok(())
    }

    /// Functions and global variables.
    fn entities(&mut self) -> Result<()> {
        for (function, id) in self.binding.functions.iter().filter_map(|(key, id)| Some((key, (*id)?))) {
            has(&self.module.functions, function)?;
            let scope = self.module.function(function).scope;
            let index = self.function(id).map_err(|error| error.or_at(self.module.at_scope(scope)))?;
            if let Some(other) = self.functions[index].replace(function) {
                let other = self.module.string(self.module.function(other).name);
                let what = format!("{id} is the code of function `{other}` already");
                return Err(Error::bad_argument(what).or_at(self.module.at_scope(scope)));
            }
        }
        for (variable, id) in self.binding.globals.iter().filter_map(|(key, id)| Some((key, (*id)?))) {
            has(&self.module.variables, variable)?;
            self.global(id).map_err(|error| error.or_at(self.module.at_variable(variable, None)))?;
        }
        Ok(())
    }

    fn global(&self, id: Id) -> Result<()> {
        let defined = self.defined(id)?;
        let opcode = defined.opcode();
        if !op::is_constant(opcode) && !matches!(opcode, op::VARIABLE | op::UNTYPED_VARIABLE) {
            return Err(wrong(defined, "OpVariable or constant"));
        }
        if defined.at >= self.layout.globals_end() {
            return Err(Error::bad_argument(format!("{id} is defined in a function")));
        }
        Ok(())
    }

    /// The place among the functions of the `OpFunction` that the id is.
    fn function(&self, id: Id) -> Result<usize> {
        let defined = self.defined(id)?;
        if defined.opcode() != op::FUNCTION {
            return Err(wrong(defined, "OpFunction"));
        }
        self.around(defined.at).ok_or_else(|| wrong(defined, "OpFunction"))
    }

    /// The place among the functions of the one that has the word.
    fn around(&self, at: usize) -> Option<usize> {
        let all = self.layout.functions();
        let index = all.partition_point(|function| function.at.start <= at).checked_sub(1)?;
        (at < all[index].at.end).then_some(index)
    }

    /// The place among the functions of the one that a position is in.
    fn function_of(&self, position: Position, last: &mut Found) -> Result<usize> {
        match position {
            Position::Start { function, .. } | Position::Before { function, .. } => {
                if last.id != Some(function) {
                    *last = Found { id: Some(function), function: self.function(function)? };
                }
                Ok(last.function)
            }
            Position::After(id) => {
                let defined = self.defined(id)?;
                match self.layout.functions().get(last.function) {
                    Some(function) if function.at.contains(&defined.at) => Ok(last.function),
                    _ => self.around(defined.at).ok_or_else(|| outside(id)),
                }
            }
        }
    }

    fn defined(&self, id: Id) -> Result<Instruction<'a>> {
        self.layout.definition(id).ok_or_else(|| unknown(id))
    }

    /// Whether the model has what a statement names.
    fn has(&self, statement: Statement) -> Result<()> {
        match statement {
            Statement::Scope(None) | Statement::Line(None) => Ok(()),
            Statement::Scope(Some(scope)) => has(&self.module.scopes, scope),
            Statement::Line(Some(line)) => has(&self.module.files, line.file),
            Statement::Declare { variable, .. } | Statement::Value { variable, .. } => {
                has(&self.module.variables, variable)
            }
        }
    }

    /// The function that a statement belongs to, if it is not one about lines.
    fn owner(&self, statement: Statement) -> Result<Option<FunctionId>> {
        let variable = match statement {
            Statement::Scope(None) | Statement::Line(_) => return Ok(None),
            Statement::Scope(Some(scope)) => {
                let is_code = matches!(
                    self.module.scope(scope).kind,
                    ScopeKind::Function(_) | ScopeKind::Block | ScopeKind::Inlined { .. }
                );
                let owner = self.owners[scope].function.filter(|_| is_code);
                let none = || Error::bad_argument("instructions are of a function, block or inlined call");
                return owner.ok_or_else(none).map(Some);
            }
            Statement::Declare { variable, .. } | Statement::Value { variable, .. } => variable,
        };
        if let Some(id) = self.binding.globals[variable] {
            let what = format!("the variable is {id} wherever its function is");
            return Err(Error::bad_argument(what));
        }
        let owner = self.owners[self.module.variable(variable).scope].function;
        owner.map(Some).ok_or_else(|| Error::bad_argument("the variable is not one of a function"))
    }

    /// Of whom something was said.
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
                let at = function.map(|function| module.at_scope(module.function(function).scope));
                at.unwrap_or_default()
            }
        }
    }
}

/// The function that was found last: many statements one after the other are of one.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    id: Option<Id>,
    function: usize,
}

/// Finds the places of what is said of one function.
struct Find<'f, 'a> {
    places: &'f Places<'a>,
    function: usize,
    blocks: &'f Blocks,
    placed: &'f mut Vec<Placed>,
    /// The position that was found last, and its word: often several things are said of one.
    same: Option<(Position, u32)>,
    /// How far instructions are counted. It does not go back.
    cursor: Option<Cursor>,
    /// What is behind the cursor.
    left: Vec<Counted>,
}

impl Find<'_, '_> {
    fn statement(&mut self, statement: u32, position: Position, said: Statement) -> Result<()> {
        match self.same {
            Some((same, at)) if same == position => self.placed.push(Placed { at, statement }),
            _ => self.find(statement, position)?,
        }
        let Some(owner) = self.places.owner(said)? else { return Ok(()) };
        let Some(own) = self.places.binding.functions[owner] else {
            return Err(Error::bad_argument("the function is not bound to an OpFunction"));
        };
        let here = self.places.layout.functions()[self.function].id;
        if own != here {
            return Err(Error::bad_argument(format!("its code is in {own}, and the position in {here}")));
        }
        Ok(())
    }

    /// The word of a position: where it is found later, it is among those that are left.
    fn find(&mut self, statement: u32, position: Position) -> Result<()> {
        let at = match position {
            Position::Start { block, .. } => self.blocks.all[self.block(block)?].start,
            Position::Before { block, instruction, .. } => {
                let wanted = Counted { block: self.block(block)? as u32, instruction, statement };
                match self.before(wanted)? {
                    Some(at) => at,
                    None => {
                        self.left.push(wanted);
                        return Ok(());
                    }
                }
            }
            Position::After(id) => self.after(id)?,
        };
        self.placed.push(Placed { at, statement });
        self.same = Some((position, at));
        Ok(())
    }

    /// The number of a block of the function.
    fn block(&self, id: Id) -> Result<usize> {
        let defined = self.places.defined(id)?;
        if let Some(Cursor { block, label, .. }) = self.cursor
            && label == defined.at
        {
            return Ok(block as usize);
        }
        if defined.opcode() != op::LABEL {
            return Err(wrong(defined, "OpLabel"));
        }
        self.blocks.around(defined.at).ok_or_else(|| {
            let function = self.places.layout.functions()[self.function].id;
            Error::bad_argument(format!("{id} is no block of function {function}"))
        })
    }

    /// The word behind what defines an id.
    fn after(&self, id: Id) -> Result<u32> {
        let defined = self.places.defined(id)?;
        let block = match defined.opcode() {
            op::FUNCTION_PARAMETER => self.blocks.all.first(),
            _ => self.blocks.around(defined.at).map(|number| &self.blocks.all[number]),
        };
        let start = block.ok_or_else(|| outside(id))?.start;
        Ok(if defined.opcode() == op::FUNCTION_PARAMETER { start } else { start.max(defined.end() as u32) })
    }

    /// The word of an instruction of a block. `None` if it is behind the cursor: mostly they are said in order.
    fn before(&mut self, wanted: Counted) -> Result<Option<u32>> {
        let cursor = match &mut self.cursor {
            Some(cursor) if cursor.block == wanted.block && cursor.count <= wanted.instruction => cursor,
            Some(cursor) if cursor.block >= wanted.block => return Ok(None),
            cursor => cursor.insert(Cursor::new(self.places.layout, self.blocks, wanted.block)),
        };
        match cursor.to(self.places.layout, wanted.instruction) {
            Ok(at) => Ok(Some(at)),
            Err(what) => Err(self.at_counted(wanted, what)),
        }
    }

    /// What the cursor left behind: it goes through all blocks once more.
    fn rest(&mut self) -> Result<()> {
        let mut left = core::mem::take(&mut self.left);
        left.sort_unstable();
        self.cursor = None;
        for wanted in left {
            let at = self.before(wanted)?;
            self.placed.extend(at.map(|at| Placed { at, statement: wanted.statement }));
        }
        Ok(())
    }

    fn at_counted(&self, counted: Counted, what: String) -> Error {
        let (position, statement) = self.places.binding.statements[counted.statement as usize];
        let label = self.places.layout.words().at(self.blocks.all[counted.block as usize].label as usize);
        let block = label.result().map(|id| format!("block {id}: ")).unwrap_or_default();
        Error::bad_argument(block + &what).or_at(self.places.at(position, statement))
    }

}

/// Sorts what is nearly sorted: what is said of the start of a block can be said before what comes before the block.
fn sort(placed: &mut [Placed]) {
    let key = |it: &Placed| u64::from(it.at) << 32 | u64::from(it.statement);
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

/// How far the instructions of a block are counted.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    block: u32,
    /// Its label; behind the instructions that it begins with; behind it.
    label: usize,
    start: u32,
    end: usize,
    /// Which instruction is next, the one behind the label being 0, and its word.
    count: u32,
    at: usize,
    /// The opcode of the one before, lines aside.
    before: u16,
}

impl Cursor {
    fn new(layout: &Layout<'_>, blocks: &Blocks, block: u32) -> Self {
        let Block { label, start, end } = blocks.all[block as usize];
        let at = layout.words().at(label as usize).end();
        Self { block, label: label as usize, start, end: end as usize, count: 0, at, before: op::LABEL }
    }

    /// Goes to an instruction: its word, or why nothing can be before it.
    fn to(&mut self, layout: &Layout<'_>, instruction: u32) -> Result<u32, String> {
        let words = &layout.words().all()[..self.end];
        while self.count < instruction
            && let Some(&first) = words.get(self.at)
        {
            #[cfg(test)]
            STEPS.set(STEPS.get() + 1);
            let opcode = first as u16;
            if !matches!(opcode, op::LINE | op::NO_LINE) {
                self.before = opcode;
            }
            self.at += (first >> 16) as usize;
            self.count += 1;
        }
        if self.at >= self.end {
            let count = self.count;
            return Err(format!("the block has {count} instructions, and none of index {instruction}"));
        }
        if op::is_merge(self.before) {
            return Err("between a merge instruction and the branch there can be nothing".into());
        }
        Ok(self.start.max(self.at as u32))
    }
}

/// Whose code that of each scope is.
fn owners(module: &Module) -> SecondaryMap<ScopeId, Owner> {
    let mut owners = SecondaryMap::<ScopeId, Owner>::with_capacity(module.scopes.len());
    // What is in a block or an inlined call was made after it.
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

/// Whether the model has it.
fn has<K: EntityRef + core::fmt::Display, V>(all: &PrimaryMap<K, V>, id: K) -> Result<()> {
    let unknown = || Error::new(ErrorKind::UnknownId(id.to_string()));
    if all.is_valid(id) { Ok(()) } else { Err(unknown()) }
}

pub(super) fn unknown(id: Id) -> Error {
    Error::new(ErrorKind::UnknownId(id.to_string()))
}

/// Something is not what it should be.
pub(super) fn wrong(defined: Instruction<'_>, wanted: &str) -> Error {
    let id = defined.result().unwrap_or(Id(0));
    let is = match op::name(defined.opcode()) {
        Some(name) => format!("an {name}"),
        None => format!("an instruction of opcode {}", defined.opcode()),
    };
    Error::bad_argument(format!("{id} is {is}, and no {wanted}"))
}

fn outside(id: Id) -> Error {
    Error::bad_argument(format!("{id} is defined outside of the blocks of a function"))
}
