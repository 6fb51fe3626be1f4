//! The element types, `f32` and `f64`, and the properties of their bits that the codec depends on.

#[cfg(feature = "toy")]
mod toy_element;

use crate::value::{Value, ValueType};
use core::fmt;
use core::ops::{Add, Div, Mul, Sub};

#[cfg(feature = "toy")]
pub use toy_element::ToyElement;

// Each row is a type: its documentation, its variant, which is that of its value type, too, and its name. `$d` is a dollar
// sign, for the macros that this macro defines.
macro_rules! element_types {
    ($d:tt $($(#[doc = $doc:literal])+ $variant:ident, $name:literal;)+) => {
        /// An element type with its names in streams and on command lines.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Dtype {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Dtype {
            /// All element types.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The value type whose values are coded as they are.
            pub const fn value_type(self) -> ValueType {
                match self {
                    $(Self::$variant => ValueType::$variant,)+
                }
            }
        }

        /// An expression in which `E` is the element type that `dtype` names at run time.
        ///
        /// ```
        /// use ferrosz_codec::{Dtype, Element, with_element};
        ///
        /// let dtype = Dtype::F64;
        /// assert_eq!(with_element!(dtype, E => E::BYTES), 8);
        /// ```
        #[macro_export]
        macro_rules! with_element {
            ($d dtype:expr, $d E:ident => $d body:expr) => {
                match $d dtype {
                    $($crate::element::Dtype::$variant => {
                        type $d E = $crate::value::types::$variant;
                        $d body
                    })+
                }
            };
        }

        /// Calls a macro with its own arguments, followed by the name and type of every element type.
        #[macro_export]
        macro_rules! each_element {
            ([$d ($d macro:tt)+] $d ($d arguments:tt)*) => {
                $d ($d macro)+! { $d ($d arguments)* $(($name $crate::value::types::$variant))+ }
            };
        }
    };
}

with_toys! { element_types! { $
    /// IEEE 754 binary32.
    F32, "f32";
    /// IEEE 754 binary64.
    F64, "f64";
}
    /// IEEE 754 binary32 by another name.
    ToyElement, "toy_element";
}

impl Dtype {
    /// The number of the type in the stream.
    pub const fn id(self) -> u8 {
        self.value_type().id()
    }

    /// The type with this number in the stream.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.id() == id)
    }

    /// `f32` or `f64`.
    pub const fn name(self) -> &'static str {
        self.value_type().name()
    }

    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        self.value_type().bytes()
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A floating-point type that ferrosz compresses: `f32` or `f64`.
pub trait Element:
    Value<Coded = Self>
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + sealed::Sealed
{
    /// The type's name in streams.
    const DTYPE: Dtype;
    /// Bytes of one element.
    const BYTES: usize = Self::DTYPE.bytes();
    /// 32-bit words of one element.
    const WORDS: usize = Self::BYTES / 4;
    /// Positive zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// One half.
    const HALF: Self;
    /// The largest finite value.
    const MAX: Self;
    /// The smallest positive value of full precision.
    const MIN_NORMAL: Self;
    /// Stored bits of the mantissa.
    const MANTISSA_BITS: u32;
    /// The exponent field of 1.
    const EXPONENT_BIAS: i32;
    /// The bit of the sign.
    const SIGN_BIT: u64 = 1 << (8 * Self::BYTES - 1);
    /// The nearest value to the square root of 1/2.
    const SQRT_HALF: Self;
    /// Not a number.
    const NAN: Self;
    /// The value that stands for elements of a mask's classes in a coded field: the quiet NaN without a sign and
    /// payload.
    const HOLE: Self;
    /// 1.5 * 2^p, where p is the number of stored mantissa bits. The low bits of the sum with a small number are that
    /// number, rounded to the nearest integer (ties to even).
    const ROUNDING_MAGIC: Self;
    /// The low 32 bits of [`Element::ROUNDING_MAGIC`].
    const ROUNDING_MAGIC_BITS: u32;
    /// [`Element::ROUNDING_MAGIC`] rounds numbers of at most this magnitude correctly.
    const ROUNDING_LIMIT: Self;
    /// A number whose distance from an integer is less than this is clearly nearest to that integer: 1/2 - 2^-13.
    const CLEARLY_NEAREST: Self;

    /// The bits, in the low end of the result.
    fn to_bits64(self) -> u64;
    /// The value of these bits; the high half is ignored for `f32`.
    fn from_bits64(bits: u64) -> Self;
    /// The low 32 of the bits.
    fn low_bits(self) -> u32;
    /// The magnitude.
    fn abs(self) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// Whether it has the bits of [`Element::HOLE`].
    #[inline(always)]
    fn is_hole(self) -> bool {
        self.to_bits64() == Self::HOLE.to_bits64()
    }
    /// The smaller of two values; if one is NaN, the other.
    fn smaller(self, other: Self) -> Self;
    /// The larger of two values; if one is NaN, the other.
    fn larger(self, other: Self) -> Self;
    /// The value of an integer, rounded to nearest even.
    fn from_i32(value: i32) -> Self;
    /// The integer part of the value, which must be within the range of `i32`.
    fn truncate(self) -> i32;
    /// The integer part of the value as CUDA converts it: saturating; for NaN 0 from `f32` and `i32::MIN` from `f64`.
    fn to_i32_as_cuda(self) -> i32;
    /// The same value in `f64`, exact.
    fn to_f64(self) -> f64;
    /// The largest finite value of this type that is at most `value`, which is finite and not negative.
    fn from_f64_down(value: f64) -> Self;
    /// `ONE / self`, rounded to nearest even.
    fn reciprocal(self) -> Self;
    /// The nearest value to `value`, ties to even.
    fn from_f64(value: f64) -> Self;
    /// `self / 3`, rounded to nearest even; 0 for -0; not finite if `self` is not finite.
    //
    // Divisions are slow, and on a GPU wider numbers are slow too. The guess is off by at most one unit in the last
    // place, the rest is exact (it is a difference of close numbers), and a third of a number is never half-way between
    // two others. The third of the rest is rounded to a multiple of the smallest number at the finest. This rounding
    // must not turn it into half a unit in the last place of the quotient, which can happen if that unit is twice the
    // smallest number. So twice the quotient is computed and halved. For small numbers the halving could round a second
    // time, so the quotient itself is computed.
    #[inline(always)]
    fn third(self) -> Self {
        let third = Self::from_i32(3).reciprocal();
        let guess = self * third;
        let doubled = guess + guess;
        let rest = (self - doubled) - guess;
        if self.abs() < Self::from_i32(6) * Self::MIN_NORMAL {
            guess + rest * third
        } else {
            (doubled + rest * (third + third)) * Self::HALF
        }
    }

    /// `self / 5`, rounded to nearest even, and an eighth of that, rounded in the same way; not finite if `self` is not
    /// finite.
    //
    // The computation is that of [`Element::third`]. Where the rounding of the fifth goes wrong, the eighth of it is
    // subnormal and the same as without the error.
    #[inline(always)]
    fn fortieth(self) -> Self {
        let fifth = Self::from_i32(5).reciprocal();
        let guess = self * fifth;
        let rest = (self - Self::from_i32(4) * guess) - guess;
        (guess + rest * fifth) * Self::from_i32(8).reciprocal()
    }

    /// The value's bits as words, low word first; `f32` has one, and the second is zero.
    #[inline(always)]
    fn to_words(self) -> [u32; 2] {
        let bits = self.to_bits64();
        [bits as u32, (bits >> 32) as u32]
    }

    /// The value of these words, low word first; for `f32` the second is ignored.
    #[inline(always)]
    fn from_words(words: [u32; 2]) -> Self {
        Self::from_bits64(u64::from(words[0]) | u64::from(words[1]) << 32)
    }

    /// A number that orders all finite values like the values themselves, with -0 below +0; never 0.
    fn order_key(self) -> u64;
    /// The value of an order key.
    fn from_order_key(key: u64) -> Self;
}

