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
    /// Natural: (-3a + 23b + 23c - 3d) / 40.
    Natural,
}

/// What is known around a place along an axis, and so how it is predicted. Higher is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Nothing ahead: the neighbour behind.
    Copy,
    /// One on each side.
    Linear,
    /// One behind, two ahead.
    QuadraticAhead,
    /// Two behind, one ahead.
    QuadraticBehind,
    /// Two on each side.
    Cubic,
}

impl Order {
    /// The order at `place`, an odd multiple of `unit`, in a window of `window` places whose number is a
    /// power of two; the field has `left` places from that on which `place` is counted.
    #[inline(always)]
    pub const fn at(place: u32, unit: u32, window: u32, left: u32) -> Self {
        let in_window = place & (window - 1);
        let behind = in_window >= 3 * unit;
        let ahead = in_window + 3 * unit <= window && place + 3 * unit < left;
        if place + unit >= left {
            Self::Copy
        } else if behind && ahead {
            Self::Cubic
        } else if behind {
            Self::QuadraticBehind
        } else if ahead {
            Self::QuadraticAhead
        } else {
            Self::Linear
        }
    }

    /// How good it is: both quadratic ones are alike.
    #[inline(always)]
    pub const fn rank(self) -> u32 {
        match self {
            Self::Copy => 0,
            Self::Linear => 1,
            Self::QuadraticAhead | Self::QuadraticBehind => 2,
            Self::Cubic => 3,
        }
    }
}

/// The mean of two values.
#[inline(always)]
pub fn mean<T: Element>(a: T, b: T) -> T {
    (a + b) * T::HALF
}

/// The prediction of a place from its neighbours along an axis, `known(n)` being the one `n` steps away.
/// Only those that the order allows are asked for.
#[inline(always)]
pub fn along<T: Element>(order: Order, spline: Spline, known: impl Fn(i32) -> T) -> T {
    let b = known(-1);
    if matches!(order, Order::Copy) {
        return b;
    }
    let c = known(1);
    let int = T::from_i32;
    match order {
        Order::Copy | Order::Linear => mean(b, c),
        Order::QuadraticAhead => ((int(3) * b + int(6) * c) - known(3)) * int(8).reciprocal(),
        Order::QuadraticBehind => ((int(6) * b + int(3) * c) - known(-3)) * int(8).reciprocal(),
        Order::Cubic => {
            let near = b + c;
            let far = known(-3) + known(3);
            match spline {
                Spline::NotAKnot => (int(9) * near - far) * int(16).reciprocal(),
                Spline::Natural => (int(23) * near - int(3) * far).fortieth(),
            }
        }
    }
}

/// As [`along`], without a branch on the order: of the four neighbours, from behind to ahead, those that the
/// order does not allow may be anything. For places side by side of which a few differ in their order.
#[inline(always)]
pub fn blend<T: Element>(order: Order, spline: Spline, [a, b, c, d]: [T; 4]) -> T {
    let int = T::from_i32;
    let near = b + c;
    let far = a + d;
    let cubic = match spline {
        Spline::NotAKnot => (int(9) * near - far) * int(16).reciprocal(),
        Spline::Natural => (int(23) * near - int(3) * far).fortieth(),
    };
    // Mirror images: a sum's operands may change places.
    let (from, to, beyond) = if matches!(order, Order::QuadraticBehind) {
        (c, b, a)
    } else {
        (b, c, d)
    };
    let quadratic = ((int(3) * from + int(6) * to) - beyond) * int(8).reciprocal();
    match order {
        Order::Copy => b,
        Order::Linear => near * T::HALF,
        Order::QuadraticAhead | Order::QuadraticBehind => quadratic,
        Order::Cubic => cubic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blending_is_predicting() {
        let known = [0.3f32, 1.7, -2.9, 5.1];
        for order in [
            Order::Copy,
            Order::Linear,
            Order::QuadraticAhead,
            Order::QuadraticBehind,
            Order::Cubic,
        ] {
            for spline in [Spline::NotAKnot, Spline::Natural] {
                let one = along(order, spline, |steps| known[((steps + 3) / 2) as usize]);
                assert_eq!(one.to_bits(), blend(order, spline, known).to_bits());
            }
        }
    }
}
