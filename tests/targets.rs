//! Targets instead of bounds: a stream reaches its PSNR, RMSE, mean absolute error or ratio, measured here by plain loops.

use crate::common::cases::takes_part;
use crate::common::fields::{FromBits, Kind, make};
use crate::common::judge::judge;
use ferrosz::codec::container::header::Header;
use ferrosz::target::{Found, Target, TargetKind};
use ferrosz::{
    Bound, BoundMode, Choice, Codec, Compressor, Decompressor, Device, Element, Error, Preset,
};

/// RMSE, PSNR and mean absolute error of the finite values, by plain sums in units of the largest, so that no square overflows.
fn errors<T: Element>(field: &[T], decoded: &[T]) -> [f64; 3] {
    let pairs = || (field.iter().zip(decoded)).filter(|(x, _)| x.is_finite());
    let values = || pairs().map(|(x, _)| x.to_f64());
    let (min, max) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), x| {
        (min.min(x), max.max(x))
    });
    let count = pairs().count().max(1) as f64;
    let unit = pairs()
        .map(|(x, y)| (x.to_f64() - y.to_f64()).abs())
        .fold(0.0, f64::max);
    if unit == 0.0 {
        return [0.0, f64::INFINITY, 0.0];
    }
    let in_units = || pairs().map(|(x, y)| ((x.to_f64() - y.to_f64()) / unit).abs());
    let rmse = (in_units().map(|error| error.powi(2)).sum::<f64>() / count).sqrt() * unit;
    let mae = in_units().sum::<f64>() / count * unit;
    let half_range = max / 2.0 - min / 2.0;
    let psnr = 20.0 * (half_range.log10() - (rmse / 2.0).log10());
    [rmse, psnr, mae]
}

/// Searches, and checks all that always holds; returns what was found and the figure that the target is for.
fn search<T: Element>(
    compressor: Compressor,
    target: Target,
    field: &[T],
) -> Result<(Found, f64), Error> {
    let found = compressor.search(target, field)?;
    let context = format!("{target}, {compressor:?}, {:?}", found.compressor.bound());
    let info = ferrosz::info(&found.stream)?;
    assert_eq!(info.bound, found.compressor.bound(), "{context}");
    assert_eq!(info.bound.mode(), BoundMode::Abs, "{context}");
    let again = found.compressor.compress(field)?;
    assert!(again == found.stream, "{context}: other bytes");
    let decoded: Vec<T> = Decompressor::new().decompress(&found.stream)?;
    judge(info.bound, field, &decoded).unwrap_or_else(|wrong| panic!("{context}: {wrong}"));
    let [rmse, psnr, mae] = errors(field, &decoded);
    let ratio = size_of_val(field) as f64 / found.stream.len() as f64;
    let figure = match target.kind() {
        TargetKind::Psnr => psnr,
        TargetKind::Rmse => rmse,
        TargetKind::Mae => mae,
        TargetKind::Ratio => ratio,
    };
    let same = |one: f64, other: f64| one == other || (one / other - 1.0).abs() < 1e-9;
    assert!(
        same(found.figures.rmse, rmse),
        "{context}: {:?}, {rmse}",
        found.figures
    );
    assert!(
        same(found.figures.psnr, psnr),
        "{context}: {:?}, {psnr}",
        found.figures
    );
    assert!(
        same(found.figures.mae, mae),
        "{context}: {:?}, {mae}",
        found.figures
    );
    assert_eq!(found.figures.ratio, ratio, "{context}");
    assert!(same(found.figures.of(target.kind()), figure), "{context}");
    let is_met = match target.kind() {
        TargetKind::Rmse | TargetKind::Mae => figure <= target.value(),
        TargetKind::Psnr | TargetKind::Ratio => figure >= target.value(),
    };
    assert!(is_met, "{context}: {figure}");
    Ok((found, figure))
}

/// Whether a figure that meets its target is also near to it.
fn is_near(target: Target, figure: f64) -> bool {
    match target.kind() {
        TargetKind::Psnr => figure <= target.value() + 0.5,
        TargetKind::Rmse | TargetKind::Mae => figure >= target.value() * 0.95,
        TargetKind::Ratio => figure <= target.value() * 1.05,
    }
}

fn target(kind: TargetKind, value: f64) -> Target {
    Target::new(kind, value).expect("a good target")
}

fn compressor(choice: impl Into<Choice>, lengths: &[u64]) -> Compressor {
    let compressor = Compressor::new(choice, Bound::default()).device(Device::Cpu);
    compressor.extents(lengths).expect("good extents")
}

