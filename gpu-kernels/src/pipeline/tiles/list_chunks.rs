//! Lists the chunks that a part of a field needs: decoders have no registers to spare for finding them.

use crate::PACKAGE;
use crate::pipeline::tiles::tiling::Tiling;
use crate::pipeline::tiles::window::TileWindow;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_simt::{Kernel, Package, Thread, View};

/// Stands in a list where there is no chunk.
pub const NO_CHUNK: u32 = u32::MAX;

/// Lists chunks. Launched with at least as many threads as the list has numbers.
pub struct ListChunks;

/// Parameters of [`ListChunks`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ListChunksParams {
    /// The tiles of a field with fewer than 2^32 chunks.
    pub tiling: Tiling,
    /// The tiles whose chunks are listed: not all.
    pub window: TileWindow,
    /// Chunks of the coarse field that are listed before them: all or none.
    pub coarse: u64,
    /// The output, of the length that [`ListChunksParams::numbers`] gives.
    pub list: View<u32>,
}

impl ListChunksParams {
    /// The length of the list: at most the number of the tiles.
    pub fn numbers(&self, length: ChunkLength) -> u64 {
        self.coarse + self.window.chunks(length)
    }
}

impl Kernel for ListChunks {
    type Params = ListChunksParams;
    const NAME: &'static str = "ferrosz_list_chunks";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = 256;
    const SHARED_WORDS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ListChunksParams) {
        let at =
            u64::from(t.block_index()) * u64::from(Self::THREADS) + u64::from(t.thread_index());
        if at >= params.list.len() {
            return;
        }
        let chunk = match at.checked_sub(params.coarse) {
            None => Some(at),
            Some(at) => params.tiling.chunk_of_window(&params.window, at),
        };
        t.store(
            params.list,
            at,
            chunk.map_or(NO_CHUNK, |chunk| chunk as u32),
        );
    }
}
