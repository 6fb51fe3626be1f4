//! Compression of host slices.

use crate::backend::Backend;
use crate::choose;
use crate::cpu::{self, Sink, Version};
use crate::device::Device;
use crate::error::Error;
use ferrosz_codec::stream::container::{Extents, Layout};
use ferrosz_codec::{Bound, Codec, Dtype, Element, Shape};

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
    /// None: to be chosen for each field.
    codec: Option<Codec>,
    bound: Bound,
    shape: Shape,
    extents: Option<Extents>,
    device: Device,
}

impl Compressor {
    /// The codecs that [`Compressor::automatic`] chooses from.
    pub const CANDIDATES: [Codec; 7] = choose::CODECS;

    /// Compression with `codec` within `bound`.
    pub fn new(codec: Codec, bound: Bound) -> Self {
        Self {
            codec: Some(codec),
            bound,
            shape: Shape::Line,
            extents: None,
            device: Device::default(),
        }
    }

    /// Compression within `bound` with the codec of [`Compressor::CANDIDATES`] and the rank of blocks or
    /// tiles that a sample of each field predicts to give the shortest stream. The choice depends on the
    /// field, its extents and the bound alone.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor};
    ///
    /// let slope: Vec<f32> = (0..64 * 64).map(|i| (i / 64 + i % 64) as f32).collect();
    /// let compressor = Compressor::automatic(Bound::abs(0.1)?).extents(&[64, 64])?;
    /// let chosen = compressor.choose(&slope)?;
    /// assert_eq!((chosen.codec(), chosen.rank()), (Codec::from_name("lorenzo+rans"), 2));
    /// assert_eq!(chosen.compress(&slope)?, compressor.compress(&slope)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    pub fn automatic(bound: Bound) -> Self {
        Self {
            codec: None,
            ..Self::new(Codec::Plain, bound)
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

    /// Sets the dimensions of coding blocks: 1 for 32 elements in a line, which is what there is
    /// without this call, 2 for 8 x 8, 3 for 4 x 4 x 4; or of tiles, for 16,384 in a line, 256 x 64, and
    /// 16 x 16 x 64. Where a field has fewer dimensions longer than 1, blocks and tiles have as many.
    ///
    /// # Errors
    ///
    /// [`Error::BadRank`]; [`Error::RankOfCodec`] if the codec has no such blocks.
    pub fn with_rank(mut self, rank: u8) -> Result<Self, Error> {
        self.shape = Shape::of_rank(rank).ok_or(Error::BadRank(rank))?;
        match self.codec.filter(|codec| !codec.takes(self.shape)) {
            Some(codec) => Err(Error::RankOfCodec { codec, rank }),
            None => Ok(self),
        }
    }

    /// Chooses where to run.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// The codec; none if it is to be chosen.
    pub fn codec(&self) -> Option<Codec> {
        self.codec
    }

    /// The rank of blocks or tiles.
    pub fn rank(&self) -> u8 {
        self.shape.rank()
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

    /// The layout of the streams of fields of so many elements.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::NotChosen`] if the codec is still to be chosen.
    pub fn layout_for(&self, elements: u64) -> Result<Layout, Error> {
        let extents = self.extents_for(elements)?;
        let codec = self.codec.ok_or(Error::NotChosen)?;
        Ok(Layout::new(codec, self.shape, extents))
    }

    /// This with codec and rank chosen for a field, if they are still to be chosen.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`].
    pub fn choose<T: Element>(&self, field: &[T]) -> Result<Self, Error> {
        let extents = self.extents_for(field.len() as u64)?;
        if self.codec.is_some() {
            return Ok(*self);
        }
        let layout = choose::choose_for(self.bound, &extents, field)?;
        Ok(self.with_layout(layout))
    }

    /// This with codec and rank of a layout.
    pub(crate) fn with_layout(self, layout: Layout) -> Self {
        Self {
            codec: Some(layout.codec),
            shape: layout.shape,
            ..self
        }
    }

    /// A strict upper bound on the bytes of the stream of a field of so many elements, whatever their
    /// values.
    ///
    /// # Errors
    ///
    /// As [`Compressor::layout_for`]; [`Error::TooLarge`] if that does not fit in a `u64`.
    pub fn max_compressed_len(&self, elements: u64, dtype: Dtype) -> Result<u64, Error> {
        let layout = self.layout_for(elements)?;
        layout
            .max_stream_bytes(dtype)
            .ok_or(Error::TooLarge { elements, dtype })
    }

    /// Compresses a field to a stream.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::OutOfMemory`]; [`Error::NoDevice`] and [`Error::Cuda`] from a GPU.
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
        let mut stream = Vec::new();
        self.compress_to(field, &mut stream, progress)?;
        Ok(stream)
    }

    fn compress_to<T: Element>(
        &self,
        field: &[T],
        sink: &mut dyn Sink,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        let elements = field.len() as u64;
        let chosen = self.choose(field)?;
        chosen.max_compressed_len(elements, T::DTYPE)?;
        let layout = chosen.layout_for(elements)?;
        match Backend::of(self.device)? {
            Backend::Cpu => {
                cpu::compress(Version::best(), layout, self.bound, field, sink, progress)
            }
            Backend::Gpu(executor) => {
                sink.take(executor.compress(layout, self.bound, field)?)?;
                progress(elements);
                Ok(())
            }
        }
    }

    /// Compresses a field into the start of `out`; the stream's length. Where memory is reused, this
    /// saves what new memory costs.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooSmall`], and as [`Compressor::compress`]; `out` may then hold anything. A buffer
    /// of [`Compressor::max_compressed_len`] is never too small.
    pub fn compress_into<T: Element>(&self, field: &[T], out: &mut [u8]) -> Result<usize, Error> {
        let mut target = Target { out, length: 0 };
        self.compress_to(field, &mut target, &|_| {})?;
        let (needed, found) = (target.length as u64, target.out.len() as u64);
        if needed > found {
            return Err(Error::OutputTooSmall {
                needed,
                found,
                unit: "bytes",
            });
        }
        Ok(target.length)
    }
}

/// The start of a slice, of which `length` bytes are written, or would be if they had room.
struct Target<'a> {
    out: &'a mut [u8],
    length: usize,
}

impl Sink for Target<'_> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = self.length + bytes.len();
        if let Some(place) = self.out.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
        }
        self.length = end;
        Ok(())
    }

    fn set_start(&mut self, bytes: &[u8]) {
        if let Some(place) = self.out.get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
}
