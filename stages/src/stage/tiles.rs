//! The codes of a field as ferrosz's coders of tiles take them, and the table of their chunks.
//!
//! The coders know the level of each position, so the codes of each zone have their own statistics, whatever the order
//! of the codes in their array.

use crate::error::Error;
use crate::stage::{CodeFormat, Codes};
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::tile::code::{TileCodes, unzigzag, zigzag};
use ferrosz_codec::tile::{self, ChunkLength, LANES, TILE, TileBox, TileOrder};
use ferrosz_host::cpu::code::image::ChunkTiles;
use ferrosz_host::cpu::code::zones::ZoneMap;
use ferrosz_host::internals::try_zeroed;
use rayon::prelude::*;
use std::ops::Range;

/// Chunks that are decoded together, before their codes go into the field.
const WAVE: u64 = 64;

/// Bits of a form in an entry. Chunks have a multiple of 16 bytes.
const FORM_BITS: u32 = 15;

/// The tiles of a field.
pub(super) struct CodeTiles {
    format: CodeFormat,
    /// The zones of the positions of a tile.
    pub(super) map: ZoneMap,
}

/// A coded chunk.
pub(super) struct Image {
    pub(super) form: Form,
    pub(super) bytes: Vec<u8>,
}

/// The codes of the tiles of a chunk.
pub(super) type ChunkCodes = Vec<TileCodes>;

impl CodeTiles {
    pub(super) fn new(format: &CodeFormat) -> Self {
        let shape = format.layout.grid.shape();
        let order = TileOrder::levels(shape, 1 << format.layout.anchor_level);
        Self {
            format: *format,
            map: ZoneMap::new(order, Shifts::NONE),
        }
    }

    /// The number of chunks.
    pub(super) fn chunks(&self) -> u64 {
        ChunkLength::Four.count(&self.format.layout.grid)
    }

    /// The tiles of a chunk.
    pub(super) fn boxes(&self, chunk: u64) -> Vec<TileBox> {
        let grid = &self.format.layout.grid;
        let numbers = ChunkLength::Four.of_chunk(grid, chunk);
        numbers.map(|number| grid.tile(number)).collect()
    }

    /// A chunk of these tiles for the coders.
    pub(super) fn chunk<'a>(&'a self, tiles: &'a [TileBox]) -> ChunkTiles<'a> {
        ChunkTiles {
            map: &self.map,
            tiles,
        }
    }

    /// The codes as the coders have them, in the order of the field. Anchors have 0.
    pub(super) fn field_of(&self, codes: &Codes<'_>) -> Result<Vec<u16>, Error> {
        let layout = &self.format.layout;
        let mut field = try_zeroed(self.format.count())?;
        let mut differences = codes.differences();
        layout.each(|at| {
            let difference = differences.next().unwrap_or(0);
            if layout.level(at) != layout.anchor_level {
                field[layout.grid.flat(at) as usize] = zigzag(difference);
            }
        });
        Ok(field)
    }

    /// The codes of tiles of a field.
    pub(super) fn gather(&self, field: &[u16], boxes: &[TileBox]) -> ChunkCodes {
        let grid = &self.format.layout.grid;
        let mut codes = vec![[0; TILE]; boxes.len()];
        for (tile, codes) in boxes.iter().zip(&mut codes) {
            each_own(tile, grid.shape(), |at, position| {
                codes[at] = field[grid.flat(tile.at(position)) as usize];
            });
        }
        codes
    }

    /// The value that a coder stores for a code that it has no token for: the stored code.
    pub(super) fn value(&self, codes: &ChunkCodes, tile: usize, at: usize) -> f32 {
        let code = self
            .format
            .radius
            .wrapping_add_signed(unzigzag(codes[tile][at]));
        f32::from_bits(code)
    }

    /// Does `work` for each of these chunks.
    pub(super) fn map_chunks<R: Send>(
        &self,
        chunks: Range<u64>,
        work: impl Fn(u64) -> R + Sync,
    ) -> Vec<R> {
        chunks
            .into_par_iter()
            .map(|chunk| apart(|| work(chunk)))
            .collect()
    }

    /// The codes of a field as bytes; `work` decodes the chunk of a number with these tiles.
    pub(super) fn decode(
        &self,
        name: &str,
        work: impl Fn(u64, &[TileBox]) -> Result<DecodedChunk, ChunkFault> + Sync,
    ) -> Result<Vec<u8>, Error> {
        let mut field = try_zeroed(self.format.count())?;
        for first in (0..self.chunks()).step_by(WAVE as usize) {
            let wave = first..self.chunks().min(first + WAVE);
            let decoded = self.map_chunks(wave.clone(), |chunk| work(chunk, &self.boxes(chunk)));
            for (chunk, decoded) in wave.zip(decoded) {
                let failed = |fault| Error::stage(name, format!("chunk {chunk}: {fault}"));
                self.scatter(chunk, &decoded.map_err(failed)?, &mut field);
            }
        }
        self.bytes_of(&field)
    }

