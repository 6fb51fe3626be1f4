//! The CPU as a machine that runs kernels: every GPU thread is a coroutine.
//!
//! A thread runs until it needs others. A warp's collective suspends each lane; when all 32 have
//! come, at one place in the source, the results are computed and all go on. A barrier waits for
//! the block. Between these points a thread runs alone, so that every access it makes can be
//! checked against those of the others: see [`shared`].
//!
//! Several blocks are resident at a time, as on a GPU. In every round each warp of each resident
//! block advances to its next collective; the order of blocks, warps and lanes is drawn from a
//! seed, the same for the same seed. If round after round nobody writes to global memory, enters
//! or leaves, while somebody spins, then nobody ever will: that is an endless spin.
//!
//! All threads run on the caller's own thread, so a fault is found at the same place every time.

mod block;
mod fault;
mod order;
pub mod shared;
mod thread;

pub use fault::{Fault, FaultKind};
pub use thread::EmulatorThread;

use crate::simt::Kernel;
use block::{Block, Launch};
use corosensei::stack::DefaultStack;
use order::Order;
use std::cell::RefCell;
use std::vec::Vec;

std::thread_local! {
    /// Stacks of coroutines that have ended, for the next ones: mapping memory costs far more than
    /// most kernels' whole run.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// The order in which blocks start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOrder {
    /// From block 0 on.
    Ascending,
    /// From the last block down.
    Descending,
    /// As the seed has it.
    Shuffled,
}

/// A machine that runs kernels on the CPU.
///
/// ```
/// use ferrosz_gpu_kernels::simt::emulator::Emulator;
/// use ferrosz_gpu_kernels::simt::{Kernel, Thread, View};
///
/// struct CountLanes;
///
/// impl Kernel for CountLanes {
///     type Params = View<u64>;
///     const NAME: &'static str = "count_lanes";
///     const THREADS: u32 = 64;
///     const SHARED_WORDS: u32 = 0;
///
///     fn run<T: Thread>(t: T, cells: &View<u64>) {
///         let lanes = t.reduce_add(1);
///         if t.lane() == 0 {
///             t.cell_add(*cells, 0, u64::from(lanes));
///         }
///     }
/// }
///
/// let mut cells = [0u64];
/// // SAFETY: the array outlives the launch, and nobody else uses it.
/// let view = unsafe { View::new(cells.as_mut_ptr(), 1) };
/// Emulator::new().launch::<CountLanes>(3, &view).unwrap();
/// assert_eq!(cells[0], 3 * 64);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Emulator {
    seed: u64,
    resident_blocks: usize,
    block_order: BlockOrder,
    spin_limit: u32,
}

impl Default for Emulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Emulator {
    /// Four blocks at a time, started in ascending order, seed 0.
    pub fn new() -> Self {
        Self {
            seed: 0,
            resident_blocks: 4,
            block_order: BlockOrder::Ascending,
            spin_limit: 1000,
        }
    }

    /// What the order of blocks, warps and lanes is drawn from.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many blocks run at a time, at least one.
    #[must_use]
    pub fn resident_blocks(mut self, blocks: usize) -> Self {
        self.resident_blocks = blocks.max(1);
        self
    }

    /// The order in which blocks start.
    #[must_use]
    pub fn block_order(mut self, order: BlockOrder) -> Self {
        self.block_order = order;
        self
    }

    /// After how many rounds without progress a spin counts as endless.
    #[must_use]
    pub fn spin_limit(mut self, rounds: u32) -> Self {
        self.spin_limit = rounds;
        self
    }

    /// Runs a kernel with so many blocks.
    ///
    /// # Errors
    ///
    /// The first [`Fault`] that is found; all threads are then stopped where they are.
    pub fn launch<K: Kernel>(&self, blocks: u32, params: &K::Params) -> Result<(), Fault> {
        let mut stacks = STACKS.take();
        let result = self.run::<K>(blocks, params, &mut stacks);
        STACKS.set(stacks);
        result
    }

    fn run<K: Kernel>(
        &self,
        blocks: u32,
        params: &K::Params,
        stacks: &mut Vec<DefaultStack>,
    ) -> Result<(), Fault> {
        let mut order = Order::new(self.seed);
        let launch = Launch::new(K::NAME, blocks);
        let mut waiting = self.start_order(blocks, &mut order);
        let mut resident: Vec<Block> = Vec::new();
        let mut idle_rounds = 0;
        while !(waiting.is_empty() && resident.is_empty()) {
            let progress = launch.progress();
            while resident.len() < self.resident_blocks
                && let Some(index) = waiting.pop()
            {
                resident.push(Block::start::<K>(&launch, index, *params, stacks)?);
                launch.note_progress();
            }
            order.shuffle(&mut resident);
            for block in &mut resident {
                block.advance(&launch, &mut order)?;
            }
            let running = resident.len();
            for i in (0..running).rev() {
                if resident[i].is_done() {
                    resident.swap_remove(i).retire(stacks);
                    launch.note_progress();
                }
            }
            idle_rounds = if launch.progress() == progress {
                idle_rounds + 1
            } else {
                0
            };
            if idle_rounds > self.spin_limit {
                return Err(launch.endless_spin());
            }
        }
        Ok(())
    }

    /// The blocks, the first to start at the end.
    fn start_order(&self, blocks: u32, order: &mut Order) -> Vec<u32> {
        let mut waiting: Vec<u32> = (0..blocks).collect();
        match self.block_order {
            BlockOrder::Ascending => waiting.reverse(),
            BlockOrder::Descending => {}
            BlockOrder::Shuffled => order.shuffle(&mut waiting),
        }
        waiting
    }
}
