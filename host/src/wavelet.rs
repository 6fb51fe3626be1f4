//! Streams of wavelets' coefficients: FORMAT.md, section 35.
//!
//! The coefficients of the coded field are a field of one line, which `direct+rans` codes. What their errors do to a value is
//! not bounded, so the stream is decoded when it is made, and its sections have what keeps each value within the bound, as with
//! [safeguards](crate::safeguards).

mod coefficients;
mod encode;
mod rounding;
mod transform;

pub(crate) use coefficients::FieldCoefficients;
pub(crate) use encode::compress;

use crate::error::Error;
use ferrosz_codec::Element;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::mapping::wavelet::{FieldBoxes, Wavelets};

/// The coded field with these extents, of its coefficients.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn field_of<T: Element>(
    wavelets: &Wavelets,
    extents: &Extents,
    coefficients: &[T],
) -> Result<Vec<T>, Error> {
    transform::field(&FieldBoxes::new(extents), wavelets.order, coefficients)
}
