//! Stencils at the positions of a tile.

use crate::predict::interp::positions::InStore;
use crate::predict::interp::values::Values;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::spline::Order;
use ferrosz_codec::predict::stencil::coefficients::first;
use ferrosz_codec::predict::stencil::terms::{Stencil, Taps, count, is_inside};
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::Thread;

impl<T: Thread, E: Element, S: StaticShape> InStore<'_, T, E, S> {
    /// Whether there are neighbours ahead along all axes of `odd`.
    #[inline(always)]
    pub(super) fn has_next(&self, odd: u32) -> bool {
        let unit = 1 << self.positions.level;
        let left = self.positions.setup.tile.left;
        let has_next =
            |axis: usize| (odd >> axis & 1 == 0) | (self.position[axis] + unit < left[axis]);
        has_next(0) & has_next(1) & has_next(2)
    }

    /// The stencil of the position, which is odd along the axes of `odd` and has neighbours ahead.
    #[inline(always)]
    pub(super) fn stencil(&self, odd: u32) -> Stencil<E> {
        Stencil::at(S::SHAPE, odd, self)
    }

    /// The prediction by the stencil.
    #[inline(always)]
    pub(super) fn by_stencil(&self, odd: u32) -> E {
        let first = first(S::SHAPE, self.positions.level, odd) as u64;
        let coefficients = self.positions.setup.coefficients;
        let coefficient = |i: usize| {
            let bits = self.t.load(coefficients, first + i as u64);
            E::from_f64(f64::from(f32::from_bits(bits)))
        };
        self.stencil(odd).predict(count(S::SHAPE, odd), coefficient)
    }

    /// The value at a distance in bytes.
    #[inline(always)]
    fn at(&self, offset: i32) -> E {
        Values::<E, S>::load_at(self.t, self.address.offset(offset))
    }

    /// The distance in bytes of the position one unit away along an axis along which this one is odd.
    #[inline(always)]
    fn beside_odd(&self, axis: usize, step: i32) -> i32 {
        self.positions.reach[axis].beside_odd(step)
    }
}

/// The signs of the steps to four positions.
const SIGNS: [(i32, i32); 4] = [(-1, -1), (-1, 1), (1, -1), (1, 1)];

impl<T: Thread, E: Element, S: StaticShape> Taps<E> for InStore<'_, T, E, S> {
    #[inline(always)]
    fn along(&self, axis: usize) -> (Order, [E; 4]) {
        self.neighbours(axis)
    }

    #[inline(always)]
    fn nearest(&self, axis: usize) -> [E; 2] {
        [-1, 1].map(|step| self.at(self.beside_odd(axis, step)))
    }

    #[inline(always)]
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

    #[inline(always)]
    fn beside(&self, axis: usize, across: usize, units: u32) -> [E; 4] {
        // Values that there are not are replaced by others.
        let pairs = i32::from(units == 2 && self.is_inside(across));
        SIGNS.map(|(along, beside)| {
            let across = match units {
                1 => self.beside_odd(across, beside),
                _ => self.positions.reach[across].by_pairs(beside * pairs),
            };
            self.at(self.beside_odd(axis, along) + across)
        })
    }

    #[inline(always)]
    fn corners(&self) -> [[E; 4]; 2] {
        [-1, 1].map(|z| {
            let z = self.beside_odd(0, z);
            SIGNS.map(|(y, x)| self.at(z + self.beside_odd(1, y) + self.beside_odd(2, x)))
        })
    }
}
