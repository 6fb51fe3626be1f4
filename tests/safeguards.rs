//! Safeguards are kept by all codecs, for values of all types, beside each other and beside masks, in every way to decode.

use crate::common::cases;
use ferrosz::codec::oracle;
use ferrosz::stream::{StreamAt, Update};
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Error, Part, Preset, Safeguard, Value,
    ValueType, info, versions,
};
use ferrosz_verify::{Comparison, Pair};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};

const CODECS: [Codec; 6] = [
    Codec::FIXED,
    Codec::OUTLIER,
    Codec::LORENZO,
    Codec::LORENZO_RANS,
    Codec::INTERP,
    Codec::STENCIL,
];

const EXTENTS: [&[u64]; 5] = [&[], &[1], &[9000], &[70, 300], &[9, 40, 60]];

const FILL: f64 = -5.0;

/// Cases so far.
static CASES: AtomicUsize = AtomicUsize::new(0);

/// A rough surface with plateaus, zeros, and some fill values and numbers that are not finite.
fn field<V: Value>(extents: &[u64], scale: f64, seed: u64) -> Vec<V> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let width = extents.last().copied().unwrap_or(1);
    let count = extents.iter().product::<u64>();
    let value = |i: u64| {
        let (x, y) = ((i % width) as f64, (i / width) as f64);
        let wave = (x / 40.0).sin() + (y / 25.0).cos() + rng.random_range(-0.05..0.05);
        let number = match rng.random_range(0..60) {
            0 => FILL,
            1 if !V::TYPE.is_integer() => f64::NAN,
            2..9 => 0.0,
            9..14 => scale,
            _ => scale * wave,
        };
        V::from_number(match V::TYPE.is_integer() {
            true => number
                .round()
                .max(if V::TYPE.is_signed() { -3e4 } else { 0.0 }),
            false => number,
        })
        .unwrap_or_default()
    };
    (0..count).map(value).collect()
}

/// Sets of safeguards for fields of a scale.
fn sets(scale: f64, rank: usize) -> Vec<Vec<Safeguard>> {
    let mut sets = vec![
        vec![
            Safeguard::KeepAbove(0.31 * scale),
            Safeguard::KeepAbove(0.0),
        ],
        vec![Safeguard::Limits(-2.1 * scale, 2.1 * scale)],
        vec![Safeguard::AbsLog(0.02)],
        vec![Safeguard::AbsExp(0.01)],
        vec![Safeguard::AbsSquare(0.02 * scale * scale)],
    ];
    if rank > 0 {
        let last = rank as u8 - 1;
        sets.push(vec![Safeguard::Monotone(0)]);
        sets.push(vec![
            Safeguard::Monotone(last),
            Safeguard::KeepAbove(0.31 * scale),
            Safeguard::Limits(-2.1 * scale, 2.1 * scale),
            Safeguard::AbsSquare(0.05 * scale * scale),
        ]);
    }
    sets
}

fn bits<V: Value>(values: &[V]) -> Vec<u64> {
    values.iter().map(|value| value.to_value_bits()).collect()
}

/// A stream, checked in every way to decode it.
fn checked<V: Value>(
    compressor: &Compressor,
    (field, bounds): (&[V], Option<&[f64]>),
    safeguards: &[Safeguard],
    name: &str,
) -> Vec<u8> {
    let mut compressor = *compressor;
    for safeguard in safeguards {
        compressor = compressor.safeguard(*safeguard).expect("a safeguard");
    }
    let on = |device| {
        let compressor = compressor.device(device);
        let calls = compressor.progress(&|_| {});
        let calls = bounds.map_or(calls, |bounds| calls.bounds_of_values(bounds));
        calls.compress(field).expect(name)
    };
    let stream = on(Device::Cpu);
    let cpu = Decompressor::new().device(Device::Cpu);
    let decoded: Vec<V> = cpu.decompress(&stream).expect(name);
    let info = info(&stream).expect(name);
    assert_eq!(info.safeguards.len(), safeguards.len(), "{name}");
    let comparison = Comparison::new(field, &decoded, &info).expect(name);
    assert!(comparison.is_kept(), "{name} {comparison:?}");
    let pair = Pair {
        original: field,
        decoded: &decoded,
        extents: &info.extents,
        fills: &info.fills,
    };
    assert_eq!(pair.broken(safeguards, bounds).expect(name), [], "{name}");
    // The emulator checks every step, and takes long.
    #[cfg(feature = "emulator")]
    if CASES.fetch_add(1, Ordering::Relaxed).is_multiple_of(17) {
        assert!(on(Device::Emulator) == stream, "{name}");
        let emulator = Decompressor::new().device(Device::Emulator);
        let found: Vec<V> = emulator.decompress(&stream).expect(name);
        assert!(bits(&found) == bits(&decoded), "{name}");
    }
    let mut written = Cursor::new(Vec::new());
    versions::decompress_seek::<V>(1 << 12, &stream, &mut written).expect(name);
    assert!(
        written.into_inner() == bytemuck::cast_slice::<V, u8>(&decoded),
        "{name}"
    );
    let found: Vec<V> = oracle::decompress(&stream).expect(name);
    assert!(bits(&found) == bits(&decoded), "{name}");
    parts(&stream, &decoded, &info.extents, name);
    stream
}

