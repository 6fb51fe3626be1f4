//! An NVIDIA GPU as an executor, through the CUDA driver, which is loaded at run time.

use crate::error::Error;
use crate::gpu::driver::{self, failed};
use crate::gpu::executor::code::Code;
use crate::gpu::executor::pinned::{self, LEAST_STAGED, Staging, StagingPool};
use crate::gpu::executor::pool::DevicePool;
use crate::gpu::executor::{Blocks, Executor, KernelEntry, PIECE, Task};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream, result, sys};
use cudarc::nvrtc::Ptx;
use ferrosz_simt::{Kernel, View};
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Kernels to load, by name.
pub(crate) type Loads = BTreeMap<&'static str, KernelEntry>;

/// The kernels, each loaded into a context when it is first used.
#[derive(Clone)]
pub struct Kernels {
    context: Arc<CudaContext>,
    functions: Arc<Mutex<HashMap<&'static str, Slot>>>,
    staging: Arc<StagingPool>,
    lanes: Arc<LanePool>,
}

/// Streams for work beside that of a caller's stream. Who takes some has them alone.
#[derive(Default)]
struct LanePool(Mutex<Vec<Arc<CudaStream>>>);

impl LanePool {
    fn take(
        &self,
        context: &Arc<CudaContext>,
        count: usize,
    ) -> Result<Vec<Arc<CudaStream>>, Error> {
        let mut taken = {
            let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = idle.len().saturating_sub(count);
            idle.split_off(kept)
        };
        while taken.len() < count {
            taken.push(context.new_stream().map_err(failed("make a stream"))?);
        }
        Ok(taken)
    }

    fn give_back(&self, streams: Vec<Arc<CudaStream>>) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(streams);
    }
}

/// The loaded kernel, if it is loaded. The driver compiles it under no lock but this one, so that only calls that need
/// the same kernel wait.
type Slot = Arc<Mutex<Option<Loaded>>>;

/// A kernel in a context.
#[derive(Clone)]
struct Loaded {
    function: CudaFunction,
    /// Blocks that the GPU runs at the same time.
    blocks_at_once: u32,
}

