//! Decodes chunks: one warp each, the lanes being the states.
//!
//! A step costs a look-up of the symbol and one of its entry, and of a pop a vote: it tells each lane how many
//! others take a word before it. Words wait in a ring in shared memory, which is filled up once or twice a quad, and those
//! that follow are on their way in registers.
//!
//! A code may have bits that were pushed alone, before its symbol. Few codes have such bits. So a quad is first popped without
//! a vote on them in each step, and popped again, with these votes, if a lane has some.
//!
//! Lanes without a code in a step have a context of their own, whose one symbol changes no state.
//!
//! Whatever the stream holds, no access leaves it, the tables or the output, and all lanes take the same way: a
//! chunk whose parts contradict each other is reported, and its codes are 0.

use crate::PACKAGE;
use crate::code::entropy::decode_tables::{
    CONTEXT_BYTES, DECODE_WORDS, SLOT_BYTES, SYMBOL_BYTES, USED, bits_alone, bits_with_symbol,
};
use crate::code::entropy::walk::{OfCells, OfZones, QUAD_STEPS, QUADS, Quad, shifts_of};
use crate::code::entropy::words::HEAD_WORDS;
use crate::code::entropy::{THREADS, WARPS, bring_tables, first_of_warp};
use crate::pipeline::tiles::target::{DecodeParams, Image, Target, check_end};
use crate::primitives::scan::{warp_inclusive_sum, warp_sum_u64};
use core::marker::PhantomData;
use ferrosz_codec::code::entropy::class::FIRST_CLASSES;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::code::entropy::states::{
    START, SymbolCoder, WORD_BITS, needs_refill, refill, slot_of, state, top_bits,
};
use ferrosz_codec::code::entropy::token::{RAW, SLOTS};
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::{TileBox, TileOrder};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, SharedAddress, Thread, WARP};

/// Decodes tiles of shape `S` with coder `C`. Launched with at least as many warps as there are chunks, or numbers in their list.
pub struct Decode<C, S>(PhantomData<(C, S)>);

/// Words of a warp's ring.
const RING_WORDS: u32 = 256;
/// Steps before which the ring is filled up, if a lane may take two words a step: one with the symbol, and one with the bits
/// that were pushed alone.
const STRETCH: u32 = QUAD_STEPS / 2;
/// Bytes that a warp takes at most between two fillings: in [`STRETCH`] steps, or in a quad if a lane takes one word a step.
const MOST_BYTES: u32 = QUAD_STEPS * 2 * WARP;

/// Words that each lane brings into the ring at once.
const OWN_WORDS: usize = 2;
/// Words that a warp brings into its ring at once.
const BATCH_WORDS: u32 = OWN_WORDS as u32 * WARP;

const _: () = assert!(STRETCH * 4 * WARP == MOST_BYTES);
const _: () = assert!(MOST_BYTES + 4 * BATCH_WORDS <= 4 * RING_WORDS);
const _: () = assert!(RING_WORDS.is_multiple_of(BATCH_WORDS));
const _: () = assert!(16 * THREADS == SLOT_BYTES);

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    tables: Shared<u32>,
    /// The context of lanes that have nothing to decode: slots, and one symbol.
    nothing: Shared<u32>,
    /// A ring for each warp, each at a multiple of its length.
    rings: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let tables = layout.array("tables", DECODE_WORDS);
    let nothing = layout.array("context of nothing", (SLOT_BYTES + SYMBOL_BYTES) / 4);
    layout.align(RING_WORDS);
    let scratch = Scratch {
        tables,
        nothing,
        rings: layout.array("rings", WARPS * RING_WORDS),
    };
    (scratch, layout)
};

impl<C: SymbolCoder, S: StaticShape> Kernel for Decode<C, S> {
    type Params = DecodeParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_entropy_decode", C::NAME, S::NAME]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 2;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &DecodeParams) {
        let Scratch {
            tables, nothing, ..
        } = SHARED.0;
        bring_tables(t, params.tables, tables);
        nothing.store4(t, 4 * t.thread_index(), [0; 4]);
        if t.thread_index() < SYMBOL_BYTES / 4 {
            let word = match t.thread_index() {
                0 => C::entry(SLOTS, 0),
                _ => 0,
            };
            nothing.store(t, SLOT_BYTES / 4 + t.thread_index(), word);
        }
        t.barrier();
        if let Some(chunk) = params.chunk(t, first_of_warp(t)) {
            let target = Target::<S>::new(params, chunk, [0, 1]);
            if let Err(fault) = target.decode::<T, C>(t) {
                target.report(t, fault);
                // Other lanes have stored codes where this one clears them.
                t.sync_warp();
                target.clear(t);
            }
        }
    }
}

