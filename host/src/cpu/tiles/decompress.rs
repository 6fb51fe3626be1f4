//! Decompression of any region: the codes of the chunks that it needs, then its tiles.
//!
//! The far faces of a tile are positions of the tiles behind it along each axis, so interpolation needs their codes.

use crate::cpu::code::image::ChunkTiles;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::predict::interp::{Model, Predictor, TileStore};
use crate::cpu::predict::{direct, tile_lorenzo};
use crate::cpu::tiles::chunks::{Divided, boxes};
use crate::cpu::tiles::coder::{Decoder, Scratch};
use crate::cpu::tiles::codes::apart;
use crate::cpu::tiles::lines::{self, Lines};
use crate::cpu::tiles::rows::Rows;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::memory;
use crate::parallel;
use crate::stream_ref::{StoredChunk, StreamRef};
use crate::tile_ranges::{TileRanges, all_tiles, numbers, tile_ranges, with_far};
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::tiles::{FIRST_ENTRY, Prologue, TileLayout};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::predict::fitted::Fitted;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::Part;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{self, LANES, ROW, TILE};
use ferrosz_codec::{Element, FormatError};
use std::collections::{BTreeMap, BTreeSet};

/// Decodes regions of one stream, whose prologue and coarse field are decoded once.
pub(crate) struct Reader<'a, T> {
    decode: Decode<'a>,
    quantizer: Quantizer<T>,
    /// For interpolation, and the decoded coarse field.
    start: Option<(Start<T>, Vec<T>)>,
}

impl<'a, T: Element> Reader<'a, T> {
    /// A reader of a stream that has elements.
    pub(crate) fn new(
        version: Version,
        stream: &'a StreamRef<'_>,
        layout: &'a TileLayout,
        verify: bool,
    ) -> Result<Self, Error> {
        let (decode, start) = Decode::begin::<T>(version, stream, layout, verify)?;
        let known = start.map(|start| Ok::<_, Error>((decode.coarse(&start)?, start)));
        let start = known.transpose()?.map(|(known, start)| (start, known));
        Ok(Self {
            decode,
            quantizer: stream.header.quantizer::<T>()?,
            start,
        })
    }

    /// The decoded values of the coarse field, in C order.
    pub(crate) fn known(&self) -> &[T] {
        self.start.as_ref().map_or(&[], |(_, known)| known)
    }

    /// Decodes the elements of a region, which is within the field, into `values`, which has as many positions.
    pub(crate) fn read(
        &self,
        region: &Region,
        values: &mut [T],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let (decode, layout) = (&self.decode, self.decode.layout);
        let wanted = tile_ranges(&layout.fine, region);
        let out = Rows::of(region, &layout.fine, values);
        match &self.start {
            None => {
                let codes = decode.codes::<T>(Part::Fine, &wanted)?;
                decode.unpredict(&self.quantizer, &codes, &wanted, &out, progress);
            }
            Some((start, known)) => {
                let codes = decode.codes(Part::Fine, &with_far(layout, &wanted))?;
                decode.compose(start, &codes, known, &wanted, &out, progress);
            }
        }
        Ok(())
    }
}

/// The numbers of the entries that the elements of a region need: the prologue, all of the coarse field, and the chunks of
/// their tiles.
pub(crate) fn entries(layout: &TileLayout, region: &Region) -> BTreeSet<u64> {
    let wanted = tile_ranges(&layout.fine, region);
    let wanted = match layout.coarse {
        None => wanted,
        Some(_) => with_far(layout, &wanted),
    };
    entries_of_tiles(layout, &numbers(&layout.fine, &wanted), 0)
}

