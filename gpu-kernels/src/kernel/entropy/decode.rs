//! Decodes chunks: one warp each, the lanes being the stacks.
//!
//! A step costs a look-up of the symbol and one of its entry, and of each pop a vote: it tells each lane how many
//! others take a word before it. The words wait in a ring in shared memory, of 128 for each warp, and those that
//! follow are on their way in registers.
//!
//! Whatever the stream holds, no access leaves it, the tables or the output, and all lanes take the same way: a
//! chunk whose parts contradict each other is reported, and its codes are 0.

use crate::kernel::entropy::decode_tables::{CONTEXT_BYTES, DECODE_WORDS, SLOT_BYTES, USED};
use crate::kernel::entropy::place::stacks::HEAD_WORDS;
use crate::kernel::entropy::target::{DecodeParams, Image, Target, check_end};
use crate::kernel::entropy::walk::{OfGroups, QUAD_STEPS, QUADS, Quad};
use crate::kernel::entropy::{THREADS, WARPS, first_of_warp, kept_shared_address};
use crate::scan::{warp_inclusive_sum, warp_sum_u64};
use crate::simt::{Thread, WARP};
use core::marker::PhantomData;
use ferrosz_codec::entropy::class::FIRST_CLASSES;
use ferrosz_codec::entropy::stack::{
    START, SymbolCoder, WORD_BITS, needs_refill, refill, slot_of, state, top_bits,
};
use ferrosz_codec::entropy::token::{RAW, Token};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::stream::checksum::term;
use ferrosz_codec::stream::chunk::Form;
use ferrosz_codec::stream::table::seed;
use ferrosz_codec::stream::tiles::FIRST_ENTRY;

/// Decodes tiles of shape `S` with coder `C`. Launched with at least as many warps as there are chunks.
pub struct Decode<C, S>(PhantomData<(C, S)>);

/// Half words of a warp's ring.
const RING: u32 = 128;
/// Half words that a warp brings into its ring at once: no step takes more.
const BATCH: u32 = 2 * WARP;

/// The first word of the rings in shared memory.
const RINGS: u32 = DECODE_WORDS.next_multiple_of(RING / 2);

impl<C: SymbolCoder, S: StaticShape> Decode<C, S> {
    /// Words of shared memory: the tables, and the rings.
    pub const SHARED_WORDS: u32 = RINGS + WARPS * RING / 2;

    /// What one thread does.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &DecodeParams) {
        let mut unit = t.thread_index();
        while unit < DECODE_WORDS / 4 {
            t.shared_store4(4 * unit, t.load4(params.tables, u64::from(unit)));
            unit += THREADS;
        }
        t.barrier();
        let chunk = first_of_warp(t);
        if chunk < params.tiling.chunks() {
            let target = Target::<S>::new(params, chunk, [0, 1]);
            if let Err(fault) = target.decode::<T, C>(t) {
                target.report(t, fault);
                target.clear(t);
            }
        }
    }
}

