//! Arrays that are decoded, changed in part, and compressed again, as chunks of Zarr and HDF5 are: the errors never add up.

use crate::common::cases::each_at_once;
use ferrosz::codec::with_value;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Error, Preset, Value, ValueType};
use num_rational::BigRational;
use rand::RngExt;
use rand::rngs::SmallRng;

/// Rewrites of a case.
const REWRITES: usize = 12;

fn number<V: Value>(random: &mut SmallRng, i: usize, level: f64) -> V {
    let wave = 40.0 * (i as f64 / 17.0).sin() + random.random_range(-0.5..0.5);
    let number = match V::TYPE {
        ValueType::I32 | ValueType::U32 => (level * 4e7 + 900.0 * wave).round().abs(),
        _ if V::TYPE.is_integer() => (level + wave).round().abs(),
        _ => level + wave,
    };
    V::from_number(number).unwrap_or_default()
}

/// Whether two numbers differ by at most the bound, in exact arithmetic.
fn is_within(bound: Bound, x: f64, y: f64) -> bool {
    let exact = |value| BigRational::from_float(value).expect("finite");
    let most = match bound.mode() {
        ferrosz::BoundMode::Pwrel => exact(bound.value()) * exact(x.abs()),
        _ => exact(bound.value()),
    };
    let difference = exact(x) - exact(y);
    difference <= most && -difference <= most
}

fn rewritten<V: Value>(random: &mut SmallRng) {
    let is_pwrel = V::TYPE.is_coded_as_is() && random.random_range(0..3) == 0;
    let bound = match (is_pwrel, V::TYPE.is_integer()) {
        (true, _) => Bound::pwrel([1e-1, 1e-3, 1e-5][random.random_range(0..3)]),
        (_, true) => Bound::abs([1.0, 2.0, 5.0][random.random_range(0..3)]),
        (_, false) => Bound::abs([1e-3, 0.02, 0.3, 3.0][random.random_range(0..4)]),
    }
    .expect("a bound");
    let extents = [
        random.random_range(1..5),
        20,
        random.random_range(20..60usize),
    ];
    let count = extents.iter().product();
    let preset = Preset::ALL[random.random_range(0..Preset::ALL.len())];
    let compressor = Compressor::new(preset, bound)
        .rewritable()
        .expect("a preset");
    let compressor = compressor
        .extents(&extents)
        .expect("extents")
        .device(Device::Cpu);
    let compressor = match random.random_range(0..3) {
        0 => compressor.fill(0.0).expect("a fill value"),
        _ => compressor,
    };
    let mut level = random.random_range(0.0..60.0);
    let mut original: Vec<V> = (0..count).map(|i| number(random, i, level)).collect();
    let mut values = original.clone();
    for round in 0..REWRITES {
        let stream = compressor.compress(&values).expect("compresses");
        values = Decompressor::new()
            .decompress(&stream)
            .expect("decompresses");
        let pairs = original.iter().zip(&values);
        for (i, (x, y)) in pairs
            .map(|(x, y)| (x.to_number(), y.to_number()))
            .enumerate()
        {
            let case = || format!("{} {preset} {bound:?} {extents:?} rewrite {round}", V::TYPE);
            assert!(
                is_within(bound, x, y),
                "{}: element {i}: {x:e} is now {y:e}",
                case()
            );
        }
        // A part is written again, with values that move the extremes, and so whatever is chosen by them.
        level = random.random_range(-20.0..80.0);
        let start = random.random_range(0..count);
        let end = random.random_range(start..count.min(start + 300));
        for i in start..end {
            original[i] = number(random, i, level);
            values[i] = original[i];
        }
    }
}

#[test]
fn errors_of_rewrites_never_add_up() {
    each_at_once(48, |number, random| {
        let value_type = ValueType::ALL[number as usize % ValueType::ALL.len()];
        with_value!(value_type, V => rewritten::<V>(random));
    });
}

/// Splines do add up, so that the other test can fail; they are refused.
#[test]
fn splines_are_not_rewritable() {
    let bound = Bound::abs(0.05).expect("a bound");
    let extents = [32usize, 40, 40];
    let at = |i: usize, n: usize| 6.0 * i as f64 / (n - 1) as f64;
    let value = |i: usize| {
        let (z, y, x) = (at(i / 1600, 32), at(i / 40 % 40, 40), at(i % 40, 40));
        (280.0 + 10.0 * z.sin() * (x + y).cos()) as f32
    };
    let field: Vec<f32> = (0..extents.iter().product()).map(value).collect();
    let compressor = Compressor::new(Preset::Small, bound)
        .extents(&extents)
        .expect("extents");
    let mut values = field.clone();
    for _ in 0..20 {
        values[0] = field[0];
        let stream = compressor.compress(&values).expect("compresses");
        values = Decompressor::new()
            .decompress(&stream)
            .expect("decompresses");
    }
    let worst = field
        .iter()
        .zip(&values)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, f32::max);
    assert!(worst > 0.1, "{worst}");
    let splines = Compressor::new(Codec::INTERP, bound);
    assert!(matches!(
        splines.rewritable(),
        Err(Error::NotRewritable(Codec::INTERP))
    ));
}
