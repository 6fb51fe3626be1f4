//! Code shared by all coders of tiles: the positions of a chunk, raw values, and the forms.

use crate::cpu::code::zones::ZoneMap;
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::element::Element;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{ChunkLength, LANES, STEPS, TileBox};

/// Chunks are padded to a multiple of this many bytes.
const PADDING: usize = 16;

/// Bytes of the longest image of a chunk: raw, of the widest type.
pub const fn image_bytes(length: ChunkLength) -> usize {
    length.elements() as usize * 8
}

/// The tiles of a chunk.
#[derive(Debug, Clone, Copy)]
pub struct ChunkTiles<'a> {
    /// The zones of the positions of each tile.
    pub map: &'a ZoneMap,
    /// The tiles.
    pub tiles: &'a [TileBox],
}

impl ChunkTiles<'_> {
    /// Calls `visit` with the tile and the position in it, in order of tiles, steps and lanes, of every position that
    /// has a code.
    #[inline(always)]
    pub fn positions<E>(
        &self,
        mut visit: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        for (number, tile) in self.tiles.iter().enumerate() {
            for step in 0..STEPS {
                let active = self.map.active(tile, step);
                for lane in (0..LANES).filter(|lane| active >> lane & 1 == 1) {
                    visit(number, (step * LANES + lane) as usize)?;
                }
            }
        }
        Ok(())
    }

    /// The number of positions that have a code.
    #[inline(always)]
    pub fn active(&self) -> usize {
        let positions = |tile| self.map.order().positions(tile) as usize;
        self.tiles.iter().map(positions).sum()
    }

    /// Bytes of the raw form; no chunk has more.
    #[inline(always)]
    pub fn raw_bytes<T: Element>(&self) -> usize {
        padded(self.active() * T::BYTES)
    }

    /// Writes the values of all positions that have a code; returns the number of bytes.
    pub fn write_raw<T: Element>(
        &self,
        value: impl Fn(usize, usize) -> T,
        image: &mut [u8],
    ) -> usize {
        let mut writer = ImageWriter::new(image);
        let Ok(()) = self.positions::<core::convert::Infallible>(|tile, at| {
            writer.put_value(value(tile, at));
            Ok(())
        });
        writer.finish()
    }

    /// Reads a chunk of form zero or raw; returns whether it has one of these forms.
    ///
    /// # Errors
    ///
    /// [`ChunkFault::Form`] if no coder of tiles writes this form; [`ChunkFault::Place`] or [`ChunkFault::Length`] if
    /// it cannot have this many bytes.
    pub fn read_uncoded<T: Element>(
        &self,
        form: Form,
        bytes: &[u8],
        codes: &mut [TileCodes],
        mut set: impl FnMut(usize, usize, T),
    ) -> Result<bool, ChunkFault> {
        let raw = self.raw_bytes::<T>();
        if !bytes.len().is_multiple_of(PADDING) || bytes.len() > raw {
            return Err(ChunkFault::Place);
        }
        match form {
            Form::Zero if !bytes.is_empty() => Err(ChunkFault::Length),
            Form::Zero => {
                codes.as_flattened_mut().fill(0);
                Ok(true)
            }
            Form::Raw if bytes.len() != raw => Err(ChunkFault::Length),
            Form::Raw => {
                codes.as_flattened_mut().fill(0);
                let mut reader = ImageReader::new(bytes);
                self.positions(|tile, at| {
                    if let Some(z) = codes.get_mut(tile).and_then(|codes| codes.get_mut(at)) {
                        *z = RAW as u16;
                    }
                    set(tile, at, reader.value()?);
                    Ok(())
                })?;
                Ok(true)
            }
            Form::Coded => Ok(false),
            Form::CodedWithExceptions | Form::Constant => Err(ChunkFault::Form),
        }
    }
}

/// The number of bytes with padding.
#[inline(always)]
pub const fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(PADDING)
}

/// Writes an image from its start. Bytes that do not fit are not written.
pub(super) struct ImageWriter<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> ImageWriter<'a> {
    pub fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[inline(always)]
    pub fn put(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if let Some(position) = self.bytes.get_mut(self.at..end) {
            position.copy_from_slice(bytes);
        }
        self.at = end;
    }

    #[inline(always)]
    pub fn put_word(&mut self, word: u32) {
        self.put(&word.to_le_bytes());
    }

    #[inline(always)]
    pub fn put_halves(&mut self, halves: &[u16]) {
        let end = self.at + 2 * halves.len();
        if let Some(position) = self.bytes.get_mut(self.at..end) {
            for (bytes, half) in position.as_chunks_mut().0.iter_mut().zip(halves) {
                *bytes = half.to_le_bytes();
            }
        }
        self.at = end;
    }

    #[inline(always)]
    pub fn put_value<T: Element>(&mut self, value: T) {
        self.put(&value.to_bits64().to_le_bytes()[..T::BYTES]);
    }

    /// Writes zeros up to a multiple of `bytes`.
    pub fn pad(&mut self, bytes: usize) {
        while !self.at.is_multiple_of(bytes) {
            self.put(&[0]);
        }
    }

    /// Pads the image; returns its length.
    pub fn finish(mut self) -> usize {
        self.pad(PADDING);
        self.at
    }
}

/// Reads an image from its start.
pub(super) struct ImageReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ImageReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[inline(always)]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], ChunkFault> {
        let end = self.at.checked_add(count).ok_or(ChunkFault::Length)?;
        let taken = self.bytes.get(self.at..end).ok_or(ChunkFault::Length)?;
        self.at = end;
        Ok(taken)
    }

    #[inline(always)]
    pub fn word(&mut self) -> Result<u32, ChunkFault> {
        let word = self.take(4)?.first_chunk().ok_or(ChunkFault::Length)?;
        Ok(u32::from_le_bytes(*word))
    }

    #[inline(always)]
    pub fn value<T: Element>(&mut self) -> Result<T, ChunkFault> {
        let mut bits = [0; 8];
        for (position, byte) in bits.iter_mut().zip(self.take(T::BYTES)?) {
            *position = *byte;
        }
        Ok(T::from_bits64(u64::from_le_bytes(bits)))
    }

    /// Checks that only padding follows.
    pub fn finish(&self) -> Result<(), ChunkFault> {
        if padded(self.at) == self.bytes.len() {
            Ok(())
        } else {
            Err(ChunkFault::Length)
        }
    }
}
