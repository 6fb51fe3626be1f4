//! Tuning: what a field's interpolation is done with, decided on a few of its tiles.
//!
//! A *candidate* is a whole set of parameters. What it costs is found by predicting and quantising sample
//! tiles with it, as they would be coded, and estimating the bits of their codes ([`mod@cost`]). Costs are
//! integers and are summed, so that it does not matter who finds them in which order: every machine decides
//! alike.
//!
//! The modes are those of cuSZ-Hi and of FZGPUModules' G-Interp in what they choose among, not in how they
//! judge: these sum floating-point errors.

pub mod cost;
pub mod radius;
pub mod sample;
pub mod search;

use crate::bound::{Bound, BoundMode};
use crate::element::Element;
use crate::interp::geometry::{Geometry, MAX_LEVELS};
use crate::interp::parameters::{Parameters, Tightening};
use crate::interp::resolved::Resolved;
use crate::interp::store;
use crate::interp::tile::{each_place, is_own};
use crate::interp::walk::{Settle, walk};
use crate::shape::Shape;
use crate::tile::code::RADIUS;
use crate::tile::{TileBox, TileGrid};
use cost::{CLASSES, class, cost};
use sample::{Samples, Scope};
use search::{Costs, Search};

/// What is decided, and among what.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// Anchors and windows; they are not tuned.
    pub geometry: Geometry,
    /// How the flags of levels are found.
    pub flags: FlagChoice,
    /// How the levels' bounds are found.
    pub tightening: TighteningChoice,
}

/// How the flags of levels are found.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlagChoice {
    /// Those of [`Parameters::default`].
    Default,
    /// As the default, but the order of axes is tuned, one for all levels.
    Order,
    /// No level along all axes at once; one order and one spline for all levels.
    OrderAndSpline,
    /// Order or all axes at once, and the spline, for each level.
    PerLevel,
}

/// How the levels' bounds are found.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TighteningChoice {
    /// They are these.
    Given(Tightening),
    /// By the bound's part of the range of values; see [`Tightening::of_relative`].
    OfBound,
    /// The cheapest of the first so many of [`TIGHTENINGS`], at least one.
    Cheapest(u32),
}

/// What users ask for who do not know what interpolation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Preset {
    /// The fewest bytes for the bound.
    #[default]
    Ratio,
    /// The smallest mean error for the bytes: coarse levels have tighter bounds than bytes alone would want.
    Quality,
}

/// What [`TighteningChoice::Cheapest`] chooses from, those that mostly win first. cuSZ-Hi's list.
pub const TIGHTENINGS: [Tightening; 11] = [
    Tightening::new(1.0, 2.0),
    Tightening::new(1.25, 2.0),
    Tightening::new(1.5, 2.0),
    Tightening::new(1.5, 3.0),
    Tightening::new(1.5, 4.0),
    Tightening::new(1.75, 2.0),
    Tightening::new(1.75, 3.0),
    Tightening::new(1.75, 4.0),
    Tightening::new(2.0, 2.0),
    Tightening::new(2.0, 3.0),
    Tightening::new(2.0, 4.0),
];

impl Default for Tuning {
    fn default() -> Self {
        Self::preset(Preset::default())
    }
}

impl Tuning {
    /// The tuning of a preset.
    pub const fn preset(preset: Preset) -> Self {
        Self {
            geometry: Geometry::Wide,
            flags: FlagChoice::PerLevel,
            tightening: match preset {
                Preset::Ratio => TighteningChoice::Cheapest(3),
                Preset::Quality => TighteningChoice::OfBound,
            },
        }
    }

    /// The tuning of streams with this geometry.
    pub const fn of_stream(geometry: Geometry) -> Self {
        let ratio = Self::preset(Preset::Ratio);
        Self { geometry, ..ratio }
    }

    /// The tuning of a mode's number as FZGPUModules counts them: 0 none, 1 order, 2 order and spline, 3 each
    /// level, 4 each level and the levels' bounds, 5 the levels' bounds as `given`, or else by the bound.
    /// None for other numbers.
    pub const fn of_mode(mode: u32, geometry: Geometry, given: Option<Tightening>) -> Option<Self> {
        let flags = match mode {
            0 | 5 => FlagChoice::Default,
            1 => FlagChoice::Order,
            2 => FlagChoice::OrderAndSpline,
            3 | 4 => FlagChoice::PerLevel,
            _ => return None,
        };
        let tightening = match (mode, given) {
            (0, _) => TighteningChoice::Given(Tightening::DEFAULT),
            (4, _) => TighteningChoice::Cheapest(TIGHTENINGS.len() as u32),
            (5, Some(given)) => TighteningChoice::Given(given),
            _ => TighteningChoice::OfBound,
        };
        Some(Self {
            geometry,
            flags,
            tightening,
        })
    }

