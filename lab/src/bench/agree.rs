//! Compares results of a machine with the expected ones, before and after timing.

use super::coding::{Coding, Way};
use super::{gpu::OnDevice, memory::Memory, row::Timed};
use ferrosz::Value;
use ferrosz_cli::failure::Failure;

/// The expected result of a call.
#[derive(Clone, Copy)]
pub enum Expected<'a, V> {
    /// A stream.
    Stream(&'a [u8]),
    /// A field, or a part of it.
    Values(&'a [V]),
}

/// Times compression to a stream, and decompression of it; returns the decoded values, too.
///
/// # Errors
///
/// If a result is wrong, or a call fails, here and below.
pub fn time_both_ways<V: OnDevice>(
    memory: &mut Memory<'_, V>,
    coding: &dyn Coding<V>,
    stream: &[u8],
) -> Result<([Timed; 2], Vec<V>), Failure> {
    let compress = time_verified(memory, coding, Expected::Stream(stream))?;
    let mut values = Vec::new();
    coding.decompress(stream, &mut values)?;
    let decompress = time_verified(memory, coding, Expected::Values(&values))?;
    Ok(([compress, decompress], values))
}

/// Times a call, and checks its result before the timed runs and after them.
pub fn time_verified<V: OnDevice>(
    memory: &mut Memory<'_, V>,
    coding: &dyn Coding<V>,
    expected: Expected<'_, V>,
) -> Result<Timed, Failure> {
    let way = expected.way();
    verify(memory, coding, expected)?;
    let single = memory.time(coding, way)?;
    memory.poison(way)?;
    let replayed = memory.time_replayed(coding, way)?;
    if replayed.is_some() {
        expected.compare(memory)?;
    }
    verify(memory, coding, expected)?;
    Ok(Timed { single, replayed })
}

/// Makes a call once into poisoned memory, and compares the result.
fn verify<V: OnDevice>(
    memory: &mut Memory<'_, V>,
    coding: &dyn Coding<V>,
    expected: Expected<'_, V>,
) -> Result<(), Failure> {
    memory.poison(expected.way())?;
    memory.call(coding, expected.way())?;
    expected.compare(memory)
}

impl<V: OnDevice> Expected<'_, V> {
    fn way(self) -> Way {
        match self {
            Self::Stream(_) => Way::Compress,
            Self::Values(_) => Way::Decompress,
        }
    }

    /// Compares the last result with the expected one.
    fn compare(self, memory: &mut Memory<'_, V>) -> Result<(), Failure> {
        match self {
            Self::Stream(stream) => streams(&memory.stream()?, stream),
            Self::Values(values) => fields(&memory.values(values.len())?, values),
        }
    }
}

/// Compares a stream with the expected one.
pub fn streams(found: &[u8], expected: &[u8]) -> Result<(), Failure> {
    agree("byte", "stream", found, expected, |byte| u64::from(*byte))
}

/// Compares all values with the expected ones, bit by bit.
pub fn fields<V: Value>(found: &[V], expected: &[V]) -> Result<(), Failure> {
    let bits = |value: &V| value.to_value_bits();
    agree("value", "field", found, expected, bits)
}

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
            "{item} {at} of {} is not that of the expected {whole}",
            expected.len()
        ))),
        None if found.len() != expected.len() => Err(Failure::failed(format_args!(
            "the {whole} has {} {item}s, and the expected one has {}",
            found.len(),
            expected.len()
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::container::Container;
    use super::super::machine::Machine;
    use super::*;
    use ferrosz::{Bound, Codec, Compressor, Device};

    fn bytes_agree(found: &[u8], expected: &[u8]) -> Result<(), String> {
        streams(found, expected).map_err(|failure| failure.to_string())
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
        assert!(fields(&[0.0f32], &[-0.0]).is_err());
        assert!(fields(&[f32::NAN], &[f32::NAN]).is_ok());
    }

    #[test]
    fn a_call_that_makes_something_else_is_not_timed() {
        let field: Vec<f32> = (0..10_000).map(|i| (i as f32 * 0.01).sin()).collect();
        let coding = |error| {
            let compressor = Compressor::new(Codec::PLAIN, Bound::abs(error).unwrap());
            Container::new(&compressor, &field).unwrap()
        };
        let (own, other) = (coding(1e-3), coding(1e-2));
        let machine = Machine::new(Device::Cpu, 1, false).unwrap();
        let mut memory = Memory::new(&machine, &field, &own).unwrap();
        let stream = own.compress(&field).unwrap();
        let mut time = |coding, expected| time_verified(&mut memory, coding, expected);
        assert!(time(&own, Expected::Stream(&stream)).is_ok());
        assert!(time(&other, Expected::Stream(&stream)).is_err());

        let mut values = Vec::new();
        own.decompress(&stream, &mut values).unwrap();
        assert!(time(&own, Expected::Stream(&stream)).is_ok());
        assert!(time(&own, Expected::Values(&values)).is_ok());
        let mut other = stream.clone();
        other[stream.len() - 1] ^= 1;
        assert!(time(&own, Expected::Stream(&other)).is_err());
    }
}
