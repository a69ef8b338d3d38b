//! Live ranges, masks and line rows: possibly long lists, read and written element by element.

use core::fmt;
use core::ops::Range;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::ids::Known;
use super::later::Later;
use super::loc::{In, Place, Whole};
use super::read::Reader;
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::statement::{self, Ref};
use super::values::{Number, Text};
use crate::build::Blame;
use crate::error::Result;
use crate::model::{FileId, FunctionId, Loc, Mask, Row, UnitId, VariableId};

/// Reads one element of a list and calls the builder.
pub(super) trait Element<'a> {
    fn read<S: SeqAccess<'a>>(&mut self, reader: &mut Reader<'a>, json: &mut S) -> Result<(), S::Error>;
}

/// A list, or an element that is a list too.
pub(super) struct List<'s, 'a, T>(pub &'s mut Reader<'a>, pub &'s mut T);
struct ElementSeed<'s, 'a, T>(&'s mut Reader<'a>, &'s mut T);

impl<'a, T: Element<'a>> Visitor<'a> for List<'_, 'a, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut json: S) -> Result<(), S::Error> {
        while json.next_element_seed(ElementSeed(self.0, self.1))?.is_some() {}
        Ok(())
    }
}

impl<'a, T: Element<'a>> DeserializeSeed<'a> for ElementSeed<'_, 'a, T> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'a, T: Element<'a>> Visitor<'a> for ElementSeed<'_, 'a, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    #[inline]
    fn visit_seq<S: SeqAccess<'a>>(self, mut json: S) -> Result<(), S::Error> {
        self.1.read(self.0, &mut json)
    }
}

/// The next item of an element.
#[inline]
pub(super) fn next<'a, T: Deserialize<'a>, S: SeqAccess<'a>>(
    json: &mut S,
    read: usize,
    whole: &str,
) -> Result<T, S::Error> {
    json.next_element()?.ok_or_else(|| de::Error::invalid_length(read, &whole))
}

/// Refuses items after the last one of an element.
#[inline]
pub(super) fn end<'a, S: SeqAccess<'a>>(json: &mut S, read: usize, whole: &str) -> Result<(), S::Error> {
    match json.next_element::<de::IgnoredAny>()? {
        None => Ok(()),
        Some(_) => Err(de::Error::invalid_length(read + 1, &whole)),
    }
}

/// Reads the live ranges of a variable.
pub(super) fn live<'a, D: Deserializer<'a>>(
    reader: &mut Reader<'a>,
    variable: VariableId,
    unit: UnitId,
    json: D,
) -> Result<(), D::Error> {
    json.deserialize_seq(List(reader, &mut LiveOf { variable, unit }))
}

struct LiveOf {
    variable: VariableId,
    unit: UnitId,
}

const LIVE: &str = "a list of two pcs and a location";

impl<'a> Element<'a> for LiveOf {
    #[inline]
    fn read<S: SeqAccess<'a>>(&mut self, reader: &mut Reader<'a>, json: &mut S) -> Result<(), S::Error> {
        let (Number(start), Number(end_pc)) = (next(json, 0, LIVE)?, next(json, 1, LIVE)?);
        let mut within = In::new(reader, self.unit);
        let Some(places) = json.next_element_seed(Places(&mut within))? else {
            return Err(de::Error::invalid_length(2, &LIVE));
        };
        end(json, 3, LIVE)?;
        let described =
            reader.builder.describe_variable(self.variable).and_then(|mut variable| match places {
                At::One(loc) => variable.live(start..end_pc, loc).map(drop),
                At::Several(locs) => variable.live_in(start..end_pc, &locs).map(drop),
            });
        let of = self.variable;
        let sought = |blame: &Blame| *blame == Blame::Live(of, start..end_pc);
        described.and_then(|()| reader.seek(sought)).map_err(|error| reader.fail(error))
    }
}

/// Reads the locations of a mask of lanes by pc.
pub(super) fn masks<'a, D: Deserializer<'a>>(
    reader: &mut Reader<'a>,
    unit: UnitId,
    json: D,
) -> Result<Vec<(Range<u64>, Loc)>, D::Error> {
    let mut masks = MasksOf { unit, masks: Vec::new() };
    json.deserialize_seq(List(reader, &mut masks))?;
    Ok(masks.masks)
}

struct MasksOf {
    unit: UnitId,
    masks: Vec<(Range<u64>, Loc)>,
}

impl<'a> Element<'a> for MasksOf {
    fn read<S: SeqAccess<'a>>(&mut self, reader: &mut Reader<'a>, json: &mut S) -> Result<(), S::Error> {
        let (Number(start), Number(end_pc)) = (next(json, 0, LIVE)?, next(json, 1, LIVE)?);
        let mut within = In::new(reader, self.unit);
        let Some(loc) = json.next_element_seed(within.seed())? else {
            return Err(de::Error::invalid_length(2, &LIVE));
        };
        end(json, 3, LIVE)?;
        self.masks.push((start..end_pc, loc));
        Ok(())
    }
}

/// A location, or a list of locations.
struct Places<'s, 'r, 'a>(&'s mut In<'r, 'a>);

