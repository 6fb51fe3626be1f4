//! The cost of codes: an estimate in bits, in integers.

use crate::code::entropy::token::{RAW, magnitude};
use crate::element::Element;
use crate::quantize::level::Quantized;

/// Classes of codes: 0, then magnitudes of 1 to 15 bits, then values without a code.
pub const CLASSES: usize = 17;

/// Fraction bits of a cost.
pub const COST_BITS: u32 = 8;

/// The class of a value's code; none if the value is not finite, as then no parameters help.
#[inline(always)]
pub fn class<T: Element>(value: T, quantized: &Quantized<T>) -> Option<u32> {
    if quantized.code != RAW {
        Some(u32::BITS - magnitude(quantized.code).leading_zeros())
    } else if value.is_finite() {
        Some(CLASSES as u32 - 1)
    } else {
        None
    }
}

/// The bits of codes, in units of 2^-[`COST_BITS`]: the entropy of the classes, and the sign and lower bits of each
/// code. `counts` has the number of codes of each class, `bytes` is the size of a value.
pub fn cost(counts: &[u32; CLASSES], bytes: u32) -> u64 {
    let mut total = 0;
    let mut cost = 0u64;
    for (class, &count) in (0..).zip(counts) {
        total += count;
        cost = cost.wrapping_add(of_class(class, count, bytes));
    }
    cost.wrapping_add(of_all(total))
}

/// The term of a class in the cost, modulo 2^64: its plain bits, minus its part of the difference between [`of_all`]
/// and the entropy.
#[inline(always)]
pub const fn of_class(class: u32, count: u32, bytes: u32) -> u64 {
    let is_raw = class == CLASSES as u32 - 1;
    let width = if is_raw { 8 * bytes } else { class };
    let plain = (width as u64) << COST_BITS;
    (count as u64).wrapping_mul(plain.wrapping_sub(log2(count)))
}

/// The term of the number of all codes in the cost.
#[inline(always)]
pub const fn of_all(count: u32) -> u64 {
    count as u64 * log2(count)
}

/// log2 in units of 2^-[`COST_BITS`], rounded down; 0 for 0.
#[inline(always)]
pub const fn log2(value: u32) -> u64 {
    if value == 0 {
        return 0;
    }
    let whole = value.ilog2();
    // The mantissa is in [1, 2) with 31 fraction bits. Squaring doubles the logarithm, whose next bit is set if the
    // square reaches 2.
    let mut mantissa = (value as u64) << (31 - whole);
    let mut log = whole as u64;
    let mut bit = 0;
    while bit < COST_BITS {
        mantissa = (mantissa * mantissa) >> 31;
        let carry = mantissa >> 32;
        mantissa >>= carry;
        log = log << 1 | carry;
        bit += 1;
    }
    log
}

/// [`log2`] of the leading 32 bits of a value, and how many bits follow them.
#[inline(always)]
pub const fn log2_wide(value: u64) -> u64 {
    let behind = 32u32.saturating_sub(value.leading_zeros());
    log2((value >> behind) as u32) + ((behind as u64) << COST_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `log` is log2 of a whole number, rounded down, by exact arithmetic: 2^`COST_BITS` times the logarithm is
    /// the number of times that the number's 2^`COST_BITS`th power can be halved.
    fn is_log2(value: u32, log: u64) -> bool {
        use num_rational::BigRational;
        let integer = |n: u32| BigRational::from_integer(n.into());
        let power = integer(value).pow(1 << COST_BITS);
        let reached = |log: u64| power >= integer(2).pow(log as i32);
        reached(log) && !reached(log + 1)
    }

    #[test]
    fn logarithms_are_rounded_down() {
        for value in (1..2000).chain([65_535, 65_537, 1 << 20, u32::MAX]) {
            assert!(is_log2(value, log2(value)), "{value}");
            assert_eq!(log2_wide(value.into()), log2(value));
            let wide = u64::from(value) << value.leading_zeros() << 9;
            assert_eq!(
                log2_wide(wide),
                log2(value) + (u64::from(value.leading_zeros() + 9) << 8)
            );
        }
    }

    #[test]
    fn costs_are_the_entropy_and_plain_bits() {
        let one_kind = |class: usize| core::array::from_fn(|of| if of == class { 1000 } else { 0 });
        assert_eq!(cost(&one_kind(0), 4), 0);
        assert_eq!(cost(&one_kind(3), 4), 3000 << COST_BITS);
        assert_eq!(cost(&one_kind(16), 4), 32_000 << COST_BITS);
        assert_eq!(cost(&one_kind(16), 8), 64_000 << COST_BITS);
        // Four classes, a quarter of the codes each: two bits for the class.
        let found = cost(
            &core::array::from_fn(|class| if class < 4 { 100 } else { 0 }),
            4,
        );
        assert!(found.abs_diff((800 + 600) << COST_BITS) <= 400, "{found}");
        assert_eq!(cost(&[0; CLASSES], 4), 0);
    }
}
