//! Axes in another order: an array is transposed, in squares that fit the cache.

use crate::parallel;
use ferrosz_codec::container::extents::MAX_RANK;
use ferrosz_codec::mapping::axes::Order;

/// The edge, in elements, of a square that is transposed as a whole: its rows and its columns fit the cache.
const EDGE: usize = 32;

/// Elements of a task that copies rows.
const TASK: usize = 1 << 14;

/// Another order of the axes of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The lengths of the array, slowest first.
    lengths: Vec<u64>,
    /// For each axis of the result, the number of that axis in the array.
    order: Order,
}

impl Turn {
    /// From the user's order to that of the coded field, of an array that has these lengths in the coded field; none if
    /// the order is the same.
    pub(crate) fn to_coded(coded: &[u64], order: &Order) -> Option<Self> {
        let lengths = order.to_user(coded, 1)[..coded.len()].to_vec();
        (!order.is_identity()).then_some(Self {
            lengths,
            order: *order,
        })
    }

    /// From the order of the coded field to the user's, of an array that has these lengths in the coded field; none if
    /// the order is the same.
    pub(crate) fn to_user(coded: &[u64], order: &Order) -> Option<Self> {
        (!order.is_identity()).then(|| Self {
            lengths: coded.to_vec(),
            order: order.inverse(),
        })
    }

    /// Copies an array to the other order.
    pub(crate) fn apply<T: Copy + Send + Sync>(&self, from: &[T], to: &mut [T]) {
        transpose(from, &self.lengths, self.order.axes(), to);
    }

    /// For each axis of the result its length, and the distance of its neighbours in the array.
    pub(crate) fn for_kernel(&self) -> ([u64; MAX_RANK], [u64; MAX_RANK]) {
        let (mut lengths, mut steps) = ([1; MAX_RANK], [0; MAX_RANK]);
        let axes = merged(&self.lengths, self.order.axes());
        for ((length, step), axis) in lengths.iter_mut().zip(&mut steps).zip(axes) {
            (*length, *step) = (axis.length as u64, axis.step as u64);
        }
        (lengths, steps)
    }
}

/// An axis of the output: its length, and the distance of its neighbours in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Axis {
    length: usize,
    step: usize,
}

/// Copies an array of these lengths, slowest first, to `to`, whose axis i is axis `order[i]` of the array. Both must
/// have as many elements as the lengths make.
fn transpose<T: Copy + Send + Sync>(from: &[T], lengths: &[u64], order: &[u8], to: &mut [T]) {
    if to.is_empty() {
        return;
    }
    let axes = merged(lengths, order);
    let Some((last, slower)) = axes.split_last() else {
        to.copy_from_slice(from);
        return;
    };
    match slower.iter().position(|axis| axis.step == 1) {
        Some(at) => {
            let (before, behind) = slower.split_at(at);
            let [columns, between @ ..] = behind else {
                return;
            };
            let squares = Squares {
                columns: *columns,
                between,
                last: *last,
            };
            squares.copy_all(from, before, to);
        }
        None => copy_rows(from, slower, *last, to),
    }
}

/// The axes of the output. Axes of length 1 are left out, and axes that follow each other in both arrays are one.
fn merged(lengths: &[u64], order: &[u8]) -> Vec<Axis> {
    let mut steps = vec![1; lengths.len()];
    for axis in (1..lengths.len()).rev() {
        steps[axis - 1] = steps[axis] * lengths[axis] as usize;
    }
    let mut axes: Vec<Axis> = Vec::new();
    for axis in order.iter().map(|axis| usize::from(*axis)) {
        let next = Axis {
            length: lengths[axis] as usize,
            step: steps[axis],
        };
        match axes.last_mut() {
            _ if next.length == 1 => {}
            Some(last) if last.step == next.step * next.length => {
                *last = Axis {
                    length: last.length * next.length,
                    step: next.step,
                };
            }
            _ => axes.push(next),
        }
    }
    axes
}

/// The start in the input of the part of the output that has number `number` along these axes together.
fn start(axes: &[Axis], mut number: usize) -> usize {
    let mut at = 0;
    for axis in axes.iter().rev() {
        at += number % axis.length * axis.step;
        number /= axis.length;
    }
    at
}

