//! The parameters that an encoder chooses from sample tiles (FORMAT.md, section 18).

#[cfg(feature = "toy")]
pub(super) mod toy_fitted;

use crate::code::entropy::shifts::Shifts;
use crate::element::Element;
use crate::oracle::interp::{Method, Site, quantized, spacing, visit, window};
use crate::oracle::order::{Field, first_axis, tile_extents};
use crate::oracle::slices::{self, Slices};
use crate::oracle::stencil::{Stencils, Sums, per_level};
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
use crate::predict::interp::resolved::Resolved;
use crate::predict::interp::spline::Spline;
use crate::quantize::level::LevelQuantizer;
use crate::shape::Shape;
use alloc::vec;
use alloc::vec::Vec;

/// The costs of a candidate.
#[derive(Clone, Copy, Default)]
struct CandidateCosts {
    levels: [u64; 9],
    /// Of the codes of level 0, and of all other codes together.
    all: u64,
}

/// Codes are less than this in magnitude.
pub(super) const RADIUS: u32 = 32_768;

/// The parameters for a field of these values.
pub(super) fn tune<T: Element>(
    field: &Field,
    geometry: Geometry,
    values: &[T],
    error: T,
) -> Parameters {
    let tightening = |alpha: f64| Tightening::new(alpha, 2.0);
    let mut decided = Parameters {
        geometry,
        levels: core::array::from_fn(|level| flags(if level < 2 { 4 } else { 0 })),
        tightening: tightening(1.25),
        shifts: Shifts::NONE,
    };
    let samples = samples(field.tiles().len() as u64, 128);
    let cost_of = |candidate: &Parameters| {
        cost(
            field,
            values,
            &resolved(candidate, error),
            Method::Splines,
            &samples,
        )
    };
    let is_line = field.shape == Shape::Line;
    let with_all = |number: u32| {
        let mut candidate = decided;
        for level in &mut candidate.levels {
            *level = if is_line {
                LevelFlags {
                    spline: flags(number).spline,
                    ..*level
                }
            } else {
                flags(number)
            };
        }
        candidate
    };
    let candidates: Vec<Parameters> = (0..if is_line { 2 } else { 6 }).map(with_all).collect();
    let costs: Vec<CandidateCosts> = candidates.iter().map(cost_of).collect();
    for (level, of_level) in decided.levels.iter_mut().enumerate() {
        let favourite = if level < 2 && !is_line { 4 } else { 0 };
        let costs: Vec<u64> = costs.iter().map(|costs| costs.levels[level]).collect();
        *of_level = candidates[chosen(&costs, favourite, 16_384)].levels[level];
    }
    let with_alpha = |alpha: f64| {
        let mut candidate = decided;
        candidate.tightening = tightening(alpha);
        candidate
    };
    let candidates = [with_alpha(1.0), with_alpha(1.25), with_alpha(1.5)];
    candidates[chosen(
        &candidates.map(|candidate| cost_of(&candidate).all),
        1,
        16_384,
    )]
}

