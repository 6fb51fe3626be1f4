//! Encoding and decoding of a chunk's codes as bit planes.

use crate::cpu::code::image::{ChunkTiles, ImageReader, ImageWriter, padded};
use ferrosz_codec::code::bit_planes::zeros::{eliminate, length, restore};
use ferrosz_codec::code::bit_planes::{CHUNK_WORDS, PLANES, TILE_WORDS, exchange_raw, word_at};
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::code::fixed_length::bit_plane::{Portable, rows_of, set_rows};
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::element::Element;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::shape::GROUP;
use ferrosz_codec::tile::LANES;
use ferrosz_codec::tile::code::{Step, TileCodes};

/// Encodes a chunk into the start of `image`, which holds at least [`crate::cpu::code::image::image_bytes`]; returns
/// its form and its length. `codes` has one element for each tile. `value` gives the element at a position of a tile.
/// `words` is scratch.
#[inline(always)]
pub fn encode<T: Element>(
    chunk: ChunkTiles<'_>,
    codes: &[TileCodes],
    value: impl Fn(usize, usize) -> T,
    words: &mut [u32; CHUNK_WORDS],
    image: &mut [u8],
) -> (Form, usize) {
    let codes = &codes[..codes.len().min(chunk.tiles.len())];
    let words = &mut words[..(codes.len() * TILE_WORDS).min(CHUNK_WORDS)];
    for (codes, words) in codes.iter().zip(words.as_chunks_mut().0) {
        planes_of(codes, words);
    }
    if words.iter().all(|word| *word == 0) {
        return (Form::Zero, 0);
    }
    let is_raw = |z: &u16| *z == RAW as u16;
    // Whole tiles are counted in vectors.
    let raws_of = |codes: &TileCodes| codes.iter().map(|z| u32::from(is_raw(z))).sum::<u32>();
    let raws = codes.iter().map(raws_of).sum::<u32>() as usize;
    if padded(4 * length(words) + raws * T::BYTES) >= chunk.raw_bytes::<T>() {
        return (Form::Raw, chunk.write_raw(value, image));
    }
    let mut writer = ImageWriter::new(image);
    eliminate(words, |word| writer.put_word(word));
    for (tile, codes) in codes.iter().enumerate().filter(|_| raws > 0) {
        for (at, _) in codes.iter().enumerate().filter(|(_, z)| is_raw(z)) {
            writer.put_value(value(tile, at));
        }
    }
    (Form::Coded, writer.finish())
}

/// The words of a tile of these codes.
#[inline(always)]
fn planes_of(codes: &TileCodes, words: &mut [u32; TILE_WORDS]) {
    let (blocks, _) = codes.as_chunks::<{ GROUP * LANES as usize }>();
    for (block, codes) in (0..).zip(blocks) {
        if codes.iter().fold(0, |any, z| any | z) == 0 {
            for plane in 0..PLANES {
                let first = word_at(plane, block, 0) as usize;
                words[first..first + LANES as usize].fill(0);
            }
            continue;
        }
        let (steps, _) = codes.as_chunks::<{ LANES as usize }>();
        for lane in 0..LANES as usize {
            let mut values = [0; GROUP];
            for (value, step) in values.iter_mut().zip(steps) {
                *value = exchange_raw(u32::from(step[lane]));
            }
            for byte in 0..2 {
                let rows = rows_of(Portable, &values, byte);
                for (row, plane) in rows.into_iter().zip(8 * byte..) {
                    words[word_at(plane, block, lane as u32) as usize] = row;
                }
            }
        }
    }
}

