//! Calls: DWARF 5 section 3.4.

use super::builder::Builder;
use super::ids::{check_line, known};
use super::loc;
use super::properties::methods;
use super::scopes::InScope;
use super::slots::Slot;
use crate::error::Result;
use crate::model::entities::call_properties;
use crate::model::{
    Argument, Call, CallId, FunctionId, Loc, LocId, Module, Node, ScopeId, ScopeKind, SourceLine, Val,
    VariableId, VariableKind,
};

/// Describes a call. Made by [`Builder::call`].
#[derive(Debug)]
pub struct CallBuilder<'b> {
    builder: &'b mut Builder,
    id: CallId,
}

/// Describes a call argument. Made by [`CallBuilder::argument`].
#[derive(Debug)]
pub struct ArgumentBuilder<'b> {
    builder: &'b mut Builder,
    /// Index in the argument list.
    index: usize,
}

impl Builder {
    /// Adds a call in a function's code, block or inlined call. The call is identified by the pc to which the callee
    /// returns, by the pc of the call instruction, or by both.
    ///
    /// DWARF 5 debuggers find a call in any of these scopes. LLVM's tools expect it directly in the function, and LLVM
    /// 19's verifier does not terminate on a call in a block.
    ///
    /// A debugger finds the callee's [entry values](Val::entry_value) through the call's arguments. A function with calls
    /// also states which of its calls are described ([`describes`](super::FunctionBuilder::describes)): gdb looks for
    /// tail calls only in a function with all of them, and LLVM's verifier requires the statement.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId) where the scope does not exist;
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where it has no code.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, SourceLine, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// let callee = m.function(unit, "g")?.code("g", 0x20).id();
    /// let mut call = m.call(f)?;
    /// call.calls(callee)?.returns_to(0x14)?;
    /// // The callee's caller had this value in s4 at the call.
    /// call.argument(&Loc::register(s4))?.value(Val::constant(7))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn call(&mut self, scope: impl InScope) -> Result<CallBuilder<'_>> {
        let scope = scope.scope(&self.module)?;
        let kind = &self.module.scopes[scope].kind;
        if !matches!(kind, ScopeKind::Function(_) | ScopeKind::Block | ScopeKind::Inlined { .. })
            || self.module.function_of(scope).is_none()
        {
            return Err(crate::Error::bad_argument(
                "call is in another scope; expected a function, a block or an inlined call",
            )
            .or_at(self.module.at_scope(scope)));
        }
        let id = self.module.calls.push(Call::new(scope));
        Ok(CallBuilder { builder: self, id })
    }

    /// Returns a builder for a call's further properties.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId).
    pub fn describe_call(&mut self, call: CallId) -> Result<CallBuilder<'_>> {
        known(self.module.calls.is_valid(call), || self.module.unknown(call))?;
        Ok(CallBuilder { builder: self, id: call })
    }
}

call_properties! { methods (self) CallBuilder; }

