//! Wavelets on the CPU: a field to its coefficients, box by box, and back.

use crate::error::Error;
use crate::memory::try_zeroed;
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::wavelet::{
    FieldBox, FieldBoxes, Lifting, SideBySide, each_run, line_levels,
};

/// Rows along x that are lifted side by side.
const SIDE: usize = 16;

/// [`Lifting::forward`] or [`Lifting::inverse`].
type Lift<T> = fn(&Lifting<T>, &mut [T], SideBySide, &mut [T]);

/// The coefficients of a field, in their order.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(super) fn coefficients<T: Element>(boxes: &FieldBoxes, field: &[T]) -> Result<Vec<T>, Error> {
    let mut coefficients = try_zeroed(field.len() as u64)?;
    for number in 0..boxes.count() {
        let one = boxes.at(number);
        let [depth, height, width] = one.lengths;
        // Columns along z that have one y lie together.
        let mut columns = spare_box(&one)?;
        let of_y = columns.chunks_mut(depth * width).enumerate();
        parallel::each(of_y, |(y, columns)| {
            for (z, row) in columns.chunks_mut(width).enumerate() {
                row.copy_from_slice(&field[row_of(boxes, &one, [z, y])..][..width]);
            }
            lift_columns(columns, [depth, width]);
        });
        let mut planes = spare_box(&one)?;
        let of_z = planes.chunks_mut(height * width).enumerate();
        parallel::each(of_z, |(z, plane)| {
            for (y, row) in plane.chunks_mut(width).enumerate() {
                row.copy_from_slice(&columns[(y * depth + z) * width..][..width]);
            }
            lift_plane(plane, [height, width]);
        });
        let mut at = one.first as usize;
        each_run(one.lengths, |from, count| {
            coefficients[at..at + count].copy_from_slice(&planes[from..from + count]);
            at += count;
        });
    }
    Ok(coefficients)
}

/// The field of coefficients.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(super) fn field<T: Element>(boxes: &FieldBoxes, coefficients: &[T]) -> Result<Vec<T>, Error> {
    let mut field = try_zeroed(coefficients.len() as u64)?;
    for number in 0..boxes.count() {
        let one = boxes.at(number);
        let [depth, height, width] = one.lengths;
        let mut planes = spare_box(&one)?;
        let mut at = one.first as usize;
        each_run(one.lengths, |from, count| {
            planes[from..from + count].copy_from_slice(&coefficients[at..at + count]);
            at += count;
        });
        let of_z = planes.chunks_mut(height * width);
        parallel::each(of_z, |plane| unlift_plane(plane, [height, width]));
        let mut columns = spare_box(&one)?;
        let of_y = columns.chunks_mut(depth * width).enumerate();
        parallel::each(of_y, |(y, columns)| {
            for (z, row) in columns.chunks_mut(width).enumerate() {
                row.copy_from_slice(&planes[(z * height + y) * width..][..width]);
            }
            unlift_columns(columns, [depth, width]);
        });
        for z in 0..depth {
            for y in 0..height {
                let row = &mut field[row_of(boxes, &one, [z, y])..][..width];
                row.copy_from_slice(&columns[(y * depth + z) * width..][..width]);
            }
        }
    }
    Ok(field)
}

/// Memory for the values of a box.
fn spare_box<T: Element>(one: &FieldBox) -> Result<Vec<T>, Error> {
    try_zeroed(one.lengths.map(|length| length as u64).iter().product())
}

/// The number in the field of the first position of a row of a box.
fn row_of(boxes: &FieldBoxes, one: &FieldBox, [z, y]: [usize; 2]) -> usize {
    let [_, height, width] = boxes.lengths();
    let row = (one.origin[0] + z as u64) * height + one.origin[1] + y as u64;
    (row * width + one.origin[2]) as usize
}

/// The lengths of what the levels of a line lift.
fn lifted_lengths(length: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..line_levels(length)).map(move |level| length.div_ceil(1 << level))
}

fn lift_columns<T: Element>(columns: &mut [T], [depth, width]: [usize; 2]) {
    let lifting = Lifting::default();
    let mut spare = vec![T::ZERO; columns.len()];
    for length in lifted_lengths(depth) {
        lifting.forward(columns, side_by_side(length, width), &mut spare);
    }
}

fn unlift_columns<T: Element>(columns: &mut [T], [depth, width]: [usize; 2]) {
    let lifting = Lifting::default();
    let mut spare = vec![T::ZERO; columns.len()];
    for length in lifted_lengths(depth).rev() {
        lifting.inverse(columns, side_by_side(length, width), &mut spare);
    }
}

