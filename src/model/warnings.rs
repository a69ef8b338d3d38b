//! Warnings: valid descriptions that can be mistakes.
//!
//! Warnings are computed on request, because most modules have been examined before they are emitted.

use core::fmt;
use core::ops::Range;

use super::ids::{CallId, FunctionId, RegionId, ScopeId, TypeId, VariableId};
use super::{Module, call_mistakes, frame_mistakes, location_mistakes, mistakes, overlap, scope_mistakes};
use crate::error::At;
use crate::op::Reg;

/// Warning kind. Kinds can be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// A variable shares bits with another variable, or with a caller's saved register, at one pc; or two of a caller's
    /// registers share bits.
    SharedBits,
    /// A function has no [rules](super::FrameRule) for its frame. On a target with `.eh_frame`: although another function
    /// has rules, or a variable is relative to the [canonical frame address](super::Loc::cfa).
    NoFrame,
    /// A PTX register has more bits than its variable, or no instruction can set the register before the pc range
    /// starts: [`check_ptx`](crate::check::check_ptx).
    DoubtfulRegister,
    /// A live range is outside the code of the variable's block or inlined call, where no debugger looks the variable up.
    OutsideScope,
    /// The second side of an `if` is before the first side in the code, or lanes wait at the wrong end of the `if`.
    SideOrder,
    /// Two functions have the same code, or overlapping code.
    SharedCode,
    /// A function's code has 0 bytes, or a kernel has no code.
    NoCode,
    /// A number type has a size in bits that is not usual for its encoding, and that its name does not contain.
    TypeSize,
    /// Members of a structure, class or variant share bits.
    OverlappingMembers,
    /// The low word of a return address is in the second of two consecutive registers or lanes.
    SwappedWords,
    /// A frame in the wave's scratch memory is at a register that counts the bytes of one lane.
    UnscaledFrame,
    /// A register moves the frame after the entry, and has no rule for its value in the caller.
    UnsavedBase,
    /// A kernel is called, or has a return address.
    CalledKernel,
    /// A function has calls, and does not state which of its calls are described.
    UndescribedCalls,
    /// Two calls of a function have one return pc, or one pc.
    DuplicateCall,
    /// Two arguments of a call are in the same register or lane.
    DuplicateArgument,
    /// A call calls a function that has no code, and is not declared.
    CalleeWithoutCode,
    /// A variable has a stack slot outside its function's frame, or before a frame that begins at address 0.
    SlotOutsideFrame,
    /// A variable is in parts of storage of which one begins at or after the variable's end.
    LargerThanType,
    /// A number is in the low 32 bits of each of several larger registers.
    HalfRegisters,
    /// A variable outside functions is always in a register.
    GlobalInRegister,
    /// A function's first row is after its start.
    LateRow,
    /// A scope has two variables with one name, type and declaration, or two instances of one variable.
    DuplicateVariable,
    /// Pc ranges of two blocks or inlined calls in one scope overlap, and neither contains the other.
    OverlappingScopes,
    /// A function's code has another size than its symbol in the object: [`check_code`](crate::check::check_code).
    SymbolSize,
    /// The code of a new object has a function that the description lacks: [`new_output`](crate::output::new_output).
    UndescribedCode,
}

impl WarningKind {
    /// Every kind.
    pub const ALL: [Self; 26] = [
        Self::SharedBits,
        Self::NoFrame,
        Self::DoubtfulRegister,
        Self::OutsideScope,
        Self::SideOrder,
        Self::SharedCode,
        Self::NoCode,
        Self::TypeSize,
        Self::OverlappingMembers,
        Self::SwappedWords,
        Self::UnscaledFrame,
        Self::UnsavedBase,
        Self::CalledKernel,
        Self::UndescribedCalls,
        Self::DuplicateCall,
        Self::DuplicateArgument,
        Self::CalleeWithoutCode,
        Self::SlotOutsideFrame,
        Self::LargerThanType,
        Self::HalfRegisters,
        Self::GlobalInRegister,
        Self::LateRow,
        Self::DuplicateVariable,
        Self::OverlappingScopes,
        Self::SymbolSize,
        Self::UndescribedCode,
    ];

