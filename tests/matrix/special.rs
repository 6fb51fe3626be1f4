//! Fields and streams that no cell of the matrix has.

use crate::common::cases::takes_part;
use crate::common::fields::{Kind, make};
use crate::common::judge::judge;
use crate::common::machine::Machine;
use crate::common::matrix::check;
use crate::common::{compressor, layouts, tile_layouts};
use ferrosz::codec::oracle;
use ferrosz::stream::{Extents, Layout};
use ferrosz::{Bound, Codec, Decompressor, Device, Element, Error, Shape};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

fn bits<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits64()).collect()
}

/// Bodies of every rate, which no field of a few kinds has.
#[test]
fn blocks_of_every_rate() {
    for (seed, kind) in (0..).zip([Kind::Random, Kind::Steps, Kind::Offset]) {
        let field = make::<f64>(kind, 20 * 24 * 28, seed);
        for (layout, number) in layouts(&[20, 24, 28]).into_iter().zip(0..) {
            for power in (-24..8).filter(|power| takes_part(5 * number + (power + 24) as u64, 12)) {
                let bound = Bound::abs(2f64.powi(power)).expect("a good bound");
                let stream = oracle::compress(layout, bound, &field);
                let back = oracle::decompress(&stream).map(|back| bits::<f64>(&back));
                let back = back.expect("decompresses");
                for machine in Machine::cpu() {
                    let found = machine.compress(layout, bound, &field);
                    assert!(
                        found.as_ref() == Ok(&stream),
                        "{machine:?} {layout:?} {power}"
                    );
                    let found = machine.decompress::<f64>(&stream).expect("decompresses");
                    assert!(bits(&found) == back, "{machine:?} {layout:?} {power}");
                }
            }
        }
    }
}

/// A single element without dimensions.
#[test]
fn every_codec_codes_a_number_alone() {
    let machines = Machine::of_this_computer();
    for codec in Codec::ALL
        .into_iter()
        .filter(|codec| codec.takes(Shape::Line))
    {
        let layout = Layout::new(codec, Shape::Line, Extents::new(&[]).expect("extents"));
        for (value, bound) in [(280.5, 0.25), (-3e9, 0.0), (f64::NAN, 1.0)] {
            let bound = Bound::abs(bound).expect("a good bound");
            let stream = check(&machines, layout, bound, &[value as f32], "f32");
            check(&machines, layout, bound, &[value], "f64");
            let found = ferrosz::info(&stream).expect("a stream");
            assert!(found.extents.is_empty() && found.elements == 1);
        }
    }
}

/// A wave has 64 chunks for each thread.
#[test]
fn fields_of_several_waves() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let field = make::<f32>(Kind::Sparse, 8192 * (64 * threads * 3 + 5) + 17, 2);
    let bound = Bound::range(1e-3).expect("a good bound");
    for layout in layouts(&[field.len() as u64]) {
        let stream = oracle::compress(layout, bound, &field);
        for machine in Machine::cpu() {
            assert!(machine.compress(layout, bound, &field).as_ref() == Ok(&stream));
        }
        let compressor = compressor(layout, bound, Device::Cpu).expect("a compressor");
        let mut exact = vec![0; stream.len()];
        let length = compressor.compress_into(&field, &mut exact);
        assert_eq!(length, Ok(stream.len()));
        assert!(exact == stream);
        let mut decoded = vec![1.0f32; field.len() + 3];
        let decoder = Decompressor::new().device(Device::Cpu);
        let count = decoder.decompress_into(&stream, &mut decoded);
        assert_eq!(count, Ok(field.len()));
        let back: Vec<f32> = oracle::decompress(&stream).expect("decompresses");
        assert!(bits(&decoded[..field.len()]) == bits(&back));
        assert_eq!(decoded[field.len()..], [1.0; 3]);
        let short = compressor.compress_into(&field, &mut exact[1..]);
        let needed = stream.len() as u64;
        let too_small = Error::OutputTooSmall {
            needed,
            found: needed - 1,
            unit: "bytes",
        };
        assert_eq!(short, Err(too_small));
    }
}

/// Spikes in a smooth field. For such fields the original interpolation codecs exceed their bound by 1.05 to 6,400 times.
#[test]
fn spikes_cost_ratio_and_no_more() {
    let lengths = [40u64, 50, 36];
    let length = lengths.iter().product::<u64>() as usize;
    let bound = Bound::abs(1e-2).expect("a bound");
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
        for (layout, number) in tile_layouts(&lengths)
            .into_iter()
            .zip(spikes.len() as u64..)
        {
            if !takes_part(number, 6) {
                continue;
            }
            let stream = check(&Machine::cpu()[..1], layout, bound, &field, "spikes");
            assert!(stream.len() < 4 * length, "{}", layout.codec);
        }
    }
}

/// Streams whose codes have a smaller radius than ours: what is known of a raw position depends on it.
#[test]
fn streams_of_other_radii_are_decoded() {
    let bound = Bound::abs(1e-3).expect("a good bound");
    let mut rng = SmallRng::seed_from_u64(21);
    let (mut raws, mut tried) = (0, 0);
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
        for (layout, number) in tile_layouts(lengths).into_iter().zip(0..) {
            if !takes_part(number, 5) {
                continue;
            }
            let usual = oracle::compress(layout, bound, &field);
            for radius in [1, 3, 60, 300] {
                let stream = oracle::compress_with_radius(layout, bound, radius, &field);
                tried += 1;
                raws += u32::from(stream.len() > usual.len());
                let back: Vec<f32> = oracle::decompress(&stream).expect("decompresses");
                judge(bound, &field, &back).expect("within the bound");
                for machine in [Machine::cpu()[0], Machine::Emulator] {
                    if machine == Machine::Emulator && radius != 60 {
                        continue;
                    }
                    let found: Vec<f32> = machine.decompress(&stream).expect("decompresses");
                    let context = format!("{machine:?}, {} {lengths:?} {radius}", layout.codec);
                    assert!(bits(&found) == bits(&back), "{context}");
                }
            }
        }
    }
    assert!(4 * raws > tried, "{raws} of {tried}");
}

/// So many tiles that only a part of each sample is evaluated. Stencils and slices have as many samples from 64 tiles on.
#[test]
fn coefficients_are_fitted_to_parts_of_many_tiles() {
    let lengths = [16, 2, 64 * 66];
    let field: Vec<f32> = (0..lengths.iter().product::<u64>())
        .map(|i| ((i % 4224) as f32 * 0.3).sin() + ((i / 4224) as f32 * 0.9).cos())
        .collect();
    let extents = Extents::new(&lengths).expect("extents");
    for (codec, number) in [(Codec::STENCIL, 0), (Codec::SLICES, 1)] {
        let layout = Layout::new(codec, Shape::Cube, extents);
        for (bound, of_bound) in [(1e-2, 0), (1e-4, 2)] {
            if !takes_part(number + of_bound, 4) {
                continue;
            }
            let bound = Bound::abs(bound).expect("a good bound");
            check(&Machine::of_this_computer(), layout, bound, &field, "parts");
        }
    }
}
