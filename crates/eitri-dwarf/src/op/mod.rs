//! DWARF operations.
//!
//! One table generates the [`Op`] enum, the [`Encoder`], the [`Decoder`] and the [text form](text), so that they cannot
//! disagree.
//!
//! An operation has one *meaning* and can have several encodings. `lit5`, `const1u 5` and `constu 5` are all
//! [`Op::ConstU`]; `entry_value` is 0xa3 in DWARF 5 and 0xf3 in GNU's DWARF 4; `offset` is `e9 04` for current LLVM, `e3`
//! for older AMD debuggers, and will have another number in DWARF 6. The [`Dialect`] selects the encodings. A decoded
//! operation keeps its [`Spelling`], from which the encoder reproduces the same bytes, including padded numbers.
//!
//! This module knows the operands and their encodings only. [`eval`](crate::eval) defines what an operation does, and
//! `lower` chooses operations. Operations whose operands depend on an unknown number (`NVIDIA_mux`, `extended`) end a
//! decoded expression, because nothing tells where they end.
//!
//! ```
//! use eitri_dwarf::op::{Decoder, Dialect, Encoder, Encoding, Op, Reg};
//!
//! let encoding = Encoding::new(8, Dialect::Llvm);
//! let mut bytes = Vec::new();
//! Encoder::new(&mut bytes, encoding).regx(Reg(2560)).push_lane().constu(4).mul().offset();
//! assert_eq!(bytes, [0x90, 0x80, 0x14, 0xe9, 0x03, 0x34, 0x1e, 0xe9, 0x04]);
//!
//! let first = Decoder::new(&bytes, encoding).next().transpose()?;
//! assert_eq!(first.map(|decoded| decoded.op), Some(Op::RegX { reg: Reg(2560) }));
//! # Ok::<(), eitri_dwarf::Error>(())
//! ```

mod compact;
mod decode;
mod encode;
mod expr;
#[cfg(feature = "write")]
mod gimli;
mod leb;
mod operand;
mod table;
pub mod text;

pub use compact::{COMPACT, Compact, Form};
pub(crate) use decode::opcode;
pub use decode::{Decoded, Decoder, Spelling};
pub use encode::Encoder;
pub use expr::{BranchLabel, Expr, ExprBuilder, Fixup, FixupKind, Ops, Slot};
#[cfg(feature = "write")]
pub use gimli::GimliTarget;
#[doc(hidden)]
pub use leb::{
    read_sleb, read_uleb, sleb_len, uleb_len, write_byte_uleb, write_sleb, write_uleb, write_ulebs,
};
pub use operand::{EncodedAddress, OperandKind};
pub(crate) use operand::{PointerForm, sign_extended};

use crate::error::{Error, Result};
pub use crate::target::Reg;
use operand::operand_type;
use table::{code, for_each_op};

/// Set of operation encodings.
///
/// The operations of DWARF 5 and the GNU forms of DWARF 4 are part of every dialect.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// DWARF 5 and the GNU forms only.
    #[default]
    Dwarf5,
    /// Vendor operations encoded as `DW_OP_LLVM_user` (0xe9) and a sub-operation.
    Llvm,
    /// One-byte vendor operations, 0xe1 to 0xec, for older AMD debuggers.
    Legacy,
    /// Operations accepted for DWARF 6. Operations without an assigned number need a number from [`Encoding::draft`].
    Dwarf6,
}

