//! Device memory of calls and of results, which an object keeps for its next calls.

use crate::device::stream::{CallerStream, failed};
use ferrosz::Error;
use ferrosz::cuda::cudarc::driver::{CudaContext, CudaStream, DriverError, result, sys};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The device memory that an object keeps from one call to the next, for each GPU: memory to work in, as much as its calls
/// have needed at the same time, and a pool for results.
#[derive(Default)]
pub struct Kept {
    idle: Mutex<Vec<Scratch>>,
    pools: Mutex<Vec<Arc<Pool>>>,
}

impl Kept {
    /// At least so many bytes to work in: memory that an earlier call has put back or, if that is too short, new memory in
    /// place of it.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn take(&self, context: &Arc<CudaContext>, bytes: u64) -> Result<Scratch, Error> {
        let found = {
            let mut idle = locked(&self.idle);
            let of_gpu = |scratch: &Scratch| scratch.context.ordinal() == context.ordinal();
            let long = idle.iter().position(|it| of_gpu(it) && it.bytes >= bytes);
            let place = long.or_else(|| idle.iter().position(of_gpu));
            place.map(|place| idle.swap_remove(place))
        };
        match found {
            Some(scratch) if scratch.bytes >= bytes => Ok(scratch),
            // It is freed first, as there may be no room for both.
            too_short => {
                drop(too_short);
                self.or_release(|| Scratch::new(context, bytes))
            }
        }
    }

    /// Takes memory back that no work uses any more, on any stream.
    pub fn put(&self, scratch: Scratch) {
        locked(&self.idle).push(scratch);
    }

    /// Memory for a result of so many bytes, from the pool of the GPU.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] and [`Error::Cuda`].
    pub fn allocate(&self, caller: &CallerStream, bytes: u64) -> Result<Memory, Error> {
        let pool = self.pool(caller.gpu.context())?;
        self.or_release(|| Memory::new(caller, pool.as_ref(), bytes))
    }

    /// The pool of a GPU; none if its driver has no pools.
    fn pool(&self, context: &Arc<CudaContext>) -> Result<Option<Arc<Pool>>, Error> {
        if !context.has_async_alloc() {
            return Ok(None);
        }
        let mut pools = locked(&self.pools);
        let of_gpu = |pool: &&Arc<Pool>| pool.context.ordinal() == context.ordinal();
        if let Some(pool) = pools.iter().find(of_gpu) {
            return Ok(Some(pool.clone()));
        }
        let pool = Arc::new(Pool::new(context).map_err(failed("make a pool of memory"))?);
        pools.push(pool.clone());
        Ok(Some(pool))
    }

    /// Allocates; if there is too little memory, once more without that which is kept.
    fn or_release<M>(&self, allocate: impl Fn() -> Result<M, Error>) -> Result<M, Error> {
        allocate().or_else(|_| {
            self.release();
            allocate()
        })
    }

    /// Frees what no call and no result uses.
    pub fn release(&self) {
        // Freed when the lock is free again, as that waits for the GPUs.
        let idle = std::mem::take(&mut *locked(&self.idle));
        drop(idle);
        for pool in locked(&self.pools).iter() {
            pool.trim();
        }
    }
}

