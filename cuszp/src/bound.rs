//! Bounds that are relative to the array: the absolute error, as cuSZp's own command computes it.
//!
//! A stream without header does not hold its error, and the codes depend on all bits of it. So there is one way to compute
//! it, with one rounding for each operation: `E * (max - min)`, or `E * max|x|`. A ferrosz stream promises another error:
//! it is rounded down.

use ferrosz_codec::bound::Extremes;
use ferrosz_codec::{Bound, BoundMode, Dtype, Element};
use rayon::prelude::*;
use thiserror::Error;

/// Elements that one task looks at.
const TASK_ELEMENTS: usize = 1 << 16;

/// The type in which an absolute error is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arithmetic {
    /// The type of the elements.
    #[default]
    Elements,
    /// `f32`, also for elements of `f64`: max - min is rounded to it. So does cuSZp's own command, and its general API has
    /// an `f32` for the error.
    Floats,
}

/// A bound that gives an array no error that a quantiser can use.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum ErrorFault {
    /// The absolute error is zero, or not finite: the array is constant, or the bound beyond the type's range.
    #[error(
        "the bound {} {:e} gives an absolute error of {error:e} in {dtype}, but the stream needs one that is positive and finite",
        bound.mode(), bound.value()
    )]
    NotPositive {
        /// The bound.
        bound: Bound,
        /// The error.
        error: f64,
        /// The type in which it was computed.
        dtype: Dtype,
    },
    /// A bound that is relative to each value has no absolute error.
    #[error(
        "a bound relative to each value has no absolute error, which the stream needs: give --abs, --range or --max"
    )]
    Pointwise,
}

/// The absolute error of a bound for an array. Bounds relative to the range or the largest magnitude are those of its
/// finite values.
///
/// ```
/// use ferrosz_cuszp::bound::{Arithmetic, absolute_error};
/// use ferrosz_cuszp::Bound;
///
/// let field = [2.0f32, 5.0, 3.0, f32::NAN];
/// let error = absolute_error(Bound::range(1e-3)?, Arithmetic::Elements, &field)?;
/// assert_eq!(error, 1e-3f32 * 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`ErrorFault`].
pub fn absolute_error<T: Element>(
    bound: Bound,
    arithmetic: Arithmetic,
    values: &[T],
) -> Result<T, ErrorFault> {
    let extent = match bound.mode() {
        BoundMode::Pwrel => return Err(ErrorFault::Pointwise),
        BoundMode::Abs => T::ONE,
        BoundMode::Range => extremes(values).map_or(T::ZERO, |(min, max)| max - min),
        BoundMode::Max => {
            extremes(values).map_or(T::ZERO, |(min, max)| min.abs().larger(max.abs()))
        }
    };
    let (error, dtype) = match arithmetic {
        Arithmetic::Elements => (T::from_f64(bound.value()) * extent, T::DTYPE),
        Arithmetic::Floats => {
            let error = bound.value() as f32 * extent.to_f64() as f32;
            (T::from_f64(error.into()), Dtype::F32)
        }
    };
    if error > T::ZERO && error.is_finite() {
        return Ok(error);
    }
    Err(ErrorFault::NotPositive {
        bound,
        error: error.to_f64(),
        dtype,
    })
}

/// Smallest and largest finite value; none if no value is finite.
fn extremes<T: Element>(values: &[T]) -> Option<(T, T)> {
    let of_task = |values: &[T]| {
        let mut found = Extremes::default();
        for value in values {
            found.see(*value);
        }
        found
    };
    let tasks = values.par_chunks(TASK_ELEMENTS).map(of_task);
    tasks.reduce(Extremes::default, Extremes::union).values()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_bounds_are_of_the_finite_values() {
        let field = [f32::NAN, 2.0, -6.0, f32::INFINITY, 1.0];
        let error = |bound: Bound| absolute_error(bound, Arithmetic::Elements, &field);
        assert_eq!(error(Bound::range(0.5).unwrap()), Ok(4.0));
        assert_eq!(error(Bound::max(0.5).unwrap()), Ok(3.0));
        assert_eq!(error(Bound::abs(0.5).unwrap()), Ok(0.5));
        assert_eq!(
            error(Bound::pwrel(0.5).unwrap()),
            Err(ErrorFault::Pointwise)
        );
    }

    /// Numbers of which each rounding shows: computed by hand in exact arithmetic.
    #[test]
    fn each_operation_rounds_once() {
        // max - min = 2^24 + 1, halfway between two f32, goes to the even one; 1e-3 as an f32 is 8589935 * 2^-33.
        let range = Bound::range(1e-3).unwrap();
        let error = absolute_error(range, Arithmetic::Elements, &[-1.0f32, 16_777_216.0]);
        // 8589935 * 2^-33 * 2^24, exact.
        assert_eq!(error, Ok((8_589_935.0 / 512.0) as f32));
        let field = [-1.0f64, 16_777_216.0];
        let error = absolute_error(range, Arithmetic::Elements, &field);
        assert_eq!(error, Ok(1e-3 * 16_777_217.0));
        let error = absolute_error(range, Arithmetic::Floats, &field);
        assert_eq!(error, Ok(8_589_935.0 / 512.0));
        let error = absolute_error(Bound::abs(1e-3).unwrap(), Arithmetic::Floats, &field);
        assert_eq!(error, Ok(f64::from(1e-3f32)));
    }

    #[test]
    fn errors_that_no_quantiser_can_use_are_refused() {
        let refused = |bound: Bound, field: &[f32]| {
            let found = absolute_error(bound, Arithmetic::Elements, field);
            matches!(found, Err(ErrorFault::NotPositive { .. }))
        };
        assert!(refused(Bound::range(0.5).unwrap(), &[3.0; 4]));
        assert!(refused(Bound::range(0.5).unwrap(), &[f32::NAN]));
        assert!(refused(Bound::max(0.5).unwrap(), &[]));
        assert!(refused(Bound::abs(1e-60).unwrap(), &[1.0]));
        assert!(refused(Bound::abs(0.0).unwrap(), &[1.0]));
        assert!(refused(Bound::max(1.0).unwrap(), &[f32::INFINITY]));
        assert!(refused(Bound::range(1.0).unwrap(), &[f32::MAX, f32::MIN]));
    }
}
