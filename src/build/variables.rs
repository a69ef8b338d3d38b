//! Variables, parameters and constants, and their locations.

use core::ops::Range;
use std::borrow::Cow;

use super::builder::{Builder, Placed};
use super::pcs;
use super::properties::methods;
use super::scopes::InScope;
use super::slots::Slot;
use crate::error::{ErrorKind, Result};
use crate::model::entities::variable_properties;
use crate::model::{
    Accessibility, Live, Loc, LocId, MemorySpace, Module, Node, ScopeId, ScopeKind, Small, SourceLine,
    StringId, TypeId, UnitId, Variable, VariableId, VariableKind,
};

/// Describes a variable. Made by [`Builder::variable`] and related methods.
#[derive(Debug)]
pub struct VariableBuilder<'b> {
    builder: &'b mut Builder,
    id: VariableId,
    unit: UnitId,
    /// The variable type's size in bits without padding at the end, if known, and the padding's size.
    bits: Option<u64>,
    padding: u64,
    /// Size of the function's code in bytes.
    code_bytes: u64,
    /// Whether the start of the function's stack frame is not known yet.
    lacks_base: bool,
}

/// Maximum number of bits.
const ROOM: u32 = u32::MAX >> 1;
/// Flag: the location depends on the function start's stack frame.
const HAS_SLOT: u32 = !ROOM;

