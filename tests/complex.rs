//! Fields of complex numbers: a stream says that its values are their parts, each part keeps the bound, and the parts are coded
//! in the shorter of two ways.

use crate::common::cases::each_at_once;
use crate::common::judge::judge;
use ferrosz::codec::oracle;
use ferrosz::stream::{StreamLayout, Update};
use ferrosz::{
    Axes, Bound, Codec, Complex, Compressor, Decompressor, Device, Error, FormatError, Number,
    Part, Preset, ValueType, info,
};
use rand::RngExt;
use rand::rngs::SmallRng;
use std::io::Cursor;

/// Complex numbers of a type, for tests.
trait Parts: Number {
    fn new(re: f64, im: f64) -> Self;
    fn to_parts(numbers: &[Self]) -> &[Self::Part];
}

impl Parts for Complex<f32> {
    fn new(re: f64, im: f64) -> Self {
        Self::new(re as f32, im as f32)
    }

    fn to_parts(numbers: &[Self]) -> &[f32] {
        Self::parts(numbers)
    }
}

impl Parts for Complex<f64> {
    fn new(re: f64, im: f64) -> Self {
        Self::new(re, im)
    }

    fn to_parts(numbers: &[Self]) -> &[f64] {
        Self::parts(numbers)
    }
}

/// A wave packet, with noise of this size.
fn packet<C: Parts>(lengths: &[u64], noise: f64, random: &mut SmallRng) -> Vec<C> {
    let elements: u64 = lengths.iter().product();
    let number = |i: u64| {
        let (mut rest, mut phase, mut size) = (i, 0.0, 1.0);
        for (axis, length) in lengths.iter().enumerate().rev() {
            let at = (rest % length) as f64 / *length as f64 - 0.4;
            rest /= length;
            phase += at * (9.0 + axis as f64);
            size *= (-2.0 * at * at).exp();
        }
        let mut part = |part: f64| size * part + noise * random.random_range(-1.0..1.0);
        C::new(part(phase.cos()), part(phase.sin()))
    };
    (0..elements).map(number).collect()
}

fn some_lengths(random: &mut SmallRng) -> Vec<u64> {
    let rank = random.random_range(1..=7usize);
    let most = [4000, 60, 16, 8, 5, 4, 3][rank - 1];
    (0..rank).map(|_| random.random_range(1..=most)).collect()
}

fn round_trip<C: Parts>(device: Device, number: u64, random: &mut SmallRng) {
    let lengths = some_lengths(random);
    let noise = [0.0, 1e-3, 1.0][number as usize % 3];
    let field: Vec<C> = packet(&lengths, noise, random);
    let bound = [
        Bound::range(1e-3),
        Bound::abs(1e-4),
        Bound::max(1e-2),
        Bound::pwrel(1e-2),
        Bound::abs(0.0),
    ][number as usize % 5];
    let bound = bound.expect("a bound");
    let codec = Codec::ALL[random.random_range(0..Codec::ALL.len())];
    let preset = Preset::ALL[random.random_range(0..Preset::ALL.len())];
    let what = format!("{number}: {lengths:?} {codec} {preset} {bound:?}");
    for compressor in [
        Compressor::new(codec, bound),
        Compressor::new(preset, bound),
    ] {
        let compressor = compressor
            .extents(&lengths)
            .expect("extents")
            .device(device);
        let stream = compressor.compress(&field).expect(&what);
        let found = info(&stream).expect("a stream");
        assert!(
            found.is_complex && found.number_extents() == lengths,
            "{what}"
        );
        let decoder = Decompressor::new().device(device);
        let back: Vec<C> = decoder.decompress(&stream).expect(&what);
        // Judged as a plain field of the parts.
        let (parts, of_back) = (C::to_parts(&field), C::to_parts(&back));
        judge(bound, parts, of_back).unwrap_or_else(|fault| panic!("{what}: {fault}"));
        let plain: Vec<C::Part> = decoder.decompress(&stream).expect(&what);
        assert!(bytemuck_eq(&plain, of_back), "{what}");
        // A box of numbers has the numbers of that box.
        let ranges = lengths.iter().map(|length| {
            let start = random.random_range(0..*length);
            start..random.random_range(start..=*length)
        });
        let ranges: Vec<_> = ranges.collect();
        let wanted: Vec<C> = (0..field.len() as u64)
            .filter(|i| is_in(*i, &lengths, &ranges))
            .map(|i| back[i as usize])
            .collect();
        let part: Vec<C> = decoder
            .decompress_part(&stream, &Part::Box(ranges))
            .expect(&what);
        assert!(
            bytemuck_eq(C::to_parts(&part), C::to_parts(&wanted)),
            "{what}"
        );
        // What the library chooses for numbers it chooses for their parts.
        let of_parts = [&lengths[..], &[2]].concat();
        let named = compressor.extents(&of_parts).expect("extents").complex();
        assert!(named.compress(parts) == Ok(stream.clone()), "{what}");
        assert!(stream.len() as u64 <= most(&named, &field), "{what}");
        let chosen = compressor.choose(&field).expect(&what);
        assert!(chosen.compress(&field) == Ok(stream), "{what}");
    }
}

