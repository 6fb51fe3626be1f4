//! The toy among the element types: a binary32 that is another type.

use super::{Dtype, Element, sealed};
use bytemuck::{Pod, Zeroable};
use core::fmt;
use core::ops::{Add, Div, Mul, Sub};

/// An element. All it does is what its number does.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct ToyElement(f32);

// SAFETY: it is an `f32`, whose bytes may all be 0.
unsafe impl Zeroable for ToyElement {}

// SAFETY: it is an `f32`, which any bytes are.
unsafe impl Pod for ToyElement {}

impl sealed::Sealed for ToyElement {}

impl fmt::Display for ToyElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::LowerExp for ToyElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerExp::fmt(&self.0, f)
    }
}

impl Add for ToyElement {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(Add::add(self.0, other.0))
    }
}

impl Sub for ToyElement {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(Sub::sub(self.0, other.0))
    }
}

impl Mul for ToyElement {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(Mul::mul(self.0, other.0))
    }
}

impl Div for ToyElement {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(Div::div(self.0, other.0))
    }
}

impl Element for ToyElement {
    const DTYPE: Dtype = Dtype::ToyElement;
    const ZERO: Self = Self(<f32 as Element>::ZERO);
    const ONE: Self = Self(<f32 as Element>::ONE);
    const HALF: Self = Self(<f32 as Element>::HALF);
    const MAX: Self = Self(<f32 as Element>::MAX);
    const MIN_NORMAL: Self = Self(<f32 as Element>::MIN_NORMAL);
    const SQRT_HALF: Self = Self(<f32 as Element>::SQRT_HALF);
    const NAN: Self = Self(<f32 as Element>::NAN);
    const HOLE: Self = Self(<f32 as Element>::HOLE);
    const ROUNDING_MAGIC: Self = Self(<f32 as Element>::ROUNDING_MAGIC);
    const ROUNDING_LIMIT: Self = Self(<f32 as Element>::ROUNDING_LIMIT);
    const CLEARLY_NEAREST: Self = Self(<f32 as Element>::CLEARLY_NEAREST);
    const MANTISSA_BITS: u32 = <f32 as Element>::MANTISSA_BITS;
    const EXPONENT_BIAS: i32 = <f32 as Element>::EXPONENT_BIAS;
    const ROUNDING_MAGIC_BITS: u32 = <f32 as Element>::ROUNDING_MAGIC_BITS;

    #[inline(always)]
    fn to_bits64(self) -> u64 {
        Element::to_bits64(self.0)
    }

    #[inline(always)]
    fn from_bits64(bits: u64) -> Self {
        Self(Element::from_bits64(bits))
    }

    #[inline(always)]
    fn low_bits(self) -> u32 {
        Element::low_bits(self.0)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(Element::abs(self.0))
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        Element::is_finite(self.0)
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        Self(Element::smaller(self.0, other.0))
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Self(Element::larger(self.0, other.0))
    }

    #[inline(always)]
    fn from_i32(value: i32) -> Self {
        Self(Element::from_i32(value))
    }

    #[inline(always)]
    fn truncate(self) -> i32 {
        Element::truncate(self.0)
    }

    #[inline(always)]
    fn to_i32_as_cuda(self) -> i32 {
        Element::to_i32_as_cuda(self.0)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        Element::to_f64(self.0)
    }

    #[inline(always)]
    fn from_f64_down(value: f64) -> Self {
        Self(Element::from_f64_down(value))
    }

    #[inline(always)]
    fn reciprocal(self) -> Self {
        Self(Element::reciprocal(self.0))
    }

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self(Element::from_f64(value))
    }

    #[inline(always)]
    fn order_key(self) -> u64 {
        Element::order_key(self.0)
    }

    #[inline(always)]
    fn from_order_key(key: u64) -> Self {
        Self(Element::from_order_key(key))
    }
}
