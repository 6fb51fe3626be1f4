//! Tuning of interpolation on the CPU: the costs of candidates on the sample tiles of a field.

use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::geometry::MAX_LEVELS;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::store::{self, each_position, is_own};
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::predict::interp::tune::cost::{CLASSES, class, cost};
use ferrosz_codec::predict::interp::tune::radius::radius;
use ferrosz_codec::predict::interp::tune::sample::{Samples, Scope};
use ferrosz_codec::predict::interp::tune::search::{Costs, Search};
use ferrosz_codec::predict::interp::walk::{Visitor, walk};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::RADIUS;
use ferrosz_codec::tile::{TileBox, TileGrid};
use rayon::prelude::*;

/// The best parameters by `tuning` for a field; `value` gives its values.
///
/// `error` is the bound, and `relative` the ratio of the bound to the range of values, if [`Tuning::needs_range`];
/// `scratch` holds [`store::len`] values.
pub fn tune<T: Element>(
    grid: &TileGrid,
    value: impl Fn([u64; 3]) -> T + Sync,
    error: T,
    relative: f64,
    tuning: &Tuning,
) -> Parameters {
    let search = Search {
        tuning: *tuning,
        shape: grid.shape(),
    };
    search.run(relative, |candidate| {
        let resolved = Resolved::new(*candidate, error);
        let samples = Samples::new(grid.tiles());
        (0..samples.count())
            .into_par_iter()
            .map_init(
                || vec![T::ZERO; store::len(grid.shape()) as usize],
                |scratch, sample| cost_of_sample(grid, sample, &resolved, &value, scratch),
            )
            .reduce(Costs::default, sum)
    })
}

/// The sum of costs.
pub fn sum(a: Costs, b: Costs) -> Costs {
    core::array::from_fn(|level| a[level].wrapping_add(b[level]))
}

/// The cost of sample number `sample` of a field with these parameters. `scratch` holds [`store::len`] values.
pub fn cost_of_sample<T: Element>(
    grid: &TileGrid,
    sample: u32,
    resolved: &Resolved<T>,
    value: impl Fn([u64; 3]) -> T,
    scratch: &mut [T],
) -> Costs {
    let samples = Samples::new(grid.tiles());
    let tile = grid.tile(samples.tile(sample));
    cost_of_tile(
        grid.shape(),
        samples.scope(),
        &tile,
        resolved,
        value,
        scratch,
    )
}

/// The cost of the positions of a tile in `scope` with these parameters. `scratch` holds [`store::len`] values.
pub fn cost_of_tile<T: Element>(
    shape: Shape,
    scope: Scope,
    tile: &TileBox,
    resolved: &Resolved<T>,
    value: impl Fn([u64; 3]) -> T,
    scratch: &mut [T],
) -> Costs {
    let counts = classes_of_tile(shape, scope, tile, resolved, value, scratch);
    counts.map(|counts| cost(&counts, T::BYTES as u32))
}

/// The number of codes of each class in a tile, by level, for positions in `scope`, each with its weight. `scratch`
/// holds [`store::len`] values.
pub fn classes_of_tile<T: Element>(
    shape: Shape,
    scope: Scope,
    tile: &TileBox,
    resolved: &Resolved<T>,
    value: impl Fn([u64; 3]) -> T,
    scratch: &mut [T],
) -> [[u32; CLASSES]; MAX_LEVELS] {
    each_position(shape, tile, |position| {
        scratch[store::index(shape, position) as usize] = value(tile.at(position));
    });
    let mut count = Count {
        shape,
        scope,
        resolved,
        counts: [[0; CLASSES]; MAX_LEVELS],
    };
    walk(shape, tile, &resolved.parameters, scratch, &mut count);
    let mut counts = count.counts;
    for (level, counts) in (0..).zip(&mut counts) {
        *counts = counts.map(|count| scope.weight(level) * count);
    }
    counts
}

/// The radius, at most `max`, that follows from the samples of a field; `value` gives its values. `scratch` holds
/// [`store::len`] values.
pub fn radius_of_samples<T: Element>(
    grid: &TileGrid,
    value: impl Fn([u64; 3]) -> T,
    resolved: &Resolved<T>,
    max: u32,
    scratch: &mut [T],
) -> u32 {
    let samples = Samples::new(grid.tiles());
    let mut counts = [0; CLASSES];
    for sample in 0..samples.count() {
        let tile = grid.tile(samples.tile(sample));
        for of_level in classes_of_tile(
            grid.shape(),
            samples.scope(),
            &tile,
            resolved,
            &value,
            scratch,
        ) {
            for (count, more) in counts.iter_mut().zip(of_level) {
                *count += u64::from(more);
            }
        }
    }
    radius(|class| counts[class as usize], max)
}

/// Counts the classes of a tile's codes. Anchors have their exact values.
struct Count<'a, T> {
    shape: Shape,
    scope: Scope,
    resolved: &'a Resolved<T>,
    counts: [[u32; CLASSES]; MAX_LEVELS],
}

impl<T: Element> Visitor<T> for Count<'_, T> {
    #[inline(always)]
    fn scope(&self) -> Scope {
        self.scope
    }

    #[inline(always)]
    fn visit(&mut self, level: u32, position: [u32; 3], slot: T, prediction: T) -> T {
        let Resolved {
            quantizers, error, ..
        } = self.resolved;
        let quantized = quantizers[level as usize].encode(slot, prediction, *error, RADIUS);
        if is_own(self.shape, position)
            && let Some(class) = class(slot, &quantized)
        {
            self.counts[level as usize][class as usize] += 1;
        }
        quantized.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::predict::interp::Predictor;
    use ferrosz_codec::predict::interp::geometry::Geometry;
    use ferrosz_codec::predict::interp::tune::cost::COST_BITS;
    use ferrosz_codec::tile;
    use ferrosz_codec::tile::Part;

    fn tuned(values: &[f64], lengths: [u64; 3], shape: Shape, mode: u32) -> Parameters {
        let grid = TileGrid::new(shape, lengths);
        let tuning = Tuning::of_mode(mode, Geometry::Wide, None).unwrap();
        let value = |at| values[grid.flat(at) as usize];
        tune(&grid, value, 1e-2, 1e-3, &tuning)
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
        let predictor = Predictor::new(&grid, &resolved, Part::Fine);
        let mut known = vec![0.0; store::len(Shape::Cube) as usize];
        let mut codes = [0; tile::TILE];
        let all = (0..grid.tiles()).map(|number| grid.tile(number));
        for (tile, scope) in
            all.flat_map(|tile| [Scope::Whole, Scope::HalfOfFinest].map(|scope| (tile, scope)))
        {
            predictor.encode(&tile, value, coarse, &mut known, &mut codes);
            let found = cost_of_tile(Shape::Cube, scope, &tile, &resolved, value, &mut known);
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
                let found = found[level as usize] >> COST_BITS;
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
