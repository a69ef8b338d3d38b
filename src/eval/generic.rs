//! Arithmetic on numbers of the generic type, of up to 64 bits: a fast equivalent of [`arith`](super::arith) for many
//! numbers.
//!
//! In operands, bits above the type's size are 0; in results they are arbitrary. `unused` is their number, of 64.

use super::arith::{Binary, Compare, Unary};

/// Returns the number in two's complement.
#[inline(always)]
pub(super) fn signed(unused: u32, number: u64) -> i64 {
    ((number << unused) as i64) >> unused
}

/// Returns `None` for a division by zero.
#[inline(always)]
pub(super) fn binary(op: Binary, unused: u32, a: u64, b: u64) -> Option<u64> {
    let signed = |number| signed(unused, number);
    Some(match op {
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Plus => a.wrapping_add(b),
        Binary::Minus => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div | Binary::Mod | Binary::ModFloor if b == 0 => return None,
        Binary::Div => signed(a).wrapping_div(signed(b)) as u64,
        Binary::Mod => a % b,
        Binary::ModFloor => {
            let (rest, b) = (signed(a).wrapping_rem(signed(b)), signed(b));
            if rest != 0 && (rest < 0) != (b < 0) { (rest + b) as u64 } else { rest as u64 }
        }
        Binary::Shl => a.checked_shl(shift(b)).unwrap_or(0),
        Binary::Shr => a.checked_shr(shift(b)).unwrap_or(0),
        Binary::Shra => (signed(a) >> b.min(63)) as u64,
    })
}

#[inline(always)]
fn shift(by: u64) -> u32 {
    by.min(64) as u32
}

#[inline(always)]
pub(super) fn unary(op: Unary, unused: u32, a: u64) -> u64 {
    match op {
        Unary::Abs => signed(unused, a).unsigned_abs(),
        Unary::Neg => a.wrapping_neg(),
        Unary::Not => !a,
    }
}

/// Returns 1 if the comparison is true, otherwise 0.
#[inline(always)]
pub(super) fn compare(op: Compare, unused: u32, a: u64, b: u64) -> u64 {
    let (a, b) = (signed(unused, a), signed(unused, b));
    let holds = match op {
        Compare::Eq => a == b,
        Compare::Ge => a >= b,
        Compare::Gt => a > b,
        Compare::Le => a <= b,
        Compare::Lt => a < b,
        Compare::Ne => a != b,
    };
    holds.into()
}
