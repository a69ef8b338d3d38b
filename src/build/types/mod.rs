//! A unit's types: base, pointer, named, qualified, subroutine and enumeration types.

mod array;
mod composite;
mod describe;
mod template;

pub use array::{Extent, Major};
pub(crate) use composite::CompositeSize;
pub use composite::{HasMembers, VariantId};
pub use describe::{DataMember, TypeBuilder};
pub use template::Template;

use core::hash::BuildHasher;

use super::builder::Builder;
use super::ids::known;
use super::loc;
use crate::error::{Error, ErrorKind, Quantity, Result};
use crate::model::{
    BaseEncoding, Count, MemorySpace, PointerKind, Qualifier, StringId, Type, TypeId, TypeKind, UnitId,
    VariableId,
};
use crate::target::SpaceId;

/// Maximum number of bits in a base type, far more than on any machine.
const MAX_BASE_BITS: u64 = 1 << 32;

/// Type of an enumeration's values, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EnumeratorType {
    /// The type.
    Known(TypeId),
    /// The size in bytes.
    Bytes(u64),
}

/// Rejects a value that does not fit an integral type with at most 64 bits. A type without known signedness accepts
/// signed and unsigned values.
fn number_fits(
    is_signed: Option<bool>,
    bits: Option<u64>,
    value: i128,
    what: impl Fn() -> String,
) -> Result<()> {
    let has = bits.unwrap_or(64).min(64);
    let needs = match (is_signed, value) {
        (Some(true) | None, ..0) => 129 - u64::from((!value).leading_zeros()),
        (Some(true), 0..) => 129 - u64::from(value.leading_zeros()),
        (Some(false), ..0) => {
            return Err(Error::bad_argument(format!(
                "{what} is {value}; expected a nonnegative value for an unsigned type",
                what = what()
            )));
        }
        (Some(false) | None, 0..) => 128 - u64::from(value.leading_zeros()),
    };
    if needs > has {
        return Err(ErrorKind::DoesNotFit { what: what(), needs, has }.into());
    }
    Ok(())
}

