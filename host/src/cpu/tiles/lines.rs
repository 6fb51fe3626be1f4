//! Lines of a field whose levels are coded apart: where the codes of a tile lie in them. See FORMAT.md, section 34.

use crate::cpu::code::zones::ZoneMap;
use crate::cpu::tiles::chunks::{Divided, WAVE_TILES};
use crate::cpu::tiles::codes::{TileValues, Tiles};
use crate::cpu::tiles::kept::{Kept, TilePlace};
use crate::error::Error;
use crate::memory;
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::is_counted;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::container::tiles::{FIRST_ENTRY, TileLayout};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{
    self, ChunkLength, LANES, LineLevel, RUN_TILES, TILE, TileBox, TileGrid, TileOrder,
};
use std::collections::BTreeSet;
use std::ops::Range;

/// The zones of the tiles of lines.
pub(super) fn zones() -> ZoneMap {
    ZoneMap::new(TileOrder::flat(Shape::Line), Shifts::NONE)
}

/// A line.
pub(super) struct Line {
    /// The tiles of the line.
    pub(super) grid: TileGrid,
    /// The number of the entry of its first chunk.
    first_entry: u64,
    /// The number of its first run among the runs of all lines.
    first_run: u64,
    /// Where the codes of each tile of the field start in it, and where those of the last one end.
    starts: Vec<u64>,
    /// For each size of tiles of the field, where its codes lie in such a tile, counted on the lowest level that is wanted.
    places: Vec<([u32; 3], Vec<u16>)>,
}

/// The lines of a field with codes of some level or higher ones, in the order of their chunks.
pub(super) struct Lines {
    pub(super) lines: Vec<Line>,
    /// The runs of all lines of the field.
    runs: u64,
}

impl Lines {
    /// The lines of a field that have positions of level `lowest` or above.
    pub(super) fn new(layout: &TileLayout, lowest: u32) -> Self {
        let order = layout.codec.order(layout.shape());
        let mut first_entry = FIRST_ENTRY + layout.coarse_chunks();
        let mut lines = Vec::new();
        let mut runs = 0;
        for level in layout.lines() {
            let grid = layout.line(level);
            if level.is_last || level.level >= lowest {
                lines.push(Line {
                    grid,
                    first_entry,
                    first_run: runs,
                    starts: (0..=layout.fine.tiles())
                        .map(|tile| order.start_in_line(&layout.fine, tile, level))
                        .collect(),
                    places: places(&layout.fine, &order, level, lowest),
                });
            }
            first_entry += layout.chunk.count(&grid);
            runs += grid.runs();
        }
        Self { lines, runs }
    }

    /// The chunks of the line that has chunk number `chunk` of the field, and the number of the chunk in the line.
    pub(super) fn divided<'l>(
        &'l self,
        layout: &TileLayout,
        map: &'l ZoneMap,
        chunk: u64,
    ) -> Option<(Divided<'l>, u64)> {
        let first = FIRST_ENTRY + layout.coarse_chunks();
        let line = self.line_of(layout, chunk)?;
        let divided = line.divided(layout, map);
        Some((divided, first + chunk - divided.first_entry))
    }

    /// The line that has chunk number `chunk` of the field.
    fn line_of(&self, layout: &TileLayout, chunk: u64) -> Option<&Line> {
        let entry = FIRST_ENTRY + layout.coarse_chunks() + chunk;
        let has = |line: &&Line| line.first_entry <= entry && line.grid.tiles() > 0;
        self.lines.iter().rev().find(has)
    }

    /// The tiles of the field that have codes in chunk number `chunk` of it.
    pub(super) fn tiles_of_chunk(&self, layout: &TileLayout, chunk: u64) -> Range<u64> {
        let entry = FIRST_ENTRY + layout.coarse_chunks() + chunk;
        let Some(line) = self.line_of(layout, chunk) else {
            return 0..0;
        };
        let of_chunk = u64::from(layout.chunk.elements());
        let first = (entry - line.first_entry) * of_chunk;
        let last = (first + of_chunk).min(line.grid.elements()) - 1;
        let tile_of = |at: u64| line.starts.partition_point(|start| *start <= at) as u64 - 1;
        tile_of(first)..tile_of(last) + 1
    }

    /// The runs of all lines of the field.
    pub(super) fn runs(&self) -> u64 {
        self.runs
    }
}

