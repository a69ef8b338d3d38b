//! Bytes that a function returns.

use std::ptr::null;

use crate::error::Failure;
use crate::handle;
use crate::input::place;

/// Bytes that a function returned. `eitri_buffer_free` frees them.
pub struct eitri_buffer(Bytes);

enum Bytes {
    Bytes(Vec<u8>),
    Words(Vec<u32>),
}

impl From<Vec<u8>> for eitri_buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Bytes::Bytes(bytes))
    }
}

impl From<String> for eitri_buffer {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl From<Vec<u32>> for eitri_buffer {
    fn from(words: Vec<u32>) -> Self {
        Self(Bytes::Words(words))
    }
}

/// Writes a handle for an object to the place for the result, which is checked first.
///
/// # Safety
/// `result` is NULL or can be written to.
pub(crate) unsafe fn put<T: Send + Sync + 'static>(
    result: *mut *mut T,
    name: &str,
    object: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    // SAFETY: of the caller.
    let place = unsafe { place(result, name) }?;
    place.write(handle::new(object()?));
    Ok(())
}

/// Returns the bytes, which are valid until the buffer is freed. NULL if there are none. The words of a SPIR-V module are
/// aligned, in the machine's byte order.
#[unsafe(no_mangle)]
pub extern "C" fn eitri_buffer_data(buffer: *const eitri_buffer) -> *const u8 {
    let Ok(buffer) = handle::get(buffer, "buffer") else { return null() };
    match &buffer.0 {
        Bytes::Bytes(bytes) if bytes.is_empty() => null(),
        Bytes::Bytes(bytes) => bytes.as_ptr(),
        Bytes::Words(words) if words.is_empty() => null(),
        Bytes::Words(words) => words.as_ptr().cast(),
    }
}

/// Returns the number of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn eitri_buffer_size(buffer: *const eitri_buffer) -> usize {
    let Ok(buffer) = handle::get(buffer, "buffer") else { return 0 };
    match &buffer.0 {
        Bytes::Bytes(bytes) => bytes.len(),
        Bytes::Words(words) => size_of_val(&words[..]),
    }
}

/// Frees a buffer, and its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn eitri_buffer_free(buffer: *mut eitri_buffer) {
    handle::free(buffer);
}
