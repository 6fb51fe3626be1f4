//! Ctrl-C and similar signals: unfinished files are removed, and then the signal ends the process as usual.

use crate::temporary;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::thread;

/// Starts a thread that waits for the signals that end the process. A signal that was ignored when the process began,
/// as under `nohup`, stays ignored. If the thread cannot start, a signal ends the process and may leave an unfinished
/// file.
pub fn watch() {
    let ending = [SIGINT, SIGTERM, SIGHUP];
    let wanted = ending.into_iter().filter(|signal| !is_ignored(*signal));
    let Ok(mut signals) = Signals::new(wanted) else {
        return;
    };
    let watcher = thread::Builder::new().name("signals".to_owned());
    let _ = watcher.spawn(move || {
        if let Some(signal) = signals.forever().next() {
            temporary::remove_all();
            // The parent sees that a signal ended the process, so that Ctrl-C also ends a shell's loop. A shell shows
            // the status as 130, 143 or 129.
            let _ = emulate_default_handler(signal);
        }
    });
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a valid value of this plain struct.
    let mut found: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the call only reads the current handler; `found` outlives the call.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut found) };
    asked == 0 && found.sa_sigaction == libc::SIG_IGN
}
