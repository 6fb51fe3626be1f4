//! Levels: every 2^k-th value of a field along each axis.

use crate::backend::{Backend, Gpu};
use crate::cpu::mapping::conversion;
use crate::cpu::tiles::every;
use crate::cpu::{self, ReadLevel, Version};
use crate::decompress::{Decompressor, read, read_in_order, workload};
use crate::error::Error;
use crate::gpu::level::DeviceLevels;
use crate::level_reading::{HIGHEST, LevelReading};
use crate::memory::try_zeroed;
use crate::number::{Number, parts_of};
use crate::progress::SILENT;
use crate::reading::Reading;
use crate::stream_ref::StreamRef;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::mapping::axes::PARTS;
use ferrosz_codec::{Element, Value, with_value};
use std::ops::{ControlFlow, Range};

/// The extents of a level of a field with these extents: a level has the values whose coordinates can all be divided by
/// 2^level.
///
/// ```
/// assert_eq!(ferrosz_host::level_extents(&[100, 33, 1], 3), [13, 5, 1]);
/// ```
pub fn level_extents(extents: &[u64], level: u32) -> Vec<u64> {
    extents.iter().map(|length| every(*length, level)).collect()
}

/// The extents of the values of a level in a box of a field.
///
/// ```
/// assert_eq!(ferrosz_host::level_extents_of_box(&[10..20, 5..8, 1..2], 1), [5, 1, 0]);
/// ```
pub fn level_extents_of_box(ranges: &[Range<u64>], level: u32) -> Vec<u64> {
    let lengths = ranges.iter().map(|range| {
        let before = |end| every(end, level);
        before(range.end).saturating_sub(before(range.start))
    });
    lengths.collect()
}

/// [`Decompressor::levels_of`] a type of values.
type DecodeLevels<V> =
    fn(&Decompressor, &StreamRef<'_>, &[LevelReading], TakeLevel<'_, V>) -> Result<(), Error>;

/// Gets the values of each level, and says whether to go on.
type TakeLevel<'a, V> = &'a mut dyn FnMut(&LevelReading, Vec<V>) -> Result<Going, Error>;

/// Whether more levels are wanted.
type Going = ControlFlow<()>;

impl Decompressor {
    /// Decompresses a level of a stream: every 2^level-th value along each axis, from the first one on. The values are those
    /// that the whole field has there; level 0 is the whole field.
    ///
    /// If the stream's levels are [coded apart](crate::Compressor::levels_apart), only what the level needs is read and
    /// decoded; so are levels from 4 on of all streams of planes and cubes with levels, and from 9 on of lines. Of other streams
    /// all is decoded, and of streams with safeguards or of complex numbers: that takes as long as the whole field does. A mask is read whole.
    /// A GPU decodes a level of a whole field, in memory for all of the field; levels in a box, and the coarse field alone, are decoded
    /// on the CPU.
    ///
    /// # Errors
    ///
    /// As [`Decompressor::decompress`].
    pub fn level<N: Number>(&self, stream: &[u8], level: u32) -> Result<Vec<N>, Error> {
        match level {
            0 => self.decompress(stream),
            _ => self.level_in(stream, level, None),
        }
    }

    /// As [`Decompressor::level`], in a box of the field: of its values those that belong to the level.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    ///
    /// let field: Vec<f32> = (0..100 * 300).map(|i| (i as f32 * 1e-3).sin()).collect();
    /// let compressor = Compressor::new(Codec::INTERP, Bound::abs(1e-3)?).extents(&[100, 300])?;
    /// let stream = compressor.levels_apart(1)?.compress(&field)?;
    /// let ranges = [10..20, 5..8];
    /// let found: Vec<f32> = Decompressor::new().level_of_box(&stream, 1, &ranges)?;
    /// // Rows 10, 12, 14, 16 and 18, and of each column 6.
    /// assert_eq!(found.len(), 5);
    /// assert!((found[1] - field[12 * 300 + 6]).abs() <= 1e-3);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::BoxOutside`], and as [`Decompressor::decompress`].
    pub fn level_of_box<N: Number>(
        &self,
        stream: &[u8],
        level: u32,
        ranges: &[Range<u64>],
    ) -> Result<Vec<N>, Error> {
        self.level_in(stream, level, Some(ranges))
    }

