//! What can be said of a type beyond what it is, and of a member.

use crate::build::{Builder, InScope};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::model::{Accessibility, FileId, Passed, ScopeId, SourceLine, Type, TypeId, TypeKind};

/// A member of a structure, class, union or variant, for [`Builder::data_member`]. DWARF 5 section 5.7.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataMember<'a> {
    pub(super) name: &'a str,
    pub(super) ty: TypeId,
    pub(super) offset_bits: u64,
    pub(super) bits: Option<u64>,
    pub(super) accessibility: Option<Accessibility>,
    pub(super) is_mutable: bool,
    pub(super) is_artificial: bool,
    pub(super) line: Option<SourceLine>,
}

impl<'a> DataMember<'a> {
    /// A member at `offset` bytes from the start of the object. An empty name is none.
    pub fn new(name: &'a str, ty: TypeId, offset: u64) -> Self {
        Self {
            name,
            ty,
            // No structure is as large as the largest number of bits.
            offset_bits: offset.saturating_mul(8),
            bits: None,
            accessibility: None,
            is_mutable: false,
            is_artificial: false,
            line: None,
        }
    }

    /// A bit field: `bits` bits from bit `offset_bits`, counted from the first bit of the object.
    pub fn bit_field(name: &'a str, ty: TypeId, offset_bits: u64, bits: u64) -> Self {
        Self { offset_bits, bits: Some(bits), ..Self::new(name, ty, 0) }
    }

    /// Who may name it.
    #[must_use]
    pub fn accessibility(self, accessibility: Accessibility) -> Self {
        Self { accessibility: Some(accessibility), ..self }
    }

    /// It can be changed in an object that cannot: C++'s `mutable`.
    #[must_use]
    pub fn mutable(self) -> Self {
        Self { is_mutable: true, ..self }
    }

    /// It was made by the compiler.
    #[must_use]
    pub fn artificial(self) -> Self {
        Self { is_artificial: true, ..self }
    }

    /// Where it is declared. Lines count from 1.
    #[must_use]
    pub fn declared(self, file: FileId, line: u32) -> Self {
        self.declared_at(SourceLine { file, line, column: 0 })
    }

    /// The same, with a column.
    #[must_use]
    pub fn declared_at(self, line: SourceLine) -> Self {
        Self { line: Some(line), ..self }
    }
}

/// Says more of a type. Made by [`Builder::describe_type`].
#[derive(Debug)]
pub struct TypeBuilder<'b> {
    builder: &'b mut Builder,
    id: TypeId,
}

impl Builder {
    /// Says more of a type: where it is declared, in which scope, how it is aligned. Of a type that looks the
    /// same and comes later this is not said: it is another one.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn describe_type(&mut self, ty: TypeId) -> Result<TypeBuilder<'_>> {
        let data = self.module.types.get(ty).ok_or_else(|| ErrorKind::UnknownId(ty.to_string()))?;
        // It is one of its kind from here on.
        self.interned.swap_remove(data);
        Ok(TypeBuilder { builder: self, id: ty })
    }
}

impl TypeBuilder<'_> {
    /// The type's id.
    pub fn id(&self) -> TypeId {
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

    /// How objects of a structure, class or union are given to functions. DWARF 5 section 5.7.1.1; before that
    /// version there is no place for it.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where it is no structure, class or union.
    pub fn passed(&mut self, passed: Passed) -> Result<&mut Self> {
        self.builder.known_composite(self.id)?;
        self.builder.composite_mut(self.id).passed = Some(passed);
        Ok(self)
    }

    /// Bytes of which the address of everything of this type is a multiple, where that is said in the source
    /// (`alignas`). DWARF 5 section 2.24.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if it is no power of two.
    pub fn alignment(&mut self, bytes: u64) -> Result<&mut Self> {
        if !bytes.is_power_of_two() {
            return Err(
                self.refused(|name| format!("{name} is aligned to {bytes}", bytes = Count(bytes, "byte")))
            );
        }
        self.data().alignment = Some(bytes);
        Ok(self)
    }

    /// Where its name is known: a namespace, a function, a block, or a structure, class or union. Without this,
    /// in the unit.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope is not there or another unit's; [`ErrorKind::CyclicType`] where
    /// it is in the type itself; [`ErrorKind::BadArgument`] for a base type, which is the unit's, and for the
    /// scope of an inlined call: what is declared in a function is in the function.
    pub fn within(&mut self, scope: impl InScope) -> Result<&mut Self> {
        let module = &self.builder.module;
        let scope = scope.scope(module)?;
        let Type { unit, kind, .. } = &module.types[self.id];
        let own = module.types[self.id].own_scope();
        let outermost = module.units[*unit].scope;
        if module.scopes[scope].unit != *unit {
            let error = Error::from(ErrorKind::UnknownId(format!("{scope} of this unit")));
            return Err(error.or_at(module.at_type(self.id)));
        }
        if scope != outermost && matches!(kind, TypeKind::Base { .. }) {
            return Err(self.refused(|name| format!("{name} is a base type, which is the unit's")));
        }
        // A scope in which there is none is around no other.
        let mut around =
            own.filter(|&own| own == scope || self.builder.with_scopes.contains(own)).and(Some(scope));
        while let Some(one) = around {
            crate::work::step();
            if Some(one) == own {
                let name = module.types[self.id].name().map(|name| module.string(name).into());
                let name = name.unwrap_or_else(|| self.id.to_string());
                return Err(Error::new(ErrorKind::CyclicType(name)).or_at(module.at_type(self.id)));
            }
            around = module.scopes[one].parent;
        }
        // A type is never in a call, so that only the scope itself has to be asked.
        if self.builder.in_calls.contains(scope) {
            return Err(self.refused(|name| format!("{name} is in a call that was inlined")));
        }
        self.put(scope, own);
        Ok(self)
    }

    fn put(&mut self, scope: ScopeId, own: Option<ScopeId>) {
        self.data().scope = scope;
        if let Some(own) = own {
            self.builder.module.scopes[own].parent = Some(scope);
            self.builder.with_scopes.insert(scope);
        }
    }

    #[cold]
    fn refused(&self, what: impl FnOnce(String) -> String) -> Error {
        let module = &self.builder.module;
        Error::bad_argument(what(module.called(self.id))).or_at(module.at_type(self.id))
    }

    fn data(&mut self) -> &mut Type {
        &mut self.builder.module.types[self.id]
    }
}
