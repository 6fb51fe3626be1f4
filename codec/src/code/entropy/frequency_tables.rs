//! Frequency tables as they are stored in the stream.
//!
//! ```text
//! [ a head word for each of the 16 contexts ][ their bodies, back to back ]   padded to 4 words
//! ```
//!
//! A head has the first symbol with a frequency, the number of symbols from the first to the last one with a frequency,
//! and the end of the body. A body has the bit length of each frequency, 4 bits each; for rANS, the bits of each
//! frequency below its leading one follow. So each context can be read and written independently.

use crate::code::entropy::class::CONTEXTS;
use crate::code::entropy::counts::Counts;
use crate::code::entropy::frequencies::Frequencies;
use crate::code::entropy::states::SymbolCoder;
use crate::code::entropy::token::{SLOTS, TOKENS};
use crate::error::TableFault;

/// The most words of all contexts: a head word each, and at most 32 words for the frequencies of 112 symbols.
pub const MAX_WORDS: usize = (CONTEXTS * 33) as usize;

/// The stored frequencies are padded to a multiple of this many words.
const PADDING: usize = 4;

/// Bits of a frequency's length.
pub const LENGTH_BITS: u32 = 4;

/// The frequencies of all contexts: in each they sum to [`SLOTS`], or all are 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrequencyTables([Frequencies; CONTEXTS as usize]);

/// The number of symbols that a context can have.
#[inline(always)]
pub const fn symbols_of(context: u32) -> u32 {
    if context == 0 { CONTEXTS } else { TOKENS }
}

/// The head of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// The first symbol with a frequency; 0 if there is none.
    pub first: u32,
    /// The number of symbols from the first to the last one with a frequency.
    pub symbols: u32,
    /// The end of the body, in words behind the heads.
    pub end: u32,
}

impl Head {
    /// The head as a word of the stream.
    #[inline(always)]
    pub const fn to_word(self) -> u32 {
        self.first | self.symbols << 7 | self.end << 14
    }

    /// The head in a word of the stream.
    #[inline(always)]
    pub const fn from_word(word: u32) -> Self {
        Self {
            first: word & 127,
            symbols: word >> 7 & 127,
            end: word >> 14,
        }
    }

    /// Whether this can be the head of that context, whose body starts at word `start`.
    #[inline(always)]
    pub const fn is_possible(self, context: u32, start: u32) -> bool {
        self.first + self.symbols <= symbols_of(context)
            && (self.symbols > 0 || self.first == 0)
            && self.end >= start
    }
}

/// The number of bits that are stored behind the lengths for a frequency of this bit length.
#[inline(always)]
pub const fn low_bits<C: SymbolCoder>(length: u32) -> u32 {
    if C::POWERS_OF_TWO {
        0
    } else {
        length.saturating_sub(1)
    }
}

/// The bit length of a frequency.
#[inline(always)]
pub const fn frequency_length(frequency: u32) -> u32 {
    32 - frequency.leading_zeros()
}

/// Reads a context's body. `word` gives the word at a position; `set` is called with each symbol and its frequency.
///
/// # Errors
///
/// [`TableFault`]; `set` may have been called before.
#[inline(always)]
pub fn read_body<C: SymbolCoder>(
    head: Head,
    start: u32,
    word: impl Fn(u32) -> u32,
    mut set: impl FnMut(u32, u32),
) -> Result<(), TableFault> {
    let bits = |at: u32, count: u32| {
        let both = u64::from(word(at / 32 + 1)) << 32 | u64::from(word(at / 32));
        (both >> (at % 32)) as u32 & ((1 << count) - 1)
    };
    let mut low = LENGTH_BITS * head.symbols;
    let mut sum = 0;
    for i in 0..head.symbols {
        let length = bits(LENGTH_BITS * i, LENGTH_BITS);
        let is_end = i == 0 || i + 1 == head.symbols;
        if length > frequency_length(SLOTS) || is_end && length == 0 {
            return Err(TableFault::Length);
        }
        let count = low_bits::<C>(length);
        let frequency = (1 << length >> 1) | bits(low, count);
        low += count;
        sum += frequency;
        set(head.first + i, frequency);
    }
    let words = low.div_ceil(32);
    if head.end.wrapping_sub(start) != words {
        return Err(TableFault::Size);
    }
    if !low.is_multiple_of(32) && word(words - 1) >> (low % 32) != 0 {
        return Err(TableFault::Padding);
    }
    if head.symbols > 0 && sum != SLOTS {
        return Err(TableFault::Sum);
    }
    Ok(())
}

impl FrequencyTables {
    /// The frequencies for counts that are [complete](Counts::complete).
    pub fn of<C: SymbolCoder>(counts: &Counts) -> Self {
        Self(counts.0.each_ref().map(C::frequencies))
    }

