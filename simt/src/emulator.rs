//! The machine without a GPU: every thread is a coroutine, and every access is checked.
//!
//! [`Emulator::launch`] runs a grid to its end on the calling OS thread. A thread of the kernel is a stackful
//! coroutine. It runs until it reaches a collective, a barrier or a spin hint, and there returns to the scheduler. When
//! the last lane of a warp has reached a collective, the scheduler computes every lane's result and resumes all lanes;
//! it does the same for the threads of a block at a barrier. A seed determines the order of blocks, warps and lanes:
//! the same seed gives the same run on every host, another seed another interleaving.
//!
//! A violation of a rule that the hardware does not check stops the launch with a [`Fault`], which names the thread and
//! the line of the kernel:
//!
//! * Two collectives match if they are the same operation at the same place in the source. When no lane of a warp can
//!   run, all lanes must wait at matching collectives; likewise the threads of a block. A helper function that calls a
//!   collective is one place, no matter how many callers it has, unless it is marked `#[track_caller]`.
//! * Each word of shared memory has a shadow, which records its accesses since the last barrier (see `shared.rs`). A
//!   missing barrier is therefore found in any order of the accesses.
//! * Each byte of global memory that the launch accesses has a shadow, too (see `global.rs`). It finds a race between
//!   threads of one block as on shared memory. Accesses of different blocks are ordered only by a fence and then an
//!   atomic operation on one side, and an atomic operation and then a fence on the other. These order the whole blocks:
//!   a missing barrier between them and the access of another thread of the block is not found. A load that promises
//!   that no thread of the launch writes its memory is checked for that. [`Emulator::global_shadow`] turns this off.
//! * An access through a view must be within the view, and aligned.
//! * A thread that still waits while no memory changes waits for ever. This includes waiting for a block that cannot
//!   start before this one ends: as on a real GPU, only [`Emulator::resident_blocks`] blocks are in flight at a time.

mod accesses;
mod clock;
mod collective;
mod emulated;
mod event;
mod fault;
mod global;
mod launch;
mod page;
mod random;
mod releases;
mod scheduler;
mod shared;
mod stack;
mod thread;
mod warp;

pub use emulated::{Emulated, emulated};
pub use fault::{Fault, FaultKind, OtherSide};
pub use thread::EmulatorThread;

use crate::{Kernel, WARP};
use fault::Problem;
use launch::Launch;
use scheduler::Scheduler;
use std::string::ToString;

/// The order in which the blocks of a grid start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockOrder {
    /// From the first to the last.
    #[default]
    Ascending,
    /// From the last to the first.
    Descending,
    /// In a random order that the seed determines.
    Shuffled,
}

/// A machine that runs kernels on the CPU and stops at the first [`Fault`].
///
/// ```
/// use ferrosz_simt::emulator::{Emulator, EmulatorThread};
/// use ferrosz_simt::View;
/// use ferrosz_simt::prelude::*;
///
/// let mut cells = [0u64];
/// // SAFETY: the array outlives the launch, and nobody else uses it.
/// let view = unsafe { View::new(cells.as_mut_ptr(), 1) };
/// let count_lanes = |t: EmulatorThread<'_>| {
///     let lanes = t.reduce_add(1);
///     if t.lane() == 0 {
///         t.atomic_add(view, 0, u64::from(lanes));
///     }
/// };
/// Emulator::new().launch_with(3, 64, 0, count_lanes).unwrap();
/// assert_eq!(cells[0], 3 * 64);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Emulator {
    seed: u64,
    resident_blocks: usize,
    block_order: BlockOrder,
    spin_limit: u64,
    global_shadow: bool,
}

impl Default for Emulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Emulator {
    /// Seed 0, four blocks in flight, started in ascending order.
    pub const fn new() -> Self {
        Self {
            seed: 0,
            resident_blocks: 4,
            block_order: BlockOrder::Ascending,
            spin_limit: 20_000,
            global_shadow: true,
        }
    }

