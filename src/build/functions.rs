//! Functions: DWARF 5 section 3.3.

use core::ops::Range;

use super::attributes::AttributeValue;
use super::builder::Builder;
use super::ids::known;
use super::loc;
use super::pcs;
use super::properties::methods;
use super::scopes::InScope;
use super::types::Template;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::model::entities::function_properties;
use crate::model::{
    Accessibility, Address, CodePart, Defaulted, DescribedCalls, FrameBase, Function, FunctionId, Loc, LocId,
    ScopeKind, SourceLine, Stack, StringId, Symbol, TypeId, VariableId, VariableKind, Virtuality,
};
use crate::op::Reg;
use crate::target::Scaling;

impl Builder {
    /// Adds a function. Without [`code`](FunctionBuilder::code) it has no separate code: it was only inlined.
    ///
    /// In a structure, class or union it is a member function; in a function or block, a function nested in that
    /// function.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope around it does not exist.
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
    /// let f = m.function(unit, "f")?.code("f", 0x40).returns(int)?.id();
    /// // A kernel is entered from the host.
    /// let k = m.function(unit, "k")?.code("k", 0x80).kernel().id();
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn function(&mut self, parent: impl InScope, name: &str) -> Result<FunctionBuilder<'_>> {
        let parent = parent.scope(&self.module)?;
        let name = self.name(name).map_err(|error| error.or_at(self.module.at_scope(parent)))?;
        self.new_function(parent, name)
    }

    /// Adds a function that is declared here and defined elsewhere: in another unit, or by
    /// [`function_definition`](Self::function_definition). Its parameters have types and no locations. DWARF 5 section
    /// 2.13.1.
    ///
    /// # Errors
    /// Same errors as [`function`](Self::function).
    pub fn function_declaration(&mut self, parent: impl InScope, name: &str) -> Result<FunctionBuilder<'_>> {
        let mut function = self.function(parent, name)?;
        function.data().is_declaration = true;
        Ok(function)
    }

    /// Adds the definition for a function that was [declared](Self::function_declaration) in another scope, such as a
    /// member function outside its type. DWARF 5 section 2.13.2.
    ///
    /// The definition takes name, return type and accessibility from the declaration. Its parameters are described
    /// again.
    ///
    /// # Errors
    /// Same errors as [`function`](Self::function); [`ErrorKind::UnknownId`] where the declaration does not exist or
    /// belongs to another unit; [`ErrorKind::BadArgument`] where the function is not a declaration.
    pub fn function_definition(
        &mut self,
        parent: impl InScope,
        declaration: FunctionId,
    ) -> Result<FunctionBuilder<'_>> {
        let parent = parent.scope(&self.module)?;
        let declared = self.reached_function(parent, declaration)?;
        if !declared.is_declaration {
            let what = format!(
                "`{}` is a definition; expected a declaration to complete",
                self.module.string(declared.name)
            );
            return Err(crate::Error::bad_argument(what).or_at(self.module.at_scope(parent)));
        }
        let name = declared.name;
        let returns = declared.returns;
        let mut function = self.new_function(parent, name)?;
        let data = function.data();
        (data.specification, data.returns) = (Some(declaration), returns);
        Ok(function)
    }

    /// Adds an instance of a function that has several, each with code: the two destructors that C++ compilers make of a
    /// destructor, or the clones of an optimizer. The function itself has no code; it can be a declaration, or an instance of
    /// a further function. DWARF 5 section 3.3.8.3.
    ///
    /// The instance takes name, return type and other properties from the function; its variables are
    /// [instances](Self::inlined_variable) of the function's, and its blocks can [be](Self::inlined_block).
    ///
    /// # Errors
    /// Same errors as [`function`](Self::function); [`ErrorKind::UnknownId`] where the function does not exist or
    /// belongs to another unit.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # let cpu = Target::named("x86_64")?;
    /// # let (rdi, rsi) = (cpu.register_named("rdi")?, cpu.register_named("rsi")?);
    /// # let mut m = Builder::new(cpu);
    /// # let unit = m.unit("a.c");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// let power = m.function(unit, "power")?.returns(int)?.id();
    /// let base = m.parameter(power, "base", int)?.id();
    /// let exponent = m.parameter(power, "exponent", int)?.id();
    /// let whole = m.function_instance(unit, power)?.code("power", 0x40).id();
    /// m.inlined_variable(whole, base)?.always(Loc::register(rdi))?;
    /// m.inlined_variable(whole, exponent)?.always(Loc::register(rsi))?;
    /// // A clone for the exponent 2.
    /// let square = m.function_instance(unit, power)?.code("power.constprop.0", 0x10).id();
    /// m.inlined_variable(square, base)?.always(Loc::register(rdi))?;
    /// m.inlined_variable(square, exponent)?.const_value(&2_i32.to_le_bytes())?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn function_instance(
        &mut self,
        parent: impl InScope,
        function: FunctionId,
    ) -> Result<FunctionBuilder<'_>> {
        let parent = parent.scope(&self.module)?;
        let name = self.reached_function(parent, function)?.name;
        let mut instance = self.new_function(parent, name)?;
        instance.data().origin = Some(function);
        Ok(instance)
    }

    fn new_function(&mut self, parent: impl InScope, name: StringId) -> Result<FunctionBuilder<'_>> {
        let parent = parent.scope(&self.module)?;
        let id = self.module.functions.next_key();
        let scope = self.scope(parent, ScopeKind::Function(id));
        let stack = Stack::kernel(&self.module.target);
        self.module.functions.push(Function::new(name, scope, stack));
        Ok(FunctionBuilder { builder: self, id })
    }

    /// Returns a builder for a function's further properties.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn describe_function(&mut self, function: FunctionId) -> Result<FunctionBuilder<'_>> {
        self.known_function(function)?;
        Ok(FunctionBuilder { builder: self, id: function })
    }

    /// Returns the function, if entities of the scope's unit can refer to it.
    pub(super) fn reached_function(
        &self,
        scope: crate::model::ScopeId,
        function: FunctionId,
    ) -> Result<&Function> {
        let unit = self.module.scopes[scope].unit;
        let found_function = self.module.functions.get(function);
        let unit_of = |function: &Function| self.module.scopes[function.scope].unit;
        match found_function.filter(|function| self.module.reaches(unit, unit_of(function))) {
            Some(found_function) => Ok(found_function),
            None => {
                let missing = self.module.unknown_in(function, " of this unit");
                Err(crate::Error::new(missing).or_at(self.module.at_scope(scope)))
            }
        }
    }
}

