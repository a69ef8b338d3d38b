//! Lists with one element for a range of pcs or a row: possibly long ones, read and written element by element.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::ids::Known;
use super::kinds::kind;
use super::loc::{In, NumberAt, Place, Whole};
use super::read::Reader;
use super::rows::values;
use super::schema::{self, HasSchema, Schemas};
use super::shape::shaped;
use super::statement::{Life, Ref, objects};
use super::values::{Named, Number, Signed};
use crate::error::Result;
use crate::model::{self, Column, FrameRule, Loc, Mask, UnitId, Val};

/// Word for the canonical frame address. No register has this name.
pub(super) const CFA: &str = "cfa";

/// An element of a list: a list of items.
pub(super) trait Element<'a>: Sized {
    /// Reads the items.
    fn read<S: SeqAccess<'a>>(reader: &mut Reader<'a>, unit: UnitId, json: &mut S) -> Result<Self, S::Error>;

    /// Makes the schema of an element.
    fn schema(to: &mut Schemas) -> Value;
}

/// An element that is written from one of the model.
pub(super) trait ToElements<'a>: Element<'a> {
    /// The element of the model.
    type Model: fmt::Debug;

    /// Writes the items.
    fn write<S: SerializeSeq>(known: &'a Known<'a>, of: &Self::Model, to: &mut S) -> Result<(), S::Error>;
}

/// Conversions of an item by its form: `read` from JSON, and `schema`.
macro_rules! item {
    (type [loc]) => { Loc };
    (read [loc] $reader:ident $unit:ident $json:ident) => {
        $json.next_element_seed(In::new($reader, $unit).seed::<Loc>())?
    };
    (schema [loc] $to:ident) => { Place::schema($to) };

    (type [locs]) => { At };
    (read [locs] $reader:ident $unit:ident $json:ident) => {
        $json.next_element_seed(Places(&mut In::new($reader, $unit)))?
    };
    (schema [locs] $to:ident) => {{
        let place = Place::schema($to);
        json!({"anyOf": [place, {"type": "array", "items": place, "minItems": 1}]})
    }};

    (type [val]) => { Val };
    (read [val] $reader:ident $unit:ident $json:ident) => {
        $json.next_element_seed(In::new($reader, $unit).seed::<Val>())?
    };
    (schema [val] $to:ident) => { NumberAt::schema($to) };

    (type [$type:ty]) => { $type };
    (read [$type:ty] $reader:ident $unit:ident $json:ident) => { $json.next_element::<$type>()? };
    (schema [$type:ty] $to:ident) => { <$type>::schema($to) };
}

/// Elements of lists. A row has the items with their forms, and in the same order their values in the model. Items
/// after the semicolon are optional: the last ones without anything to state are not written.
macro_rules! elements { ($(
    $(#[$doc:meta])*
    $name:ident $whole:literal { $($item:ident: $form:tt),* $(; $($may:ident: $may_form:tt),*)? }
    $(=> |$known:ident, $of:ident: $model:ty| { $($value:expr),* $(; $($may_value:expr, if $states:expr),*)? })?
)*) => { $(
    $(#[$doc])*
    #[derive(Debug)]
    pub(super) struct $name<'a> {
        $(pub $item: item!(type $form),)*
        $($(pub $may: Option<item!(type $may_form)>,)*)?
        life: Life<'a>,
    }

    impl<'a> Element<'a> for $name<'a> {
        #[inline]
        #[allow(unused, reason = "not every element has locations")]
        fn read<S: SeqAccess<'a>>(
            reader: &mut Reader<'a>,
            unit: UnitId,
            json: &mut S,
        ) -> Result<Self, S::Error> {
            let (mut items, wrong) = (0, |items| de::Error::invalid_length(items, &$whole));
            $(
                let $item = item!(read $form reader unit json).ok_or_else(|| wrong(items))?;
                items += 1;
            )*
            $($(
                let $may = item!(read $may_form reader unit json);
                items += 1;
            )*)?
            match json.next_element::<IgnoredAny>()? {
                None => Ok(Self { $($item,)* $($($may,)*)? life: Life::default() }),
                Some(_) => Err(wrong(items + 1)),
            }
        }

        fn schema(to: &mut Schemas) -> Value {
            let least = [$(stringify!($item)),*].len();
            let items = [$(item!(schema $form to),)* $($(item!(schema $may_form to),)*)?];
            json!({"type": "array", "prefixItems": items, "items": false, "minItems": least})
        }
    }

    $(impl<'a> ToElements<'a> for $name<'a> {
        type Model = $model;

        #[allow(unused, reason = "not every element has names or optional items")]
        fn write<S: SerializeSeq>($known: &'a Known<'a>, $of: &$model, to: &mut S) -> Result<(), S::Error> {
            $(to.serialize_element(&$value)?;)*
            $(
                let states = [$($states),*];
                let mut left = states.iter().rposition(|&states| states).map_or(0, |last| last + 1);
                $(if left > 0 {
                    to.serialize_element(&$may_value)?;
                    left -= 1;
                })*
            )?
            Ok(())
        }
    })?
)* } }

