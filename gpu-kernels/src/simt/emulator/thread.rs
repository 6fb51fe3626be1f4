//! A thread of the emulator, as a kernel sees it.

use super::block::{Launch, Wait};
use super::fault::{Fault, FaultKind};
use super::shared::{SharedMemory, Time, Wrong};
use crate::simt::{Thread, View, WARP};
use corosensei::Yielder;
use std::cell::{Cell, RefCell};
use std::format;
use std::panic::Location;
use std::string::String;
use std::vec::Vec;

/// What the threads of a block share.
pub(super) struct BlockState {
    pub(super) launch: *const Launch,
    pub(super) index: u32,
    pub(super) shared: RefCell<SharedMemory>,
    /// Barriers so far, counted from 1.
    pub(super) barriers: Cell<u32>,
    /// `sync_warp`s so far, of each warp, counted from 1.
    pub(super) warp_syncs: Vec<Cell<u32>>,
}

/// A GPU thread on the emulator.
#[derive(Clone, Copy)]
pub struct EmulatorThread<'a> {
    pub(super) block: &'a BlockState,
    pub(super) yielder: &'a Yielder<u32, Wait>,
    pub(super) index: u32,
}

/// A warp's collective, with a lane's operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collective {
    Shuffle { value: u32, source: u32 },
    ShuffleUp { value: u32, delta: u32 },
    ShuffleXor { value: u32, mask: u32 },
    Ballot { predicate: bool },
    ReduceMax { value: u32 },
    ReduceAdd { value: u32 },
    Sync,
}

type Place = &'static Location<'static>;

impl EmulatorThread<'_> {
    fn launch(&self) -> &Launch {
        // SAFETY: a launch outlives its blocks, and they their threads.
        unsafe { &*self.block.launch }
    }

    /// Reports a fault. The thread is never resumed.
    fn fail(self, kind: FaultKind, location: Place, detail: String) -> ! {
        self.launch().report(Fault {
            kind,
            kernel: self.launch().kernel,
            block: self.block.index,
            thread: self.index,
            location: Some(location),
            detail,
        });
        loop {
            self.yielder.suspend(Wait::Fault);
        }
    }

    fn collective(self, collective: Collective, place: Place) -> u32 {
        self.yielder.suspend(Wait::Collective(collective, place))
    }

    fn now(self) -> Time {
        Time {
            block: self.block.barriers.get(),
            warp: self.block.warp_syncs[(self.index / WARP) as usize].get(),
        }
    }

    fn shared<R>(
        self,
        place: Place,
        access: impl FnOnce(&mut SharedMemory) -> Result<R, Wrong>,
    ) -> R {
        let result = access(&mut self.block.shared.borrow_mut());
        match result {
            Ok(value) => value,
            Err((kind, detail)) => self.fail(kind, place, detail),
        }
    }

    fn check_alignment(self, is_aligned: bool, place: Place, what: &str) {
        if !is_aligned {
            let detail = format!("four words at {what}, which is no multiple of 16 bytes");
            self.fail(FaultKind::Misaligned, place, detail);
        }
    }

    /// The address of `count` items from `index` on.
    fn global<W>(self, view: View<W>, index: u64, count: u64, place: Place) -> *mut W {
        let len = view.len();
        if index.checked_add(count).is_none_or(|end| end > len) {
            let detail = format!("items {index}.. of a view of {len}");
            self.fail(FaultKind::ViewOutOfBounds, place, detail);
        }
        view.address().wrapping_add(index as usize)
    }

    fn global4(self, view: View<u32>, index: u64, place: Place) -> *mut u32 {
        let address = self.global(view, index.saturating_mul(4), 4, place);
        self.check_alignment(address.addr().is_multiple_of(16), place, "a global address");
        address
    }
}