/// Describes a function. Made by [`Builder::function`].
#[derive(Debug)]
pub struct FunctionBuilder<'b> {
    builder: &'b mut Builder,
    id: FunctionId,
}

function_properties! { methods (self) FunctionBuilder; }

impl FunctionBuilder<'_> {
    /// Sets the function's code: `bytes` bytes at a symbol in the object. Call `code` before any use of the function's
    /// pcs. [`Builder::finish`] rejects a symbol without a name.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// // The symbol is the linker's name; pcs count from its address. Locations need the code to
    /// // be known before them.
    /// let f = m.function(unit, "scale")?.code("_Z5scalei", 0x40).linkage_name("_Z5scalei").id();
    /// m.parameter(f, "n", int)?.live(0x00..0x40, Loc::register(s4))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn code(&mut self, symbol: &str, bytes: u64) -> &mut Self {
        self.code_from(symbol, 0, bytes)
    }

    /// Sets the function's code at `offset` bytes after a symbol.
    pub(crate) fn code_from(&mut self, symbol: &str, offset: u64, bytes: u64) -> &mut Self {
        let scope = self.data().scope;
        let symbol = Symbol(self.builder.symbol_name(symbol, |module| module.at_scope(scope)));
        self.address(Address::Symbol(symbol, offset), bytes)
    }

    /// Sets the function's code at any kind of address, and removes the parts that [`code_part`](Self::code_part) added.
    pub fn address(&mut self, address: Address, bytes: u64) -> &mut Self {
        let data = self.data();
        data.address = Some(address);
        data.bytes = bytes;
        data.parts = None;
        self
    }

    /// Adds a part of the code that is apart from the parts so far, such as blocks that are rarely executed and that a
    /// compiler moves to another section. Call it after [`code`](Self::code), and before any use of the part's pcs.
    ///
    /// A part has pcs of its own, which count instructions as the other parts' pcs do. They begin after the end of the
    /// code so far, which is a pc too: a call that ends a part returns to it. Each pc range in the function, other than
    /// that of a frame rule, is in one part.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{Address, BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// let mut m = Builder::new(Target::x86_64());
    /// let unit = m.unit("a.c");
    /// let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// let cold = Address::Symbol(m.symbol("f.cold"), 0);
    /// // 24 bytes at `f.cold` are pcs 0x41..0x59.
    /// let f = m.function(unit, "f")?.code("f", 0x40).code_part(0x41..0x59, cold)?.id();
    /// let rdi = m.target().register_named("rdi")?;
    /// m.parameter(f, "n", int)?
    ///     .live(0x00..0x40, Loc::register(rdi))?
    ///     .live(0x41..0x48, Loc::register(rdi))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the function has no code, or a part does not begin after the code so far;
    /// [`ErrorKind::EmptyRange`]; [`ErrorKind::Misaligned`] where the part begins or ends inside an instruction.
    pub fn code_part(&mut self, pcs: Range<u64>, address: Address) -> Result<&mut Self> {
        let module = &mut self.builder.module;
        let data = &module.functions[self.id];
        let scope = data.scope;
        let first = data.address;
        let bytes = data.bytes;
        pcs::range(&module.target, pcs.end, &pcs)
            .and_then(|()| pcs::instruction(&module.target, pcs.end))
            .map_err(|error| error.or_at(module.at_scope(scope)))?;
        let Some(first) = first.filter(|_| pcs.start > bytes) else {
            let what = format!(
                "a part of the code begins at pc {:#x}; expected code before it, and a pc after {bytes:#x}",
                pcs.start
            );
            return Err(crate::Error::bad_argument(what).or_at(module.at_scope(scope)));
        };
        let data = &mut module.functions[self.id];
        let parts = &mut data.parts.get_or_insert_default().list;
        if parts.is_empty() {
            parts.push(CodePart::new(first, 0..bytes));
        }
        data.bytes = pcs.end;
        parts.push(CodePart::new(address, pcs));
        Ok(self)
    }

    /// Adds a template parameter to a template instance. Parameters are in call order.
    ///
    /// # Errors
    /// Same errors as [`Builder::template`].
    pub fn template(&mut self, parameter: Template<'_>) -> Result<&mut Self> {
        let scope = self.data().scope;
        let unit = self.builder.module.scopes[scope].unit;
        let parameter = self
            .builder
            .template_parameter(unit, &parameter)
            .map_err(|error| error.or_at(self.builder.module.at_scope(scope)))?;
        self.data().templates.push(parameter);
        Ok(self)
    }

    /// Sets the return type. Without it the function returns nothing.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the type does not exist or belongs to another unit.
    pub fn returns(&mut self, ty: TypeId) -> Result<&mut Self> {
        let module = &self.builder.module;
        let scope = self.builder.module.functions[self.id].scope;
        let unit = module.scopes[scope].unit;
        let is_there = module.types.get(ty).is_some_and(|ty| module.reaches(unit, ty.unit));
        known(is_there, || module.unknown_in(ty, " of this unit"))
            .map_err(|error| error.or_at(module.at_scope(scope)))?;
        self.data().returns = Some(ty);
        Ok(self)
    }

    /// Sets the line at which the body begins, counted from 1, in the [declaration](Self::declared)'s file. DWARF
    /// encodes it in the line table rows.
    pub fn body_line(&mut self, line: u32) -> &mut Self {
        self.data().body_line = line;
        self
    }

    /// Marks the function as entered from the host. Its stack begins at private memory's address 0, and it has the frame of
    /// an [entry function](super::FrameBuilder::entry_function), unless the frame is described.
    pub fn kernel(&mut self) -> &mut Self {
        let data = self.data();
        data.is_kernel = true;
        data.is_external = true;
        self
    }

    /// Sets the parameter that is a member function's object: `this`. DWARF 5 section 5.7.8.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the parameter does not exist; [`ErrorKind::BadArgument`] where it is not a
    /// parameter of this function.
    pub fn object_pointer(&mut self, parameter: VariableId) -> Result<&mut Self> {
        let module = &self.builder.module;
        let scope = self.builder.module.functions[self.id].scope;
        known(module.variables.is_valid(parameter), || module.unknown(parameter))
            .map_err(|error| error.or_at(module.at_scope(scope)))?;
        let variable = &module.variables[parameter];
        if variable.scope != scope || variable.kind != VariableKind::Parameter {
            let error = crate::Error::bad_argument("object pointer is not a parameter of the function");
            return Err(error.or_at(
                module
                    .at_scope(scope)
                    .with(|context| context.variable = module.at_variable(parameter, None).variable),
            ));
        }
        self.data().object_pointer = Some(parameter);
        Ok(self)
    }

    /// Sets the frame base: a register that contains the address, or the memory itself. DWARF 5 section 3.3.5.
    ///
    /// # Errors
    /// Same errors as [`VariableBuilder::live`](super::VariableBuilder::live) for the location.
    pub fn frame_base(&mut self, loc: &Loc) -> Result<&mut Self> {
        let loc = self.place(loc, "the frame base")?;
        if !self.data().frame_bases().is_empty() {
            let what = "function has frame bases by pc; expected no frame base for all pcs";
            let scope = self.data().scope;
            return Err(crate::Error::bad_argument(what).or_at(self.builder.module.at_scope(scope)));
        }
        self.data().frame_base = Some(loc);
        Ok(self)
    }

    /// Adds the [frame base](Self::frame_base) for pcs, in a function whose frame base is not the same at all pcs.
    ///
    /// # Errors
    /// Same errors as [`VariableBuilder::live`](super::VariableBuilder::live); [`ErrorKind::BadArgument`] where the function
    /// has a frame base at one of the pcs.
    pub fn frame_base_at(&mut self, pcs: Range<u64>, loc: &Loc) -> Result<&mut Self> {
        let loc = self.place(loc, "the frame base")?;
        let function = self.data();
        let (bytes, scope) = (function.bytes, function.scope);
        let bases = function.frame_bases();
        let index = bases.partition_point(|base| base.pcs().start < pcs.start);
        let is_before = |base: &FrameBase| base.pcs().end > pcs.start;
        let has_base = bases[..index].last().is_some_and(is_before)
            || bases.get(index).is_some_and(|base| base.pcs().start < pcs.end)
            || function.frame_base.is_some();
        let module = &self.builder.module;
        let checked = pcs::range(&module.target, bytes, &pcs).and_then(|()| {
            let what = "function has a frame base at these pcs; expected pcs without a frame base";
            if has_base { Err(crate::Error::bad_argument(what)) } else { Ok(()) }
        });
        checked.map_err(|error| {
            error.or_at(module.at_scope(scope).with(|context| context.pcs = Some(pcs.clone())))
        })?;
        // Both pcs are within the function, whose size fits 32 bits.
        let base = FrameBase { start: pcs.start as u32, end: pcs.end as u32, loc };
        self.data().set_frame_facts(|facts| facts.bases.insert(index, base));
        Ok(self)
    }

    /// Sets a nested function's static link: the frame base of the enclosing function's call that it belongs to. DWARF
    /// 5 section 3.3.6.
    ///
    /// # Errors
    /// Same errors as [`frame_base`](Self::frame_base).
    pub fn static_link(&mut self, loc: &Loc) -> Result<&mut Self> {
        let loc = self.place(loc, "the static link")?;
        self.data().static_link = Some(loc);
        Ok(self)
    }

    /// Sets the location of a virtual member function's slot in the table of virtual functions. The expression begins with
    /// the location of the object on the stack; compilers that number the slots push the number instead. DWARF 5 section
    /// 5.7.8, and A.5.7.8.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the function is not a member function, or has it already; otherwise the same errors
    /// as [`frame_base`](Self::frame_base).
    pub fn vtable_elem_location(&mut self, loc: &Loc) -> Result<&mut Self> {
        let module = &self.builder.module;
        let scope = module.functions[self.id].scope;
        let around = module.scopes[scope].parent.map(|around| &module.scopes[around].kind);
        if !matches!(around, Some(ScopeKind::Type(_))) {
            let what = "function is not a member function; expected a structure, class or union around it";
            return Err(crate::Error::bad_argument(what).or_at(module.at_scope(scope)));
        }
        let value = AttributeValue::Location(loc.clone());
        self.builder.add_attribute(self.id, gimli::DW_AT_vtable_elem_location, value)?;
        Ok(self)
    }

    /// Declares that all [calls](Builder::call) with a kind are described, so that a debugger can infer that there was
    /// no other call. DWARF 5 section 3.3.1.4.
    pub fn describes(&mut self, calls: DescribedCalls) -> &mut Self {
        self.data().calls = Some(calls);
        self
    }

    /// Sets the register that contains the stack frame's base, in the processor's default units: see
    /// [`scaling`](Self::scaling).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRegister`]; [`ErrorKind::BadArgument`] if it is a vector register, or is wider than 64 bits.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// // A function that a kernel calls: its slots count from s33, in bytes of the whole wave.
    /// let s33 = m.target().sgpr(33)?;
    /// let f = m.function(unit, "f")?.code("f", 0x40).stack_base(s33)?.id();
    /// m.variable(f, "x", int)?.live(0x08..0x40, Loc::stack_slot(16))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn stack_base(&mut self, reg: Reg) -> Result<&mut Self> {
        let scope = self.data().scope;
        loc::scalar(&self.builder.module.target, reg)
            .map_err(|error| error.or_at(self.builder.module.at_scope(scope)))?;
        self.data().stack.base = Some(reg);
        Ok(self)
    }

    /// Puts the stack frame at private memory's address 0 for a function that is not a [kernel](Self::kernel), such as
    /// a shader or another function that the host enters. On NVIDIA's targets, slots count from the canonical frame
    /// address, and device functions have this property, too.
    pub fn stack_at_zero(&mut self) -> &mut Self {
        self.data().is_stack_at_zero = true;
        self
    }

    /// Sets the base register's units, where they are not the processor's default.
    pub fn scaling(&mut self, scaling: Scaling) -> &mut Self {
        self.data().stack.scaling = scaling;
        self
    }

    /// Returns the function's id.
    pub fn id(&self) -> FunctionId {
        self.id
    }

    fn place(&mut self, loc: &Loc, what: &str) -> Result<LocId> {
        let scope = self.data().scope;
        let unit = self.builder.module.scopes[scope].unit;
        self.builder
            .location_facts(unit, loc, None, what)
            .and_then(|checked| {
                // The location contains an address.
                let target = &self.builder.module.target;
                loc::known_lane(target, what, &checked, u64::from(target.address_bytes()) * 8)
            })
            .and_then(|_| self.builder.module.locs.push(loc))
            .map_err(|error| error.or_at(self.builder.module.at_scope(scope)))
    }

    fn text(&mut self, text: &str) -> StringId {
        let scope = self.data().scope;
        self.builder.string(text, |module| module.at_scope(scope))
    }

    fn data(&mut self) -> &mut Function {
        &mut self.builder.module.functions[self.id]
    }
}
