//! Applies statements about types.

use serde_json::value::RawValue;

use super::later::Later;
use super::loc::{In, Whole};
use super::read::Reader;
use super::statement::{
    Array, Base, BaseType, Composite, DescribeType, Enumeration, ExtentOf, Incomplete, Member, MemberFacts,
    Pointer, Ref, Stands, Template, Values, Variant, VariantPart,
};
use super::values::{Integer, Number, Text, Word};
use crate::build::{self, DataMember, Extent};
use crate::error::{Error, Result};
use crate::model::{Accessibility, CompositeKind, Loc, PointerKind, TypeId, UnitId, Val, VariantValues};
use crate::target::SpaceId;

impl<'a> Reader<'a> {
    pub fn ty(&self, unit: UnitId, ty: &Ref<'a>) -> Result<TypeId> {
        self.names.types.find(unit, ty)
    }

    pub fn maybe_type(&self, unit: UnitId, ty: Option<&Ref<'a>>) -> Result<Option<TypeId>> {
        ty.map(|ty| self.ty(unit, ty)).transpose()
    }

    /// Registers a new type under its id, or else under its name, if any.
    pub fn named_type(&mut self, ty: TypeId, id: Option<&Text<'a>>, name: Option<&Text<'a>>) -> Result<()> {
        let data = self.builder.described().ty(ty);
        let (unit, own) = (data.unit(), data.own_scope());
        self.names.types.add(ty, id, name.map(|name| (unit, name)))?;
        // A type is a scope by its id only, because a function may have the same name.
        own.map_or(Ok(()), |own| self.names.scopes.add(own, id, None))
    }

    pub fn base_type(&mut self, said: BaseType<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let ty = self.builder.base_type(unit, &said.name, said.encoding.0, said.bits.0)?;
        self.named_type(ty, said.id.as_ref(), Some(&said.name))
    }

    pub fn pointer(&mut self, said: Pointer<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let to = self.maybe_type(unit, said.to.as_ref())?;
        let space = said.space.map_or(Ok(SpaceId::DEFAULT), |space| self.space(&space))?;
        let kind = said.kind.map_or(PointerKind::Pointer, |Word(kind)| kind);
        let memory = said.memory_space.map(|Word(memory)| memory);
        let ty = self.builder.pointer_of(unit, kind, to, space, memory)?;
        self.named_type(ty, said.id.as_ref(), None)
    }

    pub fn array(&mut self, said: Array<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let of = self.ty(unit, &said.of)?;
        let extents: Vec<Extent> = match (said.counts, said.extents) {
            (Some(counts), None) => {
                let each = counts.into_iter();
                each.map(|count| count.map_or_else(Extent::unknown, |count| Extent::fixed(count.0))).collect()
            }
            (None, Some(extents)) => {
                extents.iter().map(|extent| self.extent(unit, extent)).collect::<Result<_>>()?
            }
            _ => return Err(Error::bad_argument("an array has `counts` or `extents`")),
        };
        let ty = self.builder.array_of(unit, of, &extents, said.stride_bits.map(|bits| bits.0))?;
        self.named_type(ty, said.id.as_ref(), None)
    }

    fn extent(&mut self, unit: UnitId, said: &ExtentOf<'a>) -> Result<Extent> {
        let mut extent = match (said.count, &said.variable, &said.value) {
            (None, None, None) => Extent::unknown(),
            (Some(Number(count)), None, None) => Extent::fixed(count),
            (None, Some(variable), None) => Extent::variable(self.names.variables.find((), variable)?),
            (None, None, Some(Later::Text(value))) => Extent::value(self.within(unit, value)?),
            _ => return Err(Error::bad_argument("a dimension has one of `count`, `variable`, `value`")),
        };
        if let Some(lower) = said.lower {
            extent = extent.from(lower.0);
        }
        match self.maybe_type(unit, said.index.as_ref())? {
            Some(index) => Ok(extent.index(index)),
            None => Ok(extent),
        }
    }

