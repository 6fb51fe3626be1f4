//! Bounds relative to each value: |x - x'| <= E |x| in exact arithmetic, signs and zeros kept. `tests/matrix.rs` has these
//! bounds on every machine; here are the logarithms of all values, parts, updates, masks, and what is refused.

use crate::common::cases::{asked, each_at_once, takes_part};
use crate::common::fields::{FromBits, Kind, make};
use crate::common::judge::judge;
use crate::common::machine::Machine;
use crate::common::{layouts, matrix, tile_layouts};
use ferrosz::codec::mapping::logarithm::{from_coded, to_coded};
use ferrosz::codec::quantize::field::Quantizer;
use ferrosz::stream::{Extents, Layout, Update};
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Error, Fill, Part, Preset, Shape, info,
};
use rand::RngExt;
use rand::rngs::SmallRng;
use rayon::prelude::*;

fn pwrel(value: f64) -> Bound {
    Bound::pwrel(value).expect("a good bound")
}

/// Forty bounds from the smallest that is not lossless in `f32` to more than 10.
fn forty() -> Vec<f64> {
    (0..40).map(|i| 6.7e-6 * 1.45f64.powi(i)).collect()
}

/// Whether |x - y| <= bound |x| exactly. The difference of two `f32` of similar size is exact in `f64`; the product is
/// split into its rounded value and the rest.
fn is_within(bound: f64, x: f32, y: f32) -> bool {
    let (x, y) = (f64::from(x), f64::from(y));
    let difference = (x - y).abs();
    let product = bound * x.abs();
    let rest = bound.mul_add(x.abs(), -product);
    difference < product || difference == product && rest >= 0.0
}

/// What a decoder makes of the code of a magnitude, and of the logarithms at the ends of what the quantiser allows.
fn decoded(quantizer: &Quantizer<f32>, x: f32) -> [f32; 3] {
    let y = to_coded(x);
    let near = quantizer
        .quantize(y)
        .map_or(y, |code| quantizer.dequantize(code));
    let error = f64::from(quantizer.error());
    let down = (f64::from(y) - error) as f32;
    let up = (f64::from(y) + error) as f32;
    let down = if f64::from(y) - f64::from(down) > error {
        down.next_up()
    } else {
        down
    };
    let up = if f64::from(up) - f64::from(y) > error {
        up.next_down()
    } else {
        up
    };
    [near, down, up].map(from_coded)
}

/// Judges the normal magnitudes of these bits at one bound.
fn judge_magnitudes(bound: f64, bits: impl Iterator<Item = u32>) {
    let quantizer: Quantizer<f32> = pwrel(bound).resolve_of(0.0);
    assert!(!quantizer.is_lossless(), "{bound:e}");
    for bits in bits {
        let x = f32::from_bits(bits);
        for y in decoded(&quantizer, x) {
            assert!(is_within(bound, x, y), "{x:e} becomes {y:e} at {bound:e}");
        }
    }
}

const NORMAL: std::ops::Range<u32> = 0x80_0000..0x7f80_0000;

#[test]
fn magnitudes_are_within_forty_bounds() {
    forty().into_par_iter().for_each(|bound| {
        judge_magnitudes(bound, NORMAL.step_by(40_009));
    });
}

/// The case with a number, or in a usual run any of so many.
fn any_of(all: u64, number: u64, rng: &mut SmallRng) -> u32 {
    let number = if asked().is_some() {
        number
    } else {
        rng.random_range(0..all)
    };
    u32::try_from(number).expect("few cases")
}

/// All magnitudes at each bound: a case is a block of magnitudes.
#[test]
fn all_magnitudes_are_within_forty_bounds() {
    let blocks = (NORMAL.end - NORMAL.start) >> 20;
    each_at_once(4, |number, rng| {
        let number = any_of(u64::from(40 * blocks), number, rng);
        let first = NORMAL.start + ((number / 40) << 20);
        let bound = forty()[number as usize % 40];
        let step = if asked().is_some() { 1 } else { 8 };
        judge_magnitudes(bound, (first..first + (1 << 20)).step_by(step));
    });
}

/// The promise rests on two numbers (FORMAT.md, section 25): the error of logarithms, and the relative error of powers.
fn check_errors_of_logarithms(bits: impl Iterator<Item = u32>) {
    for bits in bits {
        let x = f32::from_bits(bits);
        let error = (f64::from(to_coded(x)) - f64::from(x).log2()).abs();
        assert!(error < 2f64.powi(-18) + 2f64.powi(-22), "{x:e}: {error:e}");
    }
}

