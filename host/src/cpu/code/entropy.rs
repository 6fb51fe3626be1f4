//! Encoding and decoding of a chunk of tiles with 32 interleaved states.
//!
//! ```text
//! [ words W ][ 32 x 4 bits: spare bits of each lane's state ][ the states, packed ][ W words of 16 bits ][ raw values ]
//! ```
//!
//! The decoder goes from tile to tile. In each tile the classes come first, then the steps. In a step the tokens of all
//! lanes are popped together with up to [`BITS_WITH_SYMBOL`] extra bits, then the extra bits of lanes that have more.
//! In both, lanes read the renormalisation words in order of lane. The encoder does all of this backwards.

#[cfg(test)]
mod tests;

use crate::cpu::code::image::{ChunkTiles, ImageReader, ImageWriter, padded};
use crate::cpu::code::zones::{Classes, ZoneMap};
use ferrosz_codec::code::entropy::class::FIRST_CLASSES;
use ferrosz_codec::code::entropy::states::{
    BITS_WITH_SYMBOL, START, SymbolCoder, WORD_BITS, emit, is_full_for_bits, needs_refill,
    push_bits, refill, spare_bits, state, top_bits,
};
use ferrosz_codec::code::entropy::tables::{DecodeTables, EncodeTables, NOTHING, Symbol};
use ferrosz_codec::code::entropy::token::{ESCAPE, RAW, Token};
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::element::Element;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::tile::code::{Step, TileCodes};
use ferrosz_codec::tile::{CHUNK_TILES, LANES, STEPS, TILE, TileBox, ZONES};

/// The most words of a chunk: one for each push. There are two pushes for each code, and one for each class.
pub const MAX_WORDS: usize = CHUNK_TILES as usize * (2 * TILE + ZONES as usize);

/// Bytes of an image before the states.
const HEAD_BYTES: usize = 4 + LANES as usize / 2;

/// Contexts of lanes without codes.
const ALL_NOTHING: Step<u8> = [NOTHING as u8; LANES as usize];

/// Encodes a chunk into the start of `image`, which holds at least [`crate::cpu::code::image::IMAGE_BYTES`]; returns
/// its form and its length. `codes` has one element for each tile. `value` gives the element at a position of a tile.
/// `words` is scratch.
#[inline(always)]
pub fn encode<C: SymbolCoder, T: Element>(
    chunk: ChunkTiles<'_>,
    tables: &EncodeTables<C>,
    codes: &[TileCodes],
    value: impl Fn(usize, usize) -> T,
    words: &mut [u16; MAX_WORDS],
    image: &mut [u8],
) -> (Form, usize) {
    let mut classes = [Classes::ZERO; CHUNK_TILES as usize];
    let mut raws = 0;
    for (classes, codes) in classes.iter_mut().zip(codes) {
        let (found, raw) = chunk.map.classes(codes);
        *classes = found;
        raws += raw as usize;
    }
    if classes.iter().all(Classes::is_zero) {
        return (Form::Zero, 0);
    }
    let mut lanes = Encoder::new(tables, words);
    let tiles = chunk.tiles.iter().zip(codes).zip(&classes);
    for ((tile, codes), classes) in tiles.rev() {
        lanes.push_tile(chunk.map, tile, codes, classes);
    }
    let length = padded(lanes.bytes() + raws * T::BYTES);
    if !lanes.is_codable || length >= chunk.raw_bytes::<T>() {
        return (Form::Raw, chunk.write_raw(value, image));
    }
    let mut writer = ImageWriter::new(image);
    lanes.write(&mut writer);
    if raws > 0 {
        let all = codes.iter().enumerate().flat_map(|(tile, codes)| {
            let positions = codes.iter().enumerate();
            positions.filter_map(move |(at, z)| (*z == RAW as u16).then_some((tile, at)))
        });
        for (tile, at) in all {
            writer.put_value(value(tile, at));
        }
    }
    (Form::Coded, writer.finish())
}

