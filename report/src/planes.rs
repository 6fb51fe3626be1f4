//! Planes of an array, to be drawn.

use crate::pair::Pair;
use ferrosz::Value;

/// The most points of a picture along a side.
const MOST_POINTS: usize = 256;

/// The fewest values along each side of a plane that is worth a picture, if there are others.
pub const SHORTEST: usize = 8;

/// The fewest and the most rows of a picture for a column.
const ASPECTS: [f64; 2] = [0.4, 1.6];

/// A grid of points, rows from top to bottom; NaN where a value is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Points of a row.
    pub columns: usize,
    /// The points.
    pub points: Vec<f64>,
}

impl Grid {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.points.len() / self.columns.max(1)
    }

    /// Its height over its width, as it is drawn: longer ones are squeezed.
    pub fn aspect(&self) -> f64 {
        (self.rows() as f64 / self.columns.max(1) as f64).clamp(ASPECTS[0], ASPECTS[1])
    }
}

/// A plane: all values along two axes, at one place along the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plane {
    /// The axis from top to bottom, and the one from left to right.
    pub axes: [usize; 2],
    /// The place along the others; 0 along these two.
    pub at: Vec<usize>,
    /// Whether the largest error is in it.
    pub has_worst: bool,
}

impl Plane {
    /// Planes that show the most of an array: of its three longest axes each two, most of the two fastest of these. One goes
    /// through the largest error. The others are those of every stream: in the middle, but for the axis that they are across.
    /// None of a line.
    pub fn choose<V: Value>(pair: &Pair<'_, V>, worst: Option<usize>) -> Vec<Self> {
        let lengths = pair.extents.iter();
        let middle: Vec<usize> = lengths.map(|length| length.saturating_sub(1) / 2).collect();
        let place = worst.map_or_else(|| middle.clone(), |at| pair.index(at));
        let mut longest = pair.long_axes();
        longest.sort_by_key(|axis| std::cmp::Reverse(pair.extents[*axis]));
        longest.truncate(3);
        longest.sort_unstable();
        let (few, many): (&[usize], &[usize]) = (&[1], &[0, 1, 2]);
        // The axis across, the two of the plane, and the places across in quarters.
        let sides: Vec<(Option<usize>, [usize; 2], &[usize])> = match longest[..] {
            [z, y, x] => vec![
                (Some(z), [y, x], many),
                (Some(y), [z, x], few),
                (Some(x), [z, y], few),
            ],
            [y, x] => vec![(None, [y, x], few)],
            _ => Vec::new(),
        };
        let is_seen = |axes: &[usize; 2]| axes.iter().all(|axis| pair.extents[*axis] >= SHORTEST);
        let has_seen = sides.iter().any(|(_, axes, _)| is_seen(axes));
        let mut planes: Vec<Self> = Vec::new();
        for (across, axes, quarters) in sides {
            if has_seen && !is_seen(&axes) {
                continue;
            }
            let mut places = vec![(place.clone(), worst.is_some())];
            for quarter in quarters {
                let mut at = middle.clone();
                if let Some(across) = across {
                    at[across] = (pair.extents[across] - 1) * (quarter + 1) / 4;
                }
                places.push((at, false));
            }
            for (mut at, has_worst) in places {
                for axis in axes {
                    at[axis] = 0;
                }
                if !planes
                    .iter()
                    .any(|plane| plane.axes == axes && plane.at == at)
                {
                    planes.push(Self {
                        axes,
                        at,
                        has_worst,
                    });
                }
            }
        }
        planes
    }

    /// The plane as NumPy writes it: `[5, :, :]`.
    pub fn describe(&self) -> String {
        let axes = self
            .at
            .iter()
            .enumerate()
            .map(|(axis, at)| match self.axes.contains(&axis) {
                true => ":".to_owned(),
                false => at.to_string(),
            });
        format!("[{}]", axes.collect::<Vec<_>>().join(", "))
    }

    /// Values that a point of the picture stands for, along each side.
    pub fn steps<V: Value>(&self, pair: &Pair<'_, V>) -> [usize; 2] {
        self.axes
            .map(|axis| pair.extents[axis].div_ceil(MOST_POINTS))
    }

