//! Files of Python: objects with `write`, `flush` and `read`.

use crate::error::{argument, raised};
use crate::stream::Bytes;
use ferrosz::Error;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A file whose calls are methods of an object of Python. Each takes the lock of the interpreter while it runs.
#[derive(Clone)]
pub struct PyFile {
    object: Arc<Py<PyAny>>,
    exception: Arc<FileException>,
}

/// The first exception of a method of a file.
#[derive(Default)]
pub struct FileException(Mutex<Option<PyErr>>);

impl FileException {
    /// The exception that stands for an error of the library: that of a method, if one has raised.
    pub fn raised(&self, py: Python<'_>, error: &Error) -> PyErr {
        let exception = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        exception.unwrap_or_else(|| raised(py, error))
    }
}

impl PyFile {
    /// The file of a Python object, and the place of the exception that its methods raise.
    pub fn new(object: &Bound<'_, PyAny>) -> (Self, Arc<FileException>) {
        let exception = Arc::<FileException>::default();
        let file = Self {
            object: Arc::new(object.clone().unbind()),
            exception: exception.clone(),
        };
        (file, exception)
    }

    /// Calls a method. Its exception is kept, and becomes an error.
    fn call<R>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> io::Result<R> {
        Python::attach(|py| {
            call(self.object.bind(py)).map_err(|exception| {
                let reason = exception.to_string();
                let mut first = (self.exception.0.lock()).unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(exception);
                io::Error::other(reason)
            })
        })
    }
}

impl Write for PyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.call(|file| {
            let py = file.py();
            let written = file.call_method1(intern!(py, "write"), (PyBytes::new(py, bytes),))?;
            // Files that write all, or nothing, may say nothing.
            match written.is_none() {
                true => Ok(bytes.len()),
                false => Ok(written.extract::<usize>()?.min(bytes.len())),
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call(|file| {
            let flush = file.getattr_opt(intern!(file.py(), "flush"))?;
            flush.map_or(Ok(()), |flush| flush.call0().map(drop))
        })
    }
}

impl Read for PyFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.call(|file| {
            let found = file.call_method1(intern!(file.py(), "read"), (buffer.len(),))?;
            let bytes = Bytes::new(&found)?;
            let bytes = bytes.as_slice();
            let place = buffer.get_mut(..bytes.len()).ok_or_else(|| {
                let reason = "file: read() returns more bytes than it is asked for";
                argument(file.py(), reason)
            })?;
            place.copy_from_slice(bytes);
            Ok(bytes.len())
        })
    }
}
