//! Statistics in streams, and searches that read few chunks, against plain loops over whole fields.

use ferrosz::codec::with_value;
use ferrosz::stream::{Statistics, StreamAt, Update, compact};
use ferrosz::{
    Axes, Bound, Codec, Compressor, Decompressor, Device, Part, Safeguard, Shape, Value, ValueType,
};
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::ops::Range;

/// The smallest and the largest wanted value.
type Wanted = (std::ops::Bound<f64>, std::ops::Bound<f64>);

const HOLE: f64 = 77.0;

/// A slope with waves, in numbers that every type has; some are [`HOLE`].
fn field<V: Value>(elements: u64, has_holes: bool) -> Vec<V> {
    let number = |i: u64| {
        let noise = (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 59) as f64;
        let number = (2000.0 * i as f64 / elements as f64).floor() + noise + 100.0;
        match has_holes && (i % 11 == 3 || i / 3000 == 2) {
            true => HOLE,
            false => number,
        }
    };
    let values = (0..elements).map(|i| V::from_number(number(i)).unwrap_or_default());
    values.collect()
}

/// The numbers of all values that are wanted and not missing.
fn plain<V: Value>(values: &[V], wanted: &Wanted, hole: f64) -> Vec<(u64, f64)> {
    let (low, high) = wanted;
    let is_wanted = |number: f64| {
        let is_above = match low {
            Included(low) => number >= *low,
            Excluded(low) => number > *low,
            Unbounded => true,
        };
        let is_below = match high {
            Included(high) => number <= *high,
            Excluded(high) => number < *high,
            Unbounded => true,
        };
        is_above && is_below && !number.is_nan() && number != hole
    };
    let numbers = (0..).zip(values).map(|(i, value)| (i, value.to_number()));
    numbers.filter(|(_, number)| is_wanted(*number)).collect()
}

/// Compares a search in memory and one in a place that is read by ranges with the decoded field; returns the chunks that were
/// wanted, and all.
fn check_search<V: Value>(stream: &[u8], hole: f64, wanted: Wanted, what: &str) -> (u64, u64) {
    let decompressor = Decompressor::new().device(Device::Cpu);
    let decoded: Vec<V> = decompressor.decompress(stream).expect("sound");
    let expected = plain(&decoded, &wanted, hole);
    let mut found = Vec::new();
    let search = decompressor.find(stream, wanted, |at, number| found.push((at, number)));
    let search = search.expect("sound");
    found.sort_by_key(|(at, _)| *at);
    assert!(
        found == expected,
        "{what} {wanted:?}: {} of {}",
        found.len(),
        expected.len()
    );
    let mut from_place = Vec::new();
    let mut at = StreamAt::open(stream).expect("a stream");
    let again = at.find(&decompressor, wanted, |at, number| {
        from_place.push((at, number))
    });
    assert_eq!(again.expect("sound"), search, "{what}");
    from_place.sort_by_key(|(at, _)| *at);
    assert!(from_place == expected, "{what}");
    (search.chunks_wanted, search.chunks)
}

/// Compares the statistics of a stream with those of a field.
fn check_whole<V: Value>(stream: &[u8], field: &[V], hole: f64, what: &str) -> Statistics {
    let statistics = Statistics::of(stream).expect("sound").expect("some");
    let all = plain(field, &(Unbounded, Unbounded), hole);
    let mut extremes = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
    for (_, number) in &all {
        extremes.0 = extremes.0.min(*number);
        extremes.1 = extremes.1.max(*number);
        extremes.2 += number;
    }
    assert_eq!(statistics.count(), all.len() as u64, "{what}");
    if !all.is_empty() {
        assert_eq!(statistics.min(), Some(extremes.0), "{what}");
        assert_eq!(statistics.max(), Some(extremes.1), "{what}");
        let mean = extremes.2 / all.len() as f64;
        let off = statistics.mean().expect("values") - mean;
        assert!(off.abs() <= 1e-12 * mean.abs(), "{what}");
    }
    statistics
}

