//! Calls: return addresses and arguments. DWARF 5 section 3.4.

use core::ops::Range;

use super::entities::{call_properties, entity};
use super::ids::{CallId, LocId, ScopeId, VariableId};

call_properties! { entity (pub)
    /// A call in a function's code.
    ///
    /// Pcs are in bytes from the start of the calling function.
    pub struct Call {
        /// Scope that contains the call.
        pub scope: ScopeId,
    }
    default {
        /// Arguments, as indices into the module's list.
        pub(crate) arguments: Range<u32>,
    }
}

/// A call argument.
///
/// The values are expressions over the caller's registers and memory at the call. While the callee runs, a debugger can
/// evaluate them unless the callee has changed their operands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// The call.
    pub call: CallId,
    /// Location on entry to the callee: a register or memory; `None` for an argument that the compiler removed, which has a
    /// parameter.
    pub location: Option<LocId>,
    /// The callee's parameter.
    pub parameter: Option<VariableId>,
    /// The argument's [value](super::Loc::value).
    pub value: Option<LocId>,
    /// Location of the pointed-to object, for an argument that is an address. Without it, the argument is the location.
    pub data_location: Option<LocId>,
    /// The pointed-to object's [value](super::Loc::value).
    pub data_value: Option<LocId>,
}
