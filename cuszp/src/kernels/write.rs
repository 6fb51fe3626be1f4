//! Random access (SC'24 cuSZp2, section VI-B): some consecutive blocks of a stream without header are coded anew, in place. Their
//! bodies must have the lengths of the old ones; in AATROX those of a layer together.
//!
//! The kernel runs twice. The first launch finds the places of bodies and compares the lengths. The second one stores the bodies,
//! or nothing if there was a fault: so a stream has all new blocks or none. No launch reads bytes that it stores.

use crate::PACKAGE;
use crate::cuszp::rate::Choice;
use crate::kernels::compress::{Elements, TileEncoder, choose};
use crate::kernels::decompress::{SHARED, SHARED_WORDS, TileDecoder};
use crate::kernels::{BareParams, Coder, LAYER_TILES, QUADS, Tile, tile_blocks};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::block::SignedGroup;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::shape::StaticShape;
use ferrosz_gpu_kernels::code::fixed_length::write_body;
use ferrosz_gpu_kernels::pipeline::blocks::compress::{first_and_others, is_first};
use ferrosz_gpu_kernels::pipeline::blocks::groups;
use ferrosz_gpu_kernels::pipeline::blocks::{CHUNK_THREADS, CHUNK_WARPS};
use ferrosz_gpu_kernels::pipeline::cells::{self, Fault};
use ferrosz_gpu_kernels::primitives::element::by_width;
use ferrosz_gpu_kernels::primitives::look_back::LookBackState;
use ferrosz_gpu_kernels::primitives::scan::block_sum;
use ferrosz_simt::{Kernel, Name, Package, Thread};

/// Replaces blocks of shape `S` by the values of their positions, block by block. Launched twice: to compare, with one block a
/// tile up to that of the last block, then to store, with one block for each tile that has some of the blocks.
pub struct BareWrite<E, S>(PhantomData<(E, S)>);

/// The parameters of [`BareWrite`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct WriteParams {
    /// The stream; its elements are the values that are read. [`cells::FAULT`] is raised with the number of a block, in AATROX
    /// of a layer, if a length differs or the stream ends before.
    pub bare: BareParams,
    /// The first block. In AATROX it is the first one of a layer.
    pub first: u32,
    /// The block behind the last. In AATROX it is the first one of a layer, or behind all.
    pub end: u32,
    /// 0 to compare, and not 0 to store.
    pub stores: u32,
}

/// The cell with the byte of the stream at which the first new body starts. In streams with tables the cell has their length; streams
/// without header have no tables.
const FIRST_BODY: u64 = cells::FREQUENCIES_WORDS;

/// The values of some blocks are in memory.
#[derive(Clone, Copy)]
struct OfBlocks {
    first: u32,
    end: u32,
    stores: bool,
}

impl OfBlocks {
    #[inline(always)]
    fn new(params: &WriteParams) -> Self {
        Self {
            first: params.first,
            end: params.end,
            stores: params.stores != 0,
        }
    }
}

impl Elements for OfBlocks {
    #[inline(always)]
    fn has(self, block: u32) -> bool {
        (self.first..self.end).contains(&block)
    }

    #[inline(always)]
    fn four<S: StaticShape>(self, block: u32, at: u32, _: u32) -> u64 {
        u64::from(block - self.first) * u64::from(groups::<S>() * QUADS) + u64::from(at)
    }

    #[inline(always)]
    fn one<S: StaticShape>(self, block: u32, at: u32, i: u32, _: u64) -> u64 {
        4 * self.four::<S>(block, at, 0) + u64::from(i)
    }

    #[inline(always)]
    fn stores_initials(self) -> bool {
        self.stores
    }
}

impl<E: Element, S: StaticShape> Kernel for BareWrite<E, S> {
    type Params = WriteParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_bare_write", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = SHARED_WORDS;
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &WriteParams) {
        match params.stores {
            0 => Self::compare(t, params),
            _ => Self::store(t, params),
        }
    }
}

/// The new block of a thread.
#[derive(Clone, Copy)]
struct NewBlock {
    group: SignedGroup,
    choice: Choice,
    /// Its form, and the bytes of its body; without any if this is no new block.
    rate: RateByte,
    bytes: u32,
}

impl<E: Element, S: StaticShape> BareWrite<E, S> {
    /// This thread's block. For whole warps.
    #[inline(always)]
    fn encode<T: Thread>(
        t: T,
        encoder: &TileEncoder<'_, E, S, OfBlocks>,
        coder: Coder,
        is_new: bool,
    ) -> NewBlock {
        let group = SignedGroup::split(&encoder.differences(t, coder));
        let (first, others) = first_and_others::<T, S>(t, &group);
        let choice = choose::<S>(coder, first, others);
        let rate = match is_new {
            true => coder.kind::<S>().rate(choice.byte),
            false => RateByte::default(),
        };
        NewBlock {
            group,
            choice,
            rate,
            bytes: rate.body_bytes(groups::<S>()),
        }
    }

    /// Only the first thread of a block counts.
    #[inline(always)]
    fn of_block<T: Thread>(t: T, bytes: u32) -> u32 {
        if is_first::<T, S>(t) { bytes } else { 0 }
    }

