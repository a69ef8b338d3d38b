//! Types.

use super::{Builder, known, loc};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{BaseEncoding, Composite, Member, Qualifier, Type, TypeId, TypeKind, UnitId};
use crate::target::SpaceId;

impl Builder {
    /// A number, character or truth value of `bits` bits. The same type has the same id; so for all types
    /// but structures, unions and enumerations.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::BadArgument`] if it has no bits.
    pub fn base_type(
        &mut self,
        unit: UnitId,
        name: &str,
        encoding: BaseEncoding,
        bits: u64,
    ) -> Result<TypeId> {
        let at = self.unit_at(unit)?;
        if bits == 0 {
            return Err(Error::bad_argument(format!("type `{name}` has no bits")).or_at(at));
        }
        let name = self.string(name);
        Ok(self.intern(unit, TypeKind::Base { name, encoding }, Some(bits)))
    }

    /// A pointer into the default address space; to `void` where `to` is `None`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn pointer(&mut self, unit: UnitId, to: Option<TypeId>) -> Result<TypeId> {
        self.pointer_into(unit, to, SpaceId::DEFAULT)
    }

    /// A pointer into an address space. Its size is that of the space's addresses.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::UnknownSpace`].
    pub fn pointer_into(&mut self, unit: UnitId, to: Option<TypeId>, space: SpaceId) -> Result<TypeId> {
        self.known_types(unit, to)?;
        let at = self.unit_at(unit)?;
        loc::space(&self.module, space).map_err(|error| error.or_at(at))?;
        let bits = self.module.target.space(space).map(|space| space.address_bits.into());
        Ok(self.intern(unit, TypeKind::Pointer { to, space }, bits))
    }

    /// An array with the number of elements in each dimension, the outermost first; `None` where it is not
    /// known.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::BadArgument`] if an element is not whole bytes.
    pub fn array(&mut self, unit: UnitId, of: TypeId, counts: &[Option<u64>]) -> Result<TypeId> {
        self.known_types(unit, [of])?;
        self.whole_bytes(of)?;
        let elements = counts.iter().try_fold(1u64, |total, count| total.checked_mul((*count)?));
        let bits = elements.and_then(|elements| elements.checked_mul(self.module.types[of].bits?));
        Ok(self.intern(unit, TypeKind::Array { of, counts: counts.into() }, bits))
    }

    /// A vector of `count` elements. One of three takes the room of four, as OpenCL has it.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::BadArgument`] if an element is not whole bytes.
    pub fn vector(&mut self, unit: UnitId, of: TypeId, count: u64) -> Result<TypeId> {
        self.known_types(unit, [of])?;
        self.whole_bytes(of)?;
        let room = if count == 3 { 4 } else { count };
        let bits = |count| self.module.types[of].bits.and_then(|bits| bits.checked_mul(count));
        let (bits, value_bits) = (bits(room), bits(count));
        let kind = TypeKind::Vector { of, count };
        Ok(self.intern_type(Type { unit, kind, bits, value_bits }))
    }

    /// Another name for a type; for `void` where it is `None`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn typedef(&mut self, unit: UnitId, name: &str, of: Option<TypeId>) -> Result<TypeId> {
        self.known_types(unit, of)?;
        let name = self.string(name);
        let bits = of.and_then(|of| self.module.types[of].bits);
        Ok(self.intern(unit, TypeKind::Typedef { name, of }, bits))
    }

    /// A qualified type; `void` where it is `None`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn qualified(&mut self, unit: UnitId, qualifier: Qualifier, of: Option<TypeId>) -> Result<TypeId> {
        self.known_types(unit, of)?;
        let bits = of.and_then(|of| self.module.types[of].bits);
        Ok(self.intern(unit, TypeKind::Qualified { qualifier, of }, bits))
    }

    /// The type of a function; `None` where it returns nothing.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn subroutine(
        &mut self,
        unit: UnitId,
        returns: Option<TypeId>,
        parameters: &[TypeId],
    ) -> Result<TypeId> {
        self.known_types(unit, returns.iter().chain(parameters).copied())?;
        Ok(self.intern(unit, TypeKind::Subroutine { returns, parameters: parameters.into() }, None))
    }

    /// A structure of `bytes` bytes. Its members come with [`member`](Self::member), so that they can be
    /// of types that refer to it.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn structure(&mut self, unit: UnitId, name: Option<&str>, bytes: u64) -> Result<TypeId> {
        self.composite(unit, name, bytes, TypeKind::Struct)
    }

    /// A union of `bytes` bytes. Its members come with [`member`](Self::member).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn union(&mut self, unit: UnitId, name: Option<&str>, bytes: u64) -> Result<TypeId> {
        self.composite(unit, name, bytes, TypeKind::Union)
    }

    /// Adds a member to a structure or union, at `offset` bytes from its start.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`], also where `of` is no structure or union; [`ErrorKind::DoesNotFit`].
    pub fn member(&mut self, of: TypeId, name: &str, ty: TypeId, offset: u64) -> Result<&mut Self> {
        // No structure is as large as the largest number of bits.
        self.add_member(of, name, ty, offset.saturating_mul(8), None)
    }

    /// Adds a bit field: `bits` bits from bit `offset_bits`, counted from the first bit of the structure.
    ///
    /// # Errors
    /// As [`member`](Self::member); also if the field is larger than its type.
    pub fn bit_field(
        &mut self,
        of: TypeId,
        name: &str,
        ty: TypeId,
        offset_bits: u64,
        bits: u64,
    ) -> Result<&mut Self> {
        self.add_member(of, name, ty, offset_bits, Some(bits))
    }

    /// An enumeration whose values are of type `of`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn enumeration(
        &mut self,
        unit: UnitId,
        name: Option<&str>,
        of: TypeId,
        enumerators: &[(&str, i64)],
    ) -> Result<TypeId> {
        self.known_types(unit, [of])?;
        let name = name.map(|name| self.string(name));
        let enumerators = enumerators.iter().map(|&(name, value)| (self.string(name), value)).collect();
        let bits = self.module.types[of].bits;
        Ok(self.module.types.push(Type {
            unit,
            kind: TypeKind::Enum { name, of, enumerators },
            bits,
            value_bits: bits,
        }))
    }

    fn composite(
        &mut self,
        unit: UnitId,
        name: Option<&str>,
        bytes: u64,
        kind: impl FnOnce(Composite) -> TypeKind,
    ) -> Result<TypeId> {
        let at = self.unit_at(unit)?;
        let Some(bits) = bytes.checked_mul(8).map(Some) else {
            let what = format!("type `{}` has more than 2^61 bytes", name.unwrap_or_default());
            return Err(Error::bad_argument(what).or_at(at));
        };
        let name = name.map(|name| self.string(name));
        let kind = kind(Composite { name, members: Vec::new() });
        Ok(self.module.types.push(Type { unit, kind, bits, value_bits: bits }))
    }

    fn add_member(
        &mut self,
        of: TypeId,
        name: &str,
        ty: TypeId,
        offset_bits: u64,
        bits: Option<u64>,
    ) -> Result<&mut Self> {
        let Some(&Type { unit, bits: Some(has), .. }) = self.module.types.get(of) else {
            return Err(ErrorKind::UnknownId(format!("structure or union {of}")).into());
        };
        self.known_types(unit, [ty])?;
        let of_type = self.module.types[ty].bits;
        let what = || format!("member `{name}`");
        let at = self.unit_at(unit)?;
        let does_not_fit = |needs, has| {
            Err(Error::new(ErrorKind::DoesNotFit { what: what(), needs, has }).or_at(at.clone()))
        };
        if bits == Some(0) {
            return Err(Error::bad_argument(format!("{} has no bits", what())).or_at(at.clone()));
        }
        if let (Some(bits), Some(of_type)) = (bits, of_type)
            && bits > of_type
        {
            return does_not_fit(bits, of_type);
        }
        let needs = offset_bits.saturating_add(bits.or(of_type).unwrap_or(0));
        if needs > has {
            return does_not_fit(needs, has);
        }
        let name = Some(name).filter(|name| !name.is_empty()).map(|name| self.string(name));
        match &mut self.module.types[of].kind {
            TypeKind::Struct(composite) | TypeKind::Union(composite) => {
                composite.members.push(Member { name, ty, offset_bits, bits });
                Ok(self)
            }
            _ => Err(ErrorKind::UnknownId(format!("structure or union {of}")).into()),
        }
    }

    fn intern(&mut self, unit: UnitId, kind: TypeKind, bits: Option<u64>) -> TypeId {
        // Another name for a type, or a qualifier of it, has the type's.
        let value_bits = match kind {
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => {
                of.and_then(|of| self.module.types[of].value_bits)
            }
            _ => bits,
        };
        self.intern_type(Type { unit, kind, bits, value_bits })
    }

    /// Refuses elements that are not whole bytes: one after the other they would be somewhere else than
    /// DWARF has them.
    fn whole_bytes(&self, of: TypeId) -> Result<()> {
        let ty = &self.module.types[of];
        match ty.bits {
            Some(bits) if !bits.is_multiple_of(8) => {
                let at = self.unit_at(ty.unit)?;
                Err(Error::bad_argument(format!("elements of {bits} bits are not whole bytes")).or_at(at))
            }
            _ => Ok(()),
        }
    }

    fn intern_type(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.interned.get(&ty) {
            return id;
        }
        let id = self.module.types.push(ty.clone());
        self.interned.insert(ty, id);
        id
    }

    fn known_types(&self, unit: UnitId, types: impl IntoIterator<Item = TypeId>) -> Result<()> {
        known(self.module.units.is_valid(unit), || unit.to_string())?;
        for ty in types {
            if self.module.types.get(ty).is_none_or(|ty| ty.unit != unit) {
                let error = Error::new(ErrorKind::UnknownId(format!("{ty} of this unit")));
                return Err(error.or_at(self.unit_at(unit)?));
            }
        }
        Ok(())
    }
}
