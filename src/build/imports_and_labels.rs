//! Imports and labels: DWARF 5 sections 3.2.3 and 3.6.

use super::builder::Builder;
use super::ids::{check_line, known};
use super::scopes::InScope;
use crate::error::Result;
use crate::model::{
    Import, ImportId, Imported, Label, LabelId, Module, NamespaceKind, ScopeId, ScopeKind, SourceLine,
    TypeKind,
};

/// Describes an import. Made by [`Builder::import`].
#[derive(Debug)]
pub struct ImportBuilder<'b> {
    builder: &'b mut Builder,
    id: ImportId,
}

/// Describes a label. Made by [`Builder::label`].
#[derive(Debug)]
pub struct LabelBuilder<'b> {
    builder: &'b mut Builder,
    id: LabelId,
}

impl Builder {
    /// Adds an import: an entity in another scope that has a name in this scope, by `using` and `namespace a = b` in
    /// C++, `use` in Fortran.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId) where the scope or the imported entity does not exist or
    /// belongs to another unit; [`BadArgument`](crate::error::ErrorKind::BadArgument) where the scope to import is not
    /// a namespace, or the variable belongs to a function. An item of a [namelist](Self::namelist) is a variable that
    /// belongs to no other function.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Imported, Loc};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// // `using namespace detail;`
    /// let detail = m.namespace(unit, "detail")?;
    /// m.import(unit, Imported::AllOf(detail))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn import(&mut self, scope: impl InScope, what: Imported) -> Result<ImportBuilder<'_>> {
        let scope = scope.scope(&self.module)?;
        imported(&self.module, scope, what).map_err(|error| error.or_at(self.module.at_scope(scope)))?;
        let id = self.module.imports.push(Import::new(scope, what));
        Ok(ImportBuilder { builder: self, id })
    }

    /// Adds a label, a named location in a function's code.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId) where the scope does not exist;
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) where it is outside all functions.
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
    /// # let f = m.function(unit, "f")?.code("f", 0x40).id();
    /// m.label(f, "retry")?.at(0x10)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn label(&mut self, scope: impl InScope, name: &str) -> Result<LabelBuilder<'_>> {
        let scope = scope.scope(&self.module)?;
        if self.module.function_of(scope).is_none() {
            let error = crate::Error::bad_argument("label is outside all functions");
            return Err(error.or_at(self.module.at_scope(scope)));
        }
        let name = self.name(name).map_err(|error| error.or_at(self.module.at_scope(scope)))?;
        let id = self.module.labels.push(Label::new(scope, name));
        Ok(LabelBuilder { builder: self, id })
    }

    /// Returns a builder for an import's further properties.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId).
    pub fn describe_import(&mut self, import: ImportId) -> Result<ImportBuilder<'_>> {
        known(self.module.imports.is_valid(import), || self.module.unknown(import))?;
        Ok(ImportBuilder { builder: self, id: import })
    }

    /// Returns a builder for a label's further properties.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId).
    pub fn describe_label(&mut self, label: LabelId) -> Result<LabelBuilder<'_>> {
        known(self.module.labels.is_valid(label), || self.module.unknown(label))?;
        Ok(LabelBuilder { builder: self, id: label })
    }
}

