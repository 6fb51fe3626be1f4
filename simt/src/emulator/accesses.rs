//! Who touched a piece of memory, as the shadows of shared and of global memory remember it.

use super::fault::{OtherSide, Place};
use crate::WARP;

/// One access: by whom, from where in the source, and when by the clock of its block.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) place: Place,
    pub(super) block: u32,
    pub(super) thread: u32,
    pub(super) time: u32,
}

impl Access {
    pub(super) fn warp(&self) -> u32 {
        self.thread / WARP
    }

    pub(super) fn is_of_warp_of(&self, other: &Self) -> bool {
        self.block == other.block && self.warp() == other.warp()
    }
}

impl From<&Access> for OtherSide {
    fn from(access: &Access) -> Self {
        Self {
            block: access.block,
            thread: access.thread,
            location: access.place,
        }
    }
}

/// The accesses of one sort that no later one of that sort stands for.
///
/// An access that is ordered before a later one need not be kept: all that is ordered behind the later one is ordered
/// behind both. Of those that are left, two are enough within a block: if they are of one warp, each thread of that
/// warp conflicts with one of the two until the warp synchronises, and all other threads conflict with both; if they
/// are of two warps, each thread conflicts with one of the two until the block's barrier. Of more than two blocks the
/// rest is forgotten.
#[derive(Clone, Copy, Default)]
pub(super) struct Accesses {
    first: Option<Access>,
    second: Option<Access>,
}

impl Accesses {
    pub(super) const NONE: Self = Self {
        first: None,
        second: None,
    };

    pub(super) const fn one(access: Access) -> Self {
        Self {
            first: Some(access),
            second: None,
        }
    }

    pub(super) fn any(&self) -> Option<Access> {
        self.first
    }

    /// Adds an access that happens now; `is_before` says which earlier ones are ordered before it.
    #[inline]
    pub(super) fn add(&mut self, access: Access, is_before: impl Fn(&Access) -> bool) {
        let first = self.first.filter(|first| !is_before(first));
        let second = self.second.filter(|second| !is_before(second));
        *self = match (first, second) {
            (None, None) => Self::one(access),
            (Some(kept), None) | (None, Some(kept)) => Self {
                first: Some(kept),
                second: Some(access),
            },
            (Some(first), Some(second)) => {
                let is_second_needed = !first.is_of_warp_of(&second);
                Self {
                    first: Some(first),
                    second: Some(if is_second_needed { second } else { access }),
                }
            }
        };
    }

    /// One of these accesses that is not ordered before one that happens now.
    #[inline]
    pub(super) fn unordered(&self, is_before: impl Fn(&Access) -> bool) -> Option<Access> {
        let is_unordered = |access: &Access| !is_before(access);
        let second = || self.second.filter(is_unordered);
        self.first.filter(is_unordered).or_else(second)
    }
}
