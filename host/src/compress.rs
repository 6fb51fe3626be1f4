//! Compression of host slices.

use crate::auto_device::{Direction, Workload};
use crate::backend::Backend;
use crate::choose::{self, Chosen, Request};
use crate::cpu::mapping::axes::Turn;
use crate::cpu::mapping::conversion;
use crate::cpu::sink::Sink;
use crate::cpu::{self, Version};
use crate::device::Device;
use crate::error::Error;
use crate::fill::{Fill, Fills};
use crate::gpu::mapping::conversion::converts;
use crate::heading::Heading;
use crate::length::{self, Length};
use crate::memory;
use crate::preset::{Choice, Preset};
use crate::scratch::{Coded, Copies, Scratch};
use crate::slabs;
use crate::stream::StreamRef;
use crate::stream_layout::StreamLayout;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::axes::{Axes, Order};
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::{Keep, ValueMapping};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::{Bound, BoundMode, Codec, Dtype, Element, Shape, Value, ValueType};
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
    /// In the user's order.
    extents: Option<Extents>,
    fills: Fills,
    keep: Keep,
    /// None: a preset chooses them; a codec takes the default rule.
    axes: Option<Axes>,
    /// None: a preset chooses it; a codec takes the shortest.
    chunk: Option<ChunkLength>,
    device: Device,
    copies: Copies,
}

impl Compressor {
    /// Compression within `bound` by a [`Preset`] or a [`Codec`].
    ///
    /// A preset chooses the codec, the rank of blocks or tiles, the length of chunks, and the roles of the axes, by the shortest stream that
    /// a sample of each field predicts. The choice depends only on the field, its extents and the bound.
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
            fills: Fills::default(),
            keep: Keep::default(),
            axes: None,
            chunk: None,
            device: Device::default(),
            copies: Copies::default(),
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

    /// Names a value that stands for missing elements; up to four times. These elements come back bit for bit. They
    /// count neither in the range of the field nor in the bound, and cost little: their places are coded apart, and
    /// the values around them are predicted as if they were not there. All streams of this compressor have a mask, also
    /// those of fields without missing elements.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let mut field: Vec<f32> = (0..9000).map(|i| 280.0 + (i as f32 * 0.01).sin()).collect();
    /// field[4000..5000].fill(1e20);
    /// let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?).fill(1e20)?;
    /// let stream = compressor.compress(&field)?;
    /// assert!(ferrosz::info(&stream)?.absolute_error < 0.003);
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    /// assert_eq!(decoded[4000..5000], field[4000..5000]);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::TooManyFills`].
    pub fn fill(mut self, fill: impl Into<Fill>) -> Result<Self, Error> {
        self.fills = self.fills.with(fill.into())?;
        Ok(self)
    }

