//! The strict encoder: which arrays it refuses, and that those which it accepts keep the bound.

use crate::common::fields::FromBits;
use ferrosz_cuszp::cuszp::{self, CuszpError, Framing, Mode, Params, Refusal, reference};
use ferrosz_cuszp::{Element, Shape};
use num_rational::BigRational;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

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
