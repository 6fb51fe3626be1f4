//! The order of the positions of a tile: levels, stages, and the positions of each.

use crate::element::Element;
use crate::predict::interp::parameters::Parameters;
use crate::predict::interp::predict::Site;
use crate::predict::interp::stage::Stage;
use crate::predict::interp::store;
use crate::predict::interp::tune::sample::Scope;
use crate::shape::Shape;
use crate::tile::{self, TileBox};

/// The positions of a level that are odd along the same axes: every second multiple of the unit along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OddAxes {
    /// Bit i is set if the positions are odd along axis i.
    pub odd: u32,
    /// Bit i is set if they are predicted along axis i.
    pub axes: u32,
}

impl OddAxes {
    /// The positions of a stage that are odd along these axes; none if the stage has no such positions.
    #[inline(always)]
    pub const fn of(stage: Stage, shape: Shape, odd: u32) -> Option<Self> {
        let beyond = (1 << (3 - shape.rank())) - 1;
        if odd & beyond == 0 && stage.has(odd) {
            Some(Self {
                odd,
                // Redundant, but tells the compiler that there are no other axes.
                axes: stage.axes(odd) & !beyond,
            })
        } else {
            None
        }
    }

    /// The first position along an axis. The following ones are two units apart.
    #[inline(always)]
    pub const fn first(&self, axis: usize, unit: u32) -> u32 {
        if self.odd >> axis & 1 == 1 { unit } else { 0 }
    }

    /// The number of positions along an axis of a tile of this shape, without its far face.
    #[inline(always)]
    pub const fn count(shape: Shape, axis: usize, level: u32) -> u32 {
        let extent = tile::extents(shape)[axis];
        if extent == 1 {
            1
        } else {
            extent >> (level + 1)
        }
    }

    /// Whether positions lie on the far face along an axis.
    #[inline(always)]
    pub const fn has_far(&self, shape: Shape, axis: usize) -> bool {
        self.odd >> axis & 1 == 0 && tile::extents(shape)[axis] > 1
    }
}

/// Handles each position after its prediction.
pub trait Visitor<T> {
    /// The positions to visit.
    #[inline(always)]
    fn scope(&self) -> Scope {
        Scope::Whole
    }

    /// Returns the value that later predictions use for the position; `slot` is its value in the store.
    fn visit(&mut self, level: u32, position: [u32; 3], slot: T, prediction: T) -> T;
}

/// Predicts and visits all positions of a tile and its far faces, except the anchors. `values`, in the layout of
/// [`store`], must hold the anchors.
#[inline(always)]
pub fn walk<T: Element>(
    shape: Shape,
    tile: &TileBox,
    parameters: &Parameters,
    values: &mut [T],
    visit: &mut impl Visitor<T>,
) {
    let rank = usize::from(shape.rank());
    let window = parameters.geometry.window(shape);
    for level in (0..parameters.geometry.levels(shape)).rev() {
        let flags = parameters.levels[level as usize];
        let site = Site {
            position: [0; 3],
            left: tile.left,
            window,
            unit: 1 << level,
            spline: flags.spline,
        };
        for number in 0..rank {
            let stage = Stage::of(number, rank, flags.is_multi, flags.is_reverse);
            for odd in 1..8 {
                if let Some(class) = OddAxes::of(stage, shape, odd) {
                    walk_class(shape, class, site, level, values, visit);
                }
            }
        }
    }
}

#[inline(always)]
fn walk_class<T: Element>(
    shape: Shape,
    class: OddAxes,
    mut site: Site,
    level: u32,
    values: &mut [T],
    visit: &mut impl Visitor<T>,
) {
    let unit = site.unit;
    let ends: [u32; 3] = core::array::from_fn(|axis| {
        let far = u32::from(class.has_far(shape, axis));
        let end =
            class.first(axis, unit) + 2 * unit * (OddAxes::count(shape, axis, level) - 1 + far);
        (end + 1).min(site.left[axis])
    });
    let ends = visit.scope().ends(shape, level, ends);
    let step = 2 * unit as usize;
    for z in (class.first(0, unit)..ends[0]).step_by(step) {
        for y in (class.first(1, unit)..ends[1]).step_by(step) {
            for x in (class.first(2, unit)..ends[2]).step_by(step) {
                site.position = [z, y, x];
                let at = store::index(shape, site.position) as usize;
                let prediction = predict(shape, &site, class.axes, at, values);
                values[at] = visit.visit(level, site.position, values[at], prediction);
            }
        }
    }
}

#[inline(always)]
fn predict<T: Element>(shape: Shape, site: &Site, axes: u32, at: usize, values: &[T]) -> T {
    let unit = site.unit as i32;
    // A tile has few positions, so these numbers are small. Positions behind the ends are never requested.
    let known = |axis: usize, steps: i32| {
        let moved = if axis == 2 {
            let x = site.position[2].wrapping_add_signed(steps * unit);
            let [z, y, _] = site.position;
            store::index(shape, [z, y, x]) as usize
        } else {
            at.wrapping_add_signed((steps * unit * store::stride(shape, axis) as i32) as isize)
        };
        values.get(moved).copied().unwrap_or_default()
    };
    let corner = |a: usize, b: usize| {
        let mut position = site.position;
        position[a] -= site.unit;
        position[b] -= site.unit;
        let at = store::index(shape, position) as usize;
        values.get(at).copied().unwrap_or_default()
    };
    site.predict(axes, known, corner)
}
