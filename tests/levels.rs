//! Streams whose levels are coded apart, against the oracle; and levels, against the decoded field.

use crate::common::bounds;
use crate::common::extents;
use crate::common::fields::{FromBits, Kind, make};
use crate::common::machine::Machine;
use crate::common::matrix::faults;
use ferrosz::codec::container::header::Header;
use ferrosz::codec::tile::ChunkLength;
use ferrosz::stream::{Extents, Layout, StreamAt};
use ferrosz::{
    Axes, Bound, Codec, Complex, Compressor, Decompressor, Device, Error, F16, Fill, Safeguard,
    Shape, Value, info,
};
use std::ops::{ControlFlow, Range};

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

/// Compares some whole levels of a stream, decoded on a device, with those of the CPU.
fn check_levels_on<V: Value>(device: Device, stream: &[u8], what: &str) {
    let decoder = Decompressor::new().device(device);
    for level in [0, 1, 2, 3, 5, 11] {
        let wanted: Vec<V> = decompressor().level(stream, level).expect("sound");
        let found: Vec<V> = decoder.level(stream, level).expect("sound");
        assert!(
            bits(&found) == bits(&wanted),
            "{what}, level {level} on {device}"
        );
    }
}

fn check_levels_on_kernels<V: Value>(stream: &[u8], what: &str) {
    #[cfg(feature = "emulator")]
    check_levels_on::<V>(Device::Emulator, stream, what);
    if Machine::Gpu.is_here() {
        check_levels_on::<V>(Device::Cuda(0), stream, what);
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
    let mut machines = Machine::of_this_computer();
    // Every step of the emulator is checked.
    machines.retain(|machine| !machine.is_slow() || number.is_multiple_of(5));
    let found = faults(&machines, (layout, axes), bound, &field, number);
    assert!(found.is_empty(), "{what} {bound:?}: {found:?}");
    let stream = Machine::Reference.compress_with_axes(layout, axes, bound, &field);
    let stream = stream.expect("compresses");
    check_levels::<T>(&stream, lengths, &what);
    if number.is_multiple_of(5) {
        check_levels_on_kernels::<T>(&stream, &what);
    }
}

#[test]
fn every_machine_makes_the_bytes_of_the_reference() {
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

/// A field that codecs with levels keep few raw values of, with holes of the value 77 if wanted.
fn waves<V: Value>(lengths: [u64; 3], has_holes: bool) -> Vec<V> {
    let [depth, height, width] = lengths;
    let value = |i: u64| {
        let (z, y, x) = (i / width / height, i / width % height, i % width);
        let wave = (z as f64 * 0.2).sin() * (y as f64 * 0.1).cos() + (x as f64 * 0.15).sin();
        match has_holes && (x / 7 + y / 5) % 6 == 0 {
            true => 77.0,
            false => (1000.0 + 400.0 * wave).floor(),
        }
    };
    let values = (0..depth * height * width).map(|i| V::from_number(value(i)));
    values.map(Option::unwrap_or_default).collect()
}

fn check_mapped<V: Value>(what: &str, change: impl Fn(Compressor) -> Result<Compressor, Error>) {
    let lengths = [18, 40, 75];
    let field = waves::<V>(lengths, true);
    for (codec, levels) in [(Codec::INTERP, 2), (Codec::STENCIL, 4), (Codec::SLICES, 1)] {
        let compressor = Compressor::new(codec, Bound::abs(1.0).expect("a bound"));
        let compressor = compressor
            .device(Device::Cpu)
            .extents(&lengths)
            .and_then(&change);
        let compressor = compressor.and_then(|one| one.levels_apart(levels));
        let stream = compressor
            .and_then(|one| one.compress(&field))
            .expect("possible");
        assert_eq!(info(&stream).expect("sound").levels_apart, levels);
        let what = format!("{what} {codec} {}", V::TYPE);
        check_levels::<V>(&stream, &lengths, &what);
        check_levels_on_kernels::<V>(&stream, &what);
    }
}

#[test]
fn levels_have_masks_types_and_safeguards() {
    let fill = |of: u64| move |plain: Compressor| plain.fill(Fill::Bits(of));
    check_mapped::<f32>("mask", fill(77.0f32.to_value_bits()));
    check_mapped::<i16>("mask", fill(77i16.to_value_bits()));
    check_mapped::<F16>("plain", Ok);
    check_mapped::<u32>("plain", Ok);
    let pwrel = Bound::pwrel(1e-3).expect("a bound");
    check_mapped::<f64>("pwrel", |plain| Ok(plain.with_bound(pwrel)));
    check_mapped::<f32>("axes", |plain| {
        Ok(plain.axes("x,z,y".parse().map_err(Error::BadAxes)?))
    });
    check_mapped::<f32>("safeguards", |plain| {
        plain.safeguard(Safeguard::KeepAbove(1000.0))
    });
}

#[test]
fn levels_of_complex_numbers_are_whole_numbers() {
    let numbers: Vec<Complex<f32>> = waves::<f32>([20, 30, 40], false)
        .chunks_exact(2)
        .map(|pair| Complex {
            re: pair[0],
            im: pair[1],
        })
        .collect();
    let compressor = Compressor::new(Codec::STENCIL, Bound::abs(0.5).expect("a bound")).complex();
    let compressor = compressor.device(Device::Cpu).extents(&[20, 30, 20, 2]);
    let compressor = compressor
        .and_then(|one| one.levels_apart(2))
        .expect("levels");
    let stream = compressor.compress(&numbers).expect("possible");
    let all: Vec<Complex<f32>> = decompressor().decompress(&stream).expect("sound");
    let found: Vec<Complex<f32>> = decompressor().level(&stream, 2).expect("sound");
    let at = |number: usize| {
        let (z, y, x) = (number / 5 / 8, number / 5 % 8, number % 5);
        all[(4 * z * 30 + 4 * y) * 20 + 4 * x]
    };
    assert!(found == (0..5 * 8 * 5).map(at).collect::<Vec<_>>());
}

#[test]
fn levels_are_refined_without_the_finer_ones() {
    let field = waves::<f32>([40, 60, 80], false);
    for (codec, lengths) in [
        (Codec::INTERP, &[40, 60, 80][..]),
        (Codec::SLICES, &[40, 60, 80]),
        (Codec::STENCIL_BITPLANE, &[40, 60, 80]),
        // Two axes are one dimension.
        (Codec::STENCIL, &[5, 8, 60, 80]),
        (Codec::INTERP, &[192_000]),
    ] {
        let compressor = Compressor::new(codec, Bound::abs(0.25).expect("a bound"));
        let compressor = compressor.extents(lengths);
        let compressor = compressor.and_then(|one| one.levels_apart(3));
        let stream = compressor.and_then(|one| one.compress(&field));
        let stream = stream.expect("possible");
        let mut seen = Vec::new();
        let refined = decompressor().refine(&stream, 5, |level, values: Vec<f32>| {
            let wanted: Vec<f32> = decompressor().level(&stream, level).expect("sound");
            assert!(values == wanted, "{codec} {level}");
            seen.push(level);
            ControlFlow::Continue(())
        });
        assert_eq!((refined, &seen[..]), (Ok(()), &[5, 4, 3, 2, 1, 0][..]));
        // The last chunk is one of the finest level, which no other level needs.
        let mut damaged = stream.clone();
        let last = damaged.len() - 40;
        damaged[last] ^= 1;
        for level in 1..5 {
            let wanted: Vec<f32> = decompressor().level(&stream, level).expect("sound");
            assert_eq!(
                decompressor().level(&damaged, level),
                Ok(wanted),
                "{codec} {level}"
            );
        }
        assert!(decompressor().level::<f32>(&damaged, 0).is_err(), "{codec}");
    }
}

#[test]
fn damage_of_a_line_is_found_and_stays_in_its_tiles() {
    let lengths = [20, 100, 150];
    let field = waves::<f32>(lengths, false);
    let compressor = Compressor::new(Codec::STENCIL, Bound::abs(1e-3).expect("a bound"));
    let compressor = compressor
        .extents(&lengths)
        .and_then(|one| one.levels_apart(2));
    let compressor = compressor.map(|one| one.chunk_length(ChunkLength::One));
    let stream = compressor
        .and_then(|one| one.compress(&field))
        .expect("possible");
    let right: Vec<f32> = decompressor().decompress(&stream).expect("sound");
    let start = Header::read(&stream).expect("sound").payload_start() as usize;
    let (mut partly, mut whole) = (0, 0);
    for at in (start..stream.len()).step_by(997) {
        let mut damaged = stream.clone();
        damaged[at] ^= 16;
        let checked = decompressor().check(&damaged);
        let Ok((values, damages)) = decompressor().salvage::<f32>(&damaged) else {
            // The prologue.
            assert!(decompressor().decompress::<f32>(&damaged).is_err());
            whole += 1;
            continue;
        };
        let lost = values.iter().filter(|value| value.is_nan()).count() as u64;
        assert_eq!(
            lost,
            damages.iter().map(|damage| damage.elements()).sum::<u64>()
        );
        let same = values
            .iter()
            .zip(&right)
            .filter(|(found, right)| found == right)
            .count();
        assert_eq!(same as u64 + lost, right.len() as u64, "byte {at}");
        assert_eq!(
            decompressor().decompress::<f32>(&damaged).is_err(),
            lost > 0,
            "byte {at}"
        );
        assert_eq!(
            checked.is_ok_and(|found| found.is_empty()),
            lost == 0,
            "byte {at}"
        );
        partly += u64::from(lost > 0 && lost < right.len() as u64);
    }
    assert!(partly > 20 && whole < 5, "{partly} {whole}");
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
