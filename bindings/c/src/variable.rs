//! Variables as structures: the statements that a compiler makes most, without JSON text.

use std::ffi::c_char;
use std::fmt::Display;
use std::ops::Range;
use std::sync::PoisonError;

use eitri::error::At;
use eitri::json::{PlainLive, PlainVariable};
use eitri::model::{Loc, Node};
use eitri::op::Reg;
use eitri::target::SpaceId;

use crate::description::eitri_description;
use crate::error::{Failure, eitri_error, eitri_result, run};
use crate::handle;
use crate::input::{array, optional_text, place, text};

/// Node of a location: a register from its first bit on. `number` is the DWARF number.
pub const EITRI_NODE_REGISTER: u32 = 0;
/// A vector register's current lane. `number` is the register's DWARF number.
pub const EITRI_NODE_PER_LANE: u32 = 1;
/// A lane of a vector register. `number` is the register's DWARF number, `other` the lane.
pub const EITRI_NODE_LANE: u32 = 2;
/// Memory at the number before it. `number` is the address space's DWARF number; 0 is the default space.
pub const EITRI_NODE_MEMORY: u32 = 3;
/// The location before it, `other` bytes further on.
pub const EITRI_NODE_OFFSET: u32 = 4;
/// A stack slot, `other` bytes of one lane from the base of the function's stack frame.
pub const EITRI_NODE_STACK_SLOT: u32 = 5;
/// The canonical frame address, as a location.
pub const EITRI_NODE_CFA: u32 = 6;
/// No storage: the number before it.
pub const EITRI_NODE_VALUE: u32 = 7;
/// The first bits of the location before it, as a part of EITRI_NODE_PARTS. `number` is the size in bits.
pub const EITRI_NODE_PART: u32 = 8;
/// The parts before it, the first in the lowest bits. `number` is how many they are.
pub const EITRI_NODE_PARTS: u32 = 9;
/// Undefined bits.
pub const EITRI_NODE_UNDEFINED: u32 = 10;
/// A number: the constant `number`.
pub const EITRI_NODE_CONSTANT: u32 = 32;
/// The number in a whole register. `number` is the DWARF number.
pub const EITRI_NODE_READ_REGISTER: u32 = 33;
/// The number in the first `number` bits, 1 to 64, of the location before it.
pub const EITRI_NODE_READ: u32 = 34;
/// The number before it, plus the constant `other`.
pub const EITRI_NODE_PLUS: u32 = 35;
/// The sum of the two numbers before it.
pub const EITRI_NODE_ADD: u32 = 36;
/// The first minus the second number before it.
pub const EITRI_NODE_SUB: u32 = 37;
/// The product of the two numbers before it.
pub const EITRI_NODE_MUL: u32 = 38;
/// The bitwise and of the two numbers before it.
pub const EITRI_NODE_AND: u32 = 39;
/// The bitwise or of the two numbers before it.
pub const EITRI_NODE_OR: u32 = 40;
/// The bitwise exclusive or of the two numbers before it.
pub const EITRI_NODE_XOR: u32 = 41;
/// The first number before it, shifted left by the second.
pub const EITRI_NODE_SHL: u32 = 42;
/// The first number before it, shifted right by the second; zeros follow.
pub const EITRI_NODE_SHR: u32 = 43;

/// A node of a location. Nodes are in postfix order: a node comes after its operands. Statements in JSON have more nodes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_node {
    /// EITRI_NODE_REGISTER and the other kinds.
    pub kind: u32,
    /// A register, a space, a size or a constant, by the kind; otherwise 0.
    pub number: u64,
    /// A lane, a distance or a constant, by the kind; otherwise 0.
    pub other: i64,
}

/// A variable's location in a pc range.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_live {
    /// First pc, in bytes from the function's start.
    pub start: u64,
    /// Pc after the last.
    pub end: u64,
    /// Nodes of the location.
    pub nodes: *const eitri_node,
    /// Number of the nodes.
    pub nodes_count: usize,
}

/// A variable or a parameter. A structure in which fields are 0 lacks them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_variable {
    /// `sizeof(eitri_variable)`.
    pub size: usize,
    /// Name or id of the scope: a function, a block, a unit.
    pub scope: *const c_char,
    /// Name of the variable. NULL is a variable without a name.
    pub name: *const c_char,
    /// Name or id of the type.
    pub r#type: *const c_char,
    /// Id for statements that refer to the variable, or NULL.
    pub id: *const c_char,
    /// Not 0 for a parameter of the function.
    pub is_parameter: u8,
    /// File of the declaration, or NULL.
    pub file: *const c_char,
    /// Line of the declaration, counted from 1.
    pub line: u32,
    /// Column of the declaration, counted from 1; 0 without one.
    pub column: u32,
    /// Nodes of the location at all pcs, or NULL.
    pub always: *const eitri_node,
    /// Number of these nodes.
    pub always_count: usize,
    /// Locations by pc, or NULL.
    pub live: *const eitri_live,
    /// Number of these locations.
    pub live_count: usize,
}