    /// The name that allows the kind, such as `shared-bits`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedBits => "shared-bits",
            Self::NoFrame => "no-frame",
            Self::DoubtfulRegister => "doubtful-register",
            Self::OutsideScope => "outside-scope",
            Self::SideOrder => "side-order",
            Self::SharedCode => "shared-code",
            Self::NoCode => "no-code",
            Self::TypeSize => "type-size",
            Self::OverlappingMembers => "overlapping-members",
            Self::SwappedWords => "swapped-words",
            Self::UnscaledFrame => "unscaled-frame",
            Self::UnsavedBase => "unsaved-base",
            Self::CalledKernel => "called-kernel",
            Self::UndescribedCalls => "undescribed-calls",
            Self::DuplicateCall => "duplicate-call",
            Self::DuplicateArgument => "duplicate-argument",
            Self::CalleeWithoutCode => "callee-without-code",
            Self::SlotOutsideFrame => "slot-outside-frame",
            Self::LargerThanType => "larger-than-type",
            Self::HalfRegisters => "half-registers",
            Self::GlobalInRegister => "global-in-register",
            Self::LateRow => "late-row",
            Self::DuplicateVariable => "duplicate-variable",
            Self::OverlappingScopes => "overlapping-scopes",
            Self::SymbolSize => "symbol-size",
            Self::UndescribedCode => "undescribed-code",
        }
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The entity that shares bits with a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sharer {
    /// A variable of another type.
    Variable(VariableId),
    /// A register's value in the caller.
    Saved(Reg),
}

/// A warning's entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warned {
    /// A variable and the entity that shares its bits: [`WarningKind::SharedBits`].
    Shared(VariableId, Sharer),
    /// A function without frame rules: [`WarningKind::NoFrame`].
    Function(FunctionId),
    /// A variable in a PTX register: [`WarningKind::DoubtfulRegister`].
    Register(VariableId),
    /// A variable with a live range outside its scope: [`WarningKind::OutsideScope`].
    Outside(VariableId),
    /// The second side of an `if`: [`WarningKind::SideOrder`].
    Sides(RegionId),
    /// A function, and a function with the same code: [`WarningKind::SharedCode`].
    SharedCode(FunctionId, FunctionId),
    /// A function or kernel without code: [`WarningKind::NoCode`].
    NoCode(FunctionId),
    /// A number type: [`WarningKind::TypeSize`].
    Type(TypeId),
    /// A structure or class: [`WarningKind::OverlappingMembers`].
    Members(TypeId),
    /// A function whose return address has swapped words: [`WarningKind::SwappedWords`].
    SwappedWords(FunctionId),
    /// A function, and two of its caller's registers in the same bits, the first with the lower number:
    /// [`WarningKind::SharedBits`].
    SharedRegisters(FunctionId, Reg, Reg),
    /// A function with an unscaled frame address: [`WarningKind::UnscaledFrame`].
    UnscaledFrame(FunctionId),
    /// A function, and a register without a rule that its frame's address depends on: [`WarningKind::UnsavedBase`].
    UnsavedBase(FunctionId, Reg),
    /// A kernel with a caller: [`WarningKind::CalledKernel`].
    CalledKernel(FunctionId),
    /// A function with calls: [`WarningKind::UndescribedCalls`].
    UndescribedCalls(FunctionId),
    /// A variable in a slot: [`WarningKind::SlotOutsideFrame`].
    Slot(VariableId),
    /// A variable: [`WarningKind::LargerThanType`].
    Larger(VariableId),
    /// A call, and the call that repeats its return pc or pc: [`WarningKind::DuplicateCall`].
    DuplicateCall(CallId, CallId),
    /// A call: [`WarningKind::DuplicateArgument`].
    DuplicateArgument(CallId),
    /// The called function: [`WarningKind::CalleeWithoutCode`].
    CalleeWithoutCode(FunctionId),
    /// A variable: [`WarningKind::HalfRegisters`].
    HalfRegisters(VariableId),
    /// A variable outside functions: [`WarningKind::GlobalInRegister`].
    GlobalInRegister(VariableId),
    /// A function: [`WarningKind::LateRow`].
    LateRow(FunctionId),
    /// A variable, and the variable that repeats it: [`WarningKind::DuplicateVariable`].
    DuplicateVariable(VariableId, VariableId),
    /// Two scopes with common code: [`WarningKind::OverlappingScopes`].
    OverlappingScopes(ScopeId, ScopeId),
    /// A function: [`WarningKind::SymbolSize`].
    SymbolSize(FunctionId),
    /// A function that the module lacks: [`WarningKind::UndescribedCode`].
    UndescribedCode,
}

