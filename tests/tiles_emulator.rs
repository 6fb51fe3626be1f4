//! The codecs of tiles on the emulator: the streams and fields of the CPU.
#![cfg(feature = "emulator")]

mod common;

use common::fields::{FromBits, Kind, make};
use common::{bounds, compressor, tile_layouts};
use ferrosz::{Bound, Decompressor, Device, Layout};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

fn bits<T: FromBits>(values: &[T]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits64()).collect()
}

fn check<T: FromBits>(layout: Layout, bound: Bound, field: &[T], context: &str) {
    let context = format!("{context}, {} {}: {bound:?}", layout.codec, layout.shape);
    let compress = |device| {
        let compressor = compressor(layout, bound, device).expect("a compressor");
        compressor.compress(field).expect("compresses")
    };
    let expected = compress(Device::Cpu);
    let found = compress(Device::Emulator);
    assert!(found == expected, "streams differ: {context}");
    let decompress = |device| {
        let decoder = Decompressor::new().device(device);
        bits(&decoder.decompress::<T>(&found).expect("decompresses"))
    };
    assert!(
        decompress(Device::Emulator) == decompress(Device::Cpu),
        "fields differ: {context}"
    );
}

fn every_codec<T: FromBits>(seed: u64) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let bounds = bounds();
    for lengths in [
        &[20_000u64][..],
        &[1],
        &[40, 50],
        &[17, 18, 20],
        &[18, 17, 70],
        &[3, 2],
    ] {
        let length = lengths.iter().product::<u64>() as usize;
        for layout in tile_layouts(lengths) {
            let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
            let field = make::<T>(kind, length, rng.random());
            let bound = bounds[rng.random_range(0..bounds.len())];
            check(layout, bound, &field, &format!("{kind:?} of {lengths:?}"));
        }
    }
}

#[test]
fn f32_of_every_codec() {
    every_codec::<f32>(1);
}

#[test]
fn f64_of_every_codec() {
    every_codec::<f64>(2);
}

#[test]
fn damage_is_found_and_goes_nowhere() {
    let lengths = [18u64, 17, 40];
    let field = make::<f32>(Kind::Smooth, 18 * 17 * 40, 3);
    let mut rng = SmallRng::seed_from_u64(6);
    for layout in tile_layouts(&lengths) {
        let bound = Bound::range(1e-3).expect("a bound");
        let compressor = compressor(layout, bound, Device::Cpu).expect("a compressor");
        let stream = compressor.compress(&field).expect("compresses");
        let decoder = Decompressor::new().device(Device::Emulator);
        for case in 0..8 {
            let mut damaged = stream.clone();
            let at = rng.random_range(if case < 4 { 128 } else { 0 }..stream.len());
            damaged[at] ^= 1 << rng.random_range(0..8);
            assert!(decoder.decompress::<f32>(&damaged).is_err(), "byte {at}");
            // Without checksums any field may come out, but no access goes astray.
            let trusting = decoder.verify_checksums(false);
            let _ = trusting.decompress::<f32>(&damaged);
        }
    }
}
