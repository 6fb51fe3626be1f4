//! The interpolation predictor alone: its parts against the oracle and places one by one, and back.

use crate::common::fields::FromBits;
use crate::common::judge;
use crate::common::parts::{all_bits, bits, case};
use ferrosz_codec::oracle;
use ferrosz_stages::{
    Bound, Code, CodeOrder, Decomposition, Device, Error, Interpolator, Preference, Recipe,
    Tightening, TighteningChoice, Tuning,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Codes, anchors, outliers, and what comes back.
type Expected<T> = (Vec<u32>, Vec<T>, Vec<(u32, T)>, Vec<T>);

/// The parts of a field as the oracle and a sort make them, but for the recipe.
fn expected<T: FromBits>(recipe: Recipe<T>, field: &[T]) -> Expected<T> {
    let grid = recipe.grid;
    let geometry = recipe.resolved.parameters.geometry;
    let spacing = geometry.spacing(grid.shape());
    let anchors = oracle::interp::anchors(&grid, spacing, field);
    let radius = recipe.resolved.radius;
    let found = oracle::interp::decompose(&grid, &recipe.resolved, radius, field, &anchors);
    let [_, height, width] = grid.lengths();
    let mut coded = Vec::new();
    let mut outliers = Vec::new();
    for (i, code) in (0..).zip(&found.codes) {
        let at = [i / width / height, i / width % height, i % width];
        let own = &at[3 - usize::from(grid.shape().rank())..];
        let is_multiple = |level: &u32| own.iter().all(|at| at % (2 << level) == 0);
        let level = (0..spacing.ilog2()).take_while(is_multiple).count();
        let key = match recipe.order {
            CodeOrder::Raster => 0,
            CodeOrder::Level => usize::MAX - level,
        };
        coded.push((key, code.map_or(0, |code| radius.wrapping_add_signed(code))));
        if code.is_none() {
            outliers.push((i as u32, field[i as usize]));
        }
    }
    coded.sort_by_key(|(key, _)| *key);
    let codes = coded.into_iter().map(|(_, code)| code).collect();
    (codes, anchors, outliers, found.known)
}

fn check<T: FromBits, C: Code + std::fmt::Debug>(
    interpolator: &Interpolator,
    field: &[T],
    what: &str,
) -> Decomposition<T, C> {
    let interpolator = interpolator.device(Device::Cpu);
    let parts: Decomposition<T, C> = interpolator.decompose(field).expect(what);
    let (codes, anchors, outliers, known) = expected::<T>(parts.recipe, field);
    let found: Vec<u32> = parts.codes.iter().map(|code| code.to_u32()).collect();
    assert!(found == codes, "codes, {what}");
    assert!(bits(&parts.anchors) == bits(&anchors), "anchors, {what}");
    let (indices, values): (Vec<u32>, Vec<T>) = outliers.into_iter().unzip();
    assert!(parts.outlier_indices == indices, "indices, {what}");
    assert!(
        bits(&parts.outlier_values) == bits(&values),
        "outliers, {what}"
    );
    let recipe = Recipe::from_bytes(&parts.recipe.to_bytes()).expect(what);
    assert_eq!(recipe, parts.recipe);
    let decoded = parts.compose_on(Device::Cpu).expect(what);
    assert!(bits(&decoded) == bits(&known), "composed, {what}");
    let emulated = interpolator.device(Device::Emulator);
    let found: Decomposition<T, C> = emulated.decompose(field).expect(what);
    assert_eq!(found.recipe, parts.recipe, "{what}");
    assert!(all_bits(&found) == all_bits(&parts), "emulated, {what}");
    let decoded = found.compose_on(Device::Emulator).expect(what);
    assert!(
        bits(&decoded) == bits(&known),
        "composed by kernels, {what}"
    );
    judge::judge(recipe.bound, field, &decoded).expect(what);
    parts
}

fn all_of<T: FromBits>(random: &mut SmallRng, number: u64) {
    let (interpolator, field, what) = case::<T>(random, number);
    match number % 4 {
        0 => drop(check::<T, u8>(&interpolator, &field, &what)),
        1 => drop(check::<T, u8>(&interpolator.radius(40), &field, &what)),
        2 => drop(check::<T, u16>(&interpolator, &field, &what)),
        _ => drop(check::<T, u32>(&interpolator.radius(32_768), &field, &what)),
    }
}

#[test]
fn parts_are_those_of_the_oracle() {
    let mut random = SmallRng::seed_from_u64(20);
    for number in 0..84 {
        all_of::<f32>(&mut random, number);
        all_of::<f64>(&mut random, number);
    }
}

fn waves() -> (Interpolator, Vec<f32>) {
    let field = (0..40 * 50 * 60)
        .map(|i| (i as f32 * 0.01).sin() * 8.0)
        .collect();
    let interpolator = Interpolator::new(Bound::range(1e-3).unwrap())
        .device(Device::Cpu)
        .extents(&[40, 50, 60])
        .unwrap();
    (interpolator, field)
}

#[test]
fn a_base_stands_for_a_search() {
    let (interpolator, field) = waves();
    let searched: Decomposition<f32, u16> = interpolator.decompose(&field).unwrap();
    let range = field.iter().copied().fold(f32::MIN, f32::max) as f64
        - field.iter().copied().fold(f32::MAX, f32::min) as f64;
    let based = interpolator.value_base(range).unwrap();
    assert_eq!(based.decompose(&field).unwrap(), searched);
    let doubled = interpolator.value_base(2.0 * range).unwrap();
    let doubled: Decomposition<f32, u16> = doubled.decompose(&field).unwrap();
    let error = searched.recipe.resolved.error;
    assert_eq!(doubled.recipe.resolved.error, 2.0 * error);
    for base in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            interpolator.value_base(base),
            Err(Error::BadValueBase(_))
        ));
    }
}

