//! A section and what a linker has to fill in. Neutral: no type of any object format.

use std::borrow::Cow;

/// A section of an object file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name, with the leading dot.
    pub name: &'static str,
    /// Its contents. Where a relocation applies they are 0.
    pub bytes: Vec<u8>,
    /// What is to be filled in, in ascending order of offsets.
    pub relocations: Vec<Relocation>,
    /// Whether it consists of strings that end with a zero byte, which a linker may merge.
    pub is_strings: bool,
    /// The group that the section belongs to, by the signature of its type unit: of sections of one group, a
    /// linker keeps those of one object. `None` for what is always kept.
    pub group: Option<u64>,
}

/// A number that is known when the object is linked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    /// Bytes from the start of the section.
    pub offset: u64,
    /// The size of the field in bytes: 4 or 8.
    pub bytes: u8,
    /// Whose address or offset it is.
    pub target: RelocationTarget,
    /// Bytes to add, modulo 2⁶⁴: a negative number is its complement.
    pub addend: u64,
}

/// What a relocation refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelocationTarget {
    /// The start of another debug section of the same object: the one of this name that is in the same group,
    /// or else the one in no group.
    Section(&'static str),
    /// A symbol of the object's code or data, by name.
    Symbol(Cow<'static, str>),
    /// The same, counted from the field: in a section that is loaded. 4 bytes.
    Distance(Cow<'static, str>),
}
