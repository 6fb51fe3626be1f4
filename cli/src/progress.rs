//! A progress bar on standard error, for long work.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time before a bar appears.
const PATIENCE: Duration = Duration::from_millis(400);

const TEMPLATE: &str = "{msg} {wide_bar} {percent:>3}%  {decimal_bytes_per_sec}  {eta} left";

/// A bar that appears if the work takes long and standard error is a terminal; it disappears when dropped.
pub struct Progress {
    bar: ProgressBar,
    element_bytes: u64,
    start: Instant,
    is_shown: AtomicBool,
}

impl Progress {
    /// A bar for `elements` elements, never shown if `quiet`.
    pub fn new(what: &'static str, elements: u64, element_bytes: u64, quiet: bool) -> Self {
        let total = elements.saturating_mul(element_bytes);
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        bar.set_message(what);
        Self {
            bar,
            element_bytes,
            start: Instant::now(),
            is_shown: AtomicBool::new(quiet),
        }
    }

    /// Counts elements that are done; for any thread.
    pub fn advance(&self, elements: u64) {
        self.bar.inc(elements.saturating_mul(self.element_bytes));
        let due = self.start.elapsed() >= PATIENCE;
        if due && !self.is_shown.swap(true, Ordering::Relaxed) {
            // The target shows nothing if standard error is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
