//! Groups of Python: objects with the attributes and methods of `ferrosz.Group`.

use crate::error::raised;
use crate::stream::Bytes;
use ferrosz::Error;
use ferrosz::parts::{Group, Message, Piece};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::sync::{Mutex, PoisonError};

/// A group whose calls are methods of an object of Python. Each takes the lock of the interpreter while it runs.
pub struct Members {
    object: Py<PyAny>,
    rank: usize,
    size: usize,
    /// The first exception of a method.
    exception: Mutex<Option<PyErr>>,
}

impl Members {
    /// The group that an object is.
    ///
    /// # Errors
    ///
    /// Those of its attributes `rank` and `size`.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            object: object.clone().unbind(),
            rank: object.getattr("rank")?.extract()?,
            size: object.getattr("size")?.extract()?,
            exception: Mutex::default(),
        })
    }

    /// The exception that stands for an error of the library: that of a method, if one has raised.
    pub fn raised(&self, py: Python<'_>, error: &Error) -> PyErr {
        let exception = self.exception.lock();
        let exception = exception.unwrap_or_else(PoisonError::into_inner).take();
        exception.unwrap_or_else(|| raised(py, error))
    }

    /// Calls a method. Its exception is kept, and becomes an error.
    fn call<R>(
        &self,
        action: &'static str,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Result<R, Error> {
        Python::attach(|py| {
            call(self.object.bind(py)).map_err(|exception| {
                let reason = exception.to_string();
                let mut first = self
                    .exception
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(exception);
                Error::Group { action, reason }
            })
        })
    }

    /// Replaces numbers by those that a method makes of them.
    fn replace(
        &self,
        action: &'static str,
        method: &str,
        numbers: &mut [u64],
    ) -> Result<(), Error> {
        let found: Vec<u64> = self.call(action, |group| {
            let own = PyArray1::from_slice(group.py(), numbers);
            group.call_method1(method, (own,))?.extract()
        })?;
        if found.len() != numbers.len() {
            return Err(Error::Group {
                action,
                reason: format!("{} numbers became {}", numbers.len(), found.len()),
            });
        }
        numbers.copy_from_slice(&found);
        Ok(())
    }
}

impl Group for Members {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn max(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.replace("find the largest numbers", "max", numbers)
    }

    fn sum(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.replace("add numbers", "sum", numbers)
    }

    fn sum_before(&self, number: u64) -> Result<u64, Error> {
        self.call("add the numbers of earlier members", |group| {
            group.call_method1("sum_before", (number,))?.extract()
        })
    }

    fn exchange(&self, messages: Vec<Message>) -> Result<Vec<Message>, Error> {
        self.call("exchange messages", |group| {
            let py = group.py();
            let sent = (messages.iter())
                .filter(|message| !message.bytes.is_empty())
                .map(|message| (message.rank, PyBytes::new(py, &message.bytes)));
            let sent = PyList::new(py, sent.collect::<Vec<_>>())?;
            let got = group.call_method1("exchange", (sent,))?;
            let mut messages = Vec::new();
            for message in got.try_iter()? {
                let (rank, bytes): (usize, Bound<'_, PyAny>) = message?.extract()?;
                let bytes = Bytes::new(&bytes)?.as_slice().to_vec();
                messages.push(Message { rank, bytes });
            }
            messages.sort_by_key(|message| message.rank);
            Ok(messages)
        })
    }

    fn write(&self, pieces: &[Piece<'_>]) -> Result<(), Error> {
        self.call("write the stream", |group| {
            let py = group.py();
            let pieces = pieces
                .iter()
                .map(|piece| (piece.start, PyBytes::new(py, piece.bytes)));
            let pieces = PyList::new(py, pieces.collect::<Vec<_>>())?;
            group.call_method1("write", (pieces,))?;
            Ok(())
        })
    }

    fn barrier(&self) -> Result<(), Error> {
        self.call("wait for all members", |group| {
            group.call_method0("barrier")?;
            Ok(())
        })
    }
}
