//! The decomposition of a field into the boxes of the members.

use crate::error::Error;
use crate::peers::{Group, agree};
use ferrosz_codec::container::extents::MAX_RANK;
use ferrosz_codec::mapping::axes::Order;
use std::ops::Range;

/// The coordinates of an element in the axes of the field; those beyond its rank are 0.
type Position = [u64; MAX_RANK];

/// The boxes of all members, of which each element of the field has one.
#[derive(Debug)]
pub(super) struct Decomposition {
    rank: usize,
    /// Extents of the field.
    lengths: Position,
    boxes: Vec<Owned>,
    slabs: Slabs,
}

/// The box of a member.
#[derive(Debug, Clone, Copy)]
struct Owned {
    start: Position,
    end: Position,
}

/// The field in slabs along the axis in which the boxes have the most different starts, each with its boxes.
#[derive(Debug)]
struct Slabs {
    axis: usize,
    starts: Vec<u64>,
    boxes: Vec<Vec<usize>>,
}

/// Consecutive elements of the field that one member has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// The rank of the member.
    pub(super) owner: usize,
    /// The number of the first element in the field.
    pub(super) first: u64,
    /// Its number among the elements of the owner's box.
    pub(super) place: usize,
    pub(super) count: u64,
}

impl Decomposition {
    /// The boxes of all members, given the own one, of a field with these extents.
    ///
    /// # Errors
    ///
    /// [`Error::BoxOutside`] if the own box is not within the field; [`Error::BadParts`] if boxes overlap, or leave
    /// elements out; [`Error::Group`].
    pub(super) fn gather(
        group: &dyn Group,
        lengths: &[u64],
        own: &[Range<u64>],
    ) -> Result<Self, Error> {
        if lengths.is_empty() && own.is_empty() {
            // A single element without dimensions is a line of one.
            return Self::gather(group, &[1], std::slice::from_ref(&(0..1)));
        }
        let is_within =
            |(range, length): (&Range<u64>, &u64)| range.start <= range.end && range.end <= *length;
        let is_inside = own.len() == lengths.len() && own.iter().zip(lengths).all(is_within);
        let checked = match is_inside {
            true => Ok(()),
            false => Err(Error::BoxOutside {
                ranges: own.to_vec(),
                extents: lengths.to_vec(),
            }),
        };
        agree(group, checked)?;
        let rank = lengths.len();
        let mut ends = vec![0; 2 * rank * group.size()];
        let of_own = own.iter().flat_map(|range| [range.start, range.end]);
        for (end, own) in ends[2 * rank * group.rank()..].iter_mut().zip(of_own) {
            *end = own;
        }
        group.sum(&mut ends)?;
        let boxes = ends.chunks_exact(2 * rank).map(|ends| {
            let mut owned = Owned {
                start: [0; MAX_RANK],
                end: [1; MAX_RANK],
            };
            for (axis, ends) in ends.chunks_exact(2).enumerate() {
                (owned.start[axis], owned.end[axis]) = (ends[0], ends[1]);
            }
            owned
        });
        Self::new(lengths, boxes.collect())
    }

    /// The boxes of the field with its axes in another order.
    ///
    /// # Errors
    ///
    /// None: the boxes are those of the field.
    pub(super) fn turned(self, order: &Order) -> Result<Self, Error> {
        if order.is_identity() {
            return Ok(self);
        }
        let turn = |of_axes: &Position, rest| order.to_coded(&of_axes[..self.rank], rest);
        let boxes = self.boxes.iter().map(|owned| Owned {
            start: turn(&owned.start, 0),
            end: turn(&owned.end, 1),
        });
        let lengths = turn(&self.lengths, 1);
        Self::new(&lengths[..self.rank], boxes.collect())
    }

    fn new(lengths: &[u64], boxes: Vec<Owned>) -> Result<Self, Error> {
        let mut all = [1; MAX_RANK];
        all[..lengths.len()].copy_from_slice(lengths);
        let found = Self {
            rank: lengths.len(),
            lengths: all,
            slabs: Slabs::new(lengths.len(), &boxes),
            boxes,
        };
        found.check()?;
        Ok(found)
    }

