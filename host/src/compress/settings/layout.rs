//! The extents of a field, the rank of its blocks, the length of its chunks, and the layout that follows.

use crate::choose;
use crate::compress::{Compressor, complex};
use crate::error::Error;
use crate::length::{self, Length};
use crate::statistics::StatisticsPolicy;
use crate::stream_layout::StreamLayout;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::statistics::max_bytes;
use ferrosz_codec::mapping::axes::PARTS;
use ferrosz_codec::mapping::mask::ClassCount;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::{Codec, Shape, ValueType};

impl Compressor {
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

    /// As [`Compressor::chunk_length`], by the number of tiles: 1, 4, 16 or 64. A codec, rank, axes and tiles that
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

    /// Codes the lowest `levels` levels apart, so that [`Decompressor::level`](crate::Decompressor::level) reads levels 1 to
    /// `levels` without the finer ones. Level k of a field has every 2^k-th value along each axis. Levels that the codec has
    /// not are left out: those of cubes and planes are 4, of lines 9. The stream is mostly some percent longer
    /// ([measured](https://github.com/ferrosz/ferrosz/blob/main/docs/measurements/levels.md)). A preset then chooses among
    /// the codecs with levels. Several GPUs leave such a field to the first of them.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    ///
    /// let field: Vec<f32> = (0..100 * 300).map(|i| (i as f32 * 1e-3).sin()).collect();
    /// let compressor = Compressor::new(Codec::INTERP, Bound::abs(1e-3)?).extents(&[100, 300])?;
    /// let stream = compressor.levels_apart(2)?.compress(&field)?;
    /// let coarse: Vec<f32> = Decompressor::new().level(&stream, 2)?;
    /// assert_eq!(coarse.len(), 25 * 75);
    /// assert!((coarse[3 * 75 + 5] - field[12 * 300 + 20]).abs() <= 1e-3);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoLevels`] if neither the codec nor any codec of the preset has levels.
    pub fn levels_apart(mut self, levels: u8) -> Result<Self, Error> {
        self.levels = levels;
        self.checked()
    }

    /// How many levels are coded apart, if the codec has as many.
    pub(crate) fn levels(&self) -> u8 {
        self.levels
    }

    /// The rank of blocks or tiles; none if it is not yet chosen.
    pub fn rank(&self) -> Option<u8> {
        let extents = self.extents.unwrap_or(Extents::line(u64::MAX));
        let codec = self.codec()?;
        let coded = self.coded_extents(&extents).ok()?;
        Some(self.layout_of(codec, coded).shape.rank())
    }

    pub(in crate::compress) fn layout_of(&self, codec: Codec, extents: Extents) -> Layout {
        let shape = self
            .shape
            .unwrap_or_else(|| choose::natural_shape(codec, &self.extents_of_shape(extents)));
        Layout::new(codec, shape, extents)
            .with_chunk(self.chunk.unwrap_or_default())
            .with_levels(self.levels)
    }

    /// The shape of blocks or tiles that was set or chosen.
    pub(crate) fn shape(&self) -> Option<Shape> {
        self.shape
    }

    /// The same compressor for fields of these extents.
    pub(crate) fn with_extents(self, extents: Extents) -> Self {
        Self {
            extents: Some(extents),
            ..self
        }
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
            update_bytes: 0,
        })
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
        let of_safeguards = self.most_bytes_of_safeguards(elements, value_type)?;
        most.checked_add(of_safeguards).ok_or(Error::TooLarge {
            elements,
            dtype: value_type,
        })
    }

    /// The upper bound with the axes that are set.
    fn most_bytes(&self, elements: u64, value_type: ValueType) -> Result<u64, Error> {
        let mut layout = self.stream_layout(elements, value_type)?;
        if !self.fills.is_empty() {
            let has_signs = layout.layout.classes.has_signs;
            // Valid values that are close to fill values may need further classes.
            layout.layout = layout.layout.with_classes(ClassCount::most(has_signs));
        }
        let of_statistics = |most: u64| match self.statistics_policy {
            StatisticsPolicy::Never => Some(most),
            _ => most.checked_add(max_bytes(most)),
        };
        let most = layout.max_stream_bytes().and_then(of_statistics);
        most.ok_or(Error::TooLarge {
            elements,
            dtype: layout.value_type,
        })
    }
}
