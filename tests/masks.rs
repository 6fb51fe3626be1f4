//! Masks: every codec in every shape, on every machine, with fill values in many places.

use crate::common::cases::{asked, of_list, takes, takes_part};
use crate::common::fields::{FromBits, Kind, make};
use crate::common::judge::judge;
use crate::common::machine::Machine;
use crate::common::{layouts, tile_layouts};
use ferrosz::codec::{with_element, with_value};
use ferrosz::stream::{Extents, Layout, Update};
use ferrosz::{
    Axes, Bound, Codec, Compressor, Decompressor, Device, Dtype, Element, Fill, FormatError, Part,
    Preset, Shape, Value, ValueType, info,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Where elements are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    Everywhere,
    /// A ball in the middle.
    Ball,
    /// One element of five.
    Random,
    /// All but one of a hundred.
    MostlyMissing,
    /// The first elements of rows, so that blocks and tiles begin with holes.
    Starts,
    /// The first half.
    FirstHalf,
}

impl Place {
    const ALL: [Self; 7] = [
        Self::Nowhere,
        Self::Everywhere,
        Self::Ball,
        Self::Random,
        Self::MostlyMissing,
        Self::Starts,
        Self::FirstHalf,
    ];

    fn has(self, extents: &[u64], element: usize, rng: &mut SmallRng) -> bool {
        let all: u64 = extents.iter().product();
        let mut rest = element as u64;
        let mut distance = 0.0;
        for extent in extents.iter().rev() {
            let at = (rest % extent) as f64 - *extent as f64 / 2.0;
            distance += (2.0 * at / *extent as f64).powi(2);
            rest /= extent;
        }
        match self {
            Self::Nowhere => false,
            Self::Everywhere => true,
            Self::Ball => distance < 0.4,
            Self::Random => rng.random_bool(0.2),
            Self::MostlyMissing => !rng.random_bool(0.01),
            Self::Starts => element as u64 % extents.last().copied().unwrap_or(1) < 7,
            Self::FirstHalf => (element as u64) < all / 2,
        }
    }
}

/// The bits of the fill values of a case: one to four of them.
fn fills<T: Element>(count: usize) -> Vec<u64> {
    let all = [
        T::from_f64(1e20).to_bits64(),
        T::HOLE.to_bits64(),
        T::from_f64(-9999.0).to_bits64(),
        T::HOLE.to_bits64() + 5,
    ];
    all[..count].to_vec()
}

/// A field with fill values in place of some elements.
fn masked<T: FromBits>(
    kind: Kind,
    extents: &[u64],
    place: Place,
    fills: &[u64],
    seed: u64,
) -> Vec<T> {
    let elements = extents.iter().product::<u64>() as usize;
    let mut field = make::<T>(kind, elements, seed);
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut fill = 0;
    for (i, value) in field.iter_mut().enumerate() {
        if rng.random_bool(0.02) {
            fill = rng.random_range(0..fills.len());
        }
        if place.has(extents, i, &mut rng) {
            *value = T::from_bits64(fills[fill]);
        }
    }
    field
}

/// The elements that are not fill values keep the bound, and the others are the same bit for bit.
fn judge_masked<T: Element>(
    bound: Bound,
    fills: &[u64],
    field: &[T],
    back: &[T],
) -> Result<(), String> {
    let is_fill = |value: &T| fills.contains(&value.to_bits64()) || value.is_hole();
    let differs = field
        .iter()
        .zip(back)
        .position(|(value, back)| is_fill(value) && value.to_bits64() != back.to_bits64());
    if let Some(at) = differs {
        return Err(format!("fill value {at} came back as {:?}", back[at]));
    }
    let valid = |values: &[T]| -> Vec<T> {
        let pairs = values.iter().zip(field);
        pairs
            .filter(|(_, x)| !is_fill(x))
            .map(|(value, _)| *value)
            .collect()
    };
    judge(bound, &valid(field), &valid(back)).map_err(|error| format!("{error:?}"))
}

fn bits<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits64()).collect()
}

