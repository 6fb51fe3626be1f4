//! The kernel that writes the stream: alone, or as the last of three launches.

use crate::PACKAGE;
use crate::pass::access::{Access, Sharers, Words, copy_words};
use crate::pass::block_length::BlockLength;
use crate::pass::coded::CodedGroup;
use crate::pass::offsets::Offsets;
use crate::pass::{PassParams, SHARED, TILE_THREADS};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::shape::StaticShape;
use ferrosz_gpu_kernels::code::fixed_length::write_body;
use ferrosz_gpu_kernels::pipeline::blocks::compress::is_first;
use ferrosz_gpu_kernels::pipeline::blocks::{CHUNK_WARPS, groups};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::primitives::element::by_width;
use ferrosz_gpu_kernels::primitives::scan::block_sum;
use ferrosz_simt::{Kernel, Name, Package, Thread};

/// Compresses elements of `E`, with offsets `O`, accesses `A` and blocks of length `B`. Launched with one block a tile.
pub struct Pass<E, O, A, B>(PhantomData<(E, O, A, B)>);

impl<E: Element, O: Offsets, A: Access, B: BlockLength> Kernel for Pass<E, O, A, B> {
    type Params = PassParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_pass", O::NAME, A::NAME, B::NAME, E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = TILE_THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 2);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &PassParams) {
        let tile = O::tile(t, params.cells, SHARED.0.ticket);
        let coded = CodedGroup::read::<T, E, A, B>(t, params, tile);
        let (body, own) = (coded.body_bytes::<B>(), coded.own_bytes::<T, B>(t));
        let sums = block_sum::<T, CHUNK_WARPS>(t, own, SHARED.0.sums);
        O::publish(t, params.cells, tile, sums.total);
        write_rate::<T, B>(t, params, tile, coded.rate);
        // The second thread of a block comes behind the first one's bytes.
        let at = sums.before - (body - own);
        let shape = B::Body::SHAPE;
        let codec = BlockCodec::Plain;
        write_body(t, SHARED.0.image, shape, coded.group, coded.rate, at, codec);
        let before = O::before(t, params.cells, tile, sums.total, SHARED.0.start);
        let start = params.payload_start + before;
        copy_bodies::<T, A, B>(t, params, start, sums.total, (at, body));
        if tile + 1 == params.tiles && t.thread_index() == 0 {
            let end = start + u64::from(sums.total);
            t.atomic_store(params.cells, cells::STREAM_BYTES, end);
        }
    }
}

/// Writes the rate bytes of four blocks as a word. For whole warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn write_rate<T: Thread, B: BlockLength>(t: T, params: &PassParams, tile: u32, rate: RateByte) {
    let groups = groups::<B::Body>();
    let mut word = u32::from(rate.to_byte()) << (8 * (t.lane() / groups % 4));
    word |= t.shuffle_xor(word, groups);
    word |= t.shuffle_xor(word, 2 * groups);
    if t.lane().is_multiple_of(4 * groups) {
        let block = (tile * TILE_THREADS + t.thread_index()) / groups;
        t.store(params.stream, u64::from(block) / 4, word);
    }
}

/// Copies the bodies to byte `start` of the stream: all of them together, `total` bytes, or this thread's `own`, byte and
/// bytes in the image.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn copy_bodies<T: Thread, A: Access, B: BlockLength>(
    t: T,
    params: &PassParams,
    start: u64,
    total: u32,
    own: (u32, u32),
) {
    let (at, bytes) = if A::IS_TOGETHER { (0, total) } else { own };
    let words = Words {
        from: at / 4,
        to: (start + u64::from(at)) / 4,
        count: bytes / 4,
    };
    let sharers = if A::IS_TOGETHER {
        Sharers {
            first: t.thread_index(),
            step: TILE_THREADS,
        }
    } else {
        Sharers { first: 0, step: 1 }
    };
    if A::IS_TOGETHER || is_first::<T, B::Body>(t) {
        copy_words::<T, A>(t, params.stream, words, sharers);
    }
}
