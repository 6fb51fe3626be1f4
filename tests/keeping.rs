//! What presets keep besides the bound: a field without negative values comes back without any, and zeros that are not rare
//! come back as zeros. In every type, with missing values, on the CPU and on kernels.

use crate::common::cases::each_at_once;
use crate::common::judge::judge;
use ferrosz::codec::with_value;
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Error, Preset, Value, ValueType, info,
};
use rand::RngExt;
use rand::rngs::SmallRng;

/// What a field is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Zeros, and a few smooth areas of positive values: rain.
    Rain,
    /// Days, with zeros at night: irradiance.
    Nights,
    /// Positive values over many orders of magnitude: concentrations.
    Traces,
    /// Values of both signs, and an area of zeros.
    Flat,
}

const KINDS: [Kind; 4] = [Kind::Rain, Kind::Nights, Kind::Traces, Kind::Flat];

fn value(kind: Kind, [z, y, x]: [f64; 3], phase: f64) -> f64 {
    let wave = (0.13 * x + phase).sin() + (0.17 * y - phase).cos() + 0.5 * (0.4 * z).sin();
    match kind {
        Kind::Rain => 40.0 * (wave - 0.6).max(0.0),
        Kind::Nights => 900.0 * (0.7 * z + phase).sin().max(0.0) * (1.0 - 0.2 * wave.abs()),
        Kind::Traces => 300.0 * (4.0 * wave).exp() / 20_000.0,
        Kind::Flat => 20.0 * if wave.abs() < 0.3 { 0.0 } else { wave },
    }
}

fn field<V: Value>(kind: Kind, extents: [u64; 3], phase: f64) -> Vec<V> {
    let [depth, height, width] = extents;
    let at = |i: u64| [i / (height * width), i / width % height, i % width].map(|i| i as f64);
    let number = |i| value(kind, at(i), phase);
    let whole = |number: f64| {
        if V::TYPE.is_integer() {
            number.round()
        } else {
            number
        }
    };
    let least = if V::TYPE.is_signed() { f64::MIN } else { 0.0 };
    (0..depth * height * width)
        .map(|i| V::from_number(whole(number(i)).max(least)).unwrap_or_default())
        .collect()
}

/// The first value that was not kept, by what a reader expects of the field.
fn lost<V: Value>(
    original: &[V],
    decoded: &[V],
    is_missing: impl Fn(&V) -> bool,
) -> Option<String> {
    let present = || {
        let pairs = original.iter().zip(decoded);
        pairs
            .filter(|(x, _)| !is_missing(x))
            .map(|(x, y)| (x.to_number(), y.to_number()))
    };
    let (count, zeros) = (
        present().count(),
        present().filter(|(x, _)| *x == 0.0).count(),
    );
    let is_positive = present().all(|(x, _)| x >= 0.0);
    let mut faults = present().filter(|(x, y)| {
        let is_new_negative = is_positive && *y < 0.0;
        let is_lost_zero = 100 * zeros > count && *x == 0.0 && *y != 0.0;
        is_new_negative || is_lost_zero
    });
    faults.next().map(|(x, y)| format!("{x:e} became {y:e}"))
}

fn decompress<V: Value>(stream: &[u8]) -> Vec<V> {
    Decompressor::new()
        .device(Device::Cpu)
        .decompress(stream)
        .expect("decompresses")
}