/// Makes and reads a case on all machines.
fn check<T: FromBits>(
    layout: Layout,
    axes: Option<Axes>,
    extents: &[u64],
    number: usize,
    machines: &[Machine],
) {
    let place = Place::ALL[number % Place::ALL.len()];
    let kinds = [Kind::Smooth, Kind::Random, Kind::Offset, Kind::Steps];
    let kind = kinds[number / 3 % kinds.len()];
    let bounds = [
        Bound::range(1e-3),
        Bound::abs(0.02),
        Bound::max(1e-4),
        Bound::abs(0.0),
    ];
    let bound = bounds[number / 2 % bounds.len()].expect("a good bound");
    let fills = fills::<T>(1 + number % 4);
    let field = masked::<T>(kind, extents, place, &fills, number as u64);
    let what = format!(
        "{layout:?} {axes:?} {place:?} {kind:?} {bound:?} {} fills",
        fills.len()
    );
    let stream = Machine::Reference.compress_masked(layout, axes, bound, &fills, &field);
    let stream = stream.expect("compresses");
    let back = Machine::Reference.decompress::<T>(&stream);
    let back = back.unwrap_or_else(|error| panic!("{what}: {error}"));
    judge_masked(bound, &fills, &field, &back).unwrap_or_else(|error| panic!("{what}: {error}"));
    for machine in machines {
        let found = machine.compress_masked(layout, axes, bound, &fills, &field);
        let found = found.unwrap_or_else(|error| panic!("{machine:?} {what}: {error}"));
        assert!(found == stream, "{machine:?} makes another stream: {what}");
        let found = machine.decompress::<T>(&stream);
        let found = found.unwrap_or_else(|error| panic!("{machine:?} {what}: {error}"));
        assert!(
            bits(&found) == bits(&back),
            "{machine:?} reads other values: {what}"
        );
    }
}

#[test]
fn every_machine_masks_the_same() {
    let extents: [&[u64]; 8] = [
        &[1],
        &[40],
        &[20_000],
        &[70, 150],
        &[300, 300],
        &[3, 5, 7],
        &[20, 40, 60],
        &[3, 2, 18, 19, 21],
    ];
    let mut cases = Vec::new();
    for extents in extents {
        for layout in [layouts(extents), tile_layouts(extents)].concat() {
            cases.extend(Dtype::ALL.map(|dtype| (extents, layout, dtype)));
        }
    }
    assert!(cases.len() > 200, "{}", cases.len());
    let check_case = |(number, (extents, layout, dtype)): (usize, (&[u64], Layout, Dtype))| {
        let machines = Machine::of_this_computer();
        let is_slow = |machine: &Machine| machine.is_slow();
        // The emulator takes a part of the cases, and each place of missing elements.
        let is_skipped = extents.iter().product::<u64>() > 30_000 || number % 5 != 0;
        let machines: Vec<Machine> = (machines.into_iter())
            .filter(|machine| !(is_skipped && is_slow(machine)))
            .collect();
        with_element!(dtype, T => check::<T>(layout, None, extents, number, &machines));
    };
    let mut cases: Vec<_> = cases.into_iter().enumerate().collect();
    cases.retain(|(number, _)| takes(*number as u64, 7));
    of_list(cases, |(number, _)| *number as u64, check_case);
}

/// Slices, and other orders of axes.
#[test]
fn masks_have_the_axes_of_their_fields() {
    let cases: [(&[u64], &str); 5] = [
        (&[6, 10, 20, 30], "s,z,y,x"),
        (&[6, 10, 20, 30], "z,s,y,x"),
        (&[40, 300], "x,y"),
        (&[30, 400], "s,x"),
        (&[3, 4, 5, 6, 7], "x,s,z,z,y"),
    ];
    let codecs = [
        Codec::PLAIN,
        Codec::LORENZO,
        Codec::LORENZO_RANS,
        Codec::INTERP,
    ];
    let mut number = 0;
    for (extents, axes) in cases {
        let axes: Axes = axes.parse().expect("good axes");
        let of_user = Extents::new(extents).expect("good extents");
        let coded = axes.coded_extents(&of_user).expect("as many axes");
        for codec in codecs {
            for shape in Shape::ALL {
                let layout = Layout::new(codec, shape, coded);
                if takes_part(number as u64, 6) {
                    let machines = Machine::of_this_computer();
                    check::<f32>(layout, Some(axes), extents, number, &machines);
                }
                number += 1;
            }
        }
    }
}

