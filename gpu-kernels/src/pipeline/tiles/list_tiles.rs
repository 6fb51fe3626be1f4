//! Lists the tiles of a part of a field: reconstruction has no registers to spare for finding them.

use crate::PACKAGE;
use crate::pipeline::tiles::window::TileWindow;
use ferrosz_codec::tile::TileGrid;
use ferrosz_simt::{Kernel, Package, Thread, View};

/// Lists tiles. Launched with at least as many threads as there are tiles.
pub struct ListTiles;

/// Parameters of [`ListTiles`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ListTilesParams {
    /// The tiles of a field, fewer than 2^32.
    pub grid: TileGrid,
    /// Those that are listed.
    pub window: TileWindow,
    /// The output: their numbers in the field.
    pub list: View<u32>,
}

impl Kernel for ListTiles {
    type Params = ListTilesParams;
    const NAME: &'static str = "ferrosz_list_tiles";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = 256;
    const SHARED_WORDS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ListTilesParams) {
        let at = t.block_index() * Self::THREADS + t.thread_index();
        if u64::from(at) < params.window.tiles() {
            let tile = params.window.tile(&params.grid, at);
            t.store(params.list, u64::from(at), tile as u32);
        }
    }
}
