//! The keyword `safeguards`: promises about each value beside the bound.

use crate::error::{argument, raised};
use ferrosz::{Compressor, Safeguard};
use numpy::{PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;

/// The bounds of the values of an array, and its shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueBounds {
    /// In C order.
    pub bounds: Arc<Vec<f64>>,
    /// The lengths of the array.
    pub shape: Vec<u64>,
}

/// Adds the safeguards of a dictionary to a compressor; the bounds of values, if it has them.
///
/// # Errors
///
/// `ArgumentError` if a key or a number is impossible.
pub fn apply(
    given: &Bound<'_, PyDict>,
    mut compressor: Compressor,
) -> PyResult<(Compressor, Option<ValueBounds>)> {
    let py = given.py();
    let mut bounds = None;
    for (key, value) in given {
        let name: String = key.extract()?;
        let safeguards = match name.as_str() {
            "keep_above" => match value.extract::<f64>() {
                Ok(number) => vec![Safeguard::KeepAbove(number)],
                Err(_) => {
                    let numbers: Vec<f64> = value.extract()?;
                    numbers.into_iter().map(Safeguard::KeepAbove).collect()
                }
            },
            "limits" => {
                let (low, high) = value.extract()?;
                vec![Safeguard::Limits(low, high)]
            }
            "abs_log" => vec![Safeguard::AbsLog(value.extract()?)],
            "abs_exp" => vec![Safeguard::AbsExp(value.extract()?)],
            "abs_square" => vec![Safeguard::AbsSquare(value.extract()?)],
            "monotone" => vec![Safeguard::Monotone(value.extract()?)],
            "abs_field" => {
                bounds = Some(bounds_of(&value)?);
                Vec::new()
            }
            other => {
                let message = format!(
                    "safeguards: {other:?} is none of keep_above, limits, abs_field, abs_log, abs_exp, abs_square and monotone"
                );
                return Err(argument(py, message));
            }
        };
        for safeguard in safeguards {
            let with = compressor.safeguard(safeguard);
            compressor = with.map_err(|error| raised(py, &error))?;
        }
    }
    Ok((compressor, bounds))
}

/// The bounds in an array of any real type.
fn bounds_of(array: &Bound<'_, PyAny>) -> PyResult<ValueBounds> {
    let py = array.py();
    let arguments = PyDict::new(py);
    arguments.set_item(intern!(py, "dtype"), PyString::new(py, "float64"))?;
    arguments.set_item(intern!(py, "order"), PyString::new(py, "C"))?;
    let numpy = py.import(intern!(py, "numpy"))?;
    let made = numpy.call_method(intern!(py, "asarray"), (array,), Some(&arguments))?;
    let made: PyReadonlyArrayDyn<'_, f64> = made.extract()?;
    let shape = made.shape().iter().map(|length| *length as u64).collect();
    Ok(ValueBounds {
        bounds: Arc::new(made.to_vec()?),
        shape,
    })
}