elements! {
    /// Locations of a variable at a range of pcs.
    Live "a list of two pcs and a location" { start: [Number], end: [Number], locs: [locs] }
        => |known, live: model::Live| {
            Number(live.pcs().start), Number(live.pcs().end), Place { known, loc: live.loc }
        }
    /// Location of a mask of lanes at a range of pcs.
    MaskAt "a list of two pcs and a location" { start: [Number], end: [Number], loc: [loc] }
        => |known, mask: Mask| { Number(mask.pcs().start), Number(mask.pcs().end), Place { known, loc: mask.loc } }
    /// Rule of a frame at a range of pcs.
    Rule "a list of two pcs, a register or \"cfa\", and a location" {
        start: [Number], end: [Number], column: [Named<'a>], loc: [loc]
    } => |known, rule: FrameRule| {
        Number(rule.pcs().start),
        Number(rule.pcs().end),
        match rule.column {
            Column::Cfa => Named::Text(CFA.into()),
            Column::Register(reg) => known.register(reg),
        },
        Place { known, loc: rule.loc }
    }
    /// A register saved to scratch memory at a range of pcs. The module has a rule instead.
    Slot "a list of two pcs, a vector register, bytes of a lane, and then perhaps a mask" {
        start: [Number], end: [Number], register: [Named<'a>], offset: [Signed]; mask: [val]
    }
    /// A row of a line table.
    Row "a list of a pc, a file, a line, and then perhaps a column, and then perhaps an object" {
        pc: [Number], file: [Ref<'a>], line: [u32]; column: [u32], facts: [RowFacts<'a>]
    } => |known, row: model::Row| {
        Number(row.pc), known.file_ref(row.file), row.line;
        row.column, if row.column != 0,
        RowFacts::of(row), if !RowFacts::of(row).is_empty()
    }
}

values! {
    /// Properties of a row besides its line.
    RowFacts of model::Row {} {
        /// Number of the block among several on the same line.
        discriminator: [zero u32] => discriminator,
        /// Is not the beginning of a statement.
        not_stmt: [negated] => is_stmt,
        /// Is the place for a breakpoint at the function's entry.
        prologue_end: [flag] => is_prologue_end,
        /// Is the place for a breakpoint at the function's exit.
        epilogue_begin: [flag] => is_epilogue_begin,
    } ..row
}

/// Elements of the module, written as a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements<'m, E: ToElements<'m>> {
    pub known: &'m Known<'m>,
    pub of: &'m [E::Model],
}

impl<'m, E: ToElements<'m>> Serialize for Elements<'m, E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.of.iter().map(|of| OneElement::<E> { known: self.known, of }))
    }
}

impl<'m, E: ToElements<'m>> HasSchema for Elements<'m, E> {
    fn schema(to: &mut Schemas) -> Value {
        json!({"type": "array", "items": E::schema(to)})
    }
}

/// An element of the module.
struct OneElement<'e, 'm, E: ToElements<'m>> {
    known: &'m Known<'m>,
    of: &'e E::Model,
}

impl<'m, E: ToElements<'m>> Serialize for OneElement<'_, 'm, E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut items = to.serialize_seq(None)?;
        E::write(self.known, self.of, &mut items)?;
        items.end()
    }
}

/// Slots of a frame: they are read only.
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
    json.deserialize_seq(List { reader, unit, pass, of: PhantomData })
}

/// Reader of a list.
struct List<'r, 'a, E, F> {
    reader: &'r mut Reader<'a>,
    unit: UnitId,
    pass: F,
    of: PhantomData<E>,
}

/// Reader of one element of a list.
struct Items<'l, 'r, 'a, E, F>(&'l mut List<'r, 'a, E, F>);

impl<'a, E: Element<'a>, F: FnMut(&mut Reader<'a>, E) -> Result<()>> Visitor<'a> for List<'_, 'a, E, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
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
        f.write_str("a list")
    }

    #[inline]
    fn visit_seq<S: SeqAccess<'a>>(self, mut json: S) -> Result<(), S::Error> {
        let List { reader, unit, pass, .. } = self.0;
        let element = E::read(reader, *unit, &mut json)?;
        pass(reader, element).map_err(|error| reader.fail(error))
    }
}

/// A location, or a list of locations.
struct Places<'s, 'r, 'a>(&'s mut In<'r, 'a>);

#[allow(clippy::large_enum_variant, reason = "it is taken apart at once, and mostly it is the large one")]
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
