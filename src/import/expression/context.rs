//! What an expression depends on, and the entities to which its operands refer.

use super::untyped::Untyped;
use crate::eval::BaseType;
use crate::model::{Address, ProcedureId, Stack, Symbol, VariableId};
use crate::op::Encoding;
use crate::target::{SpaceId, Target};

/// What an expression depends on.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Registers and address spaces.
    pub target: &'a Target,
    /// Encoding of the unit, with the dialect.
    pub encoding: Encoding,
    /// Size of the described object in bits, if it is known.
    pub bits: Option<u64>,
    /// The stack frame of the function.
    pub stack: Stack,
    /// The function's frame base as an expression, if it has a frame base that is the same at all pcs.
    pub frame_base: Option<&'a [u8]>,
    /// Address space of the object, where expressions have addresses alone and the entry states the space.
    pub space: Option<SpaceId>,
    /// Elements on the stack before the first operation.
    pub initial: InitialStack,
}

impl core::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Context")
            .field("encoding", &self.encoding)
            .field("bits", &self.bits)
            .field("stack", &self.stack)
            .field("frame_base", &self.frame_base)
            .field("space", &self.space)
            .field("initial", &self.initial)
            .finish_non_exhaustive()
    }
}

/// Elements on the stack before the first operation.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InitialStack {
    /// None.
    #[default]
    Empty,
    /// The canonical frame address: a rule of call frame information. DWARF 5 section 6.4.2.3.
    Cfa,
}

/// Entities to which an expression's operands refer. Expressions are part of the object's bytes, which live for `'a`.
pub trait References<'a> {
    /// Returns what the model has for an address in the file: a symbol, or in a linked object the address. `operand` is the
    /// byte offset of the operand in the expression, where the object may have a relocation.
    fn address(&mut self, operand: usize, address: u64) -> Option<Address>;

    /// Returns the address with an index in the unit's address table, for `addrx` and `constx`.
    fn indexed(&mut self, index: u64) -> Option<u64>;

    /// Returns the symbol and the bytes from it, if the operand of a constant or an address has a relocation for a symbol that
    /// the file does not define. The operand can be the index of an address.
    fn constant(&mut self, operand: usize, value: u64) -> Option<(Symbol, i64)> {
        let _ = (operand, value);
        None
    }

    /// Returns what the model has for an offset in thread-local storage: a symbol, or in a linked object the offset. `None` if
    /// the offset of a relocatable object is in no symbol.
    fn thread_local(&mut self, offset: u64) -> Option<Address> {
        Some(Address::Constant(offset))
    }

    /// Returns the variable whose entry is at an offset.
    fn variable(&mut self, entry: EntryOffset) -> Option<VariableId>;

    /// Returns the expression of the entry at an offset.
    fn procedure(&mut self, entry: EntryOffset) -> Option<Procedure<'a>>;

    /// Returns the base type whose entry is at an offset in the unit.
    fn base_type(&mut self, entry: u64) -> Option<BaseType>;
}

/// Offset of an entry.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryOffset {
    /// Bytes from the unit's start.
    Unit(u64),
    /// Bytes from the start of `.debug_info`.
    Section(u64),
}

/// An entry that an expression calls.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy)]
pub struct Procedure<'a> {
    /// The entry's expression, encoded as the caller's.
    pub expr: &'a [u8],
    /// The procedure in the module, if the expression computes a location from an empty stack.
    pub id: Option<ProcedureId>,
}

pub type Result<T> = core::result::Result<T, Untyped>;
