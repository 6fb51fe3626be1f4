//! Tables: frequencies in the form that coders use.
//!
//! For encoding, each symbol has an entry and a reciprocal. For decoding, each slot has a symbol, and each symbol an
//! entry. A symbol without a frequency has the entry 0.

use crate::code::entropy::class::CONTEXTS;
use crate::code::entropy::frequencies::Frequencies;
use crate::code::entropy::frequency_tables::FrequencyTables;
use crate::code::entropy::states::{SymbolCoder, slot_of};
use crate::code::entropy::token::{ESCAPE, SLOTS, TOKENS, Token};
use core::marker::PhantomData;

/// The context of positions that have no code or are of class 0. Its only symbol, 0, has all slots, so that a push or a
/// pop of it does not change the state.
pub const NOTHING: u32 = CONTEXTS;

/// Contexts, [`NOTHING`] included.
const ALL_CONTEXTS: usize = CONTEXTS as usize + 1;

/// The data of a symbol for encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Symbol {
    /// See [`SymbolCoder::entry`]; 0 if the symbol has no frequency.
    pub entry: u32,
    /// See [`SymbolCoder::reciprocal`].
    pub reciprocal: u32,
}

/// Calls `set` with each symbol that has a frequency, its frequency, and the start of its interval.
///
/// The start is the sum of the frequencies of all symbols before it. Symbols are in order of their numbers, or with
/// [`SymbolCoder::BY_FREQUENCY`] in order of falling frequency, and of number where frequencies are equal.
#[inline(always)]
pub fn intervals<C: SymbolCoder>(frequencies: &Frequencies, mut set: impl FnMut(u32, u32, u32)) {
    let mut start = 0;
    // 0 selects symbols of any frequency.
    let mut wanted = if C::BY_FREQUENCY { SLOTS } else { 0 };
    loop {
        for (symbol, frequency) in (0..).zip(frequencies.map(u32::from)) {
            if frequency > 0 && (wanted == 0 || frequency == wanted) {
                set(symbol, frequency, start);
                start += frequency;
            }
        }
        wanted /= 2;
        if wanted == 0 {
            break;
        }
    }
}

/// The frequencies of a context, [`NOTHING`] included.
fn frequencies_of(frequencies: &FrequencyTables, context: u32) -> &Frequencies {
    const ALL_TO_ZERO: Frequencies = {
        let mut frequencies = [0; TOKENS as usize];
        frequencies[0] = SLOTS as u16;
        frequencies
    };
    if context == NOTHING {
        &ALL_TO_ZERO
    } else {
        frequencies.context(context)
    }
}

/// The tables of an encoder.
#[derive(Debug, Clone)]
pub struct EncodeTables<C> {
    symbols: [[Symbol; TOKENS as usize]; ALL_CONTEXTS],
    coder: PhantomData<C>,
}

impl<C: SymbolCoder> EncodeTables<C> {
    /// The tables of these frequencies.
    pub fn new(frequencies: &FrequencyTables) -> Self {
        let mut symbols = [[Symbol::default(); TOKENS as usize]; ALL_CONTEXTS];
        for (context, symbols) in (0..).zip(&mut symbols) {
            intervals::<C>(
                frequencies_of(frequencies, context),
                |symbol, frequency, start| {
                    symbols[symbol as usize % TOKENS as usize] = Symbol {
                        entry: C::entry(frequency, start),
                        reciprocal: C::reciprocal(frequency),
                    };
                },
            );
        }
        Self {
            symbols,
            coder: PhantomData,
        }
    }

    /// A symbol in a context; a symbol without a frequency if the context has no such symbol.
    #[inline(always)]
    pub fn symbol(&self, context: u32, symbol: u32) -> Symbol {
        let symbols = self.symbols.get(context as usize);
        let symbol = symbols.and_then(|symbols| symbols.get(symbol as usize));
        symbol.copied().unwrap_or_default()
    }

    /// The token and symbol that encode a code in this context: the code's own token or, if it has no frequency,
    /// [`ESCAPE`], which must then have one.
    #[inline(always)]
    pub fn token(&self, context: u32, z: u32) -> (Token, Symbol) {
        let token = Token::of(z);
        let symbol = self.symbol(context, token.number);
        if symbol.entry != 0 {
            (token, symbol)
        } else {
            (Token::escape(z), self.symbol(context, ESCAPE))
        }
    }
}

