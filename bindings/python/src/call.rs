//! Calls that take long: without the lock of the interpreter, with progress, and open to signals.

use crate::error::raised;
use crate::pool;
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A call with fewer bytes of elements is done on the thread of the caller: it takes tenths of a second at most.
const SHORT: usize = 4 << 20;

/// How often progress is reported and signals are heard.
const INTERVAL: Duration = Duration::from_millis(50);

/// The hook of the library that is called with the number of elements done since the last call.
pub type Advance<'a> = &'a (dyn Fn(u64) + Sync);

/// Does `work` on `bytes` of elements without the lock of the interpreter.
///
/// `progress` is called on the thread of the caller with the number of elements done since its last call, at most some
/// twenty times a second; what it raises ends the call. So does a signal, such as `KeyboardInterrupt`. The work itself
/// has no hook to be stopped by: it goes on in its own thread to its end, and its result is dropped. If `stays`, as the
/// work writes to memory of the caller, the call waits for that end first.
///
/// # Errors
///
/// The error of the work, of `progress` or of a signal; `OSError` if the system has no thread.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    bytes: usize,
    progress: Option<&Bound<'_, PyAny>>,
    stays: bool,
    work: impl FnOnce(Advance<'_>) -> Result<T, ferrosz::Error> + Send + 'static,
) -> PyResult<T> {
    run_on(py, None, bytes, progress, stays, work)
}

/// As `run`, on so many threads.
///
/// # Errors
///
/// As `run`.
pub fn run_on<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<NonZeroUsize>,
    bytes: usize,
    progress: Option<&Bound<'_, PyAny>>,
    stays: bool,
    work: impl FnOnce(Advance<'_>) -> Result<T, ferrosz::Error> + Send + 'static,
) -> PyResult<T> {
    if bytes < SHORT && progress.is_none() {
        let done = py.detach(|| pool::run_on(threads, || work(&|_| {})))?;
        return done.map_err(|error| raised(py, &error));
    }
    let done = Arc::new(AtomicU64::new(0));
    let (sender, mut receiver) = mpsc::channel();
    let counter = done.clone();
    let worker = std::thread::Builder::new().spawn(move || {
        let advance = |more| {
            counter.fetch_add(more, Ordering::Relaxed);
        };
        // Nobody waits for the result of a call that a signal has ended.
        let _ = sender.send(pool::run_on(threads, || work(&advance)));
    })?;
    loop {
        // Exclusive, as a receiver must not be shared with other threads.
        let waiting = &mut receiver;
        match py.detach(move || waiting.recv_timeout(INTERVAL)) {
            Ok(result) => {
                report(progress, &done)?;
                return result?.map_err(|error| raised(py, &error));
            }
            Err(RecvTimeoutError::Timeout) => {
                let heard = report(progress, &done).and_then(|()| py.check_signals());
                if let Err(error) = heard {
                    if stays {
                        // The result does not matter any more.
                        let waiting = &mut receiver;
                        let _ = py.detach(move || waiting.recv());
                    }
                    return Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => resume(worker),
        }
    }
}

/// Calls `progress` with the number of elements done since the last report.
fn report(progress: Option<&Bound<'_, PyAny>>, done: &AtomicU64) -> PyResult<()> {
    match (progress, done.swap(0, Ordering::Relaxed)) {
        (None, _) | (_, 0) => Ok(()),
        (Some(progress), more) => progress.call1((more,)).map(|_| ()),
    }
}

/// Goes on with the panic of a thread that has sent no result.
fn resume(worker: JoinHandle<()>) -> ! {
    let panic = worker.join().err();
    std::panic::resume_unwind(panic.unwrap_or_else(|| Box::new("a call ended without a result")))
}
