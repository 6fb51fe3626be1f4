//! Updates of streams in device memory.

use super::{Gpu, address};
use crate::arguments::{self, Place};
use crate::decompress::box_of;
use crate::error::Error;
use crate::guard;
use crate::status::ferrosz_status;
use crate::types::{ferrosz_type, value_type};
use ferrosz::codec::with_value;
use ferrosz::cuda::AtAddress;
use std::ffi::c_void;

/// Replaces a box of the field of the stream at the start of `stream`, device memory with room for `room` bytes, by `elements`
/// values of `type` in host memory, as ferrosz_update_new. Stores the length of the new stream in `bytes`. The chunks of the
/// box travel to the host, which codes them again. With FERROSZ_OUTPUT_TOO_SMALL, `bytes` is the room that is needed, and
/// the stream is the old one. `stream` is aligned to 16 bytes. Waits for the work on `cuda_stream`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_gpu_update(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    stream: *mut c_void,
    room: u64,
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
    r#type: ferrosz_type,
    values: *const c_void,
    elements: u64,
    bytes: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        let compressed = address("stream", stream, 1)?;
        // SAFETY: by the contract of the crate.
        let part = unsafe { box_of(dimensions, starts, lengths)? };
        let bytes = Place::needed("bytes", bytes)?;
        // SAFETY: by the contract of the crate.
        let stream = unsafe { gpu.stream(cuda_stream) };
        // SAFETY: by the contract of the crate.
        let mut compressed = unsafe { AtAddress::<u8>::new(&stream, compressed, room) };
        bytes.store_length(with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let values = unsafe { arguments::slice::<V>("values", values.cast(), elements)? };
            gpu.0.update(&stream, &mut compressed, &part, values)
        }))
    })
}

/// Copies the stream at the start of `stream`, device memory of `room` bytes, to the start of `output`, without the chunks that
/// updates replaced. `output` is other device memory with room for `output_room` bytes; the copy is not longer than the stream.
/// Stores its length in `bytes`; with FERROSZ_OUTPUT_TOO_SMALL, the room that is needed. Both are aligned to 16 bytes. Waits
/// for the work on `cuda_stream`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_gpu_compact(
    gpu: *const Gpu,
    cuda_stream: *mut c_void,
    stream: *const c_void,
    room: u64,
    output: *mut c_void,
    output_room: u64,
    bytes: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let gpu = unsafe { arguments::object("gpu", gpu)? };
        let input = address("stream", stream, 1)?;
        let output = address("output", output, 1)?;
        let bytes = Place::needed("bytes", bytes)?;
        // SAFETY: by the contract of the crate.
        let stream = unsafe { gpu.stream(cuda_stream) };
        // SAFETY: by the contract of the crate.
        let input = unsafe { AtAddress::<u8>::new(&stream, input, room) };
        // SAFETY: by the contract of the crate.
        let mut output = unsafe { AtAddress::<u8>::new(&stream, output, output_room) };
        bytes.store_length(gpu.0.compact(&stream, &input, &mut output))
    })
}
