//! Page-locked memory of the host. The driver copies to and from it at the speed of the bus while kernels run; other memory
//! it copies through a small page-locked buffer of its own, with one thread.

use crate::error::Error;
use crate::gpu::driver::failed;
use crate::gpu::executor::PIECE;
use crate::parallel;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result, sys};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Page-locked memory of the host. It takes the driver long to lock pages, so the memory should be used again.
pub struct PinnedMemory {
    address: *mut u8,
    bytes: usize,
    context: Arc<CudaContext>,
}

// SAFETY: it owns its memory, as a `Box<[u8]>` does.
unsafe impl Send for PinnedMemory {}
// SAFETY: as above.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    /// Memory of at least one byte, with any contents, for copies of all GPUs of this process.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] and [`Error::Cuda`].
    pub fn new(context: &Arc<CudaContext>, bytes: u64) -> Result<Self, Error> {
        let failed_to_allocate = |_| Error::OutOfMemory { bytes };
        let length = usize::try_from(bytes.max(1)).map_err(|_| Error::OutOfMemory { bytes })?;
        context.bind_to_thread().map_err(failed("use the GPU"))?;
        // SAFETY: the context is current. The pages are the operating system's, whose bytes have values.
        let address = unsafe { result::malloc_host(length, sys::CU_MEMHOSTALLOC_PORTABLE) }
            .map_err(failed_to_allocate)?;
        Ok(Self {
            address: address.cast(),
            bytes: length,
            context: context.clone(),
        })
    }
}

impl Deref for PinnedMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: it owns this memory. Whoever asks for copies into it has it borrowed until they have ended.
        unsafe { std::slice::from_raw_parts(self.address, self.bytes) }
    }
}

impl DerefMut for PinnedMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.bytes) }
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        self.context.record_err(self.context.bind_to_thread());
        // SAFETY: allocated by `new`, and freed once.
        let freed = unsafe { result::free_host(self.address.cast()) };
        self.context.record_err(freed);
    }
}

/// Pieces of a copy that are between the host's memory and the device's at the same time.
const SLOTS: usize = 4;

/// Copies that are shorter are left to the driver.
pub(super) const LEAST_STAGED: usize = 1 << 22;

/// Bytes that a thread copies at once.
const SHARE: usize = 1 << 20;

/// A page-locked piece, and the copy that uses it.
struct Slot {
    memory: PinnedMemory,
    /// Ends when the driver needs the memory no more.
    copied: CudaEvent,
}

impl Slot {
    fn new(context: &Arc<CudaContext>) -> Result<Self, Error> {
        Ok(Self {
            memory: PinnedMemory::new(context, PIECE as u64)?,
            copied: context.new_event(None).map_err(failed("make an event"))?,
        })
    }

    /// Waits until the last copy has ended.
    fn wait(&self) -> Result<(), Error> {
        let waited = self.copied.synchronize();
        waited.map_err(failed("copy between host and GPU"))
    }

    fn note(&self, stream: &CudaStream) -> Result<(), Error> {
        let noted = self.copied.record(stream);
        noted.map_err(failed("note a copy"))
    }
}

/// Copies between any memory of the host and that of a device, through page-locked pieces: the threads of the host fill or
/// empty a piece while the driver copies others.
pub(super) struct Staging {
    slots: Vec<Slot>,
}

impl Drop for Staging {
    fn drop(&mut self) {
        for slot in &self.slots {
            // An error is that of the stream, whose owner hears of it.
            let _ = slot.wait();
        }
    }
}

impl Staging {
    fn new(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let slots = (0..SLOTS).map(|_| Slot::new(context));
        Ok(Self {
            slots: slots.collect::<Result<_, _>>()?,
        })
    }

    /// Asks for a copy to the device; the bytes are read when this returns.
    ///
    /// # Safety
    ///
    /// There must be as much device memory at the address, until the work on the stream is done.
    pub(super) unsafe fn upload(
        &mut self,
        stream: &CudaStream,
        bytes: &[u8],
        to: u64,
    ) -> Result<(), Error> {
        for (number, piece) in bytes.chunks(PIECE).enumerate() {
            let slot = &mut self.slots[number % SLOTS];
            slot.wait()?;
            let staged = &mut slot.memory[..piece.len()];
            copy(piece, staged);
            let to = to + (number * PIECE) as u64;
            // SAFETY: the device's memory is as the caller promises. The piece is written again only after `copied`.
            unsafe { result::memcpy_htod_async(to, staged, stream.cu_stream()) }
                .map_err(failed("copy to the GPU"))?;
            slot.note(stream)?;
        }
        Ok(())
    }

    /// Copies from the device, after all work on the stream, and gives the pieces to `take` in their order.
    ///
    /// # Safety
    ///
    /// There must be as much device memory at the address.
    pub(super) unsafe fn download(
        &mut self,
        stream: &CudaStream,
        from: u64,
        length: usize,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        /// Pieces that are asked for before the first one is waited for.
        const AHEAD: usize = SLOTS - 1;
        let pieces = length.div_ceil(PIECE);
        let bytes_of = |number: usize| PIECE.min(length - number * PIECE);
        for number in 0..pieces + AHEAD {
            if number < pieces {
                let slot = &mut self.slots[number % SLOTS];
                slot.wait()?;
                let staged = &mut slot.memory[..bytes_of(number)];
                let from = from + (number * PIECE) as u64;
                // SAFETY: the device's memory is as the caller promises. The piece is read only after `copied`.
                unsafe { result::memcpy_dtoh_async(staged, from, stream.cu_stream()) }
                    .map_err(failed("copy from the GPU"))?;
                slot.note(stream)?;
            }
            if let Some(number) = number.checked_sub(AHEAD) {
                let slot = &self.slots[number % SLOTS];
                slot.wait()?;
                take(&slot.memory[..bytes_of(number)])?;
            }
        }
        Ok(())
    }
}

/// Copies bytes of the same length with all threads.
pub(super) fn copy(from: &[u8], to: &mut [u8]) {
    let shares = to.chunks_mut(SHARE).zip(from.chunks(SHARE));
    parallel::each(shares, |(to, from)| to.copy_from_slice(from));
}

/// The staging memory of a context, which calls take and give back.
#[derive(Default)]
pub(super) struct StagingPool(Mutex<Vec<Staging>>);

impl StagingPool {
    /// Runs a copy with staging memory, or without: page-locked memory may be scarce.
    pub(super) fn with<R>(
        &self,
        context: &Arc<CudaContext>,
        copy: impl FnOnce(Option<&mut Staging>) -> R,
    ) -> R {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = free().pop();
        let mut staging = found.or_else(|| Staging::new(context).ok());
        let result = copy(staging.as_mut());
        free().extend(staging);
        result
    }
}
