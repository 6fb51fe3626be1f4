//! Interleaved rANS states of 32 bits, and their renormalisation words of 16 bits.
//!
//! A lane's state x is the top of a stack of bits: 2^16 <= x < 2^32 whenever a symbol is popped. The last symbol pushed
//! is popped first, so the encoder goes backwards. If a push would overflow the state, the lane first moves the low
//! half of the state to the words ([`emit`]). If a pop leaves less than 2^16, the lane reads a word back ([`refill`]).
//! A push has at most 16 bits, and so needs at most one word. A symbol and a few extra bits are pushed together.
//!
//! rANS after J. Duda, "Asymmetric numeral systems", 2013; lanes that share one sequence of words after F. Giesen,
//! "Interleaved entropy coders", 2014.

#[cfg(feature = "toy")]
mod toy_coder;

use crate::code::entropy::frequencies::{Frequencies, normalized};
use crate::code::entropy::lengths::frequencies_of_lengths;
use crate::code::entropy::token::{PRECISION, SLOTS, TOKENS};

#[cfg(feature = "toy")]
pub use toy_coder::ToyCoder;

/// The state that an encoder starts with and a decoder ends with; the least state.
pub const START: u32 = 1 << WORD_BITS;

/// Bits of a renormalisation word.
pub const WORD_BITS: u32 = 16;

/// The most extra bits that are pushed together with their symbol, so that the push has at most [`WORD_BITS`] bits.
pub const BITS_WITH_SYMBOL: u32 = WORD_BITS - PRECISION;

/// Removes the low word from a state; the caller stores that word.
#[inline(always)]
pub const fn emit(x: u32) -> u32 {
    x >> WORD_BITS
}

/// Whether a state is so small that a word must be added.
#[inline(always)]
pub const fn needs_refill(x: u32) -> bool {
    x < START
}

/// Adds a word at the low end of a state.
#[inline(always)]
pub const fn refill(x: u32, word: u32) -> u32 {
    x << WORD_BITS | word
}

/// Whether a word must be emitted before this many bits, at most 16, can be pushed.
#[inline(always)]
pub const fn is_full_for_bits(x: u32, bits: u32) -> bool {
    x > u32::MAX >> bits
}

/// Pushes bits, at most 16.
#[inline(always)]
pub const fn push_bits(x: u32, bits: u32, value: u32) -> u32 {
    x << bits | value
}

/// The top `bits` bits, at most 16.
#[inline(always)]
pub const fn top_bits(x: u32, bits: u32) -> u32 {
    x & ((1 << bits) - 1)
}

/// The number of bits of a state that are stored besides its 16 low ones, 0 to 15. The leading one is not stored.
#[inline(always)]
pub const fn spare_bits(x: u32) -> u32 {
    15u32.saturating_sub(x.leading_zeros())
}

/// The state whose low 16 + `spare` bits are `stored`.
#[inline(always)]
pub const fn state(spare: u32, stored: u32) -> u32 {
    let one = START << (spare & 15);
    one | stored & (one - 1)
}

/// A coder that pushes symbols onto states and pops them, given the symbols' frequencies.
///
/// The *entry* of a symbol is its data for push and pop, in one word. The symbols of a context divide the numbers below
/// [`SLOTS`] into intervals whose lengths are the frequencies. The *slot* of a state, its low bits, says which symbol
/// is on top.
pub trait SymbolCoder: Copy + Send + Sync + 'static {
    /// The coder's name in the names of kernels.
    const NAME: &'static str;

    /// Whether all frequencies are powers of two.
    const POWERS_OF_TWO: bool;

    /// Whether intervals are in order of falling frequency, and of symbol where frequencies are equal; otherwise in
    /// order of symbol.
    const BY_FREQUENCY: bool;

    /// The frequencies for these counts.
    fn frequencies(counts: &[u32; TOKENS as usize]) -> Frequencies;

    /// The slot for a position in the intervals. The function is its own inverse.
    fn slot(position: u32) -> u32;

    /// The entry of a symbol whose interval starts at `start`. Not 0 if `frequency` is not 0.
    fn entry(frequency: u32, start: u32) -> u32;

    /// The second argument for [`SymbolCoder::push`], which saves it a division.
    fn reciprocal(frequency: u32) -> u32;

    /// Whether a word must be emitted before this many bits, at most [`BITS_WITH_SYMBOL`], and then this symbol can be
    /// pushed.
    fn is_full(x: u32, entry: u32, bits: u32) -> bool;

    /// Pushes a symbol.
    fn push(x: u32, entry: u32, reciprocal: u32) -> u32;

    /// Removes the symbol on top, to which `entry` belongs, from the state.
    fn pop(x: u32, entry: u32) -> u32;
}

