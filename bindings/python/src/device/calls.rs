//! Compression and decompression of arrays in the memory of a GPU.

use crate::device::array::{DeviceArray, DeviceMemory, ElementType};
use crate::device::input::{DeviceInput, Memory};
use crate::device::stream::{CallerStream, failed};
use crate::error::{UNSUPPORTED_TYPE, argument, raised, typed};
use crate::options::{Aim, Options};
use crate::part::IndexedBox;
use ferrosz::codec::container::header::{HEADER_BYTES, Header};
use ferrosz::codec::container::record;
use ferrosz::codec::mapping::axes::Order;
use ferrosz::codec::with_value;
use ferrosz::cuda::cudarc::driver::{DevicePtr, result};
use ferrosz::{Decompressor, Error, FormatError, Part, StreamLayout, Value};
use pyo3::prelude::*;

/// Compresses an array of the caller on its GPU, on the caller's stream. Waits for the length of the stream.
///
/// # Errors
///
/// Those of the library; `UnsupportedType` if kernels do not take values of the type; `ArgumentError` with a target, which
/// would need the array on the host.
pub fn compress(
    options: &Options,
    array: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<DeviceArray> {
    let py = array.py();
    if let Aim::Target(target) = options.aim {
        let message = format!(
            "{}: a target is searched on the host; give a bound",
            target.kind()
        );
        return Err(argument(py, message));
    }
    let (input, caller) = DeviceInput::new(array, stream)?;
    let Some(value_type) = input.value_type() else {
        return Err(unsupported(py, &input.kind));
    };
    let made =
        py.detach(|| with_value!(value_type, V => compress_values::<V>(options, &input, &caller)));
    let (memory, bytes) = made.map_err(|error| raised(py, &error))?;
    Ok(DeviceArray::new(memory, ElementType::Byte, vec![bytes]))
}

fn compress_values<V: Value>(
    options: &Options,
    input: &DeviceInput,
    caller: &CallerStream,
) -> Result<(DeviceMemory, u64), Error> {
    let CallerStream { gpu, stream, .. } = caller;
    let elements = input.elements();
    let extents: &[u64] = if input.shape.is_empty() {
        &[1]
    } else {
        &input.shape
    };
    let compressor = options.with_fills(options.fills.known(), extents)?;
    let field = Memory {
        address: input.address,
        elements: elements as usize,
        stream,
    };
    let mut workspace = gpu.workspace(stream, elements)?;
    let compressor = gpu.choose::<V>(stream, &compressor, &field, &mut workspace)?;
    let mut workspace = gpu.workspace_for(stream, compressor.stream_layout(elements, V::TYPE)?)?;
    let room = compressor.max_compressed_len(elements, V::TYPE)?;
    let output = allocate(caller, room)?;
    // SAFETY: the input has so many elements, and the caller's object keeps it until this call ends, which is after the
    // work: see `stream_bytes`. The output is new.
    unsafe {
        gpu.compress_raw::<V>(
            stream,
            &compressor,
            input.address,
            elements,
            output.address,
            room,
            &mut workspace,
        )?;
    }
    let bytes = workspace.stream_bytes(stream)?;
    // The room is far longer than the stream.
    let exact = allocate(caller, bytes)?;
    // SAFETY: both have so many bytes.
    let copied = unsafe {
        result::memcpy_dtod_async(
            exact.address,
            output.address,
            bytes as usize,
            stream.cu_stream(),
        )
    };
    copied.map_err(failed("copy the stream"))?;
    Ok((exact, bytes))
}

/// Decompresses a stream in the memory of a GPU, or a box of its array, on the caller's stream: to `out`, or to a new
/// array. Waits, as it tells damage.
///
/// # Errors
///
/// Those of the library, and `ArgumentError` if `out` cannot be used.
pub fn decompress<'py>(
    decompressor: &Decompressor,
    bytes: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    index: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = bytes.py();
    let (input, caller) = DeviceInput::new(bytes, stream)?;
    if input.kind != "u1" || input.shape.len() != 1 {
        let message = "stream: a stream in device memory is an array of bytes with one dimension";
        return Err(argument(py, message));
    }
    let found = py.detach(|| layout_of(&input, &caller));
    let layout = found.map_err(|error| raised(py, &error))?;
    let extents = layout
        .order
        .user_extents(&layout.layout.extents)
        .lengths()
        .to_vec();
    let part = index
        .map(|index| IndexedBox::new(index, &extents))
        .transpose()?;
    let (part, shape) = match part {
        None => (Part::Elements(0..extents.iter().product()), extents),
        Some(part) => (Part::Box(part.ranges), part.shape),
    };
    let element = ElementType::Value(layout.value_type);
    let wanted = Wanted {
        decompressor,
        input: &input,
        caller: &caller,
        layout,
        part: &part,
        elements: shape.iter().product(),
    };
    match out {
        None => {
            let made = py.detach(|| {
                let output = allocate(&caller, wanted.elements * element.bytes())?;
                wanted.decode(output.address)?;
                Ok(output)
            });
            let output = made.map_err(|error| raised(py, &error))?;
            Ok(Bound::new(py, DeviceArray::new(output, element, shape))?.into_any())
        }
        Some(out) => {
            let address = address_of(out, &caller, element, &shape)?;
            py.detach(|| wanted.decode(address))
                .map_err(|error| raised(py, &error))?;
            Ok(out.clone())
        }
    }
}

