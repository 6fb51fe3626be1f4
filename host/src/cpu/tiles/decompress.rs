//! Decompression of any region: the codes of the chunks that it needs, then its tiles.
//!
//! The far faces of a tile are positions of the tiles behind it along each axis, so interpolation needs their codes.

use crate::cpu::code::image::ChunkTiles;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::output::Output;
use crate::cpu::predict::interp::Predictor;
use crate::cpu::predict::tile_lorenzo;
use crate::cpu::tiles::coder::{Decoder, Scratch};
use crate::cpu::tiles::compress::{apart, chunk_tiles};
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::stream::{StoredChunk, StreamRef};
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::tiles::{FIRST_ENTRY, Prologue, TileLayout};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::predict::interp::store::is_own;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::Part;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{self, CHUNK_TILES, LANES, TILE, TileBox, TileGrid};
use ferrosz_codec::{Element, FormatError, Shape};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Decodes the elements of a region, which is within the field, into `values`, which has as many positions.
pub(crate) fn decompress<T: Element>(
    version: Version,
    stream: &StreamRef<'_>,
    layout: &TileLayout,
    region: &Region,
    verify: bool,
    values: &mut [T],
    progress: Progress<'_>,
) -> Result<(), Error> {
    if values.is_empty() {
        return Ok(());
    }
    let (decode, start) = Decode::begin::<T>(version, stream, layout, verify)?;
    let quantizer = stream.header.quantizer::<T>()?;
    let wanted = tile_ranges(&layout.fine, region);
    let out = Rows::new(region, &layout.fine, values);
    match start {
        None => {
            let codes = decode.codes::<T>(Part::Fine, &wanted)?;
            unpredict(layout, &quantizer, &codes, &wanted, &out, progress);
        }
        Some((resolved, anchors)) => {
            let known = decode.coarse(&resolved, &anchors)?;
            let codes = decode.codes(Part::Fine, &with_far(&layout.fine, &wanted))?;
            compose(layout, &resolved, &codes, &known, &wanted, &out, progress);
        }
    }
    Ok(())
}

/// The numbers of the entries that the elements of a region need: the prologue, all of the coarse field, and the chunks of
/// their tiles.
pub(crate) fn entries(layout: &TileLayout, region: &Region) -> BTreeSet<u64> {
    let wanted = tile_ranges(&layout.fine, region);
    let wanted = match layout.coarse {
        None => wanted,
        Some(_) => with_far(&layout.fine, &wanted),
    };
    let first = FIRST_ENTRY + layout.coarse_chunks();
    let of_tiles = numbers(&layout.fine, &wanted).into_iter();
    let chunks = of_tiles.map(|tile| first + tile / u64::from(CHUNK_TILES));
    (0..first).chain(chunks).collect()
}

/// Elements from their bytes.
fn elements<T: Element>(bytes: &[u8]) -> Vec<T> {
    let of_bytes = |bytes: &[u8]| {
        let mut bits = [0; 8];
        bits[..T::BYTES].copy_from_slice(bytes);
        T::from_bits64(u64::from_le_bytes(bits))
    };
    bytes.chunks_exact(T::BYTES).map(of_bytes).collect()
}

/// Tiles along each dimension.
pub(super) type TileRanges = [Range<u64>; 3];

/// All tiles.
pub(super) fn all_tiles(grid: &TileGrid) -> TileRanges {
    grid.counts().map(|count| 0..count)
}

/// The tiles that a region may touch.
fn tile_ranges(grid: &TileGrid, region: &Region) -> TileRanges {
    let extents = tile::extents(grid.shape()).map(u64::from);
    if grid.shape() == Shape::Line {
        let (first, last) = region.span();
        return [0..1, 0..1, first / extents[2]..last / extents[2] + 1];
    }
    let (from, lengths) = (region.from(), region.extents());
    std::array::from_fn(|i| match i {
        0 => grid.tiles_along_z(from[0], from[0] + lengths[0]),
        _ => from[i] / extents[i]..(from[i] + lengths[i]).div_ceil(extents[i]),
    })
}

/// These tiles and the tiles behind them along each dimension.
fn with_far(grid: &TileGrid, ranges: &TileRanges) -> TileRanges {
    let counts = grid.counts();
    let first = 3 - usize::from(grid.shape().rank());
    std::array::from_fn(|i| {
        let is_last = i < first || i == 0 && grid.ends_slice(ranges[0].end);
        ranges[i].start..(ranges[i].end + u64::from(!is_last)).min(counts[i])
    })
}

