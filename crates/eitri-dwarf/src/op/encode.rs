//! Encodes operations to bytes.

use super::leb::{write_byte_uleb, write_sleb, write_uleb};
use super::operand::{PointerForm, fits_signed, fits_unsigned, operand_type};
use super::table::{code, for_each_op};
use super::{
    Compact, Dialect, EncodedAddress, Encoding, LLVM_USER, Op, Opcode, OperationName, OperationRow, Spelling,
};
use crate::error::{Construct, Error, ErrorKind, Result};

/// Appends encoded operations to bytes, with a method for each operation.
///
/// The encoder chooses the shortest encoding (`lit5` for `constu(5)`, `breg3` for `bregx(Reg(3), …)`). In a DWARF
/// version before the version that introduced an operation, it uses GNU's earlier form, if there is one.
///
/// # Errors
/// [`finish`](Self::finish) returns the first error: an operation that the version or dialect lacks, or an operand
/// that exceeds its encoding.
#[derive(Debug)]
pub struct Encoder<'b> {
    pub(super) out: &'b mut Vec<u8>,
    encoding: Encoding,
    failed: Option<Failure>,
}

/// Reason why an operation could not be encoded.
#[derive(Debug, Clone, Copy)]
pub(super) enum Failure {
    /// The dialect lacks the operation.
    Missing(OperationName),
    /// The operand needs more bits than its encoding has.
    TooLarge { name: OperationName, needs: u64, has: u64 },
    /// The opcode does not encode the operation, or does not encode it with this operand.
    Misspelled { name: OperationName, code: u8 },
    /// The pointer encoding has no value format.
    Pointer { name: OperationName, encoding: u8 },
}

impl<'b> Encoder<'b> {
    /// Returns an encoder that appends to `out`.
    #[inline]
    pub fn new(out: &'b mut Vec<u8>, encoding: Encoding) -> Self {
        Self { out, encoding, failed: None }
    }

    /// Returns the encoding parameters.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns an independent encoder that appends to the same bytes.
    pub fn again(&mut self) -> Encoder<'_> {
        Encoder::new(self.out, self.encoding)
    }

    /// Returns the length of `out` in bytes.
    #[inline]
    pub fn position(&self) -> usize {
        self.out.len()
    }

    /// Whether an operation could not be encoded. [`finish`](Self::finish) then returns the error.
    #[inline]
    #[doc(hidden)]
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Ends the expression.
    ///
    /// # Errors
    /// After an error the appended bytes are invalid.
    ///
    /// * [`ErrorKind::Inexpressible`]: the version or the dialect lacks an operation.
    /// * [`ErrorKind::DoesNotFit`]: an operand exceeds its encoding: a fixed-size entry offset, an address, or a block
    ///   length in one byte.
    /// * [`ErrorKind::BadArgument`]: a pointer encoding without a value, or a [`Spelling`] of another operation.
    #[inline]
    pub fn finish(self) -> Result<()> {
        match self.failed {
            None => Ok(()),
            Some(failure) => Err(failure.error(&self.encoding)),
        }
    }

    /// Appends raw bytes: operations that are not in the table.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }

    /// Appends an operation.
    pub fn op(&mut self, op: Op<'_>) -> &mut Self {
        dispatch(self, op);
        self
    }

    /// Appends an operation in its decoded spelling, including the padding of LEB128 numbers.
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish).
    pub fn spelled(&mut self, op: Op<'_>, spelling: Spelling) -> &mut Self {
        let name = op.name();
        let code = spelling.code();
        let mut lebs = Spelled { spelling, next: 0 };
        if let Some(family) = Compact::from_opcode(code) {
            self.compact(op, family, code, &mut lebs);
        } else if is_general_opcode(op.row(), code, &self.encoding) {
            self.out.push(code);
            if code == LLVM_USER && self.encoding.dialect == Dialect::Llvm {
                let start = self.out.len();
                self.out.extend(op.row().user.get());
                self.pad(start, spelling.sub_bytes(), false);
            }
            operands(self, op, &mut lebs);
        } else {
            self.fail(Failure::Misspelled { name, code });
        }
        self
    }

    /// Appends an operation's general opcode. Returns whether the version and the dialect have the operation.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the columns of the table, all of them constants")]
    fn opcode(
        &mut self,
        name: OperationName,
        std: Opcode,
        gnu: Opcode,
        user: Opcode,
        legacy: Opcode,
        six: Opcode,
        since: u16,
    ) -> bool {
        // The first two comparisons are between constants, so that the version is only tested for later operations.
        if let Opcode::Is(code) = std
            && (since <= 2 || since <= self.encoding.version)
        {
            self.out.push(code);
            return true;
        }
        if let (Dialect::Llvm, Some(code)) = (self.encoding.dialect, user.get()) {
            self.out.extend_from_slice(&[LLVM_USER, code]);
            return true;
        }
        let vendor = match self.encoding.dialect {
            Dialect::Dwarf5 | Dialect::Llvm => None,
            Dialect::Legacy => legacy.get(),
            Dialect::Dwarf6 => match six {
                Opcode::Is(code) => Some(code),
                Opcode::Unassigned => self.encoding.draft.get(name),
                Opcode::None => None,
            },
        };
        match vendor.or(gnu.get()) {
            Some(code) => self.out.push(code),
            None => self.fail(Failure::Missing(name)),
        }
        vendor.or(gnu.get()).is_some()
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.failed.get_or_insert(failure);
    }

    // Operand writers.

    #[inline]
    pub(super) fn fixed(&mut self, value: u64, bytes: u8) {
        let bytes = usize::from(bytes.min(8));
        if self.encoding.big_endian {
            self.out.extend_from_slice(&value.to_be_bytes()[8 - bytes..]);
        } else {
            self.out.extend_from_slice(&value.to_le_bytes()[..bytes]);
        }
    }

    #[inline]
    fn unsigned(&mut self, name: OperationName, value: u64, bytes: u8) {
        if !fits_unsigned(value, bytes) {
            let needs = (64 - value.leading_zeros()).into();
            self.fail(Failure::TooLarge { name, needs, has: 8 * u64::from(bytes) });
        }
        self.fixed(value, bytes);
    }

    #[inline]
    fn uleb(&mut self, value: u64, lebs: &mut impl Padding) {
        let start = self.out.len();
        write_uleb(self.out, value);
        self.pad(start, lebs.next(), false);
    }

    #[inline]
    pub(super) fn sleb(&mut self, value: i64, lebs: &mut impl Padding) {
        let start = self.out.len();
        write_sleb(self.out, value);
        self.pad(start, lebs.next(), value < 0);
    }

    /// Pads the LEB128 number from `start` to the end of the bytes to `len` bytes.
    #[inline]
    fn pad(&mut self, start: usize, len: usize, negative: bool) {
        while self.out.len() - start < len {
            if let Some(last) = self.out.last_mut() {
                *last |= 0x80;
            }
            self.out.push(if negative { 0x7f } else { 0 });
        }
    }

    fn pointer(&mut self, name: OperationName, address: EncodedAddress, lebs: &mut impl Padding) {
        let EncodedAddress { encoding, value } = address;
        self.out.push(encoding);
        match EncodedAddress::form(encoding, self.encoding.address_bytes) {
            Some(PointerForm::Uleb) => self.uleb(value, lebs),
            Some(PointerForm::Sleb) => self.sleb(value as i64, lebs),
            Some(PointerForm::Unsigned(bytes)) => self.unsigned(name, value, bytes),
            Some(PointerForm::Signed(bytes)) => {
                if !fits_signed(value, bytes) {
                    let needs = 8 * super::sleb_len(value as i64) as u64;
                    self.fail(Failure::TooLarge { name, needs, has: 8 * u64::from(bytes) });
                }
                self.fixed(value, bytes);
            }
            None => self.fail(Failure::Pointer { name, encoding }),
        }
    }
}