/// The lanes of an encoder.
struct Encoder<'a, C> {
    tables: &'a EncodeTables<C>,
    states: Step<u32>,
    /// Filled from the end: the word that is emitted last is read first.
    words: &'a mut [u16; MAX_WORDS],
    start: usize,
    /// Whether all symbols had a frequency.
    is_codable: bool,
}

impl<'a, C: SymbolCoder> Encoder<'a, C> {
    fn new(tables: &'a EncodeTables<C>, words: &'a mut [u16; MAX_WORDS]) -> Self {
        Self {
            tables,
            states: [START; LANES as usize],
            words,
            start: MAX_WORDS,
            is_codable: true,
        }
    }

    #[inline(always)]
    fn push_tile(&mut self, map: &ZoneMap, tile: &TileBox, codes: &TileCodes, classes: &Classes) {
        if !classes.is_zero() {
            let (steps, _) = codes.as_chunks();
            for (step, codes) in (0..STEPS).zip(steps).rev() {
                let contexts = map.contexts(tile, classes, step);
                if contexts != ALL_NOTHING {
                    self.push_step(codes, &contexts);
                }
            }
        }
        for zone in (0..map.order().zones()).rev() {
            let symbol = self.tables.symbol(0, classes.of(zone));
            self.is_codable &= symbol.entry != 0;
            self.push_symbol(zone as usize % LANES as usize, symbol, (0, 0));
        }
    }

    /// Pushes a step. The extra bits are pushed first, as they are popped last.
    #[inline(always)]
    fn push_step(&mut self, codes: &Step<u16>, contexts: &Step<u8>) {
        let mut symbols = [Symbol::default(); LANES as usize];
        let mut bits = [0; LANES as usize];
        let mut extras = [0; LANES as usize];
        let mut most_bits = 0;
        for lane in 0..LANES as usize {
            let context = u32::from(contexts[lane]);
            let z = if context == NOTHING { 0 } else { codes[lane] };
            let (token, symbol) = self.tables.token(context, u32::from(z));
            self.is_codable &= symbol.entry != 0;
            symbols[lane] = symbol;
            bits[lane] = token.bits;
            extras[lane] = token.extra;
            most_bits = most_bits.max(token.bits);
        }
        if most_bits > BITS_WITH_SYMBOL {
            for lane in (0..LANES as usize).rev() {
                if bits[lane] > BITS_WITH_SYMBOL {
                    self.push_extra(lane, bits[lane], extras[lane]);
                    (bits[lane], extras[lane]) = (0, 0);
                }
            }
        }
        for lane in (0..LANES as usize).rev() {
            self.push_symbol(lane, symbols[lane], (extras[lane], bits[lane]));
        }
    }

    /// Pushes this many bits, at most [`BITS_WITH_SYMBOL`], then a symbol.
    #[inline(always)]
    fn push_symbol(&mut self, lane: usize, symbol: Symbol, (extra, bits): (u32, u32)) {
        let x = self.states[lane];
        let x = self.make_room(x, C::is_full(x, symbol.entry, bits));
        self.states[lane] = C::push(push_bits(x, bits, extra), symbol.entry, symbol.reciprocal);
    }

    #[inline(always)]
    fn push_extra(&mut self, lane: usize, bits: u32, extra: u32) {
        let x = self.states[lane];
        let x = self.make_room(x, is_full_for_bits(x, bits));
        self.states[lane] = push_bits(x, bits, extra);
    }

    /// Emits a word from a state that is full.
    #[inline(always)]
    fn make_room(&mut self, x: u32, is_full: bool) -> u32 {
        // Written in any case, so that there is no branch to predict.
        if let Some(position) = self.words.get_mut(self.start.wrapping_sub(1)) {
            *position = x as u16;
        }
        self.start = self.start.saturating_sub(usize::from(is_full));
        if is_full { emit(x) } else { x }
    }

