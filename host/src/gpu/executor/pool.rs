//! The device memory of a process: a pool for each GPU, so that a repeated call maps no memory.
//!
//! What a call frees stays in the pool, as to map new memory takes milliseconds for a gigabyte. The driver takes it out
//! when any other allocation of the process finds too little (`cuMemAlloc`, so also PyTorch and CuPy), and
//! [`DevicePool::trim`] takes it out at once.

use crate::error::Error;
use crate::gpu::driver::failed;
use cudarc::driver::{CudaContext, CudaStream, DriverError, result, sys};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The pool of a context.
#[derive(Clone)]
pub struct DevicePool {
    handles: Handles,
    context: Arc<CudaContext>,
}

#[derive(Clone, Copy)]
struct Handles {
    pool: sys::CUmemoryPool,
    /// Memory for any stream is allocated and freed in the order of this one, which does no work: so the driver knows at once
    /// what is free. It is none of `cudarc`'s, which would watch all memory for work on several streams if it had more than one.
    stream: sys::CUstream,
}

// SAFETY: the handles are only given to the driver, whose functions for pools and streams any thread may call.
unsafe impl Send for Handles {}
// SAFETY: as above.
unsafe impl Sync for Handles {}

/// The pools of contexts; none if the driver of a context's GPU has no pools. They are never destroyed: a pool that was
/// destroyed while memory of it was being freed made the driver (580.159.04) crash at the next wait.
static POOLS: Mutex<Vec<OfContext>> = Mutex::new(Vec::new());

struct OfContext(Arc<CudaContext>, Option<DevicePool>);

impl DevicePool {
    /// The pool of a context; none if the driver of its GPU has no pools.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`].
    pub fn of(context: &Arc<CudaContext>) -> Result<Option<Self>, Error> {
        let mut pools = pools();
        if let Some(OfContext(_, known)) = pools.iter().find(|known| known.0 == *context) {
            return Ok(known.clone());
        }
        let pool = match context.has_async_alloc() {
            true => Some(Self::new(context).map_err(failed("make a pool of memory"))?),
            false => None,
        };
        pools.push(OfContext(context.clone(), pool.clone()));
        Ok(pool)
    }

    /// A pool that keeps what is freed. It is one of its own, as the default one of the GPU belongs to the user.
    fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        let properties = sys::CUmemPoolProps {
            allocType: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: context.cu_device(),
            },
            win32SecurityAttributes: std::ptr::null_mut(),
            reserved: [0; 64],
        };
        context.bind_to_thread()?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        // SAFETY: the properties are complete, and those of a GPU with pools.
        let pool = unsafe { result::mem_pool::create(&properties) }?;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        let mut bytes = u64::MAX;
        let value = std::ptr::from_mut(&mut bytes).cast();
        // SAFETY: the pool is alive, and the attribute is a `u64`. Without it the pool is only slower.
        let _ = unsafe { result::mem_pool::set_attribute(pool, threshold, value) };
        Ok(Self {
            handles: Handles { pool, stream },
            context: context.clone(),
        })
    }

    /// Memory for any stream. The context must be current.
    ///
    /// # Errors
    ///
    /// The driver's, if there is too little.
    pub(super) fn allocate(&self, bytes: usize) -> Result<sys::CUdeviceptr, DriverError> {
        let Handles { pool, stream } = self.handles;
        // SAFETY: pool and stream are of one context; nothing reads the memory before it is written.
        unsafe {
            let address = result::mem_pool::alloc_async(pool, bytes, stream)?;
            result::stream::synchronize(stream)?;
            Ok(address)
        }
    }

    /// Frees memory of [`DevicePool::allocate`]. The context must be current.
    ///
    /// # Safety
    ///
    /// Nothing may use it any more.
    pub(super) unsafe fn free(&self, address: sys::CUdeviceptr) -> Result<(), DriverError> {
        // SAFETY: as the caller promises.
        unsafe { result::free_async(address, self.handles.stream) }
    }

    /// Memory for the work that is enqueued on a stream behind this call. It is freed by `cuMemFreeAsync`.
    ///
    /// # Errors
    ///
    /// The driver's, if there is too little.
    ///
    /// # Safety
    ///
    /// The stream must be of the pool's context, which must be current.
    pub unsafe fn allocate_on(
        &self,
        stream: &CudaStream,
        bytes: usize,
    ) -> Result<sys::CUdeviceptr, DriverError> {
        // SAFETY: as the caller promises.
        unsafe { result::mem_pool::alloc_async(self.handles.pool, bytes, stream.cu_stream()) }
    }

    /// Gives the memory of all pools that nothing uses back to the driver. Waits for the work that this process has on their
    /// GPUs, since memory is free when the work before has ended.
    pub fn trim() {
        let pools: Vec<_> = pools().iter().filter_map(|known| known.1.clone()).collect();
        for Self { handles, context } in pools {
            context.record_err(context.bind_to_thread());
            context.record_err(context.synchronize());
            // SAFETY: the pool is alive. If the driver refuses, the memory stays in the pool.
            let _ = unsafe { result::mem_pool::trim_to(handles.pool, 0) };
        }
    }
}

fn pools() -> MutexGuard<'static, Vec<OfContext>> {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}
