//! The tiles of a field that a machine has: all of them, or the layers of a slab.
//!
//! All machines that share a field have the same parameters, tables and coarse field, because they tell each other the numbers
//! from which these follow. Apart from that, a slab is compressed as a field is.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::peers::{Group, Message};
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::predict::interp::tune::search::Search;
use ferrosz_codec::tile::{RUN_TILES, TileGrid};
use ferrosz_gpu_kernels::pipeline::tiles::tiling::Counted;
use ferrosz_gpu_kernels::predict::interp::sampled::Sampled;
use ferrosz_simt::View;
use std::ops::Range;

/// The tiles of a field that a machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TileSlab {
    /// The whole field.
    field: TileLayout,
    /// The elements of the tiles before the own ones.
    before: TileGrid,
    /// The elements of the own tiles.
    own: TileGrid,
    /// The elements in the machine's memory: behind the own ones are those of the next chunks, if the prediction of the own tiles
    /// reads their values or their codes.
    memory: TileGrid,
}

impl TileSlab {
    /// The whole field.
    pub(crate) fn whole(layout: &TileLayout) -> Self {
        let [_, height, width] = layout.fine.slice_lengths();
        Self {
            field: *layout,
            before: TileGrid::new(layout.shape(), [0, height, width]),
            own: layout.fine,
            memory: layout.fine,
        }
    }

    /// A slab of the field. Its tiles begin and end with chunks and runs.
    pub(crate) fn new(field: &TileLayout, [before, own, memory]: [TileGrid; 3]) -> Self {
        Self {
            field: *field,
            before,
            own,
            memory,
        }
    }

    /// The chunks that the machine encodes: those of the coarse field of the whole field, and those of the own tiles.
    pub(crate) fn encoded(&self) -> TileLayout {
        TileLayout {
            fine: self.own,
            ..self.field
        }
    }

    /// The chunks that the machine decodes.
    pub(crate) fn decoded(&self) -> TileLayout {
        TileLayout {
            fine: self.memory,
            ..self.field
        }
    }

    /// The grid of the elements in memory.
    pub(crate) fn memory(&self) -> &TileGrid {
        &self.memory
    }

    /// The grid of the elements of the own tiles.
    pub(crate) fn own(&self) -> &TileGrid {
        &self.own
    }

    /// The number of the first own chunk among those of the field, without those of the coarse field.
    pub(crate) fn first_chunk(&self) -> u64 {
        self.field.chunk.chunk_of(self.before.tiles())
    }

    /// The own elements of the coarse field, whose positions are `spacing` apart.
    pub(super) fn own_anchors(&self, spacing: u32) -> Range<u64> {
        let [before, own] = [self.before, self.own].map(|grid| grid.coarse(spacing).elements());
        before..before + own
    }

    /// The runs that are counted.
    pub(super) fn counted(&self) -> Counted {
        let before = self.before.tiles() / u64::from(RUN_TILES);
        Counted::new(before, self.field.fine.runs())
    }

    /// The tiles among which samples are.
    pub(super) fn sampled(&self) -> Sampled {
        let [before, own, all] = [self.before, self.own, self.field.fine].map(|grid| grid.tiles());
        Sampled::new(before, own, all)
    }

    /// The search for the parameters of the field.
    pub(super) fn search(&self, tuning: Tuning) -> Search {
        Search::of_field(tuning, &self.field.fine)
    }
}

/// The machines that have the rest of the field; none if there is no rest. A call with others waits for the machines.
#[derive(Clone, Copy, Default)]
pub struct Others<'a>(pub(crate) Option<&'a dyn Group>);

impl Others<'_> {
    /// Replaces each cell by its sum over all machines.
    ///
    /// # Errors
    ///
    /// The machine's own; [`Error::Group`].
    pub(super) fn sum<E: Executor>(&self, executor: &E, cells: View<u64>) -> Result<(), Error> {
        let Some(group) = self.0 else {
            return Ok(());
        };
        let mut numbers = vec![0u64; cells.len() as usize];
        executor.download(cells, 0, bytemuck::cast_slice_mut(&mut numbers))?;
        group.sum(&mut numbers)?;
        executor.upload(bytemuck::cast_slice(&numbers), cells.words())
    }

    /// Completes an array. Each machine has the words `own` of it, and these ranges follow each other in the order of the
    /// machines.
    ///
    /// # Errors
    ///
    /// The machine's own; [`Error::Group`].
    pub(super) fn gather<E: Executor>(
        &self,
        executor: &E,
        array: View<u32>,
        own: Range<u64>,
    ) -> Result<(), Error> {
        let Some(group) = self.0 else {
            return Ok(());
        };
        let mut bytes = vec![0; 4 * (own.end - own.start) as usize];
        executor.download(array, 4 * own.start, &mut bytes)?;
        let others = (0..group.size()).filter(|rank| *rank != group.rank());
        let messages = others.map(|rank| Message {
            rank,
            bytes: bytes.clone(),
        });
        let mut at = 0;
        for message in group.exchange(messages.collect())? {
            if message.rank > group.rank() {
                at = at.max(own.end);
            }
            executor.upload(&message.bytes, array.from(at))?;
            at += message.bytes.len() as u64 / 4;
        }
        Ok(())
    }
}