/// Compares each group with a plain loop over the elements at its places, which make the field.
fn check_groups<V: Value>(stream: &[u8], field: &[V], hole: f64, what: &str) {
    let extents = ferrosz::info(stream).expect("sound").extents;
    let statistics = Statistics::of(stream).expect("sound").expect("some");
    let mut is_seen = vec![false; field.len()];
    for (number, group) in statistics.groups().iter().enumerate() {
        let mut of_group = Vec::new();
        let parts = statistics.parts_of_group(number).into_iter();
        for ranges in parts.flat_map(|part| part.boxes(&extents)) {
            for place in places(&ranges, &extents) {
                assert!(!std::mem::replace(&mut is_seen[place], true), "{what}");
                of_group.push(field[place]);
            }
        }
        let numbers = plain(&of_group, &(Unbounded, Unbounded), hole);
        let ends = (numbers.iter()).fold((f64::INFINITY, f64::NEG_INFINITY), |ends, (_, one)| {
            (ends.0.min(*one), ends.1.max(*one))
        });
        assert_eq!((group.min, group.max), ends, "{what}");
        assert_eq!(group.count, numbers.len() as u64, "{what}");
    }
    assert!(is_seen.into_iter().all(|is_seen| is_seen), "{what}");
    let behind = statistics.parts_of_group(statistics.groups().len());
    assert!(behind.is_empty(), "{what}");
}

/// The numbers of the elements of a box.
fn places(ranges: &[Range<u64>], extents: &[u64]) -> Vec<usize> {
    let mut places = vec![0];
    for (range, length) in ranges.iter().zip(extents) {
        let along = |place: usize| {
            let row = place * *length as usize;
            range.clone().map(move |at| row + at as usize)
        };
        places = places.into_iter().flat_map(along).collect();
    }
    places
}

const SEARCHES: [Wanted; 6] = [
    (Excluded(2050.0), Unbounded),
    (Unbounded, Excluded(130.0)),
    (Included(1000.0), Included(1004.0)),
    (Included(HOLE), Included(HOLE)),
    (Included(1e30), Unbounded),
    (Unbounded, Unbounded),
];

#[test]
fn searches_find_the_values_that_safeguards_mend() {
    let side = 1000.3;
    for codec in [Codec::PLAIN, Codec::INTERP] {
        let values = field::<f32>(66_000, false);
        let compressor = Compressor::new(codec, Bound::abs(8.0).expect("a bound"));
        let compressor = compressor.safeguard(Safeguard::KeepAbove(side));
        let stream = compressor.expect("possible").statistics(true);
        let stream = stream.compress(&values).expect("no fault");
        check_whole(&stream, &values, HOLE, codec.name());
        let wanted = (Included(side), Unbounded);
        check_search::<f32>(&stream, HOLE, wanted, codec.name());
        let mut places = Vec::new();
        let take = |at, _| places.push(at);
        let search = Decompressor::new().find(&stream, wanted, take);
        search.expect("sound");
        places.sort_unstable();
        let above = plain(&values, &wanted, HOLE).into_iter();
        assert!(places.into_iter().eq(above.map(|(at, _)| at)));
    }
}

fn check_case<V: Value>(compressor: Compressor, has_holes: bool, what: &str) -> bool {
    let mut compressor = compressor.statistics(true);
    let elements = compressor
        .extents_for(66_000)
        .map_or(0, |extents| extents.elements());
    let hole = if has_holes { HOLE } else { f64::NAN };
    if has_holes {
        compressor = compressor.fill(HOLE).expect("of the type");
    }
    let field: Vec<V> = field(elements, has_holes);
    let stream = compressor.compress(&field).expect("memory");
    check_whole(&stream, &field, hole, what);
    check_groups(&stream, &field, hole, what);
    let decoded: Vec<V> = Decompressor::new().decompress(&stream).expect("sound");
    let all = plain(&decoded, &(Unbounded, Unbounded), hole);
    // The very ends: a group whose stored end is too near would be passed over.
    let low = all.iter().map(|(_, number)| *number).reduce(f64::min);
    let high = all.iter().map(|(_, number)| *number).reduce(f64::max);
    let ends = [
        low.map(|low| (Unbounded, Included(low))),
        high.map(|high| (Included(high), Unbounded)),
    ];
    let mut has_less = false;
    for wanted in SEARCHES.into_iter().chain(ends.into_iter().flatten()) {
        let (some, all) = check_search::<V>(&stream, hole, wanted, what);
        has_less |= some > 0 && some < all;
    }
    has_less
}

