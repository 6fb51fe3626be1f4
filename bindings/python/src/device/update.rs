//! Updates of streams in the memory of a GPU. The chunks of a box travel to the CPU, which codes them again.

use crate::array_in::Field;
use crate::device::array::{DeviceArray, DeviceMemory};
use crate::device::input::{DeviceInput, is_on_gpu};
use crate::device::memory::Memory;
use crate::device::stream::{CallerStream, failed};
use crate::error::{UNSUPPORTED_TYPE, raised, typed};
use crate::update::made;
use ferrosz::cuda::AtAddress;
use ferrosz::cuda::cudarc::driver::result;
use ferrosz::internals::try_zeroed;
use ferrosz::stream::{ReadAt, StreamAt, Update};
use ferrosz::{Error, FormatError};
use pyo3::prelude::*;
use std::io;
use std::ops::Range;

/// Replaces a box of the array of a stream in the memory of a GPU by an array on the host or on that GPU: the new stream, in
/// memory of its own. Waits for the work on the caller's stream.
///
/// # Errors
///
/// Those of the library, and `ArgumentError` if an array cannot be used.
pub fn update(
    bytes: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    index: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<DeviceArray> {
    let py = bytes.py();
    let (input, caller) = DeviceInput::of_stream(bytes, stream)?;
    let field = match is_on_gpu(values) {
        true => downloaded(values, &caller)?,
        false => Field::new(values)?,
    };
    let opened = py.detach(|| StreamAt::open(OnDevice(&input, &caller)));
    let update = made(opened, &field, index, fault)?;
    let updated = py.detach(|| updated(&input, &caller, &update));
    updated.map_err(|error| fault(py, &error))
}

/// Copies a stream in the memory of a GPU without the chunks that updates replaced. Waits for the work on the caller's stream.
///
/// # Errors
///
/// Those of the library, and `ArgumentError` if the array cannot be used.
pub fn compact(
    bytes: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<DeviceArray> {
    let py = bytes.py();
    let (input, caller) = DeviceInput::of_stream(bytes, stream)?;
    let compacted = py.detach(|| compacted(&input, &caller));
    compacted.map_err(|error| fault(py, &error))
}

/// The exception of an error. The place that cannot be read is a GPU.
fn fault(py: Python<'_>, error: &Error) -> PyErr {
    let of_device = |reason: &String| Error::Cuda {
        action: "read the stream",
        reason: reason.clone(),
    };
    match error {
        Error::Io { reason, .. } => raised(py, &of_device(reason)),
        error => raised(py, error),
    }
}

/// An array of bytes in the memory of a GPU, which is read on the caller's stream.
struct OnDevice<'a>(&'a DeviceInput, &'a CallerStream);

impl ReadAt for OnDevice<'_> {
    fn byte_len(&self) -> io::Result<u64> {
        Ok(self.0.elements())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let Self(input, caller) = self;
        let read = |range: &Range<u64>| {
            let [start, end] = [range.start, range.end].map(|at| at.min(input.elements()));
            let mut bytes = try_zeroed(end.saturating_sub(start))?;
            // SAFETY: the array, which is kept, has these bytes.
            unsafe { download(caller, input.address + start, &mut bytes) }?;
            Ok(bytes)
        };
        let found: Result<_, Error> = ranges.iter().map(read).collect();
        found.map_err(io::Error::other)
    }
}

/// Copies the bytes at this address to the host. Waits for the work on the caller's stream.
///
/// # Safety
///
/// So many bytes are there, on the caller's GPU, until the call ends.
unsafe fn download(caller: &CallerStream, address: u64, to: &mut [u8]) -> Result<(), Error> {
    let stream = &caller.stream;
    if to.is_empty() {
        return Ok(());
    }
    stream
        .context()
        .bind_to_thread()
        // SAFETY: so many bytes are there.
        .and_then(|()| unsafe { result::memcpy_dtoh_async(to, address, stream.cu_stream()) })
        .and_then(|()| stream.synchronize())
        .map_err(failed("read device memory"))
}

/// The elements of an array in the memory of the caller's GPU.
fn downloaded(values: &Bound<'_, PyAny>, caller: &CallerStream) -> PyResult<Field> {
    let py = values.py();
    let input = DeviceInput::on_stream(values, "values", caller)?;
    let Some(number_type) = input.number_type() else {
        let message = format!("values: no stream has elements of type {}", input.kind);
        return Err(typed(py, UNSUPPORTED_TYPE, message));
    };
    let bytes = input.elements().saturating_mul(number_type.bytes());
    let memory = py.detach(|| {
        let mut memory = try_zeroed::<u64>(bytes.div_ceil(8))?;
        let to = &mut bytemuck::cast_slice_mut(&mut memory)[..bytes as usize];
        // SAFETY: the array, which is kept, has these bytes.
        unsafe { download(caller, input.address, to) }?;
        Ok(memory)
    });
    let memory = memory.map_err(|error| raised(py, &error))?;
    Ok(Field::of_memory(memory, number_type, input.shape))
}

/// The stream with this update.
fn updated(
    input: &DeviceInput,
    caller: &CallerStream,
    update: &Update,
) -> Result<DeviceArray, Error> {
    let (needed, found) = (update.append_at, input.elements());
    if found < needed {
        return Err(FormatError::Truncated { needed, found }.into());
    }
    let bytes = needed + update.appended.len() as u64;
    let memory = Memory::new(caller, bytes)?;
    let (start, end) = (memory.address, memory.address + needed);
    let stream = caller.stream.cu_stream();
    // SAFETY: the array, which is kept, has the bytes of the stream, and the memory has room for them and those of the update.
    let copied = unsafe {
        result::memcpy_dtod_async(start, input.address, needed as usize, stream)
            .and_then(|()| match &update.appended[..] {
                [] => Ok(()),
                appended => result::memcpy_htod_async(end, appended, stream),
            })
            .and_then(|()| result::memcpy_htod_async(start, &update.header, stream))
    };
    copied
        .and_then(|()| caller.stream.synchronize())
        .map_err(failed("copy the stream"))?;
    let memory = DeviceMemory::new(memory, &caller.gpu);
    Ok(DeviceArray::of_stream(memory, bytes, None))
}

/// The stream without the chunks that updates replaced.
fn compacted(input: &DeviceInput, caller: &CallerStream) -> Result<DeviceArray, Error> {
    let CallerStream { gpu, stream, .. } = caller;
    // It is not longer than the stream was.
    let most = input.elements();
    let room = Memory::new(caller, most)?;
    // SAFETY: both have so many bytes, and stay until this call ends, which is after the work.
    let (from, mut to) = unsafe {
        (
            AtAddress::<u8>::new(stream, input.address, most),
            AtAddress::<u8>::new(stream, room.address, most),
        )
    };
    let bytes = gpu.compact(stream, &from, &mut to)?;
    // SAFETY: the copy is there, and `room` keeps it.
    let memory = unsafe { Memory::copy(caller, room.address, bytes) }?;
    Ok(DeviceArray::of_stream(
        DeviceMemory::new(memory, gpu),
        bytes,
        None,
    ))
}