/// As [`check_errors_of_logarithms`], of the logarithms whose powers are normal numbers.
fn check_errors_of_powers(bits: impl Iterator<Item = u32>) {
    for bits in bits {
        let y = f32::from_bits(bits);
        let exact = f64::from(y).exp2();
        if exact >= f64::from(f32::MIN_POSITIVE) && exact <= f64::from(f32::MAX) {
            let error = (f64::from(from_coded(y)) / exact - 1.0).abs();
            assert!(error < 2f64.powi(-22), "{y:e}: {error:e}");
        }
    }
}

const LOGARITHMS: std::ops::Range<u32> = 0..0x4300_0000;

#[test]
fn errors_of_logarithms_and_powers_are_those_of_the_format() {
    check_errors_of_logarithms(NORMAL.step_by(4093));
    for sign in [0, 1 << 31] {
        check_errors_of_powers(LOGARITHMS.step_by(4093).map(|bits| bits | sign));
    }
}

/// All of them: a case is a block of bits.
#[test]
fn errors_of_all_logarithms_and_powers_are_those_of_the_format() {
    each_at_once(4, |number, rng| {
        let first = any_of(1 << 11, number, rng) << 20;
        let bits = || first..first + (1 << 20);
        if NORMAL.contains(&first) && NORMAL.contains(&(first | 0xf_ffff)) {
            check_errors_of_logarithms(bits());
        }
        if LOGARITHMS.contains(&first) {
            for sign in [0, 1 << 31] {
                check_errors_of_powers(bits().map(|bits| bits | sign));
            }
        }
    });
}

/// All bit patterns through a codec, in chunks of these many.
fn through_a_codec(bound: f64, bits: impl Fn(u32) -> u32, count: u32) {
    let field: Vec<f32> = (0..count).map(|i| f32::from_bits(bits(i))).collect();
    let compressor = Compressor::new(Codec::PLAIN, pwrel(bound)).device(Device::Cpu);
    let stream = compressor.compress(&field).expect("compresses");
    let back: Vec<f32> = Decompressor::new()
        .device(Device::Cpu)
        .decompress(&stream)
        .expect("decompresses");
    for (x, y) in field.iter().zip(&back) {
        let is_kept = match x.is_normal() {
            true => is_within(bound, *x, *y) && x.is_sign_negative() == y.is_sign_negative(),
            false => x.to_bits() == y.to_bits(),
        };
        assert!(
            is_kept,
            "{x:e} ({:x}) becomes {y:e} at {bound:e}",
            x.to_bits()
        );
    }
}

#[test]
fn all_kinds_of_bits_pass_a_codec() {
    for bound in [1e-5, 1e-3, 0.5] {
        through_a_codec(bound, |i| i.wrapping_mul(6_700_417), 641_000);
    }
}

/// All bits of f32 at three bounds: a case is a block of them.
#[test]
fn all_bits_pass_a_codec() {
    each_at_once(1, |number, rng| {
        let number = any_of(3 << 12, number, rng);
        let bound = [1e-5, 1e-3, 0.5][number as usize % 3];
        through_a_codec(bound, |i| (number / 3) << 20 | i, 1 << 20);
    });
}

/// In `f64`, random values of all magnitudes, with the judge's rational numbers.
#[test]
fn magnitudes_of_f64_are_within_the_bound() {
    let field: Vec<f64> = make(Kind::Bits, 2000, 5);
    let near = |x: &f64| [x.next_down(), *x, x.next_up()];
    let edges = [
        1.0,
        0.5f64.sqrt(),
        2.0,
        f64::MIN_POSITIVE,
        f64::MAX,
        1e-320,
        2f64.sqrt(),
    ];
    let field: Vec<f64> = field.iter().chain(&edges).flat_map(near).collect();
    let bounds = [1.5e-13, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.9, 1.0, 7.0, 1e300];
    bounds.into_par_iter().for_each(|bound| {
        for codec in [Codec::FIXED, Codec::INTERP] {
            let compressor = Compressor::new(codec, pwrel(bound)).device(Device::Cpu);
            let stream = compressor.compress(&field).expect("compresses");
            assert!(!info(&stream).expect("a stream").is_lossless());
            let back: Vec<f64> = Decompressor::new()
                .decompress(&stream)
                .expect("decompresses");
            judge(pwrel(bound), &field, &back).unwrap_or_else(|error| panic!("{codec}: {error}"));
        }
    });
}

