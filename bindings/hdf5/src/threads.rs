//! The threads of a call.

use crate::failure::Failure;
use rayon::ThreadPoolBuilder;
use std::thread::available_parallelism;

/// A chunk gets a thread for so many bytes. Fewer do not repay the start of a thread, which takes some 20 microseconds.
const BYTES_OF_A_THREAD: usize = 1 << 18;

/// Runs work on a chunk of so many bytes on threads of its own, which end with it.
///
/// The threads of a process are gone in a child that is forked from it, such as a worker of Python's multiprocessing, and a
/// child that waits for them waits for ever. HDF5 may also unload the plugin at any time between two calls.
pub fn with_threads<T: Send>(
    bytes: usize,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let cores = available_parallelism().map_or(1, usize::from);
    let threads = (bytes / BYTES_OF_A_THREAD).clamp(1, cores);
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_scoped(|thread| thread.run(), |pool| pool.install(work))
        .map_err(|error| Failure::new(format_args!("no threads for a chunk: {error}")))?
}
