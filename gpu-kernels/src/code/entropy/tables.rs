//! Counts to frequencies, to the encoder's tables, and to the words of the stream: one warp for each context.

use crate::PACKAGE;
use crate::code::entropy::frequency_tables::{self, OWN, Own, starts};
use crate::pipeline::cells;
use crate::primitives::scan::{warp_inclusive_sum, warp_inclusive_sum_u64, warp_sum_u64};
use core::marker::PhantomData;
use ferrosz_codec::code::entropy::class::CONTEXTS;
use ferrosz_codec::code::entropy::counts::completed;
use ferrosz_codec::code::entropy::frequencies::{Totals, excess};
use ferrosz_codec::code::entropy::frequency_tables::{
    Head, LENGTH_BITS, MAX_WORDS, frequency_length, low_bits,
};
use ferrosz_codec::code::entropy::lengths::{
    MEMORY_WORDS, Memory, is_lighter, lengths_of_sorted, weight,
};
use ferrosz_codec::code::entropy::states::SymbolCoder;
use ferrosz_codec::code::entropy::token::{ESCAPE, SLOTS, TOKENS};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Makes the tables of coder `C`. Launched with one block.
pub struct MakeTables<C>(PhantomData<C>);

/// Parameters of [`MakeTables`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TablesParams {
    /// The counts, by context and symbol.
    pub counts: View<u64>,
    /// The output: the tables, of [`ENCODE_WORDS`] words.
    pub tables: View<u32>,
    /// The output: the frequencies in the form of the stream, [`MAX_WORDS`] words at most.
    pub frequencies: View<u32>,
    /// The workspace, which gets the number of these words.
    pub cells: View<u64>,
    /// Not 0 if not all chunks were counted.
    pub is_sample: u32,
}

/// Threads of the block: a warp for each context.
pub const THREADS: u32 = CONTEXTS * WARP;

/// Words of the tables: an entry and a reciprocal for each symbol of each context.
pub const ENCODE_WORDS: u32 = 2 * CONTEXTS * TOKENS;

/// Of an entry in the tables: its token is that of the escape, and all bits of the code follow.
pub const ESCAPED: u32 = 1 << 31;
/// The bits of an entry that the coder knows.
pub const PLAIN: u32 = (1 << 28) - 1;

/// Words of a context's body in shared memory.
const BODY_WORDS: u32 = MAX_WORDS as u32 / CONTEXTS;

/// The shared memory of the block.
#[derive(Clone, Copy)]
struct Scratch {
    /// By context and symbol: weights or counts, then frequencies.
    frequencies: Shared<u32>,
    /// For each context, the scratch that its lengths are found in, and then its body.
    work: Shared<u32>,
    /// For each context, the words of its body.
    sizes: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        frequencies: layout.array("frequencies", CONTEXTS * TOKENS),
        work: layout.array("work", CONTEXTS * MEMORY_WORDS),
        sizes: layout.array("sizes", CONTEXTS),
    };
    (scratch, layout)
};

/// This warp's part of the scratch.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn work_of_warp<T: Thread>(t: T) -> Shared<u32> {
    (SHARED.0.work).part(t.warp() * MEMORY_WORDS, MEMORY_WORDS)
}

impl<C: SymbolCoder> Kernel for MakeTables<C> {
    type Params = TablesParams;
    const NAME: &'static str = const { &Name::of(&["ferrosz_entropy_tables", C::NAME]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &TablesParams) {
        let context = t.warp();
        let own_frequencies = SHARED.0.frequencies.part(context * TOKENS, TOKENS);
        let counts = Self::counts(t, params, context);
        let frequencies = if C::POWERS_OF_TWO {
            Self::lengths(t, counts, own_frequencies, work_of_warp(t))
        } else {
            frequencies(t, counts)
        };
        frequency_tables::store(t, own_frequencies, frequencies);
        t.sync_warp();
        Self::store_symbols(t, params, own_frequencies, frequencies);
        Self::write(t, params, frequencies);
    }
}