    fn emitted(&self) -> &[u16] {
        self.words.get(self.start..).unwrap_or_default()
    }

    /// The number of bytes that [`Encoder::write`] writes.
    fn bytes(&self) -> usize {
        let states = self.states.iter();
        let bits: u32 = states.map(|x| WORD_BITS + spare_bits(*x)).sum();
        HEAD_BYTES + 4 * bits.div_ceil(32) as usize + 4 * self.emitted().len().div_ceil(2)
    }

    fn write(&self, writer: &mut ImageWriter<'_>) {
        let words = self.emitted();
        writer.put_word(words.len() as u32);
        for [low, high] in self.states.as_chunks().0 {
            writer.put(&[(spare_bits(*low) | spare_bits(*high) << 4) as u8]);
        }
        let (mut pending, mut count) = (0u64, 0);
        for x in self.states {
            let bits = WORD_BITS + spare_bits(x);
            pending |= u64::from(x & ((1 << bits) - 1)) << count;
            count += bits;
            if count >= 32 {
                writer.put_word(pending as u32);
                pending >>= 32;
                count -= 32;
            }
        }
        if count > 0 {
            writer.put_word(pending as u32);
        }
        for word in words {
            writer.put(&word.to_le_bytes());
        }
        writer.pad(4);
    }
}

/// Decodes a chunk. `codes` has one element for each tile; `set` is called with the values at the positions whose code
/// is [`RAW`], in order of tiles and positions.
///
/// # Errors
///
/// [`ChunkFault`]; the codes are then unspecified, and `set` may have been called.
#[inline(always)]
pub fn decode<C: SymbolCoder, T: Element>(
    chunk: ChunkTiles<'_>,
    tables: &DecodeTables<C>,
    form: Form,
    bytes: &[u8],
    codes: &mut [TileCodes],
    mut set: impl FnMut(usize, usize, T),
) -> Result<(), ChunkFault> {
    if chunk.read_uncoded(form, bytes, codes, &mut set)? {
        return Ok(());
    }
    let mut reader = ImageReader::new(bytes);
    let mut lanes = Decoder::read(tables, &mut reader)?;
    for (number, (tile, codes)) in chunk.tiles.iter().zip(codes).enumerate() {
        lanes.pop_tile(chunk.map, tile, codes, |at| {
            set(number, at, reader.value()?);
            Ok(())
        })?;
    }
    lanes.finish()?;
    reader.finish()
}

/// The lanes of a decoder.
struct Decoder<'a, C> {
    tables: &'a DecodeTables<C>,
    states: Step<u32>,
    words: &'a [[u8; 2]],
    /// The position of the next word. Words beyond the last one are 0.
    next: usize,
}

impl<'a, C: SymbolCoder> Decoder<'a, C> {
    /// Reads states and words.
    fn read(tables: &'a DecodeTables<C>, reader: &mut ImageReader<'a>) -> Result<Self, ChunkFault> {
        let count = reader.word()? as usize;
        let spares = reader.take(LANES as usize / 2)?;
        let mut states = [0; LANES as usize];
        let (mut pending, mut have) = (0u64, 0);
        for (lane, x) in states.iter_mut().enumerate() {
            let spare = u32::from(spares[lane / 2] >> (lane % 2 * 4) & 15);
            let bits = WORD_BITS + spare;
            if have < bits {
                pending |= u64::from(reader.word()?) << have;
                have += 32;
            }
            *x = state(spare, pending as u32);
            pending >>= bits;
            have -= bits;
        }
        let bytes = count.checked_mul(2).ok_or(ChunkFault::Length)?;
        let words = reader.take(bytes)?.as_chunks().0;
        reader.take(bytes % 4)?;
        Ok(Self {
            tables,
            states,
            words,
            next: 0,
        })
    }

