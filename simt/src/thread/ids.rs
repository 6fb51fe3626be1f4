//! The position of a thread.

use crate::WARP;

/// The position of a thread. Blocks and grids have up to three dimensions, x first; most have one.
pub trait Ids: Copy {
    /// This thread's position in its block.
    fn thread_position(self) -> [u32; 3];
    /// Threads of a block along each dimension.
    fn block_extents(self) -> [u32; 3];
    /// This block's position in the grid.
    fn block_position(self) -> [u32; 3];
    /// Blocks of the grid along each dimension.
    fn grid_extents(self) -> [u32; 3];

    /// This thread's x coordinate in its block: the thread's number if the block has one dimension.
    #[inline(always)]
    fn thread_index(self) -> u32 {
        self.thread_position()[0]
    }

    /// This block's x coordinate in the grid: the block's number if the grid has one dimension.
    #[inline(always)]
    fn block_index(self) -> u32 {
        self.block_position()[0]
    }

    /// Blocks in the grid along x.
    #[inline(always)]
    fn block_count(self) -> u32 {
        self.grid_extents()[0]
    }

    /// This thread's number in its warp; only in blocks whose number of threads along x is a multiple of 32, or which
    /// have one dimension.
    #[inline(always)]
    fn lane(self) -> u32 {
        self.thread_index() % WARP
    }

    /// This warp's number in its block; only in blocks of one dimension.
    #[inline(always)]
    fn warp(self) -> u32 {
        self.thread_index() / WARP
    }
}
