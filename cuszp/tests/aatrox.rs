//! The bare AATROX stream: the reference and the CPU backend against digests of streams that
//! another program made, in both directions.

use crate::common::bare::{AATROX, aatrox_fault};
use crate::common::vectors::{self, Case, bits};
use ferrosz_cuszp::Device;
use ferrosz_cuszp::aatrox::{self, AatroxError, Params, reference};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

fn fault_of(case: &Case) -> Option<&'static str> {
    aatrox_fault(case, Device::Cpu)
}

#[test]
fn all_vectors_agree() {
    let cases = vectors::parse(AATROX);
    assert!(cases.len() >= 400);
    for case in &cases {
        assert_eq!(fault_of(case), None, "{case:?}");
    }
}

#[test]
fn the_comparison_goes_red() {
    let is_long_walk = |case: &Case| case.kind == "walk" && case.bytes > 5000;
    let cases = vectors::parse(AATROX);
    let good = cases.into_iter().find(is_long_walk).expect("a case");
    assert_eq!(fault_of(&good), None);
    let seed = good.seed + 1;
    assert!(
        fault_of(&Case {
            seed,
            ..good.clone()
        })
        .is_some()
    );
    let decoded = Some(good.stream.clone());
    assert!(fault_of(&Case { decoded, ..good }).is_some());
}

/// The values of the worked example, by their codes at the bound 0.01.
fn example() -> Vec<f32> {
    let steps = [
        500, 0, 1, -1, 2, -2, 3, -3, 0, 1, 1, -1, -1, 2, 0, -3, 3, 0, 0, 1, -2, 2, -1, 3, -3, 0, 1,
        -1, 0, 2, -2, 1,
    ];
    let mut code = 0;
    let mut codes: Vec<i32> = (steps.iter())
        .map(|step| {
            code += step;
            code
        })
        .collect();
    codes.extend([503; 33]);
    codes.extend([504, 503]);
    let value = |code: i32| (f64::from(code) * 0.02 + 0.004) as f32;
    codes.into_iter().map(value).collect()
}

#[test]
fn the_worked_example_agrees() {
    let params = Params {
        elements: 67,
        error: 0.01f32,
    };
    let stream = aatrox::compress(&params, &example()).expect("compresses");
    assert_eq!(stream.len(), 1048);
    assert_eq!(stream[..4], [2, 0, 1, 0]);
    assert!(stream[4..1024].iter().all(|byte| *byte == 0));
    assert_eq!(stream[1024..1028], 500i32.to_le_bytes());
    let payload = [
        0x15, 0x19, 0x0a, 0x92, 0x33, 0x79, 0x93, 0xb1, 0x0f, 0x05, 0x8d, 0x86, 0x20, 0, 0, 0,
        0x60, 0, 0, 0,
    ];
    assert_eq!(stream[1028..], payload);
}

#[test]
fn every_cut_is_explained() {
    let params = Params {
        elements: 67,
        error: 0.01f32,
    };
    let stream = aatrox::compress(&params, &example()).expect("compresses");
    for cut in 0..stream.len() {
        let found = cut as u64;
        let expected = if cut < 1028 {
            AatroxError::CutInHead {
                needed: 1028,
                found,
            }
        } else {
            AatroxError::Truncated {
                needed: 1048,
                found,
            }
        };
        assert_eq!(aatrox::decompress(&params, &stream[..cut]), Err(expected));
        assert_eq!(
            reference::decompress(&params, &stream[..cut]),
            Err(expected)
        );
    }
    let longer = [&stream[..], &[7]].concat();
    assert_eq!(
        aatrox::decompress(&params, &longer),
        aatrox::decompress(&params, &stream)
    );
}

#[test]
fn corrupt_rate_bytes_are_named() {
    let params = Params {
        elements: 67,
        error: 0.01f32,
    };
    let stream = aatrox::compress(&params, &example()).expect("compresses");
    for byte in 33..=u8::MAX {
        let mut spoiled = stream.clone();
        spoiled[1] = byte;
        let expected = AatroxError::CorruptRate { block: 1, byte };
        assert_eq!(aatrox::decompress(&params, &spoiled), Err(expected));
    }
}

#[test]
fn random_bytes_decode_alike_or_fail_alike() {
    let mut rng = SmallRng::seed_from_u64(12);
    for _ in 0..300 {
        let elements = rng.random_range(0..100_000);
        let params = Params {
            elements,
            error: 0.5f64,
        };
        let mut stream: Vec<u8> = (0..300_000).map(|_| rng.random()).collect();
        if rng.random() {
            stream[..5000].iter_mut().for_each(|byte| *byte %= 34);
        } else {
            stream[..5000].iter_mut().for_each(|byte| *byte %= 20);
        }
        let serial = reference::decompress(&params, &stream);
        let parallel = aatrox::decompress(&params, &stream);
        match (serial, parallel) {
            (Ok(serial), Ok(parallel)) => assert_eq!(bits(&serial), bits(&parallel)),
            (serial, parallel) => assert_eq!(serial, parallel),
        }
    }
}

#[test]
fn the_length_must_be_the_announced_one() {
    let params = Params {
        elements: 5,
        error: 0.5f32,
    };
    let expected = AatroxError::ElementCount {
        needed: 5,
        found: 4,
    };
    assert_eq!(aatrox::compress(&params, &[0.0; 4]), Err(expected));
    let empty = Params {
        elements: 0,
        ..params
    };
    assert_eq!(aatrox::compress(&empty, &[]), Ok(vec![]));
    assert_eq!(aatrox::decompress(&empty, &[]), Ok(vec![]));
}
