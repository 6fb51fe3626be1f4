//! Coefficients on their way to codes: nearer to 0, and 0 where a code takes more bits than its part of the error is worth.
//!
//! The fewer coefficients of a zone have a code, the more bits a code takes. The distances below which coefficients become 0 are
//! those at which the error for a bit is that of all other coefficients: a line through the optima for Laplacian ones.

use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::TILE;

/// Coefficients of a zone: those of a zone of a tile's line (FORMAT.md, section 10).
const ZONE: usize = TILE / 32;

/// Coefficients of a task.
const TASK: usize = 1 << 16;

/// By how much of a step coefficients get nearer to 0.
const NEARER: f64 = 0.05;

/// Coefficients nearer to 0 than so many steps become 0, but for [`LESS`].
const DISTANCE: f64 = 1.25;

/// By so much the distance is less for each bit of the sum of magnitudes of a zone's codes.
const LESS: f64 = 0.07;

/// The least distance.
const LEAST: f64 = 0.6;

/// The magnitude of what has no code.
const NO_CODE: u64 = 1 << 15;

/// The error that is worth a bit, in squares of steps: the slope of rate and distortion where bits are few.
const WORTH: f64 = 0.14;

/// Coefficients that are coded in place of others, and their cost in bits: those of codes, and what errors are worth.
pub(super) struct Rounded<T> {
    pub(super) coefficients: Vec<T>,
    pub(super) cost: f64,
}

impl<T: Element> Rounded<T> {
    /// Those of coefficients with a quantiser that is not lossless.
    pub(super) fn new(quantizer: &Quantizer<T>, coefficients: &[T]) -> Self {
        let parts = parallel::map(coefficients.chunks(TASK), |from| {
            let mut part = from.to_vec();
            let zones = part.chunks_mut(ZONE).zip(from.chunks(ZONE));
            let cost: f64 = zones
                .map(|(zone, from)| {
                    round_zone(quantizer, zone);
                    cost_of(quantizer, from, zone)
                })
                .sum();
            (part, cost)
        });
        let cost = parts.iter().map(|(_, cost)| cost).sum();
        let parts: Vec<Vec<T>> = parts.into_iter().map(|(part, _)| part).collect();
        Self {
            coefficients: parts.concat(),
            cost,
        }
    }
}

/// The magnitude of a coefficient's code.
fn magnitude<T: Element>(quantizer: &Quantizer<T>, value: T) -> u64 {
    match quantizer.quantize(value) {
        Some(code) => u64::from(code.unsigned_abs()),
        None => NO_CODE,
    }
}

fn bit_length(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Rounds the coefficients of a zone.
fn round_zone<T: Element>(quantizer: &Quantizer<T>, zone: &mut [T]) {
    let step = 2.0 * quantizer.error().to_f64();
    let nearer = T::from_f64(NEARER * step);
    let nearer = |value: T| match value {
        value if value > nearer => value - nearer,
        value if value < T::ZERO - nearer => value + nearer,
        _ => T::ZERO,
    };
    let magnitudes = zone
        .iter()
        .map(|value| magnitude(quantizer, nearer(*value)));
    let bits = f64::from(bit_length(magnitudes.sum()));
    let distance = T::from_f64(step * (DISTANCE - LESS * bits).max(LEAST));
    for value in zone {
        *value = match *value < distance && *value > T::ZERO - distance {
            true => T::ZERO,
            false => nearer(*value),
        };
    }
}

/// The cost of a zone. A code other than 0 counts with twice its bit length, and with the bits of its distance to the next one.
fn cost_of<T: Element>(quantizer: &Quantizer<T>, from: &[T], rounded: &[T]) -> f64 {
    let step = 2.0 * quantizer.error().to_f64();
    let (mut codes, mut bits, mut squares) = (0, 0, 0.0);
    for (from, rounded) in from.iter().zip(rounded) {
        let code = magnitude(quantizer, *rounded);
        codes += u64::from(code > 0);
        bits += 2 * u64::from(bit_length(code));
        let error = from.to_f64().abs() / step - code as f64;
        squares += if code < NO_CODE { error * error } else { 0.0 };
    }
    let places = match (ZONE as u64).checked_div(codes) {
        Some(distance) => codes * u64::from(bit_length(distance)),
        None => 0,
    };
    (bits + places) as f64 + squares / WORTH
}