/// Of smooth and of noisy fields, every sensible target is met within its limits, by every preset and by codecs of all
/// families.
fn ordinary_fields_reach_targets<T: FromBits>() {
    let choices: [Choice; 6] = [
        Preset::Fast.into(),
        Preset::Small.into(),
        Codec::PLAIN.into(),
        Codec::LORENZO.into(),
        Codec::LORENZO_RANS.into(),
        Codec::INTERP.into(),
    ];
    let mut number = 0;
    for (kind, ratios) in [(Kind::Smooth, [9.0, 18.0]), (Kind::Random, [2.5, 6.0])] {
        let field: Vec<T> = make(kind, 12 * 50 * 60, 3);
        let (min, max) = (field.iter().map(|x| x.to_f64()))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), x| {
                (min.min(x), max.max(x))
            });
        for choice in choices {
            for lengths in [&[12 * 50 * 60][..], &[600, 60], &[12, 50, 60]] {
                let compressor = compressor(choice, lengths);
                for target in [
                    target(TargetKind::Psnr, 45.0),
                    target(TargetKind::Psnr, 72.5),
                    target(TargetKind::Rmse, (max - min) * 3.3e-3),
                    target(TargetKind::Mae, (max - min) * 3.3e-3),
                    target(TargetKind::Ratio, ratios[0] * T::BYTES as f64 / 4.0),
                    target(TargetKind::Ratio, ratios[1] * T::BYTES as f64 / 4.0),
                ] {
                    number += 1;
                    if !takes_part(number, 13) {
                        continue;
                    }
                    let found = search(compressor, target, &field);
                    let (found, figure) = found.unwrap_or_else(|error| {
                        panic!("{kind:?} {choice:?} {lengths:?} {target}: {error}")
                    });
                    let bound = found.compressor.bound().value();
                    // The parameters of splines and stencils change with the bound, and the figures jump where they do: there
                    // may be no bound within the limits.
                    let has_splines =
                        [Codec::INTERP.into(), Preset::Small.into()].contains(&choice);
                    let is_near = is_near(target, figure)
                        || has_splines
                            && match target.kind() {
                                TargetKind::Psnr => figure < 46.5,
                                TargetKind::Rmse | TargetKind::Mae => false,
                                TargetKind::Ratio => figure <= target.value() * 1.25,
                            };
                    assert!(
                        is_near,
                        "{kind:?} {choice:?} {lengths:?} {target}: {figure}, {bound}"
                    );
                    // Three digits, as said.
                    assert!(format!("{bound:e}").len() <= 8, "{bound:e}");
                }
            }
        }
    }
}

#[test]
fn ordinary_fields_reach_targets_in_f32() {
    ordinary_fields_reach_targets::<f32>();
}

#[test]
fn ordinary_fields_reach_targets_in_f64() {
    ordinary_fields_reach_targets::<f64>();
}

/// Fields of every kind, and of few elements: a target is met, or a ratio is refused with the best one.
fn strange_fields_have_an_answer<T: FromBits>() {
    let mut fields: Vec<(String, Vec<T>)> = Vec::new();
    for kind in Kind::ALL {
        for length in [0, 1, 2, 3, 33, 9000] {
            fields.push((format!("{kind:?} {length}"), make(kind, length, 7)));
        }
    }
    let value = T::from_f64;
    fields.push(("nothing finite".to_owned(), vec![T::NAN; 300]));
    fields.push(("zeros".to_owned(), vec![T::ZERO; 300]));
    fields.push((
        "zeros of both signs".to_owned(),
        [value(0.0), value(-0.0)].repeat(150),
    ));
    let largest = [T::MAX, T::ZERO - T::MAX];
    fields.push(("largest".to_owned(), largest.repeat(150)));
    for ((name, field), number) in fields.into_iter().zip(0..) {
        if !takes_part(number, 7) {
            continue;
        }
        for choice in [Choice::from(Preset::Fast), Codec::STENCIL_HUFFMAN.into()] {
            let compressor = compressor(choice, &[field.len() as u64]);
            for target in [
                target(TargetKind::Psnr, 60.0),
                target(TargetKind::Psnr, -20.0),
                target(TargetKind::Psnr, 900.0),
                target(TargetKind::Psnr, f64::INFINITY),
                target(TargetKind::Rmse, 0.0),
                target(TargetKind::Rmse, 0.125),
                target(TargetKind::Mae, 0.125),
                target(TargetKind::Rmse, 1e300),
                target(TargetKind::Ratio, 0.001),
                target(TargetKind::Ratio, 3.0),
                target(TargetKind::Ratio, 1e9),
            ] {
                match search(compressor, target, &field) {
                    Ok(_) => {}
                    Err(Error::TargetNotReached { target: of, best }) => {
                        assert_eq!((of, of.kind()), (target, TargetKind::Ratio), "{name}");
                        assert!(best < target.value(), "{name}: {best}");
                    }
                    Err(error) => panic!("{name} {target}: {error}"),
                }
            }
        }
    }
}

