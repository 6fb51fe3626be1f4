//! What codecs promise beyond the bound: docs/book/promises.md has the table that these tests check.

use crate::common::cases::{asked, each_at_once, takes_part};
use crate::common::fields::{FromBits, Kind, make};
use crate::common::judge::judge;
use crate::common::{bounds, compressor, layouts, tile_layouts};
use ferrosz::codec::quantize::field::Quantizer;
use ferrosz::stream::{Extents, Layout};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Element, Shape};
use rand::RngExt;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What is promised of a codec, or missing in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Property {
    /// A zero of either sign comes back as a zero of either sign.
    Zeros,
    /// No value above 0 comes back below 0, nor the reverse.
    Signs,
    /// A decoded field, compressed again with the same absolute bound, is decoded to the same values.
    SameValues,
    /// And its stream is the same.
    SameBytes,
}

impl Property {
    const ALL: [Self; 4] = [Self::Zeros, Self::Signs, Self::SameValues, Self::SameBytes];

    /// Whether every stream of the codec has it: the table of docs/book/promises.md.
    fn is_promised(self, codec: Codec) -> bool {
        let is_interpolated = codec
            .tiles()
            .is_some_and(|tiles| tiles.predictor.geometry().is_some());
        match self {
            Self::Zeros | Self::Signs | Self::SameValues | Self::SameBytes => !is_interpolated,
        }
    }
}

fn compress<T: Element>(layout: Layout, bound: Bound, field: &[T]) -> Vec<u8> {
    let compressor = compressor(layout, bound, Device::Cpu).expect("a layout");
    compressor.compress(field).expect("compresses")
}

fn decompress<T: Element>(stream: &[u8]) -> Vec<T> {
    let decompressor = Decompressor::new().device(Device::Cpu);
    decompressor.decompress(stream).expect("decompresses")
}

fn bits<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits64()).collect()
}

/// The properties that a stream of a field does not have.
fn missing<T: Element>(layout: Layout, bound: Bound, field: &[T]) -> Vec<Property> {
    let error = ferrosz::info(&compress(layout, bound, field)).expect("a stream");
    // A relative bound would resolve to another error on the decoded field.
    let bound = Bound::abs(error.absolute_error).expect("a bound");
    let stream = compress(layout, bound, field);
    let decoded: Vec<T> = decompress(&stream);
    let again = compress(layout, bound, &decoded);
    let pairs = || {
        let pairs = field.iter().zip(&decoded);
        pairs.map(|(x, y)| (x.to_f64(), y.to_f64()))
    };
    let has = |property| match property {
        Property::Zeros => pairs().all(|(x, y)| x != 0.0 || y == 0.0),
        Property::Signs => pairs().all(|(x, y)| !(x > 0.0 && y < 0.0 || x < 0.0 && y > 0.0)),
        Property::SameValues => bits(&decompress::<T>(&again)) == bits(&decoded),
        Property::SameBytes => again == stream,
    };
    let all = Property::ALL.into_iter();
    all.filter(|property| !has(*property)).collect()
}

