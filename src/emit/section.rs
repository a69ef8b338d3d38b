//! Sections with relocations, independent of the object format.

use std::borrow::Cow;

/// A section in an object file.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Name, with the leading dot.
    pub name: &'static str,
    /// Contents. Relocated fields are 0.
    pub bytes: Vec<u8>,
    /// Relocations, with ascending offsets.
    pub relocations: Vec<Relocation>,
    /// Whether the section consists of zero-terminated strings that a linker may merge.
    pub is_strings: bool,
    /// Section group, identified by its type unit's signature: a linker keeps one of several groups with the same
    /// signature. `None` for a section that is always kept.
    pub group: Option<u64>,
}

/// A field that the linker computes.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    /// Offset from the start of the section, in bytes.
    pub offset: u64,
    /// Field size in bytes: 4 or 8.
    pub bytes: u8,
    /// Section or symbol whose address or offset is stored.
    pub target: RelocationTarget,
    /// Number of bytes to add, modulo 2⁶⁴: negative numbers in two's complement.
    pub addend: u64,
}

/// A relocation's target.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelocationTarget {
    /// The start of another debug section in the same object: the section with this name in the same group, or else the
    /// section in no group.
    Section(&'static str),
    /// A symbol for the object's code or data, by name.
    Symbol(Cow<'static, str>),
    /// Distance from the field to a symbol, in a loaded section. 4 bytes.
    Distance(Box<str>),
}

// Relocations take about as much memory as a small unit's bytes, so their size must not grow unnoticed.
const _: () = assert!(size_of::<Relocation>() <= 48);

impl RelocationTarget {
    /// Returns the symbol's name.
    pub fn symbol(&self) -> Option<&str> {
        match self {
            Self::Section(_) => None,
            Self::Symbol(name) => Some(name),
            Self::Distance(name) => Some(name),
        }
    }
}
