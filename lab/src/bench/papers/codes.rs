//! Codes that are not zero, of both predictors of cuSZ-i's Fig. 5.

use super::super::{field::Subject, gpu::OnDevice, markdown};
use super::ratios::{cells, columns};
use ferrosz::{Bound, Element};
use ferrosz_cli::{failure::Failure, output};
use ferrosz_stages::{Decomposition, Interpolator};

/// The share of codes that are not zero on one field at one bound.
#[derive(Debug, Clone, PartialEq)]
pub struct NonZero {
    /// The field.
    pub field: String,
    /// The bound, relative to the range.
    pub range: f64,
    /// Of interpolation, outliers included.
    pub interpolation: f64,
    /// Of Lorenzo prediction from quantised values.
    pub lorenzo: f64,
}

/// Counts the codes of a field.
///
/// # Errors
///
/// If the field cannot be decomposed.
pub fn count<T: Element + OnDevice>(subject: &Subject<T>, range: f64) -> Result<NonZero, Failure> {
    let bound = Bound::range(range).map_err(Failure::usage)?;
    let values = &subject.values[..];
    let interpolator = Interpolator::new(bound).extents(subject.extents.lengths());
    let parts: Decomposition<T, u16> = interpolator
        .and_then(|interpolator| interpolator.decompose(values))
        .map_err(Failure::failed)?;
    let radius = parts.recipe.resolved.radius as u16;
    let of_interpolation = parts.codes.iter().filter(|code| **code != radius).count();
    let error = parts.recipe.resolved.error.to_f64();
    let of_lorenzo = lorenzo(values, subject.dims(), error);
    let share = |count: usize| count as f64 / values.len() as f64;
    Ok(NonZero {
        field: subject.name.clone(),
        range,
        interpolation: share(of_interpolation),
        lorenzo: share(of_lorenzo),
    })
}

/// Residuals of the Lorenzo predictor that are not zero, by cuSZ's dual quantisation: values are rounded to multiples of
/// twice the error, and predicted from their preceding neighbours.
fn lorenzo<T: Element>(values: &[T], [_, height, width]: [u64; 3], error: f64) -> usize {
    let [height, width] = [height, width].map(|length| (length as usize).max(1));
    let codes: Vec<f64> = (values.iter())
        .map(|value| (value.to_f64() / (2.0 * error)).round())
        .collect();
    let plane = height * width;
    let is_not_zero = |at: &usize| {
        let (z, y, x) = (at / plane, at / width % height, at % width);
        let mut residual = 0.0;
        for corner in 0..8usize {
            let [dz, dy, dx] = [corner >> 2 & 1, corner >> 1 & 1, corner & 1];
            if dz <= z && dy <= y && dx <= x {
                let code = codes[at - dz * plane - dy * width - dx];
                residual += if (dz + dy + dx) % 2 == 0 { code } else { -code };
            }
        }
        residual != 0.0
    };
    (0..codes.len()).filter(is_not_zero).count()
}

/// Prints the table.
///
/// # Errors
///
/// If standard output cannot be written.
pub fn print(counts: &[NonZero], ranges: &[f64]) -> Result<(), Failure> {
    output::print("\ncodes that are not zero, %: interpolation / Lorenzo prediction\n\n")?;
    markdown::heading(&format!("field | {}", columns(ranges)))?;
    let mut fields: Vec<&str> = counts.iter().map(|count| &*count.field).collect();
    fields.dedup();
    for field in fields {
        let cell = |range| {
            let found = counts
                .iter()
                .find(|count| (&*count.field, count.range) == (field, range))?;
            let [interpolation, lorenzo] =
                [found.interpolation, found.lorenzo].map(|share| 100.0 * share);
            Some(format!("{interpolation:.3} / {lorenzo:.3}"))
        };
        markdown::row(format_args!("{field} | {}", cells(ranges, cell)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_of_planes_are_zero_but_at_two_faces() {
        // x + 10 y in a plane of 4 x 5, with an error of one half: only the first row and column have residuals, and the
        // first value has none.
        let values: Vec<f64> = (0..20)
            .map(|at| f64::from(at % 5 + 10 * (at / 5)))
            .collect();
        assert_eq!(lorenzo(&values, [1, 4, 5], 0.5), 4 + 3);
        assert_eq!(lorenzo(&[0.0f32; 24], [2, 3, 4], 0.5), 0);
    }
}