/// Where the codes of a line lie in tiles of each size that the field has.
fn places(
    grid: &TileGrid,
    order: &TileOrder,
    line: LineLevel,
    lowest: u32,
) -> Vec<([u32; 3], Vec<u16>)> {
    let shape = grid.shape();
    let mut sizes: Vec<[u32; 3]> = (0..grid.tiles())
        .map(|tile| grid.tile(tile).extents(shape))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of_size = |size: [u32; 3]| {
        let mut places = Vec::new();
        order.each_of_line(line, |at| {
            if (0..3).all(|axis| at[axis] < size[axis]) && order.level_at(at) >= lowest {
                let of_level = |axis| at[axis] >> level_along(order, axis, lowest);
                let at = order.index_of_level(lowest, [0, 1, 2].map(of_level));
                places.push(at as u16);
            } else if (0..3).all(|axis| at[axis] < size[axis]) {
                places.push(FINER);
            }
        });
        (size, places)
    };
    sizes.into_iter().map(of_size).collect()
}

/// The place of codes of finer levels than those that are wanted. No tile has so many positions.
const FINER: u16 = u16::MAX;

/// The levels of a position that are counted along an axis.
fn level_along(order: &TileOrder, axis: usize, level: u32) -> u32 {
    if axis < order.first_axis() { 0 } else { level }
}

impl Line {
    /// Where its codes lie in a tile.
    fn places(&self, shape: Shape, tile: &TileBox) -> &[u16] {
        let size = tile.extents(shape);
        let found = self.places.iter().find(|(of_size, _)| *of_size == size);
        found.map_or(&[], |(_, places)| places)
    }

    /// Its codes of a tile, as a range of the line.
    pub(super) fn of_tile(&self, number: u64) -> Range<u64> {
        let at = number as usize;
        self.starts[at]..self.starts[at + 1]
    }

    /// The numbers of its chunks that have codes of these tiles.
    pub(super) fn chunks_of(&self, length: ChunkLength, tiles: &[u64]) -> BTreeSet<u64> {
        let of_chunk = u64::from(length.elements());
        let ranges = tiles.iter().map(|tile| self.of_tile(*tile));
        let ranges = ranges.filter(|range| !range.is_empty());
        ranges
            .flat_map(|range| range.start / of_chunk..(range.end - 1) / of_chunk + 1)
            .collect()
    }

    /// Calls `put` with the number in the line of each code of a tile, and with its place in the tile.
    pub(super) fn each_of_tile(
        &self,
        shape: Shape,
        (number, tile): (u64, &TileBox),
        mut put: impl FnMut(u64, usize),
    ) {
        let numbers = self.of_tile(number);
        for (number, place) in numbers.zip(self.places(shape, tile)) {
            if *place != FINER {
                put(number, usize::from(*place));
            }
        }
    }

    /// How it is divided into chunks.
    pub(super) fn divided<'l>(&'l self, layout: &TileLayout, map: &'l ZoneMap) -> Divided<'l> {
        Divided {
            grid: &self.grid,
            first_entry: self.first_entry,
            length: layout.chunk,
            map,
        }
    }

    /// The numbers of its tiles whose symbols are counted, of so many runs of all lines.
    fn counted(&self, runs: u64) -> Vec<u64> {
        let own = 0..self.grid.runs();
        let counted = own.filter(|run| is_counted(self.first_run + run, runs));
        let tiles = counted.flat_map(|run| {
            let first = run * u64::from(RUN_TILES);
            first..self.grid.tiles().min(first + u64::from(RUN_TILES))
        });
        tiles.collect()
    }
}

/// The index in its tile of element number `at` of a line.
pub(super) fn index_in_line(at: u64) -> usize {
    tile::index(Shape::Line, [0, 0, (at % TILE as u64) as u32]) as usize
}

