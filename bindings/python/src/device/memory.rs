//! Device memory of calls and of results: from the pool of the process, in the order of a stream.

use crate::device::stream::{CallerStream, failed};
use ferrosz::Error;
use ferrosz::cuda::cudarc::driver::{CudaStream, result};
use ferrosz::internals::DevicePool;
use pyo3::prelude::*;
use std::sync::Arc;

/// Gives the device memory that ferrosz keeps for the next call, and that nothing uses, back to the driver. Results keep
/// theirs. Waits for the work of this process on its GPUs.
///
/// >>> ferrosz.release_memory()
#[pyfunction]
pub fn release_memory(py: Python<'_>) {
    py.detach(ferrosz::cuda::release_memory);
}

/// Device memory, which is freed in the order of its stream.
pub struct Memory {
    /// The address, a multiple of 256.
    pub address: u64,
    stream: Arc<CudaStream>,
    is_of_pool: bool,
    /// What keeps the stream.
    _keeper: Option<Arc<Py<PyAny>>>,
}

impl Memory {
    /// So many bytes for work on the caller's stream.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] and [`Error::Cuda`].
    pub fn new(caller: &CallerStream, bytes: u64) -> Result<Self, Error> {
        let CallerStream { stream, keeper, .. } = caller;
        let count = usize::try_from(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        let count = count.max(1);
        let context = stream.context();
        context.bind_to_thread().map_err(failed("use the GPU"))?;
        let pool = DevicePool::of(context)?;
        // SAFETY: the context is current, pool and stream are of it; nothing reads the memory before it is written.
        let allocated = unsafe {
            match &pool {
                Some(pool) => pool.allocate_on(stream, count),
                None => result::malloc_sync(count),
            }
        };
        Ok(Self {
            address: allocated.map_err(|_| Error::OutOfMemory { bytes })?,
            stream: stream.clone(),
            is_of_pool: pool.is_some(),
            _keeper: keeper.clone(),
        })
    }
}

impl Memory {
    /// A copy of so many bytes at this address. Waits for the work on the caller's stream.
    ///
    /// # Errors
    ///
    /// As [`Memory::new`].
    ///
    /// # Safety
    ///
    /// They are on the caller's GPU, and stay until the call ends.
    pub unsafe fn copy(caller: &CallerStream, address: u64, bytes: u64) -> Result<Self, Error> {
        let memory = Self::new(caller, bytes)?;
        let (stream, count) = (&caller.stream, bytes as usize);
        // SAFETY: both have so many bytes.
        unsafe { result::memcpy_dtod_async(memory.address, address, count, stream.cu_stream()) }
            .and_then(|()| stream.synchronize())
            .map_err(failed("copy the stream"))?;
        Ok(memory)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let context = self.stream.context();
        context.record_err(context.bind_to_thread());
        let freed = match self.is_of_pool {
            // SAFETY: allocated by `new` from the pool, and freed once, behind the last work that used it.
            true => unsafe { result::free_async(self.address, self.stream.cu_stream()) },
            false => {
                context.record_err(self.stream.synchronize());
                // SAFETY: allocated by `new` without a pool, and freed once, after the work on its stream.
                unsafe { result::free_sync(self.address) }
            }
        };
        context.record_err(freed);
    }
}
