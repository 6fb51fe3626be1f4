//! cuSZp's own streams: the reference and the CPU backend against digests of streams that other
//! programs made, in both directions.

mod common;

use common::bare::{CUSZP, cuszp_fault};
use common::digest::digest;
use common::fields::FromBits;
use common::vectors::{self, Case, array_digest, bits};
use ferrosz_cuszp::cuszp::{
    self, CuszpError, Framing, Mode, Params, RateFault, Refusal, reference,
};
use ferrosz_cuszp::{Device, Dtype, Element, Shape};
use num_rational::BigRational;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

fn fault_of(case: &Case) -> Option<&'static str> {
    cuszp_fault(case, Device::Cpu)
}

#[test]
fn all_vectors_agree() {
    let cases = vectors::parse(CUSZP);
    assert!(cases.len() >= 2000);
    for case in &cases {
        assert_eq!(fault_of(case), None, "{case:?}");
    }
    let decoded = cases.iter().filter(|case| case.decoded.is_some()).count();
    println!("{} streams, {decoded} arrays", cases.len());
}

#[test]
fn the_comparison_goes_red() {
    let cases = vectors::parse(CUSZP);
    let is_long_walk = |case: &&Case| case.kind == "walk" && case.bytes > 1500;
    let good = cases.iter().find(is_long_walk).expect("a case");
    assert_eq!(fault_of(good), None);
    let mut digit = good.stream.clone();
    digit.replace_range(15.., if digit.ends_with('0') { "1" } else { "0" });
    let spoiled = [
        Case {
            bound: good.bound + (1 << 18),
            ..good.clone()
        },
        Case {
            seed: good.seed + 1,
            ..good.clone()
        },
        Case {
            bytes: good.bytes + 1,
            ..good.clone()
        },
        Case {
            stream: digit.clone(),
            ..good.clone()
        },
        Case {
            decoded: Some(digit),
            ..good.clone()
        },
    ];
    for case in spoiled {
        assert!(fault_of(&case).is_some(), "{case:?}");
    }
}

/// The signal of the published digests: a random walk with flat stretches, in steps of 1/64.
fn walk<T: FromBits>(length: usize) -> Vec<T> {
    let mut state = 12_345u32;
    let mut level = 0i32;
    (0..length)
        .map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            level += ((state >> 16) & 255) as i32 - 127;
            let is_flat = i % 4096 >= 3072;
            T::from_f64(if is_flat {
                0.0
            } else {
                f64::from(level) / 64.0
            })
        })
        .collect()
}

