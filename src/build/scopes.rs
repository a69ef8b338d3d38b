//! Namespaces, blocks, inlined calls.

use core::ops::Range;
use std::collections::BTreeMap;

use super::builder::{Around, Builder};
use super::ids::{check_line, known};
use super::pcs;
use super::sealed::Sealed;
use crate::error::{Enclosed, Error, ErrorKind, Ranges, Result};
use crate::model::{
    FunctionId, Module, NamespaceKind, Scope, ScopeId, ScopeKind, SourceLine, TypeId, UnitId,
};

/// An entity with a scope: a unit, a function, a structure, class or union, or the scope itself.
pub trait InScope: Sealed {
    /// Returns the entity's scope.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the entity does not belong to the module; [`ErrorKind::BadArgument`] where it is
    /// a type without a scope.
    fn scope(self, module: &Module) -> Result<ScopeId>;
}

impl InScope for UnitId {
    fn scope(self, module: &Module) -> Result<ScopeId> {
        let missing = || module.unknown(self).into();
        module.units.get(self).map(|unit| unit.scope).ok_or_else(missing)
    }
}

impl InScope for FunctionId {
    #[inline]
    fn scope(self, module: &Module) -> Result<ScopeId> {
        let missing = || module.unknown(self).into();
        module.functions.get(self).map(|function| function.scope).ok_or_else(missing)
    }
}

impl InScope for TypeId {
    fn scope(self, module: &Module) -> Result<ScopeId> {
        let missing = || module.unknown(self);
        let ty = module.types.get(self).ok_or_else(missing)?;
        ty.own_scope().ok_or_else(|| {
            let what = format!("{} is not a structure, class or union", module.called(self));
            Error::bad_argument(what).or_at(module.at_type(self))
        })
    }
}

impl InScope for ScopeId {
    #[inline]
    fn scope(self, module: &Module) -> Result<ScopeId> {
        known(module.scopes.is_valid(self), || module.unknown(self))?;
        Ok(self)
    }
}

impl Builder {
    /// Adds a namespace. DWARF 5 section 3.2.2. A reopened namespace is another scope with the same name.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the parent scope does not exist; [`ErrorKind::BadArgument`] where the parent is a
    /// type.
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
    /// let detail = m.namespace(unit, "detail")?;
    /// m.function(detail, "helper")?.code("_ZN6detail6helperEv", 0x20);
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn namespace(&mut self, parent: impl InScope, name: &str) -> Result<ScopeId> {
        self.namespace_of(parent, Some(name), NamespaceKind::Namespace)
    }

    /// Adds a namespace whose names are also visible in the parent scope: `inline namespace` in C++.
    ///
    /// # Errors
    /// Same errors as [`namespace`](Self::namespace).
    pub fn inline_namespace(&mut self, parent: impl InScope, name: &str) -> Result<ScopeId> {
        self.namespace_of(parent, Some(name), NamespaceKind::Inline)
    }

    /// Adds an unnamed namespace, whose names are visible in the parent scope.
    ///
    /// # Errors
    /// Same errors as [`namespace`](Self::namespace).
    pub fn anonymous_namespace(&mut self, parent: impl InScope) -> Result<ScopeId> {
        self.namespace_of(parent, None, NamespaceKind::Inline)
    }

    /// Adds a module of the source language, as Fortran's. DWARF 5 section 3.2.1.
    ///
    /// # Errors
    /// Same errors as [`namespace`](Self::namespace).
    pub fn language_module(&mut self, parent: impl InScope, name: &str) -> Result<ScopeId> {
        self.namespace_of(parent, Some(name), NamespaceKind::Module)
    }