/// The address of an array of the caller for a result.
fn address_of(
    out: &Bound<'_, PyAny>,
    caller: &CallerStream,
    element: ElementType,
    shape: &[u64],
) -> PyResult<u64> {
    let py = out.py();
    let handle = caller.stream.cu_stream() as usize;
    let handle = handle.into_pyobject(py)?.into_any();
    let (output, _) = DeviceInput::new(out, Some(&handle))?;
    let is_same = output.value_type().map(ElementType::Value) == Some(element);
    match (is_same, output.shape == shape, output.read_only) {
        (true, true, false) => Ok(output.address),
        (false, ..) => Err(argument(
            py,
            format!("out: its elements are {}, not {element}", output.kind),
        )),
        (_, false, _) => Err(argument(
            py,
            format!(
                "out: its shape is {:?}, and {shape:?} is needed",
                output.shape
            ),
        )),
        (.., true) => Err(argument(py, "out: it is read-only")),
    }
}

/// A decompression in the memory of a GPU.
struct Wanted<'a> {
    decompressor: &'a Decompressor,
    input: &'a DeviceInput,
    caller: &'a CallerStream,
    layout: StreamLayout,
    part: &'a Part,
    elements: u64,
}

impl Wanted<'_> {
    /// Decodes to so many elements at this address.
    fn decode(&self, address: u64) -> Result<(), Error> {
        with_value!(self.layout.value_type, V => self.decode_values::<V>(address))
    }

    fn decode_values<V: Value>(&self, address: u64) -> Result<(), Error> {
        let CallerStream { gpu, stream, .. } = self.caller;
        let mut workspace = gpu.workspace_for(stream, self.layout)?;
        // SAFETY: the caller's objects keep both until this call ends, which is after the work: see `check`.
        unsafe {
            gpu.decompress_raw::<V>(
                stream,
                self.decompressor,
                self.layout,
                (self.input.address, self.input.elements()),
                self.part,
                (address, self.elements),
                &mut workspace,
            )?;
        }
        workspace.check(stream)
    }
}

/// The layout of a stream in the memory of a GPU.
fn layout_of(input: &DeviceInput, caller: &CallerStream) -> Result<StreamLayout, Error> {
    let CallerStream { gpu, stream, .. } = caller;
    let memory = Memory {
        address: input.address,
        elements: input.elements() as usize,
        stream,
    };
    let header: Header = gpu.header(stream, &memory)?;
    if header.stream_bytes() > input.elements() {
        return Err(Error::Format(FormatError::Truncated {
            needed: header.stream_bytes(),
            found: input.elements(),
        }));
    }
    let mut records = vec![0; header.record_bytes as usize];
    if !records.is_empty() {
        // SAFETY: the stream has so many bytes; the copy is done before the call ends.
        let copied = unsafe {
            result::memcpy_dtoh_async(
                &mut records,
                input.address + HEADER_BYTES as u64,
                stream.cu_stream(),
            )
        };
        copied
            .and_then(|()| stream.synchronize())
            .map_err(failed("read the records"))?;
    }
    record::check(&records, header.record_sum)?;
    Ok(StreamLayout {
        layout: header.layout(),
        order: Order::of_records(&records, &header.extents)?,
        value_type: header.value_type,
    })
}

/// New memory of at least so many bytes.
fn allocate(caller: &CallerStream, bytes: u64) -> Result<DeviceMemory, Error> {
    let out_of_memory = Error::OutOfMemory { bytes };
    let count = usize::try_from(bytes).map_err(|_| out_of_memory.clone())?;
    // SAFETY: nothing reads it before it is written.
    let memory = unsafe { caller.stream.alloc::<u8>(count.max(1)) }.map_err(|_| out_of_memory)?;
    let (address, _) = memory.device_ptr(&caller.stream);
    Ok(DeviceMemory {
        address,
        bytes: memory,
        stream: caller.stream.clone(),
        _keeper: caller
            .keeper
            .as_ref()
            .map(|keeper| Python::attach(|py| keeper.clone_ref(py))),
    })
}

fn unsupported(py: Python<'_>, kind: &str) -> PyErr {
    let message = format!(
        "array: elements of type {kind} are not compressed in device memory, only float32, float64, float16, bfloat16, int16 and uint16"
    );
    typed(py, UNSUPPORTED_TYPE, message)
}
