//! The numbers of the chunks of a field that are encoded.

use std::ops::Range;

/// Numbers in ascending order.
#[derive(Clone)]
pub(crate) enum Numbers<'a> {
    Range(Range<u64>),
    List(&'a [u64]),
}

impl Numbers<'_> {
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Range(range) => range.end - range.start,
            Self::List(numbers) => numbers.len() as u64,
        }
    }

    /// The number at an index, which is less than the count.
    pub(crate) fn get(&self, index: u64) -> u64 {
        match self {
            Self::Range(range) => range.start + index,
            Self::List(numbers) => numbers[index as usize],
        }
    }
}
