//! Lists with an element for each pc range or row. They can be long, so that they are read and written element by element.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::ids::Known;
use super::loc::{In, NumberAt, Place, Whole};
use super::objects::{Life, objects};
use super::reader::Reader;
use super::schema::{HasSchema, Schemas};
use super::values::{Named, Number, Ref, Signed};
use crate::error::Result;
use crate::model::{self, Column, FrameBase, FrameRule, Loc, LocId, Mask, UnitId};

/// Word for the canonical frame address. No register has this name.
pub(super) const CFA: &str = "cfa";

/// A list element: a list of items.
pub(super) trait Element<'a>: Sized {
    /// What the list is, for errors.
    const LIST: &'static str = "a list";
    /// What an element is, for errors.
    const WHOLE: &'static str;

    /// Reads the items.
    fn read<S: SeqAccess<'a>>(reader: &mut Reader<'a>, unit: UnitId, json: &mut S) -> Result<Self, S::Error>;

    /// Returns the element's schema.
    fn schema(to: &mut Schemas) -> Value;
}

/// An element that is written from a model element.
pub(super) trait ToElements<'a>: Element<'a> {
    /// The model's element.
    type Model: fmt::Debug;

    /// Writes the items.
    fn write<S: SerializeSeq>(known: &'a Known<'a>, item: &Self::Model, to: &mut S) -> Result<(), S::Error>;
}

/// Reads an item. `read` is the number of items before it, and `whole` describes the element for errors.
#[inline]
fn item<'a, S: SeqAccess<'a>, T: Deserialize<'a>>(
    json: &mut S,
    read: usize,
    whole: &'static str,
) -> Result<T, S::Error> {
    json.next_element()?.ok_or_else(|| de::Error::invalid_length(read, &whole))
}

/// Reads a location.
#[inline]
fn location<'a, S: SeqAccess<'a>>(
    reader: &mut Reader<'a>,
    unit: UnitId,
    json: &mut S,
    read: usize,
    whole: &'static str,
) -> Result<model::Loc, S::Error> {
    json.next_element_seed(In::new(reader, unit).seed::<model::Loc>())?
        .ok_or_else(|| de::Error::invalid_length(read, &whole))
}

/// Refuses a further item after `count`.
#[inline]
fn end<'a, S: SeqAccess<'a>>(json: &mut S, count: usize, whole: &'static str) -> Result<(), S::Error> {
    match json.next_element::<IgnoredAny>()? {
        None => Ok(()),
        Some(_) => Err(de::Error::invalid_length(count + 1, &whole)),
    }
}

/// Returns the schema for an element whose last items after `required` may be absent.
fn items(items: Vec<Value>, required: usize) -> Value {
    json!({"type": "array", "prefixItems": items, "items": false, "minItems": required})
}

/// A variable's locations in a pc range.
#[derive(Debug)]
pub(super) struct Live<'a> {
    pub start: Number,
    pub end: Number,
    pub locs: At,
    life: Life<'a>,
}

impl<'a> Element<'a> for Live<'a> {
    const LIST: &'static str = "a list of pc ranges with locations, or `always`, a location at all pcs";
    const WHOLE: &'static str = "a list of two pcs and a location";

    #[inline]
    fn read<S: SeqAccess<'a>>(reader: &mut Reader<'a>, unit: UnitId, json: &mut S) -> Result<Self, S::Error> {
        let start = item(json, 0, Self::WHOLE)?;
        let end_pc = item(json, 1, Self::WHOLE)?;
        let locs = json
            .next_element_seed(Places(&mut In::new(reader, unit)))?
            .ok_or_else(|| de::Error::invalid_length(2, &Self::WHOLE))?;
        end(json, 3, Self::WHOLE)?;
        Ok(Self { start, end: end_pc, locs, life: Life::default() })
    }

    fn schema(to: &mut Schemas) -> Value {
        let place = Place::schema(to);
        let locs = json!({"anyOf": [place, {"type": "array", "items": place, "minItems": 1}]});
        items(vec![Number::schema(to), Number::schema(to), locs], 3)
    }
}

impl<'a> ToElements<'a> for Live<'a> {
    type Model = model::Live;

    fn write<S: SerializeSeq>(known: &'a Known<'a>, live: &model::Live, to: &mut S) -> Result<(), S::Error> {
        let pcs = live.pcs();
        to.serialize_element(&Number(pcs.start))?;
        to.serialize_element(&Number(pcs.end))?;
        to.serialize_element(&Place { known, loc: live.loc })
    }
}

