//! The settings of a [`Compressor`], and the layout, mapping and device that they give a field of some length.

use crate::axes_setting::AxesSetting;
use crate::backend::Backend;
use crate::choice::Choice;
use crate::compress::{Compressor, complex, workload};
use crate::device::{Device, Start};
use crate::error::Error;
use crate::fill::{Fill, Fills, Found};
use crate::gpu::mapping::conversion::converts;
use crate::keeping::Keeping;
use crate::length::{self, Length};
use crate::scratch::Copies;
use crate::stream_layout::StreamLayout;
use crate::tolerance::Tolerance;
use crate::ways::{Setting, Way, refusal};
use crate::{choose, parallel, slabs};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::axes::{Axes, Order, PARTS};
use ferrosz_codec::mapping::conversion::{Conversion, Kind};
use ferrosz_codec::mapping::mask::MAX_CLASSES;
use ferrosz_codec::mapping::{Keep, ValueMapping};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::{
    Bound, BoundMode, Codec, Dtype, Element, Preference, Preset, Shape, Value, ValueType,
};

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
            keeping: Keeping::default(),
            rewritable: false,
            axes: None,
            is_complex: false,
            chunk: None,
            preference: Preference::default(),
            device: Device::default(),
            copies: Copies::default(),
        }
    }

    /// Records the field's extents, slowest dimension first, as integers of any type. Without them a field is a
    /// line. A single element may have none: an empty slice.
    ///
    /// # Errors
    ///
    /// [`Error::BadExtents`] if they are more than eight lengths, or their product is not below 2^64.
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
    /// that [`Fill::detect`] finds, with an absolute bound only if streams become shorter or they are usual marks of missing
    /// elements. NaN is named only if it is found. If the values are too many, the last ones are left
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
    pub fn fills_of<V: Value>(self, field: &[V], named: &[Fill]) -> Self {
        let has_zeros = self.keeping.always.zeros || self.bound.mode() == BoundMode::Pwrel;
        let found = Found::of(field);
        let with = |found: &[Fill]| Self {
            fills: self.fills.and_those_of(field, named, found, has_zeros),
            ..self
        };
        let [all, sure] = [found.all(), found.sure()].map(|found| with(&found));
        // Where the bound does not depend on the range, values that are no usual marks of missing elements are only ordinary
        // values that a mask may code in fewer bytes.
        let must_pay = !self.bound.needs_extremes() && self.bound.value() > 0.0;
        match must_pay && all.fills != sure.fills && !all.is_shorter(&sure, field) {
            true => sure,
            false => all,
        }
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
        self.keeping.always.signs = true;
        self
    }

    /// Keeps zeros: a zero comes back as a zero. Codecs that do this by themselves do it at no cost; for the others the
    /// zeros of both signs become classes of a mask, like fill values.
    #[must_use]
    pub fn keep_zeros(mut self) -> Self {
        self.keeping.always.zeros = true;
        self
    }

    /// Lets a preset choose the shortest stream within the bound, whatever becomes of zeros and signs.
    ///
    /// Without this call a field without negative values comes back without any from the stream of a preset, and zeros that
    /// are more than a hundredth of the values come back as zeros. A named codec keeps those that it keeps by itself.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let rain: Vec<f32> = (0..9000).map(|i| ((i as f32 * 0.01).sin() - 0.3).max(0.0)).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(1e-3)?);
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&compressor.compress(&rain)?)?;
    /// assert!(rain.iter().zip(&decoded).all(|(x, y)| *y >= 0.0 && (*x > 0.0 || *y == 0.0)));
    /// assert!(compressor.keep_none().compress(&rain)?.len() <= compressor.compress(&rain)?.len());
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn keep_none(self) -> Self {
        self.with_keeping(Keeping::NONE)
    }

    /// Takes only codecs whose decoded values come back as they are when they are compressed again with the same absolute
    /// bound. So errors never add up where an array is written in parts, or copied by programs that decode and encode it: its
    /// values stay within the bound of the original ones. A preset then chooses among the codecs without splines.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let field: Vec<f32> = (0..9000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(1e-3)?).rewritable()?;
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&compressor.compress(&field)?)?;
    /// let again: Vec<f32> = Decompressor::new().decompress(&compressor.compress(&decoded)?)?;
    /// assert_eq!(decoded, again);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotRewritable`] if a codec was given that has splines; [`Error::NoLevels`] if quality is preferred.
    pub fn rewritable(mut self) -> Result<Self, Error> {
        match self.named().filter(|codec| !codec.keeps_signs_and_zeros()) {
            Some(codec) => Err(Error::NotRewritable(codec)),
            None => {
                self.rewritable = true;
                self.prefer(self.preference)
            }
        }
    }

    /// Sets the preference: few bytes, or small errors besides the largest one. It is for codecs that predict level by level,
    /// each level with a bound of its own. With [`Preference::Quality`] the coarse levels, on which the errors of all values
    /// depend, have the bounds of Eq. 2 in the paper of cuSZ-i, by the ratio of the bound to the range of the values, and at
    /// least a quarter of the field's bound. So the PSNR at the same bound is higher, and streams are mostly longer
    /// ([measured](https://github.com/ferrosz/ferrosz/blob/main/docs/measurements/quality.md)). No value is off by more than
    /// the bound.
    ///
    /// A preset chooses the shortest stream as before, in which codecs with levels have these bounds. If it chooses another
    /// codec, there are no levels, and the preference changes nothing.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor, Preference};
    ///
    /// let field: Vec<f32> = (0..96 * 96).map(|i| (i as f32 * 1e-3).sin()).collect();
    /// let compressor = Compressor::new(Codec::INTERP, Bound::abs(0.02)?).extents(&[96, 96])?;
    /// let squares = |preference| {
    ///     let stream = compressor.prefer(preference)?.compress(&field)?;
    ///     let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    ///     Ok::<f32, ferrosz::Error>(field.iter().zip(&decoded).map(|(x, y)| (x - y) * (x - y)).sum())
    /// };
    /// assert!(squares(Preference::Quality)? < squares(Preference::Ratio)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoLevels`] for [`Preference::Quality`] if neither the codec nor any codec of the preset has levels.
    pub fn prefer(mut self, preference: Preference) -> Result<Self, Error> {
        let codecs = self.codecs();
        match preference == Preference::Quality && !codecs.iter().any(|codec| codec.has_levels()) {
            true => Err(Error::NoLevels(self.choice)),
            false => {
                self.preference = preference;
                Ok(self)
            }
        }
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
    pub fn axes(self, axes: Axes) -> Self {
        self.with_axes(AxesSetting::Roles(axes))
    }

    /// Lets the field decide the order of its axes, also with a codec that is named. Presets do so without this call. A sample
    /// tells whether the stream is clearly shorter if smooth axes come last. The rank stays that of a named codec.
    ///
    /// A named codec is then [chosen](Compressor::choose) for each field, in host memory.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor};
    ///
    /// // Rough along the second axis.
    /// let value = |i: u32| (i / 48 % 48 * 7919 % 1009) as f32 + (i as f32 * 1e-5).sin();
    /// let field: Vec<f32> = (0..48 * 48 * 48).map(value).collect();
    /// let named = Compressor::new(Codec::INTERP, Bound::abs(0.1)?).extents(&[48, 48, 48])?;
    /// let turned = named.axes_auto().compress(&field)?;
    /// assert_eq!(ferrosz::info(&turned)?.codec, Codec::INTERP);
    /// assert!(turned.len() < named.compress(&field)?.len());
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn axes_auto(self) -> Self {
        self.with_axes(AxesSetting::Auto)
    }

    /// [`Compressor::axes`], or [`Compressor::axes_auto`].
    #[must_use]
    pub fn with_axes(mut self, axes: AxesSetting) -> Self {
        self.axes = Some(axes);
        self
    }

    /// Sets the dimensions of coding blocks: 1 for 32 elements in a line, 2 for 8 x 8, 3 for 4 x 4 x 4; or of tiles: 1
    /// for 16,384 elements in a line, 2 for 256 x 64, 3 for 16 x 16 x 64. If a field has fewer dimensions longer than
    /// 1, blocks and tiles have as many.
    ///
    /// Without this call a preset also chooses the rank. A codec takes as many dimensions as the field has, up to
    /// three, without leading dimensions that are shorter than a block's edge of 4; a codec of blocks no more than leave its
    /// blocks more than half full: an array of n x 2 is a line. With rank 1 all axes are one line.
    ///
    /// # Errors
    ///
    /// [`Error::BadRank`]; [`Error::RankOfCodec`] if the codec has no such blocks.
    pub fn with_rank(mut self, rank: u8) -> Result<Self, Error> {
        let shape = Shape::of_rank(rank).ok_or(Error::BadRank(rank))?;
        match self.named().filter(|codec| !codec.takes(shape)) {
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

    /// As [`Compressor::chunk_length`], by the number of tiles: 4, 16 or 64. A codec, rank, axes and tiles that
    /// [`Info`](crate::Info) names make that stream again.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Preset};
    ///
    /// let field: Vec<f32> = (0..64 * 128 * 128).map(|i| (i as f32 * 1e-6).sin()).collect();
    /// let bound = Bound::abs(0.1)?;
    /// let stream = Compressor::new(Preset::Small, bound).extents(&[64, 128, 128])?.compress(&field)?;
    /// let info = ferrosz::info(&stream)?;
    /// let mut named = Compressor::new(info.codec, bound).extents(&info.extents)?.axes(info.axes);
    /// named = named.with_rank(info.rank)?;
    /// if let Some(tiles) = info.chunk_tiles {
    ///     named = named.with_chunk_tiles(tiles)?;
    /// }
    /// assert!(named.compress(&field)? == stream);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::BadChunkTiles`].
    pub fn with_chunk_tiles(self, tiles: u32) -> Result<Self, Error> {
        let length = ChunkLength::ALL
            .into_iter()
            .find(|length| length.tiles() == tiles);
        Ok(self.chunk_length(length.ok_or(Error::BadChunkTiles(tiles))?))
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

    /// The codec; none if it, or the order of the axes, is not yet chosen.
    pub fn codec(&self) -> Option<Codec> {
        self.named().filter(|_| !self.searches_axes())
    }

    /// The codec that was given or chosen, whether the axes are chosen or not.
    pub(crate) fn named(&self) -> Option<Codec> {
        match self.choice {
            Choice::Codec(codec) => Some(codec),
            Choice::Preset(_) => None,
        }
    }

    /// The codecs that may be chosen.
    pub(super) fn codecs(&self) -> &'static [Codec] {
        match self.choice {
            Choice::Codec(codec) => choose::only(codec),
            Choice::Preset(preset) if self.rewritable => choose::by_themselves(preset.codecs()),
            Choice::Preset(preset) => preset.codecs(),
        }
    }

    /// Whether the caller has asked for a search of the axes, and they are not yet chosen.
    pub(crate) fn searches_axes(&self) -> bool {
        self.axes == Some(AxesSetting::Auto)
    }

    /// The axes that were given or chosen.
    pub(crate) fn given_axes(&self) -> Option<Axes> {
        match self.axes {
            Some(AxesSetting::Roles(axes)) => Some(axes),
            Some(AxesSetting::Auto) | None => None,
        }
    }

    /// The choice of the levels' bounds. Of a codec without levels it is the default one, for which nothing must be known.
    pub(crate) fn tightening(&self) -> TighteningChoice {
        match self.named().is_none_or(Codec::has_levels) {
            true => self.preference.tightening(),
            false => Preference::default().tightening(),
        }
    }

    /// The tolerance with a bound of the coded field.
    pub(crate) fn tolerance(&self, bound: Bound) -> Tolerance {
        Tolerance {
            bound,
            tightening: self.tightening(),
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

    pub(super) fn layout_of(&self, codec: Codec, extents: Extents) -> Layout {
        let shape = self
            .shape
            .unwrap_or_else(|| choose::natural_shape(codec, &self.extents_of_shape(extents)));
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

    /// Begins to start a GPU, as [`Device::start`] does, if the device is [`Device::Auto`] and the GPU would be faster with one
    /// of the codecs that may be chosen for so many elements in host memory: it starts while the array is read.
    pub fn start_auto(&self, elements: u64, value_type: impl Into<ValueType>) -> Start {
        let dtype = value_type.into().coded();
        let gains = |codec: &Codec| {
            workload(*codec, elements, dtype).is_faster_on_a_gpu(parallel::thread_count())
        };
        let gains = match self.choice {
            Choice::Codec(codec) => gains(&codec),
            Choice::Preset(preset) => preset.codecs().iter().any(gains),
        };
        match self.device == Device::Auto && gains {
            true => Device::Cuda(0).start(),
            false => Device::Cpu.start(),
        }
    }

    /// The codec of a batch that kernels compress.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with settings that batches [cannot have](crate::ways).
    pub(crate) fn batch_codec<T: Value>(&self) -> Result<BlockCodec, Error> {
        self.check_way::<T>(Way::Batch)?;
        match self.codec().ok_or(Error::NotChosen)? {
            Codec::Blocks(codec) => Ok(codec),
            _ => Err(Error::Refused {
                way: Way::Batch,
                setting: Setting::Tiles,
            }),
        }
    }

    /// Checks that a way can have the settings of this compressor for values of a type.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]; [`Error::TooManyFills`].
    pub(crate) fn check_way<V: Value>(&self, way: Way) -> Result<(), Error> {
        for setting in Setting::ALL {
            if refusal(way, setting).is_some() && self.has_setting::<V>(setting)? {
                return Err(Error::Refused { way, setting });
            }
        }
        Ok(())
    }

    fn has_setting<V: Value>(&self, setting: Setting) -> Result<bool, Error> {
        let is_as_is = V::TYPE.is_coded_as_is();
        Ok(match setting {
            // Converted values may need no mask to keep zeros and signs: their conversion decides.
            Setting::Mask => {
                let of_fills = !self.missing::<V>()?.is_empty();
                of_fills || is_as_is && self.value_mapping(V::Coded::DTYPE)?.classes.count() > 0
            }
            Setting::Pwrel => self.bound().mode() == BoundMode::Pwrel,
            Setting::Preset => self.codec().is_none(),
            Setting::Axes => self.turns_axes(),
            Setting::Converted => !is_as_is,
            Setting::Extents => self.elements().is_some(),
            Setting::Tiles => self.codec().and_then(Codec::tiles).is_some(),
        })
    }

    /// Whether axes were set whose order is not the user's.
    pub(crate) fn turns_axes(&self) -> bool {
        let axes = self.given_axes();
        self.has_open_parts() || axes.is_some_and(|axes| !axes.order().is_identity())
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
        let extents = self.extents.unwrap_or(match self.is_complex {
            true => complex::line(elements)?,
            false => Extents::line(elements),
        });
        if self.is_complex && extents.lengths().last() != Some(&PARTS) {
            return Err(Error::ComplexExtents(extents.lengths().to_vec()));
        }
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

    /// The number of elements of the whole field, for members of a group that have parts of it.
    ///
    /// # Errors
    ///
    /// [`Error::NoExtents`].
    pub(crate) fn elements_of_parts(&self) -> Result<u64, Error> {
        self.elements().ok_or(Error::NoExtents)
    }

    /// The elements of a field with the extents that were set; none if none were set.
    pub(crate) fn elements(&self) -> Option<u64> {
        self.extents.as_ref().map(Extents::elements)
    }

    /// The extents of the coded field, given those of the field.
    pub(crate) fn coded_extents(&self, extents: &Extents) -> Result<Extents, Error> {
        let Some(axes) = self.axes_for(extents) else {
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
        self.check_complex(value_type)?;
        let classes = match value_type.is_coded_as_is() {
            true => self.value_mapping(value_type.coded())?.classes.count(),
            false => self.fills.most_classes(value_type, self.keep())?,
        };
        Ok(StreamLayout {
            layout: self.layout_for(elements)?.with_classes(classes),
            order: self.order_for(elements)?,
            value_type,
        })
    }

    /// The order of the axes of the coded field, for fields of this many elements.
    pub(crate) fn order_for(&self, elements: u64) -> Result<Order, Error> {
        let extents = self.extents_for(elements)?;
        let rank = extents.lengths().len();
        let order = (self.axes_for(&extents)).map_or(Order::identity(rank), |axes| axes.order());
        Ok(order.with_complex(self.is_complex))
    }

    /// Checks that values of a type can be converted.
    ///
    /// # Errors
    ///
    /// [`Error::MappingOfType`].
    pub(crate) fn check_conversion<V: Value>(&self) -> Result<(), Error> {
        match self.bound.mode() == BoundMode::Pwrel && !V::TYPE.is_coded_as_is() {
            true => Err(Error::MappingOfType(V::TYPE)),
            false => Ok(()),
        }
    }

    /// What is kept of a field that is converted so: nothing of one that comes back exactly.
    ///
    /// # Errors
    ///
    /// [`Error::KeptOfLargeIntegers`] if a mask would be needed, and 0 is another number in the coded field.
    pub(crate) fn keeping_of(&self, conversion: &Conversion) -> Result<Keeping, Error> {
        let keeping = self.keeping.converted(conversion);
        let has_mask = self.with_keeping(keeping).keep() != Keep::default();
        match self.codec().filter(|_| has_mask) {
            Some(codec) if conversion.kind() == Kind::Shifted => {
                Err(Error::KeptOfLargeIntegers(codec))
            }
            _ => Ok(keeping),
        }
    }

    fn with_keeping(self, keeping: Keeping) -> Self {
        Self { keeping, ..self }
    }

    /// What a mask keeps with the codec, if it is chosen.
    pub(crate) fn keep(&self) -> Keep {
        match self.codec().is_none_or(Codec::keeps_signs_and_zeros) {
            true => Keep::default(),
            false => self.keeping.always,
        }
    }

    /// Whether a machine that runs kernels converts values of a type: if it can, and neither classes of a mask nor bounds of
    /// levels depend on the conversion.
    ///
    /// # Errors
    ///
    /// [`Error::FillOfOtherType`].
    pub(crate) fn converts_on_machine<V: Value>(&self) -> Result<bool, Error> {
        let has_mask = self.keep() != Keep::default() || !self.missing::<V>()?.is_empty();
        // Kernels plan halves by the values of a field.
        let is_planned_apart = self.rewritable && V::TYPE.is_half();
        let needs_range = self.tightening().needs_range();
        Ok(converts(V::TYPE) && !has_mask && !is_planned_apart && !needs_range)
    }

    /// The fill values of fields of this type, and whether signs and zeros need a mask to be kept. Without a codec they need
    /// none.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyFills`].
    pub(crate) fn value_mapping(&self, dtype: Dtype) -> Result<ValueMapping, Error> {
        self.fills.mapping(dtype, self.bound, self.keep())
    }

    /// Whether a mask has room for zeros and signs beside the fill values.
    pub(crate) fn has_room_for_classes(&self, dtype: Dtype) -> bool {
        let all = Keep {
            zeros: true,
            signs: true,
        };
        self.fills.mapping(dtype, self.bound, all).is_ok()
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
        let value_type = value_type.into();
        let mut most = self.most_bytes(elements, value_type)?;
        if let Some(other) = self.interleaved(elements)? {
            most = most.max(other.most_bytes(elements, value_type)?);
        }
        Ok(most)
    }

    /// The upper bound with the axes that are set.
    fn most_bytes(&self, elements: u64, value_type: ValueType) -> Result<u64, Error> {
        let mut layout = self.stream_layout(elements, value_type)?;
        if !self.fills.is_empty() {
            // Valid values that are close to fill values may need further classes.
            layout.layout = layout.layout.with_classes(MAX_CLASSES as u8);
        }
        layout.max_stream_bytes().ok_or(Error::TooLarge {
            elements,
            dtype: layout.value_type,
        })
    }
}