#[test]
fn the_automatic_radius_is_large_enough_and_no_larger() {
    let (interpolator, mut field) = waves();
    let mut radii = Vec::new();
    for noise in [0.0, 0.5, 30.0] {
        let mut random = SmallRng::seed_from_u64(1);
        for value in &mut field {
            *value += noise * random.random_range(-1.0..=1.0f32);
        }
        let interpolator = Interpolator::new(Bound::abs(0.01).unwrap()).extents(&[40, 50, 60]);
        let interpolator = interpolator.unwrap().device(Device::Cpu);
        let parts: Decomposition<f32, u16> = interpolator.decompose(&field).unwrap();
        let radius = parts.recipe.resolved.radius;
        let all: Decomposition<f32, u32> = interpolator.radius(32_768).decompose(&field).unwrap();
        let reaching = |radius: u32| {
            let reaches = |code: &&u32| code.abs_diff(32_768) >= radius;
            all.codes.iter().filter(reaches).count()
        };
        assert!(radius.is_power_of_two() && radius >= 32, "{radius}");
        assert!(reaching(radius) * 400 < field.len());
        assert!(radius == 32 || reaching(radius / 2) * 4000 > field.len());
        radii.push(radius);
    }
    assert!(radii[0] < radii[2], "{radii:?}");
    let narrow: Decomposition<f32, u8> = interpolator.decompose(&field).unwrap();
    assert_eq!(narrow.recipe.resolved.radius, 128);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (interpolator, field) = waves();
    let bad = Tuning {
        tightening: TighteningChoice::Given(Tightening::new(0.5, 2.0)),
        ..Tuning::preferring(Preference::Ratio)
    };
    assert_eq!(interpolator.tuning(bad), Err(Error::BadTuning));
    let too_large = interpolator.radius(129).decompose::<f32, u8>(&field);
    assert!(matches!(too_large, Err(Error::BadRadius { most: 128, .. })));
    assert!(
        interpolator
            .radius(0)
            .decompose::<f32, u32>(&field)
            .is_err()
    );
    let short = interpolator.decompose::<f32, u8>(&field[1..]);
    assert!(matches!(
        short,
        Err(Error::Ferrosz(ferrosz::Error::ExtentsMismatch { .. }))
    ));

    // Enough outliers to spoil.
    let good: Decomposition<f32, u16> = interpolator.radius(2).decompose(&field).unwrap();
    assert!(good.outlier_values.len() > 10 && good.compose().is_ok());
    let refused = |spoil: &dyn Fn(&mut Decomposition<f32, u16>)| {
        let mut parts = good.clone();
        spoil(&mut parts);
        let found = parts.compose_on(Device::Cpu);
        let by_kernels = parts.compose_on(Device::Emulator);
        matches!(found, Err(Error::BadDecomposition(_))) && found == by_kernels
    };
    assert!(refused(&|parts| {
        let _ = parts.codes.pop();
    }));
    assert!(refused(&|parts| {
        let _ = parts.anchors.pop();
    }));
    assert!(refused(&|parts| {
        let _ = parts.outlier_values.pop();
    }));
    assert!(refused(&|parts| {
        let _ = parts.outlier_values.pop();
        let _ = parts.outlier_indices.pop();
    }));
    assert!(refused(&|parts| parts.outlier_indices.swap(3, 4)));
    assert!(refused(
        &|parts| parts.outlier_indices[5] = parts.outlier_indices[4]
    ));
    assert!(refused(&|parts| *parts
        .outlier_indices
        .last_mut()
        .unwrap() = u32::MAX));
    assert!(refused(&|parts| *parts.codes.last_mut().unwrap() ^= 0x4000));
    let zeroed = good.codes.iter().rposition(|code| *code == 2).unwrap();
    assert!(refused(&|parts| parts.codes[zeroed] = 0));
    let narrow = Decomposition {
        recipe: good.recipe,
        codes: vec![2u8; field.len()],
        anchors: good.anchors.clone(),
        outlier_values: Vec::new(),
        outlier_indices: Vec::new(),
    };
    assert!(matches!(narrow.compose(), Err(Error::BadDecomposition(_))));
}
