//! Where in the words that belongs which a binding says, and whether the module has what it names.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

use super::blocks::Blocks;
use super::lines::Texts;
use crate::error::{At, Error, ErrorKind, Result};
use crate::model::{FunctionId, Module, ScopeId, ScopeKind};
use crate::spirv::binding::{Binding, Position, Statement};
use crate::spirv::layout::Layout;
use crate::spirv::opcodes as op;
use crate::spirv::words::{Id, Instruction};

/// A statement, and the word before which it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Placed {
    pub at: u32,
    /// Its place among the statements of the binding.
    pub statement: u32,
}

/// Where everything is said.
#[derive(Debug)]
pub(super) struct Places {
    pub blocks: Blocks,
    /// The statements in the order of the words; at one word as they were said.
    pub placed: Vec<Placed>,
    /// What each function of the layout is in the model.
    pub functions: Vec<Option<FunctionId>>,
    /// Whose code that of a scope is.
    pub owners: SecondaryMap<ScopeId, Owner>,
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

/// Finds the places of all that the binding says.
///
/// # Errors
/// Naming variable or function, and the id: if the model or the module has not what is named, it is something else, or
/// a position is none where a debug instruction can be.
pub(super) fn place(
    layout: &Layout<'_>,
    module: &Module,
    binding: &Binding,
    texts: &Texts,
) -> Result<Places> {
    let mut find = Find {
        layout,
        module,
        binding,
        texts,
        blocks: Blocks::new(layout)?,
        functions: vec![None; layout.functions().len()],
        owners: owners(module),
        placed: Vec::with_capacity(binding.statements.len()),
        counted: Vec::new(),
    };
    find.entities()?;
    for (number, &(position, statement)) in binding.statements.iter().enumerate() {
        let number = u32::try_from(number).map_err(|_| too_many())?;
        find.statement(number, position, statement)
            .map_err(|error| error.or_at(find.at(position, statement)))?;
    }
    find.count()?;
    find.placed.sort_unstable();
    let Find { blocks, functions, owners, placed, .. } = find;
    Ok(Places { blocks, placed, functions, owners })
}

struct Find<'a> {
    layout: &'a Layout<'a>,
    module: &'a Module,
    binding: &'a Binding,
    texts: &'a Texts,
    blocks: Blocks,
    functions: Vec<Option<FunctionId>>,
    owners: SecondaryMap<ScopeId, Owner>,
    placed: Vec<Placed>,
    counted: Vec<Counted>,
}

impl<'a> Find<'a> {
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

    /// The number of the block of a function.
    fn block(&self, function: usize, id: Id) -> Result<usize> {
        let defined = self.defined(id)?;
        if defined.opcode() != op::LABEL {
            return Err(wrong(defined, "OpLabel"));
        }
        let blocks = self.blocks.of(function);
        let number = self.blocks.around(defined.at).filter(|number| blocks.contains(number));
        number.ok_or_else(|| {
            let function = self.layout.functions()[function].id;
            Error::bad_argument(format!("{id} is no block of function {function}"))
        })
    }

