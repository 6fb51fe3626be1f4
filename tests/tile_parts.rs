//! Parts of streams of tiles, decoded by kernels: the values of the CPU.

use crate::common::cases;
use crate::common::fields::{FromBits, Kind, make};
use ferrosz::stream::ChunkLength;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Fill, Part};
use rand::RngExt;
use rand::rngs::SmallRng;
use std::ops::Range;

/// Extents of a few tiles along each axis, of 1 to 4 dimensions.
fn extents(rng: &mut SmallRng) -> Vec<u64> {
    match rng.random_range(0..4) {
        0 => vec![rng.random_range(1..120_000)],
        1 => vec![rng.random_range(1..600), rng.random_range(1..200)],
        2 => [40, 40, 140].map(|most| rng.random_range(1..most)).to_vec(),
        _ => [4, 20, 30, 80]
            .map(|most| rng.random_range(1..most))
            .to_vec(),
    }
}

fn range(rng: &mut SmallRng, length: u64) -> Range<u64> {
    let from = rng.random_range(0..length);
    from..rng.random_range(from..=length)
}

fn part(rng: &mut SmallRng, extents: &[u64]) -> Part {
    match rng.random_range(0..4) {
        0 => Part::Elements(range(rng, extents.iter().product())),
        _ => Part::Box(extents.iter().map(|length| range(rng, *length)).collect()),
    }
}

/// A random field and stream, and some parts of it.
fn check<T: FromBits>(rng: &mut SmallRng, device: Device) {
    let extents = extents(rng);
    let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
    let length = extents.iter().product::<u64>() as usize;
    let field = make::<T>(kind, length, rng.random());
    let codecs: Vec<Codec> = Codec::ALL
        .into_iter()
        .filter(|codec| codec.tiles().is_some())
        .collect();
    let codec = codecs[rng.random_range(0..codecs.len())];
    let length = ChunkLength::ALL[rng.random_range(0..4)];
    let mut compressor = Compressor::new(codec, Bound::abs(1e-3).expect("a bound"))
        .extents(&extents)
        .expect("extents")
        .chunk_length(length);
    if rng.random_range(0..4) == 0 {
        compressor = compressor.fill(Fill::Nan).expect("a fill value");
    }
    if codec.has_levels() && rng.random_range(0..3) == 0 {
        let levels = rng.random_range(1..5);
        compressor = compressor.levels_apart(levels).expect("has levels");
    }
    let stream = compressor.compress(&field).expect("memory");
    for _ in 0..4 {
        let part = part(rng, &extents);
        let on = |device| {
            Decompressor::new()
                .device(device)
                .decompress_part::<T>(&stream, &part)
        };
        let (wanted, found) = (on(Device::Cpu).expect("sound"), on(device).expect("sound"));
        let is_same =
            bytemuck::cast_slice::<T, u8>(&found) == bytemuck::cast_slice::<T, u8>(&wanted);
        assert!(is_same, "{codec} {extents:?} {kind:?} {length:?} {part:?}");
    }
}

#[test]
fn parts_of_tiles_on_the_emulator() {
    cases::each_at_once(24, |number, rng| match number % 2 {
        0 => check::<f32>(rng, Device::Emulator),
        _ => check::<f64>(rng, Device::Emulator),
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_decodes_parts_of_tiles() {
    cases::each(400, |number, rng| match number % 2 {
        0 => check::<f32>(rng, Device::Cuda(0)),
        _ => check::<f64>(rng, Device::Cuda(0)),
    });
}
