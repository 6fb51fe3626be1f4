//! The sizes of tiles in blocks of each codec, on a machine that runs kernels.

use crate::error::Error;
use crate::gpu::executor::{Executor, blocks_of};
use crate::gpu::leavings::ALIGNMENT;
use crate::sampled_field::{Sizes, grid_of};
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::with_shape;
use ferrosz_gpu_kernels::choice::size_blocks::{CODECS, ChunkToSize, SizeBlocks, SizeBlocksParams};
use ferrosz_simt::View;

/// The chunks of tiles in blocks of a shape.
pub(super) struct ChunksOfShape {
    shape: Shape,
    /// The chunks for the kernel, one tile behind the other.
    list: Vec<u64>,
    /// How many chunks each tile has.
    counts: Vec<usize>,
}

impl ChunksOfShape {
    /// Those of tiles, each as a field of its own.
    pub(super) fn new(shape: Shape, tiles: &[ChunkBox]) -> Self {
        let (mut list, mut counts) = (Vec::new(), Vec::new());
        // Most tiles are whole, and have one grid.
        let mut known: Option<([u32; 3], Grid)> = None;
        for tile in tiles {
            let is_own = |(extents, _): &([u32; 3], Grid)| *extents == tile.extents;
            let own = known.filter(is_own).map(|(_, grid)| grid);
            let grid = own.unwrap_or_else(|| grid_of(tile, shape));
            known = Some((tile.extents, grid));
            let in_field = |number| {
                let ChunkBox { origin, extents } = grid.chunk(number);
                ChunkToSize {
                    place: ChunkBox {
                        origin: std::array::from_fn(|i| tile.origin[i] + origin[i]),
                        extents,
                    },
                    tile: grid.tile(),
                }
            };
            let chunks = (0..grid.chunk_count()).map(in_field);
            list.extend(chunks.flat_map(|chunk| chunk.to_list()));
            counts.push(grid.chunk_count() as usize);
        }
        Self {
            shape,
            list,
            counts,
        }
    }

    /// The list of the chunks for the kernel.
    pub(super) fn list(&self) -> &[u64] {
        &self.list
    }

    /// How many numbers the kernel finds: the bytes of each chunk with each codec.
    fn numbers(&self) -> usize {
        self.counts.iter().sum::<usize>() * CODECS as usize
    }

    /// The cells of these numbers.
    pub(super) fn cells(&self) -> usize {
        self.numbers().div_ceil(2).next_multiple_of(ALIGNMENT)
    }

    /// Enqueues the kernel. `list` begins with [`ChunksOfShape::list`].
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], or an error of the machine.
    pub(super) fn enqueue<T: Element, E: Executor>(
        &self,
        executor: &E,
        (field, grid): (View<u32>, &Grid),
        quantizer: &Quantizer<T>,
        list: View<u64>,
        bytes: View<u32>,
    ) -> Result<(), Error> {
        let params = SizeBlocksParams {
            field,
            grid: *grid,
            chunks: list,
            quantizer: quantizer.to_bits(),
            bytes,
        };
        let blocks = blocks_of::<T>(self.numbers() as u64, grid.elements())?;
        with_shape!(self.shape, S => executor.launch::<SizeBlocks<T, S>>(blocks, &params))
    }

    /// The sizes of each tile, from the numbers that the kernel has found.
    pub(super) fn sizes(&self, mut numbers: &[u32]) -> Vec<Sizes> {
        let of_tile = |chunks: &usize| {
            let (own, behind) = numbers.split_at(chunks * CODECS as usize);
            numbers = behind;
            let mut sizes = Sizes::new();
            for codec in BlockCodec::ALL
                .into_iter()
                .filter(|codec| codec.takes(self.shape))
            {
                let of_kernel = codec.in_shape(self.shape).position() as usize;
                let of_codec = own.iter().skip(of_kernel).step_by(CODECS as usize);
                let bytes = of_codec.map(|bytes| u64::from(*bytes)).sum();
                sizes.push(((codec, self.shape), bytes));
            }
            sizes
        };
        self.counts.iter().map(of_tile).collect()
    }
}