/// Copies rows that are rows in the input, too, or whose elements have other elements between them there, if no axis
/// has adjacent elements.
fn copy_rows<T: Copy + Send + Sync>(from: &[T], slower: &[Axis], last: Axis, to: &mut [T]) {
    let rows_of_task = (TASK / last.length).max(1);
    let tasks = to.chunks_mut(rows_of_task * last.length).enumerate();
    parallel::each(tasks, |(task, rows)| {
        for (row, to) in rows.chunks_exact_mut(last.length).enumerate() {
            let first = start(slower, task * rows_of_task + row);
            match last.step {
                1 => to.copy_from_slice(&from[first..first + last.length]),
                step => {
                    for (i, to) in to.iter_mut().enumerate() {
                        *to = from[first + i * step];
                    }
                }
            }
        }
    });
}

/// The part of an array in which columns of the input become rows of the output.
struct Squares<'a> {
    /// The axis whose elements are adjacent in the input.
    columns: Axis,
    /// The axes between it and the last one.
    between: &'a [Axis],
    /// The axis whose elements are adjacent in the output.
    last: Axis,
}

impl Squares<'_> {
    /// Copies all parts, one for each position along the axes before.
    fn copy_all<T: Copy + Send + Sync>(&self, from: &[T], before: &[Axis], to: &mut [T]) {
        let rows = self
            .between
            .iter()
            .map(|axis| axis.length)
            .product::<usize>()
            * self.last.length;
        let parts = to.chunks_mut(self.columns.length * rows).enumerate();
        let bands = parts.flat_map(|(number, part)| {
            let from = &from[start(before, number)..];
            let bands = part.chunks_mut(EDGE * rows).enumerate();
            bands.map(move |(band, to)| (&from[band * EDGE..], to))
        });
        parallel::each(bands, |(from, to)| self.copy_band(from, rows, to));
    }

    /// Copies a band of columns; `rows` elements of the output are between two of them.
    fn copy_band<T: Copy>(&self, from: &[T], rows: usize, to: &mut [T]) {
        for (number, first) in (0..rows).step_by(self.last.length).enumerate() {
            let from = &from[start(self.between, number)..];
            for square in (0..self.last.length).step_by(EDGE) {
                let end = self.last.length.min(square + EDGE);
                for (column, to) in to.chunks_exact_mut(rows).enumerate() {
                    for (i, to) in (square..end).zip(&mut to[first + square..first + end]) {
                        *to = from[column + i * self.last.step];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(lengths: &[u64], order: &[u8]) {
        let count: u64 = lengths.iter().product();
        let from: Vec<u64> = (0..count).collect();
        let mut to = vec![u64::MAX; count as usize];
        transpose(&from, lengths, order, &mut to);
        for (number, found) in to.iter().enumerate() {
            let mut rest = number as u64;
            let mut at = vec![0; lengths.len()];
            for axis in order.iter().rev() {
                let axis = usize::from(*axis);
                at[axis] = rest % lengths[axis];
                rest /= lengths[axis];
            }
            let steps = at.iter().zip(lengths);
            let wanted = steps.fold(0, |flat, (at, length)| flat * length + at);
            assert_eq!(*found, wanted, "{lengths:?} {order:?}");
        }
    }

    /// All orders of the axes from `next` on.
    fn permutations(order: &mut Vec<u8>, next: usize, take: &mut impl FnMut(&[u8])) {
        if next == order.len() {
            take(order);
        }
        for i in next..order.len() {
            order.swap(next, i);
            permutations(order, next + 1, take);
            order.swap(next, i);
        }
    }

    #[test]
    fn every_element_gets_its_place() {
        for lengths in [
            &[7u64][..],
            &[40, 70],
            &[33, 1, 64],
            &[3, 40, 35],
            &[0, 3],
            &[2, 3, 40, 5],
            &[3, 1, 2, 4, 5],
        ] {
            let mut order: Vec<u8> = (0..lengths.len() as u8).collect();
            permutations(&mut order, 0, &mut |order| checks(lengths, order));
        }
        checks(&[2, 3, 1, 2, 3, 4, 1, 5], &[7, 0, 3, 6, 5, 2, 1, 4]);
        checks(&[100, 130], &[1, 0]);
    }

    #[test]
    fn axes_that_stay_together_are_one() {
        let axes = |order: &[u8]| merged(&[2, 3, 4, 5], order).len();
        assert_eq!([axes(&[0, 1, 2, 3]), axes(&[2, 3, 0, 1])], [1, 2]);
        assert_eq!(axes(&[0, 2, 1, 3]), 4);
    }
}
