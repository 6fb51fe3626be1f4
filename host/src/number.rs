//! The numbers of arrays: real values, or complex numbers.

use bytemuck::{Pod, Zeroable};
use ferrosz_codec::mapping::axes::PARTS;
use ferrosz_codec::{Element, Value};

/// A complex number of two `f32` or `f64`, in memory as C, Fortran, NumPy and the crate `num-complex` have it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

impl<T> Complex<T> {
    /// The number with these parts.
    pub const fn new(re: T, im: T) -> Self {
        Self { re, im }
    }
}

impl<T: Element> Complex<T>
where
    Self: Pod,
{
    /// The parts of numbers: the real and the imaginary part of the first one, then those of the next.
    pub fn parts(numbers: &[Self]) -> &[T] {
        bytemuck::cast_slice(numbers)
    }
}

// SAFETY: two numbers of which all bits may be zero.
unsafe impl<T: Zeroable> Zeroable for Complex<T> {}

// SAFETY: two numbers of one type, one behind the other, without padding; all bits are valid.
unsafe impl Pod for Complex<f32> {}

// SAFETY: as above.
unsafe impl Pod for Complex<f64> {}

mod sealed {
    pub trait Sealed {}
}

/// A number of an array in host memory: a real value of any [`Value`] type, or a [`Complex`] number of `f32` or `f64`.
///
/// A field of complex numbers is a field of their parts, which has one axis more, the last one, of length 2: the real and the
/// imaginary part. Extents, boxes and ranges of calls with complex numbers are in numbers.
pub trait Number: sealed::Sealed + Pod + Send + Sync {
    /// The type of its parts; of a real value the type itself.
    type Part: Value;

    /// Whether it has a real and an imaginary part.
    const IS_COMPLEX: bool;
}

impl<V: Value> sealed::Sealed for V {}

impl<V: Value> Number for V {
    type Part = V;
    const IS_COMPLEX: bool = false;
}

impl<T> sealed::Sealed for Complex<T> {}

impl Number for Complex<f32> {
    type Part = f32;
    const IS_COMPLEX: bool = true;
}

impl Number for Complex<f64> {
    type Part = f64;
    const IS_COMPLEX: bool = true;
}

/// How many parts a number has.
pub(crate) const fn parts_of<N: Number>() -> u64 {
    if N::IS_COMPLEX { PARTS } else { 1 }
}