    /// The frequencies of one context, below 16.
    #[inline(always)]
    pub const fn context(&self, context: u32) -> &Frequencies {
        &self.0[(context % CONTEXTS) as usize]
    }

    /// The frequencies of all contexts.
    pub const fn contexts(&self) -> &[Frequencies; CONTEXTS as usize] {
        &self.0
    }

    /// The symbols of a context between the first and the last that has a frequency, and the first.
    fn used(frequencies: &Frequencies) -> (usize, &[u16]) {
        let first = frequencies.iter().position(|frequency| *frequency > 0);
        let last = frequencies.iter().rposition(|frequency| *frequency > 0);
        match (first, last) {
            (Some(first), Some(last)) => (first, &frequencies[first..=last]),
            _ => (0, &[]),
        }
    }

    /// The number of words that [`FrequencyTables::write`] writes.
    pub fn words<C: SymbolCoder>(&self) -> usize {
        let of_context = |frequencies| {
            let (_, used) = Self::used(frequencies);
            let length = |frequency: &u16| frequency_length((*frequency).into());
            let bits = used
                .iter()
                .map(length)
                .map(|it| LENGTH_BITS + low_bits::<C>(it));
            bits.sum::<u32>().div_ceil(32)
        };
        let bodies: u32 = self.0.iter().map(of_context).sum();
        (CONTEXTS + bodies).next_multiple_of(PADDING as u32) as usize
    }

    /// Writes the frequencies to the start of `words`; returns the number of words written.
    pub fn write<C: SymbolCoder>(&self, words: &mut [u32; MAX_WORDS]) -> usize {
        words.fill(0);
        let mut end = CONTEXTS;
        for (context, frequencies) in self.0.iter().enumerate() {
            let (first, used) = Self::used(frequencies);
            let mut bits = BitWriter {
                words: &mut words[..],
                at: 32 * end,
            };
            let frequencies = used.iter().copied().map(u32::from);
            for frequency in frequencies.clone() {
                bits.push(frequency_length(frequency), LENGTH_BITS);
            }
            for frequency in frequencies {
                let count = low_bits::<C>(frequency_length(frequency));
                bits.push(frequency & ((1 << count) - 1), count);
            }
            end = bits.at.div_ceil(32);
            let head = Head {
                first: first as u32,
                symbols: used.len() as u32,
                end: end - CONTEXTS,
            };
            words[context] = head.to_word();
        }
        (end as usize).next_multiple_of(PADDING)
    }

    /// Reads the frequencies from `words`, which hold nothing else.
    ///
    /// # Errors
    ///
    /// [`TableFault`] if [`FrequencyTables::write`] cannot have written the words.
    pub fn read<C: SymbolCoder>(words: &[u32]) -> Result<Self, TableFault> {
        let (heads, bodies) = words
            .split_first_chunk::<{ CONTEXTS as usize }>()
            .ok_or(TableFault::Size)?;
        let mut frequencies = [[0; TOKENS as usize]; CONTEXTS as usize];
        let mut start = 0;
        for (context, (head, frequencies)) in (0..).zip(heads.iter().zip(&mut frequencies)) {
            let head = Head::from_word(*head);
            if !head.is_possible(context, start) {
                return Err(TableFault::Head);
            }
            let body = bodies
                .get(start as usize..head.end as usize)
                .ok_or(TableFault::Size)?;
            let word = |at: u32| body.get(at as usize).copied().unwrap_or(0);
            read_body::<C>(head, start, word, |symbol, frequency| {
                if let Some(position) = frequencies.get_mut(symbol as usize) {
                    *position = frequency as u16;
                }
            })?;
            start = head.end;
        }
        let padding = &bodies[start as usize..];
        if padding.len() != (start as usize).next_multiple_of(PADDING) - start as usize {
            return Err(TableFault::Size);
        }
        if padding.iter().any(|word| *word != 0) {
            return Err(TableFault::Padding);
        }
        Ok(Self(frequencies))
    }
}

/// Appends bits, low bits first, to words that are 0.
struct BitWriter<'a> {
    words: &'a mut [u32],
    at: u32,
}