/// All codes of a field, in its lines.
pub(crate) struct LineCodes {
    lines: Lines,
    /// The codes of each line.
    codes: Vec<Vec<u16>>,
}

impl LineCodes {
    /// The codes of these tiles.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(super) fn new<T: Element>(
        layout: &TileLayout,
        tiles: &Tiles<'_, T>,
    ) -> Result<Self, Error> {
        let lines = Lines::new(layout, 0);
        let elements = |line: &Line| memory::try_zeroed(line.grid.elements());
        let mut codes = (lines.lines.iter().map(elements)).collect::<Result<Vec<_>, _>>()?;
        let mut rest: Vec<&mut [u16]> = codes.iter_mut().map(|codes| &mut codes[..]).collect();
        let grid = &layout.fine;
        let of_wave = WAVE_TILES * parallel::thread_count() as u64;
        let mut wave = memory::try_zeroed::<TileCodes>(of_wave.min(grid.tiles()))?;
        for first in (0..grid.tiles()).step_by(of_wave as usize) {
            let numbers = first..grid.tiles().min(first + of_wave);
            tiles.encode(numbers.clone().zip(&mut wave).collect(), |_, _, _| {});
            let places = numbers.zip(&wave).map(|(number, codes)| {
                let own = lines.lines.iter().zip(&mut rest).map(|(line, rest)| {
                    let range = line.of_tile(number);
                    let (own, behind) =
                        std::mem::take(rest).split_at_mut((range.end - range.start) as usize);
                    *rest = behind;
                    own
                });
                (number, codes, own.collect::<Vec<_>>())
            });
            parallel::each(
                places.collect::<Vec<_>>().into_iter(),
                |(number, codes, own)| {
                    let tile = grid.tile(number);
                    for (line, own) in lines.lines.iter().zip(own) {
                        let places = line.places(grid.shape(), &tile);
                        for (code, place) in own.iter_mut().zip(places) {
                            *code = codes[usize::from(*place)];
                        }
                    }
                },
            );
        }
        Ok(Self { lines, codes })
    }

    /// The lines and their codes.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Line, &[u16])> {
        self.lines
            .lines
            .iter()
            .zip(self.codes.iter().map(|codes| &codes[..]))
    }

    /// The runs of all lines.
    pub(super) fn runs(&self) -> u64 {
        self.lines.runs()
    }

    /// The codes of the tiles of a line whose symbols are counted.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(super) fn counted(&self, line: &Line, codes: &[u16]) -> Result<Kept, Error> {
        Kept::new(line.counted(self.runs()), |places| fill(codes, places))
    }
}

/// Copies the codes of a line to those of its tiles.
pub(super) fn fill(codes: &[u16], places: Vec<TilePlace<'_>>) {
    parallel::each(places.into_iter(), |(number, tile)| {
        tile.fill(0);
        let first = number as usize * TILE;
        let own = &codes[first..codes.len().min(first + TILE)];
        for (at, code) in (0..).zip(own) {
            tile[index_in_line(at)] = *code;
        }
    });
}

/// The values of the elements of a line.
pub(super) struct LineValues<'a, T> {
    pub(super) line: &'a Line,
    pub(super) grid: &'a TileGrid,
    /// Those of the field.
    pub(super) values: &'a dyn TileValues<T>,
}

impl<T: Element> TileValues<T> for LineValues<'_, T> {
    fn read(&self, _: u64, [_, _, first]: [u64; 3], row: &mut [T]) {
        let shape = self.grid.shape();
        for (at, value) in (first..).zip(row) {
            let number = self.line.starts.partition_point(|start| *start <= at) - 1;
            let tile = self.grid.tile(number as u64);
            let place = self.line.places(shape, &tile)[(at - self.line.starts[number]) as usize];
            let (step, lane) = (u32::from(place) / LANES, u32::from(place) % LANES);
            let at = tile.at(tile::position(shape, step, lane));
            self.values
                .read(number as u64, at, std::slice::from_mut(value));
        }
    }
}
