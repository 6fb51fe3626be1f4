//! A part of an array: some consecutive elements, or a box.

use core::ops::Range;
use thiserror::Error;

/// A part of an array, whose values are in the order of the array's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Lengths of the array, slowest first.
    extents: Vec<u64>,
    /// A range along each of them.
    ranges: Vec<Range<u64>>,
}

/// Ranges that are no part of an array.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PartError {
    /// There is not one range for each dimension.
    #[error("the part has {ranges} ranges, and the array {axes} dimensions")]
    Ranges {
        /// Ranges.
        ranges: usize,
        /// Dimensions.
        axes: usize,
    },
    /// A range is not within its dimension.
    #[error("the range {from}..{to} of axis {axis} is not within 0..{length}", from = range.start, to = range.end)]
    Outside {
        /// The dimension, from 0 on.
        axis: usize,
        /// The range.
        range: Range<u64>,
        /// The length of the dimension.
        length: u64,
    },
    /// No computer can hold the array.
    #[error("an array of {extents:?} is too large for any computer")]
    TooLarge {
        /// Lengths, slowest first.
        extents: Vec<u64>,
    },
}

impl Part {
    /// The elements of a range, by their numbers, of an array of so many.
    ///
    /// # Errors
    ///
    /// [`PartError`].
    pub fn elements(of: u64, range: Range<u64>) -> Result<Self, PartError> {
        Self::region(&[of], &[range])
    }

    /// A box of an array: a range along each dimension, slowest first.
    ///
    /// # Errors
    ///
    /// [`PartError`].
    pub fn region(extents: &[u64], ranges: &[Range<u64>]) -> Result<Self, PartError> {
        if ranges.len() != extents.len() {
            let (ranges, axes) = (ranges.len(), extents.len());
            return Err(PartError::Ranges { ranges, axes });
        }
        let product =
            (extents.iter()).try_fold(1u64, |product, length| product.checked_mul(*length));
        if product.is_none() {
            let extents = extents.to_vec();
            return Err(PartError::TooLarge { extents });
        }
        for (axis, (range, length)) in ranges.iter().zip(extents).enumerate() {
            if range.start > range.end || range.end > *length {
                let (range, length) = (range.clone(), *length);
                return Err(PartError::Outside {
                    axis,
                    range,
                    length,
                });
            }
        }
        Ok(Self {
            extents: extents.to_vec(),
            ranges: ranges.to_vec(),
        })
    }

    /// Lengths of the part, slowest first.
    pub fn extents(&self) -> Vec<u64> {
        self.ranges
            .iter()
            .map(|range| range.end - range.start)
            .collect()
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.extents().iter().product()
    }

    /// Whether the part has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements of the array.
    pub fn array_len(&self) -> u64 {
        self.extents.iter().product()
    }

    /// The part as runs of consecutive elements, in order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<u64>> {
        let lengths = self.extents();
        let run = lengths.last().copied().unwrap_or(1);
        let count = self.len().checked_div(run).unwrap_or(0);
        (0..count).map(move |number| {
            let (mut rest, mut stride, mut start) = (number, 1, 0);
            for axis in (0..lengths.len()).rev() {
                let is_last = axis + 1 == lengths.len();
                let length = if is_last { 1 } else { lengths[axis].max(1) };
                start += (self.ranges[axis].start + rest % length) * stride;
                rest /= length;
                stride *= self.extents[axis];
            }
            start..start + run
        })
    }

    /// The place of an element among those of the part; none if the part does not have it.
    pub(crate) fn slot(&self, element: u64) -> Option<usize> {
        let (mut rest, mut stride, mut slot) = (element, 1, 0);
        for (range, length) in self.ranges.iter().zip(&self.extents).rev() {
            let at = rest % (*length).max(1);
            if !range.contains(&at) {
                return None;
            }
            slot += (at - range.start) * stride;
            stride *= range.end - range.start;
            rest /= (*length).max(1);
        }
        (rest == 0).then_some(slot as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements of a box, by three loops.
    fn by_loops([z, y, x]: &[Range<u64>; 3], [_, size_y, size_x]: [u64; 3]) -> Vec<u64> {
        let mut found = Vec::new();
        for z in z.clone() {
            for y in y.clone() {
                found.extend(x.clone().map(|x| (z * size_y + y) * size_x + x));
            }
        }
        found
    }

    #[test]
    fn runs_and_slots_are_those_of_loops() {
        let extents = [4, 5, 7];
        for ranges in [
            [0..4, 0..5, 0..7],
            [1..2, 2..5, 3..4],
            [1..3, 0..5, 6..7],
            [2..2, 0..5, 0..7],
            [0..4, 3..3, 0..7],
            [0..4, 1..2, 5..5],
        ] {
            let expected = by_loops(&ranges, extents);
            let part = Part::region(&extents, &ranges).unwrap();
            let found: Vec<u64> = part.runs().flatten().collect();
            assert_eq!(found, expected, "{ranges:?}");
            assert_eq!(part.len(), expected.len() as u64);
            for element in 0..150 {
                let slot = expected.iter().position(|found| *found == element);
                assert_eq!(part.slot(element), slot, "{ranges:?} {element}");
            }
        }
        let part = Part::elements(140, 3..9).unwrap();
        assert!(part.runs().eq(std::iter::once(3..9)));
        assert_eq!(
            (part.slot(2), part.slot(3), part.slot(9)),
            (None, Some(0), None)
        );
    }

    #[test]
    fn ranges_outside_are_refused() {
        let outside = PartError::Outside {
            axis: 1,
            range: 3..6,
            length: 5,
        };
        assert_eq!(Part::region(&[4, 5], &[0..4, 3..6]), Err(outside));
        let ranges = PartError::Ranges { ranges: 3, axes: 2 };
        assert_eq!(Part::region(&[4, 5], &[0..4, 0..5, 0..1]), Err(ranges));
        assert!(Part::elements(5, 0..6).is_err());
        #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
        let reversed = Part::elements(5, 3..2);
        assert!(reversed.is_err());
        let extents = vec![1 << 40, 1 << 40];
        let found = Part::region(&extents, &[0..1, 0..1]);
        assert_eq!(found, Err(PartError::TooLarge { extents }));
    }
}
