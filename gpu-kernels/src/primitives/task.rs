//! Which chunk a thread block works on.
//!
//! A block takes the next number of a counter when it starts. So all chunks before its own are done or in
//! work, whatever the order in which the GPU starts blocks, and a look-back ends.

use crate::pipeline::cells;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_simt::{Thread, View};

/// A chunk: its number and, of planes and cubes, which one it is in each dimension.
#[derive(Clone, Copy)]
pub struct Task {
    /// Its number.
    pub number: u32,
    at: [u32; 3],
}

impl Task {
    /// Words of shared memory that [`Task::take`] needs.
    pub const SCRATCH_WORDS: u32 = 2 * Self::WORDS;

    const WORDS: u32 = 4;

    /// The next chunk that no block has, and the one `ahead` behind it, which may not exist. For the whole
    /// block, `scratch` being the first of its words of shared memory. There is one barrier inside.
    ///
    /// One thread finds the positions for all: divisions are dear.
    #[inline(always)]
    pub fn take<T: Thread, S: StaticShape>(
        t: T,
        counters: View<u64>,
        grid: &Grid,
        ahead: u32,
        scratch: u32,
    ) -> (Self, Self) {
        if t.thread_index() == 0 {
            let number = t.atomic_add(counters, cells::TICKET, 1) as u32;
            Self::find::<S>(grid, number).store::<T, S>(t, scratch);
            Self::find::<S>(grid, number.wrapping_add(ahead))
                .store::<T, S>(t, scratch + Self::WORDS);
        }
        t.barrier();
        let load = |scratch| Self::load::<T, S>(t, scratch);
        (load(scratch), load(scratch + Self::WORDS))
    }

    #[inline(always)]
    fn find<S: StaticShape>(grid: &Grid, number: u32) -> Self {
        let is_line = matches!(S::SHAPE, Shape::Line);
        Self {
            number,
            at: if is_line {
                [0; 3]
            } else {
                grid.chunk_position(number)
            },
        }
    }

    #[inline(always)]
    fn store<T: Thread, S: StaticShape>(self, t: T, scratch: u32) {
        t.shared_store(scratch, self.number);
        if !matches!(S::SHAPE, Shape::Line) {
            for (i, at) in (1..).zip(&self.at) {
                t.shared_store(scratch + i, *at);
            }
        }
    }

    /// The block's task once more, from the same `scratch`.
    #[inline(always)]
    pub fn load<T: Thread, S: StaticShape>(t: T, scratch: u32) -> Self {
        let mut task = Self {
            number: t.shared_load(scratch),
            at: [0; 3],
        };
        if !matches!(S::SHAPE, Shape::Line) {
            for i in 0..3 {
                task.at[i] = t.shared_load(scratch + 1 + i as u32);
            }
        }
        task
    }

    /// Whether there is such a chunk.
    #[inline(always)]
    pub fn exists(&self, grid: &Grid) -> bool {
        u64::from(self.number) < grid.chunk_count()
    }

    /// Where the chunk lies.
    #[inline(always)]
    pub fn chunk<S: StaticShape>(&self, grid: &Grid) -> ChunkBox {
        if matches!(S::SHAPE, Shape::Line) {
            grid.line_chunk(u64::from(self.number))
        } else {
            grid.chunk_at(self.at.map(u64::from))
        }
    }
}
