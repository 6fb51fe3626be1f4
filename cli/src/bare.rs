//! `ferrosz cuszp` and `ferrosz aatrox`: other compressors' own streams.

pub mod args;
mod coding;
mod inspect;
mod update;
mod verify;

use crate::{common::Common, failure::Failure, foreign, json, location::Location, stream_file};
use args::{BareAction, FormatFlags};
use ferrosz_cuszp::bound::{ErrorFault, absolute_error};
use ferrosz_cuszp::{Bound, BoundMode, Element, Error, Part};
use serde_json::{Value, json};
use stream_file::Stream;

/// Runs `ferrosz cuszp` or `ferrosz aatrox`; false if a stream is not sound, or does not keep its bound.
///
/// # Errors
///
/// If files cannot be read or written, the stream is damaged or has another format, or the strict encoder
/// refuses the array.
pub fn run<W: FormatFlags, R: FormatFlags>(
    action: &BareAction<W, R>,
    common: &Common,
) -> Result<bool, Failure> {
    match action {
        BareAction::Compress(args) => coding::compress(args, common).map(|()| true),
        BareAction::Decompress(args) => coding::decompress(args, common).map(|()| true),
        BareAction::Update(args) => update::run(args, common).map(|()| true),
        BareAction::Check(args) => inspect::check(args, common),
        BareAction::Verify(args) => verify::run(args, common),
        BareAction::Info(args) => inspect::info(args, common).map(|()| true),
    }
}

/// The absolute error of a bound, for the array of `location`.
fn error_for<F: FormatFlags, T: Element>(
    format: &F,
    bound: Bound,
    location: &Location,
    values: &[T],
) -> Result<T, Failure> {
    let found = absolute_error(bound, format.arithmetic(), values);
    found.map_err(|fault| match (fault, bound.mode()) {
        (ErrorFault::NotPositive { .. }, BoundMode::Range | BoundMode::Max) => {
            Failure::failed(format_args!("{location}: {fault}"))
        }
        _ => Failure::usage(fault),
    })
}

/// The absolute error of a reader, who has been told it.
fn told_error<F: FormatFlags, T: Element>(format: &F, abs: f64) -> Result<T, Failure> {
    let bound = Bound::abs(abs).map_err(Failure::usage)?;
    absolute_error(bound, format.arithmetic(), &[]).map_err(Failure::usage)
}

/// The digits that `--abs` takes for the same error. They are few, unless the number that they name first is another one
/// when it is rounded twice: to an `f64`, and to the type of the elements.
fn exact<T: Element>(error: T) -> String {
    let wide = error.to_f64();
    let short = format!("{:e}", wide as f32);
    let parsed = short.parse().map(T::from_f64);
    match parsed.is_ok_and(|parsed| parsed == error) {
        true => short,
        false => format!("{wide:e}"),
    }
}

/// Reads a stream; one of ferrosz's is for another command.
fn read<F: FormatFlags>(location: &Location, command: &str) -> Result<Stream, Failure> {
    let stream = stream_file::read_whole(location)?;
    match foreign::is_ferrosz(&stream) {
        false => Ok(stream),
        true => Err(Failure::failed(format_args!(
            "{location} is a ferrosz stream, not one of {}: use `ferrosz {command}`",
            F::COMMAND
        ))),
    }
}

/// Adds the stream's name to an error.
fn explain(location: &Location, error: Error) -> Failure {
    match error {
        Error::Ferrosz(ferrosz::Error::NoDevice { .. }) => error.into(),
        _ => Failure::failed(format_args!("{location}: {error}")),
    }
}

/// A part of an array of the command, for the crate of these streams.
fn part_of(part: &ferrosz::Part, extents: &[u64]) -> Result<Part, Failure> {
    let found = match part {
        ferrosz::Part::Elements(range) => {
            let elements = extents.iter().product();
            Part::elements(elements, range.clone())
        }
        ferrosz::Part::Box(ranges) => Part::region(extents, ranges),
    };
    found.map_err(Failure::failed)
}

/// The beginning of a `--json` object: the command, the format and the input.
fn begin<F: FormatFlags>(command: &str, input: &Location) -> Value {
    let format = json!({ "format": F::COMMAND });
    json::join([json::begin(command, input), format])
}

/// The members that describe an array and its stream.
fn sizes<T: Element>(extents: &[u64], stream_bytes: u64) -> Value {
    let elements: u64 = extents.iter().product();
    let field_bytes = elements * T::BYTES as u64;
    json!({
        "dtype": T::DTYPE.name(),
        "dims": extents,
        "elements": elements,
        "field_bytes": field_bytes,
        "stream_bytes": stream_bytes,
        "ratio": field_bytes as f64 / stream_bytes as f64,
        "bits_per_value": 8.0 * stream_bytes as f64 / elements as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_errors_are_parsed_to_the_same_number() {
        assert_eq!(exact(1e-3f32), "1e-3");
        assert_eq!(exact(f64::from(1e-3f32)), "1.0000000474974513e-3");
        assert_eq!(exact(1e-3f64), "1e-3");
        let mut bits = 1u32;
        for _ in 0..100_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (float, wide) = (
                f32::from_bits(bits & 0x7f7f_ffff | 1),
                f64::from_bits(u64::from(bits & 0x7fef_ffff) << 32 | u64::from(bits)),
            );
            let parsed: f64 = exact(float).parse().unwrap();
            assert_eq!((parsed as f32).to_bits(), float.to_bits());
            assert_eq!(exact(wide).parse(), Ok(wide));
        }
    }
}
