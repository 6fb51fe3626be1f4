//! What the rate bytes of a stream say, without its bodies.

use ferrosz_codec::code::fixed_length::rate::RateByte;

/// The sizes of a stream's sections, and the forms of its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Bytes of all rate bytes: one for each block, also for the blocks that fill up the last chunk or layer.
    pub rate_bytes: u64,
    /// Bytes between the rate bytes and the first body: cuSZp's gap of up to 3 bytes, or AATROX's initial values.
    pub between_bytes: u64,
    /// Bytes of all bodies.
    pub body_bytes: u64,
    /// Bytes that there are. A stream has [`Outline::stream_bytes`].
    pub found_bytes: u64,
    /// The rate bytes that occur, in rising order.
    pub rates: Vec<RateCount>,
}

/// The number of blocks with a rate byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateCount {
    /// The rate byte.
    pub byte: u8,
    /// Bit planes of each body; 0 also for blocks without a body.
    pub planes: u32,
    /// Bytes of the first magnitude, where it is stored separately; else 0.
    pub outlier_bytes: u32,
    /// Bytes of each body.
    pub body_bytes: u32,
    /// Blocks.
    pub blocks: u64,
}

impl Outline {
    /// Bytes that the stream must have.
    pub fn stream_bytes(&self) -> u64 {
        self.rate_bytes + self.between_bytes + self.body_bytes
    }

    /// Blocks without a body: all their differences are 0.
    pub fn zero_blocks(&self) -> u64 {
        let without = self.rates.iter().filter(|rate| rate.body_bytes == 0);
        without.map(|rate| rate.blocks).sum()
    }
}

/// The number of blocks with each rate byte; `rate_of` gives the form of a byte, and bodies have `groups` rows for a plane.
pub(crate) fn count_rates(
    bytes: &[u8],
    groups: u32,
    rate_of: impl Fn(u8) -> RateByte,
) -> Vec<RateCount> {
    let mut counts = [0u64; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let found = (0..=u8::MAX).zip(counts).filter(|(_, blocks)| *blocks > 0);
    found
        .map(|(byte, blocks)| {
            let rate = rate_of(byte);
            RateCount {
                byte,
                planes: rate.planes(),
                outlier_bytes: rate.outlier_bytes(),
                body_bytes: rate.body_bytes(groups),
                blocks,
            }
        })
        .collect()
}
