//! Compression of host memory, and the sizes that it needs.

use crate::arguments::{self, Place};
use crate::buffer::Buffer;
use crate::compressor::Compressor;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::ferrosz_status;
use crate::types::{ferrosz_type, value_type};
use ferrosz::codec::with_value;
use std::ffi::c_void;

/// The largest number of bytes that the stream of a field of `elements` elements can have with a codec of blocks of rank 1,
/// such as "plain", without extents and fill values. 0 if there is no such type.
#[unsafe(no_mangle)]
pub extern "C" fn ferrosz_max_stream_bytes(r#type: ferrosz_type, elements: u64) -> u64 {
    value_type(r#type).map_or(0, |of_values| {
        ferrosz::max_compressed_len(elements, of_values)
    })
}

/// Stores in `bytes` the largest number of bytes that the stream of a field of `elements` elements can have, whatever
/// their values. A compressor with a preset must choose its codec first: ferrosz_compressor_choose.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_max_stream_bytes(
    compressor: *const Compressor,
    r#type: ferrosz_type,
    elements: u64,
    bytes: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        let bytes = Place::needed("bytes", bytes)?;
        bytes.store(
            compressor
                .0
                .max_compressed_len(elements, value_type(r#type)?)?,
        );
        Ok(())
    })
}

/// Compresses a field of `elements` values to the start of `stream`, which has room for `room` bytes, and stores the
/// stream's length in `bytes`. With FERROSZ_OUTPUT_TOO_SMALL, `bytes` is the room that is needed. A field without
/// elements has a stream, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compress(
    compressor: *const Compressor,
    r#type: ferrosz_type,
    field: *const c_void,
    elements: u64,
    stream: *mut c_void,
    room: u64,
    bytes: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice_mut::<u8>("stream", stream.cast(), room)? };
        let bytes = Place::needed("bytes", bytes)?;
        bytes.store(0);
        bytes.store_length(with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { arguments::slice::<V>("field", field.cast(), elements)? };
            compressor.0.compress_into(field, stream).map(|length| length as u64)
        }))
    })
}

/// As ferrosz_compress, to memory of the library, which ferrosz_buffer_free frees. Null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compress_to_buffer(
    compressor: *const Compressor,
    r#type: ferrosz_type,
    field: *const c_void,
    elements: u64,
    error: *mut Error,
) -> *mut Buffer {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        let stream = with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { arguments::slice::<V>("field", field.cast(), elements)? };
            compressor.0.compress(field)
        });
        stream.map(Buffer).map_err(Failure::from)
    })
}
