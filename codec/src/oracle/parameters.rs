//! The parameters in the prologue of a stream with interpolation (FORMAT.md, section 15).

use crate::code::entropy::shifts::Shifts;
use crate::element::Element;
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
use crate::predict::interp::resolved::Resolved;
use crate::predict::interp::spline::Spline;
use crate::quantize::level::LevelQuantizer;
use alloc::vec;
use alloc::vec::Vec;

/// The parameters of the coarse field: all levels have the quantiser of the anchors' level.
pub(super) fn all_of_level<T: Element>(resolved: &Resolved<T>, level: u32) -> Resolved<T> {
    Resolved {
        quantizers: [resolved.quantizers[level as usize]; 10],
        ..*resolved
    }
}

pub(super) fn parameter_words<T: Element>(resolved: &Resolved<T>) -> Vec<u32> {
    let flags = resolved
        .parameters
        .levels
        .iter()
        .rev()
        .fold(0, |all, flags| {
            let is_natural = flags.spline == Spline::Natural;
            all << 3
                | u32::from(flags.is_multi)
                | u32::from(flags.is_reverse) << 1
                | u32::from(is_natural) << 2
        });
    let tightening = resolved.parameters.tightening;
    let mut wide = vec![tightening.alpha.to_bits(), tightening.beta.to_bits()];
    wide.push(resolved.error.to_bits64());
    wide.extend(
        resolved
            .quantizers
            .iter()
            .map(|quantizer| quantizer.step.to_bits64()),
    );
    wide.extend(
        resolved
            .quantizers
            .iter()
            .map(|quantizer| quantizer.inverse.to_bits64()),
    );
    let mut words = vec![number_of(resolved.parameters.geometry), flags];
    words.extend(
        wide.iter()
            .flat_map(|bits| [*bits as u32, (*bits >> 32) as u32]),
    );
    words.extend([
        resolved.radius | tightening.dead << 16,
        resolved.parameters.shifts.to_word(),
    ]);
    words
}

fn number_of(geometry: Geometry) -> u32 {
    match geometry {
        Geometry::Narrow => 0,
        Geometry::Square => 1,
        Geometry::Wide => 2,
        #[cfg(feature = "toy")]
        Geometry::ToyGeometry => 3,
    }
}

/// The parameters in these 50 words of a stream with this error, in which only these bits of shifts may be set; none if a
/// reader rejects them.
pub(super) fn parameters_of<T: Element>(
    geometry: Geometry,
    shift_bits: u32,
    error: T,
    words: &[u32],
) -> Option<Resolved<T>> {
    let wide = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
    let number = |at: usize| T::from_bits64(wide(at));
    let [radius, dead] = [words[48] & 0xffff, words[48] >> 16];
    let [alpha, beta] = [2, 4].map(|at| f64::from_bits(wide(at)));
    // Finite, without a sign, and 0 in bits that the type does not have.
    let is_sound = |at: usize| {
        let value = number(at);
        value.is_finite()
            && value >= T::ZERO
            && value.to_bits64() == wide(at)
            && wide(at) >> 63 == 0
    };
    let is_positive = |at: usize| T::BYTES == 8 || wide(at) >> 31 == 0;
    let are_sound = (0..21).all(|i| is_sound(6 + 2 * i) && is_positive(6 + 2 * i))
        && wide(6) == error.to_bits64()
        && words[49] & !shift_bits == 0
        && [alpha, beta]
            .iter()
            .all(|value| value.is_finite() && *value >= 1.0)
        && (1..=32_768).contains(&radius)
        && dead <= 16_384
        && words[0] == number_of(geometry)
        && words[1] >> 27 == 0;
    are_sound.then(|| Resolved {
        parameters: Parameters {
            geometry,
            levels: core::array::from_fn(|level| {
                let is_set = |bit: usize| words[1] >> (3 * level + bit) & 1 == 1;
                LevelFlags {
                    is_multi: is_set(0),
                    is_reverse: is_set(1),
                    spline: if is_set(2) {
                        Spline::Natural
                    } else {
                        Spline::NotAKnot
                    },
                }
            }),
            tightening: Tightening::new(alpha, beta).with_dead_zone(dead),
            shifts: Shifts::from_word(words[49]),
        },
        error: number(6),
        quantizers: core::array::from_fn(|level| LevelQuantizer {
            step: number(8 + 2 * level),
            inverse: number(28 + 2 * level),
            dead: T::from_f64(f64::from(dead) / 65_536.0),
        }),
        radius,
    })
}
