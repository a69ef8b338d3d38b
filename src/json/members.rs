//! Type parts: dimensions, members, base classes, variants and template parameters.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::facts::{facts, kind};
use super::ids::Known;
use super::later::Later;
use super::loc::{self, ExpressionAt, Loc, Place, Val};
use super::objects::objects;
use super::reader::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::Shaped;
use super::values::{Integer, Line, Number, Ref, Signed, Text};
use super::words::Word;
use crate::build::{self, DataMember, Extent, HasMembers, VariantId};
use crate::error::{Error, Result};
use crate::model::entities::{dimension_properties, member_properties, template_properties};
use crate::model::{
    self, Accessibility, BaseOffset, Count, Dimension, ExprId, FunctionId, TemplateParameter, TypeId, UnitId,
    VariantPartId, VariantValues,
};

dimension_properties! {
    facts ExtentFacts of |known, dimension: &Dimension| dimension, set &mut Extent: [by value],
    object ExtentOf {} {}
}
member_properties! {
    facts MemberFacts of |known, member: &model::Member| member, set &mut DataMember<'_>: [by value],
    object Member { unit: Ref<'a>, r#type: Ref<'a> } { of: Ref<'a>, variant: Ref<'a> }
    object Discriminant { r#type: Ref<'a> } {}
}
template_properties! {
    facts TemplateFacts of |known, parameter: &TemplateParameter| parameter,
    set &mut build::Template<'_>: [by value],
    object Template { argument: TemplateArgument<'a> } { unit: Ref<'a>, of: Ref<'a>, function: Ref<'a> }
    object Packed { argument: TemplateArgument<'a> } {}
}
objects! {
    Base { unit: Ref<'a>, of: Ref<'a>, r#type: Ref<'a> } {
        offset: Number, r#virtual: Later<'a, ExpressionAt<'a>>, accessibility: Word<Accessibility>,
    }
    VariantPart { unit: Ref<'a>, of: Ref<'a>, id: Text<'a> } {
        discriminant: Discriminant<'a>,
        /// The variant that contains the part, if it is in a variant of another part.
        variant: Ref<'a>,
        /// Index of the type's data member that selects the variant.
        member: u32,
        untagged: Ref<'a>,
        /// Nothing tells which variant an object has.
        undiscriminated: bool,
    }
    Variant { part: Ref<'a>, id: Text<'a>, values: Vec<Values> } {}
}

impl<'a> ExtentOf<'a> {
    pub fn read(mut self, reader: &mut Reader<'a>, unit: UnitId) -> Result<Extent> {
        let mut facts = self.facts();
        let mut extent = match (facts.count.take(), facts.variable.take(), facts.value.take()) {
            (None, None, None) => Extent::unknown(),
            (Some(Number(count)), None, None) => Extent::fixed(count),
            (None, Some(variable), None) => Extent::variable(reader.variable(&variable)?),
            (None, None, Some(value)) => Extent::value(loc::whole(reader, unit, &value)?),
            _ => {
                return Err(Error::bad_argument(
                    "dimension has several counts; expected one of `count`, `variable`, `value`",
                ));
            }
        };
        facts.describe(reader, &mut extent, unit)?;
        Ok(extent)
    }

    pub fn write(known: &'a Known<'a>, dimension: &Dimension) -> Self {
        let mut facts = ExtentFacts::new(known, dimension);
        match dimension.count {
            Count::Unknown => {}
            Count::Fixed(count) => facts.count = Some(Number(count)),
            Count::Variable(variable) => facts.variable = Some(known.variable_ref(variable)),
            Count::Value(value) => facts.value = Some(loc::written_number(known, value)),
        }
        Self::new().with(facts)
    }
}

impl<'a> Discriminant<'a> {
    /// Returns the member for the builder. An empty name means unnamed.
    fn read(&mut self, reader: &mut Reader<'a>, unit: UnitId) -> Result<DataMember<'_>> {
        let mut facts = self.facts();
        let (offset, bits) = match (facts.offset.take(), facts.offset_bits.take(), facts.bits.take()) {
            (Some(Number(bytes)), None, None) => (bytes, None),
            (None, Some(Number(offset)), Some(Number(bits))) => (offset, Some(bits)),
            _ => {
                return Err(Error::bad_argument(
                    "member has an invalid combination of keys; expected `offset`, or `offset_bits` and `bits`",
                ));
            }
        };
        self.name = facts.name.take();
        let ty = reader.ty(unit, &self.r#type)?;
        let name = self.name.as_deref().unwrap_or_default();
        let mut member = match bits {
            None => DataMember::new(name, ty, offset),
            Some(bits) => DataMember::bit_field(name, ty, offset, bits),
        };
        facts.describe(reader, &mut member, unit)?;
        Ok(member)
    }

    fn write(known: &'a Known<'a>, member: &model::Member) -> Self {
        let mut facts = MemberFacts::new(known, member);
        facts.name = member.name.map(|name| known.text(name));
        match member.bits {
            None => facts.offset = Some(Number(member.offset_bits / 8)),
            Some(bits) => {
                facts.offset_bits = Some(Number(member.offset_bits));
                facts.bits = Some(Number(bits));
            }
        }
        Self::new(known.type_ref(member.ty)).with(facts)
    }
}

impl<'a> Member<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        enum Owner {
            Type(TypeId),
            Variant(VariantId),
        }
        let unit = reader.unit(&self.unit)?;
        let owner = match (self.of.take(), self.variant.take()) {
            (Some(of), None) => Owner::Type(reader.ty(unit, &of)?),
            (None, Some(variant)) => Owner::Variant(reader.names.variants.find((), &variant)?),
            _ => {
                return Err(Error::bad_argument(
                    "member has no owner or two owners; expected `of` or `variant`",
                ));
            }
        };
        let facts = self.facts();
        let mut member = Discriminant::new(self.r#type).with(facts);
        let member = member.read(reader, unit)?;
        match owner {
            Owner::Type(ty) => reader.builder.data_member(ty, member).map(drop),
            Owner::Variant(variant) => reader.builder.data_member(variant, member).map(drop),
        }
    }

    /// Returns the statement for a type's member.
    pub fn write(known: &'a Known<'a>, ty: TypeId, member: &model::Member) -> Self {
        Self { of: Some(known.type_ref(ty)), ..Self::unowned(known, known.module.ty(ty).unit(), member) }
    }

    /// Returns the statement for a variant's member.
    pub fn write_in_variant(
        known: &'a Known<'a>,
        unit: UnitId,
        variant: VariantId,
        member: &model::Member,
    ) -> Self {
        Self { variant: Some(known.variant_ref(variant)), ..Self::unowned(known, unit, member) }
    }

    fn unowned(known: &'a Known<'a>, unit: UnitId, member: &model::Member) -> Self {
        let mut json = Discriminant::write(known, member);
        let facts = json.facts();
        Self::new(known.unit_ref(unit), json.r#type).with(facts)
    }
}

impl<'a> Base<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        enum Offset {
            Bytes(u64),
            Virtual(ExprId),
        }
        let unit = reader.unit(&self.unit)?;
        let offset = match (self.offset, self.r#virtual) {
            (Some(Number(bytes)), None) => Offset::Bytes(bytes),
            (None, Some(expr)) => Offset::Virtual(loc::whole(reader, unit, &expr)?),
            _ => {
                return Err(Error::bad_argument(
                    "base class has an invalid combination of keys; expected `offset` or `virtual`",
                ));
            }
        };
        let ty = reader.ty(unit, &self.of)?;
        let base = reader.ty(unit, &self.r#type)?;
        let accessibility = self.accessibility.map(|Word(accessibility)| accessibility);
        match offset {
            Offset::Bytes(bytes) => reader.builder.base(ty, base, bytes, accessibility).map(drop),
            Offset::Virtual(expr) => reader.builder.virtual_base(ty, base, expr, accessibility).map(drop),
        }
    }

    pub fn write(known: &'a Known<'a>, ty: TypeId, base: &model::Base) -> Self {
        let unit = known.unit_ref(known.module.ty(ty).unit());
        let mut json = Self::new(unit, known.type_ref(ty), known.type_ref(base.ty));
        json.accessibility = base.accessibility.map(Word);
        match base.offset {
            BaseOffset::Bytes(bytes) => json.offset = Some(Number(bytes)),
            BaseOffset::Expr(loc) => json.r#virtual = Some(Later::Model(ExpressionAt(Place { known, loc }))),
        }
        json
    }
}

impl<'a> VariantPart<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        match self.variant.clone() {
            Some(variant) => {
                let variant = reader.names.variants.find((), &variant)?;
                self.apply_in(reader, variant)
            }
            None => {
                let unit = reader.unit(&self.unit)?;
                let ty = reader.ty(unit, &self.of)?;
                self.apply_in(reader, ty)
            }
        }
    }

    fn apply_in(self, reader: &mut Reader<'a>, of: impl HasMembers) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let part = match (self.discriminant, self.member, self.untagged, self.undiscriminated) {
            (Some(mut discriminant), None, None, None) => {
                let member = discriminant.read(reader, unit)?;
                reader.builder.variant_part(of, member)?
            }
            (None, Some(member), None, None) => reader.builder.variant_part_by(of, member)?,
            (None, None, Some(tag), None) => {
                let tag = reader.ty(unit, &tag)?;
                reader.builder.untagged_variant_part(of, tag)?
            }
            (None, None, None, Some(true)) => reader.builder.undiscriminated_variant_part(of)?,
            _ => {
                return Err(Error::bad_argument(
                    "variant part has an invalid combination of keys; expected `discriminant`, `member`, \
                     `untagged` or `undiscriminated`",
                ));
            }
        };
        reader.names.parts.add(part, Some(&self.id), None)
    }

    pub fn write(known: &'a Known<'a>, id: VariantPartId) -> Self {
        let part = &known.module.variant_parts[id];
        let unit = known.unit_ref(known.module.ty(part.of).unit());
        let mut json = Self::new(unit, known.type_ref(part.of), known.part_ref(id));
        json.variant =
            part.inside.map(|(part, index)| known.variant_ref(VariantId { part, index: index as usize }));
        match &part.discriminant {
            model::Discriminant::Member(member) => {
                json.discriminant = Some(Discriminant::write(known, member))
            }
            model::Discriminant::Enclosing(_, index) => json.member = Some(*index),
            model::Discriminant::Type(tag) => json.untagged = Some(known.type_ref(*tag)),
            model::Discriminant::None => json.undiscriminated = Some(true),
        }
        json
    }
}

