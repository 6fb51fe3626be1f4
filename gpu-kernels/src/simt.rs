//! All that a kernel may use of its machine.
//!
//! A kernel is written the way CUDA is read: as the code of *one thread*, generic over
//! [`Thread`]. Two machines implement it. On the GPU (`simt::ptx`) a thread is a zero-sized value
//! whose methods are one instruction each. On the CPU (`simt::emulator`) every thread is a
//! coroutine, and each method checks what the hardware would not.
//!
//! Memory is counted in 32-bit words: shared memory by word index from the start of the block's
//! dynamic allocation, global memory through a [`View`].

#[cfg(feature = "emulator")]
pub mod emulator;
#[cfg(target_arch = "nvptx64")]
pub mod ptx;

use ferrosz_codec::encode::bit_plane::{Bits, Portable};

/// Threads in a warp.
pub const WARP: u32 = 32;

/// A stretch of global memory, `len` items of type `W` at `address`.
///
/// It is part of kernel parameters, so its layout is that of C and it has no lifetime. An
/// emulated kernel that leaves `0..len` is stopped and named; on the GPU the length is not read.
#[repr(C)]
pub struct View<W> {
    address: *mut W,
    len: u64,
}

impl<W> Clone for View<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for View<W> {}

impl<W> View<W> {
    /// A view of `len` items from `address`, which must be aligned to 16 bytes where a kernel
    /// says that it reads or writes four words at once.
    ///
    /// # Safety
    ///
    /// While any kernel that got this view runs, the items must be valid for reads, and for writes
    /// too if the kernel writes them, and nobody else may write to them.
    pub const unsafe fn new(address: *mut W, len: u64) -> Self {
        Self { address, len }
    }

    /// A view of nothing.
    pub const fn empty() -> Self {
        Self {
            address: core::ptr::null_mut(),
            len: 0,
        }
    }

    /// The same memory as 32-bit words, low ones first.
    pub fn words(self) -> View<u32> {
        View {
            address: self.address.cast(),
            len: self.len * (size_of::<W>() / size_of::<u32>()) as u64,
        }
    }

    /// The same memory from item number `first` on; nothing, if there are fewer.
    #[inline(always)]
    pub fn from(self, first: u64) -> Self {
        Self {
            address: self.address.wrapping_add(first as usize),
            len: self.len.saturating_sub(first),
        }
    }

    /// The first `count` items, or as many as there are.
    #[inline(always)]
    pub fn first(self, count: u64) -> Self {
        Self {
            address: self.address,
            len: if count < self.len { count } else { self.len },
        }
    }

    /// The first item's address.
    pub fn address(self) -> *mut W {
        self.address
    }

    /// Items in the view.
    pub const fn len(self) -> u64 {
        self.len
    }

    /// Whether the view holds nothing.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// One GPU thread, as its kernel sees it.
///
/// *Collectives* (shuffles, votes, reductions, [`Thread::sync_warp`]) must be reached by all 32
/// threads of the warp together, at the same place in the source; [`Thread::barrier`] and
/// [`Thread::barrier_or`] by all threads of the block.
pub trait Thread: Copy {
    /// This thread's number in its block.
    fn thread_index(self) -> u32;
    /// This block's number in the grid.
    fn block_index(self) -> u32;
    /// Blocks in the grid.
    fn block_count(self) -> u32;

    /// This thread's number in its warp.
    #[inline(always)]
    fn lane(self) -> u32 {
        self.thread_index() % WARP
    }

    /// This warp's number in its block.
    #[inline(always)]
    fn warp(self) -> u32 {
        self.thread_index() / WARP
    }

    /// Picks bytes of two words: see [`Bits::pick`].
    #[inline(always)]
    fn pick_bytes(self, low: u32, high: u32, selector: u32) -> u32 {
        Portable.pick(low, high, selector)
    }

