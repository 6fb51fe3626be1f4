//! Mappings on a machine that runs kernels: from the user's field to the stream, and back. The codecs do not know them.

pub(crate) mod compress;
pub(crate) mod conversion;
pub(crate) mod decompress;
mod fill;
pub(crate) mod workspace;

use crate::cpu::mapping::axes::Turn;
use ferrosz_codec::container::extents::MAX_RANK;
use ferrosz_gpu_kernels::mapping::places::Places;

/// The user's numbers of the elements of an array, given what brings the user's elements into its order.
fn places(to_coded: Option<&Turn>) -> Places {
    to_coded.map_or(Places::SAME, |turn| {
        let (lengths, steps) = turn.for_kernel();
        Places {
            lengths,
            rank: MAX_RANK as u32,
            steps,
        }
    })
}

/// The tasks of a launch whose threads take one element each at a time.
pub(crate) fn tasks(elements: u64, threads: u32) -> u32 {
    let tasks = elements.div_ceil(u64::from(threads)).max(1);
    u32::try_from(tasks).unwrap_or(u32::MAX)
}
