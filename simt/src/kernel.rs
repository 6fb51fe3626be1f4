//! One kernel: the code of a thread, with all that a launch needs to know.

use crate::{Package, Thread};

/// One kernel: the code of a thread, with all that a launch needs to know.
pub trait Kernel {
    /// Parameters, passed by value.
    type Params: Copy + 'static;
    /// The entry point's name in the PTX.
    const NAME: &'static str;
    /// Where the compiled code is.
    const PACKAGE: Package = Package::EMPTY;
    /// Threads in a block, a multiple of 32.
    const THREADS: u32;
    /// Words of dynamic shared memory a block needs.
    const SHARED_WORDS: u32;
    /// Blocks that a multiprocessor should hold at once: the assembler gives a thread no more registers than that
    /// leaves it. 0 says nothing; a thread then gets what a single block leaves it.
    const RESIDENT_BLOCKS: u32 = 0;
    /// What one thread does.
    fn run<T: Thread>(thread: T, params: &Self::Params);
}
