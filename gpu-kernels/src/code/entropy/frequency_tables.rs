//! A context's frequencies in a warp: each lane has those of four neighbouring symbols.

use crate::primitives::scan::warp_inclusive_sum;
use ferrosz_codec::code::entropy::states::SymbolCoder;
use ferrosz_codec::code::entropy::token::TOKENS;
use ferrosz_simt::{Shared, Thread, WARP};

/// Symbols of a lane. The last lanes have some that do not exist, whose frequencies are 0.
pub const OWN: usize = TOKENS.div_ceil(WARP) as usize;

/// A lane's values, one for each of its symbols.
pub type Own = [u32; OWN];

/// Words that frequencies in the stream are padded to a multiple of.
pub const PADDING: u32 = 4;

/// The lane's symbol number `i`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn symbol<T: Thread>(t: T, i: usize) -> u32 {
    t.lane() * OWN as u32 + i as u32
}

/// The results of `of` for this lane's symbols, 0 for those that do not exist.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn own<T: Thread>(t: T, of: impl Fn(u32) -> u32) -> Own {
    core::array::from_fn(|i| {
        let symbol = symbol(t, i);
        if symbol < TOKENS { of(symbol) } else { 0 }
    })
}

/// Writes the values of the warp's symbols to an array with an element for each symbol.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn store<T: Thread>(t: T, to: Shared<u32>, own: Own) {
    for (i, value) in own.iter().enumerate() {
        let symbol = symbol(t, i);
        if symbol < TOKENS {
            to.store(t, symbol, *value);
        }
    }
}

/// The starts of the intervals of this lane's symbols, as in `ferrosz_codec::code::entropy::tables::intervals`. The
/// frequencies of all symbols are also in `all`. For a warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn starts<T: Thread, C: SymbolCoder>(t: T, all: Shared<u32>, frequencies: Own) -> Own {
    if !C::BY_FREQUENCY {
        let own = frequencies.iter().sum();
        let mut before = warp_inclusive_sum(t, own) - own;
        return frequencies.map(|frequency| {
            let start = before;
            before += frequency;
            start
        });
    }
    let mut starts = [0; OWN];
    for other in 0..t.opaque(TOKENS) {
        let frequency = all.load(t, other);
        for i in 0..OWN {
            let is_before =
                frequency > frequencies[i] || frequency == frequencies[i] && other < symbol(t, i);
            starts[i] += if is_before { frequency } else { 0 };
        }
    }
    starts
}
