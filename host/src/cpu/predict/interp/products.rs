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
