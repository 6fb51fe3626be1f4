//! The values of a level: those of the positions whose coordinates can all be divided by a power of two, decoded from the
//! codes of this level and of higher ones.

use crate::cpu::predict::interp::TileStore;
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

/// The axes that are one dimension of a coded field.
struct Dimension {
    /// Their lengths in the field, without those of length 1, and in the level.
    of_field: Vec<u64>,
    of_level: Vec<u64>,
}

impl Dimension {
    fn new(lengths: &[u64], level: u32) -> Self {
        let of_field: Vec<u64> = (lengths.iter().copied())
            .filter(|length| *length != 1)
            .collect();
        Self {
            of_level: of_field
                .iter()
                .map(|length| every(*length, level))
                .collect(),
            of_field,
        }
    }

    /// Whether neighbours in the level are 2^level apart in the field.
    fn is_one_axis(&self) -> bool {
        self.of_field.len() < 2
    }

    /// The coordinate in the field of one in the level.
    fn to_field(&self, level: u32, mut at: u64) -> u64 {
        let (mut found, mut step) = (0, 1);
        for (of_field, of_level) in self.of_field.iter().zip(&self.of_level).rev() {
            found += ((at % of_level) << level) * step;
            at /= of_level;
            step *= of_field;
        }
        found
    }

    /// The coordinate in the level of one in the field; none if it is between those of the level.
    fn to_level(&self, level: u32, mut at: u64) -> Option<u64> {
        let (mut found, mut step) = (0, 1);
        for (of_field, of_level) in self.of_field.iter().zip(&self.of_level).rev() {
            let own = at % of_field;
            if !own.is_multiple_of(1 << level) {
                return None;
            }
            found += (own >> level) * step;
            at /= of_field;
            step *= of_level;
        }
        Some(found)
    }
}

/// The field of every 2^level-th value of a field of tiles, along each axis of the user. Its values are all at positions of
/// this level or of higher ones, whatever axes are one dimension.
pub(crate) struct LevelField<'a> {
    layout: &'a TileLayout,
    level: u32,
    dimensions: [Dimension; 3],
    /// The field of the level. Its tiles have no meaning.
    grid: TileGrid,
    geometry: Geometry,
}

impl<'a> LevelField<'a> {
    /// A level of the field of streams with these layouts. None if the codec has no levels.
    pub(crate) fn new(layout: &Layout, tiles: &'a TileLayout, level: u32) -> Option<Self> {
        let lengths = layout.extents.lengths();
        let axes = match tiles.shape() {
            Shape::Line => [0..0, 0..0, 0..lengths.len()],
            Shape::Plane | Shape::Cube => layout.extents.axes_of_dimensions(),
        };
        let dimensions = axes.map(|axes| Dimension::new(&lengths[axes], level));
        let of_level = dimensions
            .each_ref()
            .map(|one| one.of_level.iter().product());
        Some(Self {
            layout: tiles,
            level,
            dimensions,
            grid: TileGrid::new(tiles.shape(), of_level),
            geometry: tiles.codec.predictor.geometry()?,
        })
    }

    /// The level of the anchors.
    fn anchor_level(&self) -> u32 {
        self.geometry.levels(self.layout.shape())
    }

    /// The position in the field of one in the level.
    fn to_field(&self, at: [u64; 3]) -> [u64; 3] {
        std::array::from_fn(|axis| self.dimensions[axis].to_field(self.level, at[axis]))
    }

    /// The coordinate in the level of one in the field along an axis; none if it is between those of the level.
    fn to_level(&self, axis: usize, at: u64) -> Option<u64> {
        self.dimensions[axis].to_level(self.level, at)
    }

    /// The coordinates that include those of a region of the level with elements.
    fn coordinates(&self, region: &Region) -> [RangeInclusive<u64>; 3] {
        let [_, height, width] = self.grid.lengths();
        let position = |flat: u64| [flat / width / height, flat / width % height, flat % width];
        let (first, last) = region.span();
        let (first, last) = (position(first), position(last));
        std::array::from_fn(|i| first[i]..=last[i])
    }

    /// The numbers along an axis of the tiles that have coordinates of the level.
    fn tiles_along(&self, axis: usize, range: RangeInclusive<u64>) -> Vec<u64> {
        let fine = &self.layout.fine;
        let extent = u64::from(tile::extents(fine.shape())[axis]);
        let tile_of = |at: u64| {
            let at = self.dimensions[axis].to_field(self.level, at);
            match axis {
                0 => fine.tiles_along_z(at, at + 1).start,
                _ => at / extent,
            }
        };
        if axis > 0 && self.dimensions[axis].is_one_axis() {
            return (tile_of(*range.start())..=tile_of(*range.end())).collect();
        }
        BTreeSet::from_iter(range.map(tile_of))
            .into_iter()
            .collect()
    }

