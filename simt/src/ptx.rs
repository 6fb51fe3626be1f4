//! The GPU's thread: no state, and each method is one instruction. All assembly, all LLVM intrinsics and all raw device
//! pointers of the project are in this module.
//!
//! The caller's contract, which the emulator checks and this machine does not: indices are in range, addresses are
//! aligned, and all threads reach a collective.

use crate::thread::AtomicWord;
use crate::{
    Atomics, BitInstructions, Collectives, GlobalMemory, HalfInstructions, Ids, SharedAddress,
    SharedMemory, Tune, View,
};
use core::arch::nvptx::{
    _block_dim_x, _block_dim_y, _block_dim_z, _block_idx_x, _block_idx_y, _block_idx_z,
    _grid_dim_x, _grid_dim_y, _grid_dim_z, _syncthreads, _thread_idx_x, _thread_idx_y,
    _thread_idx_z,
};
use core::arch::{asm, global_asm};

// The block's dynamic shared memory; its size is an argument of the launch.
const _: () = assert!(4 * crate::shared::ALIGNED_WORDS == 1024);
global_asm!(".extern .shared .align 1024 .b8 dynamic_shared[];");

/// LLVM's intrinsics for collectives. In assembly they would be wrong: LLVM takes assembly for an operation of a single
/// thread, and may copy it into both arms of a branch, where the lanes would wait for each other for ever.
mod collective {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
        pub fn shuffle(lanes: u32, value: u32, source: u32, bounds: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
        pub fn shuffle_up(lanes: u32, value: u32, delta: u32, bounds: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
        pub fn shuffle_down(lanes: u32, value: u32, delta: u32, bounds: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
        pub fn shuffle_xor(lanes: u32, value: u32, mask: u32, bounds: u32) -> u32;
        #[link_name = "llvm.nvvm.vote.ballot.sync"]
        pub fn ballot(lanes: u32, predicate: bool) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.umax"]
        pub fn reduce_max(value: u32, lanes: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.add"]
        pub fn reduce_add(value: u32, lanes: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.or"]
        pub fn reduce_or(value: u32, lanes: u32) -> u32;
        #[link_name = "llvm.nvvm.vote.any.sync"]
        pub fn any(lanes: u32, predicate: bool) -> bool;
        #[link_name = "llvm.nvvm.bar.warp.sync"]
        pub fn sync_warp(lanes: u32);
        #[link_name = "llvm.nvvm.barrier0.or"]
        pub fn barrier_or(predicate: u32) -> u32;
    }
}

/// The mask of all lanes.
const ALL_LANES: u32 = u32::MAX;

/// A shuffle's bounds: all 32 lanes are one group.
const WHOLE_WARP: u32 = 31;

/// A thread of the GPU.
#[derive(Clone, Copy)]
pub struct PtxThread;

/// The shared-memory address of a word.
#[inline(always)]
fn shared_address(word: u32) -> u32 {
    let base: u32;
    // SAFETY: reads the address of a symbol.
    unsafe { asm!("mov.u32 {}, dynamic_shared;", out(reg32) base, options(pure, nomem, nostack)) };
    base.wrapping_add(word.wrapping_mul(4))
}

/// The address of item `index`.
#[inline(always)]
fn address<W>(view: View<W>, index: u64) -> *mut W {
    view.address().wrapping_add(index as usize)
}

impl Ids for PtxThread {
    #[inline(always)]
    fn thread_position(self) -> [u32; 3] {
        // SAFETY: reads special registers.
        unsafe {
            [
                _thread_idx_x() as u32,
                _thread_idx_y() as u32,
                _thread_idx_z() as u32,
            ]
        }
    }

    #[inline(always)]
    fn block_extents(self) -> [u32; 3] {
        // SAFETY: reads special registers.
        unsafe {
            [
                _block_dim_x() as u32,
                _block_dim_y() as u32,
                _block_dim_z() as u32,
            ]
        }
    }

    #[inline(always)]
    fn block_position(self) -> [u32; 3] {
        // SAFETY: reads special registers.
        unsafe {
            [
                _block_idx_x() as u32,
                _block_idx_y() as u32,
                _block_idx_z() as u32,
            ]
        }
    }

    #[inline(always)]
    fn grid_extents(self) -> [u32; 3] {
        // SAFETY: reads special registers.
        unsafe {
            [
                _grid_dim_x() as u32,
                _grid_dim_y() as u32,
                _grid_dim_z() as u32,
            ]
        }
    }

    // Reads x directly: if LLVM has to drop two of three coordinates, it orders the other instructions differently.
    #[inline(always)]
    fn thread_index(self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { _thread_idx_x() as u32 }
    }

    #[inline(always)]
    fn block_index(self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { _block_idx_x() as u32 }
    }

    #[inline(always)]
    fn block_count(self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { _grid_dim_x() as u32 }
    }
}

impl Collectives for PtxThread {
    #[inline(always)]
    fn shuffle(self, value: u32, source: u32) -> u32 {
        // SAFETY: all lanes are here.
        unsafe { collective::shuffle(ALL_LANES, value, source, WHOLE_WARP) }
    }

    #[inline(always)]
    fn shuffle_up(self, value: u32, delta: u32) -> u32 {
        // SAFETY: all lanes are here.
        unsafe { collective::shuffle_up(ALL_LANES, value, delta, 0) }
    }

    #[inline(always)]
    fn shuffle_down(self, value: u32, delta: u32) -> u32 {
        // SAFETY: all lanes are here.
        unsafe { collective::shuffle_down(ALL_LANES, value, delta, WHOLE_WARP) }
    }

    #[inline(always)]
    fn shuffle_xor(self, value: u32, mask: u32) -> u32 {
        // SAFETY: all lanes are here.
        unsafe { collective::shuffle_xor(ALL_LANES, value, mask, WHOLE_WARP) }
    }

    #[inline(always)]
    fn ballot(self, predicate: bool) -> u32 {
        // SAFETY: all lanes are here.
        unsafe { collective::ballot(ALL_LANES, predicate) }
    }

    #[inline(always)]
    fn reduce_max(self, value: u32) -> u32 {
        // SAFETY: all lanes are here.
        unsafe { collective::reduce_max(value, ALL_LANES) }
    }

    #[inline(always)]
    fn reduce_add(self, value: u32) -> u32 {
        // SAFETY: all lanes are here.
        unsafe { collective::reduce_add(value, ALL_LANES) }
    }

    #[inline(always)]
    fn reduce_or(self, value: u32) -> u32 {
        // SAFETY: all lanes are here.
        unsafe { collective::reduce_or(value, ALL_LANES) }
    }

    #[inline(always)]
    fn any(self, predicate: bool) -> bool {
        // SAFETY: all lanes are here.
        unsafe { collective::any(ALL_LANES, predicate) }
    }

    #[inline(always)]
    fn sync_warp(self) {
        // SAFETY: all lanes are here.
        unsafe { collective::sync_warp(ALL_LANES) }
    }

    #[inline(always)]
    fn barrier(self) {
        // SAFETY: all threads are here.
        unsafe { _syncthreads() };
    }

    #[inline(always)]
    fn barrier_or(self, predicate: bool) -> bool {
        // SAFETY: all threads are here.
        unsafe { collective::barrier_or(u32::from(predicate)) != 0 }
    }
}

impl SharedMemory for PtxThread {
    #[inline(always)]
    fn shared_load(self, word: u32) -> u32 {
        let value: u32;
        // SAFETY: the word lies in the block's shared memory.
        unsafe {
            asm!("ld.shared.u32 {}, [{}];", out(reg32) value, in(reg32) shared_address(word), options(nostack))
        };
        value
    }

    #[inline(always)]
    fn shared_store(self, word: u32, value: u32) {
        // SAFETY: the word lies in the block's shared memory.
        unsafe {
            asm!("st.shared.u32 [{}], {};", in(reg32) shared_address(word), in(reg32) value, options(nostack))
        };
    }

    #[inline(always)]
    fn shared_load4(self, word: u32) -> [u32; 4] {
        let (a, b, c, d): (u32, u32, u32, u32);
        // SAFETY: the words lie in the block's shared memory, aligned.
        unsafe {
            asm!(
                "ld.shared.v4.u32 {{{}, {}, {}, {}}}, [{}];",
                out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d,
                in(reg32) shared_address(word), options(nostack)
            );
        }
        [a, b, c, d]
    }

    #[inline(always)]
    fn shared_store4(self, word: u32, values: [u32; 4]) {
        let [a, b, c, d] = values;
        // SAFETY: the words lie in the block's shared memory, aligned.
        unsafe {
            asm!(
                "st.shared.v4.u32 [{}], {{{}, {}, {}, {}}};",
                in(reg32) shared_address(word),
                in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d, options(nostack)
            );
        }
    }

    #[inline(always)]
    fn shared_atomic_load(self, word: u32) -> u32 {
        let value: u32;
        // SAFETY: the word lies in the block's shared memory.
        unsafe {
            asm!("ld.relaxed.cta.shared.u32 {}, [{}];", out(reg32) value, in(reg32) shared_address(word), options(nostack))
        };
        value
    }

    #[inline(always)]
    fn shared_or(self, word: u32, bits: u32) {
        // SAFETY: the word lies in the block's shared memory.
        unsafe {
            asm!("red.shared.or.b32 [{}], {};", in(reg32) shared_address(word), in(reg32) bits, options(nostack))
        };
    }

    #[inline(always)]
    fn shared_add(self, word: u32, value: u32) {
        // SAFETY: the word lies in the block's shared memory.
        unsafe {
            asm!("red.shared.add.u32 [{}], {};", in(reg32) shared_address(word), in(reg32) value, options(nostack))
        };
    }

    #[inline(always)]
    fn shared_address(self, word: u32) -> SharedAddress {
        SharedAddress::from_bytes(shared_address(word))
    }

    #[inline(always)]
    fn shared_load_at(self, address: SharedAddress) -> u32 {
        let value: u32;
        // SAFETY: the word lies in the block's shared memory, aligned.
        unsafe {
            asm!("ld.shared.u32 {}, [{}];", out(reg32) value, in(reg32) address.bytes(), options(nostack))
        };
        value
    }

    #[inline(always)]
    fn shared_load2_at(self, address: SharedAddress) -> [u32; 2] {
        let (a, b): (u32, u32);
        // SAFETY: the words lie in the block's shared memory, aligned.
        unsafe {
            asm!(
                "ld.shared.v2.u32 {{{}, {}}}, [{}];",
                out(reg32) a, out(reg32) b, in(reg32) address.bytes(), options(nostack)
            );
        }
        [a, b]
    }

    #[inline(always)]
    fn shared_load_half_at(self, address: SharedAddress) -> u32 {
        let value: u32;
        // SAFETY: the half word lies in the block's shared memory, aligned.
        unsafe {
            asm!("ld.shared.u16 {}, [{}];", out(reg32) value, in(reg32) address.bytes(), options(nostack))
        };
        value
    }

    #[inline(always)]
    fn shared_load_byte_at(self, address: SharedAddress) -> u32 {
        let value: u32;
        // SAFETY: the byte lies in the block's shared memory, aligned.
        unsafe {
            asm!("ld.shared.u8 {}, [{}];", out(reg32) value, in(reg32) address.bytes(), options(nostack))
        };
        value
    }

    #[inline(always)]
    fn shared_store_at(self, address: SharedAddress, value: u32) {
        // SAFETY: the word lies in the block's shared memory, aligned.
        unsafe {
            asm!("st.shared.u32 [{}], {};", in(reg32) address.bytes(), in(reg32) value, options(nostack))
        };
    }
}

impl GlobalMemory for PtxThread {
    #[inline(always)]
    fn load_own(self, view: View<u32>, index: u64) -> u32 {
        let value: u32;
        // SAFETY: the item lies in the view.
        unsafe {
            asm!("ld.global.u32 {}, [{}];", out(reg32) value, in(reg64) address(view, index), options(nostack))
        };
        value
    }

    #[inline(always)]
    fn load(self, view: View<u32>, index: u64) -> u32 {
        let value: u32;
        // SAFETY: the item lies in the view, and nobody writes it during this launch.
        unsafe {
            asm!("ld.global.nc.u32 {}, [{}];", out(reg32) value, in(reg64) address(view, index), options(pure, readonly, nostack))
        };
        value
    }

    #[inline(always)]
    fn load_u64(self, view: View<u64>, index: u64) -> u64 {
        let value: u64;
        // SAFETY: the item lies in the view, and nobody writes it during this launch.
        unsafe {
            asm!("ld.global.nc.u64 {}, [{}];", out(reg64) value, in(reg64) address(view, index), options(pure, readonly, nostack))
        };
        value
    }

    #[inline(always)]
    fn load4(self, view: View<u32>, index: u64) -> [u32; 4] {
        let (a, b, c, d): (u32, u32, u32, u32);
        // SAFETY: the items lie in the view, aligned, and nobody writes them during this launch.
        unsafe {
            asm!(
                "ld.global.nc.v4.u32 {{{}, {}, {}, {}}}, [{}];",
                out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d,
                in(reg64) address(view, 4 * index), options(pure, readonly, nostack)
            );
        }
        [a, b, c, d]
    }

    #[inline(always)]
    fn load_half(self, view: View<u32>, half: u64) -> u32 {
        let address = view.address().cast::<u16>().wrapping_add(half as usize);
        let value: u32;
        // SAFETY: the half word lies in the view, and nobody writes it during this launch.
        unsafe {
            asm!("ld.global.nc.u16 {}, [{}];", out(reg32) value, in(reg64) address, options(pure, readonly, nostack))
        };
        value
    }

    #[inline(always)]
    fn load_own_half(self, view: View<u32>, half: u64) -> u32 {
        let value: u32;
        let address = view.address().cast::<u16>().wrapping_add(half as usize);
        // SAFETY: the half word lies in the view.
        unsafe {
            asm!("ld.global.u16 {}, [{}];", out(reg32) value, in(reg64) address, options(nostack))
        };
        value
    }

    #[inline(always)]
    fn store(self, view: View<u32>, index: u64, value: u32) {
        // SAFETY: the item lies in the view.
        unsafe {
            asm!("st.global.u32 [{}], {};", in(reg64) address(view, index), in(reg32) value, options(nostack))
        };
    }

    #[inline(always)]
    fn store_u64(self, view: View<u64>, index: u64, value: u64) {
        // SAFETY: the item lies in the view.
        unsafe {
            asm!("st.global.u64 [{}], {};", in(reg64) address(view, index), in(reg64) value, options(nostack))
        };
    }

    #[inline(always)]
    fn store4(self, view: View<u32>, index: u64, values: [u32; 4]) {
        let [a, b, c, d] = values;
        // SAFETY: the items lie in the view, aligned.
        unsafe {
            asm!(
                "st.global.v4.u32 [{}], {{{}, {}, {}, {}}};",
                in(reg64) address(view, 4 * index),
                in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d, options(nostack)
            );
        }
    }

    #[inline(always)]
    fn store_half(self, view: View<u32>, half: u64, value: u16) {
        let address = view.address().cast::<u16>().wrapping_add(half as usize);
        // SAFETY: the half word lies in the view.
        unsafe {
            asm!("st.global.u16 [{}], {};", in(reg64) address, in(reg16) value, options(nostack))
        };
    }

    #[inline(always)]
    fn store_half_if(self, condition: bool, view: View<u32>, half: u64, value: u16) {
        let address = view.address().cast::<u16>().wrapping_add(half as usize);
        // Not a branch: LLVM would not reorder code across it.
        // SAFETY: the half word lies in the view, if it is written.
        unsafe {
            asm!(
                "{{ .reg .pred p; setp.ne.u32 p, {}, 0; @p st.global.u16 [{}], {}; }}",
                in(reg32) u32::from(condition), in(reg64) address, in(reg16) value, options(nostack)
            );
        }
    }

    #[inline(always)]
    fn store_byte(self, view: View<u32>, byte: u64, value: u8) {
        let address = view.address().cast::<u8>().wrapping_add(byte as usize);
        // SAFETY: the byte lies in the view.
        unsafe {
            asm!("st.global.u8 [{}], {};", in(reg64) address, in(reg32) u32::from(value), options(nostack))
        };
    }

    #[inline(always)]
    fn prefetch(self, view: View<u32>, index: u64) {
        // SAFETY: only a hint; the word lies in the view.
        unsafe {
            asm!("prefetch.global.L2 [{}];", in(reg64) address(view, index), options(nostack))
        };
    }

    #[inline(always)]
    fn copy_async(self, to: SharedAddress, view: View<u32>, index: u64) {
        // SAFETY: both words lie in the block's shared memory and in the view, which nobody writes during this launch.
        unsafe {
            asm!(
                "cp.async.ca.shared.global [{}], [{}], 4;",
                in(reg32) to.bytes(), in(reg64) address(view, index), options(nostack)
            );
        }
    }

    #[inline(always)]
    fn await_copies(self) {
        // SAFETY: waits only.
        unsafe { asm!("cp.async.wait_all;", options(nostack)) };
    }
}

impl Atomics for PtxThread {
    #[inline(always)]
    fn atomic_load<W: AtomicWord>(self, view: View<W>, index: u64) -> W {
        let address = address(view, index);
        if size_of::<W>() == 8 {
            let before: u64;
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("ld.relaxed.gpu.global.u64 {}, [{}];", out(reg64) before, in(reg64) address, options(nostack));
            }
            W::from_low(before)
        } else {
            let before: u32;
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("ld.relaxed.gpu.global.u32 {}, [{}];", out(reg32) before, in(reg64) address, options(nostack));
            }
            W::from_low(before.into())
        }
    }

    #[inline(always)]
    fn atomic_store<W: AtomicWord>(self, view: View<W>, index: u64, value: W) {
        let address = address(view, index);
        if size_of::<W>() == 8 {
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("st.relaxed.gpu.global.u64 [{}], {};", in(reg64) address, in(reg64) value.widened(), options(nostack));
            }
        } else {
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("st.relaxed.gpu.global.u32 [{}], {};", in(reg64) address, in(reg32) value.widened() as u32, options(nostack));
            }
        }
    }

