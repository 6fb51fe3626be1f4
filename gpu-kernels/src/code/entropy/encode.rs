//! Encodes chunks: one warp each, the lanes being the states.
//!
//! A warp goes through its chunk from the last step to the first, a quad at a time, while the codes of the quad before
//! are on their way. A step costs a look-up and, of a push, a vote: it tells each lane how many others emit a
//! word, and so where its own belongs. The words are written behind the codes: see
//! [`layout`](crate::pipeline::tiles::layout).
//!
//! The pushed symbols do not depend on the states. So the symbols of a whole quad are looked up before the first of
//! them is pushed, and the quad tells whether a step needs more than one push. Only quads at the edge of the field,
//! with steps without any codes, or with tokens that have no frequency go step by step.

use crate::PACKAGE;
use crate::code::entropy::THREADS;
use crate::code::entropy::tables::{ENCODE_WORDS, ESCAPED, PLAIN};
use crate::code::entropy::walk::{
    OfCells, OfZones, QUAD_CODES, QUAD_STEPS, QUADS, Quad, first_half, shifts_of,
};
use crate::code::entropy::words::HEAD_WORDS;
use crate::code::entropy::{bring_tables, first_of_warp};
use crate::pipeline::tiles::layout::{TILE_RAWS, TILE_WORDS, region, words_end_half};
use crate::pipeline::tiles::record::Record;
use crate::pipeline::tiles::tiling::Tiling;
use core::marker::PhantomData;
use ferrosz_codec::code::entropy::class::FIRST_CLASSES;
use ferrosz_codec::code::entropy::states::{
    BITS_WITH_SYMBOL, START, SymbolCoder, emit, is_full_for_bits, push_bits, spare_bits, top_bits,
};
use ferrosz_codec::code::entropy::token::{ESCAPE_BITS, SLOTS, TOKENS, Token};
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::{LANES, TileBox};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, SharedAddress, Thread, View};

/// Encodes tiles of shape `S` with coder `C`. Launched with at least as many warps as there are chunks.
pub struct Encode<C, S>(PhantomData<(C, S)>);

/// Parameters of [`Encode`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EncodeParams {
    /// The tiles.
    pub tiling: Tiling,
    /// The regions of all chunks. Words overwrite their codes.
    pub regions: View<u32>,
    /// The statistics kernel's words of each tile.
    pub tiles: View<u32>,
    /// The tables, 16-byte aligned.
    pub tables: View<u32>,
    /// The parameters of the field, whose shifts contexts have; nothing without them.
    pub parameters: View<u32>,
    /// The record of each chunk, which is written: see [`Record`].
    pub records: View<u32>,
    /// The workspace, whose look-back states get the lengths of the chunks.
    pub cells: View<u64>,
    /// Words of an element.
    pub element_words: u32,
}

/// So many quads before they are needed codes are on their way, the last one of them in registers.
const QUADS_AHEAD: u32 = 4;
/// Codes in 128 bytes.
const CODES_OF_LINE: u32 = 64;

/// Bytes that a symbol has in the tables.
const SYMBOL_BYTES: u32 = 8;
/// Bytes that a context has in the tables.
const CONTEXT_BYTES: u32 = SYMBOL_BYTES * TOKENS;

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    tables: Shared<u32>,
    /// The context of lanes that have nothing to code. Its only symbol is 0, and to push that changes nothing.
    nothing: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        tables: layout.array("tables", ENCODE_WORDS),
        nothing: layout.array("context of nothing", CONTEXT_BYTES / 4),
    };
    (scratch, layout)
};

impl<C: SymbolCoder, S: StaticShape> Kernel for Encode<C, S> {
    type Params = EncodeParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_entropy_encode", C::NAME, S::NAME]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 2;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &EncodeParams) {
        let Scratch { tables, nothing } = SHARED.0;
        bring_tables(t, params.tables, tables);
        if t.thread_index() < nothing.len() {
            let word = match t.thread_index() {
                0 => C::entry(SLOTS, 0),
                1 => C::reciprocal(SLOTS),
                _ => 0,
            };
            nothing.store(t, t.thread_index(), word);
        }
        t.barrier();
        let chunk = params.tiling.chunk_of_launch(first_of_warp(t));
        if chunk < params.tiling.chunks() {
            let first = params.tiling.first_of_runs(chunk);
            let tiles = params.tiling.tiles_of(chunk);
            let end = words_end_half(tiles);
            let states = States::<C> {
                region: region(params.regions, first),
                tables: tables.kept_address(t),
                x: START,
                end,
                is_codable: true,
                coder: PhantomData,
            };
            ChunkEncoder::<C, S> {
                params,
                chunk,
                first,
                tiles,
                end,
                states,
                shape: PhantomData,
            }
            .run(t);
        }
    }
}

