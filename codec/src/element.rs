//! The element types, `f32` and `f64`, and the facts about their bits that the codec rests on.

use core::fmt;
use core::ops::{Add, Div, Mul, Sub};

/// An element type, as streams and command lines name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Dtype {
    /// All element types.
    pub const ALL: [Self; 2] = [Self::F32, Self::F64];

    /// Its number in the stream.
    pub const fn id(self) -> u8 {
        match self {
            Self::F32 => 1,
            Self::F64 => 2,
        }
    }

    /// The type of this number in the stream.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.id() == id)
    }

    /// `f32` or `f64`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
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

/// An expression in which `E` is the type of a name that is known only when the program runs.
///
/// ```
/// use ferrosz_codec::{Dtype, Element, with_element};
///
/// let dtype = Dtype::F64;
/// assert_eq!(with_element!(dtype, E => E::BYTES), 8);
/// ```
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, $E:ident => $body:expr) => {
        match $dtype {
            $crate::element::Dtype::F32 => {
                type $E = f32;
                $body
            }
            $crate::element::Dtype::F64 => {
                type $E = f64;
                $body
            }
        }
    };
}

/// Calls a macro with all element types behind its own arguments: the name, and the type.
#[macro_export]
macro_rules! each_element {
    ([$($macro:tt)+] $($arguments:tt)*) => {
        $($macro)+! { $($arguments)* ("f32" f32) ("f64" f64) }
    };
}

/// A floating-point type that ferrosz compresses: `f32` or `f64`.
pub trait Element:
    bytemuck::Pod
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Default
    + fmt::Debug
    + fmt::Display
    + fmt::LowerExp
    + Send
    + Sync
    + sealed::Sealed
    + 'static
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
    /// Not a number.
    const NAN: Self;
    /// 1.5 * 2^p, p the number of stored mantissa bits: added to a small number, it leaves that
    /// number, rounded to the nearest integer (ties to even), in the low bits.
    const ROUNDING_MAGIC: Self;
    /// The low 32 bits of [`Element::ROUNDING_MAGIC`].
    const ROUNDING_MAGIC_BITS: u32;
    /// Numbers of at most this magnitude are rounded rightly by [`Element::ROUNDING_MAGIC`].
    const ROUNDING_LIMIT: Self;
    /// A number that is less than this from an integer is clearly nearer to it than to others: 1/2 - 2^-13.
    const CLEARLY_NEAREST: Self;

    /// The bits, in the low end.
    fn to_bits64(self) -> u64;
    /// The value of these bits; the high half is ignored for `f32`.
    fn from_bits64(bits: u64) -> Self;
    /// The low 32 of the bits.
    fn low_bits(self) -> u32;
    /// The magnitude.
    fn abs(self) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// The smaller of two; the other of one that is NaN.
    fn smaller(self, other: Self) -> Self;
    /// The larger of two; the other of one that is NaN.
    fn larger(self, other: Self) -> Self;
    /// The value of an integer, rounded to nearest even.
    fn from_i32(value: i32) -> Self;
    /// The value's integer part; the value must lie within the range of `i32`.
    fn truncate(self) -> i32;
    /// The value's integer part as CUDA converts it: saturating, and NaN gives 0 from `f32` and
    /// `i32::MIN` from `f64`.
    fn to_i32_as_cuda(self) -> i32;
    /// Exactly this value in `f64`.
    fn to_f64(self) -> f64;
    /// The largest finite value of this type that is at most `value`; `value` is finite and not
    /// negative.
    fn from_f64_down(value: f64) -> Self;
    /// `ONE / self`, rounded to nearest even.
    fn reciprocal(self) -> Self;
    /// The nearest value to `value`, ties to even.
    fn from_f64(value: f64) -> Self;
    /// `self / 3`, rounded to nearest even; of -0, 0; of what is not finite, not finite.
    //
    // Divisions are dear, and on a GPU so are wider numbers: but the guess is off by a unit in the last place at most,
    // the rest is exact (differences of numbers so close are), and a third of a number is never half-way between two
    // others. The third of the rest is rounded, to a multiple of the smallest number at the finest, and that must not make
    // it half a unit in the last place of the quotient. It does where that unit is twice the smallest number. So twice the
    // quotient is found, and halved; but for small numbers, whose halves may be rounded once more, the quotient itself.
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

    /// `self / 5`, rounded to nearest even, and an eighth of that, rounded so again; of what is not finite, not finite.
    //
    // As for [`Element::third`]; where the rounding of the fifth goes wrong, the eighth of it is subnormal and comes out
    // the same.
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

    /// The value of these words, low word first; the second is ignored for `f32`.
    #[inline(always)]
    fn from_words(words: [u32; 2]) -> Self {
        Self::from_bits64(u64::from(words[0]) | u64::from(words[1]) << 32)
    }

    /// A number that orders all finite values as they are ordered, -0 below +0, and is never 0.
    fn order_key(self) -> u64;
    /// The value of an order key.
    fn from_order_key(key: u64) -> Self;
}

/// What to combine with the bits of a value for their order: all ones for negative values, the
/// sign bit alone for the others.
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
    const NAN: Self = f32::NAN;
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
    const NAN: Self = f64::NAN;
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

    /// The third of `mantissa * 2^exponent`, rounded to nearest even, as the bits of a number of `stored` mantissa
    /// bits whose smallest one is 2^smallest; in integers.
    fn exact_third(mantissa: u64, exponent: i32, stored: u32, smallest: i32) -> u64 {
        // The third has more than enough bits: mantissa * 2^56 / 3.
        let widened = u128::from(mantissa) << 56;
        let bits = u128::BITS - (widened / 3).leading_zeros();
        let excess = (bits as i32 - (stored as i32 + 1)).max(smallest - (exponent - 56));
        let divisor = 3u128 << excess;
        let (quotient, rest) = (widened / divisor, widened % divisor);
        let is_up = 2 * rest > divisor || 2 * rest == divisor && quotient % 2 == 1;
        let quotient = (quotient + u128::from(is_up)) as u64;
        let scale = (exponent - 56 + excess - smallest) as u64;
        // A carry into the exponent is right.
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

    #[test]
    fn thirds_of_f32_are_quotients() {
        // All mantissas in the exponents around subnormal results, and at the top.
        for exponent in (0..=6).chain([127, 253, 254]) {
            for mantissa in 0..1u32 << 23 {
                let x = f32::from_bits(exponent << 23 | mantissa);
                let third = x.third();
                assert_eq!(third.to_bits(), (x / 3.0).to_bits(), "{x:e}");
                if mantissa % 5 == exponent % 5 {
                    assert_eq!(third.to_bits(), exact_third_f32(x), "{x:e}");
                    assert_eq!((-x).third(), -third);
                }
            }
        }
        // Some in all exponents.
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
        // All mantissas, in the exponents where results are normal, subnormal and between, and subnormal themselves.
        for exponent in (0..=8).chain([127, 128, 254]) {
            for mantissa in 0..1u32 << 23 {
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
