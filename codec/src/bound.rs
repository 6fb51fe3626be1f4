//! The user's error bound, and the step of quantisation that follows from it.
//!
//! The guarantee is for the number that the user gave: for every finite x, |x - x'| <= e in exact arithmetic. So every
//! rounding between that number and the working values is downwards.

use crate::element::Element;
use crate::error::BoundError;
use crate::mapping::logarithm;
use crate::quantize::field::Quantizer;
use core::fmt;

/// The quantity that an error bound is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoundMode {
    /// The bound is an absolute number.
    Abs,
    /// The range max - min of the field's finite values. SZ, cuSZ, cuSZp and their papers call
    /// this REL, others NOA.
    Range,
    /// The largest magnitude max|x| of the field's finite values. FZGPUModules calls this REL.
    Max,
    /// Each value: |x - x'| <= E |x|. SZ calls this PW_REL, PFPL calls it REL. Signs and zeros come back.
    Pwrel,
}

impl BoundMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Abs, Self::Range, Self::Max, Self::Pwrel];

    /// Its number in the stream.
    pub const fn id(self) -> u8 {
        match self {
            Self::Abs => 0,
            Self::Range => 1,
            Self::Max => 2,
            Self::Pwrel => 3,
        }
    }

    /// The mode of this number in the stream.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.id() == id)
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Range => "range",
            Self::Max => "max",
            Self::Pwrel => "pwrel",
        }
    }
}

impl fmt::Display for BoundMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error bound as the user gives it: a mode and a number, finite and not negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    mode: BoundMode,
    value: f64,
}

impl Default for Bound {
    /// Lossless.
    fn default() -> Self {
        Self {
            mode: BoundMode::Abs,
            value: 0.0,
        }
    }
}

impl Bound {
    /// A bound of `value` in `mode`.
    ///
    /// # Errors
    ///
    /// [`BoundError`] if `value` is negative, NaN or infinite. Zero is allowed: lossless.
    pub fn new(mode: BoundMode, value: f64) -> Result<Self, BoundError> {
        if !value.is_finite() {
            return Err(BoundError::NotFinite(value));
        }
        if value < 0.0 {
            return Err(BoundError::Negative(value));
        }
        // -0.0 passes the test above; its sign must not be stored in the stream.
        Ok(Self {
            mode,
            value: value.abs(),
        })
    }

    /// An absolute bound; see [`Bound::new`].
    ///
    /// # Errors
    ///
    /// As [`Bound::new`].
    pub fn abs(value: f64) -> Result<Self, BoundError> {
        Self::new(BoundMode::Abs, value)
    }

    /// A bound relative to the range of the finite values; see [`Bound::new`].
    ///
    /// # Errors
    ///
    /// As [`Bound::new`].
    pub fn range(value: f64) -> Result<Self, BoundError> {
        Self::new(BoundMode::Range, value)
    }

    /// A bound relative to the largest magnitude; see [`Bound::new`].
    ///
    /// # Errors
    ///
    /// As [`Bound::new`].
    pub fn max(value: f64) -> Result<Self, BoundError> {
        Self::new(BoundMode::Max, value)
    }

    /// A bound relative to each value; see [`Bound::new`].
    ///
    /// Zeros and signs come back, and so do subnormal numbers, NaNs and infinities bit for bit. The stream is lossless
    /// if the bound is below 6.7e-6 for `f32`, or 1e-13 for `f64`.
    ///
    /// # Errors
    ///
    /// As [`Bound::new`].
    pub fn pwrel(value: f64) -> Result<Self, BoundError> {
        Self::new(BoundMode::Pwrel, value)
    }

    /// The quantity that the bound is relative to.
    pub fn mode(&self) -> BoundMode {
        self.mode
    }

    /// The number the user gave.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Whether the extremes of the field must be known to resolve the bound.
    pub fn needs_extremes(&self) -> bool {
        match self.mode {
            BoundMode::Range | BoundMode::Max => true,
            BoundMode::Abs | BoundMode::Pwrel => false,
        }
    }

    /// The quantiser of a bound that is relative to `base`, which is finite and not negative. It is not read unless
    /// [`Bound::needs_extremes`]. With [`BoundMode::Pwrel`] it is the quantiser of logarithms.
    pub fn resolve_of<T: Element>(&self, base: f64) -> Quantizer<T> {
        Quantizer::from_error(T::from_f64_down(self.absolute_of::<T>(base)))
    }

