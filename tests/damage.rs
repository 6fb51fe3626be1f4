//! Damaged, cut off and made-up streams: an error that names the cause, never a panic, and no
//! memory that the stream's length does not earn.

mod common;

use common::fields::{Kind, make};
use common::{compressor, layouts};
use ferrosz::codec::stream::container::HEADER_BYTES;
use ferrosz::codec::{FormatError, reference};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Dtype, Error, Layout, info};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

fn stream_of(codec: Codec, kind: Kind, length: usize) -> Vec<u8> {
    Compressor::new(codec, Bound::range(1e-3).expect("a good bound"))
        .device(Device::Cpu)
        .compress(&make::<f32>(kind, length, 11))
        .expect("compresses")
}

fn stream_in(layout: Layout, kind: Kind) -> Vec<u8> {
    let field = make::<f32>(kind, layout.extents.elements() as usize, 11);
    let bound = Bound::range(1e-3).expect("a good bound");
    compressor(layout, bound, Device::Cpu)
        .and_then(|compressor| compressor.compress(&field))
        .expect("compresses")
}

fn decode(stream: &[u8]) -> Result<Vec<f32>, Error> {
    Decompressor::new().device(Device::Cpu).decompress(stream)
}

fn decode_unverified(stream: &[u8]) -> Result<Vec<f32>, Error> {
    Decompressor::new()
        .device(Device::Cpu)
        .verify_checksums(false)
        .decompress(stream)
}

#[test]
fn every_flipped_bit_is_found() {
    for layout in [&[3000][..], &[9, 10, 20]].into_iter().flat_map(layouts) {
        let codec = layout.codec;
        let stream = stream_in(layout, Kind::NotFinite);
        for bit in 0..8 * stream.len() {
            let mut damaged = stream.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let found = decode(&damaged);
            assert!(
                matches!(found, Err(Error::Format(_))),
                "{codec}, bit {bit}: {found:?}"
            );
            if bit % 29 == 0 {
                let _ = decode_unverified(&damaged);
                assert!(reference::decompress::<f32>(&damaged).is_err());
            }
        }
    }
}

#[test]
fn damage_stays_in_its_chunk() {
    let field = make::<f32>(Kind::Smooth, 40_000, 11);
    let stream = stream_of(Codec::Plain, Kind::Smooth, 40_000);
    let whole = decode(&stream).expect("decodes");
    let mut damaged = stream.clone();
    let at = stream.len() - 100;
    damaged[at] ^= 0x40;
    let chunk = 4;
    assert_eq!(
        decode(&damaged),
        Err(Error::Format(FormatError::ChunkChecksum { chunk }))
    );
    let decoder = Decompressor::new().device(Device::Cpu);
    let before = decoder.decompress_range::<f32>(&damaged, 0..chunk * 8192);
    assert_eq!(before.expect("not touched"), whole[..chunk as usize * 8192]);
    assert_eq!(field.len(), whole.len());
}

#[test]
fn every_cut_is_found() {
    let stream = stream_of(Codec::Outlier, Kind::Random, 9000);
    for length in 0..stream.len() {
        let found = decode(&stream[..length]);
        assert!(
            matches!(found, Err(Error::Format(FormatError::Truncated { .. }))),
            "{length}"
        );
    }
    let mut longer = stream.clone();
    longer.push(0);
    assert_eq!(
        decode(&longer),
        Err(Error::Format(FormatError::TrailingBytes(1)))
    );
}

