//! Ctrl-C and its like: unfinished files go, and the process ends as it would have.

use crate::temporary;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::thread;

/// Waits, in a thread of its own, for the signals that end the process. One that was ignored when the process began,
/// as under `nohup`, stays so. Where there is no such thread, a signal ends the process and may leave a file.
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
            // The parent sees the signal, so that Ctrl-C ends its loop, too; a shell calls this 130, 143 or 129.
            let _ = emulate_default_handler(signal);
        }
    });
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a value of this plain struct.
    let mut found: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: asks only; `found` outlives the call.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut found) };
    asked == 0 && found.sa_sigaction == libc::SIG_IGN
}
