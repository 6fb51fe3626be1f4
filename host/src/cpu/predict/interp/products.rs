//! Sums of products, to which coefficients are fitted: see [`fit`](ferrosz_codec::predict::stencil::fit).

use crate::cpu::predict::interp::piece::PIECE;
use crate::cpu::predict::interp::store::VECTOR;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::slices::fit::SUMS;
use ferrosz_codec::predict::stencil::fit::{MAX_SUMS, integer, sum_of};
use ferrosz_codec::predict::{slices, stencil};

/// The most numbers of a position.
const MAX_NUMBERS: usize = greater(slices::fit::MAX_NUMBERS, stencil::fit::MAX_NUMBERS);

/// The integers of the positions of a piece, as wide as their products.
pub(super) type Integers = [[i64; PIECE]; MAX_NUMBERS];

/// No integers.
pub(super) const NONE: Integers = [[0; PIECE]; MAX_NUMBERS];

/// The sums of all stencils or slices of a field.
pub type Sums = [u64; greater(MAX_SUMS, SUMS)];

/// Adds the products of the integers of the first `lanes` positions of a piece: `numbers` has so many terms of each, and
/// then the difference that they explain. Outliers do not count.
#[inline(always)]
pub(super) fn add_products<T: Element, const N: usize>(
    numbers: &[[T; PIECE]; N],
    inverse: T,
    lanes: usize,
    count: usize,
    integers: &mut Integers,
    sums: &mut [u64],
) {
    let padded = lanes.min(PIECE).next_multiple_of(VECTOR);
    let mut usual = [0i32; PIECE];
    let usual = &mut usual[..padded];
    usual[..lanes].fill(-1);
    for numbers in &numbers[..=count] {
        let numbers = &numbers[..padded];
        for i in 0..padded {
            let (_, is_small) = integer(numbers[i], inverse);
            usual[i] &= if is_small { -1 } else { 0 };
        }
    }
    for (numbers, integers) in numbers[..=count].iter().zip(&mut *integers) {
        let (numbers, integers) = (&numbers[..padded], &mut integers[..padded]);
        for i in 0..padded {
            let (integer, _) = integer(numbers[i], inverse);
            integers[i] = i64::from(integer & usual[i]);
        }
    }
    for i in 0..count {
        for j in i..=count {
            let products = integers[i][..padded].iter().zip(&integers[j][..padded]);
            // The compiler sees that 32 bits of each are multiplied.
            let of_pair = products.map(|(a, b)| i64::from(*a as i32) * i64::from(*b as i32));
            let total = &mut sums[sum_of(count, i, j)];
            *total = total.wrapping_add(of_pair.sum::<i64>().cast_unsigned());
        }
    }
}

const fn greater(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::predict::stencil::fit::sums;

    /// Random numbers: small ones, halves, which are rounded, outliers, and NaN.
    fn number(state: &mut u64) -> f64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let [kind, number] = [*state >> 60, *state >> 30 & 0xfffff];
        let sign = if *state >> 29 & 1 == 1 { -1.0 } else { 1.0 };
        sign * match kind {
            0 => number as f64,
            1 => (number % 64) as f64 / 8.0,
            2 if number % 64 == 0 => f64::NAN,
            3 if number % 64 == 0 => 1e9,
            _ => number as f64 / 1024.0,
        }
    }

    fn products_are_those_of_single_numbers<T: Element>(of: impl Fn(f64) -> T) {
        const N: usize = 5;
        let (mut state, inverse, count) = (7, of(0.5), N - 1);
        let mut integers = NONE;
        for lanes in (0..=PIECE).chain([PIECE; 20]) {
            let numbers: [[T; PIECE]; N] =
                std::array::from_fn(|_| std::array::from_fn(|_| of(number(&mut state))));
            let mut found = [0u64; sums(N - 1)];
            add_products(&numbers, inverse, lanes, count, &mut integers, &mut found);
            // In plain integers: a unit is a quarter of the bound, which is two here.
            let integer = |row: usize, lane: usize| {
                let units = numbers[row][lane].abs() * inverse * of(4.0) + of(0.5);
                let is_negative = numbers[row][lane] < T::ZERO;
                let magnitude = units.to_f64().floor() as i128;
                let is_small = units < of(f64::from(1 << 21));
                is_small.then_some(if is_negative { -magnitude } else { magnitude })
            };
            let position = |lane| {
                (0..N)
                    .map(|row| integer(row, lane))
                    .collect::<Option<Vec<_>>>()
            };
            let mut wanted = [0i128; sums(N - 1)];
            for position in (0..lanes).filter_map(position) {
                for i in 0..count {
                    for j in i..=count {
                        wanted[sum_of(count, i, j)] += position[i] * position[j];
                    }
                }
            }
            assert_eq!(
                found.map(|sum| i128::from(sum.cast_signed())),
                wanted,
                "{lanes}"
            );
        }
    }

    #[test]
    fn sums_are_those_of_single_numbers() {
        products_are_those_of_single_numbers(|number| number as f32);
        products_are_those_of_single_numbers(|number| number);
    }
}
