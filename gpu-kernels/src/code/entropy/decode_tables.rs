//! Frequency tables, as the stream has them, to the decoders' tables: one warp for each context.
//!
//! If the frequencies are damaged, that is reported, and the tables say that no context is used.

use crate::PACKAGE;
use crate::code::entropy::frequency_tables::{self, Own, PADDING, starts};
use crate::pipeline::blocks::decompress::header_is_sound;
use crate::pipeline::cells::{self, Fault};
use crate::pipeline::tiles::stream::{has_table, payload};
use crate::primitives::scan::warp_inclusive_sum;
use core::marker::PhantomData;
use ferrosz_codec::code::entropy::class::CONTEXTS;
use ferrosz_codec::code::entropy::frequency_tables::{
    Head, LENGTH_BITS, frequency_length, low_bits,
};
use ferrosz_codec::code::entropy::states::{BITS_WITH_SYMBOL, SymbolCoder};
use ferrosz_codec::code::entropy::token::{SLOTS, TOKENS, Token};
use ferrosz_codec::container::header_words::{LayoutWords, Summary};
use ferrosz_codec::error::TableFault;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Reads the frequencies of coder `C`. Launched with one block.
pub struct ReadTables<C>(PhantomData<C>);

/// Parameters of [`ReadTables`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReadTablesParams {
    /// The header's words.
    pub header: View<u32>,
    /// The stream without its records, 16-byte aligned; its header is not read. Nothing behind its end is read.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The word of the payload that the frequencies begin at.
    pub frequencies_at: u64,
    /// The header's first words. A stream that begins otherwise is a fault.
    pub layout: LayoutWords,
    /// The output: the tables, of [`DECODE_WORDS`] words.
    pub tables: View<u32>,
    /// The workspace, which gets the number of the frequencies' words.
    pub cells: View<u64>,
}

/// Threads of the block: a warp for each context.
pub const THREADS: u32 = CONTEXTS * WARP;

/// Bytes of a context's slots, each with a symbol.
pub const SLOT_BYTES: u32 = SLOTS;
/// Bytes of a symbol: its entry, and then its code and the bits behind it.
pub const SYMBOL_BYTES: u32 = 8;
/// Bytes of a context: its slots, and then its symbols.
pub const CONTEXT_BYTES: u32 = SLOT_BYTES + SYMBOL_BYTES * TOKENS;
/// The word of which bit c says that context c is used.
pub const USED: u32 = CONTEXTS * CONTEXT_BYTES / 4;
/// Words of the tables: in the last four, [`USED`] and zeros.
pub const DECODE_WORDS: u32 = (USED + 1).next_multiple_of(4);

const _: () = assert!(USED + 4 == DECODE_WORDS && USED.is_multiple_of(4));

/// The code of a token if the bits behind it are all 0, in the high half; below, how many bits follow it: in the lowest
/// bits if they were pushed with the symbol, and else, where they were pushed alone, in those from [`ALONE_AT`] on.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn code_of(token: u32) -> u32 {
    let bits = Token::bits(token);
    let alone = bits > BITS_WITH_SYMBOL;
    Token::code(token, 0) << 16 | bits << if alone { ALONE_AT } else { 0 }
}

/// See [`code_of`].
const ALONE_AT: u32 = 8;
const BITS: u32 = 31;

/// How many bits were pushed with the symbol of a code.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn bits_with_symbol(code: u32) -> u32 {
    code & BITS
}

/// How many bits were pushed alone, before the symbol of a code.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub const fn bits_alone(code: u32) -> u32 {
    code >> ALONE_AT & BITS
}

/// The shared memory of the block.
#[derive(Clone, Copy)]
struct Scratch {
    /// By context and symbol: frequencies, and where their intervals start.
    frequencies: Shared<u32>,
    starts: Shared<u32>,
    /// For each context, the code of its fault, and whether it is used.
    faults: Shared<u32>,
    is_used: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        frequencies: layout.array("frequencies", CONTEXTS * TOKENS),
        starts: layout.array("starts", CONTEXTS * TOKENS),
        faults: layout.array("faults", CONTEXTS),
        is_used: layout.array("is used", CONTEXTS),
    };
    (scratch, layout)
};

