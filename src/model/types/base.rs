//! What the words of a type stand for: encodings, qualifiers, memory spaces, who may see a member.

/// How the bits of a base type are to be read. DWARF 5 section 5.1.1 and table 7.11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BaseEncoding {
    /// An address.
    Address,
    /// True or false.
    Boolean,
    /// Two binary floating-point numbers: the real part and the imaginary one.
    ComplexFloat,
    /// A binary floating-point number.
    Float,
    /// The imaginary part of a complex number, in binary floating point.
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
    /// A number as it is to be printed.
    Edited,
    /// A Unicode character (ISO/IEC 10646-1:1993), in UTF-8, UTF-16 or UTF-32.
    Utf,
    /// A character of ISO/IEC 10646-1:1993 in UCS-4.
    Ucs,
    /// A character of ISO/IEC 646:1991.
    Ascii,
}

/// A qualifier of a type. DWARF 5 section 5.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// Cannot be changed.
    Const,
    /// Changes by itself.
    Volatile,
    /// Not reached otherwise.
    Restrict,
    /// Changed at once.
    Atomic,
}

/// How a pointer is written in the source. DWARF 5 section 5.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointerKind {
    /// A pointer.
    Pointer,
    /// A C++ reference, `T &`.
    Reference,
    /// A C++ rvalue reference, `T &&`.
    RvalueReference,
}

/// Which memory the source says that something is in, whatever the address space of its address is. The AMD
/// extension's `DW_AT_LLVM_memory_space`.
///
/// | | OpenCL | CUDA, HIP |
/// |---|---|---|
/// | `Global` | `global` | `__device__` |
/// | `Constant` | `constant` | `__constant__` |
/// | `Group` | `local` | `__shared__` |
/// | `Private` | `private` | |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemorySpace {
    /// Of all kernels.
    Global,
    /// Of all kernels, and not changed by them.
    Constant,
    /// Of a work-group.
    Group,
    /// Of a work-item.
    Private,
}

/// Who may name a member. DWARF 5 section 5.7.7 and table 7.16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Accessibility {
    /// Everyone.
    Public,
    /// The class and what is derived from it.
    Protected,
    /// The class.
    Private,
}
