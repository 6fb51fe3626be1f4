//! Whole streams without header.

use super::Bare;
use crate::arguments;
use crate::buffer::Buffer;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::ferrosz_status;
use ferrosz::codec::with_element;
use ferrosz_cuszp::Element;
use std::ffi::c_void;

/// Compresses an array of `elements` values to a stream of cuSZp or AATROX. Null if it fails. ferrosz_buffer_free frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_compress(
    bare: *const Bare,
    field: *const c_void,
    elements: u64,
    error: *mut Error,
) -> *mut Buffer {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let bare = unsafe { arguments::object("bare", bare)? };
        with_element!(bare.dtype, E => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { arguments::slice::<E>("field", field.cast(), elements)? };
            Ok(Buffer(bare.of::<E>()?.compress_on(bare.device, field)?))
        })
    })
}

/// Decompresses a stream of `bytes` bytes to the start of `values`, which has room for `room` values, and stores the number of
/// elements in `elements`, which may be null. Bytes behind the end of the stream are ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_decompress(
    bare: *const Bare,
    stream: *const c_void,
    bytes: u64,
    values: *mut c_void,
    room: u64,
    elements: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let bare = unsafe { arguments::object("bare", bare)? };
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        with_element!(bare.dtype, E => {
            let found = bare.of::<E>()?.decompress_on(bare.device, stream)?;
            // SAFETY: by the contract of the crate.
            unsafe { put(&found, values, room, elements) }
        })
    })
}

/// Puts values to the start of an output, and stores their number.
pub(super) unsafe fn put<T: Element>(
    found: &[T],
    values: *mut c_void,
    room: u64,
    elements: *mut u64,
) -> Result<(), Failure> {
    // SAFETY: by the contract of the crate.
    let values = unsafe { arguments::output(values, room, found.len() as u64, elements)? };
    values.copy_from_slice(found);
    Ok(())
}

/// Whether the bytes are a whole stream with these parameters, and nothing else: FERROSZ_OK if all rate bytes are valid and
/// the length is that of the bodies. The format has no checksums: damaged bodies and wrong bounds are not found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_check(
    bare: *const Bare,
    stream: *const c_void,
    bytes: u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let bare = unsafe { arguments::object("bare", bare)? };
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        with_element!(bare.dtype, E => Ok(bare.of::<E>()?.check(stream)?))
    })
}