#[test]
fn parts_have_their_fill_values() {
    let extents = [20u64, 40, 60];
    let fills = fills::<f32>(2);
    let field = masked::<f32>(Kind::Smooth, &extents, Place::Ball, &fills, 3);
    let bound = Bound::range(1e-3).expect("a good bound");
    for (layout, number) in [layouts(&extents), tile_layouts(&extents)]
        .concat()
        .into_iter()
        .zip(0..)
    {
        if !takes_part(number, 4) {
            continue;
        }
        let stream = Machine::Reference.compress_masked(layout, None, bound, &fills, &field);
        let stream = stream.expect("compresses");
        let whole: Vec<f32> = Machine::Reference
            .decompress(&stream)
            .expect("decompresses");
        for part in [
            Part::Elements(20_011..31_007),
            Part::Box(vec![3..17, 11..12, 0..60]),
            Part::Box(vec![10..11, 0..40, 25..47]),
        ] {
            let wanted: Vec<u32> = match &part {
                Part::Elements(range) => (range.clone())
                    .map(|i| whole[i as usize].to_bits())
                    .collect(),
                Part::Box(ranges) => {
                    let [z, y, x] = [0, 1, 2].map(|i| ranges[i].clone());
                    let mut all = Vec::new();
                    for z in z {
                        for y in y.clone() {
                            let row = (z * 40 + y) * 60;
                            all.extend(x.clone().map(|x| whole[(row + x) as usize].to_bits()));
                        }
                    }
                    all
                }
            };
            for machine in Machine::of_this_computer() {
                if machine.has_parts(layout) {
                    let found = machine.decompress_part::<f32>(&stream, &part);
                    let found: Vec<u32> = (found.expect("decompresses").iter())
                        .map(|value| value.to_bits())
                        .collect();
                    assert!(found == wanted, "{machine:?} {layout:?} {part:?}");
                }
            }
        }
    }
}

/// Several mask chunks, whose places depend on the lengths of those before, and parts of several kinds.
#[test]
fn masks_of_many_chunks_are_the_same() {
    let extents = [70u64, 64, 66];
    let machines = [Machine::Emulator];
    // Numbers of cases with a ball, with random holes, and with a hole almost everywhere.
    for (codec, number) in [
        (Codec::PLAIN, 2),
        (Codec::LORENZO_RANS, 3),
        (Codec::INTERP, 10),
    ] {
        if !takes_part(number as u64 % 3, 3) {
            continue;
        }
        let layout = Layout::new(
            codec,
            Shape::Cube,
            Extents::new(&extents).expect("good extents"),
        );
        check::<f32>(layout, None, &extents, number, &machines);
        check::<f64>(layout, None, &extents, number + 7, &machines);
    }
}

/// Parts of fields whose axes have another order in the stream.
#[test]
fn parts_of_turned_fields_have_their_fill_values() {
    let extents = [20u64, 40, 30];
    let axes: Axes = "y,x,z".parse().expect("good axes");
    let of_user = Extents::new(&extents).expect("good extents");
    let coded = axes.coded_extents(&of_user).expect("as many axes");
    let fills = fills::<f32>(2);
    let field = masked::<f32>(Kind::Smooth, &extents, Place::Ball, &fills, 3);
    let bound = Bound::range(1e-3).expect("a good bound");
    for codec in [Codec::PLAIN, Codec::LORENZO] {
        for shape in Shape::ALL {
            let layout = Layout::new(codec, shape, coded);
            let stream =
                Machine::Reference.compress_masked(layout, Some(axes), bound, &fills, &field);
            let stream = stream.expect("compresses");
            let whole: Vec<f32> = Machine::Reference
                .decompress(&stream)
                .expect("decompresses");
            let [zs, ys, xs] = [3..17u64, 11..33, 5..30];
            let mut wanted = Vec::new();
            for z in zs.clone() {
                for y in ys.clone() {
                    let row = (z * 40 + y) * 30;
                    wanted.extend(xs.clone().map(|x| whole[(row + x) as usize]));
                }
            }
            let part = Part::Box(vec![zs, ys, xs]);
            for machine in Machine::of_this_computer() {
                if machine.has_parts(layout) {
                    let found = machine.decompress_part::<f32>(&stream, &part);
                    let found = found.expect("decompresses");
                    assert!(bits(&found) == bits(&wanted), "{machine:?} {layout:?}");
                }
            }
        }
    }
}