impl Thread for EmulatorThread<'_> {
    fn thread_index(self) -> u32 {
        self.index
    }

    fn block_index(self) -> u32 {
        self.block.index
    }

    fn block_count(self) -> u32 {
        self.launch().blocks
    }

    #[track_caller]
    fn shuffle(self, value: u32, source: u32) -> u32 {
        self.collective(Collective::Shuffle { value, source }, Location::caller())
    }

    #[track_caller]
    fn shuffle_up(self, value: u32, delta: u32) -> u32 {
        self.collective(Collective::ShuffleUp { value, delta }, Location::caller())
    }

    #[track_caller]
    fn shuffle_xor(self, value: u32, mask: u32) -> u32 {
        self.collective(Collective::ShuffleXor { value, mask }, Location::caller())
    }

    #[track_caller]
    fn ballot(self, predicate: bool) -> u32 {
        self.collective(Collective::Ballot { predicate }, Location::caller())
    }

    #[track_caller]
    fn reduce_max(self, value: u32) -> u32 {
        self.collective(Collective::ReduceMax { value }, Location::caller())
    }

    #[track_caller]
    fn reduce_add(self, value: u32) -> u32 {
        self.collective(Collective::ReduceAdd { value }, Location::caller())
    }

    #[track_caller]
    fn sync_warp(self) {
        self.collective(Collective::Sync, Location::caller());
    }

    #[track_caller]
    fn barrier(self) {
        self.yielder
            .suspend(Wait::Barrier(false, Location::caller()));
    }

    #[track_caller]
    fn barrier_or(self, predicate: bool) -> bool {
        self.yielder
            .suspend(Wait::Barrier(predicate, Location::caller()))
            != 0
    }

    #[track_caller]
    fn shared_load(self, word: u32) -> u32 {
        self.shared(Location::caller(), |shared| {
            shared.load(word, self.index, self.now())
        })
    }

    #[track_caller]
    fn shared_store(self, word: u32, value: u32) {
        self.shared(Location::caller(), |shared| {
            shared.store(word, value, self.index, self.now())
        });
    }

    #[track_caller]
    fn shared_load4(self, word: u32) -> [u32; 4] {
        let place = Location::caller();
        self.check_alignment(
            word.is_multiple_of(4),
            place,
            &format!("shared word {word}"),
        );
        self.shared(place, |shared| {
            let mut values = [0; 4];
            for (word, value) in (word..).zip(&mut values) {
                *value = shared.load(word, self.index, self.now())?;
            }
            Ok(values)
        })
    }

    #[track_caller]
    fn shared_store4(self, word: u32, values: [u32; 4]) {
        let place = Location::caller();
        self.check_alignment(
            word.is_multiple_of(4),
            place,
            &format!("shared word {word}"),
        );
        self.shared(place, |shared| {
            (word..)
                .zip(values)
                .try_for_each(|(word, value)| shared.store(word, value, self.index, self.now()))
        });
    }

    #[track_caller]
    fn shared_or(self, word: u32, bits: u32) {
        self.shared(Location::caller(), |shared| {
            shared.or(word, bits, self.index, self.now())
        });
    }

    #[track_caller]
    fn load(self, view: View<u32>, index: u64) -> u32 {
        let address = self.global(view, index, 1, Location::caller());
        // SAFETY: in the view, which is valid by its contract.
        unsafe { address.read() }
    }

    #[track_caller]
    fn load4(self, view: View<u32>, index: u64) -> [u32; 4] {
        let address = self.global4(view, index, Location::caller());
        // SAFETY: in the view, which is valid by its contract.
        unsafe { address.cast::<[u32; 4]>().read() }
    }

    #[track_caller]
    fn store(self, view: View<u32>, index: u64, value: u32) {
        let address = self.global(view, index, 1, Location::caller());
        self.launch().note_progress();
        // SAFETY: in the view, which is valid by its contract.
        unsafe { address.write(value) };
    }

    #[track_caller]
    fn store4(self, view: View<u32>, index: u64, values: [u32; 4]) {
        let address = self.global4(view, index, Location::caller());
        self.launch().note_progress();
        // SAFETY: in the view, which is valid by its contract.
        unsafe { address.cast::<[u32; 4]>().write(values) };
    }

    #[track_caller]
    fn cell_load(self, cells: View<u64>, index: u64) -> u64 {
        let address = self.global(cells, index, 1, Location::caller());
        // SAFETY: in the view, which is valid by its contract; all threads are one of the CPU's.
        unsafe { address.read() }
    }

    #[track_caller]
    fn cell_store(self, cells: View<u64>, index: u64, value: u64) {
        let address = self.global(cells, index, 1, Location::caller());
        self.launch().note_progress();
        // SAFETY: as for `cell_load`.
        unsafe { address.write(value) };
    }

    #[track_caller]
    fn cell_add(self, cells: View<u64>, index: u64, value: u64) -> u64 {
        let before = self.cell_load(cells, index);
        self.cell_store(cells, index, before.wrapping_add(value));
        before
    }

    #[track_caller]
    fn cell_max(self, cells: View<u64>, index: u64, value: u64) {
        let before = self.cell_load(cells, index);
        self.cell_store(cells, index, before.max(value));
    }

    fn fence(self) {}

    #[track_caller]
    fn spin_hint(self) {
        self.yielder.suspend(Wait::Spin(Location::caller()));
    }
}
