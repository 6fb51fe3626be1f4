//! Tuning of interpolation on the CPU: the costs of candidates on the sample tiles of a field.

use crate::cpu::Version;
use crate::cpu::predict::interp::{Model, Sums, TileStore, classes_of_tile, sums_of_tile};
use crate::parallel;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::fitted::Fitted;
use ferrosz_codec::predict::interp::geometry::MAX_LEVELS;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::predict::interp::tune::cost::CLASSES;
use ferrosz_codec::predict::interp::tune::radius::radius;
use ferrosz_codec::predict::interp::tune::sample::{Samples, Scope};
use ferrosz_codec::predict::interp::tune::score::{CellCounts, Score, cell, cells_of_level};
use ferrosz_codec::predict::interp::tune::search::{Round, Search};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{TileBox, TileGrid};

/// The parameters that tuning decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuned {
    /// The parameters of the levels.
    pub parameters: Parameters,
    /// The coefficients that are fitted, if the tuning has any.
    pub coefficients: Option<Fitted>,
}

/// Fills a slice with values along x from a position on. Callers differ in it, and tuning is compiled once for all of them.
pub type ReadRows<'a, T> = &'a (dyn Fn([u64; 3], &mut [T]) + Sync);

/// The best parameters by `tuning` for a field that is read by `read`.
///
/// `error` is the bound, and `relative` the ratio of the bound to the range of values, if [`Tuning::needs_range`].
pub fn tune<T: Element>(
    version: Version,
    grid: &TileGrid,
    read: ReadRows<'_, T>,
    error: T,
    relative: f64,
    tuning: &Tuning,
) -> Tuned {
    let samples = tuning.samples(grid.tiles());
    let search = Search::of_field(*tuning, grid);
    let tiles = (0..samples.count()).map(|sample| (grid.tile(samples.tile(sample)), read));
    let tiles: Vec<_> = tiles.collect();
    tune_on(
        version,
        &search,
        samples.scope(),
        &tiles,
        1,
        error,
        relative,
    )
}

