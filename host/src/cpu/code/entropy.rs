//! Encoding and decoding of a chunk of tiles with 32 interleaved states.
//!
//! ```text
//! [ words W ][ 32 x 4 bits: spare bits of each lane's state ][ the states, packed ][ W words of 16 bits ][ raw values ]
//! ```
//!
//! The decoder goes from tile to tile. In each tile the classes come first, then the steps. In a step the tokens of all
//! lanes are popped together with up to [`BITS_WITH_SYMBOL`] extra bits, then the extra bits of lanes that have more.
//! In both, lanes read the renormalisation words in order of lane. The encoder does all of this backwards.
//!
//! [`BITS_WITH_SYMBOL`]: ferrosz_codec::code::entropy::states::BITS_WITH_SYMBOL

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
mod decoder;
mod encoder;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod order;
mod tables;
#[cfg(test)]
mod tests;

use crate::cpu::Version;
use crate::cpu::code::image::{ChunkTiles, ImageReader, ImageWriter, padded};
use crate::cpu::code::zones::Classes;
use crate::cpu::lanes::Lanes;
use crate::cpu::version::Work;
pub use decoder::Decoder;
pub use encoder::Encoder;
use encoder::MARGIN;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::element::Element;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::tile::code::{RAW, TileCodes};
use ferrosz_codec::tile::{ChunkLength, TILE, ZONES};
use std::marker::PhantomData;
pub use tables::{Pops, Pushes};

/// Words of scratch that an encoder needs: one for each push. There are two pushes for each code, and one for each class.
pub const fn word_count(length: ChunkLength) -> usize {
    MARGIN + length.tiles() as usize * (2 * TILE + ZONES as usize)
}

/// Encodes a chunk into the start of `image`, which holds at least [`crate::cpu::code::image::image_bytes`]; returns
/// its form and its length. `codes` has one element for each tile. `value` gives the element at a position of a tile.
/// `words` is scratch, of at least [`word_count`].
pub fn encode<T: Element>(
    version: Version,
    chunk: ChunkTiles<'_>,
    pushes: &Pushes,
    codes: &[TileCodes],
    value: impl Fn(usize, usize) -> T,
    words: &mut [u16],
    image: &mut [u8],
) -> (Form, usize) {
    version.run(Encode {
        chunk,
        pushes,
        codes,
        value,
        words,
        image,
    })
}

/// Decodes a chunk. `codes` has one element for each tile; `set` is called with the values at the positions whose code
/// is [`RAW`], in order of tiles and positions.
///
/// # Errors
///
/// [`ChunkFault`]; the codes are then unspecified, and `set` may have been called.
pub fn decode<T: Element>(
    version: Version,
    chunk: ChunkTiles<'_>,
    pops: &Pops,
    form: Form,
    bytes: &[u8],
    codes: &mut [TileCodes],
    mut set: impl FnMut(usize, usize, T),
) -> Result<(), ChunkFault> {
    if chunk.read_uncoded(form, bytes, codes, &mut set)? {
        return Ok(());
    }
    version.run(Decode {
        chunk,
        pops,
        bytes,
        codes,
        set,
        element: PhantomData,
    })
}

struct Encode<'a, F> {
    chunk: ChunkTiles<'a>,
    pushes: &'a Pushes,
    codes: &'a [TileCodes],
    value: F,
    words: &'a mut [u16],
    image: &'a mut [u8],
}

impl<T: Element, F: Fn(usize, usize) -> T> Work for Encode<'_, F> {
    type Output = (Form, usize);

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let (chunk, codes) = (self.chunk, self.codes);
        let mut classes = [Classes::ZERO; ChunkLength::SixtyFour.tiles() as usize];
        let mut raws = 0;
        for (classes, codes) in classes.iter_mut().zip(codes) {
            let (found, raw) = chunk.map.classes(codes);
            *classes = found;
            raws += raw as usize;
        }
        if classes.iter().all(Classes::is_zero) {
            return (Form::Zero, 0);
        }
        let mut encoder = Encoder::new(self.pushes, self.words);
        let tiles = chunk.tiles.iter().zip(codes).zip(&classes);
        for ((tile, codes), classes) in tiles.rev() {
            encoder.push_tile(lanes, chunk.map, tile, codes, classes);
        }
        let length = padded(encoder.bytes() + raws * T::BYTES);
        if !encoder.is_codable || length >= chunk.raw_bytes::<T>() {
            return (Form::Raw, chunk.write_raw(self.value, self.image));
        }
        let mut writer = ImageWriter::new(self.image);
        encoder.write(&mut writer);
        if raws > 0 {
            for (tile, codes) in codes.iter().enumerate() {
                for (at, _) in codes.iter().enumerate().filter(|(_, z)| **z == RAW) {
                    writer.put_value((self.value)(tile, at));
                }
            }
        }
        (Form::Coded, writer.finish())
    }
}

/// The decoding of a chunk that has words.
struct Decode<'a, T, F> {
    chunk: ChunkTiles<'a>,
    pops: &'a Pops,
    bytes: &'a [u8],
    codes: &'a mut [TileCodes],
    set: F,
    element: PhantomData<T>,
}

impl<T: Element, F: FnMut(usize, usize, T)> Work for Decode<'_, T, F> {
    type Output = Result<(), ChunkFault>;

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) -> Self::Output {
        let mut reader = ImageReader::new(self.bytes);
        let mut decoder = Decoder::read(self.pops, &mut reader)?;
        for (number, (tile, codes)) in self.chunk.tiles.iter().zip(self.codes).enumerate() {
            decoder.pop_tile(lanes, self.chunk.map, tile, codes, |at| {
                (self.set)(number, at, reader.value()?);
                Ok(())
            })?;
        }
        decoder.finish()?;
        reader.finish()
    }
}
