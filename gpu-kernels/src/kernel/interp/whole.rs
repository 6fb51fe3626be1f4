//! The finest level of a tile of a cube that has all of its places and far faces: nine tenths of the work.
//!
//! A warp takes a row at a time, a lane every second place of it. So what is known of neighbours lies at constant
//! distances, the orders along z and y are those of the row, and that along x is the lane's.

use super::THREADS;
use super::stages::{Settle, Share};
use super::values::Values;
use crate::simt::{Thread, WARP};
use ferrosz_codec::Element;
use ferrosz_codec::interp::predict::{OneAxis, combine};
use ferrosz_codec::interp::spline::{Order, along, blend};
use ferrosz_codec::interp::store;
use ferrosz_codec::interp::walk::Class;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::{self, FAR};

/// The window along z and y of the geometries that this serves.
const WINDOW: u32 = 16;

impl<E: Element> Share<'_, E> {
    /// Whether the level and the tile are what this is for.
    #[inline(always)]
    pub fn is_whole<S: StaticShape>(&self) -> bool {
        let extents = tile::extents(S::SHAPE);
        let setting = self.setting;
        let has_far = (0..3).all(|axis| setting.tile.left[axis] > extents[axis]);
        let is_served = setting.window[0] == WINDOW && setting.window[1] == WINDOW;
        matches!(S::SHAPE, Shape::Cube) && self.level == 0 && has_far && is_served
    }

    /// As [`Share::run_class`], for what [`Share::is_whole`].
    #[inline(always)]
    pub fn run_whole<T: Thread, S: StaticShape>(
        &self,
        t: T,
        class: Class,
        with_far: bool,
        turn: u32,
        settle: &impl Settle<E>,
    ) -> u32 {
        let extents = tile::extents(S::SHAPE);
        let count = |axis: usize| {
            let far = u32::from(with_far && class.has_far(S::SHAPE, axis));
            (extents[axis] / 2).wrapping_add(far)
        };
        let (depth, height) = (count(0), count(1));
        let rows = depth * height;
        let lane = t.lane();
        let parity = class.odd >> 2;
        let x = 2 * lane + parity;
        // Neither has a value unless the place is odd along x, and then it is the lane's for all rows.
        let order = Order::at(2 * lane + 1, 1, self.setting.window[2], FAR);
        let in_row = parity * extents[2].div_ceil(2).wrapping_add(1) + lane;
        let mut turn = turn;
        while turn < rows * WARP {
            let row = turn / WARP;
            let z = if height == 8 { row / 8 } else { row / 9 };
            let y = row - z * height;
            let place = [2 * z + (class.odd & 1), 2 * y + (class.odd >> 1 & 1), x];
            let first = store::index(S::SHAPE, [place[0], place[1], 0]);
            let at = first + in_row;
            let prediction = combine(
                class.axes,
                |axis| {
                    if axis == 2 {
                        self.along_row::<T, S>(t, order, first + lane)
                    } else {
                        self.across::<T, S>(t, axis, place[axis], at)
                    }
                },
                // There is always something ahead.
                |_, _| E::ZERO,
            );
            let slot = Values::<E, S>::load(t, at);
            let known = settle.settle(t, &self.quantizer, place, slot, prediction);
            Values::<E, S>::store(t, at, known);
            turn += THREADS;
        }
        turn -= rows * WARP;
        if !(with_far && class.has_far(S::SHAPE, 2)) {
            return turn;
        }
        let end = rows.next_multiple_of(WARP);
        while turn < end {
            if turn < rows {
                let z = if height == 8 { turn / 8 } else { turn / 9 };
                let y = turn - z * height;
                let place = [
                    2 * z + (class.odd & 1),
                    2 * y + (class.odd >> 1 & 1),
                    extents[2],
                ];
                let at = store::index(S::SHAPE, place);
                let prediction = combine(
                    class.axes & 0b011,
                    |axis| self.across::<T, S>(t, axis, place[axis], at),
                    |_, _| E::ZERO,
                );
                let slot = Values::<E, S>::load(t, at);
                let known = settle.settle(t, &self.quantizer, place, slot, prediction);
                Values::<E, S>::store(t, at, known);
            }
            turn += THREADS;
        }
        turn - end
    }

    /// The prediction along z or y.
    #[inline(always)]
    fn across<T: Thread, S: StaticShape>(
        &self,
        t: T,
        axis: usize,
        place: u32,
        at: u32,
    ) -> OneAxis<E> {
        let order = if place == 1 {
            Order::QuadraticAhead
        } else if place == WINDOW - 1 {
            Order::QuadraticBehind
        } else {
            Order::Cubic
        };
        let stride = store::stride(S::SHAPE, axis) as i32;
        OneAxis {
            order,
            value: along(order, self.spline, |steps| {
                Values::<E, S>::load(t, at.wrapping_add_signed(steps * stride))
            }),
        }
    }

    /// The prediction along x of a lane's odd place from the even ones, of which the one before it lies at `before`.
    #[inline(always)]
    fn along_row<T: Thread, S: StaticShape>(&self, t: T, order: Order, before: u32) -> OneAxis<E> {
        let behind = matches!(order, Order::QuadraticBehind | Order::Cubic);
        let ahead = matches!(order, Order::QuadraticAhead | Order::Cubic);
        let known = [
            before - u32::from(behind),
            before,
            before + 1,
            before + 1 + u32::from(ahead),
        ];
        let value = blend(
            order,
            self.spline,
            known.map(|at| Values::<E, S>::load(t, at)),
        );
        OneAxis { order, value }
    }
}
