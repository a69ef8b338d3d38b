//! Structures, classes and unions, with their bases and members.

use super::describe::DataMember;
use crate::build::builder::{Around, Builder};
use crate::build::sealed::Sealed;
use crate::build::variables::VariableBuilder;
use crate::error::{Error, ErrorKind, Quantity, Result};
use crate::model::{
    Accessibility, Base, BaseOffset, CompositeKind, CompositeType, Discriminant, ExprId, Loc, Member, Scope,
    ScopeKind, Type, TypeId, TypeKind, UnitId, Variant, VariantPart, VariantPartId, VariantValues,
};

/// Greatest number of variants around a variant part.
const MAX_VARIANTS: usize = 64;

/// A variant in a variant part. Made by [`Builder::variant`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariantId {
    pub(crate) part: VariantPartId,
    pub(crate) index: usize,
}

impl Sealed for VariantId {}

/// A type or type part with members: a structure, class or union, or a variant.
pub trait HasMembers: Sealed + Copy {
    /// Returns the type that contains the members, and the variant, if it is one.
    #[doc(hidden)]
    fn owner(self, builder: &Builder) -> Result<(TypeId, Option<VariantId>)>;
}

impl HasMembers for TypeId {
    fn owner(self, _: &Builder) -> Result<(TypeId, Option<VariantId>)> {
        Ok((self, None))
    }
}

impl HasMembers for VariantId {
    fn owner(self, builder: &Builder) -> Result<(TypeId, Option<VariantId>)> {
        let module = &builder.module;
        let part = module.variant_parts.get(self.part).ok_or_else(|| module.unknown(self.part))?;
        let missing = || ErrorKind::UnknownId("variant in this type".into()).into();
        part.variants.get(self.index).map(|_| (part.of, Some(self))).ok_or_else(missing)
    }
}

/// Size of a structure, class or union.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompositeSize {
    Bytes(u64),
    /// Not constant.
    Dynamic,
    /// Unknown: the type is only declared.
    Declared,
}

