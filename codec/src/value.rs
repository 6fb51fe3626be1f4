//! The value types: the types of the fields that users have.
//!
//! The codecs code `f32` and `f64`, the element types ([`crate::element`]). A field of another value type is converted to
//! an element type first, and converted back last: see [`crate::mapping::conversion`].

#[cfg(feature = "toy")]
use crate::element::ToyElement;
use crate::element::{Dtype, Element};
use core::fmt;
use half::{bf16, f16};

// Each row is a type: its documentation, its variant, its number in the stream, its name, the type of its values, and the
// type of the elements that stand for them. `$d` is a dollar sign, for the macro that this macro defines.
macro_rules! value_types {
    ($d:tt $($(#[doc = $doc:literal])+ $variant:ident = $id:literal, $name:literal, $V:ty, $coded:ident;)+) => {
        /// The type of a field's values, with its names in streams and on command lines.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ValueType {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ValueType {
            /// All value types, in the order of their numbers in the stream.
            pub const ALL: [Self; [$($id),+].len()] = [$(Self::$variant),+];

            /// The number of the type in the stream.
            pub const fn id(self) -> u8 {
                match self {
                    $(Self::$variant => $id,)+
                }
            }

            /// `f32`, `f64`, `f16`, `bf16`, `i16`, `u16`, `i32` or `u32`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Bytes of one value.
            pub const fn bytes(self) -> usize {
                match self {
                    $(Self::$variant => size_of::<$V>(),)+
                }
            }

            /// The type of the elements that stand for its values in a coded field.
            pub const fn coded(self) -> Dtype {
                match self {
                    $(Self::$variant => Dtype::$coded,)+
                }
            }
        }

        /// The type of the values of each value type, by the name of its variant.
        #[doc(hidden)]
        pub mod types {
            $($(#[doc = $doc])+ pub type $variant = $V;)+
        }

        /// An expression in which `V` is the type that a [`ValueType`] names at run time.
        ///
        /// ```
        /// use ferrosz_codec::{Value, ValueType, with_value};
        ///
        /// let value_type = ValueType::U16;
        /// assert_eq!(with_value!(value_type, V => V::from_value_bits(0xffff).to_number()), 65535.0);
        /// ```
        #[macro_export]
        macro_rules! with_value {
            ($d value_type:expr, $d V:ident => $d body:expr) => {
                match $d value_type {
                    $($crate::value::ValueType::$variant => {
                        type $d V = $crate::value::types::$variant;
                        $d body
                    })+
                }
            };
        }
    };
}

with_toys! { value_types! { $
    /// IEEE 754 binary32.
    F32 = 1, "f32", f32, F32;
    /// IEEE 754 binary64.
    F64 = 2, "f64", f64, F64;
    /// IEEE 754 binary16.
    F16 = 3, "f16", half::f16, F32;
    /// bfloat16: the upper half of a binary32.
    Bf16 = 4, "bf16", half::bf16, F32;
    /// Signed integers of 16 bits.
    I16 = 5, "i16", i16, F32;
    /// Unsigned integers of 16 bits.
    U16 = 6, "u16", u16, F32;
    /// Signed integers of 32 bits.
    I32 = 7, "i32", i32, F64;
    /// Unsigned integers of 32 bits.
    U32 = 8, "u32", u32, F64;
}
    /// Signed integers of 8 bits.
    ToyValue = 9, "i8", i8, F32;
    /// The toy among the element types.
    ToyElement = 10, "toy_element", crate::element::ToyElement, ToyElement;
}

impl ValueType {
    /// The type with this number in the stream.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|value| value.id() == id)
    }

    /// Whether its values are coded as they are.
    pub const fn is_coded_as_is(self) -> bool {
        self.id() == self.coded().id()
    }

    /// Whether its values are floating-point numbers of 16 bits.
    pub const fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16)
    }

    /// Whether it has negative values.
    pub const fn is_signed(self) -> bool {
        !matches!(self, Self::U16 | Self::U32)
    }

    /// Whether its values are integers.
    pub const fn is_integer(self) -> bool {
        !self.is_coded_as_is() && !self.is_half()
    }
}

