//! The statuses of calls.

use ferrosz::{Error, FormatError};

/// The result of a call. The number of a status never changes; later versions may have more of them.
#[expect(non_camel_case_types, reason = "its name in C")]
pub type ferrosz_status = i32;

/// The call did its work.
pub const FERROSZ_OK: ferrosz_status = 0;
/// An argument is null, misaligned, out of range, or does not fit the others.
pub const FERROSZ_INVALID_ARGUMENT: ferrosz_status = 1;
/// The output has too little room.
pub const FERROSZ_OUTPUT_TOO_SMALL: ferrosz_status = 2;
/// The stream is damaged, cut off, or not a stream of ferrosz.
pub const FERROSZ_DAMAGED_STREAM: ferrosz_status = 3;
/// The stream needs a newer version of the library.
pub const FERROSZ_UNKNOWN_STREAM: ferrosz_status = 4;
/// The stream holds values of another type.
pub const FERROSZ_WRONG_TYPE: ferrosz_status = 5;
/// Memory could not be allocated.
pub const FERROSZ_OUT_OF_MEMORY: ferrosz_status = 6;
/// There is no such device, or the GPU is too old.
pub const FERROSZ_NO_DEVICE: ferrosz_status = 7;
/// A call of the CUDA driver failed.
pub const FERROSZ_CUDA_FAILED: ferrosz_status = 8;
/// A defect of ferrosz.
pub const FERROSZ_INTERNAL: ferrosz_status = 9;
/// A function of a group failed, or another member of it did.
pub const FERROSZ_GROUP_FAILED: ferrosz_status = 10;
/// A file could not be read.
pub const FERROSZ_READ_FAILED: ferrosz_status = 11;

/// The status of an error of the library.
pub(crate) fn status_of(error: &Error) -> ferrosz_status {
    match error {
        Error::Format(error) => status_of_stream(error),
        Error::OutputTooSmall { .. } => FERROSZ_OUTPUT_TOO_SMALL,
        Error::OutOfMemory { .. } => FERROSZ_OUT_OF_MEMORY,
        Error::NoDevice { .. } | Error::OldGpu { .. } => FERROSZ_NO_DEVICE,
        // Places other than devices have `place::failure`.
        Error::Cuda { .. } | Error::Io { .. } => FERROSZ_CUDA_FAILED,
        Error::Group { .. } => FERROSZ_GROUP_FAILED,
        Error::KernelFault(_) => FERROSZ_INTERNAL,
        _ => FERROSZ_INVALID_ARGUMENT,
    }
}

fn status_of_stream(error: &FormatError) -> ferrosz_status {
    match error {
        FormatError::WrongDtype { .. } => FERROSZ_WRONG_TYPE,
        FormatError::UnknownVersion(_) | FormatError::Unknown { .. } => FERROSZ_UNKNOWN_STREAM,
        _ => FERROSZ_DAMAGED_STREAM,
    }
}