impl Kernels {
    /// The kernels on the GPU with this number, shared by the whole process.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if there is no driver or no such GPU; [`Error::OldGpu`].
    pub fn of_device(ordinal: usize) -> Result<Self, Error> {
        static OPENED: OnceLock<Mutex<HashMap<usize, Kernels>>> = OnceLock::new();
        let opened = OPENED.get_or_init(Mutex::default);
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernels) = opened.get(&ordinal) {
            return Ok(kernels.clone());
        }
        let kernels = Self::in_context(driver::open(ordinal)?);
        opened.insert(ordinal, kernels.clone());
        Ok(kernels)
    }

    /// The kernels in a context.
    pub fn in_context(context: Arc<CudaContext>) -> Self {
        Self {
            context,
            functions: Arc::default(),
            staging: Arc::default(),
            lanes: Arc::default(),
        }
    }

    /// The context that the kernels are loaded into.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// Locks the pages that long copies go through.
    pub(crate) fn prepare_copies(&self) {
        self.staging.with(&self.context, |_| ());
    }

    /// An executor on the context's default stream.
    pub(crate) fn on_default_stream(&self) -> CudaExecutor<'_> {
        CudaExecutor {
            kernels: self,
            stream: self.context.default_stream(),
        }
    }

    /// A kernel, which is loaded if necessary.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] if the driver refuses it.
    fn function(&self, kernel: &KernelEntry) -> Result<Loaded, Error> {
        let slot = {
            let functions = self.functions.lock();
            let mut functions = functions.unwrap_or_else(PoisonError::into_inner);
            functions.entry(kernel.launch.name).or_default().clone()
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = &*slot {
            return Ok(loaded.clone());
        }
        let function = self
            .module(kernel)?
            .load_function(kernel.launch.name)
            .map_err(failed("load a kernel"))?;
        function
            .set_attribute(
                sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                shared_bytes(kernel) as i32,
            )
            .map_err(failed("reserve shared memory"))?;
        let loaded = Loaded {
            blocks_at_once: self.blocks_at_once(kernel, &function)?,
            function,
        };
        *slot = Some(loaded.clone());
        Ok(loaded)
    }

    /// The module of a kernel: its machine code, if there is some and the driver accepts it (a driver older than the
    /// assembler may not), otherwise its PTX, which the driver compiles. As for NVIDIA's own libraries,
    /// `CUDA_FORCE_PTX_JIT=1` in the environment selects the PTX.
    fn module(&self, kernel: &KernelEntry) -> Result<Arc<CudaModule>, Error> {
        let code = Code::of(kernel)?;
        let capability = self.context.compute_capability();
        let capability = capability.map_err(failed("ask what the GPU can do"))?;
        if std::env::var_os("CUDA_FORCE_PTX_JIT").is_none_or(|wish| wish != "1")
            && let Some(machine_code) = code.machine_code(capability)
            && let Ok(module) = self.context.load_module(Ptx::from_binary(machine_code))
        {
            return Ok(module);
        }
        self.context
            .load_module(Ptx::from_src(code.ptx()?))
            .map_err(failed("load a kernel"))
    }

    /// Loads kernels, one after the other, if necessary. Threads would not help: the driver never compiles two kernels
    /// at the same time (docs/measurements/h200-cold.md).
    pub(crate) fn load_all(&self, loads: Loads) -> Result<(), Error> {
        let bound = self.context.bind_to_thread();
        bound.map_err(failed("use the GPU"))?;
        loads
            .values()
            .try_for_each(|kernel| self.function(kernel).map(|_| ()))
    }

    /// Blocks of a kernel that the GPU runs at the same time, at least one.
    fn blocks_at_once(&self, kernel: &KernelEntry, function: &CudaFunction) -> Result<u32, Error> {
        let bytes = shared_bytes(kernel) as usize;
        let per_multiprocessor = function
            .occupancy_max_active_blocks_per_multiprocessor(kernel.launch.threads, bytes, None)
            .map_err(failed("ask how many blocks a multiprocessor runs"))?;
        let multiprocessors = self
            .context
            .attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(failed("count multiprocessors"))?;
        let blocks = per_multiprocessor.saturating_mul(u32::try_from(multiprocessors).unwrap_or(1));
        Ok(blocks.max(1))
    }

    /// Runs a kernel on a stream.
    pub(crate) fn launch(
        &self,
        stream: sys::CUstream,
        task: &Task<'_>,
        blocks: Blocks,
    ) -> Result<(), Error> {
        let Loaded {
            function,
            blocks_at_once,
        } = self.function(&task.kernel)?;
        let blocks = match blocks {
            Blocks::Just(blocks) => blocks,
            Blocks::Over(tasks) => tasks.min(blocks_at_once),
        };
        let mut arguments = [std::ptr::from_ref(task.params).cast::<c_void>().cast_mut()];
        // SAFETY: the function's only argument is the kernel's parameters by value, which a task has; the views in them
        // are valid by their own contract.
        unsafe {
            result::launch_kernel(
                function.cu_function(),
                (blocks, 1, 1),
                (task.kernel.launch.threads, 1, 1),
                shared_bytes(&task.kernel),
                stream,
                &mut arguments,
            )
        }
        .map_err(failed("launch a kernel"))
    }
}

/// The alignment of memory that kernels read and write in units of 16 bytes.
pub(crate) const ALIGNMENT: u64 = 16;

/// `bytes` bytes of device memory at `address` as words.
///
/// # Errors
///
/// [`Error::Misaligned`], which names the argument.
///
/// # Safety
///
/// As for [`View::new`].
pub unsafe fn words(argument: &'static str, address: u64, bytes: u64) -> Result<View<u32>, Error> {
    if !address.is_multiple_of(ALIGNMENT) {
        return Err(Error::Misaligned {
            argument,
            alignment: ALIGNMENT,
        });
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { View::new(address as *mut u32, bytes / 4) })
}

/// Bytes of shared memory that a block of a kernel needs.
const fn shared_bytes(kernel: &KernelEntry) -> u32 {
    4 * kernel.launch.shared_words
}

/// Runs kernels on one stream of a GPU.
pub struct CudaExecutor<'a> {
    pub(crate) kernels: &'a Kernels,
    pub(crate) stream: Arc<CudaStream>,
}

/// Memory of the GPU, freed on drop after all work on its stream.
pub struct CudaMemory {
    address: sys::CUdeviceptr,
    bytes: u64,
    stream: Arc<CudaStream>,
    owner: Owner,
}

