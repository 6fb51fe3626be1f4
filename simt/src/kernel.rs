//! One kernel: the code of a thread, with all that a launch needs to know.

use crate::Thread;

/// One kernel: the code of a thread, with all that a launch needs to know.
pub trait Kernel {
    /// Parameters, passed by value.
    type Params: Copy + 'static;
    /// The entry point's name in the PTX.
    const NAME: &'static str;
    /// Threads in a block, a multiple of 32.
    const THREADS: u32;
    /// Words of dynamic shared memory a block needs.
    const SHARED_WORDS: u32;
    /// Blocks that a multiprocessor should hold at once: the assembler gives a thread no more registers than that
    /// leaves it. 0 says nothing; a thread then gets what a single block leaves it.
    const RESIDENT_BLOCKS: u32 = 0;
    /// What one thread does.
    fn run<T: Thread>(thread: T, params: &Self::Params);

    /// [`Kernel::run`] on the emulator. A kernel that has it as a function of its own is compiled in its own crate
    /// alone, however many crates launch it.
    #[cfg(feature = "emulator")]
    fn emulate(thread: crate::emulator::EmulatorThread<'_>, params: &Self::Params) {
        Self::run(thread, params);
    }
}
