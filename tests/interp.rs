//! The interpolation predictor against digests of what an independent NumPy program makes of the same
//! fields: codes, anchors and decoded values, bit for bit.

use crate::common::digest::digest;
use ferrosz::codec::code::entropy::shifts::Shifts;
use ferrosz::codec::oracle;
use ferrosz::codec::predict::interp::geometry::{Geometry, MAX_LEVELS};
use ferrosz::codec::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
use ferrosz::codec::predict::interp::resolved::Resolved;
use ferrosz::codec::predict::interp::spline::Spline;
use ferrosz::codec::tile::TileGrid;
use ferrosz::{Dtype, Element, Shape};

/// A line of `tests/vectors/interp.txt`; see the header of `tests/vectors/interp.py`.
struct Case<'a> {
    dtype: &'a str,
    shape: Shape,
    dims: [u64; 3],
    parameters: Parameters,
    radius: u32,
    bound: u64,
    kind: &'a str,
    seed: u64,
    digests: [&'a str; 3],
}

fn parse(line: &str) -> Case<'_> {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |at: usize| words[at].parse::<u64>().expect("a number");
    let real = |at: usize| words[at].parse::<f64>().expect("a number");
    let dims: Vec<u64> = words[2].split(',').map(|n| n.parse().unwrap()).collect();
    let mut levels = [LevelFlags::default(); MAX_LEVELS];
    for (level, digit) in levels.iter_mut().zip(words[4].bytes()) {
        *level = LevelFlags {
            is_multi: digit & 1 != 0,
            is_reverse: digit & 2 != 0,
            spline: if digit & 4 != 0 {
                Spline::Natural
            } else {
                Spline::NotAKnot
            },
        };
    }
    let geometry = |name: &str| Geometry::ALL.into_iter().find(|g| g.name() == name);
    Case {
        dtype: words[0],
        shape: Shape::of_rank(number(1) as u8).expect("a rank"),
        dims: dims.try_into().expect("three lengths"),
        parameters: Parameters {
            geometry: geometry(words[3]).expect("a geometry"),
            levels,
            tightening: Tightening::new(real(5), real(6)),
            shifts: Shifts::NONE,
        },
        radius: number(7) as u32,
        bound: u64::from_str_radix(words[8], 16).expect("bits"),
        kind: words[9],
        seed: number(10),
        digests: [words[11], words[12], words[13]],
    }
}

/// splitmix64 of `seed * 2^32 + i`.
fn hash(seed: u64, i: u64) -> u64 {
    let mut z = (seed << 32)
        .wrapping_add(i)
        .wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Three waves of parabolas, of at most 1 each: exact in f64.
fn waves(seed: u64, [z, y, x]: [u64; 3]) -> f64 {
    let total: i64 = (0..3)
        .map(|i| {
            let h = hash(seed ^ 0x5EED, i);
            let phase = (h & 1023) * z + (h >> 10 & 1023) * y + (h >> 20 & 1023) * x + (h >> 32);
            let t = (phase & 0xFFFF) as i64 - 32_768;
            t * (32_768 - t.abs())
        })
        .sum();
    total as f64 / f64::from(1 << 28)
}

fn signal<T: Element>(kind: &str, seed: u64, dims: [u64; 3]) -> Vec<T> {
    let [depth, height, width] = dims;
    (0..depth * height * width)
        .map(|i| {
            let at = [i / width / height, i / width % height, i % width];
            let h = hash(seed, i);
            if kind == "bits" {
                return T::from_bits64(h >> (64 - 8 * T::BYTES));
            }
            T::from_f64(value::<T>(kind, seed, at, h))
        })
        .collect()
}

fn value<T: Element>(kind: &str, seed: u64, at: [u64; 3], h: u64) -> f64 {
    let smooth = waves(seed, at);
    let noise = (h >> 40) as f64 - 8_388_608.0;
    let rough = smooth + noise / f64::from(1 << 30);
    let [z, y, x] = at.map(|i| i as f64);
    let is_rare = h & 63 == 0;
    let sign = if h & 64 != 0 { -1.0 } else { 1.0 };
    match kind {
        "smooth" => smooth,
        "rough" => rough,
        "slope" => (3.0 * z + 5.0 * y - 7.0 * x) / 8.0,
        "halves" => ((h >> 33) % 41) as f64 / 2.0 - 10.0,
        "offset" => 1_048_576.0 + rough,
        "spikes" if is_rare => sign * 1e4,
        "giants" if is_rare => sign * 1e9,
        "special" if is_rare => match (h >> 7) % 5 {
            0 => f64::NAN,
            some => sign * [0.0, f64::INFINITY, 3e38, 1e30, -0.0][some as usize],
        },
        "spikes" | "giants" | "special" => rough,
        "huge" if T::DTYPE == Dtype::F32 => noise * 2f64.powi(104),
        "huge" => noise * 2f64.powi(1000),
        _ => panic!("unknown kind {kind}"),
    }
}

/// What differs from the digests of a case; nothing, if all is well.
fn fault_of<T: Element>(case: &Case<'_>) -> Option<String> {
    let grid = TileGrid::new(case.shape, case.dims);
    let values = signal::<T>(case.kind, case.seed, case.dims);
    let resolved = Resolved::new(case.parameters, T::from_bits64(case.bound));
    let anchors =
        oracle::interp::anchors(&grid, case.parameters.geometry.spacing(case.shape), &values);
    let found = oracle::interp::decompose(&grid, &resolved, case.radius, &values, &anchors);
    let codes: Vec<u32> = (found.codes.iter())
        .map(|code| code.map_or(0, |code| case.radius.wrapping_add_signed(code)))
        .collect();
    let digests = [
        digest(bytemuck::cast_slice(&codes)),
        digest(bytemuck::cast_slice(&anchors)),
        digest(bytemuck::cast_slice(&found.known)),
    ];
    let decoded = oracle::interp::compose(
        &grid,
        &resolved,
        case.radius,
        &found.codes,
        &values,
        &anchors,
    );
    let bits = |values: &[T]| -> Vec<u64> { values.iter().map(|x| x.to_bits64()).collect() };
    let what = ["codes", "anchors", "decoded values"];
    let differs = |i: usize| (digests[i] != case.digests[i]).then(|| what[i].to_owned());
    let faults: Vec<String> = (0..3).filter_map(differs).collect();
    if bits(&decoded) != bits(&found.known) {
        return Some("the decoder knows something else".to_owned());
    }
    (!faults.is_empty()).then(|| faults.join(", "))
}

#[test]
fn codes_anchors_and_values_are_those_of_an_independent_program() {
    let lines: Vec<&str> = include_str!("vectors/interp.txt").lines().collect();
    assert_eq!(lines.len(), 457);
    let faults: Vec<String> = lines
        .into_iter()
        .filter_map(|line| {
            let case = parse(line);
            let fault = match case.dtype {
                "f32" => fault_of::<f32>(&case),
                _ => fault_of::<f64>(&case),
            };
            fault.map(|fault| format!("{line}: {fault}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