/// A field of three decades with zeros and negative values in it.
fn decades<T: FromBits>(count: usize, seed: u64) -> Vec<T> {
    let smooth: Vec<T> = make(Kind::Smooth, count, seed);
    let other: Vec<T> = make(Kind::Sparse, count, seed + 1);
    let mut values = smooth;
    for (i, (value, other)) in values.iter_mut().zip(other).enumerate() {
        if i / 100 % 5 == 0 {
            *value = other;
        }
        if i / 700 % 3 == 1 {
            *value = T::ZERO - *value;
        }
    }
    values
}

#[test]
fn parts_and_updates_are_within_the_bound() {
    let extents = [20u64, 40, 60];
    let bound = pwrel(0.02);
    let field: Vec<f32> = decades(20 * 40 * 60, 3);
    let part = Part::Box(vec![3..17, 11..30, 5..60]);
    let inside = |values: &[f32]| -> Vec<f32> {
        let rows = (3..17).flat_map(|z| (11..30).map(move |y| (z * 40 + y) * 60));
        rows.flat_map(|row| values[row + 5..row + 60].to_vec())
            .collect()
    };
    for (layout, number) in [layouts(&extents), tile_layouts(&extents)]
        .concat()
        .into_iter()
        .zip(0..)
    {
        if !takes_part(number, 4) {
            continue;
        }
        let mut stream = Machine::Reference
            .compress(layout, bound, &field)
            .expect("compresses");
        let whole: Vec<f32> = Machine::Reference
            .decompress(&stream)
            .expect("decompresses");
        judge(bound, &field, &whole).unwrap_or_else(|error| panic!("{layout:?}: {error}"));
        for machine in Machine::of_this_computer() {
            if machine.has_parts(layout) {
                let found = machine
                    .decompress_part::<f32>(&stream, &part)
                    .expect("decompresses");
                assert!(same_bits(&found, &inside(&whole)), "{machine:?} {layout:?}");
            }
        }
        if layout.tiles().is_some() {
            continue;
        }
        let values: Vec<f32> = decades(14 * 19 * 55, 9);
        Update::new(&stream, &part, &values)
            .expect("updates")
            .apply(&mut stream);
        let updated: Vec<f32> = Decompressor::new()
            .decompress(&stream)
            .expect("decompresses");
        judge(bound, &values, &inside(&updated))
            .unwrap_or_else(|error| panic!("{layout:?}: {error}"));
        let compact = ferrosz::stream::compact(&stream).expect("a stream");
        assert_eq!(info(&compact).expect("a stream").bound, bound);
        let again: Vec<f32> = Decompressor::new()
            .decompress(&compact)
            .expect("decompresses");
        assert!(same_bits(&again, &updated));
    }
}

fn same_bits(one: &[f32], other: &[f32]) -> bool {
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    bits(one) == bits(other)
}

#[test]
fn presets_and_fill_values_take_the_bound() {
    let mut field: Vec<f32> = decades(60_000, 4);
    field[20_000..30_000].fill(-9999.0);
    for preset in Preset::ALL {
        let compressor = Compressor::new(preset, pwrel(1e-2))
            .extents(&[200, 300])
            .expect("extents");
        let compressor = compressor.fill(-9999.0).expect("a fill value");
        let stream = compressor.compress(&field).expect("compresses");
        let found = info(&stream).expect("a stream");
        assert_eq!(
            found
                .fills
                .iter()
                .filter(|fill| !fill.is_nan())
                .collect::<Vec<_>>(),
            [&-9999.0]
        );
        assert!(found.keeps_signs && found.keeps_zeros && found.absolute_error.is_infinite());
        let back: Vec<f32> = Decompressor::new()
            .decompress(&stream)
            .expect("decompresses");
        judge(pwrel(1e-2), &field, &back).unwrap_or_else(|error| panic!("{preset:?}: {error}"));
        assert!(back[20_000..30_000].iter().all(|x| *x == -9999.0));
    }
}

