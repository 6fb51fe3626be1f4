//! How a tile gets the position of its bodies: the sum of the lengths of all tiles before it.

use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::primitives::look_back::{LookBackState, look_back, publish};
use ferrosz_gpu_kernels::primitives::ticket::take_ticket;
use ferrosz_simt::{Shared, Thread, View};

/// A way to the sum. All functions are for a whole block.
pub trait Offsets: 'static {
    /// Its name in the names of kernels.
    const NAME: &'static str;

    /// The number of this block's tile. There is one barrier inside, or none.
    fn tile<T: Thread>(t: T, cells: View<u64>, ticket: Shared<u32>) -> u32;

    /// Says how long a tile's bodies are.
    fn publish<T: Thread>(t: T, cells: View<u64>, tile: u32, own: u32);

    /// The sum of the lengths of all tiles before one whose length is `own`. There is one barrier inside.
    fn before<T: Thread>(t: T, cells: View<u64>, tile: u32, own: u32, found: Shared<u64>) -> u64;
}

/// Decoupled look-back (cuSZp2, section IV-C, Figures 12 and 13): a tile adds up what its predecessors have published,
/// 32 at a time, until it meets a complete sum.
pub struct LookBack;

/// A chained scan (cuSZp2, Figure 12, left; the baseline of its Figure 17): a tile waits for the complete sum of the tile
/// before it.
pub struct Chained;

/// Earlier launches have left the sums: those of [`measure`](crate::pass::measure) and [`scan`](crate::pass::scan).
pub struct Known;

impl Offsets for LookBack {
    const NAME: &'static str = "look_back";

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn tile<T: Thread>(t: T, cells: View<u64>, ticket: Shared<u32>) -> u32 {
        take_ticket(t, cells, cells::TICKET, ticket, |_| ())
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn publish<T: Thread>(t: T, cells: View<u64>, tile: u32, own: u32) {
        if t.thread_index() == 0 {
            publish(t, (cells, cells::STATES), tile.into(), own.into());
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn before<T: Thread>(t: T, cells: View<u64>, tile: u32, own: u32, found: Shared<u64>) -> u64 {
        let states = (cells, cells::STATES);
        look_back(t, states, tile.into(), own.into(), found, |before| before)
    }
}

impl Offsets for Chained {
    const NAME: &'static str = "chained";

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn tile<T: Thread>(t: T, cells: View<u64>, ticket: Shared<u32>) -> u32 {
        LookBack::tile(t, cells, ticket)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn publish<T: Thread>(_: T, _: View<u64>, _: u32, _: u32) {}

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn before<T: Thread>(t: T, cells: View<u64>, tile: u32, own: u32, found: Shared<u64>) -> u64 {
        if t.warp() == 0 {
            let at = cells::STATES + u64::from(tile);
            let before = sum_of_predecessor(t, cells, at, tile == 0);
            if t.lane() == 0 {
                let state = LookBackState::Inclusive(before + u64::from(own));
                t.atomic_store(cells, at, state.to_cell());
                found.store(t, 0, before);
            }
        }
        t.barrier();
        found.load(t, 0)
    }
}

/// The complete sum in the cell before cell `at`, once it is there; 0 for the first tile. For one whole warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn sum_of_predecessor<T: Thread>(t: T, cells: View<u64>, at: u64, is_first: bool) -> u64 {
    loop {
        let state = if is_first {
            LookBackState::Inclusive(0)
        } else {
            LookBackState::from_cell(t.atomic_load(cells, at - 1))
        };
        let sum = match state {
            LookBackState::Inclusive(sum) => Some(sum),
            LookBackState::Empty | LookBackState::Partial(_) => None,
        };
        if t.ballot(sum.is_none()) == 0 {
            return sum.unwrap_or_default();
        }
        t.spin_hint();
    }
}

impl Offsets for Known {
    const NAME: &'static str = "known";

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn tile<T: Thread>(t: T, _: View<u64>, _: Shared<u32>) -> u32 {
        t.block_index()
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn publish<T: Thread>(_: T, _: View<u64>, _: u32, _: u32) {}

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn before<T: Thread>(t: T, cells: View<u64>, tile: u32, _: u32, _: Shared<u64>) -> u64 {
        t.barrier();
        t.load_u64(cells, cells::STATES + u64::from(tile))
    }
}
