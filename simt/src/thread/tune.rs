//! What holds back an optimiser.

use crate::thread::Ids;

/// What holds back an optimiser; it changes no result.
pub trait Tune: Ids {
    /// `value`, which the compiler may no longer assume to know: a loop up to it stays a loop.
    #[inline(always)]
    fn opaque(self, value: u32) -> u32 {
        value
    }
}
