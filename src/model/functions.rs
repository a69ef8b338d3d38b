//! Functions, apart from their bodies. DWARF 5 section 3.3.

use core::ops::Range;

use super::entities::{entity, function_properties, member};
use super::frame::Stack;
use super::ids::{FunctionId, LocId, ScopeId, StringId};
use super::lanes::FunctionLanes;
use super::parts::CodeParts;
use super::scopes::Address;
use super::types::{Accessibility, TemplateParameter};
use crate::op::Reg;
use crate::target::{Target, UnspecifiedRegisters};

function_properties! { entity (pub)
    /// A function.
    pub struct Function {
        /// Name; for a [definition](Self::specification), the declaration's; for an [instance](Self::origin), its
        /// function's.
        pub name: StringId,
        /// The body's scope.
        pub scope: ScopeId,
        /// Stack frame in private memory.
        pub stack: Stack,
    }
    default {
        /// Code address; `None` for a function that is only inlined or only declared.
        pub address: Option<Address>,
        /// End of the pcs: the code size in bytes, unless the code has several [parts](Self::code_parts).
        pub bytes: u64,
        /// All parts of code that has several.
        pub(crate) parts: Option<Box<CodeParts>>,
        /// Whether its stack frame begins at private memory's address 0 although it is not a kernel.
        pub is_stack_at_zero: bool,
        /// Whether it is declared here and defined elsewhere.
        pub is_declaration: bool,
        /// Declaration that this function defines.
        pub specification: Option<FunctionId>,
        /// Function of which this is an instance with code, such as the two destructors that C++ compilers make of a
        /// destructor, or a clone. DWARF 5 section 3.3.8.3.
        pub origin: Option<FunctionId>,
        /// Member function properties.
        pub member: MemberFunction,
        /// Template arguments, in order, if the function is a template instance.
        pub templates: Vec<TemplateParameter>,
        /// Lane divergence.
        pub(crate) lanes: FunctionLanes,
        /// Facts about the frame beside its rules, if there are any.
        pub(crate) frame_facts: Option<Box<FrameFacts>>,
        /// The caller's registers for which the frame has no rule.
        pub unspecified_registers: UnspecifiedRegisters,
        /// Frame rules, as indices into the module's list.
        pub(crate) frame: Range<u32>,
        /// Whether the frame follows from the function being a kernel, and no rule is described.
        pub(crate) is_frame_implied: bool,
        /// Line table rows, as indices into the module's list.
        pub(crate) rows: Range<u32>,
        /// Whether any call to it is inlined.
        pub(crate) is_inlined: bool,
    }
}

/// Facts about a frame beside its rules. Few functions have any, so that a function holds a pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FrameFacts {
    pub(crate) extent: Option<Range<i64>>,
    pub(crate) return_register: Option<Reg>,
    /// Frame bases by pc, in ascending order, without overlaps.
    pub(crate) bases: Vec<FrameBase>,
}

/// A frame base for a pc range: gcc describes that of DWARF 2, which lacks `DW_OP_call_frame_cfa`, for each range of the
/// prologue. DWARF 5 section 3.3.5.
///
/// The range is half-open, in bytes from the function start: the frame base is valid before the instruction at `start`
/// runs, until before the instruction at `end` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameBase {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// A register that contains the address, or the memory itself.
    pub loc: LocId,
}

impl FrameBase {
    /// Half-open pc range, in bytes from the function start.
    pub fn pcs(&self) -> Range<u64> {
        self.start.into()..self.end.into()
    }
}

impl Function {
    /// Returns the byte range of the frame, relative to the canonical frame address, in its address space; `None` if not
    /// described.
    pub fn frame_extent(&self) -> Option<Range<i64>> {
        self.frame_facts.as_ref()?.extent.clone()
    }

    /// Returns the register whose value in the caller is the return address, if it is not the target's
    /// ([`CallFrames::return_register`](crate::target::CallFrames)).
    pub fn return_register(&self) -> Option<Reg> {
        self.frame_facts.as_ref()?.return_register
    }

    /// Returns the frame bases by pc, in ascending order, of a function whose [frame base](Self::frame_base) is not the same
    /// at all pcs.
    pub fn frame_bases(&self) -> &[FrameBase] {
        self.frame_facts.as_ref().map_or(&[], |facts| &facts.bases)
    }

    /// Changes facts about the frame. A function without any is equal to a function whose facts were taken back.
    pub(crate) fn set_frame_facts(&mut self, set: impl FnOnce(&mut FrameFacts)) {
        let mut facts = self.frame_facts.take().unwrap_or_default();
        set(&mut facts);
        self.frame_facts = Some(facts).filter(|facts| **facts != FrameFacts::default());
    }

    /// Returns whether the stack frame's start is known.
    pub(crate) fn has_stack(&self) -> bool {
        self.stack.base.is_some() || self.is_kernel || self.is_stack_at_zero
    }

    /// Whether its frame is described by more than rules.
    #[cfg(feature = "spirv")]
    pub(crate) fn has_frame_facts(&self) -> bool {
        self.frame_facts.is_some() || self.unspecified_registers != UnspecifiedRegisters::default()
    }

    /// Returns the number of low bits in a register that have the same value in the caller if its frame has no rule for
    /// the register. `None` if the target lacks the register.
    pub(crate) fn unruled_bits(&self, target: &Target, reg: Reg) -> Option<u32> {
        match self.unspecified_registers {
            UnspecifiedRegisters::ByConvention => target.preserved_bits(reg),
            UnspecifiedRegisters::SameValue => target.register(reg).map(|register| register.bits),
        }
    }

    /// Whether its code is in the pc ranges of its unit. Code that has only a frame is in no unit.
    pub(crate) fn is_in_unit(&self) -> bool {
        self.address.is_some() && !(self.is_undescribed && self.rows.is_empty())
    }

    /// Whether it has an abstract instance entry (DWARF 5 section 3.3.8.1): it was inlined, or has no code.
    pub(crate) fn has_abstract(&self) -> bool {
        self.is_inlined || self.address.is_none()
    }
}

function_properties! { member
    /// Member function properties. DWARF 5 section 5.7.8.
    #[non_exhaustive]
    pub struct MemberFunction;
}

/// A member function's virtuality. DWARF 5 section 5.7.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Virtuality {
    /// Derived classes can override the function.
    Virtual,
    /// Derived classes must override the function, which has no code here.
    Pure,
}

/// Position of a member function's `= default`. DWARF 5 section 5.7.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Defaulted {
    /// Inside the class.
    InClass,
    /// Outside the class.
    OutOfClass,
}

/// Kind of calls whose description in a function is complete. DWARF 5 section 3.3.1.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DescribedCalls {
    /// All tail calls.
    Tail,
    /// All calls in the code.
    All,
    /// All calls in the source, including inlined and removed ones.
    Source,
}