#[test]
fn updates_may_change_the_mask() {
    let extents = [20u64, 40, 60];
    let fills = fills::<f32>(2);
    let bound = Bound::abs(0.01).expect("a good bound");
    for layout in layouts(&extents) {
        let mut field = masked::<f32>(Kind::Smooth, &extents, Place::Ball, &fills, 3);
        let stream = Machine::Reference.compress_masked(layout, None, bound, &fills, &field);
        let mut stream = stream.expect("compresses");
        let part = Part::Box(vec![5..15, 0..40, 20..30]);
        let values = masked::<f32>(Kind::Offset, &[10, 40, 10], Place::Random, &fills, 4);
        let mut rest = values.iter();
        for z in 5..15 {
            for y in 0..40 {
                for x in 20..30 {
                    field[(z * 40 + y) * 60 + x] = *rest.next().expect("a value");
                }
            }
        }
        let update = Update::new(&stream, &part, &values).expect("updates");
        update.apply(&mut stream);
        for stream in [
            stream.clone(),
            ferrosz::stream::compact(&stream).expect("compacts"),
        ] {
            for machine in Machine::of_this_computer() {
                let back = machine.decompress::<f32>(&stream).expect("decompresses");
                let judged = judge_masked(bound, &fills, &field, &back);
                judged.unwrap_or_else(|error| panic!("{machine:?} {layout:?}: {error}"));
            }
        }
    }
}

#[test]
fn a_damaged_mask_is_found_and_loses_its_part_only() {
    let extents = [64u64, 64, 64];
    let fills = fills::<f32>(1);
    let field = masked::<f32>(Kind::Smooth, &extents, Place::Random, &fills, 3);
    let bound = Bound::abs(0.01).expect("a good bound");
    for (layout, number) in [layouts(&extents), tile_layouts(&extents)]
        .concat()
        .into_iter()
        .zip(0..)
    {
        if !takes_part(number, 20) {
            continue;
        }
        let stream = Machine::Reference.compress_masked(layout, None, bound, &fills, &field);
        let mut stream = stream.expect("compresses");
        // The mask's chunks are the last ones.
        let at = stream.len() - 100;
        stream[at] ^= 4;
        for machine in Machine::of_this_computer()
            .into_iter()
            .chain([Machine::Reference])
        {
            let error = machine.decompress::<f32>(&stream).expect_err("damaged");
            let is_checksum = matches!(
                error,
                ferrosz::Error::Format(FormatError::ChunkChecksum { .. })
            );
            assert!(is_checksum, "{machine:?} {error}");
        }
        let (values, damages) = Decompressor::new()
            .salvage::<f32>(&stream)
            .expect("salvages");
        assert_eq!(damages.len(), 1, "{layout:?}");
        // Eight parts of 8192 elements.
        assert_eq!(damages[0].elements(), 65_536, "{layout:?}");
        let found = Decompressor::new().check(&stream).expect("checks");
        assert_eq!(found, damages);
        let lost = values.iter().filter(|value| value.is_nan()).count();
        assert_eq!(lost, 65_536, "{layout:?}");
    }
}

