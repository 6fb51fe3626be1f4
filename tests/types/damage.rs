//! Streams whose conversion is damaged or forged.

use super::converted;
use super::fields::{Kind, field};
use crate::common::machine::Machine;
use ferrosz::codec::container::checksum::checksum;
use ferrosz::codec::container::header::Header;
use ferrosz::codec::container::version::VERSION;
use ferrosz::codec::mapping::conversion;
use ferrosz::codec::with_value;
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Error, FormatError, Unknown, Value, ValueType,
    info,
};

fn stream_of<V: Value>(kind: Kind, bound: f64) -> Vec<u8> {
    let bound = Bound::abs(bound).expect("a bound");
    let values = field::<V>(kind, &[700]);
    let compressor = Compressor::new(Codec::PLAIN, bound).device(Device::Cpu);
    compressor.compress(&values).expect("compresses")
}

/// A stream with another header; the checksums of its chunks are wrong.
fn with_header(stream: &[u8], edit: impl FnOnce(Header) -> Header) -> Vec<u8> {
    let header = edit(Header::read(stream).expect("a header"));
    [&header.to_bytes()[..], &stream[160..]].concat()
}

/// The header's bytes with one of them changed, and checksums that fit.
fn with_byte(stream: &[u8], at: usize, byte: u8) -> Vec<u8> {
    let mut stream = stream.to_vec();
    stream[at] = byte;
    let sum = checksum(0, &stream[..152]);
    stream[152..160].copy_from_slice(&sum.to_le_bytes());
    stream
}

/// The error of every machine.
fn refusal<V: Value>(stream: &[u8]) -> Error {
    let errors: Vec<Error> = Machine::of_this_computer()
        .into_iter()
        .map(|machine| machine.decompress::<V>(stream).expect_err("refused"))
        .collect();
    assert!(
        errors.windows(2).all(|pair| pair[0] == pair[1]),
        "{errors:?}"
    );
    assert!(
        info(stream).is_err()
            || matches!(errors[0], Error::Format(FormatError::ChunkChecksum { .. }))
    );
    errors[0].clone()
}

/// The error of a stream of this library's version that has what it does not know.
fn unknown(what: Unknown) -> Error {
    let version = VERSION;
    Error::Format(FormatError::Unknown { what, version })
}

#[test]
fn unknown_conversions_and_types_are_refused() {
    let stream = stream_of::<u16>(Kind::Smooth, 1.0);
    let found = refusal::<u16>(&with_byte(&stream, 103, 3));
    assert_eq!(found, unknown(Unknown::Conversion(3)));
    for number in [0, 9, 255] {
        let found = refusal::<u16>(&with_byte(&stream, 10, number));
        assert_eq!(found, unknown(Unknown::ValueType(number)));
    }
}

#[test]
fn conversions_that_a_type_does_not_have_are_refused() {
    for value_type in ValueType::ALL {
        for kind in conversion::Kind::ALL
            .into_iter()
            .filter(|kind| !kind.takes(value_type))
        {
            with_value!(value_type, V => {
                let stream = stream_of::<V>(Kind::Smooth, 1.0);
                let forged = with_header(&stream, |header| Header { conversion: kind, ..header });
                let found = refusal::<V>(&forged);
                assert!(matches!(found, Error::Format(FormatError::InvalidHeader(_))), "{found}");
            });
        }
    }
}

#[test]
fn records_that_do_not_fit_the_header_are_refused() {
    let plain = stream_of::<f32>(Kind::Smooth, 1.0);
    let forged = with_header(&plain, |header| Header {
        value_type: ValueType::I16,
        ..header
    });
    let is_refused = |error: Error| matches!(error, Error::Format(FormatError::InvalidRecords(_)));
    assert!(is_refused(refusal::<i16>(&forged)), "no record");
    for value_type in converted() {
        with_value!(value_type, V => {
            let stream = stream_of::<V>(Kind::Smooth, 1.0);
            let forged = with_header(&stream, |header| Header {
                value_type: header.dtype.into(),
                conversion: conversion::Kind::Widened,
                ..header
            });
            let found = match V::TYPE.coded() {
                ferrosz::Dtype::F32 => refusal::<f32>(&forged),
                ferrosz::Dtype::F64 => refusal::<f64>(&forged),
            };
            assert!(is_refused(found), "a record of {value_type} without a conversion");
        });
    }
    // A conversion of the type whose record is shorter.
    let forged = with_header(&stream_of::<u32>(Kind::Smooth, 1.0), |header| Header {
        conversion: conversion::Kind::Shifted,
        ..header
    });
    assert!(is_refused(refusal::<u32>(&forged)));
}

/// The same chunks under another type of the same coded field: some values, and no panic.
#[test]
fn chunks_of_another_type_are_some_values() {
    for value_type in converted() {
        for kind in [Kind::Bits, Kind::Far] {
            with_value!(value_type, V => {
                let stream = stream_of::<V>(kind, 0.7);
                for other in converted().filter(|other| other.coded() == V::TYPE.coded()) {
                    let header = Header::read(&stream).expect("a header");
                    if !header.conversion.takes(other) {
                        continue;
                    }
                    let forged = with_header(&stream, |header| Header { value_type: other, ..header });
                    with_value!(other, W => {
                        let decoder = Decompressor::new().verify_checksums(false).device(Device::Cpu);
                        let found = decoder.decompress::<W>(&forged);
                        assert!(found.is_ok_and(|values| values.len() == 700), "{value_type} {other}");
                    });
                }
            });
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    for value_type in converted() {
        with_value!(value_type, V => {
            let stream = stream_of::<V>(Kind::Far, 3.0);
            for at in 0..stream.len() {
                let mut damaged = stream.clone();
                damaged[at] ^= 1 << (at % 8);
                let found = Decompressor::new().device(Device::Cpu).decompress::<V>(&damaged);
                assert!(found.is_err(), "{value_type}, byte {at}");
            }
            for length in 0..stream.len() {
                assert!(Decompressor::new().decompress::<V>(&stream[..length]).is_err());
            }
        });
    }
}
