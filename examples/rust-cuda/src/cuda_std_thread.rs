//! A thread of a GPU, by the functions of cuda_std.
//!
//! As on every GPU, the caller promises what the emulator checks: indices are in range, addresses are aligned, and all
//! threads reach a collective.

use crate::missing;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::{intrinsics, mid};
use cuda_std::{shared, thread, warp};
use ferrosz_simt::thread::AtomicWord;
use ferrosz_simt::{
    Atomics, BitInstructions, Collectives, GlobalMemory, HalfInstructions, Ids, SharedAddress,
    SharedMemory, Tune, View,
};

/// A thread of a GPU, when compiled by cuda_builder. On a host the functions of cuda_std panic.
#[derive(Clone, Copy)]
pub struct CudaStdThread;

/// The mask of all lanes.
const ALL_LANES: u32 = u32::MAX;

/// The address of item `index`.
#[inline(always)]
fn address<W>(view: View<W>, index: u64) -> *mut W {
    view.address().wrapping_add(index as usize)
}

/// A word of the block's dynamic shared memory.
#[inline(always)]
fn shared_word(word: u32) -> *mut u32 {
    shared::dynamic_shared_mem::<u32>().wrapping_add(word as usize)
}

/// What is at an address, which counts from the start of the dynamic shared memory.
#[inline(always)]
fn shared_at<W>(address: SharedAddress) -> *mut W {
    shared::dynamic_shared_mem::<u8>()
        .wrapping_add(address.bytes() as usize)
        .cast()
}

/// The result of an atomic operation on an item of 32 or 64 bits.
#[inline(always)]
fn atomically<W: AtomicWord>(
    address: *mut W,
    on_u32: impl FnOnce(*mut u32) -> u32,
    on_u64: impl FnOnce(*mut u64) -> u64,
) -> W {
    W::from_low(match size_of::<W>() {
        8 => on_u64(address.cast()),
        _ => on_u32(address.cast()).into(),
    })
}

impl Ids for CudaStdThread {
    #[inline(always)]
    fn thread_position(self) -> [u32; 3] {
        [
            thread::thread_idx_x(),
            thread::thread_idx_y(),
            thread::thread_idx_z(),
        ]
    }

    #[inline(always)]
    fn block_extents(self) -> [u32; 3] {
        [
            thread::block_dim_x(),
            thread::block_dim_y(),
            thread::block_dim_z(),
        ]
    }

    #[inline(always)]
    fn block_position(self) -> [u32; 3] {
        [
            thread::block_idx_x(),
            thread::block_idx_y(),
            thread::block_idx_z(),
        ]
    }

    #[inline(always)]
    fn grid_extents(self) -> [u32; 3] {
        [
            thread::grid_dim_x(),
            thread::grid_dim_y(),
            thread::grid_dim_z(),
        ]
    }
}

impl Collectives for CudaStdThread {
    #[inline(always)]
    fn shuffle(self, value: u32, source: u32) -> u32 {
        // SAFETY: never called: nothing defines it.
        unsafe { missing::cuda_std_0_2_has_no_shuffle(value, source) }
    }

    #[inline(always)]
    fn shuffle_up(self, value: u32, delta: u32) -> u32 {
        // SAFETY: as above.
        unsafe { missing::cuda_std_0_2_has_no_shuffle_up(value, delta) }
    }

    #[inline(always)]
    fn shuffle_down(self, value: u32, delta: u32) -> u32 {
        // SAFETY: as above.
        unsafe { missing::cuda_std_0_2_has_no_shuffle_down(value, delta) }
    }

    #[inline(always)]
    fn shuffle_xor(self, value: u32, mask: u32) -> u32 {
        // SAFETY: as above.
        unsafe { missing::cuda_std_0_2_has_no_shuffle_xor(value, mask) }
    }

    #[inline(always)]
    fn ballot(self, predicate: bool) -> u32 {
        // SAFETY: as above.
        unsafe { missing::cuda_std_0_2_has_no_ballot(predicate) }
    }

    #[inline(always)]
    fn reduce_max(self, value: u32) -> u32 {
        // SAFETY: as above.
        unsafe { missing::cuda_std_0_2_has_no_reduce_max(value) }
    }

    #[inline(always)]
    fn reduce_add(self, value: u32) -> u32 {
        // SAFETY: as above.
        unsafe { missing::cuda_std_0_2_has_no_reduce_add(value) }
    }

    #[inline(always)]
    fn reduce_or(self, value: u32) -> u32 {
        // SAFETY: as above.
        unsafe { missing::cuda_std_0_2_has_no_reduce_or(value) }
    }

    #[inline(always)]
    fn any(self, predicate: bool) -> bool {
        // SAFETY: as above.
        unsafe { missing::cuda_std_0_2_has_no_any(predicate) }
    }

    #[inline(always)]
    fn sync_warp(self) {
        // SAFETY: all lanes are here.
        unsafe { warp::sync_warp(ALL_LANES) };
    }

    #[inline(always)]
    fn barrier(self) {
        thread::sync_threads();
    }

    #[inline(always)]
    fn barrier_or(self, predicate: bool) -> bool {
        thread::sync_threads_or(predicate.into()) != 0
    }
}

