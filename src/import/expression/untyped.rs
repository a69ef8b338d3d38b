//! Reasons why an expression has no typed location.

use core::fmt;

/// An expression without a typed location: the operation, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Untyped {
    /// Byte offset of the operation in the expression; `None` if the reason is the result as a whole.
    pub offset: Option<usize>,
    /// Name of the operation, without prefix.
    pub operation: Option<&'static str>,
    /// The reason.
    pub reason: UntypedReason,
}

impl From<UntypedReason> for Untyped {
    fn from(reason: UntypedReason) -> Self {
        Self { offset: None, operation: None, reason }
    }
}

impl fmt::Display for Untyped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.operation, self.offset) {
            (Some(operation), Some(offset)) => write!(f, "`{operation}` at byte {offset}: ")?,
            (None, Some(offset)) => write!(f, "byte {offset}: ")?,
            _ => {}
        }
        self.reason.fmt(f)
    }
}

impl core::error::Error for Untyped {}

/// Reason why an expression has no typed location.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UntypedReason {
    /// The bytes are no operation.
    Undecodable,
    /// The stack has too few elements.
    Underflow,
    /// The evaluation ends with an error on every machine.
    Fault(&'static str),
    /// No node expresses the operation.
    Operation,
    /// Numbers that are not integers of up to 64 bits.
    Type(&'static str),
    /// A branch that is not a choice between two numbers.
    Branch(&'static str),
    /// The result does not depend on an operation that can fail.
    Unused,
    /// An operand refers to something unknown.
    Unresolved(Unresolved),
    /// The value on entry of something other than a register of up to 64 bits.
    EntryValue,
    /// The described object's location.
    Object,
    /// A pointer to a variable, used as a number or an address.
    Pointer,
    /// A value smaller than an address, or an offset within a constant, whose bits a big-endian machine numbers from the
    /// other end than the location node does.
    BitOrder,
    /// A constant address is outside the memory of its space.
    OutsideMemory,
    /// The tree has too many nodes, or too many levels.
    TooLarge,
}

impl UntypedReason {
    /// Whether the expression has no meaning, so that no other description has it either.
    pub fn is_meaningless(&self) -> bool {
        matches!(self, Self::Underflow | Self::Fault(_))
    }
}

impl fmt::Display for UntypedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecodable => f.write_str("the bytes are no operation"),
            Self::Underflow => f.write_str("the stack has too few elements"),
            Self::Fault(why) => write!(f, "the evaluation always fails: {why}"),
            Self::Operation => f.write_str("no location node expresses the operation"),
            Self::Type(what) => write!(f, "{what}; expected integers of up to 64 bits"),
            Self::Branch(why) => f.write_str(why),
            Self::Unused => f.write_str("the result does not use an operation that can fail"),
            Self::Unresolved(what) => write!(f, "{what} is unknown"),
            Self::EntryValue => f.write_str("the value on entry is not that of a register of up to 64 bits"),
            Self::Object => f.write_str("no location node is the described object's location"),
            Self::Pointer => f.write_str("a pointer to a variable is used as a number or an address"),
            Self::BitOrder => {
                f.write_str("a small value, or an offset within a constant, of a big-endian machine")
            }
            Self::OutsideMemory => f.write_str("a constant address is outside the memory of its space"),
            Self::TooLarge => f.write_str("the location has too many nodes or levels"),
        }
    }
}

/// What an operand refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unresolved {
    /// A symbol at an address.
    Address(u64),
    /// A symbol at an offset in thread-local storage.
    ThreadLocal(u64),
    /// An address by its index.
    Index(u64),
    /// A variable's entry.
    Variable(u64),
    /// An entry with an expression.
    Procedure(u64),
    /// A base type's entry.
    Type(u64),
    /// A register of the target.
    Register(u64),
    /// An address space of the target, or a space that is not constant.
    Space,
    /// The function's frame base.
    FrameBase,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "symbol at address {address:#x}"),
            Self::ThreadLocal(offset) => write!(f, "thread-local symbol at offset {offset:#x}"),
            Self::Index(index) => write!(f, "address with index {index}"),
            Self::Variable(entry) => write!(f, "variable with the entry {entry:#x}"),
            Self::Procedure(entry) => write!(f, "expression of the entry {entry:#x}"),
            Self::Type(entry) => write!(f, "base type with the entry {entry:#x}"),
            Self::Register(reg) => write!(f, "register {reg}"),
            Self::Space => f.write_str("the address space"),
            Self::FrameBase => f.write_str("the frame base"),
        }
    }
}
