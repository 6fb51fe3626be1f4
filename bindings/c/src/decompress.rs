//! Decompression to host memory.

use crate::arguments::{self, Place};
use crate::decompressor::Decompressor;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::ferrosz_status;
use crate::types::{ferrosz_type, value_type};
use ferrosz::Part;
use ferrosz::codec::with_value;
use std::ffi::c_void;
use std::ops::Range;

/// Decompresses a stream of `bytes` bytes to the start of `values`, which has room for `room` values of `type`, and
/// stores the number of elements in `elements`, which may be null. With FERROSZ_OUTPUT_TOO_SMALL, `elements` is the room
/// that is needed. `decompressor` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_decompress(
    decompressor: *const Decompressor,
    stream: *const c_void,
    bytes: u64,
    r#type: ferrosz_type,
    values: *mut c_void,
    room: u64,
    elements: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    let output = (r#type, values, room, elements);
    // SAFETY: by the contract of the crate.
    unsafe { decompress(decompressor, (stream, bytes), || Ok(None), output, error) }
}

/// As ferrosz_decompress, for a box of the field: `starts` and `lengths` of as many dimensions as the field has, slowest
/// first. Only chunks that hold some of the box are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_decompress_box(
    decompressor: *const Decompressor,
    stream: *const c_void,
    bytes: u64,
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
    r#type: ferrosz_type,
    values: *mut c_void,
    room: u64,
    elements: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    // SAFETY: by the contract of the crate.
    let part = || unsafe { box_of(dimensions, starts, lengths) }.map(Some);
    let output = (r#type, values, room, elements);
    // SAFETY: by the contract of the crate.
    unsafe { decompress(decompressor, (stream, bytes), part, output, error) }
}

/// Decompresses a stream, or a part of it: to values of a type, for which there is room for so many, and stores their number.
unsafe fn decompress(
    decompressor: *const Decompressor,
    (stream, bytes): (*const c_void, u64),
    part: impl FnOnce() -> Result<Option<Part>, Failure>,
    (number, values, room, elements): (ferrosz_type, *mut c_void, u64, *mut u64),
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let decompressor = unsafe { Decompressor::settings(decompressor) };
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        let part = part()?;
        let elements = Place::optional(elements);
        elements.store(0);
        let result = with_value!(value_type(number)?, V => {
            // SAFETY: by the contract of the crate.
            let values = unsafe { arguments::slice_mut::<V>("values", values.cast(), room)? };
            match &part {
                None => decompressor.decompress_into(stream, values),
                Some(part) => decompressor.decompress_part_into(stream, part, values),
            }
        });
        match &result {
            Ok(count) => elements.store(*count as u64),
            Err(ferrosz::Error::OutputTooSmall { needed, .. }) => elements.store(*needed),
            Err(_) => {}
        }
        result?;
        Ok(())
    })
}

/// The box of these starts and lengths.
pub(crate) unsafe fn box_of(
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
) -> Result<Part, Failure> {
    // SAFETY: by the contract of the crate.
    unsafe { ranges(dimensions, starts, lengths) }.map(Part::Box)
}

/// The ranges along each axis of these starts and lengths.
pub(crate) unsafe fn ranges(
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
) -> Result<Vec<Range<u64>>, Failure> {
    // SAFETY: by the contract of the crate.
    let starts = unsafe { arguments::slice("starts", starts, dimensions)? };
    // SAFETY: by the contract of the crate.
    let lengths = unsafe { arguments::slice("lengths", lengths, dimensions)? };
    let range = |(start, length): (&u64, &u64)| -> Result<Range<u64>, Failure> {
        let end = start.checked_add(*length).ok_or_else(|| {
            Failure::argument("lengths", format!("{start} + {length} exceeds 2^64 - 1"))
        })?;
        Ok(*start..end)
    };
    starts.iter().zip(lengths).map(range).collect()
}
