//! Compression of host slices.

use crate::cpu;
use crate::device::Device;
use crate::error::Error;
use crate::plan;
use ferrosz_codec::stream::container::{Extents, max_stream_bytes};
use ferrosz_codec::{Bound, Codec, Element};

/// Compresses fields: what to do, set once, used for any number of fields.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Codec, Compressor, Decompressor};
///
/// let field: Vec<f32> = (0..6000).map(|i| (i as f32 * 0.01).sin()).collect();
/// let compressor = Compressor::new(Codec::Plain, Bound::range(1e-3)?).extents(&[60, 100])?;
/// let stream = compressor.compress(&field)?;
/// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
/// assert!(field.iter().zip(&decoded).all(|(x, y)| (x - y).abs() <= 2e-3));
/// assert!(stream.len() * 3 < 4 * field.len());
/// # Ok::<(), ferrosz::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compressor {
    codec: Codec,
    bound: Bound,
    extents: Option<Extents>,
    device: Device,
}

impl Compressor {
    /// Compression with `codec` within `bound`.
    pub fn new(codec: Codec, bound: Bound) -> Self {
        Self {
            codec,
            bound,
            extents: None,
            device: Device::default(),
        }
    }

    /// Records the field's extents, slowest dimension first. Without them a field is a line.
    ///
    /// # Errors
    ///
    /// [`Error::BadExtents`] if they are not one to three.
    pub fn extents(mut self, extents: &[u64]) -> Result<Self, Error> {
        self.extents =
            Some(Extents::new(extents).ok_or_else(|| Error::BadExtents(extents.to_vec()))?);
        Ok(self)
    }

    /// Chooses where to run.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// The codec.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// The error bound.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The extents of a field of `elements` elements.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`] if other extents were set.
    pub fn extents_for(&self, elements: u64) -> Result<Extents, Error> {
        let extents = self.extents.unwrap_or(Extents::line(elements));
        if extents.elements() == elements {
            Ok(extents)
        } else {
            Err(Error::ExtentsMismatch {
                extents: extents.lengths().to_vec(),
                product: extents.elements(),
                elements,
            })
        }
    }

    /// Compresses a field to a stream.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::NoDevice`] and [`Error::Cuda`] from a GPU.
    pub fn compress<T: Element>(&self, field: &[T]) -> Result<Vec<u8>, Error> {
        self.compress_with_progress(field, &|_| {})
    }

    /// As [`Compressor::compress`], and tells `progress` from time to time, on any thread, how many
    /// more elements are done.
    ///
    /// # Errors
    ///
    /// As [`Compressor::compress`].
    pub fn compress_with_progress<T: Element>(
        &self,
        field: &[T],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<u8>, Error> {
        let elements = field.len() as u64;
        let extents = self.extents_for(elements)?;
        if max_stream_bytes(elements, T::DTYPE).is_none() {
            return Err(Error::TooLarge {
                elements,
                dtype: T::DTYPE,
            });
        }
        let stream = match plan::Backend::of(self.device)? {
            plan::Backend::Cpu => cpu::compress(self.codec, self.bound, extents, field, progress),
            plan::Backend::Gpu(executor) => {
                let stream = executor.compress(self, extents, field)?;
                progress(elements);
                stream
            }
        };
        Ok(stream)
    }

    /// Compresses a field into the start of `out`; the stream's length.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooSmall`], and as [`Compressor::compress`]. A buffer of
    /// [`max_compressed_len`](crate::max_compressed_len) is never too small.
    pub fn compress_into<T: Element>(&self, field: &[T], out: &mut [u8]) -> Result<usize, Error> {
        let stream = self.compress(field)?;
        let found = out.len() as u64;
        let target = out.get_mut(..stream.len()).ok_or(Error::OutputTooSmall {
            needed: stream.len() as u64,
            found,
            unit: "bytes",
        })?;
        target.copy_from_slice(&stream);
        Ok(stream.len())
    }
}
