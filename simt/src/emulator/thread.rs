//! The thread of a kernel on the emulator: each method checks and performs an access, or waits.

use core::{cell::Cell, cell::RefCell, mem::size_of, panic::Location};
use std::{boxed::Box, format, vec::Vec};

use corosensei::Yielder;

use super::accesses::Access;
use super::clock::Clock;
use super::collective::{Call, Collective};
use super::event::Event;
use super::fault::{FaultKind, Place, Problem};
use super::global::{Item, Touch};
use super::launch::Launch;
use super::releases::{Knowledge, Operation};
use super::shared::BlockMemory;
use crate::thread::AtomicWord;
use crate::{
    Atomics, BitInstructions, Collectives, GlobalMemory, HalfInstructions, Ids, SharedAddress,
    SharedMemory, Tune, View, WARP,
};

/// The state and surroundings of a thread; it is on the thread's own stack.
pub(super) struct Context<'a> {
    pub(super) launch: &'a Launch,
    pub(super) clock: &'a RefCell<Clock>,
    pub(super) shared: &'a RefCell<BlockMemory>,
    pub(super) yielder: &'a Yielder<u32, Event>,
    pub(super) block: u32,
    pub(super) block_position: [u32; 3],
    pub(super) thread: u32,
    pub(super) thread_position: [u32; 3],
    /// Copies that have started: the target word, the value, and the place in the source.
    pub(super) copies: RefCell<Vec<(u32, u32, Place)>>,
    /// The time of the thread's last fence.
    pub(super) fenced: Cell<Option<u32>>,
    /// The knowledge released to the items that the thread has read by atomic operations since its last fence.
    pub(super) seen: RefCell<Knowledge>,
}

/// A thread on the emulator.
#[derive(Clone, Copy)]
pub struct EmulatorThread<'a>(pub(super) &'a Context<'a>);