impl Dialect {
    /// Names that [`named`](Self::named) takes.
    pub const NAMES: [&'static str; 4] = ["llvm", "legacy", "dwarf5", "dwarf6"];

    /// Returns the name that [`named`](Self::named) takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Llvm => "llvm",
            Self::Legacy => "legacy",
            Self::Dwarf5 => "dwarf5",
            Self::Dwarf6 => "dwarf6",
        }
    }

    /// Returns the dialect with a name from [`NAMES`](Self::NAMES).
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) with the known names.
    ///
    /// ```
    /// use eitri_dwarf::op::Dialect;
    ///
    /// assert_eq!(Dialect::named("legacy")?, Dialect::Legacy);
    /// let error = Dialect::named("gnu").unwrap_err();
    /// assert_eq!(error.to_string(), "the dialect is `gnu`; expected llvm, legacy, dwarf5 or dwarf6");
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "llvm" => Self::Llvm,
            "legacy" => Self::Legacy,
            "dwarf5" => Self::Dwarf5,
            "dwarf6" => Self::Dwarf6,
            _ => {
                return Err(Error::bad_argument(format!(
                    "the dialect is `{name}`; expected llvm, legacy, dwarf5 or dwarf6"
                )));
            }
        })
    }
}

/// Parameters of operation encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoding {
    /// Size of a default-space address in bytes: 4 or 8 (2 and 1 are possible).
    pub address_bytes: u8,
    /// Size of a section offset in bytes: 4 in the 32-bit DWARF format, 8 in the 64-bit format.
    pub offset_bytes: u8,
    /// DWARF version of the unit.
    pub version: u16,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
    /// Set of operation encodings.
    pub dialect: Dialect,
    /// Numbers for operations that have none in the DWARF 6 draft. Only [`Dialect::Dwarf6`] uses them.
    pub draft: DraftCodes,
}

impl From<Encoding> for ::gimli::Encoding {
    /// Version, format and address size.
    fn from(Encoding { address_bytes, offset_bytes, version, .. }: Encoding) -> Self {
        let format = if offset_bytes == 8 { ::gimli::Format::Dwarf64 } else { ::gimli::Format::Dwarf32 };
        Self { address_size: address_bytes, format, version }
    }
}

impl Encoding {
    /// Returns the encoding of little-endian DWARF 5 in the 32-bit format.
    pub const fn new(address_bytes: u8, dialect: Dialect) -> Self {
        Self {
            address_bytes,
            offset_bytes: 4,
            version: 5,
            big_endian: false,
            dialect,
            draft: DraftCodes::NONE,
        }
    }

    /// Returns the encoding with addresses of this size in bytes.
    #[must_use]
    pub const fn with_address_bytes(mut self, address_bytes: u8) -> Self {
        self.address_bytes = address_bytes;
        self
    }

    /// Returns the encoding with section offsets of this size in bytes: 4 or 8.
    #[must_use]
    pub const fn with_offset_bytes(mut self, offset_bytes: u8) -> Self {
        self.offset_bytes = offset_bytes;
        self
    }

    /// Returns the encoding with a DWARF version.
    #[must_use]
    pub const fn with_version(mut self, version: u16) -> Self {
        self.version = version;
        self
    }

    /// Returns the encoding with this byte order.
    #[must_use]
    pub const fn with_big_endian(mut self, big_endian: bool) -> Self {
        self.big_endian = big_endian;
        self
    }

    /// Returns the encoding with a set of operation encodings.
    #[must_use]
    pub const fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Returns the encoding with numbers for operations that have none in the DWARF 6 draft.
    #[must_use]
    pub const fn with_draft(mut self, draft: DraftCodes) -> Self {
        self.draft = draft;
        self
    }

    /// Returns the size in bytes of an entry offset from the start of `.debug_info`: in DWARF 2 the size of an address.
    #[doc(hidden)]
    pub const fn entry_bytes(&self) -> u8 {
        if self.version < 3 { self.address_bytes } else { self.offset_bytes }
    }
}

/// Numbers for draft operations, supplied by the caller. There are no defaults, because no reader agrees on any.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DraftCodes([u8; DRAFTS]);

/// Number of operations without a number in the draft.
const DRAFTS: usize = draft_index(OperationName::COUNT);

/// Returns the number of such operations among the table's first `operations` rows.
const fn draft_index(operations: usize) -> usize {
    let mut count = 0;
    let mut index = 0;
    while index < operations {
        if let Opcode::Unassigned = ROWS[index].six {
            count += 1;
        }
        index += 1;
    }
    count
}

