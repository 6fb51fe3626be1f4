//! The extents of a field.

/// The most dimensions.
pub const MAX_RANK: usize = 8;

/// The extents of a field, slowest dimension first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extents {
    pub(super) rank: u8,
    /// The lengths of dimensions beyond the rank are 1.
    pub(super) lengths: [u64; MAX_RANK],
}

impl Extents {
    /// Extents of one to [`MAX_RANK`] dimensions, slowest first, whose product fits in a `u64`.
    pub fn new(lengths: &[u64]) -> Option<Self> {
        if lengths.is_empty() || lengths.len() > MAX_RANK {
            return None;
        }
        lengths
            .iter()
            .try_fold(1u64, |product, length| product.checked_mul(*length))?;
        let mut all = [1; MAX_RANK];
        all[..lengths.len()].copy_from_slice(lengths);
        Some(Self {
            rank: lengths.len() as u8,
            lengths: all,
        })
    }

    /// One dimension.
    pub const fn line(length: u64) -> Self {
        let mut lengths = [1; MAX_RANK];
        lengths[0] = length;
        Self { rank: 1, lengths }
    }

    /// The lengths, slowest first.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths[..usize::from(self.rank)]
    }

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.lengths().iter().product()
    }
}