/// The mask that is combined with the bits of a value to order values: all ones for negative values, the sign bit alone
/// for others.
const fn order_mask(bits: u64, sign_bit: u32) -> u64 {
    let sign = 1u64 << sign_bit;
    if bits & sign != 0 {
        sign | (sign - 1)
    } else {
        sign
    }
}

impl Element for f32 {
    const DTYPE: Dtype = Dtype::F32;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const MAX: Self = f32::MAX;
    const MIN_NORMAL: Self = f32::MIN_POSITIVE;
    const MANTISSA_BITS: u32 = f32::MANTISSA_DIGITS - 1;
    const EXPONENT_BIAS: i32 = f32::MAX_EXP - 1;
    const SQRT_HALF: Self = core::f32::consts::FRAC_1_SQRT_2;
    const NAN: Self = f32::NAN;
    const HOLE: Self = f32::from_bits(0x7fc0_0000);
    const ROUNDING_MAGIC: Self = 12_582_912.0;
    const ROUNDING_MAGIC_BITS: u32 = Self::ROUNDING_MAGIC.to_bits();
    const ROUNDING_LIMIT: Self = 4_194_304.0;
    const CLEARLY_NEAREST: Self = 0.5 - 1.0 / 8192.0;

    #[inline(always)]
    fn to_bits64(self) -> u64 {
        u64::from(self.to_bits())
    }

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }

    #[inline(always)]
    fn low_bits(self) -> u32 {
        self.to_bits()
    }

    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        self.min(other)
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.max(other)
    }

    #[inline(always)]
    fn from_i32(value: i32) -> Self {
        value as f32
    }

    #[inline(always)]
    fn truncate(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn to_i32_as_cuda(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn from_f64_down(value: f64) -> Self {
        let nearest = value as f32;
        if nearest.to_f64() > value {
            nearest.next_down()
        } else {
            nearest
        }
    }

    #[inline(always)]
    fn reciprocal(self) -> Self {
        1.0 / self
    }

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn order_key(self) -> u64 {
        let bits = self.to_bits64();
        bits ^ order_mask(bits, 31)
    }

    #[inline(always)]
    fn from_order_key(key: u64) -> Self {
        Self::from_bits64(key ^ order_mask(!key, 31))
    }
}

impl Element for f64 {
    const DTYPE: Dtype = Dtype::F64;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const MAX: Self = f64::MAX;
    const MIN_NORMAL: Self = f64::MIN_POSITIVE;
    const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    const EXPONENT_BIAS: i32 = f64::MAX_EXP - 1;
    const SQRT_HALF: Self = core::f64::consts::FRAC_1_SQRT_2;
    const NAN: Self = f64::NAN;
    const HOLE: Self = f64::from_bits(0x7ff8_0000_0000_0000);
    const ROUNDING_MAGIC: Self = 6_755_399_441_055_744.0;
    const ROUNDING_MAGIC_BITS: u32 = Self::ROUNDING_MAGIC.to_bits() as u32;
    const ROUNDING_LIMIT: Self = 1_073_741_823.0;
    const CLEARLY_NEAREST: Self = 0.5 - 1.0 / 8192.0;

    #[inline(always)]
    fn to_bits64(self) -> u64 {
        self.to_bits()
    }

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        f64::from_bits(bits)
    }

    #[inline(always)]
    fn low_bits(self) -> u32 {
        self.to_bits() as u32
    }

    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        self.min(other)
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.max(other)
    }

    #[inline(always)]
    fn from_i32(value: i32) -> Self {
        f64::from(value)
    }

    #[inline(always)]
    fn truncate(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn to_i32_as_cuda(self) -> i32 {
        if self.is_nan() { i32::MIN } else { self as i32 }
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn from_f64_down(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn reciprocal(self) -> Self {
        1.0 / self
    }

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn order_key(self) -> u64 {
        let bits = self.to_bits();
        bits ^ order_mask(bits, 63)
    }

    #[inline(always)]
    fn from_order_key(key: u64) -> Self {
        f64::from_bits(key ^ order_mask(!key, 63))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_keys_order<T: Element>(ascending: &[T]) {
        for pair in ascending.windows(2) {
            assert!(pair[0].order_key() < pair[1].order_key(), "{pair:?}");
        }
        for &x in ascending {
            assert_eq!(T::from_order_key(x.order_key()).to_bits64(), x.to_bits64());
            assert_ne!(x.order_key(), 0);
        }
    }

    #[test]
    fn order_keys_order_all_finite_values() {
        order_keys_order(&[f32::MIN, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::MAX]);
        order_keys_order(&[f64::MIN, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, f64::MAX]);
    }

    /// The third of `mantissa * 2^exponent`, rounded to nearest even, computed in integers. The result is the bits of a
    /// number with `stored` mantissa bits and a smallest number of 2^smallest.
    fn exact_third(mantissa: u64, exponent: i32, stored: u32, smallest: i32) -> u64 {
        // More bits of the third than necessary: mantissa * 2^56 / 3.
        let widened = u128::from(mantissa) << 56;
        let bits = u128::BITS - (widened / 3).leading_zeros();
        let excess = (bits as i32 - (stored as i32 + 1)).max(smallest - (exponent - 56));
        let divisor = 3u128 << excess;
        let (quotient, rest) = (widened / divisor, widened % divisor);
        let is_up = 2 * rest > divisor || 2 * rest == divisor && quotient % 2 == 1;
        let quotient = (quotient + u128::from(is_up)) as u64;
        let scale = (exponent - 56 + excess - smallest) as u64;
        // A carry into the exponent gives the correct result.
        quotient + (scale << stored)
    }

    fn exact_third_f32(x: f32) -> u32 {
        let (sign, bits) = (x.to_bits() & 1 << 31, x.to_bits() & !(1 << 31));
        let (exponent, mantissa) = ((bits >> 23).max(1), bits & 0x7f_ffff);
        let mantissa = mantissa | u32::from(bits >> 23 > 0) << 23;
        let third = exact_third(u64::from(mantissa), exponent as i32 - 150, 23, -149);
        sign | third as u32
    }

    fn exact_third_f64(x: f64) -> u64 {
        let (sign, bits) = (x.to_bits() & 1 << 63, x.to_bits() & !(1 << 63));
        let (exponent, mantissa) = ((bits >> 52).max(1), bits & ((1 << 52) - 1));
        let mantissa = mantissa | u64::from(bits >> 52 > 0) << 52;
        sign | exact_third(mantissa, exponent as i32 - 1075, 52, -1074)
    }

    /// A usual run takes one mantissa in so many, a campaign all of them.
    fn step() -> usize {
        extern crate std;
        if std::env::var_os("FERROSZ_CASES").is_some() {
            1
        } else {
            9
        }
    }

    #[test]
    fn thirds_of_f32_are_quotients() {
        // All mantissas with exponents around subnormal results and at the top.
        for exponent in (0..=6).chain([127, 253, 254]) {
            for mantissa in (exponent % step() as u32..1u32 << 23).step_by(step()) {
                let x = f32::from_bits(exponent << 23 | mantissa);
                let third = x.third();
                assert_eq!(third.to_bits(), (x / 3.0).to_bits(), "{x:e}");
                if mantissa % 5 == exponent % 5 {
                    assert_eq!(third.to_bits(), exact_third_f32(x), "{x:e}");
                    assert_eq!((-x).third(), -third);
                }
            }
        }
        // Some mantissas with all exponents.
        for bits in (0..0x7f80_0000u32).step_by(4099) {
            let x = f32::from_bits(bits);
            assert_eq!(x.third().to_bits(), exact_third_f32(x), "{x:e}");
        }
    }

    #[test]
    fn thirds_of_f64_are_quotients() {
        let mut random = 1u64;
        for exponent in (0..=8).chain([1023, 2045, 2046]) {
            for _ in 0..1 << 20 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let x = f64::from_bits(exponent << 52 | random >> 12);
                assert_eq!(x.third().to_bits(), exact_third_f64(x), "{x:e}");
            }
            for last in 0..1 << 12 {
                for mantissa in [last, (1 << 52) - 1 - last, (1 << 51) + last] {
                    let x = f64::from_bits(exponent << 52 | mantissa);
                    assert_eq!(x.third().to_bits(), exact_third_f64(x), "{x:e}");
                }
            }
        }
    }

    #[test]
    fn fortieths_are_quotients() {
        // All mantissas with exponents at which results are normal, subnormal or both, or the numbers are subnormal.
        for exponent in (0..=8).chain([127, 128, 254]) {
            for mantissa in (exponent % step() as u32..1u32 << 23).step_by(step()) {
                let x = f32::from_bits(exponent << 23 | mantissa);
                assert_eq!(x.fortieth(), x / 5.0 / 8.0, "{x:e}");
            }
        }
        for x in [
            1.0,
            0.1,
            1e300,
            -7e-310,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
        ] {
            for ulps in 0..10_000 {
                let x = f64::from_bits(x.to_bits() - ulps.min(x.to_bits()));
                assert_eq!(x.fortieth(), x / 5.0 / 8.0, "{x:e}");
            }
        }
    }

    #[test]
    fn parts_of_what_is_not_finite_are_not_finite() {
        for x in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(!x.third().is_finite() && !x.fortieth().is_finite());
        }
        assert_eq!((-0.0f32).third(), 0.0);
    }

    #[test]
    fn rounding_down_never_rounds_up() {
        for value in [0.1, 0.3, 1e-46, 1e-45, 1e300, 3.5e38, 0.5, 0.0] {
            let down = f32::from_f64_down(value);
            assert!(down.to_f64() <= value && down.is_finite(), "{value}");
            assert!(
                down == f32::MAX || down.next_up().to_f64() > value,
                "{value}"
            );
        }
    }
}
