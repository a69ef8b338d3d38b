//! Enumerations: section 3 in the sets' specifications, and three core enumerations, from the
//! [grammar](super::grammar).
//!
//! Names are the grammars' names, because tools print these. The text of `OpenCL.DebugInfo.100` spells some flags
//! differently: `FlagsProtected` is `FlagIsProtected`.

use super::grammar::{CAPABILITIES, FP_ENCODINGS, SOURCE_LANGUAGES, STORAGE_CLASSES};
use super::{Set, operations};

/// An enumeration with named numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Enumeration {
    /// Base type attribute encodings, section 3.3.
    Encoding,
    /// Composite types, section 3.4.
    CompositeTag,
    /// Type qualifiers, section 3.5.
    Qualifier,
    /// Debug operations, section 3.6.
    Operation,
    /// Imported entities, section 3.7.
    ImportedEntity,
    /// The core specification's source languages.
    Language,
    /// The core specification's storage classes.
    StorageClass,
    /// The core specification's floating-point encodings, for formats other than IEEE 754's.
    FpEncoding,
    /// Debug info flags, section 3.2: bits.
    Flags,
    /// Build identifier flags (bits), in `NonSemantic.Shader.DebugInfo` only.
    BuildFlags,
    /// Checksum algorithms, in version 200 of `NonSemantic.Shader.DebugInfo` only.
    ChecksumKind,
}

const ENCODINGS: &[(u32, &str)] = &[
    (0, "Unspecified"),
    (1, "Address"),
    (2, "Boolean"),
    (3, "Float"),
    (4, "Signed"),
    (5, "SignedChar"),
    (6, "Unsigned"),
    (7, "UnsignedChar"),
];

/// Encodings that version 200 adds.
const LATER_ENCODINGS: &[(u32, &str)] = &[(COMPLEX, "Complex")];

/// Encoding for complex numbers in version 200.
pub(crate) const COMPLEX: u32 = 8;

const CHECKSUM_KINDS: &[(u32, &str)] = &[(MD5, "MD5"), (1, "SHA1"), (2, "SHA256")];

/// The MD5 checksum algorithm's number.
pub(crate) const MD5: u32 = 0;

const COMPOSITE_TAGS: &[(u32, &str)] = &[(0, "Class"), (1, "Structure"), (2, "Union")];

const QUALIFIERS: &[(u32, &str)] =
    &[(0, "ConstType"), (1, "VolatileType"), (2, "RestrictType"), (3, "AtomicType")];

const IMPORTED_ENTITIES: &[(u32, &str)] = &[(0, "ImportedModule"), (1, "ImportedDeclaration")];

/// Languages that version 200 adds. The proposal gives some of them numbers from 101 to 116; these are the numbers that
/// LLVM's translator writes and reads.
const LATER_LANGUAGES: &[(u32, &str)] = &[
    (200, "Python"),
    (201, "Julia"),
    (202, "Rust"),
    (203, "D"),
    (204, "Fortran77"),
    (205, "Fortran90"),
    (206, "Fortran95"),
    (207, "Fortran2003"),
    (208, "Fortran2008"),
    (209, "Fortran2018"),
    (210, "C"),
    (211, "C99"),
    (212, "C11"),
    (213, "C17"),
    (214, "CPP"),
    (215, "CPP03"),
    (216, "CPP11"),
    (217, "CPP14"),
    (218, "CPP17"),
    (219, "CPP20"),
];

/// Defines flags as constants and as a list.
macro_rules! flags { ($($constant:ident $bits:expr, $name:literal;)*) => {
    /// Debug info flags, section 3.2.
    #[allow(dead_code, reason = "the list is whole")]
    pub(crate) mod flags {
        $(pub(crate) const $constant: u32 = $bits;)*
    }

    const FLAGS: &[(u32, &str)] = &[$((flags::$constant, $name)),*];
} }

// Access is a two-bit field. `FlagIsPublic` sets both bits and comes first, because `text` takes the first entry whose
// bits are all set.
flags! {
    PUBLIC 3, "FlagIsPublic";
    PROTECTED 1, "FlagIsProtected";
    PRIVATE 2, "FlagIsPrivate";
    LOCAL 1 << 2, "FlagIsLocal";
    DEFINITION 1 << 3, "FlagIsDefinition";
    FWD_DECL 1 << 4, "FlagFwdDecl";
    ARTIFICIAL 1 << 5, "FlagArtificial";
    EXPLICIT 1 << 6, "FlagExplicit";
    PROTOTYPED 1 << 7, "FlagPrototyped";
    OBJECT_POINTER 1 << 8, "FlagObjectPointer";
    STATIC_MEMBER 1 << 9, "FlagStaticMember";
    INDIRECT_VARIABLE 1 << 10, "FlagIndirectVariable";
    LVALUE_REFERENCE 1 << 11, "FlagLValueReference";
    RVALUE_REFERENCE 1 << 12, "FlagRValueReference";
    OPTIMIZED 1 << 13, "FlagIsOptimized";
    ENUM_CLASS 1 << 14, "FlagIsEnumClass";
    PASS_BY_VALUE 1 << 15, "FlagTypePassByValue";
    PASS_BY_REFERENCE 1 << 16, "FlagTypePassByReference";
    UNKNOWN_LAYOUT 1 << 17, "FlagUnknownPhysicalLayout";
    BIT_FIELD 1 << 18, "FlagBitField";
}