/// Minimum lengths in bytes of an operation's LEB128 numbers, in operand order.
pub(super) trait Padding {
    fn next(&mut self) -> usize;
}

/// Numbers without padding.
struct Shortest;

impl Padding for Shortest {
    #[inline(always)]
    fn next(&mut self) -> usize {
        0
    }
}

/// Numbers padded to their decoded lengths.
pub(super) struct Spelled {
    spelling: Spelling,
    next: usize,
}

impl Padding for Spelled {
    fn next(&mut self) -> usize {
        self.next += 1;
        self.spelling.leb_bytes(self.next - 1)
    }
}

/// Whether the opcode is a general (not compact) encoding of the operation.
fn is_general_opcode(row: &OperationRow, code: u8, encoding: &Encoding) -> bool {
    let is = Opcode::Is(code);
    let is_vendor = match encoding.dialect {
        Dialect::Dwarf5 => false,
        Dialect::Llvm => code == LLVM_USER && row.user.get().is_some(),
        Dialect::Legacy => row.legacy == is,
        Dialect::Dwarf6 => {
            row.six == is || row.six == Opcode::Unassigned && encoding.draft.get(row.name) == Some(code)
        }
    };
    row.std == is || row.gnu == is || is_vendor
}

impl Failure {
    fn error(self, encoding: &Encoding) -> Error {
        let text = |name: OperationName| name.row().text;
        match self {
            Self::Missing(name) => missing(name, encoding),
            Self::TooLarge { name, needs, has } => {
                ErrorKind::DoesNotFit { what: format!("operand of `{}`", text(name)), needs, has }.into()
            }
            Self::Misspelled { name, code } => Error::bad_argument(format!(
                "opcode {code:#04x} cannot encode operation `{}` with this operand",
                text(name)
            )),
            Self::Pointer { name, encoding } => Error::bad_argument(format!(
                "operation `{}` has pointer encoding {encoding:#04x}, which has no value",
                text(name)
            )),
        }
    }
}

