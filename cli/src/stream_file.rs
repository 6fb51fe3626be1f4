//! Streams in files and pipes.

use crate::failure::Failure;
use crate::location::Location;
use ferrosz::{Error, FormatError, Info};
use std::fs::{self, File};
use std::io::{self, Read};

/// More than the header and chunk table of most streams.
const FIRST_LOOK: u64 = 1 << 16;

/// Reads a whole stream.
///
/// # Errors
///
/// If it cannot be read.
pub fn read(location: &Location) -> Result<Vec<u8>, Failure> {
    match location {
        Location::File(path) => fs::read(path),
        Location::Pipe => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
    }
    .map_err(|error| Failure::io("read", location, &error))
}

/// What the stream of these bytes says of itself.
///
/// # Errors
///
/// If they are no stream.
pub fn info(location: &Location, stream: &[u8]) -> Result<Info, Failure> {
    ferrosz::info(stream).map_err(|error| explain(location, error))
}

/// Tells which stream an error is about.
pub fn explain(location: &Location, error: Error) -> Failure {
    let format_error = matches!(error, Error::Format(_) | Error::OutOfMemory { .. });
    if format_error {
        Failure::failed(format_args!("{location}: {error}"))
    } else {
        error.into()
    }
}

/// What a stream says of itself, and its size, without reading more of a file than that takes.
///
/// # Errors
///
/// If it cannot be read or is no stream.
pub fn read_info(location: &Location) -> Result<(Info, u64), Failure> {
    let path = match location {
        Location::File(path) if path.is_file() => path,
        // Of a pipe, only reading tells the size; what is not there fails here, too.
        _ => {
            let stream = read(location)?;
            return Ok((info(location, &stream)?, stream.len() as u64));
        }
    };
    let reading = |error: io::Error| Failure::io("read", location, &error);
    let mut file = File::open(path).map_err(reading)?;
    let mut start = Vec::new();
    let mut wanted = FIRST_LOOK;
    loop {
        let missing = wanted.saturating_sub(start.len() as u64);
        let read = (&mut file)
            .take(missing)
            .read_to_end(&mut start)
            .map_err(reading)?;
        match ferrosz::info(&start) {
            Err(Error::Format(FormatError::Truncated { needed, .. })) if read > 0 => {
                wanted = needed;
            }
            Err(error) => return Err(explain(location, error)),
            Ok(info) => {
                let size = file.metadata().map_err(reading)?.len();
                return Ok((info, size));
            }
        }
    }
}