impl<C: SymbolCoder> MakeTables<C> {
    /// This lane's counts of its context.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn counts<T: Thread>(t: T, params: &TablesParams, context: u32) -> Own {
        frequency_tables::own(t, |symbol| {
            let counter = context * TOKENS + symbol;
            let count = t.atomic_load(params.counts, u64::from(counter));
            let count = count.min(u64::from(u32::MAX)) as u32;
            completed(context, symbol, count, params.is_sample != 0)
        })
    }

    /// Frequencies that are powers of two. `weights` is for the context's weights, `memory` to work in.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn lengths<T: Thread>(t: T, counts: Own, weights: Shared<u32>, memory: Shared<u32>) -> Own {
        let total = warp_sum_u64(t, sum_u64(counts.map(u64::from)));
        let own = counts.map(|count| weight(count, total));
        frequency_tables::store(t, weights, own);
        t.sync_warp();
        let mut ranks = [0; OWN];
        for other in 0..t.opaque(TOKENS) {
            let lighter = weights.load(t, other);
            for i in 0..OWN {
                let symbol = frequency_tables::symbol(t, i);
                let counts = lighter > 0 && is_lighter((lighter, other), (own[i], symbol));
                ranks[i] += u32::from(counts);
            }
        }
        for i in 0..OWN {
            if own[i] > 0 {
                memory.store(t, ranks[i], own[i]);
            }
        }
        let used = t.reduce_add(own.map(|weight| u32::from(weight > 0)).iter().sum());
        t.sync_warp();
        if t.lane() == 0 {
            lengths_of_sorted(&mut OneThread { t, memory }, used);
        }
        t.sync_warp();
        core::array::from_fn(|i| {
            if own[i] > 0 {
                SLOTS >> memory.load(t, ranks[i])
            } else {
                0
            }
        })
    }

    /// Stores the encoder's table entries of the symbols of this warp's context.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store_symbols<T: Thread>(
        t: T,
        params: &TablesParams,
        own_frequencies: Shared<u32>,
        frequencies: Own,
    ) {
        let starts = starts::<T, C>(t, own_frequencies, frequencies);
        let mut symbols = [[0; 2]; OWN];
        for i in 0..OWN {
            if frequencies[i] > 0 {
                symbols[i] = [
                    C::entry(frequencies[i], starts[i]),
                    C::reciprocal(frequencies[i]),
                ];
            }
        }
        // Tokens without a frequency are escaped.
        let escape =
            [0, 1].map(|word| t.shuffle(symbols[ESCAPE as usize % OWN][word], ESCAPE / OWN as u32));
        for i in 0..OWN {
            let symbol = frequency_tables::symbol(t, i);
            let [entry, reciprocal] = if frequencies[i] > 0 {
                symbols[i]
            } else {
                escape
            };
            let flags = if frequencies[i] == 0 || symbol == ESCAPE {
                ESCAPED
            } else {
                0
            };
            if symbol < TOKENS {
                let at = u64::from(2 * (t.warp() * TOKENS + symbol));
                t.store(params.tables, at, entry | flags);
                t.store(params.tables, at + 1, reciprocal);
            }
        }
    }

    /// Writes the frequencies as the stream has them. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write<T: Thread>(t: T, params: &TablesParams, frequencies: Own) {
        let own = Self::collect(t, frequencies);
        if t.lane() == 0 {
            SHARED.0.sizes.store(t, t.warp(), own.words);
        }
        t.barrier();
        let size = if t.lane() < CONTEXTS {
            SHARED.0.sizes.load(t, t.lane())
        } else {
            0
        };
        let start = t.reduce_add(if t.lane() < t.warp() { size } else { 0 });
        let all = CONTEXTS + t.reduce_add(size);
        let head = Head {
            first: own.first,
            symbols: own.symbols,
            end: start + own.words,
        };
        let store = |at: u32, word| t.store(params.frequencies, u64::from(at), word);
        if t.lane() == 0 {
            store(t.warp(), head.to_word());
        }
        let mut word = t.lane();
        while word < own.words {
            store(CONTEXTS + start + word, work_of_warp(t).load(t, word));
            word += WARP;
        }
        if t.warp() == 0 {
            let padded = all.next_multiple_of(frequency_tables::PADDING);
            if all + t.lane() < padded {
                store(all + t.lane(), 0);
            }
            if t.lane() == 0 {
                t.atomic_store(params.cells, cells::FREQUENCIES_WORDS, u64::from(padded));
            }
        }
    }

    /// Collects the frequencies of a warp's context as the stream has them. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn collect<T: Thread>(t: T, frequencies: Own) -> Collected {
        // Symbols plus one, so that 0 is none.
        let mut ends = [0; 2];
        for (i, frequency) in frequencies.iter().enumerate() {
            if *frequency > 0 {
                let symbol = frequency_tables::symbol(t, i);
                ends = [ends[0].max(TOKENS - symbol), ends[1].max(symbol + 1)];
            }
        }
        let [from_end, end] = ends.map(|end| t.reduce_max(end));
        let first = if end > 0 { TOKENS - from_end } else { 0 };
        let symbols = end - first;
        let body = work_of_warp(t);
        clear(t, body);
        let lows = frequencies.map(|frequency| low_bits::<C>(frequency_length(frequency)));
        let mut at = LENGTH_BITS * symbols + before(t, lows);
        for i in 0..OWN {
            let symbol = frequency_tables::symbol(t, i);
            if symbol >= first && symbol < end {
                let length = frequency_length(frequencies[i]);
                or_bits(t, body, LENGTH_BITS * (symbol - first), length);
                or_bits(t, body, at, frequencies[i] & ((1 << lows[i]) - 1));
            }
            at += lows[i];
        }
        let bits = LENGTH_BITS * symbols + t.reduce_add(lows.iter().sum());
        Collected {
            first,
            symbols,
            words: bits.div_ceil(32),
        }
    }
}