/// A model element with a location in a pc range.
pub(super) trait AtPcs: fmt::Debug {
    fn pcs(&self) -> Range<u64>;
    fn loc(&self) -> LocId;
}

impl AtPcs for FrameBase {
    fn pcs(&self) -> Range<u64> {
        self.pcs()
    }

    fn loc(&self) -> LocId {
        self.loc
    }
}

impl AtPcs for Mask {
    fn pcs(&self) -> Range<u64> {
        self.pcs()
    }

    fn loc(&self) -> LocId {
        self.loc
    }
}

/// A frame base, or a lane mask's location, in a pc range.
#[derive(Debug)]
pub(super) struct LocAt<'a, M> {
    pub start: Number,
    pub end: Number,
    pub loc: model::Loc,
    life: PhantomData<&'a M>,
}

impl<'a, M> Element<'a> for LocAt<'a, M> {
    const WHOLE: &'static str = "a list of two pcs and a location";

    #[inline]
    fn read<S: SeqAccess<'a>>(reader: &mut Reader<'a>, unit: UnitId, json: &mut S) -> Result<Self, S::Error> {
        let start = item(json, 0, Self::WHOLE)?;
        let end_pc = item(json, 1, Self::WHOLE)?;
        let loc = location(reader, unit, json, 2, Self::WHOLE)?;
        end(json, 3, Self::WHOLE)?;
        Ok(Self { start, end: end_pc, loc, life: PhantomData })
    }

    fn schema(to: &mut Schemas) -> Value {
        items(vec![Number::schema(to), Number::schema(to), Place::schema(to)], 3)
    }
}

impl<'a, M: AtPcs> ToElements<'a> for LocAt<'a, M> {
    type Model = M;

    fn write<S: SerializeSeq>(known: &'a Known<'a>, item: &M, to: &mut S) -> Result<(), S::Error> {
        let pcs = item.pcs();
        to.serialize_element(&Number(pcs.start))?;
        to.serialize_element(&Number(pcs.end))?;
        to.serialize_element(&Place { known, loc: item.loc() })
    }
}

/// A frame rule in a pc range.
#[derive(Debug)]
pub(super) struct Rule<'a> {
    pub start: Number,
    pub end: Number,
    pub column: Named<'a>,
    pub loc: model::Loc,
}

impl<'a> Element<'a> for Rule<'a> {
    const WHOLE: &'static str = "a list of two pcs, a register or \"cfa\", and a location";

    #[inline]
    fn read<S: SeqAccess<'a>>(reader: &mut Reader<'a>, unit: UnitId, json: &mut S) -> Result<Self, S::Error> {
        let start = item(json, 0, Self::WHOLE)?;
        let end_pc = item(json, 1, Self::WHOLE)?;
        let column = item(json, 2, Self::WHOLE)?;
        let loc = location(reader, unit, json, 3, Self::WHOLE)?;
        end(json, 4, Self::WHOLE)?;
        Ok(Self { start, end: end_pc, column, loc })
    }

    fn schema(to: &mut Schemas) -> Value {
        items(vec![Number::schema(to), Number::schema(to), Named::schema(to), Place::schema(to)], 4)
    }
}

impl<'a> ToElements<'a> for Rule<'a> {
    type Model = FrameRule;

    fn write<S: SerializeSeq>(known: &'a Known<'a>, rule: &FrameRule, to: &mut S) -> Result<(), S::Error> {
        let pcs = rule.pcs();
        to.serialize_element(&Number(pcs.start))?;
        to.serialize_element(&Number(pcs.end))?;
        to.serialize_element(&match rule.column {
            Column::Cfa => Named::Text(CFA.into()),
            Column::Register(reg) => known.register(reg),
        })?;
        to.serialize_element(&Place { known, loc: rule.loc })
    }
}

/// A register saved to scratch memory in a pc range. The module has a rule instead.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    pub start: Number,
    pub end: Number,
    pub register: Named<'a>,
    pub offset: Signed,
    pub mask: Option<model::Val>,
}

