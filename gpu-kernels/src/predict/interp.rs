//! Interpolation: a tile a thread block, all levels in shared memory.
//!
//! The store holds a value, or before it is decoded a code, for each position of the tile and its far faces.
//! Each position has a thread, which reads it, predicts it from its neighbours, quantises it or decodes it, and writes
//! back its known value. Stages are separated by barriers. Thread blocks exchange no data: see
//! [`ferrosz_codec::predict::interp`].

mod anchors;
mod columns;
pub mod fit;
pub mod method;
mod positions;
pub mod predict;
pub mod prepare;
pub mod reconstruct;
pub mod residuals;
pub mod rows;
pub mod sampled;
pub mod scores;
pub mod slice_fit;
pub mod slice_sums;
mod slices;
pub mod stages;
mod stencils;
pub mod sums;
mod systems;
pub mod values;

use crate::choice::taken_tiles::TakenTiles;
use crate::predict::interp::prepare::PARAMETER_WORDS;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{RUN_TILES, TileGrid};
use ferrosz_simt::{Thread, View};

/// Threads in a block.
pub const THREADS: u32 = 256;

/// Parameters of prediction and reconstruction.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct InterpParams {
    /// The field's words: read by prediction, written by reconstruction, which also finds there the values that have
    /// no code.
    pub field: View<u32>,
    /// The distance of neighbours in the field along each dimension, in elements.
    pub strides: [u64; 3],
    /// The known values of the anchors, in C order. Prediction may be given none: then they are the field's values.
    pub anchors: View<u32>,
    /// The codes of all chunks: see [`tile_codes`](crate::pipeline::tiles::codes).
    pub codes: View<u32>,
    /// The first chunk of the part.
    pub first_run: u64,
    /// The output: the known values, in C order; may be empty. Reconstruction then writes no field.
    pub known: View<u32>,
    /// The words of [`ferrosz_codec::predict::interp::resolved`]. Coefficients, if there are any, lie behind
    /// [`PARAMETER_WORDS`] words.
    pub parameters: View<u32>,
    /// The number of slices of the part.
    pub slices: u64,
    /// The extents of a slice.
    pub lengths: [u64; 3],
    /// Whether the part is the anchors of another, all of whose levels have their bound.
    pub is_coarse: u32,
    /// The first tile to work on.
    pub first_tile: u32,
    /// The tiles that are predicted. Each of those of a list has the codes of a run.
    pub taken: TakenTiles,
}

impl InterpParams {
    /// The coefficients, behind the parameters of all candidates.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn coefficients(&self) -> View<u32> {
        self.parameters.from(PARAMETER_WORDS)
    }

    /// The number of the tile that a block of prediction works on, and that of its codes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn taken_tile<T: Thread>(&self, t: T) -> [u64; 2] {
        if self.taken.is_all() {
            [u64::from(self.first_tile + t.block_index()); 2]
        } else {
            let at = u64::from(t.block_index());
            [self.taken.number(t, at), u64::from(RUN_TILES) * at]
        }
    }

    /// The tiles of the part.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn grid(&self, shape: Shape) -> TileGrid {
        TileGrid::sliced(shape, self.slices, self.lengths)
    }
}