impl From<Dtype> for ValueType {
    fn from(dtype: Dtype) -> Self {
        dtype.value_type()
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// IEEE 754 binary16, of the crate `half`.
pub type F16 = f16;

/// bfloat16, of the crate `half`.
pub type Bf16 = bf16;

/// A type of values that ferrosz compresses: `f32`, `f64`, `f16`, `bf16`, `i16`, `u16`, `i32` or `u32`.
pub trait Value:
    bytemuck::Pod
    + Default
    + PartialEq
    + fmt::Debug
    + fmt::Display
    + fmt::LowerExp
    + Send
    + Sync
    + sealed::Sealed
    + 'static
{
    /// The type's name in streams.
    const TYPE: ValueType;

    /// The type of the elements that stand for its values in a coded field.
    type Coded: Element;

    /// The bits, in the low end of the result.
    fn to_value_bits(self) -> u64;

    /// The value of these bits; those that the type does not have are ignored.
    fn from_value_bits(bits: u64) -> Self;

    /// The number that the value is, exact; NaN and infinities of half precision as such.
    fn to_number(self) -> f64;

    /// The value that is nearest to a number, ties to even. Too large a number is infinite in a floating-point type. An
    /// integer type has a value for its own numbers alone.
    fn from_number(number: f64) -> Option<Self>;

    /// The element that is the same number. The element of a NaN has its sign and its payload, in the highest bits.
    fn widened(self) -> Self::Coded;

    /// The value that is nearest to an element, ties to even. A finite number beyond the largest or smallest value becomes
    /// that value. A NaN keeps its sign and its payload as far as there is room, and is quiet if nothing of the payload is
    /// left.
    ///
    /// Integer types add `offset` to the nearest integer. They have 0 for NaN, and their largest or smallest value for an
    /// infinity. Other types do not read `offset`.
    fn narrowed(coded: Self::Coded, offset: i64) -> Self;
}

/// Element types are coded as they are.
macro_rules! element_value {
    ($T:ident, $TYPE:ident) => {
        impl sealed::Sealed for $T {}

        impl Value for $T {
            const TYPE: ValueType = ValueType::$TYPE;
            type Coded = Self;

            #[inline(always)]
            fn to_value_bits(self) -> u64 {
                self.to_bits64()
            }

            #[inline(always)]
            fn from_value_bits(bits: u64) -> Self {
                Self::from_bits64(bits)
            }

            #[inline(always)]
            fn to_number(self) -> f64 {
                self.to_f64()
            }

            fn from_number(number: f64) -> Option<Self> {
                Some(match number.is_nan() {
                    true => Self::HOLE,
                    false => Self::from_f64(number),
                })
            }

            #[inline(always)]
            fn widened(self) -> Self {
                self
            }

            #[inline(always)]
            fn narrowed(coded: Self, _: i64) -> Self {
                coded
            }
        }
    };
}

element_value!(f32, F32);
element_value!(f64, F64);
#[cfg(feature = "toy")]
element_value!(ToyElement, ToyElement);

/// A floating-point type of 16 bits: a sign, an exponent, and a stored significand. Its conversions are integer
/// operations, as a processor's make NaNs quiet.
#[derive(Debug, Clone, Copy)]
pub struct HalfFormat {
    /// Stored bits of the significand.
    significand: u32,
    /// The difference of the exponents' biases: that of binary32 minus that of the type.
    bias: u32,
    /// The bits of infinity.
    infinity: u32,
}

/// The bits of infinity of binary32.
const INFINITY: u32 = f32::INFINITY.to_bits();

impl HalfFormat {
    /// binary16.
    pub const F16: Self = Self {
        significand: 10,
        bias: 112,
        infinity: 0x7c00,
    };

    /// bfloat16.
    pub const BF16: Self = Self {
        significand: 7,
        bias: 0,
        infinity: 0x7f80,
    };

    /// The format of a type; none if the type is no half.
    pub const fn of(value_type: ValueType) -> Option<Self> {
        match value_type {
            ValueType::F16 => Some(Self::F16),
            ValueType::Bf16 => Some(Self::BF16),
            _ => None,
        }
    }

    /// The bits of the quiet NaN without a sign and payload.
    pub const fn nan(self) -> u16 {
        (self.infinity | self.quiet()) as u16
    }

    /// The bit of a NaN that makes it quiet.
    const fn quiet(self) -> u32 {
        1 << (self.significand - 1)
    }

    /// The bits of the largest finite value.
    pub const fn largest(self) -> u16 {
        (self.infinity - 1) as u16
    }

    /// Bits of a binary32 that the type does not have.
    const fn dropped(self) -> u32 {
        23 - self.significand
    }

    /// The smallest value of full precision of the type, in bits of a binary32.
    const fn least_normal(self) -> u32 {
        (self.bias + 1) << 23
    }

    /// A binary32 whose unit in the last place is the smallest value above 0, in bits.
    const fn unit_magic(self) -> u32 {
        self.least_normal() + (self.dropped() << 23)
    }

    /// The `f32` of the same number, or the NaN of the same sign and payload.
    #[inline(always)]
    pub fn widen(self, bits: u16) -> f32 {
        let sign = u32::from(bits >> 15) << 31;
        let magnitude = u32::from(bits & 0x7fff);
        let widened = if magnitude >= self.infinity {
            INFINITY | (magnitude - self.infinity) << self.dropped()
        } else if self.bias > 0 && magnitude >> self.significand == 0 {
            // A multiple of the smallest value on top of the least normal one: exact. No bits of bfloat16 need this.
            let least = self.least_normal();
            let above = f32::from_bits(least + (magnitude << self.dropped()));
            (above - f32::from_bits(least)).to_bits()
        } else {
            (magnitude << self.dropped()) + (self.bias << 23)
        };
        f32::from_bits(sign | widened)
    }

    /// The bits of the value that is nearest to a number; see [`Value::narrowed`].
    #[inline(always)]
    pub fn narrow(self, value: f32) -> u16 {
        let bits = value.to_bits();
        let sign = (bits >> 31) << 15;
        let magnitude = bits & 0x7fff_ffff;
        let narrowed = if magnitude > INFINITY {
            let payload = (magnitude - INFINITY) >> self.dropped();
            self.infinity | if payload == 0 { self.quiet() } else { payload }
        } else if magnitude == INFINITY {
            self.infinity
        } else if magnitude < self.least_normal() {
            // The addition rounds to a multiple of the smallest value.
            let magic = self.unit_magic();
            (f32::from_bits(magnitude) + f32::from_bits(magic)).to_bits() - magic
        } else {
            let bits = magnitude - (self.bias << 23);
            let is_odd = bits >> self.dropped() & 1;
            let below_half = (1 << (self.dropped() - 1)) - 1;
            let rounded = (bits + below_half + is_odd) >> self.dropped();
            rounded.min(self.infinity - 1)
        };
        (sign | narrowed) as u16
    }
}

impl HalfFormat {
    /// The bits of the value that is nearest to a number, ties to even; infinite beyond the largest value.
    fn nearest(self, number: f64) -> u16 {
        // The nearest finite value: of the two on both sides of the number, the nearer one, and the even one in a tie.
        let magnitude = number.abs();
        let of = |bits: u16| f64::from(self.widen(bits));
        let (mut low, mut high) = (0, self.largest());
        while low < high {
            let middle = high - (high - low) / 2;
            if of(middle) <= magnitude {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let next = match low == self.largest() {
            // Where the next value would be, if there were one.
            true => of(low) + (of(low) - of(low - 1)),
            false => of(low + 1),
        };
        let middle = (of(low) + next) / 2.0;
        let is_up = magnitude > middle || magnitude == middle && low % 2 == 1;
        u16::from(number.is_sign_negative()) << 15 | (low + u16::from(is_up))
    }
}

macro_rules! half_value {
    ($T:ident, $TYPE:ident, $FORMAT:ident) => {
        impl sealed::Sealed for $T {}

        impl Value for $T {
            const TYPE: ValueType = ValueType::$TYPE;
            type Coded = f32;

            #[inline(always)]
            fn to_value_bits(self) -> u64 {
                u64::from(self.to_bits())
            }

            #[inline(always)]
            fn from_value_bits(bits: u64) -> Self {
                Self::from_bits(bits as u16)
            }

            #[inline(always)]
            fn to_number(self) -> f64 {
                f64::from(self.widened())
            }

            fn from_number(number: f64) -> Option<Self> {
                Some(match number.is_nan() {
                    true => Self::NAN,
                    false => Self::from_bits(HalfFormat::$FORMAT.nearest(number)),
                })
            }

            #[inline(always)]
            fn widened(self) -> f32 {
                HalfFormat::$FORMAT.widen(self.to_bits())
            }

            #[inline(always)]
            fn narrowed(coded: f32, _: i64) -> Self {
                Self::from_bits(HalfFormat::$FORMAT.narrow(coded))
            }
        }
    };
}

half_value!(f16, F16, F16);
half_value!(bf16, Bf16, BF16);

/// The integer that is nearest to a number, ties to even; 0 for NaN. Integers beyond 2^40 become 2^40.
#[inline(always)]
pub(crate) fn nearest_integer(number: f64) -> i64 {
    const MOST: f64 = (1u64 << 40) as f64;
    let number = number.clamp(-MOST, MOST);
    let whole = number as i64;
    // Exact, as both have at most 41 bits before the point.
    let rest = number - whole as f64;
    let is_away = rest.abs() > 0.5 || rest.abs() == 0.5 && whole & 1 == 1;
    match (is_away, rest < 0.0) {
        (false, _) => whole,
        (true, false) => whole + 1,
        (true, true) => whole - 1,
    }
}

/// The integer that is nearest to an element, ties to even. Elements beyond all values of integer types that have such
/// elements become integers beyond all of them.
#[inline(always)]
fn nearest<T: Element>(coded: T) -> i64 {
    match T::BYTES {
        // Values of 16 bits. Integers of 32 bits are fast on a GPU.
        4 => {
            let limit = T::from_i32(1 << 20);
            let limited = coded.smaller(limit).larger(T::ZERO - limit);
            let rounded = limited + T::ROUNDING_MAGIC;
            let bits = rounded.low_bits().wrapping_sub(T::ROUNDING_MAGIC_BITS);
            i64::from(bits.cast_signed())
        }
        _ => nearest_integer(coded.to_f64()),
    }
}

macro_rules! integer_value {
    ($T:ident, $unsigned:ident, $TYPE:ident, $Coded:ident) => {
        impl sealed::Sealed for $T {}

        impl Value for $T {
            const TYPE: ValueType = ValueType::$TYPE;
            type Coded = $Coded;

            #[inline(always)]
            fn to_value_bits(self) -> u64 {
                u64::from(self as $unsigned)
            }

            #[inline(always)]
            fn from_value_bits(bits: u64) -> Self {
                bits as Self
            }

            #[inline(always)]
            fn to_number(self) -> f64 {
                f64::from(self)
            }

            fn from_number(number: f64) -> Option<Self> {
                let value = number as Self;
                (f64::from(value) == number).then_some(value)
            }

            #[inline(always)]
            fn widened(self) -> $Coded {
                $Coded::from(self)
            }

            #[inline(always)]
            fn narrowed(coded: $Coded, offset: i64) -> Self {
                let nearest = match coded.to_f64().is_nan() {
                    true => 0,
                    false => nearest(coded).saturating_add(offset),
                };
                nearest.clamp(i64::from(Self::MIN), i64::from(Self::MAX)) as Self
            }
        }
    };
}

integer_value!(i16, u16, I16, f32);
integer_value!(u16, u16, U16, f32);
integer_value!(i32, u32, I32, f64);
integer_value!(u32, u32, U32, f64);
#[cfg(feature = "toy")]
integer_value!(i8, u8, ToyValue, f32);

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a half, from its definition.
    fn number(bits: u16, exponents: i32, significands: i32) -> f64 {
        let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
        let exponent = i32::from(bits >> significands) & ((1 << exponents) - 1);
        let fraction = f64::from(bits & ((1 << significands) - 1)) / f64::from(1 << significands);
        let bias = (1 << (exponents - 1)) - 1;
        // Powers of two by their bits, as there is no `powi` here.
        let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
        match exponent {
            0 => sign * fraction * power(1 - bias),
            _ => sign * (1.0 + fraction) * power(exponent - bias),
        }
    }

    fn halves_are_their_definition<V: Value<Coded = f32>>(exponents: i32, significands: i32) {
        let infinity = ((1u16 << exponents) - 1) << significands;
        for bits in 0..=u16::MAX {
            let value = V::from_value_bits(u64::from(bits));
            assert_eq!(value.to_value_bits(), u64::from(bits));
            let wide = value.widened();
            match bits & 0x7fff {
                finite if finite < infinity => {
                    let expected = number(bits, exponents, significands);
                    assert_eq!(value.to_number().to_bits(), expected.to_bits(), "{bits:x}");
                    assert_eq!(
                        V::from_number(expected).map(V::to_value_bits),
                        Some(bits.into())
                    );
                }
                infinite if infinite == infinity => assert!(wide.is_infinite()),
                _ => assert!(wide.is_nan()),
            }
            assert_eq!(
                V::narrowed(wide, 7).to_value_bits(),
                u64::from(bits),
                "{bits:x}"
            );
        }
    }

    #[test]
    fn halves_are_wide_and_narrow_again() {
        halves_are_their_definition::<f16>(5, 10);
        halves_are_their_definition::<bf16>(8, 7);
    }

    /// All values of `f32` in steps, and those around the middles of halves.
    fn narrowed_as_nearest<V: Value<Coded = f32>>(largest: f32) {
        let check = |x: f32| {
            let found = V::narrowed(x, 0);
            let limited = x.clamp(-largest, largest);
            let expected = V::from_number(f64::from(limited)).expect("a half");
            assert_eq!(found.to_value_bits(), expected.to_value_bits(), "{x:e}");
        };
        for bits in (0..=u32::MAX).step_by(65_521) {
            let x = f32::from_bits(bits);
            if x.is_finite() {
                check(x);
            }
        }
        for bits in 0..=u64::from(u16::MAX) {
            let [one, other] = [bits, bits + 1].map(|bits| V::from_value_bits(bits).to_number());
            let middle = ((one + other) / 2.0) as f32;
            if middle.is_finite() {
                for x in [middle.next_down(), middle, middle.next_up()] {
                    check(x);
                }
            }
        }
        assert!(V::narrowed(f32::INFINITY, 0).to_number() == f64::INFINITY);
        assert!(
            V::narrowed(f32::from_bits(0x7f80_0001), 0)
                .to_number()
                .is_nan()
        );
    }

    #[test]
    fn halves_are_rounded_to_nearest_even_and_never_to_infinity() {
        narrowed_as_nearest::<f16>(65_504.0);
        narrowed_as_nearest::<bf16>(f32::from_bits(0x7f7f_0000));
    }

    #[test]
    fn integers_are_rounded_to_nearest_even_and_limited() {
        for (number, nearest) in [
            (0.5, 0),
            (1.5, 2),
            (-0.5, 0),
            (-1.5, -2),
            (2.5, 2),
            (0.499_999_999_999_999_94, 0),
            (-2.500_000_000_1, -3),
            (4_294_967_295.5, 4_294_967_296),
            (f64::NAN, 0),
        ] {
            assert_eq!(nearest_integer(number), nearest, "{number}");
        }
        assert_eq!(u16::narrowed(-3.0, 0), 0);
        assert_eq!(u16::narrowed(f32::INFINITY, 0), u16::MAX);
        assert_eq!(i16::narrowed(-40_000.0, 0), i16::MIN);
        assert_eq!(i32::narrowed(0.5 - 1e-16, 1 << 30), 1 << 30);
        assert_eq!(u32::narrowed(0.0, i64::MIN), 0);
        assert_eq!(u32::narrowed(f64::NAN, 5), 0);
        assert_eq!(i16::from_number(-9999.0), Some(-9999));
        assert_eq!(u16::from_number(-1.0), None);
        assert_eq!(i32::from_number(0.5), None);
        assert_eq!(u16::from_number(f64::NAN), None);
    }

    #[test]
    fn value_types_have_numbers_of_their_own() {
        for value_type in ValueType::ALL {
            assert_eq!(ValueType::from_id(value_type.id()), Some(value_type));
            with_value!(value_type, V => {
                assert_eq!(V::TYPE, value_type);
                assert_eq!(size_of::<V>(), value_type.bytes());
                assert_eq!(<V as Value>::Coded::DTYPE, value_type.coded());
            });
        }
        for dtype in Dtype::ALL {
            assert_eq!(ValueType::from(dtype).id(), dtype.id());
            assert_eq!(ValueType::from(dtype).name(), dtype.name());
        }
        assert_eq!((ValueType::from_id(0), ValueType::from_id(9)), (None, None));
    }
}
