//! Entries as plain data: one form for the module's description and for the object, and their difference.
//!
//! The form keeps the meaning of an entry. Attributes that express one property become one attribute: `DW_AT_low_pc`,
//! `DW_AT_high_pc` and `DW_AT_ranges` are `DW_AT_ranges`; the attributes for the offset of a member are
//! `DW_AT_data_bit_offset`; strides are `DW_AT_bit_stride`; values of a variant are `DW_AT_discr_value`. An entry has
//! the attributes of the entry that it completes (DWARF 5 sections 2.13.2 and 3.3.8.2).
//!
//! A described entry lists every attribute that its entry may have, as any other can change the entry's meaning.

mod calls;
mod described;
mod described_types;
mod difference;
mod found;
mod tags;

use core::ops::Range;
use std::borrow::Cow;

use gimli::{DwAt, DwTag, constants as dw};

pub(super) use crate::model::is_type_tag as is_type;
pub(super) use described::{Described, Node, Number};
pub(super) use difference::{Compared, Different, Reference};
pub(super) use found::Found;
pub(super) use tags::is_part;
use tags::is_template;

use super::describe::Describe;
use super::files::Source;
use crate::error::Count;
use crate::model::{
    CallId, FunctionId, ImportId, LabelId, ScopeId, TypeId, UnitId, VariableId, VariantValues,
};
use crate::read::Entry;

/// Attributes that locate the tables for a unit's indices, by section offset.
pub(super) const BASES: [DwAt; 4] =
    [dw::DW_AT_addr_base, dw::DW_AT_str_offsets_base, dw::DW_AT_rnglists_base, dw::DW_AT_loclists_base];

/// Entity of a module that has an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Entity {
    /// Type unit.
    TypeUnit(UnitId),
    /// Namespace, block or inlined call.
    Scope(ScopeId),
    Type(TypeId),
    /// Function; its abstract instance, if there is one.
    Function(FunctionId),
    /// Code of a function that has an abstract instance.
    Instance(FunctionId),
    /// Variable in an abstract instance.
    Abstract(VariableId),
    /// Variable with its location, or its declaration.
    Variable(VariableId),
    /// Variable in either instance.
    Either(VariableId),
    /// Any entry of a scope.
    Inside(ScopeId),
    MoreArguments(FunctionId),
    Import(ImportId),
    Label(LabelId),
    Call(CallId),
}

/// Value of an attribute.
#[derive(Debug, PartialEq)]
pub(super) enum Value<'t, 'o> {
    /// The attribute is missing.
    Absent,
    /// Location, which witnesses compare, or an attribute that another comparison covers.
    Elsewhere,
    /// [`Elsewhere`](Self::Elsewhere), for an attribute that must be present.
    Present,
    Flag(bool),
    Number(i128),
    Text(Cow<'t, str>),
    Address(u64),
    Code(Vec<Range<u64>>),
    File(Source<'t>),
    Expr(&'t [u8]),
    /// Expression of a class with omitted expressions: this expression, or none.
    PerhapsExpr(&'t [u8]),
    Block(&'t [u8]),
    /// Discriminant values of a variant, empty for the default one; and whether they are signed.
    Variants(Vec<VariantValues>, bool),
    /// Child of this entry, by its index.
    Part(usize),
    /// Entry of an entity, in the module.
    Entity(Entity),
    /// Entry of the object.
    Entry(Entry<'t, 'o>),
    /// Value that no module describes, as text.
    Other(String),
}

impl Value<'_, '_> {
    /// Returns whether an absent attribute has the same meaning.
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
            Self::Expr(_) | Self::PerhapsExpr(_) => "an expression".into(),
            Self::Block(bytes) => Count(bytes.len(), "byte").to_string(),
            Self::Variants(values, _) => values.describe(),
            Self::Part(number) => format!("the entry {number} in it"),
            Self::Entity(_) => "an entry".into(),
            Self::Entry(entry) => entry.describe(),
            Self::Other(text) => text.clone(),
        }
    }
}

/// Text of ranges.
pub(super) fn hex(ranges: &[Range<u64>]) -> String {
    let ranges: Vec<_> = ranges.iter().map(|range| format!("{:#x}..{:#x}", range.start, range.end)).collect();
    if ranges.is_empty() { "no code".into() } else { ranges.join(", ") }
}

/// Text of an entry: its tag and name.
fn called(tag: DwTag, name: &str) -> String {
    if name.is_empty() { tag.describe() } else { format!("{} `{name}`", tag.describe()) }
}

/// Bytes that an expression adds, where DWARF 2 has one instead of a constant.
fn constant(version: u16, expr: &[u8]) -> Option<u64> {
    let [0x23, bytes @ ..] = expr else { return None };
    let (last, rest) = bytes.split_last()?;
    let is_number = last & 0x80 == 0 && rest.len() < 9 && rest.iter().all(|byte| byte & 0x80 != 0);
    let join = |number, byte: &u8| number << 7 | u64::from(byte & 0x7f);
    (version == 2 && is_number).then(|| bytes.iter().rev().fold(0, join))
}
