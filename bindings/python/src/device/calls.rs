//! Compression and decompression of arrays in the memory of a GPU.

use crate::device::array::{DeviceArray, DeviceMemory, ElementType};
use crate::device::input::DeviceInput;
use crate::device::memory::Memory;
use crate::device::stream::CallerStream;
use crate::dtype::NumberType;
use crate::error::{UNSUPPORTED_TYPE, argument, raised, typed};
use crate::options::{Aim, Options};
use crate::part::IndexedBox;
use ferrosz::codec::with_value;
use ferrosz::cuda::{AtAddress, FieldChoice};
use ferrosz::stream::StreamLayout;
use ferrosz::{Decompressor, Error, Part, Value};
use pyo3::prelude::*;

/// The alignment of the room for the stream, which is behind the workspace.
const ALIGNMENT: u64 = 256;

/// Compresses an array of the caller on its GPU, on the caller's stream: to `out`, or to new memory. Waits for the work.
///
/// # Errors
///
/// Those of the library; `UnsupportedType` if kernels do not take values of the type; `ArgumentError` if `out` cannot be
/// used, or with a target, which would need the array on the host.
pub fn compress(
    options: &Options,
    array: &Bound<'_, PyAny>,
    out: Option<&Bound<'_, PyAny>>,
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
    let Some(number_type) = input.number_type() else {
        return Err(unsupported(py, &input.kind));
    };
    let out = out
        .map(|out| DeviceInput::for_result(out, &caller, &input))
        .transpose()?;
    if let Some(out) = &out
        && (&out.kind[..], out.shape.len()) != ("u1", 1)
    {
        let message = "out: a stream goes to an array of uint8 with one dimension";
        return Err(argument(py, message));
    }
    let call = Compression {
        options,
        input: &input,
        number_type,
        caller: &caller,
    };
    let made = py.detach(|| with_value!(number_type.values, V => call.run::<V>(out)));
    made.map_err(|error| raised(py, &error))
}

/// A compression in the memory of a GPU.
struct Compression<'a> {
    options: &'a Options,
    input: &'a DeviceInput,
    number_type: NumberType,
    caller: &'a CallerStream,
}

impl Compression<'_> {
    /// Compresses to `out`, or to new memory.
    fn run<V: Value>(&self, out: Option<DeviceInput>) -> Result<DeviceArray, Error> {
        let CallerStream { gpu, stream, .. } = self.caller;
        let (address, elements) = (self.input.address, self.values());
        let choice = self.choice::<V>()?;
        let compressor = choice.compressor();
        let layout = compressor.stream_layout(elements, V::TYPE)?;
        let of_workspace = layout.workspace_bytes().next_multiple_of(ALIGNMENT);
        let room = match out {
            Some(_) => 0,
            None => compressor.max_compressed_len(elements, V::TYPE)?,
        };
        let scratch = Memory::new(self.caller, of_workspace.saturating_add(room))?;
        // SAFETY: the memory is this call's until it is freed, which is behind the work on the stream.
        let mut workspace =
            unsafe { gpu.workspace_in(stream, layout, scratch.address, of_workspace) }?;
        let output = match &out {
            Some(out) => (out.address, out.elements()),
            None => (scratch.address + of_workspace, room),
        };
        // SAFETY: the input has so many elements, and the caller's objects keep it and `out` until this call ends, which is
        // after the work, as for the workspace. They do not overlap: see `DeviceInput::for_result`.
        let (field, mut room) = unsafe {
            (
                AtAddress::<V>::new(stream, address, elements),
                AtAddress::<u8>::new(stream, output.0, output.1),
            )
        };
        gpu.compress(stream, choice, &field, &mut room, &mut workspace)?;
        let bytes = workspace.stream_bytes(stream)?;
        let memory = match out {
            Some(out) => DeviceMemory::of_caller(out, gpu),
            // The room is far longer than the stream.
            // SAFETY: the stream is there, and `scratch` keeps it.
            None => DeviceMemory::new(unsafe { Memory::copy(self.caller, output.0, bytes) }?, gpu),
        };
        Ok(DeviceArray::of_stream(memory, bytes, Some(layout)))
    }

    /// The number of values: of complex numbers their parts.
    fn values(&self) -> u64 {
        self.input.elements() * self.number_type.parts()
    }

    /// The compressor of this array, with a codec, and the range of the array if a preset chose the codec.
    fn choice<V: Value>(&self) -> Result<FieldChoice, Error> {
        let CallerStream { gpu, stream, .. } = self.caller;
        let extents: &[u64] = match &self.input.shape[..] {
            [] => &[1],
            lengths => lengths,
        };
        let extents = self.number_type.of_values(extents);
        let (fills, is_complex) = (self.options.fills.known(), self.number_type.is_complex);
        let compressor = self.options.with_fills(fills, &extents, is_complex)?;
        if compressor.codec().is_some() {
            return Ok((&compressor).into());
        }
        let (address, elements) = (self.input.address, self.values());
        // SAFETY: the caller's object keeps so many values until this call ends, which waits for the work.
        let field = unsafe { AtAddress::<V>::new(stream, address, elements) };
        gpu.choose::<V>(stream, &compressor, &field, &mut gpu.workspace(stream, 0)?)
    }
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
    let (input, caller) = DeviceInput::of_stream(bytes, stream)?;
    let call = Decompression {
        decompressor,
        input: &input,
        caller: &caller,
        out,
        index,
    };
    // The layout of a stream that `compress` made there is known. If its bytes were changed since, the kernels report a
    // fault. Then the header is read: it gives the error, or the layout of the new bytes.
    let known = bytes.cast::<DeviceArray>().ok();
    if let Some(layout) = known.and_then(|array| array.get().layout())
        && let Ok(done) = call.run(py, layout)
    {
        return Ok(done);
    }
    let found = py.detach(|| layout_of(&input, &caller));
    call.run(py, found.map_err(|error| raised(py, &error))?)
}

