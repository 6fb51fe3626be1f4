//! The tables of both coders on the CPU, which push and pop by the same arithmetic.
//!
//! Let a symbol have f of the 4096 slots. A push splits the state into x = f q + r and makes 4096 q + s(r) of it, where
//! the slot s(r) is s(0) + r 2^d. With rANS d is 0, and with prefix codes it is the length of the symbol's code. A pop
//! finds symbol and r by the slot. So every symbol has one word for a push, besides its reciprocal, and every slot has
//! one word for a pop, which a processor's vectors can gather.

use crate::error::Error;
use crate::memory;
use ferrosz_codec::code::entropy::class::CONTEXTS;
use ferrosz_codec::code::entropy::frequencies::Frequencies;
use ferrosz_codec::code::entropy::frequency_tables::FrequencyTables;
use ferrosz_codec::code::entropy::states::{BITS_WITH_SYMBOL, SymbolCoder, slot_of};
use ferrosz_codec::code::entropy::tables::{NOTHING, intervals};
use ferrosz_codec::code::entropy::token::{ESCAPE, PRECISION, SLOTS, TOKENS, Token};

/// Contexts, [`NOTHING`] included.
const ALL_CONTEXTS: u32 = CONTEXTS + 1;

/// Bits of a token's number.
pub(super) const TOKEN_BITS: u32 = TOKENS.next_power_of_two().ilog2();

/// The number of symbols of all contexts.
const SYMBOLS: usize = (ALL_CONTEXTS << TOKEN_BITS) as usize;

/// The number of slots of all contexts.
const ALL_SLOTS: usize = (ALL_CONTEXTS << PRECISION) as usize;

/// The first token whose extra bits are popped after those of all lanes' symbols.
pub(super) const FIRST_ALONE: u32 = 8 * (BITS_WITH_SYMBOL + 2);

/// The frequencies of a context, [`NOTHING`] included.
fn frequencies_of(frequencies: &FrequencyTables, context: u32) -> Frequencies {
    if context == NOTHING {
        let mut all_to_zero = [0; TOKENS as usize];
        all_to_zero[0] = SLOTS as u16;
        all_to_zero
    } else {
        *frequencies.context(context)
    }
}

/// The data for the push of a token in a context. The high half is the reciprocal of the frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Push(pub(super) u64);

impl Push {
    /// The first bits of d and s(0) in the low half, which starts with the frequency.
    pub(super) const SHIFT_AT: u32 = 13;
    pub(super) const START_AT: u32 = 20;
    /// Neither the token nor [`ESCAPE`] has a frequency.
    pub(super) const MISSING: u32 = 1 << 17;
    /// The code must be pushed as [`ESCAPE`] and all its bits.
    pub(super) const ESCAPED: u32 = 1 << 18;
    /// The extra bits are pushed before the symbols of all lanes.
    pub(super) const ALONE: u32 = 1 << 19;

    const NONE: Self = Self(Self::MISSING as u64);

    fn new<C: SymbolCoder>(token: u32, frequency: u32, start: u32) -> Self {
        let (entry, reciprocal) = (C::entry(frequency, start), C::reciprocal(frequency));
        let first = C::push(0, entry, reciprocal);
        let shift = match frequency {
            1 => 0,
            _ => (C::push(1, entry, reciprocal) - first).ilog2(),
        };
        let flags = match token {
            ESCAPE => Self::ESCAPED | Self::ALONE,
            FIRST_ALONE.. => Self::ALONE,
            _ => 0,
        };
        let word = frequency | shift << Self::SHIFT_AT | first << Self::START_AT | flags;
        Self(u64::from(u32::MAX / frequency) << 32 | u64::from(word))
    }

    #[inline(always)]
    const fn has(self, flag: u32) -> bool {
        self.0 as u32 & flag != 0
    }

    /// Whether nothing can encode the code.
    #[inline(always)]
    pub(super) const fn is_missing(self) -> bool {
        self.has(Self::MISSING)
    }

    /// Whether the code must be pushed as [`ESCAPE`] and all its bits.
    #[inline(always)]
    pub(super) const fn is_escaped(self) -> bool {
        self.has(Self::ESCAPED)
    }

    /// Whether the extra bits are pushed before the symbols of all lanes.
    #[inline(always)]
    pub(super) const fn is_alone(self) -> bool {
        self.has(Self::ALONE)
    }

    #[inline(always)]
    const fn frequency(self) -> u32 {
        self.0 as u32 & ((1 << Self::SHIFT_AT) - 1)
    }

    /// Whether a word must be emitted before this many bits, at most [`BITS_WITH_SYMBOL`], and then the symbol can be
    /// pushed.
    #[inline(always)]
    pub(super) const fn is_full(self, x: u32, bits: u32) -> bool {
        x >> (32 - PRECISION - bits) >= self.frequency()
    }

