//! Form of debugging information entries.

use gimli::DwAt;

/// Form of debugging information entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryForm {
    /// Whether strings are in the entries, without a string section.
    pub has_inline_strings: bool,
    /// Whether references to entries of the unit have four bytes each, without forms of variable length, and blocks have
    /// a length of one or two bytes.
    pub has_fixed_forms: bool,
    /// Whether a linkage name is in front of the name.
    pub has_linkage_name_first: bool,
    /// Attributes that the consumer knows, in ascending order; `None` for a consumer that skips unknown ones.
    pub attributes: Option<&'static [DwAt]>,
    /// Largest tag that the consumer knows, if it refuses others.
    pub last_tag: Option<gimli::DwTag>,
    /// Largest number of a language that the consumer knows. A later standard becomes the latest known one of its
    /// language; a language without one keeps its number.
    pub last_language: Option<gimli::DwLang>,
    /// Whether units also have the language name and version of DWARF 6.
    pub language_names: bool,
    /// Calling convention of a kernel, `DW_CC_*`.
    pub kernel_convention: Option<u8>,
}

impl EntryForm {
    /// Shortest forms, for a consumer that skips what it does not know.
    pub const STANDARD: Self = Self {
        has_inline_strings: false,
        has_fixed_forms: false,
        has_linkage_name_first: false,
        attributes: None,
        last_tag: None,
        last_language: None,
        language_names: false,
        kernel_convention: None,
    };

    /// Whether the consumer knows an attribute.
    pub(crate) fn knows(&self, attribute: DwAt) -> bool {
        self.attributes.is_none_or(|known| known.binary_search_by_key(&attribute.0, |known| known.0).is_ok())
    }

    /// Whether the consumer knows a tag.
    pub(crate) fn knows_tag(&self, tag: gimli::DwTag) -> bool {
        self.last_tag.is_none_or(|last| tag.0 <= last.0)
    }
}