/// A warning about a description.
///
/// Printed: *warning (shared-bits): unit `a.cl`, function `f`, variable `n`, pc 0xc..0x10: variable `x` of another type
/// is in the same bits of v3*.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The entities.
    pub warned: Warned,
    /// The entities' names, and the half-open pc range in bytes from the function start.
    pub at: At,
    /// The message.
    pub what: String,
}

impl Warning {
    /// Returns a warning about a function.
    pub(crate) fn of_function(
        module: &Module,
        warned: Warned,
        function: FunctionId,
        pcs: Option<Range<u64>>,
        what: String,
    ) -> Self {
        let at = module.at_scope(module.functions[function].scope).with(|context| context.pcs = pcs);
        Self { warned, at, what }
    }

    /// The kind.
    pub fn kind(&self) -> WarningKind {
        match self.warned {
            Warned::Shared(..) => WarningKind::SharedBits,
            Warned::Function(_) => WarningKind::NoFrame,
            Warned::Register(_) => WarningKind::DoubtfulRegister,
            Warned::Outside(_) => WarningKind::OutsideScope,
            Warned::Sides(_) => WarningKind::SideOrder,
            Warned::SharedCode(..) => WarningKind::SharedCode,
            Warned::NoCode(_) => WarningKind::NoCode,
            Warned::Type(_) => WarningKind::TypeSize,
            Warned::Members(_) => WarningKind::OverlappingMembers,
            Warned::SwappedWords(_) => WarningKind::SwappedWords,
            Warned::SharedRegisters(..) => WarningKind::SharedBits,
            Warned::UnscaledFrame(_) => WarningKind::UnscaledFrame,
            Warned::UnsavedBase(..) => WarningKind::UnsavedBase,
            Warned::CalledKernel(_) => WarningKind::CalledKernel,
            Warned::UndescribedCalls(_) => WarningKind::UndescribedCalls,
            Warned::Slot(_) => WarningKind::SlotOutsideFrame,
            Warned::Larger(_) => WarningKind::LargerThanType,
            Warned::DuplicateCall(..) => WarningKind::DuplicateCall,
            Warned::DuplicateArgument(_) => WarningKind::DuplicateArgument,
            Warned::CalleeWithoutCode(_) => WarningKind::CalleeWithoutCode,
            Warned::HalfRegisters(_) => WarningKind::HalfRegisters,
            Warned::GlobalInRegister(_) => WarningKind::GlobalInRegister,
            Warned::LateRow(_) => WarningKind::LateRow,
            Warned::DuplicateVariable(..) => WarningKind::DuplicateVariable,
            Warned::OverlappingScopes(..) => WarningKind::OverlappingScopes,
            Warned::SymbolSize(_) => WarningKind::SymbolSize,
            Warned::UndescribedCode => WarningKind::UndescribedCode,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warning ({}): ", self.kind().name())?;
        if self.at != At::default() {
            write!(f, "{}: ", self.at)?;
        }
        f.write_str(&self.what)
    }
}

impl Module {
    /// Returns warnings about the description, sorted by kind, function and pc.
    ///
    /// * [`WarningKind::SharedBits`]: two variables in one function, a variable and a caller's register, or two of a
    ///   caller's registers, occupy the same bits in a register, in a stack slot, or in memory at an offset from the
    ///   canonical frame address, at one pc. The return address may share the bits of the registers that contain it on
    ///   entry. Each pair is listed once, and up to 16 neighbours of a location are compared.
    /// * [`WarningKind::NoFrame`]: a function has code without rules for its frame. On a target whose ABI has `.eh_frame`, a
    ///   compiler can write all frames itself, so that only a function beside functions with rules, or with a variable
    ///   relative to the canonical frame address, causes the warning.
    /// * [`WarningKind::OutsideScope`]: one warning for each variable, at its first such range.
    /// * [`WarningKind::SideOrder`]: an `else` region that was added directly after its `then` region, and begins at a
    ///   lower pc; or lanes that wait after the `if` while the first side runs, or before its end while the second runs.
    /// * [`WarningKind::SharedCode`]: one warning for each function after the first. Compilers that fold equal functions, or
    ///   that give a function several names, mean it.
    /// * [`WarningKind::NoCode`]: declarations, and targets without registers (SPIR-V), have no code. A function that is
    ///   never reached can have 0 bytes.
    /// * [`WarningKind::TypeSize`]: floating-point numbers usually have 16, 32, 64, 80, 96 or 128 bits, and integers and
    ///   characters whole bytes. A name such as `_BitInt(4)` contains the size.
    /// * [`WarningKind::OverlappingMembers`]: one warning for each structure, class or variant. Unions, members of different
    ///   variants, empty classes and padding at the end of a class may share bits.
    /// * [`WarningKind::SwappedWords`], [`WarningKind::UnscaledFrame`], [`WarningKind::CalledKernel`] and
    ///   [`WarningKind::UndescribedCalls`]: one warning for each function.
    /// * [`WarningKind::SlotOutsideFrame`]: one warning for each variable, in a function with an
    ///   [extent](crate::build::FrameBuilder::extent) and a frame at a constant distance from the base of its slots; and in a
    ///   kernel, or a function with a frame at address 0, for a slot that begins before this address.
    /// * [`WarningKind::LargerThanType`]: one warning for each variable. Bits in the last part after the variable's end may
    ///   be padding.
    /// * [`WarningKind::UnsavedBase`]: one warning for each function and register, at the first pcs at which the register
    ///   becomes part of the frame's address, is no longer part of it, or is at another distance from the frame than on
    ///   entry, while the register counts as unchanged.
    ///
    /// * [`WarningKind::DuplicateCall`]: compilers that merge equal code can describe a call for each of its sources.
    /// * [`WarningKind::DuplicateArgument`]: one warning for each call, for registers and lanes from their first bit on.
    /// * [`WarningKind::CalleeWithoutCode`]: one warning for each called function, at its first call.
    /// * [`WarningKind::HalfRegisters`]: one warning for each variable with a number type. Members of a structure, and parts of
    ///   a complex number, can be in registers of any size.
    /// * [`WarningKind::GlobalInRegister`]: C compilers have global variables in registers as an extension.
    /// * [`WarningKind::LateRow`]: a function without rows has none at its start either, and causes no warning.
    /// * [`WarningKind::DuplicateVariable`]: variables with different linkage names, and a declaration beside its definition,
    ///   are different.
    /// * [`WarningKind::OverlappingScopes`]: one warning for each scope after the first. A range within a range of a scope beside
    ///   it is as good as nested, because debuggers take the smaller range.
    ///
    /// Two variables may share bits if their types are equal apart from qualifiers and typedefs, one type contains the
    /// other, one type is a union, one variable belongs to a function that is inlined into the other variable's
    /// function or inlined call, or both are instances of one variable. A description does not show conversions that
    /// keep the bits, for example from `int` to `unsigned`, so `shared-bits` lists them too. Locations that depend on a
    /// stopped program's contents are not compared.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = overlap::warnings(self);
        warnings.extend(frame_mistakes::missing_frames(self));
        warnings.extend(mistakes::warnings(self));
        warnings.extend(frame_mistakes::warnings(self));
        warnings.extend(call_mistakes::warnings(self));
        warnings.extend(location_mistakes::warnings(self));
        warnings.extend(scope_mistakes::warnings(self));
        warnings
    }
}
