//! Wavelets keep the bound, decode alike everywhere, and make shorter streams where a mean error is wanted.

use crate::common::cases;
use ferrosz::codec::oracle;
use ferrosz::stream::StreamAt;
use ferrosz::target::Target;
use ferrosz::ways::{Setting, Way};
use ferrosz::{
    Bound, BoundMode, Codec, Compressor, Decompressor, Error, Part, Preset, Value, info, versions,
};
use ferrosz_verify::Comparison;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::io::Cursor;

const EXTENTS: [&[u64]; 8] = [
    &[1],
    &[9],
    &[5000],
    &[70, 300],
    &[9, 40, 60],
    &[2, 3, 700],
    &[650, 4, 5],
    &[3, 4, 9, 10],
];

/// A smooth field with some noise, and among few values in `odd` one that is a fill value or not finite.
fn field<V: Value>(extents: &[u64], odd: u32, seed: u64) -> Vec<V> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let width = extents.last().copied().unwrap_or(1);
    let mut value = |i: u64| {
        let (x, y) = ((i % width) as f64, (i / width) as f64);
        let wave = (x / 40.0).sin() + (y / 25.0).cos() + rng.random_range(-0.01..0.01);
        let number = match rng.random_range(0..odd) {
            0 if !V::TYPE.is_integer() => f64::NAN,
            1 if !V::TYPE.is_integer() => f64::NEG_INFINITY,
            2 => -5.0,
            3 => 0.0,
            _ => 1000.0 * wave,
        };
        V::from_number(if V::TYPE.is_integer() {
            number.round()
        } else {
            number
        })
    };
    (0..extents.iter().product())
        .map(|i| value(i).unwrap_or_default())
        .collect()
}

fn bits<V: Value>(values: &[V]) -> Vec<u64> {
    values.iter().map(|value| value.to_value_bits()).collect()
}

/// The decoded values of a stream, which all ways to decode agree about, and which keep its bound.
fn checked<V: Value>(stream: &[u8], field: &[V], name: &str) -> Vec<V> {
    let decoded: Vec<V> = Decompressor::new().decompress(stream).expect(name);
    let info = info(stream).expect(name);
    let comparison = Comparison::new(field, &decoded, &info).expect(name);
    assert!(comparison.is_kept(), "{name} {comparison:?}");
    let of_reference: Vec<V> = oracle::decompress(stream).expect(name);
    assert!(
        bits(&of_reference) == bits(&decoded),
        "{name}: the reference"
    );
    let mut written = Cursor::new(Vec::new());
    versions::decompress_seek::<V>(1 << 12, stream, &mut written).expect(name);
    assert!(
        written.into_inner() == bytemuck::cast_slice::<V, u8>(&decoded),
        "{name}: to a file"
    );
    let count = decoded.len() as u64;
    let range = count / 3..count - count / 5;
    let part = Part::Elements(range.clone());
    let found: Vec<V> = Decompressor::new()
        .decompress_part(stream, &part)
        .expect(name);
    let wanted = &decoded[range.start as usize..range.end as usize];
    assert!(bits(&found) == bits(wanted), "{name}: a part");
    let mut far = StreamAt::open(stream).expect(name);
    let found: Vec<V> = far
        .decompress_part(&Decompressor::new(), &part)
        .expect(name);
    assert!(bits(&found) == bits(wanted), "{name}: a part of a file");
    decoded
}

fn of_type<V: Value>(bounds: &[Bound]) {
    for (seed, extents) in (0..).zip(EXTENTS) {
        for bound in bounds {
            for odd in [u32::MAX, 60] {
                let values = field::<V>(extents, odd, seed);
                let name = format!("{} {extents:?} {bound:?} {odd}", V::TYPE);
                let compressor = Compressor::new(Preset::Small, *bound);
                let compressor = compressor.extents(extents).expect(&name).wavelets();
                let stream = compressor.compress(&values).expect(&name);
                checked(&stream, &values, &name);
                if odd == 60 && bound.mode() != BoundMode::Pwrel && V::from_number(-5.0).is_some() {
                    let masked = compressor.fill(-5.0).expect(&name);
                    let stream = masked.keep_zeros().compress(&values).expect(&name);
                    checked(&stream, &values, &name);
                }
            }
        }
    }
}