/// As [`tune`], on the positions in `scope` of these tiles, each with a function that reads values of its field. Coefficients are
/// fitted to all of them; one of `one_of` is scored.
pub fn tune_on<T: Element>(
    version: Version,
    search: &Search,
    scope: Scope,
    tiles: &[(TileBox, ReadRows<'_, T>)],
    one_of: usize,
    error: T,
    relative: f64,
) -> Tuned {
    let shape = search.shape;
    let sums_of = |model: Model<'_, T>| {
        let of_tile = |scratch: &mut TileStore<T>, (tile, read): &(TileBox, ReadRows<'_, T>)| {
            sums_of_tile(version, shape, scope, tile, model, read, scratch)
        };
        let sums = parallel::map_with(tiles.iter(), || model.store(shape), of_tile);
        sums.into_iter()
            .fold(Box::new([0; _]), |mut all: Box<Sums>, of_tile| {
                for (all, of_tile) in all.iter_mut().zip(*of_tile) {
                    *all = all.wrapping_add(of_tile);
                }
                all
            })
    };
    let number = search.number_before_fit();
    let before = search.candidate(Round::Flags, number, &search.start(relative));
    let resolved = Resolved::new(before, error);
    let fitted = search.tuning.fitted;
    let mut coefficients = None;
    if fitted.has_first() {
        coefficients = fitted.of_sums(shape, |_| 0);
    }
    for _ in 0..fitted.rounds() {
        let sums = sums_of(Model {
            resolved: &resolved,
            coefficients: coefficients.as_ref(),
        });
        coefficients = fitted.of_sums(shape, |sum| sums[sum]);
    }
    // The last candidates of a round are often the first of the next, but for their shifts, which no score depends on.
    let mut known: Vec<(Parameters, Score)> = Vec::new();
    let parameters = search.run(relative, |candidate| {
        let candidate = &Parameters {
            shifts: Shifts::NONE,
            ..*candidate
        };
        if let Some((_, score)) = known.iter().find(|(known, _)| known == candidate) {
            return *score;
        }
        let resolved = Resolved::new(*candidate, error);
        let model = Model {
            resolved: &resolved,
            coefficients: coefficients.as_ref(),
        };
        let of_tile = |scratch: &mut TileStore<T>, (tile, read): &(TileBox, ReadRows<'_, T>)| {
            score_of_tile(version, shape, scope, tile, model, read, scratch)
        };
        let scored = tiles.iter().step_by(one_of);
        let scores = parallel::map_with(scored, || model.store(shape), of_tile).into_iter();
        let score = scores.fold(Score::default(), |all, of_tile| all.with(&of_tile));
        known.push((*candidate, score));
        score
    });
    Tuned {
        parameters,
        coefficients,
    }
}

/// The score of sample number `sample` of a field with these parameters.
pub fn score_of_sample<T: Element>(
    version: Version,
    grid: &TileGrid,
    sample: u32,
    resolved: &Resolved<T>,
    read: impl FnMut([u64; 3], &mut [T]),
    scratch: &mut TileStore<T>,
) -> Score {
    let samples = Samples::new(grid.tiles());
    let tile = grid.tile(samples.tile(sample));
    let scope = samples.scope();
    let model = resolved.into();
    score_of_tile(version, grid.shape(), scope, &tile, model, read, scratch)
}

/// The score of the positions of a tile in `scope` with these parameters.
pub fn score_of_tile<T: Element>(
    version: Version,
    shape: Shape,
    scope: Scope,
    tile: &TileBox,
    model: Model<'_, T>,
    read: impl FnMut([u64; 3], &mut [T]),
    scratch: &mut TileStore<T>,
) -> Score {
    let counts = weighted_classes(version, shape, scope, tile, model, read, scratch);
    Score::of_counts(&counts, T::BYTES as u32)
}

/// As [`classes_of_tile`], each code with its weight.
fn weighted_classes<T: Element>(
    version: Version,
    shape: Shape,
    scope: Scope,
    tile: &TileBox,
    model: Model<'_, T>,
    read: impl FnMut([u64; 3], &mut [T]),
    scratch: &mut TileStore<T>,
) -> CellCounts {
    let mut counts = classes_of_tile(version, shape, scope, tile, model, read, scratch);
    for level in 0..MAX_LEVELS as u32 {
        let first = cell(level, 1) as usize;
        for counts in &mut counts[first..][..cells_of_level(level) as usize] {
            *counts = counts.map(|count| scope.weight(level) * count);
        }
    }
    counts
}

/// The radius, at most `max`, that follows from the samples of a field. `read` is as for [`tune`].
pub fn radius_of_samples<T: Element>(
    version: Version,
    grid: &TileGrid,
    mut read: impl FnMut([u64; 3], &mut [T]),
    resolved: &Resolved<T>,
    max: u32,
    scratch: &mut TileStore<T>,
) -> u32 {
    let (samples, shape) = (Samples::new(grid.tiles()), grid.shape());
    let scope = samples.scope();
    let mut counts = [0; CLASSES];
    let model = resolved.into();
    for sample in 0..samples.count() {
        let tile = grid.tile(samples.tile(sample));
        let of_tile = weighted_classes(version, shape, scope, &tile, model, &mut read, scratch);
        for of_level in of_tile {
            for (count, more) in counts.iter_mut().zip(of_level) {
                *count += u64::from(more);
            }
        }
    }
    radius(|class| counts[class as usize], max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::predict::interp::Predictor;
    use crate::cpu::predict::rows_of;
    use ferrosz_codec::predict::interp::geometry::Geometry;
    use ferrosz_codec::predict::interp::tune::cost::COST_BITS;
    use ferrosz_codec::tile;
    use ferrosz_codec::tile::Part;

    fn tuned(values: &[f64], lengths: [u64; 3], shape: Shape, mode: u32) -> Parameters {
        let grid = TileGrid::new(shape, lengths);
        let tuning = Tuning::of_mode(mode, Geometry::Wide, None).unwrap();
        let read = rows_of(&grid, values);
        tune(Version::best(), &grid, &read, 1e-2, 1e-3, &tuning).parameters
    }

    /// A field that is a wave along one axis, and noise along another.
    fn field(lengths: [u64; 3], smooth: usize, rough: usize) -> Vec<f64> {
        let [depth, height, width] = lengths;
        (0..depth * height * width)
            .map(|i| {
                let at = [i / width / height, i / width % height, i % width];
                let noise = (at[rough] * 0x9E37_79B9 % 0xFFF1) as f64 / 65_521.0;
                (at[smooth] as f64 * 0.03).sin() + noise
            })
            .collect()
    }

    #[test]
    fn the_smooth_axis_comes_last() {
        // Few positions should be predicted along the rough axis, and many along the smooth one.
        let lengths = [64, 64, 128];
        for mode in [1, 2] {
            let along_x = tuned(&field(lengths, 2, 0), lengths, Shape::Cube, mode);
            let along_z = tuned(&field(lengths, 0, 2), lengths, Shape::Cube, mode);
            assert!(!along_x.levels[3].is_reverse, "{mode}");
            assert!(along_z.levels[3].is_reverse, "{mode}");
        }
        let along_z = tuned(&field(lengths, 0, 2), lengths, Shape::Cube, 3);
        assert_eq!(along_z.levels[0].to_bits() & 3, 2);
        let lengths = [1, 512, 512];
        let along_y = tuned(&field(lengths, 1, 2), lengths, Shape::Plane, 4);
        assert_eq!(along_y.levels[0].to_bits() & 3, 2);
    }

    #[test]
    fn a_tile_costs_what_its_codes_do() {
        let lengths = [20, 30, 100];
        let values = field(lengths, 1, 2);
        let grid = TileGrid::new(Shape::Cube, lengths);
        let resolved = Resolved::new(Parameters::default(), 1e-3);
        let value = |at| values[grid.flat(at) as usize];
        let spacing = Geometry::Wide.spacing(Shape::Cube);
        let coarse = |at: [u64; 3]| value(at.map(|at| at * u64::from(spacing)));
        let version = Version::best();
        let predictor = Predictor::new(version, &grid, &resolved, Part::Fine);
        let mut known = TileStore::new(Shape::Cube);
        let mut codes = [0; tile::TILE];
        let all = (0..grid.tiles()).map(|number| grid.tile(number));
        for (tile, scope) in
            all.flat_map(|tile| [Scope::Whole, Scope::HalfOfFinest].map(|scope| (tile, scope)))
        {
            let read = rows_of(&grid, &values);
            predictor.encode(&tile, read, coarse, &mut known, &mut codes);
            let shape = Shape::Cube;
            let found = score_of_tile(
                version,
                shape,
                scope,
                &tile,
                (&resolved).into(),
                read,
                &mut known,
            );
            let is_half = scope == Scope::HalfOfFinest;
            for level in 0..4 {
                let mut counts = [0u64; CLASSES];
                for (at, code) in (0..).zip(&codes) {
                    let position = tile::position(Shape::Cube, at / tile::LANES, at % tile::LANES);
                    let is_left_out = is_half && level == 0 && position[0] >= 8;
                    if tile.has(position)
                        && tile::level(Shape::Cube, position) == level
                        && !is_left_out
                    {
                        // Zigzag codes of k and -k: twice the magnitude, or one less.
                        let magnitude = u32::from(*code).div_ceil(2);
                        let weight = if is_half && level == 0 { 2 } else { 1 };
                        counts[(32 - magnitude.leading_zeros()) as usize] += weight;
                    }
                }
                let all: u64 = counts.iter().sum();
                // At most the entropy of equally frequent classes, and at least the plain bits.
                let plain: u64 = (0..).zip(&counts).map(|(class, count)| class * count).sum();
                let found = found.costs[level as usize] >> COST_BITS;
                let kinds = counts.iter().filter(|count| **count > 0).count() as u64;
                let most = plain + all * u64::from(kinds.max(1).next_power_of_two().ilog2());
                assert!((plain..=most + 1).contains(&found), "{level}: {found}");
                assert!(all > 0 || found == 0);
            }
        }
    }

    #[test]
    fn what_is_not_finite_has_no_say() {
        let lengths = [32, 32, 128];
        for shape in Shape::ALL {
            let mut values = field(lengths, 0, 2);
            values.fill(f64::NAN);
            let none = tuned(&values, lengths, shape, 4);
            assert_eq!(none.levels, Parameters::default().levels);
        }
    }
}
