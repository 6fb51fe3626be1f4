//! The prediction of a place from what is known around it.

use crate::element::Element;
use crate::interp::spline::{Order, Spline, along, mean};

/// What a prediction must know of its place.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// The place, counted from where its tile begins.
    pub place: [u32; 3],
    /// Places of the field from there on.
    pub left: [u32; 3],
    /// The extents of the window.
    pub window: [u32; 3],
    /// The unit of the level.
    pub unit: u32,
    /// The cubic spline of the level.
    pub spline: Spline,
}

/// A prediction along one axis.
#[derive(Clone, Copy)]
struct OneAxis<T> {
    order: Order,
    value: T,
}

impl Site {
    /// The prediction along the axes whose bits are set in `axes`, `known(axis, n)` being what is known `n`
    /// units away along an axis, and `corner(a, b)` what is known one unit back along both.
    #[inline(always)]
    pub fn predict<T: Element>(
        &self,
        axes: u32,
        known: impl Fn(usize, i32) -> T,
        corner: impl Fn(usize, usize) -> T,
    ) -> T {
        match axes {
            0b001 => self.along(0, &known).value,
            0b010 => self.along(1, &known).value,
            0b100 => self.along(2, &known).value,
            0b011 => self.face(0, 1, &known, &corner),
            0b101 => self.face(0, 2, &known, &corner),
            0b110 => self.face(1, 2, &known, &corner),
            _ => self.cube(&known),
        }
    }

    #[inline(always)]
    fn along<T: Element>(&self, axis: usize, known: &impl Fn(usize, i32) -> T) -> OneAxis<T> {
        let order = Order::at(
            self.place[axis],
            self.unit,
            self.window[axis],
            self.left[axis],
        );
        OneAxis {
            order,
            value: along(order, self.spline, |steps| known(axis, steps)),
        }
    }

    /// Of two predictions the better one, or their mean; where neither axis has anything ahead, the
    /// Lorenzo prediction of the plane.
    #[inline(always)]
    fn face<T: Element>(
        &self,
        a: usize,
        b: usize,
        known: &impl Fn(usize, i32) -> T,
        corner: &impl Fn(usize, usize) -> T,
    ) -> T {
        let first = self.along(a, known);
        let second = self.along(b, known);
        let (rank, other) = (first.order.rank(), second.order.rank());
        if rank > other {
            first.value
        } else if rank < other {
            second.value
        } else if rank == 0 {
            (first.value + second.value) - corner(a, b)
        } else {
            mean(first.value, second.value)
        }
    }

    /// The mean of the cubic predictions; if there is none, that along x.
    #[inline(always)]
    fn cube<T: Element>(&self, known: &impl Fn(usize, i32) -> T) -> T {
        let [z, y, x] = [0, 1, 2].map(|axis| self.along(axis, known));
        let cubic = |along: OneAxis<T>| matches!(along.order, Order::Cubic);
        match (cubic(z), cubic(y), cubic(x)) {
            (true, true, true) => ((x.value + y.value) + z.value).third(),
            (true, true, false) => mean(z.value, y.value),
            (true, false, true) => mean(z.value, x.value),
            (false, true, true) => mean(y.value, x.value),
            (true, false, false) => z.value,
            (false, true, false) => y.value,
            (false, false, _) => x.value,
        }
    }
}
