//! Form of debugging information entries.

use gimli::DwAt;

/// Form of debugging information entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryForm {
    /// Whether strings are in the entries, without a string section.
    pub has_inline_strings: bool,
    /// Form of references to entries of the same unit.
    pub references: ReferenceForm,
    /// Whether blocks have a length of one or two bytes, without a form of variable length.
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

/// Form of references to entries of the same unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceForm {
    /// `DW_FORM_ref4`, which every tool reads and rewrites.
    Ref4,
    /// `DW_FORM_ref_udata` for entries before the reference, in as many bytes as the offset needs. Tools that copy
    /// entries can lack it: LLVM's dwarfutil drops such an attribute, as of LLVM 19.
    Udata,
}

impl EntryForm {
    /// Shortest forms, except those of references, for a consumer that skips what it does not know.
    pub const STANDARD: Self = Self {
        has_inline_strings: false,
        references: ReferenceForm::Ref4,
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
