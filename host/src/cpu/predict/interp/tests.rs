//! Tiles on the CPU beside the oracle's whole field.

use super::*;
use crate::cpu::predict::rows_of;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::oracle;
use ferrosz_codec::oracle::interp::{Method, Slices, Stencils, decompose_by};
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::geometry::Geometry;
use ferrosz_codec::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
use ferrosz_codec::predict::interp::store::{each_position, is_own};
use ferrosz_codec::predict::slices;
use ferrosz_codec::predict::stencil::coefficients::{Coefficients, GEOMETRY, count};
use ferrosz_codec::tile;
use ferrosz_codec::tile::code::{RADIUS, RAW, zigzag};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn field<T: Element>(grid: &TileGrid, random: &mut StdRng) -> Vec<T> {
    let [depth, height, width] = grid.lengths();
    let mut values = Vec::new();
    let holes = random.random_range(0..2 * width);
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                let smooth = (x as f64 * 0.11).sin() + (y as f64 * 0.07 + z as f64 * 0.2).cos();
                let noise: f64 = random.random_range(-0.01..0.01);
                values.push(T::from_f64(match random.random_range(0..500) {
                    0 => 1e9,
                    1 => f64::NAN,
                    2 => f64::INFINITY,
                    3 => 3e38,
                    4.. if x > holes => f64::NAN,
                    _ => smooth + noise,
                }));
            }
        }
    }
    values
}

/// Coefficients for this computer's code and for the oracle.
enum Sample {
    None,
    Stencils(Fitted, Stencils),
    Slices(Fitted, Slices),
}

impl Sample {
    fn new(kind: FittedKind, shape: Shape, random: &mut StdRng) -> Self {
        match kind {
            FittedKind::None => Self::None,
            FittedKind::Stencils => {
                let all = (0..count(shape)).map(|_| random.random_range(-0.2f32..0.2));
                let all: Vec<f32> = all.collect();
                let mut coefficients = Coefficients::default();
                coefficients.set(0, &all);
                Self::Stencils(Fitted::Stencils(coefficients), Stencils(all))
            }
            FittedKind::Slices => {
                let all = (0..slices::coefficients::COUNT).map(|_| random.random_range(-400..400));
                let all: Vec<i16> = all.collect();
                let mut coefficients = slices::coefficients::Coefficients::of_sums(|_| 0);
                for (number, bits) in all.iter().enumerate() {
                    coefficients.set(number, *bits);
                }
                Self::Slices(Fitted::Slices(coefficients), Slices(all))
            }
        }
    }

    fn fitted(&self) -> Option<&Fitted> {
        match self {
            Self::None => None,
            Self::Stencils(fitted, _) | Self::Slices(fitted, _) => Some(fitted),
        }
    }

    fn method(&self) -> Method<'_> {
        match self {
            Self::None => Method::Splines,
            Self::Stencils(_, stencils) => Method::Stencils(stencils),
            Self::Slices(_, slices) => Method::Slices(slices),
        }
    }
}

