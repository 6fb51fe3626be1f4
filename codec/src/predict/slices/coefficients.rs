//! The coefficients of all levels of a field.

use crate::element::Element;
use crate::predict::slices::fit::{MAX_NUMBERS, first_sum, solve_set};
use crate::predict::slices::terms::{MAX_TERMS, REFERENCES, count, own_count};
use crate::predict::slices::{FACES, LINES, ROOT, SETS, Sizes};
use crate::predict::stencil::fit::{InArray, System};

/// The coefficients of the sets of a level below [`ROOT`].
const SIZES: Sizes = Sizes {
    of_first: [count(0, LINES, true), count(0, FACES, true)],
    of_others: [count(0, LINES, false), count(0, FACES, false)],
};

/// The coefficients of a field.
pub const COUNT: usize = ROOT as usize * SIZES.of_level() + REFERENCES - 1;

/// The words that they have in a stream: two coefficients a word, the first one in the low half.
pub const WORDS: usize = COUNT.div_ceil(2);

/// A coefficient is a multiple of 1 over this, as a number of 16 bits.
pub const PARTS: i32 = 1 << 11;

/// The number of the first coefficient of the positions of a level that are odd along the axes of `odd`, in the first slices of
/// tiles or in others; of the [`ROOT`] level only in others, whatever `odd`.
#[inline(always)]
pub const fn first(level: u32, odd: u32, is_first: bool) -> usize {
    if level >= ROOT {
        ROOT as usize * SIZES.of_level()
    } else {
        level as usize * SIZES.of_level() + SIZES.before(odd, is_first)
    }
}

/// All sets of coefficients that are fitted together, in the order of their numbers: level, set of axes, and whether they are
/// of first slices.
pub fn sets() -> impl Iterator<Item = (u32, u32, bool)> {
    let of_levels = (0..ROOT).flat_map(|level| {
        let slices = [true, false].into_iter();
        slices.flat_map(move |is_first| SETS.map(|odd| (level, odd, is_first)))
    });
    of_levels.chain([(ROOT, 0, false)])
}

/// The coefficients of all levels of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coefficients {
    words: [u32; WORDS],
}

impl Coefficients {
    /// The coefficients that a stream has, from its words. Any words are coefficients.
    pub fn from_words(word: impl Fn(usize) -> u32) -> Self {
        let last = if COUNT % 2 == 1 { 0xffff } else { u32::MAX };
        Self {
            words: core::array::from_fn(|i| word(i) & if i == WORDS - 1 { last } else { u32::MAX }),
        }
    }

    /// The coefficients that fit best, from the sums of all sets: see [`fit`](crate::predict::slices::fit). From sums of 0
    /// follow those of splines.
    pub fn of_sums(sum: impl Fn(usize) -> u64) -> Self {
        let mut all = Self { words: [0; WORDS] };
        for (level, odd, is_first) in sets() {
            let from = first_sum(level, odd, is_first);
            let system = InArray::<MAX_TERMS, MAX_NUMBERS>::default();
            let sum = |i| sum(from + i).cast_signed();
            solve_set(level, odd, is_first, &system, sum);
            let (first, count) = (first(level, odd, is_first), count(level, odd, is_first));
            for i in 0..count {
                all.set(first + i, to_bits(system.get(i, count)));
            }
        }
        all
    }

    /// The words in a stream.
    pub const fn words(&self) -> &[u32; WORDS] {
        &self.words
    }

    /// Sets coefficient number `number` to a multiple of 1 / [`PARTS`].
    pub fn set(&mut self, number: usize, bits: i16) {
        let shift = 16 * (number % 2);
        if let Some(word) = self.words.get_mut(number / 2) {
            *word = *word & !(0xffff << shift) | u32::from(bits.cast_unsigned()) << shift;
        }
    }

    /// The coefficients of a set, and zeros.
    #[inline(always)]
    pub fn of_set<T: Element>(&self, level: u32, odd: u32, is_first: bool) -> [T; MAX_TERMS] {
        let from = first(level, odd, is_first);
        core::array::from_fn(|i| match i < count(level, odd, is_first) {
            true => {
                let number = from + i;
                let word = self.words.get(number / 2).copied().unwrap_or_default();
                of_bits((word >> (16 * (number % 2))) as u16)
            }
            false => T::ZERO,
        })
    }
}

/// The coefficient with these bits.
#[inline(always)]
pub fn of_bits<T: Element>(bits: u16) -> T {
    T::from_i32(i32::from(bits.cast_signed())) * T::from_i32(PARTS).reciprocal()
}

/// The bits of the coefficient nearest to a number, of two the even one; 0 for NaN.
#[inline(always)]
pub fn to_bits(coefficient: f64) -> i16 {
    // The sum's last bit is 1.
    const MAGIC: f64 = 1.5 * (1u64 << 52) as f64;
    let scaled = coefficient * f64::from(PARTS);
    let most = f64::from(i16::MAX);
    let limited = if scaled > most {
        most
    } else if scaled < -most {
        -most
    } else if !scaled.is_nan() {
        scaled
    } else {
        0.0
    };
    ((limited + MAGIC) - MAGIC) as i16
}

const _: () = assert!(own_count(SETS[0]) == own_count(SETS[1]));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_its_own() {
        let mut next = 0;
        for (level, odd, is_first) in sets() {
            assert_eq!(
                first(level, odd, is_first),
                next,
                "{level} {odd} {is_first}"
            );
            next += count(level, odd, is_first);
        }
        assert_eq!(next, COUNT);
        assert_eq!(COUNT, 134);
    }

    #[test]
    fn coefficients_come_back() {
        let mut all = Coefficients::of_sums(|_| 0);
        assert_eq!(all.of_set::<f64>(2, 0b010, true)[..3], [-0.125, 0.0, 0.0]);
        let of_face = all.of_set::<f32>(0, 0b110, false);
        assert_eq!(of_face[..5], [0.0, -0.0625, -0.0625, 0.0, 0.0]);
        all.set(first(1, 0b100, false) + 2, to_bits(-15.999));
        all.set(first(ROOT, 0, false) + 1, to_bits(0.25));
        let read = Coefficients::from_words(|i| all.words()[i]);
        assert_eq!(read, all);
        assert_eq!(read.of_set::<f64>(1, 0b100, false)[2], -32_766.0 / 2048.0);
        assert_eq!(read.of_set::<f64>(ROOT, 0, false)[..3], [0.0, 0.25, 0.0]);
    }

    #[test]
    fn numbers_are_rounded_to_even() {
        for (number, bits) in [
            (0.0, 0),
            (0.5, 0),
            (1.5, 2),
            (-2.5, -2),
            (2.500_001, 3),
            (1e30, 32_767),
            (-1e30, -32_767),
            (f64::NAN, 0),
            (f64::INFINITY, 32_767),
        ] {
            assert_eq!(to_bits(number / f64::from(PARTS)), bits, "{number}");
        }
    }
}