impl<C: SymbolCoder> Kernel for ReadTables<C> {
    type Params = ReadTablesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_entropy_decode_tables", C::NAME]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ReadTablesParams) {
        if t.warp() == 0 && !Self::is_expected(t, params) && t.lane() == 0 {
            t.atomic_max(params.cells, cells::FAULT, Fault::Header.to_cell());
        }
        let payload = payload(params.stream, params.entries).from(params.frequencies_at);
        let read = Self::read(t, params, payload);
        let (fault, frequencies) = match read {
            Ok(frequencies) => (0, frequencies),
            Err(fault) => (fault as u32, [0; frequency_tables::OWN]),
        };
        if t.lane() == 0 {
            SHARED.0.faults.store(t, t.warp(), fault);
        }
        t.barrier();
        let fault = if t.lane() < CONTEXTS {
            SHARED.0.faults.load(t, t.lane())
        } else {
            0
        };
        let fault = t.reduce_max(fault);
        if fault != 0 && t.thread_index() == 0 {
            let fault = Fault::Tables(fault).to_cell();
            t.atomic_max(params.cells, cells::FAULT, fault);
        }
        let frequencies = if fault == 0 {
            frequencies
        } else {
            [0; frequency_tables::OWN]
        };
        Self::store(t, params, frequencies);
    }
}

