//! Streams: those that are made, and the buffers of the caller that are read.

use crate::error::{UNSUPPORTED_TYPE, argument, raised, typed};
use crate::info::info_of;
use pyo3::basic::CompareOp;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::ffi::c_int;

/// A compressed array. It is a buffer of bytes, as `bytes` is: write it to a file, send it, or give it to `decompress`.
///
/// >>> stream = ferrosz.compress(np.zeros((30, 40), "float32"), abs=0.1)
/// >>> len(stream) == len(bytes(stream)) == memoryview(stream).nbytes
/// True
/// >>> stream.info.shape
/// (30, 40)
/// >>> stream == bytes(stream)
/// True
#[pyclass(frozen, module = "ferrosz", weakref)]
pub struct Stream {
    bytes: Vec<u8>,
}

impl From<Vec<u8>> for Stream {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }
}

#[pymethods]
impl Stream {
    /// A copy of the bytes of a stream, such as one that was read from a file.
    #[new]
    fn new(stream: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = Bytes::new(stream)?.as_slice().to_vec();
        ferrosz::info(&bytes).map_err(|error| raised(stream.py(), &error))?;
        Ok(Self { bytes })
    }

    /// Shape, element type, codec, bound and sizes.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        info_of(py, &self.bytes)
    }

    fn __len__(&self) -> usize {
        self.bytes.len()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    fn __richcmp__(
        &self,
        other: &Bound<'_, PyAny>,
        operator: CompareOp,
        py: Python<'_>,
    ) -> PyResult<Py<PyAny>> {
        let is_equal = Bytes::new(other).map(|other| self.bytes == other.as_slice());
        match (operator, is_equal) {
            (CompareOp::Eq, Ok(is_equal)) => {
                Ok(is_equal.into_pyobject(py)?.to_owned().into_any().unbind())
            }
            (CompareOp::Ne, Ok(is_equal)) => Ok((!is_equal)
                .into_pyobject(py)?
                .to_owned()
                .into_any()
                .unbind()),
            _ => Ok(py.NotImplemented()),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyBytes::new(py, &self.bytes).hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<ferrosz.Stream: {}>", self.info(py)?.str()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let bytes = PyBytes::new(py, &slf.get().bytes);
        (slf.get_type(), (bytes,)).into_pyobject(py)
    }

    /// Gives the bytes to a consumer of buffers, without a copy.
    ///
    /// # Safety
    ///
    /// `view` must be valid, as the protocol of buffers has it.
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let bytes = &slf.get().bytes;
        let start = bytes.as_ptr().cast_mut().cast();
        // SAFETY: the bytes are never changed, and live as long as the object, which the view holds; it is read-only.
        let status = unsafe {
            ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, bytes.len() as isize, 1, flags)
        };
        match status {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}

/// The bytes of a buffer of the caller, which are not copied.
///
/// Python code can write to some buffers while they are read here. Checksums find that, as they find other damage.
pub struct Bytes(PyUntypedBuffer);

impl Bytes {
    /// The bytes of `bytes`, a memory view, a memory map, a NumPy array, or any other buffer without gaps.
    ///
    /// # Errors
    ///
    /// `UnsupportedType` if it is no buffer; `ArgumentError` if it has gaps.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let buffer = PyUntypedBuffer::get(object).map_err(|cause| {
            let message = format!("stream: a {} is not a buffer of bytes", object.get_type());
            let error = typed(py, UNSUPPORTED_TYPE, message);
            error.set_cause(py, Some(cause));
            error
        })?;
        match buffer.is_c_contiguous() {
            true => Ok(Self(buffer)),
            false => Err(argument(
                py,
                "stream: the bytes of the buffer are not in one piece",
            )),
        }
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        if self.0.len_bytes() == 0 {
            return &[];
        }
        // SAFETY: the buffer has so many bytes in one piece, and keeps its memory.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast(), self.0.len_bytes()) }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}