/// A decompression in the memory of a GPU.
struct Decompression<'a, 'py> {
    decompressor: &'a Decompressor,
    input: &'a DeviceInput,
    caller: &'a CallerStream,
    out: Option<&'a Bound<'py, PyAny>>,
    index: Option<&'a Bound<'py, PyAny>>,
}

impl<'py> Decompression<'_, 'py> {
    /// Decompresses a stream of this layout.
    fn run(&self, py: Python<'py>, layout: StreamLayout) -> PyResult<Bound<'py, PyAny>> {
        let caller = self.caller;
        let number_type = NumberType {
            values: layout.value_type,
            is_complex: layout.order.is_complex(),
        };
        let mut extents = layout
            .order
            .user_extents(&layout.layout.extents)
            .lengths()
            .to_vec();
        if number_type.is_complex {
            extents.pop();
        }
        let part = self
            .index
            .map(|index| IndexedBox::new(index, &extents))
            .transpose()?;
        let (part, shape) = match part {
            None => (Part::Elements(0..extents.iter().product()), extents),
            Some(part) => (Part::Box(part.ranges), part.shape),
        };
        let part = number_type.part_of_values(part);
        let wanted = Wanted {
            decompressor: self.decompressor,
            input: self.input,
            caller,
            layout,
            part: &part,
            elements: shape.iter().product::<u64>() * number_type.parts(),
        };
        match self.out {
            None => {
                let made = py.detach(|| {
                    let bytes = wanted.elements * number_type.values.bytes() as u64;
                    let memory = Memory::new(caller, bytes)?;
                    wanted.decode(memory.address)?;
                    Ok(DeviceMemory::new(memory, &caller.gpu))
                });
                let memory = made.map_err(|error| raised(py, &error))?;
                let array = DeviceArray::of_numbers(memory, number_type, shape);
                Ok(Bound::new(py, array)?.into_any())
            }
            Some(out) => {
                let output = DeviceInput::for_result(out, caller, self.input)?;
                check_output(py, &output, number_type, &shape)?;
                py.detach(|| wanted.decode(output.address))
                    .map_err(|error| raised(py, &error))?;
                Ok(out.clone())
            }
        }
    }
}

/// Checks that an array of the caller has the type and the shape of a result.
fn check_output(
    py: Python<'_>,
    output: &DeviceInput,
    number_type: NumberType,
    shape: &[u64],
) -> PyResult<()> {
    let (found, element) = (&output.shape, ElementType::Number(number_type));
    let fault = |what: String| Err(argument(py, format!("out: {what}")));
    if output.number_type() != Some(number_type) {
        return fault(format!("its elements are {}, not {element}", output.kind));
    }
    if found != shape {
        return fault(format!("its shape is {found:?}, and {shape:?} is needed"));
    }
    Ok(())
}

/// The elements that a decompression in the memory of a GPU decodes.
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
        let bytes = self.layout.workspace_bytes_for_part(self.part)?;
        let scratch = Memory::new(self.caller, bytes)?;
        // SAFETY: the memory is this call's until it is freed, which is behind the work on the stream.
        let mut workspace =
            unsafe { gpu.workspace_in(stream, self.layout, scratch.address, bytes) }?;
        // SAFETY: the caller's objects keep both until this call ends, which is after the work, as for the workspace.
        let (bytes, mut output) = unsafe {
            (
                AtAddress::<u8>::new(stream, self.input.address, self.input.elements()),
                AtAddress::<V>::new(stream, address, self.elements),
            )
        };
        gpu.decompress_part(
            stream,
            self.decompressor,
            self.layout,
            &bytes,
            self.part,
            &mut output,
            &mut workspace,
        )?;
        workspace.check(stream)
    }
}

/// The layout of a stream in the memory of a GPU. Waits for the work on the caller's stream.
fn layout_of(input: &DeviceInput, caller: &CallerStream) -> Result<StreamLayout, Error> {
    let CallerStream { gpu, stream, .. } = caller;
    // SAFETY: the caller's object keeps so many bytes until this call ends.
    let bytes = unsafe { AtAddress::<u8>::new(stream, input.address, input.elements()) };
    gpu.layout_of(stream, &bytes)
}

fn unsupported(py: Python<'_>, kind: &str) -> PyErr {
    let message = format!(
        "array: elements of type {kind} are not compressed in device memory, only float32, float64, complex64, complex128, float16, bfloat16, int16 and uint16"
    );
    typed(py, UNSUPPORTED_TYPE, message)
}
