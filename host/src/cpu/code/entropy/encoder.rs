//! The lanes of an encoder.

use crate::cpu::code::entropy::tables::Pushes;
use crate::cpu::code::image::ImageWriter;
use crate::cpu::code::zones::{Classes, Contexts, ZoneMap};
use crate::cpu::lanes::Lanes;
use ferrosz_codec::code::entropy::class::FIRST_CLASSES;
use ferrosz_codec::code::entropy::states::{
    START, WORD_BITS, emit, is_full_for_bits, push_bits, spare_bits,
};
use ferrosz_codec::code::entropy::token::{ESCAPE_BITS, Token};
use ferrosz_codec::tile::code::{Step, TileCodes};
use ferrosz_codec::tile::{LANES, STEPS, TileBox};

/// The words that one vector store writes. Those that are emitted are the last ones; the others are written over later.
pub(super) const MARGIN: usize = 8;

/// Bytes of an image before the states.
const HEAD_BYTES: usize = 4 + LANES as usize / 2;

/// The lanes of an encoder.
#[derive(Debug)]
pub struct Encoder<'a> {
    pub(super) pushes: &'a Pushes,
    pub(super) states: Step<u32>,
    /// The words of the chunk, filled from the end: the word that is emitted last is read first.
    pub(super) words: &'a mut [u16],
    /// The position of the word that was emitted last.
    pub(super) start: usize,
    /// Whether all symbols had a frequency.
    pub(super) is_codable: bool,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(pushes: &'a Pushes, words: &'a mut [u16]) -> Self {
        Self {
            pushes,
            states: [START; LANES as usize],
            start: words.len(),
            words,
            is_codable: true,
        }
    }

    #[inline(always)]
    pub(super) fn push_tile<L: Lanes>(
        &mut self,
        lanes: L,
        map: &ZoneMap,
        tile: &TileBox,
        codes: &TileCodes,
        classes: &Classes,
    ) {
        if !classes.is_zero() {
            lanes.push_steps(self, &map.contexts(tile, classes), codes);
        }
        for zone in (0..map.order().zones()).rev() {
            self.push_symbol((zone % FIRST_CLASSES) as usize, 0, classes.of(zone), (0, 0));
        }
    }

    /// Pushes the steps of a tile.
    #[inline(always)]
    pub(crate) fn push_steps(&mut self, contexts: &Contexts<'_>, codes: &TileCodes) {
        let (steps, _) = codes.as_chunks();
        for (step, codes) in (0..STEPS).zip(steps).rev() {
            if let Some(contexts) = contexts.of(step) {
                self.push_step(codes, &contexts);
            }
        }
    }

    /// Pushes a step. The extra bits are pushed first, as they are popped last.
    #[inline(always)]
    fn push_step(&mut self, codes: &Step<u16>, contexts: &Step<u8>) {
        let mut tokens = [0; LANES as usize];
        let mut extras = [(0, 0); LANES as usize];
        let mut has_alone = false;
        for lane in 0..LANES as usize {
            let z = u32::from(codes[lane]);
            let (token, bits) = Token::own(z);
            let push = self.pushes.of(contexts[lane].into(), token);
            tokens[lane] = token;
            extras[lane] = if push.is_escaped() {
                (z, ESCAPE_BITS)
            } else {
                (z & ((1 << bits) - 1), bits)
            };
            has_alone |= push.is_alone();
        }
        if has_alone {
            for lane in (0..LANES as usize).rev() {
                let push = self.pushes.of(contexts[lane].into(), tokens[lane]);
                if push.is_alone() {
                    self.push_extra(lane, extras[lane]);
                    extras[lane] = (0, 0);
                }
            }
        }
        for lane in (0..LANES as usize).rev() {
            // Looking up again is faster than keeping the pushes.
            self.push_symbol(lane, contexts[lane].into(), tokens[lane], extras[lane]);
        }
    }

    /// Pushes extra bits and their number, then a symbol.
    #[inline(always)]
    fn push_symbol(&mut self, lane: usize, context: u32, symbol: u32, (extra, bits): (u32, u32)) {
        let push = self.pushes.of(context, symbol);
        self.is_codable &= !push.is_missing();
        let x = self.states[lane];
        let x = self.make_room(x, push.is_full(x, bits));
        self.states[lane] = push.apply(push_bits(x, bits, extra));
    }

    #[inline(always)]
    fn push_extra(&mut self, lane: usize, (extra, bits): (u32, u32)) {
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
    pub(super) fn bytes(&self) -> usize {
        let states = self.states.iter();
        let bits: u32 = states.map(|x| WORD_BITS + spare_bits(*x)).sum();
        HEAD_BYTES + 4 * bits.div_ceil(32) as usize + 4 * self.emitted().len().div_ceil(2)
    }

    pub(super) fn write(&self, writer: &mut ImageWriter<'_>) {
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
        writer.put_halves(words);
        writer.pad(4);
    }
}