    /// Sets the seed of the order of blocks, warps and lanes.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of blocks in flight at most, at least one.
    ///
    /// Each of their threads has its own stack; Linux grants a process some 30,000 stacks.
    #[must_use]
    pub const fn resident_blocks(mut self, blocks: usize) -> Self {
        self.resident_blocks = if blocks == 0 { 1 } else { blocks };
        self
    }

    /// Sets the order in which blocks start.
    #[must_use]
    pub const fn block_order(mut self, order: BlockOrder) -> Self {
        self.block_order = order;
        self
    }

    /// Sets how many times in a row a thread may wait, at spin hints and collectives, while no thread changes global
    /// memory and no block starts or ends. One more wait is [`FaultKind::EndlessSpin`]. The default is 20,000.
    #[must_use]
    pub const fn spin_limit(mut self, limit: u64) -> Self {
        self.spin_limit = limit;
        self
    }

    /// Sets whether to look for [`FaultKind::GlobalRace`] and [`FaultKind::StaleRead`], which takes time and memory.
    /// The default is yes.
    #[must_use]
    pub const fn global_shadow(mut self, is_on: bool) -> Self {
        self.global_shadow = is_on;
        self
    }

    /// Runs kernel `K` on a grid of `blocks` blocks.
    ///
    /// # Errors
    ///
    /// The first fault; the grid's other threads are then dropped without running further.
    ///
    /// # Panics
    ///
    /// If `K::THREADS` is not a multiple of 32 from 32 to 1024.
    pub fn launch<K: Kernel>(&self, blocks: u32, params: &K::Params) -> Result<(), Fault> {
        let launch = Launch::new(K::NAME, [blocks, 1, 1], [K::THREADS, 1, 1], K::SHARED_WORDS);
        self.run(launch, &|thread| K::run(thread, params))
    }

    /// Runs `body` as the kernel, on a grid of `blocks` blocks of `threads` threads, which share `shared_words` words
    /// in each block.
    ///
    /// # Errors
    ///
    /// The first fault; the grid's other threads are then dropped without running further. A grid without blocks is a fault, too.
    ///
    /// # Panics
    ///
    /// If `threads` is not a multiple of 32 from 32 to 1024.
    pub fn launch_with<F>(
        &self,
        blocks: u32,
        threads: u32,
        shared_words: u32,
        body: F,
    ) -> Result<(), Fault>
    where
        F: Fn(EmulatorThread<'_>),
    {
        self.launch_grid([blocks, 1, 1], [threads, 1, 1], shared_words, body)
    }

    /// Runs `body` as the kernel, on a grid of up to three dimensions, x first: `blocks` and `threads` are the lengths
    /// along each, and the threads of a block share `shared_words` words. Threads are numbered along x, then y, then z;
    /// each 32 consecutive ones are a warp.
    ///
    /// # Errors
    ///
    /// The first fault; the grid's other threads are then dropped without running further.
    ///
    /// # Panics
    ///
    /// If the threads of a block are not a multiple of 32 from 32 to 1024, or there are 2^32 blocks or more.
    pub fn launch_grid<F>(
        &self,
        blocks: [u32; 3],
        threads: [u32; 3],
        shared_words: u32,
        body: F,
    ) -> Result<(), Fault>
    where
        F: Fn(EmulatorThread<'_>),
    {
        let name = core::any::type_name::<F>();
        self.run(Launch::new(name, blocks, threads, shared_words), &body)
    }

    fn run(&self, launch: Launch, body: &dyn Fn(EmulatorThread<'_>)) -> Result<(), Fault> {
        assert!(
            launch.threads.is_multiple_of(WARP) && (WARP..=32 * WARP).contains(&launch.threads),
            "a block has 1 to 32 whole warps, not {} threads",
            launch.threads
        );
        if launch.blocks == 0 {
            let detail = "a launch has at least one block".to_string();
            return Err(launch.fault(0, 0, None, *Problem::new(FaultKind::EmptyGrid, detail)));
        }
        let launch = match self.global_shadow {
            true => launch.shadowed(),
            false => launch,
        };
        Scheduler::new(self, &launch, body).run()
    }
}