impl BitWriter<'_> {
    fn push(&mut self, bits: u32, count: u32) {
        let both = u64::from(bits) << (self.at % 32);
        let word = (self.at / 32) as usize;
        for (position, part) in self
            .words
            .iter_mut()
            .skip(word)
            .zip([both as u32, (both >> 32) as u32])
        {
            *position |= part;
        }
        self.at += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::entropy::states::{Huffman, Rans};
    use alloc::vec::Vec;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    fn sample<C: SymbolCoder>(rng: &mut SmallRng) -> FrequencyTables {
        let mut counts = Counts::default();
        for (context, counts) in (0..).zip(&mut counts.0) {
            let symbols = symbols_of(context) as usize;
            let first = rng.random_range(0..symbols);
            let end = rng.random_range(first..=symbols);
            let bits = rng.random_range(0..32);
            counts[first..end].fill_with(|| rng.random::<u32>() >> bits >> rng.random_range(0..20));
        }
        FrequencyTables::of::<C>(&counts)
    }

    fn words_of<C: SymbolCoder>(frequencies: &FrequencyTables) -> Vec<u32> {
        let mut words = [7; MAX_WORDS];
        let used = frequencies.write::<C>(&mut words);
        words[..used].to_vec()
    }

    fn come_back<C: SymbolCoder>(seed: u64) {
        let mut rng = SmallRng::seed_from_u64(seed);
        for _ in 0..1000 {
            let frequencies = sample::<C>(&mut rng);
            assert_eq!(frequencies.words::<C>(), words_of::<C>(&frequencies).len());
            assert_eq!(
                FrequencyTables::read::<C>(&words_of::<C>(&frequencies)),
                Ok(frequencies)
            );
        }
    }

    #[test]
    fn frequencies_come_back() {
        come_back::<Rans>(1);
        come_back::<Huffman>(2);
    }

    /// Words that are read without a fault are the words that `write` writes.
    fn damage<C: SymbolCoder>(seed: u64, faults: &mut [u32; 6]) {
        let mut rng = SmallRng::seed_from_u64(seed);
        for _ in 0..1000 {
            let words = words_of::<C>(&sample::<C>(&mut rng));
            for count in [0, 15, words.len() - 1, words.len() - 4] {
                assert!(FrequencyTables::read::<C>(&words[..count]).is_err());
            }
            let longer = [&words[..], &[0; 4]].concat();
            assert_eq!(FrequencyTables::read::<C>(&longer), Err(TableFault::Size));
            for _ in 0..20 {
                let mut words = words.clone();
                let heads_only = rng.random_bool(0.3);
                let end = if heads_only { 16 } else { words.len() };
                words[rng.random_range(0..end)] ^= 1 << rng.random_range(0..32);
                match FrequencyTables::read::<C>(&words) {
                    Ok(frequencies) => {
                        faults[0] += 1;
                        assert_eq!(words_of::<C>(&frequencies), words);
                    }
                    Err(fault) => faults[fault as usize] += 1,
                }
            }
        }
    }

    #[test]
    fn only_what_is_written_is_read() {
        let mut faults = [0; 6];
        damage::<Rans>(3, &mut faults);
        damage::<Huffman>(4, &mut faults);
        assert!(faults[1..].iter().all(|count| *count > 100), "{faults:?}");
        assert!(faults[0] < 4000, "{faults:?}");
        for (code, found) in (1..6).map(|code| (code, TableFault::from_code(code))) {
            assert_eq!(found.map(|fault| fault as u32), Some(code));
        }
    }

    #[test]
    fn any_words_are_read_without_panic() {
        let mut rng = SmallRng::seed_from_u64(5);
        for _ in 0..3000 {
            let mut words: Vec<u32> = (0..64).map(|_| rng.random()).collect();
            for (i, word) in (1..).zip(&mut words[..16]) {
                *word = *word & 0x0fff | (3 * i) << 14;
            }
            assert!(FrequencyTables::read::<Rans>(&words).is_err());
            assert!(FrequencyTables::read::<Huffman>(&words).is_err());
        }
    }

    #[test]
    fn the_most_symbols_fit() {
        let mut rng = SmallRng::seed_from_u64(6);
        for _ in 0..100 {
            let from = rng.random_range(1..100);
            let counts = Counts(
                [[0; 112]; 16]
                    .map(|counts: [u32; 112]| counts.map(|_| rng.random_range(from..=100))),
            );
            let mut frequencies = FrequencyTables::of::<Rans>(&counts);
            frequencies.0[0] = [0; 112];
            assert_eq!(
                FrequencyTables::read::<Rans>(&words_of::<Rans>(&frequencies)),
                Ok(frequencies)
            );
        }
    }

    #[test]
    fn fields_with_few_symbols_have_small_tables() {
        // A geometric distribution in each class, like the distribution of codes.
        let mut counts = Counts::default();
        for (context, counts) in (0..).zip(&mut counts.0).take(11) {
            let rate = 1.0 - 0.5 / f64::from(1 << context) * 8.0_f64.min(f64::from(1 << context));
            for (symbol, count) in (0..).zip(&mut counts[..40]) {
                *count = (10_000.0 * rate.powi(symbol)) as u32;
            }
        }
        counts.complete(false);
        assert!(4 * words_of::<Rans>(&FrequencyTables::of::<Rans>(&counts)).len() < 600);
        assert!(4 * words_of::<Huffman>(&FrequencyTables::of::<Huffman>(&counts)).len() < 400);
    }
}
