//! A part of a field: a range of elements or a box.

use crate::error::Error;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::region::Region;
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
    /// The part's extents: one length for a range, one length for each dimension of a box.
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

    /// The regions of the part of a field, in order.
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
            Self::Box(ranges) => {
                boxes(&grid, &layout.extents, ranges).ok_or_else(|| Error::BoxOutside {
                    ranges: ranges.clone(),
                    extents: layout.extents.lengths().to_vec(),
                })
            }
        }
    }
}

/// A box as regions, in C order. Streams have three dimensions, and the slowest combines all slower ones
/// ([`Grid::new`]). So a box of four dimensions is one region for each index in the first dimension, and so on.
fn boxes(grid: &Grid, extents: &Extents, ranges: &[Range<u64>]) -> Option<Vec<Region>> {
    let lengths = extents.lengths();
    let is_inside =
        |(range, length): (&Range<u64>, &u64)| range.start <= range.end && range.end <= *length;
    if ranges.len() != lengths.len() || !ranges.iter().zip(lengths).all(is_inside) {
        return None;
    }
    let longer: Vec<(&Range<u64>, u64)> = (ranges.iter().zip(lengths.iter().copied()))
        .filter(|(_, length)| *length != 1)
        .collect();
    if ranges.iter().any(Range::is_empty) {
        return Some(Vec::new());
    }
    // z combines the dimensions of `outer` and the first of `inner`, which has `slices` slices.
    let split = longer.len().saturating_sub(3);
    let (outer, inner) = longer.split_at(split);
    let slices = inner.first().map_or(1, |(_, length)| *length);
    let mut starts = vec![0];
    for (range, length) in outer {
        let next = |start: &u64| {
            let first = start * length;
            (*range).clone().map(move |at| first + at)
        };
        starts = starts.iter().flat_map(next).collect();
    }
    let depth = outer.iter().map(|(_, length)| length).product::<u64>() * slices;
    let mut lengths: Vec<u64> = inner.iter().map(|(_, length)| *length).collect();
    let mut ranges: Vec<Range<u64>> = inner.iter().map(|(range, _)| (*range).clone()).collect();
    if split == 0 {
        lengths.insert(0, 1);
        ranges.insert(0, 0..1);
    } else {
        lengths[0] = depth;
    }
    let extents = Extents::new(&lengths)?;
    let of_slice = ranges[0].clone();
    let region = |start: u64| {
        if split > 0 {
            ranges[0] = start * slices + of_slice.start..start * slices + of_slice.end;
        }
        Region::of_box(grid, &extents, &ranges)
    };
    starts.into_iter().map(region).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::{Codec, Shape};

    /// The numbers of the elements of a box, by enumeration.
    fn counted(lengths: &[u64], ranges: &[Range<u64>]) -> Vec<u64> {
        let mut numbers = vec![0];
        for (length, range) in lengths.iter().zip(ranges) {
            let next = |number: u64| range.clone().map(move |at| number * length + at);
            numbers = numbers.into_iter().flat_map(next).collect();
        }
        numbers
    }

    #[test]
    fn boxes_of_up_to_eight_dimensions_have_their_elements_in_order() {
        let cases: [(&[u64], &[Range<u64>]); 7] = [
            (&[1, 9], &[0..1, 2..7]),
            (&[5, 6, 7], &[1..3, 0..6, 6..7]),
            (&[4, 5, 6, 7], &[1..4, 2..5, 0..1, 3..7]),
            (&[4, 1, 5, 6, 7], &[0..4, 0..1, 2..3, 5..6, 0..7]),
            (&[2, 3, 2, 3, 4], &[0..2, 1..3, 1..2, 0..3, 2..4]),
            (
                &[2, 3, 1, 2, 1, 3, 1, 4],
                &[1..2, 0..3, 0..1, 0..2, 0..1, 1..2, 0..1, 1..4],
            ),
            (&[4, 5, 6, 7], &[1..4, 2..2, 0..1, 3..7]),
        ];
        for (lengths, ranges) in cases {
            let extents = Extents::new(lengths).expect("extents");
            for shape in Shape::ALL {
                let layout = Layout::new(Codec::PLAIN, shape, extents);
                let regions = Part::Box(ranges.to_vec()).regions(&layout).expect("within");
                let mut found = Vec::new();
                for region in &regions {
                    let mut own = vec![u64::MAX; region.elements() as usize];
                    region.cut(0, extents.elements(), |run, at| {
                        for (i, number) in run.enumerate() {
                            own[at as usize + i] = number;
                        }
                    });
                    found.extend(own);
                }
                assert_eq!(found, counted(lengths, ranges), "{lengths:?} {shape}");
            }
        }
    }

    #[test]
    fn boxes_outside_are_refused() {
        let extents = Extents::new(&[2, 3, 4, 5]).expect("extents");
        let layout = Layout::new(Codec::PLAIN, Shape::Cube, extents);
        for ranges in [vec![0..2, 0..3, 0..4], vec![0..3, 0..3, 0..4, 0..5]] {
            assert!(Part::Box(ranges).regions(&layout).is_err());
        }
    }
}
