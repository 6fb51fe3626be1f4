//! The layered codec's prediction, which runs from thread to thread through a chunk: AATROX's
//! "circular shift" and "tail rotation" (ICS'25, section 4.1), by a thread block instead of a warp.

use crate::pipeline::blocks::CHUNK_WARPS;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, WHOLE_GROUP};
use ferrosz_simt::{Layout, Shared, Thread, WARP};

/// The two codes that a thread needs of those before its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// The chunk's first code, if it has any.
    pub initial: Option<i32>,
    /// The last code before this thread's; the initial one if there is none.
    pub before: i32,
}

/// The shared memory of [`find`]: each warp's first and last code, and whether it has any.
#[derive(Clone, Copy)]
pub struct Scratch {
    firsts: Shared<i32>,
    lasts: Shared<i32>,
    flags: Shared<u32>,
}

impl Scratch {
    /// Takes its words from a layout.
    pub const fn new(layout: &mut Layout) -> Self {
        Self {
            firsts: layout.array("layer: first codes", CHUNK_WARPS as u32),
            lasts: layout.array("layer: last codes", CHUNK_WARPS as u32),
            flags: layout.array("layer: flags", CHUNK_WARPS as u32),
        }
    }
}

/// The codes that a thread must know of those before its own. Positions not in `has_code` have none.
///
/// For the whole block. Nothing else touches `scratch` from the barrier before this call to the barrier after it. There
/// is one barrier inside.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn find<T: Thread>(t: T, codes: &Group, has_code: u32, scratch: Scratch) -> Neighbour {
    let Scratch {
        firsts,
        lasts,
        flags,
    } = scratch;
    let (mut first, mut last) = (codes[0], codes[GROUP - 1]);
    if has_code != WHOLE_GROUP && has_code != 0 {
        first = pick(codes, has_code.trailing_zeros());
        last = pick(codes, has_code.ilog2());
    }
    let lanes = t.ballot(has_code != 0);
    let lower = lanes & ((1 << t.lane()) - 1);
    let highest = |lanes: u32| WARP - 1 - lanes.leading_zeros().min(WARP - 1);
    let left = t
        .shuffle(last.cast_unsigned(), highest(lower))
        .cast_signed();
    let warp_first = t.shuffle(first.cast_unsigned(), lanes.trailing_zeros() % WARP);
    let warp_last = t.shuffle(last.cast_unsigned(), highest(lanes));
    if t.lane() == 0 {
        firsts.store(t, t.warp(), warp_first.cast_signed());
        lasts.store(t, t.warp(), warp_last.cast_signed());
        flags.store(t, t.warp(), u32::from(lanes != 0));
    }
    t.barrier();
    let mut initial = None;
    let mut before = None;
    for i in 0..CHUNK_WARPS as u32 {
        let warp = CHUNK_WARPS as u32 - 1 - i;
        if flags.load(t, warp) != 0 {
            initial = Some(firsts.load(t, warp));
            if warp < t.warp() && before.is_none() {
                before = Some(lasts.load(t, warp));
            }
        }
    }
    Neighbour {
        initial,
        before: if lower != 0 {
            left
        } else {
            before.or(initial).unwrap_or(0)
        },
    }
}

/// Code number `index`. A register has no address: the one is found by comparison.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn pick(codes: &Group, index: u32) -> i32 {
    let mut found = 0;
    for (i, code) in codes.iter().enumerate() {
        found = if i as u32 == index { *code } else { found };
    }
    found
}