impl CallBuilder<'_> {
    /// Returns the call's id.
    pub fn id(&self) -> CallId {
        self.id
    }

    /// Sets the return pc: the pc after the call instruction, in bytes from the function start. For a callee that does
    /// not return, it may be the function's end.
    ///
    /// # Errors
    /// [`OutsideFunction`](crate::error::ErrorKind::OutsideFunction); [`BadArgument`](crate::error::ErrorKind::BadArgument)
    /// where the pc is not after the pc of the call.
    pub fn returns_to(&mut self, pc: u64) -> Result<&mut Self> {
        let scope = self.data().scope;
        self.builder.return_pc(scope, pc)?;
        self.check_order(self.builder.module.calls[self.id].pc, Some(pc))?;
        self.data().return_pc = Some(pc);
        Ok(self)
    }

    /// Sets the pc of the call instruction, in bytes from the function start.
    ///
    /// # Errors
    /// [`OutsideFunction`](crate::error::ErrorKind::OutsideFunction); [`BadArgument`](crate::error::ErrorKind::BadArgument)
    /// where the pc is not before the return pc.
    pub fn at(&mut self, pc: u64) -> Result<&mut Self> {
        let scope = self.data().scope;
        self.builder.instruction_pc(scope, pc)?;
        self.check_order(Some(pc), self.builder.module.calls[self.id].return_pc)?;
        self.data().pc = Some(pc);
        Ok(self)
    }

    /// Sets the function that is called.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId) where the function does not exist or belongs to another unit:
    /// such a function needs a [declaration](Builder::function_declaration) in this unit.
    pub fn calls(&mut self, function: FunctionId) -> Result<&mut Self> {
        let scope = self.data().scope;
        self.builder.reached_function(scope, function)?;
        self.data().callee = Some(function);
        Ok(self)
    }

    /// Sets the address that an indirect call goes to, valid before the call and while the callee runs.
    ///
    /// # Errors
    /// Same errors as [`VariableBuilder::live`](super::VariableBuilder::live) for the number.
    pub fn target(&mut self, address: Val) -> Result<&mut Self> {
        let loc = self.number(address, "the address of the callee")?;
        self.data().target = Some(loc);
        Ok(self)
    }

    /// Sets the address that an indirect call goes to, valid only before the call: the callee may clobber its location.
    ///
    /// # Errors
    /// Same errors as [`target`](Self::target).
    pub fn clobbered_target(&mut self, address: Val) -> Result<&mut Self> {
        let loc = self.number(address, "the address of the callee")?;
        self.data().clobbered_target = Some(loc);
        Ok(self)
    }

    /// Sets the call's source position.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId) where the file does not exist or belongs to another unit.
    pub fn line(&mut self, line: SourceLine) -> Result<&mut Self> {
        let scope = self.data().scope;
        check_line(&self.builder.module, Some(line), scope)
            .map_err(|error| error.or_at(self.builder.module.at_scope(scope)))?;
        self.data().line = Some(line);
        Ok(self)
    }

    /// Adds an argument, by its location on entry to the callee: a register, or memory.
    ///
    /// # Errors
    /// Same errors as [`VariableBuilder::live`](super::VariableBuilder::live) for the location;
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) for a location without storage, such as a
    /// [value](Loc::value): the callee finds an argument in storage, and its value is set by
    /// [`value`](ArgumentBuilder::value).
    pub fn argument(&mut self, location: &Loc) -> Result<ArgumentBuilder<'_>> {
        let scope = self.data().scope;
        let is_stored = has_storage(location);
        let location = place(self.builder, scope, location, "the argument")?;
        if !is_stored {
            let what = "argument is in no storage; expected the register or memory in which the callee finds it on entry";
            return Err(crate::Error::bad_argument(what).or_at(self.builder.module.at_scope(scope)));
        }
        Ok(self.new_argument(Some(location)))
    }

    /// Adds an argument that the compiler removed, by the callee's parameter: the callee finds it nowhere, but a debugger
    /// shows its [value](ArgumentBuilder::value). The callee is set first. DWARF 5 section 3.4.2.
    ///
    /// # Errors
    /// Same errors as [`ArgumentBuilder::parameter`].
    pub fn removed_argument(&mut self, parameter: VariableId) -> Result<ArgumentBuilder<'_>> {
        let module = &self.builder.module;
        check_parameter(module, &module.calls[self.id], parameter)?;
        let mut argument = self.new_argument(None);
        argument.data().parameter = Some(parameter);
        Ok(argument)
    }

    fn new_argument(&mut self, location: Option<LocId>) -> ArgumentBuilder<'_> {
        let index = self.builder.module.lists.arguments.len();
        self.builder.module.lists.arguments.push(Argument {
            call: self.id,
            location,
            parameter: None,
            value: None,
            data_location: None,
            data_value: None,
        });
        ArgumentBuilder { builder: self.builder, index }
    }

    fn number(&mut self, value: Val, what: &str) -> Result<LocId> {
        let scope = self.data().scope;
        place(self.builder, scope, &Loc::value(value), what)
    }

    /// Refuses a call that returns to a pc before it, or to itself.
    fn check_order(&self, pc: Option<u64>, return_pc: Option<u64>) -> Result<()> {
        match (pc, return_pc) {
            (Some(pc), Some(return_pc)) if return_pc <= pc => {
                let what = format!("call at {pc:#x} returns to {return_pc:#x}; expected a pc after the call");
                let module = &self.builder.module;
                Err(crate::Error::bad_argument(what).or_at(module.at_scope(module.calls[self.id].scope)))
            }
            _ => Ok(()),
        }
    }

    fn data(&mut self) -> &mut Call {
        &mut self.builder.module.calls[self.id]
    }
}

