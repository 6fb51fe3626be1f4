//! The Lorenzo predictor: a tile a thread block.
//!
//! Prediction has its codes in registers. Each warp quantises the neighbouring values of other warps a second time.
//! Residuals are written as if all were in the range of codes; a tile with a larger residual is predicted again, in order.
//! Reconstruction sums up rows in half warps, and the other dimensions in shared memory. See
//! `ferrosz_host::cpu::predict::tile_lorenzo`.

mod exact;
pub mod predict;
pub mod reconstruct;
pub mod rows;

use crate::choice::taken_tiles::TakenTiles;
use crate::pipeline::cells::{self, Given};
use ferrosz_codec::Element;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{RUN_TILES, TileBox, TileGrid};
use ferrosz_simt::{Thread, View};

/// Threads in a block.
pub const THREADS: u32 = 256;

/// Parameters of prediction and reconstruction.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LorenzoParams {
    /// The slice's words: read by prediction, written by reconstruction, which also finds there the values that have
    /// no code.
    pub field: View<u32>,
    /// The distance of neighbours in the field along each dimension, in elements; along x it is 1.
    pub strides: [u64; 3],
    /// The codes of all chunks: see [`crate::pipeline::tiles::codes`].
    pub codes: View<u32>,
    /// The first chunk of the field.
    pub first_run: u64,
    /// The extents of the slice. Each slice has a launch of its own, unless tiles are given: with slices the kernel would spill
    /// registers.
    pub lengths: [u64; 3],
    /// The workspace: see [`cells`].
    pub cells: View<u64>,
    /// The quantiser's bits, unless it is in the workspace.
    pub quantizer: [u64; 3],
    /// [`QUANTIZER_IN_CELLS`] and [`HOLES`]. Beside `first_tile`, as one load gets both: or else the assembler spills a
    /// register.
    pub flags: u32,
    /// The tiles of the slices before, whose codes come first.
    pub first_tile: u32,
    /// The tiles that are predicted. Each of those of a list has the codes of a run.
    pub taken: TakenTiles,
    /// The slices that these are in.
    pub slices: u64,
}

/// The flag that the quantiser is in the workspace.
pub const QUANTIZER_IN_CELLS: u32 = 1;

/// The flag that the field has holes.
pub const HOLES: u32 = 2;

impl LorenzoParams {
    /// The number of the codes of the tile of block `block`, and the tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn taken_tile<T: Thread>(&self, t: T, shape: Shape, block: u32) -> (u64, TileBox) {
        if self.taken.is_all() {
            return self.tile(shape, block);
        }
        let grid = TileGrid::sliced(shape, self.slices, self.lengths);
        let number = self.taken.number(t, block.into());
        (u64::from(RUN_TILES) * u64::from(block), grid.tile(number))
    }

    /// The number of the tile of block `block`, and the tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn tile(&self, shape: Shape, block: u32) -> (u64, TileBox) {
        let grid = TileGrid::new(shape, self.lengths);
        // The number of a tile fits in 32 bits, so counts of tiles do.
        let [_, ys, xs] = (grid.counts()).map(|count| count.min(u64::from(u32::MAX)) as u32);
        let (ys, xs) = (ys.max(1), xs.max(1));
        let at = [block / xs / ys, block / xs % ys, block % xs];
        let number = self.first_tile + block;
        (u64::from(number), grid.tile_at(at.map(u64::from)))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn quantizer<T: Thread, E: Element>(&self, t: T) -> Quantizer<E> {
        let given = Given::new(self.quantizer, self.flags & QUANTIZER_IN_CELLS);
        Quantizer::from_bits(given.find(t, self.cells, cells::QUANTIZER))
    }
}
