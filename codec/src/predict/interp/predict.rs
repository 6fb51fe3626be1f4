//! The prediction of a position from the known values around it.

use crate::element::Element;
use crate::predict::interp::spline::{Order, Spline, along, blend, cubic, mean, select};

/// The properties of a position that its prediction depends on.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// The position, counted from the start of its tile.
    pub position: [u32; 3],
    /// The number of positions of the field from the start of the tile on.
    pub left: [u32; 3],
    /// The extents of the window.
    pub window: [u32; 3],
    /// The unit of the level.
    pub unit: u32,
    /// The cubic spline of the level.
    pub spline: Spline,
}

/// A prediction along one axis.
#[derive(Debug, Clone, Copy)]
pub struct OneAxis<T> {
    /// The neighbours that it is computed from.
    pub order: Order,
    /// The predicted value.
    pub value: T,
}

impl<T: Element> OneAxis<T> {
    /// The prediction by [`blend`].
    #[inline(always)]
    pub fn blended(order: Order, spline: Spline, known: [T; 4]) -> Self {
        let value = blend(order, spline, known);
        Self { order, value }
    }

    /// The cubic prediction, whatever the order.
    #[inline(always)]
    pub fn cubic(order: Order, spline: Spline, known: [T; 4]) -> Self {
        let value = cubic(spline, known);
        Self { order, value }
    }
}

impl Site {
    /// The order along an axis.
    #[inline(always)]
    pub const fn order(&self, axis: usize) -> Order {
        Order::at(
            self.position[axis],
            self.unit,
            self.window[axis],
            self.left[axis],
        )
    }

    /// The prediction along the axes whose bits are set in `axes`. `known(axis, n)` is the known value `n` units away
    /// along an axis, `corner(a, b)` the known value one unit back along both axes.
    #[inline(always)]
    pub fn predict<T: Element>(
        &self,
        axes: u32,
        known: impl Fn(usize, i32) -> T,
        corner: impl Fn(usize, usize) -> T,
    ) -> T {
        let around = Neighbours {
            site: self,
            known,
            corner,
        };
        combine(axes, &around)
    }
}

struct Neighbours<'a, K, C> {
    site: &'a Site,
    known: K,
    corner: C,
}

impl<T, K, C> Around<T> for Neighbours<'_, K, C>
where
    T: Element,
    K: Fn(usize, i32) -> T,
    C: Fn(usize, usize) -> T,
{
    #[inline(always)]
    fn along(&self, axis: usize) -> OneAxis<T> {
        let order = self.site.order(axis);
        let value = along(order, self.site.spline, |steps| (self.known)(axis, steps));
        OneAxis { order, value }
    }

    #[inline(always)]
    fn corner(&self, a: usize, b: usize) -> T {
        (self.corner)(a, b)
    }
}

/// The known values around a position. A trait, as its functions are inlined at every call, but closures are not.
pub trait Around<T> {
    /// The prediction along an axis.
    fn along(&self, axis: usize) -> OneAxis<T>;
    /// The prediction along an axis for callers that use only cubic ones: the value of any other is unspecified.
    #[inline(always)]
    fn cubic(&self, axis: usize) -> OneAxis<T> {
        self.along(axis)
    }
    /// The known value one unit back along both axes.
    fn corner(&self, a: usize, b: usize) -> T;
}

/// The prediction of a position from those along the axes whose bits are set in `axes`.
#[inline(always)]
pub fn combine<T: Element>(axes: u32, around: &impl Around<T>) -> T {
    match axes {
        0b001 => around.along(0).value,
        0b010 => around.along(1).value,
        0b100 => around.along(2).value,
        0b011 => face(around.along(0), around.along(1), around.corner(0, 1)),
        0b101 => face(around.along(0), around.along(2), around.corner(0, 2)),
        0b110 => face(around.along(1), around.along(2), around.corner(1, 2)),
        _ => cube(around.cubic(0), around.cubic(1), around.along(2)),
    }
}

/// The better of two predictions, or their mean. If neither axis has a neighbour ahead, the Lorenzo prediction of the
/// plane.
#[inline(always)]
fn face<T: Element>(first: OneAxis<T>, second: OneAxis<T>, corner: T) -> T {
    let (rank, other) = (first.order.rank(), second.order.rank());
    let sum = first.value + second.value;
    let both = select(rank == 0, sum - corner, sum * T::HALF);
    let better = select(rank > other, first.value, second.value);
    select(rank == other, both, better)
}

/// The mean of the cubic predictions; if there is none, the prediction along x.
#[inline(always)]
fn cube<T: Element>(z: OneAxis<T>, y: OneAxis<T>, x: OneAxis<T>) -> T {
    let [has_z, has_y, has_x] = [z, y, x].map(|along| along.order.is_cubic());
    let all = ((x.value + y.value) + z.value).third();
    // Two of three: y and x without z, z and y without x.
    let two = mean(
        select(has_z, z.value, y.value),
        select(has_x, x.value, y.value),
    );
    let one = select(has_z, z.value, select(has_y, y.value, x.value));
    let is_pair = (has_z & has_y) | (has_z & has_x) | (has_y & has_x);
    select(has_z & has_y & has_x, all, select(is_pair, two, one))
}