/// Decodes a chunk. `codes` has one element for each tile; `set` is called with the values at the positions whose code
/// is [`RAW`], in order of tiles and positions. `words` is scratch.
///
/// # Errors
///
/// [`ChunkFault`]; the codes are then unspecified, and `set` may have been called.
#[inline(always)]
pub fn decode<T: Element>(
    chunk: ChunkTiles<'_>,
    form: Form,
    bytes: &[u8],
    codes: &mut [TileCodes],
    mut set: impl FnMut(usize, usize, T),
    words: &mut [u32; CHUNK_WORDS],
) -> Result<(), ChunkFault> {
    if chunk.read_uncoded(form, bytes, codes, &mut set)? {
        return Ok(());
    }
    let words = &mut words[..(chunk.tiles.len() * TILE_WORDS).min(CHUNK_WORDS)];
    let stored = bytes.as_chunks().0;
    let used = restore(|at| stored.get(at).copied().map(u32::from_le_bytes), words)?;
    let mut reader = ImageReader::new(bytes);
    reader.take(4 * used)?;
    let tiles = chunk.tiles.iter().zip(words.as_chunks().0).zip(codes);
    for (number, ((tile, words), codes)) in tiles.enumerate() {
        codes_of(words, codes);
        let (steps, _) = codes.as_chunks::<{ LANES as usize }>();
        for (step, codes) in (0..).zip(steps) {
            let (some, raws) = (
                lanes_where(codes, |z| z != 0),
                lanes_where(codes, |z| z == RAW),
            );
            if some & !chunk.map.active(tile, step) != 0 {
                return Err(ChunkFault::Symbol);
            }
            for lane in (0..LANES).filter(|lane| raws >> lane & 1 == 1) {
                set(number, (step * LANES + lane) as usize, reader.value()?);
            }
        }
    }
    reader.finish()
}

/// The mask of the lanes whose code satisfies a condition.
#[inline(always)]
fn lanes_where(codes: &Step<u16>, is_such: impl Fn(u32) -> bool) -> u32 {
    let lanes = codes.iter().enumerate();
    lanes.fold(0, |lanes, (lane, z)| {
        lanes | u32::from(is_such(u32::from(*z))) << lane
    })
}

