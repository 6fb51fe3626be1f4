//! The threads that calls compute on, also in processes that are forked.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::{io, process, ptr};

/// The process that has imported the package.
static FIRST: OnceLock<u32> = OnceLock::new();

/// The pool of a process that was forked from it, or from one of its children.
static FORKED: AtomicPtr<Forked> = AtomicPtr::new(ptr::null_mut());

struct Forked {
    process: u32,
    pool: ThreadPool,
}

/// Remembers the process. It is called when the package is imported.
pub fn import() {
    FIRST.get_or_init(process::id);
}

/// Does work on threads that are alive.
///
/// A fork copies one thread, that of its caller. In a child, such as a worker of multiprocessing, the threads of the
/// library's pool are not there, and the work would wait for them for ever. So a child has a pool of its own.
///
/// # Errors
///
/// If the system has no threads for the pool.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let process = process::id();
    match FIRST.get() {
        Some(first) if *first != process => Ok(forked(process)?.install(work)),
        _ => Ok(work()),
    }
}

/// Does work on so many threads, which it starts and ends; without a number as `run`.
///
/// # Errors
///
/// As `run`.
pub fn run_on<T: Send>(
    threads: Option<NonZeroUsize>,
    work: impl FnOnce() -> T + Send,
) -> io::Result<T> {
    let Some(threads) = threads else {
        return run(work);
    };
    let pool = ThreadPoolBuilder::new().num_threads(threads.get()).build();
    Ok(pool.map_err(io::Error::other)?.install(work))
}

/// The pool of this process, which is a child.
fn forked(process: u32) -> io::Result<&'static ThreadPool> {
    let found = FORKED.load(Ordering::Acquire);
    // SAFETY: a pointer that was stored is never freed.
    if let Some(forked) = unsafe { found.as_ref() }
        && forked.process == process
    {
        return Ok(&forked.pool);
    }
    let pool = ThreadPoolBuilder::new().build().map_err(io::Error::other)?;
    let made = Box::into_raw(Box::new(Forked { process, pool }));
    // The pool of a parent is not freed: that would wait for the end of its threads, which are not there.
    let stored = match FORKED.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => made,
        Err(other) => {
            // SAFETY: it is from `into_raw`, and was not stored.
            drop(unsafe { Box::from_raw(made) });
            other
        }
    };
    // SAFETY: a pointer that was stored is never freed. Only this process changes its memory, so the pool is its own.
    Ok(unsafe { &(*stored).pool })
}