impl<S: StaticShape> Target<'_, S> {
    /// Decodes the chunk.
    #[inline(always)]
    fn decode<T: Thread, C: SymbolCoder>(&self, t: T) -> Result<(), ChunkFault> {
        let (entry, image) = self.find(t)?;
        if self.params.verify != 0 && self.checksum(t, entry.form, image) != entry.checksum {
            return Err(ChunkFault::Checksum);
        }
        match Form::from_id(entry.form) {
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

    #[inline(always)]
    fn checksum<T: Thread>(&self, t: T, form: u32, image: Image) -> u64 {
        let mut sum = 0u64;
        let mut at = t.lane();
        while at < image.words {
            sum = sum.wrapping_add(term(at, t.load(image.view, u64::from(at))));
            at += WARP;
        }
        seed(FIRST_ENTRY + self.chunk, form).wrapping_add(warp_sum_u64(t, sum))
    }

    /// Decodes the codes of a coded chunk; whether some may be [`RAW`], and where the image has their values.
    #[inline(always)]
    fn decode_coded<T: Thread, C: SymbolCoder>(
        &self,
        t: T,
        image: Image,
    ) -> Result<(bool, u32), ChunkFault> {
        let (mut stacks, count, values_at) = Stacks::<C>::read(t, image)?;
        for tile in 0..t.opaque(self.tiles) {
            self.decode_tile(t, &mut stacks, tile)?;
        }
        if stacks.next != count {
            return Err(ChunkFault::Length);
        }
        if t.any(stacks.x != START) {
            return Err(ChunkFault::Stack);
        }
        Ok((t.any(stacks.has_raws), values_at))
    }

    #[inline(always)]
    fn decode_tile<T: Thread, C: SymbolCoder>(
        &self,
        t: T,
        stacks: &mut Stacks<C>,
        tile: u32,
    ) -> Result<(), ChunkFault> {
        let tiling = &self.params.tiling;
        let classes = stacks.pop_classes(t, tiling.order.groups())?;
        let contexts = OfGroups {
            first: stacks.context(classes.first),
            rest: stacks.context(classes.rest),
        };
        let place = tiling.tile(self.chunk, tile).place;
        for number in 0..t.opaque(QUADS) {
            let quad = Quad::of::<_, S>(t, &tiling.order, &place, number, contexts);
            let in_chunk = tile * QUADS + number;
            if quad.any == 0 {
                self.clear_quad(t, in_chunk);
                continue;
            }
            for step in 0..QUAD_STEPS {
                let mut z = 0;
                if quad.any >> step & 1 == 1 {
                    z = stacks.pop_code(t, quad.of_step(step), quad.is_active(step));
                }
                // LLVM would keep 16 bits apart from the others.
                let z = t.opaque(z) as u16;
                t.store_half(self.region, Self::code(t, in_chunk, step), z);
            }
        }
        Ok(())
    }
}

/// The stacks of a chunk, of which this lane has one.
struct Stacks<C> {
    /// The addresses of the tables and of the warp's ring in shared memory.
    tables: u32,
    ring: u32,
    /// The lane's state.
    x: u32,
    /// Half words that all lanes have taken.
    next: u32,
    /// Half words that have come into the ring, less a batch: as many as may be taken before it needs the next.
    limit: u32,
    /// This lane's words of the two batches that follow.
    ahead: [u32; 2],
    /// The image from the first of the words on, and how many there are.
    words: Image,
    /// Whether this lane had a code that is [`RAW`].
    has_raws: bool,
    coder: PhantomData<C>,
}

impl<C: SymbolCoder> Stacks<C> {
    /// The stacks of a chunk, the number of its half words, and the word of the image that its values begin at.
    #[inline(always)]
    fn read<T: Thread>(t: T, image: Image) -> Result<(Self, u32, u32), ChunkFault> {
        let count = image.word(t, 0);
        let spare = image.word(t, 1 + t.lane() / 8) >> (4 * (t.lane() % 8)) & 15;
        let bits = WORD_BITS + spare;
        let inclusive = warp_inclusive_sum(t, bits);
        let words_at = HEAD_WORDS + t.shuffle(inclusive, WARP - 1).div_ceil(32);
        // What is beyond the longest image, is so after this too, and without overflow.
        let values_at = words_at + count.min(4 * image.words).div_ceil(2);
        if words_at > image.words || values_at > image.words {
            return Err(ChunkFault::Length);
        }
        let at = inclusive - bits;
        let word = |i| u64::from(image.word(t, HEAD_WORDS + at / 32 + i));
        let stored = (word(1) << 32 | word(0)) >> (at % 32);
        let words = Image {
            view: image.view.from(u64::from(words_at)),
            words: count.div_ceil(2),
        };
        let mut stacks = Self {
            tables: kept_shared_address(t, 0),
            ring: kept_shared_address(t, Self::ring(t)),
            x: state(spare, stored as u32),
            next: 0,
            limit: BATCH.wrapping_neg(),
            ahead: [words.word(t, t.lane()), words.word(t, WARP + t.lane())],
            words,
            has_raws: false,
            coder: PhantomData,
        };
        stacks.fill(t);
        Ok((stacks, count, values_at))
    }

    /// The first word of the warp's ring in shared memory.
    #[inline(always)]
    fn ring<T: Thread>(t: T) -> u32 {
        RINGS + t.warp() * (RING / 2)
    }

    /// The address of the slots of a class, which is not 0 itself; 0 for class 0.
    #[inline(always)]
    const fn context(&self, class: u32) -> u32 {
        if class == 0 {
            0
        } else {
            self.tables + class * CONTEXT_BYTES
        }
    }

    /// Brings a batch into the ring.
    #[inline(always)]
    fn fill<T: Thread>(&mut self, t: T) {
        t.sync_warp();
        let filled = self.limit.wrapping_add(BATCH);
        let at = Self::ring(t) + filled % RING / 2 + t.lane();
        t.shared_store(at, self.ahead[0]);
        self.limit = filled;
        let word = filled / 2 + 2 * WARP + t.lane();
        self.ahead = [self.ahead[1], self.words.word(t, word)];
        t.sync_warp();
    }

    /// Sees to it that the ring has the words of the next step.
    #[inline(always)]
    fn ensure<T: Thread>(&mut self, t: T) {
        if self.next > self.limit {
            self.fill(t);
        }
    }

    /// Gives a word to each lane whose state has become small.
    #[inline(always)]
    fn refill<T: Thread>(&mut self, t: T, is_low: bool) {
        let low = t.ballot(is_low);
        let before = (low & ((1 << t.lane()) - 1)).count_ones();
        if is_low {
            // The ring's address is a multiple of its length.
            let at = self.ring | ((2 * (self.next + before)) % (2 * RING));
            self.x = refill(self.x, t.shared_load_half_at(at));
        }
        self.next += low.count_ones();
    }

    /// The symbol on top, and the state without it. The context's slots begin at the address `slots`.
    #[inline(always)]
    fn top<T: Thread>(&self, t: T, slots: u32) -> (u32, u32) {
        let symbol = t.shared_load_byte_at(slots + slot_of(self.x));
        let entry = t.shared_load_at(slots + SLOT_BYTES + 4 * symbol);
        (symbol, C::pop(self.x, entry))
    }

    /// Pops the code of a step, 0 in a lane that has none.
    #[inline(always)]
    fn pop_code<T: Thread>(&mut self, t: T, context: u32, is_active: bool) -> u32 {
        self.ensure(t);
        // A lane that has none looks something up all the same.
        let slots = if is_active { context } else { self.tables };
        let (token, x) = self.top(t, slots);
        let mut z = 0;
        if is_active {
            self.x = x;
            z = token;
        }
        self.refill(t, needs_refill(self.x));
        if t.any(Token::bits(z) > 0) {
            let bits = Token::bits(z);
            z = Token::code(z, top_bits(self.x, bits));
            self.x >>= bits;
            self.refill(t, needs_refill(self.x));
            self.has_raws |= z == RAW;
        }
        z
    }

    /// Pops the classes of a tile's groups.
    #[inline(always)]
    fn pop_classes<T: Thread>(&mut self, t: T, groups: u32) -> Result<OfGroups, ChunkFault> {
        self.ensure(t);
        let first = self.pop_class(t, true);
        let rest = self.pop_class(t, t.lane() < groups - FIRST_CLASSES);
        // Context 0 is that of the classes.
        let used = t.shared_load(USED);
        let is_known = used & used >> (first & 31) & used >> (rest & 31) & 1 == 1;
        if t.any(!is_known) {
            return Err(ChunkFault::Symbol);
        }
        Ok(OfGroups { first, rest })
    }

    /// Pops a class; 0 in a lane that is not active.
    #[inline(always)]
    fn pop_class<T: Thread>(&mut self, t: T, is_active: bool) -> u32 {
        let (class, x) = self.top(t, self.tables);
        if is_active {
            self.x = x;
        }
        self.refill(t, is_active && needs_refill(self.x));
        if is_active { class } else { 0 }
    }
}