impl Builder {
    /// Adds a number, character or boolean type with `bits` bits; 0 for a type with a single value, as Rust's `()`, whose
    /// [`Type::bits`] is then `None`. Equal types share one id; this holds for all types except structures, classes, unions
    /// and enumerations.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::Limit`] if `bits` is more than 2^32, or differs from the encoding's fixed
    /// size, if it has one.
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
    /// let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn base_type(
        &mut self,
        unit: UnitId,
        name: &str,
        encoding: BaseEncoding,
        bits: u64,
    ) -> Result<TypeId> {
        self.known_unit(unit)?;
        if let BaseEncoding::Numbered(number) = encoding
            && number < BaseEncoding::FIRST_NUMBER
        {
            let problem =
                format!("the encoding {number:#x} has a name; expected the name, or a number from 0x13 on");
            return Err(Error::bad_argument(problem).or_at(self.module.at_unit(unit)));
        }
        let (least, most) = encoding.bits().map_or((0, MAX_BASE_BITS), |bits| (bits, bits));
        if !(least..=most).contains(&bits) {
            let quantity = Quantity::BaseTypeBits(name.into());
            let error = Error::limit(quantity, least.into()..=most.into(), bits.into());
            return Err(error.or_at(self.module.at_unit(unit)));
        }
        let name = self.name_in(unit, name)?;
        // Nothing can be concluded about the storage of an object without bits: some producers give a pointer such a type.
        let bits = Some(bits).filter(|&bits| bits > 0);
        Ok(self.intern(unit, TypeKind::Base { name, encoding }, bits))
    }

    /// Adds a pointer into the default address space; to `void` where `to` is `None`.
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
    /// let pointer = m.pointer(unit, Some(int))?;
    /// // `void *`.
    /// let untyped = m.pointer(unit, None)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn pointer(&mut self, unit: UnitId, to: Option<TypeId>) -> Result<TypeId> {
        self.pointer_into(unit, to, SpaceId::DEFAULT)
    }

    /// Adds a pointer into an address space, as large as the space's addresses.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::UnknownSpace`].
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
    /// // `local int *`: a debugger has to know the space in which an address counts.
    /// let local = m.target().space_named("local")?.id;
    /// let pointer = m.pointer_into(unit, Some(int), local)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn pointer_into(&mut self, unit: UnitId, to: Option<TypeId>, space: SpaceId) -> Result<TypeId> {
        self.pointer_of(unit, PointerKind::Pointer, to, space, None)
    }

    /// Adds a C++ reference into the default address space.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn reference(&mut self, unit: UnitId, to: TypeId) -> Result<TypeId> {
        self.pointer_of(unit, PointerKind::Reference, Some(to), SpaceId::DEFAULT, None)
    }

    /// Adds a C++ rvalue reference into the default address space.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn rvalue_reference(&mut self, unit: UnitId, to: TypeId) -> Result<TypeId> {
        self.pointer_of(unit, PointerKind::RvalueReference, Some(to), SpaceId::DEFAULT, None)
    }

    /// Adds a pointer or reference of any kind, with the address space that its bits are an address in, and the memory
    /// space that the source declares. DWARF 5 section 5.3.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::UnknownSpace`]; [`ErrorKind::BadArgument`] for a reference to `void`.
    pub fn pointer_of(
        &mut self,
        unit: UnitId,
        kind: PointerKind,
        to: Option<TypeId>,
        space: SpaceId,
        memory: Option<MemorySpace>,
    ) -> Result<TypeId> {
        self.known_types(unit, to)?;
        self.known_unit(unit)?;
        loc::space(&self.module, space).map(drop).map_err(|error| error.or_at(self.module.at_unit(unit)))?;
        if kind != PointerKind::Pointer && to.is_none() {
            let what = "reference has no referenced type";
            return Err(Error::bad_argument(what).or_at(self.module.at_unit(unit)));
        }
        let bits = self.module.target.space(space).map(|space| space.address_bits.into());
        Ok(self.intern(unit, TypeKind::Pointer { kind, to, space, memory }, bits))
    }

    /// Adds a pointer to a class member with type `to`: C++'s `T C::*`. By the Itanium C++ ABI, a pointer to a member
    /// function (`to` is a [subroutine](Self::subroutine)) is as large as two addresses, any other as one. DWARF 5
    /// section 5.14.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::BadArgument`] where `class` is not a structure, class or union.
    pub fn member_pointer(&mut self, unit: UnitId, class: TypeId, to: TypeId) -> Result<TypeId> {
        self.known_types(unit, [class, to])?;
        self.known_composite(class)?;
        let addresses = if matches!(self.module.types[to].kind, TypeKind::Subroutine { .. }) { 2 } else { 1 };
        let bits = 8 * addresses * u64::from(self.module.target.address_bytes());
        Ok(self.intern(unit, TypeKind::MemberPointer { class, to }, Some(bits)))
    }

    /// Adds a type with only a name: `decltype(nullptr)`, or a language's opaque type. DWARF 5 section 5.2.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn unspecified_type(&mut self, unit: UnitId, name: &str) -> Result<TypeId> {
        self.known_unit(unit)?;
        let name = self.name_in(unit, name)?;
        Ok(self.intern(unit, TypeKind::Unspecified { name }, None))
    }

    /// Adds a string type, as Fortran's `character(len=80)`: characters that are one value. `bytes` is the size in bytes of
    /// an object; `None` where it is known at run time only. A string that is shorter than its object has a
    /// [`string_length`](TypeBuilder::string_length). DWARF 5 section 5.11.
    ///
    /// ```
    /// # use eitri::build::{AttributeValue, Builder};
    /// # use eitri::model::BaseEncoding;
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.f90");
    /// # let scale = m.function(unit, "scale")?.code("scale_", 64).id();
    /// # let long = m.base_type(unit, "integer(kind=8)", BaseEncoding::Signed, 64)?;
    /// // `character(len=*) :: text`, whose length is a further argument.
    /// let length = m.parameter(scale, "_text", long)?.artificial().id();
    /// let text = m.string_type(unit, None, None)?;
    /// m.describe_type(text)?.string_length(AttributeValue::Variable(length))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::Limit`] for a size of 2^61 bytes or more.
    pub fn string_type(&mut self, unit: UnitId, name: Option<&str>, bytes: Option<u64>) -> Result<TypeId> {
        self.known_unit(unit)?;
        let bits = match bytes {
            None => None,
            Some(bytes) => Some(bytes.checked_mul(8).ok_or_else(|| {
                let error = Error::limit(
                    Quantity::TypeBytes(name.unwrap_or("string").into()),
                    0..=u128::from(u64::MAX / 8),
                    bytes.into(),
                );
                error.or_at(self.module.at_unit(unit))
            })?),
        };
        let name = name.map(|name| self.name_in(unit, name)).transpose()?;
        Ok(self.intern(unit, TypeKind::String { name }, bits))
    }

    /// Adds a subrange of a type: a part of its values, as Ada's `range -5 .. 9` and Pascal's `0 .. 9`. `bits` is the size
    /// of an object, where it differs from that of `of`. The bounds are set by [`lower_bound`](TypeBuilder::lower_bound)
    /// and [`upper_bound`](TypeBuilder::upper_bound). DWARF 5 section 5.13.
    ///
    /// ```
    /// # use eitri::build::{AttributeValue, Builder};
    /// # use eitri::model::BaseEncoding;
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.adb");
    /// let integer = m.base_type(unit, "integer", BaseEncoding::Signed, 32)?;
    /// // `type Small is range -5 .. 9`, in one byte.
    /// let small = m.subrange_type(unit, Some("small"), Some(integer), Some(8))?;
    /// let mut described = m.describe_type(small)?;
    /// described.lower_bound(AttributeValue::Signed(-5))?.upper_bound(AttributeValue::Signed(9))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::Limit`] if `bits` is more than 2^32.
    pub fn subrange_type(
        &mut self,
        unit: UnitId,
        name: Option<&str>,
        of: Option<TypeId>,
        bits: Option<u64>,
    ) -> Result<TypeId> {
        self.known_types(unit, of)?;
        self.check_bits(unit, name.unwrap_or("subrange"), bits)?;
        let name = name.map(|name| self.name_in(unit, name)).transpose()?;
        let bits = bits.or_else(|| of.and_then(|of| self.module.types[of].bits));
        Ok(self.intern(unit, TypeKind::Subrange { name, of }, bits))
    }

    /// Adds a set of a type's values, as Pascal's `set of 0 .. 31`. `of` is the type of the elements, usually a
    /// [subrange](Self::subrange_type) or an enumeration, and `bits` the size of an object: one bit for each element, and
    /// padding. DWARF 5 section 5.11.
    ///
    /// ```
    /// # use eitri::build::{AttributeValue, Builder};
    /// # use eitri::model::BaseEncoding;
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.pas");
    /// let integer = m.base_type(unit, "integer", BaseEncoding::Signed, 32)?;
    /// let digit = m.subrange_type(unit, None, Some(integer), None)?;
    /// m.describe_type(digit)?.lower_bound(AttributeValue::Unsigned(0))?.upper_bound(AttributeValue::Unsigned(9))?;
    /// m.set_type(unit, Some("digits"), Some(digit), Some(32))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::Limit`] if `bits` is more than 2^32.
    pub fn set_type(
        &mut self,
        unit: UnitId,
        name: Option<&str>,
        of: Option<TypeId>,
        bits: Option<u64>,
    ) -> Result<TypeId> {
        self.known_types(unit, of)?;
        self.check_bits(unit, name.unwrap_or("set"), bits)?;
        let name = name.map(|name| self.name_in(unit, name)).transpose()?;
        Ok(self.intern(unit, TypeKind::Set { name, of }, bits))
    }

    fn check_bits(&self, unit: UnitId, name: &str, bits: Option<u64>) -> Result<()> {
        match bits.filter(|&bits| bits > MAX_BASE_BITS) {
            Some(bits) => {
                let quantity = Quantity::BaseTypeBits(name.into());
                let error = Error::limit(quantity, 0..=MAX_BASE_BITS.into(), bits.into());
                Err(error.or_at(self.module.at_unit(unit)))
            }
            None => Ok(()),
        }
    }

    /// Adds another name for a type; for `void` where `of` is `None`.
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
    /// let index = m.typedef(unit, "index", Some(int))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn typedef(&mut self, unit: UnitId, name: &str, of: Option<TypeId>) -> Result<TypeId> {
        self.known_types(unit, of)?;
        let name = self.name_in(unit, name)?;
        let bits = of.and_then(|of| self.module.types[of].bits);
        Ok(self.intern(unit, TypeKind::Typedef { name, of }, bits))
    }

    /// Adds a qualified type; of `void` where `of` is `None`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, Qualifier};
    /// # use eitri::target::Target;
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// // `const int *`: the pointer is not const, what it points to is.
    /// let const_int = m.qualified(unit, Qualifier::Const, Some(int))?;
    /// let pointer = m.pointer(unit, Some(const_int))?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn qualified(&mut self, unit: UnitId, qualifier: Qualifier, of: Option<TypeId>) -> Result<TypeId> {
        self.known_types(unit, of)?;
        let bits = of.and_then(|of| self.module.types[of].bits);
        Ok(self.intern(unit, TypeKind::Qualified { qualifier, of }, bits))
    }

    /// Adds a function type; `returns` is `None` where it returns nothing.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn subroutine(
        &mut self,
        unit: UnitId,
        returns: Option<TypeId>,
        parameters: &[TypeId],
    ) -> Result<TypeId> {
        self.subroutine_of(unit, returns, parameters, false)
    }

    /// Adds the type of functions that take more arguments than they have parameters, such as `int (const char *, ...)`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn variadic_subroutine(
        &mut self,
        unit: UnitId,
        returns: Option<TypeId>,
        parameters: &[TypeId],
    ) -> Result<TypeId> {
        self.subroutine_of(unit, returns, parameters, true)
    }

    fn subroutine_of(
        &mut self,
        unit: UnitId,
        returns: Option<TypeId>,
        parameters: &[TypeId],
        is_variadic: bool,
    ) -> Result<TypeId> {
        self.known_types(unit, returns.iter().chain(parameters).copied())?;
        let kind = TypeKind::Subroutine { returns, parameters: parameters.into(), is_variadic };
        Ok(self.intern(unit, kind, None))
    }

    /// Adds an enumeration whose values have type `of`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::DoesNotFit`] where a value does not fit `of`.
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
    /// // `enum mode { OFF, ON = 4 };` with the type that the ABI gives it.
    /// let mode = m.enumeration(unit, Some("mode"), int, &[("OFF", 0), ("ON", 4)])?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn enumeration(
        &mut self,
        unit: UnitId,
        name: Option<&str>,
        of: TypeId,
        enumerators: &[(&str, i128)],
    ) -> Result<TypeId> {
        self.enumeration_of(unit, name, EnumeratorType::Known(of), enumerators, false)
    }

    /// Adds an enumeration whose names have a separate scope: C++'s `enum class`. DWARF 5 section 5.7.
    ///
    /// # Errors
    /// Same errors as [`enumeration`](Self::enumeration).
    pub fn enum_class(
        &mut self,
        unit: UnitId,
        name: Option<&str>,
        of: TypeId,
        enumerators: &[(&str, i128)],
    ) -> Result<TypeId> {
        self.enumeration_of(unit, name, EnumeratorType::Known(of), enumerators, true)
    }

    /// Adds an enumeration of which only the size of the values is known, in bytes, as DWARF 2 describes it, and Ada's.
    /// DWARF 5 section 5.7.
    ///
    /// ```
    /// # use eitri::build::{AttributeValue, Builder};
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.adb");
    /// // `type Color is (Red, Green)`.
    /// m.sized_enumeration(unit, Some("color"), 1, &[("red", 0), ("green", 1)])?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::Limit`] for a size of 2^61 bytes or more; [`ErrorKind::DoesNotFit`] where a
    /// value does not fit the size.
    pub fn sized_enumeration(
        &mut self,
        unit: UnitId,
        name: Option<&str>,
        bytes: u64,
        enumerators: &[(&str, i128)],
    ) -> Result<TypeId> {
        self.enumeration_of(unit, name, EnumeratorType::Bytes(bytes), enumerators, false)
    }

    pub(crate) fn enumeration_of(
        &mut self,
        unit: UnitId,
        name: Option<&str>,
        values: EnumeratorType,
        enumerators: &[(&str, i128)],
        is_class: bool,
    ) -> Result<TypeId> {
        let (of, bits) = match values {
            EnumeratorType::Known(of) => {
                self.known_types(unit, [of])?;
                (Some(of), self.module.types[of].bits)
            }
            EnumeratorType::Bytes(bytes) => {
                self.known_unit(unit)?;
                (None, Some(self.type_bits(unit, name, bytes)?))
            }
        };
        let is_signed = of.and_then(|of| self.module.is_signed(of));
        for &(enumerator, value) in enumerators {
            let what = || match of {
                Some(of) => format!("enumerator `{enumerator}` of {}", self.module.called(of)),
                None => format!("enumerator `{enumerator}`"),
            };
            let at = || of.map_or_else(|| self.module.at_unit(unit), |of| self.module.at_type(of));
            number_fits(is_signed, bits, value, what).map_err(|error| error.or_at(at()))?;
        }
        let name = name.map(|name| self.name_in(unit, name)).transpose()?;
        let enumerators = enumerators.iter().map(|&(name, value)| Ok((self.name_in(unit, name)?, value)));
        let enumerators = enumerators.collect::<Result<_>>()?;
        let ty = self.type_of_unit(unit, TypeKind::Enum { name, of, enumerators, is_class }, bits);
        Ok(self.module.types.push(ty))
    }

    /// Rejects a value that does not fit an integral type with at most 64 bits, signed or unsigned.
    fn value_fits(&self, ty: TypeId, value: i128, what: &str) -> Result<()> {
        number_fits(self.module.is_signed(ty), self.module.types[ty].bits, value, || what.into())
    }

    /// Converts a type's size to bits.
    fn type_bits(&self, unit: UnitId, name: Option<&str>, bytes: u64) -> Result<u64> {
        bytes.checked_mul(8).ok_or_else(|| {
            let quantity = Quantity::TypeBytes(name.unwrap_or_default().into());
            let error = Error::limit(quantity, 0..=u128::from(u64::MAX / 8), bytes.into());
            error.or_at(self.module.at_unit(unit))
        })
    }

    fn intern(&mut self, unit: UnitId, kind: TypeKind, bits: Option<u64>) -> TypeId {
        // A typedef or qualified type has its type's value size.
        let value_bits = match kind {
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => {
                of.and_then(|target| self.module.types[target].value_bits)
            }
            _ => bits,
        };
        let bound = self.bound_in(&kind);
        let id = self.intern_type(Type { value_bits, ..self.type_of_unit(unit, kind, bits) });
        if let Some(bound) = bound {
            self.bounds.insert(id, bound);
        }
        id
    }

    /// Returns a variable in a function that is an array bound in a type of this kind.
    fn bound_in(&self, kind: &TypeKind) -> Option<VariableId> {
        let of = match kind {
            TypeKind::Array { of, dimensions, .. } => {
                let variables = dimensions.iter().filter_map(|dimension| match dimension.count {
                    Count::Variable(variable) => Some(variable),
                    _ => None,
                });
                let is_local = |&variable: &VariableId| {
                    self.module.function_of(self.module.variables[variable].scope).is_some()
                };
                if let Some(bound) = { variables }.find(is_local) {
                    return Some(bound);
                }
                Some(*of)
            }
            TypeKind::Typedef { of, .. }
            | TypeKind::Qualified { of, .. }
            | TypeKind::Subrange { of, .. }
            | TypeKind::Pointer { to: of, .. } => *of,
            _ => None,
        };
        // Few modules have such types.
        if self.bounds.is_empty() { None } else { self.bounds.get(&of?).copied() }
    }

    /// Returns a type in an existing unit, without optional properties.
    fn type_of_unit(&self, unit: UnitId, kind: TypeKind, bits: Option<u64>) -> Type {
        Type::new(unit, kind, bits, bits, self.module.units[unit].scope)
    }

    /// Interns a name; `None` for an empty one.
    fn some_name(&mut self, text: &str) -> Result<Option<StringId>> {
        (!text.is_empty()).then(|| self.name(text)).transpose()
    }

    /// Interns an entity's name in the unit.
    pub(in crate::build) fn name_in(&mut self, unit: UnitId, text: &str) -> Result<StringId> {
        self.name(text).map_err(|error| error.or_at(self.module.at_unit(unit)))
    }

    fn intern_type(&mut self, ty: Type) -> TypeId {
        let hash = self.hash_of(&ty);
        let types = &mut self.module.types;
        // The table stores the hashes, so that a growing table does not hash types again.
        if let Some(&(_, id)) = self.interned.find(hash, |&(other, id)| other == hash && types[id] == ty) {
            return id;
        }
        let id = types.push(ty);
        self.interned.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    /// Hashes the properties in which most types differ.
    fn hash_of(&self, ty: &Type) -> u64 {
        self.hasher.hash_one((ty.unit, ty.bits, &ty.kind))
    }

    fn known_types(&self, unit: UnitId, types: impl IntoIterator<Item = TypeId>) -> Result<()> {
        known(self.module.units.is_valid(unit), || self.module.unknown(unit))?;
        for ty in types {
            if self.module.types.get(ty).is_none_or(|ty| !self.module.reaches(unit, ty.unit)) {
                let error = Error::new(self.module.unknown_in(ty, " of this unit"));
                self.known_unit(unit)?;
                return Err(error.or_at(self.module.at_unit(unit)));
            }
        }
        Ok(())
    }
}
