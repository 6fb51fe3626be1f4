//! Kernels: the code of a thread, and the parameters of a launch.

use crate::{Package, Thread};

/// A kernel: the code of a thread, with all constants that a launch needs.
pub trait Kernel {
    /// Parameters, passed by value.
    type Params: Copy + 'static;
    /// The entry point's name in the PTX.
    const NAME: &'static str;
    /// The compiled code of the kernel's crate.
    const PACKAGE: Package = Package::EMPTY;
    /// Threads in a block, a multiple of 32.
    const THREADS: u32;
    /// Words of dynamic shared memory of a block.
    const SHARED_WORDS: u32;
    /// Blocks that a multiprocessor should hold at the same time: the assembler limits the registers of a thread so
    /// that they fit. 0 sets no such limit; a thread may then have as many registers as a single block leaves it.
    const RESIDENT_BLOCKS: u32 = 0;
    /// Runs one thread.
    fn run<T: Thread>(thread: T, params: &Self::Params);
}
