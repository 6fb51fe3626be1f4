//! cuSZp's published digests, worked example and codes.

use crate::common::digest::digest;
use crate::common::fields::{FromBits, flat_walk};
use crate::common::vectors::array_digest;
use ferrosz_cuszp::cuszp::{self, Framing, Mode, Params};
use ferrosz_cuszp::{Dtype, Shape};

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
        let values = flat_walk::<T>(dims.iter().product::<u64>() as usize);
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
