//! The length of a block in a line.

use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Line, Plane, Shape, StaticShape};
use ferrosz_gpu_kernels::pipeline::blocks::groups;
use ferrosz_simt::Thread;

/// A length: one group or two.
pub trait BlockLength: 'static {
    /// Its name in the names of kernels.
    const NAME: &'static str;
    /// The shape whose bodies have as many words for a row; the elements lie in a line.
    type Body: StaticShape;
}

/// 32 elements, as in cuSZp.
pub struct Of32;

/// 64 elements, as in the row 1D of cuSZp2's Table VI: as many as in its blocks of 8 x 8 and 4 x 4 x 4.
pub struct Of64;

impl BlockLength for Of32 {
    const NAME: &'static str = "of_32";
    type Body = Line;
}

impl BlockLength for Of64 {
    const NAME: &'static str = "of_64";
    type Body = Plane;
}

/// Codes to differences; 0 predicts the first code of a block. For whole warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn forward<T: Thread, B: BlockLength>(t: T, codes: &mut Group) {
    let mut before = 0;
    if groups::<B::Body>() == 2 {
        let last = t.shuffle_up(codes[GROUP - 1].cast_unsigned(), 1);
        before = if t.lane() % 2 == 1 { last } else { 0 };
    }
    difference::forward(Shape::Line, codes, before.cast_signed());
}