    /// Checks that each element has one owner: no boxes overlap, and together they have as many elements as the field.
    fn check(&self) -> Result<(), Error> {
        let elements = |owned: &Owned| -> u128 {
            (0..MAX_RANK)
                .map(|axis| u128::from(owned.length(axis)))
                .product()
        };
        let found: u128 = self.boxes.iter().map(elements).sum();
        for boxes in &self.slabs.boxes {
            for (i, one) in boxes.iter().enumerate() {
                for other in &boxes[i + 1..] {
                    if self.boxes[*one].overlaps(&self.boxes[*other]) {
                        return Err(Error::BadParts(format!(
                            "those of members {one} and {other} overlap"
                        )));
                    }
                }
            }
        }
        let needed: u128 = self
            .lengths
            .iter()
            .map(|length| u128::from(*length))
            .product();
        match found == needed {
            true => Ok(()),
            false => Err(Error::BadParts(format!(
                "they have {found} of its {needed} elements"
            ))),
        }
    }

    /// The rank of the member that has the element with this number.
    pub(super) fn owner(&self, element: u64) -> usize {
        self.owner_of(&self.position(element))
    }

    fn owner_of(&self, at: &Position) -> usize {
        let slab = (self.slabs.starts).partition_point(|start| *start <= at[self.slabs.axis]);
        let mut boxes = self.slabs.boxes[slab.saturating_sub(1)].iter();
        // Each element has an owner.
        *boxes
            .find(|owned| self.boxes[**owned].has(at))
            .unwrap_or(&0)
    }

    fn position(&self, mut element: u64) -> Position {
        let mut at = [0; MAX_RANK];
        for axis in (0..self.rank).rev() {
            at[axis] = element % self.lengths[axis];
            element /= self.lengths[axis];
        }
        at
    }

    /// The runs of consecutive elements. A member that is asked first is `likely`.
    pub(super) fn runs(
        &self,
        likely: usize,
        mut first: u64,
        mut count: u64,
        mut each: impl FnMut(Run),
    ) {
        let last = self.rank - 1;
        while count > 0 {
            let at = self.position(first);
            let owner = match self.boxes[likely].has(&at) {
                true => likely,
                false => self.owner_of(&at),
            };
            let of_run = count.min(self.boxes[owner].end[last] - at[last]);
            each(Run {
                owner,
                first,
                place: self.boxes[owner].place(self.rank, &at),
                count: of_run,
            });
            first += of_run;
            count -= of_run;
        }
    }

    /// The elements of a member's box.
    pub(super) fn elements(&self, owner: usize) -> u64 {
        let owned = &self.boxes[owner];
        (0..self.rank).map(|axis| owned.length(axis)).product()
    }

    /// The rows of a member's box: consecutive elements.
    pub(super) fn rows(&self, owner: usize) -> impl Iterator<Item = Run> {
        let owned = self.boxes[owner];
        let count = owned.length(self.rank - 1);
        let rows = match count {
            0 => 0,
            count => self.elements(owner) / count,
        };
        (0..rows).map(move |number| {
            let (mut row, mut at) = (number, owned.start);
            for axis in (0..self.rank - 1).rev() {
                at[axis] += row % owned.length(axis);
                row /= owned.length(axis);
            }
            let first = (0..self.rank).fold(0, |first, axis| first * self.lengths[axis] + at[axis]);
            Run {
                owner,
                first,
                place: (number * count) as usize,
                count,
            }
        })
    }
}

impl Owned {
    fn length(&self, axis: usize) -> u64 {
        self.end[axis] - self.start[axis]
    }

    /// The number of an element among those of the box, in a field of this rank.
    fn place(&self, rank: usize, at: &Position) -> usize {
        let place = (0..rank).fold(0, |place, axis| {
            place * self.length(axis) + at[axis] - self.start[axis]
        });
        place as usize
    }

    fn is_empty(&self) -> bool {
        (0..MAX_RANK).any(|axis| self.length(axis) == 0)
    }

    fn has(&self, at: &Position) -> bool {
        (0..MAX_RANK).all(|axis| (self.start[axis]..self.end[axis]).contains(&at[axis]))
    }

    fn overlaps(&self, other: &Self) -> bool {
        (0..MAX_RANK).all(|axis| {
            self.start[axis].max(other.start[axis]) < self.end[axis].min(other.end[axis])
        })
    }
}