    pub fn composite(&mut self, said: Composite<'a>, kind: CompositeKind) -> Result<()> {
        let (unit, name, bytes) = (self.unit(&said.unit)?, said.name.as_deref(), said.bytes.0);
        let ty = match kind {
            CompositeKind::Struct => self.builder.structure(unit, name, bytes)?,
            CompositeKind::Class => self.builder.class(unit, name, bytes)?,
            CompositeKind::Union => self.builder.union(unit, name, bytes)?,
        };
        self.named_type(ty, said.id.as_ref(), said.name.as_ref())
    }

    pub fn incomplete(&mut self, said: Incomplete<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let ty = self.builder.incomplete(unit, said.kind.0, &said.name)?;
        self.named_type(ty, said.id.as_ref(), Some(&said.name))
    }

    pub fn enumeration(&mut self, said: Enumeration<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let of = self.ty(unit, &said.of)?;
        let each = said.enumerators.iter();
        let enumerators: Vec<(&str, i128)> = each.map(|(name, Integer(value))| (&**name, *value)).collect();
        let name = said.name.as_deref();
        let ty = match said.class {
            Some(true) => self.builder.enum_class(unit, name, of, &enumerators)?,
            _ => self.builder.enumeration(unit, name, of, &enumerators)?,
        };
        self.named_type(ty, said.id.as_ref(), said.name.as_ref())
    }

    pub fn describe_type(&mut self, said: DescribeType<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let ty = self.ty(unit, &said.r#type)?;
        let scope = said.r#in.as_ref().map(|scope| self.scope(scope)).transpose()?;
        let declared = said.declared.as_ref().map(|line| self.line(unit, line)).transpose()?;
        let mut ty = self.builder.describe_type(ty)?;
        if let Some(line) = declared {
            ty.declared_at(line);
        }
        if let Some(Number(bytes)) = said.alignment {
            ty.alignment(bytes)?;
        }
        if let Some(Word(passed)) = said.passed {
            ty.passed(passed)?;
        }
        scope.map_or(Ok(()), |scope| ty.within(scope).map(drop))
    }

    pub fn member(&mut self, mut said: Member<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let facts = said.facts();
        let member = self.data_member(unit, &said.r#type, &facts)?;
        match (said.of, said.variant) {
            (Some(of), None) => {
                let of = self.ty(unit, &of)?;
                self.builder.data_member(of, member).map(drop)
            }
            (None, Some(variant)) => {
                let variant = self.names.variants.find((), &variant)?;
                self.builder.data_member(variant, member).map(drop)
            }
            _ => Err(Error::bad_argument("a member is `of` a type, or of a `variant`")),
        }
    }

    fn data_member<'s>(
        &self,
        unit: UnitId,
        ty: &Ref<'a>,
        said: &'s MemberFacts<'a>,
    ) -> Result<DataMember<'s>> {
        let ty = self.ty(unit, ty)?;
        let name = said.name.as_deref().unwrap_or_default();
        let mut member = match (said.offset, said.offset_bits, said.bits) {
            (Some(Number(offset)), None, None) => DataMember::new(name, ty, offset),
            (None, Some(Number(offset_bits)), Some(Number(bits))) => {
                DataMember::bit_field(name, ty, offset_bits, bits)
            }
            _ => {
                let what = "a member has an `offset`, or is a bit field with `offset_bits` and `bits`";
                return Err(Error::bad_argument(what));
            }
        };
        if let Some(Word(accessibility)) = said.accessibility {
            member = member.accessibility(accessibility);
        }
        if said.mutable == Some(true) {
            member = member.mutable();
        }
        if said.artificial == Some(true) {
            member = member.artificial();
        }
        if let Some(line) = &said.declared {
            member = member.declared_at(self.line(unit, line)?);
        }
        Ok(member)
    }

