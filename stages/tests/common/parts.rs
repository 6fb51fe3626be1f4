//! Fields and ways to take them apart, for the interpolation predictor alone.

use super::fields::{FromBits, Kind, make};
use ferrosz_stages::{
    Bound, Code, CodeOrder, Decomposition, Geometry, Interpolator, Tightening, Tuning,
};
use rand::RngExt;
use rand::rngs::SmallRng;

/// The seed of a run, another one each time. A failed test shows it, and `FERROSZ_SEED` repeats it.
pub fn seed() -> u64 {
    let given = std::env::var("FERROSZ_SEED").ok();
    let seed = given.map_or_else(rand::random, |text| text.parse().expect("a number"));
    println!("again: FERROSZ_SEED={seed}");
    seed
}

/// A field and an interpolator for it, of which any radius may be asked.
pub fn case<T: FromBits>(random: &mut SmallRng, number: u64) -> (Interpolator, Vec<T>, String) {
    let extents: &[u64] = [
        &[18, 33, 70][..],
        &[2, 300, 40],
        &[1, 1, 1],
        &[40, 90],
        &[5000],
        &[0],
        &[1, 17, 1],
    ][number as usize % 7];
    let elements = extents.iter().product::<u64>() as usize;
    let kind = Kind::ALL[random.random_range(0..Kind::ALL.len())];
    let field = make::<T>(kind, elements, number);
    let bound = [
        Bound::abs(0.03),
        Bound::range(1e-3),
        Bound::max(1e-4),
        Bound::abs(0.0),
    ][random.random_range(0..4)];
    let geometry = Geometry::ALL[random.random_range(0..3)];
    let given = Some(Tightening::new(1.3, 2.0));
    let tuning = Tuning::of_mode(random.random_range(0..6), geometry, given);
    let order = CodeOrder::ALL[random.random_range(0..2)];
    let interpolator = Interpolator::new(bound.expect("a good bound"))
        .extents(extents)
        .and_then(|interpolator| interpolator.with_rank(random.random_range(1..4)))
        .and_then(|interpolator| interpolator.tuning(tuning.expect("a mode")))
        .expect("a good interpolator")
        .order(order);
    let context = format!("{number}: {kind:?} {extents:?} {interpolator:?}");
    (interpolator, field, context)
}

/// The bits of an array.
pub fn bits<T: FromBits>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits64()).collect()
}

/// All arrays of a decomposition, NaNs and signs of zeros by their bits.
pub fn all_bits<T: FromBits, C: Code>(
    parts: &Decomposition<T, C>,
) -> (Vec<u32>, Vec<u64>, Vec<u64>, &[u32]) {
    (
        parts.codes.iter().map(|code| code.to_u32()).collect(),
        bits(&parts.anchors),
        bits(&parts.outlier_values),
        &parts.outlier_indices,
    )
}