/// The tables of a decoder.
#[derive(Debug, Clone)]
pub struct DecodeTables<C> {
    slots: [[u8; SLOTS as usize]; ALL_CONTEXTS],
    entries: [[u32; TOKENS as usize]; ALL_CONTEXTS],
    /// Bit c is set if context c is used.
    used: u32,
    coder: PhantomData<C>,
}

impl<C: SymbolCoder> DecodeTables<C> {
    /// The tables of these frequencies.
    pub fn new(frequencies: &FrequencyTables) -> Self {
        let mut slots = [[0; SLOTS as usize]; ALL_CONTEXTS];
        let mut entries = [[0; TOKENS as usize]; ALL_CONTEXTS];
        let mut used = 0;
        for (context, (slots, entries)) in (0..).zip(slots.iter_mut().zip(&mut entries)) {
            intervals::<C>(
                frequencies_of(frequencies, context),
                |symbol, frequency, start| {
                    used |= 1 << context;
                    entries[symbol as usize % TOKENS as usize] = C::entry(frequency, start);
                    for position in start..start + frequency {
                        slots[slot_of(C::slot(position)) as usize] = symbol as u8;
                    }
                },
            );
        }
        Self {
            slots,
            entries,
            used,
            coder: PhantomData,
        }
    }

    /// Whether this context, at most [`NOTHING`], has symbols.
    #[inline(always)]
    pub const fn is_used(&self, context: u32) -> bool {
        self.used >> context & 1 == 1
    }

    /// The symbol on top of a state and its entry; the entry is 0 in a context that is not used.
    #[inline(always)]
    pub fn top(&self, context: u32, x: u32) -> (u32, u32) {
        let context = (context as usize).min(ALL_CONTEXTS - 1);
        let symbol = self.slots[context][slot_of(x) as usize];
        let entry = self.entries[context].get(usize::from(symbol));
        (u32::from(symbol), entry.copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::entropy::counts::Counts;
    use crate::code::entropy::states::{Huffman, Rans, START};
    use alloc::boxed::Box;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// Checks that every slot has the symbol that an encoder pushes for it, and that each symbol has as many slots as
    /// its frequency.
    fn check<C: SymbolCoder>(rng: &mut SmallRng) {
        let mut counts = Counts::default();
        for counts in &mut counts.0 {
            let used = rng.random_range(0..=16);
            counts[..used].fill_with(|| rng.random_range(0..1000));
        }
        let frequencies = FrequencyTables::of::<C>(&counts);
        let decode = Box::new(DecodeTables::<C>::new(&frequencies));
        let encode = Box::new(EncodeTables::<C>::new(&frequencies));
        for context in 0..=NOTHING {
            let mut found = [0; TOKENS as usize];
            for slot in 0..SLOTS {
                let (symbol, entry) = decode.top(context, 0xabcd_e000 | slot);
                assert_eq!(entry != 0, decode.is_used(context));
                assert_eq!(entry, encode.symbol(context, symbol).entry);
                found[symbol as usize] += u16::from(entry != 0);
                // A pop and a push of the symbol restore the state.
                let x = START << 12 | slot;
                if entry != 0 {
                    let reciprocal = encode.symbol(context, symbol).reciprocal;
                    assert_eq!(C::push(C::pop(x, entry), entry, reciprocal), x);
                }
            }
            assert_eq!(found, *frequencies_of(&frequencies, context));
        }
        let nothing = encode.symbol(NOTHING, 0);
        for x in [START, u32::MAX] {
            assert!(!C::is_full(x, nothing.entry, 0));
            assert_eq!(C::push(x, nothing.entry, nothing.reciprocal), x);
        }
        assert_eq!(encode.symbol(CONTEXTS + 1, 0), Symbol::default());
        assert_eq!(encode.symbol(0, TOKENS), Symbol::default());
    }

    #[test]
    fn tables_are_of_the_frequencies() {
        let mut rng = SmallRng::seed_from_u64(1);
        for _ in 0..20 {
            check::<Rans>(&mut rng);
            check::<Huffman>(&mut rng);
        }
    }

    #[test]
    fn codes_whose_token_has_no_frequency_escape() {
        let mut counts = Counts::default();
        counts.0[2][5] = 1;
        counts.complete(true);
        let tables = Box::new(EncodeTables::<Rans>::new(&FrequencyTables::of::<Rans>(
            &counts,
        )));
        assert_eq!(tables.token(2, 5).0, Token::of(5));
        assert_eq!(tables.token(2, 6).0, Token::escape(6));
        assert_eq!(tables.token(3, 5).0, Token::escape(5));
        assert!(tables.token(3, 5).1.entry != 0);
    }
}