    /// The tiles of the field that have positions of a region of the level, and these with those behind them, in ascending
    /// order.
    fn tiles(&self, region: &Region) -> (Vec<u64>, BTreeSet<u64>) {
        let fine = &self.layout.fine;
        let first = self.layout.codec.order(fine.shape()).first_axis();
        let [zs, ys, xs] = self.coordinates(region);
        let (zs, ys, xs) = (
            self.tiles_along(0, zs),
            self.tiles_along(1, ys),
            self.tiles_along(2, xs),
        );
        let [_, rows, columns] = fine.counts();
        let (mut own, mut with_far) = (Vec::new(), BTreeSet::new());
        for z in zs {
            let far_z = u64::from(first == 0 && !fine.ends_slice(z + 1));
            for y in &ys {
                let far_y = u64::from(first < 2 && y + 1 < rows);
                for x in &xs {
                    let far_x = u64::from(x + 1 < columns);
                    own.push((z * rows + y) * columns + x);
                    for z in z..=z + far_z {
                        for y in *y..=y + far_y {
                            with_far.extend((*x..=x + far_x).map(|x| (z * rows + y) * columns + x));
                        }
                    }
                }
            }
        }
        (own, with_far)
    }

    /// Copies elements of a region of the level to as many values, from the elements of a level of the codec's dimensions that is
    /// not higher.
    pub(crate) fn put_elements<T: Element>(
        &self,
        region: &Region,
        (level, grid, elements): (u32, &TileGrid, &[T]),
        values: &mut [T],
    ) {
        let out = Rows::of(region, &self.grid, values);
        self.put_every(region, (level, grid, elements), &out);
    }

    fn put_every<T: Element>(
        &self,
        region: &Region,
        (level, grid, elements): (u32, &TileGrid, &[T]),
        out: &Rows<'_, T>,
    ) {
        let fine = &self.layout.fine;
        let place = |at: [u64; 3]| {
            let at = fine.to_coarse(grid, 1 << level, self.to_field(at));
            grid.flat(at) as usize
        };
        let [zs, ys, xs] = self.coordinates(region);
        let is_row = level == self.level && self.dimensions[2].is_one_axis();
        let width = (*xs.end() + 1).saturating_sub(*xs.start()) as usize;
        let mut row = Vec::new();
        for z in zs {
            for y in ys.clone() {
                let first = [z, y, *xs.start()];
                if is_row && width > 0 {
                    out.put(first, &elements[place(first)..][..width]);
                    continue;
                }
                row.clear();
                row.extend(xs.clone().map(|x| elements[place([z, y, x])]));
                out.put(first, &row);
            }
        }
    }

    /// Puts the values of the level that a tile has; returns their number.
    fn put_tile<T: Element>(&self, number: u64, store: &TileStore<T>, out: &Rows<'_, T>) -> u64 {
        let (level, order) = (self.level, store.order());
        let tile = self.layout.fine.tile(number);
        let along = |axis: usize| if axis < order.first_axis() { 0 } else { level };
        let extents = order.extents_of_level(level);
        let [depth, height, width] =
            [0, 1, 2].map(|axis| extents[axis].min(tile.left[axis].div_ceil(1 << along(axis))));
        let to_level = |axis: usize, at: u32| {
            self.to_level(axis, tile.origin[axis] + u64::from(at << along(axis)))
        };
        let mut values = [T::ZERO; ROW as usize];
        let mut count = 0;
        for (z, of_z) in (0..depth).filter_map(|z| Some((z, to_level(0, z)?))) {
            for (y, of_y) in (0..height).filter_map(|y| Some((y, to_level(1, y)?))) {
                for x in (0..width).step_by(ROW as usize) {
                    let values = &mut values[..(width - x).min(ROW) as usize];
                    store.read_row_of(level, [z, y, x], values);
                    if self.dimensions[2].is_one_axis() {
                        let of_x = to_level(2, x).unwrap_or(0);
                        count += out.put([of_z, of_y, of_x], values);
                        continue;
                    }
                    for (x, value) in (x..).zip(values) {
                        if let Some(of_x) = to_level(2, x) {
                            count += out.put([of_z, of_y, of_x], std::slice::from_ref(value));
                        }
                    }
                }
            }
        }
        count
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
    let field = LevelField::new(layout, &tiles, level);
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
            let coarse = self.decode.layout.grid(Part::Coarse);
            field.put_every(region, (field.anchor_level(), coarse, &self.coarse), &out);
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
                // Raw values are output unchanged, whatever value the encoder predicted from.
                for (at, value) in codes.tile(number).map_or(&[][..], |tile| tile.raw) {
                    let position = order.position_of_level(level, u32::from(*at));
                    store.set_value_of(level, position, *value);
                }
                progress(field.put_tile(number, store, out));
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

/// The decoded tiles. If chunks were faulty, the fault of the lowest one.
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
