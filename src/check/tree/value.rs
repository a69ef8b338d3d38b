//! Entities that have entries, and attribute values.

use core::ops::Range;
use std::borrow::Cow;

use gimli::{DwAt, DwTag, constants as dw};

use crate::check::{describe::Describe, files::Source};
use crate::error::Count;
use crate::model::{
    CallId, FunctionId, ImportId, LabelId, ScopeId, TypeId, UnitId, VariableId, VariantValues,
};
use crate::read::{Entry, PcNotation};

/// Attributes that locate the tables for a unit's indices, by section offset.
pub(in crate::check) const BASES: [DwAt; 4] =
    [dw::DW_AT_addr_base, dw::DW_AT_str_offsets_base, dw::DW_AT_rnglists_base, dw::DW_AT_loclists_base];

/// A module's entity that has an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::check) enum Entity {
    /// Type unit.
    TypeUnit(UnitId),
    /// Namespace, block or inlined call.
    Scope(ScopeId),
    Type(TypeId),
    /// Function; its abstract instance, if there is one.
    Function(FunctionId),
    /// Code for a function that has an abstract instance.
    Instance(FunctionId),
    /// Variable in an abstract instance.
    Abstract(VariableId),
    /// Variable with its location, or its declaration.
    Variable(VariableId),
    /// Variable in either instance.
    Either(VariableId),
    /// Any entry that a scope has.
    Inside(ScopeId),
    MoreArguments(FunctionId),
    Import(ImportId),
    Label(LabelId),
    Call(CallId),
}

/// An attribute's value.
#[derive(Debug, PartialEq)]
pub(in crate::check) enum Value<'t, 'o> {
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
    /// Expression in a class with omitted expressions: this expression, or none.
    PerhapsExpr(&'t [u8]),
    Block(&'t [u8]),
    /// A variant's discriminant values, empty for the default variant; and whether they are signed.
    Variants(Vec<VariantValues>, bool),
    /// This entry's child, by its index.
    Part(usize),
    /// The entry of a type's data member, by its index.
    Member(TypeId, u32),
    /// An entity's entry, in the module.
    Entity(Entity),
    /// Entry in the object.
    Entry(Entry<'t, 'o>),
    /// Value that no module describes, as text.
    Other(String),
}

impl Value<'_, '_> {
    /// Returns whether an absent attribute has the same meaning.
    pub(super) fn is_absent(&self) -> bool {
        match self {
            Self::Absent | Self::Flag(false) => true,
            Self::Text(text) => text.is_empty(),
            Self::Code(code) => code.is_empty(),
            _ => false,
        }
    }
}

impl Value<'_, '_> {
    /// Returns the value as text, with pcs as the object writes them.
    pub(super) fn describe(&self, pcs: PcNotation<'_>) -> String {
        match self {
            Self::Absent => "none".into(),
            Self::Elsewhere | Self::Present => "a value".into(),
            Self::Flag(is) => is.describe(),
            Self::Number(number) => number.describe(),
            Self::Text(text) => text.describe(),
            Self::Address(address) => pcs.pc(*address).to_string(),
            Self::Code(code) => code_text(pcs, code),
            Self::File(file) => file.describe(),
            Self::Expr(_) | Self::PerhapsExpr(_) => "an expression".into(),
            Self::Block(bytes) => Count(bytes.len(), "byte").to_string(),
            Self::Variants(values, _) => values.describe(),
            Self::Part(number) => format!("the entry {number} in it"),
            Self::Member(_, number) => format!("the member {number} of a type"),
            Self::Entity(_) => "an entry".into(),
            Self::Entry(entry) => entry.describe(),
            Self::Other(text) => text.clone(),
        }
    }
}

/// Text for ranges of pcs.
pub(in crate::check) fn code_text(pcs: PcNotation<'_>, ranges: &[Range<u64>]) -> String {
    let ranges: Vec<_> = ranges.iter().map(|range| pcs.pcs(range).to_string()).collect();
    if ranges.is_empty() { "no code".into() } else { ranges.join(", ") }
}

/// Text for an entry: its tag and name.
pub(super) fn called(tag: DwTag, name: &str) -> String {
    if name.is_empty() { tag.describe() } else { format!("{} `{name}`", tag.describe()) }
}

/// Bytes that an expression adds, where DWARF 2 has an expression instead of a constant.
pub(super) fn constant(version: u16, expr: &[u8]) -> Option<u64> {
    // `DW_OP_plus_uconst` with its ULEB128 operand.
    let [0x23, bytes @ ..] = expr else { return None };
    let (last, rest) = bytes.split_last()?;
    let is_number = last & 0x80 == 0 && rest.len() < 9 && rest.iter().all(|byte| byte & 0x80 != 0);
    let join = |number, byte: &u8| number << 7 | u64::from(byte & 0x7f);
    (version == 2 && is_number).then(|| bytes.iter().rev().fold(0, join))
}
