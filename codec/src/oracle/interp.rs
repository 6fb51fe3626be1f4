//! The oracle of interpolation: a whole field, stage by stage, in plain loops (FORMAT.md, section 16), without tiles.

use crate::element::Element;
use crate::oracle::order::{Field, first_axis, tile_extents};
use crate::oracle::slices;
pub use crate::oracle::slices::Slices;
pub use crate::oracle::stencil::Stencils;
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::parameters::{LevelFlags, Parameters};
use crate::predict::interp::resolved::Resolved;
use crate::predict::interp::spline::Spline;
use crate::quantize::field::is_within;
use crate::quantize::level::LevelQuantizer;
use crate::shape::Shape;
use crate::tile::TileGrid;
use alloc::vec;
use alloc::vec::Vec;

/// The code of every position in C order; none where the raw value is stored.
pub(crate) type Codes = Vec<Option<i32>>;

/// How the positions of a field are predicted.
#[derive(Debug, Clone, Copy)]
pub enum Method<'a> {
    /// By splines.
    Splines,
    /// By stencils on fitted levels, by splines on others.
    Stencils(&'a Stencils),
    /// By stencils in slices.
    Slices(&'a Slices),
    /// By splines, times a factor.
    #[cfg(feature = "toy")]
    ToyFitted(f32),
}

impl Method<'_> {
    /// Whether slices are predicted one by one.
    pub(super) fn has_slices(self) -> bool {
        matches!(self, Self::Slices(_))
    }
}

/// The codes and decoded values of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposed<T> {
    /// The code of every position in C order; none where the raw value is stored; 0 at anchors.
    pub codes: Vec<Option<i32>>,
    /// The decoded value of every position, in C order.
    pub known: Vec<T>,
}

fn field(grid: &TileGrid) -> Field {
    Field {
        shape: grid.shape(),
        slices: grid.slices(),
        lengths: grid.slice_lengths(),
    }
}

/// The anchors of a field, in C order.
pub fn anchors<T: Copy>(grid: &TileGrid, spacing: u32, values: &[T]) -> Vec<T> {
    field(grid).anchors(spacing.into(), values)
}

/// Predicts and quantises a field with these anchors.
pub fn decompose<T: Element>(
    grid: &TileGrid,
    resolved: &Resolved<T>,
    radius: u32,
    values: &[T],
    anchors: &[T],
) -> Decomposed<T> {
    decompose_by(grid, resolved, Method::Splines, radius, values, anchors)
}

/// As [`decompose`], by any method.
pub fn decompose_by<T: Element>(
    grid: &TileGrid,
    resolved: &Resolved<T>,
    method: Method<'_>,
    radius: u32,
    values: &[T],
    anchors: &[T],
) -> Decomposed<T> {
    let mut codes = vec![Some(0); values.len()];
    let known = visit(
        &field(grid),
        &resolved.parameters,
        method,
        anchors,
        |level, at, prediction| {
            let quantizer = &resolved.quantizers[level];
            let (code, known) =
                quantized(quantizer, resolved.error, radius, values[at], prediction);
            codes[at] = code;
            known
        },
    );
    Decomposed { codes, known }
}

/// Decodes a field from its codes, which are less than `radius` in magnitude. The values of positions without a code
/// are in `raw`; these values are quantised and decoded as by the encoder.
pub fn compose<T: Element>(
    grid: &TileGrid,
    resolved: &Resolved<T>,
    radius: u32,
    codes: &[Option<i32>],
    raw: &[T],
    anchors: &[T],
) -> Vec<T> {
    compose_by(grid, resolved, Method::Splines, radius, codes, raw, anchors)
}

/// As [`compose`], by any method.
pub fn compose_by<T: Element>(
    grid: &TileGrid,
    resolved: &Resolved<T>,
    method: Method<'_>,
    radius: u32,
    codes: &[Option<i32>],
    raw: &[T],
    anchors: &[T],
) -> Vec<T> {
    visit(
        &field(grid),
        &resolved.parameters,
        method,
        anchors,
        |level, at, prediction| {
            let quantizer = &resolved.quantizers[level];
            match codes[at] {
                Some(code) => finite_or_zero(prediction) + T::from_i32(code) * quantizer.step,
                None => quantized(quantizer, resolved.error, radius, raw[at], prediction).1,
            }
        },
    )
}

fn finite_or_zero<T: Element>(prediction: T) -> T {
    if prediction.is_finite() {
        prediction
    } else {
        T::ZERO
    }
}