/// Variables of a description: their texts and locations one after the other.
#[derive(Default)]
pub(crate) struct Variables {
    texts: String,
    always: Vec<Loc>,
    live: Vec<PlainLive>,
    variables: Vec<Stored>,
    /// Nodes of the location that is made.
    nodes: Vec<Node<'static>>,
}

/// A variable, with the parts of the lists that belong to it.
struct Stored {
    after: usize,
    is_parameter: bool,
    scope: Range<usize>,
    name: Range<usize>,
    ty: Range<usize>,
    id: Option<Range<usize>>,
    declared: Option<(Range<usize>, u32, u32)>,
    always: Option<usize>,
    live: Range<usize>,
}

impl Variables {
    /// Keeps a text.
    fn text(&mut self, text: &str) -> Range<usize> {
        let start = self.texts.len();
        self.texts.push_str(text);
        start..self.texts.len()
    }

    /// Makes the location with nodes.
    ///
    /// # Safety
    /// `nodes` points to `count` nodes.
    unsafe fn location(
        &mut self,
        nodes: *const eitri_node,
        count: usize,
        name: &str,
    ) -> Result<Loc, Failure> {
        self.nodes.clear();
        // SAFETY: of the caller.
        for (index, node) in unsafe { array(nodes, count, name) }?.iter().enumerate() {
            let wrong = |what: String| Failure::argument(format!("node {index} of `{name}` {what}"));
            push(&mut self.nodes, node).map_err(wrong)?;
        }
        Ok(Loc::try_from(&self.nodes[..])?)
    }

    /// Keeps a variable that comes after `after` statements.
    ///
    /// # Safety
    /// The pointers in `variable` are those that the structure describes.
    unsafe fn push(&mut self, variable: &eitri_variable, after: usize) -> Result<(), Failure> {
        let expected = size_of::<eitri_variable>();
        if variable.size != expected {
            return Err(Failure::argument(format!(
                "`variable` has the size {}; expected sizeof(eitri_variable), {expected}",
                variable.size
            )));
        }
        let before = (self.texts.len(), self.always.len(), self.live.len());
        // SAFETY: of the caller.
        let stored = unsafe { self.stored(variable, after) };
        match stored {
            Ok(stored) => self.variables.push(stored),
            Err(failure) => {
                self.texts.truncate(before.0);
                self.always.truncate(before.1);
                self.live.truncate(before.2);
                return Err(failure);
            }
        }
        Ok(())
    }