fn agrees<T: Element>(grid: TileGrid, geometry: Geometry, kind: FittedKind, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let shape = grid.shape();
    let sample = Sample::new(kind, shape, &mut random);
    let parameters = Parameters {
        geometry,
        levels: core::array::from_fn(|_| LevelFlags::from_bits(random.random_range(0..8))),
        tightening: Tightening::new(1.5, 3.0).with_dead_zone(random.random_range(0..=1 << 14)),
        shifts: Shifts::NONE,
    };
    let error = T::from_f64(10f64.powi(random.random_range(-4..0)));
    let radius = [RADIUS, 100, 1][random.random_range(0..3)];
    let resolved = Resolved::new(parameters, error).with_radius(radius);
    let values: Vec<T> = field(&grid, &mut random);
    let spacing = geometry.spacing(shape);
    let anchors = oracle::interp::anchors(&grid, spacing, &values);
    let method = sample.method();
    let right = decompose_by(&grid, &resolved, method, radius, &values, &anchors);
    let model = Model {
        resolved: &resolved,
        coefficients: sample.fitted(),
    };
    let coarse = grid.coarse(spacing);
    let anchor = |at| anchors[coarse.flat(at) as usize];
    let code_of = |at: usize| right.codes[at].map_or(RAW, zigzag);
    let read = rows_of(&grid, &values);
    for version in Version::all() {
        let predictor = Predictor::new(version, &grid, model, Part::Fine);
        let mut known = predictor.store();
        let mut codes = [0; tile::TILE];
        for number in 0..grid.tiles() {
            let tile = grid.tile(number);
            let flat = |position| grid.flat(tile.at(position)) as usize;
            predictor.encode(&tile, read, anchor, &mut known, &mut codes);
            each_position(shape, &model.tile(&tile), |position| {
                let at = flat(position);
                let found = known.value(position);
                assert_eq!(found.to_bits64(), right.known[at].to_bits64());
                if is_own(shape, position) {
                    let found = codes[tile::index(shape, position) as usize];
                    assert_eq!(found, code_of(at));
                }
                let value = values[at];
                let is_kept = found.to_bits64() == value.to_bits64();
                assert!(is_kept || (found.to_f64() - value.to_f64()).abs() <= error.to_f64());
            });
            for at in 0..tile::TILE as u32 {
                let position = tile::position(shape, at / tile::LANES, at % tile::LANES);
                assert!(tile.has(position) || codes[at as usize] == 0);
            }
            let raw = |position| values[flat(position)];
            let read = |position: [u32; 3], codes: &mut [u16]| {
                let [z, y, x] = position;
                for (x, code) in (x..).step_by(2).zip(codes) {
                    *code = code_of(flat([z, y, x]));
                }
            };
            predictor.decode((&tile, 0), read, raw, anchor, &mut known);
            each_position(shape, &model.tile(&tile), |position| {
                let found = known.value(position);
                assert_eq!(found.to_bits64(), right.known[flat(position)].to_bits64());
            });
        }
    }
}

#[test]
fn tiles_agree_with_the_whole_field() {
    let grids = [
        TileGrid::new(Shape::Cube, [17, 33, 70]),
        TileGrid::new(Shape::Cube, [32, 16, 64]),
        TileGrid::new(Shape::Cube, [3, 2, 130]),
        TileGrid::new(Shape::Cube, [18, 1, 67]),
        TileGrid::new(Shape::Cube, [1, 20, 3]),
        TileGrid::sliced(Shape::Cube, 3, [19, 4, 66]),
        TileGrid::new(Shape::Plane, [2, 300, 70]),
        TileGrid::new(Shape::Plane, [1, 17, 129]),
        TileGrid::new(Shape::Plane, [3, 270, 1]),
        TileGrid::new(Shape::Line, [1, 1, 40_000]),
        TileGrid::new(Shape::Line, [1, 1, 5]),
        TileGrid::new(Shape::Line, [1, 1, 1]),
    ];
    for (seed, geometry) in (0..).zip(Geometry::ALL) {
        for (number, grid) in (0..).zip(grids) {
            agrees::<f32>(grid, geometry, FittedKind::None, seed + 10 * number);
            agrees::<f64>(grid, geometry, FittedKind::None, seed + 10 * number + 5);
            if geometry == GEOMETRY {
                agrees::<f32>(grid, geometry, FittedKind::Stencils, seed + 10 * number + 3);
                agrees::<f64>(grid, geometry, FittedKind::Stencils, seed + 10 * number + 8);
            }
            if geometry == slices::GEOMETRY && grid.shape() == Shape::Cube {
                agrees::<f32>(grid, geometry, FittedKind::Slices, seed + 10 * number + 4);
                agrees::<f64>(grid, geometry, FittedKind::Slices, seed + 10 * number + 9);
            }
        }
    }
}
