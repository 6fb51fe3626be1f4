//! Statistics of a field by groups of its chunks: the contents of the section `stat`. FORMAT.md, section 31.
//!
//! They are those of the user's values, before anything is mapped or coded. NaNs and fill values are missing: they do not
//! count. Sums have one order, whatever machine makes them: see [`ValueSummary::of_unit`].

use crate::container::grid::ChunkBox;
use crate::container::layout::{Family, Layout};
use crate::container::record_kind::RecordKind;
use crate::container::section;
use crate::container::summary::ValueSummary;
use crate::container::table::CHUNK_ALIGNMENT;
use crate::element::{Dtype, Element};
use crate::error::FormatError;
use alloc::vec::Vec;
use core::ops::Range;

/// The kind of the section.
pub const KIND: RecordKind = RecordKind(*b"stat");

/// Unless it is asked for, the section has at most the bytes of the stream divided by this.
pub const SHARE: u64 = 1000;

/// Bytes of the contents before the numbers.
const HEAD_BYTES: usize = 16;

/// The statistics of consecutive chunks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupStatistics {
    /// The smallest value; infinite without values.
    pub min: f64,
    /// The largest value; infinite and negative without values.
    pub max: f64,
    /// The mean of the values; 0 without values, NaN of infinities with both signs.
    pub mean: f64,
    /// The number of values that are not missing.
    pub count: u64,
}

impl From<ValueSummary> for GroupStatistics {
    /// Zeros have no sign, and a NaN neither sign nor payload.
    fn from(summary: ValueSummary) -> Self {
        let mean = match summary.count {
            0 => 0.0,
            count => summary.sum / count as f64 + 0.0,
        };
        Self {
            min: summary.min + 0.0,
            max: summary.max + 0.0,
            mean: if mean.is_nan() { f64::HOLE } else { mean },
            count: summary.count,
        }
    }
}

/// The statistics of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// The chunks of a group as a power of two.
    pub chunk_bits: u32,
    /// The groups, in their order.
    pub groups: Vec<GroupStatistics>,
}

impl Statistics {
    /// Groups of so many chunks, as a power of two, of the summaries of chunks.
    pub fn new(chunks: &[ValueSummary], chunk_bits: u32) -> Self {
        let of_group = |chunks: &[ValueSummary]| chunks.iter().copied().reduce(ValueSummary::and);
        let groups = chunks.chunks(1 << chunk_bits).filter_map(of_group);
        Self {
            chunk_bits,
            groups: groups.map(GroupStatistics::from).collect(),
        }
    }

    /// The contents of the section of a stream with this layout and elements of this type.
    pub fn to_bytes(&self, layout: &Layout, dtype: Dtype) -> Vec<u8> {
        let groups = &self.groups;
        let is_whole =
            |(number, group): (u64, &GroupStatistics)| group.count == self.elements(layout, number);
        let has_counts = !(0..).zip(groups).all(is_whole);
        let mut bytes = alloc::vec![0; HEAD_BYTES];
        bytes[0] = self.chunk_bits as u8;
        bytes[1] = u8::from(has_counts);
        bytes[8..].copy_from_slice(&(groups.len() as u64).to_le_bytes());
        bytes.extend(groups.iter().flat_map(|group| group.mean.to_le_bytes()));
        if has_counts {
            bytes.extend(groups.iter().flat_map(|group| group.count.to_le_bytes()));
        }
        let ends = groups.iter().map(|group| group.min);
        for end in ends.chain(groups.iter().map(|group| group.max)) {
            let bits = with_element!(dtype, T => T::from_f64(end).to_bits64());
            bytes.extend_from_slice(&bits.to_le_bytes()[..dtype.bytes()]);
        }
        bytes
    }

