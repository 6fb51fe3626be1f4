//! Accesses that the shadows of shared and of global memory record.

use super::fault::{OtherSide, Place};
use crate::WARP;

/// An access: the place in the source, the thread, and the time of its block's clock.
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

/// The recorded accesses of one kind to the same memory.
///
/// An access that is ordered before a later one is dropped: every access ordered after the later one is ordered after
/// both. Of the other accesses within a block, two are enough. If both are of one warp, each thread of that warp
/// conflicts with at least one of them until the warp synchronises, and all other threads conflict with both. If they
/// are of two warps, each thread conflicts with at least one of them until the block's barrier. While accesses of two
/// blocks are recorded, accesses of other blocks are not.
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

    /// Adds an access that happens now; `is_before` tells whether an earlier access is ordered before it.
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

    /// A recorded access that is not ordered before the present one.
    #[inline]
    pub(super) fn unordered(&self, is_before: impl Fn(&Access) -> bool) -> Option<Access> {
        let is_unordered = |access: &Access| !is_before(access);
        let second = || self.second.filter(is_unordered);
        self.first.filter(is_unordered).or_else(second)
    }
}