/// Encodes a chunk.
struct ChunkEncoder<'a, C, S> {
    params: &'a EncodeParams,
    chunk: u64,
    /// The number of its first tile among those of all runs.
    first: u64,
    /// Its tiles.
    tiles: u32,
    /// The half word behind its last word.
    end: u32,
    states: States<C>,
    shape: PhantomData<S>,
}

impl<C: SymbolCoder, S: StaticShape> ChunkEncoder<'_, C, S> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(&mut self, t: T) {
        let tiles = self.tiles;
        if self.is_zero(t, tiles) {
            Record::ZERO.store(t, self.params.records, self.chunk, START);
            Record::ZERO.publish(t, self.params.cells, self.chunk);
            return;
        }
        self.push_tiles(t, tiles);
        self.states.store_end(t);
        let record = self.record(t, tiles);
        record.store(t, self.params.records, self.chunk, self.states.x);
        record.publish(t, self.params.cells, self.chunk);
    }

    /// The statistics kernel's words of a tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn kept(&self, tile: u32) -> View<u32> {
        let number = self.first + u64::from(tile);
        self.params.tiles.from(number * TILE_WORDS)
    }

    /// The classes of a tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn classes<T: Thread>(&self, t: T, tile: u32) -> OfZones {
        let kept = self.kept(tile);
        let rest = u64::from(FIRST_CLASSES + t.lane());
        OfZones {
            first: t.load(kept, u64::from(t.lane())),
            rest: if rest < TILE_RAWS {
                t.load(kept, rest)
            } else {
                0
            },
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_zero<T: Thread>(&self, t: T, tiles: u32) -> bool {
        let mut classes = 0;
        for tile in 0..t.opaque(tiles) {
            let OfZones { first, rest } = self.classes(t, tile);
            classes |= first | rest;
        }
        !t.any(classes != 0)
    }

    /// Pushes all tiles, from the last quad to the first.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push_tiles<T: Thread>(&mut self, t: T, tiles: u32) {
        let order = self.params.tiling.order;
        let mut number = tiles * QUADS;
        let mut codes = self.states.load(t, number - 1);
        let shifts = shifts_of(t, self.params.parameters);
        let mut contexts = OfCells::all(0, 0);
        let mut position = TileBox {
            origin: [0; 3],
            left: [0; 3],
        };
        let mut is_complete = false;
        while number > 0 {
            number -= 1;
            let tile = number / QUADS;
            if number % QUADS == QUADS - 1 {
                let classes = self.classes(t, tile);
                contexts = OfCells::of_contexts(t, &order, shifts, classes, |context| {
                    self.states.context(context).bytes()
                });
                position = self.params.tiling.tile(self.chunk, tile).position;
                // A vote, so that NVIDIA's assembler knows that all lanes have the same.
                is_complete = t.any(position.is_complete(S::SHAPE));
            }
            let now = codes;
            // At the end those of the first quad again.
            codes = self.states.load(t, number.saturating_sub(1));
            // Other lanes' words overwrite the codes loaded so far.
            t.sync_warp();
            self.states.prefetch(t, number.saturating_sub(QUADS_AHEAD));
            let of_tile = (&position, is_complete);
            let quad = Quad::of::<_, S>(t, &order, of_tile, number % QUADS, contexts);
            if quad.any != 0 {
                self.states.push_quad(t, &quad, now);
            }
            if number.is_multiple_of(QUADS) {
                self.push_classes(t, tile);
            }
        }
    }

    /// Pushes the classes of a tile, those that are popped last first.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push_classes<T: Thread>(&mut self, t: T, tile: u32) {
        let OfZones { first, rest } = self.classes(t, tile);
        let others = self.params.tiling.order.zones() - FIRST_CLASSES;
        self.states.push_class(t, rest, t.lane() < others);
        self.states.push_class(t, first, true);
    }

    /// The record of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn record<T: Thread>(&self, t: T, tiles: u32) -> Record {
        let (mut raws, mut positions) = (0, 0);
        for tile in 0..t.opaque(tiles) {
            raws += t.load(self.kept(tile), TILE_RAWS);
            let position = self.params.tiling.tile(self.chunk, tile).position;
            positions += self.params.tiling.order.positions(&position);
        }
        let state_bits = t.reduce_add(16 + spare_bits(self.states.x));
        let words = self.end - self.states.end;
        let words_at = HEAD_WORDS + state_bits.div_ceil(32);
        let ends = [words_at, words_at + words.div_ceil(2)];
        let element_words = self.params.element_words;
        let raw = Record::raw(positions, element_words);
        if t.any(!self.states.is_codable) {
            raw
        } else {
            Record::shorter(Record::coded(words, ends, raws, element_words), raw)
        }
    }
}