#[allow(clippy::large_enum_variant, reason = "it is taken apart at once, and mostly it is the large one")]
enum At {
    One(Loc),
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
        Loc::deserialized(self.0, de::value::BorrowedStrDeserializer::new(text)).map(At::One)
    }

    #[inline]
    fn visit_map<A: MapAccess<'a>>(self, json: A) -> Result<At, A::Error> {
        Loc::deserialized(self.0, de::value::MapAccessDeserializer::new(json)).map(At::One)
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut json: S) -> Result<At, S::Error> {
        let mut locs = Vec::new();
        while let Some(loc) = json.next_element_seed(self.0.seed())? {
            locs.push(loc);
        }
        Ok(At::Several(locs))
    }
}

impl<'a> statement::Rows<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let (function, unit) = reader.function(&self.function)?;
        let Later::Text(rows) = self.rows else { return Ok(()) };
        reader.part(rows, |reader, json| read_rows(reader, function, unit, json))
    }
}

/// Reads the rows of a function's line table.
fn read_rows<'a, D: Deserializer<'a>>(
    reader: &mut Reader<'a>,
    function: FunctionId,
    unit: UnitId,
    json: D,
) -> Result<(), D::Error> {
    json.deserialize_seq(List(reader, &mut RowOf { function, unit, last: None }))
}

struct RowOf<'a> {
    function: FunctionId,
    unit: UnitId,
    /// File of the previous row, which is usually the next row's too.
    last: Option<(Ref<'a>, FileId)>,
}

const ROW: &str = "a list of a pc, a file, a line, and then perhaps a column, and then perhaps an object";

impl<'a> Element<'a> for RowOf<'a> {
    #[inline]
    fn read<S: SeqAccess<'a>>(&mut self, reader: &mut Reader<'a>, json: &mut S) -> Result<(), S::Error> {
        let Number(pc) = next(json, 0, ROW)?;
        let name: Text<'a> = next(json, 1, ROW)?;
        let line = next(json, 2, ROW)?;
        let column: Option<u32> = json.next_element()?;
        let facts: Option<RowFacts> = if column.is_some() { json.next_element()? } else { None };
        if facts.is_some() {
            end(json, 5, ROW)?;
        }
        let file = match &self.last {
            Some((last, file)) if *last == name => *file,
            _ => {
                let file = reader.file(self.unit, &name).map_err(|error| reader.fail(error))?;
                self.last = Some((name, file));
                file
            }
        };
        let mut row = Row::new(pc, file, line).column(column.unwrap_or(0));
        if let Some(facts) = facts {
            row.discriminator = facts.discriminator;
            row.is_stmt = !facts.not_stmt;
            row.is_prologue_end = facts.prologue_end;
            row.is_epilogue_begin = facts.epilogue_begin;
        }
        reader.builder.row(self.function, row).map_err(|error| reader.fail(error))
    }
}

/// Live ranges of a variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Live<'m> {
    pub known: &'m Known<'m>,
    pub live: &'m [crate::model::Live],
}

/// Locations of a mask of lanes by pc.
#[derive(Debug, Clone, Copy)]
pub(super) struct Masks<'m> {
    pub known: &'m Known<'m>,
    pub masks: &'m [Mask],
}

/// Rows of a function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'m> {
    pub known: &'m Known<'m>,
    pub rows: &'m [Row],
}

macro_rules! ranges { ($($name:ident: $field:ident;)*) => { $(
    impl Serialize for $name<'_> {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            to.collect_seq(self.$field.iter().map(|range| {
                let pcs = range.pcs();
                (Number(pcs.start), Number(pcs.end), Place { known: self.known, loc: range.loc })
            }))
        }
    }
)* } }
ranges! { Live: live; Masks: masks; }

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut seq = to.serialize_seq(Some(self.rows.len()))?;
        for row in self.rows {
            let facts = RowFacts {
                discriminator: row.discriminator,
                not_stmt: !row.is_stmt,
                prologue_end: row.is_prologue_end,
                epilogue_begin: row.is_epilogue_begin,
            };
            let line = (Number(row.pc), self.known.file_ref(row.file), row.line);
            match (row.column, facts == RowFacts::default()) {
                (0, true) => seq.serialize_element(&line)?,
                (column, true) => seq.serialize_element(&(line.0, line.1, line.2, column))?,
                (column, false) => seq.serialize_element(&(line.0, line.1, line.2, column, facts))?,
            }
        }
        seq.end()
    }
}

/// Properties of a row besides its line.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", expecting = "an object", deny_unknown_fields, default)]
pub(super) struct RowFacts {
    #[serde(skip_serializing_if = "is_zero")]
    pub discriminator: u32,
    /// Not the beginning of a statement.
    #[serde(skip_serializing_if = "is_false")]
    pub not_stmt: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub prologue_end: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub epilogue_begin: bool,
}
shaped! { RowFacts }

impl HasSchema for RowFacts {
    fn schema(to: &mut Schemas) -> Value {
        let flags = ["not_stmt", "prologue_end", "epilogue_begin"];
        let flags = flags.map(|key| (key, bool::schema(to), true));
        schema::object(flags.into_iter().chain([("discriminator", u32::schema(to), true)]))
    }
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}