#[test]
fn strange_fields_have_an_answer_in_f32() {
    strange_fields_have_an_answer::<f32>();
}

#[test]
fn strange_fields_have_an_answer_in_f64() {
    strange_fields_have_an_answer::<f64>();
}

#[test]
fn exact_figures_come_from_a_bound_of_zero() {
    let constant = vec![7.25f32; 5000];
    let not_finite = vec![f32::NAN; 5000];
    for field in [&constant[..], &not_finite, &[]] {
        let compressor = compressor(Preset::Small, &[field.len() as u64]);
        for (kind, value) in [(TargetKind::Psnr, 60.0), (TargetKind::Rmse, 0.0)] {
            let (found, _) = search(compressor, target(kind, value), field).unwrap();
            assert_eq!(found.compressor.bound().value(), 0.0, "{field:?}");
            assert_eq!(
                (found.figures.rmse, found.figures.psnr),
                (0.0, f64::INFINITY)
            );
        }
    }
    // A ratio that exact values reach needs no error.
    let (found, ratio) = search(
        compressor(Preset::Small, &[5000]),
        target(TargetKind::Ratio, 20.0),
        &constant,
    )
    .unwrap();
    assert!(found.compressor.bound().value() == 0.0 && ratio > 20.0);
}

/// A field of which a sample is searched first, half of it smooth and half of it noise: the sample is not typical of
/// it.
#[test]
fn a_large_field_is_searched_by_a_sample() {
    let mut field: Vec<f32> = make(Kind::Smooth, 40 * 200 * 150, 11);
    let noise: Vec<f32> = make(Kind::Random, field.len() / 3, 12);
    let rest = field.len() - noise.len();
    field[rest..].copy_from_slice(&noise);
    field[777_777] = f32::NAN;
    for (choice, rank) in [
        (Choice::from(Preset::Fast), None),
        (Codec::INTERP.into(), Some(3)),
        (Codec::LORENZO_HUFFMAN.into(), Some(1)),
        (Codec::OUTLIER.into(), Some(2)),
    ] {
        let mut compressor = compressor(choice, &[40, 200, 150]);
        if let Some(rank) = rank {
            compressor = compressor.with_rank(rank).expect("a rank");
        }
        for (target, number) in [
            target(TargetKind::Psnr, 60.0),
            target(TargetKind::Rmse, 0.02),
            target(TargetKind::Mae, 0.02),
            target(TargetKind::Ratio, 6.0),
        ]
        .into_iter()
        .zip(u64::from(rank.unwrap_or(0))..)
        {
            if !takes_part(number, 3) {
                continue;
            }
            let (_, figure) = search(compressor, target, &field).unwrap();
            assert!(is_near(target, figure), "{choice:?} {target}: {figure}");
        }
        let error = compressor.search(target(TargetKind::Ratio, 1e7), &field);
        assert!(matches!(error, Err(Error::TargetNotReached { .. })));
    }
}

#[test]
fn the_result_is_the_same_with_any_number_of_threads_and_on_every_device() {
    let large: Vec<f64> = make(Kind::NotFinite, 40 * 200 * 150, 21);
    let compressor = compressor(Preset::Fast, &[40, 200, 150]);
    let all = TargetKind::ALL.map(|kind| match kind {
        TargetKind::Psnr => target(kind, 70.0),
        TargetKind::Rmse => target(kind, 0.01),
        TargetKind::Mae => target(kind, 0.008),
        TargetKind::Ratio => target(kind, 8.0),
    });
    for (target, number) in all.into_iter().zip(0..) {
        if !takes_part(number, 3) {
            continue;
        }
        let found = compressor.search(target, &large).unwrap();
        for threads in [1, 7] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let again = pool.install(|| compressor.search(target, &large)).unwrap();
            assert!(again == found, "{target}, {threads} threads");
        }
    }
    let small: Vec<f32> = make(Kind::Smooth, 40 * 50, 22);
    for codec in [Codec::LORENZO, Codec::INTERP] {
        let compressor = Compressor::new(codec, Bound::default());
        let compressor = compressor.extents(&[40, 50]).unwrap();
        let on = |device| {
            let found = compressor.device(device).search(all[0], &small).unwrap();
            (found.stream, found.figures)
        };
        assert_eq!(on(Device::Cpu), on(Device::Emulator));
    }
}

