//! Calls: where control comes back to, and what the callee gets. DWARF 5 section 3.4.

use core::ops::Range;

use super::entities::{call_properties, entity};
use super::ids::{CallId, FunctionId, LocId, ScopeId, VariableId};
use super::scopes::SourceLine;

call_properties! { entity
    /// A call in the code of a function.
    ///
    /// Pcs are in bytes from the start of the function whose code it is in.
    pub struct Call {
        /// Scope of the call.
        pub scope: ScopeId,
    }
    default {
        /// Return pc: the pc after the call.
        pub return_pc: Option<u64>,
        /// Pc of the instruction that calls.
        pub pc: Option<u64>,
        /// Function that is called, where it is known.
        pub callee: Option<FunctionId>,
        /// Address that is called: a [value](super::Loc::value), true before the call.
        pub target: Option<LocId>,
        /// Address that is called, in registers and memory that the callee can change.
        pub clobbered_target: Option<LocId>,
        /// Source line.
        pub line: Option<SourceLine>,
        /// Arguments, as indices into the module's list.
        pub(crate) arguments: Range<u32>,
    }
}

/// What a call gives to the callee.
///
/// The values are the caller's, in its registers and memory at the call; as long as the callee runs, a
/// debugger finds them if the call does not change them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The call.
    pub call: CallId,
    /// Where the callee finds it when it is entered: a register, or memory.
    pub location: LocId,
    /// The callee's parameter.
    pub parameter: Option<VariableId>,
    /// The number that is given: a [value](super::Loc::value).
    pub value: Option<LocId>,
    /// For an argument that is an address, where what it points to is.
    pub data_location: Option<LocId>,
    /// The number that is there: a [value](super::Loc::value).
    pub data_value: Option<LocId>,
}
