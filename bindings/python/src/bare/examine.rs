//! `bare_check` and `bare_outline`: the length of a stream without header, its sections, and the forms of its blocks.

use super::{Kind, OfArray};
use crate::error::raised_bare;
use crate::stream::Bytes;
use ferrosz::codec::with_element;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Checks that the bytes are a whole stream with these parameters, and nothing else.
#[pyfunction]
pub fn bare_check(stream: &Bound<'_, PyAny>, parameters: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = stream.py();
    let bytes = Bytes::new(stream)?;
    let kind = Kind::of(py, &parameters.extract()?)?;
    let array = OfArray::new(parameters)?;
    with_element!(array.dtype, E => {
        let bare = array.bare::<E>(py, kind)?;
        py.detach(|| bare.check(bytes.as_slice())).map_err(|error| raised_bare(py, &error))
    })
}

/// The sections and the forms of the blocks of a stream: a `ferrosz.bare.Outline`.
#[pyfunction]
pub fn bare_outline<'py>(
    stream: &Bound<'py, PyAny>,
    parameters: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = stream.py();
    let bytes = Bytes::new(stream)?;
    let kind = Kind::of(py, &parameters.extract()?)?;
    let array = OfArray::new(parameters)?;
    let outline = with_element!(array.dtype, E => {
        let bare = array.bare::<E>(py, kind)?;
        py.detach(|| bare.outline(bytes.as_slice()))
    });
    let outline = outline.map_err(|error| raised_bare(py, &error))?;
    let rates = PyDict::new(py);
    for rate in &outline.rates {
        rates.set_item(rate.byte, (rate.body_bytes, rate.blocks))?;
    }
    let fields = PyDict::new(py);
    fields.set_item("rate_bytes", outline.rate_bytes)?;
    fields.set_item("between_bytes", outline.between_bytes)?;
    fields.set_item("body_bytes", outline.body_bytes)?;
    fields.set_item("found_bytes", outline.found_bytes)?;
    fields.set_item("rates", rates)?;
    let module = py.import(intern!(py, "ferrosz.bare"))?;
    module.getattr("Outline")?.call((), Some(&fields))
}