    #[inline(always)]
    fn atomic_add<W: AtomicWord>(self, view: View<W>, index: u64, value: W) -> W {
        let address = address(view, index);
        if size_of::<W>() == 8 {
            let before: u64;
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("atom.relaxed.gpu.global.add.u64 {}, [{}], {};", out(reg64) before, in(reg64) address, in(reg64) value.widened(), options(nostack));
            }
            W::from_low(before)
        } else {
            let before: u32;
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("atom.relaxed.gpu.global.add.u32 {}, [{}], {};", out(reg32) before, in(reg64) address, in(reg32) value.widened() as u32, options(nostack));
            }
            W::from_low(before.into())
        }
    }

    #[inline(always)]
    fn atomic_max<W: AtomicWord>(self, view: View<W>, index: u64, value: W) {
        let address = address(view, index);
        if size_of::<W>() == 8 {
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("red.relaxed.gpu.global.max.u64 [{}], {};", in(reg64) address, in(reg64) value.widened(), options(nostack));
            }
        } else {
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("red.relaxed.gpu.global.max.u32 [{}], {};", in(reg64) address, in(reg32) value.widened() as u32, options(nostack));
            }
        }
    }

    #[inline(always)]
    fn atomic_min<W: AtomicWord>(self, view: View<W>, index: u64, value: W) {
        let address = address(view, index);
        if size_of::<W>() == 8 {
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("red.relaxed.gpu.global.min.u64 [{}], {};", in(reg64) address, in(reg64) value.widened(), options(nostack));
            }
        } else {
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("red.relaxed.gpu.global.min.u32 [{}], {};", in(reg64) address, in(reg32) value.widened() as u32, options(nostack));
            }
        }
    }

    #[inline(always)]
    fn atomic_or<W: AtomicWord>(self, view: View<W>, index: u64, bits: W) {
        let address = address(view, index);
        if size_of::<W>() == 8 {
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("red.relaxed.gpu.global.or.b64 [{}], {};", in(reg64) address, in(reg64) bits.widened(), options(nostack));
            }
        } else {
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("red.relaxed.gpu.global.or.b32 [{}], {};", in(reg64) address, in(reg32) bits.widened() as u32, options(nostack));
            }
        }
    }

    #[inline(always)]
    fn atomic_exchange<W: AtomicWord>(self, view: View<W>, index: u64, value: W) -> W {
        let address = address(view, index);
        if size_of::<W>() == 8 {
            let before: u64;
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("atom.relaxed.gpu.global.exch.b64 {}, [{}], {};", out(reg64) before, in(reg64) address, in(reg64) value.widened(), options(nostack));
            }
            W::from_low(before)
        } else {
            let before: u32;
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("atom.relaxed.gpu.global.exch.b32 {}, [{}], {};", out(reg32) before, in(reg64) address, in(reg32) value.widened() as u32, options(nostack));
            }
            W::from_low(before.into())
        }
    }

    #[inline(always)]
    fn atomic_compare_exchange<W: AtomicWord>(
        self,
        view: View<W>,
        index: u64,
        expected: W,
        value: W,
    ) -> W {
        let address = address(view, index);
        if size_of::<W>() == 8 {
            let before: u64;
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("atom.relaxed.gpu.global.cas.b64 {}, [{}], {}, {};", out(reg64) before, in(reg64) address, in(reg64) expected.widened(), in(reg64) value.widened(), options(nostack));
            }
            W::from_low(before)
        } else {
            let before: u32;
            // SAFETY: the item lies in the view.
            unsafe {
                asm!("atom.relaxed.gpu.global.cas.b32 {}, [{}], {}, {};", out(reg32) before, in(reg64) address, in(reg32) expected.widened() as u32, in(reg32) value.widened() as u32, options(nostack));
            }
            W::from_low(before.into())
        }
    }

    #[inline(always)]
    fn fence(self) {
        // SAFETY: orders memory accesses.
        unsafe { asm!("fence.acq_rel.gpu;", options(nostack)) };
    }

    #[inline(always)]
    fn spin_hint(self) {
        // SAFETY: waits.
        unsafe { asm!("nanosleep.u32 20;", options(nostack)) };
    }
}

