//! The shadow of a page of global memory.

use core::cell::RefCell;
use std::vec::Vec;

use super::accesses::{Access, Accesses};

/// Bytes of a page; no access crosses a page boundary.
pub(super) const PAGE_BYTES: usize = 4096;

/// Bytes of an access at most.
const MOST_BYTES: usize = 16;

/// The bytes of a page that an access covers: `bytes` is a power of 2 that divides `first`.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) bytes: usize,
}

/// A record for each *grain* of a page. A grain is as long as the shortest recorded access, so that each access covers
/// whole grains; before the first access there are no grains.
pub(super) struct Grains<T> {
    /// A grain has 2^`shift` bytes.
    shift: u32,
    items: Vec<T>,
}

impl<T: Copy + Default> Grains<T> {
    pub(super) const NONE: Self = Self {
        shift: MOST_BYTES.trailing_zeros(),
        items: Vec::new(),
    };

    /// The records of all grains that a span overlaps.
    #[inline]
    pub(super) fn of(&self, span: Span) -> &[T] {
        if self.items.is_empty() {
            return &[];
        }
        let last = span.first + span.bytes - 1;
        &self.items[span.first >> self.shift..=last >> self.shift]
    }

    /// The records of the grains of a span; grains that are longer than the span are split first.
    #[inline]
    pub(super) fn of_mut(&mut self, span: Span) -> &mut [T] {
        if self.items.is_empty() || span.bytes >> self.shift == 0 {
            self.refine(span.bytes.trailing_zeros());
        }
        let first = span.first >> self.shift;
        &mut self.items[first..first + (span.bytes >> self.shift)]
    }

    /// Splits the grains into grains of 2^`shift` bytes; `shift` is at most the present one.
    #[cold]
    #[inline(never)]
    fn refine(&mut self, shift: u32) {
        if self.items.is_empty() {
            self.items.resize(PAGE_BYTES >> shift, T::default());
        } else {
            let times = 1 << (self.shift - shift);
            let repeated = |item: &T| core::iter::repeat_n(*item, times);
            self.items = self.items.iter().flat_map(repeated).collect();
        }
        self.shift = shift;
    }

    /// Removes all records.
    fn clear(&mut self) {
        self.items.clear();
    }
}

/// The accesses to each byte of a page since the launch began.
pub(super) struct Page {
    /// The first load of memory that no thread may write.
    pub(super) loads: Grains<Option<Access>>,
    /// The last store.
    pub(super) stores: Grains<Option<Access>>,
    /// Loads of memory that threads may write.
    pub(super) own_loads: Grains<Accesses>,
    pub(super) atomic_reads: Grains<Accesses>,
    pub(super) atomic_writes: Grains<Accesses>,
}

impl Page {
    const UNTOUCHED: Self = Self {
        loads: Grains::NONE,
        stores: Grains::NONE,
        own_loads: Grains::NONE,
        atomic_reads: Grains::NONE,
        atomic_writes: Grains::NONE,
    };
}

/// Pages in the pool of an OS thread at most.
const KEPT: usize = 512;

std::thread_local! {
    /// A pool of shadows. A shadow is many times as large as its memory, and allocating it for each launch would take
    /// longer than most launches.
    static POOL: RefCell<Vec<Page>> = const { RefCell::new(Vec::new()) };
}

/// Takes the shadow of a page without accesses.
pub(super) fn take() -> Page {
    POOL.with_borrow_mut(Vec::pop).unwrap_or(Page::UNTOUCHED)
}

/// Returns a page's memory to the pool.
pub(super) fn give_back(mut page: Page) {
    page.loads.clear();
    page.stores.clear();
    page.own_loads.clear();
    page.atomic_reads.clear();
    page.atomic_writes.clear();
    POOL.with_borrow_mut(|pool| {
        if pool.len() < KEPT {
            pool.push(page);
        }
    });
}
