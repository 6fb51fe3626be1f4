//! Streams of wavelets' coefficients: FORMAT.md, section 35.
//!
//! The coefficients of the coded field are a field of one line, which `direct+rans` codes. What their errors do to a value is
//! not bounded, so the stream is decoded when it is made, and its sections have what keeps each value within the bound, as with
//! [safeguards](crate::safeguards).

mod encode;
mod sample;
mod transform;

pub(crate) use encode::compress;
pub(crate) use sample::CoefficientSample;

use crate::error::Error;
use ferrosz_codec::Element;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::mapping::wavelet::FieldBoxes;

/// The coded field with these extents, of its coefficients.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn field_of<T: Element>(extents: &Extents, coefficients: &[T]) -> Result<Vec<T>, Error> {
    transform::field(&FieldBoxes::new(extents), coefficients)
}