/// The numbers of the entries that positions of these tiles need which are of this level or a higher one.
pub(super) fn entries_of_tiles(layout: &TileLayout, tiles: &[u64], level: u32) -> BTreeSet<u64> {
    let first = FIRST_ENTRY + layout.coarse_chunks();
    let mut entries: BTreeSet<u64> = (0..first).collect();
    if layout.levels == 0 {
        entries.extend(
            tiles
                .iter()
                .map(|tile| first + layout.chunk.chunk_of(*tile)),
        );
        return entries;
    }
    let map = lines::zones();
    for line in &Lines::new(layout, level).lines {
        let divided = line.divided(layout, &map);
        let chunks = line.chunks_of(layout.chunk, tiles);
        entries.extend(chunks.iter().map(|chunk| divided.first_entry + chunk));
    }
    entries
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

/// The values of a tile without a code, in order of their positions.
pub(super) type Raw<T> = Vec<(u16, T)>;

/// The codes of a chunk, and the raw values of its tiles; none if it is faulty.
type OfChunk<T> = (Vec<u16>, Option<Vec<Raw<T>>>);

/// The codes and raw values of tiles, after their chunks are decoded.
pub(super) struct DecodedTiles<T> {
    /// The numbers of the chunks, in ascending order.
    chunks: Vec<u64>,
    /// The tiles of each chunk.
    of_chunk: u64,
    /// The codes of each tile: those of the positions of a level and of higher ones.
    of_tile: usize,
    codes: Vec<u16>,
    /// The raw values of the tiles of each chunk; none if it is faulty.
    raw: Vec<Option<Vec<Raw<T>>>>,
}

/// A tile after its chunk is decoded.
#[derive(Clone, Copy)]
pub(super) struct DecodedTile<'a, T> {
    pub(super) codes: &'a [u16],
    pub(super) raw: &'a [(u16, T)],
}

impl<T: Element> DecodedTiles<T> {
    /// These tiles, whose numbers ascend, with so many codes each.
    pub(super) fn of_tiles(numbers: Vec<u64>, of_tile: usize) -> Result<Self, Error> {
        Ok(Self {
            codes: memory::try_zeroed(numbers.len() as u64 * of_tile as u64)?,
            raw: numbers.iter().map(|_| Some(vec![Vec::new()])).collect(),
            chunks: numbers,
            of_chunk: 1,
            of_tile,
        })
    }

    /// Whether a chunk was decoded, and is sound.
    pub(super) fn has_chunk(&self, chunk: u64) -> bool {
        let at = self.chunks.binary_search(&chunk);
        at.is_ok_and(|at| self.raw[at].is_some())
    }

    /// The tiles of both. Their chunks have the same length, and no sound chunk is in both.
    pub(super) fn merged(self, other: Self) -> Self {
        if other.chunks.is_empty() {
            return self;
        }
        let mut all: BTreeMap<u64, OfChunk<T>> = BTreeMap::new();
        let (of_chunk, of_tile) = (self.of_chunk, self.of_tile);
        for part in [self, other] {
            let codes = part.codes.chunks(part.of_chunk as usize * part.of_tile);
            let chunks = part.chunks.iter().zip(codes).zip(part.raw);
            all.extend(chunks.map(|((chunk, codes), raw)| (*chunk, (codes.to_vec(), raw))));
        }
        let mut merged = Self {
            chunks: all.keys().copied().collect(),
            of_chunk,
            of_tile,
            codes: Vec::new(),
            raw: Vec::new(),
        };
        for (codes, raw) in all.into_values() {
            merged.codes.extend(codes);
            merged.raw.push(raw);
        }
        merged
    }

    /// The numbers of chunks of one tile, with the codes and raw values of the tiles, none if a tile is lost.
    pub(super) fn each_mut(
        &mut self,
    ) -> impl Iterator<Item = (u64, &mut [u16], &mut Option<Vec<Raw<T>>>)> {
        let codes = self.codes.chunks_mut(self.of_tile.max(1));
        let tiles = self.chunks.iter().copied().zip(codes).zip(&mut self.raw);
        tiles.map(|((number, codes), raw)| (number, codes, raw))
    }

    /// The tile with this number; none if its chunk is faulty, or was not decoded.
    pub(super) fn tile(&self, number: u64) -> Option<DecodedTile<'_, T>> {
        let at = self.chunks.binary_search(&(number / self.of_chunk)).ok()?;
        let in_chunk = (number % self.of_chunk) as usize;
        let first = (at * self.of_chunk as usize + in_chunk) * self.of_tile;
        Some(DecodedTile {
            codes: self.codes.get(first..first + self.of_tile)?,
            raw: self.raw.get(at)?.as_ref()?.get(in_chunk)?,
        })
    }
}

impl<T: Element> DecodedTile<'_, T> {
    pub(super) fn raw(&self, at: u32) -> T {
        let found = self
            .raw
            .binary_search_by_key(&at, |(position, _)| u32::from(*position));
        found.map_or(T::ZERO, |i| self.raw[i].1)
    }
}

/// Faulty chunks, by their numbers in a part.
pub(super) type Faults = Vec<(u64, FormatError)>;