/// The numbers of these tiles.
pub(super) fn numbers(grid: &TileGrid, ranges: &TileRanges) -> Vec<u64> {
    let [_, rows, columns] = grid.counts();
    let [z, y, x] = ranges;
    let mut numbers = Vec::new();
    for z in z.clone() {
        for y in y.clone() {
            numbers.extend(x.clone().map(|x| (z * rows + y) * columns + x));
        }
    }
    numbers
}

/// The entries of a stream.
struct Source<'a> {
    stream: &'a StreamRef<'a>,
    verify: bool,
}

impl<'a> Source<'a> {
    fn entry(&self, number: u64) -> Result<(Form, &'a [u8]), FormatError> {
        let StoredChunk { entry, seed, bytes } = self.stream.chunk(number)?;
        if self.verify && checksum(seed, bytes) != entry.checksum {
            return Err(ChunkFault::Checksum.in_chunk(number));
        }
        let form = Form::from_id(entry.form).ok_or(ChunkFault::Form.in_chunk(number))?;
        Ok((form, bytes))
    }

    fn prologue(&self) -> Result<&'a [u8], FormatError> {
        match self.entry(0)? {
            (Form::Coded, bytes) => Ok(bytes),
            _ => Err(ChunkFault::Form.in_chunk(0)),
        }
    }
}

/// The codes and raw values of a tile, after its chunk is decoded.
pub(super) struct DecodedTile<T> {
    codes: TileCodes,
    /// The values without a code, in order of their positions.
    raw: Vec<(u16, T)>,
}

impl<T: Element> DecodedTile<T> {
    fn raw(&self, at: u32) -> T {
        let found = self
            .raw
            .binary_search_by_key(&at, |(position, _)| u32::from(*position));
        found.map_or(T::ZERO, |i| self.raw[i].1)
    }
}

pub(super) type DecodedTiles<T> = HashMap<u64, Box<DecodedTile<T>>>;

/// The start of interpolation: its parameters, and the anchors of the coarse field.
type Start<T> = (Resolved<T>, Vec<T>);

/// Decodes the chunks of one stream.
pub(super) struct Decode<'a> {
    version: Version,
    source: Source<'a>,
    layout: &'a TileLayout,
    map: ZoneMap,
    coder: Decoder,
}

impl<'a> Decode<'a> {
    /// Reads the prologue; returns also the start of interpolation, if the codec has one.
    pub(super) fn begin<T: Element>(
        version: Version,
        stream: &'a StreamRef<'a>,
        layout: &'a TileLayout,
        verify: bool,
    ) -> Result<(Self, Option<Start<T>>), FormatError> {
        let source = Source { stream, verify };
        let bytes = source.prologue()?;
        let error = stream.header.quantizer::<T>()?.error();
        let (prologue, sections) =
            Prologue::<T>::read(layout, error, bytes).map_err(|fault| fault.in_chunk(0))?;
        let decode = Self {
            version,
            source,
            layout,
            map: ZoneMap::new(layout.codec.order(layout.shape())),
            coder: Decoder::new(layout.codec.coder, prologue.frequencies.as_ref()),
        };
        let start = prologue.resolved.map(|resolved| {
            let stored = bytes.get(sections.anchors..sections.end);
            (resolved, elements(stored.unwrap_or_default()))
        });
        Ok((decode, start))
    }

    /// The codes of these tiles of a part.
    fn codes<T: Element>(
        &self,
        part: Part,
        ranges: &TileRanges,
    ) -> Result<DecodedTiles<T>, FormatError> {
        let numbers = numbers(self.layout.grid(part), ranges);
        let chunk_of = |tile: &u64| tile / u64::from(CHUNK_TILES);
        let chunks: BTreeSet<u64> = numbers.iter().map(chunk_of).collect();
        let chunks: Vec<u64> = chunks.into_iter().collect();
        let wanted: BTreeSet<u64> = numbers.into_iter().collect();
        // Of several faults, the one in the lowest chunk is reported.
        let mut all = HashMap::new();
        for (chunk, tiles) in chunks.iter().zip(self.decoded(part, &chunks)) {
            let first = chunk * u64::from(CHUNK_TILES);
            let tiles = (first..).zip(tiles?);
            all.extend(tiles.filter(|(number, _)| wanted.contains(number)));
        }
        Ok(all)
    }

