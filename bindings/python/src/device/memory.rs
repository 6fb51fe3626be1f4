//! Device memory of calls and of results: from a pool for each GPU, in the order of a stream.

use crate::device::stream::{CallerStream, failed};
use ferrosz::Error;
use ferrosz::cuda::cudarc::driver::{CudaContext, CudaStream, DriverError, result, sys};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Of the memory of a GPU, one of so many bytes stays in the pool when the GPU is waited for, though nothing uses it: to map
/// new memory takes milliseconds for a gigabyte.
const KEPT_ONE_OF: usize = 32;

/// The device memory to work in that an object keeps from one call to the next, for each GPU: as much as its calls have
/// needed at the same time.
#[derive(Default)]
pub struct Kept {
    idle: Mutex<Vec<Memory>>,
}

impl Kept {
    /// At least so many bytes to work in, on the caller's stream: memory that an earlier call has put back or, if that is too
    /// short, new memory in place of it.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] and [`Error::Cuda`].
    pub fn take(&self, caller: &CallerStream, bytes: u64) -> Result<Memory, Error> {
        let ordinal = caller.gpu.context().ordinal();
        let found = {
            let mut idle = locked(&self.idle);
            let of_gpu = |memory: &Memory| memory.stream.context().ordinal() == ordinal;
            let long = idle.iter().position(|it| of_gpu(it) && it.bytes >= bytes);
            let place = long.or_else(|| idle.iter().position(of_gpu));
            place.map(|place| idle.swap_remove(place))
        };
        match found {
            Some(memory) if memory.bytes >= bytes => Ok(memory.on(caller)),
            // It is freed first, as there may be no room for both.
            too_short => {
                drop(too_short);
                self.allocate(caller, bytes)
            }
        }
    }

    /// Takes memory back that no work uses any more, on any stream.
    pub fn put(&self, memory: Memory) {
        locked(&self.idle).push(memory);
    }

    /// Allocates this many bytes. If the GPU has too little, this object and the pools release their unused memory, and the
    /// allocation is tried once more.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] and [`Error::Cuda`].
    pub fn allocate(&self, caller: &CallerStream, bytes: u64) -> Result<Memory, Error> {
        let pool = pool_of(caller.gpu.context())?;
        Memory::new(caller, pool.as_ref(), bytes).or_else(|_| {
            self.release();
            Memory::new(caller, pool.as_ref(), bytes)
        })
    }

    /// Frees the memory to work in that this object keeps, and gives the free memory of all pools back to the driver.
    pub fn release(&self) {
        // Freed when the lock is free again, as that may wait for the GPUs.
        let idle = std::mem::take(&mut *locked(&self.idle));
        let streams: Vec<_> = idle.iter().map(|memory| memory.stream.clone()).collect();
        drop(idle);
        for stream in streams {
            // Memory is free when the work before has ended.
            let context = stream.context();
            context.record_err(stream.synchronize());
        }
        for pool in locked(&POOLS).iter() {
            pool.trim();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Device memory, which is freed in the order of its stream.
pub struct Memory {
    /// The address, a multiple of 256.
    pub address: u64,
    bytes: u64,
    stream: Arc<CudaStream>,
    is_of_pool: bool,
    /// What keeps the stream.
    _keeper: Option<Arc<Py<PyAny>>>,
}

impl Memory {
    fn new(caller: &CallerStream, pool: Option<&Pool>, bytes: u64) -> Result<Self, Error> {
        let CallerStream { stream, keeper, .. } = caller;
        let count = size_of_memory(bytes)?;
        let context = stream.context();
        context.bind_to_thread().map_err(failed("use the GPU"))?;
        // SAFETY: the context is current, pool and stream are of its GPU; nothing reads the memory before it is written.
        let allocated = unsafe {
            match pool {
                Some(pool) => result::mem_pool::alloc_async(pool.0, count, stream.cu_stream()),
                None => result::malloc_sync(count),
            }
        };
        Ok(Self {
            address: allocated.map_err(|_| Error::OutOfMemory { bytes })?,
            bytes,
            stream: stream.clone(),
            is_of_pool: pool.is_some(),
            _keeper: keeper.clone(),
        })
    }

    /// The same memory, which no work uses, for work on another stream.
    fn on(mut self, caller: &CallerStream) -> Self {
        self.stream = caller.stream.clone();
        self._keeper = caller.keeper.clone();
        self
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

/// The pools of this process by the numbers of their GPUs. They are never destroyed: a pool that was destroyed while memory of
/// it was being freed made the driver (580.159.04) crash at the next wait.
static POOLS: Mutex<Vec<OfGpu>> = Mutex::new(Vec::new());

/// The number of a GPU, and its pool.
struct OfGpu(usize, Pool);

impl OfGpu {
    fn trim(&self) {
        // SAFETY: the pool is alive. If the driver refuses, the memory stays in the pool.
        let _ = unsafe { result::mem_pool::trim_to(self.1.0, 0) };
    }
}

/// The pool of a GPU; none if its driver has no pools.
fn pool_of(context: &Arc<CudaContext>) -> Result<Option<Pool>, Error> {
    if !context.has_async_alloc() {
        return Ok(None);
    }
    let mut pools = locked(&POOLS);
    if let Some(known) = pools.iter().find(|pool| pool.0 == context.ordinal()) {
        return Ok(Some(known.1));
    }
    let pool = Pool::new(context).map_err(failed("make a pool of memory"))?;
    pools.push(OfGpu(context.ordinal(), pool));
    Ok(Some(pool))
}

/// A pool of device memory. The default pool of the GPU belongs to the user, and so does its release threshold.
#[derive(Clone, Copy)]
struct Pool(sys::CUmemoryPool);

// SAFETY: the handle is only given to the driver, whose functions for pools any thread may call.
unsafe impl Send for Pool {}

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
        let (_, all) = result::mem_get_info()?;
        // SAFETY: the properties are complete, and those of a GPU with pools.
        let pool = Self(unsafe { result::mem_pool::create(&properties) }?);
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        let mut bytes = (all / KEPT_ONE_OF) as u64;
        let value = std::ptr::from_mut(&mut bytes).cast();
        // SAFETY: the pool is alive, and the attribute is a `u64`. Without it the pool is only slower.
        let _ = unsafe { result::mem_pool::set_attribute(pool.0, threshold, value) };
        Ok(pool)
    }
}

/// A number of bytes as the driver takes it: at least one.
fn size_of_memory(bytes: u64) -> Result<usize, Error> {
    let count = usize::try_from(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    Ok(count.max(1))
}
