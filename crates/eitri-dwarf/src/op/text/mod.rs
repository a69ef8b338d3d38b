//! Text form of operations, printed and parsed.
//!
//! `; ` separates operations, spaces separate operands. Registers are printed with the target's names, and can be given
//! by name or number; numbers are decimal or `0x` hexadecimal, blocks `{de ad}`, expressions `(op; op)`, entries
//! `@0x2a`. A branch prints the label of its target, `L0`, and the target operation has the prefix `L0:`; a branch into
//! the middle of an operation, or out of the expression, prints the signed number of bytes. Undecodable bytes are
//! printed as `<error; the rest in hexadecimal>`, which cannot be parsed.
//!
//! Compact spellings are printed as decoded (`lit5`, `const2u 5`, `breg7 -8`) and parsed as written, so that text and
//! bytes determine each other, except for the padding of LEB128 numbers. A vendor prefix is printed only if it
//! distinguishes an opcode from the standard opcode of the same operation (`GNU_convert`, `LLVM_nop`). Nested
//! expressions are printed to a depth of 16, and deeper expressions as blocks; the parser accepts a block instead of an
//! expression, too.
//!
//! ```
//! use eitri_dwarf::op::{Dialect, Encoding, text};
//!
//! let encoding = Encoding::new(8, Dialect::Llvm);
//! let expr = text::parse("regx 2560; push_lane; lit4; mul; offset", encoding, None)?;
//! assert_eq!(text::print(expr.bytes(), encoding, None), "regx 2560; push_lane; lit4; mul; offset");
//! # Ok::<(), eitri_dwarf::Error>(())
//! ```

mod parse;
mod print;

pub use parse::parse;
pub use print::print;
pub(crate) use print::print_with;

use crate::error::{Error, Result};

/// Returns the bytes of an expression that is given in hexadecimal digits, with or without spaces. `None` for a text.
///
/// ```
/// use eitri_dwarf::op::text::bytes;
///
/// assert_eq!(bytes("31 9f").expect("digits")?, [0x31, 0x9f]);
/// assert!(bytes("lit1; stack_value").is_none());
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
///
/// # Errors
/// [`BadArgument`](crate::error::ErrorKind::BadArgument) for an odd number of digits.
pub fn bytes(expression: &str) -> Option<Result<Vec<u8>>> {
    let digits: String = expression.chars().filter(|char| !char.is_whitespace()).collect();
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |start: usize| u8::from_str_radix(digits.get(start..start + 2)?, 16).ok();
    let bytes = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>();
    Some(bytes.ok_or_else(|| {
        Error::bad_argument(format!(
            "`{expression}` is not a list of bytes; expected two hexadecimal digits for each byte"
        ))
    }))
}

/// Maximum nesting depth of printed and parsed expressions.
const MAX_DEPTH: usize = 16;