/// The length that a buffer for the stream of a field must have, by the compressor that is chosen.
fn most<C: Parts>(compressor: &Compressor, field: &[C]) -> u64 {
    let parts = C::to_parts(field);
    let chosen = match compressor.preset() {
        Some(_) => compressor.choose(parts).expect("a choice"),
        None => *compressor,
    };
    let value_type = <C::Part as ferrosz::Value>::TYPE;
    chosen
        .max_compressed_len(parts.len() as u64, value_type)
        .expect("a length")
}

fn bytemuck_eq<V: ferrosz::Value>(one: &[V], other: &[V]) -> bool {
    let bits = |values: &[V]| {
        values
            .iter()
            .map(|value| value.to_value_bits())
            .collect::<Vec<_>>()
    };
    bits(one) == bits(other)
}

fn is_in(mut number: u64, lengths: &[u64], ranges: &[std::ops::Range<u64>]) -> bool {
    let axes = lengths.iter().zip(ranges).rev();
    axes.fold(true, |is_in, (length, range)| {
        let at = number % length;
        number /= length;
        is_in && range.contains(&at)
    })
}

#[test]
fn numbers_of_any_extents_come_back_within_the_bound() {
    each_at_once(60, |number, random| match number % 2 {
        0 => round_trip::<Complex<f32>>(Device::Cpu, number, random),
        _ => round_trip::<Complex<f64>>(Device::Cpu, number, random),
    });
}

#[test]
#[cfg(feature = "emulator")]
fn so_they_do_on_kernels() {
    each_at_once(4, |number, random| {
        let lengths = [9, 14, 10];
        let field: Vec<Complex<f32>> = packet(&lengths, 0.0, random);
        let codec = [Codec::LORENZO, Codec::INTERP][number as usize % 2];
        let compressor = Compressor::new(codec, Bound::range(1e-3).expect("a bound"));
        let compressor = compressor.extents(&lengths).expect("extents");
        // With seven classes, which with the other records have the most words.
        let compressor = match number / 2 {
            0 => compressor,
            _ => [2.0, 3.0, 4.0]
                .into_iter()
                .fold(compressor, |it, fill| it.fill(fill).expect("room"))
                .keep_zeros()
                .keep_signs(),
        };
        let [cpu, kernels] = [Device::Cpu, Device::Emulator].map(|device| {
            compressor
                .device(device)
                .compress(&field)
                .expect("a stream")
        });
        assert!(cpu == kernels, "{codec}");
        let decoder = Decompressor::new();
        let [cpu, kernels]: [Vec<Complex<f32>>; 2] = [Device::Cpu, Device::Emulator]
            .map(|device| decoder.device(device).decompress(&cpu).expect("numbers"));
        assert_eq!(cpu, kernels);
    });
}

