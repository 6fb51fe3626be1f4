//! The check that a stream is whole.

use crate::arguments::{self, Place};
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::{FERROSZ_DAMAGED_STREAM, ferrosz_status};
use std::ffi::c_void;

/// Decodes a stream without output and compares all checksums: FERROSZ_OK if it is whole. `damaged_chunks`, which may be
/// null, gets the number of damaged chunks; it is 0 if the damage is not in chunks, so that nothing can be decoded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_check(
    stream: *const c_void,
    bytes: u64,
    damaged_chunks: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        let damaged_chunks = Place::optional(damaged_chunks);
        damaged_chunks.store(0);
        // SAFETY: by the contract of the crate.
        let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
        let damages = ferrosz::Decompressor::new().check(stream)?;
        damaged_chunks.store(damages.len() as u64);
        match damages.first() {
            None => Ok(()),
            Some(first) => Err(Failure {
                status: FERROSZ_DAMAGED_STREAM,
                text: format!(
                    "{} damaged chunks, the first: {}",
                    damages.len(),
                    first.cause
                ),
            }),
        }
    })
}