/// The codes of a tile from these words.
#[inline(always)]
fn codes_of(words: &[u32; TILE_WORDS], codes: &mut TileCodes) {
    let (blocks, _) = codes.as_chunks_mut::<{ GROUP * LANES as usize }>();
    for (block, codes) in (0..).zip(blocks) {
        let (steps, _) = codes.as_chunks_mut::<{ LANES as usize }>();
        for lane in 0..LANES {
            let mut values = [0; GROUP];
            let mut any = 0;
            for byte in 0..2 {
                let row = |i: usize| word_at(8 * byte + i as u32, block, lane) as usize;
                let rows = core::array::from_fn(|i| words[row(i)]);
                any |= rows.iter().fold(0, |any, row| any | row);
                if any != 0 {
                    set_rows(Portable, &mut values, byte, rows);
                }
            }
            for (value, step) in values.iter().zip(steps.iter_mut()) {
                step[lane as usize] = exchange_raw(value.cast_unsigned() & 0xffff) as u16;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::code::image::image_bytes;
    use crate::cpu::code::samples::{Kind, Levels, Sample, lengths};
    use ferrosz_codec::tile::ChunkLength;
    use ferrosz_codec::tile::TILE;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// The words of a tile, bit by bit.
    fn oracle(codes: &TileCodes) -> Vec<u32> {
        let mut bytes = vec![[0u8; 4]; TILE_WORDS];
        for (at, z) in codes.iter().enumerate() {
            let (step, lane) = (at / 32, at % 32);
            let z = match *z {
                65_535 => 32_768,
                32_768 => 65_535,
                z => z,
            };
            for plane in (0..16).filter(|plane| z >> plane & 1 == 1) {
                let word = &mut bytes[(plane * 16 + step / 32) * 32 + lane];
                word[step % 32 / 8] |= 128 >> (step % 8);
            }
        }
        bytes.into_iter().map(u32::from_le_bytes).collect()
    }

    #[test]
    fn chunks_come_back() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut words: Box<[u32; CHUNK_WORDS]> = vec![7; CHUNK_WORDS].try_into().unwrap();
        let mut image = vec![0xee; image_bytes(ChunkLength::Four)];
        let (mut forms, mut undetected, mut damaged) = ([0; 5], 0, 0);
        for _ in 0..100 {
            let kind = Kind::random(&mut rng);
            let sample = Sample::new(kind, lengths(kind.shape, &mut rng), &mut rng);
            for chunk in &sample.chunks {
                let tiles = ChunkTiles {
                    map: &sample.map,
                    tiles: &chunk.tiles,
                };
                let value = |tile: usize, at: usize| f32::from_bits64(chunk.values[tile][at]);
                let (form, bytes) = encode(tiles, &chunk.codes, value, &mut words, &mut image);
                forms[form.id() as usize] += 1;
                if form != Form::Zero {
                    let wanted: Vec<u32> = chunk.codes.iter().flat_map(oracle).collect();
                    assert!(words[..wanted.len()] == wanted);
                }
                let mut codes = vec![[0xeeee; TILE]; chunk.tiles.len()];
                let mut read = |bytes: &[u8]| {
                    let mut raws = Vec::new();
                    let set = |tile, at, value: f32| raws.push((tile, at, value.to_bits()));
                    let read = decode(tiles, form, bytes, &mut codes, set, &mut words);
                    read.map(|()| (codes.clone(), raws))
                };
                let (codes, raws) = read(&image[..bytes]).unwrap();
                assert!(form == Form::Raw || codes == chunk.codes);
                let found = codes.iter().flatten().filter(|z| u32::from(**z) == RAW);
                assert_eq!(found.count(), raws.len());
                for (tile, at, bits) in raws {
                    assert!(codes[tile][at] == RAW as u16);
                    assert_eq!(bits, chunk.values[tile][at] as u32);
                }
                if form == Form::Coded {
                    assert!(read(&image[..bytes - 16]).is_err());
                    let mut longer = image[..bytes].to_vec();
                    longer.extend([0; 16]);
                    assert!(read(&longer).is_err());
                    let at = rng.random_range(0..(4 * chunk.tiles.len() * 8));
                    image[at] ^= 1 << rng.random_range(0..8);
                    damaged += 1;
                    undetected += u32::from(read(&image[..bytes]).is_ok());
                }
            }
        }
        assert!(forms[0] > 5 && forms[1] > 50 && forms[3] > 5, "{forms:?}");
        assert!(undetected * 10 < damaged, "{undetected} of {damaged}");
    }

    #[test]
    fn codes_at_places_without_one_are_faults() {
        let mut rng = SmallRng::seed_from_u64(2);
        let kind = Kind {
            scale: [0.0, 1.0],
            raw: 0.0,
            density: 1.0,
            levels: Levels::OfTile,
            ..Kind::random(&mut rng)
        };
        let mut sample = Sample::new(kind, [1, 20, 40], &mut rng);
        let mut words: Box<[u32; CHUNK_WORDS]> = vec![0; CHUNK_WORDS].try_into().unwrap();
        let mut image = vec![0; image_bytes(ChunkLength::Four)];
        let map = sample.map.clone();
        let chunk = &mut sample.chunks[0];
        let tiles = ChunkTiles {
            map: &map,
            tiles: &chunk.tiles,
        };
        for at in 0..TILE {
            let is_active = map.active(&chunk.tiles[0], at as u32 / 32) >> (at % 32) & 1 == 1;
            if is_active || at % 37 != 0 && at != 0 {
                continue;
            }
            chunk.codes[0][at] = 1;
            let (form, bytes) = encode(tiles, &chunk.codes, |_, _| 0.0, &mut words, &mut image);
            chunk.codes[0][at] = 0;
            assert_eq!(form, Form::Coded);
            let mut codes = vec![[0; TILE]; chunk.tiles.len()];
            let set = |_, _, _: f64| {};
            let read = decode(tiles, form, &image[..bytes], &mut codes, set, &mut words);
            assert_eq!(read, Err(ChunkFault::Symbol), "{at}");
        }
    }
}
