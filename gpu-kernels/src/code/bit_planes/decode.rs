//! Decodes chunks of bit planes: one thread block each.
//!
//! Whatever the stream holds, no access leaves it or the output, and all threads take the same way: a chunk whose
//! parts contradict each other is reported, and its codes are 0.

use crate::PACKAGE;
use crate::code::bit_planes::{CHUNK_MASKS, STRIPES, Stripe, TILE_MASKS, TILE_TOPS};
use crate::code::entropy::walk::QUAD_STEPS;
use crate::code::entropy::{THREADS, WARPS};
use crate::pipeline::tiles::target::{DecodeParams, Image, Target, check_end};
use crate::primitives::bits::BitsOf;
use crate::primitives::scan::{block_sum, store_warp_sum_u64, sum_of_warps, warp_inclusive_sum};
use core::marker::PhantomData;
use ferrosz_codec::code::bit_planes::{BLOCK_STEPS, PLANES, exchange_raw};
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::code::fixed_length::bit_plane::set_rows;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::shape::{GROUP, StaticShape};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, WARP};

/// Decodes chunks in tiles of shape `S`. Launched with a block for each chunk, or for each number of the list of chunks.
pub struct DecodePlanes<S>(PhantomData<S>);

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    /// The chunk's masks, and for each where its words begin in the image.
    masks: Shared<u32>,
    offsets: Shared<u32>,
    sums: Shared<u32>,
    checksums: Shared<u64>,
}

impl Scratch {
    const SHARED: (Self, Layout) = {
        let mut layout = Layout::new();
        let scratch = Self {
            masks: layout.array("masks", CHUNK_MASKS),
            offsets: layout.array("offsets", CHUNK_MASKS),
            sums: layout.array("sums", WARPS),
            checksums: layout.array("checksums", WARPS),
        };
        (scratch, layout)
    };
}

const SHARED: Scratch = Scratch::SHARED.0;

impl<S: StaticShape> Kernel for DecodePlanes<S> {
    type Params = DecodeParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_entropy_planes_decode", S::NAME]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Scratch::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 2;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &DecodeParams) {
        let Some(chunk) = params.chunk(t, u64::from(t.block_index())) else {
            return;
        };
        let target = Target::<S>::new(params, chunk, [t.warp(), WARPS]);
        let mut result = target.decode_planes(t);
        t.barrier();
        if let Ok((image, values_at, has_values)) = result {
            // One warp alone: they lie one behind the other.
            let mut is_wrong = false;
            if t.warp() == 0 {
                let copied = if has_values {
                    target.copy_values(t, image, values_at)
                } else {
                    check_end(image, values_at)
                };
                is_wrong = copied.is_err();
            }
            if t.barrier_or(is_wrong) {
                result = Err(ChunkFault::Length);
            }
        }
        if let Err(fault) = result {
            if t.warp() == 0 {
                target.report(t, fault);
            }
            target.clear(t);
        }
    }
}

/// An image, the word of it that the values begin at, and whether there may be any.
type Decoded = (Image, u32, bool);

