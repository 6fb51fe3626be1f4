//! The values of a level: those of the positions whose coordinates can all be divided by a power of two, decoded from the
//! codes of this level and of higher ones.

use crate::cpu::tiles::codes::apart;
use crate::cpu::tiles::decompress::{
    Decode, DecodedTiles, Faults, Start, entries_of_tiles, interpolate,
};
use crate::cpu::tiles::lines::{Line, Lines, index_in_line};
use crate::cpu::tiles::rows::Rows;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::parallel;
use crate::stream_ref::StreamRef;
use ferrosz_codec::Element;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::interp::geometry::Geometry;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::RAW;
use ferrosz_codec::tile::{self, Part, ROW, TILE, TileGrid};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

/// The field of every 2^level-th position of a field of tiles, along each axis.
pub(crate) struct LevelField<'a> {
    layout: &'a TileLayout,
    level: u32,
    /// The field of the level. Its tiles have no meaning.
    grid: TileGrid,
    geometry: Geometry,
}

impl<'a> LevelField<'a> {
    /// A level of a field whose dimensions are axes of the user: one each, and one of slices. None if the codec has no levels.
    pub(crate) fn new(layout: &'a TileLayout, level: u32) -> Option<Self> {
        let fine = &layout.fine;
        let lengths = fine.slice_lengths().map(|length| every(length, level));
        Some(Self {
            layout,
            level,
            grid: TileGrid::sliced(fine.shape(), every(fine.slices(), level), lengths),
            geometry: layout.codec.predictor.geometry()?,
        })
    }

    /// The levels of tiles, of which the highest is that of the anchors.
    fn anchor_level(&self) -> u32 {
        self.geometry.levels(self.layout.shape())
    }

    /// The coordinate along z in the field of one along z of the level.
    fn of_z(&self, z: u64) -> u64 {
        let depth = self.grid.slice_lengths()[0].max(1);
        ((z / depth) << self.level) * self.layout.fine.slice_lengths()[0]
            + ((z % depth) << self.level)
    }

    /// The coordinate along z in the level of one of the field; none if it is between those of the level.
    fn to_z(&self, z: u64) -> Option<u64> {
        let depth = self.layout.fine.slice_lengths()[0].max(1);
        let (slice, z) = (z / depth, z % depth);
        let step = 1u64 << self.level;
        let is_of_level = slice.is_multiple_of(step) && z.is_multiple_of(step);
        let depth = self.grid.slice_lengths()[0];
        is_of_level.then(|| (slice >> self.level) * depth + (z >> self.level))
    }

    /// The coordinates of a region of the level, a box with elements: the first and the last ones.
    fn coordinates(&self, region: &Region) -> [RangeInclusive<u64>; 3] {
        let [_, height, width] = self.grid.lengths();
        let position = |flat: u64| [flat / width / height, flat / width % height, flat % width];
        let (first, last) = region.span();
        let (first, last) = (position(first), position(last));
        std::array::from_fn(|i| first[i]..=last[i])
    }

    /// The tiles of the field that have positions of a region of the level, and these with those behind them, in ascending
    /// order.
    fn tiles(&self, region: &Region) -> (Vec<u64>, BTreeSet<u64>) {
        let fine = &self.layout.fine;
        let first = self.layout.codec.order(fine.shape()).first_axis();
        let [z, y, x] = self.coordinates(region);
        let extents = tile::extents(fine.shape()).map(u64::from);
        let along = |axis: usize, range: &RangeInclusive<u64>| {
            let of = |at: &u64| (at << self.level) / extents[axis];
            of(range.start())..=of(range.end())
        };
        let zs: BTreeSet<u64> = z
            .map(|z| self.of_z(z))
            .map(|z| fine.tiles_along_z(z, z + 1).start)
            .collect();
        let (ys, xs) = (along(1, &y), along(2, &x));
        let [_, rows, columns] = fine.counts();
        let number = |z: u64, y: u64, x: u64| (z * rows + y) * columns + x;
        let (mut own, mut with_far) = (Vec::new(), BTreeSet::new());
        for z in zs {
            for y in ys.clone() {
                own.extend(xs.clone().map(|x| number(z, y, x)));
            }
            let has_far = first == 0 && !fine.ends_slice(z + 1);
            for z in z..=z + u64::from(has_far) {
                for y in *ys.start()..=(ys.end() + u64::from(first < 2)).min(rows - 1) {
                    let last = (xs.end() + 1).min(columns - 1);
                    with_far.extend((*xs.start()..=last).map(|x| number(z, y, x)));
                }
            }
        }
        (own, with_far)
    }