/// The parameters and the coefficients of stencils for a field of these values.
pub(super) fn tune_stencils<T: Element>(
    field: &Field,
    values: &[T],
    error: T,
) -> (Parameters, Stencils) {
    let tiles = field.tiles().len() as u64;
    let samples = samples(tiles, 1);
    let tightening = |alpha: f64| Tightening::new(alpha, 2.0);
    let with_all = |ways: [u32; 9]| Parameters {
        geometry: Geometry::Wide,
        levels: ways.map(|way| flags(2 * way)),
        tightening: tightening(1.25),
        shifts: Shifts::NONE,
    };
    let multi = with_all([2; 9]);
    let stencils = fit(field, values, &resolved(&multi, error), &samples);
    let cost_of = |candidate: &Parameters| {
        cost(
            field,
            values,
            &resolved(candidate, error),
            Method::Stencils(&stencils),
            &samples,
        )
    };
    let favourites = [2, 2, 0, 0, 0, 0, 0, 0, 0];
    let ways: Vec<[u32; 9]> = match field.shape {
        Shape::Line => vec![favourites, [3; 9]],
        Shape::Plane | Shape::Cube => (0..4).map(|way| [way; 9]).collect(),
    };
    let sizes_of = |candidate: &Parameters| {
        sizes(
            field,
            values,
            &resolved(candidate, error),
            Method::Stencils(&stencils),
            &samples,
        )
    };
    let costs: Vec<CandidateCosts> = ways.iter().map(|ways| cost_of(&with_all(*ways))).collect();
    let coefficients = 256 * 32 * per_level(field.shape) as u64 * samples.len() as u64 / tiles;
    let least = 4096 * samples.len() as u64;
    let mut decided = favourites;
    let mut shifts = 0;
    for (level, decided) in decided.iter_mut().enumerate() {
        let of_way = |number: usize| match ways[number][level] {
            3 => costs[number].levels[level].wrapping_add(coefficients),
            _ => costs[number].levels[level],
        };
        let of_ways: Vec<u64> = (0..ways.len()).map(of_way).collect();
        let favourite = ways
            .iter()
            .position(|ways| ways[level] == favourites[level]);
        let number = chosen(&of_ways, favourite.unwrap_or(0), least);
        *decided = ways[number][level];
        if level < 2 && costs[number].levels[level] >= 8_388_608 * samples.len() as u64 / tiles {
            shifts |= shift_bits(level, sizes_of(&with_all(ways[number]))[level]);
        }
    }
    let candidates = [1.0, 1.25, 1.5].map(|alpha| Parameters {
        tightening: tightening(alpha),
        shifts: Shifts::from_word(shifts),
        ..with_all(decided)
    });
    let costs = candidates.map(|candidate| cost_of(&candidate).all);
    (candidates[chosen(&costs, 1, least)], stencils)
}

/// The parameters and the coefficients of slices for a field of these values.
pub(super) fn tune_slices<T: Element>(
    field: &Field,
    values: &[T],
    error: T,
) -> (Parameters, Slices) {
    let samples = samples(field.tiles().len() as u64, 1);
    let before = resolved(&all_fitted(1.0, 0), error);
    let mut found = Slices::of_splines();
    for _ in 0..2 {
        found = fit_slices(field, values, &before, &found, &samples);
    }
    let parameters = tune_all_fitted(field, values, error, Method::Slices(&found), &samples);
    (parameters, found)
}

/// The parameters by which all levels are fitted.
fn all_fitted(alpha: f64, shifts: u32) -> Parameters {
    Parameters {
        geometry: Geometry::Wide,
        levels: [flags(6); 9],
        tightening: Tightening::new(alpha, 2.0),
        shifts: Shifts::from_word(shifts),
    }
}

/// The best of these parameters for a field that is predicted by a method.
fn tune_all_fitted<T: Element>(
    field: &Field,
    values: &[T],
    error: T,
    method: Method<'_>,
    samples: &[u64],
) -> Parameters {
    let tiles = field.tiles().len() as u64;
    let before = resolved(&all_fitted(1.0, 0), error);
    let cost_of = |candidate: &Parameters| {
        let resolved = resolved(candidate, error);
        cost(field, values, &resolved, method, samples)
    };
    let mut shifts = 0;
    let costs = cost_of(&all_fitted(1.0, 0));
    for (level, cost) in costs.levels.into_iter().enumerate().take(2) {
        if cost >= 8_388_608 * samples.len() as u64 / tiles {
            let sizes = sizes(field, values, &before, method, samples);
            shifts |= shift_bits(level, sizes[level]);
        }
    }
    let candidates = [1.0, 1.25, 1.5].map(|alpha| all_fitted(alpha, shifts));
    let costs = candidates.map(|candidate| cost_of(&candidate).all);
    candidates[chosen(&costs, 1, 4096 * samples.len() as u64)]
}

