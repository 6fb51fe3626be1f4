//! The codecs of tiles: the same bytes from the reference and the CPU backend, the bound kept, parts that are those of
//! the whole.

mod common;

use common::check::{bits, check};
use common::fields::{FromBits, Kind, make};
use common::judge::judge;
use common::{bounds, compressor, tile_layouts};
use ferrosz::codec::oracle;
use ferrosz::{Bound, Decompressor, Device, Part};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Extents of one tile, of less, of several, and around their ends.
const LENGTHS: [&[u64]; 14] = [
    &[1],
    &[17],
    &[513],
    &[16_385],
    &[40_000],
    &[1, 300],
    &[16, 16],
    &[17, 65],
    &[260, 130],
    &[3, 40, 50],
    &[16, 16, 64],
    &[17, 33, 65],
    &[33, 20, 140],
    &[1, 20, 0],
];

fn every_codec<T: FromBits>(seed: u64) {
    let bounds = bounds();
    let mut rng = SmallRng::seed_from_u64(seed);
    for lengths in LENGTHS {
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
    every_codec::<f32>(2);
}

#[test]
fn f64_of_every_codec() {
    every_codec::<f64>(3);
}

#[test]
fn every_kind_and_bound() {
    let lengths = &[20, 18, 70];
    let layouts = tile_layouts(lengths);
    for (i, kind) in Kind::ALL.into_iter().enumerate() {
        let field = make::<f32>(kind, 20 * 18 * 70, 7);
        for (j, bound) in bounds().into_iter().enumerate() {
            let layout = layouts[(7 * i + j) % layouts.len()];
            check(layout, bound, &field, &format!("{kind:?}"));
        }
    }
}

/// What the originals exceed their bound for: see spec/ginterp, section 7.1, by 1.05 to 6,400 times.
#[test]
fn spikes_cost_ratio_and_no_more() {
    let lengths = [40u64, 50, 70];
    let length = lengths.iter().product::<u64>() as usize;
    let mut rng = SmallRng::seed_from_u64(9);
    let smooth: Vec<f32> = (0..length)
        .map(|i| (i as f32 * 0.01).sin() + (i as f32 * 0.00031).cos())
        .collect();
    for spikes in [
        &[1e4][..],
        &[1e9],
        &[f32::NAN, f32::INFINITY, -f32::INFINITY, 3e38, -1e4, 1e9],
    ] {
        let mut field = smooth.clone();
        for _ in 0..length / 200 {
            let spike = spikes[rng.random_range(0..spikes.len())];
            field[rng.random_range(0..length)] = spike;
        }
        for layout in tile_layouts(&lengths) {
            let (stream, _) = check(layout, Bound::abs(1e-2).expect("a bound"), &field, "spikes");
            assert!(stream.len() < 4 * length, "{}", layout.codec);
        }
    }
}

#[test]
fn any_part_is_that_part_of_the_whole() {
    let mut rng = SmallRng::seed_from_u64(5);
    for lengths in [&[50_000u64][..], &[2, 300, 140], &[40, 35, 150]] {
        let length = lengths.iter().product::<u64>() as usize;
        let field = make::<f32>(Kind::Smooth, length, 3);
        for layout in tile_layouts(lengths) {
            let bound = Bound::range(1e-3).expect("a bound");
            let compressor = compressor(layout, bound, Device::Cpu).expect("a compressor");
            let stream = compressor.compress(&field).expect("compresses");
            let decoder = Decompressor::new().device(Device::Cpu);
            let whole: Vec<f32> = decoder.decompress(&stream).expect("decompresses");
            for _ in 0..4 {
                let ranges: Vec<_> = (lengths.iter())
                    .map(|length| {
                        let (a, b) = (rng.random_range(0..=*length), rng.random_range(0..=*length));
                        a.min(b)..a.max(b)
                    })
                    .collect();
                let part = Part::Box(ranges.clone());
                let found: Vec<f32> = decoder.decompress_part(&stream, &part).expect("a part");
                let flat = |at: &[u64]| at.iter().zip(lengths).fold(0, |i, (at, l)| i * l + at);
                let mut wanted = Vec::new();
                let mut all = vec![Vec::new()];
                for range in &ranges {
                    all = (all.iter())
                        .flat_map(|start: &Vec<u64>| {
                            range.clone().map(move |at| [&start[..], &[at]].concat())
                        })
                        .collect();
                }
                wanted.extend(all.iter().map(|at| whole[flat(at) as usize]));
                assert!(bits(&found) == bits(&wanted), "{layout:?} {ranges:?}");
                let (a, b) = (rng.random_range(0..=length), rng.random_range(0..=length));
                let range = a.min(b) as u64..a.max(b) as u64;
                let found: Vec<f32> =
                    (decoder.decompress_range(&stream, range.clone())).expect("a range");
                assert!(bits(&found) == bits(&whole[range.start as usize..range.end as usize]));
            }
        }
    }
}

/// No damage may go unseen where checksums are verified, and none may panic where they are not.
#[test]
fn damage_is_found() {
    let lengths = [20u64, 18, 70];
    let field = make::<f32>(Kind::Smooth, 20 * 18 * 70, 3);
    let mut rng = SmallRng::seed_from_u64(6);
    for layout in tile_layouts(&lengths) {
        let bound = Bound::range(1e-3).expect("a bound");
        let compressor = compressor(layout, bound, Device::Cpu).expect("a compressor");
        let stream = compressor.compress(&field).expect("compresses");
        let decoder = Decompressor::new().device(Device::Cpu);
        for case in 0..60 {
            let mut damaged = stream.clone();
            let at = if case < 20 {
                case * 23 % stream.len()
            } else {
                rng.random_range(0..stream.len())
            };
            damaged[at] ^= 1 << rng.random_range(0..8);
            assert!(decoder.decompress::<f32>(&damaged).is_err(), "byte {at}");
            assert!(oracle::decompress::<f32>(&damaged).is_err(), "byte {at}");
            let trusting = decoder.verify_checksums(false);
            let _ = trusting.decompress::<f32>(&damaged);
            damaged.truncate(at);
            assert!(decoder.decompress::<f32>(&damaged).is_err());
        }
    }
}

/// Streams whose codes have a smaller radius than ours: what is known of a raw place depends on it.
#[test]
fn streams_of_other_radii_are_decoded() {
    let bound = Bound::abs(1e-3).expect("a good bound");
    let mut rng = SmallRng::seed_from_u64(21);
    let mut raws = 0;
    for lengths in [&[17_000][..], &[130, 70], &[18, 17, 66]] {
        let length = lengths.iter().product::<u64>() as usize;
        // Steps of up to some hundred bounds, and smooth stretches.
        let mut level = 0.0f32;
        let field: Vec<f32> = (0..length)
            .map(|i| {
                let most = if i / 3000 % 2 == 0 { 0.5f32 } else { 0.004 };
                level += rng.random_range(-most..most);
                level
            })
            .collect();
        for layout in tile_layouts(lengths) {
            let usual = oracle::compress(layout, bound, &field);
            for radius in [1, 3, 60, 300] {
                let stream = oracle::compress_with_radius(layout, bound, radius, &field);
                raws += u32::from(stream.len() > usual.len());
                let back: Vec<f32> = oracle::decompress(&stream).expect("decompresses");
                judge(bound, &field, &back).expect("within the bound");
                let decoder = Decompressor::new().device(Device::Cpu);
                let found: Vec<f32> = decoder.decompress(&stream).expect("decompresses");
                let context = format!("{} {lengths:?} {radius}", layout.codec);
                assert!(bits(&found) == bits(&back), "{context}");
                #[cfg(feature = "emulator")]
                if radius == 60 {
                    let decoder = Decompressor::new().device(Device::Emulator);
                    let found: Vec<f32> = decoder.decompress(&stream).expect("decompresses");
                    assert!(bits(&found) == bits(&back), "emulator, {context}");
                }
            }
        }
    }
    assert!(raws > 50, "{raws}");
}