fn presets_keep<V: Value>(random: &mut SmallRng) {
    let kind = KINDS[random.random_range(0..KINDS.len())];
    let extents = [
        4 + random.random_range(0..9),
        40,
        30 + random.random_range(0..40),
    ];
    let mut values: Vec<V> = field(kind, extents, random.random_range(0.0..6.0));
    let has_fill = random.random_range(0..3) == 0;
    let fill = V::from_number(-9999.0).filter(|_| has_fill);
    if let Some(fill) = fill {
        values[77..500].fill(fill);
    }
    let bound = match V::TYPE.is_integer() {
        true => Bound::abs([1.0, 3.0][random.random_range(0..2)]),
        false => Bound::range([1e-2, 1e-3, 1e-4][random.random_range(0..3)]),
    }
    .expect("a bound");
    for preset in Preset::ALL {
        let mut compressor = Compressor::new(preset, bound)
            .extents(&extents)
            .expect("extents");
        if let Some(fill) = fill {
            compressor = compressor.fill(fill.to_number()).expect("a fill value");
        }
        let stream = compressor
            .device(Device::Cpu)
            .compress(&values)
            .expect("compresses");
        let decoded: Vec<V> = decompress(&stream);
        let case = || {
            format!(
                "{kind:?} {} {preset} {bound:?} {extents:?} fill {has_fill}",
                V::TYPE
            )
        };
        let is_missing = |value: &V| Some(*value) == fill;
        let fault = lost(&values, &decoded, is_missing);
        assert_eq!(fault, None, "{}", case());
        if fill.is_none() {
            judge(bound, &values, &decoded).unwrap_or_else(|error| panic!("{}: {error}", case()));
        }
        let of_kernels = compressor.device(Device::Emulator).compress(&values);
        match of_kernels {
            Ok(of_kernels) => assert!(of_kernels == stream, "{}: other bytes", case()),
            Err(Error::NoDevice { .. }) => {}
            Err(error) => panic!("{}: {error}", case()),
        }
    }
}

#[test]
fn presets_keep_signs_and_zeros() {
    each_at_once(24, |number, random| {
        let value_type = ValueType::ALL[number as usize % ValueType::ALL.len()];
        with_value!(value_type, V => presets_keep::<V>(random));
    });
}

/// Without the promise, splines make negative values of each of these fields: so the others can fail.
#[test]
fn a_preset_that_keeps_nothing_may_lose_all() {
    let bound = Bound::range(1e-2).expect("a bound");
    for kind in [Kind::Rain, Kind::Nights, Kind::Traces] {
        let extents = [9, 70, 90];
        let values: Vec<f32> = field(kind, extents, 0.4);
        let compressor = Compressor::new(Codec::STENCIL, bound)
            .extents(&extents)
            .expect("extents");
        let stream = compressor
            .device(Device::Cpu)
            .compress(&values)
            .expect("compresses");
        assert!(
            lost(&values, &decompress(&stream), |_| false).is_some(),
            "{kind:?}"
        );
        let free = Compressor::new(Preset::Small, bound)
            .extents(&extents)
            .expect("extents");
        let lengths = [free.keep_none(), free].map(|it| it.compress(&values).expect("it").len());
        assert!(lengths[0] <= lengths[1], "{kind:?}: {lengths:?}");
    }
}

/// The bytes of a mask count in the choice.
#[test]
fn small_is_not_longer_than_balanced() {
    for (kind, number) in KINDS.into_iter().zip(0u32..) {
        for (extents, exponent) in [([9, 70, 90], -3), ([33, 96, 120], -2)] {
            let values: Vec<f32> = field(kind, extents, f64::from(number));
            let bound = Bound::range(10f64.powi(exponent)).expect("a bound");
            let length = |preset| {
                let compressor = Compressor::new(preset, bound)
                    .extents(&extents)
                    .expect("extents");
                compressor
                    .device(Device::Cpu)
                    .compress(&values)
                    .expect("compresses")
                    .len()
            };
            let (small, balanced) = (length(Preset::Small), length(Preset::Balanced));
            assert!(
                small <= balanced,
                "{kind:?} {extents:?}: {small} > {balanced}"
            );
        }
    }
}

/// The stream says what it keeps, and a named codec is as it was.
#[test]
fn streams_tell_what_they_keep() {
    let values: Vec<f32> = field(Kind::Traces, [9, 70, 90], 0.0);
    let warm: Vec<f32> = values.iter().map(|value| value + 280.0).collect();
    let bound = Bound::range(1e-3).expect("a bound");
    let keeps = |compressor: Compressor, values: &[f32]| {
        let compressor = compressor.extents(&[9, 70, 90]).expect("extents");
        let info = info(&compressor.compress(values).expect("compresses")).expect("a stream");
        (
            info.codec.keeps_signs_and_zeros() || info.keeps_signs,
            info.mask_bytes,
        )
    };
    assert!(keeps(Compressor::new(Preset::Small, bound), &values).0);
    assert_eq!(
        keeps(Compressor::new(Codec::INTERP, bound), &values),
        (false, 0)
    );
    // No value is as near to 0 as the bound.
    assert_eq!(keeps(Compressor::new(Preset::Small, bound), &warm).1, 0);
}