impl DraftCodes {
    /// No numbers.
    pub const NONE: Self = Self([0; DRAFTS]);

    /// Returns a number for each of these operations, for an expression that is written and read by one program: numbers
    /// from 0xe1 on, which no operation of the draft has.
    pub fn provisional() -> Self {
        let is_unassigned = |name: &OperationName| Self::NONE.with(*name, 1).get(*name).is_some();
        let names = OperationName::ALL.iter().copied().filter(is_unassigned);
        names.zip(0xe1..=0xef).fold(Self::NONE, |codes, (name, code)| codes.with(name, code))
    }

    /// Sets the number of the operation `name` to `code`. A code of 0 removes the number.
    ///
    /// Ignored for operations that have a number in the draft. `code` must not be the number of another operation,
    /// because the bytes would be decoded as that operation.
    #[must_use]
    pub const fn with(mut self, name: OperationName, code: u8) -> Self {
        if let Opcode::Unassigned = ROWS[name as usize].six {
            self.0[draft_index(name as usize)] = code;
        }
        self
    }

    /// Returns the number supplied for the operation, if any.
    pub const fn get(&self, name: OperationName) -> Option<u8> {
        let Opcode::Unassigned = ROWS[name as usize].six else { return None };
        match self.0[draft_index(name as usize)] {
            0 => None,
            code => Some(code),
        }
    }
}

impl Default for DraftCodes {
    fn default() -> Self {
        Self::NONE
    }
}

impl core::fmt::Debug for DraftCodes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map()
            .entries(OperationName::ALL.iter().filter_map(|&name| Some((name, self.get(name)?))))
            .finish()
    }
}

/// Number of an operation in one encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Opcode {
    /// The encoding lacks the operation.
    None,
    /// The operation is accepted or proposed, but has no number yet.
    Unassigned,
    /// The opcode, or the sub-operation.
    Is(u8),
}

impl Opcode {
    /// Returns the number, if any.
    pub const fn get(self) -> Option<u8> {
        match self {
            Self::Is(code) => Some(code),
            _ => None,
        }
    }
}

/// One operation's row in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationRow {
    /// The operation.
    pub name: OperationName,
    /// Name without `DW_OP_` and vendor prefix.
    pub text: &'static str,
    /// Names and kinds of the operands, in order.
    pub operands: &'static [(&'static str, OperandKind)],
    /// The opcode of DWARF 2 to 5.
    pub std: Opcode,
    /// The GNU opcode.
    pub gnu: Opcode,
    /// The sub-operation of `DW_OP_LLVM_user`.
    pub user: Opcode,
    /// The one-byte opcode for older AMD debuggers.
    pub legacy: Opcode,
    /// The opcode of the DWARF 6 draft.
    pub six: Opcode,
    /// Number of stack elements popped and pushed. `None` if it varies.
    pub stack: (Option<u8>, Option<u8>),
    /// DWARF version that introduced the operation; 0 if it is not part of the standard.
    pub since: u16,
    /// Whether call frame information may use it (A.6.4.2).
    pub is_for_cfi: bool,
}

/// Converts a cell in the column `cfi`.
macro_rules! is_for_cfi {
    (cfi) => {
        true
    };
    (_) => {
        false
    };
}

/// Converts a cell in the columns `in` and `out`.
macro_rules! count {
    (*) => {
        None
    };
    ($n:literal) => {
        Some($n)
    };
}

