//! Wavelets on the CPU: a field to its coefficients, box by box, and back.

use crate::error::Error;
use crate::memory::try_zeroed;
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::wavelet::{
    FieldBox, FieldBoxes, LevelOrder, Lifting, SideBySide, each_run, line_levels, low_length,
};
use std::ops::Range;

/// Rows along x that are lifted side by side.
const SIDE: usize = 16;

/// [`Lifting::forward`] or [`Lifting::inverse`].
type Lift<T> = fn(&Lifting<T>, &mut [T], SideBySide, &mut [T]);

/// The coefficients of a field, in their order.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(super) fn coefficients<T: Element>(
    boxes: &FieldBoxes,
    order: LevelOrder,
    field: &[T],
) -> Result<Vec<T>, Error> {
    let mut coefficients = try_zeroed(field.len() as u64)?;
    for number in 0..boxes.count() {
        let one = boxes.at(number);
        let [_, height, width] = one.lengths;
        let mut planes = spare_box(&one)?;
        let of_z = planes.chunks_mut(height * width).enumerate();
        parallel::each(of_z, |(z, plane)| {
            for (y, row) in plane.chunks_mut(width).enumerate() {
                row.copy_from_slice(&field[row_of(boxes, &one, [z, y])..][..width]);
            }
        });
        let mut columns = spare_box(&one)?;
        for round in rounds(one.lengths, order) {
            round.lift(one.lengths, &mut planes, &mut columns);
        }
        let mut at = one.first as usize;
        each_run(one.lengths, order, |from, count| {
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
pub(super) fn field<T: Element>(
    boxes: &FieldBoxes,
    order: LevelOrder,
    coefficients: &[T],
) -> Result<Vec<T>, Error> {
    let mut field = try_zeroed(coefficients.len() as u64)?;
    for number in 0..boxes.count() {
        let one = boxes.at(number);
        let [depth, height, width] = one.lengths;
        let mut planes = spare_box(&one)?;
        let mut at = one.first as usize;
        each_run(one.lengths, order, |from, count| {
            planes[from..from + count].copy_from_slice(&coefficients[at..at + count]);
            at += count;
        });
        let mut columns = spare_box(&one)?;
        for round in rounds(one.lengths, order).into_iter().rev() {
            round.unlift(one.lengths, &mut planes, &mut columns);
        }
        for z in 0..depth {
            for y in 0..height {
                let row = &mut field[row_of(boxes, &one, [z, y])..][..width];
                row.copy_from_slice(&planes[(z * height + y) * width..][..width]);
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

/// Levels of the lines along z and then of the planes of a box, which lift its first positions.
struct Round {
    /// The positions along each axis.
    lengths: [usize; 3],
    of_z: Range<u32>,
    of_planes: Range<u32>,
}

/// What lifts a box.
fn rounds(lengths: [usize; 3], order: LevelOrder) -> Vec<Round> {
    let [of_z, of_y, of_x] = lengths.map(line_levels);
    let of_planes = of_y.max(of_x);
    match order {
        LevelOrder::ZFirst => vec![Round {
            lengths,
            of_z: 0..of_z,
            of_planes: 0..of_planes,
        }],
        LevelOrder::ByTurns => (0..of_planes.max(of_z))
            .map(|level| Round {
                lengths: lengths.map(|length| low_length(length, level)),
                of_z: level.min(of_z)..(level + 1).min(of_z),
                of_planes: level.min(of_planes)..(level + 1).min(of_planes),
            })
            .collect(),
    }
}

impl Round {
    /// Lifts the planes of a box with these lengths. `columns` has room for as many values.
    fn lift<T: Element>(&self, of_box: [usize; 3], planes: &mut [T], columns: &mut [T]) {
        let [_, height, width] = of_box;
        self.in_columns(of_box, planes, columns, lift_columns);
        let steps = plane_steps([height, width], &self.of_planes);
        each_plane(planes, of_box, self.lengths[0], |plane| {
            let mut spare = spare_lines(plane, width);
            for step in &steps {
                step.run(plane, width, Lifting::forward, &mut spare);
            }
        });
    }

    /// The inverse of [`Round::lift`].
    fn unlift<T: Element>(&self, of_box: [usize; 3], planes: &mut [T], columns: &mut [T]) {
        let [_, height, width] = of_box;
        let steps = plane_steps([height, width], &self.of_planes);
        each_plane(planes, of_box, self.lengths[0], |plane| {
            let mut spare = spare_lines(plane, width);
            for step in steps.iter().rev() {
                step.run(plane, width, Lifting::inverse, &mut spare);
            }
        });
        self.in_columns(of_box, planes, columns, unlift_columns);
    }

    /// Changes the lines along z by their levels. Those that have one y lie together for it.
    fn in_columns<T: Element>(
        &self,
        of_box: [usize; 3],
        planes: &mut [T],
        columns: &mut [T],
        change: fn(&mut [T], usize, [usize; 2], &Range<u32>),
    ) {
        if self.of_z.is_empty() {
            return;
        }
        let [depth, height, width] = of_box;
        let [deep, high, wide] = self.lengths;
        let of_y = columns.chunks_mut(deep * wide).take(high).enumerate();
        parallel::each(of_y, |(y, columns)| {
            for (z, row) in columns.chunks_mut(wide).enumerate() {
                row.copy_from_slice(&planes[(z * height + y) * width..][..wide]);
            }
            change(columns, depth, [deep, wide], &self.of_z);
        });
        let columns = &*columns;
        let of_z = planes.chunks_mut(height * width).take(deep).enumerate();
        parallel::each(of_z, |(z, plane)| {
            for (y, row) in plane.chunks_mut(width).take(high).enumerate() {
                row[..wide].copy_from_slice(&columns[(y * deep + z) * wide..][..wide]);
            }
        });
    }
}

fn each_plane<T: Element>(
    planes: &mut [T],
    [_, height, width]: [usize; 3],
    count: usize,
    change: impl Fn(&mut [T]) + Sync,
) {
    let planes = planes.chunks_mut(height * width).take(count);
    parallel::each(planes, change);
}

/// Room for the lines of a plane, and for those that are turned.
fn spare_lines<T: Element>(plane: &[T], width: usize) -> Vec<T> {
    vec![T::ZERO; plane.len().max(SIDE * width)]
}

/// Lifts columns by levels of a line of a length.
fn lift_columns<T: Element>(
    columns: &mut [T],
    length: usize,
    [_, width]: [usize; 2],
    levels: &Range<u32>,
) {
    let lifting = Lifting::default();
    let mut spare = vec![T::ZERO; columns.len()];
    for level in levels.clone() {
        let columns_of = side_by_side(low_length(length, level), width);
        lifting.forward(columns, columns_of, &mut spare);
    }
}

/// The inverse of [`lift_columns`].
fn unlift_columns<T: Element>(
    columns: &mut [T],
    length: usize,
    [_, width]: [usize; 2],
    levels: &Range<u32>,
) {
    let lifting = Lifting::default();
    let mut spare = vec![T::ZERO; columns.len()];
    for level in levels.clone().rev() {
        let columns_of = side_by_side(low_length(length, level), width);
        lifting.inverse(columns, columns_of, &mut spare);
    }
}

const fn side_by_side(length: usize, lines: usize) -> SideBySide {
    SideBySide {
        length,
        lines,
        stride: lines,
    }
}

/// The lifting of a part of a plane that begins at its first position.
struct PlaneStep {
    is_along_x: bool,
    height: usize,
    width: usize,
}

/// What lifts a plane by levels, along y and then along x.
fn plane_steps(lengths: [usize; 2], levels: &Range<u32>) -> Vec<PlaneStep> {
    let mut steps = Vec::new();
    for level in levels.clone() {
        let [height, width] = lengths.map(|length| low_length(length, level));
        for is_along_x in [false, true] {
            if level < line_levels(lengths[usize::from(is_along_x)]) {
                steps.push(PlaneStep {
                    is_along_x,
                    height,
                    width,
                });
            }
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
            .map(|i| T::from_f64((i as f64 * 0.37).cos() + (i % 17) as f64))
            .collect();
        for order in LevelOrder::ALL {
            let coefficients = coefficients(&boxes, order, &field).unwrap();
            let of_reference = wavelet::coefficients(&extents, order, &field);
            let bits = |values: &[T]| values.iter().map(|x| x.to_bits64()).collect::<Vec<_>>();
            assert!(bits(&coefficients) == bits(&of_reference), "{lengths:?}");
            let back = super::field(&boxes, order, &coefficients).unwrap();
            for (x, y) in field.iter().zip(&back) {
                assert!((x.to_f64() - y.to_f64()).abs() < most, "{lengths:?}");
            }
            let power = |values: &[T]| values.iter().map(|x| x.to_f64().powi(2)).sum::<f64>();
            let gain = power(&coefficients) / power(&field);
            // The wavelet is nearly orthogonal, but at the ends of lines.
            assert!(gain > 0.7 && gain < 1.4, "{lengths:?}: {gain}");
        }
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
            check::<f32>(lengths, 2e-4);
        }
    }
}
