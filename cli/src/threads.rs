//! The threads that share the work of a command.

use crate::failure::Failure;
use rayon::ThreadPoolBuilder;
use std::thread;

/// Starts the threads of the pool; if none can start, the calling thread does all work.
pub fn start() {
    if ferrosz::start_threads() == 0 {
        let pool = ThreadPoolBuilder::new().num_threads(1);
        // It fails if there is a pool, which then does the work.
        let _ = pool.use_current_thread().build_global();
    }
}

/// Refuses what cannot be done without a thread beside those of the pool.
///
/// # Errors
///
/// If no thread can start.
pub fn need(what: &str) -> Result<(), Failure> {
    let started = thread::Builder::new().spawn(|| {});
    match started {
        Ok(thread) => {
            // It does nothing, so it does not fail.
            let _ = thread.join();
            Ok(())
        }
        Err(error) => Err(Failure::failed(format_args!(
            "{what} needs a thread of its own, and none can start: {error}"
        ))),
    }
}