/// The start of interpolation.
pub(super) struct Start<T> {
    resolved: Resolved<T>,
    coefficients: Option<Fitted>,
    /// The anchors of the coarse field.
    anchors: Vec<T>,
}

impl<T> Start<T> {
    fn model(&self) -> Model<'_, T> {
        Model {
            resolved: &self.resolved,
            coefficients: self.coefficients.as_ref(),
        }
    }
}

/// Decodes the chunks of one stream.
pub(super) struct Decode<'a> {
    version: Version,
    source: Source<'a>,
    pub(super) layout: &'a TileLayout,
    map: ZoneMap,
    /// The zones of lines.
    pub(super) line_map: ZoneMap,
    coder: Decoder,
}

impl<'a> Decode<'a> {
    /// Reads the prologue; returns also the start of interpolation, if the codec has one.
    pub(super) fn begin<T: Element>(
        version: Version,
        stream: &'a StreamRef<'a>,
        layout: &'a TileLayout,
        verify: bool,
    ) -> Result<(Self, Option<Start<T>>), Error> {
        let source = Source { stream, verify };
        let bytes = source.prologue()?;
        let error = stream.header.quantizer::<T>()?.error();
        let (prologue, sections) =
            Prologue::<T>::read(layout, error, bytes).map_err(|fault| fault.in_chunk(0))?;
        let resolved = prologue.resolved.as_ref();
        let shifts = resolved.map_or(Shifts::NONE, |resolved| resolved.parameters.shifts);
        let decode = Self {
            version,
            source,
            layout,
            map: ZoneMap::new(layout.codec.order(layout.shape()), shifts),
            line_map: lines::zones(),
            coder: Decoder::new(layout.codec.coder, prologue.frequencies.as_ref())?,
        };
        let start = prologue.resolved.map(|resolved| {
            let stored = bytes.get(sections.anchors..sections.coefficients);
            Start {
                resolved,
                coefficients: prologue.coefficients,
                anchors: elements(stored.unwrap_or_default()),
            }
        });
        Ok((decode, start))
    }

