//! A writer that is as slow as a link.

use crate::units::Rate;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

/// The time of which a link may be late: sleeping is that inexact.
const LATE: Duration = Duration::from_millis(2);

/// Bytes that are written at once, at most: so many that the system's calls cost little, and so few that the rate is even.
const PIECE: usize = 1 << 20;

/// Writes no more bytes a second than a rate, if there is one. Time in which nothing is written is lost, as on a link.
pub struct Limited<W> {
    writer: W,
    rate: Option<Rate>,
    /// When the link has carried all that was written.
    free: Instant,
}

impl<W: Write> Limited<W> {
    /// A writer with a rate.
    pub fn new(writer: W, rate: Option<Rate>) -> Self {
        Self {
            writer,
            rate,
            free: Instant::now(),
        }
    }
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(rate) = self.rate else {
            return self.writer.write(bytes);
        };
        let rate = rate.bytes_per_second();
        // What the link carries in the time that it may be late.
        let piece = (rate * LATE.as_secs_f64()) as usize;
        let piece = piece.clamp(1, PIECE).min(bytes.len());
        let written = self.writer.write(&bytes[..piece])?;
        let earliest = Instant::now().checked_sub(LATE).unwrap_or(self.free);
        self.free = self.free.max(earliest) + Duration::from_secs_f64(written as f64 / rate);
        thread::sleep(self.free.saturating_duration_since(Instant::now()));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::rate;

    #[test]
    fn bytes_take_their_time() {
        let mut writer = Limited::new(Vec::new(), Some(rate("10MB/s").unwrap()));
        let start = Instant::now();
        writer.write_all(&vec![7; 1_000_000]).unwrap();
        let first = start.elapsed();
        // A link does not make up for time in which it was idle.
        thread::sleep(Duration::from_millis(50));
        let start = Instant::now();
        writer.write_all(&vec![8; 1_000_000]).unwrap();
        assert!(first.as_secs_f64() >= 0.098, "{first:?}");
        assert!(start.elapsed().as_secs_f64() >= 0.095);
        assert!(writer.writer.len() == 2_000_000 && writer.writer[..1_000_000] == [7; 1_000_000]);
    }

    #[test]
    fn no_rate_is_no_limit() {
        let mut writer = Limited::new(Vec::new(), None);
        assert_eq!(writer.write(&[1; 3 << 20]).unwrap(), 3 << 20);
    }
}
