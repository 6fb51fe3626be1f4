//! `FrameReader`: the frames of a pipe.

use crate::frames::file::{FileException, PyFile};
use crate::stream::Stream;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The streams of the frames of a file object, such as a pipe or a socket, in their order and as they come. Behind an error
/// there are no more. `Frames` finds any frame of a file.
///
/// file
///     An object whose method `read(count)` returns bytes, none at the end.
///
/// Raises `DamagedStream` if the file does not begin as one of frames, or is damaged or cut off, and the exceptions of `read`.
///
/// >>> import io
/// >>> file = io.BytesIO()
/// >>> with ferrosz.frames.FrameWriter(file, ferrosz.Compressor(abs=0.5)) as writer:
/// ...     writer.write(np.arange(12, dtype="uint16").reshape(3, 4))
/// >>> _ = file.seek(0)
/// >>> [ferrosz.decompress(stream).shape for stream in ferrosz.frames.FrameReader(file)]
/// [(3, 4)]
#[pyclass(frozen, module = "ferrosz.frames")]
pub struct FrameReader {
    reader: Mutex<ferrosz::frames::FrameReader<PyFile>>,
    exception: Arc<FileException>,
}

#[pymethods]
impl FrameReader {
    #[new]
    fn new(file: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = file.py();
        let (file, exception) = PyFile::new(file);
        let reader = py.detach(|| ferrosz::frames::FrameReader::new(file));
        let reader = reader.map_err(|error| exception.raised(py, &error))?;
        Ok(Self {
            reader: Mutex::new(reader),
            exception,
        })
    }

    /// Whether the end was read that a writer makes. Without it the writer was stopped.
    #[getter]
    fn has_ended(&self, py: Python<'_>) -> bool {
        let reader = &self.reader;
        py.detach(|| {
            reader
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .has_ended()
        })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Stream>> {
        let reader = &self.reader;
        let next = py.detach(|| reader.lock().unwrap_or_else(PoisonError::into_inner).next());
        let stream = next.transpose();
        let stream = stream.map_err(|error| self.exception.raised(py, &error))?;
        Ok(stream.map(Stream::from))
    }
}