/// Shape, dimensions, the three modes' lengths and digests, digests of the arrays.
type DigestRow = (
    Shape,
    [u64; 3],
    [(usize, &'static str); 3],
    &'static str,
    &'static str,
);

const DIGESTS: [DigestRow; 7] = [
    (
        Shape::Line,
        [1, 1, 100_000],
        [
            (126_064, "be028331293672d8"),
            (125_500, "01afb35c022b1e2a"),
            (65_251, "12ae3b0cb7ffe23b"),
        ],
        "f69cec9df740a2fb",
        "fd0b1254b35c70dd",
    ),
    (
        Shape::Line,
        [1, 1, 32_769],
        [
            (36_652, "125ad9a7c9354a6e"),
            (36_160, "f34b3086c83cf3ab"),
            (21_903, "d56f5dd303d1ed01"),
        ],
        "92f28f4d20ab2e01",
        "ed780500a66d5e6e",
    ),
    (
        Shape::Line,
        [1, 1, 1000],
        [
            (2288, "9d94bbe0d85da3d2"),
            (2248, "7fbb862d4d42ae9e"),
            (1845, "a09593a99ee9d225"),
        ],
        "53ad7d762624bd8d",
        "d1ad4452c00a414c",
    ),
    (
        Shape::Plane,
        [1, 200, 300],
        [
            (95_624, "74826a939535ec32"),
            (94_064, "e2ea7a280b06b801"),
            (90_140, "dacb158014ec113e"),
        ],
        "0f90bc7561c7abc2",
        "6207aa003f999c81",
    ),
    (
        Shape::Plane,
        [3, 50, 37],
        [
            (7916, "84798b9ca9588c16"),
            (7692, "243e525f18387d15"),
            (6490, "7e033688fab2c35f"),
        ],
        "aa081ecb7ed248d0",
        "16783ebf81459e86",
    ),
    (
        Shape::Cube,
        [20, 30, 40],
        [
            (36_912, "cea6c2b857d00eed"),
            (36_408, "12d6f676ce2504f1"),
            (36_384, "4fb668e592d1b53d"),
        ],
        "63be077c19b94fcb",
        "7a0dbaabd2953457",
    ),
    (
        Shape::Cube,
        [9, 17, 23],
        [
            (5612, "7435adad33ee32aa"),
            (5148, "d266cadf1ab2f737"),
            (4982, "d06563b87e7b4ac9"),
        ],
        "1cdb4bd7d39adaed",
        "2073a5f48225c261",
    ),
];

fn check_digests<T: FromBits>() {
    for (rank, dims, modes, of_f32, of_f64) in DIGESTS {
        let values = walk::<T>(dims.iter().product::<u64>() as usize);
        for (mode, (bytes, expected)) in Mode::ALL.into_iter().zip(modes) {
            let params = Params::new(rank, mode, dims, T::from_f64(0.05));
            let stream = cuszp::compress(&params, &values).expect("compresses");
            let context = format!("{} {rank:?} {mode:?} {dims:?}", T::DTYPE);
            assert_eq!(
                (stream.len(), digest(&stream).as_str()),
                (bytes, expected),
                "{context}"
            );
            let back: Vec<T> = cuszp::decompress(&params, &stream).expect("decompresses");
            let decoded = match T::DTYPE {
                Dtype::F32 => of_f32,
                Dtype::F64 => of_f64,
            };
            assert_eq!(array_digest(&back), decoded, "{context}");
        }
    }
}

#[test]
fn streams_have_the_published_digests() {
    check_digests::<f32>();
    check_digests::<f64>();
}

const EXAMPLE: [u32; 32] = [
    0x41201062, 0x41201062, 0x4120624e, 0x41201062, 0x4120b439, 0x41201062, 0x41210625, 0x41201062,
    0x41201062, 0x4120624e, 0x4120b439, 0x4120624e, 0x41201062, 0x4120b439, 0x4120b439, 0x411fbe77,
    0x4120b439, 0x4120b439, 0x4120b439, 0x41210625, 0x4120624e, 0x41210625, 0x4120b439, 0x4121a9fc,
    0x4120b439, 0x4120b439, 0x41210625, 0x4120b439, 0x4120b439, 0x41215810, 0x4120b439, 0x41210625,
];

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] << 4 | pair[1]) as u8)
        .collect()
}

#[test]
fn the_worked_example_agrees() {
    let values = EXAMPLE.map(f32::from_bits);
    let low = "15190a92 337993b1 0f058d86";
    let plain = format!("{low} 80000000 00000000 80000000 80000000 80000000 80000000 80000000");
    let ones = "ffffffff".repeat(5);
    let fixed = format!("00000000 22511d21 0a27f6fb fffefefb 00000104 {ones}");
    let bodies = [
        (Mode::Fixed, 9, fixed),
        (Mode::Plain, 9, plain.clone()),
        (Mode::Outlier, 0xa2, format!("f401 {low}")),
    ];
    for (mode, rate, body) in bodies {
        let params = Params::new(Shape::Line, mode, [1, 1, 32], 0.01f32);
        let mut expected = vec![0; 1024];
        expected[0] = rate;
        expected.extend(hex(&body));
        assert_eq!(cuszp::compress(&params, &values), Ok(expected), "{mode:?}");
    }
    let params = Params {
        framing: Framing::V1,
        ..Params::new(Shape::Line, Mode::Plain, [1, 1, 32], 0.01f32)
    };
    let expected = [vec![9], hex(&plain)].concat();
    assert_eq!(cuszp::compress(&params, &values), Ok(expected));
}

#[test]
fn codes_are_cuszps() {
    const MAX: i32 = i32::MAX;
    let table = [
        (0.5, 1, 1),
        (-0.5, 0, 0),
        (1.5, 2, 2),
        (-1.5, -2, -2),
        (2.5, 3, 3),
        (-2.5, -3, -3),
        (0.4999999701976776, 1, 0),
        (-0.5000000596046448, -1, -1),
        (8388609.0, 8388610, 8388609),
        (-8388609.0, -8388609, -8388609),
        (8388610.0, 8388610, 8388610),
        (-8388610.0, -8388611, -8388610),
        (16777218.0, 16777218, 16777218),
        (-16777218.0, -16777219, -16777218),
        (2147483520.0, 2147483520, 2147483520),
        (-2147483520.0, -2147483521, -2147483520),
        (2147483648.0, MAX, MAX),
        (-2147483648.0, MAX, -2147483648),
        (f64::INFINITY, MAX, MAX),
        (f64::NEG_INFINITY, MAX, MAX),
        (f64::NAN, -1, MAX),
        (-0.0, 0, 0),
    ];
    let (f32s, f64s) = (cuszp::Quantizer::new(0.5f32), cuszp::Quantizer::new(0.5f64));
    for (x, of_f32, of_f64) in table {
        assert_eq!((f32s.code(x as f32), f64s.code(x)), (of_f32, of_f64), "{x}");
    }
}

