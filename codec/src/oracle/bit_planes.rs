//! Bit planes without zeros (FORMAT.md, section 14), bit by bit.

use crate::container::chunk::Form;
use crate::element::Element;
use crate::error::ChunkFault;
use crate::oracle::entropy::{Decoded, positions_of, read_values, uncoded, with_values};
use crate::oracle::order::{self, POSITIONS, RAW};
use crate::tile::{TileBox, TileOrder};
use alloc::vec;
use alloc::vec::Vec;

/// Words of a tile: 16 planes of as many bits as there are positions.
const TILE_WORDS: usize = 16 * POSITIONS / 32;

/// The word, and the bit in it, for bit `plane` of code number `at`.
fn bit_of(plane: usize, at: usize) -> (usize, usize) {
    let (step, lane) = (at / 32, at % 32);
    let e = step % 32;
    (512 * plane + step / 32 * 32 + lane, 8 * (e / 8) + 7 - e % 8)
}

/// Exchanges RAW and 2^15, so that a raw value sets one bit.
fn exchanged(z: u16) -> u16 {
    match z {
        RAW => 1 << 15,
        0x8000 => RAW,
        z => z,
    }
}

/// Encodes a chunk of tiles. The codes and elements of each tile are in order of steps and lanes.
pub(super) fn encode<T: Element>(
    order: TileOrder,
    tiles: &[TileBox],
    codes: &[Vec<u16>],
    values: &[Vec<T>],
) -> (Form, Vec<u8>) {
    let (mut all, mut raw) = (Vec::new(), Vec::new());
    let mut words = Vec::new();
    for ((tile, codes), values) in tiles.iter().zip(codes).zip(values) {
        let mut of_tile = vec![0u32; TILE_WORDS];
        for (at, z) in codes.iter().enumerate() {
            for plane in (0..16).filter(|plane| exchanged(*z) >> plane & 1 == 1) {
                let (word, bit) = bit_of(plane, at);
                of_tile[word] |= 1 << bit;
            }
            if order::zone(order, tile, at).is_some() {
                all.push(values[at]);
                if *z == RAW {
                    raw.push(values[at]);
                }
            }
        }
        words.extend(of_tile);
    }
    if words.iter().all(|word| *word == 0) {
        return (Form::Zero, Vec::new());
    }
    let masks = masks_of(&words);
    let tops = masks_of(&masks);
    let stored = [&tops[..], &without_zeros(&masks), &without_zeros(&words)].concat();
    let bytes = stored.iter().flat_map(|word| word.to_le_bytes()).collect();
    let coded = with_values(bytes, &raw);
    let raw_form = with_values(Vec::new(), &all);
    if coded.len() < raw_form.len() {
        (Form::Coded, coded)
    } else {
        (Form::Raw, raw_form)
    }
}

/// For every 32 words, a mask of the words that are not 0.
fn masks_of(words: &[u32]) -> Vec<u32> {
    let mask = |words: &[u32]| {
        let bit = |(i, word): (usize, &u32)| u32::from(*word != 0) << i;
        words.iter().enumerate().map(bit).sum()
    };
    words.chunks(32).map(mask).collect()
}

fn without_zeros(words: &[u32]) -> Vec<u32> {
    words.iter().copied().filter(|word| *word != 0).collect()
}

/// Decodes a chunk of tiles; returns the codes of each tile, and the raw values of all tiles in order.
///
/// # Errors
///
/// [`ChunkFault`].
pub(super) fn decode<T: Element>(
    order: TileOrder,
    tiles: &[TileBox],
    form: Form,
    bytes: &[u8],
) -> Result<Decoded<T>, ChunkFault> {
    let positions = positions_of(order, tiles);
    if let Some(decoded) = uncoded(&positions, form, bytes)? {
        return Ok(decoded);
    }
    let stored: Vec<u32> = (bytes.as_chunks::<4>().0.iter())
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    let mut next = 0;
    let mut take = || {
        let word = stored.get(next).copied().ok_or(ChunkFault::Length);
        next += 1;
        word
    };
    let count = TILE_WORDS * tiles.len();
    let mut tops = Vec::new();
    for _ in 0..count.div_ceil(1024) {
        tops.push(take()?);
    }
    let masks = restored(&tops, count.div_ceil(32), &mut take)?;
    let words = restored(&masks, count, &mut take)?;
    let mut codes = Vec::new();
    for (words, zones) in words.chunks(TILE_WORDS).zip(&positions) {
        let mut of_tile = Vec::new();
        for (at, zone) in zones.iter().enumerate() {
            let mut z = 0u16;
            for plane in 0..16 {
                let (word, bit) = bit_of(plane, at);
                z |= ((words[word] >> bit & 1) as u16) << plane;
            }
            if z != 0 && zone.is_none() {
                return Err(ChunkFault::Symbol);
            }
            of_tile.push(exchanged(z));
        }
        codes.push(of_tile);
    }
    let raws = codes.iter().flatten().filter(|z| **z == RAW).count();
    let values = read_values(bytes.get(4 * next..).ok_or(ChunkFault::Length)?, raws)?;
    let end = 4 * next + raws * T::BYTES;
    if end.next_multiple_of(16) == bytes.len() {
        Ok((codes, values))
    } else {
        Err(ChunkFault::Length)
    }
}

/// `count` words, of which `masks` say which are not 0.
fn restored(
    masks: &[u32],
    count: usize,
    mut take: impl FnMut() -> Result<u32, ChunkFault>,
) -> Result<Vec<u32>, ChunkFault> {
    let mut words = vec![0; count];
    for at in 0..32 * masks.len() {
        if masks[at / 32] >> (at % 32) & 1 == 0 {
            continue;
        }
        // Faults: a word that is missing, or that is stored although it is 0.
        let word = words.get_mut(at).ok_or(ChunkFault::Symbol)?;
        *word = take()?;
        if *word == 0 {
            return Err(ChunkFault::Symbol);
        }
    }
    Ok(words)
}
