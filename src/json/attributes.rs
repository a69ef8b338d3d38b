//! Attributes without a field in an entity: vendors' and rare ones of the standard in the statement `attribute`, and the
//! values of those with a key.

use gimli::DwAt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::ids::Known;
use super::loc::{self, Loc, Val};
use super::objects::objects;
use super::reader::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::Shaped;
use super::values::{Bytes, Named, Number, Ref, Signed, Text};
use crate::attributes;
use crate::build::{self, VariantId};
use crate::error::{Error, ErrorKind, Named as NamedKind, Result};
use crate::model::{self, Address, AttributeOwner, ExtraAttribute, ExtraValue, UnitId};
use crate::near::nearest;

objects! {
    Attribute { name: Named<'a>, value: AttributeValue<'a> } {
        unit: Ref<'a>, scope: Ref<'a>, r#type: Ref<'a>, function: Ref<'a>, variable: Ref<'a>, call: Ref<'a>,
        import: Ref<'a>, label: Ref<'a>, variant: Ref<'a>,
        base: u32, member: u32, enumerator: u32, dimension: u32, parameter: u32, template: u32, argument: u32,
    }
}

impl<'a> Attribute<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let name = match &self.name {
            Named::Number(number) => {
                let wrong =
                    || Error::bad_argument(format!("attribute number {number:#x} has more than 16 bits"));
                u16::try_from(*number).map(DwAt).map_err(|_| wrong())?
            }
            Named::Text(name) => reader.with_key("name", vendor(name))?,
        };
        let (owner, unit) = self.owner(reader)?;
        let value = self.value.read(reader, unit)?;
        reader.builder.attribute(owner, name, value).map(drop)
    }

    /// Resolves the owner: an entity's key, and a part's index.
    fn owner(&self, reader: &Reader<'a>) -> Result<(AttributeOwner, UnitId)> {
        let wrong = || {
            Error::bad_argument(
                "attribute has no owner or several; expected `unit`, `scope`, `unit` and `type`, `function`, `variable`, \
                 `call`, `import` or `label`, and perhaps the index of a part",
            )
        };
        if let Some(variant) = &self.variant {
            let variant = reader.names.variants.find((), variant)?;
            return self.variant_member(reader, variant);
        }
        let Self { unit, scope, r#type, function, variable, call, import, label, .. } = self;
        let entity = match (unit, scope, r#type, function, variable, call, import, label) {
            (Some(unit), None, ty, None, None, None, None, None) => {
                let unit = reader.unit(unit)?;
                match ty {
                    None => AttributeOwner::Unit(unit),
                    Some(ty) => AttributeOwner::Type(reader.ty(unit, ty)?),
                }
            }
            (None, Some(id), None, None, None, None, None, None) => AttributeOwner::Scope(reader.scope(id)?),
            (None, None, None, Some(id), None, None, None, None) => {
                AttributeOwner::Function(reader.function(id)?.0)
            }
            (None, None, None, None, Some(id), None, None, None) => {
                AttributeOwner::Variable(reader.variable(id)?)
            }
            (None, None, None, None, None, Some(id), None, None) => AttributeOwner::Call(reader.call(id)?),
            (None, None, None, None, None, None, Some(id), None) => {
                AttributeOwner::Import(reader.names.imports.find((), id)?)
            }
            (None, None, None, None, None, None, None, Some(id)) => {
                AttributeOwner::Label(reader.names.labels.find((), id)?)
            }
            _ => return Err(wrong()),
        };
        let Self { base, member, enumerator, dimension, parameter, template, argument, .. } = *self;
        let parts = [base, member, enumerator, dimension, parameter, template, argument];
        let owner = match (entity, parts) {
            (owner, [None, None, None, None, None, None, None]) => owner,
            (AttributeOwner::Type(id), [Some(base), None, None, None, None, None, None]) => {
                AttributeOwner::Base(id, base)
            }
            (AttributeOwner::Type(id), [None, Some(member), None, None, None, None, None]) => {
                AttributeOwner::Member(id, member)
            }
            (AttributeOwner::Type(id), [None, None, Some(enumerator), None, None, None, None]) => {
                AttributeOwner::Enumerator(id, enumerator)
            }
            (AttributeOwner::Type(id), [None, None, None, Some(dimension), None, None, None]) => {
                AttributeOwner::Dimension(id, dimension)
            }
            (AttributeOwner::Type(id), [None, None, None, None, Some(parameter), None, None]) => {
                AttributeOwner::Parameter(id, parameter)
            }
            (AttributeOwner::Type(id), [None, None, None, None, None, Some(template), None]) => {
                AttributeOwner::TypeTemplate(id, template)
            }
            (AttributeOwner::Function(id), [None, None, None, None, None, Some(template), None]) => {
                AttributeOwner::FunctionTemplate(id, template)
            }
            (AttributeOwner::Call(id), [None, None, None, None, None, None, Some(argument)]) => {
                AttributeOwner::Argument(id, argument)
            }
            _ => return Err(wrong()),
        };
        let module = reader.builder.described();
        Ok((owner, module.scope(owner.scope(module)).unit))
    }

    /// Resolves a member of a variant.
    fn variant_member(&self, reader: &Reader<'a>, variant: VariantId) -> Result<(AttributeOwner, UnitId)> {
        let Self { unit, scope, r#type, function, variable, call, import, label, .. } = self;
        let entities = [unit, scope, r#type, function, variable, call, import, label];
        let Self { base, member, enumerator, dimension, parameter, template, argument, .. } = *self;
        let parts = [base, enumerator, dimension, parameter, template, argument];
        let is_alone = entities.iter().all(|key| key.is_none()) && parts.iter().all(Option::is_none);
        let (Some(member), true) = (member, is_alone) else {
            return Err(Error::bad_argument(
                "attribute of a variant has an invalid combination of keys; expected `variant` and `member`",
            ));
        };
        let VariantId { part, index } = variant;
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let owner = AttributeOwner::VariantMember(part, index, member);
        let module = reader.builder.described();
        Ok((owner, module.scope(owner.scope(module)).unit))
    }

    /// Returns the statement for an attribute; `None` for a property with a key of its own.
    pub fn write(known: &'a Known<'a>, attribute: &'a ExtraAttribute) -> Option<Self> {
        let name = attribute.name;
        if !attributes::is_extra(name) || has_key(attribute.owner, name) {
            return None;
        }
        let named = match attributes::name(name) {
            Some(text) => Named::Text(text.into()),
            None => Named::Number(name.0.into()),
        };
        let mut json = Self::new(named, AttributeValue::write(known, &attribute.value));
        let owner = attribute.owner;
        let is_of_variant = matches!(owner, AttributeOwner::VariantMember(..));
        if let Some(ty) = owner.ty(known.module).filter(|_| !is_of_variant) {
            json.unit = Some(known.unit_ref(known.module.ty(ty).unit()));
            json.r#type = Some(known.type_ref(ty));
        }
        match owner {
            AttributeOwner::Unit(id) => json.unit = Some(known.unit_ref(id)),
            AttributeOwner::Scope(id) => json.scope = Some(known.scope_ref(id)),
            AttributeOwner::Import(id) => json.import = Some(known.import_ref(id)),
            AttributeOwner::Label(id) => json.label = Some(known.label_ref(id)),
            AttributeOwner::Type(_) => {}
            AttributeOwner::Base(_, index) => json.base = Some(index),
            AttributeOwner::Member(_, index) => json.member = Some(index),
            AttributeOwner::VariantMember(part, variant, index) => {
                json.variant = Some(known.variant_ref(VariantId { part, index: variant as usize }));
                json.member = Some(index);
            }
            AttributeOwner::Enumerator(_, index) => json.enumerator = Some(index),
            AttributeOwner::Dimension(_, index) => json.dimension = Some(index),
            AttributeOwner::Parameter(_, index) => json.parameter = Some(index),
            AttributeOwner::TypeTemplate(_, index) => json.template = Some(index),
            AttributeOwner::Function(id) => json.function = Some(known.function_ref(id)),
            AttributeOwner::FunctionTemplate(id, index) => {
                json.function = Some(known.function_ref(id));
                json.template = Some(index);
            }
            AttributeOwner::Variable(id) => json.variable = Some(known.variable_ref(id)),
            AttributeOwner::Call(id) => json.call = Some(known.call_ref(id)),
            AttributeOwner::Argument(id, index) => {
                json.call = Some(known.call_ref(id));
                json.argument = Some(index);
            }
        }
        Some(json)
    }
}

/// Whether an attribute, which entities can have without a property, is a property of this entity.
fn has_key(owner: AttributeOwner, name: DwAt) -> bool {
    matches!((owner, name), (AttributeOwner::Type(_), gimli::DW_AT_lower_bound | gimli::DW_AT_upper_bound))
}

/// Finds a vendor attribute by its name.
fn vendor(name: &str) -> Result<DwAt> {
    attributes::extra(name).ok_or_else(|| {
        let nearest = nearest(name, attributes::extras());
        let kind = NamedKind::Described("vendor attribute");
        ErrorKind::UnknownName { kind, name: name.into(), nearest }.into()
    })
}

/// An attribute's value, [`build::AttributeValue`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self", rename = "a value of an attribute", rename_all = "snake_case")]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) enum AttributeValue<'a> {
    Flag,
    Unsigned(Number),
    Signed(Signed),
    Text(Text<'a>),
    Bytes(Bytes),
    Symbol(Text<'a>, Number),
    Address(Number),
    Location(Loc<'a>),
    Number(Val<'a>),
    Type(Ref<'a>),
    Function(Ref<'a>),
    Variable(Ref<'a>),
    Member(Ref<'a>, u32),
}

impl<'de: 'a, 'a> Deserialize<'de> for AttributeValue<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(Shaped(from))
    }
}

impl Serialize for AttributeValue<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, to)
    }
}

impl HasSchema for AttributeValue<'_> {
    fn schema(to: &mut Schemas) -> Value {
        to.named("attribute_value", |to| {
            schema::choice([
                ("flag", vec![]),
                ("unsigned", vec![Number::schema(to)]),
                ("signed", vec![Signed::schema(to)]),
                ("text", vec![Text::schema(to)]),
                ("bytes", vec![Bytes::schema(to)]),
                ("symbol", vec![Text::schema(to), Number::schema(to)]),
                ("address", vec![Number::schema(to)]),
                ("location", vec![Loc::schema(to)]),
                ("number", vec![Val::schema(to)]),
                ("type", vec![Ref::schema(to)]),
                ("function", vec![Ref::schema(to)]),
                ("variable", vec![Ref::schema(to)]),
                ("member", vec![Ref::schema(to), u32::schema(to)]),
            ])
        })
    }
}

impl<'a> AttributeValue<'a> {
    pub fn read(&self, reader: &mut Reader<'a>, unit: UnitId) -> Result<build::AttributeValue<'_>> {
        Ok(match self {
            Self::Flag => build::AttributeValue::Flag,
            Self::Unsigned(Number(number)) => build::AttributeValue::Unsigned(*number),
            Self::Signed(Signed(number)) => build::AttributeValue::Signed(*number),
            Self::Text(text) => build::AttributeValue::Text(text),
            Self::Bytes(Bytes(bytes)) => build::AttributeValue::Bytes(bytes),
            Self::Symbol(symbol, Number(offset)) => {
                build::AttributeValue::Address(Address::Symbol(reader.builder.symbol(symbol), *offset))
            }
            Self::Address(Number(address)) => build::AttributeValue::Address(Address::Constant(*address)),
            Self::Location(loc) => {
                build::AttributeValue::Location(loc::whole::<model::Loc, _>(reader, unit, loc)?)
            }
            Self::Number(number) => {
                build::AttributeValue::Number(loc::whole::<model::Val, _>(reader, unit, number)?)
            }
            Self::Type(ty) => build::AttributeValue::Type(reader.ty(unit, ty)?),
            Self::Function(function) => build::AttributeValue::Function(reader.function(function)?.0),
            Self::Variable(variable) => build::AttributeValue::Variable(reader.variable(variable)?),
            Self::Member(ty, index) => build::AttributeValue::Member(reader.ty(unit, ty)?, *index),
        })
    }

    fn write(known: &'a Known<'a>, value: &'a ExtraValue) -> Self {
        match *value {
            ExtraValue::Flag => Self::Flag,
            ExtraValue::Unsigned(number) => Self::Unsigned(Number(number)),
            ExtraValue::Signed(number) => Self::Signed(Signed(number)),
            ExtraValue::Text(text) => Self::Text(known.text(text)),
            ExtraValue::Bytes(ref bytes) => Self::Bytes(Bytes(bytes.clone())),
            ExtraValue::Address(Address::Symbol(symbol, offset)) => {
                Self::Symbol(known.text(symbol.0), Number(offset))
            }
            ExtraValue::Address(Address::Constant(address)) => Self::Address(Number(address)),
            ExtraValue::Location(loc) => Self::Location(loc::written(known, loc)),
            ExtraValue::Number(number) => Self::Number(loc::written_number(known, number)),
            ExtraValue::Type(id) => Self::Type(known.type_ref(id)),
            ExtraValue::Function(id) => Self::Function(known.function_ref(id)),
            ExtraValue::Variable(id) => Self::Variable(known.variable_ref(id)),
            ExtraValue::Member(id, index) => Self::Member(known.type_ref(id), index),
        }
    }
}

/// Returns an attribute of the standard, which is a property with a key of its own.
fn standard<'a>(
    known: &'a Known<'a>,
    owner: impl Into<AttributeOwner>,
    name: DwAt,
) -> Option<&'a ExtraValue> {
    let attributes = known.module.attributes(owner);
    attributes.iter().find(|attribute| attribute.name == name).map(|attribute| &attribute.value)
}

/// Converts an attribute of the standard to JSON.
pub(super) fn written<'a>(
    known: &'a Known<'a>,
    owner: impl Into<AttributeOwner>,
    name: DwAt,
) -> Option<AttributeValue<'a>> {
    standard(known, owner, name).map(|value| AttributeValue::write(known, value))
}

/// Converts an attribute of the standard, which is a location, to JSON.
pub(super) fn written_place<'a>(
    known: &'a Known<'a>,
    owner: impl Into<AttributeOwner>,
    name: DwAt,
) -> Option<Loc<'a>> {
    standard(known, owner, name)?.loc().map(|loc| loc::written(known, loc))
}

/// Converts an attribute of the standard, which is an unsigned number, to JSON.
pub(super) fn written_length(
    known: &Known<'_>,
    owner: impl Into<AttributeOwner>,
    name: DwAt,
) -> Option<Number> {
    match *standard(known, owner, name)? {
        ExtraValue::Unsigned(number) => Some(Number(number)),
        _ => None,
    }
}
