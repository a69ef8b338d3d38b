//! Arithmetic on integers with up to 64 bits.
//!
//! In operands, bits above the type's size are 0; in results they are arbitrary. `unused` is how many of 64 bits
//! these are.

use core::cmp::Ordering;

/// Operation on two values with one type, with a result of the same type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    And,
    Div,
    Minus,
    Mod,
    ModFloor,
    Mul,
    Or,
    Plus,
    Shl,
    Shr,
    Shra,
    Xor,
}

/// Operation on one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Abs,
    Neg,
    Not,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compare {
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
}

impl Compare {
    /// Whether the comparison is true for operands in this order.
    #[inline]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Ge => order.is_ge(),
            Self::Gt => order.is_gt(),
            Self::Le => order.is_le(),
            Self::Lt => order.is_lt(),
            Self::Ne => order.is_ne(),
        }
    }
}

/// How a type's numbers are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signs {
    /// The generic type: `div`, `mod_floor`, `shra` and comparisons take it as signed, the rest as unsigned.
    Generic,
    Signed,
    Unsigned,
}

/// Returns the number in two's complement.
#[inline]
pub(super) fn signed(unused: u32, number: u64) -> i64 {
    ((number << unused) as i64) >> unused
}

/// Returns `None` for a division by zero. Shift counts are always unsigned.
#[inline]
pub(super) fn binary(op: Binary, signs: Signs, unused: u32, a: u64, b: u64) -> Option<u64> {
    let signed = |number| signed(unused, number);
    let is_like_signed = signs != Signs::Unsigned;
    Some(match op {
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Plus => a.wrapping_add(b),
        Binary::Minus => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div | Binary::Mod | Binary::ModFloor if b == 0 => return None,
        Binary::Div if is_like_signed => signed(a).wrapping_div(signed(b)) as u64,
        Binary::Div => a / b,
        Binary::Mod if signs == Signs::Signed => signed(a).wrapping_rem(signed(b)) as u64,
        // For unsigned numbers both remainders are equal, so that the operation would be redundant for the generic
        // type unless it is taken as signed.
        Binary::ModFloor if is_like_signed => {
            let rest = signed(a).wrapping_rem(signed(b));
            let b = signed(b);
            if rest != 0 && (rest < 0) != (b < 0) { (rest + b) as u64 } else { rest as u64 }
        }
        Binary::Mod | Binary::ModFloor => a % b,
        Binary::Shl => a.checked_shl(shift(b)).unwrap_or(0),
        // 63 places leave only the sign, as any larger count does.
        Binary::Shra if is_like_signed => (signed(a) >> b.min(63)) as u64,
        Binary::Shr | Binary::Shra => a.checked_shr(shift(b)).unwrap_or(0),
    })
}

#[inline]
fn shift(by: u64) -> u32 {
    by.min(64) as u32
}

/// `DW_OP_abs` "interprets it as a signed value" of any type.
#[inline]
pub(super) fn unary(op: Unary, unused: u32, a: u64) -> u64 {
    match op {
        Unary::Abs => signed(unused, a).unsigned_abs(),
        Unary::Neg => a.wrapping_neg(),
        Unary::Not => !a,
    }
}

#[inline]
pub(super) fn order(signs: Signs, unused: u32, a: u64, b: u64) -> Ordering {
    match signs {
        Signs::Unsigned => a.cmp(&b),
        Signs::Generic | Signs::Signed => signed(unused, a).cmp(&signed(unused, b)),
    }
}

/// Returns 1 if the comparison of generic-type numbers is true, otherwise 0.
#[inline]
pub(super) fn compare(op: Compare, unused: u32, a: u64, b: u64) -> u64 {
    op.holds(order(Signs::Generic, unused, a, b)).into()
}