    /// The numbers of the entries that a region of the level needs.
    fn entries(&self, region: &Region) -> BTreeSet<u64> {
        let (_, tiles) = self.tiles(region);
        match self.level < self.anchor_level() {
            true => entries_of_tiles(self.layout, &Vec::from_iter(tiles), self.level),
            false => entries_of_tiles(self.layout, &[], self.level),
        }
    }
}

/// The numbers of the entries that a region of a level of streams with this layout needs.
pub(crate) fn entries_of_level(layout: &Layout, level: u32, region: &Region) -> BTreeSet<u64> {
    let Some(tiles) = layout.tiles() else {
        return BTreeSet::new();
    };
    let field = LevelField::new(&tiles, level);
    field.map_or_else(BTreeSet::new, |field| field.entries(region))
}

/// The number of positions, of so many, whose coordinates can be divided by 2^level.
pub(crate) fn every(length: u64, level: u32) -> u64 {
    let mask = 1u64.checked_shl(level).map_or(u64::MAX, |step| step - 1);
    length.checked_shr(level).unwrap_or(0) + u64::from(length & mask != 0)
}

/// Decodes regions of levels of a stream.
pub(crate) struct LevelReader<'a, T> {
    decode: Decode<'a>,
    start: Start<T>,
    coarse: Vec<T>,
    /// The chunks of lines that were decoded, for the next level, by the entry of the first chunk of the line.
    known: Mutex<KnownLines<T>>,
}

/// Decoded chunks of lines.
type KnownLines<T> = BTreeMap<u64, DecodedTiles<T>>;

impl<'a, T: Element> LevelReader<'a, T> {
    /// A reader of a stream that has elements. None if the codec has no levels.
    pub(crate) fn new(
        version: Version,
        stream: &'a StreamRef<'_>,
        layout: &'a TileLayout,
        verify: bool,
    ) -> Result<Option<Self>, Error> {
        let (decode, start) = Decode::begin::<T>(version, stream, layout, verify)?;
        let Some(start) = start else {
            return Ok(None);
        };
        let coarse = decode.coarse(&start)?;
        Ok(Some(Self {
            decode,
            start,
            coarse,
            known: Mutex::default(),
        }))
    }

    /// Decodes a region of a level, which has elements, into `values`, which are as many.
    pub(crate) fn read(
        &self,
        field: &LevelField<'_>,
        region: &Region,
        values: &mut [T],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let out = Rows::of(region, &field.grid, values);
        if field.level >= field.anchor_level() {
            self.put_anchors(field, region, &out);
            return Ok(());
        }
        let (own, tiles) = field.tiles(region);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let tiles = Vec::from_iter(tiles);
        let codes = (self.decode).codes_of_lines(tiles, field.level, Some(&mut known));
        let codes = first_fault(codes?)?;
        drop(known);
        self.compose(field, &codes, own, &out, progress);
        Ok(())
    }

    /// Puts values of the coarse field.
    fn put_anchors(&self, field: &LevelField<'_>, region: &Region, out: &Rows<'_, T>) {
        let fine = &field.layout.fine;
        let coarse = self.decode.layout.grid(Part::Coarse);
        let spacing = 1 << field.anchor_level();
        let [zs, ys, xs] = field.coordinates(region);
        let mut row = Vec::new();
        for z in zs {
            for y in ys.clone() {
                row.clear();
                row.extend(xs.clone().map(|x| {
                    let at = [field.of_z(z), y << field.level, x << field.level];
                    self.coarse[coarse.flat(fine.to_coarse(coarse, spacing, at)) as usize]
                }));
                out.put([z, y, *xs.start()], &row);
            }
        }
    }

    /// Decodes tiles, and puts their positions of the level.
    fn compose(
        &self,
        field: &LevelField<'_>,
        codes: &DecodedTiles<T>,
        own: Vec<u64>,
        out: &Rows<'_, T>,
        progress: Progress<'_>,
    ) {
        let level = field.level;
        let predictor = self.decode.predictor(&self.start);
        parallel::map_with(
            own.into_iter(),
            || predictor.store(),
            |store, number| {
                apart(|| interpolate(&predictor, (number, level), codes, &self.coarse, store));
                let order = store.order();
                let [depth, height, width] = order.extents_of_level(level);
                // Raw values are output unchanged, whatever value the encoder predicted from.
                for (at, value) in codes.tile(number).map_or(&[][..], |tile| tile.raw) {
                    let position = order.position_of_level(level, u32::from(*at));
                    store.set_value_of(level, position, *value);
                }
                let tile = field.layout.fine.tile(number);
                let first = order.first_axis();
                let along = |axis: usize| if axis < first { 0 } else { level };
                let left = [0, 1, 2].map(|axis| tile.left[axis].div_ceil(1 << along(axis)));
                let mut values = [T::ZERO; ROW as usize];
                for z in 0..depth.min(left[0]) {
                    let Some(of_level) = field.to_z(tile.origin[0] + u64::from(z << along(0)))
                    else {
                        continue;
                    };
                    for y in 0..height.min(left[1]) {
                        let width = width.min(left[2]);
                        for x in (0..width).step_by(ROW as usize) {
                            let values = &mut values[..(width - x).min(ROW) as usize];
                            store.read_row_of(level, [z, y, x], values);
                            let at =
                                |axis: usize, at: u32| (tile.origin[axis] >> level) + u64::from(at);
                            progress(out.put([of_level, at(1, y), at(2, x)], values));
                        }
                    }
                }
            },
        );
    }
}