impl SharedMemory for CudaStdThread {
    #[inline(always)]
    fn shared_load(self, word: u32) -> u32 {
        // SAFETY: the word lies in the block's shared memory. Volatile: other threads write it.
        unsafe { shared_word(word).read_volatile() }
    }

    #[inline(always)]
    fn shared_store(self, word: u32, value: u32) {
        // SAFETY: as above; other threads read it.
        unsafe { shared_word(word).write_volatile(value) };
    }

    #[inline(always)]
    fn shared_load4(self, word: u32) -> [u32; 4] {
        [0, 1, 2, 3].map(|i| self.shared_load(word + i))
    }

    #[inline(always)]
    fn shared_store4(self, word: u32, values: [u32; 4]) {
        for (i, value) in (0..).zip(&values) {
            self.shared_store(word + i, *value);
        }
    }

    #[inline(always)]
    fn shared_atomic_load(self, word: u32) -> u32 {
        // SAFETY: the word lies in the block's shared memory.
        unsafe { mid::atomic_load_32_block(shared_word(word), Relaxed) }
    }

    #[inline(always)]
    fn shared_or(self, word: u32, bits: u32) {
        // SAFETY: as above.
        unsafe { mid::atomic_fetch_or_u32_block(shared_word(word), Relaxed, bits) };
    }

    #[inline(always)]
    fn shared_add(self, word: u32, value: u32) {
        // SAFETY: as above.
        unsafe { mid::atomic_fetch_add_u32_block(shared_word(word), Relaxed, value) };
    }

    #[inline(always)]
    fn shared_address(self, word: u32) -> SharedAddress {
        SharedAddress::from_bytes(4 * word)
    }

    #[inline(always)]
    fn shared_load_at(self, address: SharedAddress) -> u32 {
        // SAFETY: the word lies in the block's shared memory, aligned.
        unsafe { shared_at::<u32>(address).read_volatile() }
    }

    #[inline(always)]
    fn shared_load2_at(self, address: SharedAddress) -> [u32; 2] {
        [0, 4].map(|bytes| self.shared_load_at(address + bytes))
    }

    #[inline(always)]
    fn shared_load_half_at(self, address: SharedAddress) -> u32 {
        // SAFETY: the half word lies in the block's shared memory, aligned.
        unsafe { shared_at::<u16>(address).read_volatile() }.into()
    }

    #[inline(always)]
    fn shared_load_byte_at(self, address: SharedAddress) -> u32 {
        // SAFETY: the byte lies in the block's shared memory.
        unsafe { shared_at::<u8>(address).read_volatile() }.into()
    }

    #[inline(always)]
    fn shared_store_at(self, address: SharedAddress, value: u32) {
        // SAFETY: the word lies in the block's shared memory, aligned.
        unsafe { shared_at::<u32>(address).write_volatile(value) };
    }
}

impl GlobalMemory for CudaStdThread {
    #[inline(always)]
    fn load(self, view: View<u32>, index: u64) -> u32 {
        // SAFETY: the item lies in the view, and nobody writes it during this launch.
        unsafe { address(view, index).read() }
    }

    #[inline(always)]
    fn load_own(self, view: View<u32>, index: u64) -> u32 {
        // SAFETY: the item lies in the view. Volatile: threads of the block write it.
        unsafe { address(view, index).read_volatile() }
    }

    #[inline(always)]
    fn load_u64(self, view: View<u64>, index: u64) -> u64 {
        // SAFETY: the item lies in the view, and nobody writes it during this launch.
        unsafe { address(view, index).read() }
    }

    #[inline(always)]
    fn load4(self, view: View<u32>, index: u64) -> [u32; 4] {
        // SAFETY: the items lie in the view, aligned, and nobody writes them during this launch.
        unsafe { address(view, 4 * index).cast::<[u32; 4]>().read() }
    }

    #[inline(always)]
    fn load_half(self, view: View<u32>, half: u64) -> u32 {
        let address = view.address().cast::<u16>().wrapping_add(half as usize);
        // SAFETY: the half word lies in the view, and nobody writes it during this launch.
        unsafe { address.read() }.into()
    }

    #[inline(always)]
    fn load_own_half(self, view: View<u32>, half: u64) -> u32 {
        let address = view.address().cast::<u16>().wrapping_add(half as usize);
        // SAFETY: the half word lies in the view. Volatile: threads of the block write it.
        unsafe { address.read_volatile() }.into()
    }

    #[inline(always)]
    fn store(self, view: View<u32>, index: u64, value: u32) {
        // SAFETY: the item lies in the view.
        unsafe { address(view, index).write_volatile(value) };
    }

    #[inline(always)]
    fn store_u64(self, view: View<u64>, index: u64, value: u64) {
        // SAFETY: the item lies in the view.
        unsafe { address(view, index).write_volatile(value) };
    }

    #[inline(always)]
    fn store4(self, view: View<u32>, index: u64, values: [u32; 4]) {
        let address = address(view, 4 * index).cast::<[u32; 4]>();
        // SAFETY: the items lie in the view, aligned.
        unsafe { address.write_volatile(values) };
    }