impl EmulatorThread<'_> {
    /// Waits for the other threads at a collective; returns this thread's result.
    fn wait(self, collective: Collective, value: u32, operand: u32, place: Place) -> u32 {
        let call = Call { collective, place };
        self.0.yielder.suspend(Event::Waits {
            call,
            value,
            operand,
        })
    }

    fn shuffle_by(self, collective: Collective, value: u32, distance: u32, place: Place) -> u32 {
        if distance >= WARP {
            let detail = format!("the distance is {distance}");
            self.stop(place, *Problem::new(FaultKind::ShuffleOutOfRange, detail));
        }
        self.wait(collective, value, distance, place)
    }

    /// Performs an access to shared memory; a problem stops the launch.
    #[inline]
    fn shared<R>(
        self,
        place: Place,
        access: impl FnOnce(&mut BlockMemory, Access, &Clock) -> Result<R, Box<Problem>>,
    ) -> R {
        let result = {
            let clock = self.0.clock.borrow();
            let now = clock.access(self.0.thread, place);
            access(&mut self.0.shared.borrow_mut(), now, &clock)
        };
        result.unwrap_or_else(|problem| self.stop(place, *problem))
    }

    /// The `bytes` bytes at an address of shared memory, at most a word.
    #[inline]
    fn shared_part(self, place: Place, address: SharedAddress, bytes: u32) -> u32 {
        let address = address.bytes();
        self.check_alignment(place, address, bytes);
        let word = self.shared(place, |shared, now, clock| {
            shared.load(now, clock, address / 4)
        });
        word >> (8 * (address % 4)) & (u32::MAX >> (32 - 8 * bytes))
    }

    #[inline]
    fn check_alignment(self, place: Place, address: u32, bytes: u32) {
        if !address.is_multiple_of(bytes) {
            let detail = format!(
                "{bytes} bytes from byte {address} of shared memory, which is no multiple of {bytes}"
            );
            self.stop(place, *Problem::new(FaultKind::Misaligned, detail));
        }
    }

    /// Checks that items `count * index` to `count * index + count` are in the view and aligned as one access; returns
    /// their address.
    #[inline]
    fn locate<W>(self, place: Place, view: View<W>, index: u64, count: u64) -> *mut W {
        if index >= view.len() / count {
            self.stop(place, *outside(index, count, view.len()));
        }
        // SAFETY: the items are within the view, and by the contract of `View::new` in memory.
        let address = unsafe { view.address().add((index * count) as usize) };
        let alignment = size_of::<W>() * count as usize;
        if !address.addr().is_multiple_of(alignment) {
            self.stop(place, *misaligned(index, address.addr(), alignment));
        }
        address
    }

    /// Checks and records an access to an item; returns its address.
    #[inline(always)]
    fn one<W>(self, place: Place, view: View<W>, index: u64, touch: Touch) -> *mut W {
        let address = self.locate(place, view, index, 1);
        self.touch(place, touch, address, Item::One(index));
        address
    }

    /// Checks and records an access to four words; returns their address.
    #[inline(always)]
    fn four(self, place: Place, view: View<u32>, index: u64, touch: Touch) -> *mut [u32; 4] {
        let address = self.locate(place, view, index, 4).cast();
        self.touch(place, touch, address, Item::Four(index));
        address
    }

    /// Checks and records an access to half a word; returns its address.
    #[inline(always)]
    fn half(self, place: Place, view: View<u32>, half: u64, touch: Touch) -> *mut u16 {
        let word = self.locate(place, view, half / 2, 1).cast::<u16>();
        let address = word.wrapping_add(half as usize % 2);
        self.touch(place, touch, address, Item::Half(half));
        address
    }

    /// Checks and records an access to a byte; returns its address.
    #[inline(always)]
    fn byte(self, place: Place, view: View<u32>, byte: u64, touch: Touch) -> *mut u8 {
        let word = self.locate(place, view, byte / 4, 1).cast::<u8>();
        let address = word.wrapping_add(byte as usize % 4);
        self.touch(place, touch, address, Item::Byte(byte));
        address
    }

    /// Records an access in the shadow of global memory.
    #[inline(always)]
    fn touch<P>(self, place: Place, touch: Touch, address: *mut P, item: Item) {
        let Some(global) = &self.0.launch.global else {
            return;
        };
        let (now, conflict) = {
            let clock = self.0.clock.borrow();
            let now = clock.access(self.0.thread, place);
            let bytes = (address.addr(), size_of::<P>());
            match global.borrow_mut().touch(touch, bytes, now, &clock) {
                Ok(()) => return,
                Err(conflict) => (now, conflict),
            }
        };
        self.stop(place, *conflict.problem(touch, item, &now));
    }

    /// Records an atomic operation in the shadow of global memory: the access, the knowledge that the thread can
    /// acquire, and the knowledge that it releases.
    fn operate<W>(self, place: Place, operation: Operation, address: *mut W, index: u64) {
        match operation {
            Operation::Read => self.touch(place, Touch::AtomicRead, address, Item::One(index)),
            _ => self.touch(place, Touch::AtomicWrite, address, Item::One(index)),
        }
        if let Some(global) = &self.0.launch.global {
            let (mut global, mut seen) = (global.borrow_mut(), self.0.seen.borrow_mut());
            let (fenced, clock) = (self.0.fenced.get(), self.0.clock.borrow());
            global.operate(operation, address.addr(), &mut seen, fenced, &clock);
        }
    }

    /// Atomically replaces an item by `change` of it; returns the value before. Only another value counts as a change
    /// that spinning threads may wait for.
    #[inline]
    fn atomic<W: AtomicWord>(
        self,
        place: Place,
        view: View<W>,
        index: u64,
        operation: Operation,
        change: impl FnOnce(W) -> W,
    ) -> W {
        let address = self.locate(place, view, index, 1);
        self.operate(place, operation, address, index);
        // SAFETY: `locate` found the item aligned and in the view. All threads of the grid run on this OS thread, and
        // no other code writes, so a plain read is atomic.
        let before = unsafe { address.read() };
        let after = change(before);
        if before != after {
            // SAFETY: as above.
            unsafe { address.write(after) };
            self.0.launch.note_change();
        }
        before
    }

    /// Stops the launch with a fault.
    #[cold]
    fn stop(self, place: Place, problem: Problem) -> ! {
        let fault = self
            .0
            .launch
            .fault(self.0.block, self.0.thread, Some(place), problem);
        self.0.yielder.suspend(Event::Faults(Box::new(fault)));
        unreachable!("the scheduler resumed a thread after its fault")
    }
}

#[cold]
fn outside(index: u64, count: u64, len: u64) -> Box<Problem> {
    let detail = match count {
        1 => format!("item {index} of a view of {len}"),
        _ => format!("items {count} * {index} and following of a view of {len}"),
    };
    Problem::new(FaultKind::ViewOutOfBounds, detail)
}

#[cold]
fn misaligned(index: u64, address: usize, alignment: usize) -> Box<Problem> {
    Problem::new(
        FaultKind::Misaligned,
        format!("index {index} of a view is at {address:#x}, which is no multiple of {alignment}"),
    )
}

