//! Smallest and largest finite value of a part of a field, in a form that compilers vectorise.

use bytemuck::cast_slice;
use ferrosz_codec::Element;
use ferrosz_codec::bound::Extremes;
use std::ops::{BitAnd, BitOr, Not};

/// The number of values that are compared in parallel.
const WIDTH: usize = 16;

/// The result of [`Extremes::see`] for every value.
#[inline(always)]
pub(super) fn extremes<T: Element>(values: &[T]) -> Extremes<T> {
    let ends = if T::WORDS == 1 {
        ends(cast_slice::<T, i32>(values))
    } else {
        ends(cast_slice::<T, i64>(values))
    };
    let mut extremes = Extremes::default();
    for bits in ends.into_iter().flatten() {
        extremes.see(T::from_bits64(bits));
    }
    extremes
}

/// The bits of a floating-point number as a signed integer.
trait Bits:
    bytemuck::Pod + Ord + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    const MIN: Self;
    const MAX: Self;

    /// Orders finite numbers as [`Element::order_key`] does; its own inverse.
    fn key(self) -> Self;
    /// All ones if the number is not finite, otherwise 0. A mask, because for a `bool` the compiler makes stores that
    /// depend on it.
    fn excluded(self) -> Self;
    fn to_u64(self) -> u64;
}

impl Bits for i32 {
    const MIN: Self = i32::MIN;
    const MAX: Self = i32::MAX;

    #[inline(always)]
    fn key(self) -> Self {
        self ^ (self >> 31 & i32::MAX)
    }

    #[inline(always)]
    fn excluded(self) -> Self {
        (0x7f80_0000 - 1 - (self & i32::MAX)) >> 31
    }

    fn to_u64(self) -> u64 {
        u64::from(self.cast_unsigned())
    }
}

impl Bits for i64 {
    const MIN: Self = i64::MIN;
    const MAX: Self = i64::MAX;

    #[inline(always)]
    fn key(self) -> Self {
        self ^ (self >> 63 & i64::MAX)
    }

    #[inline(always)]
    fn excluded(self) -> Self {
        (0x7ff0_0000_0000_0000 - 1 - (self & i64::MAX)) >> 63
    }

    fn to_u64(self) -> u64 {
        self.cast_unsigned()
    }
}

/// The bits of the smallest and the largest finite number; none if there is none.
#[inline(always)]
fn ends<B: Bits>(values: &[B]) -> Option<[u64; 2]> {
    let (rows, rest) = values.as_chunks::<WIDTH>();
    let mut smallest = [B::MAX; WIDTH];
    let mut largest = [B::MIN; WIDTH];
    for row in rows {
        for i in 0..WIDTH {
            see(row[i], &mut smallest[i], &mut largest[i]);
        }
    }
    for (i, value) in rest.iter().enumerate() {
        see(*value, &mut smallest[i], &mut largest[i]);
    }
    let (mut low, mut high) = (B::MAX, B::MIN);
    for i in 0..WIDTH {
        low = low.min(smallest[i]);
        high = high.max(largest[i]);
    }
    (low <= high).then(|| [low.key().to_u64(), high.key().to_u64()])
}

#[inline(always)]
fn see<B: Bits>(value: B, smallest: &mut B, largest: &mut B) {
    let (key, excluded) = (value.key(), value.excluded());
    *smallest = (*smallest).min(key & !excluded | B::MAX & excluded);
    *largest = (*largest).max(key & !excluded | B::MIN & excluded);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree<T: Element>(values: &[T]) {
        for length in 0..=values.len() {
            for values in [&values[..length], &values[length..]] {
                let mut expected = Extremes::default();
                values.iter().for_each(|value| expected.see(*value));
                assert_eq!(extremes(values), expected, "{values:?}");
            }
        }
    }

    #[test]
    fn they_are_those_of_the_values_one_by_one() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 32
        };
        let edges = [
            0.0,
            -0.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            f32::MIN,
        ];
        for round in 0..60 {
            let mut value = |i: usize| match (round + i) % 3 {
                0 => edges[random() as usize % edges.len()],
                1 => f32::from_bits(random() as u32),
                _ => f32::from_bits(random() as u32 & 0x803f_ffff),
            };
            let values: Vec<f32> = (0..50).map(&mut value).collect();
            agree(&values);
            let wide: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
            agree(&wide);
            agree(
                &values
                    .iter()
                    .filter(|value| **value == 0.0)
                    .copied()
                    .collect::<Vec<_>>(),
            );
        }
    }
}