    fn defined(&self, id: Id) -> Result<Instruction<'a>> {
        self.layout.definition(id).ok_or_else(|| unknown(id))
    }

    fn statement(&mut self, statement: u32, position: Position, said: Statement) -> Result<()> {
        let owner = self.owner(said)?;
        let function = match position {
            Position::Start { function: id, block } => {
                let function = self.function(id)?;
                let block = self.block(function, block)?;
                self.placed.push(Placed { at: self.blocks.get(block).start, statement });
                function
            }
            Position::Before { function: id, block, instruction } => {
                let function = self.function(id)?;
                let block = self.block(function, block)? as u32;
                self.counted.push(Counted { block, instruction, statement });
                function
            }
            Position::After(id) => {
                let (function, at) = self.after(id)?;
                self.placed.push(Placed { at, statement });
                function
            }
        };
        let Some(owner) = owner else { return Ok(()) };
        let Some(own) = self.binding.functions[owner] else {
            return Err(Error::bad_argument("the function is not bound to an OpFunction"));
        };
        let here = self.layout.functions()[function].id;
        if own != here {
            return Err(Error::bad_argument(format!("its code is in {own}, and the position in {here}")));
        }
        Ok(())
    }

    /// The function of what a position is behind, and the word.
    fn after(&self, id: Id) -> Result<(usize, u32)> {
        let defined = self.defined(id)?;
        let outside = || Error::bad_argument(format!("{id} is defined outside of the blocks of a function"));
        let function = self.around(defined.at).ok_or_else(outside)?;
        if defined.opcode() == op::FUNCTION_PARAMETER {
            let first = Some(self.blocks.of(function)).filter(|blocks| !blocks.is_empty());
            return Ok((function, self.blocks.get(first.ok_or_else(outside)?.start).start));
        }
        let block = self.blocks.get(self.blocks.around(defined.at).ok_or_else(outside)?);
        Ok((function, block.start.max((defined.at + defined.words.len()) as u32)))
    }

    /// The instructions that are counted: through each block once.
    fn count(&mut self) -> Result<()> {
        self.counted.sort_unstable();
        for of_block in self.counted.chunk_by(|one, next| one.block == next.block) {
            let block = self.blocks.get(of_block[0].block as usize);
            let words = self.layout.words().between(block.label as usize..block.end as usize);
            let (mut next, mut merges, mut count) = (of_block.iter().peekable(), false, 0);
            for instruction in words.skip(1) {
                while let Some(wanted) = next.next_if(|it| it.instruction == count) {
                    if merges {
                        let what = "between a merge instruction and the branch there can be nothing";
                        return Err(self.at_counted(*wanted, what.into()));
                    }
                    let at = block.start.max(instruction.at as u32);
                    self.placed.push(Placed { at, statement: wanted.statement });
                }
                if !matches!(instruction.opcode(), op::LINE | op::NO_LINE) {
                    merges = op::is_merge(instruction.opcode());
                }
                count += 1;
            }
            if let Some(&behind) = next.next() {
                let what =
                    format!("the block has {count} instructions, and none of index {}", behind.instruction);
                return Err(self.at_counted(behind, what));
            }
        }
        Ok(())
    }

    fn at_counted(&self, counted: Counted, what: String) -> Error {
        let (position, statement) = self.binding.statements[counted.statement as usize];
        let label = self.layout.words().at(self.blocks.get(counted.block as usize).label as usize);
        let block = label.result().map(|id| format!("block {id}: ")).unwrap_or_default();
        Error::bad_argument(block + &what).or_at(self.at(position, statement))
    }

    /// The function that a statement belongs to, if it is not one about lines.
    fn owner(&self, statement: Statement) -> Result<Option<FunctionId>> {
        let variable = match statement {
            Statement::Scope(None) | Statement::Line(None) => return Ok(None),
            Statement::Scope(Some(scope)) => {
                has(&self.module.scopes, scope)?;
                let is_code = matches!(
                    self.module.scope(scope).kind,
                    ScopeKind::Function(_) | ScopeKind::Block | ScopeKind::Inlined { .. }
                );
                let owner = self.owners[scope].function.filter(|_| is_code);
                let none = || Error::bad_argument("instructions are of a function, block or inlined call");
                return owner.ok_or_else(none).map(Some);
            }
            Statement::Line(Some(line)) => {
                has(&self.module.files, line.file)?;
                return self.texts.check(self.module, line).map(|()| None);
            }
            Statement::Declare { variable, .. } | Statement::Value { variable, .. } => variable,
        };
        has(&self.module.variables, variable)?;
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

fn too_many() -> Error {
    Error::new(ErrorKind::TooLarge("more than 2^32 statements".into()))
}