impl Builder {
    /// Adds a variable. In a unit or namespace it is global. An empty name means unnamed.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope or the type does not exist, or the type belongs to another unit;
    /// [`ErrorKind::BadArgument`] where an array bound in the type is another function's variable.
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
    /// let x = m.variable(f, "x", int)?.live(0x08..0x40, Loc::per_lane(v3))?.id();
    /// // Global, in memory at a symbol of the object.
    /// let counter = m.symbol("counter");
    /// m.variable(unit, "counter", int)?.always(Loc::global_symbol(counter))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn variable(&mut self, scope: impl InScope, name: &str, ty: TypeId) -> Result<VariableBuilder<'_>> {
        self.new_variable(scope, Some(name), ty, VariableKind::Variable, None)
    }

    /// Adds a parameter to the function that the scope belongs to. Parameters are in call order. An empty name means
    /// unnamed.
    ///
    /// # Errors
    /// Same errors as [`variable`](Self::variable).
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
    /// m.parameter(f, "n", int)?.live(0x00..0x40, Loc::register(s4))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn parameter(&mut self, scope: impl InScope, name: &str, ty: TypeId) -> Result<VariableBuilder<'_>> {
        self.new_variable(scope, Some(name), ty, VariableKind::Parameter, None)
    }

    /// Returns a builder for a variable's further properties, such as locations at other pcs.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
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
    /// let x = m.variable(f, "x", int)?.id();
    /// // Later, when the location is known:
    /// m.describe_variable(x)?.live(0x08..0x40, Loc::per_lane(v3))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn describe_variable(&mut self, variable: VariableId) -> Result<VariableBuilder<'_>> {
        let missing = || self.module.unknown(variable);
        let data = self.module.variables.get(variable).ok_or_else(missing)?;
        let scope = data.scope;
        let ty = data.ty;
        let unit = self.module.scopes[scope].unit;
        Ok(self.variable_builder(variable, scope, unit, ty))
    }

    /// Adds a named constant with its value, as its bytes in memory from the lowest address.
    ///
    /// # Errors
    /// Same errors as [`variable`](Self::variable); [`ErrorKind::DoesNotFit`] if `value` does not have the type's size.
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
    /// // `constexpr int limit = -1;`: bytes in memory order, as many as the type has.
    /// m.constant(unit, "limit", int, &(-1_i32).to_le_bytes())?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn constant(
        &mut self,
        scope: impl InScope,
        name: &str,
        ty: TypeId,
        value: &[u8],
    ) -> Result<VariableId> {
        let scope = scope.scope(&self.module)?;
        // A refused value leaves no constant, so that the caller can go on after the error.
        if let Err(kind) = fits(&self.module, ty, value) {
            let at = self.module.at_scope(scope).with(|context| context.variable = Some(name.into()));
            return Err(crate::Error::new(kind).or_at(at));
        }
        let mut constant = self.new_variable(scope, Some(name), ty, VariableKind::Constant, None)?;
        Ok(constant.const_value(value)?.id())
    }

    /// Adds a declaration of a variable, which is not visible outside the unit unless [described](VariableBuilder::external)
    /// as such.
    #[cfg(feature = "import")]
    pub(crate) fn declared_variable(
        &mut self,
        scope: impl InScope,
        name: &str,
        ty: TypeId,
    ) -> Result<VariableBuilder<'_>> {
        let mut variable = self.variable(scope, name, ty)?;
        variable.data().is_declaration = true;
        Ok(variable)
    }

    /// Adds a named constant, whose value is given later.
    #[cfg(any(feature = "import", feature = "json"))]
    pub(crate) fn named_constant(
        &mut self,
        scope: impl InScope,
        name: &str,
        ty: TypeId,
    ) -> Result<VariableBuilder<'_>> {
        self.new_variable(scope, Some(name), ty, VariableKind::Constant, None)
    }

    /// Adds a variable that is declared here and defined elsewhere: in another unit, or by
    /// [`definition`](Self::definition). The declaration has no location. DWARF 5 section 2.13.1.
    ///
    /// # Errors
    /// Same errors as [`variable`](Self::variable).
    pub fn extern_variable(
        &mut self,
        scope: impl InScope,
        name: &str,
        ty: TypeId,
    ) -> Result<VariableBuilder<'_>> {
        let mut variable = self.variable(scope, name, ty)?;
        let data = variable.data();
        (data.is_declaration, data.is_external) = (true, true);
        Ok(variable)
    }

    /// Adds the copy of a function's variable or parameter `origin` in an inlined call, in an
    /// [instance](Self::function_instance) of the function, or in a block there.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope or the variable does not exist; [`ErrorKind::BadArgument`] where the
    /// variable does not belong to the function.
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
    /// let callee = m.function(unit, "g")?.id();
    /// let x = m.variable(callee, "x", int)?.id();
    /// let file = m.primary_file(unit)?;
    /// let call = m.inlined(f, callee, &[0x10..0x20], SourceLine::new(file, 12).column(5))?;
    /// m.inlined_variable(call, x)?.live(0x10..0x18, Loc::register(s4))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn inlined_variable(
        &mut self,
        scope: impl InScope,
        origin: VariableId,
    ) -> Result<VariableBuilder<'_>> {
        let scope = scope.scope(&self.module)?;
        let Some(of) = self.module.variables.get(origin) else {
            return Err(self.module.unknown(origin).into());
        };
        let ty = of.ty;
        let kind = of.kind;
        let is_code = matches!(
            self.module.scopes[scope].kind,
            ScopeKind::Block | ScopeKind::Inlined { .. } | ScopeKind::Function(_)
        );
        let is_instance = match self.module.function_of(of.scope) {
            Some(function) => is_code && self.is_instance(scope, function),
            None => self.is_elsewhere(scope, of.scope),
        };
        if !is_instance {
            let what =
                "variable instance is in neither an inlined call nor an instance of the variable's function";
            return Err(crate::Error::bad_argument(what).or_at(
                self.module
                    .at_scope(scope)
                    .with(|context| context.variable = self.module.at_variable(origin, None).variable),
            ));
        }
        self.new_variable(scope, None, ty, kind, Some(origin))
    }

    /// Whether a scope and another unit's scope can have a variable and its instance outside functions: link-time
    /// optimization describes a variable in the unit of its source, and its address in another unit.
    fn is_elsewhere(&self, scope: ScopeId, of: ScopeId) -> bool {
        let [scope, of] = [scope, of].map(|scope| &self.module.scopes[scope]);
        let mut kinds = [&scope.kind, &of.kind].into_iter();
        scope.unit != of.unit
            && self.module.reaches(scope.unit, of.unit)
            && kinds.all(|kind| matches!(kind, ScopeKind::Unit | ScopeKind::Namespace { .. }))
    }

    /// Adds the definition for a static member, or for a variable that was [declared](Self::extern_variable), in the
    /// unit or a namespace. The definition has the location; other properties come from the declaration, unless the
    /// definition has separate ones. DWARF 5 section 2.13.2.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope or the variable does not exist, or belongs to another unit;
    /// [`ErrorKind::BadArgument`] where the variable is not such a declaration, or the scope is neither the unit
    /// nor a namespace.
    pub fn definition(&mut self, scope: impl InScope, member: VariableId) -> Result<VariableBuilder<'_>> {
        let scope = scope.scope(&self.module)?;
        let Some(of) = self.module.variables.get(member) else {
            return Err(self.module.unknown(member).into());
        };
        let ty = of.ty;
        let context = self.module.at_variable(member, None);
        if !self.module.is_static_member(member) && !of.is_declaration {
            return Err(crate::Error::bad_argument(
                "completed variable is neither a static member nor a declaration",
            )
            .or_at(context));
        }
        let is_static = self.module.is_static_member(member);
        let is_taken = match self.module.scopes[scope].kind {
            ScopeKind::Unit | ScopeKind::Namespace { .. } => true,
            ScopeKind::Function(_) | ScopeKind::Block => !is_static,
            _ => false,
        };
        if !is_taken {
            let what = if is_static {
                "definition of a static member is in another scope; expected the unit or a namespace"
            } else {
                "definition of a variable is in another scope; expected the unit, a namespace, a function or a block"
            };
            return Err(crate::Error::bad_argument(what).or_at(context));
        }
        let mut definition = self.new_variable(scope, None, ty, VariableKind::Variable, None)?;
        definition.data().specification = Some(member);
        Ok(definition)
    }

    fn new_variable(
        &mut self,
        scope: impl InScope,
        name: Option<&str>,
        ty: TypeId,
        kind: VariableKind,
        origin: Option<VariableId>,
    ) -> Result<VariableBuilder<'_>> {
        let scope = scope.scope(&self.module)?;
        let unit = self.module.scopes[scope].unit;
        self.variable_type(scope, name, ty)?;
        let name = name.filter(|name| !name.is_empty()).map(|name| self.name(name)).transpose();
        let name = name.map_err(|error| error.or_at(self.module.at_scope(scope)))?;
        let id = self.module.variables.push(Variable::new(name, scope, ty, kind, origin));
        // These are emitted as children of their function or type, in this order.
        if kind == VariableKind::Parameter || matches!(self.module.scopes[scope].kind, ScopeKind::Type(_)) {
            self.module.lists.parameters_and_statics.push(id);
        }
        Ok(self.variable_builder(id, scope, unit, ty))
    }

    /// Checks that a variable in a scope can have a type.
    fn variable_type(&self, scope: ScopeId, name: Option<&str>, ty: TypeId) -> Result<()> {
        let unit = self.module.scopes[scope].unit;
        let site = || {
            let site = self.module.at_scope(scope);
            site.with(|context| context.variable = name.map(Into::into))
        };
        if self.module.types.get(ty).is_none_or(|ty| !self.module.reaches(unit, ty.unit)) {
            return Err(crate::Error::new(self.module.unknown_in(ty, " of this unit")).or_at(site()));
        }
        match self.bounds.get(&ty) {
            Some(&bound) if !self.is_visible(bound, scope) => Err(self.other_bound(bound).or_at(site())),
            _ => Ok(()),
        }
    }

    /// Whether a function's variable belongs to the code around a scope: to the function, to an outer function, or to a
    /// function that is inlined there.
    fn is_visible(&self, variable: VariableId, scope: ScopeId) -> bool {
        let function = self.module.function_of(self.module.variables[variable].scope);
        let mut scopes = core::iter::successors(Some(scope), |&scope| self.module.scopes[scope].parent);
        scopes.any(|scope| match self.module.scopes[scope].kind {
            ScopeKind::Function(body) | ScopeKind::Inlined { function: body, .. } => {
                let mut functions =
                    core::iter::successors(Some(body), |&body| self.module.functions[body].origin);
                functions.any(|body| function == Some(body))
            }
            _ => false,
        })
    }

    /// Error for a type whose array bound has no value in the code of a variable with this type.
    fn other_bound(&self, bound: VariableId) -> crate::Error {
        let at = self.module.at_variable(bound, None);
        let name = at.variable.map_or_else(|| bound.to_string(), |name| format!("variable `{name}`"));
        let function = at.function.unwrap_or_default();
        crate::Error::bad_argument(format!(
            "array bound of the type is {name} of function `{function}`; expected a variable of the same function, or of none"
        ))
    }

    fn variable_builder(
        &mut self,
        id: VariableId,
        scope: ScopeId,
        unit: UnitId,
        ty: TypeId,
    ) -> VariableBuilder<'_> {
        let function = self.module.function_of(scope).map(|function| &self.module.functions[function]);
        let code_bytes = function.map_or(u64::MAX, |function| function.bytes);
        // The base can still be set, so that the final check is in `finish`.
        let lacks_base = function.is_some_and(|function| !function.has_stack());
        // A function has less than 4 GiB of code.
        let code_bytes = code_bytes.min(u32::MAX.into());
        let ty = &self.module.types[ty];
        let (bits, padding) =
            (ty.value_bits, ty.bits.unwrap_or(0).saturating_sub(ty.value_bits.unwrap_or(u64::MAX)));
        VariableBuilder { builder: self, id, unit, bits, padding, code_bytes, lacks_base }
    }
}

