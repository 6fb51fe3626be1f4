//! Updates of a stream: a box of its field is replaced.

use crate::arguments;
use crate::buffer::Buffer;
use crate::decompress::box_of;
use crate::error::{Error, Failure};
use crate::guard;
use crate::types::{ferrosz_type, value_type};
use ferrosz::codec::with_value;
use std::ffi::c_void;
use std::ptr;

/// The replacement of a box of a stream's field: bytes to append, and then a new header.
pub struct Update(ferrosz::stream::Update);

/// Makes the update that replaces a box of a stream's field by `elements` values of `type`, the type of the stream: `starts`
/// and `lengths` of as many dimensions as the field has. Only chunks that hold some of the box are read and coded again,
/// within the absolute error of the stream. Codecs of tiles have no updates. The stream stays as it is, until the bytes of the
/// update are written: first those of ferrosz_update_appended from byte ferrosz_update_append_at on, where the stream ends
/// then, and after them, at its start, those of ferrosz_update_header. In this order the stream is complete at every moment.
/// Null if it fails. Free it with ferrosz_update_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_update_new(
    stream: *const c_void,
    bytes: u64,
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
    r#type: ferrosz_type,
    values: *const c_void,
    elements: u64,
    error: *mut Error,
) -> *mut Update {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        // SAFETY: by the contract of the crate.
        let part = unsafe { box_of(dimensions, starts, lengths)? };
        let update = with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let values = unsafe { arguments::slice::<V>("values", values.cast(), elements)? };
            ferrosz::stream::Update::new(stream, &part, values)
        });
        update.map(Update).map_err(Failure::from)
    })
}

/// Frees an update. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_update_free(update: *mut Update) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(update) };
}

/// The updated stream, from the one that the update was made for. Null if it fails. ferrosz_buffer_free frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_update_apply(
    update: *const Update,
    stream: *const c_void,
    bytes: u64,
    error: *mut Error,
) -> *mut Buffer {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let update = &unsafe { arguments::object("update", update)? }.0;
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        if bytes < update.append_at {
            let reason = format!(
                "it has {bytes} bytes, but that of the update {}",
                update.append_at
            );
            return Err(Failure::argument("stream", reason));
        }
        let mut updated = stream.to_vec();
        update.apply(&mut updated);
        Ok(Buffer(updated))
    })
}

/// A property of an update; of a null pointer, `none`.
unsafe fn get<T>(
    update: *const Update,
    none: T,
    property: impl FnOnce(&ferrosz::stream::Update) -> T,
) -> T {
    // SAFETY: by the contract of the crate.
    unsafe { update.as_ref() }.map_or(none, |update| property(&update.0))
}

/// The end of the stream, from where on the appended bytes are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_update_append_at(update: *const Update) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(update, 0, |update| update.append_at) }
}

/// The bytes to append, until the update is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_update_appended(update: *const Update) -> *const u8 {
    // SAFETY: by the contract of the crate.
    unsafe { get(update, ptr::null(), |update| update.appended.as_ptr()) }
}

/// The number of bytes to append.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_update_appended_bytes(update: *const Update) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(update, 0, |update| update.appended.len() as u64) }
}

/// The bytes that replace the first ones of the stream, until the update is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_update_header(update: *const Update) -> *const u8 {
    // SAFETY: by the contract of the crate.
    unsafe { get(update, ptr::null(), |update| update.header.as_ptr()) }
}

/// The number of bytes that replace the first ones of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_update_header_bytes(update: *const Update) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(update, 0, |update| update.header.len() as u64) }
}

/// The number of chunks that are coded again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_update_chunks(update: *const Update) -> u64 {
    // SAFETY: by the contract of the crate.
    unsafe { get(update, 0, |update| update.chunks) }
}
