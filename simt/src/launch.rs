//! The shape of a kernel's blocks, as a value.

use crate::Kernel;

/// A kernel as a list of kernels has it: its entry point, and the shape of its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// The entry point's name in the PTX.
    pub name: &'static str,
    /// Threads in a block.
    pub threads: u32,
    /// Words of dynamic shared memory that a block needs.
    pub shared_words: u32,
    /// Blocks that a multiprocessor should hold at once; 0 if that is not said.
    pub resident_blocks: u32,
}

impl Launch {
    /// That of a kernel.
    pub const fn of<K: Kernel>() -> Self {
        Self {
            name: K::NAME,
            threads: K::THREADS,
            shared_words: K::SHARED_WORDS,
            resident_blocks: K::RESIDENT_BLOCKS,
        }
    }
}