/// A small stream with its parameters.
fn small(rank: Shape, mode: Mode, dims: [u64; 3]) -> (Params<f32>, Vec<u8>) {
    let params = Params::new(rank, mode, dims, 0.05);
    let values = walk::<f32>(dims.iter().product::<u64>() as usize);
    let stream = cuszp::compress(&params, &values).expect("compresses");
    (params, stream)
}

#[test]
fn every_cut_is_explained() {
    for (rank, dims) in [
        (Shape::Line, [1, 1, 70]),
        (Shape::Plane, [1, 20, 20]),
        (Shape::Cube, [5, 6, 7]),
    ] {
        for mode in Mode::ALL {
            let (params, stream) = small(rank, mode, dims);
            let blocks = params.layout().expect("a layout").blocks() as usize;
            let needed = stream.len() as u64;
            for cut in 0..stream.len() {
                let found = cut as u64;
                let expected = if cut < blocks {
                    CuszpError::CutInRates {
                        needed: blocks as u64,
                        found,
                    }
                } else if cut == blocks {
                    CuszpError::PayloadMissing { needed, found }
                } else {
                    CuszpError::Truncated { needed, found }
                };
                let cut = &stream[..cut];
                assert_eq!(cuszp::decompress(&params, cut), Err(expected));
                assert_eq!(reference::decompress(&params, cut), Err(expected));
            }
            let longer = [&stream[..], &[1, 2, 3]].concat();
            let decoded = cuszp::decompress(&params, &longer).expect("extra bytes are ignored");
            assert_eq!(Ok(decoded), reference::decompress(&params, &stream));
        }
    }
}

#[test]
fn a_tail_lost_by_the_returned_size_can_be_read_as_zero() {
    // 950 blocks: cuSZp returns two bytes too few.
    let (params, stream) = small(Shape::Plane, Mode::Plain, [1, 200, 300]);
    let needed = stream.len() as u64;
    for lost in 1..=3 {
        let found = needed - lost;
        let cut = &stream[..found as usize];
        let truncated = CuszpError::Truncated { needed, found };
        let missing = CuszpError::TailMissing {
            missing: 2,
            needed,
            found,
        };
        let expected = if lost == 2 { missing } else { truncated };
        assert_eq!(cuszp::decompress(&params, cut), Err(expected));
        let lenient = Params {
            allow_missing: true,
            ..params
        };
        let decoded = cuszp::decompress(&lenient, cut);
        if lost == 2 {
            let filled = [cut, &[0, 0]].concat();
            assert_eq!(decoded, cuszp::decompress(&params, &filled));
            assert_eq!(decoded, reference::decompress(&lenient, cut));
        } else {
            assert_eq!(decoded, Err(truncated));
        }
    }
}

#[test]
fn corrupt_rate_bytes_are_named() {
    let fault_of = |rank: Shape, mode: Mode, byte: u8| {
        let (params, mut stream) = small(rank, mode, [1, 1, 70]);
        stream[1] = byte;
        match cuszp::decompress(&params, &stream) {
            Err(CuszpError::CorruptRate {
                block,
                byte: found,
                fault,
            }) => {
                assert_eq!((block, found), (1, byte));
                Some(fault)
            }
            _ => None,
        }
    };
    for byte in 0..=u8::MAX {
        let outlier_bits = (33..128).contains(&byte).then_some(RateFault::OutlierBits);
        for mode in [Mode::Fixed, Mode::Plain] {
            let above31 = (byte > 31).then_some(RateFault::Above31);
            let above32 = (byte > 32).then_some(RateFault::Above32);
            assert_eq!(fault_of(Shape::Line, mode, byte), above31);
            assert_eq!(fault_of(Shape::Plane, mode, byte), above32);
        }
        assert_eq!(fault_of(Shape::Cube, Mode::Outlier, byte), outlier_bits);
        if byte != 32 {
            assert_eq!(fault_of(Shape::Line, Mode::Outlier, byte), outlier_bits);
        }
    }
    assert_eq!(
        fault_of(Shape::Line, Mode::Outlier, 32),
        Some(RateFault::OutlierBits)
    );
}

