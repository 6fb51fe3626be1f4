//! A part of a field: a range of elements or a box.

use crate::error::Error;
use ferrosz_codec::stream::container::Layout;
use ferrosz_codec::stream::region::Region;
use std::ops::Range;

/// A part of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Elements by their numbers, in C order.
    Elements(Range<u64>),
    /// A box: a range in every dimension, slowest first.
    Box(Vec<Range<u64>>),
}

impl Part {
    /// The part's extents: one length for a range, one a dimension for a box.
    pub fn extents(&self) -> Vec<u64> {
        let ranges = match self {
            Self::Elements(range) => std::slice::from_ref(range),
            Self::Box(ranges) => ranges,
        };
        let lengths = ranges
            .iter()
            .map(|range| range.end.saturating_sub(range.start));
        lengths.collect()
    }

    /// The regions that make up the part of a field, one after the other.
    pub(crate) fn regions(&self, layout: &Layout) -> Result<Vec<Region>, Error> {
        let grid = layout.grid();
        match self {
            Self::Elements(range) => Region::of_range(&grid, range.clone())
                .map(|regions| regions.into_iter().flatten().collect())
                .ok_or(Error::RangeOutside {
                    from: range.start,
                    to: range.end,
                    elements: grid.elements(),
                }),
            Self::Box(ranges) => Region::of_box(&grid, &layout.extents, ranges)
                .map(|region| vec![region])
                .ok_or_else(|| Error::BoxOutside {
                    ranges: ranges.clone(),
                    extents: layout.extents.lengths().to_vec(),
                }),
        }
    }
}