impl Slabs {
    fn new(rank: usize, boxes: &[Owned]) -> Self {
        let starts_along = |axis: usize| {
            let not_empty = boxes.iter().filter(|owned| !owned.is_empty());
            let mut starts: Vec<u64> = not_empty.map(|owned| owned.start[axis]).collect();
            starts.sort_unstable();
            starts.dedup();
            starts
        };
        let along = (0..rank).map(|axis| (axis, starts_along(axis)));
        let most = along.max_by_key(|(axis, starts)| (starts.len(), rank - axis));
        let (axis, starts) = most.unwrap_or_default();
        let of_slab = |slab: usize| {
            let end = starts.get(slab + 1).copied().unwrap_or(u64::MAX);
            let has = |owned: &Owned| {
                !owned.is_empty() && owned.start[axis] < end && starts[slab] < owned.end[axis]
            };
            (0..boxes.len()).filter(|i| has(&boxes[*i])).collect()
        };
        Self {
            axis,
            boxes: (0..starts.len()).map(of_slab).collect(),
            starts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Threads;
    use std::io::Cursor;

    fn boxes(ranges: &[&[Range<u64>]]) -> Vec<Owned> {
        let owned = |ranges: &&[Range<u64>]| {
            let mut owned = Owned {
                start: [0; MAX_RANK],
                end: [1; MAX_RANK],
            };
            for (axis, range) in ranges.iter().enumerate() {
                (owned.start[axis], owned.end[axis]) = (range.start, range.end);
            }
            owned
        };
        ranges.iter().map(owned).collect()
    }

    #[test]
    fn each_element_has_one_owner_and_one_place() {
        let lengths = [3u64, 5, 7];
        let parts: [&[Range<u64>]; 5] = [
            &[0..2, 0..5, 0..4],
            &[0..2, 0..2, 4..7],
            &[1..1, 0..5, 0..7],
            &[0..2, 2..5, 4..7],
            &[2..3, 0..5, 0..7],
        ];
        let found = Decomposition::new(&lengths, boxes(&parts)).expect("sound");
        let mut seen = vec![0; 105];
        for (owner, part) in parts.iter().enumerate() {
            let mut place = 0;
            for row in found.rows(owner) {
                assert_eq!((row.owner, row.place), (owner, place));
                for element in row.first..row.first + row.count {
                    let mut run = row;
                    found.runs(owner, element, 1, |found| run = found);
                    assert_eq!((run.owner, run.place), (owner, place));
                    assert_eq!(found.owner(element), owner);
                    seen[element as usize] += 1;
                    place += 1;
                }
            }
            let elements: u64 = part.iter().map(|range| range.end - range.start).product();
            assert_eq!((place as u64, found.elements(owner)), (elements, elements));
        }
        assert!(seen.iter().all(|seen| *seen == 1));
        for likely in 0..5 {
            let mut next = 3;
            found.runs(likely, 3, 90, |run| {
                assert_eq!(run.first, next);
                for element in run.first..run.first + run.count {
                    assert_eq!(found.owner(element), run.owner);
                }
                next += run.count;
            });
            assert_eq!(next, 93);
        }
    }

    #[test]
    fn gaps_and_overlaps_are_errors() {
        let of = |parts: &[&[Range<u64>]]| Decomposition::new(&[4, 6], boxes(parts)).map(drop);
        assert_eq!(of(&[&[0..4, 0..3], &[0..4, 3..6]]), Ok(()));
        let gap = of(&[&[0..4, 0..3], &[0..4, 4..6]]);
        let gap = gap.expect_err("a gap").to_string();
        assert!(gap.contains("they have 20 of its 24 elements"), "{gap}");
        let overlap = of(&[&[0..4, 0..3], &[3..4, 2..6], &[0..3, 3..6]]);
        let overlap = overlap.expect_err("an overlap").to_string();
        assert!(overlap.contains("members 0 and 1 overlap"), "{overlap}");
    }

    #[test]
    fn a_box_outside_is_an_error_of_all() {
        let found = Threads::run(2, Cursor::new(Vec::new()), |group| {
            let own = [[0..2, 0..6], [2..5, 0..6]][group.rank()].clone();
            Decomposition::gather(group, &[4, 6], &own).map(drop)
        });
        assert!(matches!(found[0], Err(Error::Group { .. })), "{found:?}");
        assert!(
            matches!(found[1], Err(Error::BoxOutside { .. })),
            "{found:?}"
        );
    }
}
