//! Measured times, and numbers derived from them.

use super::times::Times;
use ferrosz::{Bound, Dtype};

/// Fields of fewer bytes are small: their tables show microseconds, and replayed work.
pub const SMALL: u64 = 16 << 20;

/// Times of memory accesses without a codec.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// Bytes of the field.
    pub bytes: u64,
    /// Times of copying the whole field.
    pub copy: Times,
    /// Times of reading the whole field.
    pub read: Times,
}

impl Ceilings {
    /// The rate of a copy in 10^9 bytes a second; bytes read and bytes written both count.
    pub fn copy_rate(&self) -> f64 {
        self.copy.rate(2 * self.bytes)
    }

    /// The rate of reading in 10^9 bytes a second.
    pub fn read_rate(&self) -> f64 {
        self.read.rate(self.bytes)
    }

    /// The shortest possible time of a codec with this ratio, in seconds: the field is read and its stream written, or
    /// the reverse, at the rate of a copy.
    pub fn floor(&self, ratio: f64) -> f64 {
        1e-9 * (1.0 + 1.0 / ratio) * self.bytes as f64 / self.copy_rate()
    }

    /// The shortest possible time if the field is also read for the range.
    fn floor_with_scan(&self, ratio: f64) -> f64 {
        self.floor(ratio) + 1e-9 * self.bytes as f64 / self.read_rate()
    }
}

/// All measurements of a field.
#[derive(Debug)]
pub struct Series {
    /// The field's name.
    pub field: String,
    /// Its element type.
    pub dtype: Dtype,
    /// Its extents, slowest dimension first.
    pub extents: Vec<u64>,
    /// Copy and read of a field of this size.
    pub ceilings: Ceilings,
    /// Rows by codec, blocks and bound.
    pub rows: Vec<Row>,
}

/// Durations of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    /// Durations of runs that are called one by one.
    pub single: Times,
    /// Durations of runs that were recorded and replayed.
    pub replayed: Option<Times>,
}

/// The measurements of a codec with one bound.
#[derive(Debug)]
pub struct Row {
    /// The codec, or the kind of a bare stream.
    pub codec: String,
    /// The rank of its blocks or tiles.
    pub rank: u8,
    /// The bound.
    pub bound: Bound,
    /// The absolute error that the bound resolves to.
    pub absolute_error: f64,
    /// Bytes of the field.
    pub field_bytes: u64,
    /// Bytes of the stream.
    pub stream_bytes: u64,
    /// Compression within the absolute error.
    pub compress: Timed,
    /// Compression within the bound of the command line; none for formats that take only absolute errors.
    pub call: Option<Timed>,
    /// Decompression.
    pub decompress: Timed,
    /// Decompression of a box, with its lengths; none where boxes cannot be decompressed.
    pub part: Option<(Vec<u64>, Timed)>,
}

impl Row {
    /// Bytes of the field divided by bytes of the stream.
    pub fn ratio(&self) -> f64 {
        self.field_bytes as f64 / self.stream_bytes as f64
    }

    /// The shortest possible time divided by the measured one: of compression, of the call, of decompression.
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
        // Copying reads and writes at 4 GB/s in all; reading alone has 2 GB/s.
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
