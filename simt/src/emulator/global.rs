//! The shadow of global memory, which finds races, and loads of memory that the launch writes.
//!
//! Memory is shadowed in pages when it is first accessed. For each byte, the shadow records the first load as memory
//! that no thread writes, the last store, other loads, and atomic reads and writes. Each access is checked against the
//! recorded accesses that it may conflict with:
//!
//! * A load that promises that no thread of the launch writes the memory conflicts with every write, even of the same
//!   thread and in any order: the hardware may serve these loads from a cache that writes do not update.
//! * A store conflicts with every other access of another thread, an atomic write with stores and with loads that are
//!   not atomic, and an atomic read with stores, unless the two accesses are ordered: see `clock.rs` and `releases.rs`.

use std::collections::HashMap;
use std::{boxed::Box, format, vec::Vec};

use super::accesses::{Access, Accesses};
use super::clock::{Clock, not_ordered_by};
use super::fault::{FaultKind, Problem};
use super::page::{self, Grains, PAGE_BYTES, Page, Span};
use super::releases::{Knowledge, Operation, Releases};

/// A kind of access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// A load of memory that no thread of the launch writes.
    Load,
    /// A load of memory that threads of this block may have written.
    OwnLoad,
    Store,
    AtomicRead,
    AtomicWrite,
}

impl Touch {
    const fn does(self) -> &'static str {
        match self {
            Self::Load | Self::OwnLoad => "reads",
            Self::Store => "writes",
            Self::AtomicRead => "atomically reads",
            Self::AtomicWrite => "atomically writes",
        }
    }

    const fn did(self) -> &'static str {
        match self {
            Self::Load | Self::OwnLoad => "read",
            Self::Store => "wrote",
            Self::AtomicRead => "atomically read",
            Self::AtomicWrite => "atomically wrote",
        }
    }
}

/// A part of a view by its size and number.
#[derive(Clone, Copy)]
pub(super) enum Item {
    One(u64),
    Four(u64),
    Half(u64),
    Byte(u64),
}

impl core::fmt::Display for Item {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::One(index) => write!(f, "item {index} of a view"),
            Self::Four(index) => write!(f, "items 4 * {index} and following of a view"),
            Self::Half(half) => write!(f, "half {half} of a view"),
            Self::Byte(byte) => write!(f, "byte {byte} of a view"),
        }
    }
}

/// An earlier access with which the present one conflicts.
pub(super) struct Conflict {
    touch: Touch,
    earlier: Access,
}

impl Conflict {
    #[cold]
    pub(super) fn problem(&self, touch: Touch, item: Item, now: &Access) -> Box<Problem> {
        let earlier = &self.earlier;
        let (kind, why) = if touch == Touch::Load || self.touch == Touch::Load {
            let why = "the read is a load of memory that no thread of the launch may write; \
                       what is written needs `load_own`, `load_own_half` or an atomic read";
            (FaultKind::StaleRead, why)
        } else {
            (FaultKind::GlobalRace, not_ordered_by(earlier, now))
        };
        let detail = format!(
            "thread {} of block {} {} {item} here; thread {} of block {} {} it at {}, and {why}",
            now.thread,
            now.block,
            touch.does(),
            earlier.thread,
            earlier.block,
            self.touch.did(),
            earlier.place,
        );
        Problem::between(kind, detail, earlier.into())
    }
}

/// Slots of the cache of page positions, which avoids look-ups in the map.
const RECENT: usize = 64;

/// The shadow of all memory that a launch has accessed.
pub(super) struct GlobalShadow {
    pages: Vec<Page>,
    /// The index of each page in `pages`, by the page's address divided by [`PAGE_BYTES`].
    positions: HashMap<usize, usize>,
    /// A cache of `positions`, by the low bits of the key: key and index.
    recent: [(usize, usize); RECENT],
    releases: Releases,
}

impl GlobalShadow {
    pub(super) fn new() -> Self {
        Self {
            pages: Vec::new(),
            positions: HashMap::new(),
            recent: [(usize::MAX, 0); RECENT],
            releases: Releases::default(),
        }
    }