impl<'a> Variant<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let part = reader.names.parts.find((), &self.part)?;
        let values: Vec<_> = self.values.iter().map(|values| values.read()).collect();
        let variant = reader.builder.variant(part, &values)?;
        reader.names.variants.add(variant, Some(&self.id), None)
    }

    pub fn write(known: &'a Known<'a>, id: VariantId, variant: &model::Variant) -> Self {
        let values = variant.values.iter().map(Values::write).collect();
        Self::new(known.part_ref(id.part), known.variant_ref(id), values)
    }
}

/// Discriminant values: one value, or an inclusive range.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number of 64 bits, or a list of the first and the last")]
pub(super) enum Values {
    Single(Integer),
    Range(Integer, Integer),
}

impl HasSchema for Values {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [Integer::schema(to), <(Integer, Integer)>::schema(to)]})
    }
}

impl Values {
    fn read(self) -> VariantValues {
        match self {
            Self::Single(Integer(value)) => VariantValues::Single(value),
            Self::Range(Integer(first), Integer(last)) => VariantValues::Range(first, last),
        }
    }

    fn write(values: &VariantValues) -> Self {
        match *values {
            VariantValues::Single(value) => Self::Single(Integer(value)),
            VariantValues::Range(first, last) => Self::Range(Integer(first), Integer(last)),
        }
    }
}

