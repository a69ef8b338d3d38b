//! Operations as text, and back.
//!
//! Operations are separated by `; `, operands by blanks. Registers are printed by the name that the
//! target gives them and can be given by name or number; numbers are decimal or `0x` hexadecimal, blocks
//! `{de ad}`, expressions `(op; op)`, entries `@0x2a`. A branch prints the label that it goes to, `L0`, and
//! a label stands before its operation as `L0:`; where it goes into the middle of an operation, or out of
//! the expression, it prints the signed number of bytes. What cannot be decoded is printed as
//! `<error; the rest in hexadecimal>`, which is not read back.
//!
//! Compact spellings are printed as they were found (`lit5`, `const2u 5`, `breg7 -8`) and are read as
//! they stand, so that text and bytes determine each other, except for the padding of LEB128 numbers,
//! which the text does not have. Vendors' prefixes are printed only where they tell an opcode from the
//! standard one of the same operation (`GNU_convert`, `LLVM_nop`). Expressions in expressions are printed
//! to a depth of 16, and those below as blocks; where an expression is expected, a block can be given.
//!
//! ```
//! use eitri::op::{Dialect, Encoding, text};
//!
//! let encoding = Encoding::new(8, Dialect::Llvm);
//! let expr = text::parse("regx 2560; push_lane; lit4; mul; offset", encoding, None)?;
//! assert_eq!(text::print(expr.bytes(), encoding, None), "regx 2560; push_lane; lit4; mul; offset");
//! # Ok::<(), eitri::Error>(())
//! ```

mod parse;
mod print;

pub use parse::parse;
pub use print::print;

/// How deep expressions in expressions are printed and read.
const MAX_DEPTH: usize = 16;