/// Who frees memory of the GPU.
enum Owner {
    Pool(DevicePool),
    /// The driver of the GPU has no pools.
    Driver,
    Caller,
}

impl CudaMemory {
    /// Memory of a stream's context, at least 16 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] and [`Error::Cuda`].
    pub fn new(stream: &Arc<CudaStream>, bytes: u64) -> Result<Self, Error> {
        let bytes = bytes.next_multiple_of(16).max(16);
        let count = usize::try_from(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        let context = stream.context();
        context.bind_to_thread().map_err(failed("use the GPU"))?;
        let (address, owner) = match DevicePool::of(context)? {
            Some(pool) => (pool.allocate(count), Owner::Pool(pool)),
            // SAFETY: the context is current; nothing reads the memory before it is written.
            None => (unsafe { result::malloc_sync(count) }, Owner::Driver),
        };
        Ok(Self {
            address: address.map_err(|_| Error::OutOfMemory { bytes })?,
            bytes,
            stream: stream.clone(),
            owner,
        })
    }

    /// Memory of the caller, which keeps it.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`], which names the argument.
    ///
    /// # Safety
    ///
    /// It must be device memory of the stream's context that stays valid, and that nothing else uses, until the last work
    /// on this object has finished.
    pub unsafe fn of_caller(
        stream: &Arc<CudaStream>,
        argument: &'static str,
        address: u64,
        bytes: u64,
    ) -> Result<Self, Error> {
        // SAFETY: as the caller promises.
        unsafe { words(argument, address, bytes) }?;
        Ok(Self {
            address,
            bytes,
            stream: stream.clone(),
            owner: Owner::Caller,
        })
    }

    /// The stream that it was made for.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Asks for all bytes to be 0.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`].
    pub fn clear(&self) -> Result<(), Error> {
        clear(self.view::<u64>(), &self.stream)
    }

    /// Copies bytes from byte `from` on, after all work on `stream` has finished.
    pub(crate) fn read(
        &self,
        stream: &CudaStream,
        from: u64,
        bytes: &mut [u8],
    ) -> Result<(), Error> {
        debug_assert!(from + bytes.len() as u64 <= self.bytes);
        // SAFETY: the memory holds the bytes, and this function waits for the copy before it returns.
        unsafe { result::memcpy_dtoh_async(bytes, self.address + from, stream.cu_stream()) }
            .and_then(|()| stream.synchronize())
            .map_err(failed("copy from the GPU"))
    }

    /// A view of all of it.
    pub fn view<W>(&self) -> View<W> {
        // SAFETY: the memory is valid until this owner is dropped; see `Executor::view`.
        unsafe { View::new(self.address as *mut W, self.bytes / size_of::<W>() as u64) }
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        if matches!(self.owner, Owner::Caller) {
            return;
        }
        let context = self.stream.context();
        context.record_err(context.bind_to_thread());
        context.record_err(self.stream.synchronize());
        // SAFETY: allocated by `new`, and freed once, after the last work that used it.
        let freed = unsafe {
            match &self.owner {
                Owner::Pool(pool) => pool.free(self.address),
                Owner::Driver => result::free_sync(self.address),
                Owner::Caller => Ok(()),
            }
        };
        context.record_err(freed);
    }
}

/// Enqueues the clearing of cells.
fn clear(cells: View<u64>, stream: &CudaStream) -> Result<(), Error> {
    let bytes = cells.len() as usize * size_of::<u64>();
    // SAFETY: the view is of valid memory with this many bytes.
    unsafe { result::memset_d8_async(cells.address() as u64, 0, bytes, stream.cu_stream()) }
        .map_err(failed("clear the workspace"))
}

impl CudaExecutor<'_> {
    /// Runs a copy of so many bytes, with staging memory if it is long.
    fn with_staging<R>(&self, bytes: usize, copy: impl FnOnce(Option<&mut Staging>) -> R) -> R {
        let context = self.stream.context();
        match bytes < LEAST_STAGED {
            true => copy(None),
            false => self.kernels.staging.with(context, copy),
        }
    }
}