    /// Takes bits of two words: see [`Bits::select`].
    #[inline(always)]
    fn select_bits(self, mask: u32, a: u32, b: u32) -> u32 {
        Portable.select(mask, a, b)
    }

    /// `sum`, and the two halves of a word times the two low bytes of another, low times low.
    #[inline(always)]
    fn add_halves(self, halves: u32, times: u32, sum: u32) -> u32 {
        let low = (halves & 0xffff).wrapping_mul(times & 0xff);
        let high = (halves >> 16).wrapping_mul(times >> 8 & 0xff);
        sum.wrapping_add(low).wrapping_add(high)
    }

    /// The number of the highest bit of a value, but 3 at least.
    #[inline(always)]
    fn highest_bit_or_3(self, value: u32) -> u32 {
        (value | 8).ilog2()
    }

    /// `value`, which the compiler may no longer assume to know: a loop up to it stays a loop.
    #[inline(always)]
    fn opaque(self, value: u32) -> u32 {
        value
    }

    // --- collectives of a warp -----------------------------------------------------------------

    /// The `value` of lane `source % 32`.
    fn shuffle(self, value: u32, source: u32) -> u32;
    /// The `value` of the lane `delta` below; lanes under `delta` keep their own.
    fn shuffle_up(self, value: u32, delta: u32) -> u32;
    /// The `value` of lane `lane ^ mask`.
    fn shuffle_xor(self, value: u32, mask: u32) -> u32;
    /// Bit *i* is lane *i*'s `predicate`.
    fn ballot(self, predicate: bool) -> u32;
    /// The largest `value` of the warp.
    fn reduce_max(self, value: u32) -> u32;
    /// The sum of the warp's `value`s, modulo 2^32.
    fn reduce_add(self, value: u32) -> u32;
    /// The bits that any `value` of the warp has.
    fn reduce_or(self, value: u32) -> u32;
    /// Whether any lane's `predicate` holds.
    fn any(self, predicate: bool) -> bool;
    /// Orders the warp's accesses to memory before and after it.
    fn sync_warp(self);

    // --- collectives of a block ----------------------------------------------------------------

    /// Orders the block's accesses to memory before and after it.
    fn barrier(self);
    /// [`Thread::barrier`], and whether any thread's `predicate` holds.
    fn barrier_or(self, predicate: bool) -> bool;

    // --- shared memory -------------------------------------------------------------------------

    /// Reads one word.
    fn shared_load(self, word: u32) -> u32;
    /// The address of a word, for accesses whose names end in `at`: addresses count bytes, the low one of a word
    /// first. That of word 0 is a multiple of 1024.
    fn shared_address(self, word: u32) -> u32;
    /// Reads the word at an address, which is a multiple of 4.
    fn shared_load_at(self, address: u32) -> u32;
    /// Reads the two words at an address, which is a multiple of 8.
    fn shared_load2_at(self, address: u32) -> [u32; 2];
    /// Reads the 16 bits at an address, which is a multiple of 2.
    fn shared_load_half_at(self, address: u32) -> u32;
    /// Reads the byte at an address.
    fn shared_load_byte_at(self, address: u32) -> u32;
    /// Writes one word.
    fn shared_store(self, word: u32, value: u32);
    /// Writes the word at an address, which is a multiple of 4.
    fn shared_store_at(self, address: u32, value: u32);
    /// Reads four words; `word` is a multiple of 4.
    fn shared_load4(self, word: u32) -> [u32; 4];
    /// Writes four words; `word` is a multiple of 4.
    fn shared_store4(self, word: u32, values: [u32; 4]);
    /// Atomically sets bits of a word that something has written before.
    fn shared_or(self, word: u32, bits: u32);
    /// Atomically adds to a word that something has written before.
    fn shared_add(self, word: u32, value: u32);

    // --- global memory -------------------------------------------------------------------------

