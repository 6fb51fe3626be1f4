//! The threads of rayon's pool, which share the work of a call.
//!
//! Rayon panics if one of its threads cannot start, as where the number of processes is limited. So the threads are started
//! here, before rayon is asked for any, and it is given those that started: none of them is then missing.

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// The variable with the number of rayon's threads.
const NUMBER: &str = "RAYON_NUM_THREADS";

/// The threads that wait for their part of the pool.
type Waiting = Arc<Mutex<Receiver<ThreadBuilder>>>;

/// Whether rayon has threads for this one. Without them the calling thread does all work.
pub(crate) fn are_there() -> bool {
    rayon::current_thread_index().is_some() || start_threads() > 0
}

/// Starts the threads of rayon's global pool, as many as rayon would or as the system allows, and returns their number. All
/// calls of this library do so; a program that uses rayon itself can do it first, because rayon panics where a thread cannot
/// start. If none can, nothing is started, and this library works on the calling thread. Later calls only return the number.
pub fn start_threads() -> usize {
    static STARTED: OnceLock<usize> = OnceLock::new();
    *STARTED.get_or_init(|| {
        let (give, take) = channel();
        let take: Waiting = Arc::new(Mutex::new(take));
        let started = (0..wanted()).take_while(|_| begin(&take).is_ok()).count();
        if started == 0 {
            return 0;
        }
        let hand_out = |thread| {
            give.send(thread)
                .map_err(|_| io::Error::other("no thread waits"))
        };
        // It fails if the program has made the pool, which then does the work.
        let builder = ThreadPoolBuilder::new().num_threads(started);
        let _ = builder.spawn_handler(hand_out).build_global();
        rayon::current_num_threads()
    })
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