    /// Original, reconstruction and error. A point stands for several values of a large plane: it has the first of them, and
    /// their largest error.
    pub fn grids<V: Value>(&self, pair: &Pair<'_, V>) -> [Grid; 3] {
        let (strides, steps) = (pair.strides(), self.steps(pair));
        let [rows, columns] = self.axes.map(|axis| pair.extents[axis]);
        let [down, right] = self.axes.map(|axis| strides[axis]);
        let places = self.at.iter().zip(&strides);
        let origin: usize = places.map(|(at, stride)| at * stride).sum();
        let mut grids = [const { Vec::new() }; 3];
        for row in (0..rows).step_by(steps[0]) {
            for column in (0..columns).step_by(steps[1]) {
                let box_rows = row..(row + steps[0]).min(rows);
                let box_columns = column..(column + steps[1]).min(columns);
                let at = |row: usize, column: usize| origin + row * down + column * right;
                let first = at(row, column);
                let x = pair.original(first).unwrap_or(f64::NAN);
                let y = pair.both(first).map_or(f64::NAN, |(_, y)| y);
                let mut error = y - x;
                let errors =
                    box_rows.flat_map(|row| box_columns.clone().map(move |column| at(row, column)));
                for (x, y) in errors.filter_map(|at| pair.both(at)) {
                    if error.is_nan() || (y - x).abs() > error.abs() {
                        error = y - x;
                    }
                }
                for (grid, point) in grids.iter_mut().zip([x, y, error]) {
                    grid.push(point);
                }
            }
        }
        let columns = columns.div_ceil(steps[1]);
        grids.map(|points| Grid { columns, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_those_of_numpy() {
        let extents = [3u64, 9, 10, 11];
        let x: Vec<f64> = (0..2970).map(f64::from).collect();
        let y: Vec<f64> = x
            .iter()
            .map(|x| x + if *x == 777.0 { 1.0 } else { 0.25 })
            .collect();
        let pair = Pair::new(&x, &y, &extents, &[100.0]);
        let planes = Plane::choose(&pair, Some(777));
        // numpy.unravel_index(777, (3, 9, 10, 11)) is (0, 7, 0, 7).
        let names: Vec<String> = planes.iter().map(Plane::describe).collect();
        assert_eq!(
            names,
            [
                "[0, 7, :, :]",
                "[1, 2, :, :]",
                "[1, 4, :, :]",
                "[1, 6, :, :]",
                "[0, :, 0, :]",
                "[1, :, 4, :]",
                "[0, :, :, 7]",
                "[1, :, :, 5]"
            ]
        );
        // The others are those of a stream whose largest error is elsewhere.
        let elsewhere = Plane::choose(&pair, Some(5));
        let others = |planes: &[Plane]| -> Vec<Plane> {
            let others = planes.iter().filter(|plane| !plane.has_worst);
            others.cloned().collect()
        };
        assert_eq!(others(&elsewhere), others(&planes));
        let [original, decoded, error] = planes[4].grids(&pair);
        assert_eq!((original.rows(), original.columns), (9, 11));
        for (at, point) in original.points.iter().enumerate() {
            let expected = (at / 11 * 110 + at % 11) as f64;
            assert!(*point == expected || (expected == 100.0 && point.is_nan()));
        }
        assert_eq!(decoded.points[11], 110.25);
        assert_eq!(error.points[7 * 11 + 7], 1.0);
        assert!(planes[0].has_worst && planes[4].has_worst && !planes[1].has_worst);
    }

    #[test]
    fn a_point_of_a_large_plane_has_the_largest_error() {
        let x = vec![0.0f32; 600 * 300];
        let mut y = x.clone();
        y[500 * 300 + 201] = -3.0;
        let pair = Pair::new(&x, &y, &[600, 300], &[]);
        let planes = Plane::choose(&pair, Some(150_201));
        assert_eq!(planes.len(), 1);
        let [original, _, error] = planes[0].grids(&pair);
        assert_eq!((original.rows(), original.columns), (200, 150));
        assert_eq!(error.points.iter().sum::<f64>(), -3.0);
        assert_eq!(error.points[166 * 150 + 100], -3.0);
    }

    #[test]
    fn lines_have_no_planes() {
        let x = [1.0f32; 24];
        for (extents, planes) in [
            (&[24u64][..], 0),
            (&[1, 24, 1], 0),
            (&[2, 12], 1),
            (&[2, 3, 4], 3),
        ] {
            let pair = Pair::new(&x, &x, extents, &[]);
            assert_eq!(Plane::choose(&pair, None).len(), planes, "{extents:?}");
        }
        assert!(Plane::choose(&Pair::<f32>::new(&[], &[], &[0, 5], &[]), None).is_empty());
    }
}
