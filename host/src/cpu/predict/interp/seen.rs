//! The stencils of a class in the last slices. A slice has terms of those before it, whose stencils do not change any more:
//! they are computed once.

use crate::cpu::predict::interp::store::copy;
use ferrosz_codec::predict::slices::terms::{MAX_OWN, REFERENCES};

/// Slices whose bases are needed: the references, and the slice itself.
const BASES: usize = REFERENCES + 1;

/// Slices whose terms are needed.
const TERMS: usize = 2;

/// Numbers of a position: the bases, and then the terms.
pub(super) const SLOTS: usize = BASES + TERMS * MAX_OWN;

/// The bases and terms of the positions of a class in the last slices, in the layout of a slice.
pub(super) struct Seen<'a, T> {
    all: &'a mut [T],
    slice: usize,
}

impl<'a, T: Copy> Seen<'a, T> {
    /// In memory for [`SLOTS`] slices of this length.
    pub(super) fn new(all: &'a mut [T], slice: usize) -> Self {
        Self { all, slice }
    }

    /// The same for a shorter time.
    #[inline(always)]
    pub(super) fn again(&mut self) -> Seen<'_, T> {
        Seen {
            all: self.all,
            slice: self.slice,
        }
    }

    /// The bases of positions of a slice.
    #[inline(always)]
    pub(super) fn bases(&self, slice: usize, at: usize, lanes: usize) -> &[T] {
        self.slot(slice % BASES, at, lanes)
    }

    /// One of the terms of positions of a slice.
    #[inline(always)]
    pub(super) fn terms(&self, slice: usize, term: usize, at: usize, lanes: usize) -> &[T] {
        self.slot(Self::slot_of_term(slice, term), at, lanes)
    }

    /// Sets the bases and the first `count` terms of positions of a slice.
    #[inline(always)]
    pub(super) fn set<const N: usize>(
        &mut self,
        (slice, at): (usize, usize),
        lanes: usize,
        bases: &[T; N],
        terms: &[[T; N]; MAX_OWN],
        count: usize,
    ) {
        let mut set = |slot: usize, from: &[T; N]| {
            let first = slot * self.slice + at;
            copy(&from[..lanes], &mut self.all[first..][..lanes]);
        };
        set(slice % BASES, bases);
        for (term, from) in terms.iter().enumerate().take(count) {
            set(Self::slot_of_term(slice, term), from);
        }
    }

    #[inline(always)]
    fn slot(&self, slot: usize, at: usize, lanes: usize) -> &[T] {
        &self.all[slot * self.slice + at..][..lanes]
    }

    #[inline(always)]
    const fn slot_of_term(slice: usize, term: usize) -> usize {
        BASES + slice % TERMS * MAX_OWN + term
    }
}
