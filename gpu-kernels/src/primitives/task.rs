//! Which chunk a thread block works on.

use crate::pipeline::cells;
use crate::primitives::ticket::take_ticket;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_simt::{Layout, Shared, Thread, View};

/// A chunk: its number and, of planes and cubes, which one it is in each dimension.
#[derive(Clone, Copy)]
pub struct Task {
    /// Its number.
    pub number: u32,
    at: [u32; 3],
}

/// The shared memory of tasks: the number, and the positions of two chunks, which one thread finds for all, as
/// divisions are dear.
#[derive(Clone, Copy)]
pub struct Scratch {
    number: Shared<u32>,
    own: Shared<u32>,
    later: Shared<u32>,
}

impl Scratch {
    /// Takes its words from a layout.
    pub const fn new(layout: &mut Layout) -> Self {
        Self {
            number: layout.array("task: number", 1),
            own: layout.array("task: position", 3),
            later: layout.array("task: later position", 3),
        }
    }
}

impl Task {
    /// The next chunk that no block has, and the one `ahead` behind it, which may not exist. For the whole block. There
    /// is one barrier inside.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn take<T: Thread, S: StaticShape>(
        t: T,
        counters: View<u64>,
        grid: &Grid,
        ahead: u32,
        scratch: Scratch,
    ) -> (Self, Self) {
        let number = take_ticket(t, counters, cells::TICKET, scratch.number, |number| {
            if !is_line::<S>() {
                store_position(t, scratch.own, grid, number);
                store_position(t, scratch.later, grid, number.wrapping_add(ahead));
            }
        });
        let later = number.wrapping_add(ahead);
        (
            Self::load::<T, S>(t, number, scratch.own),
            Self::load::<T, S>(t, later, scratch.later),
        )
    }

    /// The block's task once more, from the same scratch.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn again<T: Thread, S: StaticShape>(t: T, scratch: Scratch) -> Self {
        Self::load::<T, S>(t, scratch.number.load(t, 0), scratch.own)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load<T: Thread, S: StaticShape>(t: T, number: u32, position: Shared<u32>) -> Self {
        let mut at = [0; 3];
        if !is_line::<S>() {
            at = [0, 1, 2].map(|i| position.load(t, i));
        }
        Self { number, at }
    }

    /// Whether there is such a chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn exists(&self, grid: &Grid) -> bool {
        u64::from(self.number) < grid.chunk_count()
    }

    /// The position and extents of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn chunk<S: StaticShape>(&self, grid: &Grid) -> ChunkBox {
        if is_line::<S>() {
            grid.line_chunk(u64::from(self.number))
        } else {
            grid.chunk_at(self.at.map(u64::from))
        }
    }
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn store_position<T: Thread>(t: T, position: Shared<u32>, grid: &Grid, number: u32) {
    for (i, at) in (0..).zip(&grid.chunk_position(number)) {
        position.store(t, i, *at);
    }
}

const fn is_line<S: StaticShape>() -> bool {
    matches!(S::SHAPE, Shape::Line)
}
