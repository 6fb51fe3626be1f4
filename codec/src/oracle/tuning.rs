//! The parameters that an encoder chooses from sample tiles (FORMAT.md, section 18).

use crate::element::Element;
use crate::oracle::interp::{quantized, spacing, visit};
use crate::oracle::order::{Field, first_axis, tile_extents};
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
use crate::predict::interp::resolved::Resolved;
use crate::predict::interp::spline::Spline;
use crate::quantize::level::LevelQuantizer;
use crate::shape::Shape;
use alloc::vec::Vec;

/// A cost for each level.
type Costs = [u64; 9];

/// Codes are less than this in magnitude.
pub(super) const RADIUS: u32 = 32_768;

/// The parameters for a field of these values.
pub(super) fn tune<T: Element>(
    field: &Field,
    geometry: Geometry,
    values: &[T],
    error: T,
) -> Parameters {
    let tightening = |alpha: f64| Tightening { alpha, beta: 2.0 };
    let mut decided = Parameters {
        geometry,
        levels: core::array::from_fn(|level| flags(if level < 2 { 4 } else { 0 })),
        tightening: tightening(1.25),
    };
    let cost_of = |candidate: &Parameters| cost(field, values, &resolved(candidate, error));
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
    let costs: Vec<Costs> = candidates.iter().map(cost_of).collect();
    for (level, of_level) in decided.levels.iter_mut().enumerate() {
        let favourite = if level < 2 && !is_line { 4 } else { 0 };
        let costs: Vec<u64> = costs.iter().map(|costs| costs[level]).collect();
        *of_level = candidates[chosen(&costs, favourite)].levels[level];
    }
    let with_alpha = |alpha: f64| {
        let mut candidate = decided;
        candidate.tightening = tightening(alpha);
        candidate
    };
    let candidates = [with_alpha(1.0), with_alpha(1.25), with_alpha(1.5)];
    let sum = |costs: Costs| costs.into_iter().fold(0, u64::wrapping_add);
    candidates[chosen(&candidates.map(|candidate| sum(cost_of(&candidate))), 1)]
}

/// The flags of candidate 2 v + t.
fn flags(candidate: u32) -> LevelFlags {
    LevelFlags {
        is_multi: candidate / 2 == 2,
        is_reverse: candidate / 2 == 1,
        spline: if candidate % 2 == 1 {
            Spline::Natural
        } else {
            Spline::NotAKnot
        },
    }
}

/// The favourite, unless another candidate is clearly cheaper: then the first of the cheapest.
fn chosen(costs: &[u64], favourite: usize) -> usize {
    let of_favourite = costs[favourite];
    let limit = of_favourite.saturating_sub(16_384 + of_favourite / 1024);
    let cheapest = (0..costs.len()).min_by_key(|candidate| costs[*candidate]);
    cheapest
        .filter(|candidate| costs[*candidate] < limit)
        .unwrap_or(favourite)
}

/// Resolved parameters, with the bounds of the levels.
pub(super) fn resolved<T: Element>(parameters: &Parameters, error: T) -> Resolved<T> {
    let Tightening { alpha, beta } = parameters.tightening;
    let of_level = |level: usize| {
        let power = (0..level).fold(1.0, |power, _| power * alpha);
        let bound = (error.to_f64() / power).max(error.to_f64() / beta);
        let (step, inverse) = (T::from_f64(2.0 * bound), T::from_f64(1.0 / bound));
        let is_lossless = !(step.is_finite() && inverse.is_finite());
        LevelQuantizer {
            step: if is_lossless { T::ZERO } else { step },
            inverse: if is_lossless { T::ZERO } else { inverse },
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
fn cost<T: Element>(field: &Field, values: &[T], resolved: &Resolved<T>) -> Costs {
    let tiles = field.tiles();
    let mut sum = Costs::default();
    let samples = samples(tiles.len() as u64);
    for number in &samples {
        let tile = &tiles[*number as usize];
        let counts = count(field, tile.origin, values, resolved, samples.len() == 64);
        for (sum, counts) in sum.iter_mut().zip(&counts) {
            *sum = sum.wrapping_add(bits(counts, T::BYTES as u64));
        }
    }
    sum
}

/// The numbers of the sample tiles.
fn samples(tiles: u64) -> Vec<u64> {
    let count = (tiles / 128).clamp(4, 64).min(tiles);
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

/// The number of codes of each width in a tile, by level.
fn count<T: Element>(
    field: &Field,
    origin: [u64; 3],
    values: &[T],
    resolved: &Resolved<T>,
    is_half: bool,
) -> [[u64; 17]; 9] {
    let (extents, first) = (tile_extents(field.shape), first_axis(field.shape));
    // The tile with its far faces, as a separate field.
    let length = |axis: usize| {
        let far = u64::from(axis >= first);
        (extents[axis] + far).min(field.lengths[axis] - field.in_slice(origin)[axis])
    };
    let tile = Field {
        shape: field.shape,
        slices: 1,
        lengths: core::array::from_fn(length),
    };
    let of_field = |at: [u64; 3]| field.flat(core::array::from_fn(|axis| origin[axis] + at[axis]));
    let of_tile: Vec<T> = (0..tile.elements())
        .map(|flat| values[of_field(tile.position(flat))])
        .collect();
    let spacing = spacing(resolved.parameters.geometry, field.shape);
    let anchors = tile.anchors(spacing, &of_tile);
    let mut counts = [[0; 17]; 9];
    visit(
        &tile,
        &resolved.parameters,
        &anchors,
        |level, flat, prediction| {
            let (at, value) = (tile.position(flat), of_tile[flat]);
            if is_half && level == 0 && at[first] >= extents[first] / 2 {
                return value;
            }
            let quantizer = &resolved.quantizers[level];
            let (code, known) = quantized(quantizer, resolved.error, RADIUS, value, prediction);
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
            known
        },
    );
    counts
}

/// The cost of codes of these widths; values have `bytes` bytes.
fn bits(counts: &[u64; 17], bytes: u64) -> u64 {
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