variable_properties! { methods (self) VariableBuilder; }

impl VariableBuilder<'_> {
    /// Returns the variable's id.
    pub fn id(&self) -> VariableId {
        self.id
    }

    /// Sets a type that differs from that of the declaration or the inlined variable that the variable completes:
    /// `int table[4]`, which is declared as `extern int table[]`. DWARF 5 section 2.13.2.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the type does not exist or belongs to another unit; [`ErrorKind::BadArgument`]
    /// where the variable completes no other variable, or the array bound of the type belongs to another function.
    pub fn completed_type(&mut self, ty: TypeId) -> Result<&mut Self> {
        let module = &self.builder.module;
        let variable = &module.variables[self.id];
        if variable.origin.or(variable.specification).is_none() {
            let what = "variable completes no other variable; expected a definition or an inlined variable";
            return Err(crate::Error::bad_argument(what).or_at(module.at_variable(self.id, None)));
        }
        let name = module.name_of(self.id);
        self.builder.variable_type(variable.scope, name, ty)?;
        self.data().ty = ty;
        Ok(self)
    }

    /// Sets the variable's constant value, lowest byte first, instead of a location: the variable was optimized away.
    /// DWARF 5 section 4.1, item 10.
    ///
    /// # Errors
    /// [`ErrorKind::DoesNotFit`] if `value` does not have the type's size; [`ErrorKind::BadArgument`] if the variable has a
    /// location for all pcs, or a constant value.
    pub fn const_value(&mut self, value: &[u8]) -> Result<&mut Self> {
        let ty = self.data().ty;
        fits(&self.builder.module, ty, value).map_err(|kind| self.error(kind.into(), None))?;
        self.has_no_location()?;
        let (loc, _) = self.place(&Loc::implicit(value), None)?;
        let data = self.data();
        (data.always, data.is_constant) = (Some(loc), true);
        Ok(self)
    }

    /// Adds a location for half-open pcs, in bytes from the function start.
    ///
    /// The location is valid before the instruction at `pcs.start` runs, until before the instruction at `pcs.end`
    /// runs. Ranges may be added in any order; at pcs outside all ranges the variable is not available.
    ///
    /// Debuggers look for the variables of a caller a byte before the return address. A range that ends there holds until
    /// the call, and not while the callee runs.
    ///
    /// # Errors
    /// [`ErrorKind::EmptyRange`], [`ErrorKind::OutsideFunction`]; [`ErrorKind::Misaligned`] where the range begins or
    /// ends inside an instruction, on targets with waves; and for the location, [`ErrorKind::UnknownRegister`],
    /// [`ErrorKind::UnknownSpace`], [`ErrorKind::LaneOutOfWave`], [`ErrorKind::TargetLacks`], [`ErrorKind::Limit`], [`ErrorKind::UnknownId`],
    /// [`ErrorKind::DoesNotFit`] if a part, or the variable, is larger than the rest of its storage, or a constant is
    /// larger than the variable, and [`ErrorKind::WhichLane`] if it is smaller than all lanes of a vector register that
    /// contains it.
    /// [`Builder::finish`] rejects ranges that overlap, and stack slots in a function whose frame has no known base.
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
    /// m.variable(f, "n", int)?
    ///     .live(0x00..0x0c, Loc::register(s4))?
    ///     // Spilled into lane 7 of v40.
    ///     .live(0x0c..0x40, Loc::lane(v40, 7))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    #[inline]
    pub fn live(&mut self, pcs: Range<u64>, loc: Loc) -> Result<&mut Self> {
        self.live_at(&pcs, &loc)?;
        Ok(self)
    }

    /// Adds several simultaneous locations for pcs: each contains the variable's value.
    ///
    /// # Errors
    /// Same errors as [`live`](Self::live); and if `locs` is empty, or one of several locations is undefined.
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
    /// // The register and its spilled copy have the same value.
    /// m.variable(f, "n", int)?.live_in(0x24..0x40, &[Loc::register(s4), Loc::lane(v40, 7)])?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn live_in(&mut self, pcs: Range<u64>, locs: &[Loc]) -> Result<&mut Self> {
        self.range(&pcs)?;
        if locs.is_empty() {
            return Err(self.error(crate::Error::bad_argument("live range has no location"), Some(pcs)));
        }
        let is_undefined = |loc: &Loc| loc.nodes().all(|node| node == Node::Undefined);
        // An undefined location beside a defined location would contradict it.
        let undefined = locs.iter().position(is_undefined).filter(|_| locs.len() > 1);
        if let Some(index) = undefined {
            let number = index + 1;
            let what = format!("simultaneous location {number} of {} is undefined", locs.len());
            return Err(self.error(crate::Error::bad_argument(what), Some(pcs)));
        }
        for loc in locs {
            self.live_at(&pcs, loc)?;
        }
        Ok(self)
    }

    /// Refuses pcs that are not within the function, whose size fits the stored form.
    #[inline(always)]
    fn range(&self, pcs: &Range<u64>) -> Result<()> {
        pcs::live_range(&self.builder.module.target, self.code_bytes, pcs)
            .map_err(|error| self.error(error, Some(pcs.clone())))
    }

    fn live_at(&mut self, pcs: &Range<u64>, loc: &Loc) -> Result<()> {
        self.range(pcs)?;
        let (loc, hash) = self.place(&self.padded(loc), Some(pcs))?;
        let start = pcs.start as u32;
        let end = pcs.end as u32;
        let Builder { module, order, .. } = &mut *self.builder;
        order.add_live(module, Live { variable: self.id, start, end, loc }, hash);
        Ok(())
    }

    /// Sets a location that is valid whenever the variable is in scope.
    ///
    /// # Errors
    /// Same errors as [`live`](Self::live) for the location; [`ErrorKind::BadArgument`] if the variable has a location for
    /// all pcs, or a constant value.
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
    /// m.variable(f, "buffer", int)?.always(Loc::local(0x100))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn always(&mut self, loc: Loc) -> Result<&mut Self> {
        self.has_no_location()?;
        let (loc, _) = self.place(&self.padded(&loc), None)?;
        let data = self.data();
        (data.always, data.is_constant) = (Some(loc), false);
        Ok(self)
    }

    /// Refuses a second location for all pcs, which would replace the first.
    fn has_no_location(&mut self) -> Result<()> {
        let Variable { always, is_constant, .. } = self.data();
        let what = match (always, is_constant) {
            (None, _) => return Ok(()),
            (Some(_), false) => "variable already has a location for all pcs",
            (Some(_), true) => "variable already has a constant value",
        };
        Err(self.error(crate::Error::bad_argument(what), None))
    }

    /// Returns the location with an undefined part for the padding at the end of the type, where its storage has the
    /// value's bits and not the padding's: a debugger that reads the whole type then finds no bits elsewhere.
    #[inline]
    fn padded<'l>(&self, loc: &'l Loc) -> Cow<'l, Loc> {
        if self.padding == 0 { Cow::Borrowed(loc) } else { self.with_padding(loc) }
    }

    fn with_padding<'l>(&self, loc: &'l Loc) -> Cow<'l, Loc> {
        let bits = self.bits.unwrap_or(0);
        let facts = self.builder.location_facts(self.unit, loc, Some(bits), "the variable");
        match facts.ok().and_then(|facts| facts.room.after()) {
            // The storage ends before the padding does.
            Some(has) if has < bits + self.padding => Cow::Owned(loc.padded(has, bits, self.padding)),
            // The errors are about the location itself.
            _ => Cow::Borrowed(loc),
        }
    }

    /// Checks and stores a location. Returns its hash too, if it is small.
    #[inline(always)]
    fn place(&mut self, loc: &Loc, pcs: Option<&Range<u64>>) -> Result<(LocId, Option<usize>)> {
        let bits = self.bits.unwrap_or_default();
        let small = loc.postfix().small().map(|small| (small, small.hash()));
        let recent = small.and_then(|(small, hash)| {
            let placed = self.builder.recent.get(hash)?;
            // The room does not depend on the unit or the size, so that equal words need no second check.
            (placed.words.is_same(small) && bits <= (placed.room & ROOM).into()).then_some(placed)
        });
        let (loc, has_slot) = match recent {
            Some(&Placed { loc, room, .. }) => (loc, room & HAS_SLOT != 0),
            None => self.new_place(loc, small.map(|(small, _)| small), pcs)?,
        };
        if self.lacks_base && has_slot {
            self.slot(pcs);
        }
        Ok((loc, small.map(|(_, hash)| hash)))
    }

    fn new_place(
        &mut self,
        loc: &Loc,
        small: Option<Small>,
        pcs: Option<&Range<u64>>,
    ) -> Result<(LocId, bool)> {
        if small.is_none() {
            self.fits_constant(loc).map_err(|error| self.error(error, pcs.cloned()))?;
        }
        let checked = self.builder.location_facts(self.unit, loc, self.bits, "the variable");
        let placed = checked.and_then(|checked| Ok((self.builder.module.locs.push(loc)?, checked)));
        let (loc, checked) = placed.map_err(|error| self.error(error, pcs.cloned()))?;
        let has_slot = checked.has_slot;
        // A location that names entities, or all lanes of a vector register, is checked each time.
        if let (Some(words), Some(room)) = (small, checked.room_anywhere()) {
            let room = room.min(ROOM.into()) as u32 | if has_slot { HAS_SLOT } else { 0 };
            self.builder.recent.add(Placed { words, loc, room }, |placed| placed.words.hash());
        }
        Ok((loc, has_slot))
    }

    /// Refuses a constant with more bytes than the type. No other storage has to end where the variable does.
    fn fits_constant(&self, loc: &Loc) -> Result<()> {
        let mut nodes = loc.nodes();
        let (Some(Node::Implicit(bytes)), None) = (nodes.next(), nodes.next()) else { return Ok(()) };
        let needs = 8 * bytes.len() as u64;
        let has = self.bits.map(|bits| bits.saturating_add(self.padding).next_multiple_of(8));
        match has.filter(|&has| has < needs) {
            Some(has) => Err(ErrorKind::DoesNotFit { what: "the constant".into(), needs, has }.into()),
            None => Ok(()),
        }
    }

    fn slot(&mut self, pcs: Option<&Range<u64>>) {
        self.builder.slot(Slot::Variable(self.id, pcs.cloned()));
    }

    fn error(&self, error: crate::Error, pcs: Option<Range<u64>>) -> crate::Error {
        error.or_at(self.builder.module.at_variable(self.id, pcs))
    }

    fn text(&mut self, text: &str) -> StringId {
        let id = self.id;
        self.builder.string(text, |module| module.at_variable(id, None))
    }

    fn data(&mut self) -> &mut Variable {
        &mut self.builder.module.variables[self.id]
    }
}

/// Whether a scope can have parameters.
pub(super) fn takes_parameters(kind: &ScopeKind) -> bool {
    matches!(kind, ScopeKind::Function(_) | ScopeKind::Inlined { .. })
}

/// Refuses a constant that is larger than its type.
fn fits(module: &Module, ty: TypeId, value: &[u8]) -> core::result::Result<(), ErrorKind> {
    // A value has whole bytes, even if its type has not.
    let bits = module.types.get(ty).and_then(|ty| ty.bits).map(|bits| bits.next_multiple_of(8));
    let needs = 8 * value.len() as u64;
    match bits.filter(|&has| has < needs) {
        Some(has) => Err(ErrorKind::DoesNotFit { what: "the value".into(), needs, has }),
        None => Ok(()),
    }
}