/// The slot of a state.
#[inline(always)]
pub const fn slot_of(x: u32) -> u32 {
    x & (SLOTS - 1)
}

/// Range asymmetric numeral systems. An entry has the frequency in the low half and the start in the high half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rans;

impl SymbolCoder for Rans {
    const NAME: &'static str = "rans";
    const POWERS_OF_TWO: bool = false;
    const BY_FREQUENCY: bool = false;

    fn frequencies(counts: &[u32; TOKENS as usize]) -> Frequencies {
        normalized(counts)
    }

    #[inline(always)]
    fn slot(position: u32) -> u32 {
        position
    }

    #[inline(always)]
    fn entry(frequency: u32, start: u32) -> u32 {
        start << 16 | frequency
    }

    #[inline(always)]
    fn reciprocal(frequency: u32) -> u32 {
        u32::MAX.checked_div(frequency).unwrap_or_default()
    }

    #[inline(always)]
    fn is_full(x: u32, entry: u32, bits: u32) -> bool {
        // Whether x >> (20 - bits) is at least the frequency. The greatest frequency, 2^12, becomes 2^32.
        x > (entry << (32 - PRECISION)).wrapping_sub(1) >> bits
    }

    #[inline(always)]
    fn push(x: u32, entry: u32, reciprocal: u32) -> u32 {
        let (frequency, start) = (entry & 0xffff, entry >> 16);
        // The reciprocal is less than 2^32 / frequency by at most one, so the quotient is exact or one too small.
        let quotient = ((u64::from(x) * u64::from(reciprocal)) >> 32) as u32;
        let rest = x.wrapping_sub(quotient.wrapping_mul(frequency));
        let pushed = (quotient << PRECISION).wrapping_add(rest.wrapping_add(start));
        if rest >= frequency {
            pushed.wrapping_add(SLOTS.wrapping_sub(frequency))
        } else {
            pushed
        }
    }

    #[inline(always)]
    fn pop(x: u32, entry: u32) -> u32 {
        let (frequency, start) = (entry & 0xffff, entry >> 16);
        frequency
            .wrapping_mul(x >> PRECISION)
            .wrapping_add(slot_of(x).wrapping_sub(start))
    }
}

/// Prefix codes. The codes of symbols in order of length ascend; their first bit is popped first. An entry has the
/// length plus 16, so that it is not 0, in the low half, and the code in the high half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Huffman;

impl SymbolCoder for Huffman {
    const NAME: &'static str = "huffman";
    const POWERS_OF_TWO: bool = true;
    const BY_FREQUENCY: bool = true;

    fn frequencies(counts: &[u32; TOKENS as usize]) -> Frequencies {
        frequencies_of_lengths(counts)
    }

    #[inline(always)]
    fn slot(position: u32) -> u32 {
        position.reverse_bits() >> (32 - PRECISION)
    }

    #[inline(always)]
    fn entry(frequency: u32, start: u32) -> u32 {
        let length = frequency.leading_zeros().wrapping_sub(31 - PRECISION);
        Self::slot(start) << 16 | 16 | length & 15
    }

    #[inline(always)]
    fn reciprocal(_frequency: u32) -> u32 {
        0
    }

    #[inline(always)]
    fn is_full(x: u32, entry: u32, bits: u32) -> bool {
        is_full_for_bits(x, (entry & 15) + bits)
    }

