//! The emulator as an executor: its memory is in the host, and a launch finishes before it returns.

use crate::error::Error;
use crate::gpu::executor::{Blocks, Executor, Task};
use ferrosz_simt::emulator::Emulator;
use ferrosz_simt::{Kernel, View};
use std::cell::UnsafeCell;

/// Runs kernels on an [`Emulator`].
pub struct EmulatorExecutor {
    emulator: Emulator,
    /// How often memory was allocated.
    #[cfg(test)]
    pub(crate) allocations: std::sync::atomic::AtomicUsize,
}

/// An executor on an emulator that runs blocks and warps in their order.
pub fn new() -> EmulatorExecutor {
    EmulatorExecutor {
        emulator: Emulator::new(),
        #[cfg(test)]
        allocations: Default::default(),
    }
}

/// 16-byte aligned memory that kernels write through views.
pub struct EmulatorMemory(Box<[UnsafeCell<Unit>]>);

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Unit([u8; 16]);

/// Blocks that run at the same time: few, so that most take several tasks.
const BLOCKS_AT_ONCE: u32 = 3;

/// The contents of new memory, which reveal a kernel that omits a write.
const POISON: Unit = Unit([0xA5; 16]);

impl Executor for EmulatorExecutor {
    type Memory = EmulatorMemory;

    fn allocate(&self, bytes: u64) -> Result<EmulatorMemory, Error> {
        #[cfg(test)]
        self.allocations
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let failed = |_| Error::OutOfMemory { bytes };
        let units =
            usize::try_from(bytes.div_ceil(16)).map_err(|_| Error::OutOfMemory { bytes })?;
        let mut memory = Vec::new();
        memory.try_reserve_exact(units).map_err(failed)?;
        memory.resize_with(units, || UnsafeCell::new(POISON));
        Ok(EmulatorMemory(memory.into()))
    }

    fn view<W>(&self, memory: &EmulatorMemory) -> View<W> {
        let address = memory.0.as_ptr().cast::<W>().cast_mut();
        let len = size_of_val(&*memory.0) / size_of::<W>();
        // SAFETY: the cells may be written through shared references, their alignment is sufficient for any `W` of 16
        // bytes or less, and only the kernels of one launch at a time use them.
        unsafe { View::new(address, len as u64) }
    }

    fn clear(&self, cells: View<u64>) -> Result<(), Error> {
        // SAFETY: the view is of memory that `view` made, and no kernel runs.
        unsafe { std::ptr::write_bytes(cells.address(), 0, cells.len() as usize) };
        Ok(())
    }

    fn upload(&self, bytes: &[u8], to: View<u32>) -> Result<(), Error> {
        debug_assert!(bytes.len() as u64 <= 4 * to.len());
        // SAFETY: the view has at least as many bytes, and no kernel runs.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.address().cast(), bytes.len());
        }
        Ok(())
    }

    fn download<W>(&self, view: View<W>, from: u64, bytes: &mut [u8]) -> Result<(), Error> {
        debug_assert!(from + bytes.len() as u64 <= view.len() * size_of::<W>() as u64);
        let start = view.address().cast::<u8>().wrapping_add(from as usize);
        // SAFETY: the view holds the bytes, all of them initialised, and no kernel runs.
        unsafe { std::ptr::copy_nonoverlapping(start, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn blocks_at_once<K: Kernel>(&self) -> Result<u32, Error> {
        Ok(BLOCKS_AT_ONCE)
    }

    fn run(&self, task: &Task<'_>, blocks: Blocks) -> Result<(), Error> {
        let name = task.kernel.launch.name;
        let kernel = (task.kernel.package.emulated)(name)
            .ok_or_else(|| Error::KernelFault(format!("{name} is in no list of kernels")))?;
        let blocks = match blocks {
            Blocks::Just(blocks) => blocks,
            Blocks::Over(tasks) => tasks.min(BLOCKS_AT_ONCE),
        };
        kernel(&self.emulator, blocks, task.params)
            .map_err(|fault| Error::KernelFault(fault.to_string()))
    }
}