#[test]
fn any_bytes_of_a_mask_are_no_panic() {
    let extents = [20u64, 40, 60];
    let fills = fills::<f32>(3);
    let field = masked::<f32>(Kind::Smooth, &extents, Place::Random, &fills, 3);
    let bound = Bound::abs(0.01).expect("a good bound");
    let layout = layouts(&extents)[0];
    let stream = Machine::Reference.compress_masked(layout, None, bound, &fills, &field);
    let stream = stream.expect("compresses");
    let of_mask = ferrosz::info(&stream).expect("a stream").mask_bytes as usize;
    let mut rng = SmallRng::seed_from_u64(8);
    for number in 0..if asked().is_some() { 2000 } else { 300 } {
        let mut damaged = stream.clone();
        for _ in 0..rng.random_range(1..6) {
            // Behind the field's chunks: the mask's record and its entries have 96 bytes.
            let at = rng.random_range(stream.len() + 96 - of_mask..stream.len());
            damaged[at] = rng.random_range(0..=255) as u8;
        }
        let mut results = Vec::new();
        for machine in Machine::cpu() {
            results.push(machine.decompress_trusting::<f32>(&damaged));
        }
        // On the emulator every access out of bounds would be another error, and other values another result.
        if number % 50 == 0 {
            results.push(Machine::Emulator.decompress_trusting::<f32>(&damaged));
        }
        let same = |a: &Result<Vec<f32>, _>, b: &Result<Vec<f32>, _>| match (a, b) {
            (Ok(a), Ok(b)) => bits(a) == bits(b),
            (a, b) => a == b,
        };
        assert!(results.windows(2).all(|pair| same(&pair[0], &pair[1])));
    }
}

/// A masked field of 280 K, as in the documentation: the mask costs what its shape costs, whatever the fill value is.
#[test]
fn the_fill_value_does_not_matter() {
    let extents = [50u64, 100, 100];
    let elements = extents.iter().product::<u64>() as usize;
    let temperature: Vec<f32> = (0..elements)
        .map(|i| {
            let (z, y, x) = (i / 10_000, i / 100 % 100, i % 100);
            280.0 + 10.0 * (x as f32 * 0.05).sin() + 5.0 * (y as f32 * 0.04 + z as f32 * 0.1).cos()
        })
        .collect();
    let values = temperature.iter();
    let (low, high) = values.fold((f32::MAX, f32::MIN), |(low, high), x| {
        (low.min(*x), high.max(*x))
    });
    let unmasked = Compressor::new(Preset::Small, Bound::range(1e-3).expect("a good bound"));
    let unmasked = unmasked.extents(&extents).expect("good extents");
    let without = unmasked.compress(&temperature).expect("compresses").len();
    let place = |place: Place, i: usize, rng: &mut SmallRng| match place {
        // A fifth of the elements in one piece.
        Place::Ball => {
            let at = [i / 10_000, i / 100 % 100, i % 100].map(|at| at as f64);
            let from = [25.0, 48.0, 52.0];
            (0..3)
                .map(|axis| (at[axis] - from[axis]).powi(2))
                .sum::<f64>()
                < 28.8f64.powi(2)
        }
        place => place.has(&extents, i, rng),
    };
    for (where_, most) in [(Place::Ball, 0.05), (Place::Random, 0.722 * 1.05)] {
        if !takes_part(where_ as u64, 2) {
            continue;
        }
        let (mut lengths, mut mask) = (Vec::new(), 0);
        for fill in [f32::NAN, 1e20, -9999.0] {
            let mut rng = SmallRng::seed_from_u64(1);
            let mut field = temperature.clone();
            for (i, value) in field.iter_mut().enumerate() {
                if place(where_, i, &mut rng) {
                    *value = fill;
                }
            }
            let compressor = unmasked.fill(f64::from(fill)).expect("a fill value");
            let stream = compressor.compress(&field).expect("compresses");
            lengths.push(stream.len());
            mask = ferrosz::info(&stream).expect("a stream").mask_bytes;
            let back: Vec<f32> = Decompressor::new()
                .decompress(&stream)
                .expect("decompresses");
            for (value, back) in field.iter().zip(&back) {
                if value.to_bits() == fill.to_bits() {
                    assert_eq!(back.to_bits(), fill.to_bits());
                } else {
                    let error = f64::from(*value) - f64::from(*back);
                    assert!(error.abs() <= 1e-3 * f64::from(high - low));
                }
            }
        }
        println!("{where_:?}: {lengths:?}, without a mask {without}");
        let (least, largest) = (lengths.iter().min(), lengths.iter().max());
        let (least, largest) = (least.expect("one"), largest.expect("one"));
        assert!(*largest as f64 <= 1.01 * *least as f64);
        let cost = mask as f64 * 8.0 / elements as f64;
        println!("{where_:?}: mask of {cost:.4} bits a value");
        assert!(cost <= most, "{where_:?}: {cost}");
    }
}