impl BitInstructions for PtxThread {
    #[inline(always)]
    fn pick_bytes(self, low: u32, high: u32, selector: u32) -> u32 {
        let picked: u32;
        // SAFETY: computes on registers.
        unsafe {
            asm!(
                "prmt.b32 {}, {}, {}, {};",
                out(reg32) picked, in(reg32) low, in(reg32) high, in(reg32) selector,
                options(pure, nomem, nostack)
            );
        }
        picked
    }

    #[inline(always)]
    fn select_bits(self, mask: u32, a: u32, b: u32) -> u32 {
        let selected: u32;
        // The truth table of "a where mask is set, else b". LLVM would split the operation in three.
        // SAFETY: computes on registers.
        unsafe {
            asm!(
                "lop3.b32 {}, {}, {}, {}, 0xCA;",
                out(reg32) selected, in(reg32) mask, in(reg32) a, in(reg32) b,
                options(pure, nomem, nostack)
            );
        }
        selected
    }

    #[inline(always)]
    fn add_halves(self, halves: u32, times: u32, sum: u32) -> u32 {
        let added: u32;
        // SAFETY: computes on registers.
        unsafe {
            asm!(
                "dp2a.lo.u32.u32 {}, {}, {}, {};",
                out(reg32) added, in(reg32) halves, in(reg32) times, in(reg32) sum,
                options(pure, nomem, nostack)
            );
        }
        added
    }

