//! Values as streams with [ordered bits](super::order).

use super::order::{copy_bits, copy_high_bits, from_stream, to_stream};
use super::value::{BaseType, Value};

/// Returns the value that a bit stream contains. The slice is exactly as long as needed.
pub(super) fn value_of_stream(ty: BaseType, bytes: &mut [u8], big_endian: bool) -> Value {
    if big_endian {
        each_element(
            ty,
            bytes,
            |from, skip, element| {
                copy_high_bits(element, 0, from, skip, ty.bits as usize);
                from_stream(element, ty.bits.into());
            },
            |into, at, element| copy_bits(into, at, element, 0, ty.bits as usize),
        );
    }
    Value::from_bytes(ty, bytes)
}

/// Passes a value's bits as a stream.
pub(super) fn stream_of_value<T>(value: &Value, big_endian: bool, then: impl FnOnce(&[u8]) -> T) -> T {
    let ty = value.ty();
    value.with_bytes(|bytes| {
        if !big_endian {
            return then(bytes);
        }
        let mut bytes = bytes.to_vec();
        each_element(
            ty,
            &mut bytes,
            |from, skip, element| {
                copy_bits(element, 0, from, skip, ty.bits as usize);
                to_stream(element, ty.bits.into());
            },
            |into, at, element| copy_high_bits(into, at, element, 0, ty.bits as usize),
        );
        then(&bytes)
    })
}

/// Converts each vector element in place.
fn each_element(
    ty: BaseType,
    bytes: &mut [u8],
    take: impl Fn(&[u8], usize, &mut [u8]),
    put: impl Fn(&mut [u8], usize, &[u8]),
) {
    let mut element = vec![0; ty.bits.div_ceil(8) as usize];
    // Elements can share bytes, so that converting in place would read converted bits.
    let from = bytes.to_vec();
    bytes.fill(0);
    for index in 0..ty.elements as usize {
        let start = index * ty.bits as usize;
        element.fill(0);
        take(&from, start, &mut element);
        put(bytes, start, &element);
    }
}
