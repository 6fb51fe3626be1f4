//! A pass of cuSZp2 in 1D, plain mode (Huang et al., SC'24): elements are read, quantised, differenced and packed, each
//! tile finds the position of its bodies, and they are written there.
//!
//! A thread has 32 elements, a thread block a tile of 8192. Three parts of the design can be replaced: how a tile gets
//! its position ([`offsets`]), how memory is accessed ([`access`]), and how long a block is ([`block_length`]). The
//! stream does not depend on the first two. With blocks of 32 it is cuSZp's:
//!
//! ```text
//! [ one rate byte a block ][ the blocks' bodies ]
//! ```

pub mod access;
pub mod block_length;
mod coded;
pub mod measure;
pub mod offsets;
pub mod scan;
pub mod write;

use ferrosz_codec::Element;
use ferrosz_codec::shape::GROUP;
use ferrosz_cuszp::aatrox::LAYER;
use ferrosz_cuszp::cuszp::quantizer::Quantizer;
use ferrosz_gpu_kernels::pipeline::blocks::{CHUNK_THREADS, CHUNK_WARPS};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::{Layout, Shared, View};

/// Threads of a tile.
pub const TILE_THREADS: u32 = CHUNK_THREADS;

/// Elements of a tile.
pub const TILE: u64 = TILE_THREADS as u64 * GROUP as u64;

/// Tiles of a layer.
pub const LAYER_TILES: u64 = LAYER as u64 / TILE;

/// The parameters of all kernels of a pass.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PassParams {
    /// The elements, 16-byte aligned: whole layers.
    pub elements: View<u32>,
    /// The stream, 16-byte aligned.
    pub stream: View<u32>,
    /// The workspace: the [`cells`] of other kernels, a state for each tile from [`cells::STATES`] on, and behind them
    /// the length of each tile's bodies, see `PassParams::lengths`.
    pub cells: View<u64>,
    /// The number of tiles.
    pub tiles: u32,
    /// Bytes before the first body.
    pub payload_start: u64,
    /// The quantiser's bits: inverse and error.
    pub quantizer: [u64; 2],
}

impl PassParams {
    /// The quantiser of elements of `E`.
    #[inline(always)]
    fn quantizer<E: Element>(&self) -> Quantizer<E> {
        let [inverse, error] = self.quantizer.map(E::from_bits64);
        Quantizer { inverse, error }
    }

    /// The first cell of the lengths that [`measure`] leaves for [`scan`].
    #[inline(always)]
    fn lengths(&self) -> u64 {
        cells::STATES + u64::from(self.tiles)
    }
}

/// Words of a group's codes in shared memory: four more than there are, so that the lanes of a warp that each read their
/// own meet no bank twice.
const STAGED_GROUP: u32 = GROUP as u32 + 4;

/// The shared memory of a tile.
#[derive(Clone, Copy)]
struct Scratch {
    /// The codes, then the bodies.
    image: Shared<u32>,
    sums: Shared<u32>,
    ticket: Shared<u32>,
    start: Shared<u64>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        image: layout.array("image", TILE_THREADS * STAGED_GROUP),
        sums: layout.array("sums", CHUNK_WARPS as u32),
        ticket: layout.array("ticket", 1),
        start: layout.array("start", 1),
    };
    (scratch, layout)
};
