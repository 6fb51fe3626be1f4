//! The bare AATROX byte stream, read and written on all devices.
//!
//! It says nothing of itself: both sides must be given the same [`Params`].
//!
//! ```
//! # use ferrosz_host as ferrosz;
//! use ferrosz::aatrox::{self, AatroxError, Params};
//!
//! # fn main() -> Result<(), AatroxError> {
//! let field: Vec<f32> = (0..100_000).map(|i| (i as f32 * 0.001).sin()).collect();
//! let params = Params { elements: 100_000, error: 1e-3 };
//! let stream = aatrox::compress(&params, &field)?;
//! let back: Vec<f32> = aatrox::decompress(&params, &stream)?;
//! assert!(field.iter().zip(&back).all(|(x, y)| (x - y).abs() <= 1.001e-3));
//! # Ok(())
//! # }
//! ```

pub use ferrosz_codec::aatrox::{AatroxError, Params};

use crate::auto_device::{Coding, Direction, Work};
use crate::backend::Backend;
use crate::bare::kernels::BareStream;
use crate::device::Device;
use crate::error::Error;
use ferrosz_codec::Element;
use ferrosz_codec::aatrox::LAYER;
use ferrosz_codec::aatrox::reference::{self, Decoder};
use ferrosz_codec::cuszp::Quantizer;
use rayon::prelude::*;

/// Compresses an array to a bare AATROX stream. The quantiser is cuSZp's, and keeps the bound no
/// better: see [`crate::cuszp::compress`].
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
/// [`Error::Aatrox`] as [`compress`]; [`Error::TooLarge`] for more than 2^31 - 1 elements,
/// [`Error::NoDevice`] and [`Error::Cuda`] from a GPU.
pub fn compress_on<T: Element>(
    device: Device,
    params: &Params<T>,
    values: &[T],
) -> Result<Vec<u8>, Error> {
    let backend = Backend::of(
        device,
        Work::new::<T>(Direction::Compress, Coding::Bare, params.elements),
    )?;
    reference::check_count(params, values)?;
    match BareStream::aatrox(params)?.compress(&backend, values) {
        Some(stream) => stream,
        None => Ok(compress(params, values)?),
    }
}

/// As [`decompress`], on a device. The rate bytes are looked at on the CPU first.
///
/// # Errors
///
/// [`Error::Aatrox`] as [`decompress`]; [`Error::TooLarge`], [`Error::NoDevice`] and
/// [`Error::Cuda`] from a GPU.
pub fn decompress_on<T: Element>(
    device: Device,
    params: &Params<T>,
    stream: &[u8],
) -> Result<Vec<T>, Error> {
    let backend = Backend::of(
        device,
        Work::new::<T>(Direction::Decompress, Coding::Bare, params.elements),
    )?;
    Decoder::new(params, stream)?;
    match BareStream::aatrox(params)?.decompress(&backend, stream) {
        Some(values) => values,
        None => Ok(decompress(params, stream)?),
    }
}