    /// Checks and records the access `now` to `bytes` bytes, a power of 2 that divides `address`.
    ///
    /// Inlined, since each caller passes a constant `touch`.
    #[inline(always)]
    pub(super) fn touch(
        &mut self,
        touch: Touch,
        (address, bytes): (usize, usize),
        now: Access,
        clock: &Clock,
    ) -> Result<(), Conflict> {
        let page = self.page(address / PAGE_BYTES);
        let span = Span {
            first: address % PAGE_BYTES,
            bytes,
        };
        let is_before = |earlier: &Access| clock.orders(earlier, &now);
        let is_never = |_: &Access| false;
        match touch {
            Touch::Load => {
                check_last(Touch::Store, &page.stores, span, is_never)?;
                check(Touch::AtomicWrite, &page.atomic_writes, span, is_never)?;
                for load in page.loads.of_mut(span) {
                    load.get_or_insert(now);
                }
            }
            Touch::OwnLoad => {
                check_last(Touch::Store, &page.stores, span, is_before)?;
                check(Touch::AtomicWrite, &page.atomic_writes, span, is_before)?;
                add(&mut page.own_loads, span, now, is_before);
            }
            Touch::Store => {
                check_last(Touch::Load, &page.loads, span, is_never)?;
                check_last(Touch::Store, &page.stores, span, is_before)?;
                check(Touch::OwnLoad, &page.own_loads, span, is_before)?;
                check(Touch::AtomicWrite, &page.atomic_writes, span, is_before)?;
                check(Touch::AtomicRead, &page.atomic_reads, span, is_before)?;
                for store in page.stores.of_mut(span) {
                    *store = Some(now);
                }
            }
            Touch::AtomicRead => {
                check_last(Touch::Store, &page.stores, span, is_before)?;
                add(&mut page.atomic_reads, span, now, is_before);
            }
            Touch::AtomicWrite => {
                check_last(Touch::Load, &page.loads, span, is_never)?;
                check_last(Touch::Store, &page.stores, span, is_before)?;
                check(Touch::OwnLoad, &page.own_loads, span, is_before)?;
                add(&mut page.atomic_writes, span, now, is_before);
            }
        }
        Ok(())
    }

    /// Records an atomic operation of a thread whose last fence, if any, was at time `fenced`; `seen` is the knowledge
    /// that the thread has read by atomic operations since then.
    pub(super) fn operate(
        &mut self,
        operation: Operation,
        item: usize,
        seen: &mut Knowledge,
        fenced: Option<u32>,
        clock: &Clock,
    ) {
        if operation.reads()
            && let Some(released) = self.releases.of(item)
        {
            seen.join(released);
        }
        if operation.writes() {
            let released = fenced.map(|fence| clock.released(fence));
            self.releases.write(item, operation, released);
        }
    }

    #[inline]
    fn page(&mut self, address: usize) -> &mut Page {
        let recent = &mut self.recent[address % RECENT];
        if recent.0 != address {
            let next = self.pages.len();
            let position = *self.positions.entry(address).or_insert(next);
            if position == next {
                self.pages.push(page::take());
            }
            *recent = (address, position);
        }
        &mut self.pages[recent.1]
    }
}

impl Drop for GlobalShadow {
    fn drop(&mut self) {
        self.pages.drain(..).for_each(page::give_back);
    }
}

/// Looks for a recorded access that is not ordered before the present one; each grain records one.
#[inline(always)]
fn check_last(
    touch: Touch,
    grains: &Grains<Option<Access>>,
    span: Span,
    is_before: impl Fn(&Access) -> bool,
) -> Result<(), Conflict> {
    for earlier in grains.of(span).iter().flatten() {
        if !is_before(earlier) {
            let earlier = *earlier;
            return Err(Conflict { touch, earlier });
        }
    }
    Ok(())
}

/// As [`check_last`]; each grain records several.
#[inline(always)]
fn check(
    touch: Touch,
    grains: &Grains<Accesses>,
    span: Span,
    is_before: impl Fn(&Access) -> bool + Copy,
) -> Result<(), Conflict> {
    for accesses in grains.of(span) {
        if let Some(earlier) = accesses.unordered(is_before) {
            return Err(Conflict { touch, earlier });
        }
    }
    Ok(())
}

#[inline(always)]
fn add(
    grains: &mut Grains<Accesses>,
    span: Span,
    now: Access,
    is_before: impl Fn(&Access) -> bool + Copy,
) {
    for accesses in grains.of_mut(span) {
        accesses.add(now, is_before);
    }
}