    pub fn base(&mut self, said: Base<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let (of, ty) = (self.ty(unit, &said.of)?, self.ty(unit, &said.r#type)?);
        let accessibility: Option<Accessibility> = said.accessibility.map(|Word(access)| access);
        match (said.offset, said.r#virtual) {
            (Some(Number(offset)), None) => self.builder.base(of, ty, offset, accessibility).map(drop),
            (None, Some(Later::Text(expr))) => {
                let expr = self.within(unit, expr)?;
                self.builder.virtual_base(of, ty, expr, accessibility).map(drop)
            }
            _ => Err(Error::bad_argument("a base class is at an `offset`, or `virtual`")),
        }
    }

    pub fn variant_part(&mut self, said: VariantPart<'a>) -> Result<()> {
        let unit = self.unit(&said.unit)?;
        let of = self.ty(unit, &said.of)?;
        let part = match (said.discriminant, &said.untagged) {
            (Some(mut member), None) => {
                let facts = member.facts();
                let member = self.data_member(unit, &member.r#type, &facts)?;
                self.builder.variant_part(of, member)?
            }
            (None, Some(tag)) => {
                let tag = self.ty(unit, tag)?;
                self.builder.untagged_variant_part(of, tag)?
            }
            _ => return Err(Error::bad_argument("a variant part has a `discriminant`, or is `untagged`")),
        };
        self.names.parts.add(part, Some(&said.id), None)
    }

    pub fn variant(&mut self, said: Variant<'a>) -> Result<()> {
        let part = self.names.parts.find((), &said.part)?;
        let values = said.values.iter().map(|values| match *values {
            Values::One(Integer(value)) => VariantValues::One(value),
            Values::Range(Integer(first), Integer(last)) => VariantValues::Range(first, last),
        });
        let variant = self.builder.variant(part, &values.collect::<Vec<_>>())?;
        self.names.variants.add(variant, Some(&said.id), None)
    }

    pub fn template(&mut self, said: &Template<'a>) -> Result<()> {
        let name = said.name.as_deref().unwrap_or_default();
        let is_default = said.default == Some(true);
        match (&said.unit, &said.of, &said.function) {
            (Some(unit), Some(of), None) => {
                let unit = self.unit(unit)?;
                let of = self.ty(unit, of)?;
                let parameter = self.parameter(unit, name, &said.argument, is_default)?;
                self.builder.template(of, parameter).map(drop)
            }
            (None, None, Some(function)) => {
                let (function, unit) = self.function(function)?;
                let parameter = self.parameter(unit, name, &said.argument, is_default)?;
                self.builder.describe_function(function)?.template(parameter).map(drop)
            }
            _ => {
                let what = "a template parameter is of a type, given by `unit` and `of`, or of a `function`";
                Err(Error::bad_argument(what))
            }
        }
    }

    fn parameter<'s>(
        &mut self,
        unit: UnitId,
        name: &'s str,
        argument: &'s Stands<'a>,
        is_default: bool,
    ) -> Result<build::Template<'s>> {
        let parameter = match argument {
            Stands::Type(ty) => build::Template::ty(name, self.maybe_type(unit, ty.as_ref())?),
            Stands::Value(ty, value) => {
                let ty = self.ty(unit, ty)?;
                build::Template::value_at(name, ty, self.loc(unit, value)?)
            }
            Stands::Template(template) => build::Template::named(name, template),
            Stands::Pack(inner) => {
                let each = inner.iter().map(|one| {
                    let name = one.name.as_deref().unwrap_or_default();
                    self.parameter(unit, name, &one.argument, one.default == Some(true))
                });
                build::Template::pack(name, each.collect::<Result<Vec<_>>>()?)
            }
        };
        Ok(if is_default { parameter.default() } else { parameter })
    }

    /// Reads a location outside lists.
    pub fn loc<T>(&mut self, unit: UnitId, loc: &Later<'a, T>) -> Result<Loc> {
        let Later::Text(loc) = loc else { return Ok(Loc::undefined()) };
        self.within(unit, loc)
    }

    /// Reads a number outside lists.
    pub fn number<T>(&mut self, unit: UnitId, number: &Later<'a, T>) -> Result<Val> {
        let Later::Text(number) = number else { return Ok(Val::constant(0)) };
        self.within(unit, number)
    }

    /// Reads a location, number or raw expression.
    fn within<T: Whole<'a>>(&mut self, unit: UnitId, text: &'a RawValue) -> Result<T> {
        self.part(text, |reader, json| T::deserialized(&mut In::new(reader, unit), json))
    }
}