/// The axes of a stream's coded field.
fn axes_of(stream: &[u8]) -> Vec<u8> {
    StreamLayout::of_start(stream)
        .expect("a stream")
        .order
        .axes()
        .to_vec()
}

/// The shorter way is taken, and it is as short as the better of both when they are named.
#[test]
fn parts_are_coded_in_the_shorter_way() {
    let count = 6000;
    let noise = |i: u64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / (1 << 24) as f64;
    // Each part alone is smooth, and the parts differ.
    let waves: Vec<Complex<f64>> = (0..count)
        .map(|i| f64::from(i as u32) * 1e-2)
        .map(|x| Complex::new(x.cos(), 40.0 + x.sin()))
        .collect();
    // Numbers of the same phase, each sixteen of another size.
    let same_phase: Vec<Complex<f64>> = (0..count)
        .map(|i| noise(i / 16))
        .map(|size| Complex::new(size, size + 1e-3))
        .collect();
    let bound = Bound::abs(1e-3).expect("a bound");
    for (field, is_apart) in [(&waves, true), (&same_phase, false)] {
        for compressor in [
            Compressor::new(Codec::PLAIN, bound),
            Compressor::new(Codec::OUTLIER, bound),
            Compressor::new(Preset::Fast, bound),
        ] {
            let stream = compressor.compress(field).expect("a stream");
            assert_eq!(axes_of(&stream) == [1, 0], is_apart, "{compressor:?}");
            let [apart, pairs] = ["x,s", "x,x"].map(|axes| {
                let axes: Axes = axes.parse().expect("axes");
                let named = compressor.axes(axes).with_rank(1).expect("lines");
                named.compress(field).expect("a stream").len()
            });
            assert_eq!(apart < pairs, is_apart);
            assert!(stream.len() <= apart.min(pairs));
        }
    }
    // Blocks of the numbers, not of their parts, are more than half full.
    let named = Compressor::new(Codec::PLAIN, bound);
    let named = named.extents(&[count / 2, 2]).expect("extents");
    let stream = named.compress(&waves).expect("a stream");
    assert_eq!(axes_of(&stream), [2, 0, 1]);
    assert_eq!(info(&stream).expect("a stream").rank, 1);
}

#[test]
fn a_stream_of_numbers_is_that_of_the_reference() {
    let field: Vec<Complex<f64>> = (0..7 * 30)
        .map(|i| f64::from(i) * 0.1)
        .map(|x| Complex::new(x.cos(), x.sin()))
        .collect();
    let bound = Bound::abs(1e-3).expect("a bound");
    for (axes, codec) in [
        ("y,x,s", Codec::LORENZO),
        ("z,y,x", Codec::PLAIN),
        ("y,x,s", Codec::STENCIL),
    ] {
        let compressor = Compressor::new(codec, bound)
            .extents(&[7, 30, 2])
            .expect("extents");
        let compressor = compressor.axes(axes.parse().expect("axes")).complex();
        let layout = compressor
            .stream_layout(420, ValueType::F64)
            .expect("a layout");
        assert!(layout.order.is_complex());
        let parts = Complex::<f64>::parts(&field);
        let of_reference = oracle::compress_in_order(
            layout.layout,
            &layout.order,
            bound,
            &Default::default(),
            parts,
        );
        let stream = compressor.compress(&field).expect("a stream");
        assert!(stream == of_reference, "{axes} {codec}");
        let back: Vec<f64> = oracle::decompress(&stream).expect("parts");
        assert_eq!(Decompressor::new().decompress(&stream), Ok(back));
        // It can be written as a file, too, and updated.
        let mut file = Cursor::new(Vec::new());
        compressor.compress_seek(&field, &mut file).expect("memory");
        assert!(*file.get_ref() == stream);
    }
}