    /// Decodes these chunks of a part; returns the tiles or the fault of each.
    pub(super) fn decoded<T: Element>(
        &self,
        part: Part,
        chunks: &[u64],
    ) -> Vec<Result<Vec<Box<DecodedTile<T>>>, FormatError>> {
        let decoded = (chunks.par_iter()).map_init(Scratch::default, |scratch, chunk| {
            apart(|| self.chunk::<T>(part, *chunk, scratch))
        });
        decoded.collect()
    }

    pub(super) fn chunk<T: Element>(
        &self,
        part: Part,
        chunk: u64,
        scratch: &mut Scratch,
    ) -> Result<Vec<Box<DecodedTile<T>>>, FormatError> {
        let before = match part {
            Part::Coarse => 0,
            Part::Fine => self.layout.coarse_chunks(),
        };
        let number = FIRST_ENTRY + before + chunk;
        let stored = self.source.entry(number)?;
        let boxes = chunk_tiles(self.layout.grid(part), chunk);
        let tiles = ChunkTiles {
            map: &self.map,
            tiles: &boxes,
        };
        let mut codes = vec![[0; TILE]; boxes.len()];
        let mut raw = vec![Vec::new(); boxes.len()];
        let set = |tile: usize, at: usize, value| raw[tile].push((at as u16, value));
        self.coder
            .decode::<T>(self.version, tiles, stored, &mut codes, set, scratch)
            .map_err(|fault| fault.in_chunk(number))?;
        let tiles = codes.into_iter().zip(raw);
        Ok(tiles
            .map(|(codes, raw)| Box::new(DecodedTile { codes, raw }))
            .collect())
    }

    /// The decoded values of the coarse field, in C order.
    fn coarse<T: Element>(
        &self,
        resolved: &Resolved<T>,
        anchors: &[T],
    ) -> Result<Vec<T>, FormatError> {
        let grid = self.layout.grid(Part::Coarse);
        let codes = self.codes(Part::Coarse, &all_tiles(grid))?;
        Ok(self.coarse_of(resolved, anchors, &codes))
    }

    /// The decoded values of the coarse field, in C order, from the codes of its tiles.
    pub(super) fn coarse_of<T: Element>(
        &self,
        resolved: &Resolved<T>,
        anchors: &[T],
        codes: &DecodedTiles<T>,
    ) -> Vec<T> {
        let grid = self.layout.grid(Part::Coarse);
        let mut known = vec![T::ZERO; grid.elements() as usize];
        let predictor = Predictor::new(&self.layout.fine, resolved, Part::Coarse);
        let mut store = vec![T::ZERO; store::len(grid.shape()) as usize];
        for number in 0..grid.tiles() {
            let tile = grid.tile(number);
            interpolate(&predictor, number, codes, anchors, &mut store);
            for_own(grid.shape(), &tile, |position| {
                known[grid.flat(tile.at(position)) as usize] =
                    store[store::index(grid.shape(), position) as usize];
            });
        }
        known
    }
}

/// Decodes a tile and its far faces into a store.
fn interpolate<T: Element>(
    predictor: &Predictor<'_, T>,
    number: u64,
    codes: &DecodedTiles<T>,
    anchors: &[T],
    known: &mut [T],
) {
    let grid = predictor.grid();
    let shape = grid.shape();
    let coarse = predictor.anchor_grid();
    let tile = grid.tile(number);
    let [_, rows, columns] = grid.counts();
    let steps = [rows * columns, columns, 1];
    // The tile, and the position in it, for a position of this tile's store.
    let locate = |mut position: [u32; 3]| {
        let mut number = number;
        for (axis, extent) in tile::extents(shape).into_iter().enumerate() {
            if position[axis] >= extent {
                position[axis] -= extent;
                number += steps[axis];
            }
        }
        (codes.get(&number), tile::index(shape, position))
    };
    let own = codes.get(&number);
    let code = |position| {
        let (tile, at) = if is_own(shape, position) {
            (own, tile::index(shape, position))
        } else {
            locate(position)
        };
        tile.map_or(0, |tile| tile.codes[at as usize])
    };
    let raw = |at: [u64; 3]| {
        let position = std::array::from_fn(|i| (at[i] - tile.origin[i]) as u32);
        let (tile, at) = locate(position);
        tile.map_or(T::ZERO, |tile| tile.raw(at))
    };
    let anchor = |at| anchors[coarse.flat(at) as usize];
    predictor.decode(&tile, code, raw, anchor, known);
}

