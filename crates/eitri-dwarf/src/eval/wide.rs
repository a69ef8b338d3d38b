//! Constants with more than 64 bits: `DW_OP_plus_uconst` adds a constant with its operand's type, which can be wider
//! than the decoder's numbers (DWARF 5, 2.5.1.4).

use num_bigint::{BigInt, Sign};

use super::integer::of_big;
use super::value::{BaseType, Value};

/// Returns an operation's unsigned LEB128 constant as a value with a type: its lowest bits, as many as the type has.
pub(super) fn constant(operation: &[u8], ty: BaseType) -> Value {
    let number = operation.get(1..).unwrap_or_default();
    let most = ty.size().div_ceil(7) as usize;
    let more = number.iter().take(most).take_while(|&&byte| byte >= 0x80).count();
    let digits: Vec<u8> = number.iter().take(most.min(more + 1)).map(|byte| byte & 0x7f).collect();
    of_big(ty, &BigInt::from_radix_le(Sign::Plus, &digits, 1 << 7).unwrap_or_default())
}