#[test]
fn random_bytes_decode_alike_or_fail_alike() {
    let mut rng = SmallRng::seed_from_u64(11);
    let mut decoded = 0;
    for _ in 0..6000 {
        let rank = Shape::ALL[rng.random_range(0..3)];
        let mode = Mode::ALL[rng.random_range(0..3)];
        let dims = [0; 3].map(|_: u8| rng.random_range(0..20));
        let params = Params {
            allow_missing: rng.random(),
            ..Params::new(rank, mode, dims, rng.random::<f32>())
        };
        let length = rng.random_range(0..20_000);
        let most: u8 = if rng.random() { 33 } else { 255 };
        let mut stream: Vec<u8> = (0..length).map(|_| rng.random_range(0..=most)).collect();
        let good_rates = length.min(1024);
        if rng.random() {
            stream[..good_rates].iter_mut().for_each(|byte| *byte %= 9);
        }
        let serial = reference::decompress(&params, &stream);
        let parallel = cuszp::decompress(&params, &stream);
        decoded += u32::from(serial.is_ok());
        match (serial, parallel) {
            (Ok(serial), Ok(parallel)) => assert_eq!(bits(&serial), bits(&parallel), "{params:?}"),
            (serial, parallel) => assert_eq!(serial, parallel, "{params:?}"),
        }
    }
    println!("{decoded} decoded");
    assert!(decoded > 500);
}

fn refusal<T: Element>(params: Params<T>, values: &[T]) -> Option<Refusal> {
    let strict = Params {
        strict: true,
        ..params
    };
    let refused = cuszp::compress(&strict, values);
    assert_eq!(refused, reference::compress(&strict, values));
    assert!(
        cuszp::compress(&params, values).is_ok(),
        "only strictness refuses"
    );
    match refused {
        Err(CuszpError::Refused(refusal)) => Some(refusal),
        _ => None,
    }
}

#[test]
fn the_strict_encoder_names_what_it_refuses() {
    let line = |mode, error: f32| Params::new(Shape::Line, mode, [1, 1, 3], error);
    let plane = |dims| Params::new(Shape::Plane, Mode::Outlier, dims, 0.5f32);
    let ones = [1.0f32; 12];
    assert_eq!(refusal(plane([1, 3, 4]), &ones), None);
    assert_eq!(
        refusal(plane([1, 4, 3]), &ones),
        Some(Refusal::RowLength { x: 3 })
    );
    assert_eq!(refusal(plane([0, 4, 3]), &[]), Some(Refusal::Empty));
    for bad in [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert_eq!(
            refusal(line(Mode::Plain, bad), &ones[..3]),
            Some(Refusal::Bound)
        );
    }
    let small = line(Mode::Plain, 1e-40);
    assert_eq!(refusal(small, &ones[..3]), Some(Refusal::BoundTooSmall));
    let of_last = |x: f32| refusal(line(Mode::Plain, 0.5), &[0.0, 1.0, x]);
    let element = 2;
    for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(of_last(x), Some(Refusal::NotFinite { element }));
    }
    for x in [2147483648.0, -2147483648.0, 1e30, f32::MIN] {
        assert_eq!(of_last(x), Some(Refusal::CodeOverflow { element }));
    }
    for x in [8388608.0, -8388608.0, 2147483520.0] {
        assert_eq!(of_last(x), Some(Refusal::CodeInexact { element }));
    }
    assert_eq!(of_last(8388607.0), None);
    assert_eq!(of_last(-8388607.0), None);
    let beyond = |x: f32, error| refusal(line(Mode::Plain, error), &[0.0, 0.0, x]);
    for (x, error) in [(16440.842, 0.001), (1_000_000.06, 0.1), (3.4e38, 2.5e37)] {
        assert_eq!(beyond(x, error), Some(Refusal::BeyondBound { element }));
    }
    let v1 = Params {
        framing: Framing::V1,
        ..small
    };
    assert_eq!(refusal(v1, &ones[..3]), Some(Refusal::BoundTooSmall));
}

/// Whether `x` and `y` differ by at most `error`, in rational numbers.
fn keeps<T: Element>(x: T, y: T, error: T) -> bool {
    let exact = |value: T| BigRational::from_float(value.to_f64());
    let (Some(x), Some(y), Some(error)) = (exact(x), exact(y), exact(error)) else {
        return false;
    };
    x.clone() - y.clone() <= error && y - x <= error
}