    #[inline(always)]
    fn store_half(self, view: View<u32>, half: u64, value: u16) {
        let address = view.address().cast::<u16>().wrapping_add(half as usize);
        // SAFETY: the half word lies in the view.
        unsafe { address.write_volatile(value) };
    }

    #[inline(always)]
    fn store_byte(self, view: View<u32>, byte: u64, value: u8) {
        let address = view.address().cast::<u8>().wrapping_add(byte as usize);
        // SAFETY: the byte lies in the view.
        unsafe { address.write_volatile(value) };
    }

    // A hint, which cuda_std has no function for.
    #[inline(always)]
    fn prefetch(self, _: View<u32>, _: u64) {}

    // cuda_std has no asynchronous copies. One that is complete at once keeps the same contract.
    #[inline(always)]
    fn copy_async(self, to: SharedAddress, view: View<u32>, index: u64) {
        self.shared_store_at(to, self.load(view, index));
    }

    #[inline(always)]
    fn await_copies(self) {}
}

impl Atomics for CudaStdThread {
    #[inline(always)]
    fn atomic_load<W: AtomicWord>(self, view: View<W>, index: u64) -> W {
        atomically(
            address(view, index),
            // SAFETY: the item lies in the view.
            |item| unsafe { mid::atomic_load_32_device(item, Relaxed) },
            // SAFETY: as above.
            |item| unsafe { mid::atomic_load_64_device(item, Relaxed) },
        )
    }

    #[inline(always)]
    fn atomic_store<W: AtomicWord>(self, view: View<W>, index: u64, value: W) {
        self.atomic_exchange(view, index, value);
    }

    #[inline(always)]
    fn atomic_add<W: AtomicWord>(self, view: View<W>, index: u64, value: W) -> W {
        let value = value.widened();
        atomically(
            address(view, index),
            // SAFETY: the item lies in the view.
            |item| unsafe { mid::atomic_fetch_add_u32_device(item, Relaxed, value as u32) },
            // SAFETY: as above.
            |item| unsafe { mid::atomic_fetch_add_u64_device(item, Relaxed, value) },
        )
    }

    #[inline(always)]
    fn atomic_max<W: AtomicWord>(self, view: View<W>, index: u64, value: W) {
        let value = value.widened();
        atomically(
            address(view, index),
            // SAFETY: the item lies in the view.
            |item| unsafe { mid::atomic_fetch_max_u32_device(item, Relaxed, value as u32) },
            // SAFETY: as above.
            |item| unsafe { mid::atomic_fetch_max_u64_device(item, Relaxed, value) },
        );
    }

    #[inline(always)]
    fn atomic_min<W: AtomicWord>(self, view: View<W>, index: u64, value: W) {
        let value = value.widened();
        atomically(
            address(view, index),
            // SAFETY: the item lies in the view.
            |item| unsafe { mid::atomic_fetch_min_u32_device(item, Relaxed, value as u32) },
            // SAFETY: as above.
            |item| unsafe { mid::atomic_fetch_min_u64_device(item, Relaxed, value) },
        );
    }

    #[inline(always)]
    fn atomic_or<W: AtomicWord>(self, view: View<W>, index: u64, bits: W) {
        let bits = bits.widened();
        atomically(
            address(view, index),
            // SAFETY: the item lies in the view.
            |item| unsafe { mid::atomic_fetch_or_u32_device(item, Relaxed, bits as u32) },
            // SAFETY: as above.
            |item| unsafe { mid::atomic_fetch_or_u64_device(item, Relaxed, bits) },
        );
    }

    #[inline(always)]
    fn atomic_exchange<W: AtomicWord>(self, view: View<W>, index: u64, value: W) -> W {
        let value = value.widened();
        atomically(
            address(view, index),
            // SAFETY: the item lies in the view.
            |item| unsafe { mid::atomic_fetch_exch_u32_device(item, Relaxed, value as u32) },
            // SAFETY: as above.
            |item| unsafe { mid::atomic_fetch_exch_u64_device(item, Relaxed, value) },
        )
    }

    #[inline(always)]
    fn atomic_compare_exchange<W: AtomicWord>(
        self,
        view: View<W>,
        index: u64,
        expected: W,
        value: W,
    ) -> W {
        let (expected, value) = (expected.widened(), value.widened());
        atomically(
            address(view, index),
            // SAFETY: the item lies in the view.
            |item| unsafe {
                let (expected, value) = (expected as u32, value as u32);
                intrinsics::atomic_fetch_cas_relaxed_u32_device(item, expected, value)
            },
            // SAFETY: as above.
            |item| unsafe {
                intrinsics::atomic_fetch_cas_relaxed_u64_device(item, expected, value)
            },
        )
    }

    #[inline(always)]
    fn fence(self) {
        thread::device_fence();
    }

    #[inline(always)]
    fn spin_hint(self) {
        thread::nanosleep(20);
    }
}

// The methods that these traits define in plain Rust are right here, too.
impl BitInstructions for CudaStdThread {}
impl HalfInstructions for CudaStdThread {}
impl Tune for CudaStdThread {}