pub(super) fn missing(name: OperationName, encoding: &Encoding) -> Error {
    if name.row().since > encoding.version {
        let what = Construct::Operation(name.row().text);
        let consumer = format!("a reader of DWARF {}", encoding.version);
        return ErrorKind::Inexpressible { what, consumer }.into();
    }
    let consumer = match encoding.dialect {
        Dialect::Dwarf5 => "a reader of plain DWARF 5",
        Dialect::Llvm => "a reader of the LLVM operations",
        Dialect::Legacy => "a reader of the one-byte AMD operations",
        Dialect::Dwarf6 => "a reader of the DWARF 6 draft, without a number from the caller,",
    };
    ErrorKind::Inexpressible { what: Construct::Operation(name.row().text), consumer: consumer.into() }.into()
}

/// Writes one operand of the operation `$name`.
#[rustfmt::skip]
macro_rules! write_operand {
    ($e:ident $lebs:ident $name:expr, U8 $value:ident) => { $e.out.push($value) };
    ($e:ident $lebs:ident $name:expr, Uleb $value:ident) => { $e.uleb($value, $lebs) };
    ($e:ident $lebs:ident $name:expr, Sleb $value:ident) => { $e.sleb($value, $lebs) };
    ($e:ident $lebs:ident $name:expr, Register $value:ident) => { $e.uleb($value.0, $lebs) };
    ($e:ident $lebs:ident $name:expr, Address $value:ident) => { $e.unsigned($name, $value, $e.encoding.address_bytes) };
    ($e:ident $lebs:ident $name:expr, Branch $value:ident) => { $e.fixed($value as u64, 2) };
    ($e:ident $lebs:ident $name:expr, Entry2 $value:ident) => { $e.unsigned($name, $value, 2) };
    ($e:ident $lebs:ident $name:expr, Entry4 $value:ident) => { $e.unsigned($name, $value, 4) };
    ($e:ident $lebs:ident $name:expr, EntrySection $value:ident) => { $e.unsigned($name, $value, $e.encoding.entry_bytes()) };
    ($e:ident $lebs:ident $name:expr, TypeEntry $value:ident) => { $e.uleb($value, $lebs) };
    ($e:ident $lebs:ident $name:expr, Block $value:ident) => {{
        $e.uleb($value.len() as u64, $lebs);
        $e.out.extend_from_slice($value);
    }};
    ($e:ident $lebs:ident $name:expr, Block1 $value:ident) => {{
        $e.unsigned($name, $value.len() as u64, 1);
        $e.out.extend_from_slice($value);
    }};
    ($e:ident $lebs:ident $name:expr, Expression $value:ident) => { write_operand!($e $lebs $name, Block $value) };
    ($e:ident $lebs:ident $name:expr, Encoded $value:ident) => { $e.pointer($name, $value, $lebs) };
}

macro_rules! make_encoder { ($(
    $variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
    [$std:tt $gnu:tt $user:tt $legacy:tt $six:tt] ($in:tt => $out:tt) $since:literal $cfi:tt;
)*) => {
    impl<'b> Encoder<'b> { $(
        encoder_method!($variant $method $text { $($field: $kind),* } [$std $gnu $user $legacy $six] $since);
    )* }

    fn dispatch(encoder: &mut Encoder<'_>, op: Op<'_>) {
        match op { $(Op::$variant { $($field),* } => { encoder.$method($($field),*); })* }
    }

    fn operands(encoder: &mut Encoder<'_>, op: Op<'_>, lebs: &mut Spelled) {
        match op { $(Op::$variant { $($field),* } => {
            $(write_operand!(encoder lebs OperationName::$variant, $kind $field);)*
        })* }
    }
} }

/// Defines the method for one operation. The first five operations have methods in `compact`.
macro_rules! encoder_method {
    (ConstU $($rest:tt)*) => {};
    (ConstS $($rest:tt)*) => {};
    (RegX $($rest:tt)*) => {};
    (BregX $($rest:tt)*) => {};
    (Pick $($rest:tt)*) => {};
    // An opcode that all dialects share is appended together with its single number, in one write.
    ($variant:ident $method:ident $text:literal { $field:ident: Uleb } [$std:literal _ $($codes:tt)*] $since:literal) => {
        #[doc = concat!("Appends `DW_OP_", $text, "`.")]
        #[inline]
        pub fn $method(&mut self, $field: u64) -> &mut Self {
            if $since > 2 && self.encoding.version < $since {
                self.fail(Failure::Missing(OperationName::$variant));
            }
            write_byte_uleb(self.out, $std, $field);
            self
        }
    };
    ($variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
     [$std:tt $gnu:tt $user:tt $legacy:tt $six:tt] $since:literal) => {
        #[doc = concat!("Appends `DW_OP_", $text, "`.")]
        #[inline]
        #[allow(clippy::extra_unused_lifetimes, reason = "only borrowed operands have it")]
        pub fn $method<'a>(&mut self $(, $field: operand_type!($kind))*) -> &mut Self {
            if self.opcode(
                OperationName::$variant, code!($std), code!($gnu), code!($user), code!($legacy), code!($six), $since,
            ) {
                let _lebs = &mut Shortest;
                $(write_operand!(self _lebs OperationName::$variant, $kind $field);)*
            }
            self
        }
    };
}
for_each_op!(make_encoder);