impl<S: StaticShape> Target<'_, S> {
    /// Decodes the codes of the chunk. For the whole block, all of which gets the same fault.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn decode_planes<T: Thread>(&self, t: T) -> Result<Decoded, ChunkFault> {
        let (entry, image) = self.find(t)?;
        if self.params.verify != 0 && self.checksum_of_block(t, entry.form, image) != entry.checksum
        {
            return Err(ChunkFault::Checksum);
        }
        match Form::from_id(entry.form) {
            Some(Form::Zero) if image.words == 0 => {
                self.clear(t);
                Ok((image, 0, false))
            }
            Some(Form::Raw) if image.words == self.raw_words(t) => {
                self.set_raw(t);
                Ok((image, 0, true))
            }
            Some(Form::Zero | Form::Raw) => Err(ChunkFault::Length),
            Some(Form::Coded) => self.read_planes(t, image),
            _ => Err(ChunkFault::Form),
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn checksum_of_block<T: Thread>(&self, t: T, form: u32, image: Image) -> u64 {
        let sum = image.checksum_part(t, t.thread_index(), THREADS);
        store_warp_sum_u64(t, sum, SHARED.checksums);
        t.barrier();
        let sum = sum_of_warps::<T, { WARPS as usize }>(t, SHARED.checksums);
        self.seed(t, form).wrapping_add(sum)
    }

    /// Decodes the codes of a coded chunk. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read_planes<T: Thread>(&self, t: T, image: Image) -> Result<Decoded, ChunkFault> {
        let values_at = self.read_masks(t, image)?;
        let (mut fault, mut has_values) = (Ok(()), false);
        let mut number = t.warp();
        while number < self.tiles * STRIPES {
            match self.read_stripe(t, image, Stripe::of(number)) {
                Ok(has_raws) => has_values |= has_raws,
                Err(found) => fault = Err(found),
            }
            number += WARPS;
        }
        if t.barrier_or(fault == Err(ChunkFault::Zeros)) {
            return Err(ChunkFault::Zeros);
        }
        if t.barrier_or(fault.is_err()) {
            return Err(ChunkFault::Symbol);
        }
        Ok((image, values_at, t.barrier_or(has_values)))
    }

    /// Reads the masks, and finds where the words of each begin; where the last ones end. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read_masks<T: Thread>(&self, t: T, image: Image) -> Result<u32, ChunkFault> {
        let tops = self.tiles * TILE_TOPS;
        let top = if t.lane() < tops {
            image.word(t, t.lane())
        } else {
            0
        };
        let masks_to = warp_inclusive_sum(t, top.count_ones());
        let masks_end = tops + t.shuffle(masks_to, WARP - 1);
        let (mut words_before, mut is_wrong) = (masks_end, false);
        for round in 0..t.opaque(self.tiles * TILE_MASKS / THREADS) {
            let number = round * THREADS + t.thread_index();
            // All masks of a warp are of one top.
            let own_top = t.shuffle(top, number / WARP);
            let end = t.shuffle(masks_to, number / WARP);
            let before = end - (own_top >> t.lane()).count_ones();
            let mask = if own_top >> t.lane() & 1 == 1 {
                let mask = image.word(t, tops + before);
                is_wrong |= mask == 0;
                mask
            } else {
                0
            };
            t.barrier();
            let sum = block_sum::<T, { WARPS as usize }>(t, mask.count_ones(), SHARED.sums);
            SHARED.masks.store(t, number, mask);
            SHARED.offsets.store(t, number, words_before + sum.before);
            words_before += sum.total;
        }
        let is_short = words_before > image.words || tops > image.words;
        if t.barrier_or(is_wrong && !is_short) {
            return Err(ChunkFault::Zeros);
        }
        if is_short {
            return Err(ChunkFault::Length);
        }
        Ok(words_before)
    }

    /// Decodes the codes of a stripe; whether any of this lane is [`RAW`]. For a warp, all of which gets the same
    /// fault.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read_stripe<T: Thread>(
        &self,
        t: T,
        image: Image,
        stripe: Stripe,
    ) -> Result<bool, ChunkFault> {
        let mut is_wrong = false;
        let rows: [u32; PLANES as usize] = core::array::from_fn(|plane| {
            let number = stripe.mask(plane as u32);
            let mask = SHARED.masks.load(t, number);
            if mask >> t.lane() & 1 == 0 {
                return 0;
            }
            let before = (mask & ((1 << t.lane()) - 1)).count_ones();
            let word = image.word(t, SHARED.offsets.load(t, number) + before);
            is_wrong |= word == 0;
            word
        });
        let mut values = [0; GROUP];
        set_rows(BitsOf(t), &mut values, 0, core::array::from_fn(|i| rows[i]));
        set_rows(
            BitsOf(t),
            &mut values,
            1,
            core::array::from_fn(|i| rows[8 + i]),
        );
        let (mut is_astray, mut has_raws) = (false, false);
        let first = stripe.step() / QUAD_STEPS;
        for i in 0..(BLOCK_STEPS / QUAD_STEPS) as usize {
            let number = first + i as u32;
            let quad = self.positions(t, number);
            for step in 0..QUAD_STEPS {
                let value = values[i * QUAD_STEPS as usize + step as usize];
                let z = exchange_raw(value.cast_unsigned() & 0xffff);
                is_astray |= z != 0 && !quad.is_active(step);
                has_raws |= z == RAW;
                let z = t.opaque(z) as u16;
                t.store_half(self.region, Self::code(t, number, step), z);
            }
        }
        if t.any(is_wrong) {
            return Err(ChunkFault::Zeros);
        }
        if t.any(is_astray) {
            return Err(ChunkFault::Symbol);
        }
        Ok(has_raws)
    }
}