/// The frequencies of a context: how many symbols from which on, in how many words.
#[derive(Clone, Copy)]
struct Collected {
    first: u32,
    symbols: u32,
    words: u32,
}

/// Frequencies in proportion to counts.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn frequencies<T: Thread>(t: T, counts: Own) -> Own {
    let count = warp_sum_u64(t, sum_u64(counts.map(u64::from)));
    let own = counts.map(|own| excess(own, count));
    let sum = sum_u64(own);
    let totals = Totals {
        count,
        used: t.reduce_add(counts.map(|count| u32::from(count > 0)).iter().sum()),
        excess: warp_sum_u64(t, sum),
    };
    let mut before = warp_inclusive_sum_u64(t, sum) - sum;
    core::array::from_fn(|i| {
        let frequency = totals.frequency(counts[i], before);
        before += own[i];
        frequency
    })
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn sum_u64(values: [u64; OWN]) -> u64 {
    let mut sum = 0;
    for value in values {
        sum += value;
    }
    sum
}

/// The sum of the values of all lanes before this one.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn before<T: Thread>(t: T, values: Own) -> u32 {
    let own = values.iter().sum();
    warp_inclusive_sum(t, own) - own
}

/// Makes the words of a body 0. For a warp, whose accesses it orders.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn clear<T: Thread>(t: T, body: Shared<u32>) {
    t.sync_warp();
    let mut word = t.lane();
    while word < BODY_WORDS {
        body.store(t, word, 0);
        word += WARP;
    }
    t.sync_warp();
}

/// Sets bits of a body from bit `at` on.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn or_bits<T: Thread>(t: T, body: Shared<u32>, at: u32, bits: u32) {
    let both = u64::from(bits) << (at % 32);
    let word = at / 32;
    body.or(t, word, both as u32);
    if both >> 32 != 0 {
        body.or(t, word + 1, (both >> 32) as u32);
    }
}

/// Shared memory that one thread works in.
struct OneThread<T> {
    t: T,
    memory: Shared<u32>,
}

impl<T: Thread> Memory for OneThread<T> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn get(&self, at: u32) -> u32 {
        self.memory.load(self.t, at)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set(&mut self, at: u32, word: u32) {
        self.memory.store(self.t, at, word);
    }
}
