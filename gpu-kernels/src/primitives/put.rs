//! Writes a few words that the host knows.
//!
//! They are passed as parameters of the launch, not as a copy from the host's memory: a captured graph stores the source
//! of a copy as a pointer, and reads it again at every replay.

use crate::PACKAGE;
use ferrosz_simt::{Kernel, Package, Thread, View};

/// The most words of a launch.
pub const MAX_WORDS: usize = 64;

/// Threads in a block.
pub const THREADS: u32 = MAX_WORDS as u32;

/// Writes words. Launched with one block.
pub struct Put;

/// Parameters of [`Put`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PutParams {
    /// The output, as many words as are written.
    pub to: View<u32>,
    /// The words.
    pub words: [u32; MAX_WORDS],
}

impl Kernel for Put {
    type Params = PutParams;
    const NAME: &'static str = "ferrosz_put";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &PutParams) {
        // One thread, with positions that the compiler knows: parameters have no addresses that depend on a thread.
        if t.thread_index() == 0 {
            for (at, word) in (0..).zip(&params.words) {
                if at < params.to.len() {
                    t.store(params.to, at, *word);
                }
            }
        }
    }
}