impl ArgumentBuilder<'_> {
    /// Sets the argument's value, computed from what the caller knows while the callee runs.
    ///
    /// # Errors
    /// Same errors as [`VariableBuilder::live`](super::VariableBuilder::live) for the number.
    pub fn value(&mut self, value: Val) -> Result<&mut Self> {
        let loc = self.place(&Loc::value(value), "the value of an argument")?;
        self.data().value = Some(loc);
        Ok(self)
    }

    /// Describes the pointee, for an argument that is an address: its location, from what the callee knows on entry,
    /// and its value, from what the caller knows.
    ///
    /// # Errors
    /// Same errors as [`value`](Self::value).
    pub fn points_to(&mut self, location: &Loc, value: Val) -> Result<&mut Self> {
        let location = self.place(location, "the data location of an argument")?;
        let value = self.place(&Loc::value(value), "the data value of an argument")?;
        let data = self.data();
        (data.data_location, data.data_value) = (Some(location), Some(value));
        Ok(self)
    }

    /// Sets the value of the pointee, for an argument that is an address, where only the argument says where the pointee is:
    /// gcc's description of a reference.
    ///
    /// # Errors
    /// Same errors as [`value`](Self::value).
    pub fn points_to_value(&mut self, value: Val) -> Result<&mut Self> {
        let value = self.place(&Loc::value(value), "the data value of an argument")?;
        let data = self.data();
        (data.data_location, data.data_value) = (None, Some(value));
        Ok(self)
    }

    /// Sets the callee's parameter. gdb 13 ignores an argument with both a location and a parameter; for gdb 13, give
    /// only the location.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId) where it does not exist;
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where it is not a parameter of the called function; and the
    /// same errors as the parameter's [`VariableBuilder::live`](super::VariableBuilder::live) for the argument's
    /// location.
    pub fn parameter(&mut self, parameter: VariableId) -> Result<&mut Self> {
        let call = self.data().call;
        let module = &self.builder.module;
        let call = &module.calls[call];
        check_parameter(module, call, parameter)?;
        let variable = &module.variables[parameter];
        let bits = module.types[variable.ty].value_bits;
        let unit = module.scopes[variable.scope].unit;
        let what = "the argument";
        let procedures = &self.builder.procedures;
        if let Some(location) = module.lists.arguments[self.index].location {
            // The location may cover only a part of the argument, so that no size is required.
            let place = module.nodes(location);
            let checked = loc::check_in(module, procedures, unit, place, None, what, loc::UNKNOWN);
            checked
                .and_then(|checked| loc::known_lane(&module.target, what, &checked, bits.unwrap_or(u64::MAX)))
                .map_err(|error| error.or_at(module.at_scope(call.scope)))?;
        }
        self.data().parameter = Some(parameter);
        Ok(self)
    }

    fn place(&mut self, loc: &Loc, what: &str) -> Result<LocId> {
        let call = self.data().call;
        let scope = self.builder.module.calls[call].scope;
        place(self.builder, scope, loc, what)
    }

    fn data(&mut self) -> &mut Argument {
        &mut self.builder.module.lists.arguments[self.index]
    }
}

/// Refuses a variable that is not a parameter of the function that a call calls.
fn check_parameter(module: &Module, call: &Call, parameter: VariableId) -> Result<()> {
    let context = || module.at_scope(call.scope);
    known(module.variables.is_valid(parameter), || module.unknown(parameter))
        .map_err(|error| error.or_at(context()))?;
    let variable = &module.variables[parameter];
    // Only the callee's parameters: a parameter of an inlined copy belongs to another scope. A parameter that is removed from an
    // instance is that of the function, or of an instance without code.
    let first = |function: FunctionId| {
        core::iter::successors(Some(function), |&function| module.functions[function].origin).last()
    };
    let is_its = call.callee.is_some_and(|callee| match module.scopes[variable.scope].kind {
        ScopeKind::Function(function) => first(function) == first(callee),
        _ => false,
    });
    if is_its && variable.kind == VariableKind::Parameter {
        return Ok(());
    }
    let error =
        crate::Error::bad_argument("argument is for a variable that is not a parameter of the callee");
    let variable = module.at_variable(parameter, None).variable;
    Err(error.or_at(context().with(|context| context.variable = variable)))
}

/// Returns whether a location can have storage: a number, a constant, a pointer to a variable and an undefined location
/// have none.
fn has_storage(loc: &Loc) -> bool {
    // Operands come before their node: parts with storage make a location with storage.
    let mut has_part = false;
    let mut has_storage = true;
    for node in loc.nodes() {
        match node {
            Node::Implicit(_) | Node::Value | Node::PointerTo(..) | Node::Undefined => has_storage = false,
            Node::Offset(_) | Node::BitOffset(_) => {}
            Node::Part(_) => has_part |= has_storage,
            Node::Parts(_) => has_storage = core::mem::take(&mut has_part),
            _ => has_storage = true,
        }
    }
    has_storage
}

fn place(builder: &mut Builder, scope: ScopeId, loc: &Loc, what: &str) -> Result<LocId> {
    let unit = builder.module.scopes[scope].unit;
    let checked = builder.check_location(unit, loc, None, what);
    // A stack slot needs the function's base, which may be set later.
    if matches!(checked, Ok(true)) {
        builder.slot(Slot::Scope(scope));
    }
    checked
        .and_then(|_| builder.module.locs.push(loc))
        .map_err(|error| error.or_at(builder.module.at_scope(scope)))
}
