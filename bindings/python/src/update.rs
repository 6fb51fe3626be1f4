//! `update` and `update_in_place` replace a part of the array of a stream. `compact` removes the replaced chunks.

use crate::array_in::Field;
use crate::decompressor::is_host_buffer;
use crate::device;
use crate::dtype::NumberType;
use crate::error::{argument, raised, raised_of_place};
use crate::part::IndexedBox;
use crate::pool;
use crate::stream::{Bytes, Stream};
use ferrosz::codec::with_value;
use ferrosz::stream::{ReadAt, StreamAt, Update};
use ferrosz::{Error, Info, Part};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PySlice};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Replaces a box of the array of a stream by other values; returns the new stream. Only the chunks of the box are decoded and
/// coded again, within the absolute error of the stream, and are appended: so a stream grows with each update. Codecs of tiles
/// have no updates; the preset `"fast"` takes none of them.
///
/// stream
///     The stream, which stays as it is: a `Stream`, `bytes` or any other buffer, or an array in the memory of a GPU. For the
///     latter the result is a `DeviceArray`. Only the chunks of the box travel to the CPU, which codes them.
/// values
///     An array with the element type of the stream and the shape of the box; for a stream on a GPU also one on that GPU.
/// box
///     An index as `decompress` takes it.
/// cuda_stream
///     As that of `compress`.
///
/// Raises `ArgumentError`, `UnsupportedType`, `DamagedStream`, `DeviceError` and `OutOfMemory`.
///
/// >>> stream = ferrosz.compress(np.zeros((300, 400), "float32"), abs=1e-3, preset="fast")
/// >>> stream = ferrosz.update(stream, np.ones((2, 400), "float32"), box=np.s_[7:9])
/// >>> float(abs(ferrosz.decompress(stream, box=np.s_[6:10]).sum(axis=1) - [0, 400, 400, 0]).max()) < 0.5
/// True
/// >>> stream.info.update_bytes > 0
/// True
#[pyfunction]
#[pyo3(signature = (stream, values, *, r#box, cuda_stream=None))]
pub fn update<'py>(
    stream: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    r#box: &Bound<'py, PyAny>,
    cuda_stream: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = stream.py();
    if !is_host_buffer(stream) && device::is_on_gpu(stream) {
        let updated = device::update(stream, values, r#box, cuda_stream)?;
        return Ok(Bound::new(py, updated)?.into_any());
    }
    let bytes = Bytes::new(stream)?;
    let update = on_host(bytes.as_slice(), values, r#box)?;
    let mut stream = bytes.as_slice().to_vec();
    update.apply(&mut stream);
    Ok(Bound::new(py, Stream::from(stream))?.into_any())
}

/// The stream without the chunks that updates replaced: a new one, with the same array. Nothing is coded again.
///
/// stream
///     A stream as `update` takes it.
/// cuda_stream
///     As that of `compress`.
///
/// Raises `ArgumentError`, `UnsupportedType`, `DamagedStream`, `DeviceError` and `OutOfMemory`.
///
/// >>> stream = ferrosz.compress(np.zeros((300, 400), "float32"), abs=1e-3, preset="fast")
/// >>> updated = ferrosz.update(stream, np.ones((2, 400), "float32"), box=np.s_[7:9])
/// >>> compacted = ferrosz.compact(updated)
/// >>> len(compacted) < len(updated), compacted.info.update_bytes
/// (True, 0)
/// >>> bool((ferrosz.decompress(compacted) == ferrosz.decompress(updated)).all())
/// True
#[pyfunction]
#[pyo3(signature = (stream, *, cuda_stream=None))]
pub fn compact<'py>(
    stream: &Bound<'py, PyAny>,
    cuda_stream: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = stream.py();
    if !is_host_buffer(stream) && device::is_on_gpu(stream) {
        return Ok(Bound::new(py, device::compact(stream, cuda_stream)?)?.into_any());
    }
    let bytes = Bytes::new(stream)?;
    let compacted = py.detach(|| ferrosz::stream::compact(bytes.as_slice()));
    let compacted = compacted.map_err(|error| raised(py, &error))?;
    Ok(Bound::new(py, Stream::from(compacted))?.into_any())
}