/// The coefficients of slices that fit the sample tiles of a field, which are predicted with those found before.
fn fit_slices<T: Element>(
    field: &Field,
    values: &[T],
    resolved: &Resolved<T>,
    before: &Slices,
    samples: &[u64],
) -> Slices {
    let mut sums = slices::Sums::default();
    for number in samples {
        let origin = field.tiles()[*number as usize].origin;
        let sample = Sample::of_slices(field, origin, values);
        let is_half = samples.len() == 64;
        let anchors = sample.anchors(resolved);
        let known = sample.visit(
            resolved,
            Method::Slices(before),
            &anchors,
            is_half,
            |_, _, _| {},
        );
        for (flat, value) in sample.values.iter().enumerate() {
            let at = sample.field.position(flat);
            let level = slices::level(at);
            let is_own = at[1] < 16 && at[2] < 64;
            if is_own && !slices::is_anchor(at) && sample.is_evaluated(level, at, is_half) {
                let place = slices::Place::new(&sample.field, &known, at);
                sums.add(&place, *value, resolved.quantizers[level].inverse);
            }
        }
    }
    sums.coefficients()
}

/// The bits of the shifts of a level whose codes have these sizes.
fn shift_bits(level: usize, sizes: Sizes) -> u32 {
    let bits = shifts_of(sizes).into_iter().enumerate();
    bits.fold(0, |all, (odd, shift)| {
        all | (shift as u32 & 15) << (12 * level + 4 * odd)
    })
}

/// The coefficients that fit the sample tiles of a field.
fn fit<T: Element>(
    field: &Field,
    values: &[T],
    resolved: &Resolved<T>,
    samples: &[u64],
) -> Stencils {
    let tiles = field.tiles();
    let extents = tile_extents(field.shape);
    let mut sums = Sums::new(
        field.shape,
        spacing(Geometry::Wide, field.shape).ilog2() as usize,
    );
    for number in samples {
        let sample = Sample::new(field, tiles[*number as usize].origin, values);
        let (anchors, is_half) = (sample.anchors(resolved), samples.len() == 64);
        let known = sample.visit(resolved, Method::Splines, &anchors, is_half, |_, _, _| {});
        for (flat, value) in sample.values.iter().enumerate() {
            let at = sample.field.position(flat);
            let first = first_axis(field.shape);
            let all = (first..3).fold(0, |all, axis| all | at[axis]);
            let level = all.trailing_zeros().min(9) as usize;
            let is_own = (0..3).all(|axis| at[axis] < extents[axis]);
            if sums.has(level) && is_own && sample.is_evaluated(level, at, samples.len() == 64) {
                let site = Site {
                    field: &sample.field,
                    window: window(Geometry::Wide, field.shape),
                    flags: resolved.parameters.levels[level],
                    known: &known,
                    at,
                    unit: 1 << level,
                };
                let odd = [0, 1, 2].map(|axis| axis >= first && at[axis] >> level & 1 == 1);
                sums.add(&site, odd, *value, resolved.quantizers[level].inverse);
            }
        }
    }
    sums.coefficients()
}

/// The flags of candidate 2 v + t; those of a fitted level for v = 3.
fn flags(candidate: u32) -> LevelFlags {
    LevelFlags {
        is_multi: candidate / 2 >= 2,
        is_reverse: candidate / 2 % 2 == 1,
        spline: if candidate % 2 == 1 {
            Spline::Natural
        } else {
            Spline::NotAKnot
        },
    }
}

/// The favourite, unless another candidate is clearly cheaper: then the first of the cheapest.
fn chosen(costs: &[u64], favourite: usize, least: u64) -> usize {
    let of_favourite = costs[favourite];
    let limit = of_favourite.saturating_sub(least + of_favourite / 1024);
    let cheapest = (0..costs.len()).min_by_key(|candidate| costs[*candidate]);
    cheapest
        .filter(|candidate| costs[*candidate] < limit)
        .unwrap_or(favourite)
}