/// Parts are those of the whole, in memory and far away.
fn parts<V: Value>(stream: &[u8], decoded: &[V], extents: &[u64], name: &str) {
    let count = decoded.len() as u64;
    let ranges = extents.iter().map(|length| length / 3..length - length / 4);
    for part in [
        Part::Elements(count / 3..count - count / 5),
        Part::Box(ranges.collect()),
    ] {
        let mut wanted = Vec::new();
        for one in part.boxes(extents) {
            let inside = |at: &usize| {
                let mut rest = *at as u64;
                extents.iter().zip(&one).rev().all(|(length, range)| {
                    let coordinate = rest % length;
                    rest /= length;
                    range.contains(&coordinate)
                })
            };
            wanted.extend((0..decoded.len()).filter(inside).map(|at| decoded[at]));
        }
        let found: Vec<V> = Decompressor::new()
            .decompress_part(stream, &part)
            .expect(name);
        assert!(bits(&found) == bits(&wanted), "{name} {part:?}");
        let mut far = StreamAt::open(stream).expect(name);
        let found: Vec<V> = far
            .decompress_part(&Decompressor::new(), &part)
            .expect(name);
        assert!(bits(&found) == bits(&wanted), "{name} {part:?}");
    }
}

fn of_type<V: Value>(scale: f64, bound: f64, codecs: &[Codec]) {
    for (seed, extents) in (0..).zip(EXTENTS) {
        let values = field::<V>(extents, scale, seed);
        let bounds: Vec<f64> = (0..values.len())
            .map(|i| [0.0, bound / 50.0, bound / 3.0, f64::INFINITY][i / 40 % 4])
            .collect();
        for codec in codecs {
            let compressor = Compressor::new(*codec, Bound::abs(bound).unwrap());
            let compressor = compressor.extents(extents).unwrap();
            let masked = compressor.fill(FILL);
            let masked = masked.ok().filter(|_| V::TYPE.is_signed());
            let relative = Bound::pwrel(0.02).unwrap();
            let relative = (V::TYPE.is_coded_as_is()).then(|| compressor.with_bound(relative));
            for (way, compressor) in [Some(compressor), masked, relative]
                .iter()
                .flatten()
                .enumerate()
            {
                for (set, safeguards) in (0..).zip(sets(scale, extents.len())) {
                    // Some cases of each run; a campaign of runs takes all.
                    if !(set + way as u64 + seed + cases::seed()).is_multiple_of(5) {
                        continue;
                    }
                    let is_needed = way != 2 && values.len() > 1000;
                    let name = format!("{} {codec} {extents:?} {way} {safeguards:?}", V::TYPE);
                    let mut stream = None;
                    // Fill values lie outside of the limits where they are values like others.
                    let has_limits = safeguards
                        .iter()
                        .any(|one| matches!(one, Safeguard::Limits(..)));
                    if !has_limits
                        || way == 1
                        || !values.iter().any(|value| value.to_number() == FILL)
                    {
                        stream = Some(checked(compressor, (&values, None), &safeguards, &name));
                        checked(compressor, (&values, Some(&bounds)), &safeguards, &name);
                    }
                    let is_above = matches!(safeguards[..], [Safeguard::KeepAbove(_), _]);
                    if let Some(stream) = stream.filter(|_| is_above && is_needed) {
                        assert!(info(&stream).unwrap().section_bytes > 0, "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn safeguards_are_kept_by_all_codecs() {
    of_type::<f32>(1.0, 0.1, &CODECS);
}

#[test]
fn safeguards_are_kept_for_values_of_all_types() {
    let codecs = [Codec::PLAIN, Codec::INTERP];
    of_type::<f64>(2.0, 0.1, &codecs);
    of_type::<ferrosz::F16>(2.0, 0.1, &codecs[1..]);
    of_type::<ferrosz::Bf16>(2.0, 0.1, &codecs[..1]);
    of_type::<i16>(300.0, 20.0, &codecs);
    of_type::<u16>(300.0, 20.0, &codecs[1..]);
    of_type::<i32>(3e4, 800.0, &codecs[..1]);
    of_type::<u32>(3e4, 800.0, &codecs[1..]);
}

#[test]
fn values_outside_of_the_limits_are_named() {
    let mut values = field::<f32>(&[9000], 1.0, 7);
    values[777] = 4.5;
    let compressor = Compressor::new(Preset::Small, Bound::abs(0.1).unwrap());
    let limited = compressor.safeguard(Safeguard::Limits(-6.0, 4.0)).unwrap();
    let error = limited.compress(&values).unwrap_err();
    assert!(matches!(
        error,
        Error::OutsideLimits {
            at: 777,
            value: 4.5,
            ..
        }
    ));
    assert!(error.to_string().contains("4.5 at place 777"), "{error}");
    let away = compressor.safeguard(Safeguard::Monotone(1)).unwrap();
    assert!(matches!(
        away.compress(&values),
        Err(Error::NoSuchAxis { axis: 1, rank: 1 })
    ));
    let short = compressor.bounds_of_values(&[0.1; 5]).compress(&values);
    assert!(matches!(short, Err(Error::BadBounds(_))));
    assert!(limited.safeguard(Safeguard::Limits(0.0, 1.0)).is_err());
}

#[test]
fn damaged_corrections_and_those_of_other_streams_are_refused() {
    let values = field::<f32>(&[70, 300], 1.0, 3);
    let bounds: Vec<f64> = (0..values.len())
        .map(|i| [0.0, 0.01][i / 500 % 2])
        .collect();
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1).unwrap());
    let compressor = compressor.extents(&[70, 300]).unwrap();
    let compressor = compressor.safeguard(Safeguard::KeepAbove(0.33)).unwrap();
    let stream = compressor
        .bounds_of_values(&bounds)
        .compress(&values)
        .unwrap();
    let mut room = vec![
        0;
        compressor
            .max_compressed_len(21_000, ValueType::F32)
            .unwrap() as usize
    ];
    let length = compressor.compress_into(&values, &mut room).unwrap();
    assert!(room[..length] == compressor.compress(&values).unwrap());
    let all = info(&stream).unwrap();
    let start = stream.len() - all.section_bytes as usize;
    let decoded: Vec<f32> = Decompressor::new().decompress(&stream).unwrap();
    let mut rng = SmallRng::seed_from_u64(5);
    for _ in 0..400 {
        let mut damaged = stream.clone();
        damaged[rng.random_range(start..stream.len())] ^= 1 << rng.random_range(0..8);
        if let Ok(found) = Decompressor::new().decompress::<f32>(&damaged) {
            // Padding of the stream of corrections.
            assert_eq!(bits(&found), bits(&decoded));
        }
        assert!(Decompressor::new().check(&damaged).is_err());
    }
    // Without the corrections, values that break the safeguards are seen.
    let plain = Compressor::new(Codec::PLAIN, Bound::abs(0.1).unwrap());
    let plain = plain
        .extents(&[70, 300])
        .unwrap()
        .compress(&values)
        .unwrap();
    let dropped: Vec<f32> = Decompressor::new().decompress(&plain).unwrap();
    let pair = Pair {
        original: &values,
        decoded: &dropped,
        extents: &[70, 300],
        fills: &[],
    };
    let broken = pair.broken(&all.safeguards, Some(&bounds)).unwrap();
    assert_eq!(broken.len(), 2);
    let part = Part::Elements(5..6);
    let update = Update::new(&stream, &part, &[1.0f32]);
    assert!(matches!(update, Err(Error::Safeguarded(_))));
    let mut lost = stream.clone();
    lost[start - 1] ^= 1;
    let (salvaged, damages) = Decompressor::new().salvage::<f32>(&lost).unwrap();
    assert_eq!(damages.len(), 1);
    let is_same = |(x, y): (&f32, &f32)| x.is_nan() || x.to_bits() == y.to_bits();
    assert!(salvaged.iter().zip(&decoded).all(is_same));
}