/// The dead zone in the prologue of a stream, which begins its payload (FORMAT.md, section 15).
fn dead_zone_in(stream: &[u8]) -> u16 {
    let at = Header::read(stream).expect("a stream").payload_start() as usize + 4 * 48 + 2;
    u16::from_le_bytes(stream[at..at + 2].try_into().expect("two bytes"))
}

/// A field with waves of several lengths.
fn waves<T: Element>([depth, height, width]: [u64; 3]) -> Vec<T> {
    let value = |i: u64| {
        let [z, y, x] = [i / width / height, i / width % height, i % width].map(|at| at as f64);
        let fine =
            (0.9 * x + 0.7 * y + 2.0 * (0.3 * z).sin()).sin() * (0.6 * z + (0.21 * x).sin()).cos();
        T::from_f64((0.05 * z + 0.11 * y).sin() + (0.07 * x - 0.03 * z).cos() + 0.05 * fine)
    };
    (0..depth * height * width).map(value).collect()
}

/// Steps have a dead zone on all machines, in streams with the same bytes.
fn dead_zones_are_the_same_on_every_device<T: Element>() {
    let lengths = [20, 36, 70];
    let field: Vec<T> = waves(lengths);
    for codec in [Codec::INTERP, Codec::STENCIL, Codec::SLICES] {
        let compressor = compressor(codec, &lengths);
        let (found, _) = search(compressor, target(TargetKind::Psnr, 33.0), &field).unwrap();
        assert!(dead_zone_in(&found.stream) > 0, "{codec}");
        let on_emulator = found.compressor.device(Device::Emulator);
        let stream = on_emulator.compress(&field).unwrap();
        assert!(stream == found.stream, "{codec}");
        let on = |device| Decompressor::new().device(device).decompress(&stream);
        let [cpu, emulator]: [Vec<T>; 2] =
            [Device::Cpu, Device::Emulator].map(|it| on(it).unwrap());
        assert!(cpu == emulator, "{codec}");
    }
}

#[test]
fn dead_zones_are_the_same_on_every_device_in_f32() {
    dead_zones_are_the_same_on_every_device::<f32>();
}

#[test]
fn dead_zones_are_the_same_on_every_device_in_f64() {
    dead_zones_are_the_same_on_every_device::<f64>();
}

/// For a mean error a stream is shorter than with any bound alone.
#[test]
fn a_mean_error_takes_fewer_bytes_than_a_bound_alone() {
    let lengths = [40, 60, 70];
    let field: Vec<f32> = waves(lengths);
    for codec in [Codec::INTERP, Codec::STENCIL] {
        let compressor = compressor(codec, &lengths);
        let (found, psnr) = search(compressor, target(TargetKind::Psnr, 46.0), &field).unwrap();
        let plain = (0..40).filter_map(|i| {
            let bound = Bound::abs(0.01 * 1.05f64.powi(i)).expect("a bound");
            let stream = compressor
                .with_bound(bound)
                .compress(&field)
                .expect("memory");
            let decoded: Vec<f32> = Decompressor::new().decompress(&stream).expect("a stream");
            (errors(&field, &decoded)[1] >= psnr).then_some(stream.len())
        });
        let plain = plain.min().expect("small bounds reach it");
        assert!(
            found.stream.len() * 100 < plain * 97,
            "{codec}: {} {plain}",
            found.stream.len()
        );
    }
}

#[test]
fn extents_that_do_not_fit_are_refused() {
    let compressor = compressor(Preset::Fast, &[4, 4]);
    let error = compressor.search(target(TargetKind::Psnr, 60.0), &[1.0f32; 15]);
    assert!(matches!(error, Err(Error::ExtentsMismatch { .. })));
}

/// The least bounds with which a quantiser is not lossless are above such values.
#[test]
fn a_ratio_of_subnormal_values_is_reached() {
    let field: Vec<f32> = (0..600).map(f32::from_bits).collect();
    let compressor = Compressor::new(Preset::Small, Bound::default());
    let found = compressor
        .search(Target::ratio(5.0).expect("a target"), &field)
        .expect("a bound");
    assert!(found.figures.ratio >= 5.0, "{}", found.figures.ratio);
}