impl Ids for EmulatorThread<'_> {
    #[inline]
    fn thread_position(self) -> [u32; 3] {
        self.0.thread_position
    }

    #[inline]
    fn block_extents(self) -> [u32; 3] {
        self.0.launch.threads_along
    }

    #[inline]
    fn block_position(self) -> [u32; 3] {
        self.0.block_position
    }

    #[inline]
    fn grid_extents(self) -> [u32; 3] {
        self.0.launch.blocks_along
    }
}

impl Collectives for EmulatorThread<'_> {
    #[track_caller]
    fn shuffle(self, value: u32, source: u32) -> u32 {
        self.wait(Collective::Shuffle, value, source, Location::caller())
    }

    #[track_caller]
    fn shuffle_up(self, value: u32, delta: u32) -> u32 {
        self.shuffle_by(Collective::ShuffleUp, value, delta, Location::caller())
    }

    #[track_caller]
    fn shuffle_down(self, value: u32, delta: u32) -> u32 {
        self.shuffle_by(Collective::ShuffleDown, value, delta, Location::caller())
    }

    #[track_caller]
    fn shuffle_xor(self, value: u32, mask: u32) -> u32 {
        self.shuffle_by(Collective::ShuffleXor, value, mask, Location::caller())
    }

    #[track_caller]
    fn ballot(self, predicate: bool) -> u32 {
        self.wait(Collective::Ballot, predicate.into(), 0, Location::caller())
    }

    #[track_caller]
    fn reduce_max(self, value: u32) -> u32 {
        self.wait(Collective::ReduceMax, value, 0, Location::caller())
    }

    #[track_caller]
    fn reduce_add(self, value: u32) -> u32 {
        self.wait(Collective::ReduceAdd, value, 0, Location::caller())
    }

    #[track_caller]
    fn reduce_or(self, value: u32) -> u32 {
        self.wait(Collective::ReduceOr, value, 0, Location::caller())
    }

    #[track_caller]
    fn any(self, predicate: bool) -> bool {
        self.wait(Collective::Any, predicate.into(), 0, Location::caller()) != 0
    }

    #[track_caller]
    fn sync_warp(self) {
        self.wait(Collective::SyncWarp, 0, 0, Location::caller());
    }

    #[track_caller]
    fn barrier(self) {
        self.wait(Collective::Barrier, 0, 0, Location::caller());
    }

    #[track_caller]
    fn barrier_or(self, predicate: bool) -> bool {
        let place = Location::caller();
        self.wait(Collective::BarrierOr, predicate.into(), 0, place) != 0
    }
}

impl SharedMemory for EmulatorThread<'_> {
    #[track_caller]
    fn shared_load(self, word: u32) -> u32 {
        self.shared(Location::caller(), |shared, now, clock| {
            shared.load(now, clock, word)
        })
    }

    #[track_caller]
    fn shared_store(self, word: u32, value: u32) {
        self.shared(Location::caller(), |shared, now, clock| {
            shared.store(now, clock, word, value)
        });
    }

    #[track_caller]
    fn shared_load4(self, word: u32) -> [u32; 4] {
        self.shared(Location::caller(), |shared, now, clock| {
            shared.load4(now, clock, word)
        })
    }

    #[track_caller]
    fn shared_store4(self, word: u32, values: [u32; 4]) {
        self.shared(Location::caller(), |shared, now, clock| {
            shared.store4(now, clock, word, values)
        });
    }

    #[track_caller]
    fn shared_atomic_load(self, word: u32) -> u32 {
        let mut value = 0;
        self.shared(Location::caller(), |shared, now, clock| {
            shared.atomic(now, clock, word, |found| {
                value = found;
                found
            })
        });
        value
    }

    #[track_caller]
    fn shared_or(self, word: u32, bits: u32) {
        self.shared(Location::caller(), |shared, now, clock| {
            shared.atomic(now, clock, word, |value| value | bits)
        });
    }

    #[track_caller]
    fn shared_add(self, word: u32, value: u32) {
        self.shared(Location::caller(), |shared, now, clock| {
            shared.atomic(now, clock, word, |sum| sum.wrapping_add(value))
        });
    }

    #[inline]
    fn shared_address(self, word: u32) -> SharedAddress {
        SharedAddress::from_bytes(4 * word)
    }

    #[track_caller]
    fn shared_load_at(self, address: SharedAddress) -> u32 {
        self.shared_part(Location::caller(), address, 4)
    }

    #[track_caller]
    fn shared_load2_at(self, address: SharedAddress) -> [u32; 2] {
        let (place, address) = (Location::caller(), address.bytes());
        self.check_alignment(place, address, 8);
        let word = |i| {
            self.shared(place, |shared, now, clock| {
                shared.load(now, clock, address / 4 + i)
            })
        };
        [word(0), word(1)]
    }

    #[track_caller]
    fn shared_load_half_at(self, address: SharedAddress) -> u32 {
        self.shared_part(Location::caller(), address, 2)
    }

    #[track_caller]
    fn shared_load_byte_at(self, address: SharedAddress) -> u32 {
        self.shared_part(Location::caller(), address, 1)
    }

    #[track_caller]
    fn shared_store_at(self, address: SharedAddress, value: u32) {
        let (place, address) = (Location::caller(), address.bytes());
        self.check_alignment(place, address, 4);
        self.shared(place, |shared, now, clock| {
            shared.store(now, clock, address / 4, value)
        });
    }

    #[inline]
    #[track_caller]
    fn check_shared(self, array: &'static str, len: u32, index: u32, count: u32) {
        if u64::from(index) + u64::from(count) > u64::from(len) {
            let items = match count {
                1 => format!("element {index}"),
                _ => format!(
                    "elements {index} to {}",
                    u64::from(index) + u64::from(count) - 1
                ),
            };
            let detail = format!("{items} of the {len} of shared array `{array}`");
            self.stop(
                Location::caller(),
                *Problem::new(FaultKind::SharedOutOfBounds, detail),
            );
        }
    }
}

