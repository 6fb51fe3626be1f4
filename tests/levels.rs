//! Streams whose levels are coded apart, against the oracle; and levels, against the decoded field.

use crate::common::bounds;
use crate::common::extents;
use crate::common::fields::{FromBits, Kind, make};
use crate::common::machine::Machine;
use crate::common::matrix::faults;
use ferrosz::stream::{Extents, Layout, StreamAt};
use ferrosz::{Axes, Bound, Codec, Compressor, Decompressor, Device, Shape, Value};
use std::ops::Range;

fn decompressor() -> Decompressor {
    Decompressor::new().device(Device::Cpu)
}

/// Every 2^level-th value of a box of a field, by plain loops.
fn decimated<V: Value>(
    field: &[V],
    extents: &[u64],
    level: u32,
    ranges: &[Range<u64>],
) -> Vec<u64> {
    let mut found = Vec::new();
    for (number, value) in (0u64..).zip(field) {
        let mut rest = number;
        let mut is_wanted = true;
        for (length, range) in extents.iter().zip(ranges).rev() {
            let at = rest % length;
            rest /= length;
            is_wanted &= range.contains(&at) && at % (1 << level) == 0;
        }
        if is_wanted {
            found.push(value.to_value_bits());
        }
    }
    found
}

/// Compares all levels of a stream, whole and in a box, in memory and by ranges, with its decoded field.
fn check_levels<V: Value>(stream: &[u8], extents: &[u64], what: &str) {
    let field: Vec<V> = decompressor().decompress(stream).expect("sound");
    let whole: Vec<Range<u64>> = extents.iter().map(|length| 0..*length).collect();
    let inner: Vec<Range<u64>> = extents
        .iter()
        .map(|length| length / 5..length - length / 7)
        .collect();
    for level in 0..=11 {
        for ranges in [&whole, &inner] {
            let wanted = decimated(&field, extents, level, ranges);
            let found: Vec<V> = decompressor()
                .level_of_box(stream, level, ranges)
                .expect("sound");
            assert!(
                bits(&found) == wanted,
                "{what}, level {level} of {ranges:?}"
            );
            let mut at = StreamAt::open(stream).expect("a stream");
            let found = at.level::<V>(&decompressor(), level, Some(ranges));
            let found = found.expect("sound");
            assert!(
                bits(&found) == wanted,
                "{what}, level {level} of {ranges:?} from a place"
            );
        }
        let found: Vec<V> = decompressor().level(stream, level).expect("sound");
        let wanted = decimated(&field, extents, level, &whole);
        assert!(bits(&found) == wanted, "{what}, level {level}");
    }
}

fn bits<V: Value>(values: &[V]) -> Vec<u64> {
    values.iter().map(|value| value.to_value_bits()).collect()
}

/// Fields of these extents and axes, by each codec that has levels.
fn check_shape<T: FromBits>(shape: Shape, lengths: &[u64], axes: Option<Axes>, number: u64) {
    let all = Codec::ALL.into_iter();
    let codecs: Vec<Codec> = all
        .filter(|codec| codec.has_levels() && codec.takes(shape))
        .collect();
    let codec = codecs[number as usize % codecs.len()];
    let levels = [1, 2, 3, 9][number as usize / 3 % 4];
    let kind = Kind::ALL[number as usize % Kind::ALL.len()];
    let user = Extents::new(lengths).expect("extents");
    let coded = axes.map_or(Some(user), |axes| axes.coded_extents(&user));
    let layout = Layout::new(codec, shape, coded.expect("axes of the extents"));
    let layout = layout.with_levels(levels);
    let field = make::<T>(kind, user.elements() as usize, number);
    let what = format!("{codec} {lengths:?} {axes:?} {levels} {kind:?}");
    let bound = bounds()[number as usize % bounds().len()];
    let machines = Machine::cpu();
    let found = faults(&machines, (layout, axes), bound, &field, number);
    assert!(found.is_empty(), "{what} {bound:?}: {found:?}");
    let stream = Machine::Reference.compress_with_axes(layout, axes, bound, &field);
    check_levels::<T>(&stream.expect("compresses"), lengths, &what);
}

#[test]
fn all_cpus_make_the_bytes_of_the_reference() {
    let mut number = 0;
    for shape in Shape::ALL {
        let plain = extents::edges(true, shape)
            .into_iter()
            .map(|lengths| (lengths, None));
        let with_axes = extents::axes(true, shape).into_iter();
        let with_axes = with_axes.map(|(lengths, axes)| (lengths, Some(axes)));
        for (lengths, axes) in plain.chain(with_axes) {
            check_shape::<f32>(shape, &lengths, axes, number);
            check_shape::<f64>(shape, &lengths, axes, number + 1);
            number += 1;
        }
    }
}

/// No axis is so long that levels from 63 on have more than its first value.
#[test]
fn the_highest_levels_have_one_value() {
    let field: Vec<f32> = (0..60 * 70).map(|number| number as f32).collect();
    for levels in [0, 2] {
        let compressor = Compressor::new(Codec::INTERP, Bound::abs(0.25).expect("a bound"));
        let compressor = compressor.extents(&[60, 70]).expect("extents");
        let stream = compressor.levels_apart(levels).expect("has levels");
        let stream = stream.compress(&field).expect("compresses");
        let first = decompressor().decompress::<f32>(&stream).expect("sound")[0];
        for level in [63, 64, u32::MAX] {
            let found = decompressor().level::<f32>(&stream, level);
            assert_eq!(found.as_deref(), Ok(&[first][..]));
        }
    }
}