impl Builder {
    /// Adds a structure with `bytes` bytes. [`member`](Self::member) adds its members afterwards, so that their types
    /// can refer to it; its static members, member functions and nested types are added with the structure as their
    /// scope.
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
    /// let pair = m.structure(unit, Some("pair"), 8)?;
    /// m.member(pair, "first", int, 0)?.member(pair, "second", int, 4)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn structure(&mut self, unit: UnitId, name: Option<&str>, bytes: u64) -> Result<TypeId> {
        self.composite(unit, CompositeKind::Struct, name, Some(bytes))
    }

    /// Adds a class with `bytes` bytes: a structure whose members are private by default.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn class(&mut self, unit: UnitId, name: Option<&str>, bytes: u64) -> Result<TypeId> {
        self.composite(unit, CompositeKind::Class, name, Some(bytes))
    }

    /// Adds a union with `bytes` bytes. [`member`](Self::member) adds its members.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn union(&mut self, unit: UnitId, name: Option<&str>, bytes: u64) -> Result<TypeId> {
        self.composite(unit, CompositeKind::Union, name, Some(bytes))
    }

    /// Adds a structure, class or union whose size is not constant, as Ada's records with discriminants.
    /// [`size`](super::TypeBuilder::size) sets the size.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn dynamic_composite(
        &mut self,
        unit: UnitId,
        kind: CompositeKind,
        name: Option<&str>,
    ) -> Result<TypeId> {
        self.composite_of(unit, kind, name, CompositeSize::Dynamic)
    }

    /// Adds a declaration for a structure, class or union that is defined elsewhere, without size or members. DWARF 5
    /// section 5.7.1.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`].
    pub fn incomplete(&mut self, unit: UnitId, kind: CompositeKind, name: &str) -> Result<TypeId> {
        self.composite_of(unit, kind, Some(name), CompositeSize::Declared)
    }

    /// Adds a member to a structure, class, union or variant, at `offset` bytes from the object start. An unnamed
    /// member (`""`) is anonymous: its members can be named directly.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::DoesNotFit`]; [`ErrorKind::BadArgument`] where the type is incomplete, or
    /// cannot have members.
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
    /// // `struct { char tag; int value; }`: sizes and offsets are the ABI's, in bytes.
    /// let char = m.base_type(unit, "char", BaseEncoding::SignedChar, 8)?;
    /// let entry = m.structure(unit, Some("entry"), 8)?;
    /// m.member(entry, "tag", char, 0)?.member(entry, "value", int, 4)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn member(&mut self, of: impl HasMembers, name: &str, ty: TypeId, offset: u64) -> Result<&mut Self> {
        self.data_member(of, DataMember::new(name, ty, offset))
    }

    /// Adds a bit field: `bits` bits from bit `offset_bits`, counted from the object's first bit.
    ///
    /// # Errors
    /// Same errors as [`member`](Self::member); also if the field is larger than its type.
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
    /// let flags = m.structure(unit, Some("flags"), 4)?;
    /// // 5 bits, from bit 3 on.
    /// m.bit_field(flags, "mode", int, 3, 5)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn bit_field(
        &mut self,
        of: impl HasMembers,
        name: &str,
        ty: TypeId,
        offset_bits: u64,
        bits: u64,
    ) -> Result<&mut Self> {
        self.data_member(of, DataMember::bit_field(name, ty, offset_bits, bits))
    }

    /// Adds a member with further properties.
    ///
    /// # Errors
    /// Same errors as [`member`](Self::member).
    pub fn data_member(&mut self, of: impl HasMembers, member: DataMember<'_>) -> Result<&mut Self> {
        let (ty, variant) = of.owner(self)?;
        let member = self.checked_member(ty, &member)?;
        match variant {
            Some(VariantId { part, index }) => {
                self.module.variant_parts[part].variants[index].members.push(member);
            }
            None => self.composite_mut(ty).members.push(member),
        }
        Ok(self)
    }

    /// Adds a base class, at `offset` bytes from the object start.
    ///
    /// # Errors
    /// Same errors as [`member`](Self::member).
    pub fn base(
        &mut self,
        of: TypeId,
        ty: TypeId,
        offset: u64,
        accessibility: Option<Accessibility>,
    ) -> Result<&mut Self> {
        // A base class must fit into the object as an unnamed member does.
        self.checked_member(of, &DataMember::new("", ty, offset))?;
        let offset = BaseOffset::Bytes(offset);
        self.composite_mut(of).bases.push(Base { ty, offset, accessibility, is_virtual: false });
        Ok(self)
    }

    /// Adds a virtual base class. The expression pops the object's address and pushes the base class's address, usually
    /// with an offset from the virtual function table. DWARF 5 section 5.7.3.
    ///
    /// # Errors
    /// Same errors as [`member`](Self::member); [`ErrorKind::UnknownId`] where the expression does not exist;
    /// [`ErrorKind::BadArgument`] where the expression refers to entries or addresses.
    pub fn virtual_base(
        &mut self,
        of: TypeId,
        ty: TypeId,
        expr: ExprId,
        accessibility: Option<Accessibility>,
    ) -> Result<&mut Self> {
        let (unit, _) = self.complete(of)?;
        let context = self.module.at_type(of);
        self.known_types(unit, [ty])?;
        let loc = Loc::expr(expr);
        self.check_location(unit, &loc, None, "the base class")
            .map_err(|error| error.or_at(context.clone()))?;
        if !self.module.expr(expr).0.fixups().is_empty() {
            let what = format!(
                "the location of a base class depends on the object only: that of {} refers to another entry or \
                    address",
                self.module.called(of)
            );
            return Err(Error::bad_argument(what).or_at(context));
        }
        let offset = BaseOffset::Expr(self.module.locs.push(&loc)?);
        self.composite_mut(of).bases.push(Base { ty, offset, accessibility, is_virtual: true });
        Ok(self)
    }

    /// Adds a static member of a structure, class or union. The member is defined elsewhere by
    /// [`definition`](Self::definition), or nowhere if it is [`always`](VariableBuilder::always) a constant.
    ///
    /// # Errors
    /// Same errors as [`variable`](Self::variable).
    pub fn static_member(&mut self, of: TypeId, name: &str, ty: TypeId) -> Result<VariableBuilder<'_>> {
        let mut member = self.variable(of, name, ty)?;
        member.external();
        Ok(member)
    }

    /// Adds a part with several variants, selected by a member of the object, the discriminant. Rust's `enum` is a
    /// structure with a variant part.
    ///
    /// ```
    /// # use eitri::build::{Builder, DataMember};
    /// # use eitri::model::{BaseEncoding, VariantValues};
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.rs");
    /// # let u32 = m.base_type(unit, "u32", BaseEncoding::Unsigned, 32)?;
    /// // enum Shape { Dot, Line(u32) }
    /// let shape = m.structure(unit, Some("Shape"), 8)?;
    /// let dot = m.structure(unit, Some("Dot"), 8)?;
    /// let line = m.structure(unit, Some("Line"), 8)?;
    /// m.member(line, "__0", u32, 4)?;
    /// let part = m.variant_part(shape, DataMember::new("", u32, 0).artificial())?;
    /// let variant = m.variant(part, &[VariantValues::Single(0)])?;
    /// m.member(variant, "Dot", dot, 0)?;
    /// let variant = m.variant(part, &[VariantValues::Single(1)])?;
    /// m.member(variant, "Line", line, 0)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// The part belongs to a structure, or to a variant of the structure's part that was added before, as in Ada.
    ///
    /// # Errors
    /// Same errors as [`member`](Self::member) for the discriminant; [`ErrorKind::BadArgument`] for a part in more than 64
    /// variants.
    pub fn variant_part(
        &mut self,
        of: impl HasMembers,
        discriminant: DataMember<'_>,
    ) -> Result<VariantPartId> {
        let (ty, _) = of.owner(self)?;
        let member = self.checked_member(ty, &discriminant)?;
        self.new_part(of, Discriminant::Member(member))
    }

    /// Adds a part with several variants, selected by a member of the type that is outside the part, by the member's index,
    /// as in Ada: the member is a part of all objects.
    ///
    /// # Errors
    /// Same errors as [`variant_part`](Self::variant_part); [`ErrorKind::BadArgument`] where the type has no such member yet.
    pub fn variant_part_by(&mut self, of: impl HasMembers, member: u32) -> Result<VariantPartId> {
        let (ty, _) = of.owner(self)?;
        self.complete(ty)?;
        let (_, composite) = self.known_composite(ty)?;
        let count = composite.members.len();
        if member as usize >= count {
            let what = format!(
                "discriminant is member {member}, counted from 0; {} has {}",
                self.module.called(ty),
                crate::error::Count(count, "member")
            );
            return Err(Error::bad_argument(what).or_at(self.module.at_type(ty)));
        }
        self.new_part(of, Discriminant::Enclosing(ty, member))
    }

    /// Adds a part with several variants, without a discriminant in the object. `tag` is the type of the variants'
    /// values.
    ///
    /// # Errors
    /// Same errors as [`variant_part`](Self::variant_part).
    pub fn untagged_variant_part(&mut self, of: impl HasMembers, tag: TypeId) -> Result<VariantPartId> {
        let (ty, _) = of.owner(self)?;
        let (unit, _) = self.complete(ty)?;
        self.known_types(unit, [tag])?;
        self.new_part(of, Discriminant::Type(tag))
    }

    /// Adds a part with variants, without a discriminant that selects the object's variant: Rust's `enum` with a single
    /// variant that can exist.
    ///
    /// # Errors
    /// Same errors as [`variant_part`](Self::variant_part).
    pub fn undiscriminated_variant_part(&mut self, of: impl HasMembers) -> Result<VariantPartId> {
        let (ty, _) = of.owner(self)?;
        self.complete(ty)?;
        self.new_part(of, Discriminant::None)
    }

    /// Adds a variant to a variant part, with the discriminant values that select it. A variant without values is
    /// selected by all values that no other variant has. [`member`](Self::member) adds its members.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`]; [`ErrorKind::BadArgument`] where a range is empty, a second variant of a part with a
    /// discriminant has no values, or a variant of a part without a discriminant has values; [`ErrorKind::DoesNotFit`]
    /// where a value does not fit the discriminant.
    pub fn variant(&mut self, part: VariantPartId, values: &[VariantValues]) -> Result<VariantId> {
        let Some(data) = self.module.variant_parts.get(part) else {
            return Err(self.module.unknown(part).into());
        };
        let ty = data.discriminant.ty(&self.module);
        let check = || {
            let Some(ty) = ty else {
                return match values {
                    [] => Ok(()),
                    _ => Err(Error::bad_argument(format!(
                        "variant of {} has discriminant values; expected none, because its part has no discriminant",
                        self.module.called(data.of)
                    ))),
                };
            };
            if values.is_empty() && data.variants.iter().any(|variant| variant.values.is_empty()) {
                let what = format!(
                    "{} has a variant part with two default variants; expected at most one",
                    self.module.called(data.of)
                );
                return Err(Error::bad_argument(what));
            }
            for &values in values {
                let (first, last) = match values {
                    VariantValues::Single(value) => (value, value),
                    VariantValues::Range(first, last) => (first, last),
                };
                if first > last {
                    let what = format!(
                        "discriminant range {first} to {last} of {} descends",
                        self.module.called(data.of)
                    );
                    return Err(Error::bad_argument(what));
                }
                // If both ends fit, all values between them fit.
                for value in [first, last] {
                    let what = format!("a discriminant of {}", self.module.called(data.of));
                    self.value_fits(ty, value, &what)?;
                }
            }
            Ok(())
        };
        check().map_err(|error| error.or_at(self.module.at_type(data.of)))?;
        let variants = &mut self.module.variant_parts[part].variants;
        variants.push(Variant { values: values.into(), members: Vec::new(), parts: Vec::new() });
        Ok(VariantId { part, index: variants.len() - 1 })
    }

    fn new_part(&mut self, of: impl HasMembers, discriminant: Discriminant) -> Result<VariantPartId> {
        let (of, variant) = of.owner(self)?;
        let inside = variant.map(|variant| (variant.part, variant.index as u32));
        let parts = &mut self.module.variant_parts;
        // The functions that visit nested parts call themselves.
        let around = core::iter::successors(inside, |&(part, _)| parts[part].inside);
        if around.take(MAX_VARIANTS + 1).count() > MAX_VARIANTS {
            let what =
                format!("variant part of {} is in more than {MAX_VARIANTS} variants", self.module.called(of));
            return Err(Error::bad_argument(what).or_at(self.module.at_type(of)));
        }
        let part = parts.push(VariantPart { of, inside, discriminant, variants: Vec::new() });
        if let Some(VariantId { part: outer, index }) = variant {
            parts[outer].variants[index].parts.push(part);
        }
        self.composite_mut(of).variant_parts.push(part);
        Ok(part)
    }

    pub(crate) fn composite(
        &mut self,
        unit: UnitId,
        kind: CompositeKind,
        name: Option<&str>,
        bytes: Option<u64>,
    ) -> Result<TypeId> {
        let size = bytes.map_or(CompositeSize::Declared, CompositeSize::Bytes);
        self.composite_of(unit, kind, name, size)
    }

    pub(crate) fn composite_of(
        &mut self,
        unit: UnitId,
        kind: CompositeKind,
        name: Option<&str>,
        size: CompositeSize,
    ) -> Result<TypeId> {
        self.known_unit(unit)?;
        let bits = match size {
            CompositeSize::Bytes(bytes) => Some(self.type_bits(unit, name, bytes)?),
            CompositeSize::Dynamic | CompositeSize::Declared => None,
        };
        let name = name.map(|name| self.name_in(unit, name)).transpose()?;
        // The scope and the type reference each other, so that the type's id is needed before the type is added.
        let id = self.module.types.next_key();
        let parent = Some(self.module.units[unit].scope);
        let scope = self.push_scope(Scope::new(unit, parent, ScopeKind::Type(id), None), Around::default());
        let composite = CompositeType {
            kind,
            name,
            scope,
            passed: None,
            templates: Vec::new(),
            bases: Vec::new(),
            members: Vec::new(),
            variant_parts: Vec::new(),
        };
        let ty = self.type_of_unit(unit, TypeKind::Composite(composite), bits);
        Ok(self.module.types.push(Type { is_declaration: size == CompositeSize::Declared, ..ty }))
    }

    /// Returns the unit and the composite, if the type is a structure, class or union.
    pub(in crate::build) fn known_composite(&self, of: TypeId) -> Result<(UnitId, &CompositeType)> {
        match self.module.types.get(of) {
            Some(Type { unit, kind: TypeKind::Composite(composite), .. }) => Ok((*unit, composite)),
            Some(_) => {
                let what = format!("{} is not a structure, class or union", self.module.called(of));
                Err(Error::bad_argument(what).or_at(self.module.at_type(of)))
            }
            None => Err(self.module.unknown(of).into()),
        }
    }

    /// Returns a complete structure's, class's or union's unit and size in bits, if the size is constant.
    fn complete(&self, of: TypeId) -> Result<(UnitId, Option<u64>)> {
        let (unit, _) = self.known_composite(of)?;
        let ty = &self.module.types[of];
        if ty.is_declaration {
            let what = format!("{} is incomplete", self.module.called(of));
            return Err(Error::bad_argument(what).or_at(self.module.at_type(of)));
        }
        Ok((unit, ty.bits))
    }

    /// Returns the composite in a type that [`known_composite`](Self::known_composite) has accepted.
    pub(in crate::build) fn composite_mut(&mut self, of: TypeId) -> &mut CompositeType {
        match &mut self.module.types[of].kind {
            TypeKind::Composite(composite) => composite,
            _ => unreachable!("`known_composite` accepted the type"),
        }
    }

    fn checked_member(&mut self, of: TypeId, member: &DataMember<'_>) -> Result<Member> {
        let (unit, has) = self.complete(of)?;
        let DataMember { name, member } = member;
        let context = || self.module.at_type(of);
        self.known_types(unit, [member.ty])?;
        let of_type = self.module.types[member.ty].bits;
        let what = || match *name {
            "" => format!("a member of {}", self.module.called(of)),
            name => format!("member `{name}` of {}", self.module.called(of)),
        };
        let does_not_fit =
            |needs, has| Err(Error::new(ErrorKind::DoesNotFit { what: what(), needs, has }).or_at(context()));
        if member.bits == Some(0) {
            return Err(Error::limit(Quantity::MemberBits(what()), 1..=u128::MAX, 0).or_at(context()));
        }
        // A bit field can be smaller than its type, but not larger.
        if let (Some(bits), Some(of_type)) = (member.bits, of_type)
            && bits > of_type
        {
            return does_not_fit(bits, of_type);
        }
        let needs = member.offset_bits.saturating_add(member.bits.or(of_type).unwrap_or(0));
        if let Some(has) = has.filter(|&has| needs > has) {
            return does_not_fit(needs, has);
        }
        let name = self.some_name(name).map_err(|error| error.or_at(self.module.at_type(of)))?;
        Ok(Member { name, ..*member })
    }
}
