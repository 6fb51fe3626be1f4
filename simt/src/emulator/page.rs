//! The shadow of a page of global memory.

use core::cell::RefCell;
use std::vec::Vec;

use super::accesses::{Access, Accesses};

/// Bytes of a page; no access crosses from one to the next.
pub(super) const PAGE_BYTES: usize = 4096;

/// The most bytes that are accessed at once.
const MOST_BYTES: usize = 16;

/// Which bytes of a page an access touches: so many, which are a power of 2 that divides the first one's number.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) bytes: usize,
}

/// What is remembered of each *grain* of a page. Grains are as long as the shortest access that was recorded, so that
/// each access is of whole grains; before the first one nothing is kept.
pub(super) struct Grains<T> {
    /// A grain is 2^`shift` bytes.
    shift: u32,
    items: Vec<T>,
}

impl<T: Copy + Default> Grains<T> {
    pub(super) const NONE: Self = Self {
        shift: MOST_BYTES.trailing_zeros(),
        items: Vec::new(),
    };

    /// What is remembered of the grains that a span touches.
    #[inline]
    pub(super) fn of(&self, span: Span) -> &[T] {
        if self.items.is_empty() {
            return &[];
        }
        let last = span.first + span.bytes - 1;
        &self.items[span.first >> self.shift..=last >> self.shift]
    }

    /// The grains that a span is made of.
    #[inline]
    pub(super) fn of_mut(&mut self, span: Span) -> &mut [T] {
        if self.items.is_empty() || span.bytes >> self.shift == 0 {
            self.refine(span.bytes.trailing_zeros());
        }
        let first = span.first >> self.shift;
        &mut self.items[first..first + (span.bytes >> self.shift)]
    }

    /// Makes grains of 2^`shift` bytes, which is no more than they have.
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

    /// Forgets all.
    fn clear(&mut self) {
        self.items.clear();
    }
}

/// Who did what to each byte of a page since the launch began.
pub(super) struct Page {
    /// The first load of memory that nobody may write.
    pub(super) loads: Grains<Option<Access>>,
    /// The last store.
    pub(super) stores: Grains<Option<Access>>,
    /// Reads of memory that may be written.
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

/// What an idle OS thread holds on to at most.
const KEPT: usize = 512;

std::thread_local! {
    /// Shadows are as large as what they shadow many times over: to get new memory for each launch costs more than most
    /// launches.
    static POOL: RefCell<Vec<Page>> = const { RefCell::new(Vec::new()) };
}

/// The shadow of a page that nobody has touched.
pub(super) fn take() -> Page {
    POOL.with_borrow_mut(Vec::pop).unwrap_or(Page::UNTOUCHED)
}

/// Keeps a page's memory for later.
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