    /// Finds the places of the tile's new bodies, and compares their lengths with those of the old ones.
    #[inline(always)]
    fn compare<T: Thread>(t: T, params: &WriteParams) {
        let bare = &params.bare;
        let decoder = TileDecoder::<E, S>::take(t, bare);
        let (tile, coder) = (decoder.tile, decoder.coder);
        let old = decoder.read_rate(t).body_bytes(groups::<S>());
        // The bytes of all bodies, and in the high half those before the new ones: a tile has less than 2^16.
        let halves = if tile.block < params.first {
            0x1_0001
        } else {
            1
        };
        let own = Self::of_block(t, old) * halves;
        let sums = block_sum::<T, CHUNK_WARPS>(t, own, SHARED.sums);
        let (total, before) = (sums.total & 0xffff, sums.total >> 16);
        let start = bare.payload_start + decoder.find_start(t, total);
        // Of tiles: the same for all threads of the block.
        if (tile.number as u32 + 1) * tile_blocks::<S>() <= params.first {
            return;
        }
        let of_blocks = OfBlocks::new(params);
        let is_new = of_blocks.has(tile.block);
        let encoder = TileEncoder::<E, S, _>::new(bare, tile, of_blocks);
        let new = Self::encode(t, &encoder, coder, is_new);
        let mut change = 0;
        if is_new {
            change = Self::of_block(t, new.choice.booked.wrapping_sub(old));
        }
        if coder.is_aatrox() {
            Self::compare_layer(t, params, &decoder, change);
        } else if change != 0 {
            Self::report(t, params, u64::from(tile.block), ChunkFault::Length);
        }
        if t.thread_index() == 0 {
            if start + u64::from(total) > 4 * bare.stream.len() {
                Self::report(t, params, u64::from(tile.block), ChunkFault::Place);
            }
            if tile.number == Self::first_tile(params) {
                let place = start + u64::from(before);
                t.atomic_store(bare.cells, FIRST_BODY, place);
            }
        }
    }

    /// Compares the length of a layer, of whose blocks this thread's is longer by `change` bytes.
    #[inline(always)]
    fn compare_layer<T: Thread>(
        t: T,
        params: &WriteParams,
        decoder: &TileDecoder<'_, E, S>,
        change: u32,
    ) {
        let tile = decoder.tile;
        let own = block_sum::<T, CHUNK_WARPS>(t, change, SHARED.layer_sums);
        let before = decoder.layer_sum(t, own.total, || 0);
        let is_last = tile.number % LAYER_TILES == LAYER_TILES - 1;
        if is_last && t.thread_index() == 0 && before.wrapping_add(own.total) != 0 {
            Self::report(t, params, tile.number / LAYER_TILES, ChunkFault::Length);
        }
    }

    /// Stores the new bodies where the old ones are, and their rate bytes.
    #[inline(always)]
    fn store<T: Thread>(t: T, params: &WriteParams) {
        let bare = &params.bare;
        if t.atomic_load(bare.cells, cells::FAULT) != 0 {
            return;
        }
        let first = Self::first_tile(params) as u32;
        let (tile, coder) = (Tile::at::<T, S>(t, first + t.block_index()), bare.coder());
        let of_blocks = OfBlocks::new(params);
        let is_new = of_blocks.has(tile.block);
        let encoder = TileEncoder::<E, S, _>::new(bare, tile, of_blocks);
        let new = Self::encode(t, &encoder, coder, is_new);
        let own = Self::of_block(t, new.bytes);
        let sums = block_sum::<T, CHUNK_WARPS>(t, own, SHARED.sums);
        encoder.clear_image(t, coder, sums.total);
        let at = sums.before - (new.bytes - own);
        let codec = encoder.body_codec(coder);
        write_body(t, SHARED.image, S::SHAPE, new.group, new.rate, at, codec);
        if is_new && is_first::<T, S>(t) {
            t.store_byte(bare.stream, u64::from(tile.block), new.choice.byte);
        }
        t.barrier();
        encoder.copy_image(t, Self::place(t, params, tile), sums.total);
    }

    /// The byte of the stream at which the first new body of a tile starts.
    #[inline(always)]
    fn place<T: Thread>(t: T, params: &WriteParams, tile: Tile) -> u64 {
        let bare = &params.bare;
        if tile.number == Self::first_tile(params) {
            return t.atomic_load(bare.cells, FIRST_BODY);
        }
        let before = t.atomic_load(bare.cells, cells::STATES + tile.number - 1);
        match LookBackState::from_cell(before) {
            LookBackState::Inclusive(bytes) => bare.payload_start + bytes,
            _ => bare.payload_start,
        }
    }

    /// The tile of the first new block.
    #[inline(always)]
    fn first_tile(params: &WriteParams) -> u64 {
        u64::from(params.first / tile_blocks::<S>())
    }

    #[inline(always)]
    fn report<T: Thread>(t: T, params: &WriteParams, number: u64, fault: ChunkFault) {
        let fault = Fault::Chunk(number, fault as u32);
        t.atomic_max(params.bare.cells, cells::FAULT, fault.to_cell());
    }
}
