//! The tiles among which the samples of a tuning are.

use crate::predict::interp::method::Method;
use ferrosz_codec::predict::interp::tune::sample::Samples;

/// The tiles of a field, of which a machine has some.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Sampled {
    /// Tiles of the field before the first that the machine has.
    before: u64,
    /// Tiles that the machine has.
    own: u64,
    /// Tiles of the field.
    all: u64,
}

impl Sampled {
    /// So many tiles that a machine has behind `before` others, of a field of `all` tiles.
    pub const fn new(before: u64, own: u64, all: u64) -> Self {
        Self { before, own, all }
    }

    /// All tiles of a field.
    pub const fn whole(tiles: u64) -> Self {
        Self::new(0, tiles, tiles)
    }

    /// Tiles of the field.
    pub const fn all(&self) -> u64 {
        self.all
    }

    /// The samples of the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) const fn samples<M: Method>(&self) -> Samples {
        if M::IS_FITTED {
            Samples::most(self.all)
        } else {
            Samples::new(self.all)
        }
    }

    /// The number among the machine's tiles of a sample of the field; none if another machine has it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn tile(&self, samples: &Samples, sample: u32) -> Option<u64> {
        let number = samples.tile(sample).wrapping_sub(self.before);
        if number < self.own {
            Some(number)
        } else {
            None
        }
    }
}