    #[inline(always)]
    fn push(x: u32, entry: u32, _reciprocal: u32) -> u32 {
        push_bits(x, entry & 15, entry >> 16)
    }

    #[inline(always)]
    fn pop(x: u32, entry: u32) -> u32 {
        x >> (entry & 15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// Pushes these bits and a symbol, and checks that pops return them.
    fn push_and_pop<C: SymbolCoder>(x: u32, frequency: u32, start: u32, value: u32, bits: u32) {
        let (entry, reciprocal) = (C::entry(frequency, start), C::reciprocal(frequency));
        let is_full = C::is_full(x, entry, bits);
        let room = if is_full { emit(x) } else { x };
        let pushed = C::push(push_bits(room, bits, value), entry, reciprocal);
        assert!(pushed >= START, "{x} {frequency} {start} {bits}");
        let position = C::slot(slot_of(pushed));
        assert!((start..start + frequency).contains(&position));
        let popped = C::pop(pushed, entry);
        assert_eq!(top_bits(popped, bits), value);
        let popped = popped >> bits;
        assert_eq!(needs_refill(popped), is_full);
        assert_eq!(popped, room);
        if is_full {
            assert_eq!(refill(popped, x & 0xffff), x);
        }
    }

    fn bits_of(rng: &mut SmallRng) -> (u32, u32) {
        let bits = rng.random_range(0..=BITS_WITH_SYMBOL);
        (rng.random_range(0..1 << bits), bits)
    }

    fn state_of(rng: &mut SmallRng) -> u32 {
        match rng.random_range(0..4) {
            0 => START + rng.random_range(0..3),
            1 => u32::MAX - rng.random_range(0..3),
            _ => state(rng.random_range(0..16), rng.random()),
        }
    }

    #[test]
    fn rans_symbols_come_back() {
        let mut rng = SmallRng::seed_from_u64(1);
        for frequency in 1..=SLOTS {
            for _ in 0..100 {
                let start = rng.random_range(0..=SLOTS - frequency);
                let x = state_of(&mut rng);
                let (value, bits) = bits_of(&mut rng);
                push_and_pop::<Rans>(x, frequency, start, value, bits);
                let entry = Rans::entry(frequency, start);
                if !Rans::is_full(x, entry, 0) {
                    let plain = (x / frequency) * 4096 + x % frequency + start;
                    assert_eq!(Rans::push(x, entry, Rans::reciprocal(frequency)), plain);
                }
            }
        }
    }

    #[test]
    fn huffman_symbols_come_back() {
        let mut rng = SmallRng::seed_from_u64(2);
        for length in 0..=PRECISION {
            let frequency = SLOTS >> length;
            for _ in 0..10_000 {
                let start = frequency * rng.random_range(0..1 << length);
                let (value, bits) = bits_of(&mut rng);
                push_and_pop::<Huffman>(state_of(&mut rng), frequency, start, value, bits);
            }
        }
    }

    #[test]
    fn bits_come_back() {
        let mut rng = SmallRng::seed_from_u64(3);
        for _ in 0..100_000 {
            let (x, bits) = (state_of(&mut rng), rng.random_range(0..=16));
            let value = rng.random_range(0..1 << bits);
            let is_full = is_full_for_bits(x, bits);
            let room = if is_full { emit(x) } else { x };
            let pushed = push_bits(room, bits, value);
            assert!(pushed >= START);
            assert_eq!(top_bits(pushed, bits), value);
            assert_eq!(pushed >> bits, room);
            assert_eq!(needs_refill(room), is_full);
        }
    }

    #[test]
    fn states_come_back() {
        let mut rng = SmallRng::seed_from_u64(4);
        for _ in 0..10_000 {
            let x = state_of(&mut rng);
            let spare = spare_bits(x);
            assert!(spare < 16);
            let stored = x & ((1 << (16 + spare)) - 1);
            assert_eq!(
                state(spare, stored | 1 << 31),
                x | u32::from(spare == 15) << 31
            );
        }
    }
}