impl Drop for Kept {
    /// Results may keep their pool, which from now on keeps nothing else.
    fn drop(&mut self) {
        for pool in locked(&self.pools).iter() {
            pool.keep(0);
        }
        // Without the lock of the interpreter, which work that is waited for may need.
        let released = Python::try_attach(|py| py.detach(|| self.release()));
        if released.is_none() {
            self.release();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Device memory for the work of a call. It belongs to no stream: a call puts it back only after it has waited for its
/// work, so the next one may use another stream.
pub struct Scratch {
    /// The address, a multiple of 256.
    pub address: u64,
    bytes: u64,
    context: Arc<CudaContext>,
}

impl Scratch {
    fn new(context: &Arc<CudaContext>, bytes: u64) -> Result<Self, Error> {
        let out_of_memory = |_: DriverError| Error::OutOfMemory { bytes };
        let count = size_of_memory(bytes)?;
        context.bind_to_thread().map_err(failed("use the GPU"))?;
        // SAFETY: the context is current; nothing reads the memory before it is written.
        let address = unsafe { result::malloc_sync(count) }.map_err(out_of_memory)?;
        Ok(Self {
            address,
            bytes,
            context: context.clone(),
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A call that failed may have left work behind. This also makes the context current.
        self.context.record_err(self.context.synchronize());
        // SAFETY: allocated by `new`, and freed once, after the last work that used it.
        self.context
            .record_err(unsafe { result::free_sync(self.address) });
    }
}

/// Device memory of a result. It is freed in the order of its stream.
pub struct Memory {
    /// The address.
    pub address: u64,
    stream: Arc<CudaStream>,
    /// None if it is of no pool.
    pool: Option<Arc<Pool>>,
    /// What keeps the stream.
    _keeper: Option<Arc<Py<PyAny>>>,
}

impl Memory {
    fn new(caller: &CallerStream, pool: Option<&Arc<Pool>>, bytes: u64) -> Result<Self, Error> {
        let CallerStream { stream, keeper, .. } = caller;
        let count = size_of_memory(bytes)?;
        let context = stream.context();
        context.bind_to_thread().map_err(failed("use the GPU"))?;
        // SAFETY: the context is current, pool and stream are of its GPU; nothing reads the memory before it is written.
        let allocated = unsafe {
            match pool {
                Some(pool) => result::mem_pool::alloc_async(pool.handle, count, stream.cu_stream()),
                None => result::malloc_sync(count),
            }
        };
        Ok(Self {
            address: allocated.map_err(|_| Error::OutOfMemory { bytes })?,
            stream: stream.clone(),
            pool: pool.cloned(),
            _keeper: keeper.clone(),
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let context = self.stream.context();
        context.record_err(context.bind_to_thread());
        let freed = match &self.pool {
            // SAFETY: allocated by `new` from the pool, and freed once.
            Some(_) => unsafe { result::free_async(self.address, self.stream.cu_stream()) },
            None => {
                context.record_err(self.stream.synchronize());
                // SAFETY: allocated by `new` without a pool, and freed once, after the work on its stream.
                unsafe { result::free_sync(self.address) }
            }
        };
        context.record_err(freed);
    }
}

/// A pool of device memory. Memory that is freed stays in it, as mapping new memory takes milliseconds for a gigabyte. The
/// default pool of the GPU belongs to the user, and so does its release threshold.
struct Pool {
    handle: sys::CUmemoryPool,
    context: Arc<CudaContext>,
}

// SAFETY: the handle is only given to the driver, whose functions for pools any thread may call.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
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
        // SAFETY: the properties are complete, and those of a GPU with pools.
        let handle = unsafe { result::mem_pool::create(&properties) }?;
        let pool = Self {
            handle,
            context: context.clone(),
        };
        pool.keep(u64::MAX);
        Ok(pool)
    }

    /// Sets the bytes of free memory that the pool keeps when the GPU is waited for. Without it the pool is only slower.
    fn keep(&self, mut bytes: u64) {
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        let value = std::ptr::from_mut(&mut bytes).cast();
        // SAFETY: the pool is alive, and the attribute is a `u64`.
        let _ = unsafe { result::mem_pool::set_attribute(self.handle, threshold, value) };
    }

    /// Frees the memory that no result uses. If the driver refuses, the memory stays in the pool.
    fn trim(&self) {
        // SAFETY: the pool is alive.
        let _ = unsafe { result::mem_pool::trim_to(self.handle, 0) };
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: no result has memory of the pool any more; the driver waits until the last has been freed.
        let destroyed = unsafe { result::mem_pool::destroy(self.handle) };
        self.context.record_err(destroyed);
    }
}

/// A number of bytes as the driver takes it: at least one.
fn size_of_memory(bytes: u64) -> Result<usize, Error> {
    let count = usize::try_from(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    Ok(count.max(1))
}