impl GlobalMemory for EmulatorThread<'_> {
    #[track_caller]
    fn load(self, view: View<u32>, index: u64) -> u32 {
        let address = self.one(Location::caller(), view, index, Touch::Load);
        // SAFETY: the item is aligned and in the view, which is valid for reads.
        unsafe { address.read() }
    }

    #[track_caller]
    fn load_own(self, view: View<u32>, index: u64) -> u32 {
        let address = self.one(Location::caller(), view, index, Touch::OwnLoad);
        // SAFETY: as for `load`.
        unsafe { address.read() }
    }

    #[track_caller]
    fn load_u64(self, view: View<u64>, index: u64) -> u64 {
        let address = self.one(Location::caller(), view, index, Touch::Load);
        // SAFETY: as for `load`.
        unsafe { address.read() }
    }

    #[track_caller]
    fn load4(self, view: View<u32>, index: u64) -> [u32; 4] {
        let address = self.four(Location::caller(), view, index, Touch::Load);
        // SAFETY: as for `load`, for all four words.
        unsafe { address.read() }
    }

    #[track_caller]
    fn load_half(self, view: View<u32>, half: u64) -> u32 {
        let address = self.half(Location::caller(), view, half, Touch::Load);
        // SAFETY: as for `load`, for half of the word.
        u32::from(unsafe { address.read() })
    }

    #[track_caller]
    fn load_own_half(self, view: View<u32>, half: u64) -> u32 {
        let address = self.half(Location::caller(), view, half, Touch::OwnLoad);
        // SAFETY: as for `load_half`.
        u32::from(unsafe { address.read() })
    }

    #[track_caller]
    fn store(self, view: View<u32>, index: u64, value: u32) {
        let address = self.one(Location::caller(), view, index, Touch::Store);
        // SAFETY: the item is aligned and in the view; a kernel that writes to a view was given one that is valid for
        // writes.
        unsafe { address.write(value) };
        self.0.launch.note_change();
    }

    #[track_caller]
    fn store_u64(self, view: View<u64>, index: u64, value: u64) {
        let address = self.one(Location::caller(), view, index, Touch::Store);
        // SAFETY: as for `store`.
        unsafe { address.write(value) };
        self.0.launch.note_change();
    }

    #[track_caller]
    fn store4(self, view: View<u32>, index: u64, values: [u32; 4]) {
        let address = self.four(Location::caller(), view, index, Touch::Store);
        // SAFETY: as for `store`, for all four words.
        unsafe { address.write(values) };
        self.0.launch.note_change();
    }

    #[track_caller]
    fn store_half(self, view: View<u32>, half: u64, value: u16) {
        let address = self.half(Location::caller(), view, half, Touch::Store);
        // SAFETY: as for `store`, for half of the word.
        unsafe { address.write(value) };
        self.0.launch.note_change();
    }

    #[track_caller]
    fn store_byte(self, view: View<u32>, byte: u64, value: u8) {
        let address = self.byte(Location::caller(), view, byte, Touch::Store);
        // SAFETY: as for `store`, for a byte of the word.
        unsafe { address.write(value) };
        self.0.launch.note_change();
    }

    // As the trait's methods, but with `#[track_caller]`: a fault names the line of the kernel, not of the trait.

    #[track_caller]
    fn store_half_if(self, condition: bool, view: View<u32>, half: u64, value: u16) {
        if condition {
            self.store_half(view, half, value);
        }
    }

    #[track_caller]
    fn load_f32(self, view: View<f32>, index: u64) -> f32 {
        f32::from_bits(self.load(view.bits(), index))
    }

    #[track_caller]
    fn store_f32(self, view: View<f32>, index: u64, value: f32) {
        self.store(view.bits(), index, value.to_bits());
    }

    #[track_caller]
    fn load_f64(self, view: View<f64>, index: u64) -> f64 {
        f64::from_bits(self.load_u64(view.bits(), index))
    }

    #[track_caller]
    fn store_f64(self, view: View<f64>, index: u64, value: f64) {
        self.store_u64(view.bits(), index, value.to_bits());
    }

    #[track_caller]
    fn prefetch(self, view: View<u32>, index: u64) {
        self.locate(Location::caller(), view, index, 1);
    }

    #[track_caller]
    fn copy_async(self, address: SharedAddress, view: View<u32>, index: u64) {
        let (place, address) = (Location::caller(), address.bytes());
        self.check_alignment(place, address, 4);
        let value = self.load(view, index);
        let copy = (address / 4, value, place);
        self.0.copies.borrow_mut().push(copy);
    }

    fn await_copies(self) {
        for (word, value, place) in self.0.copies.take() {
            self.shared(place, |shared, now, clock| {
                shared.store(now, clock, word, value)
            });
        }
    }
}

