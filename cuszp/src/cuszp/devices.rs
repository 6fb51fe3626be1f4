//! cuSZp's own byte streams, read and written on all devices.

use crate::cuszp::error::CuszpError;
use crate::cuszp::params::Params;
use crate::cuszp::reference::{Decoder, Encoder};
use crate::error::Error;
use crate::stream::{self, BareStream};
use ferrosz_codec::Element;
use ferrosz_host::Device;
use ferrosz_host::internals::Backend;
use rayon::prelude::*;

/// Elements that one task looks at.
const TASK_ELEMENTS: usize = 1 << 16;

/// Compresses an array to a stream of cuSZp's.
///
/// The bound is not guaranteed, for cuSZp does not: NaNs, infinities, and in `f32` values of more
/// than about 2^22 bounds come back wrong. [`Params::strict`] refuses arrays that cuSZp would spoil.
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
/// [`Error::Cuszp`] as [`compress`]; [`Error::Ferrosz`].
pub fn compress_on<T: Element>(
    device: Device,
    params: &Params<T>,
    values: &[T],
) -> Result<Vec<u8>, Error> {
    match stream::backend_for::<T>(device, values.len() as u64)? {
        Backend::Gpu(gpu) if !params.strict => {
            Encoder::new(params, values)?;
            let stream = BareStream::cuszp(params)?.compress(&gpu, values)?;
            let bytes = stream.len() as u64;
            match bytes >> 32 {
                0 => Ok(stream),
                _ => Err(CuszpError::StreamTooLong { bytes }.into()),
            }
        }
        _ => Ok(compress(params, values)?),
    }
}

/// As [`decompress`], on a device. The rate bytes are looked at on the CPU first.
///
/// # Errors
///
/// [`Error::Cuszp`] as [`decompress`]; [`Error::Ferrosz`].
pub fn decompress_on<T: Element>(
    device: Device,
    params: &Params<T>,
    stream: &[u8],
) -> Result<Vec<T>, Error> {
    let elements = params.dims.into_iter().fold(1, u64::saturating_mul);
    match stream::backend_for::<T>(device, elements)? {
        Backend::Cpu => Ok(decompress(params, stream)?),
        Backend::Gpu(gpu) => {
            Decoder::new(params, stream)?;
            BareStream::cuszp(params)?.decompress(&gpu, stream)
        }
    }
}

/// Decompresses a stream of cuSZp's; bytes behind its end are ignored.
///
/// # Errors
///
/// If the parameters do not fit each other, or the stream is damaged or cut off. A stream that
/// cuSZp's own tool has cut off has errors of its own: [`CuszpError::PayloadMissing`] and
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

/// The first error in order, whoever finds his first; else all results.
fn in_order<T, E>(results: Vec<Result<T, E>>) -> Result<Vec<T>, E> {
    results.into_iter().collect()
}
