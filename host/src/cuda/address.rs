//! Device memory that is known by its address.

use ::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::sync::Arc;

/// Values in device memory of any owner, such as another library: the argument of calls of [`Gpu`](crate::cuda::Gpu) in place of
/// a `CudaSlice`. It does not own the memory, and orders no work on it.
///
/// ```no_run
/// # use ferrosz_host as ferrosz;
/// use ferrosz::cuda::{AtAddress, Gpu};
/// use ferrosz::{Bound, Codec, Compressor};
///
/// # fn run(address: u64, room: u64) -> Result<(), ferrosz::Error> {
/// let gpu = Gpu::new(0)?;
/// let stream = gpu.context().default_stream();
/// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1)?);
/// let mut workspace = gpu.workspace(&stream, 1000)?;
/// // SAFETY: the memory lives until `stream_bytes` has waited for the work, and nothing else uses it.
/// let field = unsafe { AtAddress::<f32>::new(&stream, address, 1000) };
/// // SAFETY: as above.
/// let mut bytes = unsafe { AtAddress::<u8>::new(&stream, room, 8000) };
/// gpu.compress(&stream, &compressor, &field, &mut bytes, &mut workspace)?;
/// workspace.stream_bytes(&stream)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AtAddress<T> {
    stream: Arc<CudaStream>,
    address: u64,
    length: usize,
    values: PhantomData<T>,
}

impl<T: Pod> AtAddress<T> {
    /// `length` values at `address`.
    ///
    /// # Safety
    ///
    /// Until the work of all calls with it is done, `address` must be that of so many values, aligned for `T` and rounded up to
    /// whole words of 4 bytes, in memory of the stream's context; initialised, if a call reads them. Until the work of a call that
    /// writes them is done, nothing else may use them, also no call on another stream: nothing orders the two.
    pub unsafe fn new(stream: &Arc<CudaStream>, address: u64, length: u64) -> Self {
        Self {
            stream: stream.clone(),
            address,
            length: usize::try_from(length).unwrap_or(usize::MAX),
            values: PhantomData,
        }
    }
}

impl<T: Pod> DeviceSlice<T> for AtAddress<T> {
    fn len(&self) -> usize {
        self.length
    }

    fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }
}

impl<T: Pod> DevicePtr<T> for AtAddress<T> {
    fn device_ptr<'a>(&'a self, _: &'a CudaStream) -> (u64, SyncOnDrop<'a>) {
        (self.address, SyncOnDrop::Record(None))
    }
}

impl<T: Pod> DevicePtrMut<T> for AtAddress<T> {
    fn device_ptr_mut<'a>(&'a mut self, _: &'a CudaStream) -> (u64, SyncOnDrop<'a>) {
        (self.address, SyncOnDrop::Record(None))
    }
}
