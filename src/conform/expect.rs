//! A vector's expected results.

use core::fmt::{self, Display};
use core::str::FromStr;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use serde_json::{Value, json};

use super::bytes::{Hex, Pattern};
use super::location::{LocationText, Stored};
use super::rows::RowText;
use super::types::{self, ValueType};
use super::unwound::{CallerText, ExpectUnwound, UnwoundText};
use super::values::{Bytes, Natural, Offset, Parsed, Signed, Textual, Unread, Wrong, objects};
use crate::eval::{Architecture, BaseType, Class, Location};
use crate::json::schema::{self, HasSchema, Schemas};

/// The result that the specification requires. Printed in the format's notation: `location reg:0, bytes 04 05`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// The object's location.
    pub(super) location: Option<Location>,
    /// Other expectation, if any.
    pub(super) answer: Option<Answer>,
    /// What the store changes.
    pub(super) written: Option<AfterStore>,
    /// Expectation for call frame information; such a vector has no other expectations.
    pub(super) unwound: Option<ExpectUnwound>,
}

/// An expectation, alone or in addition to a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Bytes(Pattern),
    /// A value's bits; without a type, they are the generic type's.
    Value(Natural, Option<BaseType>),
    Pointer(Pointer),
    Error(Word),
}

/// What a store changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AfterStore {
    /// Contents after the store.
    Bytes(Vec<(Stored, Vec<u8>)>),
    /// The store is refused.
    Error(Word),
}

/// An implicit pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pointer {
    pub entry: u64,
    pub by: i64,
}

/// A failure class, by its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub Class);

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let classes = [Class::IllFormed, Class::Evaluation, Class::Unmapped];
        let word = classes.into_iter().map(Self).find(|word| word.to_string() == text);
        word.ok_or_else(|| {
            format!("`{text}` is not a class of errors; expected `ill-formed`, `evaluation` or `unmapped`")
        })
    }
}

impl Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Class::Evaluation => f.write_str("evaluation"),
            class => class.fmt(f),
        }
    }
}

objects! {
    "expect"
    /// The `expect` object.
    pub(super) struct ExpectText {
        location: Option<Parsed<LocationText>>,
        bytes: Option<Parsed<Pattern>>,
        value: Option<Unread>,
        ty as "type": Option<ValueType>,
        pointer: Option<PointerText>,
        error: Option<Parsed<Word>>,
        _why as "why": Option<String>,
        written: Option<WrittenText>,
        rows: Option<Vec<RowText>>,
        cfa: Option<Parsed<LocationText>>,
        caller: Option<CallerText>,
        outermost: Option<bool>,
    } rules { "not": {"required": ["outermost"], "properties": {"outermost": {"const": false}}} }
}

objects! {
    "pointer"
    struct PointerText {
        entry: Parsed<Offset>,
        offset: Signed,
    }
}

/// The `written` object: store targets as text, with their contents.
#[derive(Debug, Clone)]
enum WrittenText {
    Bytes(Vec<(String, Vec<u8>)>),
    Error(Word),
}

impl HasSchema for WrittenText {
    fn schema(to: &mut Schemas) -> Value {
        let bytes = Bytes::schema(to);
        json!({
            "type": "object",
            "properties": {"error": Word::schema(), "why": {"type": "string"}},
            "propertyNames": schema::string("^(error|why|reg:|mem:)"),
            "additionalProperties": bytes,
        })
    }
}

impl Textual for Word {
    fn schema() -> Value {
        schema::one_of_words(["ill-formed", "evaluation", "unmapped"])
    }
}

impl<'de> Deserialize<'de> for WrittenText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsWritten;
        impl<'de> Visitor<'de> for AsWritten {
            type Value = WrittenText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of locations and bytes, or an error")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WrittenText, A::Error> {
                let mut error = None;
                let mut bytes = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    match &*key {
                        "error" if error.is_none() => error = Some(map.next_value::<Parsed<Word>>()?.0),
                        "why" => drop(map.next_value::<String>()?),
                        _ => {
                            bytes.push((key, map.next_value::<Bytes>()?.0));
                        }
                    }
                }
                match error {
                    None => Ok(WrittenText::Bytes(bytes)),
                    Some(error) if bytes.is_empty() => Ok(WrittenText::Error(error)),
                    Some(_) => Err(de::Error::custom("`written` has either `error` or locations, not both")),
                }
            }
        }
        from.deserialize_map(AsWritten)
    }
}

impl WrittenText {
    fn resolve(&self, architecture: &dyn Architecture) -> Result<AfterStore, Wrong> {
        let places = match self {
            Self::Error(word) => return Ok(AfterStore::Error(*word)),
            Self::Bytes(places) => places,
        };
        let mut stored: Vec<(Stored, Vec<u8>)> = Vec::with_capacity(places.len());
        for (key, bytes) in places {
            let wrong = |what: String| Wrong::new(what).under(key);
            let place = Stored::parse(key, architecture).map_err(wrong)?;
            place.check(bytes.len(), architecture).map_err(wrong)?;
            // A register can occur by name and by number.
            if stored.iter().any(|(known, _)| *known == place) {
                return Err(wrong(format!("{place} occurs twice")));
            }
            stored.push((place, bytes.clone()));
        }
        Ok(AfterStore::Bytes(stored))
    }
}