const fn side_by_side(length: usize, lines: usize) -> SideBySide {
    SideBySide {
        length,
        lines,
        stride: lines,
    }
}

fn lift_plane<T: Element>(plane: &mut [T], lengths: [usize; 2]) {
    let mut spare = vec![T::ZERO; plane.len().max(SIDE * lengths[1])];
    for step in plane_steps(lengths) {
        step.run(plane, lengths[1], Lifting::forward, &mut spare);
    }
}

fn unlift_plane<T: Element>(plane: &mut [T], lengths: [usize; 2]) {
    let mut spare = vec![T::ZERO; plane.len().max(SIDE * lengths[1])];
    for step in plane_steps(lengths).into_iter().rev() {
        step.run(plane, lengths[1], Lifting::inverse, &mut spare);
    }
}

/// The lifting of a part of a plane that begins at its first position.
struct PlaneStep {
    is_along_x: bool,
    height: usize,
    width: usize,
}

/// What lifts a plane, level by level, along y and then along x.
fn plane_steps([mut height, mut width]: [usize; 2]) -> Vec<PlaneStep> {
    let mut steps = Vec::new();
    let levels = [line_levels(height), line_levels(width)];
    for level in 0..levels[0].max(levels[1]) {
        for is_along_x in [false, true] {
            if level < levels[usize::from(is_along_x)] {
                steps.push(PlaneStep {
                    is_along_x,
                    height,
                    width,
                });
            }
        }
        if level < levels[0] {
            height = height.div_ceil(2);
        }
        if level < levels[1] {
            width = width.div_ceil(2);
        }
    }
    steps
}

impl PlaneStep {
    /// Lifts the part of a plane whose rows are `stride` long.
    fn run<T: Element>(&self, plane: &mut [T], stride: usize, lift: Lift<T>, spare: &mut [T]) {
        let lifting = Lifting::default();
        if !self.is_along_x {
            let columns = SideBySide {
                length: self.height,
                lines: self.width,
                stride,
            };
            return lift(&lifting, plane, columns, spare);
        }
        let mut turned = vec![T::ZERO; SIDE * self.width];
        for rows in plane[..self.height * stride].chunks_mut(SIDE * stride) {
            let lines = rows.len() / stride;
            for (line, row) in rows.chunks(stride).enumerate() {
                let places = turned.iter_mut().skip(line).step_by(lines);
                places
                    .zip(&row[..self.width])
                    .for_each(|(to, value)| *to = *value);
            }
            lift(
                &lifting,
                &mut turned,
                side_by_side(self.width, lines),
                spare,
            );
            for (line, row) in rows.chunks_mut(stride).enumerate() {
                let values = turned.iter().skip(line).step_by(lines);
                row[..self.width]
                    .iter_mut()
                    .zip(values)
                    .for_each(|(to, value)| *to = *value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::container::extents::Extents;
    use ferrosz_codec::oracle::wavelet;

    fn check<T: Element>(lengths: &[u64], most: f64) {
        let extents = Extents::new(lengths).unwrap();
        let boxes = FieldBoxes::new(&extents);
        let field: Vec<T> = (0..extents.elements())
            .map(|i| T::from_f64((i as f64 * 0.37).sin() + (i % 17) as f64))
            .collect();
        let coefficients = coefficients(&boxes, &field).unwrap();
        let of_reference = wavelet::coefficients(&extents, &field);
        let bits = |values: &[T]| values.iter().map(|x| x.to_bits64()).collect::<Vec<_>>();
        assert!(bits(&coefficients) == bits(&of_reference), "{lengths:?}");
        let back = super::field(&boxes, &coefficients).unwrap();
        for (x, y) in field.iter().zip(&back) {
            assert!((x.to_f64() - y.to_f64()).abs() < most, "{lengths:?}");
        }
        let power = |values: &[T]| values.iter().map(|x| x.to_f64().powi(2)).sum::<f64>();
        let gain = power(&coefficients) / power(&field);
        assert!(gain > 0.8 && gain < 1.25, "{lengths:?}: {gain}");
    }

    #[test]
    fn coefficients_come_back_as_the_field() {
        for lengths in [
            &[1][..],
            &[7],
            &[8],
            &[5000],
            &[31, 45],
            &[2, 33, 70],
            &[29, 30, 64],
            &[330, 9, 10],
        ] {
            check::<f64>(lengths, 1e-12);
            check::<f32>(lengths, 2e-5);
        }
    }
}