#[test]
fn too_small_bounds_are_lossless() {
    let field: Vec<f32> = decades(9000, 1);
    for bound in [0.0, 1e-9, 5e-6] {
        let stream = Compressor::new(Codec::LORENZO, pwrel(bound))
            .compress(&field)
            .expect("compresses");
        let found = info(&stream).expect("a stream");
        assert!(found.is_lossless() && !found.keeps_signs && found.fills.is_empty());
        let back: Vec<f32> = Decompressor::new()
            .decompress(&stream)
            .expect("decompresses");
        assert!(same_bits(&back, &field));
    }
}

#[test]
fn many_fill_values_are_refused() {
    let compressor = Compressor::new(Codec::PLAIN, pwrel(1e-3));
    let fills = [1.0, 2.0, 3.0, 4.0].map(Fill::Value);
    let with = |count: usize| {
        fills[..count]
            .iter()
            .try_fold(compressor, |c, fill| c.fill(*fill))
            .expect("four")
    };
    assert!(with(3).compress(&[1.0f32; 10]).is_ok());
    assert!(matches!(
        with(4).compress(&[1.0f32; 10]),
        Err(Error::TooManyFills(3))
    ));
}

#[test]
fn batches_take_one_array_after_the_other() {
    let arrays: Vec<Vec<f32>> = (0..3).map(|seed| decades(700, seed)).collect();
    let arrays: Vec<&[f32]> = arrays.iter().map(Vec::as_slice).collect();
    let compressor = Compressor::new(Codec::PLAIN, pwrel(1e-3));
    for device in [Device::Cpu, Device::Emulator] {
        let streams = compressor.device(device).compress_batch(&arrays);
        for (array, stream) in arrays.iter().zip(streams) {
            let alone = compressor.compress(array).expect("compresses");
            assert_eq!(stream.expect("compresses"), alone);
        }
    }
}

/// A shorter stream than with the absolute bound that keeps the smallest values as well.
#[test]
fn decades_cost_less_than_with_an_absolute_bound() {
    let field: Vec<f32> = (0..100_000)
        .map(|i| (-(i as f32) / 5000.0).exp() * (2.0 + (i as f32 / 50.0).sin()))
        .collect();
    let smallest = field.iter().copied().fold(f32::INFINITY, f32::min);
    let bytes = |bound| {
        Compressor::new(Codec::OUTLIER, bound)
            .compress(&field)
            .expect("compresses")
            .len()
    };
    let absolute = Bound::abs(f64::from(smallest) * 1e-3).expect("a bound");
    assert!(
        3 * bytes(pwrel(1e-3)) < bytes(absolute),
        "{} {}",
        bytes(pwrel(1e-3)),
        bytes(absolute)
    );
}

/// Streams of the layouts of blocks, to be sure that shapes are used.
#[test]
fn every_shape_is_within_the_bound() {
    let field: Vec<f64> = decades(11 * 12 * 130, 8);
    for shape in Shape::ALL {
        let extents = Extents::new(&[11, 12, 130]).expect("extents");
        let layout = Layout::new(Codec::LORENZO, shape, extents);
        for machine in Machine::of_this_computer() {
            let stream = machine
                .compress(layout, pwrel(1e-6), &field)
                .expect("compresses");
            let back: Vec<f64> = machine.decompress(&stream).expect("decompresses");
            judge(pwrel(1e-6), &field, &back)
                .unwrap_or_else(|error| panic!("{machine:?}: {error}"));
        }
    }
}

/// A kernel of blocks computes the logarithms of a field without zeros where it reads them: those of whole and of cut
/// chunks, and those of elements that it stores as they are.
#[test]
fn fields_without_holes_are_the_same_on_every_machine() {
    fn check<T: FromBits>() {
        let machines = Machine::of_this_computer();
        for (number, cell) in matrix::Cell::all().into_iter().enumerate() {
            if cell.codec.tiles().is_some() || cell.dtype != T::DTYPE {
                continue;
            }
            for (kind, bound, lengths) in [
                (Kind::Smooth, 1e-2, [3, 37, 85]),
                (Kind::Bits, 1e-3, [16, 16, 34]),
                (Kind::Steps, 2e-5, [2, 2, 3]),
            ] {
                let extents = Extents::new(&lengths).expect("extents");
                let layout = Layout::new(cell.codec, cell.shape, extents);
                let length = extents.elements() as usize;
                let mut field = make::<T>(kind, length, number as u64);
                for value in field.iter_mut().filter(|value| **value == T::ZERO) {
                    *value = T::ONE;
                }
                matrix::check(&machines, layout, pwrel(bound), &field, "without holes");
            }
        }
    }
    check::<f32>();
    check::<f64>();
}