    /// Reads a word that no thread of this launch writes.
    fn load(self, view: View<u32>, index: u64) -> u32;
    /// Reads words `4 * index ..` of a 16-byte aligned view that no thread of this launch writes.
    fn load4(self, view: View<u32>, index: u64) -> [u32; 4];
    /// Reads 16 bits, number `half` of a view, which threads of other blocks do not write. What this warp has written
    /// can be read back behind a [`Thread::sync_warp`], what this block has behind a [`Thread::barrier`].
    fn load_own_half(self, view: View<u32>, half: u64) -> u32;
    /// Says that the 128 bytes that a word is in will soon be read by any block of this launch.
    fn prefetch(self, view: View<u32>, index: u64);
    /// Begins to copy a word that no thread of this launch writes to an address of shared memory, a multiple of 4, which
    /// nobody touches until [`Thread::await_copies`].
    fn copy_async(self, address: u32, view: View<u32>, index: u64);
    /// Waits until all that this thread has begun to copy is there; for other threads it is behind a barrier after that.
    fn await_copies(self);
    /// Writes a word.
    fn store(self, view: View<u32>, index: u64, value: u32);
    /// Reads 16 bits, number `half` of a view, that no thread of this launch writes.
    fn load_half(self, view: View<u32>, half: u64) -> u32;
    /// Writes 16 bits, number `half` of a view.
    fn store_half(self, view: View<u32>, half: u64, value: u16);
    /// Writes 16 bits, number `half` of a view, if a condition holds; otherwise `half` may be anything.
    #[inline(always)]
    fn store_half_if(self, condition: bool, view: View<u32>, half: u64, value: u16) {
        if condition {
            self.store_half(view, half, value);
        }
    }
    /// Writes byte number `byte` of a view.
    fn store_byte(self, view: View<u32>, byte: u64, value: u8);
    /// Writes words `4 * index ..` of a 16-byte aligned view.
    fn store4(self, view: View<u32>, index: u64, values: [u32; 4]);

    // --- cells that blocks share (relaxed order, scope of the GPU) -------------------------------

    /// Atomically reads a cell.
    fn cell_load(self, cells: View<u64>, index: u64) -> u64;
    /// Atomically writes a cell.
    fn cell_store(self, cells: View<u64>, index: u64, value: u64);
    /// Atomically adds to a cell; what it held before.
    fn cell_add(self, cells: View<u64>, index: u64, value: u64) -> u64;
    /// Atomically raises a cell to at least `value`.
    fn cell_max(self, cells: View<u64>, index: u64, value: u64);
    /// Orders this thread's accesses to global memory before and after it for the whole GPU.
    fn fence(self);
    /// Says that this thread waits for another block.
    fn spin_hint(self);
}

/// A thread's way with bytes and bits.
#[derive(Clone, Copy)]
pub struct BitsOf<T>(pub T);

impl<T: Thread> Bits for BitsOf<T> {
    #[inline(always)]
    fn pick(self, low: u32, high: u32, selector: u32) -> u32 {
        self.0.pick_bytes(low, high, selector)
    }

    #[inline(always)]
    fn select(self, mask: u32, a: u32, b: u32) -> u32 {
        self.0.select_bits(mask, a, b)
    }
}

/// One kernel: the code of a thread, with what is needed to launch it.
pub trait Kernel {
    /// Parameters, passed by value.
    type Params: Copy + 'static;
    /// The entry point's name in the PTX.
    const NAME: &'static str;
    /// Threads in a block, a multiple of 32.
    const THREADS: u32;
    /// Words of dynamic shared memory a block needs.
    const SHARED_WORDS: u32;
    /// What one thread does.
    fn run<T: Thread>(thread: T, params: &Self::Params);

    /// [`Kernel::run`] on the emulator. The kernels of the list have it as a function of their own, which is
    /// compiled in this crate alone, however many crates launch them.
    #[cfg(feature = "emulator")]
    fn emulate(thread: emulator::EmulatorThread<'_>, params: &Self::Params) {
        Self::run(thread, params);
    }
}