#[test]
fn the_bound_is_kept() {
    let abs = |bound| Bound::abs(bound).expect("a bound");
    let range = |bound| Bound::range(bound).expect("a bound");
    let pwrel = Bound::pwrel(0.05).expect("a bound");
    of_type::<f32>(&[range(0.1), abs(0.5), abs(0.0), pwrel]);
    of_type::<f64>(&[range(1e-3), abs(1e-7), pwrel]);
    of_type::<i16>(&[abs(3.0), abs(0.0)]);
    of_type::<u16>(&[range(0.02)]);
    of_type::<i32>(&[abs(2.0)]);
    of_type::<ferrosz::F16>(&[range(0.01)]);
}

#[test]
fn coarse_coefficients_are_corrected() {
    let extents = [9, 40, 60];
    let values = field::<f32>(&extents, u32::MAX, 3);
    for error in [1.0, 10.0, 1e4] {
        let compressor = Compressor::new(Codec::DIRECT_RANS, Bound::abs(1.0).unwrap());
        let compressor = compressor.extents(&extents).unwrap();
        let stream = compressor
            .wavelets_within(error)
            .unwrap()
            .compress(&values)
            .unwrap();
        checked(&stream, &values, &format!("coefficients within {error}"));
        assert!((info(&stream).unwrap().absolute_error - 1.0).abs() < 1e-6);
    }
}

/// On a field of smooth waves, a PSNR takes fewer bytes than by any codec that predicts.
#[test]
fn a_mean_error_takes_fewer_bytes() {
    let (depth, height, width) = (40u64, 48, 64);
    let wave = |i: u64| {
        let [z, y, x] = [i / width / height, i / width % height, i % width].map(|at| at as f64);
        (0.31 * x + 0.05 * z).sin() + (0.23 * y).cos() * (0.11 * x).sin() + 0.5 * (0.4 * z).cos()
    };
    let values: Vec<f32> = (0..depth * height * width)
        .map(|i| wave(i) as f32)
        .collect();
    let extents = [depth, height, width];
    let compressor = Compressor::new(Preset::Small, Bound::default());
    let compressor = compressor.extents(&extents).unwrap();
    for target in [Target::psnr(45.0).unwrap(), Target::mae(0.01).unwrap()] {
        let found = compressor.search(target, &values).unwrap();
        assert!(found.compressor.has_wavelets(), "{target}");
        assert_eq!(found.compressor.compress(&values).unwrap(), found.stream);
        let decoded = checked(&found.stream, &values, &target.to_string());
        let errors = values.iter().zip(&decoded).map(|(x, y)| f64::from(x - y));
        let count = values.len() as f64;
        let (squares, sum) = errors.fold((0.0, 0.0), |(squares, sum), error| {
            (squares + error * error, sum + error.abs())
        });
        assert!((found.figures.rmse - (squares / count).sqrt()).abs() < 1e-9);
        assert!((found.figures.mae - sum / count).abs() < 1e-9);
        // Another preset has no wavelets, and reaches the target, too.
        let other = Compressor::new(Codec::STENCIL, Bound::default());
        let other = other.extents(&extents).unwrap();
        let other = other.search(target, &values).unwrap();
        assert!(found.stream.len() < other.stream.len(), "{target}");
    }
}

#[test]
fn a_damaged_chunk_loses_all_values() {
    let extents = [30, 70, 90];
    let values = field::<f32>(&extents, u32::MAX, 5);
    let compressor = Compressor::new(Codec::DIRECT_RANS, Bound::range(1e-3).unwrap());
    let compressor = compressor.extents(&extents).unwrap().wavelets();
    let mut stream = compressor.compress(&values).unwrap();
    let chunks = stream.len() - info(&stream).unwrap().section_bytes as usize;
    let place = cases::seed() as usize % 1000 + chunks / 2;
    stream[place] ^= 4;
    assert!(Decompressor::new().decompress::<f32>(&stream).is_err());
    let (left, damages) = Decompressor::new().salvage::<f32>(&stream).unwrap();
    assert!(!damages.is_empty() && left.iter().all(|value| value.is_nan()));
    assert!(!Decompressor::new().check(&stream).unwrap().is_empty());
}

#[test]
fn other_ways_refuse_them() {
    let values = vec![1.0f32; 5000];
    let compressor = Compressor::new(Preset::Small, Bound::abs(0.1).unwrap()).wavelets();
    let refused = compressor.plan(&values, 2).map(|_| ());
    assert!(matches!(
        refused,
        Err(Error::Refused {
            way: Way::Plan,
            setting: Setting::Wavelets
        })
    ));
    assert!(
        Way::ALL
            .iter()
            .all(|way| ferrosz::ways::refusal(*way, Setting::Wavelets).is_some())
    );
    assert!(matches!(
        compressor.rewritable(),
        Err(Error::NotRewritable(Codec::DIRECT_RANS))
    ));
    assert!(compressor.compress(&values).is_ok());
}