    /// The absolute error, rounded down, of a bound that is relative to `base`.
    fn absolute_of<T: Element>(&self, base: f64) -> f64 {
        match self.mode {
            BoundMode::Abs => self.value,
            BoundMode::Range | BoundMode::Max => multiply_down(self.value, base),
            BoundMode::Pwrel => logarithm::error::<T>(self.value),
        }
    }

    /// The number that a relative bound is multiplied by, for a field with these extremes; 0 for other bounds.
    fn base<T: Element>(&self, extremes: &Extremes<T>) -> f64 {
        match self.mode {
            BoundMode::Abs | BoundMode::Pwrel => 0.0,
            BoundMode::Range => extremes.range_down(),
            BoundMode::Max => extremes.largest_magnitude(),
        }
    }

    /// The absolute error, rounded down, on a field with these extremes. With [`BoundMode::Pwrel`] it is that of
    /// logarithms.
    pub fn absolute<T: Element>(&self, extremes: &Extremes<T>) -> f64 {
        self.absolute_of::<T>(self.base(extremes))
    }

    /// The quantiser that keeps this bound on a field with these extremes. They are not read unless
    /// [`Bound::needs_extremes`].
    /// It is lossless if the absolute bound is 0, or too small for `T`.
    pub fn resolve<T: Element>(&self, extremes: &Extremes<T>) -> Quantizer<T> {
        self.resolve_of(self.base(extremes))
    }
}

/// Smallest and largest finite value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extremes<T> {
    /// Greater than `max` while no value was seen.
    min: T,
    max: T,
}

impl<T: Element> Default for Extremes<T> {
    fn default() -> Self {
        Self {
            min: T::MAX,
            max: T::ZERO - T::MAX,
        }
    }
}

impl<T: Element> Extremes<T> {
    /// The extremes from the result of [`Extremes::to_cells`]. Two zeros mean that no value was seen.
    pub fn from_cells([inverted_min, max]: [u64; 2]) -> Self {
        if max == 0 {
            return Self::default();
        }
        Self {
            min: T::from_order_key(u64::MAX - inverted_min),
            max: T::from_order_key(max),
        }
    }

    /// The extremes as two numbers that start from 0 and only grow as values are seen. The union of two sets of values
    /// has the larger number of each pair.
    #[inline(always)]
    pub fn to_cells(self) -> [u64; 2] {
        if self.min <= self.max {
            [u64::MAX - self.min.order_key(), self.max.order_key()]
        } else {
            [0, 0]
        }
    }

    /// The extremes of both sets of values.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.smaller(other.min),
            max: self.max.larger(other.max),
        }
    }

    /// Takes a value into account; ignores NaN and infinities.
    #[inline(always)]
    pub fn see(&mut self, value: T) {
        let value = if value.is_finite() { value } else { T::NAN };
        self.min = self.min.smaller(value);
        self.max = self.max.larger(value);
    }

    /// Smallest and largest finite value; none if no value was finite.
    pub fn values(&self) -> Option<(T, T)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }

    /// The largest f64 that is at most max - min; 0 without finite values.
    pub fn range_down(&self) -> f64 {
        self.values()
            .map_or(0.0, |(min, max)| subtract_down(max.to_f64(), min.to_f64()))
    }

    /// max|x|; 0 without finite values.
    fn largest_magnitude(&self) -> f64 {
        self.values()
            .map_or(0.0, |(min, max)| min.to_f64().abs().max(max.to_f64().abs()))
    }
}

/// The largest finite f64 that is at most `a - b`, for finite `a >= b`.
pub(crate) fn subtract_down(a: f64, b: f64) -> f64 {
    let difference = a - b;
    if difference > f64::MAX {
        return f64::MAX;
    }
    // Knuth's TwoSum of a and -b: `rest` is the exact rounding error. If the sum is so large that an intermediate
    // result overflows, `rest` is NaN, and rounding down is safe.
    let b_part = difference - a;
    let rest = (a - (difference - b_part)) - (b + b_part);
    if rest >= 0.0 {
        difference
    } else {
        difference.next_down()
    }
}

/// The largest finite f64 that is at most `a * b`, for finite `a` and `b` that are not negative.
fn multiply_down(a: f64, b: f64) -> f64 {
    let product = a * b;
    if product > f64::MAX {
        return f64::MAX;
    }
    if product == 0.0 {
        return 0.0;
    }
    if is_above_product(product, a, b) {
        product.next_down()
    } else {
        product
    }
}

