//! The format's location lists: as entries, or as a section's bytes.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use serde_json::{Value, json};

use super::values::{Bytes, Offset, Parsed, Wrong, objects};
use crate::eval::{Class, EncodedList, Fault, LocationListEntry};
use crate::json::schema::{self, HasSchema, Schemas};
use crate::op::Encoding;
use crate::read::ListFormat;

/// A `.debug_loclists` table with its header (DWARF 5 section 7.29), and the position of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionList {
    /// The table's bytes, starting with the header's length field.
    pub bytes: Vec<u8>,
    /// Offset of the list's first entry from the table's start, in bytes. `None`: directly after the header and its
    /// offsets.
    pub offset: Option<u64>,
}

/// A vector's `loclist` key.
#[derive(Debug, Clone)]
pub(super) enum LoclistText {
    Entries(Vec<ListText>),
    Section(SectionText),
}

objects! {
    "section"
    pub(super) struct SectionText {
        bytes: Bytes,
        offset: Option<Parsed<Offset>>,
    }
}

impl<'de> Deserialize<'de> for LoclistText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AsLoclist;
        impl<'de> Visitor<'de> for AsLoclist {
            type Value = LoclistText;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a list of entries, or an object with the bytes of their section")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<LoclistText, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(LoclistText::Entries)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LoclistText, A::Error> {
                SectionText::deserialize(MapAccessDeserializer::new(map)).map(LoclistText::Section)
            }
        }
        from.deserialize_any(AsLoclist)
    }
}

impl HasSchema for LoclistText {
    fn schema(to: &mut Schemas) -> Value {
        json!({"anyOf": [Vec::<ListText>::schema(to), SectionText::schema(to)]})
    }
}

impl SectionText {
    pub fn resolve(&self) -> SectionList {
        let Bytes(bytes) = &self.bytes;
        SectionList { bytes: bytes.clone(), offset: self.offset.as_ref().map(|offset| offset.0.0) }
    }
}

impl SectionList {
    /// Returns the list's entries, for a unit with this encoding. `base` is its base address, `addresses` is its
    /// `.debug_addr`.
    ///
    /// # Errors
    /// Ill-formed if the header or an entry is truncated, or the header disagrees with the unit (A.2.5.1).
    pub fn entries(
        &self,
        encoding: Encoding,
        base: Option<u64>,
        addresses: &[u64],
    ) -> Result<Vec<LocationListEntry<'_>>, Fault> {
        let first = self.first(encoding)?;
        let cut_off = || ill_formed("list begins outside its table (DWARF 5, 7.29)");
        let bytes =
            usize::try_from(first).ok().and_then(|first| self.bytes.get(first..)).ok_or_else(cut_off)?;
        let list = EncodedList { format: ListFormat::Loclists, bytes, base: base.unwrap_or(0) };
        list.entries(encoding, |index| addresses.get(usize::try_from(index).ok()?).copied()).collect()
    }

    /// Returns the first entry's offset.
    fn first(&self, encoding: Encoding) -> Result<u64, Fault> {
        let offset_bytes = usize::from(encoding.offset_bytes);
        // The 64-bit format's length follows an escape of four bytes.
        let (length, header) = if offset_bytes == 8 { (12, 20) } else { (4, 12) };
        let Some(bytes) = self.bytes.get(..header) else {
            return Err(ill_formed("list header is truncated (DWARF 5, 7.29)"));
        };
        let number = |bytes: &[u8]| {
            let push = |number, byte: &u8| number << 8 | u64::from(*byte);
            if encoding.big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
        };
        let rest = self.bytes.len() - length;
        let is_whole = number(&bytes[length - offset_bytes..length]) == rest as u64;
        if !is_whole || (offset_bytes == 8) != bytes.starts_with(&[0xff; 4]) {
            return Err(ill_formed("unit length differs from the table's length (DWARF 5, 7.29)"));
        }
        if number(&bytes[length..length + 2]) != 5 {
            return Err(ill_formed("list version is not 5 (DWARF 5, 7.29)"));
        }
        let [address_bytes, segment_bytes] = [bytes[length + 2], bytes[length + 3]];
        if address_bytes != encoding.address_bytes {
            let unit = encoding.address_bytes;
            return Err(ill_formed(format!(
                "`address_size` is {address_bytes} in the lists, but {unit} in the unit (A.2.5.1)"
            )));
        }
        if segment_bytes != 0 {
            return Err(ill_formed(format!(
                "`segment_selector_size` is {segment_bytes}; expected 0 (DWARF 5, 7.29)"
            )));
        }
        // Without an offset the list follows the table of offsets.
        let offsets = number(&bytes[length + 4..header]) * offset_bytes as u64;
        Ok(self.offset.unwrap_or(header as u64 + offsets))
    }
}

fn ill_formed(rule: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Class::IllFormed, rule)
}

/// A list entry.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case", expecting = "an object with a `kind`")]
pub(super) enum ListText {
    BaseAddress { start: Parsed<Offset> },
    OffsetPair { start: Parsed<Offset>, end: Parsed<Offset>, expr: Bytes },
    StartEnd { start: Parsed<Offset>, end: Parsed<Offset>, expr: Bytes },
    StartLength { start: Parsed<Offset>, length: Parsed<Offset>, expr: Bytes },
    Default { expr: Bytes },
}

impl HasSchema for ListText {
    fn schema(to: &mut Schemas) -> Value {
        let kinds: [(&str, &[&'static str]); 5] = [
            ("base_address", &["start"]),
            ("offset_pair", &["start", "end", "expr"]),
            ("start_end", &["start", "end", "expr"]),
            ("start_length", &["start", "length", "expr"]),
            ("default", &["expr"]),
        ];
        let any = kinds.map(|(kind, keys)| {
            let schemas = keys.iter().map(|&key| match key {
                "expr" => (key, Bytes::schema(to), false),
                _ => (key, Parsed::<Offset>::schema(to), false),
            });
            schema::object([("kind", json!({"const": kind}), false)].into_iter().chain(schemas))
        });
        json!({"anyOf": any})
    }
}

/// Returns the entries with an expression, after applying base addresses. `base` is the unit's base address.
pub(super) fn entries(
    list: &[ListText],
    mut base: Option<u64>,
    address_bytes: u8,
) -> Result<Vec<LocationListEntry<'static>>, Wrong> {
    let largest = u64::MAX >> (64 - 8 * u32::from(address_bytes.clamp(1, 8)));
    let mut entries = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        let (bounds, Bytes(expr)) = match entry {
            ListText::BaseAddress { start } => {
                base = Some(start.0.0);
                continue;
            }
            ListText::OffsetPair { start, end, expr } => {
                let base =
                    base.ok_or_else(|| Wrong::new("an `offset_pair` needs a base address").at(index))?;
                let at = |offset: &Parsed<Offset>| base.wrapping_add(offset.0.0) & largest;
                (Some((at(start), at(end))), expr)
            }
            ListText::StartEnd { start, end, expr } => (Some((start.0.0, end.0.0)), expr),
            ListText::StartLength { start, length, expr } => {
                (Some((start.0.0, start.0.0.saturating_add(length.0.0))), expr)
            }
            ListText::Default { expr } => (None, expr),
        };
        entries.push(LocationListEntry { bounds, expr: Cow::Owned(expr.clone()) });
    }
    Ok(entries)
}
