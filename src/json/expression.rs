//! Raw expressions: bytes with fix-ups, or operations as text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::ids::Known;
use super::objects::objects;
use super::reader::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::Shaped;
use super::values::{Bytes, Ref, Signed, Text};
use super::words::Word;
use crate::error::{Error, Result};
use crate::model::{Entity, ExprId, UnitId};
use crate::op::{self, Dialect, Encoding, Expr, FixupKind, Slot};

objects! {
    /// A raw expression: its bytes, or its operations as text.
    Expression {} { bytes: Bytes, fixups: Vec<Fixup<'a>>, text: Text<'a>, dialect: Word<Dialect> }
    /// An expression's field that depends on an entity.
    Fixup { offset: u32, kind: Filled, entity: EntityRef<'a> } {}
}

/// [`Entity`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self", rename = "an entity", rename_all = "snake_case", bound(deserialize = "'de: 'a"))]
pub(super) enum EntityRef<'a> {
    Variable(Ref<'a>),
    Type(Ref<'a>),
    Procedure(Ref<'a>),
    Symbol(Text<'a>, Signed),
}

impl<'de: 'a, 'a> Deserialize<'de> for EntityRef<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(Shaped(from))
    }
}

impl Serialize for EntityRef<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, to)
    }
}

impl HasSchema for EntityRef<'_> {
    fn schema(to: &mut Schemas) -> Value {
        to.named("EntityRef", |to| {
            schema::choice([
                ("variable", vec![Ref::schema(to)]),
                ("type", vec![Ref::schema(to)]),
                ("procedure", vec![Ref::schema(to)]),
                ("symbol", vec![Text::schema(to), Signed::schema(to)]),
            ])
        })
    }
}

impl<'a> EntityRef<'a> {
    fn read(&self, reader: &mut Reader<'a>, unit: UnitId) -> Result<Entity> {
        Ok(match self {
            Self::Variable(id) => Entity::Variable(reader.variable(id)?),
            Self::Type(id) => Entity::Type(reader.ty(unit, id)?),
            Self::Procedure(id) => Entity::Procedure(reader.names.procedures.find((), id)?),
            Self::Symbol(symbol, offset) => Entity::Symbol(reader.builder.symbol(symbol), offset.0),
        })
    }

    fn write(known: &Known<'a>, entity: Entity) -> Self {
        match entity {
            Entity::Variable(id) => Self::Variable(known.variable_ref(id)),
            Entity::Type(id) => Self::Type(known.type_ref(id)),
            Entity::Procedure(id) => Self::Procedure(known.procedure_ref(id)),
            Entity::Symbol(symbol, offset) => Self::Symbol(known.text(symbol.0), Signed(offset)),
        }
    }
}

/// [`FixupKind`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self", rename = "what is to be filled in", rename_all = "snake_case")]
pub(super) enum Filled {
    Entry(u8),
    Type(u8),
    EntrySection,
    Address,
}

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::deserialize(Shaped(from))
    }
}

impl Serialize for Filled {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, to)
    }
}

impl HasSchema for Filled {
    fn schema(to: &mut Schemas) -> Value {
        to.named("Filled", |to| {
            schema::choice([
                ("entry", vec![u8::schema(to)]),
                ("type", vec![u8::schema(to)]),
                ("entry_section", vec![]),
                ("address", vec![]),
            ])
        })
    }
}

impl Filled {
    fn read(&self) -> FixupKind {
        match *self {
            Self::Entry(bytes) => FixupKind::Entry { bytes },
            Self::Type(bytes) => FixupKind::Type { bytes },
            Self::EntrySection => FixupKind::EntrySection,
            Self::Address => FixupKind::Address,
        }
    }

    fn write(kind: FixupKind) -> Self {
        match kind {
            FixupKind::Entry { bytes } => Self::Entry(bytes),
            FixupKind::Type { bytes } => Self::Type(bytes),
            FixupKind::EntrySection => Self::EntrySection,
            FixupKind::Address => Self::Address,
        }
    }
}

/// Converts a description's expression to the module's.
pub(super) fn read<'a>(reader: &mut Reader<'a>, unit: UnitId, json: Expression<'a>) -> Result<ExprId> {
    match json {
        Expression { bytes: Some(Bytes(bytes)), fixups, text: None, dialect: None, .. } => {
            let mut filled = Vec::new();
            let mut entities = Vec::new();
            for (slot, fixup) in (0..).map(Slot).zip(fixups.into_iter().flatten()) {
                filled.push(op::Fixup { offset: fixup.offset, kind: fixup.kind.read(), slot });
                entities.push(fixup.entity.read(reader, unit)?);
            }
            reader.builder.expr(Expr::with_fixups(bytes, filled)?, &entities)
        }
        Expression { bytes: None, fixups: None, text: Some(text), dialect, .. } => {
            let target = reader.builder.target();
            let dialect = dialect.map_or_else(Dialect::default, |Word(dialect)| dialect);
            let encoding = Encoding::new(target.address_bytes(), dialect);
            let encoding = encoding.with_big_endian(target.is_big_endian());
            let expr = op::text::parse(&text, encoding, Some(target))?;
            reader.builder.expr(expr, &[])
        }
        _ => Err(Error::bad_argument(
            "expression has an invalid combination of keys; expected `bytes` with optional `fixups`, or `text` with an \
             optional `dialect`",
        )),
    }
}

/// Converts a module's expression to the description's, with its bytes.
pub(super) fn write<'m>(known: &'m Known<'m>, id: ExprId) -> Expression<'m> {
    let (expr, entities) = known.module.expr(id);
    let fixups: Vec<_> = expr
        .fixups()
        .iter()
        .map(|fixup| {
            let entity = EntityRef::write(known, entities[fixup.slot.0 as usize]);
            Fixup::new(fixup.offset, Filled::write(fixup.kind), entity)
        })
        .collect();
    Expression {
        bytes: Some(Bytes(expr.bytes().to_vec())),
        fixups: Some(fixups).filter(|fixups| !fixups.is_empty()),
        ..Expression::new()
    }
}
