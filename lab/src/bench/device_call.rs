//! Timed calls on device memory, whose streams and values are compared with those of the CPU.

use super::times::{Times, sample};
use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream, DeviceRepr, DriverError, sys};
use ferrosz::{Compressor, Decompressor, Device, Error, StreamLayout, Value};
use ferrosz_cli::failure::Failure;
use std::sync::Arc;

/// Runs before the timed ones: the first loads kernels, the next raise the clocks.
const WARM_UP: u32 = 3;

/// The byte that fills the memory of streams and values before they are written.
const POISON: u8 = 0xA5;

/// Adds the failed action to an error of the driver.
fn failed(action: &'static str) -> impl Fn(DriverError) -> Failure {
    move |error| {
        let reason = error.to_string();
        Error::Cuda { action, reason }.into()
    }
}

/// The GPU of a device, and a stream.
///
/// # Errors
///
/// If the device is no GPU, or there is none.
pub fn open(device: Device) -> Result<(Gpu, Arc<CudaStream>), Failure> {
    let ordinal = match device {
        Device::Auto => 0,
        Device::Cuda(ordinal) => ordinal,
        _ => return Err(Failure::usage("this is measured on a GPU: --device cuda")),
    };
    let gpu = Gpu::new(ordinal)?;
    // SAFETY: this process uses a single stream, so that no buffer is used on two.
    unsafe { gpu.context().disable_event_tracking() };
    let stream = gpu.context().new_stream();
    Ok((gpu, stream.map_err(failed("make a stream"))?))
}

/// Values that a GPU has in its memory.
pub trait OnDevice: Value + DeviceRepr {}

impl<V: Value + DeviceRepr> OnDevice for V {}

/// The length of a stream, and the times of both directions.
pub struct Measured {
    /// Bytes of the stream.
    pub stream_bytes: u64,
    /// The times of compressions.
    pub compress: Times,
    /// The times of decompressions.
    pub decompress: Times,
}

/// A field of `V` in the GPU's memory, and memory for its stream and its values.
pub struct Buffers<'a, V> {
    gpu: &'a Gpu,
    stream: &'a Arc<CudaStream>,
    compressor: &'a Compressor,
    layout: StreamLayout,
    field: &'a [V],
    repeat: u32,
    input: CudaSlice<V>,
    bytes: CudaSlice<u8>,
    output: CudaSlice<V>,
    workspace: ferrosz::cuda::Workspace,
}

impl<'a, V: OnDevice> Buffers<'a, V> {
    /// Copies a field to the GPU.
    ///
    /// # Errors
    ///
    /// If there is too little memory.
    pub fn new(
        gpu: &'a Gpu,
        stream: &'a Arc<CudaStream>,
        compressor: &'a Compressor,
        field: &'a [V],
        repeat: u32,
    ) -> Result<Self, Failure> {
        let elements = field.len() as u64;
        let layout = compressor.stream_layout(elements, V::TYPE)?;
        let room = compressor.max_compressed_len(elements, V::TYPE)?;
        let no_memory = |_| Error::OutOfMemory { bytes: room };
        let poison = V::from_value_bits(u64::from_ne_bytes([POISON; 8]));
        let output = stream.clone_htod(&vec![poison; field.len()]);
        let bytes = stream.clone_htod(&vec![POISON; room as usize]);
        Ok(Self {
            gpu,
            stream,
            compressor,
            layout,
            field,
            repeat,
            input: stream.clone_htod(field).map_err(no_memory)?,
            bytes: bytes.map_err(no_memory)?,
            output: output.map_err(no_memory)?,
            workspace: gpu.workspace_for(stream, layout)?,
        })
    }

    /// Times both directions, and compares stream and values with those of the CPU.
    ///
    /// # Errors
    ///
    /// If they differ, or the GPU fails.
    pub fn measure(&mut self) -> Result<Measured, Failure> {
        let expected = self.compressor.compress(self.field)?;
        let compress = self.time(Self::compress)?;
        self.check_stream(&expected)?;
        let decompress = self.time(Self::decompress)?;
        self.check_values(&expected)?;
        Ok(Measured {
            stream_bytes: expected.len() as u64,
            compress,
            decompress,
        })
    }

    fn compress(&mut self) -> Result<(), Error> {
        let (input, bytes) = (&self.input, &mut self.bytes);
        (self.gpu).compress(
            self.stream,
            self.compressor,
            input,
            bytes,
            &mut self.workspace,
        )
    }

    fn decompress(&mut self) -> Result<(), Error> {
        self.gpu.decompress(
            self.stream,
            &Decompressor::new(),
            self.layout,
            &self.bytes,
            &mut self.output,
            &mut self.workspace,
        )
    }

    /// Times `work` between two events.
    fn time(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<Times, Failure> {
        let stream = self.stream.clone();
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let record = || {
            let recorded = stream.record_event(flags);
            recorded.map_err(failed("record an event"))
        };
        sample(WARM_UP, self.repeat, || {
            let start = record()?;
            work(self)?;
            let end = record()?;
            end.synchronize().map_err(failed("wait for the GPU"))?;
            let milliseconds = start.elapsed_ms(&end).map_err(failed("take the time"))?;
            Ok(1e-3 * f64::from(milliseconds))
        })
    }

    /// Compares the stream with that of the CPU.
    fn check_stream(&self, expected: &[u8]) -> Result<(), Failure> {
        let length = self.workspace.stream_bytes(self.stream)?;
        let found = self.stream.clone_dtoh(&self.bytes);
        let found = found.map_err(failed("copy from the GPU"))?;
        match length == expected.len() as u64 && found.starts_with(expected) {
            true => Ok(()),
            false => Err(Failure::failed("the stream is not that of the CPU")),
        }
    }

    /// Compares the values with those that the CPU decodes.
    fn check_values(&self, expected: &[u8]) -> Result<(), Failure> {
        self.workspace.check(self.stream)?;
        let found = self.stream.clone_dtoh(&self.output);
        let found = found.map_err(failed("copy from the GPU"))?;
        let decoder = Decompressor::new().device(Device::Cpu);
        let wanted = decoder.decompress::<V>(expected)?;
        let bits = |values: &[V]| values.iter().map(|x| x.to_value_bits()).collect::<Vec<_>>();
        match bits(&wanted) == bits(&found) {
            true => Ok(()),
            false => Err(Failure::failed("the values are not those of the CPU")),
        }
    }
}