    /// How a part is divided into chunks, if its codes lie in its tiles.
    pub(super) fn divided(&self, part: Part) -> Divided<'_> {
        Divided {
            grid: self.layout.grid(part),
            first_entry: match part {
                Part::Coarse => FIRST_ENTRY,
                Part::Fine => FIRST_ENTRY + self.layout.coarse_chunks(),
            },
            length: self.layout.chunk_length(part),
            map: &self.map,
        }
    }

    /// The codes of these tiles of a part.
    fn codes<T: Element>(&self, part: Part, ranges: &TileRanges) -> Result<DecodedTiles<T>, Error> {
        let numbers = numbers(self.layout.grid(part), ranges);
        if part == Part::Fine && self.layout.levels > 0 {
            return self.codes_of_level(numbers, 0);
        }
        let divided = self.divided(part);
        let chunk_of = |tile: &u64| divided.length.chunk_of(*tile);
        let chunks: BTreeSet<u64> = numbers.iter().map(chunk_of).collect();
        self.sound(divided, chunks)
    }

    /// Decodes these chunks, which must all be sound.
    pub(super) fn sound<T: Element>(
        &self,
        divided: Divided<'_>,
        chunks: BTreeSet<u64>,
    ) -> Result<DecodedTiles<T>, Error> {
        let (tiles, faults) = self.decoded(divided, chunks.into_iter().collect())?;
        // Of several faults, the one in the lowest chunk is reported.
        match faults.into_iter().next() {
            None => Ok(tiles),
            Some((_, fault)) => Err(fault.into()),
        }
    }

    /// Decodes these chunks, whose numbers ascend; returns also the faults.
    pub(super) fn decoded<T: Element>(
        &self,
        divided: Divided<'_>,
        chunks: Vec<u64>,
    ) -> Result<(DecodedTiles<T>, Faults), Error> {
        let of_chunk = u64::from(divided.length.tiles());
        let mut codes = memory::try_zeroed(chunks.len() as u64 * of_chunk * TILE as u64)?;
        let scratch = || Scratch::new(divided.length);
        let (tiles, _) = codes.as_chunks_mut::<TILE>();
        let of_chunks = tiles.chunks_mut(of_chunk as usize).zip(&chunks);
        let decoded = parallel::try_map_with(of_chunks, scratch, |scratch, (codes, chunk)| {
            apart(|| self.chunk::<T>(divided, *chunk, codes, scratch))
        })?;
        let mut faults = Vec::new();
        let mut raw = Vec::with_capacity(chunks.len());
        for (chunk, decoded) in chunks.iter().zip(decoded) {
            raw.push(decoded.map_err(|fault| faults.push((*chunk, fault))).ok());
        }
        let tiles = DecodedTiles {
            chunks,
            of_chunk,
            of_tile: TILE,
            codes,
            raw,
        };
        Ok((tiles, faults))
    }

    /// Decodes a chunk into the codes of its tiles, which may be more; returns their raw values.
    pub(super) fn chunk<T: Element>(
        &self,
        divided: Divided<'_>,
        chunk: u64,
        codes: &mut [TileCodes],
        scratch: &mut Scratch,
    ) -> Result<Vec<Raw<T>>, FormatError> {
        let number = divided.first_entry + chunk;
        let stored = self.source.entry(number)?;
        let grid = divided.grid;
        let boxes = boxes(grid, divided.length.of_chunk(grid, chunk));
        let tiles = ChunkTiles {
            map: divided.map,
            tiles: &boxes,
        };
        let count = boxes.len().min(codes.len());
        let mut raw = vec![Vec::new(); count];
        let set = |tile: usize, at: usize, value| raw[tile].push((at as u16, value));
        self.coder
            .decode::<T>(
                self.version,
                tiles,
                stored,
                &mut codes[..count],
                set,
                scratch,
            )
            .map_err(|fault| fault.in_chunk(number))?;
        Ok(raw)
    }

    /// The decoded values of the coarse field, in C order.
    pub(super) fn coarse<T: Element>(&self, start: &Start<T>) -> Result<Vec<T>, Error> {
        let grid = self.layout.grid(Part::Coarse);
        let codes = self.codes(Part::Coarse, &all_tiles(grid))?;
        self.coarse_of(start, &codes)
    }

    /// The decoded values of the coarse field, in C order, from the codes of its tiles.
    pub(super) fn coarse_of<T: Element>(
        &self,
        start: &Start<T>,
        codes: &DecodedTiles<T>,
    ) -> Result<Vec<T>, Error> {
        let grid = self.layout.grid(Part::Coarse);
        let mut known = memory::try_zeroed(grid.elements())?;
        let out = Rows::whole(grid, &mut known);
        let predictor =
            Predictor::new(self.version, &self.layout.fine, start.model(), Part::Coarse);
        parallel::map_with(
            0..grid.tiles(),
            || predictor.store(),
            |store, number| {
                apart(|| interpolate(&predictor, (number, 0), codes, &start.anchors, store));
                out.put_tile(&grid.tile(number), store);
            },
        );
        Ok(known)
    }

    /// The predictor of the field.
    pub(super) fn predictor<'s, T: Element>(&self, start: &'s Start<T>) -> Predictor<'s, T> {
        Predictor::new(self.version, &self.layout.fine, start.model(), Part::Fine)
    }

    /// Decodes these tiles of the field, with these anchors.
    pub(super) fn compose<T: Element>(
        &self,
        start: &Start<T>,
        codes: &DecodedTiles<T>,
        anchors: &[T],
        wanted: &TileRanges,
        out: &Rows<'_, T>,
        progress: Progress<'_>,
    ) {
        let grid = &self.layout.fine;
        let shape = grid.shape();
        let predictor = self.predictor(start);
        parallel::map_with(
            numbers(grid, wanted).into_iter(),
            || predictor.store(),
            |store, number| {
                apart(|| interpolate(&predictor, (number, 0), codes, anchors, store));
                // Raw values are output unchanged, whatever value the encoder predicted from.
                let raw = codes.tile(number).map_or(&[][..], |tile| tile.raw);
                for (at, value) in raw {
                    let at = u32::from(*at);
                    store.set_value(tile::position(shape, at / LANES, at % LANES), *value);
                }
                progress(out.put_tile(&grid.tile(number), store));
            },
        );
    }

    /// Decodes these tiles of a field of the Lorenzo predictor, or of none.
    pub(super) fn unpredict<T: Element>(
        &self,
        quantizer: &Quantizer<T>,
        codes: &DecodedTiles<T>,
        wanted: &TileRanges,
        out: &Rows<'_, T>,
        progress: Progress<'_>,
    ) {
        let grid = &self.layout.fine;
        let shape = grid.shape();
        parallel::each(numbers(grid, wanted).into_iter(), |number| {
            let tile = grid.tile(number);
            let Some(decoded) = codes.tile(number) else {
                return;
            };
            let raw = |at: [u64; 3]| {
                let position = std::array::from_fn(|i| (at[i] - tile.origin[i]) as u32);
                decoded.raw(tile::index(shape, position))
            };
            let mut done = 0;
            let write = |at, values: &[T]| done += out.put(at, values);
            let version = self.version;
            let Some(codes) = decoded.codes.first_chunk() else {
                return;
            };
            apart(|| match self.layout.codec.predictor.is_direct() {
                true => {
                    direct::decode(&tile, quantizer, codes, |at| decoded.raw(at), write);
                }
                false => {
                    tile_lorenzo::decode_on(version, shape, &tile, quantizer, codes, raw, write)
                }
            });
            progress(done);
        });
    }
}

