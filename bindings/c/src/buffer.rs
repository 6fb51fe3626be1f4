//! Memory of the library that holds a stream.

use crate::guard;
use std::ptr;

/// A stream in memory of the library.
pub struct Buffer(pub(crate) Vec<u8>);

/// The bytes of a buffer, until it is freed; null for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_buffer_data(buffer: *const Buffer) -> *const u8 {
    // SAFETY: by the contract of the crate.
    unsafe { buffer.as_ref() }.map_or(ptr::null(), |buffer| buffer.0.as_ptr())
}

/// The number of bytes of a buffer; 0 for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_buffer_bytes(buffer: *const Buffer) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { buffer.as_ref() }.map_or(0, |buffer| buffer.0.len() as u64)
}

/// Frees a buffer. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_buffer_free(buffer: *mut Buffer) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(buffer) };
}
