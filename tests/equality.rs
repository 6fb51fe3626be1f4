//! The same bytes from the reference and the CPU backend, and the bound kept, for every length.

mod common;

use common::fields::{FromF64, Kind, make};
use common::{bounds, judge::judge};
use ferrosz::codec::reference;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Extents};

fn check<T: FromF64>(codec: Codec, bound: Bound, field: &[T], context: &str) {
    let extents = Extents::line(field.len() as u64);
    let expected = reference::compress(codec, bound, extents, field);
    let stream = Compressor::new(codec, bound)
        .device(Device::Cpu)
        .compress(field)
        .expect("compresses");
    assert!(
        stream == expected,
        "streams differ: {codec} {bound:?} {context}"
    );
    let most = ferrosz::max_compressed_len(field.len() as u64, T::DTYPE);
    assert!(
        stream.len() as u64 <= most,
        "longer than max_compressed_len: {context}"
    );
    let decoder = Decompressor::new().device(Device::Cpu);
    let decoded: Vec<T> = decoder.decompress(&stream).expect("decompresses");
    let reference: Vec<T> = reference::decompress(&stream).expect("decompresses");
    let bits = |values: &[T]| values.iter().map(|x| x.to_bits64()).collect::<Vec<_>>();
    assert!(
        bits(&decoded) == bits(&reference),
        "fields differ: {codec} {context}"
    );
    if let Err(wrong) = judge(bound, field, &decoded) {
        panic!("{codec} {context}: {wrong}");
    }
}

fn every_length<T: FromF64>() {
    let bounds = bounds();
    for length in 0..=4099 {
        let kind = Kind::ALL[length % Kind::ALL.len()];
        let field = make::<T>(kind, length, length as u64);
        for (i, codec) in Codec::ALL.into_iter().enumerate() {
            let bound = bounds[(length / Kind::ALL.len() + i) % bounds.len()];
            check(codec, bound, &field, &format!("{kind:?} of {length}"));
        }
    }
}

#[test]
fn f32_of_every_length() {
    every_length::<f32>();
}

#[test]
fn f64_of_every_length() {
    every_length::<f64>();
}

fn every_kind<T: FromF64>() {
    for kind in Kind::ALL {
        for length in [8191, 8192, 8193, 16_400, 50_000] {
            let field = make::<T>(kind, length, 7);
            for bound in bounds() {
                for codec in Codec::ALL {
                    check(codec, bound, &field, &format!("{kind:?} of {length}"));
                }
            }
        }
    }
}

#[test]
fn f32_of_every_kind() {
    every_kind::<f32>();
}

#[test]
fn f64_of_every_kind() {
    every_kind::<f64>();
}

#[test]
fn any_range_is_that_part_of_the_whole() {
    let field = make::<f32>(Kind::NotFinite, 50_000, 3);
    let bound = Bound::range(1e-3).expect("a good bound");
    for codec in Codec::ALL {
        let stream = Compressor::new(codec, bound)
            .device(Device::Cpu)
            .compress(&field)
            .expect("compresses");
        let decoder = Decompressor::new().device(Device::Cpu);
        let whole: Vec<f32> = decoder.decompress(&stream).expect("decompresses");
        for range in [
            0..0,
            0..1,
            8191..8193,
            100..40_000,
            49_999..50_000,
            0..50_000,
        ] {
            let part: Vec<f32> = decoder
                .decompress_range(&stream, range.clone())
                .expect("decompresses");
            let expected = &whole[range.start as usize..range.end as usize];
            assert_eq!(
                bytemuck::cast_slice::<_, u32>(&part),
                bytemuck::cast_slice::<_, u32>(expected)
            );
        }
        assert!(decoder.decompress_range::<f32>(&stream, 0..50_001).is_err());
    }
}

#[test]
fn the_judge_sees_what_is_wrong() {
    let bound = Bound::abs(0.25).expect("a good bound");
    let field = [1.0f32, 2.0, f32::NAN, f32::INFINITY];
    let nan = field[2];
    assert!(judge(bound, &field, &[1.25, 1.75, nan, f32::INFINITY]).is_ok());
    assert!(judge(bound, &field, &[1.25f32.next_up(), 2.0, nan, f32::INFINITY]).is_err());
    assert!(judge(bound, &field, &[1.0, 2.0, 0.0, f32::INFINITY]).is_err());
    assert!(judge(bound, &field, &[1.0, 2.0, nan, f32::MAX]).is_err());
    assert!(judge(bound, &field, &[1.0, f32::NAN, nan, f32::INFINITY]).is_err());
    let other_nan = f32::from_bits(nan.to_bits() ^ 1);
    assert!(judge(bound, &field, &[1.0, 2.0, other_nan, f32::INFINITY]).is_err());
    assert!(judge(bound, &field, &field[..3]).is_err());
}

#[test]
fn a_planted_difference_is_seen() {
    // The comparison of streams and the judge are shown red: one bit of one body, one step of
    // one code.
    let field = make::<f32>(Kind::Smooth, 5000, 1);
    let bound = Bound::abs(0.01).expect("a good bound");
    let mut stream = reference::compress(Codec::Plain, bound, Extents::line(5000), &field);
    let right = stream.clone();
    let at = stream.len() - 40;
    stream[at] ^= 1;
    assert!(stream != right);
    let decoded: Vec<f32> = Decompressor::new()
        .device(Device::Cpu)
        .verify_checksums(false)
        .decompress(&stream)
        .expect("decodes without its checksum");
    assert!(judge(bound, &field, &decoded).is_err());
}
