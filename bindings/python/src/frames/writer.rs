//! `FrameWriter`: frames are compressed as they come.

use crate::array_in::Field;
use crate::compressor::Compressor;
use crate::dtype::NumberType;
use crate::error::argument;
use crate::frames::file::{FileException, PyFile};
use crate::options::{Aim, Options};
use crate::pool;
use ferrosz::codec::with_value;
use ferrosz::{Error, Value};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Arc, Mutex, PoisonError};

/// Compresses frames of one type and shape as they come, and writes them: to a file, a pipe, or any object with a method
/// `write`. The bytes are those of `ferrosz compress --frames`. A process that is stopped leaves all whole frames behind.
///
/// file
///     The path of a new file, or an object with `write(bytes)` and perhaps `flush()`, which stays open.
/// compressor
///     The settings, with a bound, not a target. A preset chooses the codec by the first frame, and fill values are found in
///     it; the other frames keep them. A bound relative to the range is one of each frame's own range.
///
/// Raises `ArgumentError`, `UnsupportedType`, `OutOfMemory`, and the exceptions of the file's methods.
///
/// >>> with ferrosz.frames.FrameWriter(folder / "run.fsf", ferrosz.Compressor(abs=0.5)) as writer:
/// ...     for number in range(20):
/// ...         writer.write(np.full((30, 40), number, "uint16"))
/// >>> writer.frames
/// 20
#[pyclass(frozen, module = "ferrosz.frames")]
pub struct FrameWriter {
    state: Mutex<WriterState>,
    exception: Arc<FileException>,
    /// The file, if it is closed with the writer.
    own: Option<Py<PyAny>>,
}

/// How far a writer is.
enum WriterState {
    /// The type and the shape of the frames are not known.
    Begun(Begun),
    /// They are those of the first frame.
    Typed(Box<dyn Typed>),
    /// It is closed, and has written so many frames.
    Closed(u64),
}

/// A writer before its first frame: its file, and its options.
struct Begun {
    file: PyFile,
    options: Arc<Options>,
}

impl Begun {
    /// The writer of frames of the type and shape of the first one.
    fn typed<V: Value>(&self, first: &Field) -> Result<Box<dyn Typed>, WriteFault> {
        let (values, shape) = (first.values::<V>(), first.extents());
        let number_type = first.number_type();
        if values.is_empty() {
            let reason = "frame: frames without values never end";
            return Err(WriteFault::Argument(reason.to_owned()));
        }
        let compressor = self
            .options
            .compressor_for(values, &shape, number_type.is_complex)?;
        // A choice that fails leaves the file as it is.
        let compressor = compressor.choose(values)?;
        let writer = ferrosz::frames::FrameWriter::new(compressor, &shape, self.file.clone())?;
        Ok(Box::new(TypedWriter::<V> {
            writer,
            number_type,
            shape: first.shape().to_vec(),
        }))
    }

    /// Writes a file without frames.
    fn finish(&self) -> Result<(), Error> {
        // Such a file has neither type nor shape.
        let file = self.file.clone();
        ferrosz::frames::FrameWriter::<f32, _>::new(self.options.compressor, &[1], file)?
            .finish()?;
        Ok(())
    }
}

/// A writer of frames of one type.
trait Typed: Send {
    fn write(&mut self, frames: &[Field]) -> Result<(), Error>;
    fn kind(&self) -> (NumberType, &[u64]);
    fn frames(&self) -> u64;
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

/// The writer of frames whose values are of type `V`, their numbers and their shape.
struct TypedWriter<V> {
    writer: ferrosz::frames::FrameWriter<V, PyFile>,
    number_type: NumberType,
    shape: Vec<u64>,
}

impl<V: Value> Typed for TypedWriter<V> {
    fn write(&mut self, frames: &[Field]) -> Result<(), Error> {
        let frames: Vec<&[V]> = frames.iter().map(Field::values).collect();
        self.writer.write_all(&frames)
    }

    fn kind(&self) -> (NumberType, &[u64]) {
        (self.number_type, &self.shape)
    }