/// Resolved parameters, with the bounds of the levels.
pub(super) fn resolved<T: Element>(parameters: &Parameters, error: T) -> Resolved<T> {
    let Tightening { alpha, beta, dead } = parameters.tightening;
    let dead = f64::from(dead) / 65_536.0;
    let error_of_steps = error.to_f64() / (1.0 + 2.0 * dead);
    let of_level = |level: usize| {
        let power = (0..level).fold(1.0, |power, _| power * alpha);
        let bound = (error_of_steps / power).max(error_of_steps / beta);
        let (step, inverse) = (T::from_f64(2.0 * bound), T::from_f64(1.0 / bound));
        let is_lossless = !(step.is_finite() && inverse.is_finite());
        LevelQuantizer {
            step: if is_lossless { T::ZERO } else { step },
            inverse: if is_lossless { T::ZERO } else { inverse },
            dead: T::from_f64(dead),
        }
    };
    Resolved {
        parameters: *parameters,
        error,
        quantizers: core::array::from_fn(of_level),
        radius: RADIUS,
    }
}

/// The cost of the sample tiles of a field.
fn cost<T: Element>(
    field: &Field,
    values: &[T],
    resolved: &Resolved<T>,
    method: Method<'_>,
    samples: &[u64],
) -> CandidateCosts {
    let tiles = field.tiles();
    let mut sum = CandidateCosts::default();
    for number in samples {
        let sample = Sample::by(method, field, tiles[*number as usize].origin, values);
        let counts = sample.count(resolved, method, samples.len() == 64);
        let bytes = T::BYTES as u64;
        for (sum, counts) in sum.levels.iter_mut().zip(&counts) {
            *sum = sum.wrapping_add(bits(counts, bytes));
        }
        let others = (0..17).map(|width| counts[1..].iter().map(|counts| counts[width]).sum());
        let others: Vec<u64> = others.collect();
        for counts in [&counts[0][..], &others] {
            sum.all = sum.all.wrapping_add(bits(counts, bytes));
        }
    }
    sum
}

/// The number of codes and the sum of their sizes of a level, of positions that are odd along one, two and three axes.
type Sizes = [(u64, u64); 3];

/// The sizes of the codes of levels 0 and 1 in the sample tiles of a field.
fn sizes<T: Element>(
    field: &Field,
    values: &[T],
    resolved: &Resolved<T>,
    method: Method<'_>,
    samples: &[u64],
) -> [Sizes; 2] {
    let tiles = field.tiles();
    let extents = tile_extents(field.shape);
    let axes = first_axis(field.shape)..3;
    let mut sizes = [Sizes::default(); 2];
    for number in samples {
        let sample = Sample::by(method, field, tiles[*number as usize].origin, values);
        sample.visit(
            resolved,
            method,
            &sample.rounded_anchors(resolved),
            samples.len() == 64,
            |level, flat, code| {
                let at = sample.field.position(flat);
                let is_own = (0..3).all(|axis| at[axis] < extents[axis]);
                if let Some(code) = code.filter(|_| is_own && level < 2) {
                    let odd = axes.clone().filter(|axis| at[*axis] >> level & 1 == 1);
                    let oddness = match (method.has_slices(), at[0]) {
                        (true, 0) => 3,
                        (true, _) => odd.filter(|axis| *axis > 0).count(),
                        (false, _) => odd.count(),
                    };
                    let (codes, sum) = &mut sizes[level][oddness - 1];
                    let bits = (0..16).filter(|bit| code.unsigned_abs() >> bit != 0);
                    *codes += 1;
                    *sum += [
                        0, 2, 5, 11, 23, 47, 95, 191, 383, 767, 1535, 3071, 6143, 12_287, 24_575,
                        49_151,
                    ][bits.count()];
                }
            },
        );
    }
    sizes
}

