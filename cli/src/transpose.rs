//! Conversion from Fortran order to C order: the last dimension, instead of the first, becomes the fastest.

use bytemuck::Pod;
use ferrosz::Error;
use ferrosz::codec::mapping::axes::PARTS;
use ferrosz::scratch::{Copies, Scratch};

/// The edge, in elements, of a square that is transposed as a whole: its rows and its columns fit the cache.
const EDGE: usize = 32;

/// The values of an array in C order, given in Fortran order.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; [`Error::TemporaryFile`].
pub fn to_c_order<T: Pod>(values: Scratch<T>, lengths: &[u64]) -> Result<Scratch<T>, Error> {
    // 1. Dimensions of length 1 do not affect the order, and an array of a single dimension is in both orders.
    let lengths: Vec<usize> = (lengths.iter().map(|length| *length as usize))
        .filter(|length| *length != 1)
        .collect();
    let [first, middle @ .., last] = &lengths[..] else {
        return Ok(values);
    };
    if values.is_empty() {
        return Ok(values);
    }
    let mut scratch = Scratch::zeroed(Copies::InFiles, values.len() as u64)?;
    let (values, turned) = (&values[..], &mut scratch[..]);
    // 2. The middle dimensions run in opposite orders. For each position in them, a plane of the first and the last
    //    dimension is transposed.
    let planes: usize = middle.iter().product();
    let (from_last, to_first) = (first * planes, planes * last);
    for plane in 0..planes {
        let mut rest = plane;
        let from = middle.iter().rev().fold((0, planes), |(at, step), length| {
            let step = step / length;
            let place = rest % length;
            rest /= length;
            (at + place * step, step)
        });
        let (from, to) = (from.0 * first, plane * last);
        // 3. A plane is transposed in squares: neighbours along the first dimension are adjacent before, neighbours
        //    along the last one afterwards.
        for row in (0..*first).step_by(EDGE) {
            for column in (0..*last).step_by(EDGE) {
                for i in row..(row + EDGE).min(*first) {
                    for j in column..(column + EDGE).min(*last) {
                        turned[to + i * to_first + j] = values[from + j * from_last + i];
                    }
                }
            }
        }
    }
    Ok(scratch)
}

/// As [`to_c_order`], of pairs of values that stay together.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; [`Error::TemporaryFile`].
pub fn pairs_to_c_order<T: Pod>(values: Scratch<T>, lengths: &[u64]) -> Result<Scratch<T>, Error> {
    // The values of a pair are neighbours along a first dimension, which becomes the slowest; then it becomes the fastest.
    let pairs = values.len() as u64 / PARTS;
    let apart = to_c_order(values, &[&[PARTS], lengths].concat())?;
    to_c_order(apart, &[pairs, PARTS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stay_together() {
        let (rows, columns) = (5u64, 3u64);
        let pair = |row, column| [row * 10 + column, 1000 + row * 10 + column];
        let all = |at: &dyn Fn(u64) -> (u64, u64)| {
            let pairs = (0..rows * columns).map(at);
            pairs
                .flat_map(|(row, column)| pair(row, column))
                .collect::<Vec<u64>>()
        };
        let fortran = all(&|i| (i % rows, i / rows));
        let wanted = all(&|i| (i / columns, i % columns));
        let mut values = Scratch::<u64>::zeroed(Copies::InMemory, 2 * rows * columns).unwrap();
        values.copy_from_slice(&fortran);
        let found = pairs_to_c_order(values, &[rows, columns]).unwrap();
        assert_eq!(found[..], wanted);
    }

    #[test]
    fn every_element_keeps_its_indices() {
        for lengths in [
            &[][..],
            &[7],
            &[0, 3],
            &[40, 70],
            &[3, 1, 5],
            &[4, 5, 6],
            &[2, 3, 4, 5],
            &[3, 2, 1, 5, 4],
        ] {
            let count = lengths.iter().product::<u64>() as u32;
            // Element n in Fortran order has the value n.
            let values: Vec<u32> = (0..count).collect();
            let turned = to_c_order(values.into(), lengths).unwrap();
            for (c_order, value) in turned.iter().enumerate() {
                let mut rest = c_order as u64;
                let mut indices = vec![0; lengths.len()];
                for (index, length) in indices.iter_mut().zip(lengths).rev() {
                    *index = rest % length;
                    rest /= length;
                }
                let fortran = (indices.iter().zip(lengths).rev())
                    .fold(0, |number, (index, length)| number * length + index);
                assert_eq!(u64::from(*value), fortran, "{lengths:?}");
            }
        }
    }
}