/// [`TileOrder::index_of_level`](ferrosz_codec::tile::TileOrder::index_of_level) of one level, for many positions.
#[derive(Clone, Copy)]
struct LevelIndex {
    height: u32,
    /// The bits of a position in a row of the numbering, and of such a row in one of the tile.
    in_row: u32,
    of_row: u32,
}

impl LevelIndex {
    /// For a tile with these extents on the level, which are powers of two.
    fn new([_, height, width]: [u32; 3]) -> Self {
        let in_row = width.min(ROW).trailing_zeros();
        Self {
            height,
            in_row,
            of_row: width.trailing_zeros() - in_row,
        }
    }

    #[inline(always)]
    fn of(self, [z, y, x]: [u32; 3]) -> u32 {
        let Self {
            height,
            in_row,
            of_row,
        } = self;
        let row = ((z * height + y) << of_row) + (x >> in_row);
        let in_row_at = x & ((1 << in_row) - 1);
        (row << in_row) + ((x & 1) << in_row) / 2 + in_row_at / 2
    }
}

/// Decodes the positions of a tile and its far faces that are of a level or a higher one.
pub(super) fn interpolate<T: Element>(
    predictor: &Predictor<'_, T>,
    (number, level): (u64, u32),
    codes: &DecodedTiles<T>,
    anchors: &[T],
    known: &mut TileStore<T>,
) {
    let grid = predictor.grid();
    let order = known.order();
    let coarse = predictor.anchor_grid();
    let tile = grid.tile(number);
    let extents = order.extents_of_level(level);
    let index = LevelIndex::new(extents);
    let [_, rows, columns] = grid.counts();
    let steps = [rows * columns, columns, 1];
    // Bit i of a number is set if the tile is the next one along axis i.
    let tiles: [_; 8] = std::array::from_fn(|far| {
        let steps = (0..3).map(|axis| steps[axis] * (far as u64 >> axis & 1));
        codes.tile(number + steps.sum::<u64>())
    });
    // The tile of a position of this tile or its far faces, and the position's index there.
    let locate = |mut position: [u32; 3]| {
        let mut far = 0;
        for axis in 0..3 {
            if position[axis] >= extents[axis] {
                position[axis] -= extents[axis];
                far |= 1 << axis;
            }
        }
        (&tiles[far], index.of(position))
    };
    let read = |position, lanes: &mut [u16]| {
        let (tile, at) = locate(position);
        match tile {
            Some(tile) => lanes.copy_from_slice(&tile.codes[at as usize..][..lanes.len()]),
            None => lanes.fill(0),
        }
    };
    let raw = |position| {
        let (tile, at) = locate(position);
        tile.map_or(T::ZERO, |tile| tile.raw(at))
    };
    let anchor = |at| anchors[coarse.flat(at) as usize];
    predictor.decode((&tile, level), read, raw, anchor, known);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::shape::Shape;
    use ferrosz_codec::tile::TileOrder;

    #[test]
    fn positions_of_levels_have_the_numbers_of_the_definition() {
        for order in [
            TileOrder::levels(Shape::Line, 512),
            TileOrder::levels(Shape::Plane, 16),
            TileOrder::levels(Shape::Cube, 16),
            TileOrder::slices(16),
        ] {
            for level in 0..=order.anchor_level {
                let [depth, height, width] = order.extents_of_level(level);
                let index = LevelIndex::new([depth, height, width]);
                for at in 0..depth * height * width {
                    let at = [at / width / height, at / width % height, at % width];
                    assert_eq!(
                        index.of(at),
                        order.index_of_level(level, at),
                        "{order:?} {at:?}"
                    );
                }
            }
        }
    }
}