    /// Names the fill values of a field, beside those named before: of these values those that elements have, and those
    /// that [`Fill::detect`] finds. NaN is named only if it is found. If the values are too many, the last ones are left
    /// away.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Fill, Preset};
    ///
    /// let mut field: Vec<f32> = (0..9000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// field[4000..4100].fill(0.5);
    /// let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?);
    /// let stream = compressor.fills_of(&field, &[0.5.into(), 1e20.into()]).compress(&field)?;
    /// assert!(ferrosz::info(&stream)?.fills.contains(&0.5));
    /// assert!(!ferrosz::info(&stream)?.fills.contains(&1e20));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    pub fn fills_of<V: Value>(mut self, field: &[V], named: &[Fill]) -> Self {
        let has_zeros = self.keep.zeros || self.bound.mode() == BoundMode::Pwrel;
        self.fills = self.fills.and_those_of(field, named, has_zeros);
        self
    }

    /// Keeps the sign of every finite value. Codecs that do this by themselves do it at no cost; for the others the signs
    /// are coded apart. With [`Bound::pwrel`] all signs are kept without this call.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    ///
    /// let field: Vec<f32> = (0..9000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Codec::INTERP, Bound::abs(0.1)?).keep_signs().keep_zeros();
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&compressor.compress(&field)?)?;
    /// assert!(field.iter().zip(&decoded).all(|(x, y)| x * y >= 0.0));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn keep_signs(mut self) -> Self {
        self.keep.signs = true;
        self
    }

    /// Keeps zeros: a zero comes back as a zero. Codecs that do this by themselves do it at no cost; for the others the
    /// zeros of both signs become classes of a mask, like fill values.
    #[must_use]
    pub fn keep_zeros(mut self) -> Self {
        self.keep.zeros = true;
        self
    }

    /// Sets which of the field's axes are coded together, and which are axes of slices.
    ///
    /// Without this call a preset also chooses the axes. A codec codes the last two axes that are longer than 1 as y
    /// and x, and all axes before them as z.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    ///
    /// // Six times of ten levels each; no block has values of two times.
    /// let field: Vec<f32> = (0..6 * 10 * 20 * 30).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Codec::LORENZO, Bound::abs(1e-3)?);
    /// let compressor = compressor.extents(&[6, 10, 20, 30])?.axes("s,z,y,x".parse()?);
    /// let stream = compressor.compress(&field)?;
    /// assert_eq!(ferrosz::info(&stream)?.axes.to_string(), "s,z,y,x");
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    /// assert!(field.iter().zip(&decoded).all(|(x, y)| (x - y).abs() <= 1e-3));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn axes(mut self, axes: Axes) -> Self {
        self.axes = Some(axes);
        self
    }

    /// Sets the dimensions of coding blocks: 1 for 32 elements in a line, 2 for 8 x 8, 3 for 4 x 4 x 4; or of tiles: 1
    /// for 16,384 elements in a line, 2 for 256 x 64, 3 for 16 x 16 x 64. If a field has fewer dimensions longer than
    /// 1, blocks and tiles have as many.
    ///
    /// Without this call a preset also chooses the rank. A codec takes as many dimensions as the field has, up to
    /// three, without leading dimensions that are shorter than a block's edge of 4. With rank 1 all axes are one line.
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

    /// Sets how many tiles a chunk of a codec of tiles with statistics has. More tiles make a stream of high ratio
    /// shorter: a chunk costs some hundred bytes besides its codes. But a box needs whole chunks, and damage loses one.
    ///
    /// Without this call a preset also chooses the length of chunks. A codec takes four tiles.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::codec::tile::ChunkLength;
    /// use ferrosz::{Bound, Codec, Compressor};
    ///
    /// let field: Vec<f32> = (0..64 * 128 * 128).map(|i| (i as f32 * 1e-6).sin()).collect();
    /// let short = Compressor::new(Codec::LORENZO_RANS, Bound::abs(0.1)?).extents(&[64, 128, 128])?;
    /// let long = short.chunk_length(ChunkLength::SixtyFour);
    /// assert!(2 * long.compress(&field)?.len() < short.compress(&field)?.len());
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn chunk_length(mut self, chunk: ChunkLength) -> Self {
        self.chunk = Some(chunk);
        self
    }

    /// Sets the device to run on.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Keeps copies of the field in temporary files without names, if they have 64 MiB or more, in the folder of
    /// [`std::env::temp_dir`]. A field with fill values, another order of axes, logarithms or a conversion of its values is
    /// copied, up to once for each. [`Compressor::compress_seek`] and [`Compressor::compress_read`] do so without this call.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Preset};
    ///
    /// let field: Vec<u16> = (0..6000).map(|i| 500 + i % 100).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(2.0)?).bounded_memory();
    /// let chosen = compressor.choose(&field)?;
    /// assert_eq!(chosen.compress(&field)?, compressor.compress(&field)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn bounded_memory(mut self) -> Self {
        self.copies = Copies::InFiles;
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
        let coded = self.coded_extents(&extents).ok()?;
        Some(self.layout_of(codec, coded).shape.rank())
    }

    fn layout_of(&self, codec: Codec, extents: Extents) -> Layout {
        let shape = self
            .shape
            .unwrap_or_else(|| choose::natural_shape(&extents));
        Layout::new(codec, shape, extents).with_chunk(self.chunk.unwrap_or_default())
    }

    /// The device that compresses a field of this many elements in host memory: the device that was set, or the choice
    /// of [`Device::Auto`], which is started if it is a GPU.
    ///
    /// # Errors
    ///
    /// [`Error::NotChosen`] if the codec is not yet chosen; [`Error::NoDevice`] and [`Error::OldGpu`].
    pub fn device_for(
        &self,
        elements: u64,
        value_type: impl Into<ValueType>,
    ) -> Result<Device, Error> {
        let codec = self.codec().ok_or(Error::NotChosen)?;
        let value_type = value_type.into();
        let layout = self.stream_layout(elements, value_type)?;
        if slabs::divided(self.device, &layout, self.bound)?.is_some() {
            return Ok(self.device);
        }
        let workload = workload(codec, elements, value_type.coded());
        Backend::device_for(self.device, workload)
    }

    /// The device of a batch in host memory, which is never [`Device::Auto`].
    pub(crate) fn batch_device(&self) -> Device {
        self.device.or_cpu()
    }

    /// The codec of a batch that kernels compress.
    ///
    /// # Errors
    ///
    /// [`Error::NotChosen`]; [`Error::BatchSettings`] if the codec is not one of blocks, or extents or fill values are
    /// set.
    pub(crate) fn batch_codec(&self) -> Result<BlockCodec, Error> {
        if !self.fills.is_empty() {
            return Err(Error::BatchSettings(
                "fill values are set, and the kernels of batches make no masks",
            ));
        }
        if self.bound.mode() == BoundMode::Pwrel {
            return Err(Error::BatchSettings(
                "the bound is relative to each value, and the kernels of batches take no logarithms",
            ));
        }
        if self.extents.is_some() {
            return Err(Error::BatchSettings(
                "extents are set, but each of its arrays is a line of its own length",
            ));
        }
        match self.codec().ok_or(Error::NotChosen)? {
            Codec::Blocks(codec) => Ok(codec),
            _ => Err(Error::BatchSettings(
                "its codec is one of tiles; choose one of blocks, such as `plain`, or compress each array alone",
            )),
        }
    }

    /// The error bound.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The same compressor with another error bound.
    #[must_use]
    pub fn with_bound(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// The same compressor for fields of these extents.
    pub(crate) fn with_extents(self, extents: Extents) -> Self {
        Self {
            extents: Some(extents),
            ..self
        }
    }

    /// The shape of blocks or tiles that was set or chosen.
    pub(crate) fn shape(&self) -> Option<Shape> {
        self.shape
    }

    /// The device that was set.
    pub(crate) fn device_set(&self) -> Device {
        self.device
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

    /// The elements of a field of which members have parts.
    ///
    /// # Errors
    ///
    /// [`Error::PartsSettings`] if no extents were set.
    pub(crate) fn elements_of_parts(&self) -> Result<u64, Error> {
        self.elements().ok_or(Error::PartsSettings(
            "its extents are not set, which are those of the whole field",
        ))
    }

    /// The elements of a field with the extents that were set; none if none were set.
    pub(crate) fn elements(&self) -> Option<u64> {
        self.extents.as_ref().map(Extents::elements)
    }

    /// The extents of the coded field, given those of the field.
    pub(crate) fn coded_extents(&self, extents: &Extents) -> Result<Extents, Error> {
        let Some(axes) = self.axes else {
            return Ok(*extents);
        };
        axes.coded_extents(extents)
            .ok_or_else(|| Error::AxesMismatch {
                axes,
                extents: extents.lengths().to_vec(),
            })
    }

    /// The layout of the streams of fields of this many elements. Its extents are those of the coded field, which may
    /// have the axes in another order.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::AxesMismatch`]; [`Error::NotChosen`] if the codec is not yet chosen.
    pub fn layout_for(&self, elements: u64) -> Result<Layout, Error> {
        let extents = self.coded_extents(&self.extents_for(elements)?)?;
        let codec = self.codec().ok_or(Error::NotChosen)?;
        Ok(self.layout_of(codec, extents))
    }

    /// The layout of the streams of fields of this many elements of this type, with the classes of their mask and the
    /// order of their axes. A mask of values that are converted may have one class less.
    ///
    /// # Errors
    ///
    /// As [`Compressor::layout_for`]; [`Error::FillOfOtherType`] if a fill value is not of the type.
    pub fn stream_layout(
        &self,
        elements: u64,
        value_type: impl Into<ValueType>,
    ) -> Result<StreamLayout, Error> {
        let value_type = value_type.into();
        let classes = match value_type.is_coded_as_is() {
            true => self.value_mapping(value_type.coded())?.classes.count(),
            false => self.fills.most_classes(value_type)?,
        };
        Ok(StreamLayout {
            layout: self.layout_for(elements)?.with_classes(classes),
            order: self.order_for(elements)?,
            value_type,
        })
    }

    /// The order of the axes of the coded field, for fields of this many elements.
    pub(crate) fn order_for(&self, elements: u64) -> Result<Order, Error> {
        let rank = self.extents_for(elements)?.lengths().len();
        Ok(self.axes.map_or(Order::identity(rank), |axes| axes.order()))
    }

    /// The same compressor with codec, rank and axes chosen for a field, if they are not yet chosen.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::AxesMismatch`].
    pub fn choose<V: Value>(&self, field: &[V]) -> Result<Self, Error> {
        let extents = self.extents_for(field.len() as u64)?;
        let Some(request) = self.request(&extents)? else {
            return Ok(*self);
        };
        let Converted { coder, coded, .. } = self.convert(field)?;
        let mapping = coder.value_mapping(V::Coded::DTYPE)?;
        let (chosen, _) = choose::choose_for(coder.bound, &mapping, self.copies, &request, &coded)?;
        Ok(self.with_chosen(chosen))
    }

    /// As [`Compressor::choose`] for a coded field, and the bound to compress it with: if the choice has resolved one that is
    /// relative, the absolute one that it is, so that the extremes of the field are searched once.
    fn choose_on_coded<T: Element>(&self, field: &[T]) -> Result<(Self, Bound), Error> {
        let extents = self.extents_for(field.len() as u64)?;
        let Some(request) = self.request(&extents)? else {
            return Ok((*self, self.bound));
        };
        let mapping = self.value_mapping(T::DTYPE)?;
        let (chosen, error) =
            choose::choose_for(self.bound, &mapping, self.copies, &request, field)?;
        let bound = match self.bound.needs_extremes() {
            true => Bound::abs(error)?,
            false => self.bound,
        };
        Ok((self.with_chosen(chosen), bound))
    }

    /// The same compressor with the absolute bound that a bound relative to this field resolves to, for windows of it.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Preset};
    ///
    /// let compressor = Compressor::new(Preset::Fast, Bound::range(0.25)?);
    /// let absolute = compressor.absolute_for(&[1.0f32, 3.0, f32::NAN])?;
    /// assert_eq!(absolute.bound(), Bound::abs(0.5)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::FillOfOtherType`].
    pub fn absolute_for<V: Value>(&self, field: &[V]) -> Result<Self, Error> {
        if !self.bound.needs_extremes() {
            return Ok(*self);
        }
        let missing = self.missing::<V>()?;
        let extremes = match missing.is_empty() && V::TYPE.is_coded_as_is() {
            true => cpu::extremes::<V::Coded>(Version::best(), bytemuck::cast_slice(field)),
            false => conversion::extremes(&missing, field),
        };
        Ok(self.with_bound(Bound::abs(self.bound.absolute(&extremes))?))
    }

    /// The coded field of a field, before its axes are turned, and the compressor for it.
    fn convert<'a, V: Value>(&self, field: &'a [V]) -> Result<Converted<'a, V::Coded>, Error> {
        let (mut coder, mut conversion) = (*self, Conversion::none(V::TYPE));
        if !conversion.is_none() {
            self.check_conversion::<V>()?;
            let missing = self.missing::<V>()?;
            let plan = conversion::plan(self.bound, &missing, field);
            conversion = plan.conversion;
            coder.bound = Bound::abs(plan.error.to_f64())?;
            coder.fills = Fills::of_bits(missing.into_iter().map(|bits| {
                let coded = conversion.to_coded(V::from_value_bits(bits));
                coded.to_bits64()
            }));
        }
        Ok(Converted {
            heading: Heading {
                order: Order::identity(1),
                conversion,
                bound: self.bound,
            },
            coder,
            coded: conversion::to_coded(self.copies, &conversion, field)?,
        })
    }

    /// Checks that values of a type can be converted.
    ///
    /// # Errors
    ///
    /// [`Error::MappingOfType`].
    pub(crate) fn check_conversion<V: Value>(&self) -> Result<(), Error> {
        let is_mapped = self.bound.mode() == BoundMode::Pwrel || self.keep != Keep::default();
        match is_mapped && !V::TYPE.is_coded_as_is() {
            true => Err(Error::MappingOfType(V::TYPE)),
            false => Ok(()),
        }
    }

    /// Whether a machine that runs kernels converts values of a type: if it can, and no classes of a mask depend on the
    /// conversion.
    ///
    /// # Errors
    ///
    /// [`Error::FillOfOtherType`].
    pub(crate) fn converts_on_machine<V: Value>(&self) -> Result<bool, Error> {
        Ok(converts(V::TYPE) && self.missing::<V>()?.is_empty())
    }

    /// What to choose from for a field of these extents; none if codec and rank are chosen.
    pub(crate) fn request(&self, extents: &Extents) -> Result<Option<Request>, Error> {
        self.coded_extents(extents)?;
        Ok(self.preset().map(|preset| Request {
            codecs: preset.codecs(),
            shape: self.shape,
            extents: *extents,
            axes: self.axes,
            chunk: self.chunk,
        }))
    }

    /// The same compressor with the codec, rank, axes and length of chunks that were chosen.
    pub(crate) fn with_chosen(self, Chosen { layout, axes }: Chosen) -> Self {
        Self {
            choice: Choice::Codec(layout.codec),
            shape: Some(layout.shape),
            axes,
            chunk: Some(layout.chunk),
            ..self
        }
    }

    /// The mapping of the values of fields of a type; without what a codec that is not yet chosen may need.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyFills`].
    pub(crate) fn value_mapping(&self, dtype: Dtype) -> Result<ValueMapping, Error> {
        let keeps_by_itself = self.codec().is_none_or(Codec::keeps_signs_and_zeros);
        let keep = match keeps_by_itself {
            true => Keep::default(),
            false => self.keep,
        };
        self.fills.mapping(dtype, self.bound, keep)
    }

    /// The bits of missing values of a type.
    pub(crate) fn missing<V: Value>(&self) -> Result<Vec<u64>, Error> {
        self.fills.missing::<V>()
    }

    /// A strict upper bound on the bytes of the stream of a field of this many elements, whatever their values.
    ///
    /// # Errors
    ///
    /// As [`Compressor::layout_for`]; [`Error::TooLarge`] if the bound does not fit in a `u64`.
    pub fn max_compressed_len(
        &self,
        elements: u64,
        value_type: impl Into<ValueType>,
    ) -> Result<u64, Error> {
        let layout = self.stream_layout(elements, value_type)?;
        layout.max_stream_bytes().ok_or(Error::TooLarge {
            elements,
            dtype: layout.value_type,
        })
    }

    /// Compresses a field to a stream. Its values are of any [`Value`] type: integers have an integer bound, and halves keep
    /// the bound after they are rounded.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let image: Vec<u16> = (0..6000).map(|i| 500 + i % 100 + i % 7).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(2.0)?).extents(&[60, 100])?;
    /// let decoded: Vec<u16> = Decompressor::new().decompress(&compressor.compress(&image)?)?;
    /// assert!(image.iter().zip(&decoded).all(|(x, y)| x.abs_diff(*y) <= 2));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::OutOfMemory`]; [`Error::NoDevice`] and [`Error::Cuda`] from a GPU.
    pub fn compress<V: Value>(&self, field: &[V]) -> Result<Vec<u8>, Error> {
        self.compress_with_progress(field, &|_| {})
    }

    /// As [`Compressor::compress`]; calls `progress` from time to time, on any thread, with the number of elements done
    /// since the last call.
    ///
    /// # Errors
    ///
    /// As [`Compressor::compress`].
    pub fn compress_with_progress<V: Value>(
        &self,
        field: &[V],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<u8>, Error> {
        let mut stream = Vec::new();
        self.run(Version::best(), field, &mut stream, progress)?;
        Ok(stream)
    }

    /// As [`Compressor::compress`], with a version of the CPU's code.
    pub(crate) fn compress_by<V: Value>(
        &self,
        version: Version,
        field: &[V],
    ) -> Result<Vec<u8>, Error> {
        let mut stream = Vec::new();
        self.run(version, field, &mut stream, &|_| {})?;
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
    pub fn compress_to<V: Value>(&self, field: &[V], mut writer: impl Write) -> Result<u64, Error> {
        let stream = self.compress(field)?;
        let written = writer.write_all(&stream).and_then(|()| writer.flush());
        written.map_err(Error::io("write the stream"))?;
        Ok(stream.len() as u64)
    }

    pub(crate) fn run<V: Value>(
        &self,
        version: Version,
        field: &[V],
        sink: &mut dyn Sink,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        let elements = field.len() as u64;
        self.extents_for(elements)?;
        if let Some(codec) = self.codec()
            && self.converts_on_machine::<V>()?
            && let Backend::Gpu(gpu) =
                Backend::of(self.device, workload(codec, elements, V::Coded::DTYPE))?
        {
            self.check_conversion::<V>()?;
            self.max_compressed_len(elements, V::TYPE)?;
            let layout = self.stream_layout(elements, V::TYPE)?;
            sink.take(gpu.compress(&layout, self.bound, &ValueMapping::default(), field)?)?;
            progress(elements);
            return Ok(());
        }
        let Converted {
            heading,
            coder,
            coded,
        } = self.convert(field)?;
        coder.run_on_coded(version, &heading, &coded, sink, progress)
    }

    /// Compresses the coded field, before its axes are turned.
    fn run_on_coded<T: Element>(
        &self,
        version: Version,
        heading: &Heading,
        field: &[T],
        sink: &mut dyn Sink,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), Error> {
        let elements = field.len() as u64;
        let (chosen, bound) = self.choose_on_coded(field)?;
        chosen.max_compressed_len(elements, T::DTYPE)?;
        let mapping = chosen.value_mapping(T::DTYPE)?;
        let stream_layout = chosen.stream_layout(elements, T::DTYPE)?;
        let StreamLayout { layout, order, .. } = stream_layout;
        if heading.records().is_empty()
            && let Some((machines, slabs)) =
                slabs::divided(self.device, &stream_layout, self.bound)?
        {
            slabs::compress::compress(&machines, &slabs, &stream_layout, self.bound, field, sink)?;
            progress(elements);
            return Ok(());
        }
        match Backend::of(self.device, workload(layout.codec, elements, T::DTYPE))? {
            Backend::Cpu => {
                let coded = in_order(self.copies, &layout, &order, field)?;
                let heading = &heading.in_order(order);
                // The header has the bound of `heading`.
                cpu::compress(
                    version,
                    layout,
                    bound,
                    &mapping,
                    self.copies,
                    heading,
                    &coded,
                    sink,
                    progress,
                )
            }
            Backend::Gpu(executor) => {
                let stream = executor.compress(&stream_layout, self.bound, &mapping, field)?;
                sink.take(with_records(stream, heading)?)?;
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
    pub fn compress_into<V: Value>(&self, field: &[V], out: &mut [u8]) -> Result<usize, Error> {
        let mut target = Place { out, length: 0 };
        self.run(Version::best(), field, &mut target, &|_| {})?;
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

/// The coded field of a field, before its axes are turned.
struct Converted<'a, T: Element> {
    heading: Heading,
    /// The compressor with the bound and the fill values of the coded field.
    coder: Compressor,
    coded: Coded<'a, T>,
}

/// The coded field of a field: the field itself, or a copy with its axes in another order.
///
/// # Errors
///
/// The errors of [`Scratch::zeroed`].
pub(crate) fn in_order<'a, T: Element>(
    copies: Copies,
    layout: &Layout,
    order: &Order,
    field: &'a [T],
) -> Result<Coded<'a, T>, Error> {
    let Some(turn) = Turn::to_coded(layout.extents.lengths(), order) else {
        return Ok(Coded::Field(field));
    };
    let mut coded = Scratch::zeroed(copies, field.len() as u64)?;
    turn.apply(field, &mut coded);
    Ok(Coded::Copy(coded))
}

/// A stream of a GPU, which has a mask and an order of axes, with the record of the conversion and with the bound of the
/// user's field.
fn with_records(stream: Vec<u8>, heading: &Heading) -> Result<Vec<u8>, Error> {
    let of_conversion = heading.records();
    if of_conversion.is_empty() {
        return Ok(stream);
    }
    let stream = StreamRef::read(&stream)?;
    let header = heading.header(stream.header);
    let records = [stream.records, &of_conversion].concat();
    stream.rewrite(header, &records, 0..header.chunks(), &[])
}

fn workload(codec: Codec, elements: u64, dtype: Dtype) -> Workload {
    let field_bytes = elements.saturating_mul(dtype.bytes() as u64);
    Workload::new(Direction::Compress, codec, field_bytes)
}

/// The start of a slice, to which a stream is written. `length` also counts the bytes that do not fit and are not
/// written.
struct Place<'a> {
    out: &'a mut [u8],
    length: usize,
}

impl Sink for Place<'_> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = self.length + bytes.len();
        if let Some(place) = self.out.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
        }
        self.length = end;
        Ok(())
    }

    fn append_all(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        let room = self.out.get_mut(self.length..).unwrap_or_default();
        memory::copy_all(parts, room, <[u8]>::copy_from_slice);
        self.length += parts.iter().map(|part| part.len()).sum::<usize>();
        Ok(())
    }

    fn set_start(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(place) = self.out.get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
        }
        Ok(())
    }
}
