//! All values of 16 bits, and random ones of 32, within bounds from 0 to beyond the range, judged in exact arithmetic.

use super::fields::mixed;
use super::is_same;
use crate::common::cases::takes_part;
use crate::common::judge::judge;
use crate::common::machine::Machine;
use ferrosz::codec::{Value, ValueType, with_value};
use ferrosz::stream::{Extents, Layout};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Shape, info};
use rayon::prelude::*;

/// Absolute bounds for types of 16 bits: those of integers, powers of two, and the limits and middles of halves.
const BOUNDS: [f64; 32] = [
    0.0,
    1e-300,
    1e-40,
    2.9e-39,
    5.960_464_477_539_063e-8,
    2.98e-8,
    1e-6,
    1e-4,
    0.000_976_562_5,
    0.001,
    0.007_812_5,
    0.1,
    0.25,
    0.499_999,
    0.5,
    0.75,
    0.999_999_999,
    1.0,
    1.5,
    2.0,
    3.0,
    4.0,
    7.9,
    8.0,
    100.0,
    1000.3,
    32_767.5,
    65_504.0,
    65_535.0,
    131_008.0,
    1e30,
    1e300,
];

/// Codecs that quantise values, and that quantise the differences from a prediction.
const CODECS: [Codec; 3] = [Codec::PLAIN, Codec::LORENZO_RANS, Codec::INTERP];

fn keeps_its_promise<V: Value>(codec: Codec, bound: Bound, values: &[V]) {
    let context = format!("{} {codec} {bound:?}", V::TYPE);
    let compressor = Compressor::new(codec, bound).device(Device::Cpu);
    let stream = compressor.compress(values).expect("compresses");
    let decoded: Vec<V> = Decompressor::new()
        .device(Device::Cpu)
        .decompress(&stream)
        .expect("decodes");
    let promise = info(&stream).expect("a stream").absolute_error;
    assert!(promise <= bound.value(), "{context}: {promise}");
    for bound in [bound, Bound::abs(promise).expect("a bound")] {
        assert_eq!(judge(bound, values, &decoded), Ok(()), "{context}");
    }
    if promise == 0.0 {
        assert!(is_same(values, &decoded), "{context}");
    }
    let layout = Layout::new(codec, Shape::Line, Extents::line(values.len() as u64));
    let of_reference = Machine::Reference.compress_values(layout, None, bound, &[], values);
    assert!(
        of_reference.is_ok_and(|other| other == stream),
        "{context}: the reference differs"
    );
}

/// Values in the order of their bits, mixed, and each range of magnitudes alone.
fn orders<V: Value>() -> Vec<Vec<V>> {
    let all = 0..1u64 << 16;
    let of = |bits: Vec<u64>| bits.into_iter().map(V::from_value_bits).collect::<Vec<V>>();
    let mut mixed_up: Vec<u64> = all.clone().collect();
    mixed_up.sort_by_key(|bits| mixed(*bits));
    let mut orders = vec![of(all.collect()), of(mixed_up)];
    // So that the error is that of these magnitudes, not of the largest that fit the bound least.
    for magnitude in 0..8u64 {
        let bits = (0..1u64 << 12).map(|bits| bits + (magnitude << 12) + (bits % 2) * (1 << 15));
        orders.push(of(bits.map(|bits| bits & 0xffff).collect()));
    }
    orders
}

#[test]
fn all_values_of_16_bits_keep_every_bound() {
    let types = ValueType::ALL
        .into_iter()
        .filter(|value_type| value_type.bytes() == 2);
    let cases = types.flat_map(|value_type| BOUNDS.map(|bound| (value_type, bound)));
    let cases: Vec<_> = (cases.zip(0..))
        .filter_map(|(case, number)| takes_part(number, 16).then_some(case))
        .collect();
    cases.into_par_iter().for_each(|(value_type, bound)| {
        with_value!(value_type, V => for (number, values) in orders::<V>().iter().enumerate() {
            let bound = Bound::abs(bound).expect("a bound");
            let codecs = if number < 2 { &CODECS[..] } else { &CODECS[..1] };
            for codec in codecs {
                keeps_its_promise::<V>(*codec, bound, values);
            }
        });
    });
}

#[test]
fn values_of_32_bits_keep_every_bound() {
    let types = ValueType::ALL
        .into_iter()
        .filter(|value_type| value_type.is_integer() && value_type.bytes() == 4);
    let bounds = [
        0.0,
        0.5,
        1.0,
        1.999,
        7.0,
        1e3,
        1e6 + 0.5,
        2_147_483_647.0,
        4_294_967_295.0,
        1e12,
    ];
    let cases = types.flat_map(|value_type| bounds.map(|bound| (value_type, bound)));
    let cases: Vec<_> = (cases.zip(0..))
        .filter_map(|(case, number)| takes_part(number, 5).then_some(case))
        .collect();
    cases.into_par_iter().for_each(|(value_type, bound)| {
        let bound = Bound::abs(bound).expect("a bound");
        with_value!(value_type, V => {
            let ends = [0, 1, u64::MAX, u64::MAX >> 33, 1 << 31, 1 << 30, (1 << 30) - 1];
            let all = (0..20_000u64).map(|i| mixed(i) >> (i % 33)).chain(ends);
            let values: Vec<V> = all.map(V::from_value_bits).collect();
            // In a narrow range far from 0, too.
            let near: Vec<V> = (0..9000u64).map(|i| V::from_value_bits((3 << 30) + mixed(i) % 5000)).collect();
            for codec in CODECS {
                keeps_its_promise::<V>(codec, bound, &values);
                keeps_its_promise::<V>(codec, bound, &near);
            }
        });
    });
}

/// A bound that is relative refers to the values, not to the elements that stand for them.
#[test]
fn relative_bounds_are_those_of_the_values() {
    for value_type in super::converted() {
        for (scale, bound) in [(1.0, Bound::range(0.01)), (1.5, Bound::max(0.01))] {
            with_value!(value_type, V => {
                let values: Vec<V> = (0..=200).map(|i| V::from_number(f64::from(100 + i)).expect("a value")).collect();
                let compressor = Compressor::new(Codec::PLAIN, bound.expect("a bound"));
                let stream = compressor.compress(&values).expect("compresses");
                let info = info(&stream).expect("a stream");
                assert_eq!(info.bound, bound.expect("a bound"));
                // 1 % of 200 or 300; a conversion in order is lossless.
                let expected = [0.0, (2.0 * scale * 1.0f64).floor(), 2.0 * scale];
                assert!(expected.contains(&info.absolute_error), "{value_type}: {}", info.absolute_error);
            });
        }
    }
}
