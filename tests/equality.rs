//! The same bytes from the reference and the CPU backend, and the bound kept, for every length.

mod common;

use common::check::{bits, check};
use common::fields::{FromBits, Kind, make};
use common::{bounds, judge::judge, layouts};
use ferrosz::codec::container::header::HEADER_BYTES;
use ferrosz::codec::oracle;
use ferrosz::{Bound, Codec, Decompressor, Device, Extents, Layout, Part, Shape};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

fn line(codec: Codec, length: usize) -> Layout {
    Layout::new(codec, Shape::Line, Extents::line(length as u64))
}

fn every_length<T: FromBits>() {
    let bounds = bounds();
    for length in 0..=4099 {
        let kind = Kind::ALL[length % Kind::ALL.len()];
        let field = make::<T>(kind, length, length as u64);
        for (i, codec) in Codec::BLOCKS.into_iter().enumerate() {
            let bound = bounds[(length / Kind::ALL.len() + i) % bounds.len()];
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
fn f32_of_every_length() {
    every_length::<f32>();
}

#[test]
fn f64_of_every_length() {
    every_length::<f64>();
}

fn every_kind<T: FromBits>() {
    for kind in Kind::ALL {
        for length in [8191, 8192, 8193, 16_400, 50_000] {
            let field = make::<T>(kind, length, 7);
            for bound in bounds() {
                for codec in Codec::BLOCKS {
                    check(
                        line(codec, length),
                        bound,
                        &field,
                        &format!("{kind:?} of {length}"),
                    );
                }
            }
        }
    }
}

#[test]
fn f32_of_every_kind() {
    every_kind::<f32>();
}

#[test]
fn f64_of_every_kind() {
    every_kind::<f64>();
}

/// One case of some extents: kind, bound and seed drawn from them.
fn check_extents<T: FromBits>(lengths: &[u64], seed: u64) {
    let bounds = bounds();
    let mut rng = SmallRng::seed_from_u64(seed);
    let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
    let length = lengths.iter().product::<u64>() as usize;
    let field = make::<T>(kind, length, seed);
    for layout in layouts(lengths) {
        if layout.shape != Shape::Line {
            let bound = bounds[rng.random_range(0..bounds.len())];
            check(layout, bound, &field, &format!("{kind:?} of {lengths:?}"));
        }
    }
}

#[test]
fn planes_of_all_extents_to_40() {
    for y in 1..=40 {
        for x in 1..=40 {
            check_extents::<f32>(&[y, x], 41 * y + x);
            check_extents::<f64>(&[y, x], 41 * y + x + 5000);
        }
    }
}

#[test]
fn cubes_of_all_extents_to_11_and_of_random_ones_to_40() {
    let mut rng = SmallRng::seed_from_u64(10);
    for case in 0..11 * 11 * 11 {
        let small = [case / 121 + 1, case / 11 % 11 + 1, case % 11 + 1];
        check_extents::<f32>(&small, case);
        let mut length = || rng.random_range(1..=40);
        check_extents::<f64>(&[length(), length(), length()], case + 2000);
    }
}

#[test]
fn larger_planes_and_cubes() {
    let extents: [&[u64]; 8] = [
        &[200, 300],
        &[129, 131],
        &[2, 20_000],
        &[20_000, 3],
        &[50, 60, 70],
        &[17, 33, 65],
        &[3000, 2, 5],
        &[2, 2, 9000],
    ];
    for (i, lengths) in (0..).zip(extents) {
        for round in 0..4 {
            check_extents::<f32>(lengths, 100 + 10 * i + round);
            check_extents::<f64>(lengths, 200 + 10 * i + round);
        }
    }
}

/// The elements of a part, one by one.
fn elements_of(part: &Part, lengths: &[u64]) -> Vec<usize> {
    match part {
        Part::Elements(range) => (range.start as usize..range.end as usize).collect(),
        Part::Box(ranges) => {
            let mut flat = vec![0];
            for (range, length) in ranges.iter().zip(lengths) {
                let row = |at: &u64| {
                    range
                        .clone()
                        .map(move |i| i + at * length)
                        .collect::<Vec<_>>()
                };
                flat = flat.iter().flat_map(row).collect();
            }
            flat.into_iter().map(|at| at as usize).collect()
        }
    }
}

#[test]
fn any_part_is_that_part_of_the_whole() {
    let mut rng = SmallRng::seed_from_u64(11);
    let extents: [&[u64]; 5] = [
        &[50_000],
        &[150, 333],
        &[40, 50, 63],
        &[1, 9, 4000],
        &[30, 1, 900],
    ];
    for lengths in extents {
        let field = make::<f32>(Kind::NotFinite, lengths.iter().product::<u64>() as usize, 3);
        for layout in layouts(lengths) {
            let bound = Bound::range(1e-3).expect("a good bound");
            let stream = oracle::compress(layout, bound, &field);
            let whole: Vec<f32> = oracle::decompress(&stream).expect("decompresses");
            let decoder = Decompressor::new().device(Device::Cpu);
            for round in 0..60 {
                let mut range = |length: u64| {
                    let (a, b) = (rng.random_range(0..=length), rng.random_range(0..=length));
                    a.min(b)..a.max(b)
                };
                let part = if round % 2 == 0 {
                    Part::Elements(range(field.len() as u64))
                } else {
                    Part::Box(lengths.iter().map(|length| range(*length)).collect())
                };
                let found: Vec<f32> = decoder
                    .decompress_part(&stream, &part)
                    .expect("decompresses");
                let expected: Vec<f32> = elements_of(&part, lengths)
                    .iter()
                    .map(|at| whole[*at])
                    .collect();
                assert_eq!(bits(&found), bits(&expected), "{layout:?} {part:?}");
            }
            let outside = Part::Elements(0..field.len() as u64 + 1);
            assert!(decoder.decompress_part::<f32>(&stream, &outside).is_err());
        }
    }
}

#[test]
fn a_part_touches_no_other_chunk() {
    let field = make::<f32>(Kind::Smooth, 64 * 64 * 64, 3);
    let bound = Bound::range(1e-3).expect("a good bound");
    let decoder = Decompressor::new().device(Device::Cpu);
    for layout in layouts(&[64, 64, 64]) {
        let stream = oracle::compress(layout, bound, &field);
        // In the chunk behind the first, whatever its shape: all but the first is damaged.
        let second = ferrosz::codec::container::table::Entry::from_bytes(
            stream[HEADER_BYTES + 16..].first_chunk().expect("an entry"),
        );
        let mut damaged = stream.clone();
        let payload = HEADER_BYTES + 16 * 32 + second.start as usize;
        damaged[payload..].iter_mut().for_each(|byte| *byte ^= 0x55);
        let part = Part::Box(vec![0..2, 0..16, 0..32]);
        let found = decoder.decompress_part::<f32>(&damaged, &part);
        let right = decoder
            .decompress_part::<f32>(&stream, &part)
            .expect("decompresses");
        assert_eq!(found.expect("not touched"), right, "{layout:?}");
        assert!(decoder.decompress::<f32>(&damaged).is_err());
    }
}

#[test]
fn the_judge_sees_what_is_wrong() {
    let bound = Bound::abs(0.25).expect("a good bound");
    let field = [1.0f32, 2.0, f32::NAN, f32::INFINITY];
    let nan = field[2];
    assert!(judge(bound, &field, &[1.25, 1.75, nan, f32::INFINITY]).is_ok());
    assert!(judge(bound, &field, &[1.25f32.next_up(), 2.0, nan, f32::INFINITY]).is_err());
    assert!(judge(bound, &field, &[1.0, 2.0, 0.0, f32::INFINITY]).is_err());
    assert!(judge(bound, &field, &[1.0, 2.0, nan, f32::MAX]).is_err());
    assert!(judge(bound, &field, &[1.0, f32::NAN, nan, f32::INFINITY]).is_err());
    let other_nan = f32::from_bits(nan.to_bits() ^ 1);
    assert!(judge(bound, &field, &[1.0, 2.0, other_nan, f32::INFINITY]).is_err());
    assert!(judge(bound, &field, &field[..3]).is_err());
}

#[test]
fn a_planted_difference_is_seen() {
    // The comparison of streams and the judge are shown red: one bit of one body, one step of
    // one code.
    let field = make::<f32>(Kind::Smooth, 5000, 1);
    let bound = Bound::abs(0.01).expect("a good bound");
    let mut stream = oracle::compress(line(Codec::PLAIN, 5000), bound, &field);
    let right = stream.clone();
    let at = stream.len() - 40;
    stream[at] ^= 1;
    assert!(stream != right);
    let decoded: Vec<f32> = Decompressor::new()
        .device(Device::Cpu)
        .verify_checksums(false)
        .decompress(&stream)
        .expect("decodes without its checksum");
    assert!(judge(bound, &field, &decoded).is_err());
}
