//! `info`: properties of a stream, from its header and its chunk table.

use crate::dtype::numpy_name;
use crate::error::raised;
use crate::stream::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The properties of a stream, as its header and its chunk table have them.
#[pyclass(frozen, get_all, module = "ferrosz")]
pub struct Info {
    /// NumPy's name of the element type.
    dtype: &'static str,
    /// The shape of the array.
    shape: Py<PyTuple>,
    /// The codec.
    codec: &'static str,
    /// Dimensions of a block or tile.
    rank: u8,
    /// The role of each axis, such as `"z,y,x"`.
    axes: String,
    /// The kind of bound: `"abs"`, `"range"`, `"max"` or `"pwrel"`.
    mode: &'static str,
    /// The bound as it was given.
    bound: f64,
    /// The absolute error that follows from the bound; 0 is lossless. It is infinite with a bound relative to each value.
    absolute_error: f64,
    /// Whether every value comes back bit for bit.
    lossless: bool,
    /// The fill values of the mask; with some of them, NaN is among them.
    fill: Vec<f64>,
    /// Whether a mask keeps the signs of all values.
    keep_sign: bool,
    /// Whether a mask keeps zeros.
    keep_zero: bool,
    /// Number of chunks, the unit that is read and checked alone.
    chunks: u64,
    /// The shape of a full chunk, or of one of its tiles, in the dimensions longer than 1.
    chunk_shape: Py<PyTuple>,
    /// Tiles of a full chunk; none for codecs of blocks.
    chunk_tiles: Option<u32>,
    /// Number of elements.
    size: u64,
    /// Bytes of the array.
    array_bytes: u64,
    /// Bytes of the stream.
    stream_bytes: u64,
    /// Bytes of the mask.
    mask_bytes: u64,
    /// Bytes of updates.
    update_bytes: u64,
}

impl Info {
    /// The properties of a stream, whose payload may be missing.
    ///
    /// # Errors
    ///
    /// `DamagedStream`.
    pub fn of(py: Python<'_>, stream: &[u8]) -> PyResult<Self> {
        let info = ferrosz::info(stream).map_err(|error| raised(py, &error))?;
        Ok(Self {
            dtype: numpy_name(info.dtype),
            shape: PyTuple::new(py, &info.extents)?.unbind(),
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
            chunk_shape: PyTuple::new(py, &info.chunk_extents)?.unbind(),
            chunk_tiles: info.chunk_tiles,
            size: info.elements,
            array_bytes: info.field_bytes,
            stream_bytes: info.stream_bytes,
            mask_bytes: info.mask_bytes,
            update_bytes: info.update_bytes,
            fill: info.fills,
        })
    }

    /// The most important properties in a line.
    pub fn line(&self) -> String {
        format!(
            "{} {}; {}; {} = {:e}; {} bytes, ratio {:.2}",
            self.shape,
            self.dtype,
            self.codec,
            self.mode,
            self.bound,
            self.stream_bytes,
            self.ratio()
        )
    }
}

#[pymethods]
impl Info {
    /// Bytes of the array over bytes of the stream.
    #[getter]
    fn ratio(&self) -> f64 {
        self.array_bytes as f64 / self.stream_bytes as f64
    }

    /// Bits of the stream for each element.
    #[getter]
    fn bits_per_value(&self) -> f64 {
        8.0 * self.stream_bytes as f64 / self.size as f64
    }

    fn __repr__(&self) -> String {
        format!(
            "<ferrosz.Info: {}; absolute error {:.4e}>",
            self.line(),
            self.absolute_error
        )
    }
}

/// Reads the header and the chunk table of a stream, without decoding. The payload may be missing.
///
/// >>> info = ferrosz.info(ferrosz.compress(np.ones((20, 30), "float32"), range=1e-3))
/// >>> info.shape, info.dtype, info.mode, info.bound
/// ((20, 30), 'float32', 'range', 0.001)
#[pyfunction]
pub fn info(stream: &Bound<'_, PyAny>) -> PyResult<Info> {
    Info::of(stream.py(), Bytes::new(stream)?.as_slice())
}