impl<'a> Element<'a> for Slot<'a> {
    const WHOLE: &'static str =
        "a list of two pcs, a vector register, bytes of a lane, and then perhaps a mask";

    #[inline]
    fn read<S: SeqAccess<'a>>(reader: &mut Reader<'a>, unit: UnitId, json: &mut S) -> Result<Self, S::Error> {
        let start = item(json, 0, Self::WHOLE)?;
        let end_pc = item(json, 1, Self::WHOLE)?;
        let register = item(json, 2, Self::WHOLE)?;
        let offset = item(json, 3, Self::WHOLE)?;
        let mask = json.next_element_seed(In::new(reader, unit).seed::<model::Val>())?;
        end(json, 5, Self::WHOLE)?;
        Ok(Self { start, end: end_pc, register, offset, mask })
    }

    fn schema(to: &mut Schemas) -> Value {
        let item_schemas = vec![
            Number::schema(to),
            Number::schema(to),
            Named::schema(to),
            Signed::schema(to),
            NumberAt::schema(to),
        ];
        items(item_schemas, 4)
    }
}

/// A line table row.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub pc: Number,
    pub file: Ref<'a>,
    pub line: u32,
    pub column: Option<u32>,
    pub facts: Option<RowFacts<'a>>,
}

impl<'a> Element<'a> for Row<'a> {
    const WHOLE: &'static str =
        "a list of a pc, a file, a line, and then perhaps a column, and then perhaps an object";

    #[inline]
    fn read<S: SeqAccess<'a>>(_: &mut Reader<'a>, _: UnitId, json: &mut S) -> Result<Self, S::Error> {
        let pc = item(json, 0, Self::WHOLE)?;
        let file = item(json, 1, Self::WHOLE)?;
        let line = item(json, 2, Self::WHOLE)?;
        let column = json.next_element()?;
        let facts = json.next_element()?;
        end(json, 5, Self::WHOLE)?;
        Ok(Self { pc, file, line, column, facts })
    }

    fn schema(to: &mut Schemas) -> Value {
        let item_schemas =
            vec![Number::schema(to), Ref::schema(to), u32::schema(to), u32::schema(to), RowFacts::schema(to)];
        items(item_schemas, 3)
    }
}

impl<'a> ToElements<'a> for Row<'a> {
    type Model = model::LineTableRow;

    fn write<S: SerializeSeq>(
        known: &'a Known<'a>,
        row: &model::LineTableRow,
        to: &mut S,
    ) -> Result<(), S::Error> {
        let facts = RowFacts::write(row);
        to.serialize_element(&Number(row.pc))?;
        to.serialize_element(&known.file_ref(row.file))?;
        to.serialize_element(&row.line)?;
        // A list can only omit items at its end: with an object, the column is written even if it is 0.
        if row.column != 0 || facts.is_some() {
            to.serialize_element(&row.column)?;
        }
        match facts {
            Some(facts) => to.serialize_element(&facts),
            None => Ok(()),
        }
    }
}

objects! {
    /// Row properties in addition to its line.
    RowFacts {} {
        /// Number of the block among several on the same line.
        discriminator: u32,
        /// Is not the beginning of a statement.
        not_stmt: bool,
        /// Is the location for a breakpoint at the function's entry.
        prologue_end: bool,
        /// Is the location for a breakpoint at the function's exit.
        epilogue_begin: bool,
    }
}

impl RowFacts<'_> {
    /// Returns a row with the properties.
    pub fn row(&self, row: model::LineTableRow) -> model::LineTableRow {
        model::LineTableRow {
            discriminator: self.discriminator.unwrap_or(0),
            is_stmt: self.not_stmt != Some(true),
            is_prologue_end: self.prologue_end == Some(true),
            is_epilogue_begin: self.epilogue_begin == Some(true),
            ..row
        }
    }

    /// Converts a row's properties, unless all have their defaults.
    fn write(row: &model::LineTableRow) -> Option<Self> {
        let model::LineTableRow { discriminator, is_stmt, is_prologue_end, is_epilogue_begin, .. } = *row;
        let is_default = discriminator == 0 && is_stmt && !is_prologue_end && !is_epilogue_begin;
        (!is_default).then(|| Self {
            discriminator: Some(discriminator).filter(|&number| number != 0),
            not_stmt: (!is_stmt).then_some(true),
            prologue_end: is_prologue_end.then_some(true),
            epilogue_begin: is_epilogue_begin.then_some(true),
            ..Self::new()
        })
    }
}

