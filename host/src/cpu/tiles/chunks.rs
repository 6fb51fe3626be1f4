//! The chunks of tiles: their codes become images, in waves.

use crate::cpu::code::image::ChunkTiles;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::pool::Pool;
use crate::cpu::tiles::coder::{Encoder, Scratch};
use crate::cpu::tiles::codes::{TileValues, apart};
use crate::cpu::tiles::kept::{Kept, TilePlace};
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::memory;
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{self, ChunkLength, LANES, TileBox, TileGrid};
use std::ops::Range;

/// Tiles for each thread in a wave: enough that little time is lost at the end of the wave, where threads wait, and few
/// enough that their codes stay in a cache until they are encoded.
const WAVE_TILES: u64 = 64;

/// An encoded chunk.
pub(crate) struct Image {
    pub(crate) form: Form,
    pub(crate) bytes: Vec<u8>,
    /// The checksum without a seed.
    pub(crate) sum: u64,
}

impl Image {
    pub(crate) fn new(form: Form, bytes: Vec<u8>) -> Self {
        Self {
            form,
            sum: checksum(0, &bytes),
            bytes,
        }
    }

    /// Replaces the contents, in the same memory.
    fn set(&mut self, form: Form, bytes: &[u8]) -> Result<(), Error> {
        self.bytes.clear();
        memory::append(&mut self.bytes, bytes)?;
        (self.form, self.sum) = (form, checksum(0, bytes));
        Ok(())
    }
}

/// Called with the images of a wave in the order of their chunks, and with the number of waves that have about as many
/// bytes, or 0 if that is not known.
pub(crate) type Put<'a> = &'a mut (dyn FnMut(&[Image], u64) -> Result<(), Error> + Send);

/// The boxes of these tiles.
pub(super) fn boxes(grid: &TileGrid, tiles: Range<u64>) -> Vec<TileBox> {
    tiles.map(|tile| grid.tile(tile)).collect()
}

/// Encodes the chunks of a stream.
pub(crate) struct Chunks<'a> {
    pub(crate) version: Version,
    pub(crate) length: ChunkLength,
    pub(crate) encoder: Encoder,
    pub(crate) map: &'a ZoneMap,
    pub(crate) scratch: Pool<Scratch>,
}

/// The chunks of a field that are encoded, in ascending order.
#[derive(Clone, Copy)]
pub(crate) enum Numbers<'a> {
    /// All chunks, this many.
    All(u64),
    /// The chunks with these numbers.
    Some(&'a [u64]),
}

impl Numbers<'_> {
    fn count(&self) -> u64 {
        match self {
            Self::All(count) => *count,
            Self::Some(numbers) => numbers.len() as u64,
        }
    }

    /// The number of the chunk at an index, which is less than the count.
    fn get(&self, index: u64) -> u64 {
        match self {
            Self::All(_) => index,
            Self::Some(numbers) => numbers[index as usize],
        }
    }
}

impl Chunks<'_> {
    /// Encodes chunks of tiles of this grid in waves. Codes that are not kept are made by `predict`.
    #[expect(
        clippy::too_many_arguments,
        reason = "a field, what is known of its codes, and where its chunks go"
    )]
    pub(crate) fn encode<T: Element>(
        &self,
        grid: &TileGrid,
        values: &dyn TileValues<T>,
        numbers: Numbers<'_>,
        kept: &Kept,
        predict: impl Fn(Vec<TilePlace<'_>>) + Sync,
        progress: Progress<'_>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        let chunks = numbers.count();
        let tiles = WAVE_TILES * parallel::thread_count() as u64;
        let wave = tiles.div_ceil(u64::from(self.length.tiles()));
        let waves = chunks.div_ceil(wave);
        let mut codes = Vec::new();
        let (mut now, mut before) = (Vec::new(), Vec::new());
        for number in 0..waves {
            let chunks = number * wave..chunks.min((number + 1) * wave);
            let chunks = chunks.map(|index| self.length.of_chunk(grid, numbers.get(index)));
            // While a wave is encoded, threads that are free put the wave before it into the stream.
            let (placed, encoded) = parallel::join(
                || put(&before, if number == 1 { waves } else { 0 }),
                || {
                    let chunks: Vec<_> = chunks.collect();
                    let codes = kept.of(grid, &chunks, &predict, &mut codes)?;
                    self.encode_wave(grid, values, &chunks, codes, &mut now, progress)
                },
            );
            placed.and(encoded)?;
            std::mem::swap(&mut now, &mut before);
        }
        put(&before, 0)
    }

    /// Encodes chunks, given by the numbers of their tiles, from the codes of these tiles into images, whose memory is
    /// reused.
    fn encode_wave<T: Element>(
        &self,
        grid: &TileGrid,
        values: &dyn TileValues<T>,
        chunks: &[Range<u64>],
        codes: &[TileCodes],
        images: &mut Vec<Image>,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        images.resize_with(chunks.len(), || Image::new(Form::Zero, Vec::new()));
        // Only the last chunk of a field may have fewer tiles.
        let codes = codes.chunks(self.length.tiles() as usize);
        let images = codes.zip(chunks).zip(images);
        let encoded = parallel::map(images, |((codes, numbers), image)| {
            let boxes = boxes(grid, numbers.clone());
            let tiles = ChunkTiles {
                map: self.map,
                tiles: &boxes,
            };
            let value = |tile: usize, at: usize| {
                let (step, lane) = (at as u32 / LANES, at as u32 % LANES);
                let at = boxes[tile].at(tile::position(grid.shape(), step, lane));
                let mut value = [T::ZERO];
                values.read(numbers.start + tile as u64, at, &mut value);
                value[0]
            };
            let scratch = || Scratch::new(self.length);
            let encode = |scratch: &mut Scratch| {
                let encode = || {
                    self.encoder
                        .encode(self.version, tiles, codes, value, scratch)
                };
                let (form, length) = apart(encode);
                image.set(form, &scratch.image[..length])
            };
            self.scratch.with(scratch, encode)?;
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
