//! Device memory that is known by its address.

use ::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
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

impl<T> AtAddress<T> {
    /// So many values at an address.
    ///
    /// # Safety
    ///
    /// They must be valid memory of the stream's context until the work of all calls with them is done. While a call writes
    /// them, nothing else may use them.
    pub unsafe fn new(stream: &Arc<CudaStream>, address: u64, length: u64) -> Self {
        Self {
            stream: stream.clone(),
            address,
            length: usize::try_from(length).unwrap_or(usize::MAX),
            values: PhantomData,
        }
    }
}

impl<T> DeviceSlice<T> for AtAddress<T> {
    fn len(&self) -> usize {
        self.length
    }

    fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }
}

impl<T> DevicePtr<T> for AtAddress<T> {
    fn device_ptr<'a>(&'a self, _: &'a CudaStream) -> (u64, SyncOnDrop<'a>) {
        (self.address, SyncOnDrop::Record(None))
    }
}

impl<T> DevicePtrMut<T> for AtAddress<T> {
    fn device_ptr_mut<'a>(&'a mut self, _: &'a CudaStream) -> (u64, SyncOnDrop<'a>) {
        (self.address, SyncOnDrop::Record(None))
    }
}
