//! Masked arrays of NumPy.

use numpy::PyUntypedArray;
use pyo3::intern;
use pyo3::prelude::*;

/// An array with the fill value in the place of elements that are masked, and the fill value; other arrays as they are.
///
/// # Errors
///
/// `ArgumentError` if the fill value is none of the type, or that of an element that is not masked.
pub fn split<'py>(array: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Option<f64>)> {
    if array.cast_exact::<PyUntypedArray>().is_ok() {
        return Ok((array.clone(), None));
    }
    let module = array.py().import(intern!(array.py(), "ferrosz._masked"))?;
    module.call_method1("unmasked", (array,))?.extract()
}