/// The shifts of a level whose codes have these sizes.
fn shifts_of(sizes: Sizes) -> [i64; 3] {
    let all = sizes
        .iter()
        .fold((0, 0), |all, size| (all.0 + size.0, all.1 + size.1));
    // Of 32 leading bits, so that more of them do not count.
    let log2 = |value: u64| match value.checked_ilog2() {
        Some(whole @ 32..) => log2(value >> (whole - 31)) + 256 * u64::from(whole - 31),
        _ => log2(value),
    };
    let mean = |(codes, sum): (u64, u64)| log2(sum) as i64 - log2(codes) as i64;
    sizes.map(|size| match (size.0, size.1, all.1) {
        (0, _, _) | (_, _, 0) => 0,
        (_, 0, _) => -8,
        _ => (mean(size) - mean(all) + 128).div_euclid(256).clamp(-8, 7),
    })
}

/// The numbers of the sample tiles, of which there is one among so many, if that is not too few or too many.
fn samples(tiles: u64, one_of: u64) -> Vec<u64> {
    let count = (tiles / one_of).clamp(4, 64).min(tiles);
    let mut first = 0;
    let mut samples = Vec::new();
    for part in 0..count {
        let length = tiles / count + u64::from(part < tiles % count);
        samples.push(first + hash(part) % length);
        first += length;
    }
    samples
}

