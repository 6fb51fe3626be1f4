//! The tiles that are in a sample of a field. Kernels of compression that are given a list of tiles work on these alone.

use ferrosz_simt::{Thread, View};

/// Numbers of a tile in the list: its own in the field, and its weight.
pub const TAKEN_NUMBERS: u64 = 2;

/// A list of tiles; an empty one stands for all tiles of the field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TakenTiles {
    list: View<u64>,
}

impl TakenTiles {
    /// All tiles of a field.
    pub const fn all() -> Self {
        Self {
            list: View::empty(),
        }
    }

    /// Those of a list, each with [`TAKEN_NUMBERS`] numbers.
    pub const fn of(list: View<u64>) -> Self {
        Self { list }
    }

    /// The tiles from number `first` of the list on; at least one.
    #[must_use]
    pub fn from(self, first: u64) -> Self {
        Self::of(self.list.from(first * TAKEN_NUMBERS))
    }

    /// Whether these are all tiles of the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn is_all(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are; 0 if these are all of the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn count(&self) -> u64 {
        self.list.len() / TAKEN_NUMBERS
    }

    /// The number in the field of a tile of the list, which has it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn number<T: Thread>(&self, t: T, at: u64) -> u64 {
        t.load_u64(self.list, at * TAKEN_NUMBERS)
    }

    /// How many tiles a tile of the list stands for.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn weight<T: Thread>(&self, t: T, at: u64) -> u64 {
        t.load_u64(self.list, at * TAKEN_NUMBERS + 1)
    }
}
