//! Variables, parameters and constants, and where they are.

use core::ops::Range;

use super::scopes::InScope;
use super::slots::Slot;
use super::{Builder, loc, pcs};
use crate::error::{ErrorKind, Result};
use crate::model::{
    Accessibility, FileId, Live, Loc, LocId, MemorySpace, Node, ScopeId, ScopeKind, SourceLine, TypeId,
    UnitId, Variable, VariableId, VariableKind,
};

/// Describes a variable. Made by [`Builder::variable`] and its sisters.
#[derive(Debug)]
pub struct VariableBuilder<'b> {
    builder: &'b mut Builder,
    id: VariableId,
    unit: UnitId,
    /// The size of its type, if it has one.
    bits: Option<u64>,
    /// Bytes of the function's code.
    code_bytes: u64,
    /// Whether it is not known by now where the stack frame of the function begins.
    lacks_base: bool,
}

impl Builder {
    /// A variable. With a unit or namespace as scope it is a global one. An empty name is none.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope or the type is not there, or the type is another unit's.
    pub fn variable(&mut self, scope: impl InScope, name: &str, ty: TypeId) -> Result<VariableBuilder<'_>> {
        self.new_variable(scope, Some(name), ty, VariableKind::Variable, None)
    }

    /// A parameter of the function whose scope it is. Parameters are in the order of the calls. An empty name is
    /// none.
    ///
    /// # Errors
    /// As [`variable`](Self::variable).
    pub fn parameter(&mut self, scope: impl InScope, name: &str, ty: TypeId) -> Result<VariableBuilder<'_>> {
        self.new_variable(scope, Some(name), ty, VariableKind::Parameter, None)
    }

    /// Says more of a variable: where it is at other pcs, for one.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn describe_variable(&mut self, variable: VariableId) -> Result<VariableBuilder<'_>> {
        let missing = || ErrorKind::UnknownId(variable.to_string());
        let data = self.module.variables.get(variable).ok_or_else(missing)?;
        let (scope, bits) = (data.scope, self.module.types[data.ty].value_bits);
        let unit = self.module.scopes[scope].unit;
        Ok(self.variable_builder(variable, scope, unit, bits))
    }

    /// A named constant with its value, as its bytes would be in memory from the lowest address on.
    ///
    /// # Errors
    /// As [`variable`](Self::variable); [`ErrorKind::DoesNotFit`] if there are fewer bytes than the type
    /// has, or more.
    pub fn constant(
        &mut self,
        scope: impl InScope,
        name: &str,
        ty: TypeId,
        value: &[u8],
    ) -> Result<VariableId> {
        let mut constant = self.new_variable(scope, Some(name), ty, VariableKind::Constant, None)?;
        Ok(constant.const_value(value)?.id())
    }

    /// A variable that is declared here and defined elsewhere: in another unit, or by
    /// [`definition`](Self::definition). It has no place. DWARF 5 section 2.13.1.
    ///
    /// # Errors
    /// As [`variable`](Self::variable).
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

    /// An inlined function's variable or parameter `origin`, where it was inlined: in the scope of the
    /// inlined call, or of a block in it.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope or the variable is not there; [`ErrorKind::BadArgument`] where
    /// it is not the inlined function's.
    pub fn inlined_variable(
        &mut self,
        scope: impl InScope,
        origin: VariableId,
    ) -> Result<VariableBuilder<'_>> {
        let scope = scope.scope(&self.module)?;
        let Some(of) = self.module.variables.get(origin) else {
            return Err(ErrorKind::UnknownId(origin.to_string()).into());
        };
        let (ty, kind) = (of.ty, of.kind);
        let is_code = matches!(self.module.scopes[scope].kind, ScopeKind::Block | ScopeKind::Inlined { .. });
        let function = self.module.function_of(of.scope);
        let is_inlined = |body| function.is_some_and(|function| body == (function, true));
        if !is_code || !self.body(scope).is_some_and(is_inlined) {
            let what = "the variable is not one of the function that is inlined here";
            return Err(crate::Error::bad_argument(what).or_at(crate::error::At {
                variable: self.module.at_variable(origin, None).variable,
                ..self.module.at_scope(scope)
            }));
        }
        self.new_variable(scope, None, ty, kind, Some(origin))
    }

    /// The definition of a static member, or of a variable that was [declared](Self::extern_variable), in the
    /// unit or a namespace: where it is. What the declaration says is true of it, and is not said again. DWARF 5
    /// section 2.13.2.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope or the variable is not there, or of another unit;
    /// [`ErrorKind::BadArgument`] where the variable is no such declaration, or the scope is
    /// in a function or type.
    pub fn definition(&mut self, scope: impl InScope, member: VariableId) -> Result<VariableBuilder<'_>> {
        let scope = scope.scope(&self.module)?;
        let Some(of) = self.module.variables.get(member) else {
            return Err(ErrorKind::UnknownId(member.to_string()).into());
        };
        let (ty, at) = (of.ty, self.module.at_variable(member, None));
        if !self.module.is_static_member(member) && !of.is_declaration {
            return Err(crate::Error::bad_argument("the variable is no static member").or_at(at));
        }
        if !matches!(self.module.scopes[scope].kind, ScopeKind::Unit | ScopeKind::Namespace { .. }) {
            let what = "a static member is defined in the unit or a namespace";
            return Err(crate::Error::bad_argument(what).or_at(at));
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
        let known = self.module.types.get(ty).filter(|ty| ty.unit == unit);
        let Some(bits) = known.map(|ty| ty.value_bits) else {
            let at = self.module.at_scope(scope);
            let at = crate::error::At { variable: name.map(Into::into), ..at };
            return Err(crate::Error::new(ErrorKind::UnknownId(format!("{ty} of this unit"))).or_at(at));
        };
        let name = name.filter(|name| !name.is_empty()).map(|name| self.name(name)).transpose();
        let name = name.map_err(|error| error.or_at(self.module.at_scope(scope)))?;
        let id = self.module.variables.push(Variable {
            name,
            linkage_name: None,
            scope,
            ty,
            kind,
            line: None,
            origin,
            specification: None,
            accessibility: None,
            memory_space: None,
            is_declaration: false,
            is_constant: false,
            is_artificial: false,
            is_external: false,
            always: None,
            live: 0..0,
        });
        if kind == VariableKind::Parameter || matches!(self.module.scopes[scope].kind, ScopeKind::Type(_)) {
            self.module.listed.push(id);
        }
        Ok(self.variable_builder(id, scope, unit, bits))
    }

    fn variable_builder(
        &mut self,
        id: VariableId,
        scope: ScopeId,
        unit: UnitId,
        bits: Option<u64>,
    ) -> VariableBuilder<'_> {
        let function = self.module.function_of(scope).map(|function| &self.module.functions[function]);
        let code_bytes = function.map_or(u64::MAX, |function| function.bytes);
        let lacks_base = function.is_some_and(|function| !function.has_stack());
        // A function has less than 4 GiB.
        let code_bytes = code_bytes.min(u32::MAX.into());
        VariableBuilder { builder: self, id, unit, bits, code_bytes, lacks_base }
    }
}

