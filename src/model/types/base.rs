//! Enumerations for type properties: encodings, qualifiers, memory spaces, accessibility.

/// A base type's encoding. DWARF 5 section 5.1.1 and table 7.11.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BaseEncoding {
    /// An address.
    Address,
    /// True or false.
    Boolean,
    /// A complex number: two binary floating-point numbers, the real part and the imaginary part.
    ComplexFloat,
    /// A binary floating-point number: with 16, 32, 64 or 128 bits in IEEE 754's format.
    Float,
    /// A 16-bit binary floating-point number with 8 exponent bits: bfloat16.
    BFloat16,
    /// An 8-bit binary floating-point number with 4 exponent bits: E4M3.
    Float8E4M3,
    /// An 8-bit binary floating-point number with 5 exponent bits: E5M2.
    Float8E5M2,
    /// A complex number's imaginary part, in binary floating point.
    ImaginaryFloat,
    /// A decimal floating-point number.
    DecimalFloat,
    /// A signed integer.
    Signed,
    /// A signed character.
    SignedChar,
    /// An unsigned integer.
    Unsigned,
    /// An unsigned character.
    UnsignedChar,
    /// A signed number with a fixed point.
    SignedFixed,
    /// An unsigned number with a fixed point.
    UnsignedFixed,
    /// A decimal number, two digits in a byte.
    PackedDecimal,
    /// A decimal number, a digit in a byte.
    NumericString,
    /// A decimal number as edited text (`DW_ATE_edited`).
    Edited,
    /// A Unicode character (ISO/IEC 10646-1:1993), in UTF-8, UTF-16 or UTF-32.
    Utf,
    /// A character in UCS-4, from ISO/IEC 10646-1:1993.
    Ucs,
    /// A character from ISO/IEC 646:1991.
    Ascii,
    /// An encoding that DWARF 5 lacks, by its number, from 0x13 on: a later version's, or a vendor's from 0x80 on. gcc and
    /// clang write 0x80, `DW_ATE_lo_user`, for complex integers.
    Numbered(u8),
}

impl BaseEncoding {
    /// The first number after the encodings of DWARF 5.
    pub(crate) const FIRST_NUMBER: u8 = 0x13;

    /// Returns whether it is a binary floating-point number in a format other than IEEE 754's, for which DWARF has no
    /// constant.
    #[cfg(any(feature = "write", feature = "spirv"))]
    pub(crate) fn is_other_float(self) -> bool {
        self.bits().is_some()
    }

    /// Returns such a number's size in bits.
    pub(crate) fn bits(self) -> Option<u64> {
        match self {
            Self::BFloat16 => Some(16),
            Self::Float8E4M3 | Self::Float8E5M2 => Some(8),
            _ => None,
        }
    }

    /// Whether values are floating-point numbers.
    #[cfg(feature = "spirv")]
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::ComplexFloat | Self::ImaginaryFloat | Self::DecimalFloat)
            || self.is_other_float()
    }
}

/// A type qualifier. DWARF 5 section 5.3.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// `const`: read-only.
    Const,
    /// `volatile`: can change without a write by the program.
    Volatile,
    /// `restrict`: no other pointer accesses the object.
    Restrict,
    /// `_Atomic`: accessed in one step.
    Atomic,
}

#[cfg(feature = "spirv")]
impl Qualifier {
    /// Keyword in C.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::Const => "const",
            Self::Volatile => "volatile",
            Self::Restrict => "restrict",
            Self::Atomic => "_Atomic",
        }
    }
}

/// Pointer type kind. DWARF 5 section 5.3.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum PointerKind {
    /// A pointer.
    #[default]
    Pointer,
    /// A C++ reference, `T &`.
    Reference,
    /// A C++ rvalue reference, `T &&`.
    RvalueReference,
}

#[cfg(feature = "spirv")]
impl PointerKind {
    /// Returns the symbol in a C or C++ declaration.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Pointer => "*",
            Self::Reference => "&",
            Self::RvalueReference => "&&",
        }
    }
}

/// Memory that the source declares for an object, independent of the address space that the object's address belongs
/// to. AMDGPU extension, `DW_AT_LLVM_memory_space`.
///
/// | | OpenCL | CUDA, HIP |
/// |---|---|---|
/// | `Global` | `global` | `__device__` |
/// | `Constant` | `constant` | `__constant__` |
/// | `Group` | `local` | `__shared__` |
/// | `Private` | `private` | |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemorySpace {
    /// Shared by all kernels.
    Global,
    /// Shared by all kernels, and read-only to them.
    Constant,
    /// Private to a work-group.
    Group,
    /// Private to a work-item.
    Private,
}

/// A member's accessibility. DWARF 5 sections 2.8 and 5.7.7, table 7.16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Accessibility {
    /// Accessible everywhere.
    Public,
    /// Accessible in the class and in derived classes.
    Protected,
    /// Accessible in the class.
    Private,
}