/// Whether `c > a * b` exactly. `c` is `a * b` rounded; all are positive and finite.
fn is_above_product(c: f64, a: f64, b: f64) -> bool {
    let (a_mantissa, a_exponent) = decompose(a);
    let (b_mantissa, b_exponent) = decompose(b);
    let (c_mantissa, c_exponent) = decompose(c);
    let product = u128::from(a_mantissa) * u128::from(b_mantissa);
    let shift = c_exponent - (a_exponent + b_exponent);
    // c is the rounded product, so the two differ by less than a factor of two, and neither shift loses bits: c has at
    // most 53 bits, the product at most 106.
    if shift >= 0 {
        (u128::from(c_mantissa) << shift) > product
    } else {
        u128::from(c_mantissa) > product << -shift
    }
}

/// Integer mantissa and exponent of a finite positive number: value = mantissa * 2^exponent.
fn decompose(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52) as i32 {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent - 1075),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    fn exact(value: f64) -> BigRational {
        BigRational::from_float(value).unwrap()
    }

    fn is_largest_below(found: f64, wanted: &BigRational) {
        assert!(&exact(found) <= wanted);
        let above = found.next_up();
        assert!(!above.is_finite() || &exact(above) > wanted, "{found:e}");
    }

    /// A finite number of any magnitude, also subnormal.
    fn any_finite(rng: &mut SmallRng) -> f64 {
        loop {
            let value = f64::from_bits(rng.random());
            if value.is_finite() {
                return value;
            }
        }
    }

    #[test]
    fn products_are_rounded_down() {
        let mut rng = SmallRng::seed_from_u64(1);
        for _ in 0..20_000 {
            let (a, b) = (any_finite(&mut rng).abs(), any_finite(&mut rng).abs());
            is_largest_below(multiply_down(a, b), &(exact(a) * exact(b)));
            let near = f64::from(rng.random_range(1..50u32)) * 0.25;
            is_largest_below(multiply_down(near, 1e-3), &(exact(near) * exact(1e-3)));
        }
    }

    #[test]
    fn differences_are_rounded_down() {
        let mut rng = SmallRng::seed_from_u64(2);
        for _ in 0..20_000 {
            let (a, b) = (any_finite(&mut rng), any_finite(&mut rng));
            let scale = any_finite(&mut rng);
            let near = scale * (1.0 + rng.random::<f64>());
            for (a, b) in [(a, b), (scale, near)] {
                if a.is_finite() && b.is_finite() {
                    let (a, b) = (a.max(b), a.min(b));
                    let found = subtract_down(a, b);
                    let wanted = exact(a) - exact(b);
                    assert!(exact(found) <= wanted);
                    // Above 2^1022, where TwoSum overflows, the result may be one unit too low.
                    if a.abs().max(b.abs()) < f64::MAX / 4.0 {
                        is_largest_below(found, &wanted);
                    }
                }
            }
        }
    }

    #[test]
    fn extremes_pass_over_what_is_not_finite() {
        let mut extremes = Extremes::<f32>::default();
        assert_eq!(extremes.values(), None);
        for x in [f32::NAN, 3.0, f32::INFINITY, -2.0, f32::NEG_INFINITY] {
            extremes.see(x);
        }
        assert_eq!(extremes.values(), Some((-2.0, 3.0)));
        assert_eq!(Extremes::from_cells(extremes.to_cells()), extremes);
        let none = Extremes::<f32>::default();
        assert_eq!(none.to_cells(), [0, 0]);
        assert_eq!(Extremes::from_cells([0, 0]), none);
        assert_eq!(none.union(extremes), extremes);
        let bound = Bound::range(0.1).unwrap();
        assert_eq!(bound.resolve(&extremes).error(), 0.5);
    }

    #[test]
    fn bad_bounds_are_refused() {
        assert_eq!(Bound::abs(-1.0), Err(BoundError::Negative(-1.0)));
        assert!(matches!(
            Bound::max(f64::NAN),
            Err(BoundError::NotFinite(_))
        ));
        assert!(Bound::range(f64::INFINITY).is_err());
        assert_eq!(Bound::abs(-0.0).unwrap().value().to_bits(), 0);
    }
}
