//! Streams in memory or in a file. Calls read only the bytes of them that they need.

use crate::arguments;
use crate::error::Failure;
use crate::status::FERROSZ_READ_FAILED;
use ferrosz::Error;
use ferrosz::stream::StreamAt;
use std::ffi::{c_char, c_void};
use std::fs::File;

/// The stream in memory of the caller.
pub(crate) unsafe fn in_memory<'a>(
    stream: *const c_void,
    bytes: u64,
) -> Result<StreamAt<&'a [u8]>, Failure> {
    // SAFETY: by the contract of the crate.
    let stream = unsafe { arguments::slice::<u8>("stream", stream.cast(), bytes)? };
    StreamAt::open(stream).map_err(failure)
}

/// The stream in the file of a path.
pub(crate) unsafe fn in_file(path: *const c_char) -> Result<StreamAt<File>, Failure> {
    // SAFETY: by the contract of the crate.
    let path = unsafe { arguments::text("path", path)? };
    let file = File::open(path).map_err(|error| Failure {
        status: FERROSZ_READ_FAILED,
        text: format!("path: cannot open '{path}': {error}"),
    })?;
    StreamAt::open(file).map_err(failure)
}

/// The failure of a call that reads a place.
pub(crate) fn failure(error: Error) -> Failure {
    match &error {
        Error::Io { .. } => Failure {
            status: FERROSZ_READ_FAILED,
            text: error.to_string(),
        },
        _ => error.into(),
    }
}
