//! The preference of quality: the levels' bounds of the paper of cuSZ-i, on all machines, and what they gain.

use ferrosz::codec::container::header::Header;
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Element, Error, Preference, Preset, Value,
};

const LENGTHS: [u64; 3] = [20, 36, 70];

/// A smooth field with some roughness.
fn field<T: Element>() -> Vec<T> {
    let value = |i: u64| {
        let [z, y, x] = [i / 36 / 70, i / 70 % 36, i % 70].map(|at| at as f64);
        let rough = (i * 7919 % 1009) as f64 * 1e-5;
        T::from_f64(3.0 + (z * 0.21).sin() * (y * 0.13).cos() + (x * 0.09).sin() + rough)
    };
    (0..LENGTHS.iter().product()).map(value).collect()
}

fn codecs_with_levels() -> impl Iterator<Item = Codec> {
    Codec::ALL.into_iter().filter(|codec| codec.has_levels())
}

fn quality(codec: Codec, bound: Bound) -> Compressor {
    let compressor = Compressor::new(codec, bound).device(Device::Cpu);
    let compressor = compressor.extents(&LENGTHS).expect("extents");
    compressor.prefer(Preference::Quality).expect("levels")
}

/// Alpha and beta in the prologue of a stream, which begins its payload (FORMAT.md, section 17).
fn tightening_in(stream: &[u8]) -> [f64; 2] {
    let header = Header::read(stream).expect("a stream");
    let parameters = &stream[header.payload_start() as usize..];
    [8, 16].map(|at| f64::from_le_bytes(parameters[at..at + 8].try_into().expect("8 bytes")))
}

/// Eq. 2 of the paper of cuSZ-i, written out.
fn alpha(e: f64) -> f64 {
    match e {
        e if e >= 1e-1 => 2.0,
        e if e >= 1e-2 => 1.75 + 0.25 * (e - 1e-2) / (1e-1 - 1e-2),
        e if e >= 1e-3 => 1.5 + 0.25 * (e - 1e-3) / (1e-2 - 1e-3),
        e if e >= 1e-4 => 1.25 + 0.25 * (e - 1e-4) / (1e-3 - 1e-4),
        e if e >= 1e-5 => 1.0 + 0.25 * (e - 1e-5) / (1e-4 - 1e-5),
        _ => 1.0,
    }
}

fn check_alphas<T: Element + Value>() {
    let field = field::<T>();
    let all = || field.iter().map(|value| value.to_f64());
    let range = all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min);
    for codec in codecs_with_levels() {
        for part in [0.2, 0.03, 5e-3, 4e-4, 6e-5, 2e-6] {
            let bounds = [
                Bound::range(part),
                Bound::abs(part * range),
                Bound::max(part),
            ];
            for bound in bounds.map(|bound| bound.expect("a bound")) {
                let stream = quality(codec, bound).compress(&field).expect("memory");
                let error = ferrosz::info(&stream).expect("a stream").absolute_error;
                let [found, beta] = tightening_in(&stream);
                let wanted = alpha(error / range);
                assert!((found - wanted).abs() < 1e-9, "{codec} {bound:?}: {found}");
                assert_eq!(beta, 4.0);
            }
        }
    }
}

#[test]
fn alpha_is_that_of_the_paper() {
    check_alphas::<f32>();
    check_alphas::<f64>();
}

/// The largest error, and the sum of the squares.
fn errors(field: &[f64], stream: &[u8]) -> [f64; 2] {
    let decoded: Vec<f64> = Decompressor::new().decompress(stream).expect("a stream");
    let errors = || field.iter().zip(&decoded).map(|(x, y)| (x - y).abs());
    [
        errors().fold(0.0, f64::max),
        errors().map(|error| error * error).sum(),
    ]
}

#[test]
fn errors_become_smaller_within_the_same_bound() {
    let field = field::<f64>();
    for codec in codecs_with_levels() {
        let bound = Bound::abs(0.02).expect("a bound");
        let better = quality(codec, bound);
        let plain = better.prefer(Preference::Ratio).expect("any codec");
        let [plain, better] = [plain, better].map(|it| it.compress(&field).expect("memory"));
        let ([_, of_plain], [most, of_better]) = (errors(&field, &plain), errors(&field, &better));
        assert!(most <= 0.02, "{codec}: {most}");
        // Slices of this field have about the same errors by both.
        let most = if codec == Codec::SLICES { 1.05 } else { 0.9 };
        assert!(of_better < most * of_plain, "{codec}");
    }
}

#[test]
fn what_has_no_levels_refuses() {
    let bound = Bound::abs(0.1).expect("a bound");
    for codec in Codec::ALL.into_iter().filter(|codec| !codec.has_levels()) {
        let compressor = Compressor::new(codec, bound);
        let found = compressor.prefer(Preference::Quality);
        assert_eq!(found, Err(Error::NoLevels(codec.into())));
        assert_eq!(compressor.prefer(Preference::Ratio), Ok(compressor));
    }
    for preset in [Preset::Fast, Preset::Balanced] {
        let found = Compressor::new(preset, bound).prefer(Preference::Quality);
        assert_eq!(found, Err(Error::NoLevels(preset.into())));
    }
    let small = Compressor::new(Preset::Small, bound).prefer(Preference::Quality);
    let rewritable = small.expect("splines").rewritable();
    assert_eq!(rewritable, Err(Error::NoLevels(Preset::Small.into())));
    let text = Error::NoLevels(Codec::LORENZO.into()).to_string();
    assert!(text.starts_with("codec lorenzo has no levels"), "{text}");
}

#[cfg(feature = "emulator")]
#[test]
fn all_machines_make_the_same_bytes() {
    let mut field = field::<f32>();
    field[500..560].fill(1e20);
    field[3] = f32::NAN;
    let bounds = [
        Bound::abs(0.013),
        Bound::range(2e-3),
        Bound::max(1e-4),
        Bound::pwrel(1e-2),
    ];
    for (number, codec) in codecs_with_levels().enumerate() {
        for (turn, bound) in (number..).zip(bounds) {
            let bound = bound.expect("a bound");
            let plain = quality(codec, bound);
            let compressor = match turn % 3 {
                0 => plain,
                1 => plain.fill(1e20).expect("a fill value"),
                _ => plain.axes("x,z,y".parse().expect("axes")),
            };
            let wanted = compressor.compress(&field).expect("memory");
            let found = compressor.device(Device::Emulator).compress(&field);
            assert!(found.as_ref() == Ok(&wanted), "{codec} {bound:?}");
        }
    }
}

#[test]
fn a_preset_with_quality_is_the_codec_that_it_chose() {
    let field = field::<f32>();
    let bound = Bound::range(1e-2).expect("a bound");
    let small = Compressor::new(Preset::Small, bound).extents(&LENGTHS);
    let small = small
        .and_then(|it| it.prefer(Preference::Quality))
        .expect("settings");
    let chosen = small.choose(&field).expect("a choice");
    let codec = chosen.codec().expect("a codec");
    assert!(codec.has_levels(), "the test is of levels: {codec}");
    let stream = small.compress(&field).expect("memory");
    assert!(chosen.compress(&field) == Ok(stream.clone()));
    let [found, _] = tightening_in(&stream);
    assert!((found - alpha(1e-2)).abs() < 1e-6, "{found}");
}
