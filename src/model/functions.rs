//! Functions: what is said of one besides its body. DWARF 5 section 3.3.

use core::ops::Range;

use super::entities::{entity, function_properties, member};
use super::frame::Stack;
use super::ids::{FunctionId, LocId, ScopeId, StringId, TypeId, VariableId};
use super::lanes::FunctionLanes;
use super::scopes::{Address, SourceLine};
use super::types::{Accessibility, TemplateParameter};

function_properties! { entity
    /// A function.
    pub struct Function {
        /// Name; of a [definition](Self::specification) that of the declaration.
        pub name: StringId,
        /// Scope of the body.
        pub scope: ScopeId,
        /// Stack frame in private memory.
        pub stack: Stack,
    }
    default {
        /// Type of the result; `None` for nothing.
        pub returns: Option<TypeId>,
        /// Line of the declaration.
        pub line: Option<SourceLine>,
        /// Line where the body begins, in the file of the declaration; 0 for none.
        pub body_line: u32,
        /// Address of the code; `None` for a function that is inlined or declared only.
        pub address: Option<Address>,
        /// Bytes of the code.
        pub bytes: u64,
        /// Whether the host enters it.
        pub is_kernel: bool,
        /// Whether its stack frame begins at address 0 of private memory though it is not a kernel.
        pub is_stack_at_zero: bool,
        /// Whether it is declared here and defined elsewhere.
        pub is_declaration: bool,
        /// Declaration that this function defines.
        pub specification: Option<FunctionId>,
        /// Properties of a member function.
        pub member: MemberFunction,
        /// Parameter that is the object of a member function.
        pub object_pointer: Option<VariableId>,
        /// Location of the frame base.
        pub frame_base: Option<LocId>,
        /// Location of the frame base of the enclosing function.
        pub static_link: Option<LocId>,
        /// Calls that are described: all of a kind.
        pub calls: Option<DescribedCalls>,
        /// Arguments of a template that the function is an instance of, in order.
        pub templates: Vec<TemplateParameter>,
        /// Divergence of lanes.
        pub(crate) lanes: FunctionLanes,
        /// Bytes of the frame, counted from the canonical frame address in its address space; `None` where not
        /// described.
        pub frame_extent: Option<Range<i64>>,
        /// Rules of the frame, as indices into the module's list.
        pub(crate) frame: Range<u32>,
        /// Rows of the line table, as indices into the module's list.
        pub(crate) rows: Range<u32>,
        /// Whether a call of it is inlined.
        pub(crate) is_inlined: bool,
    }
}

impl Function {
    /// Whether it is known where its stack frame begins.
    pub(crate) fn has_stack(&self) -> bool {
        self.stack.base.is_some() || self.is_kernel || self.is_stack_at_zero
    }

    /// Whether it has an entry that says what it is and not where: it was inlined, or has no code.
    pub(crate) fn has_abstract(&self) -> bool {
        self.is_inlined || self.address.is_none()
    }
}

function_properties! { member
    /// Properties of a member function. DWARF 5 section 5.7.8.
    pub struct MemberFunction;
}

/// Whether a member function can be another's in a class that inherits. DWARF 5 section 5.7.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Virtuality {
    /// It can.
    Virtual,
    /// It has to: there is no code for it here.
    Pure,
}

/// Where it is said that the compiler makes a member function. DWARF 5 section 5.7.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Defaulted {
    /// In the class.
    InClass,
    /// Outside of it.
    OutOfClass,
}

/// Which calls of a function are described. DWARF 5 section 3.3.1.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DescribedCalls {
    /// All tail calls.
    Tail,
    /// All calls that are in the code.
    All,
    /// All calls that are in the source, inlined or gone.
    Source,
}
