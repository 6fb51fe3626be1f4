//! The entry point and block shape of a kernel, as a value.

use crate::Kernel;

/// An entry of a list of kernels: the entry point and the shape of the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// The entry point's name in the PTX.
    pub name: &'static str,
    /// Threads in a block.
    pub threads: u32,
    /// Words of dynamic shared memory that a block needs.
    pub shared_words: u32,
    /// Blocks that a multiprocessor should hold at the same time; 0 sets no limit.
    pub resident_blocks: u32,
}

impl Launch {
    /// The entry of a kernel.
    pub const fn of<K: Kernel>() -> Self {
        Self {
            name: K::NAME,
            threads: K::THREADS,
            shared_words: K::SHARED_WORDS,
            resident_blocks: K::RESIDENT_BLOCKS,
        }
    }
}