    /// Reads the contents of the section of a stream with this layout and elements of this type.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidSections`] if they are not those of such a stream.
    pub fn read(bytes: &[u8], layout: &Layout, dtype: Dtype) -> Result<Self, FormatError> {
        let invalid = FormatError::InvalidSections("the statistics are not those of the stream");
        let word = |at: usize| {
            let bytes = bytes.get(at..at + 8).and_then(|bytes| bytes.first_chunk());
            bytes.copied().map(u64::from_le_bytes)
        };
        let (head, count) = word(0).zip(word(8)).ok_or(invalid)?;
        let [chunk_bits, has_counts, zeros @ ..] = head.to_le_bytes();
        let expected = (chunk_bits < 64).then(|| chunks(layout).div_ceil(1 << chunk_bits));
        if expected != Some(count) || has_counts > 1 || zeros != [0; 6] {
            return Err(invalid);
        }
        let group_bytes = group_bytes(dtype, has_counts == 1);
        if count.checked_mul(group_bytes) != Some((bytes.len() - HEAD_BYTES) as u64) {
            return Err(invalid);
        }
        let mut statistics = Self {
            chunk_bits: u32::from(chunk_bits),
            groups: Vec::new(),
        };
        // It fits, as the bytes are in memory.
        let count = count as usize;
        let ends = HEAD_BYTES + 8 * count * (1 + usize::from(has_counts));
        let end = |at: usize| {
            let mut bits = [0; 8];
            let at = ends + at * dtype.bytes();
            bits[..dtype.bytes()].copy_from_slice(&bytes[at..at + dtype.bytes()]);
            let bits = u64::from_le_bytes(bits);
            with_element!(dtype, T => T::from_bits64(bits).to_f64())
        };
        for number in 0..count {
            let whole = statistics.elements(layout, number as u64);
            let at = HEAD_BYTES + 8 * number;
            statistics.groups.push(GroupStatistics {
                min: end(number),
                max: end(count + number),
                mean: f64::from_bits(word(at).ok_or(invalid)?),
                count: match has_counts {
                    0 => whole,
                    _ => word(at + 8 * count).ok_or(invalid)?.min(whole),
                },
            });
        }
        Ok(statistics)
    }

    /// The numbers of the chunks of a group: those of the field, without the coarse field.
    pub fn chunks_of(&self, layout: &Layout, group: u64) -> Range<u64> {
        let first = group << self.chunk_bits;
        first..chunks(layout).min(first + (1 << self.chunk_bits))
    }

    /// The elements of a group.
    fn elements(&self, layout: &Layout, group: u64) -> u64 {
        let boxes = self
            .chunks_of(layout, group)
            .flat_map(|chunk| units(layout, chunk));
        boxes.map(|unit| u64::from(unit.elements())).sum()
    }
}

/// The chunks of a field that have statistics.
pub fn chunks(layout: &Layout) -> u64 {
    match layout.family() {
        _ if layout.extents.elements() == 0 => 0,
        Family::Blocks(blocks) => blocks.grid.chunk_count(),
        Family::Tiles(tiles) => tiles.chunk.count(&tiles.fine),
    }
}

/// The number in the chunk table of the first of these chunks. It has no meaning where levels are coded apart: there the
/// chunks of statistics are those of the tiles.
pub fn first_entry(layout: &Layout) -> u64 {
    layout.field_entries().saturating_sub(chunks(layout))
}

/// The units of a chunk, in the dimensions of the layout's grid.
pub fn units(layout: &Layout, chunk: u64) -> Vec<ChunkBox> {
    match layout.family() {
        Family::Blocks(blocks) => alloc::vec![blocks.grid.chunk(chunk)],
        Family::Tiles(tiles) => {
            let grid = &tiles.fine;
            let unit = |number| {
                let tile = grid.tile(number);
                ChunkBox {
                    origin: tile.origin,
                    extents: tile.extents(grid.shape()),
                }
            };
            tiles.chunk.of_chunk(grid, chunk).map(unit).collect()
        }
    }
}

/// The chunks of a group, as a power of two, of statistics with or without counts in a stream that has so many bytes without
/// them: the fewest with which the section is small, or else the fewest that are one group; and whether the section is small.
pub fn chunk_bits(chunks: u64, dtype: Dtype, has_counts: bool, stream_bytes: u64) -> (u32, bool) {
    let is_small = |bits: &u32| {
        let groups = chunks.div_ceil(1 << bits);
        let contents = HEAD_BYTES as u64 + groups * group_bytes(dtype, has_counts);
        let section = section::HEAD_BYTES as u64 + contents.next_multiple_of(CHUNK_ALIGNMENT);
        section <= stream_bytes / SHARE
    };
    let most = chunks.next_power_of_two().ilog2();
    match (0..=most).find(is_small) {
        Some(bits) => (bits, true),
        None => (most, false),
    }
}

