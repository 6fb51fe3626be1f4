//! Every version of the CPU's code that this machine can run, against the reference.

mod common;

use common::fields::{FromBits, Kind, make};
use common::{bounds, layouts};
use ferrosz::codec::container::header::HEADER_BYTES;
use ferrosz::codec::oracle;
use ferrosz::versions::{self, Version};
use ferrosz::{Decompressor, Device, Element};

/// The versions that this machine can run, more than one: otherwise these tests would compare one with itself.
fn all_versions() -> Vec<Version> {
    let versions: Vec<Version> = Version::all().collect();
    assert!(
        versions.len() > 1,
        "this processor lacks AVX2, so only the portable version runs here: these tests need another"
    );
    versions
}

fn bits<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits64()).collect()
}

fn check<T: FromBits>(lengths: &[u64], kind: Kind, seed: u64) {
    let field = make::<T>(kind, lengths.iter().product::<u64>() as usize, seed);
    for (i, layout) in layouts(lengths).into_iter().enumerate() {
        let bound = bounds()[(seed as usize + i) % bounds().len()];
        let stream = oracle::compress(layout, bound, &field);
        let back: Vec<T> = oracle::decompress(&stream).expect("decompresses");
        for version in all_versions() {
            let context = format!("{}: {layout:?} {kind:?} {bound:?}", version.name());
            let found = versions::compress(version, layout, bound, &field).expect("compresses");
            assert!(found == stream, "streams differ: {context}");
            let found = versions::decompress::<T>(version, &stream).expect("decompresses");
            assert!(bits(&found) == bits(&back), "fields differ: {context}");
        }
    }
}

#[test]
#[cfg_attr(not(runs_avx2), ignore = "needs a processor with AVX2")]
fn all_versions_make_and_read_the_same_bytes() {
    let extents: [&[u64]; 6] = [
        &[1],
        &[8192],
        &[30_011],
        &[97, 201],
        &[64, 64],
        &[21, 34, 43],
    ];
    for lengths in extents {
        for (seed, kind) in (0..).zip(Kind::ALL) {
            check::<f32>(lengths, kind, seed);
            check::<f64>(lengths, kind, seed + 3);
        }
    }
}

/// Bodies of every rate, which no field of a few kinds has.
#[test]
#[cfg_attr(not(runs_avx2), ignore = "needs a processor with AVX2")]
fn all_versions_agree_on_every_rate() {
    for (seed, kind) in (0..).zip([Kind::Random, Kind::Steps, Kind::Offset]) {
        let field = make::<f64>(kind, 20 * 24 * 28, seed);
        for layout in layouts(&[20, 24, 28]) {
            for power in -24..8 {
                let bound = ferrosz::Bound::abs(2f64.powi(power)).expect("a good bound");
                let stream = oracle::compress(layout, bound, &field);
                let back: Vec<f64> = oracle::decompress(&stream).expect("decompresses");
                for version in all_versions() {
                    let found =
                        versions::compress(version, layout, bound, &field).expect("compresses");
                    assert!(found == stream, "{} {layout:?} {power}", version.name());
                    let found = versions::decompress::<f64>(version, &stream);
                    let found = bits(&found.expect("decompresses"));
                    assert!(
                        found == bits(&back),
                        "{} {layout:?} {power}",
                        version.name()
                    );
                }
            }
        }
    }
}

/// What a damaged stream does to one version, it does to all.
#[test]
#[cfg_attr(not(runs_avx2), ignore = "needs a processor with AVX2")]
fn all_versions_find_the_same_faults() {
    let field = make::<f32>(Kind::NotFinite, 9 * 30 * 40, 1);
    for layout in layouts(&[9, 30, 40]) {
        let bound = ferrosz::Bound::range(1e-3).expect("a good bound");
        let stream = oracle::compress(layout, bound, &field);
        let expected = Decompressor::new().device(Device::Cpu);
        for at in (HEADER_BYTES..stream.len()).step_by(7) {
            let mut damaged = stream.clone();
            damaged[at] ^= 1 << (at % 8);
            let fault = |version| versions::decompress::<f32>(version, &damaged).err();
            let first = expected.decompress::<f32>(&damaged).err();
            assert!(first.is_some());
            for version in all_versions() {
                assert_eq!(fault(version), first, "{} {layout:?} {at}", version.name());
            }
        }
    }
}

#[test]
#[cfg_attr(not(runs_avx2), ignore = "needs a processor with AVX2")]
fn a_field_of_several_waves_comes_back() {
    // A wave has 64 chunks for each thread.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let field = make::<f32>(Kind::Sparse, 8192 * (64 * threads * 3 + 5) + 17, 2);
    let bound = ferrosz::Bound::range(1e-3).expect("a good bound");
    for layout in layouts(&[field.len() as u64]) {
        let stream = oracle::compress(layout, bound, &field);
        for version in all_versions() {
            assert!(versions::compress(version, layout, bound, &field).as_ref() == Ok(&stream));
        }
        let compressor = common::compressor(layout, bound, Device::Cpu).expect("a compressor");
        let mut exact = vec![0; stream.len()];
        assert_eq!(
            compressor.compress_into(&field, &mut exact),
            Ok(stream.len())
        );
        assert!(exact == stream);
        let mut decoded = vec![1.0f32; field.len() + 3];
        let decoder = Decompressor::new().device(Device::Cpu);
        let count = decoder.decompress_into(&stream, &mut decoded);
        assert_eq!(count, Ok(field.len()));
        let back: Vec<f32> = oracle::decompress(&stream).expect("decompresses");
        assert!(bits(&decoded[..field.len()]) == bits(&back));
        assert_eq!(decoded[field.len()..], [1.0; 3]);
        let short = compressor.compress_into(&field, &mut exact[1..]);
        let needed = stream.len() as u64;
        assert_eq!(
            short,
            Err(ferrosz::Error::OutputTooSmall {
                needed,
                found: needed - 1,
                unit: "bytes"
            })
        );
    }
}
