//! `info`: properties of a stream, from its header and its chunk table.

use crate::dtype::NumberType;
use crate::error::raised;
use crate::stream::Bytes;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What `ferrosz.Info` is made of.
#[derive(IntoPyObject)]
struct Fields<'py> {
    dtype: &'static str,
    shape: Bound<'py, PyTuple>,
    codec: &'static str,
    rank: u8,
    axes: String,
    mode: &'static str,
    bound: f64,
    absolute_error: f64,
    lossless: bool,
    fill: Vec<f64>,
    keep_sign: bool,
    keep_zero: bool,
    chunks: u64,
    chunk_shape: Bound<'py, PyTuple>,
    chunk_tiles: Option<u32>,
    levels_apart: u8,
    coefficient_error: Option<f64>,
    size: u64,
    array_bytes: u64,
    stream_bytes: u64,
    mask_bytes: u64,
    update_bytes: u64,
    safeguards: Vec<String>,
    section_bytes: u64,
}

/// The properties of a stream, whose payload may be missing: a `ferrosz.Info`.
///
/// # Errors
///
/// `DamagedStream`.
pub fn info_of<'py>(py: Python<'py>, stream: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let info = ferrosz::info(stream).map_err(|error| raised(py, &error))?;
    let number_type = NumberType::of(&info);
    let fields = Fields {
        dtype: number_type.name(),
        shape: PyTuple::new(py, info.number_extents())?,
        codec: info.codec.name(),
        rank: info.rank,
        axes: info.axes.to_string(),
        mode: info.bound.mode().name(),
        bound: info.bound.value(),
        absolute_error: info.absolute_error,
        lossless: info.is_lossless(),
        keep_sign: info.keeps_signs,
        keep_zero: info.keeps_zeros,
        chunks: info.chunks,
        chunk_shape: PyTuple::new(py, &info.chunk_extents)?,
        chunk_tiles: info.chunk_tiles,
        levels_apart: info.levels_apart,
        coefficient_error: info.coefficient_error,
        size: info.elements / number_type.parts(),
        array_bytes: info.field_bytes,
        stream_bytes: info.stream_bytes,
        mask_bytes: info.mask_bytes,
        update_bytes: info.update_bytes,
        safeguards: (info.safeguards.iter().map(ToString::to_string))
            .chain(info.has_bounds_of_values.then(|| "abs-field".to_owned()))
            .collect(),
        section_bytes: info.section_bytes,
        fill: info.fills,
    };
    let class = py.import(intern!(py, "ferrosz._info"))?.getattr("Info")?;
    class.call((), Some(&fields.into_pyobject(py)?))
}

/// Reads the header and the chunk table of a stream, without decoding. The payload may be missing.
///
/// >>> info = ferrosz.info(ferrosz.compress(np.ones((20, 30), "float32"), range=1e-3))
/// >>> info.shape, info.dtype, info.mode, info.bound
/// ((20, 30), 'float32', 'range', 0.001)
#[pyfunction]
pub fn info<'py>(stream: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    info_of(stream.py(), Bytes::new(stream)?.as_slice())
}
