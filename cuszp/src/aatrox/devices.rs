//! The bare AATROX byte stream, read and written on all devices.

use crate::aatrox::error::AatroxError;
use crate::aatrox::layout::LAYER;
use crate::aatrox::params::Params;
use crate::aatrox::reference::{self, Decoder};
use crate::cuszp::quantizer::Quantizer;
use crate::error::Error;
use crate::stream::{self, BareStream};
use ferrosz_codec::Element;
use ferrosz_host::Device;
use ferrosz_host::internals::Backend;
use rayon::prelude::*;

/// Compresses an array to a bare AATROX stream. The quantiser is cuSZp's, and exceeds the bound where cuSZp's does: see
/// [`crate::cuszp::compress`].
///
/// # Errors
///
/// [`AatroxError::ElementCount`].
pub fn compress<T: Element>(params: &Params<T>, values: &[T]) -> Result<Vec<u8>, AatroxError> {
    reference::check_count(params, values)?;
    let quantizer = Quantizer::new(params.error);
    let layers: Vec<_> = values
        .par_chunks(LAYER)
        .map(|values| reference::encode_layer(&quantizer, values))
        .collect();
    Ok(reference::assemble(&layers))
}

/// Decompresses a bare AATROX stream; bytes behind its end are ignored.
///
/// # Errors
///
/// If the stream is damaged or cut off, or there is no memory.
pub fn decompress<T: Element>(params: &Params<T>, stream: &[u8]) -> Result<Vec<T>, AatroxError> {
    let decoder = Decoder::new(params, stream)?;
    let mut values = decoder.cleared_output()?;
    values
        .par_chunks_mut(LAYER)
        .enumerate()
        .for_each(|(layer, out)| decoder.layer(layer, out));
    Ok(values)
}

/// As [`compress`], on a device; the bytes are the same.
///
/// # Errors
///
/// [`Error::Aatrox`] as [`compress`]; [`Error::Ferrosz`], on a GPU also for 2^34 elements and more.
pub fn compress_on<T: Element>(
    device: Device,
    params: &Params<T>,
    values: &[T],
) -> Result<Vec<u8>, Error> {
    match stream::backend_for::<T>(device, params.elements)? {
        Backend::Cpu => Ok(compress(params, values)?),
        Backend::Gpu(gpu) => {
            reference::check_count(params, values)?;
            BareStream::aatrox(params)?.compress(&gpu, values)
        }
    }
}

/// As [`decompress`], on a device. The rate bytes are looked at on the CPU first.
///
/// # Errors
///
/// [`Error::Aatrox`] as [`decompress`]; [`Error::Ferrosz`], on a GPU also for 2^34 elements and more.
pub fn decompress_on<T: Element>(
    device: Device,
    params: &Params<T>,
    stream: &[u8],
) -> Result<Vec<T>, Error> {
    match stream::backend_for::<T>(device, params.elements)? {
        Backend::Cpu => Ok(decompress(params, stream)?),
        Backend::Gpu(gpu) => {
            Decoder::new(params, stream)?;
            BareStream::aatrox(params)?.decompress(&gpu, stream)
        }
    }
}
