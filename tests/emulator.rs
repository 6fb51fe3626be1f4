//! The GPU's kernels on the emulator: the same bytes as the reference, at the edges of everything a
//! kernel is cut into.

#![cfg(feature = "emulator")]

mod common;

use common::fields::{FromF64, Kind, make};
use common::{bounds, judge::judge};
use ferrosz::codec::reference;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Extents};

/// Around a lane's 16 bytes, a coding block, a warp's 32, a chunk (which is a thread block's tile),
/// and several chunks.
const LENGTHS: [usize; 31] = [
    0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2049, 4096,
    8160, 8161, 8191, 8192, 8193, 16_383, 16_384, 16_385, 24_577, 40_000,
];

fn check<T: FromF64>(codec: Codec, bound: Bound, field: &[T], context: &str) {
    let extents = Extents::line(field.len() as u64);
    let expected = reference::compress(codec, bound, extents, field);
    let stream = Compressor::new(codec, bound)
        .device(Device::Emulator)
        .compress(field)
        .unwrap_or_else(|error| panic!("{codec} {context}: {error}"));
    if let Some(at) = stream.iter().zip(&expected).position(|(a, b)| a != b) {
        panic!(
            "{codec} {bound:?} {context}: byte {at} of {} differs",
            expected.len()
        );
    }
    assert_eq!(stream.len(), expected.len(), "{codec} {bound:?} {context}");
    let decoded: Vec<T> = Decompressor::new()
        .device(Device::Emulator)
        .decompress(&expected)
        .unwrap_or_else(|error| panic!("{codec} {context}: {error}"));
    let reference: Vec<T> = reference::decompress(&expected).expect("decompresses");
    assert!(
        bytemuck::cast_slice::<T, u8>(&decoded) == bytemuck::cast_slice::<T, u8>(&reference),
        "{codec} {bound:?} {context}: decoded fields differ"
    );
    if let Err(wrong) = judge(bound, field, &decoded) {
        panic!("{codec} {context}: {wrong}");
    }
}

fn every_edge<T: FromF64>(codec: Codec) {
    let bounds = bounds();
    for (i, length) in LENGTHS.into_iter().enumerate() {
        for (j, kind) in Kind::ALL.into_iter().enumerate() {
            let field = make::<T>(kind, length, (i * 100 + j) as u64);
            let bound = bounds[(i + j * 4) % bounds.len()];
            check(codec, bound, &field, &format!("{kind:?} of {length}"));
        }
    }
}

#[test]
fn fixed_f32() {
    every_edge::<f32>(Codec::Fixed);
}

#[test]
fn fixed_f64() {
    every_edge::<f64>(Codec::Fixed);
}

#[test]
fn plain_f32() {
    every_edge::<f32>(Codec::Plain);
}

#[test]
fn plain_f64() {
    every_edge::<f64>(Codec::Plain);
}

#[test]
fn outlier_f32() {
    every_edge::<f32>(Codec::Outlier);
}

#[test]
fn outlier_f64() {
    every_edge::<f64>(Codec::Outlier);
}

#[test]
fn every_kind_at_every_bound() {
    for kind in Kind::ALL {
        for (i, bound) in bounds().into_iter().enumerate() {
            let codec = Codec::ALL[(i + kind as usize) % 3];
            check(
                codec,
                bound,
                &make::<f32>(kind, 9000, 31),
                &format!("{kind:?}"),
            );
            check(
                codec,
                bound,
                &make::<f64>(kind, 9000, 32),
                &format!("{kind:?}"),
            );
        }
    }
}

#[test]
fn ranges() {
    let field = make::<f64>(Kind::NotFinite, 20_000, 4);
    let bound = Bound::range(1e-3).expect("a good bound");
    let stream = reference::compress(Codec::Outlier, bound, Extents::line(20_000), &field);
    let whole: Vec<f64> = reference::decompress(&stream).expect("decompresses");
    let decoder = Decompressor::new().device(Device::Emulator);
    for range in [
        0..0,
        0..1,
        8190..8195,
        1..8192,
        2..16_386,
        16_384..20_000,
        19_999..20_000,
    ] {
        let part: Vec<f64> = decoder
            .decompress_range(&stream, range.clone())
            .expect("decompresses");
        let expected = &whole[range.start as usize..range.end as usize];
        assert_eq!(
            bytemuck::cast_slice::<_, u64>(&part),
            bytemuck::cast_slice::<_, u64>(expected)
        );
    }
}

#[test]
fn damage_gives_the_error_of_the_cpu() {
    let field = make::<f32>(Kind::NotFinite, 9000, 5);
    let bound = Bound::abs(0.01).expect("a good bound");
    for codec in Codec::ALL {
        let stream = reference::compress(codec, bound, Extents::line(9000), &field);
        for step in 0..150 {
            let mut damaged = stream.clone();
            // Half of them in header and table, where damage does most.
            let at = if step % 2 == 0 {
                step % 160
            } else {
                step * 211 % stream.len()
            };
            damaged[at] ^= 1 << (step % 8);
            let decode = |device, verify| {
                let decoder = Decompressor::new().device(device).verify_checksums(verify);
                decoder.decompress::<f32>(&damaged)
            };
            let on_cpu = decode(Device::Cpu, true).expect_err("damage is found");
            let emulated = decode(Device::Emulator, true).expect_err("damage is found");
            assert_eq!(on_cpu, emulated, "{codec}, byte {at}");
            // Without checksums there may be wrong values, but no kernel fault.
            if let Err(error) = decode(Device::Emulator, false) {
                assert!(
                    matches!(error, ferrosz::Error::Format(_)),
                    "{codec}, byte {at}: {error}"
                );
            }
        }
    }
}
