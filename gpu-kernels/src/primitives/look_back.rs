//! Decoupled look-back: a sum over all blocks of a grid in one pass.
//!
//! After D. Merrill and M. Garland, "Single-pass parallel prefix scan with decoupled look-back",
//! NVIDIA NVR-2016-002. Every block first publishes its own sum (a *partial* state), then walks
//! back over its predecessors, 32 at a time, until it meets one that knows the sum of everything
//! up to itself (an *inclusive* state), and publishes its own inclusive state.
//!
//! A state is one 64-bit cell, value and status together, so no order between cells is needed.
//! Blocks must take their numbers from a counter in the order in which they start
//! ([`ticket`](crate::primitives::ticket)): then those that a block waits for are all running, whatever the hardware's
//! order, and nobody waits for ever.

use crate::primitives::scan::warp_sum_u64;
use ferrosz_simt::{Shared, Thread, View, WARP};

const STATUS_SHIFT: u32 = 62;
const VALUE: u64 = (1 << STATUS_SHIFT) - 1;

/// The look-back state of a block: the known part of its sum. Zeroed memory says [`LookBackState::Empty`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookBackState {
    /// Nothing yet.
    Empty,
    /// The block's own sum.
    Partial(u64),
    /// The sum of the block and all before it.
    Inclusive(u64),
}

impl LookBackState {
    /// The state in a cell.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn from_cell(cell: u64) -> Self {
        match cell >> STATUS_SHIFT {
            0 => Self::Empty,
            1 => Self::Partial(cell & VALUE),
            _ => Self::Inclusive(cell & VALUE),
        }
    }

    /// The state as a cell; values are below 2^62.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn to_cell(self) -> u64 {
        match self {
            Self::Empty => 0,
            Self::Partial(sum) => 1 << STATUS_SHIFT | sum,
            Self::Inclusive(sum) => 2 << STATUS_SHIFT | sum,
        }
    }
}

/// The sum of all blocks before `number`, in every lane. For one whole warp. The state of block 0 is cell `first` of
/// `states`.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn sum_before<T: Thread>(t: T, states: View<u64>, first: u64, number: u64) -> u64 {
    let lane = u64::from(t.lane());
    let mut sum = 0u64;
    let mut end = number;
    loop {
        // Lane l looks at block end - 1 - l; before block 0 all sums are known to be 0.
        let state = if lane < end {
            LookBackState::from_cell(t.atomic_load(states, first + end - 1 - lane))
        } else {
            LookBackState::Inclusive(0)
        };
        let inclusive = t.ballot(matches!(state, LookBackState::Inclusive(_)));
        let empty = t.ballot(state == LookBackState::Empty);
        // Lanes up to the nearest inclusive state, or all.
        let needed = inclusive ^ inclusive.wrapping_sub(1);
        if empty & needed != 0 {
            t.spin_hint();
            continue;
        }
        let value = match state {
            LookBackState::Partial(value) | LookBackState::Inclusive(value)
                if needed >> t.lane() & 1 == 1 =>
            {
                value
            }
            _ => 0,
        };
        sum = sum.wrapping_add(warp_sum_u64(t, value));
        if inclusive != 0 {
            return sum;
        }
        end -= u64::from(WARP);
    }
}

/// Publishes a block's own sum. For one thread. `states` are cells, and which of them is the state of block 0.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn publish<T: Thread>(t: T, (states, first): (View<u64>, u64), number: u64, own: u64) {
    let state = LookBackState::Partial(own);
    t.atomic_store(states, first + number, state.to_cell());
}

/// The end of a look-back, for the whole block `number`: the result of `find` for the sum of all blocks before it.
/// There is one barrier inside.
///
/// The first warp looks back and publishes the inclusive state, `own` being the block's own sum. It calls `find` with
/// the sum before; all threads get the result from `found`, an array of one element.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn look_back<T: Thread>(
    t: T,
    (states, first): (View<u64>, u64),
    number: u64,
    own: u64,
    found: Shared<u64>,
    find: impl FnOnce(u64) -> u64,
) -> u64 {
    if t.warp() == 0 {
        let before = sum_before(t, states, first, number);
        let value = find(before);
        if t.lane() == 0 {
            let state = LookBackState::Inclusive(before + own);
            t.atomic_store(states, first + number, state.to_cell());
            found.store(t, 0, value);
        }
    }
    t.barrier();
    found.load(t, 0)
}