#[test]
fn masks_of_streams_without_elements() {
    let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(0));
    let bound = Bound::abs(0.01).expect("a good bound");
    for machine in Machine::of_this_computer() {
        let stream = machine.compress_masked::<f32>(layout, None, bound, &fills::<f32>(1), &[]);
        let stream = stream.expect("compresses");
        assert_eq!(
            machine.decompress::<f32>(&stream),
            Ok(Vec::new()),
            "{machine:?}"
        );
    }
    let compressor = Compressor::new(Codec::PLAIN, bound)
        .fill(Fill::Nan)
        .expect("a fill value");
    assert!(compressor.compress::<f32>(&[]).is_ok());
}

/// Valid values around a fill value within the bound.
fn no_valid_value_becomes_missing<V: Value>(codec: Codec, fill: f64) {
    let Some(missing) = V::from_number(fill) else {
        return;
    };
    let steps = [0.0, 0.3, -0.4, 0.9, 2.0, 7.0, -3.0];
    let number = |i: usize| fill + steps[(i * i / 5 + i) % steps.len()];
    let of = |number: f64| match V::TYPE.is_integer() {
        true => V::from_number(number.round()),
        false => V::from_number(number),
    };
    let field: Vec<V> = (0..5000)
        .map(|i| of(number(i)).unwrap_or(missing))
        .collect();
    for bound in [Bound::abs(1.0), Bound::abs(0.5), Bound::range(0.1)].map(Result::unwrap) {
        let compressor = Compressor::new(codec, bound)
            .fill(fill)
            .expect("a fill value");
        let stream = compressor
            .device(Device::Cpu)
            .compress(&field)
            .expect("compresses");
        let decoded: Vec<V> = Decompressor::new()
            .decompress(&stream)
            .expect("decompresses");
        for (x, y) in field.iter().zip(&decoded) {
            assert_eq!(
                *x == missing,
                *y == missing,
                "{codec} {} {bound:?}: {x} {y}",
                V::TYPE
            );
        }
        let valid = |values: &[V]| -> Vec<V> {
            let pairs = field.iter().zip(values).filter(|(x, _)| **x != missing);
            pairs.map(|(_, y)| *y).collect()
        };
        judge(bound, &valid(&field), &valid(&decoded)).expect("within the bound");
        assert!(
            info(&stream)
                .expect("a stream")
                .fills
                .iter()
                .all(|known| *known == missing.to_number() || known.is_nan())
        );
        if cfg!(feature = "emulator") {
            let again = compressor
                .device(Device::Emulator)
                .compress(&field)
                .expect("compresses");
            assert!(
                again == stream,
                "{codec} {} {bound:?}: other bytes",
                V::TYPE
            );
        }
    }
}

#[test]
fn valid_values_never_become_fill_values() {
    let mut number = 0;
    for codec in [Codec::PLAIN, Codec::LORENZO_RANS, Codec::INTERP] {
        for value_type in ValueType::ALL {
            for fill in [0.0, -9999.0, 100.0] {
                if takes_part(number, 5) {
                    with_value!(value_type, V => no_valid_value_becomes_missing::<V>(codec, fill));
                }
                number += 1;
            }
        }
    }
}