impl<C: SymbolCoder> ReadTables<C> {
    /// Whether the stream's header is sound and the one that the caller spoke of. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_expected<T: Thread>(t: T, params: &ReadTablesParams) -> bool {
        if !has_table(params.stream, params.entries) {
            return false;
        }
        let word = |word: usize| t.load(params.header, word as u64);
        header_is_sound(t, word) & Summary::is_of(&params.layout, word)
    }

    /// The frequencies of this warp's context. For the whole warp, all of which gets the same fault.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read<T: Thread>(
        t: T,
        params: &ReadTablesParams,
        payload: View<u32>,
    ) -> Result<Own, TableFault> {
        let available = payload.len();
        if available < u64::from(CONTEXTS) {
            return Err(TableFault::Size);
        }
        let head = |context: u32| {
            if context < CONTEXTS {
                Head::from_word(t.load(payload, u64::from(context)))
            } else {
                Head::default()
            }
        };
        let context = t.warp();
        let start = match context.checked_sub(1) {
            Some(before) => head(before).end,
            None => 0,
        };
        let head_of_last = head(CONTEXTS - 1);
        let all = CONTEXTS + head_of_last.end;
        let padded = all.next_multiple_of(PADDING);
        let head = head(context);
        if !head.is_possible(context, start) {
            return Err(TableFault::Head);
        }
        if u64::from(padded) > available || CONTEXTS + head.end > all {
            return Err(TableFault::Size);
        }
        let is_last = context == CONTEXTS - 1;
        if is_last {
            let at = all + t.lane();
            let is_set = at < padded && t.load(payload, u64::from(at)) != 0;
            if t.any(is_set) {
                return Err(TableFault::Padding);
            }
            if t.lane() == 0 {
                t.atomic_store(params.cells, cells::FREQUENCIES_WORDS, u64::from(padded));
            }
        }
        Self::read_body(t, payload.from(u64::from(CONTEXTS)), head, start)
    }

    /// Reads the frequencies of a context, whose body begins at word `start`. For the whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read_body<T: Thread>(
        t: T,
        bodies: View<u32>,
        head: Head,
        start: u32,
    ) -> Result<Own, TableFault> {
        let word = |at: u32| {
            if at < head.end - start {
                t.load(bodies, u64::from(start + at))
            } else {
                0
            }
        };
        let bits = |at: u32, count: u32| {
            let both = u64::from(word(at / 32 + 1)) << 32 | u64::from(word(at / 32));
            (both >> (at % 32)) as u32 & ((1 << count) - 1)
        };
        let end = head.first + head.symbols;
        let lengths = frequency_tables::own(t, |symbol| {
            if symbol >= head.first && symbol < end {
                bits(LENGTH_BITS * (symbol - head.first), LENGTH_BITS)
            } else {
                0
            }
        });
        let mut is_possible = true;
        for (i, length) in lengths.iter().enumerate() {
            let symbol = frequency_tables::symbol(t, i);
            let is_end = head.symbols > 0 && (symbol == head.first || symbol + 1 == end);
            is_possible &= *length <= frequency_length(SLOTS) && !(is_end && *length == 0);
        }
        if t.any(!is_possible) {
            return Err(TableFault::Length);
        }
        let lows = lengths.map(low_bits::<C>);
        let own = lows.iter().sum();
        let inclusive = warp_inclusive_sum(t, own);
        let mut at = LENGTH_BITS * head.symbols + inclusive - own;
        let frequencies: Own = core::array::from_fn(|i| {
            let frequency = (1 << lengths[i] >> 1) | bits(at, lows[i]);
            at += lows[i];
            frequency
        });
        let end = LENGTH_BITS * head.symbols + t.shuffle(inclusive, WARP - 1);
        if head.end - start != end.div_ceil(32) {
            return Err(TableFault::Size);
        }
        if !end.is_multiple_of(32) && word(end / 32) >> (end % 32) != 0 {
            return Err(TableFault::Padding);
        }
        if head.symbols > 0 && t.reduce_add(frequencies.iter().sum()) != SLOTS {
            return Err(TableFault::Sum);
        }
        Ok(frequencies)
    }

    /// Stores the decoders' table of this warp's context. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store<T: Thread>(t: T, params: &ReadTablesParams, frequencies: Own) {
        let context = t.warp();
        let own_frequencies = SHARED.0.frequencies.part(context * TOKENS, TOKENS);
        let own_starts = SHARED.0.starts.part(context * TOKENS, TOKENS);
        frequency_tables::store(t, own_frequencies, frequencies);
        t.sync_warp();
        let starts = starts::<T, C>(t, own_frequencies, frequencies);
        frequency_tables::store(t, own_starts, starts);
        for i in 0..frequency_tables::OWN {
            let entry = if frequencies[i] > 0 {
                C::entry(frequencies[i], starts[i])
            } else {
                0
            };
            let symbol = frequency_tables::symbol(t, i);
            if symbol < TOKENS {
                let at = context * CONTEXT_BYTES + SLOT_BYTES + symbol * SYMBOL_BYTES;
                t.store(params.tables, u64::from(at / 4), entry);
                t.store(params.tables, u64::from(at / 4 + 1), code_of(symbol));
            }
        }
        t.sync_warp();
        let mut is_used = false;
        for symbol in 0..t.opaque(TOKENS) {
            let frequency = own_frequencies.load(t, symbol);
            let start = own_starts.load(t, symbol);
            is_used |= frequency > 0;
            let mut position = t.lane();
            while position < frequency {
                let slot = context * CONTEXT_BYTES + C::slot(start + position);
                t.store_byte(params.tables, u64::from(slot), symbol as u8);
                position += WARP;
            }
        }
        if !is_used {
            let mut word = t.lane();
            while word < SLOT_BYTES / 4 {
                let at = context * (CONTEXT_BYTES / 4) + word;
                t.store(params.tables, u64::from(at), 0);
                word += WARP;
            }
        }
        if t.lane() == 0 {
            SHARED.0.is_used.store(t, context, u32::from(is_used));
        }
        t.barrier();
        if t.warp() == 0 {
            let is_used = t.lane() < CONTEXTS && SHARED.0.is_used.load(t, t.lane()) != 0;
            let used = t.ballot(is_used);
            if t.lane() == 0 {
                // With the words behind it, which decoders bring in, too.
                t.store4(params.tables, u64::from(USED / 4), [used, 0, 0, 0]);
            }
        }
    }
}
