//! Compression of host slices.

use crate::auto_device::{Direction, Workload};
use crate::backend::Backend;
use crate::choose;
use crate::cpu::sink::Sink;
use crate::cpu::{self, Version};
use crate::device::Device;
use crate::error::Error;
use crate::length::{self, Length};
use crate::preset::{Choice, Preset};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::{Bound, Codec, Dtype, Element, Shape};
use std::io::Write;

/// Compresses any number of fields with the same settings.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Compressor, Decompressor, Preset};
///
/// let field: Vec<f32> = (0..6000).map(|i| (i as f32 * 0.01).sin()).collect();
/// let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?).extents(&[60, 100])?;
/// let stream = compressor.compress(&field)?;
/// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
/// assert!(field.iter().zip(&decoded).all(|(x, y)| (x - y).abs() <= 2e-3));
/// assert!(stream.len() * 3 < 4 * field.len());
/// # Ok::<(), ferrosz::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compressor {
    choice: Choice,
    bound: Bound,
    /// None: the field's extents or a sample of the field decide.
    shape: Option<Shape>,
    extents: Option<Extents>,
    device: Device,
}

impl Compressor {
    /// Compression within `bound` by a [`Preset`] or a [`Codec`].
    ///
    /// A preset chooses the codec, and the rank of blocks or tiles, by the shortest stream that a sample of each field
    /// predicts. The choice depends only on the field, its extents and the bound.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Preset};
    ///
    /// let slope: Vec<f32> = (0..64 * 64).map(|i| (i / 64 + i % 64) as f32).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(0.1)?).extents(&[64, 64])?;
    /// let chosen = compressor.choose(&slope)?;
    /// assert_eq!((chosen.codec(), chosen.rank()), (Some(Codec::LORENZO_RANS), Some(2)));
    /// assert_eq!(chosen.compress(&slope)?, compressor.compress(&slope)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    pub fn new(choice: impl Into<Choice>, bound: Bound) -> Self {
        Self {
            choice: choice.into(),
            bound,
            shape: None,
            extents: None,
            device: Device::default(),
        }
    }

    /// Records the field's extents, slowest dimension first, as integers of any type. Without them a field is a
    /// line.
    ///
    /// # Errors
    ///
    /// [`Error::BadExtents`] if they are not one to eight lengths, or their product is not below 2^64.
    pub fn extents<L: Length>(mut self, extents: &[L]) -> Result<Self, Error> {
        self.extents = Some(length::extents(extents)?);
        Ok(self)
    }

    /// Sets the dimensions of coding blocks: 1 for 32 elements in a line, 2 for 8 x 8, 3 for 4 x 4 x 4; or of tiles: 1
    /// for 16,384 elements in a line, 2 for 256 x 64, 3 for 16 x 16 x 64. If a field has fewer dimensions longer than
    /// 1, blocks and tiles have as many.
    ///
    /// Without this call a preset also chooses the rank. A codec takes as many dimensions as the field has, up to
    /// three, without leading dimensions that are shorter than a block's edge of 4.
    ///
    /// # Errors
    ///
    /// [`Error::BadRank`]; [`Error::RankOfCodec`] if the codec has no such blocks.
    pub fn with_rank(mut self, rank: u8) -> Result<Self, Error> {
        let shape = Shape::of_rank(rank).ok_or(Error::BadRank(rank))?;
        match self.codec().filter(|codec| !codec.takes(shape)) {
            Some(codec) => Err(Error::RankOfCodec { codec, rank }),
            None => {
                self.shape = Some(shape);
                Ok(self)
            }
        }
    }

    /// Sets the device to run on.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// The codec; none if it is not yet chosen.
    pub fn codec(&self) -> Option<Codec> {
        match self.choice {
            Choice::Codec(codec) => Some(codec),
            Choice::Preset(_) => None,
        }
    }

    /// The preset that will choose the codec; none if a codec was given or is chosen.
    pub fn preset(&self) -> Option<Preset> {
        match self.choice {
            Choice::Codec(_) => None,
            Choice::Preset(preset) => Some(preset),
        }
    }

    /// The rank of blocks or tiles; none if it is not yet chosen.
    pub fn rank(&self) -> Option<u8> {
        let extents = self.extents.unwrap_or(Extents::line(u64::MAX));
        let codec = self.codec()?;
        Some(self.layout_of(codec, extents).shape.rank())
    }

    fn layout_of(&self, codec: Codec, extents: Extents) -> Layout {
        let shape = self
            .shape
            .unwrap_or_else(|| choose::natural_shape(&extents));
        Layout::new(codec, shape, extents)
    }

    /// The device that compresses a field of this many elements in host memory: the device that was set, or the choice
    /// of [`Device::Auto`], which is started if it is a GPU.
    ///
    /// # Errors
    ///
    /// [`Error::NotChosen`] if the codec is not yet chosen; [`Error::NoDevice`] and [`Error::OldGpu`].
    pub fn device_for(&self, elements: u64, dtype: Dtype) -> Result<Device, Error> {
        let codec = self.codec().ok_or(Error::NotChosen)?;
        Backend::device_for(self.device, workload(codec, elements, dtype))
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

    /// The layout of the streams of fields of this many elements.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::NotChosen`] if the codec is not yet chosen.
    pub fn layout_for(&self, elements: u64) -> Result<Layout, Error> {
        let extents = self.extents_for(elements)?;
        let codec = self.codec().ok_or(Error::NotChosen)?;
        Ok(self.layout_of(codec, extents))
    }

    /// The same compressor with codec and rank chosen for a field, if they are not yet chosen.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`].
    pub fn choose<T: Element>(&self, field: &[T]) -> Result<Self, Error> {
        let extents = self.extents_for(field.len() as u64)?;
        let Some(candidates) = self.candidates(&extents) else {
            return Ok(*self);
        };
        Ok(self.with_layout(choose::choose_for(self.bound, &candidates, field)?))
    }

    /// The layouts to choose from for a field of these extents, the preferred first; none if codec and rank are chosen.
    pub(crate) fn candidates(&self, extents: &Extents) -> Option<Vec<Layout>> {
        let codecs = self.preset()?.codecs();
        Some(choose::candidates(codecs, self.shape, extents))
    }

    /// The same compressor with the codec and rank of a layout.
    pub(crate) fn with_layout(self, layout: Layout) -> Self {
        Self {
            choice: Choice::Codec(layout.codec),
            shape: Some(layout.shape),
            ..self
        }
    }

    /// A strict upper bound on the bytes of the stream of a field of this many elements, whatever their values.
    ///
    /// # Errors
    ///
    /// As [`Compressor::layout_for`]; [`Error::TooLarge`] if the bound does not fit in a `u64`.
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

    /// As [`Compressor::compress`]; calls `progress` from time to time, on any thread, with the number of elements done
    /// since the last call.
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
        self.run(field, &mut stream, progress)?;
        Ok(stream)
    }

    /// Compresses a field and writes the stream; returns its length. The whole stream is in memory before the first
    /// byte is written, as its header has its length.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let field = [1.0f32; 1000];
    /// let mut file = Vec::new();
    /// let compressor = Compressor::new(Preset::Fast, Bound::abs(0.01)?);
    /// let bytes = compressor.compress_to(&field, &mut file)?;
    /// assert_eq!(bytes, file.len() as u64);
    /// let values: Vec<f32> = Decompressor::new().decompress_from(&file[..])?;
    /// assert_eq!(values.len(), field.len());
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] from the writer, and as [`Compressor::compress`].
    pub fn compress_to<T: Element>(
        &self,
        field: &[T],
        mut writer: impl Write,
    ) -> Result<u64, Error> {
        let stream = self.compress(field)?;
        let written = writer.write_all(&stream).and_then(|()| writer.flush());
        written.map_err(Error::io("write the stream"))?;
        Ok(stream.len() as u64)
    }

    fn run<T: Element>(
        &self,
        field: &[T],
        sink: &mut dyn Sink,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        let elements = field.len() as u64;
        let chosen = self.choose(field)?;
        chosen.max_compressed_len(elements, T::DTYPE)?;
        let layout = chosen.layout_for(elements)?;
        match Backend::of(self.device, workload(layout.codec, elements, T::DTYPE))? {
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

    /// Compresses a field into the start of `out`; returns the stream's length. With reused memory, this saves the cost
    /// of new memory.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooSmall`], and as [`Compressor::compress`]; the contents of `out` are then unspecified. A buffer
    /// of [`Compressor::max_compressed_len`] bytes is never too small.
    pub fn compress_into<T: Element>(&self, field: &[T], out: &mut [u8]) -> Result<usize, Error> {
        let mut target = Target { out, length: 0 };
        self.run(field, &mut target, &|_| {})?;
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

fn workload(codec: Codec, elements: u64, dtype: Dtype) -> Workload {
    let field_bytes = elements.saturating_mul(dtype.bytes() as u64);
    Workload::new(Direction::Compress, codec, field_bytes)
}

/// The start of a slice, to which a stream is written. `length` also counts the bytes that do not fit and are not
/// written.
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
