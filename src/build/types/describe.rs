//! Further type and member properties.

use crate::build::builder::Builder;
use crate::build::properties::methods;
use crate::build::scopes::InScope;
use crate::error::{Count, Error, ErrorKind, Result};
use crate::model::entities::{member_properties, type_properties};
use crate::model::{Accessibility, FileId, Member, Passed, ScopeId, SourceLine, Type, TypeId, TypeKind};

/// A member in a structure, class, union or variant, for [`Builder::data_member`]. DWARF 5 section 5.7.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataMember<'a> {
    pub(super) name: &'a str,
    /// The member, without its name.
    pub(super) member: Member,
}

impl<'a> DataMember<'a> {
    /// Returns a member at `offset` bytes from the object start. An empty name means unnamed.
    pub fn new(name: &'a str, ty: TypeId, offset: u64) -> Self {
        // No structure has 2^64 bits.
        Self { name, member: Member::new(None, ty, offset.saturating_mul(8), None) }
    }

    /// Returns a bit field: `bits` bits from bit `offset_bits`, counted from the object's first bit.
    pub fn bit_field(name: &'a str, ty: TypeId, offset_bits: u64, bits: u64) -> Self {
        Self { name, member: Member::new(None, ty, offset_bits, Some(bits)) }
    }
}

member_properties! { methods (value) DataMember; }
type_properties! { methods (self) TypeBuilder; }

/// Describes a type's further properties. Made by [`Builder::describe_type`].
#[derive(Debug)]
pub struct TypeBuilder<'b> {
    builder: &'b mut Builder,
    id: TypeId,
}

impl Builder {
    /// Returns a builder for a type's further properties: declaration, scope, alignment. An equal type that is added
    /// later is a separate type without these properties.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn describe_type(&mut self, ty: TypeId) -> Result<TypeBuilder<'_>> {
        let data = self.module.types.get(ty).ok_or_else(|| self.module.unknown(ty))?;
        // From here on the type is not shared.
        if !matches!(data.kind, TypeKind::Composite(_))
            && let Ok(entry) = self.interned.find_entry(self.hash_of(data), |&(_, other)| other == ty)
        {
            entry.remove();
        }
        Ok(TypeBuilder { builder: self, id: ty })
    }
}

impl TypeBuilder<'_> {
    /// Returns the type's id.
    pub fn id(&self) -> TypeId {
        self.id
    }

    /// Sets how functions take and return a structure, class or union. DWARF 5 section 5.7.1.1; earlier versions do not
    /// encode it.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] where the type is not a structure, class or union.
    pub fn passed(&mut self, passed: Passed) -> Result<&mut Self> {
        self.builder.known_composite(self.id)?;
        self.builder.composite_mut(self.id).passed = Some(passed);
        Ok(self)
    }

    /// Sets the alignment in bytes, where the source declares one (`alignas`). DWARF 5 section 2.24.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if `bytes` is not a power of two.
    pub fn alignment(&mut self, bytes: u64) -> Result<&mut Self> {
        if !bytes.is_power_of_two() {
            return Err(self.refused(|name| {
                format!("{name} is aligned to {bytes}; expected a power of two", bytes = Count(bytes, "byte"))
            }));
        }
        self.data().alignment = Some(bytes);
        Ok(self)
    }

    /// Sets the scope that declares the type: a namespace, a function, a block, or a structure, class or union. The
    /// default is the unit.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`] where the scope does not exist or belongs to another unit; [`ErrorKind::CyclicType`]
    /// where the scope is in the type itself; [`ErrorKind::BadArgument`] for a base type, which belongs to the unit,
    /// and for a scope in an inlined call: a type declared in a function belongs to the function.
    pub fn within(&mut self, scope: impl InScope) -> Result<&mut Self> {
        let module = &self.builder.module;
        let scope = scope.scope(module)?;
        let Type { unit, kind, .. } = &module.types[self.id];
        let own = module.types[self.id].own_scope();
        let outermost = module.units[*unit].scope;
        if module.scopes[scope].unit != *unit {
            let error = Error::from(module.unknown_in(scope, " of this unit"));
            return Err(error.or_at(module.at_type(self.id)));
        }
        if scope != outermost && matches!(kind, TypeKind::Base { .. }) {
            return Err(
                self.refused(|name| format!("{name} is a base type in another scope; expected the unit"))
            );
        }
        // A scope without inner scopes encloses no other scope.
        let mut around =
            own.filter(|&own| own == scope || self.builder.around[own].has_scopes).and(Some(scope));
        while let Some(one) = around {
            crate::work::step();
            if Some(one) == own {
                let name = module.types[self.id].name().map(|name| module.string(name).into());
                let name = name.unwrap_or_else(|| self.id.to_string());
                return Err(Error::new(ErrorKind::CyclicType(name)).or_at(module.at_type(self.id)));
            }
            around = module.scopes[one].parent;
        }
        // A type is never in an inlined call, so checking the scope itself suffices.
        if self.builder.around[scope].is_in_call {
            return Err(self.refused(|name| format!("{name} is in an inlined call")));
        }
        self.put(scope, own);
        Ok(self)
    }

    fn put(&mut self, scope: ScopeId, own: Option<ScopeId>) {
        self.data().scope = scope;
        if let Some(own) = own {
            self.builder.module.scopes[own].parent = Some(scope);
            self.builder.around[scope].has_scopes = true;
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