    /// The state after the push.
    #[inline(always)]
    pub(super) const fn apply(self, x: u32) -> u32 {
        let (word, frequency) = (self.0 as u32, self.frequency());
        // The reciprocal is less than 2^32 / frequency by at most one, so the quotient is exact or one too small.
        let mut quotient = ((x as u64 * (self.0 >> 32)) >> 32) as u32;
        let mut rest = x.wrapping_sub(quotient.wrapping_mul(frequency));
        if rest >= frequency {
            quotient = quotient.wrapping_add(1);
            rest = rest.wrapping_sub(frequency);
        }
        let start = word >> Self::START_AT;
        let slot = start.wrapping_add(rest << (word >> Self::SHIFT_AT & 15));
        (quotient << PRECISION).wrapping_add(slot)
    }
}

/// The table of an encoder.
#[derive(Debug, Clone)]
pub struct Pushes(pub(super) Box<[u64; SYMBOLS]>);

impl Pushes {
    /// The table of these frequencies.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn new<C: SymbolCoder>(frequencies: &FrequencyTables) -> Result<Self, Error> {
        let mut table = Self(memory::zeroed_box()?);
        let (rows, _) = table.0.as_chunks_mut::<{ 1 << TOKEN_BITS }>();
        for (context, row) in (0..).zip(rows) {
            let of_context = frequencies_of(frequencies, context);
            row.fill(Push::NONE.0);
            intervals::<C>(&of_context, |token, frequency, start| {
                row[token as usize] = Push::new::<C>(token, frequency, start).0;
            });
            // Every token without a frequency is escaped.
            let escape = row[ESCAPE as usize];
            for (push, frequency) in row.iter_mut().zip(of_context) {
                *push = if frequency == 0 { escape } else { *push };
            }
        }
        Ok(table)
    }

    /// The push of a token in a context, at most [`NOTHING`].
    #[inline(always)]
    pub(super) fn of(&self, context: u32, token: u32) -> Push {
        let push = self.0.get((context << TOKEN_BITS | token) as usize);
        Push(push.copied().unwrap_or(Push::NONE.0))
    }
}

/// The data for the pop of the symbol that is on top.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pop(u32);

impl Pop {
    /// The first bits of the fields above the frequency, which is stored less 1.
    pub(super) const REST_AT: u32 = 12;
    pub(super) const TOKEN_AT: u32 = 24;
    /// Of a token whose extra bits are popped with it: where their number is. The code without them is below.
    pub(super) const BITS_AT: u32 = 28;
    /// The extra bits are popped after those of all lanes' symbols. The number of the token less [`FIRST_ALONE`] is
    /// stored.
    pub(super) const ALONE: u32 = 1 << 31;

    /// That of a token's first slot, whose r is 0.
    fn new(token: u32, frequency: u32) -> Self {
        let token = if token >= FIRST_ALONE {
            Self::ALONE | (token - FIRST_ALONE) << Self::TOKEN_AT
        } else {
            let bits = Token::bits(token);
            bits << Self::BITS_AT | Token::code(token, 0) >> bits << Self::TOKEN_AT
        };
        Self(token | (frequency - 1))
    }

    /// Whether the token's extra bits are popped after those of all lanes' symbols.
    #[inline(always)]
    pub(super) const fn is_alone(self) -> bool {
        self.0 & Self::ALONE != 0
    }

    /// The state after the pop.
    #[inline(always)]
    pub(super) const fn apply(self, x: u32) -> u32 {
        let frequency = (self.0 & (SLOTS - 1)) + 1;
        let rest = self.0 >> Self::REST_AT & (SLOTS - 1);
        frequency.wrapping_mul(x >> PRECISION).wrapping_add(rest)
    }

    /// The number of extra bits that are popped with the symbol.
    #[inline(always)]
    pub(super) const fn bits(self) -> u32 {
        if self.is_alone() {
            0
        } else {
            self.0 >> Self::BITS_AT
        }
    }

    /// The code, given these extra bits, if they are popped with the symbol.
    #[inline(always)]
    pub(super) const fn code(self, extra: u32) -> u32 {
        (self.0 >> Self::TOKEN_AT & 15) << self.bits() | extra
    }

    /// The token, if its extra bits are popped after those of all lanes' symbols.
    #[inline(always)]
    pub(super) const fn token_alone(self) -> u32 {
        FIRST_ALONE + (self.0 >> Self::TOKEN_AT & 63)
    }
}

/// The table of a decoder.
#[derive(Debug, Clone)]
pub struct Pops {
    pub(super) slots: Box<[u32; ALL_SLOTS]>,
    /// Bit c is set if context c is used.
    used: u32,
}