/// Module elements, written as a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements<'m, E: ToElements<'m>> {
    pub known: &'m Known<'m>,
    pub items: &'m [E::Model],
}

impl<'m, E: ToElements<'m>> Serialize for Elements<'m, E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.items.iter().map(|item| OneElement::<E> { known: self.known, item }))
    }
}

impl<'m, E: ToElements<'m>> HasSchema for Elements<'m, E> {
    fn schema(to: &mut Schemas) -> Value {
        json!({"type": "array", "items": E::schema(to)})
    }
}

/// A module element.
struct OneElement<'e, 'm, E: ToElements<'m>> {
    known: &'m Known<'m>,
    item: &'e E::Model,
}

impl<'m, E: ToElements<'m>> Serialize for OneElement<'_, 'm, E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut items = to.serialize_seq(None)?;
        E::write(self.known, self.item, &mut items)?;
        items.end()
    }
}

/// Frame slots: they are read only.
#[derive(Debug)]
pub(super) struct Slots;

impl Serialize for Slots {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_seq(Some(0))?.end()
    }
}

impl HasSchema for Slots {
    fn schema(to: &mut Schemas) -> Value {
        json!({"type": "array", "items": Slot::schema(to)})
    }
}

/// Reads a list, and passes each element on.
pub(super) fn each<'a, E: Element<'a>, D: Deserializer<'a>>(
    reader: &mut Reader<'a>,
    unit: UnitId,
    json: D,
    pass: impl FnMut(&mut Reader<'a>, E) -> Result<()>,
) -> Result<(), D::Error> {
    json.deserialize_seq(List { reader, unit, pass, element: PhantomData })
}

/// List reader.
struct List<'r, 'a, E, F> {
    reader: &'r mut Reader<'a>,
    unit: UnitId,
    pass: F,
    element: PhantomData<E>,
}

/// Reader for one list element.
struct Items<'l, 'r, 'a, E, F>(&'l mut List<'r, 'a, E, F>);

impl<'a, E: Element<'a>, F: FnMut(&mut Reader<'a>, E) -> Result<()>> Visitor<'a> for List<'_, 'a, E, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(E::LIST)
    }

    fn visit_seq<S: SeqAccess<'a>>(mut self, mut json: S) -> Result<(), S::Error> {
        while json.next_element_seed(Items(&mut self))?.is_some() {}
        Ok(())
    }
}

impl<'a, E: Element<'a>, F: FnMut(&mut Reader<'a>, E) -> Result<()>> DeserializeSeed<'a>
    for Items<'_, '_, 'a, E, F>
{
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'a, E: Element<'a>, F: FnMut(&mut Reader<'a>, E) -> Result<()>> Visitor<'a> for Items<'_, '_, 'a, E, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(E::WHOLE)
    }

    #[inline]
    fn visit_seq<S: SeqAccess<'a>>(self, mut json: S) -> Result<(), S::Error> {
        let List { reader, unit, pass, .. } = self.0;
        let element = E::read(reader, *unit, &mut json)?;
        // Each element is passed on before the next is read, so that a long list is never in memory.
        pass(reader, element).map_err(|error| reader.fail(error))
    }
}

/// A location, or a list of locations.
struct Places<'s, 'r, 'a>(&'s mut In<'r, 'a>);

#[allow(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and it usually is the large variant"
)]
#[derive(Debug)]
pub(super) enum At {
    Single(Loc),
    Several(Vec<Loc>),
}

impl<'a> DeserializeSeed<'a> for Places<'_, '_, 'a> {
    type Value = At;

    #[inline]
    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<At, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Places<'_, '_, 'a> {
    type Value = At;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a location or a list of locations")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'a str) -> Result<At, E> {
        Loc::deserialized(self.0, de::value::BorrowedStrDeserializer::new(text)).map(At::Single)
    }

    #[inline]
    fn visit_map<A: MapAccess<'a>>(self, json: A) -> Result<At, A::Error> {
        Loc::deserialized(self.0, de::value::MapAccessDeserializer::new(json)).map(At::Single)
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut json: S) -> Result<At, S::Error> {
        let mut locs = Vec::new();
        while let Some(loc) = json.next_element_seed(self.0.seed())? {
            locs.push(loc);
        }
        Ok(At::Several(locs))
    }
}
