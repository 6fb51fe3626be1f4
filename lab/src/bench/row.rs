//! What was measured, and what follows from it.

use super::times::Times;
use ferrosz::{Bound, Dtype};

/// Fields of fewer bytes are small: there, what counts is microseconds, and who launches.
pub const SMALL: u64 = 16 << 20;

/// How fast memory is at best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// Bytes of the field.
    pub bytes: u64,
    /// Copying all of it.
    pub copy: Times,
    /// Reading all of it.
    pub read: Times,
}

impl Ceilings {
    /// 10^9 bytes a second of a copy, those read and those written.
    pub fn copy_rate(&self) -> f64 {
        self.copy.rate(2 * self.bytes)
    }

    /// 10^9 bytes a second of reading.
    pub fn read_rate(&self) -> f64 {
        self.read.rate(self.bytes)
    }

    /// The seconds that a field of this ratio takes at the least: it is read and its stream is written,
    /// or the other way round, as fast as a copy.
    fn floor(&self, ratio: f64) -> f64 {
        1e-9 * (1.0 + 1.0 / ratio) * self.bytes as f64 / self.copy_rate()
    }

    /// The same, with the field read once more.
    fn floor_with_scan(&self, ratio: f64) -> f64 {
        self.floor(ratio) + 1e-9 * self.bytes as f64 / self.read_rate()
    }
}

/// All that was measured on a field.
#[derive(Debug)]
pub struct Series {
    /// The field's name.
    pub field: String,
    /// Its element type.
    pub dtype: Dtype,
    /// Its extents, slowest dimension first.
    pub extents: Vec<u64>,
    /// How fast memory of its size is.
    pub ceilings: Ceilings,
    /// By codec, blocks and bound.
    pub rows: Vec<Row>,
}

/// How long work takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    /// Run after run.
    pub single: Times,
    /// A run of many that were recorded before.
    pub replayed: Option<Times>,
}

/// One codec at one bound.
#[derive(Debug)]
pub struct Row {
    /// The codec, or the stream's kind.
    pub codec: String,
    /// Dimensions of its blocks.
    pub rank: u8,
    /// The bound.
    pub bound: Bound,
    /// The absolute error that it comes to.
    pub absolute_error: f64,
    /// Bytes of the field.
    pub field_bytes: u64,
    /// Bytes of the stream.
    pub stream_bytes: u64,
    /// Compression, the bound known as an absolute error.
    pub compress: Timed,
    /// Compression within the bound as given; none where only absolute errors can be given.
    pub call: Option<Timed>,
    /// Decompression.
    pub decompress: Timed,
    /// Decompression of a box of these lengths; none where boxes cannot be decompressed.
    pub part: Option<(Vec<u64>, Timed)>,
}

impl Row {
    /// Bytes of the field over those of the stream.
    pub fn ratio(&self) -> f64 {
        self.field_bytes as f64 / self.stream_bytes as f64
    }

    /// Floor over time: of compression, of the call, of decompression.
    pub fn shares(&self, ceilings: &Ceilings) -> [Option<f64>; 3] {
        let ratio = self.ratio();
        let floor = ceilings.floor(ratio);
        let call_floor = match self.bound.needs_extremes() {
            true => ceilings.floor_with_scan(ratio),
            false => floor,
        };
        let share = |floor: f64, timed: &Timed| floor / timed.single.median;
        [
            Some(share(floor, &self.compress)),
            self.call.as_ref().map(|call| share(call_floor, call)),
            Some(share(floor, &self.decompress)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(seconds: f64) -> Timed {
        Timed {
            single: Times {
                min: seconds,
                median: seconds,
                max: seconds,
            },
            replayed: None,
        }
    }

    #[test]
    fn a_call_that_looks_for_the_range_reads_the_field_once_more() {
        // Copied at 4 GB/s read and written, read at 2 GB/s.
        let ceilings = Ceilings {
            bytes: 1_000_000_000,
            copy: timed(0.5).single,
            read: timed(0.5).single,
        };
        let mut row = Row {
            codec: "plain".to_owned(),
            rank: 1,
            bound: Bound::range(1e-3).unwrap(),
            absolute_error: 1.0,
            field_bytes: 1_000_000_000,
            stream_bytes: 250_000_000,
            compress: timed(0.625),
            call: Some(timed(1.625)),
            decompress: timed(0.3125),
            part: None,
        };
        assert_eq!(row.ratio(), 4.0);
        assert_eq!(row.shares(&ceilings), [Some(0.5), Some(0.5), Some(1.0)]);
        row.bound = Bound::abs(1.0).unwrap();
        row.call = Some(timed(0.625));
        assert_eq!(row.shares(&ceilings)[1], Some(0.5));
    }
}