/// The states of a chunk, of which this lane has one.
struct States<C> {
    region: View<u32>,
    /// The address of the tables.
    tables: SharedAddress,
    /// The lane's state.
    x: u32,
    /// The number in the region of the half word that was written last.
    end: u32,
    /// Whether all symbols of this lane had a frequency.
    is_codable: bool,
    coder: PhantomData<C>,
}

impl<C: SymbolCoder> States<C> {
    /// This lane's codes of a quad of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load<T: Thread>(&self, t: T, quad: u32) -> [u32; QUAD_STEPS as usize] {
        // In 64 bits, so that LLVM makes one address, and constant offsets from it for the steps.
        let first = u64::from(first_half(quad) + t.lane());
        core::array::from_fn(|step| {
            t.load_own_half(self.region, first + step as u64 * u64::from(LANES))
        })
    }

    /// Says that the codes of a quad of the chunk will soon be loaded.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn prefetch<T: Thread>(&self, t: T, quad: u32) {
        if t.lane() < QUAD_CODES / CODES_OF_LINE {
            let word = (first_half(quad) + t.lane() * CODES_OF_LINE) / 2;
            t.prefetch(self.region, u64::from(word));
        }
    }

    /// The address of a context. Context 0 is here that of lanes that have nothing to code, which changes no state.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn context(&self, context: u32) -> SharedAddress {
        if context == 0 {
            self.nothing()
        } else {
            self.tables + context * CONTEXT_BYTES
        }
    }

    /// The address of the context of lanes that have nothing to code.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn nothing(&self) -> SharedAddress {
        let Scratch { tables, nothing } = SHARED.0;
        self.tables + nothing.bytes_behind(tables)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push_quad<T: Thread>(&mut self, t: T, quad: &Quad, codes: [u32; QUAD_STEPS as usize]) {
        if quad.is_full && self.push_full_quad(t, quad, codes) {
            return;
        }
        for back in 0..QUAD_STEPS as usize {
            let last = codes.len() - 1 - back;
            let step = last as u32;
            if quad.any >> step & 1 == 1 {
                let context = SharedAddress::from_bytes(quad.of_code(step));
                self.push_code(t, codes[last], context);
            }
        }
    }

    /// Pushes a quad that is full ([`Quad::is_full`]), and that no code of which is escaped. Otherwise it does nothing,
    /// and says so.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push_full_quad<T: Thread>(
        &mut self,
        t: T,
        quad: &Quad,
        codes: [u32; QUAD_STEPS as usize],
    ) -> bool {
        let mut symbols = [[0; 2]; QUAD_STEPS as usize];
        let mut bits = [0; QUAD_STEPS as usize];
        let (mut flags, mut greatest) = (0, 0);
        for (step, z) in (0..).zip(&codes) {
            let (token, own_bits) = own_token(t, *z);
            let i = step as usize;
            // Codes of lanes that have nothing to code are 0: so is their token, and it has no bits.
            let context = SharedAddress::from_bytes(quad.of_step(step));
            symbols[i] = t.shared_load2_at(context + SYMBOL_BYTES * token);
            bits[i] = own_bits;
            flags |= symbols[i][0];
            greatest = greatest.max(own_bits);
        }
        let is_escaped = flags & ESCAPED != 0;
        let mut values = [0; QUAD_STEPS as usize];
        for i in 0..codes.len() {
            values[i] = top_bits(codes[i], bits[i]);
        }
        if t.any(is_escaped | (greatest > BITS_WITH_SYMBOL)) {
            if t.any(is_escaped) {
                return false;
            }
            for i in (0..codes.len()).rev() {
                self.push_wide(t, symbols[i], values[i], bits[i]);
            }
        } else if t.any(greatest != 0) {
            for i in (0..codes.len()).rev() {
                let word = self.push(t, symbols[i], values[i], bits[i]);
                self.store(t, word);
            }
        } else {
            for symbol in symbols.iter().rev() {
                let word = self.push(t, *symbol, 0, 0);
                self.store(t, word);
            }
        }
        true
    }

    /// Pushes a symbol, and before it its extra bits, which some lane of the warp may have many of.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push_wide<T: Thread>(&mut self, t: T, symbol: [u32; 2], value: u32, bits: u32) {
        let is_wide = bits > BITS_WITH_SYMBOL;
        let [alone, with_symbol] = if is_wide {
            [(value, bits), (0, 0)]
        } else {
            [(0, 0), (value, bits)]
        };
        if t.any(is_wide) {
            let word = self.push_bits(t, alone.0, alone.1);
            self.store(t, word);
        }
        let word = self.push(t, symbol, with_symbol.0, with_symbol.1);
        self.store(t, word);
    }

    /// Pushes a code, whose context's symbols begin at the address `context`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push_code<T: Thread>(&mut self, t: T, z: u32, context: SharedAddress) {
        let (token, own_bits) = own_token(t, z);
        let [entry, reciprocal] = t.shared_load2_at(context + SYMBOL_BYTES * token);
        let bits = if entry & ESCAPED != 0 {
            ESCAPE_BITS
        } else {
            own_bits
        };
        let entry = entry & PLAIN;
        self.is_codable &= entry != 0;
        self.push_wide(t, [entry, reciprocal], top_bits(z, bits), bits);
    }

    /// Pushes the class of a zone.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push_class<T: Thread>(&mut self, t: T, class: u32, is_active: bool) {
        let symbols = if is_active {
            self.tables
        } else {
            self.nothing()
        };
        let class = if is_active { class } else { 0 };
        let [entry, reciprocal] = t.shared_load2_at(symbols + SYMBOL_BYTES * class);
        let word = self.push(t, [entry & PLAIN, reciprocal], 0, 0);
        self.store(t, word);
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push_bits<T: Thread>(&mut self, t: T, value: u32, bits: u32) -> Word {
        let word = self.make_room(t, is_full_for_bits(self.x, bits));
        self.x = push_bits(self.x, bits, value);
        word
    }

    /// Pushes up to [`BITS_WITH_SYMBOL`] bits, and a symbol.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn push<T: Thread>(&mut self, t: T, symbol: [u32; 2], value: u32, bits: u32) -> Word {
        let [entry, reciprocal] = symbol;
        let word = self.make_room(t, C::is_full(self.x, entry, bits));
        self.x = C::push(push_bits(self.x, bits, value), entry, reciprocal);
        word
    }

    /// Takes a word off every lane that is full. [`States::store`] must follow, in the same order.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn make_room<T: Thread>(&mut self, t: T, is_full: bool) -> Word {
        let word = Word {
            full: t.ballot(is_full),
            is_full,
            x: self.x,
        };
        if is_full {
            self.x = emit(self.x);
        }
        word
    }

    /// Stores the words that the full lanes have emitted, in order of lane, before the words emitted earlier.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store<T: Thread>(&mut self, t: T, word: Word) {
        // This lane's and those of the lanes behind it.
        let behind = (word.full >> t.lane()).count_ones();
        let at = u64::from(self.end - behind);
        t.store_half_if(word.is_full, self.region, at, word.x as u16);
        self.end -= word.full.count_ones();
    }

    /// Fills up the word of the region that the last half word is in: the kernel that places the words loads all of it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store_end<T: Thread>(&self, t: T) {
        let is_half = (t.lane() == 0) & (self.end % 2 == 1);
        t.store_half_if(is_half, self.region, u64::from(self.end & !1), 0);
    }
}

/// The words that lanes have emitted but not yet stored: the states go on meanwhile.
#[derive(Clone, Copy)]
struct Word {
    /// The lanes that were full, one bit each.
    full: u32,
    /// Whether this lane was.
    is_full: bool,
    /// This lane's state then, whose low half is the word.
    x: u32,
}

/// The number of a code's token, and how many of its low bits that does not tell: see [`Token::own`].
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn own_token<T: Thread>(t: T, z: u32) -> (u32, u32) {
    Token::own_of_leading(t.highest_bit_or_3(z), z)
}