    /// # Safety
    /// The caller keeps the promises of [`push`](Self::push).
    unsafe fn stored(&mut self, variable: &eitri_variable, after: usize) -> Result<Stored, Failure> {
        // SAFETY: of the caller, here and below.
        let (scope, ty) = unsafe { (text(variable.scope, "scope")?, text(variable.r#type, "type")?) };
        // SAFETY: of the caller.
        let (name, id, file) = unsafe {
            let name = optional_text(variable.name, "name")?.unwrap_or_default();
            (name, optional_text(variable.id, "id")?, optional_text(variable.file, "file")?)
        };
        let (line, column) = (variable.line, variable.column);
        if file.is_none() && (line, column) != (0, 0) {
            return Err(Failure::argument(format!(
                "`file` is NULL, `line` is {line} and `column` is {column}; expected a file"
            )));
        }
        let at = |pcs: Option<Range<u64>>| {
            At::new(|at| {
                at.variable = Some(name.to_owned()).filter(|name| !name.is_empty());
                at.pcs = pcs;
            })
        };
        let always = if variable.always_count > 0 {
            // SAFETY: of the caller.
            let loc = unsafe { self.location(variable.always, variable.always_count, "always") };
            self.always.push(loc.map_err(|failure| failure.or_at(|| at(None)))?);
            Some(self.always.len() - 1)
        } else {
            None
        };
        let start = self.live.len();
        // SAFETY: of the caller.
        for live in unsafe { array(variable.live, variable.live_count, "live") }? {
            // SAFETY: of the caller.
            let loc = unsafe { self.location(live.nodes, live.nodes_count, "nodes") };
            let pcs = live.start..live.end;
            let loc = loc.map_err(|failure| failure.or_at(|| at(Some(pcs.clone()))))?;
            self.live.push(PlainLive { pcs, loc });
        }
        Ok(Stored {
            after,
            is_parameter: variable.is_parameter != 0,
            scope: self.text(scope),
            name: self.text(name),
            ty: self.text(ty),
            id: id.map(|id| self.text(id)),
            declared: file.map(|file| (self.text(file), line, column)),
            always,
            live: start..self.live.len(),
        })
    }

    /// Returns the variable with a number.
    pub fn get(&self, number: usize) -> Option<PlainVariable<'_>> {
        let stored = self.variables.get(number)?;
        let text = |part: &Range<usize>| &self.texts[part.clone()];
        Some(PlainVariable {
            after: stored.after,
            is_parameter: stored.is_parameter,
            scope: text(&stored.scope),
            name: text(&stored.name),
            ty: text(&stored.ty),
            id: stored.id.as_ref().map(text),
            declared: stored.declared.as_ref().map(|(file, line, column)| (text(file), *line, *column)),
            always: stored.always.map(|index| &self.always[index]),
            live: &self.live[stored.live.clone()],
        })
    }
}

/// Appends a node; returns what is wrong with it.
fn push(nodes: &mut Vec<Node<'static>>, node: &eitri_node) -> Result<(), String> {
    let eitri_node { kind, number, other } = *node;
    match kind {
        EITRI_NODE_LANE => {}
        EITRI_NODE_REGISTER
        | EITRI_NODE_PER_LANE
        | EITRI_NODE_MEMORY
        | EITRI_NODE_PART
        | EITRI_NODE_PARTS
        | EITRI_NODE_CONSTANT
        | EITRI_NODE_READ_REGISTER
        | EITRI_NODE_READ => none("other", other)?,
        EITRI_NODE_OFFSET | EITRI_NODE_STACK_SLOT | EITRI_NODE_PLUS => none("number", number)?,
        _ => none("number", number).and(none("other", other))?,
    }
    let small = |value: u64, what: &str| {
        u32::try_from(value).map_err(|_| format!("has the {what} {value}; expected less than 2^32"))
    };
    let made = match kind {
        EITRI_NODE_REGISTER => Node::Register(Reg(number)),
        EITRI_NODE_PER_LANE => Node::PerLane(Reg(number)),
        EITRI_NODE_LANE => Node::Lane(
            Reg(number),
            u32::try_from(other).map_err(|_| format!("has the lane {other}; expected 0 or more"))?,
        ),
        EITRI_NODE_MEMORY => Node::Memory(SpaceId(small(number, "space")?)),
        EITRI_NODE_OFFSET => Node::Offset(other),
        EITRI_NODE_STACK_SLOT => {
            nodes.push(Node::StackAddress(other));
            Node::Memory(SpaceId::PRIVATE_LANE)
        }
        EITRI_NODE_CFA => Node::Cfa,
        EITRI_NODE_VALUE => Node::Value,
        EITRI_NODE_PART => Node::Part(number),
        EITRI_NODE_PARTS => Node::Parts(number),
        EITRI_NODE_UNDEFINED => Node::Undefined,
        EITRI_NODE_CONSTANT => Node::Const(number),
        EITRI_NODE_READ_REGISTER => Node::ReadRegister(Reg(number)),
        EITRI_NODE_READ => Node::Read(small(number, "size")?),
        EITRI_NODE_PLUS => Node::Plus(other),
        EITRI_NODE_ADD => Node::Add,
        EITRI_NODE_SUB => Node::Sub,
        EITRI_NODE_MUL => Node::Mul,
        EITRI_NODE_AND => Node::And,
        EITRI_NODE_OR => Node::Or,
        EITRI_NODE_XOR => Node::Xor,
        EITRI_NODE_SHL => Node::Shl,
        EITRI_NODE_SHR => Node::Shr,
        _ => return Err(format!("has the kind {kind}; expected EITRI_NODE_REGISTER or another kind")),
    };
    nodes.push(made);
    Ok(())
}

/// Checks a field that a node's kind does not use.
fn none<T: Default + PartialEq + Display>(field: &str, value: T) -> Result<(), String> {
    if value == T::default() {
        Ok(())
    } else {
        Err(format!("has {value} in `{field}`; expected 0 for its kind"))
    }
}

/// Adds a variable or a parameter, as the JSON statements `variable` and `parameter` do, without their text. It comes
/// after the statements that were added before: its scope and its type are those of such statements. Nodes that are not a
/// location are an error now. All other mistakes are errors of `eitri_description_finish`, which name the variable
/// `variables[3]`, counted from 0.
///
/// # Safety
/// `variable` points to a structure whose pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_description_variable(
    description: *mut eitri_description,
    variable: *const eitri_variable,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let description = handle::get(description, "description")?;
        // SAFETY: of the caller.
        let [variable] = unsafe { array(variable, 1, "variable") }? else {
            return Err(Failure::argument("`variable` is NULL"));
        };
        let mut statements = description.0.lock().unwrap_or_else(PoisonError::into_inner);
        let after = statements.count;
        // SAFETY: of the caller.
        unsafe { statements.variables.push(variable, after) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Looks up a register of the description's target by its name, such as "v40", for nodes.
///
/// # Safety
/// `name` is a text, and `number` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_description_register(
    description: *const eitri_description,
    name: *const c_char,
    number: *mut u64,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let description = handle::get(description, "description")?;
        // SAFETY: of the caller.
        let (name, number) = unsafe { (text(name, "name")?, place(number, "number")?) };
        let statements = description.0.lock().unwrap_or_else(PoisonError::into_inner);
        number.write(statements.target.register_named(name)?.0);
        Ok(())
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}
