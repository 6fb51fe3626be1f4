//! The refusals of the strict encoder.

use crate::cuszp::error::Refusal;
use crate::cuszp::params::Params;
use crate::cuszp::quantizer::Quantizer;
use crate::cuszp::rate::{BlockKind, Choice};
use ferrosz_codec::element::Element;
use ferrosz_codec::quantize::field::is_within;
use ferrosz_codec::shape::Shape;

/// Refuses dimensions and bounds with which cuSZp fails.
///
/// # Errors
///
/// The first [`Refusal`] that applies.
pub fn check_params<T: Element>(params: &Params<T>) -> Result<(), Refusal> {
    let [z, y, x] = params.dims;
    if z == 0 || y == 0 || x == 0 {
        return Err(Refusal::Empty);
    }
    if params.shape != Shape::Line && x % 4 != 0 {
        return Err(Refusal::RowLength { x });
    }
    let is_positive = params.error > T::ZERO;
    if !is_positive || !params.error.is_finite() {
        return Err(Refusal::Bound);
    }
    if !Quantizer::new(params.error).inverse.is_finite() {
        return Err(Refusal::BoundTooSmall);
    }
    Ok(())
}

/// Complains of elements whose code is wrong, or whose decoded value is not within the bound in exact
/// arithmetic; `first` is the index of the first.
///
/// # Errors
///
/// The [`Refusal`] of the first such element.
pub fn check_values<T: Element>(
    quantizer: &Quantizer<T>,
    first: u64,
    values: &[T],
) -> Result<(), Refusal> {
    for (element, value) in (first..).zip(values) {
        check_value(quantizer, element, *value)?;
    }
    Ok(())
}

fn check_value<T: Element>(
    quantizer: &Quantizer<T>,
    element: u64,
    value: T,
) -> Result<(), Refusal> {
    if !value.is_finite() {
        return Err(Refusal::NotFinite { element });
    }
    let two = T::ONE + T::ONE;
    let scaled = value * quantizer.inverse;
    // A code that is too large saturates at the largest code; one that is too small wraps to it.
    let saturates = scaled + T::ONE / two >= two * T::from_i32(1 << 30);
    let wraps = scaled < T::ZERO && quantizer.code(value) > 0;
    if saturates || wraps {
        return Err(Refusal::CodeOverflow { element });
    }
    // From 2^p on, p the stored bits of the mantissa, adding 0.5 rounds to a neighbour.
    let exact = (T::ROUNDING_MAGIC + T::ROUNDING_MAGIC) / (two + T::ONE);
    if scaled.abs() >= exact {
        return Err(Refusal::CodeInexact { element });
    }
    let decoded = quantizer.value(quantizer.code(value));
    if !is_within(value, decoded, quantizer.error) {
        return Err(Refusal::BeyondBound { element });
    }
    Ok(())
}

/// Complains of a block whose differences do not come back; the magnitudes are those of [`BlockKind::choose`].
///
/// # Errors
///
/// The [`Refusal`] of this block.
pub fn check_block(
    kind: BlockKind,
    block: u32,
    choice: Choice,
    (first, others): (u32, u32),
) -> Result<(), Refusal> {
    let has_lost = kind.shape == Shape::Line && (first | others) >> 31 != 0;
    if kind.is_anomaly(choice.byte) {
        Err(Refusal::RateAnomaly { block })
    } else if has_lost {
        Err(Refusal::LostDifference { block })
    } else {
        Ok(())
    }
}
