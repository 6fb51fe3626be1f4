//! The prediction along an axis as a sum of products, for many positions of the same order.
//!
//! [`blend`](super::spline::blend) computes all kinds of predictions and selects one, at each position. Here the order
//! is turned into weights once, and into a choice of neighbours; a position then costs the products alone. The result
//! is that of [`along`](super::spline::along), but for the sign of a zero and for values that are not finite, which a
//! quantiser takes for 0 both ways.

use crate::element::Element;
use crate::predict::interp::spline::{Order, Spline, select};

/// The weights of the neighbours along an axis; see [`taps`] for which these are. Of neighbours a, b, c and d, in that
/// order, the prediction is `scale * (near * (a + in_sums * b) + second * b - far * (c + in_sums * d))`.
#[derive(Debug, Clone, Copy)]
pub struct Weights<T> {
    /// 1 or 0.
    in_sums: T,
    near: T,
    second: T,
    far: T,
    scale: T,
    /// With the natural spline, a fortieth takes the place of `scale`: its reciprocal is not exact.
    is_cubic: bool,
}

/// The four neighbours that an order's prediction is computed from. A neighbour is given by its distance from the one
/// behind, in pairs of units: -1 is the neighbour three units behind the position, 2 the one three units ahead.
#[inline(always)]
pub const fn taps(order: Order) -> [i32; 4] {
    let Order {
        next,
        behind,
        ahead,
    } = order;
    let is_mirrored = behind & !ahead;
    let far = if behind {
        -1
    } else if ahead {
        2
    } else {
        0
    };
    [
        is_mirrored as i32,
        (next & !is_mirrored) as i32,
        far,
        if order.is_cubic() {
            2
        } else if behind | ahead {
            far
        } else {
            next as i32
        },
    ]
}

impl<T: Element> Weights<T> {
    /// The weights of the predictions of an order.
    #[inline(always)]
    pub fn of(order: Order, spline: Spline) -> Self {
        let int = T::from_i32;
        let [of_near, of_far] = match spline {
            Spline::NotAKnot => [9, 1],
            Spline::Natural => [23, 3],
        };
        let is_cubic = order.is_cubic();
        let is_curved = order.behind | order.ahead;
        let by_kind = |cubic, quadratic, mean, behind| {
            let straight = select(order.next, mean, behind);
            select(is_cubic, cubic, select(is_curved, quadratic, straight))
        };
        Self {
            in_sums: by_kind(T::ONE, T::ZERO, T::ONE, T::ZERO),
            near: by_kind(int(of_near), int(3), T::ONE, T::ONE),
            second: by_kind(T::ZERO, int(6), T::ZERO, T::ZERO),
            far: by_kind(int(of_far), T::ONE, T::ZERO, T::ZERO),
            scale: by_kind(int(16).reciprocal(), int(8).reciprocal(), T::HALF, T::ONE),
            is_cubic,
        }
    }

    /// The prediction from the neighbours that [`taps`] names.
    #[inline(always)]
    pub fn predict(&self, spline: Spline, known: [T; 4]) -> T {
        let [first, second, third, fourth] = known;
        let near = first + second * self.in_sums;
        let far = third + fourth * self.in_sums;
        let difference = near * self.near + second * self.second - far * self.far;
        let scaled = difference * self.scale;
        match spline {
            Spline::NotAKnot => scaled,
            Spline::Natural => select(self.is_cubic, difference.fortieth(), scaled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::interp::spline::along;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    fn value(rng: &mut SmallRng) -> f32 {
        match rng.random_range(0..40) {
            0 => f32::INFINITY,
            1 => f32::NEG_INFINITY,
            2 => f32::NAN,
            3 => 3e38,
            4 => -3e38,
            5 => 0.0,
            6 => -0.0,
            7 => 1e-44,
            _ => rng.random_range(-1e3..1e3),
        }
    }

    #[test]
    fn the_sum_is_the_prediction() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut ranks = [0; 4];
        for case in 0..200_000 {
            let position = 1 + 2 * rng.random_range(0..4);
            let order = Order::at(position, 1, 8, position + rng.random_range(1..5));
            let spline = [Spline::NotAKnot, Spline::Natural][case % 2];
            let known: [f32; 4] = core::array::from_fn(|_| value(&mut rng));
            let expected = along(order, spline, |steps| known[((steps + 3) / 2) as usize]);
            let taps = taps(order).map(|pairs| known[(pairs + 1) as usize]);
            let found = Weights::of(order, spline).predict(spline, taps);
            ranks[order.rank() as usize] += 1;
            if expected.is_finite() {
                // All zeros are equal.
                assert_eq!(found, expected, "{order:?} {spline:?} {known:?}");
            } else {
                assert!(!found.is_finite(), "{order:?} {spline:?} {known:?}");
            }
        }
        assert!(ranks.iter().all(|cases| *cases > 1000), "{ranks:?}");
    }
}
