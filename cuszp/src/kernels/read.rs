//! Random access (SC'24 cuSZp2, section VI-B): some consecutive blocks of a stream without header, in one kernel. All tiles
//! before the last of them read their rate bytes and take part in the look-back; only the tiles of these blocks read bodies.

use crate::PACKAGE;
use crate::kernels::decompress::{SHARED_WORDS, TileDecoder};
use crate::kernels::{BareParams, QUADS, tile_blocks};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::shape::StaticShape;
use ferrosz_gpu_kernels::pipeline::blocks::CHUNK_THREADS;
use ferrosz_gpu_kernels::pipeline::blocks::groups;
use ferrosz_gpu_kernels::primitives::element::by_width;
use ferrosz_simt::{Kernel, Name, Package, Thread};

/// Decompresses blocks of shape `S` to the values of their positions, block by block. Launched with one block a tile, up to
/// the tile of the last block.
pub struct BareRead<E, S>(PhantomData<(E, S)>);

/// The parameters of [`BareRead`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReadParams {
    /// The stream; its elements are the values that are written.
    pub bare: BareParams,
    /// The first block. In AATROX it is the first one of a layer.
    pub first: u32,
    /// The block behind the last. In AATROX it is the first one of a layer, or behind all.
    pub end: u32,
}

impl<E: Element, S: StaticShape> Kernel for BareRead<E, S> {
    type Params = ReadParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_bare_read", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = SHARED_WORDS;
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &ReadParams) {
        let (decoder, bodies) = TileDecoder::<E, S>::find(t, &params.bare);
        // Of tiles: the same for all threads of the block.
        let behind = (decoder.tile.number as u32 + 1) * tile_blocks::<S>();
        if behind <= params.first {
            return;
        }
        let codes = decoder.codes(t, &bodies);
        let (block, is_empty) = (decoder.tile.block, decoder.is_empty(&bodies));
        if block < params.first || block >= params.end {
            return;
        }
        let group = (block - params.first) * groups::<S>() + t.thread_index() % groups::<S>();
        for quad in 0..QUADS {
            let value = |i: usize| {
                let code = codes[4 * quad as usize + i];
                decoder.value(code.cast_unsigned(), is_empty)
            };
            decoder.store_four(
                t,
                group * QUADS + quad,
                [value(0), value(1), value(2), value(3)],
            );
        }
    }
}