#[test]
fn every_search_finds_what_a_whole_field_has() {
    let shaped = Codec::ALL.into_iter().flat_map(|codec| {
        let shapes = Shape::ALL
            .into_iter()
            .filter(move |shape| codec.takes(*shape));
        shapes.map(move |shape| (codec, shape))
    });
    let mut with_less = 0;
    for (turn, (codec, shape)) in shaped.enumerate() {
        let value_type = ValueType::ALL[3 * turn % ValueType::ALL.len()];
        let (bound, axes) = match turn % 3 {
            0 => (Bound::abs(0.0), None),
            1 => (Bound::abs(1.0), Some("s,z,y,x")),
            _ => (Bound::range(1e-4), Some("x,y,s,z")),
        };
        let compressor = Compressor::new(codec, bound.expect("a bound"));
        let compressor = compressor.extents(&[4, 10, 33, 50]).expect("extents");
        let mut compressor = compressor.with_rank(shape.rank()).expect("of the codec");
        if let Some(axes) = axes {
            compressor = compressor.axes(axes.parse::<Axes>().expect("axes"));
        }
        let what = format!("{codec} {shape} {value_type} {axes:?}");
        for has_holes in [false, true] {
            with_less += with_value!(value_type, V => {
                usize::from(check_case::<V>(compressor, has_holes, &what))
            });
        }
    }
    assert!(with_less > 12, "{with_less}");
}

fn compressor(bound: Bound) -> Compressor {
    Compressor::new(Codec::PLAIN, bound)
}

fn abs(bound: f64) -> Bound {
    Bound::abs(bound).expect("a bound")
}

/// Numbers of all magnitudes and both signs, with infinities, NaNs and zeros.
fn wild() -> Vec<f32> {
    let number = |i: u32| match i % 1000 {
        1 if i > 300_000 => f32::INFINITY,
        2 if i < 20_000 => f32::NEG_INFINITY,
        3 => f32::NAN,
        4 => -0.0,
        _ => (i as f32 * 0.001).sin() * (i as f32 / 13_000.0 - 12.0).exp2(),
    };
    (0..400_000).map(number).collect()
}

#[test]
fn bounds_relative_to_each_value_and_infinities_are_kept_in_sight() {
    let field = wild();
    for bound in [
        Bound::pwrel(0.01),
        Bound::pwrel(3.0),
        Bound::abs(0.5),
        Bound::abs(0.0),
    ] {
        let compressor = compressor(bound.expect("a bound")).statistics(true);
        let stream = compressor.compress(&field).expect("memory");
        let statistics = Statistics::of(&stream).expect("sound").expect("some");
        assert_eq!(statistics.max(), Some(f64::INFINITY));
        assert_eq!(statistics.min(), Some(f64::NEG_INFINITY));
        assert!(statistics.mean().is_some_and(f64::is_nan));
        assert_eq!(statistics.count(), 400_000 - 400);
        let mut with_less = 0;
        for wanted in [
            (Included(1000.0), Unbounded),
            (Unbounded, Excluded(-40_000.0)),
            (Included(f64::INFINITY), Unbounded),
            (Excluded(0.0), Excluded(1e-5)),
            (Excluded(60_000.0), Excluded(f64::INFINITY)),
        ] {
            let (some, all) = check_search::<f32>(&stream, f64::NAN, wanted, "wild");
            with_less += usize::from(some < all);
        }
        assert!(with_less > 0, "{bound:?}");
    }
}

