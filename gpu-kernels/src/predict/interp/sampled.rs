//! The tiles among which the samples of a tuning are.

use crate::choice::taken_tiles::TakenTiles;
use crate::predict::interp::method::Method;
use ferrosz_codec::predict::interp::tune::sample::Samples;
use ferrosz_simt::Thread;

/// The tiles of a field, of which a machine has some.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sampled {
    /// Tiles of the field before the first that the machine has.
    before: u64,
    /// Tiles that the machine has.
    own: u64,
    /// Tiles of the field.
    all: u64,
    /// The samples, if they are given.
    taken: TakenTiles,
}

impl Sampled {
    /// So many tiles that a machine has behind `before` others, of a field of `all` tiles.
    pub const fn new(before: u64, own: u64, all: u64) -> Self {
        let taken = TakenTiles::all();
        Self {
            before,
            own,
            all,
            taken,
        }
    }

    /// All tiles of a field.
    pub const fn whole(tiles: u64) -> Self {
        Self::new(0, tiles, tiles)
    }

    /// These samples of a field of so many tiles. Their scope is that of a field with as many samples as there may be.
    pub const fn given(taken: TakenTiles, tiles: u64) -> Self {
        let whole = Self::whole(tiles);
        Self { taken, ..whole }
    }

    /// The number of samples that are given.
    pub const fn count_given(&self) -> Option<u32> {
        if self.taken.is_all() {
            None
        } else {
            Some(self.taken.count() as u32)
        }
    }

    /// Tiles of the field.
    pub const fn all(&self) -> u64 {
        self.all
    }

    /// The samples of the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) const fn samples<M: Method>(&self) -> Samples {
        if M::IS_FITTED || !self.taken.is_all() {
            Samples::most(self.all)
        } else {
            Samples::new(self.all)
        }
    }

    /// How many samples there are.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) const fn count(&self, samples: &Samples) -> u32 {
        if self.taken.is_all() {
            samples.count()
        } else {
            self.taken.count() as u32
        }
    }

    /// The number among the machine's tiles of a sample of the field; none if another machine has it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn tile<T: Thread>(&self, t: T, samples: &Samples, sample: u32) -> Option<u64> {
        if !self.taken.is_all() {
            return Some(self.taken.number(t, sample.into()));
        }
        let number = samples.tile(sample).wrapping_sub(self.before);
        if number < self.own {
            Some(number)
        } else {
            None
        }
    }
}
