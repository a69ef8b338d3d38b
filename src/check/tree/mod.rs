//! Entries as plain data: what a module describes and what an object has in one form, and what differs.
//!
//! The form keeps what an entry means. Attributes that are one fact together are one attribute: `DW_AT_low_pc`,
//! `DW_AT_high_pc` and `DW_AT_ranges` are `DW_AT_ranges`; the attributes for the offset of a member are
//! `DW_AT_data_bit_offset`; strides are `DW_AT_bit_stride`; values of a variant are `DW_AT_discr_value`. An entry has
//! the attributes of the entry that it completes (DWARF 5 sections 2.13.2 and 3.3.8.2).
//!
//! A described entry lists every attribute that its entry may have: any other one can change what an entry means.

mod calls;
mod described;
mod described_types;
mod difference;
mod found;
mod tags;

use core::ops::Range;
use std::borrow::Cow;

use gimli::{DwAt, DwTag, constants as dw};

pub(super) use described::{Described, Node, Number};
pub(super) use difference::{Compared, Different, Reference};
pub(super) use found::Found;
use tags::is_template;
pub(super) use tags::{is_part, is_type, tag_of};

use super::describe::Describe;
use super::files::Source;
use crate::error::Count;
use crate::model::{
    CallId, FunctionId, ImportId, LabelId, ScopeId, TypeId, UnitId, VariableId, VariantValues,
};
use crate::read::Entry;

/// Attributes that locate the tables of a unit's indices, by offsets in sections.
pub(super) const BASES: [DwAt; 4] =
    [dw::DW_AT_addr_base, dw::DW_AT_str_offsets_base, dw::DW_AT_rnglists_base, dw::DW_AT_loclists_base];

/// An entity of a module that has an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Entity {
    /// The unit of a type alone.
    TypeUnit(UnitId),
    /// A namespace, block or inlined call.
    Scope(ScopeId),
    Type(TypeId),
    /// A function: its abstract instance, if there is one.
    Function(FunctionId),
    /// The code of a function that has an abstract instance.
    Instance(FunctionId),
    /// A variable in an abstract instance.
    Abstract(VariableId),
    /// A variable where its location is, or that is declared.
    Variable(VariableId),
    /// A variable in either.
    Either(VariableId),
    /// Any entry of a scope.
    Inside(ScopeId),
    MoreArguments(FunctionId),
    Import(ImportId),
    Label(LabelId),
    Call(CallId),
}

/// The value of an attribute.
#[derive(Debug, PartialEq)]
pub(super) enum Value<'t, 'o> {
    /// The attribute is missing.
    Absent,
    /// A location, which witnesses compare; or an attribute that is compared elsewhere.
    Elsewhere,
    /// The same, of an attribute that is always there.
    Present,
    Flag(bool),
    Number(i128),
    Text(Cow<'t, str>),
    Address(u64),
    Code(Vec<Range<u64>>),
    File(Source),
    Expr(&'t [u8]),
    Block(&'t [u8]),
    /// Values of the discriminant for which a variant is chosen, none for all others; and whether they have a sign.
    Variants(Vec<VariantValues>, bool),
    /// The entry inside of this one, by its number.
    Part(usize),
    /// The entry of an entity, by a module.
    Entity(Entity),
    /// An entry, by an object.
    Entry(Entry<'t, 'o>),
    /// Something that no module describes, in words.
    Other(String),
}

impl Value<'_, '_> {
    /// Whether a missing attribute has the same meaning.
    fn is_absent(&self) -> bool {
        match self {
            Self::Absent | Self::Flag(false) => true,
            Self::Text(text) => text.is_empty(),
            Self::Code(code) => code.is_empty(),
            _ => false,
        }
    }
}

impl Describe for Value<'_, '_> {
    fn describe(&self) -> String {
        match self {
            Self::Absent => "none".into(),
            Self::Elsewhere | Self::Present => "a value".into(),
            Self::Flag(is) => is.describe(),
            Self::Number(number) => number.describe(),
            Self::Text(text) => text.describe(),
            Self::Address(address) => format!("{address:#x}"),
            Self::Code(code) => hex(code),
            Self::File(file) => file.describe(),
            Self::Expr(_) => "an expression".into(),
            Self::Block(bytes) => Count(bytes.len(), "byte").to_string(),
            Self::Variants(values, _) => values.describe(),
            Self::Part(number) => format!("the entry {number} in it"),
            Self::Entity(_) => "an entry".into(),
            Self::Entry(entry) => entry.describe(),
            Self::Other(text) => text.clone(),
        }
    }
}

/// Ranges as text.
pub(super) fn hex(ranges: &[Range<u64>]) -> String {
    let ranges: Vec<_> = ranges.iter().map(|range| format!("{:#x}..{:#x}", range.start, range.end)).collect();
    if ranges.is_empty() { "no code".into() } else { ranges.join(", ") }
}

/// An entry in a message: its tag and name.
fn called(tag: DwTag, name: &str) -> String {
    if name.is_empty() { tag.describe() } else { format!("{} `{name}`", tag.describe()) }
}

/// The bytes that an expression adds, where DWARF 2 has one in place of a number.
fn constant(version: u16, expr: &[u8]) -> Option<u64> {
    let [0x23, bytes @ ..] = expr else { return None };
    let (last, rest) = bytes.split_last()?;
    let is_number = last & 0x80 == 0 && rest.len() < 9 && rest.iter().all(|byte| byte & 0x80 != 0);
    let join = |number, byte: &u8| number << 7 | u64::from(byte & 0x7f);
    (version == 2 && is_number).then(|| bytes.iter().rev().fold(0, join))
}