macro_rules! make_ops { ($(
    $variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
    [$std:tt $gnu:tt $user:tt $legacy:tt $six:tt] ($in:tt => $out:tt) $since:literal $cfi:tt;
)*) => {
    /// An operation with its operands.
    ///
    /// Blocks and expressions are borrowed from the decoded bytes, or from the caller.
    ///
    /// Exhaustive: a match names all variants, so that the compiler shows what a new operation needs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[allow(missing_docs, reason = "the operands are those of the specification")]
    pub enum Op<'a> { $(
        #[doc = concat!("`DW_OP_", $text, "`, with or without a vendor's prefix.")]
        $variant { $($field: operand_type!($kind)),* },
    )* }

    /// Name of an operation: [`Op`] without operands.
    ///
    /// Exhaustive: a match names all variants, so that the compiler shows what a new operation needs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum OperationName { $(
        #[doc = concat!("`DW_OP_", $text, "`, with or without a vendor's prefix.")]
        $variant,
    )* }

    impl OperationName {
        /// All operations, in the order of the table.
        pub const ALL: &'static [OperationName] = &[$(OperationName::$variant),*];
        /// Number of operations.
        pub const COUNT: usize = Self::ALL.len();
    }

    static ROWS: [OperationRow; OperationName::COUNT] = [$(OperationRow {
        name: OperationName::$variant,
        text: $text,
        operands: &[$((stringify!($field), OperandKind::$kind)),*],
        std: code!($std), gnu: code!($gnu), user: code!($user), legacy: code!($legacy), six: code!($six),
        stack: (count!($in), count!($out)),
        since: $since,
        is_for_cfi: is_for_cfi!($cfi),
    }),*];

    impl<'a> Op<'a> {
        /// Returns the operation's name.
        pub const fn name(&self) -> OperationName {
            match self { $(Op::$variant { .. } => OperationName::$variant),* }
        }
    }
} }
for_each_op!(make_ops);

impl OperationName {
    /// Returns the operation's row in the table.
    pub fn row(self) -> &'static OperationRow {
        &ROWS[self as usize]
    }

    /// Parses the name of an operation. The prefix `DW_OP_` is optional, as is a vendor prefix on the vendor's own
    /// operations. The names that GNU's forms and DWARF 6 give to DWARF 5 operations are accepted too. Compact spellings
    /// (`lit5`) are not operations: see [`Compact`].
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("DW_OP_").unwrap_or(text);
        let named = |bare: &str| {
            let aliases = GNU_NAMES.iter().chain(SIX_NAMES);
            let alias = aliases.copied().find(|&(alias, _)| alias == bare).map(|(_, name)| name);
            alias.or_else(|| Self::ALL.iter().copied().find(|name| name.row().text == bare))
        };
        if let Some(bare) = text.strip_prefix("LLVM_") {
            return named(bare).filter(|name| name.row().user != Opcode::None);
        }
        if let Some(bare) = text.strip_prefix("GNU_") {
            return named(bare).filter(|name| name.row().gnu != Opcode::None);
        }
        named(text)
    }

    /// Returns the name of the GNU form without its prefix.
    fn gnu_text(self) -> &'static str {
        let alias = GNU_NAMES.iter().find(|&&(_, name)| name == self);
        alias.map_or(self.row().text, |&(alias, _)| alias)
    }
}

/// Operations with another name in GNU's earlier forms.
const GNU_NAMES: &[(&str, OperationName)] = &[
    ("push_tls_address", OperationName::FormTlsAddress),
    ("addr_index", OperationName::Addrx),
    ("const_index", OperationName::Constx),
];

/// Operations with another name in DWARF 6.
const SIX_NAMES: &[(&str, OperationName)] = &[
    ("form_tls_location", OperationName::FormTlsAddress),
    ("push_object_location", OperationName::PushObjectAddress),
    ("mod_trunc", OperationName::Mod),
    ("aspace_deref", OperationName::Xderef),
    ("aspace_deref_size", OperationName::XderefSize),
    ("aspace_deref_type", OperationName::XderefType),
];

impl Op<'_> {
    /// Returns the operation's row in the table.
    pub fn row(&self) -> &'static OperationRow {
        self.name().row()
    }
}

/// Opcode `DW_OP_LLVM_user`, which precedes a sub-operation.
pub const LLVM_USER: u8 = 0xe9;
