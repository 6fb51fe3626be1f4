//! Many fields in one call.

use crate::arguments::{self, Place};
use crate::compressor::Compressor;
use crate::decompressor::Decompressor;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::{FERROSZ_OK, ferrosz_status};
use crate::types::{ferrosz_type, value_type};
use ferrosz::Value;
use ferrosz::codec::with_value;
use std::ffi::c_void;
use std::ptr;

/// The streams of many fields.
pub struct Batch(Vec<Vec<u8>>);

/// Compresses `count` fields of `type`, field i with `elements[i]` values at `fields[i]`, each to a stream of its own with the
/// bytes of ferrosz_compress. On a CPU they are compressed at the same time; device "auto" is the CPU here. A GPU gets all of
/// them in one launch, if the codec is one of blocks, no extents are set, and the values are FERROSZ_F32 or FERROSZ_F64. Null
/// if one field cannot be compressed; the text has its number. Free it with ferrosz_batch_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compress_batch(
    compressor: *const Compressor,
    r#type: ferrosz_type,
    fields: *const *const c_void,
    elements: *const u64,
    count: u64,
    error: *mut Error,
) -> *mut Batch {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        // SAFETY: by the contract of the crate.
        let fields = unsafe { arguments::slice("fields", fields, count)? };
        // SAFETY: by the contract of the crate.
        let elements = unsafe { arguments::slice("elements", elements, count)? };
        let streams = with_value!(value_type(r#type)?, V => {
            let mut values: Vec<&[V]> = Vec::new();
            for (number, (field, elements)) in fields.iter().zip(elements).enumerate() {
                let name = format!("fields[{number}]");
                // SAFETY: by the contract of the crate.
                values.push(unsafe { arguments::slice(&name, field.cast(), *elements)? });
            }
            compressor.0.compress_batch(&values)
        });
        let streams = streams.into_iter().enumerate().map(|(number, stream)| {
            stream.map_err(|error| numbered("fields", number, error.into()))
        });
        streams.collect::<Result<_, _>>().map(Batch)
    })
}

/// Frees a batch and its streams. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_batch_free(batch: *mut Batch) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(batch) };
}

/// The bytes of stream `number` of a batch, until the batch is freed; null if there is no such stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_batch_stream(batch: *const Batch, number: u64) -> *const u8 {
    // SAFETY: by the contract of the crate.
    unsafe { stream(batch, number) }.map_or(ptr::null(), <[u8]>::as_ptr)
}

/// The number of bytes of stream `number` of a batch; 0 if there is no such stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_batch_stream_bytes(batch: *const Batch, number: u64) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { stream(batch, number) }.map_or(0, |stream| stream.len() as u64)
}

unsafe fn stream<'a>(batch: *const Batch, number: u64) -> Option<&'a [u8]> {
    // SAFETY: by the contract of the crate.
    let batch = unsafe { batch.as_ref() }?;
    Some(batch.0.get(usize::try_from(number).ok()?)?)
}

/// Decompresses `count` streams of fields of `type`: stream i, which has `bytes[i]` bytes at `streams[i]`, to the start of
/// `values[i]`, which has room for `rooms[i]` values. A stream that fails spoils no other one. `statuses`, which may be null,
/// gets the status of each stream; the result is the first one that is not FERROSZ_OK, and the text has its number.
/// `decompressor` may be null. The device is used as by ferrosz_compress_batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_decompress_batch(
    decompressor: *const Decompressor,
    streams: *const *const c_void,
    bytes: *const u64,
    r#type: ferrosz_type,
    values: *const *mut c_void,
    rooms: *const u64,
    count: u64,
    statuses: *mut ferrosz_status,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let decompressor = unsafe { Decompressor::settings(decompressor) };
        // SAFETY: by the contract of the crate.
        let coded = unsafe { inputs(streams, bytes, count)? };
        // SAFETY: by the contract of the crate.
        let values = unsafe { arguments::slice("values", values, count)? };
        // SAFETY: by the contract of the crate.
        let rooms = unsafe { arguments::slice("rooms", rooms, count)? };
        let mut first = Ok(());
        with_value!(value_type(r#type)?, V => {
            let decoded = decompressor.decompress_batch::<V>(&coded);
            for (number, (decoded, output)) in decoded.into_iter().zip(values.iter().zip(rooms)).enumerate() {
                // SAFETY: by the contract of the crate.
                let result = unsafe { put(decoded, *output.0, *output.1) };
                let status = result.as_ref().map_or_else(|failure| failure.status, |()| FERROSZ_OK);
                Place::optional(statuses.wrapping_add(if statuses.is_null() { 0 } else { number })).store(status);
                first = first.and(result.map_err(|failure| numbered("streams", number, failure)));
            }
        });
        first
    })
}

/// The streams of a call.
unsafe fn inputs<'a>(
    streams: *const *const c_void,
    bytes: *const u64,
    count: u64,
) -> Result<Vec<&'a [u8]>, Failure> {
    // SAFETY: by the contract of the crate.
    let streams = unsafe { arguments::slice("streams", streams, count)? };
    // SAFETY: by the contract of the crate.
    let bytes = unsafe { arguments::slice("bytes", bytes, count)? };
    let inputs = streams.iter().zip(bytes).enumerate();
    let inputs = inputs.map(|(number, (stream, bytes))| {
        // SAFETY: by the contract of the crate.
        unsafe { arguments::slice(&format!("streams[{number}]"), stream.cast(), *bytes) }
    });
    inputs.collect()
}

/// Puts decoded values to the start of an output.
unsafe fn put<V: Value>(
    decoded: Result<Vec<V>, ferrosz::Error>,
    output: *mut c_void,
    room: u64,
) -> Result<(), Failure> {
    let decoded = decoded?;
    // SAFETY: by the contract of the crate.
    let output = unsafe { arguments::slice_mut::<V>("values", output.cast(), room)? };
    let place = output.get_mut(..decoded.len());
    let place = place.ok_or(ferrosz::Error::OutputTooSmall {
        needed: decoded.len() as u64,
        found: room,
        unit: "elements",
    })?;
    place.copy_from_slice(&decoded);
    Ok(())
}

/// A failure that names its item of a list.
fn numbered(list: &str, number: usize, failure: Failure) -> Failure {
    Failure {
        text: format!("{list}[{number}]: {}", failure.text),
        ..failure
    }
}
