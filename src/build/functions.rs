//! Functions: DWARF 5 section 3.3.

use super::scopes::InScope;
use super::{Builder, Template, known, loc};
use crate::error::{ErrorKind, Result};
use crate::model::{
    Accessibility, Address, Defaulted, DescribedCalls, FileId, Function, FunctionId, Loc, LocId,
    MemberFunction, ScopeKind, SourceLine, Stack, StringId, Symbol, TypeId, VariableId, VariableKind,
    Virtuality,
};
use crate::op::Reg;
use crate::target::Scaling;

impl Builder {
    /// A function. Until [`code`](FunctionBuilder::code) says where its code is, it has none: it was only
    /// inlined.
    ///
    /// In a structure, class or union it is a member function; in a function or block, one that
    /// belongs to a call of that.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope around it is not there.
    pub fn function(&mut self, parent: impl InScope, name: &str) -> Result<FunctionBuilder<'_>> {
        let parent = parent.scope(&self.module)?;
        let name = self.name(name).map_err(|error| error.or_at(self.module.at_scope(parent)))?;
        self.new_function(parent, name)
    }

    /// A function that is declared here and defined elsewhere: in another unit, or by
    /// [`function_definition`](Self::function_definition). Its parameters have types, but no places. DWARF 5 section 2.13.1.
    ///
    /// # Errors
    /// As [`function`](Self::function).
    pub fn function_declaration(&mut self, parent: impl InScope, name: &str) -> Result<FunctionBuilder<'_>> {
        let mut function = self.function(parent, name)?;
        function.data().is_declaration = true;
        Ok(function)
    }

    /// The definition of a function that was [declared](Self::function_declaration) in another scope: of a member
    /// function outside of its type, for one. DWARF 5 section 2.13.2.
    ///
    /// What the declaration says is true of the definition, and is not said again: its name, what it returns,
    /// who may call it. Its parameters are.
    ///
    /// # Errors
    /// As [`function`](Self::function); [`ErrorKind::UnknownId`] where the declaration is not there, or
    /// another unit's; [`ErrorKind::BadArgument`] where it is none.
    pub fn function_definition(
        &mut self,
        parent: impl InScope,
        declaration: FunctionId,
    ) -> Result<FunctionBuilder<'_>> {
        let parent = parent.scope(&self.module)?;
        let of = self.same_unit_function(parent, declaration)?;
        if !of.is_declaration {
            let what = format!("`{}` is no declaration", self.module.string(of.name));
            return Err(crate::Error::bad_argument(what).or_at(self.module.at_scope(parent)));
        }
        let (name, returns) = (of.name, of.returns);
        let mut function = self.new_function(parent, name)?;
        let data = function.data();
        (data.specification, data.returns) = (Some(declaration), returns);
        Ok(function)
    }

    fn new_function(&mut self, parent: impl InScope, name: StringId) -> Result<FunctionBuilder<'_>> {
        let parent = parent.scope(&self.module)?;
        let id = self.module.functions.next_key();
        let scope = self.scope(parent, ScopeKind::Function(id));
        self.module.functions.push(Function {
            name,
            linkage_name: None,
            scope,
            returns: None,
            line: None,
            body_line: 0,
            address: None,
            bytes: 0,
            is_external: false,
            is_kernel: false,
            is_stack_at_zero: false,
            is_declaration: false,
            specification: None,
            is_variadic: false,
            is_noreturn: false,
            is_main: false,
            convention: None,
            is_declared_inline: false,
            member: MemberFunction::default(),
            object_pointer: None,
            frame_base: None,
            static_link: None,
            calls: None,
            templates: Vec::new(),
            stack: Stack::kernel(&self.module.target),
            lanes: Default::default(),
            frame_extent: None,
            frame: 0..0,
            rows: 0..0,
            is_inlined: false,
        });
        Ok(FunctionBuilder { builder: self, id })
    }

    /// Says more of a function.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn describe_function(&mut self, function: FunctionId) -> Result<FunctionBuilder<'_>> {
        self.known_function(function)?;
        Ok(FunctionBuilder { builder: self, id: function })
    }

    /// The function, if it is of the unit of the scope.
    pub(super) fn same_unit_function(
        &self,
        scope: crate::model::ScopeId,
        function: FunctionId,
    ) -> Result<&Function> {
        let unit = self.module.scopes[scope].unit;
        let of = self.module.functions.get(function);
        match of.filter(|of| self.module.scopes[of.scope].unit == unit) {
            Some(of) => Ok(of),
            None => {
                let missing = ErrorKind::UnknownId(format!("{function} of this unit"));
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

impl FunctionBuilder<'_> {
    /// Where its code is: at a symbol of the object, so many bytes. Comes before what speaks of its pcs.
    /// [`Builder::finish`] refuses a symbol without a name.
    pub fn code(&mut self, symbol: &str, bytes: u64) -> &mut Self {
        self.code_behind(symbol, 0, bytes)
    }

    /// The same, so many bytes behind the symbol.
    pub(crate) fn code_behind(&mut self, symbol: &str, offset: u64, bytes: u64) -> &mut Self {
        let scope = self.data().scope;
        let symbol = Symbol(self.builder.symbol_name(symbol, |module| module.at_scope(scope)));
        self.address(Address::Symbol(symbol, offset), bytes)
    }

    /// Where its code is, in general.
    pub fn address(&mut self, address: Address, bytes: u64) -> &mut Self {
        let data = self.data();
        data.address = Some(address);
        data.bytes = bytes;
        self
    }

    /// Adds a parameter, where the function is an instance of a template. They are in the order of the calls.
    ///
    /// # Errors
    /// As [`Builder::template`].
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

    /// The name that the linker knows, where it is another.
    pub fn linkage_name(&mut self, name: &str) -> &mut Self {
        let scope = self.data().scope;
        let name = self.builder.string(name, |module| module.at_scope(scope));
        self.data().linkage_name = Some(name);
        self
    }

    /// What it returns. Without this, nothing.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the type is not there, or another unit's.
    pub fn returns(&mut self, ty: TypeId) -> Result<&mut Self> {
        let (module, scope) = (&self.builder.module, self.builder.module.functions[self.id].scope);
        let is_there = module.types.get(ty).is_some_and(|ty| ty.unit == module.scopes[scope].unit);
        known(is_there, || format!("{ty} of this unit"))
            .map_err(|error| error.or_at(module.at_scope(scope)))?;
        self.data().returns = Some(ty);
        Ok(self)
    }

    /// Where it is declared. Lines count from 1.
    pub fn declared(&mut self, file: FileId, line: u32) -> &mut Self {
        self.declared_at(SourceLine { file, line, column: 0 })
    }

    /// The same, with a column.
    pub fn declared_at(&mut self, line: SourceLine) -> &mut Self {
        self.data().line = Some(line);
        self
    }

    /// The line at which its body begins, of the file in which it is [declared](Self::declared), counted from
    /// 1. In DWARF the rows of its code say it.
    pub fn body_line(&mut self, line: u32) -> &mut Self {
        self.data().body_line = line;
        self
    }

    /// It is seen outside of its unit.
    pub fn external(&mut self) -> &mut Self {
        self.data().is_external = true;
        self
    }

    /// It is entered from the host. Its stack begins at address 0 of private memory.
    pub fn kernel(&mut self) -> &mut Self {
        let data = self.data();
        data.is_kernel = true;
        data.is_external = true;
        self
    }

    /// It takes more arguments than it has parameters. DWARF 5 section 3.3.1.2, `DW_TAG_unspecified_parameters`.
    pub fn variadic(&mut self) -> &mut Self {
        self.data().is_variadic = true;
        self
    }

    /// It does not return. DWARF 5 section 3.3.1.
    pub fn noreturn(&mut self) -> &mut Self {
        self.data().is_noreturn = true;
        self
    }

    /// The program begins in it. DWARF 5 section 3.3.1.
    pub fn main(&mut self) -> &mut Self {
        self.data().is_main = true;
        self
    }

    /// How it is called, a number `DW_CC_*`: DWARF 5 section 3.3.1.1. It goes before what a consumer is told
    /// of [kernels](Self::kernel).
    pub fn convention(&mut self, convention: u8) -> &mut Self {
        self.data().convention = Some(convention);
        self
    }

    /// It is declared inline. Whether it was inlined is known by its [inlined calls](Builder::inlined). DWARF 5
    /// section 3.3.8.1.
    pub fn declared_inline(&mut self) -> &mut Self {
        self.data().is_declared_inline = true;
        self
    }

    /// Who may call it, of a member function. DWARF 5 section 2.8.
    pub fn accessibility(&mut self, accessibility: Accessibility) -> &mut Self {
        self.data().member.accessibility = Some(accessibility);
        self
    }

    /// It is virtual, of a member function. DWARF 5 section 5.7.8.
    pub fn virtuality(&mut self, virtuality: Virtuality) -> &mut Self {
        self.data().member.virtuality = Some(virtuality);
        self
    }

    /// It is a conversion that has to be asked for, of a member function.
    pub fn explicit(&mut self) -> &mut Self {
        self.data().member.is_explicit = true;
        self
    }

    /// It is declared so that it cannot be called, of a member function.
    pub fn deleted(&mut self) -> &mut Self {
        self.data().member.is_deleted = true;
        self
    }

    /// The compiler makes it, of a member function, and where that is said.
    pub fn defaulted(&mut self, defaulted: Defaulted) -> &mut Self {
        self.data().member.defaulted = Some(defaulted);
        self
    }

    /// The parameter that is the object of a member function: `this`. DWARF 5 section 5.7.8.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the parameter is not there; [`ErrorKind::BadArgument`] where it is not
    /// one of this function's.
    pub fn object_pointer(&mut self, parameter: VariableId) -> Result<&mut Self> {
        let (module, scope) = (&self.builder.module, self.builder.module.functions[self.id].scope);
        known(module.variables.is_valid(parameter), || parameter.to_string())
            .map_err(|error| error.or_at(module.at_scope(scope)))?;
        let variable = &module.variables[parameter];
        if variable.scope != scope || variable.kind != VariableKind::Parameter {
            let error = crate::Error::bad_argument("the object of a function is one of its parameters");
            return Err(error.or_at(crate::error::At {
                variable: module.at_variable(parameter, None).variable,
                ..module.at_scope(scope)
            }));
        }
        self.data().object_pointer = Some(parameter);
        Ok(self)
    }

    /// Where its frame begins: a register that holds the address, or the memory itself. DWARF 5 section 3.3.5.
    ///
    /// # Errors
    /// Of the location, as [`VariableBuilder::live`](super::VariableBuilder::live).
    pub fn frame_base(&mut self, loc: &Loc) -> Result<&mut Self> {
        let loc = self.place(loc, "the base of the frame")?;
        self.data().frame_base = Some(loc);
        Ok(self)
    }

    /// Where the frame of the function around it begins, of a function in a function: for the call that it
    /// belongs to. DWARF 5 section 3.3.6.
    ///
    /// # Errors
    /// As [`frame_base`](Self::frame_base).
    pub fn static_link(&mut self, loc: &Loc) -> Result<&mut Self> {
        let loc = self.place(loc, "the static link")?;
        self.data().static_link = Some(loc);
        Ok(self)
    }

    /// Which of its [calls](Builder::call) are described: a debugger may then say that there was no other.
    /// DWARF 5 section 3.3.1.4.
    pub fn describes(&mut self, calls: DescribedCalls) -> &mut Self {
        self.data().calls = Some(calls);
        self
    }

    /// The register that holds the base of its stack frame. It counts as the processor does by default:
    /// see [`scaling`](Self::scaling).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRegister`]; [`ErrorKind::BadArgument`] if it is a vector register, or has more
    /// than 64 bits.
    pub fn stack_base(&mut self, reg: Reg) -> Result<&mut Self> {
        let scope = self.data().scope;
        loc::scalar(&self.builder.module.target, reg)
            .map_err(|error| error.or_at(self.builder.module.at_scope(scope)))?;
        self.data().stack.base = Some(reg);
        Ok(self)
    }

    /// Its stack frame begins at address 0 of private memory though it is not a [kernel](Self::kernel): a shader, or
    /// another function that the host enters.
    pub fn stack_at_zero(&mut self) -> &mut Self {
        self.data().is_stack_at_zero = true;
        self
    }

    /// How the register that holds the base counts, where that is not the processor's default.
    pub fn scaling(&mut self, scaling: Scaling) -> &mut Self {
        self.data().stack.scaling = scaling;
        self
    }

    /// The function's id.
    pub fn id(&self) -> FunctionId {
        self.id
    }

    fn place(&mut self, loc: &Loc, what: &str) -> Result<LocId> {
        let scope = self.data().scope;
        let unit = self.builder.module.scopes[scope].unit;
        loc::facts(self.builder, unit, loc, None, what)
            .and_then(|checked| {
                // An address.
                let target = &self.builder.module.target;
                loc::known_lane(target, what, &checked, u64::from(target.address_bytes()) * 8)
            })
            .and_then(|_| self.builder.module.locs.push(loc))
            .map_err(|error| error.or_at(self.builder.module.at_scope(scope)))
    }

    fn data(&mut self) -> &mut Function {
        &mut self.builder.module.functions[self.id]
    }
}
