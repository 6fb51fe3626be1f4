//! The threads that share the work of a command.
//!
//! Rayon ends the process if one of its threads cannot start, as where the number of processes is limited. So the threads
//! are started here, before rayon is asked for any, and it is given those that started: none of them is then missing.

use crate::failure::Failure;
use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The variable with the number of rayon's threads.
const NUMBER: &str = "RAYON_NUM_THREADS";

/// The threads that wait for their part of the pool.
type Waiting = Arc<Mutex<Receiver<ThreadBuilder>>>;

/// Starts the threads of the pool; if none can start, the calling thread does all work.
pub fn start() {
    let (give, take) = channel();
    let take: Waiting = Arc::new(Mutex::new(take));
    let started = (0..wanted()).take_while(|_| begin(&take).is_ok()).count();
    let mut builder = ThreadPoolBuilder::new().num_threads(started.max(1));
    if started == 0 {
        builder = builder.use_current_thread();
    }
    let hand_out = |thread| {
        give.send(thread)
            .map_err(|_| io::Error::other("no thread waits"))
    };
    // It fails if there is a pool, which then does the work.
    let _ = builder.spawn_handler(hand_out).build_global();
}

/// The number of threads that rayon would start.
fn wanted() -> usize {
    let set = std::env::var(NUMBER).ok();
    let set = set.and_then(|number| number.parse().ok());
    let of_machine = || thread::available_parallelism().map_or(1, usize::from);
    set.filter(|number| *number > 0)
        .unwrap_or_else(of_machine)
        .min(rayon::max_num_threads())
}

/// Starts a thread that waits for its part of the pool; without one it ends.
fn begin(take: &Waiting) -> io::Result<()> {
    let take = Arc::clone(take);
    let thread = thread::Builder::new().name("worker".to_owned());
    let work = move || {
        let given = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        if let Ok(thread) = given {
            thread.run();
        }
    };
    thread.spawn(work).map(drop)
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
