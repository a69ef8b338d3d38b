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
        /// Its name. That of what it defines, where it is a [definition](Self::specification).
        pub name: StringId,
        /// The scope of its body.
        pub scope: ScopeId,
        /// Its stack frame in private memory.
        pub stack: Stack,
    }
    default {
        /// What it returns; `None` for nothing.
        pub returns: Option<TypeId>,
        /// Where it is declared.
        pub line: Option<SourceLine>,
        /// The line at which its body begins, of the file in which it is declared; 0 where that is not said.
        pub body_line: u32,
        /// Where its code is; `None` if it was only inlined, or is declared and no more.
        pub address: Option<Address>,
        /// Bytes of its code.
        pub bytes: u64,
        /// Whether it is entered from the host.
        pub is_kernel: bool,
        /// Whether its stack frame begins at address 0 of private memory though it is not a kernel.
        pub is_stack_at_zero: bool,
        /// Whether it is declared here and defined elsewhere.
        pub is_declaration: bool,
        /// The declaration that this one defines.
        pub specification: Option<FunctionId>,
        /// Properties of a member function.
        pub member: MemberFunction,
        /// The parameter that is the object of a member function.
        pub object_pointer: Option<VariableId>,
        /// Where its frame begins.
        pub frame_base: Option<LocId>,
        /// Where the frame of the function around it begins, for the call that it belongs to.
        pub static_link: Option<LocId>,
        /// Which of its calls are described.
        pub calls: Option<DescribedCalls>,
        /// What it stands for as the instance of a template, in order. Few functions are one.
        pub templates: Vec<TemplateParameter>,
        /// Where its lanes stand.
        pub(crate) lanes: FunctionLanes,
        /// Which bytes are its frame's, counted from the canonical frame address in the space that it is in; `None`
        /// where that is not said.
        pub frame_extent: Option<Range<i64>>,
        /// Its frame, as indices into the module's rules.
        pub(crate) frame: Range<u32>,
        /// Its line table, as indices into the module's rows.
        pub(crate) rows: Range<u32>,
        /// Whether it was inlined somewhere.
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