/// The code of a value, if it has one, and its decoded value.
pub(crate) fn quantized<T: Element>(
    quantizer: &LevelQuantizer<T>,
    error: T,
    radius: u32,
    value: T,
    prediction: T,
) -> (Option<i32>, T) {
    let prediction = finite_or_zero(prediction);
    let residual = value - prediction;
    let offset = T::ONE - (quantizer.dead + quantizer.dead);
    let scaled = (residual.abs() * quantizer.inverse + offset) * T::HALF;
    // The comparison is false for NaN.
    let is_small = scaled < T::from_i32(radius.cast_signed());
    if !is_small {
        return (None, value);
    }
    let magnitude = scaled.truncate();
    let code = if residual < T::ZERO {
        -magnitude
    } else {
        magnitude
    };
    let known = prediction + T::from_i32(code) * quantizer.step;
    if is_within(value, known, error) {
        (Some(code), known)
    } else {
        (None, value)
    }
}

/// The distance between anchors.
pub(crate) fn spacing(geometry: Geometry, shape: Shape) -> u64 {
    match (shape, geometry) {
        (Shape::Line, _) => 512,
        (Shape::Cube, Geometry::Narrow) => 8,
        #[cfg(feature = "toy")]
        (Shape::Cube, Geometry::ToyGeometry) => 8,
        (Shape::Plane, _) | (Shape::Cube, Geometry::Square | Geometry::Wide) => 16,
    }
}

pub(super) fn window(geometry: Geometry, shape: Shape) -> [u64; 3] {
    match (geometry, shape) {
        (Geometry::Wide, _) => tile_extents(shape),
        (_, Shape::Line) => [1, 1, 512],
        (_, Shape::Plane) => [1, 16, 16],
        (Geometry::Narrow, Shape::Cube) => [8, 8, 32],
        (Geometry::Square, Shape::Cube) => [16, 16, 16],
        #[cfg(feature = "toy")]
        (Geometry::ToyGeometry, Shape::Cube) => [8, 16, 16],
    }
}

/// Visits all positions that are not anchors, each after the positions that it is predicted from. `decide` gets the
/// level, number and prediction of a position, and returns its decoded value.
pub(crate) fn visit<T: Element>(
    field: &Field,
    parameters: &Parameters,
    method: Method<'_>,
    anchors: &[T],
    mut decide: impl FnMut(usize, usize, T) -> T,
) -> Vec<T> {
    let spacing = spacing(parameters.geometry, field.shape);
    let mut known = vec![T::ZERO; field.elements()];
    for (number, anchor) in anchors.iter().enumerate() {
        known[field.of_coarse(spacing, number)] = *anchor;
    }
    for slice in 0..field.slices as usize {
        let of_slice = slice * field.slice_elements()..(slice + 1) * field.slice_elements();
        let (before, known) = (of_slice.start, &mut known[of_slice]);
        match method {
            Method::Slices(slices) => slices::visit(field, slices, before, known, &mut decide),
            Method::Splines => visit_slice(field, parameters, None, before, known, &mut decide),
            Method::Stencils(stencils) => {
                let stencils = Some(stencils);
                visit_slice(field, parameters, stencils, before, known, &mut decide);
            }
            #[cfg(feature = "toy")]
            Method::ToyFitted(factor) => {
                let factor = T::from_f64(f64::from(factor));
                let mut decide = |level, at, prediction| decide(level, at, prediction * factor);
                visit_slice(field, parameters, None, before, known, &mut decide);
            }
        }
    }
    known
}

/// Visits the positions of a slice whose first element has number `before` in the field.
fn visit_slice<T: Element>(
    field: &Field,
    parameters: &Parameters,
    stencils: Option<&Stencils>,
    before: usize,
    known: &mut [T],
    decide: &mut impl FnMut(usize, usize, T) -> T,
) {
    let spacing = spacing(parameters.geometry, field.shape);
    let first = first_axis(field.shape);
    for level in (0..spacing.ilog2()).rev() {
        let unit = 1 << level;
        let steps: [usize; 3] = core::array::from_fn(|axis| if axis < first { 1 } else { unit });
        for stage in 0..3 - first {
            for z in (0..field.lengths[0]).step_by(steps[0]) {
                for y in (0..field.lengths[1]).step_by(steps[1]) {
                    for x in (0..field.lengths[2]).step_by(steps[2]) {
                        let site = Site {
                            field,
                            window: window(parameters.geometry, field.shape),
                            flags: parameters.levels[level as usize],
                            known,
                            at: [z, y, x],
                            unit: unit as u64,
                        };
                        if let Some(axes) = site.axes(stage) {
                            let flat = field.flat(site.at);
                            let fitted = stencils
                                .filter(|_| site.flags.is_multi && site.flags.is_reverse)
                                .and_then(|stencils| stencils.predict(&site, axes));
                            let prediction = fitted.unwrap_or_else(|| site.predict(axes));
                            known[flat] = decide(level as usize, before + flat, prediction);
                        }
                    }
                }
            }
        }
    }
}

/// A position and the decoded values of its slice.
pub(super) struct Site<'a, T> {
    pub(super) field: &'a Field,
    pub(super) window: [u64; 3],
    pub(super) flags: LevelFlags,
    pub(super) known: &'a [T],
    pub(super) at: [u64; 3],
    pub(super) unit: u64,
}

