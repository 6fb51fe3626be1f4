//! The operations of a kernel: one trait for each kind of instruction, and [`Thread`], which combines them.
//!
//! A kernel's functions take a `T: Thread`, whose methods need no further import.

mod atomics;
mod bits;
mod collectives;
mod global;
mod halves;
mod ids;
mod shared;
mod tune;

pub use atomics::{AtomicWord, Atomics};
pub use bits::BitInstructions;
pub use collectives::Collectives;
pub use global::GlobalMemory;
pub use halves::HalfInstructions;
pub use ids::Ids;
pub use shared::SharedMemory;
pub use tune::Tune;

/// One GPU thread, as its kernel sees it.
pub trait Thread:
    Ids
    + Collectives
    + SharedMemory
    + GlobalMemory
    + Atomics
    + BitInstructions
    + HalfInstructions
    + Tune
{
}

impl<T> Thread for T where
    T: Ids
        + Collectives
        + SharedMemory
        + GlobalMemory
        + Atomics
        + BitInstructions
        + HalfInstructions
        + Tune
{
}