impl Atomics for EmulatorThread<'_> {
    #[track_caller]
    fn atomic_load<W: AtomicWord>(self, view: View<W>, index: u64) -> W {
        let place = Location::caller();
        self.atomic(place, view, index, Operation::Read, |value| value)
    }

    #[track_caller]
    fn atomic_store<W: AtomicWord>(self, view: View<W>, index: u64, value: W) {
        let place = Location::caller();
        self.atomic(place, view, index, Operation::Write, |_| value);
    }

    #[track_caller]
    fn atomic_add<W: AtomicWord>(self, view: View<W>, index: u64, value: W) -> W {
        let place = Location::caller();
        let change = |sum: W| sum.wrapping_sum(value);
        self.atomic(place, view, index, Operation::ReadAndUpdate, change)
    }

    #[track_caller]
    fn atomic_max<W: AtomicWord>(self, view: View<W>, index: u64, value: W) {
        let place = Location::caller();
        let change = |most: W| most.max(value);
        self.atomic(place, view, index, Operation::Update, change);
    }

    #[track_caller]
    fn atomic_min<W: AtomicWord>(self, view: View<W>, index: u64, value: W) {
        let place = Location::caller();
        let change = |least: W| least.min(value);
        self.atomic(place, view, index, Operation::Update, change);
    }

    #[track_caller]
    fn atomic_or<W: AtomicWord>(self, view: View<W>, index: u64, bits: W) {
        let place = Location::caller();
        let change = |set: W| set.union(bits);
        self.atomic(place, view, index, Operation::Update, change);
    }

    #[track_caller]
    fn atomic_exchange<W: AtomicWord>(self, view: View<W>, index: u64, value: W) -> W {
        let place = Location::caller();
        self.atomic(place, view, index, Operation::ReadAndUpdate, |_| value)
    }

    #[track_caller]
    fn atomic_compare_exchange<W: AtomicWord>(
        self,
        view: View<W>,
        index: u64,
        expected: W,
        value: W,
    ) -> W {
        let place = Location::caller();
        // The operation writes only if it finds the expected value, and nothing changes between this read and the
        // operation. SAFETY: `locate` found the item aligned and in the view, which is valid for reads.
        let found = unsafe { self.locate(place, view, index, 1).read() };
        let (operation, after) = match found == expected {
            true => (Operation::ReadAndUpdate, value),
            false => (Operation::Read, found),
        };
        self.atomic(place, view, index, operation, |_| after)
    }

    /// The emulator's memory is always in order; only the shadow of global memory needs to know of fences.
    fn fence(self) {
        let seen = self.0.seen.take();
        let time = self.0.clock.borrow_mut().fence(&seen);
        self.0.fenced.set(Some(time));
    }

    #[track_caller]
    fn spin_hint(self) {
        self.0.yielder.suspend(Event::Spins(Location::caller()));
    }
}

impl BitInstructions for EmulatorThread<'_> {}

impl HalfInstructions for EmulatorThread<'_> {}

impl Tune for EmulatorThread<'_> {}
