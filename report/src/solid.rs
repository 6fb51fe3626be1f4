//! Pictures of what is above an isovalue in a volume, as a solid body in a box, without perspective.

use crate::canvas::Rgb;
use crate::image::coloured_url;
use crate::planes::Grid;
use crate::volume::Volume;
use rayon::prelude::*;

/// A place or a direction: along the slowest axis, which goes up, the middle one, which goes away from the eye, and the fastest
/// one, which goes to the right.
pub type Vector = [f64; 3];

/// Unit vectors of the picture: to the right, up, and away from an eye that is in front, at the right and above.
const RIGHT: Vector = [0.0, 0.6, 0.8];
const UP: Vector = [12.0 / 13.0, 4.0 / 13.0, -3.0 / 13.0];
const AWAY: Vector = [-5.0 / 13.0, 9.6 / 13.0, -7.2 / 13.0];

/// The unit vector to the light, along these: it comes from the eye, the left and above.
const LIGHT: Vector = [-2.0 / 7.0, 3.0 / 7.0, -6.0 / 7.0];

/// The brightness of a surface that is turned away from the light.
const AMBIENT: f64 = 0.25;

/// Black and white of the surface, and of the faces in which the box cuts the body: blue and orange.
const COLOURS: [[Rgb; 2]; 2] = [
    [[0, 24, 48], [120, 206, 255]],
    [[60, 30, 0], [255, 196, 92]],
];

/// Pixels of a row.
const COLUMNS: usize = 320;

/// The shortest side of a box, relative to the longest.
const SHORTEST_SIDE: f64 = 0.35;

/// Samples along a ray for each value that it passes.
const SAMPLES: f64 = 2.0;

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A box around the origin as it is seen.
#[derive(Debug, Clone)]
pub struct View {
    /// The lengths of its sides; the longest is 1.
    sides: Vector,
    /// Half of the width and the height of the picture.
    half: [f64; 2],
}

impl View {
    /// Of a box with sides in these proportions.
    pub fn new(lengths: [usize; 3]) -> Self {
        let longest = lengths.into_iter().max().unwrap_or(1) as f64;
        let sides = lengths.map(|length| (length as f64 / longest).max(SHORTEST_SIDE));
        let half = [RIGHT, UP].map(|way| dot(way.map(f64::abs), sides) / 2.0);
        Self { sides, half }
    }

    /// Pixels of a length.
    fn scale(&self) -> f64 {
        COLUMNS as f64 / (2.0 * self.half[0])
    }

    /// Pixels of a row, and rows.
    pub fn size(&self) -> [usize; 2] {
        let rows = 2.0 * self.half[1] * self.scale();
        [COLUMNS, rows.ceil() as usize]
    }

    /// Where a place of the box is in the picture, in pixels from its upper left corner. Sides are from 0 to 1.
    pub fn project(&self, place: Vector) -> [f64; 2] {
        let place = [0, 1, 2].map(|axis| (place[axis] - 0.5) * self.sides[axis]);
        let [x, y] = [dot(RIGHT, place), -dot(UP, place)];
        [x + self.half[0], y + self.half[1]].map(|length| length * self.scale())
    }

    /// The picture of what is above an isovalue as an address that contains it.
    pub fn data_url(&self, volume: &Volume, isovalue: f64) -> String {
        let body = self.draw(volume, isovalue);
        coloured_url(&body, |brightness| brightness / 2.0, colour)
    }

    /// How bright each pixel is: from 0 to 1, in the faces of the box from 1 to 2; NaN where nothing is.
    fn draw(&self, volume: &Volume, isovalue: f64) -> Grid {
        let [columns, rows] = self.size();
        let point = |at: usize| {
            let [x, y] = [at % columns, at / columns].map(|n| (n as f64 + 0.5) / self.scale());
            let ray = [x - self.half[0], self.half[1] - y];
            let brightness = self.brightness(ray, volume, isovalue);
            brightness.unwrap_or(f64::NAN)
        };
        Grid {
            columns,
            points: (0..columns * rows).into_par_iter().map(point).collect(),
        }
    }

