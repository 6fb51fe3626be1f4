//! The GPU's kernels on the emulator: the same bytes as the reference, at the edges of everything a
//! kernel is cut into.

#![cfg(feature = "emulator")]

mod common;

use common::fields::{FromBits, Kind, make};
use common::{bounds, compressor, judge::judge, layouts};
use ferrosz::codec::oracle;
use ferrosz::{Bound, Codec, Decompressor, Device, Extents, Layout, Part, Shape};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Around a lane's 16 bytes, a coding block, a warp's 32, a chunk (which is a thread block's tile),
/// and several chunks.
const LENGTHS: [usize; 31] = [
    0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2047, 2049, 4096,
    8160, 8161, 8191, 8192, 8193, 16_383, 16_384, 16_385, 24_577, 40_000,
];

fn line(codec: Codec, length: usize) -> Layout {
    Layout::new(codec, Shape::Line, Extents::line(length as u64))
}

fn check<T: FromBits>(layout: Layout, bound: Bound, field: &[T], context: &str) {
    let context = format!("{context}, {} {}: {bound:?}", layout.codec, layout.shape);
    let expected = oracle::compress(layout, bound, field);
    let stream = compressor(layout, bound, Device::Emulator)
        .and_then(|compressor| compressor.compress(field))
        .unwrap_or_else(|error| panic!("{context}: {error}"));
    if let Some(at) = stream.iter().zip(&expected).position(|(a, b)| a != b) {
        panic!("{context}: byte {at} of {} differs", expected.len());
    }
    assert_eq!(stream.len(), expected.len(), "{context}");
    let decoded: Vec<T> = Decompressor::new()
        .device(Device::Emulator)
        .decompress(&expected)
        .unwrap_or_else(|error| panic!("{context}: {error}"));
    let reference: Vec<T> = oracle::decompress(&expected).expect("decompresses");
    assert!(
        bytemuck::cast_slice::<T, u8>(&decoded) == bytemuck::cast_slice::<T, u8>(&reference),
        "{context}: decoded fields differ"
    );
    if let Err(wrong) = judge(bound, field, &decoded) {
        panic!("{context}: {wrong}");
    }
}

fn every_edge<T: FromBits>(codec: Codec) {
    let bounds = bounds();
    for (i, length) in LENGTHS.into_iter().enumerate() {
        for (j, kind) in Kind::ALL.into_iter().enumerate() {
            let field = make::<T>(kind, length, (i * 100 + j) as u64);
            let bound = bounds[(i + j * 4) % bounds.len()];
            check(
                line(codec, length),
                bound,
                &field,
                &format!("{kind:?} of {length}"),
            );
        }
    }
}

#[test]
fn fixed_f32() {
    every_edge::<f32>(Codec::FIXED);
}

#[test]
fn fixed_f64() {
    every_edge::<f64>(Codec::FIXED);
}

#[test]
fn plain_f32() {
    every_edge::<f32>(Codec::PLAIN);
}

#[test]
fn plain_f64() {
    every_edge::<f64>(Codec::PLAIN);
}

#[test]
fn outlier_f32() {
    every_edge::<f32>(Codec::OUTLIER);
}

#[test]
fn outlier_f64() {
    every_edge::<f64>(Codec::OUTLIER);
}

#[test]
fn layered_f32() {
    every_edge::<f32>(Codec::LAYERED);
}

#[test]
fn layered_f64() {
    every_edge::<f64>(Codec::LAYERED);
}

#[test]
fn lorenzo_in_lines() {
    every_edge::<f32>(Codec::LORENZO);
}

/// Extents around the edges of blocks, chunks and 16 bytes, and random ones.
fn every_extent<T: FromBits>(seed: u64) {
    let bounds = bounds();
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut extents: Vec<Vec<u64>> = [
        &[8, 8][..],
        &[9, 33],
        &[64, 128],
        &[65, 129],
        &[63, 132],
        &[3, 3000],
        &[4, 4, 4],
        &[16, 16, 32],
        &[17, 17, 33],
        &[5, 6, 7],
        &[2, 2, 1030],
        &[300, 2, 3],
        &[33, 40, 36],
    ]
    .map(Vec::from)
    .into();
    for case in 0..40 {
        let rank = 2 + case % 2;
        extents.push((0..rank).map(|_| rng.random_range(1..=40)).collect());
    }
    for (i, lengths) in extents.iter().enumerate() {
        let kind = Kind::ALL[i % Kind::ALL.len()];
        let field = make::<T>(kind, lengths.iter().product::<u64>() as usize, i as u64);
        for layout in layouts(lengths) {
            if layout.shape != Shape::Line {
                let bound = bounds[rng.random_range(0..bounds.len())];
                check(layout, bound, &field, &format!("{kind:?} of {lengths:?}"));
            }
        }
    }
}

#[test]
fn planes_and_cubes_f32() {
    every_extent::<f32>(1);
}

#[test]
fn planes_and_cubes_f64() {
    every_extent::<f64>(2);
}

#[test]
fn every_kind_at_every_bound_in_planes_and_cubes() {
    for kind in Kind::ALL {
        for (i, bound) in bounds().into_iter().enumerate() {
            for lengths in [&[30, 300][..], &[9, 20, 50]] {
                let layouts = layouts(lengths);
                let layout = layouts[(i * 7 + kind as usize) % layouts.len()];
                let field = make::<f32>(kind, 9000, 33);
                check(layout, bound, &field, &format!("{kind:?} of {lengths:?}"));
            }
        }
    }
}

#[test]
fn every_kind_at_every_bound() {
    for kind in Kind::ALL {
        for (i, bound) in bounds().into_iter().enumerate() {
            let codec = Codec::BLOCKS[(i + kind as usize) % 5];
            check(
                line(codec, 9000),
                bound,
                &make::<f32>(kind, 9000, 31),
                &format!("{kind:?}"),
            );
            check(
                line(codec, 9000),
                bound,
                &make::<f64>(kind, 9000, 32),
                &format!("{kind:?}"),
            );
        }
    }
}

#[test]
fn parts_are_those_of_the_cpu() {
    let mut rng = SmallRng::seed_from_u64(4);
    for lengths in [&[20_000][..], &[140, 143], &[28, 25, 28], &[24, 26, 32]] {
        let field = make::<f64>(Kind::NotFinite, lengths.iter().product::<u64>() as usize, 4);
        let bound = Bound::range(1e-3).expect("a good bound");
        for layout in layouts(lengths) {
            let stream = oracle::compress(layout, bound, &field);
            for round in 0..12 {
                let mut range = |length: u64| {
                    let (a, b) = (rng.random_range(0..=length), rng.random_range(0..=length));
                    a.min(b) / 4 * 4..a.max(b)
                };
                let part = if round % 2 == 0 {
                    Part::Elements(range(field.len() as u64))
                } else {
                    Part::Box(lengths.iter().map(|length| range(*length)).collect())
                };
                let decode = |device| -> Vec<f64> {
                    let decoder = Decompressor::new().device(device);
                    decoder
                        .decompress_part(&stream, &part)
                        .expect("decompresses")
                };
                let (emulated, expected) = (decode(Device::Emulator), decode(Device::Cpu));
                let differs = emulated
                    .iter()
                    .zip(&expected)
                    .position(|(a, b)| a.to_bits() != b.to_bits());
                assert_eq!(differs, None, "{layout:?} {part:?}");
            }
        }
    }
}

#[test]
fn damage_gives_the_error_of_the_cpu() {
    let field = make::<f32>(Kind::NotFinite, 9000, 5);
    let bound = Bound::abs(0.01).expect("a good bound");
    for layout in [&[9000][..], &[30, 300], &[9, 20, 50]]
        .into_iter()
        .flat_map(layouts)
    {
        let codec = layout.codec;
        let stream = oracle::compress(layout, bound, &field);
        for step in 0..100 {
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
