//! Ctrl-C and similar signals: unfinished files are removed, and then the signal ends the process as usual. A file that
//! becomes shorter while it is mapped, and memory that ends: the unfinished file is removed, and the process fails.

use crate::temporary;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Starts a thread that waits for the signals that end the process. A signal that was ignored when the process began,
/// as under `nohup`, stays ignored. If the thread cannot start, a signal ends the process and may leave an unfinished
/// file.
pub fn watch() {
    #[cfg(target_os = "linux")]
    fault::watch();
    let (begun, is_watching) = channel();
    let watcher = thread::Builder::new().name("signals".to_owned());
    if watcher.spawn(move || wait(begun)).is_ok() {
        // An error, too, is the thread's word that it goes no further.
        let _ = is_watching.recv();
    }
}

/// Waits for a signal. They are registered here: without this thread they have to do what they do by default.
fn wait(begun: Sender<()>) {
    let ending = [SIGINT, SIGTERM, SIGHUP];
    let wanted = ending.into_iter().filter(|signal| !is_ignored(*signal));
    let Ok(mut signals) = Signals::new(wanted) else {
        return;
    };
    drop(begun);
    if let Some(signal) = signals.forever().next() {
        temporary::remove_all();
        // The parent sees that a signal ended the process, so that Ctrl-C also ends a shell's loop. A shell shows
        // the status as 130, 143 or 129.
        let _ = emulate_default_handler(signal);
    }
}

/// Ends the process as a write to a closed pipe ends other programs: a shell shows the status as 141.
pub fn end_by_closed_pipe() {
    let _ = emulate_default_handler(SIGPIPE);
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a valid value of this plain struct.
    let mut found: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the call only reads the current handler; `found` outlives the call.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut found) };
    asked == 0 && found.sa_sigaction == libc::SIG_IGN
}

/// Signals of faults within the process. A mapped file that has become shorter is `SIGBUS`: on Linux it means nothing
/// else; elsewhere it may be a stack that overflows. `SIGABRT` is the standard library's last act where a small allocation
/// fails; it has said so before.
#[cfg(target_os = "linux")]
mod fault {
    use crate::temporary;
    use libc::{SA_ONSTACK, SIGABRT, SIGBUS, STDERR_FILENO, c_int};

    const SHRUNK: &[u8] =
        b"error: a file became shorter while it was read: run the command again when nothing changes it\n";
    const ABORTED: &[u8] =
        b"error: the command could not go on. Where memory was short: --threads 1 takes the least of it\n";

    pub fn watch() {
        for signal in [SIGBUS, SIGABRT] {
            // SAFETY: all zeros is a valid value of this plain struct.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = end as extern "C" fn(c_int) as libc::sighandler_t;
            action.sa_flags = SA_ONSTACK;
            // SAFETY: `end` takes the one argument of a handler and calls only functions that are safe in a signal handler;
            // `action` outlives the call.
            unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
        }
    }

    extern "C" fn end(signal: c_int) {
        temporary::unlink_in_a_handler();
        let text = match signal {
            SIGBUS => SHRUNK,
            _ => ABORTED,
        };
        // SAFETY: both calls are allowed in a handler, and `text` has so many bytes.
        unsafe {
            libc::write(STDERR_FILENO, text.as_ptr().cast(), text.len());
            libc::_exit(1);
        }
    }
}