impl Decode<'_> {
    /// The codes of these tiles, whose numbers ascend, from this level on.
    pub(super) fn codes_of_level<T: Element>(
        &self,
        tiles: Vec<u64>,
        level: u32,
    ) -> Result<DecodedTiles<T>, Error> {
        first_fault(self.codes_of_lines(tiles, level, None)?)
    }

    /// The codes of these tiles, whose numbers ascend, from this level on; returns also the faults, by the numbers of the
    /// chunks in the field. Chunks that are known are not decoded again; sound ones that were not are known then.
    pub(super) fn codes_of_lines<T: Element>(
        &self,
        tiles: Vec<u64>,
        level: u32,
        mut known: Option<&mut KnownLines<T>>,
    ) -> Result<(DecodedTiles<T>, Faults), Error> {
        let layout = self.layout;
        let order = layout.codec.order(layout.shape());
        let of_tile = order.extents_of_level(level).iter().product::<u32>();
        let mut decoded = DecodedTiles::of_tiles(tiles.clone(), of_tile as usize)?;
        let mut all_faults = Vec::new();
        for line in &Lines::new(layout, level).lines {
            let divided = line.divided(layout, &self.line_map);
            let mut chunks = line.chunks_of(divided.length, &tiles);
            let earlier = known.as_mut();
            let earlier = earlier.and_then(|known| known.remove(&divided.first_entry));
            if let Some(earlier) = &earlier {
                chunks.retain(|chunk| !earlier.has_chunk(*chunk));
            }
            let chunks = chunks.into_iter().collect();
            let (mut of_line, faults) = self.decoded::<T>(divided, chunks)?;
            if let Some(earlier) = earlier {
                of_line = earlier.merged(of_line);
            }
            let before = divided.first_entry - self.divided(Part::Fine).first_entry;
            all_faults.extend(
                faults
                    .into_iter()
                    .map(|(chunk, fault)| (before + chunk, fault)),
            );
            gather(layout.shape(), &layout.fine, line, &of_line, &mut decoded);
            if let Some(known) = &mut known {
                known.insert(divided.first_entry, of_line);
            }
        }
        parallel::each(decoded.each_mut(), |(_, _, raw)| {
            if let Some([raw]) = raw.as_deref_mut() {
                raw.sort_unstable_by_key(|(at, _)| *at);
            }
        });
        Ok((decoded, all_faults))
    }
}

/// What was decoded, if nothing was faulty; otherwise the fault in the lowest chunk.
fn first_fault<T>((decoded, faults): (DecodedTiles<T>, Faults)) -> Result<DecodedTiles<T>, Error> {
    match faults.into_iter().next() {
        None => Ok(decoded),
        Some((_, fault)) => Err(fault.into()),
    }
}

/// Puts the codes of a line to their places in tiles. A tile with codes in a faulty chunk is lost.
fn gather<T: Element>(
    shape: Shape,
    grid: &TileGrid,
    line: &Line,
    of_line: &DecodedTiles<T>,
    tiles: &mut DecodedTiles<T>,
) {
    parallel::each(tiles.each_mut(), |(number, codes, raw)| {
        let tile = grid.tile(number);
        let mut current = None;
        let mut is_lost = false;
        line.each_of_tile(shape, (number, &tile), |at, place| {
            let wanted = at / TILE as u64;
            let found = match current {
                Some((of, found)) if of == wanted => found,
                _ => of_line.tile(wanted),
            };
            current = Some((wanted, found));
            let Some(found) = found else {
                is_lost = true;
                return;
            };
            let index = index_in_line(at);
            codes[place] = found.codes[index];
            if found.codes[index] == RAW
                && let Some([raw]) = raw.as_deref_mut()
            {
                raw.push((place as u16, found.raw(index as u32)));
            }
        });
        if is_lost {
            *raw = None;
        }
    });
}