#[test]
fn only_small_statistics_are_written_unless_they_are_asked_for() {
    let field: Vec<f64> = field(300_000, false);
    let plain = compressor(abs(1.0));
    let stream = plain.compress(&field).expect("memory");
    let small = plain.small_statistics().compress(&field).expect("memory");
    let statistics = Statistics::of(&small).expect("sound").expect("some");
    assert!(1000 * statistics.bytes <= stream.len() as u64);
    assert_eq!(small.len() as u64, stream.len() as u64 + statistics.bytes);
    // Half the chunks a group would be too many bytes.
    assert!(2000 * statistics.bytes > stream.len() as u64);
    assert!(small == plain.statistics(true).compress(&field).expect("memory"));
    assert_eq!(Statistics::of(&stream), Ok(None));
    let short = &field[..5000];
    let without = plain.compress(short).expect("memory");
    assert!(without == plain.small_statistics().compress(short).expect("memory"));
    let asked = plain.statistics(true).compress(short).expect("memory");
    assert_eq!(
        check_whole(&asked, short, f64::NAN, "short").groups().len(),
        1
    );
    let empty = plain.statistics(true).compress::<f32>(&[]).expect("memory");
    let of_empty = Statistics::of(&empty).expect("sound").expect("some");
    assert_eq!((of_empty.count(), of_empty.mean()), (0, None));
    assert_eq!(
        check_search::<f32>(&empty, HOLE, (Unbounded, Unbounded), "empty"),
        (0, 0)
    );
}

#[test]
fn all_calls_and_machines_write_the_same_bytes() {
    let field: Vec<u16> = field(70_000, true);
    for codec in [Codec::PLAIN, Codec::LORENZO_RANS, Codec::INTERP] {
        let compressor = Compressor::new(codec, abs(1.0)).statistics(true);
        let compressor = compressor.extents(&[7, 100, 100]).expect("extents");
        for compressor in [compressor, compressor.fill(HOLE).expect("of the type")] {
            let stream = compressor
                .device(Device::Cpu)
                .compress(&field)
                .expect("memory");
            let mut file = std::io::Cursor::new(Vec::new());
            let length = compressor.compress_seek(&field, &mut file).expect("memory");
            assert!(length == stream.len() as u64 && *file.get_ref() == stream);
            let most = compressor
                .max_compressed_len(70_000, ValueType::U16)
                .expect("fits");
            let mut room = vec![1; most as usize];
            let length = compressor.compress_into(&field, &mut room).expect("room");
            assert!(room[..length] == stream);
            #[cfg(feature = "emulator")]
            {
                let emulator = compressor.device(Device::Emulator);
                assert!(
                    emulator.compress(&field).expect("memory") == stream,
                    "{codec}"
                );
            }
        }
    }
}

#[test]
fn updated_chunks_are_read_and_compaction_drops_what_is_outdated() {
    let field: Vec<f32> = field(200_000, true);
    let compressor = compressor(abs(1e-3)).statistics(true);
    for (compressor, hole) in [
        (compressor, f64::NAN),
        (compressor.fill(HOLE).expect("of the type"), HOLE),
    ] {
        let mut stream = compressor.compress(&field).expect("memory");
        let compacted = compact(&stream).expect("sound");
        assert!(compacted == stream);
        let part = Part::Elements(9000..9002);
        let update = Update::new(&stream, &part, &[5000.0f32, 77.0]).expect("sound");
        update.apply(&mut stream);
        assert!(
            Statistics::of(&stream)
                .expect("sound")
                .is_some_and(|one| one.is_outdated)
        );
        let wanted = (Included(4999.0), Unbounded);
        let (some, all) = check_search::<f32>(&stream, hole, wanted, "updated");
        assert!(some > 0 && (some < all || !hole.is_nan()));
        let compacted = compact(&stream).expect("sound");
        assert_eq!(Statistics::of(&compacted), Ok(None));
        check_search::<f32>(&compacted, hole, wanted, "compacted");
    }
}