impl Executor for CudaExecutor<'_> {
    type Memory = CudaMemory;

    fn allocate(&self, bytes: u64) -> Result<CudaMemory, Error> {
        CudaMemory::new(&self.stream, bytes)
    }

    fn view<W>(&self, memory: &CudaMemory) -> View<W> {
        memory.view()
    }

    fn clear(&self, cells: View<u64>) -> Result<(), Error> {
        clear(cells, &self.stream)
    }

    fn upload(&self, bytes: &[u8], to: View<u32>) -> Result<(), Error> {
        debug_assert!(bytes.len() as u64 <= 4 * to.len());
        let (address, stream) = (to.address() as u64, &self.stream);
        self.with_staging(bytes.len(), |staging| match staging {
            // SAFETY: the view has at least as many bytes.
            Some(staging) => unsafe { staging.upload(stream, bytes, address) },
            // SAFETY: as above; a copy from pageable memory has read them all when it returns.
            None => unsafe { result::memcpy_htod_async(address, bytes, stream.cu_stream()) }
                .map_err(failed("copy to the GPU")),
        })
    }

    fn download<W>(&self, view: View<W>, from: u64, bytes: &mut [u8]) -> Result<(), Error> {
        debug_assert!(from + bytes.len() as u64 <= view.len() * size_of::<W>() as u64);
        if bytes.len() < LEAST_STAGED {
            // SAFETY: the view holds the bytes, and this function waits for the copy before it returns.
            return unsafe {
                let address = view.address() as u64 + from;
                result::memcpy_dtoh_async(bytes, address, self.stream.cu_stream())
            }
            .and_then(|()| self.stream.synchronize())
            .map_err(failed("copy from the GPU"));
        }
        let length = bytes.len() as u64;
        let mut rest = bytes;
        self.download_to(view, from, length, &mut |piece| {
            let (own, behind) = std::mem::take(&mut rest).split_at_mut(piece.len());
            pinned::copy(piece, own);
            rest = behind;
            Ok(())
        })
    }

    fn download_to<W>(
        &self,
        view: View<W>,
        from: u64,
        length: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        debug_assert!(from + length <= view.len() * size_of::<W>() as u64);
        let (address, stream) = (view.address() as u64 + from, &self.stream);
        let context = stream.context();
        self.kernels.staging.with(context, |staging| match staging {
            // SAFETY: the view holds the bytes.
            Some(staging) => unsafe { staging.download(stream, address, length as usize, take) },
            None => {
                let mut piece = vec![0; PIECE.min(length as usize)];
                for start in (0..length).step_by(PIECE) {
                    let piece = &mut piece[..PIECE.min((length - start) as usize)];
                    // SAFETY: the view holds the bytes, and the copy is waited for.
                    unsafe {
                        result::memcpy_dtoh_async(piece, address + start, stream.cu_stream())
                    }
                    .and_then(|()| stream.synchronize())
                    .map_err(failed("copy from the GPU"))?;
                    take(piece)?;
                }
                Ok(())
            }
        })
    }

    fn in_lanes(
        &self,
        lanes: usize,
        work: &mut dyn FnMut(&Self, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if lanes <= 1 {
            return (0..lanes).try_for_each(|lane| work(self, lane));
        }
        let fork = |error| failed("fork a stream")(error);
        let streams = self.kernels.lanes.take(&self.kernels.context, lanes - 1)?;
        let start = self.stream.record_event(None).map_err(fork)?;
        let mut done = Ok(());
        for (lane, stream) in [&self.stream].into_iter().chain(&streams).enumerate() {
            let executor = CudaExecutor {
                kernels: self.kernels,
                stream: stream.clone(),
            };
            if lane > 0 {
                stream.wait(&start).map_err(fork)?;
            }
            done = done.and_then(|()| work(&executor, lane));
        }
        // Also after an error: the memory of what runs belongs to this stream.
        for stream in &streams {
            self.stream.join(stream).map_err(fork)?;
        }
        self.kernels.lanes.give_back(streams);
        done
    }

    fn blocks_at_once<K: Kernel>(&self) -> Result<u32, Error> {
        let kernel = self.kernels.function(&KernelEntry::of::<K>())?;
        Ok(kernel.blocks_at_once)
    }

    fn run(&self, task: &Task<'_>, blocks: Blocks) -> Result<(), Error> {
        self.kernels.launch(self.stream.cu_stream(), task, blocks)
    }
}
