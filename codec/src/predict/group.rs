//! A group: 32 codes of a block, which one GPU thread holds.

use crate::shape::{GROUP, Shape};

/// A group's codes or differences.
pub type Group = [i32; GROUP];

/// The most codes that a group needs from the group before it: see [`Shape::reach`].
pub const MAX_REACH: usize = 16;

/// The values that a group needs from the group before it: its last [`Shape::reach`] values, in order.
pub type Before = [i32; MAX_REACH];

/// The last codes of a group, for the next one.
#[inline(always)]
pub fn last_of(shape: Shape, group: &Group) -> Before {
    let reach = shape.reach();
    core::array::from_fn(|i| {
        if i < reach {
            group[GROUP - reach + i]
        } else {
            0
        }
    })
}