/// A flag that only `NonSemantic.Shader.DebugInfo` has.
pub(crate) const UNKNOWN_LAYOUT: u32 = flags::UNKNOWN_LAYOUT;

/// Flags that a set lacks.
const fn foreign_flags(set: Set) -> u32 {
    match set {
        Set::OpenCl => UNKNOWN_LAYOUT | flags::BIT_FIELD,
        Set::Shader | Set::Shader101 => flags::BIT_FIELD,
        Set::Shader200 => 0,
    }
}

/// Flag for a build identifier that different sources may share.
pub(crate) const POSSIBLE_DUPLICATES: u32 = 1;

const BUILD_FLAGS: &[(u32, &str)] = &[(POSSIBLE_DUPLICATES, "IdentifierPossibleDuplicates")];

/// Whether the text is a build identifier: 32 or more lowercase hexadecimal digits.
pub(crate) fn is_build_identifier(text: &str) -> bool {
    text.len() >= 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Enumeration {
    /// Numbers and names in a set; for flags, bits and names.
    pub fn entries(self, set: Set) -> impl Iterator<Item = (u32, &'static str)> {
        let operations = if self == Self::Operation { operations(set) } else { &[] };
        let operations = (0..).zip(operations.iter().map(|operation| operation.name));
        // Earlier sets lack these entries, and reject their numbers.
        let later = if set.includes(Set::Shader200) { self.later() } else { &[] };
        let foreign = if self == Self::Flags { foreign_flags(set) } else { 0 };
        let names = self.list().iter().chain(later).copied().filter(move |(bits, _)| bits & foreign == 0);
        names.chain(operations)
    }

    /// Numbers and names that version 200 adds.
    const fn later(self) -> &'static [(u32, &'static str)] {
        match self {
            Self::Encoding => LATER_ENCODINGS,
            Self::Language => LATER_LANGUAGES,
            _ => &[],
        }
    }

    /// Numbers and names in every enumeration except operations.
    const fn list(self) -> &'static [(u32, &'static str)] {
        match self {
            Self::Encoding => ENCODINGS,
            Self::CompositeTag => COMPOSITE_TAGS,
            Self::Qualifier => QUALIFIERS,
            Self::Operation => &[],
            Self::ImportedEntity => IMPORTED_ENTITIES,
            Self::Language => SOURCE_LANGUAGES,
            Self::StorageClass => STORAGE_CLASSES,
            Self::FpEncoding => FP_ENCODINGS,
            Self::Flags => FLAGS,
            Self::BuildFlags => BUILD_FLAGS,
            Self::ChecksumKind => CHECKSUM_KINDS,
        }
    }

    /// Whether the numbers are bits that can be combined.
    pub const fn is_mask(self) -> bool {
        matches!(self, Self::Flags | Self::BuildFlags)
    }

    /// Whether the set defines the number, or every bit of the mask.
    pub fn has(self, value: u32, set: Set) -> bool {
        if !self.is_mask() {
            return self.name(value, set).is_some();
        }
        value & !self.entries(set).fold(0, |known, (bit, _)| known | bit) == 0
    }

    /// Name for a number in an enumeration that is not a mask.
    pub fn name(self, value: u32, set: Set) -> Option<&'static str> {
        if self.is_mask() {
            return None;
        }
        self.entries(set).find(|&(number, _)| number == value).map(|(_, name)| name)
    }

    /// The number as text: names joined with `|`, `None` if no flag is set, and the number itself if it has no name.
    pub fn text(self, value: u32, set: Set) -> String {
        if !self.is_mask() {
            return self.name(value, set).map_or_else(|| value.to_string(), String::from);
        }
        let mut left = value;
        // Wider flags come first in the list, so that a flag with several bits is not split into its bits.
        let mut text = String::new();
        for &(bits, name) in self.list() {
            if left & bits == bits {
                left &= !bits;
                if !text.is_empty() {
                    text.push('|');
                }
                text.push_str(name);
            }
        }
        match (left, text.is_empty()) {
            (0, true) => "None".into(),
            (0, false) => text,
            (_, true) => format!("{left:#x}"),
            (_, false) => format!("{text}|{left:#x}"),
        }
    }
}

/// Name for a capability; the number itself if it has no name.
pub(crate) fn capability(number: u32) -> String {
    let known = CAPABILITIES.binary_search_by_key(&number, |&(it, _)| it);
    known.map_or_else(|_| number.to_string(), |index| CAPABILITIES[index].1.into())
}
