//! The text of an object that cannot be printed as a whole: the callback gets all that the library prints.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use eitri::contents::{PrintOptions, print_to};
use eitri_c::*;

unsafe extern "C" fn write(context: *mut c_void, data: *const c_char, size: usize) -> c_int {
    // SAFETY: the context is the text below, and the data are there.
    let (text, data) =
        unsafe { (&mut *context.cast::<Vec<u8>>(), std::slice::from_raw_parts(data.cast::<u8>(), size)) };
    text.extend_from_slice(data);
    0
}

#[test]
fn text_before_an_error_is_passed() {
    let object = include_bytes!("../../../examples/data/squares.o");
    let mut counts = [0, 0];
    for at in (0x40..object.len()).step_by(7) {
        let mut damaged = object.to_vec();
        damaged[at] ^= 0xff;
        let [mut text, mut expected] = [const { Vec::<u8>::new() }; 2];
        let printed = print_to(&mut expected, &damaged, &PrintOptions::default());
        let (data, context) = (damaged.as_ptr().cast(), (&raw mut text).cast());
        // SAFETY: the object is there, and the callback takes the text.
        let result = unsafe { eitri_dump(data, damaged.len(), 0, Some(write), context, null_mut()) };
        assert_eq!(result == eitri_result::EITRI_OK, printed.is_ok(), "{at:#x}: {printed:?}");
        assert!(text == expected, "{at:#x}: {} of {} bytes", text.len(), expected.len());
        counts[usize::from(printed.is_err() && !text.is_empty())] += 1;
    }
    assert!(counts[0] > 50 && counts[1] > 3, "{counts:?}");
}
