//! Errors of the library as those of zarrs.

use zarrs::array::CodecError;

/// The error of zarrs for one of the library. None of its own kinds has the cause and the chunk of a stream, so it has the
/// text.
pub fn codec_error(error: impl Into<ferrosz::Error>) -> CodecError {
    CodecError::Other(format!("codec ferrosz: {}", error.into()))
}
