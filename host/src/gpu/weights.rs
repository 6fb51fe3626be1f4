//! The weights of tiles of a field on a machine that runs kernels.

use crate::error::Error;
use crate::gpu::boxes::BoxMemory;
use crate::gpu::executor::{Executor, blocks_of};
use crate::gpu::tiles::strides;
use crate::sampled_field::TilesToWeigh;
use ferrosz_codec::Element;
use ferrosz_gpu_kernels::choice::weigh_tiles::{WeighTiles, WeighTilesParams};
use ferrosz_gpu_kernels::pipeline::cells::Given;
use ferrosz_gpu_kernels::primitives::read_boxes::{BOX_NUMBERS, BoxToRead};
use ferrosz_simt::View;

/// Tiles whose weights a machine finds, in memory of the machine.
pub(crate) struct Weights<'a> {
    wanted: &'a [TilesToWeigh],
    bits: View<u32>,
}

impl<'a> Weights<'a> {
    /// Enqueues the kernels for a field and its absolute error; without that they take the one in `cells`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] and [`Error::TooLarge`], or an error of the machine.
    pub(crate) fn enqueue<T: Element, E: Executor>(
        executor: &E,
        memory: &mut BoxMemory<E::Memory>,
        field: View<u32>,
        wanted: &'a [TilesToWeigh],
        error: Option<T>,
        cells: View<u64>,
    ) -> Result<Self, Error> {
        let list: Vec<u64> = wanted.iter().flat_map(list).collect();
        let list_words = 2 * list.len() as u64;
        let count = (list.len() / BOX_NUMBERS) as u64;
        let all = memory.memory(executor, 4 * (list_words + count))?;
        let (mut lists, bits) = (all.first(list_words).pairs(), all.from(list_words));
        if count > 0 {
            executor.upload(bytemuck::cast_slice(&list), lists.words())?;
        }
        let mut found = bits;
        for TilesToWeigh {
            tiles,
            row,
            zeros_are_holes,
            numbers,
        } in wanted.iter().filter(|tiles| !tiles.numbers.is_empty())
        {
            let [slice, row_of_slice, _] = strides(tiles);
            let params = WeighTilesParams {
                field,
                slice,
                row: row_of_slice,
                length: *row,
                tiles: lists,
                error: error.map_or(Given::in_cells(), |error| Given::known([error.to_bits64()])),
                cells,
                bits: found,
                zeros: (*zeros_are_holes).into(),
            };
            let blocks = blocks_of::<T>(numbers.len() as u64, tiles.elements())?;
            executor.launch::<WeighTiles<T>>(blocks, &params)?;
            lists = lists.from((numbers.len() * BOX_NUMBERS) as u64);
            found = found.from(numbers.len() as u64);
        }
        Ok(Self {
            wanted,
            bits: bits.first(count),
        })
    }

    /// The bits of the differences between neighbours along x, of each tile. Waits for the work so far.
    ///
    /// # Errors
    ///
    /// Errors of the machine.
    pub(crate) fn find<E: Executor>(self, executor: &E) -> Result<Vec<Vec<u64>>, Error> {
        let mut bits = vec![0u32; self.bits.len() as usize];
        if !bits.is_empty() {
            executor.download(self.bits, 0, bytemuck::cast_slice_mut(&mut bits))?;
        }
        let mut rest = bits.into_iter().map(u64::from);
        let own = |tiles: &TilesToWeigh| rest.by_ref().take(tiles.numbers.len()).collect();
        Ok(self.wanted.iter().map(own).collect())
    }
}

fn list(wanted: &TilesToWeigh) -> Vec<u64> {
    let to_list = |number: &u64| {
        let tile = wanted.tiles.tile(*number);
        BoxToRead {
            from: wanted.tiles.flat(tile.origin),
            to: 0,
            extents: tile.extents(wanted.tiles.shape()),
        }
        .to_list()
    };
    wanted.numbers.iter().flat_map(to_list).collect()
}
