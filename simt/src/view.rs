//! Global memory of kernels.

/// A range of global memory: `len` items of type `W` from `address`.
///
/// A view is part of kernel parameters, so it has C's layout and no lifetime. The emulator stops a kernel that leaves
/// `0..len`; the GPU does not read the length.
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
    /// A view of `len` items from `address`, which must be aligned to 16 bytes if a kernel documents that it reads or
    /// writes four words in one access.
    ///
    /// # Safety
    ///
    /// While any kernel with this view runs, the items must be valid for reads, and also for writes if the kernel
    /// writes them, and no other code may write to them.
    pub const unsafe fn new(address: *mut W, len: u64) -> Self {
        Self { address, len }
    }

    /// A view of `len` items from an address as a number, such as one that a kernel has read from memory.
    ///
    /// # Safety
    ///
    /// As for [`View::new`].
    #[inline(always)]
    pub unsafe fn at(address: u64, len: u64) -> Self {
        Self {
            address: core::ptr::with_exposed_provenance_mut(address as usize),
            len,
        }
    }

    /// A view of no items.
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

    /// The same memory from item `first` on; empty if there are not more than `first` items.
    #[inline(always)]
    pub fn from(self, first: u64) -> Self {
        Self {
            address: self.address.wrapping_add(first as usize),
            len: self.len.saturating_sub(first),
        }
    }

    /// The first `count` items, or all if there are fewer.
    #[inline(always)]
    pub fn first(self, count: u64) -> Self {
        Self {
            address: self.address,
            len: if count < self.len { count } else { self.len },
        }
    }

    /// This view if `is_this`, otherwise the other one. A branch that yields either would need local memory in a kernel,
    /// as views of its parameters are not in registers.
    #[inline(always)]
    pub fn or(self, is_this: bool, other: Self) -> Self {
        Self {
            address: if is_this { self.address } else { other.address },
            len: if is_this { self.len } else { other.len },
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

    /// Whether the view has no items.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl View<u32> {
    /// The same memory in items of two words, the low one first. A last word alone is left out.
    #[inline(always)]
    pub fn pairs(self) -> View<u64> {
        View {
            address: self.address.cast(),
            len: self.len / 2,
        }
    }
}

impl View<f32> {
    /// The bits of the floats in the same memory.
    #[inline(always)]
    pub fn bits(self) -> View<u32> {
        View {
            address: self.address.cast(),
            len: self.len,
        }
    }
}

impl View<f64> {
    /// The bits of the floats in the same memory.
    #[inline(always)]
    pub fn bits(self) -> View<u64> {
        View {
            address: self.address.cast(),
            len: self.len,
        }
    }
}
