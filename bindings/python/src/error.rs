//! Errors: those of the library as exceptions of `ferrosz.errors`.

use ferrosz::{Error, FormatError, Unknown};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;

/// The classes of `ferrosz.errors`, by name.
pub const ARGUMENT_ERROR: &str = "ArgumentError";
/// See [`ARGUMENT_ERROR`].
pub const UNSUPPORTED_TYPE: &str = "UnsupportedType";
const DAMAGED_STREAM: &str = "DamagedStream";
const DEVICE_ERROR: &str = "DeviceError";
const OUT_OF_MEMORY: &str = "OutOfMemory";
const GROUP_ERROR: &str = "GroupError";
const TARGET_NOT_REACHED: &str = "TargetNotReached";

/// An exception of a class of `ferrosz.errors`.
pub fn typed(py: Python<'_>, class: &str, message: String) -> PyErr {
    with_fields(py, class, message, &PyDict::new(py))
}

/// An `ArgumentError`.
pub fn argument(py: Python<'_>, message: impl Into<String>) -> PyErr {
    typed(py, ARGUMENT_ERROR, message.into())
}

/// An error of the library as an exception.
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let fields = PyDict::new(py);
    let class = match fields_of(error, &fields) {
        Ok(class) => class,
        Err(failure) => return failure,
    };
    with_fields(py, class, error.to_string(), &fields)
}

/// An error of the library that reads a place as an exception: `OSError` if the place failed.
pub fn raised_of_place(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Io { kind, reason, .. } => io::Error::new(*kind, reason.clone()).into(),
        error => raised(py, error),
    }
}

/// An error of streams without header as an exception.
pub fn raised_bare(py: Python<'_>, error: &ferrosz_cuszp::Error) -> PyErr {
    let fields = PyDict::new(py);
    let class = match bare_fields_of(error, &fields) {
        Ok(Some(class)) => class,
        Ok(None) => ARGUMENT_ERROR,
        Err(failure) => return failure,
    };
    match error {
        ferrosz_cuszp::Error::Ferrosz(error) => raised(py, error),
        _ => with_fields(py, class, error.to_string(), &fields),
    }
}

/// An error of the interpolator and of stages as an exception.
pub fn raised_stages(py: Python<'_>, error: &ferrosz_stages::Error) -> PyErr {
    use ferrosz_stages::Error::{DamagedPart, Ferrosz, Stage, UnknownStage};
    let kind = match error {
        Ferrosz(error) => return raised(py, error),
        DamagedPart { .. } | Stage { .. } => "damaged_part",
        UnknownStage(_) => "unknown_stage",
        _ => return argument(py, error.to_string()),
    };
    let fields = PyDict::new(py);
    match fields.set_item("kind", kind) {
        Ok(()) => with_fields(py, DAMAGED_STREAM, error.to_string(), &fields),
        Err(failure) => failure,
    }
}

/// The class of an error of streams without header, if it is not that of arguments; its fields go to `fields`.
fn bare_fields_of(
    error: &ferrosz_cuszp::Error,
    fields: &Bound<'_, PyDict>,
) -> PyResult<Option<&'static str>> {
    use ferrosz_cuszp::Error::{Aatrox, Cuszp};
    use ferrosz_cuszp::aatrox::AatroxError;
    use ferrosz_cuszp::cuszp::CuszpError;
    let (kind, lengths) = match *error {
        Cuszp(CuszpError::OutOfMemory { .. }) | Aatrox(AatroxError::OutOfMemory { .. }) => {
            return Ok(Some(OUT_OF_MEMORY));
        }
        Cuszp(CuszpError::CorruptRate { .. }) | Aatrox(AatroxError::CorruptRate { .. }) => {
            ("corrupt_rate", None)
        }
        Cuszp(
            CuszpError::CutInRates { needed, found }
            | CuszpError::Truncated { needed, found }
            | CuszpError::PayloadMissing { needed, found }
            | CuszpError::TailMissing { needed, found, .. },
        )
        | Aatrox(
            AatroxError::CutInHead { needed, found } | AatroxError::Truncated { needed, found },
        ) => ("truncated", Some((needed, found))),
        Cuszp(CuszpError::Trailing { needed, found })
        | Aatrox(AatroxError::Trailing { needed, found }) => {
            ("trailing_bytes", Some((needed, found)))
        }
        _ => return Ok(None),
    };
    fields.set_item("kind", kind)?;
    if let Some((needed, found)) = lengths {
        fields.set_item("needed", needed)?;
        fields.set_item("found", found)?;
    }
    Ok(Some(DAMAGED_STREAM))
}

