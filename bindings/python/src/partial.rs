//! `PartialStream`: streams that are read range by range.

use crate::decompressor::{Source, Wanted, of_device};
use crate::dtype::NumberType;
use crate::error::raised;
use crate::part::IndexedBox;
use crate::stream::Bytes;
use ferrosz::{Error, Part};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Arc, PoisonError, RwLock};

/// A stream of which only some bytes are known, such as a file on a server. It names the bytes that a box of the array
/// needs: rows of the chunk table, then chunks. All that was put in stays known, for the next box.
///
/// >>> array = np.sin(np.arange(1000000, dtype="float32") / 1000).reshape(1000, 1000)
/// >>> file = bytes(ferrosz.compress(array, abs=1e-3, codec="plain"))
/// >>> stream = ferrosz.PartialStream(file[:ferrosz.PartialStream.FIRST_BYTES])
/// >>> while missing := stream.missing(np.s_[900:910, :20]):
/// ...     for start, stop in missing:
/// ...         stream.put(start, file[start:stop])
/// >>> stream.decompress(np.s_[900:910, :20]).shape
/// (10, 20)
#[pyclass(frozen, module = "ferrosz")]
pub struct PartialStream {
    /// Threads decode at the same time.
    stream: Arc<RwLock<ferrosz::stream::PartialStream>>,
    /// Of the array of numbers.
    extents: Vec<u64>,
    number_type: NumberType,
}

#[pymethods]
impl PartialStream {
    /// The number of bytes to begin with.
    #[classattr]
    const FIRST_BYTES: usize = ferrosz::stream::PartialStream::FIRST_BYTES;

    /// A stream that begins with these bytes: `FIRST_BYTES` of them, or all of a shorter stream.
    #[new]
    fn new(first: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = Bytes::new(first)?;
        let stream = ferrosz::stream::PartialStream::new(bytes.as_slice());
        let stream = stream.map_err(|error| raised(first.py(), &error))?;
        let mut extents = stream.extents();
        if stream.is_complex() {
            extents.pop();
        }
        Ok(Self {
            extents,
            number_type: NumberType {
                values: stream.dtype(),
                is_complex: stream.is_complex(),
            },
            stream: Arc::new(RwLock::new(stream)),
        })
    }

    /// The shape of the array.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.extents)
    }

    /// The bytes to put in, as pairs of start and stop, before a level of a box can be decompressed, or more of its needs
    /// be told; none if all are known.
    #[pyo3(signature = (r#box, *, level=0))]
    fn missing(&self, r#box: &Bound<'_, PyAny>, level: u32) -> PyResult<Vec<(u64, u64)>> {
        let part = Part::Box(IndexedBox::of_level(r#box, &self.extents, level)?.ranges);
        let part = self.number_type.part_of_values(part);
        let stream = &self.stream;
        let missing = r#box.py().detach(|| -> Result<_, Error> {
            let stream = stream.read().unwrap_or_else(PoisonError::into_inner);
            match &part {
                Part::Box(ranges) if level > 0 => stream.missing_of_level(level, Some(ranges)),
                part => stream.missing(part),
            }
        });
        let missing = missing.map_err(|error| raised(r#box.py(), &error))?;
        Ok(missing
            .into_iter()
            .map(|range| (range.start, range.end))
            .collect())
    }

    /// Puts in the bytes from number `start` on.
    fn put(&self, start: u64, bytes: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, bytes) = (bytes.py(), Bytes::new(bytes)?);
        let put = py.detach(|| {
            let mut stream = self.stream.write().unwrap_or_else(PoisonError::into_inner);
            stream.put(start, bytes.as_slice())
        });
        put.map_err(|error| raised(py, &error))
    }

    /// Decompresses a box of the array, as the function `decompress` does.
    #[pyo3(signature = (r#box, *, level=0, out=None, device="auto"))]
    fn decompress<'py>(
        &self,
        r#box: &Bound<'py, PyAny>,
        level: u32,
        out: Option<&Bound<'py, PyAny>>,
        device: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = r#box.py();
        let part = IndexedBox::of_level(r#box, &self.extents, level)?;
        let wanted = Wanted {
            decompressor: of_device(py, device)?,
            threads: None,
            source: Source::Partial(self.stream.clone()),
            part: Some(Part::Box(part.ranges)),
            level,
        };
        wanted.decompress(py, self.number_type, &part.shape, out, None)
    }
}
