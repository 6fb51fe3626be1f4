//! Stencils at the positions of a tile.

use crate::predict::interp::positions::{InStore, Neighbourhood, Positions};
use crate::predict::interp::values::Values;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::spline::Order;
use ferrosz_codec::predict::stencil::coefficients::first;
use ferrosz_codec::predict::stencil::terms::{Stencil, Taps, count, is_inside};
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_simt::Thread;

impl<E: Element> Positions<'_, E> {
    /// Coefficient `i` of positions of the level that are odd along the axes of `odd`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn coefficient<T: Thread>(&self, t: T, shape: Shape, odd: u32, i: usize) -> E {
        let first = first(shape, self.level, odd);
        let bits = t.load(self.setup.coefficients, (first + i) as u64);
        E::from_f64(f64::from(f32::from_bits(bits)))
    }
}

impl<T: Thread, E: Element, S: StaticShape> InStore<'_, T, E, S> {
    /// Whether there are neighbours ahead along all axes of `odd`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn has_next(&self, odd: u32) -> bool {
        let unit = 1 << self.positions.level;
        let left = self.positions.setup.tile.left;
        let has_next =
            |axis: usize| (odd >> axis & 1 == 0) | (self.position[axis] + unit < left[axis]);
        has_next(0) & has_next(1) & has_next(2)
    }

    /// The stencil of the position, which is odd along the axes of `odd` and has neighbours ahead.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn stencil(&self, odd: u32) -> Stencil<E> {
        Stencil::at(S::SHAPE, odd, self)
    }

    /// The prediction by the stencil.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn by_stencil(&self, odd: u32) -> E {
        let coefficient = |i| self.positions.coefficient(self.t, S::SHAPE, odd, i);
        self.stencil(odd).predict(count(S::SHAPE, odd), coefficient)
    }

    /// The value at a distance in bytes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn at(&self, offset: i32) -> E {
        Values::<E, S>::load_at(self.t, self.address.offset(offset))
    }
}

/// The signs of the steps to four positions.
const SIGNS: [(i32, i32); 4] = [(-1, -1), (-1, 1), (1, -1), (1, 1)];

/// The distances in bytes of the positions of [`Taps::nearest`].
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn nearest(reach: &[Neighbourhood; 3], axis: usize) -> [i32; 2] {
    [-1, 1].map(|step| reach[axis].beside_odd(step))
}

/// Those of [`Taps::beside`]. Positions that there are not are replaced by others.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn beside(
    reach: &[Neighbourhood; 3],
    axis: usize,
    across: usize,
    units: u32,
    is_inside: bool,
) -> [i32; 4] {
    let pairs = i32::from(units == 2 && is_inside);
    SIGNS.map(|(along, beside)| {
        let across = match units {
            1 => reach[across].beside_odd(beside),
            _ => reach[across].by_pairs(beside * pairs),
        };
        reach[axis].beside_odd(along) + across
    })
}

/// Those of [`Taps::corners`].
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn corners(reach: &[Neighbourhood; 3]) -> [[i32; 4]; 2] {
    [-1, 1].map(|z| {
        let z = reach[0].beside_odd(z);
        SIGNS.map(|(y, x)| z + reach[1].beside_odd(y) + reach[2].beside_odd(x))
    })
}

impl<T: Thread, E: Element, S: StaticShape> Taps<E> for InStore<'_, T, E, S> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn along(&self, axis: usize) -> (Order, [E; 4]) {
        self.neighbours(axis)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn nearest(&self, axis: usize) -> [E; 2] {
        nearest(&self.positions.reach, axis).map(|offset| self.at(offset))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_inside(&self, axis: usize) -> bool {
        let setup = self.positions.setup;
        let unit = 1 << self.positions.level;
        is_inside(
            self.position[axis],
            unit,
            setup.window[axis],
            setup.tile.left[axis],
        )
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn beside(&self, axis: usize, across: usize, units: u32) -> [E; 4] {
        let is_inside = units == 2 && self.is_inside(across);
        beside(&self.positions.reach, axis, across, units, is_inside).map(|offset| self.at(offset))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn corners(&self) -> [[E; 4]; 2] {
        corners(&self.positions.reach).map(|four| four.map(|offset| self.at(offset)))
    }
}