impl Pops {
    /// The table of these frequencies.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn new<C: SymbolCoder>(frequencies: &FrequencyTables) -> Result<Self, Error> {
        // Memory of contexts that are not used is not touched.
        let mut slots: Box<[u32; ALL_SLOTS]> = memory::zeroed_box()?;
        let mut used = 0;
        let (contexts, _) = slots.as_chunks_mut::<{ SLOTS as usize }>();
        for (context, slots) in (0..).zip(contexts) {
            let of_context = frequencies_of(frequencies, context);
            intervals::<C>(&of_context, |token, frequency, start| {
                used |= 1 << context;
                let (pop, entry) = (Pop::new(token, frequency), C::entry(frequency, start));
                for position in start..start + frequency {
                    let slot = slot_of(C::slot(position));
                    slots[slot as usize] = pop.0 | C::pop(slot, entry) << Pop::REST_AT;
                }
            });
        }
        Ok(Self { slots, used })
    }

    /// Whether all contexts have symbols.
    #[inline(always)]
    pub const fn has_all(&self) -> bool {
        self.are_used((1 << CONTEXTS) - 1)
    }

    /// Whether these contexts, as bits, have symbols.
    #[inline(always)]
    pub const fn are_used(&self, contexts: u32) -> bool {
        self.used & contexts == contexts
    }

    /// Whether this context has symbols.
    #[inline(always)]
    pub const fn is_used(&self, context: u32) -> bool {
        context <= NOTHING && self.used >> context & 1 == 1
    }

    /// The pop of the symbol on top of a state in a context, at most [`NOTHING`].
    #[inline(always)]
    pub(super) fn top(&self, context: u32, x: u32) -> Pop {
        let pop = self.slots.get((context << PRECISION | slot_of(x)) as usize);
        Pop(pop.copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::code::entropy::counts::Counts;
    use ferrosz_codec::code::entropy::states::{Huffman, Rans, START};
    use ferrosz_codec::code::entropy::tables::{DecodeTables, EncodeTables};
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// Compares pushes and pops with those of the definition.
    fn check<C: SymbolCoder>(rng: &mut SmallRng) {
        let mut counts = Counts::default();
        for (context, counts) in (0..).zip(&mut counts.0) {
            let most = if context == 0 { 16 } else { TOKENS as usize };
            let used = rng.random_range(0..=most);
            counts[..used].fill_with(|| rng.random::<u32>() >> rng.random_range(12..32));
        }
        counts.complete(rng.random());
        let frequencies = FrequencyTables::of::<C>(&counts);
        let pushes = Pushes::new::<C>(&frequencies).unwrap();
        let pops = Pops::new::<C>(&frequencies).unwrap();
        let encode = Box::new(EncodeTables::<C>::new(&frequencies));
        let decode = Box::new(DecodeTables::<C>::new(&frequencies));
        for context in 0..=NOTHING {
            assert_eq!(pops.is_used(context), decode.is_used(context));
            for _ in 0..10_000 {
                let x = rng.random_range(START..=u32::MAX);
                if decode.is_used(context) {
                    let ((token, entry), pop) = (decode.top(context, x), pops.top(context, x));
                    assert_eq!(pop.apply(x), C::pop(x, entry));
                    if Token::bits(token) > BITS_WITH_SYMBOL {
                        assert!(pop.is_alone() && pop.bits() == 0 && pop.token_alone() == token);
                    } else {
                        assert!(!pop.is_alone() && pop.bits() == Token::bits(token));
                        let extra = x & ((1 << pop.bits()) - 1);
                        assert_eq!(pop.code(extra), Token::code(token, extra));
                    }
                }
                let z = rng.random::<u32>() >> rng.random_range(16..32);
                let (token, symbol) = encode.token(context, z);
                let push = pushes.of(context, Token::own(z).0);
                assert_eq!(push.is_missing(), symbol.entry == 0);
                if !push.is_missing() {
                    assert_eq!(push.is_escaped(), token.number == ESCAPE);
                    assert_eq!(push.is_alone(), token.bits > BITS_WITH_SYMBOL);
                    let bits = rng.random_range(0..=BITS_WITH_SYMBOL);
                    assert_eq!(push.is_full(x, bits), C::is_full(x, symbol.entry, bits));
                    if !push.is_full(x, 0) {
                        let pushed = C::push(x, symbol.entry, symbol.reciprocal);
                        assert_eq!(push.apply(x), pushed);
                    }
                }
            }
        }
        assert!(!pops.is_used(32) && pushes.of(NOTHING + 1, 0).is_missing());
    }

    #[test]
    fn pushes_and_pops_are_those_of_the_definition() {
        let mut rng = SmallRng::seed_from_u64(1);
        for _ in 0..10 {
            check::<Rans>(&mut rng);
            check::<Huffman>(&mut rng);
        }
    }
}