impl<T: Element> Site<'_, T> {
    /// The decoded value so many units away along each axis.
    pub(super) fn value(&self, steps: [i64; 3]) -> T {
        let moved = |axis: usize| {
            let units = steps[axis] * self.unit.cast_signed();
            self.at[axis].wrapping_add_signed(units)
        };
        self.known[self.field.flat([moved(0), moved(1), moved(2)])]
    }

    /// Whether the position so many units ahead along an axis is in the field.
    pub(super) fn is_in_field(&self, axis: usize, units: u64) -> bool {
        self.at[axis] + units * self.unit < self.field.lengths[axis]
    }

    /// Whether the position so many units away along an axis is in the window, far face included, and in the field.
    pub(super) fn is_in_window(&self, axis: usize, steps: i64) -> bool {
        let (at, window) = (self.at[axis].cast_signed(), self.window[axis].cast_signed());
        let moved = at % window + steps * self.unit.cast_signed();
        let is_known =
            at + steps * self.unit.cast_signed() < self.field.lengths[axis].cast_signed();
        (0..=window).contains(&moved) && is_known
    }

    /// The axes along which the position is predicted in a stage; none if it does not belong to the stage. Its
    /// coordinates are divisible by the unit.
    fn axes(&self, stage: usize) -> Option<[bool; 3]> {
        let first = first_axis(self.field.shape);
        let is_odd = |axis: usize| axis >= first && !self.at[axis].is_multiple_of(2 * self.unit);
        let odd = [0, 1, 2].map(is_odd);
        if self.flags.is_multi {
            let count = odd.iter().filter(|odd| **odd).count();
            return (count == stage + 1).then_some(odd);
        }
        // Odd along this axis, even along the axes of later stages.
        let (axis, mut later) = if self.flags.is_reverse {
            (2 - stage, first..2 - stage)
        } else {
            (first + stage, first + stage + 1..3)
        };
        let belongs = is_odd(axis) && !later.any(is_odd);
        belongs.then(|| core::array::from_fn(|i| i == axis))
    }

    fn predict(&self, axes: [bool; 3]) -> T {
        let mut along = (0..3).filter(|axis| axes[*axis]);
        match (along.next(), along.next(), along.next()) {
            (Some(_), Some(_), Some(_)) => self.along_all(),
            (Some(a), Some(b), None) => self.along_two(a, b),
            (Some(a), _, _) => self.along(a).1,
            (None, _, _) => T::ZERO,
        }
    }

    fn along_two(&self, a: usize, b: usize) -> T {
        let ((r, p), (s, q)) = (self.along(a), self.along(b));
        if r > s {
            p
        } else if r < s {
            q
        } else if r == 0 {
            let mut corner = self.at;
            corner[a] -= self.unit;
            corner[b] -= self.unit;
            (p + q) - self.known[self.field.flat(corner)]
        } else {
            (p + q) * T::HALF
        }
    }

    fn along_all(&self) -> T {
        let [(r, z), (s, y), (t, x)] = [0, 1, 2].map(|axis| self.along(axis));
        match (r == 3, s == 3, t == 3) {
            (true, true, true) => ((x + y) + z) / T::from_i32(3),
            (true, true, false) => (z + y) * T::HALF,
            (true, false, true) => (z + x) * T::HALF,
            (false, true, true) => (y + x) * T::HALF,
            (true, false, false) => z,
            (false, true, false) => y,
            (false, false, _) => x,
        }
    }

    /// Rank and prediction along an axis.
    fn along(&self, axis: usize) -> (u32, T) {
        let (c, n, u, window) = (
            self.at[axis],
            self.field.lengths[axis],
            self.unit,
            self.window[axis],
        );
        let known = |coordinate: u64| {
            let mut at = self.at;
            at[axis] = coordinate;
            self.known[self.field.flat(at)]
        };
        let b = known(c - u);
        if c + u >= n {
            return (0, b);
        }
        let d = known(c + u);
        let in_window = c % window;
        let has_behind = in_window >= 3 * u;
        let has_ahead = in_window + 3 * u <= window && c + 3 * u < n;
        let int = T::from_i32;
        let value = match (has_behind, has_ahead) {
            (true, true) => {
                let (near, far) = (b + d, known(c - 3 * u) + known(c + 3 * u));
                let value = match self.flags.spline {
                    Spline::Natural => (int(23) * near - int(3) * far) / int(5) / int(8),
                    Spline::NotAKnot => (int(9) * near - far) / int(16),
                };
                return (3, value);
            }
            (true, false) => ((int(6) * b + int(3) * d) - known(c - 3 * u)) / int(8),
            (false, true) => ((int(3) * b + int(6) * d) - known(c + 3 * u)) / int(8),
            (false, false) => return (1, (b + d) / int(2)),
        };
        (2, value)
    }
}