    #[inline(always)]
    fn highest_bit_or_3(self, value: u32) -> u32 {
        let bit: u32;
        // LLVM only counts leading zeros, and NVIDIA's assembler then subtracts from 31 twice.
        // SAFETY: computes on registers; bit 3 is set, and a word has no bit 32.
        unsafe {
            asm!("bfind.u32 {}, {};", out(reg32) bit, in(reg32) value | 8, options(pure, nomem, nostack));
            core::hint::assert_unchecked(bit >= 3 && bit < 32);
        };
        bit
    }
}

impl HalfInstructions for PtxThread {
    #[inline(always)]
    fn widen_f16(self, halves: u32) -> [f32; 2] {
        let (low, high): (u32, u32);
        // SAFETY: computes on registers.
        unsafe {
            asm!(
                "{{ .reg .b16 l, h; mov.b32 {{l, h}}, {}; cvt.f32.f16 {}, l; cvt.f32.f16 {}, h; }}",
                in(reg32) halves, out(reg32) low, out(reg32) high,
                options(pure, nomem, nostack)
            );
        }
        [low, high].map(f32::from_bits)
    }

    #[inline(always)]
    fn narrow_f16(self, [low, high]: [f32; 2]) -> u32 {
        let halves: u32;
        // SAFETY: computes on registers.
        unsafe {
            asm!(
                "cvt.rn.f16x2.f32 {}, {}, {};",
                out(reg32) halves, in(reg32) high.to_bits(), in(reg32) low.to_bits(),
                options(pure, nomem, nostack)
            );
        }
        halves
    }

    #[inline(always)]
    fn narrow_bf16(self, [low, high]: [f32; 2]) -> u32 {
        let halves: u32;
        // SAFETY: computes on registers.
        unsafe {
            asm!(
                "cvt.rn.bf16x2.f32 {}, {}, {};",
                out(reg32) halves, in(reg32) high.to_bits(), in(reg32) low.to_bits(),
                options(pure, nomem, nostack)
            );
        }
        halves
    }
}

impl Tune for PtxThread {
    #[inline(always)]
    fn opaque(self, value: u32) -> u32 {
        let same: u32;
        // SAFETY: copies a register.
        unsafe {
            asm!("mov.u32 {}, {};", out(reg32) same, in(reg32) value, options(pure, nomem, nostack))
        };
        same
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: stops the kernel with an error that the host sees.
    unsafe { asm!("trap;", options(noreturn, nostack)) }
}
