//! The choice of codec and rank: the same everywhere, and near the best.

mod common;

use common::{candidates, compressor};
use ferrosz::{Bound, Compressor, Device};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// A field's name, and its values by their coordinates and a random number from 0 to 1.
type Field = (&'static str, fn([f64; 3], f64) -> f64);

const FIELDS: [Field; 9] = [
    ("smooth in all dimensions", |[z, y, x], _| {
        (z * 0.05).sin() * 9.0 + (y * 0.04).cos() * 8.0 + (x * 0.03).sin() * 7.0
    }),
    ("smooth, far from zero", |[z, y, x], _| {
        280.0 + (z * 0.02 + y * 0.03).sin() + (x * 0.01).cos()
    }),
    ("smooth, with noise", |[z, y, x], noise| {
        (z * 0.05).sin() * (y * 0.04).cos() * (x * 0.03).sin() * 20.0 + noise * 0.1
    }),
    ("noise", |_, noise| noise * 200.0 - 100.0),
    ("sparse", |[z, y, _], noise| {
        let is_quiet = (z / 5.0 + y / 9.0).floor() % 3.0 > 0.0;
        if is_quiet || noise < 0.9 { 0.0 } else { noise }
    }),
    ("constant", |_, _| 17.5),
    ("steps", |[z, y, x], _| {
        (z / 7.0).floor() * 30.0 + (y / 11.0).floor() * 5.0 + (x / 13.0).floor()
    }),
    ("a long slope", |[z, y, x], _| z * 10_000.0 + y * 100.0 + x),
    ("another field in its second half", |[z, y, x], noise| {
        if z < 40.0 {
            (x * 0.01).sin() + (y * 0.02).cos()
        } else {
            noise
        }
    }),
];

fn make(field: Field, lengths: [u64; 3], seed: u64) -> Vec<f32> {
    let [_, rows, columns] = lengths;
    let mut rng = SmallRng::seed_from_u64(seed);
    (0..lengths.iter().product())
        .map(|i| {
            let at = [i / (rows * columns), i / columns % rows, i % columns];
            field.1(at.map(|at| at as f64), rng.random()) as f32
        })
        .collect()
}

/// The smallest size of all that may be chosen, and that of what was chosen.
fn best_and_chosen(field: &[f32], lengths: &[u64], bound: Bound, what: &str) -> (usize, usize) {
    let bytes = |compressor: Compressor| compressor.compress(field).expect("compresses").len();
    let sizes = candidates(lengths).into_iter().map(|layout| {
        let compressor = compressor(layout, bound, Device::Cpu).expect("a compressor");
        (bytes(compressor), layout)
    });
    let (best, layout) = sizes.min_by_key(|(bytes, _)| *bytes).expect("layouts");
    let automatic = Compressor::automatic(bound).device(Device::Cpu);
    let automatic = automatic.extents(lengths).expect("extents");
    let chosen = automatic.choose(field).expect("a choice");
    eprintln!(
        "{what}: best {} {} {best}, chosen {:?} of rank {} {}",
        layout.codec,
        layout.shape.rank(),
        chosen.codec(),
        chosen.rank(),
        bytes(chosen)
    );
    (best, bytes(automatic))
}

#[test]
fn the_choice_is_near_the_best() {
    // More than the sample has: 128 chunks of 8192, or 16 tiles of 16,384.
    let lengths = [80, 150, 190];
    for (i, field) in FIELDS.into_iter().enumerate() {
        let values = make(field, lengths, i as u64);
        for value in [1e-2, 1e-4] {
            let bound = Bound::range(value).expect("a bound");
            let (best, chosen) = best_and_chosen(&values, &lengths, bound, field.0);
            // Of a field that is hardly there in its stream, a few tiles do not tell how much that is.
            let next_to_nothing = size_of_val(&values[..]) / 256;
            assert!(
                chosen * 100 <= best * 105 || chosen <= next_to_nothing,
                "{} at {value}: {chosen} bytes, and {best} would do",
                field.0
            );
        }
    }
}

#[test]
fn of_small_fields_the_best_is_chosen() {
    for (i, field) in FIELDS.into_iter().enumerate() {
        for lengths in [
            [12, 30, 41],
            [1, 64, 90],
            [1, 1, 9000],
            [3, 1, 5],
            [1, 1, 1],
            [0, 4, 4],
        ] {
            let values = make(field, lengths, i as u64);
            for bound in [Bound::range(1e-3), Bound::abs(0.0), Bound::max(0.5)] {
                let bound = bound.expect("a bound");
                let (best, chosen) = best_and_chosen(&values, &lengths, bound, field.0);
                assert_eq!(chosen, best, "{} {lengths:?} {bound:?}", field.0);
            }
        }
    }
}

#[test]
fn the_choice_is_the_same_again_and_on_any_device() {
    for (i, field) in FIELDS.into_iter().enumerate() {
        let values = make(field, [6, 50, 41], i as u64);
        let bound = Bound::range(1e-3).expect("a bound");
        let automatic = |device| {
            let compressor = Compressor::automatic(bound).device(device);
            compressor.extents(&[6, 50, 41]).expect("extents")
        };
        let choice = |device| {
            let chosen = automatic(device).choose(&values).expect("a choice");
            (chosen.codec(), chosen.rank())
        };
        let first = choice(Device::Cpu);
        assert!(
            first
                .0
                .is_some_and(|codec| Compressor::CANDIDATES.contains(&codec))
        );
        assert_eq!(first, choice(Device::Cpu));
        let stream = automatic(Device::Cpu)
            .compress(&values)
            .expect("compresses");
        assert!(
            stream
                == automatic(Device::Cpu)
                    .compress(&values)
                    .expect("compresses")
        );
        #[cfg(feature = "emulator")]
        {
            assert_eq!(first, choice(Device::Emulator));
            assert!(
                stream
                    == automatic(Device::Emulator)
                        .compress(&values)
                        .expect("compresses")
            );
        }
    }
}

#[test]
fn what_is_still_to_be_chosen_says_so() {
    let automatic = Compressor::automatic(Bound::abs(1.0).expect("a bound"));
    assert_eq!(automatic.codec(), None);
    assert!(matches!(
        automatic.layout_for(10),
        Err(ferrosz::Error::NotChosen)
    ));
    let wrong = automatic.extents(&[4]).expect("extents");
    assert!(matches!(
        wrong.choose(&[1.0f32; 5]),
        Err(ferrosz::Error::ExtentsMismatch { .. })
    ));
}