impl VariableBuilder<'_> {
    /// The variable's id.
    pub fn id(&self) -> VariableId {
        self.id
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

    /// The name that the linker knows, where it is another.
    pub fn linkage_name(&mut self, name: &str) -> &mut Self {
        let id = self.id;
        let name = self.builder.string(name, |module| module.at_variable(id, None));
        self.data().linkage_name = Some(name);
        self
    }

    /// It has a value, lowest byte first, and is in no place: nothing of it is left in the program. DWARF 5
    /// section 4.1, item 10.
    ///
    /// # Errors
    /// [`ErrorKind::DoesNotFit`] if there are fewer bytes than the type has, or more.
    pub fn const_value(&mut self, value: &[u8]) -> Result<&mut Self> {
        let ty = self.data().ty;
        let has = self.builder.module.types[ty].bits.map(|bits| bits.next_multiple_of(8));
        let needs = 8 * value.len() as u64;
        if let Some(has) = has.filter(|&has| has < needs) {
            let what = "the value".into();
            return Err(self.error(ErrorKind::DoesNotFit { what, needs, has }.into(), None));
        }
        self.always(Loc::implicit(value))?.data().is_constant = true;
        Ok(self)
    }

    /// It was made by the compiler.
    pub fn artificial(&mut self) -> &mut Self {
        self.data().is_artificial = true;
        self
    }

    /// It is seen outside of its unit.
    pub fn external(&mut self) -> &mut Self {
        self.data().is_external = true;
        self
    }

    /// The memory that the source says it is in: OpenCL's `local`, HIP's `__shared__`. Where it is says
    /// [`live`](Self::live).
    pub fn memory_space(&mut self, memory: MemorySpace) -> &mut Self {
        self.data().memory_space = Some(memory);
        self
    }

    /// Who may name a static member.
    pub fn accessibility(&mut self, accessibility: Accessibility) -> &mut Self {
        self.data().accessibility = Some(accessibility);
        self
    }

    /// Where the variable is while the pc is in a range: half-open, in bytes from the start of the
    /// function.
    ///
    /// True before the instruction at `pcs.start` runs, until before the one at `pcs.end` runs. Ranges may
    /// come in any order; where there is none, the variable is not available.
    ///
    /// # Errors
    /// [`ErrorKind::EmptyRange`], [`ErrorKind::OutsideFunction`]; [`ErrorKind::BadArgument`] where the range begins or
    /// ends inside of an instruction; and of the location, [`ErrorKind::UnknownRegister`], [`ErrorKind::UnknownSpace`], [`ErrorKind::LaneOutOfWave`],
    /// [`ErrorKind::UnknownId`] and [`ErrorKind::DoesNotFit`], if a part, or the variable, is larger than
    /// the storage has bits from there on, and [`ErrorKind::WhichLane`] if it is smaller than all lanes of a vector
    /// register that it is in. [`Builder::finish`] refuses ranges that overlap, and stack slots of a function whose
    /// frame has no known base.
    #[inline]
    pub fn live(&mut self, pcs: Range<u64>, loc: Loc) -> Result<&mut Self> {
        let (start, end) = self.range(&pcs)?;
        self.live_at(&pcs, start, end, &loc)?;
        Ok(self)
    }

    /// The same, in several places at once: each holds the variable's value.
    ///
    /// # Errors
    /// As [`live`](Self::live); and if there is no place, or one of several is nowhere.
    pub fn live_in(&mut self, pcs: Range<u64>, locs: &[Loc]) -> Result<&mut Self> {
        let (start, end) = self.range(&pcs)?;
        if locs.is_empty() {
            return Err(self.error(crate::Error::bad_argument("a variable without a place"), Some(pcs)));
        }
        let is_nowhere = |loc: &Loc| loc.nodes().all(|node| node == Node::Undefined);
        if locs.len() > 1 && locs.iter().any(is_nowhere) {
            let what = "of several places of a variable one is nowhere";
            return Err(self.error(crate::Error::bad_argument(what), Some(pcs)));
        }
        for loc in locs {
            self.live_at(&pcs, start, end, loc)?;
        }
        Ok(self)
    }

    /// The pcs as they are kept, if they are the function's.
    #[inline]
    fn range(&self, pcs: &Range<u64>) -> Result<(u32, u32)> {
        match pcs::range(&self.builder.module.target, self.code_bytes, pcs) {
            Ok(()) => Ok((pcs.start as u32, pcs.end as u32)),
            Err(error) => Err(self.error(error, Some(pcs.clone()))),
        }
    }

    fn live_at(&mut self, pcs: &Range<u64>, start: u32, end: u32, loc: &Loc) -> Result<()> {
        let loc = self.place(loc, Some(pcs))?;
        self.builder.module.live.push(Live { variable: self.id, start, end, loc });
        Ok(())
    }

    /// Where the variable is whenever it is in scope: for what does not move.
    ///
    /// # Errors
    /// As [`live`](Self::live), of the location.
    pub fn always(&mut self, loc: Loc) -> Result<&mut Self> {
        let loc = self.place(&loc, None)?;
        let data = self.data();
        (data.always, data.is_constant) = (Some(loc), false);
        Ok(self)
    }

    #[inline(always)]
    fn place(&mut self, loc: &Loc, pcs: Option<&Range<u64>>) -> Result<LocId> {
        let checked = loc::check(self.builder, self.unit, loc, self.bits, "the variable");
        if self.lacks_base && matches!(checked, Ok(true)) {
            self.slot(pcs);
        }
        match checked.and_then(|_| self.builder.module.locs.push(loc)) {
            Ok(loc) => Ok(loc),
            Err(error) => Err(self.error(error, pcs.cloned())),
        }
    }

    #[cold]
    fn slot(&mut self, pcs: Option<&Range<u64>>) {
        self.builder.slot(Slot::Variable(self.id, pcs.cloned()));
    }

    #[cold]
    fn error(&self, error: crate::Error, pcs: Option<Range<u64>>) -> crate::Error {
        error.or_at(self.builder.module.at_variable(self.id, pcs))
    }

    fn data(&mut self) -> &mut Variable {
        &mut self.builder.module.variables[self.id]
    }
}

/// Whether a scope can have parameters.
pub(super) fn takes_parameters(kind: &ScopeKind) -> bool {
    matches!(kind, ScopeKind::Function(_) | ScopeKind::Inlined { .. })
}