fn hash(part: u64) -> u64 {
    let mut v = part.wrapping_add(0x9E37_79B9_7F4A_7C15);
    v = (v ^ (v >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    v = (v ^ (v >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    v ^ (v >> 33)
}

/// A sample tile with its far faces, as a separate field.
struct Sample<T> {
    field: Field,
    values: Vec<T>,
}

impl<T: Element> Sample<T> {
    fn by(method: Method<'_>, field: &Field, origin: [u64; 3], values: &[T]) -> Self {
        match method.has_slices() {
            true => Self::of_slices(field, origin, values),
            false => Self::new(field, origin, values),
        }
    }

    fn new(field: &Field, origin: [u64; 3], values: &[T]) -> Self {
        Self::with_far_from(first_axis(field.shape), field, origin, values)
    }

    /// Without a far face along z.
    fn of_slices(field: &Field, origin: [u64; 3], values: &[T]) -> Self {
        Self::with_far_from(1, field, origin, values)
    }

    /// With far faces along the axes from `first` on.
    fn with_far_from(first: usize, field: &Field, origin: [u64; 3], values: &[T]) -> Self {
        let extents = tile_extents(field.shape);
        let length = |axis: usize| {
            let far = u64::from(axis >= first);
            (extents[axis] + far).min(field.lengths[axis] - field.in_slice(origin)[axis])
        };
        let tile = Field {
            shape: field.shape,
            slices: 1,
            lengths: core::array::from_fn(length),
        };
        let of_field =
            |at: [u64; 3]| field.flat(core::array::from_fn(|axis| origin[axis] + at[axis]));
        let values = (0..tile.elements())
            .map(|flat| values[of_field(tile.position(flat))])
            .collect();
        Self {
            field: tile,
            values,
        }
    }

    /// Whether a position of a level is evaluated if only half of level 0 is.
    fn is_evaluated(&self, level: usize, at: [u64; 3], is_half: bool) -> bool {
        let first = first_axis(self.field.shape);
        !is_half || level > 0 || at[first] < tile_extents(self.field.shape)[first] / 2
    }

    /// The values of the tile's anchors.
    fn anchors(&self, resolved: &Resolved<T>) -> Vec<T> {
        let spacing = spacing(resolved.parameters.geometry, self.field.shape);
        self.field.anchors(spacing, &self.values)
    }

    /// The anchors with the errors that a stream may have: whole steps away from the first one. Those of cubes are exact.
    fn rounded_anchors(&self, resolved: &Resolved<T>) -> Vec<T> {
        if self.field.shape == Shape::Cube {
            return self.anchors(resolved);
        }
        let level = spacing(resolved.parameters.geometry, self.field.shape).ilog2();
        let quantizer = &resolved.quantizers[level as usize];
        let first = self.values[0];
        let rounded = |value: T| {
            let steps = (value - first) * (quantizer.inverse * T::HALF);
            match quantizer.step > T::ZERO && steps.abs() < T::ROUNDING_LIMIT {
                true => first + T::from_f64(nearest_even(steps.to_f64())) * quantizer.step,
                false => value,
            }
        };
        self.anchors(resolved).into_iter().map(rounded).collect()
    }

    /// Predicts and quantises the tile; returns the decoded values. `found` gets the level, the number and the code of
    /// each position that is evaluated.
    fn visit(
        &self,
        resolved: &Resolved<T>,
        method: Method<'_>,
        anchors: &[T],
        is_half: bool,
        mut found: impl FnMut(usize, usize, Option<i32>),
    ) -> Vec<T> {
        visit(
            &self.field,
            &resolved.parameters,
            method,
            anchors,
            |level, flat, prediction| {
                let (at, value) = (self.field.position(flat), self.values[flat]);
                if !self.is_evaluated(level, at, is_half) {
                    return value;
                }
                let quantizer = &resolved.quantizers[level];
                let (code, known) = quantized(quantizer, resolved.error, RADIUS, value, prediction);
                found(level, flat, code);
                known
            },
        )
    }

    /// The number of codes of each width in the tile, by level.
    fn count(&self, resolved: &Resolved<T>, method: Method<'_>, is_half: bool) -> [[u64; 17]; 9] {
        let extents = tile_extents(self.field.shape);
        let mut counts = [[0; 17]; 9];
        let anchors = self.rounded_anchors(resolved);
        self.visit(resolved, method, &anchors, is_half, |level, flat, code| {
            let (at, value) = (self.field.position(flat), self.values[flat]);
            let width = match code {
                Some(code) => (0..16)
                    .filter(|bit| code.unsigned_abs() >> bit != 0)
                    .count(),
                None => 16,
            };
            let is_own = (0..3).all(|axis| at[axis] < extents[axis]);
            if is_own && (code.is_some() || value.is_finite()) {
                counts[level][width] += if is_half && level == 0 { 2 } else { 1 };
            }
        });
        counts
    }
}

/// The nearest integer, ties to even, to a number of less than 2^52.
fn nearest_even(number: f64) -> f64 {
    let whole = number as i64;
    let (rest, away) = ((number - whole as f64).abs(), number.signum() as i64);
    let is_farther = rest > 0.5 || rest == 0.5 && whole % 2 != 0;
    (if is_farther { whole + away } else { whole }) as f64
}

/// The cost of codes of these widths; values have `bytes` bytes.
fn bits(counts: &[u64], bytes: u64) -> u64 {
    let all: u64 = counts.iter().sum();
    let mut cost = log2(all).wrapping_mul(all);
    for (j, count) in counts.iter().enumerate() {
        let width = if j == 16 { 8 * bytes } else { j as u64 };
        cost = cost.wrapping_add(count.wrapping_mul((256 * width).wrapping_sub(log2(*count))));
    }
    cost
}

/// 256 times the binary logarithm, rounded down; 0 for 0.
fn log2(value: u64) -> u64 {
    if value == 0 {
        return 0;
    }
    // The leading 64 bits of the value are squared repeatedly; each square doubles the logarithm.
    let mut log = u64::from(value.ilog2());
    let mut number = u128::from(value) << (63 - value.ilog2());
    for _ in 0..8 {
        number = (number * number) >> 63;
        log *= 2;
        if number >> 64 != 0 {
            number >>= 1;
            log += 1;
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_whole_numbers() {
        for value in [1u64, 2, 3, 1000, 16_384, 32_767] {
            let exact = (value as f64).log2() * 256.0;
            assert_eq!(log2(value), exact.floor() as u64, "{value}");
        }
    }
}