    /// Puts the codes of a chunk into a field.
    fn scatter(&self, chunk: u64, decoded: &DecodedChunk, field: &mut [u16]) {
        let grid = &self.format.layout.grid;
        let boxes = self.boxes(chunk);
        for (tile, codes) in boxes.iter().zip(&decoded.codes) {
            each_own(tile, grid.shape(), |at, position| {
                field[grid.flat(tile.at(position)) as usize] = codes[at];
            });
        }
        for (tile, at, code) in &decoded.stored {
            let (step, lane) = (*at as u32 / LANES, *at as u32 % LANES);
            let at = boxes[*tile].at(tile::position(grid.shape(), step, lane));
            let difference = code.wrapping_sub(self.format.radius).cast_signed();
            field[grid.flat(at) as usize] = zigzag(difference);
        }
    }

    /// The bytes of the codes of a field.
    fn bytes_of(&self, field: &[u16]) -> Result<Vec<u8>, Error> {
        let (layout, radius) = (&self.format.layout, self.format.radius);
        let mut codes = try_zeroed::<u32>(self.format.count())?;
        let mut places = codes.iter_mut();
        layout.each(|at| {
            let difference = unzigzag(field[layout.grid.flat(at) as usize]);
            if let Some(place) = places.next() {
                *place = radius.wrapping_add_signed(difference);
            }
        });
        self.format.bytes_of(codes.into_iter())
    }
}

/// A decoded chunk: the codes of its tiles, and those that are stored as numbers, each with its tile and place.
pub(super) struct DecodedChunk {
    codes: ChunkCodes,
    stored: Vec<(usize, usize, u32)>,
}

/// Decodes a chunk of so many tiles. `decode` gets room for their codes, and a function that takes stored codes.
pub(super) fn chunk_codes(
    tiles: usize,
    decode: impl FnOnce(&mut [TileCodes], &mut dyn FnMut(usize, usize, f32)) -> Result<(), ChunkFault>,
) -> Result<DecodedChunk, ChunkFault> {
    let mut codes = vec![[0; TILE]; tiles];
    let mut stored = Vec::new();
    decode(&mut codes, &mut |tile, at, value: f32| {
        stored.push((tile, at, value.to_bits64() as u32));
    })?;
    Ok(DecodedChunk { codes, stored })
}

/// Calls `call` with the place and the position of each of a tile's positions that is in the field.
fn each_own(tile: &TileBox, shape: ferrosz_codec::Shape, mut call: impl FnMut(usize, [u32; 3])) {
    for at in 0..TILE as u32 {
        let position = tile::position(shape, at / LANES, at % LANES);
        if tile.has(position) {
            call(at as usize, position);
        }
    }
}

/// Runs `work` in its own stack frame: in the frames of rayon's recursion, its arrays would exist once for each depth.
#[inline(never)]
fn apart<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// The table of a field's chunks.
pub(super) struct Table(pub(super) Vec<(Form, usize)>);

impl Table {
    /// The bytes of a stage: entries, words in front of the chunks, and the chunks.
    pub(super) fn write(words: &[u32], images: &[Image]) -> Result<Vec<u8>, Error> {
        let chunks = images.iter().map(|image| &image.bytes[..]);
        let entries = images.iter().map(|image| (image.form, image.bytes.len()));
        Self(entries.collect()).write_chunks(words, chunks)
    }

    /// As [`Table::write`], with the bytes of chunks in these pieces.
    pub(super) fn write_chunks<'a>(
        &self,
        words: &[u32],
        pieces: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<u8>, Error> {
        let chunks: usize = self.0.iter().map(|(_, bytes)| bytes).sum();
        let mut bytes = try_zeroed((4 * (self.0.len() + words.len()) + chunks) as u64)?;
        let mut at = 0;
        let mut put = |piece: &[u8]| {
            bytes[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
        };
        let entries = self.0.iter().map(|(form, bytes)| *bytes as u32 | form.id());
        for word in entries.chain(words.iter().copied()) {
            put(&word.to_le_bytes());
        }
        pieces.for_each(put);
        Ok(bytes)
    }

    /// The table of so many chunks, and the bytes behind it.
    pub(super) fn read<'a>(
        name: &str,
        bytes: &'a [u8],
        chunks: u64,
    ) -> Result<(Self, &'a [u8]), Error> {
        let failed = |reason| Error::stage(name, reason);
        let (table, behind) = usize::try_from(4 * chunks)
            .ok()
            .and_then(|length| bytes.split_at_checked(length))
            .ok_or_else(|| failed("it ends within the table of chunks"))?;
        let entries = table.as_chunks().0.iter().map(|entry| {
            let entry = u32::from_le_bytes(*entry);
            let form = Form::from_id(entry & FORM_BITS);
            let form = form.ok_or_else(|| failed("a chunk has an unknown form"))?;
            Ok((form, (entry & !FORM_BITS) as usize))
        });
        Ok((Self(entries.collect::<Result<_, Error>>()?), behind))
    }

    /// The form and the bytes of each chunk.
    pub(super) fn chunks<'a>(
        &self,
        name: &str,
        mut bytes: &'a [u8],
    ) -> Result<Vec<(Form, &'a [u8])>, Error> {
        let mut chunks = Vec::with_capacity(self.0.len());
        for (form, length) in &self.0 {
            let (chunk, rest) = bytes
                .split_at_checked(*length)
                .ok_or_else(|| Error::stage(name, "it ends within a chunk"))?;
            chunks.push((*form, chunk));
            bytes = rest;
        }
        match bytes.is_empty() {
            true => Ok(chunks),
            false => Err(Error::stage(name, "bytes are left behind the last chunk")),
        }
    }
}
