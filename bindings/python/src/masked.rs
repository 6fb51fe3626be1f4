//! Masked arrays of NumPy.

use numpy::PyUntypedArray;
use pyo3::intern;
use pyo3::prelude::*;

/// An array with the fill value in the place of elements that are masked, and the values of a stream
/// that stand for it; other arrays as they are.
///
/// # Errors
///
/// `ArgumentError` if the fill value is none of the type, or that of an element that is not masked.
pub fn split<'py>(array: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Vec<f64>)> {
    if array.cast_exact::<PyUntypedArray>().is_ok() {
        return Ok((array.clone(), Vec::new()));
    }
    let module = array.py().import(intern!(array.py(), "ferrosz._masked"))?;
    module
        .call_method1("unmasked_with_fills", (array,))?
        .extract()
}
