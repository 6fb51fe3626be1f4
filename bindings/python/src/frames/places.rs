//! `Frames`: any frame of a file.

use crate::decompressor::{Source, Wanted, of_device};
use crate::dtype::NumberType;
use crate::error::raised;
use crate::stream::{Bytes, Stream};
use ferrosz::frames::FramesEnd;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

/// The frames of a file, as a sequence of arrays. An index decodes one frame.
///
/// file
///     The path of a file, which is mapped, or a buffer of bytes.
/// device
///     As that of `decompress`.
///
/// A file whose writer was stopped has all frames that were whole. A damaged frame costs itself alone: `frames[k]` raises
/// `DamagedStream`, and other frames are read.
///
/// Raises `DamagedStream` if the file does not begin as one of frames, and `OSError`.
///
/// >>> file = folder / "run.fsf"
/// >>> with ferrosz.frames.FrameWriter(file, ferrosz.Compressor(abs=0.5)) as writer:
/// ...     for number in range(20):
/// ...         writer.write(np.full((3, 4), number, "uint16"))
/// >>> frames = ferrosz.frames.Frames(file)
/// >>> len(frames), frames[17][2, 3], frames[-1].shape, frames.end
/// (20, np.uint16(17), (3, 4), 'indexed')
#[pyclass(frozen, sequence, module = "ferrosz.frames")]
pub struct Frames {
    frames: ferrosz::frames::Frames<Bytes>,
    device: String,
}

#[pymethods]
impl Frames {
    #[new]
    #[pyo3(signature = (file, *, device="auto"))]
    fn new(file: &Bound<'_, PyAny>, device: &str) -> PyResult<Self> {
        let py = file.py();
        of_device(py, device)?;
        let mapped = py
            .import("ferrosz._mapped")?
            .call_method1("mapped", (file,))?;
        let bytes = Bytes::new(&mapped)?;
        let frames = py.detach(|| ferrosz::frames::Frames::open(bytes));
        Ok(Self {
            frames: frames.map_err(|error| raised(py, &error))?,
            device: device.to_owned(),
        })
    }

    /// How the file ends: `"indexed"`, with the end that a writer makes; `"bad_index"`, with this end, but an index is
    /// damaged; or `"stopped"`, without an end, as its writer was stopped or still writes.
    #[getter]
    fn end(&self) -> &'static str {
        match self.frames.end() {
            FramesEnd::Indexed => "indexed",
            FramesEnd::BadIndex => "bad_index",
            FramesEnd::Stopped { .. } => "stopped",
        }
    }

    fn __len__(&self) -> usize {
        self.frames.len() as usize
    }

    /// The array of a frame; negative numbers count from the last one.
    fn __getitem__<'py>(&self, py: Python<'py>, number: isize) -> PyResult<Bound<'py, PyAny>> {
        let stream = Bound::new(py, self.stream(py, number)?)?;
        let bytes = Bytes::new(&stream)?;
        let info = ferrosz::info(bytes.as_slice()).map_err(|error| raised(py, &error))?;
        let wanted = Wanted {
            decompressor: of_device(py, &self.device)?,
            threads: None,
            source: Source::Buffer(bytes),
            part: None,
            level: 0,
        };
        wanted.decompress(py, NumberType::of(&info), info.number_extents(), None, None)
    }

    /// A copy of the stream of a frame, for `decompress`, `info` and `verify`.
    fn stream(&self, py: Python<'_>, number: isize) -> PyResult<Stream> {
        let count = self.frames.len();
        let found = match number < 0 {
            true => count.checked_sub(number.unsigned_abs() as u64),
            false => Some(number.unsigned_abs() as u64).filter(|number| *number < count),
        };
        let found = found.ok_or_else(|| {
            PyIndexError::new_err(format!("there is no frame {number}, only {count} frames"))
        })?;
        let stream = self.frames.stream(found);
        let stream = stream.map_err(|error| raised(py, &error))?;
        Ok(Stream::from(stream.to_vec()))
    }
}