impl<'a> Template<'a> {
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let wrong = "template parameter has no owner or two owners; expected `unit` and `of`, or `function`";
        match (self.unit.take(), self.of.take(), self.function.take()) {
            (Some(unit), Some(of), None) => {
                let unit = reader.unit(&unit)?;
                let ty = reader.ty(unit, &of)?;
                let mut json = self.parameter();
                let parameter = json.read(reader, unit)?;
                reader.builder.template(ty, parameter).map(drop)
            }
            (None, None, Some(function)) => {
                let (function, _) = reader.function(&function)?;
                let unit = reader.unit_of(reader.builder.described().function(function).scope);
                let mut json = self.parameter();
                let parameter = json.read(reader, unit)?;
                reader.builder.describe_function(function)?.template(parameter).map(drop)
            }
            _ => Err(Error::bad_argument(wrong)),
        }
    }

    /// Returns the parameter without its owner.
    fn parameter(mut self) -> Packed<'a> {
        let facts = self.facts();
        Packed::new(self.argument).with(facts)
    }

    /// Returns the statement for a type's parameter.
    pub fn write(known: &'a Known<'a>, ty: TypeId, parameter: &TemplateParameter) -> Self {
        let mut json = Self::unowned(known, parameter);
        json.unit = Some(known.unit_ref(known.module.ty(ty).unit()));
        json.of = Some(known.type_ref(ty));
        json
    }

    /// Returns the statement for a function's parameter.
    pub fn write_of_function(known: &'a Known<'a>, id: FunctionId, parameter: &TemplateParameter) -> Self {
        Self { function: Some(known.function_ref(id)), ..Self::unowned(known, parameter) }
    }

    fn unowned(known: &'a Known<'a>, parameter: &TemplateParameter) -> Self {
        let mut json = Packed::write(known, parameter);
        let facts = json.facts();
        Self::new(json.argument).with(facts)
    }
}

