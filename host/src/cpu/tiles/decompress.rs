//! Decompression of any region: the codes of the chunks that it needs, then its tiles.
//!
//! The far faces of a tile are positions of the tiles behind it along each axis, so interpolation needs their codes.

use crate::cpu::code::image::ChunkTiles;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::predict::interp::{Model, Predictor, TileStore};
use crate::cpu::predict::tile_lorenzo;
use crate::cpu::tiles::chunks::boxes;
use crate::cpu::tiles::coder::{Decoder, Scratch};
use crate::cpu::tiles::codes::apart;
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
use ferrosz_codec::tile::{self, ChunkLength, LANES};
use ferrosz_codec::{Element, FormatError};
use std::collections::BTreeSet;

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
    let first = FIRST_ENTRY + layout.coarse_chunks();
    let of_tiles = numbers(&layout.fine, &wanted).into_iter();
    let chunks = of_tiles.map(|tile| first + layout.chunk.chunk_of(tile));
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
type Raw<T> = Vec<(u16, T)>;

/// The codes and raw values of tiles, after their chunks are decoded.
pub(super) struct DecodedTiles<T> {
    /// The numbers of the chunks, in ascending order.
    chunks: Vec<u64>,
    /// The tiles of each chunk.
    length: ChunkLength,
    /// The codes of these tiles for each chunk.
    codes: Vec<TileCodes>,
    /// The raw values of the tiles of each chunk; none if it is faulty.
    raw: Vec<Option<Vec<Raw<T>>>>,
}

/// A tile after its chunk is decoded.
#[derive(Clone, Copy)]
struct DecodedTile<'a, T> {
    codes: &'a TileCodes,
    raw: &'a [(u16, T)],
}

impl<T: Element> DecodedTiles<T> {
    /// The tile with this number; none if its chunk is faulty, or was not decoded.
    fn tile(&self, number: u64) -> Option<DecodedTile<'_, T>> {
        let tiles = self.length.tiles();
        let chunk = self.length.chunk_of(number);
        let at = self.chunks.binary_search(&chunk).ok()?;
        let in_chunk = (number % u64::from(tiles)) as usize;
        Some(DecodedTile {
            codes: self.codes.get(at * tiles as usize + in_chunk)?,
            raw: self.raw.get(at)?.as_ref()?.get(in_chunk)?,
        })
    }
}

impl<T: Element> DecodedTile<'_, T> {
    fn raw(&self, at: u32) -> T {
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

    /// The codes of these tiles of a part.
    fn codes<T: Element>(&self, part: Part, ranges: &TileRanges) -> Result<DecodedTiles<T>, Error> {
        let numbers = numbers(self.layout.grid(part), ranges);
        let length = self.layout.chunk_length(part);
        let chunk_of = |tile: &u64| length.chunk_of(*tile);
        let chunks: BTreeSet<u64> = numbers.iter().map(chunk_of).collect();
        let (tiles, faults) = self.decoded(part, chunks.into_iter().collect())?;
        // Of several faults, the one in the lowest chunk is reported.
        match faults.into_iter().next() {
            None => Ok(tiles),
            Some((_, fault)) => Err(fault.into()),
        }
    }

    /// Decodes these chunks of a part, whose numbers ascend; returns also the faults.
    pub(super) fn decoded<T: Element>(
        &self,
        part: Part,
        chunks: Vec<u64>,
    ) -> Result<(DecodedTiles<T>, Faults), Error> {
        let length = self.layout.chunk_length(part);
        let tiles = chunks.len() as u64 * u64::from(length.tiles());
        let mut codes = memory::try_zeroed::<TileCodes>(tiles)?;
        let scratch = || Scratch::new(length);
        let of_chunks = codes.chunks_mut(length.tiles() as usize).zip(&chunks);
        let decoded = parallel::try_map_with(of_chunks, scratch, |scratch, (codes, chunk)| {
            apart(|| self.chunk::<T>(part, *chunk, codes, scratch))
        })?;
        let mut faults = Vec::new();
        let mut raw = Vec::with_capacity(chunks.len());
        for (chunk, decoded) in chunks.iter().zip(decoded) {
            raw.push(decoded.map_err(|fault| faults.push((*chunk, fault))).ok());
        }
        let tiles = DecodedTiles {
            chunks,
            length,
            codes,
            raw,
        };
        Ok((tiles, faults))
    }

    /// Decodes a chunk into the codes of its tiles, which may be more; returns their raw values.
    pub(super) fn chunk<T: Element>(
        &self,
        part: Part,
        chunk: u64,
        codes: &mut [TileCodes],
        scratch: &mut Scratch,
    ) -> Result<Vec<Raw<T>>, FormatError> {
        let before = match part {
            Part::Coarse => 0,
            Part::Fine => self.layout.coarse_chunks(),
        };
        let number = FIRST_ENTRY + before + chunk;
        let stored = self.source.entry(number)?;
        let grid = self.layout.grid(part);
        let length = self.layout.chunk_length(part);
        let boxes = boxes(grid, length.of_chunk(grid, chunk));
        let tiles = ChunkTiles {
            map: &self.map,
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
    fn coarse<T: Element>(&self, start: &Start<T>) -> Result<Vec<T>, Error> {
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
                apart(|| interpolate(&predictor, number, codes, &start.anchors, store));
                out.put_tile(&grid.tile(number), store);
            },
        );
        Ok(known)
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
        let predictor = Predictor::new(self.version, grid, start.model(), Part::Fine);
        parallel::map_with(
            numbers(grid, wanted).into_iter(),
            || predictor.store(),
            |store, number| {
                apart(|| interpolate(&predictor, number, codes, anchors, store));
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

    /// Decodes these tiles of a field of the Lorenzo predictor.
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
            let (version, codes) = (self.version, decoded.codes);
            apart(|| {
                tile_lorenzo::decode_on(version, shape, &tile, quantizer, codes, raw, write);
            });
            progress(done);
        });
    }
}

/// Decodes a tile and its far faces.
fn interpolate<T: Element>(
    predictor: &Predictor<'_, T>,
    number: u64,
    codes: &DecodedTiles<T>,
    anchors: &[T],
    known: &mut TileStore<T>,
) {
    let grid = predictor.grid();
    let shape = grid.shape();
    let coarse = predictor.anchor_grid();
    let tile = grid.tile(number);
    let extents = tile::extents(shape);
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
        (&tiles[far], tile::index(shape, position))
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
    predictor.decode(&tile, read, raw, anchor, known);
}