/// Calls `call` with every own position of a tile that is in the field.
fn for_own(shape: Shape, tile: &TileBox, mut call: impl FnMut([u32; 3])) {
    for at in 0..TILE as u32 {
        let position = tile::position(shape, at / LANES, at % LANES);
        if tile.has(position) {
            call(position);
        }
    }
}

pub(super) fn compose<T: Element>(
    layout: &TileLayout,
    resolved: &Resolved<T>,
    codes: &DecodedTiles<T>,
    anchors: &[T],
    wanted: &TileRanges,
    out: &Rows<'_, T>,
    progress: Progress<'_>,
) {
    let predictor = Predictor::new(&layout.fine, resolved, Part::Fine);
    let shape = layout.shape();
    let len = store::len(shape) as usize;
    numbers(&layout.fine, wanted).into_par_iter().for_each_init(
        || (vec![T::ZERO; len], vec![T::ZERO; tile::ROW as usize]),
        |(known, row), number| {
            apart(|| interpolate(&predictor, number, codes, anchors, known));
            // Raw values are output unchanged, whatever value the encoder predicted from.
            let raw = codes.get(&number).map_or(&[][..], |tile| &tile.raw);
            for (at, value) in raw {
                let at = u32::from(*at);
                let position = tile::position(shape, at / LANES, at % LANES);
                known[store::index(shape, position) as usize] = *value;
            }
            let value = |position| known[store::index(shape, position) as usize];
            out.put_tile(&layout.fine.tile(number), value, row, progress);
        },
    );
}

pub(super) fn unpredict<T: Element>(
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    codes: &DecodedTiles<T>,
    wanted: &TileRanges,
    out: &Rows<'_, T>,
    progress: Progress<'_>,
) {
    let shape = layout.shape();
    numbers(&layout.fine, wanted)
        .into_par_iter()
        .for_each(|number| {
            let tile = layout.fine.tile(number);
            let Some(decoded) = codes.get(&number) else {
                return;
            };
            let raw = |at: [u64; 3]| {
                let position = std::array::from_fn(|i| (at[i] - tile.origin[i]) as u32);
                decoded.raw(tile::index(shape, position))
            };
            let write = |at, values: &[T]| out.put(at, values, progress);
            apart(|| tile_lorenzo::decode(shape, &tile, quantizer, &decoded.codes, raw, write));
        });
}

/// The output of a region, which is assembled from rows of tiles.
pub(super) struct Rows<'a, T> {
    region: &'a Region,
    grid: &'a TileGrid,
    output: Output<'a, T>,
}

impl<'a, T: Element> Rows<'a, T> {
    pub(super) fn new(region: &'a Region, grid: &'a TileGrid, values: &'a mut [T]) -> Self {
        Self {
            region,
            grid,
            output: Output::new(values),
        }
    }

    /// Writes the values of a tile's row, from a position of the field on, to their positions in the region.
    fn put(&self, at: [u64; 3], values: &[T], progress: Progress<'_>) {
        let first = self.grid.flat(at);
        self.region.cut(first, values.len() as u64, |run, at| {
            let count = run.end - run.start;
            // SAFETY: these are positions of one row of one tile, which no other row has, each written once.
            let part = unsafe { self.output.part(at, count) };
            part.copy_from_slice(&values[run.start as usize..run.end as usize]);
            progress(count);
        });
    }

    /// Writes all rows of a tile.
    fn put_tile(
        &self,
        tile: &TileBox,
        value: impl Fn([u32; 3]) -> T,
        scratch: &mut [T],
        progress: Progress<'_>,
    ) {
        let shape = self.grid.shape();
        for row in 0..tile::ROWS {
            let first = tile::position(shape, 2 * row, 0);
            if !tile.has(first) {
                continue;
            }
            let count = (tile.left[2] - first[2]).min(tile::ROW) as usize;
            for (x, position) in (first[2]..).zip(&mut scratch[..count]) {
                *position = value([first[0], first[1], x]);
            }
            self.put(tile.at(first), &scratch[..count], progress);
        }
    }
}
