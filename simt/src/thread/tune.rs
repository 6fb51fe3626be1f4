//! Operations that restrain the optimiser.

use crate::thread::Ids;

/// Operations that restrain the optimiser; they change no result.
pub trait Tune: Ids {
    /// Returns `value`, without the compiler knowing anything about it: a loop up to it is not unrolled.
    #[inline(always)]
    fn opaque(self, value: u32) -> u32 {
        value
    }
}