    /// Whether a tightening that is given can be used.
    pub fn is_valid(&self) -> bool {
        match self.tightening {
            TighteningChoice::Given(tightening) => tightening.is_valid(),
            TighteningChoice::OfBound => true,
            TighteningChoice::Cheapest(count) => count > 0,
        }
    }

    /// Whether it matters which part of the range of values a bound is.
    pub const fn needs_range(&self) -> bool {
        matches!(self.tightening, TighteningChoice::OfBound)
    }
}

/// Which part of the range of finite values a bound is that came to `error`.
#[inline(always)]
pub fn relative(mode: BoundMode, value: f64, error: f64, range: f64) -> f64 {
    match mode {
        BoundMode::Range => value,
        BoundMode::Abs | BoundMode::Max => error / range,
    }
}

/// As [`relative`], of a bound.
pub fn relative_of(bound: Bound, error: f64, range: f64) -> f64 {
    relative(bound.mode(), bound.value(), error, range)
}

/// The parameters for a field of which `value` gives the values: those that `tuning` finds best.
///
/// `error` is the bound, and `relative` its part of the range of values, if [`Tuning::needs_range`];
/// `scratch` has room for [`store::len`] values.
pub fn tune<T: Element>(
    grid: &TileGrid,
    value: impl Fn([u64; 3]) -> T,
    error: T,
    relative: f64,
    tuning: &Tuning,
    scratch: &mut [T],
) -> Parameters {
    let samples = Samples::new(grid.tiles());
    let search = Search {
        tuning: *tuning,
        shape: grid.shape(),
    };
    search.run(relative, |candidate| {
        let resolved = Resolved::new(*candidate, error);
        (0..samples.count())
            .map(|sample| cost_of_sample(grid, sample, &resolved, &value, scratch))
            .fold(Costs::default(), sum)
    })
}

/// The sum of costs.
pub fn sum(a: Costs, b: Costs) -> Costs {
    core::array::from_fn(|level| a[level].wrapping_add(b[level]))
}

/// What sample number `sample` of a field costs with these parameters. `scratch` has room for [`store::len`] values.
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

/// What the places of a tile in `scope` cost with these parameters. `scratch` has room for [`store::len`] values.
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

/// How many codes of a tile are of each class, by level; those of places in `scope`, as often as they count. `scratch` has
/// room for [`store::len`] values.
pub fn classes_of_tile<T: Element>(
    shape: Shape,
    scope: Scope,
    tile: &TileBox,
    resolved: &Resolved<T>,
    value: impl Fn([u64; 3]) -> T,
    scratch: &mut [T],
) -> [[u32; CLASSES]; MAX_LEVELS] {
    each_place(shape, tile, |place| {
        scratch[store::index(shape, place) as usize] = value(tile.at(place));
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

/// Counts the classes of a tile's codes. Anchors are taken as known.
struct Count<'a, T> {
    shape: Shape,
    scope: Scope,
    resolved: &'a Resolved<T>,
    counts: [[u32; CLASSES]; MAX_LEVELS],
}

impl<T: Element> Settle<T> for Count<'_, T> {
    #[inline(always)]
    fn scope(&self) -> Scope {
        self.scope
    }

    #[inline(always)]
    fn settle(&mut self, level: u32, place: [u32; 3], slot: T, prediction: T) -> T {
        let Resolved {
            quantizers, error, ..
        } = self.resolved;
        let quantized = quantizers[level as usize].encode(slot, prediction, *error, RADIUS);
        if is_own(self.shape, place)
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
    use crate::interp::tile::Predictor;
    use crate::tile;
    use crate::tile::Part;
    use alloc::vec;
    use alloc::vec::Vec;

    fn tuned(values: &[f64], lengths: [u64; 3], shape: Shape, mode: u32) -> Parameters {
        let grid = TileGrid::new(shape, lengths);
        let tuning = Tuning::of_mode(mode, Geometry::Wide, None).unwrap();
        let mut scratch = vec![0.0; store::len(shape) as usize];
        let value = |at| values[grid.flat(at) as usize];
        tune(&grid, value, 1e-2, 1e-3, &tuning, &mut scratch)
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
        // What is rough is to be predicted along for few places, and what is smooth for many.
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
                    let place = tile::place(Shape::Cube, at / tile::LANES, at % tile::LANES);
                    let is_left_out = is_half && level == 0 && place[0] >= 8;
                    if tile.has(place) && tile::level(Shape::Cube, place) == level && !is_left_out {
                        // Of k and -k, in zigzag, each is twice its magnitude, or one less.
                        let magnitude = u32::from(*code).div_ceil(2);
                        let weight = if is_half && level == 0 { 2 } else { 1 };
                        counts[(32 - magnitude.leading_zeros()) as usize] += weight;
                    }
                }
                let all: u64 = counts.iter().sum();
                // At most the entropy of all classes alike, and at least what is plain.
                let plain: u64 = (0..).zip(&counts).map(|(class, count)| class * count).sum();
                let found = found[level as usize] >> cost::COST_BITS;
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