/// The codecs that do not keep zeros or signs by themselves keep them on demand.
fn zeros_and_signs_are_kept_on_demand<T: FromBits>() {
    let extents = [7u64, 20, 30];
    for (kind, number) in Kind::ALL.into_iter().zip(0..) {
        if !takes_part(number, 4) {
            continue;
        }
        let field: Vec<T> = make(kind, 7 * 20 * 30, 2);
        for codec in [
            Codec::INTERP,
            Codec::INTERP_NARROW_HUFFMAN,
            Codec::LORENZO_RANS,
        ] {
            for bound in some_bounds() {
                let compressor = Compressor::new(codec, bound).device(Device::Cpu);
                let compressor = compressor.extents(&extents).expect("extents");
                let zeros = compressor.keep_zeros();
                let signs = compressor.keep_signs();
                for (compressor, keeps_zeros, keeps_signs) in [
                    (zeros, true, false),
                    (signs, false, true),
                    (zeros.keep_signs(), true, true),
                ] {
                    let stream = compressor.compress(&field).expect("compresses");
                    let back: Vec<T> = decompress(&stream);
                    judge(bound, &field, &back)
                        .unwrap_or_else(|error| panic!("{kind:?} {codec} {bound:?}: {error}"));
                    for (x, y) in field.iter().zip(&back) {
                        let (x, y) = (x.to_f64(), y.to_f64());
                        let is_zero_kept = !keeps_zeros || x != 0.0 || y == 0.0;
                        let is_sign_kept =
                            !keeps_signs || !(x > 0.0 && y < 0.0 || x < 0.0 && y > 0.0);
                        assert!(
                            is_zero_kept && is_sign_kept,
                            "{kind:?} {codec} {bound:?}: {x} {y}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn zeros_and_signs_are_kept_on_demand_in_f32() {
    zeros_and_signs_are_kept_on_demand::<f32>();
}

#[test]
fn zeros_and_signs_are_kept_on_demand_in_f64() {
    zeros_and_signs_are_kept_on_demand::<f64>();
}

/// Coarse, fine, finer than the values, and lossless.
fn some_bounds() -> impl Iterator<Item = Bound> {
    let relative = [1e-1, 1e-3, 1e-7].map(Bound::range);
    let absolute = [0.5, 0.0].map(Bound::abs);
    let all = relative.into_iter().chain(absolute);
    all.map(|bound| bound.expect("finite and not negative"))
}

/// What streams of fields of every kind do not have, by codec, with an example.
fn missing_of_all_kinds<T: FromBits>(seed: u64) -> BTreeMap<(&'static str, Property), String> {
    let all: Vec<Layout> = [&[8300][..], &[91, 99], &[17, 17, 70]]
        .into_iter()
        .flat_map(|lengths| [layouts(lengths), tile_layouts(lengths)].concat())
        .collect();
    let taken = (all.iter().enumerate())
        .filter_map(|(number, layout)| takes_part(number as u64, 8).then_some(layout));
    let taken: Vec<&Layout> = taken.collect();
    let found = taken.into_par_iter().flat_map_iter(|layout| {
        let elements = layout.extents.elements() as usize;
        // Every kind with every second bound.
        let of_kind = |kind| {
            let bounds = some_bounds().enumerate();
            let bounds = bounds.filter(move |(i, _)| (i + kind as usize).is_multiple_of(2));
            bounds.map(move |(_, bound)| (kind, bound))
        };
        let cases = Kind::ALL.into_iter().flat_map(of_kind);
        cases.flat_map(move |(kind, bound)| {
            let field: Vec<T> = make(kind, elements, seed);
            let missing = missing(*layout, bound, &field).into_iter();
            let example = format!("{:?}, {kind:?}, {bound:?}", layout.extents.lengths());
            missing.map(move |property| ((layout.codec.name(), property), example.clone()))
        })
    });
    found.collect()
}

/// The streams of a codec keep each promise. In a campaign, which has all fields, each promise that is not made must also be
/// broken by some stream: so the table of the documents claims no less than it could.
fn what_is_missing_is_not_promised<T: FromBits>(seed: u64) {
    let missing = missing_of_all_kinds::<T>(seed);
    let wrong = Codec::ALL.into_iter().flat_map(|codec| {
        let of_codec = Property::ALL
            .into_iter()
            .map(move |property| (codec, property));
        of_codec.filter_map(|(codec, property)| {
            let example = missing.get(&(codec.name(), property));
            let is_claimed = property.is_promised(codec);
            let is_right = match asked() {
                Some(_) => is_claimed == example.is_none(),
                None => !is_claimed || example.is_none(),
            };
            (!is_right).then(|| format!("{codec} {property:?}: {example:?}"))
        })
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fields_of_f32_keep_what_is_promised() {
    what_is_missing_is_not_promised::<f32>(1);
}

#[test]
fn fields_of_f64_keep_what_is_promised() {
    what_is_missing_is_not_promised::<f64>(2);
}

/// Whether a constant field is decoded to equal values.
fn is_constant_again(layout: Layout, bound: Bound, value: f32) -> bool {
    let field = vec![value; layout.extents.elements() as usize];
    let decoded = bits(&decompress::<f32>(&compress(layout, bound, &field)));
    decoded.iter().all(|bits| *bits == decoded[0])
}

#[test]
fn constants_stay_exact_with_a_bound_relative_to_the_range() {
    let bound = Bound::range(0.1).expect("a bound");
    for lengths in [&[8193][..], &[91, 99], &[17, 17, 70]] {
        for (layout, number) in [layouts(lengths), tile_layouts(lengths)]
            .concat()
            .into_iter()
            .zip(0..)
        {
            if !takes_part(number, 8) {
                continue;
            }
            for value in [0.0f32, -0.0, 0.3, 1e20, f32::NAN] {
                let field = vec![value; layout.extents.elements() as usize];
                let decoded = decompress::<f32>(&compress(layout, bound, &field));
                assert_eq!(bits(&decoded), bits(&field), "{layout:?}, {value}");
            }
        }
    }
}

#[test]
fn constants_stay_constant_within_a_chunk_of_blocks() {
    for lengths in [&[1][..], &[31], &[8192], &[64, 64], &[16, 16, 32]] {
        for layout in layouts(lengths) {
            for value in [0.0f32, -0.0, 1.0, 0.3, -7.25e-3, 1e20, f32::NAN] {
                for bound in bounds() {
                    let is_kept = is_constant_again(layout, bound, value);
                    assert!(is_kept, "{layout:?}, {value:e}, {bound:?}");
                }
            }
        }
    }
}

/// A chunk that would not be shorter is stored as it is, and so comes back exactly, unlike its neighbours.
#[test]
fn constants_may_differ_from_chunk_to_chunk() {
    for codec in Codec::ALL {
        let is_kept = |(lengths, error, value): &(&[u64], f64, f32)| {
            let extents = Extents::new(lengths).expect("good extents");
            let layout = Layout::new(codec, Shape::Plane, extents);
            let bound = Bound::abs(*error).expect("a bound");
            is_constant_again(layout, bound, *value)
        };
        let examples: [(&[u64], f64, f32); 5] = [
            (&[8193], 1e-3, 1.0),
            (&[65_537], 1e-3, 0.3),
            (&[65_537], 1e-3, 1e6),
            (&[91, 99], 0.5, 33.3),
            (&[91, 99], 0.5, -47.1),
        ];
        assert!(!examples.iter().all(is_kept), "{codec} keeps constants");
    }
}

/// Codes below this limit are the codes of their values again; greater ones may stand for the same value as their
/// neighbours.
const UNIQUE: u32 = 1 << 22;

/// The promises of codecs of blocks and of Lorenzo in tiles are those of their quantiser.
fn quantiser_keeps<T: Element>(quantizer: &Quantizer<T>, value: T) {
    // A value without a code comes back bit by bit.
    let Some(code) = quantizer.quantize(value) else {
        return;
    };
    let decoded = quantizer.dequantize(code);
    let context = || format!("{value} {code} {decoded} {:?}", quantizer.error());
    let zero = T::ZERO;
    assert!(value != zero || decoded == zero, "{}", context());
    let is_flipped = (value > zero) & (decoded < zero) | (value < zero) & (decoded > zero);
    assert!(!is_flipped, "{}", context());
    let again = quantizer.quantize(decoded);
    if let Some(again) = again {
        let same = quantizer.dequantize(again).to_bits64() == decoded.to_bits64();
        assert!(same, "{} {again}", context());
    }
    assert!(
        code.unsigned_abs() > UNIQUE || again == Some(code),
        "{}",
        context()
    );
}

/// Errors from the smallest to the largest that a quantiser has.
const ERRORS: [f32; 6] = [0.0, 1e-37, 1e-10, 0.001, 0.5, 1e30];

#[test]
fn values_of_all_exponents_keep_what_is_promised() {
    for error in ERRORS {
        let quantizer = Quantizer::from_error(error);
        (0..1u32 << 18).into_par_iter().for_each(|number| {
            let bits = number.wrapping_mul(0x9E37_79B9);
            quantiser_keeps(&quantizer, f32::from_bits(bits));
        });
        let quantizer = Quantizer::from_error(f64::from(error));
        (0..1u64 << 18).into_par_iter().for_each(|number| {
            let bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            quantiser_keeps(&quantizer, f64::from_bits(bits));
            // Values with codes are rare among all patterns.
            let near = f64::from(error) * (number as f64 - 1.3e5) * 0.37;
            quantiser_keeps(&quantizer, near);
        });
    }
}

/// All values of f32 with two errors, in 4,096 blocks for each: a campaign takes all of them.
#[test]
fn all_values_keep_what_is_promised() {
    each_at_once(2, |block, rng| {
        let block = if asked().is_some() {
            block
        } else {
            rng.random_range(0..1 << 13)
        };
        let error: f32 = [0.001, 0.5][block as usize % 2];
        let quantizer = Quantizer::from_error(error);
        let first = (block as u32 / 2) << 20;
        for bits in first..=first | 0xf_ffff {
            quantiser_keeps(&quantizer, f32::from_bits(bits));
        }
    });
}