#[test]
fn causes_are_named() {
    let stream = stream_of(Codec::Plain, Kind::Smooth, 100);
    let format = |error| Err(Error::Format(error));
    assert_eq!(
        decode(b"not a stream at all"),
        format(FormatError::NotFerrosz)
    );
    let mut newer = stream.clone();
    newer[8] = 2;
    assert_eq!(decode(&newer), format(FormatError::UnknownVersion(2)));
    let mut damaged = stream.clone();
    damaged[50] ^= 1;
    assert_eq!(decode(&damaged), format(FormatError::HeaderChecksum));
    let other = Decompressor::new()
        .device(Device::Cpu)
        .decompress::<f64>(&stream);
    assert_eq!(
        other,
        Err(Error::Format(FormatError::WrongDtype {
            wanted: Dtype::F64,
            found: Dtype::F32
        }))
    );
    let mut small = [0.0f32; 99];
    let too_small = Decompressor::new()
        .device(Device::Cpu)
        .decompress_into(&stream, &mut small);
    assert!(matches!(
        too_small,
        Err(Error::OutputTooSmall {
            needed: 100,
            found: 99,
            ..
        })
    ));
    let compressor = Compressor::new(Codec::Plain, Bound::abs(0.1).expect("a good bound"));
    let too_small = compressor
        .device(Device::Cpu)
        .compress_into(&[1.0f32; 9], &mut [0; 20]);
    assert!(matches!(
        too_small,
        Err(Error::OutputTooSmall { found: 20, .. })
    ));
    let mismatch = compressor
        .extents(&[2, 3])
        .and_then(|c| c.compress(&[1.0f32; 7]));
    assert!(matches!(
        mismatch,
        Err(Error::ExtentsMismatch {
            product: 6,
            elements: 7,
            ..
        })
    ));
    assert!(matches!(
        compressor.extents::<u64>(&[]),
        Err(Error::BadExtents(_))
    ));
    assert!(matches!(
        compressor.extents(&[u64::MAX, 3]),
        Err(Error::BadExtents(_))
    ));
    assert!(info(&stream[..HEADER_BYTES]).is_err());
    assert!(info(&stream[..HEADER_BYTES + 16]).is_ok());
}

/// A header whose checksum is right, whatever it says.
fn forge(stream: &mut [u8], at: usize, bytes: &[u8]) {
    use ferrosz::codec::stream::checksum::checksum;
    stream[at..at + bytes.len()].copy_from_slice(bytes);
    let sum = checksum(0, &stream[..HEADER_BYTES - 8]);
    stream[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn forged_headers_are_refused() {
    let stream = stream_of(Codec::Plain, Kind::Smooth, 100);
    let mut rng = SmallRng::seed_from_u64(5);
    for at in 8..HEADER_BYTES - 8 {
        for byte in [0, 1, 0x7f, 0xff, rng.random()] {
            let mut forged = stream.clone();
            forge(&mut forged, at, &[byte]);
            let bound_or_error = (48..64).contains(&at) || at == 12;
            let is_codec = at == 11;
            if forged != stream && !bound_or_error && !is_codec {
                assert!(decode(&forged).is_err(), "byte {at} = {byte}");
            }
            let _ = decode(&forged);
        }
    }
    // A field of 2^63 elements, claimed by 128 bytes.
    for length in [1u64 << 63, u64::MAX, 1 << 50] {
        let mut forged = stream.clone();
        forge(&mut forged, 16, &length.to_le_bytes());
        forge(&mut forged, 72, &length.to_le_bytes());
        forge(&mut forged, 80, &length.div_ceil(8192).to_le_bytes());
        assert!(matches!(decode(&forged), Err(Error::Format(_))));
    }
}

#[test]
fn random_bytes_after_a_right_table_do_not_panic() {
    let mut rng = SmallRng::seed_from_u64(6);
    for round in 0..3000 {
        let kind = Kind::ALL[round % Kind::ALL.len()];
        let all = layouts(&[
            2 + round as u64 % 4,
            3 + round as u64 % 7,
            13 + round as u64 % 10,
        ]);
        let mut stream = stream_in(all[round % all.len()], kind);
        for _ in 0..rng.random_range(1..20) {
            let at = rng.random_range(HEADER_BYTES..stream.len().max(HEADER_BYTES + 1));
            if let Some(byte) = stream.get_mut(at) {
                *byte = rng.random();
            }
        }
        let _ = decode_unverified(&stream);
    }
}
