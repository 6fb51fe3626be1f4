//! Properties of a stream, from its header and its chunk table.

use crate::arguments;
use crate::error::Error;
use crate::guard;
use crate::types::{ferrosz_bound_mode, ferrosz_type};
use std::ffi::{CString, c_char, c_void};
use std::ptr;

/// The properties of a stream.
pub struct Info {
    of_stream: ferrosz::Info,
    codec: CString,
    axes: CString,
}

/// Reads the properties of a stream from its first bytes; its chunks may be missing. Null if it fails. Free it with
/// ferrosz_info_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_new(
    stream: *const c_void,
    bytes: u64,
    error: *mut Error,
) -> *mut Info {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        let of_stream = ferrosz::info(stream)?;
        // Names have no zero bytes.
        let text = |name: String| CString::new(name).unwrap_or_default();
        Ok(Info {
            codec: text(of_stream.codec.to_string()),
            axes: text(of_stream.axes.to_string()),
            of_stream,
        })
    })
}

/// Frees an info. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_free(info: *mut Info) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(info) };
}

/// A property of an info; of a null pointer, `none`.
unsafe fn get<T>(info: *const Info, none: T, property: impl FnOnce(&Info) -> T) -> T {
    // SAFETY: by the contract of the crate.
    unsafe { info.as_ref() }.map_or(none, property)
}

/// The type of the values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_type(info: *const Info) -> ferrosz_type {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.dtype.id().into()) }
}

/// Whether the values are the parts of complex numbers: along the last axis, of length 2, the real and the imaginary part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_is_complex(info: *const Info) -> bool {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, false, |info| info.of_stream.is_complex) }
}

/// The name of the codec, until the info is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_codec(info: *const Info) -> *const c_char {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, c"".as_ptr(), |info| info.codec.as_ptr()) }
}

/// The dimensions of blocks or tiles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_rank(info: *const Info) -> u32 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.rank.into()) }
}

/// The tiles of a chunk of a codec of tiles; 0 with codecs of blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_chunk_tiles(info: *const Info) -> u32 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.chunk_tiles.unwrap_or(0)) }
}

/// How many levels are coded apart.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_levels_apart(info: *const Info) -> u32 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.levels_apart.into()) }
}

/// The role of each axis, as "s,z,y,x", until the info is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_axes(info: *const Info) -> *const c_char {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, c"".as_ptr(), |info| info.axes.as_ptr()) }
}

/// The number of dimensions of the field, 1 to 8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_dimensions(info: *const Info) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.extents.len() as u64) }
}

/// The extents of the field, slowest dimension first: ferrosz_info_dimensions lengths, until the info is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_extents(info: *const Info) -> *const u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, ptr::null(), |info| info.of_stream.extents.as_ptr()) }
}

/// The number of elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_elements(info: *const Info) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.elements) }
}

/// The mode of the error bound, as the user gave it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_bound_mode(info: *const Info) -> ferrosz_bound_mode {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.bound.mode().id().into()) }
}

/// The error bound, as the user gave it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_bound(info: *const Info) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0.0, |info| info.of_stream.bound.value()) }
}

/// The absolute error that follows from the bound; 0 is lossless. Infinity with FERROSZ_PWREL, unless the stream is
/// lossless.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_absolute_error(info: *const Info) -> f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0.0, |info| info.of_stream.absolute_error) }
}

/// The number of fill values; NaN may be among them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_fill_count(info: *const Info) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.fills.len() as u64) }
}

/// The fill values: ferrosz_info_fill_count numbers, until the info is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_fills(info: *const Info) -> *const f64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, ptr::null(), |info| info.of_stream.fills.as_ptr()) }
}

/// Whether the signs of all values are coded apart, and so come back with any codec.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_keeps_signs(info: *const Info) -> bool {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, false, |info| info.of_stream.keeps_signs) }
}

/// Whether zeros are coded apart, and so come back with any codec.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_keeps_zeros(info: *const Info) -> bool {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, false, |info| info.of_stream.keeps_zeros) }
}

/// The number of chunks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_chunks(info: *const Info) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.chunks) }
}

/// Bytes of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_stream_bytes(info: *const Info) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.stream_bytes) }
}

/// Bytes of the uncompressed field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_info_field_bytes(info: *const Info) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(info, 0, |info| info.of_stream.field_bytes) }
}