fn strict_streams_keep_the_bound<T: FromBits>() -> [u32; 2] {
    let mut rng = SmallRng::seed_from_u64(12);
    let [mut refused, mut kept] = [0; 2];
    for round in 0..2000 {
        // Multiples of the bound, half of which lie half-way between two codes, of all magnitudes.
        let error = T::from_f64(10f64.powi(rng.random_range(-38..37)) * rng.random_range(1.0..9.0));
        let most = 2f64.powi(rng.random_range(0..23));
        let jitter = [1e-7, 1e-16][round / 3 % 2];
        let values: Vec<T> = (0..8)
            .map(|_| {
                let halves = rng.random_range(-most..most).round();
                let part = 1.0 + rng.random_range(-jitter..jitter);
                T::from_f64(error.to_f64() * halves * part)
            })
            .collect();
        let params = Params {
            strict: true,
            ..Params::new(Shape::Line, Mode::ALL[round % 3], [1, 1, 8], error)
        };
        let is_within = |(x, y): (&T, &T)| keeps(*x, *y, error);
        let lax = Params {
            strict: false,
            ..params
        };
        let stream = cuszp::compress(&lax, &values).expect("compresses");
        let back: Vec<T> = cuszp::decompress(&params, &stream).expect("decompresses");
        let all_within = values.iter().zip(&back).all(is_within);
        match cuszp::compress(&params, &values) {
            Ok(same) => {
                assert!(all_within && same == stream, "{values:?} at {error}");
                kept += 1;
            }
            Err(CuszpError::Refused(Refusal::BeyondBound { element })) => {
                let at = element as usize;
                assert!(
                    !is_within((&values[at], &back[at])),
                    "{values:?} at {error}"
                );
                refused += 1;
            }
            // Values that the type has not.
            Err(refusal) => assert!(matches!(refusal, CuszpError::Refused(_))),
        }
    }
    [refused, kept]
}

#[test]
fn what_the_strict_encoder_accepts_keeps_the_bound() {
    for counts in [
        strict_streams_keep_the_bound::<f32>(),
        strict_streams_keep_the_bound::<f64>(),
    ] {
        println!("{counts:?} refused and kept");
        assert!(counts[0] > 100 && counts[1] > 100, "{counts:?}");
    }
}

#[test]
fn the_strict_encoder_refuses_differences_that_are_lost() {
    let line = Params::new(Shape::Line, Mode::Plain, [1, 1, 2], 0.5f64);
    let of_pair = |a: f64, b: f64| refusal(line, &[a, b]);
    assert_eq!(
        of_pair(-2147483648.0, -5.0),
        Some(Refusal::LostDifference { block: 0 })
    );
    assert_eq!(
        of_pair(1.0, -2147483647.0),
        Some(Refusal::LostDifference { block: 0 })
    );
    assert_eq!(of_pair(-2147483647.0, -2147483647.0), None);
    assert_eq!(
        of_pair(0.0, 2147483647.5),
        Some(Refusal::CodeOverflow { element: 1 })
    );
    assert_eq!(
        of_pair(0.0, -2147483648.5),
        Some(Refusal::CodeOverflow { element: 1 })
    );
    let plane = |mode| Params::new(Shape::Plane, mode, [1, 1, 4], 0.5f64);
    let values = [1.0, -2147483647.0, 0.0, 0.0];
    assert_eq!(
        refusal(plane(Mode::Outlier), &values),
        Some(Refusal::RateAnomaly { block: 0 })
    );
    assert_eq!(refusal(plane(Mode::Plain), &values), None);
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    let params = Params::new(Shape::Plane, Mode::Plain, [1, 2, 4], 0.5f32);
    let count = CuszpError::ElementCount {
        needed: 8,
        found: 3,
    };
    assert_eq!(cuszp::compress(&params, &[0.0; 3]), Err(count));
    let v1 = Params {
        framing: Framing::V1,
        ..params
    };
    assert_eq!(cuszp::compress(&v1, &[0.0; 8]), Err(CuszpError::V1IsPlain));
    assert_eq!(cuszp::decompress(&v1, &[0; 8]), Err(CuszpError::V1IsPlain));
    let large = Params {
        dims: [1 << 20, 1 << 20, 1],
        ..params
    };
    let too_many = CuszpError::TooManyElements {
        dims: large.dims,
        index_bits: 32,
    };
    assert_eq!(cuszp::decompress(&large, &[]), Err(too_many));
}