    /// Decompresses levels of a stream one after the other, the coarsest first: level `from`, the next finer one, and so on to
    /// level 0, which is the whole field. `take` gets the number and the values of each, and says whether to go on. What was
    /// decoded for one level is not decoded again for the next one, if the stream's levels are
    /// [coded apart](crate::Compressor::levels_apart).
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    /// use std::ops::ControlFlow;
    ///
    /// let field: Vec<f32> = (0..100 * 300).map(|i| (i as f32 * 1e-3).sin()).collect();
    /// let compressor = Compressor::new(Codec::INTERP, Bound::abs(1e-3)?).extents(&[100, 300])?;
    /// let stream = compressor.levels_apart(3)?.compress(&field)?;
    /// let mut lengths = Vec::new();
    /// Decompressor::new().refine(&stream, 3, |level, values: Vec<f32>| {
    ///     lengths.push((level, values.len()));
    ///     if level > 1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    /// })?;
    /// assert_eq!(lengths, [(3, 13 * 38), (2, 25 * 75), (1, 50 * 150)]);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Decompressor::decompress`].
    pub fn refine<N: Number>(
        &self,
        stream: &[u8],
        from: u32,
        mut take: impl FnMut(u32, Vec<N>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let wanted: Vec<u32> = (0..=from.min(HIGHEST)).rev().collect();
        self.each_level(stream, &wanted, None, &mut |level, values| {
            Ok(take(level, values))
        })
    }

    /// As [`Decompressor::level_of_box`], or [`Decompressor::level`] without a box.
    pub(crate) fn level_in<N: Number>(
        &self,
        bytes: &[u8],
        level: u32,
        ranges: Option<&[Range<u64>]>,
    ) -> Result<Vec<N>, Error> {
        let mut found = Vec::new();
        self.each_level(bytes, &[level], ranges, &mut |_, values| {
            found = values;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Decodes these levels in a box, or in the whole field.
    fn each_level<N: Number>(
        &self,
        bytes: &[u8],
        levels: &[u32],
        ranges: Option<&[Range<u64>]>,
        take: &mut dyn FnMut(u32, Vec<N>) -> Result<Going, Error>,
    ) -> Result<(), Error> {
        let stream = read::<N::Part>(bytes)?;
        if N::IS_COMPLEX && !stream.order.is_complex() {
            return Err(Error::NotComplex(stream.header.value_type));
        }
        let of_parts = ranges.filter(|_| N::IS_COMPLEX).map(|ranges| {
            let mut ranges = ranges.to_vec();
            ranges.push(0..PARTS);
            ranges
        });
        let ranges = of_parts.as_deref().or(ranges);
        let has_safeguards = stream.is_mended();
        let reading = |level: &u32| {
            LevelReading::new(
                &stream.header,
                &stream.order,
                has_safeguards,
                (*level, ranges),
            )
        };
        let readings = levels.iter().map(reading).collect::<Result<Vec<_>, _>>()?;
        let mut give = |reading: &LevelReading, values: Vec<N::Part>| {
            let mut numbers = try_zeroed::<N>(reading.elements() / parts_of::<N>())?;
            bytemuck::cast_slice_mut::<N, N::Part>(&mut numbers).copy_from_slice(&values);
            take(reading.level, numbers)
        };
        // All levels are coded apart, or none below that of the anchors.
        let apart = readings
            .iter()
            .take_while(|reading| reading.own.is_some())
            .count();
        let (apart, others) = readings.split_at(apart);
        let mut is_over = false;
        if !apart.is_empty() {
            self.run_levels(&stream, apart, &mut |reading, values| {
                let going = give(reading, values)?;
                is_over = going.is_break();
                Ok(going)
            })?;
        }
        for reading in others {
            if is_over {
                break;
            }
            let mut values = try_zeroed::<N::Part>(reading.elements())?;
            if !values.is_empty() {
                let part = reading.part_of_field();
                let all: Vec<N::Part> = self.values_of(bytes, Some(&part), SILENT)?;
                reading.gather(&all, &mut values);
            }
            is_over = give(reading, values)?.is_break();
        }
        Ok(())
    }

    fn run_levels<V: Value>(
        &self,
        stream: &StreamRef<'_>,
        readings: &[LevelReading],
        take: TakeLevel<'_, V>,
    ) -> Result<(), Error> {
        with_value!(V::TYPE, W => {
            compiled_here!(decode: DecodeLevels<W> = Decompressor::levels_of);
            decode()(self, stream, readings, &mut |reading, values| {
                take(reading, bytemuck::allocation::cast_vec(values))
            })
        })
    }

    fn levels_of<V: Value>(
        &self,
        stream: &StreamRef<'_>,
        readings: &[LevelReading],
        take: TakeLevel<'_, V>,
    ) -> Result<(), Error> {
        let job = (Version::best(), stream, self.verifies_checksums(), SILENT);
        let has_values = |reading: &&LevelReading| reading.elements() > 0;
        if readings.iter().find(has_values).is_none() {
            // Without elements nothing of the stream is read: a part of it may be unknown.
            for reading in readings {
                if take(reading, Vec::new())?.is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let mut give = |read: ReadLevel<'_, V::Coded>| {
            for reading in readings {
                let Some(own) = &reading.own else {
                    continue;
                };
                let mut values = try_zeroed::<V>(reading.elements())?;
                conversion::decode_to(&stream.conversion, &mut values, |elements| {
                    let read = |region: &Region, values: &mut [V::Coded]| {
                        read(reading.level, region, values)
                    };
                    read_in_order(&read, &own.pieces, elements)?;
                    self.take_level_back(stream, reading, elements)
                })?;
                if take(reading, values)?.is_break() {
                    break;
                }
            }
            Ok(())
        };
        match self.gpu_for_levels::<V>(stream, readings)? {
            None => cpu::with_level_reader(job, &mut give),
            Some(gpu) => {
                let levels = DeviceLevels::new(&gpu, stream, self.verifies_checksums());
                give(&|level, region, values| levels.read(level, region, values))
            }
        }
    }

    /// The GPU that decodes these levels; none if the CPU does. A GPU decodes levels of whole fields, below the level of the anchors.
    fn gpu_for_levels<V: Value>(
        &self,
        stream: &StreamRef<'_>,
        readings: &[LevelReading],
    ) -> Result<Option<Gpu>, Error> {
        let layout = stream.header.layout();
        let anchor_level = layout.codec.tiles().map(|codec| codec.levels(layout.shape));
        let is_wanted = |reading: &LevelReading| {
            reading.is_whole() && reading.level < u32::from(anchor_level.unwrap_or(0))
        };
        if layout.levels == 0 || !readings.iter().all(is_wanted) {
            return Ok(None);
        }
        let elements = readings.iter().map(LevelReading::elements).sum::<u64>();
        let workload = workload(layout.codec, elements as usize, V::Coded::BYTES);
        Ok(match Backend::of(self.device, workload)? {
            Backend::Gpu(gpu) => Some(gpu),
            Backend::Cpu => None,
        })
    }

    /// Turns decoded values of a level into elements. The mask has no levels, so all of it is read where values are wanted.
    fn take_level_back<T: Element>(
        &self,
        stream: &StreamRef<'_>,
        reading: &LevelReading,
        elements: &mut [T],
    ) -> Result<(), Error> {
        if stream.header.classes.all() == 0 && stream.mapping.back().is_identity() {
            return Ok(());
        }
        let layout = stream.header.layout();
        let of_field = Reading::new(&layout, &stream.order, Some(&reading.part_of_field()))?;
        let mut all = reading.spread(elements)?;
        self.take_back(stream, &of_field, &mut all)?;
        reading.gather(&all, elements);
        Ok(())
    }
}
