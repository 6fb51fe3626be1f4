//! A thread's elements as they will be stored.

use crate::pass::PassParams;
use crate::pass::access::{Access, read_codes};
use crate::pass::block_length::{BlockLength, forward};
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::block::SignedGroup;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::shape::Shape;
use ferrosz_cuszp::cuszp::mode::Mode;
use ferrosz_cuszp::cuszp::rate::BlockKind;
use ferrosz_gpu_kernels::pipeline::blocks::compress::{first_and_others, is_first};
use ferrosz_gpu_kernels::pipeline::blocks::groups;
use ferrosz_simt::Thread;

/// The kind of all blocks.
const KIND: BlockKind = BlockKind {
    shape: Shape::Line,
    mode: Mode::Plain,
};

/// A group, and the rate of its block.
pub struct CodedGroup {
    /// The differences.
    pub group: SignedGroup,
    /// The rate of the block.
    pub rate: RateByte,
}

impl CodedGroup {
    /// That of this thread in a tile. For whole warps.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn read<T: Thread, E: Element, A: Access, B: BlockLength>(
        t: T,
        params: &PassParams,
        tile: u32,
    ) -> Self {
        let mut codes = read_codes::<T, E, A>(t, params, tile);
        forward::<T, B>(t, &mut codes);
        let mut group = SignedGroup::split(&codes);
        // Otherwise the codes stay live until the signs are stored.
        group.signs = t.opaque(group.signs);
        let (first, others) = first_and_others::<T, B::Body>(t, &group);
        let rate = KIND.rate(KIND.choose(first, others).byte);
        Self { group, rate }
    }

    /// Bytes of the block's body.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn body_bytes<B: BlockLength>(&self) -> u32 {
        self.rate.body_bytes(groups::<B::Body>())
    }

    /// Bytes that this thread adds to the tile: the body's for the first thread of a block, none for the second.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn own_bytes<T: Thread, B: BlockLength>(&self, t: T) -> u32 {
        let bytes = self.body_bytes::<B>();
        if is_first::<T, B::Body>(t) { bytes } else { 0 }
    }
}
