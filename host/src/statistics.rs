//! Statistics of a field in its stream: made when it is compressed, and read instead of the field.

mod find;
mod places;
mod reach;
mod sink;
mod sums;

pub use find::Searched;
pub(crate) use find::{Candidates, parts_of_chunks};
pub(crate) use sink::StatisticsSink;

use crate::error::Error;
use crate::part::Part;
use crate::stream_ref::StreamRef;
use ferrosz_codec::FormatError;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::section::HEAD_BYTES;
use ferrosz_codec::container::statistics::{self, GroupStatistics, KIND};
use ferrosz_codec::container::table::CHUNK_ALIGNMENT;
use ferrosz_codec::mapping::axes::Order;

/// When a compressor puts statistics into its streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum StatisticsPolicy {
    /// Never.
    #[default]
    Never,
    /// If they are at most a thousandth of the stream.
    IfSmall,
    /// Always, if only for all of the field together.
    Always,
}

/// The statistics of a stream's field, as it was before it was compressed. NaNs and fill values do not count.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Codec, Compressor};
/// use ferrosz::stream::Statistics;
///
/// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1)?).statistics(true);
/// let stream = compressor.compress(&[1.0f32, f32::NAN, 6.0])?;
/// let statistics = Statistics::of(&stream)?.ok_or("none")?;
/// assert_eq!((statistics.min(), statistics.max()), (Some(1.0), Some(6.0)));
/// assert_eq!((statistics.mean(), statistics.count()), (Some(3.5), 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    of_groups: statistics::Statistics,
    layout: Layout,
    order: Order,
    /// Bytes of their section.
    pub bytes: u64,
    /// Whether updates have replaced values since.
    pub is_outdated: bool,
}

impl Statistics {
    /// Those of a stream, if it has some.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream or the statistics are damaged.
    pub fn of(stream: &[u8]) -> Result<Option<Self>, Error> {
        Ok(Self::read(&StreamRef::read(stream)?)?)
    }

    pub(crate) fn read(stream: &StreamRef<'_>) -> Result<Option<Self>, FormatError> {
        let header = &stream.header;
        let Some(contents) = stream.section(KIND)? else {
            return Ok(None);
        };
        let layout = header.layout();
        let section_bytes = HEAD_BYTES as u64 + contents.len() as u64;
        Ok(Some(Self {
            of_groups: statistics::Statistics::read(contents, &layout, header.dtype)?,
            layout,
            order: stream.order,
            bytes: section_bytes.next_multiple_of(CHUNK_ALIGNMENT),
            is_outdated: header.update_bytes > 0,
        }))
    }

    /// The smallest value; none if all are missing.
    pub fn min(&self) -> Option<f64> {
        self.present().map(|group| group.min).reduce(f64::min)
    }

    /// The largest value; none if all are missing.
    pub fn max(&self) -> Option<f64> {
        self.present().map(|group| group.max).reduce(f64::max)
    }

    /// The mean of all values, from those of the groups; none if all are missing.
    pub fn mean(&self) -> Option<f64> {
        let sums = self.present().map(|group| group.mean * group.count as f64);
        let count = self.count();
        (count > 0).then(|| sums.sum::<f64>() / count as f64)
    }

    /// The number of values that are not missing.
    pub fn count(&self) -> u64 {
        self.groups().iter().map(|group| group.count).sum()
    }

    /// The groups of consecutive chunks.
    pub fn groups(&self) -> &[GroupStatistics] {
        &self.of_groups.groups
    }

    /// The chunks of a group; the last one may have fewer.
    pub fn chunks_of_group(&self) -> u64 {
        1 << self.of_groups.chunk_bits
    }

    /// The elements of the group of this number, as parts of the field, for [`Decompressor::decompress_part`]; none if there is
    /// no such group. No element is in two parts.
    ///
    /// [`Decompressor::decompress_part`]: crate::Decompressor::decompress_part
    pub fn parts_of_group(&self, number: usize) -> Vec<Part> {
        let chunks = match number < self.groups().len() {
            true => self.of_groups.chunks_of(&self.layout, number as u64),
            false => 0..0,
        };
        parts_of_chunks(&self.layout, &self.order, chunks)
    }

    fn present(&self) -> impl Iterator<Item = &GroupStatistics> {
        self.groups().iter().filter(|group| group.count > 0)
    }
}
