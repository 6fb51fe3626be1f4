//! A GPU and a stream of it: its memory, and times between events.

use super::times::{Times, sample};
use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{
    CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, ValidAsZeroBits, result, sys,
};
use ferrosz::{Device, Error, Value};
use ferrosz_cli::failure::Failure;
use std::sync::Arc;

/// Runs before the timed ones: the first loads kernels, the next raise the clocks.
pub const WARM_UP: u32 = 3;

/// The byte that fills memory before results are written to it.
const POISON: u8 = 0xA5;

/// Values that a GPU has in its memory.
pub trait OnDevice: Value + DeviceRepr + ValidAsZeroBits {}

impl<V: Value + DeviceRepr + ValidAsZeroBits> OnDevice for V {}

/// A GPU and the only stream of it in this process.
pub struct OneGpu {
    /// The GPU.
    pub gpu: Gpu,
    /// The stream.
    pub stream: Arc<CudaStream>,
}

/// Adds the failed action to an error of the driver.
pub fn failed(action: &'static str) -> impl Fn(DriverError) -> Failure {
    move |error| {
        let reason = error.to_string();
        Error::Cuda { action, reason }.into()
    }
}

/// The number of the GPU of a device.
///
/// # Errors
///
/// If the device is no GPU.
pub fn ordinal(device: Device) -> Result<usize, Failure> {
    match device {
        Device::Auto => Ok(0),
        Device::Cuda(ordinal) => Ok(ordinal),
        _ => Err(Failure::usage("this is measured on a GPU: --device cuda")),
    }
}

impl OneGpu {
    /// The GPU of this number.
    ///
    /// # Errors
    ///
    /// If there is no driver or no such GPU.
    pub fn new(ordinal: usize) -> Result<Self, Failure> {
        let gpu = Gpu::new(ordinal)?;
        // SAFETY: this process uses a single stream of each GPU, so that no buffer is used on two.
        unsafe { gpu.context().disable_event_tracking() };
        let stream = (gpu.context().new_stream()).map_err(failed("make a stream"))?;
        Ok(Self { gpu, stream })
    }

    /// The GPU of a device.
    ///
    /// # Errors
    ///
    /// If the device is no GPU, or there is none.
    pub fn of(device: Device) -> Result<Self, Failure> {
        Self::new(ordinal(device)?)
    }

    /// The GPU's name.
    ///
    /// # Errors
    ///
    /// The driver's errors, here and below.
    pub fn name(&self) -> Result<String, Failure> {
        self.gpu.context().name().map_err(failed("name the GPU"))
    }

    /// Waits until all work is done.
    pub fn wait(&self) -> Result<(), Failure> {
        (self.stream.synchronize()).map_err(failed("wait for the GPU"))
    }

    /// Times `work`, which consists of `runs` runs, between two events; returns the time of one run.
    pub fn time(
        &self,
        repeat: u32,
        runs: u32,
        mut work: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Times, Failure> {
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let record = || (self.stream.record_event(flags)).map_err(failed("record an event"));
        sample(WARM_UP, repeat, || {
            let start = record()?;
            work()?;
            let end = record()?;
            end.synchronize().map_err(failed("wait for the GPU"))?;
            let milliseconds = start.elapsed_ms(&end).map_err(failed("take the time"))?;
            Ok(1e-3 * f64::from(milliseconds) / f64::from(runs))
        })
    }

    /// Memory with these values.
    pub fn upload<V: DeviceRepr>(&self, values: &[V]) -> Result<CudaSlice<V>, Failure> {
        (self.stream.clone_htod(values)).map_err(failed("copy to the GPU"))
    }

    /// The values of a buffer.
    pub fn download<V: DeviceRepr>(&self, buffer: &impl DevicePtr<V>) -> Result<Vec<V>, Failure> {
        (self.stream.clone_dtoh(buffer)).map_err(failed("copy from the GPU"))
    }

    /// Memory for so many values, or bytes of a stream.
    pub fn allocate<P: DeviceRepr + ValidAsZeroBits>(
        &self,
        length: u64,
    ) -> Result<CudaSlice<P>, Failure> {
        let bytes = length.saturating_mul(size_of::<P>() as u64);
        let memory = self.stream.alloc_zeros(length as usize);
        memory.map_err(|_| Error::OutOfMemory { bytes }.into())
    }

    /// Fills a buffer with bytes that are no result.
    pub fn poison<P>(&self, buffer: &impl DevicePtr<P>) -> Result<(), Failure> {
        let bytes = buffer.len() * size_of::<P>();
        let address = self.address(buffer);
        // SAFETY: the buffer is valid and `bytes` long; values and bytes may have any bits.
        unsafe { result::memset_d8_async(address, POISON, bytes, self.stream.cu_stream()) }
            .map_err(failed("fill memory"))
    }

    /// The address of a buffer.
    pub fn address<P>(&self, buffer: &impl DevicePtr<P>) -> u64 {
        let (address, _use) = buffer.device_ptr(&self.stream);
        address
    }
}
