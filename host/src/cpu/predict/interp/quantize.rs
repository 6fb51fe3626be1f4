//! The quantiser of a level on rows of values.

use crate::cpu::lanes::Lanes;
use crate::cpu::predict::interp::piece::PIECE;
use crate::cpu::predict::interp::store::{VECTOR, copy};
use crate::cpu::version::Work;
use ferrosz_codec::element::Element;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::tile::code::{RAW, unzigzag, zigzag};

/// Codes of a greater magnitude are computed by the definition, as in [`LevelQuantizer::encode_all`].
const MOST_USUAL: u32 = 1 << 10;

/// The bound of a field's positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits<T> {
    /// The bound.
    pub error: T,
    /// Codes are less than this in magnitude.
    pub radius: u32,
}

/// Positions of a level with their predictions, at most [`PIECE`] of them; the slice is of a multiple of [`VECTOR`].
#[derive(Clone, Copy)]
pub(super) struct Predicted<'a, T> {
    pub(super) quantizer: &'a LevelQuantizer<T>,
    pub(super) limits: Limits<T>,
    /// The number of positions; behind them results do not matter.
    pub(super) count: usize,
    pub(super) predictions: &'a [T],
}

/// Quantises values, and replaces them by the decoded ones. The slices are as long as the predictions.
pub(super) struct Encode<'a, T> {
    pub(super) predicted: Predicted<'a, T>,
    pub(super) values: &'a mut [T],
    pub(super) codes: &'a mut [u16],
}

impl<T: Element> Work for Encode<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        // Two loops, as most streams have no dead zone, and to subtract 0 takes time, too.
        match self.predicted.quantizer.dead > T::ZERO {
            true => self.encode::<true>(),
            false => self.encode::<false>(),
        }
    }
}

impl<T: Element> Encode<'_, T> {
    #[inline(always)]
    fn encode<const HAS_DEAD_ZONE: bool>(self) {
        let Predicted {
            quantizer,
            limits: Limits { error, radius },
            count,
            predictions,
        } = self.predicted;
        let padded = predictions.len().min(PIECE) / VECTOR * VECTOR;
        let (predictions, values) = (&predictions[..padded], &mut self.values[..padded]);
        let codes = &mut self.codes[..padded];
        let mut known = [T::ZERO; PIECE];
        let known = &mut known[..padded];
        let half_inverse = quantizer.inverse * T::HALF;
        let most = T::from_i32(MOST_USUAL.min(radius.saturating_sub(1)).cast_signed());
        // A number, so that it is compared in vectors of the same width.
        let end = T::from_i32(count as i32);
        let mut is_usual = true;
        // The usual way of `LevelQuantizer::encode_all`.
        for i in 0..padded {
            let (value, prediction) = (values[i], predictions[i]);
            let mut scaled = (value - prediction) * half_inverse;
            if HAS_DEAD_ZONE {
                scaled = quantizer.shortened(scaled);
            }
            let biased = scaled + T::ROUNDING_MAGIC;
            let steps = biased - T::ROUNDING_MAGIC;
            known[i] = prediction + steps * quantizer.step;
            let is_small = scaled.abs() < most;
            let is_nearest = (scaled - steps).abs() < T::CLEARLY_NEAREST;
            let is_within = (value - known[i]).abs() < error;
            is_usual &= (is_small & is_nearest & is_within) | (T::from_i32(i as i32) >= end);
            let code = biased.low_bits().wrapping_sub(T::ROUNDING_MAGIC_BITS);
            codes[i] = zigzag(code.cast_signed());
        }
        if is_usual {
            copy(known, values);
            return;
        }
        for i in 0..count.min(padded) {
            let quantized = quantizer.encode(values[i], predictions[i], error, radius);
            values[i] = quantized.known;
            codes[i] = quantized.code as u16;
        }
    }
}

/// Sets values to those of their codes. Where the code is [`RAW`], the value must be the raw one. The slices are as long as
/// the predictions.
pub(super) struct Decode<'a, T> {
    pub(super) predicted: Predicted<'a, T>,
    pub(super) values: &'a mut [T],
    pub(super) codes: &'a [u16],
}

impl<T: Element> Work for Decode<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Predicted {
            quantizer,
            limits: Limits { error, radius },
            count,
            predictions,
        } = self.predicted;
        let padded = predictions.len().min(PIECE) / VECTOR * VECTOR;
        let (predictions, values) = (&predictions[..padded], &mut self.values[..padded]);
        let codes = &self.codes[..padded];
        let mut known = [T::ZERO; PIECE];
        let known = &mut known[..padded];
        let mut has_raw = false;
        for i in 0..padded {
            known[i] = quantizer.decode(predictions[i], unzigzag(codes[i]));
            has_raw |= codes[i] == RAW;
        }
        if has_raw {
            for i in 0..count.min(padded) {
                if codes[i] == RAW {
                    known[i] = quantizer.known(values[i], predictions[i], error, radius);
                }
            }
        }
        copy(known, values);
    }
}
