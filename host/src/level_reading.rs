//! What of a stream is decoded for a level of its field.

use crate::cpu;
use crate::cpu::tiles::every;
use crate::error::Error;
use crate::levels::level_extents;
use crate::memory::try_zeroed;
use crate::part::Part;
use crate::reading::Reading;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::axes::Order;
use std::collections::BTreeSet;
use std::ops::Range;

/// The highest level. Higher ones have the values of this one: the first one along each axis.
pub(crate) const HIGHEST: u32 = u64::BITS - 1;

/// A box of a level of a stream's field.
pub(crate) struct LevelReading {
    pub(crate) level: u32,
    /// What of the level is decoded, if it can be decoded without finer ones.
    pub(crate) own: Option<Reading>,
    /// The smallest box of the field that has all values.
    box_of_field: Vec<Range<u64>>,
    /// The extents of the box of the level, and the levels that are counted along each axis.
    lengths: Vec<u64>,
    levels: Vec<u32>,
}

impl LevelReading {
    /// The values of a level in a box of the field, or in all of it.
    ///
    /// # Errors
    ///
    /// [`Error::BoxOutside`].
    pub(crate) fn new(
        header: &Header,
        order: &Order,
        has_safeguards: bool,
        (level, ranges): (u32, Option<&[Range<u64>]>),
    ) -> Result<Self, Error> {
        let level = level.min(HIGHEST);
        let layout = header.layout();
        let user = order.user_extents(&layout.extents);
        let extents = user.lengths();
        let whole: Vec<_> = extents.iter().map(|length| 0..*length).collect();
        let ranges = ranges.unwrap_or(&whole);
        // The box must be one of the field.
        Part::Box(ranges.to_vec()).pieces(&layout, order)?;
        // The parts of a complex number belong together.
        let along = |axis: usize| match order.is_complex() && axis + 1 == extents.len() {
            true => 0,
            false => level,
        };
        let levels: Vec<u32> = (0..extents.len()).map(along).collect();
        let of_level: Vec<_> = (ranges.iter().zip(&levels))
            .map(|(range, level)| every(range.start, *level)..every(range.end, *level))
            .collect();
        let in_field = |(range, level): (&Range<u64>, &u32)| match range.is_empty() {
            true => 0..0,
            false => range.start << level..((range.end - 1) << level) + 1,
        };
        let box_of_field = of_level.iter().zip(&levels).map(in_field).collect();
        let is_apart = !has_safeguards && !order.is_complex() && is_apart(&layout, level);
        let own = match is_apart {
            true => Some(Reading::new(
                &layout_of_level(&layout, level),
                order,
                Some(&Part::Box(of_level.clone())),
            )?),
            false => None,
        };
        let lengths = of_level.iter().map(|range| range.end - range.start);
        Ok(Self {
            level,
            own,
            box_of_field,
            lengths: lengths.collect(),
            levels,
        })
    }

    /// How many values there are.
    pub(crate) fn elements(&self) -> u64 {
        self.lengths.iter().product()
    }

    /// Whether the values are all those of the level.
    pub(crate) fn is_whole(&self) -> bool {
        self.own.as_ref().is_some_and(Reading::is_whole)
    }

    /// The smallest part of the field that has all values.
    pub(crate) fn part_of_field(&self) -> Part {
        Part::Box(self.box_of_field.clone())
    }

    /// The numbers of the entries of the chunk table that it needs.
    pub(crate) fn entries(&self, layout: &Layout, order: &Order) -> Result<BTreeSet<u64>, Error> {
        let of_field = Reading::new(layout, order, Some(&self.part_of_field()))?;
        let Some(own) = &self.own else {
            return Ok(of_field.entries());
        };
        let mut entries = of_field.entries_of_mask();
        for region in own.regions() {
            entries.extend(cpu::tiles::entries_of_level(layout, self.level, &region));
        }
        Ok(entries)
    }

    /// Puts values to their places in the part of the field, whose other values are zeros.
    pub(crate) fn spread<T: Copy + bytemuck::Zeroable>(
        &self,
        values: &[T],
    ) -> Result<Vec<T>, Error> {
        let elements = self.part_of_field().extents().iter().product();
        let mut all = try_zeroed::<T>(elements)?;
        for (value, place) in values.iter().zip(self.places()) {
            all[place as usize] = *value;
        }
        Ok(all)
    }

    /// Takes values from their places in the part of the field.
    pub(crate) fn gather<T: Copy>(&self, all: &[T], values: &mut [T]) {
        for (value, place) in values.iter_mut().zip(self.places()) {
            *value = all[place as usize];
        }
    }

    /// The places of the values in the part of the field, in their order.
    fn places(&self) -> impl Iterator<Item = u64> {
        let lengths = self.box_of_field.iter();
        let lengths: Vec<u64> = lengths.map(|range| range.end - range.start).collect();
        (0..self.elements()).map(move |number| {
            let (mut rest, mut place, mut step) = (number, 0, 1);
            for axis in (0..lengths.len()).rev() {
                let at = rest % self.lengths[axis];
                rest /= self.lengths[axis];
                place += (at << self.levels[axis]) * step;
                step *= lengths[axis];
            }
            place
        })
    }
}

/// Whether a level of streams with this layout can be decoded without the finer ones.
fn is_apart(layout: &Layout, level: u32) -> bool {
    let anchor_level = layout.codec.tiles().map(|codec| codec.levels(layout.shape));
    anchor_level.is_some_and(|most| most > 0 && (layout.levels > 0 || level >= u32::from(most)))
}

/// The layout of the field of a level: that of its elements, in the same dimensions.
fn layout_of_level(layout: &Layout, level: u32) -> Layout {
    let lengths = level_extents(layout.extents.lengths(), level);
    // Each length is at most that of the field, so these are extents, too.
    let extents = layout.extents.with_lengths(&lengths);
    Layout::new(
        layout.codec,
        layout.shape,
        extents.unwrap_or(layout.extents),
    )
}
