//! The lanes of a decoder.

use crate::cpu::code::entropy::tables::{Pop, Pops};
use crate::cpu::code::image::ImageReader;
use crate::cpu::code::zones::{Classes, Contexts, ZoneMap};
use crate::cpu::lanes::Lanes;
use ferrosz_codec::code::entropy::class::FIRST_CLASSES;
use ferrosz_codec::code::entropy::states::{
    START, WORD_BITS, needs_refill, refill, state, top_bits,
};
use ferrosz_codec::code::entropy::token::{ESCAPE, Token};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::tile::code::{RAW, Step, TileCodes};
use ferrosz_codec::tile::{LANES, TileBox};

/// The lanes of a decoder.
#[derive(Debug)]
pub struct Decoder<'a> {
    pub(super) pops: &'a Pops,
    /// At least [`START`] each.
    pub(super) states: Step<u32>,
    pub(super) words: &'a [[u8; 2]],
    /// The position of the next word. Words beyond the last one are 0.
    pub(super) next: usize,
}

impl<'a> Decoder<'a> {
    /// Reads states and words.
    pub(super) fn read(pops: &'a Pops, reader: &mut ImageReader<'a>) -> Result<Self, ChunkFault> {
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
            pops,
            states,
            words,
            next: 0,
        })
    }

    /// Pops a tile; `set_raw` is called with the positions of codes that are [`RAW`].
    #[inline(always)]
    pub(super) fn pop_tile<L: Lanes>(
        &mut self,
        lanes: L,
        map: &ZoneMap,
        tile: &TileBox,
        codes: &mut TileCodes,
        mut set_raw: impl FnMut(usize) -> Result<(), ChunkFault>,
    ) -> Result<(), ChunkFault> {
        let classes = self.pop_classes(map, tile)?;
        if classes.is_zero() {
            codes.fill(0);
            return Ok(());
        }
        if !lanes.pop_steps(self, &map.contexts(tile, &classes), codes) {
            return Ok(());
        }
        let (steps, _) = codes.as_chunks::<{ LANES as usize }>();
        for (step, codes) in steps.iter().enumerate() {
            if codes.contains(&RAW) {
                for lane in (0..LANES as usize).filter(|lane| codes[*lane] == RAW) {
                    set_raw(step * LANES as usize + lane)?;
                }
            }
        }
        Ok(())
    }

    /// Pops the classes of a tile. A position whose context has no symbols is a fault.
    #[inline(always)]
    fn pop_classes(&mut self, map: &ZoneMap, tile: &TileBox) -> Result<Classes, ChunkFault> {
        let mut classes = Classes::ZERO;
        if !self.pops.is_used(0) {
            return Err(ChunkFault::Symbol);
        }
        for zone in 0..map.order().zones() {
            // Class numbers are tokens without extra bits, so they are their own codes.
            let (class, _) = self.pop_symbol((zone % FIRST_CLASSES) as usize, 0);
            if !self.pops.has_all() {
                let contexts = map.contexts_of_zone(tile, zone, class);
                if !self.pops.are_used(contexts) {
                    return Err(ChunkFault::Symbol);
                }
            }
            classes.set(zone, class);
        }
        Ok(classes)
    }

    /// Pops the steps of a tile; returns whether a code may be [`RAW`].
    #[inline(always)]
    pub(crate) fn pop_steps(&mut self, contexts: &Contexts<'_>, codes: &mut TileCodes) -> bool {
        let (steps, _) = codes.as_chunks_mut();
        let mut may_be_raw = false;
        for (step, codes) in (0..).zip(steps) {
            match contexts.of(step) {
                Some(contexts) => may_be_raw |= self.pop_step(&contexts, codes),
                None => *codes = [0; LANES as usize],
            }
        }
        may_be_raw
    }

    /// Pops a step; returns whether a code may be [`RAW`].
    #[inline(always)]
    fn pop_step(&mut self, contexts: &Step<u8>, codes: &mut Step<u16>) -> bool {
        let mut pops = [Pop::default(); LANES as usize];
        let mut has_alone = false;
        for lane in 0..LANES as usize {
            let (code, pop) = self.pop_symbol(lane, contexts[lane].into());
            codes[lane] = code as u16;
            pops[lane] = pop;
            has_alone |= pop.is_alone();
        }
        let mut may_be_raw = false;
        if has_alone {
            for lane in (0..LANES as usize).filter(|lane| pops[*lane].is_alone()) {
                let token = pops[lane].token_alone();
                let extra = self.pop_extra(lane, Token::bits(token));
                codes[lane] = Token::code(token, extra) as u16;
                may_be_raw |= token == ESCAPE;
            }
        }
        may_be_raw
    }

    /// Pops a symbol, and the extra bits of its token if they are popped with it; returns the code that they make.
    #[inline(always)]
    fn pop_symbol(&mut self, lane: usize, context: u32) -> (u32, Pop) {
        let x = self.states[lane];
        let pop = self.pops.top(context, x);
        let x = pop.apply(x);
        self.states[lane] = self.refilled(x >> pop.bits());
        (pop.code(top_bits(x, pop.bits())), pop)
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
    pub(super) fn finish(&self) -> Result<(), ChunkFault> {
        if self.next != self.words.len() {
            return Err(ChunkFault::Length);
        }
        if self.states != [START; LANES as usize] {
            return Err(ChunkFault::State);
        }
        Ok(())
    }
}