    #[inline(always)]
    fn pop_tile(
        &mut self,
        map: &ZoneMap,
        tile: &TileBox,
        codes: &mut TileCodes,
        mut set_raw: impl FnMut(usize) -> Result<(), ChunkFault>,
    ) -> Result<(), ChunkFault> {
        let classes = self.pop_classes(map.order().zones())?;
        if classes.is_zero() {
            codes.fill(0);
            return Ok(());
        }
        let (steps, _) = codes.as_chunks_mut();
        for (step, codes) in (0..).zip(steps) {
            let contexts = map.contexts(tile, &classes, step);
            if contexts == ALL_NOTHING {
                *codes = [0; LANES as usize];
            } else if self.pop_step(&contexts, codes) {
                for lane in (0..LANES as usize).filter(|lane| codes[*lane] == RAW as u16) {
                    set_raw(step as usize * LANES as usize + lane)?;
                }
            }
        }
        Ok(())
    }

    /// Pops the classes of a tile. A class whose context has no symbols is a fault.
    fn pop_classes(&mut self, zones: u32) -> Result<Classes, ChunkFault> {
        let mut classes = Classes::ZERO;
        if !self.tables.is_used(0) {
            return Err(ChunkFault::Symbol);
        }
        for zone in 0..zones {
            let (class, _) = self.pop_symbol((zone % FIRST_CLASSES) as usize, 0);
            if class > 0 && !self.tables.is_used(class) {
                return Err(ChunkFault::Symbol);
            }
            classes.set(zone, class);
        }
        Ok(classes)
    }

    /// Pops a step; returns whether a code may be [`RAW`].
    #[inline(always)]
    fn pop_step(&mut self, contexts: &Step<u8>, codes: &mut Step<u16>) -> bool {
        let mut tokens = [0; LANES as usize];
        let mut largest = 0;
        for lane in 0..LANES as usize {
            let (token, extra) = self.pop_symbol(lane, u32::from(contexts[lane]));
            largest = largest.max(token);
            tokens[lane] = token;
            codes[lane] = Token::code(token, extra) as u16;
        }
        if Token::bits(largest) > BITS_WITH_SYMBOL {
            for lane in 0..LANES as usize {
                let bits = Token::bits(tokens[lane]);
                if bits > BITS_WITH_SYMBOL {
                    let extra = self.pop_extra(lane, bits);
                    codes[lane] = Token::code(tokens[lane], extra) as u16;
                }
            }
        }
        largest == ESCAPE
    }

    /// Pops a symbol, and the extra bits of its token if they are popped with it.
    #[inline(always)]
    fn pop_symbol(&mut self, lane: usize, context: u32) -> (u32, u32) {
        let x = self.states[lane];
        let (symbol, entry) = self.tables.top(context, x);
        let bits = Token::bits(symbol);
        let bits = if bits > BITS_WITH_SYMBOL { 0 } else { bits };
        let x = C::pop(x, entry);
        self.states[lane] = self.refilled(x >> bits);
        (symbol, top_bits(x, bits))
    }

    #[inline(always)]
    fn pop_extra(&mut self, lane: usize, bits: u32) -> u32 {
        let x = self.states[lane];
        self.states[lane] = self.refilled(x >> bits);
        top_bits(x, bits)
    }

    /// The state after a pop, with one more word if it needs one.
    #[inline(always)]
    fn refilled(&mut self, x: u32) -> u32 {
        // Read in any case, so that there is no branch to predict.
        let word = self.words.get(self.next).copied().unwrap_or_default();
        let is_low = needs_refill(x);
        self.next += usize::from(is_low);
        let filled = refill(x, u32::from(u16::from_le_bytes(word)));
        if is_low { filled } else { x }
    }

    /// Checks that all words and bits were popped.
    fn finish(&self) -> Result<(), ChunkFault> {
        if self.next != self.words.len() {
            return Err(ChunkFault::Length);
        }
        if self.states != [START; LANES as usize] {
            return Err(ChunkFault::State);
        }
        Ok(())
    }
}
