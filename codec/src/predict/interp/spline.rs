//! Prediction along one axis from up to four known neighbours: one and three steps away on both sides.
//!
//! The order of operations is part of the format.

use crate::element::Element;

/// The cubic spline of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Spline {
    /// Not-a-knot: (-a + 9b + 9c - d) / 16.
    #[default]
    NotAKnot,
    /// Natural: (-3a + 23b + 23c - 3d) / 40, computed as an eighth of a fifth.
    Natural,
}

/// The known neighbours of a position along an axis, which decide its prediction. The neighbour behind is always known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Whether the neighbour ahead is known. Otherwise the neighbour behind is the prediction.
    pub next: bool,
    /// Whether the neighbour three steps behind is known too.
    pub behind: bool,
    /// Whether the neighbour three steps ahead is known too.
    pub ahead: bool,
}

impl Order {
    /// The order at `position`, an odd multiple of `unit`, in a window of `window` positions, a power of two. The field
    /// has `left` positions from the one that `position` is counted from.
    #[inline(always)]
    pub const fn at(position: u32, unit: u32, window: u32, left: u32) -> Self {
        let in_window = position & (window - 1);
        let next = position + unit < left;
        Self {
            next,
            behind: next & (in_window >= 3 * unit),
            ahead: (in_window + 3 * unit <= window) & (position + 3 * unit < left),
        }
    }

    /// Whether the prediction is cubic.
    #[inline(always)]
    pub const fn is_cubic(self) -> bool {
        self.behind & self.ahead
    }

    /// The number of known neighbours besides the one behind. A higher rank is a better prediction.
    #[inline(always)]
    pub const fn rank(self) -> u32 {
        self.next as u32 + self.behind as u32 + self.ahead as u32
    }
}

/// The mean of two values.
#[inline(always)]
pub fn mean<T: Element>(a: T, b: T) -> T {
    (a + b) * T::HALF
}

/// The prediction of a position from its neighbours along an axis; `known(n)` is the neighbour `n` steps away. It is
/// called only for neighbours that the order allows.
#[inline(always)]
pub fn along<T: Element>(order: Order, spline: Spline, known: impl Fn(i32) -> T) -> T {
    let b = known(-1);
    if !order.next {
        return b;
    }
    let c = known(1);
    match (order.behind, order.ahead) {
        (false, false) => mean(b, c),
        (false, true) => quadratic(b, c, known(3)),
        (true, false) => quadratic(c, b, known(-3)),
        (true, true) => cubic(spline, [known(-3), b, c, known(3)]),
    }
}

/// As [`along`], without a branch on the order. `known` has the four neighbours, from behind to ahead; neighbours that
/// the order does not allow may have any value. For adjacent positions of which a few differ in their order.
#[inline(always)]
pub fn blend<T: Element>(order: Order, spline: Spline, known: [T; 4]) -> T {
    let [a, b, c, d] = known;
    let from = select(order.behind, c, b);
    let to = select(order.behind, b, c);
    let beyond = select(order.behind, a, d);
    let outer = select(order.next, mean(b, c), b);
    let curved = select(
        order.is_cubic(),
        cubic(spline, known),
        quadratic(from, to, beyond),
    );
    select(order.behind | order.ahead, curved, outer)
}

/// The parabola through three neighbours, evaluated between the first two of them.
#[inline(always)]
fn quadratic<T: Element>(from: T, to: T, beyond: T) -> T {
    let int = T::from_i32;
    ((int(3) * from + int(6) * to) - beyond) * int(8).reciprocal()
}

/// The prediction from two neighbours on each side.
#[inline(always)]
pub(super) fn cubic<T: Element>(spline: Spline, [a, b, c, d]: [T; 4]) -> T {
    let int = T::from_i32;
    let near = b + c;
    let far = a + d;
    match spline {
        Spline::NotAKnot => (int(9) * near - far) * int(16).reciprocal(),
        Spline::Natural => (int(23) * near - int(3) * far).fortieth(),
    }
}

/// One of two computed values, for conditions on which a GPU should not branch.
#[inline(always)]
pub(crate) fn select<T>(condition: bool, then: T, other: T) -> T {
    if condition { then } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blending_is_predicting() {
        let known = [0.3f32, 1.7, -2.9, 5.1];
        let mut ranks = [false; 4];
        for (position, left) in [1, 3, 5, 7]
            .into_iter()
            .flat_map(|position| (position + 1..12).map(move |left| (position, left)))
        {
            let order = Order::at(position, 1, 8, left);
            ranks[order.rank() as usize] = true;
            for spline in [Spline::NotAKnot, Spline::Natural] {
                let one = along(order, spline, |steps| known[((steps + 3) / 2) as usize]);
                assert_eq!(one.to_bits(), blend(order, spline, known).to_bits());
            }
        }
        assert_eq!(ranks, [true; 4]);
    }
}
