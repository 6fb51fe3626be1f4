//! The chunks of tiles: their codes become images, in waves.

use crate::cpu::code::image::ChunkTiles;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::numbers::Numbers;
use crate::cpu::pool::Pool;
use crate::cpu::tiles::coder::{Encoder, Scratch};
use crate::cpu::tiles::codes::{TileValues, apart};
use crate::cpu::tiles::kept::{Kept, TilePlace};
use crate::cpu::{Progress, Version};
use crate::encoded::{EncodedChunks, Put, in_waves};
use crate::error::Error;
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{self, ChunkLength, LANES, TileBox, TileGrid};
use std::ops::Range;

/// Tiles for each thread in a wave: enough that little time is lost at the end of the wave, where threads wait, and few
/// enough that their codes stay in a cache until they are encoded.
pub(super) const WAVE_TILES: u64 = 64;

/// The boxes of these tiles.
pub(super) fn boxes(grid: &TileGrid, tiles: Range<u64>) -> Vec<TileBox> {
    tiles.map(|tile| grid.tile(tile)).collect()
}

/// Tiles that are coded in chunks: those of a field, of its coarse field, or of a line.
#[derive(Clone, Copy)]
pub(crate) struct Divided<'a> {
    pub(crate) grid: &'a TileGrid,
    /// The number of the entry of the first chunk.
    pub(crate) first_entry: u64,
    pub(crate) length: ChunkLength,
    pub(crate) map: &'a ZoneMap,
}

/// Encodes chunks of a stream.
pub(crate) struct Chunks<'a> {
    pub(crate) version: Version,
    pub(crate) divided: Divided<'a>,
    pub(crate) encoder: Encoder,
    pub(crate) scratch: Pool<Scratch>,
}

impl Chunks<'_> {
    /// Encodes chunks in waves. Codes that are not kept are made by `predict`.
    pub(crate) fn encode<T: Element>(
        &self,
        values: &dyn TileValues<T>,
        numbers: Numbers<'_>,
        kept: &Kept,
        predict: impl Fn(Vec<TilePlace<'_>>) + Sync,
        progress: Progress<'_>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        let tiles = WAVE_TILES * parallel::thread_count() as u64;
        let wave = tiles.div_ceil(u64::from(self.divided.length.tiles()));
        let mut codes = Vec::new();
        in_waves(numbers.count(), wave, put, |wave, images| {
            let numbers = wave.map(|index| numbers.get(index));
            let chunks: Vec<_> = numbers
                .map(|number| self.divided.length.of_chunk(self.divided.grid, number))
                .collect();
            let codes = kept.of(self.divided.grid, &chunks, &predict, &mut codes)?;
            self.encode_wave(values, &chunks, codes, images, progress)
        })
    }

    /// Encodes chunks, given by the numbers of their tiles, from the codes of these tiles into images, whose memory is
    /// reused.
    fn encode_wave<T: Element>(
        &self,
        values: &dyn TileValues<T>,
        chunks: &[Range<u64>],
        codes: &[TileCodes],
        images: &mut Vec<EncodedChunks>,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let grid = self.divided.grid;
        images.resize_with(chunks.len(), EncodedChunks::default);
        // Only the last chunk of a field may have fewer tiles.
        let codes = codes.chunks(self.divided.length.tiles() as usize);
        let images = codes.zip(chunks).zip(images);
        let encoded = parallel::map(images, |((codes, numbers), image)| {
            let boxes = boxes(grid, numbers.clone());
            let tiles = ChunkTiles {
                map: self.divided.map,
                tiles: &boxes,
            };
            let value = |tile: usize, at: usize| {
                let (step, lane) = (at as u32 / LANES, at as u32 % LANES);
                let at = boxes[tile].at(tile::position(grid.shape(), step, lane));
                let mut value = [T::ZERO];
                values.read(numbers.start + tile as u64, at, &mut value);
                value[0]
            };
            let scratch = || Scratch::new(self.divided.length);
            let encode = |scratch: &mut Scratch| {
                let encode = || {
                    self.encoder
                        .encode(self.version, tiles, codes, value, scratch)
                };
                let (form, length) = apart(encode);
                let number = self.divided.first_entry + self.divided.length.chunk_of(numbers.start);
                image.clear();
                image.push(number, form, &scratch.image[..length])
            };
            self.scratch.try_with(scratch, encode)??;
            let extents = boxes.iter().map(|tile| tile.extents(grid.shape()));
            progress(
                extents
                    .map(|extents| extents.map(u64::from).iter().product::<u64>())
                    .sum(),
            );
            Ok(())
        });
        encoded.into_iter().collect()
    }
}