    /// Adds a Fortran common block to a function or module. The variables in it are static, and each function with the
    /// block names them on its own. DWARF 5 section 4.2.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.f90");
    /// # let int = m.base_type(unit, "integer(kind=4)", BaseEncoding::Signed, 32)?;
    /// // `common /state/ step, last`
    /// let work = m.function(unit, "work")?.code("work_", 64).id();
    /// let state = m.common_block(work, "state")?;
    /// let block = m.symbol("state_");
    /// m.variable(state, "step", int)?.always(Loc::memory(SpaceId::DEFAULT, Val::address(block, 0)))?;
    /// m.variable(state, "last", int)?.always(Loc::memory(SpaceId::DEFAULT, Val::address(block, 4)))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same errors as [`namespace`](Self::namespace).
    pub fn common_block(&mut self, parent: impl InScope, name: &str) -> Result<ScopeId> {
        self.namespace_of(parent, Some(name), NamespaceKind::CommonBlock)
    }

    /// Adds a Fortran namelist. Its items are [imports](Self::import) of variables. DWARF 5 section 4.3.
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Imported};
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.f90");
    /// # let int = m.base_type(unit, "integer(kind=4)", BaseEncoding::Signed, 32)?;
    /// // `namelist /settings/ step`
    /// let work = m.function(unit, "work")?.code("work_", 64).id();
    /// let step = m.variable(work, "step", int)?.id();
    /// let settings = m.namelist(work, "settings")?;
    /// m.import(settings, Imported::Variable(step))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same errors as [`namespace`](Self::namespace).
    pub fn namelist(&mut self, parent: impl InScope, name: &str) -> Result<ScopeId> {
        self.namespace_of(parent, Some(name), NamespaceKind::Namelist)
    }

    pub(crate) fn namespace_of(
        &mut self,
        parent: impl InScope,
        name: Option<&str>,
        kind: NamespaceKind,
    ) -> Result<ScopeId> {
        let parent = parent.scope(&self.module)?;
        self.not_in_type(parent, "a namespace")?;
        let name = name.map(|name| self.name(name)).transpose();
        let name = name.map_err(|error| error.or_at(self.module.at_scope(parent)))?;
        Ok(self.scope(parent, ScopeKind::Namespace { name, kind }))
    }

    /// Adds a lexical block: half-open pc ranges in bytes from the function start. The single range `0..0` is a block whose code
    /// the compiler removed: debuggers do not show what is in it. What is in a block without ranges, they show in the scope
    /// around it.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the parent scope does not exist; [`ErrorKind::EmptyRange`];
    /// [`ErrorKind::OutsideFunction`]; [`ErrorKind::OutsideScope`] where a range is outside the code of the parent scope;
    /// [`ErrorKind::OverlappingRanges`]; [`ErrorKind::Misaligned`] where a range begins or ends inside an instruction.
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
    /// // A block in two parts.
    /// let block = m.block(f, &[0x08..0x10, 0x20..0x28])?;
    /// m.variable(block, "x", int)?.live(0x08..0x10, Loc::register(s4))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn block(&mut self, parent: impl InScope, pcs: &[Range<u64>]) -> Result<ScopeId> {
        self.code_scope(parent, ScopeKind::Block, pcs)
    }

    /// Adds a block's copy in an inlined call or in an [instance](Self::function_instance): `origin` is the block in the
    /// function. DWARF 5 section 3.3.8.2.
    ///
    /// # Errors
    /// Same errors as [`block`](Self::block); [`ErrorKind::UnknownId`] where the origin does not exist;
    /// [`ErrorKind::BadArgument`] where the origin is not a block in the innermost enclosing inlined call's function.
    pub fn inlined_block(
        &mut self,
        parent: impl InScope,
        origin: ScopeId,
        pcs: &[Range<u64>],
    ) -> Result<ScopeId> {
        let parent = parent.scope(&self.module)?;
        let context = || self.module.at_scope(parent);
        origin.scope(&self.module).map_err(|error| error.or_at(context()))?;
        let is_block = self.module.scopes[origin].kind == ScopeKind::Block;
        let function = self.module.function_of(origin);
        let is_in_body = self.around[origin]
            .body
            .is_some_and(|body| matches!(self.module.scopes[body].kind, ScopeKind::Function(_)));
        if !is_block || !is_in_body || !function.is_some_and(|function| self.is_instance(parent, function)) {
            let what = format!("{origin} is not a block of the function of which this is an instance");
            return Err(crate::Error::bad_argument(what).or_at(context()));
        }
        let scope = self.block(parent, pcs)?;
        self.module.scopes[scope].origin = Some(origin);
        Ok(scope)
    }

    /// Whether the body that contains a scope is an instance of a function: an inlined call, or a
    /// [function instance](Self::function_instance).
    pub(super) fn is_instance(&self, scope: ScopeId, function: FunctionId) -> bool {
        let origin = |function: FunctionId| self.module.functions[function].origin;
        let body = self.around[scope].body.map(|body| &self.module.scopes[body].kind);
        let first = match body {
            Some(&ScopeKind::Function(body)) => origin(body),
            Some(&ScopeKind::Inlined { function, .. }) => Some(function),
            _ => None,
        };
        // An origin comes before its instances.
        core::iter::successors(first, |&function| origin(function)).any(|origin| origin == function)
    }

    /// Adds an inlined call to a function: its half-open pc ranges, in bytes from the start of the function that it was
    /// inlined into, and the call's source position.
    ///
    /// # Errors
    /// Same errors as [`block`](Self::block); [`ErrorKind::UnknownId`] where the function does not exist or belongs to
    /// another unit.
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
    /// let file = m.primary_file(unit)?;
    /// // Called in line 12, column 5.
    /// let call = m.inlined(f, callee, &[0x10..0x20], SourceLine::new(file, 12).column(5))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn inlined(
        &mut self,
        parent: impl InScope,
        function: FunctionId,
        pcs: &[Range<u64>],
        call: SourceLine,
    ) -> Result<ScopeId> {
        let parent = parent.scope(&self.module)?;
        let context = || self.module.at_scope(parent);
        self.reached_function(parent, function)?;
        let unit = self.module.scopes[parent].unit;
        let is_there = self.module.files.get(call.file).is_some_and(|file| file.unit == unit);
        known(is_there, || self.module.unknown_in(call.file, " of this unit"))
            .map_err(|error| error.or_at(context()))?;
        if self.module.functions[function].is_declaration {
            let name = self.module.string(self.module.functions[function].name);
            let what = format!("inlined function `{name}` is only declared; expected a definition");
            return Err(crate::Error::bad_argument(what).or_at(context()));
        }
        let scope = self.code_scope(parent, ScopeKind::Inlined { function, call }, pcs)?;
        self.module.functions[function].is_inlined = true;
        Ok(scope)
    }

    /// Sets the entry pc of a block, inlined call or function, in bytes from the function start, where it is not the
    /// lowest pc. DWARF 5 section 2.18.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope does not exist; [`ErrorKind::OutsideFunction`];
    /// [`ErrorKind::OutsideScope`] where the pc is outside the scope's code; [`ErrorKind::BadArgument`] where the scope has
    /// no code; [`ErrorKind::Misaligned`] where the pc is inside an instruction.
    pub fn entry_pc(&mut self, scope: impl InScope, pc: u64) -> Result<()> {
        let scope = scope.scope(&self.module)?;
        self.instruction_pc(scope, pc)?;
        let own = self.module.ranges(scope);
        if !own.is_empty() && !own.iter().any(|range| range.contains(&pc)) {
            let error =
                crate::Error::new(ErrorKind::OutsideScope { kind: Enclosed::EntryPc, code: own.to_vec() });
            return Err(error.or_at(
                self.module.at_scope(scope).with(|context| context.pcs = Some(pc..pc.saturating_add(1))),
            ));
        }
        self.module.scopes[scope].entry_pc = Some(pc);
        Ok(())
    }

    /// Sets the source line at which a block or namespace begins: DWARF 5 section 2.14.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope does not exist, or the file does not exist or belongs to another unit;
    /// [`ErrorKind::BadArgument`] where the scope is neither a block nor a namespace.
    pub fn begins(&mut self, scope: ScopeId, line: SourceLine) -> Result<()> {
        let scope = scope.scope(&self.module)?;
        let result = match self.module.scopes[scope].kind {
            ScopeKind::Block | ScopeKind::Namespace { .. } => check_line(&self.module, Some(line), scope),
            _ => Err(Error::bad_argument("scope has no begin line; expected a block or a namespace")),
        };
        result.map_err(|error| error.or_at(self.module.at_scope(scope)))?;
        self.module.scopes[scope].line = Some(line);
        Ok(())
    }

    /// Sets the discriminator. An inlined call's discriminator distinguishes it from other calls on its line, as in the
    /// line table; a block's is its instructions' discriminator. DWARF encodes both as `DW_AT_GNU_discriminator`, and
    /// an instruction's in its row.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope does not exist; [`ErrorKind::BadArgument`] where it is neither an
    /// inlined call nor a block.
    pub fn discriminator(&mut self, scope: ScopeId, number: u32) -> Result<()> {
        let scope = scope.scope(&self.module)?;
        match self.module.scopes[scope].kind {
            ScopeKind::Inlined { .. } | ScopeKind::Block => {
                self.module.scopes[scope].discriminator = number;
                Ok(())
            }
            _ => {
                let error =
                    Error::bad_argument("scope has no discriminator; expected an inlined call or a block");
                Err(error.or_at(self.module.at_scope(scope)))
            }
        }
    }

    /// Refuses a pc at which no call in the scope's function can return: as
    /// [`instruction_pc`](Self::instruction_pc), but a call may be the last instruction.
    pub(super) fn return_pc(&self, scope: ScopeId, pc: u64) -> Result<()> {
        let function = self.module.function_of(scope);
        // A call at the function's end returns to the end, where no instruction begins.
        let size = function.map_or(0, |function| self.module.functions[function].bytes);
        if size > 0 && pc == size { Ok(()) } else { self.instruction_pc(scope, pc) }
    }

    /// Rejects a pc at which no instruction in the scope's function can begin.
    pub(super) fn instruction_pc(&self, scope: ScopeId, pc: u64) -> Result<()> {
        let context =
            || self.module.at_scope(scope).with(|context| context.pcs = Some(pc..pc.saturating_add(1)));
        let Some(function) = self.module.function_of(scope) else {
            return Err(
                crate::Error::bad_argument("scope with a pc is outside all functions").or_at(context())
            );
        };
        let size = self.module.functions[function].bytes;
        if pc >= size {
            return Err(crate::Error::new(ErrorKind::OutsideFunction { size }).or_at(context()));
        }
        pcs::instruction(&self.module.target, pc).map_err(|error| error.or_at(context()))
    }

    fn code_scope(
        &mut self,
        parent: impl InScope,
        kind: ScopeKind,
        ranges: &[Range<u64>],
    ) -> Result<ScopeId> {
        let parent = parent.scope(&self.module)?;
        self.not_in_type(parent, "code")?;
        let context = |module: &Module, pcs: Range<u64>| {
            module.at_scope(parent).with(|context| context.pcs = Some(pcs))
        };
        let size =
            self.module.function_of(parent).map_or(0, |function| self.module.functions[function].bytes);
        // Blocks without pcs do not limit the code inside them.
        let around = self.around[parent].code.map_or(&[][..], |scope| self.module.ranges(scope));
        // A scope's ranges are disjoint, and usually sorted.
        let mut sorted = Vec::new();
        let outer = if around.is_sorted_by_key(|range| range.start) {
            around
        } else {
            sorted.extend_from_slice(around);
            sorted.sort_unstable_by_key(|range| range.start);
            &sorted
        };
        // Without code, a block is nowhere in the scope around it.
        let is_removed = kind == ScopeKind::Block && matches!(ranges, [Range { start: 0, end: 0 }]);
        // Computed once, but reported in the order of the ranges, with other errors of earlier ranges first.
        let met = first_overlap(ranges);
        for (index, range) in ranges.iter().enumerate() {
            crate::work::step();
            let after = outer.partition_point(|around| around.start <= range.start);
            // Outer ranges are disjoint: only the last range that begins at or before the inner range can contain it.
            let last_around = after.checked_sub(1).map(|last| &outer[last]);
            let is_inside = outer.is_empty() || last_around.is_some_and(|around| range.end <= around.end);
            let error = if is_removed {
                continue;
            } else if let Err(error) = pcs::range(&self.module.target, size, range) {
                error
            } else if let Some((_, other)) = met.as_ref().filter(|&&(context, _)| context == index) {
                ErrorKind::OverlappingRanges { kind: Ranges::Scope, other: other.clone() }.into()
            } else if !is_inside {
                ErrorKind::OutsideScope { kind: Enclosed::Scope, code: outer.to_vec() }.into()
            } else {
                continue;
            };
            return Err(error.or_at(context(&self.module, range.clone())));
        }
        let start = self.module.lists.ranges.len() as u32;
        self.module.lists.ranges.extend(ranges.iter().cloned());
        let scope = self.scope(parent, kind);
        self.module.scopes[scope].ranges = start..self.module.lists.ranges.len() as u32;
        if !ranges.is_empty() {
            self.around[scope].code = Some(scope);
        }
        Ok(scope)
    }

    /// Refuses entities that cannot be in a structure, class or union.
    fn not_in_type(&self, scope: ScopeId, what: &str) -> Result<()> {
        match self.module.scopes[scope].kind {
            ScopeKind::Type(ty) => {
                let what = format!("{what} cannot be in {}", self.module.called(ty));
                Err(crate::Error::bad_argument(what).or_at(self.module.at_scope(scope)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn scope(&mut self, parent: ScopeId, kind: ScopeKind) -> ScopeId {
        let id = self.module.scopes.next_key();
        self.around[parent].has_scopes = true;
        let around = Around { has_scopes: false, ..self.around[parent] };
        let around = match kind {
            // A nested function has separate pcs, which the outer function's ranges do not limit.
            ScopeKind::Function(_) => Around { body: Some(id), code: None, ..around },
            ScopeKind::Inlined { .. } => Around { body: Some(id), is_in_call: true, ..around },
            _ => around,
        };
        let function = match kind {
            ScopeKind::Function(function) => Some(function),
            _ => self.module.function_of(parent),
        };
        let unit = self.module.scopes[parent].unit;
        self.push_scope(Scope::new(unit, Some(parent), kind, function), around)
    }

    /// Adds a scope with its surroundings.
    pub(super) fn push_scope(&mut self, scope: Scope, around: Around) -> ScopeId {
        self.around.push(around);
        self.module.scopes.push(scope)
    }
}

/// Returns the index of the first range that overlaps an earlier range, and the first range that it overlaps. Empty
/// ranges are reported separately.
fn first_overlap(ranges: &[Range<u64>]) -> Option<(usize, Range<u64>)> {
    // Usually the ranges are sorted.
    if ranges.is_sorted_by(|first, second| first.end <= second.start) {
        return None;
    }
    let mut before: BTreeMap<u64, u64> = BTreeMap::new();
    for (index, range) in ranges.iter().enumerate().filter(|(_, range)| !range.is_empty()) {
        let is_met = |other: &&Range<u64>| {
            crate::work::step();
            other.start < range.end && range.start < other.end
        };
        // The ranges so far are disjoint: if any of them overlaps this range, the last that begins before its end does.
        let last_before = before.range(..range.end).next_back();
        if last_before.is_some_and(|(_, &end)| range.start < end) {
            return ranges[..index].iter().find(is_met).map(|other| (index, other.clone()));
        }
        before.insert(range.start, range.end);
    }
    None
}