/// Also if no element has the fill value, so that nothing but its name says what it is.
#[test]
fn a_named_value_that_values_could_become_is_a_fill_value() {
    let field: Vec<i16> = (0..9000).map(|i| -32766 + (i * i % 200) as i16).collect();
    for codec in Codec::ALL {
        let compressor = Compressor::new(codec, Bound::abs(65.0).expect("a bound"));
        let compressor = compressor.fills_of(&field, &[(-32767.0).into(), 9000.0.into()]);
        let stream = compressor.compress(&field).expect("compresses");
        let decoded: Vec<i16> = Decompressor::new()
            .decompress(&stream)
            .expect("decompresses");
        assert!(!decoded.contains(&-32767), "{codec}");
        let fills = info(&stream).expect("a stream").fills;
        assert!(
            fills.contains(&-32767.0) && !fills.contains(&9000.0),
            "{codec}: {fills:?}"
        );
    }
}

/// Also with a codec that has a name, and in a tiny field.
#[test]
fn a_mask_that_pays_is_found_for_every_codec() {
    for lengths in [&[500u64][..], &[24, 40, 41]] {
        let elements = lengths.iter().product::<u64>() as usize;
        let value = |i: usize| match i % 3 {
            0 => 77_777.5,
            _ => (i as f32 * 0.01).sin(),
        };
        let field: Vec<f32> = (0..elements).map(value).collect();
        for codec in Codec::ALL {
            let compressor = Compressor::new(codec, Bound::abs(1e-3).expect("a bound"));
            let compressor = compressor.extents(lengths).expect("extents");
            let stream = compressor.fills_of(&field, &[]).compress(&field);
            let fills = info(&stream.expect("compresses")).expect("a stream").fills;
            assert!(fills.contains(&77_777.5), "{codec} {lengths:?}: {fills:?}");
        }
    }
}

/// A few bright values on a dark ground, which may be 0 or another number, are no measurements among missing ones; with an
/// absolute bound a mask of other repeated values is made only where it saves bytes.
#[test]
fn a_mask_that_is_found_must_pay() {
    let ball = |ground: f32| -> Vec<f32> {
        let square = |i: usize, centre: i64| (i as i64 - centre).pow(2);
        let radius = |i: usize| square(i / 2304, 20) + square(i / 48 % 48, 17) + square(i % 48, 24);
        let value = |i: usize| match radius(i) {
            r if r < 16 => ground + 1000.0 + 0.1 * r as f32,
            _ => ground,
        };
        (0..48 * 48 * 48).map(value).collect()
    };
    let mut seven = vec![0.0f32; 48 * 48 * 48];
    seven[5000..5007].copy_from_slice(&[900.0, 901.5, 902.0, 903.0, 902.5, 901.0, 900.5]);
    let mut spots: Vec<f32> = (0..48 * 48 * 48)
        .map(|i| 280.0 + (i as f32 / 9e3).sin())
        .collect();
    for i in 0..40 {
        spots[i * 977] = 0.0;
    }
    for (name, field) in [
        ("ball", ball(0.0)),
        ("air", ball(-1000.0)),
        ("seven", seven),
        ("spots", spots),
    ] {
        for preset in Preset::ALL {
            let bound = Bound::abs(0.5).expect("a bound");
            let compressor = Compressor::new(preset, bound)
                .extents(&[48, 48, 48])
                .expect("extents");
            let length =
                |compressor: Compressor| compressor.compress(&field).expect("compresses").len();
            let (found, none) = (length(compressor.fills_of(&field, &[])), length(compressor));
            assert!(
                found <= none,
                "{name} {preset}: {found} bytes, and {none} without a mask"
            );
        }
    }
    // A usual mark is kept, whatever it costs: a reader looks for these bits.
    let marked: Vec<f32> = (0..5000)
        .map(|i| if i % 7 == 0 { -9999.0 } else { i as f32 * 0.01 })
        .collect();
    let compressor = Compressor::new(Preset::Small, Bound::abs(0.5).expect("a bound"));
    let stream = compressor
        .fills_of(&marked, &[])
        .compress(&marked)
        .expect("compresses");
    assert_eq!(info(&stream).expect("a stream").fills[0], -9999.0);
}