/// The most bytes of the section in a stream that has at most so many bytes without it.
pub const fn max_bytes(stream_bytes: u64) -> u64 {
    let of_one = section::HEAD_BYTES + HEAD_BYTES + 32;
    of_one as u64 + stream_bytes / SHARE
}

/// Bytes of the numbers of a group.
const fn group_bytes(dtype: Dtype, has_counts: bool) -> u64 {
    (8 + 8 * has_counts as usize + 2 * dtype.bytes()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::extents::Extents;
    use crate::pipeline::Codec;
    use crate::shape::Shape;
    use alloc::vec;

    fn layout() -> Layout {
        let extents = Extents::new(&[100_000]).unwrap();
        Layout::new(Codec::PLAIN, Shape::Line, extents)
    }

    fn summaries(last: u64) -> Vec<ValueSummary> {
        let chunk = |number: u64| ValueSummary {
            min: number as f64,
            max: number as f64 + 0.5,
            sum: 8192.0 * number as f64,
            count: 8192,
        };
        let mut chunks: Vec<ValueSummary> = (0..13).map(chunk).collect();
        chunks[12].count = last;
        chunks
    }

    #[test]
    fn contents_come_back_or_are_refused() {
        let whole = 100_000 - 12 * 8192;
        for (last, of_counts) in [(whole, 0), (whole - 1, 4 * 8)] {
            for dtype in [Dtype::F32, Dtype::F64] {
                let statistics = Statistics::new(&summaries(last), 2);
                assert_eq!(statistics.groups.len(), 4);
                let bytes = statistics.to_bytes(&layout(), dtype);
                assert_eq!(bytes.len(), 16 + 4 * (8 + 2 * dtype.bytes()) + of_counts);
                let read = |bytes: &[u8]| Statistics::read(bytes, &layout(), dtype);
                assert_eq!(read(&bytes), Ok(statistics));
                for length in 0..bytes.len() {
                    assert!(read(&bytes[..length]).is_err());
                }
                for at in [0, 1, 2, 7, 8, 15] {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 64;
                    assert!(read(&damaged).is_err(), "{at}");
                }
            }
        }
    }

    #[test]
    fn zeros_and_nans_have_one_form() {
        let mut chunk = ValueSummary::EMPTY.with(-0.0);
        chunk.sum = -f64::NAN;
        let GroupStatistics { min, max, mean, .. } = chunk.into();
        assert_eq!([min, max].map(f64::to_bits), [0, 0]);
        assert_eq!(mean.to_bits(), f64::HOLE.to_bits());
        assert_eq!(GroupStatistics::from(ValueSummary::EMPTY).mean.to_bits(), 0);
    }

    #[test]
    fn the_smallest_groups_are_taken_that_are_small_enough() {
        let of = |bytes| chunk_bits(1000, Dtype::F32, false, bytes);
        // 32 + 16 + 16 bytes for one group.
        assert_eq!(of(63_999), (10, false));
        assert_eq!(of(64_000), (10, true));
        assert_eq!(of(80_000), (9, true));
        assert_eq!(of(16_047_999), (1, true));
        assert_eq!(of(16_048_000), (0, true));
        assert_eq!(chunk_bits(1, Dtype::F64, true, 0), (0, false));
        let most = vec![0, 5000, 1 << 40].into_iter();
        for (bytes, dtype) in most.flat_map(|bytes| [(bytes, Dtype::F32), (bytes, Dtype::F64)]) {
            let (bits, _) = chunk_bits(1 << 20, dtype, true, bytes);
            let groups = 1 << (20 - bits);
            assert!(48 + groups * group_bytes(dtype, true) <= max_bytes(bytes));
        }
    }
}