    /// How bright the first place above the isovalue is on a ray, which is so far to the right of the origin and above it.
    fn brightness(&self, [x, y]: [f64; 2], volume: &Volume, isovalue: f64) -> Option<f64> {
        let last = volume.lengths.map(|length| (length - 1) as f64);
        // Places are counted in values along each axis.
        let in_values =
            |way: Vector| [0, 1, 2].map(|axis| way[axis] / self.sides[axis] * last[axis]);
        let start = in_values([0, 1, 2].map(|axis| RIGHT[axis] * x + UP[axis] * y));
        let way = in_values(AWAY);
        let ends = [0, 1, 2].map(|axis| {
            let half = last[axis] / 2.0;
            [-half, half].map(|side| (side - start[axis]) / way[axis])
        });
        let enters = ends.map(|[one, other]| one.min(other));
        let enters_at = enters.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let leaves = ends.map(|[one, other]| one.max(other)).into_iter();
        let length = leaves.fold(f64::INFINITY, f64::min) - enters_at;
        let place = |distance: f64| {
            let along = |axis: usize| start[axis] + distance * way[axis] + last[axis] / 2.0;
            // Never outside by rounding.
            [0, 1, 2].map(|axis| along(axis).clamp(0.0, last[axis]))
        };
        let count = (length * way.map(f64::abs).into_iter().fold(0.0, f64::max) * SAMPLES).ceil();
        let distances = (0..=count as usize).map(|n| enters_at + length * n as f64 / count);
        let mut before: Option<(f64, f64)> = None;
        for distance in distances.take_while(|_| length > 0.0) {
            let value = volume.at(place(distance));
            if let Some(value) = value.filter(|value| *value > isovalue) {
                if distance == enters_at {
                    return Some(
                        1.0 + light(enters.map(|at| f64::from(u8::from(at == enters_at)))),
                    );
                }
                let hit = before.map_or(distance, |(nearer, below)| {
                    nearer + (distance - nearer) * (isovalue - below) / (value - below)
                });
                let slopes = volume.slopes(place(hit));
                return Some(light(
                    [0, 1, 2].map(|axis| slopes[axis] * last[axis] / self.sides[axis]),
                ));
            }
            before = value.map(|value| (distance, value));
        }
        None
    }
}

/// How bright a surface is that lies across this, on the side that is seen.
fn light(across: Vector) -> f64 {
    let largest = across.map(f64::abs).into_iter().fold(0.0, f64::max);
    // Squares of very small or large slopes are no numbers.
    let across = across.map(|slope| slope / largest);
    let seen = [RIGHT, UP, AWAY].map(|way| dot(way, across));
    let towards_light = -seen[2].signum() * dot(seen, LIGHT) / dot(seen, seen).sqrt();
    // Without slopes nothing is known of the surface.
    AMBIENT + (1.0 - AMBIENT) * towards_light.max(0.0)
}

