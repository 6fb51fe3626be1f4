//! `bare_replace`: a part of the array of a stream without header is replaced.

use super::{Kind, OfArray, part_of};
use crate::array_in::Field;
use crate::error::{argument, raised_bare};
use crate::pool;
use crate::stream::Bytes;
use ferrosz::codec::with_element;
use ferrosz_cuszp::Part;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A stream without header in which a part of the array is replaced.
#[pyfunction]
#[pyo3(signature = (stream, parameters, values, *, elements, r#box))]
pub fn bare_replace<'py>(
    stream: &Bound<'py, PyAny>,
    parameters: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    elements: Option<(u64, u64)>,
    r#box: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = stream.py();
    let (bytes, field) = (Bytes::new(stream)?, Field::new(values)?);
    let kind = Kind::of(py, &parameters.extract()?)?;
    let array = OfArray::new(parameters)?;
    let (part, shape) = part_of(py, elements, r#box, &array.shape)?;
    let part = match part {
        Some(part) => part,
        None => {
            let whole: Vec<_> = array.shape.iter().map(|length| 0..*length).collect();
            Part::region(&array.shape, &whole).map_err(|error| argument(py, error.to_string()))?
        }
    };
    let of_values = array.dtype.value_type();
    if field.value_type() != of_values || field.extents() != shape {
        let message = format!(
            "values: they have the shape {:?} of {}, and the part {shape:?} of {of_values}",
            field.extents(),
            field.value_type(),
        );
        return Err(argument(py, message));
    }
    let mut changed = bytes.as_slice().to_vec();
    with_element!(array.dtype, E => {
        let bare = array.bare::<E>(py, kind)?;
        let done = py.detach(|| {
            pool::run(|| bare.replace_part(&mut changed, &part, field.values::<E>()))
        })?;
        done.map_err(|error| raised_bare(py, &error))?;
    });
    Ok(PyBytes::new(py, &changed))
}