    fn frames(&self) -> u64 {
        self.writer.frames()
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        self.writer.finish().map(drop)
    }
}

/// Why frames are not written.
enum WriteFault {
    Argument(String),
    Library(Error),
}

impl From<Error> for WriteFault {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl WriterState {
    /// Writes frames. The first one decides the type and the shape of all.
    fn write(&mut self, frames: &[Field]) -> Result<(), WriteFault> {
        let Some(first) = frames.first() else {
            return Ok(());
        };
        if let Self::Begun(begun) = self {
            let typed = with_value!(first.value_type(), V => begun.typed::<V>(first)?);
            *self = Self::Typed(typed);
        }
        let Self::Typed(writer) = self else {
            return Err(WriteFault::Argument("the writer is closed".to_owned()));
        };
        let (number_type, shape) = writer.kind();
        let is_other =
            |frame: &&Field| (frame.number_type(), frame.shape()) != (number_type, shape);
        if let Some(other) = frames.iter().find(is_other) {
            return Err(WriteFault::Argument(format!(
                "frame: it has the shape {:?} of {}, and the frames before {shape:?} of {number_type}",
                other.shape(),
                other.number_type()
            )));
        }
        Ok(writer.write(frames)?)
    }

    /// Writes the end, unless it is there.
    fn close(&mut self) -> Result<(), Error> {
        match std::mem::replace(self, Self::Closed(self.frames())) {
            Self::Begun(begun) => begun.finish(),
            Self::Typed(writer) => writer.finish(),
            Self::Closed(_) => Ok(()),
        }
    }

    fn frames(&self) -> u64 {
        match self {
            Self::Begun(_) => 0,
            Self::Typed(writer) => writer.frames(),
            Self::Closed(frames) => *frames,
        }
    }
}

#[pymethods]
impl FrameWriter {
    #[new]
    fn new(file: &Bound<'_, PyAny>, compressor: &Bound<'_, Compressor>) -> PyResult<Self> {
        let py = file.py();
        let options = compressor.get().options().clone();
        if let Aim::Target(target) = options.aim {
            let kind = target.kind();
            let message = format!(
                "compressor: {kind} is searched for in a whole array, which frames without end are not; give a bound"
            );
            return Err(argument(py, message));
        }
        let own = match file.hasattr(intern!(py, "write"))? {
            true => None,
            false => {
                let open = py.import(intern!(py, "io"))?.getattr(intern!(py, "open"))?;
                Some(open.call1((file, "wb"))?)
            }
        };
        let (file, exception) = PyFile::new(own.as_ref().unwrap_or(file));
        Ok(Self {
            state: Mutex::new(WriterState::Begun(Begun { file, options })),
            exception,
            own: own.map(Bound::unbind),
        })
    }

    /// Compresses a frame, an array, and writes it.
    fn write(&self, frame: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(frame.py(), &[Field::new(frame)?])
    }

    /// Compresses frames, several at the same time if they are small, and writes them in their order. With an error those
    /// before are written.
    fn write_all(&self, frames: &Bound<'_, PyAny>) -> PyResult<()> {
        let fields = frames.try_iter()?.map(|frame| Field::new(&frame?));
        self.put(frames.py(), &fields.collect::<PyResult<Vec<_>>>()?)
    }

    /// Writes the index and the end; closes the file if the writer was given its path. Does nothing if it was called before.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let ended = self.locked(py, WriterState::close);
        let closed = self.own.as_ref().map(|file| file.call_method0(py, "close"));
        ended.map_err(|error| self.exception.raised(py, &error))?;
        closed.transpose().map(drop)
    }

    /// The number of frames that were written.
    #[getter]
    fn frames(&self, py: Python<'_>) -> u64 {
        self.locked(py, |state| state.frames())
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// Closes the writer, also behind an error: the frames before it are whole.
    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }
}

impl FrameWriter {
    /// Works on the state without the lock of the interpreter, which the calls of the file take.
    fn locked<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut WriterState) -> R + Send,
    ) -> R {
        let state = &self.state;
        py.detach(|| work(&mut state.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn put(&self, py: Python<'_>, frames: &[Field]) -> PyResult<()> {
        let done = self.locked(py, |state| pool::run(|| state.write(frames)))?;
        done.map_err(|fault| match fault {
            WriteFault::Argument(message) => argument(py, message),
            WriteFault::Library(error) => self.exception.raised(py, &error),
        })
    }
}