impl<S: StaticShape> Target<'_, S> {
    /// Decodes the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn decode<T: Thread, C: SymbolCoder>(&self, t: T) -> Result<(), ChunkFault> {
        let (entry, image) = self.find(t)?;
        let form = t.shuffle(entry.form, 0);
        if self.params.verify != 0 {
            let checksum = self.checksum(t, form, image);
            if t.any(checksum != entry.checksum) {
                return Err(ChunkFault::Checksum);
            }
        }
        match Form::from_id(form) {
            Some(Form::Zero) if image.words == 0 => {
                self.clear(t);
                Ok(())
            }
            Some(Form::Raw) if image.words == self.raw_words(t) => {
                self.set_raw(t);
                self.copy_values(t, image, 0)
            }
            Some(Form::Zero | Form::Raw) => Err(ChunkFault::Length),
            Some(Form::Coded) => {
                let (has_values, values_at) = self.decode_coded::<T, C>(t, image)?;
                if has_values {
                    self.copy_values(t, image, values_at)
                } else {
                    check_end(image, values_at)
                }
            }
            _ => Err(ChunkFault::Form),
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn checksum<T: Thread>(&self, t: T, form: u32, image: Image) -> u64 {
        let sum = image.checksum_part(t, t.lane(), WARP);
        self.seed(t, form).wrapping_add(warp_sum_u64(t, sum))
    }

    /// Decodes the codes of a coded chunk; whether some may be [`RAW`], and where the image has their values.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn decode_coded<T: Thread, C: SymbolCoder>(
        &self,
        t: T,
        image: Image,
    ) -> Result<(bool, u32), ChunkFault> {
        let (mut states, count, values_at) = States::<C>::read(t, image)?;
        for tile in 0..t.opaque(self.tiles) {
            self.decode_tile(t, &mut states, tile)?;
        }
        if t.any(states.next != 2 * count) {
            return Err(ChunkFault::Length);
        }
        if t.any(states.x != START) {
            return Err(ChunkFault::State);
        }
        Ok((t.any(states.greatest == RAW), values_at))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn decode_tile<T: Thread, C: SymbolCoder>(
        &self,
        t: T,
        states: &mut States<C>,
        tile: u32,
    ) -> Result<(), ChunkFault> {
        let tiling = &self.params.tiling;
        let order = tiling.order.of_shape::<S>();
        let mut position = tiling.tile(self.chunk, tile).position;
        // Without this, LLVM would keep and compare 64 bits of each length.
        position.left = position.left.map(|left| t.opaque(left));
        let shifts = shifts_of(t, self.params.parameters);
        let classes = states.pop_classes(t, &order, shifts, &position)?;
        let contexts = OfCells::of_contexts(t, &order, shifts, classes, |context| {
            states.context(context).bytes()
        });
        // A vote, so that NVIDIA's assembler knows that all lanes have the same.
        let of_tile = (&position, t.any(position.is_complete(S::SHAPE)));
        let first = tile * QUADS;
        for number in first..first + t.opaque(QUADS) {
            let quad = Quad::of::<_, S>(t, &order, of_tile, number % QUADS, contexts);
            if quad.any == 0 {
                self.clear_quad(t, number);
                continue;
            }
            let codes = states.pop_quad(t, &quad);
            for (step, z) in (0..).zip(&codes) {
                // Without this, LLVM would hold the low 16 bits in a register of their own.
                let z = t.opaque(*z) as u16;
                t.store_half(self.region, Self::code(t, number, step), z);
            }
        }
        Ok(())
    }
}

/// The states of a chunk, of which this lane has one.
struct States<C> {
    /// The addresses of the tables and of the warp's ring.
    tables: SharedAddress,
    ring: SharedAddress,
    /// The lane's state.
    x: u32,
    /// Bytes that all lanes have taken.
    next: u32,
    /// Bytes that have come into the ring.
    filled: u32,
    /// This lane's words of the batch that follows; anything, where there are none.
    ahead: [u32; OWN_WORDS],
    /// The image, where the words begin in it, and how many there are.
    image: Image,
    words_at: u32,
    words: u32,
    /// The greatest code that this lane has had.
    greatest: u32,
    /// Whether the last quad had bits that were pushed alone. Then the next one is likely to.
    expects_alone: bool,
    coder: PhantomData<C>,
}

