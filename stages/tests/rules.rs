//! The rules of FZGPUModules' stage that differ from ours.

use crate::common::judge;
use crate::common::parts::all_bits;
use ferrosz_stages::{
    Bound, Code, Decomposition, Device, Error, Geometry, Interpolator, RadiusRule, Tightening,
    TighteningChoice, TighteningRule, Tuning,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Waves with noise, and a value that is not finite.
fn noisy(noise: f64) -> (Interpolator, Vec<f64>) {
    let mut random = SmallRng::seed_from_u64(3);
    let wave = |i: i32| f64::from(i % 60) * 0.1 + (f64::from(i) * 1e-4).sin();
    let mut field: Vec<f64> = (0..40 * 50 * 60)
        .map(|i| wave(i).sin() + noise * random.random_range(-1.0..1.0))
        .collect();
    field[1234] = f64::NAN;
    let interpolator = Interpolator::new(Bound::abs(1e-3).unwrap())
        .device(Device::Cpu)
        .extents(&[40, 50, 60])
        .unwrap();
    (interpolator, field)
}

/// The same parts on the CPU and on the emulator.
fn decomposed<C: Code>(interpolator: &Interpolator, field: &[f64]) -> Decomposition<f64, C> {
    let parts: Decomposition<f64, C> = interpolator.decompose(field).unwrap();
    let emulated = interpolator.device(Device::Emulator);
    let emulated: Decomposition<f64, C> = emulated.decompose(field).unwrap();
    assert_eq!(emulated.recipe, parts.recipe);
    assert!(all_bits(&emulated) == all_bits(&parts));
    let decoded = parts.compose_on(Device::Cpu).unwrap();
    judge::judge(parts.recipe.bound, field, &decoded).unwrap();
    parts
}

#[test]
fn the_radius_where_all_fits_is_the_least() {
    for noise in [0.0, 0.02, 1.0] {
        let (interpolator, field) = noisy(noise);
        let fits = interpolator.radius_by(RadiusRule::Fits);
        let parts: Decomposition<f64, u16> = decomposed(&fits, &field);
        let radius = parts.recipe.resolved.radius;
        assert_eq!(parts.outlier_indices, [1234]);
        let given: Decomposition<f64, u16> = decomposed(&interpolator.radius(radius), &field);
        assert!(all_bits(&given) == all_bits(&parts));
        let smaller: Decomposition<f64, u16> = decomposed(&interpolator.radius(radius - 1), &field);
        assert!(smaller.outlier_indices.len() > 1, "{radius}");
    }
    let (interpolator, field) = noisy(1.0);
    let narrow: Decomposition<f64, u8> =
        decomposed(&interpolator.radius_by(RadiusRule::Fits), &field);
    assert!(narrow.recipe.resolved.radius <= 128 && narrow.outlier_indices.len() > 1);
}

/// The tightening that a rule finds.
fn tightening(interpolator: &Interpolator, rule: TighteningRule, field: &[f64]) -> Tightening {
    let interpolator = interpolator.tightening_by(rule).unwrap();
    let parts: Decomposition<f64, u16> = decomposed(&interpolator, field);
    parts.recipe.resolved.parameters.tightening
}

#[test]
fn a_zero_falls_back() {
    let (interpolator, mut field) = noisy(0.01);
    field[1234] = 0.0;
    let tuning = Tuning::of_mode(5, Geometry::Wide, None).unwrap();
    let interpolator = interpolator.tuning(tuning).unwrap();
    let of_bound: Decomposition<f64, u16> = decomposed(&interpolator, &field);
    let of_bound = of_bound.recipe.resolved.parameters.tightening;
    assert!(of_bound.beta == 4.0 && of_bound.alpha != 1.75);
    for (alpha, beta, wanted) in [
        (0.0, 0.0, of_bound),
        (0.0, 3.0, Tightening::new(of_bound.alpha, 3.0)),
        (1.3, 0.0, Tightening::new(1.3, 4.0)),
        (1.3, 2.5, Tightening::new(1.3, 2.5)),
    ] {
        let rule = TighteningRule::Manual { alpha, beta };
        assert_eq!(tightening(&interpolator, rule, &field), wanted);
        let lowest = field.iter().copied().fold(f64::MAX, f64::min);
        let range = field.iter().copied().fold(f64::MIN, f64::max) - lowest;
        let based = interpolator.value_base(range).unwrap();
        assert_eq!(tightening(&based, rule, &field), wanted);
    }
    for (alpha, beta) in [
        (0.5, 2.0),
        (2.0, 0.5),
        (f64::NAN, 2.0),
        (2.0, f64::INFINITY),
        (-1.0, 0.0),
    ] {
        let refused = interpolator.tightening_by(TighteningRule::Manual { alpha, beta });
        assert_eq!(refused, Err(Error::BadTuning));
    }
}

/// The squared error of a field with a tightening that is given.
fn squared_error(interpolator: &Interpolator, tightening: Tightening, field: &[f64]) -> f64 {
    let tuning = Tuning {
        tightening: TighteningChoice::Given(tightening),
        ..Tuning::of_mode(4, Geometry::Wide, None).unwrap()
    };
    let interpolator = interpolator.tuning(tuning).unwrap();
    let parts: Decomposition<f64, u16> = interpolator.decompose(field).unwrap();
    let decoded = parts.compose_on(Device::Cpu).unwrap();
    let errors = field.iter().zip(&decoded).map(|(x, y)| (x - y) * (x - y));
    errors.sum()
}

#[test]
fn modes_have_the_rules_of_their_page() {
    let (interpolator, field) = noisy(0.01);
    let of_mode = |mode, manual| interpolator.fzgpu_mode(mode, manual);
    let tuned = |mode| {
        let tuning = Tuning::of_mode(mode, Geometry::Wide, None).unwrap();
        interpolator.tuning(tuning).unwrap()
    };
    for mode in 0..4 {
        assert_eq!(of_mode(mode, [0.0; 2]), Ok(tuned(mode)));
    }
    let lowest = tuned(4).tightening_by(TighteningRule::LowestError);
    assert_eq!(of_mode(4, [0.0; 2]), lowest);
    let parts: Decomposition<f64, u16> = decomposed(&lowest.unwrap(), &field);
    assert!(parts.recipe.resolved.parameters.tightening.alpha >= 1.0);
    let (alpha, beta) = (1.5, 0.0);
    let manual = tuned(5).tightening_by(TighteningRule::Manual { alpha, beta });
    assert_eq!(of_mode(5, [alpha, beta]), manual);
    assert_eq!(of_mode(3, [alpha, beta]), Err(Error::BadTuning));
    assert_eq!(of_mode(6, [0.0; 2]), Err(Error::UnknownMode(6)));
    let again = manual.and_then(|manual| manual.fzgpu_mode(0, [0.0; 2]));
    assert_eq!(again, Ok(tuned(0)));
}

#[test]
fn the_lowest_error_is_lower_than_that_of_the_fewest_bits() {
    let (interpolator, mut field) = noisy(0.002);
    field[1234] = 0.0;
    let tuning = Tuning::of_mode(4, Geometry::Wide, None).unwrap();
    let interpolator = interpolator.tuning(tuning).unwrap();
    let fewest: Decomposition<f64, u16> = decomposed(&interpolator, &field);
    let fewest = fewest.recipe.resolved.parameters.tightening;
    let lowest = tightening(&interpolator, TighteningRule::LowestError, &field);
    assert_ne!(lowest, fewest);
    let error = |tightening| squared_error(&interpolator, tightening, &field);
    assert!(error(lowest) < error(fewest), "{lowest:?} {fewest:?}");
}