/// Refuses an entity that does not exist, belongs to another unit, or cannot be imported.
fn imported(module: &Module, scope: ScopeId, what: Imported) -> Result<()> {
    let unit = match what {
        Imported::Function(id) => module.functions.get(id).map(|of| module.scopes[of.scope].unit),
        Imported::Variable(id) => module.variables.get(id).map(|imported| module.scopes[imported.scope].unit),
        Imported::Type(id) | Imported::Member(id, _) | Imported::Enumerator(id, _) => {
            module.types.get(id).map(|imported| imported.unit)
        }
        Imported::Namespace(id) | Imported::AllOf(id) => module.scopes.get(id).map(|imported| imported.unit),
    };
    let is_namelist =
        matches!(module.scopes[scope].kind, ScopeKind::Namespace { kind: NamespaceKind::Namelist, .. });
    let is_namespace = matches!(what, Imported::Namespace(_) | Imported::AllOf(_));
    let own = module.scopes[scope].unit;
    let is_there = |unit| unit == own || !is_namespace && module.reaches(own, unit);
    known(unit.is_some_and(is_there), || match what {
        Imported::Function(id) => module.unknown_in(id, " of this unit"),
        Imported::Variable(id) => module.unknown_in(id, " of this unit"),
        Imported::Type(id) | Imported::Member(id, _) | Imported::Enumerator(id, _) => {
            module.unknown_in(id, " of this unit")
        }
        Imported::Namespace(id) | Imported::AllOf(id) => module.unknown_in(id, " of this unit"),
    })?;
    match what {
        Imported::Variable(id) if is_namelist => {
            let of = module.function_of(module.variables[id].scope);
            if of.is_some() && of != module.function_of(scope) {
                return Err(crate::Error::bad_argument("item of a namelist belongs to another function"));
            }
            Ok(())
        }
        _ if is_namelist => {
            Err(crate::Error::bad_argument("item of a namelist is not a variable; expected a variable"))
        }
        Imported::Variable(id) if module.function_of(module.variables[id].scope).is_some() => {
            Err(crate::Error::bad_argument("imported variable belongs to a function"))
        }
        Imported::Member(id, _) if !matches!(module.types[id].kind, TypeKind::Composite(_)) => {
            Err(crate::Error::bad_argument(format!(
                "{} has no data members; expected a structure, class or union",
                module.called(id)
            )))
        }
        Imported::Enumerator(id, _) if !matches!(module.types[id].kind, TypeKind::Enum { .. }) => {
            let what = format!("{} has no enumerators; expected an enumeration", module.called(id));
            Err(crate::Error::bad_argument(what))
        }
        Imported::Namespace(id) | Imported::AllOf(id)
            if !matches!(module.scopes[id].kind, ScopeKind::Namespace { .. }) =>
        {
            Err(crate::Error::bad_argument(format!("{id} is not a namespace")))
        }
        _ => Ok(()),
    }
}

impl ImportBuilder<'_> {
    /// Returns the import's id.
    pub fn id(&self) -> ImportId {
        self.id
    }

    /// Sets the name in this scope, where it differs from the entity's name.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) for an import of all names in a namespace, which keep
    /// their names; and where the name contains a zero byte.
    pub fn name(&mut self, name: &str) -> Result<&mut Self> {
        let Import { scope, what, .. } = self.builder.module.imports[self.id];
        if let Imported::AllOf(_) = what {
            let error = crate::Error::bad_argument("import of all names in a namespace has a name");
            return Err(error.or_at(self.builder.module.at_scope(scope)));
        }
        let name = self.builder.name(name);
        let name = name.map_err(|error| error.or_at(self.builder.module.at_scope(scope)))?;
        self.builder.module.imports[self.id].name = Some(name);
        Ok(self)
    }

    /// Sets the file and line of the import. Lines count from 1.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId) where the file does not exist or belongs to another unit.
    pub fn declared(&mut self, line: SourceLine) -> Result<&mut Self> {
        let scope = self.builder.module.imports[self.id].scope;
        declared(&self.builder.module, scope, line)?;
        self.builder.module.imports[self.id].line = Some(line);
        Ok(self)
    }
}

impl LabelBuilder<'_> {
    /// Returns the label's id.
    pub fn id(&self) -> LabelId {
        self.id
    }

    /// Sets the label's pc, in bytes from the function start. Without it the label was optimized away.
    ///
    /// # Errors
    /// [`OutsideFunction`](crate::error::ErrorKind::OutsideFunction).
    pub fn at(&mut self, pc: u64) -> Result<&mut Self> {
        let scope = self.builder.module.labels[self.id].scope;
        self.builder.instruction_pc(scope, pc)?;
        self.builder.module.labels[self.id].pc = Some(pc);
        Ok(self)
    }

    /// Sets the file and line of the declaration. Lines count from 1.
    ///
    /// # Errors
    /// [`UnknownId`](crate::error::ErrorKind::UnknownId) where the file does not exist or belongs to another unit.
    pub fn declared(&mut self, line: SourceLine) -> Result<&mut Self> {
        let scope = self.builder.module.labels[self.id].scope;
        declared(&self.builder.module, scope, line)?;
        self.builder.module.labels[self.id].line = Some(line);
        Ok(self)
    }
}

fn declared(module: &Module, scope: ScopeId, line: SourceLine) -> Result<()> {
    check_line(module, Some(line), scope).map_err(|error| error.or_at(module.at_scope(scope)))
}