impl<'a> Packed<'a> {
    /// Returns the parameter for the builder. An empty name means unnamed.
    fn read(&mut self, reader: &mut Reader<'a>, unit: UnitId) -> Result<build::Template<'_>> {
        let mut facts = self.facts();
        self.name = facts.name.take();
        let name = self.name.as_deref().unwrap_or_default();
        let mut parameter = self.argument.read(reader, unit, name)?;
        facts.describe(reader, &mut parameter, unit)?;
        Ok(parameter)
    }

    fn write(known: &'a Known<'a>, parameter: &TemplateParameter) -> Self {
        let mut facts = TemplateFacts::new(known, parameter);
        facts.name = parameter.name.map(|name| known.text(name));
        Self::new(TemplateArgument::write(known, &parameter.argument)).with(facts)
    }
}

/// A template parameter's argument.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self", rename = "an argument of a template", rename_all = "snake_case")]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) enum TemplateArgument<'a> {
    Type(Option<Ref<'a>>),
    Value(Ref<'a>, Loc<'a>),
    Template(Text<'a>),
    Pack(Vec<Packed<'a>>),
}

impl<'de: 'a, 'a> Deserialize<'de> for TemplateArgument<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(Shaped(from))
    }
}

impl Serialize for TemplateArgument<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, to)
    }
}

impl HasSchema for TemplateArgument<'_> {
    fn schema(to: &mut Schemas) -> Value {
        to.named("TemplateArgument", |to| {
            schema::choice([
                ("type", vec![Option::<Ref<'_>>::schema(to)]),
                ("value", vec![Ref::schema(to), Loc::schema(to)]),
                ("template", vec![Text::schema(to)]),
                ("pack", vec![Vec::<Packed<'_>>::schema(to)]),
            ])
        })
    }
}

impl<'a> TemplateArgument<'a> {
    fn read<'s>(
        &'s mut self,
        reader: &mut Reader<'a>,
        unit: UnitId,
        name: &'s str,
    ) -> Result<build::Template<'s>> {
        Ok(match self {
            Self::Type(ty) => build::Template::ty(name, reader.maybe_type(unit, ty.as_ref())?),
            Self::Value(ty, value) => {
                let ty = reader.ty(unit, ty)?;
                build::Template::value_at(name, ty, loc::whole(reader, unit, value)?)
            }
            Self::Template(template) => build::Template::named(name, template),
            Self::Pack(pack) => {
                let pack = pack.iter_mut().map(|packed| packed.read(reader, unit));
                build::Template::pack(name, pack.collect::<Result<Vec<_>>>()?)
            }
        })
    }

    fn write(known: &'a Known<'a>, argument: &model::TemplateArgument) -> Self {
        match argument {
            model::TemplateArgument::Type(ty) => Self::Type(ty.map(|ty| known.type_ref(ty))),
            model::TemplateArgument::Value { ty, value } => {
                Self::Value(known.type_ref(*ty), loc::written(known, *value))
            }
            model::TemplateArgument::Template(template) => Self::Template(known.text(*template)),
            model::TemplateArgument::Pack(pack) => {
                Self::Pack(pack.iter().map(|packed| Packed::write(known, packed)).collect())
            }
        }
    }
}
