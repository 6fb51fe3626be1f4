//! Cut and damaged streams, and parameters that do not fit: which error, the same from the reference and the CPU backend.

use crate::common::fields::flat_walk;
use crate::common::vectors::bits;
use ferrosz_cuszp::Shape;
use ferrosz_cuszp::cuszp::{self, CuszpError, Framing, Mode, Params, RateFault, reference};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// A small stream with its parameters.
fn small(rank: Shape, mode: Mode, dims: [u64; 3]) -> (Params<f32>, Vec<u8>) {
    let params = Params::new(rank, mode, dims, 0.05);
    let values = flat_walk::<f32>(dims.iter().product::<u64>() as usize);
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
