//! The coefficients of all levels of a field.

use crate::element::Element;
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::parameters::Parameters;
use crate::predict::stencil::fit::{InArray, MAX_NUMBERS, System, first_sum, solve_stencil};
use crate::predict::stencil::terms::{self, MAX_TERMS};
use crate::shape::Shape;

/// The most coefficients of a field.
pub const MAX_COEFFICIENTS: usize = 4 * per_level(Shape::Cube);

/// The geometry of stencils.
pub const GEOMETRY: Geometry = Geometry::Wide;

/// The coefficients of a level.
#[inline(always)]
pub const fn per_level(shape: Shape) -> usize {
    offset(shape, 8)
}

/// The coefficients of all levels.
#[inline(always)]
pub const fn count(shape: Shape) -> usize {
    GEOMETRY.levels(shape) as usize * per_level(shape)
}

/// The levels of a field that are fitted, as bits, given the flags of all levels.
#[inline(always)]
pub const fn fitted(shape: Shape, flag_bits: u32) -> u32 {
    let mut fitted = 0;
    let mut level = 0;
    while level < GEOMETRY.levels(shape) {
        let flags = Parameters::flags_of(flag_bits, level);
        fitted |= (flags.is_fitted() as u32) << level;
        level += 1;
    }
    fitted
}

/// The coefficients that a stream has, one word each: those of its fitted levels.
#[inline(always)]
pub const fn stored(shape: Shape, fitted: u32) -> usize {
    fitted.count_ones() as usize * per_level(shape)
}

/// The number among those of all levels of a coefficient that a stream has.
#[inline(always)]
pub const fn number_of_stored(shape: Shape, fitted: u32, number: usize) -> usize {
    let mut left = fitted;
    let mut before = number / per_level(shape);
    while before > 0 {
        left &= left.wrapping_sub(1);
        before -= 1;
    }
    // A number beyond the stored ones is one beyond all.
    left.trailing_zeros() as usize * per_level(shape) + number % per_level(shape)
}

/// The number of the first coefficient of the positions of a level that are odd along the axes whose bits are set in
/// `odd`.
#[inline(always)]
pub const fn first(shape: Shape, level: u32, odd: u32) -> usize {
    level as usize * per_level(shape) + offset(shape, odd)
}

/// The coefficients of the sets of axes before `odd`.
const fn offset(shape: Shape, odd: u32) -> usize {
    let beyond = (1 << (3 - shape.rank())) - 1;
    let mut before = 0;
    let mut of = 1;
    while of < odd {
        if of & beyond == 0 {
            before += terms::count(shape, of);
        }
        of += 1;
    }
    before
}

/// The coefficients of all levels of a field. They are of `f32` for every element type, as they need no more digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    all: [f32; MAX_COEFFICIENTS],
}

impl Default for Coefficients {
    /// Zeros: predictions are means of neighbours.
    fn default() -> Self {
        Self {
            all: [0.0; MAX_COEFFICIENTS],
        }
    }
}

impl Coefficients {
    /// The coefficients that a stream with these fitted levels has, from their bits; none if one of them is not finite.
    pub fn from_words(shape: Shape, fitted: u32, word: impl Fn(usize) -> u32) -> Option<Self> {
        let mut found = Self::default();
        for i in 0..stored(shape, fitted) {
            let coefficient = f32::from_bits(word(i));
            if !coefficient.is_finite() {
                return None;
            }
            found.set(number_of_stored(shape, fitted, i), &[coefficient]);
        }
        Some(found)
    }

    /// The coefficients that fit best, from the sums of all levels: see [`fit`](crate::predict::stencil::fit).
    pub fn of_sums(shape: Shape, sum: impl Fn(usize) -> u64) -> Self {
        let beyond = (1 << (3 - shape.rank())) - 1;
        let mut all = Self::default();
        for level in 0..GEOMETRY.levels(shape) {
            for odd in (1..8u32).filter(|odd| odd & beyond == 0) {
                let from = first_sum(shape, level, odd);
                let sum = |i: usize| sum(from + i).cast_signed();
                let first = first(shape, level, odd);
                let count = terms::count(shape, odd);
                let system = InArray::<MAX_TERMS, MAX_NUMBERS>::default();
                solve_stencil(odd, count, &system, sum);
                for i in 0..count {
                    all.set(first + i, &[system.get(i, count) as f32]);
                }
            }
        }
        all
    }

    /// The bits of the coefficients of fitted levels.
    pub fn words(&self, shape: Shape, fitted: u32) -> impl Iterator<Item = u32> {
        let numbers = 0..stored(shape, fitted);
        let numbers = numbers.map(move |i| number_of_stored(shape, fitted, i));
        numbers.map(|number| self.get::<f32>(number).to_bits())
    }

    /// Coefficient number `number`, as a number of the element type.
    #[inline(always)]
    pub fn get<T: Element>(&self, number: usize) -> T {
        T::from_f64(f64::from(self.all.get(number).copied().unwrap_or_default()))
    }

    /// Sets the coefficients from number `first` on.
    pub fn set(&mut self, first: usize, coefficients: &[f32]) {
        for (position, coefficient) in self.all.iter_mut().skip(first).zip(coefficients) {
            *position = *coefficient;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_set_of_axes_has_its_own() {
        for (shape, of_level, of_all) in [
            (Shape::Line, 1, 9),
            (Shape::Plane, 8, 32),
            (Shape::Cube, 27, 108),
        ] {
            assert_eq!(per_level(shape), of_level);
            assert_eq!(count(shape), of_all);
            let mut next = 0;
            for level in 0..GEOMETRY.levels(shape) {
                for odd in (1..8).filter(|odd| odd % (1 << (3 - shape.rank())) == 0) {
                    assert_eq!(first(shape, level, odd), next);
                    next += terms::count(shape, odd);
                }
            }
            assert_eq!(next, of_all);
        }
    }

    #[test]
    fn words_come_back() {
        let shape = Shape::Plane;
        let mut coefficients = Coefficients::default();
        coefficients.set(first(shape, 1, 2), &[0.25, -1.5]);
        coefficients.set(first(shape, 3, 6), &[0.125]);
        let flags = [0, 3, 7, 3, 0, 3].iter().rev();
        let fitted = fitted(shape, flags.fold(0, |all, flags| all << 3 | flags));
        assert_eq!(fitted, 0b1110);
        let words: Vec<u32> = coefficients.words(shape, fitted).collect();
        assert_eq!(words.len(), stored(shape, fitted));
        let read = |word: u32| {
            let word = |i: usize| if i == 7 { word } else { words[i] };
            Coefficients::from_words(shape, fitted, word)
        };
        assert_eq!(read(0), Some(coefficients));
        assert_eq!(read(f32::NAN.to_bits()), None);
        assert_eq!(read(f32::INFINITY.to_bits()), None);
    }
}
