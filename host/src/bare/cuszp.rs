//! cuSZp's own byte streams, read and written on all devices.
//!
//! They say nothing of themselves: both sides must be given the same [`Params`].
//!
//! ```
//! # use ferrosz_host as ferrosz;
//! use ferrosz::Shape;
//! use ferrosz::cuszp::{self, CuszpError, Mode, Params};
//!
//! # fn main() -> Result<(), CuszpError> {
//! let field: Vec<f32> = (0..20 * 30 * 40).map(|i| (i as f32 * 0.01).sin()).collect();
//! let params = Params::new(Shape::Cube, Mode::Outlier, [20, 30, 40], 1e-3);
//! let stream = cuszp::compress(&Params { strict: true, ..params }, &field)?;
//! let back: Vec<f32> = cuszp::decompress(&params, &stream)?;
//! assert!(field.iter().zip(&back).all(|(x, y)| (x - y).abs() <= 1.001e-3));
//! # Ok(())
//! # }
//! ```

use crate::auto_device::{Coding, Direction, Work};
use crate::backend::Backend;
use crate::bare::in_order;
use crate::bare::kernels::BareStream;
use crate::device::Device;
use crate::error::Error;
pub use ferrosz_codec::cuszp::{CuszpError, Framing, Mode, Params, RateFault, Refusal};

use ferrosz_codec::Element;
use ferrosz_codec::cuszp::reference::{Decoder, Encoder};
use rayon::prelude::*;

/// Elements that one task looks at.
const TASK_ELEMENTS: usize = 1 << 16;

/// Compresses an array to a stream of cuSZp's.
///
/// The bound is not guaranteed, for cuSZp does not: NaNs, infinities, and in `f32` values of more
/// than about 2^22 bounds come back wrong. [`Params::strict`] refuses what cuSZp would spoil.
///
/// # Errors
///
/// If the parameters do not fit the array or each other, the array or stream is too long for
/// cuSZp, or the strict encoder refuses.
pub fn compress<T: Element>(params: &Params<T>, values: &[T]) -> Result<Vec<u8>, CuszpError> {
    let encoder = Encoder::new(params, values)?;
    let checks = (0..values.len().div_ceil(TASK_ELEMENTS)).into_par_iter();
    in_order(
        checks
            .map(|task| {
                let first = task * TASK_ELEMENTS;
                encoder.check_elements(first..values.len().min(first + TASK_ELEMENTS))
            })
            .collect(),
    )?;
    let chunks = (0..encoder.chunks()).into_par_iter();
    let chunks = in_order(chunks.map(|chunk| encoder.chunk(chunk)).collect())?;
    encoder.assemble(&chunks)
}

/// As [`compress`], on a device; the bytes are the same. A strict encoder works on the CPU, wherever
/// it is asked to.
///
/// # Errors
///
/// [`Error::Cuszp`] as [`compress`]; [`Error::NoDevice`] and [`Error::Cuda`] from a GPU.
pub fn compress_on<T: Element>(
    device: Device,
    params: &Params<T>,
    values: &[T],
) -> Result<Vec<u8>, Error> {
    let elements = values.len() as u64;
    let backend = Backend::of(
        device,
        Work::new::<T>(Direction::Compress, Coding::Bare, elements),
    )?;
    let what = BareStream::cuszp(params)?;
    Encoder::new(params, values)?;
    let backend = if params.strict { Backend::Cpu } else { backend };
    let stream = match what.compress(&backend, values) {
        Some(stream) => stream?,
        None => compress(params, values)?,
    };
    if stream.len() as u64 >> 32 != 0 {
        let bytes = stream.len() as u64;
        return Err(CuszpError::StreamTooLong { bytes }.into());
    }
    Ok(stream)
}

/// As [`decompress`], on a device. The rate bytes are looked at on the CPU first.
///
/// # Errors
///
/// [`Error::Cuszp`] as [`decompress`]; [`Error::NoDevice`] and [`Error::Cuda`] from a GPU.
pub fn decompress_on<T: Element>(
    device: Device,
    params: &Params<T>,
    stream: &[u8],
) -> Result<Vec<T>, Error> {
    let elements = params.dims.into_iter().fold(1, u64::saturating_mul);
    let backend = Backend::of(
        device,
        Work::new::<T>(Direction::Decompress, Coding::Bare, elements),
    )?;
    Decoder::new(params, stream)?;
    match BareStream::cuszp(params)?.decompress(&backend, stream) {
        Some(values) => values,
        None => Ok(decompress(params, stream)?),
    }
}

/// Decompresses a stream of cuSZp's; bytes behind its end are ignored.
///
/// # Errors
///
/// If the parameters do not fit each other, or the stream is damaged or cut off. What cuSZp's own
/// tool has cut off has errors of its own: [`CuszpError::PayloadMissing`] and
/// [`CuszpError::TailMissing`].
pub fn decompress<T: Element>(params: &Params<T>, stream: &[u8]) -> Result<Vec<T>, CuszpError> {
    let decoder = Decoder::new(params, stream)?;
    let mut values = decoder.cleared_output()?;
    let mut spans = Vec::new();
    let mut rest = values.as_mut_slice();
    for span in 0..decoder.layout().spans() {
        let (out, behind) = rest.split_at_mut(decoder.layout().span(span).elements.len());
        spans.push((span, out));
        rest = behind;
    }
    spans
        .into_par_iter()
        .for_each(|(span, out)| decoder.span(span, out));
    Ok(values)
}