#[test]
fn numbers_are_updated_by_their_parts() {
    let field = vec![Complex::new(1.0f32, -1.0); 9000];
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1).expect("a bound"));
    let mut stream = compressor.compress(&field).expect("a stream");
    let new = [Complex::new(5.0f32, 6.0), Complex::new(7.0, 8.0)];
    let part = Part::Elements(4000..4002);
    let update = Update::new(&stream, &part.of_parts(), Complex::<f32>::parts(&new));
    update.expect("an update").apply(&mut stream);
    let back: Vec<Complex<f32>> = Decompressor::new().decompress(&stream).expect("numbers");
    let mut wanted = field;
    wanted[4000..4002].copy_from_slice(&new);
    let bound = Bound::abs(0.1).expect("a bound");
    judge(
        bound,
        Complex::<f32>::parts(&wanted),
        Complex::<f32>::parts(&back),
    )
    .expect("the bound");
    let range: Vec<Complex<f32>> = Decompressor::new()
        .decompress_range(&stream, 3999..4003)
        .expect("numbers");
    assert_eq!(range, back[3999..4003]);
}

#[test]
fn what_is_not_complex_is_refused() {
    let bound = Bound::abs(0.1).expect("a bound");
    let compressor = Compressor::new(Codec::PLAIN, bound);
    let real = compressor.compress(&[1.0f32; 10]).expect("a stream");
    let decoder = Decompressor::new();
    let error = decoder.decompress::<Complex<f32>>(&real).unwrap_err();
    assert_eq!(error, Error::NotComplex(ValueType::F32));
    let complex = compressor
        .compress(&[Complex::new(1.0f32, 2.0); 10])
        .expect("a stream");
    let error = decoder.decompress::<Complex<f64>>(&complex).unwrap_err();
    assert!(matches!(
        error,
        Error::Format(FormatError::WrongDtype { .. })
    ));
    let odd = compressor.complex().compress(&[1.0f32; 9]).unwrap_err();
    assert_eq!(odd, Error::ComplexExtents(vec![9]));
    let last = compressor.extents(&[2, 3]).expect("extents").complex();
    assert_eq!(
        last.compress(&[1.0f32; 6]),
        Err(Error::ComplexExtents(vec![2, 3]))
    );
    let integers = compressor.complex().compress(&[1i16; 6]).unwrap_err();
    assert_eq!(integers, Error::ComplexOfType(ValueType::I16));
    let eight = compressor.extents(&[1; 8]).expect("extents");
    let error = eight.compress(&[Complex::new(1.0f32, 2.0)]).unwrap_err();
    assert!(matches!(error, Error::BadExtents(_)));
}

/// Blocks of a codec that is named are more than half full, so that smooth fields of few elements along an axis are shorter
/// than the field.
#[test]
fn fields_of_short_axes_are_never_longer_than_raw() {
    let value = |i: u64| (f64::from(i as u32) * 0.003).sin() as f32;
    for lengths in [
        &[9000, 2][..],
        &[9000, 3],
        &[2, 9000],
        &[9000, 1],
        &[5, 3000, 2],
        &[9000, 1, 2],
        &[100, 90, 2],
        &[3, 3, 1000],
        &[3000, 5, 5],
    ] {
        let elements: u64 = lengths.iter().product();
        let field: Vec<f32> = (0..elements).map(value).collect();
        for codec in Codec::ALL {
            for bound in [1e-3, 1e-5] {
                let compressor = Compressor::new(codec, Bound::range(bound).expect("a bound"));
                let compressor = compressor.extents(lengths).expect("extents");
                let length = compressor.compress(&field).expect("memory").len() as u64;
                assert!(
                    length < 4 * elements,
                    "{codec} {lengths:?} {bound}: {length}"
                );
            }
        }
    }
}
