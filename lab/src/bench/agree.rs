//! Compares results of a machine with the expected ones, before and after timing.

use super::machine::{Buffers, Value, Work};
use super::row::Timed;
use ferrosz_cli::failure::Failure;

/// The expected result of work.
#[derive(Clone, Copy)]
pub enum Expected<'a, T> {
    /// A stream.
    Stream(&'a [u8]),
    /// A field, or a part of it.
    Values(&'a [T]),
}

/// Times work, and checks its result before the timed runs and after them.
///
/// # Errors
///
/// If a result is wrong, or the work fails.
pub fn time_verified<T: Value>(
    buffers: &mut impl Buffers<T>,
    work: &Work<'_, T>,
    expected: Expected<'_, T>,
) -> Result<Timed, Failure> {
    verify(buffers, work, expected)?;
    let single = buffers.time(work)?;
    expected.poison(buffers)?;
    let replayed = buffers.time_replayed(work)?;
    if replayed.is_some() {
        expected.compare(buffers)?;
    }
    verify(buffers, work, expected)?;
    Ok(Timed { single, replayed })
}

/// Does work once into poisoned memory, and compares the result.
fn verify<T: Value>(
    buffers: &mut impl Buffers<T>,
    work: &Work<'_, T>,
    expected: Expected<'_, T>,
) -> Result<(), Failure> {
    expected.poison(buffers)?;
    buffers.ask(work)?;
    expected.compare(buffers)
}

impl<T: Value> Expected<'_, T> {
    /// Fills the result's buffer with other bytes.
    fn poison(self, buffers: &mut impl Buffers<T>) -> Result<(), Failure> {
        match self {
            Self::Stream(_) => buffers.poison_stream(),
            Self::Values(_) => buffers.poison_values(),
        }
    }

    /// Compares the last result with the expected one.
    fn compare(self, buffers: &mut impl Buffers<T>) -> Result<(), Failure> {
        match self {
            Self::Stream(stream) => {
                let found = buffers.stream()?;
                agree("byte", "stream", &found, stream, |byte| u64::from(*byte))
            }
            Self::Values(values) => {
                let found = buffers.values(values.len())?;
                agree("value", "field", &found, values, |value| value.to_bits64())
            }
        }
    }
}

/// Compares all items bit by bit.
///
/// # Errors
///
/// The first item that differs.
fn agree<I>(
    item: &str,
    whole: &str,
    found: &[I],
    expected: &[I],
    bits: impl Fn(&I) -> u64,
) -> Result<(), Failure> {
    let differ = |(a, b): (&I, &I)| bits(a) != bits(b);
    match found.iter().zip(expected).position(differ) {
        Some(at) => Err(Failure::failed(format_args!(
            "{item} {at} of {} is not that of the CPU's {whole}",
            expected.len()
        ))),
        None if found.len() != expected.len() => Err(Failure::failed(format_args!(
            "the {whole} has {} {item}s, and the CPU's has {}",
            found.len(),
            expected.len()
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::host::Host;
    use super::super::machine::{Format, Machine};
    use super::*;
    use ferrosz::{Bound, Codec, Compressor, Device, Extents, Layout, Shape};

    fn bytes_agree(found: &[u8], expected: &[u8]) -> Result<(), String> {
        agree("byte", "stream", found, expected, |byte| u64::from(*byte))
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn one_changed_byte_is_found() {
        let expected: Vec<u8> = (0..200).collect();
        assert_eq!(bytes_agree(&expected, &expected), Ok(()));
        for at in 0..200 {
            let mut found = expected.clone();
            found[at] ^= 0x10;
            let message = bytes_agree(&found, &expected).unwrap_err();
            assert!(
                message.starts_with(&format!("byte {at} of 200 ")),
                "{message}"
            );
        }
        let short = bytes_agree(&expected[..199], &expected).unwrap_err();
        assert!(short.contains("199") && short.contains("200"), "{short}");
    }

    #[test]
    fn values_are_compared_bit_by_bit() {
        let bits = |value: &f32| u64::from(value.to_bits());
        assert!(agree("value", "field", &[0.0], &[-0.0], bits).is_err());
        assert!(agree("value", "field", &[f32::NAN], &[f32::NAN], bits).is_ok());
    }

    #[test]
    fn work_that_makes_something_else_is_not_timed() {
        let field: Vec<f32> = (0..10_000).map(|i| (i as f32 * 0.01).sin()).collect();
        let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(10_000));
        let compressor =
            |error| Compressor::new(Codec::PLAIN, Bound::abs(error).unwrap()).device(Device::Cpu);
        let host = Host::new(1);
        let mut buffers = host.buffers(&field, Format::Container(layout)).unwrap();
        let mut stream = compressor(1e-3).compress(&field).unwrap();
        let work = Work::Compress(&compressor(1e-3));
        assert!(time_verified(&mut buffers, &work, Expected::Stream(&stream)).is_ok());
        let other = Work::Compress(&compressor(1e-2));
        assert!(time_verified(&mut buffers, &other, Expected::Stream(&stream)).is_err());

        let values: Vec<f32> = ferrosz::Decompressor::new().decompress(&stream).unwrap();
        buffers.ask(&work).unwrap();
        let back = Work::Decompress(layout);
        assert!(time_verified(&mut buffers, &back, Expected::Values(&values)).is_ok());
        let last = stream.len() - 1;
        stream[last] ^= 1;
        assert!(time_verified(&mut buffers, &work, Expected::Stream(&stream)).is_err());
    }
}