impl ExpectText {
    /// Resolves the expectation for a vector with call frame information.
    pub fn resolve_unwound(&self, architecture: &dyn Architecture) -> Result<Expect, Wrong> {
        let others = [
            ("location", self.location.is_some()),
            ("bytes", self.bytes.is_some()),
            ("value", self.value.is_some()),
            ("type", self.ty.is_some()),
            ("pointer", self.pointer.is_some()),
            ("written", self.written.is_some()),
        ];
        refuse(&others, "a vector with `cfi` cannot expect this")?;
        let text = UnwoundText {
            rows: self.rows.clone(),
            cfa: self.cfa.clone(),
            caller: self.caller.clone(),
            outermost: self.outermost,
            error: self.error.as_ref().map(|Parsed(word)| *word),
        };
        let unwound = Some(text.resolve(architecture)?);
        Ok(Expect { location: None, answer: None, written: None, unwound })
    }

    /// Checks the key combination, and resolves names. `is_stored`: the vector has bytes to write.
    pub fn resolve(&self, architecture: &dyn Architecture, is_stored: bool) -> Result<Expect, Wrong> {
        let others = [
            ("rows", self.rows.is_some()),
            ("cfa", self.cfa.is_some()),
            ("caller", self.caller.is_some()),
            ("outermost", self.outermost.is_some()),
        ];
        refuse(&others, "only a vector with `cfi` expects this")?;
        let bytes = self.bytes.as_ref().map(|bytes| Answer::Bytes(bytes.0.clone()));
        let value = self.value.as_ref().map(Unread::natural).transpose();
        let value = value.map_err(|wrong| wrong.under("value"))?;
        let value = value.map(|value| Answer::Value(value, self.ty.map(|ValueType(ty)| ty)));
        let pointer = self.pointer.as_ref();
        let pointer = pointer.map(|it| Answer::Pointer(Pointer { entry: it.entry.0.0, by: it.offset.0 }));
        let error = self.error.as_ref().map(|Parsed(word)| Answer::Error(*word));
        let mut answers = [bytes, value, pointer, error].into_iter().flatten();
        let answer = answers.next();
        // Several results exclude each other, because an evaluation has one.
        let more = answers.next();
        if more.is_some() {
            return Err(Wrong::new(
                "expectation has several results; expected at most one of `bytes`, `value`, `pointer` and `error`",
            ));
        }
        if self.ty.is_some() && self.value.is_none() {
            return Err(Wrong::new("`type` is given without a `value`").under("type"));
        }
        // A location was computed unless evaluation failed: only reading unmapped memory fails after it.
        let is_beside = match &answer {
            Some(Answer::Value(..)) => false,
            Some(Answer::Error(Word(class))) => *class == Class::Unmapped,
            _ => true,
        };
        if self.location.is_some() && !is_beside {
            return Err(Wrong::new(
                "a `location` is allowed without `value`, and with `error` only for `unmapped`",
            )
            .under("location"));
        }
        if self.location.is_none() && answer.is_none() && self.written.is_none() {
            return Err(Wrong::new("vector has no expectation"));
        }
        match (&self.written, is_stored) {
            (Some(_), false) => {
                return Err(Wrong::new("`written` is given, but the vector has no `write`").under("written"));
            }
            // An evaluation that fails stores nothing.
            (None, true) if !matches!(answer, Some(Answer::Error(_))) => {
                return Err(Wrong::new("missing field `written`, which a vector with `write` needs"));
            }
            _ => {}
        }
        let location = self.location.as_ref().map(|location| location.0.resolve(architecture)).transpose();
        let location = location.map_err(|what| Wrong::new(what).under("location"))?;
        let written = self.written.as_ref().map(|written| written.resolve(architecture)).transpose();
        let written = written.map_err(|wrong| wrong.under("written"))?;
        Ok(Expect { location, answer, written, unwound: None })
    }
}

/// Returns an error for the first present key.
fn refuse(keys: &[(&str, bool)], what: &str) -> Result<(), Wrong> {
    let present = keys.iter().find(|(_, is_there)| *is_there);
    present.map_or(Ok(()), |(key, _)| Err(Wrong::new(what).under(key)))
}

impl Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(unwound) = &self.unwound {
            return unwound.fmt(f);
        }
        let location = self.location.as_ref().map(|location| format!("location {location}"));
        let answer = self.answer.as_ref().map(Answer::to_string);
        let written = self.written.as_ref().map(|written| format!("written {written}"));
        let parts: Vec<String> = [location, answer, written].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

impl Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(pattern) => write!(f, "bytes {pattern}"),
            Self::Value(value, None) => write!(f, "value {value}"),
            Self::Value(value, Some(ty)) => write!(f, "value {value}, type {}", types::print(*ty)),
            Self::Pointer(pointer) => write!(f, "pointer {pointer}"),
            Self::Error(word) => write!(f, "error {word}"),
        }
    }
}

impl Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}:{}", self.entry, self.by)
    }
}

impl Display for AfterStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(word) => write!(f, "error {word}"),
            Self::Bytes(places) if places.is_empty() => f.write_str("nothing"),
            Self::Bytes(places) => {
                let places: Vec<_> =
                    places.iter().map(|(place, bytes)| format!("{place} = {}", Hex(bytes))).collect();
                f.write_str(&places.join(", "))
            }
        }
    }
}
