//! Sums of products, to which coefficients are fitted: see [`fit`](ferrosz_codec::predict::stencil::fit).

use crate::cpu::predict::interp::piece::PIECE;
use crate::cpu::predict::interp::store::VECTOR;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::stencil::fit::{integer, sum_of};

/// Adds the products of the integers of the first `lanes` positions of a piece: `numbers` has so many terms of each, and
/// then the difference that they explain. Outliers do not count.
#[inline(always)]
pub(super) fn add_products<T: Element, const N: usize>(
    numbers: &[[T; PIECE]; N],
    inverse: T,
    lanes: usize,
    count: usize,
    sums: &mut [u64],
) {
    let padded = lanes.min(PIECE).next_multiple_of(VECTOR);
    let mut usual = [0i32; PIECE];
    usual[..lanes].fill(-1);
    let usual = &mut usual[..padded];
    let mut small = [[0i32; PIECE]; N];
    for (numbers, small) in numbers[..=count].iter().zip(&mut small) {
        let (numbers, small) = (&numbers[..padded], &mut small[..padded]);
        for i in 0..padded {
            let (integer, is_small) = integer(numbers[i], inverse);
            small[i] = integer;
            usual[i] &= if is_small { -1 } else { 0 };
        }
    }
    // As wide as their products.
    let mut wide = [[0i64; PIECE]; N];
    for (wide, small) in wide[..=count].iter_mut().zip(&small) {
        let (wide, small) = (&mut wide[..padded], &small[..padded]);
        for i in 0..padded {
            wide[i] = i64::from(small[i] & usual[i]);
        }
    }
    for i in 0..count {
        for j in i..=count {
            let products = wide[i][..padded].iter().zip(&wide[j][..padded]);
            // The compiler sees that 32 bits of each are multiplied.
            let of_pair = products.map(|(a, b)| i64::from(*a as i32) * i64::from(*b as i32));
            let total = &mut sums[sum_of(count, i, j)];
            *total = total.wrapping_add(of_pair.sum::<i64>().cast_unsigned());
        }
    }
}
