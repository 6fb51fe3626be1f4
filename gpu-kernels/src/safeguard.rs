//! Safeguards: the corrections of decoded values, and mended values.

use ferrosz_simt::Thread;

pub mod find;
pub mod mend;

/// Threads in a block.
pub const THREADS: u32 = 256;

/// The number of this thread among all of the launch, and how many there are.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn thread_of<T: Thread>(t: T) -> [u64; 2] {
    let block = u64::from(t.block_index()) * u64::from(THREADS);
    let all = u64::from(t.block_count()) * u64::from(THREADS);
    [block + u64::from(t.thread_index()), all]
}