impl<C: SymbolCoder> States<C> {
    /// The states of a chunk, the number of its half words, and the word of the image that its values begin at.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read<T: Thread>(t: T, image: Image) -> Result<(Self, u32, u32), ChunkFault> {
        let count = t.shuffle(image.word(t, 0), 0);
        let spare = image.word(t, 1 + t.lane() / 8) >> (4 * (t.lane() % 8)) & 15;
        let bits = WORD_BITS + spare;
        let inclusive = warp_inclusive_sum(t, bits);
        let words_at = HEAD_WORDS + t.shuffle(inclusive, WARP - 1).div_ceil(32);
        // A count beyond the longest image stays beyond it after this, and without overflow.
        let values_at = words_at + count.min(4 * image.words).div_ceil(2);
        if t.any(words_at > image.words || values_at > image.words) {
            return Err(ChunkFault::Length);
        }
        let at = inclusive - bits;
        let word = |i| u64::from(image.word(t, HEAD_WORDS + at / 32 + i));
        let stored = (word(1) << 32 | word(0)) >> (at % 32);
        let mut states = Self {
            tables: SHARED.0.tables.kept_address(t),
            ring: Self::ring(t).kept_address(t),
            x: state(spare, stored as u32),
            next: 0,
            filled: 0,
            ahead: [0; OWN_WORDS],
            image,
            words_at,
            words: count.div_ceil(2),
            greatest: 0,
            expects_alone: false,
            coder: PhantomData,
        };
        states.ahead = states.batch(t, 0);
        Ok((states, count, values_at))
    }

    /// This lane's words of the batch from word `first` on; anything, where there are none, so that nothing waits for
    /// them before they are used.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn batch<T: Thread>(&self, t: T, first: u32) -> [u32; OWN_WORDS] {
        core::array::from_fn(|i| {
            let at = self.words_at + Self::own_word(t, first, i);
            t.load(self.image.view, u64::from(at.min(self.image.words - 1)))
        })
    }

    /// The number of this lane's word `i` of the batch from word `first` on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn own_word<T: Thread>(t: T, first: u32, i: usize) -> u32 {
        first + i as u32 * WARP + t.lane()
    }

    /// The warp's ring.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn ring<T: Thread>(t: T) -> Shared<u32> {
        SHARED.0.rings.part(t.warp() * RING_WORDS, RING_WORDS)
    }

    /// The address of the slots of a context. Context 0 is here that of lanes that have nothing to decode.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn context(&self, context: u32) -> SharedAddress {
        if context == 0 {
            self.nothing()
        } else {
            self.tables + context * CONTEXT_BYTES
        }
    }

    /// The address of the slots of lanes that have nothing to decode.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn nothing(&self) -> SharedAddress {
        self.tables + SHARED.0.nothing.bytes_behind(SHARED.0.tables)
    }

    /// Fills up the ring until it has [`MOST_BYTES`] that no lane has taken yet.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn ensure<T: Thread>(&mut self, t: T) {
        if t.any(self.lacks_words()) {
            t.sync_warp();
            while t.any(self.lacks_words()) {
                self.fill(t);
            }
            t.sync_warp();
        }
    }

    /// Whether the ring has fewer than [`MOST_BYTES`] that no lane has taken yet.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    const fn lacks_words(&self) -> bool {
        self.next + MOST_BYTES > self.filled
    }

    /// Brings a batch into the ring, zeros behind the last word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn fill<T: Thread>(&mut self, t: T) {
        let first = self.filled / 4;
        for i in 0..OWN_WORDS {
            let is_word = Self::own_word(t, first, i) < self.words;
            let at = Self::own_word(t, first % RING_WORDS, i);
            Self::ring(t).store(t, at, if is_word { self.ahead[i] } else { 0 });
        }
        self.filled += 4 * BATCH_WORDS;
        self.ahead = self.batch(t, first + BATCH_WORDS);
    }

    /// The word that this lane takes if its state is low, as those of other lanes are. Anything, if it is not.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn take<T: Thread>(&mut self, t: T, is_low: bool) -> u32 {
        let low = t.ballot(is_low);
        let before = (low & ((1 << t.lane()) - 1)).count_ones();
        // The ring's address is a multiple of its length.
        let at = self.ring.bytes() | ((self.next + 2 * before) % (4 * RING_WORDS));
        self.next += 2 * low.count_ones();
        t.shared_load_half_at(SharedAddress::from_bytes(at))
    }

    /// Pops the codes of a quad, 0 where a lane has none.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pop_quad<T: Thread>(&mut self, t: T, quad: &Quad) -> [u32; QUAD_STEPS as usize] {
        let quick = if quad.is_full && !self.expects_alone {
            self.ensure(t);
            self.pop_with_symbols(t, quad)
        } else {
            None
        };
        let codes = match quick {
            Some(codes) => codes,
            None => self.pop_any(t, quad),
        };
        for z in codes {
            self.greatest = self.greatest.max(z);
        }
        codes
    }

    /// Pops the codes of any quad.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pop_any<T: Thread>(&mut self, t: T, quad: &Quad) -> [u32; QUAD_STEPS as usize] {
        let mut codes = [0; QUAD_STEPS as usize];
        let mut alone = 0;
        for step in 0..QUAD_STEPS {
            if step.is_multiple_of(STRETCH) {
                self.ensure(t);
            }
            if quad.any >> step & 1 == 1 {
                let [z, bits] = self.pop_code(t, quad.of_code(step));
                codes[step as usize] = z;
                alone |= bits;
            }
        }
        self.expects_alone = t.any(alone != 0);
        codes
    }

    /// Pops the codes of a full quad, unless one of them has bits that were pushed alone: then the states stay.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pop_with_symbols<T: Thread>(
        &mut self,
        t: T,
        quad: &Quad,
    ) -> Option<[u32; QUAD_STEPS as usize]> {
        let (x, next) = (self.x, self.next);
        let mut codes = [0; QUAD_STEPS as usize];
        let mut all = 0;
        for step in 0..QUAD_STEPS {
            let [z, code] = self.pop_symbol(t, quad.of_step(step));
            codes[step as usize] = z;
            all |= code;
        }
        if t.any(bits_alone(all) != 0) {
            (self.x, self.next) = (x, next);
            return None;
        }
        Some(codes)
    }

    /// Pops the code of a step, and how many of its bits were pushed alone. The slots of its context begin at the address
    /// `slots`.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pop_code<T: Thread>(&mut self, t: T, slots: u32) -> [u32; 2] {
        let [z, code] = self.pop_symbol(t, slots);
        let alone = bits_alone(code);
        if t.any(alone != 0) {
            [z | self.pop_bits(t, alone), alone]
        } else {
            [z, alone]
        }
    }

    /// Pops a symbol and the bits that were pushed with it: the code without those that were pushed alone, and the symbol's word
    /// in the table, which tells how many these are.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pop_symbol<T: Thread>(&mut self, t: T, slots: u32) -> [u32; 2] {
        let slots = SharedAddress::from_bytes(slots);
        let token = t.shared_load_byte_at(slots + slot_of(self.x));
        let [entry, code] = t.shared_load2_at(slots + SLOT_BYTES + SYMBOL_BYTES * token);
        self.x = C::pop(self.x, entry);
        [code >> 16 | self.pop_bits(t, bits_with_symbol(code)), code]
    }

    /// Takes bits off the state, and a word if it then needs one.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pop_bits<T: Thread>(&mut self, t: T, bits: u32) -> u32 {
        let value = top_bits(self.x, bits);
        let x = self.x >> bits;
        let is_low = needs_refill(x);
        let word = self.take(t, is_low);
        self.x = if is_low { refill(x, word) } else { x };
        value
    }

    /// Pops the classes of a tile's zones.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pop_classes<T: Thread>(
        &mut self,
        t: T,
        order: &TileOrder,
        shifts: Shifts,
        position: &TileBox,
    ) -> Result<OfZones, ChunkFault> {
        self.ensure(t);
        let first = self.pop_class(t, true);
        let rest = self.pop_class(t, t.lane() < order.zones() - FIRST_CLASSES);
        // Context 0 is that of the classes.
        let used = SHARED.0.tables.load(t, USED);
        let contexts =
            |class: u32, zone: u32| shifts.contexts_of_zone(order, position.left, zone, class);
        let needed = 1 | contexts(first, t.lane()) | contexts(rest, FIRST_CLASSES + t.lane());
        if t.any(used & needed != needed) {
            return Err(ChunkFault::Symbol);
        }
        Ok(OfZones { first, rest })
    }

    /// Pops a class; 0 in a lane that is not active.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn pop_class<T: Thread>(&mut self, t: T, is_active: bool) -> u32 {
        let slots = if is_active {
            self.tables
        } else {
            self.nothing()
        };
        let class = t.shared_load_byte_at(slots + slot_of(self.x));
        let entry = t.shared_load_at(slots + SLOT_BYTES + SYMBOL_BYTES * class);
        self.x = C::pop(self.x, entry);
        self.pop_bits(t, 0);
        class
    }
}