/// The colour of a brightness that is half of this.
fn colour(position: f64) -> Rgb {
    let is_face = position > 0.5;
    let [black, white] = COLOURS[usize::from(is_face)];
    let share = 2.0 * position - f64::from(u8::from(is_face));
    let mix = |i: usize| f64::from(black[i]) * (1.0 - share) + f64::from(white[i]) * share;
    [0, 1, 2].map(|i| mix(i).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The side of a pixel of a cube's picture: its diagonal, seen from the side, is 0.6 + 0.8 sides.
    const PIXEL: f64 = 1.4 / COLUMNS as f64;

    /// A cube in which each place, of sides from 0 to 1, has a value.
    fn cube(lengths: [usize; 3], value: impl Fn(Vector) -> f64) -> Volume {
        let [depth, height, width] = lengths;
        let place = |at: usize| {
            let index = [at / width / height, at / width % height, at % width];
            [0, 1, 2].map(|axis| index[axis] as f64 / (lengths[axis] - 1) as f64)
        };
        Volume {
            lengths,
            values: (0..depth * height * width)
                .map(|at| value(place(at)))
                .collect(),
        }
    }

    /// Minus the distance from a place.
    fn ball(middle: Vector) -> impl Fn(Vector) -> f64 {
        move |place| {
            let from = [0, 1, 2].map(|axis| place[axis] - middle[axis]);
            -dot(from, from).sqrt()
        }
    }

    #[test]
    fn a_sphere_has_its_outline_and_its_light() {
        let (view, radius) = (View::new([80; 3]), 0.3);
        let volume = cube([33, 49, 81], ball([0.5; 3]));
        let picture = view.draw(&volume, -radius);
        let middle = [picture.columns, picture.rows()].map(|pixels| pixels as f64 / 2.0);
        let mut seen = 0.0;
        for (at, found) in picture.points.iter().enumerate() {
            let x = ((at % picture.columns) as f64 + 0.5 - middle[0]) * PIXEL;
            let y = (middle[1] - (at / picture.columns) as f64 - 0.5) * PIXEL;
            let depth = radius * radius - x * x - y * y;
            seen += f64::from(u8::from(found.is_finite()));
            if depth < -0.01 {
                assert!(found.is_nan(), "{x} {y}");
            } else if depth > 0.01 {
                let normal = [x, y, -depth.sqrt()].map(|part| part / radius);
                let expected = 0.25 + 0.75 * dot(normal, LIGHT).max(0.0);
                assert!(
                    (found - expected).abs() < 0.03,
                    "{x} {y}: {found} {expected}"
                );
            }
        }
        let expected = std::f64::consts::PI * radius * radius / PIXEL / PIXEL;
        assert!((seen / expected - 1.0).abs() < 0.01, "{seen} {expected}");
    }

    #[test]
    fn bodies_are_where_the_names_of_the_axes_say() {
        let view = View::new([80; 3]);
        for (middle, is_seen) in [
            ([0.1, 0.1, 0.1], [true, false]),
            ([0.9, 0.1, 0.1], [true, true]),
            ([0.1, 0.9, 0.9], [false, false]),
            ([0.1, 0.1, 0.9], [false, false]),
        ] {
            let picture = view.draw(&cube([41; 3], ball(middle)), -0.09);
            let (mut sum, mut count) = ([0.0; 2], 0.0);
            for at in (0..picture.points.len()).filter(|at| picture.points[*at].is_finite()) {
                sum[0] += (at % picture.columns) as f64 + 0.5;
                sum[1] += (at / picture.columns) as f64 + 0.5;
                count += 1.0;
            }
            let [x, y] = sum.map(|sum| sum / count);
            let expected = view.project(middle);
            assert!((x - expected[0]).abs() < 1.0 && (y - expected[1]).abs() < 1.0);
            // At the left, in the upper half.
            let half = [picture.columns, picture.rows()].map(|pixels| pixels as f64 / 2.0);
            assert_eq!([x < half[0], y < half[1]], is_seen, "{middle:?}");
        }
    }

    #[test]
    fn faces_are_cut_and_missing_values_are_not_there() {
        let view = View::new([80; 3]);
        let at = |picture: &Grid, place: Vector| {
            let [x, y] = view.project(place).map(|pixels| pixels as usize);
            picture.points[y * picture.columns + x]
        };
        let (top, front, right) = ([1.0, 0.5, 0.75], [0.5, 0.0, 0.75], [0.5, 0.5, 1.0]);
        let picture = view.draw(&cube([20; 3], |place| place[2]), 0.5);
        for (place, axis) in [(top, 0), (front, 1), (right, 2)] {
            let mut normal = [0.0; 3];
            normal[axis] = 1.0;
            assert_eq!(at(&picture, place), 1.0 + light(normal));
        }
        // The light is above; what is at the left is below the isovalue, and the surface faces away.
        assert!(light([1.0, 0.0, 0.0]) > light([0.0, 1.0, 0.0]));
        assert!(at(&picture, [1.0, 0.5, 0.2]).is_nan());
        // Without the upper half, the face of the lower one is seen: a surface, as the box does not cut it.
        let half = |place: Vector| if place[0] > 0.5 { f64::NAN } else { place[2] };
        let picture = view.draw(&cube([20; 3], half), 0.5);
        assert!(at(&picture, [1.0, 0.9, 0.75]).is_nan());
        assert_eq!(
            at(&picture, [0.25, 0.0, 0.75]),
            1.0 + light([0.0, 1.0, 0.0])
        );
        let inside = at(&picture, [0.45, 0.5, 0.75]);
        assert!((AMBIENT..=1.0).contains(&inside));
    }

    #[test]
    fn sides_and_faces_have_their_colours() {
        let [[blue, light_blue], [orange, light_orange]] = COLOURS;
        let found = [0.0, 0.5, 0.5 + 1e-9, 1.0].map(colour);
        assert_eq!(found, [blue, light_blue, orange, light_orange]);
        // A low box is not flat.
        let rows = View::new([2, 1000, 1000]).size()[1];
        let expected = (0.35 * 12.0 + 4.0 + 3.0) / 13.0 / PIXEL;
        assert_eq!(rows, expected.ceil() as usize);
    }
}
