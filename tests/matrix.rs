//! The matrix on the machines of this computer, and that it sees what is wrong. `tests/gpu.rs` runs it on a GPU.

mod special;

use crate::common::fields::{Kind, make};
use crate::common::judge::judge;
use crate::common::machine::Machine;
use crate::common::matrix;
use ferrosz::codec::oracle;
use ferrosz::stream::{Extents, Layout};
use ferrosz::versions::Version;
use ferrosz::{Bound, Codec, Shape};

#[test]
fn every_machine_makes_and_reads_the_same() {
    let machines = Machine::of_this_computer();
    let rows = matrix::run(&machines);
    matrix::report(&rows, &machines);
}

#[test]
fn every_version_is_a_column() {
    for version in Version::all() {
        assert!(Version::NAMES.contains(&version.name()));
    }
}

#[test]
#[cfg_attr(
    not(runs_avx2),
    ignore = "this processor has no AVX2, and the matrix no column of it"
)]
fn no_version_is_missing() {
    assert_eq!(Machine::cpu(), ["avx2", "portable"].map(Machine::Cpu));
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

/// Limits of f64 that only rational numbers decide, and products that underflow and overflow, among the clear cases.
#[test]
fn the_judge_of_relative_bounds_sees_what_is_wrong() {
    let small = f64::MIN_POSITIVE;
    for (bound, x, most) in [
        (0.25, 1.0, 1.25),
        (0.25, -8.0, -10.0),
        (0.25, 8.0 * small, 10.0 * small),
        // The allowed error is not a number of the type: the next smaller one is the limit.
        (0.25, 5.0 * f64::from_bits(1), 6.0 * f64::from_bits(1)),
        (1e-300, small, small),
        (0.5, f64::MAX, f64::MAX),
    ] {
        let bound = Bound::pwrel(bound).expect("a good bound");
        let above = f64::from_bits(most.to_bits() + 1);
        assert!(judge(bound, &[x], &[most]).is_ok(), "{bound:?} {x:e}");
        assert!(judge(bound, &[x], &[above]).is_err(), "{bound:?} {x:e}");
        assert!(judge(bound, &[x], &[-x]).is_err(), "{bound:?} {x:e}");
    }
}

/// One bit of one body, and the judge sees it on every machine that is told to trust it.
#[test]
fn a_planted_difference_is_seen() {
    let field = make::<f32>(Kind::Smooth, 5000, 1);
    let bound = Bound::abs(0.01).expect("a good bound");
    let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(5000));
    let mut stream = oracle::compress(layout, bound, &field);
    let at = stream.len() - 40;
    stream[at] ^= 1;
    for machine in Machine::of_this_computer() {
        match machine.decompress_trusting(&stream) {
            Ok(decoded) => assert!(judge(bound, &field, &decoded).is_err()),
            Err(_) => assert_eq!(machine, Machine::Reference),
        }
    }
}