fn with_fields(py: Python<'_>, class: &str, message: String, fields: &Bound<'_, PyDict>) -> PyErr {
    let made = py
        .import(intern!(py, "ferrosz.errors"))
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call((message,), Some(fields)));
    made.map_or_else(|failure| failure, PyErr::from_value)
}

/// The class of an error; its fields go to `fields`.
fn fields_of(error: &Error, fields: &Bound<'_, PyDict>) -> PyResult<&'static str> {
    match error {
        Error::Format(format) => {
            fields.set_item("kind", kind(format))?;
            match *format {
                FormatError::Truncated { needed, found } => {
                    fields.set_item("needed", needed)?;
                    fields.set_item("found", found)?;
                }
                FormatError::ChunkChecksum { chunk } | FormatError::InvalidChunk { chunk, .. } => {
                    fields.set_item("chunk", chunk)?;
                }
                FormatError::InvalidUpdate { at } => fields.set_item("update_at", at)?,
                FormatError::WrongDtype { .. } => return Ok(UNSUPPORTED_TYPE),
                _ => {}
            }
            Ok(DAMAGED_STREAM)
        }
        Error::BadFrames(_) => {
            fields.set_item("kind", "bad_frames")?;
            Ok(DAMAGED_STREAM)
        }
        Error::TargetNotReached { target, best } => {
            fields.set_item("target", target.kind().name())?;
            fields.set_item("wanted", target.value())?;
            fields.set_item("best", best)?;
            Ok(TARGET_NOT_REACHED)
        }
        Error::OutOfMemory { bytes } => {
            fields.set_item("bytes", bytes)?;
            Ok(OUT_OF_MEMORY)
        }
        Error::NoDevice { .. }
        | Error::OldGpu { .. }
        | Error::Cuda { .. }
        | Error::KernelFault(_) => Ok(DEVICE_ERROR),
        Error::Group { .. } => Ok(GROUP_ERROR),
        Error::MappingOfType(_)
        | Error::ConvertedOnDevice(_)
        | Error::ComplexOfType(_)
        | Error::NotComplex(_) => Ok(UNSUPPORTED_TYPE),
        _ => Ok(ARGUMENT_ERROR),
    }
}

/// The name of a fault of a stream.
fn kind(error: &FormatError) -> &'static str {
    match error {
        FormatError::NotFerrosz => "not_ferrosz",
        FormatError::UnknownVersion(_) => "unknown_version",
        FormatError::HeaderChecksum => "header_checksum",
        FormatError::InvalidHeader(_) => "invalid_header",
        FormatError::Unknown { what, .. } => match what {
            Unknown::Codec(_) => "unknown_codec",
            Unknown::Record(_) => "unknown_record",
            Unknown::Section(_) => "unknown_section",
            Unknown::ValueType(_) => "unknown_dtype",
            Unknown::Conversion(_) => "unknown_conversion",
            _ => "unknown",
        },
        FormatError::InvalidRecords(_) => "invalid_records",
        FormatError::InvalidSections(_) => "invalid_sections",
        FormatError::SafeguardsOnDevice => "safeguards_on_device",
        FormatError::WrongDtype { .. } => "wrong_dtype",
        FormatError::Truncated { .. } => "truncated",
        FormatError::TrailingBytes(_) => "trailing_bytes",
        FormatError::InvalidUpdate { .. } => "invalid_update",
        FormatError::ChunkChecksum { .. } => "chunk_checksum",
        FormatError::InvalidChunk { .. } => "invalid_chunk",
        FormatError::InvalidTables(_) => "invalid_tables",
        // The library may add kinds.
        _ => "other",
    }
}