/// As `update`, but changes a stream where it is: in a `bytearray`, or in a file. Returns the bytes that were appended.
///
/// Whatever interrupts the process, a file has the old stream or the new one. It is locked meanwhile against other updates,
/// also those of the command.
///
/// target
///     A `bytearray`, or the path of a file.
/// values, box
///     As those of `update`.
///
/// Raises the exceptions of `update`, and `OSError`.
///
/// >>> stream = bytearray(ferrosz.compress(np.zeros(1000), abs=1e-3, preset="fast"))
/// >>> length = len(stream)
/// >>> length + ferrosz.update_in_place(stream, [5.0, 6.0], box=np.s_[100:102]) == len(stream)
/// True
/// >>> float(abs(ferrosz.decompress(stream)[99:103] - [0, 5, 6, 0]).max()) <= 1e-3
/// True
#[pyfunction]
#[pyo3(signature = (target, values, *, r#box))]
pub fn update_in_place(
    target: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    r#box: &Bound<'_, PyAny>,
) -> PyResult<usize> {
    let py = target.py();
    if let Ok(array) = target.cast::<PyByteArray>() {
        let update = on_host(Bytes::new(target)?.as_slice(), values, r#box)?;
        apply(array, &update)?;
        return Ok(update.appended.len());
    }
    let path: PathBuf = target.extract().map_err(|cause| {
        let message = format!(
            "target: a {} is neither a bytearray nor the path of a file",
            target.get_type()
        );
        let error = argument(py, message);
        error.set_cause(py, Some(cause));
        error
    })?;
    let mut file = py.detach(|| locked(&path))?;
    let update = on_host(&file, values, r#box)?;
    py.detach(|| update.apply_to_file(&mut file))?;
    Ok(update.appended.len())
}

/// The update of a stream in memory or in a file that replaces a box by an array.
fn on_host<R: ReadAt + Send>(
    place: R,
    values: &Bound<'_, PyAny>,
    index: &Bound<'_, PyAny>,
) -> PyResult<Update> {
    let opened = values.py().detach(|| {
        let mut stream = StreamAt::open(place)?;
        stream.check_end()?;
        Ok(stream)
    });
    made(opened, &Field::new(values)?, index, raised_of_place)
}

/// The update of a stream that replaces a box by a field. `fault` makes exceptions of errors.
///
/// # Errors
///
/// `ArgumentError` if the box is not of the stream or the field not of the box, and `fault`.
pub fn made<R: ReadAt + Send>(
    opened: Result<StreamAt<R>, Error>,
    field: &Field,
    index: &Bound<'_, PyAny>,
    fault: fn(Python<'_>, &Error) -> PyErr,
) -> PyResult<Update> {
    let py = index.py();
    let found = opened.and_then(|mut stream| {
        let info = py.detach(|| stream.info())?;
        Ok((stream, info))
    });
    let (mut stream, info) = found.map_err(|error| fault(py, &error))?;
    let wanted = IndexedBox::new(index, info.number_extents())?;
    check(py, field, &info, &wanted)?;
    let part = NumberType::of(&info).part_of_values(Part::Box(wanted.ranges));
    let update = py.detach(|| {
        pool::run(|| with_value!(info.dtype, V => stream.update(&part, field.values::<V>())))
    })?;
    update.map_err(|error| fault(py, &error))
}

/// Checks that an array can replace a box.
fn check(py: Python<'_>, field: &Field, info: &Info, wanted: &IndexedBox) -> PyResult<()> {
    let number_type = NumberType::of(info);
    if field.number_type() == number_type && field.shape() == wanted.shape {
        return Ok(());
    }
    let message = format!(
        "values: they have the shape {:?} of {}, and the box {:?} of {}",
        field.shape(),
        field.number_type(),
        wanted.shape,
        number_type
    );
    Err(argument(py, message))
}

/// Changes the stream in a `bytearray`.
fn apply(array: &Bound<'_, PyByteArray>, update: &Update) -> PyResult<()> {
    let py = array.py();
    let place = |start: isize, stop: isize| PySlice::new(py, start, stop, 1);
    let at = isize::try_from(update.append_at)?;
    array.set_item(place(at, isize::MAX), PyBytes::new(py, &update.appended))?;
    let header = PyBytes::new(py, &update.header);
    array.set_item(place(0, update.header.len() as isize), header)
}

/// A file that is locked against other updates.
fn locked(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    match file.lock() {
        // Some file systems have no locks.
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    }
}
